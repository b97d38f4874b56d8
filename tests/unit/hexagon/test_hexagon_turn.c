// SPDX-License-Identifier: Apache-2.0
// The queue before a DSP: turns in the order of coming, limits of those who wait, and who gives what while another has the turn.
#include "support/unit.h"

#include "exec/hexagon/share/hex_turn.h"
#include "sys/clock.h"

#include <unistd.h>

enum { WAITERS = 6, TAKERS = 4, ROUNDS = 2000 };

typedef struct waiter {
    tn_hex_turn *turn;
    atomic_int *order;
    int place;
} waiter;

static void *wait_once(void *context)
{
    waiter *w = context;
    if (tn_hex_turn_take(w->turn, 0, NULL) == TN_OK) {
        w->place = atomic_fetch_add(w->order, 1);
        (void)tn_hex_turn_give(w->turn);
    }
    return NULL;
}

static size_t waiting(tn_hex_turn *turn, size_t want)
{
    // The queue is opaque; who waits shows by who gets the turn. Threads need a moment to come to it.
    usleep(20000);
    return tn_hex_turn_wanted(turn) ? want : 0;
}

static void test_order(void **state)
{
    tn_hex_turn turn;
    atomic_int order = 0;
    waiter w[WAITERS];
    pthread_t threads[WAITERS];
    assert_true(tn_hex_turn_init(&turn));
    assert_int_equal(tn_hex_turn_take(&turn, 0, NULL), TN_OK);
    assert_false(tn_hex_turn_wanted(&turn));
    for (size_t i = 0; i < WAITERS; i++) {
        w[i] = (waiter){&turn, &order, -1};
        assert_int_equal(pthread_create(&threads[i], NULL, wait_once, &w[i]), 0);
        assert_int_equal(waiting(&turn, i + 1), i + 1);
    }
    // One that may not wait goes out of the queue from its middle, and changes nothing for the others.
    atomic_int cancel = 1;
    assert_int_equal(tn_hex_turn_take(&turn, tn_clock_ns() + 3000000u, NULL), TN_DEADLINE);
    assert_int_equal(tn_hex_turn_take(&turn, 0, &cancel), TN_CANCELLED);
    assert_int_equal(tn_hex_turn_take(&turn, 1, NULL), TN_DEADLINE);
    assert_true(tn_hex_turn_give(&turn));
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(w[i].place, i);
    }
    // A free turn is had, whatever the limits say.
    assert_int_equal(tn_hex_turn_take(&turn, 1, &cancel), TN_OK);
    assert_true(tn_hex_turn_give(&turn));
    assert_false(tn_hex_turn_wanted(&turn));
    tn_hex_turn_deinit(&turn);
}

static void test_try(void **state)
{
    tn_hex_turn turn;
    assert_true(tn_hex_turn_init(&turn));
    assert_true(tn_hex_turn_try(&turn));
    assert_false(tn_hex_turn_try(&turn));
    assert_false(tn_hex_turn_give(&turn));      // somebody came by: look for what was left
    assert_true(tn_hex_turn_give(&turn));
    assert_true(tn_hex_turn_try(&turn));
    assert_true(tn_hex_turn_give(&turn));
    tn_hex_turn_deinit(&turn);
}

typedef struct taker {
    tn_hex_turn *turn;
    int *inside, *count;
    int wrong, missed;
    unsigned kind;
} taker;

static void *take_often(void *context)
{
    taker *t = context;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t deadline = t->kind == 1 ? tn_clock_ns() + 50000u : 0;
        if (t->kind == 2 ? !tn_hex_turn_try(t->turn) : tn_hex_turn_take(t->turn, deadline, NULL) != TN_OK) {
            t->missed++;
            continue;
        }
        t->wrong += (*t->inside)++ != 0;      // plain words: who has the turn is alone with them
        (*t->count)++;
        (*t->inside)--;
        while (!tn_hex_turn_give(t->turn)) {
        }
    }
    return NULL;
}

static void test_alone(void **state)
{
    tn_hex_turn turn;
    taker t[TAKERS];
    pthread_t threads[TAKERS];
    int inside = 0, count = 0, missed = 0;
    assert_true(tn_hex_turn_init(&turn));
    for (unsigned i = 0; i < TAKERS; i++) {
        t[i] = (taker){.turn = &turn, .inside = &inside, .count = &count, .kind = i % 3};
        assert_int_equal(pthread_create(&threads[i], NULL, take_often, &t[i]), 0);
    }
    for (int i = 0; i < TAKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(t[i].wrong, 0);
        missed += t[i].missed;
    }
    assert_int_equal(count + missed, TAKERS * ROUNDS);
    assert_int_equal(inside, 0);
    assert_true(tn_hex_turn_try(&turn));
    tn_hex_turn_deinit(&turn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_try), cmocka_unit_test(test_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
