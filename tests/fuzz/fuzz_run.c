// SPDX-License-Identifier: Apache-2.0
// Fuzz target: open any bytes as a model, plan, run with inputs of the declared shapes, and ask for every report. libFuzzer's entry.
// Ownership: everything is destroyed again; leaks are findings. Threads: one.
#include <tenon/tenon.h>

#include <stdlib.h>
#include <string.h>

// Work that only the data tells (overlapping boxes, regions) is ended by the deadline, so a target's own time-out means that a kernel does not
// look at it.
#define DEADLINE_NS ((uint64_t)4 * 1000 * 1000 * 1000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int set_inputs(const tenon_model *model, tenon_session *session)
{
    static uint64_t bytes[1 << 16];      // 512 KiB of small numbers, whichever type reads them
    static const char *texts[1 << 16];
    if (!bytes[0]) {
        memset(bytes, 1, sizeof bytes);
        for (size_t i = 0; i < 1 << 16; i++) {
            texts[i] = i % 3 ? "a b-1,2" : "\xc3\xa4";
        }
    }
    for (size_t i = 0; i < tenon_model_input_count(model); i++) {
        tenon_value_info info = {.struct_size = sizeof info};
        size_t count = 1;
        if (tenon_model_input(model, i, &info) != TENON_OK || info.rank > 8) {
            return 0;
        }
        for (int d = 0; d < info.rank; d++) {
            info.dims[d] = info.dims[d] < 0 ? 1 : info.dims[d];
            if (info.dims[d] && count > sizeof bytes / (size_t)info.dims[d]) {
                return 0;
            }
            count *= (size_t)info.dims[d];
        }
        const size_t need = count * tenon_dtype_bytes(info.dtype);
        if (need > sizeof bytes || tenon_session_bind_input(session, info.name, info.dtype, info.rank < 0 ? 0 : info.rank, info.dims,
                                                           info.dtype == TENON_STRING ? (const void *)texts : bytes, need, NULL) != TENON_OK) {
            return 0;
        }
    }
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tenon_model_options mo;
    tenon_session_options so;
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    tenon_model_options_init(&mo);
    mo.limit_tensor_bytes = 1 << 22;
    mo.limit_nodes = 1000;
    tenon_session_options_init(&so);
    so.threads = 1;
    so.limit_work = 1 << 24;
    so.limit_peak_bytes = 1 << 25;
    so.limit_loop_steps = 32;
    if (tenon_model_open_memory(&model, data, size, &mo, &error) == TENON_OK &&
        tenon_session_create(&session, model, &so, &error) == TENON_OK && set_inputs(model, session)) {
        tenon_session_set_deadline(session, DEADLINE_NS);
        (void)tenon_session_run(session, NULL, 0, &error);
        for (int kind = TENON_REPORT_EXPLAIN; kind <= TENON_REPORT_GRAPH; kind++) {
            char *json = NULL;
            if (tenon_report(session, (tenon_report_kind)kind, &json, NULL) == TENON_OK) {
                tenon_report_destroy(json);
            }
        }
    }
    tenon_error_destroy(error);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
    return 0;
}
