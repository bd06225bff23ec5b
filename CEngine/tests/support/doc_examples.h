/*
 * support/doc_examples.h -- runs the examples of a page of the documentation.
 *
 * An example is two lines inside of a fence that begins with ```json. The first is "> " and a
 * request, the second the whole answer, in which "…" stands for anything. A request is a command in
 * JSON form, or in short a query: a collection's name, a query and, if need be, hints, with the ids
 * of the matches as the answer:
 *
 *     > people {"age": {"$gt": 30}} {"$max": 2}
 *     ["Ada", "Grace"]
 */
#ifndef SUPPORT_DOC_EXAMPLES_H
#define SUPPORT_DOC_EXAMPLES_H

#include "tansu.h"

#include <stddef.h>

/* examples_ask -- runs a request; its answer must match, and the status of a command must be the
 * one that the answer names. */
void examples_ask(tansu_db *db, const char *request, const char *expected);

/* examples_run -- every example of a page (a path from the repository's root), in order, in one new
 * database. Returns how many there were. A missing page ends the program with a
 * failure. */
unsigned examples_run(const char *page);

#endif
