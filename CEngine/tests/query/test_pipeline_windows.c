/*
 * test_pipeline_windows.c -- $setWindowFields over random documents and windows gives what a plain
 * evaluation gives, which adds up the window of each document by itself; with little memory, and
 * with temporary files, it gives the same. $densify, $fill and the functions of series give what is
 * written down here. Every failing allocation is reported.
 *
 * TANSU_SEED=n repeats a run, TANSU_ROUNDS=n is how many databases are compared (40).
 */
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/random/random.h"
#include "util/buffer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 120

/* ---- The plain evaluation ---- */

/* A document {"_id", "p", "t", "v"}. */
typedef struct row {
    int id, partition, place;
    bool has_value;
    double value;
} row;

static row rows[DOCUMENTS];

enum bound { UNBOUNDED, CURRENT, OFFSET };

typedef struct window {
    bool range;
    enum bound lower, upper;
    int from, to;
} window;

/* A result: a number, a list of numbers and nulls, or null. */
typedef struct value {
    enum { VALUE_NULL, VALUE_NUMBER, VALUE_LIST } kind;
    double number;
    uint32_t count;
    double items[DOCUMENTS]; /* NAN stands for null */
} value;

/* compare_rows -- the order of the stage: by partition, by place, and by arrival. */
static int compare_rows(const void *left, const void *right) {
    const row *a = left, *b = right;
    if (a->partition != b->partition)
        return a->partition - b->partition;
    return a->place != b->place ? a->place - b->place : a->id - b->id;
}

/* is_in -- whether row j is in the window of row i. */
static bool is_in(const window *w, int i, int j) {
    if (rows[i].partition != rows[j].partition)
        return false;
    int distance = w->range ? rows[j].place - rows[i].place : j - i;
    bool after = w->lower == UNBOUNDED || (w->lower == CURRENT ? j >= i : distance >= w->from);
    bool before = w->upper == UNBOUNDED || (w->upper == CURRENT ? j <= i : distance <= w->to);
    return after && before;
}

static void plain_sum(const row **in, int count, value *v) {
    v->kind = VALUE_NUMBER;
    for (int i = 0; i < count; i++)
        v->number += in[i]->has_value ? in[i]->value : 0;
}

/* numbers -- how many rows have a value. */
static int numbers(const row **in, int count) {
    int n = 0;
    for (int i = 0; i < count; i++)
        n += in[i]->has_value;
    return n;
}

static void plain_avg(const row **in, int count, value *v) {
    int n = numbers(in, count);
    plain_sum(in, count, v);
    v->number /= n;
    v->kind = n != 0 ? VALUE_NUMBER : VALUE_NULL;
}

static void plain_count(const row **in, int count, value *v) {
    (void)in;
    v->kind = VALUE_NUMBER;
    v->number = count;
}

/* extreme -- the least value, or the greatest one. */
static void extreme(const row **in, int count, int sense, value *v) {
    for (int i = 0; i < count; i++) {
        if (in[i]->has_value && (v->kind == VALUE_NULL || (in[i]->value - v->number) * sense > 0)) {
            v->kind = VALUE_NUMBER;
            v->number = in[i]->value;
        }
    }
}

static void plain_min(const row **in, int count, value *v) {
    extreme(in, count, -1, v);
}

static void plain_max(const row **in, int count, value *v) {
    extreme(in, count, 1, v);
}

/* deviation -- the square sum of the differences from the mean, by a divisor. */
static void deviation(const row **in, int count, int less, value *v) {
    int n = numbers(in, count);
    value mean = {.kind = VALUE_NULL};
    plain_avg(in, count, &mean);
    for (int i = 0; i < count; i++) {
        double distance = in[i]->value - mean.number;
        v->number += in[i]->has_value ? distance * distance : 0;
    }
    v->kind = n > less ? VALUE_NUMBER : VALUE_NULL;
    v->number = n > less ? sqrt(v->number / (n - less)) : 0;
}

static void plain_pop(const row **in, int count, value *v) {
    deviation(in, count, 0, v);
}

static void plain_samp(const row **in, int count, value *v) {
    deviation(in, count, 1, v);
}

/* plain_covariance -- of the value and the place. */
static void plain_covariance(const row **in, int count, value *v) {
    int n = numbers(in, count);
    double x = 0, y = 0;
    for (int i = 0; i < count; i++) {
        x += in[i]->has_value ? in[i]->value / n : 0;
        y += in[i]->has_value ? (double)in[i]->place / n : 0;
    }
    for (int i = 0; i < count; i++)
        v->number += in[i]->has_value ? (in[i]->value - x) * (in[i]->place - y) / n : 0;
    v->kind = n != 0 ? VALUE_NUMBER : VALUE_NULL;
}

/* put_item -- appends the value of a row to a list. */
static void put_item(value *v, const row *r) {
    v->items[v->count++] = r->has_value ? r->value : NAN;
}

static void plain_push(const row **in, int count, value *v) {
    v->kind = VALUE_LIST;
    for (int i = 0; i < count; i++)
        put_item(v, in[i]);
}

static void plain_first_n(const row **in, int count, value *v) {
    plain_push(in, count < 2 ? count : 2, v);
}

static void plain_last_n(const row **in, int count, value *v) {
    int n = count < 2 ? count : 2;
    plain_push(in + (count - n), n, v);
}

/* end_of -- the value of a row, if there is one. */
static void end_of(const row *r, value *v) {
    v->kind = r && r->has_value ? VALUE_NUMBER : VALUE_NULL;
    v->number = v->kind == VALUE_NUMBER ? r->value : 0;
}

static void plain_first(const row **in, int count, value *v) {
    end_of(count != 0 ? in[0] : NULL, v);
}

static void plain_last(const row **in, int count, value *v) {
    end_of(count != 0 ? in[count - 1] : NULL, v);
}

/* plain_median -- the value in the middle. */
static void plain_median(const row **in, int count, value *v) {
    double sorted[DOCUMENTS];
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (!in[i]->has_value)
            continue;
        int at = n++;
        for (; at > 0 && sorted[at - 1] > in[i]->value; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = in[i]->value;
    }
    v->kind = n != 0 ? VALUE_NUMBER : VALUE_NULL;
    v->number = n != 0 ? sorted[(n + 1) / 2 - 1] : 0;
}

/* plain_integral -- of the place, of a window whose rows all have values. */
static void plain_integral(const row **in, int count, value *v) {
    v->kind = count != 0 ? VALUE_NUMBER : VALUE_NULL;
    for (int i = 1; i < count; i++)
        v->number += (in[i]->place - in[i - 1]->place) * (in[i]->id + in[i - 1]->id) / 2.0;
}

/* plain_derivative -- of the place. */
static void plain_derivative(const row **in, int count, value *v) {
    if (count == 0 || in[0]->place == in[count - 1]->place)
        return;
    v->kind = VALUE_NUMBER;
    v->number = (double)(in[count - 1]->id - in[0]->id) / (in[count - 1]->place - in[0]->place);
}

typedef struct function {
    const char *operator; /* with its operand */
    void (*plain)(const row **in, int count, value *v);
} function;

static const function functions[] = {
    {"'$sum':'$v'", plain_sum},
    {"'$avg':'$v'", plain_avg},
    {"'$count':{}", plain_count},
    {"'$sum':1", plain_count},
    {"'$min':'$v'", plain_min},
    {"'$max':'$v'", plain_max},
    {"'$stdDevPop':'$v'", plain_pop},
    {"'$stdDevSamp':'$v'", plain_samp},
    {"'$covariancePop':['$v','$t']", plain_covariance},
    {"'$push':'$v'", plain_push},
    {"'$firstN':{'input':'$v','n':2}", plain_first_n},
    {"'$lastN':{'input':'$v','n':2}", plain_last_n},
    {"'$first':'$v'", plain_first},
    {"'$last':'$v'", plain_last},
    {"'$median':{'input':'$v','method':'approximate'}", plain_median},
    {"'$integral':{'input':'$_id'}", plain_integral},
    {"'$derivative':{'input':'$_id'}", plain_derivative},
};

#define FUNCTIONS (sizeof functions / sizeof *functions)

/* plain_result -- what a function gives for row i. */
static void plain_result(const function *f, const window *w, int i, value *v) {
    const row *in[DOCUMENTS];
    int count = 0;
    memset(v, 0, sizeof *v);
    for (int j = 0; j < DOCUMENTS; j++) {
        if (is_in(w, i, j))
            in[count++] = &rows[j];
    }
    f->plain(in, count, v);
}

/* ---- Random windows ---- */

/* random_rows -- a database with random documents, which the rows are then, in the stage's order. */
static tansu_db *random_rows(random_source *source) {
    tansu_db *db = memory_db_open();
    int places = (int)random_between(source, 3, 60);
    char filler[1200]; /* so that all documents together exceed the least memory of a stage */
    memset(filler, 'f', sizeof filler - 1);
    filler[sizeof filler - 1] = '\0';
    for (int i = 0; i < DOCUMENTS; i++) {
        row *r = &rows[i];
        bson_t doc = BSON_INITIALIZER;
        *r = (row){.id = i,
                   .partition = (int)random_below(source, 3),
                   .place = (int)random_below(source, (uint64_t)places),
                   .has_value = random_chance(source, 80)};
        bool whole = random_chance(source, 50);
        r->value = (double)random_between(source, -40, 40) / (whole ? 1 : 4);
        BSON_APPEND_INT32(&doc, "_id", i);
        BSON_APPEND_INT32(&doc, "p", r->partition);
        if (random_chance(source, 50))
            BSON_APPEND_INT64(&doc, "t", r->place);
        else
            BSON_APPEND_DOUBLE(&doc, "t", r->place);
        if (!r->has_value)
            BSON_APPEND_NULL(&doc, "v");
        else if (whole)
            BSON_APPEND_INT32(&doc, "v", (int32_t)r->value);
        else
            BSON_APPEND_DOUBLE(&doc, "v", r->value);
        BSON_APPEND_UTF8(&doc, "f", filler);
        save_bson(db, &doc);
        bson_destroy(&doc);
    }
    qsort(rows, DOCUMENTS, sizeof *rows, compare_rows);
    return db;
}

/* random_window -- also its text. */
static window random_window(random_source *source, char text[200]) {
    window w = {.range = random_chance(source, 40),
                .lower = (enum bound)random_below(source, 3),
                .upper = (enum bound)random_below(source, 3)};
    char ends[2][32];
    w.from = (int)random_between(source, -9, 9);
    w.to = (int)random_between(source, -9, 9);
    if (w.lower == OFFSET && w.upper == CURRENT && w.from > 0)
        w.from = -w.from;
    if (w.upper == OFFSET && w.lower == CURRENT && w.to < 0)
        w.to = -w.to;
    if (w.lower == OFFSET && w.upper == OFFSET && w.from > w.to) {
        int from = w.from;
        w.from = w.to;
        w.to = from;
    }
    for (int i = 0; i < 2; i++) {
        enum bound bound = i == 0 ? w.lower : w.upper;
        snprintf(ends[i], sizeof ends[i], "%d", i == 0 ? w.from : w.to);
        if (bound != OFFSET)
            snprintf(ends[i], sizeof ends[i], bound == CURRENT ? "'current'" : "'unbounded'");
    }
    snprintf(text, 200, "'window':{'%s':[%s,%s]}", w.range ? "range" : "documents", ends[0],
             ends[1]);
    return w;
}

/* ---- Running ---- */

/* run_stages -- all documents that a pipeline shows, one after the other. */
static tansu_status run_stages(tansu_db *db, const bson_t *stages, const bson_t *hints,
                               tansu_buffer *answer, tansu_error *error) {
    tansu_cursor *cursor = NULL;
    tansu_document document;
    answer->size = 0;
    tansu_status status =
        tansu_pipeline(db, NULL, "c", document_of(stages), document_of(hints), &cursor, error);
    while (status == TANSU_OK &&
           (status = tansu_cursor_next(cursor, &document, error)) == TANSU_OK) {
        /* This allocation may be made to fail as well. */
        if (!buffer_append(answer, document.data, document.size))
            status = TANSU_E_MEMORY;
    }
    tansu_cursor_close(cursor);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* run -- the same of texts. */
static tansu_status run(tansu_db *db, const char *stages, const char *hints, tansu_buffer *answer,
                        tansu_error *error) {
    bson_t *pipeline = bson_from_text(stages), *options = bson_from_text(hints);
    tansu_status status = run_stages(db, pipeline, options, answer, error);
    bson_destroy(pipeline);
    bson_destroy(options);
    return status;
}

/* about -- whether two numbers are the same but for rounding. */
static bool about(double a, double b) {
    return fabs(a - b) <= 1e-9 * (1 + fabs(a));
}

/* is_value -- whether a result is what it should be. */
static bool is_value(const value *v, const bson_iter_t *result) {
    bson_iter_t item;
    uint32_t count = 0;
    if (v->kind == VALUE_NULL)
        return BSON_ITER_HOLDS_NULL(result);
    if (v->kind == VALUE_NUMBER)
        return BSON_ITER_HOLDS_NUMBER(result) && about(v->number, bson_iter_as_double(result));
    if (!BSON_ITER_HOLDS_ARRAY(result) || !bson_iter_recurse(result, &item))
        return false;
    for (; bson_iter_next(&item); count++) {
        if (count == v->count)
            return false;
        double expected = v->items[count];
        if (isnan(expected) ? !BSON_ITER_HOLDS_NULL(&item)
                            : !about(expected, bson_iter_as_double(&item)))
            return false;
    }
    return count == v->count;
}

/* check_answer -- whether the documents are the rows, with the results r0, r1, …. */
static bool check_answer(const tansu_buffer *answer, const size_t *chosen, const window *windows,
                         int count) {
    size_t at = 0;
    value v;
    for (int i = 0; i < DOCUMENTS; i++) {
        bson_t doc;
        bson_iter_t iter;
        uint32_t size;
        REQUIRE(at + 4 <= answer->size);
        memcpy(&size, answer->data + at, 4);
        REQUIRE(bson_init_static(&doc, answer->data + at, size));
        at += size;
        if (!CHECK(bson_iter_init_find(&iter, &doc, "_id")) ||
            !CHECK_INT(rows[i].id, bson_iter_as_int64(&iter)))
            return false;
        for (int j = 0; j < count; j++) {
            char name[16];
            snprintf(name, sizeof name, "r%d", j);
            plain_result(&functions[chosen[j]], &windows[j], i, &v);
            if (!CHECK(bson_iter_init_find(&iter, &doc, name) && is_value(&v, &iter))) {
                check_note("row %d: %s is %g", i, functions[chosen[j]].operator, v.number);
                return false;
            }
        }
    }
    return CHECK_INT(answer->size, at);
}

/* check_windows -- some functions with random windows in one stage. */
static bool check_windows(random_source *source, tansu_db *db) {
    size_t chosen[4];
    window windows[4];
    int count = (int)random_between(source, 1, 4);
    char stages[2000];
    tansu_buffer answer = TANSU_BUFFER_INIT, little = TANSU_BUFFER_INIT;
    tansu_error error;
    int size = snprintf(stages, sizeof stages,
                        "{'0':{'$setWindowFields':{'partitionBy':'$p','sortBy':{'t':1},'output':{");
    for (int i = 0; i < count; i++) {
        char text[200];
        chosen[i] = random_below(source, FUNCTIONS);
        windows[i] = random_window(source, text);
        size += snprintf(stages + size, sizeof stages - (size_t)size, "%s'r%d':{%s,%s}",
                         i == 0 ? "" : ",", i, functions[chosen[i]].operator, text);
    }
    snprintf(stages + size, sizeof stages - (size_t)size, "}}}}");
    bool same = CHECK_OK(run(db, stages, NULL, &answer, &error), &error) &&
                check_answer(&answer, chosen, windows, count) &&
                CHECK_OK(run(db, stages, "{'$maxMemory':65536}", &little, &error), &error) &&
                CHECK_BYTES(answer.data, answer.size, little.data, little.size);
    if (!same)
        check_note("%s", stages);
    tansu_buffer_free(&answer);
    tansu_buffer_free(&little);
    return same;
}

static void windows_are_what_they_are_one_by_one(void) {
    random_source source = random_start(1);
    uint64_t rounds = random_rounds("TANSU_ROUNDS", 40);
    for (uint64_t i = 0; i < rounds; i++) {
        tansu_db *db = random_rows(&source);
        for (int j = 0; j < 20; j++) {
            if (!check_windows(&source, db))
                i = rounds;
        }
        memory_db_close(db);
    }
}

/* check_scaled -- that $minMaxScaler is what it should be by $min and $max of a random window: the
 * last stage shows what differs. It refuses windows without the document itself. */
static bool check_scaled(random_source *source, tansu_db *db) {
    char text[200], stages[2000];
    tansu_buffer answer = TANSU_BUFFER_INIT, little = TANSU_BUFFER_INIT;
    tansu_error error;
    const window w = random_window(source, text);
    bool refused = (w.lower == OFFSET && w.from > 0) || (w.upper == OFFSET && w.to < 0);
    snprintf(stages, sizeof stages,
             "{'0':{'$set':{'v':{'$ifNull':['$v',3]}}},'1':{'$setWindowFields':{'partitionBy':'$p',"
             "'sortBy':{'t':1},'output':{'s':{'$minMaxScaler':'$v',%s},'l':{'$min':'$v',%s},'g':{"
             "'$max':'$v',%s}}}},'2':{'$match':{'$expr':{'$ne':['$s',{'$cond':[{'$eq':['$l','$g']},"
             "0,{'$divide':[{'$subtract':['$v','$l']},{'$subtract':['$g','$l']}]}]}]}}}}",
             text, text, text);
    tansu_status expected = refused ? TANSU_E_INVALID_QUERY : TANSU_OK;
    bool same = CHECK_STATUS(expected, run(db, stages, NULL, &answer, &error)) &&
                CHECK_INT(0, answer.size) &&
                CHECK_STATUS(expected, run(db, stages, "{'$maxMemory':65536}", &little, &error)) &&
                CHECK_INT(0, little.size);
    if (!same)
        check_note("%s", stages);
    tansu_buffer_free(&answer);
    tansu_buffer_free(&little);
    return same;
}

static void numbers_are_scaled_to_their_window(void) {
    random_source source = random_start(2);
    uint64_t rounds = random_rounds("TANSU_ROUNDS", 10);
    for (uint64_t i = 0; i < rounds; i++) {
        tansu_db *db = random_rows(&source);
        for (int j = 0; j < 20; j++) {
            if (!check_scaled(&source, db))
                i = rounds;
        }
        memory_db_close(db);
    }
}

/* ---- Written down ---- */

/* text_of -- the documents as JSON without blanks, or the name of the status. */
static const char *text_of(tansu_status status, const tansu_buffer *answer) {
    static char text[4000];
    size_t at = 0, size = 0;
    text[0] = '\0';
    if (status != TANSU_OK)
        return tansu_status_name(status);
    while (at < answer->size) {
        bson_t doc;
        uint32_t length;
        memcpy(&length, answer->data + at, 4);
        REQUIRE(bson_init_static(&doc, answer->data + at, length));
        at += length;
        char *json = bson_as_relaxed_extended_json(&doc, NULL);
        for (const char *from = json; *from && size + 1 < sizeof text; from++) {
            if (*from != ' ' && *from != '"')
                text[size++] = *from;
        }
        text[size] = '\0';
        bson_free(json);
    }
    return text;
}

/* What a stage makes of documents. */
typedef struct example {
    const char *stage;
    const char *documents;
} example;

/* check_examples -- the stages over a database. */
static void check_examples(tansu_db *db, const example *examples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char stages[1000];
        tansu_buffer answer = TANSU_BUFFER_INIT;
        tansu_error error;
        snprintf(stages, sizeof stages, "{'0':%s,'1':{'$project':{'_id':0}}}", examples[i].stage);
        tansu_status status = run(db, stages, NULL, &answer, &error);
        if (!CHECK_TEXT(examples[i].documents, text_of(status, &answer)))
            check_note("%s: %s", examples[i].stage, status == TANSU_OK ? "" : error.message);
        tansu_buffer_free(&answer);
    }
}

#define CHECK_EXAMPLES(db, examples) \
    check_examples((db), (examples), sizeof(examples) / sizeof *(examples))

static void functions_of_series(void) {
    static const char *const documents[] = {"{'t':1,'v':4}", "{'t':2,'v':null}", "{'t':4,'v':10}",
                                            "{'t':4.5}",     "{'t':7,'v':4}",    NULL};
#define SERIES(function) "{'$setWindowFields':{'sortBy':{'t':1},'output':{'v':{" function "}}}}"
    static const example examples[] = {
        {SERIES("'$locf':'$v'"), "{t:1,v:4}{t:2,v:4}{t:4,v:10}{t:4.5,v:10}{t:7,v:4}"},
        {SERIES("'$linearFill':'$v'"), "{t:1,v:4}{t:2,v:6.0}{t:4,v:10}{t:4.5,v:9.0}{t:7,v:4}"},
        {SERIES("'$shift':{'output':'$v','by':1}"),
         "{t:1,v:null}{t:2,v:10}{t:4}{t:4.5,v:4}{t:7,v:null}"},
        {SERIES("'$shift':{'output':'$t','by':-2,'default':{'$add':[1,2]}}"),
         "{t:1,v:3}{t:2,v:3}{t:4,v:1}{t:4.5,v:2}{t:7,v:4}"},
        {SERIES("'$expMovingAvg':{'input':'$v','N':3}"),
         "{t:1,v:4.0}{t:2,v:4.0}{t:4,v:7.0}{t:4.5,v:7.0}{t:7,v:5.5}"},
        {SERIES("'$expMovingAvg':{'input':'$v','alpha':0.25}"),
         "{t:1,v:4.0}{t:2,v:4.0}{t:4,v:5.5}{t:4.5,v:5.5}{t:7,v:5.125}"},
        {SERIES("'$minMaxScaler':'$t'"), "{t:1,v:0.0}{t:2,v:0.16666666666666665741}{t:4,v:0.5}"
                                         "{t:4.5,v:0.58333333333333337034}{t:7,v:1.0}"},
        {SERIES("'$minMaxScaler':{'input':'$t','min':-10,'max':{'$add':[10,4]}}"),
         "{t:1,v:-10.0}{t:2,v:-6.0}{t:4,v:2.0}{t:4.5,v:4.0}{t:7,v:14.0}"},
        {SERIES("'$minMaxScaler':{'input':'$t'},'window':{'documents':[-1,1]}"),
         "{t:1,v:0.0}{t:2,v:0.33333333333333331483}{t:4,v:0.80000000000000004441}{t:4.5,v:0."
         "16666666666666665741}{t:7,v:1."
         "0}"},
        {SERIES("'$minMaxScaler':{'input':'$t'},'window':{'documents':['unbounded','current']}"),
         "{t:1,v:0}{t:2,v:1.0}{t:4,v:1.0}{t:4.5,v:1.0}{t:7,v:1.0}"},
        {SERIES("'$minMaxScaler':{'input':{'$subtract':[0,'$t']},'min':1,'max':2},"
                "'window':{'documents':['current','unbounded']}"),
         "{t:1,v:2.0}{t:2,v:2.0}{t:4,v:2.0}{t:4.5,v:2.0}{t:7,v:1}"},
        {SERIES("'$minMaxScaler':'$t','window':{'range':[-2.5,0.5]}"),
         "{t:1,v:0}{t:2,v:1.0}{t:4,v:0.80000000000000004441}{t:4.5,v:1.0}{t:7,v:1.0}"},
        {SERIES("'$minMaxScaler':{'$add':[3,4]}"),
         "{t:1,v:0}{t:2,v:0}{t:4,v:0}{t:4.5,v:0}{t:7,v:0}"},
        {SERIES("'$minMaxScaler':{'input':1,'min':2.5,'max':3}"),
         "{t:1,v:2.5}{t:2,v:2.5}{t:4,v:2.5}{t:4.5,v:2.5}{t:7,v:2.5}"},
        {SERIES("'$minMaxScaler':'$v'"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{'min':0,'max':1}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{'input':'$t','other':1}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{'input':'$t','min':0}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{'input':'$t','max':1}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{'input':'$t','min':1,'max':1}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{'input':'$t','min':2,'max':1}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{'input':'$t','min':'a','max':1}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':{'input':'$t','min':'$t','max':9}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':'$t','window':{'documents':[1,2]}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':'$t','window':{'documents':[-2,-1]}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':'$t','window':{'range':[0.5,'unbounded']}"), "INVALID_QUERY"},
        {SERIES("'$minMaxScaler':'$t','window':{'range':['unbounded',-1]}"), "INVALID_QUERY"},
        {SERIES("'$rank':{}"), "{t:1,v:1}{t:2,v:2}{t:4,v:3}{t:4.5,v:4}{t:7,v:5}"},
        {SERIES("'$derivative':{'input':'$t'},'window':{'documents':[-1,0]}"),
         "{t:1,v:null}{t:2,v:1.0}{t:4,v:1.0}{t:4.5,v:1.0}{t:7,v:1.0}"},
        {SERIES("'$push':['$t'],'window':{'documents':[0,1]}"),
         "{t:1,v:[[1],[2]]}{t:2,v:[[2],[4]]}{t:4,v:[[4],[4.5]]}{t:4.5,v:[[4.5],[7]]}{t:7,v:[[7]]}"},
        {SERIES("'$shift':{'output':'$v','by':1.5}"), "INVALID_QUERY"},
        {SERIES("'$shift':{'output':'$v','by':1},'window':{}"), "INVALID_QUERY"},
        {SERIES("'$derivative':{'input':'$v'}"), "INVALID_QUERY"},
        {SERIES("'$integral':{'input':'$v'}"), "INVALID_QUERY"},
        {SERIES("'$integral':{'input':'$t','unit':'month'}"), "INVALID_QUERY"},
        {SERIES("'$expMovingAvg':{'input':'$v','alpha':1}"), "INVALID_QUERY"},
        {SERIES("'$expMovingAvg':{'input':'$v','N':2,'alpha':0.5}"), "INVALID_QUERY"},
        {SERIES("'$sum':'$v','window':{'documents':[2,1]}"), "INVALID_QUERY"},
        {SERIES("'$sum':'$v','window':{'range':[0,1],'unit':'day'}"), "INVALID_QUERY"},
        {SERIES("'$nothing':'$v'"), "INVALID_QUERY"},
    };
    tansu_db *db = memory_db_with(documents);
    CHECK_EXAMPLES(db, examples);
    memory_db_close(db);
}

/* Bounds of ranges are those of MongoDB: decimals of 15 digits, so that 0.2 + 0.1 is 0.3. The exact
 * value of the double 0.3 is less, and that of 0.2 greater than 0.1 + 0.1. */
static void bounds_of_ranges_are_decimal(void) {
    static const char *const documents[] = {"{'t':0.1}",
                                            "{'t':0.2}",
                                            "{'t':0.3}",
                                            "{'t':0.30000000000000004}",
                                            "{'t':{'$numberDecimal':'0.4'}}",
                                            NULL};
    static const example examples[] = {
        {"{'$setWindowFields':{'sortBy':{'t':1},'output':{'t':{'$count':{},'window':{'range':[-0.1,"
         "0.1]}}}}}",
         "{t:1}{t:3}{t:4}{t:4}{t:2}"},
    };
    tansu_db *db = memory_db_with(documents);
    CHECK_EXAMPLES(db, examples);
    memory_db_close(db);
}

static void ranks_with_ties(void) {
    static const char *const documents[] = {"{'v':2}", "{'v':1}", "{'v':2.0}",
                                            "{'w':1}", "{'v':3}", NULL};
    static const example examples[] = {
        {"{'$setWindowFields':{'sortBy':{'v':-1},'output':{'r':{'$rank':{}},'d':{'$denseRank':{}},"
         "'n':{'$documentNumber':{}},'s':{'$sum':1,'window':{'documents':[-1,1]}}}}}",
         "{v:3,r:1,d:1,n:1,s:2}{v:2,r:2,d:2,n:2,s:3}{v:2.0,r:2,d:2,n:3,s:3}{v:1,r:4,d:3,n:4,s:3}"
         "{w:1,r:5,d:4,n:5,s:2}"},
        {"{'$setWindowFields':{'partitionBy':{'$gt':['$v',1]},'sortBy':{'v':1},'output':{'a.r':{"
         "'$rank':{}}}}}",
         "{w:1,a:{r:1}}{v:1,a:{r:2}}{v:2,a:{r:1}}{v:2.0,a:{r:1}}{v:3,a:{r:3}}"},
        {"{'$setWindowFields':{'partitionBy':['$v'],'output':{'r':{'$sum':1}}}}", "INVALID_QUERY"},
    };
    tansu_db *db = memory_db_with(documents);
    CHECK_EXAMPLES(db, examples);
    memory_db_close(db);
}

static void fields_are_filled(void) {
    static const char *const documents[] = {"{'p':1,'t':1,'a':1}", "{'p':1,'t':2,'b':2}",
                                            "{'p':2,'t':3,'a':null}", "{'p':1,'t':4,'a':7}", NULL};
    static const example examples[] = {
        {"{'$fill':{'output':{'a':{'value':0}}}}",
         "{p:1,t:1,a:1}{p:1,t:2,b:2,a:0}{p:2,t:3,a:0}{p:1,t:4,a:7}"},
        {"{'$fill':{'partitionByFields':['p'],'sortBy':{'t':1},'output':{'a':{'method':'linear'},"
         "'b':{'value':'$t'}}}}",
         "{p:1,t:1,a:1,b:1}{p:1,t:2,b:2,a:3.0}{p:1,t:4,a:7,b:4}{p:2,t:3,a:null,b:3}"},
        {"{'$fill':{'partitionBy':'$p','sortBy':{'t':1},'output':{'a':{'method':'locf'}}}}",
         "{p:1,t:1,a:1}{p:1,t:2,b:2,a:1}{p:1,t:4,a:7}{p:2,t:3,a:null}"},
        {"{'$fill':{'output':{}}}", "INVALID_QUERY"},
        {"{'$fill':{'output':{'a':{'method':'locf','value':1}}}}", "INVALID_QUERY"},
        {"{'$fill':{'output':{'a':{'method':'linear'}}}}", "INVALID_QUERY"},
        {"{'$fill':{'output':{'a':{'method':'other'}}}}", "INVALID_QUERY"},
        {"{'$fill':{'partitionBy':'$p','partitionByFields':['p'],'output':{'a':{'value':1}}}}",
         "INVALID_QUERY"},
    };
    tansu_db *db = memory_db_with(documents);
    CHECK_EXAMPLES(db, examples);
    memory_db_close(db);
}

static void ranges_become_dense(void) {
    static const char *const documents[] = {"{'p':'x','t':1}",   "{'p':'y','t':3}",
                                            "{'p':'x','t':4.5}", "{'p':'y','t':5}",
                                            "{'p':'z'}",         NULL};
#define DENSIFY(partition, range) "{'$densify':{'field':'t'," partition "'range':{" range "}}}"
#define BY_P "'partitionByFields':['p'],"
    static const example examples[] = {
        {DENSIFY("", "'step':2,'bounds':'full'"), "{p:z}{p:x,t:1}{p:y,t:3}{p:x,t:4.5}{p:y,t:5}"},
        {DENSIFY("", "'step':1,'bounds':'full'"),
         "{p:z}{p:x,t:1}{t:2}{p:y,t:3}{t:4}{p:x,t:4.5}{p:y,t:5}"},
        {DENSIFY(BY_P, "'step':2,'bounds':'full'"),
         "{p:z}{p:x,t:1}{p:y,t:1}{p:y,t:3}{p:x,t:3}{p:x,t:4.5}{p:y,t:5}{p:x,t:5}"},
        {DENSIFY(BY_P, "'step':2,'bounds':'partition'"),
         "{p:x,t:1}{p:x,t:3}{p:x,t:4.5}{p:y,t:3}{p:y,t:5}{p:z}"},
        {DENSIFY("", "'step':1,'bounds':[4,7]"),
         "{p:z}{p:x,t:1}{p:y,t:3}{t:4}{p:x,t:4.5}{p:y,t:5}{t:6}"},
        {DENSIFY(BY_P, "'step':2,'bounds':[0,4]"),
         "{p:x,t:0}{p:x,t:1}{p:x,t:2}{p:x,t:4.5}{p:y,t:0}{p:y,t:2}{p:y,t:3}{p:y,t:5}{p:z}"},
        {DENSIFY("", "'step':0.5,'bounds':[0,1]"), "INVALID_QUERY"},
        {DENSIFY("", "'step':0,'bounds':'full'"), "INVALID_QUERY"},
        {DENSIFY("", "'step':1,'bounds':'partition'"), "INVALID_QUERY"},
        {DENSIFY("", "'step':1,'bounds':'full','unit':'day'"), "INVALID_QUERY"},
        {DENSIFY("", "'step':1e-9,'bounds':'full'"), "TOO_LARGE"},
        {DENSIFY("'partitionByFields':['t.a'],", "'step':1,'bounds':'full'"), "INVALID_QUERY"},
    };
    tansu_db *db = memory_db_with(documents);
    CHECK_EXAMPLES(db, examples);
    memory_db_close(db);
}

static void dates_become_dense(void) {
    static const char *const documents[] = {"{'d':{'t':{'$date':'2024-01-31T00:00:00Z'}}}",
                                            "{'d':{'t':{'$date':'2024-03-30T00:00:00Z'}}}", NULL};
    static const example examples[] = {
        {"{'$densify':{'field':'d.t','range':{'step':1,'unit':'month','bounds':'full'}}}",
         "{d:{t:{$date:2024-01-31T00:00:00Z}}}{d:{t:{$date:2024-02-29T00:00:00Z}}}"
         "{d:{t:{$date:2024-03-29T00:00:00Z}}}{d:{t:{$date:2024-03-30T00:00:00Z}}}"},
        {"{'$densify':{'field':'d.t','range':{'step':1,'bounds':'full'}}}", "INVALID_QUERY"},
        {"{'$densify':{'field':'d.t','range':{'step':1.5,'unit':'day','bounds':'full'}}}",
         "INVALID_QUERY"},
    };
    tansu_db *db = memory_db_with(documents);
    CHECK_EXAMPLES(db, examples);
    memory_db_close(db);
}

/* ---- Cancellation of large values ---- */

static void what_has_left_a_window_leaves_no_error(void) {
    static const char *const documents[] = {"{'t':1,'v':1e300}",  "{'t':2,'v':1e-5}",
                                            "{'t':3,'v':-1e250}", "{'t':4,'v':0.5}",
                                            "{'t':5,'v':0.25}",   NULL};
    static const example examples[] = {
        {"{'$setWindowFields':{'sortBy':{'t':1},'output':{'v':{'$sum':'$v','window':{'documents':"
         "[-1,0]}},'d':{'$stdDevPop':'$v','window':{'documents':[-1,0]}},'c':{'$covariancePop':["
         "'$v','$t'],'window':{'documents':[-1,0]}}}}},'9':{'$match':{'t':5}}",
         "{t:5,v:0.75,d:0.125,c:-0.0625}"},
    };
    tansu_db *db = memory_db_with(documents);
    CHECK_EXAMPLES(db, examples);
    memory_db_close(db);
}

/* ---- Failing allocations ---- */

static void every_failing_allocation_is_reported(void) {
    static const char *const stages[] = {
        "{'0':{'$setWindowFields':{'partitionBy':'$p','sortBy':{'t':1},'output':{'a':{'$max':'$v',"
        "'window':{'documents':[-2,2]}},'b':{'$push':'$v','window':{'range':[-3,3]}},'c':{"
        "'$linearFill':'$_id'},'d':{'$rank':{}},'e':{'$first':'$v'},'f':{'$minMaxScaler':{'input':"
        "'$_id','min':1,'max':2},'window':{'documents':[-1,1]}}}}}}",
        "{'0':{'$setWindowFields':{'sortBy':{'t':1},'output':{'a':{'$locf':'$v'},'b':{'$addToSet':"
        "'$v','window':{'documents':['unbounded','current']}}}}}}",
        "{'0':{'$fill':{'partitionByFields':['p'],'sortBy':{'t':1},'output':{'v':{'method':'locf'},"
        "'w':{'value':1}}}}}",
        "{'0':{'$densify':{'field':'t','partitionByFields':['p'],'range':{'step':4,'bounds':"
        "'full'}}}}",
    };
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot make allocations fail");
        return;
    }
    const char *few[] = {"{'_id':1,'p':1,'t':1,'v':'x'}", "{'_id':2,'p':1,'t':2}",
                         "{'_id':3,'p':2,'t':9,'v':[1]}", "{'_id':4,'p':1,'t':7,'v':5}", NULL};
    tansu_db *db = memory_db_with(few);
    unsigned failures = 0;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        tansu_buffer expected = TANSU_BUFFER_INIT, answer = TANSU_BUFFER_INIT;
        tansu_error error;
        bson_t *pipeline = bson_from_text(stages[i]);
        CHECK_OK(run_stages(db, pipeline, NULL, &expected, &error), &error);
        for (unsigned nth = 1;; nth++) {
            fault_start(FAULT_OWN_MEMORY, nth, false, 0);
            tansu_status status = run_stages(db, pipeline, NULL, &answer, &error);
            bool occurred = fault_occurred();
            fault_stop();
            if (status == TANSU_OK)
                CHECK_BYTES(expected.data, expected.size, answer.data, answer.size);
            else
                failures += CHECK_STATUS(TANSU_E_MEMORY, status);
            if (!occurred)
                break;
        }
        bson_destroy(pipeline);
        tansu_buffer_free(&expected);
        tansu_buffer_free(&answer);
    }
    CHECK(failures > 100);
    memory_db_close(db);
}

int main(void) {
    RUN(windows_are_what_they_are_one_by_one);
    RUN(numbers_are_scaled_to_their_window);
    RUN(functions_of_series);
    RUN(bounds_of_ranges_are_decimal);
    RUN(ranks_with_ties);
    RUN(fields_are_filled);
    RUN(ranges_become_dense);
    RUN(dates_become_dense);
    RUN(what_has_left_a_window_leaves_no_error);
    RUN(every_failing_allocation_is_reported);
    return check_finish();
}
