// SPDX-License-Identifier: Apache-2.0
// From boxes to steps (copy.h). Boxes that do not fit their tensors, or write a byte twice, are left to the reference.
// Ownership: none. Threads: any.
#include "kernels/move/copy.h"

#include "base/macros.h"
#include "kernels/move/copy_blocked.h"
#include "kernels/simd/stream.h"
#include "ops/move/op_copy.h"
#include "ops/walk/strided.h"

#include <string.h>

// ---- predicate ----

static bool empty(const tn_region *region)
{
    for (int d = 0; d < region->rank; d++) {
        if (region->sizes[d] <= 0) {
            return true;
        }
    }
    return false;
}

static bool writes_once(const tn_region *region)
{
    for (int d = 0; d < region->rank; d++) {
        if (region->sizes[d] > 1 && region->dst_strides[d] <= 0) {
            return false;
        }
    }
    return true;
}

bool tn_copy_match(const tn_query *query, const char **why)
{
    const tn_regions *regions = ((const tn_copy_attr *)query->attr)->regions;
    const tn_tensor *out = query->out[0];
    if (out->dtype == TN_STRING) {
        *why = "strings";
        return false;
    }
    for (int i = 0; i <= query->n_in; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : out;
        if (tensor->layout != TN_LAYOUT_PLAIN && (tensor->shape.rank < 3 || tensor->shape.rank > 5)) {
            *why = "a tensor without channels and pixels in a blocked layout";
            return false;
        }
    }
    for (int i = 0; i < regions->count; i++) {
        const tn_region *region = &regions->regions[i];
        const tn_tensor *source = region->source >= 0 && region->source < query->n_in ? query->in[region->source] : NULL;
        if ((region->source >= 0 && (!source || source->dtype != out->dtype)) || region->source >= query->n_in ||
            !tn_region_inside(region, source ? tn_tensor_count(source) : 1, tn_tensor_count(out))) {
            *why = "a box lies outside its tensors";
            return false;
        }
        if (!writes_once(region)) {
            *why = "a box writes backwards or more than once";
            return false;
        }
        tn_region parts[TN_COPY_PARTS];
        if (!empty(region) && tn_copy_physical(region, source, out, parts, why) < 0) {
            return false;
        }
    }
    return true;
}

// A fill is no bf16, and lanes past the last channel would have to be cleared.
bool tn_copy_match_lines(const tn_query *query, const char **why)
{
    const tn_regions *regions = ((const tn_copy_attr *)query->attr)->regions;
    const tn_tensor *out = query->out[0];
    bool lines = out->shape.rank >= 3 && out->shape.dims[1] % tn_layout_block(TN_LAYOUT_NCHW32B) == 0;
    for (int i = 0; i < query->n_in; i++) {
        lines = lines && query->in[i] && query->in[i]->layout == TN_LAYOUT_NCHW32B;
    }
    for (int i = 0; i < regions->count; i++) {
        lines = lines && regions->regions[i].source >= 0;
    }
    if (!lines) {
        *why = "a fill, a constant, or a result without whole blocks of channels";
        return false;
    }
    return tn_copy_match(query, why);
}

// ---- steps ----

typedef struct dim { int64_t size, from, to; } dim;

// Dims of more than one element, those with the largest stride in the result first, neighbours merged; strides in bytes.
static int sorted_dims(const tn_region *region, int64_t size, dim *dims)
{
    int rank = 0;
    for (int d = 0; d < region->rank; d++) {
        if (region->sizes[d] == 1) {
            continue;
        }
        const int64_t from = region->source < 0 ? 0 : region->src_strides[d] * size;
        const dim fresh = {region->sizes[d], from, region->dst_strides[d] * size};
        int at = rank++;
        for (; at > 0 && dims[at - 1].to < fresh.to; at--) {
            dims[at] = dims[at - 1];
        }
        dims[at] = fresh;
    }
    int kept = 0;
    for (int d = 0; d < rank; d++) {
        dim *last = kept ? &dims[kept - 1] : NULL;
        if (last && last->from == dims[d].from * dims[d].size && last->to == dims[d].to * dims[d].size) {
            *last = (dim){last->size * dims[d].size, dims[d].from, dims[d].to};
        } else {
            dims[kept++] = dims[d];
        }
    }
    return kept;
}

// Moves dim `index` out of the outer dims.
static dim take_dim(dim *dims, int *rank, int index)
{
    const dim taken = dims[index];
    memmove(&dims[index], &dims[index + 1], sizeof *dims * (size_t)(*rank - index - 1));
    --*rank;
    return taken;
}

// The dim along which the operand's elements are neighbours while the result's are along the last, -1: none.
static int neighbours_dim(const dim *dims, int rank, int64_t size)
{
    for (int d = rank - 2; d >= 0; d--) {
        if (dims[d].from == size && dims[rank - 1].to == size) {
            return d;
        }
    }
    return -1;
}

// The dim to go along element by element: the last, unless it is so short that another pays more.
static int longest_dim(const dim *dims, int rank)
{
    int best = rank - 1;
    for (int d = rank - 2; d >= 0 && dims[rank - 1].size < 8; d--) {
        best = dims[d].size > dims[best].size ? d : best;
    }
    return best;
}

// Returns the size.
static int64_t add_dim(tn_copy_way *way, int64_t size, int64_t step)
{
    way->sizes[way->rank] = size;
    way->steps[way->rank++] = step;
    return size;
}

// Whether all steps are multiples of so many bytes. Runs of four one-byte elements may lie anywhere.
static bool steps_of(const tn_copy_way *way, int64_t bytes)
{
    bool all = true;
    for (int k = 0; k < way->rank; k++) {
        all &= way->steps[k] % bytes == 0;
    }
    return all;
}

#define ENOUGH 64      // elements of a direction that is worth no more dims

static int64_t parts_of(int64_t count, int64_t part) { return TN_MAX((count + part / 2) / part, 1); }

// How a transpose goes past the caches, and how it is cut. Lines a short row apart are written as fast as memory takes them; where rows of the
// result are no lines, or long, they are put together first.
static void choose_past(tn_copy_step *s, bool stream)
{
    const bool lined = steps_of(&s->columns, TN_STREAM_ALIGN);
    s->past = TN_COPY_NOT;
    s->line = s->n < s->m ? TN_COPY_LINE : TN_COPY_ROWS;
    s->window = TN_COPY_ITEM / s->line;
    s->lined = lined;
    if (stream) {
        const bool one_way = s->columns.rank == 1 && s->m_step == s->n * s->size && s->n >= 8 && s->n <= TN_COPY_WHOLE && s->m >= TN_COPY_BURST;
        const bool other_way = s->rows.rank == 1 && s->from_step == s->m * s->size && s->m >= 8 && s->m <= TN_COPY_WHOLE / 2 && s->n >= TN_COPY_WIDE;
        s->past = one_way && !(lined && s->n <= TN_COPY_ROWS)            ? TN_COPY_RESULT_WHOLE
                  : other_way && steps_of(&s->columns, 4)                ? TN_COPY_OPERAND_WHOLE
                  : s->n >= TN_COPY_WIDE && steps_of(&s->columns, 4)     ? TN_COPY_HALVES
                                                                         : TN_COPY_LINES;
        s->line = s->past == TN_COPY_LINES ? TN_COPY_LINE : TN_COPY_WIDE;
        s->window = s->past == TN_COPY_RESULT_WHOLE ? TN_COPY_BURST : TN_COPY_WINDOW;
    }
    s->lines = s->past == TN_COPY_RESULT_WHOLE ? 1 : stream ? TN_CEIL_DIV(s->n, s->line) + 1 : parts_of(s->n, s->line);
    s->windows = parts_of(s->m, s->window);
    s->pieces = s->lines * s->windows;
}

static int64_t block_floats(const tn_copy_step *s)
{
    const int64_t floats = s->past == TN_COPY_RESULT_WHOLE    ? (s->n + TN_COPY_LINE) * (TN_COPY_BURST * 3 / 2)
                           : s->past == TN_COPY_OPERAND_WHOLE ? s->m * TN_COPY_PITCH
                                                              : 0;
    return (floats + TN_COPY_LINE - 1) / TN_COPY_LINE * TN_COPY_LINE;
}

// 4-byte elements whose neighbours along one dim of the operand and along another of the result are different ones. Short dims are taken
// together where they lie one in another: rows of a square may begin anywhere in the operand, its columns anywhere in the result. False:
// too few elements in a direction.
static bool choose_squares(tn_copy_step *step, dim *dims, int *rank, bool stream)
{
    const int other = neighbours_dim(dims, *rank, step->size);
    if (other < 0) {
        return false;
    }
    dim left[TN_MAX_RANK];
    int count = *rank;
    memcpy(left, dims, sizeof left);
    const dim along = take_dim(left, &count, other), inner = take_dim(left, &count, count - 1);
    tn_copy_step s = *step;
    s.from_step = inner.from;
    s.to_step = inner.to;
    s.m_step = along.to;
    s.n = add_dim(&s.rows, inner.size, inner.from);
    s.m = add_dim(&s.columns, along.size, along.to);
    if (s.n <= TN_COPY_FEW && s.m_step == s.n * s.size) {
        s.kind = TN_COPY_WEAVE;
        s.windows = s.pieces = parts_of(s.m, TN_COPY_WINDOW);
    } else if (s.m <= TN_COPY_FEW && s.from_step == s.m * s.size && s.n >= TN_COPY_LINE) {
        s.kind = TN_COPY_PART;
        s.windows = s.pieces = parts_of(s.n, TN_COPY_WINDOW);
    } else {
        for (int64_t to = s.n * s.size; s.n < ENOUGH && count > 0 && left[count - 1].to == to; to = s.n * s.size) {
            const dim next = take_dim(left, &count, count - 1);
            s.n *= add_dim(&s.rows, next.size, next.from);
        }
        for (int d = count - 1; d >= 0 && s.m < ENOUGH; d--) {
            if (left[d].from == s.m * s.size) {
                const dim next = take_dim(left, &count, d);
                s.m *= add_dim(&s.columns, next.size, next.to);
                d = count;
            }
        }
        if (s.n < 4 || s.m < 4) {
            return false;
        }
        s.kind = TN_COPY_TRANSPOSE;
        choose_past(&s, stream);
    }
    *step = s;
    *rank = count;
    memcpy(dims, left, sizeof left);
    return true;
}

// Squares of other sizes.
static bool choose_strips(tn_copy_step *step, dim *dims, int *rank)
{
    const int other = neighbours_dim(dims, *rank, step->size);
    if (other < 0 || dims[other].size < 4 || dims[*rank - 1].size < 4) {
        return false;
    }
    const dim along = take_dim(dims, rank, other), inner = take_dim(dims, rank, *rank - 1);
    step->kind = TN_COPY_TRANSPOSE;
    step->m = along.size;
    step->m_step = along.to;
    step->pieces = TN_CEIL_DIV(along.size, TN_COPY_STRIP);
    step->n = inner.size;
    step->from_step = inner.from;
    step->to_step = inner.to;
    return true;
}

static void choose_kind(tn_copy_step *step, dim *dims, int *rank, bool stream)
{
    step->n = 1;
    step->from_step = step->to_step = step->size;
    if (*rank > 0 && step->source >= 0 && dims[*rank - 1].from == step->size && dims[*rank - 1].to == step->size) {
        step->n = take_dim(dims, rank, *rank - 1).size;
    }
    const int64_t run = step->n * step->size;
    if (step->source >= 0 && (run > 16 || (run & (run - 1)) != 0 || *rank == 0)) {
        step->kind = TN_COPY_RUN;
        step->n = run;
        step->pieces = TN_CEIL_DIV(run, TN_COPY_PIECE);
        return;
    }
    step->size = run;
    step->n = 1;
    step->pieces = 1;
    if (step->source >= 0 && (run == 4 ? choose_squares(step, dims, rank, stream) : choose_strips(step, dims, rank))) {
        return;
    }
    step->kind = step->source < 0 ? TN_COPY_FILL : TN_COPY_STRIDED;
    if (*rank > 0) {
        const dim inner = take_dim(dims, rank, step->kind == TN_COPY_STRIDED ? longest_dim(dims, *rank) : *rank - 1);
        step->n = inner.size;
        step->from_step = inner.from;
        step->to_step = inner.to;
    }
}

static void make_step(const tn_region *region, int64_t size, bool stream, tn_copy_step *step)
{
    dim dims[TN_MAX_RANK];
    int rank = sorted_dims(region, size, dims);
    const int64_t from = region->source < 0 ? 0 : region->src_offset * size;
    *step = (tn_copy_step){.source = region->source, .size = size, .from_offset = from, .to_offset = region->dst_offset * size,
                           .bytes = size};
    for (int d = 0; d < region->rank; d++) {
        step->bytes *= region->sizes[d];
    }
    choose_kind(step, dims, &rank, stream);
    step->rank = rank;
    step->items = step->pieces;
    for (int d = 0; d < rank; d++) {
        step->sizes[d] = dims[d].size;
        step->from[d] = dims[d].from;
        step->to[d] = dims[d].to;
        step->items *= dims[d].size;
    }
}

// One past the last byte of the result that a step writes. Strides in the result are positive.
static int64_t end_of(const tn_copy_step *step)
{
    int64_t end = step->to_offset + (step->kind == TN_COPY_RUN ? step->n : (step->n - 1) * step->to_step + step->size);
    if (step->columns.rank == 0 && step->m > 0) {
        end += (step->m - 1) * step->m_step;
    }
    for (int k = 0; k < step->columns.rank; k++) {
        end += (step->columns.sizes[k] - 1) * step->columns.steps[k];
    }
    for (int d = 0; d < step->rank; d++) {
        end += (step->sizes[d] - 1) * step->to[d];
    }
    return end;
}

static bool all_apart(const tn_copy_params *p)
{
    for (int i = 0; i < p->count; i++) {
        for (int j = 0; j < i; j++) {
            if (end_of(&p->steps[i]) > p->steps[j].to_offset && end_of(&p->steps[j]) > p->steps[i].to_offset) {
                return false;
            }
        }
    }
    return true;
}

tn_status tn_copy_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_regions *regions = ((const tn_copy_attr *)query->attr)->regions;
    void *memory;
    const size_t room = (size_t)regions->count * TN_COPY_PARTS;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_copy_params) + room * sizeof(tn_copy_step), &memory));
    tn_copy_params *p = memory;
    memcpy(p->fill, regions->fill, sizeof p->fill);
    p->stream = tn_stream_result(query);
    for (int i = 0; i < regions->count; i++) {
        const tn_region *region = &regions->regions[i];
        tn_region parts[TN_COPY_PARTS];
        const char *why;
        const tn_tensor *source = region->source < 0 ? NULL : query->in[region->source];
        const int count = empty(region) ? 0 : tn_copy_physical(region, source, query->out[0], parts, &why);
        for (int k = 0; k < count; k++) {
            make_step(&parts[k], (int64_t)tn_tensor_unit(query->out[0]), p->stream, &p->steps[p->count]);
            p->block_floats = TN_MAX(p->block_floats, block_floats(&p->steps[p->count]));
            p->items += p->steps[p->count++].items;
        }
    }
    p->apart = all_apart(p);
    prepare->scratch_bytes = sizeof(float) * (size_t)p->block_floats * TN_MAX(query->threads, 1u);
    return TN_OK;
}

double tn_copy_cost(const tn_query *query)
{
    const tn_regions *regions = ((const tn_copy_attr *)query->attr)->regions;
    size_t bytes = 0;
    tn_tensor_bytes(query->out[0], &bytes);
    return 150.0 + 40.0 * regions->count + (double)bytes / 30.0;
}
