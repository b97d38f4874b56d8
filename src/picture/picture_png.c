// SPDX-License-Identifier: Apache-2.0
// PNG through libpng, all colour types and depths, interlaced ones too. An alpha channel is left out; 16-bit samples keep their high
// byte; a gamma that the file states is not applied, because models were trained on plain samples.
// Ownership: libpng's own memory, given back. Threads: any, each call its own decoder.
#include "picture/picture.h"

#include <setjmp.h>
#include <string.h>

#include <png.h>

typedef struct source {
    tn_bytes file;
    size_t at;
} source;

static void read_bytes(png_structp png, png_bytep to, size_t bytes)
{
    source *s = png_get_io_ptr(png);
    if (bytes > s->file.size - s->at) {
        png_error(png, "end of file");
    }
    memcpy(to, s->file.data + s->at, bytes);
    s->at += bytes;
}

static void leave(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}
static void keep_quiet(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void ask_for_rgb(png_structp png)
{
    png_set_expand(png);          // palettes, and fewer than 8 bits
    png_set_strip_16(png);
    png_set_gray_to_rgb(png);
    png_set_strip_alpha(png);
}

// Between setjmp and a jump nothing of this function changes.
static const char *decode(png_structp png, png_infop info, source *s, tn_picture *picture, uint8_t *rgb)
{
    if (setjmp(png_jmpbuf(png))) {
        return "the file is broken";
    }
    png_set_read_fn(png, s, read_bytes);
    png_set_user_limits(png, TN_PICTURE_SIDE, TN_PICTURE_SIDE);
    png_read_info(png, info);
    if (!rgb) {
        picture->width = png_get_image_width(png, info);
        picture->height = png_get_image_height(png, info);
        return NULL;
    }
    ask_for_rgb(png);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)picture->width * 3 || png_get_image_height(png, info) != picture->height) {
        return "its rows have an unexpected size";
    }
    for (int pass = 0; pass < passes; pass++) {
        for (int64_t y = 0; y < picture->height; y++) {
            png_read_row(png, rgb + (size_t)y * (size_t)picture->width * 3, NULL);
        }
    }
    return NULL;
}

static const char *with_decoder(tn_bytes file, tn_picture *picture, uint8_t *rgb)
{
    source s = {file, 0};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, leave, keep_quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    const char *fault = info ? decode(png, info, &s, picture, rgb) : TN_PICTURE_NO_MEMORY;
    png_destroy_read_struct(&png, &info, NULL);
    return fault;
}

static const char *head_png(tn_bytes file, tn_picture *out) { return with_decoder(file, out, NULL); }

static const char *pixels_png(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    tn_picture same = *picture;
    (void)heap;
    return with_decoder(file, &same, rgb);
}

const tn_picture_decoder tn_picture_png = {"PNG", head_png, pixels_png};
