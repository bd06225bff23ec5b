/*
 * check/repair/repair.c -- salvaging a corrupt database: the order of the phases, and the folder
 * that the new database is built in.
 *
 *  1. repair_find_segments: list the segment files and decide which belong to the database.
 *  2. repair_find_frames: read every segment and find its runs of intact frames. A frame belongs to
 *     the commit that its checksum vouches for, wherever it lies, so a misdirected write costs only
 *     the bytes that it overwrote.
 *  3. repair_build_history: of all runs, take the longest consistent history of commits.
 *  4. repair_replay: apply its records in the order of commits. Records that no checksum protects
 *     are used where their commit is missing.
 *  5. repair_index_files_compare: learn from the index files which documents there were.
 *  6. repair_build_catalog, repair_rebuild: create the collections of the new database, save each
 *     document's newest version, build the indexes.
 *
 * The damaged database is read only. The new one gets its name when it is complete.
 */
#include "check/repair/repair.h"

#include "check/repair/repair_internal.h"
#include "log/scan.h"
#include "util/error.h"
#include "util/lock_holder.h"
#include "util/staging/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Folders ---- */

/* lock_source -- keeps others from opening the database meanwhile. Without a LOCK file nobody has
 * it open. */
static tansu_status lock_source(const repair *r, int *fd, tansu_error *error) {
    char *path = fs_join(r->from, "LOCK");
    if (path == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    *fd = r->calls->open(r->calls, path, O_RDONLY, 0);
    if (*fd < 0 && errno != ENOENT && errno != ENOTDIR)
        status = error_errno(error, path, "open", errno);
    else if (*fd >= 0 && r->calls->lock(*fd, true) != 0)
        status = errno == EWOULDBLOCK ? lock_held_error(*fd, "The database", path, error)
                                      : error_errno(error, path, "lock", errno);
    free(path);
    return status;
}

/* ---- The new database ---- */

/* open_new -- the database that is filled. */
static tansu_status open_new(repair *r, const char *folder, tansu_error *error) {
    tansu_options options = *r->settings;
    options.path = folder;
    options.store = TANSU_STORE_PERSISTENT;
    if (r->keys != NULL) {
        options.key = r->key.bytes;
        options.key_size = r->key.size;
        options.key_kind = r->key.kind;
        options.key_iterations = r->iterations;
    }
    options.durability = TANSU_DURABILITY_PROCESS; /* closing syncs everything */
    return database_open(&options, r->calls, r->hooks, &r->db, error);
}

/* salvage -- reads the log into r->locations and r->collections, with the help of a copy of the
 * index files in `folder`. */
static tansu_status salvage(repair *r, const char *folder, tansu_error *error) {
    repair_index_files_open(r, folder);
    tansu_status status = repair_find_frames(r, error);
    if (status == TANSU_OK)
        status = repair_build_history(r, error);
    if (status == TANSU_OK)
        status = repair_replay(r, error);
    if (status == TANSU_OK)
        repair_add_log_problems(r);
    if (status == TANSU_OK)
        status = repair_index_files_compare(r, error);
    tansu_status closed = repair_index_files_close(r, folder, status == TANSU_OK ? error : NULL);
    if (status == TANSU_OK)
        status = closed;
    return status == TANSU_OK ? repair_build_catalog(r, error) : status;
}

/* rebuild -- fills the new database in `folder` and closes it. */
static tansu_status rebuild(repair *r, const char *folder, tansu_error *error) {
    tansu_status status = open_new(r, folder, error);
    if (status == TANSU_OK)
        status = repair_rebuild(r, error);
    if (r->db == NULL)
        return status;
    tansu_status closed = database_close(r->db, status == TANSU_OK ? error : NULL);
    return status == TANSU_OK ? closed : status;
}

/* check_outside -- staging_check_outside() for the folder of a database, which
 * repair_find_segments() finds out. */
static tansu_status check_outside(const repair *r, const char *to, tansu_error *error) {
    return fs_is_folder(r->calls, r->log_folder) ? staging_check_outside(to, r->from, error)
                                                 : TANSU_OK;
}

/* run -- all phases. The report is written before the database is published: nothing can fail after
 * that. */
static tansu_status run(repair *r, const char *to, staging *staged, tansu_buffer *report,
                        tansu_error *error) {
    tansu_status status = check_outside(r, to, error);
    if (status == TANSU_OK)
        status = staging_begin(staged, r->calls, to, true, error);
    if (status == TANSU_OK)
        status = repair_find_segments(r, error);
    if (status == TANSU_OK)
        status = repair_progress(r, 0, error);
    if (status == TANSU_OK)
        status = salvage(r, staged->path, error);
    if (status == TANSU_OK) {
        staging_unlock(staged); /* the database locks the same LOCK */
        status = rebuild(r, staged->path, error);
    }
    if (status == TANSU_OK)
        status = repair_progress(r, r->total, error);
    if (status == TANSU_OK)
        status = repair_report(r, report, error);
    return status == TANSU_OK ? staging_publish(staged, error) : status;
}

tansu_status database_repair(const char *from, const char *to, const user_key *key, const fs *calls,
                             const query_hooks *hooks, const tansu_options *settings,
                             tansu_progress progress, void *context, tansu_buffer *report,
                             tansu_error *error) {
    repair r = {.calls = calls,
                .hooks = hooks,
                .settings = settings,
                .key = user_key_given(*key),
                .from = from,
                .progress = progress,
                .context = context,
                .log_folder = fs_join(from, "log")};
    tansu_buffer made = TANSU_BUFFER_INIT;
    staging staged = {.calls = calls, .fd = -1};
    int lock = -1;
    tansu_status status = TANSU_OK;
    if (r.log_folder == NULL)
        status = error_memory(error);
    if (status == TANSU_OK)
        status = user_key_check(&r.key, error);
    if (status == TANSU_OK)
        status = lock_source(&r, &lock, error);
    if (status == TANSU_OK)
        status = run(&r, to, &staged, &made, error);
    if (lock >= 0)
        calls->unlock(lock);
    if (status == TANSU_OK && report != NULL) {
        tansu_buffer_free(report);
        *report = made;
    } else {
        tansu_buffer_free(&made);
    }
    repair_free(&r);
    staging_end(&staged);
    return status;
}

/* ---- What all phases of a repair use: progress, and the names of segment files ---- */

void repair_free(repair *r) {
    for (size_t i = 0; i < r->record_count; i++)
        tansu_buffer_free(&r->records[i].payload);
    for (size_t i = 0; i < r->collection_count; i++)
        free(r->collections[i].indexes);
    for (size_t i = 0; i < r->segment_count; i++) {
        free(r->segments[i].file);
        repair_image_free(r->segments[i].image);
    }
    keyring_free(r->keys);
    free(r->records);
    catalog_end(&r->names, UINT64_MAX, NULL, NULL);
    free(r->collections);
    free(r->segments);
    free(r->runs);
    free(r->gaps);
    free(r->marks);
    free(r->orphans);
    free(r->slices);
    free(r->missing);
    free(r->known_collections);
    report_list_free(&r->suspects);
    free(r->log_folder);
    pending_free(&r->locations);
    problem_list_free(&r->problems);
}

tansu_status repair_progress(repair *r, uint64_t work, tansu_error *error) {
    r->done += work;
    if (r->done > r->total)
        r->done = r->total;
    if (r->progress != NULL && !r->progress(r->context, r->done, r->total))
        return error_set(error, TANSU_E_CANCELLED, r->from,
                         "The repair was cancelled; no file of the new database is left");
    return TANSU_OK;
}

const repair_segment *repair_segment_find(const repair *r, uint32_t number) {
    for (size_t i = 0; i < r->segment_count; i++)
        if (r->segments[i].number == number)
            return &r->segments[i];
    return NULL;
}

/* leftover_file -- the file of a leftover; NULL when the number is that of a segment. */
static const char *leftover_file(const repair *r, uint32_t number) {
    const repair_segment *s = number < REPAIR_LEFTOVER ? NULL : repair_segment_find(r, number);
    return s == NULL ? NULL : s->file;
}

char *repair_segment_path(const repair *r, uint32_t number) {
    const char *file = leftover_file(r, number);
    return file != NULL ? fs_join(r->from, file) : segment_file(r->log_folder, number);
}

int repair_segment_open(const repair *r, uint32_t number) {
    char *path = repair_segment_path(r, number);
    if (path == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int fd = r->calls->open(r->calls, path, O_RDONLY, 0);
    int problem = errno;
    free(path);
    errno = problem;
    return fd;
}

void repair_segment_name(const repair *r, uint32_t number, char name[64]) {
    const char *file = leftover_file(r, number);
    if (file != NULL)
        snprintf(name, 64, "%s", file);
    else
        segment_name(number, name);
}

/* ---- The report of a repair: counts, lists, and problems ---- */

/* missing_documents_of -- documents that only the index files know. */
static uint64_t missing_documents_of(const repair *r, uint32_t collection) {
    const repair_known_collection *known = repair_known_collection_find(r, collection);
    return known == NULL ? 0 : known->documents;
}

/* append_collection -- the counts of a collection. */
static void append_collection(report_list *list, const char *name, uint64_t documents,
                              const uint64_t suspects[REASON_COUNT], uint64_t lost) {
    writer w;
    size_t document = report_list_begin(list, &w);
    writer_string(&w, "name", name);
    writer_int64(&w, "documents", (int64_t)documents);
    writer_int64(&w, "unprotected", (int64_t)suspects[REASON_UNPROTECTED]);
    writer_int64(&w, "older", (int64_t)suspects[REASON_OLDER]);
    writer_int64(&w, "uncertain", (int64_t)suspects[REASON_UNCERTAIN]);
    writer_int64(&w, "lost", (int64_t)lost);
    report_list_end(list, &w, document);
}

/* append_collections -- those of the new database, and those that only the index files know. */
static void append_collections(const repair *r, writer *w, uint64_t sums[REASON_COUNT],
                               uint64_t *lost) {
    static const uint64_t none[REASON_COUNT];
    report_list list = {.count = 0};
    for (size_t i = 0; i < r->collection_count; i++) {
        const repair_collection *c = &r->collections[i];
        if (c->dropped)
            continue;
        for (int k = 0; k < REASON_COUNT; k++)
            sums[k] += c->suspects[k];
        uint64_t missing = missing_documents_of(r, c->id) + c->lost;
        *lost += missing;
        append_collection(&list, c->name, c->documents, c->suspects, missing);
    }
    for (size_t i = 0; i < r->known_count; i++) {
        const repair_known_collection *known = &r->known_collections[i];
        if (known->documents == 0 || repair_find_collection(r, known->collection) != NULL)
            continue;
        *lost += known->documents;
        append_collection(&list, known->name, 0, none, known->documents);
    }
    report_list_append(&list, w, "byCollection");
    report_list_free(&list);
}

tansu_status repair_report(repair *r, tansu_buffer *result, tansu_error *error) {
    writer w = {.out = result};
    uint64_t suspects[REASON_COUNT] = {0}, lost = 0;
    size_t document = writer_begin(&w);
    writer_int64(&w, "documents", (int64_t)r->documents);
    writer_int64(&w, "unprotected", (int64_t)r->unprotected);
    writer_int64(&w, "collections", (int64_t)r->collections_made);
    writer_int64(&w, "indexes", (int64_t)r->indexes_made);
    writer_int64(&w, "lostBytes", (int64_t)r->lost_bytes);
    writer_int64(&w, "lostCommits", (int64_t)r->lost_commits);
    append_collections(r, &w, suspects, &lost);
    writer_int64(&w, "lostDocuments", (int64_t)lost);
    writer_int64(&w, "olderDocuments", (int64_t)suspects[REASON_OLDER]);
    writer_int64(&w, "uncertainDocuments", (int64_t)suspects[REASON_UNCERTAIN]);
    report_list_append(&r->suspects, &w, "suspects");
    problem_list_append(&r->problems, &w);
    writer_end(&w, document);
    return w.failed ? error_memory(error) : TANSU_OK;
}

/* ---- Repair problems ---- */

/*
 * The problems of the log: gaps, misdirected writes, and commits
 * that are missing.
 */

/* note -- a problem of a byte range of a segment. */
static void note(repair *r, const repair_segment *s, uint64_t offset, uint64_t size,
                 const char *message) {
    char name[64];
    repair_segment_name(r, s->number, name);
    problem_location where = {.file = name, .offset = (int64_t)offset, .size = (int64_t)size};
    problem_list_add(&r->problems, &where, "Segment \"%s\" at offset %llu: %s", name,
                     (unsigned long long)offset, message);
}

/* commits_text -- "commit 7" or "commits 7 to 9". */
static void commits_text(char text[64], uint64_t first, uint64_t last) {
    if (first == last)
        snprintf(text, 64, "commit %llu", (unsigned long long)first);
    else
        snprintf(text, 64, "commits %llu to %llu", (unsigned long long)first,
                 (unsigned long long)last);
}

/* mark_reported -- the missing commits from one to another need no problem of their own. */
static void mark_reported(repair *r, uint64_t first, uint64_t last) {
    for (size_t i = repair_missing_from(r, first);
         i < r->missing_count && r->missing[i].first <= last; i++)
        r->missing[i].reported = true;
}

/* add_gap_problem -- a gap. */
static void add_gap_problem(repair *r, const repair_gap *gap) {
    const repair_segment *s = &r->segments[gap->segment];
    uint64_t size = gap->to - gap->from, first = 0, last = 0;
    uint64_t to = gap->high == UINT64_MAX ? UINT64_MAX : gap->high - 1;
    uint64_t missing = repair_count_missing(r, gap->low + 1, to, &first, &last);
    if (missing == 0 && gap->tail && gap->high == UINT64_MAX)
        return; /* of a commit that was never acknowledged, or that another file has, too */
    char commits[64], message[256];
    if (missing == 0) {
        note(r, s, gap->from, size, "corrupt bytes, whose commits were all found elsewhere");
        return;
    }
    commits_text(commits, first, last);
    snprintf(message, sizeof message,
             "corruption in %s%s; %llu records that no checksum protects were salvaged and %llu "
             "bytes were lost",
             commits, s->last != 0 ? ", of which compaction had kept a part" : "",
             (unsigned long long)gap->taken, (unsigned long long)(size - gap->taken_bytes));
    r->lost_bytes += size - gap->taken_bytes;
    note(r, s, gap->from, size, message);
    mark_reported(r, first, last);
}

/* add_misdirected_problem -- a misdirected write. */
static void add_misdirected_problem(repair *r, const repair_run *run) {
    const repair_segment *s = &r->segments[run->segment];
    char commits[64], message[160];
    commits_text(commits, run->first, run->last);
    snprintf(message, sizeof message,
             "%u bytes of %s were written to the wrong offset and overwrote others",
             run->to - run->from, commits);
    note(r, s, run->from, run->to - run->from, message);
    if (r->missing_count != 0)
        r->lost_bytes += run->to - run->from;
}

/* add_missing_problem -- commits of which nothing is left, not even corrupt bytes. *slice: where to
 * continue the search for the commit after them. */
static void add_missing_problem(repair *r, const repair_range *range, size_t *slice) {
    char commits[64], message[128];
    commits_text(commits, range->first, range->last);
    const char *are = range->first == range->last ? "is" : "are";
    while (*slice < r->slice_count && !r->slices[*slice].removals &&
           r->slices[*slice].first <= range->last)
        ++*slice;
    if (*slice < r->slice_count && !r->slices[*slice].removals) {
        const repair_run *run = &r->runs[r->slices[*slice].run];
        bool whole = run->from == SEGMENT_HEADER_SIZE && run->first == r->slices[*slice].first;
        snprintf(message, sizeof message, "the %s before %s %s missing", commits,
                 whole ? "this segment" : "this offset", are);
        note(r, &r->segments[run->segment], whole ? 0 : run->from, 0, message);
        return;
    }
    problem_location where = {.file = "log", .offset = -1, .size = -1};
    problem_list_add(&r->problems, &where, "The %s at the end of the log %s missing", commits, are);
}

/* count_missing -- how many commits are lost. Compaction may have dropped many of those that a
 * compacted segment lacks: no more are lost than fit in its corrupt bytes. */
static void count_missing(repair *r) {
    for (size_t i = 0; i < r->missing_count; i++)
        r->lost_commits += r->missing[i].last - r->missing[i].first + 1;
    for (size_t i = 0; i < r->segment_count; i++) {
        const repair_segment *s = &r->segments[i];
        uint64_t first, last;
        if (s->left_out || !s->header || s->last == 0 || s->file != NULL)
            continue;
        uint64_t missing = repair_count_missing(r, s->first, s->last, &first, &last);
        uint64_t gone = s->size < s->end ? s->end - s->size : 0;
        for (size_t k = 0; k < s->run_count; k++)
            if (!r->runs[s->run + k].in_order)
                gone += r->runs[s->run + k].to - r->runs[s->run + k].from;
        uint64_t most = (s->gap_bytes + gone) / (FRAME_HEADER_SIZE + RECORD_SIZE_LEAST) + 1;
        if (missing > most)
            r->lost_commits -= missing - most;
    }
}

void repair_add_log_problems(repair *r) {
    for (size_t i = 0; i < r->gap_count; i++)
        if (r->segments[r->gaps[i].segment].file == NULL)
            add_gap_problem(r, &r->gaps[i]);
    for (size_t i = 0; i < r->run_count; i++)
        if (!r->runs[i].in_order && r->segments[r->runs[i].segment].file == NULL)
            add_misdirected_problem(r, &r->runs[i]);
    size_t slice = 0;
    for (size_t i = 0; i < r->missing_count; i++)
        if (!r->missing[i].reported)
            add_missing_problem(r, &r->missing[i], &slice);
    count_missing(r);
}
