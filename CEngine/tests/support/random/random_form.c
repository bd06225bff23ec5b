/*
 * support/random/random_form.c -- random documents of a form.
 */
#include "support/random/random_form.h"

#include <string.h>

static const char *const keys[] = {
    "",
    "a",
    "b",
    "ab",
    "abcdef",
    "abcdefg",
    "abcdefh",
    "abcdefgh",
    "abcdefghi",
    "zip",
    "address",
    "address_of_the_company",
    "0",
    "1",
    "address_of_the_company_and_more", /* with type and NUL one more than a trail has room for */
    "address_of_the_company_and_mor",
    "_id",
    "gr\xC3\xB6sser",
    "abcdefgh\xC3\xA9"};
#define KEYS (sizeof keys / sizeof *keys)

/* Keys that make a document invalid, everywhere or in most places. */
static const char *const bad_keys[] = {"$ref", "$a", "\xFF", "abcdefgh\xC3"};
#define BAD_KEYS (sizeof bad_keys / sizeof *bad_keys)

static const uint8_t types[] = {
    DOC_DOUBLE, DOC_STRING, DOC_DOCUMENT,   DOC_ARRAY,     DOC_BINARY,  DOC_UNDEFINED, DOC_OID,
    DOC_BOOL,   DOC_DATE,   DOC_NULL,       DOC_REGEX,     DOC_CODE,    DOC_DBPOINTER, DOC_SYMBOL,
    DOC_INT32,  DOC_INT64,  DOC_CODE_SCOPE, DOC_TIMESTAMP, DOC_MIN_KEY, DOC_DECIMAL128};

const char *random_form_key(random_source *r) {
    return keys[random_below(r, KEYS)];
}

/* make_level -- random elements, and some levels of others in them. */
static uint32_t make_level(random_source *r, random_form *f, uint32_t most, bool valid, int depth) {
    uint32_t count = (uint32_t)random_below(r, most + 1), first = f->count;
    if (count > RANDOM_FORM_ELEMENTS - f->count)
        count = RANDOM_FORM_ELEMENTS - f->count;
    if (valid && count > KEYS)
        count = KEYS;
    f->count += count;
    /* The number of keys is a prime, so that each step visits all of them. */
    uint64_t start = random_below(r, KEYS), step = 1 + random_below(r, KEYS - 1);
    for (uint32_t i = 0; i < count; i++) {
        random_form_element *e = &f->elements[first + i];
        *e = (random_form_element){
            .key = valid ? keys[(start + i * step) % KEYS] : random_form_key(r),
            .type = random_chance(r, 40) ? DOC_DOCUMENT : types[random_below(r, sizeof types)]};
        if (valid && random_below(r, 400) == 0)
            e->key = bad_keys[random_below(r, BAD_KEYS)];
        if (valid && strcmp(e->key, "_id") == 0 && random_chance(r, 90))
            e->type = random_chance(r, 50) ? DOC_OID : DOC_STRING;
        if (depth < 3 && (e->type == DOC_DOCUMENT || e->type == DOC_ARRAY)) {
            e->first = f->count;
            e->count = make_level(r, f, most, valid, depth + 1);
        }
    }
    return count;
}

void random_form_make(random_source *r, random_form *f, uint32_t most, bool valid) {
    f->count = 0;
    f->top = make_level(r, f, most, valid, 0);
    if (f->top == 0) {
        f->elements[0] = (random_form_element){.key = "a", .type = DOC_INT64};
        f->count = f->top = 1;
    }
}

/* write_random_value -- a value of a random length, its bytes random too. */
static void write_random_value(random_source *r, writer *w, uint8_t type) {
    uint8_t bytes[40];
    uint8_t rule = doc_value_sizes[type];
    uint32_t own = (uint32_t)random_below(r, 12) + 1, size = rule & DOC_SIZE_FIXED;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)random_next(r);
    if (type == DOC_REGEX) {
        writer_bytes(w, "a\0i", 4);
        return;
    }
    if (type == DOC_CODE_SCOPE)
        own += 5;
    if (rule & DOC_SIZE_PREFIXED) {
        store_u32(bytes, own);
        size += own;
    }
    writer_bytes(w, bytes, size);
}

/* write_u32 -- four bytes. */
static void write_u32(writer *w, uint32_t number) {
    uint8_t bytes[4];
    store_u32(bytes, number);
    writer_bytes(w, bytes, sizeof bytes);
}

/* write_text -- a length, a text and its NUL. */
static void write_text(random_source *r, writer *w) {
    static const char text[] = "abcdefgh and some more\0after a NUL, \xC3\xA9 \xE2\x82\xAC";
    uint32_t size = (uint32_t)random_below(r, 30);
    if (random_chance(r, 20))
        size = sizeof text - 1;
    write_u32(w, size + 1);
    writer_bytes(w, text, size);
    writer_bytes(w, "", 1);
}

/* write_value -- a valid value of a type that is neither a document nor an array. */
static void write_value(random_source *r, writer *w, uint8_t type) {
    static const uint8_t empty[5] = {5};
    uint8_t truth = (uint8_t)random_below(r, 2);
    size_t start = w->out->size;
    switch (type) {
    case DOC_STRING:
    case DOC_CODE:
    case DOC_SYMBOL: write_text(r, w); return;
    case DOC_BOOL: writer_bytes(w, &truth, 1); return;
    case DOC_DBPOINTER:
        write_text(r, w);
        writer_bytes(w, "123456789012", 12);
        return;
    case DOC_CODE_SCOPE:
        write_u32(w, 0);
        write_text(r, w);
        writer_bytes(w, empty, sizeof empty);
        if (!w->failed)
            store_u32(w->out->data + start, (uint32_t)(w->out->size - start));
        return;
    case DOC_BINARY:
        if (truth) { /* of the old subtype 2 */
            write_u32(w, 7);
            writer_bytes(w, "\2\3\0\0\0abc", 8);
            return;
        }
        write_u32(w, 3);
        writer_bytes(w, "\0abc", 4);
        return;
    default: write_random_value(r, w, type);
    }
}

/* write_level -- elements of a form as a document. */
static void write_level(random_source *r, writer *w, const random_form *f, uint32_t first,
                        uint32_t count, random_form_values values) {
    size_t start = writer_begin(w);
    for (uint32_t i = first; i < first + count; i++) {
        const random_form_element *e = &f->elements[i];
        if (random_chance(r, values.omitted))
            continue;
        writer_head(w, e->type, e->key, strlen(e->key));
        if (e->type == DOC_DOCUMENT || e->type == DOC_ARRAY)
            write_level(r, w, f, e->first, e->count, values);
        else if (values.valid)
            write_value(r, w, e->type);
        else
            write_random_value(r, w, e->type);
    }
    writer_end(w, start);
}

void random_form_write(random_source *r, writer *w, const random_form *f,
                       random_form_values values) {
    write_level(r, w, f, 0, f->top, values);
}

void random_form_spoil(random_source *r, tansu_buffer *doc) {
    if (random_chance(r, 40)) {
        doc->size = random_below(r, doc->size + 1);
        if (doc->size >= 5 && random_chance(r, 80)) { /* the size says so, and an end is there */
            store_u32(doc->data, (uint32_t)doc->size);
            doc->data[doc->size - 1] = 0;
        }
        return;
    }
    for (uint64_t left = 1 + random_below(r, 3); left > 0 && doc->size != 0; left--) {
        static const uint8_t likely[] = {0, 1, 2, 3, 4, 5, 16, 127, 128, 255};
        uint8_t *byte = &doc->data[random_below(r, doc->size)];
        *byte =
            random_chance(r, 70) ? likely[random_below(r, sizeof likely)] : (uint8_t)random_next(r);
    }
}
