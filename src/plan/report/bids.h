// SPDX-License-Identifier: Apache-2.0
// What each device would charge for a node, or the first rule by which it refused. Bids depend on the query alone, so they are asked for
// again when somebody wants to know, and kept nowhere.
// Ownership: none. Threads: that of the session.
#ifndef TN_BIDS_H
#define TN_BIDS_H

#include "plan/plan.h"

struct tn_text;
struct tn_query;

// The bid of context->devices[device] for a step of a plan, operands PLAIN as in the search.
// What a device asks for a graph of parts (plan/place/parts.h), the sum of all; refusal: the first that it refuses.
tn_bid tn_plan_parts_bid(const tn_plan_context *context, size_t device, const tn_graph *parts);

tn_bid tn_plan_step_bid(const tn_plan_context *context, size_t device, const tn_step *step);

// Index of the device of that name, or n_devices.
size_t tn_plan_device(const tn_plan_context *context, const char *name);

// "bids": [{"device", "ns", "why"}] for a step, and for a node inside a sub-flow. `chosen` names the device that runs it.
void tn_plan_explain_step_bids(const tn_plan_context *context, const tn_step *step, struct tn_text *text);
void tn_plan_explain_node_bids(const tn_plan_context *context, const tn_node *node, const char *chosen, struct tn_text *text);

// "flow": {...}: what a sub-flow costs in all and what it saves.
void tn_plan_explain_flow(const tn_plan *plan, const tn_plan_context *context, const tn_step *step, struct tn_text *text);

#endif
