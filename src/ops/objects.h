// SPDX-License-Identifier: Apache-2.0
// What kernels make besides the bytes of their results: strings, sequences, items. All of it comes from the arena of the run, and its
// size is bounded, because a loop in a hostile model could make it grow without end.
// Ownership: the run's arena (tn_call.objects). Threads: one kernel at a time.
#ifndef TN_OBJECTS_H
#define TN_OBJECTS_H

#include "dispatch/kernel.h"

// `bytes` zeroed bytes that live to the end of the run.
tn_status tn_object_take(const tn_call *call, size_t bytes, void **out);

// A string's copy; length without the zero at its end.
tn_status tn_object_text(const tn_call *call, const char *text, size_t length, const char **out);

// A copy of a tensor with its bytes. Cells of strings are copied, the strings themselves live on anyway.
tn_status tn_object_copy(const tn_call *call, const tn_tensor *from, tn_tensor *to);

// Result `index` becomes a copy of `from`, which is of any kind. The operator is TN_OP_DYNAMIC.
tn_status tn_object_give(const tn_call *call, int index, const tn_tensor *from);

// A reference row for strings, sequences or optionals. The kernel check cannot make these; tests/unit/ops/test_objects.c does.
#define TN_REFERENCE_OBJECTS(NAME, SUFFIX, MATCH, RUN)                                                                  \
    {                                                                                                                   \
        .name = #NAME SUFFIX "_reference", .op = &tn_op_##NAME, .impl = TN_IMPL_REFERENCE, .tag = "objects",            \
        .version = 1, .aligned_constants = true, .match = MATCH, .run = RUN,                                            \
    }

// String i of a tensor of strings. A cell that nobody has filled is an empty string.
static inline const char *tn_cell(const tn_tensor *tensor, int64_t i)
{
    const char *text = ((const char *const *)tensor->data)[i];
    return text ? text : "";
}

#endif
