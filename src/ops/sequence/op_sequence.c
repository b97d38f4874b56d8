// SPDX-License-Identifier: Apache-2.0
// Sequences. They never change once made; a loop that appends an item in every turn still does not copy the list each time, because
// the array behind it has room that the first one to append to it may take:
//
//   array    | a | b | c |   |      used 3 of 4
//   s        count 3                append d: takes the room, both share the array
//   t        count 2 (s erased)     append e: used is 3, not 2, so t gets an array of its own
//
// Ownership: lists and items live in the run's arena. Threads: any.
#include "ops/sequence/op_sequence.h"

#include "base/num.h"
#include "ops/objects.h"
#include "ops/op_facts.h"

#include <stddef.h>
#include <string.h>

struct tn_sequence_room { int64_t used, capacity; };

// ---- attributes ----

static const tn_attr empty_attrs[] = {{"dtype", TN_ATTR_DTYPE, offsetof(tn_sequence_empty_attr, dtype), NULL}};
static const tn_attr split_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_sequence_split_attr, axis), NULL},
    {"keepdims", TN_ATTR_BOOL, offsetof(tn_sequence_split_attr, keepdims), NULL},
};
static const tn_attr concat_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_sequence_concat_attr, axis), NULL},
    {"new_axis", TN_ATTR_BOOL, offsetof(tn_sequence_concat_attr, new_axis), NULL},
};
static const tn_sequence_empty_attr empty_defaults = {TN_F32};
static const tn_sequence_split_attr split_defaults = {0, true};

// ---- infer ----

static void out_sequence(const tn_infer *infer, tn_dtype dtype)
{
    infer->out[0].kind = TN_KIND_SEQUENCE;
    infer->out[0].dtype = dtype;
    infer->out[0].shape = tn_shape_unknown();
}

static tn_status check_sequence(const tn_infer *infer, int i)
{
    const tn_fact *fact = tn_infer_in(infer, i);
    if (!fact || fact->kind != TN_KIND_SEQUENCE) {
        return tn_infer_fail(infer, "operand %d is %s, expected a sequence", i,
                             !fact ? "missing" : fact->kind == TN_KIND_TENSOR ? "a tensor" : "an optional");
    }
    return TN_OK;
}

static tn_status check_position(const tn_infer *infer, int i)
{
    if (!tn_infer_in(infer, i)) {
        return TN_OK;
    }
    TN_TRY(tn_infer_type(infer, i, TN_SET_INDEX));
    return tn_infer_scalar(infer, i);
}

static tn_status infer_sequence_construct(tn_infer *infer)
{
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, infer->n_in - 1, TN_SET_ANY, &dtype));
    out_sequence(infer, dtype);
    return TN_OK;
}

static tn_status infer_sequence_empty(tn_infer *infer)
{
    const tn_sequence_empty_attr *attr = infer->attr;
    if (attr->dtype <= TN_NONE || attr->dtype >= TN_DTYPE_COUNT) {
        return tn_infer_fail(infer, "attribute dtype is %d, which is no type", (int)attr->dtype);
    }
    out_sequence(infer, attr->dtype);
    return TN_OK;
}

static tn_status infer_sequence_at(tn_infer *infer)
{
    const tn_shape unknown = tn_shape_unknown();
    TN_TRY(check_sequence(infer, 0));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(check_position(infer, 1));
    tn_infer_out(infer, 0, infer->in[0]->dtype, &unknown);
    return TN_OK;
}

static tn_status infer_sequence_erase(tn_infer *infer)
{
    TN_TRY(check_sequence(infer, 0));
    TN_TRY(check_position(infer, 1));
    out_sequence(infer, infer->in[0]->dtype);
    return TN_OK;
}

static tn_status infer_sequence_insert(tn_infer *infer)
{
    TN_TRY(check_sequence(infer, 0));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_ANY));
    TN_TRY(check_position(infer, 2));
    const tn_dtype have = infer->in[0]->dtype, more = infer->in[1]->dtype;
    if (have != TN_NONE && more != TN_NONE && have != more) {
        return tn_infer_fail(infer, "the item is %s, those of the sequence are %s", tn_dtype_text(more), tn_dtype_text(have));
    }
    out_sequence(infer, have != TN_NONE ? have : more);
    return TN_OK;
}

static tn_status infer_sequence_length(tn_infer *infer)
{
    const tn_shape scalar = tn_shape_of(0, NULL);
    TN_TRY(check_sequence(infer, 0));
    tn_infer_out(infer, 0, TN_I64, &scalar);
    return TN_OK;
}

static tn_status infer_split_to_sequence(tn_infer *infer)
{
    const tn_sequence_split_attr *attr = infer->attr;
    int axis;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY));
    if (tn_infer_in(infer, 1)) {
        TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
        TN_TRY(tn_infer_rank(infer, 1, 0, 1));
    }
    if (infer->in[0]->shape.rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", attr->axis, infer->in[0]->shape.rank, &axis));
    }
    out_sequence(infer, infer->in[0]->dtype);
    return TN_OK;
}

static tn_status infer_concat_from_sequence(tn_infer *infer)
{
    const tn_shape unknown = tn_shape_unknown();
    TN_TRY(check_sequence(infer, 0));
    tn_infer_out(infer, 0, infer->in[0]->dtype, &unknown);
    return TN_OK;
}

// ---- descriptors ----

#define OP(NAME, FLAGS, MIN, MAX, ...)                                                                          \
    const tn_op tn_op_##NAME = {.name = #NAME, .version = 1, .flags = FLAGS, .min_in = MIN, .max_in = MAX,      \
                                .min_out = 1, .max_out = 1, .infer = infer_##NAME, __VA_ARGS__}
#define ATTRS(LIST, TYPE, DEFAULTS) .attrs = LIST, .n_attrs = TN_COUNT(LIST), .attr_size = sizeof(TYPE), .defaults = DEFAULTS

OP(sequence_construct, 0, 1, -1, .attrs = NULL);
OP(sequence_empty, 0, 0, 0, ATTRS(empty_attrs, tn_sequence_empty_attr, &empty_defaults));
OP(sequence_at, TN_OP_DYNAMIC, 2, 2, .attrs = NULL);
OP(sequence_erase, 0, 1, 2, .attrs = NULL);
OP(sequence_insert, 0, 2, 3, .attrs = NULL);
OP(sequence_length, 0, 1, 1, .attrs = NULL);
OP(split_to_sequence, 0, 1, 2, ATTRS(split_attrs, tn_sequence_split_attr, &split_defaults));
OP(concat_from_sequence, TN_OP_DYNAMIC, 1, 1, ATTRS(concat_attrs, tn_sequence_concat_attr, NULL));

// ---- making lists ----

// A list of `count` items that are still to be filled in, with room for some more.
static tn_status take_list(const tn_call *call, int64_t count, int64_t spare, tn_sequence **sequence, tn_tensor **items)
{
    int64_t capacity;
    size_t bytes;
    void *room;
    if (!tn_add_i64(count, spare, &capacity) || !tn_mul_size((size_t)capacity, sizeof **items, &bytes)) {
        return tn_fail_memory(call->diag, call->name, SIZE_MAX);
    }
    TN_TRY(tn_object_take(call, sizeof **sequence, &room));
    *sequence = room;
    TN_TRY(tn_object_take(call, sizeof *(*sequence)->room, &room));
    (*sequence)->room = room;
    *(*sequence)->room = (struct tn_sequence_room){count, capacity};
    TN_TRY(tn_object_take(call, bytes, &room));
    *items = room;
    (*sequence)->items = *items;
    (*sequence)->count = count;
    return TN_OK;
}

static void give(const tn_call *call, const tn_sequence *sequence, tn_dtype dtype)
{
    tn_tensor *out = call->out[0];
    out->kind = TN_KIND_SEQUENCE;
    out->dtype = dtype;
    out->data = (void *)sequence;
}

static const tn_sequence *list_of(const tn_call *call)
{
    static const tn_sequence nothing = {0, NULL, NULL};
    return call->in[0]->data ? call->in[0]->data : &nothing;
}

// The position that operand i tells, 0 .. most; `fallback` when it is not there.
static tn_status read_position(const tn_call *call, int i, int64_t most, int64_t fallback, int64_t *out)
{
    const int64_t count = list_of(call)->count;
    *out = fallback;
    if (i < call->n_in && call->in[i]) {
        const int64_t given = tn_dtype_load_i64(call->in[i]->dtype, call->in[i]->data, 0);
        if (given < -count || given > most) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: position %lld, the sequence has %lld items", call->op->name,
                           (long long)given, (long long)count);
        }
        *out = given < 0 ? given + count : given;
    }
    if (*out < 0) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: the sequence is empty", call->op->name);
    }
    return TN_OK;
}

// ---- reference ----

// x...: tensors of any shapes
static tn_status run_sequence_construct(const tn_call *call)
{
    tn_sequence *sequence;
    tn_tensor *items;
    TN_TRY(take_list(call, call->n_in, 0, &sequence, &items));
    for (int i = 0; i < call->n_in; i++) {
        TN_TRY(tn_object_copy(call, call->in[i], &items[i]));
    }
    give(call, sequence, call->in[0]->dtype);
    return TN_OK;
}

static tn_status run_sequence_empty(const tn_call *call)
{
    tn_sequence *sequence;
    tn_tensor *items;
    TN_TRY(take_list(call, 0, 0, &sequence, &items));
    give(call, sequence, ((const tn_sequence_empty_attr *)call->attr)->dtype);
    return TN_OK;
}

// s, position: one element -> the item
static tn_status run_sequence_at(const tn_call *call)
{
    const tn_sequence *s = list_of(call);
    int64_t at;
    TN_TRY(read_position(call, 1, s->count - 1, -1, &at));
    return tn_object_give(call, 0, &s->items[at]);
}

// The last item goes by a shorter view of the same array.
static tn_status run_sequence_erase(const tn_call *call)
{
    const tn_sequence *s = list_of(call);
    tn_sequence *made;
    tn_tensor *items;
    void *view;
    int64_t at;
    TN_TRY(read_position(call, 1, s->count - 1, s->count - 1, &at));
    if (at == s->count - 1) {
        TN_TRY(tn_object_take(call, sizeof *made, &view));
        made = view;
        *made = (tn_sequence){.count = s->count - 1, .items = s->items, .room = s->room};
        give(call, made, call->in[0]->dtype);
        return TN_OK;
    }
    TN_TRY(take_list(call, s->count - 1, 0, &made, &items));
    if (at > 0) {
        memcpy(items, s->items, (size_t)at * sizeof *items);
    }
    memcpy(items + at, s->items + at + 1, (size_t)(s->count - 1 - at) * sizeof *items);
    give(call, made, call->in[0]->dtype);
    return TN_OK;
}

// The list with x behind its last item, in the room of its array when that is free.
static tn_status append(const tn_call *call, const tn_sequence *s, const tn_tensor *x)
{
    tn_sequence *made;
    tn_tensor *items;
    if (s->room && s->room->used == s->count && s->room->used < s->room->capacity) {
        void *view;
        TN_TRY(tn_object_take(call, sizeof *made, &view));
        made = view;
        *made = *s;
        items = (tn_tensor *)(void *)s->items;     // an array of take_list: beyond `used` nobody reads it
        made->count = ++s->room->used;
    } else {
        TN_TRY(take_list(call, s->count + 1, s->count + 3, &made, &items));
        if (s->count > 0) {
            memcpy(items, s->items, (size_t)s->count * sizeof *items);
        }
    }
    items[s->count] = *x;
    give(call, made, x->dtype);
    return TN_OK;
}

// s, x: any shape, position: one element?
static tn_status run_sequence_insert(const tn_call *call)
{
    const tn_sequence *s = list_of(call);
    tn_sequence *made;
    tn_tensor *items, x;
    int64_t at;
    if (call->in[1]->dtype != call->in[0]->dtype && call->in[0]->dtype != TN_NONE) {
        return tn_fail(call->diag, TN_INVALID_MODEL, call->name, "sequence_insert: the item is %s, those of the sequence are %s",
                       tn_dtype_text(call->in[1]->dtype), tn_dtype_text(call->in[0]->dtype));
    }
    TN_TRY(read_position(call, 2, s->count, s->count, &at));
    TN_TRY(tn_object_copy(call, call->in[1], &x));
    if (at == s->count) {
        return append(call, s, &x);
    }
    TN_TRY(take_list(call, s->count + 1, 0, &made, &items));
    if (at > 0) {
        memcpy(items, s->items, (size_t)at * sizeof *items);
    }
    items[at] = x;
    memcpy(items + at + 1, s->items + at, (size_t)(s->count - at) * sizeof *items);
    give(call, made, x.dtype);
    return TN_OK;
}

static tn_status run_sequence_length(const tn_call *call)
{
    *(int64_t *)call->out[0]->data = list_of(call)->count;
    return TN_OK;
}

// ---- reference: split ----

// How x is cut along its axis: `count` parts, part i of length size (the last one shorter) or, with a list, of its own length.
typedef struct cut {
    int64_t count, size;
    const tn_tensor *sizes;
} cut;

static int64_t cut_length(const cut *c, int64_t i, int64_t left)
{
    return c->sizes ? tn_dtype_load_i64(c->sizes->dtype, c->sizes->data, (size_t)i) : TN_MIN(c->size, left);
}

static tn_status find_cut(const tn_call *call, int64_t length, cut *c)
{
    const tn_tensor *split = call->n_in > 1 ? call->in[1] : NULL;
    int64_t sum = 0;
    *c = (cut){.count = length, .size = 1};
    if (split && split->shape.rank == 0) {
        c->size = tn_dtype_load_i64(split->dtype, split->data, 0);
        if (c->size < 1) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "split_to_sequence: parts of %lld elements", (long long)c->size);
        }
        c->count = length / c->size + (length % c->size != 0);
    } else if (split) {
        c->count = split->shape.dims[0];
        c->sizes = split;
        for (int64_t i = 0; i < c->count; i++) {
            const int64_t size = cut_length(c, i, 0);
            if (size < 0 || !tn_add_i64(sum, size, &sum)) {
                sum = -1;
                break;
            }
        }
        if (sum != length) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name,
                           "split_to_sequence: the lengths of the parts do not sum up to the %lld elements of the axis", (long long)length);
        }
    }
    return TN_OK;
}

// Copies `length` slices from `from` on of x [outer, dims[axis], inner] to a tensor of its own.
static tn_status copy_part(const tn_call *call, int axis, int64_t from, int64_t length, tn_tensor *part)
{
    const tn_tensor *x = call->in[0];
    size_t bytes;
    *part = (tn_tensor){.dtype = x->dtype, .shape = x->shape};
    part->shape.dims[axis] = length;
    if (!tn_tensor_bytes(part, &bytes)) {
        return tn_fail_memory(call->diag, call->name, SIZE_MAX);
    }
    TN_TRY(tn_object_take(call, bytes, &part->data));
    if (bytes == 0) {
        return TN_OK;
    }
    const size_t inner = (size_t)tn_shape_span(&x->shape, axis + 1, x->shape.rank) * tn_dtype_bytes(x->dtype);
    const size_t outer = (size_t)tn_shape_span(&x->shape, 0, axis), run = (size_t)length * inner;
    for (size_t o = 0; o < outer; o++) {
        memcpy((char *)part->data + o * run, (const char *)x->data + (o * (size_t)x->shape.dims[axis] + (size_t)from) * inner, run);
    }
    return TN_OK;
}

// x [outer, length, inner], split: one size or a list? -> parts [outer, part, inner]; [outer, inner] without split and keepdims
static tn_status run_split_to_sequence(const tn_call *call)
{
    const tn_sequence_split_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    const bool squeeze = !attr->keepdims && !(call->n_in > 1 && call->in[1]);
    tn_sequence *made;
    tn_tensor *items;
    int axis;
    cut c;
    if (!tn_axis(attr->axis, x->shape.rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    TN_TRY(find_cut(call, x->shape.dims[axis], &c));
    TN_TRY(take_list(call, c.count, 0, &made, &items));
    for (int64_t i = 0, from = 0; i < c.count; i++) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        const int64_t length = cut_length(&c, i, x->shape.dims[axis] - from);
        TN_TRY(copy_part(call, axis, from, length, &items[i]));
        if (squeeze) {
            tn_shape *shape = &items[i].shape;
            memmove(shape->dims + axis, shape->dims + axis + 1, (size_t)(shape->rank - 1 - axis) * sizeof shape->dims[0]);
            shape->dims[--shape->rank] = 0;
        }
        from += length;
    }
    give(call, made, x->dtype);
    return TN_OK;
}

// ---- reference: concat ----

// The shape of all items together; *axis is where they are joined. Items without a dim of their own there count as one slice.
static tn_status joined_shape(const tn_call *call, const tn_sequence *s, tn_shape *shape, int *axis)
{
    const tn_sequence_concat_attr *attr = call->attr;
    *shape = s->items[0].shape;
    if (shape->rank + attr->new_axis > TN_MAX_RANK || !tn_axis(attr->axis, shape->rank + attr->new_axis, axis)) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "concat_from_sequence: axis %lld is out of range for items of rank %d",
                       (long long)attr->axis, shape->rank);
    }
    int64_t length = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const tn_shape *item = &s->items[i].shape;
        bool fits = item->rank == s->items[0].shape.rank;
        for (int d = 0; d < item->rank && fits; d++) {
            fits = item->dims[d] == s->items[0].shape.dims[d] || (d == *axis && !attr->new_axis);
        }
        if (!fits || !tn_add_i64(length, attr->new_axis ? 1 : item->dims[*axis], &length)) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "concat_from_sequence: item %lld does not fit the first one",
                           (long long)i);
        }
    }
    if (attr->new_axis) {
        memmove(shape->dims + *axis + 1, shape->dims + *axis, (size_t)(shape->rank - *axis) * sizeof shape->dims[0]);
        shape->rank++;
    }
    shape->dims[*axis] = length;
    return TN_OK;
}

// items [outer, n_i, inner] (new_axis: [outer, inner]) -> [outer, sum of n_i, inner]
static tn_status run_concat_from_sequence(const tn_call *call)
{
    const tn_sequence *s = list_of(call);
    const bool fresh = ((const tn_sequence_concat_attr *)call->attr)->new_axis;
    tn_shape shape;
    int axis;
    if (s->count == 0) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "concat_from_sequence: the sequence is empty");
    }
    TN_TRY(joined_shape(call, s, &shape, &axis));
    TN_TRY(call->resize(call, 0, &shape));
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    const size_t inner = (size_t)tn_shape_span(&shape, axis + 1, shape.rank) * tn_dtype_bytes(call->out[0]->dtype);
    const size_t outer = (size_t)tn_shape_span(&shape, 0, axis), row = (size_t)shape.dims[axis] * inner;
    char *to = call->out[0]->data;
    for (int64_t i = 0; i < s->count; i++) {
        const size_t run = (fresh ? 1 : (size_t)s->items[i].shape.dims[axis]) * inner;
        for (size_t o = 0; o < outer && run > 0; o++) {
            memcpy(to + o * row, (const char *)s->items[i].data + o * run, run);
        }
        to += run;
    }
    return TN_OK;
}

// ---- export ----

#define OP_LIST(X)                                                                                            \
    X(sequence_construct) X(sequence_empty) X(sequence_at) X(sequence_erase) X(sequence_insert)               \
    X(sequence_length) X(split_to_sequence) X(concat_from_sequence)
#define ROW(NAME) TN_REFERENCE_OBJECTS(NAME, "", NULL, run_##NAME),
#define ADDRESS(NAME) &tn_op_##NAME,

static const tn_kernel rows[] = {OP_LIST(ROW)};
static const tn_op *const ops[] = {OP_LIST(ADDRESS)};

TN_EXPORT_OPS(op_sequence, ops);
TN_EXPORT_KERNELS(op_sequence, rows);
