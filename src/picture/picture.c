// SPDX-License-Identifier: Apache-2.0
// What libtenon-image exports: the first bytes tell the format, its decoder the size, which is held against the limits before any
// decoder takes memory for pixels.
// Ownership: const data. Threads: any.
#include "picture/picture.h"

#include <string.h>

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

// ---- formats by their first bytes ----

static bool begins(tn_bytes file, size_t at, const char *with, size_t length)
{
    return file.size >= at + length && memcmp(file.data + at, with, length) == 0;
}

static bool is_bmp(tn_bytes file) { return begins(file, 0, "BM", 2); }
static bool is_jpeg(tn_bytes file) { return begins(file, 0, "\xff\xd8\xff", 3); }
static bool is_png(tn_bytes file) { return begins(file, 0, "\x89PNG\r\n\x1a\n", 8); }
static bool is_tiff(tn_bytes file) { return begins(file, 0, "II*\0", 4) || begins(file, 0, "MM\0*", 4); }
static bool is_webp(tn_bytes file) { return begins(file, 0, "RIFF", 4) && begins(file, 8, "WEBP", 4); }
static bool is_pnm(tn_bytes file)
{
    return file.size >= 3 && file.data[0] == 'P' && file.data[1] >= '1' && file.data[1] <= '6' && strchr(" \t\r\n#", file.data[2]);
}

// In a box file, or a bare stream of codes.
static bool is_jpeg2000(tn_bytes file)
{
    return begins(file, 0, "\0\0\0\x0cjP  \r\n\x87\n", 12) || begins(file, 0, "\xff\x4f\xff\x51", 4);
}

static const struct {
    const char *name;
    bool (*is)(tn_bytes file);
    const char *absent;   // said when the build had no library for it
} formats[] = {
    {"BMP", is_bmp, NULL},
    {"PNM", is_pnm, NULL},
    {"JPEG", is_jpeg, "libtenon-image was built without libjpeg (Debian: libjpeg-dev)"},
    {"JPEG 2000", is_jpeg2000, "libtenon-image was built without openjp2 (Debian: libopenjp2-7-dev)"},
    {"PNG", is_png, "libtenon-image was built without libpng (Debian: libpng-dev)"},
    {"TIFF", is_tiff, "libtenon-image was built without libtiff 4.5 or newer (Debian: libtiff-dev)"},
    {"WebP", is_webp, "libtenon-image was built without libwebp (Debian: libwebp-dev)"},
};

// ---- the library's calls ----

// The decoder of a file; NULL with *fault.
static const tn_picture_decoder *find(tn_bytes file, const char **format, const char **fault)
{
    *format = NULL;
    *fault = "its format is not known; known are BMP, PNM, JPEG, JPEG 2000, PNG, TIFF and WebP";
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (!formats[i].is(file)) {
            continue;
        }
        *format = formats[i].name;
        *fault = formats[i].absent;
        for (const tn_picture_decoder *const *decoder = tn_picture_decoders; *decoder; decoder++) {
            if (strcmp((*decoder)->format, formats[i].name) == 0) {
                return *decoder;
            }
        }
        return NULL;
    }
    return NULL;
}

// What no picture of these bytes has is refused here, before anybody believes it.
static const char *check(tn_bytes file, const tn_picture *picture)
{
    if (!tn_picture_fits(picture->width, picture->height)) {
        return "its width or height is out of range (1 to 1,048,576)";
    }
    const int64_t pixels = picture->width * picture->height;
    if (pixels > TN_PICTURE_PIXELS) {
        return "it has more than 268,435,456 pixels";
    }
    if (pixels > TN_PICTURE_FREE_PIXELS && pixels / TN_PICTURE_PIXELS_PER_BYTE > (int64_t)file.size) {
        return "the file is too small for its size";
    }
    return NULL;
}

static const char *head(tn_bytes file, tn_picture *out)
{
    const char *fault;
    *out = (tn_picture){0};
    const tn_picture_decoder *decoder = find(file, &out->format, &fault);
    if (!decoder) {
        return fault;
    }
    fault = decoder->head(file, out);
    return fault ? fault : check(file, out);
}

static const char *pixels(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    const char *fault, *format;
    const tn_picture_decoder *decoder = find(file, &format, &fault);
    return decoder ? decoder->pixels(file, heap, picture, rgb) : fault;
}

extern EXPORTED const tn_picture_library tenon_image_library;
const tn_picture_library tenon_image_library = {TN_PICTURE_VERSION, head, pixels};
