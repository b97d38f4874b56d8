// SPDX-License-Identifier: Apache-2.0
// Three kinds of devices differ in what an image costs. Only the ratios of the two stores matter.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/run/cl_store.h"

#include "exec/opencl/rows/cl_rows.h"
#include "ops/op_eval.h"

#include <stdio.h>
#include <string.h>

typedef struct rates {
    double start_ns, bytes_ns, flops_ns;      // of starting a kernel; for one byte; for one operation
} rates;

// A driver on the CPU computes each access to an image (MobileNetV2 takes 530 ms in images, 61 ms in buffers on PoCL). A large GPU starts
// kernels with images later (6.2 against 5.2 us) and works as fast. One that shares its memory with the CPU reads buffers past its cache
// for textures: 1.5 is what its makers' guides lead one to expect, not measured.
static rates rates_of(const tn_cl_facts *facts, bool image)
{
    if (facts->is_cpu) {
        return image ? (rates){30e3, 8 / 4.0, 8 / (4.0 * TN_MAX(facts->units, 1u))} : (rates){30e3, 1 / 4.0, 1 / (4.0 * TN_MAX(facts->units, 1u))};
    }
    const double flops = 1 / (40.0 * TN_MAX(facts->units, 1u));
    if (facts->unified) {
        return image ? (rates){5e3, 1 / 20.0, flops} : (rates){5e3, 1.5 / 20.0, 1.5 * flops};
    }
    return image ? (rates){6.2e3, 1 / 400.0, 1.05 * flops} : (rates){5.2e3, 1 / 400.0, flops};
}

// Bytes of the grid that a value would lie in; 0: it lies in none. *fits: within the device's image limits.
static size_t grid_bytes(const tn_cl_facts *facts, const tn_value *value, bool *fits)
{
    int64_t dims[4];
    size_t width = 0, height = 0;
    if (!value || value->dtype != TN_F32 || !tn_cl_grid_dims(&value->shape, dims) ||
        !tn_cl_content_size(TN_CL_IN_OUT_CHANNEL, dims, 0, &width, &height)) {
        return 0;
    }
    *fits = facts->images && width <= facts->max_width && height <= facts->max_height;
    return width * height * 16;
}

tn_cl_prices tn_cl_store_prices(const tn_cl_facts *facts, const tn_graph *graph)
{
    const rates image = rates_of(facts, true), buffer = rates_of(facts, false);
    tn_cl_prices prices = {0, 0};
    for (const tn_node *node = graph->first; node; node = node->next) {
        const int64_t macs = tn_node_macs(node);
        double in_images = 0, in_buffers = 0;
        bool fit = true;
        if (!tn_cl_row_takes_grid(node->op)) {
            continue;         // plain, or elementwise between grids: alike but for the bytes that its neighbours count, too
        }
        for (int i = 0; i < node->n_in + node->n_out; i++) {
            bool fits = true;
            const double size = (double)grid_bytes(facts, i < node->n_in ? node->in[i] : node->out[i - node->n_in], &fits);
            in_buffers += size * buffer.bytes_ns;
            in_images += size * (fits ? image.bytes_ns : buffer.bytes_ns);
            fit = fit && fits;
        }
        const double flops = macs > 0 ? 2.0 * (double)macs : 0;
        const double work = buffer.start_ns + flops * buffer.flops_ns;
        prices.image_ns += in_images + (fit ? image.start_ns + flops * image.flops_ns : work);
        prices.buffer_ns += in_buffers + work;
    }
    return prices;
}

void tn_cl_store_choose(tn_cl_build *b, const tn_flow_request *request)
{
    tn_cl_flow *flow = b->flow;
    flow->prices = tn_cl_store_prices(&b->cl->facts, request->graph);
    b->buffers = request->store ? strcmp(request->store, "buffer") == 0
                                : b->cl->buffers_only || flow->prices.buffer_ns <= flow->prices.image_ns;
    flow->store = b->buffers ? "buffer" : "image";
}

void tn_cl_store_remark(tn_cl_build *b, const tn_flow_request *request)
{
    tn_cl_flow *flow = b->flow;
    const tn_cl_facts *facts = &b->cl->facts;
    unsigned past = 0, over = 0, narrow = 0;
    char limit[192] = "";
    for (const tn_cl_mem *mem = flow->mems; mem; mem = mem->next) {
        past += mem->past;
    }
    if (past && facts->images) {
        (void)snprintf(limit, sizeof limit, "; %u past the device's %zu x %zu texels: buffers", past, facts->max_width, facts->max_height);
    } else if (past) {
        (void)snprintf(limit, sizeof limit, "; the device has no images: %u are buffers", past);
    }
    for (const tn_cl_mem *mem = flow->mems; mem; mem = mem->next) {
        over += mem->below && mem->image;
    }
    for (const tn_cl_step *step = flow->first; step; step = step->next) {
        narrow += step->halves;
    }
    if (narrow) {
        const size_t used = strlen(limit);
        (void)snprintf(limit + used, sizeof limit - used, "; %u kernels multiply in halves (unproven with cl_khr_fp16)", narrow);
    }
    if (over) {
        const size_t used = strlen(limit);
        (void)snprintf(limit + used, sizeof limit - used, "; %u over buffers (unproven on a device)", over);
    }
    if (request->store || b->cl->buffers_only) {
        (void)snprintf(flow->remark, sizeof flow->remark, "grids in %ss, %s%s", flow->store, request->store ? "as asked for" : "the device has no images",
                       limit);
    } else {
        (void)snprintf(flow->remark, sizeof flow->remark, "grids in %ss: %.0f us in images, %.0f us in buffers%s", flow->store,
                       flow->prices.image_ns / 1e3, flow->prices.buffer_ns / 1e3, limit);
    }
    if (past && request->store && request->listener && request->listener->warn) {
        request->listener->warn(request->listener->context, flow->remark);
    }
}
