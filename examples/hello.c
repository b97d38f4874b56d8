// SPDX-License-Identifier: Apache-2.0
// The smallest program: open a model, feed zeros, print the first value of each output.
//
//     cc hello.c $(pkg-config --cflags --libs tenon) -o hello && ./hello model.onnx
//
// Every handle is destroyed at the end, also after a failure: destroy accepts NULL. Threads: one.
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

// Gives every input zeros of its declared shape; dims that the model leaves open are 1. blocks[i] keeps input i's bytes.
static tenon_status feed_zeros(tenon_model *model, tenon_session *session, void **blocks, size_t count, tenon_error **error)
{
    tenon_status status = TENON_OK;
    for (size_t i = 0; i < count && status == TENON_OK; i++) {
        tenon_value_info info = {.struct_size = sizeof info};
        status = tenon_model_input(model, i, &info);
        size_t elements = 1;
        for (int d = 0; d < info.rank; d++) {
            info.dims[d] = info.dims[d] < 0 ? 1 : info.dims[d];
            elements *= (size_t)info.dims[d];
        }
        const size_t bytes = elements * tenon_dtype_bytes(info.dtype);
        blocks[i] = calloc(1, bytes ? bytes : 1);
        if (status == TENON_OK && blocks[i]) {
            status = tenon_session_bind_input(session, info.name, info.dtype, info.rank < 0 ? 0 : info.rank, info.dims, blocks[i],
                                              bytes, error);
        }
    }
    return status;
}

static void print_outputs(const tenon_session *session)
{
    for (size_t i = 0; i < tenon_session_output_count(session); i++) {
        tenon_tensor out;
        if (tenon_session_output(session, i, &out, NULL) == TENON_OK) {
            printf("output %zu: %s, %zu bytes", i, tenon_dtype_text(out.dtype), out.bytes);
            if (out.dtype == TENON_FLOAT32 && out.bytes) {
                printf(", begins with %g", *(const float *)out.data);
            }
            putchar('\n');
        }
    }
}

int main(int argc, char **argv)
{
    tenon_error *error = NULL;
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: hello MODEL.onnx\n");
        return 2;
    }
    printf("tenon %s\n", tenon_version());
    tenon_status status = tenon_model_open(&model, argv[1], NULL, &error);
    if (status == TENON_OK) {
        status = tenon_session_create(&session, model, NULL, &error);
    }
    const size_t count = status == TENON_OK ? tenon_model_input_count(model) : 0;
    void **blocks = calloc(count + 1, sizeof *blocks);
    if (status == TENON_OK && blocks) {
        status = feed_zeros(model, session, blocks, count, &error);
    }
    if (status == TENON_OK) {
        status = tenon_session_run(session, NULL, 0, &error);
    }
    if (status == TENON_OK) {
        print_outputs(session);
    }
    if (error) {
        fprintf(stderr, "%s: %s\n", tenon_error_place(error), tenon_error_message(error));
    }
    tenon_error_destroy(error);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
    for (size_t i = 0; blocks && i < count; i++) {
        free(blocks[i]);
    }
    free(blocks);
    return status == TENON_OK ? 0 : 1;
}
