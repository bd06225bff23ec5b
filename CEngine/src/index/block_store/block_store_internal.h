/*
 * index/block_store/block_store_internal.h -- what the files of the block store share.
 *
 *   block_store_format.c    how head, buckets and records look in the file
 *   block_store_words.c     changed words, by where they lie
 *   block_store_space.c     free extents
 *   block_store_journal.c   the redo journals
 *   block_store_open.c      opening and closing
 *   block_store_copy.c      a private copy of a file that somebody else writes
 *   block_store_read.c      looking records up
 *   block_store.c           transactions
 *   block_store_shrink.c    rewriting the whole file
 *
 * How a transaction becomes durable, in order; each step's outcome is on the disk before the next
 * begins:
 *
 *   1. records go to extents that the last commit does not use, and are synced;
 *   2. all changes of words in place (buckets, left and right), and what is free afterwards, go to
 *      that one of the two journals that the last commit did not use, which is synced: the
 *      transaction is committed;
 *   3. readers see it: buckets are in memory, and other words are looked up in `pending` first;
 *   4. the words are written into the file. They are synced with step 1 of the next transaction;
 *      until then this journal is needed.
 *
 * A step that fails before 2 is complete has no effect. When 4 fails, `pending` stays.
 */
#ifndef TANSU_INDEX_BLOCK_STORE_BLOCK_STORE_INTERNAL_H
#define TANSU_INDEX_BLOCK_STORE_BLOCK_STORE_INTERNAL_H

#include "index/block_store/block_store.h"

#include <pthread.h>
#include <stdatomic.h>

#define BLOCK_STORE_HEAD 256u /* bytes of the head */
#define BLOCK_STORE_HEAD_COMMIT \
    152u /* where in it the last commit is whose words are in the file */
#define BLOCK_STORE_ALIGN \
    64u /* records lie at multiples of this and are as long as a multiple of it */
#define BLOCK_STORE_KEY 9u    /* bytes of a key */
#define BLOCK_STORE_CRC 4u    /* bytes at the end of a value */
#define BLOCK_STORE_LEFT 2u   /* where in a record the location of its left child is */
#define BLOCK_STORE_RIGHT 10u /* and of its right child */
#define BLOCK_STORE_MIN_RECORD \
    64u /* what must be read of a record for its head and key: no record is shorter */
#define BLOCK_STORE_MAX_FREE \
    ((uint64_t)256 << 20) /* Tokyo Cabinet counts free extents in 32 bits */

/* ---- Format (block_store_format.c) ---- */

/* A record's head, checked against the file's size. */
typedef struct block_store_node {
    uint64_t offset;
    uint64_t size; /* of all of it, with padding */
    uint64_t left, right;
    uint32_t body; /* where its key begins, from `offset` */
    uint32_t value_size;
    uint8_t hash;
    uint8_t key[BLOCK_STORE_KEY];
} block_store_node;

/* What a head says. */
typedef struct block_store_head {
    bool in_session; /* the file is being written by this code: recovery by the journals */
    uint64_t buckets, records, size, first;
    uint64_t session, commit; /* of the file in session */
} block_store_head;

/* ---- Changed words (block_store_words.c): an open hash table from file offset to 8-byte value
 * ---- */

typedef struct block_store_words {
    uint64_t *pairs; /* offset (0: none) and value */
    size_t capacity; /* pairs; a power of two, or 0 */
    size_t count;
} block_store_words;

/* words_reserve -- reserves slots so that as many calls of words_set() cannot fail, at once instead
 * of by doubling. False when memory is exhausted. */
bool words_reserve(block_store_words *words, size_t more);
/* words_set -- false when memory is exhausted. */
bool words_set(block_store_words *words, uint64_t offset, uint64_t value);
const uint64_t *words_find(const block_store_words *words, uint64_t offset);
void words_free(block_store_words *words);
/* words_sorted -- the pairs by offset, in new memory, which the caller frees; NULL when it is
 * exhausted. */
uint64_t *words_sorted(const block_store_words *words);

/* ---- Free extents (block_store_space.c) ---- */

typedef struct block_store_extent {
    uint64_t offset, size;
} block_store_extent;

typedef struct block_store_extents {
    block_store_extent *items;
    size_t count, capacity;
} block_store_extents;

/* extents_add -- false when memory is exhausted. */
bool extents_add(block_store_extents *list, uint64_t offset, uint64_t size);
/* extents_merge -- sorts and joins them; those at the file's end are cut off: returns the new
 * end. */
uint64_t extents_merge(block_store_extents *list, uint64_t end);
void extents_free(block_store_extents *list);

#define SPACE_BINS 256

/* Where a transaction puts its records: lists of extents by size. */
typedef struct block_store_space {
    struct space_slot {
        uint64_t offset, size;
        uint32_t next;
    } * slots;
    size_t count;
    uint32_t bins[SPACE_BINS]; /* first slot + 1; 0: none */
    uint64_t filled[SPACE_BINS / 64];
    uint64_t end; /* of the file */
} block_store_space;

/* space_begin -- false when memory is exhausted. */
bool space_begin(block_store_space *space, const block_store_extents *free, uint64_t end);
/* space_allocate -- allocates `size` bytes of the file. */
uint64_t space_allocate(block_store_space *space, uint64_t size);
/* space_remaining -- adds what is left to a list. False when memory is exhausted. */
bool space_remaining(const block_store_space *space, block_store_extents *list);
void space_free(block_store_space *space);

/* ---- The handle ---- */

struct block_store {
    const fs *calls;
    keyring *keys;  /* NULL: values are stored as they are */
    sealer *sealer; /* of this opening, from its first record on */
    char *path;
    char *journal_path[2];
    bool read_only;
    /* BLOCK_STORE_PASSING, or a file that is not yet renamed: no syncs, no journals */
    bool passing;
    atomic_bool damaged;

    /* Readers hold the gate shared; it is held exclusively only to publish a commit or another
     * file. */
    pthread_rwlock_t gate;
    int fd;
    uint64_t bucket_count;
    uint64_t *buckets; /* offsets */
    uint64_t first;    /* where records begin */
    uint64_t size;     /* where they end */
    uint64_t records;
    block_store_words pending; /* committed, and not yet (all of it) in the file */

    /* The writer's. */
    uint8_t head[BLOCK_STORE_HEAD];
    uint64_t session, commit;
    bool in_session;     /* the file's head says so, and that is on the disk */
    bool unsafe_journal; /* `pending` comes from a journal that may be in the page cache only */
    /* a sync failed: what step 4 of the last commit wrote must be written again */
    bool rewrite_words;
    bool commit_unknown; /* a journal may hold a commit that was aborted: nothing is written */
    int journal_fd[2];
    block_store_extents free;
    uint64_t grow_at; /* that many records make more buckets worth a try */

    bool in_transaction;
    bool failed; /* a call of it did */
    uint64_t records_then;
    block_store_words words;
    block_store_space space;
    block_store_extents freed;
    uint8_t *buffer; /* records in a row that are not written yet */
    size_t buffer_capacity, buffer_used;
    uint64_t buffer_at;
};

/* ---- block_store_format.c ---- */

void block_store_fill_key(uint8_t key[BLOCK_STORE_KEY], enum block_store_kind kind,
                          uint64_t number);
uint32_t block_store_checksum(const uint8_t key[BLOCK_STORE_KEY], const void *record, size_t size);
/* block_store_hash -- the bucket's number, and the second hash by which its records are a tree. */
uint64_t block_store_hash(uint64_t buckets, const uint8_t key[BLOCK_STORE_KEY], uint8_t *second);
/* block_store_order -- the direction of a key from a node: -1 left, 1 right, 0 it is the node's. */
int block_store_order(const uint8_t key[BLOCK_STORE_KEY], uint8_t hash,
                      const block_store_node *node);
/* block_store_parse -- a node out of its first BLOCK_STORE_LEAST bytes; false when it is
 * invalid. */
bool block_store_parse(uint64_t offset, const uint8_t *bytes, uint64_t end, block_store_node *node);
/* block_store_fill_record -- bytes of a record with a value of that size, and (bytes not NULL) its
 * head and key. */
uint64_t block_store_fill_record(uint8_t *bytes, const uint8_t key[BLOCK_STORE_KEY], uint8_t hash,
                                 uint64_t left, uint64_t right, uint32_t value_size,
                                 uint32_t *body);
/* block_store_buckets_for -- how many buckets a new file for that many records gets. */
uint64_t block_store_buckets_for(uint64_t records);
/* block_store_room -- how many records a file can have whose records lie between two offsets. */
static inline uint64_t block_store_room(uint64_t first, uint64_t end) {
    return (end - first) / BLOCK_STORE_MIN_RECORD;
}
/* block_store_first -- where records begin in a new file. */
uint64_t block_store_first(uint64_t buckets);
/* block_store_head_fill -- the head that the handle's file should have when it is closed. */
void block_store_head_fill(block_store *bs);
/* The writes to the head, in an order of which each part may be missing; -1 with errno. In session
 * from the last byte of the first on, closed with the only byte of the last. */
int block_store_head_session(block_store *bs); /* which session it is */
int block_store_head_commit(block_store *bs);  /* how far its words are */
int block_store_head_sizes(
    block_store *bs); /* before it is closed: how many records, and where they end */
int block_store_head_closed(block_store *bs);
/* block_store_head_read -- false when it is none that we or Tokyo Cabinet wrote for us. */
bool block_store_head_read(const uint8_t bytes[BLOCK_STORE_HEAD], uint64_t file_size,
                           block_store_head *head);
/* block_store_pool_read -- the free extents that a closed file lists. False when memory is
 * exhausted. */
bool block_store_pool_read(const block_store *bs, const uint8_t *bytes, size_t size,
                           block_store_extents *list);
/* block_store_pool_write -- writes the largest of them, as many as fit; `bytes` are zero. */
void block_store_pool_write(const block_store_extents *list, uint8_t *bytes, size_t size);
/* block_store_fill_free -- the first bytes of a free extent of that many bytes, at most
 * BLOCK_STORE_MAX_FREE. */
void block_store_fill_free(uint8_t bytes[5], uint64_t size);

/* ---- block_store_read.c ---- */

/* block_store_damaged -- the error for bytes that are invalid; marks the file as damaged. */
tansu_status block_store_damaged(block_store *bs, uint64_t offset, tansu_error *error);
/* block_store_read_at -- exactly that many bytes of the file. Errors: IO, CORRUPT. */
tansu_status block_store_read_at(block_store *bs, uint64_t offset, void *bytes, size_t size,
                                 tansu_error *error);

/* Where a key is, or would be: the word that leads there, and the node. */
typedef struct block_store_path {
    uint64_t word;
    bool found;
    block_store_node node;
} block_store_path;

/* block_store_locate -- as the transaction in progress sees it. Errors: IO, CORRUPT. */
tansu_status block_store_locate(block_store *bs, const uint8_t key[BLOCK_STORE_KEY],
                                block_store_path *path, tansu_error *error);
/* block_store_node_at -- a node with its words as the transaction in progress, or the last commit,
 * left them. */
tansu_status block_store_node_at(block_store *bs, uint64_t offset, block_store_node *node,
                                 tansu_error *error);

/* Called for one record. */
typedef tansu_status (*block_store_visitor)(void *context, const block_store_node *node,
                                            tansu_error *error);
/* block_store_visit -- shows every record of the last commit, those of many buckets at a time by
 * where they lie. No transaction is in progress. */
tansu_status block_store_visit(block_store *bs, block_store_visitor visitor, void *context,
                               tansu_error *error);
/* block_store_stored_value -- a node's whole value as it is stored, without its checksum, which is
 * checked. */
tansu_status block_store_stored_value(block_store *bs, const block_store_node *node,
                                      tansu_buffer *value, tansu_error *error);

/* block_store_open_value -- decrypts a stored value of an encrypted file. */
tansu_status block_store_open_value(block_store *bs, const uint8_t key[BLOCK_STORE_KEY],
                                    tansu_buffer *record, tansu_error *error);

/* ---- block_store_journal.c ---- */

/* journal_write -- step 2. Errors: IO, FULL, MEMORY: the transaction is not committed, or
 * (commit_unknown) it is not known. */
tansu_status journal_write(block_store *bs, const block_store_words *words,
                           const block_store_extents *free, uint64_t commit, uint64_t records,
                           uint64_t size, tansu_error *error);
/* journal_invalidate -- makes the journal of an aborted commit unreadable. Errors: IO, FULL. */
tansu_status journal_invalidate(block_store *bs, tansu_error *error);
/* journal_recover -- takes the last commit's changes out of the journals into memory. Errors: IO,
 * CORRUPT, MEMORY. */
tansu_status journal_recover(block_store *bs, tansu_error *error);
/* journal_reload -- reads the last commit's words once more into `pending`. */
tansu_status journal_reload(block_store *bs, tansu_error *error);
/* journal_apply -- step 4. Errors: IO, FULL, MEMORY: `pending` stays. */
tansu_status journal_apply(block_store *bs, tansu_error *error);
/* journal_open, journal_end -- both files, made when they are not there; closed and (remove)
 * removed. */
tansu_status journal_open(block_store *bs, tansu_error *error);
void journal_end(block_store *bs, bool remove);

/* ---- block_store_session.c ---- */

/* session_begin -- marks the file as being written, with its journals open. */
tansu_status session_begin(block_store *bs, tansu_error *error);
/* session_mark -- the mark alone. */
tansu_status session_mark(block_store *bs, tansu_error *error);
/* session_end -- leaves a closed file. */
tansu_status session_end(block_store *bs, tansu_error *error);
/* block_store_apply_pending -- ensures that the last commit's words are in the file. */
tansu_status block_store_apply_pending(block_store *bs, tansu_error *error);

/* ---- block_store_copy.c ---- */

/* block_store_take_copy -- replaces the handle's descriptor with that of a copy that nobody else
 * has. Errors: IO, FULL, MEMORY. */
tansu_status block_store_take_copy(block_store *bs, tansu_error *error);

/* ---- block_store_open.c ---- */

/* block_store_create -- an empty file with that many buckets, instead of one that is there. */
tansu_status block_store_create(const fs *calls, const char *path, uint64_t buckets,
                                block_store **result, tansu_error *error);

/* ---- block_store_shrink.c ---- */

tansu_status block_store_rewrite(block_store *bs, const block_store_caller *caller,
                                 tansu_error *error);

#endif
