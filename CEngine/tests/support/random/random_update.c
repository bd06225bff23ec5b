/*
 * support/random/random_update.c -- random documents, queries and calls for updates.
 */
#include "support/random/random_update.h"
#include "support/random/random_bson.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

bson_t *random_update_document(random_source *r, int32_t id) {
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    bson_t *doc = bson_new(), inner;
    bson_append_int32(doc, "_id", 3, id);
    for (unsigned i = 0; i < COUNT(names); i++) {
        if (random_chance(r, 25))
            continue;
        if (i == 3 && random_chance(r, 70))
            random_update_list(r, doc, names[i]);
        else if (i == 4 && random_chance(r, 70))
            bson_append_int32(doc, names[i], 1, (int32_t)random_between(r, -3, 6));
        else
            random_update_value(r, doc, names[i], 2);
    }
    if (random_chance(r, 70))
        random_append_number(r, doc, "n", 1);
    if (random_chance(r, 60))
        bson_append_utf8(doc, "s", 1, random_update_text(r), -1);
    if (random_chance(r, 80))
        bson_append_int32(doc, "u", 1, id);
    if (random_chance(r, 50)) {
        bson_append_document_begin(doc, "k", 1, &inner);
        bson_append_int64(&inner, "u", 1, id);
        bson_append_document_end(doc, &inner);
    }
    return doc;
}

/* ---- Indexes ---- */

const char *random_update_index(unsigned number, const char **options) {
    static const char *const indexes[][2] = {
        {"{'a':1}", NULL},
        {"{'b.a':-1,'c':1}", NULL},
        {"{'d.0':1}", NULL},
        {"{'e':1,'n':-1}", NULL},
        {"{'n':1}", NULL},
        {"{'s':1}", "{'caseInsensitive':true}"},
        {"{'a.b':1,'s':1}", "{'sparse':true}"},
        {"{'c':-1}", "{'partialFilter':{'a':{'$gt':0}}}"},
        {"{'k.u':1,'b':1}", NULL},
        {"{'**':1}", NULL},
    };
    if (number >= COUNT(indexes))
        return NULL;
    *options = indexes[number][1];
    return indexes[number][0];
}

const char *random_update_unique(unsigned number, const char **options) {
    static const char *const indexes[][2] = {
        {"{'u':1}", "{'unique':true,'sparse':true}"},
        {"{'k.u':1}", "{'unique':true,'sparse':true}"},
        {"{'u':1,'s':-1}", "{'unique':true}"},
        {"{'u':1}", "{'unique':true,'partialFilter':{'s':{'$exists':true}}}"},
        {"{'s':1,'u':1}", "{'unique':true,'caseInsensitive':true}"},
    };
    if (number >= COUNT(indexes))
        return NULL;
    *options = indexes[number][1];
    return indexes[number][0];
}

/* ---- Queries ---- */

/* any_id -- an `_id` that there may be. */
static int32_t any_id(random_source *r) {
    return (int32_t)random_below(r, RANDOM_UPDATE_IDS);
}

/* append_ids -- a condition on `_id`. */
static void append_ids(random_source *r, bson_t *query) {
    bson_t inner, list;
    if (random_chance(r, 60)) {
        bson_append_int32(query, "_id", 3, any_id(r));
        return;
    }
    bson_append_document_begin(query, "_id", 3, &inner);
    if (random_chance(r, 50)) {
        bson_append_array_begin(&inner, "$in", -1, &list);
        bson_append_int32(&list, "0", 1, any_id(r));
        bson_append_double(&list, "1", 1, any_id(r));
        bson_append_array_end(&inner, &list);
    } else {
        bson_append_int32(&inner, random_chance(r, 50) ? "$gt" : "$lte", -1, any_id(r));
    }
    bson_append_document_end(query, &inner);
}

/* append_field -- a condition on a path, but not one of those with hostile numbers. */
static void append_field(random_source *r, bson_t *query) {
    char path[80];
    do {
        random_update_path(r, path);
    } while (strchr(path, '\\') != NULL);
    if (random_chance(r, 15))
        bson_append_utf8(query, "s", 1, random_update_text(r), -1);
    else
        random_update_condition(r, query, path);
}

bson_t *random_update_query(random_source *r) {
    bson_t *query = bson_new(), list, one;
    uint64_t kind = random_below(r, 100);
    if (kind < 8)
        return query;
    if (kind < 65) {
        append_ids(r, query);
        if (random_chance(r, 20))
            append_field(r, query);
    } else if (kind < 85) {
        append_field(r, query);
    } else {
        bson_append_array_begin(query, kind < 92 ? "$and" : "$or", -1, &list);
        for (unsigned i = 0; i < 2; i++) {
            bson_append_document_begin(&list, i == 0 ? "0" : "1", 1, &one);
            if (random_chance(r, 30))
                append_ids(r, &one);
            else
                append_field(r, &one);
            bson_append_document_end(&list, &one);
        }
        bson_append_array_end(query, &list);
    }
    return query;
}

/* ---- Calls ---- */

/* append_window -- $orderby, $skip, $max, and $index. */
static void append_window(random_source *r, bson_t *hints, bool inserts) {
    bson_t order;
    char path[80];
    if (random_chance(r, 25)) {
        bson_append_document_begin(hints, "$orderby", -1, &order);
        do {
            random_update_path(r, path);
        } while (strchr(path, '\\') != NULL);
        bson_append_int32(&order, path, -1, random_chance(r, 50) ? 1 : -1);
        if (strcmp(path, "s") != 0)
            bson_append_int32(&order, "s", -1, random_chance(r, 50) ? 1 : -1);
        bson_append_document_end(hints, &order);
    }
    if (random_chance(r, 20) && !bson_has_field(hints, "$max"))
        bson_append_int32(hints, "$max", -1, 1 + (int32_t)random_below(r, 4));
    if (random_chance(r, 12) && !inserts)
        bson_append_int32(hints, "$skip", -1, (int32_t)random_below(r, 3));
    if (random_chance(r, 5))
        bson_append_bool(hints, "$index", -1, false);
    else if (random_chance(r, 10))
        bson_append_utf8(hints, "$index", -1, random_chance(r, 50) ? "i0" : "i4", -1);
}

/* append_collation -- $collation. */
static void append_collation(random_source *r, bson_t *hints) {
    bson_t inner;
    bson_append_document_begin(hints, "$collation", -1, &inner);
    bson_append_bool(&inner, "caseInsensitive", -1, random_chance(r, 70));
    bson_append_bool(&inner, "numeric", -1, random_chance(r, 40));
    bson_append_document_end(hints, &inner);
}

/* positional -- operators on `arr.$`, and the query that tells which element that is. */
static bson_t *positional(random_source *r, bson_t *query, bool timed) {
    static const char *const arrays[] = {"a", "b", "c", "d", "d", "b.a"};
    const char *array = arrays[random_below(r, COUNT(arrays))];
    char place[80], path[80];
    snprintf(place, sizeof place, "%s.$", array);
    snprintf(path, sizeof path, "%s%s", array, random_chance(r, 60) ? "" : ".a");
    /* One operator only: two may be met by two elements, and then there is no one place. And no
     * $type, which may be met by the whole array and by an element of it. */
    for (bool one = false; !one;) {
        bson_t condition = BSON_INITIALIZER;
        bson_iter_t iter, inner;
        random_update_condition(r, &condition, path);
        one = bson_iter_init_find(&iter, &condition, path) &&
              (!BSON_ITER_HOLDS_DOCUMENT(&iter) ||
               (bson_iter_recurse(&iter, &inner) && bson_iter_next(&inner) &&
                strcmp(bson_iter_key(&inner), "$type") != 0 && !bson_iter_next(&inner)));
        if (one)
            bson_concat(query, &condition);
        bson_destroy(&condition);
    }
    if (random_chance(r, 30))
        append_ids(r, query);
    return random_update_operators(r, place, timed);
}

/* filtered -- operators on `arr.$[x]`, and the array filters. */
static bson_t *filtered(random_source *r, bson_t *hints, bool timed) {
    static const char *const arrays[] = {"a", "b", "c", "d", "d", "d", "b.a", "a.$[]", "a.$[y]"};
    static const char *const keys[] = {"x", "x", "x.a", "x.b"};
    const char *array = arrays[random_below(r, COUNT(arrays))];
    char place[80], number[12];
    unsigned count = 0;
    bson_t list, one;
    snprintf(place, sizeof place, "%s.$[x]", array);
    bson_append_array_begin(hints, "$arrayFilters", -1, &list);
    for (const char *name = "xy"; *name != '\0'; name++) {
        bool wanted = *name == 'x' || strchr(array, 'y') != NULL;
        if (random_chance(r, 3) ? wanted : !wanted)
            continue;
        snprintf(number, sizeof number, "%u", count++);
        bson_append_document_begin(&list, number, -1, &one);
        random_update_filter(r, &one, *name == 'y' ? "y" : keys[random_below(r, COUNT(keys))]);
        bson_append_document_end(&list, &one);
    }
    bson_append_array_end(hints, &list);
    return random_update_operators(r, place, timed);
}

/* whole_document -- without an `_id`, or sometimes with one. */
static bson_t *whole_document(random_source *r) {
    bson_t *whole = random_update_document(r, any_id(r)), *doc = bson_new();
    if (random_chance(r, 20))
        bson_copy_to_excluding_noinit(whole, doc, "f", NULL);
    else
        bson_copy_to_excluding_noinit(whole, doc, "_id", "u", NULL);
    bson_destroy(whole);
    return doc;
}

/* replacement -- by a whole document; now and then its name is forgotten. */
static bson_t *replacement(random_source *r) {
    bson_t *whole = whole_document(r);
    if (random_chance(r, 5))
        return whole;
    bson_t *update = bson_new();
    bson_append_document(update, "$replace", -1, whole);
    bson_destroy(whole);
    return update;
}

/* append_upsert -- $upsert where it may be: in the hints, the operators, or with the query,
 * where it may also be a document, and then stands for the operators. */
static void append_upsert(random_source *r, bson_t *query, bson_t *update, bson_t *hints,
                          bool replaces) {
    bson_t *doc;
    switch (random_below(r, 4)) {
    case 0:
        bson_append_bool(query, "$upsert", -1, true);
        if (random_chance(r, 10) && !bson_has_field(hints, "$arrayFilters"))
            bson_reinit(update);
        break;
    case 1:
        if (!replaces) {
            bson_append_bool(update, "$upsert", -1, true);
            break;
        }
        bson_append_bool(hints, "$upsert", -1, true);
        break;
    case 2:
        if (!replaces && random_chance(r, 50)) {
            doc = random_chance(r, 15) ? bson_new() : whole_document(r);
            bson_reinit(update);
            bson_reinit(hints);
            bson_append_document(query, "$upsert", -1, doc);
            bson_destroy(doc);
            break;
        }
        /* fall through */
    default:
        if (random_chance(r, 80))
            bson_append_bool(hints, "$upsert", -1, true);
        else /* a number does as well */
            bson_append_int32(hints, "$upsert", -1, (int32_t)random_below(r, 2));
    }
}

/* some_update -- an update with all that belongs to it. */
static void some_update(random_source *r, bson_t *query, bson_t *hints, bson_t **update,
                        bool timed) {
    uint64_t kind = random_below(r, 100);
    bool inserts = random_chance(r, 20), replaces = false;
    if (kind < 18) {
        *update = positional(r, query, timed);
    } else {
        bson_t *asked = random_update_query(r);
        bson_concat(query, asked);
        bson_destroy(asked);
        if (kind < 35) {
            *update = filtered(r, hints, timed);
        } else if (kind < 42) {
            replaces = true;
            *update = replacement(r);
            if (random_chance(r, 60))
                bson_append_int32(hints, "$max", -1, 1);
        } else {
            *update = random_update_operators(r, NULL, timed);
            if (random_chance(r, 40))
                bson_append_int32(hints, "$max", -1, 1);
        }
    }
    append_window(r, hints, inserts);
    if (random_chance(r, 10))
        append_collation(r, hints);
    if (inserts)
        append_upsert(r, query, *update, hints, replaces);
}

bson_t *random_update_call(random_source *r, bool timed) {
    bson_t *call = bson_new(), *query = bson_new(), *hints = bson_new(), *update = NULL;
    uint64_t kind = random_below(r, 100);
    const char *mode = "update";
    bson_t fields;
    if (kind < 5) {
        mode = "insert";
        update = random_update_document(r, any_id(r));
    } else if (kind < 8) {
        mode = random_chance(r, 50) ? "update" : "remove";
        bson_destroy(query);
        query = random_update_query(r);
        if (strcmp(mode, "update") == 0) {
            update = bson_new();
            bson_append_int32(hints, "$max", -1, 1 + (int32_t)random_below(r, 3));
            bson_append_bool(random_chance(r, 50) ? query : update, "$dropall", -1, true);
        }
        append_window(r, hints, false);
    } else {
        mode = kind < 70 ? "update" : kind < 85 ? "before" : "after";
        some_update(r, query, hints, &update, timed);
        if (kind >= 70 && random_chance(r, 30)) {
            bson_append_document_begin(hints, "$fields", -1, &fields);
            bson_append_bool(&fields, random_chance(r, 50) ? "a" : "n", -1, kind % 2 == 0);
            bson_append_bool(&fields, "s", -1, kind % 2 == 0);
            bson_append_document_end(hints, &fields);
        }
    }
    bson_append_utf8(call, "mode", -1, mode, -1);
    bson_append_document(call, "query", -1, query);
    bool beside = bson_has_field(query, "$upsert") || bson_has_field(query, "$dropall") ||
                  bson_has_field(hints, "$upsert");
    bool left_out = update != NULL && bson_empty(update) && beside && random_chance(r, 50);
    if (update != NULL && !left_out)
        bson_append_document(call, "update", -1, update);
    bson_append_document(call, "hints", -1, hints);
    bson_destroy(query);
    bson_destroy(hints);
    if (update != NULL)
        bson_destroy(update);
    return call;
}
