/*
 * query/schema/schema_check.c -- checks documents, in place.
 */
#include "bson/number.h"
#include "query/schema/schema_internal.h"
#include "util/buffer.h"
#include "util/error.h"

#include <stdio.h>

/* The most bytes that a list of violations may have. */
#define MOST_BYTES ((size_t)256 * 1024 * 1024)
#define SHORT_TEXT 80 /* bytes of a value in a message */

typedef struct checker {
    writer w;
    uint64_t limit;
    uint64_t count;
    bool silent;       /* violations are counted, not written */
    uint32_t depth;    /* of the value in the document */
    tansu_buffer path; /* of the value, dotted */
    tansu_buffer text;
    tansu_buffer marks; /* REQUIRED: a byte for each name that the document has */
    match_context match;
    bool no_memory;
} checker;

/* stopped -- whether nothing more is to be found. */
static bool stopped(const checker *c) {
    return c->count >= c->limit || c->no_memory || c->w.failed || c->match.status != TANSU_OK;
}

static void node_check(checker *c, const schema_node *n, const doc_value *value);

/* enter -- appends a key to the path, and returns the size that leave() takes. */
static size_t enter(checker *c, const char *key, size_t size) {
    size_t before = c->path.size;
    if ((c->depth != 0 && !buffer_append_byte(&c->path, '.')) ||
        !buffer_append(&c->path, key, size))
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
    node_check(c, n, &at->value);
    leave(c, before);
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
    say_value(c, value);
    say(c, about);
    say(c, r->text);
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

/* value_key_text -- the key of a value with a NUL, in c->text; false when memory is exhausted. */
static bool value_key_text(checker *c, const doc_value *value) {
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
static bool size_of(const doc_value *value, uint8_t sized, int64_t *result) {
    *result = 0;
    if (value->type != sized)
        return false;
    if (sized == DOC_STRING) {
        size_t size;
        const char *text = doc_string(value, &size);
        for (size_t i = 0; i < size; i++)
            *result += ((uint8_t)text[i] & 0xC0) != 0x80; /* Unicode scalars */
        return true;
    }
    doc_iter iter;
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);)
        ++*result;
    return true;
}

static void check_size(checker *c, const schema_rule *r, const doc_value *value) {
    int64_t size;
    if (!size_of(value, r->sized, &size) || (r->is_minimum ? size >= r->size : size <= r->size))
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
    say_value(c, value);
    say(c, " is out of the ");
    say(c, r->keyword);
    say(c, " ");
    say(c, r->text);
    violate(c, r->keyword);
}

static void check_pattern(checker *c, const schema_rule *r, const doc_value *value) {
    if (value->type != DOC_STRING)
        return;
    size_t size;
    const char *text = doc_string(value, &size);
    if (!regex_matches(r->regex, &c->match, text, size, "pattern") && c->match.status == TANSU_OK)
        violate_value(c, r, value, " does not match ");
}

/* ---- Documents ---- */

static void check_required(checker *c, const schema_rule *r, const doc_value *value) {
    doc_iter iter;
    c->marks.size = 0;
    if (value->type != DOC_DOCUMENT)
        return;
    if (!buffer_reserve(&c->marks, r->keys.count)) {
        c->no_memory = true;
        return;
    }
    memset(c->marks.data, 0, r->keys.count);
    for (doc_iter_value(&iter, value); doc_iter_next(&iter);) {
        key_set_item *item = key_set_find_name(&r->keys, iter.key, iter.key_size);
        if (item)
            c->marks.data[((schema_name *)item)->number] = 1;
    }
    for (key_set_item *i = r->keys.first; i && !stopped(c); i = i->next)
        if (!c->marks.data[((schema_name *)i)->number])
            violate_at(c, r->keyword, (const char *)i->key, i->key_size - 1,
                       "the field is missing");
}

static void check_properties(checker *c, const schema_rule *r, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT)
        return;
    for (doc_iter_value(&iter, value); !stopped(c) && doc_iter_next(&iter);) {
        const schema_name *name =
            (const schema_name *)key_set_find_name(&r->keys, iter.key, iter.key_size);
        /* Every document has an `_id`; a schema need not say so. */
        bool own = c->depth == 0 && strcmp(iter.key, "_id") == 0;
        if (name)
            field_check(c, name->node, &iter);
        else if (r->rest && !own)
            field_check(c, r->rest, &iter);
        else if (!r->others && !r->rest && !own)
            violate_at(c, "additionalProperties", iter.key, iter.key_size,
                       "the schema does not allow the field");
    }
}

/* ---- Arrays ---- */

/* check_items -- all elements by one schema, or each by that of its position. */
static void check_items(checker *c, const schema_rule *r, const doc_value *value) {
    doc_iter iter;
    if (value->type != DOC_ARRAY)
        return;
    doc_iter_value(&iter, value);
    for (uint32_t i = 0; !stopped(c) && doc_iter_next(&iter); i++) {
        if (r->kind == RULE_ITEMS)
            field_check(c, r->nodes[0], &iter);
        else if (i < r->count)
            field_check(c, r->nodes[i], &iter);
        else
            return;
    }
}

/* find_equal -- the positions of two equal elements; false when there are none. */
static bool find_equal(checker *c, arena *memory, const doc_value *value, uint32_t found[2]) {
    key_set seen = {0};
    doc_iter iter;
    doc_iter_value(&iter, value);
    for (uint32_t i = 0; doc_iter_next(&iter); i++) {
        bool added;
        size_t used = 0;
        const uint8_t *key =
            value_key_text(c, &iter.value) ? arena_copy(memory, c->text.data, c->text.size) : NULL;
        schema_name *name = key ? (schema_name *)key_set_add(&seen, memory, key, c->text.size,
                                                             sizeof *name, &added, &used)
                                : NULL;
        c->no_memory |= name == NULL;
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

/* meets -- whether a value satisfies a schema. */
static bool meets(checker *c, const schema_node *n, const doc_value *value) {
    bool silent = c->silent;
    uint64_t limit = c->limit, count = c->count;
    c->silent = true;
    c->limit = 1;
    c->count = 0;
    node_check(c, n, value);
    bool met = c->count == 0;
    c->silent = silent;
    c->limit = limit;
    c->count = count;
    return met;
}

static void check_alternatives(checker *c, const schema_rule *r, const doc_value *value) {
    uint32_t met = 0;
    bool any = r->kind == RULE_ANY;
    for (uint32_t i = 0; i < r->count && !(any && met) && !stopped(c); i++)
        met += meets(c, r->nodes[i], value);
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
    if (!meets(c, r->nodes[0], value) || stopped(c))
        return;
    c->text.size = 0;
    say(c, "the value matches the excluded schema");
    violate(c, r->keyword);
}

/* ---- The whole ---- */

static void rule_check(checker *c, const schema_rule *r, const doc_value *value) {
    switch (r->kind) {
    case RULE_TYPES: check_types(c, r, value); break;
    case RULE_ENUM: check_enum(c, r, value); break;
    case RULE_REQUIRED: check_required(c, r, value); break;
    case RULE_PROPERTIES: check_properties(c, r, value); break;
    case RULE_SIZE: check_size(c, r, value); break;
    case RULE_NUMBER: check_number(c, r, value); break;
    case RULE_PATTERN: check_pattern(c, r, value); break;
    case RULE_ITEMS:
    case RULE_POSITIONS: check_items(c, r, value); break;
    case RULE_UNIQUE: check_unique(c, r, value); break;
    case RULE_ALL:
        for (uint32_t i = 0; i < r->count && !stopped(c); i++)
            node_check(c, r->nodes[i], value);
        break;
    case RULE_ANY:
    case RULE_ONE: check_alternatives(c, r, value); break;
    case RULE_NOT: check_not(c, r, value); break;
    }
}

/* node_check -- collects the violations of a value. The schema's depth bounds the recursion. */
static void node_check(checker *c, const schema_node *n, const doc_value *value) {
    for (const schema_rule *r = n->first; r && !stopped(c); r = r->next)
        rule_check(c, r, value);
}

/* status_of -- how checking ended. */
static tansu_status status_of(const checker *c, tansu_error *error) {
    if (c->w.over_limit)
        return error_set(error, TANSU_E_TOO_LARGE, NULL,
                         "The violations take more than %zu bytes; limit their number", MOST_BYTES);
    if (c->no_memory || c->w.failed)
        return error_memory(error);
    return match_context_status(&c->match, error);
}

tansu_status schema_check(const schema *s, const uint8_t *doc, size_t size, uint64_t limit,
                          tansu_buffer *out, uint64_t *count, tansu_error *error) {
    checker c = {.w = {.out = out, .limit = MOST_BYTES}, .limit = limit == 0 ? UINT64_MAX : limit};
    doc_value value = {doc, (uint32_t)size, DOC_DOCUMENT};
    out->size = 0;
    size_t start = writer_begin(&c.w);
    size_t list = writer_open(&c.w, "violations", DOC_ARRAY);
    node_check(&c, s->root, &value);
    writer_end(&c.w, list);
    writer_end(&c.w, start);
    tansu_status status = status_of(&c, error);
    if (status != TANSU_OK)
        out->size = 0;
    *count = c.count;
    match_context_free(&c.match);
    buffer_free(&c.path);
    buffer_free(&c.text);
    buffer_free(&c.marks);
    return status;
}
