// SPDX-License-Identifier: Apache-2.0
// Zeros for every input of a model.
// Ownership: none. Threads: one.
#include "bench_feed.h"

#include <stdlib.h>

tenon_status tn_bench_feed(tenon_session *session, const tenon_model *model, tenon_error **error)
{
    tenon_status status = TENON_OK;
    for (size_t i = 0; i < tenon_model_input_count(model) && status == TENON_OK; i++) {
        tenon_value_info info = {.struct_size = sizeof info};
        int64_t dims[8] = {0};
        tenon_model_input(model, i, &info);
        size_t bytes = tenon_dtype_bytes(info.dtype);
        for (int d = 0; d < info.rank; d++) {
            dims[d] = info.dims[d] > 0 ? info.dims[d] : 1;
            bytes *= (size_t)dims[d];
        }
        void *zeros = calloc(1, bytes ? bytes : 1);
        status = tenon_session_set_input(session, info.name, info.dtype, info.rank < 0 ? 0 : info.rank, dims, zeros, bytes, error);
        free(zeros);
    }
    return status;
}
