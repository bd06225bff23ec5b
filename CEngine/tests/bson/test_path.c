/*
 * test_path.c -- dotted paths: how they are read, and what they find, compared with a plain model.
 */
#include "bson/path.h"
#include "support/check.h"
#include "support/random/random_bson.h"

#include <stdio.h>
#include <stdlib.h>

/* parse -- the status of a path's text, and its parts joined by | when it is fine. */
static tansu_status parse(const char *text, char *parts, size_t size) {
    path path;
    tansu_error error;
    tansu_status status = path_parse(&path, NULL, text, strlen(text), &error);
    parts[0] = '\0';
    if (status != TANSU_OK) {
        CHECK(path.parts == NULL && error.message[0] != '\0');
        return status;
    }
    CHECK_TEXT(text, path.text);
    for (uint32_t i = 0; i < path.count; i++) {
        CHECK_INT(strlen(path.parts[i].name), path.parts[i].size);
        snprintf(parts + strlen(parts), size - strlen(parts), "%s%s", i > 0 ? "|" : "",
                 path.parts[i].name);
    }
    path_free(&path);
    path_free(&path);
    return status;
}

static void texts_are_taken_apart(void) {
    static const struct {
        const char *text, *parts;
    } cases[] = {
        {"a", "a"},
        {"pet.species", "pet|species"},
        {"a.0.b", "a|0|b"},
        {"a\\.b", "a.b"},
        {"a\\.b.c\\\\d", "a.b|c\\d"},
        {"\\.", "."},
        {"é.漢", "é|漢"},
        {"$id", "$id"},
    };
    char parts[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STATUS(TANSU_OK, parse(cases[i].text, parts, sizeof parts));
        CHECK_TEXT(cases[i].parts, parts);
    }
    static const char *const bad[] = {"",    ".",    "a.",    ".a",    "a..b", "\\",
                                      "a\\", "a\\b", "a.\\n", "a\\..", "..."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (!CHECK_STATUS(TANSU_E_INVALID_QUERY, parse(bad[i], parts, sizeof parts)))
            check_note("    %s", bad[i]);
    }
    path path;
    CHECK_STATUS(TANSU_E_INVALID_QUERY, path_parse(&path, NULL, "a\0b", 3, NULL));
}

static void parts_and_positions_are_bounded(void) {
    char text[4 * TANSU_MAX_DEPTH + 4];
    path path;
    for (int parts = TANSU_MAX_DEPTH - 1; parts <= TANSU_MAX_DEPTH + 1; parts++) {
        for (int i = 0; i < parts; i++)
            memcpy(text + 2 * i, "a.", 3);
        tansu_status status = path_parse(&path, NULL, text, (size_t)parts * 2 - 1, NULL);
        CHECK_STATUS(parts <= TANSU_MAX_DEPTH ? TANSU_OK : TANSU_E_INVALID_QUERY, status);
        path_free(&path);
    }
    for (int parts = PATH_MAX_INDEXES; parts <= PATH_MAX_INDEXES + 1; parts++) {
        for (int i = 0; i < parts; i++)
            memcpy(text + 2 * i, "0.", 3);
        tansu_status status = path_parse(&path, NULL, text, (size_t)parts * 2 - 1, NULL);
        CHECK_STATUS(parts <= PATH_MAX_INDEXES ? TANSU_OK : TANSU_E_INVALID_QUERY, status);
        path_free(&path);
    }
}

static void array_positions_are_plain_decimals(void) {
    static const struct {
        const char *text;
        int32_t index;
    } cases[] = {{"0", 0},           {"7", 7},   {"10", 10}, {"2147483647", INT32_MAX},
                 {"2147483648", -1}, {"00", -1}, {"01", -1}, {"-1", -1},
                 {"1a", -1},         {"+1", -1}, {" 1", -1}, {"99999999999", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        path path;
        CHECK_OK(path_parse(&path, NULL, cases[i].text, strlen(cases[i].text), NULL), NULL);
        CHECK_INT(cases[i].index, path.parts[0].index);
        path_free(&path);
    }
}

/* What a walk showed: types and places. */
enum { MOST_SHOWN = 20000 };
typedef struct shown {
    uint32_t count;
    uint32_t stop_after;
    struct {
        uint8_t type;
        const uint8_t *data;
        uint32_t size;
    } values[MOST_SHOWN];
} shown;

/* note_value -- a visitor that takes note. */
static bool note_value(void *context, const doc_value *value) {
    shown *shown = context;
    REQUIRE(shown->count < MOST_SHOWN);
    shown->values[shown->count].type = value->type;
    shown->values[shown->count].data = value->data;
    shown->values[shown->count++].size = value->size;
    return shown->count < shown->stop_after;
}

/* model_show -- what the model shows; NULL is a missing value. */
static void model_show(shown *shown, const bson_iter_t *iter) {
    doc_value value = {NULL, 0, DOC_MISSING};
    if (iter != NULL) {
        value.type = (uint8_t)bson_iter_type(iter);
        /* libbson's iterator keeps where the value begins and where the next element does. */
        value.data = iter->raw + iter->d1;
        value.size = iter->next_off - iter->d1;
        if (value.size == 0)
            value.data = NULL;
    }
    note_value(shown, &value);
}

static void model_array(shown *shown, bson_iter_t *array, char *const *parts, int left);

/* model_document -- the model: a recursion over libbson's iterators that follows the header's
 * words. `left` counts the parts from `parts` on. */
static void model_document(shown *shown, bson_iter_t *doc, char *const *parts, int left) {
    while (bson_iter_next(doc)) {
        if (strcmp(bson_iter_key(doc), parts[0]) != 0)
            continue;
        bson_iter_t inner;
        if (left == 1)
            model_show(shown, doc);
        else if (BSON_ITER_HOLDS_DOCUMENT(doc) && bson_iter_recurse(doc, &inner))
            model_document(shown, &inner, parts + 1, left - 1);
        else if (BSON_ITER_HOLDS_ARRAY(doc) && bson_iter_recurse(doc, &inner))
            model_array(shown, &inner, parts + 1, left - 1);
        else
            model_show(shown, NULL);
        return;
    }
    model_show(shown, NULL);
}

/* model_array -- the model's way through an array. */
static void model_array(shown *shown, bson_iter_t *array, char *const *parts, int left) {
    for (int position = 0; bson_iter_next(array); position++) {
        char name[16];
        bson_iter_t inner;
        snprintf(name, sizeof name, "%d", position);
        if (BSON_ITER_HOLDS_DOCUMENT(array) && bson_iter_recurse(array, &inner))
            model_document(shown, &inner, parts, left);
        if (strcmp(name, parts[0]) != 0)
            continue;
        if (left == 1)
            model_show(shown, array);
        else if (BSON_ITER_HOLDS_DOCUMENT(array) && bson_iter_recurse(array, &inner))
            model_document(shown, &inner, parts + 1, left - 1);
        else if (BSON_ITER_HOLDS_ARRAY(array) && bson_iter_recurse(array, &inner))
            model_array(shown, &inner, parts + 1, left - 1);
    }
}

/* same_shown -- whether walk and model showed the same. */
static bool same_shown(const shown *a, const shown *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->values[i].type != b->values[i].type || a->values[i].size != b->values[i].size ||
            (a->values[i].size != 0 && a->values[i].data != b->values[i].data))
            return false;
    }
    return true;
}

/* random_path -- up to four parts, their text, and the parts as the model wants them. */
static int random_path(random_source *source, char *text, char **parts) {
    static char *const names[] = {"a", "a", "b", "b", "c", "c", "aa", "0", "0", "1", "é", "city"};
    int count = (int)random_between(source, 1, 4);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        parts[i] = names[random_below(source, sizeof names / sizeof *names)];
        snprintf(text + strlen(text), 16, "%s%s", i > 0 ? "." : "", parts[i]);
    }
    return count;
}

static void walks_show_what_the_model_shows(void) {
    static shown walked, modelled;
    random_source source = random_start(1);
    unsigned several = 0;
    unsigned found_deep = 0;
    for (int i = 0; i < 60000; i++) {
        char text[80];
        char *parts[4];
        path path;
        int count = random_path(&source, text, parts);
        bson_t *doc = random_document(&source);
        CHECK_OK(path_parse(&path, NULL, text, strlen(text), NULL), NULL);

        walked.count = modelled.count = 0;
        walked.stop_after = modelled.stop_after = UINT32_MAX;
        bool through_array = false;
        bson_iter_t iter;
        REQUIRE(bson_iter_init(&iter, doc));
        model_document(&modelled, &iter, parts, count);
        CHECK(path_walk(&path, bson_get_data(doc), doc->len, note_value, &walked, &through_array));
        if (!CHECK(same_shown(&walked, &modelled)))
            check_note("    path %s", text);
        several += walked.count > 1;
        found_deep += count > 1 && walked.count >= 1 && walked.values[0].type != DOC_MISSING;

        doc_value value;
        bool plain = path_get(&path, bson_get_data(doc), doc->len, &value);
        CHECK(plain == !through_array);
        if (plain) {
            CHECK_INT(1, walked.count);
            CHECK(value.type == walked.values[0].type && value.data == walked.values[0].data &&
                  value.size == walked.values[0].size);
        }
        if (walked.count > 0) {
            walked.stop_after = (uint32_t)random_between(&source, 1, walked.count);
            walked.count = 0;
            CHECK(!path_walk(&path, bson_get_data(doc), doc->len, note_value, &walked, NULL));
            CHECK_INT(walked.stop_after, walked.count);
        }
        path_free(&path);
        bson_destroy(doc);
    }
    if (!CHECK(several > 200 && found_deep > 200))
        check_note("    several %u, found deep %u", several, found_deep);
}

/* shown_types -- the types that a path shows in a JSON document, as hex. */
static void shown_types(const char *json, const char *text, const char *expected) {
    static shown walked;
    char types[64] = "";
    path path;
    bson_t *doc = bson_new_from_json((const uint8_t *)json, -1, NULL);
    REQUIRE(doc != NULL && path_parse(&path, NULL, text, strlen(text), NULL) == TANSU_OK);
    walked.count = 0;
    walked.stop_after = UINT32_MAX;
    path_walk(&path, bson_get_data(doc), doc->len, note_value, &walked, NULL);
    for (uint32_t i = 0; i < walked.count && i < 16; i++)
        snprintf(types + strlen(types), 4, "%02X ", walked.values[i].type);
    if (!CHECK_TEXT(expected, types))
        check_note("    %s in %s", text, json);
    path_free(&path);
    bson_destroy(doc);
}

static void walks_follow_the_rules(void) {
    shown_types("{\"a\": 1}", "a", "10 ");
    shown_types("{\"a\": 1}", "b", "00 ");
    shown_types("{\"a\": 1}", "a.b", "00 ");
    shown_types("{\"a\": null}", "a", "0A ");
    shown_types("{\"a\": [1, \"x\"]}", "a", "04 ");
    shown_types("{\"a\": [1, \"x\"]}", "a.1", "02 ");
    shown_types("{\"a\": [1, \"x\"]}", "a.2", "");
    shown_types("{\"a\": []}", "a.b", "");
    shown_types("{\"a\": [1, [2]]}", "a.b", "");
    shown_types("{\"a\": [{\"b\": 1}, 5, {\"c\": 1}, {\"b\": true}]}", "a.b", "10 00 08 ");
    shown_types("{\"a\": [{\"b\": 1}, {\"b\": true}]}", "a.1.b", "00 00 08 ");
    shown_types("{\"a\": [[{\"b\": 1}]]}", "a.0.b", "10 ");
    shown_types("{\"a\": [5]}", "a.0.b", "");
    shown_types("{\"a\": {\"b\": {\"c\": true}}}", "a.b.c", "08 ");
    shown_types("{\"a.b\": true}", "a\\.b", "08 ");
    shown_types("{\"a.b\": true}", "a.b", "00 ");
}

/* Bytes that no check has seen. */
static void damaged_documents_are_walked_within_their_bounds(void) {
    static shown walked;
    random_source source = random_start(2);
    for (int i = 0; i < 30000; i++) {
        char text[80];
        char *parts[4];
        path path;
        doc_value value;
        random_path(&source, text, parts);
        bson_t *doc = random_document(&source);
        uint8_t *copy = malloc(doc->len);
        REQUIRE(copy != NULL);
        memcpy(copy, bson_get_data(doc), doc->len);
        for (int n = 0; n < 3; n++)
            copy[random_below(&source, doc->len)] = (uint8_t)random_next(&source);
        CHECK_OK(path_parse(&path, NULL, text, strlen(text), NULL), NULL);
        walked.count = 0;
        walked.stop_after = UINT32_MAX;
        path_walk(&path, copy, doc->len, note_value, &walked, NULL);
        path_get(&path, copy, doc->len, &value);
        for (uint32_t k = 0; k < walked.count; k++)
            CHECK(walked.values[k].data == NULL ||
                  (walked.values[k].data >= copy &&
                   walked.values[k].data + walked.values[k].size <= copy + doc->len));
        path_free(&path);
        free(copy);
        bson_destroy(doc);
    }
}

int main(void) {
    RUN(texts_are_taken_apart);
    RUN(parts_and_positions_are_bounded);
    RUN(array_positions_are_plain_decimals);
    RUN(walks_show_what_the_model_shows);
    RUN(walks_follow_the_rules);
    RUN(damaged_documents_are_walked_within_their_bounds);
    return check_finish();
}
