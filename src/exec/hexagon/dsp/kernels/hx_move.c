// SPDX-License-Identifier: Apache-2.0
// Movement: concat by planes or by dense pieces, copy of strided regions, resize nearest and linear.
// Ownership: copies of tables in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/vec/hx_flat.h"
#include "exec/hexagon/dsp/vec/hx_requant.h"
#include "exec/hexagon/wire/hex_control.h"

// ---- concat ----

typedef struct concat_run {
    const tn_hx_graph *graph;
    const tn_hx_node *node;
} concat_run;

static uint32_t check_concat(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *y = tn_hx_out(graph, node);
    const int32_t axis = node->attr.axis;
    int64_t length = 0;
    if (axis >= y->rank) {
        return TN_HEX_WHY_ATTR;
    }
    for (uint32_t k = 0; k < node->n_in; k++) {
        const tn_hx_value *x = tn_hx_in(graph, node, k);
        if (!x || x->dtype != y->dtype) {
            return x ? TN_HEX_WHY_DTYPE : TN_HEX_WHY_ARITY;
        }
        if (x->rank != y->rank) {
            return TN_HEX_WHY_SHAPE;
        }
        for (int i = 0; i < y->rank; i++) {
            if (i != axis && x->dims[i] != y->dims[i]) {
                return TN_HEX_WHY_SHAPE;
            }
        }
        if (x->zero != y->zero) {
            return TN_HEX_WHY_ATTR;
        }
        length += x->dims[axis];
    }
    return length == y->dims[axis] ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

static int layout_concat(const tn_hx_graph *graph, const tn_hx_node *node)
{
    int any_quad = 0;
    for (uint32_t k = 0; k < node->n_in; k++) {
        const tn_hx_value *x = tn_hx_in(graph, node, k);
        any_quad |= x->layout == TN_HX_QUAD;
        if (!tn_hx_is_byte(x) || x->rank != 4 || node->attr.axis != 1 || (k + 1 < node->n_in && x->dims[1] % 4)) {
            return TN_HX_PLAIN;
        }
    }
    return any_quad ? TN_HX_QUAD : TN_HX_PLAIN;
}

static void concat_part(void *context, uint32_t part)
{
    const concat_run *run = context;
    const tn_hx_value *y = tn_hx_out(run->graph, run->node), *x = tn_hx_in(run->graph, run->node, part);
    const int32_t axis = run->node->attr.axis;
    int32_t before = 0;
    for (uint32_t k = 0; k < part; k++) {
        before += tn_hx_in(run->graph, run->node, k)->dims[axis];
    }
    if (y->layout == TN_HX_QUAD) {
        for (int32_t i = 0; i < x->images; i++) {
            memcpy(tn_hx_plane(y, i, before / 4) - y->lead, tn_hx_plane(x, i, 0) - x->lead, (uint32_t)x->planes * x->plane_bytes);
        }
        return;
    }
    uint32_t inner = y->size, outer = 1;
    for (int i = 0; i < y->rank; i++) {
        outer *= i < axis ? (uint32_t)y->dims[i] : 1;
        inner *= i > axis ? (uint32_t)y->dims[i] : 1;
    }
    const uint32_t bytes = (uint32_t)x->dims[axis] * inner, row = (uint32_t)y->dims[axis] * inner;
    for (uint32_t o = 0; o < outer; o++) {
        memcpy(y->data + o * row + (uint32_t)before * inner, x->data + o * bytes, bytes);
    }
}

static void run_concat(tn_hx_graph *graph, tn_hx_node *node)
{
    concat_run r = {graph, node};
    tn_hx_parallel(concat_part, &r, node->n_in);
}

const tn_hx_op tn_hx_op_concat = {
    .index = TN_HEX_OP_CONCAT, .min_in = 1, .max_in = TN_HEX_MAX_OPERANDS, .check = check_concat, .layout = layout_concat,
    .run = run_concat
};

// ---- copy ----

// A region's words: rank, x offset, y offset, sizes, strides in x, strides in y.
static uint32_t region_words(uint32_t rank) { return 3 + 3 * rank; }

// Whether all elements a region touches exist on one side. strides: those of that side.
static int region_fits(uint32_t offset, const uint32_t *sizes, const uint32_t *strides, uint32_t rank, uint32_t count)
{
    int64_t low = offset, high = offset;
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t reach = ((int64_t)sizes[i] - 1) * (int32_t)strides[i];
        low += reach < 0 ? reach : 0;
        high += reach > 0 ? reach : 0;
    }
    return low >= 0 && high < count;
}

static uint32_t check_copy(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const uint32_t *words = node->attr.regions;
    uint32_t left = node->attr.n_regions;
    uint64_t total = 0;
    if (x->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    while (left) {
        const uint32_t rank = words[0];
        if (rank == 0 || rank > TN_HEX_MAX_RANK || left < region_words(rank)) {
            return TN_HEX_WHY_ATTR;
        }
        const uint32_t *sizes = words + 3;
        uint64_t elements = 1;
        for (uint32_t i = 0; i < rank; i++) {
            if (sizes[i] == 0 || sizes[i] > (1u << 28) || elements * sizes[i] > y->count) {
                return TN_HEX_WHY_ATTR;
            }
            elements *= sizes[i];
        }
        total += elements;
        if (!region_fits(words[1], sizes, sizes + rank, rank, x->count) || !region_fits(words[2], sizes, sizes + 2 * rank, rank, y->count)) {
            return TN_HEX_WHY_ATTR;
        }
        words += region_words(rank);
        left -= region_words(rank);
    }
    // More would be written than there is: nobody means that, and it bounds the work.
    return total <= y->count ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static int layout_plain(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_PLAIN;
}

static void copy_line(uint8_t *to, const uint8_t *from, uint32_t n, int32_t to_step, int32_t from_step, uint32_t size)
{
    if (to_step == 1 && from_step == 1) {
        memcpy(to, from, n * size);
    } else if (size == 1) {
        for (uint32_t i = 0; i < n; i++, to += to_step, from += from_step) {
            *to = *from;
        }
    } else {
        for (uint32_t i = 0; i < n; i++, to += to_step * (int32_t)size, from += from_step * (int32_t)size) {
            memcpy(to, from, size);
        }
    }
}

static void copy_region(const tn_hx_value *x, const tn_hx_value *y, const uint32_t *words)
{
    const uint32_t rank = words[0], *sizes = words + 3, *from_steps = sizes + rank, *to_steps = sizes + 2 * rank;
    const uint32_t last = rank - 1;
    uint32_t index[TN_HEX_MAX_RANK] = {0};
    int64_t from = words[1], to = words[2];
    for (;;) {
        copy_line(y->data + to * y->size, x->data + from * x->size, sizes[last], (int32_t)to_steps[last], (int32_t)from_steps[last], y->size);
        uint32_t i = last;
        for (; i > 0; i--) {
            from += (int32_t)from_steps[i - 1];
            to += (int32_t)to_steps[i - 1];
            if (++index[i - 1] < sizes[i - 1]) {
                break;
            }
            from -= (int64_t)(int32_t)from_steps[i - 1] * sizes[i - 1];
            to -= (int64_t)(int32_t)to_steps[i - 1] * sizes[i - 1];
            index[i - 1] = 0;
        }
        if (i == 0) {
            return;
        }
    }
}

static void run_copy(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const uint32_t *words = node->attr.regions;
    memset(y->data, tn_hx_is_byte(y) ? y->zero : 0, y->count * y->size);
    for (uint32_t left = node->attr.n_regions; left; left -= region_words(words[0]), words += region_words(words[0])) {
        copy_region(x, y, words);
    }
}

const tn_hx_op tn_hx_op_copy = {
    .index = TN_HEX_OP_COPY, .min_in = 1, .max_in = 1, .check = check_copy, .layout = layout_plain, .run = run_copy
};

// ---- resize ----

typedef struct resize_plan {
    int32_t *rows, *columns;     // nearest: [n]; linear: [3][n]: low, high, weight of high
    int32_t *buffer;             // linear: per tile, 4 lines of pixels
    uint32_t buffer_words;
    tn_hx_requant factor;        // linear
    int32_t mode;
} resize_plan;

typedef struct resize_run {
    const resize_plan *plan;
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    uint8_t *scratch;
} resize_run;

enum { WEIGHT_ONE = 2048, WEIGHT_BITS = 11 };

static uint32_t check_resize(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    if (!tn_hx_is_byte(x) || x->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    if (x->rank != 4 || y->rank != 4 || x->dims[0] != y->dims[0] || x->dims[1] != y->dims[1]) {
        return TN_HEX_WHY_SHAPE;
    }
    for (uint32_t k = 1; k <= 2; k++) {
        const tn_hx_value *table = tn_hx_in(graph, node, k);
        if (!table || table->origin != TN_HX_CONST) {
            return TN_HEX_WHY_CONST;
        }
        if (table->dtype != TN_HEX_S32) {
            return TN_HEX_WHY_DTYPE;
        }
        if (table->count != (uint32_t)y->dims[1 + k] * (node->attr.mode ? 3 : 1)) {
            return TN_HEX_WHY_SHAPE;
        }
    }
    const int fits = node->attr.mode ? node->attr.n_multipliers == 1 : x->zero == y->zero;
    return fits ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static int layout_resize(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_QUAD;
}

// Copies a table out of the host's memory, one kind of entry after the other with room for whole vectors, and checks it.
static int32_t *copy_table(tn_hx_graph *graph, const tn_hx_value *table, int32_t n, int32_t length, int linear, uint32_t *why)
{
    const int32_t kinds = linear ? 3 : 1, room = (n + 31) & ~31;
    int32_t *to = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)(kinds * room));
    *why = to ? TN_HEX_WHY_NONE : TN_HEX_WHY_LIMIT;
    for (int32_t i = 0; to && i < n; i++) {
        for (int32_t k = 0; k < kinds; k++) {
            const int32_t v = ((const int32_t *)table->data)[i * kinds + k];
            if (v < 0 || (k < 2 ? v >= length : v > WEIGHT_ONE)) {
                *why = TN_HEX_WHY_ATTR;
            }
            to[k * room + i] = v;
        }
    }
    return to;
}

static uint32_t prepare_resize(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    resize_plan *plan = node->plan = tn_hx_pool_take(&graph->pool, sizeof *plan);
    uint32_t why = plan ? TN_HEX_WHY_NONE : TN_HEX_WHY_LIMIT;
    if (!why) {
        plan->rows = copy_table(graph, tn_hx_in(graph, node, 1), y->height, x->height, node->attr.mode, &why);
    }
    if (!why) {
        plan->columns = copy_table(graph, tn_hx_in(graph, node, 2), y->width, x->width, node->attr.mode, &why);
    }
    if (!why && node->attr.mode) {
        const tn_hx_attr *a = &node->attr;
        tn_hx_requant_set(&plan->factor, a->rounding, a->multipliers[0], a->rounding == TN_HEX_FIXED_Q31 ? (int32_t)a->shifts[0] : 0,
                          UINT64_C(255) << (2 * WEIGHT_BITS));
        plan->mode = tn_hx_requant_mode(&plan->factor, 1, a->rounding, 0);
        plan->buffer_words = 4 * (uint32_t)((y->width + 31) & ~31);
        tn_hx_scratch(graph, 4 * plan->buffer_words * (uint32_t)(y->images * y->planes));
    }
    return why;
}

static void nearest_plane(const resize_run *run, uint32_t plane)
{
    const tn_hx_value *x = run->x, *y = run->y;
    const uint32_t *from = (const uint32_t *)tn_hx_plane(x, 0, (int32_t)plane);
    uint32_t *to = (uint32_t *)tn_hx_plane(y, 0, (int32_t)plane);
    const int32_t *columns = run->plan->columns;
    for (int32_t i = 0; i < y->height; i++, to += y->pitch) {
        const uint32_t *row = from + run->plan->rows[i] * x->pitch;
        if (i > 0 && run->plan->rows[i] == run->plan->rows[i - 1]) {
            memcpy(to, to - y->pitch, 4 * (uint32_t)y->width);
            continue;
        }
        for (int32_t k = 0; k < y->width; k++) {
            to[k] = row[columns[k]];
        }
    }
}

// A line between two pixels each, with 11 bits of fraction: words of one channel.
static inline HVX_Vector between(HVX_Vector low, HVX_Vector high, HVX_Vector weight)
{
    // a * 2048 + (b - a) * w; the weight is the odd half of its word, as vmpyio wants it.
    return Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(low, WEIGHT_BITS), Q6_Vw_vmpyio_VwVh(Q6_Vw_vsub_VwVw(high, low), weight));
}

static void linear_row(const resize_run *run, const uint32_t *top, const uint32_t *bottom, int32_t weight, int32_t *buffer, uint8_t *to)
{
    const int32_t width = run->y->width, room = (width + 31) & ~31;
    const int32_t *low = run->plan->columns, *high = low + room, *weights = high + room;
    int32_t *const lines[4] = {buffer, buffer + room, buffer + 2 * room, buffer + 3 * room};
    for (int32_t k = 0; k < width; k++) {
        lines[0][k] = (int32_t)top[low[k]];
        lines[1][k] = (int32_t)top[high[k]];
        lines[2][k] = (int32_t)bottom[low[k]];
        lines[3][k] = (int32_t)bottom[high[k]];
    }
    const HVX_Vector down = Q6_V_vsplat_R(weight << 16), origin = Q6_V_vsplat_R(run->x->zero << (2 * WEIGHT_BITS));
    const HVX_Vector zero = Q6_V_vsplat_R(run->y->zero * 0x00010001);
    const HVX_Vector least = tn_hx_splat_byte(run->attr->low), most = tn_hx_splat_byte(run->attr->high);
    for (int32_t k = 0; k < width; k += 32) {
        HVX_Vector a[4], b[4], c[4], d[4], v[4];
        const HVX_Vector across = Q6_Vw_vasl_VwR(TN_HX_CV(weights + k), 16);
        tn_hx_widen(TN_HX_CV(lines[0] + k), a);
        tn_hx_widen(TN_HX_CV(lines[1] + k), b);
        tn_hx_widen(TN_HX_CV(lines[2] + k), c);
        tn_hx_widen(TN_HX_CV(lines[3] + k), d);
        for (int i = 0; i < 4; i++) {
            const HVX_Vector sum = between(between(a[i], b[i], across), between(c[i], d[i], across), down);
            v[i] = tn_hx_requant_one(Q6_Vw_vsub_VwVw(sum, origin), &run->plan->factor, run->plan->mode);
        }
        TN_HX_VU(to + 4 * k) = tn_hx_pack(v[0], v[1], v[2], v[3], zero, least, most);
    }
}

static void resize_tile(void *context, uint32_t plane)
{
    const resize_run *run = context;
    const tn_hx_value *x = run->x, *y = run->y;
    if (!run->attr->mode) {
        nearest_plane(run, plane);
        return;
    }
    const int32_t *rows = run->plan->rows, room = (y->height + 31) & ~31;
    const uint32_t *from = (const uint32_t *)tn_hx_plane(x, 0, (int32_t)plane);
    uint8_t *to = tn_hx_plane(y, 0, (int32_t)plane);
    int32_t *buffer = (int32_t *)run->scratch + plane * run->plan->buffer_words;
    for (int32_t i = 0; i < y->height; i++, to += 4 * y->pitch) {
        linear_row(run, from + rows[i] * x->pitch, from + rows[room + i] * x->pitch, rows[2 * room + i], buffer, to);
    }
}

static void run_resize(tn_hx_graph *graph, tn_hx_node *node)
{
    resize_run r = {.plan = node->plan, .x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr,
                    .scratch = graph->scratch};
    tn_hx_parallel(resize_tile, &r, (uint32_t)(r.y->images * r.y->planes));
    tn_hx_fill_padding(r.y);
}

const tn_hx_op tn_hx_op_resize = {
    .index = TN_HEX_OP_RESIZE, .min_in = 3, .max_in = 3, .check = check_resize, .layout = layout_resize, .prepare = prepare_resize,
    .run = run_resize
};
