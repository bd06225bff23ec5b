/*
 * query/plan/partial_filter.c -- compiles partial filters, and proves implications between
 * conditions.
 */
#include "query/plan/partial_filter.h"
#include "query/parse/parsed_query.h"
#include "query/plan/plan.h"

/* allowed -- whether a filter has only tests of the allowed kinds. */
static bool allowed(const node *n) {
    if (n->kind == NODE_TEST) {
        if (n->test->collation || n->test->wild != WILD_NONE)
            return false;
        switch (n->test->op) {
        case TEST_EQ:
        case TEST_GT:
        case TEST_GTE:
        case TEST_LT:
        case TEST_LTE:
        case TEST_BETWEEN:
        case TEST_IN:
        case TEST_EXISTS:
        case TEST_TYPE:
        case TEST_BEGIN: return true;
        default: return false;
        }
    }
    bool all =
        n->kind == NODE_TRUE || n->kind == NODE_FALSE || n->kind == NODE_AND || n->kind == NODE_OR;
    for (const node *child = n->first; all && child; child = child->next)
        all = allowed(child);
    return all;
}

/* take -- makes a compiled query a filter, if all of its tests are allowed. */
static tansu_status take(query *q, void **filter, tansu_error *error) {
    if (!allowed(q->root)) {
        query_free(q);
        return error_set(error, TANSU_E_INVALID_INDEX, "partialFilter",
                         "Partial filter has an operator that is not allowed; use comparisons, "
                         "\"$exists\", \"$type\" and \"$begin\", combined by \"$and\", \"$or\", "
                         "\"$nor\" and \"$not\"");
    }
    *filter = q;
    return TANSU_OK;
}

tansu_status partial_filter_compile(const uint8_t *selector, size_t size, void **filter,
                                    tansu_error *error) {
    query *q;
    tansu_status status = query_compile_alone(selector, size, &q, error);
    if (status == TANSU_E_INVALID_QUERY)
        error_prefix(error, "partialFilter");
    return status == TANSU_OK ? take(q, filter, error) : status;
}

bool partial_filter_matches(const void *filter, const uint8_t *doc, size_t size) {
    const query *q = filter;
    /* The allowed tests need no memory and cannot fail. */
    return matcher_run(q->matcher, NULL, doc, size);
}

void partial_filter_free(void *filter) {
    query_free(filter);
}

/* ---- Proofs ---- */

const node *filter_node(const void *filter) {
    return ((const query *)filter)->root;
}

/* $exists, or a test that neither null nor a missing value passes. */
bool test_finds_value(bounds_memory *memory, const test *t) {
    interval_list list;
    bool usable, exact;
    if (t->negated || !t->path || t->wild != WILD_NONE)
        return false;
    switch (t->op) {
    case TEST_EXISTS:
    case TEST_END:
    case TEST_CONTAINS:
    case TEST_TOKEN:
    case TEST_MOD:
    case TEST_BITS:
    case TEST_TYPE:
    case TEST_SIZE: return true;
    default: break;
    }
    return bounds_of_test(memory, t, false, &list, &usable, &exact) && usable &&
           !bounds_include_missing(&list);
}

/* has_type -- whether a $type has a type. */
static bool has_type(const test *t, uint8_t type) {
    return t->types[type / 32] >> type % 32 & 1;
}

/* types_of_kind -- whether a $type has all types whose values have keys of a kind. Null is not
 * enough, since a missing value has its key. */
static bool types_of_kind(const test *t, enum value_kind kind) {
    if (kind == KIND_NULL || kind == KIND_NOTHING)
        return false;
    for (unsigned type = 1; type < 256; type++) {
        bool exists = type <= DOC_DECIMAL128 || type == DOC_MIN_KEY || type == DOC_MAX_KEY;
        if (exists && value_kind_of((uint8_t)type) == kind && !has_type(t, (uint8_t)type))
            return false;
    }
    return true;
}

/* implies_type -- whether every value that passes a test has a type of $type: its own types, or
 * those of the kinds that its bounds are in. */
static bool implies_type(bounds_memory *memory, const test *one, const test *types) {
    interval_list list;
    bool usable, exact;
    if (one->op == TEST_TYPE) {
        for (int i = 0; i < 8; i++) {
            if (one->types[i] & ~types->types[i])
                return false;
        }
        return true;
    }
    if (one->op == TEST_EXISTS || !bounds_of_test(memory, one, false, &list, &usable, &exact) ||
        !usable)
        return false;
    for (uint32_t n = 0; n < list.count; n++) {
        const interval *i = &list.items[n];
        uint8_t kind = i->low_size == 0 ? 0 : i->low[0];
        const uint8_t next[] = {(uint8_t)(kind + 1)};
        if (!i->high || bounds_compare(i->high, i->high_size, next, 1) > 0 ||
            !types_of_kind(types, (enum value_kind)kind))
            return false;
    }
    return true;
}

/*
 * positive_implies -- for two tests of one path, disregarding negation. A document passes the first
 * with some value. If the keys of all such values are among those of the second, the same value
 * passes the second. This holds for arrays as well, since either test needs only one value.
 */
static bool positive_implies(bounds_memory *memory, const test *one, const test *other) {
    test a = *one, b = *other;
    interval_list a_list, b_list;
    bool usable, exact;
    a.negated = b.negated = false;
    if (b.op == TEST_EXISTS)
        return test_finds_value(memory, &a);
    if (b.op == TEST_TYPE)
        return implies_type(memory, &a, &b);
    if (a.op == TEST_EXISTS || !bounds_of_test(memory, &b, false, &b_list, &usable, &exact) ||
        !usable || !exact)
        return false;
    return bounds_of_test(memory, &a, false, &a_list, &usable, &exact) && usable &&
           bounds_within(&a_list, &b_list);
}

/* test_implies -- for negated tests the reverse implication holds: what is not in the larger set is
 * not in the smaller one. A positive test implies no negated one, since another value of the
 * document may fail it. */
static bool test_implies(bounds_memory *memory, const test *one, const test *other) {
    bool plain = one->path && other->path && one->wild == WILD_NONE && other->wild == WILD_NONE &&
                 !one->on_array && !other->on_array && one->collation == other->collation;
    if (!plain || one->negated != other->negated || !path_equal(one->path, other->path))
        return false;
    /* With memory of its own, since there may be many proofs. */
    arena own = {.limit = PLAN_MEMORY};
    bounds_memory inner = {.arena = &own, .scratch = memory->scratch};
    bool implied =
        one->negated ? positive_implies(&inner, other, one) : positive_implies(&inner, one, other);
    memory->scratch = inner.scratch;
    memory->proofs += (one->operand_count + other->operand_count) / 4;
    arena_free(&own);
    return implied;
}

/* any_implies -- whether one of the children implies a condition. */
static bool any_implies(bounds_memory *memory, const node *group, const node *other) {
    for (const node *child = group->first; child; child = child->next) {
        if (node_implies(memory, child, other))
            return true;
    }
    return false;
}

/* all_imply -- whether all children do. */
static bool all_imply(bounds_memory *memory, const node *group, const node *other) {
    for (const node *child = group->first; child; child = child->next) {
        if (!node_implies(memory, child, other))
            return false;
    }
    return true;
}

bool node_implies(bounds_memory *memory, const node *one, const node *other) {
    if (other->kind == NODE_TRUE || one->kind == NODE_FALSE)
        return true;
    if (memory->proofs > MAX_PROOFS)
        return false;
    memory->proofs++;
    if (other->kind == NODE_AND) {
        for (const node *child = other->first; child; child = child->next) {
            if (!node_implies(memory, one, child))
                return false;
        }
        return true;
    }
    if (one->kind == NODE_OR)
        return all_imply(memory, one, other);
    for (const node *child = other->kind == NODE_OR ? other->first : NULL; child;
         child = child->next) {
        if (node_implies(memory, one, child))
            return true;
    }
    if (one->kind == NODE_AND)
        return any_implies(memory, one, other);
    return one->kind == NODE_TEST && other->kind == NODE_TEST &&
           test_implies(memory, one->test, other->test);
}
