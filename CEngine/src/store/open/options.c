/*
 * store/open/options.c -- the options of a database: their defaults and their limits.
 */
#include "store/open/options.h"

#include "util/error.h"

#include <stddef.h>
#include <string.h>

/* The options of the first version of the library ended before this field. */
#define OPTIONS_LEAST offsetof(tansu_options, compaction_percent)

#define SEGMENT_LEAST ((uint64_t)1024 * 1024)
#define SEGMENT_MOST ((uint64_t)1024 * 1024 * 1024)
#define QUERY_MEMORY_MOST ((uint64_t)1 << 40)

void options_set_defaults(tansu_options *options) {
    *options = (tansu_options){.struct_size = sizeof *options,
                               .store = TANSU_STORE_PERSISTENT,
                               .durability = TANSU_DURABILITY_FULL,
                               .interval_ms = 100,
                               .busy_timeout_ms = 60000,
                               .segment_size = (uint64_t)64 << 20,
                               .checkpoint_bytes = (uint64_t)64 << 20,
                               .index_cache_bytes = (uint64_t)64 << 20,
                               .sort_memory_bytes = (uint64_t)100 << 20,
                               .group_memory_bytes = (uint64_t)256 << 20,
                               .compaction_percent = 50,
                               .compaction_share = 25,
                               .block_cache_bytes = (uint64_t)32 << 20};
}

tansu_status options_complete(const tansu_options *given, tansu_options *whole,
                              tansu_error *error) {
    options_set_defaults(whole);
    if (given->struct_size < OPTIONS_LEAST)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "options",
                         "The options were not initialized; call tansu_options_init() first");
    if (given->struct_size > sizeof *whole)
        return error_set(error, TANSU_E_INVALID_ARGUMENT, "options",
                         "The options are of a newer header than this library; update the library");
    memcpy(whole, given, given->struct_size);
    whole->struct_size = sizeof *whole;
    return TANSU_OK;
}

tansu_status options_check(const tansu_options *o, tansu_error *error) {
    const char *wrong = NULL;
    if ((unsigned)o->store > TANSU_STORE_MEMORY)
        wrong = "The option \"store\" is invalid; use a value of tansu_store";
    else if ((unsigned)o->durability > TANSU_DURABILITY_INTERVAL)
        wrong = "The option \"durability\" is invalid; use a value of tansu_durability";
    else if (o->store == TANSU_STORE_PERSISTENT && (o->path == NULL || o->path[0] == 0))
        wrong =
            "The option \"path\" is empty; name the database's folder, or choose a memory store";
    else if (o->follow && !o->allow_writer)
        wrong = "The option \"follow\" is for databases that are opened with \"allow_writer\"";
    else if ((o->read_only || o->allow_writer) && o->store != TANSU_STORE_PERSISTENT)
        wrong = "Only a persistent store can be opened read-only";
    else if (o->segment_size < SEGMENT_LEAST || o->segment_size > SEGMENT_MOST)
        wrong = "The option \"segment_size\" must be from 1 MiB to 1 GiB";
    else if (o->durability == TANSU_DURABILITY_INTERVAL && o->interval_ms == 0)
        wrong = "The option \"interval_ms\" must be at least 1";
    else if ((unsigned)o->read_mode > TANSU_READ_UNGUARDED)
        wrong = "The option \"read_mode\" is invalid; use a value of tansu_read_mode";
    else if (o->compaction_percent > 100)
        wrong = "The option \"compaction_percent\" must be from 0 to 100";
    else if (o->compaction_share == 0 || o->compaction_share > 100)
        wrong = "The option \"compaction_share\" must be from 1 to 100";
    else if (o->sort_memory_bytes < TANSU_MIN_QUERY_MEMORY ||
             o->sort_memory_bytes > QUERY_MEMORY_MOST)
        wrong = "The option \"sort_memory_bytes\" must be from 64 KiB to 1 TiB";
    else if (o->group_memory_bytes < TANSU_MIN_QUERY_MEMORY ||
             o->group_memory_bytes > QUERY_MEMORY_MOST)
        wrong = "The option \"group_memory_bytes\" must be from 64 KiB to 1 TiB";
    return wrong == NULL ? TANSU_OK
                         : error_set(error, TANSU_E_INVALID_ARGUMENT, "options", "%s", wrong);
}
