// SPDX-License-Identifier: Apache-2.0
// Readers of picture files, one per format. The bytes come from anywhere: readers trust no number in them, and write only what the
// size that they have told has room for.
// Ownership: const data. Threads: any.
#ifndef TN_PICTURE_H
#define TN_PICTURE_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_PICTURE_SIDE (1 << 20)   // most pixels in a row or column

typedef struct tn_bytes { const uint8_t *data; size_t size; } tn_bytes;
typedef struct tn_picture { int64_t width, height; } tn_picture;   // 1 .. TN_PICTURE_SIDE

// Both return NULL, or a fixed text: what is wrong or not supported.
typedef struct tn_picture_reader {
    const char *name;
    bool (*is)(tn_bytes file);                                                             // by the first bytes
    const char *(*head)(tn_bytes file, tn_heap *heap, tn_picture *out);
    const char *(*pixels)(tn_bytes file, tn_heap *heap, const tn_picture *picture, uint8_t *rgb);   // rgb [height, width, 3]
} tn_picture_reader;

extern const tn_picture_reader tn_picture_bmp;
extern const tn_picture_reader tn_picture_pnm;
extern const tn_picture_reader tn_picture_png;
extern const tn_picture_reader tn_picture_tiff;
extern const tn_picture_reader tn_picture_jpeg;
extern const tn_picture_reader tn_picture_webp;

// Unpacks a zlib stream (RFC 1950, 1951) of exactly `bytes` bytes; more are left out. NULL or what is wrong.
const char *tn_inflate(tn_bytes stream, uint8_t *to, size_t bytes);

static inline bool tn_picture_fits(int64_t width, int64_t height)
{
    return width >= 1 && width <= TN_PICTURE_SIDE && height >= 1 && height <= TN_PICTURE_SIDE;
}

// Little-endian and big-endian numbers at a place that the caller has checked.
static inline uint32_t tn_little(const uint8_t *p, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes; i-- > 0;) {
        v = v << 8 | p[i];
    }
    return v;
}
static inline uint32_t tn_big(const uint8_t *p, int bytes)
{
    uint32_t v = 0;
    for (int i = 0; i < bytes; i++) {
        v = v << 8 | p[i];
    }
    return v;
}

#endif
