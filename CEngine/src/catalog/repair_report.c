/*
 * catalog/repair_report.c -- what came of a repair, in figures and names.
 */
#include "base/doc.h"
#include "base/error.h"
#include "catalog/repair_parts.h"

static const char *const doubt_names[DOUBT_KINDS] = {
    [DOUBT_UNPROTECTED] = "unprotected", [DOUBT_OLDER] = "older", [DOUBT_UNCERTAIN] = "uncertain"};

void repair_doubt_name(repair *r, const repair_collection *c, enum repair_doubt doubt,
                       const uint8_t *doc) {
    repair_doubts *d = &r->doubts;
    char key[16];
    const char *at;
    bson_t view, one;
    bson_iter_t iter;
    size_t length = bson_uint32_to_string((uint32_t)d->told, &at, key, sizeof key);
    if (!bson_init_static(&view, doc, load_u32(doc)) || !bson_iter_init_find(&iter, &view, "_id"))
        return;
    if (bson_append_document_begin(&d->list, at, (int)length, &one) &&
        BSON_APPEND_UTF8(&one, "collection", c->name) &&
        BSON_APPEND_VALUE(&one, "_id", bson_iter_value(&iter)) &&
        BSON_APPEND_UTF8(&one, "reason", doubt_names[doubt]) &&
        bson_append_document_end(&d->list, &one))
        d->told++;
    else
        d->no_memory = true;
}

/* loss_of -- what the index files miss of a collection. */
static uint64_t loss_of(const repair *r, uint32_t collection) {
    const repair_loss *loss = repair_loss_of(r, collection);
    return loss == NULL ? 0 : loss->documents;
}

/* append_collection -- the figures of one. */
static bool append_collection(bson_t *list, uint32_t *count, const char *name, uint64_t documents,
                              const uint64_t doubt[DOUBT_KINDS], uint64_t lost) {
    char key[16];
    const char *at;
    bson_t one;
    size_t length = bson_uint32_to_string((*count)++, &at, key, sizeof key);
    return bson_append_document_begin(list, at, (int)length, &one) &&
           BSON_APPEND_UTF8(&one, "name", name) &&
           BSON_APPEND_INT64(&one, "documents", (int64_t)documents) &&
           BSON_APPEND_INT64(&one, "unprotected", (int64_t)doubt[DOUBT_UNPROTECTED]) &&
           BSON_APPEND_INT64(&one, "older", (int64_t)doubt[DOUBT_OLDER]) &&
           BSON_APPEND_INT64(&one, "uncertain", (int64_t)doubt[DOUBT_UNCERTAIN]) &&
           BSON_APPEND_INT64(&one, "lost", (int64_t)lost) && bson_append_document_end(list, &one);
}

/* append_collections -- those of the new database, and those of which only the index files know. */
static bool append_collections(const repair *r, bson_t *report, uint64_t sums[DOUBT_KINDS],
                               uint64_t *lost) {
    static const uint64_t none[DOUBT_KINDS];
    bson_t list;
    uint32_t count = 0;
    bool done = BSON_APPEND_ARRAY_BEGIN(report, "byCollection", &list);
    for (size_t i = 0; done && i < r->collection_count; i++) {
        const repair_collection *c = &r->collections[i];
        if (c->dropped)
            continue;
        for (int k = 0; k < DOUBT_KINDS; k++)
            sums[k] += c->doubt[k];
        *lost += loss_of(r, c->id);
        done = append_collection(&list, &count, c->name, c->documents, c->doubt, loss_of(r, c->id));
    }
    for (size_t i = 0; done && i < r->loss_count; i++) {
        if (r->losses[i].documents == 0 || repair_collection_of(r, r->losses[i].collection) != NULL)
            continue;
        *lost += r->losses[i].documents;
        done = append_collection(&list, &count, r->losses[i].name, 0, none, r->losses[i].documents);
    }
    return done && bson_append_array_end(report, &list);
}

tansu_status repair_report(repair *r, tansu_buffer *result, tansu_error *error) {
    bson_t report = BSON_INITIALIZER;
    uint64_t doubt[DOUBT_KINDS] = {0}, lost = 0;
    bool done = BSON_APPEND_INT64(&report, "documents", (int64_t)r->documents) &&
                BSON_APPEND_INT64(&report, "unprotected", (int64_t)r->unprotected) &&
                BSON_APPEND_INT64(&report, "collections", (int64_t)r->collections_made) &&
                BSON_APPEND_INT64(&report, "indexes", (int64_t)r->indexes_made) &&
                BSON_APPEND_INT64(&report, "lostBytes", (int64_t)r->lost_bytes) &&
                BSON_APPEND_INT64(&report, "lostCommits", (int64_t)r->lost_commits) &&
                append_collections(r, &report, doubt, &lost) &&
                BSON_APPEND_INT64(&report, "lostDocuments", (int64_t)lost) &&
                BSON_APPEND_INT64(&report, "olderDocuments", (int64_t)doubt[DOUBT_OLDER]) &&
                BSON_APPEND_INT64(&report, "uncertainDocuments", (int64_t)doubt[DOUBT_UNCERTAIN]) &&
                !r->doubts.no_memory && BSON_APPEND_ARRAY(&report, "doubtful", &r->doubts.list) &&
                findings_report(&r->problems, &report, result);
    bson_destroy(&report);
    return done ? TANSU_OK : error_memory(error);
}
