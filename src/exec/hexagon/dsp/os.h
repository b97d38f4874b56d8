// SPDX-License-Identifier: Apache-2.0
// The two seams of the DSP program: what it wants of the operating system (memory, threads, HVX, VTCM, power, counters) and of the
// transport (calls, buffers, cache maintenance). One pair for user emulation (os_qemu.c, link_qemu.c), one for a phone (os_qurt.c,
// link_fastrpc.c); everything else includes no system header.
// Ownership: const tables. Threads: any, but for receive and reply, which are of the serving thread.
#ifndef TN_HX_OS_H
#define TN_HX_OS_H

#include <stddef.h>
#include <stdint.h>

// What a thread knows of itself.
typedef struct tn_hx_self {
    uint32_t thread;              // 0: the serving thread
    uint32_t node;                // id of the node being run, for crash records
    uint32_t graph, call;
    uint32_t hvx_held;            // HVX locks held
} tn_hx_self;

typedef struct tn_hx_os {
    void *(*take)(size_t bytes);                          // zeroed, 128-byte aligned at least; NULL: none left
    void (*give)(void *at, size_t bytes);
    int (*thread_start)(unsigned index, void (*run)(void *), void *context);   // 0: started
    tn_hx_self *(*self)(void);
    void (*wait)(uint32_t *word, uint32_t value);         // while *word is value; may return early
    void (*wake)(uint32_t *word);                         // all waiters
    void (*hvx_lock)(void);                               // before the first vector instruction of a thread's work
    void (*hvx_unlock)(void);
    size_t (*vtcm_bytes)(void);                           // what may be taken in all
    void *(*vtcm_take)(size_t bytes);                     // one block at a time; NULL: too much
    void (*vtcm_give)(void *at);
    void (*copy_start)(void *to, const void *from, size_t bytes);   // into VTCM, beside the computation where a DMA engine is
    void (*copy_wait)(void);                              // all copies this thread has started are done
    void (*power_level)(uint32_t percent);
    void (*power_details)(uint32_t corner, uint32_t dcvs, uint32_t latency_us);
    uint64_t (*microseconds)(void);
    void (*counters)(uint32_t packets_instructions_hvx[3]);   // of this thread, growing, modulo 2^32
    void (*trap)(void);                                   // a broken promise inside the program: crash with a record
} tn_hx_os;

extern const tn_hx_os tn_hx_os_table;

typedef struct tn_hx_link {
    void (*receive)(uint32_t message[32]);                // the next request, copied out of shared memory
    void (*reply)(const uint32_t message[32]);
    void *(*map)(uint32_t bytes, void **cookie);          // the next descriptor the host has sent; NULL: none, or it cannot be mapped
    void (*unmap)(void *at, uint32_t bytes, void *cookie);
    void (*invalidate)(void *at, void *cookie, uint32_t offset, uint32_t bytes);   // before reading what the host wrote
    void (*flush)(void *at, void *cookie, uint32_t offset, uint32_t bytes);        // after writing what the host will read
    void (*io)(uint32_t *words, uint32_t from, uint32_t count);   // copies of the words at TN_HEX_AT_IO
    void (*alive)(uint32_t node);                         // the node being run
    void (*log)(const char *text, uint32_t bytes);
    uint32_t (*config)(uint32_t word);                    // TN_HEX_CONFIG_*
} tn_hx_link;

extern const tn_hx_link tn_hx_link_table;

// The program: serves calls for ever. Called by the start-up code when both tables work.
void tn_hx_serve(void);

#endif
