// SPDX-License-Identifier: Apache-2.0
// ImageDecoder: libtenon-image (picture/) tells the size and writes RGB; other pixel formats are made of that. The library is opened for
// each picture and closed again: decoders are no business of those who have no pictures, and opening costs little beside decoding.
// Ownership: const data. Threads: any.
#include "ops/image/op_image.h"

#include "ops/op_facts.h"
#include "picture/picture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const char *const formats[] = {"rgb", "bgr", "grayscale", NULL};
static const tn_attr attrs[] = {{"format", TN_ATTR_ENUM, offsetof(tn_image_attr, format), formats}};

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

// ---- libtenon-image ----

#define LIBRARY "libtenon-image.so.0"

// Opens the library beside this one (or beside the program that this is linked into), or where the system's loader looks. A name that is
// not absolute would mean the working directory, and is not tried.
static void *open_library(void)
{
    Dl_info here;
    char path[4096];
    if (dladdr(&tn_op_image_decoder, &here) && here.dli_fname && here.dli_fname[0] == '/') {
        const char *slash = strrchr(here.dli_fname, '/');
        const int length = snprintf(path, sizeof path, "%.*s/" LIBRARY, (int)(slash - here.dli_fname), here.dli_fname);
        void *handle = length > 0 && (size_t)length < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        if (handle) {
            return handle;
        }
    }
    return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

// ---- reference ----

static void *take(void *context, size_t bytes) { return tn_take(context, bytes); }
static void give(void *context, void *block) { tn_give(context, block); }

static tn_status refuse(const tn_call *call, const tn_picture *picture, const char *fault)
{
    if (strcmp(fault, TN_PICTURE_NO_MEMORY) == 0) {
        return tn_fail_memory(call->diag, call->name, (size_t)(3 * picture->width * picture->height));
    }
    return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "image_decoder: %s: %s", picture->format ? picture->format : "the picture",
                   fault);
}

// Luma of ITU-R BT.601 in 16 bits of fraction, as the usual readers round it.
static uint8_t luma(const uint8_t *rgb) { return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16); }

static const char *decode_gray(const tn_call *call, const tn_picture_library *library, tn_bytes file, const tn_picture_heap *heap,
                               const tn_picture *picture, uint8_t *gray)
{
    const size_t count = (size_t)picture->width * (size_t)picture->height;
    uint8_t *rgb = tn_take(call->heap, count * 3);
    const char *fault = rgb ? library->pixels(file, heap, picture, rgb) : TN_PICTURE_NO_MEMORY;
    for (size_t i = 0; i < count && !fault; i++) {
        gray[i] = luma(rgb + 3 * i);
    }
    tn_give(call->heap, rgb);
    return fault;
}

static tn_status decode(const tn_call *call, const tn_picture_library *library)
{
    const int format = ((const tn_image_attr *)call->attr)->format;
    const tn_bytes file = {call->in[0]->data, (size_t)tn_tensor_count(call->in[0])};
    const tn_picture_heap heap = {take, give, call->heap};
    tn_picture picture;
    const char *fault = library->head(file, &picture);
    if (fault) {
        return refuse(call, &picture, fault);
    }
    const tn_shape shape = {3, {picture.height, picture.width, format == TN_PIXEL_GRAY ? 1 : 3}};
    TN_TRY(call->resize(call, 0, &shape));
    uint8_t *pixels = call->out[0]->data;
    fault = format == TN_PIXEL_GRAY ? decode_gray(call, library, file, &heap, &picture, pixels)
                                    : library->pixels(file, &heap, &picture, pixels);
    for (size_t i = 0; i < (size_t)tn_tensor_count(call->out[0]) && format == TN_PIXEL_BGR && !fault; i += 3) {
        const uint8_t red = pixels[i];
        pixels[i] = pixels[i + 2];
        pixels[i + 2] = red;
    }
    return fault ? refuse(call, &picture, fault) : TN_OK;
}

// encoded [n] -> [height, width, channels]
static tn_status run_image(const tn_call *call)
{
    void *handle = open_library();
    if (!handle) {
        return tn_fail(call->diag, TN_UNSUPPORTED, call->name,
                       "image_decoder: decoding pictures needs " LIBRARY ", which is neither beside libtenon nor known to the system's loader: "
                       "install it from the same build");
    }
    const tn_picture_library *library = dlsym(handle, TN_PICTURE_SYMBOL);
    const tn_status status = library && library->version == TN_PICTURE_VERSION
        ? decode(call, library)
        : tn_fail(call->diag, TN_UNSUPPORTED, call->name, "image_decoder: " LIBRARY " is of another version than libtenon");
    dlclose(handle);
    return status;
}

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE(image_decoder, NULL, run_image)};
static const tn_op *const ops[] = {&tn_op_image_decoder};

TN_EXPORT_OPS(op_image, ops);
TN_EXPORT_KERNELS(op_image, rows);
