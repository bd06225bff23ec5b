/*
 * query/schema/schema_reference.c -- references between the schemas of one document: their URIs
 * (RFC 3986), anchors and JSON pointers (RFC 6901). Nothing is fetched from elsewhere.
 */
#include "query/schema/schema_parser.h"
#include "util/buffer.h"

/* The most elements that looking up all references of a schema may go through. */
#define LOOKUP_STEPS 20000000

/* ---- URIs ---- */

/* A part of a text; absent when `text` is NULL. */
typedef struct part {
    const char *text;
    size_t size;
} part;

typedef struct uri_parts {
    part scheme, authority, path, query, fragment;
} uri_parts;

/* take_until -- takes what comes before one of some characters, or all. */
static part take_until(part *rest, const char *ends) {
    size_t size = 0;
    while (size < rest->size && strchr(ends, rest->text[size]) == NULL)
        size++;
    part taken = {rest->text, size};
    rest->text += size;
    rest->size -= size;
    return taken;
}

/* take_marked -- the same, if the rest begins with a mark, which it drops. */
static part take_marked(part *rest, const char *mark, const char *ends) {
    size_t size = strlen(mark);
    if (rest->size < size || memcmp(rest->text, mark, size) != 0)
        return (part){NULL, 0};
    rest->text += size;
    rest->size -= size;
    return take_until(rest, ends);
}

/* split -- into the parts of a URI or a relative reference; the text has no NUL. */
static uri_parts split(const char *text) {
    part rest = {text, strlen(text)};
    uri_parts u = {0};
    part scheme = take_until(&rest, ":/?#");
    if (rest.size != 0 && rest.text[0] == ':' && scheme.size != 0) {
        u.scheme = scheme;
        rest.text++;
        rest.size--;
    } else {
        rest = (part){text, strlen(text)};
    }
    u.authority = take_marked(&rest, "//", "/?#");
    u.path = take_until(&rest, "?#");
    u.query = take_marked(&rest, "?", "#");
    u.fragment = take_marked(&rest, "#", "");
    return u;
}

/* append_path -- a path without its segments "." and "..". */
static bool append_path(tansu_buffer *out, const char *text, size_t size) {
    size_t start = out->size, at = 0;
    while (at < size) {
        size_t end = at;
        while (end < size && text[end] != '/')
            end++;
        size_t length = end - at;
        bool more = end < size;
        bool same = length == 1 && text[at] == '.';
        bool up = length == 2 && text[at] == '.' && text[at + 1] == '.';
        if (up) {
            /* The segment before, without the slash in front of it. */
            if (out->size > start)
                out->size--;
            while (out->size > start && out->data[out->size - 1] != '/')
                out->size--;
        }
        if (!same && !up &&
            (!buffer_append(out, text + at, length) || (more && !buffer_append_byte(out, '/'))))
            return false;
        at = end + 1;
    }
    return true;
}

/* append_marked -- a part, if there is one, with what marks it. */
static bool append_marked(tansu_buffer *out, const char *before, part what, const char *after) {
    return what.text == NULL ||
           (buffer_append(out, before, strlen(before)) &&
            buffer_append(out, what.text, what.size) && buffer_append(out, after, strlen(after)));
}

/* merged_path -- a relative path behind the folder of the base's. */
static bool merged_path(tansu_buffer *out, const uri_parts *base, part path) {
    tansu_buffer merged = TANSU_BUFFER_INIT;
    size_t folder = base->path.size;
    while (folder > 0 && base->path.text[folder - 1] != '/')
        folder--;
    bool root = base->authority.text && base->path.size == 0;
    bool done = (!root || buffer_append_byte(&merged, '/')) &&
                buffer_append(&merged, base->path.text, folder) &&
                buffer_append(&merged, path.text, path.size) &&
                append_path(out, (const char *)merged.data, merged.size);
    buffer_free(&merged);
    return done;
}

/* resolve -- p->uri becomes the URI of a reference in a resource, without its fragment. */
static tansu_status resolve(schema_parser *p, const char *base_text, const uri_parts *r) {
    uri_parts base = split(base_text);
    tansu_buffer *out = &p->uri;
    bool own = r->scheme.text != NULL, place = own || r->authority.text;
    bool done;
    out->size = 0;
    done = append_marked(out, "", own ? r->scheme : base.scheme, ":") &&
           append_marked(out, "//", place ? r->authority : base.authority, "");
    if (place || (r->path.size != 0 && r->path.text[0] == '/'))
        done = done && append_path(out, r->path.text, r->path.size);
    else if (r->path.size != 0)
        done = done && merged_path(out, &base, r->path);
    else
        done = done && buffer_append(out, base.path.text, base.path.size);
    bool inherits = !place && r->path.size == 0 && !r->query.text;
    done = done && append_marked(out, "?", inherits ? base.query : r->query, "") &&
           buffer_append_byte(out, 0);
    return done ? TANSU_OK : error_memory(p->error);
}

/* ---- Resources and anchors ---- */

/* text_of -- a string without NULs; NULL when a value is none. */
static const char *text_of(const doc_value *value) {
    size_t size = 0;
    const char *text = value->type == DOC_STRING ? doc_string(value, &size) : NULL;
    return text && memchr(text, 0, size) == NULL ? text : NULL;
}

/* id_fault -- INVALID_QUERY at a keyword of the schema at the path. */
static tansu_status id_fault(schema_parser *p, const char *message) {
    return schema_enter(p, "$id") ? schema_fault(p, "%s", message) : error_memory(p->error);
}

tansu_status schema_resource_enter(schema_parser *p, const doc_value *value, schema_node *n) {
    doc_value id;
    const char *base = p->resource ? p->resource->uri : "", *text = "";
    bool given = doc_find(value->data, value->size, "$id", 3, &id);
    if (!given && p->resource)
        return TANSU_OK;
    if (given)
        text = text_of(&id);
    if (!text)
        return id_fault(p, "\"$id\" must be a URI");
    uri_parts parts = split(text);
    if (parts.fragment.size != 0)
        return id_fault(p, "\"$id\" must be a URI without a fragment; use \"$anchor\"");
    tansu_status status = resolve(p, base, &parts);
    if (status != TANSU_OK)
        return status;
    schema_resource *resource = arena_alloc(p->memory, sizeof *resource);
    schema_name *name;
    bool added;
    if (!resource)
        return error_memory(p->error);
    status = schema_add_name(p, &p->resources, (const char *)p->uri.data, p->uri.size - 1, &name,
                             &added);
    if (status != TANSU_OK)
        return status;
    if (!added)
        return id_fault(p, "two schemas have the same \"$id\"");
    resource->uri = (const char *)name->head.key;
    resource->value = *value;
    name->node = n;
    p->resource = resource;
    return TANSU_OK;
}

tansu_status schema_anchor_add(schema_parser *p, const schema_keyword *k, schema_node *n) {
    const char *text = text_of(&k->at->value);
    schema_name *name;
    bool added;
    if (!text || *text == '\0' || strchr(text, '#') || strchr(text, '/'))
        return schema_fault(p, "\"%s\" must be a name", k->at->key);
    tansu_status status =
        schema_add_name(p, &p->resource->anchors, text, strlen(text), &name, &added);
    if (status != TANSU_OK)
        return status;
    if (!added && name->node != n)
        return schema_fault(p, "the anchor \"%.64s\" is given twice; rename one of them", text);
    name->node = n;
    name->dynamic |= k->at->key[1] == 'd';
    return TANSU_OK;
}

/* ---- JSON pointers ---- */

/* hex_digit -- the value of a digit, or -1. */
static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* decode -- p->key becomes a fragment without its %xx, and a NUL. */
static bool decode(schema_parser *p, part fragment) {
    p->key.size = 0;
    for (size_t i = 0; i < fragment.size; i++) {
        char c = fragment.text[i];
        int high = c == '%' && i + 2 < fragment.size ? hex_digit(fragment.text[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(fragment.text[i + 2]) : -1;
        if (low >= 0 && (high != 0 || low != 0)) {
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (!buffer_append_byte(&p->key, (uint8_t)c))
            return false;
    }
    return buffer_append_byte(&p->key, 0);
}

/* unescape -- ~1 and ~0 of a token are / and ~; in place. Returns the size. */
static size_t unescape(char *token, size_t size) {
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) {
        char c = token[i];
        if (c == '~' && i + 1 < size && (token[i + 1] == '0' || token[i + 1] == '1'))
            c = token[++i] == '0' ? '~' : '/';
        token[kept++] = c;
    }
    return kept;
}

/* find_member -- a member of a document or an array, whose keys are its positions. */
static bool find_member(schema_parser *p, const doc_value *value, const char *name, size_t size,
                        doc_value *result) {
    doc_iter iter;
    if ((value->type != DOC_DOCUMENT && value->type != DOC_ARRAY) || !doc_iter_value(&iter, value))
        return false;
    while (p->steps++ < LOOKUP_STEPS && doc_iter_next(&iter)) {
        if (iter.key_size == size && memcmp(iter.key, name, size) == 0) {
            *result = iter.value;
            return true;
        }
    }
    return false;
}

/* point -- the value that a JSON pointer, in p->key, leads to. */
static bool point(schema_parser *p, const doc_value *from, doc_value *result) {
    char *at = (char *)p->key.data;
    *result = *from;
    while (*at == '/') {
        char *end = ++at;
        while (*end != '\0' && *end != '/')
            end++;
        doc_value member;
        if (!find_member(p, result, at, unescape(at, (size_t)(end - at)), &member))
            return false;
        *result = member;
        at = end;
    }
    return true;
}

/* ---- References ---- */

tansu_status schema_reference_add(schema_parser *p, const schema_keyword *k, schema_rule *r) {
    schema_reference *one = arena_alloc(p->memory, sizeof *one);
    const char *text = text_of(&k->at->value);
    if (!text)
        return schema_fault(p, "\"%s\" must be a URI", k->at->key);
    if (one)
        one->path = arena_copy(p->memory, p->path.data, p->path.size);
    if (!one || !one->path)
        return error_memory(p->error);
    r->nodes = arena_alloc(p->memory, sizeof *r->nodes);
    if (!r->nodes)
        return error_memory(p->error);
    r->count = 1;
    one->rule = r;
    one->from = p->resource;
    one->text = text;
    *p->last_reference = one;
    p->last_reference = &one->next;
    return TANSU_OK;
}

/* not_found -- INVALID_QUERY of a reference. */
static tansu_status not_found(schema_parser *p, const schema_reference *one, const char *why) {
    return error_set(p->error, TANSU_E_INVALID_QUERY, one->path,
                     "The schema is invalid: the reference \"%.100s\" %s", one->text, why);
}

/* resolve_pointer -- a reference whose fragment, in p->key, is a JSON pointer. */
static tansu_status resolve_pointer(schema_parser *p, schema_reference *one, schema_node *node,
                                    const schema_resource *in) {
    doc_value value;
    if (!point(p, &in->value, &value) || !schema_is(p, &value))
        return not_found(p, one, "leads to no schema of the document");
    p->resource = (schema_resource *)node->resource;
    if (!buffer_set(&p->path, one->path, strlen(one->path)))
        return error_memory(p->error);
    return schema_node_parse(p, one->rule->keyword, &value, &one->rule->nodes[0]);
}

/* resolve_one -- finds the schema of a reference. */
static tansu_status resolve_one(schema_parser *p, schema_reference *one) {
    bool dynamic = one->rule->keyword[1] == 'd';
    uri_parts parts = split(one->text);
    tansu_status status = resolve(p, one->from->uri, &parts);
    if (status != TANSU_OK)
        return status;
    schema_name *resource =
        (schema_name *)key_set_find_name(&p->resources, (const char *)p->uri.data, p->uri.size - 1);
    if (!resource)
        return not_found(p, one, "leads out of the document; put the schema into its \"$defs\"");
    if (!decode(p, parts.fragment))
        return error_memory(p->error);
    const schema_resource *in = resource->node->resource;
    if (p->key.size == 1) {
        one->rule->nodes[0] = resource->node;
        return TANSU_OK;
    }
    if (p->key.data[0] == '/')
        return resolve_pointer(p, one, resource->node, in);
    schema_name *anchor =
        (schema_name *)key_set_find_name(&in->anchors, (const char *)p->key.data, p->key.size - 1);
    if (!anchor)
        return not_found(p, one, "leads to no anchor of the document");
    one->rule->nodes[0] = anchor->node;
    if (dynamic && anchor->dynamic)
        one->rule->text = (const char *)anchor->head.key;
    return TANSU_OK;
}

/* next_of -- the schema that the reference of a schema leads to; NULL: it has none. */
static const schema_node *next_of(const schema_node *n) {
    for (const schema_rule *r = n->first; r; r = r->next)
        if (r->kind == RULE_DYNAMIC && r->text == NULL)
            return r->nodes[0];
    return NULL;
}

/* check_circle -- refuses a reference that leads back to itself without a step into the document:
 * no value could be checked. */
static tansu_status check_circle(schema_parser *p, const schema_reference *one) {
    const schema_node *n = one->rule->nodes[0];
    for (int i = 0; i < SCHEMA_DEPTH; i++) {
        n = next_of(n);
        if (!n)
            return TANSU_OK;
    }
    return not_found(p, one, "leads back to itself, or through too many others");
}

tansu_status schema_references_resolve(schema_parser *p) {
    tansu_status status = TANSU_OK;
    /* Those in schemas that only a reference leads to are added to the list. */
    for (schema_reference *one = p->references; one && status == TANSU_OK; one = one->next) {
        status = resolve_one(p, one);
        if (status == TANSU_OK)
            status = deadline_check(p->deadline, p->error);
        if (p->steps >= LOOKUP_STEPS)
            return error_set(p->error, TANSU_E_TOO_LARGE, one->path,
                             "The references of the schema take too long to look up; use anchors");
    }
    for (schema_reference *one = p->references; one && status == TANSU_OK; one = one->next)
        status = check_circle(p, one);
    return status;
}
