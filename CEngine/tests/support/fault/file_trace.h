/*
 * support/fault/file_trace.h -- everything that the engine writes to files, searched for known bytes.
 *
 * The linker leads the engine's uses of fs_system to a table that keeps a descriptor of each file that
 * is opened for writing, so that one without a name, or whose name was removed, is searched as well.
 * Bytes are searched when they are written, and all of a file before it is cut and when it is synced;
 * what is written through a mapping also when the test asks for it, and at the end of each stage as
 * long as it has a name. One trace at a time; any thread may write.
 */
#ifndef SUPPORT_FILE_TRACE_H
#define SUPPORT_FILE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is searched for: any eight bytes in a row of a secret. */
#define FILE_TRACE_WINDOW 8

/* A kind of file, by the stage of the test that opened it first, such as "compaction: segment". */
typedef struct file_trace_kind {
    char name[64];
    uint64_t searched; /* bytes, each time that they were */
    uint64_t found;    /* how often a window of a secret was */
    char first[96];    /* the first, and where */
} file_trace_kind;

/* file_trace_available -- whether this program was linked for it. */
bool file_trace_available(void);

/* file_trace_secret -- adds what nothing that is written may have. */
void file_trace_secret(const void *bytes, size_t size);

/* file_trace_begin -- forgets what was found, and begins to trace. file_trace_end: searches once more,
 * and ends it. */
void file_trace_begin(void);
void file_trace_end(void);

/* file_trace_stage -- searches, and begins a stage, whose name lasts as long as the trace. */
void file_trace_stage(const char *name);

/* file_trace_ignore -- whether files that are opened for the first time from now on are ignored, for
 * good: those of a database of the other form. */
void file_trace_ignore(bool ignore);

/* file_trace_search -- searches all of the files that were opened for writing and still have a name,
 * or were opened in this stage. */
void file_trace_search(void);

/* file_trace_bytes -- searches bytes that the engine gave to the test instead of a file. */
void file_trace_bytes(const char *what, const void *bytes, size_t size);

/* file_trace_kinds -- the kinds of files that were written, and how many. */
const file_trace_kind *file_trace_kinds(size_t *count);

#endif
