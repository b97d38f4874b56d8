// SPDX-License-Identifier: Apache-2.0
// The activation that convolution and matrix kernels apply to their result before they store it: y = act(result).
// Ownership: const data. Threads: any.
#ifndef TN_OP_ACT_H
#define TN_OP_ACT_H

#include "ir/op.h"

#include "loop/loop.h"

// code is a unary tn_loop_code (RELU, LEAKY, CLIP, HARD_SIGMOID, HARD_SWISH, SILU, SIGMOID, TANH, GELU ...);
// TN_LOOP_CONST stands for none. x and y are its immediates.
typedef struct tn_act {
    int64_t code;
    double x, y;
} tn_act;

// Rows for an attribute list of a struct with a field `act`.
#define TN_ACT_ATTRS(type)                                             \
    {"act", TN_ATTR_INT, offsetof(type, act.code), NULL},              \
    {"act_x", TN_ATTR_REAL, offsetof(type, act.x), NULL},              \
    {"act_y", TN_ATTR_REAL, offsetof(type, act.y), NULL}

// A code of the list above: the fusion pass makes no other, but graphs also come from files.
static inline bool tn_act_valid(const tn_act *act)
{
    return act->code == TN_LOOP_CONST ||
           (act->code > 0 && act->code < TN_LOOP_COUNT && tn_loop_code_operands((tn_loop_code)act->code) == 1);
}

static inline float tn_act_apply(const tn_act *act, float v)
{
    return act->code == TN_LOOP_CONST ? v : tn_loop_eval_code((tn_loop_code)act->code, v, 0, 0, (float)act->x, (float)act->y);
}

#endif
