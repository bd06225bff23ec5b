/*
 * log/segment_name.c -- the names of segment files.
 */
#include "log/segment_name.h"

#include "util/fs.h"

#include <stdio.h>
#include <string.h>

void segment_name(uint32_t number, char name[32]) {
    snprintf(name, 32, "log/%08u.seg", number);
}

char *segment_file(const char *folder, uint32_t number) {
    char name[32];
    snprintf(name, sizeof name, "%08u.seg", number);
    return fs_join(folder, name);
}

bool segment_number(const char *name, const char *ending, uint32_t *number) {
    *number = 0;
    for (int i = 0; i < 8; i++) {
        if (name[i] < '0' || name[i] > '9')
            return false;
        *number = *number * 10 + (uint32_t)(name[i] - '0');
    }
    return strcmp(name + 8, ending) == 0;
}
