/*
 * query/match/first_element.h -- the array element by which a document matched, for `array.$`.
 */
#ifndef TANSU_QUERY_MATCH_FIRST_ELEMENT_H
#define TANSU_QUERY_MATCH_FIRST_ELEMENT_H

#include "query/match/match_context.h"
#include "query/match/node.h"

/*
 * match_first_element -- the position of the element by which a document that matches the selector
 * has its array at `array` matched: the first element that passes all tests of the array and of
 * paths through it (disregarding negated ones), or else the first that passes any of them. False
 * when the selector has no such test, or the document has no such array.
 */
bool match_first_element(const node *root, match_context *context, const uint8_t *doc, size_t size,
                         const path *array, uint32_t *position);

#endif
