/*
 * query/exec/key_sorter.h -- records in the order of their keys, for $orderby and the stages that sort.
 *
 * When only the first few are wanted, a heap keeps those; it also keeps the records of a sort that
 * has few. Otherwise, and when these exceed the memory limit, external_sort takes all.
 */
#ifndef TANSU_QUERY_EXEC_KEY_SORTER_H
#define TANSU_QUERY_EXEC_KEY_SORTER_H

#include "query/exec/external_sort.h"

typedef struct key_sorter key_sorter;

/* key_sorter_new -- `keep` records are wanted, UINT64_MAX: all. NULL when memory is exhausted. */
key_sorter *key_sorter_new(const external_sort_options *how, uint64_t keep);

/* key_sorter_free -- NULL is allowed. */
void key_sorter_free(key_sorter *s);

/* key_sorter_add -- adds a record and copies its bytes. Records with equal keys are in the order of
 * their tie-breakers. Errors: MEMORY, TOO_LARGE, IO, FULL, TIMEOUT, CANCELLED. */
tansu_status key_sorter_add(key_sorter *s, const sort_record *record, tansu_error *error);

/* key_sorter_next -- the next of the records that are wanted, valid until the next call; the first
 * call sorts. TANSU_DONE at the end, when the memory of the records is freed. Errors: as above. */
tansu_status key_sorter_next(key_sorter *s, sort_record *record, tansu_error *error);

/* key_sorter_finish -- sorts now. Errors: as above. */
tansu_status key_sorter_finish(key_sorter *s, tansu_error *error);

/* key_sorter_spilled -- bytes written to temporary files. */
uint64_t key_sorter_spilled(const key_sorter *s);

#endif
