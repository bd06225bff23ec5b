/*
 * query/sort.c -- sort keys are value keys strung together, so that one memcmp orders two documents
 * by all paths. With few results wanted, a heap keeps only those.
 */
#include "query/sort.h"
#include "base/bytes.h"
#include "query/collation.h"
#include "query/sort_steps.h"
#include <stdlib.h>

/* Up to here the wanted results are kept in a heap; above, everything is kept and sorted. */
#define MAX_HEAP 10000

typedef struct sort_entry {
    uint64_t head; /* the first eight bytes of the key, as a number: decides most comparisons */
    uint8_t *key;
    size_t size;
    size_t capacity; /* of `key` */
    hit hit;
} sort_entry;

struct sorter {
    sorter_how how;
    sort_entry *entries; /* a heap: the greatest is first; at the end sorted */
    size_t count;
    size_t capacity;
    size_t next;
    size_t key_bytes; /* of the heap's entries */
    run_sort *all;    /* everything; NULL: the heap has it */
    uint64_t given;
    tansu_buffer scratch;
    tansu_buffer forms[2]; /* for sort_key() */
};

static const char too_large[] =
    "The sort needs more memory than it may take (100 MiB): create an index over the paths of "
    "$orderby, ask for "
    "fewer documents with $max, or allow temporary files by leaving out $allowDiskUse.";

/* begin_all -- from now on everything is kept. */
static bool begin_all(sorter *s) {
    const run_sort_how how = {.view = s->how.view,
                              .watch = s->how.watch,
                              .memory = spill_sort_memory,
                              .may_spill = s->how.may_spill,
                              .context = "hints.$orderby",
                              .message = too_large};
    s->all = run_sort_new(&how);
    return s->all != NULL;
}

/* sorter_new -- see sort.h. */
sorter *sorter_new(const sorter_how *how) {
    sorter *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->how = *how;
    if (how->keep > MAX_HEAP && !begin_all(s)) {
        free(s);
        return NULL;
    }
    return s;
}

/* free_heap -- the heap is then empty. */
static void free_heap(sorter *s) {
    for (size_t i = 0; i < s->count; i++)
        free(s->entries[i].key);
    free(s->entries);
    s->entries = NULL;
    s->count = s->capacity = s->key_bytes = 0;
}

/* sorter_free -- fine on NULL. */
void sorter_free(sorter *s) {
    if (!s)
        return;
    free_heap(s);
    run_sort_free(s->all);
    tansu_buffer_free(&s->scratch);
    tansu_buffer_free(&s->forms[0]);
    tansu_buffer_free(&s->forms[1]);
    free(s);
}

/* ---- Keys ---- */

/* The least or greatest value that a path has found so far. */
typedef struct extreme {
    const collation *collation;
    tansu_buffer *forms; /* of the value, and of one beside it */
    doc_value value;     /* in the form of the collation */
    bool failed;         /* memory was exhausted */
    bool found;
    bool greatest;
} extreme;

/* consider -- keeps the more extreme of two values. */
static void consider(extreme *e, const doc_value *value) {
    doc_value form = *value;
    if (e->collation && !collation_value(e->collation, &e->forms[1], value, &form)) {
        e->failed = true;
        return;
    }
    int order = e->found ? value_compare(&form, &e->value) : 0;
    if (!e->found || (e->greatest ? order > 0 : order < 0)) {
        tansu_buffer kept = e->forms[1];
        e->forms[1] = e->forms[0];
        e->forms[0] = kept;
        e->value = form;
    }
    e->found = true;
}

/* visit -- a value at a path's end, or if it is an array its elements. An empty array has none, and
 * so sorts as a missing field does. */
static bool visit(void *context, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_ARRAY) {
        consider(context, value);
    } else if (doc_iter_value(&iter, value)) {
        while (doc_iter_next(&iter))
            consider(context, &iter.value);
    }
    return true;
}

/* sort_key -- see sort.h. */
bool sort_key(const order_path *order, uint32_t order_count, const collation *by,
              tansu_buffer forms[2], const uint8_t *doc, size_t size, tansu_buffer *key) {
    for (uint32_t i = 0; i < order_count; i++) {
        const order_path *path = &order[i];
        extreme e = {.collation = by,
                     .forms = forms,
                     .value = {NULL, 0, DOC_MISSING},
                     .greatest = path->descending};
        doc_value value;
        if (!path_get(path->path, doc, size, &value) || value.type == DOC_ARRAY)
            path_walk(path->path, doc, size, visit, &e, NULL);
        else if (by)
            consider(&e, &value);
        else
            e.value = value;
        if (e.failed || !value_key(key, &e.value, path->descending))
            return false;
    }
    return true;
}

/* head_of -- a key's first eight bytes, most significant first. */
static uint64_t head_of(const uint8_t *key, size_t size) {
    uint8_t bytes[8] = {0};
    memcpy(bytes, key, size < 8 ? size : 8);
    return load_be64(bytes);
}

/* compare_entries -- by key, and equal ones by docno, which is the order of insertion. */
static int compare_entries(const void *left, const void *right) {
    const sort_entry *a = left, *b = right;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    int order = memcmp(a->key, b->key, a->size < b->size ? a->size : b->size);
    if (order == 0)
        order = (a->size > b->size) - (a->size < b->size);
    return order != 0 ? order : (a->hit.docno > b->hit.docno) - (a->hit.docno < b->hit.docno);
}

/* ---- Adding ---- */

/* grow_entries -- room for one more entry. */
static bool grow_entries(sorter *s) {
    if (s->count < s->capacity)
        return true;
    size_t capacity = s->capacity == 0 ? 64 : s->capacity * 2;
    sort_entry *entries = realloc(s->entries, capacity * sizeof *entries);
    if (!entries)
        return false;
    s->entries = entries;
    s->capacity = capacity;
    return true;
}

/* sift_down -- restores the heap below its first entry. */
static void sift_down(sorter *s) {
    sort_entry moved = s->entries[0];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= s->count)
            break;
        if (child + 1 < s->count && compare_entries(&s->entries[child], &s->entries[child + 1]) < 0)
            child++;
        if (compare_entries(&moved, &s->entries[child]) >= 0)
            break;
        s->entries[at] = s->entries[child];
        at = child;
    }
    s->entries[at] = moved;
}

/* sift_up -- restores the heap above its last entry. */
static void sift_up(sorter *s) {
    size_t at = s->count - 1;
    sort_entry moved = s->entries[at];
    while (at > 0 && compare_entries(&moved, &s->entries[(at - 1) / 2]) > 0) {
        s->entries[at] = s->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->entries[at] = moved;
}

/* set_key -- gives a heap entry its own copy of the scratch key; *fits false when the keys then take too much
 * memory. */
static tansu_status set_key(sorter *s, sort_entry *entry, bool *fits, tansu_error *error) {
    size_t size = s->scratch.size;
    *fits = entry->capacity >= size || s->key_bytes - entry->capacity + size <= spill_sort_memory;
    if (!*fits)
        return TANSU_OK;
    if (entry->capacity < size) {
        uint8_t *key = realloc(entry->key, size);
        if (!key)
            return error_memory(error);
        s->key_bytes += size - entry->capacity;
        entry->key = key;
        entry->capacity = size;
    }
    memcpy(entry->key, s->scratch.data, size);
    entry->size = size;
    entry->head = head_of(s->scratch.data, size);
    return TANSU_OK;
}

/* add_key -- a hit and its key, among everything. */
static tansu_status add_key(sorter *s, const hit *h, const uint8_t *key, size_t size,
                            tansu_error *error) {
    uint8_t ref[8];
    store_u64(ref, h->ref);
    const run_record r = {key, size, h->docno, ref, sizeof ref};
    return run_sort_add(s->all, &r, error);
}

/* leave_heap -- the wanted ones take too much memory: from now on everything is kept. What the heap has let go is
 * not among them anyway. */
static tansu_status leave_heap(sorter *s, tansu_error *error) {
    if (!begin_all(s))
        return error_memory(error);
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < s->count; i++)
        status = add_key(s, &s->entries[i].hit, s->entries[i].key, s->entries[i].size, error);
    free_heap(s);
    return status;
}

/* add_to_heap -- keeps the least `keep` entries; *fits false: that takes too much memory. */
static tansu_status add_to_heap(sorter *s, const hit *h, bool *fits, tansu_error *error) {
    *fits = true;
    if (s->how.keep == 0)
        return TANSU_OK;
    if (s->count == s->how.keep) {
        sort_entry candidate = {.head = head_of(s->scratch.data, s->scratch.size),
                                .key = s->scratch.data,
                                .size = s->scratch.size,
                                .hit = *h};
        if (compare_entries(&candidate, &s->entries[0]) >= 0)
            return TANSU_OK;
        tansu_status status = set_key(s, &s->entries[0], fits, error);
        if (status != TANSU_OK || !*fits)
            return status;
        s->entries[0].hit = *h;
        sift_down(s);
        return TANSU_OK;
    }
    if (!grow_entries(s))
        return error_memory(error);
    s->entries[s->count] = (sort_entry){.hit = *h};
    tansu_status status = set_key(s, &s->entries[s->count], fits, error);
    if (status != TANSU_OK || !*fits)
        return status;
    s->count++;
    sift_up(s);
    return TANSU_OK;
}

/* sorter_add -- see sort.h. */
tansu_status sorter_add(sorter *s, const hit *h, const uint8_t *doc, size_t size,
                        tansu_error *error) {
    bool fits = true;
    tansu_status status = TANSU_OK;
    s->scratch.size = 0;
    if (!sort_key(s->how.order, s->how.order_count, s->how.collation, s->forms, doc, size,
                  &s->scratch))
        return error_memory(error);
    if (!s->all)
        status = add_to_heap(s, h, &fits, error);
    if (!s->all && !fits)
        status = leave_heap(s, error);
    if (status == TANSU_OK && s->all)
        status = add_key(s, h, s->scratch.data, s->scratch.size, error);
    return status;
}

/* sorter_finish -- see sort.h. */
tansu_status sorter_finish(sorter *s, tansu_error *error) {
    return s->all ? run_sort_finish(s->all, error)
                  : sort_steps(s->entries, s->count, sizeof *s->entries, compare_entries,
                               s->how.watch, error);
}

/* sorter_next -- see sort.h. */
tansu_status sorter_next(sorter *s, hit *h, tansu_error *error) {
    if (s->given == s->how.keep)
        return TANSU_DONE;
    if (s->all) {
        run_record r;
        tansu_status status = run_sort_next(s->all, &r, error);
        if (status != TANSU_OK)
            return status;
        *h = (hit){.docno = r.tie, .ref = load_u64(r.payload)};
    } else if (s->next == s->count) {
        return TANSU_DONE;
    } else {
        *h = s->entries[s->next++].hit;
    }
    s->given++;
    return TANSU_OK;
}

/* sorter_spilled -- see sort.h. */
uint64_t sorter_spilled(const sorter *s) {
    return s->all ? run_sort_spilled(s->all) : 0;
}
