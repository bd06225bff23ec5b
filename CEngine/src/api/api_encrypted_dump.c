/*
 * api/api_encrypted_dump.c -- dumps and loads whose text is encrypted as a stream, on its way between
 * the text and the caller's functions.
 */
#include "api/handles.h"
#include "backup/envelope.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

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

struct tansu_dump_reader {
    tansu_read_bytes read;
    void *context;
    envelope_reader envelope;
    const uint8_t *bytes; /* what was decrypted and not read yet */
    size_t size;
    tansu_status status; /* of a load, which does not know it */
    tansu_error error;
};

/* get -- an envelope_source. */
static tansu_status get(void *context, uint8_t *bytes, size_t capacity, size_t *got,
                        tansu_error *error) {
    const tansu_dump_reader *r = context;
    ptrdiff_t n = 1;
    for (*got = 0; n != 0 && *got < capacity; *got += (size_t)n) {
        n = r->read(r->context, bytes + *got, capacity - *got);
        if (n < 0 || (size_t)n > capacity - *got)
            return error_set(error, TANSU_E_IO, NULL, "The read function of the dump failed");
    }
    return TANSU_OK;
}

tansu_status tansu_dump_reader_open(tansu_read_bytes read, void *read_context, const tansu_key *key,
                                    tansu_dump_reader **reader, tansu_error *error) {
    user_key given;
    if (reader != NULL)
        *reader = NULL;
    if (read == NULL || reader == NULL)
        return null_argument(read == NULL ? "read" : "reader", error);
    tansu_status status = key_argument(key, &given, error);
    if (status != TANSU_OK)
        return status;
    tansu_dump_reader *r = calloc(1, sizeof *r);
    if (r == NULL)
        return error_memory(error);
    r->read = read;
    r->context = read_context;
    status = envelope_open(&r->envelope, ENVELOPE_DUMP, "dump", NULL, &given, get, r, error);
    if (status == TANSU_E_CORRUPT && r->envelope.place.head.magic[0] == '{')
        status = error_set(error, TANSU_E_INVALID_ARGUMENT, "key",
                           "A key was given and the dump is not encrypted; if that is what you "
                           "expect, load it without a key");
    if (status == TANSU_OK)
        *reader = r;
    else
        tansu_dump_reader_close(r);
    return status;
}

tansu_status tansu_dump_reader_read(tansu_dump_reader *reader, void *bytes, size_t capacity,
                                    size_t *got, tansu_error *error) {
    if (reader == NULL || bytes == NULL || got == NULL)
        return null_argument(reader == NULL ? "reader" : bytes == NULL ? "bytes" : "got", error);
    *got = 0;
    tansu_status status =
        reader->size == 0 ? envelope_next(&reader->envelope, &reader->bytes, &reader->size, error)
                          : TANSU_OK;
    if (status != TANSU_OK)
        return status;
    *got = reader->size < capacity ? reader->size : capacity;
    if (*got != 0)
        memcpy(bytes, reader->bytes, *got);
    reader->bytes += *got;
    reader->size -= *got;
    return TANSU_OK;
}

void tansu_dump_reader_close(tansu_dump_reader *reader) {
    if (reader != NULL)
        envelope_reader_free(&reader->envelope);
    free(reader);
}

/* read_text -- a tansu_read_bytes. */
static ptrdiff_t read_text(void *context, void *bytes, size_t capacity) {
    tansu_dump_reader *r = context;
    size_t got = 0;
    r->status = tansu_dump_reader_read(r, bytes, capacity, &got, &r->error);
    return r->status == TANSU_OK ? (ptrdiff_t)got : -1;
}

tansu_status tansu_load_encrypted(tansu_db *db, tansu_read_bytes read, void *read_context,
                                  tansu_document options, const tansu_key *key,
                                  tansu_progress progress, void *context, tansu_buffer *report,
                                  tansu_error *error) {
    tansu_dump_reader *reader;
    if (db == NULL)
        return null_argument("db", error);
    tansu_status status = tansu_dump_reader_open(read, read_context, key, &reader, error);
    if (status != TANSU_OK)
        return status;
    status = tansu_load(db, read_text, reader, options, progress, context, report, error);
    if (reader->status != TANSU_OK) {
        status = reader->status;
        if (error != NULL)
            *error = reader->error;
    }
    tansu_dump_reader_close(reader);
    return status;
}
