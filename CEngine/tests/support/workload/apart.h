/*
 * support/workload/apart.h -- something that may crash, never end, or take all memory: in a process
 * of its own.
 */
#ifndef SUPPORT_APART_H
#define SUPPORT_APART_H

#include <stdbool.h>

/* apart -- calls a function in a child process, and says whether that returned within a minute
 * and never used more than 1 GiB; what went wrong is printed. */
bool apart(void (*function)(const char *folder), const char *folder);

#endif
