// SPDX-License-Identifier: Apache-2.0
// Sample inputs of --calibrate DIR: the files of one set in DIR itself, or a set in each of its folders.
// Ownership: samples own their data until deinit. Threads: one.
#ifndef TN_CLI_CALIBRATE_H
#define TN_CLI_CALIBRATE_H

#include "cli_session.h"

typedef struct tn_cli_samples {
    tenon_sample *items;
    size_t count;
} tn_cli_samples;

// Exit codes; what is wrong is told.
int tn_cli_samples_read(tn_cli_samples *samples, const tenon_model *model, const char *folder);
void tn_cli_samples_deinit(tn_cli_samples *samples);

#endif
