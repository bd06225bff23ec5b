/*
 * test_index_order_and_projection.c -- what indexes serve with finding documents: the order
 * of another path than the one that $in narrows, by merging streams, and whole
 * results of a projection. No answer may differ by a byte from that without an
 * index.
 */
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random_bson.h"
#include "util/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;

#define DEFAULT_ROUNDS 8

#define PLAN(expected, query, hints, path) CHECK_TEXT(expected, plan_field(db, query, hints, path))

/* fill -- 2000 documents: a = number % 40, b = number % 50 falling, c a text,
 * n.x and n.y below. */
static void fill(void) {
    db = memory_db_open();
    for (int i = 0; i < 2000; i++) {
        char json[200];
        snprintf(json, sizeof json,
                 "{'_id':%d,'a':%d,'b':%d,'c':'k%03d','n':{'x':%d,'z':0,'y':{'$"
                 "numberLong':'%d'}}}",
                 i, i % 40, 49 - i % 50, i % 300, i % 7, i % 11);
        save_text(db, json);
    }
}

/* answer -- the documents of an answer, one after the other, byte by byte. */
static void answer(const char *query, const char *hints, tansu_buffer *out) {
    bson_t *q = bson_from_text(query), *h = bson_from_text(hints);
    tansu_cursor *cursor = NULL;
    tansu_document document;
    tansu_error error;
    tansu_status status =
        tansu_find(db, NULL, "c", document_of(q), document_of(h), &cursor, &error);
    out->size = 0;
    while (status == TANSU_OK) {
        status = tansu_cursor_next(cursor, &document, &error);
        if (status == TANSU_OK)
            REQUIRE(buffer_append(out, document.data, document.size));
    }
    if (!CHECK_STATUS(TANSU_DONE, status))
        check_note("    %s", error.message);
    tansu_cursor_close(cursor);
    bson_destroy(q);
    bson_destroy(h);
}

/* same_in -- an answer is that without an index: with the named one, or with
 * NULL the planner's choice. `hints` has what is between the braces. */
static void same_in(const char *index, const char *query, const char *hints) {
    char text[500];
    tansu_buffer with = TANSU_BUFFER_INIT, without = TANSU_BUFFER_INIT;
    const char *comma = *hints ? "," : "";
    snprintf(text, sizeof text, "{'$index':false%s%s}", comma, hints);
    answer(query, text, &without);
    if (index)
        snprintf(text, sizeof text, "{'$index':'%s'%s%s}", index, comma, hints);
    else
        snprintf(text, sizeof text, "{%s}", hints);
    answer(query, text, &with);
    if (!CHECK_BYTES(without.data, without.size, with.data, with.size))
        check_note("    query %s hints %s", query, text);
    tansu_buffer_free(&with);
    tansu_buffer_free(&without);
}

/* same -- with the planner's choice. */
static void same(const char *query, const char *hints) {
    same_in(NULL, query, hints);
}

static void streams_are_merged_into_an_order(void) {
    const char *in = "{'a':{'$in':[3,7,33,99]}}";
    fill();
    create_index(db, "ab", "{'a':1,'b':1}", NULL);
    PLAN("\"index\"", in, "{'$orderby':{'b':1},'$max':5}", "plan.sort");
    PLAN("4", in, "{'$orderby':{'b':1},'$max':5}", "plan.merged");
    PLAN("5", in, "{'$orderby':{'b':1},'$max':5}", "documentsExamined");
    CHECK_TEXT("99 199 299 399 499",
               find_ids(db, "{'a':{'$in':[19,39,99]}}", "{'$orderby':{'b':1},'$max':5}"));
    same(in, "'$orderby':{'b':1},'$max':5");
    same(in, "'$orderby':{'b':-1},'$max':5,'$skip':30");
    same(in, "'$orderby':{'b':-1}");
    /* With a range of the path that is sorted by, and one after it. */
    create_index(db, "abc", "{'a':-1,'b':-1,'c':1}", NULL);
    same("{'a':{'$in':[3,7,33]},'b':{'$gt':10,'$lt':30}}", "'$orderby':{'b':1},'$max':7");
    PLAN("3", "{'a':{'$in':[3,7,33]},'b':{'$gt':10}}",
         "{'$index':'abc','$orderby':{'b':1},'$max':7}", "plan.merged");
    same_in("abc", "{'a':{'$in':[3,7,33]}}", "'$orderby':{'b':1,'c':-1},'$max':7");
    same_in("abc", "{'a':{'$in':[3,7,33]}}", "'$orderby':{'b':-1},'$max':7");
    /* An $or on one field is as good as $in. */
    PLAN("2", "{'$or':[{'a':3},{'a':7}]}", "{'$orderby':{'b':1},'$max':3}", "plan.merged");
    same("{'$or':[{'a':3},{'a':7}]}", "'$orderby':{'b':1},'$max':3");
    /* Ranges that follow one another need no merging. */
    PLAN("", in, "{'$orderby':{'a':1,'b':1},'$max':5}", "plan.merged");
    PLAN("\"index\"", in, "{'$orderby':{'a':1,'b':1},'$max':5}", "plan.sort");
    same(in, "'$orderby':{'a':1,'b':1},'$max':30");
    /* A path that is held to one value after one that is not. */
    PLAN("\"index\"", "{'a':{'$in':[3,7]},'b':36}", "{'$index':'abc','$orderby':{'a':-1,'c':1}}",
         "plan.sort");
    same_in("abc", "{'a':{'$in':[3,7]},'b':36}", "'$orderby':{'a':-1,'c':1}");
    /* Conditions that leave nothing of the path. */
    same_in("ab", "{'a':{'$in':[3,7]},'b':{'$gt':30,'$lt':10}}", "'$orderby':{'b':1},'$max':3");
    same_in("ab", "{'a':{'$in':[3,7]},'b':{'$in':[]}}", "'$orderby':{'b':-1}");
    /* All of many: a sort of few matches costs less than this many streams. */
    char many[12000] = "{'a':{'$in':[0";
    for (int i = 1; i < 1500; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", i);
    strcat(many, "]}}");
    PLAN("\"memory\"", many, "{'$index':'ab','$orderby':{'b':1},'$max':3}", "plan.sort");
    memory_db_close(db);
}

static void a_unique_index_decides_an_order(void) {
    const char *paths = "{'$orderby':{'u':1,'_id':-1,'b':1},'$max':3}";
    fill();
    create_index(db, "plain", "{'a':1}", NULL);
    PLAN("\"memory\"", "{}", "{'$orderby':{'a':1,'_id':1},'$index':'plain'}", "plan.sort");
    memory_db_close(db);
    db = memory_db_open();
    random_source r = random_start(__LINE__);
    for (int i = 0; i < 400; i++) {
        char json[100];
        snprintf(json, sizeof json, "{'_id':%d,'u':%d,'a':%d,'b':%d}", i, i * 7 % 400, i % 5,
                 (int)random_below(&r, 200));
        if (i == 200)
            snprintf(json, sizeof json, "{'_id':200,'a':9,'b':1}");
        tansu_error error;
        bson_t *doc = bson_from_text(json);
        tansu_document document = document_of(doc);
        (void)tansu_save(db, NULL, "c", &document, 1, TANSU_SAVE, NULL, &error);
        bson_destroy(doc);
        if (i == 0) {
            create_index(db, "u", "{'u':-1}", "{'unique':true}");
            create_index(db, "ab", "{'a':1,'b':1}", "{'unique':true}");
        }
    }
    PLAN("\"index\"", "{}", paths, "plan.sort");
    PLAN("3", "{}", paths, "documentsExamined");
    same_in("u", "{}", "'$orderby':{'u':1,'_id':-1,'b':1},'$max':3");
    same_in("u", "{'u':{'$gt':100}}", "'$orderby':{'u':-1,'b':1}");
    same_in("u", "{'u':77}", "'$orderby':{'b':1,'_id':1}");
    same_in("ab", "{}", "'$orderby':{'a':-1,'b':-1,'u':1,'_id':1}");
    same_in("ab", "{'a':3}", "'$orderby':{'b':1,'u':-1}");
    /* Streams for several values of a may be equal in b. */
    same_in("ab", "{'a':{'$in':[1,2,4]}}", "'$orderby':{'b':1,'u':-1}");
    same_in("ab", "{'a':{'$in':[1,2,4]}}", "'$orderby':{'b':-1,'_id':1},'$max':20");
    /* With an array it is multikey. */
    save_text(db, "{'_id':1000,'u':[2.5,1000],'a':100}");
    PLAN("\"memory\"", "{'u':{'$gt':1}}", "{'$index':'u','$orderby':{'u':1,'_id':-1}}",
         "plan.sort");
    same_in("u", "{}", "'$orderby':{'u':1,'_id':-1,'b':1}");
    memory_db_close(db);
}

static void a_multikey_index_merges_nothing(void) {
    fill();
    create_index(db, "ab", "{'a':1,'b':1}", NULL);
    save_text(db, "{'_id':2000,'a':[3,7],'b':[0,49]}");
    PLAN("\"memory\"", "{'a':{'$in':[3,7]}}", "{'$orderby':{'b':1},'$max':5}", "plan.sort");
    same("{'a':{'$in':[3,7]}}", "'$orderby':{'b':1},'$max':5");
    same("{'a':{'$in':[3,7]}}", "'$orderby':{'b':-1},'$max':5");
    memory_db_close(db);
}

static void projections_are_covered(void) {
    fill();
    create_index(db, "ab", "{'a':1,'b':-1}", NULL);
    create_index(db, "n", "{'n.x':1,'n.y':1}", NULL);
    const char *a = "{'$fields':{'a':1,'b':1,'_id':0}}";
    PLAN("true", "{'a':{'$gt':35}}", a, "plan.covered");
    PLAN("0", "{'a':{'$gt':35}}", a, "documentsExamined");
    PLAN("200", "{'a':{'$gt':35}}", a, "returned");
    CHECK_TEXT("{ \"a\" : 7, \"b\" : 42 } { \"a\" : 7, \"b\" : 2 }",
               find_documents(db, "{'a':7}", "{'$fields':{'a':1,'b':1,'_id':0},'$max':2}"));
    same("{'a':{'$gt':35}}", "'$fields':{'a':1,'b':1,'_id':0}");
    same("{'a':{'$gt':35}}", "'$fields':{'b':1,'_id':0}");
    same("{'a':{'$in':[1,9]}}", "'$fields':{'b':1,'_id':0},'$orderby':{'b':-1}");
    PLAN("0", "{'a':{'$in':[1,9]}}", "{'$fields':{'b':1,'_id':0},'$orderby':{'b':-1},'$max':9}",
         "documentsExamined");
    PLAN("0", "{'a':{'$gt':3}}", "{'$fields':{'a':1,'_id':0},'$orderby':{'a':-1},'$max':9}",
         "documentsExamined");
    /* Parts of one document below. */
    CHECK_TEXT("{ \"n\" : { \"x\" : 5, \"y\" : 5 } }",
               find_documents(db, "{'n.x':5}", "{'$fields':{'n.x':1,'n.y':1,'_id':0},'$max':1}"));
    PLAN("0", "{'n.x':5}", "{'$fields':{'n.x':1,'n.y':1,'_id':0}}", "documentsExamined");
    same("{'n.x':5}", "'$fields':{'n.x':1,'n.y':1,'_id':0}");
    /* Only the id, from its own index. */
    PLAN("true", "{'_id':{'$gt':1990}}", "{'$fields':{'_id':1}}", "plan.covered");
    PLAN("0", "{'_id':{'$gt':1990}}", "{'$fields':{'_id':1}}", "documentsExamined");
    same("{'_id':{'$gt':1990}}", "'$fields':{'_id':1}");
    PLAN("0", "{}", "{'$fields':{'_id':1},'$index':'_id'}", "documentsExamined");
    same("{}", "'$fields':{'_id':1}");
    /* All of an index, when documents are large. */
    char *text = malloc(5001);
    memset(text, 'x', 5000);
    text[5000] = '\0';
    for (int i = 0; i < 2000; i++) {
        bson_t doc = BSON_INITIALIZER;
        BSON_APPEND_INT32(&doc, "_id", 1999 - i);
        BSON_APPEND_UTF8(&doc, "text", text);
        BSON_APPEND_INT32(&doc, "a", i % 7);
        BSON_APPEND_INT32(&doc, "b", i % 3);
        save_bson(db, &doc);
        bson_destroy(&doc);
    }
    free(text);
    PLAN("0", "{}", "{'$fields':{'_id':1}}", "documentsExamined");
    PLAN("0", "{}", "{'$fields':{'_id':0,'a':1}}", "documentsExamined");
    same("{}", "'$fields':{'_id':1}");
    same("{}", "'$fields':{'_id':0,'a':1}");
    memory_db_close(db);
}

static void what_an_index_does_not_hold_is_read(void) {
    fill();
    create_index(db, "ab", "{'a':1,'b':-1}", NULL);
    PLAN("", "{'a':7}", NULL, "plan.covered");
    PLAN("", "{'a':7}", "{'$fields':{'a':1}}", "plan.covered"); /* and the _id */
    PLAN("", "{'a':7}", "{'$fields':{'a':1,'c':1,'_id':0}}", "plan.covered");
    PLAN("", "{'a':7}", "{'$fields':{'_id':0}}", "plan.covered");
    PLAN("", "{'a':7,'c':{'$gt':'k1'}}", "{'$fields':{'a':1,'_id':0}}", "plan.covered");
    PLAN("", "{'a':7}", "{'$fields':{'a':1,'_id':0},'$orderby':{'c':1}}", "plan.covered");
    PLAN("", "{'a':7}", "{'$fields':{'a':{'$slice':1},'b':1,'_id':0}}", "plan.covered");
    /* Some documents must be looked at. */
    save_text(db, "{'_id':2001,'a':7}");
    save_text(db, "{'_id':2002,'a':7,'b':null}");
    save_text(db, "{'_id':2003,'b':8,'a':7.0}");
    save_text(db, "{'_id':2004,'a':{'$numberDecimal':'7.0'},'b':1}");
    save_text(db, "{'_id':2005,'a':[7],'b':1}");
    save_text(db, "{'_id':2006,'a':{'$numberLong':'7'},'b':-0.0}");
    PLAN("4", "{'a':7}", "{'$fields':{'a':1,'b':1,'_id':0}}", "documentsExamined");
    same("{'a':7}", "'$fields':{'a':1,'b':1,'_id':0}");
    same("{'a':{'$gt':6,'$lt':8}}", "'$fields':{'a':1,'b':1,'_id':0}");
    memory_db_close(db);
}

static void an_id_of_another_type_is_shown(void) {
    fill();
    save_text(db, "{'_id':7.0,'a':7}");
    CHECK_TEXT("{ \"_id\" : 6 } { \"_id\" : 7.0 } { \"_id\" : 8 }",
               find_documents(db, "{'_id':{'$gte':6,'$lte':8}}", "{'$fields':{'_id':1}}"));
    PLAN("0", "{'_id':{'$gte':6,'$lte':8}}", "{'$fields':{'_id':1}}", "documentsExamined");
    save_text(db, "{'_id':{'$numberDecimal':'7'},'a':7}");
    same("{'_id':{'$gte':6,'$lte':8}}", "'$fields':{'_id':1}");
    PLAN("1", "{'_id':{'$gte':6,'$lte':8}}", "{'$fields':{'_id':1}}", "documentsExamined");
    /* It is found, and removed, by any of its forms. */
    bson_t *id = bson_from_text("{'':{'$numberLong':'7'}}");
    int removed = 0;
    tansu_error error;
    CHECK_OK(tansu_remove_id(db, NULL, "c", document_of(id), &removed, &error), &error);
    bson_destroy(id);
    CHECK_INT(1, removed);
    CHECK_INT(1999, count_matches(db, NULL, NULL));
    CHECK_TEXT("6 8", find_ids(db, "{'_id':{'$gte':6,'$lte':8}}", NULL));
    memory_db_close(db);
}

/* ---- Random ---- */

static const char *const indexes[][2] = {
    {"a", "{'a':1}"},
    {"ab", "{'a':1,'b':1}"},
    {"ba", "{'b':-1,'a':1}"},
    {"abc", "{'a':-1,'b':1,'n.x':1}"},
    {"id", "{'a':1,'_id':1}"},
    {"xy", "{'n.x':1,'n.y':-1}"},
    {"deep", "{'n.y':1,'b':1,'n.x':1,'a':1}"},
};
#define INDEXES (sizeof indexes / sizeof *indexes)

/* append_field -- one of few values, of many kinds; arrays only where wanted.
 */
static void append_field(random_source *r, bson_t *doc, const char *key, bool arrays) {
    int n = (int)random_below(r, 4);
    switch (random_below(r, arrays ? 11 : 9)) {
    case 0:
    case 1:
    case 2: bson_append_int32(doc, key, -1, n); break;
    case 3: bson_append_int64(doc, key, -1, n); break;
    case 4: bson_append_double(doc, key, -1, n == 0 ? -0.0 : n); break;
    case 5: bson_append_utf8(doc, key, -1, &"Aaab"[n], -1); break;
    case 6: bson_append_null(doc, key, -1); break;
    case 7: bson_append_date_time(doc, key, -1, n); break;
    case 8: random_append_number(r, doc, key, -1); break;
    case 9: random_append_value(r, doc, key, -1, 1); break;
    default: {
        bson_t list;
        bson_append_array_begin(doc, key, -1, &list);
        bson_append_int32(&list, "0", 1, n);
        bson_append_int32(&list, "1", 1, n + 1);
        bson_append_array_end(doc, &list);
    }
    }
}

/* save_some -- documents with fields in any order, some of them missing. */
static void save_some(random_source *r, bool arrays) {
    static const char *const keys[] = {"a", "b", "n", "c"};
    for (int i = 0; i < 200; i++) {
        bson_t doc = BSON_INITIALIZER, below;
        int id = (int)random_below(r, 300);
        bool late = random_chance(r, 10);
        if (!late && random_chance(r, 80))
            bson_append_int32(&doc, "_id", 3, id);
        else if (!late)
            bson_append_double(&doc, "_id", 3, id);
        size_t first = random_chance(r, 70) ? 0 : random_below(r, 4);
        for (size_t k = 0; k < 4; k++) {
            const char *key = keys[(first + k) % 4];
            if (random_chance(r, 8))
                continue;
            if (*key != 'n' || random_chance(r, 5)) {
                append_field(r, &doc, key, arrays);
                continue;
            }
            bson_append_document_begin(&doc, "n", 1, &below);
            bool turned = random_chance(r, 30);
            append_field(r, &below, turned ? "y" : "x", arrays);
            append_field(r, &below, turned ? "x" : "y", arrays);
            bson_append_document_end(&doc, &below);
        }
        if (late)
            bson_append_int64(&doc, "_id", 3, id);
        save_bson(db, &doc);
        bson_destroy(&doc);
    }
}

/* write_test -- a condition on a path; mostly one that an index knows all of.
 */
static void write_test(random_source *r, char *out, size_t room, const char *path) {
    static const char *const forms[] = {"{'$in':[0,1,2]}",        "{'$in':[1,'a','ab',null]}",
                                        "{'$gte':1,'$lte':2}",    "1",
                                        "{'$in':[3,2]}",          "{'$or':[{'$lt':1},{'$gt':2}]}",
                                        "{'$in':[null,0,'aab']}", "{'$gt':'a'}"};
    snprintf(out + strlen(out), room - strlen(out), "%s'%s':%s", strlen(out) > 1 ? "," : "", path,
             forms[random_below(r, sizeof forms / sizeof *forms)]);
}

/* write_paths -- {path: 1 or -1, …} of some paths. */
static void write_paths(random_source *r, char *out, size_t room, bool directions) {
    static const char *const paths[] = {"b", "a", "n.x", "n.y", "_id"};
    size_t first = random_chance(r, 40) ? 0 : random_below(r, 5), count = 1 + random_below(r, 2);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const char *path = paths[(first + i) % 5];
        if (!directions && strcmp(path, "_id") == 0)
            continue;
        snprintf(out + strlen(out), room - strlen(out), "%s'%s':%d", any ? "," : "", path,
                 directions && random_chance(r, 50) ? -1 : 1);
        any = true;
    }
}

/* What the random queries met. */
static unsigned merged, covered, questions;

/* ask_every_way -- with the planner's choice, and with each index by name. */
static void ask_every_way(const char *query, const char *hints) {
    for (size_t i = 0; i <= INDEXES; i++) {
        const char *name = i == INDEXES ? NULL : indexes[i][0];
        char text[500];
        same_in(name, query, hints);
        snprintf(text, sizeof text, "{'$index':'%s'%s%s}", name ? name : "", *hints ? "," : "",
                 hints);
        questions++;
        if (!name)
            continue;
        merged += *plan_field(db, query, text, "plan.merged") != '\0';
        covered += *plan_field(db, query, text, "plan.covered") != '\0';
    }
}

static void random_queries_have_one_answer(void) {
    random_source r = random_start(1);
    uint64_t rounds = random_rounds("TANSU_ROUNDS", DEFAULT_ROUNDS);
    for (uint64_t round = 0; round < rounds; round++) {
        bool arrays = random_chance(&r, 25);
        db = memory_db_open();
        save_some(&r, arrays);
        for (size_t i = 0; i < INDEXES; i++)
            create_index(db, indexes[i][0], indexes[i][1], NULL);
        save_some(&r, arrays);
        for (int i = 0; i < 40; i++) {
            char query[300] = "{", rest[400] = "";
            if (random_chance(&r, 90))
                write_test(&r, query, sizeof query, "a");
            if (random_chance(&r, 30))
                write_test(&r, query, sizeof query, random_chance(&r, 60) ? "b" : "n.x");
            strcat(query, "}");
            if (random_chance(&r, 65)) {
                strcat(rest, ",'$orderby':{");
                write_paths(&r, rest, sizeof rest, true);
                strcat(rest, "}");
            }
            if (random_chance(&r, 60))
                snprintf(rest + strlen(rest), sizeof rest - strlen(rest), ",'$max':%d",
                         (int)random_below(&r, 8));
            if (random_chance(&r, 30))
                snprintf(rest + strlen(rest), sizeof rest - strlen(rest), ",'$skip':%d",
                         (int)random_below(&r, 8));
            if (random_chance(&r, 70)) {
                bool id = random_chance(&r, 30);
                snprintf(rest + strlen(rest), sizeof rest - strlen(rest), ",'$fields':{'_id':%d",
                         id);
                char *end = rest + strlen(rest);
                strcpy(end, ",");
                write_paths(&r, end + 1, sizeof rest - strlen(rest), false);
                if (end[1] == '\0')
                    strcpy(end, id ? "" : ",'b':1");
                strcat(rest, "}");
            }
            ask_every_way(query, rest + (*rest != '\0'));
        }
        memory_db_close(db);
    }
    if (rounds >= DEFAULT_ROUNDS) { /* arrays in all of a few rounds leave nothing to merge */
        CHECK(merged > 0);
        CHECK(covered > 0);
    }
}

int main(void) {
    RUN(streams_are_merged_into_an_order);
    RUN(a_unique_index_decides_an_order);
    RUN(a_multikey_index_merges_nothing);
    RUN(projections_are_covered);
    RUN(what_an_index_does_not_hold_is_read);
    RUN(an_id_of_another_type_is_shown);
    RUN(random_queries_have_one_answer);
    return check_finish();
}
