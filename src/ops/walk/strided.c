// SPDX-License-Identifier: Apache-2.0
// Copies of strided boxes by element size: one loop serves every dtype.
// Ownership: plain values. Threads: any.
#include "ops/walk/strided.h"

#include "base/num.h"
#include "ops/walk/walk.h"

#include <string.h>

tn_region *tn_move_add(tn_move *move, int source)
{
    if (move->count >= TN_MAX_REGIONS) {
        return NULL;
    }
    tn_region *region = &move->regions[move->count++];
    *region = (tn_region){.source = source};
    return region;
}

// Merging as it goes keeps boxes of plain copies at rank 1, so that they are recognised.
bool tn_region_dim(tn_region *region, int64_t size, int64_t src_stride, int64_t dst_stride)
{
    if (size == 1) {
        return true;
    }
    if (region->rank > 0) {
        const int last = region->rank - 1;
        if (region->src_strides[last] == src_stride * size && region->dst_strides[last] == dst_stride * size) {
            region->sizes[last] *= size;
            region->src_strides[last] = src_stride;
            region->dst_strides[last] = dst_stride;
            return true;
        }
    }
    if (region->rank == TN_MAX_RANK) {
        return false;
    }
    region->sizes[region->rank] = size;
    region->src_strides[region->rank] = src_stride;
    region->dst_strides[region->rank++] = dst_stride;
    return true;
}

// An empty result needs no box.
bool tn_move_dense(tn_move *move, int64_t count)
{
    if (count == 0) {
        return true;
    }
    tn_region *region = tn_move_add(move, 0);
    return region && tn_region_dim(region, count, 1, 1);
}

// Lowest and highest address of one side of a box lie in 0 .. count-1. Each dim reaches (size - 1) strides to one side of the offset,
// so adding the negative reaches and the positive ones apart gives both ends.
static bool side_inside(const int64_t *sizes, const int64_t *strides, int rank, int64_t offset, int64_t count)
{
    int64_t low = offset, high = offset;
    for (int d = 0; d < rank; d++) {
        int64_t reach;
        if (!tn_mul_i64(sizes[d] - 1, strides[d], &reach) || !tn_add_i64(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) {
            return false;
        }
    }
    return low >= 0 && high < count;
}

// Sizes and strides may be any numbers: products and sums are checked.
bool tn_region_inside(const tn_region *region, int64_t src_count, int64_t dst_count)
{
    if (region->rank < 0 || region->rank > TN_MAX_RANK) {
        return false;
    }
    for (int d = 0; d < region->rank; d++) {
        if (region->sizes[d] < 0) {
            return false;
        }
        if (region->sizes[d] == 0) {
            return true;
        }
    }
    return (region->source < 0 || side_inside(region->sizes, region->src_strides, region->rank, region->src_offset, src_count)) &&
           side_inside(region->sizes, region->dst_strides, region->rank, region->dst_offset, dst_count);
}

// One strided row; `size` is a constant where this is inlined.
static void copy_row(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++) {
        memcpy(dst + i * dst_step * (int64_t)size, src + i * src_step * (int64_t)size, size);
    }
}

// A walk over source and result together; runs that are dense on both sides are one memcpy.
void tn_region_copy(const tn_region *region, void *dst, const void *src, size_t size)
{
    const tn_shape shape = tn_shape_of(region->rank, region->sizes);
    const bool fill = region->source < 0;
    int64_t strides[2][TN_MAX_RANK] = {{0}};
    memcpy(strides[0], region->dst_strides, sizeof strides[0]);
    if (!fill) {
        memcpy(strides[1], region->src_strides, sizeof strides[1]);
    }
    char *const to = (char *)dst + region->dst_offset * (int64_t)size;
    const char *const from = (const char *)src + (fill ? 0 : region->src_offset * (int64_t)size);
    tn_walk walk;
    for (bool more = tn_walk_init_strides(&walk, &shape, 2, strides); more; more = tn_walk_next(&walk)) {
        char *d = to + walk.offsets[0] * (int64_t)size;
        const char *s = from + walk.offsets[1] * (int64_t)size;
        const int64_t dst_step = walk.steps[0], src_step = walk.steps[1];
        if (dst_step == 1 && src_step == 1) {
            memcpy(d, s, (size_t)walk.row * size);
            continue;
        }
        // constant sizes let the compiler turn each memcpy into a load and a store
        switch (size) {
        case 1: copy_row(d, dst_step, s, src_step, walk.row, 1); break;
        case 2: copy_row(d, dst_step, s, src_step, walk.row, 2); break;
        case 4: copy_row(d, dst_step, s, src_step, walk.row, 4); break;
        case 8: copy_row(d, dst_step, s, src_step, walk.row, 8); break;
        default: copy_row(d, dst_step, s, src_step, walk.row, size); break;
        }
    }
}

// The check costs a few operations per box and is what keeps a wrong plan from writing anywhere.
tn_status tn_regions_copy(const tn_call *call, const tn_region *regions, int count, const uint8_t *fill, const tn_tensor *out)
{
    const size_t size = tn_dtype_bytes(out->dtype);
    const int64_t dst_count = tn_tensor_count(out);
    for (int i = 0; i < count; i++) {
        const tn_region *region = &regions[i];
        const tn_tensor *source = region->source >= 0 && region->source < call->n_in ? call->in[region->source] : NULL;
        const bool known = source ? source->dtype == out->dtype : region->source < 0;
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        if (!known || !tn_region_inside(region, source ? tn_tensor_count(source) : 1, dst_count)) {
            return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: box %d lies outside its tensors", call->op->name, i);
        }
        tn_region_copy(region, out->data, source ? source->data : fill, size);
    }
    return TN_OK;
}

// Facts made from tensors know everything, contents included.
tn_status tn_move_try(const tn_call *call, int index, bool *done)
{
    tn_fact facts[TN_MAX_IN], out = tn_fact_of(call->out[index]);
    const tn_fact *in[TN_MAX_IN];
    tn_region regions[TN_MAX_REGIONS];
    out.value = NULL;
    for (int i = 0; i < call->n_in; i++) {
        in[i] = NULL;
        if (call->in[i]) {
            facts[i] = tn_fact_of(call->in[i]);
            in[i] = &facts[i];
        }
    }
    tn_move move = {.op = call->op, .attr = call->attr, .n_in = call->n_in, .in = in, .out = &out, .n_out = call->n_out,
                    .out_index = index, .regions = regions};
    *done = call->op->regions(&move);
    return *done ? tn_regions_copy(call, regions, move.count, move.fill, call->out[index]) : TN_OK;
}

// The operands' contents may have changed since planning: boxes that no longer fit the result are an error, not a crash.
tn_status tn_move_run(const tn_call *call)
{
    for (int i = 0; i < call->n_out; i++) {
        bool done = true;
        if (call->out[i]) {
            TN_TRY(tn_move_try(call, i, &done));
        }
        if (!done) {
            return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: the operands do not fit the planned result", call->op->name);
        }
    }
    return TN_OK;
}

// In place there is nothing to do.
tn_status tn_move_same(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *y = call->out[0];
    size_t bytes, planned;
    if (!tn_tensor_bytes(x, &bytes) || !tn_tensor_bytes(y, &planned) || bytes != planned) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: operand and result differ in size", call->op->name);
    }
    if (bytes > 0 && x->data != y->data) {
        memcpy(y->data, x->data, bytes);
    }
    return TN_OK;
}

// Row by row; the last dim's map is the only one in the inner loop.
tn_status tn_move_mapped(const tn_call *call, int64_t (*map)(int64_t i, int64_t n), const int64_t *before)
{
    const tn_tensor *x = call->in[0], *y = call->out[0];
    const int rank = x->shape.rank;
    const size_t size = tn_dtype_bytes(x->dtype);
    const int64_t total = tn_tensor_count(y);
    int64_t strides[TN_MAX_RANK], index[TN_MAX_RANK] = {0};
    if (total == 0 || rank == 0) {
        return rank == 0 ? tn_move_same(call) : TN_OK;
    }
    tn_strides_of(&x->shape, strides);
    const int64_t row = y->shape.dims[rank - 1];
    char *to = y->data;
    for (int64_t done = 0; done < total; done += row) {
        int64_t offset = 0;
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int d = 0; d < rank - 1; d++) {
            offset += map(index[d] - before[d], x->shape.dims[d]) * strides[d];
        }
        for (int64_t i = 0; i < row; i++, to += size) {
            const int64_t at = offset + map(i - before[rank - 1], x->shape.dims[rank - 1]);
            memcpy(to, (const char *)x->data + (size_t)at * size, size);
        }
        for (int d = rank - 2; d >= 0 && ++index[d] == y->shape.dims[d]; d--) {
            index[d] = 0;
        }
    }
    return TN_OK;
}
