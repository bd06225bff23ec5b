/*
 * query/exec/write_slice.h -- writes a part of an array.
 */
#ifndef TANSU_QUERY_EXEC_WRITE_SLICE_H
#define TANSU_QUERY_EXEC_WRITE_SLICE_H

#include "bson/writer.h"
#include "query/parse/projection.h"

/* write_slice -- appends an element with some elements of its array, renumbered. */
void write_slice(writer *w, const array_slice *slice, const doc_iter *element);

#endif
