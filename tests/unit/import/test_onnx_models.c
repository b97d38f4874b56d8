// SPDX-License-Identifier: Apache-2.0
// Real models, where they are at hand: every NAME/model.onnx in the folder TENON_MODELS, or else in ../shared/models beside the
// source folder, must import. Without such a folder the test is skipped.
#include "support/unit.h"

#include "import/import.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static tn_diag diag;

// 1: imported; 0: there is no such file.
static int import_file(const char *path)
{
    tn_heap heap;
    tn_file file;
    tn_import import;
    const tn_import_options options = {.limit_tensor_bytes = UINT64_C(1) << 32, .limit_nodes = 1000000};
    tn_diag_clear(&diag);
    if (tn_file_open(&file, path, &diag) != TN_OK) {
        return 0;
    }
    tn_heap_init(&heap, NULL, NULL, NULL);
    if (tn_import_model(&import, file.data, file.size, &options, &heap, &diag) != TN_OK) {
        fail_msg("%s: %s: %s", path, diag.place, diag.message);
    }
    assert_true(import.graph->n_nodes > 0 && import.graph->n_inputs > 0 && import.graph->n_outputs > 0);
    tn_import_deinit(&import);
    tn_file_close(&file);
    assert_int_equal(heap.live_blocks, 0);
    return 1;
}

static void test_models(void **state)
{
    const char *folder = getenv("TENON_MODELS") ? getenv("TENON_MODELS") : "../../shared/models";
    DIR *list = opendir(folder);
    int count = 0;
    if (!list) {
        skip();
    }
    for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s/model.onnx", folder, entry->d_name);
        count += entry->d_name[0] == '.' ? 0 : import_file(path);
    }
    closedir(list);
    print_message("%d models\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
