// SPDX-License-Identifier: Apache-2.0
// Softmax and layer normalisation in integers. Softmax is scalar code with 64-bit products, which divides once per different distance from
// the greatest element of a line, not once per element. Layer normalisation (base/requant.h) has scalar work once per line, a root and
// a division; its elements go by vectors.
// Ownership: tables in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/vec/hx_flat.h"
#include "exec/hexagon/dsp/vec/hx_requant.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum { MAX_LINE = 65536 };

typedef struct norm_run {
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    const uint32_t *table;       // softmax
    const int32_t *words;        // layer_norm
    int32_t n, inner;            // elements of a line, and their distance
} norm_run;

static uint32_t check_bytes(const tn_hx_graph *graph, const tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    if (!tn_hx_is_byte(x) || x->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    return tn_hx_same_shape(x, y) && x->rank > 0 ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

// Operand k is a constant of n words.
static uint32_t check_words(const tn_hx_graph *graph, const tn_hx_node *node, uint32_t k, uint32_t n)
{
    const tn_hx_value *v = tn_hx_in(graph, node, k);
    if (!v || v->origin != TN_HX_CONST) {
        return TN_HEX_WHY_CONST;
    }
    if (v->dtype != TN_HEX_S32) {
        return TN_HEX_WHY_DTYPE;
    }
    return v->count == n ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

static int layout(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_PLAIN;
}

// ---- softmax ----

static uint32_t check_softmax(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *y = tn_hx_out(graph, node);
    uint32_t why = check_bytes(graph, node);
    if (!why && (node->attr.axis >= y->rank || y->dims[node->attr.axis] > MAX_LINE)) {
        why = TN_HEX_WHY_ATTR;
    }
    return why ? why : check_words(graph, node, 1, 256);
}

static uint32_t prepare_softmax(tn_hx_graph *graph, tn_hx_node *node)
{
    uint32_t *table = node->plan = tn_hx_pool_take(&graph->pool, 1024);
    if (!table) {
        return TN_HEX_WHY_LIMIT;
    }
    memcpy(table, tn_hx_in(graph, node, 1)->data, 1024);
    for (int i = 0; i < 256; i++) {
        if (table[i] > TN_SOFTMAX_ONE) {
            return TN_HEX_WHY_ATTR;   // products would leave 64 bits
        }
    }
    return TN_HEX_WHY_NONE;
}

static void softmax_line(void *context, uint32_t line)
{
    const norm_run *run = context;
    const uint32_t inner = (uint32_t)run->inner, first = line / inner * inner * (uint32_t)run->n + line % inner;
    const uint8_t *x = run->x->data + first;
    uint8_t *y = run->y->data + first;
    const int32_t zero = run->y->zero, low = run->attr->low, high = run->attr->high;
    int32_t most = 0;
    uint64_t sum = 0;
    for (int32_t i = 0; i < run->n; i++) {
        most = x[i * run->inner] > most ? x[i * run->inner] : most;
    }
    for (int32_t i = 0; i < run->n; i++) {
        sum += run->table[most - x[i * run->inner]];
    }
    int16_t known[256];
    memset(known, 0xff, sizeof known);
    for (int32_t i = 0; i < run->n; i++) {
        const int32_t d = most - x[i * run->inner];
        if (known[d] < 0) {
            known[d] = (int16_t)tn_requant_softmax(run->table[d], sum, run->attr->factor, zero, low, high);
        }
        y[i * run->inner] = (uint8_t)known[d];
    }
}

static void run_softmax(tn_hx_graph *graph, tn_hx_node *node)
{
    norm_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr, .table = node->plan, .inner = 1};
    r.n = r.y->dims[node->attr.axis];
    for (int32_t i = node->attr.axis + 1; i < r.y->rank; i++) {
        r.inner *= r.y->dims[i];
    }
    tn_hx_parallel(softmax_line, &r, r.y->count / (uint32_t)r.n);
}

// ---- layer_norm ----

static uint64_t epsilon_of(const tn_hx_attr *attr) { return (uint64_t)attr->epsilon[1] << 32 | attr->epsilon[0]; }

// Whether the last axes together have n elements.
static int has_lines(const tn_hx_value *v, uint32_t n)
{
    uint32_t length = 1;
    for (int i = v->rank - 1; i >= 0 && length < n; i--) {
        length *= (uint32_t)v->dims[i];
    }
    return length == n;
}

static uint32_t check_layer_norm(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *gain = tn_hx_in(graph, node, 1);
    uint32_t why = check_bytes(graph, node);
    why = why || gain ? why : TN_HEX_WHY_CONST;
    why = why ? why : check_words(graph, node, 1, gain->count);
    why = why ? why : check_words(graph, node, 2, gain->count);
    if (!why && (gain->count > TN_NORM_LINE || !has_lines(tn_hx_out(graph, node), gain->count))) {
        return TN_HEX_WHY_SHAPE;
    }
    const tn_hx_attr *a = &node->attr;
    return why || (a->down >= 1 && a->down <= 31 && epsilon_of(a) <= TN_NORM_EPSILON) ? why : TN_HEX_WHY_ATTR;
}

// Gains and biases of each 128 elements as four vectors of words each, in the order in which bytes are widened: [blocks][2][4][32].
static uint32_t prepare_layer_norm(tn_hx_graph *graph, tn_hx_node *node)
{
    const uint32_t n = tn_hx_in(graph, node, 1)->count, blocks = (n + TN_HX_VECTOR - 1) / TN_HX_VECTOR;
    int32_t *words = node->plan = tn_hx_pool_take(&graph->pool, blocks * 8 * TN_HX_VECTOR);
    if (!words) {
        return TN_HEX_WHY_LIMIT;
    }
    for (uint32_t k = 0; k < 2; k++) {
        const uint8_t *from = tn_hx_in(graph, node, 1 + k)->data;
        for (uint32_t i = 0; i < n; i++) {
            memcpy(words + i / 128 * 256 + 128 * k + i % 4 * 32 + i % 128 / 4, from + 4 * i, 4);
        }
    }
    return TN_HEX_WHY_NONE;
}

static int32_t sum_of_lanes(HVX_Vector v)
{
    for (int32_t shift = 64; shift >= 4; shift /= 2) {
        v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, shift));
    }
    return Q6_R_vextract_VR(v, 0);
}

// tn_q31_mul
static inline HVX_Vector product(HVX_Vector a, HVX_Vector b)
{
    return Q6_Vw_vmpyoacc_VwVwVh_s1_rnd_sat_shift(Q6_Vw_vmpye_VwVuh(a, b), a, b);
}

// tn_q31_shift
static inline HVX_Vector shifted(HVX_Vector v, int32_t drop)
{
    if (drop == 0) {
        return v;
    }
    v = Q6_Vw_vadd_VwVw_sat(v, Q6_Vw_vasr_VwR(v, 31));
    return Q6_Vw_vavg_VwVw_rnd(Q6_Vw_vasr_VwR(v, drop - 1), Q6_V_vzero());
}

static void layer_norm_line(void *context, uint32_t line)
{
    const norm_run *run = context;
    const int32_t n = run->n, down = run->attr->down;
    const uint8_t *x = run->x->data + line * (uint32_t)n;
    uint8_t *y = run->y->data + line * (uint32_t)n;
    HVX_Vector sums = Q6_V_vzero(), squares = sums;
    for (int32_t i = 0; i < n; i += TN_HX_VECTOR) {   // the 128 that u8 adds to s8 changes nothing
        const HVX_Vector v = tn_hx_load_bytes(x + i, n - i);
        sums = Q6_Vuw_vrmpyacc_VuwVubRub(sums, v, 0x01010101);
        squares = Q6_Vuw_vrmpyacc_VuwVubVub(squares, v, v);
    }
    const int32_t sum = sum_of_lanes(sums);
    const tn_norm_factor f =
        tn_norm_factor_of(n, tn_norm_root(tn_norm_square(n, sum, sum_of_lanes(squares), epsilon_of(run->attr))));
    const HVX_Vector length = Q6_V_vsplat_R((int32_t)((uint32_t)n * 0x00010001u)), mean = Q6_V_vsplat_R(sum), multiplier = Q6_V_vsplat_R(f.multiplier);
    const HVX_Vector zero = Q6_V_vsplat_R(run->y->zero * 0x00010001);
    const HVX_Vector low = tn_hx_splat_byte(run->attr->low), high = tn_hx_splat_byte(run->attr->high);
    for (int32_t i = 0; i < n; i += TN_HX_VECTOR) {
        const int32_t *words = run->words + 2 * i;
        HVX_Vector v[4];
        tn_hx_widen(tn_hx_load_bytes(x + i, n - i), v);
        for (int k = 0; k < 4; k++) {
            const HVX_Vector d = Q6_Vw_vsub_VwVw(Q6_Vw_vmpyie_VwVuh(v[k], length), mean);
            const HVX_Vector z = shifted(product(Q6_Vw_vasl_VwR(d, f.lift), multiplier), f.drop);
            const HVX_Vector bias = TN_HX_CV(words + 128 + 32 * k);
            v[k] = Q6_Vw_vasr_VwR(Q6_Vw_vadd_VwVw_sat(product(z, TN_HX_CV(words + 32 * k)), bias), down);
        }
        tn_hx_store_bytes(y + i, tn_hx_pack(v[0], v[1], v[2], v[3], zero, low, high), n - i);
    }
}

static void run_layer_norm(tn_hx_graph *graph, tn_hx_node *node)
{
    norm_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr, .words = node->plan};
    r.n = (int32_t)tn_hx_in(graph, node, 1)->count;
    tn_hx_parallel(layer_norm_line, &r, r.y->count / (uint32_t)r.n);
}

const tn_hx_op tn_hx_op_softmax = {
    .index = TN_HEX_OP_SOFTMAX, .min_in = 2, .max_in = 2, .check = check_softmax, .layout = layout, .prepare = prepare_softmax,
    .run = run_softmax
};
const tn_hx_op tn_hx_op_layer_norm = {
    .index = TN_HEX_OP_LAYER_NORM, .min_in = 3, .max_in = 3, .check = check_layer_norm, .layout = layout, .prepare = prepare_layer_norm,
    .run = run_layer_norm
};
