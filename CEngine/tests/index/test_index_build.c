/*
 * test_index_build.c -- an index built over documents that are there holds exactly their entries,
 * in order, whether sorted in one run or in many; a unique one refuses a value that is there twice.
 */
#include "index/index_build.h"

#include <stdbool.h>

/* Whether several threads build. */
static bool is_costly;

#define RUN_BYTES ((size_t)16 * 1024)
#define PART_BYTES ((size_t)1024)
#define PROCESSORS 3
#define IS_COSTLY(definition) is_costly
#define CHECK_EVERY 256
#define index_build index_build_in_small_runs
#include "index/index_build.c"
#undef index_build

#include "support/check.h"
#include "support/model/tree_model.h"
#include "support/random/random.h"
#include <bson/bson.h>
#include <stdio.h>

#define DOCUMENTS 6000

static bson_t documents[DOCUMENTS];

typedef tansu_status (*builder)(tree_writer *writer, const index_definition *definition,
                                const index_source *source, tree *result, bool *multikey,
                                index_conflict *conflict, tansu_error *error);

/* dealt_out -- in small runs, by three threads. */
static tansu_status dealt_out(tree_writer *writer, const index_definition *definition,
                              const index_source *source, tree *result, bool *multikey,
                              index_conflict *conflict, tansu_error *error) {
    is_costly = true;
    return index_build_in_small_runs(writer, definition, source, result, multikey, conflict, error);
}

/* alone -- in small runs, by this thread. */
static tansu_status alone(tree_writer *writer, const index_definition *definition,
                          const index_source *source, tree *result, bool *multikey,
                          index_conflict *conflict, tansu_error *error) {
    is_costly = false;
    return index_build_in_small_runs(writer, definition, source, result, multikey, conflict, error);
}

/* A source over the documents, which may break off with an error, or say no when it is asked. */
typedef struct walk {
    uint32_t next;
    uint32_t end;
    tansu_status last;
    uint32_t asked;
    uint32_t no; /* that question is answered by CANCELLED; 0: none is */
} walk;

/* step -- an index_source. */
static tansu_status step(void *context, uint64_t *rid, const uint8_t **doc, uint32_t *size,
                         tansu_error *error) {
    walk *walk = context;
    (void)error;
    if (walk->next == walk->end)
        return walk->last;
    *rid = walk->next;
    *doc = bson_get_data(&documents[walk->next]);
    *size = documents[walk->next++].len;
    return TANSU_OK;
}

/* may_go_on -- the other half of an index_source. */
static tansu_status may_go_on(void *context, tansu_error *error) {
    walk *walk = context;
    return ++walk->asked == walk->no ? error_set(error, TANSU_E_CANCELLED, "i", "No") : TANSU_OK;
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
    CHECK_OK(tree_visit(store, built, NULL, &error), &error);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(index_entries_make(&entries, definition, bson_get_data(&documents[i]),
                                   documents[i].len, i, &error) == TANSU_OK);
        for (uint32_t k = 0; k < entries.count; k++) {
            const uint8_t *key = entries.bytes.data + entries.list[k].offset;
            bool found = false;
            uint64_t rid = UINT64_MAX;
            REQUIRE(tree_find_prefix(store, built, key, entries.list[k].size, &found, &rid,
                                     &error) == TANSU_OK);
            CHECK(found && rid == i);
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
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    index_definition *definition = parse(keys, unique);
    tree built;
    bool multikey = false;
    walk all = {0, count, TANSU_DONE, 0, 0};
    const index_source source = {.next = step, .check = may_go_on, .context = &all};
    if (CHECK_OK(build(&writer, definition, &source, &built, &multikey, NULL, &error), &error)) {
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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build_and_check(dealt_out, cases[i].keys, cases[i].unique, cases[i].arrays, DOCUMENTS);
        build_and_check(alone, cases[i].keys, cases[i].unique, cases[i].arrays, DOCUMENTS);
    }
}

/* no_documents_make_an_empty_tree -- nothing to sort is fine. */
static void no_documents_make_an_empty_tree(void) {
    build_and_check(index_build, "{\"few\": 1}", true, false, 0);
}

/* fails_over -- a build over some documents ends with `expected` and leaves nothing. */
static void fails_over(builder build, const char *keys, bool unique, walk *some,
                       tansu_status expected) {
    tree_store *store = NULL;
    tansu_error error = {0};
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    index_definition *definition = parse(keys, unique);
    const index_source source = {.next = step, .check = may_go_on, .context = some};
    tree built;
    bool multikey = false;
    CHECK_STATUS(expected, build(&writer, definition, &source, &built, &multikey, NULL, &error));
    CHECK(built.root == NULL && built.count == 0);
    if (expected == TANSU_E_NOT_UNIQUE || expected == TANSU_E_CANCELLED)
        CHECK_TEXT("i", error.context);
    tree_model_discard_retired(&writer, &retired, 0);
    CHECK_INT(0, tree_store_memory(store));
    retire_forget(&retired);
    index_definition_free(definition);
    tree_store_free(store);
}

/* fails -- the same of a unique index over the first `count` documents. */
static void fails(builder build, const char *keys, uint32_t count, tansu_status last,
                  tansu_status expected) {
    walk some = {0, count, last, 0, 0};
    fails_over(build, keys, true, &some, expected);
}

/* repeated_values_are_refused -- within one run, and in runs far apart. */
static void repeated_values_are_refused(void) {
    fails(index_build, "{\"few\": 1}", 100, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    fails(index_build, "{\"nothing\": 1}", 2, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    fails(dealt_out, "{\"tags\": 1}", DOCUMENTS, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    bson_t last = documents[DOCUMENTS - 1];
    documents[DOCUMENTS - 1] = documents[3];
    fails(dealt_out, "{\"_id\": 1}", DOCUMENTS, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    fails(alone, "{\"_id\": 1}", DOCUMENTS, TANSU_DONE, TANSU_E_NOT_UNIQUE);
    documents[DOCUMENTS - 1] = last;
}

/* a_failed_source_leaves_nothing -- its status comes back. */
static void a_failed_source_leaves_nothing(void) {
    fails(index_build, "{\"_id\": 1}", 100, TANSU_E_CORRUPT, TANSU_E_CORRUPT);
    fails(dealt_out, "{\"_id\": 1}", DOCUMENTS, TANSU_E_IO, TANSU_E_IO);
}

/* questions -- how often a build that goes on to its end asks whether to. */
static uint32_t questions(builder build, const char *keys) {
    tree_store *store = NULL;
    tansu_error error;
    REQUIRE(tree_store_new(&store, &error) == TANSU_OK);
    retire_list retired = {0};
    tree_writer writer = {.store = store, .epoch = 1, .retired = &retired};
    index_definition *definition = parse(keys, false);
    walk all = {0, DOCUMENTS, TANSU_DONE, 0, 0};
    const index_source source = {.next = step, .check = may_go_on, .context = &all};
    tree built;
    bool multikey;
    CHECK_OK(build(&writer, definition, &source, &built, &multikey, NULL, &error), &error);
    tree_release(store, &built);
    retire_run(&retired);
    index_definition_free(definition);
    tree_store_free(store);
    return all.asked;
}

/* a_build_is_stopped_anywhere -- while it sorts by heads, while it merges, while it fills
 * blocks, while it inserts; at every question that it asks. */
static void a_build_is_stopped_anywhere(void) {
    static const builder builders[] = {index_build, dealt_out, alone};
    random_source source = random_start(2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t b = 0; b < 3; b++) {
            uint32_t all = questions(builders[b], cases[i].keys);
            CHECK(all > (b == 0 ? 0 : 20));
            for (uint32_t no = 1; no <= all; no += random_step(&source)) {
                walk some = {0, DOCUMENTS, TANSU_DONE, 0, no};
                fails_over(builders[b], cases[i].keys, false, &some, TANSU_E_CANCELLED);
                CHECK_INT(no, some.asked);
            }
        }
    }
}

int main(void) {
    make_documents();
    RUN(one_run_holds_all);
    RUN(many_runs_hold_all);
    RUN(no_documents_make_an_empty_tree);
    RUN(repeated_values_are_refused);
    RUN(a_failed_source_leaves_nothing);
    RUN(a_build_is_stopped_anywhere);
    free_documents();
    return check_finish();
}
