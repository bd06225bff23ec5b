/*
 * api/api_version.c -- the version of the library, of its files, and what it was built with.
 */
#include "store/manifest.h"
#include "tansu.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* tansu_version -- the library's version as text. */
const char *tansu_version(void) {
    return TEXT(TANSU_VERSION_MAJOR) "." TEXT(TANSU_VERSION_MINOR) "." TEXT(TANSU_VERSION_PATCH);
}

/* tansu_version_number -- the library's version as a number. */
int tansu_version_number(void) {
    return TANSU_VERSION_NUMBER;
}

/* tansu_file_format -- the format that a MANIFEST names. */
int tansu_file_format(void) {
    return MANIFEST_FORMAT;
}

/* tansu_optional_libraries -- their names, each after a space, but for the first space. */
const char *tansu_optional_libraries(void) {
    static const char names[] = ""
#ifdef WITH_LIBBSON_1_0
                                " libbson-1.0"
#endif
#ifdef WITH_LIBCRYPTO
                                " libcrypto"
#endif
#ifdef WITH_LIBDEFLATE
                                " libdeflate"
#endif
#ifdef WITH_LIBLZ4
                                " liblz4"
#endif
#ifdef WITH_LIBPCRE2_8
                                " libpcre2-8"
#endif
#ifdef WITH_LIBSTEMMER
                                " libstemmer"
#endif
        ;
    return names + (names[0] == ' ');
}
