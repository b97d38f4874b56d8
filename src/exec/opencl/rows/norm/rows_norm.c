// SPDX-License-Identifier: Apache-2.0
// softmax and the normalisations, on plain tensors: lines of elements with one group of items each.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/nn/op_norm.h"
#include "ops/nn/op_softmax.h"

#include <stdio.h>

static size_t parts_for(const tn_cl_build *b, int64_t n)
{
    const size_t limit = TN_MIN(b->cl->facts.max_group, (size_t)(b->cl->facts.is_cpu ? 8 : 128));
    size_t parts = 1;
    while (parts * 2 <= limit && (int64_t)parts * 2 < n) {
        parts *= 2;
    }
    return parts;
}

static bool match_f32(const tn_query *query, const char **why)
{
    for (int i = 1; i < query->n_out; i++) {
        if (query->out[i]) {
            *why = "only the first result is computed";
            return false;
        }
    }
    return tn_cl_all_f32(query, why);
}

static void emit_softmax(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_softmax_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape;
    int axis = 0;
    if (!tn_axis(attr->axis, shape->rank, &axis)) {
        axis = TN_MAX(shape->rank - 1, 0);
    }
    const int64_t n = shape->rank ? shape->dims[axis] : 1, inner = tn_shape_span(shape, axis + 1, shape->rank);
    const size_t parts = parts_for(b, n);
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "softmax");
    tn_cl_in(b, "float", "a", from);
    tn_cl_out(b, "float", "y", to);
    tn_cl_int(b, "n", n);
    tn_cl_int(b, "inner", inner);
    tn_cl_local(b, "float", "sums", parts * sizeof(float));
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_define(b, "LOG", "%d", query->op == &tn_op_log_softmax);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)(tn_cl_count(in[0]) / n), 1);
}

// Lines of n elements with their scale and bias; at: the text of SCALE_AT.
static void emit_lines(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out, int64_t n, double epsilon,
                       const char *at, bool rms)
{
    const size_t parts = parts_for(b, n);
    const bool biased = query->n_in > 2 && in[2];
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *scale = tn_cl_plain(b, in[1]), *bias = biased ? tn_cl_plain(b, in[2]) : NULL;
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]), *means = NULL, *factors = NULL;
    const size_t bytes = (size_t)(tn_cl_count(in[0]) / n) * sizeof(float);
    if (query->n_out > 1) {
        means = out[1] ? tn_cl_new_plain(b, out[1]) : tn_cl_take_plain(b, bytes);
        factors = query->n_out > 2 && out[2] ? tn_cl_new_plain(b, out[2]) : tn_cl_take_plain(b, bytes);
    }
    tn_cl_begin(b, "norm");
    tn_cl_in(b, "float", "a", from);
    tn_cl_in(b, "float", "scale", scale);
    if (biased) {
        tn_cl_in(b, "float", "bias", bias);
        tn_cl_define(b, "BIAS", "1");
    }
    if (rms) {
        tn_cl_define(b, "RMS", "1");
    }
    tn_cl_out(b, "float", "y", to);
    if (query->n_out > 1) {
        tn_cl_out(b, "float", "means", means);
        tn_cl_out(b, "float", "factors", factors);
        tn_cl_define(b, "STATISTICS", "1");
    }
    tn_cl_int(b, "n", n);
    tn_cl_real(b, "epsilon", epsilon);
    tn_cl_local(b, "float", "sums", parts * sizeof(float));
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_define(b, "SCALE_AT(line, i)", "%s", at);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)(tn_cl_count(in[0]) / n), 1);
}

static bool layer_line(const tn_query *query, int64_t *n)
{
    const tn_layer_norm_attr *attr = query->attr;
    const tn_shape *shape = &query->in[0]->shape;
    int axis;
    int64_t scales;
    if (!tn_axis(attr->axis, shape->rank, &axis)) {
        return false;
    }
    *n = tn_shape_span(shape, axis, shape->rank);
    return tn_shape_count(&query->in[1]->shape, &scales) && scales == *n &&
           (query->n_in < 3 || !query->in[2] || (tn_shape_count(&query->in[2]->shape, &scales) && scales == *n));
}

static bool match_layer(const tn_query *query, const char **why)
{
    int64_t n;
    if (query->op == &tn_op_rms_norm ? !match_f32(query, why) : !tn_cl_all_f32(query, why)) {
        return false;
    }
    *why = "a scale that is broadcast";
    return layer_line(query, &n);
}

static void emit_layer(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_layer_norm_attr *attr = query->attr;
    int64_t n = 1;
    (void)layer_line(query, &n);
    emit_lines(b, query, in, out, n, attr->epsilon, "(i)", query->op == &tn_op_rms_norm);
}

static void emit_instance(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_instance_norm_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape;
    char at[64];
    (void)snprintf(at, sizeof at, "((line) %% %lld)", (long long)shape->dims[1]);
    emit_lines(b, query, in, out, tn_shape_span(shape, 2, shape->rank), attr->epsilon, at, false);
}

static void emit_group(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_group_norm_attr *attr = query->attr;
    const tn_shape *shape = &in[0]->shape;
    const int64_t pixels = tn_shape_span(shape, 2, shape->rank), channels = shape->dims[1] / attr->groups;
    char at[128];
    (void)snprintf(at, sizeof at, "((line) %% %lld * %lld + (i) / %lld)", (long long)attr->groups, (long long)channels, (long long)pixels);
    emit_lines(b, query, in, out, channels * pixels, attr->epsilon, at, false);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_softmax, .match = match_f32, .emit = emit_softmax},
    {.op = &tn_op_log_softmax, .match = match_f32, .emit = emit_softmax},
    {.op = &tn_op_layer_norm, .match = match_layer, .emit = emit_layer},
    {.op = &tn_op_rms_norm, .match = match_layer, .emit = emit_layer},
    {.op = &tn_op_instance_norm, .match = match_f32, .emit = emit_instance},
    {.op = &tn_op_group_norm, .match = match_f32, .emit = emit_group},
};

TN_CL_EXPORT(norm, rows);
