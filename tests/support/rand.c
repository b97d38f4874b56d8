// SPDX-License-Identifier: Apache-2.0
// Random numbers for tests: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). The same seed
// gives the same numbers on every machine.
// Ownership: none. Threads: one per tn_rand.
#include "support/case.h"

#include <math.h>

uint64_t tn_rand_u64(tn_rand *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t tn_rand_range(tn_rand *r, int64_t low, int64_t high)
{
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1;   // 0: all numbers
    const uint64_t draw = tn_rand_u64(r);
    return (int64_t)((uint64_t)low + (span ? draw % span : draw));
}

double tn_rand_real(tn_rand *r, double low, double high)
{
    return low + (high - low) * ((double)(tn_rand_u64(r) >> 11) * 0x1p-53);
}

// Box and Muller: one of the pair is dropped, so that a draw takes two numbers always.
double tn_rand_normal(tn_rand *r)
{
    const double u = tn_rand_real(r, 0x1p-53, 1), v = tn_rand_real(r, 0, 6.283185307179586);
    return sqrt(-2 * log(u)) * cos(v);
}

bool tn_rand_bool(tn_rand *r) { return tn_rand_u64(r) >> 63; }
