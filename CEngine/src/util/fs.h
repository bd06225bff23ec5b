/*
 * util/fs.h -- the file calls of the engine's own files, in one table of functions.
 *
 * Everything that the log, the index file, the MANIFEST and the LOCK do to a disk goes through a
 * `struct fs`, so that tests can substitute a table that fails, records or loses calls. All
 * functions return -1 (or NULL) and set errno on failure, as the calls that they wrap.
 */
#ifndef TANSU_UTIL_FS_H
#define TANSU_UTIL_FS_H

#include "tansu.h"
#include <stdbool.h>
#include <sys/types.h>

/* Called for one name of a folder; returns false to end the listing. */
typedef bool (*fs_name_visitor)(void *context, const char *name);

/* An open folder. Paths in it are resolved from its descriptor: they are of that folder wherever it
 * was moved to, and never of another one that took its place. */
typedef struct fs_anchor {
    char *path; /* NULL: none */
    int fd;
    uint64_t device, inode;
} fs_anchor;

#define FS_ANCHORS 3

/* What the engine's files are opened with. */
#define FS_MODE 0644

/* Which file is at a path, and whether it was written since: the same as long as neither changed. */
typedef struct fs_identity {
    uint64_t inode, size;
    int64_t seconds, nanoseconds; /* of the last change of its content */
} fs_identity;

typedef struct fs {
    /* Never waits. ESPIPE for what is neither a regular file nor a folder: a pipe, a socket, a
     * device. */
    int (*open)(const struct fs *calls, const char *path, int flags, int mode);
    int (*close)(int fd);
    ssize_t (*read)(int fd, void *bytes, size_t size, off_t offset);
    ssize_t (*write)(int fd, const void *bytes, size_t size, off_t offset);
    /* EISDIR for a folder. */
    int (*size)(int fd, uint64_t *size);
    int (*truncate)(int fd, uint64_t size);
    /* Makes [offset, offset + size) part of the file with disk space, reading as zero. */
    int (*allocate)(int fd, uint64_t offset, uint64_t size);
    /* EOVERFLOW for more than a process of this kind can address. */
    void *(*map)(int fd, uint64_t size, bool writable);
    int (*unmap)(void *address, size_t size);
    /* Brings the mapped pages of [begin, end) in for writing, many at a time: a page fault each
     * costs several times as much. From `fresh` on the file has nothing but zeros. A hint: failing
     * is no error. `begin` is a multiple of the page size. */
    void (*populate)(int fd, uint8_t *mapped, uint64_t begin, uint64_t fresh, uint64_t end);
    /* The first part from an offset on that is known to read as zeros without being read, because
     * nothing was ever written there: a hole, or space that was allocated. Nothing of it is in a
     * dirty page. May be NULL; false: none is known. */
    bool (*hole)(int fd, uint64_t offset, uint64_t *begin, uint64_t *end);
    /* Begins to write a part of the file to the disk and does not wait, so that a later sync has
     * less to do. A hint: failing is no error, and nothing is promised. */
    void (*start_writeback)(int fd, uint64_t offset, uint64_t size);
    /* Forces what was written, also through `mapped` (may be NULL), to the disk itself. */
    int (*sync)(int fd, void *mapped, size_t mapped_size);
    int (*sync_folder)(const struct fs *calls, const char *path);
    int (*rename)(const struct fs *calls, const char *from, const char *to);
    int (*unlink)(const struct fs *calls, const char *path);
    int (*mkdir)(const struct fs *calls, const char *path, int mode);
    int (*rmdir)(const struct fs *calls, const char *path);
    int (*lock)(int fd, bool exclusive); /* EWOULDBLOCK when somebody else holds it */
    /* Gives a lock back, and closes. Closing alone leaves it to every process that was being
     * started meanwhile and has the descriptor until it becomes another program. */
    void (*unlock)(int fd);
    int (*list)(const struct fs *calls, const char *path, fs_name_visitor visitor, void *context);
    fs_anchor anchors[FS_ANCHORS]; /* a folder before those in it */
    /* Permissions of files that are made with FS_MODE, whatever the umask; 0: those that it leaves. */
    int mode;
} fs;

/* The operating system's own calls. */
extern const fs fs_system;

/* fs_anchor_folder -- anchors the table to an open folder, whose descriptor it uses and does not
 * own; nothing happens when fd is negative. Errors: MEMORY, IO. */
tansu_status fs_anchor_folder(fs *calls, const char *path, int fd, tansu_error *error);

/* fs_keep_mode -- from now on new files get the permissions of the file that has a name in the outermost
 * anchored folder; nothing happens when there is none. Asks the system, not the table. */
void fs_keep_mode(fs *calls, const char *name);

/* fs_lost_anchor -- the path of an anchored folder that is no longer there: it was moved, removed
 * or replaced. NULL when there is none, or the path cannot be followed for another reason. */
const char *fs_lost_anchor(const fs *calls);

/* fs_identify -- which file has a name in the outermost anchored folder; -1 with errno. Asks the
 * system, not the table. */
int fs_identify(const fs *calls, const char *name, fs_identity *identity);

/* fs_unlinked -- whether an open file has no name any more. */
bool fs_unlinked(int fd);

/* fs_is_folder -- whether there is a folder at a path that can be listed; errno says why not. */
bool fs_is_folder(const fs *calls, const char *path);

/* fs_write_file -- writes a whole new file at `path` by way of `path`.new, sync and rename, so that
 * after a crash the old or the new content is there. It has the permissions of the file that it
 * replaces. Errors: IO, FULL, READ_ONLY. */
tansu_status fs_write_file(const fs *calls, const char *folder, const char *name, const void *bytes,
                           size_t size, tansu_error *error);

/* fs_read_file -- reads a whole file (NUL appended after the size). Errors: NOT_FOUND, IO,
 * TOO_LARGE (over `limit` bytes). */
tansu_status fs_read_file(const fs *calls, const char *path, uint64_t limit, tansu_buffer *result,
                          tansu_error *error);

/* fs_write_all -- writes all bytes from an offset of the file on; -1 with errno. */
int fs_write_all(const fs *calls, int fd, const void *bytes, size_t size, uint64_t offset);

/* fs_open_temporary -- creates a file without a name, which disappears with the process, however it
 * ends: in `folder`, or, when that is NULL, gone or may not be written to, in TMPDIR or /tmp. *fd
 * reads and writes. Errors: IO, FULL, MEMORY. */
tansu_status fs_open_temporary(const fs *calls, const char *folder, int *fd, tansu_error *error);

/* fs_exchange -- exchanges two files or folders of one file system in one step; -1 with errno: ENOSYS
 * or EINVAL where the system or the file system cannot. Asks the system, not the table. */
int fs_exchange(const char *one, const char *other);

/* fs_remove_all -- deletes a file, or a folder with all that is in it, as far as that can be
 * done. */
void fs_remove_all(const fs *calls, const char *path);

/* fs_sync_parent -- forces the name of a file or folder itself to the disk, in the folder that it
 * lies in. Errors: IO. */
tansu_status fs_sync_parent(const fs *calls, const char *path, tansu_error *error);

/* fs_parent -- the path of the folder that a file or folder lies in, in new memory; NULL when it is
 * exhausted. */
char *fs_parent(const char *path);

/* fs_join -- "folder/name" in new memory; NULL when it is exhausted. */
char *fs_join(const char *folder, const char *name);

/* fs_boot_id -- a text that changes with every start of the machine (empty when the system has
 * none: then every open index file counts as lost after an unclean end). */
void fs_boot_id(char text[64]);

/* fs_cache_id -- a text that names the page cache of the file system that `path` lies on: it
 * changes with every start of the machine and whenever that file system is mounted again, so that
 * while it is the same all that was ever written is there to be read, synced or not. Empty when the
 * system has no boot id. Filled up with zeros. */
void fs_cache_id(const char *path, char text[64]);

#endif
