/*
 * support/libraries.h -- which of its optional libraries the engine has, for tests that need them.
 */
#ifndef SUPPORT_LIBRARIES_H
#define SUPPORT_LIBRARIES_H

#include <stdbool.h>

/* library_pcre2, library_lz4, library_crypto, library_stemmer -- whether the engine has it. If not, says so: what asks
 * is skipped. */
bool library_pcre2(void);
bool library_lz4(void);
bool library_crypto(void);
bool library_stemmer(void);

/* library_regex_start -- once, at the beginning of main(): an engine without PCRE2 gets the regular
 * expressions of the C library (POSIX, extended). They are enough for tests whose patterns mean the
 * same in both. */
void library_regex_start(void);

#endif
