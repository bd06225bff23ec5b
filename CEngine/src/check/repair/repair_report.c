/*
 * check/repair/repair_report.c -- the report of a repair: counts, lists, and problems.
 */
#include "check/repair/repair_report.h"

#include "check/repair/repair_catalog.h"
#include "check/repair/repair_index_files.h"
#include "util/error.h"

/* missing_documents_of -- documents that only the index files know. */
static uint64_t missing_documents_of(const repair *r, uint32_t collection) {
    const repair_known_collection *known = repair_known_collection_find(r, collection);
    return known == NULL ? 0 : known->documents;
}

/* append_collection -- the counts of a collection. */
static void append_collection(report_list *list, const char *name, uint64_t documents,
                              const uint64_t suspects[REASON_COUNT], uint64_t lost) {
    writer w;
    size_t document = report_list_begin(list, &w);
    writer_string(&w, "name", name);
    writer_int64(&w, "documents", (int64_t)documents);
    writer_int64(&w, "unprotected", (int64_t)suspects[REASON_UNPROTECTED]);
    writer_int64(&w, "older", (int64_t)suspects[REASON_OLDER]);
    writer_int64(&w, "uncertain", (int64_t)suspects[REASON_UNCERTAIN]);
    writer_int64(&w, "lost", (int64_t)lost);
    report_list_end(list, &w, document);
}

/* append_collections -- those of the new database, and those that only the index files know. */
static void append_collections(const repair *r, writer *w, uint64_t sums[REASON_COUNT],
                               uint64_t *lost) {
    static const uint64_t none[REASON_COUNT];
    report_list list = {.count = 0};
    for (size_t i = 0; i < r->collection_count; i++) {
        const repair_collection *c = &r->collections[i];
        if (c->dropped)
            continue;
        for (int k = 0; k < REASON_COUNT; k++)
            sums[k] += c->suspects[k];
        uint64_t missing = missing_documents_of(r, c->id) + c->lost;
        *lost += missing;
        append_collection(&list, c->name, c->documents, c->suspects, missing);
    }
    for (size_t i = 0; i < r->known_count; i++) {
        const repair_known_collection *known = &r->known_collections[i];
        if (known->documents == 0 || repair_find_collection(r, known->collection) != NULL)
            continue;
        *lost += known->documents;
        append_collection(&list, known->name, 0, none, known->documents);
    }
    report_list_append(&list, w, "byCollection");
    report_list_free(&list);
}

tansu_status repair_report(repair *r, tansu_buffer *result, tansu_error *error) {
    writer w = {.out = result};
    uint64_t suspects[REASON_COUNT] = {0}, lost = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "documents", (int64_t)r->documents);
    writer_int64(&w, "unprotected", (int64_t)r->unprotected);
    writer_int64(&w, "collections", (int64_t)r->collections_made);
    writer_int64(&w, "indexes", (int64_t)r->indexes_made);
    writer_int64(&w, "lostBytes", (int64_t)r->lost_bytes);
    writer_int64(&w, "lostCommits", (int64_t)r->lost_commits);
    append_collections(r, &w, suspects, &lost);
    writer_int64(&w, "lostDocuments", (int64_t)lost);
    writer_int64(&w, "olderDocuments", (int64_t)suspects[REASON_OLDER]);
    writer_int64(&w, "uncertainDocuments", (int64_t)suspects[REASON_UNCERTAIN]);
    report_list_append(&r->suspects, &w, "suspects");
    problem_list_append(&r->problems, &w);
    writer_end(&w, document);
    return w.failed ? error_memory(error) : TANSU_OK;
}
