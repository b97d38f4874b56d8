// SPDX-License-Identifier: Apache-2.0
// Fuzz target: any bytes through the importers. What comes out as a graph must pass the verifier (the importer runs it); leaks and
// memory out of proportion are findings too.
// Ownership: everything is destroyed again. Threads: one.
#include "import/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tn_diag diag;
    const tn_import_options options = {.folder = NULL, .limit_tensor_bytes = 1 << 24, .limit_nodes = 5000};
    tn_heap heap;
    tn_import import;
    tn_diag_clear(&diag);
    tn_heap_init(&heap, NULL, NULL, NULL);
    const tn_status status = tn_import_model(&import, data, size, &options, &heap, &diag);
    if (status == TN_OK) {
        tn_import_deinit(&import);
    } else if (status == TN_INTERNAL || diag.status != status || diag.message[0] == '\0') {
        abort(); // a broken invariant, or a failure without its message
    }
    if (heap.live_blocks != 0) {
        abort();
    }
    return 0;
}
