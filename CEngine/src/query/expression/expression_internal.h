/*
 * query/expression/expression_internal.h -- what the files of this folder share: the node of an
 * expression, the tables of operators, and making values.
 *
 *   compile.c             BSON to nodes
 *   evaluate.c            nodes to values; making values
 *   field_path.c          "$a.b"
 *   operators_*.c         the operators, by kind
 *
 * How to add an operator: write its evaluate function, and add a line to the table of its file.
 */
#ifndef TANSU_QUERY_EXPRESSION_EXPRESSION_INTERNAL_H
#define TANSU_QUERY_EXPRESSION_EXPRESSION_INTERNAL_H

#include "bson/writer.h"
#include "query/expression/expression.h"

/* Evaluates a node. It sets *result, and returns TANSU_OK or sets the error. */
typedef tansu_status (*expression_function)(evaluation *ev, const expression *e, doc_value *result);

/* Compiles the operand of an operator whose form is its own, into e->args, e->count and e->extra.
 */
typedef tansu_status (*operand_function)(expression_compiler *c, const doc_value *operand,
                                         expression *e);

#define ANY_COUNT 255

/* One operator. */
typedef struct operator_info {
    const char *name; /* "$add" */
    expression_function evaluate;
    uint8_t min, max;  /* operands by position; ANY_COUNT: no limit */
    bool varies;       /* two evaluations may differ: not computed when it is compiled */
    bool fails_late;   /* when it fails for constants, that is the error of the documents for which
                           it is evaluated, as in MongoDB; of others it is an error at once */
    const char *named; /* operands by name, "date! unit timezone": e->args[0] is "date", and so on;
                           those with ! must be given, others are NULL. NULL: by position */
    operand_function compile; /* a form of its own; NULL: none */
    intptr_t variant;         /* for evaluate functions of several operators */
} operator_info;

struct expression {
    expression_function evaluate;
    const operator_info *op; /* NULL: a constant, a field, a document or an array */
    const expression **args; /* those by name may be NULL */
    uint32_t count;
    uint32_t slot;      /* of variables */
    doc_value constant; /* of a constant: its value */
    const void *extra;  /* of the operator */
};

/* The tables, each with an end that has no name. */
extern const operator_info operators_arithmetic[];
extern const operator_info operators_array[];
extern const operator_info operators_bitwise[];
extern const operator_info operators_boolean[];
extern const operator_info operators_conversion[];
extern const operator_info operators_date[];
extern const operator_info operators_date_arithmetic[];
extern const operator_info operators_date_text[];
extern const operator_info operators_group[];
extern const operator_info operators_higher_order[];
extern const operator_info operators_miscellaneous[];
extern const operator_info operators_object[];
extern const operator_info operators_regex[];
extern const operator_info operators_set[];
extern const operator_info operators_string[];
extern const operator_info operators_trigonometry[];

/* ---- Compiling ---- */

/* compile_error -- INVALID_QUERY; the context is the operator's name, or NULL. */
tansu_status compile_error(const expression_compiler *c, const char *context, const char *format,
                           ...) PRINTF_LIKE(3, 4);

/* compile_operands -- the operand of an operator, a value or an array of them, as e->args. Errors:
 * as expression_compile(), and INVALID_QUERY when their number is not from min to max. */
tansu_status compile_operands(expression_compiler *c, const doc_value *operand, expression *e,
                              uint32_t min, uint32_t max);

/* compile_associative -- compile_operands() of any number, for an operator whose operands may be
 * computed group by group: constants next to each other become one. Errors: as
 * expression_compile(). */
tansu_status compile_associative(expression_compiler *c, const doc_value *operand, expression *e);

/* compile_commutative -- the same, when their order may change, too: constants come last, and
 * become one. So null of a field comes before a constant of a wrong type, as in MongoDB. */
tansu_status compile_commutative(expression_compiler *c, const doc_value *operand, expression *e);

/* compile_named -- the operand of an operator, a document whose members are expressions. `names` as
 * in operator_info. Errors: as expression_compile(), and INVALID_QUERY when the operand is no
 * document, a member is unknown, twice or lacking. */
tansu_status compile_named(expression_compiler *c, const doc_value *operand, expression *e,
                           const char *names);

/* compile_args -- room for `count` operands, all NULL. Errors: MEMORY. */
tansu_status compile_args(expression_compiler *c, expression *e, uint32_t count);

/* compile_constant -- a node for a value, which is copied. Errors: MEMORY. */
tansu_status compile_constant(expression_compiler *c, const doc_value *value,
                              const expression **result);

/* find_operator -- the operator of a name, or NULL. */
const operator_info *find_operator(const char *name);

/* ---- Evaluating ---- */

/* evaluation_error -- INVALID_QUERY at the operator's name. */
tansu_status evaluation_error(evaluation *ev, const expression *e, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* evaluation_too_large -- TOO_LARGE at the operator's name: the values exceed their memory, or one
 * exceeds a document's; or MEMORY when memory is exhausted. */
tansu_status evaluation_too_large(evaluation *ev, const expression *e);

/* evaluation_step -- counts work of that many steps (values, or 64 bytes), wherever one evaluation
 * may need many. Errors: those of the deadline. */
static inline tansu_status evaluation_step(evaluation *ev, uint64_t count) {
    uint64_t before = ev->steps;
    ev->steps += count;
    if (!ev->deadline || (before ^ ev->steps) < 4096)
        return TANSU_OK;
    return deadline_check(ev->deadline, ev->error);
}

/* argument -- the value of an operand; an operand by name that was not given is missing. */
static inline tansu_status argument(evaluation *ev, const expression *e, uint32_t i,
                                    doc_value *value) {
    const expression *arg = e->args[i];
    if (!arg) {
        *value = (doc_value){NULL, 0, DOC_MISSING};
        return TANSU_OK;
    }
    return arg->evaluate(ev, arg, value);
}

/* is_nullish -- null, undefined or missing. */
static inline bool is_nullish(const doc_value *value) {
    return value->type == DOC_NULL || value->type == DOC_MISSING || value->type == DOC_UNDEFINED;
}

/* type_name -- MongoDB's name of a value's type, for messages and $type: "int", "missing". */
const char *type_name(const doc_value *value);

/* Values that need memory are made in that of the evaluation. Those that can fail return TANSU_OK,
 * MEMORY or TOO_LARGE. */
static inline tansu_status result_null(doc_value *result) {
    *result = (doc_value){NULL, 0, DOC_NULL};
    return TANSU_OK;
}
static inline tansu_status result_missing(doc_value *result) {
    *result = (doc_value){NULL, 0, DOC_MISSING};
    return TANSU_OK;
}
static inline tansu_status result_bool(bool value, doc_value *result) {
    static const uint8_t bytes[2] = {0, 1};
    *result = (doc_value){&bytes[value], 1, DOC_BOOL};
    return TANSU_OK;
}
tansu_status result_int32(evaluation *ev, int32_t value, doc_value *result);
tansu_status result_int64(evaluation *ev, int64_t value, doc_value *result);
tansu_status result_double(evaluation *ev, double value, doc_value *result);
tansu_status result_date(evaluation *ev, int64_t milliseconds, doc_value *result);
/* result_string -- a string of UTF-8 bytes. */
tansu_status result_string(evaluation *ev, const char *text, size_t size, doc_value *result);
/* result_bytes -- a value of any type, of bytes that are copied. */
tansu_status result_bytes(evaluation *ev, uint8_t type, const void *bytes, size_t size,
                          doc_value *result);

/*
 * A document or an array that is being built; several may be, one within the evaluation of
 * another's parts.
 *
 *     build b;
 *     build_begin(ev, &b);
 *     while (…) build_add(&b, &value);      // or writer functions with &b.w
 *     return build_end(ev, e, &b, DOC_ARRAY, result);
 */
typedef struct build {
    writer w;
    build_buffer *buffer; /* NULL: memory is exhausted */
    size_t start;
    uint32_t count;
} build;

void build_begin(evaluation *ev, build *b);

/* build_add -- the next element of an array; missing is null. */
static inline void build_add(build *b, const doc_value *value) {
    static const doc_value null = {NULL, 0, DOC_NULL};
    writer_index_value(&b->w, b->count++, value->type == DOC_MISSING ? &null : value);
}

/* build_end -- ends and copies the value into the memory of the evaluation. `type` is DOC_DOCUMENT
 * or DOC_ARRAY. Errors: MEMORY, TOO_LARGE. */
tansu_status build_end(evaluation *ev, const expression *e, build *b, uint8_t type,
                       doc_value *result);

/* build_cancel -- gives the buffer back. */
void build_cancel(evaluation *ev, build *b);

/* ---- field_path.c ---- */

/* A path of keys; array positions are no part of it. */
typedef struct field_path {
    const char *text;
    uint32_t count;
    const struct field_name {
        const char *name;
        uint32_t size;
    } * names;
} field_path;

/* field_path_compile -- a dotted path. `context` for errors. Errors: INVALID_QUERY, MEMORY. */
tansu_status field_path_compile(expression_compiler *c, const char *text, size_t size,
                                const field_path **result);

/* field_path_get -- the value at the path of a value. Where the path leads through arrays, the
 * array of what it finds in their documents. `from`: the number of the first name. Errors: MEMORY,
 * TOO_LARGE. */
tansu_status field_path_get(evaluation *ev, const expression *e, const field_path *path,
                            uint32_t from, const doc_value *value, doc_value *result);

#endif
