/*
 * api/json.c -- the public calls between BSON and JSON.
 */
#include "api/json.h"

#include "base/buffer.h"
#include "base/error.h"

/* tansu_json_to_bson -- one JSON object to BSON. */
tansu_status tansu_json_to_bson(const char *json, size_t length, tansu_buffer *result,
                                tansu_error *error) {
    if (result == NULL || (json == NULL && length != 0))
        return error_set(error, TANSU_E_MISUSE, NULL, "A text and a buffer are needed.");
    if (length == SIZE_MAX)
        length = strlen(json);
    return json_read(json != NULL ? json : "", length, TANSU_MAX_DOCUMENT_SIZE, TANSU_MAX_DEPTH,
                     result, error);
}

/* tansu_bson_to_json -- one BSON document to JSON. */
tansu_status tansu_bson_to_json(const void *bson, size_t size, int canonical, tansu_buffer *result,
                                tansu_error *error) {
    if (result == NULL)
        return error_set(error, TANSU_E_MISUSE, NULL, "A buffer is needed.");
    result->size = 0;
    tansu_status status = doc_check(bson, size, DOC_CHECK_BSON, error);
    if (status != TANSU_OK)
        return status;
    if (!json_write_document(result, bson, size, canonical != 0) ||
        !buffer_append_byte(result, '\0')) {
        result->size = 0;
        return error_memory(error);
    }
    result->size--;
    return TANSU_OK;
}
