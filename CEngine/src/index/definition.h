/*
 * index/definition.h -- the definition of an index: its paths and options, and the entries that a
 * document has in it.
 *
 * The parts index/… hold all that speeds up access to the log: index definitions and entries, the
 * copy-on-write B+ trees that store them (index/tree/tree.h), the location tables that map record
 * ids to the log (index/locations.h), and the block store that checkpoints write both to
 * (index/block_store/block_store.h). All of it can be rebuilt from the log.
 */
#ifndef TANSU_INDEX_DEFINITION_H
#define TANSU_INDEX_DEFINITION_H

#include "bson/path.h"
#include "bson/writer.h"
#include "index/tree/rid_suffix.h"
#include "util/aligned_u64.h"
#include "util/buffer.h"

/* ---- Wildcard indexes ---- */

/*
 * Wildcard indexes: entries that begin with the path of their value.
 *
 * The definition {"**": 1} has an entry for each scalar of a document, {"path.**": 1} for those at
 * a path and below it. An entry is
 *
 *     path           for each key on the way: its bytes and 00; 02 before each but the first, and
 *                    03 00 where an array is directly in an array (see below)
 *     01, key        a scalar, or a document without fields, with value_key() of it
 *     00             instead: an array is here, or was on the way
 *     rid suffix
 *
 * So all entries at a path are adjacent, and so are those at a path and below it. Arrays on the way
 * leave no trace in the path, as in paths of queries, except that the elements of an array that is
 * itself an element are below a part of their own, 03: paths of queries lead to them by position
 * only. An entry for each array (not for each element) says that a path may have several values.
 *
 * No path numbers: a path is repeated in neither memory nor file, because entries lie in the order
 * of their paths, and leaves and stored blocks leave out what entries have in common.
 *
 * A scalar `_id` has no entry, because the index on `_id` has it; only if strings are folded.
 */

/* What follows the 00 after a part. */
enum { WILDCARD_ARRAY = 0x00, WILDCARD_VALUE = 0x01, WILDCARD_KEY = 0x02, WILDCARD_ELEMENT = 0x03 };

/* Limit of the paths of `only` and `except` together. */
#define WILDCARD_MAX_PATHS 100

/* A path of `only` or `except`, or that of the index itself. */
typedef struct wildcard_path {
    path path;
    tansu_buffer bytes; /* as entries begin that are at the path or below it */
} wildcard_path;

/* Which paths have entries: those at or below the base, at or below a path of `only`, if it has
 * any, and not at or below a path of `except`. */
typedef struct wildcard_scope {
    wildcard_path base; /* no bytes: the whole document */
    wildcard_path *only;
    wildcard_path *except;
    uint32_t only_count;
    uint32_t except_count;
} wildcard_scope;

void wildcard_scope_free(wildcard_scope *scope);

/* wildcard_scope_equal -- the same paths in the same order. */
bool wildcard_scope_equal(const wildcard_scope *a, const wildcard_scope *b);

/* wildcard_put_key, wildcard_put_element -- appends a part to the bytes of a path. False when
 * memory is exhausted. */
bool wildcard_put_key(tansu_buffer *bytes, const char *name, size_t size);
bool wildcard_put_element(tansu_buffer *bytes);

/* wildcard_put_path -- appends all parts of a path. */
bool wildcard_put_path(tansu_buffer *bytes, const path *path);

/* wildcard_has -- whether values at a path have entries; `below`: and all those below it. */
bool wildcard_has(const wildcard_scope *scope, const uint8_t *bytes, size_t size, bool below);

/* wildcard_leads_to -- whether values at a path or below it may have entries. */
bool wildcard_leads_to(const wildcard_scope *scope, const uint8_t *bytes, size_t size);

/* wildcard_has_all -- whether every value of a document has an entry. */
static inline bool wildcard_has_all(const wildcard_scope *scope) {
    return scope->base.bytes.size == 0 && scope->only_count == 0 && scope->except_count == 0;
}

/* wildcard_path_size -- the size of the path at the beginning of an entry, with the 00 after its
 * last part; 0 if there is no valid one. */
size_t wildcard_path_size(const uint8_t *entry, size_t size);

/* wildcard_text -- whether the path of a key is that of a wildcard index: "**", or "path.**". *base
 * is the size of the path before it, 0 for "**". */
bool wildcard_text(const char *text, size_t size, size_t *base);

/* ---- Definitions ---- */

/* Bytes of the name of a language. */
#define TEXT_MAX_LANGUAGE 31
/* The weight of a path in an index of words. */
#define TEXT_MAX_WEIGHT 1000

/* What lower parts need of the query parts, which they may not call: whoever opens a database passes
 * this table (query/query_hooks.h). */
typedef struct query_hooks {
    /* filter_compile -- a partial filter. Errors: INVALID_INDEX and those of a selector. */
    tansu_status (*filter_compile)(const uint8_t *selector, size_t size, void **filter,
                                   tansu_error *error);
    /* filter_matches -- any number of threads at once. */
    bool (*filter_matches)(const void *filter, const uint8_t *doc, size_t size);
    void (*filter_free)(void *filter);
    /* validator_compile -- the schema or query that the documents of a collection satisfy. Errors:
     * INVALID_QUERY, TOO_LARGE, MEMORY. */
    tansu_status (*validator_compile)(const uint8_t *condition, size_t size, void **validator,
                                      tansu_error *error);
    /* validator_check -- errors: INVALID_DOCUMENT (the document violates it; the context is the path
     * and the rule), INVALID_QUERY (a pattern exceeds its limits), MEMORY. */
    tansu_status (*validator_check)(const void *validator, const char *collection,
                                    const uint8_t *doc, size_t size, tansu_error *error);
    void (*validator_free)(void *validator);
} query_hooks;

/* What an index of words has beyond its paths (index/text_document.h). */
typedef struct text_index {
    bool everything;       /* the path is "**": all strings of a document, as one field */
    bool leaves_positions; /* documents are read to find phrases */
    uint32_t weights[TANSU_MAX_INDEX_PATHS];
    char language[TEXT_MAX_LANGUAGE + 1];
    path language_field; /* of the document's own language; no parts: none */
} text_index;

/* Immutable once made; shared by reference count between snapshots of the catalog. */
typedef struct index_definition {
    uint32_t id; /* unique in the database, never used again once it is committed */
    bool unique;
    bool sparse; /* documents in which no path yields a value have no entry */
    bool fold; /* caseInsensitive: keys are those of the values' case foldings (bson/case_fold.h) */
    bool wildcard;        /* "**": paths[0] is its path, but equal to no path of a query */
    wildcard_scope scope; /* of a wildcard index */
    uint8_t *filter_bson; /* partialFilter: only documents that match have entries; NULL: all */
    uint32_t filter_size;
    uint32_t max_entries;  /* of one document */
    bool expires;          /* expireAfterSeconds: documents are removed (rules/expiry.h) */
    uint32_t expire_after; /* so many seconds after the date that they have at the path */
    text_index *text;      /* NULL: the entries are of values, not of words */
    const query_hooks *hooks;
    void *filter; /* compiled */
    uint32_t path_count;
    path paths[TANSU_MAX_INDEX_PATHS];
    bool descending[TANSU_MAX_INDEX_PATHS];
    char name[TANSU_MAX_NAME + 1];
    /* Queries that used the index since opening; atomic. Far from what every query reads. */
    aligned_u64 uses;
} index_definition;

/* index_definition_use -- counts a query; index_definition_uses -- how many there were. */
static inline void index_definition_use(const index_definition *definition) {
    __atomic_fetch_add(&((index_definition *)definition)->uses, 1, __ATOMIC_RELAXED);
}
static inline uint64_t index_definition_uses(const index_definition *definition) {
    return __atomic_load_n(&definition->uses, __ATOMIC_RELAXED);
}

/*
 * index_definition_parse -- reads keys {path: 1 | -1, …} and options ({unique: bool, sparse: bool,
 * caseInsensitive: bool, partialFilter: {…}, maxEntries: n, expireAfterSeconds: n, wildcard: bool,
 * only: […], except: […]}; NULL is none). An empty name is made from the keys ("name_1_age_-1").
 * "**" at the end of a path makes a wildcard index; other parts of asterisks only are rejected.
 * Errors: INVALID_INDEX (no path, a direction other than 1 or -1, a path twice, a path that no
 * stored document has, an unknown option, what a wildcard index or one whose documents expire does
 * not have), INVALID_NAME, INVALID_BSON, TOO_LARGE, MEMORY.
 */
tansu_status index_definition_parse(const char *name, const uint8_t *keys, size_t keys_size,
                                    const uint8_t *options, size_t options_size,
                                    index_definition **result, tansu_error *error);

void index_definition_free(index_definition *definition);

/* index_definition_compile -- compiles the partial filter, if there is one; called before entries
 * are made. Errors: those of filter_compile(), and UNSUPPORTED when `hooks` is NULL. */
tansu_status index_definition_compile(index_definition *definition, const query_hooks *hooks,
                                      tansu_error *error);

/* index_definition_copy -- another definition with the same name, paths and options, compiled.
 * Errors: those of index_definition_compile(), MEMORY. */
tansu_status index_definition_copy(const index_definition *model, const query_hooks *hooks,
                                   index_definition **result, tansu_error *error);

/* index_definition_equal -- the same paths, directions and options (name and id aside). */
bool index_definition_equal(const index_definition *a, const index_definition *b);

/* index_definition_keys -- appends the keys document {path: 1 | -1, …}. */
void index_definition_keys(const index_definition *definition, writer *w);

/* index_definition_options -- appends the options document likewise, without those that are off. */
void index_definition_options(const index_definition *definition, writer *w);

/* index_definition_scope -- appends the elements "only" and "except" of a wildcard index. */
void index_definition_scope(const index_definition *definition, writer *w);

/* index_definition_expiry -- appends the element "expireAfterSeconds" of an index that has it. */
void index_definition_expiry(const index_definition *definition, writer *w);

/* index_definition_text -- appends the options of an index of words. */
void index_definition_text(const index_definition *definition, writer *w);

/* index_definition_elements -- appends the elements "name", "keys" and "options". */
void index_definition_elements(const index_definition *definition, writer *w);

/* Where an entry lies in the bytes of its set. */
struct index_entry {
    uint32_t offset, size;
};

/* A set of entries: byte strings one after the other in `bytes`. Reused from document to
 * document. */
typedef struct index_entries {
    tansu_buffer bytes;
    struct index_entry *list; /* sorted by memcmp, no two alike */
    uint32_t count;
    uint32_t capacity;
    bool multikey;        /* an array is on a path, at its end or before */
    tansu_buffer scratch; /* of index_entries_make() alone, as are the following */
    tansu_buffer folded;
    tansu_buffer path;
    struct index_entry *keys;
    uint32_t key_count;
    uint32_t key_capacity;
    struct text_scratch *text; /* of an index of words (index/text_entries.c) */
} index_entries;

void index_entries_free(index_entries *entries);

/*
 * index_entries_make -- the entries of one document in one index: for each combination of the
 * paths' values, value_key() of each value (in the path's direction) one after the other and the
 * record id suffix. A path yields: for each value of path_walk(), its key; for an array at the
 * end, the key of the whole array and of each element (elements that are arrays as whole
 * values); DOC_MISSING as null; and when the path yields nothing at all, KIND_NOTHING. In a
 * unique index, for each value of path_walk_positions() if there are any: documents in an array
 * that lack a position as a key would share null otherwise. A sparse index has no entry of a
 * document whose paths all yield nothing or DOC_MISSING only, a partial one none of a document
 * that does not match. A wildcard index has those of "Wildcard indexes" above, one of words those of
 * index/text_entries.h. Errors: TOO_LARGE
 * (more than the index's maxEntries, or 64 MiB of them; context names the index), MEMORY.
 */
tansu_status index_entries_make(index_entries *entries, const index_definition *definition,
                                const uint8_t *doc, size_t size, uint64_t rid, tansu_error *error);

/* index_entries_make_id -- the one entry of a document in the index of `_id`. Errors: MEMORY. */
tansu_status index_entries_make_id(index_entries *entries, const uint8_t *doc, size_t size,
                                   uint64_t rid, tansu_error *error);

/* index_entry_values -- which value of each path an entry of a document was made from; DOC_MISSING
 * where none is there (or memory is exhausted). For messages. */
void index_entry_values(const index_definition *definition, const uint8_t *doc, size_t doc_size,
                        const uint8_t *entry, size_t size, doc_value *values);

/* key_successor -- changes a key into the smallest byte string greater than everything that begins
 * with it; false when there is none (all bytes 0xFF). */
bool key_successor(tansu_buffer *key);

#endif
