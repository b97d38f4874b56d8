// SPDX-License-Identifier: Apache-2.0
// Tensors in files: numpy's .npy (NEP 1 format, versions 1 to 3), ONNX TensorProto (.pb), raw bytes; and as random values.
// Ownership: tn_cli_tensor owns data until tn_cli_tensor_deinit. Threads: one.
#ifndef TN_CLI_TENSOR_H
#define TN_CLI_TENSOR_H

#include "cli.h"
#include "cli_file.h"

typedef struct tn_cli_tensor {
    tenon_dtype dtype;
    int rank;
    int64_t dims[8];
    void *data;          // dense, row-major; 4- and 2-bit elements one byte each
    size_t bytes;
} tn_cli_tensor;

void tn_cli_tensor_deinit(tn_cli_tensor *tensor);

// Elements of a shape; -1 when a dim is negative or the product is beyond 2^40.
int64_t tn_cli_elements(int rank, const int64_t *dims);

// Each gives an exit code and tells what is wrong with `name` (the file). `expected` is what the model wants: it decides
// between types that a .npy header cannot tell apart (two-byte void: bfloat16, one-byte void: the float8 kinds).
int tn_cli_npy_read(tn_cli_tensor *tensor, const uint8_t *file, size_t size, tenon_dtype expected, const char *name);
int tn_cli_proto_read(tn_cli_tensor *tensor, const uint8_t *file, size_t size, const char *name);

// Writes header and data; types that numpy lacks are written as void of their size, as numpy itself does.
int tn_cli_npy_write(tn_cli_writer *writer, const tenon_tensor *tensor);

// Fills a tensor of known dtype and shape: floats N(0,1), integers and bools 0 or 1, texts short words. False: a
// dtype without values.
bool tn_cli_tensor_random(tn_cli_tensor *tensor, uint64_t *state);

// Gives element i a small whole number, or the nearest that its type has. Not for strings.
void tn_cli_set_element(tenon_dtype dtype, void *data, size_t i, int value);

// Element i as a number. Strings and complex numbers (the real part) included for completeness of printing only.
double tn_cli_element(tenon_dtype dtype, const void *data, size_t i);
bool tn_cli_dtype_is_float(tenon_dtype dtype);

#endif
