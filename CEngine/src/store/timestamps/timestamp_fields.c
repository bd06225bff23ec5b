/*
 * store/timestamps/timestamp_fields.c -- when documents were inserted and last saved.
 */
#include "store/timestamps/timestamp_fields.h"

#include "util/error.h"

#include <stdlib.h>

/* ---- The option ---- */

/* bad -- INVALID_QUERY. */
static tansu_status bad(tansu_error *error, const char *member) {
    return error_set(error, TANSU_E_INVALID_QUERY, "timestamps",
                     "The option \"timestamps\" must be a bool or {\"created\": ..., \"updated\": "
                     "...}, two names of fields; \"%.60s\" is not right",
                     member);
}

/* read_name -- the name of a field at the top of the documents. */
static bool read_name(const doc_value *value, char name[TIMESTAMP_NAME_MAX + 1]) {
    size_t length;
    if (value->type != DOC_STRING)
        return false;
    const char *text = doc_string(value, &length);
    if (length == 0 || length > TIMESTAMP_NAME_MAX || text[0] == '$' ||
        memchr(text, 0, length) != NULL || memchr(text, '.', length) != NULL ||
        (length == 3 && memcmp(text, "_id", 3) == 0))
        return false;
    memcpy(name, text, length);
    name[length] = 0;
    return true;
}

/* read_names -- {"created": name, "updated": name}. */
static tansu_status read_names(const doc_value *option, timestamp_fields *fields,
                               tansu_error *error) {
    doc_iter iter;
    for (doc_iter_value(&iter, option); doc_iter_next(&iter);) {
        char *name = strcmp(iter.key, "created") == 0   ? fields->created
                     : strcmp(iter.key, "updated") == 0 ? fields->updated
                                                        : NULL;
        if (name == NULL || name[0] != 0 || !read_name(&iter.value, name))
            return bad(error, iter.key);
    }
    if (fields->created[0] == 0 && fields->updated[0] == 0)
        return bad(error, "{}");
    return strcmp(fields->created, fields->updated) == 0 ? bad(error, fields->created) : TANSU_OK;
}

tansu_status timestamp_fields_parse(const doc_value *option, void **result, tansu_error *error) {
    *result = NULL;
    if (option->type == DOC_NULL || (option->type == DOC_BOOL && !doc_bool(option)))
        return TANSU_OK;
    if (option->type != DOC_BOOL && option->type != DOC_DOCUMENT)
        return bad(error, "another value");
    timestamp_fields *fields = calloc(1, sizeof *fields);
    if (fields == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (option->type == DOC_DOCUMENT)
        status = read_names(option, fields, error);
    else
        *fields = (timestamp_fields){.created = "createdAt", .updated = "updatedAt"};
    if (status == TANSU_OK)
        *result = fields;
    else
        free(fields);
    return status;
}

bool timestamp_fields_equal(const void *left, const void *right) {
    const timestamp_fields *a = left, *b = right;
    if (a == NULL || b == NULL)
        return a == b;
    return strcmp(a->created, b->created) == 0 && strcmp(a->updated, b->updated) == 0;
}

void timestamp_fields_write(const void *option, writer *w) {
    const timestamp_fields *fields = option;
    if (fields == NULL) {
        writer_bool(w, "timestamps", false);
        return;
    }
    size_t start = writer_open(w, "timestamps", DOC_DOCUMENT);
    if (fields->created[0] != 0)
        writer_string(w, "created", fields->created);
    if (fields->updated[0] != 0)
        writer_string(w, "updated", fields->updated);
    writer_end(w, start);
}

/* ---- Documents ---- */

/* One of the two fields while a document is written. */
typedef struct stamp {
    const char *name; /* "": none */
    size_t size;
    doc_value value; /* DOC_MISSING: whatever the document has */
    uint8_t date[8];
    bool written;
} stamp;

/* stamp_of -- a field with a date. */
static void stamp_set(stamp *s, int64_t date) {
    store_u64(s->date, (uint64_t)date);
    s->value = (doc_value){s->date, 8, DOC_DATE};
}

/* is_kept -- whether the document's own date is. */
static bool is_kept(const stamp *s, const uint8_t *doc, size_t size, bool keeps) {
    doc_value own;
    return keeps && doc_find(doc, size, s->name, s->size, &own) && own.type == DOC_DATE;
}

/* stamp_created -- the date of insertion. A document that is replaced keeps what it has, also
 * nothing: it was inserted before the collection had the option. */
static void stamp_created(stamp *s, const uint8_t *doc, size_t size, const uint8_t *old,
                          size_t old_size, int64_t now, bool keeps) {
    doc_value value;
    if (s->size == 0 || is_kept(s, doc, size, keeps))
        return;
    if (old == NULL)
        stamp_set(s, now);
    else if (doc_find(old, old_size, s->name, s->size, &value))
        s->value = value;
}

/* stamp_updated -- the date of the save, which is not before that of the insertion. */
static void stamp_updated(stamp *s, const stamp *created, const uint8_t *doc, size_t size,
                          int64_t now, bool keeps) {
    if (s->size == 0 || is_kept(s, doc, size, keeps))
        return;
    doc_value value = created->value;
    if (value.type == DOC_MISSING && created->size != 0)
        doc_find(doc, size, created->name, created->size, &value);
    int64_t first = value.type == DOC_DATE ? (int64_t)load_u64(value.data) : now;
    stamp_set(s, first > now ? first : now);
}

bool timestamp_fields_stamp(const timestamp_fields *fields, const uint8_t *doc, size_t size,
                            const uint8_t *old, size_t old_size, int64_t now, bool keeps,
                            tansu_buffer *result) {
    stamp stamps[2] = {{.name = fields->created, .size = strlen(fields->created)},
                       {.name = fields->updated, .size = strlen(fields->updated)}};
    stamp_created(&stamps[0], doc, size, old, old_size, now, keeps);
    stamp_updated(&stamps[1], &stamps[0], doc, size, now, keeps);
    writer w = {.out = result};
    result->size = 0;
    size_t start = writer_begin(&w);
    doc_iter iter;
    for (doc_iter_init(&iter, doc, size); doc_iter_next(&iter);) {
        stamp *own = NULL;
        for (int i = 0; i < 2; i++)
            if (stamps[i].value.type != DOC_MISSING && iter.key_size == stamps[i].size &&
                memcmp(iter.key, stamps[i].name, stamps[i].size) == 0)
                own = &stamps[i];
        if (own == NULL) {
            writer_copy(&w, &iter);
        } else {
            writer_element(&w, own->name, own->size, &own->value);
            own->written = true;
        }
    }
    for (int i = 0; i < 2; i++)
        if (stamps[i].value.type != DOC_MISSING && !stamps[i].written)
            writer_element(&w, stamps[i].name, stamps[i].size, &stamps[i].value);
    return writer_finish(&w, start);
}
