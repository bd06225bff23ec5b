/*
 * query/pipeline/stage_sort.c -- $sort and $sample.
 */
#include "query/pipeline/document_sorter.h"
#include "query/pipeline/needed_fields.h"
#include "query/pipeline/sort_pattern.h"

#include "bson/number.h"

typedef struct sort_state {
    const sort_pattern *pattern; /* NULL: the order is a random one, */
    uint64_t size;               /* of $sample: so many documents */
    document_sorter *sorter;     /* NULL: nothing was read */
    tansu_buffer key;
} sort_state;

static tansu_status sort_compile(stage *s, const doc_value *spec) {
    sort_state *state = s->state = stage_alloc(s, sizeof *state);
    return state ? sort_pattern_compile(s, NULL, spec, &state->pattern) : TANSU_E_MEMORY;
}

/* random_key -- eight random bytes. */
static tansu_status random_key(stage *s, tansu_buffer *key) {
    uint8_t bytes[8];
    uint64_t x = s->p->ev.random += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    store_u64(bytes, x ^ x >> 31);
    return buffer_append(key, bytes, sizeof bytes) ? TANSU_OK : error_memory(s->p->error);
}

/* read_all -- the documents of the stage before. */
static tansu_status read_all(stage *s, sort_state *state) {
    doc_value doc;
    tansu_status status = TANSU_OK;
    uint64_t keep = state->pattern ? stages_wanted(s) : state->size;
    state->sorter = document_sorter_new(s, keep, pipeline_memory(s->p));
    if (!state->sorter)
        return error_memory(s->p->error);
    while (status == TANSU_OK && (status = stage_next(s, &doc)) == TANSU_OK) {
        state->key.size = 0;
        status = state->pattern ? sort_pattern_key(s, state->pattern, &doc, &state->key)
                                : random_key(s, &state->key);
        /* Of few that are kept, most are dropped at once. */
        if (status == TANSU_OK && keep == UINT64_MAX)
            status = needed_fields_take(s, &doc);
        if (status == TANSU_OK)
            status = document_sorter_add(state->sorter, &state->key, &doc);
    }
    return status == TANSU_DONE ? TANSU_OK : status;
}

static tansu_status sort_next(stage *s, doc_value *doc) {
    sort_state *state = s->state;
    tansu_status status = state->sorter ? stage_step(s) : read_all(s, state);
    if (status == TANSU_OK)
        status = document_sorter_next(state->sorter, doc);
    return status;
}

/* sample_next -- the heap may have become a sort of all documents. */
static tansu_status sample_next(stage *s, doc_value *doc) {
    const sort_state *state = s->state;
    return s->returned == state->size ? TANSU_DONE : sort_next(s, doc);
}

static void sort_end(stage *s) {
    sort_state *state = s->state;
    document_sorter_free(state->sorter);
    state->sorter = NULL;
}

static void sort_free(stage *s) {
    sort_state *state = s->state;
    if (state)
        tansu_buffer_free(&state->key);
}

const stage_kind stage_sort_kind = {.name = "$sort",
                                    .compile = sort_compile,
                                    .next = sort_next,
                                    .end = sort_end,
                                    .free = sort_free};

/* ---- $sample ---- */

/* read_size -- a positive number without its fraction; what no int64 holds is its greatest. */
static bool read_size(const doc_value *value, uint64_t *size) {
    static const uint8_t most[8] = {255, 255, 255, 255, 255, 255, 255, 127};
    const doc_value greatest = {most, sizeof most, DOC_INT64};
    int64_t number;
    if (number_whole(value, FRACTION_HALF_EVEN, &number))
        *size = number > 0 ? (uint64_t)number : 0;
    else
        *size = number_compare(value, &greatest) > 0 ? INT64_MAX : 0;
    return *size != 0;
}

static tansu_status sample_compile(stage *s, const doc_value *spec) {
    sort_state *state = s->state = stage_alloc(s, sizeof *state);
    doc_value size;
    tansu_status status = state ? stage_members(s, spec, "size!", &size) : TANSU_E_MEMORY;
    if (status == TANSU_OK && (!doc_is_number(&size) || !read_size(&size, &state->size)))
        return stage_error(s, "size", "Must be a number, 1 or greater");
    return status;
}

const stage_kind stage_sample = {.name = "$sample",
                                 .compile = sample_compile,
                                 .next = sample_next,
                                 .end = sort_end,
                                 .free = sort_free};
