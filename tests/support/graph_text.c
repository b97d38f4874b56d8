// SPDX-License-Identifier: Apache-2.0
// See graph_text.h. A hand-written reader over one pointer; failures say what was expected at which text.
// Ownership: the graph is the caller's. Threads: any.
#include "support/graph_text.h"

#include "base/num.h"
#include "dispatch/registry.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST 64

typedef struct reader {
    const char *at;
    tn_graph *graph;
    tn_map values;           // by printed name
    tn_diag *diag;
} reader;

static tn_status expected(const reader *r, const char *what)
{
    char here[24];
    snprintf(here, sizeof here, "%.20s", r->at);
    return tn_fail(r->diag, TN_INVALID_ARGUMENT, here, "expected %s", what);
}

static tn_status no_memory(const reader *r) { return tn_fail_memory(r->diag, "", 0); }

// ---- words ----

static void skip_blanks(reader *r)
{
    while (*r->at == ' ') {
        r->at++;
    }
}

static bool accept(reader *r, const char *word)
{
    skip_blanks(r);
    const size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0) {
        return false;
    }
    r->at += length;
    return true;
}

static tn_status expect(reader *r, const char *word) { return accept(r, word) ? TN_OK : expected(r, word); }

static bool is_name(char c) { return isalnum((unsigned char)c) || (c && strchr("_%./:-@", c)); }

// The longest name here, up to size - 1 characters.
static size_t read_name(reader *r, char *name, size_t size)
{
    size_t length = 0;
    skip_blanks(r);
    while (is_name(r->at[length]) && length + 1 < size && !(r->at[length] == ':' && !is_name(r->at[length + 1]))) {
        name[length] = r->at[length];
        length++;
    }
    name[length] = '\0';
    r->at += length;
    return length;
}

static tn_status read_string(reader *r, char *text, size_t size)
{
    size_t length = 0;
    TN_TRY(expect(r, "\""));
    while (*r->at && *r->at != '"' && length + 1 < size) {
        text[length++] = *r->at++;
    }
    text[length] = '\0';
    return expect(r, "\"");
}

// ---- types ----

static tn_status read_dim(reader *r, int64_t *dim)
{
    skip_blanks(r);
    char *end;
    if (accept(r, "?")) {
        *dim = TN_DIM_UNKNOWN;
    } else if (isdigit((unsigned char)*r->at)) {
        *dim = strtoll(r->at, &end, 10);
        r->at = end;
    } else {
        char name[32];
        if (read_name(r, name, sizeof name) == 0) {
            return expected(r, "a dim");
        }
        const int symbol = tn_graph_symbol(r->graph, name);
        if (symbol < 0) {
            return no_memory(r);
        }
        *dim = TN_DIM_SYMBOL + symbol;
    }
    return TN_OK;
}

// float32[1,3,?,s0]
static tn_status read_type(reader *r, tn_dtype *dtype, tn_shape *shape)
{
    char name[32];
    read_name(r, name, sizeof name);
    *dtype = TN_NONE;
    for (int i = 0; i < TN_DTYPE_COUNT; i++) {
        if (strcmp(tn_dtype_text((tn_dtype)i), name) == 0) {
            *dtype = (tn_dtype)i;
        }
    }
    *shape = tn_shape_unknown();
    if (!accept(r, "[")) {
        return *dtype == TN_NONE ? expected(r, "a type") : TN_OK;
    }
    if (accept(r, "*]")) {
        return TN_OK;
    }
    shape->rank = 0;
    while (!accept(r, "]")) {
        if (shape->rank == TN_MAX_RANK) {
            return expected(r, "at most 8 dims");
        }
        TN_TRY(read_dim(r, &shape->dims[shape->rank++]));
        accept(r, ",");
    }
    return TN_OK;
}

// ---- values ----

// Numbers between -1 and 1 that look random and depend on the name only.
static double made_up(const char *name, int64_t i)
{
    const uint64_t hash = tn_hash(&i, sizeof i, tn_hash(name, strlen(name), 1));
    return (double)(hash >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static tn_status read_constant(reader *r, const char *name, tn_value **out)
{
    tn_dtype dtype;
    tn_shape shape;
    int64_t count;
    TN_TRY(read_type(r, &dtype, &shape));
    if (!tn_shape_count(&shape, &count)) {
        return expected(r, "a constant of known shape");
    }
    char *data = tn_arena_array(&r->graph->arena, (size_t)count + 1, tn_dtype_bytes(dtype));
    if (!data) {
        return no_memory(r);
    }
    const bool given = accept(r, "(");
    for (int64_t i = 0; i < count; i++) {
        char *end;
        const double v = given ? strtod(r->at, &end) : made_up(name, i);
        tn_dtype_store(dtype, data, (size_t)i, given || tn_dtype_is_float(dtype) ? v : 4 * v);
        if (given) {
            r->at = end;
            accept(r, ",");
        }
    }
    if (given) {
        TN_TRY(expect(r, ")"));
    }
    *out = tn_graph_constant(r->graph, name, dtype, &shape, data, false);
    return *out ? TN_OK : no_memory(r);
}

static tn_status note_value(reader *r, tn_value *value)
{
    return value && tn_map_set(&r->values, value->name, strlen(value->name), value) ? TN_OK : no_memory(r);
}

// %name, %name: const type(contents), or - for none. Values that are not there yet are made when `make` says so.
static tn_status read_value(reader *r, bool make, tn_value **out)
{
    char name[128];
    *out = NULL;
    if (accept(r, "-")) {
        return TN_OK;
    }
    TN_TRY(expect(r, "%"));
    if (read_name(r, name, sizeof name) == 0) {
        return expected(r, "a name");
    }
    *out = tn_map_find(&r->values, name, strlen(name));
    if (accept(r, ": const ")) {
        TN_TRY(read_constant(r, name, out));
        return note_value(r, *out);
    }
    if (!*out && make) {
        *out = tn_graph_value(r->graph, name);
        return note_value(r, *out);
    }
    return *out ? TN_OK : expected(r, "a value that is known");
}

// ---- attributes ----

static tn_status read_int(reader *r, int64_t *v)
{
    char *end;
    skip_blanks(r);
    *v = strtoll(r->at, &end, 10);
    if (end == r->at) {
        return expected(r, "an integer");
    }
    r->at = end;
    return TN_OK;
}

static tn_status read_ints(reader *r, tn_ints *ints)
{
    int64_t v[MAX_LIST];
    int32_t count = 0;
    TN_TRY(expect(r, "["));
    while (!accept(r, "]")) {
        if (count == MAX_LIST) {
            return expected(r, "a shorter list");
        }
        TN_TRY(read_int(r, &v[count++]));
        accept(r, ",");
    }
    const int64_t *copy = tn_arena_copy(&r->graph->arena, v, (size_t)count * sizeof *v);
    *ints = (tn_ints){copy, count, true};
    return copy ? TN_OK : no_memory(r);
}

static tn_status read_field(reader *r, const tn_attr *row, void *at)
{
    char word[64];
    char *end;
    tn_shape none;
    switch (row->kind) {
    case TN_ATTR_INT:
        return read_int(r, at);
    case TN_ATTR_REAL:
        *(double *)at = strtod(r->at, &end);
        r->at = end;
        return TN_OK;
    case TN_ATTR_BOOL:
        *(bool *)at = accept(r, "true");
        return *(bool *)at ? TN_OK : expect(r, "false");
    case TN_ATTR_DTYPE:
        return read_type(r, at, &none);
    case TN_ATTR_ENUM:
        read_name(r, word, sizeof word);
        for (int i = 0; row->texts[i]; i++) {
            if (strcmp(row->texts[i], word) == 0) {
                *(int *)at = i;
                return TN_OK;
            }
        }
        return expected(r, row->name);
    case TN_ATTR_TEXT:
        TN_TRY(read_string(r, word, sizeof word));
        *(const char **)at = tn_arena_text(&r->graph->arena, word, strlen(word));
        return *(const char **)at ? TN_OK : no_memory(r);
    case TN_ATTR_INTS:
        return read_ints(r, at);
    default:
        return expected(r, "an attribute of a kind that can be read");
    }
}

static tn_status read_attributes(reader *r, const tn_op *op, void **attr)
{
    *attr = op->attr_size ? tn_arena_array(&r->graph->arena, 1, op->attr_size) : NULL;
    if (op->attr_size && !*attr) {
        return no_memory(r);
    }
    if (op->defaults) {
        memcpy(*attr, op->defaults, op->attr_size);
    }
    if (!accept(r, "{")) {
        return TN_OK;
    }
    while (!accept(r, "}")) {
        char name[32];
        const tn_attr *row = NULL;
        read_name(r, name, sizeof name);
        for (int i = 0; i < op->n_attrs; i++) {
            row = strcmp(op->attrs[i].name, name) == 0 ? &op->attrs[i] : row;
        }
        if (!row) {
            return expected(r, "an attribute of the operator");
        }
        TN_TRY(expect(r, "="));
        TN_TRY(read_field(r, row, (char *)*attr + row->offset));
        accept(r, ",");
    }
    return TN_OK;
}

// ---- nodes and graphs ----

static tn_status read_node(reader *r)
{
    tn_value *in[MAX_LIST], *out[MAX_LIST];
    int n_in = 0, n_out = 0;
    char word[128];
    void *attr;
    do {
        if (n_out == MAX_LIST) {
            return expected(r, "fewer results");
        }
        TN_TRY(read_value(r, true, &out[n_out++]));
    } while (accept(r, ","));
    TN_TRY(expect(r, "="));
    read_name(r, word, sizeof word);
    const tn_op *op = tn_registry_op(word);
    if (!op) {
        return tn_fail(r->diag, TN_INVALID_ARGUMENT, word, "no such operator");
    }
    TN_TRY(expect(r, "("));
    while (!accept(r, ")")) {
        if (n_in == MAX_LIST) {
            return expected(r, "fewer operands");
        }
        TN_TRY(read_value(r, false, &in[n_in++]));
        accept(r, ",");
    }
    TN_TRY(read_attributes(r, op, &attr));
    if (accept(r, ":")) {
        tn_dtype dtype;
        tn_shape shape;
        do {
            TN_TRY(read_type(r, &dtype, &shape));
        } while (accept(r, ","));
    }
    skip_blanks(r);
    word[0] = '\0';
    if (*r->at == '"') {
        TN_TRY(read_string(r, word, sizeof word));
    }
    const char *name = word[0] ? word : out[0] ? out[0]->name : "node";
    return tn_graph_node(r->graph, NULL, op, name, attr, in, n_in, out, n_out) ? TN_OK : no_memory(r);
}

static tn_status read_inputs(reader *r)
{
    TN_TRY(expect(r, "("));
    while (!accept(r, ")")) {
        tn_value *value;
        TN_TRY(read_value(r, true, &value));
        TN_TRY(expect(r, ":"));
        TN_TRY(read_type(r, &value->dtype, &value->shape));
        TN_TRY(tn_graph_add_input(r->graph, value));
        accept(r, ",");
    }
    return TN_OK;
}

static tn_status read_outputs(reader *r)
{
    TN_TRY(expect(r, "("));
    while (!accept(r, ")")) {
        tn_value *value;
        TN_TRY(read_value(r, true, &value));
        TN_TRY(tn_graph_add_output(r->graph, value));
        accept(r, ",");
    }
    return TN_OK;
}

static tn_status read_graph(reader *r, tn_heap *heap)
{
    char name[64];
    TN_TRY(expect(r, "graph"));
    TN_TRY(read_string(r, name, sizeof name));
    r->graph = tn_graph_create(heap, name);
    if (!r->graph) {
        return no_memory(r);
    }
    tn_map_init(&r->values, &r->graph->arena);
    TN_TRY(read_inputs(r));
    TN_TRY(expect(r, "->"));
    TN_TRY(read_outputs(r));
    while (accept(r, "\n")) {
        skip_blanks(r);
        if (*r->at == '%' || *r->at == '-') {
            TN_TRY(read_node(r));
        }
    }
    return *r->at ? expected(r, "the end of the line") : tn_graph_verify(r->graph, r->diag);
}

tn_graph *tn_graph_parse(const char *text, tn_heap *heap, tn_diag *diag)
{
    reader r = {.at = text, .diag = diag};
    if (read_graph(&r, heap) != TN_OK) {
        tn_graph_destroy(r.graph);
        return NULL;
    }
    return r.graph;
}
