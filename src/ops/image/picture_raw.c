// SPDX-License-Identifier: Apache-2.0
// Pictures without compression: BMP (Windows, 8 bits with palette, 24, 32) and PNM (Netpbm P2, P3, P5, P6).
// Ownership: none. Threads: any.
#include "ops/image/picture.h"

#include <string.h>

static const char too_short[] = "the file ends too early";

// ---- BMP: 14 bytes, then a header of its own size ----

typedef struct bmp {
    int64_t width, height;
    bool top_down;
    int bits;
    size_t palette, pixels, stride;
    uint32_t colours;
} bmp;

static bool is_bmp(tn_bytes file) { return file.size >= 54 && file.data[0] == 'B' && file.data[1] == 'M'; }

static const char *read_bmp(tn_bytes file, bmp *b)
{
    const uint8_t *p = file.data;
    const uint32_t header = tn_little(p + 14, 4);
    const int32_t height = (int32_t)tn_little(p + 22, 4);
    b->width = (int32_t)tn_little(p + 18, 4);
    b->height = height < 0 ? -(int64_t)height : height;
    b->top_down = height < 0;
    b->bits = (int)tn_little(p + 28, 2);
    b->pixels = tn_little(p + 10, 4);
    b->colours = tn_little(p + 46, 4);
    b->palette = (size_t)14 + header;
    if (header < 40 || tn_little(p + 30, 4) != 0 || (b->bits != 8 && b->bits != 24 && b->bits != 32)) {
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

static const char *head_bmp(tn_bytes file, tn_heap *heap, tn_picture *out)
{
    bmp b;
    (void)heap;
    const char *fault = read_bmp(file, &b);
    *out = (tn_picture){b.width, b.height};
    return fault;
}

static const char *pixels_bmp(tn_bytes file, tn_heap *heap, const tn_picture *picture, uint8_t *rgb)
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

const tn_picture_reader tn_picture_bmp = {"BMP", is_bmp, head_bmp, pixels_bmp};

// ---- PNM: "P6", width, height and largest value as text, then samples ----

static bool is_pnm(tn_bytes file)
{
    return file.size >= 3 && file.data[0] == 'P' && strchr("2356", file.data[1]) && file.data[1] && strchr(" \t\r\n#", file.data[2]);
}

// The next number of the text; -1: there is none. Comments run from # to the end of the line.
static int64_t next_number(tn_bytes file, size_t *at)
{
    bool comment = false;
    while (*at < file.size && (comment || strchr(" \t\r\n\v\f#", file.data[*at])) && file.data[*at]) {
        comment = file.data[*at] == '#' || (comment && file.data[*at] != '\n');
        ++*at;
    }
    int64_t v = -1;
    for (; *at < file.size && file.data[*at] >= '0' && file.data[*at] <= '9' && v < TN_PICTURE_SIDE; ++*at) {
        v = (v < 0 ? 0 : v) * 10 + (file.data[*at] - '0');
    }
    return v;
}

static const char *read_pnm(tn_bytes file, tn_picture *out, int64_t *most, size_t *at)
{
    *at = 2;
    out->width = next_number(file, at);
    out->height = next_number(file, at);
    *most = next_number(file, at);
    ++*at;   // one white space
    return !tn_picture_fits(out->width, out->height) || *most < 1 || *most > 255 ? "the size or the largest value is out of range" : NULL;
}

static const char *head_pnm(tn_bytes file, tn_heap *heap, tn_picture *out)
{
    int64_t most;
    size_t at;
    (void)heap;
    const char *fault = read_pnm(file, out, &most, &at);
    const size_t samples = (size_t)out->width * (size_t)out->height;   // a sample takes a byte or more
    return fault ? fault : at > file.size || file.size - at < samples ? too_short : NULL;
}

static const char *pixels_pnm(tn_bytes file, tn_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    tn_picture again;
    int64_t most;
    size_t at;
    (void)heap;
    const char *fault = read_pnm(file, &again, &most, &at);
    const bool text = file.data[1] == '2' || file.data[1] == '3', colour = file.data[1] == '3' || file.data[1] == '6';
    for (int64_t i = 0; !fault && i < picture->width * picture->height; i++, rgb += 3) {
        for (int c = 0; c < (colour ? 3 : 1); c++) {
            const int64_t v = text ? next_number(file, &at) : at < file.size ? file.data[at++] : -1;
            if (v < 0) {
                return too_short;
            }
            rgb[c] = (uint8_t)((v > most ? most : v) * 255 / most);
        }
        if (!colour) {
            rgb[1] = rgb[2] = rgb[0];
        }
    }
    return fault;
}

const tn_picture_reader tn_picture_pnm = {"PNM", is_pnm, head_pnm, pixels_pnm};
