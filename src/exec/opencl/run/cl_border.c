// SPDX-License-Identifier: Apache-2.0
// A run lends a handle to each memory at the border by setting the arguments that hold it; afterwards the flow's own are set again, so
// that nothing points to what the application may free.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/run/cl_border.h"

#include <string.h>

struct tn_cl_shared {
    struct tn_cl_shared *next;
    const void *host;
    size_t bytes;
    cl_mem object;
};

struct tn_cl_border {
    cl_mem lent;              // of this run; NULL: the flow's own
    bool made;                // for this run, over host memory
};

// ---- what the application shares ----

static tn_cl_shared *shared_at(const tn_cl_context *cl, const void *host)
{
    tn_cl_shared *s = cl->shared;
    while (s && s->host != host) {
        s = s->next;
    }
    return s;
}

static void forget(tn_cl_context *cl, const void *host)
{
    for (tn_cl_shared **at = &cl->shared; *at; at = &(*at)->next) {
        tn_cl_shared *s = *at;
        if (s->host == host) {
            *at = s->next;
            (void)cl->driver.ReleaseMemObject(s->object);
            tn_give(cl->base.heap, s);
            return;
        }
    }
}

tn_status tn_cl_share(tn_cl_context *cl, void *host, size_t bytes, cl_mem object, tn_diag *diag)
{
    cl_context context = NULL;
    cl_mem_object_type type = 0;
    size_t size = 0;
    if (!object) {
        forget(cl, host);
        return TN_OK;
    }
    // The driver looks at the handle first: what is no memory object at all is its to refuse.
    const cl_int error = cl->driver.GetMemObjectInfo(object, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (error != CL_SUCCESS || cl->driver.GetMemObjectInfo(object, CL_MEM_CONTEXT, sizeof(cl_context), &context, NULL) != CL_SUCCESS ||
        cl->driver.GetMemObjectInfo(object, CL_MEM_SIZE, sizeof size, &size, NULL) != CL_SUCCESS) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "memory object", "the driver does not know it: %s", tn_cl_error_text(error));
    }
    if (context != cl->context || type != CL_MEM_OBJECT_BUFFER || size < bytes) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "memory object", "it must be a buffer of the session's context of at least %zu bytes", bytes);
    }
    tn_cl_shared *s = tn_take_zero(cl->base.heap, 1, sizeof *s);
    if (!s) {
        return tn_fail_memory(diag, "memory object", sizeof *s);
    }
    forget(cl, host);
    (void)cl->driver.RetainMemObject(object);
    *s = (tn_cl_shared){cl->shared, host, bytes, object};
    cl->shared = s;
    return TN_OK;
}

tn_status tn_cl_share_sync(tn_cl_context *cl, const void *host, bool to_host, tn_diag *diag)
{
    const tn_cl_shared *s = shared_at(cl, host);
    cl_int error = CL_SUCCESS;
    if (s && to_host) {
        error = cl->driver.EnqueueReadBuffer(cl->queue, s->object, CL_TRUE, 0, s->bytes, (void *)(uintptr_t)host, 0, NULL, NULL);
    } else if (s) {
        error = cl->driver.EnqueueWriteBuffer(cl->queue, s->object, CL_TRUE, 0, s->bytes, host, 0, NULL, NULL);
    }
    return error == CL_SUCCESS ? TN_OK : tn_cl_fail(diag, "memory object", "a transfer", error);
}

void tn_cl_share_release(tn_cl_context *cl)
{
    while (cl->shared) {
        forget(cl, cl->shared->host);
    }
}

// ---- a run ----

static size_t n_borders(const tn_cl_flow *flow) { return flow->graph->n_inputs + flow->graph->n_outputs; }

tn_status tn_cl_borders_make(tn_cl_flow *flow, tn_diag *diag)
{
    flow->borders = tn_arena_array(&flow->arena, n_borders(flow) + 1, sizeof *flow->borders);
    return flow->borders ? TN_OK : tn_fail_memory(diag, "opencl", n_borders(flow) * sizeof *flow->borders);
}

static tn_cl_mem *mem_at(const tn_cl_flow *flow, size_t i)
{
    return i < flow->graph->n_inputs ? flow->in[i] : flow->out[i - flow->graph->n_inputs];
}

static const tn_tensor *tensor_at(const tn_cl_flow *flow, const tn_flow_run *run, size_t i)
{
    return i < flow->graph->n_inputs ? run->in[i] : run->out[i - flow->graph->n_inputs];
}

// An operand that is passed through, a constant, what is two results at once or has a grid over it: a handle cannot be lent to one of them alone.
static bool alone(const tn_cl_flow *flow, size_t index)
{
    const tn_cl_mem *mem = mem_at(flow, index);
    bool alone = mem && !mem->grid && !mem->covered && (index < flow->graph->n_inputs || !mem->pinned);
    for (size_t i = 0; i < n_borders(flow) && alone; i++) {
        alone = i == index || mem_at(flow, i) != mem;
    }
    return alone;
}

static tn_status lend(tn_cl_flow *flow, const tn_cl_mem *mem, cl_mem handle, tn_diag *diag)
{
    for (tn_cl_step *step = flow->first; step; step = step->next) {
        for (int i = 0; i < step->n_args; i++) {
            if (step->args[i].kind != TN_CL_ARG_MEM || step->args[i].mem != mem) {
                continue;
            }
            const cl_int error = flow->cl->driver.SetKernelArg(step->kernel, (cl_uint)i, sizeof handle, &handle);
            if (error != CL_SUCCESS) {
                return tn_cl_fail(diag, step->file, "a kernel argument", error);
            }
        }
    }
    return TN_OK;
}

// Two buffers over the same bytes mean nothing to a driver.
static bool overlaps(const tn_cl_flow *flow, const tn_flow_run *run, size_t index, size_t bytes)
{
    const char *begin = tensor_at(flow, run, index)->data, *end = begin + bytes;
    for (size_t i = 0; i < n_borders(flow); i++) {
        const tn_tensor *other = tensor_at(flow, run, i);
        size_t size = 0;
        if (i != index && other && other->data && tn_tensor_bytes(other, &size) && (const char *)other->data < end &&
            (const char *)other->data + size > begin) {
            return true;
        }
    }
    return false;
}

// A buffer over the tensor's own bytes; NULL: they are copied instead.
static cl_mem over_host(const tn_cl_flow *flow, const tn_flow_run *run, size_t index, size_t bytes)
{
    const tn_cl_context *cl = flow->cl;
    const tn_tensor *tensor = tensor_at(flow, run, index);
    const bool result = index >= flow->graph->n_inputs;
    cl_int error = CL_SUCCESS;
    if (!cl->facts.unified || bytes < cl->lend_from || (uintptr_t)tensor->data % cl->facts.alignment || overlaps(flow, run, index, bytes)) {
        return NULL;
    }
    return cl->driver.CreateBuffer(cl->context, (result ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY) | CL_MEM_USE_HOST_PTR, bytes, tensor->data, &error);
}

tn_status tn_cl_borders_begin(tn_cl_flow *flow, const tn_flow_run *run)
{
    for (size_t i = 0; i < n_borders(flow); i++) {
        struct tn_cl_border *border = &flow->borders[i];
        const tn_tensor *tensor = tensor_at(flow, run, i);
        const tn_cl_mem *mem = mem_at(flow, i);
        size_t bytes = 0;
        *border = (struct tn_cl_border){NULL, false};
        if (!tensor || !tensor->data || !mem || !tn_tensor_bytes(tensor, &bytes) || bytes == 0 || bytes > mem->bytes || !alone(flow, i)) {
            continue;
        }
        const tn_cl_shared *shared = shared_at(flow->cl, tensor->data);
        if (shared && shared->bytes >= bytes) {
            border->lent = shared->object;
        } else {
            border->lent = over_host(flow, run, i, bytes);
            border->made = border->lent != NULL;
        }
        if (border->lent) {
            TN_TRY(lend(flow, mem, border->lent, run->diag));
        }
    }
    return TN_OK;
}

bool tn_cl_borrowed(const tn_cl_flow *flow, size_t index) { return flow->borders[index].lent != NULL; }

tn_status tn_cl_borders_show(tn_cl_flow *flow, const tn_flow_run *run)
{
    const tn_cl_driver *driver = &flow->cl->driver;
    for (size_t i = flow->graph->n_inputs; i < n_borders(flow); i++) {
        const struct tn_cl_border *border = &flow->borders[i];
        cl_int error = CL_SUCCESS;
        size_t bytes = 0;
        if (!border->made || !tn_tensor_bytes(tensor_at(flow, run, i), &bytes)) {
            continue;
        }
        // Mapping is what makes the device's writes seen; the address is that of the tensor.
        void *at = driver->EnqueueMapBuffer(flow->cl->queue, border->lent, CL_FALSE, CL_MAP_READ, 0, bytes, 0, NULL, NULL, &error);
        if (at) {
            error = driver->EnqueueUnmapMemObject(flow->cl->queue, border->lent, at, 0, NULL, NULL);
        }
        if (error != CL_SUCCESS) {
            return tn_cl_fail(run->diag, "opencl", "to map a result", error);
        }
    }
    return TN_OK;
}

void tn_cl_borders_end(tn_cl_flow *flow)
{
    for (size_t i = 0; i < n_borders(flow); i++) {
        struct tn_cl_border *border = &flow->borders[i];
        const tn_cl_mem *mem = mem_at(flow, i);
        if (border->lent) {
            (void)lend(flow, mem, mem->handle, NULL);
        }
        if (border->made) {
            (void)flow->cl->driver.ReleaseMemObject(border->lent);
        }
        *border = (struct tn_cl_border){NULL, false};
    }
}
