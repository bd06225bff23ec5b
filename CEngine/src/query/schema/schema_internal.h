/*
 * query/schema/schema_internal.h -- the compiled form, shared by parsing and checking.
 */
#ifndef TANSU_QUERY_SCHEMA_SCHEMA_INTERNAL_H
#define TANSU_QUERY_SCHEMA_SCHEMA_INTERNAL_H

#include "bson/writer.h"
#include "query/match/regex.h"
#include "query/schema/schema.h"
#include "query/util/key_set.h"

#define SCHEMA_MEMORY ((size_t)256 * 1024 * 1024) /* of a schema that is not part of a query */

#define SCHEMA_DEPTH 512 /* schemas inside each other that references may lead to */

enum rule_kind {
    RULE_TYPES,
    RULE_ENUM, /* also `const` */
    RULE_REQUIRED,
    RULE_PROPERTIES,
    RULE_NAMES,
    RULE_DEPENDENT,
    RULE_SIZE,
    RULE_NUMBER,
    RULE_MULTIPLE,
    RULE_PATTERN,
    RULE_ITEMS,
    RULE_CONTAINS,
    RULE_UNIQUE,
    RULE_ALL, /* also references */
    RULE_ANY,
    RULE_ONE,
    RULE_NOT,
    RULE_IF,
    RULE_DYNAMIC,
    RULE_OTHER_FIELDS, /* `unevaluatedProperties` */
    RULE_OTHER_ITEMS,  /* `unevaluatedItems` */
    RULE_NOTHING       /* the schema `false` */
};

/* A schema with a URI of its own, or the outermost: where references are looked up. */
typedef struct schema_resource {
    const char *uri; /* absolute if one was given, without a fragment */
    doc_value value;
    key_set anchors; /* schema_name */
} schema_resource;

typedef struct schema_node {
    struct schema_rule *first;
    struct schema_rule *last; /* those that come after the others, as they depend on what these
                                 have evaluated; NULL: none */
    const schema_resource *resource;
} schema_node;

/* A pattern of `patternProperties`. */
typedef struct schema_pattern {
    struct schema_pattern *next;
    const regex *regex;
    schema_node *node;
} schema_pattern;

/* One keyword with its operand. */
typedef struct schema_rule {
    struct schema_rule *next;
    enum rule_kind kind;
    const char *keyword;
    uint32_t types;           /* TYPES: the set of schema_type_bit() */
    const char *text;         /* TYPES: the names; PATTERN: the pattern; NUMBER, MULTIPLE, ENUM: the
                                 operand; DYNAMIC: the anchor, or NULL for a plain reference */
    key_set keys;             /* ENUM: keys of values; REQUIRED, PROPERTIES, DEPENDENT: names */
    bool others;              /* PROPERTIES: fields that are not named are allowed, and */
    bool all;                 /* PROPERTIES: `additionalProperties` is about all others */
    schema_node *rest;        /* PROPERTIES, ITEMS: others satisfy this; or NULL */
    const char *rest_keyword; /* ITEMS: the keyword of `rest` */
    schema_pattern *patterns; /* PROPERTIES */
    uint8_t sized;            /* SIZE: the type of the values */
    bool is_minimum;          /* SIZE, NUMBER */
    bool exclusive;           /* NUMBER */
    int64_t size;             /* SIZE; CONTAINS: the minimum */
    int64_t most;             /* CONTAINS */
    doc_value bound;          /* NUMBER, MULTIPLE */
    const regex *regex;
    schema_node **nodes; /* ITEMS: by position; IF: `if`, `then`, `else`, some NULL */
    uint32_t count;
} schema_rule;

/* A name in a list of names, such as `required`, or with a schema, such as in `properties`. */
typedef struct schema_name {
    key_set_item head;
    uint32_t number; /* in the list */
    bool dynamic;    /* of an anchor: `$dynamicAnchor` */
    schema_node *node;
    schema_rule *rule; /* DEPENDENT: the names that are required */
} schema_name;

struct schema {
    arena own; /* its memory unless it is part of a query */
    regex *own_regexes;
    bool keeps_id; /* the `_id` of a whole document needs no permission */
    schema_node *root;
};

/* schema_in_query -- compiles a schema of a query into its arena. Errors: as schema_test_new(). */
tansu_status schema_in_query(arena *memory, regex **regexes, const doc_value *value,
                             const deadline *deadline, schema **result, tansu_error *error);

/* schema_type_find -- the bit of a type's name; 0 when `type` (bsonType: `bson`) has no such. */
uint32_t schema_type_find(const char *name, size_t size, bool bson);

/* schema_type_names -- all names that `type` or `bsonType` may have, separated by commas. */
const char *schema_type_names(bool bson);

/* schema_type_of -- the name of a value's type. */
const char *schema_type_of(const doc_value *value);

/* schema_type_has -- whether a value is of one of the types. */
bool schema_type_has(uint32_t types, const doc_value *value);

/* schema_value_key -- replaces `key` by the key of a value in which the order of fields does not
 * matter. False when memory is exhausted. */
bool schema_value_key(tansu_buffer *key, const doc_value *value);

/* schema_value_text -- appends a value as JSON, at most `most` bytes of it. False when memory is
 * exhausted. */
bool schema_value_text(tansu_buffer *text, const doc_value *value, size_t most);

#endif
