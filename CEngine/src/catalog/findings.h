/*
 * catalog/findings.h -- the problems that verify and repair meet, and the report that tells them. Part
 * catalog; may call base.
 */
#ifndef TANSU_CATALOG_FINDINGS_H
#define TANSU_CATALOG_FINDINGS_H

#include "tansu.h"

#include <bson/bson.h>
#include <stdbool.h>

/* So many problems are told one by one; all are counted. */
#define FINDINGS_TOLD 1000

typedef struct findings {
    bson_t list; /* an array of documents */
    uint64_t count;
    tansu_error first;
    bool no_memory;
} findings;

/* Where and what a problem is. Texts may be NULL, numbers -1: they are then left out. */
typedef struct finding {
    const char *file;
    int64_t offset;
    int64_t size;
    const char *collection;
    const char *index;
} finding;

void findings_init(findings *f);
void findings_free(findings *f);

/* findings_add -- notes a problem; the first one is kept as an error of CORRUPT. */
void findings_add(findings *f, const finding *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* findings_report -- appends {problems: […], problemCount} to a report and gives its bytes to `result`
 * (NULL is fine). False when memory is (or was) exhausted. */
bool findings_report(findings *f, bson_t *report, tansu_buffer *result);

#endif
