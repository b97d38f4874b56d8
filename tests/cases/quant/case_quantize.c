// SPDX-License-Identifier: Apache-2.0
// Cases of linear quantisation: scales for a tensor, an axis and blocks, every quantised type, with and without zero point; then
// random ones. Results are exact.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/quant/op_quantize.h"

#define F8 (1u << TN_F8E4M3FN | 1u << TN_F8E4M3FNUZ | 1u << TN_F8E5M2 | 1u << TN_F8E5M2FNUZ | 1u << TN_F4E2M1)
#define SMALL (1u << TN_U4 | 1u << TN_I4 | 1u << TN_U2 | 1u << TN_I2)
#define QUANTISED (1u << TN_U8 | 1u << TN_I8 | 1u << TN_U16 | 1u << TN_I16 | SMALL | F8)
#define REALS (1u << TN_F32 | 1u << TN_F16 | 1u << TN_BF16)

typedef struct form {
    tn_shape x;
    int64_t axis, block;      // block 0: one scale for each index of the axis; axis -100: one scale
    tn_dtype type;
    bool zero;
} form;

static const form forms[] = {
    {{4, {1, 3, 17, 19}}, -100, 0, TN_U8, true}, {{4, {1, 8, 5, 5}}, -100, 0, TN_I8, true},
    {{2, {1, 1000}}, -100, 0, TN_U8, false},
    {{4, {16, 3, 3, 3}}, 0, 0, TN_I8, true},     {{4, {2, 24, 7, 9}}, 1, 0, TN_U8, true},    {{2, {33, 65}}, -1, 0, TN_I8, true},
    {{3, {5, 4, 40}}, 1, 0, TN_I16, true},       {{1, {70}}, 0, 0, TN_U16, true},            {{2, {12, 64}}, 1, 32, TN_U4, true},
    {{2, {70, 9}}, 0, 16, TN_I4, true},          {{3, {2, 10, 33}}, 2, 8, TN_I8, false},
    {{2, {4, 67}}, -100, 0, TN_F8E4M3FN, false},
    {{2, {4, 67}}, -100, 0, TN_F8E5M2, false},   {{1, {9}}, -100, 0, TN_F8E4M3FNUZ, true},
    {{1, {9}}, -100, 0, TN_F8E5M2FNUZ, true},
    {{2, {4, 12}}, -100, 0, TN_F4E2M1, false},   {{2, {6, 11}}, 0, 0, TN_U2, true},          {{2, {6, 11}}, -100, 0, TN_I2, true},
    {{0, {0}}, -100, 0, TN_I8, true},            {{2, {0, 5}}, 1, 0, TN_U8, true},           {{1, {4099}}, -100, 0, TN_I8, true},
};
static const tn_shape dynamic_shapes[] = {{2, {1, 257}}, {4, {1, 3, 9, 11}}, {1, {1}}, {2, {64, 33}}};
enum { FORMS = TN_COUNT(forms), LISTED = 2 * FORMS + TN_COUNT(dynamic_shapes) };

static form draw_form(tn_rand *r)
{
    form f = {.x = tn_draw_shape(r, 1, 4), .axis = -100, .type = tn_draw_dtype(r, QUANTISED), .zero = tn_rand_bool(r)};
    if (tn_rand_bool(r)) {
        f.axis = tn_rand_range(r, -f.x.rank, f.x.rank - 1);
        f.block = tn_rand_bool(r) && f.x.rank > 1 ? tn_rand_range(r, 1, 9) : 0;
    }
    return f;
}

static tn_shape scale_shape(const form *f)
{
    const int at = (int)(f->axis < 0 ? f->axis + f->x.rank : f->axis);
    if (f->axis == -100) {
        return tn_shape_of(0, NULL);
    }
    tn_shape shape = f->block ? f->x : tn_shape_of(1, &f->x.dims[at]);
    if (f->block) {
        shape.dims[at] = TN_CEIL_DIV(f->x.dims[at], f->block);
    }
    return shape;
}

static bool make_dynamic(tn_case *c, tn_rand *r, unsigned i)
{
    c->op = &tn_op_dynamic_quantize_linear;
    c->in[0] = tn_case_f32(dynamic_shapes[i]);
    c->in[0].low = tn_rand_real(r, -4, 1);
    c->in[0].high = c->in[0].low + 3;
    c->n_in = 1;
    c->n_out = 3;
    return true;
}

// Values whose quotients fall between codes and past them; zero points inside the type's range.
static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    if (listed && i >= 2 * FORMS) {
        return make_dynamic(c, r, i - 2 * FORMS);
    }
    const form f = listed ? forms[i / 2] : draw_form(r);
    const bool back = listed ? i % 2 : tn_rand_bool(r);
    const tn_shape scales = scale_shape(&f);
    const tn_dtype real = listed ? TN_F32 : tn_draw_dtype(r, REALS);
    c->op = back ? &tn_op_dequantize_linear : &tn_op_quantize_linear;
    tn_quantize_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->axis = f.axis == -100 ? 1 : f.axis;
    attr->block_size = f.block;
    attr->saturate = listed || tn_rand_bool(r);
    attr->output_dtype = back || f.zero ? TN_NONE : f.type;
    c->attr = attr;
    c->in[0] = tn_draw_in(back ? f.type : real, f.x);
    if (!back) {
        c->in[0].low = -40;
        c->in[0].high = 40;
    }
    c->in[1] = tn_draw_in(real, scales);
    c->in[1].low = 0.01;
    c->in[1].high = 0.5;
    c->in[2] = tn_draw_in(f.type, scales);
    c->in[2].low = TN_MAX(c->in[2].low, -20);
    c->in[2].high = TN_MIN(c->in[2].high, 20);
    if (tn_dtype_is_float(f.type)) {
        c->in[2].low = c->in[2].high = 0;
    }
    c->in[1].constant = c->in[2].constant = listed || tn_rand_bool(r);
    c->n_in = f.zero ? 3 : 2;
    c->n_out = 1;
    return true;
}

TN_CASE_EXPORT(quantize){"quantize", LISTED, make};
