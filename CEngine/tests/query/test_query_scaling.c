/*
 * test_query_scaling.c -- work and memory grow with what a caller sends, and not with its square.
 * Every construct is made with n and with 2 n parts; what is counted are the bytes that the engine
 * asks for, its comparisons of bytes, and the tests and values that a match looks at. Each may grow
 * to a little more than twice as much. No times are measured.
 *
 * And the bounds: what compiling and planning may take, that planning falls back to a scan, that
 * $maxTimeMS and cancelling end compiling, planning and one match.
 */
#include "query/query.h"
#include "query/update/update.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/libraries.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 1500       /* n */
#define MOST_BYTES 10000 /* that a part may take */

/* ---- Counting ---- */

static uint64_t comparisons;

#ifndef __APPLE__
int __real_memcmp(const void *a, const void *b, size_t size);
int __wrap_memcmp(const void *a, const void *b, size_t size);
int __wrap_memcmp(const void *a, const void *b, size_t size) {
    comparisons++;
    return __real_memcmp(a, b, size);
}

/* clang calls bcmp() where only equality matters. */
int __real_bcmp(const void *a, const void *b, size_t size);
int __wrap_bcmp(const void *a, const void *b, size_t size);
int __wrap_bcmp(const void *a, const void *b, size_t size) {
    comparisons++;
    return __real_bcmp(a, b, size);
}
#endif

/* check_growth -- twice the parts make at most 2.7 times the work, a constant aside: n log n
 * makes 2.2. */
static void check_growth(const char *what, const char *of, uint64_t once, uint64_t twice,
                         uint64_t constant) {
    if (!CHECK(twice <= 27 * (once + constant) / 10))
        check_note("%s: %llu %s, then %llu", what, (unsigned long long)once, of,
                   (unsigned long long)twice);
}

/* ---- Texts ---- */

/* A text that grows. */
typedef struct text {
    char *data;
    size_t size, room;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(text *t, const char *format, ...) {
    va_list arguments;
    char piece[256];
    va_start(arguments, format);
    int size = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    REQUIRE(size >= 0 && (size_t)size < sizeof piece);
    if (t->size + (size_t)size + 1 > t->room) {
        t->room = 2 * t->room + sizeof piece;
        t->data = realloc(t->data, t->room);
        REQUIRE(t->data != NULL);
    }
    memcpy(t->data + t->size, piece, (size_t)size + 1);
    t->size += (size_t)size;
}

/* put_list -- a piece for each part, with commas between; the piece may have the part's number
 * up to three times. */
static void put_list(text *t, const char *open, const char *piece, const char *close, int parts) {
    put(t, "%s", open);
    for (int i = 0; i < parts; i++) {
        char one[200];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(one, sizeof one, piece, i, i, i);
#pragma GCC diagnostic pop
        put(t, "%s%s", i == 0 ? "" : ",", one);
    }
    put(t, "%s", close);
}

/* put_repeated -- a byte, many times. */
static void put_repeated(text *t, char byte, int times) {
    for (int i = 0; i < times; i++)
        put(t, "%c", byte);
}

/* run -- runs a command; whether it came to the expected answer, or (NULL) to any without an
 * error. */
static bool run(tansu_db *db, const text *command, const char *expected) {
    char *answer = NULL;
    tansu_execute_json(db, command->data, &answer);
    bool fine = answer != NULL && strstr(answer, expected ? expected : "\"ok\": true") != NULL;
    if (!fine)
        check_note("%.300s came to %.300s", command->data, answer ? answer : "nothing");
    tansu_free(answer);
    return CHECK(fine);
}

/* ---- Constructs ---- */

/* A construct: what is saved and indexed first, and the command that is counted. `part` may have
 * the part's number in it. */
typedef struct construct {
    const char *name;
    const char *fields;  /* of the one document, a piece a part; NULL: a hundred small documents */
    const char *indexes; /* keys, one index each, with semicolons between; or NULL */
    const char *before;  /* of the command */
    const char *part;
    const char *after;
    const char *answer;
} construct;

#define COUNT "{\"op\":\"count\",\"collection\":\"c\",\"query\":"
#define FIND "{\"op\":\"find\",\"collection\":\"c\",\"query\":{},\"hints\":"
#define UPDATE "{\"op\":\"update\",\"collection\":\"c\",\"query\":{},\"update\":"
#define EXPLAIN "{\"op\":\"explain\",\"collection\":\"c\",\"query\":"

static const construct constructs[] = {
    {"$or on an indexed path", NULL, "\"k\":1", COUNT "{\"$or\":[", "{\"k\":%d}", "]}}", NULL},
    {"$or on an indexed path, explained", NULL, "\"k\":1", EXPLAIN "{\"$or\":[", "{\"k\":%d}",
     "]}}", NULL},
    {"$or of ranges", NULL, "\"k\":-1", COUNT "{\"$or\":[", "{\"k\":{\"$gt\":%d,\"$lt\":%d}}",
     "]}}", NULL},
    {"$or on two paths", NULL, "\"k\":1;\"m\":1", COUNT "{\"$or\":[", "{\"k\":%d},{\"m\":%d}",
     "]}}", NULL},
    {"$or with several indexes", NULL, "\"k\":1;\"m\":1;\"k\":1,\"m\":1;\"s\":1",
     COUNT "{\"$or\":[", "{\"k\":%d,\"m\":%d,\"s\":\"x%d\"}", "]}}", NULL},
    {"$nor", NULL, "\"k\":1", COUNT "{\"$nor\":[", "{\"k\":%d}", "]}}", NULL},
    {"$and of $ne", NULL, "\"k\":1", COUNT "{\"$and\":[", "{\"k\":{\"$ne\":%d}}", "]}}", NULL},
    {"$and of $or", NULL, "\"k\":1", COUNT "{\"$and\":[", "{\"$or\":[{\"k\":%d},{\"k\":%d}]}",
     "]}}", NULL},
    {"$or of $and of $or", NULL, "\"k\":1;\"m\":1", COUNT "{\"$or\":[",
     "{\"k\":%d,\"$or\":[{\"m\":%d},{\"m\":{\"$gt\":%d}}]}", "]}}", NULL},
    {"$in", NULL, "\"k\":1;\"k\":1,\"m\":1;\"k\":-1,\"s\":1", COUNT "{\"k\":{\"$in\":[", "%d",
     "]}}}", NULL},
    {"$nin", NULL, "\"k\":1", COUNT "{\"k\":{\"$nin\":[", "%d", "]}}}", NULL},
    {"$begin", NULL, "\"s\":1", COUNT "{\"s\":{\"$begin\":[", "\"y%d\"", "]}}}", NULL},
    {"$endsWith", NULL, NULL, COUNT "{\"s\":{\"$endsWith\":[", "\"y%d\"", "]}}}", NULL},
    {"$stror", NULL, NULL, COUNT "{\"s\":{\"$stror\":[", "\"y%d\"", "]}}}", NULL},
    {"$strand", NULL, NULL, COUNT "{\"s\":{\"$strand\":[", "\"y%d\"", "]}}}", NULL},
    {"$in with a collation", NULL, NULL, COUNT "{\"s\":{\"$in\":[", "\"Y%d\"",
     "]}},\"hints\":{\"$collation\":\"caseInsensitive\"}}", NULL},
    {"many fields", "\"f%d\":%d", NULL, COUNT "{", "\"f%d\":%d", "}}", "\"count\": 1"},
    {"$or of many fields", "\"f%d\":%d", NULL, COUNT "{\"$or\":[", "{\"f%d\":-1}", "]}}",
     "\"count\": 0"},
    {"$elemMatch", "\"a%d\":[1]", NULL, COUNT "{\"a1\":{\"$elemMatch\":{\"$or\":[", "{\"$eq\":%d}",
     "]}}}}", "\"count\": 1"},
    {"$regex", NULL, NULL, COUNT "{\"s\":{\"$in\":[",
     "{\"$regularExpression\":{\"pattern\":\"^y%d\",\"options\":\"\"}}", "]}}}", NULL},
    {"$fields, included", "\"f%d\":%d", NULL, FIND "{\"$fields\":{", "\"f%d\":1", "}}}",
     "\"f7\": 7"},
    {"$fields, excluded", "\"f%d\":{\"a\":1}", NULL, FIND "{\"$fields\":{", "\"f%d.a\":0", "}}}",
     "\"f7\": {}"},
    {"$do", "\"f%d\":%d", NULL, FIND "{\"$do\":{", "\"f%d\":{\"$join\":\"d\"}", "}}}", "\"f7\": 7"},
    {"$set of new fields", "\"g%d\":1", NULL, UPDATE "{\"$set\":{", "\"f%d\":1", "}}}",
     "\"modified\": 1"},
    {"$inc", "\"f%d\":%d", NULL, UPDATE "{\"$inc\":{", "\"f%d\":1", "}}}", "\"modified\": 1"},
    {"$unset", "\"f%d\":%d", NULL, UPDATE "{\"$unset\":{", "\"f%d\":1", "}}}", "\"modified\": 1"},
    {"$rename", "\"f%d\":%d", NULL, UPDATE "{\"$rename\":{", "\"f%d\":\"g%d\"", "}}}",
     "\"modified\": 1"},
    {"$set in arrays", "\"f%d\":[]", NULL, UPDATE "{\"$set\":{", "\"f%d.1\":1", "}}}",
     "\"modified\": 1"},
    {"$set at positions", "\"f%d\":[]", NULL, UPDATE "{\"$set\":{", "\"f0.%d\":1", "}}}",
     "\"modified\": 1"},
    {"$upsert", "\"g%d\":1", NULL, UPDATE "{\"$upsert\":{", "\"f%d\":1", "}}}", "\"matched\""},
    {"$push", "\"f%d\":1", NULL, UPDATE "{\"$push\":{\"l\":{\"$sort\":-1,\"$each\":[", "\"x%d\"",
     "]}}}}", "\"modified\": 1"},
    {"$addToSet", "\"f%d\":1", NULL, UPDATE "{\"$addToSet\":{\"l\":{\"$each\":[", "\"x%d\"",
     "]}}}}", "\"modified\": 1"},
    {"$addToSetAll", "\"f%d\":1", NULL, UPDATE "{\"$addToSetAll\":{\"l\":[", "\"x%d\"", "]}}}",
     "\"modified\": 1"},
    {"$pull", "\"f%d\":[1]", NULL, UPDATE "{\"$pull\":{\"f0\":{\"$in\":[", "%d", "]}}}}",
     "\"modified\": 1"},
    {"$pullAll", "\"f%d\":[1]", NULL, UPDATE "{\"$pullAll\":{\"f0\":[", "%d", "]}}}",
     "\"modified\": 1"},
    {"a transaction", NULL, NULL, "{\"op\":\"transaction\",\"commands\":[",
     "{\"op\":\"save\",\"collection\":\"d\",\"documents\":[{\"_id\":%d}]}", "]}", NULL},
    {"keys of a document", NULL, NULL,
     "{\"op\":\"save\",\"collection\":\"d\",\"documents\":[{\"_id\":1,", "\"f%d\":1", "}]}", NULL},
};

/* make_database -- what a construct is asked about. */
static tansu_db *make_database(const construct *c, int parts) {
    tansu_db *db = memory_db_open();
    text save = {.size = 0};
    put(&save, "{\"op\":\"save\",\"collection\":\"c\",\"documents\":");
    if (c->fields)
        put_list(&save, "[{\"_id\":1,", c->fields, "}]", parts);
    else
        put_list(&save, "[", "{\"_id\":%d,\"k\":%d,\"m\":7,\"s\":\"x%d\"}", "]", 100);
    put(&save, "}");
    run(db, &save, NULL);
    free(save.data);
    for (const char *keys = c->indexes; keys != NULL;) {
        const char *end = strchr(keys, ';');
        int size = end ? (int)(end - keys) : (int)strlen(keys);
        text index = {.size = 0};
        put(&index, "{\"op\":\"createIndex\",\"collection\":\"c\",\"keys\":{%.*s}}", size, keys);
        run(db, &index, NULL);
        free(index.data);
        keys = end ? end + 1 : NULL;
    }
    return db;
}

/* count_work -- what a construct of this many parts takes. */
static void count_work(const construct *c, int parts, uint64_t *bytes, uint64_t *compared) {
    tansu_db *db = make_database(c, parts);
    text command = {.size = 0};
    put_list(&command, c->before, c->part, c->after, parts);
    size_t bytes_before = fault_allocated();
    uint64_t compared_before = comparisons;
    run(db, &command, c->answer);
    *bytes = fault_allocated() - bytes_before;
    *compared = comparisons - compared_before;
    free(command.data);
    memory_db_close(db);
}

static void commands_take_no_square_of_their_parts(void) {
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot count allocations and comparisons");
        return;
    }
    for (size_t i = 0; i < sizeof constructs / sizeof *constructs; i++) {
        uint64_t bytes[2], compared[2];
        count_work(&constructs[i], PARTS, &bytes[0], &compared[0]);
        count_work(&constructs[i], 2 * PARTS, &bytes[1], &compared[1]);
        check_growth(constructs[i].name, "bytes", bytes[0], bytes[1], 64 * 1024);
        check_growth(constructs[i].name, "comparisons", compared[0], compared[1], 1000);
        /* Planning that gives up at its bound has no growth either. */
        if (!CHECK(bytes[1] < 2 * PARTS * MOST_BYTES) || !CHECK(bytes[0] != 0 && compared[0] != 0))
            check_note("%s: %llu bytes", constructs[i].name, (unsigned long long)bytes[1]);
    }
}

/* A path of the same length as there are tests on it. */
static void a_long_path_is_kept_once(void) {
    uint64_t bytes[2];
    if (!fault_has_memory()) {
        check_skip("the linker of this system cannot count allocations");
        return;
    }
    for (int turn = 0; turn < 2; turn++) {
        tansu_db *db = memory_db_open();
        int parts = PARTS << turn;
        text command = {.size = 0};
        put(&command, "{\"op\":\"count\",\"collection\":\"c\",\"query\":{\"");
        put_repeated(&command, 'x', parts * 8);
        put_list(&command, "\":{\"$or\":[", "{\"$gt\":%d}", "]}}}", parts);
        size_t before = fault_allocated();
        run(db, &command, NULL);
        bytes[turn] = fault_allocated() - before;
        free(command.data);
        memory_db_close(db);
    }
    check_growth("tests on a long path", "bytes", bytes[0], bytes[1], 64 * 1024);
}

/* ---- One match ---- */

/* match_steps -- the tests and values that one match looks at. */
static uint64_t match_steps(const bson_t *query, const bson_t *doc, bool expected) {
    struct query *q;
    tansu_error error;
    match_context context = {.status = TANSU_OK};
    REQUIRE(CHECK_OK(query_compile_alone(bson_get_data(query), query->len, &q, &error), &error));
    CHECK_INT(expected, query_matches(q, &context, bson_get_data(doc), doc->len));
    CHECK_STATUS(TANSU_OK, context.status);
    uint64_t steps = context.steps;
    match_context_free(&context);
    query_free(q);
    return steps;
}

/* bson_of -- a document out of pieces. */
static bson_t *bson_of(const char *open, const char *piece, const char *close, int parts) {
    text json = {.size = 0};
    put_list(&json, open, piece, close, parts);
    bson_t *doc = bson_from_text(json.data);
    free(json.data);
    return doc;
}

static void a_match_takes_no_product_of_query_and_document(void) {
    static const struct {
        const char *document[3];
        const char *query[3];
        bool matches;
    } cases[] = {
        {{"{'a':[", "%d", "]}"}, {"{'$or':[", "{'a':'%d'}", "]}"}, false},
        {{"{'a':[", "%d", "]}"}, {"{'$nor':[", "{'a':'%d'}", "]}"}, true},
        {{"{'a':[", "%d", "]}"}, {"{'a':{'$all':[", "%d", "]}}"}, true},
        {{"{'a':[", "{'b':%d}", "]}"}, {"{'a.b':{'$all':[", "%d", "]}}"}, true},
        {{"{'a':[", "%d", "]}"}, {"{'$and':[", "{'a':%d}", "]}"}, true},
        {{"{'a':[", "%d", "]}"}, {"{'a':{'$elemMatch':{'$or':[", "{'$eq':'%d'}", "]}}}"}, false},
        {{"{'a':[", "%d", "]}"}, {"{'a':{'$nin':[", "'%d'", "]}}"}, true},
        {{"{'a':[", "'x%d'", "]}"}, {"{'a':{'$begin':[", "'y%d'", "]}}"}, false},
        {{"{'a':[", "'x%d'", "]}"}, {"{'a':{'$endsWith':[", "'y%d'", "]}}"}, false},
        {{"{'a':[", "'x%d'", "]}"}, {"{'a':{'$stror':[", "'y%d'", "]}}"}, false},
        {{"{'a':[", "'x%d'", "]}"}, {"{'a':{'$strand':[", "'x%d'", "]}}"}, true},
        {{"{'a':[", "'x%d'", "]}"}, {"{'a':{'$contains':[", "'y%d'", "]}}"}, false},
        {{"{'a':[", "%d", "]}"}, {"{'$or':[", "{'a':{'$bt':[9000%d,9001%d]}}", "]}"}, false},
        {{"{'a':[", "%d", "]}"}, {"{'$or':[", "{'a':{'$gt':9000%d}}", "]}"}, false},
        {{"{'a':[", "%d", "]}"}, {"{'$nor':[", "{'a':{'$lt':-9000%d}}", "]}"}, true},
        {{"{'a':[", "%d", "]}"}, {"{'$and':[", "{'a':{'$gt':-9%d}}", "]}"}, true},
        {{"{'a':[", "%d", "]}"}, {"{'$and':[", "{'a':{'$lte':9000%d}}", "]}"}, true},
        {{"{'a':[", "{'b':%d}", "]}"}, {"{'$or':[", "{'a.b':{'$lte':-9%d}}", "]}"}, false},
        {{"{'a':[", "%d", "]}"}, {"{'$or':[", "{'a':{'$size':9000%d}}", "]}"}, false},
        {{"{'a':[", "%d", "]}"}, {"{'$or':[", "{'a':{'$mod':[90000000,8000%d]}}", "]}"}, false},
        {{"{'a':[", "'x%d'", "]}"}, {"{'$or':[", "{'a':{'$contains':'y%d'}}", "]}"}, false},
        {{"{'a':[", "'x%d'", "]}"}, {"{'$or':[", "{'a':{'$begin':'y%d'}}", "]}"}, false},
        {{"{'a':[", "'x%d'", "]}"}, {"{'$nor':[", "{'a':{'$endsWith':'y%d'}}", "]}"}, true},
        {{"{'a':[", "'x%d'", "]}"}, {"{'$or':[", "{'a':{'$stror':'y%d'}}", "]}"}, false},
        {{"{'a':[", "'x%d'", "]}"},
         {"{'$or':[", "{'a':{'$icase':{'$contains':'Y%d'}}}", "]}"},
         false},
        {{"{'a':'", "abc%d", "'}"}, {"{'a':{'$contains':[", "'y%d'", "]}}"}, false},
        {{"{'a':[", "%d", "]}"}, {"{'a':{'$elemMatch':{'$or':[", "{'$lt':-9%d}", "]}}}"}, false},
        {{"{'a':[", "'x%d'", "]}"},
         {"{'a':{'$allMatch':{'$nor':[", "{'$contains':'y%d'}", "]}}}"},
         true},
        {{"{", "'f%d':1", "}"}, {"{", "'f%d':1", "}"}, true},
        {{"{", "'f%d':1", "}"}, {"{'$or':[", "{'f%d':2}", "]}"}, false},
        {{"{", "'f%d':1", "}"}, {"{'$or':[", "{'*':-%d}", "{'*':'x'}]}"}, false},
        {{"{'a':{", "'f%d':1", "}}"}, {"{'a':{'$keyMapMatch':{'$in':[", "'g%d'", "]}}}"}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t steps[2];
        for (int turn = 0; turn < 2; turn++) {
            int parts = PARTS << turn;
            /* The wildcard's list ends with a part of its own. */
            const char *close = cases[i].query[2];
            text json = {.size = 0};
            put_list(&json, cases[i].query[0], cases[i].query[1], close[0] == '{' ? "," : "",
                     parts);
            put(&json, "%s", close);
            bson_t *query = bson_from_text(json.data);
            bson_t *doc =
                bson_of(cases[i].document[0], cases[i].document[1], cases[i].document[2], parts);
            steps[turn] = match_steps(query, doc, cases[i].matches);
            free(json.data);
            bson_destroy(query);
            bson_destroy(doc);
        }
        check_growth(cases[i].query[0], "steps", steps[0], steps[1], 100);
        CHECK(steps[0] != 0);
    }
}

/* apply_steps -- the tests and values that an update of one document looks at. */
static uint64_t apply_steps(const bson_t *doc, const bson_t *operations, const bson_t *filters) {
    update *u;
    struct query *q;
    tansu_error error;
    tansu_buffer out = TANSU_BUFFER_INIT;
    match_context context = {.status = TANSU_OK};
    REQUIRE(CHECK_OK(query_compile(NULL, 0, NULL, 0, NULL, &q, &error), &error));
    const doc_value options = {NULL, 0, DOC_MISSING};
    const doc_value list = {bson_get_data(filters), filters->len, DOC_ARRAY};
    REQUIRE(CHECK_OK(
        update_compile(bson_get_data(operations), operations->len, &options, &list, q, &u, &error),
        &error));
    const update_case how = {.matched = q, .context = &context};
    CHECK_OK(update_apply(u, bson_get_data(doc), doc->len, &how, &out, &error), &error);
    uint64_t steps = context.steps;
    tansu_buffer_free(&out);
    match_context_free(&context);
    update_free(u);
    query_free(q);
    return steps;
}

static void an_update_takes_no_product_of_operands_and_array(void) {
    static const struct {
        const char *document[3];
        const char *update[3];
        const char *filters[3];
    } cases[] = {
        {{"{'a':[", "%d", "]}"}, {"{'$pullAll':{'a':[", "'x%d'", "]}}"}, {"{", "", "}"}},
        {{"{'a':[", "{'k':%d}", "]}"}, {"{'$pullAll':{'a':[", "{'k':'%d'}", "]}}"}, {"{", "", "}"}},
        {{"{'a':[", "%d", "]}"}, {"{'$pull':{'a':{'$in':[", "'x%d'", "]}}}"}, {"{", "", "}"}},
        {{"{'a':[", "{'k':%d}", "]}"},
         {"{'$pull':{'a':{'$or':[", "{'k':'%d'}", "]}}}"},
         {"{", "", "}"}},
        {{"{'a':[", "%d", "]}"}, {"{'$addToSet':{'a':{'$each':[", "'x%d'", "]}}}"}, {"{", "", "}"}},
        {{"{'a':[", "{'k':%d}", "]}"},
         {"{'$push':{'a':{'$sort':{'k':-1},'$each':[", "{'k':%d}", "]}}}"},
         {"{", "", "}"}},
        {{"{'a':[", "{'k':%d}", "]}"},
         {"{'$set':{'a.$[x].k':[", "%d", "]}}"},
         {"{'0':{'$or':[", "{'x.k':'%d'}", "]}}"}},
        {{"{'a':[", "{'k':%d}", "]}"},
         {"{'$set':{", "'a.$[x].f%d':1", "}}"},
         {"{'0':{'x.k':{'$lt':1}}", "", "}"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t steps[2];
        for (int turn = 0; turn < 2; turn++) {
            int parts = PARTS << turn, conditions = cases[i].filters[1][0] ? parts : 0;
            bson_t *doc =
                bson_of(cases[i].document[0], cases[i].document[1], cases[i].document[2], parts);
            bson_t *operations =
                bson_of(cases[i].update[0], cases[i].update[1], cases[i].update[2], parts);
            bson_t *filters =
                bson_of(cases[i].filters[0], cases[i].filters[1], cases[i].filters[2], conditions);
            steps[turn] = apply_steps(doc, operations, filters);
            bson_destroy(doc);
            bson_destroy(operations);
            bson_destroy(filters);
        }
        check_growth(cases[i].update[0], "steps", steps[0], steps[1], 100);
        /* Each element is counted, for the deadline. */
        CHECK(steps[0] >= PARTS);
    }
}

/* What takes the product of query and document is counted, so that the deadline is looked at. */
static void long_work_is_counted(void) {
    static const struct {
        const char *document[3];
        const char *query[3];
    } cases[] = {
        {{"{'a':[", "{'b':%d}", "]}"}, {"{'$or':[", "{'a.x%d':1}", "]}"}},
        {{"{'a':{", "'k%d':1", "}}"}, {"{'$or':[", "{'a.x%d':1}", "]}"}},
        {{"{", "'k%d':1", "}"}, {"{'$or':[", "{'x':%d,'y':1}", "]}"}},
        {{"{'a':[", "%d", "]}"}, {"{'$or':[", "{'a':{'$mod':[9000%d,8999]}}", "]}"}},
        {{"{'a':[", "%d", "]}"}, {"{'$or':[", "{'a':{'$elemMatch':{'$gt':9000%d}}}", "]}"}},
        {{"{'a':[", "'%d'", "]}"}, {"{'$or':[", "{'a':{'$regex':'x%d'}}", "]}"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t *doc =
            bson_of(cases[i].document[0], cases[i].document[1], cases[i].document[2], PARTS);
        bson_t *query = bson_of(cases[i].query[0], cases[i].query[1], cases[i].query[2], PARTS);
        if (!CHECK(match_steps(query, doc, false) >= (uint64_t)PARTS * PARTS / MATCH_BYTES))
            check_note("%s", cases[i].query[1]);
        bson_destroy(doc);
        bson_destroy(query);
    }
}

/* ---- Bounds ---- */

/* one_command -- runs a command made of pieces in a database with some documents and an index. */
static void one_command(const char *before, int repeated, const char *between, const char *part,
                        int parts, const char *after, const char *expected) {
    const construct c = {.indexes = "\"s\":1,\"k\":1"};
    tansu_db *db = make_database(&c, 0);
    text command = {.size = 0};
    put(&command, "%s", before);
    put_repeated(&command, 'x', repeated);
    put_list(&command, between, part, after, parts);
    run(db, &command, expected);
    free(command.data);
    memory_db_close(db);
}

static void planning_keeps_to_its_memory(void) {
    /* A range for each number, each with the text in front: 10,000 times 10,000 bytes. */
    one_command(EXPLAIN "{\"s\":\"", 10000, "\",\"k\":{\"$in\":[", "%d", 10000, "]}},\"hints\":{}}",
                "\"skipped\": 1");
    one_command(COUNT "{\"s\":\"", 10000, "\",\"k\":{\"$in\":[", "%d", 10000, "]}},\"hints\":{}}",
                "\"count\": 0");
    one_command(COUNT "{\"s\":\"", 10000, "\",\"k\":{\"$in\":[", "%d", 10000,
                "]}},\"hints\":{\"$index\":\"s_1_k_1\"}}", "\"code\": \"TOO_LARGE\"");
}

static void compiling_keeps_to_its_memory(void) {
    /* Paths of 300,000 bytes each. */
    one_command(COUNT "{\"", 300000, "\":{", "\"f%d\":1", 600, "}}}", "\"code\": \"TOO_LARGE\"");
    one_command(UPDATE "{\"$set\":{\"a\":1},\"$unset\":{\"", 10, "\":1,", "\"f%d\":1", 600, "}}}",
                "\"ok\": true");
}

static void bounds_on_lists_are_reported(void) {
    one_command("{\"op\":\"update\",\"collection\":\"c\",\"query\":{},\"update\":{\"$set\":{\"", 1,
                "\":1}},\"hints\":{\"$arrayFilters\":[", "{\"f%d\":1}", 101, "]}}",
                "more than 100 filters");
    one_command(COUNT "{\"", 1, "\":1},\"hints\":{\"$fields\":{", "\"x.f%d.$\":1", 33, "}}}",
                "More than 32 paths");
}

/* Filters and queries of many branches: proving that one implies the other would take their
 * product, and so is given up; the answer is the same. */
static void proofs_are_bounded(void) {
    tansu_db *db = make_database(&constructs[0], 0);
    text index = {.size = 0}, count = {.size = 0};
    put_list(&index,
             "{\"op\":\"createIndex\",\"collection\":\"c\",\"name\":\"p\",\"keys\":{\"m\":1},"
             "\"options\":{\"partialFilter\":{\"$or\":[",
             "{\"k\":%d,\"m\":7}", "]}}}", 4000);
    run(db, &index, NULL);
    put_list(&count, COUNT "{\"m\":7,\"$or\":[", "{\"k\":%d,\"m\":7}", "]}}", 4000);
    run(db, &count, "\"count\": 100");
    free(index.data);
    free(count.data);
    memory_db_close(db);
}

/* ---- What ends a call ---- */

static void compiling_can_be_ended(void) {
    bson_t *query = bson_of("{'$or':[", "{'k':%d}", "]}", 4000);
    bson_t *hints = bson_from_text("{'$maxTimeMS':1}");
    struct query *q;
    tansu_error error;
    interrupt stop = {.outer = NULL};
    CHECK_STATUS(TANSU_OK,
                 query_compile(bson_get_data(query), query->len, NULL, 0, &stop, &q, &error));
    query_free(q);
    interrupt_ask(&stop);
    CHECK_STATUS(TANSU_E_CANCELLED,
                 query_compile(bson_get_data(query), query->len, NULL, 0, &stop, &q, &error));
    bson_destroy(query);
    query = bson_of("{'$or':[", "{'k':{'$REGEX':'^(a|b|c)+x%d(d|e)*$'}}", "]}", 20000);
    CHECK_STATUS(TANSU_E_TIMEOUT,
                 query_compile(bson_get_data(query), query->len, bson_get_data(hints), hints->len,
                               NULL, &q, &error));
    CHECK_TEXT("hints.$maxTimeMS", error.context);
    bson_destroy(query);
    bson_destroy(hints);
}

/* The collection is empty but for one document that the first test lets through to nothing: what
 * takes long is planning. */
static void planning_can_be_ended(void) {
    tansu_db *db = make_database(&constructs[4], 0);
    text command = {.size = 0};
    put(&command, "%s", COUNT "{\"$and\":[{\"k\":-1}");
    for (int i = 0; i < 60; i++) {
        put(&command, ",");
        put_list(&command, "{\"$or\":[", "{\"k\":%d,\"m\":%d},{\"s\":\"y%d\",\"m\":1}", "]}", 400);
    }
    put(&command, "]}");
    size_t size = command.size;
    put(&command, ",\"hints\":{\"$maxTimeMS\":60000}}");
    run(db, &command, "\"count\": 0");
    command.size = size;
    put(&command, ",\"hints\":{\"$maxTimeMS\":30}}");
    run(db, &command, "\"code\": \"TIMEOUT\"");
    free(command.data);
    memory_db_close(db);
}

/* One document, and a query that looks at each of its elements for each of its parts. */
static void one_match_can_be_ended(void) {
    tansu_db *db = memory_db_open();
    text save = {.size = 0}, count = {.size = 0};
    put_list(&save, "{\"op\":\"save\",\"collection\":\"c\",\"documents\":[{\"_id\":1,\"a\":[",
             "\"x%d\"", "]}]}", 20000);
    run(db, &save, NULL);
    put_list(&count, COUNT "{\"$or\":[", "{\"a\":{\"$elemMatch\":{\"$gt\":\"y%d\"}}}",
             "]},\"hints\":{\"$maxTimeMS\":20}}", 20000);
    run(db, &count, "\"code\": \"TIMEOUT\"");
    free(save.data);
    free(count.data);
    memory_db_close(db);
}

int main(void) {
    library_regex_start();
    RUN(commands_take_no_square_of_their_parts);
    RUN(a_long_path_is_kept_once);
    RUN(a_match_takes_no_product_of_query_and_document);
    RUN(an_update_takes_no_product_of_operands_and_array);
    RUN(long_work_is_counted);
    RUN(planning_keeps_to_its_memory);
    RUN(compiling_keeps_to_its_memory);
    RUN(bounds_on_lists_are_reported);
    RUN(proofs_are_bounded);
    RUN(compiling_can_be_ended);
    RUN(planning_can_be_ended);
    RUN(one_match_can_be_ended);
    return check_finish();
}
