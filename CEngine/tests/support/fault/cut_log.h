/*
 * support/fault/cut_log.h -- a database of which a segment is cut while it is open: the pages after
 * the cut raise the same SIGBUS as those of a device that fails (tests/device/ has one).
 */
#ifndef SUPPORT_CUT_LOG_H
#define SUPPORT_CUT_LOG_H

#include "tansu.h"

/* Documents of 4 kB: some 250 to a segment of 1 MiB. */
#define CUT_LOG_DOCUMENTS 1000
#define CUT_LOG_FILLING 4000

/* A segment in the middle, and the page up to which it is cut. */
#define CUT_LOG_SEGMENT "log/00000002.seg"
#define CUT_LOG_AT 65536

/* How many documents lie after the cut, less those in the page that the cut went through. */
#define CUT_LOG_LOST_LEAST 200
#define CUT_LOG_LOST_MOST 260

/* cut_log_save -- a document whose every value follows from its number, in the collection "c". */
tansu_status cut_log_save(tansu_db *db, tansu_txn *txn, int number);

/* cut_log_check_document -- checks that a document that was read is the one that was saved. */
void cut_log_check_document(const void *data, size_t size, int number);

/* cut_log_database -- a closed database of several segments, all on the disk; folder_end() ends
 * it. */
char *cut_log_database(void);

/* cut_log_open -- opens it and cuts a segment. */
tansu_db *cut_log_open(const char *folder, const char *segment, uint64_t at);

/* cut_log_get -- one document by its `_id`, checked when it is there. */
tansu_status cut_log_get(tansu_db *db, tansu_txn *txn, int number, tansu_buffer *result);

/* cut_log_count_lost -- how many documents can't be read: each is checked to be an IO error at
 * the cut of CUT_LOG_SEGMENT. Those that can be read are right. */
int cut_log_count_lost(tansu_db *db, tansu_txn *txn);

#endif
