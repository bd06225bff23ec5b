/*
 * rules/deny_error.h -- the error for documents whose removal a reference denies.
 */
#ifndef TANSU_RULES_DENY_ERROR_H
#define TANSU_RULES_DENY_ERROR_H

#include "rules/document_set.h"
#include "store/read_context.h"
#include "store/references/reference_list.h"

/* A document that refers to one that is removed, by a reference with the rule "deny". */
typedef struct denial {
    document_place place;
    const reference *by;
} denial;

/* deny_check -- REFERENCED if one of the documents is not removed, too. The message names the first
 * of them that are of one collection. Otherwise OK. */
tansu_status deny_check(const denial *denials, size_t count, const document_set *removed,
                        const snapshot *v, const read_context *rctx, tansu_error *error);

#endif
