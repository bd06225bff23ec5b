/*
 * query/plan/plan_covering.c -- whether an index covers a projection.
 */
#include "index/type_tag.h"
#include "query/parse/projection.h"
#include "query/plan/plan.h"

/* probe -- looks at one entry in the middle of the ranges: *restorable, whether the values can be
 * restored from it. If not, that holds for most entries, and keeping them would be in vain. Also
 * notes the size of its document, since covering saves more with larger ones. */
static tansu_status probe(planner *p, const access_path *a, bool *restorable) {
    const key_range *range = &a->ranges[a->range_count / 2];
    tree_cursor cursor;
    tansu_buffer key = TANSU_BUFFER_INIT;
    doc_ref ref;
    bool valid;
    *restorable = true;
    tree_cursor_init(&cursor, p->rctx->trees, a->entries);
    tansu_status status = tree_cursor_seek(&cursor, range->low, range->low_size, &valid, p->error);
    if (status != TANSU_OK || !valid)
        return status;
    uint64_t rid = tree_cursor_rid(&cursor);
    bool copied = tree_cursor_key(&cursor, &key);
    tree_cursor_end(&cursor);
    if (!copied)
        return error_memory(p->error);
    *restorable = suffix_type_tag(key.data + key.size - RID_SUFFIX_SIZE) != 0;
    tansu_buffer_free(&key);
    status = read_find(p->rctx, p->collection, rid, &ref, p->error);
    if (status == TANSU_OK)
        (void)read_document(p->rctx, ref, &p->document_size);
    return status == TANSU_DONE ? TANSU_OK : status;
}

tansu_status plan_covering(planner *p, const access_path *a, const bool **result) {
    *result = NULL;
    /* The entries of wildcard indexes have no type tags. */
    if (p->purpose != PLAN_PROJECTED || !a->exact || a->range_count == 0 || a->wildcard)
        return TANSU_OK;
    bool *covered = arena_alloc(p->memory.arena, a->path_count * sizeof *covered);
    bool restorable;
    if (!covered)
        return error_memory(p->error);
    if (!projection_covered(p->q->hints.fields, a->paths, a->path_count, covered))
        return TANSU_OK;
    tansu_status status = probe(p, a, &restorable);
    if (status == TANSU_OK && restorable)
        *result = covered;
    return status;
}
