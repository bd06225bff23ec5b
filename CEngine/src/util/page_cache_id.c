/*
 * util/page_cache_id.c -- identifying the page cache of a file system, which is lost when the file
 * system is unmounted.
 *
 * A boot id alone is not enough: a disk that is unplugged and plugged in again, or a snapshot of a
 * volume, comes without what was never synced to it. No single call distinguishes mounts
 * everywhere, so the id contains the best that is available: the number of the folder in /sys that
 * Linux creates for a mounted ext4, XFS or F2FS, which is never reused in one boot and is the same
 * in every container; else the unique number of the mount (kernel 6.8); else, and on macOS, the
 * file system's own id.
 */
#include "util/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif
#ifdef __APPLE__
#include <sys/sysctl.h>
#include <sys/time.h>
#endif

/* mix -- one more number into a hash. */
static uint64_t mix(uint64_t hash, uint64_t number) {
    hash = (hash ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

#ifdef __linux__

/* kind_of -- the name in /sys/fs of a file system that has a folder for each mounted device. */
static const char *kind_of(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0)
        return NULL;
    switch ((uint32_t)info.f_type) {
    case 0xEF53: return "ext4";
    case 0x58465342: return "xfs";
    case 0xF2F52010: return "f2fs";
    default: return NULL;
    }
}

/* instance_number -- the number of the mounted file system's folder in /sys; false when it has
 * none. */
static bool instance_number(const char *path, dev_t device, uint64_t *number) {
    char link[64], target[512], folder[600];
    struct stat info;
    const char *kind = kind_of(path);
    snprintf(link, sizeof link, "/sys/dev/block/%u:%u", major(device), minor(device));
    ssize_t size = kind == NULL ? -1 : readlink(link, target, sizeof target - 1);
    if (size <= 0)
        return false;
    target[size] = 0;
    const char *name = strrchr(target, '/');
    snprintf(folder, sizeof folder, "/sys/fs/%s/%s", kind, name == NULL ? target : name + 1);
    if (stat(folder, &info) != 0)
        return false;
    *number = info.st_ino;
    return true;
}

/* mount_number -- the number of the mount, unique since the machine's start if `unique`. Older
 * headers lack the fields of statx() for it. */
static bool mount_number(const char *path, bool unique, uint64_t *number) {
#ifdef SYS_statx
    uint8_t result[256] = {0};
    uint32_t wanted = unique ? 0x4000 : 0x1000, got;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, wanted, result) != 0)
        return false;
    memcpy(&got, result, sizeof got);
    memcpy(number, result + 0x90, sizeof *number);
    return (got & wanted) != 0;
#else
    (void)path, (void)unique, (void)number;
    return false;
#endif
}

/* file_system_id -- a number for the file system as it is mounted now. */
static uint64_t file_system_id(const char *path, dev_t device) {
    uint64_t number = 0;
    if (instance_number(path, device, &number))
        return mix(1, number);
    if (mount_number(path, true, &number))
        return mix(2, number);
    return mount_number(path, false, &number) ? mix(3, number) : 0;
}

#else

/* On Darwin the number of the device is the first half of what statfs() says, whose call apps have to
 * declare. */
static uint64_t file_system_id(const char *path, dev_t device) {
    (void)path;
    return mix(4, (uint64_t)device);
}

#endif

void fs_boot_id(char text[64]) {
    text[0] = 0;
#ifdef __APPLE__
    struct timeval boot;
    size_t size = sizeof boot;
    if (sysctlbyname("kern.boottime", &boot, &size, NULL, 0) == 0)
        snprintf(text, 64, "%lld.%d", (long long)boot.tv_sec, (int)boot.tv_usec);
#else
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text, 63);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
#endif
}

void fs_cache_id(const char *path, char text[64]) {
    char boot[64];
    struct stat info;
    memset(text, 0, 64);
    fs_boot_id(boot);
    if (boot[0] == 0 || stat(path, &info) != 0)
        return;
    /* The device as well: it distinguishes the snapshots within one btrfs from their source. */
    uint64_t id = mix(file_system_id(path, info.st_dev), (uint64_t)info.st_dev);
    snprintf(text, 64, "%.46s %016llx", boot, (unsigned long long)id);
}
