// SPDX-License-Identifier: Apache-2.0
// Movement and maxima of values of 16 bits that the byte kernels' layouts do not serve: max pooling and resizing, to the nearest neighbour and
// linear.
// Ownership: copies of tables in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/wide/hx_wide.h"

typedef struct move_run {
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    const int32_t *rows, *columns;
    tn_requant factor;           // of linear resizing
} move_run;

static uint32_t check_picture(const tn_hx_value *x, const tn_hx_value *y)
{
    if (!tn_hx_is_wide(x) || !tn_hx_is_wide(y)) {
        return TN_HEX_WHY_DTYPE;
    }
    return x->rank == 4 && y->rank == 4 && x->dims[0] == y->dims[0] && x->dims[1] == y->dims[1] ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

// ---- max pool ----

static uint32_t check_pool(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const tn_hx_attr *a = &node->attr;
    const uint32_t why = check_picture(x, y);
    if (why) {
        return why;
    }
    // A window that is all padding would have no maximum.
    for (int i = 0; i < 2; i++) {
        if (a->pads[i] >= a->kernel[i] || a->pads[2 + i] >= a->kernel[i]) {
            return TN_HEX_WHY_ATTR;
        }
    }
    return tn_hx_window_fits(a, x, y, a->kernel) ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

// One plane, row by row: the greatest of the rows of the window, then of its columns.
static void pool_tile(void *context, uint32_t plane)
{
    const move_run *run = context;
    const tn_hx_attr *a = run->attr;
    const int32_t height = run->x->dims[2], width = run->x->dims[3], oh = run->y->dims[2], ow = run->y->dims[3];
    const int16_t *x = (const int16_t *)run->x->data + plane * (uint32_t)(height * width);
    int16_t *y = (int16_t *)run->y->data + plane * (uint32_t)(oh * ow);
    for (int32_t r = 0; r < oh; r++) {
        for (int32_t q = 0; q < ow; q++) {
            int32_t most = INT16_MIN;
            for (int32_t i = 0; i < a->kernel[0]; i++) {
                const int32_t row = r * a->strides[0] - a->pads[0] + i * a->dilations[0];
                for (int32_t k = 0; k < a->kernel[1] && row >= 0 && row < height; k++) {
                    const int32_t column = q * a->strides[1] - a->pads[1] + k * a->dilations[1];
                    const int32_t v = column >= 0 && column < width ? x[row * width + column] : INT16_MIN;
                    most = v > most ? v : most;
                }
            }
            *y++ = (int16_t)tn_clamp_i32(most, a->low, a->high);
        }
    }
}

static void run_pool(tn_hx_graph *graph, tn_hx_node *node)
{
    move_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr};
    tn_hx_parallel(pool_tile, &r, (uint32_t)(r.x->dims[0] * r.x->dims[1]));
}

// ---- resize ----

static uint32_t check_resize(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const uint32_t why = check_picture(x, y);
    if (why) {
        return why;
    }
    for (uint32_t k = 1; k <= 2; k++) {
        const tn_hx_value *table = tn_hx_in(graph, node, k);
        if (!table || table->origin != TN_HX_CONST) {
            return TN_HEX_WHY_CONST;
        }
        if (table->dtype != TN_HEX_S32) {
            return TN_HEX_WHY_DTYPE;
        }
        const int linear = node->attr.mode;
        if (table->rank != (linear ? 2 : 1) || table->dims[0] != y->dims[1 + k] || (linear && table->dims[1] != 3)) {
            return TN_HEX_WHY_SHAPE;
        }
    }
    return node->attr.mode == 0 || node->attr.n_multipliers == 1 ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

// Indices and weights are read once: what is checked is what is used.
static uint32_t prepare_resize(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const uint32_t words = node->attr.mode ? 3 : 1, n[2] = {words * (uint32_t)y->dims[2], words * (uint32_t)y->dims[3]};
    int32_t *to = node->plan = tn_hx_pool_take(&graph->pool, 4 * (n[0] + n[1]));
    if (!to) {
        return TN_HEX_WHY_LIMIT;
    }
    for (uint32_t k = 0; k < 2; to += n[k++]) {
        memcpy(to, tn_hx_in(graph, node, 1 + k)->data, 4 * n[k]);
        for (uint32_t i = 0; i < n[k]; i++) {
            if (to[i] < 0 || (i % words < 2 ? to[i] >= x->dims[2 + k] : to[i] > TN_WIDE_WEIGHT)) {
                return TN_HEX_WHY_RANGE;
            }
        }
    }
    return TN_HEX_WHY_NONE;
}

static void resize_tile(void *context, uint32_t plane)
{
    const move_run *run = context;
    const int32_t height = run->x->dims[2], width = run->x->dims[3], oh = run->y->dims[2], ow = run->y->dims[3];
    const int16_t *x = (const int16_t *)run->x->data + plane * (uint32_t)(height * width);
    int16_t *y = (int16_t *)run->y->data + plane * (uint32_t)(oh * ow);
    for (int32_t r = 0; r < oh; r++) {
        const int16_t *row = x + run->rows[r] * width;
        for (int32_t q = 0; q < ow; q++) {
            *y++ = row[run->columns[q]];
        }
    }
}

static void linear_tile(void *context, uint32_t plane)
{
    const move_run *run = context;
    const int32_t height = run->x->dims[2], width = run->x->dims[3], oh = run->y->dims[2], ow = run->y->dims[3];
    const int16_t *x = (const int16_t *)run->x->data + plane * (uint32_t)(height * width);
    int16_t *y = (int16_t *)run->y->data + plane * (uint32_t)(oh * ow);
    for (int32_t r = 0; r < oh; r++) {
        const int32_t *row = run->rows + 3 * r, *column = run->columns;
        const int16_t *top = x + row[0] * width, *bottom = x + row[1] * width;
        for (int32_t q = 0; q < ow; q++, column += 3) {
            const int32_t above = tn_wide_across(top[column[0]], top[column[1]], column[2]);
            const int32_t below = tn_wide_across(bottom[column[0]], bottom[column[1]], column[2]);
            const int32_t v = tn_requant_apply(&run->factor, tn_wide_between(above, below, row[2]));
            *y++ = (int16_t)tn_clamp_i32(v, run->attr->low, run->attr->high);
        }
    }
}

static void run_resize(tn_hx_graph *graph, tn_hx_node *node)
{
    move_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .rows = node->plan};
    const tn_hx_attr *attr = r.attr = &node->attr;
    r.columns = r.rows + (attr->mode ? 3 : 1) * r.y->dims[2];
    if (attr->mode) {
        r.factor.rounding = attr->rounding;
        memcpy(&r.factor.scale, attr->multipliers, 4);
        r.factor.multiplier = (int32_t)attr->multipliers[0];
        r.factor.shift = attr->rounding == TN_HEX_FIXED_Q31 ? (int32_t)attr->shifts[0] : 0;
    }
    tn_hx_parallel(attr->mode ? linear_tile : resize_tile, &r, (uint32_t)(r.x->dims[0] * r.x->dims[1]));
}

const tn_hx_op tn_hx_op_wide_max_pool = {
    .index = TN_HEX_OP_WIDE_MAX_POOL, .min_in = 1, .max_in = 1, .check = check_pool, .layout = tn_hx_layout_plain, .run = run_pool
};
const tn_hx_op tn_hx_op_wide_resize = {
    .index = TN_HEX_OP_WIDE_RESIZE, .min_in = 3, .max_in = 3, .check = check_resize, .layout = tn_hx_layout_plain, .prepare = prepare_resize,
    .run = run_resize
};
