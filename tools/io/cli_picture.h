// SPDX-License-Identifier: Apache-2.0
// Pictures as model inputs: PNG, JPEG and PPM/PGM files, resized and normalised to what an input wants.
// Ownership: tn_cli_picture owns its pixels until deinit. Threads: one.
#ifndef TN_CLI_PICTURE_H
#define TN_CLI_PICTURE_H

#include "cli_tensor.h"

typedef struct tn_cli_picture {
    int width, height;
    uint8_t *pixels;      // [height][width][3], red green blue
} tn_cli_picture;

typedef struct tn_cli_picture_options {
    int width, height;            // of the result; 0: the picture's own
    enum { TN_FIT_STRETCH, TN_FIT_CROP, TN_FIT_PAD } fit;
    enum { TN_CHANNELS_RGB, TN_CHANNELS_BGR, TN_CHANNELS_GRAY } channels;
    bool last;                    // channels last (NHWC)
    double scale[3], bias[3];     // value = pixel * scale + bias, per channel in the result's order
} tn_cli_picture_options;

// Exit codes; what is wrong is told.
int tn_cli_picture_read(tn_cli_picture *picture, const char *path);
void tn_cli_picture_deinit(tn_cli_picture *picture);

// Fills tensor->data for tensor->dtype (float32, float16 or uint8) with shape [C,H,W] or [H,W,C], preceded by 1 for rank 4.
int tn_cli_picture_tensor(tn_cli_tensor *tensor, const tn_cli_picture *picture, const tn_cli_picture_options *options);

#endif
