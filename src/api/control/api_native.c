// SPDX-License-Identifier: Apache-2.0
// Tensors in memory objects of the application (ext.h). The device reads and writes them there; where the plan lets the CPU touch such a
// tensor, its host memory is brought up to date before the run, or the object after it.
// Ownership: the device keeps what it is told to share. Threads: as tenon.h says.
#include "api/api.h"

#include "tenon/ext.h"

#include <string.h>

// The device that shares, or NULL with the refusal.
static tn_device *sharing_device(tenon_session *session, tn_diag *diag)
{
    for (size_t i = 0; i < session->context.n_devices; i++) {
        if (session->devices[i]->vtable->share && !(session->context.dead & 1u << i)) {
            return session->devices[i];
        }
    }
    (void)tn_fail(diag, TN_UNSUPPORTED, "opencl", "the session has no OpenCL device: name it in the options (device \"opencl\")");
    return NULL;
}

tenon_status tenon_session_opencl(tenon_session *session, tenon_opencl *handles, tenon_error **error)
{
    tn_diag diag = {0};
    if (!session || !handles) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_opencl", "session and handles must not be NULL");
    }
    memset(handles, 0, sizeof *handles);
    tn_status status = tn_api_idle(session, &diag);
    tn_device *device = status == TN_OK ? sharing_device(session, &diag) : NULL;
    if (device) {
        void *native[3];
        device->vtable->native(device, native);
        *handles = (tenon_opencl){native[0], native[1], native[2]};
    }
    return tn_api_fail(error, status == TN_OK && !device ? TN_UNSUPPORTED : status, &diag);
}

tenon_status tenon_session_share_opencl(tenon_session *session, void *host, size_t bytes, void *object, tenon_error **error)
{
    tn_diag diag = {0};
    if (!session || !host || bytes == 0) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_share_opencl", "session and host must not be NULL, bytes not 0");
    }
    tn_status status = tn_api_idle(session, &diag);
    tn_device *device = status == TN_OK ? sharing_device(session, &diag) : NULL;
    if (device) {
        status = device->vtable->share(device, host, bytes, object, &diag);
        session->sharing = status == TN_OK && object ? device : session->sharing;
    } else if (status == TN_OK) {
        status = TN_UNSUPPORTED;
    }
    return tn_api_fail(error, status, &diag);
}

// ---- what the CPU touches ----

// Whether some step that is not the device's reads (or, of results, writes) the tensor. Later stages are not known yet.
static bool on_host(const tn_plan *plan, const char *device, tn_lease lease, size_t index)
{
    bool touched = plan->rest != NULL;
    for (size_t i = 0; i < plan->n_steps && !touched; i++) {
        const tn_step *step = &plan->steps[i];
        const int n = step->call.n_in + step->call.n_out;
        for (int k = 0; k < n && !touched && strcmp(step->device, device) != 0; k++) {
            const int slot = k < step->call.n_in ? step->in[k] : step->out[k - step->call.n_in];
            const tn_slot *root = slot >= 0 ? &plan->slots[plan->slots[slot].root] : NULL;
            touched = root && root->lease == lease && (size_t)root->index == index;
        }
    }
    return touched;
}

// A result that is no slot of its own (an input passed through) is the CPU's too.
static bool result_on_host(const tn_plan *plan, const char *device, size_t index)
{
    if (plan->rest || index >= plan->n_outputs) {
        return true;
    }
    const tn_slot *root = &plan->slots[plan->slots[plan->outputs[index]].root];
    return root->lease != TN_LEASE_OUTPUT || (size_t)root->index != index || on_host(plan, device, TN_LEASE_OUTPUT, index);
}

tn_status tn_api_sync_inputs(tenon_session *session, tn_diag *diag)
{
    tn_device *device = session->sharing;
    tn_program *program = session->wanted->program;
    if (!device) {
        return TN_OK;
    }
    TN_TRY(tn_program_prepare(program, session->feeds, diag));
    for (size_t i = 0; i < session->n_inputs; i++) {
        if (session->feeds[i].data && on_host(tn_program_plan(program), device->vtable->name, TN_LEASE_INPUT, i)) {
            TN_TRY(device->vtable->sync(device, session->feeds[i].data, true, diag));
        }
    }
    return TN_OK;
}

tn_status tn_api_sync_results(tenon_session *session, tn_diag *diag)
{
    tn_device *device = session->sharing;
    const tn_plan *plan = tn_program_plan(session->wanted->program);
    for (size_t i = 0; device && plan && i < tn_program_graph(session->wanted->program)->n_outputs; i++) {
        const tn_result_slot *result = &session->wanted->results[i];
        if (result->bound && result_on_host(plan, device->vtable->name, i)) {
            TN_TRY(device->vtable->sync(device, result->bound, false, diag));
        }
    }
    return TN_OK;
}
