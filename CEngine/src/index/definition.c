/*
 * index/definition.c -- parsing, comparing and encoding index definitions.
 */
#include "index/definition.h"

#include "bson/case_fold.h"
#include "bson/number.h"
#include "bson/value.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/error.h"
#include "util/utf8.h"

#include <stdio.h>
#include <stdlib.h>

/* paths_equal -- whether two paths have the same parts, however they were written. */
static bool paths_equal(const path *a, const path *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->parts[i].size != b->parts[i].size ||
            memcmp(a->parts[i].name, b->parts[i].name, a->parts[i].size) != 0)
            return false;
    }
    return true;
}

/* check_path -- refuses paths that no query has, or that mean more than one field. */
static tansu_status check_path(const path *path, tansu_error *error) {
    if (path->count == 1 && (strcmp(path->text, "*") == 0 || strcmp(path->text, "**") == 0))
        return error_set(
            error, TANSU_E_INVALID_INDEX, path->text,
            "An index needs the path of a field, or \"**\"; \"*\" is for queries only");
    if (path->count != 0 && path->parts[0].name[0] == '$')
        return error_set(error, TANSU_E_INVALID_INDEX, path->text,
                         "A path that begins with \"$\" can't be indexed; no query names it");
    return TANSU_OK;
}

/* parse_path -- path_parse() with the errors of an index. */
static tansu_status parse_path(path *path, const char *text, size_t size, tansu_error *error) {
    tansu_status status = path_parse(path, NULL, text, size, error);
    if (status != TANSU_E_INVALID_QUERY)
        return status;
    if (error != NULL)
        error->code = TANSU_E_INVALID_INDEX;
    return TANSU_E_INVALID_INDEX;
}

/* read_wildcard -- the path of a wildcard index. Its last part becomes one that no key is equal to,
 * so that nothing takes the index for one of a field. */
static tansu_status read_wildcard(index_definition *definition, path *path, size_t base,
                                  tansu_error *error) {
    path_part *last = &path->parts[path->count - 1];
    *last = (path_part){"\0", 1, -1};
    wildcard_path *scope = &definition->scope.base;
    if (base == 0)
        return TANSU_OK;
    tansu_status status = parse_path(&scope->path, path->text, base, error);
    if (status == TANSU_OK)
        status = check_path(&scope->path, error);
    if (status == TANSU_OK && !wildcard_put_path(&scope->bytes, &scope->path))
        status = error_memory(error);
    return status;
}

/* check_repeated -- refuses a path that an earlier one is equal to. */
static tansu_status check_repeated(const index_definition *definition, const path *path,
                                   tansu_error *error) {
    for (uint32_t i = 0; i + 1 < definition->path_count; i++) {
        if (paths_equal(&definition->paths[i], path))
            return error_set(error, TANSU_E_INVALID_INDEX, path->text,
                             "The index names this path twice");
    }
    return check_path(path, error);
}

/* read_text_key -- adds one path of an index of words. */
static tansu_status read_text_key(index_definition *definition, const doc_iter *key,
                                  tansu_error *error) {
    size_t size;
    if (key->value.type != DOC_STRING || strcmp(doc_string(&key->value, &size), "text") != 0)
        return error_set(error, TANSU_E_INVALID_INDEX, key->key,
                         "Every path of an index of words is \"text\"; create an index of its own "
                         "for the others, and the planner uses both");
    path *path = &definition->paths[definition->path_count];
    tansu_status status = parse_path(path, key->key, key->key_size, error);
    if (status != TANSU_OK)
        return status;
    definition->path_count++;
    if (strcmp(path->text, "**") != 0)
        return check_repeated(definition, path, error);
    definition->text->everything = true;
    return TANSU_OK;
}

/* read_key -- adds one path with its direction. */
static tansu_status read_key(index_definition *definition, const doc_iter *key,
                             tansu_error *error) {
    if (definition->path_count == TANSU_MAX_INDEX_PATHS)
        return error_set(error, TANSU_E_TOO_LARGE, key->key, "An index can have at most %d paths",
                         TANSU_MAX_INDEX_PATHS);
    if (definition->text)
        return read_text_key(definition, key, error);
    int64_t direction;
    if (!number_whole(&key->value, FRACTION_HALF_EVEN, &direction) ||
        (direction != 1 && direction != -1))
        return error_set(error, TANSU_E_INVALID_INDEX, key->key,
                         "The direction of an index path must be 1 (ascending) or -1 (descending); "
                         "\"text\" makes an index of words");
    path *path = &definition->paths[definition->path_count];
    tansu_status status = parse_path(path, key->key, key->key_size, error);
    if (status != TANSU_OK)
        return status;
    definition->descending[definition->path_count++] = direction < 0;
    size_t base;
    if (definition->wildcard && wildcard_text(key->key, key->key_size, &base))
        return read_wildcard(definition, path, base, error);
    return check_repeated(definition, path, error);
}

/* read_keys -- adds all paths. */
static tansu_status read_keys(index_definition *definition, const uint8_t *keys, size_t keys_size,
                              tansu_error *error) {
    if (keys == NULL)
        return error_set(error, TANSU_E_INVALID_INDEX, NULL,
                         "An index needs keys, such as {\"name\": 1}");
    tansu_status status = doc_check(keys, keys_size, DOC_CHECK_BSON, error);
    if (status != TANSU_OK)
        return status;
    doc_iter iter;
    doc_iter_init(&iter, keys, keys_size);
    while (status == TANSU_OK && doc_iter_next(&iter))
        status = read_key(definition, &iter, error);
    if (status == TANSU_OK && definition->path_count == 0)
        return error_set(error, TANSU_E_INVALID_INDEX, NULL,
                         "An index needs at least one path, such as {\"name\": 1}");
    return status;
}

/* read_filter -- parses a partial filter. */
static tansu_status read_filter(index_definition *definition, const doc_value *value,
                                tansu_error *error) {
    if (value->type != DOC_DOCUMENT)
        return error_set(
            error, TANSU_E_INVALID_INDEX, "partialFilter",
            "The option \"partialFilter\" must be a query, such as {\"active\": true}");
    definition->filter_bson = malloc(value->size);
    if (definition->filter_bson == NULL)
        return error_memory(error);
    memcpy(definition->filter_bson, value->data, value->size);
    definition->filter_size = value->size;
    return TANSU_OK;
}

/* read_max_entries -- parses the bound on the entries of one document. */
static tansu_status read_max_entries(index_definition *definition, const doc_value *value,
                                     tansu_error *error) {
    int64_t count;
    if (!number_whole(value, FRACTION_CUT, &count) || count < 1 || count > TANSU_MAX_INDEX_ENTRIES)
        return error_set(error, TANSU_E_INVALID_INDEX, "maxEntries",
                         "The option \"maxEntries\" must be a number from 1 to %d",
                         TANSU_MAX_INDEX_ENTRIES);
    definition->max_entries = (uint32_t)count;
    return TANSU_OK;
}

/* read_expire_after -- parses the seconds until documents expire. */
static tansu_status read_expire_after(index_definition *definition, const doc_value *value,
                                      tansu_error *error) {
    int64_t seconds = 0;
    uint8_t bytes[8];
    const doc_value without_fraction = {.data = bytes, .size = sizeof bytes, .type = DOC_INT64};
    bool number = number_whole(value, FRACTION_CUT, &seconds);
    store_u64(bytes, (uint64_t)seconds);
    if (!number || value_compare(value, &without_fraction) != 0 || seconds < 0 ||
        seconds > INT32_MAX)
        return error_set(error, TANSU_E_INVALID_INDEX, "expireAfterSeconds",
                         "The option \"expireAfterSeconds\" must be a whole number from 0 to %d",
                         INT32_MAX);
    definition->expires = true;
    definition->expire_after = (uint32_t)seconds;
    return TANSU_OK;
}

/* read_scope_path -- one path of `only` or `except`. */
static tansu_status read_scope_path(const char *option, const doc_value *value, wildcard_path *path,
                                    tansu_error *error) {
    if (value->type != DOC_STRING)
        return error_set(error, TANSU_E_INVALID_INDEX, option,
                         "The option \"%s\" must be an array of paths, such as [\"address\"]",
                         option);
    size_t size;
    const char *text = doc_string(value, &size);
    if (path_has_wildcard(text, size))
        return error_set(error, TANSU_E_INVALID_INDEX, option,
                         "Path in the option \"%s\" has a part of asterisks only; name the path "
                         "alone, which includes everything below it",
                         option);
    tansu_status status = parse_path(&path->path, text, size, error);
    if (status == TANSU_OK)
        status = check_path(&path->path, error);
    if (status == TANSU_OK && !wildcard_put_path(&path->bytes, &path->path))
        status = error_memory(error);
    return status;
}

/* read_scope -- parses `only` or `except`. */
static tansu_status read_scope(const doc_iter *option, wildcard_path **list, uint32_t *count,
                               tansu_error *error) {
    uint32_t paths = 0;
    if (option->value.type != DOC_ARRAY || !doc_array_size(&option->value, &paths) || paths == 0 ||
        paths > WILDCARD_MAX_PATHS)
        return error_set(error, TANSU_E_INVALID_INDEX, option->key,
                         "The option \"%s\" must be an array of 1 to %d paths", option->key,
                         WILDCARD_MAX_PATHS);
    *list = calloc(paths, sizeof **list);
    if (*list == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    doc_iter iter;
    doc_iter_value(&iter, &option->value);
    while (status == TANSU_OK && *count < paths && doc_iter_next(&iter))
        status = read_scope_path(option->key, &iter.value, &(*list)[(*count)++], error);
    return status;
}

/* check_wildcard -- refuses what a wildcard index does not have, and its options for others. */
static tansu_status check_wildcard(const index_definition *definition, tansu_error *error) {
    const path *path = &definition->paths[0];
    bool any = false;
    for (uint32_t i = 0; i < definition->path_count; i++)
        any = any || definition->paths[i].parts[definition->paths[i].count - 1].name[0] == 0;
    if (!any && (definition->wildcard || definition->scope.only || definition->scope.except))
        return error_set(error, TANSU_E_INVALID_INDEX, path->text,
                         "The options \"wildcard\", \"only\" and \"except\" are for wildcard "
                         "indexes; write the path as \"**\" or \"path.**\"");
    if (!any)
        return TANSU_OK;
    if (definition->path_count > 1)
        return error_set(error, TANSU_E_INVALID_INDEX, path->text,
                         "A wildcard index has no other path; create an index of its own for the "
                         "others, and the planner uses both");
    if (definition->descending[0])
        return error_set(error, TANSU_E_INVALID_INDEX, path->text,
                         "The direction of a wildcard index must be 1; it is read in both");
    if (definition->unique)
        return error_set(error, TANSU_E_INVALID_INDEX, "unique",
                         "A wildcard index can't be unique; create a unique index on each path "
                         "that needs one");
    if (definition->sparse)
        return error_set(
            error, TANSU_E_INVALID_INDEX, "sparse",
            "A wildcard index never has what is missing; remove the option \"sparse\"");
    return TANSU_OK;
}

/* check_expiry -- refuses an index by which documents cannot expire. */
static tansu_status check_expiry(const index_definition *definition, tansu_error *error) {
    const path *path = &definition->paths[0];
    if (!definition->expires)
        return TANSU_OK;
    if (definition->wildcard)
        return error_set(error, TANSU_E_INVALID_INDEX, "expireAfterSeconds",
                         "Documents can't expire by a wildcard index; create an index on the path "
                         "of a date");
    if (definition->path_count > 1)
        return error_set(error, TANSU_E_INVALID_INDEX, "expireAfterSeconds",
                         "Documents expire by one date; create an index with the path of the date "
                         "alone, and another one for several paths");
    if (path->count == 1 && strcmp(path->parts[0].name, "_id") == 0)
        return error_set(error, TANSU_E_INVALID_INDEX, "expireAfterSeconds",
                         "Documents can't expire by their _id; store the date in a field of its "
                         "own");
    return TANSU_OK;
}

/* ---- Indexes of words ---- */

/* has_text -- whether the keys are those of an index of words. */
static bool has_text(const uint8_t *keys, size_t size) {
    doc_iter iter;
    bool found = false;
    if (keys == NULL || doc_check(keys, size, DOC_CHECK_BSON, NULL) != TANSU_OK ||
        !doc_iter_init(&iter, keys, size))
        return false;
    while (!found && doc_iter_next(&iter))
        found = iter.value.type == DOC_STRING;
    return found;
}

/* read_weights -- the weights of the paths: {"title": 3}. */
static tansu_status read_weights(index_definition *definition, const doc_value *value,
                                 tansu_error *error) {
    doc_iter iter;
    if (value->type != DOC_DOCUMENT || !doc_iter_value(&iter, value))
        return error_set(error, TANSU_E_INVALID_INDEX, "weights",
                         "The option \"weights\" must be a document such as {\"title\": 3}");
    while (doc_iter_next(&iter)) {
        int64_t weight;
        path path = {.text = NULL};
        uint32_t i = 0;
        tansu_status status = parse_path(&path, iter.key, iter.key_size, error);
        if (status != TANSU_OK)
            return status;
        while (i < definition->path_count && !paths_equal(&definition->paths[i], &path))
            i++;
        path_free(&path);
        if (i == definition->path_count)
            return error_set(error, TANSU_E_INVALID_INDEX, iter.key,
                             "The option \"weights\" names a path that the index does not have");
        if (!number_whole(&iter.value, FRACTION_CUT, &weight) || weight < 1 ||
            weight > TEXT_MAX_WEIGHT)
            return error_set(error, TANSU_E_INVALID_INDEX, iter.key,
                             "A weight must be a whole number from 1 to %d", TEXT_MAX_WEIGHT);
        definition->text->weights[i] = (uint32_t)weight;
    }
    return TANSU_OK;
}

/* read_language -- the language of the index, which need not be known: only where words are made
 * terms it must. */
static tansu_status read_language(text_index *text, const doc_value *value, tansu_error *error) {
    size_t size = 0;
    const char *name = value->type == DOC_STRING ? doc_string(value, &size) : "";
    if (size == 0 || size > TEXT_MAX_LANGUAGE || strlen(name) != size)
        return error_set(error, TANSU_E_INVALID_INDEX, "language",
                         "The option \"language\" must be the code of a language, such as \"en\", "
                         "or \"none\"");
    memcpy(text->language, name, size + 1);
    return TANSU_OK;
}

/* read_language_field -- the path of the language that a document names. */
static tansu_status read_language_field(text_index *text, const doc_value *value,
                                        tansu_error *error) {
    size_t size = 0;
    const char *name = value->type == DOC_STRING ? doc_string(value, &size) : "";
    if (size == 0 || path_has_wildcard(name, size))
        return error_set(error, TANSU_E_INVALID_INDEX, "languageField",
                         "The option \"languageField\" must be the path of a field that names the "
                         "language of a document");
    tansu_status status = parse_path(&text->language_field, name, size, error);
    return status == TANSU_OK ? check_path(&text->language_field, error) : status;
}

/* read_text_option -- parses an option of an index of words. */
static tansu_status read_text_option(index_definition *definition, const doc_iter *option,
                                     tansu_error *error) {
    text_index *text = definition->text;
    bool positions = true;
    if (strcmp(option->key, "partialFilter") == 0)
        return read_filter(definition, &option->value, error);
    if (strcmp(option->key, "weights") == 0)
        return read_weights(definition, &option->value, error);
    if (strcmp(option->key, "language") == 0)
        return read_language(text, &option->value, error);
    if (strcmp(option->key, "languageField") == 0)
        return read_language_field(text, &option->value, error);
    if (strcmp(option->key, "positions") != 0)
        return error_set(error, TANSU_E_INVALID_INDEX, option->key,
                         "An index of words has no such option; use \"weights\", \"language\", "
                         "\"languageField\", \"positions\" or \"partialFilter\"");
    if (!doc_as_bool(&option->value, &positions))
        return error_set(error, TANSU_E_INVALID_INDEX, option->key,
                         "The option \"positions\" must be true or false");
    text->leaves_positions = !positions;
    return TANSU_OK;
}

/* check_text -- refuses other paths beside "**", which has them all. */
static tansu_status check_text(const index_definition *definition, tansu_error *error) {
    if (definition->text && definition->text->everything && definition->path_count > 1)
        return error_set(
            error, TANSU_E_INVALID_INDEX, "**",
            "An index of all words has no other path; name the paths without \"**\" to "
            "give them weights");
    return TANSU_OK;
}

void index_definition_text(const index_definition *definition, writer *w) {
    const text_index *text = definition->text;
    bool weighted = false;
    if (!text)
        return;
    for (uint32_t i = 0; i < definition->path_count; i++)
        weighted = weighted || text->weights[i] != 1;
    if (weighted) {
        size_t weights = writer_open(w, "weights", DOC_DOCUMENT);
        for (uint32_t i = 0; i < definition->path_count; i++)
            if (text->weights[i] != 1)
                writer_int32(w, definition->paths[i].text, (int32_t)text->weights[i]);
        writer_end(w, weights);
    }
    if (strcmp(text->language, "none") != 0)
        writer_string(w, "language", text->language);
    if (text->language_field.count != 0)
        writer_string(w, "languageField", text->language_field.text);
    if (text->leaves_positions)
        writer_bool(w, "positions", false);
}

/* text_equal -- whether two indexes have the same words, or none. */
static bool text_equal(const text_index *a, const text_index *b) {
    if (!a || !b)
        return a == b;
    return a->everything == b->everything && a->leaves_positions == b->leaves_positions &&
           memcmp(a->weights, b->weights, sizeof a->weights) == 0 &&
           strcmp(a->language, b->language) == 0 &&
           paths_equal(&a->language_field, &b->language_field);
}

/* new_text -- makes the definition that of an index of words. */
static tansu_status new_text(index_definition *definition, tansu_error *error) {
    text_index *text = definition->text = calloc(1, sizeof *text);
    if (!text)
        return error_memory(error);
    for (uint32_t i = 0; i < TANSU_MAX_INDEX_PATHS; i++)
        text->weights[i] = 1;
    strcpy(text->language, "none");
    return TANSU_OK;
}

/* ---- Options ---- */

/* read_option -- parses one option. */
static tansu_status read_option(index_definition *definition, const doc_iter *option,
                                tansu_error *error) {
    bool *flag = NULL;
    if (definition->text)
        return read_text_option(definition, option, error);
    if (strcmp(option->key, "partialFilter") == 0)
        return read_filter(definition, &option->value, error);
    if (strcmp(option->key, "maxEntries") == 0)
        return read_max_entries(definition, &option->value, error);
    if (strcmp(option->key, "expireAfterSeconds") == 0)
        return read_expire_after(definition, &option->value, error);
    if (strcmp(option->key, "only") == 0)
        return read_scope(option, &definition->scope.only, &definition->scope.only_count, error);
    if (strcmp(option->key, "except") == 0)
        return read_scope(option, &definition->scope.except, &definition->scope.except_count,
                          error);
    if (strcmp(option->key, "unique") == 0)
        flag = &definition->unique;
    else if (strcmp(option->key, "wildcard") == 0)
        flag = &definition->wildcard;
    else if (strcmp(option->key, "sparse") == 0)
        flag = &definition->sparse;
    else if (strcmp(option->key, "caseInsensitive") == 0)
        flag = &definition->fold;
    if (flag == NULL)
        return error_set(error, TANSU_E_INVALID_INDEX, option->key,
                         "There is no such index option; use \"unique\", \"sparse\", "
                         "\"caseInsensitive\", \"maxEntries\", \"partialFilter\", "
                         "\"expireAfterSeconds\", \"only\" or \"except\"");
    if (!doc_as_bool(&option->value, flag))
        return error_set(error, TANSU_E_INVALID_INDEX, option->key,
                         "The option \"%s\" must be true or false", option->key);
    return TANSU_OK;
}

/* check_once -- refuses an option that an earlier one has the name of. */
static tansu_status check_once(const uint8_t *options, size_t size, const doc_iter *option,
                               tansu_error *error) {
    return doc_has_before(options, size, option)
               ? error_set(error, TANSU_E_INVALID_INDEX, option->key,
                           "The option \"%s\" is given twice; remove one of them", option->key)
               : TANSU_OK;
}

/* read_options -- parses the options; NULL is none. */
static tansu_status read_options(index_definition *definition, const uint8_t *options,
                                 size_t options_size, tansu_error *error) {
    if (options == NULL)
        return TANSU_OK;
    tansu_status status = doc_check(options, options_size, DOC_CHECK_BSON, error);
    if (status != TANSU_OK)
        return status;
    doc_iter iter;
    doc_iter_init(&iter, options, options_size);
    while (status == TANSU_OK && doc_iter_next(&iter)) {
        status = check_once(options, options_size, &iter, error);
        if (status == TANSU_OK)
            status = read_option(definition, &iter, error);
    }
    return status;
}

/* make_name -- joins paths and directions to a name: "name_1_age_-1". */
static tansu_status make_name(index_definition *definition, tansu_error *error) {
    size_t used = 0;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        const char *kind = definition->text ? "text" : definition->descending[i] ? "-1" : "1";
        int written = snprintf(definition->name + used, sizeof definition->name - used, "%s%s_%s",
                               i > 0 ? "_" : "", definition->paths[i].text, kind);
        if (written < 0 || (size_t)written >= sizeof definition->name - used)
            return error_set(
                error, TANSU_E_INVALID_NAME, definition->paths[i].text,
                "The name made from the paths would be longer than %d bytes; give the index a name",
                TANSU_MAX_NAME);
        used += (size_t)written;
    }
    return TANSU_OK;
}

/* read_name -- checks the name, or makes one when it is empty. */
static tansu_status read_name(index_definition *definition, const char *name, tansu_error *error) {
    if (name == NULL || name[0] == '\0')
        return make_name(definition, error);
    size_t size = strlen(name);
    if (size > TANSU_MAX_NAME)
        return error_set(error, TANSU_E_INVALID_NAME, name,
                         "An index name can have at most %d bytes", TANSU_MAX_NAME);
    if (utf8_valid((const uint8_t *)name, size) != size)
        return error_set(error, TANSU_E_INVALID_NAME, NULL, "An index name must be valid UTF-8");
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F)
            return error_set(error, TANSU_E_INVALID_NAME, NULL,
                             "An index name can't contain control characters");
    }
    memcpy(definition->name, name, size + 1);
    return TANSU_OK;
}

/* has_wildcard -- whether a path of the keys is that of a wildcard index. */
static bool has_wildcard(const uint8_t *keys, size_t size) {
    doc_iter iter;
    size_t base;
    bool found = false;
    if (keys == NULL || doc_check(keys, size, DOC_CHECK_BSON, NULL) != TANSU_OK ||
        !doc_iter_init(&iter, keys, size))
        return false;
    while (!found && doc_iter_next(&iter))
        found = wildcard_text(iter.key, iter.key_size, &base);
    return found;
}

/* check_asterisks -- refuses paths that name a key of asterisks only without a backslash. */
static tansu_status check_asterisks(const index_definition *definition, tansu_error *error) {
    for (uint32_t i = 0; i < definition->path_count; i++) {
        const char *text = definition->paths[i].text;
        size_t size = strlen(text), base;
        if (definition->text ? definition->text->everything : wildcard_text(text, size, &base))
            size = definition->text ? 0 : base;
        if (path_has_wildcard(text, size))
            return error_set(error, TANSU_E_INVALID_INDEX, text,
                             "Path of the index has a part of asterisks only; write a key of that "
                             "name with a backslash, \\*");
    }
    return TANSU_OK;
}

tansu_status index_definition_parse(const char *name, const uint8_t *keys, size_t keys_size,
                                    const uint8_t *options, size_t options_size,
                                    index_definition **result, tansu_error *error) {
    index_definition *definition = calloc(1, sizeof *definition);
    if (definition == NULL)
        return error_memory(error);
    definition->max_entries = TANSU_DEFAULT_INDEX_ENTRIES;
    /* The options first: one says what the keys mean. Those of words are about the keys. */
    bool text = has_text(keys, keys_size);
    tansu_status status = text ? new_text(definition, error) : TANSU_OK;
    if (status == TANSU_OK && text)
        status = read_keys(definition, keys, keys_size, error);
    if (status == TANSU_OK)
        status = read_options(definition, options, options_size, error);
    if (status == TANSU_OK && !text) {
        definition->wildcard = definition->wildcard || has_wildcard(keys, keys_size);
        status = read_keys(definition, keys, keys_size, error);
    }
    if (status == TANSU_OK)
        status = check_asterisks(definition, error);
    if (status == TANSU_OK)
        status = text ? check_text(definition, error) : check_wildcard(definition, error);
    if (status == TANSU_OK)
        status = check_expiry(definition, error);
    if (status == TANSU_OK)
        status = read_name(definition, name, error);
    if (status != TANSU_OK) {
        index_definition_free(definition);
        return status;
    }
    *result = definition;
    return TANSU_OK;
}

/* index_definition_free -- frees a definition; fine on NULL. */
void index_definition_free(index_definition *definition) {
    if (definition == NULL)
        return;
    for (uint32_t i = 0; i < TANSU_MAX_INDEX_PATHS; i++)
        path_free(&definition->paths[i]);
    if (definition->filter != NULL)
        definition->hooks->filter_free(definition->filter);
    free(definition->filter_bson);
    wildcard_scope_free(&definition->scope);
    if (definition->text)
        path_free(&definition->text->language_field);
    free(definition->text);
    free(definition);
}

/* index_definition_compile -- makes the partial filter ready. */
tansu_status index_definition_compile(index_definition *definition, const query_hooks *hooks,
                                      tansu_error *error) {
    if (definition->filter_bson == NULL || definition->filter != NULL)
        return TANSU_OK;
    if (hooks == NULL)
        return error_set(error, TANSU_E_UNSUPPORTED, definition->name,
                         "Index \"%s\" has a partial filter, which can't be read here",
                         definition->name);
    tansu_status status = hooks->filter_compile(definition->filter_bson, definition->filter_size,
                                                &definition->filter, error);
    if (status == TANSU_OK)
        definition->hooks = hooks;
    return status;
}

/* index_definition_equal -- the same paths, directions and options. */
bool index_definition_equal(const index_definition *a, const index_definition *b) {
    if (a->path_count != b->path_count || a->unique != b->unique || a->sparse != b->sparse ||
        a->fold != b->fold || a->max_entries != b->max_entries ||
        a->filter_size != b->filter_size || a->wildcard != b->wildcard ||
        a->expires != b->expires || a->expire_after != b->expire_after ||
        !wildcard_scope_equal(&a->scope, &b->scope) || !text_equal(a->text, b->text) ||
        (a->filter_size != 0 && memcmp(a->filter_bson, b->filter_bson, a->filter_size) != 0))
        return false;
    for (uint32_t i = 0; i < a->path_count; i++) {
        if (a->descending[i] != b->descending[i] || !paths_equal(&a->paths[i], &b->paths[i]))
            return false;
    }
    return true;
}

void index_definition_keys(const index_definition *definition, writer *w) {
    size_t document = writer_begin(w);
    for (uint32_t i = 0; i < definition->path_count; i++)
        if (definition->text)
            writer_string(w, definition->paths[i].text, "text");
        else
            writer_int32(w, definition->paths[i].text, definition->descending[i] ? -1 : 1);
    writer_end(w, document);
}

/* write_scope_paths -- a list of paths. */
static void write_scope_paths(writer *w, const char *name, const wildcard_path *list,
                              uint32_t count) {
    char key[12];
    if (count == 0)
        return;
    size_t array = writer_open(w, name, DOC_ARRAY);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%u", i);
        writer_string(w, key, list[i].path.text);
    }
    writer_end(w, array);
}

void index_definition_scope(const index_definition *definition, writer *w) {
    const wildcard_scope *scope = &definition->scope;
    write_scope_paths(w, "only", scope->only, scope->only_count);
    write_scope_paths(w, "except", scope->except, scope->except_count);
}

void index_definition_expiry(const index_definition *definition, writer *w) {
    if (definition->expires)
        writer_int32(w, "expireAfterSeconds", (int32_t)definition->expire_after);
}

void index_definition_options(const index_definition *definition, writer *w) {
    size_t document = writer_begin(w);
    if (definition->unique)
        writer_bool(w, "unique", true);
    if (definition->sparse)
        writer_bool(w, "sparse", true);
    if (definition->fold)
        writer_bool(w, "caseInsensitive", true);
    if (definition->filter_bson != NULL)
        writer_document(w, "partialFilter", definition->filter_bson, definition->filter_size);
    if (definition->max_entries != TANSU_DEFAULT_INDEX_ENTRIES)
        writer_int32(w, "maxEntries", (int32_t)definition->max_entries);
    index_definition_expiry(definition, w);
    if (definition->wildcard)
        writer_bool(w, "wildcard", true);
    index_definition_scope(definition, w);
    index_definition_text(definition, w);
    writer_end(w, document);
}

void index_definition_elements(const index_definition *definition, writer *w) {
    writer_string(w, "name", definition->name);
    writer_head(w, DOC_DOCUMENT, "keys", 4);
    index_definition_keys(definition, w);
    writer_head(w, DOC_DOCUMENT, "options", 7);
    index_definition_options(definition, w);
}

tansu_status index_definition_copy(const index_definition *model, const query_hooks *hooks,
                                   index_definition **result, tansu_error *error) {
    tansu_buffer keys = TANSU_BUFFER_INIT, options = TANSU_BUFFER_INIT;
    writer keys_writer = {.out = &keys}, options_writer = {.out = &options};
    index_definition_keys(model, &keys_writer);
    index_definition_options(model, &options_writer);
    tansu_status status =
        keys_writer.failed || options_writer.failed ? error_memory(error) : TANSU_OK;
    if (status == TANSU_OK)
        status = index_definition_parse(model->name, keys.data, keys.size, options.data,
                                        options.size, result, error);
    tansu_buffer_free(&keys);
    tansu_buffer_free(&options);
    if (status != TANSU_OK)
        return status;
    status = index_definition_compile(*result, hooks, error);
    if (status != TANSU_OK)
        index_definition_free(*result);
    return status;
}

/* ---- The values of a document that an entry was made from, for messages ---- */

/* A look for the value that has a given key. */
typedef struct search {
    const index_definition *definition;
    uint32_t at; /* number of the path */
    const uint8_t *entry;
    size_t size;
    tansu_buffer key;
    tansu_buffer folded;
    doc_value value;
    bool found;
} search;

/* try_value -- whether the entry goes on with this value's key: no key is the beginning of
 * another. */
static bool try_value(search *s, const doc_value *value) {
    doc_value folded = *value;
    s->key.size = 0;
    if (s->definition->fold && !fold_value(&s->folded, value, &folded))
        return false;
    if (!value_key(&s->key, &folded, s->definition->descending[s->at]) || s->key.size > s->size ||
        memcmp(s->key.data, s->entry, s->key.size) != 0)
        return false;
    s->value = *value;
    s->found = true;
    return true;
}

/* visit -- a value that the path shows and, of an array, its elements. */
static bool visit(void *context, const doc_value *value) {
    search *s = context;
    doc_iter iter;
    if (try_value(s, value))
        return false;
    if (value->type == DOC_ARRAY && doc_iter_value(&iter, value)) {
        while (doc_iter_next(&iter)) {
            if (try_value(s, &iter.value))
                return false;
        }
    }
    return true;
}

void index_entry_values(const index_definition *definition, const uint8_t *doc, size_t doc_size,
                        const uint8_t *entry, size_t size, doc_value *values) {
    search s = {.definition = definition, .entry = entry, .size = size};
    for (uint32_t i = 0; i < definition->path_count; i++) {
        s.at = i;
        s.found = false;
        values[i] = (doc_value){NULL, 0, DOC_MISSING};
        (void)path_walk(&definition->paths[i], doc, doc_size, visit, &s, NULL);
        if (s.found)
            values[i] = s.value;
        /* A path that yields nothing at all has a key of one byte. */
        size_t used = s.found ? s.key.size : 1;
        used = used < s.size ? used : s.size;
        s.entry += used;
        s.size -= used;
    }
    tansu_buffer_free(&s.key);
    tansu_buffer_free(&s.folded);
}
