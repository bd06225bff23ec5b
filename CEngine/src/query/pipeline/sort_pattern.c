/*
 * query/pipeline/sort_pattern.c -- sort keys of documents.
 */
#include "query/pipeline/sort_pattern.h"

#include "bson/number.h"
#include "bson/path.h"
#include "bson/value.h"
#include "query/exec/sort.h"
#include "query/exec/text_scan.h"

#include <string.h>

#define SORT_PATHS_MAX 32

/* The key of undefined, and of an empty array: between those of MinKey and null. */
#define KEY_UNDEFINED (KIND_MIN_KEY + 4)

typedef struct sort_path {
    path path;
    bool descending;
    bool positions; /* a part may be the position of an element */
    bool score;     /* there is no path: of the search by $text, the highest first */
} sort_path;

struct sort_pattern {
    uint32_t count;
    sort_path paths[SORT_PATHS_MAX];
};

/* ---- Compiling ---- */

/* read_direction -- 1 or -1, disregarding a fraction. */
static bool read_direction(const doc_value *value, bool *descending) {
    int64_t number;
    if (!number_whole(value, FRACTION_HALF_EVEN, &number) || (number != 1 && number != -1))
        return false;
    *descending = number < 0;
    return true;
}

/* check_name -- of a path: no part is empty, or begins with a dollar. */
static bool check_name(const char *text, size_t size) {
    bool begins = true;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == 0 || (begins && (text[i] == '.' || text[i] == '$')))
            return false;
        begins = text[i] == '.';
    }
    return !begins;
}

/* parse_path -- the parts of a path, which has no escapes. */
static tansu_status parse_path(stage *s, const char *text, size_t size, sort_path *result) {
    tansu_buffer escaped = TANSU_BUFFER_INIT;
    for (size_t i = 0; i < size; i++) {
        if (((text[i] == '\\' || text[i] == '*') && !buffer_append_byte(&escaped, '\\')) ||
            !buffer_append_byte(&escaped, (uint8_t)text[i])) {
            tansu_buffer_free(&escaped);
            return error_memory(s->p->error);
        }
    }
    tansu_status status = path_parse(&result->path, &s->p->memory, (const char *)escaped.data,
                                     escaped.size, s->p->error);
    tansu_buffer_free(&escaped);
    result->positions = status == TANSU_OK && path_has_positions(&result->path);
    return status;
}

/* read_score -- {"$meta": "textScore"}, under any name. Only $sort reads the key of a document while
 * the score is there. */
static tansu_status read_score(stage *s, const char *part, const doc_iter *member) {
    expression_compiler *c = &s->p->compiler;
    if (!expression_is_score(&member->value) || s->kind != &stage_sort_kind)
        return stage_error(s, part,
                           "Direction of \"%.100s\" must be 1 or -1, or in $sort "
                           "{\"$meta\": \"textScore\"}",
                           member->key);
    if (c->score != SCORE_THERE)
        return stage_error(s, part, "%s",
                           c->score == SCORE_BEHIND ? EXPRESSION_SCORE_BEHIND
                                                    : EXPRESSION_NO_SCORE);
    c->reads_score = true;
    return TANSU_OK;
}

tansu_status sort_pattern_compile(stage *s, const char *part, const doc_value *spec,
                                  const sort_pattern **result) {
    doc_iter iter, before;
    sort_pattern *pattern = stage_alloc(s, sizeof *pattern);
    if (!pattern)
        return TANSU_E_MEMORY;
    *result = pattern;
    if (spec->type != DOC_DOCUMENT || spec->size <= 5)
        return stage_error(s, part, "Takes a document that names at least one path");
    for (doc_iter_value(&iter, spec); doc_iter_next(&iter);) {
        if (pattern->count == SORT_PATHS_MAX)
            return stage_error(s, part, "More than %d paths", SORT_PATHS_MAX);
        sort_path *path = &pattern->paths[pattern->count];
        if (iter.value.type == DOC_DOCUMENT) {
            tansu_status status = read_score(s, part, &iter);
            if (status != TANSU_OK)
                return status;
            path->score = true;
            pattern->count++;
            continue;
        }
        if (!doc_is_number(&iter.value) || !read_direction(&iter.value, &path->descending))
            return stage_error(s, part, "Direction of \"%.100s\" must be 1 or -1", iter.key);
        if (!check_name(iter.key, iter.key_size))
            return stage_error(s, part, "Path \"%.100s\" has a part that is empty or begins with $",
                               iter.key);
        for (doc_iter_value(&before, spec); doc_iter_next(&before) && before.key != iter.key;) {
            if (strcmp(before.key, iter.key) == 0)
                return stage_error(s, part, "Path \"%.100s\" is there twice", iter.key);
        }
        tansu_status status = parse_path(s, iter.key, iter.key_size, path);
        if (status != TANSU_OK)
            return status;
        pattern->count++;
    }
    return TANSU_OK;
}

/* ---- Keys ---- */

/* Where a path has come to in a document. */
typedef struct place {
    doc_value value;
    uint32_t part; /* of the path: the next one */
    bool end;      /* the value is the one to sort by */
} place;

/* The keys of one document. */
typedef struct walk {
    stage *s;
    const sort_pattern *pattern;
    const doc_value *doc;
    tansu_buffer *key;
    size_t start; /* of the least key so far */
    size_t end;   /* of it; equal to the start: there is none yet */
} walk;

/* put_value -- appends the key of a value. */
static bool put_value(walk *w, const sort_path *path, const doc_value *value) {
    evaluation *ev = &w->s->p->ev;
    if (value->type == DOC_UNDEFINED)
        return buffer_append_byte(w->key,
                                  (uint8_t)(path->descending ? ~KEY_UNDEFINED : KEY_UNDEFINED));
    return collation_key(ev->collation, &ev->collated[0], w->key, value, path->descending);
}

/* put_positions -- the key of a path with positions, by itself. */
static bool put_positions(walk *w, const sort_path *path) {
    evaluation *ev = &w->s->p->ev;
    const order_path order = {.path = &path->path, .descending = path->descending};
    return sort_key(&order, 1, ev->collation, ev->collated, w->doc->data, w->doc->size, w->key);
}

/* put_key -- a key, which stays if it is less than those before. */
static tansu_status put_key(walk *w, const place *places) {
    for (uint32_t i = 0; i < w->pattern->count; i++) {
        const sort_path *path = &w->pattern->paths[i];
        bool put = path->score       ? text_score_key(w->key, w->s->p->ev.score)
                   : path->positions ? put_positions(w, path)
                                     : put_value(w, path, &places[i].value);
        if (!put)
            return error_memory(w->s->p->error);
    }
    size_t least = w->end - w->start, size = w->key->size - w->end;
    if (least == 0) {
        w->end = w->key->size;
        return TANSU_OK;
    }
    uint8_t *start = w->key->data + w->start;
    int order = memcmp(start + least, start, least < size ? least : size);
    if (order < 0 || (order == 0 && size < least)) {
        memmove(start, start + least, size);
        w->end = w->start + size;
    }
    w->key->size = w->end;
    return stage_step(w->s);
}

/* advance -- goes on to the end of the path, or to an array. */
static void advance(const sort_path *path, place *at) {
    while (!at->end && at->value.type != DOC_ARRAY) {
        if (at->part == path->path.count) {
            at->end = true;
        } else if (at->value.type != DOC_DOCUMENT) {
            at->value = (doc_value){NULL, 0, DOC_MISSING};
            at->end = true;
        } else {
            const path_part *part = &path->path.parts[at->part++];
            doc_find(at->value.data, at->value.size, part->name, part->size, &at->value);
        }
    }
}

/* enter -- a place in an array goes on to an element (NULL: the array is empty). */
static void enter(const sort_path *path, place *at, const doc_value *element) {
    if (at->part == path->path.count) {
        at->value = element ? *element : (doc_value){NULL, 0, DOC_UNDEFINED};
        at->end = true;
    } else if (element && element->type == DOC_DOCUMENT) {
        at->value = *element;
    } else {
        at->value = (doc_value){NULL, 0, DOC_MISSING};
        at->end = true;
    }
}

/* walk_places -- all keys of what follows the places, which it moves. */
static tansu_status walk_places(walk *w, place *places) {
    const sort_pattern *pattern = w->pattern;
    doc_value array = {NULL, 0, DOC_MISSING};
    for (uint32_t i = 0; i < pattern->count; i++) {
        if (pattern->paths[i].positions || pattern->paths[i].score)
            continue;
        advance(&pattern->paths[i], &places[i]);
        if (places[i].end)
            continue;
        if (array.data && array.data != places[i].value.data)
            return stage_error(w->s, w->s->kind->name,
                               "Cannot sort by \"%.100s\" and another path that leads through "
                               "another array of the same document",
                               pattern->paths[i].path.text);
        array = places[i].value;
    }
    if (!array.data)
        return put_key(w, places);
    doc_iter iter;
    bool empty = !doc_iter_value(&iter, &array) || iter.next == iter.end;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && (empty || doc_iter_next(&iter))) {
        place inner[SORT_PATHS_MAX];
        for (uint32_t i = 0; i < pattern->count; i++) {
            inner[i] = places[i];
            if (!inner[i].end && !pattern->paths[i].positions && !pattern->paths[i].score)
                enter(&pattern->paths[i], &inner[i], empty ? NULL : &iter.value);
        }
        status = walk_places(w, inner);
        if (empty)
            break;
    }
    return status;
}

tansu_status sort_pattern_key(stage *s, const sort_pattern *pattern, const doc_value *doc,
                              tansu_buffer *key) {
    place places[SORT_PATHS_MAX];
    walk w = {
        .s = s, .pattern = pattern, .doc = doc, .key = key, .start = key->size, .end = key->size};
    for (uint32_t i = 0; i < pattern->count; i++)
        places[i] = (place){.value = *doc};
    return walk_places(&w, places);
}
