// SPDX-License-Identifier: Apache-2.0
// Pictures as feeds (cli_picture_feed.h): the declared shape of the input decides layout, channels and size unless options do.
#include "cli_picture_feed.h"

#include "cli_picture.h"

#include <stdlib.h>
#include <string.h>

static bool one_of(const char *value, const char *const *words, int *index)
{
    for (*index = 0; words[*index]; ++*index) {
        if (strcmp(words[*index], value) == 0) {
            return true;
        }
    }
    return false;
}

// "a" or "a,b,c".
static bool parse_triple(const char *text, double out[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        out[i] = strtod(text, &end);
        if (end == text) {
            return false;
        }
        if (*end == '\0' && i == 0) {
            out[1] = out[2] = out[0];
            return true;
        }
        if (*end != (i < 2 ? ',' : '\0')) {
            return false;
        }
        text = end + (i < 2);
    }
    return true;
}

// value = (pixel / 255 - mean) / std, or the pixel itself.
static int normalisation(const tn_cli_options *options, tenon_dtype dtype, tn_cli_picture_options *o)
{
    static const char *const words[] = {"none", "unit", "signed", "imagenet", NULL};
    static const double means[][3] = {{0, 0, 0}, {0, 0, 0}, {0.5, 0.5, 0.5}, {0.485, 0.456, 0.406}};
    static const double stds[][3] = {{1, 1, 1}, {1, 1, 1}, {0.5, 0.5, 0.5}, {0.229, 0.224, 0.225}};
    int kind;
    if (!one_of(options->normalise ? options->normalise : dtype == TENON_UINT8 ? "none" : "unit", words, &kind)) {
        return tn_cli_fail(TN_EXIT_USAGE, "--normalise takes none, unit, signed or imagenet, not '%s'", options->normalise);
    }
    double mean[3], std[3];
    memcpy(mean, means[kind], sizeof mean);
    memcpy(std, stds[kind], sizeof std);
    if ((options->mean && !parse_triple(options->mean, mean)) || (options->std && !parse_triple(options->std, std))) {
        return tn_cli_fail(TN_EXIT_USAGE, "--mean and --std take one number or three: 0.485,0.456,0.406");
    }
    const double unit = kind == 0 && !options->mean && !options->std ? 1 : 255;
    for (int c = 0; c < 3; c++) {
        if (std[c] == 0) {
            return tn_cli_fail(TN_EXIT_USAGE, "--std must not be 0");
        }
        o->scale[c] = 1 / (unit * std[c]);
        o->bias[c] = -mean[c] / std[c];
    }
    return TN_EXIT_GOOD;
}

// Channels last when that is what the declared shape says, or --layout.
static int layout(const tn_cli_feed *feed, const tn_cli_options *options, tn_cli_picture_options *o, int64_t *channels)
{
    static const char *const words[] = {"nchw", "nhwc", NULL};
    const tn_cli_tensor *t = &feed->tensor;
    const int64_t first = t->dims[t->rank - 3], last = t->dims[t->rank - 1];
    int chosen = (first != 1 && first != 3) && (last == 1 || last == 3);
    if (options->layout && !one_of(options->layout, words, &chosen)) {
        return tn_cli_fail(TN_EXIT_USAGE, "--layout takes nchw or nhwc, not '%s'", options->layout);
    }
    o->last = chosen;
    *channels = o->last ? last : first;
    const int64_t h = t->dims[t->rank - (o->last ? 3 : 2)], w = t->dims[t->rank - (o->last ? 2 : 1)];
    o->width = w > 0 && w <= 16384 ? (int)w : 0;
    o->height = h > 0 && h <= 16384 ? (int)h : 0;
    return TN_EXIT_GOOD;
}

static int read_options(const tn_cli_feed *feed, const tn_cli_options *options, tn_cli_picture_options *o)
{
    static const char *const fits[] = {"stretch", "crop", "pad", NULL}, *const channel_words[] = {"rgb", "bgr", "gray", NULL};
    int64_t channels = 0;
    int code = layout(feed, options, o, &channels), fit, kind;
    if (code) {
        return code;
    }
    if (options->resize) {
        char junk;
        if (sscanf(options->resize, "%dx%d%c", &o->width, &o->height, &junk) != 2 || o->width < 1 || o->height < 1 ||
            o->width > 16384 || o->height > 16384) {
            return tn_cli_fail(TN_EXIT_USAGE, "--resize takes WIDTHxHEIGHT, not '%s'", options->resize);
        }
    }
    if (!one_of(options->fit ? options->fit : "stretch", fits, &fit)) {
        return tn_cli_fail(TN_EXIT_USAGE, "--fit takes stretch, crop or pad, not '%s'", options->fit);
    }
    if (!one_of(options->channels ? options->channels : channels == 1 ? "gray" : "rgb", channel_words, &kind)) {
        return tn_cli_fail(TN_EXIT_USAGE, "--channels takes rgb, bgr or gray, not '%s'", options->channels);
    }
    o->fit = fit;
    o->channels = kind;
    return normalisation(options, feed->info.dtype, o);
}

static int feed_picture(tn_cli_feed *feed, const char *path, const tn_cli_options *options)
{
    tn_cli_picture_options o = {0};
    tn_cli_picture picture;
    if (feed->tensor.rank != 3 && feed->tensor.rank != 4) {
        return tn_cli_fail(TN_EXIT_USAGE, "--picture: input '%s' has %d dims; a picture has 3 or 4 (--shape sets them)",
                           feed->info.name, feed->tensor.rank);
    }
    int code = read_options(feed, options, &o);
    if (!code) {
        code = tn_cli_picture_read(&picture, path);
    }
    if (!code) {
        code = tn_cli_picture_tensor(&feed->tensor, &picture, &o);
        tn_cli_picture_deinit(&picture);
        feed->source = TN_FEED_PICTURE;
        feed->from = tn_cli_copy(path);
    }
    return code;
}

int tn_cli_feeds_pictures(tn_cli_feeds *feeds, const tn_cli_options *options)
{
    int code = TN_EXIT_GOOD;
    for (size_t i = 0; !code && i < options->pictures.count; i++) {
        const char *text = options->pictures.items[i], *split = strchr(text, '=');
        tn_cli_feed *feed = NULL;
        if (split) {
            feed = tn_cli_feeds_find(feeds, text, (size_t)(split - text), "--picture", &code);
        }
        for (size_t k = 0; !split && k < feeds->count && !feed; k++) {
            feed = feeds->items[k].tensor.rank >= 3 && feeds->items[k].source == TN_FEED_RANDOM ? &feeds->items[k] : NULL;
        }
        if (!feed && !code) {
            code = tn_cli_fail(TN_EXIT_USAGE, "--picture: the model has no input of 3 or 4 dims that is free");
        }
        if (feed) {
            code = feed_picture(feed, split ? split + 1 : text, options);
        }
    }
    return code;
}
