/*
 * index/cabinet.c -- the Tokyo Cabinet file of index blocks (see cabinet.h).
 *
 * What Tokyo Cabinet 1.4.48 does by itself, and what is done about it here:
 *
 *  - It maps the file's beginning (64 MiB by default) and makes the file longer by ftruncate(), so
 *    that a store into the map raises SIGBUS when the disk is full, and so does following a damaged
 *    offset. With tchdbsetxmsiz(0) only head and buckets are mapped, which it wrote when it made
 *    the file; all else goes through pread() and pwrite().
 *  - It takes a pwrite() that failed for one that succeeded (an int is compared with a size_t):
 *    room in the file is allocated ahead, and each record is read back before the commit.
 *  - A transaction first saves what it overwrites in `path`.wal. When that write fails for a
 *    bucket, it is not told, and a rollback would then lose records: room for the .wal is reserved
 *    ahead.
 *  - Killed while it writes to the .wal, it leaves half an item at the end. At the next opening it
 *    then restores the file, but goes on with the head that it read before. Half an item is cut off
 *    before it sees it: what belongs to it was not overwritten yet.
 *  - After any failed call the handle refuses all transactions: it is closed and opened again.
 *  - A handle with a mutex calls sched_yield() in every operation, which on a busy machine gives a whole
 *    time slice away: it gets none, and all calls are made with our own lock held.
 *  - Fields of the head are believed: they are compared with the only values that we ever write.
 *    They and the .wal are in the byte order that Tokyo Cabinet was built for: Debian's is
 *    big-endian everywhere, others are the machine's.
 */
#include "index/cabinet.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <tchdb.h>
#include <unistd.h>
#include <zlib.h>

/* Buckets: 64 KiB of an empty file; records of a bucket form a search tree, so that even a million
 * blocks need few steps. Records lie at multiples of 64 bytes, 4096 free places are remembered. */
#define BUCKETS 8191
#define ALIGN_POWER 6
#define FREE_POWER 12

/* Fields of a Tokyo Cabinet file's head, and of its .wal: file size, then items of offset (8
 * bytes), size (4 bytes) and what lay there; the first item is the head. */
#define HEAD_SIZE 256
#define HEAD_TYPE 32
#define HEAD_FLAGS 33
#define HEAD_APOW 34
#define HEAD_FPOW 35
#define HEAD_OPTS 36
#define HEAD_BNUM 40
#define WAL_FIRST 8
#define WAL_ITEM 12

/* Room that is allocated in the file and reserved in the .wal at a time, and what an operation
 * may need in the .wal beside twice its record. */
#define FILE_STEP (256 * 1024)
#define WAL_STEP (1024 * 1024)
#define WAL_SMALL 8192

#define KEY_SIZE 9
#define CRC_SIZE 4

struct cabinet {
    char *path;
    char *wal_path;
    bool read_only;
    bool in_transaction;
    atomic_bool doubted; /* cabinet_doubt() */
    int file; /* for allocating room; stays open, for closing it would end Tokyo Cabinet's lock */
    int wal;  /* during a transaction, for reserving room */
    uint64_t file_room;   /* where the file's allocated room ends */
    uint64_t wal_room;    /* reserved and not yet used up */
    pthread_mutex_t lock; /* of the handle */
    TCHDB *hdb;
};

/* make_key -- kind and number as they are in the file; also the seed of the checksum. */
static void make_key(uint8_t key[KEY_SIZE], enum cabinet_kind kind, uint64_t number) {
    key[0] = (uint8_t)kind;
    store_u64(key + 1, number);
}

/* checksum -- CRC-32 of key and record. */
static uint32_t checksum(const uint8_t key[KEY_SIZE], const void *record, size_t size) {
    return (uint32_t)crc32_z(crc32_z(0, key, KEY_SIZE), record, size);
}

/* failed -- the status of a Tokyo Cabinet call that failed; `number` is errno after it. */
static tansu_status failed(const cabinet *cab, TCHDB *hdb, int number, const char *what,
                           tansu_error *error) {
    switch (tchdbecode(hdb)) {
    case TCENOFILE:
        return error_set(error, TANSU_E_NOT_FOUND, cab->path, "The index file does not exist.");
    case TCELOCK:
    case TCETHREAD:
        return error_set(error, TANSU_E_LOCKED, cab->path,
                         "The index file is open elsewhere; close it there first.");
    case TCEMETA:
    case TCERHEAD:
    case TCEREAD:
        return error_set(error, TANSU_E_CORRUPT, cab->path,
                         "The index file is damaged; close the database and open it again, and "
                         "the file is made anew.");
    case TCENOPERM: return error_errno(error, cab->path, what, EACCES);
    case TCEOPEN:
    case TCEWRITE:
    case TCETRUNC:
    case TCESYNC:
    case TCEMMAP:
    case TCESTAT:
    case TCESEEK: return error_errno(error, cab->path, what, number == 0 ? EIO : number);
    default:
        return error_set(error, TANSU_E_IO, cab->path, "The index file: could not %s (%s).", what,
                         tchdberrmsg(tchdbecode(hdb)));
    }
}

/* What the head of a file tells. */
typedef struct head_facts {
    bool unclean;    /* the file was not closed */
    bool big_endian; /* in which order its numbers are */
} head_facts;

/* check_head -- the file's head is one that we wrote. A file that is not there or empty is fine. */
static tansu_status check_head(const cabinet *cab, head_facts *facts, tansu_error *error) {
    *facts = (head_facts){false, false};
    int fd = open(cab->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? TANSU_OK : error_errno(error, cab->path, "open", errno);
    uint8_t head[HEAD_SIZE];
    ssize_t got = pread(fd, head, sizeof(head), 0);
    int number = errno;
    close(fd);
    if (got < 0)
        return error_errno(error, cab->path, "read", number);
    if (got == 0)
        return TANSU_OK;
    static const char magic[] = "ToKyO CaBiNeT\n";
    uint64_t buckets = got == sizeof(head) ? load_u64(head + HEAD_BNUM) : 0;
    facts->big_endian = got == sizeof(head) && load_be64(head + HEAD_BNUM) == BUCKETS;
    if (got != sizeof(head) || memcmp(head, magic, sizeof(magic) - 1) != 0 ||
        head[HEAD_TYPE] != 0 || head[HEAD_APOW] != ALIGN_POWER || head[HEAD_FPOW] != FREE_POWER ||
        head[HEAD_OPTS] != HDBTLARGE || (buckets != BUCKETS && !facts->big_endian))
        return error_set(error, TANSU_E_CORRUPT, cab->path,
                         "The index file's head is damaged; delete the index folder of the closed "
                         "database and it is made anew.");
    facts->unclean = (head[HEAD_FLAGS] & HDBFOPEN) != 0;
    return TANSU_OK;
}

/* wal_whole -- how many bytes of the .wal are whole items; 0 when not even the first is. */
static uint64_t wal_whole(int fd, uint64_t size, bool big_endian) {
    uint64_t end = WAL_FIRST, first_end = WAL_FIRST + WAL_ITEM + HEAD_SIZE;
    uint8_t item[WAL_ITEM];
    while (size - end >= WAL_ITEM && size >= first_end) {
        if (pread(fd, item, sizeof(item), (off_t)end) != (ssize_t)sizeof(item))
            break;
        uint64_t next = end + WAL_ITEM + (big_endian ? load_be32(item + 8) : load_u32(item + 8));
        if (next > size)
            break;
        end = next;
    }
    return end < first_end ? 0 : end;
}

/* wal_trim -- cuts off what a killed process left of an item. */
static tansu_status wal_trim(const cabinet *cab, bool big_endian, tansu_error *error) {
    int fd = open(cab->wal_path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? TANSU_OK : error_errno(error, cab->wal_path, "open", errno);
    struct stat info;
    tansu_status status = TANSU_OK;
    if (fstat(fd, &info) != 0) {
        status = error_errno(error, cab->wal_path, "examine", errno);
    } else {
        uint64_t size = (uint64_t)info.st_size;
        uint64_t whole = size < WAL_FIRST ? 0 : wal_whole(fd, size, big_endian);
        if (whole != size && ftruncate(fd, (off_t)whole) != 0)
            status = error_errno(error, cab->wal_path, "cut", errno);
    }
    close(fd);
    return status;
}

/* open_handle -- a new Tokyo Cabinet handle on the file. */
static tansu_status open_handle(cabinet *cab, bool create, tansu_error *error) {
    head_facts facts;
    tansu_status status = fs_check_file(&fs_system, cab->path, error);
    if (status == TANSU_OK)
        status = fs_check_file(&fs_system, cab->wal_path, error);
    if (status == TANSU_OK)
        status = check_head(cab, &facts, error);
    if (status != TANSU_OK)
        return status;
    if (facts.unclean && cab->read_only && access(cab->wal_path, F_OK) == 0)
        return error_set(error, TANSU_E_READ_ONLY, cab->path,
                         "The index file was not closed and must be opened for writing once.");
    if (!cab->read_only) {
        status = wal_trim(cab, facts.big_endian, error);
        if (status != TANSU_OK)
            return status;
    }
    TCHDB *hdb = tchdbnew();
    if (hdb == NULL)
        return error_memory(error);
    int mode = HDBOLCKNB | (cab->read_only ? HDBOREADER : HDBOWRITER);
    if (create && !cab->read_only)
        mode |= HDBOCREAT;
    bool opened =
        tchdbsetxmsiz(hdb, 0) && tchdbtune(hdb, BUCKETS, ALIGN_POWER, FREE_POWER, HDBTLARGE);
    if (opened) {
        errno = 0;
        opened = tchdbopen(hdb, cab->path, mode);
    }
    if (!opened) {
        status = failed(cab, hdb, errno, "open", error);
        tchdbdel(hdb);
        return status;
    }
    if (tchdbbnum(hdb) != BUCKETS) {
        tchdbdel(hdb);
        return error_set(error, TANSU_E_CORRUPT, cab->path,
                         "The index file was written by a Tokyo Cabinet for another byte order; "
                         "delete the index folder of the closed database and it is made anew.");
    }
    cab->hdb = hdb;
    return TANSU_OK;
}

/* cabinet_delete -- the end of a handle whose file is closed. */
static void cabinet_delete(cabinet *cab) {
    pthread_mutex_destroy(&cab->lock);
    if (cab->file >= 0)
        close(cab->file);
    free(cab->wal_path);
    free(cab->path);
    free(cab);
}

/* cabinet_open -- the path is kept for opening again. */
tansu_status cabinet_open(const char *path, bool create, bool read_only, cabinet **result,
                          tansu_error *error) {
    cabinet *cab = calloc(1, sizeof(*cab));
    if (cab == NULL)
        return error_memory(error);
    cab->read_only = read_only;
    cab->wal = cab->file = -1;
    int number = pthread_mutex_init(&cab->lock, NULL);
    if (number != 0) {
        free(cab);
        return error_errno(error, path, "make a lock", number);
    }
    size_t size = strlen(path) + sizeof(".wal");
    cab->path = malloc(size);
    cab->wal_path = malloc(size);
    tansu_status status;
    if (cab->path == NULL || cab->wal_path == NULL) {
        status = error_memory(error);
    } else {
        snprintf(cab->path, size, "%s", path);
        snprintf(cab->wal_path, size, "%s.wal", path);
        status = open_handle(cab, create, error);
    }
    if (status != TANSU_OK) {
        cabinet_delete(cab);
        return status;
    }
    *result = cab;
    return TANSU_OK;
}

/* close_handle -- also fine when opening again had failed. */
static tansu_status close_handle(cabinet *cab, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (cab->hdb != NULL) {
        errno = 0;
        if (!tchdbclose(cab->hdb))
            status = failed(cab, cab->hdb, errno, "close", error);
        tchdbdel(cab->hdb);
        cab->hdb = NULL;
    }
    return status;
}

/* cabinet_close -- an unfinished transaction is rolled back. */
tansu_status cabinet_close(cabinet *cab, tansu_error *error) {
    if (cab == NULL)
        return TANSU_OK;
    cabinet_abort(cab);
    tansu_status status = close_handle(cab, error);
    cabinet_delete(cab);
    return status;
}

/* open_again -- the way to a handle that works after a call failed; with the lock held. */
static tansu_status open_again(cabinet *cab, tansu_error *error) {
    close_handle(cab, NULL);
    return open_handle(cab, false, error);
}

/* not_open -- the handle could not be opened again after an error. */
static tansu_status not_open(const cabinet *cab, tansu_error *error) {
    return error_set(error, TANSU_E_IO, cab->path,
                     "The index file could not be opened again after an error; close the database "
                     "and open it again.");
}

/* cabinet_get -- the record comes in Tokyo Cabinet's own memory, which the buffer takes over. */
tansu_status cabinet_get(cabinet *cab, enum cabinet_kind kind, uint64_t number,
                         tansu_buffer *record, tansu_error *error) {
    uint8_t key[KEY_SIZE];
    make_key(key, kind, number);
    pthread_mutex_lock(&cab->lock);
    if (cab->hdb == NULL) {
        pthread_mutex_unlock(&cab->lock);
        return not_open(cab, error);
    }
    int size = 0;
    errno = 0;
    uint8_t *value = tchdbget(cab->hdb, key, KEY_SIZE, &size);
    tansu_status status = TANSU_OK;
    if (value == NULL && tchdbecode(cab->hdb) == TCENOREC)
        status =
            error_set(error, TANSU_E_NOT_FOUND, cab->path, "The index file has no record %c%llu.",
                      (int)kind, (unsigned long long)number);
    else if (value == NULL)
        status = failed(cab, cab->hdb, errno, "read", error);
    pthread_mutex_unlock(&cab->lock);
    if (status == TANSU_E_CORRUPT)
        cabinet_doubt(cab);
    if (status != TANSU_OK)
        return status;
    if (size < CRC_SIZE ||
        load_u32(value + size - CRC_SIZE) != checksum(key, value, (size_t)size - CRC_SIZE)) {
        free(value);
        cabinet_doubt(cab);
        return error_set(
            error, TANSU_E_CORRUPT, cab->path,
            "Record %c%llu of the index file is damaged; close the database and open it "
            "again, and the file is made anew.",
            (int)kind, (unsigned long long)number);
    }
    tansu_buffer_free(record);
    *record = (tansu_buffer){value, (size_t)size - CRC_SIZE, (size_t)size};
    return TANSU_OK;
}

/* wal_reserve -- makes the disk promise `bytes` behind the .wal's end. A file system that cannot
 * promise is taken as it is. */
static tansu_status wal_reserve(cabinet *cab, uint64_t bytes, tansu_error *error) {
    struct stat info;
    if (cab->wal < 0 || fstat(cab->wal, &info) != 0)
        return TANSU_OK;
#if defined(__APPLE__)
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (off_t)bytes, 0};
    int result = fcntl(cab->wal, F_PREALLOCATE, &store);
#elif defined(__linux__)
    int result = fallocate(cab->wal, FALLOC_FL_KEEP_SIZE, info.st_size, (off_t)bytes);
#else
    int result = 0;
#endif
    if (result != 0 && (errno == ENOSPC || errno == EDQUOT))
        return error_errno(error, cab->wal_path, "reserve room", errno);
    cab->wal_room = bytes;
    return TANSU_OK;
}

/* wal_need -- sees to it that the .wal can take what an operation saves there. */
static tansu_status wal_need(cabinet *cab, uint64_t bytes, tansu_error *error) {
    if (cab->wal_room < bytes) {
        tansu_status status = wal_reserve(cab, bytes > WAL_STEP ? bytes : WAL_STEP, error);
        if (status != TANSU_OK)
            return status;
    }
    cab->wal_room -= bytes < cab->wal_room ? bytes : cab->wal_room;
    return TANSU_OK;
}

/* file_need -- sees to it that a record of that size can be put at the file's end. */
static tansu_status file_need(cabinet *cab, uint64_t size, tansu_error *error) {
    uint64_t end = tchdbfsiz(cab->hdb), need = size + 4 * KEY_SIZE + (2u << ALIGN_POWER);
    if (end + need <= cab->file_room)
        return TANSU_OK;
    uint64_t step = need > FILE_STEP ? need : FILE_STEP;
    if (fs_system.allocate(cab->file, end, step) != 0)
        return error_errno(error, cab->path, "allocate room", errno);
    cab->file_room = end + step;
    return TANSU_OK;
}

/* transaction_ends -- forgets what it had reserved. */
static void transaction_ends(cabinet *cab) {
    if (cab->wal >= 0)
        close(cab->wal);
    cab->wal = -1;
    cab->wal_room = cab->file_room = 0;
    cab->in_transaction = false;
}

/* begin_handle -- a handle that an earlier error has spoilt is opened again, once. */
static tansu_status begin_handle(cabinet *cab, tansu_error *error) {
    if (cab->hdb != NULL && tchdbtranbegin(cab->hdb))
        return TANSU_OK;
    tansu_status status = open_again(cab, error);
    if (status != TANSU_OK)
        return status;
    errno = 0;
    return tchdbtranbegin(cab->hdb) ? TANSU_OK
                                    : failed(cab, cab->hdb, errno, "begin a checkpoint", error);
}

/* cabinet_begin -- from here on only the thread that writes the checkpoint changes the handle. */
tansu_status cabinet_begin(cabinet *cab, tansu_error *error) {
    if (cab->read_only)
        return error_set(error, TANSU_E_READ_ONLY, cab->path, "The index file is open read-only.");
    if (cab->in_transaction)
        return error_set(error, TANSU_E_MISUSE, cab->path,
                         "A checkpoint is being written already.");
    pthread_mutex_lock(&cab->lock);
    tansu_status status = begin_handle(cab, error);
    pthread_mutex_unlock(&cab->lock);
    if (status != TANSU_OK)
        return status;
    cab->in_transaction = true;
    cab->wal = open(cab->wal_path, O_WRONLY | O_CLOEXEC);
    if (cab->file < 0)
        cab->file = open(cab->path, O_RDWR | O_CLOEXEC);
    if (cab->wal < 0 || cab->file < 0) {
        int number = errno;
        cabinet_abort(cab);
        return error_errno(error, cab->path, "open", number);
    }
    return TANSU_OK;
}

/* written -- reads back what was put. */
static bool written(cabinet *cab, const uint8_t key[KEY_SIZE], const void *value, int size) {
    int stored_size = 0;
    void *stored = tchdbget(cab->hdb, key, KEY_SIZE, &stored_size);
    bool same = stored != NULL && stored_size == size && memcmp(stored, value, (size_t)size) == 0;
    free(stored);
    return same;
}

/* cabinet_put -- record and checksum as one value. */
tansu_status cabinet_put(cabinet *cab, enum cabinet_kind kind, uint64_t number, const void *record,
                         size_t size, tansu_error *error) {
    if (!cab->in_transaction)
        return error_set(error, TANSU_E_MISUSE, cab->path, "No checkpoint is being written.");
    if (size > INT_MAX / 4)
        return error_set(error, TANSU_E_TOO_LARGE, cab->path, "An index block is too large.");
    tansu_status status = file_need(cab, size, error);
    if (status == TANSU_OK)
        status = wal_need(cab, 2 * (uint64_t)size + WAL_SMALL, error);
    if (status != TANSU_OK)
        return status;
    uint8_t key[KEY_SIZE], crc[CRC_SIZE], usual[4096];
    make_key(key, kind, number);
    store_u32(crc, checksum(key, record, size));
    uint8_t *value = size + CRC_SIZE <= sizeof(usual) ? usual : malloc(size + CRC_SIZE);
    if (value == NULL)
        return error_memory(error);
    if (size > 0)
        memcpy(value, record, size);
    memcpy(value + size, crc, CRC_SIZE);
    pthread_mutex_lock(&cab->lock);
    errno = 0;
    if (!tchdbput(cab->hdb, key, KEY_SIZE, value, (int)(size + CRC_SIZE)))
        status = failed(cab, cab->hdb, errno, "write", error);
    else if (!written(cab, key, value, (int)(size + CRC_SIZE)))
        status = error_errno(error, cab->path, "write", errno == 0 ? EIO : errno);
    pthread_mutex_unlock(&cab->lock);
    if (value != usual)
        free(value);
    return status;
}

/* cabinet_remove -- the record's room is used again. */
tansu_status cabinet_remove(cabinet *cab, enum cabinet_kind kind, uint64_t number,
                            tansu_error *error) {
    if (!cab->in_transaction)
        return error_set(error, TANSU_E_MISUSE, cab->path, "No checkpoint is being written.");
    tansu_status status = wal_need(cab, WAL_SMALL, error);
    if (status != TANSU_OK)
        return status;
    uint8_t key[KEY_SIZE];
    make_key(key, kind, number);
    pthread_mutex_lock(&cab->lock);
    errno = 0;
    if (!tchdbout(cab->hdb, key, KEY_SIZE) && tchdbecode(cab->hdb) != TCENOREC)
        status = failed(cab, cab->hdb, errno, "remove a record", error);
    pthread_mutex_unlock(&cab->lock);
    return status;
}

/* cabinet_commit -- what counts is that the .wal is emptied. */
tansu_status cabinet_commit(cabinet *cab, tansu_error *error) {
    if (!cab->in_transaction)
        return error_set(error, TANSU_E_MISUSE, cab->path, "No checkpoint is being written.");
    tansu_status status = TANSU_OK;
    pthread_mutex_lock(&cab->lock);
    errno = 0;
    if (!tchdbtrancommit(cab->hdb))
        status = failed(cab, cab->hdb, errno, "end a checkpoint", error);
    pthread_mutex_unlock(&cab->lock);
    if (status == TANSU_OK)
        transaction_ends(cab);
    else
        cabinet_abort(cab);
    return status;
}

/* cabinet_abort -- the handle's list of free places is lost with it, so that it is opened again
 * anyway. */
void cabinet_abort(cabinet *cab) {
    if (!cab->in_transaction)
        return;
    pthread_mutex_lock(&cab->lock);
    tchdbtranabort(cab->hdb);
    transaction_ends(cab);
    open_again(cab, NULL);
    pthread_mutex_unlock(&cab->lock);
}

/* cabinet_sync -- readers wait: it is called when the database is being closed. */
tansu_status cabinet_sync(cabinet *cab, tansu_error *error) {
    if (cab->read_only)
        return TANSU_OK;
    pthread_mutex_lock(&cab->lock);
    tansu_status status = TANSU_OK;
    errno = 0;
    if (cab->hdb == NULL)
        status = not_open(cab, error);
    else if (!tchdbmemsync(cab->hdb, true))
        status = failed(cab, cab->hdb, errno, "sync", error);
    pthread_mutex_unlock(&cab->lock);
    return status;
}

/* ---- Shrinking ---- */

/* What a record takes beside key and value, about. */
#define RECORD_EXTRA 24

/* Free room that is not worth the work. */
#define WASTE_LEAST (1024 * 1024)

/* used_bytes -- about what all records take; 0 when they can't be counted. The lock is held. */
static uint64_t used_bytes(cabinet *cab) {
    uint64_t sum = 0, unit = (uint64_t)1 << ALIGN_POWER;
    if (!tchdbiterinit(cab->hdb))
        return 0;
    int size;
    for (void *key; (key = tchdbiternext(cab->hdb, &size)) != NULL; free(key)) {
        int value = tchdbvsiz(cab->hdb, key, size);
        if (value > 0)
            sum += ((uint64_t)value + KEY_SIZE + RECORD_EXTRA + unit - 1) / unit * unit;
    }
    return sum;
}

/* cabinet_wasteful -- looks at every record's head. */
bool cabinet_wasteful(cabinet *cab) {
    if (cab->read_only)
        return false;
    pthread_mutex_lock(&cab->lock);
    uint64_t size = cab->hdb == NULL ? 0 : tchdbfsiz(cab->hdb);
    uint64_t used = size > WASTE_LEAST ? used_bytes(cab) : size;
    pthread_mutex_unlock(&cab->lock);
    return used != 0 && size > used + WASTE_LEAST && size - used > size / 4;
}

/* copy_next -- one record to the other file; TANSU_DONE at the end. The lock is let go after each, for
 * readers; nobody else changes the file. */
static tansu_status copy_next(cabinet *cab, cabinet *to, tansu_error *error) {
    int key_size = 0, size = 0;
    pthread_mutex_lock(&cab->lock);
    errno = 0;
    uint8_t *key = cab->hdb == NULL ? NULL : tchdbiternext(cab->hdb, &key_size);
    uint8_t *value = key == NULL ? NULL : tchdbget(cab->hdb, key, key_size, &size);
    tansu_status status = TANSU_OK;
    if (cab->hdb == NULL)
        status = not_open(cab, error);
    else if (key == NULL && tchdbecode(cab->hdb) == TCENOREC)
        status = TANSU_DONE;
    else if (value == NULL)
        status = failed(cab, cab->hdb, errno, "read", error);
    else if (key_size != KEY_SIZE || size < CRC_SIZE ||
             load_u32(value + size - CRC_SIZE) != checksum(key, value, (size_t)size - CRC_SIZE)) {
        cabinet_doubt(cab);
        status = error_set(error, TANSU_E_CORRUPT, cab->path,
                           "A record of the index file is damaged; close the database and open it "
                           "again, and the file is made anew.");
    }
    pthread_mutex_unlock(&cab->lock);
    if (status == TANSU_OK)
        status = cabinet_put(to, (enum cabinet_kind)key[0], load_u64(key + 1), value,
                             (size_t)size - CRC_SIZE, error);
    free(key);
    free(value);
    return status;
}

/* copy_all -- every record, in one transaction. */
static tansu_status copy_all(cabinet *cab, cabinet *to, tansu_error *error) {
    tansu_status status = cabinet_begin(to, error);
    if (status != TANSU_OK)
        return status;
    pthread_mutex_lock(&cab->lock);
    if (cab->hdb == NULL || !tchdbiterinit(cab->hdb))
        status = not_open(cab, error);
    pthread_mutex_unlock(&cab->lock);
    while (status == TANSU_OK)
        status = copy_next(cab, to, error);
    if (status == TANSU_DONE)
        return cabinet_commit(to, error);
    cabinet_abort(to);
    return status;
}

/* take_over -- puts the new file in the old one's place and opens it. */
static tansu_status take_over(cabinet *cab, const char *path, tansu_error *error) {
    pthread_mutex_lock(&cab->lock);
    tansu_status status = close_handle(cab, error);
    if (status == TANSU_OK && rename(path, cab->path) != 0)
        status = error_errno(error, cab->path, "replace", errno);
    if (cab->file >= 0)
        close(cab->file);
    cab->file = -1;
    tansu_status opened = open_handle(cab, false, status == TANSU_OK ? error : NULL);
    pthread_mutex_unlock(&cab->lock);
    return status == TANSU_OK ? opened : status;
}

/* cabinet_shrink -- Tokyo Cabinet's own way would take a write that failed for one that succeeded. */
tansu_status cabinet_shrink(cabinet *cab, tansu_error *error) {
    size_t room = strlen(cab->path) + sizeof(".new.wal");
    char *path = malloc(room), *wal = malloc(room);
    tansu_status status = path == NULL || wal == NULL ? error_memory(error) : TANSU_OK;
    if (status == TANSU_OK) {
        snprintf(path, room, "%s.new", cab->path);
        snprintf(wal, room, "%s.new.wal", cab->path);
        unlink(path); /* of an earlier try that did not end */
        unlink(wal);
        cabinet *to;
        status = cabinet_open(path, true, false, &to, error);
        if (status == TANSU_OK) {
            status = copy_all(cab, to, error);
            tansu_status closed = cabinet_close(to, status == TANSU_OK ? error : NULL);
            status = status == TANSU_OK ? closed : status;
        }
        if (status == TANSU_OK)
            status = take_over(cab, path, error);
        if (status != TANSU_OK)
            unlink(path);
        unlink(wal);
    }
    free(path);
    free(wal);
    return status;
}

/* cabinet_doubt, cabinet_doubted -- seen by other threads sooner or later, which is enough. */
void cabinet_doubt(cabinet *cab) {
    atomic_store_explicit(&cab->doubted, true, memory_order_relaxed);
}
bool cabinet_doubted(const cabinet *cab) {
    return atomic_load_explicit(&cab->doubted, memory_order_relaxed);
}

/* cabinet_size -- 0 when the file is not open. */
uint64_t cabinet_size(cabinet *cab) {
    pthread_mutex_lock(&cab->lock);
    uint64_t size = cab->hdb == NULL ? 0 : tchdbfsiz(cab->hdb);
    pthread_mutex_unlock(&cab->lock);
    return size;
}
