/*
 * test_expression_evaluator.c -- what holds of all expressions, whatever their operators mean:
 *
 *   constants   a constant has the value that the same value in a field has
 *   order       the keys of values have the order of comparisons
 *   operands    no operand of any operator crashes, or makes what is no BSON
 */
#include "bson/writer.h"
#include "query/expression/expression_internal.h"
#include "support/calls/evaluate_expression.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"
#include "support/random/random_bson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All operators, and the kind of value that most of them take. */
enum kind { KIND_ANY, KIND_A_NUMBER, KIND_A_TEXT, KIND_A_LIST, KIND_AN_OBJECT, KIND_A_DATE };

static const struct {
    const operator_info *operators;
    enum kind kind;
} tables[] = {
    {operators_arithmetic, KIND_A_NUMBER},    {operators_array, KIND_A_LIST},
    {operators_bitwise, KIND_A_NUMBER},       {operators_boolean, KIND_ANY},
    {operators_conversion, KIND_ANY},         {operators_date, KIND_A_DATE},
    {operators_date_arithmetic, KIND_A_DATE}, {operators_date_text, KIND_A_DATE},
    {operators_group, KIND_A_NUMBER},         {operators_higher_order, KIND_A_LIST},
    {operators_miscellaneous, KIND_ANY},      {operators_object, KIND_AN_OBJECT},
    {operators_regex, KIND_A_TEXT},           {operators_set, KIND_A_LIST},
    {operators_string, KIND_A_TEXT},          {operators_trigonometry, KIND_A_NUMBER},
};

#define TABLES (sizeof tables / sizeof *tables)

/* ---- Evaluating one expression ---- */

static const collation ignoring_case = {.fold = true};

/* note_expression -- explains a failure. */
static void note_expression(const char *what, const bson_t *holder) {
    char *text = bson_as_canonical_extended_json(holder, NULL);
    check_note("%s: %.3000s", what, text ? text : "(beyond JSON)");
    bson_free(text);
}

/* ---- Constants ---- */

/* An expression in two forms: with its constants in place, and with the same values in fields. */
typedef struct pair {
    random_source *source;
    bson_t *fields;     /* the document */
    unsigned count;     /* fields */
    unsigned variables; /* in scope: $$v0, $$v1, … */
    bool mixed;         /* parts of the first form are fields, too */
} pair;

static void append_expression(pair *p, bson_t *a, bson_t *b, const char *key, enum kind kind,
                              int depth);

/* append_kind -- a value of a kind, or sometimes of any. */
static void append_kind(random_source *source, bson_t *doc, const char *key, enum kind kind) {
    static const char *const texts[] = {"", "a", "ab", "B", "2020-01-02T03:04:05Z", "12", "é"};
    bson_t inner;
    char index[12];
    if (random_chance(source, 10))
        kind = (enum kind)random_below(source, 6);
    switch (kind) {
    case KIND_A_NUMBER:
        if (random_chance(source, 60))
            bson_append_int32(doc, key, -1, (int32_t)random_between(source, -3, 5));
        else
            random_append_number(source, doc, key, -1);
        break;
    case KIND_A_TEXT:
        bson_append_utf8(doc, key, -1, texts[random_below(source, sizeof texts / sizeof *texts)],
                         -1);
        break;
    case KIND_A_LIST:
        bson_append_array_begin(doc, key, -1, &inner);
        for (unsigned i = 0, count = (unsigned)random_below(source, 5); i < count; i++) {
            snprintf(index, sizeof index, "%u", i);
            random_append_value(source, &inner, index, -1, 1);
        }
        bson_append_array_end(doc, &inner);
        break;
    case KIND_AN_OBJECT:
        bson_append_document_begin(doc, key, -1, &inner);
        random_append_fields(source, &inner, 3, 1);
        bson_append_document_end(doc, &inner);
        break;
    case KIND_A_DATE:
        bson_append_date_time(doc, key, -1, random_between(source, -1000000, 1000000) * 86399999);
        break;
    default: random_append_value(source, doc, key, -1, 1); break;
    }
}

/* append_leaf -- a constant, a field in both forms, or a variable. */
static void append_leaf(pair *p, bson_t *a, bson_t *b, const char *key, enum kind kind) {
    char name[32];
    bson_t literal;
    if (p->variables != 0 && random_chance(p->source, 40)) {
        snprintf(name, sizeof name, "$$v%u", (unsigned)random_below(p->source, p->variables));
        bson_append_utf8(a, key, -1, name, -1);
        bson_append_utf8(b, key, -1, name, -1);
        return;
    }
    if (random_chance(p->source, 6)) {
        bson_append_utf8(a, key, -1, "$$REMOVE", -1);
        bson_append_utf8(b, key, -1, "$missing", -1);
        return;
    }
    snprintf(name, sizeof name, "$q%u", p->count++);
    append_kind(p->source, p->fields, name + 1, kind);
    bson_append_utf8(b, key, -1, name, -1);
    if (p->mixed && random_chance(p->source, 40)) {
        bson_append_utf8(a, key, -1, name, -1);
        return;
    }
    bson_iter_t iter;
    REQUIRE(bson_iter_init_find(&iter, p->fields, name + 1));
    bson_append_document_begin(a, key, -1, &literal);
    bson_append_iter(&literal, "$literal", -1, &iter);
    bson_append_document_end(a, &literal);
}

/* append_scoped -- a part that sees one more variable. */
static void append_scoped(pair *p, bson_t *a, bson_t *b, const char *key, enum kind kind,
                          int depth) {
    p->variables++;
    append_expression(p, a, b, key, kind, depth);
    p->variables--;
}

/* append_form -- the operand of an operator that has a form of its own; false if it is not among
 * those that are written here. */
static bool append_form(pair *p, bson_t *a, bson_t *b, const char *name, int depth) {
    char variable[16];
    bson_t x, y, inner_x, inner_y;
    bool each = strcmp(name, "$map") == 0 || strcmp(name, "$filter") == 0;
    bool sorts = strcmp(name, "$sortArray") == 0, lets = strcmp(name, "$let") == 0;
    bool reduces = strcmp(name, "$reduce") == 0, sets = strcmp(name, "$setField") == 0;
    if (!each && !sorts && !lets && !reduces && !sets)
        return false;
    snprintf(variable, sizeof variable, "v%u", p->variables);
    bson_append_document_begin(a, name, -1, &x);
    bson_append_document_begin(b, name, -1, &y);
    if (lets) {
        bson_append_document_begin(&x, "vars", -1, &inner_x);
        bson_append_document_begin(&y, "vars", -1, &inner_y);
        append_expression(p, &inner_x, &inner_y, variable, KIND_ANY, depth);
        bson_append_document_end(&x, &inner_x);
        bson_append_document_end(&y, &inner_y);
        append_scoped(p, &x, &y, "in", KIND_ANY, depth);
    } else {
        append_expression(p, &x, &y, "input", sets ? KIND_AN_OBJECT : KIND_A_LIST, depth);
    }
    if (each) {
        bson_append_utf8(&x, "as", -1, variable, -1);
        bson_append_utf8(&y, "as", -1, variable, -1);
        append_scoped(p, &x, &y, name[1] == 'm' ? "in" : "cond", KIND_ANY, depth);
    }
    if (sorts) {
        bson_append_int32(&x, "sortBy", -1, 1);
        bson_append_int32(&y, "sortBy", -1, 1);
    }
    if (reduces) {
        append_expression(p, &x, &y, "initialValue", KIND_ANY, depth);
        append_expression(p, &x, &y, "in", KIND_ANY, depth);
    }
    if (sets) {
        bson_append_utf8(&x, "field", -1, "a", -1);
        bson_append_utf8(&y, "field", -1, "a", -1);
        append_expression(p, &x, &y, "value", KIND_ANY, depth);
    }
    bson_append_document_end(a, &x);
    bson_append_document_end(b, &y);
    return true;
}

/* append_positions -- operands by position. */
static void append_positions(pair *p, bson_t *a, bson_t *b, const char *name, unsigned least,
                             unsigned most, enum kind kind, int depth) {
    bson_t x, y;
    char index[12];
    unsigned count = most <= least ? least : least + (unsigned)random_below(p->source, 3);
    if (count > most)
        count = most;
    bson_append_array_begin(a, name, -1, &x);
    bson_append_array_begin(b, name, -1, &y);
    for (unsigned i = 0; i < count; i++) {
        snprintf(index, sizeof index, "%u", i);
        append_expression(p, &x, &y, index,
                          i == 0 || random_chance(p->source, 50) ? kind : KIND_A_NUMBER, depth);
    }
    bson_append_array_end(a, &x);
    bson_append_array_end(b, &y);
}

/* append_names -- operands by name; those that need not be given are sometimes. */
static void append_names(pair *p, bson_t *a, bson_t *b, const operator_info *op, enum kind kind,
                         int depth) {
    bson_t x, y;
    bson_append_document_begin(a, op->name, -1, &x);
    bson_append_document_begin(b, op->name, -1, &y);
    for (const char *at = op->named; *at;) {
        char member[32];
        size_t size = strcspn(at, " ");
        bool required = at[size - 1] == '!';
        snprintf(member, sizeof member, "%.*s", (int)(size - required), at);
        if (required || random_chance(p->source, 40))
            append_expression(p, &x, &y, member, kind, depth);
        at += size;
        at += strspn(at, " ");
    }
    bson_append_document_end(a, &x);
    bson_append_document_end(b, &y);
}

/* reorders -- whether an operator evaluates constants after what is none, so that its value may be
 * another one of equal values, or an error another one. */
static bool reorders(const operator_info *op) {
    return op->compile == compile_commutative || strcmp(op->name, "$and") == 0 ||
           strcmp(op->name, "$or") == 0 || strcmp(op->name, "$add") == 0 ||
           strcmp(op->name, "$multiply") == 0;
}

/* checks_constants -- whether an operator refuses constants that it would not come to, such as a time
 * zone beside a date that is null: those of dates. */
static bool checks_constants(const operator_info *op) {
    static const operator_info *const dates[] = {operators_date, operators_date_arithmetic,
                                                 operators_date_text};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        for (const operator_info *at = dates[i]; at->name; at++) {
            if (at == op)
                return true;
        }
    }
    return false;
}

/* choose_operator -- one that mostly makes values of a kind. */
static const operator_info *choose_operator(random_source *source, enum kind kind, enum kind *own) {
    for (;;) {
        size_t table = (size_t)random_below(source, TABLES), count = 0;
        while (tables[table].operators[count].name)
            count++;
        if (count == 0 ||
            (tables[table].kind != kind && kind != KIND_ANY && random_chance(source, 80)))
            continue;
        *own = tables[table].kind;
        return &tables[table].operators[random_below(source, count)];
    }
}

/* by_position -- whether an operator with a form of its own takes operands by position, too. With
 * more than two, $setEquals does not evaluate all, but refuses each constant that is no array; and
 * constants next to each other are computed before the others. */
static bool by_position(const operator_info *op, unsigned *most) {
    static const char *const names[] = {"$ifNull", "$and", "$or", "$cond", "$setEquals"};
    *most = op->compile == compile_commutative ? 4 : op->compile == compile_associative ? 2 : 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], op->name) == 0)
            *most = i < 3 ? 4 : i == 3 ? 3 : 2;
    }
    return *most != 0;
}

/* append_expression -- both forms of an expression. */
static void append_expression(pair *p, bson_t *a, bson_t *b, const char *key, enum kind kind,
                              int depth) {
    bson_t x, y;
    enum kind own;
    unsigned most;
    const operator_info *op = choose_operator(p->source, kind, &own);
    bool fixed_order = p->mixed || p->variables != 0 || depth > 1;
    if (depth == 0 || random_chance(p->source, 25) || op->varies || checks_constants(op) ||
        (fixed_order && reorders(op))) {
        append_leaf(p, a, b, key, kind);
        return;
    }
    bson_append_document_begin(a, key, -1, &x);
    bson_append_document_begin(b, key, -1, &y);
    if (op->named)
        append_names(p, &x, &y, op, own, depth - 1);
    else if (!op->compile)
        append_positions(p, &x, &y, op->name, op->min, op->max, own, depth - 1);
    else if (by_position(op, &most))
        append_positions(p, &x, &y, op->name, most == 4 ? 2 : most, most, own, depth - 1);
    else if (!append_form(p, &x, &y, op->name, depth - 1))
        append_positions(p, &x, &y, "$cond", 3, 3, own, depth - 1);
    bson_append_document_end(a, &x);
    bson_append_document_end(b, &y);
}

/* reads -- whether a part has a name of a variable. */
static bool reads(const doc_value *part, const char *name) {
    return part->size != 0 && memmem(part->data, part->size, name, strlen(name)) != NULL;
}

/* compiles -- whether a part does, where all variables are in scope. */
static bool compiles(const doc_value *part, const bson_t *fields) {
    static const expression_setting how = {.only_compile = true};
    tansu_buffer let = TANSU_BUFFER_INIT, value = TANSU_BUFFER_INIT;
    writer w = {.out = &let};
    tansu_error error;
    size_t start = writer_begin(&w), inner = writer_open(&w, "$let", DOC_DOCUMENT);
    size_t vars = writer_open(&w, "vars", DOC_DOCUMENT);
    static const char *const names[] = {"v0", "v1", "v2", "v3", "this", "value"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        writer_int32(&w, names[i], 1);
    writer_end(&w, vars);
    writer_value(&w, "in", part);
    writer_end(&w, inner);
    writer_end(&w, start);
    REQUIRE(!w.failed);
    const doc_value e = {let.data, (uint32_t)let.size, DOC_DOCUMENT};
    bool fine = evaluate_expression(&e, fields, &how, &value, &error) == TANSU_OK;
    tansu_buffer_free(&let);
    tansu_buffer_free(&value);
    return fine;
}

/* part_fails -- whether a part of the first form fails already when it is compiled, for its
 * constants, and its second form fails for the document: then the whole is an error, though it may
 * not reach the part. */
static bool part_fails(const doc_value *a, const doc_value *b, const bson_t *fields) {
    doc_iter x, y;
    tansu_error error;
    static const expression_setting usual;
    if (a->type != b->type || (a->type != DOC_DOCUMENT && a->type != DOC_ARRAY))
        return false;
    doc_iter_value(&y, b);
    for (doc_iter_value(&x, a); doc_iter_next(&x) && doc_iter_next(&y);) {
        if (part_fails(&x.value, &y.value, fields))
            return true;
    }
    if (a->type != DOC_DOCUMENT || !doc_iter_value(&x, a) || !doc_iter_next(&x) ||
        x.key[0] != '$' || compiles(a, fields))
        return false;
    tansu_buffer value = TANSU_BUFFER_INIT;
    bool fails =
        reads(b, "$$v") || evaluate_expression(b, fields, &usual, &value, &error) != TANSU_OK;
    tansu_buffer_free(&value);
    return fails;
}

/* check_pair -- compares the two forms of a new expression. */
static bool check_pair(random_source *source, unsigned *values) {
    bson_t a = BSON_INITIALIZER, b = BSON_INITIALIZER, fields = BSON_INITIALIZER;
    tansu_buffer x = TANSU_BUFFER_INIT, y = TANSU_BUFFER_INIT;
    tansu_error error_x, error_y;
    const expression_setting how = {.collation = random_chance(source, 10) ? &ignoring_case : NULL};
    pair p = {.source = source, .fields = &fields, .mixed = random_chance(source, 30)};
    append_expression(&p, &a, &b, "e", KIND_ANY, 1 + (int)random_below(source, 4));
    doc_value e = value_in_bson(&a, "e"), f = value_in_bson(&b, "e");
    tansu_status in_place = evaluate_expression(&e, &fields, &how, &x, &error_x);
    tansu_status by_field = evaluate_expression(&f, &fields, &how, &y, &error_y);
    bool same = in_place == TANSU_OK ? CHECK_BYTES(y.data, y.size, x.data, x.size)
                                     : CHECK(by_field != TANSU_OK || part_fails(&e, &f, &fields));
    same = CHECK(in_place != TANSU_OK || by_field == TANSU_OK) && same;
    *values += in_place == TANSU_OK;
    if (!same) {
        note_expression("constants", &a);
        note_expression("fields", &b);
        note_expression("document", &fields);
        check_note("constants: %s at %s; fields: %s at %s", error_x.message, error_x.context,
                   error_y.message, error_y.context);
    }
    bson_destroy(&a);
    bson_destroy(&b);
    bson_destroy(&fields);
    tansu_buffer_free(&x);
    tansu_buffer_free(&y);
    return same;
}

static void a_constant_is_worth_what_a_field_is(void) {
    random_source source = random_start(1);
    unsigned values = 0;
    uint64_t rounds = random_rounds("TANSU_ROUNDS", 80000);
    for (uint64_t i = 0; i < rounds; i++) {
        if (!check_pair(&source, &values))
            return;
    }
    CHECK(values > rounds / 20);
}

/* Which parts that fail for their constants are errors even where no document reaches them: those
 * of the operators that MongoDB computes beforehand. */
static void constants_that_fail_are_errors(void) {
    static const struct {
        const char *e;
        const char *expected;
    } cases[] = {
        {"{'$cond':['$yes',1,{'$size':2}]}", "$size"},
        {"{'$cond':[true,1,{'$size':2}]}", "$size"},
        {"{'$ifNull':[1,{'$size':2}]}", "$size"},
        {"{'$or':[{'$size':'$yes'},true]}", ""},
        {"{'$and':[{'$size':'$yes'},0]}", ""},
        {"{'$and':[{'$size':'$yes'},1]}", "$size"},
        {"{'$and':[false,{'$size':2}]}", "$size"},
        {"{'$setUnion':['$missing',{'$literal':2}]}", ""},
        {"{'$setUnion':[{'$literal':2},'$missing']}", ""},
        {"{'$setUnion':['$missing',2,3]}", "$setUnion"},
        {"{'$setUnion':['$yes','$missing']}", "$setUnion"},
        {"{'$concatArrays':['$missing',2,3]}", "$concatArrays"},
        {"{'$concatArrays':['$missing',2]}", ""},
        {"{'$setEquals':[[1],[2],3]}", "$setEquals"},
        {"{'$setEquals':[[1],'$list','$yes']}", ""},
        /* Of these they are not. */
        {"{'$cond':[true,1,{'$map':{'input':2,'in':1}}]}", ""},
        {"{'$cond':[true,1,{'$filter':{'input':2,'cond':1}}]}", ""},
        {"{'$cond':[true,1,{'$reduce':{'input':2,'initialValue':1,'in':1}}]}", ""},
        {"{'$cond':[true,1,{'$sortArray':{'input':2,'sortBy':1}}]}", ""},
        {"{'$cond':[true,1,{'$zip':{'inputs':[2]}}]}", ""},
        {"{'$cond':[true,1,{'$setField':{'field':'a','input':2,'value':1}}]}", ""},
        {"{'$map':{'input':2,'in':1}}", "$map"},
        {"{'$switch':{'branches':[{'case':false,'then':{'$size':2}}],'default':1}}", ""},
        {"{'$switch':{'branches':[{'case':true,'then':1},{'case':{'$size':2},'then':1}]}}", ""},
        {"{'$switch':{'branches':[{'case':true,'then':{'$size':2}}]}}", "$size"},
        {"{'$switch':{'branches':[{'case':true,'then':1}],'default':{'$size':2}}}", "$size"},
        {"{'$cond':[true,1,{'$switch':{'branches':[{'case':0,'then':1}]}}]}", "$switch"},
        {"{'$cond':['$yes',1,{'$switch':{'branches':[{'case':'$no','then':1}]}}]}", ""},
    };
    static const expression_setting usual;
    bson_t *fields = bson_from_text("{'yes':true,'no':false,'list':[3]}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        tansu_error error;
        tansu_buffer value = TANSU_BUFFER_INIT;
        snprintf(text, sizeof text, "{'e':%s}", cases[i].e);
        bson_t *holder = bson_from_text(text);
        doc_value e = value_in_bson(holder, "e");
        tansu_status status = evaluate_expression(&e, fields, &usual, &value, &error);
        bool fine = CHECK_STATUS(*cases[i].expected ? TANSU_E_INVALID_QUERY : TANSU_OK, status);
        if (!CHECK_TEXT(cases[i].expected, error.context) || !fine)
            check_note("%s", cases[i].e);
        tansu_buffer_free(&value);
        bson_destroy(holder);
    }
    bson_destroy(fields);
}

/* ---- Order ---- */

/* Keys order values as comparisons do: sets and $sortArray agree with $lt and $eq. */
static void keys_are_in_the_order_of_values(void) {
    random_source source = random_start(3);
    uint64_t rounds = random_rounds("TANSU_ROUNDS", 50000);
    for (uint64_t i = 0; i < rounds; i++) {
        static evaluation ev;
        tansu_error error;
        tansu_buffer keys[2] = {TANSU_BUFFER_INIT, TANSU_BUFFER_INIT};
        bson_t doc = BSON_INITIALIZER;
        doc_value values[2];
        int order = 0;
        bool descending = random_chance(&source, 50);
        evaluation_init(&ev, random_chance(&source, 30) ? &ignoring_case : NULL, NULL, &error);
        for (int k = 0; k < 2; k++) {
            const char *name = k == 0 ? "a" : "b";
            if (random_chance(&source, 10))
                bson_append_undefined(&doc, name, 1);
            else if (random_chance(&source, 10))
                bson_append_null(&doc, name, 1);
            else if (random_chance(&source, 95))
                random_append_value(&source, &doc, name, 1, 2);
        }
        for (int k = 0; k < 2; k++) {
            values[k] = value_in_bson(&doc, k == 0 ? "a" : "b");
            REQUIRE(expression_key(&ev, &keys[k], &values[k], descending));
        }
        REQUIRE(expression_compare(&ev, &values[0], &values[1], &order));
        size_t size = keys[0].size < keys[1].size ? keys[0].size : keys[1].size;
        int by_key = memcmp(keys[0].data, keys[1].data, size);
        CHECK_INT((order > 0) - (order < 0),
                  descending ? (by_key < 0) - (by_key > 0) : (by_key > 0) - (by_key < 0));
        CHECK(by_key != 0 || keys[0].size == keys[1].size);
        evaluation_free(&ev);
        tansu_buffer_free(&keys[0]);
        tansu_buffer_free(&keys[1]);
        bson_destroy(&doc);
    }
}

/* ---- Operands ---- */

/* append_operand -- anything that BSON can say. */
static void append_operand(random_source *source, bson_t *doc, const char *key,
                           const operator_info *op, int depth);

/* append_members -- a document with members that operators have, some of which it should not. */
static void append_members(random_source *source, bson_t *doc, const operator_info *op, int depth) {
    static const char members[] =
        "input as in cond limit initialValue sortBy inputs defaults useLongestLength field value "
        "vars branches case then if else default date unit timezone format onNull onError to year "
        "month day startDate endDate amount regex options find replacement chars dateString n "
        "output sampleRate p method unknown";
    const char *names = op->named && random_chance(source, 70) ? op->named : members;
    for (const char *at = names; *at;) {
        char member[32];
        size_t size = strcspn(at, " !");
        snprintf(member, sizeof member, "%.*s", (int)size, at);
        if (random_chance(source, names == members ? 8 : 80))
            append_operand(source, doc, member, op, depth);
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
}

static void append_operand(random_source *source, bson_t *doc, const char *key,
                           const operator_info *op, int depth) {
    static const char *const paths[] = {"$a",          "$b.a",  "$$ROOT",   "$$v",
                                        "$",           "$$",    "$$this",   "$a..b",
                                        "$$CURRENT.c", "$$NOW", "$$REMOVE", "$$value"};
    bson_t inner;
    char index[12];
    enum kind own;
    switch (random_below(source, depth > 0 ? 8 : 4)) {
    case 0:
        bson_append_utf8(doc, key, -1, paths[random_below(source, sizeof paths / sizeof *paths)],
                         -1);
        break;
    case 1: append_kind(source, doc, key, (enum kind)random_below(source, 6)); break;
    case 2:
    case 3: random_append_value(source, doc, key, -1, 2); break;
    case 4:
    case 5:
        bson_append_array_begin(doc, key, -1, &inner);
        for (unsigned i = 0, count = (unsigned)random_below(source, 5); i < count; i++) {
            snprintf(index, sizeof index, "%u", i);
            append_operand(source, &inner, index, op, depth - 1);
        }
        bson_append_array_end(doc, &inner);
        break;
    case 6:
        bson_append_document_begin(doc, key, -1, &inner);
        append_members(source, &inner, op, depth - 1);
        bson_append_document_end(doc, &inner);
        break;
    default:
        op = choose_operator(source, KIND_ANY, &own);
        bson_append_document_begin(doc, key, -1, &inner);
        append_operand(source, &inner, op->name, op, depth - 1);
        bson_append_document_end(doc, &inner);
        break;
    }
}

/* check_operand -- one operand: an error with a message, or a value that is BSON. */
static bool check_operand(random_source *source, const operator_info *op, const bson_t *doc) {
    bson_t holder = BSON_INITIALIZER, e, made;
    tansu_buffer value = TANSU_BUFFER_INIT;
    tansu_error error, why = {0};
    const expression_setting how = {.collation = random_chance(source, 10) ? &ignoring_case : NULL,
                                    .memory = (size_t)1 << 20};
    bson_append_document_begin(&holder, "e", 1, &e);
    append_operand(source, &e, op->name, op, 3);
    bson_append_document_end(&holder, &e);
    doc_value expression = value_in_bson(&holder, "e");
    tansu_status status = evaluate_expression(&expression, doc, &how, &value, &error);
    bool fine =
        status == TANSU_OK
            ? CHECK(doc_check(value.data, value.size, DOC_CHECK_OWN, &why) == TANSU_OK &&
                    bson_init_static(&made, value.data, value.size) &&
                    bson_validate(&made, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, NULL))
            : CHECK((status == TANSU_E_INVALID_QUERY || status == TANSU_E_TOO_LARGE ||
                     status == TANSU_E_UNSUPPORTED) &&
                    error.message[0] != '\0');
    if (!fine) {
        note_expression(op->name, &holder);
        check_note("status %d: %s; %s", (int)status, error.message, why.message);
    }
    bson_destroy(&holder);
    tansu_buffer_free(&value);
    return fine;
}

static void no_operand_crashes_an_operator(void) {
    random_source source = random_start(2);
    uint64_t rounds = random_rounds("TANSU_ROUNDS", 500);
    for (uint64_t i = 0; i < rounds; i++) {
        bson_t *doc = random_document(&source);
        for (size_t t = 0; t < TABLES; t++) {
            for (const operator_info *op = tables[t].operators; op->name; op++) {
                if (!check_operand(&source, op, doc))
                    i = rounds;
            }
        }
        bson_destroy(doc);
    }
}

int main(void) {
    RUN(a_constant_is_worth_what_a_field_is);
    RUN(constants_that_fail_are_errors);
    RUN(keys_are_in_the_order_of_values);
    RUN(no_operand_crashes_an_operator);
    return check_finish();
}
