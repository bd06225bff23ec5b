/*
 * api/command/command.c -- tansu_execute_json(): commands in JSON form (docs/json-commands.md).
 *
 * A request is read into BSON once, its members are checked by the operation's row in a table, and
 * the operation's function, which calls what any caller of tansu.h may call, appends its answer to
 * the one text that grows until it is handed out.
 */
#include "api/command/command.h"

#include "api/handles.h"
#include "api/session.h"
#include "util/buffer.h"
#include "util/error.h"

/* A request may hold many documents, and wraps them: it may be larger and deeper than one. */
#define REQUEST_SIZE ((size_t)1 << 30)
#define REQUEST_DEPTH (TANSU_MAX_DEPTH + 8)

#define BIT(member) ((uint64_t)1 << (member))
_Static_assert(MEMBER_COUNT <= 64, "a bit for each member");

/* Beside the types of BSON: a whole number, not negative, of whatever type. */
#define NUMBER 0xF0

static const struct {
    const char *name;
    uint8_t type;
    const char *kind; /* as the message says */
} members[MEMBER_COUNT] = {
    [MEMBER_OP] = {"op", DOC_STRING, "a text"},
    [MEMBER_CANONICAL] = {"canonical", DOC_BOOL, "true or false"},
    [MEMBER_COLLECTION] = {"collection", DOC_STRING, "a text"},
    [MEMBER_DOCUMENTS] = {"documents", DOC_ARRAY, "an array"},
    [MEMBER_ID] = {"id", DOC_MISSING, "a value"},
    [MEMBER_IDS] = {"ids", DOC_ARRAY, "an array"},
    [MEMBER_QUERY] = {"query", DOC_DOCUMENT, "an object"},
    [MEMBER_HINTS] = {"hints", DOC_DOCUMENT, "an object"},
    [MEMBER_NAME] = {"name", DOC_STRING, "a text"},
    [MEMBER_KEYS] = {"keys", DOC_DOCUMENT, "an object"},
    [MEMBER_OPTIONS] = {"options", DOC_DOCUMENT, "an object"},
    [MEMBER_TO] = {"to", DOC_STRING, "a text"},
    [MEMBER_COMMANDS] = {"commands", DOC_ARRAY, "an array"},
    [MEMBER_PATH] = {"path", DOC_STRING, "a text"},
    [MEMBER_GROUP] = {"group", DOC_DOCUMENT, "an object"},
    [MEMBER_UPDATE] = {"update", DOC_MISSING, "an object, or an array of stages"},
    [MEMBER_REPLACE] = {"replace", DOC_DOCUMENT, "an object"},
    [MEMBER_REMOVE] = {"remove", DOC_BOOL, "true or false"},
    [MEMBER_RETURN] = {"return", DOC_STRING, "\"before\" or \"after\""},
    [MEMBER_BATCH] = {"batch", NUMBER, "a whole number"},
    [MEMBER_CURSOR] = {"cursor", NUMBER, "the number of a cursor"},
    [MEMBER_TRANSACTION] = {"transaction", NUMBER, "the number of a transaction"},
    [MEMBER_MODE] = {"mode", DOC_STRING, "\"read\" or \"write\""},
    [MEMBER_DURABILITY] = {"durability", DOC_STRING, "\"full\", \"process\" or \"interval\""},
    [MEMBER_FEED] = {"feed", NUMBER, "the number of a feed"},
    [MEMBER_SINCE] = {"since", DOC_MISSING, "the number of a commit or \"now\""},
    [MEMBER_TIMEOUT] = {"timeoutMs", NUMBER, "a whole number"},
    [MEMBER_FROM] = {"from", DOC_STRING, "a path"},
    [MEMBER_FORM] = {"form", DOC_STRING, "\"folder\" or \"file\""},
    [MEMBER_KEY] = {"key", DOC_DOCUMENT, "an object"},
    [MEMBER_PLAIN] = {"plain", DOC_BOOL, "true or false"},
    [MEMBER_EVERYTHING] = {"everything", DOC_BOOL, "true or false"},
    [MEMBER_PIPELINE] = {"pipeline", DOC_ARRAY, "an array of stages"},
    [MEMBER_VALIDATOR] = {"validator", DOC_MISSING, "an object or false"},
    [MEMBER_LEVEL] = {"validationLevel", DOC_STRING, "a text"},
    [MEMBER_ACTION] = {"validationAction", DOC_STRING, "a text"},
    [MEMBER_TEXT] = {"text", DOC_STRING, "a text"},
    [MEMBER_SEARCH] = {"search", DOC_DOCUMENT, "an object"},
};

/* What may stand in every command. */
#define ALWAYS (BIT(MEMBER_OP) | BIT(MEMBER_CANONICAL))
#define COLLECTION BIT(MEMBER_COLLECTION)
#define DOCUMENTS BIT(MEMBER_DOCUMENTS)
#define ID BIT(MEMBER_ID)
#define IDS BIT(MEMBER_IDS)
#define QUERY BIT(MEMBER_QUERY)
#define HINTS BIT(MEMBER_HINTS)
#define NAME BIT(MEMBER_NAME)
#define KEYS BIT(MEMBER_KEYS)
#define OPTIONS BIT(MEMBER_OPTIONS)
#define TO BIT(MEMBER_TO)
#define COMMANDS BIT(MEMBER_COMMANDS)
#define PATH BIT(MEMBER_PATH)
#define GROUP BIT(MEMBER_GROUP)
#define UPDATE BIT(MEMBER_UPDATE)
#define REPLACE BIT(MEMBER_REPLACE)
#define REMOVE BIT(MEMBER_REMOVE)
#define RETURN BIT(MEMBER_RETURN)
#define BATCH BIT(MEMBER_BATCH)
#define CURSOR BIT(MEMBER_CURSOR)
#define TRANSACTION BIT(MEMBER_TRANSACTION)
#define MODE BIT(MEMBER_MODE)
#define DURABILITY BIT(MEMBER_DURABILITY)
#define FEED BIT(MEMBER_FEED)
#define SINCE BIT(MEMBER_SINCE)
#define TIMEOUT BIT(MEMBER_TIMEOUT)
#define FROM BIT(MEMBER_FROM)
#define FORM BIT(MEMBER_FORM)
#define KEY BIT(MEMBER_KEY)
#define PLAIN BIT(MEMBER_PLAIN)
#define EVERYTHING BIT(MEMBER_EVERYTHING)
#define PIPELINE BIT(MEMBER_PIPELINE)
#define VALIDATOR BIT(MEMBER_VALIDATOR)
#define LEVEL BIT(MEMBER_LEVEL)
#define ACTION BIT(MEMBER_ACTION)
#define TEXT BIT(MEMBER_TEXT)
#define SEARCH BIT(MEMBER_SEARCH)

/* Where a command may stand. */
enum where {
    ALONE,          /* not in a transaction */
    WITHOUT,        /* the same, and it needs no database */
    IN_TRANSACTION, /* also in one, and in one that an earlier command began */
};

static const struct operation {
    const char *name;
    command_handler run; /* NULL: a transaction, which runs others */
    uint64_t needs;
    uint64_t may;
    enum where where;
} operations[] = {
    {"save", command_save, COLLECTION | DOCUMENTS, 0, IN_TRANSACTION},
    {"insert", command_insert, COLLECTION | DOCUMENTS, 0, IN_TRANSACTION},
    {"get", command_get, COLLECTION, ID | IDS, IN_TRANSACTION},
    {"find", command_find, COLLECTION, QUERY | HINTS | BATCH, IN_TRANSACTION},
    {"next", command_next, CURSOR, BATCH, ALONE},
    {"closeCursor", command_close_cursor, CURSOR, 0, ALONE},
    {"count", command_count, COLLECTION, QUERY | HINTS, IN_TRANSACTION},
    {"explain", command_explain, COLLECTION, QUERY | HINTS, IN_TRANSACTION},
    {"distinct", command_distinct, COLLECTION | PATH, QUERY | HINTS, IN_TRANSACTION},
    {"aggregate", command_aggregate, 0, COLLECTION | GROUP | QUERY | HINTS | PIPELINE | BATCH,
     IN_TRANSACTION},
    {"update", command_update, COLLECTION | QUERY, UPDATE | REPLACE | HINTS, IN_TRANSACTION},
    {"findAndModify", command_find_and_modify, COLLECTION | QUERY,
     UPDATE | REPLACE | REMOVE | RETURN | HINTS, IN_TRANSACTION},
    {"remove", command_remove, COLLECTION, QUERY | HINTS | ID, IN_TRANSACTION},
    {"createIndex", command_create_index, COLLECTION | KEYS, NAME | OPTIONS, IN_TRANSACTION},
    {"declareIndex", command_declare_index, COLLECTION | KEYS, NAME | OPTIONS, IN_TRANSACTION},
    {"dropIndex", command_drop_index, COLLECTION | NAME, 0, IN_TRANSACTION},
    {"indexes", command_indexes, COLLECTION, 0, IN_TRANSACTION},
    {"createCollection", command_create_collection, COLLECTION, OPTIONS, IN_TRANSACTION},
    {"setValidator", command_set_validator, COLLECTION, VALIDATOR | LEVEL | ACTION, IN_TRANSACTION},
    {"dropCollection", command_drop_collection, COLLECTION, 0, IN_TRANSACTION},
    {"renameCollection", command_rename_collection, COLLECTION | TO, 0, IN_TRANSACTION},
    {"collections", command_collections, 0, 0, IN_TRANSACTION},
    {"collectionInfo", command_collection_info, COLLECTION, 0, IN_TRANSACTION},
    {"referrers", command_referrers, COLLECTION, 0, IN_TRANSACTION},
    {"danglingReferences", command_dangling_references, 0, OPTIONS, IN_TRANSACTION},
    {"analyze", command_analyze, TEXT, OPTIONS, WITHOUT},
    {"highlight", command_highlight, TEXT | SEARCH, OPTIONS, WITHOUT},
    {"complete", command_complete, COLLECTION | TEXT, OPTIONS, IN_TRANSACTION},
    {"suggest", command_suggest, COLLECTION | TEXT, OPTIONS, IN_TRANSACTION},
    {"transaction", NULL, COMMANDS, 0, ALONE},
    {"begin", command_begin, 0, MODE | DURABILITY, ALONE},
    {"commit", command_commit, TRANSACTION, 0, ALONE},
    {"abort", command_abort, TRANSACTION, 0, ALONE},
    {"cancel", command_cancel, TRANSACTION, 0, ALONE},
    {"savepoint", command_savepoint, TRANSACTION, 0, IN_TRANSACTION},
    {"releaseSavepoint", command_release_savepoint, TRANSACTION, 0, IN_TRANSACTION},
    {"rollBackSavepoint", command_roll_back_savepoint, TRANSACTION, 0, IN_TRANSACTION},
    {"openFeed", command_open_feed, 0, SINCE | OPTIONS, ALONE},
    {"nextChanges", command_next_changes, FEED, BATCH | TIMEOUT, ALONE},
    {"closeFeed", command_close_feed, FEED, 0, ALONE},
    {"stats", command_stats, 0, 0, ALONE},
    {"storage", command_storage, 0, 0, ALONE},
    {"refresh", command_refresh, 0, 0, ALONE},
    {"sync", command_sync, 0, 0, ALONE},
    {"checkpoint", command_checkpoint, 0, 0, ALONE},
    {"compact", command_compact, 0, 0, ALONE},
    {"expire", command_expire, 0, 0, ALONE},
    {"rekey", command_rekey, OPTIONS, EVERYTHING, ALONE},
    {"verify", command_verify, 0, 0, ALONE},
    {"backup", command_backup, TO, FORM | KEY | PLAIN, ALONE},
    {"restore", command_restore, FROM | TO, KEY, WITHOUT},
    {"repair", command_repair, FROM | TO, KEY, WITHOUT},
    {"clone", command_clone, TO, OPTIONS, ALONE},
    {"dump", command_dump, TO, OPTIONS | KEY, IN_TRANSACTION},
    {"load", command_load, FROM, OPTIONS | KEY, ALONE},
};

/* ---- Reading a command ---- */

/* find_operation -- the operation that a command names. */
static tansu_status find_operation(const uint8_t *request, size_t size,
                                   const struct operation **operation, tansu_error *error) {
    doc_value op;
    size_t length;
    if (!doc_find(request, size, "op", 2, &op))
        return error_set(error, TANSU_E_INVALID_COMMAND, "op",
                         "A command needs the member \"op\", the name of an operation");
    if (op.type != DOC_STRING)
        return error_set(error, TANSU_E_INVALID_COMMAND, "op",
                         "The member \"op\" must be a text, the name of an operation");
    const char *name = doc_string(&op, &length);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (strlen(operations[i].name) == length && memcmp(operations[i].name, name, length) == 0) {
            *operation = &operations[i];
            return TANSU_OK;
        }
    }
    return error_set(error, TANSU_E_INVALID_COMMAND, name,
                     "The operation \"%.100s\" does not exist", name);
}

/* has_type -- whether a value is what a member needs. */
static bool has_type(const doc_value *value, uint8_t type) {
    int64_t number;
    if (type == NUMBER)
        return value->type != DOC_BOOL && doc_as_int64(value, &number) && number >= 0;
    return type == DOC_MISSING || type == value->type;
}

/* take_member -- stores a member of the request. */
static tansu_status take_member(command *c, const struct operation *operation, const doc_iter *iter,
                                tansu_error *error) {
    uint64_t allowed = operation->needs | operation->may | ALWAYS;
    if (operation->where == IN_TRANSACTION)
        allowed |= TRANSACTION;
    for (unsigned i = 0; i < MEMBER_COUNT; i++) {
        if (!(allowed & BIT(i)) || strcmp(members[i].name, iter->key) != 0)
            continue;
        if (!has_type(&iter->value, members[i].type))
            return error_set(error, TANSU_E_INVALID_COMMAND, iter->key,
                             "The member \"%s\" of \"%s\" must be %s", iter->key, operation->name,
                             members[i].kind);
        size_t size;
        if (iter->value.type == DOC_STRING && members[i].type == DOC_STRING &&
            strlen(doc_string(&iter->value, &size)) != size)
            return error_set(error, TANSU_E_INVALID_COMMAND, iter->key,
                             "The member \"%s\" of \"%s\" must not contain the character NUL",
                             iter->key, operation->name);
        c->given[i] = iter->value;
        return TANSU_OK;
    }
    return error_set(error, TANSU_E_INVALID_COMMAND, iter->key,
                     "The operation \"%s\" has no member \"%.100s\"", operation->name, iter->key);
}

/* take_members -- holds the request against the operation's row. */
static tansu_status take_members(command *c, const struct operation *operation,
                                 const uint8_t *request, size_t size, tansu_error *error) {
    doc_iter iter;
    doc_iter_init(&iter, request, size);
    while (doc_iter_next(&iter)) {
        tansu_status status = take_member(c, operation, &iter, error);
        if (status != TANSU_OK)
            return status;
    }
    for (unsigned i = 0; i < MEMBER_COUNT; i++) {
        if ((operation->needs & BIT(i)) && !command_has(c, i))
            return error_set(error, TANSU_E_INVALID_COMMAND, members[i].name,
                             "The operation \"%s\" needs the member \"%s\", %s", operation->name,
                             members[i].name, members[i].kind);
    }
    if (command_has(c, MEMBER_CANONICAL))
        c->canonical = doc_bool(&c->given[MEMBER_CANONICAL]);
    return TANSU_OK;
}

/* ---- Running ---- */

static tansu_status run_transaction(command *c, tansu_error *error);

/* run_in_begun -- runs an operation in the transaction that an earlier command began. */
static tansu_status run_in_begun(command *c, const struct operation *operation,
                                 tansu_error *error) {
    void *txn;
    c->txn_number = command_number(c, MEMBER_TRANSACTION, 0);
    tansu_status status = session_take(c->db, SESSION_TXN, c->txn_number, &txn, error);
    if (status != TANSU_OK)
        return status;
    c->txn = txn;
    status = operation->run(c, error);
    session_put_back(c->db, c->txn_number);
    return status;
}

/* run_command -- runs one command and appends its answer. `around` has what does not come from the
 * request; `within`: it is a transaction's command, and this one part of it. */
static tansu_status run_command(const command *around, bool within, const uint8_t *request,
                                size_t size, tansu_error *error) {
    command c = {.db = around->db,
                 .txn = around->txn,
                 .answer = around->answer,
                 .fault = around->fault,
                 .canonical = around->canonical};
    const struct operation *operation = NULL;
    tansu_status status = find_operation(request, size, &operation, error);
    if (status != TANSU_OK)
        return status;
    if (within && operation->where != IN_TRANSACTION)
        return error_set(error, TANSU_E_INVALID_COMMAND, operation->name,
                         "The operation \"%s\" is not allowed in a transaction", operation->name);
    if (c.db == NULL && operation->where != WITHOUT)
        return null_argument("db", error);
    status = take_members(&c, operation, request, size, error);
    if (status == TANSU_OK && within && command_has(&c, MEMBER_TRANSACTION))
        status = error_set(error, TANSU_E_INVALID_COMMAND, "transaction",
                           "A command of \"transaction\" is part of it already; leave out the "
                           "member \"transaction\"");
    if (status == TANSU_OK && !command_put(&c, "{\"ok\": true"))
        status = error_memory(error);
    if (status != TANSU_OK)
        return status;
    status = operation->where == IN_TRANSACTION && command_has(&c, MEMBER_TRANSACTION)
                 ? run_in_begun(&c, operation, error)
             : operation->run == NULL ? run_transaction(&c, error)
                                      : operation->run(&c, error);
    if (status == TANSU_OK && !command_put(&c, "}"))
        return error_memory(error);
    return status;
}

/* run_all -- runs the commands of a transaction, and notes which one failed. */
static tansu_status run_all(command *c, tansu_error *error) {
    doc_iter iter;
    doc_iter_value(&iter, &c->given[MEMBER_COMMANDS]);
    for (int64_t number = 0; doc_iter_next(&iter); number++) {
        c->fault->command = number;
        if (iter.value.type != DOC_DOCUMENT)
            return error_set(error, TANSU_E_INVALID_COMMAND, "commands",
                             "Each of \"commands\" must be an object");
        if (number > 0 && !command_put(c, ", "))
            return error_memory(error);
        tansu_status status = run_command(c, true, iter.value.data, iter.value.size, error);
        if (status != TANSU_OK)
            return status;
    }
    c->fault->command = -1;
    return TANSU_OK;
}

/* run_transaction -- {"op": "transaction", "commands": […]}: all or nothing. */
static tansu_status run_transaction(command *c, tansu_error *error) {
    tansu_status status =
        tansu_txn_begin(c->db, TANSU_TXN_WRITE, TANSU_DURABILITY_DEFAULT, &c->txn, error);
    if (status != TANSU_OK)
        return status;
    status = command_put(c, ", \"results\": [") ? run_all(c, error) : error_memory(error);
    if (status == TANSU_OK && !command_put(c, "]"))
        status = error_memory(error);
    if (status != TANSU_OK) {
        tansu_txn_abort(c->txn);
        return status;
    }
    status = tansu_txn_commit(c->txn, NULL, error);
    if (status == TANSU_E_BUSY)
        tansu_txn_abort(c->txn);
    return status;
}

/* ---- The answer ---- */

/* put_member -- appends a member whose value is a text. */
static bool put_member(tansu_buffer *answer, const char *head, const char *value) {
    return buffer_append(answer, head, strlen(head)) &&
           json_write_string(answer, value, strlen(value));
}

/* put_place -- appends a member whose value is a number, unless it is negative. */
static bool put_place(tansu_buffer *answer, const char *head, int64_t number) {
    return number < 0 ||
           (buffer_append(answer, head, strlen(head)) && json_write_integer(answer, number));
}

/* put_report -- appends what a verify found. */
static bool put_report(tansu_buffer *answer, const command_fault *fault) {
    static const char head[] = ", \"report\": ";
    return fault->report.size == 0 ||
           (buffer_append(answer, head, sizeof head - 1) &&
            json_write_document(answer, fault->report.data, fault->report.size, fault->canonical));
}

/* answer_error -- the answer of a command that failed. */
static bool answer_error(tansu_buffer *answer, tansu_status status, const command_fault *fault,
                         const tansu_error *error) {
    answer->size = 0;
    if (!put_member(answer, "{\"ok\": false, \"error\": {\"code\": ", tansu_status_name(status)) ||
        !put_member(answer, ", \"message\": ", error->message))
        return false;
    if (error->context[0] != '\0' && !put_member(answer, ", \"path\": ", error->context))
        return false;
    return put_place(answer, ", \"offset\": ", error->offset) &&
           put_place(answer, ", \"command\": ", fault->command) &&
           put_place(answer, ", \"document\": ", fault->document) &&
           buffer_append_byte(answer, '}') && put_report(answer, fault) &&
           buffer_append_byte(answer, '}');
}

/* tansu_execute_json -- runs one command in JSON form. */
tansu_status tansu_execute_json(tansu_db *db, const char *request, char **response) {
    tansu_buffer bson = TANSU_BUFFER_INIT, answer = TANSU_BUFFER_INIT;
    tansu_error error = {.offset = -1};
    command_fault fault = {.command = -1, .document = -1};
    command around = {.db = db, .answer = &answer, .fault = &fault};
    tansu_status status;
    if (response == NULL)
        return TANSU_E_INVALID_ARGUMENT;
    *response = NULL;
    if (request == NULL)
        status = null_argument("request", &error);
    else
        status = json_parse(request, strlen(request), REQUEST_SIZE, REQUEST_DEPTH, &bson, &error);
    if (status == TANSU_OK)
        status = run_command(&around, false, bson.data, bson.size, &error);
    tansu_buffer_free(&bson);
    bool whole = status == TANSU_OK || answer_error(&answer, status, &fault, &error);
    tansu_buffer_free(&fault.report);
    if (!whole || !buffer_append_byte(&answer, '\0')) {
        tansu_buffer_free(&answer);
        return status == TANSU_OK ? TANSU_E_MEMORY : status;
    }
    *response = (char *)answer.data;
    return status;
}
