/*
 * query/parse/query_paths.c -- the paths of a query, which live as long as it does.
 */
#include "query/parse/parsed_query.h"
#include "util/error.h"
#include <stdio.h>

/* check_parts -- rejects parts that begin with `$`: only the keys of a DBRef do. */
static tansu_status check_parts(const path *path, const char *context, tansu_error *error) {
    for (uint32_t i = 0; i < path->count; i++) {
        const char *name = path->parts[i].name;
        if (name[0] == '$' && strcmp(name, "$ref") != 0 && strcmp(name, "$id") != 0 &&
            strcmp(name, "$db") != 0)
            return error_set(error, TANSU_E_INVALID_QUERY, context,
                             "Path has a part \"%.64s\", but no stored key begins with $; use the "
                             "name of a field",
                             name);
    }
    return TANSU_OK;
}

/* What a path may be. */
enum path_use { USE_PLAIN, USE_KEYS, USE_WILD };

/* add_path -- query_path(), query_path_keys() and query_wild_path(). */
static tansu_status add_path(query *q, const char *text, size_t size, enum path_use use,
                             const char *context, const path **result, tansu_error *error) {
    path_link *link = arena_alloc(&q->memory, sizeof *link);
    if (!link)
        return error_memory(error);
    bool named = use == USE_WILD && size > 2 && memcmp(text, "**.", 3) == 0;
    if (path_has_wildcard(text + (named ? 3 : 0), size - (named ? 3 : 0)) &&
        (use != USE_WILD || named))
        return error_set(
            error, TANSU_E_INVALID_QUERY, context,
            "Path has a part of asterisks only; \"*\", \"**\" and \"**.name\" are whole "
            "paths of a condition, and a key of that name is written with a "
            "backslash, \\*");
    tansu_status status = use == USE_KEYS
                              ? path_parse_keys(&link->path, &q->memory, text, size, error)
                              : path_parse(&link->path, &q->memory, text, size, error);
    if (status == TANSU_E_INVALID_QUERY && error != NULL)
        snprintf(error->context, sizeof error->context, "%s", context);
    if (status != TANSU_OK)
        return status;
    link->next = q->paths;
    q->paths = link;
    *result = &link->path;
    if (named && link->path.count != 2)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Path has several keys after \"**\"; give one, the name of a field at any "
                         "depth");
    return check_parts(&link->path, context, error);
}

tansu_status query_path(query *q, const char *text, size_t size, const char *context,
                        const path **result, tansu_error *error) {
    return add_path(q, text, size, USE_PLAIN, context, result, error);
}

tansu_status query_path_keys(query *q, const char *text, size_t size, const char *context,
                             const path **result, tansu_error *error) {
    return add_path(q, text, size, USE_KEYS, context, result, error);
}

tansu_status query_wild_path(query *q, const char *text, size_t size, const char *context,
                             const path **result, tansu_error *error) {
    return add_path(q, text, size, USE_WILD, context, result, error);
}
