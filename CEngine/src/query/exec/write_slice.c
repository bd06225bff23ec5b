/*
 * query/exec/write_slice.c -- writes a part of an array.
 */
#include "query/exec/write_slice.h"

/* count_elements -- how many elements an array has. */
static int64_t count_elements(const doc_value *array) {
    doc_iter iter;
    int64_t count = 0;
    for (bool valid = doc_iter_value(&iter, array); valid && doc_iter_next(&iter);)
        count++;
    return count;
}

void write_slice(writer *w, const array_slice *slice, const doc_iter *element) {
    int64_t size = slice->skip < 0 ? count_elements(&element->value) : 0;
    int64_t skip = slice->skip >= 0 ? slice->skip : size + slice->skip < 0 ? 0 : size + slice->skip;
    uint32_t taken = 0;
    doc_iter iter;
    writer_head(w, DOC_ARRAY, element->key, element->key_size);
    size_t start = writer_begin(w);
    bool valid = doc_iter_value(&iter, &element->value);
    for (int64_t i = 0; valid && (int64_t)taken < slice->count && doc_iter_next(&iter); i++) {
        if (i >= skip)
            writer_index_value(w, taken++, &iter.value);
    }
    writer_end(w, start);
}
