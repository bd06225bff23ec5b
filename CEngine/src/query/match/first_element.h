/*
 * query/match/first_element.h -- the array element by which a document matched, for `array.$`.
 */
#ifndef TANSU_QUERY_MATCH_FIRST_ELEMENT_H
#define TANSU_QUERY_MATCH_FIRST_ELEMENT_H

#include "query/match/match_context.h"
#include "query/match/node.h"

/*
 * match_first_element -- the position of the element by which a document that matches the
 * selector has its array at `array` matched: the first element that passes all tests of the
 * array and of paths through it (disregarding negated ones). If there is none, the element that
 * passes the last of them, or of alternatives ($or, which counts if each branch has a test or
 * `ors`) the first that passes any. False when the selector has no such test, or the document
 * has no such array.
 */
bool match_first_element(const node *root, match_context *context, const uint8_t *doc, size_t size,
                         const path *array, bool ors, uint32_t *position);

/* match_any_element -- the same for the first array that a path of the tests in `part` leads to,
 * $or left out; with the root itself, of the whole selector. The depth of the selector bounds
 * the recursion. */
bool match_any_element(const node *root, match_context *context, const uint8_t *doc, size_t size,
                       const node *part, uint32_t *position);

#endif
