// SPDX-License-Identifier: Apache-2.0
// What a device offers to the planner and to exec: one const vtable per kind, found by name. The CPU is one like the others.
// Ownership: open/close. Threads: a device handle may be used by many sessions at the same time.
#ifndef TN_DEVICE_H
#define TN_DEVICE_H

#include "ir/graph.h"
#include "sys/cpu.h"

#include <stdatomic.h>

typedef struct tn_device tn_device;
struct tn_query;
struct tn_kernel;

typedef struct tn_device_facts {
    char name[64];            // "AMD EPYC ...", driver and version for others
    bool present;
    char reason[128];         // why not present
    uint64_t memory_bytes;    // its own, or what it may take of the host's; 0: the host's
    unsigned cores;
    char limits[160];         // versions and sizes that bound what it takes; may be ""
} tn_device_facts;

// A device's answer for one node with known shapes.
typedef struct tn_bid {
    double nanoseconds;       // estimated time on this device
    const char *refusal;      // not NULL: does not take it, and the first rule that refused
} tn_bid;

// Hints on speed against energy: one configuration of which every device follows its part. 0: the device's own default.
#define TN_POWER_LIST(X)  \
    X(gpu_performance)    /* 1 low, 2 normal, 3 high */                                              \
    X(gpu_priority)       /* 1 low (yields to a display), 2 normal, 3 high */                        \
    X(dsp_level)          /* voltage corner, 1 (most saving) .. 5 (fastest) */                       \
    X(dsp_dcvs)           /* clock and voltage scaling: 1 off, the corner is held; 2 on */           \
    X(dsp_latency_us)     /* highest wake-up latency */

typedef struct tn_power {
#define X(field) int field;
    TN_POWER_LIST(X)
#undef X
} tn_power;

// What came of one hint.
typedef struct tn_power_fate {
    bool applied;
    const char *why;          // not applied: what is missing here, static text; may be NULL
} tn_power_fate;

typedef struct tn_power_effect {
#define X(field) tn_power_fate field;
    TN_POWER_LIST(X)
#undef X
} tn_power_effect;

// A compiled sub-flow: each device begins its own struct with this.
typedef struct tn_flow {
    tn_device *device;
} tn_flow;

// Where a device tells that it keeps a node in another precision than asked for. Not TN_OK: that is forbidden, with the message.
typedef struct tn_flow_listener {
    tn_status (*precision)(void *context, const tn_node *node, const char *what, tn_diag *diag);
    void (*warn)(void *context, const char *what);      // something else that was asked for cannot be had
    void *context;
    void (*tell)(void *context, const char *line);      // what the device says of its own work, as `detail` asks; NULL: nobody wants to know
    int detail;               // 1: each call, 2: each node
} tn_flow_listener;

typedef struct tn_flow_request {
    const tn_graph *graph;    // closed, all shapes known; operands and results are PLAIN tensors in host memory; outlives the flow
    const char *precision;    // "fp32", ...
    const char *store;        // "image", "buffer": how a GPU keeps grids; NULL: the device's choice
    uint64_t slice_ns;        // a device that shares itself with a display runs no longer at a stretch; 0: as long as it takes
    const char *cache;        // folder where the device may keep what it builds; NULL: none. These texts outlive the flow
    const tn_flow_listener *listener;   // while the flow is made; may be NULL
    tn_diag *diag;
} tn_flow_request;

// Off-line search for the parameters of a flow's kernels.
typedef struct tn_tune_request {
    double seconds;
    const char *precision, *store, *cache;   // as the flow was made; cache: where the result is kept, not NULL
    uint64_t seed;
    // After each layer; false: stop here. May be NULL.
    bool (*progress)(void *context, size_t done, size_t count, const char *layer, double before_ns, double after_ns);
    void *context;
    tn_diag *diag;
} tn_tune_request;

// A file that a device keeps in a cache folder.
typedef struct tn_cache_file {
    const char *name, *kind;      // kind: "program", "tiles", "rows", "weights"
    uint64_t bytes;
    bool whole;                   // false: cut short or changed; it is never used
} tn_cache_file;

typedef struct tn_flow_run {
    const tn_tensor *const *in;   // one per graph input
    tn_tensor *const *out;        // one per graph output, data is there
    const atomic_int *cancel;     // non-zero: stop; may be NULL
    uint64_t deadline_ns;         // on tn_clock_ns; 0: none
    bool timed;                   // somebody will ask `describe` for the time of each node
    uint64_t number;              // of the run that it is a part of, as the session counts them; 0: not known
    bool frugal;                  // the application limits memory: nothing is kept that only saves time
    uint64_t room;                // bytes that the flow may hold beyond what it does, where `holds`; 0: no limit
    const tn_flow_listener *listener;   // may be NULL
    tn_diag *diag;
} tn_flow_run;

// What a device tells of one node of a flow, for reports.
typedef struct tn_flow_node {
    const tn_node *node;
    const char *kernel, *impl, *layout_in, *layout_out;
    const char *precision;    // how the result is kept, where it was asked for; NULL: as its type says
    uint64_t nanoseconds;     // of the last run where measured, else 0
} tn_flow_node;

typedef struct tn_device_vtable {
    const char *name;         // "cpu", "opencl", "hexagon"
    bool integers;            // computes with bytes: sessions on it run quantised graphs in their integer form
    bool named_only;          // opened only for sessions that name it: looking for its driver takes longer than many a model
    bool probe_opens;         // looking for it is opening it: a session that names it is told by that alone
    bool holds;               // what `memory` tells is the host's memory: it counts for the session's limit
    tn_status (*probe)(tn_device_facts *facts);
    tn_status (*open)(tn_device **device, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag);
    void (*close)(tn_device *device);
    // Whether, and for how much, the device takes a node. A node without a kernel may be bid for by its lowering.
    void (*bid)(tn_device *device, const struct tn_query *query, tn_bid *bid);
    // Bytes of the device's memory that a sub-flow of this graph would take, estimated, and how many it has for all of a plan's. NULL: the host's.
    uint64_t (*need)(tn_device *device, const tn_graph *graph, uint64_t *room);
    // Estimated nanoseconds to bring `bytes` bytes from host memory to the device or back.
    double (*transfer_cost)(tn_device *device, size_t bytes);
    // The rest may be NULL for the CPU, whose kernels exec runs itself.
    double (*call_cost)(tn_device *device);       // nanoseconds of starting one sub-flow
    tn_status (*compile)(tn_device *device, const tn_flow_request *request, tn_flow **flow);
    // TN_DEVICE: the device is gone; the session plans again without it, and asks `revive` now and then.
    tn_status (*execute)(tn_flow *flow, const tn_flow_run *run);
    void (*release)(tn_flow *flow);
    // TN_OK: it works, or works again; asked after open, too. Waits no longer than until deadline_ns on tn_clock_ns, 0: a limit of the device's
    // own; a start goes on meanwhile. NULL: it works when it is opened, and once gone it stays so. Where it is not, one more try of a run after TN_DEVICE may find it working.
    tn_status (*revive)(tn_device *device, uint64_t deadline_ns, tn_diag *diag);
    // Takes the hints, once, after open and before anything is compiled. NULL: the device follows none.
    void (*power)(tn_device *device, const tn_power *power, tn_power_effect *effect);
    // Calls visit for each node of the flow.
    void (*describe)(const tn_flow *flow, void (*visit)(const tn_flow_node *node, void *context), void *context);
    const char *(*remark)(const tn_flow *flow);   // one line for reports; NULL: there is none
    size_t (*memory)(const tn_flow *flow);        // bytes it holds on the device
    bool (*has)(const tn_op *op);                 // a kernel for some types; NULL: for every operator
    tn_status (*tune)(tn_flow *flow, const tn_tune_request *request);   // NULL: nothing to tune
    // Calls visit for each file of the folder that is the device's; false: the folder cannot be read. NULL: it keeps none.
    bool (*cache_list)(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context);
    // Removes files that are not whole, then the oldest programs until at most `limit` bytes are left; the number removed, -1 where one that
    // should go cannot be removed.
    int (*cache_prune)(const char *folder, uint64_t limit);
    // Memory that host and device both see, for tensors at the borders of sub-flows, aligned to TN_ALIGNMENT; NULL where the device
    // has none such. take: NULL when there is none left.
    void *(*take)(tn_device *device, size_t bytes);
    void (*give)(tn_device *device, void *block);
    uint64_t (*copied)(tn_device *device);        // bytes of tensors so far that lay elsewhere and were copied
    // Tensors in memory objects of the application; NULL: the device knows none. native: its context, itself, its queue. share: the tensor at
    // `host` is in `object` from now on (NULL: no longer). sync: contents of the object to host memory or back; unknown `host`: nothing.
    void (*native)(tn_device *device, void *handles[3]);
    tn_status (*share)(tn_device *device, void *host, size_t bytes, void *object, tn_diag *diag);
    tn_status (*sync)(tn_device *device, const void *host, bool to_host, tn_diag *diag);
} tn_device_vtable;

// All devices, from the list that the build writes (registry.gen.c); ends with NULL.
extern const tn_device_vtable *const tn_registry_devices[];

struct tn_device {
    const tn_device_vtable *vtable;
    tn_heap *heap;
    tn_cpu cpu;               // host facts with the session's mask applied
    // For statistics; counted by the device: programs it had to build, and found built (in memory or in its cache folder).
    atomic_ullong programs_built, programs_found;
};

#endif
