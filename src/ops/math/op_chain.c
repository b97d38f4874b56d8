// SPDX-License-Identifier: Apache-2.0
// chain: the loop program of a fused chain, evaluated element by element.
// Ownership: const data. Threads: any.
#include "ops/math/op_chain.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/walk/walk.h"

#include <stddef.h>

// ---- attributes ----

static const tn_attr chain_attrs[] = {{"loop", TN_ATTR_LOOP, offsetof(tn_chain_attr, loop), NULL}};

// ---- infer ----

// The program comes from our own passes; its sizes are checked all the same before it is indexed.
static tn_status infer_chain(tn_infer *infer)
{
    const tn_loop *loop = ((const tn_chain_attr *)infer->attr)->loop;
    tn_dtype dtype;
    tn_shape shape;
    if (!loop || loop->n_inputs < 1 || loop->n_inputs > TN_LOOP_MAX_INPUTS || loop->n_code < 1 || loop->n_code > TN_LOOP_MAX_CODE) {
        return tn_infer_fail(infer, "has no loop program, or one of a wrong size");
    }
    if (loop->n_inputs != infer->n_in) {
        return tn_infer_fail(infer, "has %d operands, its loop program takes %d", infer->n_in, loop->n_inputs);
    }
    TN_TRY(tn_infer_types(infer, 0, infer->n_in - 1, TN_BIT(F32), &dtype));
    TN_TRY(tn_infer_broadcast(infer, 0, infer->n_in - 1, &shape));
    tn_infer_out(infer, 0, TN_F32, &shape);
    return TN_OK;
}

// One instruction counts as one multiply-accumulate.
static int64_t macs_chain(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)in;
    (void)n_in;
    (void)n_out;
    int64_t macs = 0;
    return tn_mul_i64(TN_MAX(tn_fact_count(out), 0), ((const tn_chain_attr *)attr)->loop->n_code, &macs) ? macs : INT64_MAX;
}

// A chain inside a longer chain: its program with the registers renamed.
static bool loop_chain(const void *attr, struct tn_loop_build *build, const int *args, int n_args, int *result)
{
    const tn_loop *loop = ((const tn_chain_attr *)attr)->loop;
    int registers[TN_LOOP_MAX_INPUTS + TN_LOOP_MAX_CODE] = {0};
    for (int i = 0; i < n_args && i < loop->n_inputs; i++) {
        registers[i] = args[i];
    }
    for (int i = 0; i < loop->n_code; i++) {
        const tn_loop_instr *at = &loop->code[i];
        registers[loop->n_inputs + i] =
            tn_loop_add(build, (tn_loop_code)at->code, registers[at->a], registers[at->b], registers[at->c], at->x, at->y);
    }
    *result = registers[loop->n_inputs + loop->n_code - 1];
    return !build->full;
}

// ---- descriptor ----

const tn_op tn_op_chain = {
    .name = "chain", .version = 1, .flags = TN_OP_ELEMENTWISE | TN_OP_INPLACE_ANY, .min_in = 1, .max_in = TN_LOOP_MAX_INPUTS,
    .min_out = 1, .max_out = 1, .attrs = chain_attrs, .n_attrs = TN_COUNT(chain_attrs), .attr_size = sizeof(tn_chain_attr),
    .infer = infer_chain, .macs = macs_chain, .loop = loop_chain,
};

// ---- reference ----

// Operands: float32 of shapes that broadcast to that of the result.
static tn_status run_chain(const tn_call *call)
{
    const tn_loop *loop = ((const tn_chain_attr *)call->attr)->loop;
    const tn_shape *of[TN_LOOP_MAX_INPUTS];
    for (int k = 0; k < call->n_in; k++) {
        of[k] = &call->in[k]->shape;
    }
    float *y = call->out[0]->data;
    tn_walk walk;
    for (bool more = tn_walk_init(&walk, &call->out[0]->shape, call->n_in, of); more; more = tn_walk_next(&walk)) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t i = 0; i < walk.row; i++) {
            float v[TN_LOOP_MAX_INPUTS];
            for (int k = 0; k < call->n_in; k++) {
                v[k] = ((const float *)call->in[k]->data)[walk.offsets[k] + i * walk.steps[k]];
            }
            *y++ = tn_loop_eval(loop, v);
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE(chain, NULL, run_chain)};
static const tn_op *const ops[] = {&tn_op_chain};

TN_EXPORT_OPS(op_chain, ops);
TN_EXPORT_KERNELS(op_chain, rows);
