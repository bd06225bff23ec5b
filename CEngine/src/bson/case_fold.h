/*
 * bson/case_fold.h -- Unicode case folding of strings.
 */
#ifndef TANSU_BSON_CASE_FOLD_H
#define TANSU_BSON_CASE_FOLD_H

#include "bson/document.h"

/*
 * fold_text -- appends the full Unicode case folding of UTF-8 text: two texts differ in case only
 * when their foldings are the same bytes ("Straße", "STRASSE"). Character by character, so that the
 * folding of a prefix is a prefix of the folding; there is no normalisation. Bytes that are not
 * UTF-8 are copied. False when memory is exhausted (the buffer is then unchanged).
 */
bool fold_text(tansu_buffer *out, const char *text, size_t size);

/* fold_value -- folds all strings of a value, at any depth, but not the keys. The result points to
 * the buffer, which is replaced, or to the value itself when it is not a string, document or array.
 * False when memory is exhausted. */
bool fold_value(tansu_buffer *out, const doc_value *value, doc_value *result);

#endif
