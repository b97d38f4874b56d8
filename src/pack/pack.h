// SPDX-License-Identifier: Apache-2.0
// Writing .tenon files (import/tenon/model.fbs, docs/format.md): graphs, constants, and for each target the packed weights.
// Ownership: only reads what it is given. Threads: one file at a time per call.
#ifndef TN_PACK_H
#define TN_PACK_H

#include "import/import.h"
#include "plan/weights.h"

// The packed forms that plans for one instruction set use.
typedef struct tn_pack_target {
    const char *name;                   // "avx2"
    const tn_packed *const *packs;      // by the order in which they shall lie
    size_t n_packs;
} tn_pack_target;

// What is saved. other: the optimised graph in the other form of quantised arithmetic, where a target runs that one; or NULL.
typedef struct tn_pack_model {
    const tn_import *import;
    const tn_graph *optimised, *other;
    tn_form form;                       // of optimised
} tn_pack_model;

typedef struct tn_pack_options {
    const char *writer;                 // "tenon 0.1.0"
    bool split;                         // weights in a file beside: PATH with its ending replaced by ".weights"
    bool drop_imported;                 // leave out the graph as imported
    const uint8_t *key;                 // 32 bytes: encrypt the weights; NULL: do not
    const char *key_name;               // or NULL
    size_t chunk_bytes;                 // 0: TN_TENON_CHUNK
} tn_pack_options;

// Refuses a path (and that of the weights beside) which leads to a file that the model is read from: INVALID_ARGUMENT. `file` is the model's
// own, not mapped when it was given as bytes.
tn_status tn_pack_check_path(const char *path, const tn_file *file, const tn_import *import, bool split, tn_diag *diag);

// Both files are written whole or not at all. Errors: TN_IO, TN_UNSUPPORTED (what the format cannot hold; no libcrypto), TN_LIMIT,
// TN_OUT_OF_MEMORY.
tn_status tn_pack_write(const char *path, const tn_pack_model *model, const tn_pack_target *targets, size_t n_targets,
                        const tn_pack_options *options, tn_heap *heap, tn_diag *diag);

#endif
