// SPDX-License-Identifier: Apache-2.0
// What a session has from the device beside results: its memory under the limit, the DSP's log, counters that begin anew when runs are
// timed, a program that is told to quit. Skipped where there is no emulator.
#include "hex_session.h"

#include "support/graph_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3 * 10 * 11 };

static const int64_t dims[] = {1, 3, 10, 11};
static float data[COUNT];

typedef struct heard {
    int lines, nodes, executes;
} heard;

static void hear(void *context, tenon_log_level level, const char *text)
{
    heard *h = context;
    h->lines += level == TENON_LOG_DEBUG;
    h->nodes += level == TENON_LOG_DEBUG && strncmp(text, "node ", 5) == 0;
    h->executes += level == TENON_LOG_DEBUG && strncmp(text, "execute ", 8) == 0;
}

static tenon_status make_session(tenon_session **session, uint64_t limit, int device_log, tenon_error **error)
{
    tenon_sample sample;
    tenon_tensor tensor;
    tenon_session_options options;
    hex_session_options(&hex_swallow, &sample, &tensor, &options);
    options.memory_limit = limit;
    options.device_log = device_log;
    return tenon_session_create(session, hex_swallow.model, &options, error);
}

static tenon_status run(tenon_session *session, tenon_error **error)
{
    assert_int_equal(tenon_session_set_input(session, "x", TENON_FLOAT32, 4, dims, data, sizeof data, error), TENON_OK);
    return tenon_session_run(session, NULL, 0, error);
}

static unsigned long long number(tenon_session *session, const char *key)
{
    char *json = NULL, text[64];
    assert_int_equal(tenon_report(session, TENON_REPORT_MEMORY, &json, NULL), TENON_OK);
    (void)snprintf(text, sizeof text, "\"%s\":", key);
    const char *at = strstr(json, text);
    assert_non_null(at);
    const unsigned long long value = strtoull(at + strlen(text), NULL, 10);
    tenon_report_destroy(json);
    return value;
}

static void test_limit(void **state)
{
    heard h = {0};
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    if (!hex_bench_present()) {
        skip();
    }
    hex_model_open(&hex_swallow, hear, &h);
    memcpy(data, hex_swallow.data, sizeof data);
    assert_int_equal(make_session(&session, 0, 0, &error), TENON_OK);
    assert_int_equal(run(session, &error), TENON_OK);
    const unsigned long long held = number(session, "device_bytes"), peak = number(session, "peak_bytes");
    assert_true(held > 0);
    assert_true(peak > held);
    tenon_session_destroy(session);
    // What the report tells is enough, and with less the error says what is needed.
    assert_int_equal(make_session(&session, peak, 0, &error), TENON_OK);
    assert_int_equal(run(session, &error), TENON_OK);
    assert_true(number(session, "peak_bytes") <= peak);
    tenon_session_destroy(session);
    session = NULL;
    tenon_status status = make_session(&session, held, 0, &error);
    status = status == TENON_OK ? run(session, &error) : status;
    assert_int_equal(status, TENON_LIMIT);
    assert_non_null(strstr(tenon_error_message(error), "held by a device"));
    assert_non_null(strstr(tenon_error_message(error), "memory_limit"));
    tenon_error_destroy(error);
    tenon_session_destroy(session);
    hex_model_close(&hex_swallow);
}

// A buffer of the caller's needs a copy that both sides see, which counts too.
static void test_limit_of_copies(void **state)
{
    heard h = {0};
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    if (!hex_bench_present()) {
        skip();
    }
    hex_model_open(&hex_swallow, hear, &h);
    memcpy(data, hex_swallow.data, sizeof data);
    assert_int_equal(make_session(&session, 0, 0, &error), TENON_OK);
    assert_int_equal(run(session, &error), TENON_OK);
    const unsigned long long before = number(session, "device_bytes");
    static uint8_t result[4096] __attribute__((aligned(64)));
    tenon_tensor out;
    assert_int_equal(tenon_session_output(session, 0, &out, &error), TENON_OK);
    uint8_t want[sizeof result];
    const size_t bytes = out.bytes;
    assert_true(bytes <= sizeof want);
    memcpy(want, out.data, bytes);
    assert_int_equal(tenon_session_bind_output(session, hex_swallow.model->optimised->outputs[0]->name, result, sizeof result, &error), TENON_OK);
    assert_int_equal(run(session, &error), TENON_OK);
    assert_memory_equal(result, want, bytes);
    assert_true(number(session, "device_bytes") >= before);
    tenon_session_destroy(session);
    hex_model_close(&hex_swallow);
}

static unsigned long long copied(tenon_session *session)
{
    char *json = NULL;
    assert_int_equal(tenon_report(session, TENON_REPORT_STATISTICS, &json, NULL), TENON_OK);
    const unsigned long long value = strtoull(strstr(json, "\"device_copied_bytes\":") + 22, NULL, 10);
    tenon_report_destroy(json);
    return value;
}

// From the bytes that the caller writes to those that it reads nothing is copied: both lie in memory that the DSP has mapped.
static void test_lent(void **state)
{
    heard h = {0};
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    tenon_tensor out;
    void *in = NULL, *again = NULL;
    static uint8_t want[2][4096];
    if (!hex_bench_present()) {
        skip();
    }
    hex_model_open(&hex_swallow, hear, &h);
    memcpy(data, hex_swallow.data, sizeof data);
    assert_int_equal(make_session(&session, 0, 0, &error), TENON_OK);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < COUNT; k++) {
            data[k] = (float)(k * (37 + 6 * i) % 101) / 25 - 2;
        }
        assert_int_equal(run(session, &error), TENON_OK);
        assert_int_equal(tenon_session_output(session, 0, &out, &error), TENON_OK);
        assert_true(out.bytes <= sizeof want[i]);
        memcpy(want[i], out.data, out.bytes);
    }
    assert_memory_not_equal(want[0], want[1], out.bytes);
    assert_int_equal(tenon_session_lend_input(session, "x", TENON_FLOAT32, 4, dims, 7, &in, &error), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    error = NULL;
    assert_null(in);
    assert_int_equal(tenon_session_lend_input(session, "y", TENON_FLOAT32, 4, dims, sizeof data, &in, NULL), TENON_NOT_FOUND);
    assert_int_equal(tenon_session_lend_input(session, "x", TENON_FLOAT32, 4, dims, sizeof data, NULL, NULL), TENON_INVALID_ARGUMENT);
    assert_int_equal(tenon_session_lend_input(session, "x", TENON_FLOAT32, 4, dims, sizeof data, &in, &error), TENON_OK);
    for (int i = 1; i >= 0; i--) {
        for (int k = 0; k < COUNT; k++) {
            ((float *)in)[k] = (float)(k * (37 + 6 * i) % 101) / 25 - 2;
        }
        assert_int_equal(tenon_session_run(session, NULL, 0, &error), TENON_OK);
        assert_int_equal(tenon_session_output(session, 0, &out, &error), TENON_OK);
        assert_memory_equal(out.data, want[i], out.bytes);
    }
    tn_hex_link *link = ((tn_hex_device *)session->devices[0])->link;
    tn_hex_link_lock(link);
    assert_non_null(tn_hex_buffer_find(link, in, sizeof data));
    assert_non_null(tn_hex_buffer_find(link, out.data, out.bytes));
    tn_hex_link_unlock(link);
    assert_int_equal(copied(session), 0);
    assert_int_equal(tenon_session_lend_input(session, "x", TENON_FLOAT32, 4, dims, sizeof data, &again, &error), TENON_OK);
    assert_ptr_equal(in, again);
    tenon_session_destroy(session);
    hex_model_close(&hex_swallow);
}

static void test_log(void **state)
{
    heard h = {0};
    tenon_session *silent = NULL, *calls = NULL, *nodes = NULL;
    tenon_error *error = NULL;
    if (!hex_bench_present()) {
        skip();
    }
    hex_model_open(&hex_swallow, hear, &h);
    memcpy(data, hex_swallow.data, sizeof data);
    assert_int_equal(make_session(&silent, 0, 3, &error), TENON_INVALID_ARGUMENT);
    tenon_error_destroy(error);
    error = NULL;
    assert_int_equal(make_session(&silent, 0, 0, &error), TENON_OK);
    assert_int_equal(run(silent, &error), TENON_OK);
    assert_int_equal(h.lines, 0);
    assert_int_equal(make_session(&calls, 0, 1, &error), TENON_OK);
    assert_int_equal(run(calls, &error), TENON_OK);
    assert_true(h.executes > 0);
    assert_int_equal(h.nodes, 0);
    assert_int_equal(make_session(&nodes, 0, 2, &error), TENON_OK);
    assert_int_equal(run(nodes, &error), TENON_OK);
    assert_true(h.nodes > 0);
    // They share a program: it says nothing to the one that does not ask.
    h = (heard){0};
    assert_int_equal(run(silent, &error), TENON_OK);
    assert_int_equal(h.lines, 0);
    tenon_session_destroy(silent);
    tenon_session_destroy(calls);
    tenon_session_destroy(nodes);
    hex_model_close(&hex_swallow);
}

// ---- below sessions ----

typedef struct lines {
    char text[8][160];
    int count;
} lines;

static void keep(void *context, const char *line)
{
    lines *l = context;
    assert_true(strlen(line) < 160);
    (void)snprintf(l->text[l->count % 8], sizeof l->text[0], "%s", line);
    l->count++;
}

static void put(tn_hex_link *link, const char *text, size_t n)
{
    uint32_t head;
    memcpy(&head, link->page + TN_HEX_AT_LOG_HEAD, sizeof head);
    for (size_t i = 0; i < n; i++) {
        link->page[TN_HEX_AT_LOG + (head + i) % TN_HEX_LOG_BYTES] = (uint8_t)text[i];
    }
    head += (uint32_t)n;
    memcpy(link->page + TN_HEX_AT_LOG_HEAD, &head, sizeof head);
}

static void hear_all(tn_hex_link *link, lines *l)
{
    tn_hex_lines taken = {.text = NULL};
    tn_hex_log_take(link, &taken);
    tn_hex_log_tell(link, &taken, keep, l);
}

// The ring is the DSP's: it may turn round, be full of anything, and its head may be any number.
static void test_ring(void **state)
{
    static uint8_t page[TN_HEX_PAGE] __attribute__((aligned(64)));
    tn_heap heap;
    tn_hex_link link = {.page = page, .heap = &heap};
    lines l = {.count = 0};
    char last[64];
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_hex_log_last(&link, last, sizeof last);
    assert_string_equal(last, "");
    put(&link, "map 0\nexecute 14\n", 17);
    hear_all(&link, &l);
    assert_int_equal(l.count, 2);
    assert_string_equal(l.text[1], "execute 14");
    hear_all(&link, &l);
    assert_int_equal(l.count, 2);
    tn_hex_log_last(&link, last, sizeof last);
    assert_string_equal(last, "map 0,execute 14");
    put(&link, "a\nb\n\033[2J\n", 9);
    tn_hex_log_last(&link, last, sizeof last);
    assert_string_equal(last, "a,b,?[2J");
    for (int i = 0; i < 3000; i++) {
        put(&link, "node 1234567\n", 13);      // more than the ring holds
    }
    l.count = 0;
    hear_all(&link, &l);
    assert_true(l.count > 2000 && l.count < 3000);
    assert_string_equal(l.text[(l.count - 1) % 8], "node 1234567");
    tn_hex_log_last(&link, last, sizeof last);
    assert_string_equal(last, "node 1234567,node 1234567,node 1234567");
    memset(page + TN_HEX_AT_LOG, 'x', TN_HEX_LOG_BYTES);      // no line ends
    memset(page + TN_HEX_AT_LOG_HEAD, 0xf3, 4);
    hear_all(&link, &l);
    tn_hex_log_last(&link, last, sizeof last);
    assert_true(strlen(last) < sizeof last);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
    // What was there when a turn begins is another's.
    memset(page, 0, sizeof page);
    link.log_read = 0;
    put(&link, "execute 2\n", 10);
    tn_hex_log_begin(&link);
    l.count = 0;
    put(&link, "execute 3\n", 10);
    tn_hex_log_last(&link, last, sizeof last);
    assert_string_equal(last, "execute 3");
    hear_all(&link, &l);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.text[0], "execute 3");
}

static bool asked;

static void watch_stop(void *state, bool by_request)
{
    asked = by_request;
    tn_hex_qemu.stop(state, by_request);
}

static void test_quit(void **state)
{
    const tn_hex_options options = {.threads = 1};
    tn_hex_transport transport = tn_hex_qemu;
    tn_heap heap;
    tn_diag diag = {.status = TN_OK};
    tn_hex_link *link = NULL;
    if (!hex_bench_present()) {
        skip();
    }
    transport.stop = watch_stop;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (int idle = 1; idle >= 0; idle--) {
        asked = false;
        assert_int_equal(tn_hex_link_open(&link, &transport, &heap, &options, &diag), TN_OK);
        link->late.waiting = !idle;      // one that is at work is not waited for
        tn_hex_link_close(link);
        assert_int_equal(asked, idle);
    }
    char text[80] = "";
    tn_hex_qemu.describe(text, sizeof text);
    assert_non_null(strstr(text, "qemu-hexagon"));
    assert_null(strstr(text, "unknown"));
}

static uint32_t executions(hex_bench *b, const tn_hex_flow *flow)
{
    tn_hex_link *link = hex_bench_link(b);
    tn_hex_buffer *buffer = tn_hex_buffer_take(link, 4096);
    uint32_t count;
    assert_non_null(buffer);
    tn_hex_link_lock(link);
    assert_int_equal(tn_hex_link_map(link, buffer, &b->diag), TN_OK);
    const uint32_t args[4] = {flow->part->id, buffer->handle, 0, 4096};
    tn_hex_call call = {.call = TN_HEX_CALL_PERF, .args = args, .n_args = 4, .place = "test"};
    assert_int_equal(tn_hex_link_call(link, &call, &b->diag), TN_OK);
    assert_true(call.results[0] > 0);
    memcpy(&count, buffer->data + 4 * TN_HEX_PERF_EXECUTIONS, sizeof count);
    tn_hex_link_unlock(link);
    tn_hex_buffer_give(link, buffer);
    return count;
}

static void test_counters(void **state)
{
    hex_bench b;
    hex_bench_open_net(&b, "fixed_q31");
    tn_graph *plain = tn_graph_parse("graph \"g\" (%x: uint8[1,8,12,12]) -> (%y)\n  %y = max_pool(%x) {kernel=[2,2], strides=[2,2]}\n", &b.heap, &b.diag);
    assert_non_null(plain);
    assert_int_equal(tn_infer_graph(plain, &b.heap, &b.diag), TN_OK);
    tn_hex_flow *flow = NULL;
    const tn_flow_request request = {.graph = plain, .precision = "fp32", .diag = &b.diag};
    assert_int_equal(tn_hex_flow_make((tn_hex_device *)b.devices[0], &request, &flow), TN_OK);
    uint8_t y[8 * 36];
    tn_tensor out = {.dtype = TN_U8, .shape = {4, {1, 8, 6, 6}}, .data = y};
    const tn_tensor *const ins[] = {&b.feed};
    tn_tensor *const outs[] = {&out};
    const uint32_t want[] = {1, 2, 1, 2, 3, 1};
    for (int i = 0; i < 6; i++) {
        const tn_flow_run once = {.in = ins, .out = outs, .timed = i == 2 || i == 3 || i == 5, .diag = &b.diag};
        assert_int_equal(tn_hex_flow_run(flow, &once), TN_OK);
        assert_int_equal(executions(&b, flow), want[i]);
    }
    // There is no room for the copy of a tensor in the caller's memory.
    const tn_flow_run poor = {.in = ins, .out = outs, .room = 16, .diag = &b.diag};
    tn_hex_link_lock(hex_bench_link(&b));
    tn_hex_buffer_give_locked(hex_bench_link(&b), flow->staging);
    flow->staging = NULL;
    tn_hex_link_unlock(hex_bench_link(&b));
    assert_int_equal(tn_hex_flow_run(flow, &poor), TN_LIMIT);
    assert_non_null(strstr(b.diag.message, "memory_limit"));
    tn_hex_flow_release(flow);
    tn_graph_destroy(plain);
    hex_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit), cmocka_unit_test(test_limit_of_copies), cmocka_unit_test(test_lent), cmocka_unit_test(test_log),
        cmocka_unit_test(test_ring),  cmocka_unit_test(test_quit),  cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
