// SPDX-License-Identifier: Apache-2.0
// Algebra of movement: strided boxes compose, so that a chain of moves becomes one copy or none.
// A box reads address src_offset + sum i_j * src_strides[j] of a dense tensor. When that tensor was itself written by one box that
// covers it in row-major order, the address is split into the digits of that box (a mixed-radix number), and each digit is
// replaced by the stride of the box's own source. It works whenever no dim of the reader carries from one digit to the next.
#include "plan/work.h"

#include <string.h>

void tn_region_simplify(tn_region *region)
{
    int rank = 0;
    for (int i = 0; i < region->rank; i++) {
        if (region->sizes[i] == 1) {
            continue;
        }
        const int64_t size = region->sizes[i], src = region->src_strides[i], dst = region->dst_strides[i];
        if (rank > 0 && region->src_strides[rank - 1] == src * size && region->dst_strides[rank - 1] == dst * size) {
            region->sizes[rank - 1] *= size;
            region->src_strides[rank - 1] = src;
            region->dst_strides[rank - 1] = dst;
            continue;
        }
        region->sizes[rank] = size;
        region->src_strides[rank] = src;
        region->dst_strides[rank] = dst;
        rank++;
    }
    region->rank = rank;
}

bool tn_regions_dense(const tn_regions *regions, int64_t count, int64_t *offset)
{
    *offset = 0;
    if (count == 0) {
        return true;
    }
    if (regions->count != 1 || regions->regions[0].source < 0) {
        return false;
    }
    tn_region r = regions->regions[0];
    tn_region_simplify(&r);
    const bool whole = r.rank == 0 ? count == 1 : r.rank == 1 && r.sizes[0] == count && r.src_strides[0] == 1 && r.dst_strides[0] == 1;
    *offset = r.src_offset;
    return whole && r.dst_offset == 0;
}

// One digit of the mixed-radix number: which part of the box's dim k the reader touches.
typedef struct digit {
    int64_t weight;       // dense stride of the dim in the box's destination
    int64_t size;
    int64_t low, high;    // touched range
} digit;

static bool digits_of(const tn_region *p, int64_t address, digit *d)
{
    int64_t weight = 1;
    for (int k = p->rank - 1; k >= 0; k--) {
        if (p->dst_strides[k] != weight || p->sizes[k] <= 0) {
            return false;
        }
        d[k].weight = weight;
        d[k].size = p->sizes[k];
        d[k].low = d[k].high = address / weight % p->sizes[k];
        weight *= p->sizes[k];
    }
    return p->dst_offset == 0 && address >= 0 && address < weight;
}

// Adds one dim (size, stride over p's destination) of the reader to `out`, splitting it over several digits where it must be.
static bool add_dim(const tn_region *p, digit *d, int64_t size, int64_t stride, int64_t dst, tn_region *out)
{
    int k = 0;
    if (stride == 0 || size == 1) {
        k = p->rank;
    }
    while (k < p->rank && (d[k].weight > (stride < 0 ? -stride : stride) || stride % d[k].weight != 0)) {
        k++;
    }
    if (k == p->rank && stride != 0 && size != 1) {
        return false;
    }
    tn_region pieces = {.rank = 0};
    while (size > 1 && stride != 0) {
        const int64_t step = stride / d[k].weight, reach = (size - 1) * step;
        const int64_t low = d[k].low + (reach < 0 ? reach : 0), high = d[k].high + (reach > 0 ? reach : 0);
        const bool fits = low >= 0 && high < d[k].size;
        const int64_t inner = fits ? size : (step > 0 && d[k].size % step == 0 ? d[k].size / step : 0);
        if (!fits && (inner < 1 || size % inner != 0 || d[k].low != 0 || d[k].high != 0 || k == 0)) {
            return false;
        }
        if (pieces.rank == TN_MAX_RANK) {
            return false;
        }
        pieces.sizes[pieces.rank] = inner;
        pieces.src_strides[pieces.rank] = step * p->src_strides[k];
        pieces.dst_strides[pieces.rank++] = dst;
        if (fits) {
            d[k].low = low;
            d[k].high = high;
            size = 1;
        } else {
            d[k].high = (inner - 1) * step;
            size /= inner;
            dst *= inner;
            stride = d[k - 1].weight;
            k--;
        }
    }
    if (size > 1) {     // stride 0: the same element again
        pieces.sizes[0] = size;
        pieces.src_strides[0] = 0;
        pieces.dst_strides[0] = dst;
        pieces.rank = 1;
    }
    if (out->rank + pieces.rank > TN_MAX_RANK) {
        return false;
    }
    for (int i = pieces.rank - 1; i >= 0; i--) {     // pieces were found innermost first
        out->sizes[out->rank] = pieces.sizes[i];
        out->src_strides[out->rank] = pieces.src_strides[i];
        out->dst_strides[out->rank++] = pieces.dst_strides[i];
    }
    return true;
}

bool tn_region_compose(const tn_region *c, const tn_region *p, tn_region *out)
{
    digit d[TN_MAX_RANK];
    tn_region result = {.source = p->source, .dst_offset = c->dst_offset, .src_offset = p->src_offset};
    if (!digits_of(p, c->src_offset, d)) {
        return false;
    }
    for (int k = 0; k < p->rank; k++) {
        result.src_offset += d[k].low * p->src_strides[k];
    }
    for (int j = 0; j < c->rank; j++) {
        if (c->sizes[j] < 1 || !add_dim(p, d, c->sizes[j], c->src_strides[j], c->dst_strides[j], &result)) {
            return false;
        }
    }
    tn_region_simplify(&result);
    *out = result;
    return true;
}

// ---- tensors of several boxes ----

// Elements that both sides of a box move together, as far as all of its steps are multiples of them; `rows`: of boxes before.
static int64_t row_of(const tn_region *r, int64_t rows)
{
    const int last = r->rank - 1;
    const bool run = r->rank > 0 && r->src_strides[last] == 1 && r->dst_strides[last] == 1;
    int64_t numbers[2 * TN_MAX_RANK + 3], n = 0;
    numbers[n++] = run ? r->sizes[last] : 1;
    numbers[n++] = r->src_offset;
    numbers[n++] = r->dst_offset;
    for (int i = 0; i < r->rank - run; i++) {
        numbers[n++] = r->src_strides[i];
        numbers[n++] = r->dst_strides[i];
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t a = numbers[i] < 0 ? -numbers[i] : numbers[i]; a != 0;) {   // the greatest common divisor
            const int64_t rest = rows % a;
            rows = a;
            a = rest;
        }
    }
    return rows;
}

// Where each row of a box comes from and goes to, in rows.
typedef struct row {
    int64_t from, to;
    int source;
} row;

static int64_t list_rows(const tn_region *r, int64_t length, row *rows)
{
    const int last = r->rank - 1;
    const bool run = r->rank > 0 && r->src_strides[last] == 1 && r->dst_strides[last] == 1;
    int64_t sizes[TN_MAX_RANK], from[TN_MAX_RANK], to[TN_MAX_RANK], total = 1;
    for (int i = 0; i < r->rank; i++) {
        const bool inner = run && i == last;
        sizes[i] = inner ? r->sizes[i] / length : r->sizes[i];
        from[i] = inner ? 1 : r->src_strides[i] / length;
        to[i] = inner ? 1 : r->dst_strides[i] / length;
        total *= sizes[i];
    }
    for (int64_t n = 0; rows && n < total; n++) {
        int64_t left = n;
        rows[n] = (row){r->src_offset / length, r->dst_offset / length, r->source};
        for (int i = r->rank - 1; i >= 0; i--) {
            rows[n].from += left % sizes[i] * from[i];
            rows[n].to += left % sizes[i] * to[i];
            left /= sizes[i];
        }
    }
    return total;
}

#define ROWS_MOST 8192
#define ROW_LEAST 16     // elements: shorter rows are better moved twice

// Rows of one source, in their order, as boxes of equal steps.
static int gather_boxes(const row *rows, int64_t count, int source, int64_t length, tn_region *out, int most)
{
    int n = 0;
    int64_t last = -1;
    for (int64_t i = 0; i < count; i++) {
        if (rows[i].source != source) {
            continue;
        }
        tn_region *box = n ? &out[n - 1] : NULL;
        const int64_t from = last >= 0 ? (rows[i].from - rows[last].from) * length : 0, to = last >= 0 ? (rows[i].to - rows[last].to) * length : 0;
        if (box && (box->sizes[0] == 1 || (box->src_strides[0] == from && box->dst_strides[0] == to))) {
            box->sizes[0]++;
            box->src_strides[0] = from;
            box->dst_strides[0] = to;
        } else if (n == most) {
            return 0;
        } else {
            out[n++] = (tn_region){.source = source, .rank = 2, .sizes = {1, length}, .src_offset = rows[i].from * length,
                                   .dst_offset = rows[i].to * length, .src_strides = {0, 1}, .dst_strides = {0, 1}};
        }
        last = i;
    }
    return n;
}

int tn_region_flatten(const tn_region *c, const tn_regions *p, int64_t count, tn_region *out, int most, tn_arena *scratch)
{
    int64_t length = row_of(c, count);
    for (int i = 0; i < p->count; i++) {
        length = row_of(&p->regions[i], length);
    }
    const int64_t total = length >= ROW_LEAST ? count / length : 0, wanted = total > 0 && total <= ROWS_MOST ? list_rows(c, length, NULL) : 0;
    if (wanted < 1 || wanted > ROWS_MOST) {
        return 0;
    }
    row *written = tn_arena_array(scratch, (size_t)total, sizeof *written), *rows = tn_arena_array(scratch, (size_t)wanted, sizeof *rows);
    row *made = tn_arena_array(scratch, (size_t)total, sizeof *made);
    if (!written || !rows || !made) {
        return 0;
    }
    for (int64_t i = 0; i < total; i++) {
        made[i].source = -1;
    }
    int sources = 0;
    for (int i = 0; i < p->count; i++) {
        const int64_t n = p->regions[i].source >= 0 ? list_rows(&p->regions[i], length, NULL) : total + 1;
        if (n > total) {
            return 0;
        }
        list_rows(&p->regions[i], length, written);
        for (int64_t k = 0; k < n; k++) {
            made[written[k].to] = written[k];
        }
        sources = p->regions[i].source >= sources ? p->regions[i].source + 1 : sources;
    }
    list_rows(c, length, rows);
    for (int64_t k = 0; k < wanted; k++) {
        const row *from = &made[rows[k].from];
        if (from->source < 0) {
            return 0;
        }
        rows[k].from = from->from;
        rows[k].source = from->source;
    }
    int n = 0;
    for (int s = 0; s < sources; s++) {
        bool any = false;
        for (int64_t k = 0; k < wanted && !any; k++) {
            any = rows[k].source == s;
        }
        const int boxes = any ? gather_boxes(rows, wanted, s, length, out + n, most - n) : 0;
        if (any && !boxes) {
            return 0;
        }
        n += boxes;
    }
    for (int i = 0; i < n; i++) {
        tn_region_simplify(&out[i]);
    }
    return n;
}
