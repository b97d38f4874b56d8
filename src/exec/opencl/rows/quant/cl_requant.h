// SPDX-License-Identifier: Apache-2.0
// What the rows of quantised operators share: reading scales and zero points that are constants, and giving kernels the factors that
// kernels/quant/requant.cl needs.
// Ownership: plain values; memory is the flow's. Threads: as cl_build.h.
#ifndef TN_CL_REQUANT_H
#define TN_CL_REQUANT_H

#include "exec/opencl/rows/cl_rows.h"

#include "ops/quant/requantise.h"

bool tn_cl_is_byte(const tn_tensor *tensor);
const tn_tensor *tn_cl_operand(const tn_query *query, int i);         // NULL: absent
// Operands from .. from + n - 1: each absent or a constant; `single`: of one element. Sets *why.
bool tn_cl_known(const tn_query *query, int from, int n, bool single, const char **why);
float tn_cl_scale_at(const tn_tensor *scale, int64_t i);              // one for all, or the i-th
int32_t tn_cl_zero_at(const tn_tensor *zero, int64_t i);              // 0 when absent

// In the step that is being written: the macros Y_ZERO, LOW, HIGH, FIXED, and requant.cl as its helper.
void tn_cl_requant_begin(tn_cl_build *b, const tn_qlinear_attr *attr, tn_dtype dtype, int32_t y_zero);
// Uploads count factors as the rounding has them; the argument `factor` of the step that is begun afterwards.
tn_cl_mem *tn_cl_factors(tn_cl_build *b, const tn_requant *factors, int64_t count);
void tn_cl_factor_arg(tn_cl_build *b, const tn_qlinear_attr *attr, tn_cl_mem *factors);

#endif
