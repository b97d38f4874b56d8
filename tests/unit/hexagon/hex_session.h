// SPDX-License-Identifier: Apache-2.0
// Sessions of the C interface on the DSP, with what the CPU answers to the same input. For the tests of this folder.
// Ownership: what is opened is the caller's. Threads: one each.
#ifndef HEX_SESSION_H
#define HEX_SESSION_H

#include "hex_bench.h"

#include "api/api.h"

typedef struct hex_model {
    const char *path, *input;
    int rank;
    int64_t dims[4];
    size_t count;
    float data[784];           // the input; filled when it is opened
    tenon_model *model;
    uint8_t want[4096];        // the first result, by the CPU
    size_t bytes;
} hex_model;

extern hex_model hex_swallow, hex_digits;      // quantised by that input

// hear: of the model's log; NULL: nobody.
void hex_model_open(hex_model *m, void (*hear)(void *context, tenon_log_level level, const char *text), void *context);
void hex_model_close(hex_model *m);

// What a session of the model is made with, to be changed where a test wants something else. It points into *m and *sample.
void hex_session_options(const hex_model *m, tenon_sample *sample, tenon_tensor *tensor, tenon_session_options *options);

// On a device, with its input set. device_log: as the option.
tenon_session *hex_session_make(const hex_model *m, const char *device, int device_log);
void hex_session_feed(const hex_model *m, tenon_session *session);
bool hex_session_right(const hex_model *m, tenon_session *session);
bool hex_session_on_device(tenon_session *session);      // its plan has parts there
tn_hex_link *hex_session_link(const tenon_session *session);

// Whether a report of the session has this text.
bool hex_session_tells(tenon_session *session, tenon_report_kind kind, const char *text);

#endif
