/*
 * toolkit/trouble.h -- the nth file call, or the nth allocation, of the engine fails: for tests that try
 * every n in turn.
 *
 * File calls: open a database with `trouble_calls`. Allocations: those of the engine's own code, when
 * the test program was linked with the wrappers (CEngine/Makefile, TROUBLED_TESTS); libbson ends the
 * process when memory is exhausted, so its own are left alone. One set of orders for the whole program.
 */
#ifndef TOOLKIT_TROUBLE_H
#define TOOLKIT_TROUBLE_H

#include "base/fs.h"

typedef enum trouble_kind { TROUBLE_NONE, TROUBLE_FILES, TROUBLE_MEMORY } trouble_kind;

extern const fs trouble_calls;

/* trouble_start -- from now on the calls of that kind are counted from 1, and the one with the number
 * `nth` fails (0: none); `lasting`: all that follow it too. File calls fail with `number`. */
void trouble_start(trouble_kind kind, unsigned nth, bool lasting, int number);

/* trouble_start_burst -- the same with `length` calls in a row that fail. `half`: a read or write is done in part
 * by the first of them, as the system may do, and those behind it fail. */
void trouble_start_burst(trouble_kind kind, unsigned nth, unsigned length, bool half, int number);

/* trouble_pretend_syncs -- syncs that do not fail do nothing, for tests that make very many. */
void trouble_pretend_syncs(bool pretend);

/* trouble_stop -- nothing fails any more. Returns how many calls were counted. */
unsigned trouble_stop(void);

/* trouble_met -- whether a call was made to fail since trouble_start(). */
bool trouble_met(void);

/* trouble_allocated -- bytes that the engine has asked for so far, in a program with the wrappers. */
size_t trouble_allocated(void);

/* trouble_has_memory -- whether allocations can be made to fail in this program. */
bool trouble_has_memory(void);

#endif
