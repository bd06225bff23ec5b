#include "fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* fixture_fail -- notes why a row failed. */
int fixture_fail(struct fixture *fixture, const struct store *store, const char *message) {
    snprintf(fixture->error, sizeof fixture->error, "%s", store != NULL ? store->error : message);
    return -1;
}

/* fixture_seconds -- the processor's time where that is wanted, otherwise the clock's. */
double fixture_seconds(const struct fixture *fixture) {
    return fixture->processor_time ? system_processor_seconds() : system_seconds();
}

/* fixture_quiesce -- finishes deferred work, outside the timing. */
int fixture_quiesce(struct fixture *fixture, struct store *store) {
    if (store->engine->quiesce(store) != 0)
        return fixture_fail(fixture, store, NULL);
    sync();
    return 0;
}

/* fixture_expect_count -- fails unless the database holds exactly that many documents. */
int fixture_expect_count(struct fixture *fixture, struct store *store, size_t expected) {
    struct query all = {.kind = QUERY_ALL};
    int64_t count = -1;
    if (store->engine->count(store, &all, &count) != 0)
        return fixture_fail(fixture, store, NULL);
    if (count == (int64_t)expected)
        return 0;
    snprintf(fixture->error, sizeof fixture->error, "%s holds %lld documents instead of %zu",
             store->engine->name, (long long)count, expected);
    return -1;
}

/* fixture_load -- fills the database that most rows share, closes it and notes its size. */
static int fixture_load(struct fixture *fixture, struct subject *subject) {
    const struct engine *engine = subject->engine;
    struct store *store = NULL;
    struct settings settings = fixture->settings;
    settings.durability = DURABILITY_PROCESS;
    snprintf(subject->folder, sizeof subject->folder, "%s/%s-loaded", fixture->folder,
             engine->name);
    if (mkdir(subject->folder, 0700) != 0)
        return fixture_fail(fixture, NULL, "cannot create a folder for the database");
    if (engine->open(subject->folder, &settings, &store, fixture->error) != 0)
        return -1;
    if (engine->begin(store) != 0 ||
        engine->insert(store, fixture->corpus.documents, fixture->corpus.count) != 0 ||
        engine->commit(store) != 0 || engine->index_create(store, FIELD_NAME) != 0 ||
        engine->index_create(store, FIELD_CITY) != 0 ||
        engine->index_create(store, FIELD_AGE) != 0) {
        fixture_fail(fixture, store, NULL);
        engine->close(store, store->error);
        return -1;
    }
    if (engine->close(store, fixture->error) != 0)
        return -1;
    sync();
    if (folder_size(subject->folder, &subject->size) != 0)
        return fixture_fail(fixture, NULL, "cannot measure the database's folder");
    subject->loaded = true;
    return 0;
}

/* fixture_open_loaded -- opens the shared database, filling it at the first call. */
int fixture_open_loaded(struct fixture *fixture, struct subject *subject, struct store **store) {
    struct settings settings = fixture->settings;
    settings.durability = DURABILITY_PROCESS;
    if (!subject->loaded && fixture_load(fixture, subject) != 0)
        return -1;
    if (subject->store == NULL &&
        subject->engine->open(subject->folder, &settings, &subject->store, fixture->error) != 0)
        return -1;
    *store = subject->store;
    return 0;
}

/* fixture_close_loaded -- closes the shared database if it is open. */
int fixture_close_loaded(struct fixture *fixture, struct subject *subject) {
    struct store *store = subject->store;
    subject->store = NULL;
    return store == NULL ? 0 : subject->engine->close(store, fixture->error);
}

/* fixture_open_empty -- a new, empty database. */
int fixture_open_empty(struct fixture *fixture, struct subject *subject, enum durability durability,
                       struct store **store) {
    struct settings settings = fixture->settings;
    settings.durability = durability;
    snprintf(subject->empty_folder, sizeof subject->empty_folder, "%s/%s-fresh", fixture->folder,
             subject->engine->name);
    if (mkdir(subject->empty_folder, 0700) != 0)
        return fixture_fail(fixture, NULL, "cannot create a folder for the database");
    return subject->engine->open(subject->empty_folder, &settings, store, fixture->error);
}

/* fixture_remove_empty -- closes it (unless store is NULL) and removes its files. */
int fixture_remove_empty(struct fixture *fixture, struct subject *subject, struct store *store) {
    if (store != NULL && subject->engine->close(store, fixture->error) != 0)
        return -1;
    if (folder_remove(subject->empty_folder) != 0)
        return fixture_fail(fixture, NULL, "cannot remove the database's folder");
    sync();
    return 0;
}
