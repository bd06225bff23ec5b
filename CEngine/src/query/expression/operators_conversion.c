/*
 * query/expression/operators_conversion.c -- the type of a value, and values of other types.
 */
#include "query/expression/binary_text.h"
#include "query/expression/date_text.h"
#include "query/expression/expression_internal.h"
#include "query/expression/number_text.h"

#include "bson/decimal_text.h"
#include "bson/number.h"
#include "bson/object_id.h"
#include "util/hex.h"
#include "util/utf8.h"

#include <string.h>

/* ---- Types ---- */

static tansu_status type_of(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    if (status != TANSU_OK)
        return status;
    const char *name = type_name(&value);
    return result_string(ev, name, strlen(name), result);
}

static tansu_status is_number(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    return status == TANSU_OK ? result_bool(doc_is_number(&value), result) : status;
}

/* ---- One conversion ---- */

/* The form of a binary's text. */
enum binary_format {
    FORMAT_NONE,
    FORMAT_BASE64,
    FORMAT_BASE64URL,
    FORMAT_HEX,
    FORMAT_UTF8,
    FORMAT_UUID,
    FORMAT_AUTO
};

/* A conversion: from a value to a type. */
typedef struct conversion {
    evaluation *ev;
    const expression *e;
    const doc_value *from;
    uint8_t to;
    uint8_t subtype; /* of binaries */
    enum binary_format format;
    bool big_endian;
    bool wrong_use; /* the error is not for "onError" */
} conversion;

/* no_conversion -- the error for types that have none. */
static tansu_status no_conversion(const conversion *c) {
    doc_value to = {NULL, 0, c->to};
    return evaluation_error(c->ev, c->e,
                            "Value of type \"%s\" cannot be converted to \"%s\"; choose another "
                            "type, or give \"onError\" of $convert",
                            type_name(c->from), type_name(&to));
}

/* not_convertible -- the error for a value that has none, though others of its type have. */
static tansu_status not_convertible(const conversion *c, const char *reason) {
    doc_value to = {NULL, 0, c->to};
    return evaluation_error(c->ev, c->e,
                            "Value of type \"%s\" cannot be converted to \"%s\", because it %s; "
                            "give \"onError\" of $convert for such values",
                            type_name(c->from), type_name(&to), reason);
}

/* number_read -- the status of reading a number's text. */
static tansu_status number_read(const conversion *c, enum number_text read) {
    switch (read) {
    case NUMBER_TEXT_OK: return TANSU_OK;
    case NUMBER_TEXT_NONE: return not_convertible(c, "is no text of such a number");
    case NUMBER_TEXT_RANGE: return not_convertible(c, "exceeds the range of the type");
    case NUMBER_TEXT_MEMORY: break;
    }
    return error_memory(c->ev->error);
}

/* text_of -- the text of a string; false for one with the prefix of hexadecimal digits. */
static bool text_of(const conversion *c, const char **text, size_t *size) {
    *text = doc_string(c->from, size);
    return *size < 2 || memcmp(*text, "0x", 2) != 0;
}

/* bytes_of -- the bytes of a binary. */
static const uint8_t *bytes_of(const doc_value *binary, size_t *size) {
    *size = load_u32(binary->data);
    return binary->data + 5;
}

/* whole_of_binary -- the signed number that 1, 2, 4 or, for "long", 8 bytes are. */
static tansu_status whole_of_binary(const conversion *c, int64_t *number) {
    size_t size;
    const uint8_t *bytes = bytes_of(c->from, &size);
    if (size != 1 && size != 2 && size != 4 && (size != 8 || c->to != DOC_INT64))
        return not_convertible(c, "has another number of bytes");
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[c->big_endian ? i : size - 1 - i];
    unsigned unused = 64 - 8 * (unsigned)size;
    bool negative = value >> (8 * size - 1) & 1;
    value = negative ? value | ~(~(uint64_t)0 >> unused) : value;
    *number = (int64_t)value;
    return TANSU_OK;
}

/* to_whole -- a number without its fraction: for "int", "long" and "date". */
static tansu_status to_whole(const conversion *c, int64_t *number) {
    const char *text;
    size_t size;
    switch (c->from->type) {
    case DOC_STRING:
        if (!text_of(c, &text, &size))
            return number_read(c, NUMBER_TEXT_NONE);
        return number_read(c, number_text_read_integer(text, size, number));
    case DOC_BOOL: *number = doc_bool(c->from); return TANSU_OK;
    case DOC_DATE: *number = doc_int64(c->from); return TANSU_OK;
    case DOC_BINARY: return whole_of_binary(c, number);
    default: break;
    }
    return number_whole(c->from, FRACTION_CUT, number)
               ? TANSU_OK
               : not_convertible(c, "exceeds the range of the type");
}

static tansu_status to_int(const conversion *c, doc_value *result) {
    int64_t number;
    if (c->from->type == DOC_DATE)
        return no_conversion(c);
    tansu_status status = to_whole(c, &number);
    if (status == TANSU_OK && (number < INT32_MIN || number > INT32_MAX))
        return not_convertible(c, "exceeds the range of the type");
    return status == TANSU_OK ? result_int32(c->ev, (int32_t)number, result) : status;
}

static tansu_status to_long(const conversion *c, doc_value *result) {
    int64_t number;
    tansu_status status = to_whole(c, &number);
    return status == TANSU_OK ? result_int64(c->ev, number, result) : status;
}

/* double_of_binary -- the number that 4 or 8 bytes are, by IEEE 754. */
static tansu_status double_of_binary(const conversion *c, double *number) {
    size_t size;
    uint8_t bytes[8];
    const uint8_t *from = bytes_of(c->from, &size);
    if (size != 4 && size != 8)
        return not_convertible(c, "has another number of bytes than 4 or 8");
    for (size_t i = 0; i < size; i++)
        bytes[i] = from[c->big_endian ? size - 1 - i : i];
    if (size == 8) {
        uint64_t bits = load_u64(bytes);
        memcpy(number, &bits, sizeof bits);
    } else {
        uint32_t bits = load_u32(bytes);
        float single;
        memcpy(&single, &bits, sizeof bits);
        *number = single;
    }
    return TANSU_OK;
}

static tansu_status to_double(const conversion *c, doc_value *result) {
    tansu_status status = TANSU_OK;
    double number = 0;
    const char *text;
    size_t size;
    switch (c->from->type) {
    case DOC_STRING:
        status =
            number_read(c, text_of(c, &text, &size) ? number_text_read_double(text, size, &number)
                                                    : NUMBER_TEXT_NONE);
        break;
    case DOC_BOOL: number = doc_bool(c->from); break;
    case DOC_INT32: number = doc_int32(c->from); break;
    case DOC_INT64:
    case DOC_DATE: number = (double)doc_int64(c->from); break;
    case DOC_DECIMAL128:
        status = number_read(c, decimal128_to_double(c->from->data, &number));
        break;
    default: status = double_of_binary(c, &number);
    }
    return status == TANSU_OK ? result_double(c->ev, number, result) : status;
}

static tansu_status to_decimal(const conversion *c, doc_value *result) {
    uint8_t bytes[16];
    const char *text;
    size_t size;
    switch (c->from->type) {
    case DOC_STRING:
        if (!text_of(c, &text, &size) || !number_text_read_decimal(text, size, bytes))
            return number_read(c, NUMBER_TEXT_NONE);
        break;
    case DOC_BOOL: decimal128_of_integer(doc_bool(c->from), bytes); break;
    case DOC_INT32: decimal128_of_integer(doc_int32(c->from), bytes); break;
    case DOC_DOUBLE: decimal128_of_double(doc_double(c->from), bytes); break;
    default: decimal128_of_integer(doc_int64(c->from), bytes);
    }
    return result_bytes(c->ev, DOC_DECIMAL128, bytes, sizeof bytes, result);
}

static tansu_status to_bool(const conversion *c, doc_value *result) {
    return result_bool(expression_is_true(c->from), result);
}

static tansu_status to_date(const conversion *c, doc_value *result) {
    int64_t milliseconds;
    const char *text;
    size_t size;
    tansu_status status = TANSU_OK;
    switch (c->from->type) {
    case DOC_STRING:
        text = doc_string(c->from, &size);
        status = date_text_parse(c->ev, c->e, text, size, NULL, &milliseconds);
        break;
    case DOC_OID: /* its first bytes are signed seconds, big-endian */
        milliseconds =
            (int64_t)(int32_t)((uint32_t)c->from->data[0] << 24 | (uint32_t)c->from->data[1] << 16 |
                               (uint32_t)c->from->data[2] << 8 | c->from->data[3]) *
            1000;
        break;
    case DOC_TIMESTAMP: milliseconds = (int64_t)load_u32(c->from->data + 4) * 1000; break;
    default: status = to_whole(c, &milliseconds);
    }
    return status == TANSU_OK ? result_date(c->ev, milliseconds, result) : status;
}

static tansu_status to_object_id(const conversion *c, doc_value *result) {
    uint8_t bytes[OBJECT_ID_SIZE];
    size_t size;
    const char *text = doc_string(c->from, &size);
    if (!object_id_read(text, size, bytes))
        return not_convertible(c, "is not 24 hexadecimal digits");
    return result_bytes(c->ev, DOC_OID, bytes, sizeof bytes, result);
}

/* format_lacks -- the error for a conversion that needs a "format". */
static tansu_status format_lacks(conversion *c) {
    c->wrong_use = true;
    return evaluation_error(c->ev, c->e,
                            "Binaries are converted from and to strings by a \"format\"; give "
                            "\"base64\", \"base64url\", \"hex\", \"utf8\", \"uuid\" or \"auto\"");
}

/* binary_to_string -- the text of a binary. */
static tansu_status binary_to_string(conversion *c, doc_value *result) {
    size_t size, text_size;
    const uint8_t *bytes = bytes_of(c->from, &size);
    bool uuid = c->from->data[4] == DOC_SUBTYPE_UUID;
    enum binary_format format = c->format;
    if (format == FORMAT_NONE)
        return format_lacks(c);
    if (format == FORMAT_AUTO)
        format = uuid && size == UUID_SIZE ? FORMAT_UUID : FORMAT_BASE64;
    if (format == FORMAT_UUID && (!uuid || size != UUID_SIZE))
        return not_convertible(c, "is no UUID: 16 bytes with the subtype 4");
    if (format == FORMAT_UTF8) {
        if (!utf8_is_valid(bytes, size))
            return not_convertible(c, "is not UTF-8");
        return result_string(c->ev, (const char *)bytes, size, result);
    }
    tansu_status status = evaluation_step(c->ev, size / 64);
    char *text = status == TANSU_OK ? arena_alloc(&c->ev->memory, 2 * size + UUID_TEXT_SIZE) : NULL;
    if (!text)
        return status == TANSU_OK ? evaluation_too_large(c->ev, c->e) : status;
    if (format == FORMAT_UUID) {
        uuid_write(bytes, text);
        text_size = UUID_TEXT_SIZE;
    } else if (format == FORMAT_HEX) {
        hex_digits_write(bytes, size, text);
        text_size = 2 * size;
    } else {
        text_size = base64_write(bytes, size, format == FORMAT_BASE64URL, text);
    }
    return result_string(c->ev, text, text_size, result);
}

static tansu_status to_string(conversion *c, doc_value *result) {
    char text[64];
    size_t size;
    tansu_status status = TANSU_OK;
    switch (c->from->type) {
    case DOC_BINARY: return binary_to_string(c, result);
    case DOC_DOUBLE: size = number_text_double(doc_double(c->from), text); break;
    case DOC_INT32: size = number_text_integer(doc_int32(c->from), text); break;
    case DOC_INT64: size = number_text_integer(doc_int64(c->from), text); break;
    case DOC_BOOL: size = strlen(strcpy(text, doc_bool(c->from) ? "true" : "false")); break;
    case DOC_OID:
        hex_write(c->from->data, OBJECT_ID_SIZE, text);
        size = (size_t)2 * OBJECT_ID_SIZE;
        break;
    case DOC_DATE:
        status = date_text_write(c->ev, c->e, doc_int64(c->from), text);
        c->wrong_use = status != TANSU_OK; /* as in MongoDB */
        size = DATE_TEXT_SIZE - 1;
        break;
    default: /* a decimal */ decimal_text_write(c->from->data, text); size = strlen(text);
    }
    return status == TANSU_OK ? result_string(c->ev, text, size, result) : status;
}

/* BINARY_HEAD -- the room in front of the bytes of a binary. */
#define BINARY_HEAD 9

/* put_binary -- a binary of the subtype. The bytes follow the head, which is shorter for all
 * subtypes but the old 2: that has a second length. */
static tansu_status put_binary(const conversion *c, uint8_t *with_head, size_t size,
                               doc_value *result) {
    uint8_t *start = with_head + (c->subtype == 2 ? 0 : 4);
    if (c->subtype == 2) {
        store_u32(start + 5, (uint32_t)size);
        size += 4;
    }
    store_u32(start, (uint32_t)size);
    start[4] = c->subtype;
    *result = (doc_value){start, (uint32_t)size + 5, DOC_BINARY};
    return TANSU_OK;
}

/* string_to_binary -- the bytes that a text stands for. */
static tansu_status string_to_binary(conversion *c, doc_value *result) {
    size_t size, count = 0;
    const char *text = doc_string(c->from, &size);
    bool uuid = c->subtype == DOC_SUBTYPE_UUID, valid = true;
    enum binary_format format = c->format;
    if (format == FORMAT_NONE)
        return format_lacks(c);
    if (format == FORMAT_AUTO)
        format = uuid ? FORMAT_UUID : FORMAT_BASE64;
    if (uuid != (format == FORMAT_UUID))
        return not_convertible(c, "needs the format \"uuid\" for the subtype 4, and no other one");
    tansu_status status = evaluation_step(c->ev, size / 64);
    uint8_t *bytes =
        status == TANSU_OK ? arena_alloc(&c->ev->memory, size + BINARY_HEAD + 3) : NULL;
    if (!bytes)
        return status == TANSU_OK ? evaluation_too_large(c->ev, c->e) : status;
    switch (format) {
    case FORMAT_UUID:
        valid = uuid_read(text, size, bytes + BINARY_HEAD);
        count = UUID_SIZE;
        break;
    case FORMAT_HEX:
        valid = hex_digits_read(text, size, bytes + BINARY_HEAD);
        count = size / 2;
        break;
    case FORMAT_UTF8:
        memcpy(bytes + BINARY_HEAD, text, size);
        count = size;
        break;
    default:
        valid = base64_read(text, size, format == FORMAT_BASE64URL, bytes + BINARY_HEAD, &count);
    }
    return valid ? put_binary(c, bytes, count, result)
                 : not_convertible(c, "is no text of the format");
}

static tansu_status to_binary(conversion *c, doc_value *result) {
    if (c->from->type == DOC_STRING)
        return string_to_binary(c, result);
    if (c->from->type == DOC_BINARY) {
        if (c->from->data[4] != c->subtype)
            return not_convertible(c, "has another subtype");
        *result = *c->from;
        return TANSU_OK;
    }
    uint8_t *bytes = arena_alloc(&c->ev->memory, BINARY_HEAD + 8);
    if (!bytes)
        return evaluation_too_large(c->ev, c->e);
    size_t size = c->from->size;
    for (size_t i = 0; i < size; i++)
        bytes[BINARY_HEAD + i] = c->from->data[c->big_endian ? size - 1 - i : i];
    return put_binary(c, bytes, size, result);
}

/* is_possible -- whether values of a type are converted to another type. */
static bool is_possible(uint8_t from, uint8_t to) {
    const uint64_t one = 1;
    const uint64_t numbers =
        one << DOC_DOUBLE | one << DOC_INT32 | one << DOC_INT64 | one << DOC_DECIMAL128;
    uint64_t sources;
    if (from >= 64)
        return to == DOC_BOOL;
    switch (to) {
    case DOC_BOOL: return true;
    case DOC_DOUBLE:
    case DOC_INT64:
        sources =
            numbers | one << DOC_STRING | one << DOC_BOOL | one << DOC_DATE | one << DOC_BINARY;
        break;
    case DOC_INT32:
        sources = numbers | one << DOC_STRING | one << DOC_BOOL | one << DOC_BINARY;
        break;
    case DOC_DECIMAL128:
        sources = numbers | one << DOC_STRING | one << DOC_BOOL | one << DOC_DATE;
        break;
    case DOC_DATE:
        sources = one << DOC_DOUBLE | one << DOC_INT64 | one << DOC_DECIMAL128 | one << DOC_STRING |
                  one << DOC_OID | one << DOC_TIMESTAMP | one << DOC_DATE;
        break;
    case DOC_OID: sources = one << DOC_STRING | one << DOC_OID; break;
    case DOC_STRING:
        sources = numbers | one << DOC_STRING | one << DOC_BOOL | one << DOC_DATE | one << DOC_OID |
                  one << DOC_BINARY;
        break;
    case DOC_BINARY:
        sources = one << DOC_DOUBLE | one << DOC_INT32 | one << DOC_INT64 | one << DOC_STRING |
                  one << DOC_BINARY;
        break;
    default: return false;
    }
    return sources >> from & 1;
}

/* convert_value -- converts a value that is there. */
static tansu_status convert_value(conversion *c, doc_value *result) {
    if (!is_possible(c->from->type, c->to))
        return no_conversion(c);
    if (c->from->type == c->to && c->to != DOC_BINARY) {
        *result = *c->from;
        return TANSU_OK;
    }
    switch (c->to) {
    case DOC_DOUBLE: return to_double(c, result);
    case DOC_STRING: return to_string(c, result);
    case DOC_BINARY: return to_binary(c, result);
    case DOC_OID: return to_object_id(c, result);
    case DOC_BOOL: return to_bool(c, result);
    case DOC_DATE: return to_date(c, result);
    case DOC_INT32: return to_int(c, result);
    case DOC_INT64: return to_long(c, result);
    default: return to_decimal(c, result);
    }
}

/* to_type -- the conversions whose type is that of their name: the variant. */
static tansu_status to_type(evaluation *ev, const expression *e, doc_value *result) {
    doc_value value;
    tansu_status status = argument(ev, e, 0, &value);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&value))
        return result_null(result);
    conversion c = {.ev = ev,
                    .e = e,
                    .from = &value,
                    .to = (uint8_t)e->op->variant,
                    .subtype = DOC_SUBTYPE_UUID,
                    .format = e->op->variant == DOC_BINARY ? FORMAT_UUID : FORMAT_AUTO};
    return convert_value(&c, result);
}

/* ---- $convert ---- */

enum {
    CONVERT_INPUT,
    CONVERT_TO,
    CONVERT_FORMAT,
    CONVERT_BYTE_ORDER,
    CONVERT_ON_ERROR,
    CONVERT_ON_NULL
};

/* fails_always -- whether a part of an expression is an operator of constants that fails. */
static bool fails_always(const expression *e) {
    bool constant = true;
    doc_value value;
    for (uint32_t i = 0; i < e->count; i++) {
        if (!e->args[i])
            continue;
        if (fails_always(e->args[i]))
            return true;
        constant = constant && expression_constant(e->args[i], &value);
    }
    return constant && e->count > 0 && e->op && !e->op->varies;
}

/* compile_convert -- by name. What "onError" and "onNull" are must not be an error in itself,
 * whether they are needed or not. */
static tansu_status compile_convert(expression_compiler *c, const doc_value *operand,
                                    expression *e) {
    tansu_status status =
        compile_named(c, operand, e, "input! to! format byteOrder onError onNull");
    for (int i = CONVERT_ON_ERROR; status == TANSU_OK && i <= CONVERT_ON_NULL; i++) {
        if (e->args[i] && fails_always(e->args[i]))
            status = compile_error(c, e->op->name, "Expression of \"%s\" always fails; correct it",
                                   i == CONVERT_ON_ERROR ? "onError" : "onNull");
    }
    return status;
}

/* wrong_member -- the error for the value of a member. */
static tansu_status wrong_member(evaluation *ev, const expression *e, const char *member,
                                 const char *choice) {
    return evaluation_error(ev, e, "Value of \"%s\" is invalid; give %s", member, choice);
}

/* is_text -- whether a value is this string. */
static bool is_text(const doc_value *value, const char *text) {
    size_t size = 0;
    const char *own = value->type == DOC_STRING ? doc_string(value, &size) : NULL;
    return own && strlen(text) == size && memcmp(own, text, size) == 0;
}

/* read_type -- a type by name or number; false for others. */
static bool read_type(const doc_value *value, uint8_t *type) {
    int64_t number;
    if (value->type == DOC_STRING) {
        for (int i = DOC_DOUBLE; i <= DOC_MIN_KEY; i++) {
            doc_value any = {NULL, 0, (uint8_t)i};
            if ((i <= DOC_DECIMAL128 || i == DOC_MAX_KEY || i == DOC_MIN_KEY) &&
                is_text(value, type_name(&any))) {
                *type = (uint8_t)i;
                return true;
            }
        }
        return false;
    }
    if (!doc_is_number(value) || !doc_as_int64(value, &number))
        return false;
    *type = (uint8_t)number;
    return number == -1 || number == DOC_MAX_KEY ||
           (number >= DOC_DOUBLE && number <= DOC_DECIMAL128);
}

/* read_subtype -- the subtype of a binary; 0 when it is not given. */
static bool read_subtype(const doc_value *value, uint8_t *subtype) {
    int64_t number = 0;
    if (value->type != DOC_MISSING && (!doc_is_number(value) || !doc_as_int64(value, &number)))
        return false;
    *subtype = (uint8_t)number;
    return (number >= 0 && number <= 9) || (number >= 128 && number <= 255);
}

/* read_target -- the type that "to" is, or the one in its document. *type: DOC_MISSING when it is
 * null; *subtype: the value that it gives. */
static tansu_status read_target(evaluation *ev, const expression *e, const doc_value *to,
                                uint8_t *type, doc_value *subtype) {
    static const char choice[] =
        "the name or the number of a type, or {\"type\": …, \"subtype\": …}";
    doc_value own = *to;
    *type = DOC_MISSING;
    *subtype = (doc_value){NULL, 0, DOC_MISSING};
    if (to->type == DOC_DOCUMENT) {
        doc_iter iter;
        own = *subtype;
        for (doc_iter_value(&iter, to); doc_iter_next(&iter);) {
            if (strcmp(iter.key, "type") == 0)
                own = iter.value;
            else if (strcmp(iter.key, "subtype") == 0)
                *subtype = iter.value;
            else
                return wrong_member(ev, e, "to", choice);
        }
        if (own.type == DOC_MISSING)
            return wrong_member(ev, e, "to", choice);
    }
    if (is_nullish(&own) || read_type(&own, type))
        return TANSU_OK;
    return wrong_member(ev, e, "to", choice);
}

/* read_forms -- "format" and "byteOrder". */
static tansu_status read_forms(evaluation *ev, const expression *e, conversion *c) {
    static const char *const names[] = {"", "base64", "base64url", "hex", "utf8", "uuid", "auto"};
    doc_value value;
    tansu_status status = argument(ev, e, CONVERT_FORMAT, &value);
    if (status != TANSU_OK)
        return status;
    for (int i = FORMAT_BASE64; i <= FORMAT_AUTO; i++) {
        if (is_text(&value, names[i]))
            c->format = (enum binary_format)i;
    }
    if (!is_nullish(&value) && c->format == FORMAT_NONE)
        return wrong_member(ev, e, "format",
                            "\"base64\", \"base64url\", \"hex\", \"utf8\", \"uuid\" or \"auto\"");
    status = argument(ev, e, CONVERT_BYTE_ORDER, &value);
    if (status != TANSU_OK)
        return status;
    c->big_endian = is_text(&value, "big");
    if (!is_nullish(&value) && !c->big_endian && !is_text(&value, "little"))
        return wrong_member(ev, e, "byteOrder", "\"little\" or \"big\"");
    return TANSU_OK;
}

static tansu_status convert(evaluation *ev, const expression *e, doc_value *result) {
    doc_value to, input, subtype;
    conversion c = {.ev = ev, .e = e, .from = &input};
    tansu_status status = argument(ev, e, CONVERT_TO, &to);
    if (status == TANSU_OK)
        status = argument(ev, e, CONVERT_INPUT, &input);
    if (status == TANSU_OK)
        status = read_target(ev, e, &to, &c.to, &subtype);
    if (status != TANSU_OK)
        return status;
    if (is_nullish(&input))
        return e->args[CONVERT_ON_NULL] ? argument(ev, e, CONVERT_ON_NULL, result)
                                        : result_null(result);
    if (c.to == DOC_MISSING)
        return result_null(result);
    status = read_forms(ev, e, &c);
    if (status != TANSU_OK)
        return status;
    if (c.to == DOC_BINARY && !read_subtype(&subtype, &c.subtype))
        return wrong_member(ev, e, "to.subtype", "a number from 0 to 9, or from 128 to 255");
    status = convert_value(&c, result);
    if (status == TANSU_E_INVALID_QUERY && !c.wrong_use && e->args[CONVERT_ON_ERROR])
        return argument(ev, e, CONVERT_ON_ERROR, result);
    return status;
}

const operator_info operators_conversion[] = {
    {.name = "$type", .evaluate = type_of, .min = 1, .max = 1},
    {.name = "$isNumber", .evaluate = is_number, .min = 1, .max = 1},
    {.name = "$convert", .evaluate = convert, .compile = compile_convert},
    {.name = "$toBool", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_BOOL},
    {.name = "$toDate", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_DATE},
    {.name = "$toDecimal", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_DECIMAL128},
    {.name = "$toDouble", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_DOUBLE},
    {.name = "$toInt", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_INT32},
    {.name = "$toLong", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_INT64},
    {.name = "$toObjectId", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_OID},
    {.name = "$toString", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_STRING},
    {.name = "$toUUID", .evaluate = to_type, .min = 1, .max = 1, .variant = DOC_BINARY},
    {.name = NULL},
};
