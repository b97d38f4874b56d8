// SPDX-License-Identifier: Apache-2.0
// JPEG 2000 through OpenJPEG: box files and bare code streams, grey, RGB and YCC, any depth and subsampling. Further components
// (alpha) are left out.
// Ownership: OpenJPEG's own memory, given back. Threads: any, each call its own decoder.
#include "picture/picture.h"

#include <string.h>

#include <openjpeg.h>

typedef struct source {
    tn_bytes file;
    size_t at;
} source;

static OPJ_SIZE_T read_bytes(void *to, OPJ_SIZE_T bytes, void *context)
{
    source *s = context;
    const size_t left = s->file.size - s->at, count = bytes < left ? bytes : left;
    if (count == 0) {
        return (OPJ_SIZE_T)-1;
    }
    memcpy(to, s->file.data + s->at, count);
    s->at += count;
    return count;
}

static OPJ_BOOL seek(OPJ_OFF_T to, void *context)
{
    source *s = context;
    if (to < 0 || (uint64_t)to > s->file.size) {
        return OPJ_FALSE;
    }
    s->at = (size_t)to;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip(OPJ_OFF_T bytes, void *context)
{
    source *s = context;
    return bytes >= 0 && (uint64_t)bytes <= s->file.size - s->at && seek((OPJ_OFF_T)s->at + bytes, s) ? bytes : -1;
}

// Column or row `at` of the picture in a component that has one sample for `step` of them, clamped to its `count` samples.
static OPJ_UINT32 place(OPJ_UINT32 at, OPJ_UINT32 step, OPJ_UINT32 first, OPJ_UINT32 count)
{
    const OPJ_UINT32 sample = at / step;
    return sample <= first ? 0 : sample - first < count ? sample - first : count - 1;
}

// A sample as 8 bits.
static int sample(const opj_image_t *image, const opj_image_comp_t *c, OPJ_UINT32 x, OPJ_UINT32 y)
{
    const OPJ_UINT32 column = place(image->x0 + x, c->dx, c->x0, c->w), row = place(image->y0 + y, c->dy, c->y0, c->h);
    int64_t v = (int64_t)c->data[(size_t)row * c->w + column] + (c->sgnd ? INT64_C(1) << (c->prec - 1) : 0);
    v = c->prec > 8 ? v >> (c->prec - 8) : c->prec < 8 ? v * 255 / ((1 << c->prec) - 1) : v;
    return v < 0 ? 0 : v > 255 ? 255 : (int)v;
}

static uint8_t clamp(double v) { return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v + 0.5); }

// ITU-R BT.601, full range.
static void from_ycc(uint8_t *rgb)
{
    const double y = rgb[0], cb = rgb[1] - 128.0, cr = rgb[2] - 128.0;
    rgb[0] = clamp(y + 1.402 * cr);
    rgb[1] = clamp(y - 0.344136 * cb - 0.714136 * cr);
    rgb[2] = clamp(y + 1.772 * cb);
}

static const char *check(const opj_image_t *image)
{
    if (image->numcomps < 1 || image->numcomps > 4 || image->color_space == OPJ_CLRSPC_CMYK) {
        return "a number of components or a colour space that is not supported";
    }
    for (OPJ_UINT32 c = 0; c < image->numcomps; c++) {
        const opj_image_comp_t *component = &image->comps[c];
        if (component->dx < 1 || component->dy < 1 || component->w < 1 || component->h < 1 || component->prec < 1 || component->prec > 32) {
            return "a component that is not supported";
        }
    }
    return NULL;
}

static const char *write_rgb(const opj_image_t *image, const tn_picture *picture, uint8_t *rgb)
{
    const bool colour = image->numcomps >= 3;
    if (image->x1 - image->x0 != picture->width || image->y1 - image->y0 != picture->height) {
        return "the file is broken";
    }
    for (OPJ_UINT32 c = 0; c < (colour ? 3u : 1u); c++) {
        if (!image->comps[c].data) {
            return "the file is broken";
        }
    }
    for (OPJ_UINT32 y = 0; y < (OPJ_UINT32)picture->height; y++) {
        for (OPJ_UINT32 x = 0; x < (OPJ_UINT32)picture->width; x++, rgb += 3) {
            for (int c = 0; c < 3; c++) {
                rgb[c] = (uint8_t)sample(image, &image->comps[colour ? c : 0], x, y);
            }
            if (colour && image->color_space == OPJ_CLRSPC_SYCC) {
                from_ycc(rgb);
            }
        }
    }
    return NULL;
}

// Reads the head and, with rgb, the pixels.
static const char *read_image(opj_codec_t *codec, opj_stream_t *stream, opj_image_t **image, tn_picture *picture, uint8_t *rgb)
{
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    if (!opj_setup_decoder(codec, &parameters) || !opj_read_header(stream, codec, image)) {
        return "the file is broken";
    }
    const char *fault = check(*image);
    if (fault) {
        return fault;
    }
    if (!rgb) {
        picture->width = (int64_t)(*image)->x1 - (*image)->x0;
        picture->height = (int64_t)(*image)->y1 - (*image)->y0;
        return NULL;
    }
    if (!opj_decode(codec, stream, *image) || !opj_end_decompress(codec, stream)) {
        return "the file is broken";
    }
    fault = check(*image);   // a palette changes the components
    return fault ? fault : write_rgb(*image, picture, rgb);
}

static const char *with_decoder(tn_bytes file, tn_picture *picture, uint8_t *rgb)
{
    source s = {file, 0};
    opj_image_t *image = NULL;
    opj_codec_t *codec = opj_create_decompress(file.data[0] == 0 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
    opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
    const char *fault = TN_PICTURE_NO_MEMORY;
    if (codec && stream) {
        opj_stream_set_user_data(stream, &s, NULL);
        opj_stream_set_user_data_length(stream, file.size);
        opj_stream_set_read_function(stream, read_bytes);
        opj_stream_set_skip_function(stream, skip);
        opj_stream_set_seek_function(stream, seek);
        fault = read_image(codec, stream, &image, picture, rgb);
    }
    opj_image_destroy(image);
    opj_stream_destroy(stream);
    opj_destroy_codec(codec);
    return fault;
}

static const char *head_jpeg2000(tn_bytes file, tn_picture *out) { return with_decoder(file, out, NULL); }

static const char *pixels_jpeg2000(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    tn_picture same = *picture;
    (void)heap;
    return with_decoder(file, &same, rgb);
}

const tn_picture_decoder tn_picture_jpeg2000 = {"JPEG 2000", head_jpeg2000, pixels_jpeg2000};
