/*
 * support/folder.h -- temporary folders, and files as a test needs them: read, cut, damaged,
 * copied. Everything here ends the program when it fails, for no test can go on then.
 */
#ifndef SUPPORT_FOLDER_H
#define SUPPORT_FOLDER_H

#include "tansu.h"

#include <stdbool.h>
#include <stdint.h>

/* folder_new -- a new, empty folder in the system's place for such. The caller ends it with
 * folder_end(). */
char *folder_new(void);

/* folder_end -- removes the folder with all that is in it, and frees the path. */
void folder_end(char *path);

/* folder_remove -- removes a folder with all that is in it; fine when there is none. */
void folder_remove(const char *path);

/* folder_copy -- a copy under a path that does not exist yet. */
void folder_copy(const char *from, const char *to);

/* folder_join -- "folder/name" in memory that lasts for the next seven calls. */
const char *folder_join(const char *folder, const char *name);

/* log_size -- bytes of all segments, whole or not, in the log of a database's folder. */
uint64_t log_size(const char *folder);

bool file_exists(const char *path);
uint64_t file_size(const char *path);
void file_read(const char *path, tansu_buffer *bytes);
void file_write(const char *path, const void *bytes, size_t size);
void file_cut(const char *path, uint64_t size);

/* file_patch -- overwrites bytes in the middle of a file. */
void file_patch(const char *path, uint64_t offset, const void *bytes, size_t size);

/* file_flip -- turns one bit of a file over. */
void file_flip(const char *path, uint64_t offset, unsigned bit);

#endif
