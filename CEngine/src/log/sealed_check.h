/*
 * log/sealed_check.h -- verifying the files of an encrypted database's segments.
 */
#ifndef TANSU_LOG_SEALED_CHECK_H
#define TANSU_LOG_SEALED_CHECK_H

#include "log/log.h"

/* Called for what is wrong: `size` bytes at an offset of the file; `what` is a sentence without its
 * full stop. */
typedef void (*sealed_fault)(void *context, uint64_t offset, uint64_t size, const char *what);

/*
 * sealed_check -- authenticates the file of a segment up to the end of an extent: the header, by the
 * one in memory and the table's; every block, by its tag and, where the image is in memory, by that;
 * and, if this process writes the database, what follows the blocks, but without a table
 * in the `last` one. `image`: the bytes of the segment (image_open()), of which
 * `decoded` tells that they come from the blocks. A file that does not exist any more, while another
 * process writes, is not checked. Errors: IO, MEMORY.
 */
tansu_status sealed_check(log *l, const log_extent *e, bool last, const uint8_t *image,
                          bool decoded, sealed_fault fault, void *context, tansu_error *error);

#endif
