/*
 * support/fault/disk_faults.c -- faults of disks, made in the files of a closed database.
 */
#include "support/fault/disk_faults.h"
#include "log/format.h"
#include "support/folder.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

unsigned disk_faults_segments(const char *folder, unsigned numbers[DISK_FAULTS_SEGMENTS]) {
    unsigned count = 0;
    for (unsigned n = 1; n < 100 && count < DISK_FAULTS_SEGMENTS; n++) {
        char name[32];
        snprintf(name, sizeof name, "log/%08u.seg", n);
        if (file_exists(folder_join(folder, name)) && file_size(folder_join(folder, name)) > 0)
            numbers[count++] = n;
    }
    return count;
}

/* segment_path -- of one in a folder, in a ring of texts. */
static const char *segment_path(const char *folder, unsigned number) {
    char name[32];
    snprintf(name, sizeof name, "log/%08u.seg", number);
    return folder_join(folder, name);
}

/* pick -- a segment of a folder at random. */
static unsigned pick(disk_faults *f, const char *folder) {
    unsigned numbers[DISK_FAULTS_SEGMENTS], count = disk_faults_segments(folder, numbers);
    return count == 0 ? 0 : numbers[random_below(f->random, count)];
}

/* used_of -- how much of a segment's file is not zeros that nobody wrote. */
static uint64_t used_of(const tansu_buffer *file) {
    uint64_t size = file->size;
    while (size > 0 && file->data[size - 1] == 0)
        size--;
    return size;
}

/* A block of a file, in memory. */
typedef struct block {
    unsigned segment;
    uint64_t offset;
    uint8_t bytes[4096];
} block;

/* take_block -- reads one at random, or the one at an offset. */
static bool take_block(disk_faults *f, const char *folder, unsigned segment, uint64_t size,
                       uint64_t offset, block *b) {
    tansu_buffer file = TANSU_BUFFER_INIT;
    if (segment == 0 || !file_exists(segment_path(folder, segment)))
        return false;
    file_read(segment_path(folder, segment), &file);
    uint64_t count = (used_of(&file) + size - 1) / size;
    *b = (block){.segment = segment, .offset = offset};
    if (offset == UINT64_MAX)
        b->offset = random_below(f->random, count) * size;
    bool there = count != 0 && b->offset + size <= file.size;
    if (there)
        memcpy(b->bytes, file.data + b->offset, size);
    tansu_buffer_free(&file);
    return there;
}

/* put_block -- writes one over a place. */
static void put_block(disk_faults *f, const block *content, unsigned segment, uint64_t offset,
                      uint64_t size) {
    file_patch(segment_path(f->folder, segment), offset, content->bytes, size);
}

/* tell -- adds to the story. */
__attribute__((format(printf, 2, 3))) static void tell(disk_faults *f, const char *format, ...) {
    va_list arguments;
    size_t length = strlen(f->story);
    va_start(arguments, format);
    vsnprintf(f->story + length, sizeof f->story - length, format, arguments);
    va_end(arguments);
}

/* move_block -- a misdirected write, or two blocks that change places. */
static void move_block(disk_faults *f, uint64_t size, bool swap) {
    block from, to;
    if (!take_block(f, f->folder, pick(f, f->folder), size, UINT64_MAX, &from) ||
        !take_block(f, f->folder, pick(f, f->folder), size, UINT64_MAX, &to))
        return;
    put_block(f, &from, to.segment, to.offset, size);
    if (swap)
        put_block(f, &to, from.segment, from.offset, size);
    tell(f, " %s %llu bytes at %u:%llu to %u:%llu;", swap ? "swap" : "copy",
         (unsigned long long)size, from.segment, (unsigned long long)from.offset, to.segment,
         (unsigned long long)to.offset);
}

/* old_block -- a block of an earlier time: the same one whose last write was lost, or any. */
static void old_block(disk_faults *f, uint64_t size, bool same) {
    block old, now;
    if (!take_block(f, f->folder, pick(f, f->folder), size, UINT64_MAX, &now))
        return;
    unsigned segment = same ? now.segment : pick(f, f->earlier);
    if (!take_block(f, f->earlier, segment, size, same ? now.offset : UINT64_MAX, &old))
        return;
    put_block(f, &old, now.segment, now.offset, size);
    tell(f, " earlier %llu bytes of %u:%llu at %u:%llu;", (unsigned long long)size, old.segment,
         (unsigned long long)old.offset, now.segment, (unsigned long long)now.offset);
}

/* blank_block -- zeros in all of a block or in a part, as of a torn write. */
static void blank_block(disk_faults *f, uint64_t size, bool torn) {
    block b;
    if (!take_block(f, f->folder, pick(f, f->folder), size, UINT64_MAX, &b))
        return;
    uint64_t from = torn ? random_below(f->random, size) : 0;
    memset(b.bytes + from, 0, size - from);
    put_block(f, &b, b.segment, b.offset, size);
    tell(f, " zeros at %u:%llu;", b.segment, (unsigned long long)(b.offset + from));
}

/* flip_bits -- a few close to each other. */
static void flip_bits(disk_faults *f) {
    block b;
    if (!take_block(f, f->folder, pick(f, f->folder), 512, UINT64_MAX, &b))
        return;
    for (uint64_t n = 1 + random_below(f->random, 3); n > 0; n--)
        b.bytes[random_below(f->random, 512)] ^= (uint8_t)(1u << random_below(f->random, 8));
    put_block(f, &b, b.segment, b.offset, 512);
    tell(f, " bits at %u:%llu;", b.segment, (unsigned long long)b.offset);
}

/* over_frame -- a frame where another one of the same size was, so that nothing looks torn. */
static void over_frame(disk_faults *f) {
    unsigned segment = pick(f, f->folder);
    tansu_buffer file = TANSU_BUFFER_INIT;
    if (segment == 0)
        return;
    file_read(segment_path(f->folder, segment), &file);
    uint64_t offsets[4096], count = 0, at = SEGMENT_HEADER_SIZE;
    while (at + FRAME_HEADER_SIZE < file.size && count < 4096) {
        const frame_header *h = (const frame_header *)(file.data + at);
        if (h->magic != FRAME_MAGIC || h->size < FRAME_HEADER_SIZE || h->size > file.size - at)
            break;
        offsets[count++] = at;
        at += h->size;
    }
    uint64_t start = random_below(f->random, count);
    for (uint64_t i = start; i + 1 < count; i++) {
        uint64_t other = i + 1 + random_below(f->random, count - i - 1);
        const frame_header *h = (const frame_header *)(file.data + offsets[i]);
        const frame_header *k = (const frame_header *)(file.data + offsets[other]);
        if (h->size != k->size)
            continue;
        bool down = random_chance(f->random, 50);
        uint64_t from = down ? offsets[other] : offsets[i], to = down ? offsets[i] : offsets[other];
        file_patch(segment_path(f->folder, segment), to, file.data + from, h->size);
        tell(f, " frame of %u bytes from %u:%llu to %llu;", h->size, segment,
             (unsigned long long)from, (unsigned long long)to);
        break;
    }
    tansu_buffer_free(&file);
}

/* hurt_segment -- a whole file. */
static void hurt_segment(disk_faults *f) {
    unsigned segment = pick(f, f->folder);
    tansu_buffer file = TANSU_BUFFER_INIT;
    if (segment == 0)
        return;
    file_read(segment_path(f->folder, segment), &file);
    switch (random_below(f->random, 4)) {
    case 0:
        file_cut(segment_path(f->folder, segment), random_below(f->random, used_of(&file) + 1));
        tell(f, " %u cut;", segment);
        break;
    case 1:
        remove(segment_path(f->folder, segment));
        tell(f, " %u missing;", segment);
        break;
    case 2:
        file_write(segment_path(f->folder, 40 + segment), file.data, file.size);
        tell(f, " %u twice;", segment);
        break;
    default:
        file_write(segment_path(f->folder, 40 + segment), file.data, file.size);
        remove(segment_path(f->folder, segment));
        tell(f, " %u under another number;", segment);
    }
    tansu_buffer_free(&file);
}

/* put_back -- a segment that compaction has replaced, as of a removal that was lost. */
static void put_back(disk_faults *f) {
    unsigned segment = pick(f, f->earlier);
    tansu_buffer file = TANSU_BUFFER_INIT;
    if (segment == 0 || file_exists(segment_path(f->folder, segment)))
        return;
    file_read(segment_path(f->earlier, segment), &file);
    file_write(segment_path(f->folder, segment), file.data, file.size);
    tansu_buffer_free(&file);
    tell(f, " %u is back;", segment);
}

/* hurt_index -- a block of the index files, or all of them. */
static void hurt_index(disk_faults *f) {
    const char *path = folder_join(f->folder, "index/blocks.tch");
    uint8_t zeros[4096] = {0};
    f->index = false;
    if (random_chance(f->random, 50) || !file_exists(path)) {
        folder_remove(folder_join(f->folder, "index"));
        tell(f, " no index;");
        return;
    }
    uint64_t at = random_below(f->random, file_size(path) / 4096) * 4096;
    file_patch(path, at, zeros, sizeof zeros);
    tell(f, " zeros in the index at %llu;", (unsigned long long)at);
}

void disk_faults_make(disk_faults *f) {
    uint64_t size = random_chance(f->random, 50) ? 512 : 4096;
    switch (random_below(f->random, 20)) {
    case 0:
    case 1:
    case 2:
    case 3: move_block(f, size, false); break;
    case 4:
    case 5:
    case 6: move_block(f, size, true); break;
    case 7:
    case 8: old_block(f, size, true); break;
    case 9: old_block(f, size, false); break;
    case 10:
    case 11: blank_block(f, size, false); break;
    case 12: blank_block(f, size, true); break;
    case 13:
    case 14: flip_bits(f); break;
    case 15: over_frame(f); break;
    case 16: hurt_segment(f); break;
    case 17: put_back(f); break;
    case 18: hurt_index(f); break;
    default:
        remove(folder_join(f->folder, "MANIFEST"));
        f->manifest = false;
        tell(f, " no MANIFEST;");
    }
}
