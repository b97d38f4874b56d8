// SPDX-License-Identifier: Apache-2.0
// Bytes in, graph out. Each format has a folder; probe.c tells which one a file is.
// Ownership: the result owns its graph and the external files it mapped; model bytes belong to the caller and must outlive it.
// Threads: one import at a time per result.
#ifndef TN_IMPORT_H
#define TN_IMPORT_H

#include "ir/edit.h"
#include "sys/file.h"

typedef struct tn_import_options {
    const char *folder;            // where external data may lie; NULL: refused
    uint64_t limit_tensor_bytes;   // one tensor
    uint64_t limit_nodes;          // of all graphs, functions expanded
    const struct tn_onnx_table *const *tables;   // operators that the application brings, before those we know; NULL, or ends with NULL
} tn_import_options;

typedef struct tn_import {
    tn_graph *graph;               // names and types as in the model, shapes as declared; tn_graph_verify holds
    tn_file *files;                // external data, mapped
    size_t n_files;
    uint64_t parameter_count;      // elements of initialisers
    uint64_t external_bytes;       // bytes used of external files
    tn_heap *heap;                 // that `files` came from
    char producer[128];            // "pytorch 2.1"
    int64_t opset;                 // of the default domain
    const char **metadata;         // key, value, key, value ... of metadata_props, in the graph's arena
    size_t n_metadata;             // pairs
    char format[16];               // "onnx"
} tn_import;

// Which format the bytes are: "onnx" or NULL. Looks at structure, not at file names.
const char *tn_import_probe(const uint8_t *data, size_t size);

// Reads a model. Errors: TN_INVALID_MODEL, TN_UNSUPPORTED (one message that lists every operator that cannot be mapped, with node
// names and reasons), TN_LIMIT, TN_OUT_OF_MEMORY. On failure *out is zeroed and nothing is kept.
tn_status tn_import_model(tn_import *out, const uint8_t *data, size_t size, const tn_import_options *options, tn_heap *heap,
                          tn_diag *diag);
void tn_import_deinit(tn_import *import);   // destroys graph (if still there) and unmaps files

// The ONNX reader (import/onnx).
tn_status tn_import_onnx(tn_import *out, const uint8_t *data, size_t size, const tn_import_options *options, tn_heap *heap,
                         tn_diag *diag);

#endif
