/*
 * query/text/text_query_bind.c -- from the items of a search to a tree of leaves whose words are
 * terms of an index.
 *
 * What has no words, such as a string of signs, is left out of its list.
 */
#include "query/text/text_condition.h"

#include "text/word_class.h"
#include "util/error.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

typedef struct text_binder {
    const text_condition *condition;
    const index_definition *definition;
    const text_target *target;
    arena *memory;
    tansu_error *error;
    text_analyzer *words, *plain; /* with and without stems */
    text_tokens tokens;
    tansu_buffer form;
    uint32_t leaves;
} text_binder;

/* What an item has of those around it. */
typedef struct text_scope {
    uint32_t fields;
    double boost;
} text_scope;

/* Nodes being gathered. */
typedef struct node_list {
    text_node **items;
    uint32_t count, capacity;
} node_list;

/* ---- Nodes ---- */

static bool same_word(const text_word *a, const text_word *b) {
    return a->size == b->size && a->form_size == b->form_size &&
           memcmp(a->bytes, b->bytes, a->size) == 0 &&
           (a->form_size == 0 || memcmp(a->form, b->form, a->form_size) == 0);
}

static bool same_leaf(const text_node *a, const text_node *b) {
    if (a->kind != b->kind || a->kind >= TEXT_ALL || a->word_count != b->word_count ||
        a->fields != b->fields || a->boost != b->boost || a->distance != b->distance ||
        a->same != b->same || a->within != b->within || a->ordered != b->ordered)
        return false;
    for (uint32_t i = 0; i < a->word_count; i++)
        if (a->words[i].position != b->words[i].position || !same_word(&a->words[i], &b->words[i]))
            return false;
    return true;
}

/* add_node -- to a list, unless the same leaf is there. */
static tansu_status add_node(text_binder *b, node_list *list, text_node *node) {
    for (uint32_t i = 0; i < list->count; i++)
        if (same_leaf(list->items[i], node))
            return TANSU_OK;
    if (!ARRAY_RESERVE(list->items, list->count, list->capacity, 1))
        return error_memory(b->error);
    list->items[list->count++] = node;
    return TANSU_OK;
}

/* keep -- the nodes of a list, in the memory of the query. */
static bool keep(text_binder *b, const node_list *list, text_node ***kept, uint32_t *count) {
    *count = list->count;
    if (list->count == 0)
        return true;
    *kept = arena_alloc(b->memory, list->count * sizeof **kept);
    if (*kept)
        memcpy(*kept, list->items, list->count * sizeof **kept);
    return *kept != NULL;
}

/* group_of -- a node of these children; of a single one, that itself. NULL when memory is
 * exhausted. */
static text_node *group_of(text_binder *b, enum text_kind kind, const node_list *list) {
    if (list->count == 1)
        return list->items[0];
    text_node *node = arena_alloc(b->memory, sizeof *node);
    if (!node || !keep(b, list, &node->children, &node->child_count))
        return NULL;
    node->kind = kind;
    node->boost = 1;
    return node;
}

/* add_group -- adds several nodes as one. */
static tansu_status add_group(text_binder *b, node_list *out, enum text_kind kind,
                              const node_list *list) {
    if (list->count == 0)
        return TANSU_OK;
    text_node *node = group_of(b, kind, list);
    return node ? add_node(b, out, node) : error_memory(b->error);
}

/* ---- Leaves ---- */

/* new_leaf -- with room for words. Errors: TOO_LARGE, MEMORY. */
static tansu_status new_leaf(text_binder *b, enum text_kind kind, const text_item *item,
                             const text_scope *scope, const char *text, size_t size, uint32_t words,
                             text_node **result) {
    const text_condition *c = b->condition;
    if (++b->leaves > TEXT_MAX_LEAVES)
        return error_set(b->error, TANSU_E_TOO_LARGE, "",
                         "A search has at most %d words, phrases and the like", TEXT_MAX_LEAVES);
    text_node *leaf = *result = arena_alloc(b->memory, sizeof *leaf);
    if (!leaf)
        return error_memory(b->error);
    *leaf = (text_node){.kind = kind, .boost = scope->boost, .fields = scope->fields};
    leaf->text = arena_copy(b->memory, text, size);
    leaf->words = arena_alloc(b->memory, words * sizeof *leaf->words);
    leaf->exact = kind != TEXT_FUZZY && (c->case_sensitive || c->diacritic_sensitive);
    leaf->distance = kind == TEXT_FUZZY ? item->distance : 0;
    leaf->same = kind == TEXT_FUZZY ? item->same : 0;
    leaf->within = kind == TEXT_NEAR ? item->within : 0;
    leaf->ordered = kind == TEXT_NEAR && item->ordered;
    return leaf->text && leaf->words ? TANSU_OK : error_memory(b->error);
}

/* put_word -- adds a term of the tokens, which are of `text`, to a leaf. */
static tansu_status put_word(text_binder *b, text_node *leaf, const text_token *token,
                             const char *text) {
    const text_condition *c = b->condition;
    const uint8_t *written = (const uint8_t *)text + token->start;
    size_t size = token->end - token->start;
    text_word *word = &leaf->words[leaf->word_count++];
    word->size = token->term_size;
    word->bytes = arena_copy(b->memory, b->tokens.terms.data + token->term, token->term_size);
    if (leaf->kind == TEXT_PREFIX)
        (void)text_cut(written, size, UINT32_MAX, &word->position);
    if (!leaf->exact)
        return word->bytes ? TANSU_OK : error_memory(b->error);
    b->form.size = 0;
    if (!text_exact_form(&b->form, written, size, c->case_sensitive, c->diacritic_sensitive))
        return error_memory(b->error);
    word->form_size = (uint32_t)b->form.size;
    word->form = arena_copy(b->memory, b->form.data, b->form.size);
    return word->bytes && word->form ? TANSU_OK : error_memory(b->error);
}

/* analyze -- the terms of a text, in b->tokens. */
static tansu_status analyze(text_binder *b, text_analyzer *analyzer, const char *text,
                            size_t size) {
    text_tokens_clear(&b->tokens);
    return text_analyze(analyzer, (const uint8_t *)text, size, TEXT_SEARCH, &b->tokens)
               ? TANSU_OK
               : error_memory(b->error);
}

/* add_phrase -- a leaf of some tokens of `text`: a phrase, or a term. */
static tansu_status add_phrase(text_binder *b, node_list *out, const text_item *item,
                               const text_scope *scope, const char *text, size_t first,
                               size_t end) {
    const text_token *tokens = b->tokens.items;
    size_t count = end - first;
    if (count > TEXT_MAX_PHRASE)
        return error_set(b->error, TANSU_E_TOO_LARGE, item->key,
                         "A phrase has at most %d words; divide it", TEXT_MAX_PHRASE);
    if (count == 0)
        return TANSU_OK;
    uint32_t start = tokens[first].start;
    text_node *leaf;
    tansu_status status =
        new_leaf(b, count == 1 ? TEXT_TERM : TEXT_PHRASE, item, scope, text + start,
                 tokens[end - 1].end - start, (uint32_t)count, &leaf);
    for (size_t i = first; status == TANSU_OK && i < end; i++) {
        status = put_word(b, leaf, &tokens[i], text);
        leaf->words[i - first].position = tokens[i].position - tokens[first].position;
    }
    return status == TANSU_OK ? add_node(b, out, leaf) : status;
}

bool text_is_unit(const uint8_t *text, const text_token *token) {
    uint32_t c;
    utf8_decode(text + token->start, token->end - token->start, &c);
    return (WORD_SET(word_class_of(c)) & WORD_UNITS) != 0;
}

/* run_end -- where the tokens end that overlap, from one on: pairs of a script without spaces. */
static size_t run_end(const text_tokens *tokens, size_t first) {
    size_t end = first + 1;
    while (end < tokens->count && tokens->items[end].start < tokens->items[end - 1].end)
        end++;
    return end;
}

/* add_words -- a leaf for each word of a text. */
static tansu_status add_words(text_binder *b, node_list *out, const text_item *item,
                              const text_scope *scope, text_piece text) {
    tansu_status status = analyze(b, b->words, text.bytes, text.size);
    for (size_t i = 0; status == TANSU_OK && i < b->tokens.count;) {
        size_t end = run_end(&b->tokens, i);
        status = add_phrase(b, out, item, scope, text.bytes, i, end);
        i = end;
    }
    return status;
}

/* add_word -- a leaf of one token of `text`, which may stand for other words. */
static tansu_status add_word(text_binder *b, node_list *out, enum text_kind kind,
                             const text_item *item, const text_scope *scope, const char *text,
                             const text_token *token) {
    text_node *leaf;
    tansu_status status =
        new_leaf(b, kind, item, scope, text + token->start, token->end - token->start, 1, &leaf);
    if (status == TANSU_OK)
        status = put_word(b, leaf, token, text);
    return status == TANSU_OK ? add_node(b, out, leaf) : status;
}

/* add_prefix -- the last word of a text as a prefix, and those before it. It is compared without
 * stems; what characters of a script without spaces begin is found by these characters. */
static tansu_status add_prefix(text_binder *b, node_list *out, const text_item *item,
                               const text_scope *scope, text_piece text) {
    tansu_status status = analyze(b, b->plain, text.bytes, text.size);
    if (status != TANSU_OK || b->tokens.count == 0)
        return status;
    const text_token *last = &b->tokens.items[b->tokens.count - 1];
    if (text_is_unit((const uint8_t *)text.bytes, last))
        return add_words(b, out, item, scope, text);
    size_t before = last->start;
    text_node *leaf;
    status = new_leaf(b, TEXT_PREFIX, item, scope, text.bytes + last->start,
                      last->end - last->start, 1, &leaf);
    if (status == TANSU_OK)
        status = put_word(b, leaf, last, text.bytes);
    if (status == TANSU_OK)
        status = add_words(b, out, item, scope, (text_piece){text.bytes, before});
    return status == TANSU_OK ? add_node(b, out, leaf) : status;
}

/* add_fuzzy -- each word of a text, stemmed, as one that may differ. */
static tansu_status add_fuzzy(text_binder *b, node_list *out, const text_item *item,
                              const text_scope *scope, text_piece text) {
    tansu_status status = analyze(b, b->words, text.bytes, text.size);
    for (size_t i = 0; status == TANSU_OK && i < b->tokens.count;) {
        const text_token *token = &b->tokens.items[i];
        size_t end = run_end(&b->tokens, i);
        if (text_is_unit((const uint8_t *)text.bytes, token)) {
            status = add_phrase(b, out, item, scope, text.bytes, i, end);
        } else {
            status = add_word(b, out, TEXT_FUZZY, item, scope, text.bytes, token);
        }
        i = end;
    }
    return status;
}

/* put_near -- adds the words of one piece to a leaf of NEAR, which has room for TEXT_MAX_PHRASE. */
static tansu_status put_near(text_binder *b, text_node *leaf, const text_item *item,
                             text_piece piece) {
    tansu_status status = analyze(b, b->words, piece.bytes, piece.size);
    for (size_t i = 0; status == TANSU_OK && i < b->tokens.count; i++) {
        uint32_t at = leaf->word_count;
        if (at == TEXT_MAX_PHRASE)
            return error_set(b->error, TANSU_E_TOO_LARGE, item->key,
                             "At most %d words can be near one another", TEXT_MAX_PHRASE);
        status = put_word(b, leaf, &b->tokens.items[i], piece.bytes);
        for (uint32_t j = 0; status == TANSU_OK && j < at; j++)
            leaf->words[at].position += same_word(&leaf->words[j], &leaf->words[at]);
    }
    return status;
}

/* add_near -- words near one another; a single one is a term. */
static tansu_status add_near(text_binder *b, node_list *out, const text_item *item,
                             const text_scope *scope) {
    tansu_status status = TANSU_OK;
    tansu_buffer text = TANSU_BUFFER_INIT;
    for (uint32_t i = 0; i < item->piece_count; i++)
        if ((i > 0 && !buffer_append_byte(&text, ' ')) ||
            !buffer_append(&text, item->pieces[i].bytes, item->pieces[i].size))
            status = error_memory(b->error);
    text_node *leaf = NULL;
    if (status == TANSU_OK)
        status = new_leaf(b, TEXT_NEAR, item, scope, (const char *)text.data, text.size,
                          TEXT_MAX_PHRASE, &leaf);
    tansu_buffer_free(&text);
    for (uint32_t i = 0; status == TANSU_OK && i < item->piece_count; i++)
        status = put_near(b, leaf, item, item->pieces[i]);
    if (status != TANSU_OK || leaf->word_count == 0)
        return status;
    if (leaf->word_count == 1) {
        leaf->kind = TEXT_TERM;
        leaf->within = 0;
        leaf->ordered = false;
    }
    return add_node(b, out, leaf);
}

/* ---- Items ---- */

/* field_of -- the field of a path. */
static tansu_status field_of(const text_binder *b, text_piece path, uint32_t *field) {
    const index_definition *definition = b->definition;
    if (definition->text->everything)
        return error_set(b->error, TANSU_E_INVALID_QUERY, "path",
                         "The index \"%s\" has all strings of a document as one; create one with "
                         "the paths, or leave out \"path\"",
                         definition->name);
    for (*field = 0; *field < definition->path_count; ++*field) {
        const char *text = definition->paths[*field].text;
        if (strlen(text) == path.size && memcmp(text, path.bytes, path.size) == 0)
            return TANSU_OK;
    }
    return error_set(b->error, TANSU_E_INVALID_QUERY, "path",
                     "The index \"%s\" has no path \"%.*s\"", definition->name,
                     path.size > 100 ? 100 : (int)path.size, path.bytes);
}

/* scope_of -- the fields and the boost of an item. */
static tansu_status scope_of(const text_binder *b, const text_item *item, const text_scope *outer,
                             text_scope *scope) {
    *scope = (text_scope){outer->fields, outer->boost * item->boost};
    if (item->path_count == 0)
        return TANSU_OK;
    scope->fields = 0;
    for (uint32_t i = 0; i < item->path_count; i++) {
        uint32_t field = 0;
        const text_piece *path = &item->paths[i];
        if (b->target) {
            scope->fields |=
                !b->target->path || (strlen(b->target->path) == path->size &&
                                     memcmp(b->target->path, path->bytes, path->size) == 0);
            continue;
        }
        tansu_status status = field_of(b, *path, &field);
        if (status != TANSU_OK)
            return status;
        scope->fields |= 1u << field;
    }
    return TANSU_OK;
}

static tansu_status add_lists(text_binder *b, node_list *out, const text_item *group,
                              const text_scope *scope);

/* add_leaves -- what an item that is no group looks for. */
static tansu_status add_leaves(text_binder *b, node_list *out, const text_item *item,
                               const text_scope *scope) {
    text_piece text = item->pieces[0];
    tansu_status status;
    switch (item->kind) {
    case ITEM_WORDS: return add_words(b, out, item, scope, text);
    case ITEM_PREFIX: return add_prefix(b, out, item, scope, text);
    case ITEM_FUZZY: return add_fuzzy(b, out, item, scope, text);
    case ITEM_NEAR: return add_near(b, out, item, scope);
    default: /* ITEM_WORD, ITEM_PHRASE */
        status = analyze(b, b->words, text.bytes, text.size);
        return status == TANSU_OK ? add_phrase(b, out, item, scope, text.bytes, 0, b->tokens.count)
                                  : status;
    }
}

/* add_item -- adds the nodes of an item to a list: those of a string each for itself, those of a
 * document as one. */
static tansu_status add_item(text_binder *b, node_list *out, const text_item *item,
                             const text_scope *outer) {
    text_scope scope;
    node_list own = {.items = NULL};
    tansu_status status = scope_of(b, item, outer, &scope);
    if (status != TANSU_OK || scope.fields == 0)
        return status;
    if (item->kind == ITEM_GROUP)
        return add_lists(b, out, item, &scope);
    if (item->spread)
        return add_leaves(b, out, item, &scope);
    status = add_leaves(b, &own, item, &scope);
    if (status == TANSU_OK)
        status = add_group(b, out, TEXT_ALL, &own);
    free(own.items);
    return status;
}

/* gather -- the nodes of a list of a group. */
static tansu_status gather(text_binder *b, node_list *out, const text_item *group,
                           enum text_list list, const text_scope *scope) {
    static const char *const names[] = {"all", "any", "not"};
    tansu_status status = TANSU_OK;
    for (const text_item *i = group->lists[list]; status == TANSU_OK && i; i = i->next) {
        status = add_item(b, out, i, scope);
        status = b->condition->mongo ? text_place(status, "$search", -1, b->error)
                                     : text_place(status, names[list], i->index, b->error);
    }
    return status;
}

/* add_lists -- adds what a group looks for: all of the one list, one of the other, and nothing that is
 * excluded. Words that are only counted find documents where nothing else does. */
static tansu_status add_lists(text_binder *b, node_list *out, const text_item *group,
                              const text_scope *scope) {
    node_list lists[LISTS] = {{.items = NULL}};
    text_node *node = NULL;
    tansu_status status = TANSU_OK;
    for (int i = 0; status == TANSU_OK && i < LISTS; i++)
        status = gather(b, &lists[i], group, (enum text_list)i, scope);
    bool required = lists[LIST_ALL].count != 0 || lists[LIST_ANY].count != 0;
    node_list *any = required ? &lists[LIST_ANY] : &lists[LIST_OPTIONAL];
    if (status == TANSU_OK && any->count != 0)
        status = add_group(b, &lists[LIST_ALL], TEXT_ANY, any);
    if (!required)
        lists[LIST_OPTIONAL].count = 0;
    bool plain = lists[LIST_NOT].count == 0 && lists[LIST_OPTIONAL].count == 0;
    if (status == TANSU_OK && lists[LIST_ALL].count != 0 && plain) {
        status = add_group(b, out, TEXT_ALL, &lists[LIST_ALL]);
    } else if (status == TANSU_OK && lists[LIST_ALL].count != 0) {
        node = arena_alloc(b->memory, sizeof *node);
        status = node && keep(b, &lists[LIST_ALL], &node->children, &node->child_count) &&
                         keep(b, &lists[LIST_NOT], &node->without, &node->without_count) &&
                         keep(b, &lists[LIST_OPTIONAL], &node->optional, &node->optional_count)
                     ? TANSU_OK
                     : error_memory(b->error);
        if (status == TANSU_OK) {
            node->kind = TEXT_ALL;
            node->boost = 1;
            status = add_node(b, out, node);
        }
    }
    for (int i = 0; i < LISTS; i++)
        free(lists[i].items);
    return status;
}

/* ---- The query ---- */

/* visit_leaves -- calls a function for each leaf of a tree, in order. */
static void visit_leaves(text_query *q, text_node *node,
                         void (*visit)(text_query *q, text_node *leaf)) {
    const struct {
        text_node **nodes;
        uint32_t count;
    } lists[] = {{node->children, node->child_count},
                 {node->optional, node->optional_count},
                 {node->without, node->without_count}};
    if (node->kind < TEXT_ALL)
        visit(q, node);
    for (int i = 0; i < 3; i++)
        for (uint32_t j = 0; j < lists[i].count; j++)
            visit_leaves(q, lists[i].nodes[j], visit);
}

/* number_leaf -- counts the leaves and their words. */
static void number_leaf(text_query *q, text_node *leaf) {
    bool together = leaf->kind == TEXT_PHRASE || leaf->kind == TEXT_NEAR;
    leaf->number = q->leaves++;
    q->slots += leaf->word_count;
    q->needs_document =
        q->needs_document || leaf->exact || (together && q->definition->text->leaves_positions);
}

/* is_sought -- whether a word that is sought is found just as that of a leaf. */
static bool is_sought(const text_sought *sought, const text_node *leaf, const text_word *word) {
    const text_node *other = sought->leaf;
    bool alone = leaf->kind == TEXT_PREFIX || leaf->kind == TEXT_FUZZY;
    bool other_alone = other->kind == TEXT_PREFIX || other->kind == TEXT_FUZZY;
    return alone == other_alone && (!alone || other->kind == leaf->kind) &&
           other->distance == leaf->distance && other->same == leaf->same &&
           same_word(sought->word, word);
}

/* seek_leaf -- enters a leaf and its words into the tables. */
static void seek_leaf(text_query *q, text_node *leaf) {
    bool alone = leaf->kind == TEXT_PREFIX || leaf->kind == TEXT_FUZZY;
    q->list[leaf->number] = leaf;
    for (uint32_t i = 0; i < leaf->word_count; i++) {
        text_word *word = &leaf->words[i];
        uint32_t *head =
            alone ? &q->compared : &q->buckets[text_hash(word->bytes, word->size) & q->bucket_mask];
        uint32_t at = *head;
        while (at != 0 && !is_sought(&q->sought[at - 1], leaf, word))
            at = q->sought[at - 1].next;
        if (at == 0) {
            q->sought[q->slots] = (text_sought){.leaf = leaf, .word = word, .next = *head};
            at = *head = ++q->slots;
        }
        word->slot = at - 1;
        q->sought[at - 1].together |= leaf->kind == TEXT_PHRASE || leaf->kind == TEXT_NEAR;
    }
}

/* finish -- makes the query of its root. */
static tansu_status finish(text_binder *b, text_node *root, text_query **result) {
    const text_condition *c = b->condition;
    text_query *q = *result = arena_alloc(b->memory, sizeof *q);
    if (!q)
        return error_memory(b->error);
    *q = (text_query){.definition = b->definition,
                      .root = root,
                      .k1 = c->k1,
                      .b = c->b,
                      .case_sensitive = c->case_sensitive,
                      .diacritic_sensitive = c->diacritic_sensitive};
    visit_leaves(q, root, number_leaf);
    uint32_t buckets = 4;
    while (buckets < 2 * q->slots)
        buckets *= 2;
    q->bucket_mask = buckets - 1;
    q->buckets = arena_alloc(b->memory, buckets * sizeof *q->buckets);
    q->sought = arena_alloc(b->memory, (q->slots + 1) * sizeof *q->sought);
    q->list = arena_alloc(b->memory, (q->leaves + 1) * sizeof *q->list);
    if (!q->buckets || !q->sought || !q->list)
        return error_memory(b->error);
    q->slots = 0;
    visit_leaves(q, root, seek_leaf);
    return TANSU_OK;
}

/* find_language -- the analyzers. */
static tansu_status find_language(text_binder *b, text_document *d) {
    const text_condition *c = b->condition;
    const char *language = c->language ? c->language : b->definition->text->language;
    tansu_status status = text_document_analyzer(d, language, &b->words, b->error);
    if (status != TANSU_OK && status != TANSU_E_MEMORY && c->language && b->error)
        (void)strcpy(b->error->context, c->language_key);
    return status == TANSU_OK ? text_document_analyzer(d, "none", &b->plain, b->error) : status;
}

tansu_status text_query_bind_to(const text_condition *condition, const index_definition *definition,
                                const text_target *target, text_document *d, arena *memory,
                                text_query **result, tansu_error *error) {
    text_binder b = {.condition = condition,
                     .definition = definition,
                     .target = target,
                     .memory = memory,
                     .error = error};
    node_list roots = {.items = NULL};
    uint32_t fields = text_fields(definition);
    text_scope scope = {fields >= 32 ? UINT32_MAX : (1u << fields) - 1, 1};
    tansu_status status = find_language(&b, d);
    if (status == TANSU_OK)
        status = add_item(&b, &roots, condition->root, &scope);
    text_node *root = roots.count == 1 ? roots.items[0] : NULL;
    if (status == TANSU_OK && !root) {
        root = arena_alloc(memory, sizeof *root);
        status = root ? TANSU_OK : error_memory(error);
        if (root)
            root->kind = TEXT_NOTHING;
    }
    if (status == TANSU_OK)
        status = finish(&b, root, result);
    free(roots.items);
    text_tokens_free(&b.tokens);
    tansu_buffer_free(&b.form);
    return status;
}

tansu_status text_query_bind(const text_condition *condition, const index_definition *definition,
                             text_document *d, arena *memory, text_query **result,
                             tansu_error *error) {
    return text_query_bind_to(condition, definition, NULL, d, memory, result, error);
}

bool text_query_needs_document(const text_query *q) {
    return q->needs_document;
}
