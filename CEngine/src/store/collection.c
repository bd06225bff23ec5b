/*
 * store/collection.c -- creating, copying and freeing collection states.
 */
#include "store/collection.h"
#include "store/collection_options.h"

#include "bson/document.h"
#include "log/compressed/codec.h"
#include "util/error.h"
#include "util/utf8.h"

#include <stdlib.h>
#include <string.h>

collection_name *collection_name_new(uint32_t id, const char *text, size_t length) {
    if (length > TANSU_MAX_NAME)
        length = TANSU_MAX_NAME;
    collection_name *named = malloc(sizeof *named + length + 1);
    if (named != NULL) {
        named->id = id;
        memcpy(named->text, text, length);
        named->text[length] = 0;
    }
    return named;
}

void collection_write_options(const collection_state *state, writer *w) {
    if (state->codec != CODEC_NONE)
        writer_string(w, "compression", codec_name(state->codec));
    collection_options_write(state, w);
}

/* What a collection takes in other places: its bytes by segment, its part of the catalog's pages,
 * and what the allocator adds. */
#define ELSEWHERE 384u

void collection_count(const collection_state *state, tree_store *trees) {
    locations_count(state->locations, trees,
                    ELSEWHERE + sizeof *state + state->index_count * sizeof state->indexes[0] +
                        sizeof *state->named + strlen(state->name) + 1);
}

tansu_status collection_new(uint32_t id, const char *name, bool local, block_store *bs,
                            uint64_t epoch, collection_state **result, tansu_error *error) {
    collection_state *state = calloc(1, sizeof *state);
    collection_name *named = collection_name_new(id, name, strlen(name));
    if (state == NULL || named == NULL) {
        free(state);
        free(named);
        return error_memory(error);
    }
    state->epoch = epoch;
    state->id = id;
    state->local = local;
    collection_set_name(state, named);
    tansu_status status = locations_new(id, bs, 0, &state->locations, error);
    if (status != TANSU_OK) {
        free(named);
        free(state);
        return status;
    }
    *result = state;
    return TANSU_OK;
}

collection_state *collection_copy(const collection_state *state, uint32_t extra, uint64_t epoch) {
    size_t used = sizeof *state + state->index_count * sizeof state->indexes[0];
    collection_state *copy = malloc(used + extra * sizeof state->indexes[0]);
    if (copy != NULL) {
        memcpy(copy, state, used);
        copy->epoch = epoch;
        copy->backlog = NULL;
        copy->current = NULL;
    }
    return copy;
}

void collection_release(void *trees, void *released) {
    collection_state *state = released;
    tree_release(trees, &state->ids);
    for (uint32_t i = 0; i < state->index_count; i++) {
        tree_release(trees, &state->indexes[i].entries);
        index_definition_free((index_definition *)state->indexes[i].definition);
    }
    locations_free(state->locations);
    for (int i = 0; i < OPTION_COUNT; i++)
        collection_options[i].free(NULL, (void *)state->options[i]);
    free(state->named);
    free(state);
}

uint32_t collection_words(const collection_state *state) {
    for (uint32_t i = 0; i < state->index_count; i++)
        if (state->indexes[i].definition->text != NULL)
            return i + 1;
    return 0;
}

/* ---- Which names collections and indexes may have ---- */

tansu_status name_check(const char *name, const char *what, tansu_error *error) {
    if (name == NULL)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, what,
                         "The name of the %s is NULL; give it one", what);
    if (name[0] == 0)
        return error_set(error, TANSU_E_INVALID_NAME, what,
                         "The name of the %s is empty; give it one", what);
    size_t length = strlen(name);
    if (length > TANSU_MAX_NAME)
        return error_set(error, TANSU_E_INVALID_NAME, what,
                         "The name of the %s has %zu bytes; use at most %d", what, length,
                         TANSU_MAX_NAME);
    if (utf8_valid((const uint8_t *)name, length) != length)
        return error_set(error, TANSU_E_INVALID_NAME, what,
                         "The name of the %s is not valid UTF-8; choose another name", what);
    if (name[0] == '$')
        return error_set(error, TANSU_E_INVALID_NAME, name,
                         "The name of the %s begins with \"$\"; choose another name", what);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F)
            return error_set(error, TANSU_E_INVALID_NAME, what,
                             "The name of the %s contains a control character; choose another name",
                             what);
    return TANSU_OK;
}
