/*
 * index/cabinet_parts.h -- what the files of the block store share (see cabinet.h). Part index.
 *
 *   cabinet_format.c    how head, buckets and records look in the file
 *   cabinet_words.c     changed words, by where they lie
 *   cabinet_space.c     free extents
 *   cabinet_journal.c   the redo journals
 *   cabinet_recover.c   what earlier versions of the library left behind
 *   cabinet_open.c      opening and closing
 *   cabinet_read.c      looking records up
 *   cabinet.c           transactions
 *   cabinet_shrink.c    writing everything anew
 *
 * How a transaction becomes durable, in order; each step's outcome is on the disk before the next begins:
 *
 *   1. records go to places that the last commit does not use, and are synced;
 *   2. all changes of words in place (buckets, left and right), and what is free afterwards, go into
 *      the one of two journals that the last commit did not use, which is synced: the commit is done;
 *   3. readers see it: buckets are in memory, and other words are looked up in `pending` first;
 *   4. the words are written into the file. They are synced with step 1 of the next transaction, before
 *      which neither journal is needed any more but this one.
 *
 * A step that fails before 2 is done changes nothing that counts. When 4 fails, `pending` stays.
 */
#ifndef TANSU_INDEX_CABINET_PARTS_H
#define TANSU_INDEX_CABINET_PARTS_H

#include "index/cabinet.h"

#include <pthread.h>
#include <stdatomic.h>

#define CABINET_HEAD 256u        /* bytes of the head */
#define CABINET_HEAD_COMMIT 152u /* where in it the last commit is whose words are in the file */
#define CABINET_ALIGN 64u /* records lie at multiples of this and are as long as a multiple of it */
#define CABINET_KEY 9u    /* bytes of a key */
#define CABINET_CRC 4u    /* bytes at the end of a value */
#define CABINET_LEFT 2u   /* where in a record the place of its left child is */
#define CABINET_RIGHT 10u /* and of its right child */
#define CABINET_LEAST \
    64u /* what must be read of a record for its head and key: no record is shorter */
#define CABINET_FREE_MOST ((uint64_t)256 << 20) /* Tokyo Cabinet counts free places in 32 bits */

/* ---- Format (cabinet_format.c) ---- */

/* A record's head, checked against the file's size. */
typedef struct cabinet_node {
    uint64_t offset;
    uint64_t size; /* of all of it, with padding */
    uint64_t left, right;
    uint32_t body; /* where its key begins, from `offset` */
    uint32_t value_size;
    uint8_t hash;
    uint8_t key[CABINET_KEY];
} cabinet_node;

/* What a head says. */
typedef struct cabinet_head {
    bool big_endian;
    bool in_session; /* the file is being written by this code: recovery by the journals */
    bool unclean;    /* an earlier version of the library did not close it */
    uint64_t buckets, records, size, first;
    uint64_t session, commit; /* of the file in session */
} cabinet_head;

/* ---- Changed words (cabinet_words.c): an open hash table from file offset to 8-byte value ---- */

typedef struct cabinet_words {
    uint64_t *pairs; /* offset (0: none) and value */
    size_t room;     /* pairs; a power of two, or 0 */
    size_t count;
} cabinet_words;

/* words_set -- false when memory is exhausted. */
bool words_set(cabinet_words *words, uint64_t offset, uint64_t value);
/* words_reserve -- makes sure that so many more words_set() can't fail. */
bool words_reserve(cabinet_words *words, size_t more);
const uint64_t *words_find(const cabinet_words *words, uint64_t offset);
void words_free(cabinet_words *words);
/* words_sorted -- the pairs by offset, in new memory for free(); NULL when it is exhausted. */
uint64_t *words_sorted(const cabinet_words *words);

/* ---- Free extents (cabinet_space.c) ---- */

typedef struct cabinet_extent {
    uint64_t offset, size;
} cabinet_extent;

typedef struct cabinet_extents {
    cabinet_extent *items;
    size_t count, room;
} cabinet_extents;

/* extents_add -- false when memory is exhausted. */
bool extents_add(cabinet_extents *list, uint64_t offset, uint64_t size);
/* extents_settle -- sorts and joins them; those at the file's end are cut off: returns the new end. */
uint64_t extents_settle(cabinet_extents *list, uint64_t end);
void extents_free(cabinet_extents *list);

#define SPACE_BINS 256

/* Where a transaction puts its records: lists of extents by size. */
typedef struct cabinet_space {
    struct space_slot {
        uint64_t offset, size;
        uint32_t next;
    } * slots;
    size_t count;
    uint32_t bins[SPACE_BINS]; /* first slot + 1; 0: none */
    uint64_t filled[SPACE_BINS / 64];
    uint64_t end; /* of the file */
} cabinet_space;

/* space_begin -- false when memory is exhausted. */
bool space_begin(cabinet_space *space, const cabinet_extents *free, uint64_t end);
/* space_take -- room for `size` bytes. */
uint64_t space_take(cabinet_space *space, uint64_t size);
/* space_rest -- adds what is left to a list. False when memory is exhausted. */
bool space_rest(const cabinet_space *space, cabinet_extents *list);
void space_free(cabinet_space *space);

/* ---- The handle ---- */

struct cabinet {
    const fs *calls;
    char *path;
    char *journal_path[2];
    bool read_only;
    bool
        passing; /* CABINET_PASSING, or a file that is not in its place yet: no syncs, no journals */
    atomic_bool doubted;

    /* Readers hold the gate shared; it is held alone only to let them see a commit or another file. */
    pthread_rwlock_t gate;
    int fd;
    bool big_endian;
    uint64_t bucket_count;
    uint64_t *buckets; /* offsets */
    uint64_t first;    /* where records begin */
    uint64_t size;     /* where they end */
    uint64_t records;
    cabinet_words pending; /* committed, and not yet (all of it) in the file */

    /* The writer's. */
    uint8_t head[CABINET_HEAD];
    uint64_t session, commit;
    bool in_session;     /* the file's head says so, and that is on the disk */
    bool unsafe_journal; /* `pending` comes from a journal that may be in the page cache only */
    bool
        written_unsure; /* a sync failed: what step 4 of the last commit wrote must be written again */
    bool given_up;      /* a journal may hold a commit that was given up: nothing is written */
    int journal_fd[2];
    cabinet_extents free;
    uint64_t grow_at; /* so many records make more buckets worth a try */

    bool in_transaction;
    bool failed; /* a call of it did */
    uint64_t records_then;
    cabinet_words words;
    cabinet_space space;
    cabinet_extents freed;
    uint8_t *buffer; /* records in a row that are not written yet */
    size_t buffer_room, buffer_used;
    uint64_t buffer_at;
};

/* ---- cabinet_format.c ---- */

uint64_t cabinet_word(const cabinet *cab, const uint8_t *bytes);
void cabinet_set_word(const cabinet *cab, uint8_t *bytes, uint64_t value);
void cabinet_make_key(uint8_t key[CABINET_KEY], enum cabinet_kind kind, uint64_t number);
uint32_t cabinet_checksum(const uint8_t key[CABINET_KEY], const void *record, size_t size);
/* cabinet_hash -- the bucket's number, and the second hash by which its records are a tree. */
uint64_t cabinet_hash(uint64_t buckets, const uint8_t key[CABINET_KEY], uint8_t *second);
/* cabinet_order -- which way a key lies from a node: -1 left, 1 right, 0 it is the node's. */
int cabinet_order(const uint8_t key[CABINET_KEY], uint8_t hash, const cabinet_node *node);
/* cabinet_parse -- a node out of its first CABINET_LEAST bytes; false when it makes no sense. */
bool cabinet_parse(const cabinet *cab, uint64_t offset, const uint8_t *bytes, uint64_t end,
                   cabinet_node *node);
/* cabinet_form -- bytes of a record with a value of that size, and (bytes not NULL) its head and key. */
uint64_t cabinet_form(const cabinet *cab, uint8_t *bytes, const uint8_t key[CABINET_KEY],
                      uint8_t hash, uint64_t left, uint64_t right, uint32_t value_size,
                      uint32_t *body);
/* cabinet_buckets_for -- how many buckets a new file for so many records gets. */
uint64_t cabinet_buckets_for(uint64_t records);
/* cabinet_first -- where records begin in a new file. */
uint64_t cabinet_first(uint64_t buckets);
/* cabinet_head_make -- the head that the handle's file should have when it is closed. */
void cabinet_head_make(cabinet *cab);
/* The writes to the head, in an order of which each part may be missing; -1 with errno. In session from the
 * last byte of the first on, closed with the only byte of the last. */
int cabinet_head_session(cabinet *cab); /* which session it is */
int cabinet_head_commit(cabinet *cab);  /* how far its words are */
int cabinet_head_facts(
    cabinet *cab); /* before it is closed: how many records, and where they end */
int cabinet_head_closed(cabinet *cab);
/* cabinet_head_read -- false when it is none that we or Tokyo Cabinet wrote for us. */
bool cabinet_head_read(const uint8_t bytes[CABINET_HEAD], uint64_t file_size, cabinet_head *head);
/* cabinet_pool_read -- the free extents that a closed file tells of. False when memory is exhausted. */
bool cabinet_pool_read(const cabinet *cab, const uint8_t *bytes, size_t size,
                       cabinet_extents *list);
/* cabinet_pool_make -- writes the largest of them, as many as fit; `bytes` are zero. */
void cabinet_pool_make(const cabinet_extents *list, uint8_t *bytes, size_t size);
/* cabinet_free_mark -- what begins a free place of so many bytes, at most CABINET_FREE_MOST. */
void cabinet_free_mark(const cabinet *cab, uint8_t bytes[5], uint64_t size);

/* ---- cabinet_read.c ---- */

/* cabinet_damaged -- the error for bytes that do not check out; notes the doubt. */
tansu_status cabinet_damaged(cabinet *cab, uint64_t offset, tansu_error *error);
/* cabinet_read_at -- exactly so many bytes of the file. Errors: IO, CORRUPT. */
tansu_status cabinet_read_at(cabinet *cab, uint64_t offset, void *bytes, size_t size,
                             tansu_error *error);

/* Where a key is, or would be: the word that leads there, and the node. */
typedef struct cabinet_path {
    uint64_t word;
    bool found;
    cabinet_node node;
} cabinet_path;

/* cabinet_locate -- as the transaction under way sees it. Errors: IO, CORRUPT. */
tansu_status cabinet_locate(cabinet *cab, const uint8_t key[CABINET_KEY], cabinet_path *path,
                            tansu_error *error);
/* cabinet_node_at -- a node with its words as the transaction under way, or the last commit, left them. */
tansu_status cabinet_node_at(cabinet *cab, uint64_t offset, cabinet_node *node, tansu_error *error);

/* Sees one record. */
typedef tansu_status (*cabinet_visitor)(void *context, const cabinet_node *node,
                                        tansu_error *error);
/* cabinet_walk -- shows every record of the last commit, those of many buckets at a time by where they
 * lie. No transaction is under way. */
tansu_status cabinet_walk(cabinet *cab, cabinet_visitor visitor, void *context, tansu_error *error);
/* cabinet_value -- a node's whole value without its checksum, which is checked. */
tansu_status cabinet_value(cabinet *cab, const cabinet_node *node, tansu_buffer *value,
                           tansu_error *error);

/* ---- cabinet_journal.c ---- */

/* journal_write -- step 2. Errors: IO, FULL, MEMORY: the transaction is not committed, or (given_up) it
 * is not known. */
tansu_status journal_write(cabinet *cab, const cabinet_words *words, const cabinet_extents *free,
                           uint64_t commit, uint64_t records, uint64_t size, tansu_error *error);
/* journal_cleanse -- makes a journal unreadable whose commit was given up. Errors: IO, FULL. */
tansu_status journal_cleanse(cabinet *cab, tansu_error *error);
/* journal_recover -- takes the last commit's changes out of the journals into memory. Errors: IO, CORRUPT,
 * MEMORY. */
tansu_status journal_recover(cabinet *cab, tansu_error *error);
/* journal_again -- reads the last commit's words once more into `pending`. */
tansu_status journal_again(cabinet *cab, tansu_error *error);
/* journal_apply -- step 4. Errors: IO, FULL, MEMORY: `pending` stays. */
tansu_status journal_apply(cabinet *cab, tansu_error *error);
/* journal_open, journal_end -- both files, made when they are not there; closed and (remove) removed. */
tansu_status journal_open(cabinet *cab, tansu_error *error);
void journal_end(cabinet *cab, bool remove);

/* ---- cabinet_recover.c ---- */

/* recover_rollback -- takes back what a Tokyo Cabinet transaction had changed when its process was killed.
 * TANSU_DONE: there was nothing to do. Errors: IO, MEMORY, CORRUPT, READ_ONLY. */
tansu_status recover_rollback(cabinet *cab, tansu_error *error);

/* ---- cabinet_open.c ---- */

/* cabinet_make -- an empty file with so many buckets, in place of one that is there. */
tansu_status cabinet_make(const fs *calls, const char *path, uint64_t buckets, cabinet **result,
                          tansu_error *error);
/* session_begin -- marks the file as being written, with its journals at hand. */
tansu_status session_begin(cabinet *cab, tansu_error *error);
/* session_mark -- the mark alone. */
tansu_status session_mark(cabinet *cab, tansu_error *error);
/* cabinet_settle -- sees to it that the last commit's words are in the file. */
tansu_status cabinet_settle(cabinet *cab, tansu_error *error);

/* ---- cabinet_shrink.c ---- */

tansu_status cabinet_rewrite(cabinet *cab, tansu_error *error);

#endif
