/*
 * test_text_complete.c -- completions and suggestions, next to lists of all words of all documents:
 * after random changes, in transactions, for beginnings that few and that thousands of words have,
 * in indexes of stems, and with scripts without spaces.
 */
#include "support/calls/call.h"
#include "support/calls/query_calls.h"
#include "support/check.h"
#include "support/random/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tansu_db *db;

/* text_of -- a document as relaxed JSON, until the next call. */
static const char *text_of(const tansu_buffer *bson) {
    static char *last;
    bson_t doc;
    bson_free(last);
    REQUIRE(bson_init_static(&doc, bson->data, bson->size));
    last = bson_as_relaxed_extended_json(&doc, NULL);
    return last;
}

/* answer -- of one of the two calls as JSON, or the name of the status. */
static const char *answer(__typeof__(&tansu_complete) call, tansu_txn *txn, const char *text,
                          const char *options) {
    static tansu_buffer result;
    bson_t *given = bson_from_text(options);
    tansu_status status =
        call(db, txn, "c", text, SIZE_MAX, document_of(given), &result, &call_error);
    bson_destroy(given);
    return status == TANSU_OK ? text_of(&result) : tansu_status_name(status);
}

static const char *completions(tansu_txn *txn, const char *text, const char *options) {
    return answer(tansu_complete, txn, text, options);
}

static const char *suggestions(tansu_txn *txn, const char *text, const char *options) {
    return answer(tansu_suggest, txn, text, options);
}

static void words_come_without_format_characters(void) {
    static const char *const documents[] = {
        "{'_id':1,'t':'\xE2\x80\xAEroasted\xE2\x80\xAC co\xC2\xADoperate \xE2\x80\x8Fshalom'}",
        NULL};
    db = memory_db_with(documents);
    create_index(db, "w", "{'t':'text'}", NULL);
    CHECK_TEXT(
        "{ \"start\" : 0, \"completions\" : [ { \"text\" : \"roasted\", \"documents\" : 1 } ] }",
        completions(NULL, "roas", NULL));
    CHECK_TEXT(
        "{ \"start\" : 0, \"completions\" : [ { \"text\" : \"cooperate\", \"documents\" : 1 } ] }",
        completions(NULL, "coo", NULL));
    CHECK(strstr(suggestions(NULL, "rosated", NULL), "\"text\" : \"roasted\"") != NULL);
    memory_db_close(db);
}

static void words_are_completed(void) {
    static const char *const documents[] = {
        "{'_id':1,'t':'Hamburg harbour','b':'in Hamburg'}",
        "{'_id':2,'t':'hammer','b':['Hamburg','H\xC3\xA4ngen']}",
        "{'_id':3,'t':'\xE6\x9D\xB1\xE4\xBA\xAC\xE9\x83\xBD'}",
        "{'_id':4,'t':'a hamlet, a HAMLET'}",
        "{'_id':5,'t':'hamlet'}",
        "{'_id':6,'t':7}",
        NULL};
    db = memory_db_with(documents);
    CHECK_TEXT("INVALID_QUERY", completions(NULL, "ham", NULL));
    create_index(db, "w", "{'t':'text','b':'text'}", NULL);
    CHECK_TEXT(
        "{ \"start\" : 0, \"completions\" : [ { \"text\" : \"Hamburg\", \"documents\" : 2 }, "
        "{ \"text\" : \"hamlet\", \"documents\" : 2 }, { \"text\" : \"hammer\", "
        "\"documents\" : 1 } ] }",
        completions(NULL, "ham", NULL));
    CHECK_TEXT(
        "{ \"start\" : 7, \"completions\" : [ { \"text\" : \"hammer\", \"documents\" : 1 } ] "
        "}",
        completions(NULL, "in the HaMm", NULL));
    CHECK_TEXT("{ \"start\" : 0, \"completions\" : [ { \"text\" : \"Hamburg\", \"documents\" : 2 } "
               "] }",
               completions(NULL, "h\xC3\xA4m", "{'limit':1}"));
    CHECK_TEXT("{ \"start\" : 0, \"completions\" : [ { \"text\" : \"H\xC3\xA4ngen\", "
               "\"documents\" : 1 } ] }",
               completions(NULL, "hang", NULL));
    CHECK_TEXT(
        "{ \"start\" : 0, \"completions\" : [ { \"text\" : \"\xE6\x9D\xB1\", "
        "\"documents\" : 1 }, { \"text\" : \"\xE6\x9D\xB1\xE4\xBA\xAC\", \"documents\" : 1 } "
        "] }",
        completions(NULL, "\xE6\x9D\xB1", NULL));
    CHECK_TEXT("{ \"start\" : 4, \"completions\" : [  ] }", completions(NULL, "ham ", NULL));
    CHECK_TEXT("{ \"start\" : 0, \"completions\" : [  ] }", completions(NULL, "", NULL));
    CHECK_TEXT("{ \"start\" : 0, \"completions\" : [  ] }", completions(NULL, "hamx", NULL));
    CHECK_TEXT("INVALID_QUERY", completions(NULL, "h", "{'limit':0}"));
    CHECK_TEXT("INVALID_QUERY", completions(NULL, "h", "{'limit':51}"));
    CHECK_TEXT("INVALID_QUERY", completions(NULL, "h", "{'most':5}"));
    CHECK_TEXT("INVALID_ARGUMENT", completions(NULL, "h\xFF", NULL));
    memory_db_close(db);
}

static void other_words_are_suggested(void) {
    static const char *const documents[] = {
        "{'_id':1,'t':'coffee beans'}", "{'_id':2,'t':'Coffee cups'}", "{'_id':3,'t':'toffee'}",
        "{'_id':4,'t':'been there'}",   "{'_id':5,'t':'beans'}",       NULL};
    db = memory_db_with(documents);
    CHECK_TEXT("INVALID_QUERY", suggestions(NULL, "cofee", NULL));
    create_index(db, "w", "{'t':'text'}", NULL);
    CHECK_TEXT(
        "{ \"words\" : [ { \"start\" : 0, \"end\" : 5, \"suggestions\" : [ { \"text\" : "
        "\"coffee\", \"documents\" : 2, \"distance\" : 1 } ] }, { \"start\" : 10, \"end\" : "
        "15, \"suggestions\" : [ { \"text\" : \"beans\", \"documents\" : 2, \"distance\" : 1 } "
        "] } ], \"text\" : \"coffee and beans!\" }",
        suggestions(NULL, "cofee and baens!", NULL));
    CHECK_TEXT("{ \"words\" : [ { \"start\" : 0, \"end\" : 5, \"suggestions\" : [ { \"text\" : "
               "\"toffee\", \"documents\" : 1, \"distance\" : 1 } ] } ], \"text\" : \"toffee\" }",
               suggestions(NULL, "tofee", "{'limit':1}"));
    CHECK_TEXT("{ \"words\" : [  ], \"text\" : \"beans, COFFEE\" }",
               suggestions(NULL, "beans, COFFEE", NULL));
    CHECK_TEXT("{ \"words\" : [  ], \"text\" : \"xyz\" }", suggestions(NULL, "xyz", NULL));
    CHECK_TEXT("{ \"words\" : [  ], \"text\" : \"\" }", suggestions(NULL, "", NULL));
    CHECK_TEXT("INVALID_QUERY", suggestions(NULL, "h", "{'limit':'a'}"));
    char *text = calloc(1, 70000);
    REQUIRE(text != NULL);
    for (int i = 0; i < 101; i++)
        memcpy(text + 3 * i, "xy ", 3);
    CHECK_TEXT("TOO_LARGE", suggestions(NULL, text, NULL));
    text[300] = 0;
    CHECK(strstr(suggestions(NULL, text, NULL), "{ \"words\" : [  ]") != NULL);
    memset(text, ' ', 65537);
    CHECK_TEXT("TOO_LARGE", suggestions(NULL, text, NULL));
    CHECK_TEXT("TOO_LARGE", completions(NULL, text, NULL));
    free(text);
    /* Terms without letters, and a word that stands alone. */
    CHECK(strstr(suggestions(NULL, "roas\xF0\x9F\x98\x80ting \xE6\x9D\xB1\xE4\xBA\xAC", NULL),
                 "words") != NULL);
    memory_db_close(db);
}

static void stems_are_completed_to_words(void) {
    static const char *const documents[] = {"{'_id':1,'t':'running runs happily'}",
                                            "{'_id':2,'t':'run, runner, ponies'}", NULL};
    db = memory_db_with(documents);
    if (call_index(db, NULL, "c", "w", "{'t':'text'}", "{'language':'en'}") == TANSU_OK) {
        const char *answer = completions(NULL, "runni", NULL);
        if (strcmp(answer, "UNSUPPORTED") != 0) {
            CHECK_TEXT("{ \"start\" : 0, \"completions\" : [ { \"text\" : \"running\", "
                       "\"documents\" : 2 } ] }",
                       answer);
            CHECK_TEXT("{ \"start\" : 0, \"completions\" : [ { \"text\" : \"ponies\", "
                       "\"documents\" : 1 } ] }",
                       completions(NULL, "ponie", NULL));
        }
    } else {
        CHECK_INT(TANSU_E_UNSUPPORTED, call_error.code);
    }
    memory_db_close(db);
}

/* ---- Next to lists of all words ---- */

#define WORDS 7000
#define DOCUMENTS 4000
#define EACH 24

static uint16_t has[DOCUMENTS][EACH]; /* its words, counted from 1; 0: none */

/* put_word -- a word by its number: thousands begin with "w", some with "v". */
static int put_word(char *text, unsigned word) {
    return sprintf(text, "%c%x%s", word % 50 == 0 ? 'v' : 'w', word * 7919u % 65521u,
                   word % 3 == 0 ? "ing" : "");
}

/* change -- gives a document other words, or none. */
static void change(random_source *r, tansu_txn *txn, int id) {
    char text[EACH * 16 + 64], word[32];
    int used = sprintf(text, "{'_id':%d,'t':'", id);
    for (int i = 0; i < EACH; i++) {
        unsigned number = (unsigned)random_below(r, random_chance(r, 20) ? 40 : WORDS);
        has[id][i] = (uint16_t)(number + 1);
        put_word(word, number);
        used += sprintf(text + used, "%s ", word);
    }
    sprintf(text + used, "'}");
    CHECK_OK(call_save(db, txn, "c", TANSU_SAVE, text), &call_error);
}

/* A word and how many documents have it. */
typedef struct counted {
    char word[32];
    int64_t documents;
} counted;

static int compare(const void *a, const void *b) {
    const counted *x = a, *y = b;
    return x->documents != y->documents ? (x->documents < y->documents ? 1 : -1)
                                        : strcmp(x->word, y->word);
}

/* expected -- the completions of a beginning, by all words of all documents. */
static const char *expected(const char *beginning) {
    static char text[16384];
    static counted list[WORDS];
    static int last[WORDS];
    size_t count = 0, size = strlen(beginning);
    for (int w = 0; w < WORDS; w++) {
        last[w] = -1;
        list[w].documents = 0;
        put_word(list[w].word, (unsigned)w);
    }
    for (int d = 0; d < DOCUMENTS; d++)
        for (int i = 0; i < EACH; i++)
            if (has[d][i] != 0 && last[has[d][i] - 1] != d) {
                last[has[d][i] - 1] = d;
                list[has[d][i] - 1].documents++;
            }
    for (int w = 0; w < WORDS; w++)
        if (list[w].documents != 0 && strncmp(list[w].word, beginning, size) == 0)
            list[count++] = list[w];
    qsort(list, count, sizeof *list, compare);
    int used = sprintf(text, "{ \"start\" : 0, \"completions\" : [ ");
    for (size_t i = 0; i < count && i < 10; i++)
        used += sprintf(text + used, "%s{ \"text\" : \"%.31s\", \"documents\" : %lld }",
                        i == 0 ? "" : ", ", list[i].word, (long long)list[i].documents);
    sprintf(text + used, " ] }");
    return text;
}

static void they_are_the_most_frequent_words(void) {
    random_source r = random_start(1);
    const char *const beginnings[] = {"w", "v", "wa", "w1", "wf0", "w12", "w9e", "x", "vf"};
    memset(has, 0, sizeof has);
    db = memory_db_open();
    create_index(db, "w", "{'t':'text'}", NULL);
    int documents = 0;
    while (documents < 600)
        change(&r, NULL, documents++);
    for (uint64_t round = 0, rounds = random_rounds("TANSU_COMPLETE_ROUNDS", 6); round < rounds;
         round++) {
        /* More than a tenth of the documents come, so that what is kept is found again. */
        for (int last = documents + documents / 5; documents < last && documents < DOCUMENTS;)
            change(&r, NULL, documents++);
        for (int i = 0; i < 10; i++)
            change(&r, NULL, (int)random_below(&r, (uint64_t)documents));
        for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
            CHECK_TEXT(expected(beginnings[i]), completions(NULL, beginnings[i], NULL));
        tansu_txn *txn = call_begin(db, TANSU_TXN_WRITE);
        static uint16_t before[DOCUMENTS][EACH];
        memcpy(before, has, sizeof has);
        for (int i = 0; i < 20; i++)
            change(&r, txn, (int)random_below(&r, (uint64_t)documents));
        CHECK_TEXT(expected("w12"), completions(txn, "w12", NULL));
        tansu_txn_abort(txn);
        memcpy(has, before, sizeof has);
        CHECK_TEXT(expected("w12"), completions(NULL, "w12", NULL));
    }
    memory_db_close(db);
}

int main(void) {
    RUN(words_are_completed);
    RUN(words_come_without_format_characters);
    RUN(other_words_are_suggested);
    RUN(stems_are_completed_to_words);
    RUN(they_are_the_most_frequent_words);
    return check_finish();
}
