/*
 * fuzz_highlight.c -- searches for words in any text: the input is a search and options as JSON, a
 * line each, and a text. The places and the snippets that are found are in order, do not overlap,
 * and lie within the text.
 */
#include "tansu.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* require -- a failed promise is a finding. */
static void require(int holds) {
    if (!holds)
        abort();
}

/* take_line -- a line as BSON; nothing when it is no JSON. */
static tansu_document take_line(const uint8_t **data, size_t *size, tansu_buffer *bson) {
    const uint8_t *end = *size == 0 ? NULL : memchr(*data, '\n', *size);
    size_t length = end != NULL ? (size_t)(end - *data) : *size;
    tansu_status status = tansu_json_to_bson((const char *)*data, length, bson, NULL);
    *data += end != NULL ? length + 1 : length;
    *size -= end != NULL ? length + 1 : length;
    return status == TANSU_OK ? (tansu_document){bson->data, bson->size} : TANSU_NO_DOCUMENT;
}

/* check_list -- a list of ranges within a part of the text, and those within each of them. */
static void check_list(const bson_iter_t *parent, const char *name, int64_t start, int64_t end) {
    bson_iter_t list, item, member;
    require(bson_iter_recurse(parent, &list) && bson_iter_find(&list, name));
    require(bson_iter_recurse(&list, &item));
    for (int64_t at = start; bson_iter_next(&item);) {
        require(bson_iter_recurse(&item, &member) && bson_iter_find(&member, "start"));
        int64_t first = bson_iter_int64(&member);
        require(bson_iter_find(&member, "end"));
        int64_t last = bson_iter_int64(&member);
        require(at <= first && first < last && last <= end);
        if (strcmp(name, "snippets") == 0)
            check_list(&item, "ranges", first, last);
        at = last;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tansu_buffer search = TANSU_BUFFER_INIT, options = TANSU_BUFFER_INIT;
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_document sought = take_line(&data, &size, &search);
    tansu_document given = take_line(&data, &size, &options);
    if (tansu_highlight(size == 0 ? "" : (const char *)data, size, sought, given, &result, NULL) ==
        TANSU_OK) {
        bson_t doc, outer = BSON_INITIALIZER;
        bson_iter_t iter;
        require(bson_init_static(&doc, result.data, result.size));
        bson_append_document(&outer, "r", 1, &doc);
        require(bson_iter_init_find(&iter, &outer, "r"));
        check_list(&iter, "ranges", 0, (int64_t)size);
        check_list(&iter, "snippets", 0, (int64_t)size);
        bson_destroy(&outer);
    }
    tansu_buffer_free(&search);
    tansu_buffer_free(&options);
    tansu_buffer_free(&result);
    return 0;
}
