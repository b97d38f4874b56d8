// SPDX-License-Identifier: Apache-2.0
// Normalisations and reductions over any axes that go over their elements twice, and those over channels, on plain tensors.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/math/op_reduce.h"
#include "ops/nn/op_norm.h"
#include "ops/op_facts.h"

#include <math.h>

// ---- over axes ----

static bool match_exp(const tn_query *query, const char **why)
{
    uint32_t mask;
    if (query->in[0]->dtype != TN_F32) {
        *why = "only float32 has a kernel";
        return false;
    }
    *why = "axes that are not known, or none";
    return tn_cl_reduced_axes(query, &mask);
}

static bool mvn_axes(const tn_query *query, uint32_t *mask)
{
    static const int64_t usual[] = {0, 2, 3};
    const tn_mvn_attr *attr = query->attr;
    const int rank = query->in[0]->shape.rank;
    const size_t n = attr->axes.set ? (size_t)attr->axes.count : TN_COUNT(usual);
    const int64_t *axes = attr->axes.set ? attr->axes.v : usual;
    *mask = 0;
    for (size_t i = 0; i < n; i++) {
        int axis;
        if (!tn_axis(axes[i], rank, &axis)) {
            return false;
        }
        *mask |= UINT32_C(1) << axis;
    }
    return *mask != 0;
}

static bool match_mvn(const tn_query *query, const char **why)
{
    uint32_t mask;
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    *why = "no axes";
    return mvn_axes(query, &mask);
}

static bool match_lp(const tn_query *query, const char **why)
{
    int axis;
    const tn_lp_norm_attr *attr = query->attr;
    return tn_cl_all_f32(query, why) && tn_axis(attr->axis, query->in[0]->shape.rank, &axis);
}

static void emit_axes(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const bool exps = query->op == &tn_op_reduce_log_sum_exp, mvn = query->op == &tn_op_mvn;
    const tn_shape *shape = &in[0]->shape;
    uint32_t mask = 0;
    int axis = 0;
    int64_t p = 2, count;
    if (exps) {
        (void)tn_cl_reduced_axes(query, &mask);
    } else if (mvn) {
        (void)mvn_axes(query, &mask);
    } else {
        const tn_lp_norm_attr *attr = query->attr;
        (void)tn_axis(attr->axis, shape->rank, &axis);
        mask = UINT32_C(1) << axis;
        p = attr->p;
    }
    const size_t parts = tn_cl_reduced_parts(b, shape, mask, &count);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "norm_axes");
    tn_cl_in(b, "float", "a", from);
    tn_cl_out(b, "float", "y", to);
    tn_cl_int(b, "count", count);
    tn_cl_local(b, "float", "sums", parts * sizeof(float));
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_define(b, exps ? "LOG_SUM_EXP" : mvn ? "MVN" : "LP", "%d", (int)p);
    tn_cl_define(b, "START", "%s", exps ? "-INFINITY" : "0.0f");
    tn_cl_define(b, "STEP(acc, v)", "%s", exps ? "NAN_OR(fmax, acc, v)" : mvn ? "(acc) + (v)" : p == 1 ? "(acc) + fabs(v)" : "mad(v, v, acc)");
    tn_cl_define(b, "JOIN(a, b)", "%s", exps ? "NAN_OR(fmax, a, b)" : "(a) + (b)");
    tn_cl_write_places(b, "KEPT", shape, ~mask);
    tn_cl_write_places(b, "REDUCED", shape, mask);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)(tn_cl_count(in[0]) / count), 1);
}

// ---- over channels ----

static bool match_lrn(const tn_query *query, const char **why)
{
    const tn_lrn_attr *attr = query->attr;
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    *why = "a window out of range";
    return query->in[0]->shape.rank >= 2 && attr->size > 0 && attr->size < 1 << 20;
}

static void emit_lrn(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_lrn_attr *attr = query->attr;
    const tn_shape *x = &in[0]->shape;
    const int64_t before = (attr->size - 1) / 2;
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "lrn");
    tn_cl_in(b, "float", "x", from);
    tn_cl_out(b, "float", "y", to);
    tn_cl_int(b, "before", before);
    tn_cl_int(b, "after", attr->size - 1 - before);
    tn_cl_real(b, "shift", attr->bias);
    tn_cl_real(b, "share", attr->alpha / (double)attr->size);
    tn_cl_real(b, "beta", attr->beta);
    tn_cl_end(b, (size_t)tn_shape_span(x, 2, x->rank), (size_t)x->dims[1], (size_t)x->dims[0]);
}

static bool match_batch(const tn_query *query, const char **why)
{
    const tn_batch_norm_attr *attr = query->attr;
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    *why = "training, or statistics as results";
    return !attr->training && !(query->n_out > 1 && query->out[1]) && !(query->n_out > 2 && query->out[2]) && query->in[0]->shape.rank >= 2 &&
           isfinite((float)attr->epsilon);
}

static void emit_batch(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    static const char *const names[] = {"x", "s", "b", "m", "v"};
    const tn_batch_norm_attr *attr = query->attr;
    const int rank = in[0]->shape.rank;
    tn_cl_value views[5], *operands[5] = {in[0]};
    for (int i = 1; i < 5; i++) {
        (void)tn_cl_plain(b, in[i]);
        views[i] = *in[i];
        views[i].shape = (tn_shape){.rank = rank - 1, .dims = {in[i]->shape.dims[0]}};
        for (int d = 1; d < rank - 1; d++) {
            views[i].shape.dims[d] = 1;
        }
        operands[i] = &views[i];
    }
    tn_cl_elementwise_begin(b, operands, 5, out[0]);
    tn_cl_expression(b, operands, names, 5, out[0], "(x - m) / sqrt(v + %.9ef) * s + b", attr->epsilon);
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_reduce_log_sum_exp, .match = match_exp, .emit = emit_axes},
    {.op = &tn_op_mvn, .match = match_mvn, .emit = emit_axes},
    {.op = &tn_op_lp_norm, .match = match_lp, .emit = emit_axes},
    {.op = &tn_op_lrn, .match = match_lrn, .emit = emit_lrn},
    {.op = &tn_op_batch_norm, .match = match_batch, .emit = emit_batch},
};

TN_CL_EXPORT(axes, rows);
