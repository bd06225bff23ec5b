/*
 * test_index_entries.c -- index definitions, and the entries that a document has in an index, held
 * against a plain model.
 */
#include "bson/key_decode.h"
#include "index/definition.h"
#include "index/type_tag.h"
#include "support/check.h"
#include "support/random/random_bson.h"
#include "util/buffer.h"
#include "util/bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* define -- a definition from JSON texts; options may be NULL. */
static tansu_status define(const char *name, const char *keys, const char *options,
                           index_definition **definition, tansu_error *error) {
    bson_error_t reason;
    bson_t *keys_doc = bson_new_from_json((const uint8_t *)keys, -1, &reason);
    REQUIRE(keys_doc != NULL);
    bson_t *options_doc =
        options != NULL ? bson_new_from_json((const uint8_t *)options, -1, &reason) : NULL;
    REQUIRE(options == NULL || options_doc != NULL);
    *definition = NULL;
    tansu_status status =
        index_definition_parse(name, bson_get_data(keys_doc), keys_doc->len,
                               options_doc != NULL ? bson_get_data(options_doc) : NULL,
                               options_doc != NULL ? options_doc->len : 0, definition, error);
    CHECK((status == TANSU_OK) == (*definition != NULL));
    bson_destroy(keys_doc);
    if (options_doc != NULL)
        bson_destroy(options_doc);
    return status;
}

static void definitions_are_read(void) {
    index_definition *definition, *other;
    tansu_error error;
    CHECK_OK(define(NULL, "{\"name\": 1, \"address.city\": -1}", NULL, &definition, &error),
             &error);
    CHECK_TEXT("name_1_address.city_-1", definition->name);
    CHECK_INT(2, definition->path_count);
    CHECK(!definition->descending[0] && definition->descending[1] && !definition->unique);
    CHECK_INT(2, definition->paths[1].count);

    tansu_buffer bson = TANSU_BUFFER_INIT;
    bson_t *keys = BCON_NEW("name", BCON_INT32(1), "address.city", BCON_INT32(-1));
    writer w = {.out = &bson};
    index_definition_keys(definition, &w);
    CHECK(!w.failed);
    CHECK_BYTES(bson_get_data(keys), keys->len, bson.data, bson.size);
    bson_destroy(keys);
    tansu_buffer_free(&bson);

    static const struct {
        bool equal;
        const char *keys, *options;
    } others[] = {
        {true, "{\"name\": 1.0, \"address.city\": {\"$numberLong\": \"-1\"}}",
         "{\"unique\": false}"},
        {true, "{\"name\": {\"$numberDecimal\": \"1.0\"}, \"address.city\": -1}", "{}"},
        {false, "{\"name\": 1, \"address.city\": -1}", "{\"unique\": true}"},
        {false, "{\"name\": 1, \"address.city\": 1}", NULL},
        {false, "{\"name\": 1}", NULL},
        {false, "{\"address.city\": -1, \"name\": 1}", NULL},
        {false, "{\"name\": 1, \"address\\\\.city\": -1}", NULL},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        CHECK_OK(define("other", others[i].keys, others[i].options, &other, &error), &error);
        CHECK_TEXT("other", other->name);
        CHECK(index_definition_equal(definition, other) == others[i].equal);
        index_definition_free(other);
    }
    index_definition_free(definition);
    index_definition_free(NULL);
}

static void definitions_that_make_no_sense_are_refused(void) {
    static const char long_name[] =
        "0123456789012345678901234567890123456789012345678901234567890123456789"
        "01234567890123456789012345678901234567890123456789x"; /* 121 bytes */
    static const struct {
        tansu_status status;
        const char *name, *keys, *options;
    } cases[] = {
        {TANSU_E_INVALID_INDEX, "n", "{}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"a\": 2}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"a\": \"1\"}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"a\": true}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"a\": 0.5}", NULL},
        {TANSU_OK, "n", "{\"a\": 1.5}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"a\": 1, \"b\": 1, \"a\": -1}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"a..b\": 1}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"\": 1}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"*\": 1}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"$a\": 1}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"$b\": 1}", NULL},
        {TANSU_OK, "n", "{\"a.$b\": 1}", NULL},
        {TANSU_OK, "n", "{\"a.$id\": 1}", NULL},
        {TANSU_E_INVALID_INDEX, "n", "{\"a\": 1}", "{\"sparkling\": true}"},
        {TANSU_E_INVALID_INDEX, "n", "{\"a\": 1}", "{\"unique\": \"yes\"}"},
        {TANSU_E_INVALID_NAME, long_name, "{\"a\": 1}", NULL},
        {TANSU_OK, long_name + 1, "{\"a\": 1}", NULL},
        {TANSU_E_INVALID_NAME, "a\nb", "{\"a\": 1}", NULL},
        {TANSU_E_INVALID_NAME, "\xE9", "{\"a\": 1}", NULL},
        {TANSU_OK, "né", "{\"a\": 1}", NULL},
        {TANSU_OK, "n",
         "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,"
         "\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1}",
         NULL},
        {TANSU_E_TOO_LARGE, "n",
         "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,"
         "\"k\":1,\"l\":1,\"m\":1,\"n\":1,\"o\":1,\"p\":1,\"q\":1}",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        index_definition *definition;
        tansu_error error;
        tansu_status status =
            define(cases[i].name, cases[i].keys, cases[i].options, &definition, &error);
        if (!CHECK_STATUS(cases[i].status, status))
            check_note("    %s", cases[i].keys);
        CHECK(status == TANSU_OK || error.code == status);
        index_definition_free(definition);
    }
    char keys[300];
    index_definition *definition;
    snprintf(keys, sizeof keys, "{\"%s\": 1}", long_name);
    CHECK_STATUS(TANSU_E_INVALID_NAME, define("", keys, NULL, &definition, NULL));
    CHECK_STATUS(TANSU_E_INVALID_INDEX,
                 index_definition_parse("n", NULL, 0, NULL, 0, &definition, NULL));
}

/* The model's entries: byte strings, sorted at the end. */
enum { MOST_ENTRIES = 20000 };
typedef struct model {
    tansu_buffer entries[MOST_ENTRIES];
    uint32_t count;
    bool multikey;
} model;

/* The keys of one path in the model. */
typedef struct model_keys {
    tansu_buffer keys[200];
    uint32_t count;
    bool descending;
    model *model;
} model_keys;

/* model_key -- adds a key. */
static void model_key(model_keys *keys, const doc_value *value) {
    REQUIRE(keys->count < 200);
    REQUIRE(value_key(&keys->keys[keys->count++], value, keys->descending));
}

/* model_visit -- a visitor that adds a value and, of an array, the elements. */
static bool model_visit(void *context, const doc_value *value) {
    model_keys *keys = context;
    model_key(keys, value);
    doc_iter iter;
    if (value->type == DOC_ARRAY) {
        keys->model->multikey = true;
        REQUIRE(doc_iter_value(&iter, value));
        while (doc_iter_next(&iter))
            model_key(keys, &iter.value);
    }
    return true;
}

/* model_combine -- all combinations from a path on, after what the paths before it gave. */
static void model_combine(model *model, const model_keys *keys, uint32_t paths,
                          const tansu_buffer *beginning, uint64_t rid) {
    if (paths == 0) {
        uint8_t tail[RID_SUFFIX_SIZE];
        suffix_put(tail, rid, 0);
        REQUIRE(model->count < MOST_ENTRIES);
        tansu_buffer *entry = &model->entries[model->count++];
        REQUIRE(buffer_set(entry, beginning->data, beginning->size));
        REQUIRE(buffer_append(entry, tail, sizeof tail));
        return;
    }
    for (uint32_t i = 0; i < keys->count; i++) {
        tansu_buffer longer = TANSU_BUFFER_INIT;
        REQUIRE(buffer_set(&longer, beginning->data, beginning->size));
        REQUIRE(buffer_append(&longer, keys->keys[i].data, keys->keys[i].size));
        model_combine(model, keys + 1, paths - 1, &longer, rid);
        tansu_buffer_free(&longer);
    }
}

/* compare_buffers -- for qsort(). */
static int compare_buffers(const void *a, const void *b) {
    const tansu_buffer *first = a;
    const tansu_buffer *second = b;
    size_t common = first->size < second->size ? first->size : second->size;
    int order = memcmp(first->data, second->data, common);
    return order != 0 ? order : (first->size > second->size) - (first->size < second->size);
}

/* model_make -- the model's entries of a document: every combination, then sorted, then made
 * unique. False when there are too many for it. */
static bool model_make(model *model, const index_definition *definition, const bson_t *doc,
                       uint64_t rid) {
    static model_keys keys[TANSU_MAX_INDEX_PATHS];
    static const uint8_t nothing[2] = {KIND_NOTHING, 0xFF ^ KIND_NOTHING};
    size_t combinations = 1;
    model->count = 0;
    model->multikey = false;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        for (uint32_t k = 0; k < keys[i].count; k++)
            tansu_buffer_free(&keys[i].keys[k]);
        keys[i].count = 0;
        keys[i].model = model;
        keys[i].descending = definition->descending[i];
        bool through_array;
        path_walk(&definition->paths[i], bson_get_data(doc), doc->len, model_visit, &keys[i],
                  &through_array);
        model->multikey = model->multikey || through_array;
        if (keys[i].count == 0)
            REQUIRE(buffer_set(&keys[i].keys[keys[i].count++], &nothing[keys[i].descending], 1));
        combinations *= keys[i].count;
    }
    if (combinations > MOST_ENTRIES)
        return false;
    tansu_buffer empty = TANSU_BUFFER_INIT;
    model_combine(model, keys, definition->path_count, &empty, rid);
    qsort(model->entries, model->count, sizeof *model->entries, compare_buffers);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        if (kept == 0 || compare_buffers(&model->entries[kept - 1], &model->entries[i]) != 0) {
            tansu_buffer swapped = model->entries[kept];
            model->entries[kept++] = model->entries[i];
            model->entries[i] = swapped;
        }
    }
    model->count = kept;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        for (uint32_t k = 0; k < keys[i].count; k++)
            tansu_buffer_free(&keys[i].keys[k]);
        keys[i].count = 0;
    }
    return true;
}

/* reports_all -- whether a value is of a kind that comes back from its key. */
static bool reports_all(const doc_value *value) {
    static const uint8_t types[] = {DOC_STRING,  DOC_BINARY,    DOC_OID,   DOC_BOOL,
                                    DOC_DATE,    DOC_TIMESTAMP, DOC_NULL,  DOC_MIN_KEY,
                                    DOC_MAX_KEY, DOC_INT32,     DOC_INT64, DOC_DOUBLE};
    if (value->type == DOC_DOUBLE &&
        (isnan(doc_double(value)) || (doc_double(value) == 0 && signbit(doc_double(value)))))
        return false;
    return memchr(types, value->type, sizeof types) != NULL;
}

/* gives_back -- an entry's keys end where they say, and with a form they give back all values, and
 * their order in the document. Returns whether it has one. */
static bool gives_back(const index_definition *d, const uint8_t *doc, size_t doc_size,
                       const uint8_t *entry, size_t size) {
    const uint8_t *key = entry, *tail = entry + size - RID_SUFFIX_SIZE;
    type_tag_reader form = type_tag_read(suffix_type_tag(tail));
    doc_value values[TANSU_MAX_INDEX_PATHS];
    uint8_t order[TANSU_MAX_INDEX_PATHS];
    bool possible = true, has = suffix_type_tag(tail) != 0;
    unsigned numbers = 0;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    for (uint32_t i = 0; i < d->path_count; i++) {
        possible = path_get(&d->paths[i], doc, doc_size, &values[i]) && reports_all(&values[i]) &&
                   possible;
        numbers += doc_is_number(&values[i]);
        size_t used = value_key_size(key, (size_t)(tail - key), d->descending[i]);
        CHECK(used != 0);
        for (size_t cut = 0; cut < used; cut += cut < 20 ? 1 : used / 3)
            CHECK(value_key_size(key, cut, d->descending[i]) == 0);
        if (has && CHECK(possible)) {
            uint8_t type, number = DOC_INT32;
            if (value_key_is_number(key, d->descending[i]))
                number = type_tag_number(&form);
            bytes.size = 0;
            CHECK_INT(used, value_key_decode(key, used, d->descending[i], number, &type, &bytes));
            CHECK_INT(values[i].type, type);
            CHECK_BYTES(values[i].data, values[i].size, bytes.data, bytes.size);
        }
        key += used;
    }
    CHECK(key == tail);
    if (has && CHECK(type_tag_order(&form, d->path_count, order))) {
        for (uint32_t i = 1; i < d->path_count; i++)
            CHECK(values[order[i - 1]].data < values[order[i]].data);
    }
    /* Up to two values always have a form. */
    if (d->path_count <= 2)
        CHECK(has == possible);
    CHECK(!has || numbers < 8);
    tansu_buffer_free(&bytes);
    return has;
}

static void entries_are_the_models(void) {
    static model model;
    static const char *const definitions[] = {
        "{\"a\": 1}",
        "{\"a\": -1}",
        "{\"a.b\": 1}",
        "{\"a.0\": 1}",
        "{\"a\": 1, \"b\": -1}",
        "{\"a.a\": -1, \"b\": 1, \"c\": 1}",
        "{\"a\": 1, \"a.0\": 1, \"a.a\": 1, \"aa\": -1}",
    };
    random_source source = random_start(1);
    index_entries entries = {.count = 0};
    unsigned several = 0, forms = 0;
    for (size_t d = 0; d < sizeof definitions / sizeof *definitions; d++) {
        index_definition *definition;
        tansu_error error;
        CHECK_OK(define("", definitions[d], NULL, &definition, &error), &error);
        for (int i = 0; i < 4000; i++) {
            bson_t *doc = random_document(&source);
            uint64_t rid = random_next(&source) & MAX_RID;
            REQUIRE(model_make(&model, definition, doc, rid));
            CHECK_OK(
                index_entries_make(&entries, definition, bson_get_data(doc), doc->len, rid, &error),
                &error);
            bool same = CHECK_INT(model.count, entries.count);
            same &= CHECK(model.multikey == entries.multikey);
            for (uint32_t k = 0; same && k < entries.count; k++) {
                uint8_t *entry = entries.bytes.data + entries.list[k].offset;
                size_t size = entries.list[k].size;
                forms += gives_back(definition, bson_get_data(doc), doc->len, entry, size);
                entry[size - 1] &= (uint8_t)~TYPE_TAG_MASK; /* the model knows of no forms */
                same &= CHECK_BYTES(model.entries[k].data, model.entries[k].size, entry, size);
                same &= CHECK(suffix_rid(entry + size - RID_SUFFIX_SIZE) == rid);
            }
            if (!same)
                check_note("    index %s", definitions[d]);
            several += entries.count > 1;
            bson_destroy(doc);
        }
        index_definition_free(definition);
    }
    CHECK(several > 1000);
    CHECK(forms > 1000);
    index_entries_free(&entries);
    for (uint32_t i = 0; i < MOST_ENTRIES; i++)
        tansu_buffer_free(&model.entries[i]);
}

/* comes_back -- whether a number's key gives it back, in both directions. */
static bool comes_back(uint8_t type, const void *data, uint32_t size) {
    doc_value value = {data, size, type};
    tansu_buffer key = TANSU_BUFFER_INIT, bytes = TANSU_BUFFER_INIT;
    bool same = true;
    for (int descending = 0; descending < 2; descending++) {
        uint8_t found;
        key.size = bytes.size = 0;
        REQUIRE(value_key(&key, &value, descending));
        same = same && value_key_size(key.data, key.size, descending) == key.size &&
               value_key_decode(key.data, key.size, descending, type, &found, &bytes) == key.size &&
               bytes.size == size && memcmp(bytes.data, data, size) == 0 && found == type;
        for (size_t cut = 0; cut < key.size; cut++) {
            bytes.size = 0;
            same = same && value_key_decode(key.data, cut, descending, type, &found, &bytes) == 0;
        }
    }
    tansu_buffer_free(&key);
    tansu_buffer_free(&bytes);
    return same;
}

static void numbers_come_back_from_their_keys(void) {
    random_source source = random_start(3);
    static const int64_t odd[] = {0,
                                  1,
                                  -1,
                                  INT32_MAX,
                                  INT32_MIN,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MIN + 1,
                                  ((int64_t)1 << 53) + 1,
                                  -((int64_t)1 << 53) - 1,
                                  1000000000000000001,
                                  9007199254740993000,
                                  9100000000000000001};
    static const double doubles[] = {0.0, 1.5, -1.5, 1e300, -1e-300, 5e-324, INFINITY, -INFINITY};
    for (int i = 0; i < 20000; i++) {
        bool listed = i < (int)(sizeof odd / sizeof *odd);
        int64_t wide = listed ? odd[i] : (int64_t)random_next(&source) >> random_below(&source, 64);
        int32_t narrow = (int32_t)wide;
        double real;
        memcpy(&real, &wide, 8);
        if (i < (int)(sizeof doubles / sizeof *doubles))
            real = doubles[i];
        bool same = CHECK(comes_back(DOC_INT64, &wide, 8));
        same &= CHECK(comes_back(DOC_INT32, &narrow, 4));
        same &= CHECK(isnan(real) || comes_back(DOC_DOUBLE, &real, 8));
        if (!same)
            check_note("    of %lld and %a", (long long)wide, real);
    }
}

/* Long arrays, in an order that a sort has to work on. */
static void long_arrays_come_out_sorted_and_once_each(void) {
    index_definition *definition;
    CHECK_OK(define("", "{\"a\": 1}", NULL, &definition, NULL), NULL);
    random_source source = random_start(2);
    index_entries entries = {.count = 0};
    for (uint32_t length = 0; length < 9000; length = length * 3 + 5) {
        bson_t doc = BSON_INITIALIZER, array;
        static bool seen[6000];
        memset(seen, 0, sizeof seen);
        uint32_t different = 0;
        bson_append_array_begin(&doc, "a", 1, &array);
        for (uint32_t i = 0; i < length; i++) {
            uint32_t number = (uint32_t)random_below(&source, 6000);
            different += !seen[number];
            seen[number] = true;
            bson_append_int32(&array, "x", 1, (int32_t)number);
        }
        bson_append_array_end(&doc, &array);
        CHECK_OK(index_entries_make(&entries, definition, bson_get_data(&doc), doc.len, 1, NULL),
                 NULL);
        CHECK_INT(different + 1, entries.count);
        CHECK(entries.multikey);
        for (uint32_t i = 1; i < entries.count; i++) {
            tansu_buffer a = {entries.bytes.data + entries.list[i - 1].offset,
                              entries.list[i - 1].size, 0};
            tansu_buffer b = {entries.bytes.data + entries.list[i].offset, entries.list[i].size, 0};
            CHECK(compare_buffers(&a, &b) < 0);
        }
        bson_destroy(&doc);
    }
    index_entries_free(&entries);
    index_definition_free(definition);
}

/* make_arrays -- the status for two arrays of this many numbers, each text of `size` bytes. */
static tansu_status make_arrays(uint32_t first, uint32_t second, uint32_t size, uint32_t *count) {
    static char text[200001];
    memset(text, 'x', sizeof text);
    bson_t doc = BSON_INITIALIZER;
    index_definition *definition;
    REQUIRE(define("both", "{\"a\": 1, \"b\": -1}", NULL, &definition, NULL) == TANSU_OK);
    for (int side = 0; side < 2; side++) {
        bson_t array;
        bson_append_array_begin(&doc, side ? "b" : "a", 1, &array);
        for (uint32_t i = 0; i < (side ? second : first); i++) {
            if (size == 0) {
                bson_append_int32(&array, "x", 1, (int32_t)i);
            } else {
                snprintf(text, 9, "%08x", i);
                text[8] = 'x';
                bson_append_utf8(&array, "x", 1, text, (int)size);
            }
        }
        bson_append_array_end(&doc, &array);
    }
    index_entries entries = {.count = 0};
    tansu_error error;
    tansu_status status =
        index_entries_make(&entries, definition, bson_get_data(&doc), doc.len, 7, &error);
    if (status != TANSU_OK)
        CHECK_TEXT("both", error.context);
    *count = entries.count;
    index_entries_free(&entries);
    index_definition_free(definition);
    bson_destroy(&doc);
    return status;
}

static void entries_of_one_document_are_bounded(void) {
    uint32_t count;
    CHECK_STATUS(TANSU_OK, make_arrays(99, 99, 0, &count));
    CHECK_INT(100 * 100, count);
    CHECK_STATUS(TANSU_E_TOO_LARGE, make_arrays(99, 100, 0, &count));
    CHECK_STATUS(TANSU_E_TOO_LARGE, make_arrays(10000, 0, 0, &count));
    CHECK_STATUS(TANSU_OK, make_arrays(9999, 0, 0, &count));
    /* few entries, but each of hundreds of kilobytes */
    CHECK_STATUS(TANSU_OK, make_arrays(5, 5, 200000, &count));
    CHECK_STATUS(TANSU_E_TOO_LARGE, make_arrays(30, 30, 200000, &count));
}

/* What a path through an empty array yields stands before null, in an ascending index. */
static void nothing_missing_and_null_differ_as_documented(void) {
    static const char *const docs[] = {"{\"a\": []}", "{\"a\": null}", "{\"b\": 1}",
                                       "{\"a\": [{}]}"};
    static const uint8_t kinds[] = {KIND_NOTHING, KIND_NULL, KIND_NULL, KIND_NULL};
    index_definition *definition;
    index_entries entries = {.count = 0};
    CHECK_OK(define("", "{\"a.b\": 1}", NULL, &definition, NULL), NULL);
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        bson_t *doc = bson_new_from_json((const uint8_t *)docs[i], -1, NULL);
        CHECK_OK(index_entries_make(&entries, definition, bson_get_data(doc), doc->len, 1, NULL),
                 NULL);
        CHECK_INT(1, entries.count);
        uint8_t expected[6] = {kinds[i], 0, 0, 0, 0, 1 << TYPE_TAG_BITS};
        CHECK_BYTES(expected, 6, entries.bytes.data + entries.list[0].offset, entries.list[0].size);
        bson_destroy(doc);
    }
    index_entries_free(&entries);
    index_definition_free(definition);
}

static void successors_end_the_range_of_a_beginning(void) {
    static const struct {
        const char *key, *successor;
        size_t size, successor_size;
    } cases[] = {{"a", "b", 1, 1},
                 {"a\xFF", "b", 2, 1},
                 {"a\x00\xFF\xFF", "a\x01", 4, 2},
                 {"\xFE\xFF", "\xFF", 2, 1}};
    tansu_buffer key = TANSU_BUFFER_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        REQUIRE(buffer_set(&key, cases[i].key, cases[i].size));
        CHECK(key_successor(&key));
        CHECK_BYTES(cases[i].successor, cases[i].successor_size, key.data, key.size);
    }
    REQUIRE(buffer_set(&key, "\xFF\xFF", 2));
    CHECK(!key_successor(&key));
    key.size = 0;
    CHECK(!key_successor(&key));
    tansu_buffer_free(&key);
}

int main(void) {
    RUN(definitions_are_read);
    RUN(definitions_that_make_no_sense_are_refused);
    RUN(entries_are_the_models);
    RUN(numbers_come_back_from_their_keys);
    RUN(long_arrays_come_out_sorted_and_once_each);
    RUN(entries_of_one_document_are_bounded);
    RUN(nothing_missing_and_null_differ_as_documented);
    RUN(successors_end_the_range_of_a_beginning);
    return check_finish();
}
