/*
 * query/pipeline/window_bounds.c -- reading windows, and the values at which ranges end.
 */
#include "query/pipeline/window_bounds.h"

#include "query/util/numeric_sum.h"

#include <math.h>
#include <string.h>

/* is_text -- whether a value is a certain string. */
static bool is_text(const doc_value *value, const char *text) {
    size_t size;
    if (value->type != DOC_STRING)
        return false;
    const char *string = doc_string(value, &size);
    return size == strlen(text) && memcmp(string, text, size) == 0;
}

/* read_bound -- one end. */
static tansu_status read_bound(stage *s, const char *part, const doc_value *spec,
                               const window_bounds *bounds, window_bound *result) {
    const expression *e;
    doc_value value;
    *result = (window_bound){.kind = BOUND_UNBOUNDED};
    if (is_text(spec, "unbounded"))
        return TANSU_OK;
    if (is_text(spec, "current")) {
        result->kind = BOUND_CURRENT;
        number_int32(0, &result->value);
        return TANSU_OK;
    }
    if (spec->type == DOC_STRING)
        return stage_error(s, part, "A bound must be \"unbounded\", \"current\" or a number");
    result->kind = BOUND_OFFSET;
    tansu_status status = stage_expression(s, part, spec, &e);
    if (status != TANSU_OK)
        return status;
    if (!expression_constant(e, &value) || !doc_is_number(&value))
        return stage_error(s, part, "A bound must be a constant number");
    window_copy(&value, &result->value);
    if (bounds->range && !bounds->has_unit)
        return TANSU_OK;
    if (!doc_as_int64(&value, &result->offset) || result->offset < INT32_MIN ||
        result->offset > INT32_MAX)
        return stage_error(s, part, "A bound must be a whole number of 32 bits");
    return TANSU_OK;
}

/* read_bounds -- both ends. */
static tansu_status read_bounds(stage *s, const char *part, const doc_value *spec,
                                window_bounds *result) {
    doc_iter iter;
    doc_value ends[2];
    uint32_t count = 0;
    if (spec->type != DOC_ARRAY)
        return stage_error(s, part, "The bounds must be an array of two");
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter); count++) {
        if (count < 2)
            ends[count] = iter.value;
    }
    if (count != 2)
        return stage_error(s, part, "The bounds must be an array of two");
    tansu_status status = read_bound(s, part, &ends[0], result, &result->lower);
    if (status == TANSU_OK)
        status = read_bound(s, part, &ends[1], result, &result->upper);
    if (status != TANSU_OK || result->lower.kind == BOUND_UNBOUNDED ||
        result->upper.kind == BOUND_UNBOUNDED)
        return status;
    const doc_value lower = number_value(&result->lower.value),
                    upper = number_value(&result->upper.value);
    if (number_compare(&lower, &upper) > 0)
        return stage_error(s, part, "The lower bound exceeds the upper one");
    return TANSU_OK;
}

tansu_status window_unit_compile(stage *s, const char *part, const doc_value *value,
                                 date_unit *unit) {
    return date_unit_read(value, unit)
               ? TANSU_OK
               : stage_error(s, part, "Member \"unit\" must name a unit of time, such as \"day\"");
}

tansu_status window_bounds_compile(stage *s, const char *part, const doc_value *spec,
                                   const window_order *order, window_bounds *result) {
    enum { DOCUMENTS, RANGE, UNIT, MEMBERS };
    doc_value members[MEMBERS];
    *result = (window_bounds){.range = false};
    if (spec->type == DOC_MISSING)
        return TANSU_OK;
    tansu_status status = stage_members(s, spec, "documents range unit", members);
    if (status != TANSU_OK) {
        error_prefix(s->p->error, part);
        return status;
    }
    bool documents = members[DOCUMENTS].type != DOC_MISSING;
    result->range = members[RANGE].type != DOC_MISSING;
    result->has_unit = members[UNIT].type != DOC_MISSING;
    if (documents && result->range)
        return stage_error(s, part, "A window has either \"documents\" or \"range\"");
    if (result->has_unit && !result->range)
        return stage_error(s, part, "Only a window with \"range\" has a unit");
    if (result->has_unit)
        status = window_unit_compile(s, part, &members[UNIT], &result->unit);
    if (status == TANSU_OK && (documents || result->range))
        status = read_bounds(s, part, &members[documents ? DOCUMENTS : RANGE], result);
    if (status != TANSU_OK)
        return status;
    if (result->range && (order->count != 1 || order->descending))
        return stage_error(s, part, "A range needs \"sortBy\" with one path, which ascends");
    bool bounded = result->lower.kind != BOUND_UNBOUNDED || result->upper.kind != BOUND_UNBOUNDED;
    if (bounded && !order->given)
        return stage_error(s, part, "A window with bounds needs \"sortBy\"");
    return TANSU_OK;
}

tansu_status window_check_base(stage *s, const window_bounds *bounds, const doc_value *base) {
    if (window_is_expected(bounds, base))
        return TANSU_OK;
    return stage_error(
        s, s->kind->name,
        bounds->has_unit ? "A range with a unit needs dates at the path of \"sortBy\""
                         : "A range needs numbers at the path of \"sortBy\", or dates and a unit");
}

/* A double is rounded to 15 digits as a decimal, by less than this part of it. */
#define ROUNDING 1e-13

/* estimate -- where the end is about. Decimals may be beyond what doubles hold. */
static void estimate(window_end *end, const doc_value *base, const doc_value *offset) {
    double from = number_to_double(base), distance = number_to_double(offset);
    end->near = from + distance;
    end->slack = (fabs(from) + fabs(distance)) * ROUNDING;
    if (base->type == DOC_DECIMAL128 || offset->type == DOC_DECIMAL128 || !isfinite(end->slack))
        end->slack = -1;
}

tansu_status window_end_begin(stage *s, const window_bounds *bounds, const window_bound *bound,
                              const number *base, window_end *result) {
    const doc_value at = number_value(base);
    int64_t date;
    *result = (window_end){.bound = bound, .base = *base, .slack = -1};
    if (bound->kind != BOUND_OFFSET) {
        result->known = true;
        result->value = *base;
        return TANSU_OK;
    }
    if (!bounds->has_unit) {
        const doc_value offset = number_value(&bound->value);
        estimate(result, &at, &offset);
        return TANSU_OK;
    }
    if (!date_add(NULL, doc_int64(&at), bounds->unit, bound->offset, &date))
        return stage_error(s, s->kind->name, "A bound is beyond the dates that can be stored");
    number_int64(date, &result->value);
    result->value.type = DOC_DATE;
    result->known = true;
    return TANSU_OK;
}

/* find_value -- the sum, as a decimal: these hold what the other types do, so far as MongoDB looks
 * at them. */
static void find_value(window_end *end) {
    const doc_value base = number_value(&end->base), offset = number_value(&end->bound->value);
    decimal at, distance;
    number_to_decimal(&base, &at);
    number_to_decimal(&offset, &distance);
    decimal_add(&at, &distance, &at);
    number_decimal(&at, &end->value);
    end->known = true;
}

tansu_status window_end_compare(stage *s, window_end *end, const doc_value *value, int *order) {
    if (value->type == DOC_DATE && end->known && end->value.type == DOC_DATE) {
        const doc_value other = number_value(&end->value);
        int64_t a = doc_int64(value), b = doc_int64(&other);
        *order = (a > b) - (a < b);
        return TANSU_OK;
    }
    if (!end->known && end->slack >= 0 && doc_is_number(value) && value->type != DOC_DECIMAL128) {
        double distance = number_to_double(value) - end->near;
        if (fabs(distance) > end->slack + fabs(end->near) * ROUNDING) {
            *order = distance > 0 ? 1 : -1;
            return TANSU_OK;
        }
    }
    if (!end->known)
        find_value(end);
    const doc_value other = number_value(&end->value);
    return expression_compare(&s->p->ev, value, &other, order) ? TANSU_OK
                                                               : error_memory(s->p->error);
}
