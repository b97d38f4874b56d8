// SPDX-License-Identifier: Apache-2.0
// Writing networks as ONNX: protobuf messages by hand, length-prefixed from the inside out. Layer sizes are those of the papers:
// MobileNetV2 (arXiv 1801.04381, table 2), SqueezeNet 1.1 (arXiv 1602.07360 and its later release), ResNet (arXiv 1512.03385, table 1).
// Ownership: see the header. Threads: any.
#include "bench_nets.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tn_bench_nets[] = {"mobilenet_v2", "squeezenet_1_1", "resnet18", "resnet50", NULL};

typedef struct bytes {
    unsigned char *data;
    size_t length, capacity;
    int failed;
} bytes;

static void put(bytes *b, const void *data, size_t n)
{
    if (b->length + n > b->capacity) {
        const size_t capacity = 2 * (b->length + n) + 64;
        unsigned char *grown = realloc(b->data, capacity);
        if (!grown) {
            b->failed = 1;
            return;
        }
        b->data = grown;
        b->capacity = capacity;
    }
    memcpy(b->data + b->length, data, n);
    b->length += n;
}

static void put_number(bytes *b, uint64_t v)
{
    do {
        const unsigned char byte = (unsigned char)((v & 127) | (v > 127 ? 128 : 0));
        put(b, &byte, 1);
        v >>= 7;
    } while (v);
}

static void field_int(bytes *b, int field, uint64_t v)
{
    put_number(b, (uint64_t)field << 3);
    put_number(b, v);
}

static void field_bytes(bytes *b, int field, const void *data, size_t n)
{
    put_number(b, (uint64_t)field << 3 | 2);
    put_number(b, n);
    put(b, data, n);
}

static void field_text(bytes *b, int field, const char *text) { field_bytes(b, field, text, strlen(text)); }

// A message as a field of another; the inner one is freed.
static void field_message(bytes *b, int field, bytes *inner)
{
    field_bytes(b, field, inner->data, inner->length);
    b->failed |= inner->failed;
    free(inner->data);
}

// ---- a network being written ----

typedef struct net {
    bytes graph;
    char last[32];            // newest value
    int channels;             // of it
    unsigned n_values;
    uint64_t random;
} net;

static float uniform(net *n)
{
    n->random = n->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)((double)(n->random >> 40) / (double)(1 << 24) * 2 - 1);
}

static void fresh(net *n, char *name) { snprintf(name, 32, "v%u", n->n_values++); }

// A tensor of random numbers within +- scale.
static void weight(net *n, char *name, const int *dims, int rank, float scale)
{
    bytes tensor = {0};
    size_t count = 1;
    fresh(n, name);
    for (int i = 0; i < rank; i++) {
        field_int(&tensor, 1, (uint64_t)dims[i]);
        count *= (size_t)dims[i];
    }
    float *data = malloc(count * sizeof *data);
    for (size_t i = 0; data && i < count; i++) {
        data[i] = scale * uniform(n);
    }
    field_int(&tensor, 2, 1);
    field_text(&tensor, 8, name);
    if (data) {
        field_bytes(&tensor, 9, data, count * sizeof *data);
    }
    n->graph.failed |= !data;
    free(data);
    field_message(&n->graph, 5, &tensor);
}

static void attribute(bytes *node, const char *name, const int *values, int count)
{
    bytes attr = {0};
    field_text(&attr, 1, name);
    for (int i = 0; i < count; i++) {
        field_int(&attr, 8, (uint64_t)values[i]);
    }
    field_int(&attr, 20, 7);
    field_message(node, 5, &attr);
}

static void attribute_int(bytes *node, const char *name, int value)
{
    bytes attr = {0};
    field_text(&attr, 1, name);
    field_int(&attr, 3, (uint64_t)value);
    field_int(&attr, 20, 2);
    field_message(node, 5, &attr);
}

static void begin(bytes *node, const char *const *in, int n_in)
{
    for (int i = 0; i < n_in; i++) {
        field_text(node, 1, in[i]);
    }
}

static void end(net *n, bytes *node, const char *op)
{
    fresh(n, n->last);
    field_text(node, 2, n->last);
    field_text(node, 3, n->last);
    field_text(node, 4, op);
    field_message(&n->graph, 1, node);
}

static void simple(net *n, const char *op, const char *a, const char *b)
{
    const char *in[] = {a, b};
    bytes node = {0};
    begin(&node, in, b ? 2 : 1);
    end(n, &node, op);
}

static void relu(net *n) { simple(n, "Relu", n->last, NULL); }

static void relu6(net *n)
{
    char low[32], high[32];
    const float limits[] = {0, 6};
    const char *in[] = {n->last, low, high};
    for (int i = 0; i < 2; i++) {
        bytes tensor = {0};
        char *name = i ? high : low;
        fresh(n, name);
        field_int(&tensor, 2, 1);
        field_text(&tensor, 8, name);
        field_bytes(&tensor, 9, &limits[i], sizeof limits[i]);
        field_message(&n->graph, 5, &tensor);
    }
    bytes node = {0};
    begin(&node, in, 3);
    end(n, &node, "Clip");
}

static void conv(net *n, int out, int kernel, int stride, int pad, int group)
{
    char w[32], b[32];
    const int dims[] = {out, n->channels / group, kernel, kernel};
    weight(n, w, dims, 4, sqrtf(6.0f / (float)(dims[1] * kernel * kernel)));
    weight(n, b, dims, 1, 0.1f);
    const char *in[] = {n->last, w, b};
    bytes node = {0};
    begin(&node, in, 3);
    attribute(&node, "kernel_shape", (const int[]){kernel, kernel}, 2);
    attribute(&node, "strides", (const int[]){stride, stride}, 2);
    attribute(&node, "pads", (const int[]){pad, pad, pad, pad}, 4);
    attribute_int(&node, "group", group);
    end(n, &node, "Conv");
    n->channels = out;
}

static void max_pool(net *n, int pad, int ceil_mode)
{
    const char *in[] = {n->last};
    bytes node = {0};
    begin(&node, in, 1);
    attribute(&node, "kernel_shape", (const int[]){3, 3}, 2);
    attribute(&node, "strides", (const int[]){2, 2}, 2);
    attribute(&node, "pads", (const int[]){pad, pad, pad, pad}, 4);
    attribute_int(&node, "ceil_mode", ceil_mode);
    end(n, &node, "MaxPool");
}

static void flatten(net *n)
{
    simple(n, "GlobalAveragePool", n->last, NULL);
    simple(n, "Flatten", n->last, NULL);
}

static void classify(net *n)
{
    char w[32], b[32];
    flatten(n);
    weight(n, w, (const int[]){1000, n->channels}, 2, sqrtf(3.0f / (float)n->channels));
    weight(n, b, (const int[]){1000}, 1, 0.1f);
    const char *in[] = {n->last, w, b};
    bytes node = {0};
    begin(&node, in, 3);
    attribute_int(&node, "transB", 1);
    end(n, &node, "Gemm");
}

// ---- the networks ----

static void inverted_residual(net *n, int out, int stride, int expand)
{
    char input[32];
    const int in = n->channels;
    memcpy(input, n->last, sizeof input);
    if (expand > 1) {
        conv(n, in * expand, 1, 1, 0, 1);
        relu6(n);
    }
    conv(n, in * expand, 3, stride, 1, in * expand);
    relu6(n);
    conv(n, out, 1, 1, 0, 1);
    if (stride == 1 && in == out) {
        simple(n, "Add", n->last, input);
    }
}

static void mobilenet_v2(net *n)
{
    static const int table[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    conv(n, 32, 3, 2, 1, 1);
    relu6(n);
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < table[i][2]; j++) {
            inverted_residual(n, table[i][1], j ? 1 : table[i][3], table[i][0]);
        }
    }
    conv(n, 1280, 1, 1, 0, 1);
    relu6(n);
    classify(n);
}

static void fire(net *n, int squeeze, int expand)
{
    char narrow[32], one[32];
    conv(n, squeeze, 1, 1, 0, 1);
    relu(n);
    memcpy(narrow, n->last, sizeof narrow);
    conv(n, expand, 1, 1, 0, 1);
    relu(n);
    memcpy(one, n->last, sizeof one);
    memcpy(n->last, narrow, sizeof narrow);
    n->channels = squeeze;
    conv(n, expand, 3, 1, 1, 1);
    relu(n);
    const char *in[] = {one, n->last};
    bytes node = {0};
    begin(&node, in, 2);
    attribute_int(&node, "axis", 1);
    end(n, &node, "Concat");
    n->channels = 2 * expand;
}

static void squeezenet(net *n)
{
    static const int fires[] = {16, 16, 32, 32, 48, 48, 64, 64};
    conv(n, 64, 3, 2, 0, 1);
    relu(n);
    for (int i = 0; i < 8; i++) {
        if (i == 0 || i == 2 || i == 4) {
            max_pool(n, 0, 1);
        }
        fire(n, fires[i], 4 * fires[i]);
    }
    conv(n, 1000, 1, 1, 0, 1);
    relu(n);
    flatten(n);
}

static void residual(net *n, int width, int stride, int bottleneck)
{
    char input[32], shortcut[32], sum[32];
    const int in = n->channels, out = bottleneck ? 4 * width : width;
    memcpy(input, n->last, sizeof input);
    memcpy(shortcut, input, sizeof shortcut);
    if (stride > 1 || in != out) {
        conv(n, out, 1, stride, 0, 1);
        memcpy(shortcut, n->last, sizeof shortcut);
        memcpy(n->last, input, sizeof input);
        n->channels = in;
    }
    conv(n, width, bottleneck ? 1 : 3, bottleneck ? 1 : stride, bottleneck ? 0 : 1, 1);
    relu(n);
    conv(n, width, 3, bottleneck ? stride : 1, 1, 1);
    if (bottleneck) {
        relu(n);
        conv(n, out, 1, 1, 0, 1);
    }
    memcpy(sum, n->last, sizeof sum);
    simple(n, "Add", sum, shortcut);
    relu(n);
}

static void resnet(net *n, int bottleneck)
{
    static const int counts[2][4] = {{2, 2, 2, 2}, {3, 4, 6, 3}};
    conv(n, 64, 7, 2, 3, 1);
    relu(n);
    max_pool(n, 1, 0);
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < counts[bottleneck][stage]; i++) {
            residual(n, 64 << stage, i == 0 && stage > 0 ? 2 : 1, bottleneck);
        }
    }
    classify(n);
}

// ---- the file ----

static void value_info(bytes *graph, int field, const char *name, const int *dims, int rank)
{
    bytes shape = {0}, tensor = {0}, type = {0}, info = {0};
    for (int i = 0; i < rank; i++) {
        bytes dim = {0};
        field_int(&dim, 1, (uint64_t)dims[i]);
        field_message(&shape, 1, &dim);
    }
    field_int(&tensor, 1, 1);
    field_message(&tensor, 2, &shape);
    field_message(&type, 1, &tensor);
    field_text(&info, 1, name);
    field_message(&info, 2, &type);
    field_message(graph, field, &info);
}

unsigned char *tn_bench_net(const char *name, size_t *size)
{
    net n = {.channels = 3, .random = 1, .last = "x"};
    bytes model = {0}, opset = {0};
    if (strcmp(name, "mobilenet_v2") == 0) {
        mobilenet_v2(&n);
    } else if (strcmp(name, "squeezenet_1_1") == 0) {
        squeezenet(&n);
    } else if (strcmp(name, "resnet18") == 0 || strcmp(name, "resnet50") == 0) {
        resnet(&n, strcmp(name, "resnet50") == 0);
    } else {
        return NULL;
    }
    bytes node = {0};
    field_text(&node, 1, n.last);
    field_text(&node, 2, "y");
    field_text(&node, 4, "Identity");
    field_message(&n.graph, 1, &node);
    field_text(&n.graph, 2, name);
    value_info(&n.graph, 11, "x", (const int[]){1, 3, 224, 224}, 4);
    value_info(&n.graph, 12, "y", (const int[]){1, 1000}, 2);
    field_int(&model, 1, 8);
    field_message(&model, 7, &n.graph);
    field_int(&opset, 2, 13);
    field_message(&model, 8, &opset);
    if (model.failed) {
        free(model.data);
        return NULL;
    }
    *size = model.length;
    return model.data;
}
