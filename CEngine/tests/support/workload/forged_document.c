/*
 * support/workload/forged_document.c -- other numbers in a stored document, in place.
 */
#include "support/workload/forged_document.h"

#include "support/check.h"
#include "util/bytes.h"

#include <string.h>

doc_value forged_first(const uint8_t *doc, size_t size, const char *key) {
    doc_value list;
    doc_iter iter;
    REQUIRE(doc_find(doc, size, key, strlen(key), &list) && doc_iter_value(&iter, &list) &&
            doc_iter_next(&iter));
    return iter.value;
}

void forged_set(const doc_value *doc, const char *key, uint64_t number) {
    doc_value value;
    REQUIRE(doc_find(doc->data, doc->size, key, strlen(key), &value) && value.type == DOC_INT64);
    store_u64((uint8_t *)(uintptr_t)value.data, number);
}
