// SPDX-License-Identifier: Apache-2.0
// The vocabulary of vec.h in the compiler's own vector types: four lanes, which every 64-bit target has registers for.
// Ownership: none. Threads: any.
#ifndef TN_VEC_PORTABLE_H
#define TN_VEC_PORTABLE_H

#define TN_VL 4
#define TN_VF_FUSED 0

typedef float tn_vf __attribute__((vector_size(16)));
typedef int32_t tn_vi __attribute__((vector_size(16)));
typedef int32_t tn_vm __attribute__((vector_size(16)));   // 0 or -1

// ---- memory ----

TN_INLINE tn_vf tn_vf_load(const float *p)
{
    tn_vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

TN_INLINE void tn_vf_store(float *p, tn_vf v) { memcpy(p, &v, sizeof v); }
TN_INLINE void tn_vf_stream(float *p, tn_vf v) { tn_vf_store(p, v); }
TN_INLINE void tn_stream_end(void) {}

// Lanes from n on are those of v.
TN_INLINE tn_vf tn_vf_load_or(const float *p, int n, tn_vf v)
{
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}

TN_INLINE tn_vf tn_vf_load_n(const float *p, int n) { return tn_vf_load_or(p, n, (tn_vf){0}); }
TN_INLINE void tn_vf_store_n(float *p, tn_vf v, int n) { memcpy(p, &v, (size_t)n * sizeof *p); }

// Lane i is p[index[i]]; lanes from n on are 0 and their indices are not read.
TN_INLINE tn_vf tn_vf_gather_n(const float *p, const int32_t *index, int n)
{
    tn_vf v = {0};
    for (int i = 0; i < n; i++) {
        v[i] = p[index[i]];
    }
    return v;
}

// Bytes widened to int32, and the low byte of each lane.
TN_INLINE tn_vi tn_vi_load_i8_n(const int8_t *p, int n)
{
    tn_vi v = {0};
    for (int i = 0; i < n; i++) {
        v[i] = p[i];
    }
    return v;
}

TN_INLINE tn_vi tn_vi_load_u8_n(const uint8_t *p, int n)
{
    tn_vi v = {0};
    for (int i = 0; i < n; i++) {
        v[i] = p[i];
    }
    return v;
}

TN_INLINE void tn_vi_store_8_n(void *p, tn_vi v, int n)
{
    for (int i = 0; i < n; i++) {
        ((uint8_t *)p)[i] = (uint8_t)v[i];
    }
}

TN_INLINE tn_vi tn_vi_load_i8(const int8_t *p) { return tn_vi_load_i8_n(p, TN_VL); }
TN_INLINE tn_vi tn_vi_load_u8(const uint8_t *p) { return tn_vi_load_u8_n(p, TN_VL); }
TN_INLINE void tn_vi_store_8(void *p, tn_vi v) { tn_vi_store_8_n(p, v, TN_VL); }

// ---- integers, bits ----

TN_INLINE tn_vi tn_vi_set(int32_t x) { return (tn_vi){x, x, x, x}; }
// Sums wrap, as the instructions of the other tiers do.
typedef uint32_t tn_vu __attribute__((vector_size(16)));
TN_INLINE tn_vi tn_vi_add(tn_vi a, tn_vi b) { return (tn_vi)((tn_vu)a + (tn_vu)b); }
TN_INLINE tn_vi tn_vi_sub(tn_vi a, tn_vi b) { return (tn_vi)((tn_vu)a - (tn_vu)b); }
TN_INLINE tn_vi tn_vi_and(tn_vi a, tn_vi b) { return a & b; }
TN_INLINE tn_vi tn_vi_or(tn_vi a, tn_vi b) { return a | b; }
TN_INLINE tn_vi tn_vi_shl(tn_vi a, int n) { return (tn_vi)((tn_vu)a << (uint32_t)n); }
TN_INLINE tn_vi tn_vi_shr(tn_vi a, int n) { return a >> n; }
TN_INLINE tn_vi tn_vf_bits(tn_vf v) { return (tn_vi)v; }
TN_INLINE tn_vf tn_vf_from_bits(tn_vi v) { return (tn_vf)v; }

// ---- compares ----

TN_INLINE tn_vm tn_vf_lt(tn_vf a, tn_vf b) { return a < b; }
TN_INLINE tn_vm tn_vf_le(tn_vf a, tn_vf b) { return a <= b; }
TN_INLINE tn_vm tn_vf_eq(tn_vf a, tn_vf b) { return a == b; }
TN_INLINE tn_vm tn_vf_nan(tn_vf a) { return a != a; }
TN_INLINE tn_vm tn_vm_and(tn_vm a, tn_vm b) { return a & b; }
TN_INLINE tn_vm tn_vm_or(tn_vm a, tn_vm b) { return a | b; }
TN_INLINE tn_vf tn_vf_select(tn_vm m, tn_vf yes, tn_vf no) { return (tn_vf)((m & (tn_vi)yes) | (~m & (tn_vi)no)); }

// ---- arithmetic ----

TN_INLINE tn_vf tn_vf_zero(void) { return (tn_vf){0}; }
TN_INLINE tn_vf tn_vf_set(float x) { return (tn_vf){x, x, x, x}; }
TN_INLINE tn_vf tn_vf_add(tn_vf a, tn_vf b) { return a + b; }
TN_INLINE tn_vf tn_vf_sub(tn_vf a, tn_vf b) { return a - b; }
TN_INLINE tn_vf tn_vf_mul(tn_vf a, tn_vf b) { return a * b; }
TN_INLINE tn_vf tn_vf_div(tn_vf a, tn_vf b) { return a / b; }
TN_INLINE tn_vf tn_vf_fma(tn_vf a, tn_vf b, tn_vf c) { return a * b + c; }
TN_INLINE tn_vf tn_vf_fma_sum(tn_vf sum, tn_vf a, tn_vf b) { return a * b + sum; }
TN_INLINE tn_vf tn_vf_minq(tn_vf a, tn_vf b) { return tn_vf_select(a < b, a, b); }
TN_INLINE tn_vf tn_vf_maxq(tn_vf a, tn_vf b) { return tn_vf_select(a > b, a, b); }
TN_INLINE tn_vf tn_vf_abs(tn_vf a) { return (tn_vf)((tn_vi)a & INT32_MAX); }
TN_INLINE tn_vf tn_vf_neg(tn_vf a) { return (tn_vf)((tn_vi)a ^ INT32_MIN); }

// |a| with the sign of s.
TN_INLINE tn_vf tn_vf_copysign(tn_vf a, tn_vf s) { return (tn_vf)(((tn_vi)a & INT32_MAX) | ((tn_vi)s & INT32_MIN)); }
TN_INLINE tn_vf tn_vf_sqrt(tn_vf a) { return (tn_vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}; }

// Adding 2^23 leaves no bits for a fraction; larger numbers are integral already.
TN_INLINE tn_vf tn_vf_round(tn_vf a)
{
    const tn_vf big = tn_vf_set(8388608.0f), m = tn_vf_abs(a);
    const tn_vf r = tn_vf_copysign((m + big) - big, a);
    return tn_vf_select(m < big, r, a);
}

TN_INLINE tn_vf tn_vf_floor(tn_vf a)
{
    const tn_vf r = tn_vf_round(a);
    return tn_vf_select(r > a, r - 1.0f, r);
}

TN_INLINE tn_vf tn_vf_ceil(tn_vf a) { return tn_vf_neg(tn_vf_floor(tn_vf_neg(a))); }
TN_INLINE tn_vi tn_vf_to_vi(tn_vf a) { return __builtin_convertvector(tn_vf_round(a), tn_vi); }
TN_INLINE tn_vf tn_vi_to_vf(tn_vi a) { return __builtin_convertvector(a, tn_vf); }

// In two factors, so that neither leaves the range of normal numbers.
TN_INLINE tn_vf tn_vf_scale(tn_vf v, tn_vf n)
{
    const tn_vi all = tn_vf_to_vi(n), half = all >> 1;
    return v * (tn_vf)tn_vi_shl(half + 127, 23) * (tn_vf)tn_vi_shl(all - half + 127, 23);
}

// ---- across lanes ----

TN_INLINE tn_vf tn_vf_permute(tn_vf v, tn_vi index)
{
    tn_vf r;
    for (int i = 0; i < TN_VL; i++) {
        r[i] = v[index[i] & (TN_VL - 1)];
    }
    return r;
}

TN_INLINE float tn_vf_sum(tn_vf a) { return (a[0] + a[2]) + (a[1] + a[3]); }

TN_INLINE float tn_vf_hmax(tn_vf a)
{
    const float x = a[0] > a[2] ? a[0] : a[2], y = a[1] > a[3] ? a[1] : a[3];
    return x > y ? x : y;
}

TN_INLINE float tn_vf_hmin(tn_vf a)
{
    const float x = a[0] < a[2] ? a[0] : a[2], y = a[1] < a[3] ? a[1] : a[3];
    return x < y ? x : y;
}

// Lane j of r[i] and lane i of r[j] change places.
TN_INLINE void tn_vf_transpose(tn_vf r[TN_VL])
{
    const tn_vf a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5), b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
    const tn_vf c = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7), d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
}

// Lane j of r[i] is rows[j][i].
TN_INLINE void tn_vf_load_square(tn_vf r[TN_VL], const float *const rows[TN_VL])
{
    for (int i = 0; i < TN_VL; i++) {
        r[i] = tn_vf_load(rows[i]);
    }
    tn_vf_transpose(r);
}

#endif
