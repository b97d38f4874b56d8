// SPDX-License-Identifier: Apache-2.0
// Makes a loop program shorter without changing what it computes, beyond a rounding.
// Ownership: works in place. Threads: any.
#ifndef TN_CHAIN_CODE_H
#define TN_CHAIN_CODE_H

#include "loop/loop.h"

#include <stdbool.h>

// The result is register `result`. Afterwards it is the last instruction's. false: the program computes nothing (its result is an
// operand).
bool tn_chain_simplify(tn_loop *loop, int result);

#endif
