/*
 * support/workload/forged_document.h -- other numbers in a stored document, in place.
 */
#ifndef SUPPORT_FORGED_DOCUMENT_H
#define SUPPORT_FORGED_DOCUMENT_H

#include "bson/document.h"

/* forged_first -- the first element of an array that a document has; ends the program without
 * one. */
doc_value forged_first(const uint8_t *doc, size_t size, const char *key);

/* forged_set -- another number for a member that is an int64; ends the program without one. */
void forged_set(const doc_value *doc, const char *key, uint64_t number);

#endif
