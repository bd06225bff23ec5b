/*
 * query/parse/operators_in.c -- parses $in and $nin: values of an array, or those that a subquery
 * yields.
 */
#include "query/parse/selector_parser.h"
#include "query/parse/subquery_spec.h"
#include "util/error.h"

/* collate_operand -- collates an operand that a collation applies to. */
static tansu_status collate_operand(parser *p, test *t, doc_value *value) {
    if (!p->collation || !collation_applies(value))
        return TANSU_OK;
    t->collation = p->collation;
    t->special = true;
    return parse_collate(p, p->collation, value);
}

/* read_array -- one of the values of an array; a regex among them stands for its matches. */
static tansu_status read_array(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    uint32_t count;
    doc_iter iter;
    if (!doc_array_size(operand, &count) || !doc_iter_value(&iter, operand))
        return parse_bad(p, name, "Operand must be an array of values, or a subquery");
    node *any;
    test *t;
    tansu_status status = parse_add(p, parent, NODE_OR, &any);
    if (status == TANSU_OK)
        status = parse_add_test(p, any, TEST_IN, name, &t);
    if (status != TANSU_OK)
        return status;
    t->operands = arena_alloc(&p->q->memory, count * sizeof *t->operands);
    if (!t->operands)
        return error_memory(p->error);
    while (status == TANSU_OK && doc_iter_next(&iter)) {
        if (iter.value.type == DOC_REGEX) {
            status = parse_regex_value(p, any, name, &iter.value);
            continue;
        }
        doc_value *value = &t->operands[t->operand_count++];
        *value = iter.value;
        status = parse_check_operand(p, name, value);
        if (status == TANSU_OK)
            status = collate_operand(p, t, value);
    }
    return status;
}

/* copy_values -- the values of a subquery as operands, collated; inside $icase the strings among
 * them. */
static tansu_status copy_values(parser *p, test *t, const subquery *s) {
    t->operands = arena_alloc(&p->q->memory, (s->count + (size_t)1) * sizeof *t->operands);
    if (!t->operands)
        return error_memory(p->error);
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < s->count; i++) {
        if (p->ignore_case && s->values[i].type != DOC_STRING)
            continue;
        doc_value *value = &t->operands[t->operand_count++];
        *value = s->values[i];
        status = collate_operand(p, t, value);
    }
    return status;
}

/* read_subquery -- one of the values that a subquery yields: a regex among them is a value like any
 * other. Before it has run there are none. */
static tansu_status read_subquery(parser *p, node *parent, const char *name,
                                  const doc_value *operand) {
    test *t;
    tansu_status status = parse_add_test(p, parent, TEST_IN, name, &t);
    if (status != TANSU_OK)
        return status;
    const subquery *s = p->q->resolved;
    if (!s)
        return subquery_parse(p->q, operand, parse_context(p, name), p->error);
    p->q->resolved = s->next;
    if (p->collation)
        return copy_values(p, t, s);
    t->operands = s->values;
    t->operand_count = s->count;
    return TANSU_OK;
}

tansu_status parse_in(parser *p, node *parent, const char *name, const doc_value *operand) {
    return operand->type == DOC_DOCUMENT ? read_subquery(p, parent, name, operand)
                                         : read_array(p, parent, name, operand);
}

/* parse_nin -- everything that $in does not select (rule 5). */
tansu_status parse_nin(parser *p, node *parent, const char *name, const doc_value *operand) {
    tansu_status status = parse_add_not(p, &parent);
    return status == TANSU_OK ? parse_in(p, parent, name, operand) : status;
}
