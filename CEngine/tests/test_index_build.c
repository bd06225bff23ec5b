/*
 * test_index_build.c -- an index built over documents that are there holds exactly their entries, in
 * order, whether sorted in one run or in many; a unique one refuses a value that is there twice.
 */
#include "index/build.h"

#define RUN_BYTES ((size_t)16 * 1024)
#define index_build index_build_in_small_runs
#include "index/build.c"
#undef index_build

#include "toolkit/check.h"
#include "toolkit/random.h"
#include <bson/bson.h>
#include <stdio.h>

#define DOCUMENTS 6000

static bson_t documents[DOCUMENTS];

typedef tansu_status (*builder)(tree_writer *writer, const index_definition *definition,
                                index_source source, void *context, tree *result, bool *multikey,
                                index_conflict *conflict, tansu_error *error);

/* A source over the documents, which may break off with an error. */
typedef struct walk {
    uint32_t next;
    uint32_t end;
    tansu_status last;
} walk;

/* step -- an index_source. */
static tansu_status step(void *context, uint64_t *docno, const uint8_t **doc, uint32_t *size,
                         tansu_error *error) {
    walk *walk = context;
    (void)error;
    if (walk->next == walk->end)
        return walk->last;
    *docno = walk->next;
    *doc = bson_get_data(&documents[walk->next]);
    *size = documents[walk->next++].len;
    return TANSU_OK;
}

/* make_documents -- values that sort by few and by many bytes, that repeat, and that share long
 * beginnings, some of them longer than the sort looks at in steps. */
static void make_documents(void) {
    random_source random = random_from(7);
    char shared[401];
    memset(shared, 'x', sizeof shared - 1);
    for (uint32_t i = 0; i < DOCUMENTS; i++) {
        char text[600];
        bson_t array;
        bson_init(&documents[i]);
        bson_append_int32(&documents[i], "_id", -1, (int32_t)i);
        bson_append_int32(&documents[i], "few", -1, (int32_t)random_below(&random, 5));
        snprintf(text, sizeof text, "%.*s%u", (int)random_below(&random, 3) * 200, shared,
                 (unsigned)random_below(&random, 100000));
        bson_append_utf8(&documents[i], "text", -1, text, -1);
        bson_append_double(&documents[i], "number", -1,
                           (double)random_below(&random, 1u << 31) - 1e9);
        BSON_APPEND_ARRAY_BEGIN(&documents[i], "tags", &array);
        for (uint32_t k = 0; k < i % 4; k++)
            bson_append_int32(&array, "0", -1, (int32_t)(i * 31 + k * 7) % 900);
        bson_append_array_end(&documents[i], &array);
    }
}

/* free_documents -- ends them. */
static void free_documents(void) {
    for (uint32_t i = 0; i < DOCUMENTS; i++)
        bson_destroy(&documents[i]);
}

/* parse -- a definition over `keys`. */
static index_definition *parse(const char *keys_json, bool unique) {
    bson_t *keys = bson_new_from_json((const uint8_t *)keys_json, -1, NULL);
    bson_t *options = BCON_NEW("unique", BCON_BOOL(unique));
    index_definition *definition = NULL;
    tansu_error error;
    CHECK_OK(index_definition_parse("i", bson_get_data(keys), keys->len, bson_get_data(options),
                                    options->len, &definition, &error),
             &error);
    bson_destroy(keys);
    bson_destroy(options);
    REQUIRE(definition != NULL);
    return definition;
}

/* holds_all -- whether the tree has every entry of every document, and nothing else. */
static void holds_all(tree_store *store, const tree *built, const index_definition *definition,
                      uint32_t count) {
    index_entries entries = {.list = NULL};
    tansu_error error;
    uint64_t total = 0;
    CHECK_OK(tree_check(store, built, &error), &error);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(index_entries_make(&entries, definition, bson_get_data(&documents[i]),
                                   documents[i].len, i, &error) == TANSU_OK);
        for (uint32_t k = 0; k < entries.count; k++) {
            const uint8_t *key = entries.bytes.data + entries.list[k].offset;
            bool found = false;
            uint64_t docno = UINT64_MAX;
            REQUIRE(tree_find_prefix(store, built, key, entries.list[k].size, &found, &docno,
                                     &error) == TANSU_OK);
            CHECK(found && docno == i);
        }
        total += entries.count;
    }
    CHECK_INT(total, built->count);
    index_entries_free(&entries);
}

/* build_and_check -- builds one index and holds it against its documents. */
static void build_and_check(builder build, const char *keys, bool unique, bool arrays,
                            uint32_t count) {
    tree_store *store = NULL;
    tansu_error error;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {0};
    tree_writer writer = {store, 1, &retired};
    index_definition *definition = parse(keys, unique);
    tree built;
    bool multikey = false;
    walk all = {0, count, TANSU_DONE};
    if (CHECK_OK(build(&writer, definition, step, &all, &built, &multikey, NULL, &error), &error)) {
        CHECK(multikey == arrays);
        holds_all(store, &built, definition, count);
        tree_release(store, &built);
    }
    retire_run(&retired);
    index_definition_free(definition);
    tree_store_free(store);
}

static const struct {
    const char *keys;
    bool unique, arrays;
} cases[] = {
    {"{\"_id\": 1}", true, false},
    {"{\"few\": 1}", false, false},
    {"{\"text\": 1}", false, false},
    {"{\"text\": -1, \"few\": 1}", false, false},
    {"{\"number\": -1}", false, false},
    {"{\"tags\": 1}", false, true},
    {"{\"few\": -1, \"tags\": 1, \"nothing\": 1}", false, true},
};

/* one_run_holds_all -- all entries fit into one run. */
static void one_run_holds_all(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        build_and_check(index_build, cases[i].keys, cases[i].unique, cases[i].arrays, DOCUMENTS);
}

/* many_runs_hold_all -- the same in runs of 16 KiB. */
static void many_runs_hold_all(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        build_and_check(index_build_in_small_runs, cases[i].keys, cases[i].unique, cases[i].arrays,
                        DOCUMENTS);
}

/* no_documents_make_an_empty_tree -- nothing to sort is fine. */
static void no_documents_make_an_empty_tree(void) {
    build_and_check(index_build, "{\"few\": 1}", true, false, 0);
}

/* fails -- a build over the first `count` documents ends with `expected` and leaves nothing. */
static void fails(builder build, const char *keys, uint32_t count, tansu_status last,
                  tansu_status expected) {
    tree_store *store = NULL;
    tansu_error error = {0};
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {0};
    tree_writer writer = {store, 1, &retired};
    index_definition *definition = parse(keys, true);
    tree built;
    bool multikey = false;
    walk some = {0, count, last};
    CHECK_STATUS(expected,
                 build(&writer, definition, step, &some, &built, &multikey, NULL, &error));
    CHECK(built.root == NULL && built.count == 0);
    if (expected == TANSU_E_NOT_UNIQUE)
        CHECK_TEXT("i", error.context);
    tree_discard_retired(&writer, &retired, 0);
    CHECK_INT(0, tree_store_memory(store));
    retire_forget(&retired);
    index_definition_free(definition);
    tree_store_free(store);
}

/* repeated_values_are_refused -- within one run, and in runs far apart. */
static void repeated_values_are_refused(void) {
    fails(index_build, "{\"few\": 1}", 100, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    fails(index_build, "{\"nothing\": 1}", 2, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    fails(index_build_in_small_runs, "{\"tags\": 1}", DOCUMENTS, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    bson_t last = documents[DOCUMENTS - 1];
    documents[DOCUMENTS - 1] = documents[3];
    fails(index_build_in_small_runs, "{\"_id\": 1}", DOCUMENTS, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    documents[DOCUMENTS - 1] = last;
}

/* a_failed_source_leaves_nothing -- its status comes back. */
static void a_failed_source_leaves_nothing(void) {
    fails(index_build, "{\"_id\": 1}", 100, TANSU_E_CORRUPT, TANSU_E_CORRUPT);
    fails(index_build_in_small_runs, "{\"_id\": 1}", DOCUMENTS, TANSU_E_IO, TANSU_E_IO);
}

int main(void) {
    make_documents();
    RUN(one_run_holds_all);
    RUN(many_runs_hold_all);
    RUN(no_documents_make_an_empty_tree);
    RUN(repeated_values_are_refused);
    RUN(a_failed_source_leaves_nothing);
    free_documents();
    return check_finish();
}
