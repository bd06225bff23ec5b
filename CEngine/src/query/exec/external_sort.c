/*
 * query/exec/external_sort.c -- an external merge sort of byte records.
 *
 * A record in a file: size of the key, size of the payload (4 bytes each), tie breaker (8 bytes),
 * key, payload. There are two files: each pass reads the runs of one and writes fewer, longer runs
 * to the other.
 */
#include "query/exec/external_sort.h"

#include "query/util/merge_sort.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/bytes.h"
#include "util/error.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE 16
#define MAX_READERS 128           /* runs that are merged at once */
#define MIN_BUFFER ((size_t)4096) /* of one of them */
#define MAX_BUFFER ((size_t)256 * 1024)
#define MERGE_STEP 1024 /* records, or parts of them, between two checks of the deadline */
#define MERGE_BYTES 256 /* of one part */

typedef struct entry {
    uint64_t prefix; /* the first eight bytes of the key, as a number: decides most comparisons */
    uint64_t tie_breaker;
    union {
        size_t offset; /* of key and payload, while `bytes` may still move */
        const uint8_t *key;
    } at;
    size_t key_size;
    size_t payload_size;
} entry;

/* A sorted part of a file. */
typedef struct run {
    uint64_t begin, end;
} run;

/* Reading one run. */
typedef struct reader {
    uint64_t next, end; /* of the file, still to be read */
    uint8_t *bytes;
    size_t capacity, at, filled;
    uint64_t prefix;
    sort_record record;
} reader;

struct external_sort {
    external_sort_options options;
    uint64_t spilled;
    size_t longest; /* size of the longest record */

    entry *entries;
    size_t entry_count, entry_capacity;
    tansu_buffer bytes;
    bool resolved; /* entries have pointers to their keys instead of offsets */
    size_t next_entry;

    spill_file files[2];
    int current; /* the file that has the runs */
    run *runs;
    size_t run_count, run_capacity;
    tansu_buffer out; /* not yet written */

    reader readers[MAX_READERS];
    uint32_t heap[MAX_READERS]; /* readers that have a record, the smallest first */
    uint32_t heap_count;
    uint32_t reader_count;
    bool returned; /* the record of the first reader was returned: the next call advances it */
    uint64_t steps;
};

external_sort *external_sort_new(const external_sort_options *options) {
    external_sort *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->options = *options;
    s->files[0].fd = s->files[1].fd = -1;
    return s;
}

/* free_readers -- ends a merge. */
static void free_readers(external_sort *s) {
    for (uint32_t i = 0; i < s->reader_count; i++)
        free(s->readers[i].bytes);
    memset(s->readers, 0, s->reader_count * sizeof *s->readers);
    s->reader_count = s->heap_count = 0;
    s->returned = false;
}

/* free_entries -- frees the memory of the entries, of which none is needed. */
static void free_entries(external_sort *s) {
    free(s->entries);
    s->entries = NULL;
    s->entry_count = s->entry_capacity = s->next_entry = 0;
    tansu_buffer_free(&s->bytes);
}

void external_sort_free(external_sort *s) {
    if (!s)
        return;
    free_readers(s);
    free_entries(s);
    spill_close(&s->files[0]);
    spill_close(&s->files[1]);
    free(s->runs);
    tansu_buffer_free(&s->out);
    free(s);
}

uint64_t external_sort_spilled(const external_sort *s) {
    return s->spilled;
}

/* prefix_of -- the first eight bytes of a key, most significant first. */
static uint64_t prefix_of(const uint8_t *key, size_t size) {
    uint8_t bytes[8] = {0};
    memcpy(bytes, key, size < 8 ? size : 8);
    return load_be64(bytes);
}

/* compare_keys -- by key, and equal keys by their tie breakers. */
static int compare_keys(const uint8_t *a, size_t a_size, uint64_t a_tie, const uint8_t *b,
                        size_t b_size, uint64_t b_tie) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    if (order == 0)
        order = (a_size > b_size) - (a_size < b_size);
    return order != 0 ? order : (a_tie > b_tie) - (a_tie < b_tie);
}

/* compare_entries -- for merge_sort(). */
static int compare_entries(const void *left, const void *right) {
    const entry *a = left, *b = right;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return compare_keys(a->at.key, a->key_size, a->tie_breaker, b->at.key, b->key_size,
                        b->tie_breaker);
}

/* sort_entries -- sorts the entries in memory. */
static tansu_status sort_entries(external_sort *s, tansu_error *error) {
    for (size_t i = 0; !s->resolved && i < s->entry_count; i++)
        s->entries[i].at.key = s->bytes.data + s->entries[i].at.offset;
    s->resolved = true;
    return merge_sort(s->entries, s->entry_count, sizeof *s->entries, compare_entries,
                      s->options.deadline, error);
}

/* ---- Writing ---- */

/* buffer_size -- of a file's buffer, when there is so much memory for it. */
static size_t buffer_size(size_t memory) {
    return memory < MIN_BUFFER ? MIN_BUFFER : memory > MAX_BUFFER ? MAX_BUFFER : memory;
}

/* flush -- writes `out` to a file. */
static tansu_status flush(external_sort *s, spill_file *to, tansu_error *error) {
    tansu_status status = spill_append(to, s->out.data, s->out.size, error);
    if (status == TANSU_OK)
        s->spilled += s->out.size;
    s->out.size = 0;
    return status;
}

/* step -- counts a record of that many bytes, and checks the deadline when due. */
static tansu_status step(external_sort *s, size_t size, tansu_error *error) {
    uint64_t before = s->steps;
    s->steps += 1 + size / MERGE_BYTES;
    return (before ^ s->steps) < MERGE_STEP ? TANSU_OK : deadline_check(s->options.deadline, error);
}

/* write_record -- appends a record to a file. */
static tansu_status write_record(external_sort *s, spill_file *to, const sort_record *r,
                                 tansu_error *error) {
    uint8_t header[HEADER_SIZE];
    store_u32(header, (uint32_t)r->key_size);
    store_u32(header + 4, (uint32_t)r->payload_size);
    store_u64(header + 8, r->tie_breaker);
    if (!buffer_append(&s->out, header, sizeof header) ||
        !buffer_append(&s->out, r->key, r->key_size) ||
        !buffer_append(&s->out, r->payload, r->payload_size))
        return error_memory(error);
    tansu_status status = step(s, r->key_size + r->payload_size, error);
    if (status == TANSU_OK && s->out.size >= buffer_size(s->options.memory / 8))
        status = flush(s, to, error);
    return status;
}

/* add_run -- adds a run at the end of the file. */
static bool add_run(external_sort *s, uint64_t begin, uint64_t end) {
    if (!ARRAY_RESERVE(s->runs, s->run_count, s->run_capacity, 1))
        return false;
    s->runs[s->run_count++] = (run){begin, end};
    return true;
}

/* record_of -- the record of a sorted entry. */
static sort_record record_of(const entry *e) {
    return (sort_record){.key = e->at.key,
                         .key_size = e->key_size,
                         .tie_breaker = e->tie_breaker,
                         .payload = e->at.key + e->key_size,
                         .payload_size = e->payload_size};
}

/* spill -- writes the entries in memory as a run. */
static tansu_status spill(external_sort *s, tansu_error *error) {
    spill_file *to = &s->files[s->current];
    tansu_status status = to->fd < 0 ? spill_open(to, s->options.rctx, error) : TANSU_OK;
    uint64_t begin = to->size;
    if (status == TANSU_OK)
        status = sort_entries(s, error);
    for (size_t i = 0; status == TANSU_OK && i < s->entry_count; i++) {
        sort_record r = record_of(&s->entries[i]);
        status = write_record(s, to, &r, error);
    }
    if (status == TANSU_OK)
        status = flush(s, to, error);
    if (status == TANSU_OK && !add_run(s, begin, to->size))
        status = error_memory(error);
    s->entry_count = 0;
    s->bytes.size = 0;
    s->resolved = false;
    return status;
}

/* What an entry takes: sorting copies it. */
#define ENTRY_MEMORY (2 * sizeof(entry))

/* grown -- the capacity to have next: twice as much, or what half of the memory that is left
 * allows. 0: too little is left to be worth a reallocation. */
static size_t grown(size_t capacity, size_t least, size_t unit, size_t left) {
    size_t more = capacity < 16 ? 16 : capacity;
    if (more < least)
        more = least;
    if (more > left / 2 / unit)
        more = left / 2 / unit;
    return more < least || more < capacity / 16 ? 0 : capacity + more;
}

/* reserve -- space for another record. *full: the memory limit does not allow it. */
static tansu_status reserve(external_sort *s, size_t size, bool *full, tansu_error *error) {
    size_t limit = s->options.memory;
    size_t used = s->entry_capacity * ENTRY_MEMORY + s->bytes.capacity;
    if (s->entry_count == s->entry_capacity) {
        size_t capacity =
            used >= limit ? 0 : grown(s->entry_capacity, 1, ENTRY_MEMORY, limit - used);
        *full = capacity == 0;
        if (*full)
            return TANSU_OK;
        entry *entries = realloc(s->entries, capacity * sizeof *entries);
        if (entries == NULL)
            return error_memory(error);
        s->entries = entries;
        s->entry_capacity = capacity;
        used = capacity * ENTRY_MEMORY + s->bytes.capacity;
    }
    size_t room = s->bytes.capacity - s->bytes.size;
    *full = false;
    if (room >= size)
        return TANSU_OK;
    size_t capacity = used >= limit ? 0 : grown(s->bytes.capacity, size - room, 1, limit - used);
    *full = capacity == 0;
    if (*full)
        return TANSU_OK;
    uint8_t *bytes = realloc(s->bytes.data, capacity);
    if (bytes == NULL)
        return error_memory(error);
    s->bytes.data = bytes;
    s->bytes.capacity = capacity;
    return TANSU_OK;
}

/* Accepts one record whatever its size. */
tansu_status external_sort_add(external_sort *s, const sort_record *r, tansu_error *error) {
    size_t size = r->key_size + r->payload_size;
    bool full;
    tansu_status status = reserve(s, size, &full, error);
    if (status == TANSU_OK && full && !s->options.may_spill)
        return spill_refuse(&s->options.refusal, error);
    if (status == TANSU_OK && full && s->entry_count != 0)
        status = spill(s, error);
    if (status != TANSU_OK)
        return status;
    if (!ARRAY_RESERVE(s->entries, s->entry_count, s->entry_capacity, 1))
        return error_memory(error);
    entry *e = &s->entries[s->entry_count];
    *e = (entry){.prefix = prefix_of(r->key, r->key_size),
                 .tie_breaker = r->tie_breaker,
                 .at.offset = s->bytes.size,
                 .key_size = r->key_size,
                 .payload_size = r->payload_size};
    if (size > UINT32_MAX - HEADER_SIZE || !buffer_append(&s->bytes, r->key, r->key_size) ||
        !buffer_append(&s->bytes, r->payload, r->payload_size))
        return error_memory(error);
    s->entry_count++;
    if (size > s->longest)
        s->longest = size;
    return TANSU_OK;
}

/* ---- Merging ---- */

/* fill -- reads until `size` bytes of a reader's run are in its buffer, from `at` on. */
static tansu_status fill(external_sort *s, reader *r, size_t size, tansu_error *error) {
    if (r->filled - r->at >= size)
        return TANSU_OK;
    if (r->filled != r->at)
        memmove(r->bytes, r->bytes + r->at, r->filled - r->at);
    r->filled -= r->at;
    r->at = 0;
    if (!ARRAY_RESERVE(r->bytes, r->filled, r->capacity, size - r->filled))
        return error_memory(error);
    size_t more = r->capacity - r->filled;
    if (more > r->end - r->next)
        more = (size_t)(r->end - r->next);
    tansu_status status =
        spill_read(&s->files[s->current], r->bytes + r->filled, more, r->next, error);
    r->next += more;
    r->filled += more;
    return status;
}

/* read_record -- reads the next record of a run; TANSU_DONE at its end. */
static tansu_status read_record(external_sort *s, reader *r, tansu_error *error) {
    if (r->at == r->filled && r->next == r->end)
        return TANSU_DONE;
    tansu_status status = fill(s, r, HEADER_SIZE, error);
    if (status != TANSU_OK)
        return status;
    size_t key_size = load_u32(r->bytes + r->at), payload_size = load_u32(r->bytes + r->at + 4);
    uint64_t tie_breaker = load_u64(r->bytes + r->at + 8);
    status = fill(s, r, HEADER_SIZE + key_size + payload_size, error);
    if (status != TANSU_OK)
        return status;
    const uint8_t *key = r->bytes + r->at + HEADER_SIZE;
    r->record = (sort_record){key, key_size, tie_breaker, key + key_size, payload_size};
    r->prefix = prefix_of(key, key_size);
    r->at += HEADER_SIZE + key_size + payload_size;
    return TANSU_OK;
}

/* before -- whether the record of one reader comes before that of another. */
static bool before(const external_sort *s, uint32_t left, uint32_t right) {
    const reader *a = &s->readers[left], *b = &s->readers[right];
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix;
    return compare_keys(a->record.key, a->record.key_size, a->record.tie_breaker, b->record.key,
                        b->record.key_size, b->record.tie_breaker) < 0;
}

/* sift_down -- restores the heap below a position. */
static void sift_down(external_sort *s, uint32_t at) {
    uint32_t moved = s->heap[at];
    for (uint32_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
        if (child + 1 < s->heap_count && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], moved))
            break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = moved;
}

/* reader_limit -- how many runs can be merged at once within the memory limit; at least two. */
static uint32_t reader_limit(const external_sort *s) {
    size_t each = s->longest + HEADER_SIZE < 16 * MIN_BUFFER ? 16 * MIN_BUFFER : s->longest;
    size_t readers = s->options.memory / each;
    return readers < 2 ? 2 : readers > MAX_READERS ? MAX_READERS : (uint32_t)readers;
}

/* begin_merge -- opens runs and reads the first record of each. */
static tansu_status begin_merge(external_sort *s, const run *runs, uint32_t count,
                                tansu_error *error) {
    size_t size = buffer_size(s->options.memory / count);
    free_readers(s);
    for (uint32_t i = 0; i < count; i++) {
        reader *r = &s->readers[i];
        *r = (reader){.next = runs[i].begin, .end = runs[i].end, .bytes = malloc(size)};
        s->reader_count++;
        r->capacity = r->bytes ? size : 0;
        tansu_status status = r->bytes ? read_record(s, r, error) : error_memory(error);
        if (status == TANSU_OK)
            s->heap[s->heap_count++] = i;
        else if (status != TANSU_DONE)
            return status;
    }
    for (uint32_t at = s->heap_count / 2; at-- > 0;)
        sift_down(s, at);
    return TANSU_OK;
}

/* next_merged -- the next record of the merge. */
static tansu_status next_merged(external_sort *s, sort_record *record, tansu_error *error) {
    const sort_record *last = s->returned ? &s->readers[s->heap[0]].record : NULL;
    tansu_status status = step(s, last ? last->key_size + last->payload_size : 0, error);
    if (status == TANSU_OK && s->returned) {
        status = read_record(s, &s->readers[s->heap[0]], error);
        if (status == TANSU_DONE) {
            s->heap[0] = s->heap[--s->heap_count];
            status = TANSU_OK;
        }
        if (status == TANSU_OK && s->heap_count != 0)
            sift_down(s, 0);
    }
    s->returned = status == TANSU_OK;
    if (status != TANSU_OK)
        return status;
    if (s->heap_count == 0) {
        free_readers(s);
        return TANSU_DONE;
    }
    *record = s->readers[s->heap[0]].record;
    return TANSU_OK;
}

/* merge_pass -- merges the runs of the current file, `most` at a time, into the other file. */
static tansu_status merge_pass(external_sort *s, uint32_t most, tansu_error *error) {
    spill_file *from = &s->files[s->current], *to = &s->files[1 - s->current];
    tansu_status status = to->fd < 0 ? spill_open(to, s->options.rctx, error) : TANSU_OK;
    size_t kept = 0;
    for (size_t at = 0; status == TANSU_OK && at < s->run_count; at += most) {
        size_t left = s->run_count - at;
        uint64_t begin = to->size;
        sort_record r;
        status = begin_merge(s, s->runs + at, left < most ? (uint32_t)left : most, error);
        while (status == TANSU_OK && (status = next_merged(s, &r, error)) == TANSU_OK)
            status = write_record(s, to, &r, error);
        if (status == TANSU_DONE)
            status = flush(s, to, error);
        /* Overwrites runs that have been merged. */
        s->runs[kept++] = (run){begin, to->size};
    }
    free_readers(s);
    if (status == TANSU_OK)
        status = spill_clear(from, error);
    s->run_count = kept;
    s->current = 1 - s->current;
    return status;
}

tansu_status external_sort_finish(external_sort *s, tansu_error *error) {
    if (s->run_count == 0)
        return sort_entries(s, error);
    tansu_status status = s->entry_count != 0 ? spill(s, error) : TANSU_OK;
    free_entries(s);
    uint32_t most = reader_limit(s);
    while (status == TANSU_OK && s->run_count > most)
        status = merge_pass(s, most, error);
    tansu_buffer_free(&s->out);
    return status == TANSU_OK ? begin_merge(s, s->runs, (uint32_t)s->run_count, error) : status;
}

tansu_status external_sort_next(external_sort *s, sort_record *record, tansu_error *error) {
    if (s->run_count != 0)
        return next_merged(s, record, error);
    if (s->next_entry == s->entry_count) {
        free_entries(s);
        return TANSU_DONE;
    }
    *record = record_of(&s->entries[s->next_entry++]);
    return TANSU_OK;
}
