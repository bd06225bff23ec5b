/*
 * support/fault/simulated_disk_names.c -- the names of the simulated disk's files, now and on the
 * disk for sure.
 */
#include "support/check.h"
#include "support/fault/simulated_disk_internal.h"

#include <stdio.h>
#include <string.h>

disk_name *disk_find(name_list *list, const char *path) {
    for (unsigned i = 0; i < list->count; i++)
        if (strcmp(list->names[i].path, path) == 0)
            return &list->names[i];
    return NULL;
}

void disk_put(name_list *list, const char *path, int file) {
    disk_name *name = disk_find(list, path);
    if (name == NULL) {
        REQUIRE(list->count < NAMES_MOST);
        name = &list->names[list->count++];
    }
    *name = (disk_name){.file = file};
    REQUIRE(snprintf(name->path, sizeof name->path, "%s", path) < (int)sizeof name->path);
}

void disk_take(name_list *list, const char *path) {
    disk_name *name = disk_find(list, path);
    if (name != NULL)
        *name = list->names[--list->count];
}

bool disk_in_folder(const char *path, const char *folder) {
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/' &&
           strchr(path + length + 1, '/') == NULL;
}

void disk_apply(name_list *list, const name_change *c) {
    switch (c->kind) {
    case CHANGE_MAKE: disk_put(list, c->path, c->file); break;
    case CHANGE_REMOVE: disk_take(list, c->path); break;
    default:
        if (disk_find(list, c->path) != NULL) {
            disk_take(list, c->path);
            disk_put(list, c->to, c->file);
        }
    }
}

void disk_change(const name_change *c) {
    disk_apply(&disk.now, c);
    REQUIRE(disk.change_count < CHANGES_MOST);
    disk.changes[disk.change_count++] = *c;
}

name_change disk_change_of(int kind, const char *path, const char *to, int file) {
    name_change c = {.kind = kind, .file = file};
    snprintf(c.path, sizeof c.path, "%s", path);
    snprintf(c.to, sizeof c.to, "%s", to);
    return c;
}
