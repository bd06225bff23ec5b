/*
 * store/declared_indexes.c -- declared indexes by the collection's name. Those of one collection
 * are in the order of their declaration.
 */
#include "store/declared_indexes.h"

#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* One of them. */
typedef struct declared_index {
    table_link link;
    struct declared_index *next_suspended;
    index_definition *definition;
    bool suspended; /* the write transaction dropped the index: no longer, or again, at its end */
    char collection[];
} declared_index;

/* hash_of -- by which the declarations of a collection are found. */
static uint32_t hash_of(const char *collection) {
    return table_hash(collection, strlen(collection));
}

/* next_of -- the first declaration for a collection in the rest of a chain, in force or not. */
static declared_index *next_of(table_link *chain, const char *collection) {
    for (; chain != NULL; chain = chain->next)
        if (strcmp(((declared_index *)chain)->collection, collection) == 0)
            return (declared_index *)chain;
    return NULL;
}

/* first_of -- its first declaration. */
static declared_index *first_of(const declared_indexes *all, const char *collection) {
    return next_of(table_chain(&all->collections, hash_of(collection)), collection);
}

/* after -- the declaration of the same collection after that. */
static declared_index *after(const declared_index *entry) {
    return next_of(entry->link.next, entry->collection);
}

/* is_named -- whether an entry declares an index of that name. */
static bool is_named(const declared_index *entry, const char *name) {
    return strcmp(entry->definition->name, name) == 0;
}

/* find -- the declaration in force, or NULL. */
static declared_index *find(const declared_indexes *all, const char *collection, const char *name) {
    declared_index *entry = first_of(all, collection);
    while (entry != NULL && (entry->suspended || !is_named(entry, name)))
        entry = after(entry);
    return entry;
}

/* free_entry -- of the table. */
static void free_entry(void *item) {
    declared_index *entry = item;
    index_definition_free(entry->definition);
    free(entry);
}

/* take_out -- removes an entry. */
static void take_out(declared_indexes *all, declared_index *entry) {
    table_remove(&all->collections, &entry->link);
    free_entry(entry);
}

/* count_of -- how many indexes a collection has declared. */
static uint32_t count_of(const declared_indexes *all, const char *collection) {
    uint32_t count = 0;
    for (const declared_index *entry = first_of(all, collection); entry != NULL;
         entry = after(entry))
        count += !entry->suspended;
    return count;
}

/* index_of_words -- the declaration of the collection's index of words, or NULL. */
static const declared_index *index_of_words(const declared_indexes *all, const char *collection) {
    const declared_index *entry = first_of(all, collection);
    while (entry != NULL && (entry->suspended || entry->definition->text == NULL))
        entry = after(entry);
    return entry;
}

/* entry_new -- with a copy of the definition. Errors: MEMORY. */
static tansu_status entry_new(const query_hooks *hooks, const char *collection,
                              const index_definition *definition, declared_index **result,
                              tansu_error *error) {
    size_t length = strlen(collection);
    declared_index *entry = calloc(1, sizeof *entry + length + 1);
    if (entry == NULL)
        return error_memory(error);
    memcpy(entry->collection, collection, length);
    tansu_status status = index_definition_copy(definition, hooks, &entry->definition, error);
    if (status != TANSU_OK)
        free(entry);
    *result = entry;
    return status;
}

/* add -- declared_indexes_add() with the mutex held. */
static tansu_status add(declared_indexes *all, const query_hooks *hooks, const char *collection,
                        const index_definition *definition, bool *added, tansu_error *error) {
    const declared_index *there = find(all, collection, definition->name);
    if (there != NULL && index_definition_equal(there->definition, definition))
        return TANSU_OK;
    if (there != NULL)
        return error_set(error, TANSU_E_EXISTS, definition->name,
                         "Index \"%s\" of collection \"%s\" was declared with another definition; "
                         "declare it once or choose another name",
                         definition->name, collection);
    there = definition->text != NULL ? index_of_words(all, collection) : NULL;
    if (there != NULL)
        return error_set(
            error, TANSU_E_INVALID_INDEX, definition->name,
            "Collection \"%s\" has \"%s\" declared, an index of words, and can have one; "
            "name all fields in it",
            collection, there->definition->name);
    if (count_of(all, collection) >= TANSU_MAX_INDEXES)
        return error_set(error, TANSU_E_TOO_LARGE, definition->name,
                         "Collection \"%s\" has %d declared indexes, which is the limit; declare "
                         "fewer",
                         collection, TANSU_MAX_INDEXES);
    if (!table_reserve(&all->collections))
        return error_memory(error);
    declared_index *entry = NULL;
    tansu_status status = entry_new(hooks, collection, definition, &entry, error);
    if (status != TANSU_OK)
        return status;
    table_add(&all->collections, &entry->link, hash_of(collection));
    *added = true;
    return TANSU_OK;
}

tansu_status declared_indexes_add(declared_indexes *all, const query_hooks *hooks,
                                  const char *collection, const index_definition *definition,
                                  bool *added, tansu_error *error) {
    *added = false;
    pthread_mutex_lock(&all->mutex);
    tansu_status status = add(all, hooks, collection, definition, added, error);
    pthread_mutex_unlock(&all->mutex);
    return status;
}

void declared_indexes_remove(declared_indexes *all, const char *collection,
                             const index_definition *definition) {
    pthread_mutex_lock(&all->mutex);
    declared_index *entry = find(all, collection, definition->name);
    if (entry != NULL && index_definition_equal(entry->definition, definition))
        take_out(all, entry);
    pthread_mutex_unlock(&all->mutex);
}

bool declared_indexes_suspend(declared_indexes *all, const char *collection, const char *name) {
    pthread_mutex_lock(&all->mutex);
    declared_index *entry = find(all, collection, name);
    if (entry != NULL) {
        entry->suspended = true;
        entry->next_suspended = all->suspended;
        all->suspended = entry;
    }
    pthread_mutex_unlock(&all->mutex);
    return entry != NULL;
}

void declared_indexes_forget_suspended(declared_indexes *all) {
    pthread_mutex_lock(&all->mutex);
    for (declared_index *entry; (entry = all->suspended) != NULL;) {
        all->suspended = entry->next_suspended;
        take_out(all, entry);
    }
    pthread_mutex_unlock(&all->mutex);
}

void declared_indexes_restore_suspended(declared_indexes *all) {
    pthread_mutex_lock(&all->mutex);
    /* The last one that was dropped first: what is in force of its name then, the transaction has
     * declared after the drop, and that was rolled back with it. */
    for (declared_index *entry, *later; (entry = all->suspended) != NULL;) {
        all->suspended = entry->next_suspended;
        later = find(all, entry->collection, entry->definition->name);
        if (later != NULL)
            take_out(all, later);
        entry->suspended = false;
    }
    pthread_mutex_unlock(&all->mutex);
}

tansu_status declared_indexes_next(declared_indexes *all, const query_hooks *hooks,
                                   const char *collection, uint32_t *at,
                                   index_definition **definition, tansu_error *error) {
    pthread_mutex_lock(&all->mutex);
    uint32_t passed = 0;
    const declared_index *entry = first_of(all, collection);
    while (entry != NULL && (entry->suspended || passed++ < *at))
        entry = after(entry);
    tansu_status status = TANSU_DONE;
    if (entry != NULL) {
        status = index_definition_copy(entry->definition, hooks, definition, error);
        ++*at;
    }
    pthread_mutex_unlock(&all->mutex);
    return status;
}

void declared_indexes_free(declared_indexes *all) {
    table_free(&all->collections, free_entry);
}
