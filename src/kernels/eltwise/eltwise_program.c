// SPDX-License-Identifier: Apache-2.0
// From an elementwise operator to the program that the kernels run: constants are folded into it, dead chunk buffers are used
// again, powers with a handy exponent become cheaper instructions.
// Ownership: none. Threads: any.
#include "kernels/eltwise/eltwise_program.h"

#include "base/macros.h"
#include "base/num.h"

// The one value of a constant operand of one element.
static bool constant_value(const tn_tensor *tensor, float *v)
{
    if (!tensor || !tensor->data || tn_tensor_count(tensor) != 1) {
        return false;
    }
    *v = tn_load_f32(tensor->data, 0);
    return true;
}

bool tn_eltwise_build(const tn_query *query, tn_loop_build *build, int *result)
{
    int args[TN_LOOP_MAX_INPUTS];
    if (!query->op->loop || query->n_in > TN_LOOP_MAX_INPUTS) {
        return false;
    }
    for (int i = 0; i < query->n_in; i++) {
        args[i] = query->in[i] ? i : -1;
    }
    *build = (tn_loop_build){.loop = {.n_inputs = query->n_in}};
    return query->op->loop(query->attr, build, args, query->n_in, result) && !build->full && *result >= 0;
}

typedef struct compiler {
    const tn_query *query;
    const tn_loop *loop;
    tn_eltwise_params *p;
    int16_t source[TN_LOOP_MAX_INPUTS + TN_LOOP_MAX_CODE];   // by loop register
    int last_use[TN_LOOP_MAX_CODE];                          // of an instruction's result
    bool busy[TN_LOOP_MAX_CODE];                             // chunk buffers
} compiler;

static int16_t add_const(compiler *k, float v)
{
    for (int i = 0; i < k->p->n_consts; i++) {
        if (tn_f32_bits(k->p->consts[i]) == tn_f32_bits(v)) {
            return (int16_t)(TN_ELTWISE_CONSTS + i);
        }
    }
    k->p->consts[k->p->n_consts] = v;
    return (int16_t)(TN_ELTWISE_CONSTS + k->p->n_consts++);
}

static bool source_const(const compiler *k, int source, float *v)
{
    if (source < TN_ELTWISE_CONSTS || source >= TN_ELTWISE_BUFFERS) {
        return false;
    }
    *v = k->p->consts[source - TN_ELTWISE_CONSTS];
    return true;
}

// x^2, x^-1 and x^(1/2) are worth an instruction of their own.
static void simplify_power(const compiler *k, tn_eltwise_instr *instr)
{
    float exponent;
    if (instr->code != TN_LOOP_POW || !source_const(k, instr->b, &exponent)) {
        return;
    }
    if (exponent == 2.0f) {
        instr->code = TN_LOOP_MUL;
        instr->b = instr->a;
    } else if (exponent == -1.0f) {
        instr->code = TN_LOOP_RECIP;
    } else if (exponent == 0.5f) {
        instr->code = TN_ELTWISE_ROOT;
    }
}

static int16_t take_buffer(compiler *k)
{
    for (int i = 0; i < TN_LOOP_MAX_CODE; i++) {
        if (!k->busy[i]) {
            k->busy[i] = true;
            k->p->n_buffers = TN_MAX(k->p->n_buffers, i + 1);
            return (int16_t)(TN_ELTWISE_BUFFERS + i);
        }
    }
    return TN_ELTWISE_RESULT;   // not reached: there are as many buffers as instructions
}

// Frees the buffers of registers that instruction `at` reads for the last time.
static void release(compiler *k, const tn_loop_instr *instr, int at)
{
    const int operands = tn_loop_code_operands((tn_loop_code)instr->code);
    const int reads[3] = {instr->a, instr->b, instr->c};
    for (int i = 0; i < operands; i++) {
        const int index = reads[i] - k->loop->n_inputs;
        if (index >= 0 && k->last_use[index] == at && k->source[reads[i]] >= TN_ELTWISE_BUFFERS) {
            k->busy[k->source[reads[i]] - TN_ELTWISE_BUFFERS] = false;
        }
    }
}

static void find_last_uses(compiler *k, int result)
{
    for (int i = 0; i < k->loop->n_code; i++) {
        const tn_loop_instr *instr = &k->loop->code[i];
        const int operands = tn_loop_code_operands((tn_loop_code)instr->code);
        const int reads[3] = {instr->a, instr->b, instr->c};
        for (int j = 0; j < operands; j++) {
            if (reads[j] >= k->loop->n_inputs) {
                k->last_use[reads[j] - k->loop->n_inputs] = i;
            }
        }
    }
    if (result >= k->loop->n_inputs) {
        k->last_use[result - k->loop->n_inputs] = k->loop->n_code;
    }
}

static void compile_instr(compiler *k, int at, int result)
{
    const tn_loop_instr *from = &k->loop->code[at];
    const int reg = k->loop->n_inputs + at;
    if (from->code == TN_LOOP_CONST) {
        k->source[reg] = add_const(k, from->x);
        return;
    }
    const int operands = tn_loop_code_operands((tn_loop_code)from->code);
    tn_eltwise_instr *to = &k->p->code[k->p->n_code++];
    *to = (tn_eltwise_instr){.code = from->code, .x = from->x, .y = from->y, .a = k->source[from->a]};
    to->b = operands > 1 ? k->source[from->b] : to->a;
    to->c = operands > 2 ? k->source[from->c] : to->a;
    simplify_power(k, to);
    release(k, from, at);
    to->dst = reg == result ? TN_ELTWISE_RESULT : take_buffer(k);
    k->source[reg] = to->dst;
}

bool tn_eltwise_compile(const tn_query *query, tn_eltwise_params *p)
{
    tn_loop_build build;
    int result;
    if (!tn_eltwise_build(query, &build, &result)) {
        return false;
    }
    compiler k = {.query = query, .loop = &build.loop, .p = p};
    find_last_uses(&k, result);
    p->n_operands = query->n_in;
    for (int i = 0; i < query->n_in; i++) {
        float v;
        k.source[i] = constant_value(query->in[i], &v) ? add_const(&k, v) : (int16_t)i;
    }
    // What follows the result's instruction is dead.
    const int end = result >= build.loop.n_inputs ? result - build.loop.n_inputs + 1 : 0;
    for (int i = 0; i < end; i++) {
        compile_instr(&k, i, result);
    }
    if (!p->n_code || p->code[p->n_code - 1].dst != TN_ELTWISE_RESULT) {
        const int16_t from = k.source[result];
        p->n_code = 1;
        p->code[0] = (tn_eltwise_instr){.code = TN_ELTWISE_COPY, .dst = TN_ELTWISE_RESULT, .a = from, .b = from, .c = from};
    }
    return true;
}
