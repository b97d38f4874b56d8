// SPDX-License-Identifier: Apache-2.0
// The spare program: it takes the place of one that dies with all that it was handed, wherever it was with it; what it has is worth nothing
// when the bytes that it was made of have changed, when it has died or lied; it forgets what is closed, and there is none where memory is
// limited. Skipped where there is no emulator.
#include "hex_session.h"

#include "sys/clock.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

// Goes on with the spare as runs do, for so many calls or until it has all. false: it did not get there.
static bool bring_up(tn_hex_link *link, int calls)
{
    const uint64_t end = tn_clock_ns() + 60000000000u;
    bool idle = false;
    for (uint32_t made = 0; !idle && (int)made < calls && tn_clock_ns() < end;) {
        tn_hex_link_lock(link);
        tn_hex_spare_pump(link);
        idle = link->spare.idle;
        made = link->spare.state ? link->spare.sequence : 0;
        tn_hex_link_unlock(link);
        usleep(200);
    }
    return idle;
}

static void drop(tn_hex_link *link)
{
    tn_hex_link_lock(link);
    tn_hex_spare_drop(link);
    tn_hex_link_unlock(link);
}

static pid_t spare_of(const tn_hex_link *link) { return link->spare.state ? link->transport->process(link->spare.state) : 0; }

static void kill_program(tn_hex_link *link)
{
    char how[64];
    tn_hex_link_lock(link);
    kill(link->transport->process(link->state), SIGKILL);
    while (link->transport->alive(link->state, how, sizeof how)) {
        usleep(100);
    }
    tn_hex_link_unlock(link);
}

static bool runs_right(hex_user *u)
{
    tn_result_slot got[HEX_MOST_RESULTS];
    if (hex_bench_run(&u->b, HEX_DSP, got, 0) != TN_OK) {
        print_message("%s\n", u->b.diag.message);
        return false;
    }
    hex_bench_compare(&u->b, got, u->want);
    return true;
}

// What was packed anew, and taken over, of all graphs so far.
static void count(const tn_hex_link *link, uint32_t *packings, uint32_t *taken)
{
    *packings = *taken = 0;
    for (const tn_hex_part *part = link->parts; part; part = part->next) {
        *packings += part->packings;
        *taken += part->taken;
    }
}

static void open_three(hex_user users[HEX_MODELS])
{
    if (!hex_bench_present()) {
        skip();
    }
    for (int i = 0; i < HEX_MODELS; i++) {
        hex_user_open(&users[i], i, NULL);
        assert_true(runs_right(&users[i]));
    }
}

static void close_three(hex_user users[HEX_MODELS], int descriptors)
{
    for (int i = 0; i < HEX_MODELS; i++) {
        hex_bench_close(&users[i].b);
    }
    assert_int_equal(hex_open_descriptors(), descriptors);
    assert_false(hex_has_children());
}

// Runs alone bring it up. When the program dies it is there, and every graph of every model in it.
static void test_takes_over(void **state)
{
    hex_user users[HEX_MODELS];
    uint32_t packings, taken, packings_after, taken_after;
    const int descriptors = hex_open_descriptors();
    open_three(users);
    tn_hex_link *link = hex_bench_link(&users[0].b);
    const uint64_t end = tn_clock_ns() + 60000000000u;
    for (int i = 0; (!link->spare.idle || !link->spare.state) && tn_clock_ns() < end; i++) {
        assert_true(runs_right(&users[i % HEX_MODELS]));
    }
    for (int round = 0; round < 3; round++) {
        assert_true(bring_up(link, 1000));
        const pid_t spare = spare_of(link);
        assert_true(spare > 0);
        count(link, &packings, &taken);
        kill_program(link);
        assert_true(runs_right(&users[0]));
        assert_int_equal(hex_bench_process(&users[0].b), spare);
        for (const tn_hex_part *part = link->parts; part; part = part->next) {
            assert_int_equal(part->step, TN_HEX_STEP_READY);
            assert_int_equal(part->session, link->session);
        }
        assert_true(runs_right(&users[1]));
        assert_true(runs_right(&users[2]));
        count(link, &packings_after, &taken_after);
        assert_int_equal(packings_after, packings);
        assert_true(taken_after > taken);
    }
    close_three(users, descriptors);
}

// The program dies while the spare is at any of its calls, or has not said that it listens.
static void test_half_way(void **state)
{
    hex_user users[HEX_MODELS];
    const int descriptors = hex_open_descriptors();
    open_three(users);
    tn_hex_link *link = hex_bench_link(&users[0].b);
    bool whole = false;
    int calls = 0;
    for (; !whole && calls < 200; calls++) {
        drop(link);
        whole = bring_up(link, calls);
        const pid_t spare = spare_of(link);
        kill_program(link);
        for (int i = 0; i < HEX_MODELS; i++) {
            assert_true(runs_right(&users[(i + calls) % HEX_MODELS]));
        }
        if (spare) {
            assert_int_equal(hex_bench_process(&users[0].b), spare);
        }
    }
    assert_true(whole);
    assert_true(calls > 15);
    close_three(users, descriptors);
}

// A program gone wild has written over records or weights: nothing that the spare made of them is believed.
static void test_changed(void **state)
{
    hex_user users[HEX_MODELS];
    uint32_t packings, packings_after, taken;
    const int descriptors = hex_open_descriptors();
    open_three(users);
    tn_hex_link *link = hex_bench_link(&users[0].b);
    for (int what = 0; what < 3; what++) {
        assert_true(bring_up(link, 1000));
        const pid_t spare = spare_of(link);
        assert_true(spare > 0);
        const tn_hex_part *part = link->parts;
        while (part->packed_bytes == 0) {
            part = part->next;
        }
        count(link, &packings, &taken);
        uint8_t *byte = what == 0 ? part->packed->data + part->packed_bytes / 2 : part->records->data + (what == 1 ? part->nodes_at + 8 : part->data_at + 3);
        *byte ^= 0x41;
        kill_program(link);
        for (int i = 0; i < HEX_MODELS; i++) {
            assert_true(runs_right(&users[i]));
        }
        assert_int_equal(hex_bench_process(&users[0].b), spare);
        count(link, &packings_after, &taken);
        assert_int_equal(packings_after, packings + (what == 0));
    }
    close_three(users, descriptors);
}

// One that is dead, or answers what makes no sense, is none.
static void test_no_good(void **state)
{
    hex_user users[HEX_MODELS];
    const int descriptors = hex_open_descriptors();
    open_three(users);
    tn_hex_link *link = hex_bench_link(&users[0].b);
    assert_true(bring_up(link, 1000));
    const pid_t dead = spare_of(link);
    kill(dead, SIGKILL);
    kill_program(link);
    assert_true(runs_right(&users[0]));
    assert_int_not_equal(hex_bench_process(&users[0].b), dead);
    // It starts, and stops before it can answer: the answer is ours.
    assert_false(bring_up(link, 1));
    tn_hex_link_lock(link);
    const pid_t stopped = spare_of(link);
    assert_true(stopped > 0);
    kill(stopped, SIGSTOP);
    const uint32_t wrong[TN_HEX_MESSAGE_WORDS] = {link->spare.late.sequence, link->spare.late.call, TN_HEX_PARAM};
    memcpy(link->spare.page + TN_HEX_AT_RESPONSE, wrong, sizeof wrong);
    memcpy(link->spare.page + TN_HEX_AT_RSP_SEQ, wrong, 4);
    link->spare.late.waiting = true;
    tn_hex_spare_pump(link);
    assert_null(link->spare.state);
    assert_true(link->spare.off);
    tn_hex_link_unlock(link);
    kill_program(link);
    for (int i = 0; i < HEX_MODELS; i++) {
        assert_true(runs_right(&users[i]));
    }
    assert_null(link->spare.state);
    close_three(users, descriptors);
}

static size_t copies(const tn_hex_link *link, bool of_parts)
{
    size_t n = 0;
    for (const tn_hex_copy *copy = link->spare.copies; copy; copy = copy->next) {
        n += of_parts == (copy->part != NULL);
    }
    return n;
}

// A model that is closed is forgotten by the spare, or by the program that it becomes; the others' graphs are still there.
static void test_forgets(void **state)
{
    hex_user users[HEX_MODELS];
    const int descriptors = hex_open_descriptors();
    open_three(users);
    tn_hex_link *link = hex_bench_link(&users[0].b);
    assert_true(bring_up(link, 1000));
    const pid_t spare = spare_of(link);
    const size_t all = copies(link, true);
    hex_bench_close(&users[1].b);
    assert_true(copies(link, false) > 0);
    assert_true(bring_up(link, 1000));
    assert_int_equal(copies(link, false), 0);
    assert_true(copies(link, true) > 0 && copies(link, true) < all);
    hex_user_open(&users[1], 1, NULL);
    assert_true(runs_right(&users[1]));
    assert_true(bring_up(link, 1000));
    assert_int_equal(copies(link, true), all);
    hex_bench_close(&users[1].b);
    assert_true(copies(link, false) > 0);
    kill_program(link);
    assert_true(runs_right(&users[0]));
    assert_true(runs_right(&users[2]));
    assert_int_equal(hex_bench_process(&users[0].b), spare);
    hex_user_open(&users[1], 1, NULL);
    assert_true(runs_right(&users[1]));
    close_three(users, descriptors);
}

// A session with a limit of memory does without, and so do those that share its program, for as long as it is there.
static void test_frugal(void **state)
{
    tenon_session *poor = NULL;
    tenon_error *error = NULL;
    tenon_sample sample;
    tenon_tensor tensor;
    tenon_session_options options;
    if (!hex_bench_present()) {
        skip();
    }
    hex_model_open(&hex_swallow, NULL, NULL);
    tenon_session *rich = hex_session_make(&hex_swallow, "hexagon", 0);
    assert_int_equal(tenon_session_run(rich, NULL, 0, &error), TENON_OK);
    tn_hex_link *link = hex_session_link(rich);
    assert_true(bring_up(link, 1000));
    assert_non_null(link->spare.state);
    hex_session_options(&hex_swallow, &sample, &tensor, &options);
    options.memory_limit = 1u << 30;
    assert_int_equal(tenon_session_create(&poor, hex_swallow.model, &options, &error), TENON_OK);
    hex_session_feed(&hex_swallow, poor);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tenon_session_run(i % 2 ? rich : poor, NULL, 0, &error), TENON_OK);
        assert_true(hex_session_right(&hex_swallow, i % 2 ? rich : poor));
        assert_null(link->spare.state);
    }
    tenon_session_destroy(poor);
    assert_int_equal(tenon_session_run(rich, NULL, 0, &error), TENON_OK);
    assert_true(bring_up(link, 1000));
    assert_non_null(link->spare.state);
    tenon_session_destroy(rich);
    hex_model_close(&hex_swallow);
    assert_false(hex_has_children());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_over), cmocka_unit_test(test_half_way), cmocka_unit_test(test_changed),
        cmocka_unit_test(test_no_good),    cmocka_unit_test(test_forgets),  cmocka_unit_test(test_frugal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
