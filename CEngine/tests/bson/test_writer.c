/*
 * test_writer.c -- the writer appends the bytes that libbson does.
 */
#include "bson/writer.h"
#include "support/check.h"
#include "support/random/random_bson.h"

#define DOCUMENTS 20000

static void rewrite(writer *w, const doc_value *document, bool array);

/* rewrite_value -- appends a value by the function for its type, if there is one. */
static void rewrite_value(writer *w, const char *key, const doc_value *value) {
    size_t size, start;
    const char *text;
    switch (value->type) {
    case DOC_DOUBLE: writer_double(w, key, doc_double(value)); break;
    case DOC_STRING:
        text = doc_string(value, &size);
        if (strlen(text) == size)
            writer_string(w, key, text);
        else
            writer_value(w, key, value);
        break;
    case DOC_DOCUMENT:
    case DOC_ARRAY:
        if (value->type == DOC_DOCUMENT && value->size % 2 == 0) {
            writer_document(w, key, value->data, value->size);
            break;
        }
        start = writer_open(w, key, value->type);
        rewrite(w, value, value->type == DOC_ARRAY);
        writer_end(w, start);
        break;
    case DOC_BINARY: writer_binary(w, key, value->data[4], value->data + 5, value->size - 5); break;
    case DOC_BOOL: writer_bool(w, key, doc_bool(value)); break;
    case DOC_NULL: writer_value(w, key, &(doc_value){.type = DOC_MISSING}); break;
    case DOC_INT32: writer_int32(w, key, doc_int32(value)); break;
    case DOC_INT64: writer_int64(w, key, doc_int64(value)); break;
    default: writer_value(w, key, value); break;
    }
}

/* rewrite_item -- appends an element of an array. */
static void rewrite_item(writer *w, uint32_t index, const doc_value *value) {
    if (value->type == DOC_INT64) {
        writer_index_int64(w, index, doc_int64(value));
    } else if (value->type == DOC_DOCUMENT || value->type == DOC_ARRAY) {
        size_t start = writer_open_index(w, index, value->type);
        rewrite(w, value, value->type == DOC_ARRAY);
        writer_end(w, start);
    } else {
        writer_index_value(w, index, value);
    }
}

/* rewrite -- appends the elements of a document or array one by one. */
static void rewrite(writer *w, const doc_value *document, bool array) {
    doc_iter iter;
    uint32_t index = 0;
    for (doc_iter_value(&iter, document); doc_iter_next(&iter); index++) {
        if (array)
            rewrite_item(w, index, &iter.value);
        else
            rewrite_value(w, iter.key, &iter.value);
    }
}

static void documents_have_libbsons_bytes(void) {
    random_source source = random_start(1);
    tansu_buffer out = TANSU_BUFFER_INIT;
    for (int i = 0; i < DOCUMENTS; i++) {
        bson_t *made = random_document(&source);
        doc_value whole = {bson_get_data(made), made->len, DOC_DOCUMENT};
        out.size = 0;
        writer w = {.out = &out};
        size_t start = writer_begin(&w);
        rewrite(&w, &whole, false);
        CHECK(writer_finish(&w, start));
        CHECK_BYTES(whole.data, whole.size, out.data, out.size);
        bson_destroy(made);
    }
    tansu_buffer_free(&out);
}

static void long_arrays_have_libbsons_keys(void) {
    bson_t made = BSON_INITIALIZER, list;
    tansu_buffer out = TANSU_BUFFER_INIT;
    writer w = {.out = &out};
    size_t start = writer_begin(&w), array = writer_open(&w, "list", DOC_ARRAY);
    BSON_APPEND_ARRAY_BEGIN(&made, "list", &list);
    for (uint32_t i = 0; i < 12000; i++) {
        char key[16];
        const char *at;
        size_t length = bson_uint32_to_string(i, &at, key, sizeof key);
        bson_append_int64(&list, at, (int)length, (int64_t)i << 30);
        writer_index_int64(&w, i, (int64_t)i << 30);
    }
    bson_append_array_end(&made, &list);
    writer_end(&w, array);
    CHECK(writer_finish(&w, start));
    CHECK_BYTES(bson_get_data(&made), made.len, out.data, out.size);
    bson_destroy(&made);
    tansu_buffer_free(&out);
}

static void a_document_that_exceeds_the_limit_leaves_the_buffer(void) {
    static const uint8_t before[] = {1, 2, 3};
    tansu_buffer out = TANSU_BUFFER_INIT;
    CHECK(buffer_set(&out, before, sizeof before));
    /* {"text": "0123456789"} has 26 bytes. */
    for (size_t limit = sizeof before + 1; limit <= sizeof before + 30; limit++) {
        writer w = {.out = &out, .limit = limit};
        size_t start = writer_begin(&w);
        writer_string(&w, "text", "0123456789");
        bool fits = limit >= sizeof before + 26;
        CHECK(writer_finish(&w, start) == fits && w.over_limit == !fits);
        CHECK_INT(sizeof before + (fits ? 26 : 0), out.size);
        CHECK(memcmp(out.data, before, sizeof before) == 0);
        out.size = sizeof before;
    }
    tansu_buffer_free(&out);
}

static void a_single_element_replaces_the_content(void) {
    tansu_buffer out = TANSU_BUFFER_INIT;
    uint8_t bytes[4] = {7};
    for (int i = 0; i < 2; i++) {
        CHECK(writer_single(&out, "_id", &(doc_value){bytes, 4, DOC_INT32}));
        CHECK_BYTES("\x0e\0\0\0\x10_id\0\x07\0\0\0", 14, out.data, out.size);
    }
    tansu_buffer_free(&out);
}

int main(void) {
    RUN(documents_have_libbsons_bytes);
    RUN(long_arrays_have_libbsons_keys);
    RUN(a_document_that_exceeds_the_limit_leaves_the_buffer);
    RUN(a_single_element_replaces_the_content);
    return check_finish();
}
