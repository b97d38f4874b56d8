// SPDX-License-Identifier: Apache-2.0
// An operator of one's own: Ramp of domain com.example, y = slope * max(x, 0), in a model that the library alone would refuse.
//
//     cc custom_op.c $(pkg-config --cflags --libs tenon) -o custom_op && ./custom_op data/ramp.onnx
//
// The registry may be destroyed once the model is open: the model keeps it. Threads: one.
#include <stdio.h>
#include <tenon/ext.h>

// Results have the type and shape of x, so no shape function is needed.
static tenon_status run_ramp(const tenon_call *call)
{
    const float slope = (float)tenon_call_real(call, "slope");
    const float *x = call->inputs[0].data;
    float *y = call->outputs[0].data;
    if (call->inputs[0].dtype != TENON_FLOAT32) {
        return tenon_call_fail(call, TENON_UNSUPPORTED, "Ramp takes float32");
    }
    for (size_t i = 0; i < call->outputs[0].bytes / sizeof *y; i++) {
        y[i] = x[i] > 0 ? slope * x[i] : 0;
    }
    return TENON_OK;
}

static tenon_status open_model(tenon_model **model, const char *path, tenon_error **error)
{
    static const tenon_attribute slope = {.name = "slope", .kind = TENON_ATTRIBUTE_REAL, .default_real = 1};
    tenon_registry *registry = NULL;
    tenon_custom_op ramp;
    tenon_custom_op_init(&ramp);
    ramp.domain = "com.example";
    ramp.name = "Ramp";
    ramp.min_inputs = ramp.max_inputs = ramp.min_outputs = ramp.max_outputs = 1;
    ramp.attributes = &slope;
    ramp.attribute_count = 1;
    ramp.run = run_ramp;

    tenon_model_options options;
    tenon_model_options_init(&options);
    tenon_status status = tenon_registry_create(&registry, NULL, error);
    if (status == TENON_OK) {
        status = tenon_registry_add(registry, &ramp, error);
    }
    if (status == TENON_OK) {
        options.registry = registry;
        status = tenon_model_open(model, path, &options, error);
    }
    tenon_registry_destroy(registry);
    return status;
}

int main(int argc, char **argv)
{
    static const float x[4] = {-1, 0, 1, 2};
    static const int64_t dims[1] = {4};
    tenon_error *error = NULL;
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    tenon_tensor y;
    if (argc != 2) {
        fprintf(stderr, "usage: custom_op MODEL.onnx\n");
        return 2;
    }
    if (open_model(&model, argv[1], &error) == TENON_OK && tenon_session_create(&session, model, NULL, &error) == TENON_OK &&
        tenon_session_set_input(session, "x", TENON_FLOAT32, 1, dims, x, sizeof x, &error) == TENON_OK &&
        tenon_session_run(session, NULL, 0, &error) == TENON_OK && tenon_session_output(session, 0, &y, &error) == TENON_OK) {
        for (int i = 0; i < 4; i++) {
            printf("ramp(%g) = %g\n", x[i], ((const float *)y.data)[i]);
        }
    }
    if (error) {
        fprintf(stderr, "%s: %s\n", tenon_error_place(error), tenon_error_message(error));
    }
    const int failed = error != NULL;
    tenon_error_destroy(error);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
    return failed;
}
