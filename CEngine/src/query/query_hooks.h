/*
 * query/query_hooks.h -- what lower parts call of the query parts.
 */
#ifndef TANSU_QUERY_QUERY_HOOKS_H
#define TANSU_QUERY_QUERY_HOOKS_H

#include "index/definition.h"

/* For database_open() and index_definition_compile(). */
extern const query_hooks engine_query_hooks;

#endif
