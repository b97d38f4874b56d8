// SPDX-License-Identifier: Apache-2.0
// The tokens are those of cl_qcom_perf_hint, cl_qcom_priority_hint and cl_khr_priority_hints; vendors' headers that name them are rarely
// installed.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/run/cl_hints.h"

#define QCOM_PERF_HINT 0x40C2         // then: high, normal, low
#define QCOM_PERF_HIGH 0x40C3
#define QCOM_PRIORITY_HINT 0x40C9     // then: high, normal, low
#define QCOM_PRIORITY_HIGH 0x40CA
#define KHR_QUEUE_PRIORITY 0x1096
#define KHR_PRIORITY_HIGH 1           // then, doubled each: medium, low

enum { LOW = 1, HIGH = 3 };           // of tn_power

static cl_command_queue queue_with_priority(const tn_cl_context *cl, cl_context context, int priority)
{
    const cl_ulong properties[] = {KHR_QUEUE_PRIORITY, (cl_ulong)KHR_PRIORITY_HIGH << (HIGH - priority), 0};
    cl_int error = CL_SUCCESS;
    return cl->driver.CreateQueueWithProperties(context, cl->id, properties, &error);
}

static bool reopen(tn_cl_context *cl, const cl_context_properties *properties, int queue_priority)
{
    cl_int error = CL_SUCCESS;
    cl_context context = cl->driver.CreateContext(properties, 1, &cl->id, NULL, NULL, &error);
    if (!context) {
        return false;
    }
    cl_command_queue queue = queue_priority ? queue_with_priority(cl, context, queue_priority)
                                            : cl->driver.CreateCommandQueue(context, cl->id, 0, &error);
    if (!queue) {
        (void)cl->driver.ReleaseContext(context);
        return false;
    }
    (void)cl->driver.ReleaseCommandQueue(cl->queue);
    (void)cl->driver.ReleaseContext(cl->context);
    cl->queue = queue;
    cl->context = context;
    return true;
}

void tn_cl_hints(tn_cl_context *cl, const tn_power *power, tn_power_effect *effect)
{
    cl_context_properties properties[7] = {CL_CONTEXT_PLATFORM, (cl_context_properties)cl->platform};
    int n = 2;
    const bool performance = power->gpu_performance && cl->facts.performance_hint;
    const bool vendor = power->gpu_priority && cl->facts.context_priority;
    const bool queue = power->gpu_priority && !vendor && cl->facts.queue_priority && cl->driver.CreateQueueWithProperties;
    if (performance) {
        properties[n++] = QCOM_PERF_HINT;
        properties[n++] = QCOM_PERF_HIGH + HIGH - power->gpu_performance;
    }
    if (vendor) {
        properties[n++] = QCOM_PRIORITY_HINT;
        properties[n++] = QCOM_PRIORITY_HIGH + HIGH - power->gpu_priority;
    }
    properties[n] = 0;
    const bool wanted = performance || vendor || queue;
    // What is in use already has its context: programs belong to it.
    const bool done = wanted && !cl->programs && !cl->timing && reopen(cl, properties, queue ? power->gpu_priority : 0);
    effect->gpu_performance = (tn_power_fate){performance && done, performance ? "the driver refused the hint" : "the driver has no hint for it"};
    effect->gpu_priority = (tn_power_fate){power->gpu_priority == LOW || ((vendor || queue) && done),
                                           vendor || queue ? "the driver refused the hint" : "the driver has no priorities"};
}
