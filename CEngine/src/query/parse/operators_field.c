/*
 * query/parse/operators_field.c -- parses operators on existence, arrays, types, keys and
 * remainders.
 */
#include "bson/number.h"
#include "query/match/match_value.h"
#include "query/parse/selector_parser.h"
#include "query/parse/subquery_spec.h"
#include "util/error.h"

/* parse_exists -- {"$exists": true} or its negation. */
tansu_status parse_exists(parser *p, node *parent, const char *name, const doc_value *operand) {
    bool wanted;
    if (!doc_as_bool(operand, &wanted))
        return parse_bad(p, name, "Operand must be true or false");
    tansu_status status = wanted ? TANSU_OK : parse_add_not(p, &parent);
    test *t;
    return status == TANSU_OK ? parse_add_test(p, parent, TEST_EXISTS, name, &t) : status;
}

/* ---- Arrays ---- */

/* parse_element -- a condition on elements ($elemMatch, $allMatch) or on keys ($keyMapMatch). */
tansu_status parse_element(parser *p, node *parent, const char *name, const doc_value *operand) {
    enum test_op op = strcmp(name, "$elemMatch") == 0  ? TEST_ELEMENT
                      : strcmp(name, "$allMatch") == 0 ? TEST_ALL_ELEMENTS
                                                       : TEST_KEY;
    doc_iter iter;
    if (operand->type != DOC_DOCUMENT || !doc_iter_value(&iter, operand))
        return parse_bad(p, name, "Operand must be a document, the condition");
    test *t;
    tansu_status status = parse_add_test(p, parent, op, name, &t);
    if (status != TANSU_OK)
        return status;
    t->special = true;
    t->on_array = op != TEST_KEY;
    status = parse_inner(p, name, operand, &t->condition);
    if (status == TANSU_OK && op == TEST_KEY && !t->condition->value)
        return parse_bad(p, name,
                         "Condition on a key must consist of operators on strings, such as "
                         "{\"$keyMapMatch\": {\"$begin\": \"x\"}}");
    return status;
}

/* all_of -- one element of $all. */
static tansu_status all_of(parser *p, node *all, const char *name, const doc_value *value) {
    doc_iter iter;
    if (value->type == DOC_REGEX)
        return parse_regex_value(p, all, name, value);
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value) || !doc_iter_next(&iter) ||
        iter.key[0] != '$')
        return parse_eq(p, all, name, value);
    if (strcmp(iter.key, "$elemMatch") != 0)
        return parse_bad(p, name, "\"$all\" takes values and no operator except \"$elemMatch\"");
    doc_value operand = iter.value;
    if (doc_iter_next(&iter))
        return parse_bad(p, name,
                         "\"$elemMatch\" must be the only key of its document in \"$all\"");
    return parse_element(p, all, "$elemMatch", &operand);
}

/* parse_all -- the array has all values; each is a test of its own. Without values it selects
 * nothing. */
tansu_status parse_all(parser *p, node *parent, const char *name, const doc_value *operand) {
    doc_iter iter;
    if (operand->type != DOC_ARRAY || !doc_iter_value(&iter, operand))
        return parse_bad(p, name, "Operand must be an array of values");
    uint32_t count;
    node *all;
    (void)doc_array_size(operand, &count);
    tansu_status status = parse_add(p, parent, count == 0 ? NODE_FALSE : NODE_AND, &all);
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = all_of(p, all, name, &iter.value);
    return status;
}

/* parse_size -- the number of elements. */
tansu_status parse_size(parser *p, node *parent, const char *name, const doc_value *operand) {
    int64_t size;
    if (!doc_is_number(operand) || !doc_as_int64(operand, &size) || size < 0 || size > INT32_MAX)
        return parse_bad(p, name, "Operand must be a whole number from 0 to 2147483647");
    test *t;
    tansu_status status = parse_add_test(p, parent, TEST_SIZE, name, &t);
    if (status != TANSU_OK)
        return status;
    t->special = t->on_array = true;
    t->integer = size;
    return TANSU_OK;
}

/* ---- Types ---- */

static const struct type_name {
    const char *name;
    uint8_t type;
} type_names[] = {
    {"double", DOC_DOUBLE},
    {"string", DOC_STRING},
    {"object", DOC_DOCUMENT},
    {"array", DOC_ARRAY},
    {"binData", DOC_BINARY},
    {"binary", DOC_BINARY},
    {"undefined", DOC_UNDEFINED},
    {"objectId", DOC_OID},
    {"bool", DOC_BOOL},
    {"boolean", DOC_BOOL},
    {"date", DOC_DATE},
    {"null", DOC_NULL},
    {"regex", DOC_REGEX},
    {"dbPointer", DOC_DBPOINTER},
    {"javascript", DOC_CODE},
    {"symbol", DOC_SYMBOL},
    {"javascriptWithScope", DOC_CODE_SCOPE},
    {"int", DOC_INT32},
    {"timestamp", DOC_TIMESTAMP},
    {"long", DOC_INT64},
    {"decimal", DOC_DECIMAL128},
    {"minKey", DOC_MIN_KEY},
    {"maxKey", DOC_MAX_KEY},
};

/* add_type -- adds a type byte. */
static void add_type(uint32_t *types, uint8_t type) {
    types[type / 32] |= (uint32_t)1 << type % 32;
}

/* read_type -- the name or number of a type; false when there is none. */
static bool read_type(uint32_t *types, const doc_value *value) {
    int64_t number;
    if (doc_is_number(value)) {
        if (!doc_as_int64(value, &number) || !((number >= DOC_DOUBLE && number <= DOC_DECIMAL128) ||
                                               number == DOC_MAX_KEY || number == -1))
            return false;
        add_type(types, (uint8_t)number);
        return true;
    }
    if (value->type != DOC_STRING)
        return false;
    size_t size;
    const char *name = doc_string(value, &size);
    if (size == 6 && memcmp(name, "number", 6) == 0) {
        add_type(types, DOC_INT32);
        add_type(types, DOC_INT64);
        add_type(types, DOC_DOUBLE);
        add_type(types, DOC_DECIMAL128);
        return true;
    }
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        if (strlen(type_names[i].name) == size && memcmp(type_names[i].name, name, size) == 0) {
            add_type(types, type_names[i].type);
            return true;
        }
    }
    return false;
}

/* parse_type -- one type, or one of several. */
tansu_status parse_type(parser *p, node *parent, const char *name, const doc_value *operand) {
    static const char wrong[] = "Operand must be the name of a type, such as \"string\" or "
                                "\"number\", its number in BSON, or an array of these";
    test *t;
    tansu_status status = parse_add_test(p, parent, TEST_TYPE, name, &t);
    if (status != TANSU_OK)
        return status;
    uint32_t *types = arena_alloc(&p->q->memory, 8 * sizeof *types);
    if (!types)
        return error_memory(p->error);
    t->special = true;
    t->types = types;
    if (operand->type != DOC_ARRAY)
        return read_type(types, operand) ? TANSU_OK : parse_bad(p, name, wrong);
    doc_iter iter;
    bool any = false;
    bool valid = doc_iter_value(&iter, operand);
    while (valid && doc_iter_next(&iter)) {
        any = true;
        if (!read_type(types, &iter.value))
            return parse_bad(p, name, wrong);
    }
    return any ? TANSU_OK : parse_bad(p, name, "Array of types is empty; give at least one");
}

/* ---- Remainders ---- */

/* parse_mod -- [divisor, remainder]. */
tansu_status parse_mod(parser *p, node *parent, const char *name, const doc_value *operand) {
    static const char wrong[] =
        "Operand must be [divisor, remainder], two numbers whose fractions are disregarded; the "
        "divisor must not be 0";
    uint32_t count;
    int64_t numbers[2];
    if (!doc_array_size(operand, &count) || count != 2)
        return parse_bad(p, name, wrong);
    doc_iter iter;
    bool valid = doc_iter_value(&iter, operand);
    for (int i = 0; i < 2; i++) {
        if (!valid || !doc_iter_next(&iter) ||
            !number_whole(&iter.value, FRACTION_CUT, &numbers[i]))
            return parse_bad(p, name, wrong);
    }
    if (numbers[0] == 0)
        return parse_bad(p, name, wrong);
    test *t;
    tansu_status status = parse_add_test(p, parent, TEST_MOD, name, &t);
    if (status != TANSU_OK)
        return status;
    t->special = true;
    t->divisor = numbers[0];
    t->integer = numbers[1];
    return TANSU_OK;
}

/* ---- Parses $bitsAllSet, $bitsAnySet, $bitsAllClear and $bitsAnyClear ---- */

static const char wrong[] =
    "Operand must be a whole number from 0 to 9223372036854775807, binary data, or an array of the "
    "positions of bits, each from 0 to 2147483647";

/* read_mask -- the bits of a number, or of binary data. */
static tansu_status read_mask(parser *p, bit_test *t, const char *name, const doc_value *operand) {
    int64_t number;
    if (operand->type == DOC_BINARY) {
        t->mask = operand->data + 5;
        t->count = operand->size - 5;
        return TANSU_OK;
    }
    if (!doc_is_number(operand) || !doc_as_int64(operand, &number) || number < 0)
        return parse_bad(p, name, wrong);
    uint8_t *mask = arena_alloc(&p->q->memory, 8);
    if (!mask)
        return error_memory(p->error);
    store_u64(mask, (uint64_t)number);
    t->mask = mask;
    t->count = 8;
    return TANSU_OK;
}

/* read_positions -- the bits of a list. */
static tansu_status read_positions(parser *p, bit_test *t, const char *name,
                                   const doc_value *operand, uint32_t count) {
    doc_iter iter;
    uint32_t *positions = arena_alloc(&p->q->memory, ((size_t)count + 1) * sizeof *positions);
    if (!positions)
        return error_memory(p->error);
    for (bool valid = doc_iter_value(&iter, operand); valid && doc_iter_next(&iter);) {
        int64_t position;
        if (!doc_is_number(&iter.value) || !doc_as_int64(&iter.value, &position) || position < 0 ||
            position > INT32_MAX)
            return parse_bad(p, name, wrong);
        positions[t->count++] = (uint32_t)position;
    }
    t->positions = positions;
    return TANSU_OK;
}

tansu_status parse_bits(parser *p, node *parent, const char *name, const doc_value *operand) {
    test *t;
    uint32_t count;
    tansu_status status = parse_add_test(p, parent, TEST_BITS, name, &t);
    if (status != TANSU_OK)
        return status;
    bit_test *bits = arena_alloc(&p->q->memory, sizeof *bits);
    if (!bits)
        return error_memory(p->error);
    bits->all = strncmp(name, "$bitsAll", 8) == 0;
    bits->set = strcmp(name + 8, "Set") == 0;
    t->special = true;
    t->bits = bits;
    return doc_array_size(operand, &count) ? read_positions(p, bits, name, operand, count)
                                           : read_mask(p, bits, name, operand);
}

/* ---- Parses $in and $nin: values of an array, or those that a subquery yields ---- */

/* is_operator_document -- whether a value is a document that begins with what may be an operator,
 * and is no DBRef. */
static bool is_operator_document(const doc_value *value) {
    doc_iter iter;
    return value->type == DOC_DOCUMENT && doc_iter_value(&iter, value) && doc_iter_next(&iter) &&
           iter.key[0] == '$' && strcmp(iter.key, "$ref") != 0;
}

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
        status = is_operator_document(value)
                     ? parse_bad(p, name,
                                 "An element must be a value, not a condition; use \"$or\" to "
                                 "combine conditions, and \"$eq\" for a key that begins with $")
                     : parse_check_operand(p, name, value);
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
