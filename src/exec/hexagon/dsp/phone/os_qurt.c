// SPDX-License-Identifier: Apache-2.0
// The operating system's side on a phone: QuRT threads, futexes and HVX locks, HAP power votes, VTCM and clocks. UNPROVEN: written from
// the names that public callers of the vendor's SDK use, never compiled here (the SDK's headers may not be had), never run. It is built
// by nobody but who has that SDK; the emulator's pair (os_qemu.c) says what each function must do.
// Ownership: static state of the one process domain. Threads: any.
#include "exec/hexagon/dsp/os.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

#include <HAP_compute_res.h>
#include <HAP_perf.h>
#include <HAP_power.h>
#include <qurt.h>
#include <stdlib.h>

enum { STACK_BYTES = 65536, ALIGNMENT = 128, PRIORITY = 100, MAX_SELF = TN_HEX_MAX_THREADS + 1, WAIT_US = 100000 };
enum { CLIENT = 0x544e };        // any address or number of ours names this client's power votes

static tn_hx_self selves[MAX_SELF];
static qurt_thread_t threads[MAX_SELF];
static struct { void (*run)(void *); void *context; unsigned index; } starts[MAX_SELF];
static _Thread_local unsigned mine;
static unsigned vtcm_id;

static void *take(size_t bytes)
{
    void *at = bytes ? memalign(ALIGNMENT, bytes) : NULL;
    if (at) {
        memset(at, 0, bytes);
    }
    return at;
}

static void give(void *at, size_t bytes)
{
    (void)bytes;
    free(at);
}

static tn_hx_self *self(void) { return &selves[mine]; }

static void enter(void *argument)
{
    const unsigned index = (unsigned)(uintptr_t)argument;
    mine = index;
    selves[index].thread = index;
    starts[index].run(starts[index].context);
    qurt_thread_exit(0);
}

static int thread_start(unsigned index, void (*run)(void *), void *context)
{
    void *stack = index < MAX_SELF ? take(STACK_BYTES) : NULL;
    if (!stack) {
        return -1;
    }
    starts[index].run = run;
    starts[index].context = context;
    qurt_thread_attr_t attr;
    qurt_thread_attr_init(&attr);
    qurt_thread_attr_set_name(&attr, "tenon");
    qurt_thread_attr_set_stack_addr(&attr, stack);
    qurt_thread_attr_set_stack_size(&attr, STACK_BYTES);
    qurt_thread_attr_set_priority(&attr, PRIORITY);
    return qurt_thread_create(&threads[index], &attr, enter, (void *)(uintptr_t)index) == QURT_EOK ? 0 : -1;
}

static void futex_wait(uint32_t *word, uint32_t value) { qurt_futex_wait(word, (int)value); }
static void futex_wake(uint32_t *word) { qurt_futex_wake(word, TN_HEX_MAX_THREADS + 1); }

static void trap(void) { __builtin_trap(); }

// Locks nest: a thread that has one does not ask again.
static void hvx_lock(void)
{
    if (self()->hvx_held++ == 0 && qurt_hvx_lock(QURT_HVX_MODE_128B) != QURT_EOK) {
        trap();
    }
}

static void hvx_unlock(void)
{
    if (--self()->hvx_held == 0) {
        qurt_hvx_unlock();
    }
}

static size_t vtcm_bytes(void)
{
    unsigned total = 0, free_now = 0;
    return HAP_compute_res_query_VTCM(0, &total, NULL, &free_now, NULL) == 0 ? free_now : 0;
}

static void *vtcm_take(size_t bytes)
{
    compute_res_attr_t attr;
    if (vtcm_id) {
        return NULL;
    }
    HAP_compute_res_attr_init(&attr);
    HAP_compute_res_attr_set_vtcm_param(&attr, (unsigned)bytes, 0);
    HAP_compute_res_attr_set_serialize(&attr, 0);
    vtcm_id = HAP_compute_res_acquire(&attr, WAIT_US);
    return vtcm_id ? HAP_compute_res_attr_get_vtcm_ptr(&attr) : NULL;
}

static void vtcm_give(void *at)
{
    (void)at;
    HAP_compute_res_release(vtcm_id);
    vtcm_id = 0;
}

// Without a driver for the DMA engine the copy is the scalar unit's.
static void copy_start(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
static void copy_wait(void) { }

static void vote(HAP_dcvs_voltage_corner_t corner, int dcvs, uint32_t latency_us)
{
    HAP_power_request_t request;
    memset(&request, 0, sizeof request);
    request.type = HAP_power_set_DCVS_v3;
    request.dcvs_v3.set_dcvs_enable = 1;
    request.dcvs_v3.dcvs_enable = dcvs != 0;
    request.dcvs_v3.set_latency = latency_us != 0;
    request.dcvs_v3.latency = latency_us;
    request.dcvs_v3.set_core_params = 1;
    request.dcvs_v3.core_params.target_corner = corner;
    HAP_power_set((void *)(uintptr_t)CLIENT, &request);
    memset(&request, 0, sizeof request);
    request.type = HAP_power_set_HVX;
    request.hvx.power_up = 1;
    HAP_power_set((void *)(uintptr_t)CLIENT, &request);
}

static void power_level(uint32_t percent)
{
    vote(percent < 34 ? HAP_DCVS_VCORNER_SVS : percent < 67 ? HAP_DCVS_VCORNER_NOM : HAP_DCVS_VCORNER_TURBO, 1, 0);
}

static void power_details(uint32_t corner, uint32_t dcvs, uint32_t latency_us)
{
    vote((HAP_dcvs_voltage_corner_t)corner, (int)dcvs, latency_us);
}

static uint64_t microseconds(void) { return HAP_perf_get_time_us(); }

// Cycles stand for packets, which only the emulator counts.
static void counters(uint32_t out[3])
{
    out[0] = (uint32_t)HAP_perf_get_pcycles();
    out[1] = out[2] = 0;
}

const tn_hx_os tn_hx_os_table = {
    .take = take, .give = give, .thread_start = thread_start, .self = self, .wait = futex_wait, .wake = futex_wake,
    .hvx_lock = hvx_lock, .hvx_unlock = hvx_unlock, .vtcm_bytes = vtcm_bytes, .vtcm_take = vtcm_take, .vtcm_give = vtcm_give,
    .copy_start = copy_start, .copy_wait = copy_wait, .power_level = power_level, .power_details = power_details,
    .microseconds = microseconds, .counters = counters, .trap = trap
};
