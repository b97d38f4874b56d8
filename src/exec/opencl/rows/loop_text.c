// SPDX-License-Identifier: Apache-2.0
// The loop IR as OpenCL C. V is the type in use, float or float4; every text holds for both.
// Ownership: none. Threads: any.
#include "exec/opencl/cl_build.h"

#include <math.h>

// %A, %B, %C: operands; %X, %Y: immediates. The meanings are those of loop/loop.h.
static const char *const texts[TN_LOOP_COUNT] = {
    [TN_LOOP_CONST] = "(V)(%X)",
    [TN_LOOP_ADD] = "%A + %B",
    [TN_LOOP_SUB] = "%A - %B",
    [TN_LOOP_MUL] = "%A * %B",
    [TN_LOOP_DIV] = "%A / %B",
    [TN_LOOP_MIN] = "NAN_OR(fmin, %A, %B)",
    [TN_LOOP_MAX] = "NAN_OR(fmax, %A, %B)",
    [TN_LOOP_POW] = "pow(%A, %B)",
    [TN_LOOP_MADD] = "mad(%A, %B, %C)",
    [TN_LOOP_NEG] = "-%A",
    [TN_LOOP_ABS] = "fabs(%A)",
    [TN_LOOP_SQRT] = "sqrt(%A)",
    [TN_LOOP_RSQRT] = "(V)(1.0f) / sqrt(%A)",
    [TN_LOOP_RECIP] = "(V)(1.0f) / %A",
    [TN_LOOP_EXP] = "exp(%A)",
    [TN_LOOP_LOG] = "log(%A)",
    [TN_LOOP_TANH] = "tanh(%A)",
    [TN_LOOP_SIGMOID] = "(V)(1.0f) / ((V)(1.0f) + exp(-%A))",
    [TN_LOOP_ERF] = "erf(%A)",
    [TN_LOOP_FLOOR] = "floor(%A)",
    [TN_LOOP_CEIL] = "ceil(%A)",
    [TN_LOOP_ROUND] = "rint(%A)",
    [TN_LOOP_RELU] = "select(%A, (V)(0.0f), %A < (V)(0.0f))",
    [TN_LOOP_LEAKY] = "select(%A, (V)(%X) * %A, %A < (V)(0.0f))",
    [TN_LOOP_CLIP] = "CLIP(%A, %X, %Y)",
    [TN_LOOP_HARD_SIGMOID] = "CLIP((V)(%X) * %A + (V)(%Y), 0.0f, 1.0f)",
    [TN_LOOP_HARD_SWISH] = "%A * CLIP(%A / (V)(6.0f) + (V)(0.5f), 0.0f, 1.0f)",
    [TN_LOOP_HARD_SWISH_AFFINE] = "(V)(%X) * (%A * CLIP(%A / (V)(6.0f) + (V)(0.5f), 0.0f, 1.0f)) + (V)(%Y)",
    [TN_LOOP_SILU] = "%A / ((V)(1.0f) + exp(-%A))",
    [TN_LOOP_GELU] = "(V)(0.5f) * %A * ((V)(1.0f) + erf(%A * (V)(0.70710678118654752f)))",
    [TN_LOOP_GELU_TANH] = "(V)(0.5f) * %A * ((V)(1.0f) + tanh((V)(0.7978845608028654f) * (%A + (V)(0.044715f) * %A * %A * %A)))",
    [TN_LOOP_ELU] = "select(%A, (V)(%X) * expm1(%A), %A < (V)(0.0f))",
    [TN_LOOP_SOFTPLUS] = "fmax(%A, (V)(0.0f)) + log1p(exp(-fabs(%A)))",
    [TN_LOOP_AFFINE] = "(V)(%X) * %A + (V)(%Y)",
    [TN_LOOP_PRELU] = "select(%A, %B * %A, %A < (V)(0.0f))",
};

static void number(tn_text *text, float v)
{
    if (isnan(v)) {
        tn_text_add(text, "NAN");
    } else if (isinf(v)) {
        tn_text_add(text, v < 0 ? "(-INFINITY)" : "INFINITY");
    } else {
        tn_text_add(text, "(%.9ef)", (double)v);
    }
}

static void instruction(tn_text *text, const tn_loop_instr *code)
{
    const char *form = code->code < TN_LOOP_COUNT ? texts[code->code] : "NAN";
    for (const char *at = form; *at; at++) {
        if (*at != '%') {
            tn_text_bytes(text, at, 1);
            continue;
        }
        at++;
        switch (*at) {
        case 'A': tn_text_add(text, "r%d", code->a); break;
        case 'B': tn_text_add(text, "r%d", code->b); break;
        case 'C': tn_text_add(text, "r%d", code->c); break;
        case 'X': number(text, code->x); break;
        default: number(text, code->y); break;
        }
    }
}

void tn_cl_loop_body(tn_text *text, const tn_loop *loop)
{
    for (int i = 0; i < loop->n_code; i++) {
        tn_text_add(text, "    const V r%d = ", loop->n_inputs + i);
        instruction(text, &loop->code[i]);
        tn_text_add(text, ";\n");
    }
    tn_text_add(text, "    const V result = r%d;\n", loop->n_inputs + loop->n_code - 1);
}
