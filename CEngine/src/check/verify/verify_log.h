/*
 * check/verify/verify_log.h -- verifying the log: every frame and record up to the snapshot.
 */
#ifndef TANSU_CHECK_VERIFY_VERIFY_LOG_H
#define TANSU_CHECK_VERIFY_VERIFY_LOG_H

#include "check/verify/verify_state.h"

/* verify_log -- checks checksums, the order of commits, records, and that the location table knows
 * each record or a newer one. Errors: IO, MEMORY, CANCELLED. */
tansu_status verify_log(verification *c, tansu_error *error);

/* verify_in_corrupt_range -- whether a location lies in a corrupt range of the log, where no
 * checksum protects a record. verify_log() has run before. */
bool verify_in_corrupt_range(const verification *c, log_location location);

#endif
