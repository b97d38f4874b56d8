// SPDX-License-Identifier: Apache-2.0
// The vector vocabulary in the compiler's own 16-byte vectors: SSE2 on x86-64, NEON on aarch64, plain code elsewhere.
// Included by vec.h only. Ownership: none. Threads: any.
#ifndef TN_VEC_PORTABLE_H
#define TN_VEC_PORTABLE_H

#define VF_LANES 4

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vm __attribute__((vector_size(16)));

TN_INLINE vf vf_set(float x) { return (vf){x, x, x, x}; }
TN_INLINE vf vf_zero(void) { return vf_set(0); }
TN_INLINE vf vf_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}
TN_INLINE void vf_store(float *p, vf v) { memcpy(p, &v, sizeof v); }
TN_INLINE vf vf_load_n(const float *p, int n)
{
    vf v = vf_zero();
    for (int i = 0; i < n; i++) {
        v[i] = p[i];
    }
    return v;
}
TN_INLINE void vf_store_n(float *p, vf v, int n)
{
    for (int i = 0; i < n; i++) {
        p[i] = v[i];
    }
}

// Lane by lane: m ? a : b.
TN_INLINE vf vf_select(vm m, vf a, vf b) { return (vf)(((vm)a & m) | ((vm)b & ~m)); }

TN_INLINE vf vf_add(vf a, vf b) { return a + b; }
TN_INLINE vf vf_sub(vf a, vf b) { return a - b; }
TN_INLINE vf vf_mul(vf a, vf b) { return a * b; }
TN_INLINE vf vf_div(vf a, vf b) { return a / b; }
TN_INLINE vm vf_lt(vf a, vf b) { return a < b; }
TN_INLINE vm vf_le(vf a, vf b) { return a <= b; }
TN_INLINE vm vf_eq(vf a, vf b) { return a == b; }
TN_INLINE vf vf_max(vf a, vf b) { return vf_select(a > b, a, b); }
TN_INLINE vf vf_min(vf a, vf b) { return vf_select(a < b, a, b); }
TN_INLINE vf vf_abs(vf a) { return (vf)((vm)a & 0x7fffffff); }
TN_INLINE vf vf_neg(vf a) { return -a; }

#ifdef __FP_FAST_FMAF
TN_INLINE vf vf_fma(vf a, vf b, vf c)
{
    for (int i = 0; i < VF_LANES; i++) {
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    }
    return c;
}
#else
TN_INLINE vf vf_fma(vf a, vf b, vf c) { return a * b + c; }
#endif

TN_INLINE vf vf_sqrt(vf a) { return (vf){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])}; }

// Magnitude of a, sign of b.
TN_INLINE vf vf_sign(vf a, vf b) { return (vf)(((vm)a & 0x7fffffff) | ((vm)b & (int32_t)0x80000000)); }

// Below 2^23 adding and taking away 2^23 rounds to the nearest integer, ties to even; above all floats are integral.
TN_INLINE vf vf_round(vf a)
{
    const vf big = vf_set(8388608.0f);
    vf r = (vf_abs(a) + big) - big;
    return vf_select(vf_abs(a) < big, vf_sign(r, a), a);
}
TN_INLINE vf vf_floor(vf a)
{
    const vf r = vf_round(a);
    return vf_select(r > a, r - vf_set(1), r);
}
TN_INLINE vf vf_ceil(vf a)
{
    const vf r = vf_round(a);
    return vf_sign(vf_select(r < a, r + vf_set(1), r), a);
}

// a * 2^n for integral |n| <= 252: in two steps, so that results may be denormal or overflow to infinity.
TN_INLINE vf vf_scale(vf a, vf n)
{
    // 1.5 * 2^23 + n holds n in its low bits.
    const vm whole = (vm)(n + vf_set(12582912.0f)) - 0x4b400000;
    const vm half = whole >> 1;
    return a * (vf)((half + 127) << 23) * (vf)((whole - half + 127) << 23);
}

// The order of additions is fixed: halves, then the pair.
TN_INLINE float vf_sum(vf a) { return (a[0] + a[2]) + (a[1] + a[3]); }

#endif
