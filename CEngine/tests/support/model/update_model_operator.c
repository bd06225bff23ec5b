/*
 * support/model/update_model_operator.c -- the operators, each on one place. See
 * update_model_parts.h.
 */
#include "support/check.h"
#include "support/model/update_model_internal.h"

#include <string.h>

/* set_scalar -- puts the field "v" of a document in. */
static void set_scalar(value *v, const bson_t *doc) {
    bson_iter_t iter;
    REQUIRE(bson_iter_init_find(&iter, doc, "v"));
    model_value_become(v, model_value_from(&iter));
}

/* calculate -- $inc and $mul. What is missing counts as 0, of the operand's type. */
static bool calculate(value *v, const bson_iter_t *operand, bool add) {
    bson_iter_t own;
    bson_t result = BSON_INITIALIZER;
    bool done = true, is_new = v->type == BSON_TYPE_EOD;
    if (is_new && add) {
        bson_append_iter(&result, "v", 1, operand);
    } else if (is_new) {
        bson_decimal128_t zero;
        REQUIRE(bson_decimal128_from_string("0", &zero));
        switch (bson_iter_type(operand)) {
        case BSON_TYPE_INT32: bson_append_int32(&result, "v", 1, 0); break;
        case BSON_TYPE_INT64: bson_append_int64(&result, "v", 1, 0); break;
        case BSON_TYPE_DOUBLE: bson_append_double(&result, "v", 1, 0); break;
        default: bson_append_decimal128(&result, "v", 1, &zero);
        }
    } else {
        done = model_value_number(v, &own) && model_number_calculate(&own, operand, add, &result);
    }
    /* An equal number of the same type is no change. */
    bson_iter_t now;
    bool changes = is_new || !done || !bson_iter_init_find(&now, &result, "v") ||
                   bson_iter_type(&now) != bson_iter_type(&own) ||
                   model_number_compare(&now, &own) != 0;
    if (done && changes)
        set_scalar(v, &result);
    bson_destroy(&result);
    return done;
}

/* combine_bits -- $bit; an int64 on either side makes the result one. */
static bool combine_bits(value *v, const bson_iter_t *operand) {
    bson_iter_t own, mask;
    int64_t bits = 0;
    bool wide = v->type == BSON_TYPE_INT64;
    if (v->type != BSON_TYPE_EOD) {
        if ((v->type != BSON_TYPE_INT32 && !wide) || !bson_iter_init_find(&own, v->scalar, "v"))
            return false;
        bits = bson_iter_as_int64(&own);
    }
    REQUIRE(bson_iter_recurse(operand, &mask));
    while (bson_iter_next(&mask)) {
        int64_t other = bson_iter_as_int64(&mask);
        const char *how = bson_iter_key(&mask);
        bits = strcmp(how, "and") == 0  ? bits & other
               : strcmp(how, "or") == 0 ? bits | other
                                        : bits ^ other;
        wide = wide || BSON_ITER_HOLDS_INT64(&mask);
    }
    bson_t result = BSON_INITIALIZER;
    if (wide)
        bson_append_int64(&result, "v", 1, bits);
    else
        bson_append_int32(&result, "v", 1, (int32_t)bits);
    set_scalar(v, &result);
    bson_destroy(&result);
    return true;
}

/* set_now -- $currentDate. */
static void set_now(value *v, const bson_iter_t *operand) {
    bson_iter_t kind;
    bson_t result = BSON_INITIALIZER;
    if (BSON_ITER_HOLDS_DOCUMENT(operand) && bson_iter_recurse(operand, &kind) &&
        bson_iter_next(&kind) && strcmp(bson_iter_utf8(&kind, NULL), "timestamp") == 0)
        bson_append_timestamp(&result, "v", 1, UPDATE_MODEL_NOW_SECONDS, 1);
    else
        bson_append_date_time(&result, "v", 1, UPDATE_MODEL_NOW);
    set_scalar(v, &result);
    bson_destroy(&result);
}

/* leads_through_array -- whether a path goes into an array. */
static bool leads_through_array(const value *root, const place *p) {
    unsigned ignored;
    for (unsigned i = 0; i < p->count && root != NULL; i++) {
        if (root->type == BSON_TYPE_ARRAY)
            return true;
        root = model_value_is_list(root) ? model_value_child(root, p->parts[i], &ignored) : NULL;
    }
    return false;
}

/* rename_field -- moves what is there; neither path may lead through an array. */
static bool rename_field(value *root, const place *to) {
    place from = {.count = 0};
    value *parent = NULL, *v, *target, *target_parent = NULL;
    unsigned at, target_at;
    REQUIRE(model_path_split(bson_iter_key(&to->operand), &from));
    if (!model_path_find(root, &from, false, &parent, &at, &v))
        return false;
    if (v == NULL)
        return true;
    if (!model_path_find(root, to, false, &target_parent, &target_at, &target) ||
        leads_through_array(root, &from) || leads_through_array(root, to))
        return false;
    v = model_value_take(parent, at);
    REQUIRE(model_path_find(root, to, true, &target_parent, &target_at, &target));
    model_value_become(target, v);
    return true;
}

/* unset -- takes a field away; an element of an array becomes null. */
static void unset(value *root, const place *p) {
    value *parent = NULL, *v = NULL;
    unsigned at = 0;
    if (!model_path_find(root, p, false, &parent, &at, &v) || v == NULL)
        return;
    if (parent->type == BSON_TYPE_ARRAY)
        model_value_become(v, model_value_null());
    else
        model_value_free(model_value_take(parent, at));
}

/* set_if -- $set, and $min and $max, which compare first. */
static void set_if(value *v, const char *name, const bson_iter_t *operand, const bson_t *hints) {
    value *given = model_value_from(operand);
    bool always = v->type == BSON_TYPE_EOD || strncmp(name, "$set", 4) == 0;
    int order = always ? 0 : model_value_compare(given, v, hints);
    if (always || (strcmp(name, "$min") == 0 ? order < 0 : order > 0))
        model_value_become(v, given);
    else
        model_value_free(given);
}

bool model_operator_apply(value *root, const place *p, const update_model_case *c) {
    const char *name = p->operator_name;
    value *parent = NULL, *v = NULL;
    unsigned at = 0;
    if (p->source || (strcmp(name, "$setOnInsert") == 0 && !c->inserting))
        return true;
    if (strcmp(name, "$rename") == 0)
        return rename_field(root, p);
    if (strcmp(name, "$unset") == 0) {
        unset(root, p);
        return true;
    }
    bool takes = strncmp(name, "$pull", 5) == 0 || strcmp(name, "$pop") == 0;
    if (!model_path_find(root, p, !takes, &parent, &at, &v))
        return false;
    if (v == NULL)
        return true;
    if (strcmp(name, "$inc") == 0 || strcmp(name, "$mul") == 0)
        return calculate(v, &p->operand, name[1] == 'i');
    if (strcmp(name, "$bit") == 0)
        return combine_bits(v, &p->operand);
    if (strcmp(name, "$currentDate") == 0)
        set_now(v, &p->operand);
    else if (name[1] == 's' || name[1] == 'm')
        set_if(v, name, &p->operand, c->hints);
    else if (v->type != BSON_TYPE_EOD && v->type != BSON_TYPE_ARRAY)
        return false;
    else {
        v->type = BSON_TYPE_ARRAY;
        model_array_apply(v, name, &p->operand, c);
    }
    return true;
}
