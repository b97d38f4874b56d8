// SPDX-License-Identifier: Apache-2.0
// What the files of the .tenon reader share. tenon_read.c reads the file's tables, tenon_data.c finds the weights, tenon_graph.c builds
// the graphs.
// Ownership: the reader lives in tn_import_tenon; what outlives it is in the import. Threads: one.
#ifndef TN_TENON_READ_H
#define TN_TENON_READ_H

#include "import/import.h"
#include "import/tenon/tenon_format.h"
#include "import/wire/flat.h"
#include "ir/attr/attr_codec.h"

typedef struct tn_tenon_op {
    const tn_op *op;
    tn_attr_wires wires;
} tn_tenon_op;

typedef struct tn_tenon_constant {
    const uint8_t *data;
    size_t size;
    tn_flat_vector texts;
    uint32_t weight;             // identity, shared by all values with these contents
} tn_tenon_constant;

typedef struct tn_tenon_section {
    const char *target;
    const uint8_t *data;
    size_t size;
} tn_tenon_section;

typedef struct tn_tenon_reader {
    tn_import *out;
    tn_flat flat;                // the graph part
    tn_flat_table model;
    const uint8_t *file;         // all bytes
    size_t file_size;
    const tn_import_options *options;
    tn_heap *heap;
    tn_diag *diag;
    tn_arena scratch;            // dies with the reader
    tn_arena *kept;              // of the optimised graph
    tn_tenon_op *ops;
    size_t n_ops;
    int32_t *codes;              // loop instructions
    size_t n_codes;
    tn_tenon_section *sections;
    size_t n_sections;
    const uint8_t *data;         // where the sections' offsets count from
    tn_tenon_constant *constants;
    size_t n_constants;
    tn_import_facts *facts;
    uint64_t nodes;              // of all graphs so far
    uint64_t spent, budget;      // memory that the file's tables may turn into: they may be shared, so that a small file can stand for much
} tn_tenon_reader;

// TN_INVALID_MODEL with a place, and TN_OK or the fault that the flat reader met.
tn_status tn_tenon_invalid(const tn_tenon_reader *reader, const char *place, const char *what);
tn_status tn_tenon_check(const tn_tenon_reader *reader, const char *place);

// Counts memory that an object will take; TN_LIMIT when the file stands for far more than it holds.
tn_status tn_tenon_spend(tn_tenon_reader *reader, const char *place, uint64_t bytes);

// Finds, checks and where needed decrypts the weights, and fills sections, constants and the facts.
tn_status tn_tenon_read_data(tn_tenon_reader *reader);

// A graph with its bodies.
tn_status tn_tenon_read_graph(tn_tenon_reader *reader, const tn_flat_table *table, int depth, tn_graph **out);

#endif
