// SPDX-License-Identifier: Apache-2.0
// The transport on a phone: one FastRPC method per message, behind an interface that the SDK's compiler makes of tn_hex.idl (beside this
// file). The thread that serves waits for what the method hands over. UNPROVEN, as os_qurt.c: never compiled or run here.
// Ownership: static state of the one process domain. Threads: FastRPC's threads call in, one at a time; the serving thread answers.
#include "exec/hexagon/dsp/os.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

#include <AEEStdErr.h>
#include <HAP_farf.h>
#include <HAP_mem.h>
#include <qurt.h>
#include <tn_hex.h>              // of the SDK's compiler

enum { IO_WORDS = TN_HEX_IO_MAX * TN_HEX_IO_WORDS };

static const tn_hx_os *const os = &tn_hx_os_table;

// The call that is under way. asked and answered are futexes; they differ while the serving thread works.
static struct {
    uint32_t asked, answered, started;
    uint32_t request[TN_HEX_MESSAGE_WORDS], response[TN_HEX_MESSAGE_WORDS], io[IO_WORDS];
    int fd;
    qurt_mutex_t lock;
} call;

static void serve(void *context)
{
    (void)context;
    tn_hx_serve();
}

int tn_hex_open(const char *uri, remote_handle64 *handle)
{
    (void)uri;
    if (!__atomic_exchange_n(&call.started, 1, __ATOMIC_ACQ_REL)) {
        qurt_mutex_init(&call.lock);
        if (os->thread_start(TN_HEX_MAX_THREADS, serve, NULL) != 0) {
            return AEE_ENOMEMORY;
        }
    }
    *handle = (remote_handle64)(uintptr_t)&call;
    return AEE_SUCCESS;
}

int tn_hex_close(remote_handle64 handle)
{
    (void)handle;
    return AEE_SUCCESS;
}

int tn_hex_call(remote_handle64 handle, const uint32_t *request, int n_request, int fd, const uint32_t *io, int n_io, uint32_t *response,
                int n_response)
{
    (void)handle;
    if (n_request != TN_HEX_MESSAGE_WORDS || n_response != TN_HEX_MESSAGE_WORDS || n_io < 0 || n_io > IO_WORDS) {
        return AEE_EBADPARM;
    }
    qurt_mutex_lock(&call.lock);
    memcpy(call.request, request, sizeof call.request);
    memcpy(call.io, io, 4 * (size_t)n_io);
    call.fd = fd;
    const uint32_t seq = __atomic_add_fetch(&call.asked, 1, __ATOMIC_RELEASE);
    os->wake(&call.asked);
    uint32_t done;
    while ((done = __atomic_load_n(&call.answered, __ATOMIC_ACQUIRE)) != seq) {
        os->wait(&call.answered, done);
    }
    memcpy(response, call.response, sizeof call.response);
    qurt_mutex_unlock(&call.lock);
    return AEE_SUCCESS;
}

static void receive(uint32_t message[32])
{
    const uint32_t seen = __atomic_load_n(&call.answered, __ATOMIC_RELAXED);
    uint32_t now;
    while ((now = __atomic_load_n(&call.asked, __ATOMIC_ACQUIRE)) == seen) {
        os->wait(&call.asked, seen);
    }
    memcpy(message, call.request, sizeof call.request);
    message[TN_HEX_MSG_SEQ] = now;
}

static void reply(const uint32_t message[32])
{
    memcpy(call.response, message, sizeof call.response);
    __atomic_store_n(&call.answered, message[TN_HEX_MSG_SEQ], __ATOMIC_RELEASE);
    os->wake(&call.answered);
}

static void *map(uint32_t bytes, void **cookie)
{
    void *at = NULL;
    uint64 physical = 0;
    if (call.fd < 0 || bytes == 0 || HAP_mmap_get(call.fd, &at, &physical) != 0) {
        return NULL;
    }
    *cookie = (void *)(uintptr_t)call.fd;
    return at;
}

static void unmap(void *at, uint32_t bytes, void *cookie)
{
    (void)at, (void)bytes;
    HAP_mmap_put((int)(uintptr_t)cookie);
}

static void invalidate(void *at, void *cookie, uint32_t offset, uint32_t bytes)
{
    (void)cookie;
    qurt_mem_cache_clean((qurt_addr_t)at + offset, bytes, QURT_MEM_CACHE_INVALIDATE, QURT_MEM_DCACHE);
}

static void flush(void *at, void *cookie, uint32_t offset, uint32_t bytes)
{
    (void)cookie;
    qurt_mem_cache_clean((qurt_addr_t)at + offset, bytes, QURT_MEM_CACHE_FLUSH, QURT_MEM_DCACHE);
}

static void io(uint32_t *words, uint32_t from, uint32_t count) { memcpy(words, call.io + from, 4 * count); }

// FastRPC tells the host of a dead process domain by itself.
static void alive(uint32_t node) { (void)node; }

static void log_text(const char *text, uint32_t bytes) { FARF(ALWAYS, "%.*s", (int)bytes, text); }

static uint32_t config(uint32_t word) { return word == TN_HEX_CONFIG_THREADS ? TN_HEX_MAX_THREADS : 0; }

const tn_hx_link tn_hx_link_table = {
    .receive = receive, .reply = reply, .map = map, .unmap = unmap, .invalidate = invalidate, .flush = flush, .io = io, .alive = alive,
    .log = log_text, .config = config
};
