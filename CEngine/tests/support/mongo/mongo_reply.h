/*
 * support/mongo/mongo_reply.h -- what a recorded case of MongoDB expects of a reply, and whether a
 * reply has it. Replies are documents in the form that a MongoDB server sends them.
 */
#ifndef SUPPORT_MONGO_REPLY_H
#define SUPPORT_MONGO_REPLY_H

#include <bson/bson.h>
#include <stdbool.h>

/* The reply to one command. */
typedef struct mongo_reply {
    bson_t doc;                 /* of a command that succeeded, or that has "writeErrors" */
    bool failed;                /* the command is an error; `message` says which */
    const char *not_applicable; /* why the command has no counterpart here; NULL: it has one */
    char message[1024];
} mongo_reply;

/* reply_matches -- whether a reply satisfies an expectation ("x" of a step), or a list of them.
 * If not, *why is a text that says what is missing; it is valid until the next call. */
bool reply_matches(const mongo_reply *reply, const bson_iter_t *expected, const char **why);

/* reply_expects_error -- whether the expectation is an error. */
bool reply_expects_error(const bson_iter_t *expected);

/* values_same -- whether two values are equal, with the types of numbers; the order of fields does
 * not count. */
bool values_same(const bson_iter_t *a, const bson_iter_t *b);

/* iter_document -- a document or an array as a document of its own; false for other values. */
bool iter_document(const bson_iter_t *iter, bson_t *doc);

/* member_document -- the same of a member. */
bool member_document(const bson_t *doc, const char *name, bson_t *member);

#endif
