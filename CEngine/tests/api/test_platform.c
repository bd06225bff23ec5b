/*
 * test_platform.c -- regular expressions by functions of the program, in a build without PCRE2: what
 * they are called with, and what their answers come to. Without them, what has a regular expression
 * is UNSUPPORTED, and all else works. A build with PCRE2 says that it does not need them.
 */
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The program's functions ---- */

/* A pattern of the tests' own kind: text that is contained; after "^", with which the string begins;
 * "(" is refused at its place; "!steps" and "!memory" fail, the latter with "!!memory" when it is
 * compiled. */
typedef struct expression {
    char *text;
    size_t size;
    bool begins;
    int fails;
} expression;

static atomic_int alive;        /* expressions that were made and not freed */
static char last_options[8];    /* what the last one was made with */
static size_t last_size;        /* of its pattern */
static tansu_status odd_status; /* what making one returns, if not 0 */

static tansu_status make(const char *pattern, size_t size, const char *options, void **regex,
                         int64_t *offset, char *message, size_t message_size) {
    const char *open = memchr(pattern, '(', size);
    snprintf(last_options, sizeof last_options, "%s", options);
    last_size = size;
    if (odd_status != TANSU_OK)
        return odd_status;
    if (size == 8 && memcmp(pattern, "!!memory", 8) == 0)
        return TANSU_E_MEMORY;
    if (open != NULL) {
        *offset = open - pattern;
        snprintf(message, message_size, "it opens a group");
        return TANSU_E_INVALID_QUERY;
    }
    expression *e = calloc(1, sizeof *e);
    REQUIRE(e != NULL);
    e->begins = size > 0 && *pattern == '^';
    e->size = size - e->begins;
    e->text = malloc(e->size + 1);
    REQUIRE(e->text != NULL);
    memcpy(e->text, pattern + e->begins, e->size);
    e->fails = size == 6 && memcmp(pattern, "!steps", 6) == 0    ? TANSU_REGEX_STEPS
               : size == 7 && memcmp(pattern, "!memory", 7) == 0 ? TANSU_REGEX_MEMORY
                                                                 : 0;
    alive++;
    *regex = e;
    return TANSU_OK;
}

static int matches(void *regex, const char *text, size_t size) {
    const expression *e = regex;
    if (e->fails != 0)
        return e->fails;
    if (e->begins)
        return size >= e->size && memcmp(text, e->text, e->size) == 0;
    return memmem(text, size, e->text, e->size) != NULL;
}

static void release(void *regex) {
    expression *e = regex;
    free(e->text);
    free(e);
    alive--;
}

/* The text has no groups; but a pattern of "?" says that it has two, and where they are: one is
 * nowhere, and the other beyond the text. */
static size_t groups(void *regex) {
    const expression *e = regex;
    return e->size == 1 && *e->text == '?' ? 2 : 0;
}

static int find(void *regex, const char *text, size_t size, size_t from, size_t *spans,
                size_t count) {
    const expression *e = regex;
    if (e->fails != 0)
        return e->fails;
    const char *found = memmem(text + from, size - from, e->text, e->size);
    if (found == NULL || (e->begins && found != text))
        return TANSU_REGEX_NO_MATCH;
    spans[0] = (size_t)(found - text);
    spans[1] = spans[0] + e->size;
    CHECK_INT(groups(regex) + 1, count);
    if (count == 3) {
        spans[2] = spans[3] = SIZE_MAX;
        spans[4] = 0;
        spans[5] = size + 1;
    }
    return TANSU_REGEX_MATCH;
}

/* What ciphers there are is not tested here (crypt/test_crypt.c). */
static tansu_status cipher(const uint8_t *key, const uint8_t *nonce, const void *aad,
                           size_t aad_size, const uint8_t *bytes, size_t size, uint8_t *out,
                           uint8_t *tag) {
    (void)key, (void)nonce, (void)aad, (void)aad_size, (void)bytes, (void)size, (void)out;
    (void)tag;
    return TANSU_E_MEMORY;
}

static const tansu_platform platform = {.struct_size = sizeof platform,
                                        .regex_compile = make,
                                        .regex_matches = matches,
                                        .regex_free = release,
                                        .regex_groups = groups,
                                        .regex_find = find};

/* refuses -- whether a platform is refused as an argument. */
static void refuses(const tansu_platform *given, const char *message) {
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, tansu_platform_set(given, &call_error));
    CHECK(strstr(call_error.message, message) != NULL);
}

static void arguments_are_checked(void) {
    tansu_platform p = platform;
    refuses(NULL, "NULL");
    p.struct_size = offsetof(tansu_platform, gcm_seal) - 1;
    refuses(&p, "struct_size");
    p = platform;
    p.regex_compile = NULL;
    refuses(&p, "all three");
    p = platform;
    p.regex_matches = NULL;
    refuses(&p, "all three");
    p = platform;
    p.regex_free = NULL;
    refuses(&p, "all three");
    p = platform;
    p.gcm_seal = cipher;
    refuses(&p, "both functions");
    p = platform;
    p.regex_find = NULL;
    refuses(&p, "both functions");
}

#ifdef WITH_LIBPCRE2_8

static void pcre2_is_kept(void) {
    tansu_db *db = memory_db_with((const char *const[]){"{'_id':1,'a':'x1'}", NULL});
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(TANSU_E_UNSUPPORTED, tansu_platform_set(&platform, &call_error));
        CHECK(strstr(call_error.message, "PCRE2") != NULL);
        CHECK_TEXT("1", find_ids(db, "{'a':{'$REGEX':'^x\\\\d$'}}", NULL));
    }
    CHECK_STATUS(TANSU_E_UNSUPPORTED, tansu_platform_set(&platform, NULL));
    /* The struct that the first programs had. */
    tansu_platform shorter = platform;
    shorter.struct_size = offsetof(tansu_platform, gcm_seal);
    CHECK_STATUS(TANSU_E_UNSUPPORTED, tansu_platform_set(&shorter, NULL));
    CHECK_INT(0, last_size);
    memory_db_close(db);
}

int main(void) {
    RUN(arguments_are_checked);
    RUN(pcre2_is_kept);
    check_skip("The library has PCRE2, so the functions of the program are not called");
    return check_finish();
}

#else

/* ---- Without functions ---- */

#define PATTERN "{'validator':{'properties':{'a':{'pattern':'^x'}}}}"

static char *folder; /* of a database that another process made, which had the functions */

/* make_database -- what that process does. */
static void make_database(void) {
    CHECK_OK(tansu_platform_set(&platform, &call_error), &call_error);
    tansu_db *db = call_open(folder);
    CHECK_OK(call_ensure(db, NULL, "checked", PATTERN), &call_error);
    CHECK_OK(call_save(db, NULL, "checked", TANSU_SAVE, "{'_id':1,'a':'xy'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "free", TANSU_SAVE, "{'_id':1,'a':'xy'}"), &call_error);
    call_close(db);
}

/* in_another_process -- runs a function there. */
static void in_another_process(void (*function)(void)) {
    int state = -1;
    pid_t child = fork();
    if (child == 0) {
        function();
        _exit(check_failures() != 0);
    }
    CHECK(child > 0 && waitpid(child, &state, 0) == child && state == 0);
}

static void a_database_is_made(void) {
    in_another_process(make_database);
}

/* is_unsupported -- whether the last error says what to do, at that context. */
static void is_unsupported(tansu_status status, const char *context) {
    CHECK_STATUS(TANSU_E_UNSUPPORTED, status);
    CHECK_TEXT(context, call_error.context);
    CHECK(strstr(call_error.message, "tansu_platform_set()") != NULL);
    CHECK(strstr(call_error.message, "libpcre2-8") != NULL);
}

static void queries_are_unsupported(void) {
    tansu_db *db = memory_db_with((const char *const[]){"{'_id':1,'a':'x1'}", NULL});
    CHECK_TEXT("UNSUPPORTED a.$regex", find_ids(db, "{'a':{'$REGEX':'x'}}", NULL));
    CHECK_TEXT("UNSUPPORTED $or.1.a.$not.$regex",
               find_ids(db, "{'$or':[{'b':1},{'a':{'$not':{'$REGEX':'x'}}}]}", NULL));
    CHECK_TEXT("UNSUPPORTED a",
               find_ids(db, "{'a':{'$regularExpression':{'pattern':'x','options':''}}}", NULL));
    /* What is wrong with it in every build. */
    CHECK_TEXT("INVALID_QUERY a.$options",
               find_ids(db, "{'a':{'$REGEX':'x','$options':'q'}}", NULL));
    CHECK_TEXT("1", find_ids(db, "{'a':{'$begin':'x'}}", NULL));
    is_unsupported(call_remove(db, NULL, "c", "{'a':{'$regex':'x'}}", NULL), "a");
    CHECK_TEXT("1", find_ids(db, "{}", NULL));
    memory_db_close(db);
}

/* Stored regular expressions are values like others. */
static void values_are_kept(void) {
    tansu_db *db = memory_db_with((const char *const[]){
        "{'_id':1,'a':{'$regularExpression':{'pattern':'^x','options':'i'}}}", NULL});
    create_index(db, "a", "{'a':1}", NULL);
    CHECK_TEXT("1", find_ids(db, "{'a':{'$TYPE':'regex'}}", NULL));
    CHECK_TEXT(
        "1",
        find_ids(db, "{'a':{'$eq':{'$regularExpression':{'pattern':'^x','options':'i'}}}}", NULL));
    memory_db_close(db);
}

static tansu_status compile_schema(const char *json, tansu_schema **schema) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    REQUIRE(tansu_json_to_bson(json, SIZE_MAX, &bson, NULL) == TANSU_OK);
    tansu_status status =
        tansu_schema_new((tansu_document){bson.data, bson.size}, schema, &call_error);
    tansu_buffer_free(&bson);
    return status;
}

static void schemas_are_unsupported(void) {
    tansu_schema *schema;
    is_unsupported(compile_schema("{\"properties\": {\"a\": {\"pattern\": \"x\"}}}", &schema),
                   "properties.a.pattern");
    CHECK_OK(compile_schema("{\"properties\": {\"a\": {\"minLength\": 2}}}", &schema), &call_error);
    tansu_schema_free(schema);
    tansu_db *db = memory_db_open();
    CHECK_STATUS(TANSU_E_UNSUPPORTED, call_ensure(db, NULL, "c", PATTERN));
    memory_db_close(db);
}

/* A database of another build is opened and read; what its schema cannot check is not written. */
static void a_database_with_a_pattern_opens(void) {
    for (int i = 0; i < 2; i++) {
        tansu_db *db = call_open(folder);
        CHECK_TEXT("{ \"_id\" : 1, \"a\" : \"xy\" }", call_get(db, NULL, "checked", "{'_id':1}"));
        CHECK_STATUS(TANSU_E_UNSUPPORTED,
                     call_save(db, NULL, "checked", TANSU_SAVE, "{'_id':2,'a':'xy'}"));
        CHECK(strstr(call_error.message, "tansu_platform_set()") != NULL);
        CHECK_INT(1, call_count(db, NULL, "checked", "{}"));
        CHECK_OK(call_save(db, NULL, "free", TANSU_SAVE, "{'_id':2}"), &call_error);
        CHECK_OK(call_remove_id(db, NULL, "checked", "{'_id':7}", NULL), &call_error);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        CHECK(maintenance_clean(db));
        call_close(db);
    }
}

/* What copies documents does not check them again. */
static void a_database_with_a_pattern_is_repaired(void) {
    char *other = folder_new(), *to = strdup(folder_join(other, "to"));
    CHECK_OK(maintenance_repair(folder, to), &call_error);
    tansu_db *db = call_open(to);
    CHECK_INT(1, call_count(db, NULL, "checked", "{}"));
    CHECK_STATUS(TANSU_E_UNSUPPORTED, call_save(db, NULL, "checked", TANSU_SAVE, "{'_id':2}"));
    call_close(db);
    free(to);
    folder_end(other);
}

/* ---- With functions ---- */

static void they_are_set_once(void) {
    CHECK_OK(tansu_platform_set(&platform, &call_error), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_STATE, tansu_platform_set(&platform, &call_error));
    CHECK(strstr(call_error.message, "already") != NULL);
    arguments_are_checked();
}

static void queries_match(void) {
    tansu_db *db = memory_db_with((const char *const[]){"{'_id':1,'a':'ab'}", "{'_id':2,'a':'ba'}",
                                                        "{'_id':3,'a':['x','aab']}",
                                                        "{'_id':4,'a':'b\\u0000c'}", NULL});
    CHECK_TEXT("1 3", find_ids(db, "{'a':{'$REGEX':'ab'}}", NULL));
    CHECK_TEXT("1", find_ids(db, "{'a':{'$REGEX':'^ab'}}", NULL));
    CHECK_TEXT("2 4", find_ids(db, "{'a':{'$not':{'$REGEX':'ab'}}}", NULL));
    CHECK_TEXT("4", find_ids(db, "{'a':{'$REGEX':'c'}}", NULL));
    CHECK_INT(1, last_size);
    CHECK_TEXT("", last_options);
    CHECK_TEXT("", find_ids(db, "{'a':{'$REGEX':'q','$options':'xusm'}}", NULL));
    CHECK_TEXT("msx", last_options);
    CHECK_TEXT("", find_ids(db, "{'a':{'$icase':{'$REGEX':'q','$options':'i'}}}", NULL));
    CHECK_TEXT("i", last_options);
    memory_db_close(db);
    CHECK_INT(0, alive);
}

/* pipeline_result -- the "r" of the only document that a pipeline makes of the text, as relaxed JSON;
 * or the name of the status. Valid until the next call. */
static const char *pipeline_result(tansu_db *db, const char *text, const char *operation) {
    static char result[300];
    snprintf(result, sizeof result,
             "{'s':[{'$documents':[{'t':'%s'}]},{'$replaceWith':{'r':{'%s}}}]}", text, operation);
    bson_t *stages = bson_from_text(result);
    bson_iter_t iter;
    tansu_document array = {NULL, 0}, doc;
    tansu_cursor *cursor;
    uint32_t size;
    REQUIRE(bson_iter_init_find(&iter, stages, "s"));
    const uint8_t *bytes;
    bson_iter_array(&iter, &size, &bytes);
    array = (tansu_document){bytes, size};
    tansu_status status =
        tansu_pipeline(db, NULL, NULL, array, TANSU_NO_DOCUMENT, &cursor, &call_error);
    if (status == TANSU_OK) {
        status = tansu_cursor_next(cursor, &doc, &call_error);
        if (status == TANSU_OK) {
            bson_t made;
            REQUIRE(bson_init_static(&made, doc.data, doc.size));
            char *json = bson_as_relaxed_extended_json(&made, NULL);
            snprintf(result, sizeof result, "%s", json);
            bson_free(json);
        }
        tansu_cursor_close(cursor);
    }
    bson_destroy(stages);
    return status == TANSU_OK ? result : tansu_status_name(status);
}

/* Places are bytes to the functions, and code points in the result. */
static void places_are_found(void) {
    tansu_db *db = memory_db_open();
    CHECK_TEXT("{ \"r\" : { \"match\" : \"b\", \"idx\" : 1, \"captures\" : [  ] } }",
               pipeline_result(db, "\u00e9bb", "$regexFind':{'input':'$t','regex':'b'}"));
    CHECK_TEXT("{ \"r\" : [ { \"match\" : \"b\", \"idx\" : 1, \"captures\" : [  ] }, "
               "{ \"match\" : \"b\", \"idx\" : 2, \"captures\" : [  ] } ] }",
               pipeline_result(db, "\u00e9bb", "$regexFindAll':{'input':'$t','regex':'b'}"));
    CHECK_TEXT("{ \"r\" : { \"match\" : \"?\", \"idx\" : 0, \"captures\" : [ null, null ] } }",
               pipeline_result(db, "?", "$regexFind':{'input':'$t','regex':'?'}"));
    CHECK_TEXT("{ \"r\" : null }",
               pipeline_result(db, "ab", "$regexFind':{'input':'$t','regex':'c'}"));
    CHECK_TEXT("{ \"r\" : true }",
               pipeline_result(db, "ab", "$regexMatch':{'input':'$t','regex':'b'}"));
    CHECK_TEXT("INVALID_QUERY",
               pipeline_result(db, "ab", "$regexFind':{'input':'$t','regex':'!steps'}"));
    CHECK_TEXT("MEMORY", pipeline_result(db, "ab", "$regexFind':{'input':'$t','regex':'!memory'}"));
    memory_db_close(db);
    CHECK_INT(0, alive);
}

/* The prefix is the library's own work. */
static void prefixes_use_an_index(void) {
    tansu_db *db = memory_db_with((const char *const[]){"{'_id':1,'a':'ab'}", "{'_id':2,'a':'ba'}",
                                                        "{'_id':3,'a':'abc'}", NULL});
    create_index(db, "a", "{'a':1}", NULL);
    CHECK_TEXT("1 3", find_ids(db, "{'a':{'$REGEX':'^ab'}}", NULL));
    CHECK_TEXT("2", plan_field(db, "{'a':{'$REGEX':'^ab'}}", "{'$index':'a'}", "keysExamined"));
    CHECK_TEXT("3", plan_field(db, "{'a':{'$REGEX':'^ab','$options':'m'}}", "{'$index':'a'}",
                               "keysExamined"));
    memory_db_close(db);
    CHECK_INT(0, alive);
}

/* find_nothing -- what a process does that has only the functions of the first programs. */
static void find_nothing(void) {
    tansu_platform first = platform;
    first.struct_size = offsetof(tansu_platform, gcm_seal);
    CHECK_OK(tansu_platform_set(&first, &call_error), &call_error);
    tansu_db *db = memory_db_open();
    CHECK_TEXT("UNSUPPORTED", pipeline_result(db, "ab", "$regexFind':{'input':'$t','regex':'b'}"));
    CHECK_TEXT("1.$replaceWith.$regexFind", call_error.context);
    CHECK_TEXT("UNSUPPORTED",
               pipeline_result(db, "b", "$regexFindAll':{'input':'$t','regex':'$t'}"));
    CHECK_TEXT("{ \"r\" : true }",
               pipeline_result(db, "ab", "$regexMatch':{'input':'$t','regex':'b'}"));
    memory_db_close(db);
    CHECK_INT(0, alive);
}

static void places_may_be_unknown(void) {
    in_another_process(find_nothing);
}

static void failures_are_errors(void) {
    tansu_db *db = memory_db_with((const char *const[]){"{'_id':1,'a':'ab'}", NULL});
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 call_remove(db, NULL, "c", "{'a':{'$regex':'ab(c'}}", NULL));
    CHECK_TEXT("a", call_error.context);
    CHECK_INT(2, call_error.offset);
    CHECK(strstr(call_error.message, "invalid at byte 2: it opens a group;") != NULL);
    CHECK_STATUS(TANSU_E_MEMORY, call_remove(db, NULL, "c", "{'a':{'$regex':'!!memory'}}", NULL));
    CHECK_STATUS(TANSU_E_MEMORY, call_remove(db, NULL, "c", "{'a':{'$regex':'!memory'}}", NULL));
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 call_remove(db, NULL, "c", "{'a':{'$regex':'!steps'}}", NULL));
    CHECK_TEXT("a", call_error.context);
    CHECK(strstr(call_error.message, "step limit") != NULL);
    /* A status that means nothing here, and nothing said about what is wrong. */
    odd_status = TANSU_E_LOCKED;
    CHECK_STATUS(TANSU_E_INVALID_QUERY, call_remove(db, NULL, "c", "{'a':{'$regex':'x'}}", NULL));
    CHECK(strstr(call_error.message, "expression is invalid: ") != NULL);
    CHECK_INT(-1, call_error.offset);
    odd_status = TANSU_OK;
    memory_db_close(db);
    CHECK_INT(0, alive);
}

static void schemas_match(void) {
    tansu_schema *schema;
    CHECK_STATUS(TANSU_E_INVALID_QUERY,
                 compile_schema("{\"properties\": {\"a\": {\"pattern\": \"x(\"}}}", &schema));
    CHECK_TEXT("properties.a.pattern", call_error.context);
    CHECK_INT(1, call_error.offset);
    tansu_db *db = call_open(folder);
    CHECK_OK(call_save(db, NULL, "checked", TANSU_SAVE, "{'_id':2,'a':'xz'}"), &call_error);
    CHECK_STATUS(TANSU_E_INVALID_DOCUMENT,
                 call_save(db, NULL, "checked", TANSU_SAVE, "{'_id':3,'a':'zx'}"));
    CHECK_TEXT("a: pattern", call_error.context);
    call_close(db);
    CHECK_INT(0, alive);
}

int main(void) {
    folder = folder_new();
    RUN(a_database_is_made);
    RUN(arguments_are_checked);
    RUN(queries_are_unsupported);
    RUN(values_are_kept);
    RUN(schemas_are_unsupported);
    RUN(a_database_with_a_pattern_opens);
    RUN(a_database_with_a_pattern_is_repaired);
    RUN(places_may_be_unknown);
    RUN(they_are_set_once);
    RUN(queries_match);
    RUN(places_are_found);
    RUN(prefixes_use_an_index);
    RUN(failures_are_errors);
    RUN(schemas_match);
    folder_end(folder);
    return check_finish();
}

#endif
