/*
 * query/expression/operators_regex.c -- what regular expressions match of a string.
 */
#include "query/expression/expression_internal.h"

#include "query/match/regex.h"

#include <string.h>

#define PATTERN_MAX 16384 /* bytes */

enum { MEMBER_INPUT, MEMBER_REGEX, MEMBER_OPTIONS };
enum { REGEX_IS_MATCH, REGEX_FIRST, REGEX_ALL };

/* An expression that was compiled with the operator, because its regex and options are constants. */
typedef struct prepared {
    const regex *regex; /* NULL: "regex" is null */
} prepared;

/* A search of a string. */
typedef struct search {
    evaluation *ev;
    const expression *e;
    const regex *regex;
    const char *text;
    size_t size;
    size_t from;       /* the next byte */
    size_t counted;    /* a byte up to which code points were counted, */
    int32_t character; /* and their number */
    regex_span *spans;
    uint32_t groups;
} search;

/* ---- Regex and options ---- */

/* no_nul -- the error for text that has a NUL; TANSU_OK without. */
static tansu_status no_nul(const char *text, size_t size, const char *context, const char *member,
                           tansu_error *error) {
    if (!memchr(text, 0, size))
        return TANSU_OK;
    return error_set(error, TANSU_E_INVALID_QUERY, context, "Text of \"%s\" has a NUL; remove it",
                     member);
}

/* read_source -- the pattern and options that two values are; source->pattern is NULL when the regex
 * is null. */
static tansu_status read_source(const doc_value *pattern, const doc_value *options,
                                regex_source *source, tansu_error *error) {
    const char *context = source->error_context;
    size_t size;
    tansu_status status = TANSU_OK;
    source->options = "";
    if (!is_nullish(pattern) && pattern->type != DOC_STRING && pattern->type != DOC_REGEX)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Type of \"regex\" is \"%s\"; it must be \"string\" or \"regex\"",
                         type_name(pattern));
    if (!is_nullish(options) && options->type != DOC_STRING)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Type of \"options\" is \"%s\"; it must be \"string\"",
                         type_name(options));
    if (pattern->type == DOC_REGEX) {
        source->pattern = (const char *)pattern->data;
        source->size = strlen(source->pattern);
        source->options = source->pattern + source->size + 1;
        if (*source->options && !is_nullish(options))
            return error_set(error, TANSU_E_INVALID_QUERY, context,
                             "Both \"regex\" and \"options\" have options; give them in one");
    } else if (pattern->type == DOC_STRING) {
        source->pattern = doc_string(pattern, &source->size);
        status = no_nul(source->pattern, source->size, context, "regex", error);
    }
    if (status == TANSU_OK && source->size > PATTERN_MAX)
        return error_set(error, TANSU_E_INVALID_QUERY, context,
                         "Regular expression is longer than %d bytes; shorten it", PATTERN_MAX);
    if (status == TANSU_OK && options->type == DOC_STRING) {
        source->options = doc_string(options, &size);
        status = no_nul(source->options, size, context, "options", error);
    }
    return status;
}

/* check_groups -- UNSUPPORTED when an operator needs to know where an expression matches, and what
 * runs it does not tell. */
static tansu_status check_groups(const expression *e, const regex *r, tansu_error *error) {
    uint32_t groups;
    if (e->op->variant == REGEX_IS_MATCH || regex_groups(r, &groups))
        return TANSU_OK;
    return error_set(
        error, TANSU_E_UNSUPPORTED, e->op->name,
        "This build of the library can only tell whether a regular expression matches; "
        "use $regexMatch, or a build with libpcre2-8");
}

/* compile_regex -- by name; an expression of constants is compiled once. */
static tansu_status compile_regex(expression_compiler *c, const doc_value *operand, expression *e) {
    doc_value pattern, options = {NULL, 0, DOC_MISSING};
    tansu_status status = compile_named(c, operand, e, "input! regex! options");
    if (status != TANSU_OK || !expression_constant(e->args[MEMBER_REGEX], &pattern) ||
        (e->args[MEMBER_OPTIONS] && !expression_constant(e->args[MEMBER_OPTIONS], &options)))
        return status;
    prepared *p = arena_alloc(c->memory, sizeof *p);
    regex_source source = {.error_context = e->op->name};
    if (!p)
        return error_memory(c->error);
    e->extra = p;
    status = read_source(&pattern, &options, &source, c->error);
    if (status != TANSU_OK || !source.pattern)
        return status;
    status = regex_compile(c->memory, c->regexes, &source, c->deadline, &p->regex, c->error);
    return status == TANSU_OK ? check_groups(e, p->regex, c->error) : status;
}

/* ---- Searching ---- */

/* match_error -- the error that ended a match, which the next one is not to have. */
static tansu_status match_error(evaluation *ev) {
    tansu_status status = match_context_status(&ev->match, ev->error);
    ev->match.status = TANSU_OK;
    return status;
}

/* next_match -- fills in the spans of the next match; *found: there is one. A match may take
 * milliseconds, so that the deadline is checked before each. */
static tansu_status next_match(search *s, bool *found) {
    tansu_status status = evaluation_step(s->ev, MATCH_STEPS);
    if (status != TANSU_OK)
        return status;
    *found =
        regex_find(s->regex, &s->ev->match, s->text, s->size, s->from, s->spans, s->e->op->name);
    return match_error(s->ev);
}

/* put_span -- an element of an array, or with a key the member of a document: the text of a span, or
 * null. */
static void put_span(build *b, const char *key, const search *s, uint32_t i) {
    bool nowhere = s->spans[i].start == REGEX_NOWHERE;
    uint8_t type = nowhere ? DOC_NULL : DOC_STRING;
    if (key)
        writer_head(&b->w, type, key, strlen(key));
    else
        writer_index_head(&b->w, type, i - 1);
    if (nowhere)
        return;
    size_t start = writer_begin_string(&b->w);
    writer_bytes(&b->w, s->text + s->spans[i].start, s->spans[i].end - s->spans[i].start);
    writer_end_string(&b->w, start);
}

/* put_match -- the members of a match's document. */
static void put_match(build *b, search *s) {
    if (s->spans[0].start < s->counted) {
        s->counted = 0;
        s->character = 0;
    }
    for (; s->counted < s->spans[0].start; s->counted++)
        s->character += ((unsigned char)s->text[s->counted] & 0xC0) != 0x80;
    put_span(b, "match", s, 0);
    writer_int32(&b->w, "idx", s->character);
    size_t captures = writer_open(&b->w, "captures", DOC_ARRAY);
    for (uint32_t i = 1; i <= s->groups; i++)
        put_span(b, NULL, s, i);
    writer_end(&b->w, captures);
}

/* is_match -- whether the text matches. */
static tansu_status is_match(search *s, doc_value *result) {
    tansu_status status = evaluation_step(s->ev, MATCH_STEPS);
    if (status != TANSU_OK)
        return status;
    bool found = regex_matches(s->regex, &s->ev->match, s->text, s->size, s->e->op->name);
    status = match_error(s->ev);
    return status == TANSU_OK ? result_bool(found, result) : status;
}

/* find_first -- the document of the first match, or null. */
static tansu_status find_first(search *s, doc_value *result) {
    bool found;
    build b;
    tansu_status status = next_match(s, &found);
    if (status != TANSU_OK || !found)
        return status == TANSU_OK ? result_null(result) : status;
    build_begin(s->ev, &b);
    put_match(&b, s);
    return build_end(s->ev, s->e, &b, DOC_DOCUMENT, result);
}

/* pass -- goes on behind a match, by a character at least. */
static void pass(search *s) {
    size_t start = s->spans[0].start, end = s->spans[0].end;
    bool empty = start == end || end <= s->from;
    s->from = end > s->from ? end : s->from;
    if (!empty)
        return;
    s->from++;
    while (s->from < s->size && ((unsigned char)s->text[s->from] & 0xC0) == 0x80)
        s->from++;
}

/* find_all -- the array of the documents of all matches. */
static tansu_status find_all(search *s, doc_value *result) {
    bool found = true;
    tansu_status status = TANSU_OK;
    build b;
    build_begin(s->ev, &b);
    do {
        status = next_match(s, &found);
        if (status != TANSU_OK || !found)
            break;
        writer_index_head(&b.w, DOC_DOCUMENT, b.count++);
        size_t start = writer_begin(&b.w);
        put_match(&b, s);
        writer_end(&b.w, start);
        pass(s);
    } while (s->from < s->size && !b.w.failed);
    if (status == TANSU_OK)
        return build_end(s->ev, s->e, &b, DOC_ARRAY, result);
    build_cancel(s->ev, &b);
    return status;
}

/* nothing -- the result without a text or a regex. */
static tansu_status nothing(evaluation *ev, const expression *e, doc_value *result) {
    static const uint8_t empty[5] = {5, 0, 0, 0, 0};
    if (e->op->variant == REGEX_IS_MATCH)
        return result_bool(false, result);
    if (e->op->variant == REGEX_FIRST)
        return result_null(result);
    return result_bytes(ev, DOC_ARRAY, empty, sizeof empty, result);
}

/* run -- searches a text. */
static tansu_status run(evaluation *ev, const expression *e, const regex *r, const doc_value *input,
                        doc_value *result) {
    search s = {.ev = ev, .e = e, .regex = r};
    s.text = doc_string(input, &s.size);
    if (e->op->variant == REGEX_IS_MATCH)
        return is_match(&s, result);
    if (!regex_groups(r, &s.groups))
        return check_groups(e, r, ev->error);
    s.spans = arena_alloc(&ev->memory, ((size_t)s.groups + 1) * sizeof *s.spans);
    if (!s.spans)
        return evaluation_too_large(ev, e);
    return e->op->variant == REGEX_FIRST ? find_first(&s, result) : find_all(&s, result);
}

/* run_source -- compiles an expression for this one text. */
static tansu_status run_source(evaluation *ev, const expression *e, const regex_source *source,
                               const doc_value *input, doc_value *result) {
    static const deadline none;
    regex *list = NULL;
    const regex *r;
    tansu_status status = regex_compile(&ev->memory, &list, source,
                                        ev->deadline ? ev->deadline : &none, &r, ev->error);
    if (status == TANSU_OK)
        status = is_nullish(input) ? nothing(ev, e, result) : run(ev, e, r, input, result);
    regex_free_all(list);
    return status;
}

static tansu_status evaluate_regex(evaluation *ev, const expression *e, doc_value *result) {
    const prepared *p = e->extra;
    doc_value input, pattern, options;
    regex_source source = {.error_context = e->op->name};
    tansu_status status = argument(ev, e, MEMBER_INPUT, &input);
    if (status == TANSU_OK && !p)
        status = argument(ev, e, MEMBER_REGEX, &pattern);
    if (status == TANSU_OK && !p)
        status = argument(ev, e, MEMBER_OPTIONS, &options);
    if (status == TANSU_OK && !p)
        status = read_source(&pattern, &options, &source, ev->error);
    if (status != TANSU_OK)
        return status;
    if (!is_nullish(&input) && input.type != DOC_STRING)
        return evaluation_error(ev, e, "Type of \"input\" is \"%s\"; it must be \"string\"",
                                type_name(&input));
    if (p ? !p->regex : !source.pattern)
        return nothing(ev, e, result);
    if (!p)
        return run_source(ev, e, &source, &input, result);
    return is_nullish(&input) ? nothing(ev, e, result) : run(ev, e, p->regex, &input, result);
}

const operator_info operators_regex[] = {
    {.name = "$regexMatch",
     .evaluate = evaluate_regex,
     .compile = compile_regex,
     .variant = REGEX_IS_MATCH},
    {.name = "$regexFind",
     .evaluate = evaluate_regex,
     .compile = compile_regex,
     .variant = REGEX_FIRST},
    {.name = "$regexFindAll",
     .evaluate = evaluate_regex,
     .compile = compile_regex,
     .variant = REGEX_ALL},
    {.name = NULL},
};
