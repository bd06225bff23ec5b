/*
 * query/parse/operators_value.c -- parses comparisons and operators on strings; the table of all
 * operators on fields.
 */
#include "bson/number.h"
#include "query/match/regex.h"
#include "query/match/string_operands.h"
#include "query/parse/selector_parser.h"
#include "util/error.h"

#define DOUBLE_EXACT ((int64_t)1 << 53) /* up to here every whole number is exact as a double */

static const collation without_case = {.fold = true};

/* ---- Operands ---- */

tansu_status parse_collate(parser *p, const collation *by, doc_value *value) {
    doc_value collated;
    if (!collation_value(by, &p->scratch, value, &collated))
        return error_memory(p->error);
    collated.data = arena_copy(&p->q->memory, collated.data, collated.size);
    if (!collated.data)
        return error_memory(p->error);
    *value = collated;
    return TANSU_OK;
}

/* set_operand -- sets the operand and what speeds up comparisons with it. */
static tansu_status set_operand(parser *p, test *t, const doc_value *value) {
    t->operand = *value;
    t->kind = value_kind_of(value->type);
    int64_t whole;
    if (t->kind == KIND_NUMBER && value->type != DOC_DECIMAL128 && doc_as_int64(value, &whole) &&
        whole >= -DOUBLE_EXACT && whole <= DOUBLE_EXACT) {
        t->integral = true;
        t->integer = whole;
    }
    if (!p->collation || !collation_applies(value))
        return TANSU_OK;
    t->collation = p->collation;
    t->special = true;
    return parse_collate(p, p->collation, &t->operand);
}

tansu_status parse_check_operand(parser *p, const char *name, const doc_value *operand) {
    if (!p->ignore_case || operand->type == DOC_STRING)
        return TANSU_OK;
    return parse_bad(p, name, "Operand inside \"$icase\" must be a string");
}

/* ---- Comparisons ---- */

/* refuse_regex -- a regular expression is no operand of a comparison other than $eq: "not equal" is
 * hardly what is meant, but "does not match". */
static tansu_status refuse_regex(parser *p, const char *name, const doc_value *operand) {
    return operand->type != DOC_REGEX
               ? TANSU_OK
               : parse_bad(p, name,
                           "Operand must not be a regular expression; use \"$regex\", or \"$not\" "
                           "with the expression for what it does not match");
}

/* number_range -- how a comparison with NaN is meant: it equals itself and is in no range. */
static enum test_op number_range(enum test_op op, const doc_value *operand) {
    if (op == TEST_EQ || !number_is_nan(operand))
        return op;
    return op == TEST_GTE || op == TEST_LTE ? TEST_EQ : TEST_IN;
}

/* add_compare -- a comparison with one value. */
static tansu_status add_compare(parser *p, node *parent, enum test_op op, const char *name,
                                const doc_value *operand) {
    test *t;
    tansu_status status = parse_check_operand(p, name, operand);
    if (status == TANSU_OK && op != TEST_EQ)
        status = refuse_regex(p, name, operand);
    if (status == TANSU_OK)
        status = parse_add_test(p, parent, number_range(op, operand), name, &t);
    /* An $in without values, which selects nothing. */
    if (status != TANSU_OK || t->op == TEST_IN)
        return status;
    t->other_kinds = operand->type == DOC_MIN_KEY   ? op == TEST_GT || op == TEST_GTE
                     : operand->type == DOC_MAX_KEY ? op == TEST_LT || op == TEST_LTE
                                                    : false;
    t->special = t->other_kinds;
    return set_operand(p, t, operand);
}

tansu_status parse_eq(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_EQ, name, operand);
}

tansu_status parse_order(parser *p, node *parent, enum test_op op, const doc_value *operand) {
    test *t;
    tansu_status status = parse_add_test(p, parent, op, "", &t);
    if (status != TANSU_OK)
        return status;
    t->other_kinds = t->special = true;
    return set_operand(p, t, operand);
}

/* read_gt -- greater, among the operand's kind. */
static tansu_status read_gt(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_GT, name, operand);
}

/* read_gte -- greater or equal, among the operand's kind. */
static tansu_status read_gte(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_GTE, name, operand);
}

/* read_lt -- less, among the operand's kind. */
static tansu_status read_lt(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_LT, name, operand);
}

/* read_lte -- less or equal, among the operand's kind. */
static tansu_status read_lte(parser *p, node *parent, const char *name, const doc_value *operand) {
    return add_compare(p, parent, TEST_LTE, name, operand);
}

/* read_ne -- everything that $eq does not select (rule 5). */
static tansu_status read_ne(parser *p, node *parent, const char *name, const doc_value *operand) {
    tansu_status status = refuse_regex(p, name, operand);
    if (status == TANSU_OK)
        status = parse_add_not(p, &parent);
    return status == TANSU_OK ? parse_eq(p, parent, name, operand) : status;
}

/* read_between -- an inclusive range, its ends in either order. One test, so that one element of an
 * array must be in the range. */
static tansu_status read_between(parser *p, node *parent, const char *name,
                                 const doc_value *operand) {
    uint32_t count;
    if (!doc_array_size(operand, &count) || count != 2)
        return parse_bad(p, name, "Operand must be an array of two values, [from, to]");
    doc_value ends[2];
    doc_iter iter;
    bool valid = doc_iter_value(&iter, operand);
    for (int i = 0; i < 2 && valid && doc_iter_next(&iter); i++) {
        ends[i] = iter.value;
        tansu_status status = parse_check_operand(p, name, &ends[i]);
        if (status != TANSU_OK)
            return status;
    }
    if (value_kind_of(ends[0].type) != value_kind_of(ends[1].type))
        return parse_bad(
            p, name, "Both values must be of the same kind, such as two numbers or two strings");
    test *t;
    tansu_status status = parse_add_test(p, parent, TEST_BETWEEN, name, &t);
    if (status != TANSU_OK)
        return status;
    if (number_is_nan(&ends[0]) || number_is_nan(&ends[1])) {
        t->op = number_is_nan(&ends[0]) && number_is_nan(&ends[1]) ? TEST_EQ : TEST_IN;
        return t->op == TEST_EQ ? set_operand(p, t, &ends[0]) : TANSU_OK;
    }
    t->special = true;
    t->operands = arena_alloc(&p->q->memory, sizeof *t->operands);
    if (!t->operands)
        return error_memory(p->error);
    t->operand_count = 1;
    t->operands[0] = ends[1];
    status = set_operand(p, t, &ends[0]);
    if (status == TANSU_OK && t->collation)
        status = parse_collate(p, t->collation, &t->operands[0]);
    if (status == TANSU_OK && value_compare(&t->operand, &t->operands[0]) > 0) {
        doc_value upper = t->operand;
        t->operand = t->operands[0];
        t->operands[0] = upper;
    }
    return status;
}

/* make_string -- makes a string value that lives as long as the query. */
static tansu_status make_string(parser *p, const void *text, size_t size, doc_value *value) {
    uint8_t *bytes = arena_alloc(&p->q->memory, size + 5);
    if (!bytes)
        return error_memory(p->error);
    store_u32(bytes, (uint32_t)size + 1);
    memcpy(bytes + 4, text, size);
    *value = (doc_value){bytes, (uint32_t)size + 5, DOC_STRING};
    return TANSU_OK;
}

/* make_regex -- makes a regular expression with its options in order, as they are stored. */
static tansu_status make_regex(parser *p, const char *pattern, size_t size, const char *letters,
                               doc_value *value) {
    size_t count = strlen(letters);
    uint8_t *bytes = arena_alloc(&p->q->memory, size + count + 2);
    if (!bytes)
        return error_memory(p->error);
    memcpy(bytes, pattern, size);
    uint8_t *options = bytes + size + 1;
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && options[at - 1] > (uint8_t)letters[i]; at--)
            options[at] = options[at - 1];
        options[at] = (uint8_t)letters[i];
    }
    *value = (doc_value){bytes, (uint32_t)(size + count) + 2, DOC_REGEX};
    return TANSU_OK;
}

/* add_regex -- a test with a regular expression, for the strings that it matches and for a stored
 * one that equals it. The prefix of all its matches becomes the operand, for index bounds. */
static tansu_status add_regex(parser *p, node *parent, const char *name, const char *pattern,
                              size_t size, const char *letters) {
    test *t;
    tansu_status status = parse_add_test(p, parent, TEST_REGEX, name, &t);
    if (status != TANSU_OK)
        return status;
    t->special = true;
    const char *context = parse_context(p, name);
    t->context = arena_copy(&p->q->memory, context, strlen(context));
    t->operands = arena_alloc(&p->q->memory, sizeof *t->operands);
    if (!t->context || !t->operands)
        return error_memory(p->error);
    const regex_source source = {.pattern = pattern,
                                 .size = size,
                                 .options = letters,
                                 .ignore_case = p->ignore_case,
                                 .error_context = t->context};
    status =
        regex_compile(&p->q->memory, &p->q->regexes, &source, &p->q->deadline, &t->regex, p->error);
    if (status == TANSU_OK && !p->ignore_case)
        status = make_regex(p, pattern, size, letters, &t->operand);
    if (status != TANSU_OK)
        return status;
    if (!regex_prefix(t->regex, &p->scratch))
        return error_memory(p->error);
    if (p->scratch.size == 0)
        return TANSU_OK;
    t->operand_count = 1;
    return make_string(p, p->scratch.data, p->scratch.size, &t->operands[0]);
}

/* A BSON regex is its pattern and its options, both NUL-terminated. */
tansu_status parse_regex_value(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    const char *pattern = (const char *)operand->data;
    size_t size = strlen(pattern);
    return add_regex(p, parent, name, pattern, size, pattern + size + 1);
}

/* ---- Strings ---- */

/* copy_strings -- copies the operand, a string or an array of strings, to the test's operands. */
static tansu_status copy_strings(parser *p, test *t, const char *name, const doc_value *operand) {
    static const char wrong[] = "Operand must be a string or an array of strings";
    uint32_t count = 1;
    doc_iter iter = {0};
    bool several = doc_array_size(operand, &count);
    if (several && count == 0)
        return parse_bad(p, name, "Array of strings is empty; give at least one");
    t->operands = arena_alloc(&p->q->memory, (several ? count : 1) * sizeof *t->operands);
    if (!t->operands)
        return error_memory(p->error);
    if (!several)
        t->operands[t->operand_count++] = *operand;
    bool valid = several && doc_iter_value(&iter, operand);
    while (valid && doc_iter_next(&iter))
        t->operands[t->operand_count++] = iter.value;
    tansu_status status = TANSU_OK;
    for (uint32_t i = 0; status == TANSU_OK && i < t->operand_count; i++) {
        if (t->operands[i].type != DOC_STRING)
            return parse_bad(p, name, wrong);
        if (p->ignore_case)
            status = parse_collate(p, &without_case, &t->operands[i]);
    }
    if (status == TANSU_OK && t->op != TEST_TOKEN)
        strings_sort(t);
    return status == TANSU_OK && !strings_prepare(&p->q->memory, t) ? error_memory(p->error)
                                                                    : status;
}

/* add_strings -- a test with one or several strings. $collation does not apply, since parts of
 * strings are compared. */
static tansu_status add_strings(parser *p, node *parent, enum test_op op, const char *name,
                                const doc_value *operand, test **result) {
    tansu_status status = parse_add_test(p, parent, op, name, result);
    if (status != TANSU_OK)
        return status;
    test *t = *result;
    t->special = op != TEST_BEGIN || p->ignore_case;
    t->collation = p->ignore_case ? &without_case : NULL;
    return copy_strings(p, t, name, operand);
}

/* read_begin -- strings that begin with one of the operands. */
static tansu_status read_begin(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    test *t;
    return add_strings(p, parent, TEST_BEGIN, name, operand, &t);
}

/* read_end -- strings that end with one of the operands. */
static tansu_status read_end(parser *p, node *parent, const char *name, const doc_value *operand) {
    test *t;
    return add_strings(p, parent, TEST_END, name, operand, &t);
}

/* read_contains -- strings that contain one of the operands. */
static tansu_status read_contains(parser *p, node *parent, const char *name,
                                  const doc_value *operand) {
    test *t;
    return add_strings(p, parent, TEST_CONTAINS, name, operand, &t);
}

/* split_tokens -- replaces the operands by the tokens in them. */
static tansu_status split_tokens(parser *p, test *t, const char *name) {
    uint32_t count = t->operand_count, found = 0;
    doc_value *strings = t->operands;
    size_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most += strings[i].size / 2;
    doc_value *tokens = arena_alloc(&p->q->memory, (most + 1) * sizeof *tokens);
    if (!tokens)
        return error_memory(p->error);
    for (uint32_t i = 0; i < count; i++) {
        size_t size, token_size, at = 0;
        const char *token, *text = doc_string(&strings[i], &size);
        while (next_token(text, size, &at, &token, &token_size)) {
            tansu_status status = make_string(p, token, token_size, &tokens[found++]);
            if (status != TANSU_OK)
                return status;
        }
    }
    if (found == 0)
        return parse_bad(p, name,
                         "Operand has no token; tokens are separated by white space and commas");
    t->operands = tokens;
    t->operand_count = found;
    strings_sort(t);
    return TANSU_OK;
}

/* read_stror -- any of the tokens. */
static tansu_status read_stror(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    test *t;
    tansu_status status = add_strings(p, parent, TEST_TOKEN, name, operand, &t);
    return status == TANSU_OK ? split_tokens(p, t, name) : status;
}

/* read_strand -- all of the tokens. A test for each, so that different strings of an array may have
 * them. */
static tansu_status read_strand(parser *p, node *parent, const char *name,
                                const doc_value *operand) {
    node *all;
    test *first, *more;
    tansu_status status = parse_add(p, parent, NODE_AND, &all);
    if (status == TANSU_OK)
        status = read_stror(p, all, name, operand);
    if (status != TANSU_OK)
        return status;
    first = all->first->test;
    for (uint32_t i = 1; i < first->operand_count; i++) {
        status = parse_add_test(p, all, TEST_TOKEN, name, &more);
        if (status != TANSU_OK)
            return status;
        const path *path = more->path;
        *more = *first;
        more->path = path;
        more->operands = first->operands + i;
        more->operand_count = 1;
    }
    first->operand_count = 1;
    return TANSU_OK;
}

/* read_regex -- a pattern or a BSON regex; $options next to it may have the option letters. */
static tansu_status read_regex(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    const doc_value *options = p->regex_options;
    const char *letters = "", *pattern;
    size_t size;
    if (options) {
        if (options->type != DOC_STRING)
            return parse_bad(p, "$options",
                             "Operand must be a string of the letters i, m, s, x and u");
        letters = doc_string(options, &size);
        if (strspn(letters, "imsxu") != size)
            return parse_bad(p, "$options",
                             "Options have an unknown letter; use the letters i, m, s, x and u");
    }
    if (operand->type == DOC_REGEX) {
        pattern = (const char *)operand->data;
        size = strlen(pattern);
        if (options && pattern[size + 1] != 0)
            return parse_bad(p, "$options",
                             "Regular expression already has options; remove \"$options\"");
        return add_regex(p, parent, name, pattern, size, options ? letters : pattern + size + 1);
    }
    if (operand->type != DOC_STRING)
        return parse_bad(p, name, "Operand must be a string (the pattern) or a regex");
    pattern = doc_string(operand, &size);
    if (memchr(pattern, 0, size))
        return parse_bad(p, name, "Pattern contains a NUL character; write it as \\x00");
    return add_regex(p, parent, name, pattern, size, letters);
}

/* read_options -- read_regex() has read it. */
static tansu_status read_options(parser *p, node *parent, const char *name,
                                 const doc_value *operand) {
    (void)parent;
    (void)operand;
    return p->regex_options ? TANSU_OK
                            : parse_bad(p, name, "\"$options\" needs a \"$regex\" next to it");
}

/* ---- Operators that contain others ---- */

/* read_not -- the negation of any condition on the same path. */
static tansu_status read_not(parser *p, node *parent, const char *name, const doc_value *operand) {
    const doc_value *options = p->regex_options;
    doc_iter iter;
    if (operand->type == DOC_DOCUMENT && (!doc_iter_value(&iter, operand) || !doc_iter_next(&iter)))
        return parse_bad(
            p, name,
            "Condition is empty; give one, or use {\"$ne\": {}} for documents that are "
            "not empty");
    p->regex_options = NULL;
    parse_place place;
    parse_enter(p, name, -1, &place);
    tansu_status status = parse_add_not(p, &parent);
    node *all;
    if (status == TANSU_OK)
        status = parse_add(p, parent, NODE_AND, &all);
    if (status == TANSU_OK)
        status = parse_condition(p, all, operand);
    parse_leave(p, &place);
    p->regex_options = options;
    return status;
}

/* is_string_operator -- whether an operator is allowed inside $icase. */
static bool is_string_operator(const char *name) {
    static const char *const names[] = {
        "$eq",     "$ne",    "$gt",      "$gte",     "$lt",         "$lte",      "$in",
        "$nin",    "$bt",    "$between", "$begin",   "$beginsWith", "$endsWith", "$contains",
        "$strand", "$stror", "$regex",   "$options", "$not"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
    }
    return false;
}

/* read_icase -- a string, a regex or operators on strings, ignoring letter case. */
static tansu_status read_icase(parser *p, node *parent, const char *name,
                               const doc_value *operand) {
    doc_iter iter = {0};
    if (operand->type != DOC_STRING && operand->type != DOC_REGEX && operand->type != DOC_DOCUMENT)
        return parse_bad(p, name,
                         "Operand must be a string, or a document of operators on strings");
    bool valid = operand->type == DOC_DOCUMENT && doc_iter_value(&iter, operand);
    bool any = operand->type != DOC_DOCUMENT;
    while (valid && doc_iter_next(&iter)) {
        any = true;
        if (!is_string_operator(iter.key))
            return parse_bad(
                p, name,
                "Operator is not allowed inside \"$icase\"; use operators on strings only");
    }
    if (!any)
        return parse_bad(p, name, "Operand is empty; give at least one operator on strings");
    collation *by = arena_alloc(&p->q->memory, sizeof *by);
    node *all;
    tansu_status status = by ? parse_add(p, parent, NODE_AND, &all) : error_memory(p->error);
    if (status != TANSU_OK)
        return status;
    const collation *outer = p->collation;
    bool ignored = p->ignore_case;
    *by = (collation){.fold = true, .numeric = outer && outer->numeric};
    p->collation = by;
    p->ignore_case = true;
    status = parse_condition(p, all, operand);
    p->collation = outer;
    p->ignore_case = ignored;
    return status;
}

/* All operators on fields. */
static const struct field_operator {
    const char *name;
    operator_parser parse;
} field_operators[] = {
    {"$eq", parse_eq},
    {"$ne", read_ne},
    {"$gt", read_gt},
    {"$gte", read_gte},
    {"$lt", read_lt},
    {"$lte", read_lte},
    {"$in", parse_in},
    {"$nin", parse_nin},
    {"$exists", parse_exists},
    {"$begin", read_begin},
    {"$beginsWith", read_begin},
    {"$not", read_not},
    {"$and", parse_branches},
    {"$or", parse_branches},
    {"$nor", parse_branches},
    {"$bt", read_between},
    {"$between", read_between},
    {"$endsWith", read_end},
    {"$contains", read_contains},
    {"$regex", read_regex},
    {"$options", read_options},
    {"$icase", read_icase},
    {"$strand", read_strand},
    {"$stror", read_stror},
    {"$all", parse_all},
    {"$size", parse_size},
    {"$elemMatch", parse_element},
    {"$allMatch", parse_element},
    {"$type", parse_type},
    {"$mod", parse_mod},
    {"$bitsAllSet", parse_bits},
    {"$bitsAnySet", parse_bits},
    {"$bitsAllClear", parse_bits},
    {"$bitsAnyClear", parse_bits},
    {"$keyMapMatch", parse_element},
};

tansu_status parse_operator(parser *p, node *parent, const char *name, const doc_value *operand) {
    for (size_t i = 0; i < sizeof field_operators / sizeof *field_operators; i++) {
        if (strcmp(field_operators[i].name, name) == 0)
            return field_operators[i].parse(p, parent, name, operand);
    }
    if (strcmp(name, "$text") == 0)
        return parse_bad(p, name, PARSE_NO_TEXT);
    return parse_bad(p, name,
                     "Unknown operator on a field; docs/query-language.md lists all operators");
}
