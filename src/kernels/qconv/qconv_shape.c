// SPDX-License-Identifier: Apache-2.0
// Predicates, parameters and costs of convolution of bytes (qconv.h).
// Ownership: none. Threads: any.
#include "kernels/qconv/qconv.h"

#include "base/macros.h"
#include "kernels/gemm/scratch.h"
#include "ops/op_rows.h"

static bool is_byte(const tn_tensor *tensor) { return tensor->dtype == TN_U8 || tensor->dtype == TN_I8; }

static bool matches(const tn_query *query, const tn_tensor *weights, const char **why)
{
    const tn_conv_attr *attr = query->attr;
    tn_window w;
    if (!is_byte(query->in[0]) || !is_byte(weights) || tn_tensor_count(query->out[0]) == 0 || tn_tensor_count(weights) == 0) {
        *why = "no bytes, or no elements";
        return false;
    }
    if (!tn_conv_window(attr, &query->in[0]->shape, &weights->shape, &w) || w.rank > 2) {
        *why = "more than two spatial dims";
        return false;
    }
    // Windows that lie far apart, or mostly in the pads, would need more room than the tensors themselves: the reference takes them.
    const int64_t span_y = (w.kernel[0] - 1) * w.dilation[0] + (w.out[0] - 1) * w.stride[0];
    const int64_t span_x = w.rank > 1 ? (w.kernel[1] - 1) * w.dilation[1] + (w.out[1] - 1) * w.stride[1] : 0;
    if (span_y > 4 * w.in[0] + 64 || (w.rank > 1 && span_x > 4 * w.in[1] + 64)) {
        *why = "windows much larger than the picture";
        return false;
    }
    return true;
}

bool tn_qconv_match(const tn_query *query, const char **why)
{
    for (int i = 1; i < query->n_in; i++) {
        if (i != 2 && i != 3 && i != 5 && query->in[i] && !query->in[i]->data) {
            *why = "scales that are no constants";
            return false;
        }
    }
    return matches(query, query->in[3], why);
}

bool tn_conv_integer_match(const tn_query *query, const char **why) { return matches(query, query->in[1], why); }

// The padded copy: its sizes, and where each tap lies in it.
static tn_status set_copy(tn_prepare *prepare, tn_qconv_params *p)
{
    const tn_window *w = &p->w;
    int64_t *reach = tn_arena_array(prepare->arena, (size_t)p->taps, sizeof *reach);
    if (!reach) {
        return tn_fail_memory(prepare->diag, prepare->query->name, (size_t)p->taps * sizeof *reach);
    }
    p->flat = p->taps == 1 && w->stride[1] == 1 && w->stride[2] == 1 && w->out[1] == w->in[1] && w->out[2] == w->in[2] &&
              w->pad_begin[1] == 0 && w->pad_begin[2] == 0;
    p->rows = (w->out[1] - 1) * w->stride[1] + (w->kernel[1] - 1) * w->dilation[1] + 1;
    p->phase = w->out[2] + (w->kernel[2] - 1) * w->dilation[2] / w->stride[2];
    const int64_t pitch = w->stride[2] * p->phase;
    p->plane = p->rows * pitch;
    for (int64_t tap = 0; tap < p->taps; tap++) {
        const int64_t ky = tap / w->kernel[2] * w->dilation[1], kx = tap % w->kernel[2] * w->dilation[2];
        reach[tap] = ky * pitch + kx % w->stride[2] * p->phase + kx / w->stride[2];
    }
    p->reach = reach;
    return TN_OK;
}

// Rows as pairs, and where each pair of taps lies in them.
static tn_status set_pairs(tn_prepare *prepare, tn_qconv_params *p)
{
    const tn_window *w = &p->w;
    p->sets = w->stride[1] == 1 ? 2 : 1;
    const int64_t down = (w->kernel[1] + p->sets) / 2;     // a row further down for the second set
    p->pair_taps = down * w->kernel[2];
    p->pair_rows = TN_CEIL_DIV(w->out[1], p->sets) + down - 1;
    p->positions = TN_CEIL_DIV(w->out[1], p->sets) * p->phase;
    int64_t *reach = tn_arena_array(prepare->arena, (size_t)p->pair_taps, sizeof *reach);
    if (!reach) {
        return tn_fail_memory(prepare->diag, prepare->query->name, (size_t)p->pair_taps * sizeof *reach);
    }
    for (int64_t tap = 0; tap < p->pair_taps; tap++) {
        const int64_t kx = tap % w->kernel[2] * w->dilation[2];
        reach[tap] = (kx % w->stride[2] * p->pair_rows + tap / w->kernel[2]) * p->phase + kx / w->stride[2];
    }
    p->reach = reach;
    return TN_OK;
}

static tn_status set_scratch(tn_prepare *prepare, tn_qconv_params *p)
{
    const tn_shape *x = &prepare->query->in[0]->shape;
    const size_t threads = TN_MAX(prepare->query->threads, 1u), planes = p->flat || p->depthwise ? 0 : (size_t)(x->dims[0] * x->dims[1]);
    size_t at;
    if (p->depthwise) {
        // Pairs, with what whole vectors read behind them; the lines they are made of; results with what lies between their rows.
        TN_TRY(set_pairs(prepare, p));
        const size_t pairs = (size_t)(p->w.stride[2] * p->pair_rows * p->phase) + 128;
        p->slot_bytes = pairs * 2 * sizeof(int16_t) + (size_t)(2 * p->pair_rows * p->phase) + 64 + 2 * ((size_t)p->positions + 128) * sizeof(int32_t) + 64;
    } else {
        p->slot_bytes = tn_qsum_slot_bytes(p->k, p->mg);
    }
    p->slot_bytes = (p->slot_bytes + 63) / 64 * 64;
    if (planes > 0) {
        TN_TRY(tn_scratch_add(prepare, planes, (size_t)p->plane, &at));
        TN_TRY(tn_scratch_add(prepare, 1, 64, &at));
        p->copy_bytes = prepare->scratch_bytes;
    }
    return tn_scratch_add(prepare, threads, p->slot_bytes, &at);
}

static void pack_part(void *dst, const tn_query *query, const void *params, int64_t part)
{
    const tn_qconv_params *p = params;
    const int64_t group = part / p->quads.blocks;
    tn_qquads_pack((char *)dst + (size_t)part * p->quads.block_bytes, &p->quads,
                   (const uint8_t *)query->in[p->weights]->data + group * p->mg * p->k, part % p->quads.blocks);
}

static void pack(void *dst, const tn_query *query, const void *params)
{
    const tn_qconv_params *p = params;
    for (int64_t part = 0; part < p->quads.group * p->quads.blocks; part++) {
        pack_part(dst, query, params, part);
    }
}

// No zero points of weights but 0 for signed and 128 for unsigned ones.
static bool middle_zero(const tn_tensor *weights, const tn_tensor *zero)
{
    bool fits = weights->data != NULL && (zero ? zero->data != NULL : weights->dtype == TN_I8);
    for (int64_t i = 0; fits && zero && i < tn_tensor_count(zero); i++) {
        fits = tn_qsum_zero(zero, i) == (weights->dtype == TN_I8 ? 0 : 128);
    }
    return fits;
}

// Constant weights go by fours where the tier has an instruction for it.
static tn_status set_packs(tn_prepare *prepare, tn_qconv_params *p)
{
    const tn_query *query = prepare->query;
    const tn_tensor *weights = query->in[p->weights], *zero = p->w_zero < query->n_in ? query->in[p->w_zero] : NULL;
    const bool clip = prepare->row->impl != TN_IMPL_VNNI;
    if (prepare->row->impl == TN_IMPL_PORTABLE || p->depthwise || !middle_zero(weights, zero)) {
        return TN_OK;
    }
    if (!tn_qquads_init(&p->quads, p->group, p->mg, p->k, clip, weights->dtype == TN_U8)) {
        return TN_OK;
    }
    p->packed = true;
    prepare->packs[0] = (tn_pack){.operand = p->weights, .id = "qquads", .variant = (uint64_t)clip + 2 * (uint64_t)p->group, .bytes = p->quads.bytes,
                                  .pack = pack, .part = pack_part, .parts = p->group * p->quads.blocks};
    prepare->n_packs = 1;
    return TN_OK;
}

static tn_status prepare_at(tn_prepare *prepare, int x_zero, int weights, int w_zero, tn_qconv_params **params)
{
    const tn_query *query = prepare->query;
    const tn_conv_attr *attr = query->attr;
    const tn_shape *x = &query->in[0]->shape, *w = &query->in[weights]->shape;
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_qconv_params), &memory));
    tn_qconv_params *p = memory;
    (void)tn_conv_window(attr, x, w, &p->w);
    tn_window_widen(&p->w);
    p->m = w->dims[0];
    p->group = attr->group;
    p->cg = w->dims[1];
    p->mg = p->m / p->group;
    p->taps = p->w.kernel[1] * p->w.kernel[2];
    p->k = p->cg * p->taps;
    p->depthwise = p->cg == 1 && p->taps <= TN_QCONV_MAX_TAPS && p->mg <= 4 && p->w.dilation[1] == 1 && p->w.stride[1] <= 2;
    p->x_signed = query->in[0]->dtype == TN_I8;
    p->x_zero = x_zero;
    p->weights = weights;
    p->w_zero = w_zero;
    *params = p;
    TN_TRY(set_copy(prepare, p));
    TN_TRY(set_packs(prepare, p));
    return set_scratch(prepare, p);
}

tn_status tn_qconv_prepare(tn_prepare *prepare)
{
    static const int scales[] = {1, 4, 6};
    tn_qconv_params *p;
    TN_TRY(prepare_at(prepare, 2, 3, 5, &p));
    return tn_qsum_results_init(prepare, &((const tn_qconv_attr *)prepare->query->attr)->q, scales, 7, 8, p->m, &p->results);
}

tn_status tn_conv_integer_prepare(tn_prepare *prepare)
{
    tn_qconv_params *p;
    return prepare_at(prepare, 2, 1, 3, &p);
}

// Depthwise windows move more than they multiply.
static double cost(const tn_query *query, double per_ns, double element)
{
    const tn_tensor *w = query->in[query->n_in > 4 ? 3 : 1];
    const double macs = (double)tn_query_macs(query), outputs = (double)tn_tensor_count(query->out[0]);
    const bool thin = w->shape.rank > 1 && w->shape.dims[1] == 1;
    return 500.0 + macs / (thin ? per_ns / 3 : per_ns) + (outputs + 0.5 * (double)tn_tensor_count(query->in[0])) * element;
}

double tn_qconv_cost_portable(const tn_query *query) { return cost(query, 6.0, 1.0); }
double tn_qconv_cost_avx2(const tn_query *query) { return cost(query, 72.0, 0.1); }
double tn_qconv_cost_avx512(const tn_query *query) { return cost(query, 110.0, 0.07); }
double tn_qconv_cost_vnni(const tn_query *query) { return cost(query, 180.0, 0.07); }
