/*
 * query/schema/schema_internal.h -- the compiled form, shared by parsing and checking.
 */
#ifndef TANSU_QUERY_SCHEMA_SCHEMA_INTERNAL_H
#define TANSU_QUERY_SCHEMA_SCHEMA_INTERNAL_H

#include "bson/writer.h"
#include "query/match/regex.h"
#include "query/schema/schema.h"
#include "query/util/key_set.h"

enum rule_kind {
    RULE_TYPES,
    RULE_ENUM,
    RULE_REQUIRED,
    RULE_PROPERTIES,
    RULE_SIZE,
    RULE_NUMBER,
    RULE_PATTERN,
    RULE_ITEMS,
    RULE_POSITIONS,
    RULE_UNIQUE,
    RULE_ALL,
    RULE_ANY,
    RULE_ONE,
    RULE_NOT
};

typedef struct schema_node {
    struct schema_rule *first;
} schema_node;

/* One keyword with its operand. */
typedef struct schema_rule {
    struct schema_rule *next;
    enum rule_kind kind;
    const char *keyword;
    uint32_t types;    /* TYPES: the set of schema_type_bit() */
    const char *text;  /* TYPES: the names; PATTERN: the pattern; NUMBER, ENUM: the operand */
    key_set keys;      /* ENUM: keys of values; REQUIRED, PROPERTIES: names */
    bool others;       /* PROPERTIES: fields that are not named are allowed, and */
    schema_node *rest; /* PROPERTIES: satisfy this; or NULL */
    uint8_t sized;     /* SIZE: the type of the values */
    bool is_minimum;   /* SIZE, NUMBER */
    bool exclusive;    /* NUMBER */
    int64_t size;      /* SIZE */
    doc_value bound;   /* NUMBER */
    const regex *regex;
    schema_node **nodes; /* ITEMS, NOT: one */
    uint32_t count;
} schema_rule;

/* A name in `required` or `properties`. */
typedef struct schema_name {
    key_set_item head;
    uint32_t number; /* in the list */
    schema_node *node;
} schema_name;

struct schema {
    arena memory;
    regex *regexes;
    schema_node *root;
};

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
