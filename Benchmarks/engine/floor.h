/*
 * floor.h -- the least that this machine needs for the work of a row, whatever the engine: the same
 * bytes written, read or probed by plain loops. Calls no engine.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include "fixture.h"

enum floor_kind {
    FLOOR_NONE,
    FLOOR_SYNCED,  /* a document into the mapped file, its checksum, and a sync; for each */
    FLOOR_WRITTEN, /* the same without a sync */
    FLOOR_BULK,    /* all documents, and one sync */
    FLOOR_PROBE,   /* one word in memory that is in no cache */
    FLOOR_READ,    /* all bytes of all documents, one after the other */
    FLOOR_NAME,    /* the documents of one name, wherever they are */
    FLOOR_CITY,    /* of one city */
    FLOOR_AGES,    /* of four ages */
    FLOOR_TAIL,    /* reading and checksum of the documents that a killed writer committed */
    FLOOR_SIZE     /* the bytes of all documents */
};

/* floor_measure -- the value in the unit of the row ("us", "ms" or "MB"). Returns 0, or -1 with
 * fixture->error filled in. */
int floor_measure(struct fixture *fixture, enum floor_kind kind, const char *unit, double *value);

#endif
