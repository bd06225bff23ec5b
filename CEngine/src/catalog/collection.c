/*
 * catalog/collection.c -- making, copying and freeing versions and collection states.
 */
#include "catalog/collection.h"

#include "base/doc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

tansu_status collection_new(uint32_t id, const char *name, bool local, cabinet *cab, uint64_t epoch,
                            collection_state **result, tansu_error *error) {
    collection_state *state = calloc(1, sizeof *state);
    if (state == NULL)
        return error_memory(error);
    state->epoch = epoch;
    state->id = id;
    state->local = local;
    size_t length = strlen(name);
    memcpy(state->name, name, length < TANSU_MAX_NAME ? length : TANSU_MAX_NAME);
    tansu_status status = places_new(id, cab, 0, &state->places, error);
    if (status != TANSU_OK) {
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
    }
    return copy;
}

void collection_release(tree_store *trees, collection_state *state) {
    tree_release(trees, &state->ids);
    for (uint32_t i = 0; i < state->index_count; i++) {
        tree_release(trees, &state->indexes[i].entries);
        index_definition_free((index_definition *)state->indexes[i].definition);
    }
    places_free(state->places);
    free(state);
}

version *version_new(uint32_t room) {
    version *v = calloc(1, sizeof *v);
    if (v == NULL)
        return NULL;
    v->collections = malloc((room == 0 ? 1 : room) * sizeof *v->collections);
    if (v->collections == NULL) {
        free(v);
        return NULL;
    }
    return v;
}

void version_free(version *v) {
    free(v->collections);
    free(v);
}

uint32_t version_slot(const version *v, const char *name, bool *found) {
    uint32_t low = 0, high = v->count;
    *found = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(v->collections[middle]->name, name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

tansu_status name_check(const char *name, const char *what, tansu_error *error) {
    if (name == NULL || name[0] == 0)
        return error_set(error, TANSU_E_INVALID_NAME, what, "the %s's name is empty", what);
    size_t length = strlen(name);
    if (length > TANSU_MAX_NAME)
        return error_set(error, TANSU_E_INVALID_NAME, what,
                         "the %s's name is %zu bytes long: at most %d are allowed", what, length,
                         TANSU_MAX_NAME);
    if (utf8_valid((const uint8_t *)name, length) != length)
        return error_set(error, TANSU_E_INVALID_NAME, what, "the %s's name is not valid UTF-8",
                         what);
    if (name[0] == '$')
        return error_set(error, TANSU_E_INVALID_NAME, name, "a %s's name must not begin with '$'",
                         what);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F)
            return error_set(error, TANSU_E_INVALID_NAME, what,
                             "the %s's name holds a control character", what);
    return TANSU_OK;
}
