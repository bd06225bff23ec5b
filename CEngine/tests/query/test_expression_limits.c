/*
 * test_expression_limits.c -- depth, memory and time end every evaluation of an expression, and
 * large arrays do not need more of them than others.
 */
#include "support/calls/evaluate_expression.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* run_expression -- the name of the status after all documents of [{$project: {"r": e}}] over the
 * collection "c", and the last document as JSON after OK. Valid until the next call. */
static const char *run_expression(tansu_db *db, const bson_t *expression, const char *hints) {
    static char text[600];
    bson_t *options = bson_from_text(hints);
    bson_t *stages = BCON_NEW("0", "{", "$project", "{", "_id", BCON_INT32(0), "r",
                              BCON_DOCUMENT(expression), "}", "}");
    tansu_document document = TANSU_NO_DOCUMENT;
    tansu_cursor *cursor = NULL;
    tansu_error error;
    tansu_status status =
        tansu_pipeline(db, NULL, "c", document_of(stages), document_of(options), &cursor, &error);
    snprintf(text, sizeof text, "nothing");
    while (status == TANSU_OK &&
           (status = tansu_cursor_next(cursor, &document, &error)) == TANSU_OK) {
        bson_t doc;
        REQUIRE(bson_init_static(&doc, document.data, document.size));
        char *json = bson_as_relaxed_extended_json(&doc, NULL);
        snprintf(text, sizeof text, "%s", json ? json : "");
        bson_free(json);
    }
    if (status != TANSU_DONE)
        snprintf(text, sizeof text, "%s", tansu_status_name(status));
    tansu_cursor_close(cursor);
    bson_destroy(stages);
    bson_destroy(options);
    return text;
}

/* run_pipeline -- the same of an expression as JSON. */
static const char *run_pipeline(tansu_db *db, const char *e, const char *hints) {
    bson_t *expression = bson_from_text(e);
    const char *text = run_expression(db, expression, hints);
    bson_destroy(expression);
    return text;
}

/* list_of -- a document {"a": [0, 1, …]}, of so many numbers. */
static bson_t *list_of(int count) {
    bson_t *doc = bson_new(), list;
    char index[12];
    bson_append_array_begin(doc, "a", 1, &list);
    for (int i = 0; i < count; i++) {
        snprintf(index, sizeof index, "%d", i);
        bson_append_int32(&list, index, -1, (count - i) / 2);
    }
    bson_append_array_end(doc, &list);
    return doc;
}

static void values_are_nested_as_deep_as_documents(void) {
    static const char *const lists[] = {"{'a':[1,1,1]}", NULL};
    tansu_db *db = memory_db_with(lists);
    char text[2000] = "";
    const char *nest = "{'$reduce':{'input':{'$range':[0,%d]},'initialValue':[],'in':['$$value']}}";
    snprintf(text, sizeof text, nest, 1000);
    CHECK_TEXT("TOO_LARGE", run_pipeline(db, text, NULL));
    snprintf(text, sizeof text, nest, 3);
    CHECK_TEXT("{ \"r\" : [ [ [ [  ] ] ] ] }", run_pipeline(db, text, NULL));
    bson_t *e = BCON_NEW("$not", BCON_BOOL(true));
    for (int depth = 1; depth < TANSU_MAX_DEPTH + 10; depth++) {
        if (depth == TANSU_MAX_DEPTH - 10)
            CHECK_TEXT("{ \"r\" : true }", run_expression(db, e, NULL));
        bson_t *outer = BCON_NEW("$not", BCON_DOCUMENT(e));
        bson_destroy(e);
        e = outer;
    }
    CHECK_TEXT("TOO_LARGE", run_expression(db, e, NULL));
    bson_destroy(e);
    memory_db_close(db);
}

/* db_with_text -- a memory store with {"s": a text of 1 MiB, "n": 100000000}. */
static tansu_db *db_with_text(void) {
    size_t size = (size_t)1 << 20;
    char *text = malloc(size);
    bson_t doc = BSON_INITIALIZER;
    tansu_db *db = memory_db_open();
    REQUIRE(text != NULL);
    memset(text, 'x', size);
    bson_append_utf8(&doc, "s", 1, text, (int)size);
    bson_append_int32(&doc, "n", 1, 100000000);
    save_bson(db, &doc);
    bson_destroy(&doc);
    free(text);
    return db;
}

/* Lists of so many MiB. */
#define LIST_40 "{'$map':{'input':{'$range':[0,40]},'in':'$s'}}"
#define LIST_60 "{'$map':{'input':{'$range':[0,60]},'in':'$s'}}"
#define LIST_200 "{'$map':{'input':{'$range':[0,200]},'in':'$s'}}"

static void values_keep_to_their_memory(void) {
    static const char *const large[] = {
        "{'$size':{'$range':[0,'$n']}}",
        "{'$size':" LIST_200 "}",
        "{'$size':{'$concatArrays':[" LIST_60 "," LIST_60 "]}}",
        "{'$size':{'$let':{'vars':{'v':" LIST_40 "},"
        "'in':{'$zip':{'inputs':['$$v','$$v','$$v']}}}}}",
        "{'$size':{'$reduce':{'input':{'$range':[0,64]},'initialValue':['$s'],"
        "'in':{'$concatArrays':['$$value','$$value']}}}}",
        "{'$size':{'$objectToArray':{'$reduce':{'input':{'$range':[0,64]},'initialValue':'$s',"
        "'in':{'x':'$$value','y':'$$value'}}}}}",
        "{'$size':[[[" LIST_60 "," LIST_60 "]]]}",
    };
    tansu_db *db = db_with_text();
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        if (!CHECK_TEXT("TOO_LARGE", run_pipeline(db, large[i], NULL)))
            check_note("%s", large[i]);
    }
    CHECK_TEXT("{ \"r\" : 60 }", run_pipeline(db, "{'$size':" LIST_60 "}", NULL));
    memory_db_close(db);
}

/* What one element needs is freed before the next. */
static void the_memory_of_an_element_is_freed(void) {
    tansu_db *db = db_with_text();
    CHECK_TEXT("{ \"r\" : 200 }", run_pipeline(db,
                                               "{'$size':{'$map':{'input':{'$range':[0,200]},"
                                               "'in':{'$size':{'$objectToArray':{'x':'$s'}}}}}}",
                                               NULL));
    CHECK_TEXT("{ \"r\" : 0 }", run_pipeline(db,
                                             "{'$size':{'$filter':{'input':{'$range':[0,200]},"
                                             "'cond':{'$eq':[['$s'],0]}}}}",
                                             NULL));
    CHECK_TEXT("{ \"r\" : 6000 }",
               run_pipeline(db,
                            "{'$size':{'$reduce':{'input':{'$range':[0,6000]},'initialValue':[],"
                            "'in':{'$concatArrays':['$$value',['$$this']]}}}}",
                            NULL));
    memory_db_close(db);
}

/* Every operator that goes over an array looks at the time while it does. */
static void every_loop_keeps_to_its_deadline(void) {
    static const char *const loops[] = {
        "{'$in':[-1,'$a']}",
        "{'$indexOfArray':['$a',-1]}",
        "{'$arrayElemAt':['$a',-1]}",
        "{'$size':'$a'}",
        "{'$slice':['$a',-5]}",
        "{'$slice':['$a',5,90000]}",
        "{'$reverseArray':'$a'}",
        "{'$concatArrays':['$a','$a']}",
        "{'$range':[0,'$n']}",
        "{'$zip':{'inputs':['$a','$a']}}",
        "{'$objectToArray':{'$arrayToObject':{'$map':{'input':[0],'in':['k','$a']}}}}",
        "{'$mergeObjects':'$documents'}",
        "{'$arrayToObject':'$pairs'}",
        "{'$objectToArray':'$object'}",
        "{'$setField':{'field':'x','input':'$object','value':1}}",
        "{'$unsetField':{'field':'x','input':'$object'}}",
        "{'$getField':{'field':'x','input':'$object'}}",
        "{'$map':{'input':'$a','in':1}}",
        "{'$filter':{'input':'$a','cond':true}}",
        "{'$reduce':{'input':'$a','initialValue':0,'in':1}}",
        "{'$sortArray':{'input':'$a','sortBy':1}}",
        "{'$setUnion':['$a']}",
        "{'$setIntersection':['$a','$a']}",
        "{'$setDifference':['$a','$a']}",
        "{'$setEquals':['$a','$a']}",
        "{'$setIsSubset':['$a','$a']}",
        "{'$anyElementTrue':['$zeros']}",
        "{'$allElementsTrue':['$a']}",
        "{'$eq':['$a','$a']}",
        "'$documents.x'",
        "'$object.x'",
        "'$$ROOT.x'",
        "{'$regexMatch':{'input':'$word','regex':'x'}}",
        "{'$regexFind':{'input':'$word','regex':'x'}}",
        "{'$regexFindAll':{'input':'$word','regex':'x'}}",
    };
    const deadline over = {.milliseconds = 1, .end = 1};
    const expression_setting late = {.deadline = &over}, in_time = {.deadline = NULL};
    bson_t *doc = list_of(100000), inner, element;
    char key[16];
    bson_append_int32(doc, "n", -1, 100000);
    bson_append_utf8(doc, "word", -1, "x", -1);
    bson_append_array_begin(doc, "zeros", -1, &inner);
    for (int i = 0; i < 50000; i++) {
        snprintf(key, sizeof key, "%d", i);
        bson_append_int32(&inner, key, -1, 0);
    }
    bson_append_array_end(doc, &inner);
    bson_append_document_begin(doc, "object", -1, &inner);
    for (int i = 0; i < 50000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        bson_append_int32(&inner, key, -1, i);
    }
    bson_append_document_end(doc, &inner);
    for (int pairs = 0; pairs < 2; pairs++) {
        bson_append_array_begin(doc, pairs ? "pairs" : "documents", -1, &inner);
        for (int i = 0; i < 20000; i++) {
            snprintf(key, sizeof key, "%d", i);
            bson_append_document_begin(&inner, key, -1, &element);
            bson_append_utf8(&element, pairs ? "k" : "x", -1, key, -1);
            if (pairs)
                bson_append_int32(&element, "v", -1, i);
            bson_append_document_end(&inner, &element);
        }
        bson_append_array_end(doc, &inner);
    }
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        char text[400];
        tansu_error error;
        tansu_buffer value = TANSU_BUFFER_INIT;
        /* That of the C library finds no places. */
        if (strstr(loops[i], "$regexFind") != NULL && !library_pcre2())
            continue;
        snprintf(text, sizeof text, "{'e':%s}", loops[i]);
        bson_t *holder = bson_from_text(text);
        doc_value e = value_in_bson(holder, "e");
        bool ok = CHECK_OK(evaluate_expression(&e, doc, &in_time, &value, &error), &error);
        ok = CHECK_STATUS(TANSU_E_TIMEOUT, evaluate_expression(&e, doc, &late, &value, &error)) &&
             ok;
        if (!ok)
            check_note("%s", loops[i]);
        tansu_buffer_free(&value);
        bson_destroy(holder);
    }
    bson_destroy(doc);
}

/* The arrays of the document are read by position in any order, from where the last one was. */
static void elements_are_read_by_position(void) {
    enum { COUNT = 30000 };
    static const expression_setting usual;
    static const char *const same[] = {
        "{'$eq':['$a',{'$map':{'input':{'$range':[0,{'$size':'$a'}]},"
        "'in':{'$arrayElemAt':['$a','$$this']}}}]}",
        "{'$eq':['$b',{'$map':{'input':{'$range':[-1,-101,-1]},"
        "'in':{'$arrayElemAt':[{'$reverseArray':'$b'},'$$this']}}}]}",
        "{'$eq':['$b',{'$reverseArray':{'$map':{'input':{'$range':[99,-1,-1]},"
        "'in':{'$arrayElemAt':['$b','$$this']}}}}]}",
        "{'$eq':[[0,50,0,null,49],[{'$arrayElemAt':['$b',-1]},{'$arrayElemAt':['$b',0]},"
        "{'$arrayElemAt':['$b',99]},{'$arrayElemAt':['$b',100]},{'$arrayElemAt':['$b',1]}]]}",
        "{'$eq':[[30000,100,100],[{'$size':'$a'},{'$size':'$b'},{'$size':'$b'}]]}",
    };
    bson_t *doc = list_of(COUNT), *few = list_of(100);
    bson_iter_t iter;
    REQUIRE(bson_iter_init_find(&iter, few, "a") && bson_append_iter(doc, "b", 1, &iter));
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char text[400];
        tansu_error error;
        tansu_buffer value = TANSU_BUFFER_INIT;
        snprintf(text, sizeof text, "{'e':%s}", same[i]);
        bson_t *holder = bson_from_text(text), made;
        doc_value e = value_in_bson(holder, "e");
        bool ok = CHECK_OK(evaluate_expression(&e, doc, &usual, &value, &error), &error);
        if (!ok || !CHECK(bson_init_static(&made, value.data, value.size) &&
                          bson_iter_init_find(&iter, &made, "v") && bson_iter_bool(&iter)))
            check_note("%s", same[i]);
        tansu_buffer_free(&value);
        bson_destroy(holder);
    }
    bson_destroy(doc);
    bson_destroy(few);
}

static void a_pipeline_keeps_to_its_deadline(void) {
    static const char *const lists[] = {"{'n':2000}", NULL};
    /* The number of steps is a constant, computed when it is compiled, or one of the document. */
#define RANGE "{'$range':[0,%1$s]}"
    static const char *const slow[] = {
        ("{'$size':{'$map':{'input':" RANGE ",'in':{'$size':{'$map':{'input':" RANGE
         ",'in':{'$size':{'$map':{'input':" RANGE ",'in':'$$this'}}}}}}}}}"),
        ("{'$reduce':{'input':" RANGE ",'initialValue':0,'in':{'$reduce':{'input':" RANGE
         ",'initialValue':0,'in':{'$reduce':{'input':" RANGE
         ",'initialValue':0,'in':'$$this'}}}}}}"),
        ("{'$size':{'$filter':{'input':" RANGE ",'cond':{'$eq':[0,{'$map':{'input':" RANGE
         ",'in':{'$setUnion':[['$$this']," RANGE "]}}}]}}}}"),
    };
    tansu_db *db = memory_db_with(lists);
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        char text[600];
        snprintf(text, sizeof text, slow[i], "2000");
        CHECK_TEXT("TIMEOUT", run_pipeline(db, text, "{'$maxTimeMS':20}"));
        snprintf(text, sizeof text, slow[i], "'$n'");
        CHECK_TEXT("TIMEOUT", run_pipeline(db, text, "{'$maxTimeMS':20}"));
    }
    memory_db_close(db);
}

int main(void) {
    library_regex_start();
    RUN(values_are_nested_as_deep_as_documents);
    RUN(values_keep_to_their_memory);
    RUN(the_memory_of_an_element_is_freed);
    RUN(every_loop_keeps_to_its_deadline);
    RUN(elements_are_read_by_position);
    RUN(a_pipeline_keeps_to_its_deadline);
    return check_finish();
}
