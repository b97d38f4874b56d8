// SPDX-License-Identifier: Apache-2.0
// Predicate, parameters, packing and costs of quantised convolution (qconv.h).
// Ownership: none. Threads: any.
#include "kernels/qconv/qconv.h"

#include "base/macros.h"
#include "ops/op_rows.h"

#define MAX_TAPS 256      // of a depthwise window: sums are exact in float32

static bool is_byte(const tn_tensor *tensor) { return tensor->dtype == TN_U8 || tensor->dtype == TN_I8; }
static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

bool tn_qconv_match(const tn_query *query, const char **why)
{
    const tn_qconv_attr *attr = query->attr;
    tn_window w;
    for (int i = 1; i < query->n_in; i++) {
        if (query->in[i] && !query->in[i]->data) {
            *why = "weights, scales or zero points that are no constants";
            return false;
        }
    }
    if (!is_byte(query->in[0]) || !is_byte(query->in[3]) || tn_tensor_count(query->out[0]) == 0 || tn_tensor_count(query->in[3]) == 0) {
        *why = "no bytes, or no elements";
        return false;
    }
    if (!tn_conv_window(&attr->conv, &query->in[0]->shape, &query->in[3]->shape, &w) || w.rank > 2) {
        *why = "more than two spatial dims";
        return false;
    }
    // Windows that lie far apart, or mostly in the pads, would need more room than the tensors themselves: the reference takes them.
    const int64_t span_y = (w.kernel[0] - 1) * w.dilation[0] + (w.out[0] - 1) * w.stride[0];
    const int64_t span_x = w.rank > 1 ? (w.kernel[1] - 1) * w.dilation[1] + (w.out[1] - 1) * w.stride[1] : 0;
    if (span_y > 4 * w.in[0] + 1024 || (w.rank > 1 && span_x > 4 * w.in[1] + 1024)) {
        *why = "windows much larger than the picture";
        return false;
    }
    return true;
}

// Element i of a scale, zero point or bias that may be one for all, or absent.
static double at(const tn_tensor *tensor, int64_t i) { return tensor ? tn_element(tensor, tn_tensor_count(tensor) == 1 ? 0 : i) : 0; }

static void pack(void *dst, const tn_query *query, const void *params)
{
    const tn_qconv_params *p = params;
    const tn_tensor *w = query->in[3], *zero = operand(query, 5);
    const int64_t row = p->depthwise ? p->k : 2 * p->pairs;
    for (int64_t m = 0; m < p->m; m++) {
        const int64_t z = (int64_t)at(zero, m);
        for (int64_t k = 0; k < row; k++) {
            const int64_t v = k < p->k ? tn_dtype_load_i64(w->dtype, w->data, (size_t)(m * p->k + k)) - z : 0;
            ((int16_t *)dst)[m * row + k] = (int16_t)v;
        }
    }
}

tn_status tn_qconv_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_qconv_attr *attr = query->attr;
    const tn_shape *x = &query->in[0]->shape, *w = &query->in[3]->shape;
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_qconv_params), &memory));
    tn_qconv_params *p = memory;
    (void)tn_conv_window(&attr->conv, x, w, &p->w);
    tn_window_widen(&p->w);
    p->m = w->dims[0];
    p->group = attr->conv.group;
    p->cg = w->dims[1];
    p->mg = p->m / p->group;
    p->taps = p->w.kernel[1] * p->w.kernel[2];
    p->k = p->cg * p->taps;
    p->pairs = TN_CEIL_DIV(p->k, 2);
    p->depthwise = p->cg == 1 && p->taps <= MAX_TAPS;
    p->x_signed = query->in[0]->dtype == TN_I8;
    p->x_zero = (int32_t)at(operand(query, 2), 0);
    p->y_zero = (int32_t)at(operand(query, 7), 0);
    tn_qlinear_range(&attr->q, query->out[0]->dtype, &p->low, &p->high);
    tn_requant *factor = tn_arena_array(prepare->arena, (size_t)p->m, sizeof *factor);
    int32_t *bias = tn_arena_array(prepare->arena, (size_t)p->m, sizeof *bias);
    if (!factor || !bias) {
        return tn_fail_memory(prepare->diag, query->name, (size_t)p->m * sizeof *factor);
    }
    for (int64_t m = 0; m < p->m; m++) {
        factor[m] = tn_requant_factor(attr->q.rounding, (float)at(query->in[1], 0), (float)at(query->in[4], m), (float)at(query->in[6], 0));
        bias[m] = (int32_t)at(operand(query, 8), m);
    }
    p->factor = factor;
    p->bias = bias;
    if (p->depthwise) {
        p->rows = (p->w.out[1] - 1) * p->w.stride[1] + (p->w.kernel[1] - 1) * p->w.dilation[1] + 1;
        p->phase = p->w.out[2] + (p->w.kernel[2] - 1) * p->w.dilation[2] / p->w.stride[2];
        p->slot_bytes = (size_t)(2 * p->w.out[2] + p->rows * p->w.stride[2] * p->phase) * sizeof(float);
    } else {
        p->slot_bytes = TN_QCONV_BLOCK * TN_QCONV_TILE * sizeof(int32_t) + (size_t)p->pairs * TN_QCONV_TILE * 2 * sizeof(int16_t);
    }
    p->slot_bytes = (p->slot_bytes + 63) / 64 * 64;
    prepare->scratch_bytes = p->slot_bytes * TN_MAX(query->threads, 1u);
    prepare->packs[0] = (tn_pack){.operand = 3, .id = "qconv", .variant = p->depthwise + 2 * (uint64_t)(operand(query, 5) != NULL),
                                  .bytes = (size_t)(p->m * (p->depthwise ? p->k : 2 * p->pairs)) * sizeof(int16_t), .pack = pack};
    prepare->n_packs = 1;
    return TN_OK;
}

static double cost(const tn_query *query, double per_ns)
{
    return 500.0 + (double)tn_query_macs(query) / per_ns + (double)tn_tensor_count(query->out[0]) * 1.0;
}

double tn_qconv_cost_portable(const tn_query *query) { return cost(query, 4.0); }
double tn_qconv_cost_avx2(const tn_query *query) { return cost(query, 25.0); }
double tn_qconv_cost_avx512(const tn_query *query) { return cost(query, 45.0); }
