// SPDX-License-Identifier: Apache-2.0
// Hostile operators: cases with attributes, shapes, types and contents broken at random go through infer and, where it lets them pass,
// through the reference row. A result or a clear error is right: one that names the node and the operator and says what is wrong; a
// crash, a hang, a sanitizer's finding or "internal error" is not. Every family must refuse something. Infer is also asked about dims
// that are symbolic, unknown or huge, which no kernel will see.
//
//   check_hostile [--seed N] [--count N] [--family NAME]
//
// Ownership: none. Threads: one.
#include "base/macros.h"
#include "dispatch/registry.h"
#include "ops/op_eval.h"
#include "support/case.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_ELEMENTS 4096        // of an operand that gets contents
#define MAX_BYTES (1 << 20)      // of a result
#define SECONDS 20               // one case

static char now_text[256];       // what runs now, for the handlers

static void on_signal(int signal)
{
    ssize_t ignored = write(STDOUT_FILENO, signal == SIGALRM ? "HANG " : "FAULT ", 5);
    ignored = write(STDOUT_FILENO, now_text, strlen(now_text));
    ignored = write(STDOUT_FILENO, "\n", 1);
    (void)ignored;
    _exit(1);
}

static bool odds(tn_rand *r, int64_t of) { return tn_rand_range(r, 1, of) == 1; }

static int64_t hostile_int(tn_rand *r)
{
    static const int64_t values[] = {0, 1, -1, 2, -2, 3, 7, 8, 9, 64, 255, INT64_MAX, INT64_MIN, INT64_MIN + 1, INT32_MAX, INT32_MIN,
                                     INT64_C(1) << 62, INT64_C(1) << 40, -(INT64_C(1) << 40), 1000003};
    return values[tn_rand_range(r, 0, (int64_t)TN_COUNT(values) - 1)];
}

static double hostile_real(tn_rand *r)
{
    static const double values[] = {0, -0.0, 1, -1, 0.5, 1e-40, 1e30, -1e30, 1e300, NAN, INFINITY, -INFINITY, 2147483648.0, 1e-300};
    return values[tn_rand_range(r, 0, (int64_t)TN_COUNT(values) - 1)];
}

// ---- attributes ----

static void break_ints(tn_ints *list, tn_arena *arena, tn_rand *r)
{
    int64_t v[12] = {0};
    const int count = (int)tn_rand_range(r, 0, 12);
    for (int i = 0; i < count; i++) {
        v[i] = i < list->count && tn_rand_bool(r) ? list->v[i] : hostile_int(r);
    }
    const int64_t *copy = tn_arena_copy(arena, v, sizeof v);
    *list = (tn_ints){copy, copy ? count : 0, odds(r, 4) ? false : copy != NULL};
}

// One field of an attribute struct. Loops and boxes are the planner's own and stay as they are.
static void break_field(char *attr, const tn_attr *field, tn_arena *arena, tn_rand *r)
{
    void *at = attr + field->offset;
    switch (field->kind) {
    case TN_ATTR_INT: *(int64_t *)at = hostile_int(r); break;
    case TN_ATTR_REAL: *(double *)at = hostile_real(r); break;
    case TN_ATTR_BOOL: *(bool *)at = !*(bool *)at; break;
    case TN_ATTR_DTYPE: *(tn_dtype *)at = (tn_dtype)tn_rand_range(r, 0, TN_DTYPE_COUNT - 1); break;
    case TN_ATTR_ENUM: *(int *)at = (int)tn_rand_range(r, -1, 7); break;
    case TN_ATTR_INTS: break_ints(at, arena, r); break;
    case TN_ATTR_REALS: *(tn_reals *)at = (tn_reals){NULL, 0, false}; break;
    case TN_ATTR_TEXT: case TN_ATTR_LOOP: case TN_ATTR_REGIONS: break;
    default: break;
    }
}

static void *break_attr(const tn_case *c, tn_arena *arena, tn_rand *r)
{
    char *attr = c->op->attr_size && c->attr ? tn_arena_copy(arena, c->attr, c->op->attr_size) : NULL;
    for (int n = c->op->n_attrs && attr ? (int)tn_rand_range(r, 0, 2) : 0; n > 0; n--) {
        break_field(attr, &c->op->attrs[tn_rand_range(r, 0, c->op->n_attrs - 1)], arena, r);
    }
    return attr;
}

// ---- operands ----

static void break_shape(tn_shape *shape, tn_rand *r, bool open)
{
    if (odds(r, 3)) {
        shape->rank = (int)tn_rand_range(r, open ? -1 : 0, TN_MAX_RANK);
        for (int d = 0; d < shape->rank; d++) {
            shape->dims[d] = tn_rand_range(r, 0, 4);
        }
        return;
    }
    for (int d = 0; d < shape->rank; d++) {
        if (odds(r, 3)) {
            const int64_t wild = odds(r, 2) ? TN_DIM_UNKNOWN : odds(r, 2) ? TN_DIM_SYMBOL + tn_rand_range(r, 0, 2) : INT64_C(1) << tn_rand_range(r, 20, 62);
            shape->dims[d] = open && odds(r, 2) ? wild : tn_rand_range(r, 0, 9);
        }
    }
}

// Contents of one operand: its own, or hostile numbers.
static void fill(tn_tensor *tensor, const tn_case_in *in, int64_t count, tn_rand *r)
{
    const bool hostile = odds(r, 3);
    for (int64_t i = 0; i < count; i++) {
        const double low = in->low <= in->high ? in->low : -9, high = in->low <= in->high ? in->high : 9;
        if (hostile && tn_dtype_is_float(tensor->dtype)) {
            tn_dtype_store(tensor->dtype, tensor->data, (size_t)i, hostile_real(r));
        } else if (hostile) {
            tn_dtype_store_i64(tensor->dtype, tensor->data, (size_t)i, hostile_int(r));
        } else if (tn_dtype_is_float(tensor->dtype)) {
            tn_dtype_store(tensor->dtype, tensor->data, (size_t)i, tn_rand_real(r, low, high));
        } else {
            tn_dtype_store_i64(tensor->dtype, tensor->data, (size_t)i, in->ints ? in->ints[0] : tn_rand_range(r, (int64_t)low, (int64_t)high));
        }
    }
}

typedef struct broken {
    tn_tensor tensors[TN_CASE_MAX_IN];
    tn_fact facts[TN_CASE_MAX_IN];
    const tn_fact *fact_list[TN_CASE_MAX_IN];
    const tn_tensor *list[TN_CASE_MAX_IN];
    int n_in, n_out;
    bool concrete;               // every operand has contents
} broken;

static bool break_operands(broken *b, const tn_case *c, tn_arena *arena, tn_rand *r)
{
    const bool open = odds(r, 2);
    b->n_in = odds(r, 8) ? (int)tn_rand_range(r, 0, TN_CASE_MAX_IN) : c->n_in;
    b->n_out = odds(r, 8) ? (int)tn_rand_range(r, 1, 4) : c->n_out;
    b->concrete = true;
    for (int i = 0; i < b->n_in; i++) {
        tn_tensor *tensor = &b->tensors[i];
        int64_t count;
        size_t bytes;
        *tensor = (tn_tensor){.dtype = c->in[i].dtype, .shape = c->in[i].shape};
        if (c->in[i].absent || i >= c->n_in || odds(r, 16)) {
            continue;
        }
        if (odds(r, 8)) {
            tensor->dtype = (tn_dtype)tn_rand_range(r, open ? 0 : 1, TN_DTYPE_COUNT - 1);
        }
        if (odds(r, 3)) {
            break_shape(&tensor->shape, r, open);
        }
        b->facts[i] = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = tensor->dtype, .shape = tensor->shape};
        b->fact_list[i] = &b->facts[i];
        b->list[i] = tensor;
        if (!tn_shape_count(&tensor->shape, &count) || count > MAX_ELEMENTS || tensor->dtype == TN_STRING || tensor->dtype == TN_NONE ||
            !tn_tensor_bytes(tensor, &bytes)) {
            b->concrete = false;
            continue;
        }
        tensor->data = tn_arena_take(arena, bytes + 1);
        if (!tensor->data) {
            return false;
        }
        fill(tensor, &c->in[i], count, r);
        b->facts[i].value = count <= 64 || odds(r, 2) ? tensor : NULL;
    }
    return true;
}

// ---- one case ----

static unsigned long inferred, evaluated, empty, refused, unclear;

// A failure must say where and what. The operator's name begins the message, unless memory or a limit is what failed.
static void check_failure(const tn_op *op, tn_status status, const tn_diag *diag)
{
    refused++;
    const bool ours = status == TN_OUT_OF_MEMORY || status == TN_LIMIT || status == TN_UNSUPPORTED;
    const bool known = status == TN_INVALID_MODEL || status == TN_INVALID_ARGUMENT || ours;
    if (!known || diag->status != status || strcmp(diag->place, "hostile") != 0 || !diag->message[0] ||
        (!ours && strncmp(diag->message, op->name, strlen(op->name)) != 0)) {
        unclear++;
        printf("UNCLEAR %s: status %d at '%s': %s\n", now_text, status, diag->place, diag->message);
    }
}

static bool is_empty(const broken *b)
{
    for (int i = 0; i < b->n_in; i++) {
        if (b->list[i] && tn_tensor_count(b->list[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void try_case(const tn_case *c, tn_arena *arena, tn_heap *heap, tn_rand *r)
{
    broken b = {.n_in = 0};
    tn_fact facts[TN_MAX_OUT];
    tn_tensor out[TN_MAX_OUT];
    tn_diag diag;
    void *attr = break_attr(c, arena, r);
    if ((c->op->attr_size && !attr) || !break_operands(&b, c, arena, r)) {
        return;
    }
    tn_diag_clear(&diag);
    tn_status status = tn_op_infer(c->op, attr, "hostile", b.fact_list, b.n_in, facts, b.n_out, arena, &diag);
    if (status != TN_OK) {
        check_failure(c->op, status, &diag);
    }
    if (status != TN_OK || !b.concrete) {
        return;
    }
    inferred++;
    const int64_t work = c->op->macs ? c->op->macs(attr, b.fact_list, b.n_in, facts, b.n_out) : 0;
    if (work < 0 || work > INT64_C(1) << 28) {
        return;   // what the limit on work refuses
    }
    tn_diag_clear(&diag);
    status = tn_op_eval(c->op, attr, "hostile", b.list, b.n_in, out, b.n_out, MAX_BYTES, arena, heap, &diag);
    if (status != TN_OK) {
        check_failure(c->op, status, &diag);
    } else {
        evaluated++;
        empty += is_empty(&b);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    unsigned count = 400;
    const char *only = NULL;
    tn_heap heap;
    unsigned long tried = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        seed = strcmp(argv[i], "--seed") == 0 ? strtoull(argv[i + 1], NULL, 10) : seed;
        count = strcmp(argv[i], "--count") == 0 ? (unsigned)strtoul(argv[i + 1], NULL, 10) : count;
        only = strcmp(argv[i], "--family") == 0 ? argv[i + 1] : only;
    }
    tn_heap_init(&heap, NULL, NULL, NULL);
    signal(SIGALRM, on_signal);
    signal(SIGFPE, on_signal);
    signal(SIGSEGV, on_signal);
    for (size_t f = 0; tn_case_families[f]; f++) {
        const tn_case_family *family = tn_case_families[f];
        refused = 0;
        for (unsigned i = 0; i < count && (!only || strcmp(only, family->name) == 0); i++) {
            tn_case c;
            tn_arena arena;
            tn_rand r = {seed * 1000003 + i};
            memset(&c, 0, sizeof c);
            tn_arena_init(&arena, &heap);
            snprintf(now_text, sizeof now_text, "%s --seed %" PRIu64 " case %u", family->name, seed, i);
            alarm(SECONDS);
            if (family->make(&c, &arena, &r, i)) {
                try_case(&c, &arena, &heap, &r);
                tried++;
            }
            tn_arena_deinit(&arena);
        }
        if (refused == 0 && !only) {
            unclear++;
            printf("UNCLEAR %s refused nothing\n", family->name);
        }
    }
    alarm(0);
    printf("%lu hostile cases, %lu passed infer with contents, %lu were computed (%lu with an empty operand), none crashed; %lu unclear\n",
           tried, inferred, evaluated, empty, unclear);
    return unclear > 0;
}
