// SPDX-License-Identifier: Apache-2.0
// Tables of bytes. A load for each element, which no vector unit before AVX-512 VBMI has a shorter way for.
// Ownership: const data. Threads: elements are shared out.
#include "base/macros.h"
#include "dispatch/kernel.h"
#include "ops/quant/op_qmap.h"

#define PIECE 16384

static void table_task(void *context, size_t first, size_t count, unsigned slot)
{
    const tn_call *call = context;
    const uint8_t *x = call->in[0]->data, *restrict table = call->in[1]->data;
    uint8_t *restrict y = call->out[0]->data;
    (void)slot;
    for (size_t i = first; i < first + count; i++) {
        y[i] = table[x[i]];
    }
}

// x and y bytes, table [256] of the result's type.
static tn_status run_table(const tn_call *call)
{
    tn_workers_run(call->workers, table_task, (void *)call, (size_t)tn_tensor_count(call->out[0]), PIECE);
    return TN_OK;
}

static bool match(const tn_query *query, const char **why)
{
    *why = "no elements";
    return tn_tensor_count(query->out[0]) > 0;
}

static double cost(const tn_query *query) { return 200.0 + 0.4 * (double)tn_tensor_count(query->out[0]); }

static const tn_kernel rows[] = {{
    .name = "qlinear_table_portable", .op = &tn_op_qlinear_table, .layouts = {TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, 0},
    .impl = TN_IMPL_PORTABLE, .tag = "", .version = 1, .match = match, .cost = cost, .run = run_table,
}};
TN_EXPORT_KERNELS(qtable_u8_portable, rows);
