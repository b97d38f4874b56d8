// SPDX-License-Identifier: Apache-2.0
// Rows of numbers for reference kernels. The common types have loops of their own that compilers vectorise; the rest go through
// the element functions of ir/dtype.h.
// Ownership: none. Threads: any.
#include "ops/op_rows.h"

#include "base/num.h"

// A loop per C type; `i` walks the row, `s` the element.
#define EACH(type, data, statement)                                    \
    do {                                                               \
        type *e = (type *)(data) + start;                              \
        if (stride == 1) {                                             \
            for (int64_t i = 0, s = 0; i < count; i++, s++) {          \
                statement;                                             \
            }                                                          \
        } else {                                                       \
            for (int64_t i = 0, s = 0; i < count; i++, s += stride) {  \
                statement;                                             \
            }                                                          \
        }                                                              \
    } while (0)

void tn_row_load(tn_dtype dtype, const void *data, int64_t start, int64_t stride, int64_t count, double *row)
{
    switch (dtype) {
    case TN_F32: EACH(const float, data, row[i] = e[s]); break;
    case TN_F64: EACH(const double, data, row[i] = e[s]); break;
    case TN_F16: EACH(const uint16_t, data, row[i] = tn_f16_to_f32(e[s])); break;
    case TN_BF16: EACH(const uint16_t, data, row[i] = tn_bf16_to_f32(e[s])); break;
    case TN_I8: EACH(const int8_t, data, row[i] = e[s]); break;
    case TN_U8: EACH(const uint8_t, data, row[i] = e[s]); break;
    case TN_I32: EACH(const int32_t, data, row[i] = e[s]); break;
    default:
        for (int64_t i = 0; i < count; i++) {
            row[i] = tn_dtype_load(dtype, data, (size_t)(start + i * stride));
        }
    }
}

void tn_row_load_i64(tn_dtype dtype, const void *data, int64_t start, int64_t stride, int64_t count, int64_t *row)
{
    switch (dtype) {
    case TN_I64: EACH(const int64_t, data, row[i] = e[s]); break;
    case TN_I32: EACH(const int32_t, data, row[i] = e[s]); break;
    case TN_I8: EACH(const int8_t, data, row[i] = e[s]); break;
    case TN_U8: EACH(const uint8_t, data, row[i] = e[s]); break;
    default:
        for (int64_t i = 0; i < count; i++) {
            row[i] = tn_dtype_load_i64(dtype, data, (size_t)(start + i * stride));
        }
    }
}

void tn_row_store(tn_dtype dtype, void *data, int64_t start, int64_t stride, int64_t count, const double *row)
{
    switch (dtype) {
    case TN_F32: EACH(float, data, e[s] = (float)row[i]); break;
    case TN_F64: EACH(double, data, e[s] = row[i]); break;
    case TN_F16: EACH(uint16_t, data, e[s] = tn_f16_from_f64(row[i])); break;
    default:
        for (int64_t i = 0; i < count; i++) {
            tn_dtype_store(dtype, data, (size_t)(start + i * stride), row[i]);
        }
    }
}

void tn_row_store_i64(tn_dtype dtype, void *data, int64_t start, int64_t stride, int64_t count, const int64_t *row)
{
    switch (dtype) {
    case TN_I64: EACH(int64_t, data, e[s] = row[i]); break;
    default:
        for (int64_t i = 0; i < count; i++) {
            tn_dtype_store_i64(dtype, data, (size_t)(start + i * stride), row[i]);
        }
    }
}

// Goes from the second to last dim outwards, taking the row's index apart along the dims of `out`.
int64_t tn_broadcast_row(const tn_shape *operand, const tn_shape *out, int64_t row, int64_t *stride)
{
    *stride = operand->rank > 0 && operand->dims[operand->rank - 1] != 1;
    int64_t offset = 0, step = operand->rank > 0 ? operand->dims[operand->rank - 1] : 1;
    for (int d = 2; d <= operand->rank; d++) {
        const int64_t dim = operand->dims[operand->rank - d], size = out->dims[out->rank - d];
        if (dim != 1) {
            offset += row % size * step;
        }
        row /= size;
        step *= dim;
    }
    return offset;
}

typedef struct slots {
    unsigned count;   // threads that scratch was planned for
    size_t bytes;     // of one share
} slots;

// Shares are aligned to 64 so that no two threads write one cache line.
tn_status tn_prepare_slots(tn_prepare *prepare, size_t bytes)
{
    void *params;
    TN_TRY(tn_prepare_params(prepare, sizeof(slots), &params));
    slots *s = params;
    s->count = TN_MAX(prepare->query->threads, 1u);
    if (!tn_align_size(bytes, TN_ALIGNMENT, &s->bytes) || !tn_mul_size(s->bytes, s->count, &prepare->scratch_bytes)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    prepare->params = s;
    return TN_OK;
}

tn_status tn_prepare_rows(tn_prepare *prepare, int64_t count)
{
    const tn_query *query = prepare->query;
    size_t bytes = 0;
    if (tn_tensor_count(query->out[0]) > 0 && !tn_mul_size((size_t)count, sizeof(double), &bytes)) {
        return tn_fail_memory(prepare->diag, query->name, SIZE_MAX);
    }
    return tn_prepare_slots(prepare, bytes);
}

int64_t tn_tensor_span(const tn_tensor *tensor, int from, int to)
{
    return tn_tensor_count(tensor) > 0 ? tn_shape_span(&tensor->shape, from, to) : 0;
}

void *tn_slot_scratch(const tn_call *call, unsigned slot)
{
    return call->scratch ? (char *)call->scratch + slot * ((const slots *)call->params)->bytes : NULL;
}

void *tn_shared_scratch(const tn_call *call) { return tn_slot_scratch(call, ((const slots *)call->params)->count); }

tn_status tn_call_split(const tn_call *call, tn_task task, void *context, size_t total, size_t tile)
{
    const slots *s = call->params;
    // More threads than planned for would share scratch: then one thread does it all.
    tn_workers *workers = s && tn_workers_count(call->workers) > s->count ? NULL : call->workers;
    if (total > 0) {
        tn_workers_run(workers, task, context, total, TN_MAX(tile, (size_t)1));
    }
    return tn_call_status(call);
}
