/*
 * store/collection_options.c -- the kinds of options that a collection has.
 */
#include "store/collection_options.h"

#include "store/references/reference_list.h"
#include "store/timestamps/timestamp_fields.h"
#include "store/tracking/change_tracking.h"
#include "store/validators/validator.h"
#include "util/error.h"

#include <stdlib.h>

/* ---- References ---- */

static tansu_status references_parse(const doc_value *value, void **option, tansu_error *error) {
    reference_list *list = NULL;
    tansu_status status = reference_list_parse(value, &list, error);
    *option = list;
    return status;
}
static bool references_equal(const void *a, const void *b) {
    return reference_list_equal(a, b);
}
static void references_write(const void *option, writer *w) {
    reference_list_write(option, w);
}

/* ---- Timestamps ---- */

static tansu_status timestamps_parse(const doc_value *value, void **option, tansu_error *error) {
    timestamp_fields *fields = NULL;
    tansu_status status = timestamp_fields_parse(value, &fields, error);
    *option = fields;
    return status;
}
static bool timestamps_equal(const void *a, const void *b) {
    return timestamp_fields_equal(a, b);
}
static void timestamps_write(const void *option, writer *w) {
    timestamp_fields_write(option, w);
}

/* ---- Change tracking ---- */

static tansu_status tracking_parse(const doc_value *value, void **option, tansu_error *error) {
    change_tracking *tracking = NULL;
    tansu_status status = change_tracking_parse(value, &tracking, error);
    *option = tracking;
    return status;
}
static bool tracking_equal(const void *a, const void *b) {
    return change_tracking_equal(a, b);
}
static void tracking_write(const void *option, writer *w) {
    change_tracking_write(option, w);
}

/* ---- Validators ---- */

static tansu_status validators_parse(const doc_value *value, void **option, tansu_error *error) {
    validator *v = NULL;
    tansu_status status = validator_parse(value, &v, error);
    *option = v;
    return status;
}
static bool validators_equal(const void *a, const void *b) {
    return validator_equal(a, b);
}
static void validators_write(const void *option, writer *w) {
    validator_write(option, w);
}

const collection_option collection_options[OPTION_COUNT] = {
    [OPTION_REFERENCES] = {"references", references_parse, references_equal, references_write,
                           reference_list_retire},
    [OPTION_TIMESTAMPS] = {"timestamps", timestamps_parse, timestamps_equal, timestamps_write,
                           retire_memory},
    [OPTION_TRACKING] = {"changeTracking", tracking_parse, tracking_equal, tracking_write,
                         retire_memory},
    [OPTION_VALIDATOR] = {"validator", validators_parse, validators_equal, validators_write,
                          validator_free},
};

void collection_options_write(const collection_state *state, writer *w) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (state->options[i] != NULL)
            collection_options[i].write(state->options[i], w);
}

tansu_status collection_option_copy(const collection_state *state, enum option_number number,
                                    void **option, tansu_error *error) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    writer w = {.out = &bson};
    doc_iter iter;
    *option = NULL;
    size_t start = writer_begin(&w);
    collection_options[number].write(state->options[number], &w);
    bool written = writer_finish(&w, start) && doc_iter_init(&iter, bson.data, bson.size) &&
                   doc_iter_next(&iter);
    tansu_status status = written ? collection_options[number].parse(&iter.value, option, error)
                                  : error_memory(error);
    tansu_buffer_free(&bson);
    return status;
}
