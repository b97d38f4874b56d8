// SPDX-License-Identifier: Apache-2.0
// The vector vocabulary in the compiler's own 16-byte vectors: SSE2 on x86-64, NEON on aarch64, plain code elsewhere.
// Included by vec.h only. Ownership: none. Threads: any.
#ifndef TN_VEC_PORTABLE_H
#define TN_VEC_PORTABLE_H

#define TN_VL 4

typedef float tn_vf __attribute__((vector_size(16)));
typedef int32_t tn_vm __attribute__((vector_size(16)));

TN_INLINE tn_vf tn_vf_set(float x) { return (tn_vf){x, x, x, x}; }
TN_INLINE tn_vf tn_vf_zero(void) { return tn_vf_set(0); }
TN_INLINE tn_vf tn_vf_load(const float *p)
{
    tn_vf v;
    memcpy(&v, p, sizeof v);
    return v;
}
TN_INLINE void tn_vf_store(float *p, tn_vf v) { memcpy(p, &v, sizeof v); }
TN_INLINE tn_vf tn_vf_load_n(const float *p, int n)
{
    tn_vf v = tn_vf_zero();
    for (int i = 0; i < n; i++) {
        v[i] = p[i];
    }
    return v;
}
TN_INLINE void tn_vf_store_n(float *p, tn_vf v, int n)
{
    for (int i = 0; i < n; i++) {
        p[i] = v[i];
    }
}

// Lane by lane: m ? a : b.
TN_INLINE tn_vf tn_vf_select(tn_vm m, tn_vf a, tn_vf b) { return (tn_vf)(((tn_vm)a & m) | ((tn_vm)b & ~m)); }

TN_INLINE tn_vf tn_vf_add(tn_vf a, tn_vf b) { return a + b; }
TN_INLINE tn_vf tn_vf_sub(tn_vf a, tn_vf b) { return a - b; }
TN_INLINE tn_vf tn_vf_mul(tn_vf a, tn_vf b) { return a * b; }
TN_INLINE tn_vf tn_vf_div(tn_vf a, tn_vf b) { return a / b; }
TN_INLINE tn_vm tn_vf_lt(tn_vf a, tn_vf b) { return a < b; }
TN_INLINE tn_vm tn_vf_le(tn_vf a, tn_vf b) { return a <= b; }
TN_INLINE tn_vm tn_vf_eq(tn_vf a, tn_vf b) { return a == b; }
TN_INLINE tn_vf tn_vf_maxq(tn_vf a, tn_vf b) { return tn_vf_select(a > b, a, b); }
TN_INLINE tn_vf tn_vf_minq(tn_vf a, tn_vf b) { return tn_vf_select(a < b, a, b); }
TN_INLINE tn_vf tn_vf_abs(tn_vf a) { return (tn_vf)((tn_vm)a & 0x7fffffff); }
TN_INLINE tn_vf tn_vf_neg(tn_vf a) { return -a; }

#ifdef __FP_FAST_FMAF
TN_INLINE tn_vf tn_vf_fma(tn_vf a, tn_vf b, tn_vf c)
{
    for (int i = 0; i < TN_VL; i++) {
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    }
    return c;
}
#else
TN_INLINE tn_vf tn_vf_fma(tn_vf a, tn_vf b, tn_vf c) { return a * b + c; }
#endif

TN_INLINE tn_vf tn_vf_sqrt(tn_vf a) { return (tn_vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}; }

// Magnitude of a, sign of b.
TN_INLINE tn_vf tn_vf_copysign(tn_vf a, tn_vf b) { return (tn_vf)(((tn_vm)a & 0x7fffffff) | ((tn_vm)b & (int32_t)0x80000000)); }

// Below 2^23 adding and taking away 2^23 rounds to the nearest integer, ties to even; above all floats are integral.
TN_INLINE tn_vf tn_vf_round(tn_vf a)
{
    const tn_vf big = tn_vf_set(8388608.0f);
    tn_vf r = (tn_vf_abs(a) + big) - big;
    return tn_vf_select(tn_vf_abs(a) < big, tn_vf_copysign(r, a), a);
}
TN_INLINE tn_vf tn_vf_floor(tn_vf a)
{
    const tn_vf r = tn_vf_round(a);
    return tn_vf_select(r > a, r - tn_vf_set(1), r);
}
TN_INLINE tn_vf tn_vf_ceil(tn_vf a)
{
    const tn_vf r = tn_vf_round(a);
    return tn_vf_copysign(tn_vf_select(r < a, r + tn_vf_set(1), r), a);
}

// a * 2^n for integral |n| <= 252: in two steps, so that results may be denormal or overflow to infinity.
TN_INLINE tn_vf tn_vf_scale(tn_vf a, tn_vf n)
{
    // 1.5 * 2^23 + n holds n in its low bits.
    const tn_vm whole = (tn_vm)(n + tn_vf_set(12582912.0f)) - 0x4b400000;
    const tn_vm half = whole >> 1;
    return a * (tn_vf)((half + 127) << 23) * (tn_vf)((whole - half + 127) << 23);
}

// The order of additions is fixed: halves, then the pair.
TN_INLINE float tn_vf_sum(tn_vf a) { return (a[0] + a[2]) + (a[1] + a[3]); }

#endif
