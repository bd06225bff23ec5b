/*
 * query/text/text_top.c -- the matches of the highest scores, without a look at most others.
 *
 * Once as many matches are found as are wanted, a document must score more than the least of them.
 * Chunks say what their documents score at most (text_leaf_bound()). Record ids are taken in
 * windows, in which each leaf has one chunk: a window in which all leaves together score too little
 * is passed over, mostly without decoding its chunks (block-max indexes: Ding and Suel 2011).
 *
 * A search for any of some leaves has in each window leaves that together are too little: those that
 * score least. Documents are only looked for in the others (MaxScore: Turtle and Flood 1995).
 *
 * A bound may be less than the score that it is the bound of, by what is lost in additions. MARGIN
 * is more than that.
 */
#include "query/text/text_search_internal.h"

#define MARGIN 1e-9

/* With more leaves the bounds of a window say too little, and take too long. */
#define BOUNDED_LEAVES 32

typedef struct top {
    text_search *s;
    text_hit *hits; /* a heap, the least first */
    uint32_t count, most;
    text_filter filter;
    void *context;
    const text_tree *core; /* find_core() */
    bool any;              /* it is any of the scored leaves */
    uint64_t last;         /* of the window */
    uint32_t essential;    /* one of the best has one of so many leaves of `order` */
    text_leaf *by_most[BOUNDED_LEAVES];
    text_leaf *order[BOUNDED_LEAVES]; /* in which the leaves of a document are looked at */
    double rest[BOUNDED_LEAVES + 1];  /* what the leaves from there on score at most */
} top;

/* ---- The best so far ---- */

/* worse -- whether a hit comes after another one in the results. */
static bool worse(const text_hit *a, const text_hit *b) {
    return a->score != b->score ? a->score < b->score : a->rid > b->rid;
}

/* sift_down -- restores the order of the heap below `at`. */
static void sift_down(text_hit *hits, uint32_t count, uint32_t at) {
    text_hit moved = hits[at];
    for (;;) {
        uint64_t child = 2 * (uint64_t)at + 1;
        if (child >= count)
            break;
        child += child + 1 < count && worse(&hits[child + 1], &hits[child]);
        if (!worse(&hits[child], &moved))
            break;
        hits[at] = hits[child];
        at = (uint32_t)child;
    }
    hits[at] = moved;
}

/* enters -- whether a document of this score would be among the best; those found before it have
 * smaller record ids. */
static bool enters(const top *t, double score) {
    return t->count < t->most || score > t->hits[0].score;
}

/* may_enter -- the same of a bound. */
static bool may_enter(const top *t, double bound) {
    return enters(t, bound * (1 + MARGIN));
}

/* add -- a match, if its score suffices and the filter accepts it. */
static tansu_status add(top *t, uint64_t rid, double score, tansu_error *error) {
    bool accepted = true;
    if (!enters(t, score))
        return TANSU_OK;
    if (t->filter) {
        tansu_status status = t->filter(t->context, rid, &accepted, error);
        if (status != TANSU_OK || !accepted)
            return status;
    }
    text_hit hit = {.rid = rid, .score = score};
    if (t->count == t->most) {
        t->hits[0] = hit;
        sift_down(t->hits, t->count, 0);
        return TANSU_OK;
    }
    uint32_t at = t->count++;
    for (; at > 0 && worse(&hit, &t->hits[(at - 1) / 2]); at = (at - 1) / 2)
        t->hits[at] = t->hits[(at - 1) / 2];
    t->hits[at] = hit;
    return TANSU_OK;
}

/* finish -- sorts the hits. */
static tansu_status finish(top *t, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint32_t left = t->count; left > 1 && status == TANSU_OK;) {
        text_hit least = t->hits[0];
        t->hits[0] = t->hits[--left];
        t->hits[left] = least;
        sift_down(t->hits, left, 0);
        status = text_search_check(t->s, 1, error);
    }
    return status;
}

/* ---- Windows ---- */

/* later -- the order in which leaves are looked at: those that say most first; but where a match has
 * several leaves, what takes long at last. */
static bool later(const top *t, const text_leaf *a, const text_leaf *b) {
    if (!t->any && text_leaf_positions(a) != text_leaf_positions(b))
        return text_leaf_positions(a);
    return a->now < b->now;
}

/*
 * open_window -- the record ids from `first` to t->last, in which each leaf has one chunk or none.
 * Leaves that could not make a match one of the best, even if they scored as much as a leaf can, do
 * not narrow it: these are mostly those of frequent words, which have many chunks.
 */
static tansu_status open_window(top *t, uint64_t first, tansu_error *error) {
    text_search *s = t->s;
    double loose = 0;
    t->last = NO_RID;
    for (uint32_t i = 0; i < s->scored_count; i++) {
        text_leaf *leaf = t->by_most[i];
        leaf->here = true;
        leaf->now = leaf->most;
        if (!may_enter(t, loose + leaf->most)) {
            loose += leaf->most;
            continue;
        }
        tansu_status status = text_leaf_bound(s, leaf, first, error);
        if (status != TANSU_OK)
            return status;
        leaf->here = leaf->from <= first;
        leaf->now = leaf->here ? leaf->bound : 0;
        uint64_t last = leaf->here ? leaf->last : leaf->from - 1;
        t->last = last < t->last ? last : t->last;
    }
    for (uint32_t i = 1; i < s->scored_count; i++) {
        text_leaf *leaf = t->order[i];
        uint32_t at = i;
        for (; at > 0 && later(t, t->order[at - 1], leaf); at--)
            t->order[at] = t->order[at - 1];
        t->order[at] = leaf;
    }
    t->rest[s->scored_count] = 0;
    for (uint32_t i = s->scored_count; i-- > 0;)
        t->rest[i] = t->rest[i + 1] + t->order[i]->now;
    return text_search_check(s, s->scored_count, error);
}

/* upper -- the most that a leaf which is at a document adds to its score. */
static double upper(const top *t, const text_leaf *leaf, uint64_t rid) {
    return leaf->bounded && rid <= leaf->last ? text_leaf_upper(leaf, text_leaf_most(t->s, leaf))
                                              : leaf->now;
}

/* score_leaf -- what a leaf adds to the score of a document, or where documents are read, at most;
 * with `known` of leaves before it. *enough: the document may be among the best. */
static tansu_status score_leaf(top *t, uint32_t number, uint64_t rid, double norm, double known,
                               bool *enough, tansu_error *error) {
    text_search *s = t->s;
    text_leaf *leaf = t->order[number];
    leaf->score = 0;
    leaf->count = 0;
    leaf->counted = NO_RID;
    if (!leaf->here)
        return TANSU_OK;
    double others = known + t->rest[number + 1];
    if (number >= t->essential) {
        /* Its chunk may say enough. */
        tansu_status status = text_leaf_bound(s, leaf, rid, error);
        if (status != TANSU_OK)
            return status;
        *enough = may_enter(t, others + (leaf->from > rid ? 0 : leaf->bound));
        if (!*enough || leaf->from > rid)
            return TANSU_OK;
    }
    tansu_status status = text_leaf_seek(s, leaf, rid, error);
    if (status != TANSU_OK || leaf->rid != rid)
        return status;
    uint64_t most = text_leaf_most(s, leaf);
    *enough = most == 0 || may_enter(t, others + text_leaf_score(leaf, most, norm));
    if (most == 0 || !*enough)
        return TANSU_OK;
    status = text_leaf_count(s, leaf, rid, error);
    if (status == TANSU_OK && leaf->count != 0)
        leaf->score = text_leaf_score(leaf, leaf->count, norm);
    return status;
}

/* excludes -- whether what is above the leaves of any leaves out a document. */
static tansu_status excludes(top *t, uint64_t rid, bool *excluded, tansu_error *error) {
    text_tree *tree = t->s->root;
    tansu_status status = text_tree_excludes(t->s, tree, rid, excluded, error);
    while (status == TANSU_OK && !*excluded && tree != t->core) {
        tree = tree->children[0];
        status = text_tree_excludes(t->s, tree, rid, excluded, error);
    }
    return status;
}

/* look_at -- adds a candidate, if it matches and scores enough. */
static tansu_status look_at(top *t, uint64_t rid, tansu_error *error) {
    text_search *s = t->s;
    uint32_t length = 0;
    double score = 0;
    bool matches = false, excluded = false, enough = true;
    tansu_status status = text_search_check(s, 1, error);
    if (status == TANSU_OK)
        status = text_length(&s->lengths, &s->reader, rid, &length, error);
    double norm = text_search_norm(s, length);
    score = 0;
    for (uint32_t i = 0; i < s->scored_count && status == TANSU_OK; i++) {
        status = score_leaf(t, i, rid, norm, score, &enough, error);
        if (!enough)
            return TANSU_OK;
        score += t->order[i]->score;
        matches = matches || t->order[i]->count != 0;
    }
    if (status != TANSU_OK || !may_enter(t, score))
        return status;
    if (t->any)
        status = excludes(t, rid, &excluded, error);
    else
        status = text_tree_matches(s, s->root, rid, &matches, error);
    if (status != TANSU_OK || !matches || excluded)
        return status;
    score = 0; /* in the order of the leaves, as text_search_next() adds */
    for (uint32_t i = 0; i < s->scored_count; i++)
        score += s->scored[i]->score;
    if (s->reads)
        status = text_search_read(s, rid, &matches, &score, error);
    return status == TANSU_OK && matches ? add(t, rid, score, error) : status;
}

/* ---- Searches ---- */

/* search_window -- the candidates of a window that any leaf makes. */
static tansu_status search_window(top *t, uint64_t first, tansu_error *error) {
    uint64_t at[BOUNDED_LEAVES]; /* of each leaf in the order, plus one; 0: not known yet */
    tansu_status status = TANSU_OK;
    t->essential = t->s->scored_count;
    for (uint32_t i = 0; i < t->essential; i++)
        at[i] = t->order[i]->here ? 0 : NO_RID;
    while (status == TANSU_OK) {
        uint64_t next = NO_RID;
        while (t->essential > 0 && !may_enter(t, t->rest[t->essential - 1]))
            t->essential--;
        for (uint32_t i = 0; i < t->essential; i++) {
            text_leaf *leaf = t->order[i];
            if (at[i] <= first) {
                status = text_leaf_seek(t->s, leaf, first, error);
                if (status != TANSU_OK)
                    return status;
                at[i] = leaf->rid + (leaf->rid != NO_RID);
            }
            next = at[i] < next ? at[i] : next;
        }
        if (next == NO_RID || --next > t->last)
            break;
        double most = t->rest[t->essential];
        for (uint32_t i = 0; i < t->essential; i++)
            most += at[i] == next + 1 ? upper(t, t->order[i], next) : 0;
        status = may_enter(t, most) ? look_at(t, next, error) : text_search_check(t->s, 1, error);
        first = next + 1;
    }
    return status;
}

/* search_any -- window by window. */
static tansu_status search_any(top *t, tansu_error *error) {
    tansu_status status = TANSU_OK;
    for (uint64_t first = 0; first != NO_RID && status == TANSU_OK;) {
        status = open_window(t, first, error);
        if (status == TANSU_OK)
            status = search_window(t, first, error);
        first = t->last == NO_RID ? t->last : t->last + 1;
    }
    return status;
}

/* search_tree -- the candidates of the tree. */
static tansu_status search_tree(top *t, tansu_error *error) {
    text_search *s = t->s;
    tansu_status status = open_window(t, 0, error);
    for (uint64_t first = 0; status == TANSU_OK;) {
        if (first > t->last) {
            status = open_window(t, first, error);
            if (status != TANSU_OK)
                break;
        }
        if (!may_enter(t, t->rest[0])) {
            if (t->last >= NO_RID - 1)
                break;
            first = t->last + 1;
            continue;
        }
        status = text_tree_seek(s, s->root, first, error);
        if (status == TANSU_OK)
            status = text_search_check(s, 1, error);
        if (status != TANSU_OK || s->root->rid == NO_RID)
            break;
        first = s->root->rid;
        if (first > t->last)
            continue;
        double most = 0;
        for (uint32_t i = 0; i < s->scored_count; i++) {
            const text_leaf *leaf = t->order[i];
            if (leaf->placed && leaf->rid >= first)
                most += leaf->rid == first ? upper(t, leaf, first) : 0;
            else
                most += leaf->now;
        }
        if (may_enter(t, most))
            status = look_at(t, first, error);
        first++;
    }
    return status;
}

/* search_all -- scores all matches. */
static tansu_status search_all(top *t, tansu_error *error) {
    for (;;) {
        text_hit hit;
        tansu_status status = text_search_next(t->s, true, &hit, error);
        if (status == TANSU_OK)
            status = add(t, hit.rid, hit.score, error);
        if (status != TANSU_OK)
            return status == TANSU_DONE ? TANSU_OK : status;
    }
}

/* find_core -- passes over nodes that only leave out documents. */
static void find_core(top *t) {
    const text_tree *core = t->s->root;
    while (core->kind == TEXT_ALL && core->child_count == 1)
        core = core->children[0];
    t->core = core;
    t->any = core->kind != TEXT_ALL && t->s->scored_count == (core->leaf ? 1 : core->child_count);
    for (uint32_t i = 0; i < core->child_count; i++)
        t->any = t->any && core->children[i]->leaf != NULL;
}

tansu_status text_search_top(text_search *s, uint32_t most, text_filter filter, void *context,
                             text_hit *hits, uint32_t *count, tansu_error *error) {
    top t = {.s = s, .hits = hits, .most = most, .filter = filter, .context = context};
    tansu_status status;
    *count = 0;
    if (most == 0)
        return TANSU_OK;
    if (s->scored_count == 0 || s->scored_count > BOUNDED_LEAVES) {
        status = search_all(&t, error);
    } else {
        find_core(&t);
        for (uint32_t i = 0; i < s->scored_count; i++) {
            text_leaf *leaf = s->scored[i];
            uint32_t at = i;
            t.order[i] = leaf;
            for (; at > 0 && t.by_most[at - 1]->most > leaf->most; at--)
                t.by_most[at] = t.by_most[at - 1];
            t.by_most[at] = leaf;
        }
        status = t.any ? search_any(&t, error) : search_tree(&t, error);
    }
    if (status == TANSU_OK)
        status = finish(&t, error);
    *count = status == TANSU_OK ? t.count : 0;
    return status;
}
