/*
 * support/model/refresh_model_reader.c -- the steps of the reader.
 */
#include "support/model/refresh_model.h"

#include <string.h>

/* next_segment -- the one that begins with the next commit; NONE: it is not there. */
static uint8_t next_segment(const files *f, const reader *r, rule without, bool opening) {
    for (uint8_t i = 0; i < FILES; i++) {
        const segment_file *s = &f->segments[i];
        bool there = opening ? (r->mapped >> i & 1) != 0 : s->named && s->header;
        bool usable = s->last == 0 || without == NO_COMPACTED_SEGMENT;
        if (there && usable && s->number > f->segments[r->at.file].number &&
            s->first == r->at.number + 1)
            return i;
    }
    return NONE;
}

/* apply -- a frame; false when what belongs to it is missing. */
static bool apply(const state *s, reader *r, uint8_t identity) {
    uint8_t file = s->h.segment[identity];
    if (file != 0 && !s->f.segments[file - 1].named) {
        r->missing |= s->f.segments[file - 1].number == 0;
        return false;
    }
    r->bad |= s->h.before[identity] != r->at.commit;
    r->at.frame++;
    r->at.number++;
    r->at.commit = identity;
    return true;
}

/* read_frame -- the next one; false when there is none, or it cannot be used. */
static bool read_frame(const state *s, reader *r, rule without, bool opening) {
    for (int i = 0; i < 2; i++) {
        const segment_file *file = &s->f.segments[r->at.file];
        if (file->last != 0 && r->at.number < file->last) {
            r->bad = 1; /* of all its commits only what a later one has left */
            r->at.number = file->last;
            return true;
        }
        if (frame_valid(file, r->at.frame))
            return apply(s, r, file->frames[r->at.frame]);
        bool torn = r->at.frame == file->count && file->half;
        r->met |= torn && !opening;
        if (torn && without == CHECKSUM) {
            r->bad = 1;
            return false;
        }
        uint8_t next = next_segment(&s->f, r, without, opening);
        if (next == NONE)
            return false;
        r->at.file = next;
        r->at.frame = 0;
    }
    return false;
}

/* after_look -- what a refresh does when it has the marks and the log's last commit. */
static void after_look(reader *r, rule without, bool marked) {
    uint8_t now = r->at.number;
    if ((r->look.resets != r->seen.resets && without != RESETS_COMPARED) ||
        (marked && r->to < now)) {
        r->phase = OPEN_MARKS;
    } else if (r->to > now || without == NOT_AFTER_MARK) {
        r->phase = READ_FRAME;
    } else {
        r->seen.written = r->look.written;
        r->seen.sessions = r->look.sessions;
        r->phase = IDLE_READER;
    }
}

/* look_step -- loads of the marks. */
static void look_step(const files *f, reader *r, rule without) {
    switch (r->phase) {
    case LOAD_WRITTEN:
        r->phase = f->tail.written == r->seen.written ? LOAD_SESSIONS : LOOK_MANIFEST;
        return;
    case LOAD_SESSIONS:
        r->phase = f->tail.sessions == r->seen.sessions ? IDLE_READER : LOOK_MANIFEST;
        return;
    case LOOK_MANIFEST: r->manifest = f->manifest_end; break;
    case LOOK_FIRST:
        if (without == SESSIONS_FIRST)
            r->look.written = f->tail.written;
        else if (without == RESETS_LAST)
            r->look.resets = f->tail.resets;
        else
            r->look.sessions = f->tail.sessions;
        break;
    case LOOK_WRITTEN:
        if (without == SESSIONS_FIRST)
            r->look.sessions = f->tail.sessions;
        else if (without == RESETS_LAST)
            r->look.sessions = f->tail.sessions;
        else
            r->look.written = f->tail.written;
        break;
    default: /* LOOK_LAST */
        if (without == RESETS_LAST)
            r->look.written = f->tail.written;
        else
            r->look.resets = f->tail.resets;
    }
    r->phase++;
}

/* end_look -- reads the MANIFEST if it has to. */
static void end_look(const files *f, reader *r, rule without) {
    bool marked = r->look.written != 0;
    r->to = r->look.written;
    if (!marked && without == MANIFEST_AFTER_MARKS)
        r->to = r->manifest;
    else if (!marked && without != MANIFEST_WHERE_CLEARED)
        r->to = f->manifest_end;
    r->manifest = 0;
    after_look(r, without, marked);
}

/* publish -- what was read is the newest commit now. */
static void publish(reader *r) {
    r->published = r->at.commit;
    r->phase = IDLE_READER;
}

/* follow_step -- replays frames into the state that there is. */
static void follow_step(const state *s, reader *r, rule without) {
    const files *f = &s->f;
    if (r->phase == LOOK_AFTER) {
        if (f->tail.resets != r->look.resets && without != RESETS_COMPARED_AFTER) {
            r->phase = OPEN_MARKS;
            return;
        }
        r->seen.written = r->look.written;
        r->seen.sessions = r->look.sessions;
        publish(r);
    } else if (r->at.number == r->to && without != NOT_AFTER_MARK) {
        r->phase = LOOK_AFTER;
    } else if (!read_frame(s, r, without, false)) {
        r->phase = without == NOT_AFTER_MARK && r->at.number >= r->to ? LOOK_AFTER : OPEN_MARKS;
    }
}

/* end_opening -- whether the log is what the marks say it has to be. */
static void end_opening(const files *f, reader *r, rule without) {
    bool whole = r->look.state == FAILED || r->at.number >= r->look.written;
    /* Where the marks are the same by now, trying again does not help. */
    if (!whole && memcmp(&f->tail, &r->look, sizeof r->look) == 0)
        r->missing = 1;
    if (!whole || (f->tail.resets != r->look.resets && without != RESETS_COMPARED_OPENING)) {
        r->phase = OPEN_MARKS;
        return;
    }
    r->seen = (tail_marks){.written = NONE, .resets = r->look.resets};
    publish(r);
}

/* open_step -- opens the files again. The checkpoint and the segments are of one point in time:
 * that is what the other model is about. */
static void open_step(const state *s, reader *r, rule without) {
    const files *f = &s->f;
    if (r->phase == OPEN_MARKS) {
        r->look = f->tail;
        r->to = r->mapped = r->bad = 0;
        r->phase = OPEN_MAP;
    } else if (r->phase == OPEN_MAP) {
        for (uint8_t i = 0; i < FILES; i++)
            if (f->segments[i].named && f->segments[i].header)
                r->mapped |= (uint8_t)(1 << i);
        r->at = f->checkpoint;
        r->missing |= (r->mapped >> r->at.file & 1) == 0;
        r->phase = OPEN_FRAME;
    } else if (r->phase == OPEN_AFTER) {
        end_opening(f, r, without);
    } else if (!read_frame(s, r, without, true)) {
        r->phase = OPEN_AFTER;
    }
}

void model_read(const state *s, reader *r, enum mode mode, rule without) {
    if (r->phase == IDLE_READER) {
        r->readings++;
        r->due = s->h.returned;
        r->look = (tail_marks){0};
        r->to = r->mapped = 0;
        bool looks = mode == REFRESHES || (mode == OPENS && r->readings == 2);
        r->phase = looks ? LOOK_MANIFEST : LOAD_WRITTEN;
    } else if (r->phase < LOOK_END) {
        look_step(&s->f, r, without);
    } else if (r->phase == LOOK_END) {
        end_look(&s->f, r, without);
    } else if (r->phase <= LOOK_AFTER) {
        follow_step(s, r, without);
    } else {
        open_step(s, r, without);
    }
}
