/*
 * store/declared_indexes.h -- the indexes that a collection gets whenever it is created, as long as
 * the database is open: those of tansu_index_declare().
 */
#ifndef TANSU_STORE_DECLARED_INDEXES_H
#define TANSU_STORE_DECLARED_INDEXES_H

#include "index/definition.h"
#include "store/database.h"
#include "util/table.h"

#include <pthread.h>

/* All of them; guarded by `mutex`. */
typedef struct declared_indexes {
    pthread_mutex_t mutex;
    table collections;
    struct declared_index *suspended;
} declared_indexes;

/* declared_indexes_add -- declares an index; *added false when it was declared before. Copies the
 * definition; `hooks` compile that of a partial one. Errors: EXISTS (the name with another
 * definition), TOO_LARGE, MEMORY. */
tansu_status declared_indexes_add(declared_indexes *all, const query_hooks *hooks,
                                  const char *collection, const index_definition *definition,
                                  bool *added, tansu_error *error);

/* declared_indexes_remove -- forgets the declaration of an index by this definition, if there is
 * one. */
void declared_indexes_remove(declared_indexes *all, const char *collection,
                             const index_definition *definition);

/* declared_indexes_suspend -- the write transaction drops an index: from now on no collection gets
 * it; whether it was declared. The transaction's end makes that permanent or undoes it. Called with
 * the write lock, as the next two. */
bool declared_indexes_suspend(declared_indexes *all, const char *collection, const char *name);

/* declared_indexes_forget_suspended -- the transaction was committed. */
void declared_indexes_forget_suspended(declared_indexes *all);

/* declared_indexes_restore_suspended -- the transaction was rolled back: collections get those
 * indexes as before. */
void declared_indexes_restore_suspended(declared_indexes *all);

/* declared_indexes_next -- a copy of the declared index number *at of a collection, and *at plus
 * one. TANSU_DONE when there is none. Errors: MEMORY. */
tansu_status declared_indexes_next(declared_indexes *all, const query_hooks *hooks,
                                   const char *collection, uint32_t *at,
                                   index_definition **definition, tansu_error *error);

/* declared_indexes_free -- forgets all, when the database is closed. */
void declared_indexes_free(declared_indexes *all);

#endif
