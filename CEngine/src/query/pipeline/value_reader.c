/*
 * query/pipeline/value_reader.c -- finding out which expressions are plain fields.
 */
#include "query/pipeline/value_reader.h"

#include <string.h>

tansu_status value_reader_init(stage *s, const expression *e, value_reader *result) {
    const char *text = expression_field(e);
    *result = (value_reader){.expression = e};
    /* What is special in the paths of queries is not in those of expressions. */
    if (!text || strpbrk(text, "\\*"))
        return TANSU_OK;
    tansu_status status = path_parse(&result->path, &s->p->memory, text, strlen(text), s->p->error);
    if (status != TANSU_OK || path_has_positions(&result->path))
        return status;
    result->trail = stage_alloc(s, sizeof *result->trail);
    if (!result->trail)
        return TANSU_E_MEMORY;
    trail_begin(result->trail, result);
    return TANSU_OK;
}
