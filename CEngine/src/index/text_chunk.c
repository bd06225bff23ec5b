/*
 * index/text_chunk.c -- encoding and decoding chunks of documents.
 */
#include "index/text_chunk.h"

#include "index/text_document.h"
#include "util/bytes.h"

#include <string.h>

/* From so many ones on a number follows as it is. */
#define RICE_ESCAPE 24u
#define RICE_PLAIN 40u
/* In the first byte: the documents do not follow one by one. */
#define CHUNK_MANY 0x80u

text_form text_form_of(const index_definition *definition) {
    return (text_form){.fields = text_fields(definition),
                       .positions = !definition->text->leaves_positions,
                       .weights = definition->text->weights};
}

/* ---- Bits ---- */

/* Bits that are appended to a buffer, the lowest of a byte first. */
typedef struct bits_out {
    tansu_buffer *out;
    uint64_t word;
    unsigned count; /* less than eight */
} bits_out;

/* A number takes at most so many bytes; eight are written at once. */
#define BITS_NUMBER 8

/* put_bits -- up to 40 of them, for which there is room. */
static inline void put_bits(bits_out *b, uint64_t value, unsigned count) {
    b->word |= value << b->count;
    b->count += count;
    store_u64(b->out->data + b->out->size, b->word);
    b->out->size += b->count / 8;
    b->word >>= b->count & ~7u;
    b->count &= 7;
}

/* end_bits -- fills the last byte; returns how many of its bits are unused. */
static unsigned end_bits(bits_out *b) {
    unsigned unused = (8 - b->count) & 7;
    if (unused != 0)
        put_bits(b, 0, unused);
    return unused;
}

/* put_rice -- a number below 2^40 with a parameter. */
static void put_rice(bits_out *b, uint64_t number, unsigned parameter) {
    uint64_t upper = number >> parameter;
    if (upper >= RICE_ESCAPE) {
        put_bits(b, ((uint64_t)1 << RICE_ESCAPE) - 1, RICE_ESCAPE);
        put_bits(b, number, RICE_PLAIN);
        return;
    }
    put_bits(b, ((uint64_t)1 << upper) - 1, (unsigned)upper + 1);
    put_bits(b, number & (((uint64_t)1 << parameter) - 1), parameter);
}

/* peek -- at least 57 bits from one on. */
static inline uint64_t peek(const uint8_t *bytes, size_t bit) {
    return load_u64(bytes + bit / 8) >> (bit & 7);
}

/* take_rice -- the number at *bit, which is moved behind it; false when it would end after `end`. */
static inline bool take_rice(const uint8_t *bytes, size_t *bit, size_t end, unsigned parameter,
                             uint64_t *number) {
    if (*bit >= end)
        return false;
    uint64_t word = peek(bytes, *bit);
    unsigned upper = (unsigned)__builtin_ctzll(~word | (uint64_t)1 << RICE_ESCAPE);
    if (upper == RICE_ESCAPE) {
        *bit += RICE_ESCAPE;
        if (*bit + RICE_PLAIN > end)
            return false;
        *number = peek(bytes, *bit) & (((uint64_t)1 << RICE_PLAIN) - 1);
        *bit += RICE_PLAIN;
        return true;
    }
    *bit += upper + 1;
    if (*bit + parameter > end)
        return false;
    uint64_t lower = peek(bytes, *bit) & (((uint64_t)1 << parameter) - 1);
    *number = (uint64_t)upper << parameter | lower;
    *bit += parameter;
    return true;
}

/* best_parameter -- for numbers of a mean. */
static unsigned best_parameter(uint64_t sum, uint64_t count) {
    uint64_t mean = count == 0 ? 0 : sum / count;
    mean -= mean / 4;
    return mean == 0 ? 0 : 63 - (unsigned)__builtin_clzll(mean);
}

/* position_parameter -- that of the positions of a term in a field: the more often it is there, the
 * closer they are. position_scaled -- a number as that of a term that is there once. */
static inline unsigned position_parameter(unsigned base, uint64_t count) {
    unsigned closer = 62 - (unsigned)__builtin_clzll(count + 1);
    return base > closer ? base - closer : 0;
}
static inline uint64_t position_scaled(uint64_t number, uint64_t count) {
    return number << (62 - (unsigned)__builtin_clzll(count + 1));
}

/* put_varint -- appends one; false when memory is exhausted. */
static bool put_varint(tansu_buffer *out, uint64_t number) {
    if (!buffer_reserve(out, VARINT_MAX))
        return false;
    out->size = (size_t)(varint_put(out->data + out->size, number) - out->data);
    return true;
}

/* ---- Postings ---- */

/* A posting that is read number by number. */
typedef struct posting_walk {
    const uint8_t *at, *end;
    uint32_t fields; /* a bit for each that is left */
    uint64_t first;  /* the count of the first one, less one */
    bool begun;
} posting_walk;

/* posting_begin -- false when it names fields that there are not, or none. */
static bool posting_begin(posting_walk *w, const text_form *form, const uint8_t *bytes,
                          size_t size) {
    uint64_t first;
    *w = (posting_walk){.at = bytes, .end = bytes + size, .fields = 1};
    if (!varint_take(&w->at, w->end, &first))
        return false;
    if (form->fields > 1) {
        w->fields = (uint32_t)first & ((1u << form->fields) - 1);
        first >>= form->fields;
    }
    w->first = first;
    return w->fields != 0;
}

/* posting_field -- the next field and its count. The positions are to be taken. */
static bool posting_field(posting_walk *w, uint32_t *field, uint64_t *count) {
    *field = (uint32_t)__builtin_ctz(w->fields);
    w->fields &= w->fields - 1;
    if (!w->begun)
        *count = w->first;
    else if (!varint_take(&w->at, w->end, count))
        return false;
    w->begun = true;
    return ++*count <= TEXT_MAX_POSITION;
}

/* posting_end -- where the posting ends that begins at `at`, and its weighted count; NULL if none
 * begins there. */
static const uint8_t *posting_end(const text_form *form, const uint8_t *at, const uint8_t *end,
                                  uint64_t *weighted) {
    posting_walk w;
    uint32_t field;
    uint64_t count, number;
    *weighted = 0;
    if (!posting_begin(&w, form, at, (size_t)(end - at)))
        return NULL;
    while (w.fields != 0) {
        if (!posting_field(&w, &field, &count))
            return NULL;
        *weighted += count * form->weights[field];
        for (; form->positions && count != 0; count--)
            if (!varint_take(&w.at, w.end, &number) || number >= TEXT_MAX_POSITION)
                return NULL;
    }
    return w.at;
}

bool text_weighted(const text_form *form, const text_posting *posting, uint64_t *weighted) {
    const uint8_t *end = posting->bytes + posting->size;
    return posting_end(form, posting->bytes, end, weighted) == end;
}

/* ---- Lengths, rounded down to a byte ---- */

/* length_code -- below 16 the length, then a power of two and three bits. length_floor: back. */
static uint8_t length_code(uint32_t length) {
    if (length < 16)
        return (uint8_t)length;
    unsigned shift = 28 - (unsigned)__builtin_clz(length);
    return (uint8_t)(8 + shift * 8 + (length >> shift & 7));
}
static uint32_t length_floor(uint8_t code) {
    return code < 16 ? code : (uint32_t)(8 + (code & 7)) << (code / 8 - 1);
}

/* ---- Impacts ---- */

/* impacts_reduce -- leaves what no other exceeds in both, by descending counts, and of these at most
 * TEXT_MAX_IMPACTS, the most alike of which become one. Returns how many. */
static uint32_t impacts_reduce(text_impact *list, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        const text_impact next = list[i];
        uint32_t at = kept;
        while (at > 0 && list[at - 1].weighted < next.weighted)
            at--;
        /* Those before have no smaller counts. */
        if (at > 0 && list[at - 1].length <= next.length)
            continue;
        uint32_t end = at;
        while (end < kept && list[end].length >= next.length)
            end++;
        if (at > 0 && list[at - 1].weighted == next.weighted)
            at--;
        memmove(list + at + 1, list + end, (kept - end) * sizeof *list);
        list[at] = next;
        kept = kept - (end - at) + 1;
    }
    while (kept > TEXT_MAX_IMPACTS) {
        uint32_t best = 0;
        double least = 3;
        for (uint32_t i = 0; i + 1 < kept; i++) {
            double lost = 2 - (double)list[i + 1].weighted / (double)list[i].weighted -
                          (double)list[i + 1].length / (double)list[i].length;
            if (lost < least) {
                least = lost;
                best = i;
            }
        }
        list[best].length = list[best + 1].length;
        kept--;
        memmove(list + best + 1, list + best + 2, (kept - best - 1) * sizeof *list);
    }
    return kept;
}

/* ---- Reading ---- */

/* open_few -- a chunk of few documents: where each is, and the impacts. */
static bool open_few(text_chunk *chunk, const uint8_t *at, const uint8_t *end) {
    text_impact impacts[TEXT_CHUNK_FEW];
    uint64_t rid = chunk->first;
    for (uint32_t i = 0; i < chunk->count; i++) {
        uint64_t distance = 0;
        if ((i != 0 && !varint_take(&at, end, &distance)) || at == end)
            return false;
        rid += distance;
        chunk->rids[i] = rid;
        chunk->lengths[i] = impacts[i].length = length_floor(*at++);
        const uint8_t *behind = posting_end(chunk->form, at, end, &impacts[i].weighted);
        if (!behind)
            return false;
        chunk->postings_at[i] = (uint32_t)(at - chunk->bytes);
        chunk->posting_sizes[i] = (uint32_t)(behind - at);
        at = behind;
    }
    chunk->impact_count = impacts_reduce(impacts, chunk->count);
    memcpy(chunk->impacts, impacts, chunk->impact_count * sizeof *impacts);
    return rid == chunk->last && at == end;
}

/* open_many -- the beginning of a chunk of many documents. */
static bool open_many(text_chunk *chunk, const uint8_t *at, const uint8_t *end) {
    uint64_t usual = 1;
    if (end - at < 3)
        return false;
    chunk->distance_bits = *at++;
    chunk->position_bits = *at++;
    if ((chunk->form->fields > 1 && !varint_take(&at, end, &usual)) || usual == 0 ||
        usual >> chunk->form->fields != 0 || at == end)
        return false;
    chunk->usual_fields = (uint32_t)usual;
    chunk->impact_count = *at++;
    if (chunk->distance_bits > RICE_PLAIN || chunk->position_bits > RICE_PLAIN ||
        chunk->impact_count > TEXT_MAX_IMPACTS)
        return false;
    for (uint32_t i = 0; i < chunk->impact_count; i++) {
        if (!varint_take(&at, end, &chunk->impacts[i].weighted) || at == end)
            return false;
        chunk->impacts[i].length = length_floor(*at++);
    }
    uint64_t size;
    if (!varint_take(&at, end, &size) || end - at < 1 || size > (uint64_t)(end - at - 1))
        return false;
    unsigned unused = *at++;
    chunk->documents_at = (size_t)(at - chunk->bytes) * 8;
    chunk->positions_at = chunk->documents_at + (size_t)size * 8;
    chunk->documents_end = chunk->positions_at - (unused & 7);
    chunk->positions_end = chunk->size * 8 - (unused >> 3 & 7);
    chunk->next_at = chunk->positions_at;
    chunk->next = 0;
    return chunk->documents_end >= chunk->documents_at &&
           chunk->positions_end >= chunk->positions_at;
}

bool text_chunk_open(text_chunk *chunk, const text_form *form, const uint8_t *bytes, size_t size,
                     uint64_t last) {
    const uint8_t *at = bytes, *end = bytes + size;
    uint64_t span = 0;
    chunk->form = form;
    chunk->bytes = bytes;
    chunk->size = size;
    chunk->last = last;
    if (size < 2 || size > UINT32_MAX)
        return false;
    chunk->many = (*at & CHUNK_MANY) != 0;
    chunk->count = (*at++ & ~CHUNK_MANY) + 1u;
    if ((chunk->count != 1 || chunk->many) && (!varint_take(&at, end, &span) || span > last))
        return false;
    chunk->first = last - span;
    if (chunk->many)
        return open_many(chunk, at, end);
    return chunk->count <= TEXT_CHUNK_FEW && open_few(chunk, at, end);
}

/* decode_few -- the counts of few documents. */
static bool decode_few(text_chunk *chunk) {
    const text_form *form = chunk->form;
    for (uint32_t i = 0; i < chunk->count; i++) {
        posting_walk w;
        uint32_t *counts = chunk->counts + i * form->fields;
        memset(counts, 0, form->fields * sizeof *counts);
        if (!posting_begin(&w, form, chunk->bytes + chunk->postings_at[i], chunk->posting_sizes[i]))
            return false;
        while (w.fields != 0) {
            uint32_t field;
            uint64_t count, number;
            if (!posting_field(&w, &field, &count))
                return false;
            counts[field] = (uint32_t)count;
            for (; form->positions && count != 0; count--)
                if (!varint_take(&w.at, w.end, &number))
                    return false;
        }
    }
    return true;
}

/* decode_counts -- those of a document, at *bit. */
static inline bool decode_counts(const text_chunk *chunk, size_t *bit, uint32_t *counts) {
    const uint32_t fields = chunk->form->fields;
    uint64_t count;
    if (fields == 1) {
        if (!take_rice(chunk->bytes, bit, chunk->documents_end, 0, &count) ||
            count >= TEXT_MAX_POSITION)
            return false;
        counts[0] = (uint32_t)count + 1;
        return true;
    }
    if (*bit >= chunk->documents_end)
        return false;
    uint64_t there = peek(chunk->bytes, *bit);
    bool usual = there & 1;
    *bit += usual ? 1 : 1 + fields;
    there = usual ? chunk->usual_fields : there >> 1;
    if (*bit > chunk->documents_end)
        return false;
    for (uint32_t i = 0; i < fields; i++) {
        counts[i] = 0;
        if ((there >> i & 1) == 0)
            continue;
        if (!take_rice(chunk->bytes, bit, chunk->documents_end, 0, &count) ||
            count >= TEXT_MAX_POSITION)
            return false;
        counts[i] = (uint32_t)count + 1;
    }
    return true;
}

bool text_chunk_decode(text_chunk *chunk) {
    if (!chunk->many)
        return decode_few(chunk);
    const uint32_t fields = chunk->form->fields;
    size_t bit = chunk->documents_at;
    uint64_t rid = chunk->first;
    for (uint32_t i = 0; i < chunk->count; i++) {
        uint64_t distance;
        if (i != 0) {
            if (!take_rice(chunk->bytes, &bit, chunk->documents_end, chunk->distance_bits,
                           &distance))
                return false;
            rid += distance + 1;
        }
        chunk->rids[i] = rid;
        if (!decode_counts(chunk, &bit, chunk->counts + i * fields))
            return false;
    }
    return rid == chunk->last;
}

/* positions_of_few -- text_chunk_positions() of few documents. */
static bool positions_of_few(const text_chunk *chunk, uint32_t document, uint32_t wanted,
                             uint32_t *positions) {
    posting_walk w;
    if (!posting_begin(&w, chunk->form, chunk->bytes + chunk->postings_at[document],
                       chunk->posting_sizes[document]))
        return false;
    while (w.fields != 0) {
        uint32_t field;
        uint64_t count, number, position = 0;
        if (!posting_field(&w, &field, &count))
            return false;
        for (uint64_t i = 0; i < count; i++) {
            if (!varint_take(&w.at, w.end, &number))
                return false;
            position += number + (i != 0);
            if (position >= TEXT_MAX_POSITION)
                return false;
            if (field == wanted)
                positions[i] = (uint32_t)position;
        }
        if (field == wanted)
            break;
    }
    return true;
}

/* pass_positions -- takes `count` positions at *bit. */
static bool pass_positions(const text_chunk *chunk, size_t *bit, uint64_t count) {
    uint64_t number;
    unsigned parameter = position_parameter(chunk->position_bits, count);
    for (; count != 0; count--)
        if (!take_rice(chunk->bytes, bit, chunk->positions_end, parameter, &number))
            return false;
    return true;
}

bool text_chunk_positions(text_chunk *chunk, uint32_t document, uint32_t field,
                          uint32_t *positions) {
    const uint32_t fields = chunk->form->fields;
    if (!chunk->many)
        return positions_of_few(chunk, document, field, positions);
    if (document < chunk->next) {
        chunk->next = 0;
        chunk->next_at = chunk->positions_at;
    }
    for (; chunk->next < document; chunk->next++) {
        for (uint32_t i = 0; i < fields; i++)
            if (!pass_positions(chunk, &chunk->next_at, chunk->counts[chunk->next * fields + i]))
                return false;
    }
    size_t bit = chunk->next_at;
    const uint32_t *counts = chunk->counts + document * fields;
    for (uint32_t i = 0; i < field; i++)
        if (!pass_positions(chunk, &bit, counts[i]))
            return false;
    uint64_t position = 0;
    unsigned parameter = position_parameter(chunk->position_bits, counts[field]);
    for (uint32_t i = 0; i < counts[field]; i++) {
        uint64_t number;
        if (!take_rice(chunk->bytes, &bit, chunk->positions_end, parameter, &number))
            return false;
        position += number + (i != 0);
        if (position >= TEXT_MAX_POSITION)
            return false;
        positions[i] = (uint32_t)position;
    }
    return true;
}

/* put_posting -- the posting of a document of a chunk of many, from *bit of the positions on. */
static bool put_posting(text_chunk *chunk, uint32_t document, size_t *bit, tansu_buffer *bytes) {
    const text_form *form = chunk->form;
    const uint32_t *counts = chunk->counts + document * form->fields;
    uint32_t fields = 0;
    for (uint32_t i = 0; i < form->fields; i++)
        fields |= (uint32_t)(counts[i] != 0) << i;
    bool first = true;
    for (uint32_t i = 0; i < form->fields; i++) {
        if (counts[i] == 0)
            continue;
        uint64_t number = counts[i] - 1;
        if (first && form->fields > 1)
            number = number << form->fields | fields;
        if (!put_varint(bytes, number))
            return false;
        first = false;
        for (uint32_t k = 0; form->positions && k < counts[i]; k++) {
            uint64_t number;
            if (!take_rice(chunk->bytes, bit, chunk->positions_end,
                           position_parameter(chunk->position_bits, counts[i]), &number) ||
                !put_varint(bytes, number))
                return false;
        }
    }
    return true;
}

bool text_chunk_postings(text_chunk *chunk, text_posting *postings, tansu_buffer *bytes) {
    if (!chunk->many) {
        for (uint32_t i = 0; i < chunk->count; i++)
            postings[i] = (text_posting){chunk->rids[i], chunk->lengths[i], chunk->posting_sizes[i],
                                         chunk->bytes + chunk->postings_at[i]};
        return true;
    }
    size_t offsets[TEXT_CHUNK_MOST + 1], bit = chunk->positions_at;
    for (uint32_t i = 0; i < chunk->count; i++) {
        offsets[i] = bytes->size;
        if (!put_posting(chunk, i, &bit, bytes))
            return false;
    }
    offsets[chunk->count] = bytes->size;
    for (uint32_t i = 0; i < chunk->count; i++)
        postings[i] = (text_posting){chunk->rids[i], 0, (uint32_t)(offsets[i + 1] - offsets[i]),
                                     bytes->data + offsets[i]};
    return true;
}

/* ---- Writing ---- */

/* write_few -- a chunk of few documents. */
static bool write_few(tansu_buffer *out, const text_posting *postings, uint32_t count) {
    bool written = buffer_append_byte(out, (uint8_t)(count - 1)) &&
                   (count == 1 || put_varint(out, postings[count - 1].rid - postings[0].rid));
    for (uint32_t i = 0; written && i < count; i++) {
        const text_posting *p = &postings[i];
        written = (i == 0 || put_varint(out, p->rid - postings[i - 1].rid)) &&
                  buffer_append_byte(out, length_code(p->length)) &&
                  buffer_append(out, p->bytes, p->size);
    }
    return written;
}

/* put_head -- the beginning of a chunk of many. */
static bool put_head(tansu_buffer *out, const text_form *form, const text_chunk *head) {
    bool put = buffer_append_byte(out, (uint8_t)(head->count - 1) | CHUNK_MANY) &&
               put_varint(out, head->last - head->first) &&
               buffer_append_byte(out, head->distance_bits) &&
               buffer_append_byte(out, head->position_bits) &&
               (form->fields == 1 || put_varint(out, head->usual_fields)) &&
               buffer_append_byte(out, (uint8_t)head->impact_count);
    for (uint32_t i = 0; put && i < head->impact_count; i++)
        put = put_varint(out, head->impacts[i].weighted) &&
              buffer_append_byte(out, length_code(head->impacts[i].length));
    return put;
}

/* put_document -- the counts of a posting, and its positions. */
static bool put_document(const text_form *form, const text_posting *posting, const text_chunk *head,
                         bits_out *documents, bits_out *positions) {
    posting_walk w;
    const size_t most = ((size_t)posting->size + 1) * BITS_NUMBER + TANSU_MAX_INDEX_PATHS;
    if (!posting_begin(&w, form, posting->bytes, posting->size) ||
        !buffer_reserve(documents->out, most) || !buffer_reserve(positions->out, most))
        return false;
    if (form->fields > 1 && w.fields == head->usual_fields)
        put_bits(documents, 1, 1);
    else if (form->fields > 1)
        put_bits(documents, (uint64_t)w.fields << 1, form->fields + 1);
    while (w.fields != 0) {
        uint32_t field;
        uint64_t count, number;
        if (!posting_field(&w, &field, &count))
            return false;
        put_rice(documents, count - 1, 0);
        unsigned parameter = position_parameter(head->position_bits, count);
        for (; form->positions && count != 0; count--) {
            if (!varint_take(&w.at, w.end, &number))
                return false;
            put_rice(positions, number, parameter);
        }
    }
    return w.at == w.end;
}

/* survey -- the head of a chunk of postings: its impacts, and the best parameters. */
static bool survey(text_chunk *head, const text_form *form, const text_posting *postings,
                   uint32_t count, const text_impact *impacts, uint32_t impact_count) {
    text_impact all[TEXT_CHUNK_MOST + TEXT_MAX_IMPACTS];
    uint32_t known = 0, usual = 0, usual_seen = 0;
    uint64_t sum = 0, numbers = 0;
    for (uint32_t i = 0; i < count; i++) {
        const text_posting *p = &postings[i];
        posting_walk w;
        uint64_t weighted = 0, number, occurrences;
        uint32_t field;
        if (!posting_begin(&w, form, p->bytes, p->size))
            return false;
        /* The majority, if there is one. */
        if (usual_seen == 0)
            usual = w.fields;
        usual_seen = usual == w.fields ? usual_seen + 1 : usual_seen - 1;
        while (w.fields != 0) {
            if (!posting_field(&w, &field, &occurrences))
                return false;
            weighted += occurrences * form->weights[field];
            numbers += form->positions ? occurrences : 0;
            for (uint64_t i = 0; form->positions && i < occurrences; i++) {
                if (!varint_take(&w.at, w.end, &number) || number >= TEXT_MAX_POSITION)
                    return false;
                sum += position_scaled(number, occurrences);
            }
        }
        if (w.at != w.end)
            return false;
        if (p->length != 0)
            all[known++] = (text_impact){weighted, p->length};
    }
    memcpy(all + known, impacts, impact_count * sizeof *impacts);
    *head = (text_chunk){.count = count,
                         .first = postings[0].rid,
                         .last = postings[count - 1].rid,
                         .usual_fields = usual,
                         .position_bits = (uint8_t)best_parameter(sum, numbers)};
    head->distance_bits = (uint8_t)best_parameter(head->last - head->first + 1 - count, count - 1);
    head->impact_count = impacts_reduce(all, known + impact_count);
    memcpy(head->impacts, all, head->impact_count * sizeof *all);
    return true;
}

/* finish -- the end of a chunk, whose streams are complete. */
static bool finish(tansu_buffer *out, bits_out *documents, bits_out *positions) {
    if (!buffer_reserve(documents->out, BITS_NUMBER) ||
        !buffer_reserve(positions->out, BITS_NUMBER))
        return false;
    unsigned unused = end_bits(documents), unused_positions = end_bits(positions);
    return put_varint(out, documents->out->size) &&
           buffer_append_byte(out, (uint8_t)(unused | unused_positions << 3)) &&
           buffer_append(out, documents->out->data, documents->out->size) &&
           buffer_append(out, positions->out->data, positions->out->size);
}

/* put_documents -- documents, the first of which follows the record id `before`; NO_RID: none. */
static bool put_documents(const text_form *form, const text_posting *postings, uint32_t count,
                          uint64_t before, const text_chunk *head, bits_out *documents,
                          bits_out *positions) {
    for (uint32_t i = 0; i < count; i++) {
        if (!buffer_reserve(documents->out, BITS_NUMBER * 2))
            return false;
        if (before != NO_RID)
            put_rice(documents, postings[i].rid - before - 1, head->distance_bits);
        before = postings[i].rid;
        if (!put_document(form, &postings[i], head, documents, positions))
            return false;
    }
    return true;
}

bool text_chunk_write(tansu_buffer *out, text_scratch_bits *scratch, const text_form *form,
                      const text_posting *postings, uint32_t count, const text_impact *impacts,
                      uint32_t impact_count) {
    text_chunk head;
    bool few = count <= TEXT_CHUNK_FEW;
    for (uint32_t i = 0; few && i < count; i++)
        few = postings[i].length != 0;
    if (few)
        return write_few(out, postings, count);
    bits_out d = {.out = &scratch->documents}, p = {.out = &scratch->positions};
    d.out->size = p.out->size = 0;
    return survey(&head, form, postings, count, impacts, impact_count) &&
           put_head(out, form, &head) &&
           put_documents(form, postings, count, NO_RID, &head, &d, &p) && finish(out, &d, &p);
}

/* go_on -- takes over bits from `at` to `end` of a chunk, for more to follow. */
static bool go_on(bits_out *b, const text_chunk *chunk, size_t at, size_t end) {
    size_t whole = (end - at) / 8, more = (end - at) % 8;
    if (!buffer_append(b->out, chunk->bytes + at / 8, whole))
        return false;
    b->word = more == 0 ? 0 : chunk->bytes[at / 8 + whole] & ((1u << more) - 1);
    b->count = (unsigned)more;
    return true;
}

/* append_few -- text_chunk_append() to few documents. */
static bool append_few(tansu_buffer *out, text_chunk *chunk, const text_posting *postings,
                       uint32_t count) {
    text_posting all[TEXT_CHUNK_FEW];
    (void)text_chunk_postings(chunk, all, NULL);
    memcpy(all + chunk->count, postings, count * sizeof *postings);
    return write_few(out, all, chunk->count + count);
}

uint32_t text_chunk_room(const text_chunk *chunk) {
    uint32_t doubled = 2;
    if (!chunk->many)
        return TEXT_CHUNK_FEW - chunk->count;
    while (doubled <= chunk->count)
        doubled *= 2;
    return chunk->count == TEXT_CHUNK_MOST ? 0 : doubled - 1 - chunk->count;
}

bool text_chunk_append(tansu_buffer *out, text_scratch_bits *scratch, text_chunk *chunk,
                       const text_posting *postings, uint32_t count) {
    if (!chunk->many)
        return append_few(out, chunk, postings, count);
    text_impact impacts[TEXT_CHUNK_MOST + TEXT_MAX_IMPACTS];
    uint32_t impact_count = chunk->impact_count;
    memcpy(impacts, chunk->impacts, impact_count * sizeof *impacts);
    for (uint32_t i = 0; i < count; i++) {
        text_impact *impact = &impacts[impact_count++];
        impact->length = postings[i].length;
        if (!text_weighted(chunk->form, &postings[i], &impact->weighted))
            return false;
    }
    text_chunk head = {.count = chunk->count + count,
                       .first = chunk->first,
                       .last = postings[count - 1].rid,
                       .distance_bits = chunk->distance_bits,
                       .position_bits = chunk->position_bits,
                       .usual_fields = chunk->usual_fields};
    head.impact_count = impacts_reduce(impacts, impact_count);
    memcpy(head.impacts, impacts, head.impact_count * sizeof *impacts);
    bits_out d = {.out = &scratch->documents}, p = {.out = &scratch->positions};
    d.out->size = p.out->size = 0;
    return put_head(out, chunk->form, &head) &&
           go_on(&d, chunk, chunk->documents_at, chunk->documents_end) &&
           go_on(&p, chunk, chunk->positions_at, chunk->positions_end) &&
           put_documents(chunk->form, postings, count, chunk->last, &head, &d, &p) &&
           finish(out, &d, &p);
}
