/*
 * test_query_docs.c -- every example of docs/query-language.md and docs/coming-from.md answers as it
 * says there.
 */
#include "toolkit/check.h"
#include "toolkit/examples.h"

/* page_is_true -- a page, of which so many examples are known to be there. */
static void page_is_true(const char *page, unsigned least) {
    unsigned examples = examples_run(page);
    if (examples == 0)
        check_note("skipped: %s is not there", page);
    else
        CHECK(examples >= least);
}

/* the_query_language_is_true -- every operator, hint and form. */
static void the_query_language_is_true(void) {
    page_is_true("docs/query-language.md", 100);
}

/* the_differences_are_true -- what people who come from elsewhere are told. */
static void the_differences_are_true(void) {
    page_is_true("docs/coming-from.md", 10);
}

int main(void) {
    RUN(the_query_language_is_true);
    RUN(the_differences_are_true);
    return check_finish();
}
