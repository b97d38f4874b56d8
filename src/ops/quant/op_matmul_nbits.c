// SPDX-License-Identifier: Apache-2.0
// Products with weights of few bits. The reference unpacks one row of weights at a time and takes its dot product with every row of a,
// so that the weights are read once however many rows there are.
// Ownership: const data. Threads: any.
#include "ops/quant/op_matmul_nbits.h"

#include "base/num.h"
#include "ops/op_rows.h"

// ---- attributes ----

static const tn_attr attrs[] = {
    {"k", TN_ATTR_INT, offsetof(tn_nbits_attr, k), NULL},
    {"n", TN_ATTR_INT, offsetof(tn_nbits_attr, n), NULL},
    {"bits", TN_ATTR_INT, offsetof(tn_nbits_attr, bits), NULL},
    {"block_size", TN_ATTR_INT, offsetof(tn_nbits_attr, block_size), NULL},
};
static const tn_nbits_attr defaults = {.bits = 4, .block_size = 32};

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

// ---- infer ----

static int64_t block_count(const tn_nbits_attr *attr) { return attr->k / attr->block_size + (attr->k % attr->block_size != 0); }
static int64_t block_bytes(const tn_nbits_attr *attr) { return attr->block_size * attr->bits / 8; }
static int64_t zero_bytes(const tn_nbits_attr *attr) { return (block_count(attr) * attr->bits + 7) / 8; }   // of one row of weights

// Operand i, when there and known, has n * each elements.
static tn_status check_count(const tn_infer *infer, int i, int64_t each)
{
    const tn_fact *fact = tn_infer_in(infer, i);
    const int64_t count = fact ? tn_fact_count(fact) : -1;
    int64_t want;
    if (!tn_mul_i64(((const tn_nbits_attr *)infer->attr)->n, each, &want)) {
        return tn_infer_fail(infer, "K and N are too large");
    }
    if (count >= 0 && count != want) {
        return tn_infer_fail(infer, "operand %d has %lld elements, expected %lld", i, (long long)count, (long long)want);
    }
    return TN_OK;
}

static tn_status check_attr(const tn_infer *infer, const tn_nbits_attr *attr)
{
    if (attr->bits != 2 && attr->bits != 4 && attr->bits != 8) {
        return tn_infer_fail(infer, "bits is %lld, expected 2, 4 or 8", (long long)attr->bits);
    }
    if (attr->block_size < 16 || attr->block_size > 1 << 20 || (attr->block_size & (attr->block_size - 1))) {
        return tn_infer_fail(infer, "block_size is %lld, expected a power of two from 16 on", (long long)attr->block_size);
    }
    if (attr->k < 1 || attr->n < 1 || attr->k > INT32_MAX || attr->n > INT32_MAX) {
        return tn_infer_fail(infer, "K is %lld and N is %lld, expected positive 32-bit numbers", (long long)attr->k, (long long)attr->n);
    }
    return TN_OK;
}

static tn_status infer_nbits(tn_infer *infer)
{
    const tn_nbits_attr *attr = infer->attr;
    TN_TRY(check_attr(infer, attr));
    TN_TRY(tn_infer_type(infer, A, TN_SET_FLOAT));
    TN_TRY(tn_infer_type(infer, B, TN_BIT(U8)));
    TN_TRY(tn_infer_type(infer, SCALES, TN_SET_FLOAT));
    const tn_fact *a = infer->in[A], *zeros = tn_infer_in(infer, ZEROS), *groups = tn_infer_in(infer, GROUPS);
    if (zeros) {
        TN_TRY(tn_infer_type(infer, ZEROS, TN_SET_FLOAT | TN_BIT(U8)));
        TN_TRY(zeros->dtype == TN_NONE ? TN_OK : check_count(infer, ZEROS, zeros->dtype == TN_U8 ? zero_bytes(attr) : block_count(attr)));
    }
    if (groups) {
        TN_TRY(tn_infer_type(infer, GROUPS, TN_BIT(I32)));
        TN_TRY(tn_infer_rank(infer, GROUPS, 1, 1));
        if (tn_fact_count(groups) >= 0 && tn_fact_count(groups) < attr->k) {
            return tn_infer_fail(infer, "operand %d has %lld elements, expected K = %lld", GROUPS, (long long)tn_fact_count(groups),
                                 (long long)attr->k);
        }
    }
    if (tn_infer_in(infer, BIAS)) {
        TN_TRY(tn_infer_type(infer, BIAS, TN_SET_FLOAT));
        TN_TRY(check_count(infer, BIAS, 1));
    }
    TN_TRY(check_count(infer, B, block_count(attr) * block_bytes(attr)));
    TN_TRY(check_count(infer, SCALES, block_count(attr)));
    tn_shape y = a->shape;
    if (y.rank == 0) {
        return tn_infer_fail(infer, "operand 0 is a scalar");
    }
    if (y.rank > 0) {
        int64_t *last = &y.dims[y.rank - 1];
        if (tn_dim_known(*last) && *last != attr->k) {
            return tn_infer_fail(infer, "the last dim of operand 0 is %lld, expected K = %lld", (long long)*last, (long long)attr->k);
        }
        *last = attr->n;
    }
    tn_infer_out(infer, 0, a->dtype, &y);
    return TN_OK;
}

static int64_t macs_nbits(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    int64_t macs;
    (void)in, (void)n_in, (void)n_out;
    return tn_mul_i64(tn_fact_count(out), ((const tn_nbits_attr *)attr)->k, &macs) ? macs : INT64_MAX;
}

// ---- reference ----

// Scratch of a slot: a row of a and a row of weights, both as double.
static tn_status prepare_nbits(tn_prepare *prepare)
{
    return tn_prepare_rows(prepare, 2 * ((const tn_nbits_attr *)prepare->query->attr)->k);
}

// Number i of a list packed in bytes.
static int packed(const uint8_t *bytes, int64_t i, int64_t bits)
{
    const int64_t each = 8 / bits;
    return bytes[i / each] >> (i % each * bits) & ((1 << bits) - 1);
}

static void unpack_row(const tn_call *call, int64_t row, double *weights)
{
    const tn_nbits_attr *attr = call->attr;
    const tn_tensor *zeros = tn_call_in(call, ZEROS), *groups = tn_call_in(call, GROUPS);
    const int64_t blocks = block_count(attr);
    const uint8_t *codes = (const uint8_t *)call->in[B]->data + row * blocks * block_bytes(attr);
    for (int64_t k = 0; k < attr->k; k++) {
        int64_t block = groups ? tn_load_i32(groups->data, (size_t)k) : k / attr->block_size;
        block = block < 0 || block >= blocks ? 0 : block;   // refused before (check_groups)
        double zero = (double)(1 << (attr->bits - 1));
        if (zeros) {
            zero = zeros->dtype == TN_U8 ? packed((const uint8_t *)zeros->data + row * zero_bytes(attr), block, attr->bits)
                                         : tn_element(zeros, row * blocks + block);
        }
        weights[k] = (packed(codes, k, attr->bits) - zero) * tn_element(call->in[SCALES], row * blocks + block);
    }
}

// Four sums, so that the adder's latency does not decide the speed.
static double dot(const double *a, const double *b, int64_t count)
{
    double sums[4] = {0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int j = 0; j < 4; j++) {
            sums[j] += a[i + j] * b[i + j];
        }
    }
    for (; i < count; i++) {
        sums[0] += a[i] * b[i];
    }
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

static void nbits_task(void *context, size_t first, size_t count, unsigned slot)
{
    const tn_call *call = context;
    const tn_nbits_attr *attr = call->attr;
    const tn_tensor *a = call->in[A], *y = call->out[0], *bias = tn_call_in(call, BIAS);
    const int64_t rows = tn_tensor_count(y) / attr->n;
    double *row = tn_slot_scratch(call, slot), *weights = row + attr->k;
    for (size_t n = first; n < first + count && !tn_cancelled(call); n++) {
        unpack_row(call, (int64_t)n, weights);
        for (int64_t m = 0; m < rows; m++) {
            tn_row_load(a->dtype, a->data, m * attr->k, 1, attr->k, row);
            const double sum = dot(row, weights, attr->k) + (bias ? tn_element(bias, (int64_t)n) : 0);
            tn_dtype_store(y->dtype, y->data, (size_t)(m * attr->n) + n, sum);
        }
    }
}

static tn_status check_groups(const tn_call *call)
{
    const tn_nbits_attr *attr = call->attr;
    const tn_tensor *groups = tn_call_in(call, GROUPS);
    for (int64_t k = 0; groups && k < attr->k; k++) {
        const int32_t block = tn_load_i32(groups->data, (size_t)k);
        if (block < 0 || block >= block_count(attr)) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "matmul_nbits: group %d of element %lld is out of range", block,
                           (long long)k);
        }
    }
    return TN_OK;
}

static tn_status run_nbits(const tn_call *call)
{
    const tn_nbits_attr *attr = call->attr;
    tn_call context = *call;
    TN_TRY(check_groups(call));
    return tn_call_split(call, nbits_task, &context, tn_tensor_count(call->out[0]) > 0 ? (size_t)attr->n : 0, 4);
}

// ---- export ----

const tn_op tn_op_matmul_nbits = {
    .name = "matmul_nbits", .version = 1, .min_in = 3, .max_in = 6, .min_out = 1, .max_out = 1, .attrs = attrs, .n_attrs = TN_COUNT(attrs),
    .attr_size = sizeof(tn_nbits_attr), .defaults = &defaults, .infer = infer_nbits, .macs = macs_nbits,
};

static const tn_op *const ops[] = {&tn_op_matmul_nbits};
TN_EXPORT_OPS(op_matmul_nbits, ops);

static const tn_kernel rows[] = {TN_REFERENCE_SCRATCH(matmul_nbits, prepare_nbits, run_nbits)};
TN_EXPORT_KERNELS(op_matmul_nbits, rows);
