// SPDX-License-Identifier: Apache-2.0
// Elementwise operators on f32: one loop program (loop/loop.h) run chunk by chunk, each instruction over a whole chunk that
// stays in L1, so that memory is read and written once however long the chain is.
//
// The result is seen as `rows` rows of `row` floats. Along a row an operand is one of
//   FULL    as long as the row          a b c d e f ...
//   SCALAR  one value for the row       a a a a a a ...
//   PERIOD  `block` values, repeated    a b a b a b ...   a value per channel, blocked layout
//   PIXEL   each value `block` times    a a b b c c ...   a value per pixel, blocked layout
// and from row to row it moves by its own strides (0 where it is broadcast).
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_ELTWISE_H
#define TN_ELTWISE_H

#include "dispatch/kernel.h"
#include "loop/loop.h"

#define TN_ELTWISE_CHUNK 1024         // floats: a handful of chunks fit in any L1
#define TN_ELTWISE_LONG 8192          // chunk of programs of one instruction, which keep nothing
#define TN_ELTWISE_PATTERN 16         // floats of a repeated pattern: a multiple of every block of floats and of every vector
#define TN_ELTWISE_LINE 32            // the same where the result is in NCHW32B
#define TN_ELTWISE_MAX_DIMS TN_MAX_RANK

// Codes beyond those of the loop IR.
enum {
    TN_ELTWISE_COPY = TN_LOOP_COUNT,  // a
    TN_ELTWISE_ROOT,                  // a to the power 1/2: the square root, but of -0 it is 0 and of -infinity infinity
    TN_ELTWISE_CODES
};

typedef enum tn_eltwise_kind { TN_ELTWISE_FULL, TN_ELTWISE_SCALAR, TN_ELTWISE_PERIOD, TN_ELTWISE_PIXEL } tn_eltwise_kind;

typedef struct tn_eltwise_operand {
    tn_eltwise_kind kind;
    int64_t strides[TN_ELTWISE_MAX_DIMS];   // floats, per outer dim
    bool flat;                // row r begins at r * row: the memory order of the result
    bool fixed;               // the same for all rows
    int channels;             // > 0: a plain vector of so many values that is copied to padded[] (floats in scratch) first
    int64_t padded;
    bool rounded;             // in NCHW32B: widened chunk by chunk
    int fill;                 // >= 0: chunk buffer it is spread into where a chunk spans rows that it has to be lined up with
} tn_eltwise_operand;

// Sources of an instruction: operands 0 .. 7, then constants, then chunk buffers.
#define TN_ELTWISE_CONSTS TN_LOOP_MAX_INPUTS
#define TN_ELTWISE_BUFFERS (TN_ELTWISE_CONSTS + TN_LOOP_MAX_INPUTS + TN_LOOP_MAX_CODE)
#define TN_ELTWISE_SOURCES (TN_ELTWISE_BUFFERS + TN_LOOP_MAX_CODE)
#define TN_ELTWISE_RESULT (-1)

typedef struct tn_eltwise_instr {
    uint8_t code;
    int16_t dst;              // source id of a chunk buffer, or TN_ELTWISE_RESULT
    int16_t a, b, c;          // source ids
    float x, y;
} tn_eltwise_instr;

typedef struct tn_eltwise_params {
    int n_operands, n_code, n_consts, n_buffers;   // buffers: of instructions, then those for filling
    tn_eltwise_instr code[TN_LOOP_MAX_CODE];
    float consts[TN_LOOP_MAX_INPUTS + TN_LOOP_MAX_CODE];
    tn_eltwise_operand operands[TN_LOOP_MAX_INPUTS];
    int rank;                 // outer dims
    int64_t dims[TN_ELTWISE_MAX_DIMS];
    int64_t rows, row;
    int block;                // of the layout; 1 when plain
    int64_t chunk;            // floats at most
    int64_t rows_per_chunk;   // 1: rows are cut into chunks; more: a chunk is so many whole rows
    int64_t pieces;           // chunks of a row
    int stream;               // >= 0: the result is larger than the caches, or is rounded; chunks of it that are no lines are made here
    bool rounded;             // the result is in NCHW32B
    int64_t channels;         // of the result in a blocked layout
    int64_t shared_floats, thread_floats;   // scratch: padded vectors, then a share for each thread
} tn_eltwise_params;

// Between bf16 in memory and floats in chunks, whole lines of NCHW32B: what lies past `lanes` of a line becomes zero.
typedef struct tn_eltwise_border {
    void (*widen)(float *to, const uint16_t *from, int64_t n);
    void (*round)(uint16_t *to, const float *from, int64_t n, int lanes);
} tn_eltwise_border;

bool tn_eltwise_match(const tn_query *query, const char **why);
tn_status tn_eltwise_prepare(tn_prepare *prepare);
double tn_eltwise_cost_portable(const tn_query *query);
double tn_eltwise_cost_avx2(const tn_query *query);
double tn_eltwise_cost_avx512(const tn_query *query);
double tn_eltwise_cost_avx512bf16(const tn_query *query);

#endif
