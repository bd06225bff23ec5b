/*
 * check/repair/repair_index_files.h -- the index files as a second source of information: how far
 * the log reached, and which documents there were.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_INDEX_FILES_H
#define TANSU_CHECK_REPAIR_REPAIR_INDEX_FILES_H

#include "check/repair/repair_state.h"

/* repair_index_files_open -- copies the index files to `folder`, opens the copy, and raises
 * r->end_sequence to what they know of the log. Files that can't be copied or read are not used. */
void repair_index_files_open(repair *r, const char *folder);

/* repair_index_files_compare -- flags the locations of the documents with what the index files say
 * of them, and counts those that the log lost. Errors: MEMORY, CANCELLED. */
tansu_status repair_index_files_compare(repair *r, tansu_error *error);

/* repair_known_collection_find -- what the index files know of a collection; NULL: nothing. */
const repair_known_collection *repair_known_collection_find(const repair *r, uint32_t collection);

/* repair_index_files_close -- removes the copy. Errors: IO, MEMORY (the copy is still there). */
tansu_status repair_index_files_close(repair *r, const char *folder, tansu_error *error);

#endif
