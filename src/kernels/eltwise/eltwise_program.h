// SPDX-License-Identifier: Apache-2.0
// Inside the eltwise family: from an operator to a program.
// Ownership: none. Threads: any.
#ifndef TN_ELTWISE_PROGRAM_H
#define TN_ELTWISE_PROGRAM_H

#include "kernels/eltwise/eltwise.h"

// The operator's loop form over its operands; false: it has none, or not for these attributes.
bool tn_eltwise_build(const tn_query *query, tn_loop_build *build, int *result);

// Fills code, constants and the number of buffers of parameters that are all zero.
bool tn_eltwise_compile(const tn_query *query, tn_eltwise_params *p);

#endif
