/*
 * backup/envelope.c -- sealing and opening the chunks of a stream.
 */
#include "backup/envelope.h"

#include "util/buffer.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

/* head_crc -- the `crc` of a head. */
static uint32_t head_crc(envelope_head head, const tansu_buffer *text) {
    head.crc = 0;
    return checksum(checksum(0, &head, sizeof head), text->data, text->size);
}

/* secret_free -- wipes a chunk and frees it. */
static void secret_free(uint8_t *bytes, size_t size) {
    if (bytes != NULL)
        crypt_wipe(bytes, size);
    free(bytes);
}

/* ---- Writing ---- */

tansu_status envelope_begin(envelope_writer *w, enum envelope_content content, keyring *keys,
                            const tansu_buffer *text, envelope_sink sink, void *context,
                            tansu_error *error) {
    *w = (envelope_writer){.sink = sink, .context = context};
    w->chunk = malloc(ENVELOPE_STORED);
    if (w->chunk == NULL)
        return error_memory(error);
    tansu_status status = sealer_new(keys, SEAL_BACKUP, &w->sealer, error);
    if (status != TANSU_OK)
        return status;
    w->mark = sealer_next(w->sealer);
    envelope_head *head = &w->place.head;
    *head = (envelope_head){.format = ENVELOPE_FORMAT,
                            .content = content,
                            .text_size = (uint32_t)text->size,
                            .generation = w->mark.generation};
    memcpy(head->magic, ENVELOPE_MAGIC, sizeof head->magic);
    memcpy(head->salt, w->mark.salt, sizeof head->salt);
    head->crc = head_crc(*head, text);
    status = sink(context, (const uint8_t *)head, sizeof *head, error);
    return status == TANSU_OK ? sink(context, text->data, text->size, error) : status;
}

/* put_chunk -- seals and writes what is in the chunk. */
static tansu_status put_chunk(envelope_writer *w, bool last, tansu_error *error) {
    w->place.last = last;
    if (!seal(w->sealer, &w->mark, &w->place, sizeof w->place, w->chunk, w->filled, w->chunk,
              w->chunk + w->filled))
        return error_memory(error);
    w->mark = sealer_next(w->sealer);
    w->place.number++;
    size_t size = w->filled + CRYPT_TAG_SIZE;
    w->filled = 0;
    return w->sink(w->context, w->chunk, size, error);
}

tansu_status envelope_write(envelope_writer *w, const void *bytes, size_t size,
                            tansu_error *error) {
    const uint8_t *from = bytes;
    tansu_status status = TANSU_OK;
    while (status == TANSU_OK && size > 0) {
        if (w->filled == ENVELOPE_CHUNK)
            status = put_chunk(w, false, error);
        size_t part = size < ENVELOPE_CHUNK - w->filled ? size : ENVELOPE_CHUNK - w->filled;
        if (status == TANSU_OK)
            memcpy(w->chunk + w->filled, from, part);
        w->filled += part;
        from += part;
        size -= part;
    }
    return status;
}

tansu_status envelope_finish(envelope_writer *w, tansu_error *error) {
    return put_chunk(w, true, error);
}

void envelope_writer_free(envelope_writer *w) {
    secret_free(w->chunk, ENVELOPE_STORED);
    sealer_free(w->sealer);
    *w = (envelope_writer){.filled = 0};
}

/* ---- Reading ---- */

/* corrupt -- the error for a stream that is not as it was written. */
static tansu_status corrupt(const envelope_reader *r, const char *where, tansu_error *error) {
    return error_set(error, TANSU_E_CORRUPT, r->path,
                     "The %s is corrupt or cut off, or was changed by something that does not "
                     "have its key: %s (chunk %llu)",
                     r->what, where, (unsigned long long)r->place.number);
}

/* read_whole -- exactly `size` bytes of the stream. */
static tansu_status read_whole(envelope_reader *r, void *bytes, size_t size, tansu_error *error) {
    size_t got = 0;
    tansu_status status = r->source(r->context, bytes, size, &got, error);
    return status == TANSU_OK && got < size ? corrupt(r, "its head is cut off", error) : status;
}

/* read_head -- reads and validates the head, and the keys' text. */
static tansu_status read_head(envelope_reader *r, enum envelope_content content,
                              tansu_error *error) {
    static const uint8_t zeros[sizeof r->place.head.zeros];
    envelope_head *head = &r->place.head;
    tansu_status status = read_whole(r, head, sizeof *head, error);
    if (status != TANSU_OK)
        return status;
    if (memcmp(head->magic, ENVELOPE_MAGIC, sizeof head->magic) != 0 ||
        head->text_size > KEY_TEXT_MOST)
        return corrupt(r, "its head is invalid", error);
    if (!buffer_reserve(&r->text, KEY_TEXT_MOST + 1))
        return error_memory(error);
    status = read_whole(r, r->text.data, head->text_size, error);
    if (status != TANSU_OK)
        return status;
    r->text.size = head->text_size;
    r->text.data[r->text.size] = 0;
    if (head->crc != head_crc(*head, &r->text))
        return corrupt(r, "the checksum of its head does not match", error);
    if (head->format != ENVELOPE_FORMAT)
        return error_set(error, TANSU_E_VERSION, r->path,
                         "The encrypted %s has format %u and this library reads format %u; use a "
                         "newer version of the library",
                         r->what, head->format, ENVELOPE_FORMAT);
    if (head->content != content || head->zero != 0 ||
        memcmp(head->zeros, zeros, sizeof zeros) != 0)
        return error_set(error, TANSU_E_CORRUPT, r->path, "This is no encrypted %s", r->what);
    return TANSU_OK;
}

tansu_status envelope_open(envelope_reader *r, enum envelope_content content, const char *what,
                           const char *path, const user_key *key, envelope_source source,
                           void *context, tansu_error *error) {
    *r = (envelope_reader){.source = source, .context = context, .what = what, .path = path};
    r->stored = malloc(ENVELOPE_STORED + 1);
    r->chunk = malloc(ENVELOPE_CHUNK);
    tansu_status status =
        r->stored == NULL || r->chunk == NULL ? error_memory(error) : read_head(r, content, error);
    if (status == TANSU_OK && !crypt_available())
        status = crypt_missing("Reading what is encrypted", error);
    return status == TANSU_OK ? key_text_open(&r->text, what, path, key, r->uuid, &r->keys, error)
                              : status;
}

tansu_status envelope_next(envelope_reader *r, const uint8_t **bytes, size_t *size,
                           tansu_error *error) {
    size_t got = 0;
    *size = 0;
    if (r->ended)
        return TANSU_OK;
    tansu_status status =
        r->source(r->context, r->stored + r->ahead, ENVELOPE_STORED + 1 - r->ahead, &got, error);
    if (status != TANSU_OK)
        return status;
    got += r->ahead;
    r->ended = got <= ENVELOPE_STORED;
    size_t stored = r->ended ? got : ENVELOPE_STORED;
    if (stored < CRYPT_TAG_SIZE)
        return corrupt(r, "its end is missing", error);
    seal_mark mark = {.generation = r->place.head.generation, .number = r->place.number};
    memcpy(mark.salt, r->place.head.salt, sizeof mark.salt);
    r->place.last = r->ended;
    *size = stored - CRYPT_TAG_SIZE;
    status = unseal(r->keys, SEAL_BACKUP, &mark, &r->place, sizeof r->place, r->stored, *size,
                    r->stored + *size, r->chunk);
    if (status != TANSU_OK)
        return status == TANSU_E_MEMORY ? error_memory(error)
                                        : corrupt(r, "a chunk does not match its tag", error);
    r->place.number++;
    r->stored[0] = r->stored[ENVELOPE_STORED];
    r->ahead = r->ended ? 0 : 1;
    *bytes = r->chunk;
    return TANSU_OK;
}

void envelope_reader_free(envelope_reader *r) {
    keyring_free(r->keys);
    tansu_buffer_free(&r->text);
    secret_free(r->chunk, ENVELOPE_CHUNK);
    free(r->stored);
    *r = (envelope_reader){.ended = true};
}
