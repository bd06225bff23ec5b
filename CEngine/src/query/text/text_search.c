/*
 * query/text/text_search.c -- the tree of a search, and its matches in the order of record ids.
 */
#include "query/text/text_search_internal.h"

#include "util/error.h"

/* ---- Building the tree ---- */

/* Where a node is. */
typedef struct place {
    bool below_any; /* of an ANY */
    bool passes;    /* of an ALL below that, which passes documents that only some of it match */
    bool scored;    /* of no `without` */
} place;

static tansu_status build(text_search *s, const text_node *node, place where, text_tree **result,
                          tansu_error *error);

/* open_scored -- a leaf of its own for the score: the tree has none, or may pass documents. */
static tansu_status open_scored(text_search *s, const text_node *node, tansu_error *error) {
    text_leaf *leaf = &s->others[s->other_count++];
    s->scored[node->number] = leaf;
    return text_leaf_open(s, leaf, node, &s->lists[node->number], error);
}

/* open_optional -- the leaves of a node that only counts. */
static tansu_status open_optional(text_search *s, const text_node *node, tansu_error *error) {
    tansu_status status = TANSU_OK;
    if (node->kind != TEXT_ALL && node->kind != TEXT_ANY)
        return open_scored(s, node, error);
    for (uint32_t i = 0; i < node->child_count && status == TANSU_OK; i++)
        status = open_optional(s, node->children[i], error);
    for (uint32_t i = 0; i < node->optional_count && status == TANSU_OK; i++)
        status = open_optional(s, node->optional[i], error);
    return status;
}

static int compare_trees(const void *left, const void *right) {
    const text_tree *a = *(text_tree *const *)left, *b = *(text_tree *const *)right;
    return a->documents < b->documents ? -1 : a->documents > b->documents;
}

/* build_list -- the trees of some nodes. */
static tansu_status build_list(text_search *s, text_node *const *nodes, uint32_t count, place where,
                               text_tree ***result, tansu_error *error) {
    text_tree **list = arena_alloc(&s->memory, (count + 1) * sizeof(text_tree *));
    tansu_status status = list ? TANSU_OK : error_memory(error);
    for (uint32_t i = 0; i < count && status == TANSU_OK; i++)
        status = build(s, nodes[i], where, &list[i], error);
    *result = list;
    return status;
}

/* build_inner -- an ALL or ANY. */
static tansu_status build_inner(text_search *s, const text_node *node, place where, text_tree *tree,
                                tansu_error *error) {
    bool all = node->kind == TEXT_ALL;
    place child = {where.below_any || !all, where.passes || (all && where.below_any), where.scored};
    tree->child_count = node->child_count;
    tansu_status status =
        build_list(s, node->children, node->child_count, child, &tree->children, error);
    /* A document that may match may also be one that is to be left out. */
    if (status == TANSU_OK && !s->reads) {
        tree->without_count = node->without_count;
        status = build_list(s, node->without, node->without_count, (place){.scored = false},
                            &tree->without, error);
    }
    for (uint32_t i = 0; i < node->optional_count && where.scored && status == TANSU_OK; i++)
        status = open_optional(s, node->optional[i], error);
    if (status != TANSU_OK)
        return status;
    for (uint32_t i = 0; i < tree->child_count; i++) {
        uint64_t documents = tree->children[i]->documents;
        if (all)
            tree->documents = i == 0 || documents < tree->documents ? documents : tree->documents;
        else
            tree->documents += documents;
    }
    if (all && tree->child_count > 1)
        qsort(tree->children, tree->child_count, sizeof(text_tree *), compare_trees);
    return TANSU_OK;
}

static tansu_status build(text_search *s, const text_node *node, place where, text_tree **result,
                          tansu_error *error) {
    text_tree *tree = *result = arena_alloc(&s->memory, sizeof *tree);
    if (!tree)
        return error_memory(error);
    tree->kind = node->kind;
    if (node->kind == TEXT_ALL || node->kind == TEXT_ANY)
        return build_inner(s, node, where, tree, error);
    tree->leaf = &s->leaves[node->number];
    tansu_status status = text_leaf_open(s, tree->leaf, node, &s->lists[node->number], error);
    tree->documents = tree->leaf->documents;
    if (status == TANSU_OK && where.scored && where.passes)
        status = open_scored(s, node, error);
    else if (where.scored)
        s->scored[node->number] = tree->leaf;
    return status;
}

/* open_search -- opens the index and all leaves. */
static tansu_status open_search(text_search *s, const tree *entries, tansu_error *error) {
    const text_query *q = s->query;
    const size_t leaves = (size_t)q->leaves + 1;
    tansu_status status =
        text_reader_open(&s->reader, s->rctx->trees, entries, q->definition, error);
    if (status != TANSU_OK)
        return status;
    s->mean = s->reader.length != 0 ? (double)s->reader.length / (double)s->reader.documents : 1;
    s->leaves = arena_alloc(&s->memory, leaves * sizeof *s->leaves);
    s->others = arena_alloc(&s->memory, leaves * sizeof *s->others);
    s->lists = arena_alloc(&s->memory, leaves * sizeof *s->lists);
    s->scored = arena_alloc(&s->memory, leaves * sizeof(text_leaf *));
    s->heap = arena_alloc(&s->memory, leaves * sizeof(text_leaf *));
    if (!s->leaves || !s->others || !s->lists || !s->scored || !s->heap)
        return error_memory(error);
    status = build(s, q->root, (place){.scored = true}, &s->root, error);
    for (uint32_t i = 0; i < q->leaves && status == TANSU_OK; i++) {
        if (!s->scored[i])
            continue;
        s->heap[s->scored_count] = s->scored[i];
        s->scored[s->scored_count++] = s->scored[i];
    }
    return status;
}

tansu_status text_search_new(const text_query *query, const read_context *rctx,
                             const collection_state *collection, const tree *entries,
                             const deadline *deadline, text_search **result, tansu_error *error) {
    text_search *s = zeroed_alloc(sizeof *s);
    if (!s)
        return error_memory(error);
    s->query = query;
    s->rctx = rctx;
    s->collection = collection;
    s->deadline = deadline;
    s->steps = TEXT_STEPS;
    s->reads = text_query_needs_document(query);
    tansu_status status = open_search(s, entries, error);
    if (status == TANSU_OK)
        *result = s;
    else
        text_search_free(s);
    return status;
}

void text_search_free(text_search *s) {
    if (!s)
        return;
    for (uint32_t i = 0; s->leaves && i < s->query->leaves; i++)
        text_leaf_close(&s->leaves[i]);
    for (uint32_t i = 0; s->others && i < s->other_count; i++)
        text_leaf_close(&s->others[i]);
    for (uint32_t i = 0; s->lists && i < s->query->leaves; i++)
        free(s->lists[i].items);
    text_lengths_end(&s->lengths);
    text_document_free(&s->document);
    text_found_free(&s->found);
    free(s->positions);
    arena_free(&s->memory);
    free(s);
}

uint64_t text_search_bound(const text_search *s) {
    uint64_t all = s->reader.documents, bound = s->root->documents;
    return bound < all ? bound : all;
}

/* ---- Candidates ---- */

/* sift -- restores the order of a heap of trees below one whose `rid` has risen. */
static void sift(text_tree **heap, uint32_t count, uint32_t at) {
    text_tree *moved = heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        child += child + 1 < count && heap[child + 1]->rid < heap[child]->rid;
        if (heap[child]->rid >= moved->rid)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* seek_all -- to the first document that all children may match. */
static tansu_status seek_all(text_search *s, text_tree *tree, uint64_t rid, tansu_error *error) {
    if (tree->child_count == 0)
        rid = NO_RID;
    for (uint32_t i = 0; i < tree->child_count && rid != NO_RID;) {
        text_tree *child = tree->children[i];
        tansu_status status = text_tree_seek(s, child, rid, error);
        if (status == TANSU_OK)
            status = text_search_check(s, 1, error);
        if (status != TANSU_OK)
            return status;
        i = child->rid == rid ? i + 1 : i == 0 ? 1 : 0;
        rid = child->rid;
    }
    tree->rid = rid;
    return TANSU_OK;
}

/* seek_any -- to the first document that a child may match. */
static tansu_status seek_any(text_search *s, text_tree *tree, uint64_t rid, tansu_error *error) {
    text_tree **heap = tree->children;
    const uint32_t count = tree->child_count;
    tansu_status status = TANSU_OK;
    if (!tree->placed) {
        for (uint32_t i = 0; i < count && status == TANSU_OK; i++)
            status = text_tree_seek(s, heap[i], rid, error);
        for (uint32_t i = count / 2; i-- > 0 && status == TANSU_OK;)
            sift(heap, count, i);
    }
    while (status == TANSU_OK && count != 0 && heap[0]->rid < rid) {
        status = text_tree_seek(s, heap[0], rid, error);
        if (status == TANSU_OK)
            sift(heap, count, 0);
    }
    tree->rid = count != 0 ? heap[0]->rid : NO_RID;
    return status;
}

tansu_status text_tree_seek(text_search *s, text_tree *tree, uint64_t rid, tansu_error *error) {
    tansu_status status;
    if (tree->placed && tree->rid >= rid)
        return TANSU_OK;
    if (tree->leaf) {
        status = text_leaf_seek(s, tree->leaf, rid, error);
        tree->rid = tree->leaf->rid;
    } else if (tree->kind == TEXT_ALL) {
        status = seek_all(s, tree, rid, error);
    } else {
        status = seek_any(s, tree, rid, error);
    }
    tree->placed = status == TANSU_OK;
    return status;
}

/* ---- Matches ---- */

/* any_matches -- whether one of the children that are at the document matches it: those are at the top
 * of the heap, from number `at` on. */
static tansu_status any_matches(text_search *s, text_tree *tree, uint32_t at, uint64_t rid,
                                bool *matches, tansu_error *error) {
    *matches = false;
    if (at >= tree->child_count || tree->children[at]->rid != rid)
        return TANSU_OK;
    tansu_status status = text_tree_matches(s, tree->children[at], rid, matches, error);
    for (uint32_t i = 1; i <= 2 && status == TANSU_OK && !*matches; i++)
        status = any_matches(s, tree, 2 * at + i, rid, matches, error);
    return status;
}

tansu_status text_tree_excludes(text_search *s, text_tree *tree, uint64_t rid, bool *excluded,
                                tansu_error *error) {
    *excluded = false;
    for (uint32_t i = 0; i < tree->without_count && !*excluded; i++) {
        text_tree *without = tree->without[i];
        tansu_status status = text_tree_seek(s, without, rid, error);
        if (status == TANSU_OK && without->rid == rid)
            status = text_tree_matches(s, without, rid, excluded, error);
        if (status != TANSU_OK)
            return status;
    }
    return TANSU_OK;
}

tansu_status text_tree_matches(text_search *s, text_tree *tree, uint64_t rid, bool *matches,
                               tansu_error *error) {
    tansu_status status = TANSU_OK;
    bool excluded = false;
    if (tree->leaf) {
        status = text_leaf_count(s, tree->leaf, rid, error);
        *matches = status == TANSU_OK && tree->leaf->count != 0;
        return status;
    }
    if (tree->kind == TEXT_ANY) {
        status = any_matches(s, tree, 0, rid, matches, error);
    } else {
        *matches = true;
        for (uint32_t i = 0; i < tree->child_count && *matches && status == TANSU_OK; i++)
            status = text_tree_matches(s, tree->children[i], rid, matches, error);
    }
    if (status == TANSU_OK && *matches)
        status = text_tree_excludes(s, tree, rid, &excluded, error);
    *matches = *matches && !excluded;
    return status;
}

tansu_status text_search_read(text_search *s, uint64_t rid, bool *matches, double *score,
                              tansu_error *error) {
    const index_definition *definition = s->query->definition;
    doc_ref ref;
    const uint8_t *doc;
    uint32_t size;
    *matches = false;
    tansu_status status = read_find_document(s->rctx, s->collection, rid, &ref, &doc, &size, error);
    if (status != TANSU_OK)
        return status == TANSU_DONE ? TANSU_OK : status;
    status = text_document_read(&s->document, definition, doc, size, error);
    if (status == TANSU_OK)
        status = text_search_check(s, 64 + size / 16, error);
    if (status != TANSU_OK)
        return status;
    if (!text_query_test(s->query, &s->document, &s->found))
        return error_memory(error);
    uint64_t length = text_document_length(&s->document, definition);
    double norm = text_search_norm(s, length < UINT32_MAX ? (uint32_t)length : UINT32_MAX);
    *matches = s->found.matches;
    *score = 0;
    for (uint32_t i = 0; i < s->scored_count; i++) {
        const text_leaf *leaf = s->scored[i];
        uint64_t count = s->found.counts[leaf->node->number];
        if (count != 0)
            *score += text_leaf_score(leaf, count, norm);
    }
    return TANSU_OK;
}

/* ---- Scores ---- */

/* before -- the order of the heap of leaves: by `key`, and at a document in their own order. */
static bool before(const text_leaf *a, const text_leaf *b) {
    return a->key != b->key ? a->key < b->key : a->node->number < b->node->number;
}

/* sift_leaf -- restores the order below the first leaf, whose key has risen. */
static void sift_leaf(text_search *s) {
    text_leaf **heap = s->heap, *moved = heap[0];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->scored_count)
            break;
        child += child + 1 < s->scored_count && before(heap[child + 1], heap[child]);
        if (!before(heap[child], moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* score -- that of a match. Only leaves that are at the document, or were before it, are looked at:
 * a search for very many words has few of them in each document. */
static tansu_status score_match(text_search *s, uint64_t rid, double *score, tansu_error *error) {
    uint32_t length = 0;
    tansu_status status = text_length(&s->lengths, &s->reader, rid, &length, error);
    double norm = text_search_norm(s, length);
    *score = 0;
    while (status == TANSU_OK && s->scored_count != 0 && s->heap[0]->key <= rid) {
        text_leaf *leaf = s->heap[0];
        status = text_leaf_seek(s, leaf, rid, error);
        if (status != TANSU_OK)
            break;
        if (leaf->key == rid && leaf->rid == rid) {
            status = text_leaf_count(s, leaf, rid, error);
            if (leaf->count != 0)
                *score += text_leaf_score(leaf, leaf->count, norm);
            leaf->key = rid + 1;
        } else {
            leaf->key = leaf->rid;
        }
        sift_leaf(s);
    }
    return status;
}

tansu_status text_search_next(text_search *s, bool scored, text_hit *hit, tansu_error *error) {
    for (;;) {
        bool matches = false;
        tansu_status status = text_tree_seek(s, s->root, s->next, error);
        if (status == TANSU_OK)
            status = text_search_check(s, 1, error);
        if (status != TANSU_OK)
            return status;
        *hit = (text_hit){.rid = s->root->rid};
        if (hit->rid == NO_RID)
            return TANSU_DONE;
        s->next = hit->rid + 1;
        status = text_tree_matches(s, s->root, hit->rid, &matches, error);
        if (status == TANSU_OK && matches && s->reads)
            status = text_search_read(s, hit->rid, &matches, &hit->score, error);
        else if (status == TANSU_OK && matches && scored)
            status = score_match(s, hit->rid, &hit->score, error);
        if (status != TANSU_OK || matches)
            return status;
    }
}
