// SPDX-License-Identifier: Apache-2.0
// The planner's work bench: the graph being cut to fit, what is known of each value, and what was chosen for each node. Each
// planning step is one function over it, called in order by plan.c.
// Ownership: lives in tn_plan_make. Threads: one.
#ifndef TN_WORK_H
#define TN_WORK_H

#include "base/num.h"
#include "dispatch/registry.h"
#include "ir/edit.h"
#include "pass/infer.h"
#include "plan/plan.h"

// A kernel row that can run a node, with the layouts it would get.
typedef struct tn_choice {
    const tn_kernel *row;
    uint8_t in, out;          // layout of operand 0 (and the blocked operands), of result 0
    double cost;              // ns
    double held, passing;     // bytes: packed weights and copies of constants; workspace. Known where memory is short
    double hold;              // ns that these are priced at; 0 unless memory is short
    const tn_tuned *tuned;    // the tuning table names this row for these layouts; valid while planning. NULL: estimates decide
} tn_choice;

#define TN_MAX_CHOICES 32
#define TN_MAX_DEVICES 4      // that nodes are placed on

typedef struct tn_work {
    tn_plan *plan;
    const tn_plan_request *request;
    tn_plan_context *context;
    tn_graph *graph;          // plan->graph
    tn_arena scratch;         // dies with the planning
    tn_diag *diag;
    tn_fact *facts;           // by value id
    size_t n_facts;
    tn_choice *chosen;        // by node id
    uint8_t *layout;          // by value id
    size_t n_chosen, n_layout;
    const char **device;      // by node id
    const char **flow_device; // the same with the nodes that sub-flows became
    bool *crowded;            // by node id, as flow_device: tn_step.crowded; NULL: none
    size_t n_crowded;
    tn_graph **parts;         // by node id: what the device that won takes in place of the node, kept by the graph; NULL: the node
    bool *planned;            // by node id: all shapes known, part of this plan
    double byte_ns;           // price of a byte that a row holds (packed and copied weights); 0: memory is not short
    bool transient;           // workspaces and conversions are priced too
    struct tn_row_lists *rows;    // of tn_plan_rows; NULL: not asked yet
    bool dry;                 // only to learn what the plan needs: no weight is packed
} tn_work;

// The fact of a value, growing the table for values made while planning; NULL: no memory.
tn_fact *tn_work_fact(tn_work *work, const tn_value *value);

// Fills a query for a node in the layouts of a choice. tensors: room for n_in + n_out descriptions, pointers: the same number.
void tn_work_query(tn_work *work, const tn_node *node, uint8_t in, uint8_t out, const tn_kernel *row, tn_query *query, tn_tensor *tensors,
                   const tn_tensor **pointers);

// Layout that operand `index` must have when the row runs with operand 0 in `in` and result 0 in `out`.
uint8_t tn_work_operand_layout(const tn_work *work, const tn_node *node, const tn_kernel *row, uint8_t in, uint8_t out, int index);

// A conversion of a constant: done while binding, kept beside the packed weights, no step of the run.
bool tn_work_made_once(const tn_node *node);

// A constant that a row reads in place has to be copied: the file holds it at an address that its type does not allow.
bool tn_work_misaligned(const tn_tensor *constant);

// Bytes of a tensor of known shape and layout; an error where it is larger than a tensor may be.
tn_status tn_work_check_size(tn_work *work, const tn_value *value, const tn_tensor *tensor, size_t *bytes);

// Rows that can run a node. Returns how many (at most TN_MAX_CHOICES).
int tn_work_choices(tn_work *work, const tn_node *node, tn_choice *choices);

double tn_work_cost(tn_work *work, const tn_kernel *row, const tn_query *query, uint64_t macs);
uint64_t tn_work_macs(tn_work *work, const tn_node *node);

// The steps of planning, in order.
tn_status tn_plan_shapes(tn_work *work);     // shapes and shape values; resolved branches inlined; dead nodes pruned
tn_status tn_plan_move(tn_work *work);       // movement becomes copy; copies compose
tn_status tn_plan_stage(tn_work *work);      // splits off what depends on data
tn_status tn_plan_place(tn_work *work);      // which device takes what
tn_status tn_plan_flow(tn_work *work);       // each device's runs of nodes become sub-flows (called by place)
tn_status tn_plan_lower(tn_work *work);      // what the device lacks is taken apart
tn_status tn_plan_layout(tn_work *work);     // layouts by price, conversions inserted
tn_status tn_plan_rows(tn_work *work);       // the first half of layout, again and again for one price of a byte after another
tn_status tn_plan_join(tn_work *work);       // nodes that one row does for less
tn_status tn_plan_order(tn_work *work);      // an order with a low peak
tn_status tn_plan_bind(tn_work *work);       // slots and steps: parameters, workspaces, packed weights
tn_status tn_plan_memory_assign(tn_work *work);   // leases and offsets

// Composition of movement (regions.c).
// Rewrites region `c` (which reads the dense row-major tensor written by the single region `p`) to read p's source instead.
bool tn_region_compose(const tn_region *c, const tn_region *p, tn_region *out);
// The same where the dense row-major tensor of `count` elements was written by several boxes of rows: a box becomes a few that read their
// sources. Returns how many went to `out`, none where that is more than `most` or the boxes do not move whole rows.
int tn_region_flatten(const tn_region *c, const tn_regions *p, int64_t count, tn_region *out, int most, tn_arena *scratch);
// Merges dims that are contiguous in source and destination, drops dims of size 1.
void tn_region_simplify(tn_region *region);
// The whole destination of `count` elements is one dense run of operand 0, starting at *offset.
bool tn_regions_dense(const tn_regions *regions, int64_t count, int64_t *offset);

#endif
