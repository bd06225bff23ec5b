/*
 * support/model/refresh_model_writer.c -- the steps of the writer.
 */
#include "support/check.h"
#include "support/model/refresh_model.h"

/* Two steps that are exchanged when a rule is left out. */
static const action exchanged[RULES][2] = {
    [FRAME_BEFORE_MARK] = {HEADER, MARK},
    [MARK_BEFORE_RETURN] = {MARK, RETURN},
    [MANIFEST_BEFORE_CLEAR] = {MANIFEST, CLEAR},
    [RESET_BEFORE_SESSION] = {COUNT_RESET, COUNT_SESSION},
    [END_BEFORE_IDLE] = {MARK_END, MARK_IDLE},
    [END_BEFORE_SESSION] = {MARK_END, COUNT_SESSION},
    [CHECKPOINT_BEFORE_UNLINK] = {CHECKPOINT, UNLINK},
};

/* append_frame -- makes the frame valid that was begun. */
static void append_frame(files *f, history *h, writer *w, uint8_t compacted) {
    segment_file *s = &f->segments[w->end.file];
    uint8_t identity = ++h->made;
    REQUIRE(identity < COMMITS && s->count < FRAMES);
    h->before[identity] = w->end.commit;
    h->segment[identity] = compacted;
    s->half = 0;
    s->frames[s->count++] = identity;
    w->end = (position){w->end.file, s->count, (uint8_t)(w->end.number + 1), identity};
}

/* cut -- where the next writer's replay ends, the log does. Readers of this model lose frames of
 * the last segment only. */
static void cut(files *f, history *h, writer *w) {
    uint8_t last = 0;
    for (uint8_t i = 0; i < FILES; i++) {
        segment_file *s = &f->segments[i];
        if (s->named && !s->header)
            *s = (segment_file){0};
        else if (s->named && s->last == 0 && s->number >= f->segments[last].number)
            last = i;
    }
    segment_file *s = &f->segments[last];
    uint8_t count = 0;
    while (frame_valid(s, count))
        count++;
    for (uint8_t i = count; i < FRAMES; i++) {
        if (s->frames[i] != 0)
            h->dropped |= (uint16_t)(1 << s->frames[i]);
        s->frames[i] = 0;
    }
    s->count = count;
    s->half = s->lost = 0;
    uint8_t commit = 0;
    for (uint8_t i = 1; i <= h->made; i++)
        if ((h->dropped >> i & 1) == 0)
            commit = i;
    w->end = (position){last, count, (uint8_t)(s->first + count - 1), commit};
    w->synced = w->end.number;
}

/* new_file -- the next one. */
static uint8_t new_file(const files *f) {
    uint8_t i = 0;
    while (i < FILES && f->segments[i].number != 0)
        i++;
    REQUIRE(i < FILES);
    return i;
}

/* change_segments -- the writer's steps that make and remove segments. */
static void change_segments(files *f, writer *w, action a, uint8_t from) {
    uint8_t fresh = NONE;
    segment_file *head = &f->segments[w->end.file];
    switch (a) {
    case ROLL:
        fresh = new_file(f);
        f->segments[fresh] = (segment_file){.number = (uint8_t)(head->number + 1), .named = 1};
        break;
    case BEGIN:
        fresh = (uint8_t)(new_file(f) - 1);
        f->segments[fresh].header = 1;
        f->segments[fresh].first = (uint8_t)(w->end.number + 1);
        w->end.file = fresh;
        w->end.frame = 0;
        break;
    case COMPACT: /* all but the segment that is written */
        fresh = new_file(f);
        f->segments[fresh] = (segment_file){.number = (uint8_t)(head->number + 1),
                                            .named = 1,
                                            .header = 1,
                                            .first = f->segments[from].first,
                                            .last = (uint8_t)(head->first - 1)};
        for (uint8_t i = from; i < w->end.file; i++)
            w->replaced |= (uint8_t)(1 << i);
        break;
    case UNLINK:
        for (uint8_t i = 0; i < FILES; i++)
            if ((w->replaced >> i & 1) != 0)
                f->segments[i].named = 0;
        break;
    default: /* RENEW */
        fresh = new_file(f);
        f->segments[fresh] = *head;
        head->named = 0;
        if (f->checkpoint.file == w->end.file)
            f->checkpoint.file = fresh; /* it names a segment by its number */
        w->end.file = fresh;
    }
}

/* change_marks -- the writer's steps in TAIL. */
static void change_marks(files *f, writer *w, action a, rule without) {
    tail_marks *t = &f->tail;
    switch (a) {
    case MARK: t->written = (uint8_t)(w->end.number + f->segments[w->end.file].half); break;
    case MARK_END: t->written = w->end.number; break;
    case CLEAR: t->written = 0; break;
    case SYNC_BEGINS: t->state = SYNCING; break;
    case SYNC_ENDS:
        t->state = IDLE;
        w->synced = w->end.number;
        break;
    case SYNC_FAILS: t->state = FAILED; break;
    case MARK_IDLE: t->state = IDLE; break;
    case COUNT_RESET: t->resets += w->rewritten && without != RESETS_ARE_COUNTED; break;
    default: t->sessions += without != SESSIONS_ARE_COUNTED;
    }
}

/* near -- whether a step is among the three from `at` on, or before it. */
static bool near(const program *p, int at, int direction, action a) {
    for (int i = 1; i <= 3 && at + i * direction >= 0; i++)
        if (p->steps[at + i * direction] == a)
            return true;
    return false;
}

/* step_at -- a step of the program, with two of them exchanged if that rule is left out. */
static action step_at(const program *p, uint8_t at, rule without) {
    const action *pair = exchanged[without];
    action a = p->steps[at];
    if (pair[0] != END && a == pair[0] && near(p, at, 1, pair[1]))
        return pair[1];
    if (pair[0] != END && a == pair[1] && near(p, at, -1, pair[0]))
        return pair[0];
    if (without == COMPACTED_BEFORE_RELOCATION && (a == COMPACT || a == FILE_LATE))
        return a == COMPACT ? FILE_LATE : COMPACT;
    return a;
}

/* lose -- the first frame that was not synced, and with it the commits from there on. */
static void lose(files *f, history *h, const writer *w) {
    segment_file *s = &f->segments[w->end.file];
    uint8_t frame = (uint8_t)(w->synced + 1 - s->first);
    if (frame < s->count)
        s->lost |= (uint8_t)(1 << frame);
    for (; frame < s->count; frame++)
        h->dropped |= (uint16_t)(1 << s->frames[frame]);
}

bool model_write(state *s, const program *p, rule without) {
    files *f = &s->f;
    writer *w = &s->w;
    action a = step_at(p, w->next, without);
    if (a == END)
        return false;
    w->next++;
    switch (a) {
    case BODY: f->segments[w->end.file].half = 1; break;
    case HEADER: append_frame(f, &s->h, w, 0); break;
    case RELOCATION:
        /* Without its rule the file is the next one that is made. */
        append_frame(f, &s->h, w,
                     (uint8_t)(new_file(f) + (without == COMPACTED_BEFORE_RELOCATION)));
        break;
    case RETURN: s->h.returned = w->end.commit; break;
    case LOSE: lose(f, &s->h, w); break;
    case CHECKPOINT: f->checkpoint = w->end; break;
    case MANIFEST: f->manifest_end = w->end.number; break;
    case CUT: cut(f, &s->h, w); break;
    case NEXT: *w = (writer){.next = w->next}; break;
    case FILE_LATE: break;
    case AGAIN: w->rewritten = f->tail.state != IDLE; break;
    case RENEW:
        w->rewritten = f->tail.state != IDLE;
        if (!w->rewritten)
            break;
        /* fall through */
    case ROLL:
    case BEGIN:
    case COMPACT:
    case UNLINK: change_segments(f, w, a, p->compacts); break;
    default: change_marks(f, w, a, without);
    }
    return true;
}

bool model_kill(writer *w, const program *p) {
    uint8_t at = w->next;
    while (p->steps[at] != END && p->steps[at] != NEXT)
        at++;
    if (p->steps[at] == END)
        return false;
    *w = (writer){.next = (uint8_t)(at + 1)};
    return true;
}
