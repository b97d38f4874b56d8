// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and the plain recurrent layer, with all that ONNX says of them.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/seq/op_lstm.h"

#include <math.h>

enum { X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES };

// Activations of a direction: lstm f, g, h; gru f, g; rnn f.
static int acts_of(const tn_op *op) { return op == &tn_op_lstm ? 3 : op == &tn_op_gru ? 2 : 1; }

static int64_t act_of(const tn_query *query, int which)
{
    static const int64_t usual[3][3] = {{TN_LOOP_TANH}, {TN_LOOP_SIGMOID, TN_LOOP_TANH}, {TN_LOOP_SIGMOID, TN_LOOP_TANH, TN_LOOP_TANH}};
    const tn_rnn_attr *attr = query->attr;
    const int acts = acts_of(query->op);
    return attr->act[which] >= 0 ? attr->act[which] : usual[acts - 1][which % acts];
}

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

static bool match_rnn(const tn_query *query, const char **why)
{
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        if (tensor && tensor->dtype != TN_F32 && i != LENGTHS) {
            *why = "only float32 has a kernel";
            return false;
        }
    }
    const tn_rnn_attr *attr = query->attr;
    bool finite = !attr->has_clip || fabs(attr->clip) < 1e30;
    for (size_t i = 0; i < TN_COUNT(attr->act_alpha); i++) {
        finite = finite && fabs(attr->act_alpha[i]) < 1e30 && fabs(attr->act_beta[i]) < 1e30;
    }
    if (!finite) {
        *why = "a clip or parameters of an activation out of range";
        return false;
    }
    *why = "a state larger than local memory";
    return query->in[R]->shape.dims[2] <= 2048;
}

// One function for each activation of each direction, and the macros ACT0 .. that choose by direction.
static void write_activations(tn_cl_build *b, const tn_query *query, int directions)
{
    const tn_rnn_attr *attr = query->attr;
    const int acts = acts_of(query->op);
    tn_cl_code(b, "#define V float\n");
    for (int i = 0; i < acts * directions; i++) {
        const int64_t code = act_of(query, i);
        const float x = (float)attr->act_alpha[i], y = (float)attr->act_beta[i];
        tn_loop loop = {.n_inputs = 1, .n_code = 1};
        tn_cl_code(b, "float act_%d_%d(float r0)\n{\n", i / acts, i % acts);
        if (code == TN_RNN_SCALED_TANH) {
            tn_cl_code(b, "    const float result = %.9ef * tanh(%.9ef * r0);\n", (double)x, (double)y);
        } else if (code == TN_RNN_THRESHOLDED_RELU) {
            tn_cl_code(b, "    const float result = r0 < %.9ef ? 0.0f : r0;\n", (double)x);
        } else if (code == TN_RNN_SOFTSIGN) {
            tn_cl_code(b, "    const float result = r0 / (1.0f + fabs(r0));\n");
        } else {
            loop.code[0] = (tn_loop_instr){.code = (uint8_t)code, .x = x, .y = y};
            tn_cl_loop_body(&b->prologue, &loop);
        }
        tn_cl_code(b, "    return result;\n}\n");
    }
    tn_cl_code(b, "#undef V\n");
    for (int i = 0; i < acts; i++) {
        tn_cl_code(b, "#define ACT%d(d, v) (%s act_0_%d(v)%s", i, directions == 2 ? "(d) == 0 ?" : "", i, directions == 2 ? " : " : ")\n");
        if (directions == 2) {
            tn_cl_code(b, "act_1_%d(v))\n", i);
        }
    }
    if (attr->has_clip) {
        tn_cl_define(b, "LIMIT(v)", "fmin(fmax((v), -%.9ef), %.9ef)", attr->clip, attr->clip);
    } else {
        tn_cl_define(b, "LIMIT(v)", "(v)");
    }
}

static void emit_rnn(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    static const char *const names[] = {"x", "w", "r", "bias", "lengths", "initial_h", "initial_c", "peepholes"};
    static const char *const defines[] = {"", "", "", "BIAS", "LENGTHS", "INITIAL_H", "INITIAL_C", "PEEPHOLES"};
    static const char *const results[] = {"y", "y_h", "y_c"};
    static const char *const outs[] = {"Y_OUT", "H_OUT", "C_OUT"};
    const tn_rnn_attr *attr = query->attr;
    const int64_t *x = in[X]->shape.dims, hidden = in[R]->shape.dims[2], batch = x[attr->layout ? 0 : 1];
    const int directions = attr->direction == TN_RNN_BIDIRECTIONAL ? 2 : 1;
    tn_cl_mem *mems[PEEPHOLES + 1] = {NULL}, *to[3] = {NULL};
    size_t lanes = 1;
    while (lanes * 2 <= TN_MIN(b->cl->facts.max_group, (size_t)(b->cl->facts.is_cpu ? 16 : 256)) && (int64_t)lanes < hidden) {
        lanes *= 2;
    }
    for (int i = 0; i < query->n_in && i <= PEEPHOLES; i++) {
        mems[i] = in[i] ? tn_cl_plain(b, in[i]) : NULL;
    }
    for (int i = 0; i < query->n_out && i < 3; i++) {
        to[i] = out[i] ? tn_cl_new_plain(b, out[i]) : NULL;
    }
    tn_cl_mem *bad = operand(query, LENGTHS) ? tn_cl_flag(b) : NULL;
    tn_cl_begin(b, "rnn");
    for (int i = 0; i <= PEEPHOLES; i++) {
        if (mems[i]) {
            tn_cl_in(b, i == LENGTHS ? "int" : "float", names[i], mems[i]);
            tn_cl_define(b, i > R ? defines[i] : "UNUSED", "1");
        }
    }
    for (int i = 0; i < 3; i++) {
        if (to[i]) {
            tn_cl_out(b, "float", results[i], to[i]);
            tn_cl_define(b, outs[i], "1");
        }
    }
    if (mems[LENGTHS]) {
        tn_cl_out(b, "int", "bad", bad);
    }
    tn_cl_int(b, "steps", x[attr->layout ? 1 : 0]);
    tn_cl_int(b, "batch", batch);
    tn_cl_int(b, "inputs", x[2]);
    tn_cl_int(b, "hidden", hidden);
    tn_cl_local(b, "float", "room", (size_t)hidden * 4 * sizeof(float));
    tn_cl_define(b, "GATES", "%d", query->op == &tn_op_lstm ? 4 : query->op == &tn_op_gru ? 3 : 1);
    write_activations(b, query, directions);
    tn_cl_define(b, "BY_BATCH", "%d", attr->layout != 0);
    tn_cl_define(b, "INPUT_FORGET", "%d", attr->input_forget);
    tn_cl_define(b, "DIRECTIONS", "%d", directions);
    tn_cl_define(b, "REVERSE", "%d", attr->direction == TN_RNN_REVERSE);
    tn_cl_define(b, "LINEAR", "%d", attr->linear_before_reset);
    tn_cl_define(b, "LANES", "%zu", lanes);
    tn_cl_group(b, lanes, 1, 1);
    tn_cl_end(b, lanes, (size_t)batch, (size_t)directions);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_lstm, .match = match_rnn, .emit = emit_rnn},
    {.op = &tn_op_rnn, .match = match_rnn, .emit = emit_rnn},
    {.op = &tn_op_gru, .match = match_rnn, .emit = emit_rnn},
};

TN_CL_EXPORT(rnn, rows);
