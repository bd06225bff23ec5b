/*
 * store/collection_options.c -- the kinds of options that a collection has.
 */
#include "store/collection_options.h"

#include "store/references/reference_list.h"
#include "store/timestamps/timestamp_fields.h"
#include "store/tracking/change_tracking.h"
#include "store/validators/validator.h"
#include "util/error.h"

const collection_option collection_options[OPTION_COUNT] = {
    [OPTION_REFERENCES] = {"references", reference_list_parse, reference_list_equal,
                           reference_list_write, reference_list_retire},
    [OPTION_TIMESTAMPS] = {"timestamps", timestamp_fields_parse, timestamp_fields_equal,
                           timestamp_fields_write, retire_memory},
    [OPTION_TRACKING] = {"changeTracking", change_tracking_parse, change_tracking_equal,
                         change_tracking_write, retire_memory},
    [OPTION_VALIDATOR] = {"validator", validator_parse, validator_equal, validator_write,
                          validator_free},
    [OPTION_VALIDATION] = {"validationLevel", validation_parse, validation_equal, validation_write,
                           retire_memory},
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
