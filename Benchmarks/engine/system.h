/*
 * system.h -- what the benchmark asks of the operating system: time, folders, child processes.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stddef.h>
#include <stdint.h>

/* Seconds of a clock that only goes forward. */
double system_seconds(void);

/* Seconds that processors have worked for this process, on all its threads. */
double system_processor_seconds(void);

struct folder_size {
    uint64_t allocated; /* bytes of disk blocks, as `du` counts */
    uint64_t apparent;  /* sum of the files' lengths */
};

/* The size of all files below a folder; -1 when it cannot be read. */
int folder_size(const char *folder, struct folder_size *size);

/* Removes a folder with everything in it. */
int folder_remove(const char *folder);

struct child_result {
    int exit_code; /* or -1 when a signal ended it */
    int signal;    /* that signal, or 0 */
};

/* Runs a program with arguments (NULL at the end) and waits for its end; -1: it did not start. */
int child_run(char *const arguments[], struct child_result *result);

/* The most resident memory that this process ever had, in bytes; 0 when it is not known. */
uint64_t system_peak_memory(void);

/* The machine: processor, cores, operating system. */
void system_describe(char *text, size_t size);

#endif
