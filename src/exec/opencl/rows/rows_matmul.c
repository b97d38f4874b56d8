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

// What a product is made of: y = ending(alpha a b).
typedef struct factors {
    tn_product p;
    tn_cl_mem *a, *b, *y;
    double alpha;
    tn_cl_mem *bias, *residual;       // matmul, or NULL
    const tn_act *act;
    tn_cl_mem *c;                     // gemm: beta c is added, c_row and c_col apart; NULL: not
    double beta;
    int64_t c_row, c_col;
} factors;

static void operands(tn_cl_build *b, const factors *f)
{
    tn_cl_in(b, "float", "a", f->a);
    tn_cl_in(b, "float", "b", f->b);
    if (f->c) {
        tn_cl_in(b, "float", "c", f->c);
        tn_cl_real(b, "beta", f->beta);
        tn_cl_define(b, "RESULT(i, column, sum)", "y[i] = (sum) + beta * c[(i) / %lld * %lld + (column) * %lld]", (long long)f->p.n,
                     (long long)f->c_row, (long long)f->c_col);
    } else {
        tn_cl_plain_result(b, f->bias, f->residual, f->act);
    }
    tn_cl_real(b, "alpha", f->alpha);
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

static void multiply(tn_cl_build *b, const factors *f)
{
    const tn_product p = f->p;
    tn_cl_mem *a_at = offsets(b, &p, &p.a.stack), *b_at = offsets(b, &p, &p.b.stack);
    const bool few = p.m <= MAX_ROWS, columns = few && !b->cl->facts.is_cpu && p.b.row == 1 && p.b.col != 1;
    tn_cl_begin(b, columns ? "matmul_cols" : few ? "matmul_rows" : "matmul");
    operands(b, f);
    tn_cl_in(b, "int", "a_at", a_at);
    tn_cl_in(b, "int", "b_at", b_at);
    tn_cl_out(b, "float", "y", f->y);
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

static void emit_matmul(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_matmul_attr *attr = query->attr;
    factors f = {.alpha = attr->alpha, .act = &attr->act};
    tn_tensor y = *query->out[0];
    tn_product_set(&f.p, query->in[0], attr->trans_a, NULL, query->in[1], attr->trans_b, NULL, &y);
    f.a = tn_cl_plain(b, in[0]);
    f.b = tn_cl_plain(b, in[1]);
    f.bias = query->n_in > 2 && in[2] ? tn_cl_plain(b, in[2]) : NULL;
    f.residual = query->n_in > 3 && in[3] ? tn_cl_plain(b, in[3]) : NULL;
    f.y = tn_cl_new_plain(b, out[0]);
    multiply(b, &f);
}

static bool match_gemm(const tn_query *query, const char **why) { return tn_cl_all_f32(query, why); }

// c is broadcast to [M, N].
static void emit_gemm(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_gemm_attr *attr = query->attr;
    factors f = {.alpha = attr->alpha, .beta = attr->beta, .act = &(tn_act){.code = TN_LOOP_CONST}};
    tn_tensor y = *query->out[0];
    tn_product_set(&f.p, query->in[0], attr->trans_a, NULL, query->in[1], attr->trans_b, NULL, &y);
    f.a = tn_cl_plain(b, in[0]);
    f.b = tn_cl_plain(b, in[1]);
    if (query->n_in > 2 && in[2]) {
        const tn_shape *c = &in[2]->shape;
        f.c = tn_cl_plain(b, in[2]);
        f.c_col = c->rank > 0 && c->dims[c->rank - 1] > 1;
        f.c_row = c->rank > 1 && c->dims[0] > 1 ? c->dims[1] : 0;
    }
    f.y = tn_cl_new_plain(b, out[0]);
    multiply(b, &f);
}

static const tn_cl_row rows[] = {{.op = &tn_op_matmul, .match = match_matmul, .emit = emit_matmul},
                                 {.op = &tn_op_gemm, .match = match_gemm, .emit = emit_gemm}};

TN_CL_EXPORT(matmul, rows);
