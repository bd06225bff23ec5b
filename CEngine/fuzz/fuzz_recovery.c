/*
 * fuzz_recovery.c -- any corruption of a database's files: opening returns a status, and so do
 * reading, verification and repair.
 *
 * The input is a list of changes to the files of a small database, which was killed, closed, killed
 * after a compaction, or killed during a checkpoint. A change is a byte for the file and the kind
 * (overwrite, cut off, append, zero), then an offset and bytes. The first byte selects the
 * database, and whether the checksums of the log are recomputed after the changes (so that the
 * fuzzer gets past them), whether the block store exists, and whether the database is repaired,
 * too.
 */
#include "generate.h"

#include "index/block_store/block_store.h"
#include "log/format.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FILES 8
#define FILE_MOST (1u << 20)
#define BLOCK_STORE_FILE "index/blocks.tch"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How a database was left. */
enum { KILLED, CLOSED, COMPACTED, IN_CHECKPOINT, BASES };

/* A database that changes are made to. */
typedef struct base {
    unsigned files;
    char names[FILES][40];
    uint8_t *bytes[FILES];
    size_t sizes[FILES];
} base;

static base bases[BASES];
static char folder[256]; /* the fuzzer's own */

/* The changed files. */
static uint8_t *now[FILES];
static size_t now_sizes[FILES];

/* path_of -- of a file in the fuzzer's own folder. */
static const char *path_of(const char *database, const char *name) {
    static char texts[4][512];
    static unsigned next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], "%s/%s%s%s", folder, database, name[0] == 0 ? "" : "/", name);
    return text;
}

/* read_file -- at most FILE_MOST bytes. */
static size_t read_file(const char *path, uint8_t *bytes) {
    int fd = open(path, O_RDONLY);
    fuzz_require(fd >= 0, "a file of the base is missing");
    ssize_t n = read(fd, bytes, FILE_MOST);
    close(fd);
    return n < 0 ? 0 : (size_t)n;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    fuzz_require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "a file can't be written");
    close(fd);
}

/* remove_all -- a folder with what is in it. */
static void remove_all(const char *path) {
    DIR *names = opendir(path);
    if (names == NULL) {
        unlink(path);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(names)) != NULL) {
        char inner[1024];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        remove_all(inner);
    }
    closedir(names);
    rmdir(path);
}

/* remove_base -- at the program's end. */
static void remove_base(void) {
    remove_all(folder);
}

/* save_text -- a document as JSON. */
static void save_text(tansu_db *db, const char *collection, const char *json) {
    tansu_buffer bson = TANSU_BUFFER_INIT;
    fuzz_require(tansu_json_to_bson(json, SIZE_MAX, &bson, NULL) == TANSU_OK, "bad JSON");
    tansu_document d = {bson.data, bson.size};
    fuzz_require(tansu_save(db, NULL, collection, &d, 1, TANSU_SAVE, NULL, NULL) == TANSU_OK,
                 "the base can't be filled");
    tansu_buffer_free(&bson);
}

/* options_of -- how the changed database is opened. */
static tansu_options options_of(const char *database) {
    tansu_options options;
    tansu_options_init(&options);
    options.path = path_of(database, "");
    options.durability = TANSU_DURABILITY_PROCESS;
    options.segment_size = FILE_MOST;
    return options;
}

/* fill -- a few of everything that a log can hold, with a checkpoint in the middle. */
static void fill(tansu_db *db) {
    char text[128];
    tansu_buffer keys = TANSU_BUFFER_INIT;
    tansu_json_to_bson("{\"n\": 1, \"s\": -1}", SIZE_MAX, &keys, NULL);
    for (int i = 0; i < 24; i++) {
        snprintf(text, sizeof text,
                 "{\"_id\": %d, \"n\": %d, \"s\": \"text %d\", \"a\": [1, {\"b\": %d}]}", i % 18, i,
                 i, i);
        save_text(db, i % 5 == 0 ? "d" : "c", text);
        if (i == 6)
            tansu_index_create(db, NULL, "c", "ns", (tansu_document){keys.data, keys.size},
                               TANSU_NO_DOCUMENT, NULL, NULL, NULL);
        if (i == 12)
            tansu_checkpoint(db, NULL);
    }
    tansu_buffer_free(&keys);
    tansu_collection_rename(db, NULL, "d", "e", NULL);
    tansu_collection_ensure(db, NULL, "gone", TANSU_NO_DOCUMENT, NULL);
    tansu_collection_drop(db, NULL, "gone", NULL);
}

/* keep_file -- keeps one file of a database; zeros after the end of a log only make files longer.
 * */
static void keep_file(base *b, const char *name) {
    fuzz_require(b->files < FILES, "more files than expected");
    unsigned i = b->files++;
    snprintf(b->names[i], sizeof b->names[i], "%s", name);
    fuzz_require((b->bytes[i] = malloc(FILE_MOST)) != NULL, "no memory");
    b->sizes[i] = read_file(path_of("base", name), b->bytes[i]);
    if (strncmp(name, "log/", 4) != 0)
        return;
    size_t *end = &b->sizes[i];
    while (*end > 8 && b->bytes[i][*end - 1] == 0)
        (*end)--;
    *end = (*end + 7) / 8 * 8 + 64;
}

/* keep -- the files as they are now. */
static void keep(base *b) {
    keep_file(b, "MANIFEST");
    keep_file(b, BLOCK_STORE_FILE);
    static const char *const journals[] = {BLOCK_STORE_FILE ".redo.0", BLOCK_STORE_FILE ".redo.1"};
    for (size_t i = 0; i < 2; i++)
        if (access(path_of("base", journals[i]), F_OK) == 0)
            keep_file(b, journals[i]);
    DIR *names = opendir(path_of("base", "log"));
    fuzz_require(names != NULL, "the base has no log");
    struct dirent *entry;
    while ((entry = readdir(names)) != NULL) {
        char name[32];
        snprintf(name, sizeof name, "log/%.20s", entry->d_name);
        if (entry->d_name[0] != '.')
            keep_file(b, name);
    }
    closedir(names);
}

/* keep_in_checkpoint -- with a block store whose transaction has not ended. The database is closed.
 * */
static void keep_in_checkpoint(base *b) {
    block_store *bs;
    tansu_buffer meta = TANSU_BUFFER_INIT;
    fuzz_require(block_store_open(&fs_system, path_of("base", BLOCK_STORE_FILE), 0, NULL, &bs,
                                  NULL) == TANSU_OK &&
                     block_store_begin(bs, NULL) == TANSU_OK &&
                     block_store_get(bs, BLOCK_STORE_META, 0, &meta, NULL) == TANSU_OK,
                 "the block store can't be changed");
    for (uint64_t i = 1; i < 8; i++)
        if (i % 2 == 0)
            block_store_remove(bs, BLOCK_STORE_BLOCK, i, NULL);
        else
            block_store_put(bs, BLOCK_STORE_BLOCK, i, meta.data, meta.size, NULL);
    keep(b);
    block_store_abort(bs);
    block_store_close(bs, NULL);
    tansu_buffer_free(&meta);
}

/* make_bases -- one database, as it is left at several times. */
static void make_bases(void) {
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/tansu-fuzz-XXXXXX",
             where == NULL || where[0] == 0 ? "/tmp" : where);
    fuzz_require(mkdtemp(folder) != NULL, "no folder for temporary files");
    atexit(remove_base);
    tansu_db *db;
    tansu_options options = options_of("base");
    fuzz_require(tansu_open(&options, &db, NULL) == TANSU_OK, "the base can't be made");
    fill(db);
    keep(&bases[KILLED]);
    fuzz_close(db);
    keep(&bases[CLOSED]);
    keep_in_checkpoint(&bases[IN_CHECKPOINT]);
    options = options_of("base"); /* its path lives in memory that is used again */
    fuzz_require(tansu_open(&options, &db, NULL) == TANSU_OK, "the base can't be opened again");
    tansu_compact(db, NULL, NULL, NULL, NULL);
    save_text(db, "c", "{\"_id\": 3, \"n\": 77}");
    keep(&bases[COMPACTED]);
    fuzz_close(db);
    for (int i = 0; i < FILES; i++)
        fuzz_require((now[i] = malloc(2 * FILE_MOST)) != NULL, "no memory");
    mkdir(path_of("fuzzed", ""), 0755);
    mkdir(path_of("fuzzed", "index"), 0755);
}

/* take -- a number of a few bytes. */
static uint32_t take(fuzz_bytes *bytes, unsigned count) {
    uint32_t value = 0;
    for (unsigned i = 0; i < count && bytes->size > 0; i++, bytes->data++, bytes->size--)
        value |= (uint32_t)*bytes->data << (8 * i);
    return value;
}

/* change -- one change of one file: the MANIFEST, the block store, or one of the others. */
static void change(const base *b, fuzz_bytes *bytes) {
    uint32_t kind = take(bytes, 1);
    unsigned file = kind % 8 < 6 ? 2 + kind % 8 % (b->files - 2) : kind % 8 - 6;
    size_t *size = &now_sizes[file];
    size_t at = *size == 0 ? 0 : take(bytes, file == 0 ? 1 : 2) % (*size + 1);
    /* The records of the block store lie after its buckets. */
    if (file == 1 && (kind & 64) != 0 && at + 0x10000 < *size)
        at += 0x10000;
    size_t count = take(bytes, 1) % 33;
    switch (kind / 8 % 8) {
    case 6: *size = at; break;
    case 7:
        count *= 64;
        at = *size;
        if (at + count > FILE_MOST)
            return;
        memset(now[file] + at, 0, count);
        *size += count;
        break;
    case 5:
        if (count * 16 <= *size - at)
            memset(now[file] + at, 0, count * 16);
        break;
    default:
        for (size_t i = 0; i < count && at + i < *size; i++)
            now[file][at + i] = (uint8_t)take(bytes, 1);
    }
}

/* mend_log -- right checksums for the segment's header and every frame that can be reached. */
static void mend_log(uint8_t *log, size_t size) {
    if (size < SEGMENT_HEADER_SIZE)
        return;
    segment_header header;
    memcpy(&header, log, sizeof header);
    header.crc = 0;
    header.crc = (uint32_t)crc32(0, (const Bytef *)&header, sizeof header);
    memcpy(log, &header, sizeof header);
    uint32_t seed = (uint32_t)crc32(0, header.uuid, sizeof header.uuid);
    for (size_t at = SEGMENT_HEADER_SIZE; at + FRAME_HEADER_SIZE <= size;) {
        uint32_t frame = load_u32(log + at + 8);
        if (load_u32(log + at) != FRAME_MAGIC || frame < FRAME_HEADER_SIZE || frame > size - at)
            break;
        store_u32(log + at + 4, (uint32_t)crc32(seed, log + at + 8, frame - 8));
        at += frame;
    }
}

/* use -- everything that may be done with an open database. */
static void use(tansu_db *db) {
    tansu_buffer result = TANSU_BUFFER_INIT;
    tansu_cursor *cursor;
    tansu_document document;
    static const char *const names[] = {"c", "d", "e"};
    for (int i = 0; i < 3; i++) {
        if (tansu_find(db, NULL, names[i], TANSU_NO_DOCUMENT, TANSU_NO_DOCUMENT, &cursor, NULL) !=
            TANSU_OK)
            continue;
        while (tansu_cursor_next(cursor, &document, NULL) == TANSU_OK)
            tansu_bson_to_json(document, 1, &result, NULL);
        tansu_cursor_close(cursor);
    }
    bson_t *query =
        BCON_NEW("n", "{", "$gte", BCON_INT32(3), "}", "a.b", "{", "$lt", BCON_INT32(20), "}");
    bson_t *update = BCON_NEW("$inc", "{", "n", BCON_INT32(1), "}");
    tansu_update(db, NULL, "c", fuzz_of(query), fuzz_of(update), TANSU_NO_DOCUMENT, NULL, NULL);
    tansu_remove(db, NULL, "e", fuzz_of(query), TANSU_NO_DOCUMENT, NULL, NULL);
    bson_destroy(query);
    bson_destroy(update);
    tansu_verify(db, NULL, NULL, &result, NULL);
    tansu_compact(db, NULL, NULL, &result, NULL);
    tansu_buffer_free(&result);
    tansu_close(db);
}

/* write_files -- the changed files, as they are to be found. */
static void write_files(const base *b, bool with_block_store) {
    remove_all(path_of("fuzzed", "log"));
    remove_all(path_of("fuzzed", "index"));
    mkdir(path_of("fuzzed", "log"), 0755);
    mkdir(path_of("fuzzed", "index"), 0755);
    for (unsigned i = 0; i < b->files; i++)
        if (with_block_store || strncmp(b->names[i], "index/", 6) != 0)
            write_file(path_of("fuzzed", b->names[i]), now[i], now_sizes[i]);
}

/* salvage -- what is salvaged opens, and nothing is wrong with it. */
static void salvage(void) {
    tansu_buffer report = TANSU_BUFFER_INIT;
    tansu_db *saved;
    if (tansu_repair(path_of("fuzzed", ""), path_of("saved", ""), NULL, NULL, &report, NULL) ==
        TANSU_OK) {
        tansu_options options = options_of("saved");
        fuzz_require(tansu_open(&options, &saved, NULL) == TANSU_OK,
                     "what was salvaged does not open");
        fuzz_require(tansu_verify(saved, NULL, NULL, &report, NULL) == TANSU_OK,
                     "what was salvaged is damaged");
        fuzz_close(saved);
    }
    tansu_buffer_free(&report);
    remove_all(path_of("saved", ""));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (folder[0] == 0)
        make_bases();
    fuzz_bytes bytes = {data, size};
    unsigned how = take(&bytes, 1);
    const base *b = &bases[how / 16 % BASES];
    for (unsigned i = 0; i < b->files; i++) {
        memcpy(now[i], b->bytes[i], b->sizes[i]);
        now_sizes[i] = b->sizes[i];
    }
    while (bytes.size > 0)
        change(b, &bytes);
    for (unsigned i = 0; i < b->files; i++)
        if ((how & 1) != 0 && strncmp(b->names[i], "log/", 4) == 0)
            mend_log(now[i], now_sizes[i]);
    write_files(b, (how & 2) == 0);
    if ((how & 4) != 0)
        salvage();
    tansu_options options = options_of("fuzzed");
    options.read_only = (how & 8) != 0;
    tansu_error error;
    tansu_db *db;
    if (tansu_open(&options, &db, &error) == TANSU_OK)
        use(db);
    else
        fuzz_require(error.message[0] != 0, "an error says nothing");
    return 0;
}
