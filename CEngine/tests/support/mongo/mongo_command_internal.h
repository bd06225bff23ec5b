/*
 * support/mongo/mongo_command_internal.h -- what the files of the commands share.
 */
#ifndef SUPPORT_MONGO_COMMAND_INTERNAL_H
#define SUPPORT_MONGO_COMMAND_INTERNAL_H

#include "support/mongo/mongo_command.h"

/* What a command is made of. */
typedef struct mongo_call {
    tansu_db *db;
    const bson_t *command;
    const char *collection;
    mongo_reply *reply;
} mongo_call;

/* Why a command cannot be asked: a member of it has a form that no call of the API can have. */
extern const char mongo_envelope[];

/* mongo_fail -- the reply is an error; false. */
bool mongo_fail(mongo_reply *reply, tansu_status status, const tansu_error *error);

/* mongo_given -- a member that is there and not null. */
bool mongo_given(const bson_t *doc, const char *name, bson_iter_t *iter);

/* mongo_copy -- copies a member that is given, under another name. */
void mongo_copy(bson_t *to, const char *as, const bson_t *doc, const char *name);

/* mongo_find_index -- the name of the collection's index with these keys; false when there is none.
 * Of several, it is a name that none has. */
bool mongo_find_index(const mongo_call *c, const bson_t *keys, char *found, size_t capacity);

/* Commands of collections and indexes. */
void mongo_create_indexes(const mongo_call *c);
void mongo_drop_indexes(const mongo_call *c);
void mongo_list_indexes(const mongo_call *c);
void mongo_create(const mongo_call *c);
void mongo_modify(const mongo_call *c);
void mongo_drop(const mongo_call *c);

#endif
