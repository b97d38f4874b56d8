// SPDX-License-Identifier: Apache-2.0
// Multiplications per packet of the DSP program's convolutions, by the emulator's packet counters, which repeat exactly. Useful
// multiplications only: padding, rounding up to vectors and requantisation count as packets and not as work. The ceiling is 256, two
// products of a vector with a register in each packet.
//
//   bench_dsp dsp.elf            prints the table
//   bench_dsp dsp.elf --net      prints what the convolutions of MobileNetV2 (224 x 224) take, by kind
//   bench_dsp dsp.elf --check    fails where a layer needs more packets than it should; layers of no limit are left out
//
// Ownership: none. Threads: one.
#include "dsp_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct layer {
    const char *name;
    int32_t channels, size, out, kernel, stride, group, relu;   // relu: a zero point of 0, as behind ReLU6
    int32_t least[2];            // multiplications per packet, fixed_q31 and float_rne; 0: not checked
} layer;

static const layer layers[] = {
    {"pointwise", 24, 56, 144, 1, 1, 1, 1, {116, 108}},
    {"pointwise", 144, 56, 24, 1, 1, 1, 0, {203, 200}},
    {"pointwise", 64, 56, 64, 1, 1, 1, 0, {170, 168}},
    {"pointwise", 64, 14, 384, 1, 1, 1, 1, {129, 121}},
    {"pointwise", 384, 14, 64, 1, 1, 1, 0, {187, 167}},
    {"pointwise", 96, 14, 576, 1, 1, 1, 1, {146, 145}},
    {"pointwise", 160, 7, 960, 1, 1, 1, 1, {132, 127}},
    {"pointwise", 320, 7, 1280, 1, 1, 1, 1, {154, 154}},
    {"3x3", 3, 224, 32, 3, 2, 1, 1, {99, 96}},
    {"3x3", 16, 56, 16, 3, 1, 1, 0, {198, 166}},
    {"3x3", 64, 56, 64, 3, 1, 1, 0, {0}},
    {"3x3", 128, 28, 128, 3, 1, 1, 0, {224, 208}},
    {"3x3", 128, 28, 128, 3, 2, 1, 0, {0}},
    {"3x3", 512, 7, 512, 3, 1, 1, 0, {0}},
    {"depthwise 3x3", 32, 112, 32, 3, 1, 32, 1, {71, 70}},
    {"depthwise 3x3", 144, 56, 144, 3, 1, 144, 1, {59, 58}},
    {"depthwise 3x3", 192, 28, 192, 3, 1, 192, 1, {71, 69}},
    {"depthwise 3x3", 384, 14, 384, 3, 1, 384, 1, {62, 60}},
    {"depthwise 3x3", 960, 7, 960, 3, 1, 960, 1, {58, 58}},
    {"depthwise 3x3, both signs", 192, 28, 192, 3, 1, 192, 0, {61, 67}},
    {"depthwise 3x3, both signs", 384, 14, 384, 3, 1, 384, 0, {53, 57}},
    {"depthwise 3x3, both signs", 960, 7, 960, 3, 1, 960, 0, {51, 58}},
    {"depthwise 3x3, both signs", 96, 112, 96, 3, 2, 96, 0, {54, 59}},
    {"depthwise 3x3", 96, 112, 96, 3, 2, 96, 1, {60, 58}},
    {"depthwise 3x3", 144, 56, 144, 3, 2, 144, 1, {59, 58}},
    {"depthwise 5x5", 144, 56, 144, 5, 2, 144, 1, {56, 54}},
    {"depthwise 5x5", 240, 28, 240, 5, 1, 240, 1, {75, 70}},
    {"depthwise 5x5", 480, 14, 480, 5, 1, 480, 1, {50, 45}},
    {"3x3, 4 groups", 64, 28, 64, 3, 1, 4, 0, {0}},
};

// Convolutions of MobileNetV2, and how often each occurs.
static const struct {
    layer of;
    int32_t times;
} net[] = {
    {{"first layer", 3, 224, 32, 3, 2, 1, 1, {0}}, 1},
    {{"pointwise", 32, 112, 16, 1, 1, 1, 0, {0}}, 1},
    {{"pointwise", 16, 112, 96, 1, 1, 1, 1, {0}}, 1},
    {{"pointwise", 96, 56, 24, 1, 1, 1, 0, {0}}, 1},
    {{"pointwise", 24, 56, 144, 1, 1, 1, 1, {0}}, 2},
    {{"pointwise", 144, 56, 24, 1, 1, 1, 0, {0}}, 1},
    {{"pointwise", 144, 28, 32, 1, 1, 1, 0, {0}}, 1},
    {{"pointwise", 32, 28, 192, 1, 1, 1, 1, {0}}, 3},
    {{"pointwise", 192, 28, 32, 1, 1, 1, 0, {0}}, 2},
    {{"pointwise", 192, 14, 64, 1, 1, 1, 0, {0}}, 1},
    {{"pointwise", 64, 14, 384, 1, 1, 1, 1, {0}}, 4},
    {{"pointwise", 384, 14, 64, 1, 1, 1, 0, {0}}, 3},
    {{"pointwise", 384, 14, 96, 1, 1, 1, 0, {0}}, 1},
    {{"pointwise", 96, 14, 576, 1, 1, 1, 1, {0}}, 3},
    {{"pointwise", 576, 14, 96, 1, 1, 1, 0, {0}}, 2},
    {{"pointwise", 576, 7, 160, 1, 1, 1, 0, {0}}, 1},
    {{"pointwise", 160, 7, 960, 1, 1, 1, 1, {0}}, 3},
    {{"pointwise", 960, 7, 160, 1, 1, 1, 0, {0}}, 2},
    {{"pointwise", 960, 7, 320, 1, 1, 1, 0, {0}}, 1},
    {{"pointwise", 320, 7, 1280, 1, 1, 1, 1, {0}}, 1},
    {{"depthwise, stride 1", 32, 112, 32, 3, 1, 32, 1, {0}}, 1},
    {{"depthwise, stride 1", 144, 56, 144, 3, 1, 144, 1, {0}}, 1},
    {{"depthwise, stride 1", 192, 28, 192, 3, 1, 192, 1, {0}}, 2},
    {{"depthwise, stride 1", 384, 14, 384, 3, 1, 384, 1, {0}}, 4},
    {{"depthwise, stride 1", 576, 14, 576, 3, 1, 576, 1, {0}}, 2},
    {{"depthwise, stride 1", 960, 7, 960, 3, 1, 960, 1, {0}}, 3},
    {{"depthwise, stride 2", 96, 112, 96, 3, 2, 96, 1, {0}}, 1},
    {{"depthwise, stride 2", 144, 56, 144, 3, 2, 144, 1, {0}}, 1},
    {{"depthwise, stride 2", 192, 28, 192, 3, 2, 192, 1, {0}}, 1},
    {{"depthwise, stride 2", 576, 14, 576, 3, 2, 576, 1, {0}}, 1},
};

static void set(case_tensor *x, uint32_t dtype, int32_t zero, uint32_t rank, const int32_t *dims)
{
    x->t.dtype = dtype;
    x->t.rank = rank;
    x->t.zero = zero;
    memcpy(x->t.dims, dims, rank * sizeof *dims);
    x->v = malloc(4 * dsp_count(&x->t));
}

static void make_case(const layer *l, int rounding, dsp_case *c)
{
    memset(c, 0, sizeof *c);
    const int32_t inner = l->channels / l->group, pad = l->kernel / 2, out = (l->size + 2 * pad - l->kernel) / l->stride + 1;
    const int32_t x[4] = {1, l->channels, l->size, l->size}, w[4] = {l->out, inner, l->kernel, l->kernel}, y[4] = {1, l->out, out, out};
    tn_rand r = {1};
    set(&c->in[0], TN_HEX_U8, 120, 4, x);
    set(&c->in[1], TN_HEX_S8, 0, 4, w);
    set(&c->in[2], TN_HEX_S32, 0, 1, y + 1);
    set(&c->y, TN_HEX_U8, l->relu ? 0 : 130, 4, y);
    c->in[1].is_const = c->in[2].is_const = true;
    for (uint32_t i = 0; i < dsp_count(&c->in[0].t); i++) {
        c->in[0].v[i] = (int32_t)tn_rand_range(&r, 0, 255);
    }
    for (uint32_t i = 0; i < dsp_count(&c->in[1].t); i++) {
        c->in[1].v[i] = (int32_t)tn_rand_range(&r, -127, 127);
    }
    for (int32_t i = 0; i < l->out; i++) {
        c->in[2].v[i] = (int32_t)tn_rand_range(&r, -10000, 10000);
    }
    c->op = TN_HEX_OP_CONV;
    c->n_in = 3;
    c->group = l->group;
    c->rounding = rounding;
    for (int i = 0; i < 2; i++) {
        c->kernel[i] = l->kernel;
        c->strides[i] = l->stride;
        c->dilations[i] = 1;
        c->pads[i] = c->pads[2 + i] = pad;
    }
    c->n_multipliers = l->out <= CASE_MULTIPLIERS ? (uint32_t)l->out : 1;
    const float scale = 60.0f / (5500.0f * sqrtf((float)(inner * l->kernel * l->kernel)));
    for (uint32_t i = 0; i < c->n_multipliers; i++) {
        // Without a pattern, as those of models: simple fractions make results of exactly a half, which float_rne does the slow way.
        const float f = scale * (0.7f + 0.6f * (float)fmod(0.6180339887 * (i + 1), 1.0));
        int e;
        if (rounding == TN_HEX_FLOAT_RNE) {
            memcpy(&c->multipliers[i], &f, 4);
        } else {
            c->multipliers[i] = (uint32_t)llroundf(ldexpf(frexpf(f, &e), 31));
            c->shifts[i] = e;
        }
    }
}

// Multiplications per packet of the node; 0: something failed.
static double measure(dsp *d, dsp_buffer *buffer, const layer *l, int rounding, uint32_t *microseconds)
{
    dsp_case c;
    dsp_graph g;
    uint32_t inputs[CASE_OPERANDS], n;
    const uint32_t none[CASE_OPERANDS] = {0};
    make_case(l, rounding, &c);
    dsp_graph_begin(&g, d, buffer);
    dsp_border(&g, TN_HEX_RECORD_OUTPUT, case_write(&c, &g, none, inputs, &n));
    double rate = 0;
    const uint32_t half = buffer->bytes / 2, offsets[2] = {half, half + half / 2};
    const uint32_t lengths[2] = {dsp_count(&c.in[0].t), dsp_count(&c.y.t)};
    if (dsp_graph_prepare(&g) == TN_HEX_OK) {
        case_store(&c.in[0], buffer->at + half);
        const uint32_t args[4] = {g.id, buffer->handle, 0, 4096};
        if (dsp_execute(&g, 1, 1, offsets, lengths, buffer) == TN_HEX_OK && dsp_call(d, TN_HEX_CALL_PERF, args, 4) == TN_HEX_OK) {
            for (uint32_t i = 0; i < d->result[0]; i++) {
                const uint32_t *p = (const uint32_t *)buffer->at + i * TN_HEX_PERF_WORDS;
                if (p[TN_HEX_PERF_NODE]) {
                    const double macs = (double)lengths[1] * l->channels / l->group * l->kernel * l->kernel;
                    rate = macs / (p[TN_HEX_PERF_PACKETS_LOW] + 4294967296.0 * p[TN_HEX_PERF_PACKETS_HIGH]);
                    *microseconds = p[TN_HEX_PERF_MICROSECONDS];
                }
            }
        }
    }
    dsp_graph_end(&g);
    case_free(&c);
    return rate;
}

// 1: a layer that is checked falls short.
static int check_layer(dsp *d, dsp_buffer *buffer, const layer *l)
{
    int short_of = 0;
    for (int rounding = 0; rounding < 2 && l->least[0]; rounding++) {
        uint32_t us = 0;
        const double rate = measure(d, buffer, l, rounding ? TN_HEX_FLOAT_RNE : TN_HEX_FIXED_Q31, &us);
        if (rate < l->least[rounding]) {
            printf("FAILED %s %d x %d x %d: %.1f multiplications per packet with %s, at least %d expected\n", l->name, l->channels, l->size,
                   l->size, rate, rounding ? "float_rne" : "fixed_q31", l->least[rounding]);
            short_of = 1;
        }
    }
    return short_of;
}

static void print_layer(dsp *d, dsp_buffer *buffer, const layer *l)
{
    uint32_t us = 0;
    const double q31 = measure(d, buffer, l, TN_HEX_FIXED_Q31, &us), rne = measure(d, buffer, l, TN_HEX_FLOAT_RNE, &us);
    printf("| %s%s | %d x %d x %d | %d | %.0f | %.0f |\n", l->name, l->stride > 1 ? ", stride 2" : "", l->channels, l->size, l->size, l->out, q31,
           rne);
}

// A row for each kind, in millions, and one for all.
static void print_net(dsp *d, dsp_buffer *buffer)
{
    enum { N = sizeof net / sizeof net[0] };
    double macs[N + 1] = {0}, packets[N + 1][2] = {{0}};   // at the first layer of each kind; the last: of all
    for (uint32_t i = 0, kind = 0; i < N; i++) {
        const layer *l = &net[i].of;
        kind = strcmp(l->name, net[kind].of.name) == 0 ? kind : i;
        const double out = (l->size + l->stride - 1) / l->stride;
        const double n = net[i].times * out * out * l->out * (l->channels / l->group) * l->kernel * l->kernel / 1e6;
        for (int rounding = 0; rounding < 2; rounding++) {
            uint32_t us = 0;
            const double p = n / measure(d, buffer, l, rounding ? TN_HEX_FLOAT_RNE : TN_HEX_FIXED_Q31, &us);
            packets[kind][rounding] += p;
            packets[N][rounding] += p;
        }
        macs[kind] += n;
        macs[N] += n;
    }
    printf("| kind | million products | packets, fixed_q31 | share | products per packet | packets, float_rne | share | products per packet |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i <= N; i++) {
        if (macs[i] > 0) {
            printf("| %s | %.1f |", i < N ? net[i].of.name : "all", macs[i]);
            for (int rounding = 0; rounding < 2; rounding++) {
                const double p = packets[i][rounding];
                printf(" %.2f | %.0f %% | %.0f |", p, 100 * p / packets[N][rounding], macs[i] / p);
            }
            printf("\n");
        }
    }
}

int main(int argc, char **argv)
{
    dsp d;
    dsp_buffer buffer;
    const dsp_options options = {.program = argc > 1 ? argv[1] : NULL, .threads = 1};
    const int check = argc > 2 && strcmp(argv[2], "--check") == 0, whole = argc > 2 && strcmp(argv[2], "--net") == 0;
    if (!options.program || !dsp_open(&d, &options) || !dsp_map(&d, &buffer, 32 << 20)) {
        fprintf(stderr, "usage: bench_dsp dsp.elf [--check | --net] (needs qemu-hexagon)\n");
        return 2;
    }
    if (whole) {
        print_net(&d, &buffer);
        dsp_close(&d);
        return 0;
    }
    if (!check) {
        printf("| layer | input | output | fixed_q31 | float_rne |\n|---|---|---|---|---|\n");
    }
    int failed = 0;
    for (uint32_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        if (check) {
            failed |= check_layer(&d, &buffer, &layers[i]);
        } else {
            print_layer(&d, &buffer, &layers[i]);
        }
    }
    dsp_close(&d);
    return failed;
}
