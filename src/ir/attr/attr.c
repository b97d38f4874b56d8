// SPDX-License-Identifier: Apache-2.0
// Attribute structs through their lists: comparing, deep copying, printing. The one place that knows every attribute kind.
// Ownership: copies are in the arena given. Threads: any, one arena each.
#include "ir/op.h"
#include "base/num.h"
#include "base/text.h"
#include "loop/loop.h"

static const void *field(const void *attr, const tn_attr *row) { return (const char *)attr + row->offset; }

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// Floats compare by bits too, so that NaN equals itself and -0 differs from 0.
static bool same_bytes(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}

static bool same_region(const tn_region *a, const tn_region *b)
{
    const size_t dims = (size_t)a->rank * sizeof a->sizes[0];
    return a->source == b->source && a->rank == b->rank && a->src_offset == b->src_offset && a->dst_offset == b->dst_offset &&
           same_bytes(a->sizes, b->sizes, dims) && same_bytes(a->src_strides, b->src_strides, dims) &&
           same_bytes(a->dst_strides, b->dst_strides, dims);
}

static bool same_regions(const tn_regions *a, const tn_regions *b)
{
    if (a == b || !a || !b) {
        return a == b;
    }
    if (a->count != b->count || a->source_count != b->source_count || memcmp(a->fill, b->fill, sizeof a->fill) != 0) {
        return false;
    }
    for (int i = 0; i < a->count; i++) {
        if (!same_region(&a->regions[i], &b->regions[i])) {
            return false;
        }
    }
    return true;
}

#define AS(type, p) (*(type const *)(p))

static bool same_field(tn_attr_kind kind, const void *a, const void *b)
{
    switch (kind) {
    case TN_ATTR_INT:
        return AS(int64_t, a) == AS(int64_t, b);
    case TN_ATTR_REAL:
        return memcmp(a, b, sizeof(double)) == 0;
    case TN_ATTR_BOOL:
        return AS(bool, a) == AS(bool, b);
    case TN_ATTR_DTYPE:
        return AS(tn_dtype, a) == AS(tn_dtype, b);
    case TN_ATTR_ENUM:
        return AS(int, a) == AS(int, b);
    case TN_ATTR_TEXT:
        return same_text(AS(const char *, a), AS(const char *, b));
    case TN_ATTR_INTS: {
        const tn_ints *x = a, *y = b;
        return x->set == y->set && x->count == y->count && same_bytes(x->v, y->v, (size_t)x->count * sizeof *x->v);
    }
    case TN_ATTR_REALS: {
        const tn_reals *x = a, *y = b;
        return x->set == y->set && x->count == y->count && same_bytes(x->v, y->v, (size_t)x->count * sizeof *x->v);
    }
    case TN_ATTR_LOOP: {
        const tn_loop *x = AS(const tn_loop *, a), *y = AS(const tn_loop *, b);
        return x == y || (x && y && tn_loop_equal(x, y));
    }
    case TN_ATTR_REGIONS:
        return same_regions(AS(const tn_regions *, a), AS(const tn_regions *, b));
    }
    return false;
}

bool tn_attr_equal(const tn_op *op, const void *a, const void *b)
{
    for (int i = 0; i < op->n_attrs; i++) {
        if (!same_field(op->attrs[i].kind, field(a, &op->attrs[i]), field(b, &op->attrs[i]))) {
            return false;
        }
    }
    return true;
}

// ---- deep copies: each makes what one pointer field points to the arena's own ----

static bool own_text(const char **text, tn_arena *arena)
{
    if (*text) {
        *text = tn_arena_text(arena, *text, strlen(*text));
        return *text != NULL;
    }
    return true;
}

static bool own_bytes(const void **data, size_t bytes, tn_arena *arena)
{
    if (*data) {
        *data = tn_arena_copy(arena, *data, bytes);
        return *data != NULL;
    }
    return true;
}

static bool own_regions(const tn_regions **regions, tn_arena *arena)
{
    if (!*regions) {
        return true;
    }
    tn_regions *copy = tn_arena_copy(arena, *regions, sizeof *copy);
    if (!copy) {
        return false;
    }
    const void *boxes = copy->regions;
    const bool ok = own_bytes(&boxes, (size_t)copy->count * sizeof *copy->regions, arena);
    copy->regions = boxes;
    *regions = copy;
    return ok;
}

static bool own_field(const tn_attr *row, char *at, tn_arena *arena)
{
    switch (row->kind) {
    case TN_ATTR_TEXT:
        return own_text((const char **)(void *)at, arena);
    case TN_ATTR_INTS: {
        tn_ints *ints = (void *)at;
        const void *v = ints->v;
        const bool ok = own_bytes(&v, (size_t)ints->count * sizeof *ints->v, arena);
        ints->v = v;
        return ok;
    }
    case TN_ATTR_REALS: {
        tn_reals *reals = (void *)at;
        const void *v = reals->v;
        const bool ok = own_bytes(&v, (size_t)reals->count * sizeof *reals->v, arena);
        reals->v = v;
        return ok;
    }
    case TN_ATTR_LOOP: {
        const tn_loop **loop = (void *)at;
        const void *v = *loop;
        const bool ok = own_bytes(&v, sizeof **loop, arena);
        *loop = v;
        return ok;
    }
    case TN_ATTR_REGIONS:
        return own_regions((const tn_regions **)(void *)at, arena);
    case TN_ATTR_INT: case TN_ATTR_REAL: case TN_ATTR_BOOL: case TN_ATTR_DTYPE: case TN_ATTR_ENUM:
        break;   // the struct copy took it along
    }
    return true;
}

void *tn_attr_copy(const tn_op *op, const void *attr, tn_arena *arena)
{
    char *copy = tn_arena_copy(arena, attr, op->attr_size);
    for (int i = 0; copy && i < op->n_attrs; i++) {
        if (!own_field(&op->attrs[i], copy + op->attrs[i].offset, arena)) {
            return NULL;
        }
    }
    return copy;
}

// ---- text ----

static const char *enum_text(const tn_attr *row, int value)
{
    for (int i = 0; row->texts && row->texts[i]; i++) {
        if (i == value) {
            return row->texts[i];
        }
    }
    return "?";
}

static void print_loop(const tn_loop *loop, tn_text *text)
{
    tn_text_add(text, "(");
    for (int i = 0; loop && i < loop->n_code; i++) {
        const tn_loop_instr *instr = &loop->code[i];
        const int registers[3] = {instr->a, instr->b, instr->c};
        tn_text_add(text, "%s%s", i ? "; " : "", tn_loop_code_text((tn_loop_code)instr->code));
        for (int k = 0; k < tn_loop_code_operands((tn_loop_code)instr->code); k++) {
            tn_text_add(text, " r%d", registers[k]);
        }
        if (instr->x != 0 || instr->y != 0) {
            tn_text_add(text, " x=%g y=%g", (double)instr->x, (double)instr->y);
        }
    }
    tn_text_add(text, ")");
}

static void print_field(const tn_attr *row, const void *at, tn_text *text)
{
    switch (row->kind) {
    case TN_ATTR_INT:
        tn_text_add(text, "%lld", (long long)AS(int64_t, at));
        break;
    case TN_ATTR_REAL:
        tn_text_add(text, "%.9g", AS(double, at));
        break;
    case TN_ATTR_BOOL:
        tn_text_add(text, AS(bool, at) ? "true" : "false");
        break;
    case TN_ATTR_DTYPE:
        tn_text_add(text, "%s", tn_dtype_text(AS(tn_dtype, at)));
        break;
    case TN_ATTR_ENUM:
        tn_text_add(text, "%s", enum_text(row, AS(int, at)));
        break;
    case TN_ATTR_TEXT:
        tn_json_string(text, AS(const char *, at));
        break;
    case TN_ATTR_INTS:
        for (int32_t i = 0; i < ((const tn_ints *)at)->count; i++) {
            tn_text_add(text, i ? ",%lld" : "[%lld", (long long)((const tn_ints *)at)->v[i]);
        }
        tn_text_add(text, ((const tn_ints *)at)->count ? "]" : "[]");
        break;
    case TN_ATTR_REALS:
        for (int32_t i = 0; i < ((const tn_reals *)at)->count; i++) {
            tn_text_add(text, i ? ",%.9g" : "[%.9g", (double)((const tn_reals *)at)->v[i]);
        }
        tn_text_add(text, ((const tn_reals *)at)->count ? "]" : "[]");
        break;
    case TN_ATTR_LOOP:
        print_loop(AS(const tn_loop *, at), text);
        break;
    case TN_ATTR_REGIONS: {
        const tn_regions *regions = AS(const tn_regions *, at);
        tn_text_add(text, "%d", regions ? regions->count : 0);
        break;
    }
    }
}

void tn_attr_print(const tn_op *op, const void *attr, tn_text *text)
{
    bool first = true;
    for (int i = 0; attr && i < op->n_attrs; i++) {
        const tn_attr *row = &op->attrs[i];
        static const double zero[8];   // as wide as any field
        const void *usual = op->defaults ? field(op->defaults, row) : (const void *)zero;
        if (same_field(row->kind, field(attr, row), usual)) {
            continue;
        }
        tn_text_add(text, "%s%s=", first ? "{" : ", ", row->name);
        print_field(row, field(attr, row), text);
        first = false;
    }
    if (!first) {
        tn_text_add(text, "}");
    }
}
