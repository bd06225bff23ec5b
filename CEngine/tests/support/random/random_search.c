/*
 * support/random/random_search.c -- random words, texts and searches.
 */
#include "support/random/random_search.h"

#include <math.h>
#include <string.h>

void random_words(random_source *r, vocabulary *v, uint32_t count) {
    static const char *const letters[] = {"a", "b", "c", "ж", "語y", "é"};
    v->count = count;
    for (uint32_t i = 0; i < count; i++) {
        v->words[i][0] = 0;
        for (uint64_t left = 1 + random_below(r, 6); left > 0; left--)
            strcat(v->words[i], letters[random_below(r, random_chance(r, 10) ? 6 : 4)]);
    }
}

const char *random_word(random_source *r, const vocabulary *v) {
    double u = (double)random_below(r, 1u << 20) / (1u << 20);
    uint32_t i = (uint32_t)(pow((double)v->count + 1, u) - 1);
    return v->words[i < v->count ? i : v->count - 1];
}

void put_words(random_source *r, const vocabulary *v, text *t, uint32_t most) {
    for (uint64_t left = random_below(r, most + 1); left > 0; left--)
        put(t, "%s%s", random_word(r, v), random_chance(r, 10) ? ". " : " ");
}

/* ---- Searches ---- */

/* sought_word -- one that texts may have, or one that none has. */
static const char *sought_word(random_source *r, const vocabulary *v) {
    return random_chance(r, 4) ? "zz" : random_word(r, v);
}

/* beginning -- how many bytes the first few characters of a word have. */
static int beginning(const char *word, uint64_t characters) {
    int size = 0;
    while (word[size] != 0 && (((uint8_t)word[size] & 0xC0) == 0x80 || characters-- > 0))
        size++;
    return size;
}

static void put_item(random_source *r, const vocabulary *v, text *t, bool paths, int depth);

static void put_list(random_source *r, const vocabulary *v, text *t, const char *name, bool paths,
                     uint64_t count, int depth) {
    put(t, "'%s':[", name);
    for (uint64_t i = 0; i < count; i++) {
        put(t, "%s", i > 0 ? "," : "");
        if (random_chance(r, 40))
            put(t, "'%s'", sought_word(r, v));
        else if (random_chance(r, 10)) {
            const char *w = sought_word(r, v);
            put(t, "'%s \\\"%s %s\\\" %.*s*'", sought_word(r, v), sought_word(r, v),
                sought_word(r, v), beginning(w, 1), w);
        } else
            put_item(r, v, t, paths, depth + 1);
    }
    put(t, "]");
}

/* put_options -- a boost, and paths. */
static void put_options(random_source *r, text *t, bool paths) {
    static const char *const names[] = {"a", "b", "c.d"};
    if (random_chance(r, 20))
        put(t, ",'boost':%d.5", (int)random_below(r, 4));
    if (paths && random_chance(r, 25))
        put(t, ",'path':'%s'", names[random_below(r, 3)]);
    else if (paths && random_chance(r, 5))
        put(t, ",'path':['c.d','a']");
}

/* put_group -- lists of other items. */
static void put_group(random_source *r, const vocabulary *v, text *t, bool paths, int depth) {
    uint64_t shape = random_below(r, 10);
    bool all = shape < 5 || shape == 9, any = shape >= 4;
    if (all)
        put_list(r, v, t, "all", paths, 1 + random_below(r, 3), depth);
    if (any) {
        put(t, "%s", all ? "," : "");
        put_list(r, v, t, "any", paths,
                 1 + random_below(r, depth == 0 && random_chance(r, 6) ? 60 : 4), depth);
    }
    if (random_chance(r, 20)) {
        put(t, ",");
        put_list(r, v, t, "not", paths, 1 + random_below(r, 2), depth);
    }
}

/* put_item -- one document of a search. */
static void put_item(random_source *r, const vocabulary *v, text *t, bool paths, int depth) {
    put(t, "{");
    switch (random_below(r, depth > 3 ? 6 : 9)) {
    case 0:
    case 1: put(t, "'word':'%s'", sought_word(r, v)); break;
    case 2: put(t, "'phrase':'%s %s'", sought_word(r, v), sought_word(r, v)); break;
    case 3:
        put(t, "'near':['%s','%s'],'within':%d,'ordered':%s", sought_word(r, v), sought_word(r, v),
            1 + (int)random_below(r, 6), random_chance(r, 50) ? "true" : "false");
        break;
    case 4: {
        const char *w = sought_word(r, v);
        put(t, "'prefix':'%.*s'", beginning(w, 1 + random_below(r, 3)), w);
        break;
    }
    case 5:
        put(t, "'fuzzy':'%s','distance':%d,'same':%d", sought_word(r, v),
            1 + (int)random_below(r, 2), (int)random_below(r, 3));
        break;
    default: put_group(r, v, t, paths, depth);
    }
    put_options(r, t, paths);
    put(t, "}");
}

void random_search(random_source *r, const vocabulary *v, text *t, bool paths) {
    t->size = 0;
    if (random_chance(r, 25)) {
        put(t, "{'$search':'");
        for (uint64_t left = 1 + random_below(r, 4); left > 0; left--)
            put(t, "%s%s ", random_chance(r, 15) ? "-" : "", sought_word(r, v));
        if (random_chance(r, 30))
            put(t, "\\\"%s %s\\\"", sought_word(r, v), sought_word(r, v));
        put(t, "'%s}", random_chance(r, 10) ? ",'$diacriticSensitive':true" : "");
        return;
    }
    put_item(r, v, t, paths, 0);
    t->bytes[--t->size] = 0;
    if (random_chance(r, 15))
        put(t, ",'k1':%.1f", (double)random_below(r, 30) / 10);
    if (random_chance(r, 15))
        put(t, ",'b':%.1f", (double)random_below(r, 11) / 10);
    if (random_chance(r, 5))
        put(t, ",'caseSensitive':true");
    put(t, "}");
}
