// SPDX-License-Identifier: Apache-2.0
// Operators that find positions. Elements are compared by keys: unsigned numbers in the order of the values they stand for (floats by
// their bits, NaN last and equal to itself, both zeros equal), so that one comparison serves all types.
// Ownership: const data; work space is the call's scratch, or the heap where its size depends on contents. Threads: any.
#include "ops/index/op_find.h"

#include "base/num.h"
#include "ops/walk/lanes.h"
#include "ops/objects.h"
#include "ops/op_facts.h"
#include "ops/walk/walk.h"

#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const tn_attr top_k_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_top_k_attr, axis), NULL},
    {"largest", TN_ATTR_BOOL, offsetof(tn_top_k_attr, largest), NULL},
    {"sorted", TN_ATTR_BOOL, offsetof(tn_top_k_attr, sorted), NULL},
};
static const tn_top_k_attr top_k_defaults = {-1, true, true};

static const tn_attr unique_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_unique_attr, axis), NULL},
    {"has_axis", TN_ATTR_BOOL, offsetof(tn_unique_attr, has_axis), NULL},
    {"sorted", TN_ATTR_BOOL, offsetof(tn_unique_attr, sorted), NULL},
};
static const tn_unique_attr unique_defaults = {0, false, true};

static const tn_attr compress_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_compress_attr, axis), NULL},
    {"has_axis", TN_ATTR_BOOL, offsetof(tn_compress_attr, has_axis), NULL},
};

// ---- infer ----

// x [outer, length, inner], k: one element -> values and indices [outer, k, inner]. Both have k from the same operand.
static tn_status infer_top_k(tn_infer *infer)
{
    const tn_top_k_attr *attr = infer->attr;
    int64_t k = TN_DIM_UNKNOWN;
    bool known;
    int axis = 0;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_NUMBER));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_int(infer, 1, &k, &known));
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, shape.rank, &axis));
        if (known && (k < 0 || (tn_dim_known(shape.dims[axis]) && k > shape.dims[axis]))) {
            return tn_infer_fail(infer, "k is %lld, the axis has %lld elements", (long long)k, (long long)shape.dims[axis]);
        }
        shape.dims[axis] = known ? k : tn_fact_count(infer->in[1]) == 1 ? tn_fact_elem(infer->in[1], 0) : TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    tn_infer_out(infer, 1, TN_I64, &shape);
    return TN_OK;
}

// [rank, number of non-zeros]; a scalar has rank 0 here, unlike in numpy.
static tn_status infer_non_zero(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    const int rank = infer->in[0]->shape.rank;
    const tn_shape shape = {.rank = 2, .dims = {rank < 0 ? TN_DIM_UNKNOWN : rank, TN_DIM_UNKNOWN}};
    tn_infer_out(infer, 0, TN_I64, &shape);
    return TN_OK;
}

// x -> values, first positions, group of each item, counts. Only the length of the third is known before the run.
static tn_status infer_unique(tn_infer *infer)
{
    const tn_unique_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    const tn_shape list = {.rank = 1, .dims = {TN_DIM_UNKNOWN}};
    tn_shape shape = attr->has_axis ? infer->in[0]->shape : list, inverse = list;
    int axis = 0;
    if (attr->has_axis && shape.rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, shape.rank, &axis));
        inverse.dims[0] = shape.dims[axis];
        shape.dims[axis] = TN_DIM_UNKNOWN;
    } else if (!attr->has_axis) {
        const int64_t count = tn_fact_count(infer->in[0]);
        inverse.dims[0] = count >= 0 ? count : TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    tn_infer_out(infer, 1, TN_I64, &list);
    tn_infer_out(infer, 2, TN_I64, &inverse);
    tn_infer_out(infer, 3, TN_I64, &list);
    return TN_OK;
}

// x, condition [n] -> [kept] or x with `kept` along the axis. The condition may be shorter than the axis.
static tn_status infer_compress(tn_infer *infer)
{
    const tn_compress_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 1, TN_BIT(BOOL)));
    TN_TRY(tn_infer_rank(infer, 0, 1, TN_MAX_RANK));
    TN_TRY(tn_infer_rank(infer, 1, 1, 1));
    tn_shape shape = {.rank = 1, .dims = {TN_DIM_UNKNOWN}};
    int axis;
    if (attr->has_axis) {
        shape = infer->in[0]->shape;
        if (shape.rank >= 0) {
            TN_TRY(tn_infer_axis(infer, "axis", attr->axis, shape.rank, &axis));
            shape.dims[axis] = TN_DIM_UNKNOWN;
        }
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// ---- descriptors ----

const tn_op tn_op_top_k = {
    .name = "top_k", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 2, .attrs = top_k_attrs,
    .n_attrs = TN_COUNT(top_k_attrs), .attr_size = sizeof(tn_top_k_attr), .defaults = &top_k_defaults, .infer = infer_top_k,
    .shape_operands = 2,
};

const tn_op tn_op_non_zero = {
    .name = "non_zero", .version = 1, .flags = TN_OP_DYNAMIC, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .infer = infer_non_zero,
};

const tn_op tn_op_unique = {
    .name = "unique", .version = 1, .flags = TN_OP_DYNAMIC, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 4,
    .attrs = unique_attrs, .n_attrs = TN_COUNT(unique_attrs), .attr_size = sizeof(tn_unique_attr), .defaults = &unique_defaults,
    .infer = infer_unique,
};

const tn_op tn_op_compress = {
    .name = "compress", .version = 1, .flags = TN_OP_DYNAMIC, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1,
    .attrs = compress_attrs, .n_attrs = TN_COUNT(compress_attrs), .attr_size = sizeof(tn_compress_attr), .infer = infer_compress,
};

// ---- keys ----

#define TOP_BIT (UINT64_C(1) << 63)

// IEEE 754 bits order like sign and magnitude: turning the negative ones over makes that the order of unsigned numbers.
static uint64_t key_of_double(double v)
{
    uint64_t bits;
    if (v != v) {
        return UINT64_MAX;
    }
    v += 0.0;   // -0 becomes 0
    memcpy(&bits, &v, sizeof bits);
    return bits & TOP_BIT ? ~bits : bits | TOP_BIT;
}

// Keys of n <= TN_LANES elements at data[first + i * step].
static void load_keys(uint64_t *keys, tn_dtype dtype, const void *data, int64_t first, int64_t step, int n)
{
    const tn_lane lane = tn_dtype_is_float(dtype) ? TN_LANE_F64 : tn_lane_of(dtype);
    tn_lanes v;
    tn_lanes_load(&v, lane, dtype, data, first, step, n);
    for (int i = 0; i < n; i++) {
        keys[i] = lane == TN_LANE_F64 ? key_of_double(v.f64[i]) : lane == TN_LANE_I64 ? v.u64[i] ^ TOP_BIT : v.u64[i];
    }
}

// The type that keys are read as, and how many make an element: complex numbers are two.
static tn_dtype key_type(tn_dtype dtype, int *parts)
{
    *parts = dtype == TN_C64 || dtype == TN_C128 ? 2 : 1;
    return dtype == TN_C64 ? TN_F32 : dtype == TN_C128 ? TN_F64 : dtype;
}

// ---- reference: top_k ----

typedef struct item {
    uint64_t key;
    int64_t index;
} item;

// a comes before b: by key (already turned round for the smallest ones), then by index.
static bool before(const item *a, const item *b) { return a->key != b->key ? a->key > b->key : a->index < b->index; }

// Restores a heap whose root, the item that comes last, is at 0.
static void sift(item *heap, int64_t n, int64_t at)
{
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(&heap[child], &heap[child + 1])) {
            child++;
        }
        if (!before(&heap[at], &heap[child])) {
            return;
        }
        const item swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

// The best k of one column, in order, into `best`: a heap of k from which the worst is pushed out.
static void select_best(const tn_call *call, int64_t first, int64_t length, int64_t inner, int64_t k, item *best)
{
    const tn_tensor *x = call->in[0];
    const uint64_t turn = ((const tn_top_k_attr *)call->attr)->largest ? 0 : UINT64_MAX;
    uint64_t keys[TN_LANES];
    for (int64_t at = 0; at < length; at += TN_LANES) {
        const int n = (int)TN_MIN(length - at, TN_LANES);
        load_keys(keys, x->dtype, x->data, first + at * inner, inner, n);
        for (int i = 0; i < n; i++) {
            const item one = {keys[i] ^ turn, at + i};
            if (one.index < k) {
                best[one.index] = one;
                for (int64_t root = k / 2; one.index == k - 1 && root > 0; root--) {
                    sift(best, k, root - 1);
                }
            } else if (before(&one, &best[0])) {
                best[0] = one;
                sift(best, k, 0);
            }
        }
    }
    for (int64_t n = k - 1; n > 0; n--) {
        const item last = best[0];
        best[0] = best[n];
        best[n] = last;
        sift(best, n, 0);
    }
}

// x [outer, length, inner], k: one element -> values and int64 indices [outer, k, inner]
static tn_status run_top_k(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *values = call->out[0], *indices = call->n_out > 1 ? call->out[1] : NULL;
    const size_t size = tn_dtype_bytes(x->dtype);
    const tn_tensor *shaped = values ? values : indices;
    item *best = call->scratch;
    int axis;
    if (!tn_axis(((const tn_top_k_attr *)call->attr)->axis, x->shape.rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    if (!shaped || tn_tensor_count(shaped) == 0) {
        return TN_OK;
    }
    const int64_t k = shaped->shape.dims[axis], length = x->shape.dims[axis];
    const int64_t outer = tn_shape_span(&x->shape, 0, axis), inner = tn_shape_span(&x->shape, axis + 1, x->shape.rank);
    if (k > length) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "top_k: k is larger than the axis");
    }
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t c = 0; c < inner; c++) {
            const int64_t first = o * length * inner + c;
            if (tn_cancelled(call)) {
                return tn_fail_cancelled(call);
            }
            select_best(call, first, length, inner, k, best);
            for (int64_t i = 0; i < k; i++) {
                const size_t to = (size_t)((o * k + i) * inner + c), from = (size_t)(first + best[i].index * inner);
                if (values) {
                    memcpy((char *)values->data + to * size, (const char *)x->data + from * size, size);
                }
                if (indices) {
                    ((int64_t *)indices->data)[to] = best[i].index;
                }
            }
        }
    }
    return TN_OK;
}

// Scratch: the heap of the best k.
static tn_status prepare_top_k(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_tensor *y = query->out[0] ? query->out[0] : query->n_out > 1 ? query->out[1] : NULL;
    int axis;
    size_t bytes = 0;
    if (y && tn_tensor_count(y) > 0 && tn_axis(((const tn_top_k_attr *)query->attr)->axis, y->shape.rank, &axis) &&
        !tn_mul_size((size_t)y->shape.dims[axis], sizeof(item), &bytes)) {
        return tn_fail_memory(prepare->diag, query->name, SIZE_MAX);
    }
    prepare->scratch_bytes = bytes;
    return TN_OK;
}

// ---- reference: non_zero ----

// Calls for every element that is not zero, in order; `at` counts up to `count`. Two passes: one to count, one to write.
static int64_t visit_non_zero(const tn_tensor *x, int64_t *columns, int64_t found)
{
    const int64_t count = tn_tensor_count(x);
    const int rank = x->shape.rank;
    int parts;
    const tn_dtype dtype = key_type(x->dtype, &parts);
    int64_t index[TN_MAX_RANK] = {0}, at = 0;
    for (int64_t i = 0; i < count; i++) {
        bool set = dtype == TN_STRING && tn_cell(x, i)[0];   // an empty string is the zero of strings
        for (int p = 0; p < parts && dtype != TN_STRING; p++) {
            set |= tn_dtype_is_float(dtype) ? tn_dtype_load(dtype, x->data, (size_t)(i * parts + p)) != 0
                                            : tn_dtype_load_i64(dtype, x->data, (size_t)i) != 0;
        }
        for (int d = 0; d < rank && set && columns; d++) {
            columns[d * found + at] = index[d];
        }
        at += set;
        for (int d = rank - 1; d >= 0 && ++index[d] == x->shape.dims[d]; d--) {
            index[d] = 0;
        }
    }
    return at;
}

// x: any shape -> int64 [rank, found]
static tn_status run_non_zero(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    const int64_t found = visit_non_zero(x, NULL, 0);
    const tn_shape shape = {.rank = 2, .dims = {x->shape.rank, found}};
    TN_TRY(call->resize(call, 0, &shape));
    if (x->shape.rank > 0) {
        visit_non_zero(x, call->out[0]->data, found);
    }
    return TN_OK;
}

// ---- reference: unique ----

// x seen as [outer, count, inner]: item i is what the axis shows at i.
typedef struct items {
    const tn_call *call;
    int64_t outer, count, inner;
    int parts;                       // keys of an element
    uint64_t *keys;                  // [outer, count, inner, parts]; not used for strings
    int64_t *order, *spare;          // item numbers
    int64_t *group;                  // of each item: the group's number, in the order of the results
    int64_t *first, *counts;         // of each group
    int64_t groups;
} items;

// Strings by their bytes, which in UTF-8 is the order of code points.
static int compare_texts(const items *s, int64_t a, int64_t b)
{
    const tn_tensor *x = s->call->in[0];
    int order = 0;
    for (int64_t o = 0; o < s->outer && order == 0; o++) {
        for (int64_t i = 0; i < s->inner && order == 0; i++) {
            order = strcmp(tn_cell(x, (o * s->count + a) * s->inner + i), tn_cell(x, (o * s->count + b) * s->inner + i));
        }
    }
    return order;
}

// Lexicographic by rows of keys, outer index first, as numpy orders the slices of an axis.
static int compare(const items *s, int64_t a, int64_t b)
{
    const int64_t row = s->inner * s->parts;
    if (s->call->in[0]->dtype == TN_STRING) {
        return compare_texts(s, a, b);
    }
    for (int64_t o = 0; o < s->outer; o++) {
        const uint64_t *p = s->keys + (o * s->count + a) * row, *q = s->keys + (o * s->count + b) * row;
        for (int64_t i = 0; i < row; i++) {
            if (p[i] != q[i]) {
                return p[i] < q[i] ? -1 : 1;
            }
        }
    }
    return 0;
}

// Stable merge sort of item numbers, bottom up.
static void sort_items(items *s)
{
    for (int64_t width = 1; width < s->count; width *= 2) {
        for (int64_t low = 0; low < s->count; low += 2 * width) {
            const int64_t middle = TN_MIN(low + width, s->count), high = TN_MIN(low + 2 * width, s->count);
            int64_t a = low, b = middle;
            for (int64_t to = low; to < high; to++) {
                const bool left = b == high || (a < middle && compare(s, s->order[a], s->order[b]) <= 0);
                s->spare[to] = left ? s->order[a++] : s->order[b++];
            }
        }
        int64_t *swap = s->order;
        s->order = s->spare;
        s->spare = swap;
    }
}

// Numbers the groups of equal neighbours; unsorted results number them by first occurrence instead.
static void group_items(items *s, bool sorted)
{
    s->groups = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t item = s->order[i];
        if (i == 0 || compare(s, s->order[i - 1], item) != 0) {
            s->first[s->groups] = item;   // the sort is stable: the first one comes first
            s->counts[s->groups++] = 0;
        }
        s->counts[s->groups - 1]++;
        s->group[item] = s->groups - 1;
    }
    if (sorted) {
        return;
    }
    // spare: new number of each group, by walking the items in their own order
    int64_t next = 0;
    for (int64_t item = 0; item < s->count; item++) {
        if (s->first[s->group[item]] == item) {
            s->spare[s->group[item]] = next++;
        }
    }
    for (int64_t item = 0; item < s->count; item++) {
        s->group[item] = s->spare[s->group[item]];
    }
    memset(s->counts, 0, (size_t)s->groups * sizeof *s->counts);
    for (int64_t item = s->count - 1; item >= 0; item--) {
        s->first[s->group[item]] = item;
        s->counts[s->group[item]]++;
    }
}

// An optional int64 result [count].
static tn_status write_list(const items *s, int index, const int64_t *list, int64_t count)
{
    const tn_call *call = s->call;
    if (index >= call->n_out || !call->out[index]) {
        return TN_OK;
    }
    const tn_shape shape = tn_shape_of(1, &count);
    TN_TRY(call->resize(call, index, &shape));
    if (count > 0) {
        memcpy(call->out[index]->data, list, (size_t)count * sizeof *list);
    }
    return TN_OK;
}

// The first item of each group is the group's value.
static tn_status write_unique(const items *s, int axis)
{
    const tn_call *call = s->call;
    const tn_tensor *x = call->in[0];
    const size_t row = (size_t)s->inner * tn_dtype_bytes(x->dtype);
    tn_shape shape = x->shape;
    if (axis < 0) {
        shape = tn_shape_of(1, &s->groups);
    } else {
        shape.dims[axis] = s->groups;
    }
    if (call->out[0]) {
        TN_TRY(call->resize(call, 0, &shape));
    }
    for (int64_t o = 0; o < s->outer && call->out[0] && row > 0; o++) {
        for (int64_t g = 0; g < s->groups; g++) {
            memcpy((char *)call->out[0]->data + (size_t)(o * s->groups + g) * row,
                   (const char *)x->data + (size_t)(o * s->count + s->first[g]) * row, row);
        }
    }
    TN_TRY(write_list(s, 1, s->first, s->groups));
    TN_TRY(write_list(s, 2, s->group, s->count));
    return write_list(s, 3, s->counts, s->groups);
}

// Work space: keys of all elements, then five lists of one number per item.
static tn_status take_lists(items *s, void **block)
{
    const tn_tensor *x = s->call->in[0];
    const int64_t elements = tn_tensor_count(x);
    size_t keys, lists, bytes;
    if (!tn_mul_size((size_t)elements * (size_t)s->parts, sizeof(uint64_t), &keys) ||
        !tn_mul_size((size_t)s->count, 5 * sizeof(int64_t), &lists) || !tn_add_size(keys, lists, &bytes)) {
        return tn_fail_memory(s->call->diag, s->call->name, SIZE_MAX);
    }
    *block = tn_take(s->call->heap, bytes);
    if (!*block) {
        return tn_fail_memory(s->call->diag, s->call->name, bytes);
    }
    s->keys = *block;
    s->order = (int64_t *)(s->keys + elements * s->parts);
    s->spare = s->order + s->count;
    s->group = s->spare + s->count;
    s->first = s->group + s->count;
    s->counts = s->first + s->count;
    return TN_OK;
}

// x [outer, count, inner] -> values [outer, groups, inner], first [groups]?, group of each item [count]?, counts [groups]?
static tn_status run_unique(const tn_call *call)
{
    const tn_unique_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    items s = {.call = call, .outer = 1, .count = tn_tensor_count(x), .inner = 1};
    int axis = -1;
    if (attr->has_axis) {
        if (!tn_axis(attr->axis, x->shape.rank, &axis)) {
            return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
        }
        s.outer = tn_shape_span(&x->shape, 0, axis);
        s.count = x->shape.dims[axis];
        s.inner = tn_shape_span(&x->shape, axis + 1, x->shape.rank);
        if (tn_tensor_count(x) == 0) {
            s.outer = s.inner = 0;   // items of no elements are all equal
        }
    }
    const tn_dtype dtype = key_type(x->dtype, &s.parts);
    const int64_t elements = tn_tensor_count(x) * s.parts;
    void *block;
    TN_TRY(take_lists(&s, &block));
    for (int64_t at = 0; at < elements && dtype != TN_STRING; at += TN_LANES) {
        load_keys(s.keys + at, dtype, x->data, at, 1, (int)TN_MIN(elements - at, TN_LANES));
    }
    for (int64_t i = 0; i < s.count; i++) {
        s.order[i] = i;
    }
    sort_items(&s);
    group_items(&s, attr->sorted);
    const tn_status status = write_unique(&s, axis);
    tn_give(call->heap, block);
    return status;
}

// ---- reference: compress ----

// x [outer, length, inner], condition [n], n <= length -> the slices whose condition holds
static tn_status run_compress(const tn_call *call)
{
    const tn_compress_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    const uint8_t *keep = call->in[1]->data;
    const int64_t n = tn_tensor_count(call->in[1]);
    int64_t outer = 1, length = tn_tensor_count(x), inner = 1, kept = 0;
    int axis = 0;
    if (attr->has_axis) {
        if (!tn_axis(attr->axis, x->shape.rank, &axis)) {
            return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
        }
        outer = tn_shape_span(&x->shape, 0, axis);
        length = x->shape.dims[axis];
        inner = tn_shape_span(&x->shape, axis + 1, x->shape.rank);
    }
    for (int64_t i = 0; i < n; i++) {
        if (keep[i] && i >= length) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "compress: condition %lld holds, there are %lld elements",
                           (long long)i, (long long)length);
        }
        kept += keep[i] != 0;
    }
    tn_shape shape = attr->has_axis ? x->shape : tn_shape_of(1, &kept);
    shape.dims[axis] = kept;
    TN_TRY(call->resize(call, 0, &shape));
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    const size_t row = (size_t)inner * tn_dtype_bytes(x->dtype);
    char *to = call->out[0]->data;
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < n; i++) {
            if (keep[i]) {
                memcpy(to, (const char *)x->data + (size_t)(o * length + i) * row, row);
                to += row;
            }
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    {.name = "top_k_reference", .op = &tn_op_top_k, .impl = TN_IMPL_REFERENCE, .tag = "", .version = 1, .aligned_constants = true,
     .prepare = prepare_top_k, .run = run_top_k},
    TN_REFERENCE(non_zero, NULL, run_non_zero),
    TN_REFERENCE(unique, NULL, run_unique),
    TN_REFERENCE(compress, NULL, run_compress),
};

static const tn_op *const ops[] = {&tn_op_top_k, &tn_op_non_zero, &tn_op_unique, &tn_op_compress};

TN_EXPORT_OPS(op_find, ops);
TN_EXPORT_KERNELS(op_find, rows);
