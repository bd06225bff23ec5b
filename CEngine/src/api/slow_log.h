/*
 * api/slow_log.h -- measures operations and passes the slow ones to options.log. Without a function
 * to call, an operation costs one comparison more.
 */
#ifndef TANSU_API_SLOW_LOG_H
#define TANSU_API_SLOW_LOG_H

#include "api/handles.h"
#include "util/clock.h"

/* slow_log_set -- takes over the options of a database that is being opened. */
void slow_log_set(database *db, const tansu_options *options);

/* slow_log_begin -- starts the clock for an operation, if there is a function to call. `db` may be
 * NULL. */
static inline slow_log slow_log_begin(const tansu_db *db) {
    if (db == NULL || db->inner.slow_log.function == NULL)
        return (slow_log){.function = NULL};
    slow_log timer = {db->inner.slow_log.function, db->inner.slow_log.context,
                      db->inner.slow_log.milliseconds, clock_now()};
    return timer;
}

/* slow_log_report -- calls the function if `nanoseconds` are over the limit. `query`: {NULL, 0} for
 * an operation without one. */
void slow_log_report(const slow_log *timer, uint64_t nanoseconds, tansu_log_kind kind,
                     tansu_status status, const char *collection, tansu_document query);

/* slow_log_end -- stops the clock. Returns the status. */
static inline tansu_status slow_log_end(const slow_log *timer, tansu_log_kind kind,
                                        tansu_status status, const char *collection,
                                        tansu_document query) {
    if (timer->function != NULL)
        slow_log_report(timer, clock_now() - timer->began, kind, status, collection, query);
    return status;
}

#endif
