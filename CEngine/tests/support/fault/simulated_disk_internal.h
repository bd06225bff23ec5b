/*
 * support/fault/simulated_disk_internal.h -- what the files of the simulated disk share.
 */
#ifndef SUPPORT_SIMULATED_DISK_INTERNAL_H
#define SUPPORT_SIMULATED_DISK_INTERNAL_H

#include "support/fault/simulated_disk.h"

#include <pthread.h>

#define PAGE 4096u
/* Address space of a file: more than any segment of the tests that use this. */
#define FILE_ROOM ((size_t)32 << 20)
#define FILES_MOST 4096
#define NAMES_MOST 256
#define CHANGES_MOST 512

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

typedef struct simulated_disk {
    pthread_mutex_t mutex;
    char root[160];
    disk_file files[FILES_MOST];
    unsigned file_count;
    name_list now;
    name_list durable;
    name_change changes[CHANGES_MOST];
    unsigned change_count;
    const user_key *keys; /* disk_set_keys() */
    unsigned key_count;
    bool fail_sync;
    random_source lost; /* which pages a failed sync loses */
    void (*before_call)(void *context);
    void *context;
} simulated_disk;

extern simulated_disk disk;

/* disk_find, disk_put, disk_take -- one name of a list; NULL when it is not there. */
disk_name *disk_find(name_list *list, const char *path);
void disk_put(name_list *list, const char *path, int file);
void disk_take(name_list *list, const char *path);

/* disk_in_folder -- whether the path names something directly in the folder. */
bool disk_in_folder(const char *path, const char *folder);

/* disk_apply -- one change on a list of names; one that rests on a change which was lost is lost
 * too. */
void disk_apply(name_list *list, const name_change *c);

/* disk_change -- makes a change visible, and notes that it is not durable. */
void disk_change(const name_change *c);
name_change disk_change_of(int kind, const char *path, const char *to, int file);

/* disk_is_dirty -- whether a sync would write a page. */
bool disk_is_dirty(const disk_file *f, uint64_t page);

#endif
