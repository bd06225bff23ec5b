/*
 * api/api_schema.c -- schemas on their own, without a database.
 */
#include "api/handles.h"
#include "query/schema/schema.h"
#include "util/error.h"

#include <stdlib.h>

struct tansu_schema {
    schema *compiled;
};

tansu_status tansu_schema_new(tansu_document document, tansu_schema **result, tansu_error *error) {
    if (result == NULL)
        return null_argument("result", error);
    *result = NULL;
    tansu_status status = check_bson(document, false, "schema", error);
    if (status != TANSU_OK)
        return status;
    tansu_schema *s = calloc(1, sizeof *s);
    if (s == NULL)
        return error_memory(error);
    doc_value value = {document.data, (uint32_t)document.size, DOC_DOCUMENT};
    schema_unwrap(&value);
    status = schema_compile(value.data, value.size, &s->compiled, error);
    if (status != TANSU_OK) {
        free(s);
        return status;
    }
    *result = s;
    return TANSU_OK;
}

tansu_status tansu_schema_check(const tansu_schema *s, tansu_document document, uint64_t limit,
                                tansu_buffer *violations, tansu_error *error) {
    if (s == NULL || violations == NULL)
        return null_argument(s == NULL ? "schema" : "violations", error);
    violations->size = 0;
    tansu_status status = check_bson(document, false, "document", error);
    uint64_t count;
    return status == TANSU_OK ? schema_check(s->compiled, document.data, document.size, limit,
                                             violations, &count, error)
                              : status;
}

void tansu_schema_free(tansu_schema *s) {
    if (s == NULL)
        return;
    schema_free(s->compiled);
    free(s);
}
