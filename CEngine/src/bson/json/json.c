/*
 * bson/json/json.c -- the public functions that convert between BSON and JSON.
 */
#include "bson/json/json.h"

#include "util/buffer.h"
#include "util/error.h"

tansu_status tansu_json_to_bson(const char *json, size_t length, tansu_buffer *result,
                                tansu_error *error) {
    if (result == NULL || (json == NULL && length != 0))
        return error_set(error, TANSU_E_INVALID_ARGUMENT, NULL,
                         "Argument \"json\" or \"result\" is NULL; pass a text and a buffer");
    if (length == SIZE_MAX)
        length = strlen(json);
    return json_parse(json != NULL ? json : "", length, TANSU_MAX_DOCUMENT_SIZE, TANSU_MAX_DEPTH,
                      result, error);
}

tansu_status tansu_bson_to_json(tansu_document bson, int canonical, tansu_buffer *result,
                                tansu_error *error) {
    if (result == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, NULL,
                         "Argument \"result\" is NULL; pass a buffer");
    result->size = 0;
    if (bson.data == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, NULL,
                         "Argument \"document\" is NULL; pass a document");
    tansu_status status = doc_check(bson.data, bson.size, DOC_CHECK_OWN, error);
    if (status != TANSU_OK)
        return status;
    if (!json_write_document(result, bson.data, bson.size, canonical != 0) ||
        !buffer_append_byte(result, '\0')) {
        result->size = 0;
        return error_memory(error);
    }
    result->size--;
    return TANSU_OK;
}
