/*
 * query/expression/expression.h -- the expressions of MongoDB's aggregation language: compiling
 * them, and computing their values of documents (docs/expressions.md).
 *
 * An expression is compiled once, into a tree whose nodes lie in one arena; constant parts are
 * computed then. Values are BSON values in place: of the document, of the compiled expression, or
 * in the memory of the evaluation.
 */
#ifndef TANSU_QUERY_EXPRESSION_EXPRESSION_H
#define TANSU_QUERY_EXPRESSION_EXPRESSION_H

#include "bson/document.h"
#include "query/match/collation.h"
#include "query/match/match_context.h"
#include "query/match/node.h"
#include "query/util/deadline.h"
#include "query/util/time_zone.h"
#include "util/arena.h"
#include "util/error.h"

typedef struct expression expression;

/* ---- Evaluating ---- */

/* The variables that every expression has. Others follow. */
enum {
    VARIABLE_ROOT,    /* the document */
    VARIABLE_CURRENT, /* what "$field" is a field of: the document */
    VARIABLE_NOW,     /* when the operation began */
    VARIABLE_CLUSTER_TIME,
    VARIABLE_USER /* the first one that has been given a value by the user */
};

/* The most variables that are in scope at one place. */
#define VARIABLES_MAX 256

/* The limit of memory for the values of one document, unless another one is set. */
#define EVALUATION_MEMORY ((size_t)100 * 1024 * 1024)

/* A buffer for a value that is being built. */
typedef struct build_buffer {
    struct build_buffer *next;
    size_t below; /* bytes of the buffers that were being filled when this one was begun */
    tansu_buffer bytes;
} build_buffer;

/* Where an array of the document was read by position last: in a loop the next position is near. */
typedef struct array_cursor {
    const uint8_t *array; /* its bytes; NULL: none */
    doc_iter iter;
    int64_t at;    /* the position of iter.value; -1: before the first */
    int64_t count; /* of elements; -1: not known */
} array_cursor;

/*
 * What expressions are evaluated with, for one document after the other. Zeroed, and then
 * evaluation_init(), it is ready; evaluation_free() frees it. One thread uses it at a time.
 */
typedef struct evaluation {
    arena memory; /* of the values; evaluation_document() frees it */
    doc_value variables[VARIABLES_MAX];
    const collation *collation; /* NULL: strings compare by their bytes */
    const deadline *deadline;   /* NULL: none */
    tansu_error *error;
    match_context match; /* of regular expressions, and of queries in expressions */
    uint64_t steps;
    uint64_t random; /* state of $rand */
    double score;    /* of the document in a search by $text */
    time_zone_cache zones;
    uint8_t now[8];
    build_buffer *free_buffers;
    build_buffer *open_buffers; /* the last one that was begun is first */
    tansu_buffer collated[2];
    array_cursor cursor;
} evaluation;

/* evaluation_init -- sets the variables that all expressions have: no document, and the time. */
void evaluation_init(evaluation *ev, const collation *collation, const deadline *deadline,
                     tansu_error *error);

/* evaluation_free -- frees its memory. */
void evaluation_free(evaluation *ev);

/* evaluation_clear -- frees the values of the document before. */
void evaluation_clear(evaluation *ev);

/* evaluation_document -- the same, and sets the document: ROOT and CURRENT. */
static inline void evaluation_document(evaluation *ev, const uint8_t *doc, size_t size) {
    if (ev->memory.used != 0 || ev->memory.full || ev->open_buffers)
        evaluation_clear(ev);
    ev->cursor.array = NULL;
    const doc_value value = {doc, (uint32_t)size, doc ? DOC_DOCUMENT : DOC_MISSING};
    ev->variables[VARIABLE_ROOT] = ev->variables[VARIABLE_CURRENT] = value;
}

/* expression_evaluate -- the value for the document; DOC_MISSING if there is none. It lives until
 * evaluation_document(). Errors: INVALID_QUERY (context: the operator), TOO_LARGE, MEMORY, TIMEOUT,
 * CANCELLED. */
tansu_status expression_evaluate(evaluation *ev, const expression *e, doc_value *result);

/* expression_is_true -- whether a value counts as true: all do but false, null, undefined, missing
 * values and zeros. */
bool expression_is_true(const doc_value *value);

/* expression_compare -- the order of two values in expressions: value_compare(), but missing and
 * undefined are before null; with the collation. False when memory is exhausted. */
bool expression_compare(evaluation *ev, const doc_value *a, const doc_value *b, int *order);

/* expression_key -- appends a key of a value: the bytes of two keys have the order of
 * expression_compare(), and no key is a prefix of another. Descending keys have all bits
 * complemented. False when memory is exhausted. */
bool expression_key(evaluation *ev, tansu_buffer *key, const doc_value *value, bool descending);

/* ---- Compiling ---- */

/* A variable in scope. */
typedef struct variable_name {
    const char *name; /* not NUL-terminated */
    size_t size;
    uint32_t slot;
} variable_name;

/* Whether the documents of what is compiled have a score. */
enum score_there {
    SCORE_NOWHERE, /* nothing searches by $text */
    SCORE_THERE,
    SCORE_BEHIND /* the stages before made other documents, or put them into another order */
};

/* What is compiled together: expressions of one stage, or of one query. */
typedef struct expression_compiler {
    arena *memory;              /* of the expressions, which keep what they were compiled from */
    const collation *collation; /* NULL: strings compare by their bytes */
    const deadline *deadline;
    tansu_error *error;
    regex **regexes; /* list for regex_free_all() */
    variable_name variables[VARIABLES_MAX];
    uint32_t variable_count; /* in scope */
    uint32_t slot_count;     /* slots in use, with those of the system */
    uint32_t lowest_slot;    /* of the user's variables that were read; VARIABLES_MAX: none */
    uint32_t depth;
    size_t folded;       /* bytes of values that were computed for constant parts */
    bool unreached;      /* no document reaches what is compiled: constant parts may fail */
    bool redact;         /* $$DESCEND, $$PRUNE and $$KEEP are known */
    bool reads_document; /* $$ROOT, $$CURRENT, a field or a score was compiled */
    enum score_there score;
    bool reads_score;        /* one was compiled */
    const evaluation *known; /* the variables that are in scope have their values here, which are
                                constants; NULL: they are not known yet */
    uint32_t known_count;    /* slots that have values there */
    evaluation *constant;    /* for constant parts */
} expression_compiler;

/* expression_compiler_init -- without variables of the user. expression_compiler_free() frees what
 * it needs besides `memory`. Errors: MEMORY. */
tansu_status expression_compiler_init(expression_compiler *c, arena *memory, regex **regexes,
                                      const collation *collation, const deadline *deadline,
                                      tansu_error *error);
void expression_compiler_free(expression_compiler *c);

/* expression_scope -- brings the variables of another compiler into scope, and their values if they
 * are known. It may be NULL. */
void expression_scope(expression_compiler *c, const expression_compiler *outer);

/* expression_compile -- compiles the expression that a BSON value is. The value is copied. Errors:
 * INVALID_QUERY, UNSUPPORTED, MEMORY, TIMEOUT, CANCELLED. */
tansu_status expression_compile(expression_compiler *c, const doc_value *value,
                                const expression **result);

/* expression_variable -- brings a variable into scope, and gives it a slot; the scope ends when the
 * caller sets c->variable_count back. `name` is checked. Errors: INVALID_QUERY, MEMORY. */
tansu_status expression_variable(expression_compiler *c, const char *name, size_t size,
                                 uint32_t *slot);

/* expression_let -- brings a variable into scope whose value depends on no document: the member
 * {name: expression} of a document of variables. Errors, with the name in the context: as
 * expression_compile(). */
tansu_status expression_let(expression_compiler *c, const doc_iter *member,
                            const expression **value, uint32_t *slot);

/* expression_is_score -- whether a value is {"$meta": "textScore"}. */
bool expression_is_score(const doc_value *value);

/* What is said where no score is. */
#define EXPRESSION_NO_SCORE                                                                        \
    "Query requires text score metadata, which a search by \"$text\" in the query gives; add it, " \
    "or "                                                                                          \
    "remove \"$meta\""
#define EXPRESSION_SCORE_BEHIND                                                                   \
    "Score of \"$text\" is not kept by the stages before; put it into a field by \"$addFields\" " \
    "before them"

/* expression_constant -- the value of an expression that is constant; false if it is not. */
bool expression_constant(const expression *e, doc_value *value);

/* ---- As a condition of a query ---- */

/* {"$expr": expression}. */
typedef struct expression_test {
    document_test test;
    const expression *expression;
    const collation *collation;
} expression_test;

/* What it is evaluated with: match_context.evaluation. */
typedef struct expression_context {
    evaluation *ev; /* with the variables that are in scope */
    tansu_error error;
    evaluation own; /* unless somebody else's is used */
} expression_context;

/* expression_context_of -- what a match context evaluates with; made at the first call. NULL when
 * memory is exhausted. */
expression_context *expression_context_of(match_context *c);

/* expression_test_new -- compiles one, in the memory of the compiler. Errors: as
 * expression_compile(). */
tansu_status expression_test_new(expression_compiler *c, const doc_value *value,
                                 const expression_test **result);

/* expression_comparison -- a condition that the expression implies, of those that the operands of an
 * $and are, or that it is itself: where it is true, a query selects the document that compares a field
 * with a constant, TEST_EQ as queries do, TEST_GT, GTE, LT and LTE in the order of all kinds. The text
 * of the path, and the constant; or NULL. `number` is the number of the operand; false with *path NULL
 * when there are no more. */
bool expression_comparison(const expression *e, uint32_t number, enum test_op *op,
                           const char **path, doc_value *constant);

/* expression_field -- the text of the path if the expression is "$path" and nothing else; else
 * NULL. It lives as long as the expression. */
const char *expression_field(const expression *e);

/* field_name_is_dollar -- whether a part of a path begins with $ and is none of the names of a
 * DBRef, "$ref", "$id" and "$db", which paths may have. */
bool field_name_is_dollar(const char *name, size_t size);

#endif
