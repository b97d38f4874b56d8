// SPDX-License-Identifier: Apache-2.0
// wide_lut: functions of 16 bits by tables of 4097 entries with interpolation, and of bytes by 256. Tables lie in VTCM, where 64 places are
// looked up at once (vgather): each thread has a table and two vectors of results there. Without that much VTCM it goes by scalars.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/wide/hx_wide.h"

// For each thread in VTCM: TABLE bytes and two vectors.
enum { PART = 4096, TABLE = (2 * TN_WIDE_ENTRIES + TN_HX_VECTOR - 1) / TN_HX_VECTOR * TN_HX_VECTOR, SLOT = TABLE + 2 * TN_HX_VECTOR };

static uint32_t parts_of(uint32_t count) { return (count + PART - 1) / PART; }
static uint32_t end_of(uint32_t from, uint32_t count) { return from + PART < count ? from + PART : count; }

typedef struct lut_run {
    const tn_hx_value *x, *y;
    const int16_t *tables;
    uint32_t entries, inner, channels;       // inner: elements that share a table
    uint8_t *vtcm;                           // a slot for each thread; NULL: none
} lut_run;

static uint32_t check_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *table = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    if (!table || table->origin != TN_HX_CONST) {
        return TN_HEX_WHY_CONST;
    }
    if (table->dtype != TN_HEX_S16 || (!tn_hx_is_wide(x) && !tn_hx_is_byte(x)) || (!tn_hx_is_wide(y) && !tn_hx_is_byte(y))) {
        return TN_HEX_WHY_DTYPE;
    }
    const int32_t entries = tn_hx_is_wide(x) ? TN_WIDE_ENTRIES : 256;
    const int fits = (table->rank == 1 && table->dims[0] == entries) ||
                     (table->rank == 2 && x->rank >= 2 && table->dims[0] == x->dims[1] && table->dims[1] == entries);
    return fits && tn_hx_same_shape(x, y) ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

// A copy in the graph's memory, for bytes in the order of the inner u8 form.
static uint32_t prepare_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *table = tn_hx_in(graph, node, 1);
    int16_t *to = node->plan = tn_hx_pool_take(&graph->pool, 2 * table->count);
    if (!to) {
        return TN_HEX_WHY_LIMIT;
    }
    const uint32_t flip = x->dtype == TN_HEX_S8 ? 0x80 : 0;
    for (uint32_t i = 0; i < table->count; i++) {
        to[i] = ((const int16_t *)table->data)[i ^ flip];
    }
    return TN_HEX_WHY_NONE;
}

static void look_scalar(const lut_run *run, const int16_t *table, uint32_t from, uint32_t end)
{
    const int16_t *x = (const int16_t *)run->x->data;
    const uint8_t *bytes = run->x->data;
    const int wide_in = tn_hx_is_wide(run->x), wide_out = tn_hx_is_wide(run->y), flip = run->y->dtype == TN_HEX_S8;
    for (uint32_t i = from; i < end; i++) {
        const int32_t v = wide_in ? tn_wide_look(table, x[i]) : table[bytes[i]];
        if (wide_out) {
            ((int16_t *)run->y->data)[i] = (int16_t)v;
        } else {
            run->y->data[i] = (uint8_t)(flip ? tn_wide_byte(v, INT8_MIN, INT8_MAX) ^ 0x80 : tn_wide_byte(v, 0, UINT8_MAX));
        }
    }
}

// 64 entries from byte offsets.
static inline HVX_Vector gather(const uint8_t *slot, uint32_t base, uint32_t bytes, HVX_Vector offsets, int which)
{
    HVX_Vector *to = (HVX_Vector *)(uintptr_t)(slot + TABLE + which * TN_HX_VECTOR);
    Q6_vgather_ARMVh(to, (uint32_t)(uintptr_t)slot + base, (int32_t)bytes - 1, offsets);
    return *(volatile HVX_Vector *)to;
}

// As tn_wide_look: t0 + ((t1 - t0) * rest + 8) / 16 is (t0 * (16 - rest) + t1 * rest + 8) / 16.
static HVX_Vector look_wide(const uint8_t *slot, HVX_Vector x)
{
    const HVX_Vector up = Q6_V_vxor_VV(x, tn_hx_wide_splat(0x8000)), mask = tn_hx_wide_splat((1 << TN_WIDE_BITS) - 1);
    const HVX_Vector offsets = Q6_V_vand_VV(Q6_Vuh_vlsr_VuhR(up, TN_WIDE_BITS - 1), tn_hx_wide_splat(0xfffe)), rest = Q6_V_vand_VV(x, mask);
    const HVX_Vector low = gather(slot, 0, 2 * TN_WIDE_ENTRIES, offsets, 0), high = gather(slot, 2, 2 * TN_WIDE_ENTRIES - 2, offsets, 1);
    HVX_VectorPair sum = Q6_Ww_vmpy_VhVh(low, Q6_Vh_vsub_VhVh(tn_hx_wide_splat(1 << TN_WIDE_BITS), rest));
    sum = Q6_Ww_vmpyacc_WwVhVh(sum, high, rest);
    return Q6_Vh_vasr_VwVwR_rnd_sat(Q6_V_hi_W(sum), Q6_V_lo_W(sum), TN_WIDE_BITS);
}

// 128 results of bytes from halves.
static HVX_Vector to_bytes(HVX_Vector first, HVX_Vector second, int flip)
{
    const HVX_Vector half = tn_hx_wide_splat(1 << (TN_WIDE_TO_BYTE - 1));
    first = Q6_Vh_vasr_VhR(Q6_Vh_vadd_VhVh_sat(first, half), TN_WIDE_TO_BYTE);
    second = Q6_Vh_vasr_VhR(Q6_Vh_vadd_VhVh_sat(second, half), TN_WIDE_TO_BYTE);
    return flip ? Q6_V_vxor_VV(Q6_Vb_vpack_VhVh_sat(second, first), Q6_V_vsplat_R((int32_t)0x80808080u)) : Q6_Vub_vpack_VhVh_sat(second, first);
}

// 128 elements from `i`.
static void look_vectors(const lut_run *run, const uint8_t *slot, uint32_t i)
{
    HVX_Vector first, second;
    if (tn_hx_is_wide(run->x)) {
        const int16_t *x = (const int16_t *)run->x->data + i;
        first = look_wide(slot, TN_HX_CVU(x));
        second = look_wide(slot, TN_HX_CVU(x + TN_HX_WIDE_LANES));
    } else {
        const HVX_VectorPair places = Q6_Wuh_vunpack_Vub(TN_HX_CVU(run->x->data + i));
        first = gather(slot, 0, 2 * 256, Q6_Vh_vasl_VhR(Q6_V_lo_W(places), 1), 0);
        second = gather(slot, 0, 2 * 256, Q6_Vh_vasl_VhR(Q6_V_hi_W(places), 1), 1);
    }
    if (tn_hx_is_wide(run->y)) {
        int16_t *y = (int16_t *)run->y->data + i;
        TN_HX_VU(y) = first;
        TN_HX_VU(y + TN_HX_WIDE_LANES) = second;
    } else {
        TN_HX_VU(run->y->data + i) = to_bytes(first, second, run->y->dtype == TN_HEX_S8);
    }
}

static void lut_tile(void *context, uint32_t index)
{
    const lut_run *run = context;
    const tn_hx_os *os = &tn_hx_os_table;
    const uint32_t pieces = parts_of(run->inner), block = index / pieces, first = index % pieces * PART, end = end_of(first, run->inner);
    const int16_t *table = run->tables + block % run->channels * run->entries;
    const uint32_t begin = block * run->inner;
    uint32_t i = first;
    // Below that many elements bringing the table over costs more than it saves.
    if (run->vtcm && (run->channels == 1 || 2 * (end - first) >= run->entries)) {
        uint8_t *slot = run->vtcm + os->self()->thread * SLOT;
        os->copy_start(slot, table, 2 * run->entries);
        os->copy_wait();
        for (; i + TN_HX_VECTOR <= end; i += TN_HX_VECTOR) {
            look_vectors(run, slot, begin + i);
        }
    }
    look_scalar(run, table, begin + i, begin + end);
}

static void run_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_os *os = &tn_hx_os_table;
    const tn_hx_value *table = tn_hx_in(graph, node, 1);
    lut_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .tables = node->plan, .channels = 1};
    r.entries = (uint32_t)table->dims[table->rank - 1];
    r.inner = r.x->count;
    if (table->rank == 2) {
        r.channels = (uint32_t)table->dims[0];
        r.inner = r.x->count / (uint32_t)(r.x->dims[0] * r.x->dims[1]);
    }
    r.vtcm = r.inner >= TN_HX_VECTOR ? os->vtcm_take(TN_HEX_MAX_THREADS * SLOT) : NULL;
    tn_hx_parallel(lut_tile, &r, r.x->count / r.inner * parts_of(r.inner));
    if (r.vtcm) {
        os->vtcm_give(r.vtcm);
    }
}

const tn_hx_op tn_hx_op_wide_lut = {
    .index = TN_HEX_OP_WIDE_LUT, .min_in = 2, .max_in = 2, .check = check_lut, .layout = tn_hx_layout_plain, .prepare = prepare_lut,
    .run = run_lut
};
