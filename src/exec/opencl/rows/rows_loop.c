// SPDX-License-Identifier: Apache-2.0
// Elementwise work on f32 by generated code: fused chains, and every operator that has a loop form. On grids where an operand is one
// already, else on plain tensors.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "base/num.h"
#include "ops/math/op_chain.h"

#include <stdarg.h>
#include <stdio.h>

static bool loop_of(const tn_query *query, tn_loop *loop)
{
    tn_loop_build build = {.loop = {.n_inputs = query->n_in}};
    int args[TN_LOOP_MAX_INPUTS], result = 0;
    if (!query->op->loop || query->n_in < 1 || query->n_in > TN_LOOP_MAX_INPUTS) {
        return false;
    }
    for (int i = 0; i < query->n_in; i++) {
        args[i] = i;
        if (!query->in[i]) {
            return false;
        }
    }
    if (!query->op->loop(query->attr, &build, args, query->n_in, &result) || build.full) {
        return false;
    }
    if (result != query->n_in + build.loop.n_code - 1) {
        (void)tn_loop_add(&build, TN_LOOP_AFFINE, result, 0, 0, 1, 0);
    }
    *loop = build.loop;
    return !build.full;
}

static bool match_loop(const tn_query *query, const char **why)
{
    tn_loop loop;
    if (!query->op->loop) {
        return false;
    }
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    if (!loop_of(query, &loop)) {
        *why = "it has no loop form";
        return false;
    }
    return true;
}

// The function `program` over `type`, one parameter an operand.
static void write_program(tn_cl_build *b, const tn_loop *loop, const char *type)
{
    tn_cl_code(b, "#define V %s\n%s program(", type, type);
    for (int i = 0; i < loop->n_inputs; i++) {
        tn_cl_code(b, "%sV r%d", i ? ", " : "", i);
    }
    tn_cl_code(b, ")\n{\n");
    tn_cl_loop_body(&b->prologue, loop);
    tn_cl_code(b, "    return result;\n}\n#undef V\n");
}

// ---- plain ----

// Strides of each operand over the dims of the result, dims merged where all operands step through them alike.
typedef struct steps {
    int rank;
    int64_t dims[TN_MAX_RANK];
    int64_t strides[TN_LOOP_MAX_INPUTS][TN_MAX_RANK];
} steps;

static bool mergeable(const steps *s, int n, int k, int64_t dim, const int64_t *inner)
{
    for (int i = 0; i < n; i++) {
        if (s->strides[i][k] != inner[i] * dim) {
            return false;
        }
    }
    return true;
}

static void find_steps(steps *s, tn_cl_value *const *in, int n, const tn_shape *out)
{
    int64_t all[TN_LOOP_MAX_INPUTS][TN_MAX_RANK];
    s->rank = 0;
    for (int i = 0; i < n; i++) {
        int64_t stride = 1;
        for (int k = out->rank - 1; k >= 0; k--) {
            const int d = k - (out->rank - in[i]->shape.rank);
            const int64_t dim = d < 0 ? 1 : in[i]->shape.dims[d];
            all[i][k] = dim == 1 ? 0 : stride;
            stride *= dim;
        }
    }
    for (int k = 0; k < out->rank; k++) {
        int64_t inner[TN_LOOP_MAX_INPUTS];
        if (out->dims[k] == 1) {
            continue;
        }
        for (int i = 0; i < n; i++) {
            inner[i] = all[i][k];
        }
        const int at = s->rank > 0 && mergeable(s, n, s->rank - 1, out->dims[k], inner) ? s->rank - 1 : s->rank;
        s->dims[at] = at < s->rank ? s->dims[at] * out->dims[k] : out->dims[k];
        s->rank = at + 1;
        for (int i = 0; i < n; i++) {
            s->strides[i][at] = inner[i];
        }
    }
}

static void write_position(tn_cl_build *b, const steps *s)
{
    tn_cl_code(b, "#define POSITION int rest = i;");
    for (int k = s->rank - 1; k > 0; k--) {
        tn_cl_code(b, " const int i%d = rest %% %lld; rest /= %lld;", k, (long long)s->dims[k], (long long)s->dims[k]);
    }
    tn_cl_code(b, " const int i0 = rest; (void)i0;\n");
}

static void write_load(tn_cl_build *b, const steps *s, int operand)
{
    tn_cl_code(b, "a%d[0", operand);
    for (int k = 0; k < s->rank; k++) {
        if (s->strides[operand][k]) {
            tn_cl_code(b, " + i%d * %lld", k, (long long)s->strides[operand][k]);
        }
    }
    tn_cl_code(b, "]");
}

void tn_cl_elementwise_begin(tn_cl_build *b, tn_cl_value *const *in, int n, tn_cl_value *out)
{
    static const char *const names[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"};
    steps s;
    tn_cl_mem *mems[TN_LOOP_MAX_INPUTS];
    find_steps(&s, in, n, &out->shape);
    for (int i = 0; i < n; i++) {
        mems[i] = tn_cl_plain(b, in[i]);
    }
    tn_cl_mem *y = tn_cl_new_plain(b, out);
    tn_cl_begin(b, "loop");
    for (int i = 0; i < n; i++) {
        tn_cl_in(b, tn_cl_type(in[i]->dtype), names[i], mems[i]);
    }
    tn_cl_out(b, tn_cl_type(out->dtype), "y", y);
    write_position(b, &s);
    tn_cl_code(b, "#define LOADS ");
    for (int i = 0; i < n; i++) {
        tn_cl_code(b, "%s", i ? ", " : "");
        write_load(b, &s, i);
    }
    tn_cl_code(b, "\n");
}

void tn_cl_expression(tn_cl_build *b, tn_cl_value *const *in, const char *const *names, int n, const tn_cl_value *out, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *type = tn_cl_type(out->dtype);
    tn_cl_code(b, "#define T %s\nT program(", type);
    for (int i = 0; i < n; i++) {
        tn_cl_code(b, "%s%s %s", i ? ", " : "", tn_cl_type(in[i]->dtype), names[i]);
    }
    tn_cl_code(b, ")\n{\n    return %s;\n}\n", text);
}

static void emit_plain(tn_cl_build *b, const tn_loop *loop, tn_cl_value *const *in, tn_cl_value *out)
{
    tn_cl_elementwise_begin(b, in, loop->n_inputs, out);
    write_program(b, loop, "float");
    tn_cl_end(b, (size_t)tn_cl_count(out), 1, 1);
}

// ---- grids ----

// The dims of an operand as those of a grid, aligned with the result's from the right.
static void aligned_dims(const tn_shape *shape, int rank, int64_t dims[4])
{
    tn_shape full = {.rank = rank};
    for (int k = 0; k < rank; k++) {
        const int d = k - (rank - shape->rank);
        full.dims[k] = d < 0 ? 1 : shape->dims[d];
    }
    dims[0] = full.dims[0];
    dims[1] = full.dims[1];
    dims[2] = rank == 4 ? full.dims[2] : 1;
    dims[3] = full.dims[rank - 1];
}

static bool on_grids(const tn_loop *loop, tn_cl_value *const *in, const tn_cl_value *out)
{
    const tn_tensor tensor = {.dtype = out->dtype, .shape = out->shape};
    bool some = false;
    if (!tn_cl_griddable(&tensor)) {
        return false;
    }
    for (int i = 0; i < loop->n_inputs; i++) {
        const bool constant = in[i]->value->constant != NULL, single = tn_cl_count(in[i]) == 1;
        if (!constant && !single && in[i]->shape.rank != out->shape.rank) {
            return false;
        }
        some = some || (!constant && in[i]->cells);
    }
    return some;
}

static void emit_grid(tn_cl_build *b, const tn_loop *loop, tn_cl_value *const *in, tn_cl_value *out)
{
    static const char *const numbers[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    static const char *const grids[] = {"A0", "A1", "A2", "A3", "A4", "A5", "A6", "A7"};
    tn_cl_mem *mems[TN_LOOP_MAX_INPUTS] = {NULL};
    int64_t y[4] = {1, 1, 1, 1}, d[TN_LOOP_MAX_INPUTS][4];
    (void)tn_cl_grid_dims(&out->shape, y);
    for (int i = 0; i < loop->n_inputs; i++) {
        const tn_tensor *constant = in[i]->value->constant;
        aligned_dims(&in[i]->shape, out->shape.rank, d[i]);
        if (constant && tn_cl_count(in[i]) > 1) {
            mems[i] = tn_cl_weight(b, TN_CL_IN_OUT_CHANNEL, d[i], 0, constant->data);
        } else if (!constant) {
            mems[i] = in[i]->shape.rank == out->shape.rank ? tn_cl_grid(b, in[i]) : tn_cl_plain(b, in[i]);
        }
    }
    tn_cl_mem *to = tn_cl_new_grid(b, out);
    tn_cl_begin(b, "loop_grid");
    tn_text loads;
    tn_text_init(&loads, b->cl->base.heap);
    for (int i = 0; i < loop->n_inputs && b->status == TN_OK; i++) {
        tn_text_add(&loads, "%s", i ? ", " : "");
        if (!mems[i]) {
            tn_cl_real(b, numbers[i], (double)tn_load_f32(in[i]->value->constant->data, 0));
            tn_text_add(&loads, "(float4)(%s)", numbers[i]);
        } else if (!mems[i]->grid) {
            tn_cl_in(b, "float", numbers[i], mems[i]);
            tn_text_add(&loads, "(float4)(%s[0])", numbers[i]);
        } else {
            tn_cl_in_grid(b, grids[i], mems[i]);
            const char *block = d[i][1] == 1 ? "0" : "cb", *width = d[i][3] == 1 ? "1" : "ow", *column = d[i][3] == 1 ? "0" : "px";
            const char *line = d[i][2] == 1 ? "0" : "py", *picture = d[i][0] == 1 ? "0" : "pn", *lines = d[i][2] == 1 ? "1" : "oh";
            tn_text_add(&loads, "%s_READ(%s * %s + %s, %s * %s + %s)%s", grids[i], block, width, column, picture, lines, line,
                        d[i][1] == 1 && y[1] > 1 ? ".xxxx" : "");
        }
    }
    tn_cl_out_grid(b, "Y", to);
    tn_cl_int(b, "oh", y[2]);
    tn_cl_int(b, "ow", y[3]);
    write_program(b, loop, "float4");
    tn_cl_code(b, "#define LOADS ");
    tn_text_bytes(&b->prologue, loads.data ? loads.data : "", loads.length);
    tn_cl_code(b, "\n");
    if (loads.failed && b->status == TN_OK) {
        b->status = tn_fail_memory(b->diag, b->node->name, 256);
    }
    tn_text_deinit(&loads);
    tn_cl_mask(b, y[1]);
    tn_cl_end(b, (size_t)y[3], (size_t)TN_CEIL_DIV(y[1], 4), (size_t)(y[0] * y[2]));
}

static void emit_loop(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    tn_loop loop;
    if (!loop_of(query, &loop)) {
        b->status = tn_fail(b->diag, TN_INTERNAL, query->name, "it has no loop form");
    } else if (on_grids(&loop, in, out[0])) {
        emit_grid(b, &loop, in, out[0]);
    } else {
        emit_plain(b, &loop, in, out[0]);
    }
}

static const tn_cl_row rows[] = {{.match = match_loop, .emit = emit_loop}};

TN_CL_EXPORT(loop, rows);
