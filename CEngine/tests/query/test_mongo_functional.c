/*
 * test_mongo_functional.c -- cases that were recorded for MongoDB 8.2
 * (tests/vectors/mongo-functional), and neighbours of theirs (tests/vectors/mongo-neighbours):
 * each is run through the public API, and must come out as there or be in the list
 * differences.txt, with a reason. A case in the list that comes out as there is a failure, too.
 * What the engine does not offer is not applicable, by the rules of support/mongo/mongo_scope.c;
 * VERBOSE=1 prints how many cases each rule leaves out.
 *
 * MONGO_FAMILY=expressions runs that family alone, MONGO_FOLDER=operator/expressions/date those
 * cases of it whose folder begins so, and prints how many of each folder come out as there; with
 * VERBOSE=2 each case that does not, and why. Neither looks at the list.
 */
#include "support/check.h"
#include "support/libraries.h"
#include "support/mongo/mongo_command.h"
#include "support/mongo/mongo_scope.h"
#include "support/repo_file.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VECTORS "CEngine/tests/vectors/mongo-functional/"

/* How many cases a reason leaves out, or a family has. */
typedef struct tally {
    const char *name;
    unsigned count;
    unsigned passed;
} tally;

static tally reasons[64];
static char *differences; /* the list: "id<TAB>reason" lines */
static size_t differences_size;
static unsigned differences_seen;
static bool show_all; /* prints each difference: VERBOSE=2 */
static const char *only_family, *only_folder;
static tally folders[512];

/* count_in -- counts a name. */
static tally *count_in(tally *list, size_t capacity, const char *name) {
    for (size_t i = 0; i < capacity; i++) {
        if (list[i].name != NULL && strcmp(list[i].name, name) != 0)
            continue;
        if (list[i].name == NULL)
            list[i].name = name;
        list[i].count++;
        return &list[i];
    }
    REQUIRE(!"too many reasons");
    return NULL;
}

/* is_listed -- whether the list of differences has a case. */
static bool is_listed(const char *family, const char *id) {
    char head[512];
    int size = snprintf(head, sizeof head, "\n%s %s\t", family, id);
    REQUIRE(size > 0 && (size_t)size < sizeof head);
    return strstr(differences, head) != NULL;
}

/* ---- One case ---- */

/* scope_of_case -- why a case is not applicable, or NULL. */
static const char *scope_of_case(const bson_t *test) {
    bson_t steps, step, command;
    bson_iter_t iter, x;
    REQUIRE(member_document(test, "steps", &steps));
    for (bson_iter_init(&iter, &steps); bson_iter_next(&iter);) {
        REQUIRE(iter_document(&iter, &step));
        if (!member_document(&step, "cmd", &command))
            return "commands that are no document";
        bool fails = bson_iter_init_find(&x, &step, "x") && reply_expects_error(&x);
        const char *why = scope_of_command(&command, fails);
        if (why == NULL && bson_has_field(&step, "db"))
            why = "several databases";
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* insert_documents -- what the collections hold first. */
static bool insert_documents(tansu_db *db, const bson_t *test, mongo_reply *reply) {
    bson_t collections, docs, doc;
    bson_iter_t collection, iter;
    if (!member_document(test, "docs", &collections))
        return true;
    for (bson_iter_init(&collection, &collections); bson_iter_next(&collection);) {
        REQUIRE(iter_document(&collection, &docs));
        for (bson_iter_init(&iter, &docs); bson_iter_next(&iter);) {
            REQUIRE(iter_document(&iter, &doc));
            tansu_status status = mongo_insert(db, bson_iter_key(&collection), &doc, reply);
            /* An ordered insertion ends at an `_id` that is taken. */
            if (status == TANSU_E_EXISTS)
                break;
            if (status != TANSU_OK)
                return false;
        }
    }
    return true;
}

/* run_steps -- whether all steps come out as recorded. */
static bool run_steps(tansu_db *db, const bson_t *test, const char **why,
                      const char **not_applicable) {
    bson_t steps, step, command;
    bson_iter_t iter, x;
    bool same = true;
    REQUIRE(member_document(test, "steps", &steps));
    for (bson_iter_init(&iter, &steps); same && bson_iter_next(&iter);) {
        mongo_reply reply;
        REQUIRE(iter_document(&iter, &step) && member_document(&step, "cmd", &command));
        mongo_run(db, &command, &reply);
        *not_applicable = reply.not_applicable;
        if (reply.not_applicable == NULL && bson_iter_init_find(&x, &step, "x"))
            same = reply_matches(&reply, &x, why);
        bson_destroy(&reply.doc);
        if (*not_applicable != NULL)
            break;
    }
    return same;
}

/* run_case -- runs one case; false when it is not applicable. */
static bool run_case(const char *family, const bson_t *test, const char *line, bool *passed) {
    static mongo_reply refused;
    tansu_db *db;
    bson_iter_t id;
    const char *why = refused.message, *not_applicable = scope_of_case(test);
    REQUIRE(bson_iter_init_find(&id, test, "id"));
    const char *name = bson_iter_utf8(&id, NULL);
    bool regex = strstr(line, "regex") != NULL || strstr(line, "regularExpression") != NULL ||
                 strstr(line, "\"pattern") != NULL;
    /* MongoDB's searches have the stems of English. */
    bool stems = strstr(line, "$text") != NULL || strstr(line, "\":\"text\"") != NULL;
    /* Where the C library computes with more digits. */
    bool last_digit = FLT_EVAL_METHOD == 2 && strstr(line, "$acosh") != NULL;
    if (last_digit || (regex && !library_pcre2()) || (stems && !library_stemmer())) {
        differences_seen += is_listed(family, name);
        return false;
    }
    if (not_applicable != NULL) {
        count_in(reasons, sizeof reasons / sizeof *reasons, not_applicable);
        return false;
    }
    REQUIRE(tansu_open_path(NULL, &db, NULL) == TANSU_OK);
    bool same = insert_documents(db, test, &refused) && run_steps(db, test, &why, &not_applicable);
    CHECK_OK(tansu_shutdown(db, NULL), NULL);
    if (not_applicable != NULL) {
        count_in(reasons, sizeof reasons / sizeof *reasons, not_applicable);
        return false;
    }
    *passed = same;
    if (only_family != NULL) {
        bson_iter_t folder;
        REQUIRE(bson_iter_init_find(&folder, test, "f"));
        char *copy = strdup(bson_iter_utf8(&folder, NULL));
        tally *in = count_in(folders, sizeof folders / sizeof *folders, copy);
        in->passed += same;
        if (in->name != copy)
            free(copy);
        if (show_all && !same)
            printf("%s: %.2000s\n  %s\n", name, line, why);
        return true;
    }
    bool listed = is_listed(family, name);
    differences_seen += listed;
    if (!CHECK(same != listed) || (show_all && !same))
        check_note("%s %s: %s\n  %.2000s\n%s", family, name,
                   same ? "comes out as in MongoDB, but is in the list" : "differs", line,
                   same ? "" : why);
    return true;
}

/* ---- Families ---- */

/* run_line -- the case of one line. */
static void run_line(const char *family, const char *line, tally *total) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    tansu_error error;
    bson_t test;
    bool passed = false;
    if (tansu_json_to_bson(line, strlen(line), &bson, &error) != TANSU_OK) {
        count_in(reasons, sizeof reasons / sizeof *reasons,
                 "texts that extended JSON cannot hold without being taken for values");
        tansu_buffer_free(&bson);
        return;
    }
    REQUIRE(bson_init_static(&test, bson.data, bson.size));
    bson_iter_t folder;
    if (only_folder != NULL && bson_iter_init_find(&folder, &test, "f") &&
        strncmp(bson_iter_utf8(&folder, NULL), only_folder, strlen(only_folder)) != 0) {
        tansu_buffer_free(&bson);
        return;
    }
    if (run_case(family, &test, line, &passed)) {
        total->count++;
        total->passed += passed;
    }
    tansu_buffer_free(&bson);
}

/* run_lines -- all cases of a text, which it frees. */
static void run_lines(const char *family, char *text) {
    tally total = {.name = family};
    char *state = NULL;
    for (char *line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
        run_line(family, line, &total);
    free(text);
    printf("%-16s %4u of %4u cases as in MongoDB\n", family, total.passed, total.count);
}

/* run_family -- all cases of a file. */
static void run_family(const char *family) {
    char path[256];
    size_t size;
    snprintf(path, sizeof path, VECTORS "%s.ndjson.gz", family);
    run_lines(family, repo_file_inflate(path, &size));
}

/* families -- all of them. */
static void families(void) {
    static const char *const names[] = {
        "query",     "update",       "projection",     "find",       "findAndModify",
        "delete",    "insert",       "distinct",       "count",      "indexes",
        "collation", "combinations", "update-command", "data-types", "expressions",
        "stages",    "accumulators", "window",         "aggregate"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (only_family == NULL || strcmp(names[i], only_family) == 0)
            run_family(names[i]);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders && folders[i].name != NULL; i++)
        printf("%5u of %5u %s\n", folders[i].passed, folders[i].count, folders[i].name);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && reasons[i].name != NULL; i++)
        printf("not applicable: %4u %s\n", reasons[i].count, reasons[i].name);
}

/* What MongoDB's manual says about the neighbours of the recorded cases. */
static void neighbours(void) {
    size_t size;
    run_lines("neighbours",
              repo_file_read("CEngine/tests/vectors/mongo-neighbours/cases.ndjson", &size));
}

/* Runs last: the others have counted. */
static void each_listed_difference_is_a_case(void) {
    unsigned lines = 0;
    for (const char *at = differences; (at = strchr(at, '\t')) != NULL; at++)
        lines++;
    CHECK_INT(lines, differences_seen);
}

int main(void) {
    const char *verbose = getenv("VERBOSE");
    show_all = verbose != NULL && strcmp(verbose, "2") == 0;
    only_family = getenv("MONGO_FAMILY");
    only_folder = getenv("MONGO_FOLDER");
    differences = repo_file_read(VECTORS "differences.txt", &differences_size);
    RUN(families);
    if (only_family != NULL)
        return check_finish();
    RUN(neighbours);
    RUN(each_listed_difference_is_a_case);
    free(differences);
    return check_finish();
}
