// SPDX-License-Identifier: Apache-2.0
// The door of the importers: finds the format of the bytes and calls its reader.
// Ownership and threads: see import.h.
#include "import/import.h"

#include <string.h>

typedef tn_status read_fn(tn_import *, const uint8_t *, size_t, const tn_import_options *, tn_heap *, tn_diag *);

// Formats by the name that the probe gives.
static const struct {
    const char *name;
    read_fn *read;
} formats[] = {
    {"onnx", tn_import_onnx},
    {"tenon", tn_import_tenon},
};

tn_status tn_import_model(tn_import *out, const uint8_t *data, size_t size, const tn_import_options *options, tn_heap *heap,
                          tn_diag *diag)
{
    memset(out, 0, sizeof *out);
    const char *format = tn_import_probe(data, size);
    for (size_t i = 0; format && i < TN_COUNT(formats); ++i) {
        if (strcmp(formats[i].name, format) == 0) {
            return formats[i].read(out, data, size, options, heap, diag);
        }
    }
    return tn_fail(diag, TN_INVALID_MODEL, "", "these %zu bytes are not a model of a known format (ONNX, .tenon)", size);
}

void tn_import_deinit(tn_import *import)
{
    tn_graph_destroy(import->graph);
    tn_graph_destroy(import->optimised);
    tn_graph_destroy(import->other);
    for (size_t i = 0; i < import->n_files; ++i) {
        tn_file_close(&import->files[i]);
    }
    if (import->files) {
        tn_give(import->heap, import->files);
    }
    if (import->plain) {
        tn_give(import->heap, import->plain);
    }
    memset(import, 0, sizeof *import);
}
