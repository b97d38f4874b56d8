// SPDX-License-Identifier: Apache-2.0
// See pattern.h. Sums and products are matched by taking the written tree apart step by step until it has as many terms as the
// pattern asks for, then trying the terms in all orders; patterns are small, so this is cheap.
// Ownership: none. Threads: any.
#include "pass/pattern.h"

#include "ops/math/op_binary.h"
#include "ops/math/op_reduce.h"
#include "ops/math/op_unary.h"
#include "ops/nn/op_activation.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TERMS 8

// The operators that patterns speak of.
static const tn_op *const words[] = {
    &tn_op_add, &tn_op_mul, &tn_op_sub, &tn_op_div, &tn_op_max, &tn_op_min, &tn_op_sqrt, &tn_op_reciprocal, &tn_op_exp,
    &tn_op_erf, &tn_op_tanh, &tn_op_sigmoid, &tn_op_relu, &tn_op_softplus, &tn_op_clip, &tn_op_hard_sigmoid, &tn_op_reduce_mean,
};

// ---- parsing ----

static void skip_blanks(const char **at)
{
    while (**at == ' ') {
        (*at)++;
    }
}

// Goes over `c` when it is what comes next.
static bool accept(const char **at, char c)
{
    skip_blanks(at);
    if (**at != c) {
        return false;
    }
    (*at)++;
    return true;
}

static const tn_op *find_word(const char *text, size_t length)
{
    for (size_t i = 0; i < TN_COUNT(words); i++) {
        if (strlen(words[i]->name) == length && strncmp(words[i]->name, text, length) == 0) {
            return words[i];
        }
    }
    return NULL;
}

static int parse_part(tn_pattern *pattern, const char **at);

// The list in brackets behind an operator's name: attributes, then children.
static bool parse_call(tn_pattern *pattern, tn_pattern_part *part, const char **at)
{
    if (accept(at, '[')) {
        char *end;
        part->has_attr = true;
        part->alpha = strtod(*at, &end);
        *at = end;
        if (!accept(at, ',')) {
            return false;
        }
        part->beta = strtod(*at, &end);
        *at = end;
        if (!accept(at, ']')) {
            return false;
        }
    }
    int child[MAX_TERMS];
    if (!accept(at, '(')) {
        return false;
    }
    do {
        if (part->n_children == MAX_TERMS || (child[part->n_children++] = parse_part(pattern, at)) < 0) {
            return false;
        }
    } while (accept(at, ','));
    if (!accept(at, ')') || pattern->n_child + part->n_children > TN_PATTERN_MAX) {
        return false;
    }
    part->children = pattern->n_child;
    memcpy(pattern->child + pattern->n_child, child, (size_t)part->n_children * sizeof child[0]);
    pattern->n_child += part->n_children;
    return true;
}

// Returns the index of the part, or -1.
static int parse_part(tn_pattern *pattern, const char **at)
{
    skip_blanks(at);
    if (pattern->n_parts == TN_PATTERN_MAX) {
        return -1;
    }
    const int index = pattern->n_parts++;
    tn_pattern_part *part = &pattern->part[index];
    *part = (tn_pattern_part){.kind = TN_PART_OP};
    const char *start = *at;
    if (accept(at, '#')) {
        part->kind = TN_PART_CAPTURE;
        return index;
    }
    if (isdigit((unsigned char)*start) || *start == '-') {
        char *end;
        part->kind = TN_PART_NUMBER;
        part->number = strtod(start, &end);
        *at = end;
        return index;
    }
    // A name for what the operator makes: d=sub(...).
    if (isalpha((unsigned char)start[0]) && start[1] == '=') {
        part->letter = start[0];
        start += 2;
    }
    size_t length = 0;
    while (isalpha((unsigned char)start[length]) || start[length] == '_') {
        length++;
    }
    *at = start + length;
    if (length == 1) {
        part->kind = isupper((unsigned char)*start) ? TN_PART_CONSTANT : TN_PART_VALUE;
        part->letter = *start;
        return index;
    }
    part->op = find_word(start, length);
    return part->op && parse_call(pattern, part, at) ? index : -1;
}

bool tn_pattern_parse(tn_pattern *pattern, const char *text)
{
    *pattern = (tn_pattern){.n_parts = 0};
    pattern->root = parse_part(pattern, &text);
    skip_blanks(&text);
    return pattern->root >= 0 && *text == '\0';
}

tn_status tn_pattern_parse_all(tn_pattern **patterns, const void *rows, size_t count, size_t size, const tn_pass_context *context)
{
    *patterns = tn_take_zero(context->heap, count, sizeof **patterns);
    if (!*patterns) {
        return tn_fail_memory(context->diag, "patterns", count * sizeof **patterns);
    }
    for (size_t i = 0; i < count; i++) {
        const char *const *text = (const void *)((const char *)rows + i * size);
        if (!tn_pattern_parse(*patterns + i, *text)) {
            tn_give(context->heap, *patterns);
            *patterns = NULL;
            return tn_fail(context->diag, TN_INTERNAL, *text, "the pattern cannot be parsed");
        }
    }
    return TN_OK;
}

// ---- matching ----

typedef struct matcher {
    const tn_pattern *pattern;
    const tn_pass_context *context;
    tn_match match;
} matcher;

static bool match_part(matcher *m, int index, tn_value *value);

// Adds a node to the match, once.
static bool note_node(matcher *m, tn_node *node)
{
    for (int i = 0; i < m->match.n_nodes; i++) {
        if (m->match.node[i] == node) {
            return true;
        }
    }
    if (m->match.n_nodes == TN_MATCH_MAX_NODES) {
        return false;
    }
    m->match.node[m->match.n_nodes++] = node;
    return true;
}

// Constants in models are rounded decimals: 0.70710677, 1.4142135.
static bool near(double a, double want) { return fabs(a - want) <= 1e-5 * fabs(want); }

// What a sum or product was taken apart into.
typedef struct terms {
    bool product;
    tn_value *term[MAX_TERMS];
    int count;
    double number;           // the constant part: factor or summand
    bool has_number;
    tn_node *node[MAX_TERMS];
    int n_nodes;
} terms;

// A constant of one element joins the number, anything else is a term.
static bool add_term(terms *t, tn_value *value)
{
    double v;
    if (tn_scalar(value, &v)) {
        t->number = t->product ? t->number * v : t->number + v;
        t->has_number = true;
        return true;
    }
    if (t->count == MAX_TERMS) {
        return false;
    }
    t->term[t->count++] = value;
    return true;
}

// Adds what a node says as terms; false: it is no sum (product), or does not fit.
static bool add_node(terms *t, tn_node *node)
{
    double v;
    if (t->n_nodes == MAX_TERMS) {
        return false;
    }
    t->node[t->n_nodes++] = node;
    if (node->op == (t->product ? &tn_op_mul : &tn_op_add)) {
        return add_term(t, node->in[0]) && add_term(t, node->in[1]);
    }
    if (node->op == (t->product ? &tn_op_div : &tn_op_sub) && tn_scalar(node->in[1], &v) && !(t->product && v == 0)) {
        t->number = t->product ? t->number / v : t->number - v;
        t->has_number = true;
        return add_term(t, node->in[0]);
    }
    if (t->product && node->op == &tn_op_pow && tn_scalar(node->in[1], &v) && (v == 2 || v == 3)) {
        return add_term(t, node->in[0]) && add_term(t, node->in[0]) && (v == 2 || add_term(t, node->in[0]));
    }
    return false;
}

// Replaces a term by what its node says; terms stay in order. false: none can be taken apart.
static bool take_apart(const matcher *m, terms *t)
{
    for (int i = 0; i < t->count; i++) {
        tn_node *node = t->term[i]->producer;
        if (!node || !tn_used_once(m->context, t->term[i])) {
            continue;
        }
        terms next = *t;
        next.count = i;
        if (!add_node(&next, node)) {
            continue;
        }
        bool fits = true;
        for (int j = i + 1; fits && j < t->count; j++) {
            fits = add_term(&next, t->term[j]);
        }
        if (fits) {
            *t = next;
            return true;
        }
    }
    return false;
}

// Gives the pattern's terms from `child` on to the terms that are not in `used`.
static bool assign(matcher *m, const int *child, int n_child, const terms *t, unsigned used)
{
    if (n_child == 0) {
        return true;
    }
    for (int i = 0; i < t->count; i++) {
        if (used & (1u << i)) {
            continue;
        }
        const tn_match before = m->match;
        if (match_part(m, child[0], t->term[i]) && assign(m, child + 1, n_child - 1, t, used | (1u << i))) {
            return true;
        }
        m->match = before;
    }
    return false;
}

// The constant part against the pattern's: a number, a capture, or none (then it must be neutral).
static bool match_number(matcher *m, const tn_pattern_part *number, const terms *t)
{
    if (!number) {
        return !t->has_number || t->number == (t->product ? 1 : 0);
    }
    if (number->kind == TN_PART_NUMBER) {
        return t->has_number && near(t->number, number->number);
    }
    if (!t->has_number || m->match.n_numbers == (int)TN_COUNT(m->match.number)) {
        return false;
    }
    m->match.number[m->match.n_numbers++] = t->number;
    return true;
}

// A sum or product against a pattern's children: tried at each step of taking apart that gives as many terms.
static bool match_terms(matcher *m, const tn_pattern_part *part, tn_node *node)
{
    int child[MAX_TERMS], n_child = 0;
    const tn_pattern_part *number = NULL;
    for (int i = 0; i < part->n_children; i++) {
        const int index = m->pattern->child[part->children + i];
        const int kind = m->pattern->part[index].kind;
        if (kind == TN_PART_NUMBER || kind == TN_PART_CAPTURE) {
            number = &m->pattern->part[index];
        } else {
            child[n_child++] = index;
        }
    }
    terms t = {.product = part->op == &tn_op_mul};
    t.number = t.product ? 1 : 0;
    if (!add_node(&t, node)) {
        return false;
    }
    do {
        const tn_match before = m->match;
        bool ok = t.count == n_child && match_number(m, number, &t);
        for (int i = 0; ok && i < t.n_nodes; i++) {
            ok = note_node(m, t.node[i]);
        }
        if (ok && assign(m, child, n_child, &t, 0)) {
            return true;
        }
        m->match = before;
    } while (t.count <= n_child && take_apart(m, &t));
    return false;
}

// Any other operator: operands in order, attributes where the pattern asks for them.
static bool match_op(matcher *m, const tn_pattern_part *part, tn_value *value)
{
    tn_node *node = value->producer;
    if (!node || value->out_index != 0) {
        return false;
    }
    if (part->op == &tn_op_add || part->op == &tn_op_mul) {
        return match_terms(m, part, node);
    }
    if (node->op != part->op || node->n_in != part->n_children || !note_node(m, node)) {
        return false;
    }
    if (part->has_attr) {
        const tn_activation_attr *attr = node->attr;
        if (!near(attr->alpha, part->alpha) || !near(attr->beta, part->beta)) {
            return false;
        }
    }
    for (int i = 0; i < part->n_children; i++) {
        if (!node->in[i] || !match_part(m, m->pattern->child[part->children + i], node->in[i])) {
            return false;
        }
    }
    return true;
}

// Binds a letter, or compares with what it is bound to.
static bool bind(matcher *m, char letter, tn_value *value)
{
    tn_value **slot = &m->match.value[(letter | 32) - 'a'];
    if (!*slot) {
        *slot = value;
    }
    return *slot == value;
}

static bool match_part(matcher *m, int index, tn_value *value)
{
    const tn_pattern_part *part = &m->pattern->part[index];
    double v;
    switch (part->kind) {
    case TN_PART_VALUE:
        return !value->constant && bind(m, part->letter, value);
    case TN_PART_CONSTANT:
        return value->constant && bind(m, part->letter, value);
    case TN_PART_NUMBER:
        return tn_scalar(value, &v) && near(v, part->number);
    case TN_PART_CAPTURE:
        if (!tn_scalar(value, &v) || m->match.n_numbers == (int)TN_COUNT(m->match.number)) {
            return false;
        }
        m->match.number[m->match.n_numbers++] = v;
        return true;
    case TN_PART_OP:
        return match_op(m, part, value) && (!part->letter || bind(m, part->letter, value));
    }
    return false;
}

// The node is part of the match.
static bool is_matched(const tn_match *match, const tn_node *node)
{
    for (int i = 0; i < match->n_nodes; i++) {
        if (match->node[i] == node) {
            return true;
        }
    }
    return false;
}

// Nothing outside the match reads what the nodes before the root make.
static bool is_closed(const tn_pass_context *context, const tn_match *match)
{
    for (int i = 1; i < match->n_nodes; i++) {
        const tn_value *value = match->node[i]->out[0];
        if (!value || !tn_can_drop(context, value)) {
            return false;
        }
        for (size_t u = 0; u < value->n_uses; u++) {
            if (!is_matched(match, value->uses[u].node)) {
                return false;
            }
        }
    }
    return true;
}

bool tn_pattern_match(const tn_pattern *pattern, const tn_pass_context *context, tn_node *node, tn_match *match)
{
    const tn_op *op = pattern->part[pattern->root].op;
    // A pattern whose root is a sum or product also fits x - c, x / c and powers.
    const bool sum = op == &tn_op_add && node->op == &tn_op_sub;
    const bool product = op == &tn_op_mul && (node->op == &tn_op_div || node->op == &tn_op_pow);
    if ((node->op != op && !sum && !product) || !node->out[0]) {
        return false;
    }
    matcher m = {.pattern = pattern, .context = context};
    if (!match_part(&m, pattern->root, node->out[0]) || !is_closed(context, &m.match)) {
        return false;
    }
    *match = m.match;
    return true;
}
