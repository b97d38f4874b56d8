// SPDX-License-Identifier: Apache-2.0
// Pictures as model inputs (cli_picture.h): files are read by libpng and libjpeg; resizing uses a triangle filter that widens when
// the picture shrinks (so that small pictures are averages, not samples).
#include "cli_picture.h"

#include <jpeglib.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_SIDE = 32768 };

typedef struct jpeg_trap {
    struct jpeg_error_mgr manager;   // first: libjpeg hands it back
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
} jpeg_trap;

static void jpeg_failed(j_common_ptr jpeg)
{
    jpeg_trap *trap = (jpeg_trap *)jpeg->err;
    trap->manager.format_message(jpeg, trap->message);
    longjmp(trap->back, 1);
}

static void jpeg_silent(j_common_ptr jpeg)
{
    (void)jpeg;
}

static bool take_pixels(tn_cli_picture *picture, long width, long height)
{
    if (width < 1 || height < 1 || width > LARGEST_SIDE || height > LARGEST_SIDE) {
        return false;
    }
    picture->width = (int)width;
    picture->height = (int)height;
    picture->pixels = tn_cli_take((size_t)width * (size_t)height, 3);
    return true;
}

static int read_jpeg(tn_cli_picture *picture, const uint8_t *data, size_t size, const char *path)
{
    struct jpeg_decompress_struct jpeg;
    jpeg_trap trap;
    jpeg.err = jpeg_std_error(&trap.manager);
    trap.manager.error_exit = jpeg_failed;
    trap.manager.output_message = jpeg_silent;
    if (setjmp(trap.back)) {
        jpeg_destroy_decompress(&jpeg);
        return tn_cli_fail(TN_EXIT_USAGE, "%s: %s", path, trap.message);
    }
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, data, (unsigned long)size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    if (!take_pixels(picture, (long)jpeg.output_width, (long)jpeg.output_height)) {
        jpeg_destroy_decompress(&jpeg);
        return tn_cli_fail(TN_EXIT_USAGE, "%s: too large a picture", path);
    }
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = picture->pixels + (size_t)jpeg.output_scanline * (size_t)picture->width * 3;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return TN_EXIT_GOOD;
}

static int read_png(tn_cli_picture *picture, const uint8_t *data, size_t size, const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, data, size)) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: %s", path, image.message);
    }
    image.format = PNG_FORMAT_RGB;
    if (!take_pixels(picture, (long)image.width, (long)image.height)) {
        png_image_free(&image);
        return tn_cli_fail(TN_EXIT_USAGE, "%s: too large a picture", path);
    }
    const png_color white = {255, 255, 255};   // behind transparent pixels
    if (!png_image_finish_read(&image, &white, picture->pixels, 0, NULL)) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: %s", path, image.message);
    }
    return TN_EXIT_GOOD;
}

// One whole number of a PNM header, past white space and comments.
static long pnm_number(const uint8_t **at, const uint8_t *end)
{
    while (*at < end && (**at == '#' || **at <= ' ')) {
        if (**at == '#') {
            while (*at < end && **at != '\n') {
                ++*at;
            }
        } else {
            ++*at;
        }
    }
    long value = -1;
    for (; *at < end && **at >= '0' && **at <= '9' && value <= LARGEST_SIDE; ++*at) {
        value = (value < 0 ? 0 : value) * 10 + (**at - '0');
    }
    return value;
}

static int read_pnm(tn_cli_picture *picture, const uint8_t *data, size_t size, const char *path)
{
    const uint8_t *at = data + 2, *end = data + size;
    const size_t channels = data[1] == '6' ? 3 : 1;
    const long width = pnm_number(&at, end), height = pnm_number(&at, end), most = pnm_number(&at, end);
    if (most != 255 || at == end || !take_pixels(picture, width, height) ||
        (size_t)(end - ++at) < (size_t)width * (size_t)height * channels) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: not an 8-bit P5 or P6 picture", path);
    }
    for (size_t i = 0; i < (size_t)width * (size_t)height * 3; i++) {
        picture->pixels[i] = at[channels == 3 ? i : i / 3];
    }
    return TN_EXIT_GOOD;
}

int tn_cli_picture_read(tn_cli_picture *picture, const char *path)
{
    uint8_t *data;
    size_t size;
    *picture = (tn_cli_picture){0};
    if (!tn_cli_file_read(path, &data, &size, NULL)) {
        return TN_EXIT_USAGE;
    }
    int code;
    if (size > 8 && memcmp(data, "\x89PNG", 4) == 0) {
        code = read_png(picture, data, size, path);
    } else if (size > 3 && data[0] == 0xff && data[1] == 0xd8) {
        code = read_jpeg(picture, data, size, path);
    } else if (size > 8 && data[0] == 'P' && (data[1] == '5' || data[1] == '6')) {
        code = read_pnm(picture, data, size, path);
    } else {
        code = tn_cli_fail(TN_EXIT_USAGE, "%s: not a PNG, JPEG, PPM or PGM picture", path);
    }
    free(data);
    if (code) {
        tn_cli_picture_deinit(picture);
    }
    return code;
}

void tn_cli_picture_deinit(tn_cli_picture *picture)
{
    free(picture->pixels);
    *picture = (tn_cli_picture){0};
}

// Which source samples make one destination sample, and how much of each.
typedef struct taps {
    int first, count;
    float weight[];
} taps;

// Samples from..from+length of the source spread over `to` samples: taps[to], each `stride` bytes apart.
static uint8_t *make_taps(double from, double length, int source, int to, size_t *stride)
{
    const double step = length / to, radius = step > 1 ? step : 1;
    const int most = (int)ceil(radius) * 2 + 2;
    *stride = sizeof(taps) + (size_t)most * sizeof(float);
    uint8_t *all = tn_cli_take((size_t)to, *stride);
    for (int i = 0; i < to; i++) {
        taps *t = (taps *)(all + (size_t)i * *stride);
        const double center = from + (i + 0.5) * step - 0.5;
        int first = (int)ceil(center - radius), last = (int)floor(center + radius);
        first = first < 0 ? 0 : first >= source ? source - 1 : first;
        last = last >= source ? source - 1 : last < first ? first : last;
        t->first = first;
        float sum = 0;
        for (int s = first; s <= last && t->count < most; s++) {
            const double w = 1 - fabs(s - center) / radius;
            t->weight[t->count++] = w > 0 ? (float)w : 0;
            sum += w > 0 ? (float)w : 0;
        }
        if (sum <= 0) {
            t->weight[0] = sum = 1;
        }
        for (int k = 0; k < t->count; k++) {
            t->weight[k] /= sum;
        }
    }
    return all;
}

// The part (x, y, w, h) of the picture as out[to_h][to_w][3].
static float *resample(const tn_cli_picture *picture, const double part[4], int to_w, int to_h)
{
    size_t stride_x, stride_y;
    uint8_t *across = make_taps(part[0], part[2], picture->width, to_w, &stride_x);
    uint8_t *down = make_taps(part[1], part[3], picture->height, to_h, &stride_y);
    float *rows = tn_cli_take((size_t)picture->height * (size_t)to_w * 3, sizeof *rows);
    float *out = tn_cli_take((size_t)to_h * (size_t)to_w * 3, sizeof *out);
    for (size_t y = 0; y < (size_t)picture->height; y++) {
        for (size_t x = 0; x < (size_t)to_w * 3; x++) {
            const taps *t = (const taps *)(across + x / 3 * stride_x);
            const uint8_t *from = picture->pixels + (y * (size_t)picture->width + (size_t)t->first) * 3 + x % 3;
            for (int k = 0; k < t->count; k++) {
                rows[y * (size_t)to_w * 3 + x] += t->weight[k] * from[3 * k];
            }
        }
    }
    for (size_t y = 0; y < (size_t)to_h; y++) {
        const taps *t = (const taps *)(down + y * stride_y);
        for (int k = 0; k < t->count; k++) {
            const float *from = rows + (size_t)(t->first + k) * (size_t)to_w * 3;
            for (size_t x = 0; x < (size_t)to_w * 3; x++) {
                out[y * (size_t)to_w * 3 + x] += t->weight[k] * from[x];
            }
        }
    }
    free(across);
    free(down);
    free(rows);
    return out;
}

// Where the picture goes: `part` of it fills the box (left, top, width, height) of the result.
static void place(const tn_cli_picture *picture, const tn_cli_picture_options *o, int to_w, int to_h, double part[4], int box[4])
{
    const double across = (double)to_w / picture->width, down = (double)to_h / picture->height;
    part[0] = part[1] = 0;
    part[2] = picture->width;
    part[3] = picture->height;
    box[0] = box[1] = 0;
    box[2] = to_w;
    box[3] = to_h;
    if (o->fit == TN_FIT_CROP) {
        const double scale = across > down ? across : down;
        part[2] = to_w / scale;
        part[3] = to_h / scale;
        part[0] = (picture->width - part[2]) / 2;
        part[1] = (picture->height - part[3]) / 2;
    } else if (o->fit == TN_FIT_PAD) {
        const double scale = across < down ? across : down;
        const long w = lround(picture->width * scale), h = lround(picture->height * scale);
        box[2] = w < 1 ? 1 : w > to_w ? to_w : (int)w;
        box[3] = h < 1 ? 1 : h > to_h ? to_h : (int)h;
        box[0] = (to_w - box[2]) / 2;
        box[1] = (to_h - box[3]) / 2;
    }
}

static void store(tn_cli_tensor *tensor, size_t i, double value)
{
    if (tensor->dtype == TENON_FLOAT32) {
        ((float *)tensor->data)[i] = (float)value;
    } else {
        const double rounded = rint(value);
        ((uint8_t *)tensor->data)[i] = (uint8_t)(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
    }
}

int tn_cli_picture_tensor(tn_cli_tensor *tensor, const tn_cli_picture *picture, const tn_cli_picture_options *o)
{
    if ((tensor->dtype != TENON_FLOAT32 && tensor->dtype != TENON_UINT8) || (tensor->rank != 3 && tensor->rank != 4)) {
        return tn_cli_fail(TN_EXIT_USAGE, "a picture can feed float32 or uint8 inputs of 3 or 4 dims, not %s with %d",
                           tenon_dtype_text(tensor->dtype), tensor->rank);
    }
    const int w = o->width ? o->width : picture->width, h = o->height ? o->height : picture->height;
    const int channels = o->channels == TN_CHANNELS_GRAY ? 1 : 3;
    const size_t plane = (size_t)w * (size_t)h;
    double part[4];
    int box[4];
    place(picture, o, w, h, part, box);
    float *pixels = resample(picture, part, box[2], box[3]);
    const int64_t dims[4] = {1, o->last ? h : channels, o->last ? w : h, o->last ? channels : w};
    memcpy(tensor->dims, dims + (tensor->rank == 3), (size_t)tensor->rank * sizeof dims[0]);
    tensor->bytes = plane * (size_t)channels * tenon_dtype_bytes(tensor->dtype);
    tensor->data = tn_cli_take(tensor->bytes, 1);
    for (int c = 0; c < channels; c++) {
        for (size_t i = 0; i < plane; i++) {
            const int x = (int)(i % (size_t)w) - box[0], y = (int)(i / (size_t)w) - box[1];
            double value = 0;
            if (x >= 0 && y >= 0 && x < box[2] && y < box[3]) {
                const float *p = pixels + ((size_t)y * (size_t)box[2] + (size_t)x) * 3;
                // Luma of ITU-R BT.601 for gray.
                value = channels == 1 ? 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2] : p[o->channels == TN_CHANNELS_BGR ? 2 - c : c];
            }
            const size_t at = o->last ? i * (size_t)channels + (size_t)c : (size_t)c * plane + i;
            store(tensor, at, value * o->scale[c] + o->bias[c]);
        }
    }
    free(pixels);
    return TN_EXIT_GOOD;
}
