// SPDX-License-Identifier: Apache-2.0
// The line to one DSP program: started once, shared by the sessions of a model, restarted when it died. Calls go one at a time; buffers
// live on the host, so that they survive a DSP that does not.
// Ownership: open/close. Threads: any; a lock inside puts calls in a row.
#ifndef TN_HEX_LINK_H
#define TN_HEX_LINK_H

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/hexagon/wire/hex_control.h"
#include "exec/hexagon/wire/hex_graph.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define TN_HEX_NO_SESSION UINT64_MAX

// How a DSP program is reached: through the emulator, or FastRPC on a phone. All are called under the link's lock.
typedef struct tn_hex_transport {
    const char *name;
    bool quits;               // a program that is told to quit goes by itself, and the next is another
    // Whether it can work here; *what: a fixed text, the reason why not.
    bool (*present)(const char **what);
    // Starts the program over the control page (page_fd, TN_HEX_PAGE bytes). *state belongs to the transport.
    tn_status (*start)(void **state, tn_heap *heap, int page_fd, tn_diag *diag);
    bool (*alive)(void *state, char *how, size_t size);      // false: it ended, and how
    // The memory of a buffer that the next call maps: its descriptor, and where it lies here.
    tn_status (*send_fd)(void *state, int fd, void *data, size_t bytes);
    // Ends it, gives everything back; NULL allowed. asked: it was told to quit and is given a moment to do so.
    void (*stop)(void *state, bool asked);
    pid_t (*process)(void *state);                           // of the program where it is one of this machine, else 0
    // Zeroed memory that the DSP can map, and its descriptor; it outlives a DSP that dies. NULL: any shared memory will do.
    void *(*take)(size_t bytes, int *fd);
    void (*give)(void *data, size_t bytes, int fd);
    // What the program runs on, its version and where it was found; NULL: nothing to tell.
    void (*describe)(char *text, size_t size);
} tn_hex_transport;

extern const tn_hex_transport tn_hex_qemu, tn_hex_fastrpc;

// The first that can work here: a phone's, then the emulator's.
const tn_hex_transport *tn_hex_transport_choose(void);

// Memory that both sides see. bytes is a multiple of TN_HEX_PAGE.
typedef struct tn_hex_buffer {
    struct tn_hex_buffer *next;
    uint8_t *data;
    size_t bytes;
    int fd;
    uint64_t session;         // of the DSP that has it mapped, as `handle`; TN_HEX_NO_SESSION: none
    uint32_t handle;
} tn_hex_buffer;

// The name of a node of the graph that is run; NULL: there is none of this id.
typedef const char *(*tn_hex_name_fn)(void *context, uint32_t node);

// What the DSP says of itself.
typedef struct tn_hex_hello {
    uint32_t protocol, arch, hvx_bytes, threads, vtcm_bytes, version, n_ops;
} tn_hex_hello;

// A call whose run could not wait for the answer. The DSP goes on with it; the next call waits first, and one that is the same takes the answer.
typedef struct tn_hex_late {
    bool waiting, answered;
    uint32_t sequence, call, n_args, args[TN_HEX_MESSAGE_ARGS];
    uint64_t begin_ns, session;
    uint32_t answer[TN_HEX_MESSAGE_WORDS];
} tn_hex_late;

typedef struct tn_hex_link {
    tn_heap *heap;
    pthread_mutex_t lock;
    const tn_hex_transport *transport;
    void *state;              // of the transport; NULL: not running
    bool greeted;             // the program that runs has shaken hands
    uint64_t started_ns;
    pid_t owner;              // process that made the link
    uint8_t *page;            // TN_HEX_PAGE bytes
    int page_fd;
    uint32_t sequence;
    uint64_t session;         // counts starts
    uint64_t deadline_ns;     // of the run that has the lock, for everything before the sub-graph is executed; 0: none
    const atomic_int *cancel; // the same; may be NULL
    tn_hex_late late;
    tn_hex_name_fn name;      // set around a call; NULL: nobody knows
    void *name_context;
    tn_hex_buffer *buffers;
    struct tn_hex_part *parts;    // sub-graphs that the DSP has or had
    uint64_t part_uses;
    tn_hex_hello hello;
    uint32_t threads;         // of the DSP; 0: its own choice
    uint32_t log_read;        // bytes of the log that were passed on
    uint32_t log_level;       // as the program of log_session was told
    uint64_t log_session;
    bool has_power;           // the wishes below were made
    uint32_t power_level, corner, latency_us, dcvs;
    atomic_uint_fast64_t copied;                                   // bytes that had to be copied into or out of shared memory
} tn_hex_link;

typedef struct tn_hex_call {
    uint32_t call;
    const uint32_t *args;     // n_args
    int n_args;
    uint64_t deadline_ns;     // on tn_clock_ns; 0: none but the link's own limit
    const atomic_int *cancel; // may be NULL
    const char *place;        // for messages
    uint32_t results[TN_HEX_MESSAGE_ARGS];
    uint32_t status;          // TN_HEX_OK ..., when the call came back
} tn_hex_call;

// Starts the program and shakes hands. threads: the DSP's workers.
tn_status tn_hex_link_open(tn_hex_link **link, const tn_hex_transport *transport, tn_heap *heap, uint32_t threads, tn_diag *diag);
// The program is asked to end, and ended where it does not. NULL allowed.
void tn_hex_link_close(tn_hex_link *link);

// All below take the lock themselves, except those that say so.
void tn_hex_link_lock(tn_hex_link *link);
void tn_hex_link_unlock(tn_hex_link *link);

// The same for a run that may not wait for ever while another session uses the DSP. TN_OK: it has the lock; TN_DEADLINE, TN_CANCELLED.
tn_status tn_hex_link_lock_until(tn_hex_link *link, uint64_t deadline_ns, const atomic_int *cancel, tn_diag *diag);

// Under the lock: what runs before an execute, start and preparation included, goes on no longer than this; what they had done stays done.
// 0, NULL: as long as it takes.
void tn_hex_link_limit(tn_hex_link *link, uint64_t deadline_ns, const atomic_int *cancel);
tn_status tn_hex_link_check(const tn_hex_link *link, const char *what, tn_diag *diag);      // not TN_OK: it is over; what: what the DSP did

// Under the lock: the program runs when this succeeds; one that died is started again (the buffers are mapped again when used).
tn_status tn_hex_link_ready(tn_hex_link *link, tn_diag *diag);

// Under the lock: whether it runs and is ours to talk to.
bool tn_hex_link_running(tn_hex_link *link);

// Under the lock, after ready: one call. TN_DEVICE: the DSP died, with its crash record in the message, or answered nonsense; it is
// started again by the next ready. TN_DEADLINE, TN_CANCELLED: by the call's own limits, it was stopped for that; by those of
// tn_hex_link_limit, it goes on and the same call again takes up its answer. A call that came back with a status other than
// TN_HEX_OK is TN_OK here: call->status and call->results tell.
tn_status tn_hex_link_call(tn_hex_link *link, tn_hex_call *call, tn_diag *diag);

// Under the lock, after ready: tells the DSP the wishes of power_level, corner, dcvs and latency_us.
tn_status tn_hex_link_power(tn_hex_link *link, tn_diag *diag);

// Under the lock, after ready: the DSP's handle of a buffer.
tn_status tn_hex_link_map(tn_hex_link *link, tn_hex_buffer *buffer, tn_diag *diag);

// Under the lock, after ready: what the DSP logs from now on, TN_HEX_LOG_*; costs a call where it changes.
tn_status tn_hex_log_level(tn_hex_link *link, uint32_t level, tn_diag *diag);

// Under the lock: calls tell for each line that the DSP has logged since the last time; NULL: they are passed over.
void tn_hex_log_tell(tn_hex_link *link, void (*tell)(void *context, const char *line), void *context);

// Under the lock: the last lines of the log in one, for messages; "" where there are none.
void tn_hex_log_last(const tn_hex_link *link, char *text, size_t size);

// The names of nodes by id, for the message of a crash; set around a call, under the lock. NULL: none.
void tn_hex_link_names(tn_hex_link *link, tn_hex_name_fn name, void *context);

tn_hex_buffer *tn_hex_buffer_take(tn_hex_link *link, size_t bytes);      // NULL: no memory
void tn_hex_buffer_give(tn_hex_link *link, tn_hex_buffer *buffer);       // NULL allowed
tn_hex_buffer *tn_hex_buffer_take_locked(tn_hex_link *link, size_t bytes);     // under the lock
void tn_hex_buffer_give_locked(tn_hex_link *link, tn_hex_buffer *buffer);

// The buffer that holds bytes [data, data + bytes); NULL: none does.
tn_hex_buffer *tn_hex_buffer_find(tn_hex_link *link, const void *data, size_t bytes);

const char *tn_hex_status_text(uint32_t status);
const char *tn_hex_why_text(uint32_t why);

#endif
