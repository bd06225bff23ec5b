/*
 * log/segment_name.h -- the names of segment files.
 */
#ifndef TANSU_LOG_SEGMENT_NAME_H
#define TANSU_LOG_SEGMENT_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* segment_name -- "log/00000001.seg", for messages. */
void segment_name(uint32_t number, char name[32]);

/* segment_file -- the path of a segment's file in the log's folder, in new memory; NULL when it is
 * exhausted. */
char *segment_file(const char *folder, uint32_t number);

/* segment_number -- the number in a segment file's name with that ending, such as ".seg"; false
 * when it is no such name. */
bool segment_number(const char *name, const char *ending, uint32_t *number);

#endif
