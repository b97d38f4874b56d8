// SPDX-License-Identifier: Apache-2.0
// add, sub, mul, min, max of two quantised operands with broadcast. Equal shapes and one value per channel (QUAD) go by vectors; other
// broadcasts by vectors along rows of the last axis, and element by element where these are short.
//
// float_rne: the quotient of each operand's scale and the result's as a Q31 multiplier gives the result with F bits of fraction; as in
// hx_requant.h, lanes whose fraction is too near to one half are done again by the scalar definition.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/vec/hx_flat.h"
#include "exec/hexagon/dsp/vec/hx_requant.h"
#include "exec/hexagon/wire/hex_control.h"

enum { KIND_SAME, KIND_CHANNEL, KIND_ANY };   // how b (or a) is broadcast
enum { CHUNK_VECTORS = 64, SHORT_ROW = 8, BEYOND = 260 };

typedef struct binary_plan {
    tn_requant_pair pair;        // in the terms of the types outside
    int32_t offset_a, offset_b, offset_y;   // 128 where the type outside is s8
    int32_t op, kind, swapped, rounding;    // swapped: the second operand is the full one
    tn_hx_requant a, b, y;       // fixed_q31; float_rne: multiplier, left of each operand and limit, up, right of y
    int32_t base;                // float_rne: y's zero point with F bits of fraction, one half, the window; sums: less what a's and b's are
    int32_t low, high;
} binary_plan;

static int is_arithmetic(int op) { return op == TN_HEX_OP_ADD || op == TN_HEX_OP_SUB || op == TN_HEX_OP_MUL; }

// ---- check ----

static int broadcasts(const tn_hx_value *x, const tn_hx_value *y)
{
    if (x->rank > y->rank) {
        return 0;
    }
    for (int i = 1; i <= x->rank; i++) {
        if (x->dims[x->rank - i] != y->dims[y->rank - i] && x->dims[x->rank - i] != 1) {
            return 0;
        }
    }
    return 1;
}

static uint32_t check(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *a = tn_hx_in(graph, node, 0), *b = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    const tn_hx_attr *attr = &node->attr;
    const int op = node->op->index;
    if (!b) {
        return TN_HEX_WHY_ARITY;
    }
    if (!tn_hx_is_byte(a) || a->dtype != b->dtype || a->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    if (!broadcasts(a, y) || !broadcasts(b, y)) {
        return TN_HEX_WHY_SHAPE;
    }
    for (int i = 1; i <= y->rank; i++) {
        const int32_t da = i <= a->rank ? a->dims[a->rank - i] : 1, db = i <= b->rank ? b->dims[b->rank - i] : 1;
        if (y->dims[y->rank - i] != (da > db ? da : db)) {
            return TN_HEX_WHY_SHAPE;
        }
    }
    if (!is_arithmetic(op)) {
        return a->zero == y->zero && b->zero == y->zero ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
    }
    const uint32_t multipliers = op == TN_HEX_OP_MUL ? 1 : 3;
    const int fits = attr->rounding == TN_HEX_FLOAT_RNE ? attr->n_scales == 3 : attr->n_multipliers == multipliers;
    return fits ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static int is_channel(const tn_hx_value *x, const tn_hx_value *y)
{
    return x->rank == 4 && x->dims[0] == y->dims[0] && x->dims[1] == y->dims[1] && x->dims[2] == 1 && x->dims[3] == 1;
}

static int kind_of(const tn_hx_value *a, const tn_hx_value *b, const tn_hx_value *y, int *swapped)
{
    *swapped = 0;
    if (tn_hx_same_shape(a, y) && tn_hx_same_shape(b, y)) {
        return KIND_SAME;
    }
    if (y->rank == 4 && tn_hx_same_shape(a, y) && is_channel(b, y)) {
        return KIND_CHANNEL;
    }
    *swapped = y->rank == 4 && tn_hx_same_shape(b, y) && is_channel(a, y);
    return *swapped ? KIND_CHANNEL : KIND_ANY;
}

static int layout(const tn_hx_graph *graph, const tn_hx_node *node)
{
    const tn_hx_value *a = tn_hx_in(graph, node, 0), *b = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    int swapped;
    const int kind = kind_of(a, b, y, &swapped);
    if (kind == KIND_SAME) {
        return a->layout == TN_HX_QUAD || b->layout == TN_HX_QUAD ? TN_HX_QUAD : TN_HX_PLAIN;
    }
    return kind == KIND_CHANNEL ? TN_HX_QUAD : TN_HX_PLAIN;
}

// ---- prepare ----

static float float_of(uint32_t bits)
{
    float v;
    __builtin_memcpy(&v, &bits, 4);
    return v;
}

// A positive factor as multiplier / 2^31 / 2^e. Returns e.
static int split_factor(float factor, int32_t *multiplier)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &factor, 4);
    *multiplier = (int32_t)(((bits & 0x7fffff) | 0x800000) << 7);
    return 126 - (int)(bits >> 23 & 0xff);
}

// What a byte adds to a sum.
static int32_t part_of(int32_t byte, const tn_hx_requant *r)
{
    return (int32_t)((((int64_t)byte << r->left) * r->multiplier + (1 << 30)) >> 31);
}

// Shifts and window of the fast way. Values are known with F bits of fraction to 3 units, and each step of float32 loses at most 2^-24 of
// what it gives. Of a sum: twice each operand's part (its factor is one of them), the sum, the quotient, and the result with its zero point.
// Of a product seven times the result. Beyond BEYOND results are clamped, and what is lost there does not count.
static void set_float(binary_plan *p)
{
    const int product = p->op == TN_HEX_OP_MUL;
    const float ka = product ? p->pair.a_scale * p->pair.b_scale / p->pair.y_scale : p->pair.a_scale / p->pair.y_scale;
    const float kb = product ? ka : p->pair.b_scale / p->pair.y_scale;
    const float least = 1.0f / 65536, most = 1024.0f;
    p->a = p->b = p->y = (tn_hx_requant){.right = 1, .up = 31, .limit = UINT32_MAX};
    if (!(ka > least && ka < most && kb > least && kb < most)) {
        return;   // every lane goes the exact way
    }
    const int ea = split_factor(ka, &p->a.multiplier), eb = split_factor(kb, &p->b.multiplier);
    const int room = product ? 13 : 20;   // bits that an operand, or the product of both, may be shifted up
    int fraction = ea + room < eb + room ? ea + room : eb + room;
    fraction = fraction > 20 ? 20 : fraction;
    if (fraction < 8 || fraction < ea || fraction < eb) {
        return;
    }
    p->a.left = fraction - ea;
    p->b.left = fraction - eb;
    const float parts = product ? 7.0f * BEYOND : 2.0f * 255.0f * (ka + kb) + 3.0f * BEYOND;
    const uint32_t window = (uint32_t)(parts * (float)(1 << fraction) / 16777216.0f) + 4;
    if (window >= 1u << (fraction - 2)) {
        return;
    }
    p->y.right = fraction;
    p->y.up = 32 - fraction;
    p->y.limit = 2 * window << p->y.up;
    p->base = ((p->pair.y_zero + p->offset_y) << fraction) + (1 << (fraction - 1)) + (int32_t)window;
    if (!product) {   // parts are below 2^28: see `room`
        const int32_t a = part_of(p->pair.a_zero + p->offset_a, &p->a), b = part_of(p->pair.b_zero + p->offset_b, &p->b);
        p->base -= p->op == TN_HEX_OP_SUB ? a - b : a + b;
    }
}

static void set_q31(binary_plan *p, const tn_hx_attr *attr)
{
    tn_hx_requant *const to[3] = {&p->a, &p->b, &p->y};
    tn_requant *const exact[3] = {&p->pair.a, &p->pair.b, &p->pair.y};
    const uint32_t n = attr->n_multipliers;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = n == 1 ? 2 : i;
        tn_hx_requant_set(to[at], TN_HEX_FIXED_Q31, attr->multipliers[i], (int32_t)attr->shifts[i], 0);
        exact[at]->multiplier = (int32_t)attr->multipliers[i];
        exact[at]->shift = (int32_t)attr->shifts[i];
    }
}

static uint32_t prepare(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *a = tn_hx_in(graph, node, 0), *b = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    const tn_hx_attr *attr = &node->attr;
    binary_plan *p = node->plan = tn_hx_pool_take(&graph->pool, sizeof *p);
    if (!p) {
        return TN_HEX_WHY_LIMIT;
    }
    const int32_t offset = y->dtype == TN_HEX_S8 ? 128 : 0;
    p->op = node->op->index;
    p->rounding = attr->rounding;
    p->kind = kind_of(a, b, y, &p->swapped);
    p->offset_a = p->offset_b = p->offset_y = offset;
    p->low = attr->low;
    p->high = attr->high;
    p->pair = (tn_requant_pair){.rounding = attr->rounding, .a_zero = a->zero - offset, .b_zero = b->zero - offset,
                                .y_zero = y->zero - offset, .low = attr->low - offset, .high = attr->high - offset};
    if (!is_arithmetic(p->op)) {
        return TN_HEX_WHY_NONE;
    }
    if (attr->rounding == TN_HEX_FIXED_Q31) {
        set_q31(p, attr);
    } else {
        p->pair.a_scale = float_of(attr->scales[0]);
        p->pair.b_scale = float_of(attr->scales[1]);
        p->pair.y_scale = float_of(attr->scales[2]);
        set_float(p);
    }
    return TN_HEX_WHY_NONE;
}

// ---- run ----

// One result from inner bytes.
static int32_t scalar_of(const binary_plan *p, int32_t a, int32_t b)
{
    switch (p->op) {
    case TN_HEX_OP_MIN: return tn_clamp_i32(a < b ? a : b, p->low, p->high);
    case TN_HEX_OP_MAX: return tn_clamp_i32(a > b ? a : b, p->low, p->high);
    case TN_HEX_OP_MUL: return tn_requant_product(&p->pair, a - p->offset_a, b - p->offset_b) + p->offset_y;
    default:
        return tn_requant_sum(&p->pair, a - p->offset_a, b - p->offset_b, p->op == TN_HEX_OP_SUB) + p->offset_y;
    }
}

// Lanes that are set in `which`, again by the definition; a, b: words of inner bytes.
static __attribute__((noinline)) HVX_Vector again(const binary_plan *p, HVX_Vector results, HVX_Vector a, HVX_Vector b, HVX_Vector which)
{
    int32_t words[4][32] __attribute__((aligned(128)));
    TN_HX_V(words[0]) = a;
    TN_HX_V(words[1]) = b;
    TN_HX_V(words[2]) = results;
    TN_HX_V(words[3]) = which;
    for (int i = 0; i < 32; i++) {
        if (words[3][i]) {
            words[2][i] = scalar_of(p, words[0][i], words[1][i]);
        }
    }
    return TN_HX_V(words[2]);
}

// Words of inner bytes; za, zb: zero points. The result without y's.
static inline __attribute__((always_inline)) HVX_Vector q31_word(const binary_plan *p, HVX_Vector a, HVX_Vector b, HVX_Vector za, HVX_Vector zb,
                                                            int op)
{
    a = Q6_Vw_vsub_VwVw(a, za);
    b = Q6_Vw_vsub_VwVw(b, zb);
    if (op == TN_HEX_OP_MUL) {
        return tn_hx_q31(Q6_Vw_vmpyio_VwVh(b, Q6_Vw_vasl_VwR(a, 16)), &p->y, TN_HX_Q31_UNIT);
    }
    const HVX_Vector u = tn_hx_q31(Q6_Vw_vasl_VwR(a, TN_REQUANT_UP), &p->a, TN_HX_Q31_UNIT);
    const HVX_Vector v = tn_hx_q31(Q6_Vw_vasl_VwR(b, TN_REQUANT_UP), &p->b, TN_HX_Q31_UNIT);
    return tn_hx_q31(op == TN_HEX_OP_SUB ? Q6_Vw_vsub_VwVw(u, v) : Q6_Vw_vadd_VwVw(u, v), &p->y, TN_HX_Q31_UNIT);
}

static inline HVX_Vector scaled(HVX_Vector x, const tn_hx_requant *r)
{
    const HVX_Vector up = Q6_Vw_vasl_VwR(x, r->left), m = Q6_V_vsplat_R(r->multiplier);
    return Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(up, m), up, m);
}

// float_rne: with y's zero point, F bits of fraction, and one half and the window added.
static inline __attribute__((always_inline)) HVX_Vector rne_word(const binary_plan *p, HVX_Vector a, HVX_Vector b, HVX_Vector za, HVX_Vector zb,
                                                            int op)
{
    const HVX_Vector base = Q6_V_vsplat_R(p->base);
    if (op == TN_HEX_OP_MUL) {
        const HVX_Vector product = Q6_Vw_vmpyio_VwVh(Q6_Vw_vsub_VwVw(b, zb), Q6_Vw_vasl_VwR(Q6_Vw_vsub_VwVw(a, za), 16));
        return Q6_Vw_vadd_VwVw_sat(scaled(product, &p->a), base);
    }
    const HVX_Vector u = Q6_Vw_vadd_VwVw(scaled(a, &p->a), base), v = scaled(b, &p->b);
    return op == TN_HEX_OP_SUB ? Q6_Vw_vsub_VwVw(u, v) : Q6_Vw_vadd_VwVw(u, v);
}

static inline __attribute__((always_inline)) HVX_Vector bytes_of(const binary_plan *p, HVX_Vector a, HVX_Vector b, int op, int rounding)
{
    const HVX_Vector low = tn_hx_splat_byte(p->low), high = tn_hx_splat_byte(p->high);
    if (!is_arithmetic(op)) {
        const HVX_Vector v = op == TN_HEX_OP_MIN ? Q6_Vub_vmin_VubVub(a, b) : Q6_Vub_vmax_VubVub(a, b);
        return Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(v, low), high);
    }
    const HVX_Vector za = Q6_V_vsplat_R(p->pair.a_zero + p->offset_a), zb = Q6_V_vsplat_R(p->pair.b_zero + p->offset_b);
    HVX_Vector u[4], v[4], w[4];
    tn_hx_widen(a, u);
    tn_hx_widen(b, v);
    if (rounding == TN_HEX_FIXED_Q31) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            w[i] = q31_word(p, u[i], v[i], za, zb, op);
        }
        return tn_hx_pack(w[0], w[1], w[2], w[3], Q6_V_vsplat_R((p->pair.y_zero + p->offset_y) * 0x00010001), low, high);
    }
    const HVX_Vector limit = Q6_V_vsplat_R((int32_t)p->y.limit);
    HVX_VectorPred near = Q6_Q_vcmp_gt_VuwVuw(Q6_V_vzero(), Q6_V_vzero());
#pragma unroll
    for (int i = 0; i < 4; i++) {
        w[i] = rne_word(p, u[i], v[i], za, zb, op);
        near = Q6_Q_vcmp_gtor_QVuwVuw(near, limit, Q6_Vw_vasl_VwR(w[i], p->y.up));
    }
    const int doubts = tn_hx_any(near);
    for (int i = 0; i < 4; i++) {
        const HVX_VectorPred lanes = Q6_Q_vcmp_gt_VuwVuw(limit, Q6_Vw_vasl_VwR(w[i], p->y.up));
        w[i] = Q6_Vw_vasr_VwR(w[i], p->y.right);
        if (doubts && tn_hx_any(lanes)) {
            w[i] = again(p, w[i], u[i], v[i], Q6_V_vand_QR(lanes, -1));
        }
    }
    return tn_hx_pack(w[0], w[1], w[2], w[3], Q6_V_vzero(), low, high);
}

// n bytes. Of an operand that is the same everywhere (step 0) a whole vector can be read.
typedef struct operand {
    const uint8_t *at;
    int32_t step;
} operand;

static inline __attribute__((always_inline)) void row_of(const binary_plan *plan, operand a, operand b, uint8_t *to, int32_t n, int op, int rounding)
{
    const binary_plan p = *plan;   // which the results cannot overwrite
    for (; n >= TN_HX_VECTOR; n -= TN_HX_VECTOR, to += TN_HX_VECTOR, a.at += a.step, b.at += b.step) {
        TN_HX_VU(to) = bytes_of(&p, TN_HX_CVU(a.at), TN_HX_CVU(b.at), op, rounding);
    }
    if (n > 0) {
        const HVX_Vector u = tn_hx_load_bytes(a.at, a.step ? n : TN_HX_VECTOR), v = tn_hx_load_bytes(b.at, b.step ? n : TN_HX_VECTOR);
        tn_hx_store_bytes(to, bytes_of(&p, u, v, op, rounding), n);
    }
}

typedef void row_fn(const binary_plan *, operand, operand, uint8_t *, int32_t);
#define ROW(NAME, OP, ROUNDING)                                                                                       \
    static void NAME(const binary_plan *p, operand a, operand b, uint8_t *to, int32_t n)                              \
    {                                                                                                                 \
        row_of(p, a, b, to, n, TN_HEX_OP_##OP, TN_HEX_##ROUNDING);                                                    \
    }
ROW(add_q31, ADD, FIXED_Q31)
ROW(add_rne, ADD, FLOAT_RNE)
ROW(sub_q31, SUB, FIXED_Q31)
ROW(sub_rne, SUB, FLOAT_RNE)
ROW(mul_q31, MUL, FIXED_Q31)
ROW(mul_rne, MUL, FLOAT_RNE)
ROW(min_bytes, MIN, FIXED_Q31)
ROW(max_bytes, MAX, FIXED_Q31)

static row_fn *row_fn_of(const binary_plan *p)
{
    const int rne = p->rounding != TN_HEX_FIXED_Q31;
    switch (p->op) {
    case TN_HEX_OP_ADD: return rne ? add_rne : add_q31;
    case TN_HEX_OP_SUB: return rne ? sub_rne : sub_q31;
    case TN_HEX_OP_MUL: return rne ? mul_rne : mul_q31;
    case TN_HEX_OP_MIN: return min_bytes;
    default: return max_bytes;
    }
}

typedef struct binary_run {
    const binary_plan *plan;
    row_fn *row;
    const tn_hx_value *a, *b, *y;
    int32_t chunks;
} binary_run;

static void same_tile(void *context, uint32_t index)
{
    const binary_run *run = context;
    const uint8_t *a = tn_hx_flat_start(run->a), *b = tn_hx_flat_start(run->b);
    uint8_t *y = tn_hx_flat_start(run->y);
    const uint32_t all = tn_hx_flat_bytes(run->y), from = index * TN_HX_FLAT_PART;
    const uint32_t end = from + TN_HX_FLAT_PART < all ? from + TN_HX_FLAT_PART : all;
    const operand u = {a + from, TN_HX_VECTOR}, v = {b + from, TN_HX_VECTOR};
    run->row(run->plan, u, v, y + from, (int32_t)(end - from));
}

// One plane of the full operand with the pixel of the other's plane.
static void channel_tile(void *context, uint32_t index)
{
    const binary_run *run = context;
    const tn_hx_value *full = run->plan->swapped ? run->b : run->a, *one = run->plan->swapped ? run->a : run->b;
    const int32_t plane = (int32_t)index / run->chunks, chunk = (int32_t)index % run->chunks;
    uint8_t pixels[TN_HX_VECTOR] __attribute__((aligned(128)));
    TN_HX_V(pixels) = Q6_V_vsplat_R(*(const int32_t *)tn_hx_plane(one, 0, plane));
    const int32_t from = chunk * CHUNK_VECTORS, left = tn_hx_plane_vectors(run->y) - from, n = left < CHUNK_VECTORS ? left : CHUNK_VECTORS;
    const operand u = {tn_hx_plane(full, 0, plane) + from * TN_HX_VECTOR, TN_HX_VECTOR}, v = {pixels, 0};
    uint8_t *to = tn_hx_plane(run->y, 0, plane) + from * TN_HX_VECTOR;
    run->row(run->plan, run->plan->swapped ? v : u, run->plan->swapped ? u : v, to, n * TN_HX_VECTOR);
}

// Any broadcast, by rows of the last axis.
static void any_tile(void *context, uint32_t row)
{
    const binary_run *run = context;
    const tn_hx_value *sides[2] = {run->a, run->b}, *y = run->y;
    const uint8_t *at[2] = {run->a->data, run->b->data};
    const int32_t n = y->rank ? y->dims[y->rank - 1] : 1;
    uint32_t step[2];
    for (int s = 0; s < 2; s++) {
        uint32_t rest = row, stride = 1;
        const tn_hx_value *x = sides[s];
        step[s] = x->rank && x->dims[x->rank - 1] != 1;
        stride = x->rank ? (uint32_t)x->dims[x->rank - 1] : 1;
        for (int i = 2; i <= y->rank; i++) {
            const uint32_t dim = (uint32_t)y->dims[y->rank - i], index = rest % dim;
            rest /= dim;
            if (i <= x->rank) {
                at[s] += x->dims[x->rank - i] == 1 ? 0 : index * stride;
                stride *= (uint32_t)x->dims[x->rank - i];
            }
        }
    }
    uint8_t *to = y->data + row * (uint32_t)n;
    if (n >= SHORT_ROW) {
        uint8_t same[2][TN_HX_VECTOR] __attribute__((aligned(128)));
        operand of[2];
        for (int s = 0; s < 2; s++) {
            TN_HX_V(same[s]) = tn_hx_splat_byte(*at[s]);
            of[s] = step[s] ? (operand){at[s], TN_HX_VECTOR} : (operand){same[s], 0};
        }
        run->row(run->plan, of[0], of[1], to, n);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        to[i] = (uint8_t)scalar_of(run->plan, *at[0], *at[1]);
        at[0] += step[0];
        at[1] += step[1];
    }
}

static void run(tn_hx_graph *graph, tn_hx_node *node)
{
    binary_run r = {.plan = node->plan, .row = row_fn_of(node->plan), .a = tn_hx_in(graph, node, 0), .b = tn_hx_in(graph, node, 1), .y = tn_hx_out(graph, node)};
    if (r.plan->kind == KIND_SAME) {
        tn_hx_parallel(same_tile, &r, tn_hx_flat_tiles(r.y));
    } else if (r.plan->kind == KIND_CHANNEL) {
        r.chunks = (tn_hx_plane_vectors(r.y) + CHUNK_VECTORS - 1) / CHUNK_VECTORS;
        tn_hx_parallel(channel_tile, &r, (uint32_t)(r.y->images * r.y->planes * r.chunks));
    } else {
        tn_hx_parallel(any_tile, &r, r.y->count / (uint32_t)(r.y->rank ? r.y->dims[r.y->rank - 1] : 1));
    }
    if (r.y->layout == TN_HX_QUAD) {
        tn_hx_fill_padding(r.y);
    }
}

#define BINARY(name, NAME)                                                                                            \
    const tn_hx_op tn_hx_op_##name = {                                                                                \
        .index = TN_HEX_OP_##NAME, .min_in = 2, .max_in = 2, .check = check, .layout = layout, .prepare = prepare, .run = run}

BINARY(add, ADD);
BINARY(sub, SUB);
BINARY(mul, MUL);
BINARY(min, MIN);
BINARY(max, MAX);
