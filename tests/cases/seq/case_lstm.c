// SPDX-License-Identifier: Apache-2.0
// Cases of recurrent layers: the sizes of real nets (small), every direction, layout, optional operand and activation, short
// sequences; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "loop/loop.h"
#include "ops/seq/op_lstm.h"

enum { BIAS = 1, LENGTHS = 2, STATE = 4, PEEPHOLES = 8, CLIP = 16, COUPLED = 32, RESET_AFTER = 64, ACTS = 128, ONE_RESULT = 256 };

typedef struct layer {
    int64_t steps, batch, inputs, hidden;
    int direction;
    int64_t layout;
    int flags;
} layer;

static const layer layers[] = {
    {1, 1, 257, 128, TN_RNN_FORWARD, 0, BIAS | STATE},          {12, 1, 40, 32, TN_RNN_FORWARD, 0, BIAS},
    {7, 3, 9, 17, TN_RNN_REVERSE, 0, BIAS | LENGTHS},           {9, 2, 16, 24, TN_RNN_BIDIRECTIONAL, 0, BIAS | STATE | LENGTHS},
    {5, 2, 8, 16, TN_RNN_FORWARD, 1, STATE},                    {4, 3, 5, 7, TN_RNN_BIDIRECTIONAL, 1, BIAS | LENGTHS | STATE},
    {6, 1, 12, 10, TN_RNN_FORWARD, 0, BIAS | PEEPHOLES | CLIP}, {6, 2, 3, 5, TN_RNN_BIDIRECTIONAL, 0, BIAS | COUPLED | RESET_AFTER},
    {3, 2, 4, 6, TN_RNN_FORWARD, 0, ACTS | BIAS},
    {3, 1, 4, 6, TN_RNN_BIDIRECTIONAL, 0, ACTS | RESET_AFTER | ONE_RESULT},
    {5, 1, 20, 33, TN_RNN_REVERSE, 0, BIAS | STATE | RESET_AFTER}, {40, 1, 70, 64, TN_RNN_BIDIRECTIONAL, 1, BIAS | LENGTHS | RESET_AFTER},
    {2, 1, 33, 529, TN_RNN_FORWARD, 0, STATE | RESET_AFTER},
    {0, 2, 3, 4, TN_RNN_FORWARD, 0, BIAS},                      {4, 0, 3, 4, TN_RNN_REVERSE, 0, BIAS},
};
static const tn_op *const ops[] = {&tn_op_lstm, &tn_op_gru, &tn_op_rnn};
enum { LISTED = TN_COUNT(ops) * TN_COUNT(layers) };

static const int64_t acts[] = {TN_LOOP_RELU,       TN_LOOP_TANH,    TN_LOOP_SIGMOID,      TN_LOOP_AFFINE,
                               TN_LOOP_LEAKY,      TN_LOOP_ELU,     TN_LOOP_HARD_SIGMOID, TN_LOOP_SOFTPLUS,
                               TN_RNN_SCALED_TANH, TN_RNN_SOFTSIGN, TN_RNN_THRESHOLDED_RELU};

static void set_attr(tn_rnn_attr *attr, const layer *l, tn_rand *r)
{
    attr->hidden_size = l->hidden;
    attr->layout = l->layout;
    attr->direction = l->direction;
    attr->linear_before_reset = l->flags & RESET_AFTER;
    attr->input_forget = l->flags & COUPLED;
    attr->has_clip = l->flags & CLIP;
    attr->clip = 0.75;
    for (int i = 0; i < 6 && l->flags & ACTS; i++) {
        attr->act[i] = TN_DRAW(r, acts);
        attr->act_alpha[i] = 0.4;
        attr->act_beta[i] = 0.3;
    }
}

// Small weights: the state stays where activations bend.
static tn_case_in weights_in(tn_dtype dtype, tn_shape shape)
{
    return (tn_case_in){.dtype = dtype, .shape = shape, .low = -0.4, .high = 0.4, .constant = true};
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    const layer l = listed ? layers[i / TN_COUNT(ops)]
                           : (layer){tn_rand_range(r, 1, 8), tn_rand_range(r, 1, 4), tn_rand_range(r, 1, 40),
                                     tn_rand_range(r, 1, 40),
                                     (int)tn_rand_range(r, TN_RNN_FORWARD, TN_RNN_BIDIRECTIONAL), tn_rand_range(r, 0, 1),
                                     (int)tn_draw_index(r, 512)};
    const int64_t directions = l.direction == TN_RNN_BIDIRECTIONAL ? 2 : 1;
    c->op = listed ? ops[i % TN_COUNT(ops)] : TN_DRAW(r, ops);
    const bool lstm = c->op == &tn_op_lstm;
    const int64_t rows = l.hidden * (lstm ? 4 : c->op == &tn_op_gru ? 3 : 1);
    tn_rnn_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    set_attr(attr, &l, r);
    c->attr = attr;
    const tn_dtype dtype = listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS);
    const tn_shape x = {3, {l.layout ? l.batch : l.steps, l.layout ? l.steps : l.batch, l.inputs}};
    const tn_shape state = {3, {l.layout ? l.batch : directions, l.layout ? directions : l.batch, l.hidden}};
    const tn_case_in in[] = {tn_draw_in(dtype, x),
                             weights_in(dtype, (tn_shape){3, {directions, rows, l.inputs}}),
                             weights_in(dtype, (tn_shape){3, {directions, rows, l.hidden}}),
                             weights_in(dtype, (tn_shape){2, {directions, 2 * rows}}),
                             {.dtype = TN_I32, .shape = {1, {l.batch}}, .low = 0, .high = (double)l.steps},
                             tn_draw_in(dtype, state),
                             tn_draw_in(dtype, state),
                             weights_in(dtype, (tn_shape){2, {directions, 3 * l.hidden}})};
    static const int needs[] = {0, 0, 0, BIAS, LENGTHS, STATE, STATE, PEEPHOLES};
    for (int k = 0; k < (lstm ? 8 : 6); k++) {
        c->in[k] = needs[k] && !(l.flags & needs[k]) ? TN_ABSENT : in[k];
        c->n_in = c->in[k].absent ? c->n_in : k + 1;
    }
    c->n_out = l.flags & ONE_RESULT ? 1 : lstm ? 3 : 2;
    c->rel = 1e-4;
    c->abs = 1e-5;
    c->rounded_abs = 0x1p-5;   // of each step, and what the steps before made of it
    return true;
}

TN_CASE_EXPORT(lstm){"lstm", LISTED, make};
