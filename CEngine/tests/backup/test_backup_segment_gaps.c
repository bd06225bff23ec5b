/*
 * test_backup_segment_gaps.c -- backups of databases whose segments' numbers have gaps: compactions
 * took numbers and were cancelled, at each call of their progress function, while writers went on
 * to new segments. Every backup that was acknowledged restores, opens where it lies, for reading
 * and writing, and can be backed up again. A segment that is really missing is still damage.
 *
 * TANSU_SEED repeats the choices of a run; with TANSU_ROUNDS each backup is looked at in all ways.
 */
#include "log/format.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/model/store_model.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define SEGMENTS_MOST 256
#define CANCELLED_MOST 3

/* ---- What is in the log ---- */

typedef struct numbers {
    unsigned list[SEGMENTS_MOST];
    unsigned count;
    bool gaps;
} numbers;

/* compare -- for sorting numbers. */
static int compare(const void *a, const void *b) {
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

/* numbers_of -- of the segments in a database's folder. */
static numbers numbers_of(const char *folder) {
    numbers n = {.count = 0};
    DIR *log = opendir(path_in(folder, "log"));
    REQUIRE(log != NULL);
    for (struct dirent *entry; (entry = readdir(log)) != NULL;) {
        unsigned number;
        if (sscanf(entry->d_name, "%8u.seg", &number) != 1)
            continue;
        REQUIRE(n.count < SEGMENTS_MOST);
        n.list[n.count++] = number;
    }
    closedir(log);
    if (n.count > 1)
        qsort(n.list, n.count, sizeof n.list[0], compare);
    for (unsigned i = 1; i < n.count; i++)
        n.gaps = n.gaps || n.list[i] != n.list[i - 1] + 1;
    return n;
}

/* segment_of -- the path of a segment's file. */
static const char *segment_of(const char *folder, unsigned number) {
    char name[32];
    snprintf(name, sizeof name, "log/%08u.seg", number);
    return folder_join(folder, name);
}

/* is_empty -- whether a segment has no commit: when one is larger than a segment, the one before
 * it may have none. */
static bool is_empty(const char *path) {
    static const uint8_t zeros[8];
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    bool empty = bytes.size < 72 || memcmp(bytes.data + 64, zeros, sizeof zeros) == 0;
    tansu_buffer_free(&bytes);
    return empty;
}

/* deny_compaction -- has the MANIFEST of a folder say that no compaction was ever begun, so that
 * the numbers of the segments prove what is missing; false when a segment is compacted. */
static bool deny_compaction(const char *folder) {
    numbers n = numbers_of(folder);
    tansu_buffer text = TANSU_BUFFER_INIT;
    for (unsigned i = 0; i < n.count; i++) {
        file_read(segment_of(folder, n.list[i]), &text);
        bool compacted = ((const segment_header *)(const void *)text.data)->kind != SEGMENT_WRITTEN;
        if (compacted) {
            tansu_buffer_free(&text);
            return false;
        }
    }
    file_read(path_in(folder, "MANIFEST"), &text);
    char body[512];
    REQUIRE(text.size < sizeof body);
    memcpy(body, text.data, text.size);
    body[text.size] = 0;
    char *said = strstr(body, "\ncompacted ");
    REQUIRE(said != NULL);
    snprintf(said + 1, 32, "compacted no\n");
    uint32_t crc = (uint32_t)crc32(0, (const Bytef *)body, (uInt)strlen(body));
    snprintf(body + strlen(body), 16, "crc %08x\n", crc);
    file_write(path_in(folder, "MANIFEST"), body, strlen(body));
    tansu_buffer_free(&text);
    return true;
}

/* ---- Compactions that are cancelled ---- */

typedef struct cancelling {
    tansu_db *db;
    store_model *m;
    random_source *source;
    unsigned calls;
    unsigned cancel_at; /* 0: never */
    unsigned steps;     /* commits at each call */
} cancelling;

/* write_and_cancel -- a progress function: others write on, and then it may be enough. */
static int write_and_cancel(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    cancelling *c = context;
    c->calls++;
    c->m->commits = (uint64_t)call_statistic(c->db, "sequence"); /* a run that ended is a commit */
    for (unsigned i = 0; i < c->steps; i++)
        store_model_step(c->m, c->source, c->db);
    return c->calls != c->cancel_at;
}

/* compact -- one compaction, cancelled at that call of its progress function if it comes so far. */
static tansu_status compact(tansu_db *db, store_model *m, random_source *source, unsigned cancel_at,
                            unsigned steps) {
    cancelling c = {db, m, source, 0, cancel_at, steps};
    tansu_status status = tansu_compact(db, write_and_cancel, &c, NULL, &call_error);
    CHECK(status == TANSU_OK || status == TANSU_E_CANCELLED);
    CHECK(status == TANSU_OK ? cancel_at == 0 || c.calls < cancel_at : c.calls == cancel_at);
    m->commits = (uint64_t)call_statistic(db, "sequence");
    return status;
}

/* fill -- commits until this many bytes of log were written. */
static void fill(tansu_db *db, store_model *m, random_source *source, uint64_t bytes) {
    int64_t began = call_statistic(db, "logBytes");
    int64_t least = began < 0 ? 0 : began;
    for (int i = 0; i < 400 && (uint64_t)(call_statistic(db, "logBytes") - least) < bytes; i++)
        store_model_step(m, source, db);
}

/* ---- Looking at backups ---- */

/* check_copy -- opens a folder and compares; `write`: and works on it. */
static void check_copy(const char *path, const store_model *m, random_source *source, bool write) {
    tansu_options options = call_options(path);
    options.read_only = !write;
    tansu_db *db = NULL;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
        return;
    CHECK_INT(m->commits, call_statistic(db, "sequence"));
    store_model_check(m, source, db, NULL);
    CHECK_OK(tansu_verify(db, NULL, NULL, NULL, &call_error), &call_error);
    if (write) {
        store_model copy = *m;
        for (int i = 0; i < 5; i++)
            store_model_step(&copy, source, db);
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
        store_model_check(&copy, source, db, NULL);
        call_close(db);
        db = NULL;
        if (CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
            store_model_check(&copy, source, db, NULL);
    }
    if (db != NULL)
        call_close(db);
}

/* check_restored -- restores a backup and compares. */
static void check_restored(const char *from, const char *folder, const store_model *m,
                           random_source *source) {
    const char *to = path_in(folder, "restored");
    if (CHECK_OK(restore(from, to), &call_error))
        check_copy(to, m, source, true);
    folder_remove(to);
}

/* check_again -- a backup of the backup in a folder, which is opened read-only or not. */
static void check_again(const char *from, const char *folder, const store_model *m,
                        random_source *source) {
    tansu_options options = call_options(from);
    options.read_only = random_chance(source, 50);
    const char *second = path_in(folder, "second");
    tansu_db *db = NULL;
    if (!CHECK_OK(tansu_open(&options, &db, &call_error), &call_error))
        return;
    tansu_backup_form form = backup_forms[random_below(source, 2)];
    tansu_status status = backup(db, second, form);
    call_close(db);
    if (CHECK_OK(status, &call_error)) {
        check_restored(second, folder, m, source);
        if (form == TANSU_BACKUP_FOLDER)
            check_copy(second, m, source, true);
    }
    remove_at(second);
}

/* look_at_folder -- what may be done with a backup that is a folder; consumes it. */
static void look_at_folder(const char *from, const char *folder, const store_model *m,
                           random_source *source) {
    bool all = getenv("TANSU_ROUNDS") != NULL;
    if (all || random_chance(source, 50))
        check_copy(from, m, source, false);
    check_restored(from, folder, m, source); /* reading has not changed it */
    if (all || random_chance(source, 50))
        check_again(from, folder, m, source);
    if (all || random_chance(source, 50))
        check_copy(from, m, source, true);
}

static struct { unsigned backups, gaps, cancelled, compacted, denied; } tally;

/* look_at_backups -- takes one of each form. */
static void look_at_backups(tansu_db *db, const char *folder, const store_model *m,
                            random_source *source) {
    const char *one = path_in(folder, "folder"), *other = path_in(folder, "file");
    const char *denied = path_in(folder, "denied");
    if (!CHECK_OK(backup(db, one, TANSU_BACKUP_FOLDER), &call_error) ||
        !CHECK_OK(backup(db, other, TANSU_BACKUP_FILE), &call_error))
        return;
    tally.backups += 2;
    tally.gaps += numbers_of(one).gaps;
    if (!CHECK_OK(backup_plain(db, denied, TANSU_BACKUP_FOLDER), &call_error))
        return;
    if (deny_compaction(denied)) {
        tally.denied += numbers_of(one).gaps;
        look_at_folder(denied, folder, m, source);
        check_copy(one, m, source, random_chance(source, 50));
    } else {
        tally.compacted++;
        look_at_folder(one, folder, m, source);
    }
    check_restored(other, folder, m, source);
    folder_remove(one);
    folder_remove(denied);
    unlink(other);
}

/* ---- The tests ---- */

/* at_each_call -- compactions of one database, each cancelled at the next call of the progress
 * function. */
static void at_each_call(const char *path, uint64_t stream) {
    random_source source = random_start(stream);
    char *folder = folder_new();
    store_model m = {.most_pad = 400000};
    tansu_db *db = call_open(path);
    fill(db, &m, &source, (uint64_t)3 << 20);
    tansu_status status = TANSU_E_CANCELLED;
    for (unsigned at = 1; status == TANSU_E_CANCELLED && check_failures() == 0; at++) {
        status = compact(db, &m, &source, at <= CANCELLED_MOST ? at : 0, at % 3 == 0 ? 0 : 25);
        tally.cancelled += status == TANSU_E_CANCELLED;
        look_at_backups(db, folder, &m, &source);
        fill(db, &m, &source, (uint64_t)1 << 20);
        if (path != NULL && random_chance(&source, 50)) {
            call_close(db);
            db = call_open(path);
            m.commits = (uint64_t)call_statistic(db, "sequence");
        }
    }
    look_at_backups(db, folder, &m, &source);
    store_model_check(&m, &source, db, NULL);
    call_close(db);
    folder_end(folder);
}

static void a_compaction_cancelled_at_each_call(void) {
    char *folder = folder_new();
    at_each_call(path_in(folder, "db"), 1);
    folder_end(folder);
}

static void the_same_of_a_memory_store(void) {
    at_each_call(NULL, 2);
}

/* Several gaps, also of numbers that were taken beyond the head, before any compaction comes to
 * its end. */
static void several_gaps_without_a_compacted_segment(void) {
    random_source source = random_start(3);
    for (int round = 0; round < 2; round++) {
        char *folder = folder_new();
        store_model m = {.most_pad = 400000};
        tansu_db *db = call_open(round == 0 ? path_in(folder, "db") : NULL);
        for (unsigned i = 0; i < 4; i++) {
            fill(db, &m, &source, (uint64_t)3 << 19);
            tally.cancelled += compact(db, &m, &source, 1, 30) == TANSU_E_CANCELLED;
        }
        look_at_backups(db, folder, &m, &source);
        call_close(db);
        folder_end(folder);
    }
}

/* gappy_backup -- a folder of several segments with gaps, none of them compacted, that says it never
 * was. */
static numbers gappy_backup(const char *folder, const char *to, store_model *m,
                            random_source *source) {
    numbers n = {.count = 0};
    tansu_db *db = call_open(path_in(folder, "gappy"));
    for (unsigned i = 0; i < 3; i++) {
        fill(db, m, source, (uint64_t)3 << 19);
        compact(db, m, source, 1, 30);
    }
    CHECK_OK(backup_plain(db, to, TANSU_BACKUP_FOLDER), &call_error);
    call_close(db);
    CHECK(deny_compaction(to));
    n = numbers_of(to);
    CHECK(n.gaps && n.count >= 3);
    return n;
}

/* A gap loses nothing only if the commits go on after it: else the segment is missing. */
static void a_segment_that_is_missing_is_damage(void) {
    random_source source = random_start(4);
    char *folder = folder_new();
    const char *good = path_in(folder, "good"), *bad = path_in(folder, "bad");
    const char *to = path_in(folder, "to");
    store_model m = {.most_pad = 400000};
    numbers n = gappy_backup(folder, good, &m, &source);
    for (unsigned i = 0; i < n.count && check_failures() == 0; i++) {
        for (int read_only = 0; read_only < 2; read_only++) {
            folder_copy(good, bad);
            bool empty = is_empty(segment_of(bad, n.list[i])); /* then nothing is missing */
            unlink(segment_of(bad, n.list[i]));
            if (!empty) {
                tansu_options options = call_options(bad);
                options.read_only = read_only;
                tansu_db *db = NULL;
                refused(bad, to);
                CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &db, &call_error));
                CHECK_INT(n.count - 1, numbers_of(bad).count); /* nothing is removed */
                refused(bad, to);
            }
            folder_remove(bad);
        }
    }
    /* A file by the name of the number that no segment has is noticed as well. */
    for (unsigned i = 1; i < n.count; i++) {
        if (n.list[i] == n.list[i - 1] + 1)
            continue;
        folder_copy(good, bad);
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        file_read(segment_of(bad, n.list[0]), &bytes);
        file_write(segment_of(bad, n.list[i] - 1), bytes.data, bytes.size);
        tansu_buffer_free(&bytes);
        tansu_db *db = NULL;
        tansu_options options = call_options(bad);
        refused(bad, to);
        CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &db, &call_error));
        folder_remove(bad);
    }
    folder_end(folder);
}

/* In a database that no compaction has touched a gap was always damage, whatever is sure of the
 * rest: its tail, written by a process that was killed, does not make it a torn end. */
static void a_gap_in_an_unsynced_tail_is_damage(void) {
    random_source source = random_start(5);
    char *folder = folder_new();
    const char *path = path_in(folder, "db"), *copy = path_in(folder, "copy");
    store_model m = {.most_pad = 400000};
    tansu_db *db = call_open(path);
    fill(db, &m, &source, (uint64_t)5 << 20);
    folder_copy(path, copy);
    call_close(db);
    folder_remove(path_in(copy, "index"));
    numbers n = numbers_of(copy);
    CHECK(n.count >= 4 && !n.gaps);
    for (unsigned i = 1; i + 1 < n.count; i++) {
        const char *bad = path_in(folder, "bad");
        for (int blank = 0; blank < 2; blank++) { /* and with a newest one that was never begun */
            folder_copy(copy, bad);
            if (blank) {
                static const uint8_t zeros[4096];
                for (unsigned k = i + 1; k < n.count; k++)
                    unlink(segment_of(bad, n.list[k]));
                file_write(segment_of(bad, n.list[i + 1]), zeros, sizeof zeros);
            }
            bool empty = is_empty(segment_of(bad, n.list[i]));
            unlink(segment_of(bad, n.list[i]));
            numbers left = numbers_of(bad);
            tansu_options options = call_options(bad);
            if (!empty) {
                CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &db, &call_error));
                CHECK_INT(left.count, numbers_of(bad).count);
            }
            folder_remove(bad);
        }
    }
    folder_end(folder);
}

int main(void) {
    RUN(a_compaction_cancelled_at_each_call);
    RUN(the_same_of_a_memory_store);
    RUN(several_gaps_without_a_compacted_segment);
    RUN(a_segment_that_is_missing_is_damage);
    RUN(a_gap_in_an_unsynced_tail_is_damage);
    check_note(
        "%u backups, %u with gaps; %u compactions cancelled; %u with a compacted segment; %u "
        "with gaps that deny it",
        tally.backups, tally.gaps, tally.cancelled, tally.compacted, tally.denied);
    CHECK(tally.gaps > 3 && tally.cancelled > 5 && tally.denied > 1 && tally.compacted > 0);
    return check_finish();
}
