/*
 * query/match/match_context.h -- the state of matching: reused memory, cancellation, and the error
 * that ended it.
 */
#ifndef TANSU_QUERY_MATCH_MATCH_CONTEXT_H
#define TANSU_QUERY_MATCH_MATCH_CONTEXT_H

#include "bson/layout.h"
#include "bson/trail.h"
#include "query/util/deadline.h"
#include "util/buffer.h"

/*
 * Memory that is reused from document to document, and the error that ended matching (a regular
 * expression over its step limit, exhausted memory, the deadline). Zero-initialised, it is ready.
 * One thread uses it at a time. A result is valid only while `status` is TANSU_OK.
 */
typedef struct match_context {
    tansu_status status;
    const deadline *deadline; /* NULL: none */
    uint64_t steps;           /* tests and values examined */
    tansu_buffer text;        /* a collated value */
    tansu_buffer key;         /* a key as a string, for $keyMapMatch */
    tansu_buffer marks;       /* a byte for each of many operands that must all be found */
    struct regex_memory *regex;
    /* Zeroed memory of a caller that asks about many documents, all with one matcher; or NULL. Its
     * owner is the first conjunction that looks for one path in them. */
    trail *trail;
    layout *layout;   /* likewise, of the first that looks for several */
    void *evaluation; /* of document tests; owned, if there is a function that frees it */
    void (*evaluation_free)(void *evaluation);
    tansu_buffer error_context; /* path and operator, with a NUL; or empty */
    const char *message;        /* of the error; NULL: exhausted memory */
} match_context;

/* A test of a whole document that is made of a higher part, such as $expr. It is the beginning of a
 * larger struct. */
struct document_test {
    /* Whether the test holds. Errors go to the context, which is never NULL. */
    bool (*holds)(const struct document_test *t, match_context *c, const uint8_t *doc, size_t size);
};

/* match_context_free -- frees its memory and zeroes it. */
void match_context_free(match_context *c);

/* match_context_status -- returns its status and fills in *error unless it is TANSU_OK. */
tansu_status match_context_status(const match_context *c, tansu_error *error);

/* match_fail -- sets the error unless there is one. Returns false. `message` NULL: exhausted
 * memory. */
bool match_fail(match_context *c, tansu_status status, const char *error_context,
                const char *message);

/* match_continues -- checks the deadline. False when matching is over. */
bool match_continues(match_context *c);

#define MATCH_STEPS 4096 /* between two checks of the deadline */

/* match_step -- counts tests and values that are about to be examined, wherever one document may
 * need many. False when matching is over. */
static inline bool match_step(match_context *c, uint32_t count) {
    if (!c)
        return true;
    uint64_t before = c->steps;
    c->steps += count;
    return c->status == TANSU_OK && ((before ^ c->steps) < MATCH_STEPS || match_continues(c));
}

#define MATCH_BYTES 64 /* of a value that is read through count as one step */

/* match_read -- counts a value of that many bytes that is about to be read through, wherever a
 * query may do so many times. False when matching is over. */
static inline bool match_read(match_context *c, size_t size) {
    return match_step(c, 1 + (uint32_t)(size / MATCH_BYTES));
}

#endif
