/*
 * toolkit/repo_file.c -- reading files of the repository (see repo_file.h).
 */
#include "repo_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The root, as seen from where a test may have been started. */
static const char *const roots[] = {"", "../"};

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

/* repo_file_read -- see repo_file.h. */
char *repo_file_read(const char *path, size_t *size) {
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char full[1024];
        snprintf(full, sizeof full, "%s%s", roots[i], path);
        FILE *file = fopen(full, "rb");
        if (file == NULL)
            continue;
        char *content = read_all(file, size);
        fclose(file);
        return content;
    }
    return NULL;
}

/* visible -- leaves out names that begin with a dot. */
static int visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* repo_file_each -- see repo_file.h. */
size_t repo_file_each(const char *folder, repo_file_visit visit) {
    struct dirent **entries = NULL;
    int count = -1;
    for (size_t i = 0; count < 0 && i < sizeof roots / sizeof *roots; i++) {
        char full[1024];
        snprintf(full, sizeof full, "%s%s", roots[i], folder);
        count = scandir(full, &entries, visible, alphasort);
    }
    size_t seen = 0;
    for (int i = 0; i < count; i++) {
        char path[1024];
        size_t size;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        char *content = repo_file_read(path, &size);
        if (content != NULL) {
            visit(entries[i]->d_name, content, size);
            seen++;
        }
        free(content);
        free(entries[i]);
    }
    free(entries);
    return seen;
}
