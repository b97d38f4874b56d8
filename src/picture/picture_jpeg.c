// SPDX-License-Identifier: Apache-2.0
// JPEG through libjpeg. Its errors end in a jump back here; warnings (a file that was cut short) leave a picture and are not told.
// Ownership: libjpeg's own memory, given back. Threads: any, each call its own decoder.
#include "picture/picture.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

typedef struct errors {
    struct jpeg_error_mgr base;
    jmp_buf back;
} errors;

static void leave(j_common_ptr info) { longjmp(((errors *)info->err)->back, 1); }
static void keep_quiet(j_common_ptr info) { (void)info; }

// Four inks to RGB in place, from the end, because a pixel shrinks. Adobe's programs write inks inverted, and nearly all files are theirs.
static void mix_inks(const uint8_t *inks, JDIMENSION width, bool inverted, uint8_t *rgb)
{
    for (JDIMENSION x = 0; x < width; x++) {
        const unsigned black = inverted ? inks[4 * x + 3] : 255u - inks[4 * x + 3];
        for (int c = 0; c < 3; c++) {
            const unsigned ink = inverted ? inks[4 * x + (JDIMENSION)c] : 255u - inks[4 * x + (JDIMENSION)c];
            rgb[3 * x + (JDIMENSION)c] = (uint8_t)((ink * black + 127) / 255);
        }
    }
}

static void read_rows(struct jpeg_decompress_struct *info, uint8_t *work, uint8_t *rgb)
{
    while (info->output_scanline < info->output_height) {
        uint8_t *to = rgb + (size_t)info->output_scanline * info->output_width * 3;
        JSAMPROW row = work ? work : to;
        jpeg_read_scanlines(info, &row, 1);
        if (work) {
            mix_inks(work, info->output_width, info->saw_Adobe_marker, to);
        }
    }
}

// Reads the head and, with rgb, the pixels. What changes between setjmp and a jump lies in *info and *picture.
static const char *decode(struct jpeg_decompress_struct *info, tn_bytes file, tn_picture *picture, uint8_t *work, uint8_t *rgb)
{
    errors err;
    memset(info, 0, sizeof *info);
    info->err = jpeg_std_error(&err.base);
    err.base.error_exit = leave;
    err.base.output_message = keep_quiet;
    if (setjmp(err.back)) {
        jpeg_destroy_decompress(info);
        return "the file is broken";
    }
    jpeg_create_decompress(info);
    jpeg_mem_src(info, file.data, (unsigned long)file.size);
    jpeg_read_header(info, TRUE);
    if (!rgb) {
        *picture = (tn_picture){info->image_width, info->image_height, picture->format};
    } else if (picture->width == info->image_width && picture->height == info->image_height) {
        const bool inks = info->num_components == 4;
        info->out_color_space = inks ? JCS_CMYK : JCS_RGB;
        jpeg_start_decompress(info);
        read_rows(info, inks ? work : NULL, rgb);
    }
    jpeg_destroy_decompress(info);
    return NULL;
}

static const char *head_jpeg(tn_bytes file, tn_picture *out)
{
    struct jpeg_decompress_struct info;
    return decode(&info, file, out, NULL, NULL);
}

static const char *pixels_jpeg(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    struct jpeg_decompress_struct info;
    tn_picture same = *picture;
    uint8_t *work = heap->take(heap->context, (size_t)picture->width * 4);
    const char *fault = work ? decode(&info, file, &same, work, rgb) : TN_PICTURE_NO_MEMORY;
    heap->give(heap->context, work);
    return fault;
}

const tn_picture_decoder tn_picture_jpeg = {"JPEG", head_jpeg, pixels_jpeg};
