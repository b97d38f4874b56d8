// SPDX-License-Identifier: Apache-2.0
// Both roundings against definitions written another way: gemmlowp's by 128-bit division, float_rne by double arithmetic on values where it
// is exact. Extreme values come first, then random ones. Lines of layer normalisation against double arithmetic.
#include "support/unit.h"

#include "base/requant.h"
#include "ops/quant/op_qmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

static uint64_t seed = 88172645463325252u;

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static const int32_t extremes[] = {INT32_MIN, INT32_MIN + 1, -(1 << 30) - 1, -(1 << 30), -65536, -3, -2, -1, 0,
                                   1, 2, 3, 65535, (1 << 30) - 1, 1 << 30, INT32_MAX - 1, INT32_MAX};
enum { EXTREMES = sizeof extremes / sizeof extremes[0] };

static int32_t pick(unsigned i) { return i < EXTREMES ? extremes[i] : (int32_t)(draw() >> (draw() % 32)); }

// SaturatingRoundingDoublingHighMul as it is published: a nudge by the sign, then a division that truncates.
static int32_t high_mul(int32_t a, int32_t b)
{
    if (a == INT32_MIN && b == INT32_MIN) {
        return INT32_MAX;
    }
    const wide product = (wide)a * b, nudge = product >= 0 ? (wide)1 << 30 : 1 - ((wide)1 << 30);
    return (int32_t)((product + nudge) / ((wide)1 << 31));
}

// Nearest, halves away from zero.
static int32_t divide(int32_t x, int n)
{
    const wide half = n ? (wide)1 << (n - 1) : 0, size = x < 0 ? -(wide)x : x;
    const wide rounded = (size + half) / ((wide)1 << n);
    return (int32_t)(x < 0 ? -rounded : rounded);
}

static void test_fixed(void **state)
{
    for (unsigned i = 0; i < EXTREMES + 3000; i++) {
        for (unsigned k = 0; k < EXTREMES; k++) {
            const int32_t a = pick(i), b = pick(k);
            assert_int_equal(tn_q31_mul(a, b), high_mul(a, b));
        }
        for (int n = 0; n <= 31; n++) {
            const int32_t x = pick(i);
            assert_int_equal(tn_q31_shift(x, n), divide(x, n));
        }
    }
}

static void test_factors(void **state)
{
    // The factor is within half a unit of its last place, and a sum goes through it with at most one unit of error.
    for (int i = 0; i < 20000; i++) {
        const double factor = ldexp(1 + (double)(draw() >> 12) / (double)(1ull << 52), (int)(draw() % 40) - 30);
        const tn_requant r = tn_requant_fixed(factor);
        const double kept = (double)r.multiplier / 2147483648.0 * ldexp(1, r.shift);
        assert_true(r.multiplier >= 1 << 30 && fabs(kept - factor) <= factor / 2147483648.0);
        const int32_t sum = (int32_t)(draw() % 200001) - 100000;
        const double exact = sum * factor;
        if (fabs(exact) < 1e9) {
            assert_true(fabs(tn_requant_q31(sum, r.multiplier, r.shift) - exact) <= 1.0 + fabs(exact) * 1e-9);
        }
    }
    static const double odd[] = {0, -1, INFINITY, NAN, 1e-300, 1e300, 1.0 - 1e-17, 0.5, 1};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        const tn_requant r = tn_requant_fixed(odd[i]);
        assert_true(r.multiplier >= 0 && r.shift >= -31 && r.shift <= 30);
        (void)tn_requant_q31(INT32_MIN, r.multiplier, r.shift);
    }
}

static void test_even(void **state)
{
    // Halves and their neighbours, and everything that a float can say within the bound.
    for (int i = -3000; i <= 3000; i++) {
        assert_int_equal(tn_round_even((float)i / 2), (int32_t)nearbyint((double)i / 2));
        assert_int_equal(tn_round_even(nextafterf((float)i / 2, 1e9f)), (int32_t)nearbyint((double)nextafterf((float)i / 2, 1e9f)));
    }
    for (int i = 0; i < 100000; i++) {
        const uint32_t bits = (uint32_t)draw();
        float v;
        memcpy(&v, &bits, sizeof v);
        const int32_t got = tn_round_even(v);
        if (isnan(v)) {
            assert_int_equal(got, 0);
        } else if (fabsf(v) >= (float)TN_REQUANT_BOUND) {
            assert_int_equal(got, v > 0 ? TN_REQUANT_BOUND : -TN_REQUANT_BOUND);
        } else {
            assert_int_equal(got, (int32_t)nearbyint((double)v));
        }
    }
}

static void test_pairs(void **state)
{
    // The two roundings of a sum of bytes differ by one at most.
    for (int i = 0; i < 2000; i++) {
        const float a = 0.001f + (float)(draw() % 1000) / 10000, b = 0.001f + (float)(draw() % 1000) / 10000, y = a + b;
        tn_requant_pair real = {.a_zero = 128, .b_zero = 100, .y_zero = 120, .low = 0, .high = 255}, fixed = real;
        tn_requant_pair_scales(&real, TN_ROUND_FLOAT_RNE, a, b, y, false);
        tn_requant_pair_scales(&fixed, TN_ROUND_FIXED_Q31, a, b, y, false);
        for (int k = 0; k < 64; k++) {
            const int32_t u = (int32_t)(draw() % 256), v = (int32_t)(draw() % 256), minus = k & 1;
            const int32_t difference = tn_requant_sum(&real, u, v, minus) - tn_requant_sum(&fixed, u, v, minus);
            assert_in_range(difference + 1, 0, 2);
        }
    }
}

// Sums of 64 bits: within one of the real number, in both roundings; tables between their entries.
static void test_wide(void **state)
{
    int16_t table[TN_WIDE_ENTRIES];
    for (int i = 0; i < 3000; i++) {
        const uint64_t most = draw() >> (3 + draw() % 50);
        const int down = tn_wide_down(most);
        assert_true(down < 32 && (most >> down) <= (uint64_t)INT32_MAX);
        assert_true(down == 0 || (most >> (down - 1)) >= (uint64_t)INT32_MAX);
        const int64_t sum = (int64_t)(draw() % (most + 1)) * (i % 2 ? 1 : -1);
        const float x = 0.001f, w = 0.002f, y = (float)((double)x * w * (double)(most + 1) / 30000);
        const double real = fmin(fmax((double)sum * x * w / y, -32768), 32767);
        for (int rounding = 0; rounding < 2 && isnormal(y); rounding++) {
            const tn_requant r = tn_wide_factor(rounding, x, w, y, down);
            assert_true(fabs(tn_requant_wide(&r, sum, down, INT16_MIN, INT16_MAX) - real) < 1);
        }
    }
    for (int i = 0; i < TN_WIDE_ENTRIES; i++) {
        table[i] = (int16_t)(i == TN_WIDE_ENTRIES - 1 ? INT16_MAX : i * 16 - 32768);
    }
    for (int32_t v = INT16_MIN; v < INT16_MAX - 16; v++) {
        assert_int_equal(tn_wide_look(table, v), v);
    }
    assert_int_equal(tn_wide_byte(32767, 0, 255), 255);
    assert_int_equal(tn_wide_byte(-64, -128, 127), 0);
    assert_int_equal(tn_wide_byte(-65, -128, 127), -1);
}

static void test_softmax(void **state)
{
    uint32_t table[256], inverse;
    tn_softmax_table(0.05f, 1.0f / 256, table, &inverse);
    assert_int_equal(table[0], TN_SOFTMAX_ONE);
    for (int i = 0; i < 500; i++) {
        int32_t x[16], most = -1;
        double sum = 0;
        uint64_t whole = 0;
        for (int k = 0; k < 16; k++) {
            x[k] = (int32_t)(draw() % 256);
            most = x[k] > most ? x[k] : most;
        }
        for (int k = 0; k < 16; k++) {
            sum += exp(0.05 * (x[k] - most));
            whole += table[most - x[k]];
        }
        for (int k = 0; k < 16; k++) {
            const double exact = exp(0.05 * (x[k] - most)) / sum * 256;
            assert_true(fabs(tn_requant_softmax(table[most - x[k]], whole, inverse, 0, 0, 255) - fmin(exact, 255)) <= 0.51);
        }
    }
}

static void test_norm_root(void **state)
{
    for (unsigned i = 0; i < 200000; i++) {
        // Squares and their neighbours, and anything.
        const uint64_t side = draw() >> (32 + draw() % 32), v = i % 4 == 3 ? draw() >> (draw() % 64) : side * side + i % 4 - (i % 4 == 2 && side ? 3 : 0);
        const wide root = tn_norm_root(v);
        assert_true(root * root <= v && (root + 1) * (root + 1) > v);
    }
    assert_true(tn_norm_root(UINT64_MAX) == UINT32_MAX);
}

// kind 0: any bytes, 1: two neighbours, 2: all the same but one, by 1, 3: all the same but one, by 255, 4: nothing but the same.
static void fill_line(int kind, int32_t n, uint8_t *x)
{
    const uint8_t low = (uint8_t)(draw() % 255);
    for (int32_t i = 0; i < n; i++) {
        x[i] = (uint8_t)(kind == 0 ? draw() : kind == 1 ? low + (draw() & 1) : kind == 3 ? (i ? 0 : 255) : low);
    }
    x[draw() % (uint64_t)n] += kind == 2;
}

// The greatest distance of a line's results from what double arithmetic gives, of those that a byte holds, in steps.
static double line_error(int32_t n, const uint8_t *x, const tn_tensor *const *in, double epsilon)
{
    const double x_scale = *(const float *)in[1]->data, y_scale = *(const float *)in[3]->data;
    const float *gain = in[5]->data, *bias = in[6]->data;
    const tn_qlayer_norm_attr attr = {.axis = -1, .epsilon = epsilon, .q = TN_QLINEAR_DEFAULTS};
    double sum = 0, squares = 0, worst = 0;
    int64_t s = 0, q = 0;
    tn_qnorm norm;
    int32_t *words = malloc(2 * (size_t)n * sizeof *words);
    assert_true(tn_qnorm_of(&attr, in, 7, TN_U8, &norm));
    tn_qnorm_words(&norm, in, 7, words, words + n);
    for (int32_t i = 0; i < n; i++) {
        sum += x_scale * x[i];
        s += x[i];
        q += x[i] * x[i];
    }
    for (int32_t i = 0; i < n; i++) {
        squares += (x_scale * x[i] - sum / n) * (x_scale * x[i] - sum / n);
    }
    const tn_norm_factor f = tn_norm_factor_of(n, tn_norm_root(tn_norm_square(n, s, q, norm.epsilon)));
    for (int32_t i = 0; i < n; i++) {
        const double deviation = sqrt(squares / n + epsilon), z = deviation > 1e-12 ? (x_scale * x[i] - sum / n) / deviation : 0;
        const double exact = (z * gain[i] + bias[i]) / y_scale;
        const int32_t got = tn_norm_result(tn_norm_scaled(&f, n * x[i] - (int32_t)s), words[i], words[n + i], norm.down, 0, -4096, 4096);
        worst = fabs(exact) < 512 ? fmax(worst, fabs(got - exact)) : worst;
    }
    free(words);
    return worst;
}

// Half a step is rounding's; all the rest is a thousandth for lines of any length and deviation, and 1/64 where one step of 32768 differs.
static void test_norm(void **state)
{
    static const int32_t lengths[] = {1, 2, 3, 4, 7, 8, 9, 16, 31, 64, 129, 384, 768, 1024, 4097, 16384, 16385, 32767, 32768};
    static const double epsilons[] = {0, 1e-12, 1e-5, 1e-3};
    enum { LENGTHS = sizeof lengths / sizeof lengths[0], MOST = 32768 };
    uint8_t *x = malloc(MOST);
    float *gain = malloc(MOST * sizeof *gain), *bias = malloc(MOST * sizeof *bias), x_scale, y_scale;
    for (int i = 0; i < 3000; i++) {
        const int32_t n = lengths[i % 40 == 0 ? draw() % LENGTHS : draw() % 12];
        const int kind = (int)(draw() % 5);
        fill_line(kind, n, x);
        x_scale = (float)exp2((double)(draw() % 1000) / 100 - 7);
        y_scale = (float)exp2((double)(draw() % 600) / 100 - 8);
        for (int32_t k = 0; k < n; k++) {
            gain[k] = (float)(draw() % 2001) / 1000 - 0.5f;
            bias[k] = (float)(draw() % 2001) / 500 - 2;
        }
        const tn_tensor bytes = {.dtype = TN_U8, .shape = {1, {n}}}, scales[2] = {{.dtype = TN_F32, .data = &x_scale}, {.dtype = TN_F32, .data = &y_scale}};
        const tn_tensor vectors[2] = {{.dtype = TN_F32, .shape = {1, {n}}, .data = gain}, {.dtype = TN_F32, .shape = {1, {n}}, .data = bias}};
        const tn_tensor *const in[7] = {&bytes, &scales[0], NULL, &scales[1], NULL, &vectors[0], &vectors[1]};
        const double error = line_error(n, x, in, epsilons[draw() % 4]);
        if (error > (n > 4097 ? 0.516 : 0.501)) {
            fail_msg("a line of %d, kind %d, scales %g and %g: off by %g", (int)n, kind, (double)x_scale, (double)y_scale, error);
        }
    }
    free(x);
    free(gain);
    free(bias);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed), cmocka_unit_test(test_factors), cmocka_unit_test(test_even), cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_wide),  cmocka_unit_test(test_softmax), cmocka_unit_test(test_norm_root), cmocka_unit_test(test_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
