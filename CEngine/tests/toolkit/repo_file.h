/*
 * toolkit/repo_file.h -- reading files of the repository, such as test vectors and the documentation,
 * from a test program that was started in its root or in CEngine. For every test program.
 */
#ifndef TOOLKIT_REPO_FILE_H
#define TOOLKIT_REPO_FILE_H

#include <stddef.h>

/* repo_file_read -- the content of a file by its path from the root, with a NUL behind it; the caller
 * frees it. NULL when there is no such file. */
char *repo_file_read(const char *path, size_t *size);

/* repo_file_each -- calls `visit` for each file of a folder, by name; returns how many there were, 0
 * when there is no such folder. */
typedef void (*repo_file_visit)(const char *name, const char *content, size_t size);
size_t repo_file_each(const char *folder, repo_file_visit visit);

#endif
