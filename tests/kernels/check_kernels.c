// SPDX-License-Identifier: Apache-2.0
// Checks every kernel row against the reference row of its operator, on the listed cases of the operator's family and on
// random ones: in guarded memory, at odd addresses, in every layout the row takes, on one thread and on several, in place where
// the operator allows it, with NaN, infinities and huge numbers where the case allows them. Rows that round operands to bf16 get
// operands that are rounded already, so that they have to agree as closely as the others; a result that is stored as bf16 is compared with
// the rounded reference, one step in its last place allowed. A row that no case reaches fails
// the run, and so does an operator without a reference row. Rows that this processor lacks instructions for are listed and
// never called.
//
//   check_kernels [--family NAME] [--rows TEXT] [--seed N] [--count N] [--only INDEX] [--list] [--coverage] [--expect-refused]
//
// Ownership: none. Threads: the check itself is one thread.
#include "base/macros.h"
#include "base/num.h"
#include "support/compare.h"
#include "dispatch/registry.h"
#include "trial/trial.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ROWS 4096
#define THREADS 3
#define SHOWN 25          // failures printed in full

typedef struct row_state {
    const tn_kernel *row;
    bool selected;        // by --rows, and this processor has it
    bool refused;         // lacks instructions
    bool offered;         // some case was made for its operator
    unsigned ran;         // cases it accepted
    unsigned failed;
} row_state;

typedef struct check {
    row_state rows[MAX_ROWS];
    size_t n_rows;
    tn_cpu cpu;
    const char *family, *text;
    uint64_t seed;
    unsigned count;
    long only;            // index of the one case to run; -1: all
    bool list, coverage, expect_refused;
    tn_trial_bench bench;
    unsigned long runs, failures;
    // what runs now, for messages
    const tn_case_family *now_family;
    unsigned now_index;
} check;

// What runs now, for the handler of a fault.
static char now_text[512];

static void on_fault(int signal)
{
    static const char head[] = "FAULT (access outside of a buffer, or an instruction this processor lacks): ";
    ssize_t ignored = write(STDOUT_FILENO, head, sizeof head - 1);
    ignored = write(STDOUT_FILENO, now_text, strlen(now_text));
    ignored = write(STDOUT_FILENO, "\n", 1);
    (void)ignored;
    (void)signal;
    _exit(1);
}

// ---- reports ----

static void describe_operand(char *text, size_t size, const tn_case_in *in)
{
    char shape[160];
    const size_t used = strlen(text);
    snprintf(text + used, size - used, " %s%s%s", in->absent ? "absent" : tn_dtype_text(in->dtype),
             in->absent ? "" : tn_shape_print(&in->shape, shape, sizeof shape), in->constant ? "const" : "");
}

static void fail(check *k, const tn_kernel *row, const tn_trial *trial, const char *how, const char *what)
{
    if (k->failures++ >= SHOWN) {
        return;
    }
    char operands[1024] = "";
    for (int i = 0; trial && i < trial->c->n_in; i++) {
        describe_operand(operands, sizeof operands, &trial->c->in[i]);
    }
    printf("FAIL %s: %s\n", row ? row->name : "case", what);
    printf("     %s case %u seed %" PRIu64 ", %s%s%s\n    %s\n", k->now_family->name, k->now_index, k->seed,
           trial ? trial->c->op->name : "", trial && trial->special ? ", planted values" : "", how, operands);
}

static void fail_difference(check *k, const tn_kernel *row, const tn_trial *trial, const char *how, int result,
                            const tn_difference *d)
{
    char what[256];
    snprintf(what, sizeof what,
             "result %d: %" PRId64 " elements differ, the worst at %" PRId64 ": %.9g, expected %.9g, allowed %.3g", result,
             d->count, d->index, d->got, d->want, d->allowed);
    fail(k, row, trial, how, what);
}

// ---- one row on one case ----

// To what bf16 has; numbers below the normal range, which products of bf16 take for zeros, become zeros.
static void round_tensor(tn_tensor *tensor)
{
    float *v = tensor->data;
    for (int64_t e = 0; v && tensor->dtype == TN_F32 && e < tn_tensor_count(tensor); e++) {
        const float near = tn_bf16_to_f32(tn_bf16_from_f32(v[e]));
        v[e] = near > -0x1p-126f && near < 0x1p-126f ? 0.0f : near;
    }
}

// The wanted result of a run in layouts that round it: a copy in the trial's arena. False: no memory.
static bool wanted_of(const tn_trial *trial, int i, bool rounded, tn_tensor *want)
{
    size_t bytes;
    *want = trial->want[i];
    if (!rounded || !want->data || want->dtype != TN_F32 || !tn_tensor_bytes(want, &bytes)) {
        return true;
    }
    want->data = tn_arena_copy(trial->arena, want->data, bytes);
    if (want->data) {
        round_tensor(want);
    }
    return want->data != NULL;
}

static bool rounds(const tn_kernel *row) { return (row->cpu & TN_CPU_BF16_WEIGHTS) != 0; }

// Of a number of bf16 to the next, at most.
#define BF16_STEP 0x1p-7

typedef struct attempt {
    check *check;
    const tn_trial *trial;
    row_state *state;
    tn_tensor first[TN_MAX_OUT];      // results of the first run in these layouts
} attempt;

// Runs once; compares with the wanted results (first run) or bit for bit with the first run.
static bool attempt_run(attempt *a, const tn_trial_options *options, bool first)
{
    const tn_kernel *row = a->state->row;
    const tn_trial *trial = a->trial;
    char how[128];
    snprintf(how, sizeof how, ", %s to %s%s%s%s", tn_layout_text(options->layouts.in), tn_layout_text(options->layouts.out),
             options->threads ? ", threads" : "", options->at_end ? ", at the end" : "",
             options->in_place >= 0 ? ", in place" : "");
    snprintf(now_text, sizeof now_text, "%s, %s case %u seed %" PRIu64 "%s", row->name, a->check->now_family->name,
             a->check->now_index, a->check->seed, how);
    tn_tensor results[TN_MAX_OUT];
    const char *broken;
    tn_diag diag;
    tn_diag_clear(&diag);
    a->check->runs++;
    if (tn_trial_run(trial, &a->check->bench, row, options, first ? a->first : results, &broken, &diag) != TN_OK) {
        fail(a->check, row, trial, how, diag.message[0] ? diag.message : "failed without a message");
        return false;
    }
    if (broken) {
        char what[160];
        snprintf(what, sizeof what, "wrote where it may not: %s", broken);
        fail(a->check, row, trial, how, what);
        return false;
    }
    for (int i = 0; i < trial->c->n_out; i++) {
        tn_difference worst;
        tn_tensor wanted;
        const bool stored = options->layouts.out == TN_LAYOUT_NCHW32B && i == 0;
        if (!wanted_of(trial, i, stored, &wanted)) {
            fail(a->check, row, trial, how, "no memory");
            return false;
        }
        const tn_tensor *got = first ? &a->first[i] : &results[i], *want = first ? &wanted : &a->first[i];
        const double rel = first ? trial->c->rel + (stored ? BF16_STEP : 0) : 0, abs = first ? trial->c->abs + (rounds(row) ? trial->c->rounded_abs : 0) : 0;
        if (want->data && !tn_shape_equal(&got->shape, &want->shape)) {
            fail(a->check, row, trial, how, "a result of another shape");
            return false;
        }
        if (want->data && !tn_compare(got, want, rel, abs, trial->special, &worst)) {
            fail_difference(a->check, row, trial, how, i, &worst);
            return false;
        }
    }
    return true;
}

static bool accepts(const check *k, const tn_trial *trial, const tn_kernel *row, tn_trial_layouts layouts, int *in_place)
{
    tn_trial_query q;
    const char *why = NULL;
    tn_trial_describe(trial, row, layouts, &q);
    *in_place = tn_trial_in_place(trial, &q);
    return tn_kernel_accepts(row, &q.query, k->cpu.features, &why);
}

static void check_row(check *k, const tn_trial *trial, row_state *state)
{
    tn_trial_layouts layouts[TN_TRIAL_MAX_LAYOUTS];
    const int count = tn_trial_layouts_of(trial, state->row, layouts);
    bool ran = false;
    for (int i = 0; i < count; i++) {
        int in_place;
        if (!accepts(k, trial, state->row, layouts[i], &in_place)) {
            continue;
        }
        ran = true;
        attempt a = {.check = k, .trial = trial, .state = state};
        const tn_trial_options runs[] = {{.layouts = layouts[i], .at_end = true, .in_place = -1},
                                         {.layouts = layouts[i], .threads = true, .in_place = -1},
                                         {.layouts = layouts[i], .threads = true, .at_end = true, .in_place = in_place}};
        const size_t n_runs = k->coverage ? 0 : in_place >= 0 ? 3 : 2;
        for (size_t r = 0; r < n_runs; r++) {
            if (!attempt_run(&a, &runs[r], r == 0)) {
                state->failed++;
                break;
            }
        }
    }
    state->ran += ran;
}

// ---- cases ----

static row_state *find_reference(check *k, const tn_trial *trial)
{
    tn_trial_query q;
    for (size_t i = 0; i < k->n_rows; i++) {
        const tn_kernel *row = k->rows[i].row;
        if (row->impl == TN_IMPL_REFERENCE && row->op == trial->c->op) {
            const char *why;
            tn_trial_describe(trial, row, (tn_trial_layouts){TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN}, &q);
            if (tn_kernel_accepts(row, &q.query, 0, &why)) {
                return &k->rows[i];
            }
        }
    }
    return NULL;
}

// The reference row gives the wanted results; it too has to keep to its buffers and be the same on any number of threads.
static bool run_reference(check *k, tn_trial *trial)
{
    row_state *state = find_reference(k, trial);
    if (!state) {
        fail(k, NULL, trial, "", "no reference row takes this case");
        return false;
    }
    state->ran++;
    attempt a = {.check = k, .trial = trial, .state = state};
    const tn_trial_options runs[] = {{.at_end = true, .in_place = -1}, {.threads = true, .in_place = -1}};
    for (size_t r = 0; r < TN_COUNT(runs) && !k->coverage; r++) {
        if (!attempt_run(&a, &runs[r], r == 0)) {
            state->failed++;
            return false;
        }
    }
    if (!k->coverage) {
        memcpy(trial->want, a.first, sizeof trial->want);
    }
    return true;
}

static bool wanted_rounded(const check *k, const tn_op *op)
{
    bool found = false;
    for (size_t i = 0; i < k->n_rows && !found; i++) {
        found = k->rows[i].row->op == op && k->rows[i].selected && rounds(k->rows[i].row);
    }
    return found;
}

static void round_operands(tn_trial *trial)
{
    for (int i = 0; i < trial->c->n_in; i++) {
        round_tensor(&trial->in[i]);
    }
}

static void check_trial(check *k, const tn_case *c, tn_arena *arena, tn_rand *r, bool special, bool rounded)
{
    tn_trial trial;
    tn_diag diag;
    tn_diag_clear(&diag);
    snprintf(now_text, sizeof now_text, "%s case %u seed %" PRIu64 " (making it)", k->now_family->name, k->now_index, k->seed);
    if (tn_trial_init(&trial, c, arena, r, special, &diag) != TN_OK) {
        fail(k, NULL, &trial, "", diag.message[0] ? diag.message : "infer failed without a message");
        return;
    }
    trial.cpu = k->cpu;
    if (k->now_index % 2) {
        trial.cpu.l3 = 1;   // no result fits in the caches: those that do not go other ways to memory
    }
    if (rounded) {
        round_operands(&trial);
    }
    if (!run_reference(k, &trial)) {
        return;
    }
    for (size_t i = 0; i < k->n_rows; i++) {
        row_state *state = &k->rows[i];
        if (state->row->op != c->op || state->row->impl == TN_IMPL_REFERENCE || rounds(state->row) != rounded) {
            continue;
        }
        state->offered = true;
        if (state->selected) {
            check_row(k, &trial, state);
        }
    }
}

static uint64_t mix(uint64_t seed, const char *name, unsigned index)
{
    tn_rand r = {seed};
    for (; *name; name++) {
        r.state = tn_rand_u64(&r) ^ (unsigned char)*name;
    }
    r.state = tn_rand_u64(&r) ^ index;
    return tn_rand_u64(&r);
}

static bool wanted_op(const check *k, const tn_op *op)
{
    for (size_t i = 0; i < k->n_rows; i++) {
        if (k->rows[i].row->op == op && (k->rows[i].selected || (k->rows[i].row->impl == TN_IMPL_REFERENCE && !k->text))) {
            return true;
        }
    }
    return false;
}

static void check_case(check *k, unsigned index)
{
    tn_arena arena;
    tn_arena_init(&arena, &k->bench.heap);
    tn_rand r = {mix(k->seed, k->now_family->name, index)};
    tn_case c;
    memset(&c, 0, sizeof c);
    k->now_index = index;
    if (!k->now_family->make(&c, &arena, &r, index)) {
        fail(k, NULL, NULL, "", "the case could not be made");
    } else if (wanted_op(k, c.op)) {
        check_trial(k, &c, &arena, &r, false, false);
        if (c.special && !k->coverage) {
            check_trial(k, &c, &arena, &r, true, false);
        }
        if (wanted_rounded(k, c.op)) {
            check_trial(k, &c, &arena, &r, false, true);
            if (c.special && !k->coverage) {
                check_trial(k, &c, &arena, &r, true, true);
            }
        }
    }
    tn_arena_deinit(&arena);
}

// ---- the registry ----

static bool visit_row(const tn_kernel *row, void *context)
{
    check *k = context;
    if (k->n_rows == MAX_ROWS) {
        return false;
    }
    row_state *state = &k->rows[k->n_rows++];
    state->row = row;
    state->refused = (row->cpu & k->cpu.features) != row->cpu;
    state->selected = row->impl != TN_IMPL_REFERENCE && !state->refused && (!k->text || strstr(row->name, k->text));
    return true;
}

static unsigned report_refused(const check *k)
{
    unsigned refused = 0;
    for (size_t i = 0; i < k->n_rows; i++) {
        const row_state *state = &k->rows[i];
        if (state->refused && (!k->text || strstr(state->row->name, k->text))) {
            refused++;
            if (k->list || k->expect_refused) {
                printf("refused: %s (the processor lacks its instructions)\n", state->row->name);
            }
        }
    }
    return refused;
}

// A run of one family, or of one case, says nothing about the others' rows.
static unsigned report_uncovered(const check *k)
{
    unsigned bad = 0;
    if (k->family || k->only >= 0) {
        return 0;
    }
    for (size_t i = 0; i < k->n_rows; i++) {
        const row_state *state = &k->rows[i];
        if (state->selected && !state->ran) {
            printf("FAIL %s: %s\n", state->row->name,
                   state->offered ? "accepts none of its operator's cases" : "its operator has no cases");
            bad++;
        }
    }
    return bad;
}

// Every operator has a reference row that some case reaches, but for those whose operands cases cannot make (ops/objects.h). Control
// operators are run by the executor and need no row.
static unsigned report_references(const check *k)
{
    unsigned bad = 0;
    for (size_t i = 0; i < k->n_rows; i++) {
        const tn_kernel *row = k->rows[i].row;
        if (row->impl == TN_IMPL_REFERENCE && !k->rows[i].ran && strcmp(row->tag, "objects") != 0) {
            printf("FAIL %s: no case reaches it\n", row->name);
            bad++;
        }
    }
    for (const tn_op_list *const *list = tn_registry_ops; *list; list++) {
        for (size_t i = 0; i < (*list)->count; i++) {
            const tn_op *op = (*list)->ops[i];
            bool found = (op->flags & TN_OP_CONTROL) != 0;
            for (size_t r = 0; r < k->n_rows && !found; r++) {
                found = k->rows[r].row->op == op && k->rows[r].row->impl == TN_IMPL_REFERENCE;
            }
            if (!found) {
                printf("FAIL operator %s has no reference row\n", op->name);
                bad++;
            }
        }
    }
    return bad;
}

static void list_rows(const check *k)
{
    for (size_t i = 0; i < k->n_rows; i++) {
        const tn_kernel *row = k->rows[i].row;
        if (!k->rows[i].refused && (!k->text || strstr(row->name, k->text))) {
            printf("%-12s %s\n", tn_impl_text(row->impl), row->name);
        }
    }
}

// ---- the program ----

static bool number(const char *text, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, 10);
    return *text && !*end;
}

static bool read_options(check *k, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        uint64_t n = 0;
        bool takes = true;
        if (strcmp(name, "--family") == 0) {
            k->family = value;
        } else if (strcmp(name, "--rows") == 0) {
            k->text = value;
        } else if (strcmp(name, "--seed") == 0 && number(value, &n)) {
            k->seed = n;
        } else if (strcmp(name, "--count") == 0 && number(value, &n)) {
            k->count = (unsigned)n;
        } else if (strcmp(name, "--only") == 0 && number(value, &n)) {
            k->only = (long)n;
        } else {
            takes = false;
            k->list = k->list || strcmp(name, "--list") == 0;
            k->coverage = k->coverage || strcmp(name, "--coverage") == 0;
            k->expect_refused = k->expect_refused || strcmp(name, "--expect-refused") == 0;
            if (strcmp(name, "--list") && strcmp(name, "--coverage") && strcmp(name, "--expect-refused")) {
                return false;
            }
        }
        i += takes;
    }
    return true;
}

static bool run_families(check *k)
{
    bool any = false;
    for (const tn_case_family *const *family = tn_case_families; *family; family++) {
        if (k->family && strcmp(k->family, (*family)->name) != 0) {
            continue;
        }
        any = true;
        k->now_family = *family;
        const unsigned end = (*family)->listed + k->count;
        for (unsigned i = 0; i < end; i++) {
            if (k->only < 0 || (unsigned)k->only == i) {
                check_case(k, i);
            }
        }
    }
    return any || !k->family;
}

int main(int argc, char **argv)
{
    static check k = {.seed = 1, .count = 40, .only = -1};
    if (!read_options(&k, argc, argv)) {
        fprintf(stderr, "usage: check_kernels [--family NAME] [--rows TEXT] [--seed N] [--count N] [--only INDEX] [--list]"
                        " [--coverage] [--expect-refused]\n");
        return 2;
    }
    tn_cpu_detect(&k.cpu);
    k.cpu.features = tn_cpu_permit(k.cpu.features) | TN_CPU_BF16_WEIGHTS;
    tn_registry_visit(NULL, visit_row, &k);
    const unsigned refused = report_refused(&k);
    if (k.list) {
        list_rows(&k);
        return k.expect_refused && !refused;
    }
    if (!tn_trial_bench_init(&k.bench, THREADS)) {
        fprintf(stderr, "check_kernels: no worker threads\n");
        return 2;
    }
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    signal(SIGILL, on_fault);
    signal(SIGFPE, on_fault);
    unsigned bad = run_families(&k) ? 0 : 1;
    bad += report_uncovered(&k);
    bad += k.coverage ? report_references(&k) : 0;
    unsigned ran = 0;
    for (size_t i = 0; i < k.n_rows; i++) {
        ran += k.rows[i].ran > 0;
    }
    printf("%lu runs of %u rows, %lu failures; %u rows refused for lack of instructions\n", k.runs, ran, k.failures, refused);
    if (k.expect_refused && !refused) {
        printf("FAIL some rows were expected to be refused\n");
        bad++;
    }
    tn_trial_bench_deinit(&k.bench);
    return k.failures || bad ? 1 : 0;
}
