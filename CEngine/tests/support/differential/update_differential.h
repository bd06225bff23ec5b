/*
 * support/differential/update_differential.h -- runs a case of updates on a database and on the
 * reference model, and reports the first difference. A case is a list of parts
 * (case_reduction.h): one "setup", then documents, then calls as random_update_call() makes them.
 */
#ifndef SUPPORT_UPDATE_DIFFERENTIAL_H
#define SUPPORT_UPDATE_DIFFERENTIAL_H

#include "support/random/case_reduction.h"

/* The parts' roles. A setup is {"seed": n, "unique": n or -1, "persistent": bool}; the seed is
 * that of the questions at the end. */
#define UPDATE_PLAY_SETUP "setup"
#define UPDATE_PLAY_DOCUMENT "document"
#define UPDATE_PLAY_CALL "call"

typedef struct update_differential_result {
    bool differs;
    bool senseless;    /* a part is not what it should be: only when it was made smaller */
    size_t parts;      /* how many were played */
    unsigned compared; /* calls compared with the model, each with and without indexes */
    unsigned applied;  /* those that were not refused and found something to do */
    unsigned refused;  /* by both */
    unsigned asked;    /* queries through one index, and without any */
    char note[8192];   /* the difference */
} update_differential_result;

/* update_differential -- plays all of a case, or up to the first difference. */
void update_differential(const reduction_case *c, update_differential_result *result);

#endif
