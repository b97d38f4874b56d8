// SPDX-License-Identifier: Apache-2.0
// Content types against their scalar definition: sizes and places by hand, then buffer_to_image and image_to_buffer over random shapes
// on the OpenCL device of this machine, in images and in buffers, each texel lane compared. Without a device the latter are skipped.
#include "support/unit.h"

#include "exec/opencl/cl_flow.h"
#include "support/case.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tn_heap heap;
static tn_cl_context *device;
static char absent[160];

static int open_device(void **state)
{
    tn_cl_driver driver;
    tn_diag diag = {.status = TN_OK};
    tn_cpu cpu;
    const char *reason = "";
    (void)state;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cpu_detect(&cpu);
    if (!tn_cl_driver_open(&driver, &reason) || tn_cl_context_open(&device, &driver, &heap, &cpu, &diag) != TN_OK) {
        (void)snprintf(absent, sizeof absent, "no OpenCL device: %s %.100s", reason, diag.message);
    }
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    tn_cl_context_close(device);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
    return 0;
}

static void need_device(void)
{
    if (!device) {
        print_message("%s\n", absent);
        skip();
    }
}

// ---- the scalar definition ----

static void sizes(void **state)
{
    static const struct { tn_cl_content content; int64_t dims[4]; size_t width, height; } wanted[] = {
        {TN_CL_CONV2D_FILTER, {10, 3, 5, 7}, 3, 5 * 7 * 3},   {TN_CL_IN_OUT_CHANNEL, {2, 6, 4, 5}, 2 * 5, 2 * 4},
        {TN_CL_ARGUMENT, {9, 1, 1, 1}, 3, 1},                  {TN_CL_IN_OUT_HEIGHT, {2, 6, 5, 7}, 7 * 6, 2 * 2},
        {TN_CL_IN_OUT_WIDTH, {2, 6, 5, 7}, 2 * 6, 2 * 5},      {TN_CL_WINOGRAD_FILTER, {10, 6, 3, 3}, 2, 10 * 16},
        {TN_CL_DW_CONV2D_FILTER, {10, 1, 3, 5}, 15, 3},        {TN_CL_WEIGHT_HEIGHT, {10, 3, 5, 7}, 3 * 35, 3},
        {TN_CL_WEIGHT_WIDTH, {10, 6, 5, 7}, 2 * 35, 10},
    };
    size_t width, height;
    (void)state;
    for (size_t i = 0; i < TN_COUNT(wanted); i++) {
        assert_true(tn_cl_content_size(wanted[i].content, wanted[i].dims, 2, &width, &height));
        assert_int_equal(width, wanted[i].width);
        assert_int_equal(height, wanted[i].height);
    }
    const int64_t trailing[4] = {4, 2, 1, 1}, five[4] = {4, 4, 5, 5}, huge[4] = {1 << 30, 1 << 30, 1 << 30, 1 << 30}, negative[4] = {1, -1, 1, 1};
    assert_false(tn_cl_content_size(TN_CL_ARGUMENT, trailing, 0, &width, &height));
    assert_false(tn_cl_content_size(TN_CL_WINOGRAD_FILTER, five, 2, &width, &height));
    assert_false(tn_cl_content_size(TN_CL_DW_CONV2D_FILTER, five, 0, &width, &height));
    assert_false(tn_cl_content_size(TN_CL_IN_OUT_CHANNEL, huge, 0, &width, &height));
    assert_false(tn_cl_content_size(TN_CL_IN_OUT_CHANNEL, negative, 0, &width, &height));
}

// Every element of the tensor has exactly one place.
static void places(void **state)
{
    const int64_t dims[4] = {3, 6, 5, 7}, list[4] = {9, 1, 1, 1}, depthwise[4] = {10, 1, 3, 5};
    (void)state;
    for (int content = 0; content < TN_CL_CONTENT_COUNT; content++) {
        const int64_t *d = content == TN_CL_ARGUMENT ? list : content == TN_CL_DW_CONV2D_FILTER ? depthwise : dims;
        int seen[3 * 6 * 5 * 7] = {0};
        size_t width, height;
        if (content == TN_CL_WINOGRAD_FILTER) {
            continue;
        }
        assert_true(tn_cl_content_size((tn_cl_content)content, d, 0, &width, &height));
        for (size_t i = 0; i < width * height * 4; i++) {
            const int64_t at = tn_cl_content_index((tn_cl_content)content, d, i / 4 % width, i / 4 / width, (int)(i % 4));
            if (at >= 0) {
                assert_true(at < d[0] * d[1] * d[2] * d[3]);
                seen[at]++;
            }
        }
        for (int64_t i = 0; i < d[0] * d[1] * d[2] * d[3]; i++) {
            assert_int_equal(seen[i], 1);
        }
    }
    const int64_t at[4] = {2, 6, 4, 5};   // n 1, c 5, h 3, w 2 of [2, 6, 4, 5]
    assert_int_equal(tn_cl_content_index(TN_CL_IN_OUT_CHANNEL, at, 1 * 5 + 2, 1 * 4 + 3, 1), ((1 * 6 + 5) * 4 + 3) * 5 + 2);
    assert_int_equal(tn_cl_content_index(TN_CL_IN_OUT_CHANNEL, at, 1 * 5 + 2, 1 * 4 + 3, 2), -1);
}

static void inverse(void **state)
{
    (void)state;
    for (int block = 2; block <= 6; block += 2) {
        double left[3][8];
        assert_true(tn_cl_winograd_inverse(block, left));
        for (int i = 0; i < 9; i++) {
            double sum = 0;
            for (int r = 0; r < block + 2; r++) {
                sum += left[i / 3][r] * (double)tn_cl_winograd_row(block, r)[i % 3];
            }
            assert_true(fabs(sum - (i / 3 == i % 3)) < 1e-6);
        }
    }
}

// ---- the kernels ----

typedef struct trip {
    tn_cl_content content;
    tn_cl_element element;
    int block;
    int64_t dims[4];
    size_t count;             // elements of the tensor
    float *in, *out;          // or int32, or bytes
    uint8_t *texels;
    size_t width, height;
} trip;

static size_t plain_size(const trip *t) { return t->element == TN_CL_U8 ? 1 : 4; }

// Plain to grid and back; the grid's texels are read too.
static void go(trip *t)
{
    tn_cl_build b;
    tn_cl_flow *flow;
    tn_diag diag = {.status = TN_OK};
    const size_t bytes = t->count * plain_size(t), texel = 4 * tn_cl_element_bytes(t->element);
    assert_int_equal(tn_cl_build_open(&b, device, NULL, &diag), TN_OK);
    tn_cl_mem *plain = tn_cl_upload(&b, t->in, bytes), *back = tn_cl_pin_plain(&b, bytes);
    b.once = true;
    tn_cl_mem *grid = tn_cl_take_grid(&b, t->element, t->width, t->height);
    tn_cl_to_grid(&b, t->content, t->dims, t->block, plain, grid);
    tn_cl_to_plain(&b, t->content, t->dims, t->block, grid, back);
    if (b.status != TN_OK) {
        fail_msg("%s: %s", tn_cl_content_text(t->content), diag.message);
    }
    t->texels = calloc(t->width * t->height, texel);
    const size_t origin[3] = {0, 0, 0}, region[3] = {t->width, t->height, 1};
    if (grid->image) {
        assert_int_equal(device->driver.EnqueueReadImage(device->queue, grid->handle, CL_TRUE, origin, region, 0, 0, t->texels, 0, NULL, NULL), 0);
    } else {
        assert_int_equal(device->driver.EnqueueReadBuffer(device->queue, grid->handle, CL_TRUE, 0, t->width * t->height * texel, t->texels, 0,
                                                          NULL, NULL), 0);
    }
    assert_int_equal(device->driver.EnqueueReadBuffer(device->queue, back->handle, CL_TRUE, 0, bytes, t->out, 0, NULL, NULL), 0);
    assert_int_equal(tn_cl_build_close(&b, &flow), TN_OK);
    tn_cl_flow_release(flow);
}

static double lane_value(const trip *t, size_t i)
{
    switch (t->element) {
    case TN_CL_F32: return (double)tn_load_f32(t->texels, i);
    case TN_CL_F16: {
        uint16_t half;
        memcpy(&half, t->texels + 2 * i, sizeof half);
        return (double)tn_f16_to_f32(half);
    }
    case TN_CL_I32: return (double)tn_load_i32(t->texels, i);
    default: return (double)t->texels[i];
    }
}

static double plain_value(const trip *t, const void *data, size_t i)
{
    return t->element == TN_CL_U8    ? (double)((const uint8_t *)data)[i]
           : t->element == TN_CL_I32 ? (double)tn_load_i32(data, i)
           : t->element == TN_CL_F16 ? (double)tn_f16_to_f32(tn_f16_from_f32(tn_load_f32(data, i)))
                                     : (double)tn_load_f32(data, i);
}

// Drivers may cut numbers that an image keeps as halves instead of rounding them, which OpenCL allows; buffers are ours to round.
static bool is_kept(const trip *t, double got, double want)
{
    const bool cut = t->element == TN_CL_F16 && !device->buffers_only;
    return cut ? fabs(got - want) <= fabs(want) / 1024 + 6e-8 : got == want;
}

static void check(const trip *t)
{
    for (size_t i = 0; i < t->width * t->height * 4 && t->content != TN_CL_WINOGRAD_FILTER; i++) {
        const int64_t at = tn_cl_content_index(t->content, t->dims, i / 4 % t->width, i / 4 / t->width, (int)(i % 4));
        const double want = at < 0 ? 0 : plain_value(t, t->in, (size_t)at);
        if (!is_kept(t, lane_value(t, i), want)) {
            fail_msg("%s [%d %d %d %d] element kind %d: texel lane %zu holds %g, expected %g", tn_cl_content_text(t->content), (int)t->dims[0],
                     (int)t->dims[1], (int)t->dims[2], (int)t->dims[3], (int)t->element, i, lane_value(t, i), want);
        }
    }
    const double near = t->content == TN_CL_WINOGRAD_FILTER ? (t->element == TN_CL_F16 ? 2e-2 : 1e-5) : 0;
    for (size_t i = 0; i < t->count; i++) {
        const double got = plain_value(t, t->out, i), want = plain_value(t, t->in, i);
        if (!(fabs(got - want) <= near) && !is_kept(t, got, want)) {
            fail_msg("%s: element %zu came back as %g, was %g", tn_cl_content_text(t->content), i, got, want);
        }
    }
}

static void one_trip(tn_rand *r, tn_cl_content content, tn_cl_element element)
{
    trip t = {.content = content, .element = element, .block = (int)tn_rand_range(r, 1, 3) * 2};
    t.count = 1;
    for (int d = 0; d < 4; d++) {
        t.dims[d] = content == TN_CL_WINOGRAD_FILTER && d > 1                         ? 3
                    : (content == TN_CL_ARGUMENT && d) || (content == TN_CL_DW_CONV2D_FILTER && d == 1) ? 1
                                                                                      : tn_rand_range(r, 1, d < 2 ? 11 : 6);
        t.count *= (size_t)t.dims[d];
    }
    assert_true(tn_cl_content_size(content, t.dims, t.block, &t.width, &t.height));
    t.in = calloc(t.count + 1, 4);
    t.out = calloc(t.count + 1, 4);
    for (size_t i = 0; i < t.count; i++) {
        const int32_t whole = (int32_t)tn_rand_u64(r);
        const float real = (float)tn_rand_real(r, -1, 1);
        memcpy((uint8_t *)t.in + i * plain_size(&t), element == TN_CL_F32 || element == TN_CL_F16 ? (const void *)&real : &whole, plain_size(&t));
    }
    go(&t);
    check(&t);
    free(t.in);
    free(t.out);
    free(t.texels);
}

static void trips(void **state)
{
    (void)state;
    need_device();
    for (int buffers = 0; buffers < 2; buffers++) {
        device->buffers_only = buffers;
        for (int content = 0; content < TN_CL_CONTENT_COUNT; content++) {
            for (int element = 0; element < TN_CL_ELEMENT_COUNT; element++) {
                tn_rand r = {(uint64_t)(content * 16 + element) + 1};
                const bool whole = element == TN_CL_I32 || element == TN_CL_U8;
                // Drivers compile one program for each kind; shapes are arguments, so more shapes cost nothing.
                for (int i = 0; i < 8 && !(whole && content == TN_CL_WINOGRAD_FILTER) && !(buffers && element != TN_CL_F32 && content > 1); i++) {
                    one_trip(&r, (tn_cl_content)content, (tn_cl_element)element);
                }
            }
        }
    }
    device->buffers_only = false;
}

// A write outside a grid is seen in check mode.
static void checked(void **state)
{
    (void)state;
    need_device();
    device->checked = true;
    tn_rand r = {7};
    one_trip(&r, TN_CL_IN_OUT_CHANNEL, TN_CL_F32);
    device->checked = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes), cmocka_unit_test(places), cmocka_unit_test(inverse), cmocka_unit_test(trips), cmocka_unit_test(checked),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
