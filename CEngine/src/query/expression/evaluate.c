/*
 * query/expression/evaluate.c -- evaluating expressions, and making the values.
 */
#include "query/expression/expression_internal.h"

#include "bson/decimal.h"
#include "bson/value.h"
#include "util/buffer.h"
#include "util/clock.h"

#include <stdarg.h>
#include <stdio.h>

void evaluation_init(evaluation *ev, const collation *collation, const deadline *deadline,
                     tansu_error *error) {
    *ev = (evaluation){.collation = collation, .deadline = deadline, .error = error};
    ev->memory.limit = EVALUATION_MEMORY;
    ev->match.deadline = deadline;
    store_u64(ev->now, (uint64_t)clock_date());
    ev->random = clock_now();
    ev->variables[VARIABLE_NOW] = (doc_value){ev->now, sizeof ev->now, DOC_DATE};
}

/* The capacity that a buffer keeps for the next value. */
#define BUFFER_KEPT ((size_t)1024 * 1024)

/* give_back -- a buffer that is open no more. */
static void give_back(evaluation *ev, build_buffer *buffer) {
    build_buffer **at = &ev->open_buffers;
    while (*at != buffer)
        at = &(*at)->next;
    *at = buffer->next;
    if (buffer->bytes.capacity > BUFFER_KEPT)
        tansu_buffer_free(&buffer->bytes);
    buffer->next = ev->free_buffers;
    ev->free_buffers = buffer;
}

void evaluation_free(evaluation *ev) {
    arena_free(&ev->memory);
    match_context_free(&ev->match);
    time_zone_cache_free(&ev->zones);
    while (ev->open_buffers)
        give_back(ev, ev->open_buffers);
    while (ev->free_buffers) {
        build_buffer *next = ev->free_buffers->next;
        tansu_buffer_free(&ev->free_buffers->bytes);
        free(ev->free_buffers);
        ev->free_buffers = next;
    }
    tansu_buffer_free(&ev->collated[0]);
    tansu_buffer_free(&ev->collated[1]);
}

void evaluation_clear(evaluation *ev) {
    /* One chunk is kept for the next document, unless it is large. */
    arena *a = &ev->memory;
    if (!a->chunks) {
        a->used = 0;
    } else if (!a->chunks->next && a->chunks->size <= 65536) {
        a->chunks->used = 0;
        a->used = 0;
    } else {
        arena_free(a);
    }
    a->full = false;
    /* Those of an evaluation that failed. */
    while (ev->open_buffers)
        give_back(ev, ev->open_buffers);
}

tansu_status expression_evaluate(evaluation *ev, const expression *e, doc_value *result) {
    return e->evaluate(ev, e, result);
}

bool expression_is_true(const doc_value *value) {
    switch (value->type) {
    case DOC_MISSING:
    case DOC_NULL:
    case DOC_UNDEFINED: return false;
    case DOC_BOOL: return doc_bool(value);
    case DOC_INT32: return doc_int32(value) != 0;
    case DOC_INT64: return doc_int64(value) != 0;
    case DOC_DOUBLE: return doc_double(value) != 0;
    case DOC_DECIMAL128: return !decimal_is_zero(value->data);
    default: return true;
    }
}

bool expression_compare(evaluation *ev, const doc_value *a, const doc_value *b, int *order) {
    bool left = a->type == DOC_MISSING || a->type == DOC_UNDEFINED;
    bool right = b->type == DOC_MISSING || b->type == DOC_UNDEFINED;
    if (left != right && value_kind_of(a->type) == value_kind_of(b->type)) {
        *order = left ? -1 : 1;
        return true;
    }
    if (ev->collation)
        return collation_compare(ev->collation, ev->collated, a, b, order);
    *order = value_compare(a, b);
    return true;
}

bool expression_key(evaluation *ev, tansu_buffer *key, const doc_value *value, bool descending) {
    /* A byte that is no kind, just before the one of null. */
    const uint8_t before_null = KIND_NULL - 1;
    if (value->type == DOC_MISSING || value->type == DOC_UNDEFINED)
        return buffer_append_byte(key, descending ? (uint8_t)~before_null : before_null);
    return collation_key(ev->collation, &ev->collated[0], key, value, descending);
}

/* ---- Errors ---- */

/* name_of -- of an operator, for the context of errors. */
static const char *name_of(const expression *e) {
    return e && e->op ? e->op->name : "expression";
}

tansu_status evaluation_error(evaluation *ev, const expression *e, const char *format, ...) {
    char message[sizeof ev->error->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_set(ev->error, TANSU_E_INVALID_QUERY, name_of(e), "%s", message);
}

tansu_status evaluation_too_large(evaluation *ev, const expression *e) {
    if (!ev->memory.full)
        return error_memory(ev->error);
    return error_set(ev->error, TANSU_E_TOO_LARGE, name_of(e),
                     "Values computed of one document exceed %zu MiB; compute with less of it",
                     ev->memory.limit / (1024 * 1024));
}

const char *type_name(const doc_value *value) {
    static const char *const names[] = {
        "missing",   "double",     "string",    "object",
        "array",     "binData",    "undefined", "objectId",
        "bool",      "date",       "null",      "regex",
        "dbPointer", "javascript", "symbol",    "javascriptWithScope",
        "int",       "timestamp",  "long",      "decimal"};
    if (value->type == DOC_MIN_KEY)
        return "minKey";
    return value->type < sizeof names / sizeof *names ? names[value->type] : "maxKey";
}

/* ---- Making values ---- */

tansu_status result_bytes(evaluation *ev, uint8_t type, const void *bytes, size_t size,
                          doc_value *result) {
    uint8_t *copy = arena_alloc(&ev->memory, size);
    if (!copy)
        return evaluation_too_large(ev, NULL);
    memcpy(copy, bytes, size);
    *result = (doc_value){copy, (uint32_t)size, type};
    return TANSU_OK;
}

tansu_status result_int32(evaluation *ev, int32_t value, doc_value *result) {
    uint8_t bytes[4];
    store_u32(bytes, (uint32_t)value);
    return result_bytes(ev, DOC_INT32, bytes, sizeof bytes, result);
}

/* result_eight -- a value of eight bytes. */
static tansu_status result_eight(evaluation *ev, uint8_t type, uint64_t value, doc_value *result) {
    uint8_t bytes[8];
    store_u64(bytes, value);
    return result_bytes(ev, type, bytes, sizeof bytes, result);
}

tansu_status result_int64(evaluation *ev, int64_t value, doc_value *result) {
    return result_eight(ev, DOC_INT64, (uint64_t)value, result);
}

tansu_status result_double(evaluation *ev, double value, doc_value *result) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return result_eight(ev, DOC_DOUBLE, bits, result);
}

tansu_status result_date(evaluation *ev, int64_t milliseconds, doc_value *result) {
    return result_eight(ev, DOC_DATE, (uint64_t)milliseconds, result);
}

tansu_status result_string(evaluation *ev, const char *text, size_t size, doc_value *result) {
    uint8_t *bytes = size < INT32_MAX - 5 ? arena_alloc(&ev->memory, size + 5) : NULL;
    if (!bytes)
        return evaluation_too_large(ev, NULL);
    store_u32(bytes, (uint32_t)size + 1);
    if (size != 0)
        memcpy(bytes + 4, text, size);
    *result = (doc_value){bytes, (uint32_t)size + 5, DOC_STRING};
    return TANSU_OK;
}

void build_begin(evaluation *ev, build *b) {
    build_buffer *buffer = ev->free_buffers, *outer = ev->open_buffers;
    if (buffer)
        ev->free_buffers = buffer->next;
    else
        buffer = calloc(1, sizeof *buffer);
    *b = (build){.buffer = buffer};
    b->w.failed = !buffer;
    if (!buffer)
        return;
    buffer->bytes.size = 0;
    buffer->below = outer ? outer->below + outer->bytes.size : 0;
    buffer->next = outer;
    ev->open_buffers = buffer;
    /* All values that are being built fit into the memory together. */
    size_t taken = ev->memory.used + buffer->below;
    b->w.out = &buffer->bytes;
    b->w.limit = taken < ev->memory.limit ? ev->memory.limit - taken : 1;
    b->start = writer_begin(&b->w);
}

void build_cancel(evaluation *ev, build *b) {
    if (b->buffer)
        give_back(ev, b->buffer);
    b->buffer = NULL;
}

tansu_status build_end(evaluation *ev, const expression *e, build *b, uint8_t type,
                       doc_value *result) {
    tansu_status status;
    if (b->buffer)
        writer_end(&b->w, b->start);
    if (b->w.failed) {
        ev->memory.full = b->w.over_limit;
        status = evaluation_too_large(ev, e);
    } else {
        status = result_bytes(ev, type, b->buffer->bytes.data, b->buffer->bytes.size, result);
    }
    build_cancel(ev, b);
    return status;
}
