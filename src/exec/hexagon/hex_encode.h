// SPDX-License-Identifier: Apache-2.0
// A sub-graph as records for the DSP (wire/hex_graph.h): ids for values and nodes, constants as the DSP wants them, attributes.
// Failure is sticky: after the first every call does nothing, and the end tells.
// Ownership: an encoding is on its maker's stack, its bytes in the heap until deinit. Threads: one each.
#ifndef TN_HEX_ENCODE_H
#define TN_HEX_ENCODE_H

#include "base/requant.h"
#include "dispatch/kernel.h"
#include "exec/hexagon/wire/hex_graph.h"
#include "ir/graph.h"

// A growing run of bytes.
typedef struct tn_hex_blob {
    tn_heap *heap;
    uint8_t *data;
    size_t size, room;
} tn_hex_blob;

// What the encoder knows of a value of the graph.
typedef struct tn_hex_value {
    uint32_t id;              // 0: not on the wire yet
    bool has_zero;
    int32_t zero;
} tn_hex_value;

typedef struct tn_hex_encoder {
    tn_heap *heap;
    tn_diag *diag;
    tn_status status;
    tn_hex_blob consts, nodes, data;      // records, records, bytes of constants; offsets in `consts` count from the data's begin
    tn_hex_value *values;     // by id of the graph's values
    uint32_t next_value, node;            // ids: the next new value, the node being written
    size_t n_consts;
    int32_t zero_out;         // zero point of the node's result, for movement that fills
    size_t record;            // of the node being written: where it begins
    size_t arity;             // where its count of operands or results is
} tn_hex_encoder;

tn_status tn_hex_encode_init(tn_hex_encoder *e, const tn_graph *graph, tn_heap *heap, tn_diag *diag);
void tn_hex_encode_deinit(tn_hex_encoder *e);

// The whole graph: values, inputs, nodes in order (node i of the graph's order has id i + 1), outputs.
tn_status tn_hex_encode_graph(tn_hex_encoder *e, const tn_graph *graph, const tn_cpu *cpu);

// ---- for the rows ----

// A constant tensor of `bytes` bytes of a wire type; data NULL: zeros. Returns its id.
uint32_t tn_hex_constant(tn_hex_encoder *e, uint32_t dtype, int rank, const int64_t *dims, const void *data, size_t bytes);
// A new value that only the wire knows.
uint32_t tn_hex_temporary(tn_hex_encoder *e, uint32_t dtype, int32_t zero, const tn_shape *shape);

// An identity as a table: the bytes of `from` as those of `to`, which has another zero point.
void tn_hex_relabel(tn_hex_encoder *e, uint32_t from, uint32_t to);

// A constant of bytes as a value: constants have no zero point on the wire.
uint32_t tn_hex_bytes(tn_hex_encoder *e, const tn_tensor *tensor, int32_t zero);

void tn_hex_node_begin(tn_hex_encoder *e, int op);     // TN_HEX_OP_*
void tn_hex_operand(tn_hex_encoder *e, uint32_t id);   // all operands, then all results, then attributes
void tn_hex_result(tn_hex_encoder *e, uint32_t id);
void tn_hex_attr(tn_hex_encoder *e, uint32_t key, int n, const uint32_t *words);
void tn_hex_attr_list(tn_hex_encoder *e, uint32_t key, int n, const int64_t *words);
void tn_hex_attr_float(tn_hex_encoder *e, uint32_t key, int n, const float *v);
// ROUNDING, MULTIPLIER and, for fixed_q31, SHIFT.
void tn_hex_attr_requant(tn_hex_encoder *e, int n, const tn_requant *factors);
void tn_hex_attr_clamp(tn_hex_encoder *e, int32_t low, int32_t high);
void tn_hex_node_end(tn_hex_encoder *e);

uint32_t tn_hex_dtype(tn_dtype dtype);                 // 0: none of the wire's

// ---- rows ----

// One operator of ours as operators of the DSP.
typedef struct tn_hex_row {
    const tn_op *op;
    bool (*match)(const tn_query *query, const char **why);
    // in, out: ids of operands (0: absent or a constant that no id was made for) and results. Values' zero points are those of `zeros`.
    void (*encode)(tn_hex_encoder *e, const tn_query *query, const uint32_t *in, const uint32_t *out);
    // Operand i holds the zero point of operand or result `of` (results count from TN_HEX_RESULT): pairs, ends with -1.
    const int8_t *zeros;
    bool keeps_zero;          // the result has the operand's zero point
    double macs_per_ns;       // price
    double element_ns;
} tn_hex_row;

#define TN_HEX_RESULT 16

typedef struct tn_hex_row_list { const tn_hex_row *rows; size_t count; } tn_hex_row_list;
extern const tn_hex_row_list tn_hex_rows_sum, tn_hex_rows_map, tn_hex_rows_move, tn_hex_rows_wide;

// There is a row for the operator, for some types.
bool tn_hex_has_row(const tn_op *op);

// The row for a node; NULL with *why.
const tn_hex_row *tn_hex_row_for(const tn_query *query, const char **why);

#endif
