// SPDX-License-Identifier: Apache-2.0
// image_decoder and libtenon-image: the same picture in every format, all pixel formats, and files that were cut or changed, which must end
// in an error or in pixels. A format that the build has no library for must say so.
#include "support/case.h"
#include "support/unit.h"
#include "ops/image/op_image.h"
#include "ops/op_eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 19, HEIGHT = 11, LARGEST = 4096 };

static const struct {
    const char *file;
    int off;                 // levels that a sample of a lossy format may differ
} pictures[] = {
    {"slope.ppm", 0}, {"slope_text.ppm", 0}, {"slope.bmp", 0}, {"slope.png", 0}, {"slope_interlaced.png", 0}, {"slope.tiff", 0},
    {"slope.webp", 0}, {"slope.jp2", 0}, {"slope.j2k", 0}, {"slope.jpg", 24}, {"slope_progressive.jpg", 90}, {"slope_lossy.webp", 90},
};

static size_t read_file(const char *name, uint8_t *bytes)
{
    char path[128];
    snprintf(path, sizeof path, "data/pictures/%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, LARGEST, file);
    fclose(file);
    return size;
}

static int truth(int x, int y, int channel)
{
    return channel == 0 ? x * 13 % 256 : channel == 1 ? (y * 22 + x * 3) % 256 : 255 - (x + y) * 8;
}

typedef struct decoding {
    tn_heap heap;
    tn_arena arena;
    tn_diag diag;
    tn_tensor out;
} decoding;

static tn_status decode(decoding *d, uint8_t *bytes, size_t size, int format)
{
    const tn_image_attr attr = {.format = format};
    const int64_t length = (int64_t)size;
    const tn_tensor file = {.dtype = TN_U8, .shape = tn_shape_of(1, &length), .data = bytes};
    const tn_tensor *in[1] = {&file};
    memset(d, 0, sizeof *d);
    tn_heap_init(&d->heap, NULL, NULL, NULL);
    tn_arena_init(&d->arena, &d->heap);
    return tn_op_eval(&tn_op_image_decoder, &attr, "decode", in, 1, &d->out, 1, 1 << 26, &d->arena, &d->heap, &d->diag);
}

static void finish(decoding *d)
{
    tn_arena_deinit(&d->arena);
    assert_int_equal(atomic_load(&d->heap.live_blocks), 0);
}

static bool built_without(const decoding *d) { return strstr(d->diag.message, "was built without") != NULL; }

static void test_formats(void **state)
{
    static uint8_t bytes[LARGEST];
    for (size_t i = 0; i < TN_COUNT(pictures); i++) {
        decoding d;
        const size_t size = read_file(pictures[i].file, bytes);
        const tn_status status = decode(&d, bytes, size, TN_PIXEL_RGB);
        if (status != TN_OK && !built_without(&d)) {
            fail_msg("%s: %s", pictures[i].file, d.diag.message);
        }
        const uint8_t *rgb = d.out.data;
        for (int k = 0; status == TN_OK && k < WIDTH * HEIGHT * 3; k++) {
            const int want = truth(k / 3 % WIDTH, k / 3 / WIDTH, k % 3);
            if (d.out.shape.dims[0] != HEIGHT || d.out.shape.dims[1] != WIDTH || abs(rgb[k] - want) > pictures[i].off) {
                fail_msg("%s: sample %d is %d, expected %d", pictures[i].file, k, rgb[k], want);
            }
        }
        finish(&d);
    }
}

static void test_pixel_formats(void **state)
{
    static uint8_t bytes[LARGEST];
    const size_t size = read_file("slope.ppm", bytes);
    decoding bgr, gray;
    assert_int_equal(decode(&bgr, bytes, size, TN_PIXEL_BGR), TN_OK);
    assert_int_equal(((const uint8_t *)bgr.out.data)[3 * 5], truth(5, 0, 2));
    assert_int_equal(((const uint8_t *)bgr.out.data)[3 * 5 + 2], truth(5, 0, 0));
    finish(&bgr);
    assert_int_equal(decode(&gray, bytes, size, TN_PIXEL_GRAY), TN_OK);
    assert_int_equal(gray.out.shape.dims[2], 1);
    assert_int_equal(((const uint8_t *)gray.out.data)[5], (65 * 299 + 15 * 587 + 215 * 114 + 500) / 1000);
    finish(&gray);
    const size_t bits = read_file("slope.pbm", bytes);
    assert_int_equal(decode(&gray, bytes, bits, TN_PIXEL_GRAY), TN_OK);
    const uint8_t *pixels = gray.out.data;
    int white = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        assert_true(pixels[i] == 0 || pixels[i] == 255);
        white += pixels[i] == 255;
    }
    assert_true(white > 20 && white < WIDTH * HEIGHT - 20);
    finish(&gray);
}

static void test_refusals(void **state)
{
    static const char wide[] = "P6 1048577 1 255 ", huge[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x0f\0\0\0\x0f\0\0\x08\x02\0\0\0";
    uint8_t bytes[64] = "neither this nor that";
    decoding d;
    assert_int_equal(decode(&d, bytes, 20, TN_PIXEL_RGB), TN_INVALID_ARGUMENT);
    assert_non_null(strstr(d.diag.message, "format is not known"));
    assert_string_equal(d.diag.place, "decode");
    finish(&d);
    memcpy(bytes, wide, sizeof wide);
    assert_int_equal(decode(&d, bytes, sizeof wide, TN_PIXEL_RGB), TN_INVALID_ARGUMENT);
    finish(&d);
    memcpy(bytes, huge, sizeof huge);
    assert_int_equal(decode(&d, bytes, sizeof huge, TN_PIXEL_RGB), TN_INVALID_ARGUMENT);
    finish(&d);
    assert_int_equal(decode(&d, bytes, 0, TN_PIXEL_RGB), TN_INVALID_ARGUMENT);
    finish(&d);
}

// Cut at every length, then bytes changed at random: an error or a picture, nothing else, nothing left.
static void test_broken_files(void **state)
{
    static uint8_t bytes[LARGEST], copy[LARGEST];
    tn_rand r = {7};
    for (size_t i = 0; i < TN_COUNT(pictures); i++) {
        const size_t size = read_file(pictures[i].file, bytes);
        for (size_t cut = 0; cut < size; cut += size / 40 + 1) {
            decoding d;
            memcpy(copy, bytes, cut);
            (void)decode(&d, copy, cut, TN_PIXEL_RGB);
            finish(&d);
        }
        for (int round = 0; round < 120; round++) {
            decoding d;
            memcpy(copy, bytes, size);
            for (int64_t flips = tn_rand_range(&r, 1, 4); flips > 0; flips--) {
                copy[tn_rand_range(&r, 0, (int64_t)TN_MIN(size, (size_t)(round % 2 ? 120 : LARGEST)) - 1)] = (uint8_t)tn_rand_u64(&r);
            }
            (void)decode(&d, copy, size, round % 3);
            finish(&d);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formats), cmocka_unit_test(test_pixel_formats), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_broken_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
