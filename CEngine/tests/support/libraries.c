/*
 * support/libraries.c -- the engine's optional libraries.
 */
#include "support/libraries.h"

#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Tests are compiled with the engine's flags. */
#ifdef WITH_LIBPCRE2_8
#define HAS_PCRE2 true
#else
#define HAS_PCRE2 false
#endif
#ifdef WITH_LIBLZ4
#define HAS_LZ4 true
#else
#define HAS_LZ4 false
#endif

#ifdef WITH_LIBCRYPTO
#define HAS_CRYPTO true
#else
#define HAS_CRYPTO false
#endif
#ifdef WITH_LIBSTEMMER
#define HAS_STEMMER true
#else
#define HAS_STEMMER false
#endif

/* skip -- says once that tests of a library are skipped. */
static bool skip(bool *said, const char *library) {
    if (!*said)
        check_skip("the engine has no %s", library);
    *said = true;
    return false;
}

bool library_pcre2(void) {
    static bool said;
    return HAS_PCRE2 || skip(&said, "PCRE2");
}

/* Without it, the check is that the engine says so: a program must make one. */
bool library_lz4(void) {
    static bool said;
    if (HAS_LZ4)
        return true;
    tansu_db *db = call_open(NULL);
    CHECK_STATUS(TANSU_E_UNSUPPORTED, call_ensure(db, NULL, "c", "{'compression': 'lz4'}"));
    call_close(db);
    return skip(&said, "LZ4");
}

bool library_crypto(void) {
    static bool said;
    if (HAS_CRYPTO)
        return true;
    char *path = folder_new();
    tansu_options options = call_options(path);
    options.key = "01234567890123456789012345678901";
    options.key_size = 32;
    tansu_db *db = NULL;
    CHECK_STATUS(TANSU_E_UNSUPPORTED, tansu_open(&options, &db, &call_error));
    folder_end(path);
    return skip(&said, "libcrypto");
}

bool library_stemmer(void) {
    static bool said;
    return HAS_STEMMER || skip(&said, "libstemmer");
}

#ifdef WITH_LIBPCRE2_8

void library_regex_start(void) {
}

#else

/* make -- compiles a pattern without NUL; lines and dots are POSIX's. */
static tansu_status make(const char *pattern, size_t size, const char *options, void **regex,
                         int64_t *offset, char *message, size_t message_size) {
    char *text = strndup(pattern, size);
    regex_t *code = calloc(1, sizeof *code);
    REQUIRE(text != NULL && code != NULL);
    int flags = REG_EXTENDED | REG_NOSUB | (strchr(options, 'i') != NULL ? REG_ICASE : 0);
    int failed = regcomp(code, text, flags);
    free(text);
    *offset = -1;
    *regex = code;
    if (failed == 0)
        return TANSU_OK;
    regerror(failed, code, message, message_size);
    free(code);
    return TANSU_E_INVALID_QUERY;
}

static int matches(void *regex, const char *text, size_t size) {
    regmatch_t part = {.rm_so = 0, .rm_eo = (regoff_t)size};
    return regexec(regex, text, 0, &part, REG_STARTEND) == 0;
}

static void release(void *regex) {
    regfree(regex);
    free(regex);
}

void library_regex_start(void) {
    static const tansu_platform platform = {.struct_size = sizeof platform,
                                            .regex_compile = make,
                                            .regex_matches = matches,
                                            .regex_free = release};
    REQUIRE(tansu_platform_set(&platform, NULL) == TANSU_OK);
}

#endif
