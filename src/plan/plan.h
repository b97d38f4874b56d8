// SPDX-License-Identifier: Apache-2.0
// A plan: the finished recipe for one graph and one key (input shapes, and the values of inputs that decide shapes). It is a flat
// list of steps over slots. Making it goes through the ten steps of docs/design.md, each in a file of its own.
// Ownership: a plan owns its work graph, parameters and references to packed weights; the bytes of slots belong to the program that
// runs it. Threads: a plan is used by one run at a time.
#ifndef TN_PLAN_H
#define TN_PLAN_H

#include "device/device.h"
#include "plan/tune/choices.h"
#include "plan/weights.h"

// X(name, text)
#define TN_LEASE_LIST(X)      \
    X(PRIVATE, "private")     /* constants: in the file, copied or packed */   \
    X(SHARE, "share")         /* intermediate tensors in the arena */          \
    X(OUTPUT, "output")       /* results: the caller's buffer or ours */       \
    X(INPUT, "input")         /* the caller's buffer or our copy */            \
    X(POOL, "pool")           /* sizes known only in the run */

typedef enum tn_lease {
#define X(name, text) TN_LEASE_##name,
    TN_LEASE_LIST(X)
#undef X
} tn_lease;

const char *tn_lease_text(tn_lease lease);

typedef struct tn_slot {
    tn_tensor tensor;         // data is set when the plan is bound to memory
    const char *name;
    tn_lease lease;           // of the root
    int root;                 // the slot whose bytes this one views; its own index when it has bytes of its own
    size_t root_offset;       // bytes from the root's first byte
    size_t bytes;             // of this tensor in its layout
    size_t offset;            // SHARE roots: in the arena
    int first, last;          // roots: steps between which the bytes are needed
    int index;                // INPUT, OUTPUT: which one
} tn_slot;

typedef enum tn_step_kind { TN_STEP_KERNEL, TN_STEP_CONTROL } tn_step_kind;

typedef struct tn_step {
    tn_step_kind kind;
    const tn_node *node;              // of the work graph
    const tn_kernel *kernel;          // NULL for control
    tn_call call;                     // ready to run once bound
    int *in, *out;                    // slots, -1: absent
    void *params;
    tn_packed *packed[TN_MAX_PACKS];
    size_t scratch_offset, scratch_bytes;   // in the arena
    tn_layout layout;                 // of result 0
    double cost;                      // estimated ns
    uint64_t macs;
    bool dynamic;                     // some result's size is known only when it ran
    bool tuned;                       // the tuning table chose the row
    bool crowded;                     // its device took it, but had no memory left for its sub-flow
    bool alone;                       // it says that the caller's thread is faster than all
    int8_t cache;                     // see tn_tuned
    const char *device;
} tn_step;

typedef struct tn_plan_memory {
    size_t arena_bytes;               // SHARE + SCRATCH, as planned
    size_t lower_bound_bytes;         // largest sum of live blocks over the steps
    size_t input_bytes, output_bytes; // inputs and results, which the session holds where the caller lends it no memory
    size_t packed_bytes;              // packed weights and aligned copies this plan refers to, each once
    bool exact;                       // false: pool, stages or bodies add to it in the run
} tn_plan_memory;

typedef struct tn_plan {
    struct tn_plan *next;             // in the cache, most recently used first
    void *key;
    size_t key_bytes;
    tn_heap *heap;
    tn_arena arena;                   // slots, steps, parameters
    tn_graph *graph;                  // the work graph: nodes as run
    tn_weights *weights;
    tn_packed **held;                 // constants that are read as they are: aligned copies, those in another layout
    size_t n_held;
    tn_slot *slots;
    size_t n_slots;
    tn_step *steps;
    size_t n_steps;
    int *inputs, *outputs;            // slots; inputs -1: not needed by this plan
    size_t n_inputs, n_outputs;
    int *moving;                      // slots rooted in INPUT, OUTPUT or POOL: their addresses change from run to run
    size_t n_moving;
    tn_plan_memory memory;
    uint64_t macs;
    uint64_t work;                    // weighted multiply-accumulates of one execution, as limit_work counts them
    double placed_cost;               // ns by the search over devices; 0 when there was only one
    double byte_ns;                   // what a byte that a row holds was priced at, because of memory_limit; 0: nothing
    unsigned n_conversions, n_reference;
    void *bound_base;                 // the arena the slots point into now; NULL: none yet
    // What could not be planned yet: the rest of the graph, whose first inputs are the slots in `border`. NULL: nothing.
    tn_graph *rest;
    int *border;
    size_t n_border;
    struct tn_program *rest_program;  // made by exec at the first run
    struct tn_program ***bodies;      // by step, then body; made by exec
    tn_flow **flows;                  // by step: compiled sub-flows; made by exec
    unsigned runs;
    uint64_t counted;                 // by the last run that succeeded, at most at one time: tn_plan_peak of this plan, of later stages and bodies, and the pool
    uint64_t serial;                  // distinct in its session, rising
    uint64_t lean;                    // the run in which it was made for less room than it would use; 0: it was not
} tn_plan;

// Bits of tn_plan_context.strict, those of tenon.h: what is an error instead of a warning.
enum { TN_STRICT_DEVICE = 1, TN_STRICT_REFERENCE = 2, TN_STRICT_PRECISION = 4 };

// Everything a plan may look at besides graph and shapes. One per session.
typedef struct tn_plan_context {
    tn_heap *heap;
    tn_weights *weights;
    tn_cpu cpu;                       // features masked
    unsigned threads;
    tn_workers *workers;              // share the packing of weights; NULL: nobody does
    tn_device *const *devices;        // in order of preference; the last is the CPU
    size_t n_devices;
    const char *device;               // asked for by name, or NULL
    const char *precision;            // "fp32" ...
    unsigned dead;                    // bit d: devices[d] failed and is left out
    char failure[256];                // of those, why; "" where none did
    unsigned strict;                  // TN_STRICT_* bits
    uint64_t limit_memory;            // of tn_plan_peak; 0: none
    uint64_t around;                  // what this run holds now: plans whose steps, bodies or later stages run, with their results of unknown size
    uint64_t highest;                 // the most that was since the innermost of these plans began
    uint64_t lacking;                 // bytes by which the last refusal for memory was above the limit; 0: none since the innermost plan began
    uint64_t limit_peak;              // the same, the default that guards against hostile models
    uint64_t limit_tensor;            // bytes
    uint64_t limit_work;              // weighted multiply-accumulates of one plan
    uint64_t limit_run;               // of all plans that one run executes; 0: none
    uint64_t limit_loop;              // steps of one Loop or Scan
    const char *pin;                  // "op=version,..."
    const char *cache, *store;        // for devices: see tn_flow_request
    const tn_choices *choices;        // measured ones; NULL: estimates decide alone
    uint64_t slice_ns;
    void (*log)(void *context, int level, const char *text);
    void *log_context;
    int device_log;                   // what devices say of their work goes to log: 0 nothing, 1 each call, 2 each node
    bool keep_order;                  // nodes run in the model's order: for measuring what the search gains
    bool as_written;                  // nothing is fused or dropped when shapes are known, either
    bool light;                       // no arena: tensors come and go step by step
    struct tn_block_cache *blocks;    // for results of unknown size
    struct tn_arena_pool *arenas;     // where arenas rest between runs; NULL: each program keeps its own
    tn_device *memory;                // whose memory arenas, results and inputs lie in; NULL: the heap
    // counters
    uint64_t fallbacks, plans, hits, steps;
    uint64_t runs;                    // begun; the last is the one that goes on
    uint64_t device_fallbacks;        // nodes that the named device does not run, and devices that failed
    uint64_t precision_events;        // nodes computed in another precision than asked for
    uint64_t planning_ns;             // spent in tn_plan_make
} tn_plan_context;

typedef struct tn_plan_request {
    const tn_graph *graph;
    const tn_fact *inputs;            // one per graph input; shapes known, value set for inputs whose contents count
    bool held;                        // the session may hold copies of the inputs: those of a model; false for bodies and later stages
    uint64_t spare;                   // bytes that must stay free beside the plan and what is around it: what a part of it was refused for
} tn_plan_request;

tn_status tn_plan_make(tn_plan **out, const tn_plan_request *request, tn_plan_context *context, tn_diag *diag);
// Of the host's memory, by devices for the plan's sub-flows; 0 before those are compiled.
uint64_t tn_plan_held(const tn_plan *plan);
// The sum that limits are compared with and reports tell: arena with workspaces, packed weights, results, inputs and tn_plan_held. Results and inputs
// count whether the caller lends memory for them or not, so that one plan serves both.
uint64_t tn_plan_peak(const tn_plan *plan);
uint64_t tn_plan_limit(const tn_plan_context *context);     // the one that holds; 0: none
void tn_plan_destroy(tn_plan *plan);      // rest_program and bodies must be gone (exec frees them)

// For every input of a graph: whether its contents (not only its shape) can decide a shape, an axis, a count or a branch.
tn_status tn_plan_value_inputs(const tn_graph *graph, bool *by_value, tn_heap *heap, tn_diag *diag);

// A fall-back of any kind: an error where the context's strict has one of these bits, else a warning.
tn_status tn_plan_tell(const tn_plan_context *context, const tn_node *node, unsigned strict, const char *what, tn_diag *diag);

// Parts of the JSON reports, written into an open array (explain, blocks) or added to sums.
struct tn_text;
void tn_plan_explain(const tn_plan *plan, const tn_plan_context *context, struct tn_text *text);   // one object for each node
void tn_plan_add_placement(const tn_plan *plan, const char *device, uint64_t *nodes, uint64_t *macs);
void tn_plan_report_blocks(const tn_plan *plan, size_t base, struct tn_text *text);

// Whether quantised products are cheaper in integers than in floats on this processor, by the rows there are.
bool tn_plan_integers_pay(const tn_cpu *cpu);

#endif
