// SPDX-License-Identifier: Apache-2.0
// Shapes of convolutions: what is left of a window after taps that no window has in x are taken away, against every window looked at.
#include "support/unit.h"
#include "kernels/conv/conv.h"

#include "base/macros.h"

// The taps that some window of rows has in x.
static void needed(const tn_conv_shape *s, int64_t *first, int64_t *end)
{
    *first = s->kernel[1];
    *end = 0;
    for (int64_t o = 0; o < s->out[1]; o++) {
        for (int64_t k = 0; k < s->kernel[1]; k++) {
            const int64_t at = o * s->stride[1] - s->pad[1] + k * s->dilation[1];
            if (at >= 0 && at < s->in[1]) {
                *first = TN_MIN(*first, k);
                *end = TN_MAX(*end, k + 1);
            }
        }
    }
}

static void check(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, int64_t pad_end)
{
    const int64_t out = (in + pad + pad_end - (kernel - 1) * dilation - 1) / stride + 1;
    tn_conv_shape s = {.in = {1, in, 1}, .out = {1, out, 1}, .kernel = {1, kernel, 1}, .stride = {1, stride, 1}, .dilation = {1, dilation, 1},
                       .pad = {0, pad, 0}};
    int64_t first, end, taps[2], tap0[2];
    if (in + pad + pad_end <= (kernel - 1) * dilation) {
        return;
    }
    needed(&s, &first, &end);
    tn_conv_trim(&s, taps, tap0);
    assert_int_equal(taps[0], kernel);
    assert_true(s.kernel[1] >= 1 && tap0[0] >= 0 && tap0[0] + s.kernel[1] <= kernel);
    assert_int_equal(s.pad[1], pad - tap0[0] * dilation);
    if (first >= end) {
        return;
    }
    assert_true(tap0[0] <= first && tap0[0] + s.kernel[1] >= end);
    if (dilation <= in && stride <= in && pad >= first * dilation) {      // no window that reaches over x misses it
        assert_int_equal(tap0[0], first);
        assert_int_equal(s.kernel[1], end - first);
    }
}

static void trimmed_windows_keep_what_is_needed(void **unused)
{
    (void)unused;
    for (int64_t pads = 0; pads < 20 * 20; pads++) {
        for (int64_t i = 0; i < 6 * 5 * 3 * 8; i++) {
            check(i % 6 + 1, i / 6 % 5 + 1, i / 30 % 3 + 1, i / 90 + 1, pads % 20, pads / 20);
        }
    }
}

// As wide as a shape may be: the answer takes no time that grows with it.
static void wide_pads_are_trimmed_at_once(void **unused)
{
    (void)unused;
    const int64_t pad = (int64_t)1 << 60;
    tn_conv_shape s = {.in = {1, 1, 5}, .out = {1, 1, pad + 3}, .kernel = {1, 1, 3}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .pad = {0, 0, pad}};
    int64_t taps[2], tap0[2];
    tn_conv_trim(&s, taps, tap0);
    assert_int_equal(taps[1], 3);
    assert_int_equal(tap0[1], 0);
    assert_int_equal(s.kernel[2], 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trimmed_windows_keep_what_is_needed),
        cmocka_unit_test(wide_pads_are_trimmed_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
