// SPDX-License-Identifier: Apache-2.0
// Products of matrices (ONNX MatMul 13 with numpy's rules, Gemm 13) with what fusion adds to matmul: scale, bias, residual and
// activation. The reference works on blocks of 16 rows by up to 256 columns; each result is one sum in the order of k.
// Ownership: const data. Threads: any.
#include "ops/nn/op_matmul.h"

#include "base/num.h"
#include "ir/edit.h"
#include "ops/math/op_binary.h"
#include "ops/nn/nn_reference.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

// ---- attributes ----

static const tn_attr matmul_attrs[] = {
    {"trans_a", TN_ATTR_BOOL, offsetof(tn_matmul_attr, trans_a), NULL},
    {"trans_b", TN_ATTR_BOOL, offsetof(tn_matmul_attr, trans_b), NULL},
    {"alpha", TN_ATTR_REAL, offsetof(tn_matmul_attr, alpha), NULL},
    TN_ACT_ATTRS(tn_matmul_attr),
};
static const tn_matmul_attr matmul_defaults = {.alpha = 1, .act = {.code = TN_LOOP_CONST}};

static const tn_attr gemm_attrs[] = {
    {"trans_a", TN_ATTR_BOOL, offsetof(tn_gemm_attr, trans_a), NULL},
    {"trans_b", TN_ATTR_BOOL, offsetof(tn_gemm_attr, trans_b), NULL},
    {"alpha", TN_ATTR_REAL, offsetof(tn_gemm_attr, alpha), NULL},
    {"beta", TN_ATTR_REAL, offsetof(tn_gemm_attr, beta), NULL},
};
static const tn_gemm_attr gemm_defaults = {.alpha = 1, .beta = 1};

#define SET_PRODUCT (TN_SET_FLOAT | TN_SET_INDEX | TN_BIT(U32) | TN_BIT(U64))

// ---- infer ----

// The dims of a matrix operand, counted from the end: rows, columns. A vector is a row (of a) or a column (of b).
static void matrix_dims(const tn_shape *shape, bool transposed, bool is_b, int64_t *rows, int64_t *cols)
{
    const int rank = shape->rank;
    if (rank == 1) {
        *rows = is_b ? shape->dims[0] : 1;
        *cols = is_b ? 1 : shape->dims[0];
        return;
    }
    *rows = shape->dims[transposed ? rank - 1 : rank - 2];
    *cols = shape->dims[transposed ? rank - 2 : rank - 1];
}

// The dims before the matrix.
static tn_shape batch_dims(const tn_shape *shape) { return tn_shape_of(TN_MAX(shape->rank - 2, 0), shape->dims); }

// a [..., M, K], b [..., K, N] -> [..., M, N]: the dims before the matrices broadcast; a vector a has no M in the result, a vector
// b no N (numpy matmul).
tn_status tn_matmul_infer(const tn_infer *infer, int a, int b, bool trans_a, bool trans_b, tn_shape *y)
{
    const tn_shape *as = &infer->in[a]->shape, *bs = &infer->in[b]->shape;
    *y = tn_shape_unknown();
    TN_TRY(tn_infer_rank(infer, a, 1, TN_MAX_RANK));
    TN_TRY(tn_infer_rank(infer, b, 1, TN_MAX_RANK));
    if (as->rank < 0 || bs->rank < 0) {
        return TN_OK;
    }
    int64_t m, n, ka, kb, k;
    matrix_dims(as, trans_a, false, &m, &ka);
    matrix_dims(bs, trans_b, true, &kb, &n);
    if (!tn_dim_join(ka, kb, &k)) {
        return tn_infer_fail(infer, "a has %lld columns, but b has %lld rows", (long long)ka, (long long)kb);
    }
    const tn_shape batch_a = batch_dims(as), batch_b = batch_dims(bs);
    tn_shape shape;
    if (!tn_shape_broadcast(&batch_a, &batch_b, &shape)) {
        return tn_infer_fail(infer, "the dims before the matrices cannot be broadcast");
    }
    if (as->rank > 1) {
        shape.dims[shape.rank++] = m;
    }
    if (bs->rank > 1) {
        shape.dims[shape.rank++] = n;
    }
    *y = shape;
    return TN_OK;
}

static tn_status infer_matmul(tn_infer *infer)
{
    const tn_matmul_attr *attr = infer->attr;
    tn_dtype dtype;
    tn_shape y;
    TN_TRY(tn_infer_types(infer, 0, 1, SET_PRODUCT, &dtype));
    for (int i = 2; i < 4; i++) {
        TN_TRY(tn_infer_optional(infer, i, TN_SET_FLOAT));
        TN_TRY(tn_infer_like(infer, i, 0));
    }
    TN_TRY(tn_matmul_infer(infer, 0, 1, attr->trans_a, attr->trans_b, &y));
    const bool fused = attr->alpha != 1 || attr->act.code != TN_LOOP_CONST;
    if (!tn_act_valid(&attr->act) || (fused && tn_dtype_is_int(dtype)) || (attr->act.code != TN_LOOP_CONST && dtype == TN_F64)) {
        return tn_infer_fail(infer, "alpha or the activation cannot be applied to %s", tn_dtype_text(dtype));
    }
    if (tn_infer_in(infer, 2) && infer->in[1]->shape.rank == 1) {
        return tn_infer_fail(infer, "a bias needs b to have columns");
    }
    TN_TRY(tn_infer_vector(infer, 2, y.rank < 1 ? TN_DIM_UNKNOWN : y.dims[y.rank - 1]));
    TN_TRY(tn_infer_shape(infer, 3, &y));
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// a [M, K] and b [K, N], or transposed; c broadcasts to [M, N].
static tn_status infer_gemm(tn_infer *infer)
{
    const tn_gemm_attr *attr = infer->attr;
    tn_dtype dtype;
    tn_shape y;
    TN_TRY(tn_infer_types(infer, 0, 1, SET_PRODUCT, &dtype));
    TN_TRY(tn_infer_optional(infer, 2, SET_PRODUCT));
    TN_TRY(tn_infer_like(infer, 2, 0));
    TN_TRY(tn_infer_rank(infer, 0, 2, 2));
    TN_TRY(tn_infer_rank(infer, 1, 2, 2));
    TN_TRY(tn_matmul_infer(infer, 0, 1, attr->trans_a, attr->trans_b, &y));
    if (y.rank < 0) {
        y = (tn_shape){.rank = 2, .dims = {TN_DIM_UNKNOWN, TN_DIM_UNKNOWN}};
    }
    TN_TRY(tn_infer_fits(infer, 2, &y));
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// K steps for each result.
static int64_t macs_product(const tn_shape *a, bool trans_a, const tn_shape *y)
{
    int64_t m, k, macs;
    matrix_dims(a, trans_a, false, &m, &k);
    return tn_shape_count(y, &macs) && tn_mul_i64(macs, k, &macs) ? macs : INT64_MAX;
}

static int64_t macs_matmul(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)n_in, (void)n_out;
    return macs_product(&in[0]->shape, ((const tn_matmul_attr *)attr)->trans_a, &out->shape);
}

static int64_t macs_gemm(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)n_in, (void)n_out;
    return macs_product(&in[0]->shape, ((const tn_gemm_attr *)attr)->trans_a, &out->shape);
}

// ---- lowering of gemm: matmul with bias where c is a row, else matmul, scaled c, add ----

// A scalar constant of a float dtype; NULL: no memory.
static tn_value *scalar_constant(tn_graph *graph, tn_dtype dtype, double value)
{
    unsigned char bytes[8] = {0};
    const tn_shape shape = tn_shape_of(0, NULL);
    tn_dtype_store(dtype, bytes, 0, value);
    return tn_graph_constant(graph, NULL, dtype, &shape, bytes, true);
}

// A new value like `like`.
static tn_value *value_like(tn_graph *graph, const tn_value *like)
{
    tn_value *value = tn_graph_value(graph, NULL);
    if (value) {
        value->dtype = like->dtype;
        value->shape = like->shape;
    }
    return value;
}

// c [N] next to y [M, N]: what matmul takes as bias.
static bool is_bias_row(const tn_value *c, const tn_value *y)
{
    return c->shape.rank == 1 && y->shape.rank == 2 && tn_dim_known(c->shape.dims[0]) && c->shape.dims[0] == y->shape.dims[1];
}

// The new nodes take the old one's place and name. Integers stay: their matmul has no scale.
static tn_status lower_gemm(tn_graph *graph, tn_node *node, bool *done, tn_diag *diag)
{
    const tn_gemm_attr *attr = node->attr;
    tn_value *y = node->out[0], *c = node->n_in > 2 ? node->in[2] : NULL;
    *done = tn_dtype_is_float(y->dtype);
    if (!*done) {
        return TN_OK;
    }
    const tn_matmul_attr matmul = {attr->trans_a, attr->trans_b, attr->alpha, {.code = TN_LOOP_CONST}};
    const bool row = c && attr->beta == 1 && is_bias_row(c, y);
    tn_value *in[3] = {node->in[0], node->in[1], row ? c : NULL}, *product = value_like(graph, y), *sum = product;
    bool made = product && tn_graph_node(graph, node, &tn_op_matmul, node->name, &matmul, in, row ? 3 : 2, &product, 1);
    if (made && c && !row) {
        if (attr->beta != 1) {
            tn_value *factors[2] = {c, scalar_constant(graph, y->dtype, attr->beta)}, *scaled = value_like(graph, c);
            made = factors[1] && scaled && tn_graph_node(graph, node, &tn_op_mul, node->name, NULL, factors, 2, &scaled, 1);
            c = scaled;
        }
        tn_value *terms[2] = {product, c};
        sum = value_like(graph, y);
        made = made && sum && tn_graph_node(graph, node, &tn_op_add, node->name, NULL, terms, 2, &sum, 1);
    }
    if (!made) {
        return tn_fail_memory(diag, node->name, sizeof(tn_node));
    }
    TN_TRY(tn_graph_replace(graph, y, sum));
    tn_graph_remove(graph, node);
    return TN_OK;
}

// ---- reference ----

// Rows and columns of one accumulator block: 32 KiB of doubles. A pitch that is no power of two keeps its rows apart in the cache.
enum { BLOCK = 16, TILE = 256, PITCH = TILE + 8 };

typedef struct product_scratch {
    double sums[BLOCK][PITCH];
    double run[TILE], zeros[TILE];
    double column[BLOCK], column_zeros[BLOCK];
} product_scratch;

tn_status tn_product_prepare(tn_prepare *prepare) { return tn_prepare_slots(prepare, sizeof(product_scratch)); }

// shape without its last `drop` dims, then a dim of `size`.
static tn_shape stack_of(const tn_shape *shape, int drop, int64_t size)
{
    tn_shape stack = tn_shape_of(TN_MAX(shape->rank - drop, 0), shape->dims);
    stack.dims[stack.rank++] = size;
    return stack;
}

// A transposed matrix is the same memory with the steps of rows and columns exchanged.
static void set_factor(tn_factor *f, const tn_tensor *tensor, bool transposed, bool is_b, const tn_tensor *zero)
{
    int64_t rows, cols;
    matrix_dims(&tensor->shape, transposed, is_b, &rows, &cols);
    f->tensor = tensor;
    f->stack = stack_of(&tensor->shape, 2, rows * cols);
    f->row = transposed && tensor->shape.rank > 1 ? 1 : cols;
    f->col = transposed && tensor->shape.rank > 1 ? rows : 1;
    f->zero = zero;
    if (zero) {
        // A vector serves all matrices; with more dims the last two are those of the matrix, one of them 1.
        const tn_shape *z = &zero->shape;
        f->zero_stack = z->rank < 2 ? stack_of(z, 1, tn_tensor_count(zero))
            : stack_of(z, 2, z->dims[z->rank - 1] * z->dims[z->rank - 2]);
    }
}

// An empty result leaves batch 0, an empty sum (K = 0) leaves the factors unset: neither is walked.
void tn_product_set(tn_product *product, const tn_tensor *a, bool trans_a, const tn_tensor *zero_a, const tn_tensor *b,
                    bool trans_b, const tn_tensor *zero_b, tn_tensor *y)
{
    product->y = y;
    if (tn_tensor_count(y) == 0) {
        product->batch = 0;
        return;
    }
    matrix_dims(&a->shape, trans_a, false, &product->m, &product->k);
    matrix_dims(&b->shape, trans_b, true, &product->k, &product->n);
    product->stack = stack_of(&y->shape, (a->shape.rank > 1) + (b->shape.rank > 1), product->m * product->n);
    product->batch = tn_shape_span(&product->stack, 0, product->stack.rank - 1);
    if (product->k > 0) {
        set_factor(&product->a, a, trans_a, false, zero_a);
        set_factor(&product->b, b, trans_b, true, zero_b);
    }
}

// Batch dims broadcast: an operand may have fewer, or ones.
int64_t tn_product_offset(const tn_product *product, const tn_shape *stack, int64_t batch)
{
    int64_t step;
    return tn_broadcast_row(stack, &product->stack, batch, &step);
}

// count zero points of a factor from row or column `first` on; zeros where it has none.
static void load_zeros(const tn_product *p, const tn_factor *f, int64_t batch, int64_t first, int64_t count, double *zeros)
{
    if (!f->zero) {
        memset(zeros, 0, (size_t)count * sizeof *zeros);
        return;
    }
    const bool each = f->zero_stack.dims[f->zero_stack.rank - 1] != 1;
    const int64_t start = tn_product_offset(p, &f->zero_stack, batch) + (each ? first : 0);
    tn_row_load(f->zero->dtype, f->zero->data, start, each, count, zeros);
}

// Rows and columns of a block of matrix `batch`.
typedef struct product_block {
    int64_t batch, m0, mc, n0, nc;
} product_block;

// Items count tiles of columns fastest, then blocks of rows, then matrices.
static product_block product_block_of(const tn_product *p, int64_t item)
{
    const int64_t tiles = TN_CEIL_DIV(p->n, TILE), blocks = TN_CEIL_DIV(p->m, BLOCK);
    product_block b = {.n0 = item % tiles * TILE, .m0 = item / tiles % blocks * BLOCK, .batch = item / tiles / blocks};
    b.mc = TN_MIN(p->m - b.m0, BLOCK);
    b.nc = TN_MIN(p->n - b.n0, TILE);
    return b;
}

// Rank-one updates: column k of a's block times row k of b's tile, zero points taken off both.
static void add_products(const tn_product *p, const product_block *b, product_scratch *s)
{
    const tn_factor *fa = &p->a, *fb = &p->b;
    const int64_t a0 = tn_product_offset(p, &fa->stack, b->batch) + b->m0 * fa->row;
    const int64_t b0 = tn_product_offset(p, &fb->stack, b->batch) + b->n0 * fb->col;
    load_zeros(p, fa, b->batch, b->m0, b->mc, s->column_zeros);
    load_zeros(p, fb, b->batch, b->n0, b->nc, s->zeros);
    for (int64_t k = 0; k < p->k; k++) {
        tn_row_load(fb->tensor->dtype, fb->tensor->data, b0 + k * fb->row, fb->col, b->nc, s->run);
        tn_row_load(fa->tensor->dtype, fa->tensor->data, a0 + k * fa->col, fa->row, b->mc, s->column);
        for (int64_t i = 0; fb->zero && i < b->nc; i++) {
            s->run[i] -= s->zeros[i];
        }
        for (int64_t m = 0; m < b->mc; m++) {
            tn_row_add(s->sums[m], s->run, s->column[m] - s->column_zeros[m], b->nc);
        }
    }
}

// As in the reference convolution: each item writes results of its own.
static void product_task(void *context, size_t first, size_t count, unsigned slot)
{
    const tn_product *p = context;
    product_scratch *s = tn_slot_scratch(p->call, slot);
    for (size_t item = first; item < first + count && !tn_cancelled(p->call); item++) {
        const product_block b = product_block_of(p, (int64_t)item);
        for (int64_t m = 0; m < b.mc; m++) {
            memset(s->sums[m], 0, (size_t)b.nc * sizeof(double));
        }
        if (p->k > 0) {
            add_products(p, &b, s);
        }
        for (int64_t m = 0; m < b.mc; m++) {
            p->store(p, b.batch, b.m0 + m, b.n0, b.nc, s->sums[m]);
        }
    }
}

tn_status tn_product_run(tn_product *product)
{
    if (product->batch == 0) {
        return TN_OK;
    }
    const int64_t items = product->batch * TN_CEIL_DIV(product->m, BLOCK) * TN_CEIL_DIV(product->n, TILE);
    return tn_call_split(product->call, product_task, product, (size_t)items, 1);
}

// ---- integers: sums of all bits, modulo 2^64 and then modulo the type ----

typedef struct int_scratch {
    int64_t sums[TILE], run[TILE];
} int_scratch;

// c as gemm adds it: element (row, col) of a tensor that broadcasts to [m, n].
static int64_t addend_start(const tn_tensor *c, const tn_product *p, int64_t row, int64_t *step)
{
    const tn_shape y = {.rank = 2, .dims = {p->m, p->n}};
    return tn_broadcast_row(&c->shape, &y, row, step);
}

// One item is one row of one result matrix.
static void int_task(void *context, size_t first, size_t count, unsigned slot)
{
    const tn_product *p = context;
    const tn_tensor *c = p->context;
    int_scratch *s = tn_slot_scratch(p->call, slot);
    for (size_t item = first; item < first + count && !tn_cancelled(p->call); item++) {
        const int64_t row = (int64_t)item % p->m, batch = (int64_t)item / p->m;
        const tn_factor *fa = &p->a, *fb = &p->b;
        const int64_t a0 = p->k ? tn_product_offset(p, &fa->stack, batch) + row * fa->row : 0;
        const int64_t b0 = p->k ? tn_product_offset(p, &fb->stack, batch) : 0;
        for (int64_t n0 = 0; n0 < p->n; n0 += TILE) {
            const int64_t nc = TN_MIN(p->n - n0, TILE);
            memset(s->sums, 0, sizeof s->sums);
            if (c) {
                int64_t step;
                const int64_t start = addend_start(c, p, row, &step);
                tn_row_load_i64(c->dtype, c->data, start + n0 * step, step, nc, s->sums);
            }
            for (int64_t k = 0; k < p->k; k++) {
                const uint64_t factor = (uint64_t)tn_dtype_load_i64(fa->tensor->dtype, fa->tensor->data,
                                                                    (size_t)(a0 + k * fa->col));
                tn_row_load_i64(fb->tensor->dtype, fb->tensor->data, b0 + n0 * fb->col + k * fb->row, fb->col, nc, s->run);
                for (int64_t i = 0; i < nc; i++) {
                    s->sums[i] = (int64_t)((uint64_t)s->sums[i] + factor * (uint64_t)s->run[i]);
                }
            }
            tn_row_store_i64(p->y->dtype, p->y->data, (int64_t)item * p->n + n0, 1, nc, s->sums);
        }
    }
}

// ---- matmul and gemm ----

// y = act(alpha * sum + bias + residual)
static void store_matmul(const tn_product *p, int64_t batch, int64_t row, int64_t col, int64_t count, double *sums)
{
    const tn_matmul_attr *attr = p->context;
    const tn_tensor *bias = tn_call_in(p->call, 2), *residual = tn_call_in(p->call, 3);
    const int64_t start = (batch * p->m + row) * p->n + col;
    for (int64_t i = 0; i < count; i++) {
        sums[i] = attr->alpha * sums[i] + (bias ? tn_element(bias, col + i) : 0) + (residual ? tn_element(residual, start + i) : 0);
        sums[i] = attr->act.code == TN_LOOP_CONST ? sums[i] : (double)tn_act_apply(&attr->act, (float)sums[i]);
    }
    tn_row_store(p->y->dtype, p->y->data, start, 1, count, sums);
}

// y = alpha * sum + beta * c
static void store_gemm(const tn_product *p, int64_t batch, int64_t row, int64_t col, int64_t count, double *sums)
{
    const tn_gemm_attr *attr = p->context;
    const tn_tensor *c = tn_call_in(p->call, 2);
    int64_t step = 0;
    const int64_t start = c ? addend_start(c, p, row, &step) : 0;
    (void)batch;
    for (int64_t i = 0; i < count; i++) {
        sums[i] = attr->alpha * sums[i] + (c ? attr->beta * tn_element(c, start + (col + i) * step) : 0);
    }
    tn_row_store(p->y->dtype, p->y->data, row * p->n + col, 1, count, sums);
}

// c is gemm's addend, or NULL.
static tn_status run_ints(tn_product *p, const tn_tensor *c)
{
    p->context = c;
    return tn_call_split(p->call, int_task, p, p->batch ? (size_t)(p->batch * p->m) : 0, 1);
}

static tn_status run_matmul(const tn_call *call)
{
    const tn_matmul_attr *attr = call->attr;
    tn_product p = {.call = call, .store = store_matmul, .context = attr};
    tn_product_set(&p, call->in[0], attr->trans_a, NULL, call->in[1], attr->trans_b, NULL, call->out[0]);
    return tn_dtype_is_int(call->out[0]->dtype) ? run_ints(&p, NULL) : tn_product_run(&p);
}

static tn_status run_gemm(const tn_call *call)
{
    const tn_gemm_attr *attr = call->attr;
    tn_product p = {.call = call, .store = store_gemm, .context = attr};
    tn_product_set(&p, call->in[0], attr->trans_a, NULL, call->in[1], attr->trans_b, NULL, call->out[0]);
    // With factors that are not 1 the result is a real number that is rounded.
    const bool exact = tn_dtype_is_int(call->out[0]->dtype) && attr->alpha == 1 && attr->beta == 1;
    return exact ? run_ints(&p, tn_call_in(call, 2)) : tn_product_run(&p);
}

// ---- export ----

const tn_op tn_op_matmul = {
    .name = "matmul", .version = 1, .min_in = 2, .max_in = 4, .min_out = 1, .max_out = 1,
    .attrs = matmul_attrs, .n_attrs = TN_COUNT(matmul_attrs), .attr_size = sizeof(tn_matmul_attr), .defaults = &matmul_defaults,
    .infer = infer_matmul, .macs = macs_matmul,
};
const tn_op tn_op_gemm = {
    .name = "gemm", .version = 1, .min_in = 2, .max_in = 3, .min_out = 1, .max_out = 1,
    .attrs = gemm_attrs, .n_attrs = TN_COUNT(gemm_attrs), .attr_size = sizeof(tn_gemm_attr), .defaults = &gemm_defaults,
    .infer = infer_gemm, .lower = lower_gemm, .macs = macs_gemm,
};

static const tn_op *const ops[] = {&tn_op_matmul, &tn_op_gemm};
TN_EXPORT_OPS(op_matmul, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(matmul, tn_product_prepare, run_matmul),
    TN_REFERENCE_SCRATCH(gemm, tn_product_prepare, run_gemm),
};
TN_EXPORT_KERNELS(op_matmul, rows);
