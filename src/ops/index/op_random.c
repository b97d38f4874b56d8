// SPDX-License-Identifier: Apache-2.0
// Random draws by the Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998), seeded and read as numpy's RandomState does, so that a model
// with a seed gives numpy's numbers: 53 bits for a uniform draw, Marsaglia's polar method for a normal one. Draws are taken in the order
// of the elements. Without a seed the generator is seeded by a hash of the node's name.
// Ownership: const data. Threads: any.
#include "ops/index/op_random.h"

#include "base/map.h"
#include "base/num.h"
#include "ops/walk/lanes.h"
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

static const tn_attr dropout_attrs[] = {
    {"has_seed", TN_ATTR_BOOL, offsetof(tn_dropout_attr, has_seed), NULL},
    {"seed", TN_ATTR_INT, offsetof(tn_dropout_attr, seed), NULL},
};

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

// Every sample goes over the weights of all classes.
static int64_t macs_multinomial(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr;
    (void)n_in;
    (void)n_out;
    int64_t macs;
    return tn_mul_i64(TN_MAX(tn_fact_count(out), 0), in[0]->shape.dims[1], &macs) ? macs : INT64_MAX;
}

// x: any shape, ratio: one element?, training: one bool? -> y and mask of x's shape
static tn_status infer_dropout(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_FLOAT | TN_SET_F8));
    for (int i = 1; i < infer->n_in; i++) {
        if (infer->in[i]) {
            TN_TRY(tn_infer_type(infer, i, i == 1 ? TN_SET_FLOAT | TN_SET_F8 : TN_BIT(BOOL)));
            TN_TRY(tn_infer_scalar(infer, i));
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &infer->in[0]->shape);
    tn_infer_out(infer, 1, TN_BOOL, &infer->in[0]->shape);
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
    .defaults = &multinomial_defaults, .infer = infer_multinomial, .macs = macs_multinomial,
};

const tn_op tn_op_dropout = {
    .name = "dropout", .version = 1, .flags = TN_OP_RANDOM, .min_in = 1, .max_in = 3, .min_out = 1, .max_out = 2,
    .attrs = dropout_attrs, .n_attrs = TN_COUNT(dropout_attrs), .attr_size = sizeof(tn_dropout_attr), .infer = infer_dropout,
};

// ---- the generator ----

enum { WORDS = 624, SHIFT = 397 };

typedef struct twister {
    uint32_t word[WORDS];
    int next;                   // WORDS: all are used up
    bool has_spare;             // normal numbers come in pairs
    double spare;
} twister;

// numpy takes seeds of 0 .. 2^32-1; others, and no seed at all, are hashed to such a number.
static void seed_twister(twister *t, const tn_call *call, bool has_seed, double seed)
{
    uint64_t bits;
    memcpy(&bits, &seed, sizeof bits);
    uint32_t state = has_seed ? (uint32_t)tn_hash(&bits, sizeof bits, 0) : (uint32_t)tn_hash(call->name, strlen(call->name), 1);
    if (has_seed && seed >= 0 && seed < 0x1p32) {
        state = (uint32_t)seed;
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        t->word[i] = state;
        state = UINT32_C(1812433253) * (state ^ state >> 30) + i + 1;
    }
    t->next = WORDS;
    t->has_spare = false;
}

static void refill(twister *t)
{
    for (int i = 0; i < WORDS; i++) {
        const uint32_t y = (t->word[i] & UINT32_C(0x80000000)) | (t->word[(i + 1) % WORDS] & UINT32_C(0x7fffffff));
        t->word[i] = t->word[(i + SHIFT) % WORDS] ^ y >> 1 ^ (y & 1 ? UINT32_C(0x9908b0df) : 0);
    }
    t->next = 0;
}

static uint32_t next_word(twister *t)
{
    if (t->next == WORDS) {
        refill(t);
    }
    uint32_t y = t->word[t->next++];
    y ^= y >> 11;
    y ^= y << 7 & UINT32_C(0x9d2c5680);
    y ^= y << 15 & UINT32_C(0xefc60000);
    return y ^ y >> 18;
}

// Uniform in [0, 1): 27 bits of one word and 26 of the next.
static double uniform(twister *t)
{
    const double high = next_word(t) >> 5, low = next_word(t) >> 6;
    return (high * 0x1p26 + low) * 0x1p-53;
}

// A point in the unit disc gives two normal numbers; the second is drawn first.
static double normal(twister *t)
{
    double x, y, square;
    if (t->has_spare) {
        t->has_spare = false;
        return t->spare;
    }
    do {
        x = 2 * uniform(t) - 1;
        y = 2 * uniform(t) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = sqrt(-2 * log(square) / square);
    t->spare = factor * x;
    t->has_spare = true;
    return factor * y;
}

// ---- reference ----

static tn_status draw(const tn_call *call, double (*one)(const tn_call *call, twister *t, int64_t i))
{
    const tn_random_attr *attr = call->attr;
    const tn_tensor *y = call->out[0];
    const int64_t count = tn_tensor_count(y);
    twister t;
    seed_twister(&t, call, attr->has_seed, attr->seed);
    for (int64_t i = 0; i < count; i++) {
        if (i % TN_LANES == 0 && tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        tn_dtype_store(y->dtype, y->data, (size_t)i, one(call, &t, i));
    }
    return TN_OK;
}

static double one_normal(const tn_call *call, twister *t, int64_t i)
{
    const tn_random_attr *attr = call->attr;
    (void)i;
    return attr->a + attr->b * normal(t);
}

static double one_uniform(const tn_call *call, twister *t, int64_t i)
{
    const tn_random_attr *attr = call->attr;
    (void)i;
    return attr->a + (attr->b - attr->a) * uniform(t);
}

static double one_bernoulli(const tn_call *call, twister *t, int64_t i)
{
    return uniform(t) < tn_dtype_load(call->in[0]->dtype, call->in[0]->data, (size_t)i);
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
    const int64_t count = tn_tensor_count(y), samples = y->shape.dims[1];
    twister t;
    seed_twister(&t, call, attr->has_seed, attr->seed);
    for (int64_t i = 0; i < count; i++) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        tn_dtype_store_i64(y->dtype, y->data, (size_t)i, choose(x, i / samples, x->shape.dims[1], uniform(&t)));
    }
    return TN_OK;
}

// x: any shape, ratio and training: one element each -> y and a mask of the same shape. Kept elements grow by 1 / (1 - ratio).
static tn_status run_dropout(const tn_call *call)
{
    const tn_dropout_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *y = call->out[0], *mask = call->n_out > 1 ? call->out[1] : NULL;
    const tn_tensor *given = call->n_in > 1 ? call->in[1] : NULL, *training = call->n_in > 2 ? call->in[2] : NULL;
    const double ratio = given ? tn_dtype_load(given->dtype, given->data, 0) : 0.5;
    const bool drops = training && *(const uint8_t *)training->data && ratio != 0;
    const int64_t count = tn_tensor_count(x);
    twister t;
    if (drops && !(ratio > 0 && ratio < 1)) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "dropout: the ratio is %g, expected 0 to 1, without 1", ratio);
    }
    seed_twister(&t, call, attr->has_seed, (double)attr->seed);
    for (int64_t i = 0; i < count; i++) {
        if (i % TN_LANES == 0 && tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        const bool kept = !drops || uniform(&t) >= ratio;
        if (mask) {
            ((uint8_t *)mask->data)[i] = kept;
        }
        if (y) {
            const double v = tn_dtype_load(x->dtype, x->data, (size_t)i);
            tn_dtype_store(y->dtype, y->data, (size_t)i, kept ? (drops ? v / (1 - ratio) : v) : v * 0);
        }
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
    TN_REFERENCE(dropout, NULL, run_dropout),
};

static const tn_op *const ops[] = {
    &tn_op_random_normal, &tn_op_random_uniform, &tn_op_random_normal_like, &tn_op_random_uniform_like, &tn_op_bernoulli,
    &tn_op_multinomial, &tn_op_dropout,
};

TN_EXPORT_OPS(op_random, ops);
TN_EXPORT_KERNELS(op_random, rows);
