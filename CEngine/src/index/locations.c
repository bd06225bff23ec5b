/*
 * index/locations.c -- location tables.
 *
 * Chunks are allocated in segments that double in size: segment k has 64 * 2^k of them, so that no
 * slot ever moves and readers need no lock, and a few pointers to segments reach all possible
 * record ids. The words of the first chunk, the only one of a small collection, are allocated in
 * parts that double in size in the same way.
 */
#include "index/locations.h"

#include "index/definition.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SEGMENT 64
#define SEGMENTS 24 /* 64 * (2^24 - 1) chunks: more than 2^39 record ids need */
#define MAX_CHUNK ((MAX_RID + 1) / LOCATIONS_CHUNK)

/* The first chunk has so many words itself. The others are in parts: part k has the words from
 * FIRST_WORDS << k on, and as many. */
#define FIRST_WORDS 8
#define PARTS 7

typedef struct chunk {
    atomic_bool dirty;   /* changed since it was last written */
    atomic_bool written; /* by the checkpoint that is running, or was the last */
    bool kept;           /* it was loaded from the block store, or written to it */
    _Atomic(aligned_u64 *) parts[PARTS];
    aligned_u64 words[];
} chunk;

_Static_assert(FIRST_WORDS << PARTS == LOCATIONS_CHUNK, "the parts make up the first chunk");

typedef _Atomic(chunk *) chunk_slot;

struct locations {
    uint32_t collection;
    uint64_t stored; /* chunks below may be in the block store */
    bool gaps_known; /* and must be, but for the gaps */
    uint64_t *gaps;  /* alternately the first chunk and the number of chunks */
    size_t gap_count;
    uint64_t in_gaps; /* record ids */
    block_store *bs;
    tree_store *trees; /* whose memory it counts as, or NULL */
    atomic_size_t counted;
    segment_usage *live;
    uint32_t write_count; /* of the checkpoint that is running */
    bool write_failed;
    chunk_slot first;                          /* the first chunk */
    _Atomic(_Atomic(chunk_slot *) *) segments; /* of the others; NULL: there are none */
};

/* Stands for a chunk that the block store was asked for and does not have. Never written to. */
static const chunk absent;
#define ABSENT ((chunk *)&absent)

/* count -- bytes of a small collection more. */
static void count_bytes(locations *p, size_t bytes) {
    if (p->trees == NULL)
        return;
    atomic_fetch_add(&p->counted, bytes);
    tree_store_count(p->trees, (int64_t)bytes);
}

/* part_of -- the part that a word of the first chunk is in, and the number of the part's first. */
static uint32_t part_of(uint32_t i, uint32_t *first) {
    uint32_t bit = 31 - (uint32_t)__builtin_clz(i);
    *first = 1u << bit;
    return bit - 3;
}
_Static_assert(FIRST_WORDS == 1 << 3, "part_of() knows it");

/* word_of -- a word of a chunk; NULL when its part was not made yet. */
static inline aligned_u64 *word_of(chunk *c, uint64_t number, uint32_t i) {
    if (number != 0 || i < FIRST_WORDS)
        return &c->words[i];
    uint32_t first, part = part_of(i, &first);
    aligned_u64 *words = atomic_load_explicit(&c->parts[part], memory_order_acquire);
    return words == NULL ? NULL : words + (i - first);
}

/* word_make -- the same, its part made if need be; NULL: memory. The writer only, or before the
 * chunk is published. */
static aligned_u64 *word_make(locations *p, chunk *c, uint64_t number, uint32_t i) {
    aligned_u64 *word = word_of(c, number, i);
    if (word != NULL)
        return word;
    uint32_t first, part = part_of(i, &first);
    aligned_u64 *words = calloc(first, sizeof *words);
    if (words == NULL)
        return NULL;
    count_bytes(p, first * sizeof *words);
    atomic_store_explicit(&c->parts[part], words, memory_order_release);
    return words + (i - first);
}

/* chunk_free -- fine on NULL and ABSENT. */
static void chunk_free(chunk *c) {
    if (c == NULL || c == ABSENT)
        return;
    for (uint32_t part = 0; part < PARTS; part++)
        free(atomic_load_explicit(&c->parts[part], memory_order_relaxed));
    free(c);
}

/* chunk_new -- with words that are 0; NULL: memory. */
static chunk *chunk_new(uint64_t number) {
    return calloc(1, sizeof(chunk) + (number == 0 ? FIRST_WORDS : LOCATIONS_CHUNK) * 8);
}

/* segment_of -- the segment that a chunk's slot is in, and where. */
static uint32_t segment_of(uint64_t number, uint64_t *index) {
    uint64_t scaled = number / FIRST_SEGMENT + 1;
    uint32_t segment = 63 - (uint32_t)__builtin_clzll(scaled);
    *index = number - FIRST_SEGMENT * (((uint64_t)1 << segment) - 1);
    return segment;
}

/* later_slot -- the slot of a chunk that is not the first; NULL when its segment was not made
 * yet. */
static inline chunk_slot *later_slot(locations *p, uint64_t number) {
    uint64_t index;
    uint32_t segment = segment_of(number, &index);
    _Atomic(chunk_slot *) *segments = atomic_load_explicit(&p->segments, memory_order_acquire);
    chunk_slot *slots =
        segments == NULL ? NULL : atomic_load_explicit(&segments[segment], memory_order_acquire);
    return slots == NULL ? NULL : slots + index;
}

/* slot_of -- the same of any chunk. */
static inline chunk_slot *slot_of(locations *p, uint64_t number) {
    return number == 0 ? &p->first : later_slot(p, number);
}

/* slot_make -- a chunk's slot, its segment made if need be; NULL: memory. */
static chunk_slot *slot_make(locations *p, uint64_t number) {
    chunk_slot *slot = slot_of(p, number);
    if (slot != NULL)
        return slot;
    uint64_t index;
    uint32_t segment = segment_of(number, &index);
    _Atomic(chunk_slot *) *segments = atomic_load_explicit(&p->segments, memory_order_acquire);
    if (segments == NULL) {
        _Atomic(chunk_slot *) *all = calloc(SEGMENTS, sizeof *all);
        if (all == NULL)
            return NULL;
        if (atomic_compare_exchange_strong(&p->segments, &segments, all))
            segments = all;
        else
            free(all);
    }
    chunk_slot *slots = NULL, *made = calloc((size_t)FIRST_SEGMENT << segment, sizeof(*made));
    if (made == NULL)
        return NULL;
    if (atomic_compare_exchange_strong(&segments[segment], &slots, made))
        return made + index;
    free(made);
    return slots + index;
}

/* Called for each chunk in memory. */
typedef tansu_status (*chunk_visitor)(locations *p, uint64_t number, chunk *c, tansu_error *error);

/* each_chunk -- shows them in their order; all of them, also after an error, which is returned. */
static tansu_status each_chunk(locations *p, chunk_visitor visit, tansu_error *error) {
    tansu_status status = TANSU_OK;
    chunk *c = atomic_load_explicit(&p->first, memory_order_acquire);
    if (c != NULL && c != ABSENT)
        status = visit(p, 0, c, error);
    _Atomic(chunk_slot *) *segments = atomic_load_explicit(&p->segments, memory_order_acquire);
    uint64_t number = 0;
    for (uint32_t segment = 0; segments != NULL && segment < SEGMENTS; segment++) {
        size_t slots_count = (size_t)FIRST_SEGMENT << segment;
        chunk_slot *slots = atomic_load_explicit(&segments[segment], memory_order_acquire);
        for (size_t i = 0; slots != NULL && i < slots_count; i++) {
            c = atomic_load_explicit(&slots[i], memory_order_acquire);
            tansu_status one = c == NULL || c == ABSENT ? TANSU_OK : visit(p, number + i, c, error);
            status = status == TANSU_OK ? one : status;
        }
        number += slots_count;
    }
    return status;
}

/* record_number -- where a chunk is in the block store. */
static uint64_t record_number(uint32_t collection, uint64_t number) {
    return (uint64_t)collection << 40 | number;
}

/* locations_new -- chunks are allocated later. */
tansu_status locations_new(uint32_t collection, block_store *bs, uint64_t count, locations **result,
                           tansu_error *error) {
    if (count > MAX_RID + 1)
        return error_set(error, TANSU_E_CORRUPT, "places",
                         "The stored number of locations is corrupt");
    locations *p = calloc(1, sizeof(*p));
    if (p == NULL || (p->live = segment_usage_new()) == NULL) {
        free(p);
        return error_memory(error);
    }
    p->collection = collection;
    p->stored = (count + LOCATIONS_CHUNK - 1) / LOCATIONS_CHUNK;
    p->bs = bs;
    *result = p;
    return TANSU_OK;
}

void locations_count(locations *p, tree_store *trees, size_t more) {
    p->trees = trees;
    count_bytes(p, more + sizeof *p + sizeof(chunk) + FIRST_WORDS * sizeof(uint64_t));
}

/* free_chunk -- a chunk_visitor. */
static tansu_status free_chunk(locations *p, uint64_t number, chunk *c, tansu_error *error) {
    (void)p;
    (void)number;
    (void)error;
    chunk_free(c);
    return TANSU_OK;
}

/* locations_free -- fine on NULL. */
void locations_free(locations *p) {
    if (p == NULL)
        return;
    (void)each_chunk(p, free_chunk, NULL);
    _Atomic(chunk_slot *) *segments = atomic_load(&p->segments);
    for (uint32_t segment = 0; segments != NULL && segment < SEGMENTS; segment++)
        free(atomic_load(&segments[segment]));
    free(segments);
    if (p->trees != NULL)
        tree_store_count(p->trees, -(int64_t)atomic_load(&p->counted));
    segment_usage_free(p->live);
    free(p->gaps);
    free(p);
}

/* locations_live -- made and freed with the locations. */
segment_usage *locations_live(const locations *p) {
    return p->live;
}

/* locations_gaps_read -- before there are readers. */
tansu_status locations_gaps_read(locations *p, const uint8_t *gaps, size_t size,
                                 tansu_error *error) {
    size_t count = size / 16;
    uint64_t behind = 0, chunks = p->stored;
    bool sound = size % 16 == 0;
    uint64_t *list = malloc(size + 1);
    if (list == NULL)
        return error_memory(error);
    for (size_t i = 0; sound && i < count; i++) {
        list[2 * i] = load_u64(gaps + 16 * i);
        list[2 * i + 1] = load_u64(gaps + 16 * i + 8);
        sound = list[2 * i] >= behind && list[2 * i] < p->stored && list[2 * i + 1] > 0 &&
                list[2 * i + 1] <= p->stored - list[2 * i];
        behind = list[2 * i] + list[2 * i + 1];
        chunks -= sound ? list[2 * i + 1] : 0;
    }
    /* Each of the others is a record. */
    if (!sound || chunks > block_store_records(p->bs)) {
        free(list);
        return error_set(error, TANSU_E_CORRUPT, "places",
                         "The stored gaps of the location table are corrupt");
    }
    p->gaps = list;
    p->gap_count = count;
    p->in_gaps = (p->stored - chunks) * LOCATIONS_CHUNK;
    p->gaps_known = true;
    return TANSU_OK;
}

uint64_t locations_in_gaps(const locations *p) {
    return p->in_gaps;
}

/* gap_end -- the end of the gap that a chunk is in; 0 when it is in none. */
static uint64_t gap_end(const locations *p, uint64_t number) {
    size_t low = 0, high = p->gap_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->gaps[2 * middle] + p->gaps[2 * middle + 1] <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->gap_count && p->gaps[2 * low] <= number
               ? p->gaps[2 * low] + p->gaps[2 * low + 1]
               : 0;
}

/* load -- a chunk from the block store; ABSENT when it has none. */
static tansu_status load(locations *p, uint64_t number, chunk **result, tansu_error *error) {
    *result = ABSENT;
    block_store *bs = p->bs;
    if (bs == NULL || number >= p->stored)
        return TANSU_OK;
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_status status = block_store_get(bs, BLOCK_STORE_LOCATIONS,
                                          record_number(p->collection, number), &record, error);
    if (status == TANSU_E_NOT_FOUND && (!p->gaps_known || gap_end(p, number) != 0))
        return TANSU_OK;
    if (status == TANSU_E_NOT_FOUND) {
        block_store_mark_damaged(p->bs);
        return error_set(error, TANSU_E_CORRUPT, "places",
                         "A stored chunk of the location table is missing; close the database and "
                         "open it again to have the index files rebuilt");
    }
    if (status != TANSU_OK)
        return status;
    uint64_t words[LOCATIONS_CHUNK];
    chunk *c = chunk_new(number);
    bool sound = locations_decode(words, record.data, record.size), made = c != NULL;
    tansu_buffer_free(&record);
    if (made && number != 0)
        memcpy(c->words, words, sizeof words);
    for (uint32_t i = 0; made && number == 0 && sound && i < LOCATIONS_CHUNK; i++) {
        aligned_u64 *word = words[i] == 0 ? NULL : word_make(p, c, number, i);
        made = word != NULL || words[i] == 0;
        if (word != NULL)
            *word = words[i];
    }
    if (!made) {
        chunk_free(c);
        return error_memory(error);
    }
    if (!sound) {
        chunk_free(c);
        block_store_mark_damaged(p->bs);
        return error_set(error, TANSU_E_CORRUPT, "places",
                         "A stored chunk of the location table is corrupt; close the database and "
                         "open it again to have the index files rebuilt");
    }
    c->kept = true;
    *result = c;
    return TANSU_OK;
}

/* publish -- puts a chunk where `expected` is; *result: the one that is there then. */
static void publish(chunk_slot *slot, chunk *expected, chunk *made, chunk **result) {
    if (atomic_compare_exchange_strong(slot, &expected, made)) {
        *result = made;
        return;
    }
    chunk_free(made);
    *result = expected;
}

/* find -- the chunk with that number, loaded if need be; NULL when none of its record ids was
 * stored. */
static tansu_status find(locations *p, uint64_t number, chunk **result, tansu_error *error) {
    *result = NULL;
    if (number >= MAX_CHUNK)
        return TANSU_OK;
    chunk_slot *slot = slot_of(p, number);
    if (slot == NULL) {
        if (number >= p->stored)
            return TANSU_OK;
        slot = slot_make(p, number);
        if (slot == NULL)
            return error_memory(error);
    }
    chunk *c = atomic_load_explicit(slot, memory_order_acquire);
    if (c == NULL) {
        if (number >= p->stored)
            return TANSU_OK;
        tansu_status status = load(p, number, &c, error);
        if (status != TANSU_OK)
            return status;
        publish(slot, NULL, c, &c);
    }
    *result = c == ABSENT ? NULL : c;
    return TANSU_OK;
}

/* locations_get -- one word. */
tansu_status locations_get(locations *p, uint64_t rid, uint64_t *location, tansu_error *error) {
    const aligned_u64 *word = locations_word(p, rid);
    if (word != NULL) {
        *location = locations_load(word);
        return TANSU_OK;
    }
    *location = 0;
    chunk *c;
    tansu_status status = find(p, rid / LOCATIONS_CHUNK, &c, error);
    if (status == TANSU_OK && c != NULL) {
        word = word_of(c, rid / LOCATIONS_CHUNK, rid % LOCATIONS_CHUNK);
        *location = word == NULL ? 0 : locations_load(word);
    }
    return status;
}

/* locations_word -- never loads anything. */
const aligned_u64 *locations_word(locations *p, uint64_t rid) {
    if (rid > MAX_RID)
        return NULL;
    uint64_t number = rid / LOCATIONS_CHUNK;
    if (number == 0) {
        chunk *c = atomic_load_explicit(&p->first, memory_order_acquire);
        return c == NULL || c == ABSENT ? NULL : word_of(c, 0, (uint32_t)rid);
    }
    chunk_slot *slot = later_slot(p, number);
    chunk *c = slot == NULL ? NULL : atomic_load_explicit(slot, memory_order_acquire);
    return c == NULL || c == ABSENT ? NULL : &c->words[rid % LOCATIONS_CHUNK];
}

/* locations_words -- the words stay where they are as long as the locations do. */
tansu_status locations_words(locations *p, uint64_t rid, const aligned_u64 **words, uint64_t *end,
                             tansu_error *error) {
    uint64_t number = rid / LOCATIONS_CHUNK;
    uint32_t i = rid % LOCATIONS_CHUNK, last = LOCATIONS_CHUNK;
    chunk *c;
    tansu_status status = find(p, number, &c, error);
    bool there = status == TANSU_OK && c != NULL;
    *words = there ? word_of(c, number, i) : NULL;
    if (there && number == 0) {
        last = FIRST_WORDS;
        if (i >= FIRST_WORDS) {
            (void)part_of(i, &last);
            last *= 2;
        }
    }
    *end = number * LOCATIONS_CHUNK + last;
    return status;
}

/* locations_prepare -- a chunk that does not exist yet is allocated here. */
tansu_status locations_prepare(locations *p, uint64_t rid, tansu_error *error) {
    if (rid > MAX_RID)
        return error_set(
            error, TANSU_E_TOO_LARGE, NULL,
            "The collection has used up its record ids; copy its documents to a new collection");
    chunk *c;
    uint64_t number = rid / LOCATIONS_CHUNK;
    tansu_status status = find(p, number, &c, error);
    if (status != TANSU_OK)
        return status;
    chunk_slot *slot = c == NULL ? slot_make(p, number) : NULL;
    if (c == NULL && slot == NULL)
        return error_memory(error);
    /* A reader may change NULL to ABSENT meanwhile, but nothing else: only the writer allocates
     * chunks. */
    while (c == NULL || c == ABSENT) {
        chunk *made = chunk_new(number);
        if (made == NULL)
            return error_memory(error);
        publish(slot, atomic_load(slot), made, &c);
    }
    return word_make(p, c, number, rid % LOCATIONS_CHUNK) != NULL ? TANSU_OK : error_memory(error);
}

/* locations_set -- the mark is set after the word: a checkpoint that clears the mark sees the
 * word. */
void locations_set(locations *p, uint64_t rid, uint64_t location) {
    chunk *c = atomic_load_explicit(slot_of(p, rid / LOCATIONS_CHUNK), memory_order_relaxed);
    __atomic_store_n(word_of(c, rid / LOCATIONS_CHUNK, rid % LOCATIONS_CHUNK), location,
                     __ATOMIC_RELEASE);
    atomic_store(&c->dirty, true);
}

/* locations_relocate -- no other thread stores words meanwhile. */
bool locations_relocate(locations *p, uint64_t rid, uint64_t from, uint64_t to) {
    const aligned_u64 *word = locations_word(p, rid);
    if (word == NULL || locations_load(word) != from)
        return false;
    locations_set(p, rid, to);
    return true;
}

/* nobody_has -- whether a chunk is neither in memory nor in the block store. *there: it is in
 * memory. */
static bool nobody_has(locations *p, uint64_t number, chunk **there) {
    chunk_slot *slot = slot_of(p, number);
    chunk *c = slot == NULL ? NULL : atomic_load_explicit(slot, memory_order_acquire);
    *there = c == ABSENT ? NULL : c;
    return c == ABSENT || (c == NULL && (number >= p->stored || gap_end(p, number) != 0));
}

uint64_t locations_next_chunk(locations *p, uint64_t number, uint64_t end) {
    chunk *there;
    while (number < end && nobody_has(p, number, &there))
        number++;
    return number;
}

/* locations_gaps_write -- a chunk that was made and never stored to is written all the same: it is
 * there, and would not be in the block store. */
tansu_status locations_gaps_write(locations *p, uint64_t count, tansu_buffer *gaps,
                                  tansu_error *error) {
    uint64_t chunks = (count + LOCATIONS_CHUNK - 1) / LOCATIONS_CHUNK;
    gaps->size = 0;
    for (uint64_t number = 0; number < chunks; number++) {
        chunk *there;
        uint64_t first = number;
        while (number < chunks && nobody_has(p, number, &there))
            number++;
        if (number < chunks && there != NULL && !there->kept)
            atomic_store(&there->dirty, true);
        uint8_t gap[16];
        store_u64(gap, first);
        store_u64(gap + 8, number - first);
        if (number != first && !buffer_append(gaps, gap, sizeof gap))
            return error_memory(error);
    }
    return TANSU_OK;
}

/* write_chunk -- a chunk_visitor that writes one that changed. Copies the words one by one before
 * they are encoded, for the writer continues storing. */
static tansu_status write_chunk(locations *p, uint64_t number, chunk *c, tansu_error *error) {
    atomic_store(&c->written, false);
    if (p->write_failed || !atomic_exchange(&c->dirty, false))
        return TANSU_OK;
    uint64_t words[LOCATIONS_CHUNK];
    uint8_t record[sizeof words];
    atomic_store(&c->written, true);
    for (uint32_t i = 0; i < LOCATIONS_CHUNK; i++) {
        const aligned_u64 *word = word_of(c, number, i);
        words[i] = word == NULL ? 0 : __atomic_load_n(word, __ATOMIC_RELAXED);
    }
    c->kept = true;
    p->write_count++;
    tansu_status status =
        block_store_put(p->bs, BLOCK_STORE_LOCATIONS, record_number(p->collection, number), record,
                        locations_encode(record, words), error);
    p->write_failed = status != TANSU_OK;
    return status;
}

/* locations_checkpoint -- all chunks in memory are examined. */
tansu_status locations_checkpoint(locations *p, uint64_t *written, tansu_error *error) {
    if (p->bs == NULL)
        return error_set(error, TANSU_E_INVALID_STATE, NULL, "A memory store has no checkpoint");
    p->write_count = 0;
    p->write_failed = false;
    tansu_status status = each_chunk(p, write_chunk, error);
    if (written != NULL)
        *written = p->write_count;
    return status;
}

/* fail_chunk -- a chunk_visitor. */
static tansu_status fail_chunk(locations *p, uint64_t number, chunk *c, tansu_error *error) {
    (void)p;
    (void)number;
    (void)error;
    if (atomic_exchange(&c->written, false))
        atomic_store(&c->dirty, true);
    return TANSU_OK;
}

/* locations_checkpoint_failed -- what it wrote is to be written again. */
void locations_checkpoint_failed(locations *p) {
    (void)each_chunk(p, fail_chunk, NULL);
}

/* locations_remove_stored -- chunks that were never stored are no error. */
tansu_status locations_remove_stored(block_store *bs, uint32_t collection, uint64_t count,
                                     tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t chunks = (count + LOCATIONS_CHUNK - 1) / LOCATIONS_CHUNK;
    for (uint64_t i = 0; status == TANSU_OK && i < chunks; i++)
        status = block_store_remove(bs, BLOCK_STORE_LOCATIONS, record_number(collection, i), error);
    return status;
}

/* ---- The stored form of a chunk of the location table ---- */

#define PLAIN_SIZE (LOCATIONS_CHUNK * sizeof(uint64_t))

/* common_shift -- the zero bits that all differences end with. */
static unsigned common_shift(const uint64_t *words, uint32_t count) {
    uint64_t before = 0, all = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (words[i] == 0)
            continue;
        all |= words[i] - before;
        before = words[i];
    }
    return all == 0 ? 0 : (unsigned)__builtin_ctzll(all);
}

/* shift_down -- a signed difference without its last bits. */
static uint64_t shift_down(uint64_t difference, unsigned shift) {
    uint64_t sign = 0 - (difference >> 63);
    return (difference ^ sign) >> shift ^ sign;
}

size_t locations_encode(uint8_t *record, const uint64_t words[LOCATIONS_CHUNK]) {
    uint32_t count = LOCATIONS_CHUNK;
    while (count > 0 && words[count - 1] == 0)
        count--;
    unsigned shift = common_shift(words, count);
    uint8_t *at = record;
    *at++ = (uint8_t)shift;
    at = varint_put(at, count);
    uint64_t before = 0;
    bool fits = true;
    for (uint32_t i = 0; fits && i < count; i++) {
        uint64_t word = words[i], difference = shift_down(word - before, shift);
        /* One more than the largest folded difference is 0 again. */
        fits =
            (size_t)(at - record) < PLAIN_SIZE - VARINT_MAX && fold_sign(difference) != UINT64_MAX;
        if (fits)
            at = varint_put(at, word == 0 ? 0 : fold_sign(difference) + 1);
        before = word == 0 ? before : word;
    }
    if (fits)
        return (size_t)(at - record);
    memcpy(record, words, PLAIN_SIZE);
    return PLAIN_SIZE;
}

bool locations_decode(uint64_t words[LOCATIONS_CHUNK], const uint8_t *record, size_t size) {
    if (size == PLAIN_SIZE) {
        memcpy(words, record, PLAIN_SIZE);
        return true;
    }
    const uint8_t *at = record, *end = record + size;
    uint64_t count;
    if (at == end || *at++ > 63 || !varint_take(&at, end, &count) || count > LOCATIONS_CHUNK)
        return false;
    unsigned shift = record[0];
    uint64_t before = 0, number;
    for (uint32_t i = 0; i < count; i++) {
        if (!varint_take(&at, end, &number))
            return false;
        if (number != 0)
            before += unfold_sign(number - 1) << shift;
        words[i] = number == 0 ? 0 : before;
    }
    memset(words + count, 0, (LOCATIONS_CHUNK - count) * sizeof *words);
    return at == end;
}
