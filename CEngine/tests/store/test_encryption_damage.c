/*
 * test_encryption_damage.c -- files of encrypted databases that were changed: blocks and
 * segments in the wrong place, older copies of files, other databases' files, and files that were
 * cut. Opening, reading or verify notices it, or every answer is right.
 */
#include "crypt/crypt.h"
#include "log/compressed/sealed_block.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/damaged_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A database that is open has a part of its log in memory, and verify compares the files with it. */
static void changed_while_it_is_open(void) {
    damaged_begin(true, DAMAGED_DOCUMENTS, 60000);
    tansu_options options = damaged_options(damaged.home);
    tansu_db *db = call_open_with(&options);
    damaged_save(db, 1, 20000, damaged_size(1)); /* in the segment that the log ends in */
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    maintenance_clean(db);
    random_source source = random_start(30);
    for (int i = 0; i < damaged.file_count; i++) {
        if (!damaged_is_segment(damaged.files[i].name))
            continue;
        bool last = !damaged_is_segment(damaged.files[i + 1].name); /* log/TAIL follows */
        uint64_t end = last ? damaged_blocks_end(damaged.files[i].name) : damaged.files[i].size;
        for (uint64_t round = random_rounds("encryption_open", 60); round > 0; round--) {
            uint64_t at = random_chance(&source, 30) ? random_below(&source, 200)
                                                     : random_below(&source, end);
            at = random_chance(&source, 20) ? end - 1 - at % 200 : at;
            file_flip(folder_join(damaged.home, damaged.files[i].name), at, round % 8);
            tansu_status status = maintenance_verify(db);
            if (!CHECK_STATUS(TANSU_E_CORRUPT, status))
                check_note("    %s, offset %llu", damaged.files[i].name, (unsigned long long)at);
            CHECK(maintenance_contains(damaged.files[i].name));
            file_flip(folder_join(damaged.home, damaged.files[i].name), at, round % 8);
        }
    }
    maintenance_clean(db);
    call_close(db);
    damaged_end();
}

/* ---- Blocks in the wrong place ---- */

typedef struct block_place {
    int file;
    uint64_t position, size;
    bool table; /* without which all blocks of a segment are read */
} block_place;

static block_place *places;
static size_t place_count;

static void list_blocks(void) {
    place_count = 0;
    for (int i = 0; i < damaged.file_count; i++) {
        if (!damaged_is_segment(damaged.files[i].name))
            continue;
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        sealed_header header;
        file_read(folder_join(damaged.whole, damaged.files[i].name), &bytes);
        for (uint64_t at = SEALED_BLOCKS; sealed_header_at(bytes.data, bytes.size, at, &header);
             at += sealed_size(header.stored)) {
            places = realloc(places, (place_count + 1) * sizeof *places);
            REQUIRE(places != NULL);
            places[place_count++] =
                (block_place){i, at, sealed_size(header.stored), header.codec == SEALED_TABLE};
        }
        tansu_buffer_free(&bytes);
    }
}

/* bytes_at -- of a file of the whole database. */
static void bytes_at(const block_place *place, uint64_t size, uint8_t *bytes) {
    tansu_buffer all = TANSU_BUFFER_INIT;
    file_read(folder_join(damaged.whole, damaged.files[place->file].name), &all);
    memcpy(bytes, all.data + place->position, size);
    tansu_buffer_free(&all);
}

static void moved_blocks(void) {
    for (int closed = 0; closed < 2; closed++) {
        damaged_begin(closed, DAMAGED_DOCUMENTS, 60000);
        list_blocks();
        random_source source = random_start(10 + (uint64_t)closed);
        uint64_t rounds = random_rounds("encryption_blocks", 200);
        CHECK(place_count > 100);
        for (uint64_t round = 0; round < rounds; round++) {
            const block_place *a = &places[random_below(&source, place_count)],
                              *b = &places[random_below(&source, place_count)];
            for (size_t i = 0; i < 1000 && (a == b || a->size != b->size); i++)
                b = &places[random_below(&source, place_count)];
            uint64_t size = a->size < b->size ? a->size : b->size;
            uint8_t *x = malloc(size), *y = malloc(size);
            REQUIRE(x != NULL && y != NULL);
            bytes_at(a, size, x);
            bytes_at(b, size, y);
            bool exchange = round % 2 == 0, differ = memcmp(x, y, size) != 0;
            char what[160];
            snprintf(what, sizeof what, "block %.40s:%llu %s %.40s:%llu",
                     damaged.files[a->file].name, (unsigned long long)a->position,
                     exchange ? "and" : "over", damaged.files[b->file].name,
                     (unsigned long long)b->position);
            file_patch(folder_join(damaged.home, damaged.files[b->file].name), b->position, x,
                       size);
            if (exchange)
                file_patch(folder_join(damaged.home, damaged.files[a->file].name), a->position, y,
                           size);
            bool noticed = damaged_examine(what, true);
            bool tables = b->table && (!exchange || a->table);
            if (differ && closed && !tables && !CHECK(noticed))
                check_note("    %s: nothing noticed it", what);
            damaged_restore_file(damaged.files[a->file].name);
            damaged_restore_file(damaged.files[b->file].name);
            free(x);
            free(y);
        }
        damaged_end();
    }
    free(places);
    places = NULL;
}

/* ---- Whole files ---- */

/* replace -- a file of the damaged database by that of another folder, if it is there. */
static bool replace(const char *name, const char *from) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", from, name);
    if (!file_exists(path))
        return false;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    file_write(folder_join(damaged.home, name), bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
    return true;
}

/* Each by an older copy of itself; all but one may be. */
static void older_files(void) {
    for (int closed = 0; closed < 2; closed++) {
        damaged_begin(closed, DAMAGED_DOCUMENTS, 60000);
        for (int i = 0; i < damaged.file_count; i++) {
            for (int k = 0; k < 3; k++) {
                char what[160];
                snprintf(what, sizeof what, "%.63s, older %d", damaged.files[i].name, k);
                for (int reading = 0; reading < 2; reading++) {
                    if (replace(damaged.files[i].name, damaged.older[k]))
                        damaged_examine(what, reading);
                    damaged_restore();
                }
            }
        }
        damaged_end();
    }
}

/* The same user's key, and so another data key. */
static void files_of_another_database(void) {
    damaged_begin(true, DAMAGED_DOCUMENTS, 60000);
    char other[512];
    snprintf(other, sizeof other, "%s/other", damaged.folder);
    tansu_options options = damaged_options(other);
    tansu_db *db = call_open_with(&options);
    int saved[DAMAGED_DOCUMENTS];
    memcpy(saved, damaged.numbers, sizeof saved);
    for (int round = 0; round < 8; round++)
        damaged_write(db, 0, damaged.documents, 1000 * (round + 1));
    call_close(db);
    memcpy(damaged.numbers, saved, sizeof saved);
    for (int i = 0; i < damaged.file_count; i++) {
        if (replace(damaged.files[i].name, other)) {
            bool noticed = damaged_examine(damaged.files[i].name, true);
            CHECK(noticed || !damaged_is_segment(damaged.files[i].name));
        }
        damaged_restore();
    }
    damaged_end();
}

static void cut_files(void) {
    for (int closed = 0; closed < 2; closed++) {
        damaged_begin(closed, DAMAGED_DOCUMENTS, 60000);
        random_source source = random_start(20 + (uint64_t)closed);
        for (uint64_t round = random_rounds("encryption_cuts", 120); round > 0; round--) {
            int i = (int)random_below(&source, (uint64_t)damaged.file_count);
            uint64_t size = random_chance(&source, 70)
                                ? random_below(&source, damaged.files[i].size)
                                : damaged.files[i].size - 1 -
                                      random_below(&source, 100) % damaged.files[i].size;
            bool gone = random_chance(&source, 10), reading = random_chance(&source, 80);
            char what[160];
            snprintf(what, sizeof what, "%.63s, cut to %lld", damaged.files[i].name,
                     gone ? -1 : (long long)size);
            if (gone)
                CHECK(remove(folder_join(damaged.home, damaged.files[i].name)) == 0);
            else
                file_cut(folder_join(damaged.home, damaged.files[i].name), size);
            damaged_examine(what, reading);
            damaged_restore();
        }
        damaged_end();
    }
}

/* A segment's table may be on a disk that lost power, and a block that nobody was promised not. */
static void a_table_does_not_vouch_for_its_blocks(void) {
    damaged.documents = DAMAGED_DOCUMENTS;
    damaged.large = 60000;
    damaged.folder = folder_new();
    snprintf(damaged.whole, sizeof damaged.whole, "%s/whole", damaged.folder);
    snprintf(damaged.home, sizeof damaged.home, "%s/db", damaged.folder);
    tansu_options options = damaged_options(damaged.whole);
    options.checkpoint_bytes = (uint64_t)1 << 40;
    tansu_db *db = call_open_with(&options);
    for (int round = 0; round < 8; round++)
        damaged_write(db, 0, damaged.documents, 1000 * (round + 1));
    int64_t all = call_statistic(db, "sequence");
    folder_copy(damaged.whole, damaged.home);
    call_close(db);
    REQUIRE(file_exists(folder_join(damaged.home, "log/00000002.seg")));
    tail_file_lose_power(folder_join(damaged.home, "log"), false);
    file_flip(folder_join(damaged.home, "log/00000001.seg"), 500000, 3);
    for (int reading = 1; reading >= 0; reading--) {
        options = damaged_options(damaged.home);
        options.read_only = reading;
        db = call_open_with(&options);
        int64_t left = call_statistic(db, "sequence");
        CHECK(left > 100 && left < all);
        maintenance_clean(db);
        call_close(db);
        CHECK(file_exists(folder_join(damaged.home, "set-aside/00000001.seg")) == !reading);
    }
    options = damaged_options(damaged.home);
    db = call_open_with(&options);
    damaged_save(db, 1, 30000, damaged_size(1));
    maintenance_clean(db);
    call_close(db);
    damaged_end();
}

int main(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        CHECK(true);
        return check_finish();
    }
    RUN(changed_while_it_is_open);
    RUN(moved_blocks);
    RUN(older_files);
    RUN(files_of_another_database);
    RUN(cut_files);
    RUN(a_table_does_not_vouch_for_its_blocks);
    return check_finish();
}
