// SPDX-License-Identifier: Apache-2.0
// Shapes: up to 8 dims, each known, symbolic or unknown.
// Leaf header. Ownership: plain values. Threads: any.
#ifndef TN_SHAPE_H
#define TN_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_MAX_RANK 8

// A dim >= 0 is known. TN_DIM_UNKNOWN is unknown. TN_DIM_SYMBOL + id names symbol `id` of the graph. The same coding is used
// for the elements of partially known integer tensors (which may be negative numbers).
#define TN_DIM_UNKNOWN INT64_MIN
#define TN_DIM_SYMBOL (INT64_MIN + 1)
#define TN_MAX_SYMBOLS (1 << 20)

static inline bool tn_dim_known(int64_t dim) { return dim >= TN_DIM_SYMBOL + TN_MAX_SYMBOLS; }

typedef struct tn_shape {
    int rank;                    // -1: rank unknown
    int64_t dims[TN_MAX_RANK];   // outermost first; entries at and past rank are 0
} tn_shape;

static inline tn_shape tn_shape_unknown(void) { tn_shape s = {-1, {0}}; return s; }
tn_shape tn_shape_of(int rank, const int64_t *dims);        // rank must be 0 .. 8
bool tn_shape_known(const tn_shape *shape);                 // rank and every dim known
bool tn_shape_equal(const tn_shape *a, const tn_shape *b);  // same rank, same dims (symbols compare by id)

// Number of elements; false when not fully known or when it does not fit in int64.
bool tn_shape_count(const tn_shape *shape, int64_t *count);

// Product of dims[from .. to-1] of a known shape (1 when empty). The caller has checked that the whole count fits.
int64_t tn_shape_span(const tn_shape *shape, int from, int to);

// Multidirectional broadcast (numpy rules; ONNX "Broadcasting"). Unknown and symbolic dims combine to what is certain.
// false: the shapes cannot be broadcast.
bool tn_shape_broadcast(const tn_shape *a, const tn_shape *b, tn_shape *out);

// The model's own names of symbols, by id.
typedef struct tn_dim_names {
    const char *const *names;
    size_t count;
} tn_dim_names;

// Writes e.g. "[1,3,?,batch]" into text (at least 160 bytes) and returns it; a long name is cut, and a symbol without one, which only
// inference knows, is "?". Names NULL: symbols are s<id>.
char *tn_shape_print_named(const tn_shape *shape, const tn_dim_names *names, char *text, size_t size);
char *tn_shape_print(const tn_shape *shape, char *text, size_t size);

// Turns an axis that may be negative into 0 .. rank-1; false when out of range.
bool tn_axis(int64_t axis, int rank, int *out);

#endif
