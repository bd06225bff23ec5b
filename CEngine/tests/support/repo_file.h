/*
 * support/repo_file.h -- reading files of the repository, such as test vectors and documents. The
 * Makefile compiles the repository's path in, so that a test program runs in any folder.
 */
#ifndef SUPPORT_REPO_FILE_H
#define SUPPORT_REPO_FILE_H

#include <stddef.h>

/* repo_file_read -- the content of a file by its path from the root, followed by a NUL; the
 * caller frees it. Ends the program with a failure when there is no such file. */
char *repo_file_read(const char *path, size_t *size);

/* repo_file_inflate -- the same of a gzip file, inflated. */
char *repo_file_inflate(const char *path, size_t *size);

/* repo_file_each -- calls `visit` for each file of a folder, in the order of the names; returns how
 * many there are. Ends the program with a failure when there is none. */
typedef void (*repo_file_visit)(const char *name, const char *content, size_t size);
size_t repo_file_each(const char *folder, repo_file_visit visit);

#endif
