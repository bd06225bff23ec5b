/*
 * test_restored_keys.c -- a restored database, and a folder backup, have a data key of their own: after
 * they and the original went on, files and commits of one in place of the other's are noticed, and
 * never read.
 *
 * Both save documents of the same sizes in the same order, so that their commits have the same
 * places. An attacker without any key exchanges files, all combinations of them, and single blocks.
 */
#include "crypt/crypt.h"
#include "log/compressed/sealed_block.h"
#include "support/calls/backup_calls.h"
#include "support/calls/call.h"
#include "support/calls/maintenance_calls.h"
#include "support/check.h"
#include "support/folder.h"
#include "util/checksum/checksum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOCUMENTS 60
#define ROUNDS 6
#define PAD 4000

static const tansu_key own = {.bytes = "thirty-two bytes of a random key", .size = 32};
static const tansu_key other = {.bytes = "thirty-two bytes of another one!", .size = 32};

/* The original database and the restored one: where each lies, its key, and the first number of the
 * documents that it saves after they parted, of which it has a thousand. */
typedef struct side {
    const char *at;
    const tansu_key *key;
    int numbers;
} side;

static char *folder;
static side sides[2];

/* How a database was left. */
enum state { KILLED, CLOSED, COMPACTED, STATES };
static const char *const state_names[STATES] = {"killed", "closed", "compacted"};

static tansu_options options_of(const char *at, const tansu_key *key) {
    tansu_options options = call_options(at);
    options.key = key->bytes;
    options.key_size = key->size;
    options.key_kind = key->kind;
    options.segment_size = 1024 * 1024;
    return options;
}

/* save_round -- each document in a commit of its own, of which all have the same size. */
static void save_round(tansu_db *db, int first) {
    static char json[PAD + 128];
    for (int id = 0; id < DOCUMENTS; id++) {
        int length = snprintf(json, 128, "{'_id': %d, 'n': %d, 'pad': '", id, first + id);
        for (int i = 0; i < PAD; i++)
            json[length + i] = (char)('a' + (first + i / 50 * 7 + id) % 26);
        strcpy(json + length + PAD, "'}");
        CHECK_OK(call_save(db, NULL, "c", TANSU_SAVE, json), &call_error);
    }
}

/* go_on -- the commits of one side after both parted. */
static void go_on(side *s, enum state state) {
    tansu_options options = options_of(s->at, s->key);
    tansu_db *db = call_open_with(&options);
    for (int round = 0; round < ROUNDS; round++)
        save_round(db, s->numbers + DOCUMENTS * round);
    CHECK_OK(tansu_sync(db, &call_error), &call_error);
    if (state == COMPACTED)
        CHECK_OK(tansu_compact(db, NULL, NULL, NULL, &call_error), &call_error);
    const char *killed = path_in(folder, "killed");
    if (state == KILLED)
        folder_copy(s->at, killed);
    call_close(db);
    if (state == KILLED) {
        folder_remove(s->at);
        REQUIRE(rename(killed, s->at) == 0);
    }
}

/* begin -- a database, and what is restored of its backup in that form, or, with `opened`, the backup
 * itself; both went on. `key`: the backup's, NULL the database's. */
static void begin(tansu_backup_form form, bool opened, const tansu_key *key, enum state state) {
    folder = folder_new();
    sides[0] = (side){path_in(folder, "original"), &own, 1000};
    sides[1] = (side){path_in(folder, "restored"), key == NULL ? &own : key, 2000};
    tansu_options options = options_of(sides[0].at, &own);
    tansu_db *db = call_open_with(&options);
    CHECK_OK(call_ensure(db, NULL, "c", "{'compression': 'lz4'}"), &call_error);
    CHECK_OK(call_index(db, NULL, "c", NULL, "{'n': 1}", "{}"), &call_error);
    save_round(db, 0);
    const char *backup_at = opened ? sides[1].at : path_in(folder, "backup");
    CHECK_OK(key == NULL
                 ? backup(db, backup_at, form)
                 : tansu_backup_encrypted(db, backup_at, form, key, NULL, NULL, NULL, &call_error),
             &call_error);
    call_close(db);
    if (!opened)
        CHECK_OK(tansu_restore_encrypted(backup_at, sides[1].at, sides[1].key, NULL, NULL, NULL,
                                         &call_error),
                 &call_error);
    for (int i = 0; i < 2; i++)
        go_on(&sides[i], state);
}

/* ---- What the victim reads ---- */

/* What the damaged database came to. */
enum outcome {
    NOTICED, /* an error, of opening, reading or verify */
    OWN,     /* documents that the victim has saved, not the newest */
    NEWEST,
    FOREIGN /* a document of the other one */
};

/* read_numbers -- what a read of the documents comes to. */
static enum outcome read_numbers(tansu_db *db, const side *victim, const char *query) {
    const char *found = call_find(db, NULL, "c", query, "{'$fields': {'n': 1, '_id': 0}}");
    int newest = 0, all = 0;
    if (found[0] != '{' && found[0] != 0)
        return NOTICED;
    for (const char *at = found; (at = strstr(at, "\"n\" : ")) != NULL; all++) {
        int n = atoi(at += 6);
        if (n >= DOCUMENTS && (n < victim->numbers || n >= victim->numbers + 1000))
            return FOREIGN;
        newest += n >= victim->numbers + DOCUMENTS * (ROUNDS - 1);
    }
    return newest == DOCUMENTS && all == DOCUMENTS ? NEWEST : OWN;
}

/* examine -- opens, reads and verifies what an attacker has left at `home` for the victim. */
static enum outcome examine(const char *home, const side *victim, bool reading) {
    tansu_options options = options_of(home, victim->key);
    options.must_exist = 1;
    options.read_only = reading;
    tansu_db *db = NULL;
    tansu_status status = tansu_open(&options, &db, &call_error);
    if (status != TANSU_OK) {
        CHECK(status == TANSU_E_CORRUPT || status == TANSU_E_WRONG_KEY);
        return NOTICED;
    }
    enum outcome by_index = read_numbers(db, victim, "{'n': {'$gte': 0}}"),
                 by_scan = read_numbers(db, victim, "{}"), worst = by_scan;
    if (by_index == FOREIGN || by_scan == NEWEST)
        worst = by_index;
    if (worst != FOREIGN && maintenance_verify(db) != TANSU_OK)
        worst = NOTICED;
    tansu_close(db);
    return worst;
}

/* ---- Files ---- */

/* What an attacker exchanges: each is a file, or those of a folder. */
static const char *const parts[] = {"KEY", "MANIFEST", "log/TAIL", "log", "index"};
enum { KEY, MANIFEST, TAIL, LOG, INDEX, PARTS };

/* put -- a part of one folder in place of another one's. */
static void put(int part, const char *from, const char *home) {
    char source[600], target[600];
    snprintf(source, sizeof source, "%s/%s", from, parts[part]);
    snprintf(target, sizeof target, "%s/%s", home, parts[part]);
    tansu_buffer tail = TANSU_BUFFER_INIT;
    bool has_tail = file_exists(folder_join(home, "log/TAIL"));
    if (part == LOG && has_tail)
        file_read(folder_join(home, "log/TAIL"), &tail);
    if (part == LOG || part == INDEX) {
        folder_remove(target);
        folder_copy(source, target);
    } else if (file_exists(source)) {
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        file_read(source, &bytes);
        file_write(target, bytes.data, bytes.size);
        tansu_buffer_free(&bytes);
    }
    if (part == LOG && has_tail)
        file_write(folder_join(home, "log/TAIL"), tail.data, tail.size);
    tansu_buffer_free(&tail);
}

/* check_files -- all combinations of files. */
static void check_files(enum state state, bool same_key) {
    const char *home = path_in(folder, "home");
    for (int v = 0; v < 2; v++)
        for (unsigned set = 0; set < 1u << PARTS; set++)
            for (int reading = 0; reading < 2; reading++) {
                const side *victim = &sides[v], *from = &sides[1 - v];
                folder_copy(victim->at, home);
                for (int part = PARTS - 1; part >= 0;
                     part--) /* TAIL after the folder that has it */
                    if ((set >> part & 1) != 0 && part != TAIL)
                        put(part, from->at, home);
                if ((set >> TAIL & 1) != 0)
                    put(TAIL, from->at, home);
                enum outcome found = examine(home, victim, reading);
                const unsigned all = 1u << KEY | 1u << MANIFEST | 1u << LOG;
                const unsigned any = all | 1u << INDEX;
                /* Then it is the other database, with that user's key. */
                bool whole = (set & all) == all;
                if (set == 0 && !CHECK(found == NEWEST))
                    check_note("%s: nothing was changed", state_names[state]);
                if (whole && same_key ? !CHECK(found == FOREIGN || found == NOTICED)
                                      : !CHECK(found != FOREIGN))
                    check_note("%s, victim %d, files %x: outcome %d", state_names[state], v, set,
                               (int)found);
                /* The index may be that of another one: it is rebuilt. */
                if ((set & all) != 0 && (set & all) != all && !CHECK(found == NOTICED))
                    check_note("%s, victim %d, files %x: not noticed", state_names[state], v, set);
                if ((set & any) == 0 && !CHECK(found != NOTICED))
                    check_note("%s, victim %d, files %x: noticed", state_names[state], v, set);
                folder_remove(home);
            }
}

/* ---- Single segments, and blocks ---- */

/* segment_of -- the bytes of a segment; false: there is none of that number. */
static bool segment_of(const char *at, int number, tansu_buffer *bytes) {
    char name[32];
    snprintf(name, sizeof name, "log/%08d.seg", number);
    if (!file_exists(folder_join(at, name)))
        return false;
    file_read(folder_join(at, name), bytes);
    return true;
}

/* check_bytes -- a segment of the victim with other bytes. */
static void check_segment_as(const side *victim, int number, const tansu_buffer *bytes,
                             const char *what) {
    const char *home = path_in(folder, "home");
    char name[32];
    snprintf(name, sizeof name, "log/%08d.seg", number);
    for (int reading = 0; reading < 2; reading++) {
        folder_copy(victim->at, home);
        file_write(folder_join(home, name), bytes->data, bytes->size);
        enum outcome found = examine(home, victim, reading);
        if (!CHECK(found == NOTICED || found == OWN))
            check_note("%s of segment %d: outcome %d", what, number, (int)found);
        folder_remove(home);
    }
}

/* check_blocks -- exchanges blocks that have the same place and size in a segment of both; how many
 * there are. */
static int check_blocks(const side *victim, int number, const tansu_buffer *mine,
                        const tansu_buffer *others) {
    sealed_header h, o;
    int places = 0;
    for (uint64_t at = SEALED_BLOCKS; sealed_header_at(mine->data, mine->size, at, &h);
         at += sealed_size(h.stored)) {
        uint64_t there = SEALED_BLOCKS;
        while (sealed_header_at(others->data, others->size, there, &o) && o.offset != h.offset)
            there += sealed_size(o.stored);
        if (!sealed_header_at(others->data, others->size, there, &o) || o.offset != h.offset ||
            o.size != h.size || o.stored != h.stored || o.codec != h.codec)
            continue;
        if (places++ % 40 != 20)
            continue;
        tansu_buffer changed = TANSU_BUFFER_INIT;
        changed.data = malloc(mine->size);
        REQUIRE(changed.data != NULL);
        changed.size = mine->size;
        memcpy(changed.data, mine->data, mine->size);
        memcpy(changed.data + at, others->data + there, (size_t)sealed_size(h.stored));
        check_segment_as(victim, number, &changed, "a block");
        free(changed.data);
    }
    return places;
}

static void check_segments(enum state state) {
    int places = 0, segments = 0;
    for (int v = 0; v < 2; v++)
        for (int number = 1; number < 10; number++) {
            tansu_buffer mine = TANSU_BUFFER_INIT, others = TANSU_BUFFER_INIT;
            if (segment_of(sides[v].at, number, &mine) &&
                segment_of(sides[1 - v].at, number, &others)) {
                check_segment_as(&sides[v], number, &others, "all");
                places += check_blocks(&sides[v], number, &mine, &others);
                segments++;
            }
            tansu_buffer_free(&mine);
            tansu_buffer_free(&others);
        }
    CHECK(segments >= 2);
    CHECK(places > 100 || state == COMPACTED);
}

/* ---- Restored databases ---- */

static void check_all(tansu_backup_form form, bool opened, const tansu_key *key) {
    for (int state = 0; state < STATES; state++) {
        begin(form, opened, key, (enum state)state);
        check_files((enum state)state, key == NULL);
        check_segments((enum state)state);
        folder_end(folder);
    }
}

static void restored_from_a_file(void) {
    check_all(TANSU_BACKUP_FILE, false, NULL);
}

static void restored_from_a_folder(void) {
    check_all(TANSU_BACKUP_FOLDER, false, NULL);
}

static void restored_with_another_key(void) {
    check_all(TANSU_BACKUP_FILE, false, &other);
    check_all(TANSU_BACKUP_FOLDER, false, &other);
}

/* ---- Folder backups that are opened ---- */

static void opened_folder(void) {
    check_all(TANSU_BACKUP_FOLDER, true, NULL);
    check_all(TANSU_BACKUP_FOLDER, true, &other);
}

/* keys_of -- the text of a file KEY, without its checksum; valid until the next call but one. */
static const char *keys_of(const char *at) {
    static tansu_buffer texts[2];
    static int which;
    tansu_buffer *text = &texts[which = !which];
    file_read(folder_join(at, "KEY"), text);
    return (const char *)text->data;
}

/* Copies of copies, with changes of the key in between, and what is restored of each. */
static void copies_of_copies(void) {
    folder = folder_new();
    const char *at = path_in(folder, "0"), *restored = path_in(folder, "restored");
    const char *file = path_in(folder, "file");
    const tansu_key *key = &own;
    tansu_options options = options_of(at, &own);
    call_close(call_open_with(&options));
    for (int i = 0; i < 8; i++) {
        char name[12];
        options = options_of(at, key);
        options.must_exist = 1;
        tansu_db *db = call_open_with(&options);
        save_round(db, i * 100);
        if (i == 3) {
            key = &other;
            CHECK_OK(tansu_rekey(db, key, &call_error), &call_error);
        } else if (i == 5) {
            key = &own;
            CHECK_OK(tansu_rekey_everything(db, key, NULL, NULL, &call_error), &call_error);
        }
        CHECK((strstr(keys_of(at), "\ncopy ") != NULL) == (i != 0 && i != 3 && i != 5));
        snprintf(name, sizeof name, "%d", i + 1);
        const char *to = path_in(folder, name);
        CHECK_OK(backup(db, to, TANSU_BACKUP_FOLDER), &call_error);
        CHECK_OK(backup(db, file, TANSU_BACKUP_FILE), &call_error);
        call_close(db);
        const char *mine = strstr(keys_of(at), "\ncopy "), *others = strstr(keys_of(to), "\ncopy ");
        CHECK(others != NULL && (mine == NULL || strncmp(mine, others, 30) != 0));
        const side expected = {to, key, i * 100 - DOCUMENTS * (ROUNDS - 1)};
        for (int f = 0; f < 2; f++) {
            CHECK_OK(tansu_restore_encrypted(f == 0 ? to : file, restored, key, NULL, NULL, NULL,
                                             &call_error),
                     &call_error);
            CHECK(strstr(keys_of(restored), "\ncopy ") == NULL);
            CHECK(examine(restored, &expected, false) == NEWEST);
            folder_remove(restored);
        }
        unlink(file);
        at = to;
    }
    /* Without its line the file KEY opens nothing of the copy. */
    tansu_buffer text = TANSU_BUFFER_INIT;
    file_read(folder_join(at, "KEY"), &text);
    char *line = strstr((char *)text.data, "\ncopy ");
    REQUIRE(line != NULL);
    line[8] = line[8] == '0' ? '1' : '0';
    *strstr(line, "\ncrc ") = 0;
    size_t size = strlen((char *)text.data) + 1;
    text.data[size - 1] = '\n';
    size += (size_t)sprintf((char *)text.data + size, "crc %08x\n", checksum(0, text.data, size));
    file_write(folder_join(at, "KEY"), text.data, size);
    options = options_of(at, key);
    tansu_db *db = NULL;
    CHECK_STATUS(TANSU_E_CORRUPT, tansu_open(&options, &db, &call_error));
    CHECK_STATUS(TANSU_E_CORRUPT,
                 tansu_restore_encrypted(at, restored, key, NULL, NULL, NULL, &call_error));
    tansu_buffer_free(&text);
    folder_end(folder);
}

/* ---- What a restore keeps ---- */

/* Folders that went on, with blocks of single commits, tables, and compressed blocks. */
static void folders_are_restored_whole(void) {
    for (int state = 0; state < STATES; state++) {
        begin(TANSU_BACKUP_FOLDER, false, &other, (enum state)state);
        const char *to = path_in(folder, "to");
        for (int i = 0; i < 2; i++) {
            CHECK_OK(tansu_restore_encrypted(sides[i].at, to, sides[i].key, NULL, NULL, NULL,
                                             &call_error),
                     &call_error);
            CHECK(examine(to, &sides[i], true) == NEWEST);
            CHECK(examine(to, &sides[i], false) == NEWEST);
            folder_remove(to);
        }
        folder_end(folder);
    }
}

/* A commit that is damaged, with later ones that say that it was on the disk. */
static void a_folder_with_a_damaged_commit_is_refused(void) {
    begin(TANSU_BACKUP_FOLDER, false, NULL, CLOSED);
    tansu_options options = options_of(sides[0].at, &own);
    tansu_db *db = call_open_with(&options);
    const char *killed = path_in(folder, "killed"), *to = path_in(folder, "to");
    for (int i = 0; i < 4; i++) {
        CHECK_OK(call_save(db, NULL, "d", TANSU_SAVE, "{'_id': 1, 'text': 'plum blossom'}"),
                 &call_error);
        CHECK_OK(tansu_sync(db, &call_error), &call_error);
    }
    folder_copy(sides[0].at, killed);
    call_close(db);
    /* The first of the new blocks, after which others are valid. */
    bool damaged = false;
    for (int number = 9; number > 0 && !damaged; number--) {
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        sealed_header h;
        uint64_t at = SEALED_BLOCKS, blocks[4] = {0};
        if (!segment_of(killed, number, &bytes))
            continue;
        for (; sealed_header_at(bytes.data, bytes.size, at, &h); at += sealed_size(h.stored)) {
            memmove(blocks, blocks + 1, sizeof blocks - sizeof *blocks);
            blocks[3] = at;
        }
        tansu_buffer_free(&bytes);
        char name[32];
        snprintf(name, sizeof name, "log/%08d.seg", number);
        REQUIRE(blocks[0] != 0);
        file_flip(folder_join(killed, name), blocks[0] + SEALED_HEADER_SIZE, 1);
        damaged = true;
    }
    CHECK_STATUS(TANSU_E_CORRUPT,
                 tansu_restore_encrypted(killed, to, &own, NULL, NULL, NULL, &call_error));
    CHECK(nothing_at(to));
    folder_end(folder);
}

static void the_iterations_stay(void) {
    folder = folder_new();
    const char *at = path_in(folder, "db"), *to = path_in(folder, "to");
    const char *restored = path_in(folder, "restored");
    const tansu_key words = {.bytes = "correct horse", .size = 13, .kind = TANSU_KEY_PASSPHRASE};
    tansu_options options = options_of(at, &words);
    options.key_iterations = 256007;
    tansu_db *db = call_open_with(&options);
    for (int f = 0; f < 2; f++) {
        tansu_buffer before = TANSU_BUFFER_INIT, after = TANSU_BUFFER_INIT;
        CHECK_OK(backup(db, to, backup_forms[f]), &call_error);
        CHECK_OK(tansu_restore_encrypted(to, restored, &words, NULL, NULL, NULL, &call_error),
                 &call_error);
        file_read(folder_join(at, "KEY"), &before);
        file_read(folder_join(restored, "KEY"), &after);
        CHECK(strstr((const char *)after.data, "\nkdf pbkdf2-hmac-sha512 256007\n") != NULL);
        const char *mine = strstr((const char *)before.data, "\nkey 1 "),
                   *others = strstr((const char *)after.data, "\nkey 1 ");
        REQUIRE(mine != NULL && others != NULL);
        CHECK(strncmp(mine, others, 100) != 0);
        tansu_buffer_free(&before);
        tansu_buffer_free(&after);
        folder_remove(restored);
        remove_at(to);
    }
    call_close(db);
    folder_end(folder);
}

int main(void) {
    if (!crypt_available()) {
        check_skip("the engine has no libcrypto");
        CHECK(true);
        return check_finish();
    }
    RUN(restored_from_a_file);
    RUN(restored_from_a_folder);
    RUN(restored_with_another_key);
    RUN(opened_folder);
    RUN(copies_of_copies);
    RUN(folders_are_restored_whole);
    RUN(a_folder_with_a_damaged_commit_is_refused);
    RUN(the_iterations_stay);
    return check_finish();
}
