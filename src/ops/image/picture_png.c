// SPDX-License-Identifier: Apache-2.0
// PNG (ISO/IEC 15948): all colour types and depths, not interlaced. An alpha channel is left out; 16-bit samples keep their high byte.
// Ownership: work memory is given back. Threads: any.
#include "ops/image/picture.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>

typedef struct png {
    int64_t width, height;
    int depth, colour;           // colour type: bits 1 palette, 2 colour, 4 alpha
    const uint8_t *palette;
    size_t n_palette;
    size_t packed;               // bytes of all IDAT chunks
} png;

static bool is_png(tn_bytes file) { return file.size >= 33 && memcmp(file.data, "\x89PNG\r\n\x1a\n", 8) == 0; }

static int channels(const png *p) { return p->colour == 3 ? 1 : (p->colour & 2 ? 3 : 1) + (p->colour & 4 ? 1 : 0); }

// Goes through the chunks (length, type, data, checksum); with `to`, joins the packed data there.
static const char *read_chunks(tn_bytes file, png *p, uint8_t *to)
{
    size_t at = 8;
    p->packed = 0;
    while (file.size - at >= 12) {
        const size_t length = tn_big(file.data + at, 4);
        const uint8_t *type = file.data + at + 4, *data = type + 4;
        if (length > file.size - at - 12) {
            break;
        }
        if (memcmp(type, "PLTE", 4) == 0) {
            p->palette = data;
            p->n_palette = length / 3;
        } else if (memcmp(type, "IDAT", 4) == 0) {
            if (to) {
                memcpy(to + p->packed, data, length);
            }
            p->packed += length;
        } else if (memcmp(type, "IEND", 4) == 0) {
            return NULL;
        }
        at += length + 12;
    }
    return p->packed > 0 ? NULL : "the file ends too early";
}

static const char *read_head(tn_bytes file, png *p)
{
    const uint8_t *h = file.data + 16;
    *p = (png){.width = tn_big(h, 4), .height = tn_big(h + 4, 4), .depth = h[8], .colour = h[9]};
    const bool known = p->colour == 0 || p->colour == 2 || p->colour == 3 || p->colour == 4 || p->colour == 6;
    const bool depth = p->depth == 8 || (p->depth == 16 && p->colour != 3) ||
                       ((p->depth == 1 || p->depth == 2 || p->depth == 4) && (p->colour == 0 || p->colour == 3));
    if (memcmp(file.data + 12, "IHDR", 4) != 0 || !known || !depth || h[10] || h[11]) {
        return "a kind of PNG that is not supported";
    }
    if (h[12]) {
        return "interlaced PNG is not supported";
    }
    return tn_picture_fits(p->width, p->height) ? NULL : "the size is out of range";
}

static size_t row_bytes(const png *p) { return ((size_t)p->width * (size_t)(channels(p) * p->depth) + 7) / 8; }

// Packed data grow at most 1032 times: a file that is too small for its size is found before anything is allocated.
static const char *head_png(tn_bytes file, tn_heap *heap, tn_picture *out)
{
    png p;
    (void)heap;
    const char *fault = read_head(file, &p);
    fault = fault ? fault : read_chunks(file, &p, NULL);
    *out = (tn_picture){p.width, p.height};
    return fault ? fault : (row_bytes(&p) + 1) * (size_t)p.height / 1032 > p.packed ? "the file is too small for its size" : NULL;
}

static int nearest(int left, int up, int corner)
{
    const int a = abs(up - corner), b = abs(left - corner), c = abs(left + up - 2 * corner);
    return a <= b && a <= c ? left : b <= c ? up : corner;
}

// Undoes the filter of one row; before is the row above (all zeros for the first).
static bool unfilter(int kind, uint8_t *row, const uint8_t *before, size_t bytes, size_t step)
{
    for (size_t i = 0; i < bytes; i++) {
        const int left = i >= step ? row[i - step] : 0, up = before[i], corner = i >= step ? before[i - step] : 0;
        const int guess = kind == 1 ? left : kind == 2 ? up : kind == 3 ? (left + up) / 2 : kind == 4 ? nearest(left, up, corner) : 0;
        row[i] = (uint8_t)(row[i] + guess);
    }
    return kind <= 4;
}

// Sample i of a row.
static int sample(const png *p, const uint8_t *row, size_t i)
{
    if (p->depth >= 8) {
        return row[i * (size_t)(p->depth / 8)];
    }
    const size_t bit = i * (size_t)p->depth;
    return row[bit / 8] >> (8 - p->depth - (int)(bit % 8)) & ((1 << p->depth) - 1);
}

static void write_row(const png *p, const uint8_t *row, uint8_t *rgb)
{
    const int n = channels(p);
    for (int64_t x = 0; x < p->width; x++, rgb += 3) {
        const size_t first = (size_t)x * (size_t)n;
        int v = sample(p, row, first);
        if (p->colour == 3) {
            for (int c = 0; c < 3; c++) {
                rgb[c] = (size_t)v < p->n_palette ? p->palette[3 * v + c] : 0;
            }
            continue;
        }
        v = p->depth < 8 ? v * 255 / ((1 << p->depth) - 1) : v;
        rgb[0] = (uint8_t)v;
        rgb[1] = p->colour & 2 ? (uint8_t)sample(p, row, first + 1) : rgb[0];
        rgb[2] = p->colour & 2 ? (uint8_t)sample(p, row, first + 2) : rgb[0];
    }
}

static const char *pixels_png(tn_bytes file, tn_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    png p;
    size_t rows, bytes;
    const char *fault = read_head(file, &p);
    fault = fault ? fault : read_chunks(file, &p, NULL);
    const size_t row = row_bytes(&p);
    if (fault || !tn_mul_size(row + 1, (size_t)picture->height, &rows) || !tn_add_size(rows, p.packed + row, &bytes)) {
        return fault ? fault : "the size is out of range";
    }
    uint8_t *work = tn_take(heap, bytes);   // rows with their filters, packed data, a row of zeros
    if (!work) {
        return "no memory";
    }
    uint8_t *packed = work + rows, *before = packed + p.packed;
    memset(before, 0, row);
    fault = read_chunks(file, &p, packed);
    fault = fault ? fault : tn_inflate((tn_bytes){packed, p.packed}, work, rows);
    for (int64_t y = 0; !fault && y < picture->height; y++) {
        uint8_t *line = work + (size_t)y * (row + 1);
        const size_t step = (size_t)(channels(&p) * p.depth + 7) / 8;
        fault = unfilter(line[0], line + 1, before, row, step) ? NULL : "a row with an unknown filter";
        write_row(&p, line + 1, rgb + (size_t)y * (size_t)p.width * 3);
        before = line + 1;
    }
    tn_give(heap, work);
    return fault;
}

const tn_picture_reader tn_picture_png = {"PNG", is_png, head_png, pixels_png};
