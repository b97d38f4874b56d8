// SPDX-License-Identifier: Apache-2.0
// Random draws by Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): a bijection of a 128-bit counter
// under a 64-bit key. Counter = index of the element, key = the seed's bits or a hash of the node's name.
// Ownership: const data. Threads: any.
#include "ops/index/op_random.h"

#include "base/map.h"
#include "ops/lanes.h"
#include "ops/op_facts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const tn_attr random_attrs[] = {
    {"dtype", TN_ATTR_DTYPE, offsetof(tn_random_attr, dtype), NULL},
    {"shape", TN_ATTR_INTS, offsetof(tn_random_attr, shape), NULL},
    {"a", TN_ATTR_REAL, offsetof(tn_random_attr, a), NULL},
    {"b", TN_ATTR_REAL, offsetof(tn_random_attr, b), NULL},
    {"has_seed", TN_ATTR_BOOL, offsetof(tn_random_attr, has_seed), NULL},
    {"seed", TN_ATTR_REAL, offsetof(tn_random_attr, seed), NULL},
};
static const tn_random_attr random_defaults = {.dtype = TN_NONE, .a = 0, .b = 1};

static const tn_attr multinomial_attrs[] = {
    {"dtype", TN_ATTR_DTYPE, offsetof(tn_multinomial_attr, dtype), NULL},
    {"sample_size", TN_ATTR_INT, offsetof(tn_multinomial_attr, sample_size), NULL},
    {"has_seed", TN_ATTR_BOOL, offsetof(tn_multinomial_attr, has_seed), NULL},
    {"seed", TN_ATTR_REAL, offsetof(tn_multinomial_attr, seed), NULL},
};
static const tn_multinomial_attr multinomial_defaults = {.dtype = TN_I32, .sample_size = 1};

// ---- infer ----

// A dtype from an attribute may be any number: it is compared before it becomes a bit.
static tn_status check_dtype(const tn_infer *infer, tn_dtype dtype, uint32_t set)
{
    if ((unsigned)dtype >= TN_DTYPE_COUNT || (dtype != TN_NONE && !(set >> dtype & 1))) {
        return tn_infer_fail(infer, "cannot draw elements of type %d (%s)", (int)dtype, tn_dtype_text(dtype));
    }
    return TN_OK;
}

// The shape is an attribute.
static tn_status infer_drawn(tn_infer *infer)
{
    const tn_random_attr *attr = infer->attr;
    const tn_dtype dtype = attr->dtype == TN_NONE ? TN_F32 : attr->dtype;
    TN_TRY(check_dtype(infer, dtype, TN_SET_FLOAT));
    if (attr->shape.count < 0 || attr->shape.count > TN_MAX_RANK) {
        return tn_infer_fail(infer, "shape has %d dims, at most %d are supported", attr->shape.count, TN_MAX_RANK);
    }
    const tn_shape shape = tn_shape_of(attr->shape.count, attr->shape.v);
    for (int d = 0; d < shape.rank; d++) {
        if (shape.dims[d] < 0) {
            return tn_infer_fail(infer, "dim %d of shape is %lld", d, (long long)shape.dims[d]);
        }
    }
    tn_infer_out(infer, 0, dtype, &shape);
    return TN_OK;
}

// The shape, and the type where none is given, are those of operand 0.
static tn_status infer_like(tn_infer *infer, uint32_t from, uint32_t to)
{
    const tn_random_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, from));
    const tn_dtype dtype = attr->dtype == TN_NONE ? infer->in[0]->dtype : attr->dtype;
    TN_TRY(check_dtype(infer, dtype, to));
    tn_infer_out(infer, 0, dtype, &infer->in[0]->shape);
    return TN_OK;
}

static tn_status infer_drawn_like(tn_infer *infer) { return infer_like(infer, TN_SET_ANY, TN_SET_FLOAT); }
static tn_status infer_bernoulli(tn_infer *infer) { return infer_like(infer, TN_SET_FLOAT, TN_SET_NUMBER | TN_BIT(BOOL)); }

// x [batch, classes] -> [batch, samples]
static tn_status infer_multinomial(tn_infer *infer)
{
    const tn_multinomial_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_FLOAT));
    TN_TRY(tn_infer_rank(infer, 0, 2, 2));
    TN_TRY(check_dtype(infer, attr->dtype, TN_SET_INDEX));
    const tn_shape *x = &infer->in[0]->shape;
    if (attr->sample_size < 0 || attr->dtype == TN_NONE) {
        return tn_infer_fail(infer, "sample_size is %lld", (long long)attr->sample_size);
    }
    if (x->rank == 2 && x->dims[1] == 0) {
        return tn_infer_fail(infer, "there are no classes to draw from");
    }
    const tn_shape shape = {.rank = 2, .dims = {x->rank == 2 ? x->dims[0] : TN_DIM_UNKNOWN, attr->sample_size}};
    tn_infer_out(infer, 0, attr->dtype, &shape);
    return TN_OK;
}

// ---- descriptors ----

#define RANDOM(NAME, OPERANDS, FLAGS, INFER)                                                                            \
    const tn_op tn_op_##NAME = {                                                                                        \
        .name = #NAME, .version = 1, .flags = TN_OP_RANDOM | (FLAGS), .min_in = OPERANDS, .max_in = OPERANDS,           \
        .min_out = 1, .max_out = 1, .attrs = random_attrs, .n_attrs = TN_COUNT(random_attrs),                           \
        .attr_size = sizeof(tn_random_attr), .defaults = &random_defaults, .infer = INFER                               \
    }

RANDOM(random_normal, 0, 0, infer_drawn);
RANDOM(random_uniform, 0, 0, infer_drawn);
RANDOM(random_normal_like, 1, TN_OP_SHAPE_ONLY, infer_drawn_like);
RANDOM(random_uniform_like, 1, TN_OP_SHAPE_ONLY, infer_drawn_like);
RANDOM(bernoulli, 1, 0, infer_bernoulli);

const tn_op tn_op_multinomial = {
    .name = "multinomial", .version = 1, .flags = TN_OP_RANDOM, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .attrs = multinomial_attrs, .n_attrs = TN_COUNT(multinomial_attrs), .attr_size = sizeof(tn_multinomial_attr),
    .defaults = &multinomial_defaults, .infer = infer_multinomial,
};

// ---- the generator ----

// Ten rounds of two 32 by 32 bit products, the halves crossed over and mixed with the key, which steps by Weyl constants.
static void philox(uint32_t out[4], uint64_t index, uint64_t key)
{
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32), c2 = 0, c3 = 0;
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++, k0 += UINT32_C(0x9E3779B9), k1 += UINT32_C(0xBB67AE85)) {
        const uint64_t p0 = UINT64_C(0xD2511F53) * c0, p1 = UINT64_C(0xCD9E8D57) * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

// Seeds that differ in one bit must give unrelated keys, hence the hash.
static uint64_t key_of(const tn_call *call, bool has_seed, double seed)
{
    uint64_t bits;
    memcpy(&bits, &seed, sizeof bits);
    return has_seed ? tn_hash(&bits, sizeof bits, 0) : tn_hash(call->name, strlen(call->name), 1);
}

// Uniform in [0, 1), 53 bits.
static double unit(uint32_t high, uint32_t low) { return (double)(((uint64_t)high << 32 | low) >> 11) * 0x1p-53; }

// Draw i of the stream with this key.
static double uniform(uint64_t key, int64_t i)
{
    uint32_t r[4];
    philox(r, (uint64_t)i, key);
    return unit(r[0], r[1]);
}

// Box and Muller's transform of two uniform numbers.
static double normal(uint64_t key, int64_t i)
{
    uint32_t r[4];
    philox(r, (uint64_t)i, key);
    return sqrt(-2 * log(1 - unit(r[0], r[1]))) * cos(6.28318530717958647693 * unit(r[2], r[3]));
}

// ---- reference ----

// Element i of the result is draw i: nothing depends on the order of work.
static tn_status draw(const tn_call *call, double (*one)(const tn_call *call, uint64_t key, int64_t i))
{
    const tn_random_attr *attr = call->attr;
    const tn_tensor *y = call->out[0];
    const uint64_t key = key_of(call, attr->has_seed, attr->seed);
    const int64_t count = tn_tensor_count(y);
    for (int64_t i = 0; i < count; i++) {
        if (i % TN_LANES == 0 && tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        tn_dtype_store(y->dtype, y->data, (size_t)i, one(call, key, i));
    }
    return TN_OK;
}

static double one_normal(const tn_call *call, uint64_t key, int64_t i)
{
    const tn_random_attr *attr = call->attr;
    return attr->a + attr->b * normal(key, i);
}

static double one_uniform(const tn_call *call, uint64_t key, int64_t i)
{
    const tn_random_attr *attr = call->attr;
    return attr->a + (attr->b - attr->a) * uniform(key, i);
}

static double one_bernoulli(const tn_call *call, uint64_t key, int64_t i)
{
    return uniform(key, i) < tn_dtype_load(call->in[0]->dtype, call->in[0]->data, (size_t)i);
}

static tn_status run_normal(const tn_call *call) { return draw(call, one_normal); }
static tn_status run_uniform(const tn_call *call) { return draw(call, one_uniform); }
static tn_status run_bernoulli(const tn_call *call) { return draw(call, one_bernoulli); }

// One draw: the class whose part of the row's total weight the point falls into.
static int64_t choose(const tn_tensor *x, int64_t row, int64_t classes, double point)
{
    double largest = -INFINITY, total = 0, sum = 0;
    for (int64_t c = 0; c < classes; c++) {
        largest = fmax(largest, tn_dtype_load(x->dtype, x->data, (size_t)(row * classes + c)));
    }
    for (int64_t c = 0; c < classes; c++) {
        total += exp(tn_dtype_load(x->dtype, x->data, (size_t)(row * classes + c)) - largest);
    }
    for (int64_t c = 0; c < classes - 1; c++) {
        sum += exp(tn_dtype_load(x->dtype, x->data, (size_t)(row * classes + c)) - largest);
        if (point * total < sum) {
            return c;
        }
    }
    return classes - 1;
}

// x [batch, classes] -> [batch, samples]
static tn_status run_multinomial(const tn_call *call)
{
    const tn_multinomial_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *y = call->out[0];
    const uint64_t key = key_of(call, attr->has_seed, attr->seed);
    const int64_t count = tn_tensor_count(y), samples = y->shape.dims[1];
    for (int64_t i = 0; i < count; i++) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        tn_dtype_store_i64(y->dtype, y->data, (size_t)i, choose(x, i / samples, x->shape.dims[1], uniform(key, i)));
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(random_normal, NULL, run_normal),
    TN_REFERENCE(random_uniform, NULL, run_uniform),
    TN_REFERENCE(random_normal_like, NULL, run_normal),
    TN_REFERENCE(random_uniform_like, NULL, run_uniform),
    TN_REFERENCE(bernoulli, NULL, run_bernoulli),
    TN_REFERENCE(multinomial, NULL, run_multinomial),
};

static const tn_op *const ops[] = {
    &tn_op_random_normal, &tn_op_random_uniform, &tn_op_random_normal_like, &tn_op_random_uniform_like, &tn_op_bernoulli,
    &tn_op_multinomial,
};

TN_EXPORT_OPS(op_random, ops);
TN_EXPORT_KERNELS(op_random, rows);
