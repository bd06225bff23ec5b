/*
 * support/bson_corpus.c -- the cases of the BSON corpus.
 */
#include "support/bson_corpus.h"

#include "support/check.h"

void corpus_each_case(const bson_t *file, const char *list, void (*run)(const bson_t *test)) {
    bson_iter_t iter, cases;
    if (!bson_iter_init_find(&iter, file, list) || !bson_iter_recurse(&iter, &cases))
        return;
    while (bson_iter_next(&cases)) {
        uint32_t size;
        const uint8_t *data;
        bson_t test;
        bson_iter_document(&cases, &size, &data);
        REQUIRE(bson_init_static(&test, data, size));
        run(&test);
    }
}

const char *corpus_member(const bson_t *test, const char *name) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, test, name) && BSON_ITER_HOLDS_UTF8(&iter)
               ? bson_iter_utf8(&iter, NULL)
               : NULL;
}
