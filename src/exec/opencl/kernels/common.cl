// SPDX-License-Identifier: Apache-2.0
// Stands before every kernel: then come the macros of its arguments, PARAMETERS, and the kernel `run` itself.
__constant sampler_t TEXEL = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

#define OUTSIDE (get_global_id(0) >= (size_t)gx || get_global_id(1) >= (size_t)gy || get_global_id(2) >= (size_t)gz)
#define X_ID ((int)get_global_id(0))
#define Y_ID ((int)get_global_id(1))
#define Z_ID ((int)get_global_id(2))
// n / d for 0 <= n < 2^31. Where d is no constant, by numbers that the host made of it (tn_cl_over): a division takes many times the
// instructions.
#ifdef BAKED
#define OVER(n, d) ((n) / (d))
#else
#define OVER(n, d) ((d) == 1 ? (n) : (int)(mul_hi((uint)(n), (uint)d##_over) >> d##_shift))
#endif
#define CD4(n) (((n) + 3) / 4)

// What products are made of: floats, or with HALVES halves (docs/opencl.md). N4: the type of four; MAD4(a, b, sum); FLOAT4(v). A compiler that has the
// type but not its functions, as clang on CPUs without cl_khr_fp16, gets them here: tests run these texts so.
// Sums of halves are short: RUN_SUM declares them beside the floats acc[k][j] that they go into at END_RUN; SUM is what products are added to.
#ifdef HALVES
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half4 N4;
#define FLOAT4(v) convert_float4(v)
#define READ_N4(image, at) read_imageh((image), (at))
#define SAMPLE_N4(image, at) read_imageh((image), TEXEL, (at))
#else
typedef half N4 __attribute__((ext_vector_type(4)));
#define FLOAT4(v) __builtin_convertvector((v), float4)
#define READ_N4(image, at) __builtin_convertvector(read_imagef((image), (at)), N4)
#define SAMPLE_N4(image, at) __builtin_convertvector(read_imagef((image), TEXEL, (at)), N4)
#endif
#define MAD4(a, b, sum) ((a) * (b) + (sum))
#define RUN_SUM(n, m) N4 run_sum[n][m]
#define SUM run_sum
#define END_RUN(k, j, ends)                         \
    do {                                            \
        if (ends) {                                 \
            acc[k][j] += FLOAT4(run_sum[k][j]);     \
            run_sum[k][j] = (N4)(0.0f);             \
        }                                           \
    } while (0)
#else
#define N4 float4
#define MAD4(a, b, sum) mad((a), (b), (sum))
#define FLOAT4(v) (v)
#define RUN_SUM(n, m)
#define SUM acc
#define END_RUN(k, j, ends)
#endif

// Long sums. What an addition rounds away is kept (Knuth's two-sum) in `lost`, so that the error does not grow with the length; an item adds
// short runs of RUN elements plainly, which costs nothing, and the runs this way. WHOLE: the sum; what infinities made of `lost` is left out.
#define RUN 32
#define ADD_RUN(sum, lost, v)                                       \
    do {                                                            \
        const float old_ = (sum), new_ = (v), both_ = old_ + new_;  \
        const float part_ = both_ - old_;                           \
        (lost) += (old_ - (both_ - part_)) + (new_ - part_);        \
        (sum) = both_;                                              \
    } while (0)
#define WHOLE(sum, lost) (isfinite(lost) ? (sum) + (lost) : (sum))

// NaN where either operand is NaN, unlike fmin and fmax.
#define NAN_OR(op, a, b) select(select(op((a), (b)), (a), isnan(a)), (b), isnan(b))
// min(max(a, low), high); NaN stays.
#define CLIP(a, low, high) clip_above(clip_below((a), (V)(low)), (V)(high))
__attribute__((overloadable)) float clip_below(float a, float low) { return a < low ? low : a; }
__attribute__((overloadable)) float clip_above(float a, float high) { return a > high ? high : a; }
__attribute__((overloadable)) float4 clip_below(float4 a, float4 low) { return select(a, low, a < low); }
__attribute__((overloadable)) float4 clip_above(float4 a, float4 high) { return select(a, high, a > high); }
