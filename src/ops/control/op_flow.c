// SPDX-License-Identifier: Apache-2.0
// flow: results are the body's. It has no kernel: exec hands it to its device.
#include "dispatch/kernel.h"
#include "ir/graph.h"
#include "ops/control/op_flow.h"

// ---- attributes, descriptor ----

static const tn_attr attrs[] = {{"device", TN_ATTR_TEXT, offsetof(tn_flow_attr, device), NULL}};

// The plan sets the results' facts itself: the body is not looked at here.
static tn_status infer_flow(tn_infer *infer)
{
    for (int i = 0; i < infer->n_out; i++) {
        infer->out[i].kind = TN_KIND_TENSOR;
        infer->out[i].shape = tn_shape_unknown();
    }
    return TN_OK;
}

const tn_op tn_op_flow = {.name = "flow", .version = 1, .flags = TN_OP_CONTROL, .min_in = 0, .max_in = -1, .min_out = 1, .max_out = -1,
                          .attrs = attrs, .n_attrs = 1, .attr_size = sizeof(tn_flow_attr), .infer = infer_flow};

// ---- export ----

static const tn_op *const ops[] = {&tn_op_flow};
const tn_kernel_list tn_kernels_op_flow = {0};
TN_EXPORT_OPS(op_flow, ops);
