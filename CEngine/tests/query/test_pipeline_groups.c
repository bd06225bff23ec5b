/*
 * test_pipeline_groups.c -- the stages of pipelines that group, sort, unwind and count: random
 * documents, and for each stage what it should make of them, computed here from rows in plain
 * memory. The same pipelines with so little memory that all of them spill give the same bytes.
 *
 * Then every file call and every allocation fails in turn; and limits are refused.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many databases are compared (40).
 */
#include "api/handles.h"
#include "query/query_hooks.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 300
#define DEFAULT_ROUNDS 40

/* group_memory -- what stages may take from now on, less than an option allows; 0: the default. */
static void group_memory(tansu_db *db, size_t bytes) {
    tansu_options usual;
    tansu_options_init(&usual);
    db_inner(db)->options.group_memory_bytes =
        bytes != 0 ? bytes : (size_t)usual.group_memory_bytes;
}

/* ---- Documents ---- */

enum key_form { KEY_MISSING, KEY_NULL, KEY_INT, KEY_LONG, KEY_DOUBLE, KEY_STRING };

/* A document: {_id, g, n, a, s}. */
typedef struct row {
    enum key_form form; /* of g */
    int key;
    bool has_number;
    int number; /* n */
    bool has_array;
    int count; /* of a, an array */
    int array[4];
    int text; /* s: "t0" to "t9" */
} row;

static row rows[ROWS];
static int row_count;

/* random_rows -- rows whose keys are often equal. */
static void random_rows(random_source *r) {
    int keys = 1 + (int)random_below(r, 100);
    row_count = 1 + (int)random_below(r, ROWS);
    for (int i = 0; i < row_count; i++) {
        row *x = &rows[i];
        *x = (row){.form = (enum key_form)random_below(r, 6),
                   .key = (int)random_below(r, (uint64_t)keys),
                   .has_number = random_chance(r, 90),
                   .number = (int)random_between(r, -50, 50),
                   .has_array = random_chance(r, 80),
                   .count = (int)random_below(r, 5),
                   .text = (int)random_below(r, 10)};
        for (int j = 0; j < x->count; j++)
            x->array[j] = (int)random_between(r, -9, 9);
    }
}

/* put_key -- the value of g, as canonical extended JSON; a missing one as null. */
static void put_key(text *t, const row *x) {
    switch (x->form) {
    case KEY_INT: put(t, "{\"$numberInt\":\"%d\"}", x->key); break;
    case KEY_LONG: put(t, "{\"$numberLong\":\"%d\"}", x->key); break;
    case KEY_DOUBLE: put(t, "{\"$numberDouble\":\"%d.0\"}", x->key); break;
    case KEY_STRING: put(t, "\"k%d\"", x->key); break;
    default: put(t, "null");
    }
}

/* save_rows -- the documents of the rows, one commit. */
static void save_rows(tansu_db *db) {
    tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
    for (int i = 0; i < row_count; i++) {
        const row *x = &rows[i];
        text t = {.size = 0};
        put(&t, "{\"_id\":%d,\"s\":\"t%d\"", i, x->text);
        if (x->form != KEY_MISSING) {
            put(&t, ",\"g\":");
            put_key(&t, x);
        }
        if (x->has_number)
            put(&t, ",\"n\":%d", x->number);
        if (x->has_array) {
            put(&t, ",\"a\":[");
            for (int j = 0; j < x->count; j++)
                put(&t, "%s%d", j == 0 ? "" : ",", x->array[j]);
            put(&t, "]");
        }
        put(&t, "}");
        REQUIRE(CHECK_OK(call_save(db, txn, "c", TANSU_INSERT, t.bytes), &call_error));
    }
    REQUIRE(tansu_txn_commit(txn, NULL, NULL) == TANSU_OK);
}

/* ---- Answers ---- */

static tansu_error last_error;

/* A pipeline with its hints. */
typedef struct asked {
    bson_t *list, *hints;
    tansu_document stages; /* in the list */
} asked;

/* ask_of -- made of JSON. */
static asked ask_of(const char *pipeline, const char *hints) {
    text wrapped = {.size = 0};
    bson_iter_t iter;
    uint32_t size;
    put(&wrapped, "{'p':%s}", pipeline);
    asked a = {.list = bson_from_text(wrapped.bytes), .hints = bson_from_text(hints)};
    REQUIRE(bson_iter_init_find(&iter, a.list, "p"));
    bson_iter_array(&iter, &size, (const uint8_t **)&a.stages.data);
    a.stages.size = size;
    return a;
}

/* asked_free -- ends a pipeline. */
static void asked_free(asked *a) {
    bson_destroy(a->list);
    bson_destroy(a->hints);
}

/* ask -- the documents of a pipeline, one after the other. */
static tansu_status ask(tansu_db *db, const asked *a, tansu_buffer *answer) {
    tansu_document document;
    tansu_cursor *cursor;
    answer->size = 0;
    tansu_status status =
        tansu_pipeline(db, NULL, "c", a->stages, document_of(a->hints), &cursor, &last_error);
    if (status != TANSU_OK)
        return status;
    while ((status = tansu_cursor_next(cursor, &document, &last_error)) == TANSU_OK) {
        /* This allocation may be made to fail as well. */
        if (!buffer_append(answer, document.data, document.size)) {
            status = TANSU_E_MEMORY;
            break;
        }
    }
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* run -- the same of JSON. */
static tansu_status run(tansu_db *db, const char *pipeline, const char *hints,
                        tansu_buffer *answer) {
    asked a = ask_of(pipeline, hints);
    tansu_status status = ask(db, &a, answer);
    asked_free(&a);
    return status;
}

/* as_text -- an answer as canonical extended JSON without spaces, a line a document. */
static void as_text(const tansu_buffer *answer, char **result) {
    size_t size = 0;
    *result = malloc(answer->size * 40 + 1);
    REQUIRE(*result != NULL);
    for (size_t at = 0; at < answer->size;) {
        bson_t doc;
        uint32_t length = load_u32(answer->data + at);
        REQUIRE(bson_init_static(&doc, answer->data + at, length));
        char *json = bson_as_canonical_extended_json(&doc, NULL);
        for (const char *c = json; *c; c++) {
            if (*c != ' ')
                (*result)[size++] = *c;
        }
        (*result)[size++] = '\n';
        bson_free(json);
        at += length;
    }
    (*result)[size] = '\0';
}

static uint64_t compared, spilled;

/* is -- whether a pipeline answers as expected, in memory and with spilling. */
static bool is(random_source *r, tansu_db *db, const char *pipeline, const char *expected) {
    tansu_buffer answer = TANSU_BUFFER_INIT, small = TANSU_BUFFER_INIT;
    char *text;
    group_memory(db, 0);
    bool same = CHECK_OK(run(db, pipeline, "{}", &answer), &last_error);
    as_text(&answer, &text);
    same = same && CHECK_TEXT(expected, text);
    group_memory(db, 300 + random_below(r, 6000));
    fault_start(FAULT_FILES, 0, false, 0);
    same = same && CHECK_OK(run(db, pipeline, "{}", &small), &last_error) &&
           CHECK_BYTES(answer.data, answer.size, small.data, small.size);
    spilled += fault_stop() != 0;
    group_memory(db, 0);
    compared++;
    if (!same)
        check_note("%s, TANSU_SEED=%" PRIu64, pipeline, random_seed());
    free(text);
    tansu_buffer_free(&answer);
    tansu_buffer_free(&small);
    return same;
}

/* ---- What the stages should answer ---- */

/* A text of any size. */
typedef struct answer_text {
    char *bytes;
    size_t size;
} answer_text;

/* add -- appends a text to an answer. */
static void add(answer_text *a, const char *part) {
    size_t size = strlen(part);
    a->bytes = realloc(a->bytes, a->size + size + 1);
    REQUIRE(a->bytes != NULL);
    memcpy(a->bytes + a->size, part, size + 1);
    a->size += size;
}

/* same_group -- whether two rows have equal keys. */
static bool same_group(const row *a, const row *b) {
    bool nothing_a = a->form <= KEY_NULL, nothing_b = b->form <= KEY_NULL;
    if (nothing_a || nothing_b)
        return nothing_a && nothing_b;
    return a->key == b->key && (a->form == KEY_STRING) == (b->form == KEY_STRING);
}

/* is_first -- whether no row before has the key. */
static bool is_first(int i) {
    for (int j = 0; j < i; j++) {
        if (same_group(&rows[i], &rows[j]))
            return false;
    }
    return true;
}

/* put_group -- the document of the group whose first row is `i`. */
static void put_group(text *t, int i) {
    int count = 0, total = 0, numbers = 0, low = 0, high = 0, last = i, top = i, bottom = i;
    text pushed = {.size = 0}, set = {.size = 0};
    bool seen[10] = {false};
    for (int j = i; j < row_count; j++) {
        const row *x = &rows[j];
        if (!same_group(&rows[i], x))
            continue;
        count++;
        last = j;
        if (x->text < rows[top].text)
            top = j;
        if (x->text > rows[bottom].text)
            bottom = j;
        if (!seen[x->text])
            put(&set, "%s\"t%d\"", set.size == 0 ? "" : ",", x->text);
        seen[x->text] = true;
        if (!x->has_number)
            continue;
        low = numbers == 0 || x->number < low ? x->number : low;
        high = numbers == 0 || x->number > high ? x->number : high;
        total += x->number;
        numbers++;
        put(&pushed, "%s{\"$numberInt\":\"%d\"}", pushed.size == 0 ? "" : ",", x->number);
    }
    put(t, "{\"_id\":");
    put_key(t, &rows[i]);
    put(t, ",\"count\":{\"$numberInt\":\"%d\"},\"total\":{\"$numberInt\":\"%d\"}", count, total);
    if (numbers == 0)
        put(t, ",\"low\":null,\"high\":null");
    else
        put(t, ",\"low\":{\"$numberInt\":\"%d\"},\"high\":{\"$numberInt\":\"%d\"}", low, high);
    put(t, ",\"first\":{\"$numberInt\":\"%d\"},\"last\":{\"$numberInt\":\"%d\"}", i, last);
    put(t, ",\"all\":[%s],\"set\":[%s]", pushed.bytes, set.bytes);
    put(t, ",\"top\":{\"$numberInt\":\"%d\"},\"bottom\":[{\"$numberInt\":\"%d\"}]}\n", top, bottom);
}

static const char *const group_stage =
    "{'$group':{'_id':'$g','count':{'$sum':1},'total':{'$sum':'$n'},'low':{'$min':'$n'},"
    "'high':{'$max':'$n'},'first':{'$first':'$_id'},'last':{'$last':'$_id'},"
    "'all':{'$push':'$n'},'set':{'$addToSet':'$s'},"
    "'top':{'$top':{'sortBy':{'s':1},'output':'$_id'}},"
    "'bottom':{'$bottomN':{'n':1,'sortBy':{'s':1},'output':'$_id'}}}}";

/* check_groups -- $group, and $sortByCount. */
static bool check_groups(random_source *r, tansu_db *db) {
    answer_text expected = {NULL, 0}, by_count = {NULL, 0};
    text pipeline = {.size = 0};
    add(&expected, "");
    add(&by_count, "");
    for (int i = 0; i < row_count; i++) {
        text t = {.size = 0};
        if (!is_first(i))
            continue;
        put_group(&t, i);
        add(&expected, t.bytes);
    }
    for (int count = row_count; count > 0; count--) {
        for (int i = 0; i < row_count; i++) {
            int own = 0;
            for (int j = i; is_first(i) && j < row_count; j++)
                own += same_group(&rows[i], &rows[j]);
            if (own != count)
                continue;
            text t = {.size = 0};
            put(&t, "{\"_id\":");
            put_key(&t, &rows[i]);
            put(&t, ",\"count\":{\"$numberInt\":\"%d\"}}\n", count);
            add(&by_count, t.bytes);
        }
    }
    put(&pipeline, "[%s]", group_stage);
    bool same = is(r, db, pipeline.bytes, expected.bytes) &&
                is(r, db, "[{'$sortByCount':'$g'}]", by_count.bytes);
    free(expected.bytes);
    free(by_count.bytes);
    return same;
}

/* array_rank -- where the array of a row is in an order: the least element, or the greatest; an
 * empty array is before a missing one, and that before numbers. */
static int array_rank(const row *x, bool descending) {
    int rank = 0;
    if (!x->has_array)
        return -99;
    if (x->count == 0)
        return -100;
    for (int i = 0; i < x->count; i++) {
        if (i == 0 || (descending ? x->array[i] > rank : x->array[i] < rank))
            rank = x->array[i];
    }
    return rank;
}

static bool sort_descending, number_descending;

/* compare_rows -- the order {a, n}, and that of arrival, for qsort(). */
static int compare_rows(const void *left, const void *right) {
    int i = *(const int *)left, j = *(const int *)right;
    const row *a = &rows[i], *b = &rows[j];
    int order = array_rank(a, sort_descending) - array_rank(b, sort_descending);
    if (order != 0)
        return sort_descending ? -order : order;
    order = (a->has_number ? a->number : -99) - (b->has_number ? b->number : -99);
    if (order != 0)
        return number_descending ? -order : order;
    return i - j;
}

/* check_sort -- $sort, with $skip and $limit behind it or without. The stage before it is there so
 * that the query which reads the collection does not sort. */
static bool check_sort(random_source *r, tansu_db *db) {
    int order[ROWS], skip = 0, limit = row_count;
    text pipeline = {.size = 0};
    answer_text expected = {NULL, 0};
    add(&expected, "");
    for (int i = 0; i < row_count; i++)
        order[i] = i;
    sort_descending = random_chance(r, 50);
    number_descending = random_chance(r, 50);
    qsort(order, (size_t)row_count, sizeof *order, compare_rows);
    put(&pipeline, "[{'$unset':'z'},{'$sort':{'a':%d,'n':%d}}", sort_descending ? -1 : 1,
        number_descending ? -1 : 1);
    if (random_chance(r, 50)) {
        skip = (int)random_below(r, 10);
        limit = 1 + (int)random_below(r, 40);
        put(&pipeline, ",{'$skip':%d},{'$limit':%d}", skip, limit);
    }
    put(&pipeline, ",{'$project':{'_id':1}}]");
    for (int i = skip; i < row_count && i < skip + limit; i++) {
        text t = {.size = 0};
        put(&t, "{\"_id\":{\"$numberInt\":\"%d\"}}\n", order[i]);
        add(&expected, t.bytes);
    }
    bool same = is(r, db, pipeline.bytes, expected.bytes);
    free(expected.bytes);
    return same;
}

/* check_unwind -- $unwind, with its options or without. */
static bool check_unwind(random_source *r, tansu_db *db) {
    bool preserve = random_chance(r, 50);
    answer_text expected = {NULL, 0};
    text pipeline = {.size = 0};
    add(&expected, "");
    for (int i = 0; i < row_count; i++) {
        const row *x = &rows[i];
        text t = {.size = 0};
        int count = x->has_array ? x->count : 0;
        for (int j = 0; j < count; j++)
            put(&t,
                "{\"_id\":{\"$numberInt\":\"%d\"},\"a\":{\"$numberInt\":\"%d\"},"
                "\"at\":{\"$numberLong\":\"%d\"}}\n",
                i, x->array[j], j);
        if (count == 0 && preserve)
            put(&t, "{\"_id\":{\"$numberInt\":\"%d\"},\"at\":null}\n", i);
        add(&expected, t.bytes);
    }
    put(&pipeline,
        "[{'$unwind':{'path':'$a','includeArrayIndex':'at','preserveNullAndEmptyArrays':%s}},"
        "{'$project':{'a':1,'at':1}}]",
        preserve ? "true" : "false");
    bool same = is(r, db, pipeline.bytes, expected.bytes);
    free(expected.bytes);
    return same;
}

/* check_bucket -- $bucket over n. */
static bool check_bucket(random_source *r, tansu_db *db) {
    int boundaries[4], at = (int)random_between(r, -60, 0);
    answer_text expected = {NULL, 0};
    text pipeline = {.size = 0};
    add(&expected, "");
    put(&pipeline, "[{'$bucket':{'groupBy':'$n','default':'other','boundaries':[");
    for (int i = 0; i < 4; i++) {
        boundaries[i] = at;
        put(&pipeline, "%s%d", i == 0 ? "" : ",", at);
        at += 1 + (int)random_below(r, 40);
    }
    put(&pipeline, "],'output':{'n':{'$sum':1},'ids':{'$push':'$_id'}}}}]");
    for (int b = 0; b < 4; b++) {
        text ids = {.size = 0}, t = {.size = 0};
        int count = 0;
        for (int i = 0; i < row_count; i++) {
            const row *x = &rows[i];
            int own = 3;
            for (int j = 0; j < 3 && x->has_number; j++) {
                if (x->number >= boundaries[j] && x->number < boundaries[j + 1])
                    own = j;
            }
            if (own == b)
                put(&ids, "%s{\"$numberInt\":\"%d\"}", count++ == 0 ? "" : ",", i);
        }
        if (count == 0)
            continue;
        if (b < 3)
            put(&t, "{\"_id\":{\"$numberInt\":\"%d\"}", boundaries[b]);
        else
            put(&t, "{\"_id\":\"other\"");
        put(&t, ",\"n\":{\"$numberInt\":\"%d\"},\"ids\":[", count);
        add(&expected, t.bytes);
        add(&expected, ids.bytes);
        add(&expected, "]}\n");
    }
    bool same = is(r, db, pipeline.bytes, expected.bytes);
    free(expected.bytes);
    return same;
}

/* compare_numbers -- for qsort(). */
static int compare_numbers(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* check_bucket_auto -- $bucketAuto over n. */
static bool check_bucket_auto(random_source *r, tansu_db *db) {
    int numbers[ROWS], count = 0, at = 0, buckets = 1 + (int)random_below(r, 12);
    answer_text expected = {NULL, 0};
    text pipeline = {.size = 0};
    add(&expected, "");
    for (int i = 0; i < row_count; i++) {
        if (rows[i].has_number)
            numbers[count++] = rows[i].number;
    }
    qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
    int size = (2 * count + buckets) / (2 * buckets);
    for (int b = 0; b < buckets && at < count; b++) {
        int begin = at++;
        text t = {.size = 0};
        while (at < count && (at - begin < size || b == buckets - 1))
            at++;
        while (at < count && numbers[at] == numbers[at - 1])
            at++;
        put(&t,
            "{\"_id\":{\"min\":{\"$numberInt\":\"%d\"},\"max\":{\"$numberInt\":\"%d\"}},"
            "\"count\":{\"$numberInt\":\"%d\"}}\n",
            numbers[begin], at < count ? numbers[at] : numbers[at - 1], at - begin);
        add(&expected, t.bytes);
    }
    put(&pipeline,
        "[{'$match':{'n':{'$exists':true}}},{'$bucketAuto':{'groupBy':'$n','buckets':%d}}]",
        buckets);
    bool same = is(r, db, pipeline.bytes, expected.bytes);
    free(expected.bytes);
    return same;
}

/* check_sample -- $sample: as many documents as wanted, none twice. */
static bool check_sample(random_source *r, tansu_db *db) {
    text pipeline = {.size = 0}, expected = {.size = 0};
    int size = 1 + (int)random_below(r, ROWS);
    put(&pipeline, "[{'$sample':{'size':%d}},{'$group':{'_id':'$_id'}},{'$count':'documents'}]",
        size);
    put(&expected, "{\"documents\":{\"$numberInt\":\"%d\"}}\n",
        size < row_count ? size : row_count);
    return is(r, db, pipeline.bytes, expected.bytes);
}

/* open_with -- a database over other file calls. */
static tansu_db *open_with(const char *folder) {
    tansu_options options = call_options(folder);
    tansu_db *db = NULL;
    options.checkpoint_bytes = (uint64_t)1 << 40; /* no file call that the test did not make */
    REQUIRE(CHECK_OK(handle_open(&options, &fault_fs, &engine_query_hooks, &db, &last_error),
                     &last_error));
    return db;
}

static void stages_answer_as_computed_here(void) {
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    bool same = true;
    for (uint64_t round = 0; same && round < rounds; round++) {
        random_source r = random_start(round);
        char *folder = folder_new();
        tansu_db *db = open_with(folder);
        random_rows(&r);
        save_rows(db);
        same = check_groups(&r, db) && check_sort(&r, db) && check_unwind(&r, db) &&
               check_bucket(&r, db) && check_bucket_auto(&r, db) && check_sample(&r, db);
        call_close(db);
        folder_end(folder);
    }
    if (rounds >= DEFAULT_ROUNDS)
        CHECK(spilled > compared / 4);
}

/* ---- Failing calls ---- */

static const char *const failing[] = {
    "[{'$group':{'_id':{'s':'$s','g':'$g'},'all':{'$push':'$n'},'set':{'$addToSet':'$n'},"
    "'m':{'$mergeObjects':{'n':'$n'}},'f':{'$firstN':{'n':2,'input':'$n'}},"
    "'l':{'$lastN':{'n':2,'input':'$n'}},'x':{'$maxN':{'n':3,'input':'$n'}},"
    "'p':{'$percentile':{'input':'$n','p':[0.5,0.9],'method':'approximate'}},"
    "'d':{'$stdDevPop':'$n'},'t':{'$topN':{'n':2,'sortBy':{'n':-1},'output':'$s'}}}}]",
    "[{'$unset':'a'},{'$sort':{'s':1,'n':-1}}]",
    "[{'$unset':'a'},{'$sort':{'s':1,'n':-1}},{'$limit':50}]",
    "[{'$sortByCount':'$s'}]",
    "[{'$unwind':{'path':'$a','includeArrayIndex':'x.y'}},{'$sortByCount':'$a'}]",
    "[{'$bucket':{'groupBy':'$n','boundaries':[-9,0,9],'default':null}}]",
    "[{'$bucketAuto':{'groupBy':'$s','buckets':4,'output':{'a':{'$push':'$n'}}}}]",
};
#define FAILING (sizeof failing / sizeof *failing)

/* try_each -- fails the first, the second … call of a kind while the pipelines run; each failure
 * comes out, and the database goes on. */
static void try_each(fault_kind kind, int number, bool lasting, tansu_status expected) {
    char *folder = folder_new();
    tansu_db *db = open_with(folder);
    random_source r = random_from(7);
    unsigned failures = 0;
    random_rows(&r);
    row_count = ROWS;
    save_rows(db);
    for (size_t i = 0; i < FAILING; i++) {
        tansu_buffer whole = TANSU_BUFFER_INIT, answer = TANSU_BUFFER_INIT;
        group_memory(db, 4000);
        asked a = ask_of(failing[i], "{}");
        CHECK_OK(ask(db, &a, &whole), &last_error);
        bool met = true;
        /* Of the allocations, which are many, every few. */
        for (unsigned nth = 1; met; nth += kind == FAULT_FILES ? 1 : 1 + nth / 20) {
            fault_start(kind, nth, lasting, number);
            tansu_status status = ask(db, &a, &answer);
            met = fault_occurred();
            fault_stop();
            if (status == TANSU_OK)
                CHECK_BYTES(whole.data, whole.size, answer.data, answer.size);
            else
                failures++;
            if (status != TANSU_OK && !CHECK_STATUS(expected, status))
                check_note("pipeline %zu, %u", i, nth);
        }
        group_memory(db, 0);
        CHECK_OK(ask(db, &a, &answer), &last_error);
        CHECK_BYTES(whole.data, whole.size, answer.data, answer.size);
        asked_free(&a);
        tansu_buffer_free(&whole);
        tansu_buffer_free(&answer);
    }
    CHECK(failures > 20);
    call_close(db);
    folder_end(folder);
}

static void every_failing_file_call_is_reported(void) {
    try_each(FAULT_FILES, EIO, false, TANSU_E_IO);
    try_each(FAULT_FILES, ENOSPC, true, TANSU_E_FULL);
}

static void every_failing_allocation_is_reported(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    try_each(FAULT_OWN_MEMORY, 0, false, TANSU_E_MEMORY);
}

/* ---- Limits ---- */

/* fails -- the status of a pipeline. */
static void fails(tansu_db *db, tansu_status expected, const char *pipeline, const char *hints) {
    tansu_buffer answer = TANSU_BUFFER_INIT;
    if (!CHECK_STATUS(expected, run(db, pipeline, hints, &answer)))
        check_note("%s", pipeline);
    tansu_buffer_free(&answer);
}

static void limits_are_refused(void) {
    char *folder = folder_new();
    tansu_db *db = open_with(folder);
    random_source r = random_from(9);
    random_rows(&r);
    row_count = ROWS;
    save_rows(db);
    /* Larger than what one group may always take. */
    text big = {.size = 0};
    put(&big, "[{'$unwind':'$a'},{'$group':{'_id':null,'all':{'$push':{'d':['$_id'");
    for (int i = 0; i < 20; i++)
        put(&big, ",'$$ROOT'");
    put(&big, "]}}}}]");
    group_memory(db, 70000);
    fails(db, TANSU_E_TOO_LARGE, big.bytes, "{}");
    fails(db, TANSU_E_TOO_LARGE, big.bytes, "{'$allowDiskUse':false}");
    group_memory(db, 2000);
    fails(db, TANSU_E_TOO_LARGE, "[{'$unset':'z'},{'$sort':{'s':1}}]", "{'$allowDiskUse':false}");
    fails(db, TANSU_OK, "[{'$unset':'z'},{'$sort':{'s':1}}]", "{}");
    group_memory(db, 0);
    fails(db, TANSU_OK, big.bytes, "{}");
    fails(db, TANSU_E_INVALID_QUERY, "[{'$bucket':{'groupBy':'$n','boundaries':[0,1]}}]", "{}");
    fails(db, TANSU_E_INVALID_QUERY, "[{'$group':{'_id':null,'x':{'$firstN':{'n':0,'input':1}}}}]",
          "{}");
    REQUIRE(CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, "{'_id':-1,'a':[1],'b':[1]}"),
                     &call_error));
    fails(db, TANSU_E_INVALID_QUERY, "[{'$unset':'z'},{'$sort':{'a':1,'b':1}}]", "{}");
    text paths = {.size = 0};
    put(&paths, "[{'$sort':{'x0':1");
    for (int i = 1; i < 33; i++)
        put(&paths, ",'x%d':1", i);
    put(&paths, "}}]");
    fails(db, TANSU_E_INVALID_QUERY, paths.bytes, "{}");
    call_close(db);
    folder_end(folder);
}

static void elements_are_sorted_by_together(void) {
    tansu_db *db = call_open(NULL);
    tansu_buffer answer = TANSU_BUFFER_INIT;
    char *text;
    /* The first document has no element with x 1 and y 1, the second one has. */
    REQUIRE(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':1,'a':[{'x':1,'y':5},{'x':2,'y':1}]}") ==
            TANSU_OK);
    REQUIRE(call_save(db, NULL, "c", TANSU_SAVE, "{'_id':2,'a':[{'x':1,'y':4}]}") == TANSU_OK);
    CHECK_OK(run(db, "[{'$unset':'z'},{'$sort':{'a.x':1,'a.y':1}},{'$project':{'_id':1}}]", "{}",
                 &answer),
             &last_error);
    as_text(&answer, &text);
    CHECK_TEXT("{\"_id\":{\"$numberInt\":\"2\"}}\n{\"_id\":{\"$numberInt\":\"1\"}}\n", text);
    free(text);
    tansu_buffer_free(&answer);
    call_close(db);
}

/* The manual of MongoDB groups the numbers 0 to 99 in five buckets by these series. */
static void granularities_are_those_of_the_manual(void) {
    static const struct {
        const char *granularity, *expected;
    } cases[] = {
        {"R20", "0-20:20 20-40:20 40-63:23 63-90:27 90-100:10"},
        {"E24", "0-20:20 20-43:23 43-68:25 68-91:23 91-100:9"},
        {"1-2-5", "0-20:20 20-50:30 50-100:50"},
        {"POWERSOF2", "0-32:32 32-64:32 64-128:36"},
    };
    tansu_db *db = call_open(NULL);
    for (int i = 0; i < 100; i++) {
        char doc[32];
        snprintf(doc, sizeof doc, "{'_id':%d}", i);
        REQUIRE(call_save(db, NULL, "c", TANSU_INSERT, doc) == TANSU_OK);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tansu_buffer answer = TANSU_BUFFER_INIT;
        text pipeline = {.size = 0}, found = {.size = 0};
        put(&pipeline, "[{'$bucketAuto':{'groupBy':'$_id','buckets':5,'granularity':'%s'}}]",
            cases[i].granularity);
        CHECK_OK(run(db, pipeline.bytes, "{}", &answer), &last_error);
        for (size_t at = 0; at < answer.size; at += load_u32(answer.data + at)) {
            bson_t doc;
            bson_iter_t iter, min, max, count;
            REQUIRE(bson_init_static(&doc, answer.data + at, load_u32(answer.data + at)));
            REQUIRE(bson_iter_init(&iter, &doc) &&
                    bson_iter_find_descendant(&iter, "_id.min", &min));
            REQUIRE(bson_iter_init(&iter, &doc) &&
                    bson_iter_find_descendant(&iter, "_id.max", &max));
            REQUIRE(bson_iter_init_find(&count, &doc, "count"));
            put(&found, "%s%" PRId64 "-%" PRId64 ":%" PRId64, at == 0 ? "" : " ",
                bson_iter_as_int64(&min), bson_iter_as_int64(&max), bson_iter_as_int64(&count));
        }
        CHECK_TEXT(cases[i].expected, found.bytes);
        tansu_buffer_free(&answer);
    }
    call_close(db);
}

int main(void) {
    RUN(stages_answer_as_computed_here);
    RUN(every_failing_file_call_is_reported);
    RUN(every_failing_allocation_is_reported);
    RUN(limits_are_refused);
    RUN(elements_are_sorted_by_together);
    RUN(granularities_are_those_of_the_manual);
    check_note("%" PRIu64 " answers compared, %" PRIu64 " of which used files", compared, spilled);
    return check_finish();
}
