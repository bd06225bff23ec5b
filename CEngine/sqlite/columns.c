/*
 * sqlite/columns.c -- the columns of a collection.
 */
#include "columns.h"

#include "bson.h"

#include <string.h>

enum {
    SAMPLE_FIRST = 1000,         /* documents in insertion order */
    SAMPLE_LAST = 200,           /* by the greatest `_id`, which are often the newest */
    SAMPLE_BYTES = 32 * 1048576, /* of all that is read */
    MAX_DEPTH = 6,               /* of dotted columns */
    MAX_MAP = 50,                /* keys of a nested document that become columns */
    MAX_COLUMNS = 500            /* SQLite's own limit is 2000 */
};

/* A field at one path. */
typedef struct field {
    char *key;
    struct field *next;  /* among those of the same document */
    struct field *first; /* of the nested document */
    struct field *last;
    unsigned count; /* of fields in it */
    bool value;     /* the field has values that are no documents with fields */
} field;

static void fields_free(field *parent) {
    for (field *child = parent->first; child;) {
        field *next = child->next;
        fields_free(child);
        sqlite3_free(child->key);
        sqlite3_free(child);
        child = next;
    }
    parent->first = parent->last = NULL;
}

/* field_of -- the field with a key in a document, which is added unless it is there or there are
 * too many (*result is NULL). False when memory is exhausted. */
static bool field_of(field *parent, const char *key, size_t size, unsigned most, field **result) {
    *result = NULL;
    for (field *child = parent->first; child; child = child->next)
        if (strncmp(child->key, key, size) == 0 && !child->key[size]) {
            *result = child;
            return true;
        }
    if (parent->count > most)
        return true;
    field *child = sqlite3_malloc64(sizeof *child);
    if (!child)
        return false;
    *child = (field){.key = sqlite3_malloc64(size + 1)};
    if (!child->key) {
        sqlite3_free(child);
        return false;
    }
    memcpy(child->key, key, size);
    child->key[size] = 0;
    *(parent->last ? &parent->last->next : &parent->first) = child;
    parent->last = child;
    parent->count++;
    *result = child;
    return true;
}

static unsigned most_fields(unsigned depth) {
    return depth == 1 ? MAX_COLUMNS : MAX_MAP;
}

/* add_document -- adds the fields of a document at a depth, 1 at the top. */
static bool add_document(field *parent, const void *data, size_t size, unsigned depth) {
    sql_reader reader = sql_reader_of(data, size);
    sql_element element;
    while (sql_next(&reader, &element)) {
        field *child;
        if (!field_of(parent, element.key, strlen(element.key), most_fields(depth), &child))
            return false;
        if (!child || element.type == SQL_BSON_NULL)
            continue;
        bool nested = element.type == SQL_BSON_DOCUMENT && element.size > 5 && depth < MAX_DEPTH;
        if (!nested)
            child->value = true;
        else if (!add_document(child, element.value, element.size, depth + 1))
            return false;
    }
    return true;
}

/* add_schema -- adds the properties that a schema has. */
static bool add_schema(field *parent, const sql_element *schema, unsigned depth) {
    sql_element properties, below, property;
    if (schema->type != SQL_BSON_DOCUMENT ||
        !sql_find_key(schema->value, schema->size, "properties", &properties) ||
        properties.type != SQL_BSON_DOCUMENT)
        return true;
    sql_reader reader = sql_reader_of(properties.value, properties.size);
    while (sql_next(&reader, &property)) {
        field *child;
        if (!field_of(parent, property.key, strlen(property.key), most_fields(depth), &child))
            return false;
        if (!child || property.type != SQL_BSON_DOCUMENT)
            continue;
        if (depth < MAX_DEPTH &&
            sql_find_key(property.value, property.size, "properties", &below)) {
            if (!add_schema(child, &property, depth + 1))
                return false;
        } else {
            child->value = true;
        }
    }
    return true;
}

/* add_validator -- adds the fields of a collection's validator, if it has a schema. */
static tansu_status add_validator(field *root, sql_database *database, const char *collection,
                                  tansu_error *error) {
    tansu_buffer info = TANSU_BUFFER_INIT;
    sql_element options, validator, schema;
    tansu_status status =
        tansu_collection_info(database->db, database->snapshot, collection, &info, error);
    if (status == TANSU_OK && sql_find_key(info.data, info.size, "options", &options) &&
        sql_find_key(options.value, options.size, "validator", &validator)) {
        if (validator.type == SQL_BSON_DOCUMENT &&
            sql_find_key(validator.value, validator.size, "$jsonSchema", &schema))
            validator = schema;
        if (!add_schema(root, &validator, 1))
            status = TANSU_E_MEMORY;
    }
    tansu_buffer_free(&info);
    return status;
}

/* add_sample -- adds the fields of documents in insertion order, or of those with the greatest
 * `_id`. */
static tansu_status add_sample(field *root, sql_database *database, const char *collection,
                               bool newest, tansu_error *error) {
    sql_writer hints = {0};
    size_t start = sql_begin(&hints, 0, NULL);
    sql_write_int64(&hints, SQL_BSON_INT64, "$max", newest ? SAMPLE_LAST : SAMPLE_FIRST);
    if (newest) {
        size_t order = sql_begin(&hints, SQL_BSON_DOCUMENT, "$orderby");
        sql_write_int64(&hints, SQL_BSON_INT64, "_id", -1);
        sql_end(&hints, order);
    }
    sql_end(&hints, start);
    tansu_cursor *cursor = NULL;
    tansu_document document;
    size_t bytes = 0;
    tansu_status status =
        hints.failed ? TANSU_E_MEMORY
                     : tansu_find(database->db, database->snapshot, collection, TANSU_NO_DOCUMENT,
                                  (tansu_document){hints.data, hints.size}, &cursor, error);
    while (status == TANSU_OK && bytes < SAMPLE_BYTES) {
        status = tansu_cursor_next(cursor, &document, error);
        if (status == TANSU_OK && !add_document(root, document.data, document.size, 1))
            status = TANSU_E_MEMORY;
        bytes += status == TANSU_OK ? document.size : 0;
    }
    tansu_cursor_close(cursor);
    sql_writer_free(&hints);
    return status == TANSU_DONE ? TANSU_OK : status;
}

/* add_path -- adds the field at a dotted path of an index, unless it leads through one that has
 * other values than documents. */
static bool add_path(field *root, const char *path) {
    if (strpbrk(path, "*\\"))
        return true;
    field *parent = root;
    for (unsigned depth = 1;; depth++) {
        size_t size = strcspn(path, ".");
        field *child;
        if (!field_of(parent, path, size, most_fields(depth), &child))
            return false;
        if (!child || (path[size] && (child->value || depth == MAX_DEPTH)))
            return true;
        if (!path[size]) {
            child->value = child->value || !child->first;
            return true;
        }
        parent = child;
        path += size + 1;
    }
}

static tansu_status add_indexes(field *root, sql_database *database, const char *collection,
                                tansu_error *error) {
    tansu_buffer list = TANSU_BUFFER_INIT;
    sql_element indexes, index, keys, key;
    tansu_status status =
        tansu_index_list(database->db, database->snapshot, collection, &list, error);
    if (status == TANSU_OK && sql_find_key(list.data, list.size, "indexes", &indexes)) {
        sql_reader reader = sql_reader_of(indexes.value, indexes.size);
        while (status == TANSU_OK && sql_next(&reader, &index)) {
            if (!sql_find_key(index.value, index.size, "keys", &keys))
                continue;
            sql_reader paths = sql_reader_of(keys.value, keys.size);
            while (status == TANSU_OK && sql_next(&paths, &key))
                if (!add_path(root, key.key))
                    status = TANSU_E_MEMORY;
        }
    }
    tansu_buffer_free(&list);
    return status;
}

/* --- From fields to columns --- */

/* The keys from the top to a field. */
typedef struct trail {
    const char *keys[MAX_DEPTH + 1];
    unsigned depth;
} trail;

/* plain_key -- whether a part of a path means this key and nothing else. */
static bool plain_key(const char *key) {
    bool digits = true;
    for (const char *at = key; *at; at++)
        digits = digits && *at >= '0' && *at <= '9';
    return *key && *key != '$' && !digits && !strpbrk(key, "*\\");
}

/* is_taken -- whether a column has a name, as SQLite compares them. */
static bool is_taken(const sql_columns *columns, const char *name) {
    bool taken = sqlite3_stricmp(name, "document") == 0;
    for (unsigned i = 0; i < columns->count && !taken; i++)
        taken = sqlite3_stricmp(columns->items[i].name, name) == 0;
    return taken;
}

/* make_name -- the dotted name of a column, with a number if another one has it. */
static char *make_name(const sql_columns *columns, const trail *t) {
    char *name = sqlite3_mprintf("%s", t->keys[0]);
    for (unsigned i = 1; i < t->depth && name; i++)
        name = sqlite3_mprintf("%z.%s", name, t->keys[i]);
    if (name && !*name)
        name = sqlite3_mprintf("%z_", name);
    if (!name || !is_taken(columns, name))
        return name;
    char *numbered = NULL;
    for (unsigned number = 2; !numbered; number++) {
        numbered = sqlite3_mprintf("%s_%u", name, number);
        if (!numbered)
            break;
        if (is_taken(columns, numbered)) {
            sqlite3_free(numbered);
            numbered = NULL;
        }
    }
    sqlite3_free(name);
    return numbered;
}

/* make_path -- the path in a query, where a dot within a key is escaped. */
static char *make_path(const trail *t) {
    size_t size = 0;
    for (unsigned i = 0; i < t->depth; i++)
        size += 2 * strlen(t->keys[i]) + 1;
    char *path = sqlite3_malloc64(size + 1);
    char *to = path;
    for (unsigned i = 0; i < t->depth && path; i++) {
        if (i)
            *to++ = '.';
        for (const char *at = t->keys[i]; *at; at++) {
            if (*at == '.')
                *to++ = '\\';
            *to++ = *at;
        }
    }
    if (path)
        *to = 0;
    return path;
}

static bool add_column(sql_columns *columns, const trail *t) {
    if (columns->count >= MAX_COLUMNS)
        return true;
    bool plain = true;
    size_t size = 0;
    for (unsigned i = 0; i < t->depth; i++) {
        plain = plain && plain_key(t->keys[i]);
        size += strlen(t->keys[i]) + 1;
    }
    sql_column *column = &columns->items[columns->count];
    *column = (sql_column){.depth = t->depth};
    column->name = make_name(columns, t);
    column->path = plain ? make_path(t) : NULL;
    column->keys = sqlite3_malloc64(size);
    columns->count++;
    if (!column->name || !column->keys || (plain && !column->path))
        return false;
    char *to = column->keys;
    for (unsigned i = 0; i < t->depth; i++) {
        size_t length = strlen(t->keys[i]) + 1;
        memcpy(to, t->keys[i], length);
        to += length;
    }
    return true;
}

static bool add_columns(sql_columns *columns, const field *parent, trail *t) {
    for (const field *child = parent->first; child; child = child->next) {
        t->keys[t->depth++] = child->key;
        bool map = child->count > MAX_MAP;
        if (child->value || !child->first || map)
            if ((t->depth > 1 || strcmp(child->key, "_id") != 0) && !add_column(columns, t))
                return false;
        if (!map && !add_columns(columns, child, t))
            return false;
        t->depth--;
    }
    return true;
}

tansu_status sql_columns_find(sql_columns *columns, sql_database *database, const char *collection,
                              tansu_error *error) {
    field root = {0};
    *columns = (sql_columns){0};
    tansu_status status = add_validator(&root, database, collection, error);
    if (status == TANSU_OK)
        status = add_sample(&root, database, collection, false, error);
    if (status == TANSU_OK)
        status = add_sample(&root, database, collection, true, error);
    if (status == TANSU_OK)
        status = add_indexes(&root, database, collection, error);
    if (status == TANSU_OK) {
        columns->items = sqlite3_malloc64(MAX_COLUMNS * sizeof *columns->items);
        if (!columns->items || !add_column(columns, &(trail){{"_id"}, 1}) ||
            !add_columns(columns, &root, &(trail){.depth = 0}))
            status = TANSU_E_MEMORY;
    }
    fields_free(&root);
    if (status != TANSU_OK)
        sql_columns_free(columns);
    return status;
}

void sql_columns_free(sql_columns *columns) {
    for (unsigned i = 0; i < columns->count; i++) {
        sqlite3_free(columns->items[i].name);
        sqlite3_free(columns->items[i].keys);
        sqlite3_free(columns->items[i].path);
    }
    sqlite3_free(columns->items);
    *columns = (sql_columns){0};
}

char *sql_columns_declaration(const sql_columns *columns) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (unsigned i = 0; i < columns->count; i++)
        sqlite3_str_appendf(text, "\"%w\", ", columns->items[i].name);
    sqlite3_str_appendall(text, "document HIDDEN)");
    return sqlite3_str_finish(text);
}
