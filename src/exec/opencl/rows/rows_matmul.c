// SPDX-License-Identifier: Apache-2.0
// Products of matrices in plain tensors, with bias, residual and activation.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/nn/nn_reference.h"
#include "ops/nn/op_matmul.h"

#define MAX_ROWS 8            // products with no more rows are bound by reading b
#define MAX_BATCH (1 << 20)

static bool match_matmul(const tn_query *query, const char **why)
{
    tn_product product = {.call = NULL};
    const tn_matmul_attr *attr = query->attr;
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    tn_tensor y = *query->out[0];
    tn_product_set(&product, query->in[0], attr->trans_a, NULL, query->in[1], attr->trans_b, NULL, &y);
    *why = "too many matrices";
    return product.batch <= MAX_BATCH;
}

static void operands(tn_cl_build *b, const tn_matmul_attr *attr, tn_cl_mem *const *mems)
{
    tn_cl_in(b, "float", "a", mems[0]);
    tn_cl_in(b, "float", "b", mems[1]);
    tn_cl_plain_result(b, mems[2], mems[3], &attr->act);
    tn_cl_real(b, "alpha", attr->alpha);
}

static tn_cl_mem *offsets(tn_cl_build *b, const tn_product *product, const tn_shape *stack)
{
    int32_t *table = tn_arena_array(&b->scratch, (size_t)product->batch, sizeof *table);
    if (!table) {
        b->status = tn_fail_memory(b->diag, b->node->name, (size_t)product->batch * sizeof *table);
        return NULL;
    }
    for (int64_t i = 0; i < product->batch; i++) {
        table[i] = (int32_t)tn_product_offset(product, stack, i);
    }
    return tn_cl_upload(b, table, (size_t)product->batch * sizeof *table);
}

static size_t power_below(size_t n)
{
    size_t p = 1;
    while (p * 2 <= n) {
        p *= 2;
    }
    return p;
}

static void emit_matmul(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_matmul_attr *attr = query->attr;
    tn_product p = {.call = NULL};
    tn_tensor y = *query->out[0];
    tn_product_set(&p, query->in[0], attr->trans_a, NULL, query->in[1], attr->trans_b, NULL, &y);
    tn_cl_mem *mems[4] = {NULL};
    for (int i = 0; i < query->n_in && i < 4; i++) {
        mems[i] = in[i] ? tn_cl_plain(b, in[i]) : NULL;
    }
    tn_cl_mem *a_at = offsets(b, &p, &p.a.stack), *b_at = offsets(b, &p, &p.b.stack), *to = tn_cl_new_plain(b, out[0]);
    const bool few = p.m <= MAX_ROWS, columns = few && !b->cl->facts.is_cpu && p.b.row == 1 && p.b.col != 1;
    tn_cl_begin(b, columns ? "matmul_cols" : few ? "matmul_rows" : "matmul");
    operands(b, attr, mems);
    tn_cl_in(b, "int", "a_at", a_at);
    tn_cl_in(b, "int", "b_at", b_at);
    tn_cl_out(b, "float", "y", to);
    tn_cl_int(b, "n", p.n);
    tn_cl_int(b, "k", p.k);
    tn_cl_define(b, "A_ROW", "(%lld)", (long long)p.a.row);
    tn_cl_define(b, "A_COL", "(%lld)", (long long)p.a.col);
    tn_cl_define(b, "B_ROW", "(%lld)", (long long)p.b.row);
    tn_cl_define(b, "B_COL", "(%lld)", (long long)p.b.col);
    if (!few) {
        tn_cl_int(b, "m", p.m);
        tn_cl_group(b, 8, 8, 1);
        tn_cl_end(b, (size_t)TN_CEIL_DIV(p.n, 32) * 8, (size_t)TN_CEIL_DIV(p.m, 32) * 8, (size_t)p.batch);
        return;
    }
    if (columns) {
        const size_t parts = TN_MIN((size_t)64, power_below(b->cl->facts.max_group)), slots = TN_MIN((size_t)2, b->cl->facts.max_group / parts);
        tn_cl_define(b, "M", "%d", (int)p.m);
        tn_cl_define(b, "PARTS", "%zu", parts);
        tn_cl_local(b, "float", "sums", parts * slots * (size_t)p.m * sizeof(float));
        tn_cl_group(b, parts, slots, 1);
        tn_cl_end(b, parts, (size_t)p.n, (size_t)p.batch);
        return;
    }
    const size_t width = b->cl->facts.is_cpu ? 16 : 32;
    size_t parts = 1;
    const size_t limit = b->cl->facts.is_cpu ? 4 : TN_MIN((size_t)8, b->cl->facts.max_group / width);
    while (parts * 2 <= limit && (int64_t)parts * 8 < p.k) {
        parts *= 2;
    }
    tn_cl_define(b, "M", "%d", (int)p.m);
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_local(b, "float", "sums", parts * width * (size_t)p.m * sizeof(float));
    tn_cl_group(b, width, parts, 1);
    tn_cl_end(b, (size_t)p.n, parts, (size_t)p.batch);
}

static const tn_cl_row rows[] = {{.op = &tn_op_matmul, .match = match_matmul, .emit = emit_matmul}};

TN_CL_EXPORT(matmul, rows);
