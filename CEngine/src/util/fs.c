/*
 * util/fs.c -- the operating system's file calls, and what is built on the table alone.
 */
#include "util/fs.h"

#include "util/buffer.h"
#include "util/error.h"
#include "util/file_size_limit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

/* regular_only -- returns a descriptor of a regular file or a folder; of anything else -1. */
static int regular_only(int fd, int flags) {
    struct stat st;
    int number = ESPIPE;
    if (fstat(fd, &st) != 0)
        number = errno;
    else if ((S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
             ((flags & O_NONBLOCK) != 0 || fcntl(fd, F_SETFL, 0) == 0))
        return fd;
    close(fd);
    errno = number;
    return -1;
}

/* above_standard -- the same file with a descriptor that is none of the standard ones: in a program
 * that has closed these, what somebody prints would go into the database. */
static int above_standard(int fd) {
    if (fd > STDERR_FILENO)
        return fd;
    int other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), number = errno;
    close(fd);
    errno = number;
    return other;
}

/* anchored -- the path from the innermost anchor that it lies in, and its descriptor. The path of
 * an anchor itself is "." when it is what is opened or listed (`itself`). */
static const char *anchored(const fs *calls, const char *path, bool itself, int *fd) {
    *fd = AT_FDCWD;
    for (int i = FS_ANCHORS; i-- > 0;) {
        const fs_anchor *a = &calls->anchors[i];
        size_t size = a->path == NULL ? 0 : strlen(a->path);
        if (size == 0 || strncmp(path, a->path, size) != 0 ||
            (path[size] != '/' && (path[size] != 0 || !itself)))
            continue;
        *fd = a->fd;
        return path[size] == 0 ? "." : path + size + 1;
    }
    return path;
}

tansu_status fs_anchor_folder(fs *calls, const char *path, int fd, tansu_error *error) {
    struct stat info;
    size_t at = 0;
    if (fd < 0)
        return TANSU_OK;
    if (fstat(fd, &info) != 0)
        return error_errno(error, path, "stat", errno);
    while (at < FS_ANCHORS - 1 && calls->anchors[at].path != NULL)
        at++;
    char *copy = strdup(path);
    if (copy == NULL)
        return error_memory(error);
    calls->anchors[at] = (fs_anchor){copy, fd, (uint64_t)info.st_dev, (uint64_t)info.st_ino};
    return TANSU_OK;
}

/* permissions -- those of a file in a folder, whose owner may read and write in any case; 0 without
 * one. */
static int permissions(int folder, const char *path) {
    struct stat info;
    return fstatat(folder, path, &info, 0) == 0 && S_ISREG(info.st_mode)
               ? (int)(info.st_mode & 0777) | 0600
               : 0;
}

void fs_keep_mode(fs *calls, const char *name) {
    if (calls->anchors[0].path != NULL)
        calls->mode = permissions(calls->anchors[0].fd, name);
}

/* is_lost -- whether something else, or nothing, is at an anchor's path. A file system that numbers
 * its files anew gives the open folder the new number as well. */
static bool is_lost(const fs_anchor *a) {
    struct stat there, open_one;
    if (stat(a->path, &there) != 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    if ((uint64_t)there.st_dev == a->device && (uint64_t)there.st_ino == a->inode)
        return false;
    return fstat(a->fd, &open_one) == 0 &&
           (open_one.st_dev != there.st_dev || open_one.st_ino != there.st_ino);
}

const char *fs_lost_anchor(const fs *calls) {
    for (size_t i = 0; i < FS_ANCHORS && calls->anchors[i].path != NULL; i++)
        if (is_lost(&calls->anchors[i]))
            return calls->anchors[i].path;
    return NULL;
}

int fs_identify(const fs *calls, const char *name, fs_identity *identity) {
    struct stat info;
    if (fstatat(calls->anchors[0].path == NULL ? -1 : calls->anchors[0].fd, name, &info, 0) != 0)
        return -1;
#ifdef __APPLE__
    const struct timespec changed = info.st_mtimespec;
#else
    const struct timespec changed = info.st_mtim;
#endif
    *identity = (fs_identity){.inode = (uint64_t)info.st_ino,
                              .size = (uint64_t)info.st_size,
                              .seconds = changed.tv_sec,
                              .nanoseconds = changed.tv_nsec};
    return 0;
}

bool fs_unlinked(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 && info.st_nlink == 0;
}

/* note_nothing -- ends a listing. */
static bool note_nothing(void *context, const char *name) {
    (void)context;
    (void)name;
    return false;
}

bool fs_is_folder(const fs *calls, const char *path) {
    return calls->list(calls, path, note_nothing, NULL) == 0;
}

/* give_mode -- gives a file that is empty, and so probably new, its permissions, from which the umask has
 * taken some. Failing is no error: then it has fewer. */
static void give_mode(int fd, int mode) {
    struct stat info;
    if (fstat(fd, &info) == 0 && info.st_size == 0 && (int)(info.st_mode & 0777) != mode)
        (void)fchmod(fd, (mode_t)mode);
}

static int system_open(const fs *calls, const char *path, int flags, int mode) {
    int folder;
    path = anchored(calls, path, true, &folder);
    bool makes = (flags & O_CREAT) != 0 && calls->mode != 0;
    if (makes && mode == FS_MODE)
        mode = calls->mode;
    /* Opening a pipe would wait for its other end, and reading a terminal for somebody to type. */
    int fd;
    do
        fd = openat(folder, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0)
        fd = above_standard(fd);
    if (fd >= 0)
        fd = regular_only(fd, flags);
    if (fd >= 0 && makes)
        give_mode(fd, mode);
    if (fd >= 0)
        return fd;
    if (errno == ENXIO || errno == EOPNOTSUPP) /* a socket; a device that is not there */
        errno = ESPIPE;
    return -1;
}

static int system_close(int fd) {
    /* After EINTR the descriptor is closed on Linux, and closing again could close another
     * file's. */
    return close(fd) == 0 || errno == EINTR ? 0 : -1;
}

static ssize_t system_read(int fd, void *bytes, size_t size, off_t offset) {
    ssize_t n;
    do
        n = pread(fd, bytes, size, offset);
    while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t system_write(int fd, const void *bytes, size_t size, off_t offset) {
    ssize_t n;
    if (limit_forbids((uint64_t)offset + size))
        return -1;
    do
        n = pwrite(fd, bytes, size, offset);
    while (n < 0 && errno == EINTR);
    return n;
}

static int system_size(int fd, uint64_t *size) {
    struct stat st;
    if (fstat(fd, &st) != 0)
        return -1;
    if (S_ISDIR(st.st_mode)) { /* its size says nothing: of tmpfs it is that of a short file */
        errno = EISDIR;
        return -1;
    }
    *size = (uint64_t)st.st_size;
    return 0;
}

/* growth_forbidden -- whether a file is to grow beyond what this process may make. */
static bool growth_forbidden(int fd, uint64_t size) {
    uint64_t now = 0;
    if (!limit_forbids(size))
        return false;
    if (system_size(fd, &now) == 0 && now >= size)
        return false;
    errno = EFBIG;
    return true;
}

static int system_truncate(int fd, uint64_t size) {
    int result;
    if (growth_forbidden(fd, size))
        return -1;
    do
        result = ftruncate(fd, (off_t)size);
    while (result != 0 && errno == EINTR);
    return result;
}

static int system_allocate(int fd, uint64_t offset, uint64_t size) {
    if (growth_forbidden(fd, offset + size))
        return -1;
#ifdef __APPLE__
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (off_t)size, 0};
    if (fcntl(fd, F_PREALLOCATE, &store) == -1)
        return -1;
    return system_truncate(fd, offset + size);
#else
    int result;
    do
        result = posix_fallocate(fd, (off_t)offset, (off_t)size);
    while (result == EINTR);
    if (result == 0)
        return 0;
    errno = result;
    return -1;
#endif
}

static void *system_map(int fd, uint64_t size, bool writable) {
    if (size > PTRDIFF_MAX) { /* on systems of 32 bits the call would take a part of the number */
        errno = EOVERFLOW;
        return NULL;
    }
    void *address =
        fd >= 0 ? mmap(NULL, size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0)
                : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

static int system_unmap(void *address, size_t size) {
    return munmap(address, size);
}

#ifdef __linux__
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* of kernel 5.14, in older headers */
#endif

/* What the kernel makes pages for at a time without looking for much memory in one piece. */
#define ZEROS_SIZE 65536u

static void system_populate(int fd, uint8_t *mapped, uint64_t begin, uint64_t fresh, uint64_t end) {
    /* Pages that a write makes are several times cheaper than those that a fault has to. One page
     * left out is enough to lose that: the fault that makes it reads ahead, up to megabytes. */
    static const uint8_t zeros[ZEROS_SIZE];
    for (uint64_t at = fresh; fd >= 0 && at < end; at += ZEROS_SIZE)
        if (system_write(fd, zeros, end - at < ZEROS_SIZE ? end - at : ZEROS_SIZE, (off_t)at) <= 0)
            break;
    (void)madvise(mapped + begin, end - begin, MADV_POPULATE_WRITE);
}
#else
static void system_populate(int fd, uint8_t *mapped, uint64_t begin, uint64_t fresh, uint64_t end) {
    (void)fd;
    (void)mapped;
    (void)begin;
    (void)fresh;
    (void)end;
}
#endif

#if defined(__linux__) && defined(SEEK_HOLE)
/* seeks_precisely -- whether the file system of a file asks the page cache when it is asked for
 * holes: pages of a mapping that were changed and not yet written are none there. Others may not
 * know of them (FUSE asks its server). */
static bool seeks_precisely(int fd) {
    enum { EXT4 = 0xEF53, XFS = 0x58465342, TMPFS = 0x01021994 };
    struct statfs info;
    return fstatfs(fd, &info) == 0 &&
           (info.f_type == EXT4 || info.f_type == XFS || info.f_type == TMPFS);
}

static bool system_hole(int fd, uint64_t offset, uint64_t *begin, uint64_t *end) {
    struct stat st;
    if (!seeks_precisely(fd) || fstat(fd, &st) != 0)
        return false;
    off_t hole = lseek(fd, (off_t)offset, SEEK_HOLE);
    if (hole < 0 || hole >= st.st_size)
        return false;
    off_t data = lseek(fd, hole, SEEK_DATA);
    if (data < 0 && errno != ENXIO)
        return false;
    *begin = (uint64_t)hole;
    *end = (uint64_t)(data < 0 ? st.st_size : data); /* ENXIO: nothing but zeros follows */
    return true;
}
#else
static bool system_hole(int fd, uint64_t offset, uint64_t *begin, uint64_t *end) {
    (void)fd;
    (void)offset;
    (void)begin;
    (void)end;
    return false;
}
#endif

static void system_start_writeback(int fd, uint64_t offset, uint64_t size) {
#ifdef SYNC_FILE_RANGE_WRITE
    (void)sync_file_range(fd, (off_t)offset, (off_t)size, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd;
    (void)offset;
    (void)size;
#endif
}

#ifndef __APPLE__
/* shut_down -- whether the file system takes no more writes; errno tells. When the journal of ext4
 * or XFS has failed, an fdatasync() that is in progress may succeed and its bytes be lost (Linux
 * 6.18). A write of no bytes tells of it in most cases on ext4 and never on XFS, which instead
 * refuses to describe a file. Both cost little. */
static bool shut_down(int fd) {
    struct stat info;
    return (pwrite(fd, "", 0, 0) < 0 && (errno == EROFS || errno == EIO)) ||
           (fstat(fd, &info) != 0 && errno == EIO);
}
#endif

#ifdef __APPLE__
/* flush -- Darwin's fsync stops at the drive's cache. Not every file system knows more. */
static int flush(int fd) {
    return fcntl(fd, F_FULLFSYNC) == -1 ? fsync(fd) : 0;
}
#endif

static int system_sync(int fd, void *mapped, size_t mapped_size) {
#ifdef __APPLE__
    /* fsync does not write dirty mapped pages there. */
    return mapped != NULL && msync(mapped, mapped_size, MS_SYNC) != 0 ? -1 : flush(fd);
#else
    (void)mapped;
    (void)mapped_size;
    /* Linux writes dirty pages of shared mappings with it. */
    return fdatasync(fd) != 0 || shut_down(fd) ? -1 : 0;
#endif
}

static int system_sync_folder(const fs *calls, const char *path) {
    int fd = system_open(calls, path, O_RDONLY, 0);
    if (fd < 0)
        return -1;
#ifdef __APPLE__
    int result = flush(fd);
#else
    int result = fsync(fd) != 0 || shut_down(fd) ? -1 : 0;
#endif
    int number = errno;
    system_close(fd);
    if (result != 0 && (number == EINVAL || number == ENOTSUP))
        return 0; /* a file system without folder syncs */
    errno = number;
    return result;
}

static int system_rename(const fs *calls, const char *from, const char *to) {
    int from_folder, to_folder;
    from = anchored(calls, from, false, &from_folder);
    to = anchored(calls, to, false, &to_folder);
    return renameat(from_folder, from, to_folder, to);
}

static int system_unlink(const fs *calls, const char *path) {
    int folder;
    path = anchored(calls, path, false, &folder);
    return unlinkat(folder, path, 0);
}

static int system_mkdir(const fs *calls, const char *path, int mode) {
    int folder;
    path = anchored(calls, path, false, &folder);
    return mkdirat(folder, path, (mode_t)mode);
}

static int system_rmdir(const fs *calls, const char *path) {
    int folder;
    path = anchored(calls, path, false, &folder);
    return unlinkat(folder, path, AT_REMOVEDIR);
}

static int system_lock(int fd, bool exclusive) {
    int result;
    do
        result = flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result;
}

static void system_unlock(int fd) {
    flock(fd, LOCK_UN);
    system_close(fd);
}

static int system_list(const fs *calls, const char *path, fs_name_visitor visitor, void *context) {
    int fd = system_open(calls, path, O_RDONLY | O_DIRECTORY, 0);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (folder == NULL) {
        int failed = errno;
        if (fd >= 0)
            close(fd);
        errno = failed;
        return -1;
    }
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(folder);
        if (entry == NULL)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!visitor(context, entry->d_name))
            break;
    }
    int number = errno;
    closedir(folder);
    errno = number;
    return number == 0 ? 0 : -1;
}

const fs fs_system = {
    .open = system_open,
    .close = system_close,
    .read = system_read,
    .write = system_write,
    .size = system_size,
    .truncate = system_truncate,
    .allocate = system_allocate,
    .map = system_map,
    .unmap = system_unmap,
    .populate = system_populate,
    .hole = system_hole,
    .start_writeback = system_start_writeback,
    .sync = system_sync,
    .sync_folder = system_sync_folder,
    .rename = system_rename,
    .unlink = system_unlink,
    .mkdir = system_mkdir,
    .rmdir = system_rmdir,
    .lock = system_lock,
    .unlock = system_unlock,
    .list = system_list,
};

char *fs_join(const char *folder, const char *name) {
    size_t a = strlen(folder), b = strlen(name);
    char *path = malloc(a + b + 2);
    if (path != NULL) {
        memcpy(path, folder, a);
        path[a] = '/';
        memcpy(path + a + 1, name, b + 1);
    }
    return path;
}

int fs_write_all(const fs *calls, int fd, const void *bytes, size_t size, uint64_t offset) {
    for (size_t done = 0; done < size;) {
        errno = 0;
        ssize_t n =
            calls->write(fd, (const uint8_t *)bytes + done, size - done, (off_t)(offset + done));
        if (n <= 0) {
            if (n == 0 || errno == 0)
                errno = EIO;
            return -1;
        }
        done += (size_t)n;
    }
    return 0;
}

/* A folder whose content is being deleted. */
typedef struct removal {
    const fs *calls;
    const char *folder;
} removal;

/* remove_name -- deletes one name of a folder, and continues. */
static bool remove_name(void *context, const char *name) {
    const removal *r = context;
    char *path = fs_join(r->folder, name);
    if (path != NULL)
        fs_remove_all(r->calls, path);
    free(path);
    return true;
}

int fs_exchange(const char *one, const char *other) {
#if defined(__linux__) && defined(SYS_renameat2)
    const unsigned exchange = 2; /* RENAME_EXCHANGE, which older headers lack */
    return (int)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, exchange);
#elif defined(__APPLE__)
    return renamex_np(one, other, RENAME_SWAP);
#else
    (void)one, (void)other;
    errno = ENOSYS;
    return -1;
#endif
}

void fs_remove_all(const fs *calls, const char *path) {
    /* A symbolic link is never followed: unlink() removes the link itself. macOS says EPERM. */
    if (calls->unlink(calls, path) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    removal r = {calls, path};
    calls->list(calls, path, remove_name, &r);
    calls->rmdir(calls, path);
}

tansu_status fs_write_file(const fs *calls, const char *folder, const char *name, const void *bytes,
                           size_t size, tansu_error *error) {
    tansu_status status = TANSU_OK;
    char fresh_name[64];
    snprintf(fresh_name, sizeof fresh_name, "%s.new", name);
    char *path = fs_join(folder, name);
    char *fresh = fs_join(folder, fresh_name);
    int fd = -1;
    if (path == NULL || fresh == NULL) {
        status = error_memory(error);
        goto end;
    }
    int folder_fd;
    const char *replaced = anchored(calls, path, false, &folder_fd);
    int mode = permissions(folder_fd, replaced);
    fd = calls->open(calls, fresh, O_RDWR | O_CREAT | O_TRUNC, mode == 0 ? FS_MODE : mode);
    if (fd < 0) {
        status = error_errno(error, fresh, "open", errno);
        goto end;
    }
    if (fs_write_all(calls, fd, bytes, size, 0) != 0)
        status = error_errno(error, fresh, "write", errno);
    else if (calls->sync(fd, NULL, 0) != 0)
        status = error_errno(error, fresh, "sync", errno);
    if (calls->close(fd) != 0 && status == TANSU_OK)
        status = error_errno(error, fresh, "close", errno);
    if (status != TANSU_OK)
        goto end;
    if (calls->rename(calls, fresh, path) != 0)
        status = error_errno(error, path, "rename", errno);
    else if (calls->sync_folder(calls, folder) != 0)
        status = error_errno(error, folder, "sync", errno);
end:
    free(path);
    free(fresh);
    return status;
}

tansu_status fs_read_file(const fs *calls, const char *path, uint64_t limit, tansu_buffer *result,
                          tansu_error *error) {
    result->size = 0;
    int fd = calls->open(calls, path, O_RDONLY, 0);
    if (fd < 0)
        return errno == ENOENT ? error_set(error, TANSU_E_NOT_FOUND, path,
                                           "The file \"%s\" does not exist", path)
                               : error_errno(error, path, "open", errno);
    tansu_status status = TANSU_OK;
    uint64_t size = 0;
    if (calls->size(fd, &size) != 0)
        status = error_errno(error, path, "stat", errno);
    else if (size > limit)
        status = error_set(error, TANSU_E_TOO_LARGE, path,
                           "The file \"%s\" is larger than any valid one", path);
    else if (size >= SIZE_MAX || !buffer_reserve(result, (size_t)size + 1))
        status = error_memory(error);
    while (status == TANSU_OK && result->size < size) {
        ssize_t n = calls->read(fd, result->data + result->size, (size_t)size - result->size,
                                (off_t)result->size);
        if (n < 0)
            status = error_errno(error, path, "read", errno);
        else if (n == 0)
            break;
        else
            result->size += (size_t)n;
    }
    if (status == TANSU_OK)
        result->data[result->size] = 0;
    calls->close(fd);
    return status;
}

/* ---- Files without a name ---- */

#define ATTEMPTS 100 /* to find an unused name */

/* open_named -- creates a file and removes its name; -1 with errno. A name that a killed process
 * left is skipped; it can only collide when a process id is reused. */
static int open_named(const fs *calls, const char *folder) {
    static atomic_uint counter;
    int fd = -1;
    for (int i = 0; fd < 0 && i < ATTEMPTS; i++) {
        char name[64];
        snprintf(name, sizeof name, "spill-%ld-%u.tmp", (long)getpid(),
                 atomic_fetch_add(&counter, 1));
        char *path = fs_join(folder, name);
        if (!path) {
            errno = ENOMEM;
            return -1;
        }
        fd = calls->open(calls, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        int number = errno;
        if (fd >= 0 && calls->unlink(calls, path) != 0) {
            number = errno;
            calls->close(fd);
            fd = -1;
        }
        free(path);
        errno = number;
        if (fd < 0 && number != EEXIST)
            break;
    }
    return fd;
}

/* open_in -- creates an unnamed file in a folder; -1 with errno. */
static int open_in(const fs *calls, const char *folder) {
#ifdef O_TMPFILE
    int fd = calls->open(calls, folder, O_RDWR | O_TMPFILE, 0600);
    /* Not every file system supports O_TMPFILE. Other errors recur below. */
    if (fd >= 0)
        return fd;
#endif
    return open_named(calls, folder);
}

tansu_status fs_open_temporary(const fs *calls, const char *folder, int *fd, tansu_error *error) {
    *fd = folder ? open_in(calls, folder) : -1;
    if (*fd < 0 &&
        (!folder || errno == ENOENT || errno == EROFS || errno == EACCES || errno == EPERM)) {
        folder = getenv("TMPDIR");
        if (!folder || !*folder)
            folder = "/tmp";
        *fd = open_in(calls, folder);
    }
    return *fd < 0 ? error_errno(error, folder, "create a temporary file", errno) : TANSU_OK;
}

char *fs_parent(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length == 0 ? strdup(".") : strndup(path, length);
}

tansu_status fs_sync_parent(const fs *calls, const char *path, tansu_error *error) {
    char *parent = fs_parent(path);
    if (parent == NULL)
        return error_memory(error);
    tansu_status status = TANSU_OK;
    if (calls->sync_folder(calls, parent) != 0)
        status = error_errno(error, parent, "sync", errno);
    free(parent);
    return status;
}
