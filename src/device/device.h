// SPDX-License-Identifier: Apache-2.0
// What a device offers to the planner and to exec: one const vtable per kind, found by name. The CPU is one like the others.
// Ownership: open/close. Threads: a device handle may be used by many sessions at the same time.
#ifndef TN_DEVICE_H
#define TN_DEVICE_H

#include "ir/graph.h"
#include "sys/cpu.h"

typedef struct tn_device tn_device;
struct tn_query;
struct tn_kernel;

typedef struct tn_device_facts {
    char name[64];            // "AMD EPYC ...", driver and version for others
    bool present;
    char reason[128];         // why not present
    uint64_t memory_bytes;    // 0: the host's
    unsigned cores;
} tn_device_facts;

// A device's answer for one node with known shapes.
typedef struct tn_bid {
    double nanoseconds;       // estimated time on this device
    const char *refusal;      // not NULL: does not take it, and the first rule that refused
} tn_bid;

typedef struct tn_device_vtable {
    const char *name;         // "cpu", "opencl", "hexagon"
    bool whole_graph;         // gets each sub-flow in one call instead of kernel by kernel
    bool host_memory;         // its tensors are ordinary memory of this process
    tn_status (*probe)(tn_device_facts *facts);
    tn_status (*open)(tn_device **device, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag);
    void (*close)(tn_device *device);
    // Whether, and for how much, the device takes a node. A node without a kernel may be bid for by its lowering.
    void (*bid)(tn_device *device, const struct tn_query *query, tn_bid *bid);
    // Estimated nanoseconds to bring `bytes` bytes from host memory to the device or back.
    double (*transfer_cost)(tn_device *device, size_t bytes);
} tn_device_vtable;

// All devices, from the list that the build writes (registry.gen.c); ends with NULL.
extern const tn_device_vtable *const tn_registry_devices[];

struct tn_device {
    const tn_device_vtable *vtable;
    tn_heap *heap;
    tn_cpu cpu;               // host facts with the session's mask applied
};

#endif
