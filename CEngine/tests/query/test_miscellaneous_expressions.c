/*
 * test_miscellaneous_expressions.c -- random numbers, sizes, hashes, parts of timestamps, and
 * metadata (query/expression/operators_miscellaneous.c).
 */
#include "support/calls/expression_calls.h"
#include "support/check.h"

#define DOCUMENT                                                                           \
    "{'no': null, 's': 'h\u00e9', 'b': {'$binary': {'base64': 'AQID', 'subType': '00'}}, " \
    "'d': {'k': 1}, 't': {'$timestamp': {'t': 4294967295, 'i': 7}}}"

static void values(void) {
    static const expression_sample samples[] = {
        {"{'$binarySize': '$s'}", "3"},
        {"{'$binarySize': ['$b']}", "3"},
        {"{'$binarySize': '$no'}", "null"},
        {"{'$binarySize': '$d'}", NULL},
        {"{'$binarySize': ''}", "0"},
        {"{'$bsonSize': '$d'}", "12"},
        {"{'$bsonSize': {}}", "5"},
        {"{'$bsonSize': '$none'}", "null"},
        {"{'$bsonSize': '$s'}", NULL},
        {"{'$bsonSize': ['$d', '$d']}", NULL},
        {"{'$tsSecond': '$t'}", "{'$numberLong': '4294967295'}"},
        {"{'$tsIncrement': '$t'}", "{'$numberLong': '7'}"},
        {"{'$tsIncrement': '$no'}", "null"},
        {"{'$tsSecond': {'$date': 1}}", NULL},
        {"{'$rand': 1}", NULL},
        {"{'$rand': [1]}", NULL},
        {"{'$lt': [{'$rand': {}}, 1]}", "true"},
        {"{'$gte': [{'$rand': []}, 0]}", "true"},
        {"{'$eq': [{'$rand': {}}, {'$rand': {}}]}", "false"},
        {"{'$meta': 'none'}", NULL},
        {"{'$meta': 1}", NULL},
    };
    EXPECT_EXPRESSIONS(DOCUMENT, samples);
}

/* The first two are in MongoDB's documentation and its source. */
static void hashes(void) {
    static const expression_sample samples[] = {
        {"{'$toHashedIndexKey': 'string to hash'}", "{'$numberLong': '763543691661428748'}"},
        {"{'$toHashedIndexKey': 42}", "{'$numberLong': '-944302157085130861'}"},
        {"{'$toHashedIndexKey': 42.9}", "{'$numberLong': '-944302157085130861'}"},
        {"{'$toHashedIndexKey': {'$numberDecimal': '41.9'}}",
         "{'$numberLong': '-944302157085130861'}"},
        {"{'$toHashedIndexKey': '$none'}", "{'$numberLong': '2338878944348059895'}"},
        {"{'$toHashedIndexKey': null}", "{'$numberLong': '2338878944348059895'}"},
        {"{'$eq': [{'$toHashedIndexKey': {'a': [1]}}, {'$toHashedIndexKey': {'a': [1.0]}}]}",
         "true"},
        {"{'$eq': [{'$toHashedIndexKey': {'a': [1]}}, {'$toHashedIndexKey': {'b': [1]}}]}",
         "false"},
        {"{'$eq': [{'$toHashedIndexKey': {'$numberDouble': 'NaN'}}, {'$toHashedIndexKey': 0}]}",
         "true"},
        {"{'$eq': [{'$toHashedIndexKey': {'$numberDecimal': '1E400'}}, {'$toHashedIndexKey': "
         "{'$numberLong': '9223372036854775807'}}]}",
         "true"},
        {"{'$eq': [{'$toHashedIndexKey': {'$numberDouble': '-Infinity'}}, {'$toHashedIndexKey': "
         "{'$numberLong': '-9223372036854775808'}}]}",
         "true"},
    };
    EXPECT_EXPRESSIONS(DOCUMENT, samples);
}

int main(void) {
    RUN(values);
    RUN(hashes);
    return check_finish();
}
