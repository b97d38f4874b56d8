// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of any type, each an expression of OpenCL C over its operands a, b, c and the result's type T.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_select.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_activation.h"

#include <stdio.h>

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

// ---- forms that their attributes change ----

// Never 0: a division by it is an error that kernels do not find.
static bool no_zeros(const tn_tensor *tensor)
{
    const int64_t count = tensor->data ? tn_tensor_count(tensor) : 0;
    for (int64_t i = 0; i < count; i++) {
        if (tn_dtype_load_i64(tensor->dtype, tensor->data, (size_t)i) == 0) {
            return false;
        }
    }
    return count > 0;
}

// The expression of an operator with attributes; false: not of this one, or not for these types.
static bool write_form(const tn_query *query, char *text, size_t size)
{
    const tn_dtype dtype = query->in[0]->dtype;
    const bool whole = tn_dtype_is_int(dtype), real = dtype == TN_F32;
    if (query->op == &tn_op_mod && query->n_in == 2 && (real || (whole && no_zeros(query->in[1])))) {
        const bool truncated = ((const tn_mod_attr *)query->attr)->fmod || !(real || tn_dtype_is_signed(dtype));
        // A remainder by -1 is 0; processors trap for the lowest number. The sign is the divisor's, also of 0.
        const char *plain = real ? "fmod(a, b)" : tn_dtype_is_signed(dtype) ? "(T)((b) == -1 ? 0 : (a) % (b))" : "(T)((a) % (b))";
        const char *turned = real ? "(fmod(a, b) == 0.0f ? copysign(0.0f, b) : (fmod(a, b) < 0.0f) != (b < 0.0f) ? fmod(a, b) + b : fmod(a, b))"
                                  : "(T)((b) == -1 ? 0 : (a) % (b) != 0 && ((a) % (b) < 0) != ((b) < 0) ? (a) % (b) + (b) : (a) % (b))";
        (void)snprintf(text, size, "%s", truncated ? plain : turned);
    } else if (query->op == &tn_op_bit_shift && query->n_in == 2 && whole) {
        const bool left = ((const tn_bit_shift_attr *)query->attr)->left;
        const int bits = (int)tn_dtype_bytes(dtype) * 8;
        (void)snprintf(text, size, "(T)((b) < 0 || (b) >= %d ? %s : (T)(%s))", bits, left ? "(T)0" : "(T)((a) < 0 ? -1 : 0)",
                       left ? "(ulong)(a) << (b)" : "(a) >> (b)");
    } else if (query->op == &tn_op_is_inf && real) {
        const tn_is_inf_attr *attr = query->attr;
        (void)snprintf(text, size, "(T)(isinf(a) && ((a) < 0.0f ? %d : %d))", attr->detect_negative, attr->detect_positive);
    } else if (query->op == &tn_op_shrink && real) {
        const tn_activation_attr *attr = query->attr;
        (void)snprintf(text, size, "((a) < %.9ef ? (a) + %.9ef : (a) > %.9ef ? (a) - %.9ef : isnan(a) ? (a) : 0.0f)", -attr->alpha, attr->beta,
                       attr->alpha, attr->beta);
    } else if (query->op == &tn_op_thresholded_relu && real) {
        (void)snprintf(text, size, "(isnan(a) || (a) > %.9ef ? (a) : 0.0f)", ((const tn_activation_attr *)query->attr)->alpha);
    } else if (query->op == &tn_op_clip && whole && query->n_in > 1) {
        (void)snprintf(text, size, query->n_in == 3 ? "((a) < (b) ? (b) > (c) ? (c) : (b) : (a) > (c) ? (c) : (a))" : "max(a, b)");
    } else {
        return false;
    }
    return true;
}

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

bool tn_cl_form_exists(const tn_op *op)
{
    for (size_t i = 0; i < TN_COUNT(forms); i++) {
        if (forms[i].op == op) {
            return true;
        }
    }
    return false;
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
    char text[256];
    if (!query->n_in || !query->in[0] || (!form_of(query) && !write_form(query, text, sizeof text))) {
        return false;
    }
    return known_types(query, why);
}

static void emit_form(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const form *f = form_of(query);
    char text[256];
    (void)write_form(query, text, sizeof text);
    tn_cl_elementwise_begin(b, in, query->n_in, out[0]);
    tn_cl_expression(b, in, names, query->n_in, out[0], "%s", f ? f->text : text);
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

#define FORM(NAME) {.op = &tn_op_##NAME, .match = match_form, .emit = emit_form}

static const tn_cl_row rows[] = {
    FORM(mod), FORM(bit_shift), FORM(is_inf), FORM(shrink), FORM(thresholded_relu),
    {.op = &tn_op_cast, .match = match_cast, .emit = emit_cast},
    {.match = match_form, .emit = emit_form},
};

TN_CL_EXPORT(typed, rows);
