// SPDX-License-Identifier: Apache-2.0
// The usual convolutional networks with random weights, written as ONNX bytes: what benches run needs no download and no Python.
// Ownership: the bytes are the caller's, freed with free(). Threads: any.
#ifndef TN_BENCH_NETS_H
#define TN_BENCH_NETS_H

#include <stddef.h>

// "mobilenet_v2", "squeezenet_1_1", "resnet18", "resnet50": input [1, 3, 224, 224] named "x", result [1, 1000] named "y". NULL: no
// such network, or no memory.
unsigned char *tn_bench_net(const char *name, size_t *bytes);

extern const char *const tn_bench_nets[];   // ends with NULL

#endif
