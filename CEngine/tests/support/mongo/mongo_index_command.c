/*
 * support/mongo/mongo_index_command.c -- the commands of collections and indexes.
 */
#include "support/calls/document_of.h"
#include "support/check.h"
#include "support/mongo/mongo_command_internal.h"

#include <stdio.h>
#include <string.h>

/* count_indexes -- how many a collection has, the primary index included. */
static int32_t count_indexes(const mongo_call *c) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    bson_t all, indexes;
    int32_t count = 1;
    if (tansu_index_list(c->db, NULL, c->collection, &list, NULL) == TANSU_OK &&
        bson_init_static(&all, list.data, list.size) && member_document(&all, "indexes", &indexes))
        count += (int32_t)bson_count_keys(&indexes);
    tansu_buffer_free(&list);
    return count;
}

/* exists -- whether there is a collection. */
static bool exists(const mongo_call *c) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    bool is = tansu_index_list(c->db, NULL, c->collection, &list, NULL) == TANSU_OK;
    tansu_buffer_free(&list);
    return is;
}

/* has_words -- whether the keys are those of an index of words. */
static bool has_words(const bson_t *keys) {
    bson_iter_t iter;
    bool found = false;
    for (bson_iter_init(&iter, keys); !found && bson_iter_next(&iter);)
        found = BSON_ITER_HOLDS_UTF8(&iter) && strcmp(bson_iter_utf8(&iter, NULL), "text") == 0;
    return found;
}

/* put_languages -- the options of an index of words, with what MongoDB has without them. */
static void put_languages(bson_t *options, const bson_t *index) {
    mongo_copy(options, "weights", index, "weights");
    mongo_copy(options, "language", index, "default_language");
    mongo_copy(options, "languageField", index, "language_override");
    if (!bson_has_field(options, "language"))
        BSON_APPEND_UTF8(options, "language", "english");
    if (!bson_has_field(options, "languageField"))
        BSON_APPEND_UTF8(options, "languageField", "language");
}

/* create_index -- one index of createIndexes. */
static bool create_index(const mongo_call *c, const bson_t *index) {
    bson_t keys, options = BSON_INITIALIZER;
    bson_iter_t name, first;
    tansu_error error;
    REQUIRE(member_document(index, "key", &keys));
    mongo_copy(&options, "unique", index, "unique");
    mongo_copy(&options, "sparse", index, "sparse");
    mongo_copy(&options, "partialFilter", index, "partialFilterExpression");
    mongo_copy(&options, "expireAfterSeconds", index, "expireAfterSeconds");
    if (has_words(&keys))
        put_languages(&options, index);
    bool primary = bson_iter_init(&first, &keys) && bson_iter_next(&first) &&
                   strcmp(bson_iter_key(&first), "_id") == 0 && !bson_iter_next(&first);
    const char *text = mongo_given(index, "name", &name) && BSON_ITER_HOLDS_UTF8(&name)
                           ? bson_iter_utf8(&name, NULL)
                           : NULL;
    /* The primary index has always been there, without options. */
    tansu_status status = TANSU_OK;
    if (!primary || bson_has_field(&options, "expireAfterSeconds"))
        status = tansu_index_create(c->db, NULL, c->collection, text, document_of(&keys),
                                    document_of(&options), NULL, NULL, &error);
    bson_destroy(&options);
    return status == TANSU_OK || mongo_fail(c->reply, status, &error);
}

/* mongo_create_indexes -- createIndexes. */
void mongo_create_indexes(const mongo_call *c) {
    bson_t indexes, index;
    bson_iter_t iter;
    bool existed = exists(c);
    int32_t before = count_indexes(c);
    if (!member_document(c->command, "indexes", &indexes)) {
        c->reply->not_applicable = mongo_envelope;
        return;
    }
    for (bson_iter_init(&iter, &indexes); bson_iter_next(&iter);) {
        if (!iter_document(&iter, &index) || !create_index(c, &index))
            return;
    }
    int32_t after = count_indexes(c);
    BSON_APPEND_INT32(&c->reply->doc, "numIndexesBefore", before);
    BSON_APPEND_INT32(&c->reply->doc, "numIndexesAfter", after);
    if (!existed || bson_count_keys(&indexes) == 1)
        BSON_APPEND_BOOL(&c->reply->doc, "createdCollectionAutomatically", !existed);
    if (before == after)
        BSON_APPEND_UTF8(&c->reply->doc, "note", "all indexes already exist");
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
}

/* drop_index -- one index, by name or keys. */
static bool drop_index(const mongo_call *c, const bson_iter_t *which) {
    bson_t keys;
    char name[256] = "no such index";
    tansu_error error;
    if (BSON_ITER_HOLDS_UTF8(which)) {
        snprintf(name, sizeof name, "%s", bson_iter_utf8(which, NULL));
    } else if (BSON_ITER_HOLDS_DOCUMENT(which) && iter_document(which, &keys)) {
        (void)mongo_find_index(c, &keys, name, sizeof name);
    } else {
        c->reply->not_applicable = mongo_envelope;
        return false;
    }
    tansu_status status = tansu_index_drop(c->db, NULL, c->collection, name, &error);
    return status == TANSU_OK || mongo_fail(c->reply, status, &error);
}

/* drop_all -- all indexes but the primary index. */
static bool drop_all(const mongo_call *c) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    bson_t all, indexes, index;
    bson_iter_t iter, name;
    bool done = true;
    if (tansu_index_list(c->db, NULL, c->collection, &list, NULL) == TANSU_OK &&
        bson_init_static(&all, list.data, list.size) &&
        member_document(&all, "indexes", &indexes)) {
        for (bson_iter_init(&iter, &indexes); done && bson_iter_next(&iter);)
            done = iter_document(&iter, &index) && bson_iter_init_find(&name, &index, "name") &&
                   drop_index(c, &name);
    }
    tansu_buffer_free(&list);
    return done;
}

/* mongo_drop_indexes -- dropIndexes: "*", a name, keys, or an array of names. */
void mongo_drop_indexes(const mongo_call *c) {
    bson_iter_t which, iter;
    bson_t list;
    int32_t before = count_indexes(c);
    if (!bson_iter_init_find(&which, c->command, "index") || !exists(c)) {
        if (!exists(c) && bson_has_field(c->command, "index"))
            c->reply->failed = true;
        else
            c->reply->not_applicable = mongo_envelope;
        return;
    }
    bool done = true;
    if (BSON_ITER_HOLDS_UTF8(&which) && strcmp(bson_iter_utf8(&which, NULL), "*") == 0) {
        done = drop_all(c);
    } else if (BSON_ITER_HOLDS_ARRAY(&which) && iter_document(&which, &list)) {
        for (bson_iter_init(&iter, &list); done && bson_iter_next(&iter);)
            done = drop_index(c, &iter);
    } else {
        done = drop_index(c, &which);
    }
    if (!done)
        return;
    BSON_APPEND_INT32(&c->reply->doc, "nIndexesWas", before);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
}

/* put_index_description -- an index as listIndexes describes it. */
static void put_index_description(bson_t *batch, uint32_t number, const bson_t *index) {
    bson_t entry;
    char key[16];
    snprintf(key, sizeof key, "%u", number);
    bson_append_document_begin(batch, key, -1, &entry);
    BSON_APPEND_INT32(&entry, "v", 2);
    mongo_copy(&entry, "key", index, "keys");
    mongo_copy(&entry, "name", index, "name");
    bson_iter_t unique;
    if (mongo_given(index, "unique", &unique) && bson_iter_as_bool(&unique))
        BSON_APPEND_BOOL(&entry, "unique", true);
    mongo_copy(&entry, "sparse", index, "sparse");
    mongo_copy(&entry, "partialFilterExpression", index, "partialFilter");
    mongo_copy(&entry, "expireAfterSeconds", index, "expireAfterSeconds");
    bson_append_document_end(batch, &entry);
}

/* mongo_list_indexes -- listIndexes. */
void mongo_list_indexes(const mongo_call *c) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    bson_t all, indexes, index, cursor, batch,
        *primary = BCON_NEW("name", "_id_", "keys", "{", "_id", BCON_INT32(1), "}");
    bson_iter_t iter;
    tansu_error error;
    uint32_t number = 0;
    tansu_status status = tansu_index_list(c->db, NULL, c->collection, &list, &error);
    if (bson_has_field(c->command, "cursor")) {
        c->reply->not_applicable = "options of a server";
    } else if (status != TANSU_OK) {
        mongo_fail(c->reply, status, &error);
    } else {
        REQUIRE(bson_init_static(&all, list.data, list.size) &&
                member_document(&all, "indexes", &indexes));
        bson_append_document_begin(&c->reply->doc, "cursor", -1, &cursor);
        bson_append_array_begin(&cursor, "firstBatch", -1, &batch);
        put_index_description(&batch, number++, primary);
        for (bson_iter_init(&iter, &indexes); bson_iter_next(&iter);) {
            REQUIRE(iter_document(&iter, &index));
            put_index_description(&batch, number++, &index);
        }
        bson_append_array_end(&cursor, &batch);
        bson_append_document_end(&c->reply->doc, &cursor);
        BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    }
    tansu_buffer_free(&list);
    bson_destroy(primary);
}

/* set_options -- the collection with the options of a command, which have the same names here. */
static void set_options(const mongo_call *c) {
    tansu_error error;
    bson_t options = BSON_INITIALIZER;
    mongo_copy(&options, "validator", c->command, "validator");
    mongo_copy(&options, "validationLevel", c->command, "validationLevel");
    mongo_copy(&options, "validationAction", c->command, "validationAction");
    tansu_status status = tansu_collection_ensure(
        c->db, NULL, c->collection,
        bson_empty(&options) ? TANSU_NO_DOCUMENT : document_of(&options), &error);
    if (status != TANSU_OK)
        mongo_fail(c->reply, status, &error);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
    bson_destroy(&options);
}

/* mongo_create -- create. */
void mongo_create(const mongo_call *c) {
    set_options(c);
}

/* mongo_modify -- collMod, as far as it is about validators. */
void mongo_modify(const mongo_call *c) {
    bson_iter_t iter;
    for (bson_iter_init(&iter, c->command); bson_iter_next(&iter);) {
        const char *key = bson_iter_key(&iter);
        if (strcmp(key, "collMod") != 0 && strncmp(key, "valid", 5) != 0) {
            c->reply->not_applicable = "options of a server";
            return;
        }
    }
    set_options(c);
}

/* mongo_drop -- drop; a collection that does not exist is no error there. */
void mongo_drop(const mongo_call *c) {
    (void)tansu_collection_drop(c->db, NULL, c->collection, NULL);
    BSON_APPEND_DOUBLE(&c->reply->doc, "ok", 1);
}
