// SPDX-License-Identifier: Apache-2.0
// Pads whose number is computed in the run. All others are boxes (rows_copy.c).
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/move/op_slice.h"
#include "ops/op_facts.h"

enum { PADS = 1, VALUE = 2, AXES = 3 };

// Elements before each dim. The operator has checked that the lists fit. false: they are not constant.
static bool befores(const tn_query *query, int64_t before[TN_MAX_RANK])
{
    const tn_tensor *pads = query->in[PADS], *axes = query->n_in > AXES ? query->in[AXES] : NULL;
    const int rank = query->in[0]->shape.rank;
    bool fine = pads->data && (!axes || axes->data);
    const int64_t n = !fine ? 0 : axes ? tn_tensor_count(axes) : rank;
    for (int d = 0; d < rank; d++) {
        before[d] = 0;
    }
    for (int64_t i = 0; i < n && fine; i++) {
        int at = (int)i;
        fine = !axes || tn_axis(tn_dtype_load_i64(axes->dtype, axes->data, (size_t)i), rank, &at);
        before[at] = tn_dtype_load_i64(pads->dtype, pads->data, (size_t)i);
        fine = fine && before[at] > INT32_MIN / 2 && before[at] < INT32_MAX / 2;
    }
    return fine;
}

static bool match_pad(const tn_query *query, const char **why)
{
    int64_t before[TN_MAX_RANK];
    const tn_tensor *value = query->n_in > VALUE ? query->in[VALUE] : NULL;
    *why = "pads, axes or elements of this kind";
    return ((const tn_pad_attr *)query->attr)->mode == TN_PAD_CONSTANT && value && tn_tensor_count(value) == 1 && tn_cl_type(query->in[0]->dtype) &&
           befores(query, before);
}

static void emit_pad(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const char *type = tn_cl_bits_type(in[0]->dtype);
    const int rank = in[0]->shape.rank;
    int64_t before[TN_MAX_RANK];
    (void)befores(query, before);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *value = tn_cl_plain(b, in[VALUE]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "pad_computed");
    tn_cl_in(b, type, "a", from);
    tn_cl_in(b, type, "value", value);
    tn_cl_out(b, type, "y", to);
    tn_cl_write_list(b, "DIMS", in[0]->shape.dims, rank);
    tn_cl_write_list(b, "SIDES", out[0]->shape.dims, rank);
    tn_cl_write_list(b, "BEFORE", before, rank);
    tn_cl_define(b, "RANK", "%d", rank);
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

static const tn_cl_row rows[] = {{.op = &tn_op_pad, .match = match_pad, .emit = emit_pad}};

TN_CL_EXPORT(pad, rows);
