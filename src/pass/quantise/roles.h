// SPDX-License-Identifier: Apache-2.0
// What the nodes of a float graph become when it is quantised here, and which values then have a scale of their own.
// Ownership: none. Threads: any.
#ifndef TN_ROLES_H
#define TN_ROLES_H

#include "ir/graph.h"

typedef enum tn_role {
    TN_ROLE_NONE,       // stays float
    TN_ROLE_SUM,        // weights
    TN_ROLE_PRODUCT,    // of two values
    TN_ROLE_SOFTMAX,
    TN_ROLE_PAIR,       // two values
    TN_ROLE_UNARY,      // a function of one
    TN_ROLE_MEAN,
    TN_ROLE_JOIN,
    TN_ROLE_MOVE        // keeps the scale
} tn_role;

tn_role tn_role_of(const tn_node *node);
static inline bool tn_role_is_sum(tn_role role) { return role == TN_ROLE_SUM || role == TN_ROLE_PRODUCT; }

// Whether a convolution or product comes after the node or is it, bounds included. Looked up again for each: graphs are small beside a run.
bool tn_is_inner(const tn_node *node);

// An inner node reads the value, perhaps after it was moved.
bool tn_feeds_inner(const tn_value *value);

// The value gets a scale of its own.
bool tn_has_scale(const tn_value *value);

// A product of two values that are computed, as attention has them, whatever is added to it.
bool tn_multiplies_values(const tn_node *node);

bool tn_is_bound(const tn_node *node);                              // relu or clip
bool tn_is_weight(const tn_value *value, int least_rank);           // a constant of floats
int tn_values_read(const tn_node *node);                            // operands that are computed
const tn_node *tn_only_reader(const tn_value *value);               // the only node that reads the value, when nothing else sees it

#endif
