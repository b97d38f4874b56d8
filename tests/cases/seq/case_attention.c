// SPDX-License-Identifier: Apache-2.0
// Cases of attention and rotary embedding: both ranks, shared key heads, every mask, cache, window, softcap and result; then random
// ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/seq/op_attention.h"

enum { PACKED = 1, CAUSAL = 2, BOOL_MASK = 4, FLOAT_MASK = 8, PAST = 16, VALID = 32, WINDOW = 64, CAP = 128, SCALE = 256,
      SHOW = 512 };

typedef struct form {
    int64_t batch, heads, kv_heads, queries, keys, size, value_size;
    int flags;
    int64_t mode;
} form;

static const form forms[] = {
    {1, 12, 12, 26, 26, 32, 32, 0, 0},              {2, 3, 3, 17, 17, 8, 8, CAUSAL, 0},           {1, 8, 2, 5, 9, 16, 12, SCALE, 0},
    {2, 4, 4, 7, 11, 8, 8, PACKED, 0},              {1, 6, 3, 4, 6, 8, 10, PACKED | BOOL_MASK, 0},
    {2, 3, 3, 4, 6, 8, 8, FLOAT_MASK, 0},
    {1, 4, 4, 3, 5, 8, 8, PAST | CAUSAL | SHOW, 0}, {1, 4, 2, 1, 1, 64, 64, PAST | PACKED | SHOW, 3},
    {2, 2, 2, 4, 9, 8, 8, VALID | CAUSAL, 0},
    {1, 2, 2, 33, 33, 16, 16, WINDOW | CAUSAL, 0},  {1, 2, 2, 20, 20, 16, 16, WINDOW | CAP | SHOW, 1},
    {1, 2, 1, 6, 7, 5, 3, CAP | FLOAT_MASK | SHOW, 2},
    {1, 2, 2, 5, 5, 4, 4, SHOW, 3},                 {1, 1, 1, 1, 1, 1, 1, 0, 0},                  {0, 2, 2, 3, 3, 4, 4, 0, 0},
    {1, 2, 2, 0, 3, 4, 4, 0, 0},                    {1, 2, 2, 3, 0, 4, 4, 0, 0},                  {1, 12, 12, 50, 64, 64, 64, 0, 0},
    {1, 2, 1, 40, 1100, 8, 17, PACKED | FLOAT_MASK, 0}, {1, 1, 1, 130, 1030, 4, 5, CAUSAL, 0}, {1, 2, 2, 101, 2050, 3, 8, WINDOW | BOOL_MASK, 0},
};

typedef struct turn {
    tn_shape x;
    int64_t heads, rotary;
    bool interleaved, positions;
} turn;

static const turn turns[] = {
    {{4, {1, 4, 7, 16}}, 0, 0, false, true}, {{4, {2, 3, 5, 8}}, 0, 4, true, true},   {{3, {2, 6, 24}}, 3, 0, false, false},
    {{3, {1, 5, 40}}, 4, 6, true, false},    {{4, {1, 2, 3, 34}}, 0, 34, true, true}, {{4, {0, 2, 3, 4}}, 0, 0, false, true},
};
enum { FORMS = TN_COUNT(forms), LISTED = FORMS + TN_COUNT(turns) };

static form draw_form(tn_rand *r)
{
    form f = {.batch = tn_rand_range(r, 1, 2), .kv_heads = tn_rand_range(r, 1, 3), .queries = tn_rand_range(r, 1, 35),
              .keys = tn_rand_range(r, 1, 35), .size = tn_rand_range(r, 1, 20), .value_size = tn_rand_range(r, 1, 20),
              .flags = (int)tn_draw_index(r, 1024), .mode = tn_rand_range(r, 0, 3)};
    f.heads = f.kv_heads * tn_rand_range(r, 1, 3);
    f.flags &= f.flags & BOOL_MASK ? ~FLOAT_MASK : ~0;
    f.flags &= f.flags & PAST ? ~VALID : ~0;
    return f;
}

// A tensor of heads in the form's rank.
static tn_shape heads_shape(const form *f, int64_t heads, int64_t length, int64_t size)
{
    return f->flags & PACKED ? (tn_shape){3, {f->batch, length, heads * size}} : (tn_shape){4, {f->batch, heads, length, size}};
}

static bool make_attention(tn_case *c, tn_arena *arena, tn_rand *r, const form *f, tn_dtype dtype)
{
    const int64_t past = f->flags & PAST ? tn_rand_range(r, 0, 6) : 0, total = past + f->keys;
    c->op = &tn_op_attention;
    tn_attention_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->q_num_heads = f->flags & PACKED ? f->heads : 0;
    attr->kv_num_heads = f->flags & PACKED ? f->kv_heads : 0;
    attr->has_scale = f->flags & SCALE;
    attr->scale = 0.3;
    attr->softcap = f->flags & CAP ? 1.5 : 0;
    attr->is_causal = f->flags & CAUSAL;
    attr->left_window = f->flags & WINDOW ? 3 : -1;
    attr->right_window = f->flags & WINDOW ? 2 : -1;
    attr->qk_output_mode = f->mode;
    c->attr = attr;
    // Masks broadcast over batch or heads and may be short of keys.
    const tn_shape mask = {4, {tn_rand_bool(r) ? f->batch : 1, tn_rand_bool(r) ? f->heads : 1, f->queries, total - past / 2}};
    const tn_shape rows = {2, {f->queries, total}};
    const tn_case_in in[] = {
        tn_draw_in(dtype, heads_shape(f, f->heads, f->queries, f->size)),
        tn_draw_in(dtype, heads_shape(f, f->kv_heads, f->keys, f->size)),
        tn_draw_in(dtype, heads_shape(f, f->kv_heads, f->keys, f->value_size)),
        tn_draw_in(f->flags & BOOL_MASK ? TN_BOOL : dtype, tn_rand_bool(r) ? rows : mask),
        tn_draw_in(dtype, (tn_shape){4, {f->batch, f->kv_heads, past, f->size}}),
        tn_draw_in(dtype, (tn_shape){4, {f->batch, f->kv_heads, past, f->value_size}}),
        {.dtype = TN_I64, .shape = {1, {f->batch}}, .low = 0, .high = (double)f->keys},
    };
    static const int needs[] = {0, 0, 0, BOOL_MASK | FLOAT_MASK, PAST, PAST, VALID};
    for (int k = 0; k < (int)TN_COUNT(in); k++) {
        c->in[k] = needs[k] && !(f->flags & needs[k]) ? TN_ABSENT : in[k];
        c->n_in = c->in[k].absent ? c->n_in : k + 1;
    }
    c->n_out = f->flags & SHOW ? 4 : 1;
    return true;
}

static turn draw_turn(tn_rand *r)
{
    const int64_t heads = tn_rand_range(r, 1, 4), half = tn_rand_range(r, 1, 17), length = tn_rand_range(r, 1, 9);
    turn t = {.rotary = 2 * tn_rand_range(r, 0, half), .interleaved = tn_rand_bool(r), .positions = tn_rand_bool(r)};
    t.x = (tn_shape){4, {tn_rand_range(r, 1, 2), heads, length, 2 * half}};
    if (tn_rand_bool(r)) {
        t.heads = heads;
        t.x = (tn_shape){3, {2, length, heads * 2 * half}};
    }
    return t;
}

static bool make_rotary(tn_case *c, tn_arena *arena, const turn *t, tn_dtype dtype)
{
    const int64_t size = t->x.rank == 3 ? t->x.dims[2] / t->heads : t->x.dims[3],
        length = t->x.rank == 3 ? t->x.dims[1] : t->x.dims[2];
    const int64_t half = (t->rotary ? t->rotary : size) / 2;
    c->op = &tn_op_rotary_embedding;
    tn_rotary_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    *attr = (tn_rotary_attr){t->heads, t->rotary, t->interleaved};
    c->attr = attr;
    c->in[0] = tn_draw_in(dtype, t->x);
    c->in[1] = tn_draw_in(dtype, t->positions ? (tn_shape){2, {50, half}} : (tn_shape){3, {t->x.dims[0], length, half}});
    c->in[2] = c->in[1];
    c->in[3] = (tn_case_in){.dtype = TN_I64, .shape = {2, {t->x.dims[0], length}}, .low = 0, .high = 49};
    c->n_in = t->positions ? 4 : 3;
    c->n_out = 1;
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED, rotary = listed ? i >= FORMS : tn_draw_index(r, 4) == 0;
    const tn_dtype dtype = listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS);
    c->rel = 1e-4;
    c->abs = 1e-6;
    c->rounded_abs = 0x1p-7;   // weights to half a step of bf16, values mostly below four
    if (rotary) {
        const turn t = listed ? turns[i - FORMS] : draw_turn(r);
        return make_rotary(c, arena, &t, dtype);
    }
    const form f = listed ? forms[i] : draw_form(r);
    return make_attention(c, arena, r, &f, dtype);
}

TN_CASE_EXPORT(attention){"attention", LISTED, make};
