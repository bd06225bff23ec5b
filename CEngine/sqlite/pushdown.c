/*
 * sqlite/pushdown.c -- conditions of SQL as a query that finds at least their documents.
 */
#include "pushdown.h"

#include "value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Strings that SQLite takes for a number begin with white space, a sign, a point or a digit: they
 * are within these. */
#define NUMERIC_FIRST "\t"
#define NUMERIC_END ":"

/* A value of SQL that a column is compared with. */
typedef struct operand {
    int type;         /* SQLITE_INTEGER (or FLOAT), SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL */
    bool has_number;  /* it is a number, or a text that may be compared as one */
    double low, high; /* numbers that are rounded to it are within these */
    bool is_zero, is_one;
    const char *text; /* of a text that is valid UTF-8 */
    size_t size;
} operand;

/* What a condition excludes: the elements of a $nor on one path. */
typedef struct exclusions {
    sql_writer *writer;
    const char *path;
    unsigned count;
} exclusions;

/* begin_item -- begins {path: in an array; its two ends are returned. */
static size_t begin_item(sql_writer *writer, unsigned number) {
    char key[16];
    snprintf(key, sizeof key, "%u", number);
    return sql_begin(writer, SQL_BSON_DOCUMENT, key);
}

/* A condition on one path, {path: {…}}, as an element of an array. */
typedef struct element_on_path {
    size_t item, condition;
} element_on_path;

static element_on_path begin_on_path(sql_writer *writer, unsigned number, const char *path) {
    size_t item = begin_item(writer, number);
    return (element_on_path){item, sql_begin(writer, SQL_BSON_DOCUMENT, path)};
}

static void end_on_path(sql_writer *writer, element_on_path element) {
    sql_end(writer, element.condition);
    sql_end(writer, element.item);
}

static void exclude(exclusions *e, const char *op, uint8_t type, const void *value, size_t size) {
    element_on_path element = begin_on_path(e->writer, e->count++, e->path);
    sql_write(e->writer, type, op, value, size);
    end_on_path(e->writer, element);
}

static void exclude_string(exclusions *e, const char *op, const char *text, size_t size) {
    element_on_path element = begin_on_path(e->writer, e->count++, e->path);
    sql_write_string(e->writer, op, text, size);
    end_on_path(e->writer, element);
}

static void exclude_double(exclusions *e, const char *op, double value) {
    element_on_path element = begin_on_path(e->writer, e->count++, e->path);
    sql_write_double(e->writer, op, value);
    end_on_path(e->writer, element);
}

/* exclude_dates -- the dates from `first` to `last`, of those that are shown in the order of time. */
static void exclude_dates(exclusions *e, int64_t first, int64_t last) {
    if (first > last)
        return;
    element_on_path element = begin_on_path(e->writer, e->count++, e->path);
    sql_write_int64(e->writer, SQL_BSON_DATE, "$gte", first);
    sql_write_int64(e->writer, SQL_BSON_DATE, "$lte", last);
    end_on_path(e->writer, element);
}

static void exclude_all_dates(exclusions *e) {
    exclude_dates(e, SQL_DATE_MIN, SQL_DATE_MAX);
}

static void exclude_null(exclusions *e) {
    exclude(e, "$eq", SQL_BSON_NULL, NULL, 0);
}

static void exclude_numbers(exclusions *e) {
    exclude_double(e, "$lte", INFINITY);
    exclude_double(e, "$eq", NAN);
}

static void exclude_bools(exclusions *e, bool no, bool yes) {
    if (no)
        exclude(e, "$eq", SQL_BSON_BOOL, "", 1);
    if (yes)
        exclude(e, "$eq", SQL_BSON_BOOL, "\1", 1);
}

static void exclude_strings(exclusions *e) {
    exclude_string(e, "$gte", "", 0);
}

static void exclude_oids(exclusions *e) {
    static const uint8_t least[12];
    exclude(e, "$gte", SQL_BSON_OID, least, sizeof least);
}

static void exclude_documents(exclusions *e) {
    static const uint8_t empty[] = {5, 0, 0, 0, 0};
    exclude(e, "$gte", SQL_BSON_DOCUMENT, empty, sizeof empty);
}

static void exclude_binary(exclusions *e) {
    static const uint8_t empty[5];
    exclude(e, "$gte", SQL_BSON_BINARY, empty, sizeof empty);
}

/* --- Operands --- */

/* is_utf8 -- whether bytes are UTF-8 as documents have it. */
static bool is_utf8(const uint8_t *at, size_t size) {
    for (const uint8_t *end = at + size; at < end;) {
        unsigned more = *at < 0x80 ? 0 : *at < 0xC2 ? 4 : *at < 0xE0 ? 1 : *at < 0xF0 ? 2 : 3;
        if (more > 3 || *at > 0xF4 || (size_t)(end - at) <= more)
            return false;
        if (more > 1 && ((*at == 0xE0 && at[1] < 0xA0) || (*at == 0xED && at[1] > 0x9F) ||
                         (*at == 0xF0 && at[1] < 0x90) || (*at == 0xF4 && at[1] > 0x8F)))
            return false;
        for (unsigned i = 1; i <= more; i++)
            if ((at[i] & 0xC0) != 0x80)
                return false;
        at += 1 + more;
    }
    return true;
}

static void set_number(operand *o, sqlite3_value *value) {
    double number = sqlite3_value_double(value);
    o->has_number = true;
    o->is_zero = number == 0;
    o->is_one = number == 1;
    /* One step is for the rounding of the operand, the other for that of what is stored. */
    o->low = nextafter(nextafter(number, -INFINITY), -INFINITY);
    o->high = nextafter(nextafter(number, INFINITY), INFINITY);
}

/* read_operand -- false when nothing is known of the value. */
static bool read_operand(operand *o, sqlite3_value *value) {
    *o = (operand){.type = sqlite3_value_type(value)};
    if (o->type == SQLITE_INTEGER || o->type == SQLITE_FLOAT) {
        o->type = SQLITE_INTEGER;
        set_number(o, value);
        return true;
    }
    if (o->type != SQLITE_TEXT)
        return true;
    o->text = (const char *)sqlite3_value_text(value);
    o->size = (size_t)sqlite3_value_bytes(value);
    if (!o->text || !is_utf8((const uint8_t *)o->text, o->size))
        return false;
    sqlite3_value *copy = sqlite3_value_dup(value);
    if (!copy)
        return false;
    if (sqlite3_value_numeric_type(copy) != SQLITE_TEXT)
        set_number(o, copy);
    sqlite3_value_free(copy);
    return true;
}

/* --- Dates as texts --- */

static int digits(const char *text, size_t size, size_t at, unsigned count) {
    int number = 0;
    if (size < at + count)
        return -1;
    for (unsigned i = 0; i < count; i++) {
        if (text[at + i] < '0' || text[at + i] > '9')
            return -1;
        number = 10 * number + text[at + i] - '0';
    }
    return number;
}

/* date_bounds -- every date before *first is less than the text, and every one after *last greater:
 * the bounds are whole days, or years. */
static void date_bounds(const operand *o, int64_t *first, int64_t *last) {
    *first = SQL_DATE_MIN, *last = SQL_DATE_MAX;
    int year = digits(o->text, o->size, 0, 4);
    if (year < 0)
        return;
    int64_t from = sql_days(year, 1, 1), to = sql_days(year + 1, 1, 1);
    int month = digits(o->text, o->size, 5, 2), day = digits(o->text, o->size, 8, 2);
    if (month >= 1 && month <= 12 && day >= 1 && day <= 31 && o->text[4] == '-' &&
        o->text[7] == '-') {
        /* Not every month has the days after its 28th. */
        from = sql_days(year, (unsigned)month, day < 28 ? (unsigned)day : 28);
        to = day < 28 ? from + 1 : from + 4;
    }
    *first = from * 86400000;
    *last = to * 86400000 - 1;
    if (*last > SQL_DATE_MAX)
        *last = SQL_DATE_MAX;
}

/* --- Comparisons --- */

/* begins_like_number -- whether a text may begin as one that a number is shown as. */
static bool begins_like_number(const char *text) {
    return strchr("0123456789-+.iInN", *text);
}

/* is_oid -- whether a text is that of an ObjectId, which is then set. */
static bool is_oid(const operand *o, uint8_t oid[12]) {
    for (size_t i = 0; i < o->size && o->size == 24; i++) {
        const char *at = strchr("0123456789abcdef", o->text[i]);
        if (!at || !o->text[i])
            return false;
        uint8_t value = (uint8_t)(at - "0123456789abcdef");
        oid[i / 2] = (uint8_t)(i % 2 ? oid[i / 2] | value : value << 4);
    }
    return o->size == 24;
}

/* exclude_lower -- what is less than a number or a text, and not equal. */
static void exclude_lower(exclusions *e, const operand *o) {
    int64_t first, last;
    if (o->has_number) {
        exclude_double(e, "$lt", o->low);
        return;
    }
    exclude_numbers(e);
    exclude_bools(e, true, true);
    exclude_string(e, "$lt", o->text, o->size);
    date_bounds(o, &first, &last);
    exclude_dates(e, SQL_DATE_MIN, first - 1);
}

/* exclude_greater -- what is greater than a number or a text, and not equal. */
static void exclude_greater(exclusions *e, const operand *o) {
    if (o->type == SQLITE_INTEGER) {
        exclude_double(e, "$gt", o->high);
        exclude_string(e, "$lt", NUMERIC_FIRST, 1);
        exclude_all_dates(e);
    } else if (!o->has_number) {
        int64_t first, last;
        date_bounds(o, &first, &last);
        exclude_dates(e, last + 1, SQL_DATE_MAX);
    }
    /* A string that is compared as a number is less than every text. */
    if (o->has_number || o->size == 0 || (unsigned char)o->text[0] < NUMERIC_END[0])
        exclude_string(e, "$gte", NUMERIC_END, 1);
    else
        exclude_string(e, "$gt", o->text, o->size);
    if (o->has_number || o->size == 0 || (unsigned char)o->text[0] < '{')
        exclude_documents(e);
    exclude_binary(e);
}

/* exclude_not_blob -- what no blob equals, nor is greater than one. */
static void exclude_not_blob(exclusions *e) {
    exclude_numbers(e);
    exclude_bools(e, true, true);
    exclude_strings(e);
    exclude_all_dates(e);
    exclude_oids(e);
    exclude_documents(e);
}

/* has_beginning -- whether a pattern begins with what it says literally. */
static bool has_beginning(const operand *o, bool like) {
    return o->type == SQLITE_TEXT && o->size > 0 && strcspn(o->text, like ? "%_" : "*?[") > 0;
}

/* exclude_pattern -- what does not begin as the pattern of LIKE (which ignores the case of ASCII
 * letters) or GLOB does. */
static void exclude_pattern(exclusions *e, const operand *o, bool like) {
    char low[256], high[256];
    size_t size = 0;
    size_t literal = strcspn(o->text, like ? "%_" : "*?[");
    while (size < literal && size < sizeof low) {
        char c = o->text[size];
        low[size] = like && c >= 'a' && c <= 'z' ? (char)(c - 0x20) : c;
        high[size] = like && c >= 'A' && c <= 'Z' ? (char)(c + 0x20) : c;
        size++;
    }
    if (size == sizeof low)
        while (size > 0 && (o->text[size] & 0xC0) == 0x80)
            size--; /* a character is whole */
    if (size == 0)
        return;
    if (!begins_like_number(o->text)) {
        exclude_numbers(e);
        exclude_bools(e, true, true);
    }
    exclude_string(e, "$lt", low, size);
    /* The next greater string of another beginning: one ASCII character is replaced by the next. */
    while (size > 0 && (unsigned char)high[size - 1] >= 0x7F)
        size--;
    if (size > 0) {
        high[size - 1]++;
        exclude_string(e, "$gte", high, size);
    }
    if (o->text[0] < '0' || o->text[0] > '9')
        exclude_all_dates(e);
    if (o->text[0] != '{')
        exclude_documents(e);
}

/* --- Conditions --- */

/* begin_condition -- begins the next condition of the query. */
static size_t begin_condition(sql_query *query) {
    return begin_item(&query->writer, query->conditions++);
}

/* add_null -- the documents in which the column is NULL: in a query a path goes through arrays, in
 * a column it does not. */
static void add_null(sql_query *query, const sql_column *column) {
    sql_writer *w = &query->writer;
    size_t condition = begin_condition(query);
    size_t any = sql_begin(w, SQL_BSON_ARRAY, "$or");
    size_t item = begin_item(w, 0);
    size_t in = sql_begin(w, SQL_BSON_DOCUMENT, column->path);
    size_t values = sql_begin(w, SQL_BSON_ARRAY, "$in");
    sql_write(w, SQL_BSON_NULL, "0", NULL, 0);
    sql_write_double(w, "1", NAN);
    sql_end(w, values);
    sql_end(w, in);
    sql_end(w, item);
    unsigned count = 1;
    for (const char *dot = column->path; (dot = strchr(dot, '.')) != NULL; dot++) {
        if (dot > column->path && dot[-1] == '\\')
            continue;
        char *parent = sqlite3_mprintf("%.*s", (int)(dot - column->path), column->path);
        if (!parent) {
            w->failed = true;
            break;
        }
        element_on_path array = begin_on_path(w, count++, parent);
        sql_write_string(w, "$type", "array", 5);
        end_on_path(w, array);
        sqlite3_free(parent);
    }
    sql_end(w, any);
    sql_end(w, condition);
}

/* add_range -- adds the branch {path: {$gte: first, $lte: last}} to a $or. */
static void add_range(sql_writer *w, unsigned *count, const char *path, const operand *o) {
    element_on_path element = begin_on_path(w, (*count)++, path);
    sql_write_double(w, "$gte", o->low);
    sql_write_double(w, "$lte", o->high);
    end_on_path(w, element);
}

/* add_dates -- adds the branch of the dates whose text may be the operand's. */
static void add_dates(sql_writer *w, unsigned *count, const char *path, const operand *o) {
    int64_t first, last;
    if (digits(o->text, o->size, 0, 4) < 0)
        return;
    date_bounds(o, &first, &last);
    element_on_path element = begin_on_path(w, (*count)++, path);
    sql_write_int64(w, SQL_BSON_DATE, "$gte", first);
    sql_write_int64(w, SQL_BSON_DATE, "$lte", last);
    end_on_path(w, element);
}

/* add_numeric_texts -- adds the branches of texts that may be compared as numbers. */
static void add_numeric_texts(sql_writer *w, unsigned *count, const char *path) {
    static const uint8_t least[12];
    element_on_path element = begin_on_path(w, (*count)++, path);
    sql_write_string(w, "$gte", NUMERIC_FIRST, 1);
    sql_write_string(w, "$lt", NUMERIC_END, 1);
    end_on_path(w, element);
    element = begin_on_path(w, (*count)++, path);
    sql_write(w, SQL_BSON_OID, "$gte", least, sizeof least);
    end_on_path(w, element);
}

/* add_listed -- adds an operand to the values of an $in. */
static void add_listed(sql_writer *w, unsigned *count, const operand *o) {
    uint8_t oid[12];
    char key[16];
    snprintf(key, sizeof key, "%u", (*count)++);
    if (o->has_number && (o->is_zero || o->is_one)) {
        sql_write(w, SQL_BSON_BOOL, key, o->is_one ? "\1" : "", 1);
        snprintf(key, sizeof key, "%u", (*count)++);
    }
    if (o->type == SQLITE_TEXT) {
        sql_write_string(w, key, o->text, o->size);
        snprintf(key, sizeof key, "%u", (*count)++);
        if (is_oid(o, oid))
            sql_write(w, SQL_BSON_OID, key, oid, sizeof oid);
    }
}

/* is_shown_as_json -- whether documents, arrays and other values that SQL shows as JSON, or
 * as a blob, may equal an operand. */
static bool is_shown_as_json(const operand *o) {
    return o->type == SQLITE_BLOB ||
           (o->type == SQLITE_TEXT && o->size > 0 && (o->text[0] == '{' || o->text[0] == '['));
}

/* add_equal -- the documents in which the column equals one of some operands. */
static void add_equal(sql_query *query, const char *path, const operand *operands, size_t count) {
    sql_writer *w = &query->writer;
    for (size_t i = 0; i < count; i++)
        if (is_shown_as_json(&operands[i]))
            return;
    size_t condition = begin_condition(query);
    size_t any = sql_begin(w, SQL_BSON_ARRAY, "$or");
    size_t item = begin_item(w, 0);
    size_t in = sql_begin(w, SQL_BSON_DOCUMENT, path);
    size_t values = sql_begin(w, SQL_BSON_ARRAY, "$in");
    unsigned listed = 0, branches = 1;
    for (size_t i = 0; i < count; i++)
        add_listed(w, &listed, &operands[i]);
    sql_end(w, values);
    sql_end(w, in);
    sql_end(w, item);
    bool numeric = false;
    for (size_t i = 0; i < count; i++) {
        if (operands[i].has_number)
            add_range(w, &branches, path, &operands[i]);
        if (operands[i].type == SQLITE_TEXT)
            add_dates(w, &branches, path, &operands[i]);
        numeric = numeric || operands[i].has_number;
    }
    if (numeric)
        add_numeric_texts(w, &branches, path);
    sql_end(w, any);
    sql_end(w, condition);
}

/* add_excluding -- a comparison. A path that has an array in a document has several values there,
 * each of which may be excluded though the array as a whole is not: it is found by its type. */
static void add_excluding(sql_query *query, const sql_column *column, bool single, char op,
                          const operand *o) {
    sql_writer *w = &query->writer;
    size_t condition = begin_condition(query), any = 0, item = 0;
    if (!single) {
        any = sql_begin(w, SQL_BSON_ARRAY, "$or");
        element_on_path array = begin_on_path(w, 0, column->path);
        sql_write_string(w, "$type", "array", 5);
        end_on_path(w, array);
        item = begin_item(w, 1);
    }
    exclusions e = {w, column->path, 0};
    size_t list = sql_begin(w, SQL_BSON_ARRAY, "$nor");
    exclude_null(&e);
    if (op == SQL_OP_LIKE || op == SQL_OP_GLOB) {
        exclude_pattern(&e, o, op == SQL_OP_LIKE);
    } else if (o->type == SQLITE_BLOB) {
        if (op != SQL_OP_UPPER)
            exclude_not_blob(&e);
    } else if (op == SQL_OP_LOWER) {
        exclude_lower(&e, o);
    } else {
        exclude_greater(&e, o);
    }
    sql_end(w, list);
    if (!single) {
        sql_end(w, item);
        sql_end(w, any);
    }
    sql_end(w, condition);
}

void sql_query_begin(sql_query *query) {
    *query = (sql_query){0};
    query->start = sql_begin(&query->writer, 0, NULL);
    query->list = sql_begin(&query->writer, SQL_BSON_ARRAY, "$and");
}

void sql_query_add(sql_query *query, const sql_column *column, bool single, char op,
                   sqlite3_value *value) {
    operand o;
    if (op == SQL_OP_NULL || (op == SQL_OP_IS && sqlite3_value_type(value) == SQLITE_NULL))
        add_null(query, column);
    else if (sqlite3_value_type(value) == SQLITE_NULL)
        query->nothing = true;
    else if (read_operand(&o, value)) {
        if (op == SQL_OP_EQ || op == SQL_OP_IS)
            add_equal(query, column->path, &o, 1);
        else if ((op == SQL_OP_LIKE || op == SQL_OP_GLOB) && !has_beginning(&o, op == SQL_OP_LIKE))
            return; /* an index that is read as a whole costs more than it saves */
        else
            add_excluding(query, column, single, op, &o);
    }
}

int sql_query_add_list(sql_query *query, const sql_column *column, size_t most,
                       sqlite3_value *list) {
    operand *operands = sqlite3_malloc64(most * sizeof *operands);
    if (!operands)
        return SQLITE_NOMEM;
    sqlite3_value **kept = sqlite3_malloc64(most * sizeof(sqlite3_value *));
    size_t count = 0;
    bool known = true;
    sqlite3_value *value = NULL;
    int code = kept ? sqlite3_vtab_in_first(list, &value) : SQLITE_NOMEM;
    for (; code == SQLITE_OK && known; code = sqlite3_vtab_in_next(list, &value)) {
        if (sqlite3_value_type(value) == SQLITE_NULL)
            continue;
        known = count < most;
        if (!known)
            break;
        kept[count] = sqlite3_value_dup(value); /* the value is gone with the next one */
        if (!kept[count]) {
            code = SQLITE_NOMEM;
            break;
        }
        known = read_operand(&operands[count], kept[count]);
        count++;
    }
    if (known && code == SQLITE_DONE) {
        if (count)
            add_equal(query, column->path, operands, count);
        else
            query->nothing = true;
    }
    while (count > 0)
        sqlite3_value_free(kept[--count]);
    sqlite3_free(kept);
    sqlite3_free(operands);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

void sql_query_add_unordered(sql_query *query, const sql_column *column, sql_order order) {
    size_t condition = begin_condition(query);
    exclusions e = {&query->writer, column->path, 0};
    size_t list = sql_begin(&query->writer, SQL_BSON_ARRAY, "$nor");
    exclude_null(&e);
    exclude_numbers(&e);
    if (order == SQL_ORDER_STRINGS)
        exclude_strings(&e);
    else if (order == SQL_ORDER_DATES)
        exclude_all_dates(&e);
    else
        exclude_oids(&e);
    sql_end(&query->writer, list);
    sql_end(&query->writer, condition);
}

void sql_query_end(sql_query *query) {
    sql_end(&query->writer, query->list);
    sql_end(&query->writer, query->start);
}

tansu_document sql_query_document(const sql_query *query) {
    /* An empty $and would be an error. */
    return query->conditions ? (tansu_document){query->writer.data, query->writer.size}
                             : TANSU_NO_DOCUMENT;
}
