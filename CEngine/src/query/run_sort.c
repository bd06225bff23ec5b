/*
 * query/run_sort.c -- see run_sort.h.
 *
 * A record in a file: size of the key, size of the payload (4 bytes each), tie (8 bytes), key, payload. Two
 * files take turns: each pass reads the runs of one and writes fewer and longer ones to the other.
 */
#include "query/run_sort.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"
#include "query/sort_steps.h"
#include <stdlib.h>
#include <string.h>

#define HEAD_SIZE 16
#define MOST_READERS 128            /* runs that are merged at once */
#define LEAST_BUFFER ((size_t)4096) /* of one of them */
#define MOST_BUFFER ((size_t)256 * 1024)
#define MERGE_STEP 1024 /* records between two looks at the watch */

typedef struct entry {
    uint64_t head; /* the first eight bytes of the key, as a number: decides most comparisons */
    uint64_t tie;
    union {
        size_t offset; /* of key and payload, as long as these may still move */
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
    size_t room, at, filled;
    uint64_t head;
    run_record record;
} reader;

struct run_sort {
    run_sort_how how;
    uint64_t count;
    uint64_t spilled;
    size_t longest; /* record */

    entry *entries;
    size_t entry_count, entry_room;
    tansu_buffer bytes;
    bool placed; /* the entries have their keys' places: nothing moves any more */
    size_t next_entry;

    spill_file files[2];
    int present; /* the file that has the runs */
    run *runs;
    size_t run_count, run_room;
    tansu_buffer out; /* to be written */

    reader readers[MOST_READERS];
    uint32_t heap[MOST_READERS]; /* readers that have a record, the least first */
    uint32_t heap_count;
    uint32_t reader_count;
    bool given; /* the record of the first reader was given away: it goes on at the next call */
    uint32_t steps;
};

/* run_sort_new -- see run_sort.h. */
run_sort *run_sort_new(const run_sort_how *how) {
    run_sort *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->how = *how;
    s->files[0].fd = s->files[1].fd = -1;
    return s;
}

/* free_readers -- ends a merge. */
static void free_readers(run_sort *s) {
    for (uint32_t i = 0; i < s->reader_count; i++)
        free(s->readers[i].bytes);
    memset(s->readers, 0, s->reader_count * sizeof *s->readers);
    s->reader_count = s->heap_count = 0;
    s->given = false;
}

/* run_sort_free -- fine on NULL. */
void run_sort_free(run_sort *s) {
    if (!s)
        return;
    free_readers(s);
    spill_close(&s->files[0]);
    spill_close(&s->files[1]);
    free(s->entries);
    free(s->runs);
    tansu_buffer_free(&s->bytes);
    tansu_buffer_free(&s->out);
    free(s);
}

uint64_t run_sort_count(const run_sort *s) {
    return s->count;
}

uint64_t run_sort_spilled(const run_sort *s) {
    return s->spilled;
}

/* head_of -- a key's first eight bytes, most significant first. */
static uint64_t head_of(const uint8_t *key, size_t size) {
    uint8_t bytes[8] = {0};
    memcpy(bytes, key, size < 8 ? size : 8);
    return load_be64(bytes);
}

/* compare_keys -- the order of two keys whose first bytes are alike, or of their ties. */
static int compare_keys(const uint8_t *a, size_t a_size, uint64_t a_tie, const uint8_t *b,
                        size_t b_size, uint64_t b_tie) {
    int order = memcmp(a, b, a_size < b_size ? a_size : b_size);
    if (order == 0)
        order = (a_size > b_size) - (a_size < b_size);
    return order != 0 ? order : (a_tie > b_tie) - (a_tie < b_tie);
}

/* compare_entries -- for sort_steps(). */
static int compare_entries(const void *left, const void *right) {
    const entry *a = left, *b = right;
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    return compare_keys(a->at.key, a->key_size, a->tie, b->at.key, b->key_size, b->tie);
}

/* sort_entries -- what is in memory. */
static tansu_status sort_entries(run_sort *s, tansu_error *error) {
    for (size_t i = 0; !s->placed && i < s->entry_count; i++)
        s->entries[i].at.key = s->bytes.data + s->entries[i].at.offset;
    s->placed = true;
    return sort_steps(s->entries, s->entry_count, sizeof *s->entries, compare_entries, s->how.watch,
                      error);
}

/* ---- Writing ---- */

/* flush -- writes what is in `out` to a file. */
static tansu_status flush(run_sort *s, spill_file *to, tansu_error *error) {
    tansu_status status = spill_append(to, s->out.data, s->out.size, error);
    if (status == TANSU_OK)
        s->spilled += s->out.size;
    s->out.size = 0;
    return status;
}

/* step -- asks the watch now and then. */
static tansu_status step(run_sort *s, tansu_error *error) {
    return ++s->steps % MERGE_STEP == 0 ? watch_check(s->how.watch, error) : TANSU_OK;
}

/* write_record -- appends one to a file. */
static tansu_status write_record(run_sort *s, spill_file *to, const run_record *r,
                                 tansu_error *error) {
    uint8_t head[HEAD_SIZE];
    store_u32(head, (uint32_t)r->key_size);
    store_u32(head + 4, (uint32_t)r->payload_size);
    store_u64(head + 8, r->tie);
    if (!buffer_append(&s->out, head, sizeof head) ||
        !buffer_append(&s->out, r->key, r->key_size) ||
        !buffer_append(&s->out, r->payload, r->payload_size))
        return error_memory(error);
    tansu_status status = step(s, error);
    if (status == TANSU_OK && s->out.size >= MOST_BUFFER)
        status = flush(s, to, error);
    return status;
}

/* add_run -- notes a run that ends where the file does. */
static bool add_run(run_sort *s, uint64_t begin, uint64_t end) {
    if (s->run_count == s->run_room) {
        size_t room = s->run_room == 0 ? 16 : 2 * s->run_room;
        run *runs = realloc(s->runs, room * sizeof *runs);
        if (!runs)
            return false;
        s->runs = runs;
        s->run_room = room;
    }
    s->runs[s->run_count++] = (run){begin, end};
    return true;
}

/* record_of -- an entry that was sorted. */
static run_record record_of(const entry *e) {
    return (run_record){.key = e->at.key,
                        .key_size = e->key_size,
                        .tie = e->tie,
                        .payload = e->at.key + e->key_size,
                        .payload_size = e->payload_size};
}

/* spill -- writes what is in memory as a run. */
static tansu_status spill(run_sort *s, tansu_error *error) {
    spill_file *to = &s->files[s->present];
    tansu_status status = to->fd < 0 ? spill_open(to, s->how.view, error) : TANSU_OK;
    uint64_t begin = to->size;
    if (status == TANSU_OK)
        status = sort_entries(s, error);
    for (size_t i = 0; status == TANSU_OK && i < s->entry_count; i++) {
        run_record r = record_of(&s->entries[i]);
        status = write_record(s, to, &r, error);
    }
    if (status == TANSU_OK)
        status = flush(s, to, error);
    if (status == TANSU_OK && !add_run(s, begin, to->size))
        status = error_memory(error);
    s->entry_count = 0;
    s->bytes.size = 0;
    s->placed = false;
    return status;
}

/* over -- whether another record would be over the memory. */
static bool over(const run_sort *s, size_t size) {
    return (s->entry_count + 1) * sizeof(entry) + s->bytes.size + size > s->how.memory;
}

/* run_sort_add -- see run_sort.h. One record is taken whatever its size. */
tansu_status run_sort_add(run_sort *s, const run_record *r, tansu_error *error) {
    size_t size = r->key_size + r->payload_size;
    if (over(s, size) && !s->how.may_spill)
        return error_set(error, TANSU_E_TOO_LARGE, s->how.context, "%s", s->how.message);
    if (over(s, size) && s->entry_count != 0) {
        tansu_status status = spill(s, error);
        if (status != TANSU_OK)
            return status;
    }
    if (s->entry_count == s->entry_room) {
        size_t room = s->entry_room == 0 ? 64 : 2 * s->entry_room;
        entry *entries = realloc(s->entries, room * sizeof *entries);
        if (!entries)
            return error_memory(error);
        s->entries = entries;
        s->entry_room = room;
    }
    entry *e = &s->entries[s->entry_count];
    *e = (entry){.head = head_of(r->key, r->key_size),
                 .tie = r->tie,
                 .at.offset = s->bytes.size,
                 .key_size = r->key_size,
                 .payload_size = r->payload_size};
    if (size > UINT32_MAX - HEAD_SIZE || !buffer_append(&s->bytes, r->key, r->key_size) ||
        !buffer_append(&s->bytes, r->payload, r->payload_size))
        return error_memory(error);
    s->entry_count++;
    s->count++;
    if (size > s->longest)
        s->longest = size;
    return TANSU_OK;
}

/* ---- Merging ---- */

/* fill -- makes `size` bytes of a reader's run be in its memory, from `at` on. */
static tansu_status fill(run_sort *s, reader *r, size_t size, tansu_error *error) {
    if (r->filled - r->at >= size)
        return TANSU_OK;
    if (r->filled != r->at)
        memmove(r->bytes, r->bytes + r->at, r->filled - r->at);
    r->filled -= r->at;
    r->at = 0;
    if (r->room < size) {
        uint8_t *bytes = realloc(r->bytes, size);
        if (!bytes)
            return error_memory(error);
        r->bytes = bytes;
        r->room = size;
    }
    size_t more = r->room - r->filled;
    if (more > r->end - r->next)
        more = (size_t)(r->end - r->next);
    tansu_status status =
        spill_read(&s->files[s->present], r->bytes + r->filled, more, r->next, error);
    r->next += more;
    r->filled += more;
    return status;
}

/* read_record -- a reader's next record; TANSU_DONE at the end of its run. */
static tansu_status read_record(run_sort *s, reader *r, tansu_error *error) {
    if (r->at == r->filled && r->next == r->end)
        return TANSU_DONE;
    tansu_status status = fill(s, r, HEAD_SIZE, error);
    if (status != TANSU_OK)
        return status;
    size_t key_size = load_u32(r->bytes + r->at), payload_size = load_u32(r->bytes + r->at + 4);
    uint64_t tie = load_u64(r->bytes + r->at + 8);
    status = fill(s, r, HEAD_SIZE + key_size + payload_size, error);
    if (status != TANSU_OK)
        return status;
    const uint8_t *key = r->bytes + r->at + HEAD_SIZE;
    r->record = (run_record){key, key_size, tie, key + key_size, payload_size};
    r->head = head_of(key, key_size);
    r->at += HEAD_SIZE + key_size + payload_size;
    return TANSU_OK;
}

/* before -- whether one reader's record comes before another's. */
static bool before(const run_sort *s, uint32_t left, uint32_t right) {
    const reader *a = &s->readers[left], *b = &s->readers[right];
    if (a->head != b->head)
        return a->head < b->head;
    return compare_keys(a->record.key, a->record.key_size, a->record.tie, b->record.key,
                        b->record.key_size, b->record.tie) < 0;
}

/* sink -- moves the reader at a place of the heap down to where it belongs. */
static void sink(run_sort *s, uint32_t at) {
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

/* most_readers -- how many runs the memory can merge at once; two at the least. */
static uint32_t most_readers(const run_sort *s) {
    size_t each = s->longest + HEAD_SIZE < 16 * LEAST_BUFFER ? 16 * LEAST_BUFFER : s->longest;
    size_t readers = s->how.memory / each;
    return readers < 2 ? 2 : readers > MOST_READERS ? MOST_READERS : (uint32_t)readers;
}

/* begin_merge -- opens runs and reads the first record of each. */
static tansu_status begin_merge(run_sort *s, const run *runs, uint32_t count, tansu_error *error) {
    size_t room = s->how.memory / count;
    room = room < LEAST_BUFFER ? LEAST_BUFFER : room > MOST_BUFFER ? MOST_BUFFER : room;
    free_readers(s);
    for (uint32_t i = 0; i < count; i++) {
        reader *r = &s->readers[i];
        *r = (reader){.next = runs[i].begin, .end = runs[i].end, .bytes = malloc(room)};
        s->reader_count++;
        r->room = r->bytes ? room : 0;
        tansu_status status = r->bytes ? read_record(s, r, error) : error_memory(error);
        if (status == TANSU_OK)
            s->heap[s->heap_count++] = i;
        else if (status != TANSU_DONE)
            return status;
    }
    for (uint32_t at = s->heap_count / 2; at-- > 0;)
        sink(s, at);
    return TANSU_OK;
}

/* merged -- the next record of the merge. */
static tansu_status merged(run_sort *s, run_record *record, tansu_error *error) {
    tansu_status status = step(s, error);
    if (status == TANSU_OK && s->given) {
        status = read_record(s, &s->readers[s->heap[0]], error);
        if (status == TANSU_DONE) {
            s->heap[0] = s->heap[--s->heap_count];
            status = TANSU_OK;
        }
        if (status == TANSU_OK && s->heap_count != 0)
            sink(s, 0);
    }
    s->given = status == TANSU_OK;
    if (status != TANSU_OK)
        return status;
    if (s->heap_count == 0) {
        s->given = false;
        return TANSU_DONE;
    }
    *record = s->readers[s->heap[0]].record;
    return TANSU_OK;
}

/* merge_pass -- merges the runs of the present file, some at a time, into the other file. */
static tansu_status merge_pass(run_sort *s, uint32_t most, tansu_error *error) {
    spill_file *from = &s->files[s->present], *to = &s->files[1 - s->present];
    tansu_status status = to->fd < 0 ? spill_open(to, s->how.view, error) : TANSU_OK;
    size_t kept = 0;
    for (size_t at = 0; status == TANSU_OK && at < s->run_count; at += most) {
        size_t left = s->run_count - at;
        uint64_t begin = to->size;
        run_record r;
        status = begin_merge(s, s->runs + at, left < most ? (uint32_t)left : most, error);
        while (status == TANSU_OK && (status = merged(s, &r, error)) == TANSU_OK)
            status = write_record(s, to, &r, error);
        if (status == TANSU_DONE)
            status = flush(s, to, error);
        /* It comes to lie where runs were that have been merged. */
        s->runs[kept++] = (run){begin, to->size};
    }
    free_readers(s);
    if (status == TANSU_OK)
        status = spill_clear(from, error);
    s->run_count = kept;
    s->present = 1 - s->present;
    return status;
}

/* run_sort_finish -- see run_sort.h. */
tansu_status run_sort_finish(run_sort *s, tansu_error *error) {
    if (s->run_count == 0)
        return sort_entries(s, error);
    tansu_status status = s->entry_count != 0 ? spill(s, error) : TANSU_OK;
    free(s->entries);
    s->entries = NULL;
    s->entry_room = 0;
    tansu_buffer_free(&s->bytes);
    uint32_t most = most_readers(s);
    while (status == TANSU_OK && s->run_count > most)
        status = merge_pass(s, most, error);
    tansu_buffer_free(&s->out);
    return status == TANSU_OK ? begin_merge(s, s->runs, (uint32_t)s->run_count, error) : status;
}

/* run_sort_next -- see run_sort.h. */
tansu_status run_sort_next(run_sort *s, run_record *record, tansu_error *error) {
    if (s->run_count != 0)
        return merged(s, record, error);
    if (s->next_entry == s->entry_count)
        return TANSU_DONE;
    *record = record_of(&s->entries[s->next_entry++]);
    return TANSU_OK;
}
