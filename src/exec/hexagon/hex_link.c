// SPDX-License-Identifier: Apache-2.0
// Calls over the control page (wire/hex_control.h). What the DSP writes there is not trusted: answers are copied out before they are
// looked at, numbers from it index nothing unchecked, and each wait has an end.
// Ownership: see hex_link.h. Threads: see hex_link.h.
#include "exec/hexagon/hex_link.h"

#include "base/macros.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 5000000u              // between two looks at the child while waiting
#define START_NS 20000000000u          // for the program to say that it listens: machines may be busy, and one that ends is noticed at once
#define CALL_NS 120000000000u          // without a sign of life: a DSP that is at one node for longer hangs
#define WHOLE_NS (20 * CALL_NS)        // for any call, whatever its signs of life
#define QUIT_NS 200000000u             // for a program that is told to quit to answer
#define CANCEL_NS 200000000u           // how long a cancelled call may go on before the DSP is stopped
#define DEFAULT_LEVEL 50u              // percent; what a program votes for when it begins

// ---- words of the page ----

static _Atomic uint32_t *word_at(uint8_t *page, size_t offset) { return (_Atomic uint32_t *)(void *)(page + offset); }

uint32_t tn_hex_page_load(uint8_t *page, size_t offset, int word)
{
    return atomic_load_explicit(word_at(page, offset + 4 * (size_t)word), memory_order_acquire);
}

static uint32_t load(const tn_hex_link *link, size_t offset, int word) { return tn_hex_page_load(link->page, offset, word); }

static void store(uint8_t *page, size_t offset, int word, uint32_t value)
{
    atomic_store_explicit(word_at(page, offset + 4 * (size_t)word), value, memory_order_release);
}

static void futex_wait(tn_hex_link *link, size_t offset, uint32_t seen, uint64_t ns)
{
    const struct timespec slice = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    syscall(SYS_futex, link->page + offset, FUTEX_WAIT, seen, &slice, NULL, 0);
}

// ---- texts ----

const char *tn_hex_status_text(uint32_t status)
{
    switch (status) {
#define TN_HEX_X(NAME, NUMBER, TEXT) case NUMBER: return TEXT;
        TN_HEX_STATUSES(TN_HEX_X)
#undef TN_HEX_X
    default: return "an unknown status";
    }
}

const char *tn_hex_why_text(uint32_t why)
{
    switch (why) {
#define TN_HEX_X(NAME, NUMBER, TEXT) case NUMBER: return TEXT;
        TN_HEX_WHYS(TN_HEX_X)
#undef TN_HEX_X
    default: return "for an unknown reason";
    }
}

static const char *call_text(uint32_t call)
{
    switch (call) {
#define TN_HEX_X(NAME, NUMBER, TEXT) case NUMBER: return TEXT;
        TN_HEX_CALLS(TN_HEX_X)
#undef TN_HEX_X
    default: return "?";
    }
}

// ---- life ----

const tn_hex_transport *tn_hex_transport_choose(void)
{
    const char *what;
    return tn_hex_fastrpc.present(&what) ? &tn_hex_fastrpc : &tn_hex_qemu;
}

static int shared_memory(size_t bytes)
{
    // Sealed: nobody can take bytes away from under a mapping.
    const int low = memfd_create("tenon", MFD_CLOEXEC | MFD_ALLOW_SEALING), fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 10);
    if (low >= 0) {
        close(low);
    }
    if (fd >= 0 && (ftruncate(fd, (off_t)bytes) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool tn_hex_page_take(uint8_t **page, int *fd)
{
    *fd = shared_memory(TN_HEX_PAGE);
    void *at = *fd < 0 ? MAP_FAILED : mmap(NULL, TN_HEX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    *page = at == MAP_FAILED ? NULL : at;
    if (!*page && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return *page != NULL;
}

void tn_hex_page_give(uint8_t *page, int fd)
{
    if (page) {
        munmap(page, TN_HEX_PAGE);
        close(fd);
    }
}

static void memory_give(const tn_hex_link *link, const tn_hex_buffer *buffer);

static void end(tn_hex_link *link, bool asked)
{
    if (link->state) {
        link->transport->stop(link->state, asked);
    }
    link->state = NULL;
    link->greeted = false;
    link->late = (tn_hex_late){.waiting = false};
    if (link->spare.adopted) {
        tn_hex_spare_drop(link);
    }
}

static void stop(tn_hex_link *link) { end(link, false); }

// A program that answers goes by itself where it can.
static void quit(tn_hex_link *link)
{
    tn_diag ignored = {.status = TN_OK};
    const bool idle = link->greeted && link->transport->quits && !link->late.waiting && tn_hex_link_running(link);
    tn_hex_call call = {.call = TN_HEX_CALL_QUIT, .place = "hexagon", .deadline_ns = tn_clock_ns() + QUIT_NS};
    end(link, idle && tn_hex_link_call(link, &call, &ignored) == TN_OK);
}

tn_status tn_hex_link_check(const tn_hex_link *link, const char *what, tn_diag *diag)
{
    if (link->deadline_ns && tn_clock_ns() >= link->deadline_ns) {
        return tn_fail(diag, TN_DEADLINE, "hexagon", "the run's deadline passed while the DSP %s; it goes on for the next run", what);
    }
    if (link->cancel && atomic_load_explicit(link->cancel, memory_order_relaxed)) {
        return tn_fail(diag, TN_CANCELLED, "hexagon", "the run was cancelled while the DSP %s; it goes on for the next run", what);
    }
    return TN_OK;
}

void tn_hex_link_limit(tn_hex_link *link, uint64_t deadline_ns, const atomic_int *cancel)
{
    link->deadline_ns = deadline_ns;
    link->cancel = cancel;
}

// The message of a death: how the process ended, and the crash record if it wrote one.
static tn_status died(tn_hex_link *link, const tn_hex_call *call, const char *how, tn_diag *diag)
{
    char node[160] = "", where[200] = "", log[200], last[232] = "";
    const bool valid = load(link, TN_HEX_AT_CRASH, TN_HEX_CRASH_VALID) == 1;
    const uint32_t id = load(link, valid ? TN_HEX_AT_CRASH : TN_HEX_AT_ALIVE, valid ? TN_HEX_CRASH_NODE : TN_HEX_ALIVE_NODE);
    if (id) {
        const char *name = link->name && !call->foreign ? link->name(link->name_context, id) : NULL;
        (void)snprintf(node, sizeof node, " at %s%.100s%s", name ? "node '" : "a node of ", name ? name : call->foreign ? "another session's graph" : "the graph",
                       name ? "'" : "");
    }
    if (valid) {
        (void)snprintf(where, sizeof where, " (signal %u, pc 0x%x, address 0x%x)", load(link, TN_HEX_AT_CRASH, TN_HEX_CRASH_SIGNAL),
                       load(link, TN_HEX_AT_CRASH, TN_HEX_CRASH_PC), load(link, TN_HEX_AT_CRASH, TN_HEX_CRASH_ADDRESS));
    }
    tn_hex_log_last(link, log, sizeof log);
    if (log[0]) {
        (void)snprintf(last, sizeof last, "; the end of its log: %s", log);
    }
    stop(link);
    (void)snprintf(link->death, sizeof link->death, "in %s%s: %s%s", call_text(call->call), node, how, where);
    return tn_fail(diag, TN_DEVICE, call->place, "the DSP died %s%s", link->death, last);
}

static tn_status hello(tn_hex_link *link, tn_diag *diag)
{
    tn_hex_call call = {.call = TN_HEX_CALL_HELLO, .place = "hexagon"};
    TN_TRY(tn_hex_link_call(link, &call, diag));
    const uint32_t *r = call.results;
    link->hello = (tn_hex_hello){r[0], r[1], r[2], r[3], r[4], r[5], r[6]};
    if (call.status != TN_HEX_OK || r[0] != TN_HEX_PROTOCOL || r[6] != TN_HEX_OP_COUNT) {
        stop(link);
        return tn_fail(diag, TN_DEVICE, "hexagon", "the DSP program speaks protocol %u with %u operators, this library %u with %d", r[0], r[6],
                       TN_HEX_PROTOCOL, TN_HEX_OP_COUNT);
    }
    return TN_OK;
}

tn_status tn_hex_link_power(tn_hex_link *link, const tn_hex_power *power, tn_diag *diag)
{
    const tn_hex_power *told = &link->power, first = {.wished = false};
    told = link->power_session == link->session ? told : &first;      // what a program begins with
    if (told->wished == power->wished && told->level == power->level && told->corner == power->corner && told->latency_us == power->latency_us &&
        told->dcvs == power->dcvs) {
        return TN_OK;
    }
    const uint32_t percent = power->wished ? power->level : DEFAULT_LEVEL, details[3] = {power->corner, power->dcvs, power->latency_us};
    tn_hex_call level = {.call = TN_HEX_CALL_POWER_LEVEL, .args = &percent, .n_args = 1, .place = "hexagon"};
    tn_hex_call more = {.call = TN_HEX_CALL_POWER_DETAILS, .args = details, .n_args = 3, .place = "hexagon"};
    TN_TRY(tn_hex_link_call(link, &level, diag));
    if (power->wished) {
        TN_TRY(tn_hex_link_call(link, &more, diag));
    }
    link->power = *power;
    link->power_session = link->session;
    return level.status == TN_HEX_OK && more.status == TN_HEX_OK ? TN_OK : tn_fail(diag, TN_UNSUPPORTED, "hexagon", "the DSP refuses a power level");
}

tn_status tn_hex_link_launch(tn_hex_link *link, uint8_t *page, int page_fd, void **state, tn_diag *diag)
{
    memset(page, 0, TN_HEX_PAGE);
    store(page, TN_HEX_AT_CONFIG, TN_HEX_CONFIG_MAGIC, TN_HEX_MAGIC);
    store(page, TN_HEX_AT_CONFIG, TN_HEX_CONFIG_PROTOCOL, TN_HEX_PROTOCOL);
    store(page, TN_HEX_AT_CONFIG, TN_HEX_CONFIG_THREADS, TN_MIN(link->options.threads, (uint32_t)TN_HEX_MAX_THREADS));
    store(page, TN_HEX_AT_CONFIG, TN_HEX_CONFIG_VTCM, link->options.vtcm);
    store(page, TN_HEX_AT_CONFIG, TN_HEX_CONFIG_FLAGS, link->options.flags);
    return link->transport->start(state, link->heap, page_fd, &link->options, diag);
}

static tn_status start(tn_hex_link *link, tn_diag *diag)
{
    link->sequence = link->log_read = link->log_begin = 0;
    link->session = ++link->programs;
    link->started_ns = tn_clock_ns();
    return tn_hex_link_launch(link, link->page, link->page_fd, &link->state, diag);
}

// Waits for the program that was started, and shakes hands.
static tn_status greet(tn_hex_link *link, tn_diag *diag)
{
    char how[64];
    while (load(link, TN_HEX_AT_ALIVE, TN_HEX_ALIVE_READY) != 1) {
        const bool alive = link->transport->alive(link->state, how, sizeof how);
        if (!alive || tn_clock_ns() - link->started_ns > START_NS) {
            stop(link);
            return tn_fail(diag, TN_DEVICE, "hexagon", "the DSP program did not start: %s", alive ? "it says nothing" : how);
        }
        TN_TRY(tn_hex_link_check(link, "started", diag));
        futex_wait(link, TN_HEX_AT_ALIVE, 0, 300000);
    }
    TN_TRY(hello(link, diag));
    link->greeted = true;
    return TN_OK;
}

bool tn_hex_link_running(tn_hex_link *link)
{
    char how[64];
    return link->owner == getpid() && link->state && link->transport->alive(link->state, how, sizeof how);
}

static tn_status meet(tn_hex_link *link, tn_diag *diag)
{
    TN_TRY(link->greeted ? TN_OK : greet(link, diag));
    return link->spare.adopted ? tn_hex_spare_install(link, diag) : TN_OK;
}

tn_status tn_hex_link_ready(tn_hex_link *link, tn_diag *diag)
{
    if (link->owner != getpid()) {
        return tn_fail(diag, TN_STATE, "hexagon", "the DSP belongs to the process before the fork");
    }
    char how[64];
    if (link->state && !link->transport->alive(link->state, how, sizeof how)) {
        stop(link);
        (void)snprintf(link->death, sizeof link->death, "between two calls: %s", how);
    }
    if (!link->state) {
        stop(link);
        TN_TRY(tn_hex_spare_take(link) ? TN_OK : start(link, diag));
    }
    const bool spare = link->spare.adopted;
    const tn_status status = meet(link, diag);
    if (status == TN_DEVICE && spare && !link->state) {
        // A spare that was dying itself: the run can still have one that is started for it.
        tn_diag_clear(diag);
        TN_TRY(start(link, diag));
        return meet(link, diag);
    }
    return status;
}

tn_status tn_hex_link_create(tn_hex_link **out, const tn_hex_transport *transport, tn_heap *heap, const tn_hex_options *options, tn_diag *diag)
{
    const char *what = "";
    tn_status status = TN_OK;
    *out = NULL;
    if (!transport->present(&what)) {
        return tn_fail(diag, TN_DEVICE, "hexagon", "%s", what);
    }
    tn_hex_link *link = tn_take_zero(heap, 1, sizeof *link);
    if (!link) {
        return tn_fail_memory(diag, "hexagon", sizeof *link);
    }
    const bool first = tn_hex_turn_init(&link->turn);
    if (!first || pthread_mutex_init(&link->list, NULL) != 0) {
        if (first) {
            tn_hex_turn_deinit(&link->turn);
        }
        tn_give(heap, link);
        return tn_fail(diag, TN_OUT_OF_MEMORY, "hexagon", "the system refused a lock");
    }
    link->heap = heap;
    link->transport = transport;
    link->owner = getpid();
    link->patience_ns = CALL_NS;
    link->options = *options;
    link->spare.page_fd = -1;
    if (!tn_hex_page_take(&link->page, &link->page_fd)) {
        status = tn_fail(diag, TN_OUT_OF_MEMORY, "hexagon", "the system refused shared memory: %s", strerror(errno));
    }
    if (status != TN_OK) {
        tn_hex_link_close(link);
        return status;
    }
    *out = link;
    return TN_OK;
}

tn_status tn_hex_link_open(tn_hex_link **out, const tn_hex_transport *transport, tn_heap *heap, const tn_hex_options *options, tn_diag *diag)
{
    TN_TRY(tn_hex_link_create(out, transport, heap, options, diag));
    const tn_status status = tn_hex_link_ready(*out, diag);
    if (status != TN_OK) {
        tn_hex_link_close(*out);
        *out = NULL;
    }
    return status;
}

static void do_chores(tn_hex_link *link);

void tn_hex_link_close(tn_hex_link *link)
{
    if (!link) {
        return;
    }
    // In a forked child the process is not ours to end: closing the descriptors is all.
    tn_hex_spare_close(link);
    if (link->owner == getpid()) {
        quit(link);
    }
    do_chores(link);
    while (link->buffers) {
        tn_hex_buffer *buffer = link->buffers;
        link->buffers = buffer->next;
        memory_give(link, buffer);
        tn_give(link->heap, buffer);
    }
    tn_hex_page_give(link->page, link->page_fd);
    pthread_mutex_destroy(&link->list);
    tn_hex_turn_deinit(&link->turn);
    tn_give(link->heap, link);
}

// ---- turns ----

// What others have left, in the order in which they did. A DSP that is still at a call that a run went away from is not waited for.
static void do_chores(tn_hex_link *link)
{
    tn_hex_chore *all = NULL;
    if (link->late.waiting && tn_hex_link_running(link)) {
        return;
    }
    pthread_mutex_lock(&link->list);
    while (link->chores) {
        tn_hex_chore *chore = link->chores;
        link->chores = chore->next;
        chore->next = all;
        all = chore;
    }
    pthread_mutex_unlock(&link->list);
    while (all) {
        tn_hex_chore *chore = all;
        all = chore->next;
        chore->run(link, chore);
    }
}

tn_status tn_hex_link_lock_until(tn_hex_link *link, uint64_t deadline_ns, const atomic_int *cancel, tn_diag *diag)
{
    const tn_status status = link->owner == getpid() ? tn_hex_turn_take(&link->turn, deadline_ns, cancel) : TN_OK;
    if (status == TN_DEADLINE) {
        return tn_fail(diag, TN_DEADLINE, "hexagon", "the run's deadline passed while another session used the DSP");
    }
    if (status == TN_CANCELLED) {
        return tn_fail(diag, TN_CANCELLED, "hexagon", "the run was cancelled while another session used the DSP");
    }
    link->turns++;
    tn_hex_log_begin(link);
    return TN_OK;
}

void tn_hex_link_lock(tn_hex_link *link)
{
    tn_diag ignored = {.status = TN_OK};
    (void)tn_hex_link_lock_until(link, 0, NULL, &ignored);
}

void tn_hex_link_unlock(tn_hex_link *link)
{
    do {
        do_chores(link);
    } while (link->owner == getpid() && !tn_hex_turn_give(&link->turn));
}

tn_status tn_hex_link_breathe(tn_hex_link *link, tn_diag *diag)
{
    const uint64_t deadline = link->deadline_ns;
    const atomic_int *cancel = link->cancel;
    const tn_hex_name_fn name = link->name;
    void *context = link->name_context;
    if (!tn_hex_turn_wanted(&link->turn)) {
        return TN_OK;
    }
    tn_hex_link_limit(link, 0, NULL);
    tn_hex_link_names(link, NULL, NULL);
    tn_hex_link_unlock(link);
    TN_TRY(tn_hex_link_lock_until(link, deadline, cancel, diag));
    tn_hex_link_limit(link, deadline, cancel);
    tn_hex_link_names(link, name, context);
    return TN_OK;
}

void tn_hex_link_later(tn_hex_link *link, tn_hex_chore *chore)
{
    pthread_mutex_lock(&link->list);
    chore->next = link->chores;
    link->chores = chore;
    pthread_mutex_unlock(&link->list);
    if (link->owner != getpid() || tn_hex_turn_try(&link->turn)) {
        tn_hex_link_unlock(link);
    }
}

tn_status tn_hex_link_wake(tn_hex_link *link, uint64_t deadline_ns, tn_diag *diag)
{
    const uint64_t end = deadline_ns ? deadline_ns : tn_clock_ns() + link->patience_ns;
    TN_TRY(tn_hex_link_lock_until(link, end, NULL, diag));
    tn_hex_link_limit(link, end, NULL);
    const tn_status status = tn_hex_link_ready(link, diag);
    tn_hex_link_limit(link, 0, NULL);
    tn_hex_link_unlock(link);
    return status;
}

void tn_hex_link_names(tn_hex_link *link, tn_hex_name_fn name, void *context)
{
    link->name = name;
    link->name_context = context;
}

// ---- calls ----

// Waits for the answer of `sequence`, sent at `begin`. TN_OK: it is there. A call without limits of its own has those of the run, and goes on.
static tn_status wait_answer(tn_hex_link *link, const tn_hex_call *call, uint32_t sequence, uint64_t begin, tn_diag *diag)
{
    const bool patient = !call->deadline_ns && !call->cancel;
    bool waited = false;
    uint64_t cancelled = 0, limit = TN_MAX(begin + CALL_NS, tn_clock_ns() + SLICE_NS);
    uint32_t node = load(link, TN_HEX_AT_ALIVE, TN_HEX_ALIVE_NODE);
    char how[64];
    for (;;) {
        const uint32_t seen = load(link, TN_HEX_AT_RSP_SEQ, 0);
        if (seen == sequence) {
            return TN_OK;
        }
        const uint64_t now = tn_clock_ns();
        const uint32_t at = load(link, TN_HEX_AT_ALIVE, TN_HEX_ALIVE_NODE);
        if (at != node) {
            node = at;
            limit = TN_MIN(now + CALL_NS, begin + WHOLE_NS);
        }
        const uint64_t end = call->deadline_ns ? TN_MIN(call->deadline_ns, limit) : limit;
        // It was alive when the call was made: a call that is short need not ask the system again.
        if (waited && !link->transport->alive(link->state, how, sizeof how)) {
            // It may have answered and died right then.
            return load(link, TN_HEX_AT_RSP_SEQ, 0) == sequence ? TN_OK : died(link, call, how, diag);
        }
        if (now >= end) {
            stop(link);
            (void)snprintf(link->death, sizeof link->death, "in %s: it was stopped after %u ms", call_text(call->call),
                           (unsigned)((now - begin) / 1000000u));
            return now < limit ? tn_fail(diag, TN_DEADLINE, call->place, "the run took longer than its deadline allows; the DSP was stopped")
                               : tn_fail(diag, TN_DEVICE, call->place, "the DSP did not answer %s and was stopped", call_text(call->call));
        }
        if (patient) {
            TN_TRY(tn_hex_link_check(link, "prepared", diag));
        } else if (call->cancel && atomic_load_explicit(call->cancel, memory_order_relaxed)) {
            cancelled = cancelled ? cancelled : now;
            if (now - cancelled > CANCEL_NS) {
                stop(link);
                (void)snprintf(link->death, sizeof link->death, "in %s: it was cancelled and stopped", call_text(call->call));
                return tn_fail(diag, TN_CANCELLED, call->place, "the run was cancelled; the DSP was stopped");
            }
        }
        futex_wait(link, TN_HEX_AT_RSP_SEQ, seen, TN_MIN(end - now, (uint64_t)SLICE_NS));
        waited = true;
        if (call->call == TN_HEX_CALL_EXECUTE && !link->spare.idle && load(link, TN_HEX_AT_RSP_SEQ, 0) != sequence) {
            tn_hex_spare_pump(link);
        }
    }
}

static bool is_late(const tn_hex_link *link, const tn_hex_call *call)
{
    const tn_hex_late *late = &link->late;
    return late->session == link->session && late->call == call->call && late->n_args == (uint32_t)call->n_args &&
           (call->n_args == 0 || memcmp(late->args, call->args, (size_t)call->n_args * sizeof *late->args) == 0);
}

// Waits for an answer that an earlier run went away from. `call`: what waits now, with its limits.
static tn_status take_late(tn_hex_link *link, const tn_hex_call *call, tn_diag *diag)
{
    const tn_hex_call before = {.call = link->late.call, .place = call->place, .foreign = !is_late(link, call)};
    const uint64_t deadline = link->deadline_ns;
    const atomic_int *cancel = link->cancel;
    if (!link->late.waiting) {
        return TN_OK;
    }
    tn_hex_link_limit(link, call->deadline_ns ? call->deadline_ns : deadline, call->cancel ? call->cancel : cancel);
    const tn_status status = wait_answer(link, &before, link->late.sequence, link->late.begin_ns, diag);
    tn_hex_link_limit(link, deadline, cancel);
    TN_TRY(status);
    for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
        link->late.answer[i] = load(link, TN_HEX_AT_RESPONSE, i);
    }
    link->late.waiting = false;
    link->late.answered = true;
    return TN_OK;
}

static void keep_late(tn_hex_link *link, const tn_hex_call *call, uint32_t sequence, uint64_t begin)
{
    link->late = (tn_hex_late){.waiting = true, .sequence = sequence, .call = call->call, .n_args = (uint32_t)call->n_args, .begin_ns = begin,
                               .session = link->session};
    if (call->n_args) {
        memcpy(link->late.args, call->args, (size_t)call->n_args * sizeof *call->args);
    }
}

void tn_hex_page_post(uint8_t *page, uint32_t sequence, uint32_t call, const uint32_t *args, int n_args)
{
    store(page, TN_HEX_AT_REQUEST, TN_HEX_MSG_SEQ, sequence);
    store(page, TN_HEX_AT_REQUEST, TN_HEX_MSG_CALL, call);
    store(page, TN_HEX_AT_REQUEST, TN_HEX_MSG_STATUS, 0);
    store(page, TN_HEX_AT_REQUEST, TN_HEX_MSG_N_ARGS, (uint32_t)n_args);
    for (int i = 0; i < n_args; i++) {
        store(page, TN_HEX_AT_REQUEST, TN_HEX_MSG_ARG + i, args[i]);
    }
    store(page, TN_HEX_AT_REQ_SEQ, 0, sequence);
    syscall(SYS_futex, page + TN_HEX_AT_REQ_SEQ, FUTEX_WAKE, 1, NULL, NULL, 0);
}

tn_status tn_hex_link_call(tn_hex_link *link, tn_hex_call *call, tn_diag *diag)
{
    uint32_t answer[TN_HEX_MESSAGE_WORDS], sequence;
    if (call->n_args < 0 || call->n_args > TN_HEX_MESSAGE_ARGS) {
        return tn_fail(diag, TN_INTERNAL, call->place, "a call with %d arguments", call->n_args);
    }
    if (!link->state) {
        return tn_fail(diag, TN_DEVICE, call->place, "the DSP does not run");
    }
    TN_TRY(take_late(link, call, diag));
    if (call->call == TN_HEX_CALL_TEARDOWN && link->late.n_args > 0 && link->late.args[0] == call->args[0]) {
        link->late.answered = false;      // the next graph of this number is another
    }
    if (link->late.answered && is_late(link, call)) {
        sequence = link->late.sequence;
        memcpy(answer, link->late.answer, sizeof answer);
        link->late.answered = false;
    } else {
        const uint64_t begin = tn_clock_ns();
        sequence = ++link->sequence;
        tn_hex_page_post(link->page, sequence, call->call, call->args, call->n_args);
        const tn_status status = wait_answer(link, call, sequence, begin, diag);
        if (status != TN_OK && link->state) {
            keep_late(link, call, sequence, begin);
        }
        TN_TRY(status);
        for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
            answer[i] = load(link, TN_HEX_AT_RESPONSE, i);
        }
    }
    if (answer[TN_HEX_MSG_SEQ] != sequence || answer[TN_HEX_MSG_N_ARGS] > TN_HEX_MESSAGE_ARGS) {
        stop(link);
        (void)snprintf(link->death, sizeof link->death, "in %s: its answer made no sense and it was stopped", call_text(call->call));
        return tn_fail(diag, TN_DEVICE, call->place, "the DSP's answer to %s makes no sense; it was stopped", call_text(call->call));
    }
    call->status = answer[TN_HEX_MSG_STATUS];
    memset(call->results, 0, sizeof call->results);
    memcpy(call->results, answer + TN_HEX_MSG_ARG, answer[TN_HEX_MSG_N_ARGS] * sizeof *answer);
    return TN_OK;
}

// ---- buffers ----

static void *memory_take(const tn_hex_link *link, size_t size, int *fd)
{
    if (link->transport->take) {
        return link->transport->take(size, fd);
    }
    *fd = shared_memory(size);
    void *data = *fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (data == MAP_FAILED && *fd >= 0) {
        close(*fd);
    }
    return data == MAP_FAILED ? NULL : data;
}

static void memory_give(const tn_hex_link *link, const tn_hex_buffer *buffer)
{
    if (link->transport->give) {
        link->transport->give(buffer->data, buffer->bytes, buffer->fd);
        return;
    }
    munmap(buffer->data, buffer->bytes);
    close(buffer->fd);
}

static void give_chore(tn_hex_link *link, tn_hex_chore *chore) { tn_hex_buffer_give_locked(link, (tn_hex_buffer *)chore); }

tn_hex_buffer *tn_hex_buffer_take(tn_hex_link *link, size_t bytes)
{
    const size_t size = bytes > SIZE_MAX - TN_HEX_PAGE ? 0 : (TN_MAX(bytes, (size_t)1) + TN_HEX_PAGE - 1) / TN_HEX_PAGE * TN_HEX_PAGE;
    tn_hex_buffer *buffer = size && size <= UINT32_MAX / 2 ? tn_take_zero(link->heap, 1, sizeof *buffer) : NULL;
    if (!buffer) {
        return NULL;
    }
    buffer->data = memory_take(link, size, &buffer->fd);
    if (!buffer->data) {
        tn_give(link->heap, buffer);
        return NULL;
    }
    buffer->chore.run = give_chore;
    buffer->bytes = size;
    buffer->session = TN_HEX_NO_SESSION;
    pthread_mutex_lock(&link->list);
    buffer->next = link->buffers;
    link->buffers = buffer;
    pthread_mutex_unlock(&link->list);
    return buffer;
}

// A DSP that cannot be asked to forget the buffer will be told nothing of it after its restart.
static void unmap(tn_hex_link *link, tn_hex_buffer *buffer)
{
    if (buffer->session == link->session && tn_hex_link_running(link)) {
        tn_hex_call call = {.call = TN_HEX_CALL_UNMAP, .args = &buffer->handle, .n_args = 1, .place = "hexagon"};
        tn_diag ignored = {.status = TN_OK};
        (void)tn_hex_link_call(link, &call, &ignored);
    }
    buffer->session = TN_HEX_NO_SESSION;
}

void tn_hex_buffer_give_locked(tn_hex_link *link, tn_hex_buffer *buffer)
{
    if (!buffer) {
        return;
    }
    pthread_mutex_lock(&link->list);
    tn_hex_buffer **at = &link->buffers;
    while (*at != buffer) {
        at = &(*at)->next;
    }
    *at = buffer->next;
    pthread_mutex_unlock(&link->list);
    unmap(link, buffer);
    memory_give(link, buffer);
    tn_give(link->heap, buffer);
}

bool tn_hex_link_unmap_idle(tn_hex_link *link)
{
    bool some = false;
    // Others put new ones before the first meanwhile; who has the turn alone takes any out.
    pthread_mutex_lock(&link->list);
    tn_hex_buffer *buffer = link->buffers;
    pthread_mutex_unlock(&link->list);
    for (; buffer && link->state; buffer = buffer->next) {
        if (buffer->session == link->session && !buffer->pinned && buffer->used != link->turns) {
            unmap(link, buffer);
            some = true;
        }
    }
    return some;
}

void tn_hex_buffer_give(tn_hex_link *link, tn_hex_buffer *buffer)
{
    if (buffer) {
        tn_hex_link_later(link, &buffer->chore);
    }
}

tn_hex_buffer *tn_hex_buffer_find(tn_hex_link *link, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    pthread_mutex_lock(&link->list);
    tn_hex_buffer *buffer = link->buffers;
    while (buffer && !(at >= buffer->data && at <= buffer->data + buffer->bytes && bytes <= (size_t)(buffer->data + buffer->bytes - at))) {
        buffer = buffer->next;
    }
    pthread_mutex_unlock(&link->list);
    return buffer;
}

tn_status tn_hex_link_map(tn_hex_link *link, tn_hex_buffer *buffer, tn_diag *diag)
{
    buffer->used = link->turns;
    if (buffer->session == link->session) {
        return TN_OK;
    }
    const uint32_t bytes = (uint32_t)buffer->bytes;
    tn_hex_call call = {.call = TN_HEX_CALL_MAP, .args = &bytes, .n_args = 1, .place = "hexagon"};
    TN_TRY(take_late(link, &call, diag));
    if (!link->state || link->transport->send_fd(link->state, buffer->fd, buffer->data, buffer->bytes) != TN_OK) {
        return died(link, &call, "its socket is closed", diag);
    }
    // A short call, which is waited for in any case: its descriptor is on the way.
    const uint64_t deadline = link->deadline_ns;
    const atomic_int *cancel = link->cancel;
    tn_hex_link_limit(link, 0, NULL);
    const tn_status status = tn_hex_link_call(link, &call, diag);
    tn_hex_link_limit(link, deadline, cancel);
    TN_TRY(status);
    if (call.status != TN_HEX_OK) {
        return tn_fail(diag, call.status == TN_HEX_MEMORY ? TN_OUT_OF_MEMORY : TN_DEVICE, "hexagon", "the DSP could not map %u bytes: %s", bytes,
                       tn_hex_status_text(call.status));
    }
    buffer->handle = call.results[0];
    buffer->session = link->session;
    return TN_OK;
}
