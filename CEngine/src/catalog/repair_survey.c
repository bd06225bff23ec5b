/*
 * catalog/repair_survey.c -- which segments there are, of which database, and in which order.
 */
#include "base/buffer.h"
#include "base/error.h"
#include "catalog/manifest.h"
#include "catalog/repair_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

/* Bytes that are read at a time; and when that fails. */
#define READ_STEP ((size_t)1 << 20)
#define READ_LEAST ((size_t)4096)

/* No segment is larger: places in it have 32 bits, and a commit at most TANSU_MAX_TRANSACTION_SIZE. */
#define SEGMENT_SIZE_MOST ((uint64_t)2 * TANSU_MAX_TRANSACTION_SIZE)

/* So many databases that segments may be of are told apart, and so many segments are asked. */
#define OWNERS_MOST 8
#define OWNERS_ASKED 16

/* leftover -- the file of a number that no segment has; NULL when it is a segment's. */
static const char *leftover(const repair *r, uint32_t number) {
    for (size_t i = 0; number >= REPAIR_LEFTOVER && i < r->segment_count; i++)
        if (r->segments[i].number == number)
            return r->segments[i].file;
    return NULL;
}

char *repair_path(const repair *r, uint32_t number) {
    const char *file = leftover(r, number);
    return file != NULL ? fs_join(r->from, file) : segment_file(r->log_folder, number);
}

void repair_name(const repair *r, uint32_t number, char name[64]) {
    const char *file = leftover(r, number);
    if (file != NULL)
        snprintf(name, 64, "%s", file);
    else
        segment_name(number, name);
}

bool repair_grow(void *list, size_t count, size_t *room, size_t item) {
    void **items = list;
    if (count < *room)
        return true;
    size_t more = *room == 0 ? 64 : *room * 2;
    void *made = realloc(*items, more * item);
    if (made == NULL)
        return false;
    *items = made;
    *room = more;
    return true;
}

/* add_segment -- one more file; `named` is the number in its name. */
static bool add_segment(repair *r, uint32_t number, uint32_t named, char *file) {
    if (!repair_grow(&r->segments, r->segment_count, &r->segment_room, sizeof *r->segments)) {
        r->no_memory = true;
        free(file);
        return false;
    }
    r->segments[r->segment_count++] =
        (repair_segment){.number = number, .named = named, .file = file, .first = UINT64_MAX};
    return true;
}

/* note_leftover -- takes a file that is called like a segment and is none of the log: an unfinished one of
 * a compaction, or one that was set aside. */
static bool note_leftover(void *context, const char *name) {
    repair *r = context;
    uint32_t number;
    if (strlen(name) > 64 || strlen(name) < 12 || memcmp(name + 8, ".seg", 4) != 0 ||
        !segment_number(name, name + 8, &number) ||
        (strcmp(r->listed, "log") == 0 && name[12] == 0))
        return true;
    char *file = fs_join(r->listed, name);
    if (file == NULL) {
        r->no_memory = true;
        return false;
    }
    return add_segment(r, REPAIR_LEFTOVER + (uint32_t)r->segment_count, number, file);
}

/* A folder whose folders are looked into. */
typedef struct folders {
    repair *r;
    const char *name; /* in the database's folder; "" is itself */
} folders;

/* note_folder -- takes what is set aside in a folder. What is no folder can't be listed. */
static bool note_folder(void *context, const char *name) {
    folders *f = context;
    repair *r = f->r;
    if (f->name[0] == 0 && (strcmp(name, "log") == 0 || strcmp(name, "index") == 0))
        return true;
    char *inner = f->name[0] == 0 ? strdup(name) : fs_join(f->name, name);
    char *path = inner == NULL ? NULL : fs_join(r->from, inner);
    if (path == NULL) {
        r->no_memory = true;
    } else {
        r->listed = inner;
        r->calls->list(path, note_leftover, r);
    }
    free(path);
    free(inner);
    return !r->no_memory;
}

/* note_name -- takes the number of a segment file's name. */
static bool note_name(void *context, const char *name) {
    repair *r = context;
    uint32_t number;
    return !segment_number(name, ".seg", &number) || add_segment(r, number, number, NULL);
}

/* note_leftovers -- the files beside the log's own that may hold frames: what is not there in the log may
 * be there. */
static void note_leftovers(repair *r) {
    folders own = {r, ""}, log = {r, "log"};
    r->listed = "log";
    r->calls->list(r->log_folder, note_leftover, r);
    if (!r->no_memory)
        r->calls->list(r->log_folder, note_folder, &log);
    if (!r->no_memory)
        r->calls->list(r->from, note_folder, &own);
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

/* note -- a problem with a segment as a whole. */
static void note(repair *r, const repair_segment *s, int64_t size, const char *message) {
    char name[64];
    repair_name(r, s->number, name);
    finding where = {.file = name, .offset = 0, .size = size};
    findings_add(&r->problems, &where, "%s: %s", name, message);
}

/* ---- Reading ---- */

/* read_piece -- bytes of a file, as many as there are; what can't be read is zero, and told. */
static void read_piece(repair *r, const repair_segment *s, int fd, uint8_t *bytes, uint64_t offset,
                       size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = r->calls->read(fd, bytes + done, size - done, (off_t)(offset + done));
        if (got > 0) {
            done += (size_t)got;
            continue;
        }
        if (got == 0) {
            memset(bytes + done, 0, size - done);
            return;
        }
        size_t step = READ_LEAST - (offset + done) % READ_LEAST;
        if (step > size - done)
            step = size - done;
        char name[64];
        repair_name(r, s->number, name);
        finding where = {.file = name, .offset = (int64_t)(offset + done), .size = (int64_t)step};
        got = r->calls->read(fd, bytes + done, step, (off_t)(offset + done));
        if (got != (ssize_t)step) {
            findings_add(&r->problems, &where, "%zu bytes of %s at offset %llu can't be read", step,
                         name, (unsigned long long)(offset + done));
            memset(bytes + done, 0, step);
        }
        done += step;
    }
}

tansu_status repair_load(repair *r, const repair_segment *s, uint64_t from, uint64_t size,
                         uint8_t **bytes, tansu_error *error) {
    char *path = repair_path(r, s->number);
    uint8_t *made = malloc((size_t)size + 8);
    tansu_status status = path == NULL || made == NULL ? error_memory(error) : TANSU_OK;
    int fd = status == TANSU_OK ? r->calls->open(path, O_RDONLY, 0) : -1;
    if (status == TANSU_OK && fd < 0)
        status = error_errno(error, path, "open", errno);
    for (uint64_t at = 0; status == TANSU_OK && at < size; at += READ_STEP)
        read_piece(r, s, fd, made + at, from + at,
                   size - at < READ_STEP ? (size_t)(size - at) : READ_STEP);
    if (fd >= 0)
        r->calls->close(fd);
    free(path);
    if (status == TANSU_OK)
        *bytes = made;
    else
        free(made);
    return status;
}

/* read_header -- a segment's size and header. */
static tansu_status read_header(repair *r, repair_segment *s, segment_header *header,
                                tansu_error *error) {
    char *path = repair_path(r, s->number);
    if (path == NULL)
        return error_memory(error);
    memset(header, 0, sizeof *header);
    int fd = r->calls->open(path, O_RDONLY, 0);
    free(path);
    if (fd < 0 || r->calls->size(fd, &s->size) != 0) {
        note(r, s, -1, "the segment can't be opened and was left out");
        s->left_out = true;
    } else {
        if (s->size > SEGMENT_SIZE_MOST) {
            note(r, s, (int64_t)s->size,
                 "the segment is longer than any was made: its end was left out");
            s->size = SEGMENT_SIZE_MOST;
        }
        read_piece(r, s, fd, (uint8_t *)header, 0, sizeof *header);
    }
    if (fd >= 0)
        r->calls->close(fd);
    if (s->left_out || !walk_header(header))
        return TANSU_OK;
    if (header->format > LOG_FORMAT_COMPACTED)
        return error_set(error, TANSU_E_VERSION, "log",
                         "segment %08u of the log is of format %u and this library reads up to %u: "
                         "use a newer one",
                         s->number, header->format, LOG_FORMAT_COMPACTED);
    bool compacted = header->last != 0;
    if (header->number != s->named || header->base == 0 || header->base > INT64_MAX ||
        (compacted && (header->last < header->base || header->last > INT64_MAX)))
        return TANSU_OK; /* a block of another segment, which says nothing of this one */
    s->header = true;
    s->first = header->base;
    s->last = header->last;
    s->end = header->end;
    return TANSU_OK;
}

/* ---- Whose they are ---- */

/* Databases that the segments may be of. */
typedef struct owners {
    uint8_t uuid[OWNERS_MOST][16];
    uint32_t votes[OWNERS_MOST];
    size_t count;
} owners;

/* owner_add -- one more, unless it is known. */
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

/* owner_ask -- lets the first frame of a segment tell whose it is. */
static tansu_status owner_ask(repair *r, owners *o, const repair_segment *s, tansu_error *error) {
    uint8_t *bytes;
    tansu_status status = repair_load(r, s, 0, s->size, &bytes, error);
    if (status != TANSU_OK)
        return status;
    for (size_t i = 0; i < o->count; i++) {
        uint32_t seed = (uint32_t)crc32_z(0, o->uuid[i], 16);
        if (walk_find(seed, bytes, s->size, SEGMENT_HEADER_SIZE, 1) < s->size)
            o->votes[i] += 4; /* frames are surer witnesses than headers */
    }
    free(bytes);
    return TANSU_OK;
}

/* find_owner -- the uuid: the MANIFEST's, or what segments tell. */
static tansu_status find_owner(repair *r, const segment_header *headers, tansu_error *error) {
    owners o = {.count = 0};
    for (size_t i = 0; i < r->segment_count; i++)
        owner_add(&o, headers[i].uuid, r->segments[i].header ? 2 : 0);
    tansu_status status = TANSU_OK;
    for (size_t i = 0;
         status == TANSU_OK && o.count > 1 && i < r->segment_count && i < OWNERS_ASKED; i++)
        if (!r->segments[i].left_out)
            status = owner_ask(r, &o, &r->segments[i], error);
    size_t best = 0;
    for (size_t i = 1; i < o.count; i++)
        if (o.votes[i] > o.votes[best])
            best = i;
    if (o.count != 0)
        memcpy(r->uuid, o.uuid[best], sizeof r->uuid);
    return status;
}

/* manifest_newer -- whether a MANIFEST that manifest_read() takes for a newer one's has a right checksum
 * (otherwise it is a damaged one). */
static bool manifest_newer(const repair *r) {
    char *path = fs_join(r->from, "MANIFEST");
    tansu_buffer text = TANSU_BUFFER_INIT;
    bool newer = false;
    if (path != NULL && fs_read_file(r->calls, path, 4096, &text, NULL) == TANSU_OK) {
        const char *mark = strstr((const char *)text.data, "\ncrc ");
        char line[32] = "";
        if (mark != NULL)
            snprintf(line, sizeof line, "\ncrc %08x\n",
                     (unsigned)crc32(0, text.data, (uInt)((const uint8_t *)mark + 1 - text.data)));
        newer = mark != NULL && strcmp(mark, line) == 0;
    }
    tansu_buffer_free(&text);
    free(path);
    return newer;
}

/* read_manifest -- what it says, if it says anything. */
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

/* ---- The order ---- */

/* leave_out -- segments of other databases. */
static void leave_out(repair *r, const segment_header *headers) {
    static const segment_header blank; /* never written: nothing was in that segment yet */
    for (size_t i = 0; i < r->segment_count; i++) {
        repair_segment *s = &r->segments[i];
        if (s->left_out)
            continue;
        if (s->header && memcmp(headers[i].uuid, r->uuid, sizeof r->uuid) != 0) {
            if (s->file == NULL)
                note(r, s, (int64_t)s->size, "the segment is of another database and was left out");
            s->left_out = true;
        } else if (!s->header && s->file == NULL &&
                   memcmp(&headers[i], &blank, sizeof blank) != 0) {
            note(r, s, SEGMENT_HEADER_SIZE,
                 walk_header(&headers[i]) ? "the segment's header is another segment's"
                                          : "the segment's header is damaged");
        }
    }
}

/* find_first -- the first commit of a segment whose header is damaged. */
static tansu_status find_first(repair *r, repair_segment *s, tansu_error *error) {
    uint8_t *bytes;
    tansu_status status = repair_load(r, s, 0, s->size, &bytes, error);
    if (status != TANSU_OK)
        return status;
    const frame_header *frame =
        walk_frame(r->crc_seed, bytes, s->size,
                   walk_find(r->crc_seed, bytes, s->size,
                             s->size < SEGMENT_HEADER_SIZE ? 0 : SEGMENT_HEADER_SIZE, 1));
    if (frame != NULL)
        s->first = frame->sequence;
    free(bytes);
    return TANSU_OK;
}

/* no_database -- the error for a source that is none. */
static tansu_status no_database(const repair *r, tansu_error *error) {
    return error_set(error, TANSU_E_NOT_FOUND, r->from, "there is no database at this path");
}

/* note_any -- for a listing that only asks whether there is a folder. */
static bool note_any(void *context, const char *name) {
    (void)context;
    (void)name;
    return false;
}

tansu_status repair_survey(repair *r, tansu_error *error) {
    bool manifest_there;
    if (r->calls->list(r->from, note_any, NULL) != 0)
        return errno == ENOENT || errno == ENOTDIR ? no_database(r, error)
                                                   : error_errno(error, r->from, "list", errno);
    tansu_status status = read_manifest(r, &manifest_there, error);
    if (status != TANSU_OK)
        return status;
    if (r->calls->list(r->log_folder, note_name, r) != 0 && errno != ENOENT && errno != ENOTDIR &&
        !r->no_memory)
        return error_errno(error, r->log_folder, "list", errno);
    size_t own = r->segment_count;
    if (!r->no_memory)
        note_leftovers(r);
    if (r->no_memory)
        return error_memory(error);
    if (!manifest_there && own == 0)
        return no_database(r, error);
    if (!r->manifest_read) {
        finding where = {.file = "MANIFEST", .offset = 0, .size = -1};
        findings_add(&r->problems, &where, "the MANIFEST is missing or damaged");
    }
    segment_header *headers = calloc(r->segment_count + 1, sizeof *headers);
    if (headers == NULL)
        return error_memory(error);
    if (r->segment_count > 1)
        qsort(r->segments, r->segment_count, sizeof *r->segments, by_number);
    for (size_t i = 0; status == TANSU_OK && i < r->segment_count; i++)
        status = read_header(r, &r->segments[i], &headers[i], error);
    if (status == TANSU_OK && r->manifest_read)
        memcpy(r->uuid, r->manifest.uuid, sizeof r->uuid);
    else if (status == TANSU_OK)
        status = find_owner(r, headers, error);
    r->crc_seed = (uint32_t)crc32_z(0, r->uuid, sizeof r->uuid);
    if (status == TANSU_OK)
        leave_out(r, headers);
    free(headers);
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
