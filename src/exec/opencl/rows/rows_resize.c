// SPDX-License-Identifier: Apache-2.0
// Resizing. Each axis is a table of indices and weights that the operator itself fills (op_resize.h), so every coordinate rule, antialias, crops
// and ratio policies are one kernel: over grids where only rows and columns of pictures change, else over plain tensors.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "base/num.h"
#include "ops/vision/op_resize.h"

#define MAX_TABLE ((int64_t)1 << 24)       // entries of an axis; more are tables larger than most maps

static bool tables_of(const tn_query *query, tn_resize_table tables[TN_MAX_RANK])
{
    for (int i = 1; i < query->n_in; i++) {
        if (query->in[i] && tn_tensor_count(query->in[i]) > 0 && !query->in[i]->data) {
            return false;
        }
    }
    return !tn_resize_tables(query->attr, query->in, query->n_in, &query->out[0]->shape, tables);
}

static bool match_resize(const tn_query *query, const char **why)
{
    tn_resize_table tables[TN_MAX_RANK];
    if (query->in[0]->dtype != TN_F32) {
        *why = "only float32 has a kernel";
        return false;
    }
    *why = "scales or sizes that are not constant";
    if (!tables_of(query, tables)) {
        return false;
    }
    *why = "an axis with a very long table";
    for (int d = 0; d < query->in[0]->shape.rank; d++) {
        int64_t entries;
        if (!tn_mul_i64(tables[d].resized, tables[d].taps, &entries) || entries > MAX_TABLE) {
            return false;
        }
    }
    return true;
}

// Pictures whose rows and columns change and nothing else.
static bool match_pictures(const tn_query *query, const char **why)
{
    tn_resize_table tables[TN_MAX_RANK];
    if (!match_resize(query, why) || !tn_cl_griddable(query->in[0]) || !tables_of(query, tables)) {
        return false;
    }
    *why = "only rows and columns of pictures";
    return !tables[0].taps && !tables[1].taps;
}

static tn_status no_memory(tn_cl_build *b, int64_t entries)
{
    return b->status = tn_fail_memory(b->diag, b->node->name, (size_t)entries * sizeof(double));
}

// The entries of an axis behind those that are there. An axis that stays gets the table of the identity.
static void fill(tn_cl_build *b, const tn_query *query, int d, tn_resize_table *t, int32_t *index, float *weight)
{
    const int64_t entries = t->resized * t->taps;
    t->index = tn_arena_array(&b->scratch, (size_t)entries + 1, sizeof *t->index);
    t->weight = tn_arena_array(&b->scratch, (size_t)entries + 1, sizeof *t->weight);
    if (!t->index || !t->weight) {
        (void)no_memory(b, entries);
        return;
    }
    tn_resize_fill(query->attr, query->in, query->n_in, d, t);
    for (int64_t i = 0; i < entries; i++) {
        index[i] = (int32_t)t->index[i];
        weight[i] = (float)t->weight[i];
    }
}

typedef struct uploaded {
    tn_cl_mem *at, *weight;
    int64_t taps;
} uploaded;

static uploaded upload_axis(tn_cl_build *b, const tn_query *query, int d, tn_resize_table *t)
{
    const int64_t taps = TN_MAX(t->taps, 1), entries = t->resized * taps;
    int32_t *index = tn_arena_array(&b->scratch, (size_t)entries, sizeof *index);
    float *weight = tn_arena_array(&b->scratch, (size_t)entries, sizeof *weight);
    if (!index || !weight) {
        (void)no_memory(b, entries);
        return (uploaded){NULL, NULL, 1};
    }
    for (int64_t i = 0; i < entries && !t->taps; i++) {
        index[i] = (int32_t)i;
        weight[i] = 1;
    }
    if (t->taps) {
        fill(b, query, d, t, index, weight);
    }
    return (uploaded){tn_cl_upload(b, index, (size_t)entries * sizeof *index), tn_cl_upload(b, weight, (size_t)entries * sizeof *weight), taps};
}

static void emit_pictures(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_resize_attr *attr = query->attr;
    tn_resize_table tables[TN_MAX_RANK], line = {.length = 1, .resized = 1};
    const int rank = query->in[0]->shape.rank;
    int64_t x[4] = {0}, y[4] = {0};
    (void)tables_of(query, tables);
    (void)tn_cl_grid_dims(&in[0]->shape, x);
    (void)tn_cl_grid_dims(&out[0]->shape, y);
    const uploaded rows = upload_axis(b, query, 2, rank == 4 ? &tables[2] : &line), cols = upload_axis(b, query, rank - 1, &tables[rank - 1]);
    tn_cl_mem *from = tn_cl_grid(b, in[0]), *to = tn_cl_new_grid(b, out[0]);
    tn_cl_begin(b, "resize");
    tn_cl_in_grid(b, "X", from);
    tn_cl_out_grid(b, "Y", to);
    tn_cl_in(b, "int", "row_at", rows.at);
    tn_cl_in(b, "float", "row_weight", rows.weight);
    tn_cl_in(b, "int", "col_at", cols.at);
    tn_cl_in(b, "float", "col_weight", cols.weight);
    tn_cl_int(b, "h", x[2]);
    tn_cl_int(b, "w", x[3]);
    tn_cl_int(b, "oh", y[2]);
    tn_cl_int(b, "ow", y[3]);
    tn_cl_define(b, "ROW_TAPS", "%lld", (long long)rows.taps);
    tn_cl_define(b, "COL_TAPS", "%lld", (long long)cols.taps);
    if (attr->coord == TN_COORD_TF_CROP) {
        tn_cl_real(b, "extrapolation", attr->extrapolation);
        tn_cl_define(b, "CROP", "1");
    }
    tn_cl_mask(b, y[1]);
    tn_cl_end(b, (size_t)y[3], (size_t)TN_CEIL_DIV(y[1], 4), (size_t)(y[0] * y[2]));
}

static void emit_axes(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_resize_attr *attr = query->attr;
    const tn_shape *x = &in[0]->shape, *y = &out[0]->shape;
    tn_resize_table tables[TN_MAX_RANK];
    int64_t taps[TN_MAX_RANK], first[TN_MAX_RANK], dims[TN_MAX_RANK], over[TN_MAX_RANK], stride[TN_MAX_RANK], entries = 0;
    int n = 0;
    (void)tables_of(query, tables);
    for (int d = 0; d < x->rank; d++) {
        if (tables[d].taps) {
            taps[n] = tables[d].taps, first[n] = entries, dims[n] = y->dims[d];
            over[n] = tn_shape_span(y, d + 1, y->rank), stride[n] = tn_shape_span(x, d + 1, x->rank);
            entries += tables[d].resized * tables[d].taps;
            n++;
        }
    }
    int32_t *index = tn_arena_array(&b->scratch, (size_t)entries + 1, sizeof *index);
    float *weight = tn_arena_array(&b->scratch, (size_t)entries + 1, sizeof *weight);
    if (!index || !weight) {
        (void)no_memory(b, entries);
        return;
    }
    for (int d = 0, a = 0; d < x->rank && b->status == TN_OK; d++) {
        if (tables[d].taps) {
            fill(b, query, d, &tables[d], index + first[a], weight + first[a]);
            a++;
        }
    }
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_mem *at = tn_cl_upload(b, index, (size_t)(entries + 1) * sizeof *index), *by = tn_cl_upload(b, weight, (size_t)(entries + 1) * sizeof *weight);
    tn_cl_begin(b, "resize_axes");
    tn_cl_in(b, "float", "a", from);
    tn_cl_in(b, "int", "index", at);
    tn_cl_in(b, "float", "weight", by);
    tn_cl_out(b, "float", "y", to);
    tn_cl_real(b, "extrapolation", attr->extrapolation);
    tn_cl_define(b, "AXES", "%d", n);
    tn_cl_write_list(b, "taps", taps, n);
    tn_cl_write_list(b, "first", first, n);
    tn_cl_write_list(b, "dims", dims, n);
    tn_cl_write_list(b, "over", over, n);
    tn_cl_write_list(b, "strides", stride, n);
    tn_cl_code(b, "#define BASE(i) (0");
    for (int d = 0; d < x->rank; d++) {
        if (!tables[d].taps) {
            tn_cl_code(b, " + (i) / %lld %% %lld * %lld", (long long)tn_shape_span(y, d + 1, y->rank), (long long)y->dims[d],
                       (long long)tn_shape_span(x, d + 1, x->rank));
        }
    }
    tn_cl_code(b, ")\n");
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_resize, .grid = true, .match = match_pictures, .emit = emit_pictures},
    {.op = &tn_op_resize, .match = match_resize, .emit = emit_axes},
};

TN_CL_EXPORT(resize, rows);
