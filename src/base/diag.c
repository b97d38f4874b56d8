// SPDX-License-Identifier: Apache-2.0
// Failure messages, and the fixed texts of status codes. A message that does not fit is cut, never refused.
// Ownership: none. Threads: one writer per diag.
#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>

const char *tn_status_text(tn_status status)
{
    switch (status) {
#define X(name, number, text) \
    case TN_##name:           \
        return text;
        TN_STATUS_LIST(X)
#undef X
    }
    return "unknown status";
}

tn_status tn_fail(tn_diag *diag, tn_status status, const char *place, const char *format, ...)
{
    if (!diag || diag->status != TN_OK) {
        return status;
    }
    diag->status = status;
    snprintf(diag->place, sizeof diag->place, "%s", place ? place : "");
    va_list values;
    va_start(values, format);
    vsnprintf(diag->message, sizeof diag->message, format, values);
    va_end(values);
    return status;
}

tn_status tn_fail_memory(tn_diag *diag, const char *place, unsigned long long bytes)
{
    return tn_fail(diag, TN_OUT_OF_MEMORY, place, "no memory for %llu bytes", bytes);
}

void tn_diag_clear(tn_diag *diag)
{
    if (diag) {
        diag->status = TN_OK;      // not all of it: this is done in each call of the interface
        diag->place[0] = diag->message[0] = 0;
    }
}
