/*
 * support/fault/simulated_disk.c -- the files' written and synced contents, and the states after
 * power loss.
 */
#include "support/fault/simulated_disk.h"
#include "store/manifest.h"
#include "support/check.h"
#include "support/fault/tail_file.h"
#include "support/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512u
#define PAGE 4096u
/* Address space of a file: more than any segment of the tests that use this. */
#define FILE_ROOM ((size_t)32 << 20)
#define FILES_MOST 4096
#define NAMES_MOST 256
#define CHANGES_MOST 512
/* Descriptors of this disk; smaller ones are the system's. */
#define FIRST_FD 1000000

typedef struct disk_file {
    uint8_t *cache; /* what programs see, also through mappings */
    uint64_t size;
    uint8_t *durable; /* what is on the disk for sure */
    uint64_t durable_size;
    uint8_t *seen; /* as of the last sync, whether it failed or not: pages that differ are dirty */
    uint8_t *touched; /* a byte a page: written with the same bytes since, so dirty as well */
} disk_file;

/* A path; file is -1 for a folder. */
typedef struct disk_name {
    char path[200];
    int file;
} disk_name;

typedef struct name_list {
    disk_name names[NAMES_MOST];
    unsigned count;
} name_list;

/* A change of names that its folder's sync has not yet made durable. */
typedef struct name_change {
    enum { CHANGE_MAKE, CHANGE_RENAME, CHANGE_REMOVE } kind;
    char path[200];
    char to[200];
    int file;
} name_change;

static struct {
    pthread_mutex_t mutex;
    char root[160];
    disk_file files[FILES_MOST];
    unsigned file_count;
    name_list now;
    name_list durable;
    name_change changes[CHANGES_MOST];
    unsigned change_count;
    bool fail_sync;
    random_source lost; /* which pages a failed sync loses */
    void (*before_call)(void *context);
    void *context;
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- Names ---- */

/* is_real -- whether a path lies outside of the database. */
static bool is_real(const char *path) {
    return strncmp(path, disk.root, strlen(disk.root)) != 0;
}

static disk_name *find(name_list *list, const char *path) {
    for (unsigned i = 0; i < list->count; i++)
        if (strcmp(list->names[i].path, path) == 0)
            return &list->names[i];
    return NULL;
}

static void put(name_list *list, const char *path, int file) {
    disk_name *name = find(list, path);
    if (name == NULL) {
        REQUIRE(list->count < NAMES_MOST);
        name = &list->names[list->count++];
    }
    *name = (disk_name){.file = file};
    REQUIRE(snprintf(name->path, sizeof name->path, "%s", path) < (int)sizeof name->path);
}

static void take(name_list *list, const char *path) {
    disk_name *name = find(list, path);
    if (name != NULL)
        *name = list->names[--list->count];
}

/* in_folder -- whether the path names something directly in the folder. */
static bool in_folder(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' &&
           strchr(path + length + 1, '/') == NULL;
}

/* apply -- one change on a list of names; one that rests on a change which was lost is lost too. */
static void apply(name_list *list, const name_change *c) {
    switch (c->kind) {
    case CHANGE_MAKE: put(list, c->path, c->file); break;
    case CHANGE_REMOVE: take(list, c->path); break;
    default:
        if (find(list, c->path) != NULL) {
            take(list, c->path);
            put(list, c->to, c->file);
        }
    }
}

/* change -- makes a change visible, and notes that it is not durable. */
static void change(const name_change *c) {
    apply(&disk.now, c);
    REQUIRE(disk.change_count < CHANGES_MOST);
    disk.changes[disk.change_count++] = *c;
}

static name_change change_of(int kind, const char *path, const char *to, int file) {
    name_change c = {.kind = kind, .file = file};
    snprintf(c.path, sizeof c.path, "%s", path);
    snprintf(c.to, sizeof c.to, "%s", to);
    return c;
}

/* ---- Calls ---- */

/* enter -- before a call that changes something. */
static void enter(void) {
    if (disk.before_call != NULL)
        disk.before_call(disk.context);
    pthread_mutex_lock(&disk.mutex);
}

static int leave(int result) {
    pthread_mutex_unlock(&disk.mutex);
    return result;
}

static int fail(int number) {
    errno = number;
    return -1;
}

static disk_file *file_of(int fd) {
    return &disk.files[fd - FIRST_FD];
}

/* zeros -- memory that takes no space before it is written to. */
static uint8_t *zeros(size_t size) {
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    return memory;
}

/* new_file -- an empty file. */
static int new_file(void) {
    REQUIRE(disk.file_count < FILES_MOST);
    disk_file *f = &disk.files[disk.file_count];
    f->cache = zeros(FILE_ROOM);
    f->durable = zeros(FILE_ROOM);
    f->seen = zeros(FILE_ROOM);
    f->touched = zeros(FILE_ROOM / PAGE);
    return (int)disk.file_count++;
}

/* is_dirty -- whether a sync would write a page. */
static bool is_dirty(const disk_file *f, uint64_t page) {
    return f->touched[page] != 0 ||
           memcmp(f->cache + page * PAGE, f->seen + page * PAGE, PAGE) != 0;
}

static int disk_open(const char *path, int flags, int mode) {
    if (is_real(path))
        return fs_system.open(path, flags, mode);
    enter();
    disk_name *name = find(&disk.now, path);
    if (name != NULL && name->file < 0)
        return leave(fail(EISDIR));
    int file = name == NULL ? -1 : name->file;
    if (name == NULL && (flags & O_CREAT) == 0)
        return leave(fail(ENOENT));
    if (name == NULL) {
        file = new_file();
        name_change c = change_of(CHANGE_MAKE, path, "", file);
        change(&c);
    } else if ((flags & O_TRUNC) != 0) {
        memset(disk.files[file].cache, 0, disk.files[file].size);
        disk.files[file].size = 0;
    }
    return leave(FIRST_FD + file);
}

static int disk_close(int fd) {
    return fd < FIRST_FD ? fs_system.close(fd) : 0;
}

static ssize_t disk_read(int fd, void *bytes, size_t size, off_t offset) {
    if (fd < FIRST_FD)
        return fs_system.read(fd, bytes, size, offset);
    pthread_mutex_lock(&disk.mutex);
    const disk_file *f = file_of(fd);
    uint64_t at = (uint64_t)offset, left = at < f->size ? f->size - at : 0;
    if (size > left)
        size = left;
    memcpy(bytes, f->cache + at, size);
    leave(0);
    return (ssize_t)size;
}

static ssize_t disk_write(int fd, const void *bytes, size_t size, off_t offset) {
    if (fd < FIRST_FD)
        return fs_system.write(fd, bytes, size, offset);
    enter();
    disk_file *f = file_of(fd);
    REQUIRE((uint64_t)offset + size <= FILE_ROOM);
    memcpy(f->cache + offset, bytes, size);
    for (uint64_t page = (uint64_t)offset / PAGE;
         size > 0 && page <= ((uint64_t)offset + size - 1) / PAGE; page++)
        f->touched[page] = 1;
    if ((uint64_t)offset + size > f->size)
        f->size = (uint64_t)offset + size;
    leave(0);
    return (ssize_t)size;
}

static int disk_size(int fd, uint64_t *size) {
    if (fd < FIRST_FD)
        return fs_system.size(fd, size);
    pthread_mutex_lock(&disk.mutex);
    *size = file_of(fd)->size;
    return leave(0);
}

static int disk_truncate(int fd, uint64_t size) {
    if (fd < FIRST_FD)
        return fs_system.truncate(fd, size);
    enter();
    disk_file *f = file_of(fd);
    if (size < f->size)
        memset(f->cache + size, 0, f->size - size);
    f->size = size;
    return leave(0);
}

static int disk_allocate(int fd, uint64_t offset, uint64_t size) {
    enter();
    disk_file *f = file_of(fd);
    REQUIRE(offset + size <= FILE_ROOM);
    if (offset + size > f->size)
        f->size = offset + size;
    return leave(0);
}

static void *disk_map(int fd, size_t size, bool writable) {
    if (fd < FIRST_FD)
        return fs_system.map(fd, size, writable);
    REQUIRE(size <= FILE_ROOM);
    return file_of(fd)->cache;
}

static int disk_unmap(void *address, size_t size) {
    for (unsigned i = 0; i < disk.file_count; i++)
        if (disk.files[i].cache == address)
            return 0;
    return fs_system.unmap(address, size);
}

static void disk_populate(int fd, uint8_t *mapped, uint64_t begin, uint64_t fresh, uint64_t end) {
    (void)fd, (void)mapped, (void)begin, (void)fresh, (void)end;
}

static void disk_start_writeback(int fd, uint64_t offset, uint64_t size) {
    (void)fd, (void)offset, (void)size;
}

static int disk_sync(int fd, void *mapped, size_t mapped_size) {
    if (fd < FIRST_FD)
        return fs_system.sync(fd, mapped, mapped_size);
    enter(); /* what this sync has done so far is one of the states of that time */
    disk_file *f = file_of(fd);
    uint64_t most = f->size > f->durable_size ? f->size : f->durable_size;
    bool fail = disk.fail_sync;
    disk.fail_sync = false;
    for (uint64_t page = 0; page * PAGE < most; page++) {
        if (!is_dirty(f, page))
            continue;
        memcpy(f->seen + page * PAGE, f->cache + page * PAGE, PAGE);
        f->touched[page] = 0;
        if (!fail || random_chance(&disk.lost, 50))
            memcpy(f->durable + page * PAGE, f->seen + page * PAGE, PAGE);
    }
    if (!fail)
        f->durable_size = f->size;
    return leave(fail ? (errno = EIO, -1) : 0);
}

bool disk_fail_sync(bool fail) {
    pthread_mutex_lock(&disk.mutex);
    bool waiting = disk.fail_sync;
    disk.fail_sync = fail;
    pthread_mutex_unlock(&disk.mutex);
    return waiting;
}

static int disk_sync_folder(const char *path) {
    enter();
    unsigned kept = 0;
    for (unsigned i = 0; i < disk.change_count; i++) {
        if (in_folder(disk.changes[i].path, path))
            apply(&disk.durable, &disk.changes[i]);
        else
            disk.changes[kept++] = disk.changes[i];
    }
    disk.change_count = kept;
    return leave(0);
}

static int disk_rename(const char *from, const char *to) {
    if (is_real(from))
        return fs_system.rename(from, to);
    enter();
    disk_name *name = find(&disk.now, from);
    if (name == NULL)
        return leave(fail(ENOENT));
    name_change c = change_of(CHANGE_RENAME, from, to, name->file);
    change(&c);
    return leave(0);
}

static int disk_unlink(const char *path) {
    if (is_real(path))
        return fs_system.unlink(path);
    enter();
    disk_name *name = find(&disk.now, path);
    if (name == NULL)
        return leave(fail(ENOENT));
    name_change c = change_of(CHANGE_REMOVE, path, "", name->file);
    change(&c);
    return leave(0);
}

static int disk_mkdir(const char *path, int mode) {
    if (is_real(path))
        return fs_system.mkdir(path, mode);
    enter();
    if (find(&disk.now, path) != NULL)
        return leave(fail(EEXIST));
    name_change c = change_of(CHANGE_MAKE, path, "", -1);
    change(&c);
    (void)mode;
    return leave(0);
}

static int disk_rmdir(const char *path) {
    return is_real(path) ? fs_system.rmdir(path) : fail(ENOTSUP);
}

static int disk_lock(int fd, bool exclusive) {
    return fd < FIRST_FD ? fs_system.lock(fd, exclusive) : 0;
}

static void disk_unlock(int fd) {
    if (fd < FIRST_FD)
        fs_system.unlock(fd);
}

static int disk_list(const char *path, fs_name_visitor visitor, void *context) {
    if (is_real(path))
        return fs_system.list(path, visitor, context);
    pthread_mutex_lock(&disk.mutex);
    name_list seen = disk.now;
    leave(0);
    if (find(&seen, path) == NULL)
        return fail(ENOENT);
    for (unsigned i = 0; i < seen.count; i++)
        if (in_folder(seen.names[i].path, path) &&
            !visitor(context, seen.names[i].path + strlen(path) + 1))
            break;
    return 0;
}

const fs simulated_disk_fs = {
    .open = disk_open,
    .close = disk_close,
    .read = disk_read,
    .write = disk_write,
    .size = disk_size,
    .truncate = disk_truncate,
    .allocate = disk_allocate,
    .map = disk_map,
    .unmap = disk_unmap,
    .populate = disk_populate,
    .start_writeback = disk_start_writeback,
    .sync = disk_sync,
    .sync_folder = disk_sync_folder,
    .rename = disk_rename,
    .unlink = disk_unlink,
    .mkdir = disk_mkdir,
    .rmdir = disk_rmdir,
    .lock = disk_lock,
    .unlock = disk_unlock,
    .list = disk_list,
};

/* ---- Starting and ending ---- */

/* load_name -- takes one name of a real folder, with what is in it, as durable. */
static bool load_name(void *context, const char *name) {
    char path[200];
    REQUIRE(snprintf(path, sizeof path, "%s/%s", (const char *)context, name) < (int)sizeof path);
    struct stat info;
    REQUIRE(stat(path, &info) == 0);
    if (is_real(path))
        return true;
    int file = -1;
    if (!S_ISDIR(info.st_mode)) {
        tansu_buffer bytes = TANSU_BUFFER_INIT;
        file_read(path, &bytes);
        file = new_file();
        disk_file *f = &disk.files[file];
        REQUIRE(bytes.size <= FILE_ROOM);
        if (bytes.size > 0) {
            memcpy(f->cache, bytes.data, bytes.size);
            memcpy(f->durable, bytes.data, bytes.size);
            memcpy(f->seen, bytes.data, bytes.size);
        }
        f->size = f->durable_size = bytes.size;
        tansu_buffer_free(&bytes);
    }
    put(&disk.now, path, file);
    put(&disk.durable, path, file);
    if (file < 0)
        REQUIRE(fs_system.list(path, load_name, path) == 0);
    return true;
}

void disk_start(const char *root, void (*before_call)(void *context), void *context) {
    disk_end();
    REQUIRE(snprintf(disk.root, sizeof disk.root, "%s", root) < (int)sizeof disk.root);
    struct stat info;
    if (stat(root, &info) == 0) {
        char path[200];
        snprintf(path, sizeof path, "%s", root);
        put(&disk.now, root, -1);
        put(&disk.durable, root, -1);
        REQUIRE(fs_system.list(root, load_name, path) == 0);
    }
    disk.lost = random_start(77);
    disk.before_call = before_call;
    disk.context = context;
}

void disk_end(void) {
    for (unsigned i = 0; i < disk.file_count; i++) {
        munmap(disk.files[i].cache, FILE_ROOM);
        munmap(disk.files[i].durable, FILE_ROOM);
        munmap(disk.files[i].seen, FILE_ROOM);
        munmap(disk.files[i].touched, FILE_ROOM / PAGE);
    }
    memset(disk.files, 0, disk.file_count * sizeof *disk.files);
    disk.file_count = disk.change_count = 0;
    disk.now.count = disk.durable.count = 0;
    disk.fail_sync = false;
    disk.before_call = NULL;
}

/* ---- Losing power ---- */

/* surviving_bytes -- one of the contents that a file may have. */
static void surviving_bytes(random_source *source, const disk_file *f, tansu_buffer *bytes) {
    uint64_t most = f->size > f->durable_size ? f->size : f->durable_size;
    unsigned kind = (unsigned)random_below(source, 6);
    uint64_t size = kind == 0                   ? f->durable_size
                    : kind == 1                 ? f->size
                    : random_chance(source, 50) ? f->size
                                                : f->durable_size;
    uint64_t sectors = (most + SECTOR - 1) / SECTOR;
    uint64_t border = random_below(source, sectors + 1);
    unsigned share = (unsigned)random_below(source, 101);
    uint8_t *data = realloc(bytes->data, sectors * SECTOR + 1);
    REQUIRE(data != NULL);
    *bytes = (tansu_buffer){data, size, sectors * SECTOR + 1};
    for (uint64_t i = 0; i < sectors; i++) {
        bool fresh = kind == 0   ? false
                     : kind == 1 ? true
                     : kind == 2 ? i < border
                     : kind == 3 ? i >= border
                                 : random_chance(source, share);
        uint64_t at = i * SECTOR;
        memset(data + at, 0, SECTOR);
        fresh = fresh && is_dirty(f, at / PAGE);
        const uint8_t *from = fresh ? f->cache : f->durable;
        uint64_t end = fresh ? f->size : f->durable_size;
        if (at < end)
            memcpy(data + at, from + at, end - at < SECTOR ? end - at : SECTOR);
    }
}

/* surviving_names -- one of the lists of names that there may be. */
static void surviving_names(random_source *source, name_list *names) {
    *names = disk.durable;
    bool any = random_chance(source, 30);
    uint64_t first =
        random_chance(source, 30) ? disk.change_count : random_below(source, disk.change_count + 1);
    for (unsigned i = 0; i < disk.change_count; i++)
        if (any ? random_chance(source, 50) : i < first)
            apply(names, &disk.changes[i]);
}

/* other_cache -- makes MANIFEST and TAIL name another start of the machine, or of another mount,
 * if they are whole. *clean: the MANIFEST says that the block store is. */
static void other_cache(random_source *source, const char *folder, bool *clean) {
    manifest m;
    char name[64], path[300];
    fs_boot_id(name);
    if (random_chance(source, 50))
        snprintf(name, sizeof name, "before the power failed");
    else
        snprintf(name + strlen(name), sizeof name - strlen(name), " %016x", 77);
    snprintf(path, sizeof path, "%s/log", folder);
    if (file_exists(path))
        tail_file_set_cache(path, name);
    *clean = false;
    if (manifest_read(&fs_system, folder, &m, NULL) != TANSU_OK)
        return;
    *clean = !m.index_open;
    snprintf(m.boot, sizeof m.boot, "%s", name);
    CHECK_OK(manifest_write(&fs_system, folder, &m, NULL), NULL);
}

/* spoil_cabinet -- what is left of the index file on a disk that loses more than it may:
 * garbage, a part or nothing. */
static void spoil_block_store(random_source *source, const char *path) {
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    file_read(path, &bytes);
    unsigned kind = (unsigned)random_below(source, 3);
    for (size_t i = 0; kind == 0 && i < bytes.size; i++)
        bytes.data[i] = (uint8_t)random_next(source);
    if (kind == 1)
        bytes.size = (size_t)random_below(source, bytes.size + 1);
    unlink(path);
    if (kind != 2)
        file_write(path, bytes.data, bytes.size);
    tansu_buffer_free(&bytes);
}

/* write_out -- the state that was drawn, as real files. */
static void write_out(random_source *source, const name_list *names, const char *to) {
    char path[400];
    tansu_buffer bytes = TANSU_BUFFER_INIT;
    size_t length = strlen(disk.root);
    REQUIRE(mkdir(to, 0755) == 0);
    for (int folders = 1; folders >= 0; folders--) {
        for (unsigned i = 0; i < names->count; i++) {
            const disk_name *name = &names->names[i];
            if (name->path[length] == 0 || (name->file < 0) != (folders == 1))
                continue;
            snprintf(path, sizeof path, "%s%s", to, name->path + length);
            if (folders == 1) {
                REQUIRE(mkdir(path, 0755) == 0);
                continue;
            }
            /* A file in a folder that did not survive did not either. */
            surviving_bytes(source, &disk.files[name->file], &bytes);
            char *slash = strrchr(path, '/');
            *slash = 0;
            bool there = file_exists(path);
            *slash = '/';
            if (there)
                file_write(path, bytes.data, bytes.size);
        }
    }
    tansu_buffer_free(&bytes);
}

bool disk_lose_power(random_source *source, const char *to) {
    pthread_mutex_lock(&disk.mutex);
    static name_list names;
    surviving_names(source, &names);
    bool there = find(&names, disk.root) != NULL;
    if (there) {
        bool clean;
        write_out(source, &names, to);
        other_cache(source, to, &clean);
        char path[256];
        snprintf(path, sizeof path, "%s/index/blocks.tch", to);
        if (!clean && random_chance(source, 5) && file_exists(path))
            spoil_block_store(source, path);
    }
    pthread_mutex_unlock(&disk.mutex);
    return there;
}
