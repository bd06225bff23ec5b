/*
 * api/command/command.h -- what the commands in JSON form share: one being run, and the operations'
 * functions. Private to api/command/, which call the functions of tansu.h, base, and the JSON
 * writer.
 */
#ifndef TANSU_API_COMMAND_COMMAND_H
#define TANSU_API_COMMAND_COMMAND_H

#include "bson/json/json.h"

/* The members that a request may have. */
enum {
    MEMBER_OP,
    MEMBER_CANONICAL,
    MEMBER_COLLECTION,
    MEMBER_DOCUMENTS,
    MEMBER_ID,
    MEMBER_IDS,
    MEMBER_QUERY,
    MEMBER_HINTS,
    MEMBER_NAME,
    MEMBER_KEYS,
    MEMBER_OPTIONS,
    MEMBER_TO,
    MEMBER_COMMANDS,
    MEMBER_PATH,
    MEMBER_GROUP,
    MEMBER_UPDATE,
    MEMBER_REPLACE,
    MEMBER_REMOVE,
    MEMBER_RETURN,
    MEMBER_BATCH,
    MEMBER_CURSOR,
    MEMBER_TRANSACTION,
    MEMBER_MODE,
    MEMBER_DURABILITY,
    MEMBER_FEED,
    MEMBER_SINCE,
    MEMBER_TIMEOUT,
    MEMBER_FROM,
    MEMBER_FORM,
    MEMBER_KEY,
    MEMBER_PLAIN,
    MEMBER_EVERYTHING,
    MEMBER_PIPELINE,
    MEMBER_VALIDATOR,
    MEMBER_LEVEL,
    MEMBER_ACTION,
    MEMBER_TEXT,
    MEMBER_SEARCH,
    MEMBER_COUNT
};

/* Which part of a request is at fault, counted from 0, or -1. */
typedef struct command_fault {
    int64_t command;     /* of a transaction */
    int64_t document;    /* of a save */
    tansu_buffer report; /* of a verify that found problems, as BSON */
    bool canonical;      /* its form */
} command_fault;

/* One command being run. */
typedef struct command {
    tansu_db *db;
    tansu_txn *txn;     /* of the transaction that it is part of, or NULL */
    int64_t txn_number; /* of one that an earlier command began, or 0 */
    tansu_buffer *answer;
    command_fault *fault;
    bool canonical;
    doc_value given[MEMBER_COUNT]; /* in the request; DOC_MISSING when it has none */
} command;

/* command_has -- whether the request has a member. */
static inline bool command_has(const command *c, unsigned member) {
    return c->given[member].type != DOC_MISSING;
}

/* command_put -- appends a text to the answer; false when memory is exhausted. */
bool command_put(command *c, const char *text);

/* command_put_count -- appends a member whose value is a number: `head` is all before it. */
tansu_status command_put_count(command *c, const char *head, int64_t count, tansu_error *error);

/* command_put_document -- appends a member whose value is a document of the engine. */
tansu_status command_put_document(command *c, const char *head, const tansu_buffer *document,
                                  tansu_error *error);

/* command_text -- a member that is a text, or NULL. */
const char *command_text(const command *c, unsigned member);

/* command_number -- a member that is a number, which was checked, or `otherwise`. */
int64_t command_number(const command *c, unsigned member, int64_t otherwise);

/* command_batch -- how many results a response may have. Errors: INVALID_COMMAND. */
tansu_status command_batch(const command *c, int64_t *batch, tansu_error *error);

/* An operation. The answer begins with {"ok": true; it appends its members, each after a comma. */
typedef tansu_status (*command_handler)(command *c, tansu_error *error);

tansu_status command_save(command *c, tansu_error *error);
tansu_status command_insert(command *c, tansu_error *error);
tansu_status command_get(command *c, tansu_error *error);
tansu_status command_find(command *c, tansu_error *error);
tansu_status command_count(command *c, tansu_error *error);
tansu_status command_explain(command *c, tansu_error *error);
tansu_status command_distinct(command *c, tansu_error *error);
tansu_status command_aggregate(command *c, tansu_error *error);
tansu_status command_pipeline(command *c, tansu_error *error);
tansu_status command_remove(command *c, tansu_error *error);
tansu_status command_update(command *c, tansu_error *error);
tansu_status command_find_and_modify(command *c, tansu_error *error);
tansu_status command_create_index(command *c, tansu_error *error);
tansu_status command_declare_index(command *c, tansu_error *error);
tansu_status command_drop_index(command *c, tansu_error *error);
tansu_status command_indexes(command *c, tansu_error *error);
tansu_status command_create_collection(command *c, tansu_error *error);
tansu_status command_set_validator(command *c, tansu_error *error);
tansu_status command_drop_collection(command *c, tansu_error *error);
tansu_status command_rename_collection(command *c, tansu_error *error);
tansu_status command_collections(command *c, tansu_error *error);
tansu_status command_collection_info(command *c, tansu_error *error);
tansu_status command_referrers(command *c, tansu_error *error);
tansu_status command_dangling_references(command *c, tansu_error *error);
tansu_status command_stats(command *c, tansu_error *error);
tansu_status command_storage(command *c, tansu_error *error);
tansu_status command_refresh(command *c, tansu_error *error);
tansu_status command_sync(command *c, tansu_error *error);
tansu_status command_checkpoint(command *c, tansu_error *error);
tansu_status command_verify(command *c, tansu_error *error);
tansu_status command_compact(command *c, tansu_error *error);
tansu_status command_expire(command *c, tansu_error *error);
tansu_status command_rekey(command *c, tansu_error *error);

/* Operations that leave something open for later commands. */
tansu_status command_next(command *c, tansu_error *error);
tansu_status command_close_cursor(command *c, tansu_error *error);
tansu_status command_begin(command *c, tansu_error *error);
tansu_status command_commit(command *c, tansu_error *error);
tansu_status command_abort(command *c, tansu_error *error);
tansu_status command_cancel(command *c, tansu_error *error);
tansu_status command_savepoint(command *c, tansu_error *error);
tansu_status command_release_savepoint(command *c, tansu_error *error);
tansu_status command_roll_back_savepoint(command *c, tansu_error *error);
tansu_status command_open_feed(command *c, tansu_error *error);
tansu_status command_next_changes(command *c, tansu_error *error);
tansu_status command_close_feed(command *c, tansu_error *error);

/* command_analyze -- the terms of a text. */
tansu_status command_analyze(command *c, tansu_error *error);

/* command_highlight -- what a search finds in a text. */
tansu_status command_highlight(command *c, tansu_error *error);

/* command_complete, command_suggest -- what the words of an index suggest for a text. */
tansu_status command_complete(command *c, tansu_error *error);
tansu_status command_suggest(command *c, tansu_error *error);

/* Operations on files. */
tansu_status command_backup(command *c, tansu_error *error);
tansu_status command_restore(command *c, tansu_error *error);
tansu_status command_repair(command *c, tansu_error *error);
tansu_status command_clone(command *c, tansu_error *error);
tansu_status command_dump(command *c, tansu_error *error);
tansu_status command_load(command *c, tansu_error *error);

#endif
