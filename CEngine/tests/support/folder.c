/*
 * support/folder.c -- temporary folders and files.
 */
#include "support/folder.h"
#include "support/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* folder_new -- below TMPDIR. */
char *folder_new(void) {
    const char *where = getenv("TMPDIR");
    if (where == NULL || where[0] == 0)
        where = "/tmp";
    size_t size = strlen(where) + 32;
    char *path = malloc(size);
    REQUIRE(path != NULL);
    snprintf(path, size, "%s/tansu-test-XXXXXX", where);
    REQUIRE(mkdtemp(path) != NULL);
    return path;
}

/* folder_end -- removes and frees. */
void folder_end(char *path) {
    folder_remove(path);
    free(path);
}

/* folder_join -- a ring of eight texts. */
const char *folder_join(const char *folder, const char *name) {
    static char texts[8][1024];
    static unsigned next;
    char *text = texts[next++ % 8];
    REQUIRE(snprintf(text, sizeof texts[0], "%s/%s", folder, name) < (int)sizeof texts[0]);
    return text;
}

/* Sees one name of a folder. */
typedef void (*name_user)(const char *folder, const char *name, const char *to);

/* each_name -- shows all names of a folder. */
static void each_name(const char *path, name_user user, const char *to) {
    DIR *folder = opendir(path);
    REQUIRE(folder != NULL);
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            user(path, entry->d_name, to);
    closedir(folder);
}

/* remove_name -- a file, or a folder with what is in it. */
static void remove_name(const char *folder, const char *name, const char *to) {
    (void)to;
    const char *path = folder_join(folder, name);
    if (unlink(path) != 0)
        folder_remove(path);
}

/* folder_remove -- whatever is in it. */
void folder_remove(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0)
        return;
    char own[1024];
    snprintf(own, sizeof own, "%s", path);
    chmod(own, 0755);
    each_name(own, remove_name, NULL);
    REQUIRE(rmdir(own) == 0);
}

/* copy_name -- a file, or a folder with what is in it. */
static void copy_name(const char *folder, const char *name, const char *to) {
    char from[1024], target[1024];
    snprintf(from, sizeof from, "%s", folder_join(folder, name));
    snprintf(target, sizeof target, "%s", folder_join(to, name));
    struct stat info;
    REQUIRE(stat(from, &info) == 0);
    if (S_ISDIR(info.st_mode)) {
        folder_copy(from, target);
        return;
    }
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(from, &bytes);
    file_write(target, bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

/* folder_copy -- files and folders. */
void folder_copy(const char *from, const char *to) {
    REQUIRE(mkdir(to, 0755) == 0);
    each_name(from, copy_name, to);
}

/* file_exists -- a file or folder. */
uint64_t log_size(const char *folder) {
    char *path = strdup(folder_join(folder, "log"));
    REQUIRE(path != NULL);
    DIR *dir = opendir(path);
    uint64_t sum = 0;
    REQUIRE(dir != NULL);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (strstr(e->d_name, ".seg") != NULL)
            sum += file_size(folder_join(path, e->d_name));
    closedir(dir);
    free(path);
    return sum;
}

bool file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* file_size -- of a file that must be there. */
uint64_t file_size(const char *path) {
    struct stat info;
    REQUIRE(stat(path, &info) == 0);
    return (uint64_t)info.st_size;
}

/* file_read -- the whole file. */
void file_read(const char *path, tansu_buffer *bytes) {
    int fd = open(path, O_RDONLY);
    REQUIRE(fd >= 0);
    size_t size = (size_t)file_size(path);
    bytes->data = realloc(bytes->data, size + 1);
    REQUIRE(bytes->data != NULL);
    bytes->capacity = size + 1;
    bytes->size = 0;
    while (bytes->size < size) {
        ssize_t n = read(fd, bytes->data + bytes->size, size - bytes->size);
        REQUIRE(n > 0);
        bytes->size += (size_t)n;
    }
    bytes->data[size] = 0;
    close(fd);
}

/* write_at -- all bytes. */
static void write_at(int fd, const uint8_t *bytes, size_t size, uint64_t offset) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = pwrite(fd, bytes + done, size - done, (off_t)(offset + done));
        REQUIRE(n > 0);
        done += (size_t)n;
    }
}

/* file_write -- a new file or a new content. */
void file_write(const char *path, const void *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    REQUIRE(fd >= 0);
    write_at(fd, bytes, size, 0);
    close(fd);
}

/* file_cut -- or lengthens with zeros. */
void file_cut(const char *path, uint64_t size) {
    REQUIRE(truncate(path, (off_t)size) == 0);
}

/* file_patch -- in place. */
void file_patch(const char *path, uint64_t offset, const void *bytes, size_t size) {
    int fd = open(path, O_WRONLY);
    REQUIRE(fd >= 0);
    write_at(fd, bytes, size, offset);
    close(fd);
}

/* file_flip -- in place. */
void file_flip(const char *path, uint64_t offset, unsigned bit) {
    int fd = open(path, O_RDWR);
    REQUIRE(fd >= 0);
    uint8_t byte;
    REQUIRE(pread(fd, &byte, 1, (off_t)offset) == 1);
    byte ^= (uint8_t)(1u << bit);
    write_at(fd, &byte, 1, offset);
    close(fd);
}
