/*
 * query/expression/compile.c -- from BSON to the nodes of an expression.
 */
#include "query/expression/expression_internal.h"

#include "query/util/key_set.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Nesting of expressions, with that of the documents around them. */
#define DEPTH_MAX 200

tansu_status compile_error(const expression_compiler *c, const char *context, const char *format,
                           ...) {
    char message[sizeof c->error->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return error_set(c->error, TANSU_E_INVALID_QUERY, context, "%s", message);
}

tansu_status expression_compiler_init(expression_compiler *c, arena *memory, regex **regexes,
                                      const collation *collation, const deadline *deadline,
                                      tansu_error *error) {
    *c = (expression_compiler){.memory = memory,
                               .regexes = regexes,
                               .collation = collation,
                               .deadline = deadline,
                               .error = error,
                               .slot_count = VARIABLE_USER,
                               .lowest_slot = VARIABLES_MAX};
    c->constant = calloc(1, sizeof *c->constant);
    if (!c->constant)
        return error_memory(error);
    evaluation_init(c->constant, collation, deadline, error);
    return TANSU_OK;
}

void expression_compiler_free(expression_compiler *c) {
    if (c->constant)
        evaluation_free(c->constant);
    free(c->constant);
    c->constant = NULL;
}

void expression_scope(expression_compiler *c, const expression_compiler *outer) {
    if (!outer)
        return;
    c->variable_count = outer->variable_count;
    c->slot_count = outer->slot_count;
    c->known = outer->known;
    c->known_count = outer->slot_count;
    memcpy(c->variables, outer->variables, outer->variable_count * sizeof *c->variables);
}

/* ---- Operators ---- */

const operator_info *find_operator(const char *name) {
    static const operator_info *const tables[] = {
        operators_boolean,       operators_arithmetic, operators_string,
        operators_date,          operators_array,      operators_group,
        operators_object,        operators_set,        operators_conversion,
        operators_date_text,     operators_regex,      operators_date_arithmetic,
        operators_miscellaneous, operators_bitwise,    operators_trigonometry,
        operators_higher_order};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const operator_info *op = tables[i]; op->name; op++) {
            if (strcmp(op->name, name) == 0)
                return op;
        }
    }
    return NULL;
}

tansu_status compile_args(expression_compiler *c, expression *e, uint32_t count) {
    e->count = count;
    e->args = arena_alloc(c->memory, (size_t)count * sizeof *e->args);
    return e->args ? TANSU_OK : error_memory(c->error);
}

/* compile -- a value that lives as long as the expression. */
static tansu_status compile(expression_compiler *c, const doc_value *value,
                            const expression **result);

tansu_status compile_operands(expression_compiler *c, const doc_value *operand, expression *e,
                              uint32_t min, uint32_t max) {
    uint32_t count = 1;
    doc_iter iter;
    if (operand->type == DOC_ARRAY) {
        count = 0;
        for (doc_iter_value(&iter, operand); doc_iter_next(&iter);)
            count++;
    }
    if (count < min || (max != ANY_COUNT && count > max)) {
        if (min == max)
            return compile_error(c, e->op->name, "Takes exactly %u operand%s, not %u",
                                 (unsigned)min, min == 1 ? "" : "s", (unsigned)count);
        return compile_error(c, e->op->name, "Takes at least %u and at most %u operands, not %u",
                             (unsigned)min, (unsigned)max, (unsigned)count);
    }
    tansu_status status = compile_args(c, e, count);
    if (operand->type != DOC_ARRAY)
        return status == TANSU_OK ? compile(c, operand, &e->args[0]) : status;
    doc_iter_value(&iter, operand);
    for (uint32_t i = 0; status == TANSU_OK && doc_iter_next(&iter); i++)
        status = compile(c, &iter.value, &e->args[i]);
    return status;
}

/* next_name -- the size of the name at the beginning of a list, and whether it is required. */
static size_t next_name(const char *names, bool *required) {
    size_t size = strcspn(names, " ");
    *required = size != 0 && names[size - 1] == '!';
    return size - (*required ? 1 : 0);
}

/* after_name -- the rest of a list. */
static const char *after_name(const char *names) {
    names += strcspn(names, " ");
    return names + strspn(names, " ");
}

tansu_status compile_named(expression_compiler *c, const doc_value *operand, expression *e,
                           const char *names) {
    uint32_t count = 0;
    bool required;
    doc_iter iter;
    for (const char *at = names; *at; at = after_name(at))
        count++;
    tansu_status status = compile_args(c, e, count);
    if (status != TANSU_OK)
        return status;
    if (operand->type != DOC_DOCUMENT)
        return compile_error(c, e->op->name, "Takes a document with the members: %s", names);
    for (doc_iter_value(&iter, operand); doc_iter_next(&iter);) {
        const char *at = names;
        uint32_t i = 0;
        for (; *at; at = after_name(at), i++) {
            if (next_name(at, &required) == iter.key_size &&
                memcmp(at, iter.key, iter.key_size) == 0)
                break;
        }
        if (i == count || e->args[i])
            return compile_error(c, e->op->name, "Member \"%.100s\" is %s; the members are: %s",
                                 iter.key, i == count ? "unknown" : "given twice", names);
        status = compile(c, &iter.value, &e->args[i]);
        if (status != TANSU_OK)
            return status;
    }
    uint32_t i = 0;
    for (const char *at = names; *at; at = after_name(at), i++) {
        size_t size = next_name(at, &required);
        if (required && !e->args[i])
            return compile_error(c, e->op->name, "Member \"%.*s\" is required", (int)size, at);
    }
    return TANSU_OK;
}

/* all_constant -- whether all operands are constants. */
static bool all_constant(const expression *e) {
    doc_value value;
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->args[i] && !expression_constant(e->args[i], &value))
            return false;
    }
    return true;
}

/* What the values of folded parts may have in all; what exceeds that is computed for each document.
 */
#define FOLDED_MAX ((size_t)16 * 1024 * 1024)

/* fold -- computes a part whose operands are constants. One that fails is an error, whether or not
 * a document would reach it, unless the compiler knows that none does, or the operator fails
 * late. */
static tansu_status fold(expression_compiler *c, const expression *e, const expression **result) {
    tansu_error ignored;
    doc_value value;
    bool late = c->unreached || (e->op && e->op->fails_late);
    *result = e;
    evaluation_document(c->constant, NULL, 0);
    c->constant->error = late ? &ignored : c->error;
    tansu_status status = e->evaluate(c->constant, e, &value);
    c->constant->error = c->error;
    if (late && (status == TANSU_E_INVALID_QUERY || status == TANSU_E_TOO_LARGE))
        return TANSU_OK;
    if (late && status != TANSU_OK && c->error)
        *c->error = ignored;
    if (status != TANSU_OK || value.size > FOLDED_MAX - c->folded)
        return status;
    c->folded += value.size;
    return compile_constant(c, &value, result);
}

/* fold_run -- replaces neighbouring operands that are constants by one, their operator's value. */
static tansu_status fold_run(expression_compiler *c, const expression *e, uint32_t from,
                             uint32_t count, uint32_t *to) {
    if (count < 2 || count == e->count) {
        memmove(&e->args[*to], &e->args[from], count * sizeof *e->args);
        *to += count;
        return TANSU_OK;
    }
    expression *run = arena_alloc(c->memory, sizeof *run);
    if (!run)
        return error_memory(c->error);
    *run = *e;
    tansu_status status = compile_args(c, run, count);
    if (status != TANSU_OK)
        return status;
    memcpy(run->args, &e->args[from], count * sizeof *e->args);
    return fold(c, run, &e->args[(*to)++]);
}

tansu_status compile_associative(expression_compiler *c, const doc_value *operand, expression *e) {
    uint32_t to = 0, run = 0;
    doc_value value;
    tansu_status status = compile_operands(c, operand, e, 0, ANY_COUNT);
    for (uint32_t i = 0; status == TANSU_OK && i <= e->count; i++) {
        bool constant = i < e->count && expression_constant(e->args[i], &value);
        if (constant)
            continue;
        status = fold_run(c, e, run, i - run, &to);
        if (status == TANSU_OK && i < e->count)
            e->args[to++] = e->args[i];
        run = i + 1;
    }
    e->count = to;
    return status;
}

tansu_status compile_commutative(expression_compiler *c, const doc_value *operand, expression *e) {
    uint32_t to = 0, constants = 0;
    doc_value value;
    tansu_status status = compile_operands(c, operand, e, 0, ANY_COUNT);
    if (status != TANSU_OK || e->count == 0)
        return status;
    const expression **args = e->args;
    status = compile_args(c, e, e->count);
    for (int pass = 0; status == TANSU_OK && pass < 2; pass++) {
        for (uint32_t i = 0; i < e->count; i++) {
            if (expression_constant(args[i], &value) == (pass == 1)) {
                e->args[to++] = args[i];
                constants += pass == 1;
            }
        }
    }
    to = e->count - constants;
    if (status == TANSU_OK)
        status = fold_run(c, e, to, constants, &to);
    e->count = to;
    return status;
}

/* compile_operator -- {"$name": operand}. */
static tansu_status compile_operator(expression_compiler *c, const doc_iter *member,
                                     const expression **result) {
    const operator_info *op = find_operator(member->key);
    if (!op)
        return compile_error(c, member->key, "There is no operator of this name");
    expression *e = arena_alloc(c->memory, sizeof *e);
    if (!e)
        return error_memory(c->error);
    e->op = op;
    e->evaluate = op->evaluate;
    tansu_status status = op->compile ? op->compile(c, &member->value, e)
                          : op->named ? compile_named(c, &member->value, e, op->named)
                                      : compile_operands(c, &member->value, e, op->min, op->max);
    *result = e;
    if (status != TANSU_OK || op->varies || e->op == NULL || !all_constant(e))
        return status;
    return fold(c, e, result);
}

/* ---- Documents and arrays ---- */

/* constant_evaluate -- the value. */
static tansu_status constant_evaluate(evaluation *ev, const expression *e, doc_value *result) {
    (void)ev;
    *result = e->constant;
    return TANSU_OK;
}

/* object_evaluate -- the document of the values of its fields; those that are missing are not in
 * it. */
static tansu_status object_evaluate(evaluation *ev, const expression *e, doc_value *result) {
    const doc_value *names = e->extra;
    build b;
    build_begin(ev, &b);
    for (uint32_t i = 0; i < e->count; i++) {
        doc_value value;
        tansu_status status = argument(ev, e, i, &value);
        if (status != TANSU_OK) {
            build_cancel(ev, &b);
            return status;
        }
        if (value.type != DOC_MISSING)
            writer_element(&b.w, (const char *)names[i].data, names[i].size, &value);
    }
    return build_end(ev, e, &b, DOC_DOCUMENT, result);
}

/* array_evaluate -- the array of the values of its elements. */
static tansu_status array_evaluate(evaluation *ev, const expression *e, doc_value *result) {
    build b;
    build_begin(ev, &b);
    for (uint32_t i = 0; i < e->count; i++) {
        doc_value value;
        tansu_status status = argument(ev, e, i, &value);
        if (status != TANSU_OK) {
            build_cancel(ev, &b);
            return status;
        }
        build_add(&b, &value);
    }
    return build_end(ev, e, &b, DOC_ARRAY, result);
}

/* check_field_name -- of a document in an expression. */
static tansu_status check_field_name(const expression_compiler *c, const doc_iter *member) {
    if (member->key_size == 0)
        return compile_error(c, NULL, "Name of a field is empty");
    if (member->key[0] == '$')
        return compile_error(
            c, member->key,
            "Must be alone in its document: fields and operators, or two operators, cannot stand "
            "together; a field of this name is made by $setField");
    if (memchr(member->key, '.', member->key_size))
        return compile_error(c, member->key,
                             "Name of a field has a dot; nest documents, or use $setField");
    return TANSU_OK;
}

/* add_name -- the name of a field, which no other one may have. */
static tansu_status add_name(const expression_compiler *c, key_set *known, const doc_iter *member) {
    bool added;
    size_t used = 0;
    if (!key_set_add(known, c->memory, (const uint8_t *)member->key, member->key_size + 1,
                     sizeof(key_set_item), &added, &used))
        return error_memory(c->error);
    return added ? TANSU_OK : compile_error(c, member->key, "Two fields have this name");
}

/* is_verbatim -- whether a part is the constant that it was compiled from, in place. */
static bool is_verbatim(const expression *e, const doc_value *value) {
    doc_value constant;
    return expression_constant(e, &constant) && constant.data == value->data &&
           constant.type == value->type;
}

/* compile_compound -- a document that is no operator, or an array. */
static tansu_status compile_compound(expression_compiler *c, const doc_value *value,
                                     const expression **result) {
    uint32_t count = 0, i = 0;
    doc_iter iter;
    bool object = value->type == DOC_DOCUMENT;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);)
        count++;
    expression *e = arena_alloc(c->memory, sizeof *e);
    doc_value *names = object ? arena_alloc(c->memory, (count + 1) * sizeof *names) : NULL;
    if (!e || (object && !names))
        return error_memory(c->error);
    bool verbatim = true; /* the value is a constant as it stands */
    key_set known = {0};
    e->evaluate = object ? object_evaluate : array_evaluate;
    e->extra = names;
    tansu_status status = compile_args(c, e, count);
    for (doc_iter_value(&iter, value); status == TANSU_OK && doc_iter_next(&iter); i++) {
        if (object) {
            status = check_field_name(c, &iter);
            names[i] = (doc_value){(const uint8_t *)iter.key, iter.key_size, DOC_STRING};
            if (status == TANSU_OK)
                status = add_name(c, &known, &iter);
        }
        if (status == TANSU_OK)
            status = compile(c, &iter.value, &e->args[i]);
        verbatim = verbatim && status == TANSU_OK && is_verbatim(e->args[i], &iter.value);
    }
    *result = e;
    if (status != TANSU_OK || !all_constant(e))
        return status;
    if (!verbatim)
        return fold(c, e, result);
    e->evaluate = constant_evaluate;
    e->constant = *value;
    e->count = 0;
    return TANSU_OK;
}

/* ---- Fields, variables, constants ---- */

tansu_status compile_constant(expression_compiler *c, const doc_value *value,
                              const expression **result) {
    expression *e = arena_alloc(c->memory, sizeof *e);
    if (!e)
        return error_memory(c->error);
    e->evaluate = constant_evaluate;
    e->constant = *value;
    *result = e;
    if (value->size == 0)
        return TANSU_OK;
    e->constant.data = arena_copy(c->memory, value->data, value->size);
    return e->constant.data ? TANSU_OK : error_memory(c->error);
}

bool expression_constant(const expression *e, doc_value *value) {
    if (e->evaluate != constant_evaluate)
        return false;
    *value = e->constant;
    return true;
}

/* variable_evaluate -- a variable, or a field of it. */
static tansu_status variable_evaluate(evaluation *ev, const expression *e, doc_value *result) {
    const doc_value *value = &ev->variables[e->slot];
    if (!e->extra) {
        *result = *value;
        return TANSU_OK;
    }
    return field_path_get(ev, e, e->extra, 0, value, result);
}

const char *expression_field(const expression *e) {
    const field_path *path = e->extra;
    return e->evaluate == variable_evaluate && e->slot == VARIABLE_CURRENT && path ? path->text
                                                                                   : NULL;
}

/* system_variable -- the slot of a variable that all expressions have; constants that have none are
 * VARIABLES_MAX. */
static bool system_variable(const expression_compiler *c, const char *name, size_t size,
                            uint32_t *slot, doc_value *constant) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    static const uint8_t descend[] = "\10\0\0\0descend", prune[] = "\6\0\0\0prune",
                         keep[] = "\5\0\0\0keep";
    const struct {
        const char *name;
        uint32_t slot;
        doc_value constant;
        bool redact;
    } names[] = {
        {"ROOT", VARIABLE_ROOT, {NULL, 0, DOC_MISSING}, false},
        {"CURRENT", VARIABLE_CURRENT, {NULL, 0, DOC_MISSING}, false},
        {"NOW", VARIABLE_NOW, {NULL, 0, DOC_MISSING}, false},
        {"REMOVE", VARIABLES_MAX, {NULL, 0, DOC_MISSING}, false},
        {"SEARCH_META", VARIABLES_MAX, {NULL, 0, DOC_MISSING}, false},
        {"USER_ROLES", VARIABLES_MAX, {empty, sizeof empty, DOC_ARRAY}, false},
        {"DESCEND", VARIABLES_MAX, {descend, sizeof descend, DOC_STRING}, true},
        {"PRUNE", VARIABLES_MAX, {prune, sizeof prune, DOC_STRING}, true},
        {"KEEP", VARIABLES_MAX, {keep, sizeof keep, DOC_STRING}, true},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i].name) == size && memcmp(names[i].name, name, size) == 0 &&
            (!names[i].redact || c->redact)) {
            *slot = names[i].slot;
            *constant = names[i].constant;
            return true;
        }
    }
    return false;
}

/* compile_known -- a variable whose value is known, or a field of it (`dot`; NULL: none). */
static tansu_status compile_known(expression_compiler *c, uint32_t slot, const char *dot,
                                  const char *end, const expression **result) {
    doc_value value = c->known->variables[slot];
    const field_path *path;
    if (dot) {
        tansu_status status = field_path_compile(c, dot + 1, (size_t)(end - dot - 1), &path);
        evaluation_document(c->constant, NULL, 0);
        if (status == TANSU_OK)
            status = field_path_get(c->constant, NULL, path, 0, &value, &value);
        if (status != TANSU_OK)
            return status;
    }
    return compile_constant(c, &value, result);
}

/* compile_variable -- "$$name" or "$$name.path", without the dollars. */
static tansu_status compile_variable(expression_compiler *c, const char *text, size_t size,
                                     const expression **result) {
    const char *dot = memchr(text, '.', size);
    size_t name_size = dot ? (size_t)(dot - text) : size;
    uint32_t slot = VARIABLES_MAX;
    doc_value constant = {NULL, 0, DOC_MISSING};
    bool found = false;
    if (name_size == 0)
        return compile_error(c, NULL, "Name of a variable is empty after $$");
    for (uint32_t i = c->variable_count; i > 0 && !found; i--) {
        const variable_name *v = &c->variables[i - 1];
        found = v->size == name_size && memcmp(v->name, text, name_size) == 0;
        slot = v->slot;
    }
    if (!found && !system_variable(c, text, name_size, &slot, &constant))
        return compile_error(c, NULL, "There is no variable $$%.*s here; $let defines one",
                             (int)(name_size < 100 ? name_size : 100), text);
    if (c->known && slot >= VARIABLE_USER && slot < c->known_count)
        return compile_known(c, slot, dot, text + size, result);
    expression *e = arena_alloc(c->memory, sizeof *e);
    if (!e)
        return error_memory(c->error);
    *result = e;
    e->evaluate = slot == VARIABLES_MAX ? constant_evaluate : variable_evaluate;
    e->slot = slot;
    e->constant = constant;
    c->reads_document = c->reads_document || slot == VARIABLE_ROOT || slot == VARIABLE_CURRENT;
    if (slot >= VARIABLE_USER && slot < c->lowest_slot)
        c->lowest_slot = slot;
    if (!dot)
        return TANSU_OK;
    const field_path *path;
    tansu_status status = field_path_compile(c, dot + 1, size - name_size - 1, &path);
    if (status == TANSU_OK && slot != VARIABLES_MAX)
        e->extra = path;
    else if (status == TANSU_OK && constant.type != DOC_ARRAY)
        e->constant = (doc_value){NULL, 0, DOC_MISSING};
    return status;
}

/* compile_field -- "$path", without the dollar. */
static tansu_status compile_field(expression_compiler *c, const char *text, size_t size,
                                  const expression **result) {
    expression *e = arena_alloc(c->memory, sizeof *e);
    const field_path *path;
    if (!e)
        return error_memory(c->error);
    tansu_status status = field_path_compile(c, text, size, &path);
    if (status != TANSU_OK)
        return status;
    e->evaluate = variable_evaluate;
    e->slot = VARIABLE_CURRENT;
    /* Somebody may have given $$CURRENT another value. */
    for (uint32_t i = c->variable_count; i > 0 && e->slot == VARIABLE_CURRENT; i--) {
        const variable_name *v = &c->variables[i - 1];
        if (v->size == 7 && memcmp(v->name, "CURRENT", 7) == 0)
            e->slot = v->slot;
    }
    e->extra = path;
    c->reads_document = true;
    *result = e;
    return TANSU_OK;
}

tansu_status expression_variable(expression_compiler *c, const char *name, size_t size,
                                 uint32_t *slot) {
    bool current = size == 7 && memcmp(name, "CURRENT", 7) == 0;
    if (size == 0)
        return compile_error(c, NULL, "Name of a variable is empty");
    uint8_t first = (uint8_t)name[0];
    if (!current && !(first >= 'a' && first <= 'z') && first < 0x80)
        return compile_error(c, NULL, "Name of variable \"%.*s\" must begin with a small letter",
                             (int)(size < 100 ? size : 100), name);
    for (size_t i = 1; !current && i < size; i++) {
        uint8_t byte = (uint8_t)name[i];
        if (!(byte >= 'a' && byte <= 'z') && !(byte >= 'A' && byte <= 'Z') &&
            !(byte >= '0' && byte <= '9') && byte != '_' && byte < 0x80)
            return compile_error(c, NULL,
                                 "Name of variable \"%.*s\" has a character that is neither a "
                                 "letter, a digit nor _",
                                 (int)(size < 100 ? size : 100), name);
    }
    if (c->slot_count == VARIABLES_MAX)
        return compile_error(c, NULL, "More than %d variables are in scope; use fewer",
                             VARIABLES_MAX - VARIABLE_USER);
    const char *copy = arena_copy(c->memory, name, size);
    if (!copy)
        return error_memory(c->error);
    *slot = c->slot_count++;
    c->variables[c->variable_count++] = (variable_name){copy, size, *slot};
    return TANSU_OK;
}

static tansu_status compile(expression_compiler *c, const doc_value *value,
                            const expression **result) {
    size_t size;
    doc_iter iter;
    tansu_status status;
    if (c->depth >= DEPTH_MAX)
        return compile_error(c, NULL, "Expression is nested more than %d deep", DEPTH_MAX);
    c->depth++;
    if (value->type == DOC_STRING && doc_string(value, &size)[0] == '$') {
        const char *text = doc_string(value, &size);
        status = size > 1 && text[1] == '$' ? compile_variable(c, text + 2, size - 2, result)
                                            : compile_field(c, text + 1, size - 1, result);
    } else if (value->type == DOC_DOCUMENT && doc_iter_value(&iter, value) &&
               doc_iter_next(&iter) && iter.key[0] == '$') {
        doc_iter rest = iter;
        status =
            doc_iter_next(&rest)
                ? compile_error(c, iter.key, "Is an operator, which must be alone in its document")
                : compile_operator(c, &iter, result);
    } else if (value->type == DOC_DOCUMENT || value->type == DOC_ARRAY) {
        status = compile_compound(c, value, result);
    } else {
        expression *e = arena_alloc(c->memory, sizeof *e);
        status = e ? TANSU_OK : error_memory(c->error);
        if (e) {
            e->evaluate = constant_evaluate;
            e->constant = *value;
            *result = e;
        }
    }
    c->depth--;
    return status;
}

tansu_status expression_compile(expression_compiler *c, const doc_value *value,
                                const expression **result) {
    if (c->depth != 0 || value->size == 0)
        return compile(c, value, result);
    doc_value copy = *value;
    copy.data = arena_copy(c->memory, value->data, value->size);
    return copy.data ? compile(c, &copy, result) : error_memory(c->error);
}

/* ---- As a condition of a query ---- */

/* free_context -- of a match context. */
static void free_context(void *context) {
    expression_context *x = context;
    evaluation_free(&x->own);
    free(x);
}

expression_context *expression_context_of(match_context *c) {
    expression_context *x = c->evaluation;
    if (x)
        return x;
    x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    evaluation_init(&x->own, NULL, c->deadline, &x->error);
    x->ev = &x->own;
    c->evaluation = x;
    c->evaluation_free = free_context;
    return x;
}

/* test_holds -- of an expression_test. */
static bool test_holds(const document_test *test, match_context *c, const uint8_t *doc,
                       size_t size) {
    const expression_test *t = (const expression_test *)(const void *)test;
    expression_context *x = expression_context_of(c);
    doc_value value;
    if (!x)
        return match_fail(c, TANSU_E_MEMORY, NULL, NULL);
    evaluation *ev = x->ev;
    tansu_error *error = ev->error;
    ev->error = &x->error;
    ev->deadline = c->deadline;
    ev->collation = t->collation;
    evaluation_document(ev, doc, size);
    tansu_status status = expression_evaluate(ev, t->expression, &value);
    ev->error = error;
    if (status == TANSU_OK)
        return expression_is_true(&value);
    if (status == TANSU_E_INVALID_QUERY || status == TANSU_E_TOO_LARGE)
        error_prefix(&x->error, "$expr");
    return match_fail(c, status, x->error.context,
                      status == TANSU_E_MEMORY ? NULL : x->error.message);
}

tansu_status expression_test_new(expression_compiler *c, const doc_value *value,
                                 const expression_test **result) {
    expression_test *t = arena_alloc(c->memory, sizeof *t);
    if (!t)
        return error_memory(c->error);
    *t = (expression_test){.test = {.holds = test_holds}, .collation = c->collation};
    *result = t;
    return expression_compile(c, value, &t->expression);
}
