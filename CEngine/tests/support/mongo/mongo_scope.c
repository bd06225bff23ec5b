/*
 * support/mongo/mongo_scope.c -- the rules.
 */
#include "support/mongo/mongo_scope.h"
#include "support/mongo/mongo_reply.h"

#include <string.h>

/* A name, and why what has it is not applicable. */
typedef struct rule {
    const char *name;
    const char *why;
} rule;

static const char geometry[] = "geometry";
static const char text_search[] = "text search";
static const char server[] = "options of a server";
static const char kinds[] = "views, capped, clustered and time-series collections";
static const char defaults[] = "collations that a collection or an index keeps";
static const char envelope[] = "the command's own members: the C API has types and no names there";

/* Operators that are not in the language, wherever they stand in a query. */
static const rule query_rules[] = {
    {"$where", "JavaScript"},     {"$function", "JavaScript"}, {"$geoWithin", geometry},
    {"$geoIntersects", geometry}, {"$near", geometry},         {"$nearSphere", geometry},
    {"$within", geometry},        {"$geometry", geometry},     {"$box", geometry},
    {"$center", geometry},        {"$centerSphere", geometry}, {"$polygon", geometry},
    {"$maxDistance", geometry},   {"$minDistance", geometry},
};

/* Commands that are no operation of a collection here. */
static const rule command_rules[] = {
    {"bulkWrite", "bulkWrite"},
    {"profile", server},
    {"getMore", server},
    {"killCursors", server},
};

/* Members that ask for what only a server has. */
static const rule member_rules[] = {
    {"readConcern", server},
    {"writeConcern", server},
    {"tailable", server},
    {"awaitData", server},
    {"returnKey", server},
    {"min", "index bounds"},
    {"max", "index bounds"},
    {"noCursorTimeout", server},
    {"viewOn", kinds},
    {"capped", kinds},
    {"timeseries", kinds},
    {"clusteredIndex", kinds},
    {"comment", server},
    {"batchSize", server},
    {"includeBuildUUIDs", server},
    {"includeIndexBuildInfo", server},

    {"unknownField", envelope},
    {"Limit", envelope},
    {"Query", envelope},
};

/* Stages and expressions that are not in the language. */
static const rule pipeline_rules[] = {
    {"$geoNear", geometry},         {"$search", text_search},
    {"$searchMeta", text_search},   {"$vectorSearch", text_search},
    {"$rankFusion", text_search},   {"$scoreFusion", text_search},
    {"$collStats", server},         {"$indexStats", server},
    {"$planCacheStats", server},    {"$querySettings", server},
    {"$queryStats", server},        {"$listClusterCatalog", server},
    {"$listSearchIndexes", server}, {"$listSessions", server},
    {"$listLocalSessions", server}, {"$currentOp", server},
    {"$changeStream", server},      {"$shardedDataDistribution", server},
    {"$function", "JavaScript"},    {"$accumulator", "JavaScript"},
    {"$where", "JavaScript"},       {"$geoWithin", geometry},
    {"$geoIntersects", geometry},   {"$near", geometry},
    {"$nearSphere", geometry},
};

/* Options of indexes likewise. */
static const rule index_rules[] = {
    {"hidden", "hidden indexes"},
    {"clustered", kinds},
    {"wildcardProjection", "wildcard indexes"},
    {"textIndexVersion", text_search},
    {"2dsphereIndexVersion", geometry},
    {"bits", geometry},
    {"min", geometry},
    {"max", geometry},
    {"background", server},
    {"v", server},
};

/* Kinds of indexes. */
static const rule key_rules[] = {
    {"2d", geometry},
    {"2dsphere", geometry},
    {"geoHaystack", geometry},
    {"hashed", "hashed indexes"},
    {"wildcard", "wildcard indexes"},
};

/* applies -- why a name is not applicable, or NULL. */
static const char *applies(const rule *rules, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rules[i].name, name) == 0)
            return rules[i].why;
    }
    return NULL;
}

#define APPLIES(rules, name) applies(rules, sizeof(rules) / sizeof *(rules), name)

const char *scope_of_query(const bson_iter_t *query) {
    bson_t doc;
    bson_iter_t iter;
    if (!iter_document(query, &doc))
        return NULL;
    for (bson_iter_init(&iter, &doc); bson_iter_next(&iter);) {
        const char *why = APPLIES(query_rules, bson_iter_key(&iter));
        if (why == NULL)
            why = scope_of_query(&iter);
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* scope_of_pipeline -- the same of a pipeline. */
static const char *scope_of_pipeline(const bson_iter_t *pipeline) {
    bson_t doc;
    bson_iter_t iter;
    if (!iter_document(pipeline, &doc))
        return NULL;
    for (bson_iter_init(&iter, &doc); bson_iter_next(&iter);) {
        const char *why = APPLIES(pipeline_rules, bson_iter_key(&iter));
        if (why == NULL)
            why = scope_of_pipeline(&iter);
        if (why != NULL)
            return why;
    }
    return NULL;
}

const char *scope_of_projection(const bson_iter_t *projection) {
    return scope_of_query(projection);
}

/* has_counterpart -- whether a collation of MongoDB has a counterpart: letters' case, and numbers
 * in texts. */
static bool has_counterpart(const bson_t *collation) {
    bson_iter_t iter;
    if (!bson_has_field(collation, "locale"))
        return false;
    for (bson_iter_init(&iter, collation); bson_iter_next(&iter);) {
        const char *key = bson_iter_key(&iter);
        bool number = BSON_ITER_HOLDS_NUMBER(&iter);
        int64_t strength = number ? bson_iter_as_int64(&iter) : 0;
        if (strcmp(key, "locale") == 0 && BSON_ITER_HOLDS_UTF8(&iter) &&
            (strcmp(bson_iter_utf8(&iter, NULL), "en") == 0 ||
             strcmp(bson_iter_utf8(&iter, NULL), "en_US") == 0 ||
             strcmp(bson_iter_utf8(&iter, NULL), "simple") == 0))
            continue;
        if (strcmp(key, "strength") == 0 && (strength == 2 || strength == 3))
            continue;
        if (strcmp(key, "numericOrdering") == 0 && BSON_ITER_HOLDS_BOOL(&iter))
            continue;
        return false;
    }
    return true;
}

/* scope_of_collation -- of a member "collation". */
static const char *scope_of_collation(const bson_t *doc) {
    bson_iter_t iter;
    bson_t collation;
    if (!bson_iter_init_find(&iter, doc, "collation"))
        return NULL;
    return iter_document(&iter, &collation) && has_counterpart(&collation)
               ? NULL
               : "collations of ICU: accents, languages, other strengths";
}

const char *scope_of_index(const bson_t *index, bool fails) {
    bson_iter_t iter, part;
    bson_t keys;
    for (bson_iter_init(&iter, index); bson_iter_next(&iter);) {
        const char *why = APPLIES(index_rules, bson_iter_key(&iter));
        if (why != NULL)
            return why;
        if (fails && BSON_ITER_HOLDS_NULL(&iter))
            return envelope;
        if (strcmp(bson_iter_key(&iter), "collation") == 0)
            return defaults;
        if (strcmp(bson_iter_key(&iter), "partialFilterExpression") == 0 &&
            (why = scope_of_query(&iter)) != NULL)
            return why;
        if (fails && strcmp(bson_iter_key(&iter), "name") == 0 && !BSON_ITER_HOLDS_UTF8(&iter))
            return envelope;
    }
    if (!member_document(index, "key", &keys))
        return fails ? envelope : NULL;
    for (bson_iter_init(&part, &keys); bson_iter_next(&part);) {
        const char *why =
            BSON_ITER_HOLDS_UTF8(&part) ? APPLIES(key_rules, bson_iter_utf8(&part, NULL)) : NULL;
        if (why != NULL)
            return why;
        if (strstr(bson_iter_key(&part), "$**") != NULL)
            return "wildcard indexes";
    }
    return fails && !bson_has_field(index, "name") ? envelope : NULL;
}

/* scope_of_statement -- one of the statements of an update or a delete. */
static const char *scope_of_statement(const bson_t *statement, bool fails) {
    bson_iter_t iter;
    const char *why = scope_of_collation(statement);
    if (!bson_has_field(statement, "q"))
        return envelope;
    for (bson_iter_init(&iter, statement); why == NULL && bson_iter_next(&iter);) {
        const char *key = bson_iter_key(&iter);
        if (strcmp(key, "u") == 0 && BSON_ITER_HOLDS_ARRAY(&iter))
            why = scope_of_pipeline(&iter);
        else if (strcmp(key, "q") == 0 || strcmp(key, "u") == 0)
            why = BSON_ITER_HOLDS_DOCUMENT(&iter) ? scope_of_query(&iter) : fails ? envelope : NULL;
        else if (fails && strcmp(key, "limit") == 0)
            why =
                bson_iter_as_int64(&iter) == 0 || bson_iter_as_int64(&iter) == 1 ? NULL : envelope;
        else
            why = APPLIES(member_rules, key);
    }
    return why;
}

/* is_flag -- whether a member that is a flag has the value of one. */
static bool is_flag(const bson_iter_t *member) {
    static const char *const flags[] = {"ordered", "upsert", "new", "remove"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(bson_iter_key(member), flags[i]) == 0)
            return BSON_ITER_HOLDS_BOOL(member) || (i != 0 && (BSON_ITER_HOLDS_NUMBER(member) ||
                                                               BSON_ITER_HOLDS_DECIMAL128(member)));
    }
    return true;
}

/* bypasses -- whether a member has writes pass that a validator refuses. */
static bool bypasses(const bson_iter_t *member) {
    if (strcmp(bson_iter_key(member), "bypassDocumentValidation") != 0)
        return false;
    bool number = BSON_ITER_HOLDS_INT(member) || BSON_ITER_HOLDS_DOUBLE(member);
    return number ? bson_iter_as_double(member) != 0
                  : !BSON_ITER_HOLDS_BOOL(member) || bson_iter_bool(member);
}

/* is_odd_hint -- $natural with anything but 1 and -1: here it is a bool. */
static bool is_odd_hint(const bson_iter_t *hint) {
    bson_t keys;
    bson_iter_t first;
    if (!iter_document(hint, &keys) || !bson_iter_init(&first, &keys) || !bson_iter_next(&first) ||
        strcmp(bson_iter_key(&first), "$natural") != 0)
        return false;
    return bson_count_keys(&keys) != 1 || !BSON_ITER_HOLDS_INT(&first) ||
           (bson_iter_as_int64(&first) != 1 && bson_iter_as_int64(&first) != -1);
}

/* scope_of_member -- of one member of a command; its name is the first of it. */
static const char *scope_of_member(const bson_iter_t *member, bool fails) {
    const char *key = bson_iter_key(member), *why = APPLIES(member_rules, key);
    bson_t list, statement;
    bson_iter_t iter;
    if (why != NULL)
        return why;
    if (bypasses(member))
        return server;
    /* A null is no argument at all. */
    if (fails && (BSON_ITER_HOLDS_NULL(member) || !is_flag(member)))
        return envelope;
    if (strcmp(key, "hint") == 0 && is_odd_hint(member))
        return server;
    if (strcmp(key, "filter") == 0 || strcmp(key, "query") == 0)
        return scope_of_query(member);
    if (strcmp(key, "projection") == 0 || strcmp(key, "fields") == 0)
        return scope_of_projection(member);
    if (strcmp(key, "update") == 0 && BSON_ITER_HOLDS_ARRAY(member))
        return scope_of_pipeline(member);
    if (strcmp(key, "updates") == 0 || strcmp(key, "deletes") == 0 || strcmp(key, "indexes") == 0) {
        if (!BSON_ITER_HOLDS_ARRAY(member) || !iter_document(member, &list) || bson_empty(&list))
            return envelope;
        for (bson_iter_init(&iter, &list); bson_iter_next(&iter);) {
            if (!BSON_ITER_HOLDS_DOCUMENT(&iter) || !iter_document(&iter, &statement))
                return envelope;
            why = strcmp(key, "indexes") == 0 ? scope_of_index(&statement, fails)
                                              : scope_of_statement(&statement, fails);
            if (why != NULL)
                return why;
        }
    }
    return NULL;
}

/* scope_of_aggregate -- the same of the command aggregate. */
static const char *scope_of_aggregate(const bson_t *command, bool fails) {
    bson_iter_t iter;
    bson_t cursor;
    if (!bson_has_field(command, "cursor"))
        return server;
    if (!bson_iter_init_find(&iter, command, "pipeline") || !BSON_ITER_HOLDS_ARRAY(&iter))
        return envelope;
    for (bson_iter_init(&iter, command); bson_iter_next(&iter);) {
        const char *key = bson_iter_key(&iter);
        const char *why = NULL;
        if (strcmp(key, "pipeline") == 0)
            why = scope_of_pipeline(&iter);
        else if (strcmp(key, "cursor") == 0)
            /* A cursor here shows one document after the other; there are no batches. */
            why = !BSON_ITER_HOLDS_DOCUMENT(&iter) || !iter_document(&iter, &cursor) ||
                          !bson_empty(&cursor)
                      ? server
                      : NULL;
        else if (strcmp(key, "explain") == 0 || bypasses(&iter))
            why = server;
        else if (strcmp(key, "aggregate") != 0)
            why = fails && BSON_ITER_HOLDS_NULL(&iter) ? envelope : APPLIES(member_rules, key);
        if (why != NULL)
            return why;
    }
    return scope_of_collation(command);
}

const char *scope_of_command(const bson_t *command, bool fails) {
    bson_iter_t iter;
    if (!bson_iter_init(&iter, command) || !bson_iter_next(&iter))
        return envelope;
    const char *name = bson_iter_key(&iter), *why = APPLIES(command_rules, name);
    if (why != NULL)
        return why;
    bool aggregate = strcmp(name, "aggregate") == 0;
    if (aggregate && BSON_ITER_HOLDS_NUMBER(&iter) && bson_iter_as_double(&iter) == 1)
        return scope_of_aggregate(command, fails);
    if (!BSON_ITER_HOLDS_UTF8(&iter))
        return envelope;
    if (aggregate)
        return scope_of_aggregate(command, fails);
    if (strncmp(bson_iter_utf8(&iter, NULL), "system.", 7) == 0)
        return server;
    uint32_t size;
    if (strlen(bson_iter_utf8(&iter, &size)) != size)
        return envelope;
    if ((strcmp(name, "update") == 0 && !bson_has_field(command, "updates")) ||
        (strcmp(name, "delete") == 0 && !bson_has_field(command, "deletes")))
        return envelope;
    if (strcmp(name, "create") == 0 && bson_has_field(command, "collation"))
        return defaults;
    if ((strcmp(name, "insert") == 0 && bson_has_field(command, "maxTimeMS")) ||
        (strcmp(name, "listIndexes") == 0 && bson_count_keys(command) > 1))
        return server;
    while (bson_iter_next(&iter)) {
        why = scope_of_member(&iter, fails);
        if (why != NULL)
            return why;
    }
    return scope_of_collation(command);
}
