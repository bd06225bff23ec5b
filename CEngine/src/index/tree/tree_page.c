/*
 * index/tree/tree_page.c -- packed blocks of sorted byte strings.
 */
#include "index/tree/tree_block.h"

#include "index/tree/rid_suffix.h"

/* compare_words -- two words as they lie in memory, in memcmp order. */
static inline int compare_words(uint64_t a, uint64_t b) {
    a = __builtin_bswap64(a);
    b = __builtin_bswap64(b);
    return (a > b) - (a < b);
}

/* compare_bytes -- memcmp order, the shorter first. Keys are short: a call of memcmp() costs more
 * than their few words. */
static inline int compare_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    size_t size = a_size < b_size ? a_size : b_size;
    if (size >= 8) {
        for (size_t at = 0; at + 8 < size; at += 8)
            if (load_u64(a + at) != load_u64(b + at))
                return compare_words(load_u64(a + at), load_u64(b + at));
        /* The last word overlaps the one before, which is the same in both. */
        if (load_u64(a + size - 8) != load_u64(b + size - 8))
            return compare_words(load_u64(a + size - 8), load_u64(b + size - 8));
    } else {
        for (size_t at = 0; at < size; at++)
            if (a[at] != b[at])
                return a[at] < b[at] ? -1 : 1;
    }
    return (a_size > b_size) - (a_size < b_size);
}

/* head_search -- the first of `count` slots from `first` on whose head is not less than `head`. */
static uint32_t head_search(const tree_slot *slots, uint32_t first, uint32_t count, uint32_t head) {
    const tree_slot *base = slots + first;
    uint32_t size = count;
    if (size == 0)
        return first;
    while (size > 1) {
        uint32_t half = size / 2;
        base = base[half - 1].head < head ? base + half : base;
        size -= half;
    }
    return (uint32_t)(base - slots) + (base->head < head);
}

/* prefix_compare -- the page's strings against a key that does not begin with their prefix: they
 * are greater where the key is only the prefix's beginning. */
static int prefix_compare(const tree_page *page, const uint8_t *key, size_t size) {
    size_t shared = size < page->prefix_size ? size : page->prefix_size;
    int order = shared == 0 ? 0 : memcmp(page->bytes, key, shared);
    return order != 0 ? order : 1;
}

/* ties_end -- where the slots with the same head as that before `from` end. There are seldom many:
 * the steps double, and then the last one is searched. */
static uint32_t ties_end(const tree_slot *slots, uint32_t from, uint32_t count, uint32_t head) {
    uint32_t step = 1;
    while (from < count && slots[from].head == head) {
        uint32_t next = count - from > step ? from + step : count;
        if (slots[next - 1].head != head)
            return head_search(slots, from, next - from, head + 1);
        from = next;
        step *= 2;
    }
    return from;
}

/* page_search -- binary search over the heads, then over the suffixes of those that tie. Keys that
 * ascend, such as most ids, and each level's separators for them, belong after the last slot: that
 * is asked first. */
uint32_t page_search(const tree_page *page, const uint8_t *key, size_t size, bool *exact) {
    *exact = false;
    if (!page_fits_prefix(page, key, size))
        return prefix_compare(page, key, size) > 0 ? 0 : page->count;
    key += page->prefix_size;
    size -= page->prefix_size;

    const tree_slot *slots = page_slots(page);
    uint32_t head = page_head(key, size);
    if (page->count == 0 || slots[page->count - 1].head < head)
        return page->count;
    uint32_t low = head_search(slots, 0, page->count, head);
    if (slots[low].head != head)
        return low;
    uint32_t high = ties_end(slots, low + 1, page->count, head);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t suffix_size;
        const uint8_t *suffix = page_suffix(page, middle, &suffix_size);
        int order = compare_bytes(suffix, suffix_size, key, size);
        if (order == 0) {
            *exact = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* page_compare -- prefix first, then suffix. */
int page_compare(const tree_page *page, uint32_t slot, const uint8_t *key, size_t size) {
    if (!page_fits_prefix(page, key, size))
        return prefix_compare(page, key, size);
    uint32_t suffix_size;
    const uint8_t *suffix = page_suffix(page, slot, &suffix_size);
    return compare_bytes(suffix, suffix_size, key + page->prefix_size, size - page->prefix_size);
}

bool page_begins_with(const tree_page *page, uint32_t slot, const uint8_t *bytes, size_t size) {
    tree_ref ref = page_ref(page, slot);
    if (ref_size(&ref) < size)
        return false;
    size_t shared = ref.prefix_size < size ? ref.prefix_size : size;
    return bytes_equal(ref.prefix, bytes, shared) &&
           bytes_equal(ref.suffix, bytes + shared, size - shared);
}

/* put_entry -- writes length and bytes of a suffix at the heap's low end; the slot that says so. */
static tree_slot put_entry(tree_page *page, const tree_ref *ref, uint32_t from) {
    uint32_t size = ref_size(ref) - from;
    page->heap += page_entry_size(size);
    uint8_t *at = page_put_size((uint8_t *)page + page->capacity - page->heap, size);
    ref_copy(at, ref, from, size);
    return (tree_slot){page_head(at, size), page->heap};
}

/* page_insert -- the suffix goes to the heap's low end, later slots move up by one. */
void page_insert(tree_page *page, uint32_t slot, const uint8_t *key, size_t size) {
    tree_ref ref = {key, NULL, (uint32_t)size, 0};
    tree_slot entry = put_entry(page, &ref, page->prefix_size);
    tree_slot *slots = page_slots(page);
    memmove(slots + slot + 1, slots + slot, (page->count - slot) * sizeof(tree_slot));
    slots[slot] = entry;
    page->count++;
}

/* page_remove -- heap bytes are reclaimed at once only at the heap's low end. */
void page_remove(tree_page *page, uint32_t slot) {
    tree_slot *slots = page_slots(page);
    uint32_t size;
    page_suffix(page, slot, &size);
    if (slots[slot].offset == page->heap)
        page->heap -= page_entry_size(size);
    else
        page->dead += page_entry_size(size);
    page->count--;
    memmove(slots + slot, slots + slot + 1, (page->count - slot) * sizeof(tree_slot));
}

/* page_copy -- front and heap; the gap between them takes what is left. */
void page_copy(tree_page *to, uint32_t capacity, const tree_page *from) {
    memcpy(to, from, page_front(from));
    to->capacity = capacity;
    if (from->heap != 0)
        memcpy((uint8_t *)to + capacity - from->heap,
               (const uint8_t *)from + from->capacity - from->heap, from->heap);
}

/* ref_common -- compares piece by piece. */
uint32_t ref_common(const tree_ref *a, const tree_ref *b) {
    uint32_t limit = ref_size(a) < ref_size(b) ? ref_size(a) : ref_size(b);
    uint32_t at = 0;
    while (at < limit) {
        bool a_suffix = at >= a->prefix_size, b_suffix = at >= b->prefix_size;
        const uint8_t *p = a_suffix ? a->suffix + (at - a->prefix_size) : a->prefix + at;
        const uint8_t *q = b_suffix ? b->suffix + (at - b->prefix_size) : b->prefix + at;
        uint32_t p_end = a_suffix ? limit : a->prefix_size;
        uint32_t q_end = b_suffix ? limit : b->prefix_size;
        uint32_t end = p_end < q_end ? p_end : q_end;
        end = end < limit ? end : limit;
        if (p == q) { /* strings of one page share its prefix as such */
            at = end;
            continue;
        }
        for (; at < end; at++, p++, q++)
            if (*p != *q)
                return at;
    }
    return limit;
}

/* ref_less -- the first byte that differs decides. */
bool ref_less(const tree_ref *a, const tree_ref *b) {
    uint32_t common = ref_common(a, b);
    if (common == ref_size(a) || common == ref_size(b))
        return ref_size(a) < ref_size(b);
    uint8_t x, y;
    ref_copy(&x, a, common, 1);
    ref_copy(&y, b, common, 1);
    return x < y;
}

/* ref_copy -- from one piece, the other, or both. */
void ref_copy(uint8_t *to, const tree_ref *ref, uint32_t from, uint32_t size) {
    if (from < ref->prefix_size && size != 0) {
        uint32_t part = ref->prefix_size - from < size ? ref->prefix_size - from : size;
        memcpy(to, ref->prefix + from, part);
        to += part;
        from += part;
        size -= part;
    }
    if (size != 0)
        memcpy(to, ref->suffix + (from - ref->prefix_size), size);
}

/* page_measure -- sorted strings share what the first and the last share. */
uint64_t page_measure(const tree_ref *refs, uint32_t count, uint32_t *prefix_size) {
    uint32_t prefix = count == 0 ? 0 : ref_common(&refs[0], &refs[count - 1]);
    uint64_t bytes = sizeof(tree_page) + page_align(prefix) + (uint64_t)count * sizeof(tree_slot);
    for (uint32_t i = 0; i < count; i++)
        bytes += page_entry_size(ref_size(&refs[i]) - prefix);
    *prefix_size = prefix;
    return bytes;
}

/* page_fill -- the heap is filled from its high end, so that strings lie there in falling order. */
void page_fill(tree_page *page, uint32_t capacity, uint8_t level, const tree_ref *refs,
               uint32_t count, uint32_t prefix_size) {
    *page = (tree_page){.level = level, .prefix_size = prefix_size, .capacity = capacity};
    if (count == 0)
        return;
    ref_copy(page->bytes, &refs[0], 0, prefix_size);
    memset(page->bytes + prefix_size, 0, page_align(prefix_size) - prefix_size);
    tree_slot *slots = page_slots(page);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = put_entry(page, &refs[i], prefix_size);
    page->count = count;
}

/* page_refs -- one reference a slot. */
void page_refs(const tree_page *page, uint32_t slot, uint32_t count, tree_ref *refs) {
    for (uint32_t i = 0; i < count; i++)
        refs[i] = page_ref(page, slot + i);
}

/* page_rid -- the record id may begin in the prefix. */
uint64_t page_rid(const tree_page *page, uint32_t slot) {
    uint32_t size;
    const uint8_t *suffix = page_suffix(page, slot, &size);
    /* The head of the page lies before: eight bytes can be read wherever five belong to us. */
    if (size >= RID_SUFFIX_SIZE)
        return (load_be64(suffix + size - 8) & 0xFFFFFFFFFF) >> TYPE_TAG_BITS;
    uint64_t number = 0;
    uint32_t more =
        RID_SUFFIX_SIZE - size < page->prefix_size ? RID_SUFFIX_SIZE - size : page->prefix_size;
    for (uint32_t i = page->prefix_size - more; i < page->prefix_size; i++)
        number = number << 8 | page->bytes[i];
    for (uint32_t i = 0; i < size; i++)
        number = number << 8 | suffix[i];
    return number >> TYPE_TAG_BITS;
}
