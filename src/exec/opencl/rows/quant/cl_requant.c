// SPDX-License-Identifier: Apache-2.0
// Scales, zero points and factors of quantised operators as arguments and macros of kernels.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/rows/quant/cl_requant.h"

#include "ops/op_facts.h"
#include "ops/op_rows.h"

bool tn_cl_is_byte(const tn_tensor *tensor) { return tensor->dtype == TN_U8 || tensor->dtype == TN_I8; }
const tn_tensor *tn_cl_operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

bool tn_cl_known(const tn_query *query, int from, int n, bool single, const char **why)
{
    *why = single ? "scales and zero points that are not constants of one element" : "scales and zero points that are not constants";
    for (int i = from; i < from + n; i++) {
        const tn_tensor *t = tn_cl_operand(query, i);
        if (t && (!t->data || (single && tn_tensor_count(t) != 1))) {
            return false;
        }
    }
    return true;
}

float tn_cl_scale_at(const tn_tensor *scale, int64_t i) { return (float)tn_element(scale, tn_tensor_count(scale) == 1 ? 0 : i); }

int32_t tn_cl_zero_at(const tn_tensor *zero, int64_t i)
{
    return zero ? (int32_t)tn_element(zero, tn_tensor_count(zero) == 1 ? 0 : i) : 0;
}

void tn_cl_requant_begin(tn_cl_build *b, const tn_qlinear_attr *attr, tn_dtype dtype, int32_t y_zero)
{
    int32_t low, high;
    if (b->status != TN_OK) {
        return;
    }
    tn_qlinear_range(attr, dtype, &low, &high);
    b->step->helper = "requant";
    tn_cl_define(b, "Y_ZERO", "(%d)", (int)y_zero);
    tn_cl_define(b, "LOW", "(%d)", (int)low);
    tn_cl_define(b, "HIGH", "(%d)", (int)high);
    if (attr->rounding == TN_ROUND_FIXED_Q31) {
        tn_cl_define(b, "FIXED", "1");
    }
}

tn_cl_mem *tn_cl_factors(tn_cl_build *b, const tn_requant *factors, int64_t count)
{
    // Two words each at most: multiplier and shift, or the scale.
    int32_t *words = tn_arena_array(&b->scratch, (size_t)count * 2, sizeof *words);
    if (!words) {
        b->status = tn_fail_memory(b->diag, b->node->name, (size_t)count * 2 * sizeof *words);
        return NULL;
    }
    const bool fixed = factors[0].rounding == TN_ROUND_FIXED_Q31;
    float *reals = (float *)(void *)words;
    for (int64_t i = 0; i < count; i++) {
        if (fixed) {
            words[2 * i] = factors[i].multiplier;
            words[2 * i + 1] = factors[i].shift;
        } else {
            reals[i] = factors[i].scale;
        }
    }
    return tn_cl_upload(b, words, (size_t)count * (fixed ? 2 : 1) * sizeof *words);
}

void tn_cl_factor_arg(tn_cl_build *b, const tn_qlinear_attr *attr, tn_cl_mem *factors)
{
    tn_cl_in(b, attr->rounding == TN_ROUND_FIXED_Q31 ? "int2" : "float", "factor", factors);
}
