// SPDX-License-Identifier: Apache-2.0
// Reading FlatBuffers (flatbuffers.dev, "Internals") in place. A table is an offset back to its vtable, which tells where each field
// lies; vectors and strings begin with their count:
//
//   buffer  [root: u32 forward][identifier: 4 bytes] ...
//   table   [vtable: i32, subtracted][fields ...]         vtable  [its bytes: u16][bytes of the table: u16][place of field 0: u16] ...
//   vector  [count: u32][elements ...]                    string  a vector of bytes, then a zero
//
// The bytes are not trusted: every access is compared with the buffer's size first. The first thing found wrong is kept in `fault`;
// from then on every read gives what an absent field gives, so that callers may look once, at the end of an object.
// Ownership: views borrow the bytes. Threads: one per reader.
#ifndef TN_FLAT_H
#define TN_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tn_flat {
    const uint8_t *data;
    size_t size;
    const char *fault;       // what is malformed; NULL while nothing is
} tn_flat;

typedef struct tn_flat_table {
    size_t at;               // 0: no table
    size_t vtable;
    uint16_t vtable_bytes, table_bytes;
} tn_flat_table;

typedef struct tn_flat_vector {
    const uint8_t *data;     // of the first element; NULL: no vector
    size_t count;
} tn_flat_vector;

// The root table of a buffer with this identifier (4 characters).
tn_flat_table tn_flat_root(tn_flat *flat, const char *identifier);

// Scalar field `id` of 1, 2, 4 or 8 bytes, zero-extended; `absent` when it is not stored.
uint64_t tn_flat_scalar(tn_flat *flat, const tn_flat_table *table, unsigned id, size_t bytes, uint64_t absent);

// Field `id`, a table. at 0: not stored.
tn_flat_table tn_flat_sub(tn_flat *flat, const tn_flat_table *table, unsigned id);

// Field `id`, a vector of elements of so many bytes (4 for tables and strings).
tn_flat_vector tn_flat_array(tn_flat *flat, const tn_flat_table *table, unsigned id, size_t element_bytes);

// Field `id`, a string: zero-terminated, without a zero inside. NULL: not stored.
const char *tn_flat_text(tn_flat *flat, const tn_flat_table *table, unsigned id);

// Element i (less than count) of a vector of tables or strings.
tn_flat_table tn_flat_table_at(tn_flat *flat, const tn_flat_vector *vector, size_t i);
const char *tn_flat_text_at(tn_flat *flat, const tn_flat_vector *vector, size_t i);

// Little-endian numbers at any address.
uint64_t tn_flat_load(const uint8_t *data, size_t bytes);

#endif
