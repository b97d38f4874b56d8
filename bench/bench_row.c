// SPDX-License-Identifier: Apache-2.0
// Runs a row as a plan would: query, prepare, pack, run.
// Ownership: everything is given back at the end. Threads: one at a time.
#include "bench_row.h"

#include "base/macros.h"
#include "ops/op_eval.h"
#include "sys/clock.h"

#include <string.h>
#include <time.h>

typedef struct stage {
    tn_arena arena;
    tn_heap *heap;
    tn_tensor in[TN_BENCH_MAX_IN], out[TN_MAX_OUT];
    const tn_tensor *in_list[TN_BENCH_MAX_IN], *out_list[TN_MAX_OUT];
    tn_tensor *results[TN_MAX_OUT];
    tn_query query;
    tn_prepare prepare;
    tn_call call;
    void *blocks[TN_BENCH_MAX_IN + TN_MAX_OUT + TN_MAX_PACKS + 1];
    int n_blocks;
    tn_diag diag;
} stage;

static void *take(stage *s, size_t bytes)
{
    void *block = tn_take(s->heap, bytes + 64);
    if (block) {
        s->blocks[s->n_blocks++] = block;
    }
    return block;
}

// Numbers between -1/2 and 1/2 from a linear congruence: no two runs differ.
static bool fill(stage *s, tn_tensor *tensor)
{
    size_t bytes;
    uint32_t state = 12345;
    if (!tn_tensor_bytes(tensor, &bytes) || !(tensor->data = take(s, bytes))) {
        return false;
    }
    for (size_t i = 0; i < bytes / sizeof(float); i++) {
        state = state * 1664525u + 1013904223u;
        ((float *)tensor->data)[i] = (float)(state >> 8) / 16777216.0f - 0.5f;
    }
    return true;
}

static bool infer(stage *s, const tn_bench_node *node)
{
    tn_fact facts[TN_BENCH_MAX_IN], out[TN_MAX_OUT] = {0};
    const tn_fact *list[TN_BENCH_MAX_IN];
    for (int i = 0; i < node->n_in; i++) {
        facts[i] = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = TN_F32, .shape = node->in[i]};
        list[i] = node->in[i].rank < 0 ? NULL : &facts[i];
    }
    if (tn_op_infer(node->op, node->attr, "bench", list, node->n_in, out, node->n_out, &s->arena, &s->diag) != TN_OK) {
        return false;
    }
    for (int i = 0; i < node->n_out; i++) {
        s->out[i] = (tn_tensor){.dtype = out[i].dtype, .shape = out[i].shape};
    }
    return true;
}

static bool describe(stage *s, const tn_bench_node *node, const tn_kernel *row, const tn_bench_options *options)
{
    for (int i = 0; i < node->n_in; i++) {
        const bool blocked = i == 0 || (row->layouts.blocked_in >> i & 1);
        s->in[i] = (tn_tensor){.dtype = TN_F32, .layout = blocked ? row->layouts.in : TN_LAYOUT_PLAIN, .shape = node->in[i]};
        s->in_list[i] = node->in[i].rank < 0 ? NULL : &s->in[i];
        if (s->in_list[i] && node->constant[i] && !fill(s, &s->in[i])) {
            return false;
        }
    }
    s->out[0].layout = row->layouts.out;
    for (int i = 0; i < node->n_out; i++) {
        s->out_list[i] = s->results[i] = &s->out[i];
    }
    s->query = (tn_query){.op = node->op, .attr = node->attr, .name = "bench", .n_in = node->n_in, .n_out = node->n_out,
                          .in = s->in_list, .out = s->out_list, .cpu = options->cpu, .threads = tn_workers_count(options->workers)};
    return true;
}

// Parameters, packed constants, operands, results, workspace.
static bool bind(stage *s, const tn_kernel *row, const tn_bench_options *options)
{
    const tn_query *q = &s->query;
    s->prepare = (tn_prepare){.query = q, .row = row, .arena = &s->arena, .diag = &s->diag};
    if (row->prepare && row->prepare(&s->prepare) != TN_OK) {
        return false;
    }
    s->call = (tn_call){.op = q->op, .attr = q->attr, .name = q->name, .n_in = q->n_in, .n_out = q->n_out, .in = s->in_list, .out = s->results,
                        .params = s->prepare.params, .workers = options->workers, .heap = options->heap, .diag = &s->diag};
    for (int i = 0; i < s->prepare.n_packs; i++) {
        void *packed = take(s, s->prepare.packs[i].bytes);
        if (!packed) {
            return false;
        }
        s->prepare.packs[i].pack(packed, q, s->prepare.params);
        s->call.packed[i] = packed;
    }
    for (int i = 0; i < q->n_in; i++) {
        if (s->in_list[i] && !s->in[i].data && !fill(s, &s->in[i])) {
            return false;
        }
    }
    for (int i = 0; i < q->n_out; i++) {
        if (!fill(s, &s->out[i])) {
            return false;
        }
    }
    s->call.scratch = take(s, s->prepare.scratch_bytes);
    return s->call.scratch != NULL;
}

static void evict(const void *data, size_t bytes)
{
#if defined(__x86_64__)
    for (size_t i = 0; i < bytes; i += 64) {
        __builtin_ia32_clflush((const char *)data + i);
    }
    __builtin_ia32_mfence();
#else
    (void)data, (void)bytes;
#endif
}

// With one thread its own time, which other work on the machine hardly changes; with more the wall clock.
static uint64_t clock_of(const tn_bench_options *options)
{
    struct timespec t;
    if (tn_workers_count(options->workers) > 1 || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) != 0) {
        return tn_clock_ns();
    }
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool time_runs(stage *s, const tn_kernel *row, const tn_bench_options *options, double *ns)
{
    const uint64_t end = tn_clock_ns() + (uint64_t)(options->seconds * 1e9);
    *ns = 1e300;
    int runs = 0;
    do {
        if (options->cold) {
            size_t bytes;
            for (int i = 0; i < s->prepare.n_packs; i++) {
                evict(s->call.packed[i], s->prepare.packs[i].bytes);
            }
            if (tn_tensor_bytes(&s->out[0], &bytes)) {
                evict(s->out[0].data, bytes);
            }
        }
        const uint64_t start = clock_of(options);
        if (row->run(&s->call) != TN_OK) {
            return false;
        }
        const double took = (double)(clock_of(options) - start);
        *ns = runs++ > 0 ? TN_MIN(*ns, took) : *ns;   // the first run warms up
    } while (runs < 5 || tn_clock_ns() < end);
    return true;
}

double tn_bench_bytes(const tn_bench_node *node, const tn_bench_options *options)
{
    stage s = {.heap = options->heap};
    double sum = 0;
    tn_arena_init(&s.arena, options->heap);
    const int count = infer(&s, node) ? node->n_in + node->n_out : 0;
    for (int i = 0; i < count; i++) {
        const tn_tensor in = {.dtype = TN_F32, .shape = i < node->n_in ? node->in[i] : s.out[i - node->n_in].shape};
        size_t bytes;
        sum += in.shape.rank >= 0 && tn_tensor_bytes(&in, &bytes) ? (double)bytes : 0;
    }
    tn_arena_deinit(&s.arena);
    return sum;
}

bool tn_bench_row(const tn_bench_node *node, const tn_kernel *row, const tn_bench_options *options, tn_bench_result *result, const char **why)
{
    stage s = {.heap = options->heap};
    tn_arena_init(&s.arena, options->heap);
    *why = "no memory";
    bool good = infer(&s, node);
    const int rank = s.out[0].shape.rank;
    if (good && row->layouts.in == TN_LAYOUT_SAME) {
        *why = "any layout";
        good = false;
    } else if (good && (row->layouts.in != TN_LAYOUT_PLAIN || row->layouts.out != TN_LAYOUT_PLAIN) && (rank < 3 || rank > 5)) {
        *why = "rank";
        good = false;
    }
    good = good && describe(&s, node, row, options) && tn_kernel_accepts(row, &s.query, options->cpu->features, why);
    if (good) {
        result->estimate = row->cost ? row->cost(&s.query) : 0.0;
        good = bind(&s, row, options) && time_runs(&s, row, options, &result->ns);
        *why = s.diag.message;
    }
    while (s.n_blocks > 0) {
        tn_give(options->heap, s.blocks[--s.n_blocks]);
    }
    tn_arena_deinit(&s.arena);
    return good;
}
