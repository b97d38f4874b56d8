// SPDX-License-Identifier: Apache-2.0
// BMP without compression (Windows): 8 bits with palette, 24 and 32 bits.
// Ownership: none. Threads: any.
#include "picture/picture.h"

#include <string.h>

static const char too_short[] = "the file ends too early";

// 14 bytes, then a header of its own size.
typedef struct bmp {
    int64_t width, height;
    bool top_down;
    int bits;
    size_t palette, pixels, stride;
    uint32_t colours;
} bmp;

// A number of 2 or 4 bytes at a place that the caller has checked.
static uint32_t little(const uint8_t *p, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes; i-- > 0;) {
        v = v << 8 | p[i];
    }
    return v;
}

static const char *read_bmp(tn_bytes file, bmp *b)
{
    const uint8_t *p = file.data;
    if (file.size < 54) {
        return too_short;
    }
    const uint32_t header = little(p + 14, 4);
    const int32_t height = (int32_t)little(p + 22, 4);
    b->width = (int32_t)little(p + 18, 4);
    b->height = height < 0 ? -(int64_t)height : height;
    b->top_down = height < 0;
    b->bits = (int)little(p + 28, 2);
    b->pixels = little(p + 10, 4);
    b->colours = little(p + 46, 4);
    b->palette = (size_t)14 + header;
    if (header < 40 || little(p + 30, 4) != 0 || (b->bits != 8 && b->bits != 24 && b->bits != 32)) {
        return "a kind of BMP that is not supported";
    }
    if (!tn_picture_fits(b->width, b->height)) {
        return "the size is out of range";
    }
    b->stride = ((size_t)b->width * (size_t)b->bits / 8 + 3) & ~(size_t)3;
    b->colours = b->colours == 0 || b->colours > 256 ? 256 : b->colours;
    const size_t room = file.size > b->pixels ? file.size - b->pixels : 0;
    const bool palette_fits = b->bits != 8 || (b->palette <= file.size && file.size - b->palette >= (size_t)b->colours * 4);
    return room / b->stride < (size_t)b->height || !palette_fits ? too_short : NULL;
}

static const char *head_bmp(tn_bytes file, tn_picture *out)
{
    bmp b = {0};
    const char *fault = read_bmp(file, &b);
    out->width = b.width;
    out->height = b.height;
    return fault;
}

static const char *pixels_bmp(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    bmp b;
    (void)heap;
    (void)picture;
    const char *fault = read_bmp(file, &b);
    for (int64_t y = 0; !fault && y < b.height; y++) {
        const uint8_t *row = file.data + b.pixels + (size_t)(b.top_down ? y : b.height - 1 - y) * b.stride;
        for (int64_t x = 0; x < b.width; x++, rgb += 3) {
            const uint8_t *bgr = b.bits == 8 ? file.data + b.palette + 4 * (size_t)(row[x] < b.colours ? row[x] : 0) : row + x * b.bits / 8;
            rgb[0] = bgr[2];
            rgb[1] = bgr[1];
            rgb[2] = bgr[0];
        }
    }
    return fault;
}

const tn_picture_decoder tn_picture_bmp = {"BMP", head_bmp, pixels_bmp};
