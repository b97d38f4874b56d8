// SPDX-License-Identifier: Apache-2.0
// Predicates, parameters and costs of quantisation (quantize.h).
// Ownership: none. Threads: any.
#include "kernels/quant/quantize.h"

#include "base/macros.h"
#include "ops/quant/op_quantize.h"

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

static bool is_byte(tn_dtype dtype) { return dtype == TN_U8 || dtype == TN_I8; }

// The integer side is `bytes`; scale is float32, a zero point has the integers' type; there is one scale, or one for each index
// of an axis.
static bool matches(const tn_query *query, const tn_tensor *bytes, const char **why)
{
    const tn_quantize_attr *attr = query->attr;
    const tn_tensor *x = query->in[0], *scale = query->in[1], *zero = operand(query, 2);
    int axis;
    if (!is_byte(bytes->dtype) || scale->dtype != TN_F32 || (zero && zero->dtype != bytes->dtype)) {
        *why = "not between float32 and 8-bit integers";
        return false;
    }
    if (attr->precision != TN_NONE && attr->precision != TN_F32) {
        *why = "another precision than float32";
        return false;
    }
    if (tn_tensor_count(x) == 0) {
        *why = "no elements";
        return false;
    }
    if (tn_tensor_count(scale) == 1) {
        return true;
    }
    if (x->layout != TN_LAYOUT_PLAIN || scale->shape.rank != 1 || !tn_axis(attr->axis, x->shape.rank, &axis) ||
        scale->shape.dims[0] != x->shape.dims[axis]) {
        *why = "scales by blocks, or by an axis in a blocked layout";
        return false;
    }
    return true;
}

bool tn_quantize_match(const tn_query *query, const char **why) { return matches(query, query->out[0], why); }
bool tn_dequantize_match(const tn_query *query, const char **why) { return matches(query, query->in[0], why); }

bool tn_dynamic_quantize_match(const tn_query *query, const char **why)
{
    *why = "no elements";
    return tn_tensor_count(query->in[0]) > 0;
}

// Elements in memory, lanes past the last channel included.
static int64_t elements(const tn_tensor *tensor)
{
    size_t bytes = 0;
    tn_tensor_bytes(tensor, &bytes);
    return (int64_t)(bytes / tn_dtype_bytes(tensor->dtype));
}

static tn_status prepare_rows(tn_prepare *prepare, const tn_tensor *bytes, const tn_tensor *scale)
{
    const tn_tensor *x = prepare->query->in[0];
    void *memory;
    int axis;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_quantize_params), &memory));
    tn_quantize_params *p = memory;
    p->is_signed = bytes->dtype == TN_I8;
    p->count = elements(x);
    p->scales = scale ? tn_tensor_count(scale) : 1;
    p->row = TN_QUANTIZE_PIECE;
    if (p->scales > 1 && tn_axis(((const tn_quantize_attr *)prepare->query->attr)->axis, x->shape.rank, &axis)) {
        const int64_t inner = tn_shape_span(&x->shape, axis + 1, x->shape.rank);
        p->along = inner == 1;
        p->row = p->along ? p->scales : inner;
    }
    p->rows = TN_CEIL_DIV(p->count, p->row);
    return TN_OK;
}

tn_status tn_quantize_prepare(tn_prepare *prepare) { return prepare_rows(prepare, prepare->query->out[0], prepare->query->in[1]); }
tn_status tn_dequantize_prepare(tn_prepare *prepare) { return prepare_rows(prepare, prepare->query->in[0], prepare->query->in[1]); }

tn_status tn_dynamic_quantize_prepare(tn_prepare *prepare)
{
    TN_TRY(prepare_rows(prepare, prepare->query->out[0], NULL));
    // The least and the greatest of each row.
    prepare->scratch_bytes = 2 * sizeof(float) * (size_t)((const tn_quantize_params *)prepare->params)->rows;
    return TN_OK;
}

static double cost(const tn_query *query, double element) { return 150.0 + (double)tn_tensor_count(query->in[0]) * element; }

double tn_quantize_cost_portable(const tn_query *query) { return cost(query, 2.0); }
double tn_quantize_cost_avx2(const tn_query *query) { return cost(query, 0.3); }
double tn_quantize_cost_avx512(const tn_query *query) { return cost(query, 0.15); }
