// SPDX-License-Identifier: Apache-2.0
// The FastRPC transport over an imitation of the vendor's library, behind which the emulated DSP runs: the same bits as the CPU, memory
// of the library's own and no copies, a process that dies and is opened again, a call that hangs and is ended. Skipped without both.
#include "hex_bench.h"

#include "hexagon/fake_cdsprpc.h"
#include "sys/clock.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const text =
    "graph \"g\" (%x: uint8[1,8,12,12]) -> (%c)\n"
    "  %c = qlinear_conv(%x, %s: const float32[](0.02), %z: const uint8[](120), %w: const int8[16,8,3,3], %ws: const float32[](0.01), -, "
    "%cs: const float32[](0.05), %cz: const uint8[](100), %b: const int32[16]) {kernel=[3,3], pads=[1,1,1,1], rounding=fixed_q31}\n";

// ---- the DSP behind the library ----

static struct {
    tn_heap heap;
    void *state;
    uint8_t *page;
    int fd;
    uint32_t sequence;
    pid_t process;
    int opened, calls;
} dsp = {.fd = -1};

static _Atomic uint32_t *word(size_t offset, int i) { return (_Atomic uint32_t *)(void *)(dsp.page + offset + 4 * (size_t)i); }

static void dsp_close(void)
{
    if (dsp.state) {
        tn_hex_qemu.stop(dsp.state, false);
        munmap(dsp.page, TN_HEX_PAGE);
        close(dsp.fd);
    }
    dsp.state = NULL;
}

static int dsp_open(void)
{
    tn_diag diag = {.status = TN_OK};
    char how[64];
    dsp.fd = memfd_create("page", MFD_CLOEXEC);
    assert_true(dsp.fd >= 0 && ftruncate(dsp.fd, TN_HEX_PAGE) == 0);
    dsp.page = mmap(NULL, TN_HEX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, dsp.fd, 0);
    atomic_store(word(TN_HEX_AT_CONFIG, TN_HEX_CONFIG_MAGIC), TN_HEX_MAGIC);
    atomic_store(word(TN_HEX_AT_CONFIG, TN_HEX_CONFIG_PROTOCOL), TN_HEX_PROTOCOL);
    dsp.sequence = 0;
    if (tn_hex_qemu.start(&dsp.state, &dsp.heap, dsp.fd, &(tn_hex_options){.threads = 1}, &diag) != TN_OK) {
        return 0;
    }
    while (atomic_load(word(TN_HEX_AT_ALIVE, TN_HEX_ALIVE_READY)) != 1) {
        if (!tn_hex_qemu.alive(dsp.state, how, sizeof how)) {
            return 0;
        }
        usleep(200);
    }
    dsp.process = tn_hex_qemu.process(dsp.state);
    dsp.opened++;
    return 1;
}

static void dsp_kill(void) { kill(dsp.process, SIGKILL); }

static int dsp_invoke(const uint32_t *request, int fd, const uint32_t *io, uint32_t n_io, uint32_t *response)
{
    char how[64];
    dsp.calls++;
    if (fd >= 0 && tn_hex_qemu.send_fd(dsp.state, fd, NULL, 0) != TN_OK) {
        return 0x27;
    }
    for (uint32_t i = 0; i < n_io; i++) {
        atomic_store(word(TN_HEX_AT_IO, (int)i), io[i]);
    }
    for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
        atomic_store(word(TN_HEX_AT_REQUEST, i), request[i]);
    }
    atomic_store(word(TN_HEX_AT_REQUEST, TN_HEX_MSG_SEQ), ++dsp.sequence);
    atomic_store(word(TN_HEX_AT_REQ_SEQ, 0), dsp.sequence);
    syscall(SYS_futex, word(TN_HEX_AT_REQ_SEQ, 0), FUTEX_WAKE, 1, NULL, NULL, 0);
    while (atomic_load(word(TN_HEX_AT_RSP_SEQ, 0)) != dsp.sequence) {
        if (!tn_hex_qemu.alive(dsp.state, how, sizeof how)) {
            return 0x27;
        }
        usleep(50);
    }
    for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
        response[i] = atomic_load(word(TN_HEX_AT_RESPONSE, i));
    }
    return 0;
}

static const fake_hooks hooks = {dsp_open, dsp_close, dsp_kill, dsp_invoke};

// Loaded before anybody asks for it by name; false: it was not built.
static bool load_library(void)
{
    char path[600];
    fake_set_hooks_fn set;
    const ssize_t n = readlink("/proc/self/exe", path, 500);
    if (n <= 0) {
        return false;
    }
    path[n] = 0;
    char *end = strrchr(path, '/');
    (void)snprintf(end ? end : path, 64, "/hexagon/fake/libcdsprpc.so");
    void *library = dlopen(path, RTLD_NOW);
    void *at = library ? dlsym(library, "fake_set_hooks") : NULL;
    memcpy(&set, &at, sizeof at);
    if (at) {
        set(&hooks);
    }
    return at != NULL;
}

// ---- runs ----

static void test_phone(void **state)
{
    const char *what = "";
    hex_bench b;
    tn_result_slot got[HEX_MOST_RESULTS], want[HEX_MOST_RESULTS];
    tn_heap_init(&dsp.heap, NULL, NULL, NULL);
    if (!tn_hex_qemu.present(&what) || !load_library()) {
        print_message("no emulator, or no imitated library\n");
        skip();
    }
    assert_true(tn_hex_fastrpc.present(&what));
    hex_bench_open(&b, text, true);
    const tn_hex_link *link = hex_bench_link(&b);
    assert_ptr_equal(link->transport, &tn_hex_fastrpc);
    assert_int_equal(hex_bench_run(&b, HEX_CPU, want, 0), TN_OK);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, got, 0), TN_OK);
    hex_bench_compare(&b, got, want);
    assert_int_equal(b.devices[0]->vtable->copied(b.devices[0]), 0);
    assert_true(dsp.calls > 5);
    // The process dies: an error for that run, and the next opens it again.
    kill(dsp.process, SIGKILL);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, got, 0), TN_DEVICE);
    assert_non_null(strstr(b.diag.message, "FastRPC error 0x27"));
    assert_int_equal(hex_bench_run(&b, HEX_DSP, got, 0), TN_OK);
    hex_bench_compare(&b, got, want);
    assert_int_equal(dsp.opened, 2);
    // It hangs: the deadline ends the call by ending the process.
    kill(dsp.process, SIGSTOP);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, got, tn_clock_ns() + 100000000u), TN_DEADLINE);
    assert_int_equal(hex_bench_run(&b, HEX_DSP, got, 0), TN_OK);
    hex_bench_compare(&b, got, want);
    hex_bench_close(&b);
    dsp_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_phone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
