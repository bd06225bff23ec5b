/*
 * device/steps.c -- a deterministic workload and its reference model.
 */
#include "steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WHY 256

/* next_random -- splitmix64. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint32_t below(uint64_t *state, uint32_t n) {
    return (uint32_t)(next_random(state) % n);
}

/* make_operation -- one of any kind; `only_saves` for what is a single call. */
static void make_operation(uint64_t *random, bool only_saves, step_operation *o) {
    uint32_t kind = only_saves ? 0 : below(random, 100);
    o->from = o->to = (int32_t)below(random, STEP_IDS);
    o->v = (int32_t)below(random, 1000000);
    o->kind = kind < 60 ? STEP_SAVE : kind < 82 ? STEP_INCREASE : STEP_REMOVE;
    if (o->kind != STEP_SAVE)
        o->to += (int32_t)below(random, 12);
}

void step_make(uint64_t seed, uint32_t thread, uint64_t number, step *s) {
    uint64_t random = seed * 1000003u + thread * 7919u + number * 0x9E3779B97F4A7C15u;
    next_random(&random);
    s->across = below(&random, 100) < 60;
    s->count = 1 + below(&random, s->across ? STEP_OPERATIONS : 3);
    for (unsigned i = 0; i < s->count; i++)
        make_operation(&random, !s->across, &s->operations[i]);
}

void step_apply(step_model *model, const step *s) {
    model->step++;
    if (s->across)
        model->across = model->step;
    for (unsigned i = 0; i < s->count; i++) {
        const step_operation *o = &s->operations[i];
        for (int32_t id = o->from; id <= o->to && id < STEP_IDS; id++) {
            step_cell *c = &model->cells[id];
            if (o->kind == STEP_SAVE)
                *c = (step_cell){true, o->v, 0};
            else if (o->kind == STEP_INCREASE && c->there)
                c->n++;
            else if (o->kind == STEP_REMOVE)
                *c = (step_cell){false, 0, 0};
        }
    }
}

void step_model_at(uint64_t seed, uint32_t thread, uint64_t number, step_model *model) {
    step s;
    memset(model, 0, sizeof *model);
    while (model->step < number) {
        step_make(seed, thread, model->step + 1, &s);
        step_apply(model, &s);
    }
}

int64_t step_sum(const step_model *model) {
    int64_t sum = 0;
    for (size_t i = 0; i < STEP_IDS; i++)
        if (model->cells[i].there)
            sum += (int64_t)model->cells[i].v + model->cells[i].n;
    return sum;
}

const char *step_collection(uint32_t thread, char *name) {
    snprintf(name, 16, "w%u", thread);
    return name;
}

/* ---- Documents ---------------------------------------------------------------------------- */

/* padding -- the text of a document with this v: 20 to 1,500 bytes, some of 40,000. */
static uint32_t padding(int32_t v, char *text) {
    uint32_t size = v % 50 == 0 ? 40000 : 20 + (uint32_t)v % 1480;
    for (uint32_t at = 0; at < size; at += sizeof STEP_MARK)
        snprintf(text + at, sizeof STEP_MARK + 1, "%s ", STEP_MARK);
    text[size] = 0;
    return size;
}

#define PADDING_CAPACITY (40000 + 2 * sizeof STEP_MARK)

static bson_t *make_document(int32_t id, const step_cell *c) {
    char text[PADDING_CAPACITY], key[32];
    uint32_t size = padding(c->v, text);
    bson_t *b = bson_new();
    snprintf(key, sizeof key, "key %d", c->v % 1000);
    bson_append_int32(b, "_id", -1, id);
    bson_append_int32(b, "v", -1, c->v);
    bson_append_int32(b, "n", -1, c->n);
    bson_append_utf8(b, "s", -1, key, -1);
    bson_append_utf8(b, "pad", -1, text, (int)size);
    return b;
}

/* make_state -- the document -1, which describes the others. */
static bson_t *make_state(const step_model *model) {
    bson_t *b = bson_new();
    bson_append_int32(b, "_id", -1, -1);
    bson_append_int64(b, "step", -1, (int64_t)model->step);
    bson_append_int64(b, "sum", -1, step_sum(model));
    return b;
}

static bson_t *range(int32_t from, int32_t to) {
    return BCON_NEW("_id", "{", "$gte", BCON_INT32(from), "$lte", BCON_INT32(to), "}");
}

/* ---- Writing ------------------------------------------------------------------------------- */

tansu_status step_prepare(tansu_db *db, tansu_error *error) {
    static const char *const paths[] = {"v", "n", "s"};
    tansu_status status = TANSU_OK;
    for (uint32_t t = 0; t < STEP_THREADS && status == TANSU_OK; t++)
        for (size_t i = 0; i < 3 && status == TANSU_OK; i++) {
            char name[16];
            bson_t *keys = BCON_NEW(paths[i], BCON_INT32(1));
            status = tansu_index_create(db, NULL, step_collection(t, name), paths[i],
                                        document_of(keys), TANSU_NO_DOCUMENT, NULL, NULL, error);
            bson_destroy(keys);
        }
    return status == TANSU_OK
               ? tansu_collection_ensure(db, NULL, "across", TANSU_NO_DOCUMENT, error)
               : status;
}

/* save -- documents in one call; frees them. */
static tansu_status save(tansu_db *db, tansu_txn *txn, const char *collection, bson_t **docs,
                         size_t count, tansu_error *error) {
    tansu_document list[STEP_OPERATIONS + 1] = {{NULL, 0}};
    for (size_t i = 0; i < count; i++)
        list[i] = document_of(docs[i]);
    tansu_status status = tansu_save(db, txn, collection, list, count, TANSU_SAVE, NULL, error);
    for (size_t i = 0; i < count; i++)
        bson_destroy(docs[i]);
    return status;
}

/* run_operation -- one operation of a transaction. */
static tansu_status run_operation(tansu_db *db, tansu_txn *txn, const char *collection,
                                  const step_operation *o, tansu_error *error) {
    if (o->kind == STEP_SAVE) {
        bson_t *doc = make_document(o->from, &(step_cell){true, o->v, 0});
        return save(db, txn, collection, &doc, 1, error);
    }
    tansu_status status;
    bson_t *query = range(o->from, o->to);
    bson_t *increase = BCON_NEW("$inc", "{", "n", BCON_INT32(1), "}");
    if (o->kind == STEP_INCREASE)
        status = tansu_update(db, txn, collection, document_of(query), document_of(increase),
                              TANSU_NO_DOCUMENT, NULL, error);
    else
        status =
            tansu_remove(db, txn, collection, document_of(query), TANSU_NO_DOCUMENT, NULL, error);
    bson_destroy(query);
    bson_destroy(increase);
    return status;
}

tansu_status step_run(tansu_db *db, uint32_t thread, const step *s, const step_model *after,
                      tansu_durability durability, uint64_t *sequence, tansu_error *error) {
    char name[16];
    bson_t *docs[STEP_OPERATIONS + 1];
    tansu_txn *txn = NULL;
    tansu_status status;
    *sequence = 0;
    step_collection(thread, name);
    if (!s->across) {
        for (unsigned i = 0; i < s->count; i++)
            docs[i] =
                make_document(s->operations[i].from, &(step_cell){true, s->operations[i].v, 0});
        docs[s->count] = make_state(after);
        return save(db, NULL, name, docs, s->count + 1, error);
    }
    if ((status = tansu_txn_begin(db, TANSU_TXN_WRITE, durability, &txn, error)) != TANSU_OK)
        return status;
    for (unsigned i = 0; i < s->count && status == TANSU_OK; i++)
        status = run_operation(db, txn, name, &s->operations[i], error);
    if (status == TANSU_OK) {
        docs[0] = make_state(after);
        status = save(db, txn, name, docs, 1, error);
    }
    if (status == TANSU_OK) {
        docs[0] = BCON_NEW("_id", BCON_INT32((int32_t)thread), "step",
                           BCON_INT64((int64_t)after->across));
        status = save(db, txn, "across", docs, 1, error);
    }
    if (status == TANSU_OK)
        return tansu_txn_commit(txn, sequence, error);
    tansu_txn_abort(txn);
    return status;
}

/* ---- Reading ------------------------------------------------------------------------------- */

/* number -- a whole number of a document; -1 when it is not there. */
static int64_t number(const bson_t *doc, const char *key) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, doc, key) && BSON_ITER_HOLDS_NUMBER(&iter)
               ? bson_iter_as_int64(&iter)
               : -1;
}

/* take -- adds a document to what was read. */
static void take(const bson_t *doc, step_model *model, int64_t *sum, char *why) {
    int64_t id = number(doc, "_id");
    if (id == -1) {
        model->step = (uint64_t)number(doc, "step");
        *sum = number(doc, "sum");
        return;
    }
    if (id < 0 || id >= STEP_IDS || model->cells[id].there) {
        snprintf(why, WHY, "document %" PRId64 " should not exist, or exists twice", id);
        return;
    }
    step_cell *c = &model->cells[id];
    *c = (step_cell){true, (int32_t)number(doc, "v"), (int32_t)number(doc, "n")};
    bson_t *expected = make_document((int32_t)id, c);
    if (!bson_equal(expected, doc))
        snprintf(why, WHY, "document %" PRId64 " has other bytes than any that was saved", id);
    bson_destroy(expected);
}

/* read_across -- the step in the other collection. */
static tansu_status read_across(tansu_db *db, tansu_txn *txn, uint32_t thread, step_model *model,
                                tansu_error *error) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    bson_t doc;
    bson_t *id = BCON_NEW("_id", BCON_INT32((int32_t)thread));
    tansu_status status = tansu_get(db, txn, "across", document_of(id), &result, error);
    if (status == TANSU_OK && bson_init_static(&doc, result.data, result.size))
        model->across = (uint64_t)number(&doc, "step");
    bson_destroy(id);
    tansu_buffer_free(&result);
    return status == TANSU_E_NOT_FOUND ? TANSU_OK : status;
}

tansu_status step_read(tansu_db *db, tansu_txn *txn, uint32_t thread, step_model *model, char *why,
                       tansu_error *error) {
    char name[16];
    tansu_cursor *cursor = NULL;
    tansu_document d;
    bson_t doc;
    int64_t sum = 0;
    memset(model, 0, sizeof *model);
    why[0] = 0;
    tansu_status status = tansu_find(db, txn, step_collection(thread, name), TANSU_NO_DOCUMENT,
                                     TANSU_NO_DOCUMENT, &cursor, error);
    while (status == TANSU_OK && (status = tansu_cursor_next(cursor, &d, error)) == TANSU_OK)
        if (bson_init_static(&doc, d.data, d.size))
            take(&doc, model, &sum, why);
        else
            snprintf(why, WHY, "a document that is not valid BSON");
    tansu_cursor_close(cursor);
    if (status == TANSU_DONE)
        status = read_across(db, txn, thread, model, error);
    if (status == TANSU_OK && why[0] == 0 && sum != step_sum(model))
        snprintf(why, WHY,
                 "%s at step %" PRIu64 ": the documents sum up to %" PRId64 ", not to the %" PRId64
                 " of that step",
                 name, model->step, step_sum(model), sum);
    return status;
}

bool step_same(const step_model *expected, const step_model *actual, char *why) {
    for (int i = 0; i < STEP_IDS; i++) {
        const step_cell *e = &expected->cells[i], *a = &actual->cells[i];
        if (e->there != a->there || e->v != a->v || e->n != a->n) {
            snprintf(why, WHY,
                     "document %d at step %" PRIu64 ": there %d, v %d, n %d instead of "
                     "%d, %d, %d",
                     i, actual->step, a->there, a->v, a->n, e->there, e->v, e->n);
            return false;
        }
    }
    if (expected->across != actual->across) {
        snprintf(why, WHY,
                 "half a transaction: the other collection is at step %" PRIu64 ", not %" PRIu64,
                 actual->across, expected->across);
        return false;
    }
    return true;
}
