// SPDX-License-Identifier: Apache-2.0
// The devices of a session: opened with it, lost and regained while it runs.
#include "api/api.h"

#include "base/num.h"
#include "device/cache_folder.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

void tn_api_close_devices(tenon_session *session)
{
    for (size_t i = 0; i < session->context.n_devices; i++) {
        session->devices[i]->vtable->close(session->devices[i]);
    }
    session->context.n_devices = 0;
    session->context.memory = NULL;
}

// The first device with memory that it shares keeps the tensors of the session.
static void settle(tenon_session *session)
{
    for (size_t i = 0; i < session->context.n_devices; i++) {
        if (session->devices[i]->vtable->take && !session->context.memory && !session->context.light) {
            session->context.memory = session->devices[i];
        }
    }
}

void tn_api_warn(const tenon_session *session, const tn_diag *diag)
{
    if (session->context.log) {
        session->context.log(session->context.log_context, TENON_LOG_WARNING, diag->message);
    }
}

// Everything works without the folder; only what the devices make for this machine is made at each start.
static void check_cache(const tenon_session *session)
{
    tn_diag note = {0};
    bool kept = false;
    for (size_t d = 0; d + 1 < session->context.n_devices; d++) {
        kept = kept || session->devices[d]->vtable->cache_prune;
    }
    if (kept && session->cache && !tn_cache_writable(session->cache)) {
        (void)tn_fail(&note, TN_OK, "cache", "the folder '%.300s' cannot be made or written; programs and packed weights are made anew at each start",
                      session->cache);
        tn_api_warn(session, &note);
    }
}

// A device that is there and does not work is one that failed: unless strict forbids it, the session goes on without.
static tn_status wake(tenon_session *session, tn_diag *diag)
{
    for (size_t d = 0; d + 1 < session->context.n_devices && !session->context.dead; d++) {
        tn_device *device = session->devices[d];
        const tn_status status = device->vtable->revive ? device->vtable->revive(device, 0, diag) : TN_OK;
        if (status != TN_OK && !(status == TN_DEVICE && tn_api_lose_devices(session, diag))) {
            return status;
        }
    }
    return TN_OK;
}

// Opens the named device, or those that are present in the order of the registry with the CPU last.
tn_status tn_api_open_devices(tenon_session *session, const char *name, tn_diag *diag)
{
    size_t n = 0;
    bool found = !name || strcmp(name, "cpu") == 0;
    for (int cpu = 0; cpu < 2; cpu++) {
        for (const tn_device_vtable *const *vtable = tn_registry_devices; *vtable; vtable++) {
            const bool is_cpu = strcmp((*vtable)->name, "cpu") == 0;
            if (is_cpu != (cpu == 1) || n == TN_COUNT(session->devices) || (!is_cpu && name && strcmp(name, (*vtable)->name) != 0) ||
                (!name && (*vtable)->named_only)) {
                continue;
            }
            tn_device_facts facts = {.present = true};
            // Opening a named device says itself why it cannot; looking first would start it twice.
            if (!(*vtable)->probe_opens) {
                TN_TRY((*vtable)->probe(&facts));
            }
            if (!facts.present && name && !is_cpu) {
                return tn_fail(diag, TN_DEVICE, name, "the device is not present: %s", facts.reason);
            }
            if (facts.present && !(name && strcmp(name, "cpu") == 0 && !is_cpu)) {
                TN_TRY((*vtable)->open(&session->devices[n], session->heap, &session->context.cpu, diag));
                session->context.n_devices = ++n;
                found = found || (name && !is_cpu);
            }
        }
    }
    if (!found) {
        return tn_fail(diag, TN_DEVICE, name, "there is no device of this name in this build; `tenon doctor` lists the devices");
    }
    session->context.devices = session->devices;
    settle(session);
    check_cache(session);
    return wake(session, diag);
}

// ---- devices that fail ----

// A device that failed is asked again after a second, then after two, four ... so that neither a crash keeps a session on the CPU for good
// nor a device that is gone costs each run a look.
#define FIRST_RETRY_NS 1000000000u
#define MAX_DOUBLINGS 6
#define REVIVE_NS 100000000u      // a run waits no longer for one that starts

static void wait_for_retry(tenon_session *session)
{
    session->retry_ns = tn_clock_ns() + ((uint64_t)FIRST_RETRY_NS << TN_MIN(session->losses, (unsigned)MAX_DOUBLINGS));
    session->losses++;
}

// Plans go, and with them what they had on the devices.
static void plan_anew(tenon_session *session)
{
    for (tn_wanted *wanted = session->wanted; wanted; wanted = wanted->next) {
        tn_program_forget(wanted->program);
    }
}

bool tn_api_lose_devices(tenon_session *session, tn_diag *diag)
{
    const unsigned all = (1u << (session->context.n_devices - 1)) - 1;
    if (session->context.strict & TENON_STRICT_DEVICE || session->context.dead == all) {
        return false;
    }
    tn_api_warn(session, diag);
    (void)snprintf(session->context.failure, sizeof session->context.failure, "%.250s", diag->message);
    session->context.dead = all;
    session->context.device_fallbacks++;
    wait_for_retry(session);
    plan_anew(session);
    tn_diag_clear(diag);
    return true;
}

void tn_api_regain_devices(tenon_session *session)
{
    unsigned alive = 0;
    if (!session->context.dead || tn_clock_ns() < session->retry_ns) {
        return;
    }
    for (size_t d = 0; d + 1 < session->context.n_devices; d++) {
        tn_device *device = session->devices[d];
        tn_diag ignored = {.status = TN_OK};
        const uint64_t deadline = tn_clock_ns() + REVIVE_NS;
        if (session->context.dead >> d & 1 && device->vtable->revive && device->vtable->revive(device, deadline, &ignored) == TN_OK) {
            alive |= 1u << d;
        }
    }
    if (alive) {
        session->context.dead &= ~alive;
        session->context.failure[0] = '\0';
        plan_anew(session);
    } else {
        wait_for_retry(session);
    }
}
