/*
 * query/schema/schema_check.c -- checks documents, in place.
 */
#include "bson/decimal_arithmetic.h"
#include "bson/number.h"
#include "query/schema/schema_internal.h"
#include "query/util/numeric_sum.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>

/* The most bytes that a list of violations may have. */
#define MOST_BYTES ((size_t)256 * 1024 * 1024)
#define SHORT_TEXT 80        /* bytes of a value in a message */
#define MOST_STEPS 100000000 /* of one document */

/* The schemas with a URI that checking is inside of, the innermost first. */
typedef struct scope {
    const schema_resource *resource;
    const struct scope *outer;
} scope;

/* The members of a value that a schema and those in it have looked at: a byte for each of them, in
 * checker.marked. */
typedef struct evaluated {
    size_t at;
    uint32_t count;
} evaluated;

typedef struct checker {
    writer w;
    uint64_t limit;
    uint64_t count;
    bool silent;       /* violations are counted, not written */
    bool keeps_id;     /* of the schema */
    uint32_t depth;    /* of the value in the document */
    uint32_t schemas;  /* of the schema in others */
    uint64_t steps;    /* schemas that were applied, and members and texts that were read */
    tansu_buffer path; /* of the value, dotted */
    tansu_buffer text;
    tansu_buffer name;   /* of a field, as a value */
    tansu_buffer marks;  /* REQUIRED: a byte for each name that the document has */
    tansu_buffer marked; /* a stack */
    const scope *scope;
    match_context *match;
    bool no_memory;
} checker;

/* stopped -- whether nothing more is to be found. */
static bool stopped(const checker *c) {
    return c->count >= c->limit || c->no_memory || c->w.failed || c->match->status != TANSU_OK;
}

static void node_check(checker *c, const schema_node *n, const doc_value *value, evaluated *e);

/* count_steps -- counts work that is about to be done; false when checking is over. */
static bool count_steps(checker *c, size_t steps) {
    c->steps += steps;
    if (c->steps > MOST_STEPS)
        return match_fail(c->match, TANSU_E_INVALID_QUERY, "$jsonSchema",
                          "The schema needs too many steps for one document; simplify it");
    return match_step(c->match, (uint32_t)steps);
}

/* pattern_matches -- whether a pattern matches a part of a text: a match may take long, so that the
 * deadline is checked before each. */
static bool pattern_matches(checker *c, const regex *r, const char *text, size_t size,
                            const char *keyword) {
    return match_step(c->match, MATCH_STEPS) && regex_matches(r, c->match, text, size, keyword);
}

/* next_member -- the next member of a document or an array, which is read through to it; false when
 * there is none, or checking is over. */
static bool next_member(checker *c, doc_iter *iter) {
    return doc_iter_next(iter) && count_steps(c, 1 + iter->value.size / MATCH_BYTES);
}

/* enter -- appends a key to the path, and returns the size that leave() takes. */
static size_t enter(checker *c, const char *key, size_t size) {
    size_t before = c->path.size;
    if (!c->silent && ((c->depth != 0 && !buffer_append_byte(&c->path, '.')) ||
                       !buffer_append(&c->path, key, size)))
        c->no_memory = true;
    c->depth++;
    return before;
}

static void leave(checker *c, size_t before) {
    c->path.size = before;
    c->depth--;
}

/* field_check -- checks a value that is one key below. */
static void field_check(checker *c, const schema_node *n, const doc_iter *at) {
    size_t before = enter(c, at->key, at->key_size);
    node_check(c, n, &at->value, NULL);
    leave(c, before);
}

/* ---- Evaluated members ---- */

/* mark -- notes that a schema has looked at a member. */
static void mark(checker *c, const evaluated *e, uint32_t number) {
    if (e && number < e->count)
        c->marked.data[e->at + number] = 1;
}

/* marks_begin -- marks of all members of a value, all of them zero. */
static void marks_begin(checker *c, const doc_value *value, evaluated *e) {
    doc_iter iter;
    *e = (evaluated){.at = c->marked.size};
    if (value->type != DOC_DOCUMENT && value->type != DOC_ARRAY)
        return;
    for (doc_iter_value(&iter, value); next_member(c, &iter);)
        e->count++;
    if (!buffer_reserve(&c->marked, e->count)) {
        c->no_memory = true;
        e->count = 0;
        return;
    }
    if (e->count != 0)
        memset(c->marked.data + e->at, 0, e->count);
    c->marked.size += e->count;
}

/* marks_end -- removes the marks, after adding them to others if they are to be kept. */
static void marks_end(checker *c, const evaluated *e, const evaluated *others, bool kept) {
    if (others && kept) {
        for (uint32_t i = 0; i < e->count && i < others->count; i++)
            c->marked.data[others->at + i] |= c->marked.data[e->at + i];
    }
    c->marked.size = e->at;
}

/* ---- Violations ---- */

static void write_text(writer *w, const char *key, const void *bytes, size_t size) {
    writer_head(w, DOC_STRING, key, strlen(key));
    size_t start = writer_begin_string(w);
    writer_bytes(w, bytes, size);
    writer_end_string(w, start);
}

/* violate -- counts a violation at the path, with what is in c->text as its message. */
static void violate(checker *c, const char *rule) {
    uint32_t number = (uint32_t)c->count++;
    if (c->silent || c->no_memory)
        return;
    size_t start = writer_open_index(&c->w, number, DOC_DOCUMENT);
    write_text(&c->w, "path", c->path.data, c->path.size);
    write_text(&c->w, "rule", rule, strlen(rule));
    write_text(&c->w, "message", c->text.data, c->text.size);
    writer_end(&c->w, start);
}

/* say -- appends to the message. */
static void say(checker *c, const char *text) {
    if (!buffer_append(&c->text, text, strlen(text)))
        c->no_memory = true;
}

static void say_number(checker *c, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    say(c, text);
}

static void say_value(checker *c, const doc_value *value) {
    if (!schema_value_text(&c->text, value, SHORT_TEXT))
        c->no_memory = true;
}

/* violate_value -- a message of a value and a text about it. */
static void violate_value(checker *c, const schema_rule *r, const doc_value *value,
                          const char *about) {
    c->text.size = 0;
    if (!c->silent) {
        say_value(c, value);
        say(c, about);
        say(c, r->text);
    }
    violate(c, r->keyword);
}

/* violate_at -- at a key of the value. */
static void violate_at(checker *c, const char *rule, const char *key, size_t size,
                       const char *message) {
    size_t before = enter(c, key, size);
    c->text.size = 0;
    say(c, message);
    violate(c, rule);
    leave(c, before);
}

/* ---- Values ---- */

static void check_types(checker *c, const schema_rule *r, const doc_value *value) {
    if (schema_type_has(r->types, value))
        return;
    c->text.size = 0;
    say(c, "the type ");
    say(c, schema_type_of(value));
    say(c, " is none of ");
    say(c, r->text);
    violate(c, r->keyword);
}

/* value_key_text -- the key of a value with a NUL, in c->text; false when checking is over. */
static bool value_key_text(checker *c, const doc_value *value) {
    if (!count_steps(c, value->size / MATCH_BYTES))
        return false;
    bool done = schema_value_key(&c->text, value) && buffer_append_byte(&c->text, 0);
    c->no_memory |= !done;
    return done;
}

static void check_enum(checker *c, const schema_rule *r, const doc_value *value) {
    if (value_key_text(c, value) &&
        !key_set_find_name(&r->keys, (const char *)c->text.data, c->text.size - 1))
        violate_value(c, r, value, " is none of ");
}

/* size_of -- the size that a rule constrains; false when the value is of another type. */
static bool size_of(checker *c, const doc_value *value, uint8_t sized, int64_t *result) {
    *result = 0;
    if (value->type != sized)
        return false;
    if (sized == DOC_STRING) {
        size_t size;
        const char *text = doc_string(value, &size);
        if (!count_steps(c, size / MATCH_BYTES))
            return false;
        for (size_t i = 0; i < size; i++)
            *result += ((uint8_t)text[i] & 0xC0) != 0x80; /* Unicode scalars */
        return true;
    }
    doc_iter iter;
    for (doc_iter_value(&iter, value); next_member(c, &iter);)
        ++*result;
    return true;
}

static void check_size(checker *c, const schema_rule *r, const doc_value *value) {
    int64_t size;
    if (!size_of(c, value, r->sized, &size) || (r->is_minimum ? size >= r->size : size <= r->size))
        return;
    c->text.size = 0;
    say_number(c, size);
    say(c, r->is_minimum ? " is less than " : " is more than ");
    say_number(c, r->size);
    violate(c, r->keyword);
}

/* in_bound -- whether a number satisfies a rule; NaN satisfies only a bound that is NaN. */
static bool in_bound(const schema_rule *r, const doc_value *value) {
    if (number_is_nan(value) || number_is_nan(&r->bound))
        return !r->exclusive && number_is_nan(value) && number_is_nan(&r->bound);
    int order = number_compare(value, &r->bound);
    return (order == 0 && !r->exclusive) || (r->is_minimum ? order > 0 : order < 0);
}

static void check_number(checker *c, const schema_rule *r, const doc_value *value) {
    if (!doc_is_number(value) || in_bound(r, value))
        return;
    c->text.size = 0;
    if (!c->silent) {
        say_value(c, value);
        say(c, " is out of the ");
        say(c, r->keyword);
        say(c, " ");
        say(c, r->text);
    }
    violate(c, r->keyword);
}

/* check_multiple -- in decimals, which have the digits that numbers are written with. */
static void check_multiple(checker *c, const schema_rule *r, const doc_value *value) {
    decimal number, divisor, rest;
    if (!doc_is_number(value))
        return;
    number_to_decimal(value, &number);
    number_to_decimal(&r->bound, &divisor);
    decimal_remainder(&number, &divisor, &rest);
    if (rest.kind == DECIMAL_FINITE && u128_is_zero(rest.coefficient))
        return;
    violate_value(c, r, value, " is no multiple of ");
}

static void check_pattern(checker *c, const schema_rule *r, const doc_value *value) {
    if (value->type != DOC_STRING)
        return;
    size_t size;
    const char *text = doc_string(value, &size);
    if (!pattern_matches(c, r->regex, text, size, "pattern") && !stopped(c))
        violate_value(c, r, value, " does not match ");
}

/* ---- Documents ---- */

static void check_required(checker *c, const schema_rule *r, const doc_value *value) {
    doc_iter iter;
    c->marks.size = 0;
    if (value->type != DOC_DOCUMENT || r->keys.count == 0)
        return;
    if (!buffer_reserve(&c->marks, r->keys.count)) {
        c->no_memory = true;
        return;
    }
    memset(c->marks.data, 0, r->keys.count);
    for (doc_iter_value(&iter, value); next_member(c, &iter);) {
        key_set_item *item = key_set_find_name(&r->keys, iter.key, iter.key_size);
        if (item)
            c->marks.data[((schema_name *)item)->number] = 1;
    }
    for (key_set_item *i = r->keys.first; i && !stopped(c); i = i->next)
        if (!c->marks.data[((schema_name *)i)->number])
            violate_at(c, r->keyword, (const char *)i->key, i->key_size - 1,
                       "the field is missing");
}

/* check_patterns -- a field by the patterns that match its name; whether there are any. */
static bool check_patterns(checker *c, const schema_rule *r, const doc_iter *at) {
    bool any = false;
    for (const schema_pattern *one = r->patterns; one && !stopped(c); one = one->next) {
        if (!pattern_matches(c, one->regex, at->key, at->key_size, "patternProperties"))
            continue;
        any = true;
        field_check(c, one->node, at);
    }
    return any;
}

static void check_properties(checker *c, const schema_rule *r, const doc_value *value,
                             evaluated *e) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT)
        return;
    doc_iter_value(&iter, value);
    for (uint32_t i = 0; !stopped(c) && next_member(c, &iter); i++) {
        const schema_name *name =
            (const schema_name *)key_set_find_name(&r->keys, iter.key, iter.key_size);
        bool own = c->keeps_id && c->depth == 0 && strcmp(iter.key, "_id") == 0;
        if (name)
            field_check(c, name->node, &iter);
        bool known = check_patterns(c, r, &iter) || name;
        if (known || r->all)
            mark(c, e, i);
        if (known || own)
            continue;
        if (r->rest)
            field_check(c, r->rest, &iter);
        else if (!r->others)
            violate_at(c, "additionalProperties", iter.key, iter.key_size,
                       "the schema does not allow the field");
    }
}

/* check_names -- the names of the fields, as strings. */
static void check_names(checker *c, const schema_rule *r, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT)
        return;
    for (doc_iter_value(&iter, value); !stopped(c) && next_member(c, &iter);) {
        uint8_t size[4];
        store_u32(size, iter.key_size + 1);
        c->name.size = 0;
        if (!buffer_append(&c->name, size, sizeof size) ||
            !buffer_append(&c->name, iter.key, iter.key_size + 1)) {
            c->no_memory = true;
            return;
        }
        doc_value name = {c->name.data, (uint32_t)c->name.size, DOC_STRING};
        size_t before = enter(c, iter.key, iter.key_size);
        node_check(c, r->nodes[0], &name, NULL);
        leave(c, before);
    }
}

/* check_dependent -- what fields require of others, or of the whole document. */
static void check_dependent(checker *c, const schema_rule *r, const doc_value *value,
                            evaluated *e) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT)
        return;
    for (doc_iter_value(&iter, value); !stopped(c) && next_member(c, &iter);) {
        const schema_name *name =
            (const schema_name *)key_set_find_name(&r->keys, iter.key, iter.key_size);
        if (name && name->rule)
            check_required(c, name->rule, value);
        else if (name)
            node_check(c, name->node, value, e);
    }
}

/* check_others -- the members that no other schema has looked at. */
static void check_others(checker *c, const schema_rule *r, const doc_value *value, evaluated *e) {
    doc_iter iter;
    if (value->type != (r->kind == RULE_OTHER_FIELDS ? DOC_DOCUMENT : DOC_ARRAY))
        return;
    doc_iter_value(&iter, value);
    for (uint32_t i = 0; !stopped(c) && i < e->count && next_member(c, &iter); i++) {
        bool own = c->keeps_id && c->depth == 0 && strcmp(iter.key, "_id") == 0;
        if (c->marked.data[e->at + i] || own)
            continue;
        field_check(c, r->nodes[0], &iter);
        mark(c, e, i);
    }
}

/* ---- Arrays ---- */

/* check_items -- the first elements each by the schema of its position, all others by one. */
static void check_items(checker *c, const schema_rule *r, const doc_value *value, evaluated *e) {
    doc_iter iter;
    if (value->type != DOC_ARRAY)
        return;
    doc_iter_value(&iter, value);
    for (uint32_t i = 0; !stopped(c) && next_member(c, &iter); i++) {
        if (i < r->count)
            field_check(c, r->nodes[i], &iter);
        else if (r->rest)
            field_check(c, r->rest, &iter);
        else if (!r->all)
            return;
        mark(c, e, i);
    }
}

static bool meets(checker *c, const schema_node *n, const doc_value *value, evaluated *e);

static void check_contains(checker *c, const schema_rule *r, const doc_value *value, evaluated *e) {
    doc_iter iter;
    int64_t found = 0;
    if (value->type != DOC_ARRAY)
        return;
    doc_iter_value(&iter, value);
    c->depth++;
    for (uint32_t i = 0; !stopped(c) && next_member(c, &iter); i++) {
        if (!meets(c, r->nodes[0], &iter.value, NULL))
            continue;
        found++;
        mark(c, e, i);
    }
    c->depth--;
    if (stopped(c) || (found >= r->size && found <= r->most))
        return;
    c->text.size = 0;
    say_number(c, found);
    say(c, found < r->size ? " elements match the schema, less than "
                           : " elements match the schema, more than ");
    say_number(c, found < r->size ? r->size : r->most);
    violate(c, found > r->most ? "maxContains" : r->size == 1 ? "contains" : "minContains");
}

/* find_equal -- the positions of two equal elements; false when there are none. */
static bool find_equal(checker *c, arena *memory, const doc_value *value, uint32_t found[2]) {
    key_set seen = {0};
    doc_iter iter;
    doc_iter_value(&iter, value);
    for (uint32_t i = 0; next_member(c, &iter); i++) {
        bool added;
        size_t used = 0;
        const uint8_t *key =
            value_key_text(c, &iter.value) ? arena_copy(memory, c->text.data, c->text.size) : NULL;
        schema_name *name = key ? (schema_name *)key_set_add(&seen, memory, key, c->text.size,
                                                             sizeof *name, &added, &used)
                                : NULL;
        c->no_memory |= !name && !stopped(c);
        if (!name)
            return false;
        if (!added) {
            found[0] = name->number;
            found[1] = i;
            return true;
        }
        name->number = i;
    }
    return false;
}

static void check_unique(checker *c, const schema_rule *r, const doc_value *value) {
    arena memory = {0};
    uint32_t found[2];
    if (value->type != DOC_ARRAY)
        return;
    if (find_equal(c, &memory, value, found)) {
        c->text.size = 0;
        say(c, "the elements ");
        say_number(c, found[0]);
        say(c, " and ");
        say_number(c, found[1]);
        say(c, " are equal");
        violate(c, r->keyword);
    }
    arena_free(&memory);
}

/* ---- Alternatives ---- */

/* meets -- whether a value satisfies a schema; only then are the members kept that it has looked
 * at. */
static bool meets(checker *c, const schema_node *n, const doc_value *value, evaluated *e) {
    bool silent = c->silent;
    uint64_t limit = c->limit, count = c->count;
    evaluated own;
    if (e)
        marks_begin(c, value, &own);
    c->silent = true;
    c->limit = 1;
    c->count = 0;
    node_check(c, n, value, e ? &own : NULL);
    bool met = c->count == 0;
    c->silent = silent;
    c->limit = limit;
    c->count = count;
    if (e)
        marks_end(c, &own, e, met);
    return met;
}

static void check_alternatives(checker *c, const schema_rule *r, const doc_value *value,
                               evaluated *e) {
    uint32_t met = 0;
    bool any = r->kind == RULE_ANY;
    for (uint32_t i = 0; i < r->count && !(any && met && !e) && !stopped(c); i++)
        met += meets(c, r->nodes[i], value, e);
    if (stopped(c) || (any ? met != 0 : met == 1))
        return;
    c->text.size = 0;
    say(c, "the value matches ");
    if (any)
        say(c, "none");
    else
        say_number(c, met);
    say(c, " of the ");
    say_number(c, r->count);
    say(c, any ? " schemas" : " schemas, not one");
    violate(c, r->keyword);
}

static void check_not(checker *c, const schema_rule *r, const doc_value *value) {
    if (!meets(c, r->nodes[0], value, NULL) || stopped(c))
        return;
    c->text.size = 0;
    say(c, "the value matches the excluded schema");
    violate(c, r->keyword);
}

static void check_if(checker *c, const schema_rule *r, const doc_value *value, evaluated *e) {
    bool met = meets(c, r->nodes[0], value, e);
    const schema_node *next = r->nodes[met ? 1 : 2];
    if (next && !stopped(c))
        node_check(c, next, value, e);
}

/* check_dynamic -- by the schema of a reference, which is that of the outermost resource with the
 * same dynamic anchor. */
static void check_dynamic(checker *c, const schema_rule *r, const doc_value *value, evaluated *e) {
    const schema_node *n = r->nodes[0];
    for (const scope *s = c->scope; r->text && s; s = s->outer) {
        const schema_name *anchor =
            (const schema_name *)key_set_find_name(&s->resource->anchors, r->text, strlen(r->text));
        if (anchor && anchor->dynamic)
            n = anchor->node;
    }
    node_check(c, n, value, e);
}

static void check_nothing(checker *c, const schema_rule *r) {
    c->text.size = 0;
    say(c, "the schema allows no value");
    violate(c, r->keyword);
}

/* ---- The whole ---- */

static void rule_check(checker *c, const schema_rule *r, const doc_value *value, evaluated *e) {
    switch (r->kind) {
    case RULE_TYPES: check_types(c, r, value); break;
    case RULE_ENUM: check_enum(c, r, value); break;
    case RULE_REQUIRED: check_required(c, r, value); break;
    case RULE_PROPERTIES: check_properties(c, r, value, e); break;
    case RULE_NAMES: check_names(c, r, value); break;
    case RULE_DEPENDENT: check_dependent(c, r, value, e); break;
    case RULE_SIZE: check_size(c, r, value); break;
    case RULE_NUMBER: check_number(c, r, value); break;
    case RULE_MULTIPLE: check_multiple(c, r, value); break;
    case RULE_PATTERN: check_pattern(c, r, value); break;
    case RULE_ITEMS: check_items(c, r, value, e); break;
    case RULE_CONTAINS: check_contains(c, r, value, e); break;
    case RULE_UNIQUE: check_unique(c, r, value); break;
    case RULE_ALL:
        for (uint32_t i = 0; i < r->count && !stopped(c); i++)
            node_check(c, r->nodes[i], value, e);
        break;
    case RULE_ANY:
    case RULE_ONE: check_alternatives(c, r, value, e); break;
    case RULE_NOT: check_not(c, r, value); break;
    case RULE_IF: check_if(c, r, value, e); break;
    case RULE_DYNAMIC: check_dynamic(c, r, value, e); break;
    case RULE_OTHER_FIELDS:
    case RULE_OTHER_ITEMS: check_others(c, r, value, e); break;
    case RULE_NOTHING: check_nothing(c, r); break;
    }
}

/* may_go_on -- counts a schema that is about to be applied; false when checking is over. */
static bool may_go_on(checker *c) {
    if (c->schemas >= SCHEMA_DEPTH)
        return match_fail(c->match, TANSU_E_INVALID_QUERY, "$ref",
                          "The references of the schema lead more than 512 schemas deep; one of "
                          "them refers to itself");
    return count_steps(c, 1);
}

/* node_check -- collects the violations of a value. SCHEMA_DEPTH bounds the recursion. */
static void node_check(checker *c, const schema_node *n, const doc_value *value, evaluated *e) {
    scope here = {n->resource, c->scope};
    evaluated own, *inner = n->last ? &own : e;
    if (!may_go_on(c))
        return;
    c->schemas++;
    if (!c->scope || c->scope->resource != n->resource)
        c->scope = &here;
    if (n->last)
        marks_begin(c, value, &own);
    for (const schema_rule *r = n->first; r && !stopped(c); r = r->next)
        rule_check(c, r, value, inner);
    for (const schema_rule *r = n->last; r && !stopped(c); r = r->next)
        rule_check(c, r, value, inner);
    if (n->last)
        marks_end(c, &own, e, true);
    c->scope = here.outer;
    c->schemas--;
}

/* free_buffers -- what a check has allocated. */
static void free_buffers(checker *c) {
    buffer_free(&c->path);
    buffer_free(&c->text);
    buffer_free(&c->name);
    buffer_free(&c->marks);
    buffer_free(&c->marked);
}

/* status_of -- how checking ended. */
static tansu_status status_of(const checker *c, tansu_error *error) {
    if (c->w.over_limit)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "The violations take more than %zu bytes; limit their number", MOST_BYTES);
    if (c->no_memory || c->w.failed)
        return error_memory(error);
    return match_context_status(c->match, error);
}

tansu_status schema_check_value(const schema *s, const doc_value *value, uint64_t limit,
                                tansu_buffer *out, uint64_t *count, tansu_error *error) {
    match_context match = {0};
    checker c = {.w = {.out = out, .limit = MOST_BYTES},
                 .limit = limit == 0 ? UINT64_MAX : limit,
                 .keeps_id = s->keeps_id,
                 .match = &match};
    out->size = 0;
    size_t start = writer_begin(&c.w);
    size_t list = writer_open(&c.w, "violations", DOC_ARRAY);
    node_check(&c, s->root, value, NULL);
    writer_end(&c.w, list);
    writer_end(&c.w, start);
    tansu_status status = status_of(&c, error);
    if (status != TANSU_OK)
        out->size = 0;
    *count = c.count;
    match_context_free(&match);
    free_buffers(&c);
    return status;
}

tansu_status schema_check(const schema *s, const uint8_t *doc, size_t size, uint64_t limit,
                          tansu_buffer *out, uint64_t *count, tansu_error *error) {
    doc_value value = {doc, (uint32_t)size, DOC_DOCUMENT};
    return schema_check_value(s, &value, limit, out, count, error);
}

/* ---- In queries ---- */

/* A schema as a test of documents. */
typedef struct schema_test {
    document_test test;
    schema *schema;
} schema_test;

/* holds -- document_test.holds of a schema. */
static bool holds(const document_test *t, match_context *match, const uint8_t *doc, size_t size) {
    const schema *s = ((const schema_test *)t)->schema;
    doc_value value = {doc, (uint32_t)size, DOC_DOCUMENT};
    checker c = {.limit = 1, .silent = true, .keeps_id = s->keeps_id, .match = match};
    node_check(&c, s->root, &value, NULL);
    free_buffers(&c);
    if (c.no_memory)
        match_fail(match, TANSU_E_MEMORY, NULL, NULL);
    return c.count == 0 && match->status == TANSU_OK;
}

tansu_status schema_test_new(arena *memory, regex **regexes, const doc_value *value,
                             const deadline *deadline, const document_test **result,
                             tansu_error *error) {
    schema_test *t = arena_alloc(memory, sizeof *t);
    if (!t)
        return error_memory(error);
    t->test.holds = holds;
    *result = &t->test;
    return schema_in_query(memory, regexes, value, deadline, &t->schema, error);
}
