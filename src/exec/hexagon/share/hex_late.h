// SPDX-License-Identifier: Apache-2.0
// A call that was made and has not been waited for.
// Ownership: none. Threads: who has the line's turn.
#ifndef TN_HEX_LATE_H
#define TN_HEX_LATE_H

#include "exec/hexagon/wire/hex_control.h"

#include <stdbool.h>
#include <stddef.h>

// A call whose run could not wait for the answer. The DSP goes on with it; the next call waits first, and one that is the same takes the answer.
typedef struct tn_hex_late {
    bool waiting, answered;
    uint32_t sequence, call, n_args, args[TN_HEX_MESSAGE_ARGS];
    uint64_t begin_ns, session;
    uint32_t answer[TN_HEX_MESSAGE_WORDS];
} tn_hex_late;

#endif
