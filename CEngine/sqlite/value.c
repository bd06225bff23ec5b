/*
 * sqlite/value.c -- the values of documents as values of SQL.
 */
#include "value.h"

#include "database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of proleptic Gregorian years that begin in March: eras have 400 years, 146097 days. */
int64_t sql_days(int64_t year, unsigned month, unsigned day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void result_date(sqlite3_context *context, int64_t milliseconds) {
    int64_t days = milliseconds / 86400000, rest = milliseconds % 86400000;
    if (rest < 0)
        rest += 86400000, days--;
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t of_era = days - era * 146097;
    int64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    int64_t shifted = (5 * of_year + 2) / 153;
    int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    char text[64];
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
             (int)(years + era * 400 + (month <= 2)), (int)month,
             (int)(of_year - (153 * shifted + 2) / 5 + 1), (int)(rest / 3600000),
             (int)(rest / 60000 % 60), (int)(rest / 1000 % 60), (int)(rest % 1000));
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

/* result_failed -- makes an error of the engine the result. */
static void result_failed(sqlite3_context *context, tansu_status status, const tansu_error *error) {
    char *message = sql_message(NULL, status, error);
    if (message)
        sqlite3_result_error(context, message, -1);
    else
        sqlite3_result_error_nomem(context);
    sqlite3_free(message);
}

void sql_result_document(sqlite3_context *context, tansu_document document) {
    tansu_buffer json = TANSU_BUFFER_INIT;
    tansu_error error = {0};
    tansu_status status = tansu_bson_to_json(document, 0, &json, &error);
    if (status == TANSU_OK)
        sqlite3_result_text64(context, (const char *)json.data, json.size, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
    else
        result_failed(context, status, &error);
    tansu_buffer_free(&json);
}

/* element_json -- the JSON of one value: {"v": value} without what is around it. */
static tansu_status element_json(const sql_element *element, tansu_buffer *json, size_t *start,
                                 tansu_error *error) {
    sql_writer one = {0};
    size_t begin = sql_begin(&one, 0, NULL);
    sql_write(&one, element->type, "v", element->value, element->size);
    sql_end(&one, begin);
    tansu_status status =
        one.failed ? TANSU_E_MEMORY
                   : tansu_bson_to_json((tansu_document){one.data, one.size}, 0, json, error);
    sql_writer_free(&one);
    *start = sizeof "{\"v\": " - 1;
    return status;
}

static void result_json(sqlite3_context *context, const sql_element *element) {
    tansu_buffer json = TANSU_BUFFER_INIT;
    tansu_error error = {0};
    size_t start;
    tansu_status status = element_json(element, &json, &start, &error);
    if (status == TANSU_OK)
        sqlite3_result_text64(context, (const char *)json.data + start, json.size - start - 1,
                              SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        result_failed(context, status, &error);
    tansu_buffer_free(&json);
}

/* result_decimal -- from {"$numberDecimal": "12.50"}. The point is taken out of the digits, since
 * what strtod() takes for one depends on the locale of the program. */
static void result_decimal(sqlite3_context *context, const sql_element *element) {
    tansu_buffer json = TANSU_BUFFER_INIT;
    tansu_error error = {0};
    size_t start;
    tansu_status status = element_json(element, &json, &start, &error);
    if (status != TANSU_OK) {
        result_failed(context, status, &error);
        return;
    }
    const char *at = (const char *)json.data + start + sizeof "{\"$numberDecimal\": \"" - 1;
    char text[96];
    size_t size = 0;
    long exponent = 0;
    bool point = false, zero = true;
    if (*at == '-')
        text[size++] = *at++;
    if (*at == 'N') {
        sqlite3_result_null(context);
    } else if (*at == 'I') {
        sqlite3_result_double(context, size ? -INFINITY : INFINITY);
    } else {
        for (; ((*at >= '0' && *at <= '9') || *at == '.') && size < 60; at++) {
            if (*at == '.') {
                point = true;
                continue;
            }
            zero = zero && *at == '0';
            text[size++] = *at;
            exponent -= point;
        }
        if (*at == 'E')
            exponent += strtol(at + 1, NULL, 10);
        text[size] = 0;
        while (!zero && exponent < 0 && text[size - 1] == '0')
            text[--size] = 0, exponent++;
        if (zero)
            exponent = 0, size = 1, memcpy(text, "0", 2);
        if (exponent >= 0 && size + (size_t)exponent <= 18) {
            for (; exponent > 0; exponent--)
                text[size++] = '0';
            text[size] = 0;
            sqlite3_result_int64(context, strtoll(text, NULL, 10));
        } else {
            snprintf(text + size, sizeof text - size, "e%ld", exponent);
            sqlite3_result_double(context, strtod(text, NULL));
        }
    }
    tansu_buffer_free(&json);
}

static void result_oid(sqlite3_context *context, const uint8_t *bytes) {
    char text[25];
    for (unsigned i = 0; i < 12; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    sqlite3_result_text(context, text, 24, SQLITE_TRANSIENT);
}

void sql_result(sqlite3_context *context, const sql_element *element) {
    size_t size;
    const char *text;
    switch (element->type) {
    case SQL_BSON_UNDEFINED:
    case SQL_BSON_NULL: sqlite3_result_null(context); break;
    case SQL_BSON_BOOL: sqlite3_result_int(context, element->value[0] != 0); break;
    case SQL_BSON_INT32: sqlite3_result_int(context, sql_int32(element->value)); break;
    case SQL_BSON_INT64: sqlite3_result_int64(context, sql_int64(element->value)); break;
    case SQL_BSON_DOUBLE: sqlite3_result_double(context, sql_double(element->value)); break;
    case SQL_BSON_DECIMAL: result_decimal(context, element); break;
    case SQL_BSON_OID: result_oid(context, element->value); break;
    case SQL_BSON_BINARY:
        sqlite3_result_blob64(context, element->value + 5,
                              (sqlite3_uint64)sql_int32(element->value), SQLITE_TRANSIENT);
        break;
    case SQL_BSON_SYMBOL:
    case SQL_BSON_STRING:
        text = sql_string(element, &size);
        sqlite3_result_text64(context, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case SQL_BSON_DATE: {
        int64_t time = sql_int64(element->value);
        if (time >= SQL_DATE_MIN && time <= SQL_DATE_MAX)
            result_date(context, time);
        else
            result_json(context, element);
        break;
    }
    default: result_json(context, element);
    }
}
