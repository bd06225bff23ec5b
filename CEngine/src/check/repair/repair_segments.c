/*
 * check/repair/repair_segments.c -- the segment files that may belong to the database: the log's
 * own, and leftovers of compactions and of recovery that may hold frames which the log lacks.
 *
 * The uuid in a segment's header, and the checksums of its frames, say which database it is of. The
 * segments vote on the uuids that their headers, the MANIFEST and TAIL name: any of these files may
 * have been copied from another database.
 */
#include "check/repair/repair_internal.h"

#include "log/scan.h"
#include "store/manifest.h"
#include "util/array.h"
#include "util/buffer.h"
#include "util/checksum/checksum.h"
#include "util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

/* No segment is larger: an offset has 32 bits, and a commit at most TANSU_MAX_TRANSACTION_SIZE. */
#define SEGMENT_SIZE_MOST ((uint64_t)2 * TANSU_MAX_TRANSACTION_SIZE)

/* Databases that segments may be of, and segments whose frames vote on it. */
#define OWNERS_MOST 8
#define OWNERS_SAMPLED 16

/* A folder that is listed. */
typedef struct listing {
    repair *r;
    const char *folder; /* in the database's folder; "" is that itself */
    bool no_memory;
} listing;

/* ---- Listing ---- */

/* add_segment -- one more file; `named` is the number in its name. */
static bool add_segment(listing *l, uint32_t number, uint32_t named, char *file) {
    repair *r = l->r;
    if (!ARRAY_RESERVE(r->segments, r->segment_count, r->segment_capacity, 1)) {
        l->no_memory = true;
        free(file);
        return false;
    }
    r->segments[r->segment_count++] =
        (repair_segment){.number = number, .named = named, .file = file, .first = UINT64_MAX};
    return true;
}

/* note_leftover -- adds a file that is named like a segment and is none of the log: an unfinished
 * one of a compaction, or one that recovery moved out of the log. */
static bool note_leftover(void *context, const char *name) {
    listing *l = context;
    uint32_t number;
    if (strlen(name) > 64 || strlen(name) < 12 || memcmp(name + 8, ".seg", 4) != 0 ||
        !segment_number(name, name + 8, &number) ||
        (strcmp(l->folder, "log") == 0 && name[12] == 0))
        return true;
    char *file = fs_join(l->folder, name);
    if (file == NULL) {
        l->no_memory = true;
        return false;
    }
    return add_segment(l, REPAIR_LEFTOVER + (uint32_t)l->r->segment_count, number, file);
}

/* note_folder -- adds the leftovers in a folder. What is no folder can't be listed. */
static bool note_folder(void *context, const char *name) {
    listing *l = context;
    repair *r = l->r;
    bool root = l->folder[0] == 0;
    if (root && (strcmp(name, "log") == 0 || strcmp(name, "index") == 0))
        return true;
    char *inner = root ? strdup(name) : fs_join(l->folder, name);
    char *path = inner == NULL ? NULL : fs_join(r->from, inner);
    if (path == NULL) {
        l->no_memory = true;
    } else {
        listing in = {.r = r, .folder = inner};
        r->calls->list(r->calls, path, note_leftover, &in);
        l->no_memory = in.no_memory;
    }
    free(path);
    free(inner);
    return !l->no_memory;
}

/* note_segment -- adds a segment file of the log. */
static bool note_segment(void *context, const char *name) {
    listing *l = context;
    uint32_t number;
    return !segment_number(name, ".seg", &number) || add_segment(l, number, number, NULL);
}

/* note_leftovers -- in the log's folder, in its folders, and in those of the database. False when
 * memory is exhausted. */
static bool note_leftovers(repair *r) {
    listing own = {.r = r, .folder = ""}, log = {.r = r, .folder = "log"};
    r->calls->list(r->calls, r->log_folder, note_leftover, &log);
    if (!log.no_memory)
        r->calls->list(r->calls, r->log_folder, note_folder, &log);
    if (!log.no_memory)
        r->calls->list(r->calls, r->from, note_folder, &own);
    return !log.no_memory && !own.no_memory;
}

/* by_number, by_order -- for sorting segments. */
static int by_number(const void *a, const void *b) {
    const repair_segment *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}
static int by_order(const void *a, const void *b) {
    const repair_segment *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : by_number(a, b);
}

/* note -- a problem of a segment as a whole; `what` ends the sentence. */
static void note(repair *r, const repair_segment *s, int64_t size, const char *what) {
    char name[64];
    repair_segment_name(r, s->number, name);
    problem_location where = {.file = name, .offset = 0, .size = size};
    problem_list_add(&r->problems, &where, "Segment \"%s\" %s", name, what);
}

/* ---- Headers ---- */

/* header_fits_blocks -- whether a header is not that of another database's segment, which was put
 * before the blocks of one of this database. */
static bool header_fits_blocks(const repair *r, const repair_segment *s,
                               const segment_header *header) {
    return r->keys == NULL || s->image->count == 0 ||
           memcmp(header->uuid, r->uuid, sizeof r->uuid) == 0;
}

/* read_header -- a segment's size and header. */
static tansu_status read_header(repair *r, repair_segment *s, segment_header *header,
                                tansu_error *error) {
    char *path = repair_segment_path(r, s->number);
    if (path == NULL)
        return error_memory(error);
    memset(header, 0, sizeof *header);
    tansu_status status = TANSU_OK;
    int fd = r->calls->open(r->calls, path, O_RDONLY, 0);
    free(path);
    if (fd < 0 || r->calls->size(fd, &s->size) != 0) {
        note(r, s, -1, "can't be opened and was left out");
        s->left_out = true;
    } else {
        if (s->size > SEGMENT_SIZE_MOST) {
            note(r, s, (int64_t)s->size,
                 "is longer than a segment can be, and its end was left out");
            s->size = SEGMENT_SIZE_MOST;
        }
        repair_read_bytes(r, s, fd, (uint8_t *)header, 0, sizeof *header);
        s->waits = r->keys == NULL && !scan_header(header);
        if (r->keys != NULL)
            status = repair_image_decrypt(r, s, fd, header, error);
        else if (!s->waits)
            status = repair_image_make(r, s, fd, header->uuid, header, error);
    }
    if (fd >= 0)
        r->calls->close(fd);
    if (status != TANSU_OK)
        return status;
    if (s->left_out || !scan_header(header))
        return TANSU_OK;
    if (header->format != LOG_FORMAT)
        return error_set(
            error, TANSU_E_VERSION, "log",
            "The segment %08u of the log has format %u and this library reads format %u; "
            "repair it with the version of the library that wrote it",
            s->number, header->format, LOG_FORMAT);
    bool compacted = header->last != 0;
    if (header->number != s->named || !header_fits_blocks(r, s, header) || header->base == 0 ||
        header->base > COMMIT_MOST ||
        (compacted && (header->last < header->base || header->last > COMMIT_MOST)))
        return TANSU_OK; /* the header of another segment, which says nothing of this one */
    s->header = true;
    s->first = header->base;
    s->last = header->last;
    s->end = header->end;
    return TANSU_OK;
}

/* ---- Which database they are of ---- */

/* Databases that the segments may be of. */
typedef struct owners {
    uint8_t uuid[OWNERS_MOST][16];
    uint32_t votes[OWNERS_MOST];
    size_t count;
} owners;

/* owner_add -- one more database, unless it is known. */
static void owner_add(owners *o, const uint8_t uuid[16], uint32_t votes) {
    size_t i = 0;
    while (i < o->count && memcmp(o->uuid[i], uuid, 16) != 0)
        i++;
    if (i == OWNERS_MOST)
        return;
    if (i == o->count) {
        memcpy(o->uuid[i], uuid, 16);
        o->votes[i] = 0;
        o->count++;
    }
    o->votes[i] += votes;
}

/* owner_vote -- counts the votes of a segment's first frame, or block. */
static tansu_status owner_vote(repair *r, owners *o, const repair_segment *s, tansu_error *error) {
    uint8_t *bytes;
    tansu_status status = repair_read_segment(r, s, 0, s->size, &bytes, error);
    if (status != TANSU_OK)
        return status;
    for (size_t i = 0; i < o->count; i++) {
        uint32_t seed = checksum(0, o->uuid[i], 16);
        if (scan_find(seed, bytes, s->size, SEGMENT_HEADER_SIZE, 1) < s->size ||
            (s->waits && repair_image_block(bytes, s->size, o->uuid[i])))
            o->votes[i] += 4; /* a header has two: it is easier to overwrite than all frames */
    }
    free(bytes);
    return TANSU_OK;
}

/* The votes of a MANIFEST: more than a header's, and fewer than those of a segment with frames. */
#define MANIFEST_VOTES 3

/* refuse_manifest -- a valid MANIFEST is not used. */
static void refuse_manifest(repair *r, const char *why) {
    problem_location where = {.file = "MANIFEST", .offset = 0, .size = -1};
    problem_list_add(&r->problems, &where, "%s", why);
    r->manifest_read = false;
    r->end_sequence = 0;
}

/* find_owner -- the uuid by the votes of the segments. The file TAIL proposes one, too: the headers
 * of all segments may be lost. */
static tansu_status find_owner(repair *r, const segment_header *headers, tansu_error *error) {
    owners o = {.count = 0};
    uint8_t marked[16];
    if (r->manifest_read)
        owner_add(&o, r->manifest.uuid, MANIFEST_VOTES);
    if (log_marked_uuid(r->calls, r->log_folder, marked))
        owner_add(&o, marked, 0);
    for (size_t i = 0; i < r->segment_count; i++)
        owner_add(&o, headers[i].uuid, r->segments[i].header ? 2 : 0);
    tansu_status status = TANSU_OK;
    for (size_t i = 0;
         status == TANSU_OK && o.count > 1 && i < r->segment_count && i < OWNERS_SAMPLED; i++)
        if (!r->segments[i].left_out)
            status = owner_vote(r, &o, &r->segments[i], error);
    size_t best = 0;
    for (size_t i = 1; i < o.count; i++)
        if (o.votes[i] > o.votes[best])
            best = i;
    if (o.count != 0)
        memcpy(r->uuid, o.uuid[best], sizeof r->uuid);
    if (r->manifest_read && best != 0)
        refuse_manifest(r, "The MANIFEST is of another database");
    return status;
}

/* make_image -- that of a segment that waited for the vote. */
static tansu_status make_image(repair *r, repair_segment *s, segment_header *header,
                               tansu_error *error) {
    char name[64];
    repair_segment_name(r, s->number, name);
    int fd = repair_segment_open(r, s->number);
    if (fd < 0)
        return error_errno(error, name, "open", errno);
    tansu_status status = repair_image_make(r, s, fd, r->uuid, header, error);
    r->calls->close(fd);
    return status;
}

/* manifest_newer -- whether a MANIFEST that manifest_read() takes for a newer format has a valid
 * checksum; otherwise it is corrupt. */
static bool manifest_newer(const repair *r) {
    char *path = fs_join(r->from, "MANIFEST");
    tansu_buffer text = TANSU_BUFFER_INIT;
    bool newer = false;
    if (path != NULL && fs_read_file(r->calls, path, 4096, &text, NULL) == TANSU_OK) {
        const char *mark = strstr((const char *)text.data, "\ncrc ");
        char line[32] = "";
        if (mark != NULL)
            snprintf(line, sizeof line, "\ncrc %08x\n",
                     checksum(0, text.data, (size_t)((const uint8_t *)mark + 1 - text.data)));
        newer = mark != NULL && strcmp(mark, line) == 0;
    }
    tansu_buffer_free(&text);
    free(path);
    return newer;
}

/* read_manifest -- the MANIFEST, if there is a valid one. Errors: VERSION, MEMORY. */
static tansu_status read_manifest(repair *r, bool *there, tansu_error *error) {
    tansu_error found;
    tansu_status status = manifest_read(r->calls, r->from, &r->manifest, &found);
    *there = status != TANSU_E_NOT_FOUND;
    r->manifest_read = status == TANSU_OK;
    r->end_sequence =
        r->manifest_read && r->manifest.end_sequence <= INT64_MAX ? r->manifest.end_sequence : 0;
    if (status == TANSU_OK || status == TANSU_E_NOT_FOUND)
        return TANSU_OK;
    if (status == TANSU_E_MEMORY || (status == TANSU_E_VERSION && manifest_newer(r))) {
        if (error != NULL)
            *error = found;
        return status;
    }
    return TANSU_OK;
}

/* ---- The keys of an encrypted database ---- */

/* note_key -- sees that there is a file KEY. */
static bool note_key(void *context, const char *name) {
    bool *there = context;
    *there = *there || strcmp(name, "KEY") == 0;
    return !*there;
}

/* sealed_segment -- whether a segment of the log has the header of an encrypted database. */
static bool sealed_segment(const repair *r, const repair_segment *s) {
    segment_header header;
    int fd = s->file == NULL ? repair_segment_open(r, s->number) : -1;
    bool sealed = fd >= 0 &&
                  r->calls->read(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                  scan_header(&header) && (header.kind & SEGMENT_SEALED) != 0;
    if (fd >= 0)
        r->calls->close(fd);
    return sealed;
}

/* is_encrypted -- by the MANIFEST, or where that is lost by the file KEY, or by a segment. */
static bool is_encrypted(const repair *r) {
    bool found = r->manifest_read && r->manifest.encrypted;
    if (!found && !r->manifest_read)
        r->calls->list(r->calls, r->from, note_key, &found);
    for (size_t i = 0; !found && i < r->segment_count; i++)
        found = sealed_segment(r, &r->segments[i]);
    return found;
}

/* authenticate -- whether the MANIFEST is that of the keys; otherwise it is not used. */
static tansu_status authenticate(repair *r, tansu_error *error) {
    if (!r->manifest_read)
        return TANSU_OK;
    tansu_error found;
    tansu_status status = TANSU_E_CORRUPT;
    bool own = memcmp(r->manifest.uuid, r->uuid, sizeof r->uuid) == 0;
    if (own && r->manifest.encrypted)
        status = manifest_authenticate(&r->manifest, r->from, r->keys, false, &found);
    if (status == TANSU_E_MEMORY)
        return error_memory(error);
    if (status != TANSU_OK)
        refuse_manifest(r, own ? "The MANIFEST was changed by something without the key"
                               : "The MANIFEST is of another database");
    return TANSU_OK;
}

/* find_keys -- reads them, if the database is encrypted. Errors: ENCRYPTED, WRONG_KEY,
 * INVALID_ARGUMENT (a key, and it is not encrypted), CORRUPT (KEY is), VERSION, IO, MEMORY. */
static tansu_status find_keys(repair *r, tansu_error *error) {
    const user_key *key = &r->key;
    if (!is_encrypted(r))
        return key->bytes == NULL || key->assumed
                   ? TANSU_OK
                   : error_set(error, TANSU_E_INVALID_ARGUMENT, r->from,
                               "A key was given and the database is not encrypted; repair it "
                               "without a key");
    if (key->bytes == NULL)
        return error_set(error, TANSU_E_ENCRYPTED, r->from,
                         "The database is encrypted, and its documents cannot be salvaged without "
                         "its key");
    tansu_status status = key_file_identify(r->calls, r->from, r->uuid, &r->iterations, error);
    if (status == TANSU_OK)
        status = key_file_read(r->calls, r->from, r->uuid, key, &r->keys, error);
    return status == TANSU_OK ? authenticate(r, error) : status;
}

/* check_keys -- after the segments were read: rejects keys of another database, which open nothing.
 */
static tansu_status check_keys(const repair *r, tansu_error *error) {
    bool other = r->keys != NULL && r->decrypted == 0 && r->manifest.encrypted &&
                 memcmp(r->manifest.uuid, r->uuid, sizeof r->uuid) != 0;
    return other ? error_set(error, TANSU_E_CORRUPT, r->from,
                             "The file \"KEY\" is that of another database, and nothing can be "
                             "salvaged without its own; restore the file or a backup")
                 : TANSU_OK;
}

/* ---- The order ---- */

/* leave_out -- excludes the segments of other databases. */
static void leave_out(repair *r, const segment_header *headers) {
    static const segment_header blank; /* a header that was never written: no commit followed it */
    for (size_t i = 0; i < r->segment_count; i++) {
        repair_segment *s = &r->segments[i];
        if (s->left_out)
            continue;
        if (s->header && memcmp(headers[i].uuid, r->uuid, sizeof r->uuid) != 0) {
            if (s->file == NULL)
                note(r, s, (int64_t)s->size, "is of another database and was left out");
            s->left_out = true;
        } else if (!s->header && s->file == NULL &&
                   memcmp(&headers[i], &blank, sizeof blank) != 0) {
            note(r, s, SEGMENT_HEADER_SIZE,
                 scan_header(&headers[i]) ? "has the header of another segment"
                                          : "has a corrupt header");
        }
    }
}

/* adopt_header -- uses the header of another segment if all of a file is intact and belongs to it:
 * a compacted segment under another number. Otherwise the header alone may have been misdirected.
 */
static void adopt_header(const repair *r, repair_segment *s, const uint8_t *bytes) {
    segment_header header;
    if (s->file != NULL || s->size < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    if (!scan_header(&header) || memcmp(header.uuid, r->uuid, sizeof r->uuid) != 0 ||
        header.base == 0 || header.last > COMMIT_MOST || header.number > UINT32_MAX ||
        header.end > s->size)
        return;
    uint64_t before = header.base - 1, at = SEGMENT_HEADER_SIZE;
    while (at < header.end) {
        const frame_header *frame = scan_frame(r->crc_seed, bytes, header.end, at);
        if (frame == NULL || frame->sequence <= before || frame->sequence > header.last)
            return;
        before = frame->sequence;
        at += frame->size;
    }
    if (at == SEGMENT_HEADER_SIZE)
        return;
    s->header = true;
    s->named = (uint32_t)header.number;
    s->first = header.base;
    s->last = header.last;
    s->end = header.end;
}

/* find_first -- the first commit of a segment whose header is not its own. */
static tansu_status find_first(repair *r, repair_segment *s, tansu_error *error) {
    uint8_t *bytes;
    tansu_status status = repair_read_segment(r, s, 0, s->size, &bytes, error);
    if (status != TANSU_OK)
        return status;
    const frame_header *frame =
        scan_frame(r->crc_seed, bytes, s->size,
                   scan_find(r->crc_seed, bytes, s->size,
                             s->size < SEGMENT_HEADER_SIZE ? 0 : SEGMENT_HEADER_SIZE, 1));
    if (frame != NULL)
        s->first = frame->sequence;
    adopt_header(r, s, bytes);
    free(bytes);
    return TANSU_OK;
}

/* no_database -- the error for a folder that is no database. */
static tansu_status no_database(const repair *r, tansu_error *error) {
    return error_set(error, TANSU_E_NOT_FOUND, r->from, "There is no database at this path");
}

/* note_any -- for listings that only ask whether there is a folder. */
static bool note_any(void *context, const char *name) {
    (void)context;
    (void)name;
    return false;
}

/* list_segments -- adds all files. Errors: NOT_FOUND, IO, MEMORY. */
static tansu_status list_segments(repair *r, bool manifest_there, tansu_error *error) {
    listing log = {.r = r, .folder = "log"};
    if (r->calls->list(r->calls, r->log_folder, note_segment, &log) != 0 && errno != ENOENT &&
        errno != ENOTDIR && !log.no_memory)
        return error_errno(error, r->log_folder, "list", errno);
    size_t own = r->segment_count;
    if (log.no_memory || !note_leftovers(r))
        return error_memory(error);
    return !manifest_there && own == 0 ? no_database(r, error) : TANSU_OK;
}

/* read_headers -- the headers of all segments, and the uuid of the database. */
static tansu_status read_headers(repair *r, tansu_error *error) {
    segment_header *headers = calloc(r->segment_count + 1, sizeof *headers);
    if (headers == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++)
        status = read_header(r, &r->segments[i], &headers[i], error);
    if (status == TANSU_OK)
        status = r->keys != NULL ? check_keys(r, error) : find_owner(r, headers, error);
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++)
        if (r->segments[i].waits)
            status = make_image(r, &r->segments[i], &headers[i], error);
    r->crc_seed = checksum(0, r->uuid, sizeof r->uuid);
    if (status == TANSU_OK)
        leave_out(r, headers);
    free(headers);
    return status;
}

tansu_status repair_find_segments(repair *r, tansu_error *error) {
    bool manifest_there;
    if (r->calls->list(r->calls, r->from, note_any, NULL) != 0)
        return errno == ENOENT || errno == ENOTDIR ? no_database(r, error)
                                                   : error_errno(error, r->from, "list", errno);
    tansu_status status = read_manifest(r, &manifest_there, error);
    if (status == TANSU_OK)
        status = list_segments(r, manifest_there, error);
    if (status != TANSU_OK)
        return status;
    if (!r->manifest_read) {
        problem_location where = {.file = "MANIFEST", .offset = 0, .size = -1};
        problem_list_add(&r->problems, &where, "The MANIFEST is missing or corrupt");
    }
    if (r->segment_count > 1)
        qsort(r->segments, r->segment_count, sizeof *r->segments, by_number);
    status = find_keys(r, error);
    if (status == TANSU_OK)
        status = read_headers(r, error);
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++) {
        repair_segment *s = &r->segments[i];
        if (!s->left_out && !s->header)
            status = find_first(r, s, error);
        r->total += s->left_out ? 0 : 3 * s->size;
    }
    if (r->segment_count > 1)
        qsort(r->segments, r->segment_count, sizeof *r->segments, by_order);
    return status;
}
