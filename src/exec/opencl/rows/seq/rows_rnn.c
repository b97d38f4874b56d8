// SPDX-License-Identifier: Apache-2.0
// LSTM and GRU with the usual activations.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/seq/op_lstm.h"

enum { X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES };

static bool usual(const tn_query *query)
{
    static const int64_t acts[2][3] = {{TN_LOOP_SIGMOID, TN_LOOP_TANH, TN_LOOP_TANH}, {TN_LOOP_SIGMOID, TN_LOOP_TANH, 0}};
    const tn_rnn_attr *attr = query->attr;
    const int per = query->op == &tn_op_lstm ? 3 : 2;
    for (int i = 0; i < per * (attr->direction == TN_RNN_BIDIRECTIONAL ? 2 : 1); i++) {
        if (attr->act[i] >= 0 && attr->act[i] != acts[per == 2][i % per]) {
            return false;
        }
    }
    return !attr->has_clip && !attr->input_forget && attr->layout == 0;
}

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

static bool match_rnn(const tn_query *query, const char **why)
{
    if (!usual(query) || operand(query, LENGTHS) || operand(query, PEEPHOLES)) {
        *why = "clipping, lengths, peepholes, layout 1 or other activations";
        return false;
    }
    if (query->in[R]->shape.dims[2] > 2048) {
        *why = "a state larger than local memory";
        return false;
    }
    return tn_cl_all_f32(query, why);
}

static void emit_rnn(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    static const char *const names[] = {"x", "w", "r", "bias", "", "initial_h", "initial_c"};
    static const char *const defines[] = {"", "", "", "BIAS", "", "INITIAL_H", "INITIAL_C"};
    static const char *const results[] = {"y", "y_h", "y_c"};
    static const char *const outs[] = {"Y_OUT", "H_OUT", "C_OUT"};
    const tn_rnn_attr *attr = query->attr;
    const int64_t *x = in[X]->shape.dims, hidden = in[R]->shape.dims[2];
    const int directions = attr->direction == TN_RNN_BIDIRECTIONAL ? 2 : 1;
    tn_cl_mem *mems[INITIAL_C + 1] = {NULL}, *to[3] = {NULL};
    size_t lanes = 1;
    while (lanes * 2 <= TN_MIN(b->cl->facts.max_group, (size_t)(b->cl->facts.is_cpu ? 16 : 256)) && (int64_t)lanes < hidden) {
        lanes *= 2;
    }
    for (int i = 0; i < query->n_in && i <= INITIAL_C; i++) {
        mems[i] = in[i] ? tn_cl_plain(b, in[i]) : NULL;
    }
    for (int i = 0; i < query->n_out && i < 3; i++) {
        to[i] = out[i] ? tn_cl_new_plain(b, out[i]) : NULL;
    }
    tn_cl_begin(b, "rnn");
    for (int i = 0; i <= INITIAL_C; i++) {
        if (mems[i]) {
            tn_cl_in(b, "float", names[i], mems[i]);
            tn_cl_define(b, i > R ? defines[i] : "UNUSED", "1");
        }
    }
    for (int i = 0; i < 3; i++) {
        if (to[i]) {
            tn_cl_out(b, "float", results[i], to[i]);
            tn_cl_define(b, outs[i], "1");
        }
    }
    tn_cl_int(b, "steps", x[0]);
    tn_cl_int(b, "batch", x[1]);
    tn_cl_int(b, "inputs", x[2]);
    tn_cl_int(b, "hidden", hidden);
    tn_cl_local(b, "float", "room", (size_t)hidden * 4 * sizeof(float));
    tn_cl_define(b, "GATES", "%d", query->op == &tn_op_lstm ? 4 : 3);
    tn_cl_define(b, "DIRECTIONS", "%d", directions);
    tn_cl_define(b, "REVERSE", "%d", attr->direction == TN_RNN_REVERSE);
    tn_cl_define(b, "LINEAR", "%d", attr->linear_before_reset);
    tn_cl_define(b, "LANES", "%zu", lanes);
    tn_cl_group(b, lanes, 1, 1);
    tn_cl_end(b, lanes, (size_t)x[1], (size_t)directions);
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_lstm, .match = match_rnn, .emit = emit_rnn},
    {.op = &tn_op_gru, .match = match_rnn, .emit = emit_rnn},
};

TN_CL_EXPORT(rnn, rows);
