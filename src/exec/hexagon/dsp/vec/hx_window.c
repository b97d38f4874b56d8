// SPDX-License-Identifier: Apache-2.0
// Windows over QUAD planes: where each tap reads, phase planes for strides, padding.
// Ownership: offsets in the graph's pool. Threads: any after prepare.
#include "exec/hexagon/dsp/vec/hx_kernels.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum { DIRECT_PAD = 8 };   // more padding than this makes copies of x cheaper than the wider rows

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

int tn_hx_window_fits(const tn_hx_attr *attr, const tn_hx_value *x, const tn_hx_value *y, const int32_t kernel[2])
{
    for (int i = 0; i < 2; i++) {
        const int64_t span = (int64_t)(kernel[i] - 1) * attr->dilations[i] + 1;
        const int64_t room = (int64_t)x->dims[2 + i] + attr->pads[i] + attr->pads[2 + i] - span;
        if (room < 0 || room / attr->strides[i] + 1 != y->dims[2 + i]) {
            return 0;
        }
    }
    return 1;
}

int tn_hx_window_is_halving(const tn_hx_attr *attr, int32_t kernel)
{
    int fits = 1;
    for (int i = 0; i < 2; i++) {
        fits &= attr->kernel[i] == kernel && attr->strides[i] == 2 && attr->dilations[i] == 1 && attr->pads[i] <= kernel / 2 &&
                attr->pads[2 + i] <= kernel / 2;
    }
    return fits;
}

int32_t tn_hx_window_blocks(const tn_hx_attr *attr) { return tn_hx_window_is_halving(attr, 3) ? 3 : tn_hx_window_is_halving(attr, 5) ? 5 : 0; }

// Padding that reading x itself needs; -1: x must be copied.
static int32_t direct_pad(const tn_hx_attr *attr, const int32_t kernel[2], const tn_hx_value *x, const tn_hx_value *y)
{
    int64_t pad = 0;
    for (int i = 0; i < 2; i++) {
        const int64_t span = (int64_t)(kernel[i] - 1) * attr->dilations[i];
        if (attr->strides[i] != 1 || x->dims[2 + i] != y->dims[2 + i]) {
            return -1;
        }
        pad = max64(pad, max64(attr->pads[i], span - attr->pads[i]));
    }
    return pad > DIRECT_PAD ? -1 : (int32_t)pad;
}

static int has_window(int op)
{
    return op == TN_HEX_OP_CONV || op == TN_HEX_OP_DECONV || op == TN_HEX_OP_AVERAGE_POOL || op == TN_HEX_OP_MAX_POOL;
}

// Rows of 8 or 16 pixels divide a vector (hx_columns.c); 0: they would make planes longer.
static int32_t dividing_pitch(const tn_hx_value *y, int32_t pad)
{
    const int32_t height = y->dims[2], natural = y->dims[3] + pad, pitch = natural <= 8 ? 8 : natural <= 16 ? 16 : 0;
    return (height * pitch + 31) / 32 == (height * natural + 31) / 32 ? pitch : 0;
}

tn_hx_need tn_hx_window_need(const tn_hx_graph *graph, const tn_hx_node *node)
{
    tn_hx_need need = {0, 0};
    if (has_window(node->op->index)) {
        const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
        const int32_t op = node->op->index, reach = (node->attr.kernel[1] - 1) * node->attr.dilations[1];
        const int copied = op == TN_HEX_OP_MAX_POOL || op == TN_HEX_OP_DECONV;
        const int32_t pad = copied ? -1 : direct_pad(&node->attr, node->attr.kernel, x, y);
        const int depthwise = op == TN_HEX_OP_CONV && node->attr.group == x->dims[1] && x->dims[1] == y->dims[1];
        const int32_t blocks = depthwise ? tn_hx_window_blocks(&node->attr) : 0;
        // Blocks: see hx_blocks.c. Images of few channels are copied to phases in the time of their products: padding spares looking for ends.
        const int image = op == TN_HEX_OP_CONV && x->dims[1] <= 4 && tn_hx_window_is_halving(&node->attr, 3);
        need.pad = blocks ? blocks / 2 : image ? 1 : pad < 0 ? 0 : pad;
        need.pitch = pad >= 0 ? depthwise && pad == 1 ? dividing_pitch(y, pad) : 0 : y->dims[3] + reach / (op == TN_HEX_OP_DECONV ? 1 : node->attr.strides[1]);
    }
    return need;
}

enum { PAD_PLANES = 8 };   // of a tile

// Whole vectors before and after the plane, where nothing else lies, then the end of each row.
void tn_hx_fill_plane(const tn_hx_value *v, uint8_t *plane)
{
    const HVX_Vector blank = tn_hx_splat_byte(v->zero);
    const int32_t zero = (int32_t)((uint32_t)v->zero * 0x01010101u), gap = v->pitch - v->width, pitch = v->pitch;
    int32_t *row = (int32_t *)plane + v->width;
    uint8_t *after = plane + 4 * v->height * pitch;
    for (int32_t k = v->pad * pitch + v->pad; k > 0; k -= 32) {
        plane -= TN_HX_VECTOR;
        TN_HX_V(plane) = blank;
        TN_HX_VU(after) = blank;
        after += TN_HX_VECTOR;
    }
    if (gap == 1) {
        int32_t n = v->height;
        for (; n > 1; n -= 2, row += 2 * pitch) {
            row[0] = zero;
            row[pitch] = zero;
        }
        if (n) {
            *row = zero;
        }
        return;
    }
    for (int32_t y = 0; y < v->height; y++, row += pitch) {
        for (int32_t x = 0; x < gap; x++) {
            row[x] = zero;
        }
    }
}

static void pad_tile(void *context, uint32_t index)
{
    const tn_hx_value *v = context;
    const int32_t first = (int32_t)index * PAD_PLANES, all = v->images * v->planes, end = first + PAD_PLANES < all ? first + PAD_PLANES : all;
    for (int32_t i = first; i < end; i++) {
        tn_hx_fill_plane(v, tn_hx_plane(v, 0, i));
    }
}

void tn_hx_fill_padding(const tn_hx_value *v)
{
    if (v->pitch != v->width || v->pad) {
        tn_hx_parallel(pad_tile, (void *)(uintptr_t)v, (uint32_t)(v->images * v->planes + PAD_PLANES - 1) / PAD_PLANES);
    }
}

// ---- taps ----

uint32_t tn_hx_taps_init(tn_hx_graph *graph, tn_hx_taps *taps, const tn_hx_attr *attr, const int32_t kernel[2], const tn_hx_value *x,
                         const tn_hx_value *y)
{
    const int32_t *s = attr->strides, *d = attr->dilations;
    taps->n = kernel[0] * kernel[1];
    taps->offsets = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)taps->n);
    taps->phases = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)(kernel[0] + kernel[1]));
    if (!taps->offsets || !taps->phases) {
        return TN_HEX_WHY_LIMIT;
    }
    taps->direct = !taps->copied && direct_pad(attr, kernel, x, y) >= 0;
    // The remainders by the stride that occur, rows first; one phase plane for each pair of them.
    int32_t place[2][1024];
    for (int axis = 0; axis < 2; axis++) {
        int32_t *list = taps->phases + (axis ? kernel[0] : 0);
        for (int32_t k = 0; k < kernel[axis]; k++) {
            const int32_t phase = k * d[axis] % s[axis];
            int32_t at = 0;
            while (at < taps->n_phases[axis] && list[at] != phase) {
                at++;
            }
            list[at] = phase;
            place[axis][k] = at;
            taps->n_phases[axis] += at == taps->n_phases[axis];
        }
    }
    taps->columns = taps->phases + kernel[0];
    taps->rows = y->height + (kernel[0] - 1) * d[0] / s[0];
    const uint64_t phase_bytes = ((uint64_t)4 * (uint32_t)taps->rows * (uint32_t)y->pitch + 4u * (uint32_t)y->pitch + 511) & ~(uint64_t)127;
    const uint64_t plane_bytes = phase_bytes * (uint32_t)(taps->n_phases[0] * taps->n_phases[1]);
    if (!taps->direct && plane_bytes * (uint32_t)x->planes > 0x20000000u) {
        return TN_HEX_WHY_LIMIT;
    }
    taps->phase_bytes = (uint32_t)phase_bytes;
    taps->plane_bytes = taps->direct ? x->plane_bytes : (uint32_t)plane_bytes;
    for (int32_t ky = 0; ky < kernel[0]; ky++) {
        for (int32_t kx = 0; kx < kernel[1]; kx++) {
            const int32_t phase = place[0][ky] * taps->n_phases[1] + place[1][kx];
            taps->offsets[ky * kernel[1] + kx] =
                taps->direct ? 4 * ((ky * d[0] - attr->pads[0]) * x->pitch + kx * d[1] - attr->pads[1])
                             : phase * (int32_t)phase_bytes + 4 * (ky * d[0] / s[0] * y->pitch + kx * d[1] / s[1]);
        }
    }
    return TN_HEX_WHY_NONE;
}

uint32_t tn_hx_taps_scratch(const tn_hx_taps *taps, const tn_hx_value *x)
{
    return taps->direct ? 0 : taps->plane_bytes * (uint32_t)(x->planes + 1);   // one more, for loads ahead
}

// n pixels, every step-th of `from`; whole vectors are written, up to 31 pixels too many.
static void copy_row(uint32_t *to, const uint32_t *from, int32_t n, int32_t step)
{
    if (step == 1) {
        for (int32_t i = 0; i < n; i += 32) {
            TN_HX_VU(to + i) = TN_HX_CVU(from + i);
        }
    } else if (step == 2) {
        for (int32_t i = 0; i < n; i += 32) {
            TN_HX_VU(to + i) = Q6_V_lo_W(Q6_W_vdeal_VVR(TN_HX_CVU(from + 2 * i + 32), TN_HX_CVU(from + 2 * i), -4));
        }
    } else {
        for (int32_t i = 0; i < n; i++) {
            to[i] = from[i * step];
        }
    }
}

static void fill_phase(const tn_hx_taps *taps, const tn_hx_attr *attr, const tn_hx_value *x, int32_t pitch, const uint8_t *from,
                       int32_t row_phase, int32_t column_phase, uint8_t fill, uint8_t *to)
{
    const uint32_t word = fill * 0x01010101u;
    const int32_t step = attr->strides[1], shift = column_phase - attr->pads[1];   // column i reads i * step + shift
    int32_t first = shift < 0 ? (-shift + step - 1) / step : 0;
    int32_t end = x->width - 1 - shift < 0 ? 0 : (x->width - 1 - shift) / step + 1;
    end = end > pitch ? pitch : end;
    const HVX_Vector blank = tn_hx_splat_byte(fill);
    const int32_t down = attr->strides[0];
    int32_t y = row_phase - attr->pads[0];
    uint32_t *row = (uint32_t *)to;
    for (int32_t r = 0; r < taps->rows; r++, y += down, row += pitch) {
        if (y < 0 || y >= x->height || first >= end) {
            for (int32_t i = 0; i < pitch; i += 32) {
                TN_HX_VU(row + i) = blank;
            }
            continue;
        }
        if (first > 0) {
            for (int32_t i = 0; i < first; i++) {
                row[i] = word;
            }
        }
        copy_row(row + first, (const uint32_t *)from + y * x->pitch + first * step + shift, end - first, step);
        TN_HX_VU(row + end) = blank;   // over what the copy wrote too much; the next row comes after
        for (int32_t i = end + 32; i < pitch; i += 32) {
            TN_HX_VU(row + i) = blank;
        }
    }
}

// Even and odd pixels of rows, `pitch` of each; step: pixels from a row to the next. Whole vectors are written, over the rows that come after.
static void copy_halves(uint32_t *even, uint32_t *odd, const uint32_t *from, int32_t step, int32_t pitch, int32_t rows)
{
    const int32_t beside = tn_hx_opaque(32);
    for (; rows > 0; rows--, from += step, even += pitch, odd += pitch) {
        const uint32_t *at = from;
        uint32_t *a = even, *b = odd;
#pragma clang loop unroll(disable)
        for (int32_t i = pitch; i > 0; i -= 32) {
            const HVX_VectorPair both = Q6_W_vdeal_VVR(TN_HX_CVU(at + beside), TN_HX_CVU(at), -4);
            TN_HX_VU(a) = Q6_V_lo_W(both);
            TN_HX_VU(b) = Q6_V_hi_W(both);
            at += 64, a += 32, b += 32;
        }
    }
}

// Both phases of columns for a stride of 2, from the same loads. to[1] is a phase plane after to[0].
static void fill_halves(const tn_hx_taps *taps, const tn_hx_attr *attr, const tn_hx_value *x, int32_t pitch, const uint8_t *from,
                        int32_t row_phase, uint8_t fill, uint8_t *to)
{
    const uint32_t word = fill * 0x01010101u;
    const HVX_Vector blank = tn_hx_splat_byte(fill);
    const int32_t left = attr->pads[1];
    int32_t first[2], end[2];
    for (int b = 0; b < 2; b++) {
        const int32_t last = x->width - 1 + left - b;   // twice the last column
        first[b] = (left - b + 1) / 2;
        end[b] = last < 0 ? 0 : last / 2 + 1 > pitch ? pitch : last / 2 + 1;
    }
    int32_t y = row_phase - attr->pads[0];
    uint32_t *even = (uint32_t *)to, *odd = (uint32_t *)(to + taps->phase_bytes);
    const int32_t last_row = y + (taps->rows - 1) * attr->strides[0], last_column = 2 * pitch - left - 1;
    if (fill == x->zero && x->pad >= left && y >= -x->pad && last_row < x->height + x->pad && last_column < x->pitch) {   // x's own padding will do
        copy_halves(even, odd, (const uint32_t *)from + y * x->pitch - left, attr->strides[0] * x->pitch, pitch, taps->rows);
        return;
    }
    for (int32_t r = 0; r < taps->rows; r++, y += attr->strides[0], even += pitch, odd += pitch) {
        if (y < 0 || y >= x->height) {
            for (int32_t i = 0; i < pitch; i += 32) {
                TN_HX_VU(even + i) = blank;
                TN_HX_VU(odd + i) = blank;
            }
            continue;
        }
        const uint32_t *row = (const uint32_t *)from + y * x->pitch - left;
        for (int32_t i = 0; i < end[0] || i < end[1]; i += 32) {
            const HVX_VectorPair both = Q6_W_vdeal_VVR(TN_HX_CVU(row + 2 * i + 32), TN_HX_CVU(row + 2 * i), -4);
            TN_HX_VU(even + i) = Q6_V_lo_W(both);
            TN_HX_VU(odd + i) = Q6_V_hi_W(both);
        }
        for (int32_t i = 0; i < first[0]; i++) {
            even[i] = word;
        }
        for (int32_t i = 0; i < first[1]; i++) {
            odd[i] = word;
        }
        for (int32_t i = end[0]; i < pitch; i += 32) {
            TN_HX_VU(even + i) = blank;
        }
        for (int32_t i = end[1]; i < pitch; i += 32) {
            TN_HX_VU(odd + i) = blank;
        }
    }
}

void tn_hx_taps_fill(const tn_hx_taps *taps, const tn_hx_attr *attr, const tn_hx_value *x, const tn_hx_value *y, int32_t image,
                     int32_t plane, uint8_t fill, uint8_t *to)
{
    // Reading may begin `left` pixels before the first: room before a plane is a vector at least.
    const int halves = attr->strides[1] == 2 && taps->n_phases[1] == 2 && taps->columns[0] == 0 && attr->pads[1] <= 32;
    for (int32_t a = 0; a < taps->n_phases[0]; a++) {
        if (halves) {
            fill_halves(taps, attr, x, y->pitch, tn_hx_plane(x, image, plane), taps->phases[a], fill,
                        to + (uint32_t)(a * 2) * taps->phase_bytes);
            continue;
        }
        for (int32_t b = 0; b < taps->n_phases[1]; b++) {
            fill_phase(taps, attr, x, y->pitch, tn_hx_plane(x, image, plane), taps->phases[a], taps->columns[b], fill,
                       to + (uint32_t)(a * taps->n_phases[1] + b) * taps->phase_bytes);
        }
    }
}

// ---- what prepare asks ----

uint32_t tn_hx_activations(int op)
{
    switch (op) {
    case TN_HEX_OP_CONV:
    case TN_HEX_OP_DECONV:
    case TN_HEX_OP_MATMUL:
    case TN_HEX_OP_LUT:
    case TN_HEX_OP_SOFTMAX:
    case TN_HEX_OP_LAYER_NORM:
    case TN_HEX_OP_WIDE_CONV:
    case TN_HEX_OP_WIDE_MATMUL:
    case TN_HEX_OP_WIDE_LUT:
    case TN_HEX_OP_WIDE_RESIZE:
    case TN_HEX_OP_RESIZE: return 1;
    default: return TN_HEX_MAX_OPERANDS;
    }
}

int tn_hx_operand_layout(const tn_hx_graph *graph, const tn_hx_node *node, uint32_t k, int layout)
{
    if (node->op->index == TN_HEX_OP_MEAN && tn_hx_in(graph, node, k)->rank == 4 && node->attr.axis == 2) {
        return TN_HX_QUAD;
    }
    return layout;
}
