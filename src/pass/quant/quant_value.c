// SPDX-License-Identifier: Apache-2.0
// Views of quantised values for the passes of this folder (quant.h).
// Ownership: views borrow from the graph. Threads: any.
#include "pass/quant/quant.h"

#include "ops/nn/op_activation.h"
#include "ops/quant/op_quantize.h"

#include <math.h>
#include <string.h>

static bool is_byte(tn_dtype dtype) { return dtype == TN_U8 || dtype == TN_I8; }

static bool all_zero(const tn_value *zero, int64_t count)
{
    for (int64_t i = 0; zero && i < count; i++) {
        if (tn_dtype_load_i64(zero->dtype, zero->constant->data, (size_t)i) != 0) {
            return false;
        }
    }
    return true;
}

// Constant scales and zero points of a quantize or dequantize node.
static bool read_scales(const tn_node *node, tn_dtype bytes, tn_quantised *out)
{
    const tn_quantize_attr *attr = node->attr;
    int64_t count, zeros;
    out->scale = node->in[1];
    out->zero = node->n_in > 2 ? node->in[2] : NULL;
    out->dtype = bytes;
    out->zero_first = 0;
    if ((!is_byte(bytes) && bytes != TN_I16) || attr->block_size != 0 || (attr->precision != TN_NONE && attr->precision != TN_F32) ||
        (attr->output_dtype != TN_NONE && attr->output_dtype != bytes && attr->output_dtype != TN_F32) || !tn_floats(out->scale, &count)) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        const float scale = tn_float(out->scale, i);
        if (!(scale > 0) || !isfinite(scale)) {
            return false;
        }
    }
    if (out->zero) {
        if (!out->zero->constant || out->zero->dtype != bytes || !tn_shape_count(&out->zero->constant->shape, &zeros) || zeros != count) {
            return false;
        }
        if (bytes == TN_I16 && !all_zero(out->zero, zeros)) {
            return false;
        }
        out->zero_first = (int32_t)tn_dtype_load_i64(bytes, out->zero->constant->data, 0);
    }
    out->count = count;
    out->first = tn_float(out->scale, 0);
    const int64_t axis = attr->axis < 0 && node->in[0]->shape.rank >= 0 ? attr->axis + node->in[0]->shape.rank : attr->axis;
    out->axis = (int)axis;
    return count == 1 || (axis >= 0 && axis < TN_MAX_RANK);
}

bool tn_dequantised_any(const tn_value *value, tn_quantised *out)
{
    const tn_node *node = tn_made_by(value, &tn_op_dequantize_linear);
    if (!node || !tn_is_f32(value) || !node->in[0]) {
        return false;
    }
    out->x = node->in[0];
    return read_scales(node, node->in[0]->dtype, out);
}

bool tn_dequantised(const tn_value *value, tn_quantised *out) { return tn_dequantised_any(value, out) && is_byte(out->dtype); }

bool tn_dequantised_whole(const tn_value *value, tn_quantised *out) { return tn_dequantised(value, out) && out->count == 1; }

bool tn_quantises_any(const tn_node *node, tn_quantised *out)
{
    if (node->op != &tn_op_quantize_linear || !node->in[0] || !tn_is_f32(node->in[0]) || !node->out[0]) {
        return false;
    }
    out->x = node->in[0];
    return read_scales(node, node->out[0]->dtype, out) && out->count == 1;
}

bool tn_quantises(const tn_node *node, tn_quantised *out) { return tn_quantises_any(node, out) && is_byte(out->dtype); }

bool tn_same_quantisation(const tn_quantised *a, const tn_quantised *b)
{
    return a->dtype == b->dtype && a->count == 1 && b->count == 1 && a->first == b->first && a->zero_first == b->zero_first;
}

int32_t tn_quantise_one(const tn_quantised *q, double real)
{
    const double least = q->dtype == TN_I8 ? INT8_MIN : q->dtype == TN_I16 ? INT16_MIN : 0;
    const double most = q->dtype == TN_I8 ? INT8_MAX : q->dtype == TN_I16 ? INT16_MAX : UINT8_MAX;
    const double v = rint((double)((float)real / q->first)) + q->zero_first;
    return (int32_t)(v >= most ? most : v > least ? v : least);      // NaN: the least
}

tn_value *tn_new_bytes(tn_graph *graph, tn_dtype dtype, int64_t count, const uint8_t *data)
{
    const tn_shape shape = tn_shape_of(1, &count);
    return tn_graph_constant(graph, NULL, dtype, &shape, data, true);
}

tn_value *tn_new_i32(tn_graph *graph, int64_t count, int32_t **data)
{
    const tn_shape shape = tn_shape_of(1, &count);
    void *bytes;
    tn_value *value = tn_graph_room(graph, NULL, TN_I32, &shape, &bytes);
    *data = bytes;
    return value;
}

// The bound of operand i of a clip; false: it is there and is no constant.
static bool bound_of(const tn_node *node, int i, double *bound)
{
    return i >= node->n_in || !node->in[i] || tn_scalar(node->in[i], bound);
}

tn_value *tn_peel_bounds(const tn_pass_context *context, tn_value *value, double *low, double *high, tn_node **from, int *n_from)
{
    *low = -INFINITY;
    *high = INFINITY;
    while (value && value->producer && tn_used_once(context, value) && *n_from < TN_QUANT_CHAIN) {
        tn_node *node = value->producer;
        double least = -INFINITY, most = INFINITY;
        if (node->op == &tn_op_relu) {
            least = 0;
        } else if (node->op != &tn_op_clip || !bound_of(node, 1, &least) || !bound_of(node, 2, &most)) {
            break;
        }
        // What is applied later holds: clip(clip(x, a, b), c, d).
        if (!(least <= most) || *low > *high) {
            break;
        }
        *low = fmax(*low, fmin(least, *high));
        *high = fmin(*high, fmax(most, *low));
        from[(*n_from)++] = node;
        value = node->in[0];
    }
    return value;
}

tn_qlinear_attr tn_quant_bounds(const tn_pass_context *context, const tn_quantised *y, double low, double high)
{
    return (tn_qlinear_attr){.rounding = context->rounding, .low = low > -INFINITY ? tn_quantise_one(y, low) : INT16_MIN,
                             .high = high < INFINITY ? tn_quantise_one(y, high) : INT16_MAX};
}

bool tn_quant_work_of(const tn_pass_context *context, const tn_quantised *y, tn_quant_work *work)
{
    double low, high;
    work->n_from = 0;
    const tn_value *value = tn_peel_bounds(context, y->x, &low, &high, work->from, &work->n_from);
    work->node = value && tn_used_once(context, value) ? value->producer : NULL;
    if (!work->node || work->node->n_out != 1) {
        return false;
    }
    work->from[work->n_from++] = work->node;
    work->q = tn_quant_bounds(context, y, low, high);
    return true;
}

const tn_op *tn_quant_whole(const tn_op *const (*rows)[2], size_t count, const tn_op *real)
{
    const tn_op *whole = NULL;
    for (size_t i = 0; i < count; i++) {
        whole = rows[i][0] == real ? rows[i][1] : whole;
    }
    return whole;
}
