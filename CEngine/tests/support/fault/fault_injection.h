/*
 * support/fault/fault_injection.h -- fault injection: the nth file call, or the nth allocation,
 * of the engine fails. Tests try every n.
 *
 * File calls: open a database with `fault_fs`. Allocations: those of the engine's own code, when
 * the test program is linked with the wrappers (CEngine/Makefile, FAULT_INJECTION_TESTS). libbson
 * ends the process when memory is exhausted, so that its allocations never fail here. The state
 * is shared by the whole program.
 */
#ifndef SUPPORT_FAULT_INJECTION_H
#define SUPPORT_FAULT_INJECTION_H

#include "util/fs.h"

/* FAULT_OWN_MEMORY: the allocations of the thread that calls fault_start(), for calls that are done in
 * one; those of a thread in the background, which may begin late, are not counted. */
typedef enum fault_kind { FAULT_NONE, FAULT_FILES, FAULT_MEMORY, FAULT_OWN_MEMORY } fault_kind;

extern const fs fault_fs;

/* fault_start -- from now on the calls of that kind are counted from 1, and the one with the number
 * `nth` fails (0: none); `lasting`: all that follow it too. File calls fail with `number`. */
void fault_start(fault_kind kind, unsigned nth, bool lasting, int number);

/* fault_start_burst -- the same with `length` calls in a row that fail. `half`: a read or write
 * is done in part by the first of them, as the system may do, and those after it fail. */
void fault_start_burst(fault_kind kind, unsigned nth, unsigned length, bool half, int number);

/* fault_skip_syncs -- syncs that do not fail do nothing, for tests that make very many. */
void fault_skip_syncs(bool pretend);

/* fault_stop -- nothing fails any more. Returns how many calls were counted. */
unsigned fault_stop(void);

/* fault_occurred -- whether a call was made to fail since fault_start(). */
bool fault_occurred(void);

/* fault_allocated -- bytes that the engine has asked for so far, in a program with the wrappers. */
size_t fault_allocated(void);

/* fault_memory_mark -- from now on the bytes that the engine has allocated and not freed are
 * counted, in a program with the wrappers and that of free(). fault_memory_peak -- the most that
 * there were at a time since then. */
void fault_memory_mark(void);
size_t fault_memory_peak(void);

/* fault_has_memory -- whether allocations can be made to fail in this program. */
bool fault_has_memory(void);

#endif
