/*
 * fuzz_pipeline.c -- any pipeline and any expression: nothing crashes, each document that is shown
 * is BSON, and a stage that changes nothing does not change them.
 *
 * The first byte selects how the others are read: as BSON documents one after the other, unchanged
 * (an array of stages, then documents to store), or as choices that generate the same.
 */
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DOCUMENTS 6
#define MOST_STAGES 4
#define DEEPEST 4

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- Expressions ---- */

/* Operators that take operands by position. */
static const char *const positional[] = {
    "$eq",
    "$ne",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$cmp",
    "$and",
    "$or",
    "$not",
    "$cond",
    "$ifNull",
    "$literal",
    "$add",
    "$subtract",
    "$multiply",
    "$divide",
    "$mod",
    "$abs",
    "$ceil",
    "$floor",
    "$round",
    "$trunc",
    "$sqrt",
    "$pow",
    "$exp",
    "$ln",
    "$log",
    "$log10",
    "$sin",
    "$cos",
    "$tan",
    "$asin",
    "$acos",
    "$atan",
    "$atan2",
    "$sinh",
    "$degreesToRadians",
    "$bitAnd",
    "$bitOr",
    "$bitXor",
    "$bitNot",
    "$concat",
    "$split",
    "$substrBytes",
    "$substrCP",
    "$strLenBytes",
    "$strLenCP",
    "$strcasecmp",
    "$toLower",
    "$toUpper",
    "$indexOfBytes",
    "$indexOfCP",
    "$toString",
    "$toInt",
    "$toLong",
    "$toDouble",
    "$toDecimal",
    "$toBool",
    "$toDate",
    "$toObjectId",
    "$type",
    "$isNumber",
    "$year",
    "$month",
    "$dayOfMonth",
    "$dayOfYear",
    "$isoWeek",
    "$hour",
    "$millisecond",
    "$arrayElemAt",
    "$arrayToObject",
    "$objectToArray",
    "$concatArrays",
    "$in",
    "$indexOfArray",
    "$isArray",
    "$range",
    "$reverseArray",
    "$size",
    "$slice",
    "$first",
    "$last",
    "$sum",
    "$avg",
    "$min",
    "$max",
    "$stdDevPop",
    "$mergeObjects",
    "$getField",
    "$setEquals",
    "$setUnion",
    "$setIntersection",
    "$setDifference",
    "$setIsSubset",
    "$anyElementTrue",
    "$allElementsTrue",
    "$bsonSize",
    "$tsSecond",
    "$sigmoid",
};

/* Operators that take operands by name, with their members. */
static const char *const named[] = {
    "$map input as in",
    "$filter input cond limit",
    "$reduce input initialValue in",
    "$sortArray input sortBy",
    "$zip inputs defaults useLongestLength",
    "$let vars in",
    "$switch branches default",
    "$cond if then else",
    "$getField field input",
    "$setField field input value",
    "$unsetField field input",
    "$convert input to onError onNull format",
    "$trim input chars",
    "$ltrim input chars",
    "$replaceAll input find replacement",
    "$replaceOne input find replacement",
    "$regexMatch input regex options",
    "$regexFind input regex options",
    "$regexFindAll input regex options",
    "$dateToString date format timezone onNull",
    "$dateFromString dateString format timezone onError onNull",
    "$dateToParts date timezone iso8601",
    "$dateFromParts year month day hour timezone",
    "$dateAdd startDate unit amount timezone",
    "$dateSubtract startDate unit amount timezone",
    "$dateDiff startDate endDate unit timezone startOfWeek",
    "$dateTrunc date unit binSize timezone startOfWeek",
    "$firstN input n",
    "$maxN input n",
    "$percentile input p method",
};

static void append_expression(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth);

/* append_expressions -- an array of up to four. */
static void append_expressions(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth) {
    bson_t list = BSON_INITIALIZER;
    char index[12];
    for (unsigned i = 0, count = fuzz_choose(bytes, 5); i < count; i++) {
        snprintf(index, sizeof index, "%u", i);
        append_expression(bytes, &list, index, depth);
    }
    bson_append_array(doc, key, -1, &list);
    bson_destroy(&list);
}

/* append_member -- an operand of a name. */
static void append_member(fuzz_bytes *bytes, bson_t *doc, const char *name, int depth) {
    static const char *const texts[] = {"year", "day", "week", "%Y-%m-%d", "int", "a", "string"};
    bson_t inner = BSON_INITIALIZER, list = BSON_INITIALIZER;
    if (strcmp(name, "as") == 0) {
        bson_append_utf8(doc, name, -1, "v", 1);
    } else if (strcmp(name, "vars") == 0) {
        append_expression(bytes, &inner, "v", depth);
        bson_append_document(doc, name, -1, &inner);
    } else if (strcmp(name, "branches") == 0) {
        append_expression(bytes, &inner, "case", depth);
        append_expression(bytes, &inner, "then", depth);
        bson_append_document(&list, "0", 1, &inner);
        bson_append_array(doc, name, -1, &list);
    } else if (strcmp(name, "inputs") == 0 || strcmp(name, "defaults") == 0) {
        append_expressions(bytes, doc, name, depth);
    } else if (strcmp(name, "sortBy") == 0) {
        bson_append_int32(doc, name, -1, fuzz_choose(bytes, 2) ? -1 : 1);
    } else if (strcmp(name, "useLongestLength") == 0) {
        bson_append_bool(doc, name, -1, true);
    } else if (fuzz_choose(bytes, 4) == 3) {
        bson_append_utf8(doc, name, -1, texts[fuzz_choose(bytes, COUNT(texts))], -1);
    } else {
        append_expression(bytes, doc, name, depth);
    }
    bson_destroy(&inner);
    bson_destroy(&list);
}

/* append_named -- an operator with a document of operands, some of which it lacks. */
static void append_named(fuzz_bytes *bytes, bson_t *doc, int depth) {
    char names[80], *state = NULL;
    bson_t members = BSON_INITIALIZER;
    snprintf(names, sizeof names, "%s", named[fuzz_choose(bytes, COUNT(named))]);
    const char *operator_name = strtok_r(names, " ", &state);
    for (const char *name; (name = strtok_r(NULL, " ", &state)) != NULL;) {
        if (fuzz_choose(bytes, 8) != 7)
            append_member(bytes, &members, name, depth);
    }
    bson_append_document(doc, operator_name, -1, &members);
    bson_destroy(&members);
}

/* append_expression -- any. */
static void append_expression(fuzz_bytes *bytes, bson_t *doc, const char *key, int depth) {
    static const char *const paths[] = {"$a",       "$b",     "$c",    "$d",         "$a.b",
                                        "$_id",     "$$ROOT", "$$v",   "$$this",     "$$value",
                                        "$$REMOVE", "$b.a",   "$$NOW", "$$CURRENT.a"};
    bson_t inner = BSON_INITIALIZER;
    switch (fuzz_choose(bytes, depth < DEEPEST ? 8 : 3)) {
    case 0: bson_append_utf8(doc, key, -1, paths[fuzz_choose(bytes, COUNT(paths))], -1); break;
    case 1:
    case 2: fuzz_append_value(bytes, doc, key); break;
    case 3: append_expressions(bytes, doc, key, depth + 1); break;
    case 4:
        append_expression(bytes, &inner, "a", depth + 1);
        append_expression(bytes, &inner, "b", depth + 1);
        bson_append_document(doc, key, -1, &inner);
        break;
    case 5:
        append_named(bytes, &inner, depth + 1);
        bson_append_document(doc, key, -1, &inner);
        break;
    default:
        append_expressions(bytes, &inner, positional[fuzz_choose(bytes, COUNT(positional))],
                           depth + 1);
        bson_append_document(doc, key, -1, &inner);
        break;
    }
    bson_destroy(&inner);
}

/* ---- Stages ---- */

/* append_bounds -- those of a window. */
static void append_bounds(fuzz_bytes *bytes, bson_t *function) {
    static const char *const words[] = {"unbounded", "current"};
    bson_t window = BSON_INITIALIZER, list = BSON_INITIALIZER;
    for (int i = 0; i < 2; i++) {
        const char *key = i == 0 ? "0" : "1";
        unsigned choice = fuzz_choose(bytes, 8);
        if (choice < COUNT(words))
            bson_append_utf8(&list, key, 1, words[choice], -1);
        else
            bson_append_int32(&list, key, 1, (int32_t)choice - 5 + i);
    }
    bool range = fuzz_choose(bytes, 2) != 0;
    bson_append_array(&window, range ? "range" : "documents", -1, &list);
    if (range && fuzz_choose(bytes, 4) == 3)
        bson_append_utf8(&window, "unit", -1, "day", -1);
    bson_append_document(function, "window", -1, &window);
    bson_destroy(&list);
    bson_destroy(&window);
}

/* append_window_function -- any, with an operand that it may take. */
static void append_window_function(fuzz_bytes *bytes, bson_t *output, const char *key) {
    static const char *const plain[] = {"$sum",           "$avg",
                                        "$min",           "$max",
                                        "$push",          "$addToSet",
                                        "$first",         "$last",
                                        "$stdDevPop",     "$stdDevSamp",
                                        "$locf",          "$linearFill",
                                        "$covariancePop", "$covarianceSamp",
                                        "$setUnion",      "$concatArrays",
                                        "$mergeObjects",  "$minMaxScaler"};
    static const char *const ranks[] = {"$rank", "$denseRank", "$documentNumber", "$count"};
    static const char *const series[] = {"$derivative",   "$integral", "$shift",
                                         "$expMovingAvg", "$firstN",   "$minN"};
    bson_t function = BSON_INITIALIZER, operand = BSON_INITIALIZER;
    unsigned choice = fuzz_choose(bytes, 4);
    if (choice == 0) {
        bson_append_document(&function, ranks[fuzz_choose(bytes, COUNT(ranks))], -1, &operand);
    } else if (choice == 1) {
        unsigned which = fuzz_choose(bytes, COUNT(series));
        append_expression(bytes, &operand, which == 2 ? "output" : "input", 2);
        if (which >= 2)
            bson_append_int32(&operand,
                              which == 2   ? "by"
                              : which == 3 ? "N"
                                           : "n",
                              -1, 1 + (int32_t)fuzz_choose(bytes, 3));
        bson_append_document(&function, series[which], -1, &operand);
    } else {
        append_expression(bytes, &function, plain[fuzz_choose(bytes, COUNT(plain))], 2);
    }
    if (choice != 0 && fuzz_choose(bytes, 4) != 3)
        append_bounds(bytes, &function);
    bson_append_document(output, key, -1, &function);
    bson_destroy(&operand);
    bson_destroy(&function);
}

/* append_windows -- $setWindowFields. */
static void append_windows(fuzz_bytes *bytes, bson_t *stage) {
    bson_t inner = BSON_INITIALIZER, part = BSON_INITIALIZER, output = BSON_INITIALIZER;
    if (fuzz_choose(bytes, 2) != 0)
        append_expression(bytes, &inner, "partitionBy", 2);
    bson_append_int32(&part, fuzz_choose(bytes, 2) ? "_id" : "a", -1,
                      fuzz_choose(bytes, 4) == 3 ? -1 : 1);
    bson_append_document(&inner, "sortBy", -1, &part);
    append_window_function(bytes, &output, "w");
    if (fuzz_choose(bytes, 2) != 0)
        append_window_function(bytes, &output, "a.x");
    bson_append_document(&inner, "output", -1, &output);
    bson_append_document(stage, "$setWindowFields", -1, &inner);
    bson_destroy(&output);
    bson_destroy(&part);
    bson_destroy(&inner);
}

/* append_series -- $fill or $densify. */
static void append_series(fuzz_bytes *bytes, bson_t *stage) {
    static const char *const bounds[] = {"full", "partition"};
    bson_t inner = BSON_INITIALIZER, part = BSON_INITIALIZER, list = BSON_INITIALIZER,
           field = BSON_INITIALIZER;
    bool fill = fuzz_choose(bytes, 2) != 0;
    bson_append_utf8(&list, "0", 1, "b", 1);
    if (fuzz_choose(bytes, 2) != 0)
        bson_append_array(&inner, "partitionByFields", -1, &list);
    if (fill) {
        bson_append_int32(&part, "_id", -1, 1);
        bson_append_document(&inner, "sortBy", -1, &part);
        if (fuzz_choose(bytes, 2) != 0)
            append_expression(bytes, &field, "value", 2);
        else
            bson_append_utf8(&field, "method", -1, fuzz_choose(bytes, 2) ? "locf" : "linear", -1);
        bson_reinit(&part);
        bson_append_document(&part, "a", 1, &field);
        bson_append_document(&inner, "output", -1, &part);
    } else {
        bson_append_utf8(&inner, "field", -1, fuzz_choose(bytes, 2) ? "a" : "_id", -1);
        fuzz_append_value(bytes, &part, "step");
        bson_append_utf8(&part, "bounds", -1, bounds[fuzz_choose(bytes, 2)], -1);
        bson_append_document(&inner, "range", -1, &part);
    }
    bson_append_document(stage, fill ? "$fill" : "$densify", -1, &inner);
    bson_destroy(&field);
    bson_destroy(&list);
    bson_destroy(&part);
    bson_destroy(&inner);
}

/* append_stage -- one of any kind. */
static void append_stage(fuzz_bytes *bytes, bson_t *stage) {
    static const char *const computing[] = {"$project", "$addFields", "$set"};
    static const char *const whole[] = {"$replaceWith", "$sortByCount", "$count"};
    bson_t inner = BSON_INITIALIZER, sum = BSON_INITIALIZER, *query;
    switch (fuzz_choose(bytes, 11)) {
    case 0:
    case 1:
    case 2:
        append_expression(bytes, &inner, fuzz_choose(bytes, 4) == 3 ? "a.b" : "r", 0);
        bson_append_document(stage, computing[fuzz_choose(bytes, COUNT(computing))], -1, &inner);
        break;
    case 3: append_expression(bytes, stage, whole[fuzz_choose(bytes, COUNT(whole))], 0); break;
    case 4:
        query = fuzz_query(bytes);
        bson_append_document(stage, "$match", -1, query);
        bson_destroy(query);
        break;
    case 5:
        bson_append_int32(stage, fuzz_choose(bytes, 2) ? "$limit" : "$skip", -1,
                          (int32_t)fuzz_choose(bytes, 4));
        break;
    case 6:
        bson_append_utf8(stage, fuzz_choose(bytes, 2) ? "$unwind" : "$unset", -1,
                         fuzz_choose(bytes, 2) ? "$a" : "b", -1);
        break;
    case 7:
    case 8: append_windows(bytes, stage); break;
    case 9: append_series(bytes, stage); break;
    default:
        append_expression(bytes, &inner, "_id", 1);
        append_expression(bytes, &sum, fuzz_choose(bytes, 2) ? "$push" : "$sum", 1);
        bson_append_document(&inner, "n", 1, &sum);
        bson_append_document(stage, "$group", -1, &inner);
        break;
    }
    bson_destroy(&inner);
    bson_destroy(&sum);
}

/* make_stages -- an array of some. */
static bson_t *make_stages(fuzz_bytes *bytes) {
    bson_t *stages = bson_new();
    char index[12];
    for (unsigned i = 0, count = 1 + fuzz_choose(bytes, MOST_STAGES); i < count; i++) {
        bson_t stage = BSON_INITIALIZER;
        snprintf(index, sizeof index, "%u", i);
        append_stage(bytes, &stage);
        bson_append_document(stages, index, -1, &stage);
        bson_destroy(&stage);
    }
    return stages;
}

/* ---- Running ---- */

/* run -- all documents of a pipeline, one after the other. */
static tansu_status run(tansu_db *db, tansu_document stages, tansu_buffer *answer) {
    static const uint8_t hints[] = "\x15\0\0\0\x10$maxTimeMS\0\x64\0\0\0";
    tansu_cursor *cursor = NULL;
    tansu_document document;
    tansu_status status =
        tansu_pipeline(db, NULL, "c", stages, (tansu_document){hints, sizeof hints}, &cursor, NULL);
    while (status == TANSU_OK &&
           (status = tansu_cursor_next(cursor, &document, NULL)) == TANSU_OK) {
        bson_t doc;
        fuzz_require(
            bson_init_static(&doc, document.data, document.size) &&
                bson_validate(&doc, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, NULL),
            "a pipeline shows what is no BSON");
        uint8_t *grown = realloc(answer->data, answer->size + document.size);
        fuzz_require(grown != NULL, "memory is exhausted");
        memcpy(grown + answer->size, document.data, document.size);
        answer->data = grown;
        answer->size += document.size;
    }
    tansu_cursor_close(cursor);
    return status;
}

/* holds -- whether stages may have a name. */
static bool holds(tansu_document stages, const char *name) {
    return memmem(stages.data, stages.size, name, strlen(name)) != NULL;
}

/* compare -- the stages, and the same behind one that lets all documents pass. */
static void compare(tansu_db *db, tansu_document stages) {
    tansu_buffer plain = TANSU_BUFFER_INIT, behind = TANSU_BUFFER_INIT;
    bson_t own, longer = BSON_INITIALIZER, skip = BSON_INITIALIZER;
    bson_iter_t iter;
    char index[16];
    unsigned count = 1;
    tansu_status status = run(db, stages, &plain);
    if (bson_init_static(&own, stages.data, stages.size) && bson_iter_init(&iter, &own) &&
        (status == TANSU_DONE || status == TANSU_E_INVALID_QUERY) && !holds(stages, "$rand") &&
        !holds(stages, "$$NOW") && !holds(stages, "$sample") && !holds(stages, "$documents")) {
        bson_append_int32(&skip, "$skip", -1, 0);
        bson_append_document(&longer, "0", 1, &skip);
        while (bson_iter_next(&iter)) {
            snprintf(index, sizeof index, "%u", count++);
            bson_append_iter(&longer, index, -1, &iter);
        }
        tansu_status again = run(db, fuzz_of(&longer), &behind);
        fuzz_require(again == status || again == TANSU_E_TIMEOUT || count == 1,
                     "$skip: 0 changes the status of a pipeline");
        fuzz_require(again != TANSU_DONE || status != TANSU_DONE || count == 1 ||
                         (plain.size == behind.size &&
                          (plain.size == 0 || memcmp(plain.data, behind.data, plain.size) == 0)),
                     "$skip: 0 changes the answer of a pipeline");
    }
    bson_destroy(&longer);
    bson_destroy(&skip);
    free(plain.data);
    free(behind.data);
}

/* as_it_comes -- BSON documents as they are. */
static void as_it_comes(tansu_db *db, fuzz_bytes *bytes) {
    tansu_document stages = fuzz_take_document(bytes);
    for (unsigned i = 0; i < MOST_DOCUMENTS && bytes->size != 0; i++)
        fuzz_save(db, fuzz_take_document(bytes));
    compare(db, stages);
}

/* as_choices -- stages and documents made by choices. */
static void as_choices(tansu_db *db, fuzz_bytes *bytes) {
    bson_t *stages = make_stages(bytes);
    for (int32_t id = 0; id < MOST_DOCUMENTS && (bytes->size != 0 || id < 2); id++) {
        bson_t *doc = fuzz_document(bytes, id);
        fuzz_save(db, fuzz_of(doc));
        bson_destroy(doc);
    }
    compare(db, fuzz_of(stages));
    bson_destroy(stages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes bytes = {data, size};
    tansu_db *db = fuzz_open();
    (fuzz_choose(&bytes, 2) != 0 ? as_it_comes : as_choices)(db, &bytes);
    fuzz_close(db);
    return 0;
}
