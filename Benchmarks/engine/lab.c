#include "lab.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* lab_fail -- notes why a row failed. */
int lab_fail(struct lab *lab, const struct store *store, const char *message) {
    snprintf(lab->error, sizeof lab->error, "%s", store != NULL ? store->error : message);
    return -1;
}

/* lab_settle -- finishes what was put off, outside the timing. */
int lab_settle(struct lab *lab, struct store *store) {
    if (store->engine->settle(store) != 0)
        return lab_fail(lab, store, NULL);
    sync();
    return 0;
}

/* lab_expect_total -- fails unless the database holds exactly that many documents. */
int lab_expect_total(struct lab *lab, struct store *store, size_t expected) {
    struct query all = {.kind = QUERY_ALL};
    int64_t count = -1;
    if (store->engine->count(store, &all, &count) != 0)
        return lab_fail(lab, store, NULL);
    if (count == (int64_t)expected)
        return 0;
    snprintf(lab->error, sizeof lab->error, "%s holds %lld documents instead of %zu",
             store->engine->name, (long long)count, expected);
    return -1;
}

/* lab_load -- fills the database that most rows share, closes it and notes its size. */
static int lab_load(struct lab *lab, struct side *side) {
    const struct engine *engine = side->engine;
    struct store *store = NULL;
    struct settings settings = lab->settings;
    settings.durability = DURABILITY_PROCESS;
    snprintf(side->folder, sizeof side->folder, "%s/%s-loaded", lab->folder, engine->name);
    if (mkdir(side->folder, 0700) != 0)
        return lab_fail(lab, NULL, "cannot create a folder for the database");
    if (engine->open(side->folder, &settings, &store, lab->error) != 0)
        return -1;
    if (engine->begin(store) != 0 ||
        engine->insert(store, lab->corpus.documents, lab->corpus.count) != 0 ||
        engine->commit(store) != 0 || engine->index_create(store, FIELD_NAME) != 0 ||
        engine->index_create(store, FIELD_CITY) != 0 ||
        engine->index_create(store, FIELD_AGE) != 0) {
        lab_fail(lab, store, NULL);
        engine->close(store, store->error);
        return -1;
    }
    if (engine->close(store, lab->error) != 0)
        return -1;
    sync();
    if (folder_size(side->folder, &side->size) != 0)
        return lab_fail(lab, NULL, "cannot measure the database's folder");
    side->loaded = true;
    return 0;
}

/* lab_open_loaded -- opens the shared database, filling it at the first call. */
int lab_open_loaded(struct lab *lab, struct side *side, struct store **store) {
    struct settings settings = lab->settings;
    settings.durability = DURABILITY_PROCESS;
    if (!side->loaded && lab_load(lab, side) != 0)
        return -1;
    if (side->store == NULL &&
        side->engine->open(side->folder, &settings, &side->store, lab->error) != 0)
        return -1;
    *store = side->store;
    return 0;
}

/* lab_close_loaded -- closes the shared database if it is open. */
int lab_close_loaded(struct lab *lab, struct side *side) {
    struct store *store = side->store;
    side->store = NULL;
    return store == NULL ? 0 : side->engine->close(store, lab->error);
}

/* lab_open_fresh -- a new, empty database. */
int lab_open_fresh(struct lab *lab, struct side *side, enum durability durability,
                   struct store **store) {
    struct settings settings = lab->settings;
    settings.durability = durability;
    snprintf(side->fresh_folder, sizeof side->fresh_folder, "%s/%s-fresh", lab->folder,
             side->engine->name);
    if (mkdir(side->fresh_folder, 0700) != 0)
        return lab_fail(lab, NULL, "cannot create a folder for the database");
    return side->engine->open(side->fresh_folder, &settings, store, lab->error);
}

/* lab_remove_fresh -- closes it (unless store is NULL) and removes its files. */
int lab_remove_fresh(struct lab *lab, struct side *side, struct store *store) {
    if (store != NULL && side->engine->close(store, lab->error) != 0)
        return -1;
    if (folder_remove(side->fresh_folder) != 0)
        return lab_fail(lab, NULL, "cannot remove the database's folder");
    sync();
    return 0;
}
