// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: matching, packing, and the run over steps, for all tiers.
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given; a step's units are shared out when they are
// enough to be worth it, and each unit's sum has the same order anyway.
#include "kernels/rnn/rnn.h"

#include "base/macros.h"
#include "kernels/gemm/scratch.h"

#include <math.h>

// Operands and results, in ONNX order.
enum { X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES };

static const tn_tensor *operand(const tn_tensor *const *in, int n_in, int i) { return i < n_in ? in[i] : NULL; }

static void describe(tn_rnn *d, const tn_query *query, const tn_tile_facts *facts)
{
    const tn_rnn_attr *attr = query->attr;
    const int64_t *x = query->in[X]->shape.dims;
    *d = (tn_rnn){.facts = facts, .gates = query->op == &tn_op_lstm ? 4 : 3, .batch_first = attr->layout != 0};
    d->split = d->gates == 3 && !attr->linear_before_reset;
    d->steps = x[d->batch_first ? 1 : 0];
    d->batch = x[d->batch_first ? 0 : 1];
    d->inputs = x[2];
    d->hidden = query->in[R]->shape.dims[2];
    d->directions = attr->direction == TN_RNN_BIDIRECTIONAL ? 2 : 1;
    d->backward = attr->direction == TN_RNN_REVERSE;
    d->units = (d->hidden + facts->lanes - 1) / facts->lanes;
    d->columns = d->units * d->gates * facts->lanes;
    d->h_row = (ptrdiff_t)d->units * facts->lanes;
    d->has_bias = operand(query->in, query->n_in, BIAS) != NULL;
    d->r_bytes = sizeof(float);
    d->r_steps = d->hidden;
    d->gemm = (tn_gemm){.m = d->steps * d->batch,
                        .n = d->columns,
                        .k = d->inputs,
                        .lda = d->inputs,
                        .ldc = d->columns,
                        .alpha = 1.0f,
                        .beta = 1.0f,
                        .q = tn_tile_choose_q(facts, d->steps * d->batch, d->columns / facts->lanes)};
}

static bool default_activations(const tn_rnn_attr *attr, bool lstm)
{
    static const int64_t lstm_acts[] = {TN_LOOP_SIGMOID, TN_LOOP_TANH, TN_LOOP_TANH};
    const int each = lstm ? 3 : 2;
    for (int i = 0; i < 2 * each; i++) {
        if (attr->act[i] != -1 && attr->act[i] != lstm_acts[i % each]) {
            return false;
        }
    }
    return true;
}

bool tn_rnn_match(const tn_query *query, const char **why)
{
    const tn_rnn_attr *attr = query->attr;
    const bool lstm = query->op == &tn_op_lstm;
    for (int i = 0; i < query->n_in; i++) {
        if (query->in[i] && i != LENGTHS && query->in[i]->dtype != TN_F32) {
            *why = "an operand is not float32";
            return false;
        }
    }
    const tn_tensor *bias = operand(query->in, query->n_in, BIAS);
    if (!query->in[W]->data || !query->in[R]->data || (bias && !bias->data)) {
        *why = "the weights are not constant";
        return false;
    }
    if (operand(query->in, query->n_in, PEEPHOLES) || attr->has_clip || attr->input_forget || !default_activations(attr, lstm)) {
        *why = "peepholes, clip, input_forget or other activations than the usual";
        return false;
    }
    if (tn_tensor_count(query->in[X]) == 0 || tn_tensor_count(query->in[W]) == 0 || tn_tensor_count(query->in[R]) == 0) {
        *why = "empty";
        return false;
    }
    return true;
}

bool tn_rnn_match_bf16(const tn_query *query, const char **why)
{
    const tn_rnn_attr *attr = query->attr;
    if (!tn_rnn_match(query, why)) {
        return false;
    }
    if (query->in[X]->shape.dims[attr->layout != 0 ? 0 : 1] != 1 || (query->op == &tn_op_gru && !attr->linear_before_reset)) {
        *why = "several sequences, or a gru that resets before the product";
        return false;
    }
    return true;
}

static double cost(const tn_query *query, const tn_tile_facts *facts)
{
    tn_rnn d;
    describe(&d, query, facts);
    const double inputs = (double)d.inputs * tn_tile_cost(facts, d.gemm.m, d.columns / facts->lanes, d.gemm.q);
    const double recurrent = (double)d.hidden * (double)d.units * tn_tile_cost(facts, d.batch, d.gates, d.gates);
    const double cells = (double)d.batch * (double)d.units * 30.0;
    return 500.0 + (double)d.directions * (inputs + (double)d.steps * (recurrent + cells + 50.0));
}

static void describe_bf16(tn_rnn *d, const tn_query *query)
{
    describe(d, query, &tn_tile_facts_avx512);
    d->bf16 = true;
    d->r_bytes = sizeof(uint16_t);
    d->r_steps = (d->hidden + 1) / 2 * 2;
}

// The state's product reads half the bytes that the row of float32 reads, and takes half the time.
static double cost_bf16(const tn_query *query, const tn_bgemm_facts *facts)
{
    tn_rnn d;
    describe_bf16(&d, query);
    const double inputs = tn_bgemm_cost(facts, 1, d.steps * d.batch, d.columns, d.inputs, (tn_bgemm_around){.made = true});
    const double recurrent = 0.5 * (double)d.r_steps * (double)d.units * tn_tile_cost(d.facts, 1, d.gates, d.gates), cells = (double)d.units * 30.0;
    return 500.0 + (double)d.directions * (inputs + (double)d.steps * (recurrent + cells + 50.0));
}

// ---- weights ----

// Row of w or r for a column, or -1: padding.
static int64_t row_of(const tn_rnn *d, int64_t column)
{
    const int64_t lane = column % d->facts->lanes, gate = column / d->facts->lanes % d->gates, unit = column / d->facts->lanes / d->gates;
    const int64_t h = unit * d->facts->lanes + lane;
    return h < d->hidden ? gate * d->hidden + h : -1;
}

// A row of weights is a column here: squares of this many steps by one vector are turned, so that a line is read once.
#define PACK_SQUARE 16

// One vector of columns, k steps that lie `step` floats apart.
static void pack_vector(float *to, ptrdiff_t step, const void *from, const tn_rnn *d, int64_t direction, int64_t column, int64_t k)
{
    for (int64_t i0 = 0; i0 < k; i0 += PACK_SQUARE) {
        const int64_t i1 = TN_MIN(k, i0 + PACK_SQUARE);
        for (int lane = 0; lane < d->facts->lanes; lane++) {
            const int64_t row = row_of(d, column + lane), at = (direction * d->gates * d->hidden + row) * k;
            for (int64_t i = i0; i < i1; i++) {
                to[i * step + lane] = row < 0 ? 0.0f : tn_load_f32(from, (size_t)(at + i));
            }
        }
    }
}

// Columns in groups of q vectors, as gemm.h has them, one direction after another.
static void pack_columns(float *to, const void *from, const tn_rnn *d, int64_t k, int q)
{
    const int vl = d->facts->lanes;
    for (int64_t direction = 0; direction < d->directions; direction++) {
        for (int64_t n0 = 0; n0 < d->columns; n0 += (int64_t)q * vl) {
            const int64_t width = TN_MIN((int64_t)q * vl, d->columns - n0);
            for (int64_t n = 0; n < width; n += vl) {
                pack_vector(to + n, width, from, d, direction, n0 + n, k);
            }
            to += width * k;
        }
    }
}

static void pack_w(void *dst, const tn_query *query, const void *params)
{
    const tn_rnn *d = params;
    pack_columns(dst, query->in[W]->data, d, d->inputs, d->gemm.q);
}

// The parts of a step: what is multiplied, and in groups of how many vectors.
typedef struct part {
    int first, gates;            // of the cell: all, or z and r, or h
    int q;                       // vectors of a group, whole units
    int64_t vectors, groups;     // of one direction
    int64_t floats;              // before it in r, of one direction
} part;

static int parts_of(const tn_rnn *d, part parts[2])
{
    if (!d->split) {
        parts[0] = (part){0, d->gates, d->gates, d->units * d->gates, d->units, 0};
        return 1;
    }
    parts[0] = (part){0, 2, 4, 2 * d->units, TN_CEIL_DIV(2 * d->units, 4), 0};
    parts[1] = (part){2, 1, 4, d->units, TN_CEIL_DIV(d->units, 4), 2 * d->units * d->hidden * d->facts->lanes};
    return 2;
}

// Vectors v0 .. v0 + width - 1 of a part of r; returns where the next group goes.
static float *pack_group(float *to, const void *r, const tn_rnn *d, const part *p, int64_t direction, int64_t v0, int64_t width)
{
    const int vl = d->facts->lanes;
    for (int64_t n = 0; n < width; n++) {
        const int64_t v = v0 + n, column = (v / p->gates * d->gates + p->first + v % p->gates) * vl;
        pack_vector(to + n * vl, width * vl, r, d, direction, column, d->hidden);
    }
    return to + width * vl * d->hidden;
}

static void pack_r(void *dst, const tn_query *query, const void *params)
{
    const tn_rnn *d = params;
    part parts[2];
    const int count = parts_of(d, parts);
    float *to = dst;
    for (int64_t direction = 0; direction < d->directions; direction++) {
        for (int i = 0; i < count; i++) {
            for (int64_t v = 0; v < parts[i].vectors; v += parts[i].q) {
                to = pack_group(to, query->in[R]->data, d, &parts[i], direction, v, TN_MIN((int64_t)parts[i].q, parts[i].vectors - v));
            }
        }
    }
}

// What is less counts as this, so that no factor is denormal.
#define JOINT_LEAST 0x1p-100f

// The upper half of a float that is nearest to `value` when the lower half is `low`: no further off than a bf16.
static uint16_t joint_half(float value, uint16_t low)
{
    const float least = fabsf(value) < JOINT_LEAST ? copysignf(JOINT_LEAST, value) : value;
    uint32_t bits;
    memcpy(&bits, &least, sizeof bits);
    const uint32_t high = (bits - low + 0x8000u) >> 16;
    // A number near infinity stays one.
    return (uint16_t)(isnan(value) || (high & 0x7f80u) != 0x7f80u ? high : (high & 0x8000u) | 0x7f7fu);
}

// One vector of columns as pairs, pairs `step` elements apart.
static void pack_pairs(uint16_t *to, ptrdiff_t step, const void *from, const tn_rnn *d, int64_t direction, int64_t column)
{
    for (int64_t i0 = 0; i0 < d->r_steps; i0 += PACK_SQUARE) {
        const int64_t i1 = TN_MIN(d->r_steps, i0 + PACK_SQUARE);
        for (int lane = 0; lane < d->facts->lanes; lane++) {
            const int64_t row = row_of(d, column + lane), at = (direction * d->gates * d->hidden + row) * d->hidden;
            for (int64_t i = i0; i < i1; i++) {
                const float value = row < 0 || i >= d->hidden ? 0.0f : tn_load_f32(from, (size_t)(at + i));
                uint16_t *pair = to + i / 2 * step + 2 * lane;
                pair[i % 2] = d->joint && i % 2 ? joint_half(value, pair[0]) : tn_bf16_from_f32(value);
            }
        }
    }
}

static void pack_r_bf16(void *dst, const tn_query *query, const void *params)
{
    const tn_rnn *d = params;
    const int vl = d->facts->lanes;
    uint16_t *to = dst;
    for (int64_t direction = 0; direction < d->directions; direction++) {
        for (int64_t unit = 0; unit < d->units; unit++, to += d->gates * vl * d->r_steps) {
            for (int gate = 0; gate < d->gates; gate++) {
                pack_pairs(to + 2 * gate * vl, 2 * d->gates * vl, query->in[R]->data, d, direction, (unit * d->gates + gate) * vl);
            }
        }
    }
}

// Steps of k are neighbours in w; a column is one of its rows.
static int64_t step_of(const void *context, int64_t k)
{
    (void)context;
    return k;
}

static int64_t column_of(const void *context, int64_t n)
{
    const tn_rnn *d = context;
    const int64_t row = row_of(d, n);
    return row < 0 ? -1 : row * d->inputs;
}

static void pack_w_bf16(void *dst, const tn_query *query, const void *params)
{
    const tn_rnn *d = params;
    for (int64_t direction = 0; direction < d->directions; direction++) {
        const size_t before = (size_t)(direction * d->gates * d->hidden * d->inputs) * sizeof(float);
        const tn_bgemm_source w = {.src = (const char *)query->in[W]->data + before, .offset = step_of, .column_of = column_of, .context = d, .k = d->inputs,
                                   .n = d->columns};
        tn_bgemm_pack((uint16_t *)dst + (size_t)direction * d->w_elements, &w, 0, tn_bgemm_groups(d->columns));
    }
}

// [direction][2][columns]: what is added to the inputs' product and to the recurrent one. Both biases go to the inputs, but for gru's
// third gate where its recurrent part is multiplied before it is added.
static void pack_bias(void *dst, const tn_query *query, const void *params)
{
    const tn_rnn *d = params;
    float *to = dst;
    const int64_t rows = d->gates * d->hidden;
    for (int64_t direction = 0; direction < d->directions; direction++) {
        for (int64_t n = 0; n < d->columns; n++) {
            const int64_t row = row_of(d, n), at = 2 * direction * rows + row;
            const float w = row < 0 ? 0.0f : tn_load_f32(query->in[BIAS]->data, (size_t)at);
            const float r = row < 0 ? 0.0f : tn_load_f32(query->in[BIAS]->data, (size_t)(at + rows));
            const bool apart = d->gates == 3 && !d->split && n / d->facts->lanes % 3 == 2;
            to[2 * direction * d->columns + n] = apart ? w : w + r;
            to[(2 * direction + 1) * d->columns + n] = apart ? r : 0.0f;
        }
    }
}

static tn_status add_pack(tn_prepare *prepare, const tn_rnn *d, int which, const char *id, int64_t k, int q,
                          void (*pack)(void *, const tn_query *, const void *))
{
    size_t bytes;
    if (!tn_mul_size((size_t)(d->columns * d->directions) * sizeof(float), (size_t)k, &bytes)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the packed weights do not fit in memory");
    }
    prepare->packs[prepare->n_packs++] = (tn_pack){
        .operand = which, .id = id, .variant = tn_gemm_variant(d->facts->lanes, q, k, d->columns * 2 + d->split, d->gates == 4), .bytes = bytes, .pack = pack};
    return TN_OK;
}

static tn_status prepare(tn_prepare *prepare, const tn_tile_facts *facts)
{
    tn_rnn *d;
    size_t rows;
    TN_TRY(tn_prepare_params(prepare, sizeof *d, (void **)&d));
    describe(d, prepare->query, facts);
    tn_gemm_block(&d->gemm, facts, prepare->query->cpu->l2);
    if (!tn_mul_size((size_t)(d->steps * d->batch), (size_t)(d->directions * d->columns), &rows)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the workspace does not fit in memory");
    }
    TN_TRY(tn_scratch_add(prepare, rows, sizeof(float), &d->inputs_at));
    TN_TRY(tn_scratch_add(prepare, (size_t)(2 * d->directions * d->batch), (size_t)d->h_row * sizeof(float), &d->h_at));
    TN_TRY(tn_scratch_add(prepare, (size_t)(d->directions * d->batch), (size_t)d->h_row * sizeof(float), &d->c_at));
    if (d->split) {
        TN_TRY(tn_scratch_add(prepare, (size_t)(d->directions * d->batch), (size_t)d->h_row * sizeof(float), &d->reset_at));
    }
    TN_TRY(add_pack(prepare, d, W, "rnn_f32_w", d->inputs, d->gemm.q, pack_w));
    TN_TRY(add_pack(prepare, d, R, "rnn_f32_r", d->hidden, d->gates, pack_r));
    return d->has_bias ? add_pack(prepare, d, BIAS, "rnn_f32_bias", 2, 1, pack_bias) : TN_OK;
}

static void round_inputs(const tn_bgemm *gemm, uint16_t *to, int64_t image, int64_t m0, int64_t m1)
{
    (void)image;
    const tn_rnn *d = gemm->context;
    for (int64_t m = m0; m < m1; m += TN_BGEMM_ROWS) {
        gemm->tiles->round_rows(to, gemm->a + m * d->inputs, d->inputs, TN_MIN((int64_t)TN_BGEMM_ROWS, m1 - m), d->inputs);
        to += gemm->lines * TN_BGEMM_ROWS * TN_BGEMM_LINE;
    }
}

static tn_status prepare_pairs(tn_prepare *prepare, bool joint)
{
    tn_rnn *d;
    size_t rows, w_bytes, r_bytes;
    TN_TRY(tn_prepare_params(prepare, sizeof *d, (void **)&d));
    describe_bf16(d, prepare->query);
    d->joint = joint;
    d->product = (tn_bgemm){.images = 1, .m = d->steps, .n = d->columns, .lines = tn_bgemm_lines(d->inputs), .round = round_inputs, .c_row = d->columns,
                            .c_vec = TN_BGEMM_LANES, .alpha = 1.0f, .beta = 1.0f};
    TN_TRY(tn_bgemm_prepare(&d->product, prepare, d->product.lines));
    const size_t directions = (size_t)d->directions, all = directions * (size_t)d->columns;
    const bool fits = tn_mul_size((size_t)d->steps, all, &rows) && tn_bgemm_packed_bytes(d->inputs, d->columns, &w_bytes) &&
                      tn_mul_size(all * d->r_bytes, (size_t)d->r_steps, &r_bytes);
    d->w_elements = fits ? w_bytes / sizeof(uint16_t) : 0;
    if (!fits || !tn_mul_size(w_bytes, directions, &w_bytes)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the packed weights or the workspace do not fit in memory");
    }
    TN_TRY(tn_scratch_add(prepare, rows, sizeof(float), &d->inputs_at));
    TN_TRY(tn_scratch_add(prepare, 2 * directions, (size_t)d->h_row * sizeof(float), &d->h_at));
    TN_TRY(tn_scratch_add(prepare, directions, (size_t)d->h_row * sizeof(float), &d->c_at));
    const uint64_t variant = tn_gemm_variant(d->facts->lanes, 2, d->inputs, d->columns, d->gates == 4);
    prepare->packs[0] = (tn_pack){.operand = W, .id = "rnn_bf16_w", .variant = variant, .bytes = w_bytes, .pack = pack_w_bf16};
    prepare->packs[1] = (tn_pack){.operand = R, .id = joint ? "rnn_bf16_r_joint" : "rnn_bf16_r", .variant = variant, .bytes = r_bytes, .pack = pack_r_bf16};
    prepare->n_packs = 2;
    return d->has_bias ? add_pack(prepare, d, BIAS, "rnn_f32_bias", 2, 1, pack_bias) : TN_OK;
}

tn_status tn_rnn_prepare_bf16(tn_prepare *prepare) { return prepare_pairs(prepare, false); }
tn_status tn_rnn_prepare_joint(tn_prepare *prepare) { return prepare_pairs(prepare, true); }

// ---- running ----

typedef struct job {
    const tn_rnn *d;
    const tn_rnn_isa *isa;
    const tn_call *call;
    const void *r;               // packed
    const float *bias;           // packed
    float *inputs;               // [direction][steps * batch][columns]
    float *h[2];                 // [direction][batch][h_row], before and after the step
    float *c;
    float *reset;                // split: r h of all units
    part parts[2];
    int which;                   // part at hand
    int64_t step;
} job;

static int64_t length_of(const job *j, int64_t b)
{
    const tn_tensor *lengths = operand(j->call->in, j->call->n_in, LENGTHS);
    return lengths ? tn_dtype_load_i64(lengths->dtype, lengths->data, (size_t)b) : j->d->steps;
}

static bool is_backward(const tn_rnn *d, int64_t direction) { return direction == 1 || d->backward; }

// Elements before the state of a sequence in initial_h, y_h ...
static int64_t state_at(const tn_rnn *d, int64_t direction, int64_t b)
{
    return (d->batch_first ? b * d->directions + direction : direction * d->batch + b) * d->hidden;
}

static float *y_at(const job *j, int64_t t, int64_t direction, int64_t b)
{
    const tn_rnn *d = j->d;
    const int64_t row = d->batch_first ? (b * d->steps + t) * d->directions + direction : (t * d->directions + direction) * d->batch + b;
    return (float *)j->call->out[0]->data + row * d->hidden;
}

static bool wants_y(const job *j) { return j->call->n_out > 0 && j->call->out[0]; }

// V units of one sequence: the cell of the part at hand, unless the sequence has ended, and y.
static void run_cell(const job *j, const part *p, int64_t direction, int64_t b, int64_t unit, const float *recurrent)
{
    const tn_rnn *d = j->d;
    const int vl = d->facts->lanes;
    const ptrdiff_t at = (direction * d->batch + b) * d->h_row + unit * vl;
    const int64_t length = length_of(j, b), lanes = TN_MIN((int64_t)vl, d->hidden - unit * vl);
    const bool resets = d->split && p->first == 0;
    if (j->step >= length) {
        memcpy(j->h[1] + at, j->h[0] + at, (size_t)vl * sizeof(float));
        if (wants_y(j) && !resets) {
            memset(y_at(j, j->step, direction, b) + unit * vl, 0, (size_t)lanes * sizeof(float));
        }
        return;
    }
    const int64_t t = is_backward(d, direction) ? length - 1 - j->step : j->step;
    const int64_t row = d->batch_first ? b * d->steps + t : t * d->batch + b;
    const float *inputs = j->inputs + (direction * d->steps * d->batch + row) * d->columns + (unit * d->gates + p->first) * vl;
    const tn_rnn_cell cell = d->gates == 4 ? j->isa->lstm : !d->split ? j->isa->gru : resets ? j->isa->reset : j->isa->update;
    cell(inputs, recurrent, j->h[0] + at, (resets ? j->reset : j->h[1]) + at, j->c + at);
    if (wants_y(j) && !resets) {
        memcpy(y_at(j, t, direction, b) + unit * vl, j->h[1] + at, (size_t)lanes * sizeof(float));
    }
}

// Groups group .. group+count-1 (1 or 2) of the only sequence.
static void run_sequence(const job *j, const part *p, int64_t direction, int64_t group, int count)
{
    const tn_rnn *d = j->d;
    const int vl = d->facts->lanes, units = p->q / p->gates;
    const float *h = (p->first ? j->reset : j->h[0]) + direction * d->h_row;
    const char *r = (const char *)j->r + (size_t)(direction * d->columns * d->r_steps + p->floats + group * p->q * vl * d->r_steps) * d->r_bytes;
    const float *bias = j->bias && !d->split ? j->bias + (2 * direction + 1) * d->columns + group * p->q * vl : NULL;
    const int vectors = (int)TN_MIN((int64_t)count * p->q, p->vectors - group * p->q), first = TN_MIN(vectors, p->q);
    float recurrent[2 * TN_TILE_MAX_Q * 16];
    if (vectors == 2 * p->q) {
        j->isa->product(recurrent, h, r, d->hidden, bias, p->q, 2);
    } else {
        j->isa->product(recurrent, h, r, d->hidden, bias, first, 1);
        if (vectors > first) {   // only split parts have a group that is not full, and those no bias here
            j->isa->product(recurrent + first * vl, h, r + (size_t)(first * vl * d->r_steps) * d->r_bytes, d->hidden, NULL, vectors - first, 1);
        }
    }
    for (int v = 0; v < vectors; v += p->gates) {
        run_cell(j, p, direction, 0, group * units + v / p->gates, recurrent + v * vl);
    }
}

// One group of several sequences: register tiles read it once for some of them.
static void run_tiles(const job *j, const part *p, int64_t direction, int64_t group)
{
    const tn_rnn *d = j->d;
    const int vl = d->facts->lanes, q = (int)TN_MIN((int64_t)p->q, p->vectors - group * p->q), units = p->q / p->gates;
    const float *state = p->first ? j->reset : j->h[0];
    float recurrent[TN_TILE_MAX_P * TN_TILE_MAX_Q * 16];
    const tn_act none = {TN_LOOP_CONST, 0.0, 0.0};
    tn_tile t = {
        .a_row = d->h_row,
        .n0 = 1, .n1 = 1, .n2 = 1,
        .lanes = d->hidden, .last_lanes = d->hidden,
        .b = (const float *)j->r + direction * d->columns * d->hidden + p->floats + group * p->q * vl * d->hidden,
        .b_step = q * vl,
        .c = recurrent,
        .c_row = q * vl,
        .c_vec = vl,
        .tail = vl, .bias_tail = vl,
        .bias = j->bias && !d->split ? j->bias + (2 * direction + 1) * d->columns + group * p->q * vl : NULL,
        .alpha = 1.0f, .beta = 1.0f,
        .finish = true,
    };
    tn_tile_set_act(&t, &none);
    const int64_t cuts = tn_tile_cuts(d->batch, d->facts->max_p[q]);
    for (int64_t cut = 0; cut < cuts; cut++) {
        const int64_t b0 = tn_tile_cut(d->batch, cuts, cut), rows = tn_tile_cut(d->batch, cuts, cut + 1) - b0;
        t.a = state + (direction * d->batch + b0) * d->h_row;
        j->isa->tiles->tile[q - 1][rows - 1](&t);
        for (int64_t b = b0; b < b0 + rows; b++) {
            for (int v = 0; v < q; v += p->gates) {
                run_cell(j, p, direction, b, group * units + v / p->gates, recurrent + ((b - b0) * q + v) * vl);
            }
        }
    }
}

// Items: pairs of groups of both directions.
static void run_groups(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const job *j = context;
    const part *p = &j->parts[j->which];
    const int64_t pairs = TN_CEIL_DIV(p->groups, 2), items = pairs * j->d->directions;
    for (int64_t i = (int64_t)first; i < (int64_t)(first + count); i++) {
        const int64_t item = j->step % 2 ? items - 1 - i : i, group = item % pairs * 2;
        const int here = (int)TN_MIN(2, p->groups - group);
        if (j->d->batch == 1) {
            run_sequence(j, p, item / pairs, group, here);
            continue;
        }
        for (int64_t g = group; g < group + here; g++) {
            run_tiles(j, p, item / pairs, g);
        }
    }
}

static void load_states(const job *j)
{
    const tn_rnn *d = j->d;
    const tn_tensor *h = operand(j->call->in, j->call->n_in, INITIAL_H);
    const tn_tensor *c = d->gates == 4 ? operand(j->call->in, j->call->n_in, INITIAL_C) : NULL;
    for (int64_t direction = 0; direction < d->directions; direction++) {
        for (int64_t b = 0; b < d->batch; b++) {
            const ptrdiff_t to = (direction * d->batch + b) * d->h_row;
            const int64_t from = state_at(d, direction, b);
            for (int64_t i = 0; i < d->h_row; i++) {
                j->h[0][to + i] = h && i < d->hidden ? ((const float *)h->data)[from + i] : 0.0f;
                j->c[to + i] = c && i < d->hidden ? ((const float *)c->data)[from + i] : 0.0f;
            }
        }
    }
}

static void store_states(const job *j, const float *state, int result)
{
    const tn_rnn *d = j->d;
    if (result >= j->call->n_out || !j->call->out[result]) {
        return;
    }
    for (int64_t direction = 0; direction < d->directions; direction++) {
        for (int64_t b = 0; b < d->batch; b++) {
            memcpy((float *)j->call->out[result]->data + state_at(d, direction, b), state + (direction * d->batch + b) * d->h_row,
                   (size_t)d->hidden * sizeof(float));
        }
    }
}

static tn_status check_lengths(const job *j)
{
    for (int64_t b = 0; b < j->d->batch; b++) {
        const int64_t length = length_of(j, b);
        if (length < 0 || length > j->d->steps) {
            return tn_fail(j->call->diag, TN_INVALID_ARGUMENT, j->call->name, "%s: sequence %lld has the length %lld, but x has %lld steps",
                           j->call->op->name, (long long)b, (long long)length, (long long)j->d->steps);
        }
    }
    return TN_OK;
}

// A step below this many multiply-adds is done by one thread: handing it out would take longer.
#define STEP_MACS_FEW 100000

tn_status tn_rnn_run(const tn_call *call, const tn_rnn_isa *isa)
{
    const tn_rnn *d = call->params;
    char *scratch = call->scratch;
    const size_t states = (size_t)(d->directions * d->batch) * (size_t)d->h_row;
    job j = {.d = d,
             .isa = isa,
             .call = call,
             .r = call->packed[1],
             .bias = d->has_bias ? call->packed[2] : NULL,
             .inputs = (float *)(scratch + d->inputs_at),
             .h = {(float *)(scratch + d->h_at), (float *)(scratch + d->h_at) + states},
             .c = (float *)(scratch + d->c_at),
             .reset = (float *)(scratch + d->reset_at)};
    TN_TRY(check_lengths(&j));
    const tn_act none = {TN_LOOP_CONST, 0.0, 0.0};
    tn_gemm g = d->gemm;
    g.tiles = isa->tiles;
    g.act = &none;
    g.a = call->in[X]->data;
    tn_bgemm product = d->product;
    product.tiles = isa->btiles;
    product.context = d;
    product.act = &none;
    product.a = g.a;
    for (int64_t direction = 0; direction < d->directions; direction++) {
        g.bias = j.bias ? j.bias + 2 * direction * d->columns : NULL;
        g.c = j.inputs + direction * d->steps * d->batch * d->columns;
        if (d->bf16) {
            product.b = (const uint16_t *)call->packed[0] + (size_t)direction * d->w_elements;
            product.bias = g.bias;
            product.c = g.c;
            tn_bgemm_run(call->workers, &product, scratch);
            continue;
        }
        g.b = (const float *)call->packed[0] + direction * d->columns * d->inputs;
        tn_gemm_run(call->workers, &g);
    }
    load_states(&j);
    const int parts = parts_of(d, j.parts);
    if (d->split) {
        memset(j.reset, 0, states * sizeof(float));
    }
    const bool few = (double)d->columns * (double)d->hidden * (double)(d->directions * d->batch) < STEP_MACS_FEW;
    tn_workers *workers = few ? NULL : call->workers;
    for (j.step = 0; j.step < d->steps; j.step++) {
        if (call->cancel && *call->cancel) {
            return TN_CANCELLED;
        }
        for (j.which = 0; j.which < parts; j.which++) {
            const int64_t items = d->directions * TN_CEIL_DIV(j.parts[j.which].groups, 2);
            const int64_t share = TN_MAX(1, items / (2 * (int64_t)tn_workers_count(workers)));
            tn_workers_run(workers, run_groups, &j, (size_t)items, (size_t)share);
        }
        float *before = j.h[0];
        j.h[0] = j.h[1];
        j.h[1] = before;
    }
    store_states(&j, j.h[0], 1);
    if (d->gates == 4) {
        store_states(&j, j.c, 2);
    }
    return TN_OK;
}

#define TIER(tier)                                                                                       \
    double tn_rnn_cost_##tier(const tn_query *query) { return cost(query, &tn_tile_facts_##tier); }      \
    tn_status tn_rnn_prepare_##tier(tn_prepare *p) { return prepare(p, &tn_tile_facts_##tier); }

TIER(avx512)
TIER(avx2)
TIER(portable)

double tn_rnn_cost_bf16_avx512bf16(const tn_query *query) { return cost_bf16(query, &tn_bgemm_facts_avx512bf16); }
double tn_rnn_cost_bf16_amx(const tn_query *query) { return cost_bf16(query, &tn_bgemm_facts_amx); }
