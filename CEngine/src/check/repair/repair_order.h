/*
 * check/repair/repair_order.h -- which runs of a segment lie where they were written.
 */
#ifndef TANSU_CHECK_REPAIR_REPAIR_ORDER_H
#define TANSU_CHECK_REPAIR_REPAIR_ORDER_H

#include "check/repair/repair_state.h"

/* repair_split_runs -- splits the runs of the last segment that was read, of which `bytes` are the
 * content, where a misdirected write may have joined frames. Errors: MEMORY. */
tansu_status repair_split_runs(repair *r, repair_segment *s, const uint8_t *bytes,
                               tansu_error *error);

/* repair_order_runs -- sets `in_order` of a segment's runs. `bound`: the last commit that the
 * segment may hold. Errors: MEMORY. */
tansu_status repair_order_runs(repair *r, repair_segment *s, uint64_t bound, tansu_error *error);

#endif
