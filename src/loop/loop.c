// SPDX-License-Identifier: Apache-2.0
// The loop IR: building programs, and their meaning in plain C. Functions are computed in double and rounded once, so that this is
// the value all devices are measured against.
// Ownership: none. Threads: any.
#include "loop/loop.h"
#include "base/macros.h"

#include <math.h>
#include <string.h>

const char *tn_loop_code_text(tn_loop_code code)
{
    static const char *const texts[TN_LOOP_COUNT] = {
        [TN_LOOP_CONST] = "const", [TN_LOOP_ADD] = "add", [TN_LOOP_SUB] = "sub", [TN_LOOP_MUL] = "mul", [TN_LOOP_DIV] = "div",
        [TN_LOOP_MIN] = "min", [TN_LOOP_MAX] = "max", [TN_LOOP_POW] = "pow", [TN_LOOP_MADD] = "madd", [TN_LOOP_NEG] = "neg",
        [TN_LOOP_ABS] = "abs", [TN_LOOP_SQRT] = "sqrt", [TN_LOOP_RSQRT] = "rsqrt", [TN_LOOP_RECIP] = "recip",
        [TN_LOOP_EXP] = "exp", [TN_LOOP_LOG] = "log", [TN_LOOP_TANH] = "tanh", [TN_LOOP_SIGMOID] = "sigmoid",
        [TN_LOOP_ERF] = "erf", [TN_LOOP_FLOOR] = "floor", [TN_LOOP_CEIL] = "ceil", [TN_LOOP_ROUND] = "round",
        [TN_LOOP_RELU] = "relu", [TN_LOOP_LEAKY] = "leaky", [TN_LOOP_CLIP] = "clip", [TN_LOOP_HARD_SIGMOID] = "hard_sigmoid",
        [TN_LOOP_HARD_SWISH] = "hard_swish", [TN_LOOP_HARD_SWISH_AFFINE] = "hard_swish_affine",
        [TN_LOOP_SILU] = "silu", [TN_LOOP_GELU] = "gelu",
        [TN_LOOP_GELU_TANH] = "gelu_tanh", [TN_LOOP_ELU] = "elu", [TN_LOOP_SOFTPLUS] = "softplus",
        [TN_LOOP_AFFINE] = "affine", [TN_LOOP_PRELU] = "prelu",
    };
    return (unsigned)code < TN_LOOP_COUNT ? texts[code] : "invalid";
}

int tn_loop_code_operands(tn_loop_code code)
{
    static const int operands[] = {
#define X(name, count, meaning) count,
        TN_LOOP_LIST(X)
#undef X
    };
    return (unsigned)code < TN_LOOP_COUNT ? operands[code] : 0;
}

int tn_loop_add(tn_loop_build *build, tn_loop_code code, int a, int b, int c, float x, float y)
{
    tn_loop *loop = &build->loop;
    if (build->full || loop->n_code >= TN_LOOP_MAX_CODE) {
        build->full = true;
        return 0;
    }
    loop->code[loop->n_code] = (tn_loop_instr){(uint8_t)code, (uint8_t)a, (uint8_t)b, (uint8_t)c, x, y};
    return loop->n_inputs + loop->n_code++;
}

// NaN if either is NaN; of the zeros, -0 is the smaller one.
static double least(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return a + b;
    }
    return a < b || (a == b && signbit(a)) ? a : b;
}

static double greatest(double a, double b)
{
    return -least(-a, -b);
}

static double sigmoid(double a)
{
    return 1 / (1 + exp(-a));
}

// log(1 + e^a) without overflow for large a.
static double softplus(double a)
{
    return isnan(a) ? a : (a > 0 ? a : 0) + log1p(exp(-fabs(a)));
}

static double unit_ramp(double a)   // clamps to 0 .. 1, NaN stays
{
    return a < 0 ? 0 : a > 1 ? 1 : a;
}

static double gelu_tanh(double a)
{
    const double root_2_over_pi = 0.79788456080286535588;
    return 0.5 * a * (1 + tanh(root_2_over_pi * (a + 0.044715 * a * a * a)));
}

float tn_loop_eval_code(tn_loop_code code, float fa, float fb, float fc, float fx, float fy)
{
    const double a = fa, b = fb, c = fc, x = fx, y = fy;
    const double root_half = 0.70710678118654752440;
    switch (code) {
    case TN_LOOP_CONST: return fx;
    case TN_LOOP_ADD: return fa + fb;
    case TN_LOOP_SUB: return fa - fb;
    case TN_LOOP_MUL: return fa * fb;
    case TN_LOOP_DIV: return fa / fb;
    case TN_LOOP_MIN: return (float)least(a, b);
    case TN_LOOP_MAX: return (float)greatest(a, b);
    case TN_LOOP_POW: return (float)pow(a, b);
    case TN_LOOP_MADD: return (float)fma(a, b, c);
    case TN_LOOP_NEG: return -fa;
    case TN_LOOP_ABS: return fabsf(fa);
    case TN_LOOP_SQRT: return sqrtf(fa);
    case TN_LOOP_RSQRT: return (float)(1 / sqrt(a));
    case TN_LOOP_RECIP: return 1 / fa;
    case TN_LOOP_EXP: return (float)exp(a);
    case TN_LOOP_LOG: return (float)log(a);
    case TN_LOOP_TANH: return (float)tanh(a);
    case TN_LOOP_SIGMOID: return (float)sigmoid(a);
    case TN_LOOP_ERF: return (float)erf(a);
    case TN_LOOP_FLOOR: return floorf(fa);
    case TN_LOOP_CEIL: return ceilf(fa);
    case TN_LOOP_ROUND: return rintf(fa);
    case TN_LOOP_RELU: return fa < 0 ? 0 : fa;
    case TN_LOOP_LEAKY: return fa < 0 ? fx * fa : fa;
    case TN_LOOP_CLIP: return (float)least(greatest(a, x), y);
    case TN_LOOP_HARD_SIGMOID: return (float)unit_ramp(x * a + y);
    case TN_LOOP_HARD_SWISH: return (float)(a * unit_ramp(a / 6 + 0.5));
    case TN_LOOP_HARD_SWISH_AFFINE: return (float)(x * (a * unit_ramp(a / 6 + 0.5)) + y);
    case TN_LOOP_SILU: return (float)(a * sigmoid(a));
    case TN_LOOP_GELU: return (float)(0.5 * a * (1 + erf(a * root_half)));
    case TN_LOOP_GELU_TANH: return (float)gelu_tanh(a);
    case TN_LOOP_ELU: return (float)(a < 0 ? x * expm1(a) : a);
    case TN_LOOP_SOFTPLUS: return (float)softplus(a);
    case TN_LOOP_AFFINE: return (float)(x * a + y);
    case TN_LOOP_PRELU: return fa < 0 ? fb * fa : fa;
    case TN_LOOP_COUNT: break;
    }
    return 0;
}

float tn_loop_eval(const tn_loop *loop, const float *in)
{
    float registers[TN_LOOP_MAX_INPUTS + TN_LOOP_MAX_CODE];
    memcpy(registers, in, (size_t)loop->n_inputs * sizeof *in);
    for (int i = 0; i < loop->n_code; i++) {
        const tn_loop_instr *instr = &loop->code[i];
        const int operands = tn_loop_code_operands((tn_loop_code)instr->code);
        const float a = operands > 0 ? registers[instr->a] : 0;
        const float b = operands > 1 ? registers[instr->b] : 0;
        const float c = operands > 2 ? registers[instr->c] : 0;
        registers[loop->n_inputs + i] = tn_loop_eval_code((tn_loop_code)instr->code, a, b, c, instr->x, instr->y);
    }
    const int count = loop->n_inputs + loop->n_code;
    return count ? registers[count - 1] : 0;
}

bool tn_loop_equal(const tn_loop *a, const tn_loop *b)
{
    if (a->n_inputs != b->n_inputs || a->n_code != b->n_code) {
        return false;
    }
    for (int i = 0; i < a->n_code; i++) {
        const tn_loop_instr *p = &a->code[i], *q = &b->code[i];
        if (p->code != q->code || p->a != q->a || p->b != q->b || p->c != q->c || memcmp(&p->x, &q->x, sizeof p->x) != 0 ||
            memcmp(&p->y, &q->y, sizeof p->y) != 0) {
            return false;
        }
    }
    return true;
}
