// SPDX-License-Identifier: Apache-2.0
// Predicate, tables and costs of resizing (resize.h). The tables are those of the operator, turned to f32 and to one run per tap.
// Ownership: none. Threads: any.
#include "kernels/resize/resize.h"

#include "base/macros.h"
#include "kernels/simd/stream.h"
#include "ops/vision/op_resize.h"

#include <math.h>

#define MAX_TAPS 64
#define MAX_SIDE (1 << 24)

static bool known(const tn_query *query, int operand)
{
    const tn_tensor *tensor = operand < query->n_in ? query->in[operand] : NULL;
    return !tensor || tensor->data || tn_tensor_count(tensor) == 0;
}

bool tn_resize_match(const tn_query *query, const char **why)
{
    const tn_resize_attr *attr = query->attr;
    const tn_tensor *x = query->in[0];
    tn_resize_table tables[TN_MAX_RANK];
    if (!known(query, 2) || !known(query, 3)) {
        *why = "scales or sizes that are not constant";
        return false;
    }
    if (attr->coord == TN_COORD_TF_CROP || tn_tensor_count(x) == 0 || tn_tensor_count(query->out[0]) == 0) {
        *why = "a region of interest, or no elements";
        return false;
    }
    if (tn_resize_tables(attr, query->in, query->n_in, &query->out[0]->shape, tables)) {
        *why = "scales or sizes do not fit";
        return false;
    }
    const int first = TN_MAX(x->layout == TN_LAYOUT_PLAIN ? 0 : 2, x->shape.rank - 2);
    for (int d = 0; d < x->shape.rank; d++) {
        const tn_resize_table *t = &tables[d];
        if (t->taps && (d < first || t->taps > MAX_TAPS || t->length > MAX_SIDE || t->resized > MAX_SIDE)) {
            *why = "more than the last two dims are resized, or by too wide a filter";
            return false;
        }
    }
    return true;
}

// Whether vectors of so many results read that many neighbours of a row for each tap, or `span` of them: loads and permutations serve then
// instead of a gather.
static bool in_windows(const tn_resize_axis *axis, int lanes, int span)
{
    for (int64_t at = 0; at < axis->out * axis->taps && axis->in >= span; at++) {
        const int64_t i = at % axis->out, reach = axis->index[at] - axis->index[at - i % lanes];
        if (reach < 0 || reach >= span) {
            return false;
        }
    }
    return axis->in >= span;
}

// Whether all vectors but the first and the last are alike, as where an image grows 2, 4 or 8 times, and how far apart they begin then.
static int32_t step_of(const tn_resize_axis *axis, int lanes)
{
    const int64_t vectors = TN_CEIL_DIV(axis->out, lanes), taps = axis->taps, each = taps * lanes;
    const int32_t step = vectors > 3 ? axis->first[2 * taps] - axis->first[taps] : 0;
    bool alike = true;
    for (int64_t e = 2 * taps; e < (vectors - 1) * taps; e++) {
        alike &= axis->first[e] - axis->first[e - taps] == step;
    }
    for (int64_t i = 2 * each; i < (vectors - 1) * each; i++) {
        alike &= axis->lane[i] == axis->lane[i - each] && axis->lane_weight[i] == axis->lane_weight[i - each];
    }
    return alike ? step : 0;
}

static tn_status make_windows(tn_prepare *prepare, tn_resize_axis *axis, int lanes, int span)
{
    const int64_t entries = TN_CEIL_DIV(axis->out, lanes) * axis->taps;
    int32_t *first = tn_arena_array(prepare->arena, (size_t)entries, sizeof *first);
    int32_t *lane = tn_arena_array(prepare->arena, (size_t)(entries * lanes), sizeof *lane);
    float *weight = tn_arena_array(prepare->arena, (size_t)(entries * lanes), sizeof *weight);
    if (!first || !lane || !weight) {
        return tn_fail_memory(prepare->diag, prepare->query->name, (size_t)(entries * lanes) * sizeof *weight);
    }
    for (int64_t e = 0; e < entries; e++) {
        const int64_t begin = e / axis->taps * lanes, from = e % axis->taps * axis->out;
        first[e] = TN_MIN(axis->index[from + begin], (int32_t)(axis->in - span));
        for (int i = 0; i < lanes; i++) {
            const bool is = begin + i < axis->out;
            lane[e * lanes + i] = is ? axis->index[from + begin + i] - first[e] : 0;
            weight[e * lanes + i] = is ? axis->weight[from + begin + i] : 0.0f;
        }
    }
    axis->first = first;
    axis->lane = lane;
    axis->lane_weight = weight;
    axis->two = span > lanes;
    axis->step = axis->two ? 0 : step_of(axis, lanes);
    return TN_OK;
}

// Turns the table of axis d (-1: there is none) to one run per tap.
static tn_status make_axis(tn_prepare *prepare, const tn_resize_table *table, int d, tn_resize_axis *axis)
{
    const tn_query *query = prepare->query;
    *axis = (tn_resize_axis){.in = d < 0 ? 1 : table->length, .out = d < 0 ? 1 : table->resized, .taps = d < 0 ? 0 : table->taps};
    const size_t entries = (size_t)(axis->out * axis->taps);
    if (!entries) {
        return TN_OK;
    }
    tn_resize_table filled = *table;
    filled.index = tn_arena_array(prepare->arena, entries, sizeof *filled.index);
    filled.weight = tn_arena_array(prepare->arena, entries, sizeof *filled.weight);
    int32_t *index = tn_arena_array(prepare->arena, entries, sizeof *index);
    float *weight = tn_arena_array(prepare->arena, entries, sizeof *weight);
    if (!filled.index || !filled.weight || !index || !weight) {
        return tn_fail_memory(prepare->diag, query->name, entries * sizeof *filled.weight);
    }
    tn_resize_fill(query->attr, query->in, query->n_in, d, &filled);
    for (int64_t i = 0; i < axis->out; i++) {
        for (int64_t k = 0; k < axis->taps; k++) {
            index[k * axis->out + i] = (int32_t)filled.index[i * axis->taps + k];
            weight[k * axis->out + i] = (float)filled.weight[i * axis->taps + k];
        }
    }
    axis->index = index;
    axis->weight = weight;
    return TN_OK;
}

tn_status tn_resize_prepare(tn_prepare *prepare, int lanes)
{
    const tn_query *query = prepare->query;
    const tn_resize_attr *attr = query->attr;
    const tn_tensor *x = query->in[0];
    const int rank = x->shape.rank, block = tn_layout_block(x->layout);
    tn_resize_table tables[TN_MAX_RANK];
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_resize_params), &memory));
    tn_resize_params *p = memory;
    const char *wrong = tn_resize_tables(attr, query->in, query->n_in, &query->out[0]->shape, tables);
    if (wrong) {
        return tn_fail(prepare->diag, TN_INTERNAL, query->name, "resize: %s", wrong);
    }
    // A blocked tensor of rank 3 has no height.
    const int w = rank - 1, h = rank - 2 >= (block ? 2 : 0) ? rank - 2 : -1;
    TN_TRY(make_axis(prepare, w >= 0 ? &tables[w] : NULL, w, &p->width));
    TN_TRY(make_axis(prepare, h >= 0 ? &tables[h] : NULL, h, &p->height));
    const int span = in_windows(&p->width, lanes, lanes) ? lanes : 2 * lanes;
    if (!block && p->width.taps && in_windows(&p->width, lanes, span)) {
        TN_TRY(make_windows(prepare, &p->width, lanes, span));
    }
    p->block = TN_MAX(block, 1);
    p->nearest = attr->mode == TN_RESIZE_NEAREST;
    p->stream = tn_stream_result(query);
    p->planes = tn_tensor_count(x) / (p->width.in * p->height.in);
    if (block) {
        p->planes = p->planes / x->shape.dims[1] * TN_CEIL_DIV(x->shape.dims[1], block);
    }
    p->kept = (p->width.out * p->block + 15) / 16 * 16;
    p->thread_floats = p->width.taps ? p->kept * TN_MAX(p->height.taps, 1) : 0;
    prepare->scratch_bytes = sizeof(float) * (size_t)p->thread_floats * TN_MAX(query->threads, 1u);
    return TN_OK;
}

static double cost(const tn_query *query, double element, double lanes)
{
    size_t bytes = 0;
    tn_tensor_bytes(query->out[0], &bytes);
    const double floats = (double)bytes / 4.0;
    const bool plain = query->in[0]->layout == TN_LAYOUT_PLAIN;
    const tn_shape *from = &query->in[0]->shape, *to = &query->out[0]->shape;
    const int h = from->rank - 2;
    // An input row is widened once for all result rows that need it.
    const double rows = h >= (plain ? 0 : 2) && to->dims[h] > 0 ? fmin(1.0, (double)from->dims[h] / (double)to->dims[h]) : 1.0;
    return 500.0 + floats * rows * (plain ? element : 1.0 / lanes) + floats / lanes + (double)bytes / 40.0;
}

double tn_resize_cost_portable(const tn_query *query) { return cost(query, 1.0, 2.0); }
double tn_resize_cost_avx2(const tn_query *query) { return cost(query, 0.5, 8.0); }
double tn_resize_cost_avx512(const tn_query *query) { return cost(query, 0.4, 16.0); }
