// SPDX-License-Identifier: Apache-2.0
// The attribute codec: writing trusts the struct, reading trusts nothing. Every length is compared with what is left before it is used,
// so that the memory taken is in proportion to the bytes read.
// Ownership and threads: see attr_codec.h.
#include "ir/attr/attr_codec.h"

#include "base/num.h"
#include "base/text.h"
#include "loop/loop.h"

// ---- writing ----

static void put(tn_text *bytes, uint64_t value, size_t width)
{
    char le[8];
    for (size_t i = 0; i < width; i++) {
        le[i] = (char)(value >> (8 * i) & 0xff);
    }
    tn_text_bytes(bytes, le, width);
}

static void put_f32(tn_text *bytes, float value) { put(bytes, tn_f32_bits(value), 4); }

static void put_f64(tn_text *bytes, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(bytes, bits, 8);
}

static void put_text(tn_text *bytes, const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    put(bytes, text ? length + 1 : 0, 4);
    tn_text_bytes(bytes, text, length);
}

static void put_loop(tn_text *bytes, const tn_loop *loop)
{
    put(bytes, loop != NULL, 1);
    if (!loop) {
        return;
    }
    put(bytes, (uint64_t)loop->n_inputs, 4);
    put(bytes, (uint64_t)loop->n_code, 4);
    for (int i = 0; i < loop->n_code; i++) {
        const tn_loop_instr *instr = &loop->code[i];
        const uint8_t fields[4] = {instr->code, instr->a, instr->b, instr->c};
        tn_text_bytes(bytes, (const char *)fields, sizeof fields);
        put_f32(bytes, instr->x);
        put_f32(bytes, instr->y);
    }
}

static bool put_field(tn_text *bytes, tn_attr_kind kind, const void *at)
{
    switch (kind) {
    case TN_ATTR_INT:
        put(bytes, (uint64_t)*(const int64_t *)at, 8);
        return true;
    case TN_ATTR_REAL:
        put_f64(bytes, *(const double *)at);
        return true;
    case TN_ATTR_BOOL:
        put(bytes, *(const bool *)at, 1);
        return true;
    case TN_ATTR_DTYPE:
        put(bytes, (uint64_t)*(const tn_dtype *)at, 4);
        return true;
    case TN_ATTR_ENUM:
        put(bytes, (uint64_t)*(const int *)at, 4);
        return true;
    case TN_ATTR_TEXT:
        put_text(bytes, *(const char *const *)at);
        return true;
    case TN_ATTR_INTS: {
        const tn_ints *ints = at;
        put(bytes, ints->set, 1);
        put(bytes, (uint64_t)ints->count, 4);
        for (int32_t i = 0; i < ints->count; i++) {
            put(bytes, (uint64_t)ints->v[i], 8);
        }
        return true;
    }
    case TN_ATTR_REALS: {
        const tn_reals *reals = at;
        put(bytes, reals->set, 1);
        put(bytes, (uint64_t)reals->count, 4);
        for (int32_t i = 0; i < reals->count; i++) {
            put_f32(bytes, reals->v[i]);
        }
        return true;
    }
    case TN_ATTR_LOOP:
        put_loop(bytes, *(const tn_loop *const *)at);
        return true;
    case TN_ATTR_REGIONS:
        break;
    }
    return false;
}

bool tn_attr_encode(const tn_op *op, const void *attr, tn_text *bytes)
{
    for (int i = 0; i < op->n_attrs; i++) {
        if (!put_field(bytes, op->attrs[i].kind, (const char *)attr + op->attrs[i].offset)) {
            return false;
        }
    }
    return true;
}

// ---- reading ----

typedef struct cursor {
    const uint8_t *at;
    size_t left;
    tn_arena *arena;
    const tn_attr_wires *wires;
    const char *why;      // what is wrong; NULL while nothing is
    bool no_memory;
} cursor;

static uint64_t get(cursor *c, size_t width)
{
    uint64_t value = 0;
    if (c->left < width) {
        c->why = "the attributes end in the middle of a field";
        return 0;
    }
    for (size_t i = 0; i < width; i++) {
        value |= (uint64_t)c->at[i] << (8 * i);
    }
    c->at += width;
    c->left -= width;
    return value;
}

static float get_f32(cursor *c) { return tn_f32_from_bits((uint32_t)get(c, 4)); }

static double get_f64(cursor *c)
{
    const uint64_t bits = get(c, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// A byte that is 0 or 1.
static bool get_flag(cursor *c)
{
    const uint64_t value = get(c, 1);
    if (value > 1) {
        c->why = "a flag is neither 0 nor 1";
    }
    return value == 1;
}

// The count of elements that follow, each of `width` bytes; 0 when there are not that many.
static size_t get_count(cursor *c, size_t width)
{
    const uint64_t count = get(c, 4);
    if (count > c->left / width || count > INT32_MAX) {
        c->why = "an array is longer than the attributes";
        return 0;
    }
    return (size_t)count;
}

static void *room(cursor *c, size_t count, size_t size)
{
    void *array = tn_arena_array(c->arena, count, size);
    c->no_memory = c->no_memory || !array;
    return array;
}

// The count includes the closing zero, which is not stored: 0 is NULL, 1 the empty text.
static const char *get_text(cursor *c)
{
    const uint64_t count = get(c, 4);
    if (!count) {
        return NULL;
    }
    const size_t length = count - 1 > c->left ? 0 : (size_t)count - 1;
    if (count - 1 > c->left || (length && memchr(c->at, 0, length))) {
        c->why = "a text holds a zero or is longer than the attributes";
        return NULL;
    }
    const char *text = tn_arena_text(c->arena, (const char *)c->at, length);
    c->no_memory = c->no_memory || !text;
    c->at += length;
    c->left -= length;
    return text;
}

static tn_ints get_ints(cursor *c)
{
    tn_ints ints = {.set = get_flag(c)};
    const size_t count = get_count(c, 8);
    int64_t *v = count ? room(c, count, sizeof *v) : NULL;
    for (size_t i = 0; v && i < count; i++) {
        v[i] = (int64_t)get(c, 8);
    }
    ints.v = v;
    ints.count = v ? (int32_t)count : 0;
    return ints;
}

static tn_reals get_reals(cursor *c)
{
    tn_reals reals = {.set = get_flag(c)};
    const size_t count = get_count(c, 4);
    float *v = count ? room(c, count, sizeof *v) : NULL;
    for (size_t i = 0; v && i < count; i++) {
        v[i] = get_f32(c);
    }
    reals.v = v;
    reals.count = v ? (int32_t)count : 0;
    return reals;
}

// A program whose registers all exist when they are read.
static const tn_loop *get_loop(cursor *c)
{
    if (!get_flag(c) || c->why) {
        return NULL;
    }
    const uint64_t inputs = get(c, 4), code = get(c, 4);
    tn_loop *loop = room(c, 1, sizeof *loop);
    if (inputs > TN_LOOP_MAX_INPUTS || code < 1 || code > TN_LOOP_MAX_CODE) {
        c->why = "a loop program of a wrong size";
    }
    if (!loop || c->why) {
        return NULL;
    }
    loop->n_inputs = (int)inputs;
    loop->n_code = (int)code;
    for (int i = 0; i < loop->n_code && !c->why; i++) {
        tn_loop_instr *instr = &loop->code[i];
        const uint64_t number = get(c, 1);
        const int32_t here = number < c->wires->n_codes ? c->wires->codes[number] : -1;
        instr->a = (uint8_t)get(c, 1);
        instr->b = (uint8_t)get(c, 1);
        instr->c = (uint8_t)get(c, 1);
        instr->x = get_f32(c);
        instr->y = get_f32(c);
        const int registers[3] = {instr->a, instr->b, instr->c}, made = loop->n_inputs + i;
        const int operands = here < 0 ? 0 : tn_loop_code_operands((tn_loop_code)here);
        for (int k = 0; k < 3; k++) {
            if (here < 0 || (k < operands ? registers[k] >= made : registers[k] != 0)) {
                c->why = "a loop program with a wrong instruction";
            }
        }
        instr->code = here < 0 ? 0 : (uint8_t)here;
    }
    return loop;
}

static int get_enum(cursor *c, const tn_attr_wire *wire)
{
    const uint64_t value = get(c, 4);
    if (value >= wire->n_enums) {
        c->why = "an enumerated attribute has a value without a name";
        return 0;
    }
    return wire->enums[value];
}

static tn_dtype get_dtype(cursor *c)
{
    const uint64_t value = get(c, 4);
    if (value >= TN_DTYPE_COUNT) {
        c->why = "an attribute names an element type that there is not";
        return TN_NONE;
    }
    return (tn_dtype)value;
}

static void get_field(cursor *c, const tn_attr_wire *wire, void *at)
{
    switch (wire->row->kind) {
    case TN_ATTR_INT: *(int64_t *)at = (int64_t)get(c, 8); break;
    case TN_ATTR_REAL: *(double *)at = get_f64(c); break;
    case TN_ATTR_BOOL: *(bool *)at = get_flag(c); break;
    case TN_ATTR_DTYPE: *(tn_dtype *)at = get_dtype(c); break;
    case TN_ATTR_ENUM: *(int *)at = get_enum(c, wire); break;
    case TN_ATTR_TEXT: *(const char **)at = get_text(c); break;
    case TN_ATTR_INTS: *(tn_ints *)at = get_ints(c); break;
    case TN_ATTR_REALS: *(tn_reals *)at = get_reals(c); break;
    case TN_ATTR_LOOP: *(const tn_loop **)at = get_loop(c); break;
    case TN_ATTR_REGIONS: c->why = "regions belong to plans, not to files"; break;
    }
}

void *tn_attr_decode(const tn_op *op, const tn_attr_wires *wires, const uint8_t *data, size_t size, tn_arena *arena, const char **why)
{
    cursor c = {.at = data, .left = size, .arena = arena, .wires = wires};
    char *attr = op->defaults ? tn_arena_copy(arena, op->defaults, op->attr_size) : tn_arena_take(arena, op->attr_size);
    for (size_t i = 0; attr && i < wires->n_rows && !c.why && !c.no_memory; i++) {
        get_field(&c, &wires->rows[i], attr + wires->rows[i].row->offset);
    }
    if (!c.why && c.left) {
        c.why = "there are more attributes than the operator's row tells";
    }
    *why = attr && !c.no_memory ? c.why : NULL;
    return attr && !c.no_memory && !c.why ? attr : NULL;
}
