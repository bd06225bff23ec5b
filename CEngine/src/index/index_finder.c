/*
 * index/index_finder.c -- finding the values of an index's paths in one document after the other.
 */
#include "index/index_finder.h"

#include <stdlib.h>

/* reserve -- room for that many paths. */
static bool reserve(index_finder *finder, uint32_t count) {
    if (count <= finder->capacity)
        return true;
    trail *trails = realloc(finder->trails, count * sizeof *trails);
    if (trails == NULL)
        return false;
    finder->trails = trails;
    form_place *places = realloc(finder->places, count * sizeof *places);
    if (places == NULL)
        return false;
    finder->places = places;
    finder->capacity = count;
    return true;
}

index_finder *index_finder_of(index_finder *finder, const index_definition *definition,
                              const form *form) {
    finder->form = form;
    if (turn_continues(&finder->turn, definition->serial))
        return finder;
    if (definition->wildcard || turn_waits(&finder->turn) ||
        !reserve(finder, definition->path_count))
        return NULL;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        trail_begin(&finder->trails[i], definition);
        finder->places[i] = (form_place){0};
    }
    turn_begin(&finder->turn, definition->serial);
    return finder;
}

void index_finder_free(index_finder *finder) {
    free(finder->trails);
    free(finder->places);
    *finder = (index_finder){.trails = NULL};
}
