/*
 * test_forged_documents.c -- stored documents whose bytes somebody has written over, under valid
 * checksums and whole index files. A document's own size is right, and nothing else in it: every
 * kind of call returns, with any status.
 */
#include "bson/document.h"
#include "log/format.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/workload/apart.h"
#include "util/bytes.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LOG_FILE "db/log/00000001.seg"
#define SEGMENT_SIZE (16 << 20)
#define DEEP 200000 /* levels that no stack has room for */
#define TOO_DEEP (TANSU_MAX_DEPTH + 50)

/* ---- Elements "x", of which every byte is wrong where it can be ---- */

static uint8_t element[4 << 20];
static size_t element_size;

/* begin -- begins the element: type and key. */
static void begin(uint8_t type) {
    element[0] = type;
    element[1] = 'x';
    element[2] = 0;
    element_size = 3;
}

/* add, add_u32, add_byte -- more of the element. */
static void add(const void *bytes, size_t size) {
    memcpy(element + element_size, bytes, size);
    element_size += size;
}

static void add_u32(uint32_t number) {
    store_u32(element + element_size, number);
    element_size += 4;
}

static void add_byte(uint8_t byte) {
    element[element_size++] = byte;
}

/* add_many -- a byte, so often. */
static void add_many(uint8_t byte, size_t count) {
    memset(element + element_size, byte, count);
    element_size += count;
}

/* nest -- a value of that type in which documents or arrays are nested so deep. */
static void nest(uint8_t type, uint32_t levels) {
    begin(type);
    uint32_t size = 5 + 8 * levels;
    for (uint32_t i = 0; i <= levels; i++) {
        add_u32(size - 8 * i);
        if (i < levels) {
            add_byte(type);
            add_byte('x');
            add_byte(0);
        }
    }
    add_many(0, levels + 1);
}

static void deep_arrays(void) {
    nest(DOC_ARRAY, DEEP);
}

static void deep_documents(void) {
    nest(DOC_DOCUMENT, DEEP);
}

/* deep_scopes -- code with a scope in which there is code with a scope. */
static void deep_scopes(void) {
    const uint32_t each = 17, least = 4 + 5 + 5;
    begin(DOC_CODE_SCOPE);
    for (uint32_t left = DEEP; left-- > 0;) {
        add_u32(least + each * left);
        add_u32(1);
        add_byte(0);
        add_u32(5 + each * left);
        if (left != 0) {
            add_byte(DOC_CODE_SCOPE);
            add("x", 2);
        }
    }
    add_many(0, DEEP);
}

static void deep_some_arrays(void) {
    nest(DOC_ARRAY, TOO_DEEP);
}

static void deep_some_documents(void) {
    nest(DOC_DOCUMENT, TOO_DEEP);
}

static void bad_code_scope(void) {
    begin(DOC_CODE_SCOPE);
    add_u32(24);
    add_u32(0x7ffffff0);
    add_many('a', 16);
}

static void bad_code_scope_2(void) {
    begin(DOC_CODE_SCOPE);
    add_u32(24);
    add_u32(4);
    add_many(0xfe, 16);
}

static void short_code_scope(void) {
    begin(DOC_CODE_SCOPE);
    add_u32(5);
    add_byte('a');
}

static void bad_utf8(void) {
    begin(DOC_STRING);
    add_u32(17);
    add("ab \xf0\x80\xff\xc3 z\xe2\x82 q\xf4\xbf\xbf", 17);
}

static void bad_utf8_end(void) {
    begin(DOC_STRING);
    add_u32(2);
    add("\xf0\xf0", 2); /* no NUL */
}

static void bad_utf8_start(void) {
    begin(DOC_STRING);
    add_u32(9);
    add("\x80\x80\x80\x80\x80\x80\x80\x80", 9);
}

static void unterminated(void) {
    begin(DOC_STRING);
    add_u32(20);
    add_many('a', 20);
}

static void bad_binary(void) {
    begin(DOC_BINARY);
    add_u32(1);
    add_byte(2);
    add_byte(9);
}

static void empty_binary(void) {
    begin(DOC_BINARY);
    add_u32(0);
    add_byte(2);
}

static void short_pointer(void) {
    begin(DOC_DBPOINTER);
    add_u32(0);
    add_many(0xee, 12);
}

static void bad_pointer(void) {
    begin(DOC_DBPOINTER);
    add_u32(0xc);
    add_many(0xee, 24);
}

static void bad_array(void) {
    begin(DOC_ARRAY);
    add_u32(40);
    add_many(0x02, 36);
}

static void bad_document(void) {
    begin(DOC_DOCUMENT);
    add_u32(24);
    add_byte(2);
    add("x", 2);
    add_u32(0x7fffffff);
    add_many(0, 13);
}

static void tiny_document(void) {
    begin(DOC_DOCUMENT);
    add_u32(5);
    add_byte(7);
}

static void bad_decimal(void) {
    begin(DOC_DECIMAL128);
    add_many(0xff, 16);
}

static void bad_decimal_2(void) {
    begin(DOC_DECIMAL128);
    add_many(0xff, 15);
    add_byte(0x6f);
}

static void least_date(void) {
    begin(DOC_DATE);
    add_many(0, 7);
    add_byte(0x80);
}

static void most_date(void) {
    begin(DOC_DATE);
    add_many(0xff, 7);
    add_byte(0x7f);
}

static void bad_bool(void) {
    begin(DOC_BOOL);
    add_byte(0x77);
}

static void unknown_type(void) {
    begin(0x55);
    add_many(1, 20);
}

static void two_ids(void) {
    begin(DOC_INT32);
    add_u32(1);
    add_byte(DOC_ARRAY);
    add("_id", 4);
    add_u32(5);
    add_byte(0);
}

static void bad_regex(void) {
    begin(DOC_REGEX);
    add("(((((\xff\0zzzz\xff", 13);
}

typedef struct shape {
    const char *name;
    void (*make)(void);
} shape;

static const shape shapes[] = {
    {"deep_arrays", deep_arrays},
    {"deep_documents", deep_documents},
    {"deep_scopes", deep_scopes},
    {"deep_some_arrays", deep_some_arrays},
    {"deep_some_documents", deep_some_documents},
    {"bad_code_scope", bad_code_scope},
    {"bad_code_scope_2", bad_code_scope_2},
    {"short_code_scope", short_code_scope},
    {"bad_utf8", bad_utf8},
    {"bad_utf8_end", bad_utf8_end},
    {"bad_utf8_start", bad_utf8_start},
    {"unterminated", unterminated},
    {"bad_binary", bad_binary},
    {"empty_binary", empty_binary},
    {"short_pointer", short_pointer},
    {"bad_pointer", bad_pointer},
    {"bad_array", bad_array},
    {"bad_document", bad_document},
    {"tiny_document", tiny_document},
    {"bad_decimal", bad_decimal},
    {"bad_decimal_2", bad_decimal_2},
    {"least_date", least_date},
    {"most_date", most_date},
    {"bad_bool", bad_bool},
    {"unknown_type", unknown_type},
    {"two_ids", two_ids},
    {"bad_regex", bad_regex},
};
#define SHAPES (sizeof shapes / sizeof shapes[0])

/* ---- The database ---- */

/* seal -- recomputes the checksum of the frame that an offset is in. */
static void seal(tansu_buffer *log, size_t inside) {
    uint32_t seed = checksum(0, log->data + 16, 16);
    for (size_t at = SEGMENT_HEADER_SIZE; at + FRAME_HEADER_SIZE <= log->size;) {
        REQUIRE(load_u32(log->data + at) == FRAME_MAGIC);
        uint32_t size = load_u32(log->data + at + 8);
        if (inside < at + size) {
            store_u32(log->data + at + 4, checksum(seed, log->data + at + 8, size - 8));
            return;
        }
        at += size;
    }
    REQUIRE(false);
}

/* options_of -- for the database in a folder. */
static tansu_options options_of(const char *folder) {
    tansu_options options = call_options(folder_join(folder, "db"));
    options.segment_size = SEGMENT_SIZE;
    return options;
}

/* sample -- a folder with a closed database in which document 3 has the element. */
static char *sample(void) {
    char *folder = folder_new();
    tansu_options options = options_of(folder);
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_index(db, NULL, "c", "n", "{'n': 1}", NULL), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 1, 'n': 1, 'x': 'Abc'}"), &call_error);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 2, 'n': 2, 'x': ['a']}"), &call_error);
    bson_t *doc = bson_new();
    bson_append_int32(doc, "_id", -1, 3);
    bson_append_int32(doc, "n", -1, 3);
    uint8_t *marks = malloc(element_size + 16);
    memset(marks, 0xA5, element_size + 16);
    bson_append_binary(doc, "x", -1, BSON_SUBTYPE_BINARY, marks, (uint32_t)element_size + 8);
    CHECK_OK(call_save_bson(db, NULL, "c", TANSU_SAVE, doc), &call_error);
    bson_destroy(doc);
    free(marks);
    CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, "{'_id': 4, 'n': 4, 'x': 'abC'}"), &call_error);
    call_close(db);
    tansu_buffer log = TANSU_BUFFER_INIT;
    file_read(folder_join(folder, LOG_FILE), &log);
    size_t at = 0;
    while (memcmp(log.data + at, "\x05x\0", 3) != 0 || log.data[at + 8] != 0xA5)
        at++;
    /* A second element fills the 16 bytes. */
    memcpy(log.data + at, element, element_size);
    at += element_size;
    memcpy(log.data + at, "\x05y\0\x08\0\0\0\0zzzzzzzz", 16);
    seal(&log, at);
    file_write(folder_join(folder, LOG_FILE), log.data, log.size);
    tansu_buffer_free(&log);
    return folder;
}

/* ---- What is done with it ---- */

/* Commands that differ in one part. */
typedef struct requests {
    const char *before, *after;
    const char *const *parts; /* up to NULL */
} requests;

static const char *const queries[] = {
    "{'x': 'abc'}",
    "{'**': 'abc'}",
    "{'**.z': 'abc'}",
    "{'*': 'abc'}",
    "{'x': {'$eq': [[1]]}}",
    "{'x': {'$gt': [[[]]]}}",
    "{'x': {'$icase': 'abc'}}",
    "{'x': {'$icase': {'$contains': 'b'}}}",
    "{'x': {'$icase': {'$in': ['b', 'z']}}}",
    "{'x': {'$begin': 'b'}}",
    "{'x': {'$strand': ['b', 'q']}}",
    "{'x': {'$stror': ['b', 'q']}}",
    "{'x': {'$regex': 'b.*c', '$options': 'i'}}",
    "{'**': {'$regex': 'q.*z$'}}",
    "{'x.x.x.x': {'$exists': true}}",
    "{'x.0.0': {'$exists': true}}",
    "{'x': {'$elemMatch': {'x': 3}}}",
    "{'x': {'$all': ['a', 'b']}}",
    "{'x': {'$size': 1}}",
    "{'x': {'$type': 'string'}}",
    "{'x': {'$mod': [3, 1]}}",
    "{'x': {'x': {'x': 1}}}",
    "{'n': {'$in': {'$from': 'c', '$field': 'x'}}}",
    NULL,
};

static const char *const all_hints[] = {
    "{}",
    "{'$orderby': {'x': 1}}",
    "{'$orderby': {'x': 1}, '$collation': 'caseInsensitive'}",
    "{'$orderby': {'x': 1}, '$collation': 'numeric'}",
    "{'$orderby': {'x': -1}, '$max': 1}",
    "{'$fields': {'x': 1}}",
    "{'$fields': {'x': 0}}",
    "{'$fields': {'x.x.x': 1}}",
    "{'$fields': {'x.x.y': 0}}",
    "{'$fields': {'x.0.0': 1}}",
    "{'$fields': {'x': {'$slice': 1}}}",
    "{'$do': {'x': {'$join': 'c'}}}",
    "{'$do': {'x.x': {'$join': 'c', '$hexIds': true}}}",
    "{'$do': {'x': {'$slice': 1}}}",
    NULL,
};

static const char *const groups[] = {
    "{'by': 'x', 'fields': {'a': {'$sum': 'x'}}}",
    "{'by': 'n', 'fields': {'a': {'$avg': 'x'}, 'b': {'$min': 'x'}, 'c': {'$max': 'x'}}}",
    "{'by': 'n', 'fields': {'c': {'$first': 'x'}, 'd': {'$last': 'x'}}}",
    "{'by': {'m': {'$dateTrunc': {'date': 'x', 'unit': 'month'}}},"
    " 'fields': {'c': {'$count': true}}}",
    "{'by': {'m': {'$dateTrunc': {'date': 'x', 'unit': 'week', 'timezone': 'Europe/Berlin'}}},"
    " 'fields': {'c': {'$count': true}}}",
    "{'by': 'x.x.x', 'fields': {'c': {'$count': true}}}",
    NULL,
};

static const char *const updates[] = {
    "{'$set': {'q': 1}}",
    "{'$set': {'n': 1}}",
    "{'$set': {'x.x.x': 1}}",
    "{'$inc': {'x': 1}}",
    "{'$mul': {'x': 1}}",
    "{'$max': {'x': 'z'}}",
    "{'$push': {'x': 1}}",
    "{'$push': {'x': {'$each': [1], '$sort': {'x': 1}}}}",
    "{'$push': {'x': {'$each': [1], '$sort': 1}}}",
    "{'$addToSet': {'x': 1}}",
    "{'$pull': {'x': {'x': 3}}}",
    "{'$pop': {'x': 1}}",
    "{'$set': {'x.$[].x': 1}}",
    "{'$rename': {'x': 'z'}}",
    "{'$unset': {'x': 1}}",
    "{'$unset': {'x.x.x': 1}}",
    NULL,
};

static const char *const others[] = {
    "'get', 'collection': 'c', 'ids': [3, 1]",
    "'find', 'collection': 'c', 'canonical': true",
    "'distinct', 'collection': 'c', 'path': 'x'",
    "'distinct', 'collection': 'c', 'path': 'x.x'",
    "'distinct', 'collection': 'c', 'path': 'x', 'hints': {'$collation': 'caseInsensitive'}",
    "'openFeed', 'since': 0",
    "'nextChanges', 'feed': 1, 'timeoutMs': 0, 'batch': 100",
    "'createIndex', 'collection': 'c', 'keys': {'x': 1}",
    "'createIndex', 'collection': 'c', 'keys': {'x.x.x': 1}, 'options': {'sparse': true}",
    "'createIndex', 'collection': 'c', 'keys': {'x': -1}, 'options': {'caseInsensitive': true}",
    "'createIndex', 'collection': 'c', 'keys': {'**': 1}, 'options': {'maxEntries': 1000000}",
    "'createIndex', 'collection': 'c', 'keys': {'n': 1}, 'name': 'p',"
    " 'options': {'partialFilter': {'x': {'$gt': ['a']}}}",
    "'createCollection', 'collection': 'c',"
    " 'options': {'references': [{'path': 'x', 'to': 'c', 'onDelete': 'nullify'}]}",
    "'danglingReferences'",
    "'verify'",
    "'findAndModify', 'collection': 'c', 'query': {'_id': 3}, 'update': {'$set': {'n': 4}},"
    " 'return': 'before'",
    "'findAndModify', 'collection': 'c', 'query': {'_id': 3}, 'remove': true",
    "'save', 'collection': 'c', 'documents': [{'_id': 3, 'n': 9}]",
    NULL,
};

/* The updates are rolled back, since the last command fails. */
static const requests all_requests[] = {
    {"{'op': 'count', 'collection': 'c', 'query': ", "}", queries},
    {"{'op': 'count', 'collection': 'c', 'hints': {'$collation': 'caseInsensitive'}, 'query': ",
     "}", queries},
    {"{'op': 'find', 'collection': 'c', 'hints': ", "}", all_hints},
    {"{'op': 'aggregate', 'collection': 'c', 'group': ", "}", groups},
    {"{'op': 'aggregate', 'collection': 'c', 'hints': {'$collation': 'caseInsensitive'},"
     " 'group': ",
     "}", groups},
    {"{'op': 'transaction', 'commands': [{'op': 'update', 'collection': 'c', 'query': {'_id': 3},"
     " 'update': ",
     "}, {'op': 'rename'}]}", updates},
    {"{'op': ", "}", others},
};
#define REQUESTS (sizeof all_requests / sizeof all_requests[0])

/* What the child process did last. */
#define LAST_SIZE 4096
static char *last;

/* execute -- a command of three texts, in which single quotes stand for double ones. */
static void execute(tansu_db *db, const char *before, const char *part, const char *after) {
    char *answer = NULL;
    snprintf(last, LAST_SIZE, "%s%s%s", before, part, after);
    for (char *p = last; *p != 0; p++) {
        if (*p == '\'')
            *p = '"';
    }
    tansu_execute_json(db, last, &answer);
    tansu_free(answer);
}

/* use -- opens the database and makes all requests. */
static void use(const char *folder) {
    tansu_options options = options_of(folder);
    tansu_db *db = NULL;
    snprintf(last, LAST_SIZE, "opening");
    if (tansu_open(&options, &db, &call_error) != TANSU_OK)
        return;
    execute(db, "{'op': 'dump', 'to': '", folder_join(folder, "dump"), "'}");
    for (size_t i = 0; i < REQUESTS; i++) {
        const requests *r = &all_requests[i];
        for (size_t k = 0; r->parts[k] != NULL; k++)
            execute(db, r->before, r->parts[k], r->after);
    }
    snprintf(last, LAST_SIZE, "closing");
    tansu_shutdown(db, NULL);
}

/* rebuild -- makes the indexes from the log, and repairs a copy. */
static void rebuild(const char *folder) {
    tansu_db *db = NULL;
    tansu_options options = options_of(folder);
    tansu_buffer report = TANSU_BUFFER_INIT;
    snprintf(last, LAST_SIZE, "repairing");
    tansu_repair(options.path, folder_join(folder, "repaired"), NULL, NULL, &report, &call_error);
    tansu_buffer_free(&report);
    snprintf(last, LAST_SIZE, "rebuilding");
    folder_remove(folder_join(folder, "db/index"));
    if (tansu_open(&options, &db, &call_error) == TANSU_OK)
        tansu_shutdown(db, NULL);
}

/* use_each -- a function with each of the forged databases. */
static void use_each(void (*function)(const char *folder)) {
    last = mmap(NULL, LAST_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(last != MAP_FAILED);
    for (size_t i = 0; i < SHAPES; i++) {
        shapes[i].make();
        char *folder = sample();
        if (!CHECK(apart(function, folder)))
            check_note("%s: %s", shapes[i].name, last);
        folder_end(folder);
    }
    munmap(last, LAST_SIZE);
}

static void documents_may_hold_anything(void) {
    use_each(use);
}

static void recovery_and_repair_may_find_anything(void) {
    use_each(rebuild);
}

int main(void) {
    RUN(documents_may_hold_anything);
    RUN(recovery_and_repair_may_find_anything);
    return check_finish();
}
