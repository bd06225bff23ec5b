/*
 * query/match/match_context.c -- errors, cancellation and memory of matching.
 */
#include "query/match/match_context.h"
#include "query/match/regex.h"
#include "util/error.h"

void match_context_free(match_context *c) {
    buffer_free(&c->text);
    buffer_free(&c->key);
    buffer_free(&c->marks);
    buffer_free(&c->error_context);
    regex_memory_free(c->regex);
    memset(c, 0, sizeof *c);
}

tansu_status match_context_status(const match_context *c, tansu_error *error) {
    if (c->status == TANSU_OK)
        return TANSU_OK;
    if (c->status == TANSU_E_TIMEOUT || c->status == TANSU_E_CANCELLED)
        return deadline_error(c->deadline, c->status, error);
    if (!c->message)
        return error_memory(error);
    const char *where = c->error_context.size != 0 ? (const char *)c->error_context.data : "";
    return error_set(error, c->status, where, "%s", c->message);
}

bool match_fail(match_context *c, tansu_status status, const char *error_context,
                const char *message) {
    if (c->status == TANSU_OK) {
        c->status = status;
        c->message = message;
        if (!error_context ||
            !buffer_set(&c->error_context, error_context, strlen(error_context) + 1))
            c->error_context.size = 0;
    }
    return false;
}

bool match_continues(match_context *c) {
    if (c->status == TANSU_OK && c->deadline)
        c->status = deadline_status(c->deadline);
    return c->status == TANSU_OK;
}
