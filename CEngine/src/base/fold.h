/*
 * base/fold.h -- text without regard to upper and lower case. Part base; uses utf8proc
 * and base/doc.h.
 */
#ifndef TANSU_BASE_FOLD_H
#define TANSU_BASE_FOLD_H

#include "base/doc.h"

/*
 * fold_text -- appends the full Unicode case folding of UTF-8 text: two texts differ in case only
 * when their foldings are the same bytes ("Straße", "STRASSE"). Character by character, so that the
 * folding of a text begins with the folding of each of its beginnings; nothing is normalised. Bytes
 * that are not UTF-8 are taken over as they are. False when memory is exhausted (the buffer is then
 * unchanged).
 */
bool fold_text(tansu_buffer *out, const char *text, size_t size);

/* fold_value -- the value with all its strings folded, at any depth; keys stay. The result points at
 * the buffer, which is replaced, or at the value itself when it is no string, document or array.
 * False when memory is exhausted. */
bool fold_value(tansu_buffer *out, const doc_value *value, doc_value *result);

#endif
