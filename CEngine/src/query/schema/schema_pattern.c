/*
 * query/schema/schema_pattern.c -- patterns of schemas. JSON Schema 2020-12 has those of
 * ECMAScript, which knows Unicode's categories by their long names, too: \p{Letter} for \p{L}.
 */
#include "query/schema/schema_parser.h"
#include "util/buffer.h"

static const struct {
    const char *name;
    const char *code;
} categories[] = {
    {"Cased_Letter", "L&"},
    {"Close_Punctuation", "Pe"},
    {"Connector_Punctuation", "Pc"},
    {"Control", "Cc"},
    {"Currency_Symbol", "Sc"},
    {"Dash_Punctuation", "Pd"},
    {"Decimal_Number", "Nd"},
    {"Enclosing_Mark", "Me"},
    {"Final_Punctuation", "Pf"},
    {"Format", "Cf"},
    {"Initial_Punctuation", "Pi"},
    {"Letter", "L"},
    {"Letter_Number", "Nl"},
    {"Line_Separator", "Zl"},
    {"Lowercase_Letter", "Ll"},
    {"Mark", "M"},
    {"Math_Symbol", "Sm"},
    {"Modifier_Letter", "Lm"},
    {"Modifier_Symbol", "Sk"},
    {"Nonspacing_Mark", "Mn"},
    {"Number", "N"},
    {"Open_Punctuation", "Ps"},
    {"Other", "C"},
    {"Other_Letter", "Lo"},
    {"Other_Number", "No"},
    {"Other_Punctuation", "Po"},
    {"Other_Symbol", "So"},
    {"Paragraph_Separator", "Zp"},
    {"Private_Use", "Co"},
    {"Punctuation", "P"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Spacing_Mark", "Mc"},
    {"Surrogate", "Cs"},
    {"Symbol", "S"},
    {"Titlecase_Letter", "Lt"},
    {"Unassigned", "Cn"},
    {"Uppercase_Letter", "Lu"},
    {"digit", "Nd"},
    {"punct", "P"},
};

/* code_of -- the short name of a category; NULL for what is none. */
static const char *code_of(const char *name, size_t size) {
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (strlen(categories[i].name) == size && memcmp(categories[i].name, name, size) == 0)
            return categories[i].code;
    return NULL;
}

/* shorten -- p->key becomes the pattern with short names of categories; *changed is false when it
 * has no long ones. False when memory is exhausted. */
static bool shorten(schema_parser *p, const char *text, size_t size, bool *changed) {
    bool done = true;
    *changed = false;
    p->key.size = 0;
    for (size_t i = 0; i < size && done;) {
        /* A backslash and what follows it; of a property up to the brace. */
        size_t whole = text[i] == '\\' && i + 1 < size ? 2 : 1;
        bool property = whole == 2 && (text[i + 1] == 'p' || text[i + 1] == 'P') && i + 2 < size &&
                        text[i + 2] == '{';
        const char *end = property ? memchr(text + i, '}', size - i) : NULL;
        const char *name = text + i + 3;
        const char *code = end ? code_of(name, (size_t)(end - name)) : NULL;
        if (!code) {
            done = buffer_append(&p->key, text + i, whole);
            i += whole;
            continue;
        }
        done = buffer_append(&p->key, text + i, 3) && buffer_append(&p->key, code, strlen(code));
        i = (size_t)(end - text);
        *changed = true;
    }
    return done;
}

/* compile_short -- compiles a pattern with short names; *result stays NULL when that is invalid, or
 * no other pattern. */
static tansu_status compile_short(schema_parser *p, const char *text, size_t size,
                                  const regex **result) {
    bool changed;
    if (!shorten(p, text, size, &changed))
        return error_memory(p->error);
    if (!changed)
        return TANSU_OK;
    const char *copy = arena_copy(p->memory, p->key.data, p->key.size);
    if (!copy)
        return error_memory(p->error);
    regex_source source = {.pattern = copy, .size = p->key.size, .options = ""};
    tansu_status status =
        regex_compile(p->memory, p->regexes, &source, p->deadline, result, p->error);
    return status == TANSU_E_INVALID_QUERY ? TANSU_OK : status;
}

tansu_status schema_pattern_compile(schema_parser *p, const char *text, size_t size,
                                    const regex **result) {
    regex_source source = {.pattern = text, .size = size, .options = ""};
    tansu_error inner = {0};
    *result = NULL;
    tansu_status status =
        regex_compile(p->memory, p->regexes, &source, p->deadline, result, &inner);
    if (status == TANSU_E_INVALID_QUERY && p->dialect == DIALECT_2020) {
        tansu_status other = compile_short(p, text, size, result);
        if (other != TANSU_OK || *result)
            return other;
    }
    if (status == TANSU_OK)
        return TANSU_OK;
    if (status != TANSU_E_INVALID_QUERY)
        return schema_end_path(p)
                   ? error_set(p->error, status, (const char *)p->path.data, "%s", inner.message)
                   : error_memory(p->error);
    status = schema_fault(p, "%s", inner.message);
    if (status == TANSU_E_INVALID_QUERY && p->error)
        p->error->offset = inner.offset;
    return status;
}
