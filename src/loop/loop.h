// SPDX-License-Identifier: Apache-2.0
// The loop IR: a straight program over one element of a (fused) elementwise operator. Register 0 .. n_inputs-1 are the operands'
// elements, later ones are results of the instructions in order; the last instruction's result is the output. All arithmetic is
// f32. One list gives the meaning; every device prints or interprets it.
// Ownership: a tn_loop lives in its graph's arena. Threads: const.
#ifndef TN_LOOP_H
#define TN_LOOP_H

#include "base/arena.h"

#define TN_LOOP_MAX_INPUTS 8
#define TN_LOOP_MAX_CODE 32

// X(name, operands, meaning over a, b, c and the immediates x, y)
#define TN_LOOP_LIST(X)                                          \
    X(CONST, 0, "x")                                             \
    X(ADD, 2, "a + b")                                           \
    X(SUB, 2, "a - b")                                           \
    X(MUL, 2, "a * b")                                           \
    X(DIV, 2, "a / b")                                           \
    X(MIN, 2, "min(a, b), NaN if either is NaN")                 \
    X(MAX, 2, "max(a, b), NaN if either is NaN")                 \
    X(POW, 2, "a to the power b")                                \
    X(MADD, 3, "a * b + c, one rounding or two")                 \
    X(NEG, 1, "-a")                                              \
    X(ABS, 1, "|a|")                                             \
    X(SQRT, 1, "square root")                                    \
    X(RSQRT, 1, "1 / sqrt(a), full precision")                   \
    X(RECIP, 1, "1 / a")                                         \
    X(EXP, 1, "e^a")                                             \
    X(LOG, 1, "natural logarithm")                               \
    X(TANH, 1, "tanh")                                           \
    X(SIGMOID, 1, "1 / (1 + e^-a)")                              \
    X(ERF, 1, "error function")                                  \
    X(FLOOR, 1, "floor")                                         \
    X(CEIL, 1, "ceiling")                                        \
    X(ROUND, 1, "nearest, ties to even")                         \
    X(RELU, 1, "max(a, 0), NaN stays")                           \
    X(LEAKY, 1, "a < 0 ? x * a : a")                             \
    X(CLIP, 1, "min(max(a, x), y), NaN stays")                   \
    X(HARD_SIGMOID, 1, "max(0, min(1, x * a + y))")              \
    X(HARD_SWISH, 1, "a * max(0, min(1, a / 6 + 1/2))")          \
    X(HARD_SWISH_AFFINE, 1, "x * hard_swish(a) + y")             \
    X(SILU, 1, "a * sigmoid(a)")                                 \
    X(GELU, 1, "a / 2 * (1 + erf(a / sqrt 2))")                  \
    X(GELU_TANH, 1, "a / 2 * (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3)))") \
    X(ELU, 1, "a < 0 ? x * (e^a - 1) : a")                       \
    X(SOFTPLUS, 1, "log(1 + e^a)")                               \
    X(AFFINE, 1, "x * a + y")                                    \
    X(PRELU, 2, "a < 0 ? b * a : a")

typedef enum tn_loop_code {
#define X(name, operands, meaning) TN_LOOP_##name,
    TN_LOOP_LIST(X)
#undef X
    TN_LOOP_COUNT
} tn_loop_code;

typedef struct tn_loop_instr {
    uint8_t code;             // tn_loop_code
    uint8_t a, b, c;          // registers
    float x, y;               // immediates
} tn_loop_instr;

typedef struct tn_loop {
    int n_inputs, n_code;
    tn_loop_instr code[TN_LOOP_MAX_CODE];
} tn_loop;

typedef struct tn_loop_build {
    tn_loop loop;
    bool full;                // an instruction did not fit
} tn_loop_build;

// Appends an instruction; returns its register (n_inputs + index). On overflow sets full and returns 0.
int tn_loop_add(tn_loop_build *build, tn_loop_code code, int a, int b, int c, float x, float y);

// One element by the definition: the reference all devices are compared with. in: n_inputs values.
float tn_loop_eval(const tn_loop *loop, const float *in);
float tn_loop_eval_code(tn_loop_code code, float a, float b, float c, float x, float y);

const char *tn_loop_code_text(tn_loop_code code);   // lower case: "hard_swish"
int tn_loop_code_operands(tn_loop_code code);       // registers it reads, 0 .. 3
bool tn_loop_equal(const tn_loop *a, const tn_loop *b);

#endif
