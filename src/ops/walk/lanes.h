// SPDX-License-Identifier: Apache-2.0
// Blocks of elements in one of four arithmetic types. References that do arithmetic load a block, compute, and store it, and so need
// four bodies instead of one per element type:
//   F32  float16, bfloat16, float32 and smaller floats       I64  signed integers (narrow ones wrap when they are stored)
//   F64  float64                                             U64  unsigned integers and bool
// Ownership: plain values. Threads: any.
#ifndef TN_LANES_H
#define TN_LANES_H

#include "ir/dtype.h"

#define TN_LANES 256

typedef enum tn_lane { TN_LANE_F32, TN_LANE_F64, TN_LANE_I64, TN_LANE_U64 } tn_lane;

typedef union tn_lanes {
    float f32[TN_LANES];
    double f64[TN_LANES];
    int64_t i64[TN_LANES];
    uint64_t u64[TN_LANES];
} tn_lanes;

tn_lane tn_lane_of(tn_dtype dtype);

// n <= TN_LANES elements at data[first + i * step], converted to `lane` as C does (floats to integers: not allowed).
void tn_lanes_load(tn_lanes *out, tn_lane lane, tn_dtype dtype, const void *data, int64_t first, int64_t step, int n);

// The reverse, densely: data[first + i]. Floats round to nearest even; integers keep their low bits; bool is v != 0. A float lane can
// not be stored to an integer (see op_cast).
void tn_lanes_store(const tn_lanes *in, tn_lane lane, tn_dtype dtype, void *data, int64_t first, int n);

// Turns n float lanes into integer lanes for `dtype`: toward zero, values out of its range become the nearest one in range, NaN
// becomes 0. Returns the lane that they are in then.
tn_lane tn_lanes_to_int(tn_lanes *v, tn_lane lane, tn_dtype dtype, int n);

#endif
