/*
 * test_schema.c -- schemas on their own: keywords, paths, messages, and schemas that are invalid.
 */
#include "support/calls/call.h"
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* bson -- JSON with single quotes as BSON; the caller frees it. */
static tansu_buffer bson(const char *json) {
    char *text = strdup(json);
    REQUIRE(text != NULL);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    tansu_buffer result = TANSU_BUFFER_INIT;
    CHECK_OK(tansu_json_to_bson(text, SIZE_MAX, &result, &call_error), &call_error);
    free(text);
    return result;
}

static tansu_status compile(const char *json, tansu_schema **result) {
    tansu_buffer b = bson(json);
    tansu_status status = tansu_schema_new((tansu_document){b.data, b.size}, result, &call_error);
    tansu_buffer_free(&b);
    return status;
}

/* violations -- of a document, as JSON; the caller frees it. */
static tansu_buffer violations(const char *schema, const char *document, uint64_t limit) {
    tansu_schema *s;
    tansu_buffer found = TANSU_BUFFER_INIT, json = TANSU_BUFFER_INIT, d = bson(document);
    if (CHECK_OK(compile(schema, &s), &call_error)) {
        CHECK_OK(
            tansu_schema_check(s, (tansu_document){d.data, d.size}, limit, &found, &call_error),
            &call_error);
        CHECK_OK(
            tansu_bson_to_json((tansu_document){found.data, found.size}, 0, &json, &call_error),
            &call_error);
        tansu_schema_free(s);
    }
    tansu_buffer_free(&found);
    tansu_buffer_free(&d);
    return json;
}

static void valid(const char *schema, const char *document) {
    tansu_buffer json = violations(schema, document, 0);
    if (!CHECK_BYTES("{\"violations\": []}", 18, json.data, json.size))
        check_note("%.200s of %s", document, schema);
    tansu_buffer_free(&json);
}

/* invalid -- the document's only violation. */
static void invalid(const char *schema, const char *document, const char *path, const char *rule,
                    const char *message) {
    char expected[1000];
    tansu_buffer json = violations(schema, document, 0);
    int size =
        snprintf(expected, sizeof expected,
                 "{\"violations\": [{\"path\": \"%s\", \"rule\": \"%s\", \"message\": \"%s\"}]}",
                 path, rule, message);
    if (!CHECK_BYTES(expected, (size_t)size, json.data, json.size))
        check_note("%.*s", (int)json.size, (const char *)json.data);
    tansu_buffer_free(&json);
}

static void values(void) {
    const char *type = "{'properties':{'a':{'type':['integer','null']}}}";
    valid(type, "{'a':1.0}");
    valid(type, "{'a':null}");
    valid(type, "{'b':'x'}");
    invalid(type, "{'a':'x'}", "a", "type", "the type string is none of integer, null");
    valid("{'properties':{'a':{'enum':[1,{'x':1,'y':2}]}}}", "{'a':{'y':2,'x':1.0}}");
    invalid("{'properties':{'a':{'enum':[1,2]}}}", "{'a':3}", "a", "enum", "3 is none of [1, 2]");
    invalid("{'properties':{'a':{'minimum':5}}}", "{'a':4}", "a", "minimum",
            "4 is out of the minimum 5");
    valid("{'properties':{'a':{'minimum':5}}}", "{'a':'x'}");
    invalid("{'properties':{'a':{'minimum':5,'exclusiveMinimum':true}}}", "{'a':5}", "a",
            "exclusiveMinimum", "5 is out of the exclusiveMinimum 5");
    invalid("{'properties':{'a':{'maxLength':2}}}", "{'a':'äöü'}", "a", "maxLength",
            "3 is more than 2");
    invalid("{'properties':{'a':{'pattern':'^x'}}}", "{'a':'yx'}", "a", "pattern",
            "\\\"yx\\\" does not match ^x");
}

static void documents(void) {
    invalid("{'properties':{'pet':{'required':['name','age']}}}", "{'pet':{'name':1}}", "pet.age",
            "required", "the field is missing");
    const char *closed = "{'properties':{'a':{}},'additionalProperties':false}";
    valid(closed, "{'_id':1,'a':2}");
    invalid(closed, "{'_id':1,'b':2}", "b", "additionalProperties",
            "the schema does not allow the field");
    invalid("{'additionalProperties':{'type':'string'}}", "{'_id':1,'b':2}", "b", "type",
            "the type int is none of string");
    invalid("{'minProperties':2}", "{'a':1}", "", "minProperties", "1 is less than 2");
}

static void arrays(void) {
    invalid("{'properties':{'a':{'items':{'type':'string'}}}}", "{'a':['x',1]}", "a.1", "type",
            "the type int is none of string");
    valid("{'properties':{'a':{'items':[{'type':'string'}]}}}", "{'a':['x',1]}");
    const char *unique = "{'properties':{'a':{'uniqueItems':true}}}";
    valid(unique, "{'a':[1,2,'1',[1],[2]]}");
    invalid(unique, "{'a':[{'x':1,'y':2},5,{'y':2.0,'x':1}]}", "a", "uniqueItems",
            "the elements 0 and 2 are equal");
}

static void alternatives(void) {
    const char *any = "{'anyOf':[{'required':['a']},{'required':['b']}]}";
    valid(any, "{'b':1}");
    invalid(any, "{'c':1}", "", "anyOf", "the value matches none of the 2 schemas");
    invalid("{'oneOf':[{'required':['a']},{'required':['b']}]}", "{'a':1,'b':1}", "", "oneOf",
            "the value matches 2 of the 2 schemas, not one");
    invalid("{'not':{'required':['a']}}", "{'a':1}", "", "not",
            "the value matches the excluded schema");
    invalid("{'$jsonSchema':{'allOf':[{},{'required':['a']}]}}", "{'b':1}", "a", "required",
            "the field is missing");
}

static void more_of_documents(void) {
    const char *patterns = "{'properties':{'a':{}},'patternProperties':{'^n_':{'type':'number'}},"
                           "'additionalProperties':false}";
    valid(patterns, "{'_id':1,'a':1,'n_x':2}");
    invalid(patterns, "{'n_x':'y'}", "n_x", "type", "the type string is none of number");
    invalid(patterns, "{'b':1}", "b", "additionalProperties",
            "the schema does not allow the field");
    invalid("{'propertyNames':{'maxLength':2}}", "{'abc':1}", "abc", "maxLength",
            "3 is more than 2");
    invalid("{'dependencies':{'a':['b']}}", "{'a':1}", "b", "dependencies", "the field is missing");
    invalid("{'dependentRequired':{'a':['b']}}", "{'a':1}", "b", "dependentRequired",
            "the field is missing");
    invalid("{'dependentSchemas':{'a':{'minProperties':2}}}", "{'a':1}", "", "minProperties",
            "1 is less than 2");
    const char *closed = "{'allOf':[{'properties':{'a':{}}}],'anyOf':[{'required':['b'],"
                         "'properties':{'b':{}}},{}],'unevaluatedProperties':false}";
    valid(closed, "{'_id':1,'a':1,'b':2}");
    invalid(closed, "{'a':1,'c':2}", "c", "unevaluatedProperties", "the schema allows no value");
}

static void more_of_values(void) {
    invalid("{'properties':{'a':{'const':{'x':1,'y':2}}}}", "{'a':1}", "a", "const",
            "1 is none of {\\\"x\\\": 1, \\\"y\\\": 2}");
    valid("{'properties':{'a':{'const':{'x':1,'y':2}}}}", "{'a':{'y':2,'x':1.0}}");
    valid("{'properties':{'a':{'multipleOf':0.01}}}", "{'a':19.99}");
    invalid("{'properties':{'a':{'multipleOf':0.5}}}", "{'a':1.25}", "a", "multipleOf",
            "1.25 is no multiple of 0.5");
    const char *condition = "{'properties':{'a':{'if':{'type':'string'},'then':{'minLength':2},"
                            "'else':{'minimum':5}}}}";
    valid(condition, "{'a':'xy'}");
    invalid(condition, "{'a':'x'}", "a", "minLength", "1 is less than 2");
    invalid(condition, "{'a':4}", "a", "minimum", "4 is out of the minimum 5");
    invalid("{'properties':{'a':false}}", "{'a':4}", "a", "properties",
            "the schema allows no value");
}

static void more_of_arrays(void) {
    const char *listed = "{'properties':{'a':{'items':[{'type':'string'}],'additionalItems':%s}}}";
    char text[200];
    snprintf(text, sizeof text, listed, "{'type':'number'}");
    valid(text, "{'a':['x',1]}");
    invalid(text, "{'a':['x',1,'y']}", "a.2", "type", "the type string is none of number");
    snprintf(text, sizeof text, listed, "false");
    invalid(text, "{'a':['x',1]}", "a.1", "additionalItems", "the schema allows no value");
    valid("{'properties':{'a':{'items':{},'additionalItems':false}}}", "{'a':['x',1]}");
    invalid("{'properties':{'a':{'prefixItems':[{'type':'string'}],'items':false}}}",
            "{'a':['x',1]}", "a.1", "items", "the schema allows no value");
    const char *some = "{'properties':{'a':{'contains':{'type':'number'},'minContains':2,"
                       "'maxContains':3}}}";
    valid(some, "{'a':[1,'x',2]}");
    invalid(some, "{'a':[1]}", "a", "minContains", "1 elements match the schema, less than 2");
    invalid(some, "{'a':[1,2,3,4]}", "a", "maxContains",
            "4 elements match the schema, more than 3");
    invalid("{'properties':{'a':{'prefixItems':[{}],'unevaluatedItems':{'type':'string'}}}}",
            "{'a':[1,'x',2]}", "a.2", "type", "the type int is none of string");
}

static void references(void) {
    const char *tree = "{'$defs':{'node':{'required':['v'],'properties':{'next':{'$ref':"
                       "'#/$defs/node'}}}},'properties':{'root':{'$ref':'#/$defs/node'}}}";
    valid(tree, "{'root':{'v':1,'next':{'v':2}}}");
    invalid(tree, "{'root':{'v':1,'next':{'next':{'v':3}}}}", "root.next.v", "required",
            "the field is missing");
    invalid("{'$id':'http://a/b/c','$defs':{'x':{'$id':'../d','$anchor':'n','type':'string'}},"
            "'properties':{'a':{'$ref':'/d#n'}}}",
            "{'a':1}", "a", "type", "the type int is none of string");
    /* `other` is compiled when the reference is looked up, and leads on. */
    invalid("{'default':{'other':{'$ref':'#/$defs/x'}},'$defs':{'x':{'minimum':3}},"
            "'properties':{'a':{'$ref':'#/default/other'}}}",
            "{'a':1}", "a", "minimum", "1 is out of the minimum 3");
}

/* A schema that is applied to one value without end is refused, or ends with an error. */
static void references_end(void) {
    tansu_schema *s;
    tansu_buffer found = TANSU_BUFFER_INIT, empty = bson("{}");
    CHECK_OK(compile("{'allOf':[{'$ref':'#'}]}", &s), &call_error);
    CHECK_STATUS(
        TANSU_E_INVALID_QUERY,
        tansu_schema_check(s, (tansu_document){empty.data, empty.size}, 0, &found, &call_error));
    CHECK_TEXT("$ref", call_error.context);
    tansu_schema_free(s);
    /* 2^64 ways through a schema of 65 levels. */
    char text[8000];
    int size = snprintf(text, sizeof text, "{'$ref':'#/$defs/d0','$defs':{'d64':{}");
    for (int i = 0; i < 64; i++)
        size += snprintf(text + size, sizeof text - (size_t)size,
                         ",'d%d':{'allOf':[{'$ref':'#/$defs/d%d'},{'$ref':'#/$defs/d%d'}]}", i,
                         i + 1, i + 1);
    snprintf(text + size, sizeof text - (size_t)size, "}}");
    CHECK_OK(compile(text, &s), &call_error);
    CHECK_STATUS(
        TANSU_E_INVALID_QUERY,
        tansu_schema_check(s, (tansu_document){empty.data, empty.size}, 0, &found, &call_error));
    CHECK_TEXT("$jsonSchema", call_error.context);
    tansu_schema_free(s);
    tansu_buffer_free(&found);
    tansu_buffer_free(&empty);
}

#define DRAFT "'$schema':'https://json-schema.org/draft/2020-12/schema'"

/* What `$schema` changes. */
static void draft_2020(void) {
    valid("{" DRAFT ",'unknown':1,'required':[]}", "{'a':1}");
    valid("{" DRAFT ",'properties':{'a':{'additionalItems':false,'items':true}}}", "{'a':[1]}");
    invalid("{" DRAFT ",'properties':{'a':{'bsonType':'int'}}}", "{'a':'x'}", "a", "bsonType",
            "the type string is none of int");
    if (library_pcre2())
        invalid("{" DRAFT ",'properties':{'a':{'pattern':'^\\\\p{Uppercase_Letter}+$'}}}",
                "{'a':'Ää'}", "a", "pattern",
                "\\\"Ää\\\" does not match ^\\\\p{Uppercase_Letter}+$");
}

static void limits_violations(void) {
    tansu_buffer json = violations("{'required':['a','b','c']}", "{}", 1);
    const char *expected = "{\"violations\": [{\"path\": \"a\", \"rule\": \"required\","
                           " \"message\": \"the field is missing\"}]}";
    CHECK_BYTES(expected, strlen(expected), json.data, json.size);
    tansu_buffer_free(&json);
}

/* refused -- an invalid schema, and the path of its fault. */
static void refused(const char *schema, const char *context) {
    tansu_schema *s;
    CHECK_STATUS(TANSU_E_INVALID_QUERY, compile(schema, &s));
    CHECK(s == NULL);
    CHECK_TEXT(context, call_error.context);
    CHECK(strncmp(call_error.message, "The schema is invalid: ", 23) == 0);
}

static void refuses_invalid_schemas(void) {
    refused("{'properties':{'age':{'minimum':'x'}}}", "properties.age.minimum");
    refused("{'properties':{'a':{'properties':{'b':1}}}}", "properties.a.properties.b");
    refused("{'additionalProperties':1}", "additionalProperties");
    refused("{'unknown':1}", "unknown");
    refused("{'type':'int'}", "type");
    refused("{'bsonType':['int','int']}", "bsonType");
    refused("{'required':[]}", "required");
    refused("{'enum':[]}", "enum");
    refused("{'exclusiveMaximum':true}", "exclusiveMaximum");
    refused("{'maxItems':-1}", "maxItems");
    refused("{'allOf':[{},{'not':1}]}", "allOf.1.not");
    refused("{'multipleOf':0}", "multipleOf");
    refused("{'contains':1}", "contains");
    refused("{'contains':{},'minContains':'1'}", "minContains");
    refused("{'if':1}", "if");
    refused("{'if':{},'then':{'else':1}}", "then.else");
    refused("{'dependencies':{'a':1}}", "dependencies.a");
    refused("{'dependentRequired':{'a':{}}}", "dependentRequired.a");
    refused("{'dependentSchemas':{'a':['b']}}", "dependentSchemas.a");
    refused("{'patternProperties':{'a':1}}", "patternProperties.a");
    refused("{'items':[],'prefixItems':[{}]}", "prefixItems");
    refused("{'$anchor':''}", "$anchor");
    refused("{'allOf':[{'$anchor':'a'},{'$anchor':'a'}]}", "allOf.1.$anchor");
    refused("{'$id':'a#b'}", "$id");
    refused("{'allOf':[{'$id':'a'},{'$id':'a'}]}", "allOf.1.$id");
    refused("{'not':{'$ref':'#/a'}}", "not.$ref");
    refused("{'$ref':'#a'}", "$ref");
    refused("{'$ref':'http://a/b'}", "$ref");
    refused("{'$ref':'#'}", "$ref");
    refused("{'$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}}}", "$defs.a.$ref");
    refused("{'$schema':'http://json-schema.org/draft-04/schema#'}", "$schema");
    refused("{" DRAFT ",'properties':{'a':{'items':[{}]}}}", "properties.a.items");
    refused("{" DRAFT ",'minimum':1,'exclusiveMinimum':true}", "exclusiveMinimum");
    refused("{'pattern':'a('}", "pattern");
    if (library_pcre2())
        CHECK_INT(2, call_error.offset);
}

/* refused_bson -- the same of a schema that the engine's JSON cannot have. */
static void refused_bson(const char *json, const char *context) {
    tansu_schema *s;
    bson_t *schema = bson_from_text(json);
    CHECK_STATUS(TANSU_E_INVALID_QUERY, tansu_schema_new(document_of(schema), &s, &call_error));
    CHECK(s == NULL);
    CHECK_TEXT(context, call_error.context);
    bson_destroy(schema);
}

/* Otherwise one of the two would hold. */
static void refuses_keywords_given_twice(void) {
    refused_bson("{'minimum':1,'minimum':2}", "minimum");
    refused_bson("{'properties':{'a':{}},'title':'','properties':{'b':{}}}", "properties");
    refused_bson("{'additionalProperties':{},'additionalProperties':false}",
                 "additionalProperties");
    refused_bson("{'maximum':1,'exclusiveMaximum':false,'exclusiveMaximum':true}",
                 "exclusiveMaximum");
    refused_bson("{'not':{'title':'a','title':'b'}}", "not.title");
    refused_bson("{'properties':{'a':{'type':'string'},'a':{}}}", "properties.a");
}

static void takes_large_arrays(void) {
    size_t room = 20 * 100000, at = 0;
    char *text = malloc(room);
    REQUIRE(text != NULL);
    at += (size_t)snprintf(text, room, "{'a':[");
    for (int i = 0; i < 100000; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%d", i ? "," : "", i);
    snprintf(text + at, room - at, "]}");
    valid("{'properties':{'a':{'uniqueItems':true}}}", text);
    free(text);
}

int main(void) {
    library_regex_start();
    RUN(values);
    RUN(documents);
    RUN(arrays);
    RUN(alternatives);
    RUN(more_of_documents);
    RUN(more_of_values);
    RUN(more_of_arrays);
    RUN(references);
    RUN(references_end);
    RUN(draft_2020);
    RUN(limits_violations);
    RUN(refuses_invalid_schemas);
    RUN(refuses_keywords_given_twice);
    RUN(takes_large_arrays);
    return check_finish();
}
