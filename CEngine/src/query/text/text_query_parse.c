/*
 * query/text/text_query_parse.c -- reading the operand of $text, in both of its forms.
 */
#include "query/text/text_condition.h"

#include "bson/decimal.h"
#include "util/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct text_parser {
    text_condition *condition;
    arena *memory;
    tansu_error *error;
    uint32_t items;
} text_parser;

static tansu_status bad(const text_parser *p, const char *key, const char *message) {
    return error_set(p->error, TANSU_E_INVALID_QUERY, key, "%s", message);
}

tansu_status text_place(tansu_status status, const char *list, int32_t index, tansu_error *error) {
    char number[12];
    if (status == TANSU_OK)
        return status;
    if (index >= 0) {
        snprintf(number, sizeof number, "%d", (int)index);
        error_prefix(error, number);
    }
    error_prefix(error, list);
    return status;
}

/* ---- Values ---- */

/* read_string -- a string of allowed size. */
static tansu_status read_string(const text_parser *p, const char *key, const doc_value *value,
                                text_piece *piece) {
    if (value->type != DOC_STRING)
        return bad(p, key, "Value must be a string");
    piece->bytes = doc_string(value, &piece->size);
    if (piece->size > TEXT_MAX_STRING)
        return error_set(p->error, TANSU_E_TOO_LARGE, key,
                         "A string of a search has at most %d bytes", (int)TEXT_MAX_STRING);
    return TANSU_OK;
}

static tansu_status read_flag(const text_parser *p, const char *key, const doc_value *value,
                              bool *flag) {
    if (value->type != DOC_BOOL)
        return bad(p, key, "Value must be true or false");
    *flag = doc_bool(value);
    return TANSU_OK;
}

/* read_whole -- a whole number within limits. */
static tansu_status read_whole(const text_parser *p, const char *key, const doc_value *value,
                               uint32_t least, uint32_t most, uint32_t *result) {
    int64_t number;
    if (!doc_is_number(value) || !doc_as_int64(value, &number) || number < least || number > most)
        return error_set(p->error, TANSU_E_INVALID_QUERY, key,
                         "Value must be a whole number from %u to %u", (unsigned)least,
                         (unsigned)most);
    *result = (uint32_t)number;
    return TANSU_OK;
}

/* as_double -- the value of any number; NaN where it is none. */
static double as_double(const doc_value *value) {
    int64_t whole;
    double number = NAN;
    if (value->type == DOC_DOUBLE)
        return doc_double(value);
    if (!doc_is_number(value))
        return number;
    if (doc_as_int64(value, &whole))
        return (double)whole;
    decimal fraction;
    decimal_read(&fraction, value->data);
    if (fraction.kind == DECIMAL_FINITE)
        (void)decimal_cut(&fraction, &number);
    return fraction.negative ? -number : number;
}

/* read_double -- a number within limits. */
static tansu_status read_double(const text_parser *p, const char *key, const doc_value *value,
                                double least, double most, double *result) {
    double number = as_double(value);
    if (!(number >= least && number <= most))
        return error_set(p->error, TANSU_E_INVALID_QUERY, key,
                         "Value must be a number from %g to %g", least, most);
    *result = number;
    return TANSU_OK;
}

/* read_boost -- a positive number. */
static tansu_status read_boost(const text_parser *p, const char *key, const doc_value *value,
                               double *boost) {
    double number = as_double(value);
    if (!(number > 0 && number <= TEXT_MAX_BOOST))
        return error_set(p->error, TANSU_E_INVALID_QUERY, key,
                         "Value must be a positive number of at most %g", TEXT_MAX_BOOST);
    *boost = number;
    return TANSU_OK;
}

/* read_language -- a name; whether there is such a language is known when the search is bound. */
static tansu_status read_language(const text_parser *p, const char *key, const doc_value *value) {
    size_t size = 0;
    const char *name = value->type == DOC_STRING ? doc_string(value, &size) : "";
    if (size == 0 || strlen(name) != size)
        return bad(p, key, "Value must be the name of a language, such as \"en\" or \"none\"");
    p->condition->language = name;
    p->condition->language_key = key;
    return TANSU_OK;
}

/* read_strings -- one string or an array of them. `plural`: says what they are. */
static tansu_status read_strings(const text_parser *p, const char *key, const doc_value *value,
                                 const char *plural, uint32_t most, text_piece **pieces,
                                 uint32_t *count) {
    doc_iter iter;
    *count = 1;
    if (value->type == DOC_ARRAY && (!doc_array_size(value, count) || *count == 0))
        return error_set(p->error, TANSU_E_INVALID_QUERY, key, "Array is empty; give %s", plural);
    if (*count > most)
        return error_set(p->error, TANSU_E_TOO_LARGE, key, "Array has more than %u strings",
                         (unsigned)most);
    *pieces = arena_alloc(p->memory, *count * sizeof **pieces);
    if (!*pieces)
        return error_memory(p->error);
    if (value->type != DOC_ARRAY)
        return value->type == DOC_STRING
                   ? read_string(p, key, value, *pieces)
                   : error_set(p->error, TANSU_E_INVALID_QUERY, key,
                               "Value must be a string or an array of strings: %s", plural);
    tansu_status status = TANSU_OK;
    doc_iter_value(&iter, value);
    for (int32_t i = 0; status == TANSU_OK && doc_iter_next(&iter); i++)
        status = text_place(read_string(p, "", &iter.value, &(*pieces)[i]), key, i, p->error);
    return status;
}

/* ---- Items ---- */

/* new_item -- NULL when memory is exhausted. */
static text_item *new_item(const text_parser *p, enum text_item_kind kind, const char *key) {
    text_item *item = arena_alloc(p->memory, sizeof *item);
    if (!item)
        return NULL;
    *item = (text_item){.kind = kind, .key = key, .index = -1, .boost = 1};
    for (int i = 0; i < LISTS; i++)
        item->ends[i] = &item->lists[i];
    return item;
}

static void append(text_item *group, enum text_list list, text_item *item) {
    *group->ends[list] = item;
    group->ends[list] = &item->next;
}

/* count_item -- errors: TOO_LARGE. */
static tansu_status count_item(text_parser *p) {
    if (++p->items > TEXT_MAX_LEAVES)
        return error_set(p->error, TANSU_E_TOO_LARGE, "",
                         "A search has at most %d words, phrases and the like", TEXT_MAX_LEAVES);
    return TANSU_OK;
}

/* add_part -- appends a part of a string to a list. */
static tansu_status add_part(text_parser *p, text_item *group, enum text_list list, int32_t index,
                             enum text_item_kind kind, const char *bytes, size_t size) {
    tansu_status status = count_item(p);
    if (status != TANSU_OK || size == 0)
        return status;
    text_item *item = new_item(p, kind, NULL);
    text_piece *piece = item ? arena_alloc(p->memory, sizeof *piece) : NULL;
    if (!piece)
        return error_memory(p->error);
    *piece = (text_piece){bytes, size};
    item->pieces = piece;
    item->piece_count = 1;
    item->index = index;
    item->spread = true;
    append(group, list, item);
    return TANSU_OK;
}

/* ---- Strings ---- */

/* is_space -- what MongoDB divides a search at. */
static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A string being read. */
typedef struct text_string_reader {
    text_item *group;
    enum text_list words, phrases; /* the lists that they go to */
    int32_t index;
    bool minus; /* at the beginning of a word it excludes, as in MongoDB */
} text_string_reader;

/* read_word -- what stands between spaces and quotes. */
static tansu_status read_word(text_parser *p, const text_string_reader *r, bool excluded,
                              const char *word, size_t size) {
    bool prefix = size > 1 && word[size - 1] == '*';
    return add_part(p, r->group, excluded ? LIST_NOT : r->words, r->index,
                    prefix ? ITEM_PREFIX : ITEM_WORDS, word, prefix ? size - 1 : size);
}

/* read_phrase -- what stands between quotes. MongoDB's form counts its words as well. */
static tansu_status read_phrase(text_parser *p, const text_string_reader *r, bool excluded,
                                const char *phrase, size_t size) {
    enum text_list list = excluded ? LIST_NOT : r->phrases;
    tansu_status status = add_part(p, r->group, list, r->index, ITEM_PHRASE, phrase, size);
    if (status == TANSU_OK && !excluded && r->minus)
        status = add_part(p, r->group, r->words, r->index, ITEM_WORDS, phrase, size);
    return status;
}

/* read_search -- the words and phrases of a string. What a minus excludes ends with the next space
 * outside of quotes. A quote that no other one follows means nothing. */
static tansu_status read_search(text_parser *p, const text_string_reader *r, text_piece search) {
    const char *at = search.bytes, *end = at + search.size;
    bool excluded = false, begins = true;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && at < end) {
        const char *close = NULL;
        if (is_space(*at)) {
            begins = true;
            excluded = false;
            at++;
            continue;
        }
        if (*at == '"') {
            close = memchr(at + 1, '"', (size_t)(end - at) - 1);
            at++;
            if (close) {
                status = read_phrase(p, r, excluded, at, (size_t)(close - at));
                at = close + 1;
                begins = false;
            }
            continue;
        }
        if (*at == '-' && begins && at + 1 < end && !is_space(at[1])) {
            if (!r->minus)
                return bad(p, "",
                           "A minus excludes in \"$search\" only; put the word into \"not\", or "
                           "leave out the minus");
            excluded = true;
            at++;
        }
        const char *from = at;
        begins = false;
        while (at < end && !is_space(*at) && *at != '"')
            at++;
        status = read_word(p, r, excluded, from, (size_t)(at - from));
    }
    return status;
}

/* ---- Our own form ---- */

static tansu_status read_group(text_parser *p, text_item *group, const uint8_t *doc, size_t size,
                               uint32_t depth);

/* list_of -- the list that a key names; LISTS: none. */
static enum text_list list_of(const char *key) {
    return strcmp(key, "all") == 0   ? LIST_ALL
           : strcmp(key, "any") == 0 ? LIST_ANY
           : strcmp(key, "not") == 0 ? LIST_NOT
                                     : LISTS;
}

/* leaf_of -- the kind of leaf that a key names; ITEM_GROUP: none. */
static enum text_item_kind leaf_of(const char *key) {
    static const char *const keys[] = {[ITEM_WORD] = "word",
                                       [ITEM_PHRASE] = "phrase",
                                       [ITEM_PREFIX] = "prefix",
                                       [ITEM_FUZZY] = "fuzzy",
                                       [ITEM_NEAR] = "near"};
    for (int i = ITEM_WORD; i < ITEM_GROUP; i++)
        if (strcmp(key, keys[i]) == 0)
            return (enum text_item_kind)i;
    return ITEM_GROUP;
}

/* read_leaf_option -- an option that belongs to some leaves. *known: whether it is one. */
static tansu_status read_leaf_option(const text_parser *p, text_item *item, const doc_iter *iter,
                                     bool *known) {
    *known = true;
    if (item->kind == ITEM_FUZZY && strcmp(iter->key, "distance") == 0)
        return read_whole(p, iter->key, &iter->value, 1, 2, &item->distance);
    if (item->kind == ITEM_FUZZY && strcmp(iter->key, "same") == 0)
        return read_whole(p, iter->key, &iter->value, 0, TEXT_MAX_SAME, &item->same);
    if (item->kind == ITEM_NEAR && strcmp(iter->key, "within") == 0)
        return read_whole(p, iter->key, &iter->value, 1, TEXT_MAX_NEAR, &item->within);
    if (item->kind == ITEM_NEAR && strcmp(iter->key, "ordered") == 0)
        return read_flag(p, iter->key, &iter->value, &item->ordered);
    *known = false;
    return TANSU_OK;
}

/* read_element -- an element of a list. */
static tansu_status read_element(text_parser *p, text_item *group, enum text_list list,
                                 int32_t index, const doc_value *value, uint32_t depth) {
    text_piece string;
    if (value->type == DOC_STRING) {
        tansu_status status = read_string(p, "", value, &string);
        return status == TANSU_OK
                   ? read_search(p, &(text_string_reader){group, list, list, index, false}, string)
                   : status;
    }
    if (value->type != DOC_DOCUMENT)
        return bad(p, "",
                   "Element must be a string, or a document such as {\"phrase\": \"dark roast\"}");
    text_item *item = new_item(p, ITEM_GROUP, NULL);
    if (!item)
        return error_memory(p->error);
    item->index = index;
    append(group, list, item);
    return read_group(p, item, value->data, value->size, depth + 1);
}

/* read_list -- the elements of "all", "any" or "not". */
static tansu_status read_list(text_parser *p, text_item *group, const char *key,
                              const doc_value *value, uint32_t depth) {
    enum text_list list = list_of(key);
    doc_iter iter;
    if (value->type != DOC_ARRAY)
        return bad(p, key, "Value must be an array of strings and documents");
    tansu_status status = TANSU_OK;
    int32_t count = 0;
    doc_iter_value(&iter, value);
    for (; status == TANSU_OK && doc_iter_next(&iter); count++)
        status = text_place(read_element(p, group, list, count, &iter.value, depth), key, count,
                            p->error);
    return status == TANSU_OK && count == 0 ? bad(p, key, "Array is empty; give at least one word")
                                            : status;
}

/* read_common -- what every document of a search may have, and the top one. *known: whether the key
 * is one of these. */
static tansu_status read_common(text_parser *p, text_item *item, const doc_iter *iter, bool top,
                                bool *known) {
    text_condition *c = p->condition;
    const char *key = iter->key;
    *known = true;
    if (strcmp(key, "path") == 0)
        return read_strings(p, key, &iter->value, "paths of the index", TANSU_MAX_INDEX_PATHS,
                            &item->paths, &item->path_count);
    if (strcmp(key, "boost") == 0)
        return read_boost(p, key, &iter->value, &item->boost);
    if (top && strcmp(key, "k1") == 0)
        return read_double(p, key, &iter->value, 0, 1000, &c->k1);
    if (top && strcmp(key, "b") == 0)
        return read_double(p, key, &iter->value, 0, 1, &c->b);
    if (top && strcmp(key, "language") == 0)
        return read_language(p, key, &iter->value);
    if (top && strcmp(key, "caseSensitive") == 0)
        return read_flag(p, key, &iter->value, &c->case_sensitive);
    if (top && strcmp(key, "diacriticSensitive") == 0)
        return read_flag(p, key, &iter->value, &c->diacritic_sensitive);
    *known = false;
    return TANSU_OK;
}

/* find_leaf -- makes a document the leaf that it is, if it is one. */
static tansu_status find_leaf(text_parser *p, text_item *item, const uint8_t *doc, size_t size) {
    doc_iter iter;
    bool lists = false;
    doc_iter_init(&iter, doc, size);
    while (doc_iter_next(&iter)) {
        enum text_item_kind kind = leaf_of(iter.key);
        lists = lists || list_of(iter.key) != LISTS;
        if (kind == ITEM_GROUP)
            continue;
        if (item->key)
            return bad(p, iter.key,
                       "Document has two of \"word\", \"phrase\", \"prefix\", \"fuzzy\" and "
                       "\"near\"; put documents of their own into \"all\" or \"any\"");
        item->kind = kind;
        item->key = iter.key;
        item->distance = kind == ITEM_FUZZY;
        item->within = 10;
    }
    if (!item->key && !lists)
        return bad(p, "",
                   "Search looks for nothing; give \"all\", \"any\", \"word\", \"phrase\", "
                   "\"prefix\", \"fuzzy\", \"near\", or MongoDB's \"$search\"");
    if (item->key && lists)
        return bad(p, item->key,
                   "Document has \"all\", \"any\" or \"not\" as well; put what stands beside it "
                   "into one of them");
    return item->key ? count_item(p) : TANSU_OK;
}

/* read_key -- one key of a document of a search. */
static tansu_status read_key(text_parser *p, text_item *item, const doc_iter *iter,
                             uint32_t depth) {
    bool known = true;
    if (item->key && strcmp(iter->key, item->key) == 0 && item->kind == ITEM_NEAR)
        return read_strings(p, iter->key, &iter->value, "words", TEXT_MAX_PHRASE, &item->pieces,
                            &item->piece_count);
    if (item->key && strcmp(iter->key, item->key) == 0) {
        item->pieces = arena_alloc(p->memory, sizeof *item->pieces);
        item->piece_count = 1;
        return item->pieces ? read_string(p, iter->key, &iter->value, item->pieces)
                            : error_memory(p->error);
    }
    if (list_of(iter->key) != LISTS)
        return read_list(p, item, iter->key, &iter->value, depth);
    tansu_status status = read_leaf_option(p, item, iter, &known);
    if (!known)
        status = read_common(p, item, iter, depth == 0, &known);
    if (status == TANSU_OK && !known)
        return bad(p, iter->key,
                   "Key is unknown here; a search has \"$search\", or \"all\", \"any\", \"not\", "
                   "\"word\", \"phrase\", \"prefix\", \"fuzzy\", \"near\" with \"path\" and "
                   "\"boost\"");
    return status;
}

static tansu_status read_group(text_parser *p, text_item *group, const uint8_t *doc, size_t size,
                               uint32_t depth) {
    doc_iter iter;
    if (depth > TEXT_MAX_NESTING)
        return error_set(p->error, TANSU_E_TOO_LARGE, "", "Search is nested more than %d deep",
                         TEXT_MAX_NESTING);
    tansu_status status = find_leaf(p, group, doc, size);
    doc_iter_init(&iter, doc, size);
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_key(p, group, &iter, depth);
    if (status == TANSU_OK && group->kind == ITEM_GROUP && !group->lists[LIST_ALL] &&
        !group->lists[LIST_ANY] && group->lists[LIST_NOT])
        return bad(p, "not", "Search only excludes; add \"all\" or \"any\", which find documents");
    return status;
}

/* ---- MongoDB's form ---- */

/* read_mongo_key -- a key beside or before "$search". */
static tansu_status read_mongo_key(text_parser *p, const doc_iter *iter, text_piece *search) {
    text_condition *c = p->condition;
    if (strcmp(iter->key, "$search") == 0)
        return read_string(p, iter->key, &iter->value, search);
    if (strcmp(iter->key, "$language") == 0)
        return read_language(p, iter->key, &iter->value);
    if (strcmp(iter->key, "$caseSensitive") == 0)
        return read_flag(p, iter->key, &iter->value, &c->case_sensitive);
    if (strcmp(iter->key, "$diacriticSensitive") == 0)
        return read_flag(p, iter->key, &iter->value, &c->diacritic_sensitive);
    if (strcmp(iter->key, "k1") == 0)
        return read_double(p, iter->key, &iter->value, 0, 1000, &c->k1);
    if (strcmp(iter->key, "b") == 0)
        return read_double(p, iter->key, &iter->value, 0, 1, &c->b);
    return bad(p, iter->key,
               "Key is unknown beside \"$search\"; there are \"$language\", \"$caseSensitive\", "
               "\"$diacriticSensitive\", \"k1\" and \"b\"");
}

/* read_mongo -- phrases must all be there, and what is no phrase adds to the score; without phrases
 * one of the words is. */
static tansu_status read_mongo(text_parser *p, text_item *group, const uint8_t *doc, size_t size) {
    doc_iter iter;
    text_piece search = {NULL, 0};
    tansu_status status = TANSU_OK;
    doc_iter_init(&iter, doc, size);
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_mongo_key(p, &iter, &search);
    if (status == TANSU_OK && !search.bytes)
        return bad(p, "$search", "Search has no \"$search\", a string with the words");
    p->condition->mongo = true;
    if (status == TANSU_OK)
        status = text_place(
            read_search(p, &(text_string_reader){group, LIST_OPTIONAL, LIST_ALL, -1, true}, search),
            "$search", -1, p->error);
    return status;
}

tansu_status text_query_parse(const uint8_t *operand, size_t size, arena *memory,
                              text_condition **result, tansu_error *error) {
    text_parser p = {.memory = memory, .error = error};
    doc_iter iter;
    bool mongo = false;
    p.condition = *result = arena_alloc(memory, sizeof *p.condition);
    text_item *root = p.condition ? new_item(&p, ITEM_GROUP, NULL) : NULL;
    if (!root)
        return error_memory(error);
    *p.condition = (text_condition){.root = root, .k1 = 1.2, .b = 0.75};
    doc_iter_init(&iter, operand, size);
    while (!mongo && doc_iter_next(&iter))
        mongo = iter.key[0] == '$';
    return mongo ? read_mongo(&p, root, operand, size) : read_group(&p, root, operand, size, 0);
}
