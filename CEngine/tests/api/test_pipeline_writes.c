/*
 * test_pipeline_writes.c -- what $out, $merge and updates by a pipeline write, and what they leave:
 * references, ids, indexes, and everything after an error.
 */
#include "support/check.h"
#include "support/doc_examples.h"
#include "tansu.h"

#include <stdio.h>

static tansu_db *db;

static void begin(void) {
    REQUIRE(tansu_open_path(NULL, &db, NULL) == TANSU_OK);
}

static void end(void) {
    CHECK_OK(tansu_shutdown(db, NULL), NULL);
}

/* ask -- a request and its answer. */
static void ask(const char *request, const char *answer) {
    examples_ask(db, request, answer);
}

static void explain_writes_nothing(void) {
    begin();
    ask("{\"op\": \"save\", \"collection\": \"keep\", \"documents\": [{\"_id\": 0}, {\"_id\": 1}]}",
        "{\"ok\": true, \"ids\": [0, 1]}");
    ask("{\"op\": \"aggregate\", \"collection\": \"keep\", \"pipeline\": [{\"$match\": {\"_id\": "
        "1}}, "
        "{\"$out\": \"keep\"}], \"hints\": {\"$explain\": true}}",
        "{\"ok\": true, \"documents\": [{\"stages\": …}]}");
    ask("{\"op\": \"aggregate\", \"collection\": \"keep\", \"pipeline\": [{\"$merge\": \"new\"}], "
        "\"hints\": {\"$explain\": true}}",
        "{\"ok\": true, \"documents\": [{\"stages\": …}]}");
    ask("{\"op\": \"find\", \"collection\": \"keep\"}",
        "{\"ok\": true, \"documents\": [{\"_id\": 0}, {\"_id\": 1}]}");
    ask("{\"op\": \"count\", \"collection\": \"new\"}", "{\"ok\": true, \"count\": 0}");
    end();
}

static void out_keeps_references_to_what_stays(void) {
    static const char *const rules[] = {"cascade", "nullify", "deny"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char request[256];
        begin();
        snprintf(
            request, sizeof request,
            "{\"op\": \"createCollection\", \"collection\": \"b\", \"options\": {\"references\": "
            "[{\"path\": \"a\", \"to\": \"a\", \"onDelete\": \"%s\"}]}}",
            rules[i]);
        ask(request, "{\"ok\": true}");
        ask("{\"op\": \"save\", \"collection\": \"a\", \"documents\": [{\"_id\": 1}]}",
            "{\"ok\": true, \"ids\": [1]}");
        ask("{\"op\": \"save\", \"collection\": \"b\", \"documents\": [{\"_id\": 1, \"a\": 1}]}",
            "{\"ok\": true, \"ids\": [1]}");
        ask("{\"op\": \"aggregate\", \"collection\": \"a\", \"pipeline\": [{\"$set\": {\"x\": 1}}, "
            "{\"$out\": \"a\"}]}",
            "{\"ok\": true, \"documents\": []}");
        ask("{\"op\": \"find\", \"collection\": \"b\"}",
            "{\"ok\": true, \"documents\": [{\"_id\": 1, \"a\": 1}]}");
        ask("{\"op\": \"find\", \"collection\": \"a\"}",
            "{\"ok\": true, \"documents\": [{\"_id\": 1, \"x\": 1}]}");
        end();
    }
}

static void out_replaces_all_or_nothing(void) {
    begin();
    ask("{\"op\": \"save\", \"collection\": \"c\", \"documents\": [{\"_id\": 1}, {\"_id\": 2}, "
        "{\"_id\": 3}]}",
        "{\"ok\": true, \"ids\": [1, 2, 3]}");
    ask("{\"op\": \"aggregate\", \"pipeline\": [{\"$documents\": [{\"_id\": 2, \"n\": 1}, "
        "{\"_id\": 4}]}, "
        "{\"$out\": \"c\"}]}",
        "{\"ok\": true, \"documents\": []}");
    ask("{\"op\": \"find\", \"collection\": \"c\"}",
        "{\"ok\": true, \"documents\": [{\"_id\": 2, \"n\": 1}, {\"_id\": 4}]}");
    ask("{\"op\": \"aggregate\", \"pipeline\": [{\"$documents\": [{\"_id\": 5}, {\"_id\": 6}, "
        "{\"_id\": 5}]}, "
        "{\"$out\": \"c\"}]}",
        "{\"ok\": false, \"error\": {\"code\": \"EXISTS\", …}}");
    ask("{\"op\": \"find\", \"collection\": \"c\"}",
        "{\"ok\": true, \"documents\": [{\"_id\": 2, \"n\": 1}, {\"_id\": 4}]}");
    end();
}

static void an_update_by_a_pipeline_keeps_the_id(void) {
    begin();
    ask("{\"op\": \"save\", \"collection\": \"c\", \"documents\": [{\"_id\": 1, \"n\": 1}]}",
        "{\"ok\": true, \"ids\": [1]}");
    ask("{\"op\": \"update\", \"collection\": \"c\", \"query\": {}, \"update\": "
        "[{\"$replaceWith\": {\"q\": 1}}]}",
        "{\"ok\": true, \"matched\": 1, \"modified\": 1, \"upserted\": []}");
    ask("{\"op\": \"update\", \"collection\": \"c\", \"query\": {}, \"update\": [{\"$unset\": "
        "\"_id\"}]}",
        "{\"ok\": true, \"matched\": 1, \"modified\": 0, \"upserted\": []}");
    ask("{\"op\": \"find\", \"collection\": \"c\"}",
        "{\"ok\": true, \"documents\": [{\"_id\": 1, \"q\": 1}]}");
    ask("{\"op\": \"update\", \"collection\": \"c\", \"query\": {}, \"update\": [{\"$set\": "
        "{\"_id\": 2}}]}",
        "{\"ok\": false, \"error\": {\"code\": \"INVALID_ID\", …}}");
    end();
}

static void what_only_asks_removes_nothing(void) {
    begin();
    ask("{\"op\": \"save\", \"collection\": \"c\", \"documents\": [{\"_id\": 1}]}",
        "{\"ok\": true, \"ids\": [1]}");
    ask("{\"op\": \"remove\", \"collection\": \"c\", \"query\": {}, \"hints\": {\"$explain\": "
        "true}}",
        "{\"ok\": false, \"error\": {\"code\": \"INVALID_QUERY\", …}}");
    ask("{\"op\": \"remove\", \"collection\": \"c\", \"query\": {}, \"hints\": {\"$onlycount\": "
        "true}}",
        "{\"ok\": false, \"error\": {\"code\": \"INVALID_QUERY\", …}}");
    ask("{\"op\": \"count\", \"collection\": \"c\"}", "{\"ok\": true, \"count\": 1}");
    end();
}

static void a_match_means_the_same_in_every_place(void) {
    begin();
    ask("{\"op\": \"createCollection\", \"collection\": \"n\", \"options\": {\"references\": "
        "[{\"path\": "
        "\"author\", \"to\": \"a\"}]}}",
        "{\"ok\": true}");
    ask("{\"op\": \"save\", \"collection\": \"a\", \"documents\": [{\"_id\": 1, \"name\": "
        "\"Lem\"}]}",
        "{\"ok\": true, \"ids\": [1]}");
    ask("{\"op\": \"save\", \"collection\": \"n\", \"documents\": [{\"_id\": 1, \"author\": 1}]}",
        "{\"ok\": true, \"ids\": [1]}");
    ask("{\"op\": \"aggregate\", \"collection\": \"n\", \"pipeline\": [{\"$match\": "
        "{\"author.name\": \"Lem\"}}]}",
        "{\"ok\": true, \"documents\": []}");
    ask("{\"op\": \"aggregate\", \"collection\": \"n\", \"pipeline\": [{\"$skip\": 0}, "
        "{\"$match\": "
        "{\"author.name\": \"Lem\"}}]}",
        "{\"ok\": true, \"documents\": []}");
    ask("{\"op\": \"aggregate\", \"collection\": \"n\", \"pipeline\": [{\"$match\": {\"$do\": "
        "{}}}]}",
        "{\"ok\": false, \"error\": {\"code\": \"INVALID_QUERY\", …}}");
    end();
}

int main(void) {
    RUN(explain_writes_nothing);
    RUN(out_keeps_references_to_what_stays);
    RUN(out_replaces_all_or_nothing);
    RUN(an_update_by_a_pipeline_keeps_the_id);
    RUN(what_only_asks_removes_nothing);
    RUN(a_match_means_the_same_in_every_place);
    return check_finish();
}
