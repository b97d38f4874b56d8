// SPDX-License-Identifier: Apache-2.0
// Predicates, parameters and costs of the normalisations (norm.h).
// Ownership: none. Threads: any.
#include "kernels/norm/norm.h"

#include "base/macros.h"
#include "kernels/simd/stream.h"

static bool all_f32(const tn_query *query, const char **why)
{
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        if (tensor && tensor->dtype != TN_F32) {
            *why = "an operand or result is not float32";
            return false;
        }
    }
    if (tn_tensor_count(query->in[0]) == 0) {
        *why = "no elements";
        return false;
    }
    return true;
}

// scale or bias lie one to one along a row: their trailing dims are those of x from the axis on, leading ones are 1.
static bool along_row(const tn_tensor *vector, const tn_tensor *x, int axis)
{
    const int lead = x->shape.rank - vector->shape.rank;
    for (int d = 0; d < x->shape.rank; d++) {
        const int64_t own = d < lead ? 1 : vector->shape.dims[d - lead];
        if (own != (d < axis ? 1 : x->shape.dims[d])) {
            return false;
        }
    }
    return lead >= 0;
}

bool tn_norm_match_layer(const tn_query *query, const char **why)
{
    const tn_layer_norm_attr *attr = query->attr;
    const tn_tensor *x = query->in[0];
    int axis;
    if (!all_f32(query, why) || !tn_axis(attr->axis, x->shape.rank, &axis)) {
        return false;
    }
    for (int i = 1; i < query->n_in; i++) {
        if (query->in[i] && !along_row(query->in[i], x, axis)) {
            *why = "scale or bias do not lie along the row";
            return false;
        }
    }
    return true;
}

bool tn_norm_match_group(const tn_query *query, const char **why) { return all_f32(query, why); }

bool tn_norm_match_batch(const tn_query *query, const char **why)
{
    const tn_batch_norm_attr *attr = query->attr;
    if (attr->training) {
        *why = "training";
        return false;
    }
    return all_f32(query, why) && query->in[0]->shape.rank >= 2;
}

static tn_status new_params(tn_prepare *prepare, tn_norm_params **p)
{
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof **p, &memory));
    *p = memory;
    (*p)->stream = tn_stream_result(prepare->query);
    return TN_OK;
}

tn_status tn_norm_prepare_layer(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_layer_norm_attr *attr = query->attr;
    const tn_shape *x = &query->in[0]->shape;
    tn_norm_params *p;
    int axis = 0;
    TN_TRY(new_params(prepare, &p));
    tn_axis(attr->axis, x->rank, &axis);
    p->rows = tn_shape_span(x, 0, axis);
    p->row = tn_shape_span(x, axis, x->rank);
    p->epsilon = attr->epsilon;
    p->rms = query->op == &tn_op_rms_norm;
    return TN_OK;
}

tn_status tn_norm_prepare_group(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_shape *x = &query->in[0]->shape;
    const bool instance = query->op == &tn_op_instance_norm;
    const tn_instance_norm_attr *of_instance = query->attr;
    const tn_group_norm_attr *of_group = query->attr;
    const int64_t groups = instance ? x->dims[1] : of_group->groups;
    tn_norm_params *p;
    TN_TRY(new_params(prepare, &p));
    p->epsilon = instance ? of_instance->epsilon : of_group->epsilon;
    p->channels = x->dims[1];
    p->members = x->dims[1] / groups;
    p->plane = tn_shape_span(x, 2, x->rank);
    p->rows = x->dims[0] * groups;
    p->row = p->members * p->plane;
    return TN_OK;
}

tn_status tn_norm_prepare_batch(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_tensor *x = query->in[0];
    tn_norm_params *p;
    TN_TRY(new_params(prepare, &p));
    p->epsilon = ((const tn_batch_norm_attr *)query->attr)->epsilon;
    p->block = TN_MAX(tn_layout_block(x->layout), 1);
    p->channels = x->shape.dims[1];
    p->blocks = TN_CEIL_DIV(p->channels, p->block);
    p->pixels = tn_shape_span(&x->shape, 2, x->shape.rank);
    p->rows = x->shape.dims[0] * p->blocks;
    // Mean, factor and bias of each channel, up to whole blocks.
    prepare->scratch_bytes = sizeof(float) * 3 * (size_t)(p->blocks * p->block);
    return TN_OK;
}

static double cost(const tn_query *query, double element) { return 200.0 + (double)tn_tensor_count(query->in[0]) * element; }

double tn_norm_cost_portable(const tn_query *query) { return cost(query, 0.8); }
double tn_norm_cost_avx2(const tn_query *query) { return cost(query, 0.25); }
double tn_norm_cost_avx512(const tn_query *query) { return cost(query, 0.15); }
