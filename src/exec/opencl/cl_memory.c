// SPDX-License-Identifier: Apache-2.0
// Memory of a flow. Constants, inputs and results have their own; everything between shares blocks: a block is free again after the last
// step that touches it, and the queue is in order. Image blocks are shared by element type where both sides fit; no kernel reads past
// its own grid's sides, so a larger image serves.
// Ownership: the flow owns all handles. Threads: one.
#include "exec/opencl/cl_build.h"

#include "base/num.h"

#include <string.h>

typedef struct tn_cl_block {
    struct tn_cl_block *next;
    bool image;
    tn_cl_element element;
    size_t width, height, bytes;
    int last;                     // step after which it is free
    cl_mem handle;
} tn_cl_block;

static bool broken(const tn_cl_build *b) { return b->status != TN_OK; }

static size_t grid_bytes(const tn_cl_mem *mem) { return mem->width * mem->height * 4 * tn_cl_element_bytes(mem->element); }

static const char *place(const tn_cl_build *b) { return b->node ? b->node->name : "opencl"; }

static cl_mem create(tn_cl_build *b, bool image, tn_cl_element element, size_t width, size_t height, size_t bytes)
{
    static const cl_channel_type types[TN_CL_ELEMENT_COUNT] = {CL_FLOAT, CL_HALF_FLOAT, CL_SIGNED_INT32, CL_UNSIGNED_INT8};
    cl_int error = CL_SUCCESS;
    cl_mem handle = NULL;
    if (bytes > b->cl->facts.largest_bytes) {
        b->status = tn_fail(b->diag, TN_DEVICE, place(b), "a tensor of %zu bytes is larger than the device's largest block of %llu", bytes,
                            (unsigned long long)b->cl->facts.largest_bytes);
        return NULL;
    }
    // Drivers that lend the host's memory take more than the device has and fail, or swap, in the run.
    if (bytes > b->cl->facts.memory_bytes || b->flow->bytes > b->cl->facts.memory_bytes - bytes) {
        b->status = tn_fail(b->diag, TN_DEVICE, place(b), "its sub-flow needs more than the device's memory of %llu bytes",
                            (unsigned long long)b->cl->facts.memory_bytes);
        return NULL;
    }
    if (image) {
        const cl_image_format format = {CL_RGBA, types[element]};
        cl_image_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.image_type = CL_MEM_OBJECT_IMAGE2D;
        desc.image_width = width;
        desc.image_height = height;
        handle = b->cl->driver.CreateImage(b->cl->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    } else {
        handle = b->cl->driver.CreateBuffer(b->cl->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    }
    if (!handle) {
        b->status = tn_cl_fail(b->diag, place(b), image ? "an image" : "a buffer", error);
        return NULL;
    }
    b->flow->bytes += bytes;
    return handle;
}

// The image's rows follow each other: who asks has seen that their length suits the device.
static cl_mem create_over(tn_cl_build *b, const tn_cl_mem *mem)
{
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_int error = CL_SUCCESS;
    cl_image_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = mem->width;
    desc.image_height = mem->height;
    desc.image_row_pitch = mem->width * 4 * sizeof(float);
    desc.buffer = mem->below->handle;
    cl_mem handle = b->cl->driver.CreateImage(b->cl->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
    if (!handle) {
        b->status = tn_cl_fail(b->diag, place(b), "an image over a buffer", error);
    }
    return handle;
}

static tn_cl_mem *new_mem(tn_cl_build *b, const tn_cl_mem *like)
{
    tn_cl_mem *mem = broken(b) ? NULL : tn_arena_array(&b->flow->arena, 1, sizeof *mem);
    if (!mem) {
        b->status = broken(b) ? b->status : tn_fail_memory(b->diag, place(b), sizeof *mem);
        return NULL;
    }
    *mem = *like;
    mem->first = -1;
    mem->pinned = mem->pinned || b->once;
    if (mem->pinned) {
        mem->handle = create(b, mem->image, mem->element, mem->width, mem->height, mem->bytes);
        if (!mem->handle) {
            return NULL;
        }
    }
    mem->next = b->flow->mems;
    b->flow->mems = mem;
    return mem;
}

tn_cl_mem *tn_cl_take_plain(tn_cl_build *b, size_t bytes)
{
    return new_mem(b, &(tn_cl_mem){.bytes = TN_MAX(bytes, (size_t)16)});
}

tn_cl_mem *tn_cl_pin_plain(tn_cl_build *b, size_t bytes)
{
    return new_mem(b, &(tn_cl_mem){.bytes = TN_MAX(bytes, (size_t)16), .pinned = true});
}

tn_cl_mem *tn_cl_take_grid(tn_cl_build *b, tn_cl_element element, size_t width, size_t height)
{
    const tn_cl_facts *facts = &b->cl->facts;
    tn_cl_mem like = {.grid = true, .element = element, .width = TN_MAX(width, (size_t)1), .height = TN_MAX(height, (size_t)1)};
    like.image = facts->images && !b->buffers && like.width <= facts->max_width && like.height <= facts->max_height;
    like.past = !b->buffers && !like.image;
    like.bytes = grid_bytes(&like);
    return new_mem(b, &like);
}

tn_cl_mem *tn_cl_view_grid(tn_cl_build *b, tn_cl_mem *of, size_t x0, size_t width)
{
    tn_cl_mem *mem = broken(b) ? NULL : tn_arena_array(&b->flow->arena, 1, sizeof *mem);
    if (!mem) {
        b->status = broken(b) ? b->status : tn_fail_memory(b->diag, place(b), sizeof *mem);
        return NULL;
    }
    // A view of a view is one of the grid below; it is in no list, as it owns nothing.
    *mem = (tn_cl_mem){.grid = true, .image = of->image, .element = of->element, .width = width, .height = of->height,
                       .of = of->of ? of->of : of, .x0 = x0 + of->x0, .watch = of->watch};
    mem->bytes = grid_bytes(mem);
    return mem;
}

tn_cl_mem *tn_cl_over_plain(tn_cl_build *b, tn_cl_mem *plain, size_t width, size_t height)
{
    tn_cl_mem *mem = broken(b) || !plain ? NULL : tn_arena_array(&b->flow->arena, 1, sizeof *mem);
    if (!mem) {
        b->status = broken(b) ? b->status : tn_fail_memory(b->diag, place(b), sizeof *mem);
        return NULL;
    }
    *mem = (tn_cl_mem){.grid = true, .image = !b->buffers && b->cl->facts.images, .element = TN_CL_F32, .width = width, .height = height, .below = plain,
                       .first = -1, .next = b->flow->mems};
    mem->bytes = grid_bytes(mem);
    plain->covered = true;
    b->flow->mems = mem;
    return mem;
}

tn_cl_mem *tn_cl_upload(tn_cl_build *b, const void *data, size_t bytes)
{
    tn_cl_mem *mem = tn_cl_pin_plain(b, bytes);
    if (mem && bytes) {
        const cl_int error = b->cl->driver.EnqueueWriteBuffer(b->cl->queue, mem->handle, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
        if (error != CL_SUCCESS) {
            b->status = tn_cl_fail(b->diag, place(b), "an upload", error);
            return NULL;
        }
    }
    return mem;
}

void tn_cl_drop(tn_cl_build *b, tn_cl_mem *mem)
{
    // Commands in the queue keep what they need until they are done.
    if (mem && mem->handle) {
        (void)b->cl->driver.ReleaseMemObject(mem->handle);
        mem->handle = NULL;
        b->flow->bytes -= mem->bytes;
    }
}

// ---- sharing ----

static bool serves(const tn_cl_block *block, const tn_cl_mem *mem)
{
    if (block->last >= mem->first || block->image != mem->image) {
        return false;
    }
    return mem->image ? block->element == mem->element && block->width >= mem->width && block->height >= mem->height
                      : block->bytes >= mem->bytes;
}

static bool assign_block(tn_cl_build *b, tn_cl_mem *mem)
{
    tn_cl_block *best = NULL;
    for (tn_cl_block *block = b->flow->blocks; block; block = block->next) {
        if (serves(block, mem) && (!best || block->bytes < best->bytes)) {
            best = block;
        }
    }
    if (!best) {
        best = tn_arena_array(&b->flow->arena, 1, sizeof *best);
        if (!best) {
            b->status = tn_fail_memory(b->diag, "opencl", sizeof *best);
            return false;
        }
        *best = (tn_cl_block){.image = mem->image, .element = mem->element, .width = mem->width, .height = mem->height, .bytes = mem->bytes};
        best->handle = create(b, mem->image, mem->element, mem->width, mem->height, mem->bytes);
        if (!best->handle) {
            return false;
        }
        best->next = b->flow->blocks;
        b->flow->blocks = best;
    }
    best->last = mem->last;
    mem->block = best;
    mem->handle = best->handle;
    return true;
}

// In the order of first use, the largest first among those of one step, so that blocks are made large enough for later users.
tn_status tn_cl_memory_assign(tn_cl_build *b)
{
    tn_cl_flow *flow = b->flow;
    int number = 0;
    for (tn_cl_step *step = flow->first; step; step = step->next, number++) {
        for (int i = 0; i < step->n_args; i++) {
            tn_cl_mem *mem = step->args[i].mem;
            if (mem) {
                for (tn_cl_mem *m = mem; m; m = m->below) {
                    m->first = m->first < 0 ? number : m->first;
                    m->last = number;
                }
            }
        }
    }
    for (size_t i = 0; flow->graph && flow->out && i < flow->graph->n_outputs; i++) {
        if (flow->out[i]) {
            flow->out[i]->last = number;
        }
    }
    number = 0;
    for (tn_cl_step *step = flow->first; step && !broken(b); step = step->next, number++) {
        for (bool more = true; more && !broken(b);) {
            tn_cl_mem *largest = NULL;
            for (int i = 0; i < step->n_args; i++) {
                tn_cl_mem *mem = step->args[i].mem && step->args[i].mem->below ? step->args[i].mem->below : step->args[i].mem;
                if (mem && !mem->pinned && !mem->handle && (!largest || mem->bytes > largest->bytes)) {
                    largest = mem;
                }
            }
            more = largest && assign_block(b, largest);
        }
        for (int i = 0; i < step->n_args && !broken(b); i++) {
            tn_cl_mem *mem = step->args[i].mem;
            if (mem && mem->below && !mem->handle) {
                mem->handle = mem->image ? create_over(b, mem) : mem->below->handle;
            }
        }
        if (!broken(b)) {
            b->status = tn_cl_step_set(b->cl, step, b->diag);
        }
    }
    return b->status;
}

void tn_cl_memory_release(tn_cl_flow *flow)
{
    for (tn_cl_mem *mem = flow->mems; mem; mem = mem->next) {
        if ((mem->pinned || (mem->below && mem->image)) && mem->handle) {
            (void)flow->cl->driver.ReleaseMemObject(mem->handle);
        }
    }
    for (tn_cl_block *block = flow->blocks; block; block = block->next) {
        (void)flow->cl->driver.ReleaseMemObject(block->handle);
    }
    flow->mems = NULL;
    flow->blocks = NULL;
}

// ---- arguments and the queue ----

tn_status tn_cl_step_set(tn_cl_context *cl, tn_cl_step *step, tn_diag *diag)
{
    for (int i = 0; i < step->n_args; i++) {
        const tn_cl_arg *arg = &step->args[i];
        cl_int error;
        switch (arg->kind) {
        case TN_CL_ARG_MEM: error = cl->driver.SetKernelArg(step->kernel, (cl_uint)i, sizeof arg->mem->handle, &arg->mem->handle); break;
        case TN_CL_ARG_INT: error = cl->driver.SetKernelArg(step->kernel, (cl_uint)i, sizeof arg->i, &arg->i); break;
        case TN_CL_ARG_REAL: error = cl->driver.SetKernelArg(step->kernel, (cl_uint)i, sizeof arg->real, &arg->real); break;
        default: error = cl->driver.SetKernelArg(step->kernel, (cl_uint)i, arg->local_bytes, NULL); break;
        }
        if (error != CL_SUCCESS) {
            return tn_cl_fail(diag, step->file, "a kernel argument", error);
        }
    }
    return TN_OK;
}

tn_status tn_cl_step_enqueue(tn_cl_context *cl, cl_command_queue queue, tn_cl_step *step, bool event, tn_diag *diag)
{
    const cl_int error = cl->driver.EnqueueNDRangeKernel(queue, step->kernel, 3, NULL, step->global, step->local[0] ? step->local : NULL,
                                                         0, NULL, event ? &step->event : NULL);
    return error == CL_SUCCESS ? TN_OK : tn_cl_fail(diag, step->node ? step->node->name : step->file, "a kernel", error);
}
