// SPDX-License-Identifier: Apache-2.0
// Sub-flows on the DSP: encoded once, handed over whole, run by one call. A DSP that was started anew since gets the graph again.
// Ownership: make/release. Threads: a flow runs once at a time; flows of one device one after the other.
#ifndef TN_HEX_FLOW_H
#define TN_HEX_FLOW_H

#include "device/device.h"
#include "exec/hexagon/hex_link.h"
#include "exec/hexagon/hex_part.h"

// Of one session; the line is every session's.
typedef struct tn_hex_device {
    tn_device base;
    tn_hex_link *link;
    tn_hex_power power;
    atomic_uint_fast64_t copied;  // bytes that had to be copied into or out of shared memory
    uint64_t run, run_session;    // the run that called last, and the DSP that it began with
} tn_hex_device;

// As the device's table does, with a DSP that is started with these options.
tn_status tn_hex_device_open(tn_device **device, tn_heap *heap, const tn_cpu *cpu, const tn_hex_options *options, tn_diag *diag);

typedef struct tn_hex_flow {
    tn_flow base;
    tn_hex_device *device;
    tn_hex_link *link;
    tn_hex_chore chore;           // releasing it
    const tn_graph *graph;        // the request's
    const char *cache;            // the request's
    tn_hex_part *part;            // what the DSP has of it, shared with flows that are the same
    tn_hex_buffer *staging;       // for tensors that do not lie in shared memory; NULL: none did yet
    size_t held;                  // bytes of the host's memory, by this flow and what it shares; as of its last call
    const tn_flow_listener *listener;     // while it is made or run
    tn_hex_lines lines;           // of the log, to be told
    bool turn;                    // it has the link's
    bool frugal;                  // of a session with a limit of memory
    bool timed;                   // the DSP's counters began anew when runs began to be timed
    uint64_t dsp_us, packets;     // of the last run
} tn_hex_flow;

tn_status tn_hex_flow_make(tn_hex_device *device, const tn_flow_request *request, tn_hex_flow **flow);
// Under the link's lock, the link ready: the DSP has the graph when it succeeds; one that was started anew is given it again. Others have turns
// in between; the flow has it no longer where flow->turn says so.
tn_status tn_hex_flow_ready(tn_hex_flow *flow, tn_diag *diag);
tn_status tn_hex_flow_run(tn_hex_flow *flow, const tn_flow_run *run);
void tn_hex_flow_release(tn_hex_flow *flow);

// Calls visit for each node, with the microseconds and packets that the DSP counted.
void tn_hex_flow_describe(const tn_hex_flow *flow, void (*visit)(const tn_flow_node *node, void *context), void *context);

#endif
