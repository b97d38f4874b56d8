// SPDX-License-Identifier: Apache-2.0
// Results of a step as an observer may see them: plain row-major tensors, whatever layout the step works in.
// Ownership: tn_plain_copy's bytes belong to the caller. Threads: any.
#ifndef TN_OBSERVE_H
#define TN_OBSERVE_H

#include "ir/tensor.h"
#include "plan/plan.h"

// A PLAIN copy of a tensor in the heap (also of one that is PLAIN already); NULL: no memory.
void *tn_plain_copy(const tn_tensor *tensor, const tn_cpu *cpu, tn_heap *heap);

#endif
