// SPDX-License-Identifier: Apache-2.0
// hex_session.h.
// Ownership: see hex_session.h. Threads: see hex_session.h.
#include "hex_session.h"

#include <string.h>

hex_model hex_swallow = {.path = "data/session/swallow.onnx", .input = "x", .rank = 4, .dims = {1, 3, 10, 11}, .count = 330};
hex_model hex_digits = {.path = "../examples/digits/digits.onnx", .input = "image", .rank = 4, .dims = {1, 1, 28, 28}, .count = 784};

void hex_session_options(const hex_model *m, tenon_sample *sample, tenon_tensor *tensor, tenon_session_options *options)
{
    *tensor = (tenon_tensor){.dtype = TENON_FLOAT32, .rank = m->rank, .data = (void *)(uintptr_t)m->data, .bytes = m->count * sizeof(float)};
    memcpy(tensor->dims, m->dims, sizeof m->dims);
    *sample = (tenon_sample){.names = (const char **)(uintptr_t)&m->input, .tensors = tensor, .count = 1};
    tenon_session_options_init(options);
    options->device = "hexagon";
    options->precision = "int8";
    options->threads = 1;
    options->calibration = sample;
    options->calibration_count = 1;
}

void hex_session_feed(const hex_model *m, tenon_session *session)
{
    tenon_error *error = NULL;
    if (tenon_session_set_input(session, m->input, TENON_FLOAT32, m->rank, m->dims, m->data, m->count * sizeof(float), &error) != TENON_OK) {
        fail_msg("%s", tenon_error_message(error));
    }
}

tenon_session *hex_session_make(const hex_model *m, const char *device, int device_log)
{
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    tenon_sample sample;
    tenon_tensor tensor;
    tenon_session_options options;
    hex_session_options(m, &sample, &tensor, &options);
    options.device = device;
    options.device_log = device_log;
    if (tenon_session_create(&session, m->model, &options, &error) != TENON_OK) {
        fail_msg("%s", tenon_error_message(error));
    }
    hex_session_feed(m, session);
    return session;
}

bool hex_session_right(const hex_model *m, tenon_session *session)
{
    tenon_tensor out;
    return tenon_session_output(session, 0, &out, NULL) == TENON_OK && out.bytes == m->bytes && memcmp(out.data, m->want, m->bytes) == 0;
}

void hex_model_open(hex_model *m, void (*hear)(void *context, tenon_log_level level, const char *text), void *context)
{
    tenon_error *error = NULL;
    tenon_tensor out;
    tenon_model_options options;
    tenon_model_options_init(&options);
    options.log = hear;
    options.log_context = context;
    for (size_t i = 0; i < m->count; i++) {
        m->data[i] = (float)(i * 37 % 101) / 25 - 2;
    }
    if (tenon_model_open(&m->model, m->path, &options, &error) != TENON_OK) {
        fail_msg("%s", tenon_error_message(error));
    }
    tenon_session *cpu = hex_session_make(m, "cpu", 0);
    assert_int_equal(tenon_session_run(cpu, NULL, 0, &error), TENON_OK);
    assert_int_equal(tenon_session_output(cpu, 0, &out, &error), TENON_OK);
    assert_true(out.bytes > 0 && out.bytes <= sizeof m->want);
    memcpy(m->want, out.data, out.bytes);
    m->bytes = out.bytes;
    tenon_session_destroy(cpu);
}

void hex_model_close(hex_model *m)
{
    tenon_model_destroy(m->model);
    m->model = NULL;
}

bool hex_session_tells(tenon_session *session, tenon_report_kind kind, const char *text)
{
    char *json = NULL;
    assert_int_equal(tenon_report(session, kind, &json, NULL), TENON_OK);
    const bool told = strstr(json, text) != NULL;
    tenon_report_destroy(json);
    return told;
}

bool hex_session_on_device(tenon_session *session)
{
    assert_true(hex_session_tells(session, TENON_REPORT_MEMORY, "\"device_bytes\":"));
    return !hex_session_tells(session, TENON_REPORT_MEMORY, "\"device_bytes\":0");
}

tn_hex_link *hex_session_link(const tenon_session *session) { return ((tn_hex_device *)session->devices[0])->link; }
