/*
 * support/bson_corpus.h -- the files of the BSON corpus, each a document with lists of cases.
 */
#ifndef TANSU_TESTS_SUPPORT_BSON_CORPUS_H
#define TANSU_TESTS_SUPPORT_BSON_CORPUS_H

#include <bson/bson.h>

/* Where the files are in the repository. */
#define BSON_CORPUS "Tests/TansuBSONTests/Resources/bson-corpus"

/* corpus_each_case -- runs the cases of one list of a file; none when it has no such list. */
void corpus_each_case(const bson_t *file, const char *list, void (*run)(const bson_t *test));

/* corpus_member -- a text of a case, NULL when it has none. */
const char *corpus_member(const bson_t *test, const char *name);

#endif
