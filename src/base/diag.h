// SPDX-License-Identifier: Apache-2.0
// The message and the place that belong to a failure. It is written once, where the failure is found.
// Ownership: the caller owns the tn_diag (it holds no pointers). Threads: one writer at a time.
#ifndef TN_DIAG_H
#define TN_DIAG_H

#include "base/macros.h"
#include "base/status.h"

typedef struct tn_diag {
    tn_status status;     // TN_OK while nothing has failed
    char place[256];      // node, value, file or argument the message speaks of; may be ""
    char message[3840];   // one or more sentences: what is wrong, what was expected, what to do
} tn_diag;

// Records a failure and returns `status`. A diag that already holds a failure keeps the first one. diag may be NULL.
tn_status tn_fail(tn_diag *diag, tn_status status, const char *place, const char *format, ...) TN_PRINTF(4, 5);

// TN_OUT_OF_MEMORY with the size that could not be had.
tn_status tn_fail_memory(tn_diag *diag, const char *place, unsigned long long bytes);

void tn_diag_clear(tn_diag *diag);

#endif
