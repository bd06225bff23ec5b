/*
 * query/pipeline/needed_fields.h -- the fields that the stages after a stage read, so that one that
 * keeps documents need not keep the others.
 */
#ifndef TANSU_QUERY_PIPELINE_NEEDED_FIELDS_H
#define TANSU_QUERY_PIPELINE_NEEDED_FIELDS_H

#include "query/pipeline/pipeline_internal.h"

/* needed_fields_find -- sets s->needed of a stage that is linked; NULL: all fields. Errors: MEMORY. */
tansu_status needed_fields_find(stage *s);

/* needed_fields_take -- the fields of a document that are needed, in s->out; all: the document itself.
 * Errors: MEMORY. */
tansu_status needed_fields_take(stage *s, doc_value *doc);

#endif
