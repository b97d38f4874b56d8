// SPDX-License-Identifier: Apache-2.0
// Times kernel rows on the layers of known networks and places them on this machine's roofline: microseconds, GFLOP/s, operations a byte, and
// the share of what multiply-add peak and copy bandwidth, both measured first, allow. All rows that take a node are timed, not only the one
// that a plan would choose; race/race.py roofline does the same for plans.
//   bench_kernels [--suite NAME] [--rows TEXT] [--threads N] [--seconds S] [--cold] [--json]
//     --suite    mobilenet_v2, resnet50, minilm, gemm, lstm; all without it
//     --rows     only rows whose name contains TEXT
//     --cold     weights and results start outside of the caches, as they do inside a large network
// Ownership: everything until the end. Threads: one, and the workers asked for.
#include "bench_row.h"
#include "peak.h"

#include "base/macros.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/seq/op_lstm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A layer: input channels, height = width, output channels, window, stride, groups, how often it occurs.
typedef struct conv_layer { int c, size, m, kernel, stride, groups, times; } conv_layer;

static const conv_layer mobilenet_v2[] = {
    {3, 224, 32, 3, 2, 1, 1},   {32, 112, 32, 3, 1, 32, 1},  {32, 112, 16, 1, 1, 1, 1},    {16, 112, 96, 1, 1, 1, 1},  {96, 112, 96, 3, 2, 96, 1},
    {96, 56, 24, 1, 1, 1, 1},   {24, 56, 144, 1, 1, 1, 2},   {144, 56, 144, 3, 1, 144, 1}, {144, 56, 24, 1, 1, 1, 1},  {144, 56, 144, 3, 2, 144, 1},
    {144, 28, 32, 1, 1, 1, 1},  {32, 28, 192, 1, 1, 1, 3},   {192, 28, 192, 3, 1, 192, 2}, {192, 28, 32, 1, 1, 1, 2},  {192, 28, 192, 3, 2, 192, 1},
    {192, 14, 64, 1, 1, 1, 1},  {64, 14, 384, 1, 1, 1, 4},   {384, 14, 384, 3, 1, 384, 4}, {384, 14, 64, 1, 1, 1, 3},  {384, 14, 96, 1, 1, 1, 1},
    {96, 14, 576, 1, 1, 1, 3},  {576, 14, 576, 3, 1, 576, 2}, {576, 14, 96, 1, 1, 1, 2},   {576, 14, 576, 3, 2, 576, 1}, {576, 7, 160, 1, 1, 1, 1},
    {160, 7, 960, 1, 1, 1, 3},  {960, 7, 960, 3, 1, 960, 3}, {960, 7, 160, 1, 1, 1, 2},    {960, 7, 320, 1, 1, 1, 1},  {320, 7, 1280, 1, 1, 1, 1},
};

static const conv_layer resnet50[] = {
    {3, 224, 64, 7, 2, 1, 1},    {64, 56, 64, 1, 1, 1, 1},     {64, 56, 64, 3, 1, 1, 3},     {64, 56, 256, 1, 1, 1, 4},   {256, 56, 64, 1, 1, 1, 2},
    {256, 56, 128, 1, 1, 1, 1},  {128, 56, 128, 3, 2, 1, 1},   {128, 28, 512, 1, 1, 1, 4},   {256, 56, 512, 1, 2, 1, 1},  {512, 28, 128, 1, 1, 1, 3},
    {128, 28, 128, 3, 1, 1, 3},  {512, 28, 256, 1, 1, 1, 1},   {256, 28, 256, 3, 2, 1, 1},   {256, 14, 1024, 1, 1, 1, 6}, {512, 28, 1024, 1, 2, 1, 1},
    {1024, 14, 256, 1, 1, 1, 5}, {256, 14, 256, 3, 1, 1, 5},   {1024, 14, 512, 1, 1, 1, 1},  {512, 14, 512, 3, 2, 1, 1},  {512, 7, 2048, 1, 1, 1, 3},
    {1024, 14, 2048, 1, 2, 1, 1}, {2048, 7, 512, 1, 1, 1, 2},  {512, 7, 512, 3, 1, 1, 2},
};

// A product [batch, m, k] x [batch, k, n]; constant: k x n weights.
typedef struct product { int batch, m, k, n; bool constant; int times; } product;

static const product minilm[] = {{1, 128, 384, 384, true, 24}, {1, 128, 384, 1536, true, 6}, {1, 128, 1536, 384, true, 6},
                                 {12, 128, 32, 128, false, 6}, {12, 128, 128, 32, false, 6}};
static const product gemm[] = {{1, 256, 256, 256, true, 1}, {1, 512, 512, 512, true, 1},  {1, 1024, 1024, 1024, true, 1}, {1, 2048, 2048, 2048, true, 1},
                               {1, 196, 512, 512, true, 1}, {1, 3136, 64, 64, true, 1},   {1, 1, 1024, 1024, true, 1},    {1, 1, 4096, 4096, true, 1},
                               {1, 512, 512, 512, false, 1}};

typedef struct bench {
    tn_bench_options options;
    const char *suite, *text;
    bool json;
    size_t printed;                        // rows
    double peaks[TN_IMPL_COUNT], copy;     // GFLOP/s and GB/s of all threads
    const tn_bench_node *node;
    double flops, bytes, best;             // of the node; best: of its rows, ns
} bench;

// A point on the roofline as one line; the bytes are those of operands, weights and result, each once.
static void print_row(bench *b, const tn_kernel *row, const tn_bench_result *result)
{
    const double rate = b->flops / result->ns, peak = b->peaks[row->impl], intensity = b->flops / b->bytes;
    const double slope = intensity * b->copy, roof = peak > 0 ? TN_MIN(peak, slope) : slope;
    const char *bound = slope < peak || peak <= 0 ? "memory" : "arithmetic";
    if (b->json) {
        printf("%s\n  {\"row\": \"%s\", \"ns\": %.1f, \"estimate_ns\": %.1f, \"gflops\": %.2f, \"gbps\": %.2f, \"intensity\": %.3f, \"bound\": \"%s\", \"share\": %.3f}",
               b->printed++ ? "," : "", row->name, result->ns, result->estimate, rate, b->bytes / result->ns, intensity, bound,
               roof > 0 ? rate / roof : 0);
        return;
    }
    printf("    %-44s %10.1f us %8.1f GFLOP/s %6.1f GB/s %7.2f ops/byte %5.1f %% of %s   estimate %.1f us\n", row->name, result->ns / 1e3, rate,
           b->bytes / result->ns, intensity, roof > 0 ? 100.0 * rate / roof : 0, bound, result->estimate / 1e3);
}

static bool visit(const tn_kernel *row, void *context)
{
    bench *b = context;
    tn_bench_result result;
    const char *why;
    if (row->impl == TN_IMPL_REFERENCE || (b->text && !strstr(row->name, b->text)) ||
        !tn_bench_row(b->node, row, &b->options, &result, &why)) {
        return true;
    }
    print_row(b, row, &result);
    b->best = b->best > 0.0 ? TN_MIN(b->best, result.ns) : result.ns;
    return true;
}

static double run_node(bench *b, const tn_bench_node *node, double flops)
{
    b->node = node;
    b->flops = flops;
    b->bytes = tn_bench_bytes(node, &b->options);
    b->best = 0.0;
    tn_registry_visit(node->op, visit, b);
    return b->best;
}

static double run_convs(bench *b, const conv_layer *layers, size_t count)
{
    double total = 0.0;
    for (size_t i = 0; i < count; i++) {
        const conv_layer *l = &layers[i];
        const int64_t strides[] = {l->stride, l->stride}, pad = l->kernel / 2, pads[] = {pad, pad, pad, pad};
        const tn_conv_attr attr = {.strides = {strides, 2, true}, .pads = {pads, 4, true}, .group = l->groups, .act = {.code = TN_LOOP_RELU}};
        const int64_t out = (l->size + 2 * pad - l->kernel) / l->stride + 1;
        const tn_bench_node node = {.op = &tn_op_conv,
                                    .attr = &attr,
                                    .n_in = 3,
                                    .n_out = 1,
                                    .in = {{4, {1, l->c, l->size, l->size}}, {4, {l->m, l->c / l->groups, l->kernel, l->kernel}}, {1, {l->m}}},
                                    .constant = {false, true, true}};
        if (!b->json) {
            printf("conv %d x %d x %d to %d, window %d, stride %d, groups %d (%d times)\n", l->c, l->size, l->size, l->m, l->kernel, l->stride,
                   l->groups, l->times);
        }
        total += l->times * run_node(b, &node, 2.0 * (double)(out * out * l->m) * l->c / l->groups * l->kernel * l->kernel);
    }
    return total;
}

static double run_products(bench *b, const product *products, size_t count)
{
    double total = 0.0;
    const tn_matmul_attr attr = {.alpha = 1.0, .act = {.code = TN_LOOP_CONST}};
    for (size_t i = 0; i < count; i++) {
        const product *p = &products[i];
        tn_bench_node node = {.op = &tn_op_matmul,
                              .attr = &attr,
                              .n_in = 2,
                              .n_out = 1,
                              .in = {{3, {p->batch, p->m, p->k}}, {3, {p->batch, p->k, p->n}}},
                              .constant = {false, p->constant}};
        if (p->constant) {
            node.in[1] = (tn_shape){2, {p->k, p->n}};
        }
        if (!b->json) {
            printf("product %d of %d x %d x %d, %s (%d times)\n", p->batch, p->m, p->k, p->n, p->constant ? "weights" : "two operands", p->times);
        }
        total += p->times * run_node(b, &node, 2.0 * p->batch * p->m * p->k * p->n);
    }
    return total;
}

// One layer of 256 units over 84 steps.
static double run_lstm(bench *b)
{
    const tn_rnn_attr attr = {.hidden_size = 256, .act = {-1, -1, -1, -1, -1, -1}};
    const tn_bench_node node = {.op = &tn_op_lstm,
                                .attr = &attr,
                                .n_in = 4,
                                .n_out = 1,
                                .in = {{3, {84, 1, 256}}, {3, {1, 1024, 256}}, {3, {1, 1024, 256}}, {2, {1, 2048}}},
                                .constant = {false, true, true, true}};
    if (!b->json) {
        printf("lstm, 84 steps, 256 units\n");
    }
    return run_node(b, &node, 2.0 * 84 * 1024 * 512);
}

static void run_suite(bench *b, const char *name)
{
    if (b->suite && strcmp(b->suite, name) != 0) {
        return;
    }
    const double total = strcmp(name, "mobilenet_v2") == 0 ? run_convs(b, mobilenet_v2, TN_COUNT(mobilenet_v2))
                         : strcmp(name, "resnet50") == 0   ? run_convs(b, resnet50, TN_COUNT(resnet50))
                         : strcmp(name, "minilm") == 0     ? run_products(b, minilm, TN_COUNT(minilm))
                         : strcmp(name, "gemm") == 0       ? run_products(b, gemm, TN_COUNT(gemm))
                                                           : run_lstm(b);
    if (!b->json) {
        printf("%s: %.3f ms by the best rows\n\n", name, total / 1e6);
    }
}

// The roof of all threads, and its line.
static void measure_roof(bench *b)
{
    const unsigned count = tn_workers_count(b->options.workers);
    b->peaks[TN_IMPL_AVX512] = tn_peak_gflops(512, count);
    b->peaks[TN_IMPL_AVX2] = tn_peak_gflops(256, count);
    b->peaks[TN_IMPL_PORTABLE] = b->peaks[TN_IMPL_NEON] = tn_peak_gflops(128, count);
    b->copy = tn_peak_copy(count);
    const double peak = tn_peak_gflops(0, count);
    if (b->json) {
        printf("{\"processor\": \"%s\", \"threads\": %u, \"peak_gflops\": %.2f, \"copy_gbps\": %.2f, \"rows\": [", b->options.cpu->name, count, peak, b->copy);
        return;
    }
    printf("%s, %u threads: %.1f GFLOP/s of multiply-adds, %.1f GB/s of copying, ridge at %.1f operations a byte\n\n", b->options.cpu->name, count, peak,
           b->copy, b->copy > 0 ? peak / b->copy : 0);
}

int main(int argc, char **argv)
{
    static tn_heap heap;
    static tn_cpu cpu;
    bench b = {.options = {.heap = &heap, .cpu = &cpu, .seconds = 0.1}};
    unsigned threads = 1;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--cold") == 0 || strcmp(argv[i], "--json") == 0) {
            *(argv[i][2] == 'c' ? &b.options.cold : &b.json) = true;
            continue;
        }
        if (strcmp(argv[i], "--suite") == 0) {
            b.suite = value;
        } else if (strcmp(argv[i], "--rows") == 0) {
            b.text = value;
        } else if (strcmp(argv[i], "--threads") == 0) {
            threads = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            b.options.seconds = strtod(value, NULL);
        } else {
            fprintf(stderr, "bench_kernels: unknown option %s\n", argv[i]);
            return 2;
        }
        i++;
    }
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cpu_detect(&cpu);
    if (tn_workers_create(&b.options.workers, &heap, threads ? threads : 1, NULL, NULL) != TN_OK) {
        fprintf(stderr, "bench_kernels: no memory for workers\n");
        return 1;
    }
    measure_roof(&b);
    static const char *const suites[] = {"gemm", "minilm", "mobilenet_v2", "resnet50", "lstm"};
    for (size_t i = 0; i < TN_COUNT(suites); i++) {
        run_suite(&b, suites[i]);
    }
    printf("%s", b.json ? "\n]}\n" : "");
    tn_workers_destroy(b.options.workers);
    return 0;
}
