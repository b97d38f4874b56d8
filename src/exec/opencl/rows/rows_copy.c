// SPDX-License-Identifier: Apache-2.0
// Movement. A dense copy is a view; boxes that move whole channel blocks copy texels; all else is gathered by the boxes, between any
// forms of operands and result.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/move/op_copy.h"
#include "ops/move/op_reshape.h"

#include <stdio.h>
#include <string.h>

#define BOX 28
#define MAX_SOURCES 8

// Boxes with dims by falling result stride, none of size 1; false: the place in the result does not tell the place in the box.
static bool sorted(const tn_region *from, tn_region *to)
{
    int64_t reach = 0;
    *to = *from;
    to->rank = 0;
    for (int k = 0; k < from->rank; k++) {
        int at = to->rank;
        if (from->sizes[k] == 1) {
            continue;
        }
        if (from->dst_strides[k] <= 0) {
            return false;
        }
        for (; at > 0 && to->dst_strides[at - 1] < from->dst_strides[k]; at--) {
            to->sizes[at] = to->sizes[at - 1];
            to->src_strides[at] = to->src_strides[at - 1];
            to->dst_strides[at] = to->dst_strides[at - 1];
        }
        to->sizes[at] = from->sizes[k];
        to->src_strides[at] = from->src_strides[k];
        to->dst_strides[at] = from->dst_strides[k];
        to->rank++;
    }
    for (int k = to->rank - 1; k >= 0; k--) {
        if (to->dst_strides[k] <= reach) {
            return false;
        }
        reach += (to->sizes[k] - 1) * to->dst_strides[k];
    }
    return true;
}

static bool empty(const tn_region *region)
{
    for (int k = 0; k < region->rank; k++) {
        if (region->sizes[k] == 0) {
            return true;
        }
    }
    return false;
}

static bool match_copy(const tn_query *query, const char **why)
{
    const tn_copy_attr *attr = query->attr;
    tn_region region;
    if (!tn_cl_type(query->out[0]->dtype)) {
        *why = "elements of this type";
        return false;
    }
    for (int i = 0; i < attr->regions->count; i++) {
        if (!sorted(&attr->regions->regions[i], &region)) {
            *why = "a box that overlaps itself";
            return false;
        }
    }
    return true;
}

// ---- views ----

static bool dense(const tn_regions *regions, int64_t count)
{
    tn_region r;
    if (regions->count != 1 || regions->regions[0].source != 0 || !sorted(&regions->regions[0], &r) || r.src_offset || r.dst_offset) {
        return false;
    }
    int64_t stride = count;
    for (int k = 0; k < r.rank; k++) {
        stride /= r.sizes[k];
        if (r.dst_strides[k] != stride || r.src_strides[k] != stride) {
            return false;
        }
    }
    return stride == 1;
}

// ---- whole channel blocks ----

typedef struct block_move {
    int source;
    int64_t from, to, count;      // channels
} block_move;

// One box as a range of channels: sizes [n, channels * pixels] with the strides that belong to both tensors.
static bool block_of(const tn_region *region, tn_cl_value *const *in, const int64_t y[4], block_move *move)
{
    tn_region r;
    int64_t x[4];
    if (region->source < 0 || !tn_cl_grid_dims(&in[region->source]->shape, x) || !sorted(region, &r)) {
        return false;
    }
    const int64_t pixels = y[2] * y[3];
    int64_t run = 1, n = 1;
    int k = r.rank - 1;
    for (; k >= 0 && r.src_strides[k] == run && r.dst_strides[k] == run; k--) {
        run *= r.sizes[k];
    }
    if (k == 0 && r.src_strides[0] == x[1] * pixels && r.dst_strides[0] == y[1] * pixels) {
        n = r.sizes[0];
        k = -1;
    }
    if (k == -1 && n == 1 && y[0] > 1 && run == y[0] * y[1] * pixels) {
        n = y[0];
        run /= n;
    }
    if (k != -1 || n != y[0] || x[0] != n || x[2] != y[2] || x[3] != y[3] || run % pixels || r.src_offset % pixels || r.dst_offset % pixels) {
        return false;
    }
    *move = (block_move){r.source, r.src_offset / pixels, r.dst_offset / pixels, run / pixels};
    const bool ends = move->from + move->count == x[1] && move->to + move->count == y[1];
    return move->from % 4 == 0 && move->to % 4 == 0 && (move->count % 4 == 0 || ends);
}

static bool blocks_of(const tn_regions *regions, tn_cl_value *const *in, const int64_t y[4], block_move *moves)
{
    int64_t next = 0;
    for (int i = 0; i < regions->count; i++) {
        if (regions->regions[i].source < 0 || !block_of(&regions->regions[i], in, y, &moves[i]) || moves[i].to != next) {
            return false;
        }
        next += moves[i].count;
    }
    return next == y[1];
}

static void emit_blocks(tn_cl_build *b, tn_cl_value *const *in, tn_cl_value *out, const int64_t y[4], const block_move *moves, int n)
{
    tn_cl_mem *to = out->cells ? out->cells : tn_cl_new_grid(b, out);
    for (int i = 0; i < n && to; i++) {
        tn_cl_mem *from = tn_cl_grid(b, in[moves[i].source]);
        if (from && from->of && in[moves[i].source]->whole == out) {
            continue;         // it was made in its place
        }
        tn_cl_begin(b, "copy_blocks");
        tn_cl_in_grid(b, "X", from);
        tn_cl_out_grid(b, "Y", to);
        tn_cl_int(b, "w", y[3]);
        tn_cl_int(b, "x_block", moves[i].from / 4);
        tn_cl_int(b, "y_block", moves[i].to / 4);
        tn_cl_end(b, (size_t)y[3], (size_t)TN_CEIL_DIV(moves[i].count, 4), (size_t)(y[0] * y[2]));
    }
}

// ---- boxes ----

static void write_box(int32_t *t, const tn_region *r, int source)
{
    t[0] = source;
    t[1] = r->rank;
    t[2] = (int32_t)r->src_offset;
    t[3] = (int32_t)r->dst_offset;
    for (int k = 0; k < r->rank; k++) {
        t[4 + 3 * k] = (int32_t)r->sizes[k];
        t[5 + 3 * k] = (int32_t)r->src_strides[k];
        t[6 + 3 * k] = (int32_t)r->dst_strides[k];
    }
}

// As many boxes, from `first` on, as read at most MAX_SOURCES operands; the operands get numbers in the order they come.
static int take_boxes(const tn_regions *regions, int first, int32_t *table, int *sources, int *n_sources, int *n_boxes)
{
    *n_sources = *n_boxes = 0;
    int i = first;
    for (; i < regions->count; i++) {
        tn_region r;
        int number = -1;
        if (empty(&regions->regions[i]) || !sorted(&regions->regions[i], &r)) {
            continue;
        }
        if (r.source >= 0) {
            for (number = 0; number < *n_sources && sources[number] != r.source;) {
                number++;
            }
            if (number == MAX_SOURCES) {
                break;
            }
            sources[number] = r.source;
            *n_sources = TN_MAX(*n_sources, number + 1);
        }
        write_box(table + BOX * (*n_boxes)++, &r, number);
    }
    return i;
}

static const char *element_type(tn_dtype dtype) { return dtype == TN_F32 ? "float" : tn_cl_bits_type(dtype); }

static void sources_args(tn_cl_build *b, tn_cl_value *const *in, const int *sources, int n, const char *type)
{
    static const char *const plain[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"};
    static const char *const grid[] = {"A0", "A1", "A2", "A3", "A4", "A5", "A6", "A7"};
    char load[1024] = "0";
    for (int i = 0; i < n && b->status == TN_OK; i++) {
        const tn_cl_value *value = in[sources[i]];
        char one[192];
        int64_t d[4] = {1, 1, 1, 1};
        if (value->plain) {
            tn_cl_in(b, type, plain[i], value->plain);
            (void)snprintf(one, sizeof one, "a%d[i]", i);
        } else {
            (void)tn_cl_grid_dims(&value->shape, d);
            tn_cl_in_grid(b, grid[i], value->cells);
            (void)snprintf(one, sizeof one, "GRID_LANE(A%d_READ, i, %lld, %lld, %lld)", i, (long long)d[1], (long long)d[2], (long long)d[3]);
        }
        char rest[1024];
        memcpy(rest, load, sizeof rest);
        (void)snprintf(load, sizeof load, "(s) == %d ? %s : %.700s", i, one, rest);
    }
    tn_cl_code(b, "#define LOAD(s, i) (%s)\n", load);
}

static void emit_boxes(tn_cl_build *b, const tn_copy_attr *attr, tn_cl_value *const *in, tn_cl_value *out, bool grid)
{
    const tn_regions *regions = attr->regions;
    int32_t *table = tn_arena_array(&b->scratch, (size_t)regions->count + 1, BOX * sizeof *table);
    const char *type = element_type(out->dtype);
    int64_t y[4] = {1, 1, 1, 1};
    int sources[MAX_SOURCES], n_sources, n_boxes;
    if (!table) {
        b->status = tn_fail_memory(b->diag, b->node->name, BOX * sizeof *table);
        return;
    }
    tn_cl_mem *to = grid ? tn_cl_new_grid(b, out) : tn_cl_new_plain(b, out);
    tn_cl_mem *fill = tn_cl_upload(b, regions->fill, sizeof regions->fill);
    for (int first = 0; first < regions->count;) {
        first = take_boxes(regions, first, table, sources, &n_sources, &n_boxes);
        tn_cl_mem *t = tn_cl_upload(b, table, (size_t)n_boxes * BOX * sizeof *table);
        for (int i = 0; i < n_sources; i++) {
            (void)(in[sources[i]]->cells ? in[sources[i]]->cells : tn_cl_plain(b, in[sources[i]]));
        }
        tn_cl_begin(b, "copy");
        sources_args(b, in, sources, n_sources, type);
        tn_cl_in(b, "int", "t", t);
        tn_cl_in(b, type, "fill", fill);
        tn_cl_int(b, "boxes", n_boxes);
        tn_cl_define(b, "ELEMENT", "%s", type);
        if (grid) {
            (void)tn_cl_grid_dims(&out->shape, y);
            tn_cl_out_grid(b, "Y", to);
            tn_cl_int(b, "channels", y[1]);
            tn_cl_int(b, "oh", y[2]);
            tn_cl_int(b, "ow", y[3]);
            tn_cl_define(b, "GRID_OUT", "1");
            tn_cl_end(b, (size_t)y[3], (size_t)TN_CEIL_DIV(y[1], 4), (size_t)(y[0] * y[2]));
        } else {
            tn_cl_out(b, type, "y", to);
            tn_cl_end(b, (size_t)tn_cl_count(out), 1, 1);
        }
    }
}

// A grid for the result: its readers want one, and it can be written in one go.
static bool grid_result(tn_cl_build *b, const tn_regions *regions, tn_cl_value *const *in, const tn_cl_value *out)
{
    const tn_tensor tensor = {.dtype = out->dtype, .shape = out->shape};
    return tn_cl_griddable(&tensor) && regions->source_count <= MAX_SOURCES && in && tn_cl_wants_grid(b, out);
}

// Every source is a grid already, or has its place in the result's.
static bool all_cells(const tn_regions *regions, tn_cl_value *const *in, const tn_cl_value *out)
{
    for (int i = 0; i < regions->count; i++) {
        const int source = regions->regions[i].source;
        if (source < 0 || (!in[source]->cells && in[source]->whole != out)) {
            return out->cells != NULL;
        }
    }
    return true;
}

// ---- results made in their place ----

// Whether the node may write beside what it reads: one kernel must not read and write the same image.
static bool reads_neighbour(tn_cl_build *b, const tn_node *node, const tn_cl_value *whole)
{
    for (int i = 0; i < node->n_in && !b->buffers; i++) {
        const tn_cl_value *value = tn_cl_value_of(b, node->in[i]);
        if (value && (value->whole == whole || (value->value->producer && value->value->producer->op == &tn_op_copy))) {
            return true;
        }
    }
    return false;
}

static void plan_concat(tn_cl_build *b, const tn_node *node)
{
    const tn_copy_attr *attr = node->attr;
    tn_cl_value *in[TN_MAX_IN], *out = tn_cl_value_of(b, node->out[0]);
    block_move moves[TN_MAX_REGIONS];
    int64_t y[4];
    for (int i = 0; i < node->n_in; i++) {
        in[i] = tn_cl_value_of(b, node->in[i]);
    }
    if (out->dtype != TN_F32 || out->whole || attr->regions->count < 2 || !tn_cl_grid_dims(&out->shape, y) ||
        !blocks_of(attr->regions, in, y, moves)) {
        return;
    }
    bool some = false;
    for (int i = 0; i < attr->regions->count; i++) {
        tn_cl_value *value = in[moves[i].source];
        const tn_node *producer = value->value->producer;
        const bool grid = producer && tn_cl_row_takes_grid(producer->op);
        if (grid && moves[i].from == 0 && !value->whole && value->value->n_uses >= 1 && moves[i].count == value->shape.dims[1] &&
            !reads_neighbour(b, producer, out)) {
            value->whole = out;
            value->block = moves[i].to / 4;
            some = true;
        }
    }
    if (some) {
        (void)tn_cl_new_grid(b, out);
    }
}

void tn_cl_plan_views(tn_cl_build *b)
{
    for (const tn_node *node = b->flow->graph->first; node && b->status == TN_OK; node = node->next) {
        if (node->op == &tn_op_copy) {
            plan_concat(b, node);
        }
    }
}

static void emit_copy(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_copy_attr *attr = query->attr;
    int64_t y[4];
    block_move moves[TN_MAX_REGIONS];
    if (dense(attr->regions, tn_cl_count(out[0])) && tn_cl_count(in[0]) == tn_cl_count(out[0])) {
        if (in[0]->cells && tn_shape_equal(&in[0]->shape, &out[0]->shape)) {
            out[0]->cells = in[0]->cells;
        } else {
            tn_cl_alias(b, out[0], in[0]);
        }
    } else if (out[0]->dtype == TN_F32 && tn_cl_grid_dims(&out[0]->shape, y) && all_cells(attr->regions, in, out[0]) &&
               blocks_of(attr->regions, in, y, moves)) {
        emit_blocks(b, in, out[0], y, moves, attr->regions->count);
    } else {
        emit_boxes(b, attr, in, out[0], grid_result(b, attr->regions, in, out[0]));
    }
}

static const tn_cl_row rows[] = {{.op = &tn_op_copy, .match = match_copy, .emit = emit_copy}};

TN_CL_EXPORT(copy, rows);
