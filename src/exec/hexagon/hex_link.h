// SPDX-License-Identifier: Apache-2.0
// The line to one DSP program: started once, shared by the sessions of a process (share/hex_share.h), restarted when it died. Calls go one
// at a time, those who want to make some take turns; buffers live on the host, so that they survive a DSP that does not.
// Ownership: open/close. Threads: any.
#ifndef TN_HEX_LINK_H
#define TN_HEX_LINK_H

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/hexagon/share/hex_late.h"
#include "exec/hexagon/share/hex_spare.h"
#include "exec/hexagon/share/hex_turn.h"
#include "exec/hexagon/wire/hex_control.h"
#include "exec/hexagon/wire/hex_graph.h"

#include <sys/types.h>

#define TN_HEX_NO_SESSION UINT64_MAX

// What a program is started with. Sessions that want the same can share one.
typedef struct tn_hex_options {
    uint32_t threads;         // of the DSP; 0: its own choice
    uint32_t vtcm;            // bytes that may be used; 0: all that there is
    uint32_t flags;           // TN_HEX_FLAG_*
    const uint8_t *program;   // where the transport brings its own: program_size bytes that outlive the line; NULL: the library's
    size_t program_size;
} tn_hex_options;

// How a DSP program is reached: through the emulator, or FastRPC on a phone. All are called by who has the turn.
typedef struct tn_hex_transport {
    const char *name;
    bool quits;               // a program that is told to quit goes by itself, and the next is another
    bool spares;              // two programs can be started at the same time
    // Whether it can work here; *what: a fixed text, the reason why not.
    bool (*present)(const char **what);
    // Starts the program over the control page (page_fd, TN_HEX_PAGE bytes). *state belongs to the transport.
    tn_status (*start)(void **state, tn_heap *heap, int page_fd, const tn_hex_options *options, tn_diag *diag);
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

typedef struct tn_hex_link tn_hex_link;

// Something that is to be done by who has the turn.
typedef struct tn_hex_chore {
    struct tn_hex_chore *next;
    void (*run)(tn_hex_link *link, struct tn_hex_chore *chore);
} tn_hex_chore;

// Memory that both sides see. bytes is a multiple of TN_HEX_PAGE.
typedef struct tn_hex_buffer {
    tn_hex_chore chore;       // giving it back; first
    struct tn_hex_buffer *next;
    uint8_t *data;
    size_t bytes;
    int fd;
    uint64_t session;         // of the DSP that has it mapped, as `handle`; TN_HEX_NO_SESSION: none
    uint32_t handle;
    uint64_t used;            // the turn in which it was asked for last
    bool pinned;              // the DSP's graphs want it where it is
} tn_hex_buffer;

// The name of a node of the graph that is run; NULL: there is none of this id.
typedef const char *(*tn_hex_name_fn)(void *context, uint32_t node);

// What the DSP says of itself.
typedef struct tn_hex_hello {
    uint32_t protocol, arch, hvx_bytes, threads, vtcm_bytes, version, n_ops;
} tn_hex_hello;

// Wishes of a session. As its runs are made, those of the one whose turn it is hold.
typedef struct tn_hex_power {
    bool wished;              // false: the program's own choice, and the rest is 0
    uint32_t level, corner, latency_us, dcvs;
} tn_hex_power;

struct tn_hex_link {
    tn_heap *heap;
    tn_hex_turn turn;         // of everything below but what is said to be of `list`
    uint64_t turns;           // so far
    pthread_mutex_t list;     // buffers, chores; held for moments
    tn_hex_options options;
    const tn_hex_transport *transport;
    void *state;              // of the transport; NULL: not running
    bool greeted;             // the program that runs has shaken hands
    uint64_t started_ns;
    uint64_t patience_ns;     // what is opened waits no longer for a turn, a program that starts or a graph that is handed over
    pid_t owner;              // process that made the link
    uint8_t *page;            // TN_HEX_PAGE bytes
    int page_fd;
    uint32_t sequence;
    uint64_t session;         // of the program, by the count of those that were started
    uint64_t programs;        // started so far, spare ones among them
    char death[480];          // how the program before this one ended; "": there was none
    uint64_t deadline_ns;     // of the run that has the turn, for everything before the sub-graph is executed; 0: none
    const atomic_int *cancel; // the same; may be NULL
    tn_hex_late late;
    tn_hex_spare spare;
    tn_hex_name_fn name;      // set around a call; NULL: nobody knows
    void *name_context;
    tn_hex_buffer *buffers;   // list
    tn_hex_chore *chores;     // list
    struct tn_hex_part *parts;    // sub-graphs that the DSP has or had
    uint64_t part_uses;
    tn_hex_hello hello;
    uint32_t log_read;        // bytes of the log that were passed on, or were logged before this turn
    uint32_t log_begin;       // of this turn
    uint32_t log_level;       // as the program of log_session was told
    uint64_t log_session;
    tn_hex_power power;       // as the program of power_session was told
    uint64_t power_session;
};

typedef struct tn_hex_call {
    uint32_t call;
    const uint32_t *args;     // n_args
    int n_args;
    uint64_t deadline_ns;     // on tn_clock_ns; 0: none but the link's own limit
    const atomic_int *cancel; // may be NULL
    const char *place;        // for messages
    bool foreign;             // another session's, which left it
    uint32_t results[TN_HEX_MESSAGE_ARGS];
    uint32_t status;          // TN_HEX_OK ..., when the call came back
} tn_hex_call;

// Starts the program and shakes hands.
tn_status tn_hex_link_open(tn_hex_link **link, const tn_hex_transport *transport, tn_heap *heap, const tn_hex_options *options, tn_diag *diag);
// The same, but for the start: that is left to tn_hex_link_ready.
tn_status tn_hex_link_create(tn_hex_link **link, const tn_hex_transport *transport, tn_heap *heap, const tn_hex_options *options, tn_diag *diag);
// The program is asked to end, and ended where it does not. NULL allowed.
void tn_hex_link_close(tn_hex_link *link);

// The turn. All below take it themselves, except those that say so. In a forked child, which must leave the program alone, there are no turns.
void tn_hex_link_lock(tn_hex_link *link);
void tn_hex_link_unlock(tn_hex_link *link);     // chores that were left are done first, but for a DSP that is still busy

// Does it now, or leaves it to the one who has the turn: whoever gives something back need not wait for another's run.
void tn_hex_link_later(tn_hex_link *link, tn_hex_chore *chore);

// The same for who may not wait for ever while another session uses the DSP. TN_OK: it has the turn; TN_DEADLINE, TN_CANCELLED.
tn_status tn_hex_link_lock_until(tn_hex_link *link, uint64_t deadline_ns, const atomic_int *cancel, tn_diag *diag);

// Under the lock: those who wait have their turns first. Not TN_OK: the limits of the run say that it ends, and the turn is not had. Afterwards
// the program may be another, and with it all that was handed over.
tn_status tn_hex_link_breathe(tn_hex_link *link, tn_diag *diag);

// Under the lock: what runs before an execute, start and preparation included, goes on no longer than this; what they had done stays done.
// 0, NULL: as long as it takes.
void tn_hex_link_limit(tn_hex_link *link, uint64_t deadline_ns, const atomic_int *cancel);
tn_status tn_hex_link_check(const tn_hex_link *link, const char *what, tn_diag *diag);      // not TN_OK: it is over; what: what the DSP did

// Under the lock: the program runs when this succeeds; one that died is started again (the buffers are mapped again when used).
tn_status tn_hex_link_ready(tn_hex_link *link, tn_diag *diag);

// The same, taking the turn for it and giving it back; nothing goes on longer than until deadline_ns, 0: the link's patience.
tn_status tn_hex_link_wake(tn_hex_link *link, uint64_t deadline_ns, tn_diag *diag);

// Under the lock: whether it runs and is ours to talk to.
bool tn_hex_link_running(tn_hex_link *link);

// Under the lock, after ready: one call. TN_DEVICE: the DSP died, with its crash record in the message, or answered nonsense; it is
// started again by the next ready. TN_DEADLINE, TN_CANCELLED: by the call's own limits, it was stopped for that; by those of
// tn_hex_link_limit, it goes on and the same call again takes up its answer. A call that came back with a status other than
// TN_HEX_OK is TN_OK here: call->status and call->results tell.
tn_status tn_hex_link_call(tn_hex_link *link, tn_hex_call *call, tn_diag *diag);

// Under the lock, after ready: wishes that hold from now on; costs two calls where they change.
tn_status tn_hex_link_power(tn_hex_link *link, const tn_hex_power *power, tn_diag *diag);

// Under the lock, after ready: the DSP's handle of a buffer. TN_OUT_OF_MEMORY: it has no room for more.
tn_status tn_hex_link_map(tn_hex_link *link, tn_hex_buffer *buffer, tn_diag *diag);
// Under the lock: takes from the DSP all buffers that are not pinned and were not used in this turn; they are mapped again when used. false: there
// was none.
bool tn_hex_link_unmap_idle(tn_hex_link *link);

// Under the lock, after ready: what the DSP logs from now on, TN_HEX_LOG_*; costs a call where it changes.
tn_status tn_hex_log_level(tn_hex_link *link, uint32_t level, tn_diag *diag);

// Lines that were taken out of the log, to be told when the turn has been given: what listens may run another session.
typedef struct tn_hex_lines {
    size_t size, room;
    char *text;               // lines, each with its end of line; NULL: none
} tn_hex_lines;

// Under the lock: what the DSP has logged since the turn began or the last time. Without memory there is none.
void tn_hex_log_take(tn_hex_link *link, tn_hex_lines *lines);
// Not under the lock: calls tell for each line, and forgets them.
void tn_hex_log_tell(tn_hex_link *link, tn_hex_lines *lines, void (*tell)(void *context, const char *line), void *context);
// Under the lock: what was logged before is another's.
void tn_hex_log_begin(tn_hex_link *link);

// Under the lock: the last lines of the log since the turn began in one, for messages; "" where there are none.
void tn_hex_log_last(const tn_hex_link *link, char *text, size_t size);

// The names of nodes by id, for the message of a crash; set around a call, under the lock. NULL: none.
void tn_hex_link_names(tn_hex_link *link, tn_hex_name_fn name, void *context);

tn_hex_buffer *tn_hex_buffer_take(tn_hex_link *link, size_t bytes);      // with or without the lock; NULL: no memory
void tn_hex_buffer_give(tn_hex_link *link, tn_hex_buffer *buffer);       // NULL allowed
void tn_hex_buffer_give_locked(tn_hex_link *link, tn_hex_buffer *buffer);      // under the lock

// With or without the lock: the buffer that holds bytes [data, data + bytes); NULL: none does.
tn_hex_buffer *tn_hex_buffer_find(tn_hex_link *link, const void *data, size_t bytes);

// ---- for the spare ----

// Under the lock: starts a program over a page, which is written anew.
tn_status tn_hex_link_launch(tn_hex_link *link, uint8_t *page, int page_fd, void **state, tn_diag *diag);
// A page for one; false: no memory.
bool tn_hex_page_take(uint8_t **page, int *fd);
void tn_hex_page_give(uint8_t *page, int fd);
// Makes a call by a page; its words.
void tn_hex_page_post(uint8_t *page, uint32_t sequence, uint32_t call, const uint32_t *args, int n_args);
uint32_t tn_hex_page_load(uint8_t *page, size_t offset, int word);

const char *tn_hex_status_text(uint32_t status);
const char *tn_hex_why_text(uint32_t why);

#endif
