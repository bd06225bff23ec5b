/*
 * query/pipeline/pipeline_internal.h -- what the files of this folder share: stages, and the
 * pipeline that they are in.
 *
 *   pipeline.c         a list of stages to a pipeline; running it
 *   explain.c          how a run went
 *   optimise.c         the order in which stages run, and what the query of the source does instead
 *   needed_fields.c    the fields that stages which keep documents keep of them
 *   group_index.c      groups from an index instead of documents
 *   group_query.c      groups of queries and distinct values, a short form of a pipeline
 *   stage_source.c     the collection that the first stage reads, and $documents
 *   stage_*.c          the stages
 *   document_list.c    documents that a stage keeps
 *
 * How to add a stage: write a stage_kind in a file stage_NAME.c, and name it in the table of
 * pipeline.c.
 */
#ifndef TANSU_QUERY_PIPELINE_PIPELINE_INTERNAL_H
#define TANSU_QUERY_PIPELINE_PIPELINE_INTERNAL_H

#include "bson/writer.h"
#include "query/exec/external_sort.h"
#include "query/expression/computed_fields.h"
#include "query/expression/expression.h"
#include "query/parse/query_compile.h"
#include "query/pipeline/pipeline.h"
#include "util/arena.h"
#include "util/error.h"

typedef struct stage stage;
typedef struct needed_fields needed_fields;

/* Where a stage may stand. */
enum stage_place {
    STAGE_ANYWHERE,
    STAGE_FIRST,           /* it makes documents itself */
    STAGE_LAST,            /* it writes them */
    STAGE_NOT_IN_FACET = 4 /* a bit beside these: not within $facet */
};

/* The query that reads a collection, as the stage behind it sees it. */
typedef struct query_source {
    query *query;
    const collection_state *collection; /* NULL: it does not exist */
    expression_compiler *scope;         /* of the variables in it; NULL: it has none */
    doc_value selector, hints;          /* from which the query was compiled; size 0: none */
    /* What was taken from an index, for explain. */
    const char *index; /* NULL: none */
    bool ordered;      /* groups of a query, in the order of their keys */
    uint64_t keys_examined, documents_examined;
    tansu_buffer plan; /* of counting; or empty */
} query_source;

/* One kind of stage. The functions but `compile` and `next` may be NULL. */
typedef struct stage_kind {
    const char *name; /* "$match" */
    int place;
    /* Reads what stands after the name, and sets s->state, in the pipeline's arena. */
    tansu_status (*compile)(stage *s, const doc_value *spec);
    /* Makes the stage ready for a run; called again for each run of a part of $lookup. */
    tansu_status (*begin)(stage *s);
    /* Takes what it makes of the documents of a query from an index instead (group_index.h): these
     * are not read if *done. */
    tansu_status (*from_index)(stage *s, query_source *from, bool *done);
    /* The next document, which lives until the next call; TANSU_DONE at the end. */
    tansu_status (*next)(stage *s, doc_value *doc);
    /* Frees what a run has taken, so that another may begin; also after an error. */
    void (*end)(stage *s);
    /* Frees what is not in the arena. */
    void (*free)(stage *s);
} stage_kind;

struct stage {
    const stage_kind *kind;
    pipeline *p;
    stage *source;               /* the stage that runs before it; NULL: none */
    stage *next;                 /* the stage that runs after it; NULL: none */
    doc_value spec;              /* what stands after its name */
    bool taken;                  /* the query of the source does what it does */
    bool indexed;                /* an index gave what it makes */
    const needed_fields *needed; /* of the documents that it keeps (needed_fields.h); NULL: all */
    void *state;
    tansu_buffer out; /* for the document that it shows */
    uint64_t returned;
    uint64_t nanoseconds; /* with $explain: that it took, with the stages before it */
    size_t memory;        /* the most bytes that it kept, of stages that keep documents */
};

/* Where the documents of a part come from. */
enum inner_source {
    INNER_COLLECTION, /* or $documents */
    INNER_FED,        /* p->feed gives them */
    INNER_FACET       /* likewise; some stages are not allowed */
};

/* Of the stages of one pipeline, and of the parts of $lookup, $facet and so on. */
struct pipeline {
    pipeline *outer;  /* of a part of a stage; or NULL */
    const char *part; /* its name, for errors; or NULL */
    arena memory;
    size_t charged; /* to the memory of the outer one */
    regex *regexes;
    const char *collection;       /* NULL: it begins with $documents */
    expression_compiler compiler; /* while it is compiled */
    const collation *collation;
    size_t max_memory; /* of $maxMemory; 0: what the database gives groups */
    bool no_disk;      /* $allowDiskUse is false */
    uint64_t max_milliseconds;
    doc_value hints;  /* as given, or nothing */
    query *collating; /* an empty query with $collation, which has the collation; or NULL */
    doc_value index;  /* of $index; or missing */
    doc_value let;    /* of $let: its variables have the slots from VARIABLE_USER on */
    const expression **let_values;
    uint32_t let_count;
    /* Instead of a collection: where the documents come from (document_list.h). */
    enum inner_source inner;
    tansu_status (*feed)(void *context, doc_value *doc);
    void *feed_context;
    const tansu_buffer *selector; /* of a part: what it selects of its collection; NULL: all */
    stage *stages;
    uint32_t count;
    stage *last;  /* whose documents are the result */
    bool empty;   /* it has no documents: its $limit is within its $skip */
    bool explain; /* $explain: the only document says how it ran */
    tansu_buffer explained;
    bool begun;
    bool failed; /* the error names the stage */

    /* While running. */
    const snapshot *snapshot;
    read_context rctx;
    const interrupt *stop;
    deadline deadline;
    tansu_error *error;
    evaluation ev;    /* shared by the stages: its values do not outlive a call of another stage */
    uint64_t spilled; /* bytes in temporary files */
};

/* ---- Compiling ---- */

/* stage_error -- INVALID_QUERY at the stage and a part of it (NULL: none). */
tansu_status stage_error(const stage *s, const char *part, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* stage_expression -- compiles an expression of the stage. Errors: as expression_compile(), with
 * the stage and the part before the context. */
tansu_status stage_expression(stage *s, const char *part, const doc_value *value,
                              const expression **result);

/* stage_members -- checks that `spec` is a document whose members are among `names`, "from! let
 * pipeline": those with ! must be there, and none twice. values[i] is the value of the i-th, or
 * missing. Errors: INVALID_QUERY. */
tansu_status stage_members(const stage *s, const doc_value *spec, const char *names,
                           doc_value *values);

/* write_path -- a string element, "$path". */
static inline void write_path(writer *w, const char *key, size_t key_size, const char *path,
                              size_t size) {
    writer_head(w, DOC_STRING, key, key_size);
    size_t start = writer_begin_string(w);
    writer_bytes(w, "$", 1);
    writer_bytes(w, path, size);
    writer_end_string(w, start);
}

/* stage_alloc -- zeroed memory that lives as long as the pipeline, for s->state and the like; NULL
 * with the error set when it is exhausted. */
void *stage_alloc(stage *s, size_t size);

/* pipeline_optimise -- links the stages in an order in which they give the same documents sooner, and
 * gives work of the first ones to the query of the source; NULL: the first stage makes the documents.
 * Errors: MEMORY. */
tansu_status pipeline_optimise(pipeline *p, stage *source);

/* source_push_* -- the query of the source also selects, or orders, or cuts its results. Errors:
 * MEMORY. */
tansu_status source_push_match(stage *s, const doc_value *match);
tansu_status source_push_hint(stage *s, const char *hint, const doc_value *value);

/* pipeline_compile_inner -- the pipeline of a part of a stage, which sees the variables that are in
 * scope. `stages` is a value of type array, or missing: no stages. `collection` NULL: it begins with
 * $documents, or is fed. Errors: as pipeline_compile(). */
tansu_status pipeline_compile_inner(stage *s, const char *part, const char *collection,
                                    enum inner_source inner, const doc_value *stages,
                                    pipeline **result);

/* in_takes -- whether $in takes a value as one to be equal: no regular expression, which it matches,
 * and no document whose first key may be an operator, which it refuses. */
static inline bool in_takes(const doc_value *value) {
    doc_iter iter;
    bool refused = value->type == DOC_DOCUMENT && doc_iter_value(&iter, value) &&
                   doc_iter_next(&iter) && iter.key[0] == '$';
    return !refused && value->type != DOC_REGEX;
}

/* source_use -- gives the source a query and what it was compiled from; it frees the query. The
 * collection does not change before the run ends. */
tansu_status source_use(stage *s, query *query, const doc_value *selector, const doc_value *hints);

/* pipeline_of_stage -- a pipeline of one stage of a kind that no text names, and of the source that
 * reads the collection. Its compiler is not begun. Errors: MEMORY. */
tansu_status pipeline_of_stage(const char *collection, const stage_kind *kind,
                               const interrupt *stop, pipeline **result, tansu_error *error);

/* match_searches -- whether a compiled stage is a $match with $text. */
bool match_searches(const stage *s);

/* match_tests_score -- whether a $match tests the score, which the query that searches cannot. */
bool match_tests_score(const stage *s);

/* is_plain_order -- whether a $sort is one that queries order alike: one path with 1 or -1, the score
 * of $text, or both. With several paths, one element of an array gives the values of all of them,
 * and queries take each by itself. */
bool is_plain_order(const doc_value *spec);

/* ---- Running ---- */

/* stage_blame -- puts number and name of a stage, and the part that its pipeline is of another one,
 * before the context of the error; once in a run. */
void stage_blame(const stage *s);

/* stage_measure -- asks a stage, and measures the time. */
tansu_status stage_measure(stage *s, doc_value *doc);

/* stage_ask -- the next document of a stage. */
static inline tansu_status stage_ask(stage *s, doc_value *doc) {
    tansu_status status = s->p->explain ? stage_measure(s, doc) : s->kind->next(s, doc);
    s->returned += status == TANSU_OK;
    if (status == TANSU_E_INVALID_QUERY || status == TANSU_E_TOO_LARGE)
        stage_blame(s);
    return status;
}

/* stage_next -- the next document of the stage before. */
static inline tansu_status stage_next(stage *s, doc_value *doc) {
    return stage_ask(s->source, doc);
}

/* stage_evaluate -- the value of an expression for a document. It lives until the next evaluation
 * for another document. */
static inline tansu_status stage_evaluate(stage *s, const expression *e, const doc_value *doc,
                                          doc_value *result) {
    evaluation_document(&s->p->ev, doc->data, doc->size);
    return expression_evaluate(&s->p->ev, e, result);
}

/* stage_show -- the document in s->out becomes *doc. Errors: TOO_LARGE (beyond what a document may
 * have, or nested too deep), MEMORY. `w` wrote it. */
tansu_status stage_show(stage *s, const writer *w, doc_value *doc);

/* stage_step -- to be called for each document of a loop that does not ask the stage before.
 * Errors: those of the deadline. */
tansu_status stage_step(stage *s);

/* stages_wanted -- how many documents of a stage $skip and $limit behind it let through at most;
 * UINT64_MAX: all. */
uint64_t stages_wanted(const stage *s);

/* pipeline_memory -- bytes that one stage may have before it spills. */
size_t pipeline_memory(const pipeline *p);

/* stage_sort_options -- for a sort of a stage, with a share of its memory. */
external_sort_options stage_sort_options(stage *s, size_t memory);

/* stage_sort -- an external sort with these. NULL when memory is exhausted. */
external_sort *stage_sort(stage *s, size_t memory);

/* pipeline_begin_inner -- begins a run of an inner pipeline, and ends the one before. The variables
 * of the outer one have their present values. */
tansu_status pipeline_begin_inner(pipeline *p, stage *s);

/* pipeline_next_inner -- its next document. */
tansu_status pipeline_next_inner(pipeline *p, doc_value *doc);

/* pipeline_end_inner -- ends the run. */
void pipeline_end_inner(pipeline *p);

/* pipeline_check_update -- whether all stages may stand in an update. Errors: INVALID_QUERY. */
tansu_status pipeline_check_update(const pipeline *p);

/* pipeline_begin_fed -- begins the run of an update, unless it has begun. */
tansu_status pipeline_begin_fed(pipeline *p);

/* ---- explain.c ---- */

/* pipeline_explain -- runs the pipeline to its end; *doc says how, in the memory of `out`. Errors:
 * those of the run. */
tansu_status pipeline_explain(pipeline *p, tansu_buffer *out, doc_value *doc);

/* source_explain -- appends the plan document of the query that reads the collection, after a run
 * (query-language.md, explain); nothing if there was none. Errors: MEMORY. */
tansu_status source_explain(stage *s, double milliseconds, tansu_buffer *plan);

/* source_query -- what the source knows of its query. */
const query_source *source_query(const stage *s);

/* ---- nested_path.c ---- */

/* The path of a field within nested documents, in parts. */
typedef struct nested_path {
    uint32_t count;
    const struct nested_name {
        const char *text;
        size_t size;
    } * names;
} nested_path;

/* nested_path_compile -- the path in a member of the stage. Errors: INVALID_QUERY for a part that is
 * empty or begins with $, a NUL, and a path that is too deep; MEMORY. */
tansu_status nested_path_compile(stage *s, const char *member, const char *text, size_t size,
                                 nested_path *path);

/* nested_path_put -- writes a document with the value at the path; without that field when the value
 * is missing. What is on the way and is no document, also an array, becomes one. */
void nested_path_put(writer *w, const doc_value *doc, const nested_path *path,
                     const doc_value *value);

/* nested_path_show -- the document with an array at the path becomes *doc. Errors: those of
 * stage_show(). */
tansu_status nested_path_show(stage *s, const nested_path *path, const tansu_buffer *array,
                              doc_value *doc);

/* ---- The stages ---- */

extern const stage_kind stage_source; /* of the collection; it has no name */
extern const stage_kind stage_documents;
extern const stage_kind stage_match;
extern const stage_kind stage_limit;
extern const stage_kind stage_skip;
extern const stage_kind stage_project;
extern const stage_kind stage_add_fields;
extern const stage_kind stage_set;
extern const stage_kind stage_unset;
extern const stage_kind stage_replace_root;
extern const stage_kind stage_replace_with;
extern const stage_kind stage_lookup;
extern const stage_kind stage_graph_lookup;
extern const stage_kind stage_union_with;
extern const stage_kind stage_facet;
extern const stage_kind stage_redact;
extern const stage_kind stage_out;
extern const stage_kind stage_merge;
extern const stage_kind stage_group;
extern const stage_kind stage_sort_kind;
extern const stage_kind stage_sample;
extern const stage_kind stage_unwind;
extern const stage_kind stage_count;
extern const stage_kind stage_sort_by_count;
extern const stage_kind stage_bucket;
extern const stage_kind stage_bucket_auto;
extern const stage_kind stage_set_window_fields;
extern const stage_kind stage_fill;
extern const stage_kind stage_densify;

/* fill_is_update -- whether a stage is a $fill that may be in an update: it looks at no other
 * documents. */
bool fill_is_update(const stage *s);

#endif
