/*
 * test_segments.c -- what an open database takes of the process for its segments: few descriptors,
 * and addresses for what is there; reopening with another segment size; and a segment that is larger
 * than the address space.
 */
#include "api/handles.h"
#include "log/segment.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/fault/file_faults.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "support/workload/sample_database.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

/* open_descriptors -- how many the process has. */
static int open_descriptors(void) {
    int count = 0;
    DIR *list = opendir("/dev/fd");
    REQUIRE(list != NULL);
    while (readdir(list) != NULL)
        count++;
    closedir(list);
    return count;
}

static tansu_status save_one(tansu_db *db, int number, uint32_t size) {
    uint8_t *filling = calloc(1, size);
    REQUIRE(filling != NULL);
    bson_t *doc = BCON_NEW("_id", BCON_INT32(number), "n", BCON_INT32(number), "b",
                           BCON_BIN(BSON_SUBTYPE_BINARY, filling, size));
    tansu_status status = call_save_bson(db, NULL, "c", TANSU_SAVE, doc);
    bson_destroy(doc);
    free(filling);
    return status;
}

/* open_sized -- with that segment size. */
static tansu_db *open_sized(const char *folder, uint64_t size, bool read_only) {
    tansu_options options = call_options(folder);
    options.segment_size = size;
    options.read_only = read_only;
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(handle_open(&options, &file_faults_fs, NULL, &db, &call_error), &call_error));
    return db;
}

/* check_mappings -- of a database that was just opened: every segment but the head has addresses
 * for what is there, the head for what it may grow to. */
static void check_mappings(tansu_db *db, uint64_t size, bool read_only) {
    const log *l = db_inner(db)->log;
    for (uint32_t i = 0; i < l->active.count; i++) {
        const segment *s = l->active.items[i];
        bool head = i + 1 == l->active.count && !read_only && s->last == 0;
        CHECK(s->mapped >= s->allocated && s->allocated >= s->used);
        CHECK(head ? s->mapped >= size && s->fd >= 0
                   : s->mapped - s->allocated < 65536 && s->fd < 0);
    }
}

/* Beyond those of a database without a segment. */
#define DESCRIPTORS_MOST 8

static void descriptors_are_few(void) {
    char *folder = folder_new();
    file_faults_reset();
    int before = open_descriptors();
    tansu_db *db = open_sized(folder, MIB, false);
    for (int i = 0; i < 400; i++) {
        REQUIRE(CHECK_OK(save_one(db, i, 100000), &call_error));
        if (i % 100 == 99) /* what is on the disk needs no descriptor */
            CHECK_OK(tansu_sync(db, &call_error), &call_error);
    }
    CHECK(log_measure(db_inner(db)->log).segments >= 40);
    CHECK(open_descriptors() - before <= DESCRIPTORS_MOST);
    call_close(db);
    CHECK_INT(before, open_descriptors());
    for (int read_only = 0; read_only < 2; read_only++) {
        db = open_sized(folder, MIB, read_only == 1);
        CHECK(open_descriptors() - before <= DESCRIPTORS_MOST);
        check_mappings(db, MIB, read_only == 1);
        CHECK_INT(400, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
        CHECK(open_descriptors() - before <= DESCRIPTORS_MOST);
        call_close(db);
    }
    folder_end(folder);
}

static void what_a_killed_process_wrote_is_synced(void) {
    char *folder = folder_new(), *copy = folder_new();
    folder_remove(copy);
    file_faults_reset();
    tansu_db *db = open_sized(folder, MIB, false);
    for (int i = 0; i < 100; i++)
        REQUIRE(CHECK_OK(save_one(db, i, 100000), &call_error));
    folder_copy(folder, copy);
    call_close(db);
    int before = open_descriptors();
    db = open_sized(copy, MIB, false);
    CHECK_INT(100, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
    faults.syncs = 0;
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    CHECK(faults.syncs >= 10);
    CHECK(open_descriptors() - before <= DESCRIPTORS_MOST);
    check_mappings(db, MIB, false); /* the sync has opened every file, and closed it */
    call_close(db);
    folder_end(copy);
    folder_end(folder);
}

static void the_segment_size_may_change(void) {
    static const uint64_t sizes[] = {MIB, 8 * MIB, 2 * MIB, 64 * MIB, 3 * MIB + 4096};
    char *folder = folder_new();
    random_source source = random_start(1);
    file_faults_reset();
    int count = 0;
    for (int round = 0; round < 12; round++) {
        uint64_t size = sizes[round < 5 ? (unsigned)round : random_below(&source, 5)];
        tansu_db *db = open_sized(folder, size, false);
        check_mappings(db, size, false);
        CHECK_INT(count, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
        for (int i = 0; i < 40; i++)
            REQUIRE(CHECK_OK(save_one(db, count++, (uint32_t)random_below(&source, 150000)),
                             &call_error));
        if (round % 3 == 1)
            for (int i = 0; i < 10; i++) /* something to compact */
                REQUIRE(CHECK_OK(save_one(db, i, 20), &call_error));
        if (round % 3 == 1)
            CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        call_close(db);
        db = open_sized(folder, sizes[random_below(&source, 5)], true);
        check_mappings(db, size, true);
        CHECK_INT(count, call_count(db, NULL, "c", "{'n': {'$gte': 0}}"));
        tansu_buffer report = TANSU_BUFFER_INIT;
        CHECK_OK(tansu_verify(db, NULL, NULL, &report, &call_error), &call_error);
        tansu_buffer_free(&report);
        call_close(db);
    }
    folder_end(folder);
}

static void a_mapping_fits_into_the_address_space(void) {
    static const uint64_t sizes[] = {(uint64_t)PTRDIFF_MAX + 1, UINT64_MAX - 65535};
    char *folder = folder_new();
    const char *path = folder_join(folder, "file");
    int fd = fs_system.open(&fs_system, path, O_RDWR | O_CREAT, 0600);
    REQUIRE(fd >= 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        errno = 0;
        CHECK(fs_system.map(fd, sizes[i], false) == NULL);
        CHECK_INT(EOVERFLOW, errno);
    }
    fs_system.close(fd);
    folder_end(folder);
}

/* check_refused -- opening says what is too large, and what to do. */
static void check_refused(const char *folder, bool read_only, bool allow_writer) {
    tansu_options options = call_options(folder);
    options.read_only = read_only;
    options.allow_writer = allow_writer;
    tansu_db *db = NULL;
    CHECK_STATUS(TANSU_E_UNSUPPORTED, tansu_open(&options, &db, &call_error));
    CHECK(strstr(call_error.message, "00000001.seg") != NULL);
    CHECK(strstr(call_error.message, "; open the database in a process of 64 bits") != NULL);
}

/* A sparse file is as large as one that was filled. */
static void a_segment_beyond_the_address_space_is_refused(void) {
    if (sizeof(void *) > 4) {
        check_skip("the address space of 64 bits has room for every file");
        return;
    }
    char *folder = sample_folder();
    const char *path = folder_join(folder, "log/00000001.seg");
    uint64_t size = file_size(path);
    file_cut(path, (UINT64_C(1) << 32) + size);
    check_refused(folder, false, false);
    check_refused(folder, true, false);
    check_refused(folder, false, true);
    file_cut(path, size);
    tansu_db *db = call_open(folder);
    sample_check(db);
    call_close(db);
    folder_end(folder);
}

int main(void) {
    RUN(descriptors_are_few);
    RUN(what_a_killed_process_wrote_is_synced);
    RUN(the_segment_size_may_change);
    RUN(a_mapping_fits_into_the_address_space);
    RUN(a_segment_beyond_the_address_space_is_refused);
    return check_finish();
}
