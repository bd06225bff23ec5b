/*
 * test_encryption_damage.c -- files of encrypted databases that were changed: bits, blocks and
 * segments in the wrong place, older copies of files, other databases' files, and files that were
 * cut. Opening, reading or verify notices it, or every answer is right.
 *
 * The database has segments that were written, compacted and compressed, and index files that they
 * are newer than; it was closed, or its process was killed.
 */
#include "crypt/crypt.h"
#include "log/compressed/sealed_block.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOCUMENTS 240
#define FILES_MOST 32

static const uint8_t key[33] = "thirty-two bytes of a random key";

/* Where a test works, the database as it is, and as it is damaged. */
static char *folder;
static char whole[512], home[512];

static tansu_options options_of(const char *at) {
    tansu_options options = call_options(at);
    options.key = key;
    options.key_size = 32;
    options.segment_size = 1024 * 1024;
    return options;
}

/* ---- The database ---- */

/* What the documents are in the end: `n` by `_id`, 0 when it was removed. */
static int numbers[DOCUMENTS];

static void save(tansu_db *db, int id, int n, int size) {
    char *json = malloc((size_t)size + 128);
    REQUIRE(json != NULL);
    int length = snprintf(json, 128, "{'_id': %d, 'n': %d, 'pad': '", id, n);
    for (int i = 0; i < size; i++)
        json[length + i] = (char)('a' + (id * 7 + i / 50 + n) % 26);
    strcpy(json + length + size, "'}");
    CHECK_OK(call_save(db, NULL, id % 3 == 0 ? "packed" : "c", TANSU_SAVE, json), &call_error);
    numbers[id] = n;
    free(json);
}

static int size_of(int id) {
    return id % 40 == 1 ? 60000 : 900;
}

/* write_some -- saves each document of a part anew, and removes some. */
static void write_some(tansu_db *db, int from, int to, int n) {
    for (int id = from; id < to; id++)
        save(db, id, n + id, size_of(id));
    for (int id = from; id < to; id += 11) {
        char text[32];
        int removed;
        snprintf(text, sizeof text, "{'_id': %d}", id);
        CHECK_OK(call_remove_id(db, NULL, id % 3 == 0 ? "packed" : "c", text, &removed),
                 &call_error);
        numbers[id] = 0;
    }
}

/* build -- makes it; `older` gets copies of the folder on the way. */
static void build(bool closed, char older[3][512]) {
    tansu_options options = options_of(whole);
    tansu_db *db = call_open_with(&options);
    memset(numbers, 0, sizeof numbers);
    CHECK_OK(call_ensure(db, NULL, "packed", "{'compression': 'lz4'}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", NULL, "{'n': 1}", "{}"), &call_error);
    CHECK_OK(call_index(db, NULL, "packed", NULL, "{'n': 1}", "{}"), &call_error);
    for (int round = 0; round < 4; round++)
        write_some(db, 0, DOCUMENTS, 1000 * (round + 1));
    call_close(db);
    folder_copy(whole, older[0]);
    db = call_open_with(&options);
    CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    call_close(db);
    folder_copy(whole, older[1]);
    db = call_open_with(&options);
    for (int round = 4; round < 8; round++)
        write_some(db, 0, DOCUMENTS, 1000 * (round + 1));
    CHECK_OK(tansu_checkpoint(db, &call_error), &call_error);
    write_some(db, 100, 140, 9000);
    folder_copy(whole, older[2]);
    write_some(db, 120, 160, 10000);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    if (closed) {
        call_close(db);
        folder_copy(whole, home);
    } else {
        folder_copy(whole, home);
        call_close(db);
        folder_remove(whole);
        folder_copy(home, whole);
    }
}

/* ---- What is read of it ---- */

/* expected_of -- a collection's numbers, in order. */
static const char *expected_of(const char *collection) {
    static char text[DOCUMENTS * 24];
    size_t length = 0;
    text[0] = 0;
    /* Later rounds have larger numbers, and in each they rise with the ids. */
    for (int n = 0; n < 20000; n++)
        for (int id = 0; id < DOCUMENTS; id++)
            if (numbers[id] != 0 && numbers[id] == n &&
                (strcmp(collection, "packed") == 0) == (id % 3 == 0))
                length += (size_t)snprintf(text + length, sizeof text - length, "%s{ \"n\" : %d }",
                                           length == 0 ? "" : " ", n);
    return text;
}

static char expected[2][DOCUMENTS * 24];

/* is_right -- whether a document that was read is the one that was saved. */
static bool is_right(int id, const char *found) {
    char begin[64];
    if (numbers[id] == 0)
        return strcmp(found, "NOT_FOUND") == 0;
    int length =
        snprintf(begin, sizeof begin, "{ \"_id\" : %d, \"n\" : %d, \"pad\" : \"", id, numbers[id]);
    if (strncmp(found, begin, (size_t)length) != 0)
        return false;
    for (int i = 0; i < size_of(id); i++)
        if (found[length + i] != (char)('a' + (id * 7 + i / 50 + numbers[id]) % 26))
            return false;
    return strcmp(found + length + size_of(id), "\" }") == 0;
}

/* typed -- whether an error is one of those for changed files, and says where. */
static bool typed(const char *what, tansu_status status) {
    bool good = (status == TANSU_E_CORRUPT || status == TANSU_E_VERSION) &&
                call_error.message[0] != 0 && call_error.context[0] != 0;
    if (!CHECK(good))
        check_note("    %s: %s, %s", what, tansu_status_name(status), call_error.message);
    return good;
}

/* read_all -- whether reading notices something; what it does not notice is right. */
static bool read_all(tansu_db *db, const char *what) {
    bool noticed = false;
    for (int id = 0; id < DOCUMENTS; id++) {
        char text[32];
        snprintf(text, sizeof text, "{'_id': %d}", id);
        const char *found = call_get(db, NULL, id % 3 == 0 ? "packed" : "c", text);
        if (strcmp(found, "CORRUPT") == 0)
            noticed = true;
        else if (!CHECK(is_right(id, found)))
            check_note("    %s: document %d is %.80s", what, id, found);
    }
    for (int i = 0; i < 2; i++) {
        const char *found = call_find(db, NULL, i == 0 ? "c" : "packed", "{'n': {'$gt': 0}}",
                                      "{'$orderby': {'n': 1}, '$fields': {'n': 1, '_id': 0}}");
        if (strcmp(found, "CORRUPT") == 0)
            noticed = true;
        else if (!CHECK(strcmp(found, expected[i]) == 0))
            check_note("    %s: %.200s", what, found);
    }
    return noticed;
}

/* examine -- whether the damaged database is opened, read and verified with an error; `reading`:
 * nothing is written. */
static bool examine(const char *what, bool reading) {
    tansu_options options = options_of(home);
    options.must_exist = 1;
    options.read_only = reading;
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status != TANSU_OK)
        return typed(what, status);
    bool noticed = read_all(db, what);
    status = maintenance_verify(db);
    if (status != TANSU_OK) {
        typed(what, status);
        CHECK(maintenance_number("problemCount") > 0);
        CHECK(maintenance_contains("\"file\""));
        CHECK(!maintenance_contains("compressed segment"));
    } else if (!CHECK(!noticed)) {
        check_note("    %s: verify did not notice it", what);
    }
    tansu_close(db);
    return noticed || status != TANSU_OK;
}

/* ---- Its files ---- */

typedef struct database_file {
    char name[64];
    uint64_t size;
} database_file;

static database_file files[FILES_MOST];
static int file_count;

static void list_folder(const char *prefix) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", home, prefix);
    DIR *all = opendir(path);
    REQUIRE(all != NULL);
    for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
        char name[64];
        snprintf(name, sizeof name, "%.24s%.36s", prefix, entry->d_name);
        uint64_t size = entry->d_type == DT_REG ? file_size(folder_join(home, name)) : 0;
        if (size == 0)
            continue;
        REQUIRE(file_count < FILES_MOST);
        snprintf(files[file_count].name, sizeof files[0].name, "%s", name);
        files[file_count++].size = size;
    }
    closedir(all);
}

/* by_name -- for sorting them. */
static int by_name(const void *a, const void *b) {
    return strcmp(((const database_file *)a)->name, ((const database_file *)b)->name);
}

static void list_files(void) {
    file_count = 0;
    list_folder("");
    list_folder("log/");
    list_folder("index/");
    qsort(files, (size_t)file_count, sizeof *files, by_name);
    for (int i = 0; i < 2; i++)
        snprintf(expected[i], sizeof expected[i], "%s", expected_of(i == 0 ? "c" : "packed"));
}

static bool is_segment(const char *name) {
    return strstr(name, ".seg") != NULL;
}

/* restore -- makes the damaged database whole again. */
static void restore(void) {
    folder_remove(home);
    folder_copy(whole, home);
}

/* restore_file -- one of its files. */
static void restore_file(const char *name) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(folder_join(whole, name), &bytes);
    file_write(folder_join(home, name), bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

static char older[3][512];

static void begin(bool closed) {
    folder = folder_new();
    snprintf(whole, sizeof whole, "%s/whole", folder);
    snprintf(home, sizeof home, "%s/db", folder);
    for (int i = 0; i < 3; i++)
        snprintf(older[i], sizeof older[i], "%s/older%d", folder, i);
    build(closed, older);
    list_files();
    CHECK(!examine("the whole database", true));
    CHECK(!examine("the whole database", false));
    restore();
}

static void end(void) {
    folder_end(folder);
}

/* ---- Bits ---- */

/* blocks_end -- where the blocks of a segment that was closed end. */
static uint64_t blocks_end(const char *name) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    sealed_trailer trailer = {0};
    file_read(folder_join(whole, name), &bytes);
    if (bytes.size > sizeof trailer)
        memcpy(&trailer, bytes.data + bytes.size - sizeof trailer, sizeof trailer);
    bool closed = memcmp(trailer.magic, SEALED_TRAILER_MAGIC, sizeof trailer.magic) == 0;
    tansu_buffer_free(&bytes);
    return closed ? trailer.table : 0;
}

/* flip_bits -- one after the other, each anywhere in some file. */
static void flip_bits(bool closed, bool reading, uint64_t rounds) {
    random_source source = random_start(closed * 2u + reading);
    uint64_t ends[FILES_MOST], unnoticed = 0;
    for (int i = 0; i < file_count; i++)
        ends[i] = is_segment(files[i].name) ? blocks_end(files[i].name) : 0;
    for (uint64_t round = 0; round < rounds; round++) {
        int i = (int)random_below(&source, (uint64_t)file_count);
        uint64_t size = files[i].size, at = random_below(&source, size);
        if (random_chance(&source, 20)) /* headers, tables, trailers */
            at = random_chance(&source, 50) ? at % 256 : size - 1 - at % 256 % size;
        at = at < size ? at : size - 1;
        unsigned bit = (unsigned)random_below(&source, 8);
        char what[128];
        snprintf(what, sizeof what, "%.63s, offset %llu, bit %u", files[i].name,
                 (unsigned long long)at, bit);
        file_flip(folder_join(home, files[i].name), at, bit);
        bool noticed = examine(what, reading);
        unnoticed += !noticed;
        if (at < ends[i] && !CHECK(noticed))
            check_note("    %s: nothing noticed it", what);
        if (reading)
            file_flip(folder_join(home, files[i].name), at, bit);
        else
            restore();
    }
    check_note("%s, %s: %llu bits, %llu without an effect", closed ? "closed" : "killed",
               reading ? "read" : "opened for writing", (unsigned long long)rounds,
               (unsigned long long)unnoticed);
}

static void changed_bits(void) {
    for (int closed = 0; closed < 2; closed++) {
        begin(closed);
        flip_bits(closed, true, random_rounds("encryption_bits", 1500));
        flip_bits(closed, false, random_rounds("encryption_bits_written", 150));
        end();
    }
}

/* A database that is open has a part of its log in memory, and verify compares the files with it. */
static void changed_while_it_is_open(void) {
    begin(true);
    tansu_options options = options_of(home);
    tansu_db *db = call_open_with(&options);
    save(db, 1, 20000, size_of(1)); /* in the segment that the log ends in */
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    maintenance_clean(db);
    random_source source = random_start(30);
    for (int i = 0; i < file_count; i++) {
        if (!is_segment(files[i].name))
            continue;
        bool last = !is_segment(files[i + 1].name); /* log/TAIL follows */
        uint64_t end = last ? blocks_end(files[i].name) : files[i].size;
        for (uint64_t round = random_rounds("encryption_open", 60); round > 0; round--) {
            uint64_t at = random_chance(&source, 30) ? random_below(&source, 200)
                                                     : random_below(&source, end);
            at = random_chance(&source, 20) ? end - 1 - at % 200 : at;
            file_flip(folder_join(home, files[i].name), at, round % 8);
            tansu_status status = maintenance_verify(db);
            if (!CHECK_STATUS(TANSU_E_CORRUPT, status))
                check_note("    %s, offset %llu", files[i].name, (unsigned long long)at);
            CHECK(maintenance_contains(files[i].name));
            file_flip(folder_join(home, files[i].name), at, round % 8);
        }
    }
    maintenance_clean(db);
    call_close(db);
    end();
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
    for (int i = 0; i < file_count; i++) {
        if (!is_segment(files[i].name))
            continue;
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        sealed_header header;
        file_read(folder_join(whole, files[i].name), &bytes);
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
    file_read(folder_join(whole, files[place->file].name), &all);
    memcpy(bytes, all.data + place->position, size);
    tansu_buffer_free(&all);
}

static void moved_blocks(void) {
    for (int closed = 0; closed < 2; closed++) {
        begin(closed);
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
            snprintf(what, sizeof what, "block %.40s:%llu %s %.40s:%llu", files[a->file].name,
                     (unsigned long long)a->position, exchange ? "and" : "over",
                     files[b->file].name, (unsigned long long)b->position);
            file_patch(folder_join(home, files[b->file].name), b->position, x, size);
            if (exchange)
                file_patch(folder_join(home, files[a->file].name), a->position, y, size);
            bool noticed = examine(what, true);
            bool tables = b->table && (!exchange || a->table);
            if (differ && closed && !tables && !CHECK(noticed))
                check_note("    %s: nothing noticed it", what);
            restore_file(files[a->file].name);
            restore_file(files[b->file].name);
            free(x);
            free(y);
        }
        end();
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
    file_write(folder_join(home, name), bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
    return true;
}

/* Each by an older copy of itself; all but one may be. */
static void older_files(void) {
    for (int closed = 0; closed < 2; closed++) {
        begin(closed);
        for (int i = 0; i < file_count; i++) {
            for (int k = 0; k < 3; k++) {
                char what[160];
                snprintf(what, sizeof what, "%.63s, older %d", files[i].name, k);
                for (int reading = 0; reading < 2; reading++) {
                    if (replace(files[i].name, older[k]))
                        examine(what, reading);
                    restore();
                }
            }
        }
        end();
    }
}

/* The same user's key, and so another data key. */
static void files_of_another_database(void) {
    begin(true);
    char other[512];
    snprintf(other, sizeof other, "%s/other", folder);
    tansu_options options = options_of(other);
    tansu_db *db = call_open_with(&options);
    int saved[DOCUMENTS];
    memcpy(saved, numbers, sizeof saved);
    for (int round = 0; round < 8; round++)
        write_some(db, 0, DOCUMENTS, 1000 * (round + 1));
    call_close(db);
    memcpy(numbers, saved, sizeof saved);
    for (int i = 0; i < file_count; i++) {
        if (replace(files[i].name, other)) {
            bool noticed = examine(files[i].name, true);
            CHECK(noticed || !is_segment(files[i].name));
        }
        restore();
    }
    end();
}

static void cut_files(void) {
    for (int closed = 0; closed < 2; closed++) {
        begin(closed);
        random_source source = random_start(20 + (uint64_t)closed);
        for (uint64_t round = random_rounds("encryption_cuts", 120); round > 0; round--) {
            int i = (int)random_below(&source, (uint64_t)file_count);
            uint64_t size = random_chance(&source, 70)
                                ? random_below(&source, files[i].size)
                                : files[i].size - 1 - random_below(&source, 100) % files[i].size;
            bool gone = random_chance(&source, 10), reading = random_chance(&source, 80);
            char what[160];
            snprintf(what, sizeof what, "%.63s, cut to %lld", files[i].name,
                     gone ? -1 : (long long)size);
            if (gone)
                CHECK(remove(folder_join(home, files[i].name)) == 0);
            else
                file_cut(folder_join(home, files[i].name), size);
            examine(what, reading);
            restore();
        }
        end();
    }
}

/* A segment's table may be on a disk that lost power, and a block that nobody was promised not. */
static void a_table_does_not_vouch_for_its_blocks(void) {
    folder = folder_new();
    snprintf(whole, sizeof whole, "%s/whole", folder);
    snprintf(home, sizeof home, "%s/db", folder);
    tansu_options options = options_of(whole);
    options.checkpoint_bytes = (uint64_t)1 << 40;
    tansu_db *db = call_open_with(&options);
    for (int round = 0; round < 8; round++)
        write_some(db, 0, DOCUMENTS, 1000 * (round + 1));
    int64_t all = call_statistic(db, "sequence");
    folder_copy(whole, home);
    call_close(db);
    REQUIRE(file_exists(folder_join(home, "log/00000002.seg")));
    tail_file_lose_power(folder_join(home, "log"), false);
    file_flip(folder_join(home, "log/00000001.seg"), 500000, 3);
    for (int reading = 1; reading >= 0; reading--) {
        options = options_of(home);
        options.read_only = reading;
        db = call_open_with(&options);
        int64_t left = call_statistic(db, "sequence");
        CHECK(left > 100 && left < all);
        maintenance_clean(db);
        call_close(db);
        CHECK(file_exists(folder_join(home, "set-aside/00000001.seg")) == !reading);
    }
    options = options_of(home);
    db = call_open_with(&options);
    save(db, 1, 30000, size_of(1));
    maintenance_clean(db);
    call_close(db);
    end();
}

int main(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        CHECK(true);
        return check_finish();
    }
    RUN(changed_bits);
    RUN(changed_while_it_is_open);
    RUN(moved_blocks);
    RUN(older_files);
    RUN(files_of_another_database);
    RUN(cut_files);
    RUN(a_table_does_not_vouch_for_its_blocks);
    return check_finish();
}
