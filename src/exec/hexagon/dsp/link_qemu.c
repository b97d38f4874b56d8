// SPDX-License-Identifier: Apache-2.0
// The transport under user emulation: one shared control page with futex doorbells, descriptors over a UNIX socket. In non-coherent mode
// each buffer is mapped twice - the shared bytes and a private copy that the program works on - and only invalidate and flush move bytes
// between them, so that a forgotten cache operation gives wrong results here as it would on a phone.
// Ownership: static state of the one process. Threads: receive, reply and map by the serving thread; the rest any.
#include "exec/hexagon/dsp/os_qemu.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum { SYS_CLOSE = 57, SYS_FSTAT = 80, SYS_RECVMSG = 212 };
enum { MAP_SHARED = 1, MAP_ANONYMOUS = 0x22, DONT_WAIT = 0x40 };

static uint8_t *page;
static int socket_fd;
static uint32_t seen;

static uint32_t *word(uint32_t offset) { return (uint32_t *)(page + offset); }

static uint32_t config(uint32_t which) { return *(volatile uint32_t *)word(TN_HEX_AT_CONFIG + 4 * which); }

int tn_hx_link_open(int page_fd, int socket)
{
    page = tn_hx_mmap(TN_HEX_PAGE, MAP_SHARED, page_fd);
    socket_fd = socket;
    return page && config(TN_HEX_CONFIG_MAGIC) == TN_HEX_MAGIC && config(TN_HEX_CONFIG_PROTOCOL) == TN_HEX_PROTOCOL;
}

void tn_hx_crash(int signal, uint32_t pc, uint32_t address, uint32_t node, uint32_t call, uint32_t graph)
{
    uint32_t *record = word(TN_HEX_AT_CRASH);
    record[TN_HEX_CRASH_SIGNAL] = (uint32_t)signal;
    record[TN_HEX_CRASH_PC] = pc;
    record[TN_HEX_CRASH_ADDRESS] = address;
    record[TN_HEX_CRASH_NODE] = node;
    record[TN_HEX_CRASH_CALL] = call;
    record[TN_HEX_CRASH_GRAPH] = graph;
    __atomic_store_n(&record[TN_HEX_CRASH_VALID], 1, __ATOMIC_RELEASE);
    tn_hx_os_table.wake(word(TN_HEX_AT_RSP_SEQ));
}

static void receive(uint32_t message[32])
{
    uint32_t *seq = word(TN_HEX_AT_REQ_SEQ);
    uint32_t *ready = word(TN_HEX_AT_ALIVE + 4 * TN_HEX_ALIVE_READY);
    if (!__atomic_load_n(ready, __ATOMIC_RELAXED)) {
        seen = __atomic_load_n(word(TN_HEX_AT_RSP_SEQ), __ATOMIC_ACQUIRE);
        __atomic_store_n(ready, 1, __ATOMIC_RELEASE);
        tn_hx_os_table.wake(ready);
    }
    uint32_t now;
    while ((now = __atomic_load_n(seq, __ATOMIC_ACQUIRE)) == seen) {
        tn_hx_os_table.wait(seq, seen);
    }
    seen = now;
    const volatile uint32_t *from = word(TN_HEX_AT_REQUEST);
    for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
        message[i] = from[i];
    }
    message[TN_HEX_MSG_SEQ] = now;
}

static void reply(const uint32_t message[32])
{
    memcpy(word(TN_HEX_AT_RESPONSE), message, 4 * TN_HEX_MESSAGE_WORDS);
    __atomic_store_n(word(TN_HEX_AT_RSP_SEQ), message[TN_HEX_MSG_SEQ], __ATOMIC_RELEASE);
    tn_hx_os_table.wake(word(TN_HEX_AT_RSP_SEQ));
}

// The descriptor sent with the next byte on the socket; -1: none has come.
static int take_descriptor(void)
{
    uint8_t byte;
    uint32_t control[4] = {0, 0, 0, 0};
    uint32_t vector[2] = {(uint32_t)&byte, 1};
    uint32_t header[7] = {0, 0, (uint32_t)vector, 1, (uint32_t)control, sizeof control, 0};
    const long got = tn_hx_call(SYS_RECVMSG, socket_fd, (long)header, DONT_WAIT, 0, 0, 0);
    return got == 1 && header[5] >= 16 && control[1] == 1 && control[2] == 1 ? (int)control[3] : -1;
}

// Whether the file is at least so long; mapping past its end would stop the process when it is touched.
static int long_enough(int fd, uint32_t bytes)
{
    uint32_t stat[32];
    memset(stat, 0, sizeof stat);
    if (tn_hx_call(SYS_FSTAT, fd, (long)stat, 0, 0, 0, 0) != 0) {
        return 0;
    }
    return stat[13] != 0 || stat[12] >= bytes;   // st_size, low word first
}

static void *map(uint32_t bytes, void **cookie)
{
    const int fd = take_descriptor();
    if (fd < 0) {
        return NULL;
    }
    void *shared = NULL, *at = NULL;
    if (bytes > 0 && bytes % TN_HEX_PAGE == 0 && bytes <= 0x80000000u && long_enough(fd, bytes)) {
        shared = at = tn_hx_mmap(bytes, MAP_SHARED, fd);
    }
    if (shared && (config(TN_HEX_CONFIG_FLAGS) & TN_HEX_FLAG_NONCOHERENT)) {
        at = tn_hx_mmap(bytes, MAP_ANONYMOUS, -1);
        if (!at) {
            tn_hx_munmap(shared, bytes);
        }
    }
    tn_hx_call(SYS_CLOSE, fd, 0, 0, 0, 0, 0);
    *cookie = shared;
    return at;
}

static void unmap(void *at, uint32_t bytes, void *cookie)
{
    tn_hx_munmap(at, bytes);
    if (cookie != at) {
        tn_hx_munmap(cookie, bytes);
    }
}

static void invalidate(void *at, void *cookie, uint32_t offset, uint32_t bytes)
{
    if (at != cookie) {
        memcpy((uint8_t *)at + offset, (const uint8_t *)cookie + offset, bytes);
    }
}

static void flush(void *at, void *cookie, uint32_t offset, uint32_t bytes)
{
    if (at != cookie) {
        memcpy((uint8_t *)cookie + offset, (const uint8_t *)at + offset, bytes);
    }
}

static void io(uint32_t *words, uint32_t from, uint32_t count)
{
    const volatile uint32_t *at = word(TN_HEX_AT_IO);
    for (uint32_t i = 0; i < count; i++) {
        words[i] = at[from + i];
    }
}

static void alive(uint32_t node)
{
    __atomic_store_n(word(TN_HEX_AT_ALIVE + 4 * TN_HEX_ALIVE_NODE), node, __ATOMIC_RELAXED);
}

static void log_text(const char *text, uint32_t bytes)
{
    uint32_t *head = word(TN_HEX_AT_LOG_HEAD);
    const uint32_t at = *head;
    for (uint32_t i = 0; i < bytes; i++) {
        page[TN_HEX_AT_LOG + (at + i) % TN_HEX_LOG_BYTES] = (uint8_t)text[i];
    }
    __atomic_store_n(head, at + bytes, __ATOMIC_RELEASE);
}

const tn_hx_link tn_hx_link_table = {
    .receive = receive, .reply = reply, .map = map, .unmap = unmap, .invalidate = invalidate, .flush = flush, .io = io, .alive = alive,
    .log = log_text, .config = config
};
