/*
 * test_position_differential.c -- a position inside an array ("v.1.y") is one element in every
 * place that takes a path: filters, sorts, index keys (plain, sparse, partial, unique), $fields,
 * distinct values, groups, $push with $sort, updates. Random documents, with and without indexes,
 * against a plain model.
 */
#include "support/calls/aggregate_calls.h"
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 12
#define ROUNDS 60
#define NOTHING (-1) /* of a sort: below all numbers */

/* A value at "y": none, one number, or an array of two. */
typedef struct leaf {
    int count;
    bool array;
    int numbers[2];
} leaf;

/* An element of "v": a document with or without "y", or a number. */
typedef struct element {
    bool document;
    leaf y;
} element;

/* A document: "v" is missing, a number, a document, or an array of up to three elements. */
typedef struct sample {
    enum { NO_V, NUMBER, DOCUMENT, ARRAY } kind;
    int count;
    element elements[3];
} sample;

static sample samples[DOCUMENTS];
static int position; /* the one in the paths */

/* ---- Texts ---- */

static char text[1 << 15];

/* add -- appends to a text. */
static void add(char *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char *to, const char *format, ...) {
    va_list arguments;
    size_t size = strlen(to);
    va_start(arguments, format);
    vsnprintf(to + size, sizeof text - size, format, arguments);
    va_end(arguments);
}

/* in_path -- a pattern in which %d is the position. */
static const char *in_path(const char *pattern) {
    static char results[4][200];
    static int next;
    char *to = results[next++ % 4];
    const char *at = strstr(pattern, "%d");
    snprintf(to, sizeof results[0], "%.*s%d%s", (int)(at - pattern), pattern, position, at + 2);
    return to;
}

/* add_document -- {"y": …}. */
static void add_document(char *to, const leaf *y) {
    if (y->count == 0)
        add(to, "{  }");
    else if (y->array)
        add(to, "{ \"y\" : [ %d, %d ] }", y->numbers[0], y->numbers[1]);
    else
        add(to, "{ \"y\" : %d }", y->numbers[0]);
}

/* Which elements of an array are shown. */
enum shown { ALL, ONLY, WITHOUT };

/* add_sample -- {"_id": …, "v": …}. */
static void add_sample(char *to, int id, enum shown shown) {
    const sample *s = &samples[id];
    add(to, "{ \"_id\" : %d", id);
    if (s->kind == NUMBER && shown != ONLY)
        add(to, ", \"v\" : 7");
    if (s->kind == DOCUMENT) {
        static const leaf none;
        add(to, ", \"v\" : ");
        add_document(to, shown == ONLY ? &none : &s->elements[0].y);
    }
    if (s->kind == ARRAY) {
        const char *comma = " ";
        bool none = true;
        add(to, ", \"v\" : [");
        for (int i = 0; i < s->count; i++) {
            if ((shown == ONLY && i != position) || (shown == WITHOUT && i == position))
                continue;
            add(to, "%s", comma);
            comma = ", ";
            none = false;
            if (s->elements[i].document)
                add_document(to, &s->elements[i].y);
            else
                add(to, "%d", s->elements[i].y.numbers[0]);
        }
        add(to, none ? "  ]" : " ]");
    }
    add(to, " }");
}

/* all_samples -- as find_documents() shows them. */
static const char *all_samples(enum shown shown) {
    text[0] = '\0';
    for (int i = 0; i < DOCUMENTS; i++) {
        add(text, "%s", i == 0 ? "" : " ");
        add_sample(text, i, shown);
    }
    return text;
}

/* ---- The model ---- */

/* make_samples -- new documents. */
static void make_samples(random_source *r, bool arrays) {
    memset(samples, 0, sizeof samples);
    for (int i = 0; i < DOCUMENTS; i++) {
        uint64_t kind = random_below(r, 10);
        samples[i].kind = kind < 3 ? (int)kind : ARRAY;
        samples[i].count = (int)random_below(r, 4);
        for (int k = 0; k < 3; k++) {
            element *e = &samples[i].elements[k];
            e->document = random_chance(r, 80);
            e->y.array = arrays && random_chance(r, 20);
            e->y.count = random_chance(r, 20) ? 0 : e->y.array ? 2 : 1;
            e->y.numbers[0] = (int)random_below(r, 5);
            e->y.numbers[1] = (int)random_below(r, 5);
        }
    }
}

/* found -- what "v.N.y" finds; NULL: nothing. */
static const leaf *found(const sample *s) {
    if (s->kind != ARRAY || position >= s->count || !s->elements[position].document ||
        s->elements[position].y.count == 0)
        return NULL;
    return &s->elements[position].y;
}

/* sort_value -- what a document is sorted by. */
static int sort_value(const sample *s, bool descending) {
    const leaf *y = found(s);
    if (y == NULL)
        return NOTHING;
    int other = y->numbers[y->count - 1];
    return descending == (other > y->numbers[0]) ? other : y->numbers[0];
}

/* sorted_ids -- the order of all documents. */
static void sorted_ids(bool descending, int ids[DOCUMENTS]) {
    for (int i = 0; i < DOCUMENTS; i++) {
        int at = i, value = sort_value(&samples[i], descending);
        for (; at > 0; at--) {
            int before = sort_value(&samples[ids[at - 1]], descending);
            if (descending ? before >= value : before <= value)
                break;
            ids[at] = ids[at - 1];
        }
        ids[at] = i;
    }
}

/* has -- whether a path finds a number. */
static bool has(const sample *s, int number) {
    const leaf *y = found(s);
    return y != NULL && (y->numbers[0] == number || y->numbers[y->count - 1] == number);
}

/* is_null -- whether a document without a value counts as null in a unique index: not when it has
 * an array in which nothing could have the path. */
static bool is_null(const sample *s) {
    bool documents = s->kind != ARRAY;
    for (int i = 0; s->kind == ARRAY && i < s->count; i++)
        documents = documents || s->elements[i].document;
    return documents;
}

/* collide -- whether a unique index accepts only one of two documents. */
static bool collide(const sample *a, const sample *b) {
    const leaf *x = found(a), *y = found(b);
    if (x == NULL || y == NULL)
        return x == y && is_null(a) == is_null(b);
    return has(b, x->numbers[0]) || has(b, x->numbers[x->count - 1]);
}

/* ---- Checks ---- */

static tansu_db *db;

/* save_samples -- all documents, in a new memory store. */
static void save_samples(void) {
    db = memory_db_open();
    for (int i = 0; i < DOCUMENTS; i++) {
        text[0] = '\0';
        add_sample(text, i, ALL);
        save_text(db, text);
    }
}

/* check_sorts -- $orderby in both directions. */
static void check_sorts(void) {
    for (int descending = 0; descending < 2; descending++) {
        int ids[DOCUMENTS];
        sorted_ids(descending, ids);
        text[0] = '\0';
        for (int i = 0; i < DOCUMENTS; i++)
            add(text, "%s%d", i == 0 ? "" : " ", ids[i]);
        CHECK_TEXT(text, find_ids(db, NULL,
                                  in_path(descending ? "{'$orderby':{'v.%d.y':-1}}"
                                                     : "{'$orderby':{'v.%d.y':1}}")));
    }
}

/* check_filters -- equality, and conditions that say something of missing values: those give the
 * same with `plain`, the answers without an index. */
static void check_filters(char plain[4][200], bool indexed) {
    static const char *const others[] = {"{'v.%d.y':null}", "{'v.%d.y':{'$ne':1}}",
                                         "{'v.%d.y':{'$exists':false}}",
                                         "{'v.%d.y':{'$in':[null,2]}}"};
    for (int number = 0; number < 5; number++) {
        char query[60];
        snprintf(query, sizeof query, "{'v.%d.y':%d}", position, number);
        text[0] = '\0';
        for (int i = 0; i < DOCUMENTS; i++) {
            if (has(&samples[i], number))
                add(text, "%s%d", text[0] == '\0' ? "" : " ", i);
        }
        CHECK_TEXT(text, find_ids(db, query, NULL));
    }
    for (int i = 0; i < 4; i++) {
        const char *ids = find_ids(db, in_path(others[i]), NULL);
        if (indexed)
            CHECK_TEXT(plain[i], ids);
        else
            snprintf(plain[i], sizeof plain[i], "%s", ids);
    }
}

/* check_values -- distinct values and, unless some are arrays, groups. */
static void check_values(bool arrays) {
    char groups[2000] = "{ \"groups\" : [";
    int nothing = 0;
    text[0] = '\0';
    for (int i = 0; i < DOCUMENTS; i++)
        nothing += found(&samples[i]) == NULL;
    if (nothing != 0)
        add(groups, " { \"g\" : null, \"n\" : %d }", nothing);
    add(text, "{ \"values\" : [");
    for (int number = 0, first = 1; number < 5; number++) {
        int count = 0;
        for (int i = 0; i < DOCUMENTS; i++)
            count += has(&samples[i], number);
        if (count == 0)
            continue;
        add(text, "%s%d", first ? " " : ", ", number);
        add(groups, "%s{ \"g\" : %d, \"n\" : %d }", first && nothing == 0 ? " " : ", ", number,
            count);
        first = 0;
    }
    add(text, strchr(text, '[')[1] == '\0' ? "  ] }" : " ] }");
    add(groups, " ] }");
    CHECK_TEXT(text, distinct_text(db, in_path("v.%d.y"), NULL, NULL));
    if (!arrays)
        CHECK_TEXT(groups, aggregate_text(db, NULL,
                                          in_path("{'by':{'g':'v.%d.y'},'fields':{'n':{'$count':"
                                                  "true}}}"),
                                          NULL));
}

/* check_fields -- an element alone, and the array without it. */
static void check_fields(void) {
    CHECK_TEXT(all_samples(ONLY), find_documents(db, NULL, in_path("{'$fields':{'v.%d':1}}")));
    CHECK_TEXT(all_samples(WITHOUT), find_documents(db, NULL, in_path("{'$fields':{'v.%d':0}}")));
}

/* check_unique -- which documents a unique index accepts. */
static void check_unique(void) {
    bool accepted[DOCUMENTS];
    tansu_db *own = memory_db_open();
    create_index(own, "u", in_path("{'v.%d.y':1}"), "{'unique':true}");
    for (int i = 0; i < DOCUMENTS; i++) {
        accepted[i] = true;
        for (int k = 0; k < i; k++)
            accepted[i] = accepted[i] && !(accepted[k] && collide(&samples[i], &samples[k]));
        text[0] = '\0';
        add_sample(text, i, ALL);
        CHECK_STATUS(accepted[i] ? TANSU_OK : TANSU_E_NOT_UNIQUE,
                     call_save(own, NULL, "c", TANSU_SAVE, text));
    }
    memory_db_close(own);
}

/* check_push -- $push with $sort. */
static void check_push(bool descending) {
    int ids[DOCUMENTS];
    tansu_db *own = memory_db_with((const char *const[]){"{'_id':1,'l':[]}", NULL});
    static char update[sizeof text];
    strcpy(update, "{'$push':{'l':{'$each':[");
    for (int i = 0; i < DOCUMENTS; i++) {
        add(update, "%s", i == 0 ? "" : ",");
        add_sample(update, i, ALL);
    }
    add(update, "],'$sort':{'v.%d.y':%d}}}}", position, descending ? -1 : 1);
    CHECK_TEXT("{ \"matched\" : 1, \"modified\" : 1, \"upserted\" : [  ] }",
               update_text(own, NULL, NULL, update, NULL));
    sorted_ids(descending, ids);
    strcpy(text, "{ \"l\" : [");
    for (int i = 0; i < DOCUMENTS; i++)
        add(text, "%s{ \"_id\" : %d }", i == 0 ? " " : ", ", ids[i]);
    add(text, " ] }");
    CHECK_TEXT(text, find_documents(own, NULL, "{'$fields':{'l._id':1,'_id':0}}"));
    memory_db_close(own);
}

/* check_update -- $set where the element is a document. */
static void check_update(void) {
    for (int i = 0; i < DOCUMENTS; i++) {
        sample *s = &samples[i];
        char query[40];
        if (s->kind != ARRAY || position >= s->count || !s->elements[position].document)
            continue;
        snprintf(query, sizeof query, "{'_id':%d}", i);
        update_text(db, NULL, query, in_path("{'$set':{'v.%d.y':3}}"), NULL);
        s->elements[position].y = (leaf){.count = 1, .numbers = {3}};
    }
    CHECK_TEXT(all_samples(ALL), find_documents(db, NULL, NULL));
}

static void a_position_is_one_element_everywhere(void) {
    static const char *const options[] = {NULL, "{'sparse':true}",
                                          "{'partialFilter':{'v.0.y':{'$gte':2}}}",
                                          "{'partialFilter':{'_id':{'$gte':0}}}"};
    for (uint64_t round = 0; round < ROUNDS; round++) {
        random_source r = random_start(round);
        bool arrays = random_chance(&r, 50);
        char plain[4][200];
        position = (int)random_below(&r, 3);
        make_samples(&r, arrays);
        save_samples();
        check_unique();
        check_push(random_chance(&r, 50));
        for (int indexed = 0; indexed < 2; indexed++) {
            check_sorts();
            check_filters(plain, indexed);
            check_values(arrays);
            check_fields();
            if (!indexed)
                create_index(db, "i",
                             in_path(random_chance(&r, 50) ? "{'v.%d.y':1}" : "{'v.%d.y':-1}"),
                             options[random_below(&r, 4)]);
        }
        check_update();
        check_sorts();
        memory_db_close(db);
    }
}

/* Where a path leads through an array to a position in each of several, it finds several values. */
static void positions_below_an_array(void) {
    db = memory_db_open();
    save_text(db, "{'_id':1,'a':[{'t':[5,1]},{'t':[6,2]}],'e':[]}");
    CHECK_TEXT("{ \"values\" : [ 1, 2 ] }", distinct_text(db, "a.t.1", NULL, NULL));
    CHECK_TEXT("{ \"groups\" : [ { \"g\" : [ 1, 2 ] } ] }",
               aggregate_text(db, NULL, "{'by':{'g':'a.t.1'}}", NULL));
    CHECK_TEXT(
        "{ \"groups\" : [ { \"g\" : null, \"f\" : null } ] }",
        aggregate_text(db, NULL, "{'by':{'g':'e.0'},'fields':{'f':{'$first':'e.0.x'}}}", NULL));
    CHECK_TEXT("{ \"_id\" : 1, \"a\" : [ { \"t\" : [ 1 ] }, { \"t\" : [ 2 ] } ] }",
               find_documents(db, NULL, "{'$fields':{'a.t.1':1}}"));
    CHECK_TEXT("{ \"a\" : [ { \"t\" : [ 5, 1 ] } ] }",
               find_documents(db, NULL, "{'$fields':{'a.0.t':1,'_id':0}}"));
    memory_db_close(db);
}

/* The documents in an array may have the number as a key; then that is what it is. */
static void a_number_may_be_a_key(void) {
    db = memory_db_open();
    save_text(db, "{'_id':1,'v':[{'0':{'y':7},'z':1},{'z':2}]}");
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : [ { \"0\" : { \"y\" : 7 } } ] }",
               find_documents(db, NULL, "{'$fields':{'v.0.y':1}}"));
    CHECK_TEXT("{ \"_id\" : 1, \"v\" : [ { \"0\" : {  }, \"z\" : 1 }, { \"z\" : 2 } ] }",
               find_documents(db, NULL, "{'$fields':{'v.0.y':0}}"));
    CHECK_TEXT("1", find_ids(db, "{'v.0.y':7}", NULL));
    save_text(db, "{'_id':2,'v':[{'y':3}]}");
    CHECK_TEXT("2 1", find_ids(db, NULL, "{'$orderby':{'v.0.y':1}}"));
    CHECK_TEXT("1 2", find_ids(db, NULL, "{'$orderby':{'v.0.y':-1}}"));
    memory_db_close(db);
}

int main(void) {
    RUN(a_position_is_one_element_everywhere);
    RUN(positions_below_an_array);
    RUN(a_number_may_be_a_key);
    return check_finish();
}
