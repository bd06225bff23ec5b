/*
 * test_holes.c -- what fs_system knows to be zeros without reading it is zeros: nothing of it was
 * written by a call or through a mapping, whether that is on the disk or only in the page cache.
 * Opening leaves such parts of the log's end out.
 *
 * TANSU_SEED=n repeats a run.
 */
#include "support/check.h"
#include "support/folder.h"
#include "support/random/random.h"
#include "util/fs.h"

#include <fcntl.h>
#include <string.h>

#define FILES 40
#define SIZE (1u << 20)
#define WRITES 12

/* check_holes -- compares all holes with the mapped file. Returns their bytes. */
static uint64_t check_holes(int fd, const uint8_t *mapped) {
    uint64_t at = 0, begin, end, bytes = 0;
    while (at < SIZE && fs_system.hole(fd, at, &begin, &end)) {
        bool zeros = begin >= at && begin < end && end <= SIZE;
        for (uint64_t i = begin; zeros && i < end; i++)
            zeros = mapped[i] == 0;
        if (!CHECK(zeros))
            return 0;
        bytes += end - begin;
        at = end;
    }
    return bytes;
}

/* write_somewhere -- a few bytes that are not zero. */
static void write_somewhere(random_source *r, int fd, uint8_t *mapped) {
    static const uint8_t bytes[100] = {1, 2, 3};
    uint64_t size = 1 + random_below(r, sizeof bytes), at = random_below(r, SIZE - size);
    if (random_chance(r, 60))
        memcpy(mapped + at, bytes, size);
    else
        CHECK_INT(size, fs_system.write(fd, bytes, size, (off_t)at));
}

static void a_hole_is_zeros(void) {
    random_source r = random_start(1);
    char *folder = folder_new();
    uint64_t known = 0;
    for (int i = 0; i < FILES; i++) {
        const char *path = folder_join(folder, "file");
        int fd = fs_system.open(&fs_system, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        REQUIRE(fd >= 0);
        REQUIRE((i % 3 == 0 ? fs_system.truncate(fd, SIZE) : fs_system.allocate(fd, 0, SIZE)) == 0);
        uint8_t *mapped = fs_system.map(fd, SIZE, true);
        REQUIRE(mapped != NULL);
        for (uint64_t left = random_below(&r, WRITES); left > 0; left--) {
            write_somewhere(&r, fd, mapped);
            if (random_chance(&r, 20))
                fs_system.start_writeback(fd, 0, SIZE);
            if (random_chance(&r, 10))
                CHECK_INT(0, fs_system.sync(fd, mapped, SIZE));
            known += check_holes(fd, mapped);
        }
        known += check_holes(fd, mapped);
        fs_system.unmap(mapped, SIZE);
        fs_system.close(fd);
    }
    if (known == 0)
        check_skip("the file system of \"%s\" is not asked for holes", folder);
    CHECK(known % 512 == 0);
    folder_end(folder);
}

static void there_is_none_where_all_was_written(void) {
    static uint8_t bytes[SIZE];
    uint64_t begin, end;
    char *folder = folder_new();
    int fd = fs_system.open(&fs_system, folder_join(folder, "file"), O_RDWR | O_CREAT, 0600);
    REQUIRE(fd >= 0);
    CHECK(!fs_system.hole(fd, 0, &begin, &end));
    memset(bytes, 1, sizeof bytes);
    CHECK_INT(SIZE, fs_system.write(fd, bytes, SIZE, 0));
    CHECK(!fs_system.hole(fd, 0, &begin, &end));
    CHECK(!fs_system.hole(fd, SIZE, &begin, &end));
    CHECK(!fs_system.hole(-1, 0, &begin, &end));
    fs_system.close(fd);
    folder_end(folder);
}

int main(void) {
    RUN(a_hole_is_zeros);
    RUN(there_is_none_where_all_was_written);
    return check_finish();
}
