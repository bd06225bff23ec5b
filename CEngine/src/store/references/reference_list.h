/*
 * store/references/reference_list.h -- the references of a collection: paths whose values are the
 * `_id`s of documents of another collection, and what happens when such a document is removed.
 *
 * They are an option of the collection that holds the values:
 * [{"path": "author", "to": "authors", "onDelete": "cascade"}, ...].
 */
#ifndef TANSU_STORE_REFERENCES_REFERENCE_LIST_H
#define TANSU_STORE_REFERENCES_REFERENCE_LIST_H

#include "bson/path.h"
#include "bson/writer.h"

/* What the removal of a document does to a document that refers to it. */
typedef enum delete_rule {
    DELETE_IGNORE,  /* nothing: the reference dangles */
    DELETE_NULLIFY, /* the value becomes null; an element of an array is taken out */
    DELETE_CASCADE, /* it is removed, too */
    DELETE_DENY     /* the removal is an error */
} delete_rule;

/* References of one collection, at most. */
#define REFERENCES_MAX 64

typedef struct reference {
    path path;
    char to[TANSU_MAX_NAME + 1]; /* a collection, which need not exist */
    delete_rule rule;
} reference;

/* Immutable once made: snapshots share it. */
typedef struct reference_list {
    uint32_t count;
    reference items[];
} reference_list;

/* reference_list_parse -- checks and reads an array of them; *result is NULL for an empty one.
 * Errors: INVALID_QUERY (a member that is missing, unknown or of the wrong type, a path that is
 * invalid, has an array position, or is there twice; the rule "nullify" of an `_id`; too many),
 * INVALID_NAME (`to`), MEMORY. */
tansu_status reference_list_parse(const doc_value *array, void **result, tansu_error *error);

/* reference_list_renamed -- a copy in which the collection `from` is named `to`. NULL when memory
 * is exhausted. */
reference_list *reference_list_renamed(const reference_list *list, const char *from,
                                       const char *to);

/* reference_list_write -- appends an element "references" with the array, an empty one for NULL. */
void reference_list_write(const void *option, writer *w);

/* reference_list_names -- whether one of them leads to that collection. */
bool reference_list_names(const reference_list *list, const char *to);

/* reference_list_equal -- NULL is the empty list. */
bool reference_list_equal(const void *a, const void *b);

/* reference_list_free -- NULL is allowed. */
void reference_list_free(reference_list *list);

/* reference_list_retire -- the same as a retire_free (util/retire.h). */
void reference_list_retire(void *context, void *list);

/* delete_rule_name -- "ignore", "nullify", "cascade" or "deny". */
const char *delete_rule_name(delete_rule rule);

#endif
