// SPDX-License-Identifier: Apache-2.0
// Steps of optimisers (domain ai.onnx.preview.training): arithmetic on scalars R (rate) and T (count of updates) and on n tensors
// of each kind, x1..xn, g1..gn, ... Formulas from the ONNX operator documents.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_select.h"
#include "ops/math/op_unary.h"

// Calls that build are never siblings among the arguments of another: their order, and so the graph, would be the compiler's
// choice.
static tn_value *binary(tn_onnx_node *node, const tn_op *op, tn_value *a, tn_value *b)
{
    return tn_onnx_emit(node, op, NULL, TN_IN(a, b));
}

// v * x with a number v.
static tn_value *scaled(tn_onnx_node *node, double v, tn_value *x)
{
    return binary(node, &tn_op_mul, tn_onnx_const_like(node, x, v), x);
}

// v * x + w * y
static tn_value *mixed(tn_onnx_node *node, double v, tn_value *x, double w, tn_value *y)
{
    tn_value *a = scaled(node, v, x);
    return binary(node, &tn_op_add, a, scaled(node, w, y));
}

// sqrt(x) + epsilon
static tn_value *root_plus(tn_onnx_node *node, tn_value *x, double epsilon)
{
    tn_value *root = tn_onnx_emit(node, &tn_op_sqrt, NULL, TN_IN(x));
    return binary(node, &tn_op_add, root, tn_onnx_const_like(node, x, epsilon));
}

// The rate and the count of updates have types of their own: both join that of the tensors.
static tn_value *of_type(tn_onnx_node *node, tn_value *value, tn_value *like)
{
    return value && like && value->dtype == like->dtype && value->dtype != TN_NONE
        ? value : tn_onnx_emit(node, &tn_op_cast_like, NULL, TN_IN(value, like));
}

// The gradient with weight decay: norm * x + g.
static tn_value *decayed(tn_onnx_node *node, tn_value *x, tn_value *g)
{
    return binary(node, &tn_op_add, scaled(node, tn_onnx_real(node, "norm_coefficient", 0.0f), x), g);
}

// How many tensors of each kind there are; 0: their number does not fit (recorded).
static int count_tensors(tn_onnx_node *node, int kinds)
{
    const int tensors = node->n_in - 2;
    if (tensors < kinds || tensors % kinds != 0) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%d operands", node->n_in);
        return 0;
    }
    for (int i = 0; i < node->n_in; ++i) {
        if (!node->in[i]) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "operand %d is missing", i);
            return 0;
        }
    }
    return tensors / kinds;
}

// a where T > 0, else b.
static tn_value *after_first(tn_onnx_node *node, tn_value *a, tn_value *b)
{
    tn_value *later = binary(node, &tn_op_greater, node->in[1], tn_onnx_const_int(node, 0));
    return tn_onnx_emit(node, &tn_op_where, NULL, TN_IN(later, a, b));
}

static void map_adagrad(tn_onnx_node *node)
{
    const int n = count_tensors(node, 3);
    const double decay = tn_onnx_real(node, "decay_factor", 0.0f), epsilon = tn_onnx_real(node, "epsilon", 1e-6f);
    for (int i = 0; i < n; ++i) {
        tn_value *x = node->in[2 + i], *h = node->in[2 + 2 * n + i], *r = of_type(node, node->in[0], x);
        tn_value *t = tn_onnx_emit(node, &tn_op_cast_like, NULL, TN_IN(node->in[1], r));
        tn_value *one = tn_onnx_const_like(node, r, 1);
        tn_value *rate = binary(node, &tn_op_div, r, binary(node, &tn_op_add, one, scaled(node, decay, t)));
        tn_value *g = decayed(node, x, node->in[2 + n + i]);
        tn_value *sum = binary(node, &tn_op_add, h, binary(node, &tn_op_mul, g, g));
        tn_value *root = root_plus(node, sum, epsilon);
        tn_value *step = binary(node, &tn_op_div, binary(node, &tn_op_mul, rate, g), root);
        tn_onnx_finish_one(node, i, &tn_op_sub, NULL, TN_IN(x, step));
        tn_onnx_finish_as(node, n + i, sum);
    }
}

// R * sqrt(1 - beta^T) / (1 - alpha^T) where T > 0, else R.
static tn_value *adam_rate(tn_onnx_node *node, double alpha, double beta)
{
    tn_value *r = node->in[0];
    tn_value *t = tn_onnx_emit(node, &tn_op_cast_like, NULL, TN_IN(node->in[1], r));
    tn_value *one = tn_onnx_const_like(node, r, 1);
    tn_value *b = binary(node, &tn_op_sub, one, binary(node, &tn_op_pow, tn_onnx_const_like(node, r, beta), t));
    tn_value *a = binary(node, &tn_op_sub, one, binary(node, &tn_op_pow, tn_onnx_const_like(node, r, alpha), t));
    tn_value *root = tn_onnx_emit(node, &tn_op_sqrt, NULL, TN_IN(b));
    return after_first(node, binary(node, &tn_op_div, binary(node, &tn_op_mul, r, root), a), r);
}

static void map_adam(tn_onnx_node *node)
{
    const int n = count_tensors(node, 4);
    const double alpha = tn_onnx_real(node, "alpha", 0.9f), beta = tn_onnx_real(node, "beta", 0.999f);
    const double epsilon = tn_onnx_real(node, "epsilon", 1e-6f), post = tn_onnx_real(node, "norm_coefficient_post", 0.0f);
    tn_value *rate = n > 0 ? adam_rate(node, alpha, beta) : NULL;
    for (int i = 0; i < n; ++i) {
        tn_value *x = node->in[2 + i], *v = node->in[2 + 2 * n + i], *h = node->in[2 + 3 * n + i];
        tn_value *g = decayed(node, x, node->in[2 + n + i]);
        tn_value *v2 = mixed(node, alpha, v, 1 - alpha, g);
        tn_value *h2 = mixed(node, beta, h, 1 - beta, binary(node, &tn_op_mul, g, g));
        tn_value *root = root_plus(node, h2, epsilon);
        tn_value *step = binary(node, &tn_op_div, binary(node, &tn_op_mul, of_type(node, rate, x), v2), root);
        tn_value *moved = binary(node, &tn_op_sub, x, step);
        tn_onnx_finish_one(node, i, &tn_op_mul, NULL, TN_IN(tn_onnx_const_like(node, x, 1 - post), moved));
        tn_onnx_finish_as(node, n + i, v2);
        tn_onnx_finish_as(node, 2 * n + i, h2);
    }
}

static void map_momentum(tn_onnx_node *node)
{
    static const char *const modes[] = {"standard", "nesterov", NULL};
    const int n = count_tensors(node, 3);
    const double alpha = tn_onnx_real(node, "alpha", 0.0f), beta = tn_onnx_real(node, "beta", 0.0f);
    const bool nesterov = tn_onnx_choice(node, "mode", modes, 0) == 1;
    for (int i = 0; i < n; ++i) {
        tn_value *x = node->in[2 + i], *v = node->in[2 + 2 * n + i];
        tn_value *g = decayed(node, x, node->in[2 + n + i]);
        tn_value *later = tn_onnx_const_like(node, x, beta), *first = tn_onnx_const_like(node, x, 1);
        tn_value *step = binary(node, &tn_op_mul, after_first(node, later, first), g);
        tn_value *v2 = binary(node, &tn_op_add, scaled(node, alpha, v), step);
        tn_value *direction = nesterov ? binary(node, &tn_op_add, g, scaled(node, alpha, v2)) : v2;
        tn_onnx_finish_one(node, i, &tn_op_sub, NULL, TN_IN(x, binary(node, &tn_op_mul, of_type(node, node->in[0], x), direction)));
        tn_onnx_finish_as(node, n + i, v2);
    }
}

static const tn_onnx_row rows[] = {
    {.type = "Adagrad", .since = 1, .map = map_adagrad},
    {.type = "Adam", .since = 1, .map = map_adam},
    {.type = "Momentum", .since = 1, .map = map_momentum},
    {0},
};

const tn_onnx_table tn_onnx_train = {"ai.onnx.preview.training", rows};
