// SPDX-License-Identifier: Apache-2.0
// Pictures as files: the interface of libtenon-image, a library of its own so that nobody links five decoders who has no pictures to read.
// The operator image_decoder opens it when a run meets the first picture. BMP and PNM are read by our own few lines, everything else by
// the format's usual library. The bytes come from anywhere: no number in them is trusted.
// Ownership: const data. Threads: any, each call has its own decoder.
#ifndef TN_PICTURE_H
#define TN_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_PICTURE_VERSION 1u        // of this interface; another number is another library
#define TN_PICTURE_SIDE (1 << 20)    // most pixels in a row or column

// Decoders take memory of their own in proportion to the pixels that a file claims to have, and some formats can claim any number in a
// hundred bytes. A real picture has fewer than this many pixels for its bytes (a blank one in 1-bit PNG has about 8,000).
#define TN_PICTURE_FREE_PIXELS (INT64_C(1) << 22)
#define TN_PICTURE_PIXELS_PER_BYTE 8192
#define TN_PICTURE_PIXELS (INT64_C(1) << 28)

typedef struct tn_bytes { const uint8_t *data; size_t size; } tn_bytes;

typedef struct tn_picture {
    int64_t width, height;
    const char *format;              // "JPEG"; NULL: none that is known
} tn_picture;

// Where decoders of ours take work memory from (the libraries have their own).
typedef struct tn_picture_heap {
    void *(*take)(void *context, size_t bytes);
    void (*give)(void *context, void *block);
    void *context;
} tn_picture_heap;

#define TN_PICTURE_NO_MEMORY "no memory"   // the fault that is not the file's

// Both calls return NULL, or a fixed text: what is wrong or not supported.
typedef struct tn_picture_library {
    unsigned version;                // TN_PICTURE_VERSION
    const char *(*head)(tn_bytes file, tn_picture *out);
    const char *(*pixels)(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb);   // rgb [height, width, 3]
} tn_picture_library;

#define TN_PICTURE_SYMBOL "tenon_image_library"   // the one name that the library exports: a tn_picture_library

// ---- inside the library ----

typedef struct tn_picture_decoder {
    const char *format;
    const char *(*head)(tn_bytes file, tn_picture *out);   // width and height; picture.c checks them
    const char *(*pixels)(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb);
} tn_picture_decoder;

// The decoders that were built, written by the build; ends with NULL.
extern const tn_picture_decoder *const tn_picture_decoders[];

static inline bool tn_picture_fits(int64_t width, int64_t height)
{
    return width >= 1 && width <= TN_PICTURE_SIDE && height >= 1 && height <= TN_PICTURE_SIDE;
}

#endif
