// SPDX-License-Identifier: Apache-2.0
// Making cases concrete and running kernel rows on them (trial.h).
// Ownership: see trial.h. Threads: one at a time.
#include "trial/trial.h"

#include "base/macros.h"
#include "base/num.h"
#include "ops/move/op_relayout.h"
#include "ops/op_eval.h"

#include <math.h>
#include <string.h>

#define CANARY 0xa5       // around and in results before the run
#define LANES 0xff        // in lanes past the last channel and in scratch: NaN as a float

// ---- contents ----

static double draw(const tn_case_in *in, tn_rand *r)
{
    if (in->low > in->high) {
        return tn_rand_normal(r);
    }
    return tn_dtype_is_float(in->dtype) ? tn_rand_real(r, in->low, in->high)
                                        : (double)tn_rand_range(r, (int64_t)in->low, (int64_t)in->high);
}

static double plant(tn_rand *r)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, 1e-40, -1e-42, 3.4e38, -3.4e38, 0.0, -0.0, 1e30, -1e25, 88.7, -104.0,
                                    1e-30};
    return values[tn_rand_range(r, 0, (int64_t)TN_COUNT(values) - 1)];
}

static tn_status fill(tn_tensor *tensor, const tn_case_in *in, tn_arena *arena, tn_rand *r, bool special, tn_diag *diag)
{
    size_t bytes;
    *tensor = (tn_tensor){.dtype = in->dtype, .shape = in->shape};
    if (!tn_tensor_bytes(tensor, &bytes)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "case", "operand without a known shape");
    }
    tensor->data = tn_arena_take(arena, bytes + 1);
    if (!tensor->data) {
        return tn_fail_memory(diag, "case", bytes);
    }
    const int64_t count = tn_tensor_count(tensor);
    const bool planted = special && !in->reals && tn_dtype_is_float(in->dtype);
    for (int64_t i = 0; i < count; i++) {
        if (in->ints) {
            tn_dtype_store_i64(in->dtype, tensor->data, (size_t)i, in->ints[i]);
        } else if (tn_dtype_is_float(in->dtype)) {
            const double v = in->reals ? in->reals[i] : draw(in, r);
            tn_dtype_store(in->dtype, tensor->data, (size_t)i, planted && tn_rand_range(r, 0, 15) == 0 ? plant(r) : v);
        } else {
            tn_dtype_store_i64(in->dtype, tensor->data, (size_t)i, (int64_t)draw(in, r));
        }
    }
    return TN_OK;
}

static tn_status infer_results(tn_trial *trial, tn_diag *diag)
{
    const tn_case *c = trial->c;
    tn_fact facts[TN_CASE_MAX_IN], out[TN_MAX_OUT] = {{0}};
    const tn_fact *list[TN_CASE_MAX_IN];
    for (int i = 0; i < c->n_in; i++) {
        const bool by_value = c->in[i].constant || c->in[i].ints || (c->op->shape_operands >> i & 1);
        facts[i] = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = c->in[i].dtype, .shape = c->in[i].shape,
                             .value = by_value ? &trial->in[i] : NULL};
        list[i] = c->in[i].absent ? NULL : &facts[i];
    }
    TN_TRY(tn_op_infer(c->op, c->attr, "case", list, c->n_in, out, c->n_out, trial->arena, diag));
    for (int i = 0; i < c->n_out; i++) {
        trial->want[i] = (tn_tensor){.dtype = out[i].dtype, .shape = out[i].shape};
        if (!tn_shape_known(&out[i].shape) && !(c->op->flags & TN_OP_DYNAMIC)) {
            return tn_fail(diag, TN_INTERNAL, "case", "infer left the shape of result %d open", i);
        }
    }
    return TN_OK;
}

tn_status tn_trial_init(tn_trial *trial, const tn_case *c, tn_arena *arena, tn_rand *r, bool special, tn_diag *diag)
{
    memset(trial, 0, sizeof *trial);
    trial->c = c;
    trial->arena = arena;
    trial->special = special;
    tn_cpu_detect(&trial->cpu);
    for (int i = 0; i < c->n_in; i++) {
        if (!c->in[i].absent) {
            TN_TRY(fill(&trial->in[i], &c->in[i], arena, r, special, diag));
        }
    }
    return infer_results(trial, diag);
}

// ---- layouts ----

static bool can_block(const tn_shape *shape) { return shape->rank >= 3 && shape->rank <= 5; }

static bool fits(const tn_shape *shape, tn_layout layout) { return layout == TN_LAYOUT_PLAIN || can_block(shape); }

int tn_trial_layouts_of(const tn_trial *trial, const tn_kernel *row, tn_trial_layouts *layouts)
{
    const tn_shape *result = &trial->want[0].shape;
    int count = 0;
    if (row->op == &tn_op_relayout) {
        for (int i = 0; i < TN_LAYOUT_COUNT * TN_LAYOUT_COUNT; i++) {
            const tn_layout in = (tn_layout)(i / TN_LAYOUT_COUNT), out = (tn_layout)(i % TN_LAYOUT_COUNT);
            if (in != out && can_block(result)) {
                layouts[count++] = (tn_trial_layouts){in, out};
            }
        }
        return count;
    }
    if (row->layouts.in != TN_LAYOUT_SAME) {
        const tn_trial_layouts own = {(tn_layout)row->layouts.in, (tn_layout)row->layouts.out};
        if (fits(&trial->in[0].shape, own.in) && fits(result, own.out)) {
            layouts[count++] = own;
        }
        return count;
    }
    // Rows of bf16 have NCHW32B alone, the others all but that.
    const bool rounds = (row->cpu & TN_CPU_BF16_WEIGHTS) != 0;
    for (int i = 0; i < TN_LAYOUT_COUNT; i++) {
        if ((i == TN_LAYOUT_NCHW32B) == rounds && fits(result, (tn_layout)i)) {
            layouts[count++] = (tn_trial_layouts){(tn_layout)i, (tn_layout)i};
        }
    }
    return count;
}

static tn_layout operand_layout(const tn_trial *trial, const tn_kernel *row, tn_trial_layouts layouts, int i)
{
    if (trial->c->in[i].constant) {
        return TN_LAYOUT_PLAIN;
    }
    if (row->layouts.in != TN_LAYOUT_SAME) {
        return i == 0 || (i < 8 && row->layouts.blocked_in >> i & 1) ? layouts.in : TN_LAYOUT_PLAIN;
    }
    const tn_shape *mine = &trial->in[i].shape, *result = &trial->want[0].shape;
    return mine->rank == result->rank && mine->rank > 1 && mine->dims[1] == result->dims[1] ? layouts.out : TN_LAYOUT_PLAIN;
}

void tn_trial_describe(const tn_trial *trial, const tn_kernel *row, tn_trial_layouts layouts, tn_trial_query *out)
{
    const tn_case *c = trial->c;
    for (int i = 0; i < c->n_in; i++) {
        out->in[i] = trial->in[i];
        out->in[i].layout = c->in[i].absent ? TN_LAYOUT_PLAIN : operand_layout(trial, row, layouts, i);
        out->in[i].data = c->in[i].constant ? trial->in[i].data : NULL;
        out->in_list[i] = c->in[i].absent ? NULL : &out->in[i];
    }
    for (int i = 0; i < c->n_out; i++) {
        out->out[i] = trial->want[i];
        out->out[i].layout = i == 0 ? layouts.out : TN_LAYOUT_PLAIN;
        out->out[i].data = NULL;
        out->out_list[i] = &out->out[i];
    }
    out->query = (tn_query){.op = c->op, .attr = c->attr, .name = "case", .n_in = c->n_in, .n_out = c->n_out, .in = out->in_list,
                            .out = out->out_list, .cpu = &trial->cpu, .threads = 1};
}

// Index of element (n, c, s) of N images, C channels, S pixels in a layout.
static size_t place(const tn_shape *shape, tn_layout layout, int64_t n, int64_t c, int64_t s)
{
    const int64_t channels = shape->dims[1], pixels = tn_shape_span(shape, 2, shape->rank), block = tn_layout_block(layout);
    if (!block) {
        return (size_t)((n * channels + c) * pixels + s);
    }
    return (size_t)(((n * TN_CEIL_DIV(channels, block) + c / block) * pixels + s) * block + c % block);
}

static bool is_rounded(const tn_tensor *tensor) { return tensor->layout == TN_LAYOUT_NCHW32B; }

// Copies all elements of `from` to their places in `to`, to bf16 and back where one of them has it. Blocked tensors have rank 3 .. 5.
static void convert(const tn_tensor *from, const tn_tensor *to)
{
    const tn_shape *shape = &to->shape;
    const size_t size = tn_dtype_bytes(to->dtype), from_unit = tn_tensor_unit(from), to_unit = tn_tensor_unit(to);
    const int64_t count = tn_tensor_count(to);
    size_t bytes;
    if (from->layout == to->layout) {
        memcpy(to->data, from->data, (size_t)count * size);
        return;
    }
    if (is_rounded(to) && tn_tensor_bytes(to, &bytes)) {
        memset(to->data, 0, bytes);
    }
    const int64_t channels = shape->dims[1], pixels = tn_shape_span(shape, 2, shape->rank);
    for (int64_t i = 0; i < count; i++) {
        const int64_t n = i / (channels * pixels), c = i / pixels % channels, s = i % pixels;
        char *at = (char *)to->data + place(shape, to->layout, n, c, s) * to_unit;
        const char *source = (const char *)from->data + place(shape, from->layout, n, c, s) * from_unit;
        if (is_rounded(to)) {
            const uint16_t bits = tn_bf16_from_f32(*(const float *)(const void *)source);
            memcpy(at, &bits, sizeof bits);
        } else if (is_rounded(from)) {
            const float value = tn_bf16_to_f32(*(const uint16_t *)(const void *)source);
            memcpy(at, &value, sizeof value);
        } else {
            memcpy(at, source, size);
        }
    }
}

// Lanes past the last channel of a result in NCHW32B are zeros.
static bool lanes_clear(const tn_tensor *tensor)
{
    const tn_shape *shape = &tensor->shape;
    if (!is_rounded(tensor) || shape->dims[1] % tn_layout_block(tensor->layout) == 0) {
        return true;
    }
    const int64_t block = tn_layout_block(tensor->layout), pixels = tn_shape_span(shape, 2, shape->rank), lanes = shape->dims[1] % block;
    const uint16_t *element = tensor->data;
    bool clear = true;
    for (int64_t n = 0; n < shape->dims[0]; n++) {
        for (int64_t s = 0; s < pixels; s++) {
            for (int64_t lane = lanes; lane < block; lane++) {
                clear = clear && element[place(shape, tensor->layout, n, shape->dims[1] - lanes, s) + (size_t)lane] == 0;
            }
        }
    }
    return clear;
}

int tn_trial_in_place(const tn_trial *trial, const tn_trial_query *query)
{
    const tn_op *op = trial->c->op;
    size_t want, have;
    if (!(op->flags & (TN_OP_INPLACE | TN_OP_INPLACE_ANY)) || trial->c->n_out < 1 || !tn_tensor_bytes(&query->out[0], &want)) {
        return -1;
    }
    const int last = op->flags & TN_OP_INPLACE_ANY ? trial->c->n_in : TN_MIN(trial->c->n_in, 1);
    for (int i = 0; i < last; i++) {
        const tn_tensor *in = query->in_list[i];
        if (in && !trial->c->in[i].constant && tn_tensor_bytes(in, &have) && have == want && in->layout == query->out[0].layout &&
            in->dtype == query->out[0].dtype && tn_shape_equal(&in->shape, &query->out[0].shape)) {
            return i;
        }
    }
    return -1;
}

// ---- running ----

bool tn_trial_bench_init(tn_trial_bench *bench, unsigned threads)
{
    memset(bench, 0, sizeof *bench);
    tn_heap_init(&bench->heap, NULL, NULL, NULL);
    return tn_workers_create(&bench->workers, &bench->heap, threads, NULL, NULL) == TN_OK;
}

void tn_trial_bench_deinit(tn_trial_bench *bench)
{
    tn_workers_destroy(bench->workers);
    for (int i = 0; i < TN_CASE_MAX_IN; i++) {
        tn_buffer_release(&bench->in[i]);
    }
    for (int i = 0; i < TN_MAX_OUT; i++) {
        tn_buffer_release(&bench->out[i]);
    }
    for (int i = 0; i < TN_MAX_PACKS; i++) {
        tn_buffer_release(&bench->packed[i]);
    }
    tn_buffer_release(&bench->scratch);
}

typedef struct run_state {
    const tn_trial *trial;
    tn_trial_bench *bench;
    const tn_kernel *row;
    const tn_trial_options *options;
    tn_trial_query *q;
    tn_tensor *out[TN_MAX_OUT];
    tn_diag *diag;
} run_state;

static tn_status no_memory(run_state *s, size_t bytes) { return tn_fail_memory(s->diag, "case", bytes); }

// Operands: constants lie at odd addresses unless the row asks for aligned ones; others are aligned to their elements only.
static tn_status place_operands(run_state *s)
{
    for (int i = 0; i < s->trial->c->n_in; i++) {
        tn_tensor *in = &s->q->in[i];
        tn_buffer *buffer = &s->bench->in[i];
        size_t bytes;
        if (!s->q->in_list[i]) {
            continue;
        }
        const bool constant = s->trial->c->in[i].constant;
        const size_t align = constant && s->row->aligned_constants ? 64 : 1;
        const size_t odd = constant && !s->row->aligned_constants && !s->options->at_end;
        if (!tn_tensor_bytes(in, &bytes) || !tn_buffer_place(buffer, bytes + odd, s->options->at_end, align, LANES)) {
            return no_memory(s, bytes);
        }
        in->data = buffer->data + odd;
        convert(&s->trial->in[i], in);
        if (i != s->options->in_place) {
            tn_buffer_protect(buffer);
        }
    }
    return TN_OK;
}

static tn_status place_results(run_state *s)
{
    for (int i = 0; i < s->trial->c->n_out; i++) {
        tn_tensor *out = &s->q->out[i];
        size_t bytes;
        s->out[i] = out;
        out->data = NULL;
        if (s->trial->c->op->flags & TN_OP_DYNAMIC && !tn_shape_known(&out->shape)) {
            continue;
        }
        if (!tn_tensor_bytes(out, &bytes) || !tn_buffer_place(&s->bench->out[i], bytes, s->options->at_end, 1, CANARY)) {
            return no_memory(s, bytes);
        }
        out->data = i == 0 && s->options->in_place >= 0 ? s->q->in[s->options->in_place].data : s->bench->out[i].data;
    }
    return TN_OK;
}

static tn_status give_result(const tn_call *call, int index, const tn_shape *shape)
{
    run_state *s = call->resize_context;
    tn_tensor *out = s->out[index];
    size_t bytes;
    out->shape = *shape;
    if (!tn_tensor_bytes(out, &bytes) || !tn_buffer_place(&s->bench->out[index], bytes, s->options->at_end, 1, CANARY)) {
        return no_memory(s, 0);
    }
    out->data = s->bench->out[index].data;
    return TN_OK;
}

// Packs as a whole, and again in parts, the last one first: the bytes must be the same.
static tn_status pack(const run_state *s, const tn_prepare *prepare, int index, const tn_buffer *buffer)
{
    const tn_pack *pack = &prepare->packs[index];
    pack->pack(buffer->data, &s->q->query, prepare->params);
    if (!pack->part) {
        return TN_OK;
    }
    void *whole = tn_arena_copy(prepare->arena, buffer->data, pack->bytes);
    if (!whole) {
        return tn_fail_memory(s->diag, s->row->name, pack->bytes);
    }
    memset(buffer->data, 0xa5, pack->bytes);
    for (int64_t part = pack->parts; part-- > 0;) {
        pack->part(buffer->data, &s->q->query, prepare->params, part);
    }
    return memcmp(whole, buffer->data, pack->bytes) == 0
               ? TN_OK
               : tn_fail(s->diag, TN_INTERNAL, s->row->name, "pack %d in parts differs from the whole", index);
}

static tn_status prepare_call(run_state *s, tn_call *call)
{
    const bool at_end = s->options->at_end;
    tn_prepare prepare = {.query = &s->q->query, .row = s->row, .arena = s->trial->arena, .diag = s->diag};
    s->q->query.threads = s->options->threads ? tn_workers_count(s->bench->workers) : 1;
    if (s->row->cost && !(s->row->cost(&s->q->query) >= 0)) {
        return tn_fail(s->diag, TN_INTERNAL, s->row->name, "the cost is not a number of nanoseconds");
    }
    if (s->row->prepare) {
        TN_TRY(s->row->prepare(&prepare));
    }
    call->params = prepare.params;
    if (!tn_buffer_place(&s->bench->scratch, prepare.scratch_bytes, at_end, 64, LANES)) {
        return no_memory(s, prepare.scratch_bytes);
    }
    call->scratch = s->bench->scratch.data;
    for (int i = 0; i < prepare.n_packs; i++) {
        tn_buffer *buffer = &s->bench->packed[i];
        if (!tn_buffer_place(buffer, prepare.packs[i].bytes, at_end, 64, CANARY)) {
            return no_memory(s, prepare.packs[i].bytes);
        }
        TN_TRY(pack(s, &prepare, i, buffer));
        call->packed[i] = buffer->data;
        if (!tn_buffer_intact(buffer, CANARY)) {
            return tn_fail(s->diag, TN_INTERNAL, s->row->name, "pack %d writes past its bytes", i);
        }
        tn_buffer_protect(buffer);
    }
    return TN_OK;
}

static const char *find_broken(run_state *s)
{
    for (int i = 0; i < s->trial->c->n_out; i++) {
        const bool elsewhere = i == 0 && s->options->in_place >= 0;
        if (!elsewhere && !tn_buffer_intact(&s->bench->out[i], CANARY)) {
            return "memory around a result";
        }
    }
    if (s->options->in_place >= 0 && !tn_buffer_intact(&s->bench->in[s->options->in_place], LANES)) {
        return "memory around a result in place";
    }
    if (s->trial->c->n_out > 0 && s->out[0]->data && !lanes_clear(s->out[0])) {
        return "lanes past the last channel, which have to be zero";
    }
    return tn_buffer_intact(&s->bench->scratch, LANES) ? NULL : "memory around scratch";
}

static tn_status take_results(run_state *s, tn_tensor *results)
{
    for (int i = 0; i < s->trial->c->n_out; i++) {
        size_t bytes;
        results[i] = *s->out[i];
        results[i].layout = TN_LAYOUT_PLAIN;
        if (!tn_tensor_bytes(&results[i], &bytes)) {
            return tn_fail(s->diag, TN_INTERNAL, s->row->name, "result %d got no shape", i);
        }
        results[i].data = tn_arena_take(s->trial->arena, bytes + 1);
        if (!results[i].data) {
            return no_memory(s, bytes);
        }
        convert(s->out[i], &results[i]);
    }
    return TN_OK;
}

tn_status tn_trial_run(const tn_trial *trial, tn_trial_bench *bench, const tn_kernel *row, const tn_trial_options *options,
                       tn_tensor *results, const char **broken, tn_diag *diag)
{
    tn_trial_query q;
    run_state s = {.trial = trial, .bench = bench, .row = row, .options = options, .q = &q, .diag = diag};
    *broken = NULL;
    tn_trial_describe(trial, row, options->layouts, &q);
    TN_TRY(place_operands(&s));
    for (int i = 0; i < trial->c->n_in; i++) {
        q.in[i].data = trial->c->in[i].constant && q.in_list[i] ? q.in[i].data : NULL;
    }
    tn_call call = {.op = trial->c->op, .attr = trial->c->attr, .name = "case", .n_in = trial->c->n_in, .n_out = trial->c->n_out,
                    .in = q.in_list, .out = s.out, .heap = &bench->heap, .workers = options->threads ? bench->workers : NULL,
                    .resize = give_result, .resize_context = &s, .diag = diag};
    TN_TRY(prepare_call(&s, &call));
    for (int i = 0; i < trial->c->n_in; i++) {
        const bool odd = trial->c->in[i].constant && !row->aligned_constants && !options->at_end;
        q.in[i].data = q.in_list[i] ? bench->in[i].data + odd : NULL;
    }
    TN_TRY(place_results(&s));
    TN_TRY(row->run(&call));
    *broken = find_broken(&s);
    return take_results(&s, results);
}
