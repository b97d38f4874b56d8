// SPDX-License-Identifier: Apache-2.0
// Operators on strings, and the row of equal for them. Strings are UTF-8; what they make lives in the run's arena.
// Ownership: const data. Threads: any.
#include "ops/text/op_text.h"

#include "base/num.h"
#include "ops/math/op_binary.h"
#include "ops/objects.h"
#include "ops/op_facts.h"
#include "ops/text/regex.h"
#include "ops/text/utf8.h"
#include "ops/walk/walk.h"

#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const char *const changes[] = {"none", "lower", "upper", NULL};
static const tn_attr split_attrs[] = {
    {"delimiter", TN_ATTR_TEXT, offsetof(tn_string_split_attr, delimiter), NULL},
    {"maxsplit", TN_ATTR_INT, offsetof(tn_string_split_attr, maxsplit), NULL},
};
static const tn_attr normalizer_attrs[] = {
    {"change", TN_ATTR_ENUM, offsetof(tn_string_normalizer_attr, change), changes},
    {"is_case_sensitive", TN_ATTR_BOOL, offsetof(tn_string_normalizer_attr, is_case_sensitive), NULL},
};
static const tn_attr regex_attrs[] = {{"pattern", TN_ATTR_TEXT, offsetof(tn_regex_attr, pattern), NULL}};
static const tn_string_split_attr split_defaults = {NULL, -1};

// ---- infer ----

static tn_status infer_string_concat(tn_infer *infer)
{
    tn_dtype dtype;
    tn_shape shape;
    TN_TRY(tn_infer_types(infer, 0, 1, TN_BIT(STRING), &dtype));
    TN_TRY(tn_infer_broadcast(infer, 0, 1, &shape));
    tn_infer_out(infer, 0, TN_STRING, &shape);
    return TN_OK;
}

static tn_status infer_string_split(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_BIT(STRING)));
    tn_shape shape = infer->in[0]->shape;
    tn_infer_out(infer, 1, TN_I64, &shape);
    if (shape.rank == TN_MAX_RANK) {
        return tn_infer_fail(infer, "operand 0 has rank %d, the result would have one more", shape.rank);
    }
    if (shape.rank >= 0) {
        shape.dims[shape.rank++] = TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, TN_STRING, &shape);
    return TN_OK;
}

static tn_status infer_string_normalizer(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_BIT(STRING)));
    TN_TRY(tn_infer_rank(infer, 0, 1, 2));
    if (tn_infer_in(infer, 1)) {
        TN_TRY(tn_infer_type(infer, 1, TN_BIT(STRING)));
    }
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank == 2 && tn_dim_known(shape.dims[0]) && shape.dims[0] != 1) {
        return tn_infer_fail(infer, "operand 0 has %lld rows, expected 1", (long long)shape.dims[0]);
    }
    if (shape.rank > 0) {
        shape.dims[0] = 1;
        shape.dims[shape.rank - 1] = TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, TN_STRING, &shape);
    return TN_OK;
}

static tn_status infer_regex_full_match(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_BIT(STRING)));
    if (!((const tn_regex_attr *)infer->attr)->pattern) {
        return tn_infer_fail(infer, "attribute pattern is missing");
    }
    tn_infer_out(infer, 0, TN_BOOL, &infer->in[0]->shape);
    return TN_OK;
}

// ---- descriptors ----

const tn_op tn_op_string_concat = {
    .name = "string_concat", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .infer = infer_string_concat,
};

const tn_op tn_op_string_split = {
    .name = "string_split", .version = 1, .flags = TN_OP_DYNAMIC, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 2,
    .attrs = split_attrs, .n_attrs = TN_COUNT(split_attrs), .attr_size = sizeof(tn_string_split_attr), .defaults = &split_defaults,
    .infer = infer_string_split,
};

const tn_op tn_op_string_normalizer = {
    .name = "string_normalizer", .version = 1, .flags = TN_OP_DYNAMIC, .min_in = 1, .max_in = 2, .min_out = 1, .max_out = 1,
    .attrs = normalizer_attrs, .n_attrs = TN_COUNT(normalizer_attrs), .attr_size = sizeof(tn_string_normalizer_attr),
    .infer = infer_string_normalizer,
};

const tn_op tn_op_regex_full_match = {
    .name = "regex_full_match", .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, .attrs = regex_attrs,
    .n_attrs = TN_COUNT(regex_attrs), .attr_size = sizeof(tn_regex_attr), .infer = infer_regex_full_match,
};

// ---- reference: concat, equal ----

static tn_status join(const tn_call *call, const char *a, const char *b, const char **out)
{
    const size_t n = strlen(a), m = strlen(b);
    void *room;
    TN_TRY(tn_object_take(call, n + m + 1, &room));
    memcpy(room, a, n);
    memcpy((char *)room + n, b, m);
    *out = room;
    return TN_OK;
}

// a, b: shapes that broadcast to that of the result
static tn_status run_pairs(const tn_call *call)
{
    const tn_tensor *a = call->in[0], *b = call->in[1], *y = call->out[0];
    const tn_shape *of[2] = {&a->shape, &b->shape};
    const bool concat = call->op == &tn_op_string_concat;
    tn_walk walk;
    int64_t at = 0;
    for (bool more = tn_walk_init(&walk, &y->shape, 2, of); more; more = tn_walk_next(&walk)) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t i = 0; i < walk.row; i++, at++) {
            const char *p = tn_cell(a, walk.offsets[0] + i * walk.steps[0]), *q = tn_cell(b, walk.offsets[1] + i * walk.steps[1]);
            if (concat) {
                TN_TRY(join(call, p, q, &((const char **)y->data)[at]));
            } else {
                ((uint8_t *)y->data)[at] = strcmp(p, q) == 0;
            }
        }
    }
    return TN_OK;
}

// ---- reference: split ----

// Walks the pieces of one string. With white space, runs of it separate and none is at the ends (except behind the last cut allowed).
typedef struct pieces {
    const char *at, *end;
    const char *delimiter;
    size_t width;                // of the delimiter; 0: white space
    int64_t cuts;                // left; < 0: any number
    bool done;
} pieces;

static pieces open_pieces(const tn_string_split_attr *attr, const char *text)
{
    const char *delimiter = attr->delimiter ? attr->delimiter : "";
    return (pieces){.at = text, .end = text + strlen(text), .delimiter = delimiter, .width = strlen(delimiter), .cuts = attr->maxsplit};
}

static void skip_space(pieces *p)
{
    for (const char *next = p->at; p->at < p->end; p->at = next) {
        if (!tn_utf8_space(tn_utf8_next(&next, p->end))) {
            return;
        }
    }
}

// Where the piece at p->at ends; p->end: at the end of the text.
static const char *find_cut(const pieces *p)
{
    if (p->cuts == 0) {
        return p->end;
    }
    if (p->width > 0) {
        const char *cut = strstr(p->at, p->delimiter);
        return cut ? cut : p->end;
    }
    for (const char *at = p->at, *next = p->at; at < p->end; at = next) {
        if (tn_utf8_space(tn_utf8_next(&next, p->end))) {
            return at;
        }
    }
    return p->end;
}

static bool next_piece(pieces *p, const char **text, size_t *length)
{
    if (p->width == 0) {
        skip_space(p);
        p->done |= p->at == p->end;
    }
    if (p->done) {
        return false;
    }
    const char *cut = find_cut(p);
    *text = p->at;
    *length = (size_t)(cut - p->at);
    p->done = cut == p->end;
    p->at = p->done ? cut : cut + p->width;
    p->cuts -= p->cuts > 0;
    return true;
}

static int64_t count_pieces(const tn_call *call, int64_t i)
{
    pieces p = open_pieces(call->attr, tn_cell(call->in[0], i));
    const char *text;
    size_t length;
    int64_t count = 0;
    while (next_piece(&p, &text, &length)) {
        count++;
    }
    return count;
}

// x [d...] -> pieces [d..., most], counts int64 [d...]?
static tn_status run_string_split(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    tn_tensor *y = call->out[0], *counts = call->n_out > 1 ? call->out[1] : NULL;
    const int64_t n = tn_tensor_count(x);
    int64_t most = 0;
    if (counts) {
        TN_TRY(call->resize(call, 1, &x->shape));
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t count = count_pieces(call, i);
        most = TN_MAX(most, count);
        if (counts) {
            ((int64_t *)counts->data)[i] = count;
        }
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
    }
    tn_shape shape = x->shape;
    shape.dims[shape.rank++] = most;
    if (!y) {
        return TN_OK;
    }
    TN_TRY(call->resize(call, 0, &shape));
    const char **cells = y->data;
    for (int64_t i = 0; i < n; i++) {
        pieces p = open_pieces(call->attr, tn_cell(x, i));
        for (int64_t k = 0; k < most; k++) {
            const char *text = "";
            size_t length = 0;
            (void)next_piece(&p, &text, &length);
            TN_TRY(tn_object_text(call, text, length, cells++));
        }
    }
    return TN_OK;
}

// ---- reference: normalizer ----

// A copy in another case. A letter of another case takes at most one byte more per byte of its own.
static tn_status change_case(const tn_call *call, const char *text, int change, const char **out)
{
    const size_t length = strlen(text);
    void *room;
    size_t bytes;
    if (change == TN_CASE_NONE) {
        *out = text;
        return TN_OK;
    }
    if (!tn_mul_size(length, 4, &bytes)) {
        return tn_fail_memory(call->diag, call->name, SIZE_MAX);
    }
    TN_TRY(tn_object_take(call, bytes + 1, &room));
    char *to = room;
    for (const char *at = text, *end = text + length; at < end;) {
        const uint32_t c = tn_utf8_next(&at, end);
        to += tn_utf8_put(change == TN_CASE_LOWER ? tn_utf8_lower(c) : tn_utf8_upper(c), to);
    }
    *out = room;
    return TN_OK;
}

// The strings as they are compared: in small letters unless their case counts.
static tn_status compared(const tn_call *call, const tn_tensor *from, const char ***out)
{
    const tn_string_normalizer_attr *attr = call->attr;
    const int64_t n = from ? tn_tensor_count(from) : 0;
    void *room;
    TN_TRY(tn_object_take(call, ((size_t)n + 1) * sizeof(char *), &room));
    *out = room;
    for (int64_t i = 0; i < n; i++) {
        TN_TRY(change_case(call, tn_cell(from, i), attr->is_case_sensitive ? TN_CASE_NONE : TN_CASE_LOWER, &(*out)[i]));
    }
    return TN_OK;
}

// x [C] or [1, C], stopwords [n]? -> what is no stop word; one empty string when nothing is left
static tn_status run_string_normalizer(const tn_call *call)
{
    const tn_string_normalizer_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *stop = call->n_in > 1 ? call->in[1] : NULL;
    const int64_t n = tn_tensor_count(x), n_stop = stop ? tn_tensor_count(stop) : 0;
    const char **words, **stops;
    int64_t kept = 0;
    TN_TRY(compared(call, x, &words));
    TN_TRY(compared(call, stop, &stops));
    for (int64_t i = 0; i < n; i++) {
        bool drop = false;
        for (int64_t k = 0; k < n_stop && !drop; k++) {
            drop = strcmp(words[i], stops[k]) == 0;
        }
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        if (!drop) {
            words[kept++] = tn_cell(x, i);
        }
    }
    tn_shape shape = x->shape;
    shape.dims[0] = 1;
    shape.dims[shape.rank - 1] = TN_MAX(kept, 1);
    TN_TRY(call->resize(call, 0, &shape));
    const char **cells = call->out[0]->data;
    cells[0] = "";
    for (int64_t i = 0; i < kept; i++) {
        TN_TRY(change_case(call, words[i], attr->change, &cells[i]));
    }
    return TN_OK;
}

// ---- reference: regex ----

// x, result: any shape, the same
static tn_status run_regex_full_match(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    const int64_t n = tn_tensor_count(x);
    const char *fault = "";
    tn_regex *regex = tn_regex_compile(((const tn_regex_attr *)call->attr)->pattern, call->heap, &fault);
    if (!regex) {
        return tn_fail(call->diag, TN_UNSUPPORTED, call->name, "regex_full_match: the pattern cannot be used: %s", fault);
    }
    for (int64_t i = 0; i < n && !tn_cancelled(call); i++) {
        const char *text = tn_cell(x, i);
        ((uint8_t *)call->out[0]->data)[i] = tn_regex_full_match(regex, text, strlen(text), call->cancel);
    }
    tn_regex_free(regex);
    return tn_cancelled(call) ? tn_fail_cancelled(call) : TN_OK;
}

// ---- export ----

static bool match_strings(const tn_query *query, const char **why)
{
    *why = "operands are no strings";
    return query->in[0]->dtype == TN_STRING && query->in[1]->dtype == TN_STRING;
}

static const tn_kernel rows[] = {
    TN_REFERENCE_OBJECTS(string_concat, "", NULL, run_pairs),
    TN_REFERENCE_OBJECTS(string_split, "", NULL, run_string_split),
    TN_REFERENCE_OBJECTS(string_normalizer, "", NULL, run_string_normalizer),
    TN_REFERENCE_OBJECTS(regex_full_match, "", NULL, run_regex_full_match),
    TN_REFERENCE_OBJECTS(equal, "_text", match_strings, run_pairs),
};

static const tn_op *const ops[] = {&tn_op_string_concat, &tn_op_string_split, &tn_op_string_normalizer, &tn_op_regex_full_match};

TN_EXPORT_OPS(op_text, ops);
TN_EXPORT_KERNELS(op_text, rows);
