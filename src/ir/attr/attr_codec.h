// SPDX-License-Identifier: Apache-2.0
// Attribute structs as bytes: what files and device wires carry instead of C structs. Fields follow one another in the order of the
// writer's rows, fixed-width and little-endian, without padding:
//
//   INT    8 bytes, signed                    TEXT    4 bytes n, n - 1 characters; n = 0: NULL
//   REAL   8 bytes, IEEE binary64             INTS    1 byte set, 4 bytes n, n times 8 bytes
//   BOOL   1 byte, 0 or 1                     REALS   1 byte set, 4 bytes n, n times 4 bytes (binary32)
//   DTYPE  4 bytes, frozen number             LOOP    1 byte there, 4 bytes inputs, 4 bytes n, n times {code, a, b, c: 1 byte each;
//   ENUM   4 bytes, index of the row's text           x, y: binary32}
//
// REGIONS are not encoded: they belong to plans. Numbers of an enum and of loop codes are the writer's; the reader maps them by name.
// Ownership: decoded arrays are the arena's. Threads: any.
#ifndef TN_ATTR_CODEC_H
#define TN_ATTR_CODEC_H

#include "ir/op.h"

// How one row of the writer reads here.
typedef struct tn_attr_wire {
    const tn_attr *row;          // of the operator in this build
    const int32_t *enums;        // ENUM: value here of the writer's value i
    size_t n_enums;
} tn_attr_wire;

typedef struct tn_attr_wires {
    const tn_attr_wire *rows;    // in the writer's order
    size_t n_rows;
    const int32_t *codes;        // loop code here of the writer's code i
    size_t n_codes;
} tn_attr_wires;

// Appends the fields of attr (not NULL) in the order of op's rows. false: a kind that is not encoded. No memory: text->failed.
struct tn_text;
bool tn_attr_encode(const tn_op *op, const void *attr, struct tn_text *bytes);

// A struct in the arena from `size` untrusted bytes; fields that the writer did not know keep their defaults. NULL with *why: the
// bytes are not such fields, all of them and nothing more; NULL with *why NULL: no memory.
void *tn_attr_decode(const tn_op *op, const tn_attr_wires *wires, const uint8_t *data, size_t size, tn_arena *arena, const char **why);

#endif
