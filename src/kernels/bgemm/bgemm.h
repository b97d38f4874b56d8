// SPDX-License-Identifier: Apache-2.0
// Products of matrices rounded to bf16, summed in float32: C = act(alpha * A B + bias + beta * residual). Matrix products and convolutions
// share them; each gives a function that rounds blocks of its A.
//
//   A  [block of 32 rows][k / 32][32 rows][32 k]                      rounded where it is used, block by block, into a slot's workspace
//   B  [group of 32 columns][k / 32][vector][16 pairs of k][16 columns][2]    packed with the plan; the last group may have one vector
// so that each 16 rows by 32 k of A, and 32 k by 16 columns of B, are 1 KiB in a row: a tile register of AMX. k is filled up with zeros.
// Ownership: borrows everything. Threads: a run uses the workers it is given.
#ifndef TN_BGEMM_H
#define TN_BGEMM_H

#include "dispatch/kernel.h"
#include "kernels/gemm/tile.h"

#define TN_BGEMM_ROWS 32         // of a block of A
#define TN_BGEMM_LINE 32         // k steps of a line of A
#define TN_BGEMM_LANES 16        // floats of a vector of C
#define TN_BGEMM_VECTORS 2       // of a group
#define TN_BGEMM_TILE 512        // elements of 16 x 32

// A block of A times a group of B.
typedef struct tn_btile {
    const uint16_t *a, *b;
    int64_t lines;               // k / 32
    const ptrdiff_t *steps;      // elements from a to each line of k; NULL: one block of A
    // With steps some rows may be nobody's: row r is column (column + r) % period of a row of pixels, of which C has the first `keep`.
    int64_t column, keep, period;
    int rows, vectors;           // that C has: 1 .. 32, 1 .. 2
    bool exact;                  // nothing may be read past the block's rows; before them there are enough to make 16 or 32
    const uint16_t *next;        // bytes that are needed soon: each line of k asks for `ask` lines of the cache; any address will do
    int ask;
    tn_tile end;                 // c and what follows it: bias, residual, factor, activation
    // Not NULL: C, and its residual, are lines of 32 bf16 (NCHW32B) instead; the group's two vectors are a line. No factor, no bias by rows.
    uint16_t *c_lines;
    const uint16_t *residual_lines;
} tn_btile;

// Estimates for cost, in nanoseconds of a core at about 4 GHz, as those of float tiles.
typedef struct tn_bgemm_facts {
    double block_ns;             // one line of a whole block by two vectors
    double half_ns;              // the same of up to 16 rows
    double round_ns;             // rounding a vector of A
    double end_ns;               // ending a vector of C
} tn_bgemm_facts;

extern const tn_bgemm_facts tn_bgemm_facts_amx, tn_bgemm_facts_avx512bf16;

typedef struct tn_btiles {
    const tn_bgemm_facts *facts;
    void (*begin)(void);         // a thread is about to use tiles, and has done so; NULL: nothing to do
    void (*end)(void);
    void (*tile)(const tn_btile *t);
    // `rows` (1 .. 32) rows of k floats, `row` floats apart, into a block of A, filled up to whole lines.
    void (*round_rows)(uint16_t *block, const float *from, ptrdiff_t row, int64_t rows, int64_t k);
    // 16 floats, of which `lanes` are there, for each of some rows, `step` floats apart, into half a line of each; with `second` 16 more from
    // there into the other half, and `lanes` is about those. from NULL: zeros.
    void (*round_part)(uint16_t *to, const float *from, const float *second, ptrdiff_t step, int64_t rows, int lanes);
    // `words` (1 .. 32) elements of bf16 for each of some rows, `step` apart, into a line of each, filled up with zeros. from NULL: zeros.
    void (*copy_lines)(uint16_t *to, const uint16_t *from, ptrdiff_t step, int64_t rows, int words);
    // Rounds up to four channels, `plane` floats apart, of some pixels; those of a pixel become neighbours, four elements.
    void (*round_pixels)(uint16_t *to, const float *from, ptrdiff_t plane, int channels, int64_t pixels);
    // A tile of packed B at run time: k (1 .. 32) by n (1 .. 16), element (k, n) at from + k * row + n * column, one of which is 1.
    void (*round_columns)(uint16_t *to, const float *from, ptrdiff_t row, ptrdiff_t column, int64_t k, int64_t n);
} tn_btiles;

extern const tn_btiles tn_btiles_amx, tn_btiles_avx512bf16;

// Lines first .. first + count - 1 of k.
typedef struct tn_bgemm_span { int64_t first, count; } tn_bgemm_span;

typedef struct tn_bgemm {
    const tn_btiles *tiles;
    int64_t images, m, n, lines;         // products of one shape
    int64_t rows_item;                   // whole blocks
    // Rounds rows m0 .. m1 - 1 of a product, m0 a multiple of 32.
    void (*round)(const struct tn_bgemm *gemm, uint16_t *to, int64_t image, int64_t m0, int64_t m1);
    const void *context;                 // of round
    const float *a;
    const uint16_t *rounded;             // of round: what A was made into before
    // Not NULL: no rows are rounded, blocks of A lie in `rounded`, one image after another, 32 elements from row to row
    const ptrdiff_t *steps;
    ptrdiff_t rounded_image;
    bool exact;                          // `rounded` is a tensor: nothing lies behind it
    int64_t keep, period;                // of C's rows, as above
    const tn_bgemm_span *spans;          // of each block of rows of an image, where A has but zeros in other lines; NULL: all lines are used
    const uint16_t *b;
    ptrdiff_t b_image;                   // elements from a product's B to the next one's; 0: all share one
    float *c;
    ptrdiff_t c_image, c_row, c_vec;     // residual is as c
    uint16_t *c_lines;                   // instead of c: C is in NCHW32B; so is the residual then. Strides count elements
    const uint16_t *residual_lines;
    bool blocked;                        // C is in channel blocks: its last vector has all lanes, those past the last channel nobody's
    const float *bias, *row_bias, *residual;
    float alpha, beta;
    const tn_act *act;
    void *slots;                         // slot_bytes for each of slot_count threads
    size_t slot_bytes;
    unsigned slot_count;
} tn_bgemm;

static inline int64_t tn_bgemm_lines(int64_t k) { return (k + TN_BGEMM_LINE - 1) / TN_BGEMM_LINE; }
static inline int64_t tn_bgemm_groups(int64_t n) { return (n + TN_BGEMM_LANES * TN_BGEMM_VECTORS - 1) / (TN_BGEMM_LANES * TN_BGEMM_VECTORS); }

// Bytes of packed B. False: they do not fit in a size.
bool tn_bgemm_packed_bytes(int64_t k, int64_t n, size_t *bytes);

// One matrix B or several behind each other. Element (k, n) of the first is the float `offset(context, k) + n * column` of src, at any
// alignment; an offset < 0 is zero.
typedef struct tn_bgemm_source {
    const void *src;
    int64_t (*offset)(const void *context, int64_t k);
    const void *context;
    int64_t (*column_of)(const void *context, int64_t n);   // instead of n * column where it is not NULL; < 0: a column of zeros
    int64_t k, n, column;
    int64_t image, packed_image; // floats from a matrix to the next, elements of a packed one
} tn_bgemm_source;

// Packs groups first .. first + count - 1, counted through all matrices.
void tn_bgemm_pack(uint16_t *packed, const tn_bgemm_source *b, int64_t first, int64_t count);

// Sets the items and the workspace of a run: shapes are there, and steps where they are used. A block's rows take `held` lines of 32 elements
// each. The workspace is added to the plan's.
tn_status tn_bgemm_prepare(tn_bgemm *gemm, tn_prepare *prepare, int64_t held);

// scratch: of the call.
void tn_bgemm_run(tn_workers *workers, const tn_bgemm *gemm, void *scratch);

// What a product takes beside its arithmetic: rows that are rounded or copied, C in lines of bf16.
typedef struct tn_bgemm_around { bool made, lines; } tn_bgemm_around;
double tn_bgemm_cost(const tn_bgemm_facts *facts, int64_t images, int64_t m, int64_t n, int64_t k, tn_bgemm_around around);

// Matrix products.
bool tn_bmatmul_match(const tn_query *query, const char **why);
tn_status tn_bmatmul_prepare(tn_prepare *prepare);
tn_status tn_bmatmul_run(const tn_call *call, const tn_btiles *tiles);

// Convolutions: from channel blocks of either kind to either, or from plain images of few channels to blocks.
bool tn_bconv_match(const tn_query *query, const char **why);
tn_status tn_bconv_prepare(tn_prepare *prepare);
tn_status tn_bconv_run(const tn_call *call, const tn_btiles *tiles);

#define TN_BGEMM_TIER(tier)                             \
    double tn_bmatmul_cost_##tier(const tn_query *query); \
    double tn_bconv_cost_##tier(const tn_query *query);

TN_BGEMM_TIER(amx)
TN_BGEMM_TIER(avx512bf16)

#endif
