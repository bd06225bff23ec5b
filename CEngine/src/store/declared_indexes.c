/*
 * store/declared_indexes.c -- the list of declared indexes. It is short, and is read only when a
 * collection is created.
 */
#include "store/declared_indexes.h"

#include "store/database_internal.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* is_of -- whether an entry is the declaration of an index, in force or not. */
static bool is_of(const declared_index *entry, const char *collection, const char *name) {
    return strcmp(entry->collection, collection) == 0 && strcmp(entry->definition->name, name) == 0;
}

/* find -- the number of a declaration that is in force, or the count. */
static uint32_t find(const database *db, const char *collection, const char *name) {
    uint32_t i = 0;
    while (i < db->declared_count &&
           (db->declared[i].suspended || !is_of(&db->declared[i], collection, name)))
        i++;
    return i;
}

/* take_out -- removes an entry of the list. */
static void take_out(database *db, uint32_t i) {
    index_definition_free(db->declared[i].definition);
    db->declared_count--;
    memmove(db->declared + i, db->declared + i + 1,
            (db->declared_count - i) * sizeof *db->declared);
}

/* count_of -- how many indexes a collection has declared. */
static uint32_t count_of(const database *db, const char *collection) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < db->declared_count; i++)
        count += !db->declared[i].suspended && strcmp(db->declared[i].collection, collection) == 0;
    return count;
}

/* add -- declared_indexes_add() with the mutex held. */
static tansu_status add(database *db, const char *collection, const index_definition *definition,
                        bool *added, tansu_error *error) {
    uint32_t i = find(db, collection, definition->name);
    if (i < db->declared_count && index_definition_equal(db->declared[i].definition, definition))
        return TANSU_OK;
    if (i < db->declared_count)
        return error_set(error, TANSU_E_EXISTS, definition->name,
                         "Index \"%s\" of collection \"%s\" was declared with another definition; "
                         "declare it once or choose another name",
                         definition->name, collection);
    if (count_of(db, collection) >= TANSU_MAX_INDEXES)
        return error_set(error, TANSU_E_TOO_LARGE, definition->name,
                         "Collection \"%s\" has %d declared indexes, which is the limit; declare "
                         "fewer",
                         collection, TANSU_MAX_INDEXES);
    index_definition *copy;
    if (!ARRAY_RESERVE(db->declared, db->declared_count, db->declared_capacity, 1))
        return error_memory(error);
    tansu_status status = index_definition_copy(definition, db->filters, &copy, error);
    if (status != TANSU_OK)
        return status;
    declared_index *entry = &db->declared[db->declared_count++];
    *entry = (declared_index){.definition = copy};
    memcpy(entry->collection, collection, strnlen(collection, TANSU_MAX_NAME));
    *added = true;
    return TANSU_OK;
}

tansu_status declared_indexes_add(database *db, const char *collection,
                                  const index_definition *definition, bool *added,
                                  tansu_error *error) {
    *added = false;
    pthread_mutex_lock(&db->declared_mutex);
    tansu_status status = add(db, collection, definition, added, error);
    pthread_mutex_unlock(&db->declared_mutex);
    return status;
}

void declared_indexes_remove(database *db, const char *collection,
                             const index_definition *definition) {
    pthread_mutex_lock(&db->declared_mutex);
    uint32_t i = find(db, collection, definition->name);
    if (i < db->declared_count && index_definition_equal(db->declared[i].definition, definition))
        take_out(db, i);
    pthread_mutex_unlock(&db->declared_mutex);
}

bool declared_indexes_suspend(database *db, const char *collection, const char *name) {
    pthread_mutex_lock(&db->declared_mutex);
    uint32_t i = find(db, collection, name);
    bool found = i < db->declared_count;
    if (found)
        db->declared[i].suspended = true;
    pthread_mutex_unlock(&db->declared_mutex);
    return found;
}

void declared_indexes_forget_suspended(database *db) {
    pthread_mutex_lock(&db->declared_mutex);
    for (uint32_t i = db->declared_count; i-- > 0;)
        if (db->declared[i].suspended)
            take_out(db, i);
    pthread_mutex_unlock(&db->declared_mutex);
}

void declared_indexes_restore_suspended(database *db) {
    pthread_mutex_lock(&db->declared_mutex);
    for (uint32_t i = 0; i < db->declared_count; i++) {
        declared_index *entry = &db->declared[i];
        if (!entry->suspended)
            continue;
        entry->suspended = false;
        /* What the transaction declared under its name was rolled back with the drop. */
        for (uint32_t k = db->declared_count; k-- > i + 1;)
            if (is_of(&db->declared[k], entry->collection, entry->definition->name))
                take_out(db, k);
    }
    pthread_mutex_unlock(&db->declared_mutex);
}

tansu_status declared_indexes_next(database *db, const char *collection, uint32_t *at,
                                   index_definition **definition, tansu_error *error) {
    tansu_status status = TANSU_DONE;
    pthread_mutex_lock(&db->declared_mutex);
    while (*at < db->declared_count &&
           (db->declared[*at].suspended || strcmp(db->declared[*at].collection, collection) != 0))
        ++*at;
    if (*at < db->declared_count)
        status =
            index_definition_copy(db->declared[(*at)++].definition, db->filters, definition, error);
    pthread_mutex_unlock(&db->declared_mutex);
    return status;
}

void declared_indexes_free(database *db) {
    for (uint32_t i = 0; i < db->declared_count; i++)
        index_definition_free(db->declared[i].definition);
    free(db->declared);
}
