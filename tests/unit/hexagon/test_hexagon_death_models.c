// SPDX-License-Identifier: Apache-2.0
// Different models in one DSP program that is killed again and again while all of them run: no wrong result, no leak, each recovers.
// Skipped where there is no emulator.
#include "hex_bench.h"

#include "sys/clock.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { KILLS = 100 };

static void test_kill(void **state)
{
    hex_user users[HEX_MODELS];
    pthread_t threads[HEX_MODELS];
    atomic_int stop = 0, all = 0;
    if (!hex_bench_present()) {
        skip();
    }
    const int descriptors = hex_open_descriptors();
    for (int i = 0; i < HEX_MODELS; i++) {
        hex_user_open(&users[i], i, NULL);
    }
    hex_users_run(users, HEX_MODELS, 5);
    tn_hex_link *link = hex_bench_link(&users[0].b);
    const int held = hex_descriptors_beside_spare(link);
    for (int i = 0; i < HEX_MODELS; i++) {
        users[i].ran = 0;
        users[i].stop = &stop;
        users[i].all = &all;
        assert_int_equal(pthread_create(&threads[i], NULL, hex_user_work, &users[i]), 0);
    }
    int kills = 0;
    const uint64_t begin = tn_clock_ns();
    for (uint64_t last = 0; kills < KILLS && tn_clock_ns() - begin < 200000000000u;) {
        if (kills % 8 == 7 && atomic_load(&all) == 0) {      // now and then they get somewhere
            usleep(300);
            continue;
        }
        tn_hex_link_lock(link);
        // A new one each time, at a moment that has nothing to do with turns.
        const bool fresh = link->session != last && link->state && link->greeted;
        const pid_t pid = fresh ? link->transport->process(link->state) : 0;
        last = fresh ? link->session : last;
        tn_hex_link_unlock(link);
        usleep(fresh ? (unsigned)(kills * 977 % 20000) : 300);
        if (pid > 0) {
            kill(pid, SIGKILL);
            if (kills++ % 8 == 7) {
                atomic_store(&all, 0);
            }
        }
    }
    atomic_store(&stop, 1);
    int died = 0;
    for (int i = 0; i < HEX_MODELS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(users[i].wrong, 0);
        assert_int_equal(users[i].other, 0);
        died += users[i].died;
    }
    assert_int_equal(kills, KILLS);
    assert_true(died > 0);
    print_message("%d kills, %d runs of %d models hit\n", kills, died, HEX_MODELS);
    for (int i = 0; i < HEX_MODELS; i++) {
        tn_result_slot got[HEX_MOST_RESULTS];
        (void)hex_bench_run(&users[i].b, HEX_DSP, got, 0);      // the last kill may not have been noticed yet
    }
    hex_users_run(users, HEX_MODELS, 5);
    assert_int_equal(hex_descriptors_beside_spare(link), held);
    for (int i = 0; i < HEX_MODELS; i++) {
        hex_bench_close(&users[i].b);
    }
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_false(hex_has_children());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
