// SPDX-License-Identifier: Apache-2.0
// FastRPC as a transport: the vendor's library is opened at run time, the DSP's side is dsp/phone. A remote call is synchronous, so a thread
// stands between: it waits for requests on the control page, as the emulated program does, and carries each over as one call of
// dsp/phone/tn_hex.idl. Declarations are our own, from the names and numbers of the library's public header. UNPROVEN on a phone;
// a library that imitates it is tested.
// Ownership: start/stop. Threads: under the link's lock; the carrying thread is the transport's own.
#include "exec/hexagon/hex_link.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libcdsprpc.so"
#define MODULE "file:///libtn_hex_skel.so?tn_hex_skel_handle_invoke&_modver=1.0&_dom=cdsp"

// Numbers of the library's interface.
enum { DOMAIN_CDSP = 3, HEAP_SYSTEM = 25, MEMORY_DEFAULT = 1, MAP_BY_FD = 2, UNSIGNED_MODULE = 2, PROCESS_KILL = 6, METHOD_CALL = 2 };
#define SCALARS(method, in, out) ((uint32_t)(method) << 24 | (uint32_t)(in) << 16 | (uint32_t)(out) << 8)
#define WAIT_NS 50000000             // between two looks at whether to stop

typedef union rpc_arg {
    struct { void *data; size_t bytes; } buffer;
    uint64_t handle;
} rpc_arg;

typedef struct rpc {
    void *library;
    int (*session_control)(uint32_t request, void *data, uint32_t bytes);
    int (*open)(const char *name, uint64_t *handle);
    int (*invoke)(uint64_t handle, uint32_t scalars, rpc_arg *args);
    int (*close)(uint64_t handle);
    int (*map)(int domain, int fd, void *address, int offset, size_t bytes, int flags);
    void *(*take)(int heap, uint32_t flags, int bytes);
    void (*give)(void *data);
    int (*to_fd)(void *data);
} rpc;

typedef struct phone {
    tn_heap *heap;
    rpc rpc;
    uint8_t *page;
    uint64_t handle;
    pthread_t thread;
    bool opened, running;
    int next_fd;                      // of the buffer that the next call maps; -1: none
    atomic_int stop, busy, error;     // error: of the call that ended it; 0: alive
} phone;

// ---- the library ----

static void rpc_unload(rpc *r)
{
    if (r->library) {
        dlclose(r->library);
    }
    r->library = NULL;
}

// A function's address through a union: ISO C has no cast from an object pointer.
static bool symbol(void *library, const char *name, void *to)
{
    void *at = dlsym(library, name);
    memcpy(to, &at, sizeof at);
    return at != NULL;
}

static bool rpc_load(rpc *r)
{
    memset(r, 0, sizeof *r);
    r->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (r->library && symbol(r->library, "remote_session_control", &r->session_control) &&
        symbol(r->library, "remote_handle64_open", &r->open) && symbol(r->library, "remote_handle64_invoke", &r->invoke) &&
        symbol(r->library, "remote_handle64_close", &r->close) && symbol(r->library, "fastrpc_mmap", &r->map) &&
        symbol(r->library, "rpcmem_alloc", &r->take) && symbol(r->library, "rpcmem_free", &r->give) &&
        symbol(r->library, "rpcmem_to_fd", &r->to_fd)) {
        return true;
    }
    rpc_unload(r);
    return false;
}

static bool phone_present(const char **what)
{
    rpc r;
    *what = "there is no " LIBRARY " (of the DSP's vendor), or it lacks remote_handle64, rpcmem or fastrpc_mmap";
    const bool there = rpc_load(&r);
    rpc_unload(&r);
    return there;
}

// ---- memory ----

// The library stays loaded for each block: rpcmem_free must be there when it goes.
static void *phone_take(size_t bytes, int *fd)
{
    rpc r;
    if (bytes > INT32_MAX || !rpc_load(&r)) {
        return NULL;
    }
    void *data = r.take(HEAP_SYSTEM, MEMORY_DEFAULT, (int)bytes);
    *fd = data ? r.to_fd(data) : -1;
    if (!data || *fd < 0) {
        if (data) {
            r.give(data);
        }
        rpc_unload(&r);
        return NULL;
    }
    memset(data, 0, bytes);
    return data;
}

static void phone_give(void *data, size_t bytes, int fd)
{
    rpc r;
    (void)bytes, (void)fd;
    if (rpc_load(&r)) {
        r.give(data);
        void *of_block = r.library;
        rpc_unload(&r);
        dlclose(of_block);
    }
}

// ---- calls ----

static _Atomic uint32_t *word(const phone *p, size_t offset, int i) { return (_Atomic uint32_t *)(void *)(p->page + offset + 4 * (size_t)i); }

static void wake(const phone *p, size_t offset) { syscall(SYS_futex, p->page + offset, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0); }

// One message over and back. call(in sequence request, in long fd, in sequence io, rout sequence response): lengths and fd are in a first
// buffer, in the order of the parameters.
static int carry(phone *p, uint32_t request[TN_HEX_MESSAGE_WORDS], uint32_t response[TN_HEX_MESSAGE_WORDS])
{
    uint32_t io[TN_HEX_IO_MAX * TN_HEX_IO_WORDS], n_io = 0;
    if (request[TN_HEX_MSG_CALL] == TN_HEX_CALL_EXECUTE) {
        const uint32_t inputs = request[TN_HEX_MSG_ARG + 1], outputs = request[TN_HEX_MSG_ARG + 2];
        n_io = inputs <= TN_HEX_IO_MAX && outputs <= TN_HEX_IO_MAX - inputs ? (inputs + outputs) * TN_HEX_IO_WORDS : 0;
        for (uint32_t i = 0; i < n_io; i++) {
            io[i] = atomic_load_explicit(word(p, TN_HEX_AT_IO, (int)i), memory_order_relaxed);
        }
    }
    uint32_t numbers[4] = {TN_HEX_MESSAGE_WORDS, (uint32_t)p->next_fd, n_io, TN_HEX_MESSAGE_WORDS};
    rpc_arg args[4];
    memset(args, 0, sizeof args);
    args[0].buffer.data = numbers;
    args[0].buffer.bytes = sizeof numbers;
    args[1].buffer.data = request;
    args[1].buffer.bytes = TN_HEX_MESSAGE_WORDS * sizeof *request;
    args[2].buffer.data = io;
    args[2].buffer.bytes = n_io * sizeof *io;
    args[3].buffer.data = response;
    args[3].buffer.bytes = TN_HEX_MESSAGE_WORDS * sizeof *response;
    memset(response, 0, TN_HEX_MESSAGE_WORDS * sizeof *response);
    atomic_store(&p->busy, 1);
    const int error = p->rpc.invoke(p->handle, SCALARS(METHOD_CALL, 3, 1), args);
    atomic_store(&p->busy, 0);
    p->next_fd = -1;
    return error;
}

static void *carry_on(void *context)
{
    phone *p = context;
    uint32_t seen = 0;
    atomic_store(word(p, TN_HEX_AT_ALIVE, TN_HEX_ALIVE_READY), 1);
    wake(p, TN_HEX_AT_ALIVE);
    while (!atomic_load(&p->stop)) {
        const uint32_t sequence = atomic_load_explicit(word(p, TN_HEX_AT_REQ_SEQ, 0), memory_order_acquire);
        if (sequence == seen) {
            const struct timespec slice = {.tv_nsec = WAIT_NS};
            syscall(SYS_futex, p->page + TN_HEX_AT_REQ_SEQ, FUTEX_WAIT, seen, &slice, NULL, 0);
            continue;
        }
        uint32_t request[TN_HEX_MESSAGE_WORDS], response[TN_HEX_MESSAGE_WORDS];
        seen = sequence;
        for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
            request[i] = atomic_load_explicit(word(p, TN_HEX_AT_REQUEST, i), memory_order_relaxed);
        }
        const int error = carry(p, request, response);
        if (error) {
            atomic_store(&p->error, error);
            wake(p, TN_HEX_AT_RSP_SEQ);
            break;
        }
        response[TN_HEX_MSG_SEQ] = sequence;      // the DSP counts its own
        for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
            atomic_store_explicit(word(p, TN_HEX_AT_RESPONSE, i), response[i], memory_order_relaxed);
        }
        atomic_store_explicit(word(p, TN_HEX_AT_RSP_SEQ, 0), sequence, memory_order_release);
        wake(p, TN_HEX_AT_RSP_SEQ);
    }
    return NULL;
}

// ---- life ----

static void phone_stop(void *state, bool asked)
{
    (void)asked;      // closing the handle is the end of it: the thread that serves there is for all handles of the process
    phone *p = state;
    if (!p) {
        return;
    }
    atomic_store(&p->stop, 1);
    if (p->running) {
        // A call that does not come back ends with its process.
        if (atomic_load(&p->busy)) {
            int domain = DOMAIN_CDSP;
            (void)p->rpc.session_control(PROCESS_KILL, &domain, sizeof domain);
        }
        wake(p, TN_HEX_AT_REQ_SEQ);
        (void)pthread_join(p->thread, NULL);
    }
    if (p->opened) {
        (void)p->rpc.close(p->handle);
    }
    rpc_unload(&p->rpc);
    if (p->page) {
        munmap(p->page, TN_HEX_PAGE);
    }
    tn_give(p->heap, p);
}

static tn_status phone_start(void **out, tn_heap *heap, int page_fd, const tn_hex_options *options, tn_diag *diag)
{
    (void)options;      // they stand in the page
    struct { int domain, enable; } module = {DOMAIN_CDSP, 1};
    const char *what;
    phone *p = tn_take_zero(heap, 1, sizeof *p);
    *out = NULL;
    if (!p) {
        return tn_fail_memory(diag, "hexagon", sizeof *p);
    }
    p->heap = heap;
    p->next_fd = -1;
    void *page = mmap(NULL, TN_HEX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
    p->page = page == MAP_FAILED ? NULL : page;
    tn_status status = p->page ? TN_OK : tn_fail(diag, TN_OUT_OF_MEMORY, "hexagon", "the system refused shared memory");
    if (status == TN_OK && !rpc_load(&p->rpc)) {
        (void)phone_present(&what);
        status = tn_fail(diag, TN_DEVICE, "hexagon", "%s", what);
    }
    if (status == TN_OK) {
        // Modules of applications carry no signature of the vendor's. Where this is not known, a signed one may still open.
        (void)p->rpc.session_control(UNSIGNED_MODULE, &module, sizeof module);
        const int error = p->rpc.open(MODULE, &p->handle);
        p->opened = error == 0;
        status = p->opened ? TN_OK : tn_fail(diag, TN_DEVICE, "hexagon", "FastRPC does not open libtn_hex_skel.so: error 0x%x", (unsigned)error);
    }
    if (status == TN_OK) {
        p->running = pthread_create(&p->thread, NULL, carry_on, p) == 0;
        status = p->running ? TN_OK : tn_fail(diag, TN_OUT_OF_MEMORY, "hexagon", "the system refused a thread");
    }
    if (status != TN_OK) {
        phone_stop(p, false);
        return status;
    }
    *out = p;
    return TN_OK;
}

static bool phone_alive(void *state, char *how, size_t size)
{
    phone *p = state;
    const int error = atomic_load(&p->error);
    if (error) {
        (void)snprintf(how, size, "FastRPC error 0x%x", (unsigned)error);
    }
    return error == 0;
}

static tn_status phone_send(void *state, int fd, void *data, size_t bytes)
{
    phone *p = state;
    if (atomic_load(&p->error) || p->rpc.map(DOMAIN_CDSP, fd, data, 0, bytes, MAP_BY_FD) != 0) {
        return TN_DEVICE;
    }
    p->next_fd = fd;
    return TN_OK;
}

static pid_t phone_process(void *state)
{
    (void)state;
    return 0;
}

const tn_hex_transport tn_hex_fastrpc = {.name = "FastRPC", .present = phone_present, .start = phone_start, .alive = phone_alive,
                                         .send_fd = phone_send, .stop = phone_stop, .process = phone_process, .take = phone_take,
                                         .give = phone_give};
