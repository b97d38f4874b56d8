// SPDX-License-Identifier: Apache-2.0
// WebP through libwebp's simple decoding interface. An alpha channel is left out; of an animation nothing is read.
// Ownership: libwebp's own memory, given back. Threads: any.
#include "picture/picture.h"

#include <webp/decode.h>

static const char *head_webp(tn_bytes file, tn_picture *out)
{
    int width = 0, height = 0;
    if (!WebPGetInfo(file.data, file.size, &width, &height)) {
        return "the file is broken";
    }
    out->width = width;
    out->height = height;
    return NULL;
}

static const char *pixels_webp(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    const size_t stride = (size_t)picture->width * 3;
    (void)heap;
    return WebPDecodeRGBInto(file.data, file.size, rgb, stride * (size_t)picture->height, (int)stride) ? NULL
                                                                                                     : "the file is broken, or an animation";
}

const tn_picture_decoder tn_picture_webp = {"WebP", head_webp, pixels_webp};
