// SPDX-License-Identifier: Apache-2.0
// TIFF 6.0: the first picture of a file, in strips, 8 bits a sample, grey or RGB, not compressed.
// Ownership: none. Threads: any.
#include "ops/image/picture.h"

#include <string.h>

typedef struct tiff {
    tn_bytes file;
    bool big;
    uint32_t width, height, photometric, samples, rows_per_strip;
    size_t strips, n_strips;     // where their offsets are
    int strip_bytes;             // of one offset: 2 or 4
} tiff;

static bool is_tiff(tn_bytes file)
{
    return file.size >= 8 && (memcmp(file.data, "II*\0", 4) == 0 || memcmp(file.data, "MM\0*", 4) == 0);
}

static uint32_t number(const tiff *t, size_t at, int bytes)
{
    return t->big ? tn_big(t->file.data + at, bytes) : tn_little(t->file.data + at, bytes);
}

// An entry: tag, type (3 short, 4 long), count, value or where the values are. NULL or what is not supported.
static const char *read_entry(tiff *t, size_t at)
{
    const uint32_t tag = number(t, at, 2), type = number(t, at + 2, 2), count = number(t, at + 4, 4);
    const int bytes = type == 3 ? 2 : 4;
    const size_t where = (size_t)count * (size_t)bytes <= 4 ? at + 8 : number(t, at + 8, 4);
    if ((type != 3 && type != 4) || count == 0) {
        return NULL;   // nothing that is needed
    }
    if (where > t->file.size || (t->file.size - where) / (size_t)bytes < count) {
        return "an entry lies outside the file";
    }
    const uint32_t value = number(t, where, bytes);
    switch (tag) {
    case 256: t->width = value; return NULL;
    case 257: t->height = value; return NULL;
    case 258:
        for (uint32_t i = 0; i < count; i++) {
            if (number(t, where + i * (size_t)bytes, bytes) != 8) {
                return "samples that do not have 8 bits";
            }
        }
        return NULL;
    case 259: return value == 1 ? NULL : "compressed TIFF is not supported";
    case 262: t->photometric = value; return value <= 2 ? NULL : "a colour space that is not supported";
    case 273: t->strips = where; t->n_strips = count; t->strip_bytes = bytes; return NULL;
    case 277: t->samples = value; return NULL;
    case 278: t->rows_per_strip = value; return NULL;
    case 284: return value == 1 ? NULL : "planes are not supported";
    case 322: return "tiles are not supported";
    default: return NULL;
    }
}

static const char *read_tiff(tn_bytes file, tiff *t)
{
    *t = (tiff){.file = file, .big = file.data[0] == 'M', .samples = 1, .rows_per_strip = UINT32_MAX, .photometric = UINT32_MAX};
    const size_t at = number(t, 4, 4);
    if (at > file.size || file.size - at < 2 || (file.size - at - 2) / 12 < number(t, at, 2)) {
        return "the file ends too early";
    }
    const uint32_t entries = number(t, at, 2);
    for (uint32_t i = 0; i < entries; i++) {
        const char *fault = read_entry(t, at + 2 + 12 * (size_t)i);
        if (fault) {
            return fault;
        }
    }
    if (!tn_picture_fits(t->width, t->height) || t->samples < (t->photometric == 2 ? 3u : 1u) || t->samples > 16 || t->rows_per_strip == 0 ||
        t->photometric > 2) {
        return "the size or the number of samples is out of range";
    }
    const uint32_t rows = t->rows_per_strip < t->height ? t->rows_per_strip : t->height;
    t->rows_per_strip = rows;
    if (t->n_strips < (t->height + rows - 1) / rows || file.size / t->samples / t->width < 1) {
        return "the file ends too early";
    }
    return NULL;
}

static const char *head_tiff(tn_bytes file, tn_heap *heap, tn_picture *out)
{
    tiff t;
    (void)heap;
    const char *fault = read_tiff(file, &t);
    *out = (tn_picture){t.width, t.height};
    // Strips may overlap, but a picture much larger than its file is none.
    return fault ? fault : (size_t)t.width * t.height * t.samples > file.size ? "the file ends too early" : NULL;
}

static const char *pixels_tiff(tn_bytes file, tn_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    tiff t;
    (void)heap;
    (void)picture;
    const char *fault = read_tiff(file, &t);
    for (uint32_t y = 0; !fault && y < t.height; y++) {
        const size_t stride = (size_t)t.width * t.samples;
        const size_t start = number(&t, t.strips + y / t.rows_per_strip * (size_t)t.strip_bytes, t.strip_bytes);
        const size_t skip = y % t.rows_per_strip * stride;
        if (start > file.size || file.size - start < skip || file.size - start - skip < stride) {
            return "a strip lies outside the file";
        }
        const uint8_t *row = file.data + start + skip;
        for (uint32_t x = 0; x < t.width; x++, rgb += 3, row += t.samples) {
            for (int c = 0; c < 3; c++) {
                const uint8_t v = row[t.photometric == 2 ? c : 0];
                rgb[c] = t.photometric == 0 ? (uint8_t)(255 - v) : v;
            }
        }
    }
    return fault;
}

const tn_picture_reader tn_picture_tiff = {"TIFF", is_tiff, head_tiff, pixels_tiff};
