// SPDX-License-Identifier: Apache-2.0
// ImageDecoder: the reader that knows the first bytes tells the size, then writes RGB; other pixel formats are made of that.
// Ownership: const data. Threads: any.
#include "ops/image/op_image.h"

#include "ops/image/picture.h"
#include "ops/op_facts.h"

#include <stddef.h>

// ---- attributes ----

static const char *const formats[] = {"rgb", "bgr", "grayscale", NULL};
static const tn_attr attrs[] = {{"format", TN_ATTR_ENUM, offsetof(tn_image_attr, format), formats}};

static const tn_picture_reader *const readers[] = {
    &tn_picture_bmp, &tn_picture_pnm, &tn_picture_png, &tn_picture_tiff, &tn_picture_webp,
#ifdef TN_HAVE_JPEG
    &tn_picture_jpeg,
#endif
};

// ---- infer ----

static tn_status infer_image(tn_infer *infer)
{
    const tn_image_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_BIT(U8)));
    TN_TRY(tn_infer_rank(infer, 0, 1, 1));
    const tn_shape shape = {3, {TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, attr->format == TN_PIXEL_GRAY ? 1 : 3}};
    tn_infer_out(infer, 0, TN_U8, &shape);
    return TN_OK;
}

// ---- descriptor ----

const tn_op tn_op_image_decoder = {
    .name = "image_decoder", .version = 1, .flags = TN_OP_DYNAMIC, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, .attrs = attrs,
    .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_image_attr), .infer = infer_image,
};

// ---- reference ----

static tn_status refuse(const tn_call *call, const tn_picture_reader *reader, const char *fault)
{
    return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "image_decoder: %s: %s", reader ? reader->name : "the picture", fault);
}

// Luma of ITU-R BT.601 in 16 bits of fraction, as the usual readers round it.
static uint8_t luma(const uint8_t *rgb) { return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16); }

static const char *decode_gray(const tn_call *call, const tn_picture_reader *reader, tn_bytes file, const tn_picture *picture, uint8_t *gray)
{
    const size_t count = (size_t)picture->width * (size_t)picture->height;
    uint8_t *rgb = tn_take(call->heap, count * 3);
    const char *fault = rgb ? reader->pixels(file, call->heap, picture, rgb) : "no memory";
    for (size_t i = 0; i < count && !fault; i++) {
        gray[i] = luma(rgb + 3 * i);
    }
    tn_give(call->heap, rgb);
    return fault;
}

// encoded [n] -> [height, width, channels]
static tn_status run_image(const tn_call *call)
{
    const int format = ((const tn_image_attr *)call->attr)->format;
    const tn_bytes file = {call->in[0]->data, (size_t)tn_tensor_count(call->in[0])};
    const tn_picture_reader *reader = NULL;
    tn_picture picture = {0, 0};
    for (size_t i = 0; i < TN_COUNT(readers) && !reader; i++) {
        reader = readers[i]->is(file) ? readers[i] : NULL;
    }
    const char *fault = reader ? reader->head(file, call->heap, &picture) : "its format is not known";
    if (fault) {
        return refuse(call, reader, fault);
    }
    const tn_shape shape = {3, {picture.height, picture.width, format == TN_PIXEL_GRAY ? 1 : 3}};
    TN_TRY(call->resize(call, 0, &shape));
    uint8_t *pixels = call->out[0]->data;
    fault = format == TN_PIXEL_GRAY ? decode_gray(call, reader, file, &picture, pixels) : reader->pixels(file, call->heap, &picture, pixels);
    for (size_t i = 0; i < (size_t)tn_tensor_count(call->out[0]) && format == TN_PIXEL_BGR && !fault; i += 3) {
        const uint8_t red = pixels[i];
        pixels[i] = pixels[i + 2];
        pixels[i + 2] = red;
    }
    return fault ? refuse(call, reader, fault) : TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE(image_decoder, NULL, run_image)};
static const tn_op *const ops[] = {&tn_op_image_decoder};

TN_EXPORT_OPS(op_image, ops);
TN_EXPORT_KERNELS(op_image, rows);
