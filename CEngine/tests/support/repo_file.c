/*
 * support/repo_file.c -- reading files of the repository.
 */
#include "support/repo_file.h"
#include "support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* read_all -- the content of an open file. */
static char *read_all(FILE *file, size_t *size) {
    char *content = NULL;
    size_t capacity = 0;
    *size = 0;
    do {
        if (capacity - *size < 2) {
            capacity = capacity == 0 ? 65536 : capacity * 2;
            char *grown = realloc(content, capacity);
            if (grown == NULL) {
                free(content);
                return NULL;
            }
            content = grown;
        }
        *size += fread(content + *size, 1, capacity - *size - 1, file);
    } while (!feof(file) && !ferror(file));
    content[*size] = '\0';
    return content;
}

/* repo_file_read -- the Makefile says where the repository is. */
char *repo_file_read(const char *path, size_t *size) {
    char full[2048];
    snprintf(full, sizeof full, "%s/%s", REPOSITORY, path);
    FILE *file = fopen(full, "rb");
    if (!CHECK(file != NULL))
        check_note("    %s cannot be opened", full);
    REQUIRE(file != NULL);
    char *content = read_all(file, size);
    REQUIRE(content != NULL);
    fclose(file);
    return content;
}

char *repo_file_inflate(const char *path, size_t *size) {
    size_t packed_size, capacity = 1 << 16;
    char *packed = repo_file_read(path, &packed_size), *text = malloc(capacity);
    z_stream z = {.next_in = (Bytef *)packed, .avail_in = (uInt)packed_size};
    REQUIRE(text != NULL && inflateInit2(&z, 16 + MAX_WBITS) == Z_OK);
    int result = Z_OK;
    while (result == Z_OK) {
        if (capacity - z.total_out < 2) {
            capacity *= 2;
            text = realloc(text, capacity);
            REQUIRE(text != NULL);
        }
        z.next_out = (Bytef *)text + z.total_out;
        z.avail_out = (uInt)(capacity - z.total_out - 1);
        result = inflate(&z, Z_NO_FLUSH);
    }
    REQUIRE(result == Z_STREAM_END);
    *size = z.total_out;
    text[*size] = '\0';
    inflateEnd(&z);
    free(packed);
    return text;
}

/* visible -- leaves out folders and names that begin with a dot. */
static int visible(const struct dirent *entry) {
    return entry->d_name[0] != '.' && entry->d_type != DT_DIR;
}

/* repo_file_each -- in the order of the names. */
size_t repo_file_each(const char *folder, repo_file_visit visit) {
    struct dirent **entries = NULL;
    char full[2048];
    snprintf(full, sizeof full, "%s/%s", REPOSITORY, folder);
    int count = scandir(full, &entries, visible, alphasort);
    if (!CHECK(count > 0))
        check_note("    %s is missing or empty", full);
    REQUIRE(count > 0);
    for (int i = 0; i < count; i++) {
        char path[1024];
        size_t size;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        char *content = repo_file_read(path, &size);
        visit(entries[i]->d_name, content, size);
        free(content);
        free(entries[i]);
    }
    free(entries);
    return (size_t)count;
}
