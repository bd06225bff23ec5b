/*
 * fuzz_json.c -- any bytes read as JSON: what is accepted is valid BSON, and is the same after it
 * is written and read again; so is its relaxed text after one round trip. Bytes that are valid BSON
 * are written without an error.
 */
#include "tansu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* require -- a failed promise is a finding. */
static void require(int holds) {
    if (!holds)
        abort();
}

/* round_trip -- writes a document and reads it again. */
static void round_trip(const tansu_buffer *bson, int canonical, tansu_buffer *text,
                       tansu_buffer *again) {
    require(tansu_bson_to_json((tansu_document){bson->data, bson->size}, canonical, text, NULL) ==
            TANSU_OK);
    require(strlen((const char *)text->data) == text->size);
    require(tansu_json_to_bson((const char *)text->data, text->size, again, NULL) == TANSU_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tansu_buffer first = TANSU_BUFFER_INIT, second = TANSU_BUFFER_INIT, third = TANSU_BUFFER_INIT;
    tansu_buffer text = TANSU_BUFFER_INIT;
    tansu_error error;
    if (tansu_json_to_bson((const char *)data, size, &first, &error) == TANSU_OK) {
        round_trip(&first, 1, &text, &second);
        require(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
        /* Relaxed text loses the width of numbers, once. */
        round_trip(&first, 0, &text, &second);
        round_trip(&second, 0, &text, &third);
        require(second.size == third.size && memcmp(second.data, third.data, second.size) == 0);
    } else {
        require(error.offset >= 0 && (size_t)error.offset <= size);
    }
    tansu_bson_to_json((tansu_document){data, size}, 1, &text, NULL);
    tansu_buffer_free(&first);
    tansu_buffer_free(&second);
    tansu_buffer_free(&third);
    tansu_buffer_free(&text);
    return 0;
}
