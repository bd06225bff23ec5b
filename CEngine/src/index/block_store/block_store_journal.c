/*
 * index/block_store/block_store_journal.c -- the block store's two redo journals, `path`.redo.0 and
 * .1, used alternately.
 *
 * A journal is one commit: the fields of the head, the changed words, and all free extents.
 * Little-endian; the CRC-32 covers everything, with itself as zero:
 *
 *   0   8  "TANSURD\1"      24  8  records            48  8  free extents
 *   8   8  session          32  8  end of the file    56  4  CRC-32
 *   16  8  commit           40  8  words              60  4  zero
 *   64     words: offset, value (the offset of a record); then extents: offset, size; 8 bytes each
 *
 * While one is overwritten, the other still contains the previous commit, whose words are on the
 * disk by then.
 */
#include "index/block_store/block_store_internal.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define JOURNAL_HEAD 64u
#define JOURNAL_CRC 56
/* The largest that is believed: more than an index of any size needs. */
#define JOURNAL_MOST ((uint64_t)1 << 32)

/* Words of buckets that lie so near to each other are written together. */
#define NEAR 4096u

static const char magic[] = "TANSURD\1";

/* ---- Files ---- */

tansu_status journal_open(block_store *bs, tansu_error *error) {
    for (int i = 0; i < 2; i++) {
        if (bs->journal_fd[i] >= 0)
            continue;
        bs->journal_fd[i] =
            bs->calls->open(bs->calls, bs->journal_path[i], O_RDWR | O_CREAT, FS_MODE);
        if (bs->journal_fd[i] < 0)
            return error_errno(error, bs->journal_path[i], "open", errno);
    }
    return TANSU_OK;
}

void journal_end(block_store *bs, bool remove) {
    for (int i = 0; i < 2; i++) {
        if (bs->journal_fd[i] >= 0)
            (void)bs->calls->close(bs->journal_fd[i]); /* nothing in it counts any more */
        bs->journal_fd[i] = -1;
        if (remove) /* one that stays is of no session, and is passed over */
            (void)bs->calls->unlink(bs->calls, bs->journal_path[i]);
    }
}

/* ---- Writing ---- */

/* journal_of -- the bytes of a journal. False when memory is exhausted. */
static bool journal_of(const block_store *bs, const block_store_words *words,
                       const block_store_extents *free_, uint64_t commit, uint64_t records,
                       uint64_t size, tansu_buffer *bytes) {
    uint64_t *sorted = words_sorted(words);
    size_t all = JOURNAL_HEAD + 16 * (words->count + free_->count);
    bytes->size = 0;
    if (sorted == NULL || !buffer_reserve(bytes, all)) {
        free(sorted);
        return false;
    }
    uint8_t *head = bytes->data, *at = head + JOURNAL_HEAD;
    memset(head, 0, JOURNAL_HEAD);
    memcpy(head, magic, sizeof magic - 1);
    store_u64(head + 8, bs->session);
    store_u64(head + 16, commit);
    store_u64(head + 24, records);
    store_u64(head + 32, size);
    store_u64(head + 40, words->count);
    store_u64(head + 48, free_->count);
    for (size_t i = 0; i < 2 * words->count; i++, at += 8)
        store_u64(at, sorted[i]);
    for (size_t i = 0; i < free_->count; i++, at += 16) {
        store_u64(at, free_->items[i].offset);
        store_u64(at + 8, free_->items[i].size);
    }
    free(sorted);
    bytes->size = all;
    store_u32(head + JOURNAL_CRC, checksum(0, head, all));
    return true;
}

tansu_status journal_invalidate(block_store *bs, tansu_error *error) {
    static const uint8_t nothing[JOURNAL_HEAD];
    unsigned which = (bs->commit + 1) % 2;
    if (fs_write_all(bs->calls, bs->journal_fd[which], nothing, sizeof nothing, 0) != 0 ||
        bs->calls->sync(bs->journal_fd[which], NULL, 0) != 0)
        return error_errno(error, bs->journal_path[which], "write", errno == 0 ? EIO : errno);
    bs->commit_unknown = false;
    return TANSU_OK;
}

/* put_journal -- writes it to the disk; what remains of a failed attempt is made unreadable, and if
 * even that fails, it is not known whether the transaction is committed. */
static tansu_status put_journal(block_store *bs, uint64_t commit, const tansu_buffer *bytes,
                                tansu_error *error) {
    unsigned which = commit % 2;
    int fd = bs->journal_fd[which];
    const char *what = "write";
    int failed = fs_write_all(bs->calls, fd, bytes->data, bytes->size, 0);
    if (failed == 0) {
        what = "sync";
        failed = bs->calls->sync(fd, NULL, 0);
    }
    if (failed == 0)
        return TANSU_OK;
    tansu_status status =
        error_errno(error, bs->journal_path[which], what, errno == 0 ? EIO : errno);
    bs->commit_unknown = true;
    (void)journal_invalidate(bs, NULL); /* the next transaction tries once more */
    return status;
}

tansu_status journal_write(block_store *bs, const block_store_words *words,
                           const block_store_extents *free_, uint64_t commit, uint64_t records,
                           uint64_t size, tansu_error *error) {
    if (bs->passing)
        return TANSU_OK;
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    tansu_status status = journal_of(bs, words, free_, commit, records, size, &bytes)
                              ? put_journal(bs, commit, &bytes, error)
                              : error_memory(error);
    tansu_buffer_free(&bytes);
    return status;
}

/* ---- Reading ---- */

/* read_journal -- a journal's bytes; empty when it is none of this session. Errors: IO, MEMORY. */
static tansu_status read_journal(block_store *bs, unsigned which, tansu_buffer *bytes,
                                 tansu_error *error) {
    tansu_status status =
        fs_read_file(bs->calls, bs->journal_path[which], JOURNAL_MOST, bytes, error);
    if (status == TANSU_E_NOT_FOUND || status == TANSU_E_TOO_LARGE) {
        bytes->size = 0;
        return TANSU_OK;
    }
    if (status != TANSU_OK)
        return status;
    const uint8_t *head = bytes->data;
    bool right = bytes->size >= JOURNAL_HEAD && memcmp(head, magic, sizeof magic - 1) == 0 &&
                 load_u64(head + 8) == bs->session && load_u64(head + 16) % 2 == which;
    if (right) {
        uint64_t most = (bytes->size - JOURNAL_HEAD) / 16;
        uint64_t words = load_u64(head + 40), extents = load_u64(head + 48);
        right = words <= most && extents <= most - words;
        /* The file may be longer: an earlier journal had more to say. */
        bytes->size = right ? JOURNAL_HEAD + 16 * (size_t)(words + extents) : 0;
    }
    if (right) {
        uint32_t crc = load_u32(head + JOURNAL_CRC);
        store_u32(bytes->data + JOURNAL_CRC, 0);
        right = crc == checksum(0, bytes->data, bytes->size);
        store_u32(bytes->data + JOURNAL_CRC, crc);
    }
    if (!right)
        bytes->size = 0;
    return TANSU_OK;
}

/* word_right -- whether a word may lie there, and lead there. */
static bool word_right(const block_store *bs, uint64_t offset, uint64_t value, uint64_t end) {
    uint64_t buckets_end = BLOCK_STORE_HEAD + 8 * bs->bucket_count;
    bool bucket = offset >= BLOCK_STORE_HEAD && offset < buckets_end && offset % 8 == 0;
    bool inside = offset >= bs->first && offset < end &&
                  (offset % BLOCK_STORE_ALIGN == BLOCK_STORE_LEFT ||
                   offset % BLOCK_STORE_ALIGN == BLOCK_STORE_RIGHT);
    return (bucket || inside) && value < end && value % BLOCK_STORE_ALIGN == 0;
}

/* take_words -- a journal's words into `pending`. Errors: CORRUPT, MEMORY. */
static tansu_status take_words(block_store *bs, const tansu_buffer *bytes, tansu_error *error) {
    uint64_t count = load_u64(bytes->data + 40), end = load_u64(bytes->data + 32);
    const uint8_t *at = bytes->data + JOURNAL_HEAD;
    if (!words_reserve(&bs->pending, (size_t)count))
        return error_memory(error);
    for (uint64_t i = 0; i < count; i++, at += 16) {
        uint64_t offset = load_u64(at), value = load_u64(at + 8);
        /* A word of a record that was at the file's end and is no more leads nowhere. */
        if (offset >= end)
            continue;
        if (!word_right(bs, offset, value, end))
            return block_store_damaged(bs, offset, error);
        if (!words_set(&bs->pending, offset, value))
            return error_memory(error);
    }
    return TANSU_OK;
}

/* take_journal -- the whole commit. Errors: CORRUPT, MEMORY. */
static tansu_status take_journal(block_store *bs, const tansu_buffer *bytes, uint64_t file_size,
                                 tansu_error *error) {
    uint64_t end = load_u64(bytes->data + 32);
    uint64_t records = load_u64(bytes->data + 24);
    if (end < bs->first || end % BLOCK_STORE_ALIGN != 0 || end > file_size ||
        records > block_store_room(bs->first, end))
        return block_store_damaged(bs, end, error);
    bs->size = end;
    bs->records = records;
    bs->commit = load_u64(bytes->data + 16);
    tansu_status status = take_words(bs, bytes, error);
    if (status != TANSU_OK)
        return status;
    for (size_t i = 0; i < bs->pending.capacity; i++) {
        uint64_t offset = bs->pending.pairs[2 * i];
        if (offset != 0 && offset < BLOCK_STORE_HEAD + 8 * bs->bucket_count)
            bs->buckets[(offset - BLOCK_STORE_HEAD) / 8] = bs->pending.pairs[2 * i + 1];
    }
    const uint8_t *at = bytes->data + JOURNAL_HEAD + 16 * load_u64(bytes->data + 40);
    uint64_t count = load_u64(bytes->data + 48), last = bs->first;
    for (uint64_t i = 0; i < count; i++, at += 16) {
        uint64_t offset = load_u64(at), size = load_u64(at + 8);
        if (offset < last || offset > end || size > end - offset)
            return block_store_damaged(bs, offset, error);
        last = offset + size;
        if (!extents_add(&bs->free, offset, size))
            return error_memory(error);
    }
    return TANSU_OK;
}

tansu_status journal_recover(block_store *bs, tansu_error *error) {
    tansu_buffer journals[2] = {TANSU_BUFFER_INIT, TANSU_BUFFER_INIT};
    uint64_t file_size = 0, commit[2] = {0, 0};
    tansu_status status = TANSU_OK;
    if (bs->calls->size(bs->fd, &file_size) != 0)
        status = error_errno(error, bs->path, "examine", errno);
    for (unsigned i = 0; status == TANSU_OK && i < 2; i++) {
        status = read_journal(bs, i, &journals[i], error);
        if (journals[i].size != 0)
            commit[i] = load_u64(journals[i].data + 16);
    }
    unsigned which = commit[1] > commit[0];
    if (status == TANSU_OK && commit[which] < bs->commit)
        status = block_store_damaged(bs, 0, error); /* the last commit's journal is lost */
    else if (status == TANSU_OK && commit[which] != 0)
        status = take_journal(bs, &journals[which], file_size, error);
    tansu_buffer_free(&journals[0]);
    tansu_buffer_free(&journals[1]);
    if (status != TANSU_OK)
        return status;
    bs->unsafe_journal = bs->commit != 0;
    return TANSU_OK;
}

tansu_status journal_reload(block_store *bs, tansu_error *error) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    tansu_status status = read_journal(bs, bs->commit % 2, &bytes, error);
    if (status == TANSU_OK && (bytes.size == 0 || load_u64(bytes.data + 16) != bs->commit))
        status = error_errno(error, bs->journal_path[bs->commit % 2], "read", EIO);
    pthread_rwlock_wrlock(&bs->gate);
    if (status == TANSU_OK)
        status = take_words(bs, &bytes, error);
    pthread_rwlock_unlock(&bs->gate);
    tansu_buffer_free(&bytes);
    return status;
}

/* sync_journal -- a journal that an ended process left may not have been synced: so that its words
 * can be written, it is written again. */
static tansu_status sync_journal(block_store *bs, tansu_error *error) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    tansu_status status = read_journal(bs, bs->commit % 2, &bytes, error);
    if (status == TANSU_OK && (bytes.size == 0 || load_u64(bytes.data + 16) != bs->commit))
        status = error_errno(error, bs->journal_path[bs->commit % 2], "read", EIO);
    int fd = bs->journal_fd[bs->commit % 2];
    if (status == TANSU_OK && (fs_write_all(bs->calls, fd, bytes.data, bytes.size, 0) != 0 ||
                               bs->calls->sync(fd, NULL, 0) != 0))
        status = error_errno(error, bs->journal_path[bs->commit % 2], "write", errno);
    tansu_buffer_free(&bytes);
    if (status == TANSU_OK)
        bs->unsafe_journal = false;
    return status;
}

/* ---- Step 4 ---- */

/* write_buckets -- the buckets from one word to another, as they are in memory. */
static int write_buckets(block_store *bs, uint64_t from, uint64_t to) {
    uint8_t bytes[NEAR + 8];
    for (uint64_t at = from; at <= to; at += 8)
        store_be64(bytes + (at - from),
                   bs->buckets[(at - BLOCK_STORE_HEAD) / 8] / BLOCK_STORE_ALIGN);
    return fs_write_all(bs->calls, bs->fd, bytes, (size_t)(to - from) + 8, from);
}

/* write_words -- all of them; -1 with errno. */
static int write_words(block_store *bs, const uint64_t *sorted, size_t count) {
    uint64_t buckets_end = BLOCK_STORE_HEAD + 8 * bs->bucket_count;
    for (size_t i = 0; i < count;) {
        uint64_t offset = sorted[2 * i];
        if (offset >= buckets_end) {
            uint8_t bytes[8];
            store_be64(bytes, sorted[2 * i + 1] / BLOCK_STORE_ALIGN);
            if (offset < bs->size && fs_write_all(bs->calls, bs->fd, bytes, 8, offset) != 0)
                return -1;
            i++;
            continue;
        }
        size_t last = i;
        while (last + 1 < count && sorted[2 * (last + 1)] < buckets_end &&
               sorted[2 * (last + 1)] - offset <= NEAR)
            last++;
        if (write_buckets(bs, offset, sorted[2 * last]) != 0)
            return -1;
        i = last + 1;
    }
    return 0;
}

tansu_status journal_apply(block_store *bs, tansu_error *error) {
    if (bs->unsafe_journal) {
        tansu_status status = sync_journal(bs, error);
        if (status != TANSU_OK)
            return status;
    }
    uint64_t *sorted = words_sorted(&bs->pending);
    if (sorted == NULL)
        return error_memory(error);
    int failed = write_words(bs, sorted, bs->pending.count);
    if (failed == 0)
        failed = block_store_head_commit(bs);
    int number = errno;
    free(sorted);
    if (failed != 0)
        return error_errno(error, bs->path, "write", number);
    pthread_rwlock_wrlock(&bs->gate);
    block_store_words done = bs->pending;
    bs->pending = (block_store_words){NULL, 0, 0};
    pthread_rwlock_unlock(&bs->gate);
    words_free(&done);
    return TANSU_OK;
}
