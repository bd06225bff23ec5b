/*
 * query/match/match_context.c -- errors, cancellation and memory of matching.
 */
#include "query/match/match_context.h"
#include "query/match/regex.h"
#include "util/error.h"

void match_context_free(match_context *c) {
    tansu_buffer_free(&c->text);
    tansu_buffer_free(&c->key);
    tansu_buffer_free(&c->marks);
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
    return error_set(error, c->status, c->error_context, "%s", c->message);
}

bool match_fail(match_context *c, tansu_status status, const char *error_context,
                const char *message) {
    if (c->status == TANSU_OK) {
        c->status = status;
        c->message = message;
        size_t size = error_context ? strlen(error_context) : 0;
        if (size >= sizeof c->error_context)
            size = sizeof c->error_context - 1;
        if (size != 0)
            memcpy(c->error_context, error_context, size);
        c->error_context[size] = 0;
    }
    return false;
}

bool match_continues(match_context *c) {
    if (c->status == TANSU_OK && c->deadline)
        c->status = deadline_status(c->deadline);
    return c->status == TANSU_OK;
}
