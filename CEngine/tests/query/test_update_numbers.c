/*
 * test_update_numbers.c -- $inc, $mul and $bit on all types of numbers: exact, or an error.
 */
#include "support/calls/query_calls.h"
#include "support/calls/update_calls.h"
#include "support/check.h"

#include <stdio.h>

static tansu_db *db;

/* NUMBER -- {"n": a} after an operator with b, all in canonical form. */
static void number_case(const char *expected, const char *a, const char *operator_name,
                        const char *b, int line) {
    char document[200], operations[200], query[300];
    snprintf(document, sizeof document, "{'_id':1,'n':%s}", a);
    snprintf(operations, sizeof operations, "{'%s':{'n':%s}}", operator_name, b);
    db = memory_db_open();
    save_text(db, document);
    const char *answer = update_text(db, NULL, NULL, operations, NULL);
    if (expected == NULL) {
        char context[40];
        snprintf(context, sizeof context, "INVALID_QUERY %s.n", operator_name);
        check_text(context, answer, __FILE__, line, operations);
    } else {
        bson_t id = BSON_INITIALIZER;
        tansu_buffer stored = TANSU_BUFFER_INIT;
        bson_append_int32(&id, "_id", 3, 1);
        CHECK_OK(tansu_get(db, NULL, "c", document_of(&id), &stored, NULL), NULL);
        snprintf(query, sizeof query, "{'_id':1,'n':%s}", expected);
        bson_t *want = bson_from_text(query), got;
        REQUIRE(bson_init_static(&got, stored.data, stored.size));
        char *w = bson_as_canonical_extended_json(want, NULL);
        char *g = bson_as_canonical_extended_json(&got, NULL);
        check_text(w, g, __FILE__, line, operations);
        bson_free(w);
        bson_free(g);
        bson_destroy(want);
        bson_destroy(&id);
        tansu_buffer_free(&stored);
    }
    memory_db_close(db);
}

#define NUMBER(expected, a, operator_name, b) number_case(expected, a, operator_name, b, __LINE__)
#define I(n) "{'$numberInt':'" n "'}"
#define L(n) "{'$numberLong':'" n "'}"
#define D(n) "{'$numberDouble':'" n "'}"
#define M(n) "{'$numberDecimal':'" n "'}"

static void whole_numbers_grow_and_never_wrap(void) {
    NUMBER(I("3"), I("1"), "$inc", I("2"));
    NUMBER(L("2147483648"), I("2147483647"), "$inc", I("1"));
    NUMBER(L("-2147483649"), I("-2147483648"), "$inc", I("-1"));
    NUMBER(L("3"), I("1"), "$inc", L("2"));
    NUMBER(L("9223372036854775807"), L("9223372036854775806"), "$inc", I("1"));
    NUMBER(NULL, L("9223372036854775807"), "$inc", I("1"));
    NUMBER(NULL, L("-9223372036854775808"), "$inc", I("-1"));
    NUMBER(L("4611686014132420609"), I("2147483647"), "$mul", I("2147483647"));
    NUMBER(NULL, L("4611686018427387904"), "$mul", I("2"));
    NUMBER(L("-9223372036854775808"), L("4611686018427387904"), "$mul", I("-2"));
    NUMBER(NULL, L("-9223372036854775808"), "$mul", I("-1"));
}

static void doubles_are_ieee_and_lose_no_whole_number(void) {
    NUMBER(D("3.5"), I("1"), "$inc", D("2.5"));
    NUMBER(D("3.0"), L("1"), "$inc", D("2"));
    NUMBER(D("0.30000000000000004"), D("0.1"), "$inc", D("0.2"));
    NUMBER(D("9007199254740994.0"), L("9007199254740992"), "$inc", D("2"));
    NUMBER(NULL, L("9007199254740993"), "$inc", D("1"));
    NUMBER(NULL, L("9223372036854775807"), "$mul", D("1"));
    NUMBER(D("Infinity"), D("1e308"), "$mul", I("10"));
    NUMBER(D("-Infinity"), D("-1e308"), "$inc", D("-1.7e308"));
    NUMBER(D("Infinity"), D("Infinity"), "$inc", I("1"));
    NUMBER(D("NaN"), D("NaN"), "$inc", I("1"));
}

static void decimals_are_exact(void) {
    NUMBER(M("0.3"), M("0.1"), "$inc", M("0.2"));
    NUMBER(M("1.50"), M("1.00"), "$inc", M("0.5"));
    NUMBER(M("9223372036854775808"), M("1"), "$inc", L("9223372036854775807"));
    NUMBER(M("-3"), M("-1"), "$inc", I("-2"));
    NUMBER(M("-1"), M("1"), "$inc", I("-2"));
    NUMBER(M("0"), M("2"), "$inc", I("-2"));
    NUMBER(M("2.500000000000000"), M("2"), "$inc", D("0.5"));
    NUMBER(M("1.100000000000000"), M("1"), "$inc", D("0.1"));
    NUMBER(M("20.0000000000000000"), M("19.95"), "$inc", D("0.05"));
    NUMBER(M("1.300000000000000044408920985006262"), M("1"), "$inc", D("0.30000000000000004"));
    NUMBER(M("9007199254740993"), M("1"), "$inc", D("9007199254740992"));
    NUMBER(M("9999999999999999999999999999999999"), M("9999999999999999999999999999999999"), "$inc",
           M("0.4"));
    NUMBER(M("1.000000000000000000000000000000000E+34"), M("9999999999999999999999999999999999"),
           "$inc", M("0.5"));
    NUMBER(M("1000000000000000000000000000000000"), M("1000000000000000000000000000000000"), "$inc",
           M("0.5"));
    NUMBER(M("1000000000000000000000000000000002"), M("1000000000000000000000000000000001"), "$inc",
           M("0.5"));
    NUMBER(M("1E+6000"), M("1E+6000"), "$inc", M("1E-6000"));
    NUMBER(M("9.999999999999999999999999999999999E+33"), M("1E+34"), "$inc", M("-1"));
    NUMBER(M("1.20"), M("0.4"), "$mul", M("3.0"));
    NUMBER(M("-6"), M("2"), "$mul", I("-3"));
    NUMBER(M("1.000000000000000000000000000000001E+34"), M("9999999999999999999999999999999999"),
           "$mul", M("1.000000000000000000000000000000001"));
    NUMBER(M("Infinity"), M("9E+6144"), "$mul", I("10"));
    NUMBER(M("-Infinity"), M("9E+6144"), "$mul", I("-10"));
    NUMBER(M("0E-6176"), M("1E-6176"), "$mul", M("0.4"));
    NUMBER(M("1E-6176"), M("1E-6176"), "$mul", M("0.6"));
    NUMBER(M("NaN"), M("Infinity"), "$inc", M("-Infinity"));
    NUMBER(M("-Infinity"), M("Infinity"), "$mul", I("-1"));
    NUMBER(M("NaN"), M("Infinity"), "$mul", I("0"));
}

static void bits_are_combined(void) {
    NUMBER(I("4"), I("13"), "$bit", "{'and':6}");
    NUMBER(I("15"), I("13"), "$bit", "{'or':6}");
    NUMBER(I("11"), I("13"), "$bit", "{'xor':6}");
    NUMBER(L("8589934593"), I("1"), "$bit", "{'or':{'$numberLong':'8589934592'}}");
    NUMBER(I("3"), I("7"), "$bit", "{'and':5,'xor':6}");
    NUMBER(NULL, D("1"), "$bit", "{'and':1}");
    NUMBER(NULL, I("1"), "$bit", "{'and':1.5}");
    NUMBER(NULL, I("1"), "$bit", "{'not':1}");
    NUMBER(NULL, I("1"), "$bit", "{}");
}

int main(void) {
    RUN(whole_numbers_grow_and_never_wrap);
    RUN(doubles_are_ieee_and_lose_no_whole_number);
    RUN(decimals_are_exact);
    RUN(bits_are_combined);
    return check_finish();
}
