// SPDX-License-Identifier: Apache-2.0
// How a 32-bit sum becomes a byte, with the bits of base/requant.h, which defines it. REQUANT(sum, i): the sum times factor i, to nearest,
// then the result's zero point and bounds. FIXED: factors are pairs of multiplier and shift (fixed_q31), else float numbers (float_rne).
// Contraction is off: a product and a sum round one after the other, as on the CPU.
#pragma OPENCL FP_CONTRACT OFF

int saturate_i32(long v) { return v > INT_MAX ? INT_MAX : v < INT_MIN ? INT_MIN : (int)v; }
int q31_mul(int a, int b) { return saturate_i32(((long)a * b + (1L << 30)) >> 31); }

int q31_shift(int x, int n)
{
    const long mask = (1L << n) - 1, rest = (long)x & mask;
    return (int)(((long)x >> n) + (rest > (mask >> 1) + (x < 0) ? 1 : 0));
}

int requant_q31(int sum, int2 factor)
{
    const int left = max(factor.y, 0), right = max(-factor.y, 0);
    return q31_shift(q31_mul(saturate_i32((long)sum * (1L << left)), factor.x), right);
}

// NaN becomes 0; what lies beyond every byte may be cut.
int round_even(float v) { return isnan(v) ? 0 : (int)rint(fmin(fmax(v, -4194304.0f), 4194304.0f)); }

int finish(int v) { return clamp(clamp(v, -(1 << 30), 1 << 30) + Y_ZERO, LOW, HIGH); }

#ifdef FIXED
#define FACTOR int2
#define REQUANT(sum, i) finish(requant_q31((sum), factor[i]))
#else
#define FACTOR float
#define REQUANT(sum, i) finish(round_even((float)(sum) * factor[i]))
#endif

#ifdef PAIR
// Two bytes with their scales: their sum, difference or product (PAIR 0, 1, 2) in the scale of the result.
int pair(int a, int b)
{
    a -= A_ZERO;
    b -= B_ZERO;
#if defined(FIXED) && PAIR == 2
    return finish(requant_q31(a * b, FACTOR_Y));
#elif defined(FIXED)
    const int u = requant_q31(a * (1 << 20), FACTOR_A), v = requant_q31(b * (1 << 20), FACTOR_B);
    return finish(requant_q31(PAIR ? u - v : u + v, FACTOR_Y));
#else
    const float u = A_SCALE * (float)a, v = B_SCALE * (float)b, exact = PAIR == 2 ? u * v : PAIR ? u - v : u + v;
    return clamp(round_even(exact / Y_SCALE + (float)Y_ZERO), LOW, HIGH);
#endif
}
#endif
