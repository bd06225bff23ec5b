/*
 * text/stemmer.c -- stemming by libstemmer.
 */
#include "text/stemmer.h"

#include "util/error.h"

#include <ctype.h>
#include <stdio.h>

#ifdef WITH_LIBSTEMMER
#include <libstemmer.h>

#define LANGUAGE_MAX 32

/* list_languages -- the error that names those that there are. */
static tansu_status list_languages(const char *language, tansu_error *error) {
    char list[400] = "none";
    size_t size = 4;
    for (const char **name = sb_stemmer_list(); *name; name++) {
        int more = snprintf(list + size, sizeof list - size, ", %s", *name);
        if (more < 0 || (size_t)more >= sizeof list - size)
            break;
        size += (size_t)more;
    }
    return error_set(error, TANSU_E_INVALID_QUERY, "language",
                     "Language \"%.40s\" is unknown; there are: %s", language, list);
}

tansu_status stemmer_new(const char *language, stemmer **result, tansu_error *error) {
    char name[LANGUAGE_MAX];
    size_t size = 0;
    *result = NULL;
    for (; language[size] && size < sizeof name - 1; size++)
        name[size] = (char)tolower((unsigned char)language[size]);
    name[size] = '\0';
    if (strcmp(name, "none") == 0)
        return TANSU_OK;
    if (!language[size])
        *result = (stemmer *)sb_stemmer_new(name, NULL);
    return *result ? TANSU_OK : list_languages(language, error);
}

void stemmer_free(stemmer *s) {
    if (s)
        sb_stemmer_delete((struct sb_stemmer *)s);
}

const uint8_t *stemmer_apply(stemmer *s, const uint8_t *word, size_t size, size_t *stem_size) {
    const sb_symbol *stem = sb_stemmer_stem((struct sb_stemmer *)s, word, (int)size);
    *stem_size = stem ? (size_t)sb_stemmer_length((struct sb_stemmer *)s) : 0;
    return stem;
}

#else

tansu_status stemmer_new(const char *language, stemmer **result, tansu_error *error) {
    *result = NULL;
    if (strcmp(language, "none") == 0)
        return TANSU_OK;
    return error_set(error, TANSU_E_UNSUPPORTED, "language",
                     "This build of the library knows no stems of words; use one that was built "
                     "with libstemmer, or the language \"none\"");
}

void stemmer_free(stemmer *s) {
    (void)s;
}

const uint8_t *stemmer_apply(stemmer *s, const uint8_t *word, size_t size, size_t *stem_size) {
    (void)s;
    *stem_size = size;
    return word;
}

#endif
