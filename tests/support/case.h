// SPDX-License-Identifier: Apache-2.0
// Cases: one file per operator family (tests/cases/<group>/case_<family>.c) that says which shapes, attributes and values an
// operator is to be tried with. Four users read them: the kernel check, the device check, the benches and the fuzz seeds.
// Ownership: everything a case points to lives in the arena given to make. Threads: one at a time.
#ifndef TN_CASE_H
#define TN_CASE_H

#include "base/arena.h"
#include "ir/op.h"

typedef struct tn_rand { uint64_t state; } tn_rand;     // splitmix64; the seed is printed on failure
uint64_t tn_rand_u64(tn_rand *r);
int64_t tn_rand_range(tn_rand *r, int64_t low, int64_t high);   // low .. high, both included
double tn_rand_real(tn_rand *r, double low, double high);
double tn_rand_normal(tn_rand *r);
bool tn_rand_bool(tn_rand *r);

typedef struct tn_case_in {
    bool absent;             // optional operand left out
    tn_dtype dtype;
    tn_shape shape;
    double low, high;        // random values, uniform (integers: both included). low > high: normal(0,1)
    const int64_t *ints;     // given contents (integer and bool dtypes), or NULL
    const double *reals;     // given contents (float dtypes), or NULL
    bool constant;           // is a constant for the kernel (weights)
} tn_case_in;

#define TN_CASE_MAX_IN 16

typedef struct tn_case {
    const tn_op *op;
    const void *attr;
    int n_in, n_out;
    tn_case_in in[TN_CASE_MAX_IN];
    double rel, abs;         // |got - want| <= abs + rel * max(|want|, scale of the result); 0, 0: same bits
    double rounded_abs;      // allowed on top for rows of bf16: they round what they make on the way too
    bool special;            // the kernel check may also plant NaN, infinities, denormals and huge values in float operands
} tn_case;

typedef struct tn_case_family {
    const char *name;        // that of the op file: "conv"
    unsigned listed;         // make(i) for i < listed gives a fixed case; beyond, random ones
    // Fills *c; false: no memory. i >= listed: a random case drawn from r (odd sizes, all attributes).
    bool (*make)(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i);
} tn_case_family;

// Each case file exports one: TN_CASE_EXPORT(conv) {"conv", 12, make};
#define TN_CASE_EXPORT(stem) const tn_case_family tn_cases_##stem =

extern const tn_case_family *const tn_case_families[];   // written by the build; ends with NULL

// Helpers for case files.
void *tn_case_attr(tn_arena *arena, const tn_op *op);                        // a copy of the op's defaults (zeros without)
tn_ints tn_case_ints(tn_arena *arena, int count, const int64_t *v);
tn_shape tn_case_shape(int rank, ...);                                       // int64_t arguments
tn_case_in tn_case_f32(tn_shape shape);                                      // normal(0,1)

#endif
