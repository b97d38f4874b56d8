// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: matching, cost, packing and the split of work, for all tiers.
// Ownership: parameters live in the plan's arena. Threads: uses the workers it is given.
#include "kernels/dwconv/dwconv.h"

#include "base/macros.h"
#include "base/map.h"
#include "base/num.h"

#include <math.h>

static bool describe(tn_dwconv *d, const tn_query *query)
{
    const tn_conv_attr *attr = query->attr;
    *d = (tn_dwconv){.act = attr->act, .low = -INFINITY, .high = INFINITY};
    if (!tn_conv_shape_of(attr, &query->in[0]->shape, &query->in[1]->shape, &d->s)) {
        return false;
    }
    d->block = tn_layout_block(query->out[0]->layout);
    d->blocks = (d->s.c + d->block - 1) / d->block;
    tn_tile clamp = {0};
    tn_tile_set_act(&clamp, &attr->act);
    d->low = clamp.low;
    d->high = clamp.high;
    if (!clamp.act) {
        d->act.code = TN_LOOP_CONST;
    }
    return true;
}

bool tn_dwconv_match(const tn_query *query, const char **why)
{
    tn_dwconv d;
    if (!tn_conv_match_packed(query, why)) {
        return false;
    }
    if (!describe(&d, query) || d.s.in[0] != 1 || d.s.kernel[0] != 1 || d.s.out[0] != 1 || d.s.pad[0] != 0) {
        *why = "only one or two spatial dims";
        return false;
    }
    if (d.s.groups != d.s.c || d.s.mg != 1) {
        *why = "not one output channel for each input channel";
        return false;
    }
    return true;
}

// Two multiply-adds a cycle, but not faster than the second-level cache delivers and takes the tensors.
static double cost(const tn_query *query, int lanes, double fma_per_ns, double bytes)
{
    tn_dwconv d;
    if (!describe(&d, query)) {
        return 1e18;
    }
    const tn_conv_shape *s = &d.s;
    const double vectors = (double)s->n * (double)d.blocks * (double)d.block / lanes;
    const double out = (double)(s->out[1] * s->out[2]), in = (double)(s->in[1] * s->in[2]);
    const double taps = (double)(s->kernel[1] * s->kernel[2]);
    return 300.0 + vectors * TN_MAX(out * (1.0 + taps * 1.3) / fma_per_ns, (in + out) * lanes * bytes / 60.0 * (1.0 + 0.5 / lanes));
}

double tn_dwconv_cost_avx512(const tn_query *query) { return cost(query, 16, 8.0, 4.0); }
double tn_dwconv_cost_avx512bf16(const tn_query *query) { return cost(query, 16, 8.0, 2.0); }
double tn_dwconv_cost_avx2(const tn_query *query) { return cost(query, 8, 8.0, 4.0); }
double tn_dwconv_cost_portable(const tn_query *query) { return cost(query, 4, 4.0, 4.0); }

void tn_dwconv_pack(void *dst, const tn_query *query, const void *params)
{
    const tn_dwconv *d = params;
    const int64_t taps = d->s.kernel[1] * d->s.kernel[2];
    float *out = dst;
    for (int64_t b = 0; b < d->blocks; b++) {
        for (int64_t t = 0; t < taps; t++) {
            for (int lane = 0; lane < d->block; lane++) {
                const int64_t c = b * d->block + lane;
                *out++ = c < d->s.c ? tn_load_f32(query->in[1]->data, (size_t)(c * taps + t)) : 0.0f;
            }
        }
    }
}

tn_status tn_dwconv_prepare(tn_prepare *prepare)
{
    tn_dwconv *d;
    TN_TRY(tn_prepare_params(prepare, sizeof *d, (void **)&d));
    if (!describe(d, prepare->query)) {
        return tn_fail(prepare->diag, TN_INTERNAL, prepare->query->name, "the convolution's attributes do not fit its shapes");
    }
    const tn_conv_shape *s = &d->s;
    const int64_t l2 = (int64_t)(prepare->query->cpu->l2 / tn_tensor_unit(prepare->query->in[0]));
    d->below = tn_tensor_count(prepare->query->in[0]) > l2;
    d->ask = tn_tensor_count(prepare->query->out[0]) > l2;
    const uint64_t form[] = {(uint64_t)d->block, (uint64_t)s->c, (uint64_t)s->kernel[1], (uint64_t)s->kernel[2]};
    size_t bytes;
    if (!tn_mul_size((size_t)(d->blocks * d->block) * sizeof(float), (size_t)(s->kernel[1] * s->kernel[2]), &bytes)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the packed weights do not fit in memory");
    }
    prepare->packs[0] =
        (tn_pack){.operand = 1, .id = "dwconv_f32", .variant = tn_hash(form, sizeof form, 0), .bytes = bytes, .pack = tn_dwconv_pack};
    prepare->n_packs = 1;
    return TN_OK;
}

// ---- running ----

typedef struct job {
    tn_dwconv_call call;
    tn_dwconv_rows rows;
    int64_t rows_item, items;    // rows of an item, items of a block
} job;

static void run_items(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const job *j = context;
    const tn_dwconv *d = j->call.d;
    for (size_t i = first; i < first + count; i++) {
        const int64_t item = (int64_t)i % j->items, plane = (int64_t)i / j->items;
        const int64_t oh1 = TN_MIN(d->s.out[1], (item + 1) * j->rows_item);
        j->rows(&j->call, plane / d->blocks, plane % d->blocks, item * j->rows_item, oh1);
    }
}

tn_status tn_dwconv_run(const tn_call *call, tn_dwconv_rows rows)
{
    const tn_dwconv *d = call->params;
    const tn_conv_shape *s = &d->s;
    job j = {
        .call = {.d = d,
                 .x = call->in[0]->data,
                 .w = call->packed[0],
                 .bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL,
                 .residual = call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL,
                 .y = call->out[0]->data,
                 .x_rows = s->in[1],
                 .y_rows = s->out[1]},
        .rows = rows,
    };
    const double row_ns = 10.0 + (double)s->out[2] * (double)(s->kernel[1] * s->kernel[2]) * d->block / 100.0;
    j.rows_item = tn_tile_item(row_ns, s->out[1], s->n * d->blocks, tn_workers_count(call->workers));
    j.items = (s->out[1] + j.rows_item - 1) / j.rows_item;
    // Short planes go several to an item.
    const double item_ns = row_ns * (double)j.rows_item;
    const int64_t total = s->n * d->blocks * j.items;
    tn_workers_run(call->workers, run_items, &j, (size_t)total,
                   (size_t)tn_tile_item(item_ns, total, 1, tn_workers_count(call->workers)));
    return TN_OK;
}
