// SPDX-License-Identifier: Apache-2.0
// A lock with a queue (hex_turn.h): who gives the turn hands it to the first who waits, each on a condition of its own.
// Ownership: see hex_turn.h. Threads: see hex_turn.h.
#include "exec/hexagon/share/hex_turn.h"

#include "base/macros.h"
#include "sys/clock.h"

#include <time.h>

#define SLICE_NS 5000000u     // between two looks at *cancel
#define SECOND_NS 1000000000u

typedef struct tn_hex_waiter {
    struct tn_hex_waiter *next;
    pthread_cond_t called;
    bool has;                 // the turn
} tn_hex_waiter;

bool tn_hex_turn_init(tn_hex_turn *turn)
{
    *turn = (tn_hex_turn){.taken = false};
    return pthread_mutex_init(&turn->mutex, NULL) == 0;
}

void tn_hex_turn_deinit(tn_hex_turn *turn) { pthread_mutex_destroy(&turn->mutex); }

// A condition on the clock that nobody sets.
static void condition(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(cond, &attr);
    (void)pthread_condattr_destroy(&attr);
}

static void leave(tn_hex_turn *turn, const tn_hex_waiter *waiter)
{
    tn_hex_waiter *before = NULL;
    for (tn_hex_waiter *at = turn->first; at != waiter; at = at->next) {
        before = at;
    }
    *(before ? &before->next : &turn->first) = waiter->next;
    turn->last = turn->last == waiter ? before : turn->last;
}

// Until the turn is had, or must not be waited for any longer.
static tn_status wait_turn(tn_hex_turn *turn, tn_hex_waiter *waiter, uint64_t deadline_ns, const atomic_int *cancel)
{
    while (!waiter->has) {
        if (!deadline_ns && !cancel) {
            (void)pthread_cond_wait(&waiter->called, &turn->mutex);
            continue;
        }
        const uint64_t now = tn_clock_ns();
        if (deadline_ns && now >= deadline_ns) {
            return TN_DEADLINE;
        }
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed)) {
            return TN_CANCELLED;
        }
        const uint64_t slice = deadline_ns ? TN_MIN(deadline_ns - now, (uint64_t)SLICE_NS) : SLICE_NS;
        struct timespec end;
        (void)clock_gettime(CLOCK_MONOTONIC, &end);
        const uint64_t ns = (uint64_t)end.tv_nsec + slice;
        end.tv_sec += (time_t)(ns / SECOND_NS);
        end.tv_nsec = (long)(ns % SECOND_NS);
        (void)pthread_cond_timedwait(&waiter->called, &turn->mutex, &end);
    }
    return TN_OK;
}

tn_status tn_hex_turn_take(tn_hex_turn *turn, uint64_t deadline_ns, const atomic_int *cancel)
{
    tn_status status = TN_OK;
    pthread_mutex_lock(&turn->mutex);
    if (!turn->taken) {
        turn->taken = true;
        turn->asked = false;
    } else {
        tn_hex_waiter waiter = {.has = false};
        condition(&waiter.called);
        *(turn->last ? &turn->last->next : &turn->first) = &waiter;
        turn->last = &waiter;
        status = wait_turn(turn, &waiter, deadline_ns, cancel);
        if (status != TN_OK) {
            leave(turn, &waiter);
        }
        (void)pthread_cond_destroy(&waiter.called);
    }
    pthread_mutex_unlock(&turn->mutex);
    return status;
}

bool tn_hex_turn_try(tn_hex_turn *turn)
{
    pthread_mutex_lock(&turn->mutex);
    const bool free_now = !turn->taken;
    turn->taken = true;
    turn->asked = !free_now;
    pthread_mutex_unlock(&turn->mutex);
    return free_now;
}

bool tn_hex_turn_give(tn_hex_turn *turn)
{
    pthread_mutex_lock(&turn->mutex);
    const bool gives = !turn->asked;
    tn_hex_waiter *next = turn->first;
    if (gives && next) {
        turn->first = next->next;
        turn->last = turn->first ? turn->last : NULL;
        next->has = true;
        (void)pthread_cond_signal(&next->called);
    } else if (gives) {
        turn->taken = false;
    }
    turn->asked = false;
    pthread_mutex_unlock(&turn->mutex);
    return gives;
}

bool tn_hex_turn_wanted(tn_hex_turn *turn)
{
    pthread_mutex_lock(&turn->mutex);
    const bool wanted = turn->first != NULL;
    pthread_mutex_unlock(&turn->mutex);
    return wanted;
}
