/*
 * test_backup_corruption.c -- damage is noticed: in a database that is backed up, in every bit and
 * byte of a backup, and in backups that somebody made up.
 */
#include "backup/backup_internal.h"
#include "log/format.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/sample_database.h"
#include "util/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* plain_sample -- sample_folder() that is not encrypted, in the build that encrypts every database as
 * well. */
static char *plain_sample(void) {
    char *from = sample_folder(), *plain = folder_new();
    tansu_db *db = call_open(from);
    rmdir(plain);
    CHECK_OK(backup_plain(db, plain, TANSU_BACKUP_FOLDER), &call_error);
    call_close(db);
    folder_end(from);
    return plain;
}

/* ---- Damage ---- */

static void corruption_is_detected_rather_than_backed_up(void) {
    char *from = plain_sample();
    char *folder = folder_new();
    tansu_db *db = call_open(from);
    const char *segment = path_in(from, "log/00000001.seg");
    random_source source = random_start(5);
    const char *to = path_in(folder, "to");
    int64_t end = 0;
    for (int i = 0; i < 60; i++) {
        uint64_t offset = random_below(&source, 3000);
        unsigned bit = (unsigned)random_below(&source, 8);
        file_flip(segment, offset, bit);
        for (int f = 0; f < 2; f++) {
            tansu_status status = backup(db, to, backup_forms[f]);
            if (status == TANSU_OK) { /* after the last commit: no bit of the database */
                CHECK(end == 0 || (int64_t)offset >= end);
                remove_at(to);
                continue;
            }
            CHECK_STATUS(TANSU_E_CORRUPT, status);
            CHECK_TEXT("log/00000001.seg", call_error.context);
            CHECK(call_error.offset >= 0 && call_error.offset <= (int64_t)offset);
            CHECK(nothing_at(to));
        }
        file_flip(segment, offset, bit);
        CHECK_OK(backup(db, to, TANSU_BACKUP_FOLDER), &call_error);
        end = (int64_t)file_size(path_in(to, "log/00000001.seg"));
        folder_remove(to);
    }
    call_close(db);
    folder_end(folder);
    folder_end(from);
}

static void every_bit_and_byte_of_a_file_counts(void) {
    char *from = sample_folder();
    char *folder = folder_new();
    tansu_db *db = call_open(from);
    const char *file = path_in(folder, "file"), *bad = path_in(folder, "bad");
    const char *to = path_in(folder, "to");
    CHECK_OK(backup(db, file, TANSU_BACKUP_FILE), &call_error);
    call_close(db);
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(file, &bytes);
    random_source source = random_start(6);
    for (size_t i = 0; i < bytes.size; i++) {
        file_write(bad, bytes.data, i); /* cut */
        if (!refused(bad, to))
            check_note("cut at %zu of %zu", i, bytes.size);
        unsigned bit = (unsigned)random_below(&source, 8);
        bytes.data[i] ^= (uint8_t)(1u << bit);
        file_write(bad, bytes.data, bytes.size);
        if (!refused(bad, to))
            check_note("bit %u of byte %zu of %zu", bit, i, bytes.size);
        bytes.data[i] ^= (uint8_t)(1u << bit);
    }
    tansu_buffer more = TANSU_BUFFER_INIT; /* and there may be nothing after it */
    more.data = malloc(bytes.size * 2);
    memcpy(more.data, bytes.data, bytes.size);
    memcpy(more.data + bytes.size, bytes.data, bytes.size);
    file_write(bad, more.data, bytes.size + 1);
    CHECK(refused(bad, to));
    file_write(bad, more.data, bytes.size * 2);
    CHECK(refused(bad, to));
    free(more.data);
    file_write(bad, bytes.data, bytes.size);
    CHECK_OK(restore(bad, to), &call_error);
    tansu_buffer_free(&bytes);
    folder_end(folder);
    folder_end(from);
}

/* whole_all_the_same -- whether a damaged backup is restored with all that was in it: a segment of an
 * encrypted one ends with a table of its blocks, and, as after a crash, may have none. */
static bool whole_all_the_same(const char *bad, const char *to) {
    if (!file_exists(path_in(bad, "KEY")) || restore(bad, to) != TANSU_OK)
        return false;
    tansu_db *db = call_open(to);
    sample_check(db);
    call_close(db);
    folder_remove(to);
    return true;
}

static void a_damaged_folder_is_not_restored(void) {
    char *from = sample_folder();
    char *folder = folder_new();
    tansu_db *db = call_open(from);
    const char *good = path_in(folder, "good"), *to = path_in(folder, "to");
    CHECK_OK(backup(db, good, TANSU_BACKUP_FOLDER), &call_error);
    call_close(db);
    random_source source = random_start(7);
    static const char *const names[] = {"MANIFEST", "log/00000001.seg"};
    for (int i = 0; i < 60; i++) {
        const char *name = names[i % 2];
        const char *bad = path_in(folder, "bad");
        folder_copy(good, bad);
        uint64_t size = file_size(path_in(bad, name));
        if (i % 3 == 0)
            file_cut(path_in(bad, name), random_below(&source, size));
        else
            file_flip(path_in(bad, name), random_below(&source, size),
                      (unsigned)random_below(&source, 8));
        if (!whole_all_the_same(bad, to))
            refused(bad, to);
        folder_remove(bad);
    }
    unlink(path_in(good, "log/00000001.seg"));
    CHECK(refused(good, to));
    folder_end(folder);
    folder_end(from);
}

/* ---- Backups that somebody made up ---- */

typedef struct forgery {
    tansu_buffer container;
    uint32_t seed;
    uint64_t items;
} forgery;

/* put -- bytes at the container's end. */
static void put(forgery *f, const void *bytes, size_t size) {
    f->container.data = realloc(f->container.data, f->container.size + size + 1);
    REQUIRE(f->container.data != NULL);
    memcpy(f->container.data + f->container.size, bytes, size);
    f->container.size += size;
}

/* forge -- begins with a right header. */
static forgery forge(const uint8_t uuid[16], uint64_t sequence) {
    forgery f = {.seed = (uint32_t)crc32_z(0, uuid, 16)};
    backup_header header = {.format = BACKUP_FORMAT, .sequence = sequence};
    memcpy(header.magic, BACKUP_MAGIC, sizeof header.magic);
    memcpy(header.uuid, uuid, 16);
    header.crc = backup_header_crc(header);
    put(&f, &header, sizeof header);
    return f;
}

/* put_item -- an item with right number and checksum, whatever it says. */
static void put_item(forgery *f, uint32_t kind, const void *bytes, uint32_t size) {
    backup_item item = {.kind = kind, .size = size, .number = f->items++};
    item.crc = backup_item_crc(f->seed, item, bytes);
    put(f, &item, sizeof item);
    put(f, bytes, size);
}

/* forge_end -- compresses and seals it to a file. */
static void forge_end(forgery *f, const char *path) {
    z_stream z = {0};
    gz_header head = {.os = 255};
    size_t room = f->container.size + f->container.size / 100 + 4096;
    uint8_t *bytes = malloc(room);
    REQUIRE(bytes != NULL && deflateInit2(&z, 6, Z_DEFLATED, 31, 8, 0) == Z_OK);
    REQUIRE(deflateSetHeader(&z, &head) == Z_OK);
    z.next_in = f->container.data;
    z.avail_in = (uInt)f->container.size;
    z.next_out = bytes;
    z.avail_out = (uInt)(room - BACKUP_SEAL_CAPACITY);
    REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
    size_t size = z.total_out;
    deflateEnd(&z);
    size_t seal = backup_seal(size, (uint32_t)crc32_z(0, bytes, size), bytes + size);
    REQUIRE(seal != 0);
    file_write(path, bytes, size + seal);
    free(bytes);
    tansu_buffer_free(&f->container);
}

/* put_segment -- the first segment of the sample as items. */
static void put_segment(forgery *f, uint64_t number, const tansu_buffer *bytes) {
    uint64_t size = bytes->size;
    put_item(f, BACKUP_SEGMENT, &number, 8);
    put_item(f, BACKUP_BYTES, bytes->data, (uint32_t)bytes->size);
    put_item(f, BACKUP_SEGMENT_END, &size, 8);
}

/* put_end -- the end with these totals. */
static void put_end(forgery *f, uint64_t segments, uint64_t bytes) {
    uint64_t totals[2] = {segments, bytes};
    put_item(f, BACKUP_END, totals, sizeof totals);
}

static void forged_backups_are_rejected(void) {
    char *from = plain_sample();
    char *folder = folder_new();
    const char *file = path_in(folder, "file"), *to = path_in(folder, "to");
    tansu_buffer seg = TANSU_BUFFER_INIT;
    file_read(path_in(from, "log/00000001.seg"), &seg);
    segment_header header;
    memcpy(&header, seg.data, sizeof header);
    tansu_db *db = call_open(from);
    uint64_t sequence = (uint64_t)call_statistic(db, "sequence");
    call_close(db);
    static const uint64_t numbers[] = {
        0, 2, 99999999, 100000000, (uint64_t)1 << 32, ((uint64_t)1 << 32) + 1, UINT64_MAX};
    forgery f = forge(header.uuid, sequence); /* as it should be */
    put_segment(&f, 1, &seg);
    put_end(&f, 1, seg.size);
    forge_end(&f, file);
    CHECK_OK(restore(file, to), &call_error);
    folder_remove(to);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        f = forge(header.uuid, sequence);
        put_segment(&f, numbers[i], &seg);
        put_end(&f, 1, seg.size);
        forge_end(&f, file);
        refused(file, to);
    }
    for (int i = 0; i < 10; i++) {
        f = forge(header.uuid, i == 0 ? sequence + 1 : i == 1 ? sequence - 1 : sequence);
        if (i == 2)
            put_segment(&f, 1, &seg); /* twice */
        if (i == 3)
            put_item(&f, BACKUP_BYTES, "xxxxxxxx", 8);
        if (i == 4)
            put_item(&f, 99, "xxxxxxxx", 8);
        put_segment(&f, 1, &seg);
        if (i == 5) /* an item of more than there can be */
            ((backup_item *)(void *)(f.container.data + BACKUP_HEADER_SIZE))->size = UINT32_MAX;
        if (i != 6)
            put_end(&f, i == 7 ? 2 : 1 + (i == 2), seg.size * (i == 2 ? 2 : 1) + (i == 8));
        if (i == 9) /* the last item as it should be, but for its checksum */
            ((backup_item *)(void *)(f.container.data + f.container.size - 16) - 1)->crc ^= 1;
        forge_end(&f, file);
        if (!refused(file, to))
            check_note("forgery %d", i);
    }
    f = forge(header.uuid, sequence); /* a newer format */
    ((backup_header *)(void *)f.container.data)->format = 2;
    ((backup_header *)(void *)f.container.data)->crc =
        backup_header_crc(*(backup_header *)(void *)f.container.data);
    forge_end(&f, file);
    CHECK_STATUS(TANSU_E_VERSION, restore(file, to));
    random_source source = random_start(8);
    for (int i = 0; i < 40; i++) { /* noise, bare and in a right wrapping */
        uint8_t noise[512];
        for (size_t k = 0; k < sizeof noise; k++)
            noise[k] = (uint8_t)random_next(&source);
        f = forge(header.uuid, sequence);
        put(&f, noise, sizeof noise);
        forge_end(&f, file);
        refused(file, to);
        file_write(file, noise, (size_t)random_below(&source, sizeof noise));
        refused(file, to);
    }
    tansu_buffer_free(&seg);
    folder_end(folder);
    folder_end(from);
}

/* A frame's CRC is no proof against somebody who means it: documents are checked as well. */
static void documents_in_a_backup_are_not_trusted(void) {
    char *from = plain_sample();
    char *folder = folder_new();
    const char *file = path_in(folder, "file"), *to = path_in(folder, "to");
    tansu_buffer seg = TANSU_BUFFER_INIT;
    file_read(path_in(from, "log/00000001.seg"), &seg);
    segment_header header;
    memcpy(&header, seg.data, sizeof header);
    tansu_db *db = call_open(from);
    uint64_t sequence = (uint64_t)call_statistic(db, "sequence");
    call_close(db);
    uint32_t seed = (uint32_t)crc32_z(0, header.uuid, 16);
    random_source source = random_start(9);
    unsigned taken = 0;
    for (int i = 0; i < 150; i++) {
        uint8_t *copy = malloc(seg.size);
        REQUIRE(copy != NULL);
        memcpy(copy, seg.data, seg.size);
        uint64_t at = SEGMENT_HEADER_SIZE, frames = 0;
        while (at + FRAME_HEADER_SIZE < seg.size && load_u32(copy + at) == FRAME_MAGIC)
            at += load_u32(copy + at + 8), frames++;
        uint64_t pick = random_below(&source, frames);
        for (at = SEGMENT_HEADER_SIZE; pick > 0; pick--)
            at += load_u32(copy + at + 8);
        uint32_t size = load_u32(copy + at + 8);
        for (uint64_t k = 1 + random_below(&source, 3); k > 0; k--) {
            uint64_t byte = FRAME_HEADER_SIZE + random_below(&source, size - FRAME_HEADER_SIZE);
            copy[at + byte] =
                (uint8_t)(random_chance(&source, 50) ? random_next(&source) : copy[at + byte] ^ 1);
        }
        store_u32(copy + at + 4, (uint32_t)crc32_z(seed, copy + at + 8, size - 8));
        tansu_buffer changed = {copy, seg.size, seg.size};
        forgery f = forge(header.uuid, sequence);
        put_segment(&f, 1, &changed);
        put_end(&f, 1, seg.size);
        forge_end(&f, file);
        tansu_status status = restore(file, to);
        if (status == TANSU_OK) { /* another value, and as good as the first */
            taken++;
            db = call_open(to);
            CHECK(call_count(db, NULL, "c", "{}") >= 0);
            call_close(db);
            folder_remove(to);
        } else {
            if (!CHECK(status == TANSU_E_CORRUPT || status == TANSU_E_VERSION))
                check_note("%s: %s", tansu_status_name(status), call_error.message);
            CHECK(nothing_at(to));
        }
        free(copy);
    }
    CHECK(taken > 0 && taken < 150);
    tansu_buffer_free(&seg);
    folder_end(folder);
    folder_end(from);
}

int main(void) {
    RUN(corruption_is_detected_rather_than_backed_up);
    RUN(every_bit_and_byte_of_a_file_counts);
    RUN(a_damaged_folder_is_not_restored);
    RUN(forged_backups_are_rejected);
    RUN(documents_in_a_backup_are_not_trusted);
    return check_finish();
}
