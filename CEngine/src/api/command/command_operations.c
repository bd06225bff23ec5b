/*
 * api/command/command_operations.c -- the operations of the JSON commands, each over one function
 * of tansu.h.
 */
#include "api/command/command.h"
#include "api/handles.h"
#include "bson/writer.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/staging/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* command_put -- see command.h. */
bool command_put(command *c, const char *text) {
    return buffer_append(c->answer, text, strlen(text));
}

/* command_text -- see command.h. */
const char *command_text(const command *c, unsigned member) {
    size_t size;
    return command_has(c, member) ? doc_string(&c->given[member], &size) : NULL;
}

/* command_number -- see command.h. */
int64_t command_number(const command *c, unsigned member, int64_t otherwise) {
    int64_t number = otherwise;
    if (command_has(c, member))
        (void)doc_as_int64(&c->given[member], &number);
    return number;
}

/* A batch when the request names no size. */
#define BATCH_DEFAULT 100

/* command_batch -- see command.h. */
tansu_status command_batch(const command *c, int64_t *batch, tansu_error *error) {
    *batch = command_number(c, MEMBER_BATCH, BATCH_DEFAULT);
    if (*batch > 0)
        return TANSU_OK;
    return error_set(error, TANSU_E_INVALID_COMMAND, "batch",
                     "The member \"batch\" must be at least 1");
}

/* collection_of -- the collection's name. */
static const char *collection_of(const command *c) {
    return command_text(c, MEMBER_COLLECTION);
}

/* command_put_count -- see command.h. */
tansu_status command_put_count(command *c, const char *head, int64_t count, tansu_error *error) {
    return command_put(c, head) && json_write_integer(c->answer, count) ? TANSU_OK
                                                                        : error_memory(error);
}

/* command_put_document -- see command.h. */
tansu_status command_put_document(command *c, const char *head, const tansu_buffer *document,
                                  tansu_error *error) {
    return command_put(c, head) &&
                   json_write_document(c->answer, document->data, document->size, c->canonical)
               ? TANSU_OK
               : error_memory(error);
}

/* put_answer -- appends the members of a document that a call of the engine made, and frees it;
 * returns the call's status if that failed. */
static tansu_status put_answer(command *c, tansu_status status, tansu_buffer *document,
                               tansu_error *error) {
    if (status == TANSU_OK &&
        (!command_put(c, ", ") ||
         !json_write_members(c->answer, document->data, document->size, c->canonical)))
        status = error_memory(error);
    tansu_buffer_free(document);
    return status;
}

/* id_document -- {"_id": value} from the member "id". */
static bool id_document(const command *c, tansu_buffer *document) {
    return writer_single(document, "_id", &c->given[MEMBER_ID]);
}

/* ---- Writing documents ---- */

/* list_documents -- the documents of the member "documents", in place; the caller frees *list. */
static tansu_status list_documents(command *c, tansu_document **list, size_t *count,
                                   tansu_error *error) {
    doc_iter iter;
    *count = 0;
    doc_iter_value(&iter, &c->given[MEMBER_DOCUMENTS]);
    while (doc_iter_next(&iter))
        ++*count;
    *list = calloc(*count + 1, sizeof **list);
    if (*list == NULL)
        return error_memory(error);
    doc_iter_value(&iter, &c->given[MEMBER_DOCUMENTS]);
    for (size_t i = 0; doc_iter_next(&iter); i++) {
        if (iter.value.type != DOC_DOCUMENT) {
            c->fault->document = (int64_t)i;
            return error_set(error, TANSU_E_INVALID_COMMAND, "documents",
                             "Each of \"documents\" must be an object");
        }
        (*list)[i] = (tansu_document){iter.value.data, iter.value.size};
    }
    return TANSU_OK;
}

/* save -- both ways of saving. */
static tansu_status save(command *c, tansu_save_mode mode, tansu_error *error) {
    tansu_document *list = NULL;
    tansu_buffer ids = TANSU_BUFFER_INIT;
    size_t count;
    tansu_status status = list_documents(c, &list, &count, error);
    if (status == TANSU_OK) {
        status = tansu_save(c->db, c->txn, collection_of(c), list, count, mode, &ids, error);
        if (status != TANSU_OK) {
            c->fault->document = error->offset;
            error->offset = -1;
        }
    }
    free(list);
    return put_answer(c, status, &ids, error);
}

/* command_save -- {"op": "save", "collection": …, "documents": […]}. */
tansu_status command_save(command *c, tansu_error *error) {
    return save(c, TANSU_SAVE, error);
}

/* command_insert -- the same with "insert". */
tansu_status command_insert(command *c, tansu_error *error) {
    return save(c, TANSU_INSERT, error);
}

/* command_remove -- by "query" or by "id". */
tansu_status command_remove(command *c, tansu_error *error) {
    const doc_value *query = &c->given[MEMBER_QUERY], *hints = &c->given[MEMBER_HINTS];
    int64_t removed = 0;
    tansu_status status;
    if (command_has(c, MEMBER_ID) == command_has(c, MEMBER_QUERY) ||
        (command_has(c, MEMBER_ID) && command_has(c, MEMBER_HINTS)))
        return error_set(error, TANSU_E_INVALID_COMMAND, "query",
                         "The operation \"remove\" needs \"query\" (an empty one removes all "
                         "documents) with optional \"hints\", or \"id\" alone");
    if (command_has(c, MEMBER_ID)) {
        tansu_buffer id = TANSU_BUFFER_INIT;
        int found = 0;
        status = id_document(c, &id)
                     ? tansu_remove_id(c->db, c->txn, collection_of(c),
                                       (tansu_document){id.data, id.size}, &found, error)
                     : error_memory(error);
        removed = found;
        tansu_buffer_free(&id);
    } else {
        status = tansu_remove(c->db, c->txn, collection_of(c), value_document(query),
                              value_document(hints), &removed, error);
    }
    return status == TANSU_OK ? command_put_count(c, ", \"removed\": ", removed, error) : status;
}

/* update_document -- the update: that of "update", or {"$pipeline": …} from its array, or
 * {"$replace": …} from "replace". */
static tansu_status update_document(const command *c, tansu_buffer *memory, tansu_document *update,
                                    tansu_error *error) {
    const doc_value *whole = &c->given[MEMBER_REPLACE], *given = &c->given[MEMBER_UPDATE];
    *update = value_document(given);
    if (given->type != DOC_MISSING && given->type != DOC_DOCUMENT && given->type != DOC_ARRAY)
        return error_set(error, TANSU_E_INVALID_COMMAND, "update",
                         "The member \"update\" must be an object, or an array of stages");
    if (!command_has(c, MEMBER_REPLACE) && given->type != DOC_ARRAY)
        return TANSU_OK;
    writer w = {.out = memory};
    size_t start = writer_begin(&w);
    if (given->type == DOC_ARRAY)
        writer_value(&w, "$pipeline", given);
    else
        writer_value(&w, "$replace", whole);
    writer_end(&w, start);
    *update = (tansu_document){memory->data, memory->size};
    return w.failed ? error_memory(error) : TANSU_OK;
}

/* command_update -- the documents that match "query", by "update", or the one, by "replace". */
tansu_status command_update(command *c, tansu_error *error) {
    const doc_value *query = &c->given[MEMBER_QUERY], *hints = &c->given[MEMBER_HINTS];
    tansu_buffer counts = TANSU_BUFFER_INIT, memory = TANSU_BUFFER_INIT;
    tansu_document update;
    if (command_has(c, MEMBER_UPDATE) == command_has(c, MEMBER_REPLACE))
        return error_set(
            error, TANSU_E_INVALID_COMMAND, "update",
            "The operation \"update\" needs \"update\", the operators, or \"replace\", "
            "the whole document");
    tansu_status status = update_document(c, &memory, &update, error);
    if (status == TANSU_OK)
        status = tansu_update(c->db, c->txn, collection_of(c), value_document(query), update,
                              value_document(hints), &counts, error);
    status = put_answer(c, status, &counts, error);
    tansu_buffer_free(&memory);
    return status;
}

/* modify_mode -- what findAndModify is to do, from "remove", "update" and "return". */
static tansu_status modify_mode(const command *c, tansu_modify_mode *mode, tansu_error *error) {
    bool removes = command_has(c, MEMBER_REMOVE) && doc_bool(&c->given[MEMBER_REMOVE]);
    const char *which = command_text(c, MEMBER_RETURN);
    bool after = which != NULL && strcmp(which, "after") == 0;
    int changes = (int)command_has(c, MEMBER_UPDATE) + (int)command_has(c, MEMBER_REPLACE);
    if (changes + (int)removes != 1 || (removes && which != NULL))
        return error_set(error, TANSU_E_INVALID_COMMAND, "update",
                         "The operation \"findAndModify\" needs \"update\" or \"replace\" with "
                         "optional \"return\", or \"remove\": true");
    if (which != NULL && !after && strcmp(which, "before") != 0)
        return error_set(error, TANSU_E_INVALID_COMMAND, "return",
                         "The member \"return\" must be \"before\" or \"after\"");
    *mode = removes ? TANSU_MODIFY_REMOVE
            : after ? TANSU_MODIFY_RETURN_AFTER
                    : TANSU_MODIFY_RETURN_BEFORE;
    return TANSU_OK;
}

/* command_find_and_modify -- the first match, as it was or is, or null. */
tansu_status command_find_and_modify(command *c, tansu_error *error) {
    const doc_value *query = &c->given[MEMBER_QUERY], *hints = &c->given[MEMBER_HINTS];
    tansu_buffer document = TANSU_BUFFER_INIT, memory = TANSU_BUFFER_INIT;
    tansu_modify_mode mode = TANSU_MODIFY_RETURN_BEFORE;
    tansu_document update;
    tansu_status status = modify_mode(c, &mode, error);
    if (status == TANSU_OK)
        status = update_document(c, &memory, &update, error);
    if (status == TANSU_OK)
        status = tansu_find_and_modify(c->db, c->txn, collection_of(c), value_document(query),
                                       update, value_document(hints), mode, &document, error);
    tansu_buffer_free(&memory);
    if (status == TANSU_OK && document.size != 0)
        status = command_put_document(c, ", \"document\": ", &document, error);
    else if (status == TANSU_OK)
        status = command_put(c, ", \"document\": null") ? TANSU_OK : error_memory(error);
    tansu_buffer_free(&document);
    return status;
}

/* ---- Reading ---- */

/* put_batches -- a list of the documents with "ids", null where there is none. */
static tansu_status put_batches(command *c, tansu_error *error) {
    const doc_value *ids = &c->given[MEMBER_IDS];
    tansu_buffer batch = TANSU_BUFFER_INIT;
    size_t count = 0, next = 0;
    doc_iter iter;
    for (doc_iter_value(&iter, ids); doc_iter_next(&iter);)
        count++;
    tansu_status status = command_put(c, ", \"documents\": [") ? TANSU_OK : error_memory(error);
    for (bool first = true; status == TANSU_OK && next < count;) {
        doc_value list;
        status = tansu_get_many(c->db, c->txn, collection_of(c), value_document(ids), next, &batch,
                                &next, error);
        if (status != TANSU_OK || !doc_find(batch.data, batch.size, "documents", 9, &list))
            break;
        for (doc_iter_value(&iter, &list); status == TANSU_OK && doc_iter_next(&iter);) {
            if ((!first && !command_put(c, ", ")) ||
                !json_write_value(c->answer, &iter.value, c->canonical))
                status = error_memory(error);
            first = false;
        }
    }
    if (status == TANSU_OK && !command_put(c, "]"))
        status = error_memory(error);
    tansu_buffer_free(&batch);
    return status;
}

/* get_several -- the same in one snapshot. */
static tansu_status get_several(command *c, tansu_error *error) {
    if (c->txn != NULL)
        return put_batches(c, error);
    tansu_status status = tansu_txn_begin(c->db, TANSU_TXN_READ, 0, &c->txn, error);
    if (status != TANSU_OK)
        return status;
    status = put_batches(c, error);
    tansu_txn_abort(c->txn);
    c->txn = NULL;
    return status;
}

/* command_get -- a document by its "id", or null; or several by their "ids". */
tansu_status command_get(command *c, tansu_error *error) {
    if (command_has(c, MEMBER_ID) == command_has(c, MEMBER_IDS))
        return error_set(error, TANSU_E_INVALID_COMMAND, "id",
                         "The operation \"get\" needs \"id\", or \"ids\" for several documents");
    if (command_has(c, MEMBER_IDS))
        return get_several(c, error);
    tansu_buffer id = TANSU_BUFFER_INIT, document = TANSU_BUFFER_INIT;
    tansu_status status = TANSU_E_MEMORY;
    if (id_document(c, &id))
        status = tansu_get(c->db, c->txn, collection_of(c), (tansu_document){id.data, id.size},
                           &document, error);
    else
        error_memory(error);
    if (status == TANSU_OK)
        status = command_put_document(c, ", \"document\": ", &document, error);
    else if (status == TANSU_E_NOT_FOUND)
        status = command_put(c, ", \"document\": null") ? TANSU_OK : error_memory(error);
    tansu_buffer_free(&id);
    tansu_buffer_free(&document);
    return status;
}

/* command_count -- how many documents match. */
tansu_status command_count(command *c, tansu_error *error) {
    const doc_value *query = &c->given[MEMBER_QUERY], *hints = &c->given[MEMBER_HINTS];
    int64_t count = 0;
    tansu_status status = tansu_count(c->db, c->txn, collection_of(c), value_document(query),
                                      value_document(hints), &count, error);
    return status == TANSU_OK ? command_put_count(c, ", \"count\": ", count, error) : status;
}

/* command_explain -- how a query was run. */
tansu_status command_explain(command *c, tansu_error *error) {
    const doc_value *query = &c->given[MEMBER_QUERY], *hints = &c->given[MEMBER_HINTS];
    tansu_buffer plan = TANSU_BUFFER_INIT;
    tansu_status status = tansu_explain(c->db, c->txn, collection_of(c), value_document(query),
                                        value_document(hints), &plan, error);
    if (status == TANSU_OK)
        status = command_put_document(c, ", \"plan\": ", &plan, error);
    tansu_buffer_free(&plan);
    return status;
}

/* command_distinct -- the different values of "path". */
tansu_status command_distinct(command *c, tansu_error *error) {
    const doc_value *query = &c->given[MEMBER_QUERY], *hints = &c->given[MEMBER_HINTS];
    tansu_buffer values = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_distinct(c->db, c->txn, collection_of(c), command_text(c, MEMBER_PATH),
                       value_document(query), value_document(hints), &values, error);
    return put_answer(c, status, &values, error);
}

/* command_aggregate -- the documents that "pipeline" makes, or groups and their aggregates, as
 * "group" says. */
tansu_status command_aggregate(command *c, tansu_error *error) {
    if (command_has(c, MEMBER_PIPELINE))
        return command_pipeline(c, error);
    if (!command_has(c, MEMBER_GROUP) || command_has(c, MEMBER_BATCH))
        return error_set(error, TANSU_E_INVALID_COMMAND,
                         command_has(c, MEMBER_GROUP) ? "batch" : "pipeline",
                         "The operation \"aggregate\" needs \"pipeline\", an array of stages, or "
                         "\"group\", which takes no \"batch\"");
    if (!command_has(c, MEMBER_COLLECTION))
        return error_set(error, TANSU_E_INVALID_COMMAND, "collection",
                         "The operation \"aggregate\" needs the member \"collection\", a text, "
                         "with \"group\"");
    const doc_value *query = &c->given[MEMBER_QUERY], *group = &c->given[MEMBER_GROUP],
                    *hints = &c->given[MEMBER_HINTS];
    tansu_buffer groups = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_aggregate(c->db, c->txn, collection_of(c), value_document(query),
                        value_document(group), value_document(hints), &groups, error);
    return put_answer(c, status, &groups, error);
}

/* ---- Indexes ---- */

/* put_index_name -- appends the name of the index in the request, or else the one derived from its
 * keys: path, direction or "text", and so on, with "_" between. */
static tansu_status put_index_name(command *c, tansu_error *error) {
    const char *given = command_text(c, MEMBER_NAME);
    tansu_buffer name = TANSU_BUFFER_INIT;
    doc_iter iter;
    int64_t direction;
    bool good = given == NULL || buffer_append(&name, given, strlen(given));
    bool valid = name.size == 0 && doc_iter_value(&iter, &c->given[MEMBER_KEYS]);
    while (good && valid && doc_iter_next(&iter)) {
        const char *end = iter.value.type == DOC_STRING                            ? "_text"
                          : doc_as_int64(&iter.value, &direction) && direction < 0 ? "_-1"
                                                                                   : "_1";
        good = (name.size == 0 || buffer_append_byte(&name, '_')) &&
               buffer_append(&name, iter.key, iter.key_size) &&
               buffer_append(&name, end, strlen(end));
    }
    good = good && command_put(c, ", \"name\": ") &&
           json_write_string(c->answer, (const char *)name.data, name.size);
    tansu_buffer_free(&name);
    return good ? TANSU_OK : error_memory(error);
}

/* command_create_index -- over "keys". */
tansu_status command_create_index(command *c, tansu_error *error) {
    const doc_value *keys = &c->given[MEMBER_KEYS], *options = &c->given[MEMBER_OPTIONS];
    tansu_status status =
        tansu_index_create(c->db, c->txn, collection_of(c), command_text(c, MEMBER_NAME),
                           value_document(keys), value_document(options), NULL, NULL, error);
    return status == TANSU_OK ? put_index_name(c, error) : status;
}

/* command_declare_index -- the same for each time that the collection is created. */
tansu_status command_declare_index(command *c, tansu_error *error) {
    const doc_value *keys = &c->given[MEMBER_KEYS], *options = &c->given[MEMBER_OPTIONS];
    tansu_status status =
        tansu_index_declare(c->db, c->txn, collection_of(c), command_text(c, MEMBER_NAME),
                            value_document(keys), value_document(options), NULL, NULL, error);
    return status == TANSU_OK ? put_index_name(c, error) : status;
}

/* command_drop_index -- by "name". */
tansu_status command_drop_index(command *c, tansu_error *error) {
    return tansu_index_drop(c->db, c->txn, collection_of(c), command_text(c, MEMBER_NAME), error);
}

/* command_indexes -- the list of indexes. */
tansu_status command_indexes(command *c, tansu_error *error) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    tansu_status status = tansu_index_list(c->db, c->txn, collection_of(c), &list, error);
    return put_answer(c, status, &list, error);
}

/* ---- Collections ---- */

/* command_create_collection -- unless it is there. */
tansu_status command_create_collection(command *c, tansu_error *error) {
    const doc_value *options = &c->given[MEMBER_OPTIONS];
    return tansu_collection_ensure(c->db, c->txn, collection_of(c), value_document(options), error);
}

/* command_set_validator -- the options of a collection that is there. */
tansu_status command_set_validator(command *c, tansu_error *error) {
    static const struct {
        const char *option;
        unsigned member;
    } given[] = {{"validator", MEMBER_VALIDATOR},
                 {"validationLevel", MEMBER_LEVEL},
                 {"validationAction", MEMBER_ACTION}};
    tansu_buffer buffer = TANSU_BUFFER_INIT;
    writer w = {.out = &buffer};
    bool any = false;
    size_t options = writer_begin(&w);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (command_has(c, given[i].member)) {
            writer_value(&w, given[i].option, &c->given[given[i].member]);
            any = true;
        }
    tansu_status status = writer_finish(&w, options) ? TANSU_OK : error_memory(error);
    if (status == TANSU_OK && !any)
        status = error_set(error, TANSU_E_INVALID_COMMAND, "validator",
                           "The operation \"setValidator\" needs \"validator\", "
                           "\"validationLevel\" or \"validationAction\"");
    tansu_buffer info = TANSU_BUFFER_INIT;
    if (status == TANSU_OK)
        status = tansu_collection_info(c->db, c->txn, collection_of(c), &info, error);
    tansu_buffer_free(&info);
    if (status == TANSU_OK)
        status = tansu_collection_ensure(c->db, c->txn, collection_of(c),
                                         (tansu_document){buffer.data, buffer.size}, error);
    tansu_buffer_free(&buffer);
    return status;
}

/* command_drop_collection -- with all that is in it. */
tansu_status command_drop_collection(command *c, tansu_error *error) {
    return tansu_collection_drop(c->db, c->txn, collection_of(c), error);
}

/* command_rename_collection -- to "to". */
tansu_status command_rename_collection(command *c, tansu_error *error) {
    return tansu_collection_rename(c->db, c->txn, collection_of(c), command_text(c, MEMBER_TO),
                                   error);
}

/* command_collections -- the list of collections. */
tansu_status command_collections(command *c, tansu_error *error) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    tansu_status status = tansu_collection_list(c->db, c->txn, &list, error);
    return put_answer(c, status, &list, error);
}

/* command_collection_info -- one of them. */
tansu_status command_collection_info(command *c, tansu_error *error) {
    tansu_buffer info = TANSU_BUFFER_INIT;
    tansu_status status = tansu_collection_info(c->db, c->txn, collection_of(c), &info, error);
    return put_answer(c, status, &info, error);
}

/* command_referrers -- the list of those with references to a collection. */
tansu_status command_referrers(command *c, tansu_error *error) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    tansu_status status = tansu_collection_referrers(c->db, c->txn, collection_of(c), &list, error);
    return put_answer(c, status, &list, error);
}

/* ---- Text ---- */

tansu_status command_analyze(command *c, tansu_error *error) {
    size_t size;
    tansu_buffer terms = TANSU_BUFFER_INIT;
    const char *text = doc_string(&c->given[MEMBER_TEXT], &size);
    tansu_status status =
        tansu_analyze(text, size, value_document(&c->given[MEMBER_OPTIONS]), &terms, error);
    return put_answer(c, status, &terms, error);
}

tansu_status command_highlight(command *c, tansu_error *error) {
    size_t size;
    tansu_buffer ranges = TANSU_BUFFER_INIT;
    const char *text = doc_string(&c->given[MEMBER_TEXT], &size);
    tansu_status status =
        tansu_highlight(text, size, value_document(&c->given[MEMBER_SEARCH]),
                        value_document(&c->given[MEMBER_OPTIONS]), &ranges, error);
    return put_answer(c, status, &ranges, error);
}

tansu_status command_complete(command *c, tansu_error *error) {
    size_t size;
    tansu_buffer words = TANSU_BUFFER_INIT;
    const char *text = doc_string(&c->given[MEMBER_TEXT], &size);
    tansu_status status = tansu_complete(c->db, c->txn, collection_of(c), text, size,
                                         value_document(&c->given[MEMBER_OPTIONS]), &words, error);
    return put_answer(c, status, &words, error);
}

tansu_status command_suggest(command *c, tansu_error *error) {
    size_t size;
    tansu_buffer words = TANSU_BUFFER_INIT;
    const char *text = doc_string(&c->given[MEMBER_TEXT], &size);
    tansu_status status = tansu_suggest(c->db, c->txn, collection_of(c), text, size,
                                        value_document(&c->given[MEMBER_OPTIONS]), &words, error);
    return put_answer(c, status, &words, error);
}

/* ---- The database ---- */

/* command_dangling_references -- finds or repairs references that lead to no document. */
tansu_status command_dangling_references(command *c, tansu_error *error) {
    const doc_value *options = &c->given[MEMBER_OPTIONS];
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_status status =
        tansu_dangling_references(c->db, c->txn, value_document(options), &result, error);
    return put_answer(c, status, &result, error);
}

/* put_document_of -- appends a member with the document of a call that succeeded, and frees that. */
static tansu_status put_document_of(command *c, tansu_status status, const char *member,
                                    tansu_buffer *report, tansu_error *error) {
    if (status == TANSU_OK)
        status = command_put_document(c, member, report, error);
    tansu_buffer_free(report);
    return status;
}

/* command_stats -- statistics. */
tansu_status command_stats(command *c, tansu_error *error) {
    tansu_buffer stats = TANSU_BUFFER_INIT;
    return put_document_of(c, tansu_stats(c->db, &stats, error), ", \"stats\": ", &stats, error);
}

/* command_storage -- what takes the space. */
tansu_status command_storage(command *c, tansu_error *error) {
    tansu_buffer storage = TANSU_BUFFER_INIT;
    return put_document_of(c, tansu_storage(c->db, &storage, error), ", \"storage\": ", &storage,
                           error);
}

/* command_refresh -- goes to the newest commit that another process made. */
tansu_status command_refresh(command *c, tansu_error *error) {
    int changed = 0;
    uint64_t sequence;
    tansu_status status = tansu_refresh(c->db, &changed, &sequence, error);
    if (status != TANSU_OK)
        return status;
    if (!command_put(c, changed ? ", \"changed\": true" : ", \"changed\": false"))
        return error_memory(error);
    return command_put_count(c, ", \"sequence\": ", (int64_t)sequence, error);
}

/* command_sync -- commits so far survive power loss. */
tansu_status command_sync(command *c, tansu_error *error) {
    return tansu_sync(c->db, error);
}

/* command_checkpoint -- the index files are brought up to date. */
tansu_status command_checkpoint(command *c, tansu_error *error) {
    return tansu_checkpoint(c->db, error);
}

/* command_verify -- everything that is stored is checked; of a corrupt database the report is a
 * member of the error. */
tansu_status command_verify(command *c, tansu_error *error) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_status status = tansu_verify(c->db, NULL, NULL, &report, error);
    if (status == TANSU_E_CORRUPT && report.size != 0) {
        c->fault->report = report;
        c->fault->canonical = c->canonical;
        return status;
    }
    if (status == TANSU_OK)
        status = command_put_document(c, ", \"report\": ", &report, error);
    tansu_buffer_free(&report);
    return status;
}

/* command_compact -- reclaims the space of removed documents. */
tansu_status command_compact(command *c, tansu_error *error) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_status status = tansu_compact(c->db, NULL, NULL, &report, error);
    if (status == TANSU_OK)
        status = command_put_document(c, ", \"report\": ", &report, error);
    tansu_buffer_free(&report);
    return status;
}

/* command_expire -- removes expired documents. */
tansu_status command_expire(command *c, tansu_error *error) {
    int64_t removed = 0;
    tansu_status status = tansu_expire(c->db, &removed, error);
    return status == TANSU_OK ? command_put_count(c, ", \"removed\": ", removed, error) : status;
}

/* read_key -- the key that a member is, which has nothing else. */
static tansu_status read_key(const command *c, unsigned member, const char *name, tansu_key *key,
                             tansu_error *error) {
    const doc_value *given = &c->given[member];
    tansu_options options;
    doc_iter iter;
    tansu_options_init(&options);
    doc_iter_value(&iter, given);
    while (doc_iter_next(&iter))
        if (strcmp(iter.key, "key") != 0 && strcmp(iter.key, "passphrase") != 0 &&
            strcmp(iter.key, "keyIterations") != 0)
            return error_set(error, TANSU_E_INVALID_COMMAND, name,
                             "A key is \"key\", or \"passphrase\" with \"keyIterations\"; there "
                             "are no other options");
    tansu_status status = options_parse(given->data, given->size, &options, error);
    *key = (tansu_key){.bytes = options.key,
                       .size = options.key_size,
                       .kind = options.key_kind,
                       .iterations = options.key_iterations};
    return status;
}

/* command_rekey -- replaces the key by that of "options"; with "everything" the data key as well. */
tansu_status command_rekey(command *c, tansu_error *error) {
    tansu_key key;
    tansu_status status = read_key(c, MEMBER_OPTIONS, "options", &key, error);
    if (status != TANSU_OK)
        return status;
    if (command_has(c, MEMBER_EVERYTHING) && doc_bool(&c->given[MEMBER_EVERYTHING]))
        return tansu_rekey_everything(c->db, &key, NULL, NULL, error);
    return tansu_rekey(c->db, &key, error);
}

/* ---- JSON commands that read or write files: backups, repair, copies, dumps ---- */

/* put_report -- the same for a report. */
static tansu_status put_report(command *c, tansu_status status, tansu_buffer *report,
                               tansu_error *error) {
    return put_document_of(c, status, ", \"report\": ", report, error);
}

/* command_backup -- to "to", as a folder or as one file. */
tansu_status command_backup(command *c, tansu_error *error) {
    const char *form = command_text(c, MEMBER_FORM), *to = command_text(c, MEMBER_TO);
    bool file = form != NULL && strcmp(form, "file") == 0;
    if (form != NULL && !file && strcmp(form, "folder") != 0)
        return error_set(error, TANSU_E_INVALID_COMMAND, "form",
                         "The member \"form\" must be \"folder\" or \"file\"");
    bool plain = command_has(c, MEMBER_PLAIN) && doc_bool(&c->given[MEMBER_PLAIN]);
    if (plain && command_has(c, MEMBER_KEY))
        return error_set(error, TANSU_E_INVALID_COMMAND, "plain",
                         "A backup that is not encrypted has no \"key\"");
    tansu_backup_form shape = file ? TANSU_BACKUP_FILE : TANSU_BACKUP_FOLDER;
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_key key;
    tansu_status status = TANSU_OK;
    if (plain)
        status = tansu_backup_plain(c->db, to, shape, NULL, NULL, &report, error);
    else if (!command_has(c, MEMBER_KEY))
        status = tansu_backup(c->db, to, shape, NULL, NULL, &report, error);
    else if ((status = read_key(c, MEMBER_KEY, "key", &key, error)) == TANSU_OK)
        status = tansu_backup_encrypted(c->db, to, shape, &key, NULL, NULL, &report, error);
    return put_report(c, status, &report, error);
}

tansu_status command_restore(command *c, tansu_error *error) {
    const char *from = command_text(c, MEMBER_FROM), *to = command_text(c, MEMBER_TO);
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_key key;
    tansu_status status = TANSU_OK;
    if (!command_has(c, MEMBER_KEY))
        status = tansu_restore(from, to, NULL, NULL, &report, error);
    else if ((status = read_key(c, MEMBER_KEY, "key", &key, error)) == TANSU_OK)
        status = tansu_restore_encrypted(from, to, &key, NULL, NULL, &report, error);
    return put_report(c, status, &report, error);
}

tansu_status command_repair(command *c, tansu_error *error) {
    const char *from = command_text(c, MEMBER_FROM), *to = command_text(c, MEMBER_TO);
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_key key;
    tansu_status status = TANSU_OK;
    if (!command_has(c, MEMBER_KEY))
        status = tansu_repair(from, to, NULL, NULL, &report, error);
    else if ((status = read_key(c, MEMBER_KEY, "key", &key, error)) == TANSU_OK)
        status = tansu_repair_encrypted(from, to, &key, NULL, NULL, &report, error);
    return put_report(c, status, &report, error);
}

/* command_clone -- into a new database at "to", which is closed again. */
tansu_status command_clone(command *c, tansu_error *error) {
    const doc_value *given = &c->given[MEMBER_OPTIONS];
    tansu_options options;
    tansu_db *copy = NULL;
    tansu_options_init(&options);
    tansu_status status = command_has(c, MEMBER_OPTIONS)
                              ? options_parse(given->data, given->size, &options, error)
                              : TANSU_OK;
    if (status == TANSU_OK && (options.path != NULL || options.store != TANSU_STORE_PERSISTENT))
        status = error_set(error, TANSU_E_INVALID_COMMAND, "options",
                           "A clone is a persistent database at \"to\"; leave out \"path\" and "
                           "\"store\"");
    options.path = command_text(c, MEMBER_TO);
    if (status == TANSU_OK)
        status = tansu_clone(c->db, &options, NULL, NULL, &copy, error);
    return status == TANSU_OK ? tansu_shutdown(copy, error) : status;
}

/* ---- Dumps ---- */

/* Where a dump is written. */
typedef struct dump_file {
    staging staged;
    uint64_t size;
    int fault; /* errno of a write that failed */
} dump_file;

/* write_dump -- a tansu_write_bytes. */
static int write_dump(void *context, const void *bytes, size_t size) {
    dump_file *f = context;
    if (fs_write_all(f->staged.calls, f->staged.fd, bytes, size, f->size) != 0) {
        f->fault = errno;
        return 0;
    }
    f->size += size;
    return 1;
}

/* command_dump -- to the new file "to". */
tansu_status command_dump(command *c, tansu_error *error) {
    const char *to = command_text(c, MEMBER_TO);
    tansu_buffer report = TANSU_BUFFER_INIT;
    dump_file f = {.size = 0};
    const tansu_document options = value_document(&c->given[MEMBER_OPTIONS]);
    bool keyed = command_has(c, MEMBER_KEY);
    tansu_key key;
    tansu_status status = staging_check_outside(to, db_inner(c->db)->files.folder, error);
    if (status == TANSU_OK && keyed)
        status = read_key(c, MEMBER_KEY, "key", &key, error);
    if (status != TANSU_OK)
        return status;
    status = staging_begin(&f.staged, &fs_system, to, false, error);
    if (status == TANSU_OK && keyed)
        status = tansu_dump_encrypted(c->db, c->txn, write_dump, &f, options, &key, NULL, NULL,
                                      &report, error);
    else if (status == TANSU_OK)
        status = tansu_dump(c->db, c->txn, write_dump, &f, options, NULL, NULL, &report, error);
    if (f.fault != 0)
        status = error_errno(error, to, "write", f.fault);
    if (status == TANSU_OK && f.staged.calls->sync(f.staged.fd, NULL, 0) != 0)
        status = error_errno(error, to, "sync", errno);
    if (status == TANSU_OK)
        status = staging_publish(&f.staged, error);
    staging_end(&f.staged);
    return put_report(c, status, &report, error);
}

/* Where a dump is read from. */
typedef struct load_file {
    int fd;
    off_t at;
    int fault; /* errno of a read that failed */
} load_file;

/* read_dump -- a tansu_read_bytes. */
static ptrdiff_t read_dump(void *context, void *bytes, size_t capacity) {
    load_file *f = context;
    ssize_t size = fs_system.read(f->fd, bytes, capacity, f->at);
    if (size < 0)
        f->fault = errno;
    else
        f->at += size;
    return size;
}

/* command_load -- from the file "from". */
tansu_status command_load(command *c, tansu_error *error) {
    const char *from = command_text(c, MEMBER_FROM);
    const tansu_document options = value_document(&c->given[MEMBER_OPTIONS]);
    bool keyed = command_has(c, MEMBER_KEY);
    tansu_key key;
    tansu_status status = keyed ? read_key(c, MEMBER_KEY, "key", &key, error) : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    tansu_buffer report = TANSU_BUFFER_INIT;
    load_file f = {.fd = fs_system.open(&fs_system, from, O_RDONLY, 0)};
    if (f.fd < 0 && errno == ENOENT)
        return error_set(error, TANSU_E_NOT_FOUND, from, "There is no file \"%s\" to load", from);
    if (f.fd < 0)
        return error_errno(error, from, "open", errno);
    status = keyed ? tansu_load_encrypted(c->db, read_dump, &f, options, &key, NULL, NULL, &report,
                                          error)
                   : tansu_load(c->db, read_dump, &f, options, NULL, NULL, &report, error);
    if (f.fault != 0)
        status = error_errno(error, from, "read", f.fault);
    fs_system.close(f.fd);
    return put_report(c, status, &report, error);
}
