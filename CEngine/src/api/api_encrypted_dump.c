/*
 * api/api_encrypted_dump.c -- dumps and loads whose text is encrypted as a stream, on its way between
 * the text and the caller's functions.
 */
#include "api/handles.h"
#include "backup/envelope.h"
#include "util/error.h"

/* ---- Writing ---- */

typedef struct sealing {
    tansu_write_bytes write;
    void *context;
    const user_key *key;
    bool begun;
    keyring *keys;
    envelope_writer envelope;
    tansu_status status; /* of what the dump itself does not know */
    tansu_error *error;
} sealing;

/* put -- an envelope_sink. */
static tansu_status put(void *context, const uint8_t *bytes, size_t size, tansu_error *error) {
    const sealing *s = context;
    return s->write(s->context, bytes, size) != 0
               ? TANSU_OK
               : error_set(error, TANSU_E_IO, NULL, "The write function of the dump failed");
}

/* begin -- with a data key of its own. */
static tansu_status begin(sealing *s) {
    uint8_t uuid[16];
    tansu_buffer text = TANSU_BUFFER_INIT;
    tansu_status status = crypt_random(uuid, sizeof uuid, s->error);
    if (status == TANSU_OK)
        status = key_file_new_keys(uuid, &s->keys, s->error);
    if (status == TANSU_OK)
        status = key_text_make(uuid, s->keys, true, s->key, &text, s->error);
    if (status == TANSU_OK)
        status = envelope_begin(&s->envelope, ENVELOPE_DUMP, s->keys, &text, put, s, s->error);
    tansu_buffer_free(&text);
    s->begun = true;
    return status;
}

/* seal_text -- a tansu_write_bytes. */
static int seal_text(void *context, const void *bytes, size_t size) {
    sealing *s = context;
    if (!s->begun)
        s->status = begin(s);
    if (s->status == TANSU_OK)
        s->status = envelope_write(&s->envelope, bytes, size, s->error);
    return s->status == TANSU_OK;
}

tansu_status tansu_dump_encrypted(tansu_db *db, tansu_txn *txn, tansu_write_bytes write,
                                  void *write_context, tansu_document options, const tansu_key *key,
                                  tansu_progress progress, void *context, tansu_buffer *report,
                                  tansu_error *error) {
    user_key given;
    tansu_error own;
    if (db == NULL || write == NULL)
        return null_argument(db == NULL ? "db" : "write", error);
    tansu_status status = key_argument(key, &given, error);
    if (status != TANSU_OK)
        return status;
    sealing s = {.write = write, .context = write_context, .key = &given, .error = &own};
    status = tansu_dump(db, txn, seal_text, &s, options, progress, context, report, error);
    if (status == TANSU_OK)
        status = s.status = envelope_finish(&s.envelope, &own);
    if (s.status != TANSU_OK) {
        status = s.status;
        if (error != NULL)
            *error = own;
    }
    envelope_writer_free(&s.envelope);
    keyring_free(s.keys);
    return status;
}

/* ---- Reading ---- */

typedef struct opening {
    tansu_read_bytes read;
    void *context;
    const user_key *key;
    bool begun;
    envelope_reader envelope;
    const uint8_t *bytes; /* what was decrypted and not read yet */
    size_t size;
    tansu_status status;
    tansu_error *error;
} opening;

/* get -- an envelope_source. */
static tansu_status get(void *context, uint8_t *bytes, size_t capacity, size_t *got,
                        tansu_error *error) {
    const opening *o = context;
    ptrdiff_t n = 1;
    for (*got = 0; n != 0 && *got < capacity; *got += (size_t)n) {
        n = o->read(o->context, bytes + *got, capacity - *got);
        if (n < 0 || (size_t)n > capacity - *got)
            return error_set(error, TANSU_E_IO, NULL, "The read function of the load failed");
    }
    return TANSU_OK;
}

/* unlock -- reads the head. */
static tansu_status unlock(opening *o) {
    envelope_reader *r = &o->envelope;
    o->begun = true;
    tansu_status status = envelope_open(r, ENVELOPE_DUMP, "dump", NULL, o->key, get, o, o->error);
    if (status == TANSU_E_CORRUPT && r->place.head.magic[0] == '{')
        status = error_set(o->error, TANSU_E_INVALID_ARGUMENT, "key",
                           "A key was given and the dump is not encrypted; if that is what you "
                           "expect, load it without a key");
    return status;
}

/* open_text -- a tansu_read_bytes. */
static ptrdiff_t open_text(void *context, void *bytes, size_t capacity) {
    opening *o = context;
    if (!o->begun)
        o->status = unlock(o);
    if (o->status == TANSU_OK && o->size == 0)
        o->status = envelope_next(&o->envelope, &o->bytes, &o->size, o->error);
    if (o->status != TANSU_OK)
        return -1;
    size_t part = o->size < capacity ? o->size : capacity;
    if (part != 0)
        memcpy(bytes, o->bytes, part);
    o->bytes += part;
    o->size -= part;
    return (ptrdiff_t)part;
}

tansu_status tansu_load_encrypted(tansu_db *db, tansu_read_bytes read, void *read_context,
                                  tansu_document options, const tansu_key *key,
                                  tansu_progress progress, void *context, tansu_buffer *report,
                                  tansu_error *error) {
    user_key given;
    tansu_error own;
    if (db == NULL || read == NULL)
        return null_argument(db == NULL ? "db" : "read", error);
    tansu_status status = key_argument(key, &given, error);
    if (status != TANSU_OK)
        return status;
    opening o = {.read = read, .context = read_context, .key = &given, .error = &own};
    status = tansu_load(db, open_text, &o, options, progress, context, report, error);
    if (o.status != TANSU_OK) {
        status = o.status;
        if (error != NULL)
            *error = own;
    }
    envelope_reader_free(&o.envelope);
    return status;
}
