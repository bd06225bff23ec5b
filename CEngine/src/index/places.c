/*
 * index/places.c -- docno → place (see places.h).
 *
 * Chunks hang from segments that double in size: segment k has 64 * 2^k of them, so that no slot
 * ever moves and readers need no lock, and the few pointers to segments reach all docnos there can
 * be.
 */
#include "index/places.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "index/definition.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SEGMENT 64
#define SEGMENTS 24 /* 64 * (2^24 - 1) chunks: more than 2^39 docnos need */
#define MAX_CHUNK ((INDEX_MAX_DOCNO + 1) / PLACES_CHUNK)

typedef struct chunk {
    atomic_bool dirty;   /* changed since it was last written */
    atomic_bool written; /* by the checkpoint that is going on, or was the last */
    bool kept;           /* it came from the cabinet, or was written to it */
    uint64_t words[PLACES_CHUNK];
} chunk;

typedef _Atomic(chunk *) chunk_slot;

struct places {
    uint32_t collection;
    uint64_t stored; /* chunks below may be in the cabinet */
    bool gaps_known; /* and must be, but for the gaps */
    uint64_t *gaps;  /* first chunk and number of chunks, by turns */
    size_t gap_count;
    cabinet *cab;
    usage *live;
    atomic_uint_fast64_t memory;
    _Atomic(chunk_slot *) segments[SEGMENTS];
};

/* Stands for a chunk that the cabinet was asked for and does not have. Never written to. */
static const chunk absent;
#define ABSENT ((chunk *)&absent)

/* segment_of -- the segment that a chunk's slot is in, and where. */
static uint32_t segment_of(uint64_t number, uint64_t *index) {
    uint64_t scaled = number / FIRST_SEGMENT + 1;
    uint32_t segment = 63 - (uint32_t)__builtin_clzll(scaled);
    *index = number - FIRST_SEGMENT * (((uint64_t)1 << segment) - 1);
    return segment;
}

/* slot_of -- a chunk's slot; NULL when its segment was not made yet. */
static chunk_slot *slot_of(places *p, uint64_t number) {
    uint64_t index;
    uint32_t segment = segment_of(number, &index);
    chunk_slot *slots = atomic_load_explicit(&p->segments[segment], memory_order_acquire);
    return slots == NULL ? NULL : slots + index;
}

/* slot_make -- a chunk's slot, its segment made if need be; NULL: memory. */
static chunk_slot *slot_make(places *p, uint64_t number) {
    uint64_t index;
    uint32_t segment = segment_of(number, &index);
    chunk_slot *slots = atomic_load_explicit(&p->segments[segment], memory_order_acquire);
    if (slots != NULL)
        return slots + index;
    size_t count = (size_t)FIRST_SEGMENT << segment;
    chunk_slot *made = calloc(count, sizeof(*made));
    if (made == NULL)
        return NULL;
    if (!atomic_compare_exchange_strong(&p->segments[segment], &slots, made)) {
        free(made);
        return slots + index;
    }
    atomic_fetch_add_explicit(&p->memory, count * sizeof(*made), memory_order_relaxed);
    return made + index;
}

/* record_number -- where a chunk is in the cabinet. */
static uint64_t record_number(uint32_t collection, uint64_t number) {
    return (uint64_t)collection << 40 | number;
}

/* places_new -- chunks come later. */
tansu_status places_new(uint32_t collection, cabinet *cab, uint64_t count, places **result,
                        tansu_error *error) {
    if (count > INDEX_MAX_DOCNO + 1)
        return error_set(error, TANSU_E_CORRUPT, "places",
                         "The stored number of places is damaged.");
    places *p = calloc(1, sizeof(*p));
    if (p == NULL || (p->live = usage_new()) == NULL) {
        free(p);
        return error_memory(error);
    }
    p->collection = collection;
    p->stored = (count + PLACES_CHUNK - 1) / PLACES_CHUNK;
    p->cab = cab;
    atomic_init(&p->memory, sizeof(*p));
    *result = p;
    return TANSU_OK;
}

/* places_free -- fine on NULL. */
void places_free(places *p) {
    if (p == NULL)
        return;
    for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
        chunk_slot *slots = atomic_load(&p->segments[segment]);
        for (size_t i = 0; slots != NULL && i < (size_t)FIRST_SEGMENT << segment; i++) {
            chunk *c = atomic_load_explicit(&slots[i], memory_order_relaxed);
            if (c != ABSENT)
                free(c);
        }
        free(slots);
    }
    usage_free(p->live);
    free(p->gaps);
    free(p);
}

/* places_live -- made and freed with the places. */
usage *places_live(const places *p) {
    return p->live;
}

/* places_gaps_take -- nobody reads yet. */
tansu_status places_gaps_take(places *p, const uint8_t *gaps, size_t size, tansu_error *error) {
    size_t count = size / 16;
    uint64_t behind = 0;
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
    }
    if (!sound) {
        free(list);
        return error_set(error, TANSU_E_CORRUPT, "places",
                         "The stored gaps of places are damaged.");
    }
    p->gaps = list;
    p->gap_count = count;
    p->gaps_known = true;
    return TANSU_OK;
}

/* gap_end -- the end of the gap that a chunk is in; 0 when it is in none. */
static uint64_t gap_end(const places *p, uint64_t number) {
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

/* load -- a chunk from the cabinet; ABSENT when it has none. */
static tansu_status load(places *p, uint64_t number, chunk **result, tansu_error *error) {
    *result = ABSENT;
    cabinet *cab = p->cab;
    if (cab == NULL || number >= p->stored)
        return TANSU_OK;
    tansu_buffer record = TANSU_BUFFER_INIT;
    tansu_status status =
        cabinet_get(cab, CABINET_PLACES, record_number(p->collection, number), &record, error);
    if (status == TANSU_E_NOT_FOUND && (!p->gaps_known || gap_end(p, number) != 0))
        return TANSU_OK;
    if (status == TANSU_E_NOT_FOUND) {
        cabinet_doubt(p->cab);
        return error_set(error, TANSU_E_CORRUPT, "places",
                         "A stored chunk of places is missing; close the database and open it "
                         "again, and the index files are made anew.");
    }
    if (status != TANSU_OK)
        return status;
    if (record.size != sizeof((*result)->words)) {
        tansu_buffer_free(&record);
        cabinet_doubt(p->cab);
        return error_set(
            error, TANSU_E_CORRUPT, "places",
            "A stored chunk of places is damaged; close the database and open it again, "
            "and the index files are made anew.");
    }
    chunk *c = calloc(1, sizeof(*c));
    if (c != NULL) {
        memcpy(c->words, record.data, sizeof(c->words));
        c->kept = true;
    }
    tansu_buffer_free(&record);
    if (c == NULL)
        return error_memory(error);
    *result = c;
    return TANSU_OK;
}

/* publish -- puts a chunk where `expected` is; *result: the one that is there then. */
static void publish(places *p, chunk_slot *slot, chunk *expected, chunk *made, chunk **result) {
    if (atomic_compare_exchange_strong(slot, &expected, made)) {
        *result = made;
        if (made != ABSENT)
            atomic_fetch_add_explicit(&p->memory, sizeof(*made), memory_order_relaxed);
        return;
    }
    if (made != ABSENT)
        free(made);
    *result = expected;
}

/* find -- the chunk with that number, loaded if need be; NULL when none of its docnos was
 * stored. */
static tansu_status find(places *p, uint64_t number, chunk **result, tansu_error *error) {
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
        publish(p, slot, NULL, c, &c);
    }
    *result = c == ABSENT ? NULL : c;
    return TANSU_OK;
}

/* places_get -- one word. */
tansu_status places_get(places *p, uint64_t docno, uint64_t *place, tansu_error *error) {
    *place = 0;
    chunk *c;
    tansu_status status = find(p, docno / PLACES_CHUNK, &c, error);
    if (status == TANSU_OK && c != NULL)
        *place = places_load(&c->words[docno % PLACES_CHUNK]);
    return status;
}

/* places_word -- never loads anything. */
const uint64_t *places_word(places *p, uint64_t docno) {
    if (docno > INDEX_MAX_DOCNO)
        return NULL;
    chunk_slot *slot = slot_of(p, docno / PLACES_CHUNK);
    chunk *c = slot == NULL ? NULL : atomic_load_explicit(slot, memory_order_acquire);
    return c == NULL || c == ABSENT ? NULL : &c->words[docno % PLACES_CHUNK];
}

/* places_chunk -- the words stay where they are as long as the places do. */
tansu_status places_chunk(places *p, uint64_t number, const uint64_t **words, tansu_error *error) {
    chunk *c;
    tansu_status status = find(p, number, &c, error);
    *words = status == TANSU_OK && c != NULL ? c->words : NULL;
    return status;
}

/* places_prepare -- a chunk that nobody has is made here. */
tansu_status places_prepare(places *p, uint64_t docno, tansu_error *error) {
    if (docno > INDEX_MAX_DOCNO)
        return error_set(error, TANSU_E_TOO_LARGE, NULL, "The collection has no more room.");
    chunk *c;
    tansu_status status = find(p, docno / PLACES_CHUNK, &c, error);
    if (status != TANSU_OK || c != NULL)
        return status;
    chunk_slot *slot = slot_make(p, docno / PLACES_CHUNK);
    chunk *made = slot == NULL ? NULL : calloc(1, sizeof(*made));
    if (made == NULL)
        return error_memory(error);
    /* A reader may turn NULL into ABSENT meanwhile, but nothing else: only the writer comes
     * here. */
    chunk *there = atomic_load(slot);
    publish(p, slot, there, made, &c);
    if (c == ABSENT) {
        made = calloc(1, sizeof(*made));
        if (made == NULL)
            return error_memory(error);
        publish(p, slot, ABSENT, made, &c);
    }
    return TANSU_OK;
}

/* places_set -- the mark comes after the word: a checkpoint that clears the mark sees the word. */
void places_set(places *p, uint64_t docno, uint64_t place) {
    chunk *c = atomic_load_explicit(slot_of(p, docno / PLACES_CHUNK), memory_order_relaxed);
    __atomic_store_n(&c->words[docno % PLACES_CHUNK], place, __ATOMIC_RELEASE);
    atomic_store(&c->dirty, true);
}

/* places_swing -- nobody else stores words meanwhile. */
bool places_swing(places *p, uint64_t docno, uint64_t from, uint64_t to) {
    const uint64_t *word = places_word(p, docno);
    if (word == NULL || places_load(word) != from)
        return false;
    places_set(p, docno, to);
    return true;
}

/* nobody_has -- whether a chunk is neither in memory nor in the cabinet. *there: it is in
 * memory. */
static bool nobody_has(places *p, uint64_t number, chunk **there) {
    chunk_slot *slot = slot_of(p, number);
    chunk *c = slot == NULL ? NULL : atomic_load_explicit(slot, memory_order_acquire);
    *there = c == ABSENT ? NULL : c;
    return c == ABSENT || (c == NULL && (number >= p->stored || gap_end(p, number) != 0));
}

uint64_t places_next_chunk(places *p, uint64_t number, uint64_t end) {
    chunk *there;
    while (number < end && nobody_has(p, number, &there))
        number++;
    return number;
}

/* places_gaps_give -- a chunk that was made and never stored to is written all the same: it is there, and
 * would not be in the cabinet. */
tansu_status places_gaps_give(places *p, uint64_t count, tansu_buffer *gaps, tansu_error *error) {
    uint64_t chunks = (count + PLACES_CHUNK - 1) / PLACES_CHUNK;
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

/* write_chunk -- copies the words one by one, for the writer goes on storing. */
static tansu_status write_chunk(places *p, cabinet *cab, uint64_t number, chunk *c,
                                tansu_error *error) {
    uint64_t words[PLACES_CHUNK];
    for (size_t i = 0; i < PLACES_CHUNK; i++)
        words[i] = __atomic_load_n(&c->words[i], __ATOMIC_RELAXED);
    c->kept = true;
    return cabinet_put(cab, CABINET_PLACES, record_number(p->collection, number), words,
                       sizeof(words), error);
}

/* places_checkpoint -- all chunks in memory are looked at. */
tansu_status places_checkpoint(places *p, uint64_t *written, tansu_error *error) {
    cabinet *cab = p->cab;
    if (cab == NULL)
        return error_set(error, TANSU_E_MISUSE, NULL, "A memory store has no checkpoint.");
    uint64_t number = 0, count = 0;
    tansu_status status = TANSU_OK;
    for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
        size_t slots_count = (size_t)FIRST_SEGMENT << segment;
        chunk_slot *slots = atomic_load_explicit(&p->segments[segment], memory_order_acquire);
        for (size_t i = 0; slots != NULL && i < slots_count; i++) {
            chunk *c = atomic_load_explicit(&slots[i], memory_order_acquire);
            if (c == NULL || c == ABSENT)
                continue;
            atomic_store(&c->written, false);
            if (status != TANSU_OK || !atomic_exchange(&c->dirty, false))
                continue;
            atomic_store(&c->written, true);
            status = write_chunk(p, cab, number + i, c, error);
            count++;
        }
        number += slots_count;
    }
    if (written != NULL)
        *written = count;
    return status;
}

/* places_checkpoint_failed -- what it wrote is to be written again. */
void places_checkpoint_failed(places *p) {
    for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
        chunk_slot *slots = atomic_load_explicit(&p->segments[segment], memory_order_acquire);
        for (size_t i = 0; slots != NULL && i < (size_t)FIRST_SEGMENT << segment; i++) {
            chunk *c = atomic_load_explicit(&slots[i], memory_order_acquire);
            if (c != NULL && c != ABSENT && atomic_exchange(&c->written, false))
                atomic_store(&c->dirty, true);
        }
    }
}

/* places_remove_stored -- chunks that were never stored are no error. */
tansu_status places_remove_stored(cabinet *cab, uint32_t collection, uint64_t count,
                                  tansu_error *error) {
    tansu_status status = TANSU_OK;
    uint64_t chunks = (count + PLACES_CHUNK - 1) / PLACES_CHUNK;
    for (uint64_t i = 0; status == TANSU_OK && i < chunks; i++)
        status = cabinet_remove(cab, CABINET_PLACES, record_number(collection, i), error);
    return status;
}

/* places_memory -- chunks and their slots. */
uint64_t places_memory(const places *p) {
    return atomic_load_explicit(&p->memory, memory_order_relaxed);
}
