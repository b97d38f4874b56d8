// SPDX-License-Identifier: Apache-2.0
// Gradient (domain ai.onnx.preview.training): derivatives of a value of the graph by others, as nodes behind it. The nodes between
// are gone through from the last to the first, each handing the derivative by its result on to its operands (reverse mode; A. Griewank
// and A. Walther, "Evaluating Derivatives", 2008, chapter 3). Elementwise arithmetic without broadcasting is understood.
// Ownership and threads: see onnx_read.h.
#include "import/onnx/rows/onnx_rows.h"

#include "import/onnx/onnx_read.h"
#include "ops/index/op_make.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_unary.h"
#include "ops/move/op_reshape.h"

typedef struct chain {
    tn_onnx_node *node;
    bool *depends;       // by value id: its value follows from those that are asked for
    bool *source;        // one of those
    tn_value **by;       // derivative by the value, so far
    size_t n;            // values when the gradient is made
} chain;

static tn_value *binary(chain *c, const tn_op *op, tn_value *a, tn_value *b) { return tn_onnx_emit(c->node, op, NULL, TN_IN(a, b)); }
static tn_value *unary(chain *c, const tn_op *op, tn_value *x) { return tn_onnx_emit(c->node, op, NULL, TN_IN(x)); }

// Adds to the derivative by a value.
static void add(chain *c, tn_value *to, tn_value *part)
{
    if (part && c->depends[to->id]) {
        c->by[to->id] = c->by[to->id] ? binary(c, &tn_op_add, c->by[to->id], part) : part;
    }
}

static bool is(const tn_node *made, const tn_op *op) { return made->op == op; }

// Hands g, the derivative by the node's result y, on to its operands.
static void hand_on(chain *c, const tn_node *made, tn_value *g)
{
    tn_value *y = made->out[0], *a = made->n_in > 0 ? made->in[0] : NULL, *b = made->n_in > 1 ? made->in[1] : NULL;
    if (is(made, &tn_op_add) || is(made, &tn_op_sub)) {
        add(c, a, g);
        add(c, b, is(made, &tn_op_sub) ? unary(c, &tn_op_neg, g) : g);
    } else if (is(made, &tn_op_mul)) {
        add(c, a, binary(c, &tn_op_mul, g, b));
        add(c, b, binary(c, &tn_op_mul, g, a));
    } else if (is(made, &tn_op_div)) {
        add(c, a, binary(c, &tn_op_div, g, b));
        tn_value *part = binary(c, &tn_op_div, binary(c, &tn_op_mul, g, y), b);
        add(c, b, unary(c, &tn_op_neg, part));
    } else if (is(made, &tn_op_neg)) {
        add(c, a, unary(c, &tn_op_neg, g));
    } else if (is(made, &tn_op_identity)) {
        add(c, a, g);
    } else if (is(made, &tn_op_exp)) {
        add(c, a, binary(c, &tn_op_mul, g, y));
    } else if (is(made, &tn_op_log)) {
        add(c, a, binary(c, &tn_op_div, g, a));
    } else {
        tn_onnx_refuse(c->node, "the derivative of %s", made->op->name);
    }
}

// The named value must be in this graph.
static tn_value *find(const chain *c, tn_span name)
{
    tn_onnx_node *node = c->node;
    tn_value *value = NULL;
    bool absent;
    if (tn_onnx_good(node)) {
        node->status = tn_onnx_lookup(node->scope, name, &value, &absent);
    }
    if (tn_onnx_good(node) && !value) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "'%.*s' is not a value of the graph", (int)TN_MIN(name.size, 100),
                     name.size ? (const char *)name.data : "");
    }
    if (value && value->id >= c->n) {
        tn_onnx_refuse(node, "derivatives by values outside the graph");
    }
    return tn_onnx_good(node) ? value : NULL;
}

// Marks the values that are asked for and all that follows from them. Shapes along the way must be the same: sums over broadcast dims
// are not understood.
static void mark(chain *c, size_t count)
{
    tn_onnx_node *node = c->node;
    for (size_t i = 0; i < count && tn_onnx_good(node); ++i) {
        size_t all;
        const tn_value *x = find(c, tn_onnx_string(node, "xs", i, &all));
        if (x && x != tn_onnx_in(node, (int)i)) {
            tn_onnx_refuse(node, "derivatives at other values than those of the graph");
        } else if (x) {
            c->depends[x->id] = c->source[x->id] = true;
        }
    }
    for (const tn_node *made = node->graph->first; made && tn_onnx_good(node); made = made->next) {
        bool follows = false;
        for (int i = 0; i < made->n_in; ++i) {
            follows |= made->in[i] && c->depends[made->in[i]->id];
        }
        for (int i = 0; i < made->n_out; ++i) {
            if (made->out[i]) {
                c->depends[made->out[i]->id] |= follows;
            }
        }
    }
}

static bool same_shapes(const tn_node *made)
{
    for (int i = 0; i < made->n_in; ++i) {
        if (!made->in[i] || !tn_shape_known(&made->in[i]->shape) || !tn_shape_equal(&made->in[i]->shape, &made->out[0]->shape)) {
            return false;
        }
    }
    return true;
}

static void go_back(chain *c, const tn_node *last)
{
    for (const tn_node *made = last; made && tn_onnx_good(c->node); made = made->prev) {
        tn_value *y = made->n_out > 0 ? made->out[0] : NULL;
        if (!y || !c->by[y->id] || c->source[y->id]) {
            continue;
        }
        if (made->n_out != 1 || !same_shapes(made)) {
            tn_onnx_refuse(c->node, "the derivative of %s on operands of different or unknown shapes", made->op->name);
            return;
        }
        hand_on(c, made, c->by[y->id]);
    }
}

static void map_gradient(tn_onnx_node *node)
{
    size_t count = 0;
    tn_arena *scratch = &node->scope->scratch;
    chain c = {.node = node, .n = node->graph->n_values};
    const tn_onnx_attr *name = tn_onnx_find(node, "y");
    (void)tn_onnx_string(node, "xs", 0, &count);
    if (!name || name->type != TN_ONNX_STRING || count == 0 || (int64_t)count != node->n_in || tn_onnx_find(node, "zs")) {
        tn_onnx_refuse(node, "a gradient without 'xs' and 'y', or with other values than 'xs'");
        return;
    }
    tn_value *y = find(&c, name->bytes);
    c.depends = tn_arena_array(scratch, c.n, sizeof *c.depends);
    c.source = tn_arena_array(scratch, c.n, sizeof *c.source);
    c.by = tn_arena_array(scratch, c.n, sizeof *c.by);
    if (!c.depends || !c.source || !c.by) {
        node->status = tn_onnx_good(node) ? tn_fail_memory(node->scope->reader->diag, node->name, c.n * sizeof *c.by) : node->status;
    }
    if (!tn_onnx_good(node)) {
        return;
    }
    const tn_node *last = node->graph->last;
    mark(&c, count);
    if (tn_onnx_good(node)) {
        tn_value *one = tn_onnx_const_like(node, y, 1);
        c.by[y->id] = tn_onnx_emit(node, &tn_op_expand, NULL, TN_IN(one, tn_onnx_shape_of(node, y)));
        go_back(&c, last);
    }
    for (size_t i = 0; i < count && tn_onnx_good(node); ++i) {
        tn_value *x = node->in[i];
        tn_value *zero = c.by[x->id] ? NULL : tn_onnx_const_like(node, x, 0);
        tn_onnx_finish_as(node, (int)i, zero ? tn_onnx_emit(node, &tn_op_expand, NULL, TN_IN(zero, tn_onnx_shape_of(node, x))) : c.by[x->id]);
    }
}

static const tn_onnx_row rows[] = {
    {.type = "Gradient", .since = 1, .map = map_gradient},
    {0},
};

const tn_onnx_table tn_onnx_gradient = {"ai.onnx.preview.training", rows};
