/*
 * support/mongo/mongo_command.h -- runs commands of MongoDB through the public C API.
 */
#ifndef SUPPORT_MONGO_COMMAND_H
#define SUPPORT_MONGO_COMMAND_H

#include "support/mongo/mongo_reply.h"
#include "tansu.h"

/* mongo_run -- runs a command. `reply` is written anew; the caller destroys reply->doc. */
void mongo_run(tansu_db *db, const bson_t *command, mongo_reply *reply);

/* mongo_insert -- inserts a document with its `_id` first, as MongoDB does; false when it is
 * refused. The message is kept in `reply`. */
tansu_status mongo_insert(tansu_db *db, const char *collection, const bson_t *doc,
                          mongo_reply *reply);

#endif
