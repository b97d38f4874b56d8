// SPDX-License-Identifier: Apache-2.0
// An einsum of two operands that is a matrix product, written as one: transposes, a matmul, a transpose. Letters fall into groups
// by where they stand:
//
//   in both operands and the result   batch   a becomes [batch, M, K], b [batch, K, N]
//   in a and the result               M       (several only without batch)
//   in b and the result               N       (several are one while it runs)
//   in both operands only             K       (several are one while it runs)
//
// Equations with an ellipsis, a letter twice in a term or a letter in one operand only stay as they are.
// Ownership: the caller's graph. Threads: one per graph.
#include "pass/fuse/fuse.h"

#include "ops/move/op_reshape.h"
#include "ops/move/op_transpose.h"
#include "ops/nn/op_matmul.h"
#include "pass/rewrite.h"

#include <ctype.h>
#include <string.h>

// One term: its letters, in order.
typedef struct term {
    char letter[TN_MAX_RANK];
    int n;
} term;

typedef struct equation {
    term a, b, out;
    term batch, m, n, k;
} equation;

// Place of a letter in a term; -1: it is not there.
static int find(const term *t, char letter)
{
    for (int i = 0; i < t->n; i++) {
        if (t->letter[i] == letter) {
            return i;
        }
    }
    return -1;
}

// Adds a letter; false: it is there already, or the term is full.
static bool append(term *t, char letter)
{
    if (t->n == TN_MAX_RANK || find(t, letter) >= 0) {
        return false;
    }
    t->letter[t->n++] = letter;
    return true;
}

// The letters up to `end`, blanks left out.
static bool read_term(const char **at, char end, term *t)
{
    t->n = 0;
    for (; **at && **at != end; (*at)++) {
        if (**at != ' ' && (!isalpha((unsigned char)**at) || !append(t, **at))) {
            return false;
        }
    }
    return **at == end;
}

// The result of an equation without "->": letters that stand once, in alphabetical order (ONNX Einsum).
static bool implied_result(equation *e)
{
    for (int c = 'A'; c <= 'z'; c++) {
        const char letter = (char)c;
        if ((find(&e->a, letter) >= 0) != (find(&e->b, letter) >= 0) && !append(&e->out, letter)) {
            return false;
        }
    }
    return true;
}

// "ab,bc->ac" or "ab,bc".
static bool read_equation(const char *text, equation *e)
{
    const char *arrow = text ? strstr(text, "->") : NULL;
    *e = (equation){.a = {.n = 0}};
    if (!text || !read_term(&text, ',', &e->a)) {
        return false;
    }
    text++;
    if (!arrow) {
        return read_term(&text, '\0', &e->b) && implied_result(e);
    }
    if (!read_term(&text, '-', &e->b)) {
        return false;
    }
    text += 2;
    return read_term(&text, '\0', &e->out);
}

// Sorts the letters into groups; false: it is no matrix product.
static bool group_letters(equation *e)
{
    for (int i = 0; i < e->out.n; i++) {
        const char letter = e->out.letter[i];
        const bool a = find(&e->a, letter) >= 0, b = find(&e->b, letter) >= 0;
        if (!a && !b) {
            return false;
        }
        append(a && b ? &e->batch : a ? &e->m : &e->n, letter);
    }
    for (int i = 0; i < e->a.n; i++) {
        const char letter = e->a.letter[i];
        if (find(&e->out, letter) < 0 && (find(&e->b, letter) < 0 || !append(&e->k, letter))) {
            return false;
        }
    }
    for (int i = 0; i < e->b.n; i++) {
        if (find(&e->out, e->b.letter[i]) < 0 && find(&e->k, e->b.letter[i]) < 0) {
            return false;
        }
    }
    // With batch dims a vector would have to become a matrix first; with several M there is no place for batch dims.
    return e->k.n > 0 && (e->batch.n == 0 || (e->m.n == 1 && e->n.n > 0));
}

// ---- rewriting ----

typedef struct work {
    tn_graph *graph;
    tn_pass_context *context;
    tn_node *node;
} work;

// value, whose dims are `from`, with its dims in the order of `to`.
static tn_status arrange(const work *w, tn_value **value, const term *from, const term *to)
{
    int64_t perm[TN_MAX_RANK];
    bool identity = true;
    tn_shape shape = {.rank = to->n};
    for (int d = 0; d < to->n; d++) {
        perm[d] = find(from, to->letter[d]);
        identity = identity && perm[d] == d;
        shape.dims[d] = (*value)->shape.dims[perm[d]];
    }
    if (identity) {
        return TN_OK;
    }
    const tn_transpose_attr attr = {tn_new_attr_ints(w->graph, to->n, perm)};
    if (!attr.perm.set) {
        return tn_fail_memory(w->context->diag, w->node->name, sizeof perm);
    }
    return tn_insert_node(w->graph, w->context, w->node, w->node, &tn_op_transpose, &attr, value, 1, TN_F32, &shape, value);
}

// value with the dims of `shape`: the first `kept` stay as they are, the others are numbers.
static tn_status reshape_tail(const work *w, tn_value **value, int kept, const tn_shape *shape)
{
    int64_t target[TN_MAX_RANK];
    for (int d = 0; d < shape->rank; d++) {
        target[d] = d < kept ? 0 : shape->dims[d];
    }
    tn_value *const in[2] = {*value, tn_new_ints(w->graph, shape->rank, target)};
    if (!in[1]) {
        return tn_fail_memory(w->context->diag, w->node->name, sizeof target);
    }
    return tn_insert_node(w->graph, w->context, w->node, w->node, &tn_op_reshape, NULL, in, 2, TN_F32, shape, value);
}

// Appends the letters of a group.
static void extend(term *t, const term *by)
{
    for (int i = 0; i < by->n; i++) {
        append(t, by->letter[i]);
    }
}

// Summed dims must be the same on both sides: einsum would broadcast a 1, the product refuses it.
static bool same_sums(const equation *e, const tn_node *node)
{
    for (int i = 0; i < e->k.n; i++) {
        const char letter = e->k.letter[i];
        if (!tn_dim_surely_same(node->in[0]->shape.dims[find(&e->a, letter)], node->in[1]->shape.dims[find(&e->b, letter)])) {
            return false;
        }
    }
    return true;
}

// Product of the dims of `group`, letters of `t`; false: one is not known, or it is 0 or too large.
static bool extent(const tn_shape *shape, const term *t, const term *group, int64_t *product)
{
    *product = 1;
    for (int i = 0; i < group->n; i++) {
        const int64_t dim = shape->dims[find(t, group->letter[i])];
        if (!tn_dim_known(dim) || dim < 1 || __builtin_mul_overflow(*product, dim, product)) {
            return false;
        }
    }
    return true;
}

// a [batch, M, K] times b [batch, K, N]; k and n are the sizes of the merged groups where letters are merged. The identity at the
// end carries the name of the result and goes with the next pass.
static tn_status become_product(const work *w, const equation *e, int64_t k, int64_t n)
{
    tn_value *in[2] = {w->node->in[0], w->node->in[1]}, *product;
    term a = e->batch, b = e->batch, result = e->batch;
    const tn_shape out = w->node->out[0]->shape;
    extend(&a, &e->m);
    const int kept_a = a.n, kept_b = b.n;
    extend(&a, &e->k);
    extend(&b, &e->k);
    extend(&b, &e->n);
    extend(&result, &e->m);
    const int kept = result.n;
    extend(&result, &e->n);
    TN_TRY(arrange(w, &in[0], &e->a, &a));
    TN_TRY(arrange(w, &in[1], &e->b, &b));
    tn_shape shape_a = in[0]->shape, shape_b = in[1]->shape, shape = {.rank = kept + (e->n.n > 0)};
    if (e->k.n > 1) {
        shape_a.rank = kept_a + 1;
        shape_a.dims[kept_a] = k;
        TN_TRY(reshape_tail(w, &in[0], kept_a, &shape_a));
    }
    if (e->k.n > 1 || e->n.n > 1) {
        shape_b.rank = kept_b + 1 + (e->n.n > 0);
        shape_b.dims[kept_b] = k;
        shape_b.dims[kept_b + 1] = n;
        TN_TRY(reshape_tail(w, &in[1], kept_b, &shape_b));
    }
    for (int d = 0; d < kept; d++) {
        shape.dims[d] = out.dims[find(&e->out, result.letter[d])];
    }
    shape.dims[kept] = e->n.n > 1 ? n : e->n.n == 1 ? out.dims[find(&e->out, e->n.letter[0])] : 0;
    TN_TRY(tn_insert_node(w->graph, w->context, w->node, w->node, &tn_op_matmul, NULL, in, 2, TN_F32, &shape, &product));
    if (e->n.n > 1) {
        tn_shape whole = {.rank = result.n};
        for (int d = 0; d < result.n; d++) {
            whole.dims[d] = out.dims[find(&e->out, result.letter[d])];
        }
        TN_TRY(reshape_tail(w, &product, kept, &whole));
    }
    TN_TRY(arrange(w, &product, &result, &e->out));
    return tn_rewrite_node(w->graph, w->context, &(tn_rewrite){.root = w->node, .op = &tn_op_identity, .in = &product, .n_in = 1},
                           NULL);
}

// Only f32 of known ranks: the reference kernel does the rest.
static tn_status run_split_einsum(tn_graph *graph, tn_pass_context *context)
{
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        equation e;
        int64_t k = 1, n = 1;
        if (node->op != &tn_op_einsum || node->n_in != 2 || !tn_is_f32(node->out[0]) ||
            !read_equation(((const tn_einsum_attr *)node->attr)->equation, &e) || !group_letters(&e) ||
            node->in[0]->shape.rank != e.a.n || node->in[1]->shape.rank != e.b.n || node->out[0]->shape.rank != e.out.n ||
            !same_sums(&e, node)) {
            continue;
        }
        const bool merges = e.k.n > 1 || e.n.n > 1;
        if (merges && (!extent(&node->in[1]->shape, &e.b, &e.k, &k) || !extent(&node->in[1]->shape, &e.b, &e.n, &n))) {
            continue;
        }
        TN_TRY(become_product(&(work){graph, context, node}, &e, k, n));
    }
    return TN_OK;
}

const tn_pass tn_pass_split_einsum = {"split_einsum", run_split_einsum};
