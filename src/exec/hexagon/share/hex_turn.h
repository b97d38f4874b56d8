// SPDX-License-Identifier: Apache-2.0
// Whose turn it is with a DSP: those who wait get it in the order in which they came, so that nobody who takes it again and again keeps
// others from it.
// Ownership: init/deinit. Threads: any.
#ifndef TN_HEX_TURN_H
#define TN_HEX_TURN_H

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tn_hex_turn {
    pthread_mutex_t mutex;        // of the fields below, held for moments
    bool taken;
    bool asked;                   // somebody came by meanwhile (tn_hex_turn_try)
    struct tn_hex_waiter *first, *last;
} tn_hex_turn;

bool tn_hex_turn_init(tn_hex_turn *turn);      // false: the system refused a lock
void tn_hex_turn_deinit(tn_hex_turn *turn);

// TN_OK: the caller has the turn. TN_DEADLINE, TN_CANCELLED: it was not its turn by deadline_ns on tn_clock_ns (0: no limit), or when
// *cancel became non-zero (NULL: never); a turn that is free is had in any case.
tn_status tn_hex_turn_take(tn_hex_turn *turn, uint64_t deadline_ns, const atomic_int *cancel);

// Takes a turn that is free; else whoever has it cannot give it without being told.
bool tn_hex_turn_try(tn_hex_turn *turn);

// Gives the turn to the next. false: somebody has tried since it was taken, or since the last false: the caller has it still.
bool tn_hex_turn_give(tn_hex_turn *turn);

bool tn_hex_turn_wanted(tn_hex_turn *turn);    // somebody waits

#endif
