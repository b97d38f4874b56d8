// SPDX-License-Identifier: Apache-2.0
// TIFF through libtiff: the first picture of a file, in any colour space, compression, tiling and depth that libtiff turns into RGBA;
// rows from the top, alpha left out. Messages of libtiff go nowhere: the handlers belong to this one file, not to the process.
// Ownership: libtiff's own memory, given back. Threads: any, each call its own decoder.
#include "picture/picture.h"

#include <string.h>

#include <tiffio.h>

typedef struct source {
    tn_bytes file;
    size_t at;
} source;

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t bytes)
{
    source *s = handle;
    const size_t left = s->at < s->file.size ? s->file.size - s->at : 0;
    const size_t count = bytes < 0 ? 0 : (size_t)bytes < left ? (size_t)bytes : left;
    memcpy(to, s->file.data + (count ? s->at : 0), count);
    s->at += count;
    return (tmsize_t)count;
}

static tmsize_t write_nothing(thandle_t handle, void *from, tmsize_t bytes)
{
    (void)handle, (void)from, (void)bytes;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence)
{
    source *s = handle;
    const toff_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s->at : s->file.size;
    s->at = (size_t)(from + offset);   // anywhere: reading looks at where it is
    return s->at;
}

static int close_nothing(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((source *)handle)->file.size; }

// Stops libtiff from telling the process's handler as well.
static int keep_quiet(TIFF *tiff, void *context, const char *module, const char *format, va_list arguments)
{
    (void)tiff, (void)context, (void)module, (void)format, (void)arguments;
    return 1;
}

static TIFF *open_tiff(source *s)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) {
        return NULL;
    }
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_quiet, NULL);
    TIFFOpenOptionsSetWarningHandlerExtR(options, keep_quiet, NULL);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)TN_PICTURE_PIXELS * 4);
    TIFF *tiff = TIFFClientOpenExt("picture", "rm", s, read_bytes, write_nothing, seek, close_nothing, size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

static const char *head_tiff(tn_bytes file, tn_picture *out)
{
    source s = {file, 0};
    uint32_t width = 0, height = 0;
    char text[1024];
    TIFF *tiff = open_tiff(&s);
    if (!tiff) {
        return "the file is broken";
    }
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    const bool readable = TIFFRGBAImageOK(tiff, text);
    TIFFClose(tiff);
    out->width = width;
    out->height = height;
    return readable ? NULL : "a kind of TIFF that is not supported";
}

static const char *pixels_tiff(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    const size_t count = (size_t)picture->width * (size_t)picture->height;
    source s = {file, 0};
    uint32_t *raster = heap->take(heap->context, count * sizeof *raster);
    TIFF *tiff = raster ? open_tiff(&s) : NULL;
    const char *fault = !raster ? TN_PICTURE_NO_MEMORY : !tiff ? "the file is broken" : NULL;
    if (tiff) {
        if (!TIFFReadRGBAImageOriented(tiff, (uint32_t)picture->width, (uint32_t)picture->height, raster, ORIENTATION_TOPLEFT, 1)) {
            fault = "the file is broken";
        }
        TIFFClose(tiff);
    }
    for (size_t i = 0; i < count && !fault; i++) {
        rgb[3 * i] = (uint8_t)TIFFGetR(raster[i]);
        rgb[3 * i + 1] = (uint8_t)TIFFGetG(raster[i]);
        rgb[3 * i + 2] = (uint8_t)TIFFGetB(raster[i]);
    }
    heap->give(heap->context, raster);
    return fault;
}

const tn_picture_decoder tn_picture_tiff = {"TIFF", head_tiff, pixels_tiff};
