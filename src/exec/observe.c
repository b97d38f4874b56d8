// SPDX-License-Identifier: Apache-2.0
// Results of a step as an observer may see them.
#include "exec/observe.h"

#include "dispatch/registry.h"
#include "ops/move/op_relayout.h"

#include <string.h>

void *tn_plain_copy(const tn_tensor *tensor, const tn_cpu *cpu, tn_heap *heap)
{
    tn_tensor plain = *tensor;
    size_t bytes;
    plain.layout = TN_LAYOUT_PLAIN;
    plain.data = tn_tensor_bytes(&plain, &bytes) ? tn_take(heap, bytes) : NULL;
    if (!plain.data) {
        return NULL;
    }
    if (tensor->layout == TN_LAYOUT_PLAIN) {
        if (bytes) {
            memcpy(plain.data, tensor->data, bytes);
        }
        return plain.data;
    }
    const tn_relayout_attr attr = {.layout = TN_LAYOUT_PLAIN};
    const tn_tensor *in[1] = {tensor};
    tn_tensor *out[1] = {&plain};
    const tn_query query = {.op = &tn_op_relayout, .attr = &attr, .name = "observe", .n_in = 1, .n_out = 1, .in = in,
                            .out = (const tn_tensor *const *)out, .cpu = cpu, .threads = 1};
    const tn_kernel *row = tn_registry_reference(&query);
    const tn_call call = {.op = query.op, .attr = &attr, .name = "observe", .n_in = 1, .n_out = 1, .in = in, .out = out, .heap = heap};
    if (!row || row->run(&call) != TN_OK) {
        tn_give(heap, plain.data);
        return NULL;
    }
    return plain.data;
}
