/*
 * test_text_query.c -- searches for words: how they are read, in both forms, and which documents
 * match them.
 */
#include "query/text/text_query.h"
#include "support/calls/document_of.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/fault/fault_injection.h"
#include "support/libraries.h"
#include "support/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* index_of -- the definition of an index of words. */
static index_definition *index_of(const char *keys, const char *options) {
    bson_t *k = bson_from_text(keys), *o = bson_from_text(options);
    index_definition *definition;
    tansu_error error;
    REQUIRE(CHECK_OK(index_definition_parse("words", bson_get_data(k), k->len, bson_get_data(o),
                                            o->len, &definition, &error),
                     &error));
    bson_destroy(k);
    bson_destroy(o);
    return definition;
}

/* A search, bound to an index. */
typedef struct search {
    bson_t *operand;
    arena memory;
    text_document d;
    text_query *query;
} search;

/* search_bind -- reads a search, whose operand is there, and binds it. */
static tansu_status search_bind(search *s, const index_definition *definition, tansu_error *error) {
    text_condition *condition;
    tansu_status status =
        text_query_parse(bson_get_data(s->operand), s->operand->len, &s->memory, &condition, error);
    if (status == TANSU_OK)
        status = text_query_bind(condition, definition, &s->d, &s->memory, &s->query, error);
    return status;
}

/* search_begin -- the same of an operand as text. */
static tansu_status search_begin(search *s, const index_definition *definition, const char *operand,
                                 tansu_error *error) {
    *s = (search){.operand = bson_from_text(operand)};
    return search_bind(s, definition, error);
}

static void search_end(search *s) {
    text_document_free(&s->d);
    arena_free(&s->memory);
    bson_destroy(s->operand);
}

/* ---- Trees ---- */

static void put_nodes(text *t, text_node *const *nodes, uint32_t count, const char *sign);

/* put_words -- the words of a leaf; those of a phrase with their distances. */
static void put_words(text *t, const text_node *leaf) {
    for (uint32_t i = 0; i < leaf->word_count; i++) {
        const text_word *word = &leaf->words[i];
        put(t, "%s%.*s", i == 0 ? "" : " ", (int)word->size, (const char *)word->bytes);
        if (leaf->kind == TEXT_PHRASE && word->position != i)
            put(t, "@%u", word->position);
        if (leaf->kind == TEXT_NEAR && word->position != 0)
            put(t, "#%u", word->position);
    }
}

/* put_node -- a tree on one line: "(+ a b ?c -d)" is ALL, "(| a b)" ANY, "[a b]" a phrase. */
static void put_node(text *t, const text_node *node, uint32_t fields) {
    static const char *const begin[] = {"", "", "", "[", "<"}, *const end[] = {"", "*", "~", "]",
                                                                               ">"};
    if (node->kind == TEXT_NOTHING) {
        put(t, "nothing");
    } else if (node->kind >= TEXT_ALL) {
        put(t, node->kind == TEXT_ALL ? "(+" : "(|");
        put_nodes(t, node->children, node->child_count, " ");
        put_nodes(t, node->optional, node->optional_count, " ?");
        put_nodes(t, node->without, node->without_count, " -");
        put(t, ")");
    } else {
        put(t, "%s", begin[node->kind]);
        put_words(t, node);
        put(t, "%s", end[node->kind]);
        if (node->kind == TEXT_FUZZY)
            put(t, "%u/%u", node->distance, node->same);
        if (node->kind == TEXT_NEAR)
            put(t, "%u%s", node->within, node->ordered ? "o" : "");
        if (node->boost != 1)
            put(t, "^%g", node->boost);
        if (node->fields != fields && node->fields != 7)
            put(t, "@%u", node->fields);
    }
}

static void put_nodes(text *t, text_node *const *nodes, uint32_t count, const char *sign) {
    for (uint32_t i = 0; i < count; i++) {
        put(t, "%s", sign);
        put_node(t, nodes[i], 1);
    }
}

/* tree_of -- the tree of a search in an index, or its error: "INVALID_QUERY at all.0". */
static const char *tree_of(const index_definition *definition, const char *operand) {
    static text t;
    search s;
    tansu_error error = {0};
    t.size = 0;
    tansu_status status = search_begin(&s, definition, operand, &error);
    if (status == TANSU_OK)
        put_node(&t, s.query->root, 1);
    else
        put(&t, "%s at %s", tansu_status_name(status), error.context);
    search_end(&s);
    return t.bytes;
}

typedef struct sample {
    const char *operand, *result;
} sample;

static void expect_trees(const index_definition *definition, const sample *samples, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!CHECK_TEXT(samples[i].result, tree_of(definition, samples[i].operand)))
            check_note("%s", samples[i].operand);
}

#define EXPECT_TREES(definition, samples) \
    expect_trees(definition, samples, sizeof(samples) / sizeof *(samples))

static void reads_mongodbs_form(void) {
    static const sample samples[] = {
        {"{'$search':'Dark  roast dark'}", "(| dark roast)"},
        {"{'$search':'roast'}", "roast"},
        {"{'$search':''}", "nothing"},
        {"{'$search':' ... !'}", "nothing"},
        {"{'$search':'-roast'}", "nothing"},
        {"{'$search':'dark -roast -\\\"so bitter\\\"'}", "(+ dark -roast -[so bitter])"},
        {"{'$search':'dark a-b - c --d'}", "(+ (| dark a b c) -d)"},
        {"{'$search':'-a-b c'}", "(+ c -a -b)"},
        {"{'$search':'-\\\"a b\\\"-\\\"c d\\\"e f'}", "(+ f -[a b] -[c d] -e)"},
        {"{'$search':'\\\"a b\\\"-c'}", "(+ [a b] ?a ?b ?c)"},
        {"{'$search':'\\\"dark roast\\\" beans'}", "(+ [dark roast] ?dark ?roast ?beans)"},
        {"{'$search':'\\\"dark roast\\\" \\\"a\\\" -x'}", "(+ [dark roast] a ?dark ?roast ?a -x)"},
        {"{'$search':'\\\"...\\\" beans'}", "beans"},
        {"{'$search':'dark \\\"roast -b'}", "(+ (| dark roast) -b)"},
        {"{'$search':'\\\"\\\" dark'}", "dark"},
        {"{'$search':'wor* a-be* *'}", "(| wor* a be*)"},
        {"{'$search':'dark -wor*'}", "(+ dark -wor*)"},
        {"{'$search':'\\\"foo_bar baz\\\"'}", "(+ [foo_bar baz@2] ?foo_bar ?baz)"},
        {"{'$search':'東京都 中 大阪 x'}", "(| [東京 京都] 中 大阪 x)"},
        {"{'$search':'東京* 東*'}", "(| 東京 東)"},
        {"{'$search':'Café','$language':'none','$caseSensitive':false,'$diacriticSensitive':false,"
         "'k1':0,'b':1}",
         "cafe"},
        {"{'$search':1}", "INVALID_QUERY at $search"},
        {"{'$language':'en'}", "INVALID_QUERY at $search"},
        {"{'$search':'a','$caseSensitive':1}", "INVALID_QUERY at $caseSensitive"},
        {"{'$search':'a','$diacriticSensitive':null}", "INVALID_QUERY at $diacriticSensitive"},
        {"{'$search':'a','$language':''}", "INVALID_QUERY at $language"},
        {"{'$search':'a','all':['b']}", "INVALID_QUERY at all"},
        {"{'$search':'a','k1':-1}", "INVALID_QUERY at k1"},
        {"{'$search':'a','b':1.5}", "INVALID_QUERY at b"},
        {"{'$search':'a','b':'x'}", "INVALID_QUERY at b"},
    };
    index_definition *definition = index_of("{'title':'text'}", "{}");
    EXPECT_TREES(definition, samples);
    index_definition_free(definition);
}

static void reads_lists(void) {
    static const sample samples[] = {
        {"{'all':['dark roast']}", "(+ dark roast)"},
        {"{'any':['dark \\\"so good\\\"', 'wor*']}", "(| dark [so good] wor*)"},
        {"{'all':['dark'],'any':['a','b'],'not':['bitter \\\"too sour\\\"']}",
         "(+ dark (| a b) -bitter -[too sour])"},
        {"{'any':['a','b'],'not':['c']}", "(+ (| a b) -c)"},
        {"{'all':['a',{'any':['b',{'all':['c','d']}]},{'all':['e'],'not':['f']}]}",
         "(+ a (| b (+ c d)) (+ e -f))"},
        {"{'all':['a b','...',{'phrase':'!'}]}", "(+ a b)"},
        {"{'all':['...'],'any':['a']}", "a"},
        {"{'all':['...']}", "nothing"},
        {"{'all':['']}", "nothing"},
        {"{'all':['a','a'],'any':['b','B b']}", "(+ a b)"},
        {"{'any':['a',{'word':'a'},{'word':'a','boost':2}]}", "(| a a^2)"},
        {"{'boost':2,'any':['a',{'phrase':'b c','boost':1.5}],'not':['d']}",
         "(+ (| a^2 [b c]^3) -d^2)"},
        {"{'phrase':'Dark roast'}", "[dark roast]"},
        {"{'phrase':'dark'}", "dark"},
        {"{'word':'state-of-the-art'}", "[state of the art]"},
        {"{'word':'東京都'}", "[東京 京都]"},
        {"{'prefix':'wor'}", "wor*"},
        {"{'any':['x',{'prefix':'new yor'}]}", "(| x (+ new yor*))"},
        {"{'fuzzy':'rost'}", "rost~1/0"},
        {"{'fuzzy':'rost tok','distance':2,'same':3}", "(+ rost~2/3 tok~2/3)"},
        {"{'any':['x',{'fuzzy':'東京都 rost'}]}", "(| x (+ [東京 京都] rost~1/0))"},
        {"{'near':'dark roast'}", "<dark roast>10"},
        {"{'near':['dark','so dark','Dark'],'within':3,'ordered':true}",
         "<dark so dark#1 dark#2>3o"},
        {"{'near':'dark'}", "dark"},
        {"{'near':['!','?']}", "nothing"},
    };
    index_definition *definition = index_of("{'title':'text'}", "{}");
    EXPECT_TREES(definition, samples);
    index_definition_free(definition);
}

static void says_what_is_wrong(void) {
    static const sample samples[] = {
        {"{}", "INVALID_QUERY at "},
        {"{'path':'title'}", "INVALID_QUERY at "},
        {"{'not':['a']}", "INVALID_QUERY at not"},
        {"{'all':['a',{'not':['b']}]}", "INVALID_QUERY at all.1.not"},
        {"{'all':[]}", "INVALID_QUERY at all"},
        {"{'all':'a'}", "INVALID_QUERY at all"},
        {"{'all':['a',1]}", "INVALID_QUERY at all.1"},
        {"{'all':['-a']}", "INVALID_QUERY at all.0"},
        {"{'any':['a',{'all':['b',{'prase':'c d'}]}]}", "INVALID_QUERY at any.1.all.1"},
        {"{'any':[{'phrase':'c d','slop':1}]}", "INVALID_QUERY at any.0.slop"},
        {"{'any':[{'phrase':'c','prefix':'d'}]}", "INVALID_QUERY at any.0.prefix"},
        {"{'phrase':'a','all':['b']}", "INVALID_QUERY at phrase"},
        {"{'phrase':['a']}", "INVALID_QUERY at phrase"},
        {"{'fuzzy':'a','distance':3}", "INVALID_QUERY at distance"},
        {"{'fuzzy':'a','distance':0}", "INVALID_QUERY at distance"},
        {"{'fuzzy':'a','distance':1.5}", "INVALID_QUERY at distance"},
        {"{'fuzzy':'a','same':9}", "INVALID_QUERY at same"},
        {"{'word':'a','distance':1}", "INVALID_QUERY at distance"},
        {"{'near':[]}", "INVALID_QUERY at near"},
        {"{'near':['a',1]}", "INVALID_QUERY at near.1"},
        {"{'near':1}", "INVALID_QUERY at near"},
        {"{'near':'a b','within':0}", "INVALID_QUERY at within"},
        {"{'near':'a b','within':1001}", "INVALID_QUERY at within"},
        {"{'near':'a b','ordered':1}", "INVALID_QUERY at ordered"},
        {"{'all':['a'],'boost':0}", "INVALID_QUERY at boost"},
        {"{'all':['a'],'boost':-1}", "INVALID_QUERY at boost"},
        {"{'all':['a'],'boost':1e7}", "INVALID_QUERY at boost"},
        {"{'all':[{'word':'a','path':1}]}", "INVALID_QUERY at all.0.path"},
        {"{'all':[{'word':'a','path':[]}]}", "INVALID_QUERY at all.0.path"},
        {"{'all':[{'word':'a','path':'nope'}]}", "INVALID_QUERY at all.0.path"},
        {"{'all':[{'word':'a','language':'en'}]}", "INVALID_QUERY at all.0.language"},
        {"{'all':['a'],'caseSensitive':1}", "INVALID_QUERY at caseSensitive"},
        {"{'all':['a'],'b':2}", "INVALID_QUERY at b"},
    };
    index_definition *definition = index_of("{'title':'text','body':'text'}", "{}");
    EXPECT_TREES(definition, samples);
    index_definition_free(definition);
}

/* repeated -- the tree of a search in which a part is repeated, with a number if it has %d. */
static const char *repeated(const index_definition *definition, const char *before,
                            const char *part, int count, const char *after) {
    size_t size = strlen(before) + strlen(after) + (strlen(part) + 8) * (size_t)count + 1, at;
    char *operand = malloc(size);
    REQUIRE(operand != NULL);
    at = (size_t)sprintf(operand, "%s", before);
    for (int i = 0; i < count; i++)
        at += (size_t)sprintf(operand + at, part, i);
    sprintf(operand + at, "%s", after);
    const char *tree = tree_of(definition, operand);
    free(operand);
    return tree;
}

static void keeps_to_limits(void) {
    index_definition *definition = index_of("{'title':'text'}", "{}");
    const char *tree = repeated(definition, "{'$search':'", "w%d ", 1000, "'}");
    CHECK(strncmp(tree, "(| w0 w1 ", 9) == 0);
    CHECK_TEXT("TOO_LARGE at $search", repeated(definition, "{'$search':'", "w%d ", 1001, "'}"));
    CHECK_TEXT("TOO_LARGE at any.0", repeated(definition, "{'any':['", "w%d-", 1001, "']}"));
    CHECK_TEXT("TOO_LARGE at $search",
               repeated(definition, "{'$search':'", "longword%d", 8000, "'}"));
    CHECK(repeated(definition, "{'phrase':'", "w%d ", 100, "'}")[0] == '[');
    CHECK_TEXT("TOO_LARGE at phrase", repeated(definition, "{'phrase':'", "w%d ", 101, "'}"));
    CHECK(repeated(definition, "{'near':'", "w%d ", 100, "'}")[0] == '<');
    CHECK_TEXT("TOO_LARGE at near", repeated(definition, "{'near':'", "w%d ", 101, "'}"));
    CHECK_TEXT("TOO_LARGE at near", repeated(definition, "{'near':['a'", ",'w%d'", 100, "]}"));
    char ends[200] = "'a'";
    for (int i = 0; i < 33; i++)
        strcat(ends, "]}");
    CHECK_TEXT("a", repeated(definition, "", "{'all':[", 33, ends));
    strcat(ends, "]}");
    CHECK(strncmp(repeated(definition, "", "{'all':[", 34, ends), "TOO_LARGE at all.0.all.0", 24) ==
          0);
    index_definition_free(definition);
}

static void paths_name_fields(void) {
    static const sample samples[] = {
        {"{'all':['a',{'word':'b','path':'body'}]}", "(+ a b@2)"},
        {"{'path':['title','note'],'any':['a',{'phrase':'b c','path':'body'}]}", "(| a@5 [b c]@2)"},
    };
    static const sample all[] = {{"{'all':['a']}", "a"},
                                 {"{'word':'a','path':'title'}", "INVALID_QUERY at path"}};
    index_definition *definition = index_of("{'title':'text','body':'text','note':'text'}", "{}");
    EXPECT_TREES(definition, samples);
    index_definition_free(definition);
    definition = index_of("{'**':'text'}", "{}");
    EXPECT_TREES(definition, all);
    index_definition_free(definition);
}

static void languages_make_stems(void) {
    static const sample samples[] = {
        {"{'$search':'running foxes'}", "(| run fox)"},
        {"{'$search':'running','$language':'none'}", "running"},
        {"{'all':['running'],'language':'none'}", "running"},
        {"{'prefix':'Running'}", "running*"},
        {"{'prefix':'foxes runn'}", "(+ fox runn*)"},
        {"{'fuzzy':'runing'}", "rune~1/0"},
        {"{'$search':'a','$language':'klingon'}", "INVALID_QUERY at $language"},
        {"{'all':['a'],'language':'klingon'}", "INVALID_QUERY at language"},
    };
    if (!library_stemmer())
        return;
    index_definition *definition = index_of("{'title':'text'}", "{'language':'en'}");
    EXPECT_TREES(definition, samples);
    index_definition_free(definition);
}

/* ---- Documents ---- */

/* found_in -- what a document has of a search: "no", or "yes" and the counts of the leaves. */
static const char *found_in(const index_definition *definition, const char *operand,
                            const char *document) {
    static text t;
    search s;
    tansu_error error;
    text_found found = {.counts = NULL};
    bson_t *doc = bson_from_text(document);
    t.size = 0;
    REQUIRE(CHECK_OK(search_begin(&s, definition, operand, &error), &error));
    /* Twice, as what was found before is not to count. */
    for (int i = 0; i < 2; i++) {
        REQUIRE(CHECK_OK(text_document_read(&s.d, definition, bson_get_data(doc), doc->len, &error),
                         &error));
        REQUIRE(text_query_test(s.query, &s.d, &found));
    }
    put(&t, found.matches ? "yes" : "no");
    for (uint32_t i = 0; i < s.query->leaves; i++)
        put(&t, " %llu", (unsigned long long)found.counts[i]);
    text_found_free(&found);
    search_end(&s);
    bson_destroy(doc);
    return t.bytes;
}

typedef struct match {
    const char *operand, *document, *result;
} match;

static void expect_matches(const index_definition *definition, const match *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!CHECK_TEXT(list[i].result, found_in(definition, list[i].operand, list[i].document)))
            check_note("%s in %s", list[i].operand, list[i].document);
}

#define EXPECT_MATCHES(definition, list) \
    expect_matches(definition, list, sizeof(list) / sizeof *(list))

#define DOCUMENT "{'title':'Dark roast beans','body':['A dark, dark roast.','Roast it dark'],'n':1}"

static void documents_match(void) {
    static const match list[] = {
        {"{'$search':'dark'}", DOCUMENT, "yes 6"},
        {"{'$search':'light'}", DOCUMENT, "no 0"},
        {"{'$search':'...'}", DOCUMENT, "no"},
        {"{'all':['dark light']}", DOCUMENT, "no 6 0"},
        {"{'any':['dark light']}", DOCUMENT, "yes 6 0"},
        {"{'$search':'dark -beans'}", DOCUMENT, "no 6 3"},
        {"{'$search':'dark -light'}", DOCUMENT, "yes 6 0"},
        {"{'$search':'\\\"dark roast\\\" light'}", DOCUMENT, "yes 4 6 5 0"},
        {"{'$search':'\\\"roast dark\\\"'}", DOCUMENT, "no 0 5 6"},
        {"{'phrase':'beans a'}", DOCUMENT, "no 0"},
        {"{'phrase':'dark roast','path':'body'}", DOCUMENT, "yes 1"},
        {"{'phrase':'dark roast','path':'title'}", DOCUMENT, "yes 3"},
        {"{'word':'beans','path':'body'}", DOCUMENT, "no 0"},
        {"{'prefix':'roa'}", DOCUMENT, "yes 5"},
        {"{'prefix':'roast'}", DOCUMENT, "yes 5"},
        {"{'prefix':'roasts'}", DOCUMENT, "no 0"},
        {"{'fuzzy':'baens'}", DOCUMENT, "yes 3"},
        {"{'fuzzy':'baens','same':2}", DOCUMENT, "no 0"},
        {"{'fuzzy':'deer','distance':2}", DOCUMENT, "no 0"},
        {"{'fuzzy':'deak','distance':2}", DOCUMENT, "yes 6"},
        {"{'near':'dark beans','within':2}", DOCUMENT, "yes 3"},
        {"{'near':'dark beans','within':1}", DOCUMENT, "no 0"},
        {"{'near':'roast dark','within':2}", DOCUMENT, "yes 5"},
        {"{'near':'roast dark','within':2,'ordered':true}", DOCUMENT, "yes 1"},
        {"{'near':'dark dark','within':1}", DOCUMENT, "yes 2"},
        {"{'near':'dark dark dark','within':5}", DOCUMENT, "no 0"},
        {"{'near':'roast it roast','within':1000}", DOCUMENT, "no 0"},
        {"{'all':['dark',{'any':['tea','beans'],'not':['dark']}]}", DOCUMENT, "no 6 0 3 6"},
        {"{'all':['dark',{'any':['tea','beans'],'not':['light']}]}", DOCUMENT, "yes 6 0 3 0"},
        {"{'any':['tea'],'not':[{'phrase':'dark roast'}]}", DOCUMENT, "no 0 4"},
        {"{'any':['dark'],'not':[{'all':['dark','tea']}]}", DOCUMENT, "yes 6 6 0"},
        {"{'any':[{'phrase':'dark roast','path':'title'},{'phrase':'dark roast','path':'body'},"
         "{'phrase':'roast it'},'roast']}",
         DOCUMENT, "yes 3 1 1 5"},
        {"{'word':'roast'}", "{'title':['roast',{'x':'roast'}]}", "yes 3"},
        {"{'word':'roast'}", "{'n':'roast'}", "no 0"},
        {"{'phrase':'foo_bar baz'}", "{'body':'foo_bar baz, foo bar baz'}", "yes 1"},
        {"{'phrase':'foo bar baz'}", "{'body':'foo_bar baz, foo bar baz'}", "yes 2"},
        {"{'word':'京'}", "{'body':'東京都'}", "yes 1"},
        {"{'word':'東京都'}", "{'body':'東京都 京都東京'}", "yes 1"},
        {"{'prefix':'東'}", "{'body':'東京都'}", "yes 1"},
        {"{'word':'東京'}", "{'body':'東 京'}", "no 0"},
        {"{'word':'cafe'}", "{'body':'CAFÉ'}", "yes 1"},
    };
    index_definition *definition =
        index_of("{'title':'text','body':'text'}", "{'weights':{'title':3}}");
    EXPECT_MATCHES(definition, list);
    index_definition_free(definition);
}

#define WRITTEN "{'a':'Émile Café cafe\u0301 CAFE Straße foo_Bar'}"

static void exact_searches_compare_words(void) {
    static const match list[] = {
        {"{'$search':'cafe'}", WRITTEN, "yes 3"},
        {"{'$search':'cafe','$caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'$search':'Cafe','$caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'$search':'CAFE','$caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'$search':'CaFe','$caseSensitive':true}", WRITTEN, "no 0"},
        {"{'$search':'cafe','$diacriticSensitive':true}", WRITTEN, "yes 1"},
        {"{'$search':'café','$diacriticSensitive':true}", WRITTEN, "yes 2"},
        {"{'$search':'CAFE\u0301','$diacriticSensitive':true}", WRITTEN, "yes 2"},
        {"{'$search':'café','$diacriticSensitive':true,'$caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'$search':'cafe','$diacriticSensitive':true,'$caseSensitive':true}", WRITTEN, "no 0"},
        {"{'$search':'Straße','$caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'$search':'STRASSE'}", WRITTEN, "yes 1"},
        {"{'$search':'STRASSE','$caseSensitive':true}", WRITTEN, "no 0"},
        {"{'phrase':'Emile cafe','caseSensitive':true}", WRITTEN, "no 0"},
        {"{'phrase':'Emile Cafe','caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'near':'CAFE cafe','within':1,'caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'prefix':'Caf','caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'prefix':'ca','caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'prefix':'CA','caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'prefix':'é','diacriticSensitive':true}", WRITTEN, "yes 1"},
        {"{'prefix':'e','diacriticSensitive':true}", WRITTEN, "no 0"},
        {"{'prefix':'cafe','diacriticSensitive':true}", WRITTEN, "yes 1"},
        {"{'word':'Bar','caseSensitive':true}", WRITTEN, "yes 1"},
        {"{'word':'foo_bar','caseSensitive':true}", WRITTEN, "no 0"},
        {"{'fuzzy':'CAFF','caseSensitive':true}", WRITTEN, "yes 3"},
    };
    index_definition *definition = index_of("{'a':'text'}", "{}");
    EXPECT_MATCHES(definition, list);
    index_definition_free(definition);
    if (!library_stemmer())
        return;
    definition = index_of("{'a':'text'}", "{'language':'en'}");
    CHECK_TEXT("yes 2", found_in(definition, "{'$search':'Run'}", "{'a':'running run'}"));
    CHECK_TEXT("yes 1", found_in(definition, "{'$search':'run','$caseSensitive':true}",
                                 "{'a':'running run'}"));
    index_definition_free(definition);
}

static void says_when_documents_are_needed(void) {
    static const struct {
        const char *options, *operand;
        bool needed;
    } samples[] = {
        {"{}", "{'phrase':'a b'}", false},
        {"{}", "{'$search':'a','$caseSensitive':false}", false},
        {"{}", "{'$search':'a','$caseSensitive':true}", true},
        {"{}", "{'$search':'a','$diacriticSensitive':true}", true},
        {"{}", "{'fuzzy':'a','caseSensitive':true}", false},
        {"{'positions':false}", "{'$search':'a b*'}", false},
        {"{'positions':false}", "{'$search':'a -\\\"b c\\\"'}", true},
        {"{'positions':false}", "{'near':'a b'}", true},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        index_definition *definition = index_of("{'a':'text'}", samples[i].options);
        search s;
        tansu_error error;
        REQUIRE(CHECK_OK(search_begin(&s, definition, samples[i].operand, &error), &error));
        if (!CHECK(text_query_needs_document(s.query) == samples[i].needed))
            check_note("%s", samples[i].operand);
        search_end(&s);
        index_definition_free(definition);
    }
}

/* Numbers, as documents know them, and what they mean for a score. */
static void options_change_scores(void) {
    index_definition *definition = index_of("{'a':'text'}", "{}");
    static const struct {
        const char *operand;
        double k1, b, score; /* of a term twice in a document that is twice as long as others */
    } samples[] = {
        {"{'word':'a'}", 1.2, 0.75, 2 * 2.2 / (2 + 1.2 * 1.75)},
        {"{'word':'a','k1':0}", 0, 0.75, 1},
        {"{'word':'a','k1':{'$numberDecimal':'1.5'},'b':0}", 1.5, 0, 2 * 2.5 / 3.5},
        {"{'$search':'a','k1':{'$numberLong':'2'},'b':1}", 2, 1, 1},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        search s;
        tansu_error error;
        REQUIRE(CHECK_OK(search_begin(&s, definition, samples[i].operand, &error), &error));
        CHECK(s.query->k1 == samples[i].k1 && s.query->b == samples[i].b);
        double factor = text_factor(s.query, 0.5, 3), norm = text_norm(s.query, 20, 10);
        CHECK(fabs(text_score(factor, 2, norm) - 1.5 * samples[i].score) < 1e-12);
        CHECK(text_score(factor, 0, norm) == 0);
        CHECK(text_score(factor, 0, text_norm(s.query, 0, 10)) == 0);
        CHECK(isfinite(text_score(factor, 1, text_norm(s.query, 0, 0))));
        search_end(&s);
    }
    CHECK(fabs(text_idf(1, 10) - log(1 + 9.5 / 1.5)) < 1e-12);
    CHECK(text_idf(10, 10) > 0);
    CHECK(text_idf(11, 10) > 0);
    index_definition_free(definition);
}

/* ---- Memory ---- */

static void survives_lack_of_memory(void) {
    if (!fault_has_memory()) {
        check_skip("allocations cannot be made to fail");
        return;
    }
    index_definition *definition = index_of("{'title':'text','body':'text'}", "{}");
    bson_t *doc = bson_from_text(DOCUMENT);
    unsigned failures = 0;
    bool met = true;
    for (unsigned nth = 1; met; nth++) {
        text_found found = {.counts = NULL};
        text_document d = {.strings = NULL};
        search s = {.operand = bson_from_text(
                        "{'all':['dark \\\"dark roast\\\"',{'near':['dark','beans']},'be*'],"
                        "'any':[{'fuzzy':'roats'},{'prefix':'no way'}],'not':['light'],"
                        "'caseSensitive':true}")};
        tansu_error error;
        REQUIRE(CHECK_OK(text_document_read(&d, definition, bson_get_data(doc), doc->len, &error),
                         &error));
        fault_start(FAULT_OWN_MEMORY, nth, false, 0);
        tansu_status status = search_bind(&s, definition, &error);
        bool tested = status == TANSU_OK && text_query_test(s.query, &d, &found);
        met = fault_occurred();
        fault_stop();
        if (tested)
            CHECK(!found.matches);
        else
            failures += CHECK(status == TANSU_E_MEMORY || status == TANSU_OK);
        CHECK(tested != met);
        text_found_free(&found);
        search_end(&s);
        text_document_free(&d);
    }
    CHECK(failures > 20);
    bson_destroy(doc);
    index_definition_free(definition);
}

int main(void) {
    RUN(reads_mongodbs_form);
    RUN(reads_lists);
    RUN(says_what_is_wrong);
    RUN(keeps_to_limits);
    RUN(paths_name_fields);
    RUN(languages_make_stems);
    RUN(documents_match);
    RUN(exact_searches_compare_words);
    RUN(says_when_documents_are_needed);
    RUN(options_change_scores);
    RUN(survives_lack_of_memory);
    return check_finish();
}
