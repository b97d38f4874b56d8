// SPDX-License-Identifier: Apache-2.0
// Predicate, parameters and costs of pooling (pooling.h).
// Ownership: none. Threads: any.
#include "kernels/pool/pooling.h"

#include "base/macros.h"

#define MAX_ROW (1 << 20)       // columns of a padded row: larger windows are left to the reference
#define MAX_TAPS (1 << 16)

static bool is_global(const tn_op *op) { return op == &tn_op_global_average_pool || op == &tn_op_global_max_pool; }

static bool is_max(const tn_op *op) { return op == &tn_op_max_pool || op == &tn_op_global_max_pool; }

static bool window_of(const tn_query *query, tn_window *window)
{
    if (!tn_pool_window(query->attr, &query->in[0]->shape, window)) {
        return false;
    }
    tn_window_widen(window);
    return true;
}

// Columns of the padded row. False: too many.
static bool padded_row(const tn_window *w, int64_t *row)
{
    for (int i = 0; i < 3; i++) {
        if (w->kernel[i] > MAX_TAPS || w->dilation[i] > MAX_ROW || w->stride[i] > MAX_ROW || w->out[i] > MAX_ROW ||
            w->pad_begin[i] > MAX_ROW || w->pad_end[i] > MAX_ROW) {
            return false;
        }
    }
    *row = (w->out[2] - 1) * w->stride[2] + (w->kernel[2] - 1) * w->dilation[2] + 1;
    return *row <= MAX_ROW && w->kernel[0] * w->kernel[1] * w->kernel[2] <= MAX_TAPS;
}

bool tn_pool_match(const tn_query *query, const char **why)
{
    tn_window window;
    int64_t row;
    const tn_shape *x = &query->in[0]->shape;
    if (query->n_out > 1 && query->out[1]) {
        *why = "indices of the maxima are asked for";
        return false;
    }
    if (tn_tensor_count(query->in[0]) == 0 || tn_tensor_count(query->out[0]) == 0) {
        *why = "nothing to pool";
        return false;
    }
    if (!is_global(query->op) && (!window_of(query, &window) || !padded_row(&window, &row))) {
        *why = "a window of this size";
        return false;
    }
    return x->rank >= 2;
}

// Lanes past the last channel have to stay zero: maxima of no taps would not.
bool tn_pool_match_lines(const tn_query *query, const char **why)
{
    tn_window w;
    if (!tn_pool_match(query, why)) {
        return false;
    }
    for (int dim = 0; is_max(query->op) && !is_global(query->op) && window_of(query, &w) && dim < 3; dim++) {
        for (int64_t o = 0; o < w.out[dim]; o++) {
            int64_t start, k0, k1;
            tn_pool_taps(&w, dim, o, &start, &k0, &k1);
            if (k0 >= k1) {
                *why = "a window outside of the operand";
                return false;
            }
        }
    }
    return true;
}

// The window is all of the input.
static bool covers(const tn_window *w)
{
    bool all = true;
    for (int i = 0; i < 3; i++) {
        const bool unpadded = w->pad_begin[i] == 0 && w->pad_end[i] == 0;
        all = all && unpadded && w->out[i] == 1 && w->kernel[i] == w->in[i] && w->dilation[i] == 1;
    }
    return all;
}

// For each output of a dim how many taps an average counts: those inside, or inside the padded input; 1 instead of 0.
static tn_status count_taps(tn_prepare *prepare, tn_pool_params *p, int dim)
{
    const tn_pool_attr *attr = prepare->query->attr;
    const tn_window *w = &p->window;
    float *counts = tn_arena_array(prepare->arena, (size_t)w->out[dim], sizeof *counts);
    if (!counts) {
        return tn_fail_memory(prepare->diag, prepare->query->name, (size_t)w->out[dim] * sizeof *counts);
    }
    tn_window padded = *w;
    if (attr->count_include_pad) {
        padded.in[dim] = w->pad_begin[dim] + w->in[dim] + w->pad_end[dim];
        padded.pad_begin[dim] = 0;
    }
    for (int64_t o = 0; o < w->out[dim]; o++) {
        int64_t start, k0, k1;
        tn_pool_taps(&padded, dim, o, &start, &k0, &k1);
        counts[o] = (float)TN_MAX(k1 - k0, 1);
    }
    p->counts[dim] = counts;
    return TN_OK;
}

// Reads and writes of a result pixel when rows are folded first, against one read for each tap.
static bool folds_first(const tn_window *w)
{
    const int64_t down = w->kernel[0] * w->kernel[1], stride = w->stride[2];
    return 2 * down * w->kernel[2] > 3 * (down * stride + stride + w->kernel[2]);
}

static tn_status prepare_window(tn_prepare *prepare, tn_pool_params *p)
{
    const tn_window *w = &p->window;
    int64_t start, k0, k1;
    for (int dim = 0; dim < 3 && !p->max; dim++) {
        TN_TRY(count_taps(prepare, p, dim));
    }
    p->inner_begin = p->inner_end = 0;
    for (int64_t o = 0; o < w->out[2]; o++) {
        tn_pool_taps(w, 2, o, &start, &k0, &k1);
        if (k0 == 0 && k1 == w->kernel[2]) {
            p->inner_begin = p->inner_end ? p->inner_begin : o;
            p->inner_end = o + 1;
        }
    }
    if (p->block > 1 && folds_first(w)) {
        padded_row(w, &p->row);
        p->thread_floats = p->row * p->block;
    } else if (p->block == 1) {
        padded_row(w, &p->row);
        const int64_t stride = w->stride[2];
        p->phase = stride == 1 ? 0 : TN_CEIL_DIV(p->row, stride) + 16;
        // A stride longer than the window skips columns: only the phases that taps read are made.
        p->thread_floats = (p->row + 16 + p->phase * TN_MIN(stride, p->row) + 15) / 16 * 16;
    }
    return TN_OK;
}

tn_status tn_pool_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_tensor *x = query->in[0];
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_pool_params), &memory));
    tn_pool_params *p = memory;
    p->max = is_max(query->op);
    p->images = x->shape.dims[0];
    p->channels = x->shape.dims[1];
    p->block = TN_MAX(tn_layout_block(x->layout), 1);
    p->blocks = TN_CEIL_DIV(p->channels, p->block);
    p->planes = p->images * p->blocks;
    p->pixels = tn_shape_span(&x->shape, 2, x->shape.rank);
    p->plane = is_global(query->op);
    if (!p->plane) {
        if (!window_of(query, &p->window)) {
            return tn_fail(prepare->diag, TN_INTERNAL, query->name, "%s: the window was not checked", query->op->name);
        }
        p->plane = covers(&p->window);
    }
    if (!p->plane) {
        TN_TRY(prepare_window(prepare, p));
    }
    prepare->scratch_bytes = sizeof(float) * (size_t)p->thread_floats * TN_MAX(query->threads, 1u);
    return TN_OK;
}

// ---- costs ----

// A tap of one vector takes about `tap` ns in the blocked layout; a plain row has its taps folded in two directions.
static double cost(const tn_query *query, double lanes, double tap)
{
    tn_window w;
    size_t in_bytes = 0, out_bytes = 0;
    tn_tensor_bytes(query->in[0], &in_bytes);
    tn_tensor_bytes(query->out[0], &out_bytes);
    const double memory = 200.0 + (double)(in_bytes + out_bytes) / 40.0;
    if (is_global(query->op) || !window_of(query, &w) || covers(&w)) {
        return memory + (double)in_bytes / (double)tn_tensor_unit(query->in[0]) / lanes * tap;
    }
    const double outputs = (double)out_bytes / (double)tn_tensor_unit(query->out[0]), columns = outputs * (double)w.stride[2];
    const double down = columns / lanes * (double)(w.kernel[0] * w.kernel[1]), across = outputs / lanes * (double)w.kernel[2];
    if (query->in[0]->layout != TN_LAYOUT_PLAIN) {
        const double taps = (double)(w.kernel[0] * w.kernel[1] * w.kernel[2]);
        return memory + tap * (folds_first(&w) ? down + across : outputs / lanes * taps);
    }
    return memory + 2.0 * tap * (down + across) + (w.stride[2] > 1 ? columns * 0.5 : 0);
}

double tn_pool_cost_portable(const tn_query *query) { return cost(query, 4.0, 1.5); }
double tn_pool_cost_avx2(const tn_query *query) { return cost(query, 8.0, 0.4); }
double tn_pool_cost_avx512(const tn_query *query) { return cost(query, 16.0, 0.4); }
double tn_pool_cost_avx512bf16(const tn_query *query) { return cost(query, 16.0, 0.4); }
