// SPDX-License-Identifier: Apache-2.0
// How the operands of an elementwise operator lie along the rows of its result (eltwise.h), the predicate and the costs.
// Ownership: none. Threads: any.
#include "kernels/eltwise/eltwise_program.h"

#include "base/macros.h"
#include "kernels/simd/stream.h"

#include <string.h>

// Dim d of the result as an operand of lower rank sees it.
static int64_t operand_dim(const tn_tensor *operand, const tn_tensor *result, int d)
{
    const int own = d - (result->shape.rank - operand->shape.rank);
    return own < 0 ? 1 : operand->shape.dims[own];
}

static bool broadcasts(const tn_tensor *operand, const tn_tensor *result)
{
    if (operand->shape.rank > result->shape.rank) {
        return false;
    }
    for (int d = 0; d < result->shape.rank; d++) {
        const int64_t dim = operand_dim(operand, result, d);
        if (dim != 1 && dim != result->shape.dims[d]) {
            return false;
        }
    }
    return true;
}

// ---- plain layout ----

// Bit i: operand i moves along dim d.
static unsigned movers(const tn_query *query, int d)
{
    unsigned mask = 0;
    for (int i = 0; i < query->n_in; i++) {
        mask |= query->in[i] && operand_dim(query->in[i], query->out[0], d) > 1 ? 1u << i : 0;
    }
    return mask;
}

// Neighbouring dims along which the same operands move become one; the last of these is the row.
static void plain_geometry(const tn_query *query, tn_eltwise_params *p)
{
    const tn_tensor *result = query->out[0];
    int64_t dims[TN_MAX_RANK] = {1};
    unsigned masks[TN_MAX_RANK] = {0};
    int rank = 0;
    for (int d = 0; d < result->shape.rank; d++) {
        const unsigned mask = movers(query, d);
        if (result->shape.dims[d] == 1) {
            continue;
        }
        if (rank > 0 && masks[rank - 1] == mask) {
            dims[rank - 1] *= result->shape.dims[d];
        } else {
            dims[rank] = result->shape.dims[d];
            masks[rank++] = mask;
        }
    }
    rank = TN_MAX(rank, 1);
    p->rank = rank - 1;
    p->row = dims[rank - 1];
    p->block = 1;
    memcpy(p->dims, dims, sizeof *dims * (size_t)p->rank);
    for (int i = 0; i < query->n_in; i++) {
        tn_eltwise_operand *operand = &p->operands[i];
        const bool moves = masks[rank - 1] >> i & 1;
        int64_t stride = moves ? p->row : 1;
        operand->kind = moves ? TN_ELTWISE_FULL : TN_ELTWISE_SCALAR;
        for (int d = p->rank - 1; d >= 0; d--) {
            operand->strides[d] = masks[d] >> i & 1 ? stride : 0;
            stride *= masks[d] >> i & 1 ? dims[d] : 1;
        }
    }
}

// ---- blocked layouts: rows are the S * block floats of one image and channel block; outer dims are [N, C / block] ----

typedef struct span {
    int64_t n, c, s;          // of the operand: 1 where it is broadcast
} span;

// False: the operand covers a part of the spatial dims only.
static bool operand_span(const tn_tensor *operand, const tn_tensor *result, span *out)
{
    bool all = true, none = true;
    out->s = 1;
    for (int d = 2; d < result->shape.rank; d++) {
        const int64_t dim = operand_dim(operand, result, d);
        all = all && dim == result->shape.dims[d];
        none = none && dim == 1;
        out->s *= dim;
    }
    out->n = operand_dim(operand, result, 0);
    out->c = operand_dim(operand, result, 1);
    return all || none;
}

// Why an operand cannot be used beside a blocked result; NULL: it can.
static const char *refuse_blocked(const tn_tensor *operand, const tn_tensor *result)
{
    span s;
    if (!operand_span(operand, result, &s)) {
        return "broadcast over a part of the spatial dims in a blocked layout";
    }
    if (operand->layout != TN_LAYOUT_PLAIN) {
        return operand->layout == result->layout ? NULL : "operands in different blocked layouts";
    }
    return s.c > 1 && (s.s > 1 || s.n > 1) ? "plain operand with channels and more in a blocked layout" : NULL;
}

static void blocked_operand(const tn_tensor *in, const tn_tensor *result, tn_eltwise_params *p, tn_eltwise_operand *operand)
{
    span s;
    const int64_t pixels = tn_shape_span(&result->shape, 2, result->shape.rank), blocks = p->dims[1];
    operand_span(in, result, &s);
    if (in->layout != TN_LAYOUT_PLAIN) {
        operand->kind = s.s == pixels ? TN_ELTWISE_FULL : TN_ELTWISE_PERIOD;
        operand->rounded = in->layout == TN_LAYOUT_NCHW32B;
        operand->strides[1] = s.s * p->block;
        operand->strides[0] = s.n > 1 ? blocks * s.s * p->block : 0;
    } else if (s.c > 1) {
        operand->kind = TN_ELTWISE_PERIOD;
        operand->strides[1] = p->block;
        operand->channels = (int)s.c;
        operand->padded = p->shared_floats;
        p->shared_floats += TN_CEIL_DIV(blocks * p->block, TN_ELTWISE_PATTERN) * TN_ELTWISE_PATTERN;
    } else {
        operand->kind = s.s > 1 ? TN_ELTWISE_PIXEL : TN_ELTWISE_SCALAR;
        operand->strides[0] = s.n > 1 ? s.s : 0;
    }
}

static void blocked_geometry(const tn_query *query, tn_eltwise_params *p)
{
    const tn_tensor *result = query->out[0];
    p->block = tn_layout_block(result->layout);
    p->rounded = result->layout == TN_LAYOUT_NCHW32B;
    p->channels = result->shape.dims[1];
    p->rank = 2;
    p->dims[0] = result->shape.dims[0];
    p->dims[1] = TN_CEIL_DIV(result->shape.dims[1], p->block);
    p->row = tn_shape_span(&result->shape, 2, result->shape.rank) * p->block;
    for (int i = 0; i < query->n_in; i++) {
        if (query->in[i]) {
            blocked_operand(query->in[i], result, p, &p->operands[i]);
        }
    }
}

// ---- chunks ----

static bool is_flat(const tn_eltwise_params *p, const tn_eltwise_operand *operand)
{
    int64_t stride = p->row;
    for (int d = p->rank - 1; d >= 0; d--) {
        if (p->dims[d] > 1 && operand->strides[d] != stride) {
            return false;
        }
        stride *= p->dims[d];
    }
    return operand->kind == TN_ELTWISE_FULL;
}

static bool is_fixed(const tn_eltwise_params *p, const tn_eltwise_operand *operand)
{
    for (int d = 0; d < p->rank; d++) {
        if (p->dims[d] > 1 && operand->strides[d] != 0) {
            return false;
        }
    }
    return true;
}

// Long rows are cut into chunks; short ones are put together, and operands that are not in the result's order are spread out.
static void plan_chunks(const tn_query *query, tn_eltwise_params *p)
{
    p->rows = 1;
    for (int d = 0; d < p->rank; d++) {
        p->rows *= p->dims[d];
    }
    // One instruction alone keeps memory busy as it is, and a pass through a buffer costs it more than it saves.
    p->stream = p->rounded || tn_stream_result(query) ? p->n_buffers++ : -1;
    p->chunk = p->n_buffers ? TN_ELTWISE_CHUNK : TN_ELTWISE_LONG;
    p->rows_per_chunk = !p->rounded && p->row > 0 && p->row <= TN_ELTWISE_CHUNK / 2 && p->rows > 1 ? TN_ELTWISE_CHUNK / p->row : 1;
    p->chunk = p->rows_per_chunk > 1 ? TN_ELTWISE_CHUNK : p->chunk;
    p->pieces = p->rows_per_chunk > 1 ? 1 : TN_CEIL_DIV(p->row, p->chunk);
    for (int i = 0; i < query->n_in; i++) {
        tn_eltwise_operand *operand = &p->operands[i];
        operand->flat = is_flat(p, operand);
        operand->fixed = is_fixed(p, operand);
        operand->fill = -1;
        const bool one_value = operand->kind == TN_ELTWISE_SCALAR && operand->fixed;
        const bool by_pixel = operand->kind == TN_ELTWISE_PIXEL;
        const bool widened = operand->rounded && operand->kind == TN_ELTWISE_FULL;
        if (by_pixel || widened || (p->rows_per_chunk > 1 && !operand->flat && !one_value)) {
            operand->fill = p->n_buffers++;
        }
    }
    p->chunk = p->n_buffers ? TN_ELTWISE_CHUNK : p->chunk;
    p->pieces = p->rows_per_chunk > 1 ? 1 : TN_CEIL_DIV(p->row, p->chunk);
    p->thread_floats = p->n_buffers * (int64_t)TN_ELTWISE_CHUNK + query->n_in * (p->rounded ? TN_ELTWISE_LINE : TN_ELTWISE_PATTERN);
}

bool tn_eltwise_match(const tn_query *query, const char **why)
{
    tn_loop_build build;
    int result;
    for (int i = 0; i < query->n_in; i++) {
        if (query->in[i] && query->in[i]->dtype != TN_F32) {
            *why = "an operand is not float32";
            return false;
        }
        if (query->in[i] && !broadcasts(query->in[i], query->out[0])) {
            *why = "an operand does not broadcast to the result";
            return false;
        }
    }
    if (!tn_eltwise_build(query, &build, &result)) {
        *why = "no loop form for these attributes and operands";
        return false;
    }
    for (int i = 0; i < query->n_in && query->out[0]->layout != TN_LAYOUT_PLAIN; i++) {
        const char *refusal = query->in[i] ? refuse_blocked(query->in[i], query->out[0]) : NULL;
        if (refusal) {
            *why = refusal;
            return false;
        }
    }
    return true;
}

tn_status tn_eltwise_prepare(tn_prepare *prepare)
{
    void *memory;
    const tn_query *query = prepare->query;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_eltwise_params), &memory));
    tn_eltwise_params *p = memory;
    if (!tn_eltwise_compile(query, p)) {
        return tn_fail(prepare->diag, TN_INTERNAL, query->name, "%s has no loop form", query->op->name);
    }
    if (query->out[0]->layout == TN_LAYOUT_PLAIN) {
        plain_geometry(query, p);
    } else {
        blocked_geometry(query, p);
    }
    plan_chunks(query, p);
    prepare->scratch_bytes = sizeof(float) * ((size_t)p->shared_floats + (size_t)p->thread_floats * TN_MAX(query->threads, 1u));
    return TN_OK;
}

// ---- costs ----

// Nanoseconds for one instruction over one vector.
static double code_cost(int code)
{
    switch (code) {
    case TN_LOOP_EXP:
    case TN_LOOP_SIGMOID:
    case TN_LOOP_SILU:
    case TN_LOOP_ERF:
    case TN_LOOP_GELU:
    case TN_LOOP_GELU_TANH:
    case TN_LOOP_ELU:
    case TN_LOOP_LOG:
        return 3.0;
    case TN_LOOP_TANH:
        return 5.0;
    case TN_LOOP_SOFTPLUS:
        return 10.0;
    case TN_LOOP_POW:
        return 100.0;
    case TN_LOOP_DIV:
    case TN_LOOP_RECIP:
    case TN_LOOP_SQRT:
    case TN_LOOP_RSQRT:
        return 2.0;
    default:
        return 0.5;
    }
}

static double cost(const tn_query *query, double lanes)
{
    tn_loop_build build;
    int result;
    size_t size;
    double bytes = 0, per_vector = 0;
    for (int i = 0; i <= query->n_in; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[0];
        bytes += tensor && tn_tensor_bytes(tensor, &size) ? (double)size : 0;
    }
    if (tn_eltwise_build(query, &build, &result)) {
        for (int i = 0; i < build.loop.n_code; i++) {
            per_vector += code_cost(build.loop.code[i].code);
        }
    }
    return 150.0 + bytes / 60.0 + per_vector * (double)tn_tensor_count(query->out[0]) / lanes;
}

double tn_eltwise_cost_portable(const tn_query *query) { return cost(query, 2.0); }
double tn_eltwise_cost_avx2(const tn_query *query) { return cost(query, 8.0); }
double tn_eltwise_cost_avx512(const tn_query *query) { return cost(query, 15.0); }
double tn_eltwise_cost_avx512bf16(const tn_query *query) { return cost(query, 12.0); }
