// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes as a .tenon file, imported, inferred and planned as an application would. The identifier is put in place, so
// that mutations are spent on what follows; seeds are in corpus/tenon. Broken invariants, failures without words and leaks are findings.
// Ownership: everything is destroyed again. Threads: one.
#include <tenon/tenon.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int fuzz_key(void *context, const char *name, uint8_t *key)
{
    (void)context;
    (void)name;
    memset(key, 7, 32);
    return 0;
}

// Runs with inputs that nobody set stay refused; planning happens at create when all shapes are fixed.
static void use(tenon_model *model)
{
    tenon_session_options so;
    tenon_session *session = NULL;
    char *json = NULL;
    tenon_session_options_init(&so);
    so.threads = 1;
    so.limit_work = 1 << 24;
    so.limit_peak_bytes = 1 << 25;
    so.limit_loop_steps = 32;
    if (tenon_session_create(&session, model, &so, NULL) == TENON_OK) {
        (void)tenon_session_run(session, NULL, 0, NULL);
    }
    if (tenon_model_report(model, TENON_REPORT_MODEL, &json, NULL) == TENON_OK) {
        tenon_report_destroy(json);
    }
    tenon_session_destroy(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tenon_model_options mo;
    tenon_model *model = NULL;
    tenon_error *error = NULL;
    uint8_t *copy = malloc(size + 1);
    if (!copy || size < 8) {
        free(copy);
        return 0;
    }
    memcpy(copy, data, size);
    memcpy(copy + 4, "TNN1", 4);
    tenon_model_options_init(&mo);
    mo.limit_tensor_bytes = 1 << 22;
    mo.limit_nodes = 1000;
    mo.verify = data[4] & 1;
    mo.no_optimise = data[4] >> 1 & 1;
    mo.describe = data[4] >> 5 & 1;      // then also what only a key would open
    mo.key = mo.describe && data[4] >> 3 & 1 ? NULL : fuzz_key;
    const tenon_status status = tenon_model_open_memory(&model, copy, size, &mo, &error);
    if (status == TENON_OK) {
        use(model);
    } else if (status == TENON_INTERNAL || tenon_error_message(error)[0] == 0) {
        abort();
    }
    tenon_error_destroy(error);
    tenon_model_destroy(model);
    free(copy);
    return 0;
}
