/*
 * compact/compact_plan.c -- choosing the segments that are worth rewriting.
 */
#include "compact/compact.h"
#include "store/database_internal.h"
#include "store/read_context.h"
#include "util/array.h"
#include "util/error.h"

#include <stdlib.h>

/* Sources of one run have at most that many bytes together, whatever is alive of them. */
#define RUN_BYTES_MOST ((uint64_t)512 << 20)

/* The head is compacted in the background from that many dead bytes on. */
#define HEAD_LEAST ((uint64_t)1 << 20)

/* A segment as the plan sees it. */
typedef struct candidate {
    uint32_t number;
    bool empty; /* without a commit */
    uint64_t used;
    uint64_t dead;
    uint64_t left;         /* what will be, about: less than what is not known to be dead */
    uint64_t compressible; /* bytes of live documents that are to be compressed */
    bool compressed;
    uint32_t older; /* snapshots in use that see nothing of it */
} candidate;

/* What all collections have in each segment. */
typedef struct live_bytes {
    segment_usage *live;         /* documents that are alive */
    segment_usage *compressible; /* those of collections that are to be compressed */
} live_bytes;

/* live_free -- fine where memory was exhausted. */
static void live_free(live_bytes *sums) {
    segment_usage_free(sums->live);
    segment_usage_free(sums->compressible);
}

/* live_sum -- of a snapshot; false when memory is exhausted. A memory store has no segments to
 * compress. */
static bool live_sum(const database *db, const snapshot *v, live_bytes *sums) {
    *sums = (live_bytes){segment_usage_new(), segment_usage_new()};
    if (sums->live == NULL || sums->compressible == NULL) {
        live_free(sums);
        return false;
    }
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    while ((state = snapshot_next(&all)) != NULL) {
        segment_usage *live = locations_live(state->locations);
        segment_usage_add_all(sums->live, live);
        if (db->files.folder != NULL && state->codec != CODEC_NONE && codec_available(state->codec))
            segment_usage_add_all(sums->compressible, live);
    }
    return true;
}

/* left_bytes -- what will be left of a segment with those live bytes: the frames of dead documents
 * go with them. */
static uint64_t left_bytes(database *db, uint64_t live, uint32_t number, uint64_t used) {
    uint64_t written = segment_usage_get(db->written, number);
    return written == 0 || live >= written ? used : (uint64_t)((double)used * live / written);
}

/* is_dead -- whether that part of a segment is dead, with the frames of dead documents. */
static bool is_dead(uint64_t used, uint64_t left, uint32_t percent) {
    return left < used && (used - left) * 100 >= used * percent;
}

/* What is known about the head beside the other segments. */
typedef struct head_usage {
    uint64_t dead;
    bool due; /* it is worth rewriting in the background */
} head_usage;

/* use_of_head -- as of a snapshot. */
static head_usage use_of_head(database *db, const snapshot *v, const live_bytes *sums) {
    uint32_t number = (uint32_t)(v->position >> 32);
    uint64_t used = (uint32_t)v->position;
    uint64_t left = left_bytes(db, segment_usage_get(sums->live, number), number, used);
    return (head_usage){segment_usage_dead(db->written, sums->live, number),
                        left + HEAD_LEAST <= used &&
                            is_dead(used, left, db->options.compaction_percent)};
}

/* list_candidates -- the active segments in order, without the head or with it. */
static tansu_status list_candidates(database *db, bool with_head, candidate **list, uint32_t *count,
                                    head_usage *head, tansu_error *error) {
    log_extent *extents;
    live_bytes sums;
    tansu_status status = log_sealed(db->log, with_head, &extents, count, error);
    if (status != TANSU_OK)
        return status;
    snapshot *v = snapshot_acquire(db);
    *list = malloc((*count + 1) * sizeof **list);
    if (*list == NULL || !live_sum(db, v, &sums)) {
        snapshot_release(db, v);
        free(*list);
        free(extents);
        return error_memory(error);
    }
    uint64_t commits[KEPT_SNAPSHOTS];
    uint32_t snapshots = snapshot_commits(db, commits, KEPT_SNAPSHOTS);
    for (uint32_t i = 0; i < *count; i++) {
        candidate *c = &(*list)[i];
        *c = (candidate){.number = extents[i].number,
                         .empty = extents[i].last < extents[i].first,
                         .used = extents[i].end,
                         .compressed = extents[i].compressed};
        c->dead = segment_usage_dead(db->written, sums.live, c->number);
        if (c->dead > c->used)
            c->dead = c->used;
        c->left = left_bytes(db, segment_usage_get(sums.live, c->number), c->number, c->used);
        c->compressible = segment_usage_get(sums.compressible, c->number);
        while (c->older < snapshots && commits[c->older] < extents[i].first)
            c->older++;
    }
    *head = use_of_head(db, v, &sums);
    snapshot_release(db, v);
    live_free(&sums);
    free(extents);
    return TANSU_OK;
}

/* Less than that is compressed with what is written later. */
#define COMPRESSED_LEAST (64u * 1024u)

/* wants_codec -- whether it is compressed and should not be, or the other way round. A segment is
 * compressed for an eighth of its documents, and stays so while there is one. */
static bool wants_codec(const candidate *c) {
    if (c->compressed)
        return c->compressible == 0 && codec_available(CODEC_LZ4);
    return c->compressible >= COMPRESSED_LEAST && c->compressible >= (c->used - c->dead) / 8;
}

/* wanting -- whether enough of it is dead to make rewriting worth while, or its compression is to
 * be changed. */
static bool wanting(const candidate *c, uint32_t percent) {
    return percent == 0 || wants_codec(c) || is_dead(c->used, c->left, percent);
}

/* alive -- what will be left of it, about. */
static uint64_t alive(const candidate *c) {
    return c->used - c->dead;
}

/* A run in the list. */
typedef struct span {
    uint32_t begin;
    uint32_t end; /* after its last */
} span;

/* span_alive -- what will be left of a run; *most: of its largest segment. */
static uint64_t span_alive(const candidate *list, span s, uint64_t *most) {
    uint64_t sum = 0;
    *most = 0;
    for (uint32_t i = s.begin; i < s.end; i++) {
        sum += alive(&list[i]);
        if (alive(&list[i]) > *most)
            *most = alive(&list[i]);
    }
    return sum;
}

/* trim -- leaves out at both ends what is clean and much larger than the rest. */
static span trim(const candidate *list, span s, uint32_t percent) {
    for (;;) {
        uint64_t most, sum = span_alive(list, s, &most);
        if (s.begin < s.end && !wanting(&list[s.begin], percent) &&
            alive(&list[s.begin]) > (sum - alive(&list[s.begin])) * 3)
            s.begin++;
        else if (s.begin < s.end && !wanting(&list[s.end - 1], percent) &&
                 alive(&list[s.end - 1]) > (sum - alive(&list[s.end - 1])) * 3)
            s.end--;
        else
            return s;
    }
}

/* worth -- whether a run frees space, or makes few segments of many at little cost. */
static bool worth(const candidate *list, span s, uint32_t percent) {
    if (s.begin == s.end)
        return false;
    for (uint32_t i = s.begin; i < s.end; i++)
        if (wanting(&list[i], percent))
            return true;
    uint64_t most, sum = span_alive(list, s, &most);
    return s.end - s.begin >= 2 && (sum - most) * 3 >= most;
}

/* next_span -- the longest run that begins at or after `from` and fits into one segment. What older
 * snapshots keep is not mixed with what they do not, which they would keep then. */
static span next_span(const candidate *list, uint32_t count, uint32_t from, uint32_t percent,
                      uint64_t limit) {
    uint32_t i = from;
    while (i < count && !wanting(&list[i], percent) && alive(&list[i]) > limit / 2)
        i++;
    span s = {i, i};
    uint64_t sum = 0, used = 0;
    while (s.end < count && (s.begin == s.end || (sum + alive(&list[s.end]) <= limit &&
                                                  used + list[s.end].used <= RUN_BYTES_MOST))) {
        if (list[s.end].older != list[s.begin].older ||
            (!wanting(&list[s.end], percent) && alive(&list[s.end]) > limit / 2))
            break;
        sum += alive(&list[s.end]);
        used += list[s.end].used;
        s.end++;
    }
    return s;
}

/* add_run -- one run more in the plan. */
static bool add_run(compact_plan *plan, const candidate *list, span s) {
    if (!ARRAY_RESERVE(plan->runs, plan->count, plan->capacity, 1))
        return false;
    compact_run *run = &plan->runs[plan->count];
    *run = (compact_run){.numbers = malloc((s.end - s.begin) * sizeof *run->numbers)};
    if (run->numbers == NULL)
        return false;
    plan->count++;
    for (uint32_t i = s.begin; i < s.end; i++) {
        run->numbers[run->count++] = list[i].number;
        run->bytes += list[i].used;
        run->left += list[i].left;
        run->compress = run->compress || list[i].compressible != 0;
    }
    plan->bytes += run->bytes;
    return true;
}

tansu_status compact_plan_make(database *db, uint32_t percent, bool with_head, uint64_t limit,
                               compact_plan *plan, tansu_error *error) {
    candidate *list;
    uint32_t count;
    head_usage head;
    *plan = (compact_plan){.runs = NULL};
    tansu_status status = list_candidates(db, with_head, &list, &count, &head, error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t from = 0; status == TANSU_OK && from < count;) {
        span whole = next_span(list, count, from, percent, limit);
        span s = trim(list, whole, percent);
        /* What ends in a segment without a commit would not cover that one. */
        while (s.end > s.begin && list[s.end - 1].empty)
            s.end--;
        if (worth(list, s, percent)) {
            if (!add_run(plan, list, s))
                status = error_memory(error);
            plan->head = with_head && s.end == count;
        }
        from = whole.end > from ? whole.end : from + 1;
    }
    free(list);
    plan->head_due = head.due;
    if (status != TANSU_OK)
        compact_plan_free(plan);
    return status;
}

void compact_plan_free(compact_plan *plan) {
    for (uint32_t i = 0; i < plan->count; i++)
        free(plan->runs[i].numbers);
    free(plan->runs);
    *plan = (compact_plan){.runs = NULL};
}

bool compact_log_due(database *db) {
    compact_plan plan;
    if (db->options.compaction_percent == 0)
        return false;
    if (compact_plan_make(db, db->options.compaction_percent, false, db->log->segment_size, &plan,
                          NULL) != TANSU_OK)
        return false;
    bool due = plan.head_due || plan.count > 0;
    compact_plan_free(&plan);
    return due;
}

/* More dead bytes than live ones, by so many, are compacted before more is written. */
#define BEHIND ((uint64_t)16 << 20)

bool compact_is_behind(database *db) {
    snapshot *v = snapshot_acquire(db);
    uint64_t live = 0;
    const collection_state *state;
    catalog_cursor all = snapshot_from(v, NULL);
    while ((state = snapshot_next(&all)) != NULL)
        live += segment_usage_sum(locations_live(state->locations));
    snapshot_release(db, v);
    return segment_usage_sum(db->written) > 2 * live + BEHIND;
}

uint64_t compact_dead(database *db) {
    candidate *list;
    uint32_t count;
    head_usage head;
    /* The head's length is the writer's to know; what is dead in it is not. */
    if (list_candidates(db, false, &list, &count, &head, NULL) != TANSU_OK)
        return 0;
    uint64_t sum = head.dead;
    for (uint32_t i = 0; i < count; i++)
        sum += list[i].dead;
    free(list);
    return sum;
}
