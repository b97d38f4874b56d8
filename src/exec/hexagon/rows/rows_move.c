// SPDX-License-Identifier: Apache-2.0
// Movement for the DSP: a copy of one source by its boxes; copies of several that are a concat along an axis, and any other over the
// sources laid end to end; resizing to the nearest neighbour by tables of source indices.
// Ownership: const data. Threads: any.
#include "base/macros.h"
#include "exec/hexagon/hex_encode.h"
#include "ops/move/op_copy.h"
#include "ops/move/op_reshape.h"
#include "ops/op_rows.h"
#include "ops/vision/op_resize.h"
#include "plan/work.h"

#include <string.h>

#define WORDS_PER_REGION (3 + 3 * TN_HEX_MAX_RANK)
#define LARGEST_SIDE 65536    // of a resized picture

static bool is_ours(const tn_tensor *tensor) { return tensor->dtype == TN_U8 || tensor->dtype == TN_I8 || tensor->dtype == TN_I16; }

// ---- copy ----

// Whether boxes of one size and offset do the same.
static bool same_region(const tn_region *a, const tn_region *b)
{
    bool same = a->rank == b->rank && a->src_offset == b->src_offset && a->dst_offset == b->dst_offset;
    for (int i = 0; i < a->rank && same; i++) {
        same = a->sizes[i] == b->sizes[i] && a->src_strides[i] == b->src_strides[i] && a->dst_strides[i] == b->dst_strides[i];
    }
    return same;
}

// Operand i of a join along `axis`, whose index 0 there is `from` in the result.
static tn_region joined(const tn_shape *x, const tn_shape *y, int axis, int64_t from)
{
    tn_region r = {.rank = y->rank, .dst_offset = from * tn_shape_span(y, axis + 1, y->rank)};
    int64_t in = 1, out = 1;
    for (int d = y->rank - 1; d >= 0; d--) {
        r.sizes[d] = x->dims[d];
        r.src_strides[d] = in;
        r.dst_strides[d] = out;
        in *= x->dims[d];
        out *= y->dims[d];
    }
    tn_region_simplify(&r);
    return r;
}

// The axis along which the copy is a plain join of its operands, each once and in order; -1: it is none.
static int join_axis(const tn_query *query)
{
    const tn_copy_attr *attr = query->attr;
    const tn_shape *y = &query->out[0]->shape;
    if (attr->regions->count != query->n_in || query->n_in < 2) {
        return -1;
    }
    for (int axis = 0; axis < y->rank; axis++) {
        int64_t from = 0;
        bool fits = true;
        for (int i = 0; i < query->n_in && fits; i++) {
            const tn_shape *x = &query->in[i]->shape;
            const tn_region *region = &attr->regions->regions[i];
            fits = x->rank == y->rank && region->source == i;
            for (int d = 0; d < y->rank && fits; d++) {
                fits = d == axis || x->dims[d] == y->dims[d];
            }
            if (fits) {
                const tn_region want = joined(x, y, axis, from);
                fits = same_region(&want, region);
                from += x->dims[axis];
            }
        }
        if (fits && from == y->dims[axis]) {
            return axis;
        }
    }
    return -1;
}

static bool match_copy(const tn_query *query, const char **why)
{
    const tn_copy_attr *attr = query->attr;
    *why = "movement of other types than bytes and int16";
    int computed = 0;
    for (int i = 0; i < query->n_in; i++) {
        if (!query->in[i] || !is_ours(query->in[i]) || (query->in[i]->data && query->in[i]->dtype == TN_I16)) {
            return false;
        }
        computed += !query->in[i]->data;
    }
    *why = "a copy of nothing, or of more boxes than the DSP takes";
    // Gaps are filled with the zero point, which values of 16 bits do not have.
    const bool zeros = query->out[0]->dtype != TN_I16 || (attr->regions->fill[0] == 0 && attr->regions->fill[1] == 0);
    return computed > 0 && query->n_in <= TN_HEX_MAX_OPERANDS / 2 && attr->regions->count >= 1 && is_ours(query->out[0]) && zeros;
}

// The boxes over one operand, or over all laid end to end: base[i] is where operand i begins.
static void regions_attr(tn_hex_encoder *e, const tn_regions *regions, const int64_t *base)
{
    uint32_t words[TN_MAX_REGIONS * WORDS_PER_REGION];
    int n = 0;
    for (int i = 0; i < regions->count && i < TN_MAX_REGIONS; i++) {
        const tn_region *r = &regions->regions[i];
        if (r->source < 0) {
            continue;
        }
        const int rank = TN_MAX(r->rank, 1);
        words[n++] = (uint32_t)rank;
        words[n++] = (uint32_t)(r->src_offset + base[r->source]);
        words[n++] = (uint32_t)r->dst_offset;
        for (int part = 0; part < 3; part++) {
            const int64_t *list = part == 0 ? r->sizes : part == 1 ? r->src_strides : r->dst_strides;
            for (int d = 0; d < rank; d++) {
                words[n++] = (uint32_t)(d < r->rank ? list[d] : 1);
            }
        }
    }
    tn_hex_attr(e, TN_HEX_ATTR_REGIONS, n, words);
}

static void copy_all(tn_hex_encoder *e, uint32_t from, uint32_t to, int64_t count)
{
    const tn_region whole = {.rank = 1, .sizes = {count}, .src_strides = {1}, .dst_strides = {1}};
    const tn_regions one = {.count = 1, .source_count = 1, .regions = &whole};
    const int64_t base[1] = {0};
    tn_hex_node_begin(e, TN_HEX_OP_COPY);
    tn_hex_operand(e, from);
    tn_hex_result(e, to);
    regions_attr(e, &one, base);
    tn_hex_node_end(e);
}

static void concat(tn_hex_encoder *e, const uint32_t *parts, int n, uint32_t to, uint32_t axis)
{
    tn_hex_node_begin(e, TN_HEX_OP_CONCAT);
    for (int i = 0; i < n; i++) {
        tn_hex_operand(e, parts[i]);
    }
    tn_hex_result(e, to);
    tn_hex_attr(e, TN_HEX_ATTR_AXIS, 1, &axis);
    tn_hex_node_end(e);
}

static void encode_copy(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const tn_copy_attr *attr = query->attr;
    const uint32_t dtype = tn_hex_dtype(query->out[0]->dtype);
    const int axis = join_axis(query);
    int64_t base[TN_HEX_MAX_OPERANDS] = {0}, total = 0;
    uint32_t to = out[0], ids[TN_HEX_MAX_OPERANDS] = {0}, parts[TN_HEX_MAX_OPERANDS];
    for (int i = 0; i < query->n_in; i++) {
        ids[i] = query->in[i]->data ? tn_hex_bytes(e, query->in[i], e->zero_out) : in[i];
    }
    uint32_t from = ids[0];
    if (axis >= 0) {
        concat(e, ids, query->n_in, out[0], (uint32_t)axis);
        return;
    }
    // A gap is filled with the zero point on the wire: where the copy fills with something else, its result gets that as its own.
    bool fills = false;
    for (int i = 0; i < attr->regions->count; i++) {
        fills = fills || attr->regions->regions[i].source < 0;
    }
    const tn_dtype type = query->out[0]->dtype;
    const int32_t fill = type == TN_I16 ? 0 : type == TN_I8 ? (int8_t)attr->regions->fill[0] : attr->regions->fill[0];
    if (fills && fill != e->zero_out) {
        to = tn_hex_temporary(e, dtype, fill, &query->out[0]->shape);
    }
    for (int i = 0; i < query->n_in && query->n_in > 1; i++) {
        const tn_shape flat = {1, {tn_tensor_count(query->in[i])}};
        base[i] = total;
        total += flat.dims[0];
        parts[i] = tn_hex_temporary(e, dtype, e->zero_out, &flat);
        copy_all(e, ids[i], parts[i], flat.dims[0]);
    }
    if (query->n_in > 1) {
        const tn_shape flat = {1, {total}};
        from = tn_hex_temporary(e, dtype, e->zero_out, &flat);
        concat(e, parts, query->n_in, from, 0);
    }
    tn_hex_node_begin(e, TN_HEX_OP_COPY);
    tn_hex_operand(e, from);
    tn_hex_result(e, to);
    regions_attr(e, attr->regions, base);
    tn_hex_node_end(e);
    if (to != out[0]) {
        tn_hex_relabel(e, to, out[0]);
    }
}

// A reshape that is still one: the same bytes under another shape.
static bool match_reshape(const tn_query *query, const char **why)
{
    *why = "movement of other types than bytes and int16";
    return is_ours(query->in[0]) && !query->in[0]->data;
}

static void encode_reshape(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    copy_all(e, in[0], out[0], tn_tensor_count(query->out[0]));
}

// ---- resize ----

static const char *tables_of(const tn_query *query, tn_resize_table tables[TN_MAX_RANK])
{
    return tn_resize_tables(query->attr, query->in, query->n_in, &query->out[0]->shape, tables);
}

static bool match_resize(const tn_query *query, const char **why)
{
    const tn_resize_attr *attr = query->attr;
    tn_resize_table tables[TN_MAX_RANK];
    *why = "only bytes and int16 of pictures to the nearest neighbour, by constant sizes";
    if (!is_ours(query->in[0]) || query->in[0]->shape.rank != 4 || attr->mode != TN_RESIZE_NEAREST || attr->coord == TN_COORD_TF_CROP) {
        return false;
    }
    for (int i = 1; i < query->n_in; i++) {
        if (query->in[i] && !query->in[i]->data) {
            return false;
        }
    }
    return !tables_of(query, tables) && tables[0].taps == 0 && tables[1].taps == 0 && query->out[0]->shape.dims[2] <= LARGEST_SIDE &&
           query->out[0]->shape.dims[3] <= LARGEST_SIDE;
}

// Source indices of one axis as a constant.
static uint32_t index_constant(tn_hex_encoder *e, const tn_query *query, int axis, tn_resize_table *table)
{
    const int64_t length = query->out[0]->shape.dims[axis], taps = TN_MAX(table->taps, 1);
    const size_t bytes = (size_t)(length * taps) * (sizeof(int64_t) + sizeof(double)) + (size_t)length * sizeof(int32_t);
    int64_t *room = e->status == TN_OK ? tn_take_zero(e->heap, 1, bytes) : NULL;
    if (!room) {
        e->status = e->status == TN_OK ? tn_fail_memory(e->diag, "hexagon", bytes) : e->status;
        return 0;
    }
    table->index = room;
    table->weight = (double *)(room + length * taps);
    int32_t *words = (int32_t *)(table->weight + length * taps);
    if (table->taps) {
        tn_resize_fill(query->attr, query->in, query->n_in, axis, table);
    }
    for (int64_t i = 0; i < length; i++) {
        words[i] = (int32_t)i;
        for (int64_t k = 0; k < table->taps; k++) {
            words[i] = k == 0 || table->weight[i * taps + k] > 0.5 ? (int32_t)table->index[i * taps + k] : words[i];
        }
    }
    const uint32_t id = tn_hex_constant(e, TN_HEX_S32, 1, &length, words, (size_t)length * sizeof *words);
    tn_give(e->heap, room);
    return id;
}

static void encode_resize(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out)
{
    const uint32_t nearest = 0;
    tn_resize_table tables[TN_MAX_RANK];
    (void)tables_of(query, tables);
    const uint32_t rows = index_constant(e, query, 2, &tables[2]), columns = index_constant(e, query, 3, &tables[3]);
    tn_hex_node_begin(e, query->in[0]->dtype == TN_I16 ? TN_HEX_OP_WIDE_RESIZE : TN_HEX_OP_RESIZE);
    tn_hex_operand(e, in[0]);
    tn_hex_operand(e, rows);
    tn_hex_operand(e, columns);
    tn_hex_result(e, out[0]);
    tn_hex_attr(e, TN_HEX_ATTR_MODE, 1, &nearest);
    tn_hex_node_end(e);
}

#define RESHAPE(OP) {.op = &tn_op_##OP, .match = match_reshape, .encode = encode_reshape, .keeps_zero = true, .macs_per_ns = 10, .element_ns = 0.2}

static const tn_hex_row rows[] = {
    {.op = &tn_op_copy, .match = match_copy, .encode = encode_copy, .keeps_zero = true, .macs_per_ns = 10, .element_ns = 0.5},
    {.op = &tn_op_resize, .match = match_resize, .encode = encode_resize, .keeps_zero = true, .macs_per_ns = 10, .element_ns = 0.5},
    RESHAPE(reshape),
    RESHAPE(flatten),
    RESHAPE(squeeze),
    RESHAPE(unsqueeze),
};
const tn_hex_row_list tn_hex_rows_move = {rows, TN_COUNT(rows)};
