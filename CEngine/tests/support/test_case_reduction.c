/*
 * test_case_reduction.c -- the reduction makes a case as small as what fails about it, and
 * so does the differential test of queries with a difference between engine and model.
 */
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/differential/query_differential.h"
#include "support/random/case_reduction.h"
#include "support/random/random.h"
#include "support/random/random_bson.h"
#include "support/random/random_query.h"

#include <math.h>
#include <string.h>

/* add -- a part from JSON. */
static void add(reduction_case *c, const char *role, const char *json, bool whole) {
    bson_t *value = bson_from_text(json);
    reduction_add(c, role, value, whole);
    bson_destroy(value);
}

/* check_case -- the parts are these, as "role json" with a bar between. */
static void check_case(const char *expected, const reduction_case *c) {
    bson_string_t *text = bson_string_new(NULL);
    for (size_t i = 0; i < c->count; i++) {
        char *json = bson_as_relaxed_extended_json(c->parts[i].value, NULL);
        bson_string_append_printf(text, "%s%s %s", i == 0 ? "" : " | ", c->parts[i].role, json);
        bson_free(json);
    }
    CHECK_TEXT(expected, text->str);
    bson_string_free(text, true);
}

/* nan_within -- whether an array, at any depth, has an element that is NaN. */
static bool nan_within(bson_iter_t fields, bool array) {
    while (bson_iter_next(&fields)) {
        bson_iter_t inside;
        if (array && BSON_ITER_HOLDS_DOUBLE(&fields) && isnan(bson_iter_double(&fields)))
            return true;
        bool list = BSON_ITER_HOLDS_ARRAY(&fields);
        if ((list || BSON_ITER_HOLDS_DOCUMENT(&fields)) && bson_iter_recurse(&fields, &inside) &&
            nan_within(inside, list))
            return true;
    }
    return false;
}

/* has_nan_in_array -- some document has an `_id` and, somewhere, an array with a NaN. */
static bool has_nan_in_array(const reduction_case *c, void *context) {
    size_t *calls = context;
    bool result = false;
    (*calls)++;
    for (size_t i = 0; i < c->count; i++) {
        bson_iter_t fields;
        if (strcmp(c->parts[i].role, "document") == 0 && bson_has_field(c->parts[i].value, "_id") &&
            bson_iter_init(&fields, c->parts[i].value))
            result = result || nan_within(fields, false);
    }
    return result;
}

static void only_what_fails_is_left(void) {
    reduction_case c = {NULL, 0};
    size_t calls = 0;
    random_source r = random_start(1);
    for (int i = 0; i < 40; i++) {
        bson_t *other = random_document(&r);
        bson_t *doc = bson_new(), array, inner, deep;
        bson_append_int32(doc, "_id", 3, i);
        bson_append_document(doc, "other", 5, other);
        if (i == 23) {
            bson_append_array_begin(doc, "list", 4, &array);
            bson_append_int32(&array, "0", 1, 7);
            bson_append_document_begin(&array, "1", 1, &inner);
            bson_append_utf8(&inner, "x", 1, "y", 1);
            bson_append_array_begin(&inner, "deep", 4, &deep);
            bson_append_bool(&deep, "0", 1, true);
            bson_append_double(&deep, "1", 1, NAN);
            bson_append_array_end(&inner, &deep);
            bson_append_document_end(&array, &inner);
            bson_append_array_end(doc, &array);
        }
        reduction_add(&c, "document", doc, true);
        bson_destroy(doc);
        bson_destroy(other);
    }
    add(&c, "index", "{'keys':{'a':1,'b':-1}}", true);
    add(&c, "hints", "{'$orderby':{'a':1},'$max':3}", false);
    add(&c, "query", "{'$or':[{'a':1},{'b':{'$gt':2}}]}", false);
    size_t steps = reduce_case(&c, has_nan_in_array, &calls, 20000);
    CHECK_INT(steps, calls);
    CHECK(steps < 20000);
    /* A random document may have a NaN of its own, so that the field's name is not known. */
    if (CHECK_INT(3, c.count)) {
        bson_iter_t fields, array, element;
        CHECK_TEXT("document", c.parts[0].role);
        CHECK_INT(2, bson_count_keys(c.parts[0].value));
        REQUIRE(bson_iter_init(&fields, c.parts[0].value) && bson_iter_next(&fields));
        CHECK_TEXT("_id", bson_iter_key(&fields));
        REQUIRE(bson_iter_next(&fields));
        if (CHECK(BSON_ITER_HOLDS_ARRAY(&fields)) && bson_iter_recurse(&fields, &array)) {
            element = array;
            CHECK(bson_iter_next(&element) && !bson_iter_next(&element));
            CHECK(nan_within(array, true));
        }
        CHECK(bson_empty(c.parts[1].value) && bson_empty(c.parts[2].value));
    }
    reduction_free(&c);
}

/* finds_negation -- a query with $not: {$gt: …} on the path "a", whatever else is around. */
static bool finds_negation(const reduction_case *c, void *context) {
    (void)context;
    bson_iter_t fields, a, inner;
    return bson_iter_init_find(&fields, c->parts[c->count - 1].value, "a") &&
           BSON_ITER_HOLDS_DOCUMENT(&fields) && bson_iter_recurse(&fields, &a) &&
           bson_iter_find(&a, "$not") && BSON_ITER_HOLDS_DOCUMENT(&a) &&
           bson_iter_recurse(&a, &inner) && bson_iter_find(&inner, "$gt");
}

/* has_deep_or -- the same somewhere in the tree of $or. */
static bool has_deep_or(const reduction_case *c, void *context) {
    bson_iter_t fields, list, one;
    if (finds_negation(c, context))
        return true;
    if (!bson_iter_init_find(&fields, c->parts[c->count - 1].value, "$or") ||
        !BSON_ITER_HOLDS_ARRAY(&fields) || !bson_iter_recurse(&fields, &list))
        return false;
    while (bson_iter_next(&list)) {
        if (!BSON_ITER_HOLDS_DOCUMENT(&list) || !bson_iter_recurse(&list, &one))
            continue;
        bson_t inner = BSON_INITIALIZER;
        while (bson_iter_next(&one))
            bson_append_iter(&inner, NULL, 0, &one);
        reduction_part part = {"query", &inner, false};
        bool result = has_deep_or(&(reduction_case){&part, 1}, context);
        bson_destroy(&inner);
        if (result)
            return true;
    }
    return false;
}

static void clauses_replace_what_holds_them(void) {
    reduction_case c = {NULL, 0};
    add(&c, "document", "{'_id':1}", true);
    add(&c, "query",
        "{'b':1,'$or':[{'c':2},{'$or':[{'a':{'$exists':true,'$not':{'$lt':9,'$gt':3}}}]}]}", false);
    reduce_case(&c, has_deep_or, NULL, 2000);
    check_case("query { \"a\" : { \"$not\" : { \"$gt\" : 3 } } }", &c);
    reduction_free(&c);
}

/* always / never -- of any case. */
static bool always(const reduction_case *c, void *context) {
    (void)c, (void)context;
    return true;
}
static bool never(const reduction_case *c, void *context) {
    (void)c, (void)context;
    return false;
}

/* is_of_two -- needs two certain elements of one array. */
static bool is_of_two(const reduction_case *c, void *context) {
    (void)context;
    bson_iter_t field, each;
    bool two = false, four = false;
    if (c->count == 0 || !bson_iter_init_find(&field, c->parts[0].value, "a") ||
        !BSON_ITER_HOLDS_ARRAY(&field) || !bson_iter_recurse(&field, &each))
        return false;
    while (bson_iter_next(&each)) {
        two = two || bson_iter_as_int64(&each) == 2;
        four = four || bson_iter_as_int64(&each) == 4;
    }
    return two && four;
}

static void elements_are_renumbered(void) {
    reduction_case c = {NULL, 0};
    add(&c, "document", "{'a':[1,2,3,4,5]}", true);
    reduce_case(&c, is_of_two, NULL, 1000);
    check_case("document { \"a\" : [ 2, 4 ] }", &c);
    bson_iter_t element;
    REQUIRE(bson_iter_init(&element, c.parts[0].value));
    bson_iter_t found;
    CHECK(bson_iter_find_descendant(&element, "a.1", &found) && bson_iter_as_int64(&found) == 4);
    reduction_free(&c);
}

static void bounds_and_parts_that_stay_are_kept(void) {
    reduction_case c = {NULL, 0};
    add(&c, "document", "{'_id':1}", true);
    add(&c, "query", "{'a':{'b':1}}", false);
    CHECK_INT(1, reduce_case(&c, never, NULL, 100));
    check_case("document { \"_id\" : 1 } | query { \"a\" : { \"b\" : 1 } }", &c);
    CHECK_INT(1, reduce_case(&c, always, NULL, 1));
    check_case("document { \"_id\" : 1 } | query { \"a\" : { \"b\" : 1 } }", &c);
    reduce_case(&c, always, NULL, 100);
    check_case("query { }", &c);
    reduction_free(&c);
}

/* The model knows no decimals but those that are exact as doubles: 2^53 + 1 is where it goes
 * wrong. */
static void a_difference_to_the_model_is_reduced_to_one_document(void) {
    random_source r = random_start(2);
    differential w;
    differential_counts counts = {0};
    reduction_case c;
    differential_open(&w, false, false, &counts);
    bson_t *keys = bson_from_text("{'b':1}"), *options = bson_from_text("{'sparse':true}");
    bson_t *odd = bson_from_text(
        "{'_id':50,'b':[1,{'x':2}],'n':[{'$numberDecimal':'9007199254740993'},3],'u':5}");
    bson_t *query =
        bson_from_text("{'_id':{'$gte':0},'$or':[{'b':7},{'n':{'$in':[9007199254740992.0,44]}}]}");
    bson_t *hints = bson_from_text("{'$orderby':{'a':1},'$max':90}");
    for (int i = 0; i < 40; i++) {
        bson_t *doc = i == 20 ? bson_copy(odd) : random_case_document(&r, i, false);
        CHECK(differential_save(&w, doc));
        bson_destroy(doc);
    }
    CHECK(differential_create_index(&w, "b", keys, options));
    CHECK(!differential_query(&w, query, hints));
    CHECK(differential_minimise(&w, 3000, &c));
    check_case("document { \"_id\" : 50, \"n\" : { \"$numberDecimal\" : \"9007199254740993\" } } | "
               "hints { } | query { \"n\" : { \"$in\" : [ 9007199254740992.0 ] } }",
               &c);
    reduction_free(&c);
    differential_close(&w);
    bson_destroy(keys);
    bson_destroy(options);
    bson_destroy(odd);
    bson_destroy(query);
    bson_destroy(hints);
}

int main(void) {
    RUN(only_what_fails_is_left);
    RUN(clauses_replace_what_holds_them);
    RUN(elements_are_renumbered);
    RUN(bounds_and_parts_that_stay_are_kept);
    RUN(a_difference_to_the_model_is_reduced_to_one_document);
    return check_finish();
}
