// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of whole signals and of frames, as sums: short ones, as long as fast transforms gain nothing on a GPU.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/op_facts.h"
#include "ops/signal/op_fourier.h"

#include <math.h>

#define LONGEST 4096

enum { LENGTH = 1, AXIS = 2, STEP = 1, WINDOW = 2, FRAME = 3 };

typedef struct sums {
    int64_t n, given;             // length of the transform; elements there are
    int64_t lines, bins, outer;
    int64_t line_step, step, outer_step;      // of the operand, in elements of all parts
    int64_t parts, y_parts;
    bool inverse, half;
} sums;

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

static bool known(const tn_tensor *number, int64_t *v)
{
    if (number && number->data) {
        *v = tn_dtype_load_i64(number->dtype, number->data, 0);
    }
    return !number || number->data;
}

static bool dft_sums(const tn_query *query, sums *s)
{
    const tn_dft_attr *attr = query->attr;
    const tn_shape *x = &query->in[0]->shape, *y = &query->out[0]->shape;
    int64_t axis = -2, length = 0;
    int at;
    if (!known(operand(query, LENGTH), &length) || !known(operand(query, AXIS), &axis) || !tn_axis(axis, x->rank, &at)) {
        return false;
    }
    *s = (sums){.parts = x->dims[x->rank - 1], .y_parts = y->dims[x->rank - 1], .bins = y->dims[at], .inverse = attr->inverse};
    s->half = attr->inverse && attr->onesided;
    s->n = !attr->onesided || attr->inverse ? y->dims[at] : operand(query, LENGTH) ? length : x->dims[at];
    s->given = TN_MIN(x->dims[at], s->half ? s->n / 2 + 1 : s->n);
    s->lines = tn_shape_span(y, at + 1, y->rank - 1);
    s->outer = tn_shape_span(y, 0, at);
    s->line_step = s->parts;
    s->step = s->lines * s->parts;
    s->outer_step = x->dims[at] * s->step;
    return true;
}

static bool stft_sums(const tn_query *query, sums *s)
{
    const tn_shape *x = &query->in[0]->shape, *y = &query->out[0]->shape;
    const tn_tensor *window = operand(query, WINDOW);
    int64_t step = 0, frame = window ? window->shape.dims[0] : x->dims[1];
    if (!known(query->in[STEP], &step) || !known(operand(query, FRAME), &frame) || step < 1) {
        return false;
    }
    *s = (sums){.n = frame, .given = frame, .lines = y->dims[1], .bins = y->dims[2], .outer = y->dims[0], .y_parts = 2};
    s->parts = s->step = x->rank == 3 ? x->dims[2] : 1;
    s->line_step = step * s->parts;
    s->outer_step = x->dims[1] * s->parts;
    return true;
}

static bool read_sums(const tn_query *query, sums *s) { return query->op == &tn_op_dft ? dft_sums(query, s) : stft_sums(query, s); }

static bool match_sums(const tn_query *query, const char **why)
{
    sums s = {0};
    *why = "only float32 has a kernel";
    if (query->in[0]->dtype != TN_F32) {
        return false;
    }
    *why = "an axis, a length or a step that is not constant";
    if (!read_sums(query, &s)) {
        return false;
    }
    *why = "more than 4096 points, for which the CPU's fast transform is the better way";
    return s.n >= 1 && s.n <= LONGEST;
}

// cos and sin of every angle of the transform, rounded once. NULL: no memory.
static tn_cl_mem *turns(tn_cl_build *b, const sums *s)
{
    float *table = tn_arena_array(&b->scratch, 2 * (size_t)s->n, sizeof *table);
    if (!table) {
        b->status = tn_fail_memory(b->diag, b->node->name, 2 * (size_t)s->n * sizeof *table);
        return NULL;
    }
    for (int64_t i = 0; i < s->n; i++) {
        const double angle = (s->inverse ? 2 : -2) * 3.14159265358979323846 * (double)i / (double)s->n;
        table[2 * i] = (float)cos(angle);
        table[2 * i + 1] = (float)sin(angle);
    }
    return tn_cl_upload(b, table, 2 * (size_t)s->n * sizeof *table);
}

static void emit_sums(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const bool windowed = query->op == &tn_op_stft && operand(query, WINDOW);
    sums s = {0};
    (void)read_sums(query, &s);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *window = windowed ? tn_cl_plain(b, in[WINDOW]) : NULL, *turn = turns(b, &s), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "fourier");
    tn_cl_in(b, "float", "x", from);
    tn_cl_in(b, "float", "turn", turn);
    if (windowed) {
        tn_cl_in(b, "float", "window", window);
        tn_cl_define(b, "WINDOW", "1");
    }
    tn_cl_out(b, "float", "y", to);
    if (s.half) {
        tn_cl_define(b, "HALF", "1");
    }
    const struct { const char *name; int64_t value; } defines[] = {
        {"GIVEN", s.given}, {"LENGTH", s.n}, {"STEP", s.step}, {"PARTS", s.parts}, {"RESULT_PARTS", s.y_parts},
    };
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "%lld", (long long)defines[i].value);
    }
    tn_cl_define(b, "START", "(outer * %lld + line * %lld)", (long long)s.outer_step, (long long)s.line_step);
    // Frames lie before their bins, lines of a tensor behind those of their axis.
    tn_cl_define(b, "PLACE", query->op == &tn_op_dft ? "(((outer * gy + bin) * gx + line) * RESULT_PARTS)" : "(((outer * gx + line) * gy + bin) * RESULT_PARTS)");
    tn_cl_define(b, "SCALE", "%.9ef", s.inverse ? 1 / (double)s.n : 1.0);
    tn_cl_end(b, (size_t)s.lines, (size_t)s.bins, (size_t)s.outer);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_dft, .match = match_sums, .emit = emit_sums},
    {.op = &tn_op_stft, .match = match_sums, .emit = emit_sums},
};

TN_CL_EXPORT(fourier, rows);
