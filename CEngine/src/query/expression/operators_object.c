/*
 * query/expression/operators_object.c -- documents: $mergeObjects, and single fields by names that
 * are no paths.
 */
#include "query/expression/field_set.h"

#include <string.h>

/* ---- $mergeObjects ---- */

/* merge_document -- puts the fields of an operand, which may be null. */
static tansu_status merge_document(evaluation *ev, const expression *e, field_set *fields,
                                   const doc_value *value) {
    doc_iter iter;
    tansu_status status = TANSU_OK;
    if (is_nullish(value))
        return TANSU_OK;
    if (value->type != DOC_DOCUMENT)
        return evaluation_error(ev, e, "Takes documents, and null; not %s", type_name(value));
    for (doc_iter_value(&iter, value); status == TANSU_OK && doc_iter_next(&iter);)
        status = field_set_put(fields, iter.key, iter.key_size, &iter.value);
    return status;
}

/* merge -- the fields of all operands; those of later ones replace earlier ones. A single operand
 * may be an array of the documents. */
static tansu_status merge(evaluation *ev, const expression *e, doc_value *result) {
    field_set fields;
    tansu_status status = TANSU_OK;
    field_set_begin(ev, e, &fields);
    for (uint32_t i = 0; status == TANSU_OK && i < e->count; i++) {
        doc_value value;
        doc_iter iter;
        status = argument(ev, e, i, &value);
        if (status != TANSU_OK)
            break;
        if (e->count == 1 && value.type == DOC_ARRAY) {
            for (doc_iter_value(&iter, &value); status == TANSU_OK && doc_iter_next(&iter);)
                status = merge_document(ev, e, &fields, &iter.value);
        } else {
            status = merge_document(ev, e, &fields, &value);
        }
    }
    return field_set_end(&fields, status, result);
}

/* ---- Single fields ---- */

/* compile_current -- $$CURRENT as an operand. */
static tansu_status compile_current(expression_compiler *c, const expression **result) {
    static const uint8_t bytes[] = "\12\0\0\0$$CURRENT";
    const doc_value text = {bytes, sizeof bytes, DOC_STRING};
    return expression_compile(c, &text, result);
}

/* compile_get_field -- {"field": …, "input": …}, or the field of the document alone. */
static tansu_status compile_get_field(expression_compiler *c, const doc_value *operand,
                                      expression *e) {
    doc_iter iter;
    if (operand->type == DOC_DOCUMENT &&
        !(doc_iter_value(&iter, operand) && doc_iter_next(&iter) && iter.key[0] == '$'))
        return compile_named(c, operand, e, "field! input!");
    tansu_status status = compile_args(c, e, 2);
    if (status == TANSU_OK)
        status = expression_compile(c, operand, &e->args[0]);
    return status == TANSU_OK ? compile_current(c, &e->args[1]) : status;
}

static tansu_status get_field(evaluation *ev, const expression *e, doc_value *result) {
    doc_value name, input;
    size_t size;
    tansu_status status = argument(ev, e, 0, &name);
    if (status != TANSU_OK)
        return status;
    if (name.type != DOC_STRING)
        return evaluation_error(ev, e, "Name of the field must be a string, not %s",
                                type_name(&name));
    status = argument(ev, e, 1, &input);
    if (status == TANSU_OK)
        status = evaluation_step(ev, 1 + input.size / 64);
    if (status != TANSU_OK)
        return status;
    if (input.type == DOC_NULL || input.type == DOC_UNDEFINED)
        return result_null(result);
    const char *text = doc_string(&name, &size);
    /* A key cannot have a NUL. */
    if (input.type != DOC_DOCUMENT || memchr(text, 0, size))
        return result_missing(result);
    doc_find(input.data, input.size, text, size, result);
    return TANSU_OK;
}

/* is_field_name -- whether the compiler takes an operand for a constant string: a string that is no
 * path, or one in $literal or $const. */
static bool is_field_name(const doc_value *operand, doc_value *name) {
    doc_iter iter;
    size_t size;
    *name = *operand;
    if (operand->type == DOC_STRING)
        return doc_string(operand, &size)[0] != '$';
    if (operand->type != DOC_DOCUMENT || !doc_iter_value(&iter, operand) || !doc_iter_next(&iter))
        return false;
    *name = iter.value;
    return (strcmp(iter.key, "$literal") == 0 || strcmp(iter.key, "$const") == 0) &&
           name->type == DOC_STRING;
}

/* check_field_name -- the operand "field". */
static tansu_status check_field_name(const expression_compiler *c, const doc_value *operand,
                                     const expression *e) {
    doc_value member, name;
    size_t size;
    doc_find(operand->data, operand->size, "field", 5, &member);
    if (!is_field_name(&member, &name))
        return compile_error(c, e->op->name,
                             "Member \"field\" must be a constant string; one that begins with $ "
                             "is written {\"$literal\": \"$…\"}");
    const char *text = doc_string(&name, &size);
    return memchr(text, 0, size)
               ? compile_error(c, e->op->name, "Member \"field\" has a NUL, which no key can have")
               : TANSU_OK;
}

static tansu_status compile_set_field(expression_compiler *c, const doc_value *operand,
                                      expression *e) {
    tansu_status status = compile_named(c, operand, e, "field! input! value!");
    return status == TANSU_OK ? check_field_name(c, operand, e) : status;
}

static tansu_status compile_unset_field(expression_compiler *c, const doc_value *operand,
                                        expression *e) {
    tansu_status status = compile_named(c, operand, e, "field! input!");
    return status == TANSU_OK ? check_field_name(c, operand, e) : status;
}

/* set_field -- the document with one field replaced, added, or removed if the value is missing. */
static tansu_status set_field(evaluation *ev, const expression *e, doc_value *result) {
    doc_value name, input, value = {NULL, 0, DOC_MISSING};
    size_t size;
    doc_iter iter;
    build b;
    tansu_status status = argument(ev, e, 0, &name);
    if (status == TANSU_OK)
        status = argument(ev, e, 1, &input);
    if (status != TANSU_OK || is_nullish(&input))
        return status == TANSU_OK ? result_null(result) : status;
    if (input.type != DOC_DOCUMENT)
        return evaluation_error(ev, e, "Member \"input\" must be a document, not %s",
                                type_name(&input));
    if (e->count == 3)
        status = argument(ev, e, 2, &value);
    if (status == TANSU_OK)
        status = evaluation_step(ev, 1 + input.size / 64);
    if (status != TANSU_OK)
        return status;
    const char *text = doc_string(&name, &size);
    build_begin(ev, &b);
    for (doc_iter_value(&iter, &input); doc_iter_next(&iter);) {
        if (iter.key_size != size || memcmp(iter.key, text, size) != 0) {
            writer_copy(&b.w, &iter);
        } else if (value.type != DOC_MISSING) {
            writer_element(&b.w, text, size, &value);
            value.type = DOC_MISSING;
        }
    }
    if (value.type != DOC_MISSING)
        writer_element(&b.w, text, size, &value);
    return build_end(ev, e, &b, DOC_DOCUMENT, result);
}

const operator_info operators_object[] = {
    {.name = "$mergeObjects", .evaluate = merge, .max = ANY_COUNT},
    {.name = "$getField", .evaluate = get_field, .compile = compile_get_field, .fails_late = true},
    {.name = "$setField", .evaluate = set_field, .compile = compile_set_field, .fails_late = true},
    {.name = "$unsetField",
     .evaluate = set_field,
     .compile = compile_unset_field,
     .fails_late = true},
    {.name = NULL},
};
