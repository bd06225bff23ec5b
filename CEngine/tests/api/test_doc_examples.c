/*
 * test_doc_examples.c -- every example of the documents answers as the document says.
 */
#include "support/check.h"
#include "support/doc_examples.h"
#include "support/folder.h"
#include "support/repo_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The documents with examples, and at least how many they have: a change of the notation must
 * not pass as a document without examples. */
static const struct {
    const char *name;
    unsigned least;
} documents[] = {
    {"coming-from.md", 10}, {"json-commands.md", 55}, {"query-language.md", 100},
    {"pipelines.md", 14},   {"expressions.md", 5},    {"cookbook.md", 3},
};

static const size_t document_count = sizeof documents / sizeof documents[0];

static void examples_answer_as_documented(void) {
    char *folder = folder_new();
    REQUIRE(chdir(folder) == 0); /* some write files */
    for (size_t i = 0; i < document_count; i++) {
        char path[128];
        snprintf(path, sizeof path, "docs/%s", documents[i].name);
        uint64_t failures = check_failures();
        unsigned examples = examples_run(path);
        CHECK(examples >= documents[i].least);
        if (check_failures() != failures)
            check_note("    in %s, with %u examples", path, examples);
    }
    REQUIRE(chdir("/") == 0);
    folder_end(folder);
}

/* check_listed -- a document with examples is one of the list. */
static void check_listed(const char *name, const char *content, size_t size) {
    (void)size;
    bool listed = false;
    for (size_t i = 0; i < document_count; i++)
        listed = listed || strcmp(documents[i].name, name) == 0;
    if (!CHECK(listed == (strstr(content, "\n```json\n> ") != NULL)))
        check_note("    docs/%s", name);
}

static void every_document_with_examples_is_listed(void) {
    CHECK(repo_file_each("docs", check_listed) >= document_count);
}

int main(void) {
    RUN(examples_answer_as_documented);
    RUN(every_document_with_examples_is_listed);
    return check_finish();
}
