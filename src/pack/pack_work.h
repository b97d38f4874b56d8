// SPDX-License-Identifier: Apache-2.0
// What the files of the writer share. pack_file.c leads; pack_graph.c turns graphs into tables; pack_data.c lays out, hashes, encrypts
// and writes the weights.
// Ownership: the packer lives in tn_pack_write. Threads: one.
#ifndef TN_PACK_WORK_H
#define TN_PACK_WORK_H

#include "base/map.h"
#include "import/tenon/tenon_format.h"
#include "import/wire/flat_build.h"
#include "pack/pack.h"
#include "sys/crypto/cipher.h"
#include "sys/file.h"

typedef struct tn_pack_constant {
    const tn_tensor *tensor;         // one of those with these contents
    size_t bytes;
    uint64_t offset;                 // in section 0
    tn_flat_ref texts;               // of a tensor of strings
} tn_pack_constant;

// Bytes that go to the file; between two there are zeros.
typedef struct tn_pack_piece {
    const void *data;
    size_t bytes;
    uint64_t offset;                 // in the section
} tn_pack_piece;

typedef struct tn_pack_section {
    const char *target;              // NULL: the constants
    tn_pack_piece *pieces;
    size_t n_pieces;
    uint64_t offset, size;           // in the data
} tn_pack_section;

typedef struct tn_packer {
    tn_heap *heap;
    tn_diag *diag;
    tn_arena scratch;
    tn_flat_build build;
    tn_map texts;                    // text -> reference
    tn_map known;                    // contents -> 1 + index of the constant
    tn_map sources;                  // address -> 1 + index of the constant
    tn_map op_index;                 // descriptor's address -> 1 + index
    tn_pack_constant *constants;
    size_t n_constants, constants_capacity;
    const tn_op **ops;
    size_t n_ops, ops_capacity;
    const tn_pack_options *options;
    tn_pack_section *sections;
    size_t n_sections, chunk_bytes, n_chunks;
    uint64_t data_size;
    uint8_t *hashes, *tags, *chunk;  // chunk: room for one
    uint8_t salt[TN_TENON_SALT];
    tn_cipher cipher;
} tn_packer;

tn_status tn_packer_memory(const tn_packer *packer, size_t bytes);

// A string's reference, written once; 0: NULL.
tn_flat_ref tn_packer_text(tn_packer *packer, const char *text);

// Lists the constants and operators of a graph and its bodies.
tn_status tn_pack_collect(tn_packer *packer, const tn_graph *graph);

// Tables of the dictionaries and of a graph.
tn_status tn_pack_ops(tn_packer *packer, tn_flat_ref *out);
tn_status tn_pack_codes(tn_packer *packer, tn_flat_ref *out);
tn_status tn_pack_graph(tn_packer *packer, const tn_graph *graph, tn_flat_ref *out);

// Sections and chunks: where everything lies, then hashes and tags of what will lie there.
tn_status tn_pack_lay_out(tn_packer *packer, const tn_pack_target *targets, size_t n_targets);
tn_status tn_pack_hash(tn_packer *packer);
tn_status tn_pack_write_data(tn_packer *packer, tn_file_writer *writer);

#endif
