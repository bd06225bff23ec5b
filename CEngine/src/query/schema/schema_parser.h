/*
 * query/schema/schema_parser.h -- the compiler of schemas, split into schema_parse.c (structure),
 * schema_keywords.c (operands), schema_pattern.c (patterns) and schema_reference.c (URIs, anchors,
 * references). Private to these.
 */
#ifndef TANSU_QUERY_SCHEMA_SCHEMA_PARSER_H
#define TANSU_QUERY_SCHEMA_SCHEMA_PARSER_H

#include "query/schema/schema_internal.h"
#include "util/error.h"

/* What a schema may have in it. */
enum dialect {
    DIALECT_COMMON, /* all keywords of MongoDB and of JSON Schema, for schemas on their own */
    DIALECT_MONGO,  /* of a query: what MongoDB refuses is refused */
    DIALECT_2020    /* "$schema" says 2020-12: its rules, and `bsonType` */
};

/* A reference whose schema is looked up when all of the document is compiled. */
typedef struct schema_reference {
    struct schema_reference *next;
    schema_rule *rule;
    const schema_resource *from;
    const char *text;
    const char *path; /* of the keyword */
} schema_reference;

typedef struct schema_parser {
    schema *schema;
    arena *memory;
    regex **regexes;
    const deadline *deadline;
    enum dialect dialect;
    tansu_buffer path; /* of the keyword, dotted */
    tansu_buffer key;
    tansu_buffer uri;
    schema_resource *resource; /* that the current schema is in */
    key_set resources;         /* by URI */
    key_set nodes;             /* by the place in the document */
    const uint8_t *document;
    schema_reference *references;
    schema_reference **last_reference;
    uint64_t steps; /* of looking references up */
    tansu_error *error;
} schema_parser;

/* A keyword of a schema. */
typedef struct schema_keyword {
    const doc_iter *at;
    const doc_value *schema; /* that it stands in */
} schema_keyword;

/* ---- schema_parse.c ---- */

/* schema_fault -- INVALID_QUERY at the path. */
tansu_status schema_fault(schema_parser *p, const char *format, ...) PRINTF_LIKE(2, 3);

/* schema_enter -- appends a part to the path; false when memory is exhausted. */
bool schema_enter(schema_parser *p, const char *part);

/* schema_end_path -- puts a NUL behind the path; false when memory is exhausted. */
bool schema_end_path(schema_parser *p);

/* schema_is -- whether a value may be a schema, by its type: a document or, but in MongoDB's dialect,
 * true or false. */
bool schema_is(const schema_parser *p, const doc_value *value);

/* schema_node_parse -- compiles the schema at the path, or takes it if it is compiled. `keyword`:
 * the one that false is said to violate. */
tansu_status schema_node_parse(schema_parser *p, const char *keyword, const doc_value *value,
                               schema_node **result);

/* schema_node_at -- the same one part below the path. */
tansu_status schema_node_at(schema_parser *p, const char *part, const char *keyword,
                            const doc_value *value, schema_node **result);

/* ---- schema_keywords.c ---- */

/* schema_operand_parse -- the operand of a keyword; sets *none when it has no rule of its own. */
tansu_status schema_operand_parse(schema_parser *p, const schema_keyword *k, schema_rule *r,
                                  bool *none);

/* schema_add_name -- adds a string to a set of names; *added is false for one that is there. */
tansu_status schema_add_name(schema_parser *p, key_set *names, const char *name, size_t size,
                             schema_name **result, bool *added);

/* schema_named_nodes -- the schemas of a document of schemas, by their names. */
tansu_status schema_named_nodes(schema_parser *p, const char *keyword, const doc_value *list,
                                key_set *names);

/* ---- schema_pattern.c ---- */

/* schema_pattern_compile -- the pattern at the path. */
tansu_status schema_pattern_compile(schema_parser *p, const char *text, size_t size,
                                    const regex **result);

/* ---- schema_reference.c ---- */

/* schema_resource_enter -- begins the resource of a schema that has an `$id`, or is the outermost:
 * p->resource. */
tansu_status schema_resource_enter(schema_parser *p, const doc_value *value, schema_node *n);

/* schema_anchor_add -- an `$anchor` or `$dynamicAnchor` of a schema. */
tansu_status schema_anchor_add(schema_parser *p, const schema_keyword *k, schema_node *n);

/* schema_reference_add -- notes a `$ref` or `$dynamicRef`. */
tansu_status schema_reference_add(schema_parser *p, const schema_keyword *k, schema_rule *r);

/* schema_references_resolve -- looks all references up. */
tansu_status schema_references_resolve(schema_parser *p);

#endif
