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
    bool verify;                   // compare weights with the hashes that the file gives
    // Gives the key (32 bytes) of encrypted weights, 0 on success; NULL: encrypted weights are refused.
    int (*key)(void *context, const char *name, uint8_t *key);
    void *key_context;
    bool describe;                 // without a key encrypted weights read as zeros: the graph is only looked at
} tn_import_options;

// A packed form of a constant that the file holds, to be used in place (plan/weights.h).
typedef struct tn_import_pack {
    const void *source;            // the constant's bytes
    const char *id;
    uint64_t variant;
    const void *data;
    size_t bytes;
} tn_import_pack;

// In which form a graph has the arithmetic of a model that comes quantised; the numbers are those of the .tenon format.
typedef enum tn_form { TN_FORM_NONE = 0, TN_FORM_FLOATS = 1, TN_FORM_INTEGERS = 2 } tn_form;

// What a .tenon file says of itself, beside its model.
typedef struct tn_import_facts {
    unsigned major, minor;
    const char *writer;            // never NULL
    const char *data_file;         // NULL: the weights are in the same file
    const char *const *targets;    // instruction sets it holds packed weights for
    size_t n_targets;
    size_t graph_bytes;            // the part that a pinned hash covers
    size_t n_chunks, chunk_bytes;
    const uint8_t *hashes;         // n_chunks of 32 bytes
    uint64_t pack_bytes;
    bool encrypted, has_imported;
    tn_form form;                  // of the optimised graph; NONE also when an older writer did not say
    bool closed;                   // encrypted, and read without the key: constants are zeros
    const char *key_name;          // or NULL
} tn_import_facts;

typedef struct tn_import {
    tn_graph *graph;               // names and types as in the model, shapes as declared; tn_graph_verify holds. NULL only when a file
                                   // holds nothing but the optimised graph
    tn_graph *optimised;           // by an earlier run of the passes over `graph`; NULL: not in the file
    tn_graph *other;               // optimised too, in the other form; NULL: not in the file
    const tn_import_pack *packs;   // in an arena of one of the graphs
    size_t n_packs;
    const tn_import_facts *facts;  // .tenon files; else NULL
    void *plain;                   // block of the heap that decrypted weights lie in, or NULL
    tn_file *files;                // external data, mapped
    size_t n_files;
    uint64_t parameter_count;      // elements of initialisers
    uint64_t external_bytes;       // bytes used of external files
    tn_heap *heap;                 // that `files` came from
    char producer[128];            // "pytorch 2.1"
    int64_t opset;                 // of the default domain
    const char **metadata;         // key, value, key, value ... of metadata_props, in the graph's arena
    size_t n_metadata;             // pairs
    char format[16];               // "onnx", "tenon"
    // Inputs that have an initialiser: constants of the graph which a caller may replace. Names, in the graph's arena.
    const char **defaults;
    size_t n_defaults, defaults_capacity;
} tn_import;

// Which format the bytes are: "onnx", "tenon" or NULL. Looks at structure, not at file names.
const char *tn_import_probe(const uint8_t *data, size_t size);

// Reads a model. Errors: TN_INVALID_MODEL, TN_UNSUPPORTED (one message that lists every operator that cannot be mapped, with node
// names and reasons), TN_LIMIT, TN_OUT_OF_MEMORY. On failure *out is zeroed and nothing is kept.
tn_status tn_import_model(tn_import *out, const uint8_t *data, size_t size, const tn_import_options *options, tn_heap *heap,
                          tn_diag *diag);
void tn_import_deinit(tn_import *import);   // destroys graph (if still there) and unmaps files

// The readers (import/onnx, import/tenon).
tn_status tn_import_onnx(tn_import *out, const uint8_t *data, size_t size, const tn_import_options *options, tn_heap *heap,
                         tn_diag *diag);
tn_status tn_import_tenon(tn_import *out, const uint8_t *data, size_t size, const tn_import_options *options, tn_heap *heap,
                          tn_diag *diag);

// The bytes of a file that a pinned hash covers: all of an ONNX file; of a .tenon file the graph, whose table of hashes covers the rest.
size_t tn_import_pinned_bytes(const uint8_t *data, size_t size);

#endif
