// SPDX-License-Identifier: Apache-2.0
// How a graph is written for the DSP: records of 32-bit little-endian words in a mapped buffer, and the one table of operators. Ids of
// operators are hashes of name@version made from that table on both sides; a clash fails tn_hex_op_check, which a test calls.
// Tensors are logical: dims in the model's order (NCHW), at most 8 of them; graph inputs, outputs and constants are dense row-major bytes.
// How the DSP keeps what is in between is its own business.
// Ownership: constants and inline functions. Threads: any.
#ifndef TN_HEX_GRAPH_H
#define TN_HEX_GRAPH_H

#include <stddef.h>
#include <stdint.h>

enum { TN_HEX_MAX_RANK = 8, TN_HEX_MAX_NODES = 65536, TN_HEX_MAX_VALUES = 131072, TN_HEX_MAX_OPERANDS = 64 };

enum { TN_HEX_U8 = 1, TN_HEX_S8 = 2, TN_HEX_S16 = 3, TN_HEX_S32 = 4, TN_HEX_F32 = 5 };   // element types
enum { TN_HEX_FLOAT_RNE = 0, TN_HEX_FIXED_Q31 = 1 };                                      // attribute ROUNDING; src/base/requant.h

// Records. Word 0 is the kind, word 1 the number of words of the whole record. Ids are the host's choice, not 0; values and nodes have
// separate ids. A record of a value must come before the nodes that use it, nodes come in an order they can be run in.
//   CONST   id, dtype, zero, rank, dims..., handle, offset, length      only in `consts`; handle 0: the buffer of the records
//   VALUE   id, dtype, zero, rank, dims...                              zero: zero point of what is quantised, else 0
//   INPUT   id                                                          the value is the next graph input; dense rows at EXECUTE
//   OUTPUT  id                                                          the value is the next graph output
//   NODE    id, operator, n_in, values (0: absent)..., n_out, values..., attributes...
// An attribute: key, number of words, words. An unknown key is an error.
enum { TN_HEX_RECORD_CONST = 1, TN_HEX_RECORD_VALUE, TN_HEX_RECORD_INPUT, TN_HEX_RECORD_OUTPUT, TN_HEX_RECORD_NODE };

enum {
    TN_HEX_ATTR_STRIDES = 1,     // 2 words, vertical first; default 1
    TN_HEX_ATTR_PADS = 2,        // 4 words: top, left, bottom, right; default 0
    TN_HEX_ATTR_DILATIONS = 3,   // 2 words; default 1
    TN_HEX_ATTR_GROUP = 4,       // default 1
    TN_HEX_ATTR_ROUNDING = 5,    // TN_HEX_FLOAT_RNE (default) or TN_HEX_FIXED_Q31
    TN_HEX_ATTR_MULTIPLIER = 6,  // float_rne: bits of float32, positive and finite; fixed_q31: 0 or in [2^30, 2^31)
    TN_HEX_ATTR_SHIFT = 7,       // fixed_q31: as many words as MULTIPLIER, -31 to 30, positive to the left
    TN_HEX_ATTR_CLAMP = 8,       // 2 words (signed): least and greatest result; default: those of the type
    TN_HEX_ATTR_KERNEL = 9,      // 2 words
    TN_HEX_ATTR_AXIS = 10,       // not negative
    TN_HEX_ATTR_COUNT_PAD = 11,  // average pool: 1: padding counts as elements
    TN_HEX_ATTR_REGIONS = 12,    // copy: see there
    TN_HEX_ATTR_SCALES = 13,     // bits of float32
    TN_HEX_ATTR_MODE = 14,       // per operator
    TN_HEX_ATTR_TRANSPOSE = 15,  // matmul: 1: b is [N, K]
    TN_HEX_ATTR_FACTOR = 16,     // softmax: K
    TN_HEX_ATTR_DOWN = 17,       // wide sums: bits lost on the way from 64 bits to 32, 0 to 32; layer_norm: bits of fraction
    TN_HEX_ATTR_EPSILON = 18     // layer_norm: 2 words, the lower one first; at most 2^62
};

// The operators. x, y: u8 or s8 (one of the two, the same in x and y unless said); xz, yz: zero points of the values; requant(acc) is
// tn_requant of base/requant.h with the node's rounding and multipliers; clamp applies CLAMP and the range of y's type.
//
// conv            x [N,C,H,W], w const s8 [M,C/group,kh,kw], bias const s32 [M] or absent -> y [N,M,oh,ow].
//                 y = clamp(requant(bias[m] + sum (x - xz) * w) + yz), sums modulo 2^32; MULTIPLIER (SHIFT): 1 or M words. Padding
//                 is xz. group = C is depthwise, M a multiple of C. STRIDES PADS DILATIONS GROUP ROUNDING MULTIPLIER SHIFT CLAMP
// deconv          x [N,C,H,W], w const s8 [C,M/group,kh,kw], bias -> y: transposed convolution, otherwise as conv
// matmul          x [...,K], w const s8 [K,N] (TRANSPOSE: [N,K]), bias const s32 [N] or absent -> y [...,N]. As conv; N words
// product         a [...,M,K], b [...,K,N] of any byte type, the same leading dims -> y [...,M,N] of a's type.
//                 y = clamp(requant(sum (a - az) * (b - bz)) + yz), K at most 32768. 1 word of MULTIPLIER and SHIFT. ROUNDING CLAMP
// average_pool    x [N,C,H,W] -> y. acc = sum (x - xz) over the elements that count, n of them; SCALES and MULTIPLIER as here:
//                 float_rne: SCALES {xs / ys}, tn_requant_rne(acc, scale / (float)n); fixed_q31: MULTIPLIER, SHIFT with kh * kw
//                 words, those of n at place n - 1. KERNEL STRIDES PADS COUNT_PAD ROUNDING CLAMP
// max_pool        x [N,C,H,W] -> y of the same quantisation; padding never wins. KERNEL STRIDES PADS DILATIONS CLAMP
// mean            x -> y without, or with 1 for, the last AXIS..rank axes: mean over axes AXIS, AXIS + 1, ... rank - 1; n is one
//                 number. float_rne: SCALES {(xs / ys) / (float)n}; fixed_q31: MULTIPLIER, SHIFT. Global pooling: AXIS = 2. ROUNDING CLAMP
// add, sub        a, b (numpy broadcast) -> y. float_rne: SCALES {as, bs, ys}, each step rounded to float32:
//                 rne((as*(a-az) +- bs*(b-bz)) / ys + yz). fixed_q31: MULTIPLIER, SHIFT of 3 words {a, b, y}:
//                 requant_y(requant_a((a-az) << 20) +- requant_b((b-bz) << 20)) + yz. ROUNDING CLAMP
// mul             a, b -> y. float_rne: SCALES {as, bs, ys}: rne((as*(a-az)) * (bs*(b-bz)) / ys + yz). fixed_q31: MULTIPLIER,
//                 SHIFT of 1 word: requant((a-az)*(b-bz)) + yz. ROUNDING CLAMP
// min, max        a, b of one quantisation (broadcast) -> y of the same
// lut             x, table const u8 [256] -> y = table[byte of x]: y has the table's bytes as u8 or s8; any shape. All unary functions
//                 and requantisation between types are this
// softmax         x, table const s32 [256], AXIS -> y. e = table[max - x] (bits as u32), S = sum e,
//                 y = clamp(yz + (e*FACTOR + S*2^15) / (S*2^16)) in 64 bits. AXIS FACTOR CLAMP
// layer_norm      x, gain const s32 [C] (9 + DOWN bits of fraction), bias const s32 [C] (DOWN bits, one half added) -> y over lines of C
//                 elements, the last axes: base/requant.h. C is at most 32768, DOWN 1 .. 31. EPSILON DOWN CLAMP
// quantise        x f32 -> y. SCALES {ys}: clamp(rne(x / ys) + yz), float32 division; not a number becomes yz
// dequantise      x -> y f32. SCALES {xs}: (float)(x - xz) * xs
// concat          parts -> y along AXIS; all of y's quantisation
// copy            x -> y: REGIONS: n regions, and what none of them covers is yz. A region: rank r (1..8), x offset, y offset (elements),
//                 r sizes, r strides in x, r strides in y (signed, elements of the dense logical tensors). Slice, pad, transpose, split,
//                 reshape, depth to space, batch to space
// resize          x [N,C,H,W] -> y [N,C,oh,ow]. MODE 0 nearest, of the same quantisation: tables const s32 rows [oh], columns [ow] as
//                 second and third operand: source index of each. MODE 1 linear: rows [oh,3], columns [ow,3]: {index low, index high,
//                 weight of high in 0..2048 (1/2048)}: y = clamp(requant(sum of four (x - xz) * weights) + yz), sums with 22 bits of
//                 fraction. MODE; linear: 1 word of MULTIPLIER and SHIFT. ROUNDING CLAMP
// clamp           x -> y of the same quantisation. CLAMP
// Of s16 without zero points (base/requant.h, tn_wide_*). copy and concat take s16 as well.
// wide_conv       x [N,C,H,W], w const s16 [M,C/group,kh,kw], bias const s32 [M,2] (64 bits: low word, high word) or absent -> y [N,M,oh,ow]:
//                 tn_requant_wide of the exact sum. As conv, and DOWN
// wide_matmul     x [...,K], w const s16 [K,N], bias const s32 [N,2] or absent -> y [...,N]. As wide_conv
// wide_add, wide_sub, wide_mul  a, b (numpy broadcast) -> y. As add, sub, mul, with operands shifted up by 15 bits
// wide_mean       x -> y: mean over axes 2 ... rank - 1, at most 32768 elements; y as x with 1 for them. 1 word of MULTIPLIER
//                 (and SHIFT). ROUNDING CLAMP
// wide_lut        x (s16, u8, s8), table const s16 [n] or [dims[1] of x, n], n = 4097 for s16, 256 for a byte (by its bits) -> y (s16, u8, s8)
// wide_max_pool   as max_pool
// wide_resize     as resize; linear: weights of high in 0..16384, y = clamp(requant(tn_wide_between of two tn_wide_across))
// wide_quantise, wide_dequantise    as quantise and dequantise
#define TN_HEX_OPS(X)                                                                                                 \
    X(CONV, "conv", 1) X(DECONV, "deconv", 1) X(MATMUL, "matmul", 1) X(PRODUCT, "product", 1)                          \
    X(AVERAGE_POOL, "average_pool", 1)                                                                                \
    X(MAX_POOL, "max_pool", 1) X(MEAN, "mean", 1) X(ADD, "add", 1) X(SUB, "sub", 1) X(MUL, "mul", 1) X(MIN, "min", 1) \
    X(MAX, "max", 1) X(LUT, "lut", 1) X(SOFTMAX, "softmax", 1) X(LAYER_NORM, "layer_norm", 2)                         \
    X(QUANTISE, "quantise", 1) X(DEQUANTISE, "dequantise", 1) X(CONCAT, "concat", 1) X(COPY, "copy", 1)               \
    X(RESIZE, "resize", 2) X(CLAMP, "clamp", 1)                                                                       \
    X(WIDE_CONV, "wide_conv", 1) X(WIDE_MATMUL, "wide_matmul", 1) X(WIDE_ADD, "wide_add", 1)                          \
    X(WIDE_SUB, "wide_sub", 1) X(WIDE_MUL, "wide_mul", 1) X(WIDE_MEAN, "wide_mean", 1) X(WIDE_LUT, "wide_lut", 1)     \
    X(WIDE_MAX_POOL, "wide_max_pool", 1) X(WIDE_RESIZE, "wide_resize", 2) X(WIDE_QUANTISE, "wide_quantise", 1)        \
    X(WIDE_DEQUANTISE, "wide_dequantise", 1)

// Places in the table: for code on one side only, never on the wire.
enum {
#define TN_HEX_X(NAME, TEXT, VERSION) TN_HEX_OP_##NAME,
    TN_HEX_OPS(TN_HEX_X)
#undef TN_HEX_X
    TN_HEX_OP_COUNT
};

// Name and version of the operator at a place of the table, as "name@version"; NULL past the end.
static inline const char *tn_hex_op_text(int op)
{
    static const char *const texts[] = {
#define TN_HEX_X(NAME, TEXT, VERSION) TEXT "@" #VERSION,
        TN_HEX_OPS(TN_HEX_X)
#undef TN_HEX_X
    };
    return op >= 0 && op < TN_HEX_OP_COUNT ? texts[op] : NULL;
}

// The id on the wire: FNV-1a of "name@version".
static inline uint32_t tn_hex_op_id(int op)
{
    uint32_t hash = 2166136261u;
    for (const char *at = tn_hex_op_text(op); at && *at; at++) {
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    }
    return hash;
}

// The place in the table of an id from the wire; -1: unknown.
static inline int tn_hex_op_find(uint32_t id)
{
    for (int op = 0; op < TN_HEX_OP_COUNT; op++) {
        if (tn_hex_op_id(op) == id) {
            return op;
        }
    }
    return -1;
}

// Whether all ids differ.
static inline int tn_hex_op_check(void)
{
    for (int op = 0; op < TN_HEX_OP_COUNT; op++) {
        if (tn_hex_op_find(tn_hex_op_id(op)) != op) {
            return 0;
        }
    }
    return 1;
}

// ---- the codec: a cursor over words that never passes its end ----

typedef struct tn_hex_cursor {
    uint8_t *bytes;      // where it is
    size_t left;         // bytes to the end
    int failed;          // something did not fit; reads give 0 from then on
} tn_hex_cursor;

static inline uint32_t tn_hex_get(tn_hex_cursor *cursor)
{
    if (cursor->left < 4) {
        cursor->failed = 1;
        return 0;
    }
    const uint8_t *b = cursor->bytes;
    cursor->bytes += 4;
    cursor->left -= 4;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline void tn_hex_put(tn_hex_cursor *cursor, uint32_t word)
{
    if (cursor->left < 4) {
        cursor->failed = 1;
        return;
    }
    for (int i = 0; i < 4; i++) {
        cursor->bytes[i] = (uint8_t)(word >> 8 * i);
    }
    cursor->bytes += 4;
    cursor->left -= 4;
}

// Sets a word that was put before, for lengths that are known only at the end.
static inline void tn_hex_patch(uint8_t *at, uint32_t word)
{
    tn_hex_cursor cursor = {at, 4, 0};
    tn_hex_put(&cursor, word);
}

#endif
