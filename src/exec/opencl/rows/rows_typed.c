// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of any type, each an expression of OpenCL C over its operands a, b, c and the result's type T.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_select.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_activation.h"

enum { ANY, INTEGERS, FLOATS, BOOLS };     // types of operand 0 that the expression holds for

typedef struct form {
    const tn_op *op;
    int operands, types;
    const char *text;
} form;

static const form forms[] = {
    {&tn_op_add, 2, INTEGERS, "(T)((a) + (b))"},
    {&tn_op_sub, 2, INTEGERS, "(T)((a) - (b))"},
    {&tn_op_mul, 2, INTEGERS, "(T)((a) * (b))"},
    {&tn_op_max, 2, INTEGERS, "(T)max(a, b)"},
    {&tn_op_min, 2, INTEGERS, "(T)min(a, b)"},
    {&tn_op_neg, 1, INTEGERS, "(T)(-(a))"},
    {&tn_op_bitwise_and, 2, INTEGERS, "(T)((a) & (b))"},
    {&tn_op_bitwise_or, 2, INTEGERS, "(T)((a) | (b))"},
    {&tn_op_bitwise_xor, 2, INTEGERS, "(T)((a) ^ (b))"},
    {&tn_op_bitwise_not, 1, INTEGERS, "(T)(~(a))"},
    {&tn_op_equal, 2, ANY, "(T)((a) == (b))"},
    {&tn_op_greater, 2, ANY, "(T)((a) > (b))"},
    {&tn_op_less, 2, ANY, "(T)((a) < (b))"},
    {&tn_op_greater_or_equal, 2, ANY, "(T)((a) >= (b))"},
    {&tn_op_less_or_equal, 2, ANY, "(T)((a) <= (b))"},
    {&tn_op_and, 2, BOOLS, "(T)((a) && (b))"},
    {&tn_op_or, 2, BOOLS, "(T)((a) || (b))"},
    {&tn_op_xor, 2, BOOLS, "(T)(!(a) != !(b))"},
    {&tn_op_not, 1, BOOLS, "(T)(!(a))"},
    {&tn_op_where, 3, ANY, "((a) ? (b) : (c))"},
    {&tn_op_is_nan, 1, FLOATS, "(T)(isnan(a) != 0)"},
    {&tn_op_sign, 1, FLOATS, "(isnan(a) ? (a) : sign(a))"},
    {&tn_op_sin, 1, FLOATS, "sin(a)"},
    {&tn_op_cos, 1, FLOATS, "cos(a)"},
    {&tn_op_tan, 1, FLOATS, "tan(a)"},
    {&tn_op_asin, 1, FLOATS, "asin(a)"},
    {&tn_op_acos, 1, FLOATS, "acos(a)"},
    {&tn_op_atan, 1, FLOATS, "atan(a)"},
    {&tn_op_sinh, 1, FLOATS, "sinh(a)"},
    {&tn_op_cosh, 1, FLOATS, "cosh(a)"},
    {&tn_op_asinh, 1, FLOATS, "asinh(a)"},
    {&tn_op_acosh, 1, FLOATS, "acosh(a)"},
    {&tn_op_atanh, 1, FLOATS, "atanh(a)"},
};

static const char *const names[] = {"a", "b", "c"};

static const form *form_of(const tn_query *query)
{
    for (size_t i = 0; i < TN_COUNT(forms); i++) {
        const tn_dtype dtype = query->in[0]->dtype;
        const bool fits = forms[i].types == ANY || (forms[i].types == INTEGERS && tn_dtype_is_int(dtype)) ||
                          (forms[i].types == FLOATS && dtype == TN_F32) || (forms[i].types == BOOLS && dtype == TN_BOOL);
        if (forms[i].op == query->op && forms[i].operands == query->n_in && fits) {
            return &forms[i];
        }
    }
    return NULL;
}

static bool known_types(const tn_query *query, const char **why)
{
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        if (!tensor || !tn_cl_type(tensor->dtype)) {
            *why = "elements of this type, or absent operands";
            return false;
        }
    }
    return query->n_in > 0 && query->n_in <= TN_LOOP_MAX_INPUTS;
}

static bool match_form(const tn_query *query, const char **why)
{
    if (!query->n_in || !query->in[0] || !form_of(query)) {
        return false;
    }
    return known_types(query, why);
}

static void emit_form(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const form *f = form_of(query);
    tn_cl_elementwise_begin(b, in, query->n_in, out[0]);
    tn_cl_expression(b, in, names, query->n_in, out[0], "%s", f->text);
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

// Floats to integers drop the fraction; past the range of the result they saturate and NaN becomes 0, as in the reference.
static bool match_cast(const tn_query *query, const char **why)
{
    return known_types(query, why);
}

static void emit_cast(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_dtype to = out[0]->dtype, from = in[0]->dtype;
    if (to == from || (to == TN_U8 && from == TN_BOOL)) {
        tn_cl_alias(b, out[0], in[0]);
        return;
    }
    tn_cl_elementwise_begin(b, in, 1, out[0]);
    if (tn_dtype_is_float(from) && tn_dtype_is_int(to)) {
        tn_cl_expression(b, in, names, 1, out[0], "convert_%s_sat(a)", tn_cl_type(to));
    } else {
        tn_cl_expression(b, in, names, 1, out[0], "%s", to == TN_BOOL ? "(T)((a) != 0)" : "(T)(a)");
    }
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
    (void)query;
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_cast, .match = match_cast, .emit = emit_cast},
    {.match = match_form, .emit = emit_form},
};

TN_CL_EXPORT(typed, rows);
