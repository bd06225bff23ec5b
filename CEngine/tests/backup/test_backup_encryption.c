/*
 * test_backup_encryption.c -- encrypted backups and dumps: which key opens which, that a change of
 * any bit is noticed, and that nothing readable reaches the disk.
 */
#include "api/handles.h"
#include "backup/backup.h"
#include "backup/envelope.h"
#include "query/query_hooks.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/dump_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tansu_key own = {.bytes = "thirty-two bytes of a random key", .size = 32};
static const tansu_key other = {.bytes = "thirty-two bytes of another one!", .size = 32};
static const tansu_key words = {
    .bytes = "correct horse", .size = 13, .kind = TANSU_KEY_PASSPHRASE, .iterations = 256000};

/* Where a test works, and a database in it; `own` opens it. */
static char *folder;
static const char *home;

static tansu_db *open_with(const char *path, const tansu_key *key) {
    tansu_options options = call_options(path);
    if (key != NULL) {
        options.key = key->bytes;
        options.key_size = key->size;
        options.key_kind = key->kind;
    }
    return call_open_with(&options);
}

/* In every document, and nowhere else. */
#define SECRET "plum blossom "

/* fill -- documents whose texts make up that many bytes. */
static void fill(tansu_db *db, size_t bytes) {
    random_source source = random_start(1);
    char text[600];
    for (size_t written = 0; written < bytes; written += 512) {
        int at = snprintf(text, sizeof text, "{'_id': %zu, 't': '" SECRET, written);
        while (at < 540)
            text[at++] = (char)('a' + random_below(&source, 26));
        snprintf(text + at, sizeof text - (size_t)at, "'}");
        CHECK_OK(call_save(db, NULL, "c", TANSU_INSERT, text), &call_error);
    }
}

/* begin -- a database of that many bytes; the caller closes it. */
static tansu_db *begin(size_t bytes) {
    folder = folder_new();
    home = path_in(folder, "db");
    tansu_db *db = open_with(home, &own);
    fill(db, bytes);
    return db;
}

static void end(tansu_db *db) {
    call_close(db);
    folder_end(folder);
}

static tansu_status save(tansu_db *db, const char *to, tansu_backup_form form,
                         const tansu_key *key) {
    return key == NULL ? backup(db, to, form)
                       : tansu_backup_encrypted(db, to, form, key, NULL, NULL, NULL, &call_error);
}

static tansu_status back(const char *from, const char *to, const tansu_key *key) {
    return key == NULL ? restore(from, to)
                       : tansu_restore_encrypted(from, to, key, NULL, NULL, NULL, &call_error);
}

/* is_refused -- whether a restore comes to that status and leaves nothing. */
static bool is_refused(tansu_status expected, const char *from, const tansu_key *key) {
    const char *to = path_in(folder, "refused");
    bool right = CHECK_STATUS(expected, back(from, to, key));
    right = CHECK(nothing_at(to)) && right;
    remove_at(to);
    return right;
}

/* check_holds -- the database at a path opens with the key, and has the documents of another one. */
static void check_holds(const char *path, const tansu_key *key, tansu_db *db) {
    tansu_db *copy = open_with(path, key);
    CHECK_INT(call_count(db, NULL, "c", "{}"), call_count(copy, NULL, "c", "{}"));
    CHECK_TEXT(call_get(db, NULL, "c", "{'_id': 512}"), call_get(copy, NULL, "c", "{'_id': 512}"));
    CHECK_OK(call_save(copy, NULL, "c", TANSU_SAVE, "{'_id': 'more'}"), &call_error);
    call_close(copy);
}

/* check_backup -- a backup is restored with its key only, and the result opens with that. */
static void check_backup(const char *from, const tansu_key *key, const tansu_key *wrong,
                         tansu_db *db) {
    const char *to = path_in(folder, "restored");
    if (CHECK_OK(back(from, to, key), &call_error)) {
        check_holds(to, key, db);
        is_refused(TANSU_E_WRONG_KEY, from, wrong);
    }
    folder_remove(to);
}

/* ---- Which key opens what ---- */

static void opens_with_the_key_that_the_database_had(void) {
    tansu_db *db = begin(20000);
    for (int f = 0; f < 2; f++) {
        const char *to = path_in(folder, "to");
        CHECK_OK(save(db, to, backup_forms[f], NULL), &call_error);
        check_backup(to, &own, &other, db);
        CHECK_OK(rekey_with(db, other.bytes, 32, TANSU_KEY_BYTES, 0, &call_error), &call_error);
        check_backup(to, &own, &other, db); /* the key of the moment */
        remove_at(to);
        CHECK_OK(save(db, to, backup_forms[f], NULL), &call_error);
        check_backup(to, &other, &own, db);
        CHECK_OK(rekey_with(db, own.bytes, 32, TANSU_KEY_BYTES, 0, &call_error), &call_error);
        if (f == 0)
            check_holds(to, &other, db); /* it is a database */
        remove_at(to);
    }
    end(db);
}

static void opens_with_a_key_of_its_own(void) {
    tansu_db *db = begin(20000);
    for (int i = 0; i < 4; i++) {
        const tansu_key *key = i / 2 == 0 ? &other : &words;
        const char *to = path_in(folder, "to");
        CHECK_OK(save(db, to, backup_forms[i % 2], key), &call_error);
        check_backup(to, key, &own, db);
        remove_at(to);
    }
    /* The data key is another one: the backup's file KEY in place of the database's opens nothing. */
    const char *to = path_in(folder, "to"), *mixed = path_in(folder, "mixed");
    CHECK_OK(save(db, to, TANSU_BACKUP_FOLDER, &other), &call_error);
    folder_copy(home, mixed);
    tansu_buffer text = TANSU_BUFFER_INIT;
    file_read(path_in(to, "KEY"), &text);
    file_write(path_in(mixed, "KEY"), text.data, text.size);
    tansu_options options = call_options(mixed);
    options.key = other.bytes;
    options.key_size = 32;
    tansu_db *stolen = NULL;
    CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &stolen, NULL));
    tansu_buffer_free(&text);
    end(db);
}

static void plain_only_for_who_asks(void) {
    tansu_db *db = begin(20000);
    for (int f = 0; f < 2; f++) {
        const char *to = path_in(folder, "to"), *restored = path_in(folder, "restored");
        CHECK_OK(backup_plain(db, to, backup_forms[f]), &call_error);
        CHECK_OK(restore(to, restored), &call_error);
        CHECK(!file_exists(path_in(restored, "KEY")));
        check_holds(restored, NULL, db);
        is_refused(TANSU_E_INVALID_ARGUMENT, to, &own); /* who has a key expects that it is used */
        folder_remove(restored);
        remove_at(to);
    }
    end(db);
}

static void without_a_key(void) {
    tansu_db *db = begin(1000);
    /* The build that tests everything encrypted has one for who gives none. */
    tansu_db *made = call_open(path_in(folder, "other"));
    call_close(made);
    bool assumed = file_exists(path_in(folder, "other/KEY"));
    for (int f = 0; f < 2; f++) {
        const char *to = path_in(folder, "to");
        CHECK_OK(save(db, to, backup_forms[f], NULL), &call_error);
        is_refused(assumed ? TANSU_E_WRONG_KEY : TANSU_E_ENCRYPTED, to, NULL);
        is_refused(TANSU_E_WRONG_KEY, to, &words);
        remove_at(to);
    }
    end(db);
}

static void stores_whose_key_is_nowhere(void) {
    tansu_options options = call_options(NULL);
    options.key = own.bytes;
    options.key_size = 32;
    tansu_db *db = begin(1000), *memory = call_open_with(&options);
    fill(memory, 1000);
    for (int f = 0; f < 2; f++) {
        const char *to = path_in(folder, "to");
        tansu_status status = backup(memory, to, backup_forms[f]);
        if (status == TANSU_OK) { /* with the key that tests assume */
            CHECK_OK(restore(to, path_in(folder, "assumed")), &call_error);
            CHECK(file_exists(path_in(folder, "assumed/KEY")));
            folder_remove(path_in(folder, "assumed"));
        } else
            CHECK_STATUS(TANSU_E_INVALID_STATE, status);
        remove_at(to);
        CHECK_OK(save(memory, to, backup_forms[f], &other), &call_error);
        check_backup(to, &other, &own, memory);
        remove_at(to);
    }
    call_close(memory);
    end(db);
}

/* ---- Damage ---- */

/* check_bad -- bytes that are no backup. */
static bool check_bad(const uint8_t *bytes, size_t size) {
    const char *bad = path_in(folder, "bad");
    file_write(bad, bytes, size);
    return is_refused(TANSU_E_CORRUPT, bad, &other);
}

static void every_bit_and_every_length(void) {
    tansu_db *db = begin(600);
    const char *file = path_in(folder, "file");
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    CHECK_OK(save(db, file, TANSU_BACKUP_FILE, &other), &call_error);
    file_read(file, &bytes);
    for (size_t i = 0; i < bytes.size * 8; i++) {
        bytes.data[i / 8] ^= (uint8_t)(1u << i % 8);
        if (!check_bad(bytes.data, bytes.size))
            check_note("bit %zu of byte %zu of %zu", i % 8, i / 8, bytes.size);
        bytes.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t i = 0; i < bytes.size; i++)
        if (!check_bad(bytes.data, i))
            check_note("cut at %zu of %zu", i, bytes.size);
    tansu_buffer_free(&bytes);
    end(db);
}

/* A chunk as it is stored. */
typedef struct chunk {
    uint8_t bytes[ENVELOPE_STORED];
} chunk;

/* chunks_of -- the chunks of an encrypted file, which all but the last are whole. */
static chunk *chunks_of(const tansu_buffer *file, size_t *head) {
    *head = ENVELOPE_HEAD_SIZE + load_u32(file->data + offsetof(envelope_head, text_size));
    return (chunk *)(void *)(file->data + *head);
}

static void exchanged_chunks_are_noticed(void) {
    tansu_db *db = begin(400000);
    const char *one = path_in(folder, "one"), *two = path_in(folder, "two");
    for (int i = 0; i < 2; i++) { /* with the same data key, and with others */
        tansu_buffer first = TANSU_BUFFER_INIT, second = TANSU_BUFFER_INIT;
        const tansu_key *key = i == 0 ? NULL : &own;
        size_t head;
        CHECK_OK(save(db, one, TANSU_BACKUP_FILE, key), &call_error);
        CHECK_OK(save(db, two, TANSU_BACKUP_FILE, key), &call_error);
        file_read(one, &first);
        file_read(two, &second);
        chunk *mine = chunks_of(&first, &head), *others = chunks_of(&second, &head), kept;
        size_t count = (first.size - head) / sizeof(chunk);
        REQUIRE(count > 2);
        tansu_buffer bad = {malloc(first.size + sizeof kept), 0, 0};
#define BAD(size)                                        \
    (file_write(path_in(folder, "bad"), bad.data, size), \
     is_refused(TANSU_E_CORRUPT, path_in(folder, "bad"), &own))
        for (size_t c = 0; c < count; c++) {
            chunk *changed = (chunk *)(void *)(bad.data + head);
            memcpy(bad.data, first.data, first.size);
            changed[c] = others[c];
            BAD(first.size);
            changed[c] = mine[(c + 1) % count]; /* repeated */
            BAD(first.size);
            changed[(c + 1) % count] = mine[c]; /* exchanged */
            BAD(first.size);
            memcpy(bad.data, first.data, first.size); /* left out */
            memmove(changed + c, changed + c + 1, first.size - head - (c + 1) * sizeof(chunk));
            BAD(first.size - sizeof(chunk));
            BAD(head + c * sizeof(chunk)); /* cut before it */
        }
        memcpy(bad.data, first.data, first.size); /* there may be nothing after it */
        bad.data[first.size] = 0;
        BAD(first.size + 1);
        memcpy(bad.data + first.size, mine[0].bytes, sizeof(chunk));
        BAD(first.size + sizeof(chunk));
        /* The head of one and the chunks of the other. */
        memcpy(bad.data, second.data, head);
        memcpy(bad.data + head, first.data + head, first.size - head);
        BAD(first.size);
        free(bad.data);
        tansu_buffer_free(&first);
        tansu_buffer_free(&second);
        unlink(one);
        unlink(two);
    }
    end(db);
}

static void damaged_folders_have_no_other_content(void) {
    tansu_db *db = begin(3000);
    const char *good = path_in(folder, "good"), *bad = path_in(folder, "bad");
    const char *to = path_in(folder, "to");
    random_source source = random_start(3);
    static const char *const names[] = {"MANIFEST", "KEY", "log/00000001.seg"};
    CHECK_OK(save(db, good, TANSU_BACKUP_FOLDER, &other), &call_error);
    for (int i = 0; i < 300; i++) {
        const char *name = names[i % 3];
        folder_copy(good, bad);
        uint64_t size = file_size(path_in(bad, name));
        if (i % 4 == 0)
            file_cut(path_in(bad, name), random_below(&source, size));
        else
            file_flip(path_in(bad, name), random_below(&source, size),
                      (unsigned)random_below(&source, 8));
        tansu_status status = back(bad, to, &other);
        if (status == TANSU_OK) { /* the table at the end of a segment may be missing */
            CHECK(i % 3 == 2);
            check_holds(to, &other, db);
        } else if (!CHECK(status == TANSU_E_CORRUPT || status == TANSU_E_VERSION) ||
                   !CHECK(nothing_at(to)))
            check_note("%s: %s", name, call_error.message);
        folder_remove(to);
        folder_remove(bad);
    }
    end(db);
}

/* A file KEY that opens nothing would make a backup that nobody can restore. */
static void a_damaged_key_is_not_copied(void) {
    tansu_db *db = begin(1000);
    const char *name = path_in(home, "KEY"), *to = path_in(folder, "to");
    tansu_buffer text = TANSU_BUFFER_INIT;
    file_read(name, &text);
    const size_t size = text.size;
    for (int f = 0; f < 2; f++) {
        for (size_t i = 0; i < size; i++) {
            text.data[i] ^= 1;
            file_write(name, text.data, size);
            tansu_status status = save(db, to, backup_forms[f], NULL);
            CHECK(status == TANSU_E_CORRUPT || status == TANSU_E_VERSION);
            text.data[i] ^= 1;
            file_write(name, text.data, i);
            CHECK_STATUS(TANSU_E_CORRUPT, save(db, to, backup_forms[f], NULL));
        }
        unlink(name);
        CHECK_STATUS(TANSU_E_CORRUPT, save(db, to, backup_forms[f], NULL));
        CHECK(nothing_at(to));
        file_write(name, text.data, size);
        CHECK_OK(save(db, to, backup_forms[f], NULL), &call_error);
        check_backup(to, &own, &other, db);
        remove_at(to);
    }
    tansu_buffer_free(&text);
    end(db);
}

/* ---- Nothing readable on the disk ---- */

static pthread_mutex_t watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned watched, readable;

/* holds_secret -- whether any eight bytes of the secret are there. */
static bool holds_secret(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i + 8 <= size; i++)
        for (size_t k = 0; k + 8 <= strlen(SECRET); k++)
            if (memcmp(bytes + i, &SECRET[k], 8) == 0)
                return true;
    return false;
}

static void look(const void *bytes, size_t size) {
    pthread_mutex_lock(&watch_mutex);
    watched++;
    readable += holds_secret(bytes, size);
    pthread_mutex_unlock(&watch_mutex);
}

static ssize_t write_watched(int fd, const void *bytes, size_t size, off_t offset) {
    look(bytes, size);
    return fs_system.write(fd, bytes, size, offset);
}

/* A mapping of a file is looked at when it ends, and when it is synced. */
static struct {
    void *at;
    size_t size;
} maps[64];

static void *map_watched(int fd, uint64_t size, bool writable) {
    void *at = fs_system.map(fd, size, writable);
    pthread_mutex_lock(&watch_mutex);
    for (int i = 0; at != NULL && fd >= 0 && i < 64; i++)
        if (maps[i].at == NULL) {
            uint64_t whole = 0;
            fs_system.size(fd, &whole);
            maps[i].at = at;
            maps[i].size = whole < size ? whole : size;
            break;
        }
    pthread_mutex_unlock(&watch_mutex);
    return at;
}

static int unmap_watched(void *at, size_t size) {
    pthread_mutex_lock(&watch_mutex);
    for (int i = 0; i < 64; i++)
        if (maps[i].at == at) {
            readable += holds_secret(at, maps[i].size);
            maps[i].at = NULL;
        }
    pthread_mutex_unlock(&watch_mutex);
    return fs_system.unmap(at, size);
}

static void nothing_readable_is_written(void) {
    folder = folder_new();
    home = path_in(folder, "db");
    fs watching = fs_system;
    watching.write = write_watched;
    watching.map = map_watched;
    watching.unmap = unmap_watched;
    tansu_options options = call_options(home);
    options.key = own.bytes;
    options.key_size = 32;
    tansu_db *db = NULL;
    REQUIRE(CHECK_OK(handle_open(&options, &watching, &engine_query_hooks, &db, &call_error),
                     &call_error));
    fill(db, 100000);
    for (int i = 0; i < 4; i++) {
        const user_key key = {.bytes = other.bytes, .size = 32},
                       mine = {.bytes = own.bytes, .size = 32};
        const char *to = path_in(folder, "to"), *restored = path_in(folder, "restored");
        task t = {0};
        backup_result result;
        CHECK_OK(database_backup(db_inner(db), to, backup_forms[i % 2], i < 2 ? NULL : &key, &t,
                                 &result, &call_error),
                 &call_error);
        CHECK_OK(database_restore(to, restored, i < 2 ? &mine : &key, &watching,
                                  &engine_query_hooks, &t, &result, &call_error),
                 &call_error);
        remove_at(to);
        folder_remove(restored);
    }
    call_close(db);
    CHECK_INT(0, readable);
    CHECK(watched > 20);
    look(SECRET, strlen(SECRET)); /* it would have been found */
    CHECK_INT(1, readable);
    folder_end(folder);
}

/* ---- Dumps ---- */

/* A stream in memory. */
typedef struct stream {
    tansu_buffer bytes;
    size_t at;
    size_t step; /* at most that many bytes are read at a time */
} stream;

static int take(void *context, const void *bytes, size_t size) {
    stream *s = context;
    s->bytes.data = realloc(s->bytes.data, s->bytes.size + size + 1);
    REQUIRE(s->bytes.data != NULL);
    memcpy(s->bytes.data + s->bytes.size, bytes, size);
    s->bytes.size += size;
    return 1;
}

static ptrdiff_t give(void *context, void *bytes, size_t capacity) {
    stream *s = context;
    size_t size = s->bytes.size - s->at;
    if (size > capacity)
        size = capacity;
    if (size > s->step)
        size = s->step;
    memcpy(bytes, s->bytes.data + s->at, size);
    s->at += size;
    return (ptrdiff_t)size;
}

static int take_nothing(void *context, const void *bytes, size_t size) {
    (void)context, (void)bytes, (void)size;
    return 0;
}

static ptrdiff_t give_nothing(void *context, void *bytes, size_t capacity) {
    (void)context, (void)bytes, (void)capacity;
    return -1;
}

/* load_stream -- into a new database; the number of documents. */
static tansu_status load_stream(stream *s, const tansu_key *key, int64_t *count) {
    tansu_db *db = call_open(NULL);
    s->at = 0;
    tansu_status status =
        key == NULL ? tansu_load(db, give, s, TANSU_NO_DOCUMENT, NULL, NULL, NULL, &call_error)
                    : tansu_load_encrypted(db, give, s, TANSU_NO_DOCUMENT, key, NULL, NULL, NULL,
                                           &call_error);
    *count = call_count(db, NULL, "c", "{}");
    call_close(db);
    return status;
}

static void dumps(void) {
    tansu_db *db = begin(200000);
    stream s = {.step = 1000}, plain = {.step = SIZE_MAX};
    int64_t all = call_count(db, NULL, "c", "{}"), count = 0;
    CHECK_OK(tansu_dump_encrypted(db, NULL, take, &s, TANSU_NO_DOCUMENT, &other, NULL, NULL, NULL,
                                  &call_error),
             &call_error);
    CHECK_OK(tansu_dump(db, NULL, take, &plain, TANSU_NO_DOCUMENT, NULL, NULL, NULL, &call_error),
             &call_error);
    CHECK(!holds_secret(s.bytes.data, s.bytes.size));
    CHECK(holds_secret(plain.bytes.data, plain.bytes.size));
    CHECK_OK(load_stream(&s, &other, &count), &call_error);
    CHECK_INT(all, count);
    s.step = SIZE_MAX;
    CHECK_OK(load_stream(&s, &other, &count), &call_error);
    CHECK_INT(all, count);
    CHECK_STATUS(TANSU_E_WRONG_KEY, load_stream(&s, &own, &count));
    CHECK_STATUS(TANSU_E_ENCRYPTED, load_stream(&s, NULL, &count));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT, load_stream(&plain, &other, &count));
    CHECK_INT(0, count);
    /* By a reader, the same text. */
    tansu_dump_reader *reader = NULL;
    uint8_t some[3000];
    size_t got = 1, total = 0;
    s.at = 0;
    REQUIRE(CHECK_OK(tansu_dump_reader_open(give, &s, &other, &reader, &call_error), &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_dump_reader_read(reader, NULL, sizeof some, &got, NULL));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_dump_reader_read(reader, some, sizeof some, NULL, NULL));
    for (; got != 0 &&
           CHECK_OK(tansu_dump_reader_read(reader, some, sizeof some, &got, &call_error), NULL);
         total += got)
        CHECK_BYTES(plain.bytes.data + total, got, some, got);
    CHECK_INT(plain.bytes.size, total);
    tansu_dump_reader_close(reader);
    /* A backup is no dump, and the reverse. */
    const char *file = path_in(folder, "file");
    file_write(file, s.bytes.data, s.bytes.size);
    is_refused(TANSU_E_CORRUPT, file, &other);
    unlink(file);
    CHECK_OK(save(db, file, TANSU_BACKUP_FILE, &other), &call_error);
    stream wrong = {.step = SIZE_MAX};
    file_read(file, &wrong.bytes);
    CHECK_STATUS(TANSU_E_CORRUPT, load_stream(&wrong, &other, &count));
    random_source source = random_start(2);
    for (int i = 0; i < 200; i++) {
        size_t size = s.bytes.size, at = (size_t)random_below(&source, size);
        uint8_t bit = (uint8_t)(1u << random_below(&source, 8));
        s.bytes.data[at] ^= bit;
        CHECK_STATUS(TANSU_E_CORRUPT, load_stream(&s, &other, &count));
        s.bytes.data[at] ^= bit;
        s.bytes.size = at;
        CHECK_STATUS(TANSU_E_CORRUPT, load_stream(&s, &other, &count));
        s.bytes.size = size;
    }
    CHECK_STATUS(TANSU_E_IO, tansu_dump_encrypted(db, NULL, take_nothing, NULL, TANSU_NO_DOCUMENT,
                                                  &other, NULL, NULL, NULL, &call_error));
    CHECK_STATUS(TANSU_E_IO, tansu_load_encrypted(db, give_nothing, NULL, TANSU_NO_DOCUMENT, &other,
                                                  NULL, NULL, NULL, &call_error));
    CHECK_STATUS(TANSU_E_INVALID_ARGUMENT,
                 tansu_dump_encrypted(db, NULL, take, &wrong, TANSU_NO_DOCUMENT,
                                      &(tansu_key){.bytes = "short", .size = 5}, NULL, NULL, NULL,
                                      &call_error));
    free(s.bytes.data);
    free(plain.bytes.data);
    tansu_buffer_free(&wrong.bytes);
    end(db);
}

/* ---- Builds without ciphers ---- */

static void builds_without_ciphers_refuse_a_key(void) {
    folder = folder_new();
    tansu_db *db = call_open(NULL);
    const char *to = path_in(folder, "to");
    for (int f = 0; f < 2; f++) {
        CHECK_STATUS(TANSU_E_UNSUPPORTED, save(db, to, backup_forms[f], &own));
        CHECK(nothing_at(to));
        CHECK_OK(backup_plain(db, to, backup_forms[f]), &call_error);
        remove_at(to);
    }
    CHECK_STATUS(TANSU_E_UNSUPPORTED, tansu_dump_encrypted(db, NULL, take, NULL, TANSU_NO_DOCUMENT,
                                                           &own, NULL, NULL, NULL, &call_error));
    call_close(db);
    folder_end(folder);
}

int main(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        RUN(builds_without_ciphers_refuse_a_key);
        return check_finish();
    }
    RUN(opens_with_the_key_that_the_database_had);
    RUN(opens_with_a_key_of_its_own);
    RUN(plain_only_for_who_asks);
    RUN(without_a_key);
    RUN(stores_whose_key_is_nowhere);
    RUN(every_bit_and_every_length);
    RUN(exchanged_chunks_are_noticed);
    RUN(damaged_folders_have_no_other_content);
    RUN(a_damaged_key_is_not_copied);
    RUN(nothing_readable_is_written);
    RUN(dumps);
    return check_finish();
}
