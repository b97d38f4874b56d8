// SPDX-License-Identifier: Apache-2.0
// To and from NCHW32B. An item is a line of channels by a piece of an image's pixels; sixteen pixels at a time, between plain rows and lines
// as two squares that are transposed.
// Ownership: const data. Threads: pieces of pixels are shared out.
#include "kernels/layout/relayout.h"
#include "kernels/simd/vec_bf16.h"
#include "ops/move/op_relayout.h"

#include "base/macros.h"

typedef struct job {
    tn_relayout_geometry g;   // of the side in NCHW32B
    bool plain;               // the other side
    const void *from;
    void *to;
} job;

// Of one item: the other side's first channel, its floats from one vector of channels to the next, and how many channels there are.
typedef struct line {
    int64_t other, vector;
    int channels;
} line;

static line line_of(const job *j, int64_t n, int64_t c0)
{
    const tn_relayout_geometry *g = &j->g;
    const int64_t blocks = TN_CEIL_DIV(g->channels, (int64_t)TN_VL);
    return (line){.other = j->plain ? (n * g->channels + c0) * g->pixels : (n * blocks + c0 / TN_VL) * g->pixels * TN_VL, .vector = g->pixels * TN_VL,
                  .channels = (int)TN_MIN((int64_t)TN_BF16_LINE, g->channels - c0)};
}

// Sixteen or fewer pixels of `channels` (0 .. 16) plain rows as vectors of channels, and back.
TN_INLINE void take_rows(tn_vf r[TN_VL], const float *from, int64_t row, int channels, int pixels)
{
    for (int k = 0; k < TN_VL; k++) {
        r[k] = k < channels ? tn_vf_load_n(from + k * row, pixels) : tn_vf_zero();
    }
    tn_vf_transpose(r);
}

TN_INLINE void give_rows(float *to, tn_vf r[TN_VL], int64_t row, int channels, int pixels)
{
    tn_vf_transpose(r);
    for (int k = 0; k < channels; k++) {
        tn_vf_store_n(to + k * row, r[k], pixels);
    }
}

static void plain_to_lines(const tn_relayout_geometry *g, uint16_t *to, const float *from, int channels, int64_t begin, int64_t end)
{
    const int low = TN_MIN(channels, TN_VL);
    for (int64_t s = begin; s < end; s += TN_VL) {
        const int pixels = (int)TN_MIN((int64_t)TN_VL, end - s);
        tn_vf a[TN_VL], b[TN_VL];
        take_rows(a, from + s, g->pixels, low, pixels);
        take_rows(b, from + TN_VL * g->pixels + s, g->pixels, channels - low, pixels);
        for (int i = 0; i < pixels; i++) {
            tn_vf_store_line(to + (s + i) * TN_BF16_LINE, a[i], b[i]);
        }
    }
}

static void lines_to_plain(const tn_relayout_geometry *g, float *to, const uint16_t *from, int channels, int64_t begin, int64_t end)
{
    const int low = TN_MIN(channels, TN_VL);
    for (int64_t s = begin; s < end; s += TN_VL) {
        const int pixels = (int)TN_MIN((int64_t)TN_VL, end - s);
        tn_vf a[TN_VL], b[TN_VL];
        for (int i = 0; i < TN_VL; i++) {
            const uint16_t *pixel = from + (s + TN_MIN(i, pixels - 1)) * TN_BF16_LINE;
            a[i] = tn_vf_load_bf16(pixel);
            b[i] = tn_vf_load_bf16(pixel + TN_VL);
        }
        give_rows(to + s, a, g->pixels, low, pixels);
        give_rows(to + TN_VL * g->pixels + s, b, g->pixels, channels - low, pixels);
    }
}

static void blocks_to_lines(const line *l, uint16_t *to, const float *from, int64_t begin, int64_t end)
{
    const tn_vm low = tn_vm_first(TN_MIN(l->channels, TN_VL)), high = tn_vm_first(TN_MAX(l->channels - TN_VL, 0));
    for (int64_t s = begin; s < end; s++) {
        const tn_vf a = _mm512_maskz_loadu_ps(low, from + s * TN_VL);
        const tn_vf b = high ? _mm512_maskz_loadu_ps(high, from + l->vector + s * TN_VL) : tn_vf_zero();
        tn_vf_store_line(to + s * TN_BF16_LINE, a, b);
    }
}

static void lines_to_blocks(const line *l, float *to, const uint16_t *from, int64_t begin, int64_t end)
{
    for (int64_t s = begin; s < end; s++) {
        tn_vf_store(to + s * TN_VL, tn_vf_load_bf16(from + s * TN_BF16_LINE));
        if (l->channels > TN_VL) {
            tn_vf_store(to + l->vector + s * TN_VL, tn_vf_load_bf16(from + s * TN_BF16_LINE + TN_VL));
        }
    }
}

static void run_items(const job *j, size_t first, size_t count, bool to_lines)
{
    const tn_relayout_geometry *g = &j->g;
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count); item++) {
        const int64_t piece = item % g->pieces, block = item / g->pieces % g->blocks, n = item / g->pieces / g->blocks;
        const int64_t begin = piece * TN_RELAYOUT_PIXELS, end = TN_MIN(begin + TN_RELAYOUT_PIXELS, g->pixels);
        const int64_t lines = (n * g->blocks + block) * g->pixels * TN_BF16_LINE;
        const line l = line_of(j, n, block * TN_BF16_LINE);
        if (to_lines) {
            uint16_t *to = (uint16_t *)j->to + lines;
            const float *from = (const float *)j->from + l.other;
            j->plain ? plain_to_lines(g, to, from, l.channels, begin, end) : blocks_to_lines(&l, to, from, begin, end);
        } else {
            float *to = (float *)j->to + l.other;
            const uint16_t *from = (const uint16_t *)j->from + lines;
            j->plain ? lines_to_plain(g, to, from, l.channels, begin, end) : lines_to_blocks(&l, to, from, begin, end);
        }
    }
}

static void run_to_lines(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    run_items(context, first, count, true);
}

static void run_from_lines(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    run_items(context, first, count, false);
}

// Operand and result: [N, C, spatial...] of float32, one of them in NCHW32B.
static tn_status run_relayout(const tn_call *call)
{
    const tn_tensor *in = call->in[0], *out = call->out[0];
    const bool to_lines = out->layout == TN_LAYOUT_NCHW32B;
    job j = {.g = tn_relayout_geometry_of(in, out), .plain = (to_lines ? in : out)->layout == TN_LAYOUT_PLAIN, .from = in->data, .to = out->data};
    j.g.block = TN_BF16_LINE;
    j.g.blocks = TN_CEIL_DIV(j.g.channels, j.g.block);
    if (j.g.images * j.g.channels * j.g.pixels > 0) {
        const int64_t items = j.g.images * j.g.blocks * j.g.pieces, floats = TN_MIN(j.g.pixels, TN_RELAYOUT_PIXELS) * j.g.block;
        tn_workers_run(call->workers, to_lines ? run_to_lines : run_from_lines, &j, (size_t)items, (size_t)TN_MAX(16384 / floats, 1));
    }
    return TN_OK;
}

static const tn_kernel rows[] = {
    {.name = "relayout_bf16_avx512bf16", .op = &tn_op_relayout, .impl = TN_IMPL_AVX512BF16, .tag = "bf16", .version = 1,
     .cpu = TN_CPU_AVX512 | TN_CPU_AVX512BF16 | TN_CPU_BF16_WEIGHTS, .aligned_constants = true, .match = tn_relayout_match_lines,
     .run = run_relayout},
};
TN_EXPORT_KERNELS(relayout_bf16_avx512bf16, rows);
