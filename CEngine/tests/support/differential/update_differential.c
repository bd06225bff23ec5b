/*
 * support/differential/update_differential.c -- a case from its beginning to its end. See
 * update_differential.h.
 */
#include "support/calls/call.h"
#include "support/check.h"
#include "support/differential/update_differential_internal.h"
#include "support/folder.h"
#include "support/model/query_model.h"
#include "support/random/random_update.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GREATEST_DOCUMENT 3000

bool update_run_note(update_run *p, const char *format, ...) {
    va_list arguments;
    if (p->result->differs)
        return false;
    p->result->differs = true;
    va_start(arguments, format);
    vsnprintf(p->result->note, sizeof p->result->note, format, arguments);
    va_end(arguments);
    return false;
}

/* number -- a field of the setup. */
static int64_t number(const bson_t *setup, const char *name, int64_t otherwise) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, setup, name) ? bson_iter_as_int64(&iter) : otherwise;
}

/* json_bson -- BSON from JSON with single quotes; NULL gives an empty document. */
static bson_t *json_bson(const char *json) {
    char *text = bson_strdup(json != NULL ? json : "{}");
    for (char *at = text; *at != '\0'; at++)
        *at = *at == '\'' ? '"' : *at;
    bson_t *doc = bson_new_from_json((const uint8_t *)text, -1, NULL);
    REQUIRE(doc != NULL);
    bson_free(text);
    return doc;
}

/* begin_unique -- the unique index of the case on both collections and in the model. */
static bool begin_unique(update_run *p, int64_t which, bson_t **keys, bson_t **options) {
    const char *options_json = NULL;
    const char *json = which >= 0 ? random_update_unique((unsigned)which, &options_json) : NULL;
    *keys = json_bson(json);
    *options = json_bson(options_json);
    p->unique = (update_model_unique){*keys, *options};
    p->differential.unique = &p->unique;
    p->differential.unique_count = json != NULL;
    if (json == NULL)
        return true;
    for (unsigned i = 0; i < 2; i++) {
        tansu_status status =
            call_index(p->db, NULL, i == 0 ? PLAIN : INDEXED, "unique", json, options_json);
        if (status != TANSU_OK)
            return update_run_note(p, "unique index: %s", call_error.message);
    }
    return true;
}

/* is_plain -- whether matches in the model know all numbers of a document but those of "n". */
static bool is_plain(bson_iter_t *fields) {
    bson_iter_t inner;
    bool plain = true;
    while (plain && bson_iter_next(fields)) {
        if (strcmp(bson_iter_key(fields), "n") == 0)
            continue;
        if (BSON_ITER_HOLDS_DOCUMENT(fields) || BSON_ITER_HOLDS_ARRAY(fields)) {
            REQUIRE(bson_iter_recurse(fields, &inner));
            plain = is_plain(&inner);
        } else if (BSON_ITER_HOLDS_DOUBLE(fields)) {
            plain = !(fabs(bson_iter_double(fields)) >= 0x1p61);
        } else if (BSON_ITER_HOLDS_DECIMAL128(fields)) {
            bson_decimal128_t decimal;
            char text[BSON_DECIMAL128_STRING];
            bson_iter_decimal128(fields, &decimal);
            bson_decimal128_to_string(&decimal, text);
            double real = strtod(text, NULL) * 4096;
            plain = strlen(text) < 14 && fabs(real) < 0x1p50 && real == floor(real);
        }
    }
    return plain;
}

/* goes_on -- whether all documents are still such as the model can look for. */
static bool goes_on(const update_run *p) {
    for (size_t i = 0; i < p->differential.count; i++) {
        bson_iter_t fields;
        if (p->differential.docs[i]->len > GREATEST_DOCUMENT ||
            !bson_iter_init(&fields, p->differential.docs[i]) || !is_plain(&fields))
            return false;
    }
    return true;
}

/* compare_all -- both collections with the model. */
static bool compare_all(update_run *p) {
    return update_run_compare(p, PLAIN) && update_run_compare(p, INDEXED);
}

/* run_parts -- the documents and calls. */
static bool run_parts(update_run *p, const reduction_case *c) {
    for (size_t i = 0; i < c->count && goes_on(p); i++) {
        const reduction_part *part = &c->parts[i];
        if (strcmp(part->role, UPDATE_PLAY_SETUP) == 0)
            continue;
        bson_t *call = bson_new();
        if (strcmp(part->role, UPDATE_PLAY_DOCUMENT) == 0) {
            bson_append_utf8(call, "mode", -1, "insert", -1);
            bson_append_document(call, "update", -1, part->value);
        } else {
            bson_concat(call, part->value);
        }
        bool good = update_run_call(p, call) && compare_all(p) && update_run_settle(p);
        bson_destroy(call);
        p->result->parts = i + 1;
        if (!good || p->result->senseless)
            return good;
    }
    return true;
}

void update_differential(const reduction_case *c, update_differential_result *result) {
    update_run p = {.result = result};
    bson_t *keys, *options, none = BSON_INITIALIZER;
    const bson_t *setup = c->count != 0 ? c->parts[0].value : &none;
    char *folder = number(setup, "persistent", 0) != 0 ? folder_new() : NULL;
    memset(result, 0, sizeof *result);
    p.db = call_open(folder != NULL ? folder_join(folder, "db") : NULL);
    bool good = begin_unique(&p, number(setup, "unique", -1), &keys, &options) &&
                update_run_create_indexes(&p) && run_parts(&p, c);
    if (folder != NULL && good && !result->senseless) {
        call_close(p.db);
        p.db = call_open(folder_join(folder, "db"));
        good = compare_all(&p);
    }
    if (good && !result->senseless && goes_on(&p))
        update_run_query_indexes(&p, (uint64_t)number(setup, "seed", 1));
    call_close(p.db);
    for (size_t i = 0; i < p.differential.count; i++)
        bson_destroy(p.differential.docs[i]);
    bson_free(p.differential.docs);
    bson_destroy(keys);
    bson_destroy(options);
    if (folder != NULL)
        folder_end(folder);
}
