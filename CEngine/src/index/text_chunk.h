/*
 * index/text_chunk.h -- how an index of words stores its documents: the entries of the tree.
 *
 *     00 4C, block (5 bytes), lengths       the lengths of the documents of TEXT_BLOCK record ids
 *     00 4E, documents, length              varints: how many documents there are, and the sum
 *     term, 00, last (5 bytes), chunk       documents of a term, the last of them with that record id
 *
 * Numbers of five bytes are big-endian. No term begins with 00 or has one. The lengths are a byte
 * that says how many bytes each takes (1, 2 or 4), and the lengths, little-endian, 0 for what is no
 * document; what would follow the last document is left out.
 *
 * A chunk has up to TEXT_CHUNK_MOST documents. It begins with their number less one, one byte, and
 * the distance of the first record id from the last, a varint that a single document lacks. Up to
 * TEXT_CHUNK_FEW documents follow one by one:
 *
 *     distance from the record id before (varint; not of the first) | length (a byte) | posting
 *
 * If there are more, or their lengths are not known, the top bit of the first byte is set, and
 * there follow
 *
 *     parameters (2 bytes): of the Rice codes of distances and positions
 *     with several fields: those that most documents have the term in (varint; a bit for each)
 *     impacts: their number (a byte), then pairs of weighted count (varint) and length
 *     (a byte)
 *     size of the bits of documents (varint), and how many bits of the last byte they and those of
 *     positions leave unused (3 bits each, in a byte)
 *     bits of documents: for each, the distance from the one before less one (none for the first), and
 *     its counts: with several fields, a bit for each that has the term; for each that has, the
 *     count less one
 *     bits of positions: for each document and field the first position, and the distances less one
 *
 * A number is coded with a parameter k as its upper bits in unary (so many ones, and a zero), and its
 * lower k bits; from RICE_ESCAPE ones on the number follows, as 40 bits. Counts have k 0. Positions of
 * a term that a field has c times have a k smaller by the logarithm of (c + 1) / 2, rounded down.
 *
 * A posting is what the entry of a document says of a term (index/text_entries.h): for each field
 * that has it the count less one and, if the index has positions, the first one and the distances
 * less one, as varints. With several fields the first number is shifted up by as many bits, which say
 * which of them have the term.
 *
 * A length that is a byte is rounded down: below 16 as it is, then 8 + 8 * s + m for (8 + m) * 2^s.
 *
 * An impact says that no document of the chunk has both a higher weighted count and a smaller length
 * than one of the pairs: what such a document scores is the most that any can.
 */
#ifndef TANSU_INDEX_TEXT_CHUNK_H
#define TANSU_INDEX_TEXT_CHUNK_H

#include "index/definition.h"
#include "util/buffer.h"

#define TEXT_CHUNK_MOST 128
#define TEXT_CHUNK_FEW 8
/* A chunk that reaches so many bytes takes no more documents. */
#define TEXT_CHUNK_BYTES 640
#define TEXT_MAX_IMPACTS 4
#define TEXT_BLOCK 128

/* A weighted count and a length. */
typedef struct text_impact {
    uint64_t weighted;
    uint32_t length;
} text_impact;

/* What the chunks of an index have in common. */
typedef struct text_form {
    uint32_t fields;
    bool positions;
    const uint32_t *weights; /* of the fields */
} text_form;

/* text_form_of -- that of an index. */
text_form text_form_of(const index_definition *definition);

/* A document of a term, to be written: with the bytes of a posting. */
typedef struct text_posting {
    uint64_t rid;
    uint32_t length; /* of the document; 0: not known, the impacts of a chunk say enough */
    uint32_t size;
    const uint8_t *bytes;
} text_posting;

/* A chunk that is read. */
typedef struct text_chunk {
    const text_form *form;
    const uint8_t *bytes; /* of the caller, with eight more that may be read */
    size_t size;
    uint32_t count;
    bool many; /* of the second kind */
    uint64_t first, last;
    uint32_t impact_count;
    text_impact impacts[TEXT_MAX_IMPACTS];
    uint64_t rids[TEXT_CHUNK_MOST]; /* from here on after text_chunk_decode() */
    uint32_t *counts;               /* of each document and field; of the caller, TEXT_CHUNK_MOST
                                       times the number of fields */
    /* Private to text_chunk.c. */
    uint8_t distance_bits, position_bits;
    size_t documents_at, documents_end; /* bits */
    size_t positions_at, positions_end;
    uint32_t usual_fields;
    uint32_t postings_at[TEXT_CHUNK_FEW]; /* where that of each of few begins */
    uint32_t posting_sizes[TEXT_CHUNK_FEW];
    uint32_t lengths[TEXT_CHUNK_FEW];
    size_t next_at; /* the positions of document number `next` begin here */
    uint32_t next;
} text_chunk;

/* text_chunk_count -- of a chunk that is not opened, by its first byte. */
static inline uint32_t text_chunk_count(const uint8_t *bytes) {
    return (*bytes & 0x7Fu) + 1;
}

/* text_chunk_open -- reads the beginning of a chunk; false when it is none. text_chunk_decode --
 * reads documents and counts; the counts are chunk->counts. */
bool text_chunk_open(text_chunk *chunk, const text_form *form, const uint8_t *bytes, size_t size,
                     uint64_t last);
bool text_chunk_decode(text_chunk *chunk);

/* text_chunk_positions -- those of a document in a field; false: the chunk is damaged. Documents
 * that come before the one asked for last are slow. */
bool text_chunk_positions(text_chunk *chunk, uint32_t document, uint32_t field,
                          uint32_t *positions);

/* text_chunk_postings -- all documents of a decoded chunk as they were written; their bytes go to
 * `bytes`. False when the chunk is damaged or memory is exhausted. */
bool text_chunk_postings(text_chunk *chunk, text_posting *postings, tansu_buffer *bytes);

/* What chunks are written with, kept from one to the next. Zeroed, it is empty; both are freed with
 * tansu_buffer_free(). */
typedef struct text_scratch_bits {
    tansu_buffer documents, positions;
} text_scratch_bits;

/* text_chunk_write -- appends a chunk of `count` documents to `out`; `impacts` are those of the chunk
 * that those of unknown length come from. False when memory is exhausted, or a posting invalid. */
bool text_chunk_write(tansu_buffer *out, text_scratch_bits *scratch, const text_form *form,
                      const text_posting *postings, uint32_t count, const text_impact *impacts,
                      uint32_t impact_count);

/* text_chunk_room -- how many documents text_chunk_append() can take: with more of them all are to be
 * written anew, since they are no longer few, or the parameters are those of half as many. */
uint32_t text_chunk_room(const text_chunk *chunk);

/* text_chunk_append -- appends an opened chunk to `out`, with more documents behind its last one.
 * False when memory is exhausted, or a posting invalid. */
bool text_chunk_append(tansu_buffer *out, text_scratch_bits *scratch, text_chunk *chunk,
                       const text_posting *postings, uint32_t count);

/* text_weighted -- the weighted count that a posting says; false when it is not valid. */
bool text_weighted(const text_form *form, const text_posting *posting, uint64_t *weighted);

#endif
