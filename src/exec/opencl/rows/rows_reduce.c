// SPDX-License-Identifier: Apache-2.0
// Reductions over any axes of plain tensors, and global pooling where it is one.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/math/op_reduce.h"
#include "ops/nn/op_pool.h"
#include "ops/op_facts.h"

#include <string.h>

// The parts of a reduction as OpenCL C (kernels/reduce.cl), over floats and over integers; NULL: integers go by way of float64, which GPUs need
// not have. Integer sums are computed in unsigned 64 bits, where they wrap as in the reference; for order the type is long or ulong.
typedef struct kind {
    const tn_op *op;
    const char *start, *step, *join, *last;
    const char *int_start, *int_step, *int_join, *int_last;
    bool ordered;                     // a maximum or minimum
} kind;

static const kind kinds[] = {
    {&tn_op_reduce_sum, "0.0f", "(acc) + (v)", "(a) + (b)", "(acc)", "0", "(acc) + (ACC)(v)", "(a) + (b)", "(acc)", false},
    {&tn_op_reduce_mean, "0.0f", "(acc) + (v)", "(a) + (b)", "(acc) / (float)count", "0", "(acc) + (ACC)(v)", "(a) + (b)", "(VALUE)(acc) / (VALUE)count",
     false},
    {&tn_op_reduce_max, "-INFINITY", "NAN_OR(fmax, acc, v)", "NAN_OR(fmax, a, b)", "(acc)", "LOWEST", "max(acc, v)", "max(a, b)", "(acc)", true},
    {&tn_op_reduce_min, "INFINITY", "NAN_OR(fmin, acc, v)", "NAN_OR(fmin, a, b)", "(acc)", "HIGHEST", "min(acc, v)", "min(a, b)", "(acc)", true},
    {&tn_op_reduce_prod, "1.0f", "(acc) * (v)", "(a) * (b)", "(acc)", "1", "(acc) * (ACC)(v)", "(a) * (b)", "(acc)", false},
    {&tn_op_reduce_l1, "0.0f", "(acc) + fabs(v)", "(a) + (b)", "(acc)", "0", "(acc) + ((v) < 0 ? 0 - (ACC)(v) : (ACC)(v))", "(a) + (b)", "(acc)", false},
    {&tn_op_reduce_l2, "0.0f", "mad(v, v, acc)", "(a) + (b)", "sqrt(acc)", NULL, NULL, NULL, NULL, false},
    {&tn_op_reduce_sum_square, "0.0f", "mad(v, v, acc)", "(a) + (b)", "(acc)", "0", "(acc) + (ACC)(v) * (ACC)(v)", "(a) + (b)", "(acc)", false},
    {&tn_op_reduce_log_sum, "0.0f", "(acc) + (v)", "(a) + (b)", "log(acc)", NULL, NULL, NULL, NULL, false},
};

static const kind *kind_of(const tn_op *op)
{
    for (size_t i = 0; i < TN_COUNT(kinds); i++) {
        if (kinds[i].op == op) {
            return &kinds[i];
        }
    }
    return NULL;
}

bool tn_cl_reduced_axes(const tn_query *query, uint32_t *mask)
{
    const tn_reduce_attr *attr = query->attr;
    const tn_tensor *axes = query->n_in > 1 ? query->in[1] : NULL;
    const int rank = query->in[0]->shape.rank;
    *mask = 0;
    if (axes && !axes->data) {
        return false;
    }
    const int64_t n = axes ? tn_tensor_count(axes) : 0;
    for (int64_t i = 0; i < n; i++) {
        int axis;
        if (!tn_axis(tn_dtype_load_i64(axes->dtype, axes->data, (size_t)i), rank, &axis)) {
            return false;
        }
        *mask |= UINT32_C(1) << axis;
    }
    if (n == 0 && !attr->noop_with_empty_axes) {
        *mask = (UINT32_C(1) << rank) - 1;
    }
    return *mask != 0;
}

static bool match_reduce(const tn_query *query, const char **why)
{
    uint32_t mask;
    const tn_dtype dtype = query->in[0]->dtype;
    const bool whole = (tn_dtype_is_int(dtype) || dtype == TN_BOOL) && tn_cl_type(dtype) && kind_of(query->op)->int_step;
    if ((dtype != TN_F32 && !whole) || query->out[0]->dtype != dtype) {
        *why = "only float32, and integers where the result is exact";
        return false;
    }
    *why = "axes that are not known, or none";
    return tn_cl_reduced_axes(query, &mask);
}

void tn_cl_write_places(tn_cl_build *b, const char *name, const tn_shape *shape, uint32_t mask)
{
    int64_t stride = 1, weight = 1;
    tn_cl_code(b, "#define %s(i) (0", name);
    for (int d = shape->rank - 1; d >= 0; d--) {
        const int64_t dim = shape->dims[d];
        if (mask >> d & 1 && dim > 1) {
            tn_cl_code(b, " + (i) / %lld %% %lld * %lld", (long long)weight, (long long)dim, (long long)stride);
            weight *= dim;
        }
        stride *= dim;
    }
    tn_cl_code(b, ")\n");
}

size_t tn_cl_reduced_parts(const tn_cl_build *b, const tn_shape *shape, uint32_t mask, int64_t *count)
{
    const size_t limit = TN_MIN(b->cl->facts.max_group, (size_t)(b->cl->facts.is_cpu ? 8 : 128));
    size_t parts = 1;
    *count = 1;
    for (int d = 0; d < shape->rank; d++) {
        *count *= mask >> d & 1 ? shape->dims[d] : 1;
    }
    while (parts * 2 <= limit && (int64_t)parts * 2 < *count) {
        parts *= 2;
    }
    return parts;
}

static void type_defines(tn_cl_build *b, const kind *k, tn_dtype dtype)
{
    const bool whole = dtype != TN_F32, top = dtype == TN_U64;
    tn_cl_define(b, "VALUE", "%s", !whole ? "float" : top ? "ulong" : "long");
    tn_cl_define(b, "ACC", "%s", !whole ? "float" : top || !k->ordered ? "ulong" : "long");
    tn_cl_define(b, "RESULT", "%s", tn_cl_type(dtype));
    tn_cl_define(b, "LOWEST", "%s", top ? "0" : "LONG_MIN");
    tn_cl_define(b, "HIGHEST", "%s", top ? "ULONG_MAX" : "LONG_MAX");
    tn_cl_define(b, "START", "%s", whole ? k->int_start : k->start);
    tn_cl_define(b, "STEP(acc, v)", "%s", whole ? k->int_step : k->step);
    tn_cl_define(b, "JOIN(a, b)", "%s", whole ? k->int_join : k->join);
    tn_cl_define(b, "LAST(acc)", "%s", whole ? k->int_last : k->last);
    if (!whole && strcmp(k->start, "0.0f") == 0) {
        tn_cl_define(b, "FLOAT_SUM", "1");
    }
}

static void reduce_step(tn_cl_build *b, const kind *k, uint32_t mask, tn_cl_value *in, tn_cl_value *out)
{
    int64_t count;
    const size_t parts = tn_cl_reduced_parts(b, &in->shape, mask, &count);
    tn_cl_mem *from = tn_cl_plain(b, in), *to = tn_cl_new_plain(b, out);
    tn_cl_begin(b, "reduce");
    tn_cl_in(b, tn_cl_type(in->dtype), "a", from);
    tn_cl_out(b, tn_cl_type(in->dtype), "y", to);
    tn_cl_int(b, "count", count);
    tn_cl_local(b, in->dtype == TN_F32 ? "float" : "ulong", "sums", parts * (in->dtype == TN_F32 ? sizeof(float) : sizeof(uint64_t)));
    tn_cl_define(b, "PARTS", "%zu", parts);
    type_defines(b, k, in->dtype);
    tn_cl_write_places(b, "KEPT", &in->shape, ~mask);
    tn_cl_write_places(b, "REDUCED", &in->shape, mask);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)tn_cl_count(out), 1);
}

static void emit_reduce(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    uint32_t mask = 0;
    (void)tn_cl_reduced_axes(query, &mask);
    reduce_step(b, kind_of(query->op), mask, in[0], out[0]);
}

// ---- pooling over all places of maps that have no grid: volumes ----

static bool match_global(const tn_query *query, const char **why)
{
    *why = "only float32 has a kernel";
    return query->in[0]->dtype == TN_F32 && query->in[0]->shape.rank > 2;
}

static bool match_lp(const tn_query *query, const char **why)
{
    const int64_t p = ((const tn_global_pool_attr *)query->attr)->p;
    if (!match_global(query, why)) {
        return false;
    }
    *why = "a norm that is neither 1 nor 2";
    return p == 1 || p == 2;
}

static void emit_global(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const bool lp = query->op == &tn_op_global_lp_pool, one = lp && ((const tn_global_pool_attr *)query->attr)->p == 1;
    const kind *k = kind_of(query->op == &tn_op_global_max_pool ? &tn_op_reduce_max : !lp ? &tn_op_reduce_mean : one ? &tn_op_reduce_l1 : &tn_op_reduce_l2);
    reduce_step(b, k, ((UINT32_C(1) << in[0]->shape.rank) - 1) & ~UINT32_C(3), in[0], out[0]);
}

#define ROW(NAME) {.op = &tn_op_reduce_##NAME, .match = match_reduce, .emit = emit_reduce}

static const tn_cl_row rows[] = {ROW(sum), ROW(mean), ROW(max), ROW(min), ROW(prod), ROW(l1), ROW(l2), ROW(sum_square), ROW(log_sum),
                                 {.op = &tn_op_global_average_pool, .match = match_global, .emit = emit_global},
                                 {.op = &tn_op_global_lp_pool, .match = match_lp, .emit = emit_global},
                                 {.op = &tn_op_global_max_pool, .match = match_global, .emit = emit_global}};

TN_CL_EXPORT(reduce, rows);
