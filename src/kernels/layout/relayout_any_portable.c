// SPDX-License-Identifier: Apache-2.0
// Layout conversion of elements of any size: the row of relayout_general.c.
// Ownership: const data. Threads: any.
#include "kernels/layout/relayout.h"
#include "ops/move/op_relayout.h"

static const tn_kernel rows[] = {
    {.name = "relayout_any_portable", .op = &tn_op_relayout, .impl = TN_IMPL_PORTABLE, .tag = "", .version = 1,
     .aligned_constants = true, .match = tn_relayout_match_any, .run = tn_relayout_general},
};
TN_EXPORT_KERNELS(relayout_any_portable, rows);
