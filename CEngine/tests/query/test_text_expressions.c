/*
 * test_text_expressions.c -- conversions, strings and regular expressions in pipelines: what
 * MongoDB's manual and source say about them beyond the recorded cases (test_mongo_functional.c).
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An expression, and its value as canonical JSON or the name of the status. */
typedef struct sample {
    const char *expression, *value;
} sample;

#define FRONT "{ \"r\" : "

/* value_of -- the value of an expression, within an array. The caller frees it with bson_free(). */
static char *value_of(tansu_db *db, const char *expression) {
    size_t size = strlen(expression) + 100;
    char *json = malloc(size), *value = NULL;
    REQUIRE(json != NULL);
    snprintf(json, size, "{'s':[{'$documents':[{}]},{'$replaceWith':{'r':[%s]}}]}", expression);
    bson_t *stages = bson_from_text(json), made;
    bson_iter_t iter;
    tansu_document document;
    tansu_cursor *cursor;
    uint32_t array_size;
    const uint8_t *array;
    REQUIRE(bson_iter_init_find(&iter, stages, "s"));
    bson_iter_array(&iter, &array_size, &array);
    tansu_status status = tansu_pipeline(db, NULL, NULL, (tansu_document){array, array_size},
                                         TANSU_NO_DOCUMENT, &cursor, &call_error);
    if (status == TANSU_OK) {
        status = tansu_cursor_next(cursor, &document, &call_error);
        if (status == TANSU_OK) {
            REQUIRE(bson_init_static(&made, document.data, document.size));
            value = bson_as_canonical_extended_json(&made, NULL);
            /* Without the document around it. */
            memmove(value, value + strlen(FRONT), strlen(value + strlen(FRONT)) + 1);
            value[strlen(value) - strlen(" }")] = '\0';
        }
        tansu_cursor_close(cursor);
    }
    bson_destroy(stages);
    free(json);
    return value ? value : bson_strdup(tansu_status_name(status));
}

/* check_samples -- all of them. */
static void check_samples(const sample *samples, size_t count) {
    tansu_db *db = memory_db_open();
    for (size_t i = 0; i < count; i++) {
        char *value = value_of(db, samples[i].expression);
        if (!CHECK_TEXT(samples[i].value, value))
            check_note("%s", samples[i].expression);
        bson_free(value);
    }
    memory_db_close(db);
}

#define CHECK_SAMPLES(samples) check_samples(samples, sizeof(samples) / sizeof *(samples))
#define ERROR "INVALID_QUERY"
#define TEXT(text) "[ \"" text "\" ]"
#define INT(number) "[ { \"$numberInt\" : \"" number "\" } ]"
#define NOTHING "[ null ]"
#define BINARY(base64, subtype) \
    "[ { \"$binary\" : { \"base64\" : \"" base64 "\", \"subType\" : \"" subtype "\" } } ]"

static void binaries_are_converted(void) {
    static const sample samples[] = {
        {"{'$toUUID':'550e8400-e29b-41d4-a716-446655440000'}",
         BINARY("VQ6EAOKbQdSnFkRmVUQAAA==", "04")},
        {"{'$toUUID':'550e8400'}", ERROR},
        {"{'$toUUID':null}", NOTHING},
        {"{'$convert':{'input':{'$binary':{'base64':'+q8=','subType':'00'}},'to':'string',"
         "'format':'hex'}}",
         TEXT("FAAF")},
        {"{'$convert':{'input':'fAAf','to':'binData','format':'hex'}}", BINARY("+q8=", "00")},
        {"{'$convert':{'input':{'$binary':{'base64':'+w==','subType':'00'}},'to':'string',"
         "'format':'base64url'}}",
         TEXT("-w")},
        {"{'$convert':{'input':{'$binary':{'base64':'+w==','subType':'00'}},'to':'string',"
         "'format':'utf8','onError':'none'}}",
         TEXT("none")},
        {"{'$convert':{'input':{'$numberInt':'258'},'to':{'type':'binData','subtype':2}}}",
         BINARY("AgEAAA==", "02")},
        {"{'$convert':{'input':'x','to':'binData','onError':'none'}}", ERROR},
        {"{'$convert':{'input':'_w','to':'binData','format':'base64url'}}", BINARY("/w==", "00")},
        {"{'$convert':{'input':{'$numberDouble':'1.5'},'to':'binData','byteOrder':'big'}}",
         BINARY("P/gAAAAAAAA=", "00")},
        {"{'$convert':{'input':{'$binary':{'base64':'P8AAAA==','subType':'00'}},'to':'double',"
         "'byteOrder':'big'}}",
         "[ { \"$numberDouble\" : \"1.5\" } ]"},
        {"{'$convert':{'input':{'$binary':{'base64':'//4=','subType':'00'}},'to':'int',"
         "'byteOrder':'big'}}",
         INT("-2")},
        {"{'$convert':{'input':true,'to':{'type':'binData','subtype':-1}}}", ERROR},
    };
    CHECK_SAMPLES(samples);
}

static void values_are_converted(void) {
    static const sample samples[] = {
        {"{'$convert':{'input':'1','to':16}}", INT("1")},
        {"{'$convert':{'input':'1','to':'integer'}}", ERROR},
        {"{'$convert':{'input':null,'to':'integer'}}", ERROR},
        {"{'$convert':{'input':'1','to':{'type':'int','size':1}}}", ERROR},
        {"{'$convert':{'input':{},'to':'int','onError':{'$concat':['a','b']}}}", TEXT("ab")},
        {"{'$convert':{'input':{'$substrBytes':['a',-1,0]},'to':'int','onError':0}}", ERROR},
        {"{'$toDouble':'0x1'}", ERROR},
        {"{'$toInt':{'$numberDouble':'2147483647.9'}}", INT("2147483647")},
        {"{'$toInt':{'$numberDouble':'2147483648'}}", ERROR},
        {"{'$toLong':{'$numberDouble':'9223372036854775808'}}", ERROR},
        {"{'$toLong':{'$numberDecimal':'-9223372036854775808.9'}}",
         "[ { \"$numberLong\" : \"-9223372036854775808\" } ]"},
        {"{'$toDate':{'$numberDecimal':'1E+30'}}", ERROR},
        {"{'$toString':{'$date':{'$numberLong':'253402300800000'}}}", ERROR},
        {"{'$toString':{'$timestamp':{'t':1,'i':1}}}", ERROR},
        {"{'$toString':{'$numberDouble':'1.0E+21'}}", TEXT("1e+21")},
        {"{'$type':'$none'}", TEXT("missing")},
        {"{'$isNumber':{'$numberDecimal':'NaN'}}", "[ true ]"},
    };
    CHECK_SAMPLES(samples);
}

static void strings_are_computed(void) {
    static const sample samples[] = {
        {"{'$replaceAll':{'input':'\u00e9a','find':'','replacement':'-'}}", TEXT("-\u00e9-a-")},
        {"{'$replaceOne':{'input':'ab','find':'','replacement':'-'}}", TEXT("-ab")},
        {"{'$replaceOne':{'input':null,'find':1,'replacement':'-'}}", ERROR},
        {"{'$indexOfCP':['\u00e9a','']}", INT("0")},
        {"{'$indexOfCP':['\u00e9a','',2]}", INT("-1")},
        {"{'$indexOfBytes':['\u00e9a','',3]}", INT("3")},
        {"{'$indexOfBytes':['\u00e9a','',4]}", INT("-1")},
        {"{'$indexOfBytes':['abcabc','c',3,5]}", INT("-1")},
        {"{'$indexOfCP':['abcabc','ca',0,3]}", INT("2")},
        {"{'$indexOfBytes':['abcabc','ca',0,3]}", INT("-1")},
        {"{'$indexOfCP':['','',7]}", INT("0")},
        {"{'$substrCP':['\u00e9a\u00e9',1,9]}", TEXT("a\u00e9")},
        {"{'$substrBytes':['\u00e9a',1,1]}", ERROR},
        {"{'$substrBytes':['\u00e9a',9,-1]}", TEXT("")},
        {"{'$toUpper':'stra\u00dfe'}", TEXT("STRA\u00dfE")},
        {"{'$strcasecmp':['aB\u00e9','Ab\u00c9']}", INT("1")},
        {"{'$strcasecmp':[null,'']}", INT("0")},
        {"{'$trim':{'input':'\u2003 a\u00a0b\\u0000'}}", TEXT("a\u00a0b")},
        {"{'$ltrim':{'input':'\u00e9\u00e8a\u00e9','chars':'\u00e8\u00e9'}}", TEXT("a\u00e9")},
        {"{'$split':['aXXbX','X']}", "[ [ \"a\", \"\", \"b\", \"\" ] ]"},
        {"{'$concat':['a',null,{}]}", NOTHING},
        {"{'$concat':['a',{},null]}", ERROR},
    };
    CHECK_SAMPLES(samples);
}

static void regular_expressions_are_found(void) {
    static const sample samples[] = {
        {"{'$regexFind':{'input':'a\u00e9b','regex':'(?<=\u00e9)(b)|(c)'}}",
         "[ { \"match\" : \"b\", \"idx\" : { \"$numberInt\" : \"2\" }, \"captures\" : "
         "[ \"b\", null ] } ]"},
        {"{'$regexFindAll':{'input':'\u00e9a','regex':{'$literal':'$'}}}",
         "[ [ { \"match\" : \"\", \"idx\" : { \"$numberInt\" : \"2\" }, \"captures\" : [  ] } ] ]"},
        {"{'$regexFindAll':{'input':'aXa','regex':{'$concat':['^','a']}}}",
         "[ [ { \"match\" : \"a\", \"idx\" : { \"$numberInt\" : \"0\" }, \"captures\" : [  ] } ] "
         "]"},
        {"{'$regexFindAll':{'input':null,'regex':'a'}}", "[ [  ] ]"},
        {"{'$regexMatch':{'input':'A','regex':'a','options':{'$concat':['i','m']}}}", "[ true ]"},
        {"{'$regexMatch':{'input':'A','regex':{'$concat':['(','']}}}", ERROR},
        {"{'$regexMatch':{'input':null,'regex':'('}}", ERROR},
    };
    if (!library_pcre2()) {
        check_skip("the library has no PCRE2");
        return;
    }
    CHECK_SAMPLES(samples);
}

int main(void) {
    library_regex_start();
    RUN(binaries_are_converted);
    RUN(values_are_converted);
    RUN(strings_are_computed);
    RUN(regular_expressions_are_found);
    return check_finish();
}
