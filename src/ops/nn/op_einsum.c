// SPDX-License-Identifier: Apache-2.0
// Einstein sums (ONNX Einsum 28). The equation is read against the operands' shapes into labels: letters 0 .. 51, and the dims
// that "..." stands for, counted from the right, 52 .. 59. The reference walks all output elements and, inside, all summed labels
// with the last of them as a row. Two-operand sums that are products of matrices are lowered to matmul.
// Ownership: const data. Threads: any.
#include "ops/nn/op_matmul.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

// ---- attributes ----

static const tn_attr einsum_attrs[] = {{"equation", TN_ATTR_TEXT, offsetof(tn_einsum_attr, equation), NULL}};
static const tn_einsum_attr einsum_defaults = {.equation = ""};

// ---- the equation ----

enum { LETTERS = 52, LABELS = LETTERS + TN_MAX_RANK };

typedef struct term {
    int rank;                      // labels, "..." counted as what it stands for
    uint8_t labels[TN_MAX_RANK];
} term;

typedef struct equation {
    int n_terms, dots;             // dims that the longest "..." stands for
    term terms[TN_MAX_IN], out;
    int64_t sizes[LABELS];         // 1 until something larger is seen
    uint8_t uses[LABELS];          // in how many places a label stands on the left
} equation;

static int label_of(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? 26 + c - 'a' : -1;   // upper case first: the ASCII order
}

// Reads one term: letters and at most one "...", which stands for `dots` dims. Stops at ',', "->" and the end. Returns a broken
// rule.
static const char *read_term(const char **text, int dots, term *t, int *letters)
{
    bool seen = false;
    const char *c = *text;
    t->rank = *letters = 0;
    for (; *c && *c != ',' && *c != '-'; c++) {
        const int label = label_of(*c);
        int add = 1, first = label;
        if (*c == ' ') {
            continue;
        }
        if (c[0] == '.' && c[1] == '.' && c[2] == '.' && !seen) {
            seen = true;
            add = dots;
            first = LETTERS + dots - 1;
            c += 2;
        } else if (label < 0) {
            return "the equation has a character that is no letter, comma, \"...\" or \"->\"";
        } else {
            ++*letters;
        }
        if (t->rank + add > TN_MAX_RANK) {
            return "the equation has a term with more dims than a tensor can have";
        }
        for (int i = 0; i < add; i++) {
            t->labels[t->rank++] = (uint8_t)(first - i);
        }
    }
    *text = c;
    return NULL;
}

// The output that an equation without "->" means: the dims of "...", then the letters that stand once, in ASCII order.
static const char *implicit_out(equation *e)
{
    e->out.rank = 0;
    for (int i = e->dots - 1; i >= 0; i--) {
        e->out.labels[e->out.rank++] = (uint8_t)(LETTERS + i);
    }
    for (int i = 0; i < LETTERS; i++) {
        if (e->uses[i] != 1) {
            continue;
        }
        if (e->out.rank == TN_MAX_RANK) {
            return "the result has more dims than a tensor can have";
        }
        e->out.labels[e->out.rank++] = (uint8_t)i;
    }
    return NULL;
}

// The result may only have letters of the operands, each once.
static const char *check_out(const equation *e)
{
    uint8_t seen[LABELS] = {0};
    for (int i = 0; i < e->out.rank; i++) {
        const int label = e->out.labels[i];
        if (label < LETTERS && !e->uses[label]) {
            return "the result has a letter that no operand has";
        }
        if (seen[label]++) {
            return "the result has a letter twice";
        }
    }
    return NULL;
}

// How many dims "..." stands for in a term with `letters` letters for an operand of `rank`; -1: does not fit.
static int count_dots(const char *from, const char *to, int letters, int rank)
{
    bool has = false;
    for (const char *c = from; c < to; c++) {
        has |= *c == '.';
    }
    return rank < letters || (!has && rank != letters) ? -1 : rank - letters;
}

// Joins what operand k says of its labels' sizes.
static const char *join_sizes(equation *e, const term *t, const tn_shape *shape)
{
    for (int i = 0; i < t->rank; i++) {
        int64_t *size = &e->sizes[t->labels[i]];
        const tn_shape a = tn_shape_of(1, size), b = tn_shape_of(1, &shape->dims[i]);
        tn_shape both;
        e->uses[t->labels[i]] = (uint8_t)TN_MIN(e->uses[t->labels[i]] + 1, 2);
        if (!tn_shape_broadcast(&a, &b, &both)) {
            return "operands give one letter different sizes";
        }
        *size = both.dims[0];
    }
    return NULL;
}

// Reads the equation for operands whose ranks are known. Returns a broken rule.
static const char *read_equation(equation *e, const char *text, const tn_shape *const *shapes, int n)
{
    memset(e, 0, sizeof *e);
    for (int i = 0; i < LABELS; i++) {
        e->sizes[i] = 1;
    }
    const char *c = text;
    for (e->n_terms = 0;; c++) {
        term *t = &e->terms[e->n_terms];
        const char *from = c;
        int letters;
        if (e->n_terms >= n) {
            return "the equation has more terms than there are operands";
        }
        const char *wrong = read_term(&c, 0, t, &letters);
        if (wrong) {
            return wrong;
        }
        const int dots = count_dots(from, c, letters, shapes[e->n_terms]->rank);
        if (dots < 0) {
            return "a term does not fit the rank of its operand";
        }
        e->dots = TN_MAX(e->dots, dots);
        wrong = read_term(&from, dots, t, &letters);
        if (!wrong) {
            wrong = join_sizes(e, t, shapes[e->n_terms]);
        }
        if (wrong) {
            return wrong;
        }
        e->n_terms++;
        if (*c != ',') {
            break;
        }
    }
    if (e->n_terms != n) {
        return "the equation has fewer terms than there are operands";
    }
    if (!*c) {
        return implicit_out(e);
    }
    if (c[1] != '>') {
        return "the equation has a '-' without '>'";
    }
    int letters;
    c += 2;
    const char *wrong = read_term(&c, e->dots, &e->out, &letters);
    return wrong ? wrong : *c ? "the equation goes on after its result" : check_out(e);
}

// ---- infer ----

// The shape is known as soon as all ranks are; sizes may still be symbols.
static tn_status infer_einsum(tn_infer *infer)
{
    const tn_einsum_attr *attr = infer->attr;
    const tn_shape *shapes[TN_MAX_IN];
    tn_shape y = tn_shape_unknown();
    tn_dtype dtype;
    bool known = true;
    TN_TRY(tn_infer_types(infer, 0, infer->n_in - 1, TN_SET_NUMBER, &dtype));
    for (int i = 0; i < infer->n_in; i++) {
        shapes[i] = &infer->in[i]->shape;
        known &= shapes[i]->rank >= 0;
    }
    if (known) {
        equation e;
        const char *wrong = read_equation(&e, attr->equation ? attr->equation : "", shapes, infer->n_in);
        if (wrong) {
            return tn_infer_fail(infer, "%s", wrong);
        }
        y.rank = e.out.rank;
        for (int i = 0; i < y.rank; i++) {
            y.dims[i] = e.sizes[e.out.labels[i]];
        }
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// Labels that are summed, in order; returns how many.
static int summed_labels(const equation *e, uint8_t *labels)
{
    int n = 0;
    for (int label = 0; label < LABELS; label++) {
        bool kept = !e->uses[label];
        for (int i = 0; i < e->out.rank; i++) {
            kept |= e->out.labels[i] == label;
        }
        if (!kept) {
            labels[n++] = (uint8_t)label;
        }
    }
    return n;
}

// One product for each result and each combination of summed labels.
static int64_t macs_einsum(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    const tn_shape *shapes[TN_MAX_IN];
    uint8_t summed[LABELS];
    equation e;
    int64_t macs;
    (void)n_out;
    for (int i = 0; i < n_in; i++) {
        shapes[i] = &in[i]->shape;
    }
    if (read_equation(&e, ((const tn_einsum_attr *)attr)->equation, shapes, n_in) || !tn_shape_count(&out->shape, &macs)) {
        return INT64_MAX;
    }
    const int n = summed_labels(&e, summed);
    for (int i = 0; i < n; i++) {
        if (!tn_mul_i64(macs, e.sizes[summed[i]], &macs)) {
            return INT64_MAX;
        }
    }
    return macs;
}

// ---- reference ----

enum { RUN = 256 };   // elements of a row that are converted at a time

// What prepare works out of the equation and the shapes.
typedef struct einsum_params {
    equation e;
    int n_summed;
    uint8_t summed[LABELS];
    int64_t sums;                              // rows of summed elements for one result
    int64_t row;                               // size of the last summed label; 1 when nothing is summed
    int64_t strides[TN_MAX_IN][LABELS];        // in elements; 0 where the operand does not have the label or repeats along it
} einsum_params;

// strides[k][label]: how far a step of the label goes in operand k. Dims of 1 broadcast: no step.
static void set_strides(einsum_params *p, const tn_tensor *const *in)
{
    for (int k = 0; k < p->e.n_terms; k++) {
        const term *t = &p->e.terms[k];
        int64_t step = 1;
        for (int i = t->rank - 1; i >= 0; i--) {
            // A label that stands twice in a term walks the diagonal: its steps add up.
            p->strides[k][t->labels[i]] += in[k]->shape.dims[i] == 1 ? 0 : step;
            step *= in[k]->shape.dims[i];
        }
    }
}

static tn_status prepare_einsum(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_einsum_attr *attr = query->attr;
    const tn_shape *shapes[TN_MAX_IN];
    bool empty = tn_tensor_count(query->out[0]) == 0;
    void *params;
    TN_TRY(tn_prepare_params(prepare, sizeof(einsum_params), &params));
    einsum_params *p = params;
    for (int i = 0; i < query->n_in; i++) {
        shapes[i] = &query->in[i]->shape;
        empty |= tn_tensor_count(query->in[i]) == 0;
    }
    const char *wrong = read_equation(&p->e, attr->equation, shapes, query->n_in);
    if (wrong) {
        return tn_fail(prepare->diag, TN_INTERNAL, query->name, "einsum: %s", wrong);
    }
    p->n_summed = summed_labels(&p->e, p->summed);
    p->row = p->n_summed ? p->e.sizes[p->summed[p->n_summed - 1]] : 1;
    if (empty) {
        return TN_OK;   // no products: all sums are 0
    }
    p->sums = 1;
    for (int i = 0; i < p->n_summed - 1; i++) {
        if (!tn_mul_i64(p->sums, p->e.sizes[p->summed[i]], &p->sums)) {
            return tn_fail(prepare->diag, TN_LIMIT, query->name, "einsum: too many products");
        }
    }
    set_strides(p, query->in);
    return TN_OK;
}

bool tn_einsum_form_of(const tn_query *query, tn_einsum_form *form)
{
    const tn_einsum_attr *attr = query->attr;
    const tn_shape *shapes[TN_MAX_IN];
    einsum_params p = {.n_summed = 0};
    for (int i = 0; i < query->n_in; i++) {
        shapes[i] = &query->in[i]->shape;
    }
    if (query->n_in > TN_EINSUM_OPERANDS || read_equation(&p.e, attr->equation, shapes, query->n_in)) {
        return false;
    }
    p.n_summed = summed_labels(&p.e, p.summed);
    if (p.n_summed > TN_MAX_RANK) {
        return false;
    }
    set_strides(&p, query->in);
    *form = (tn_einsum_form){.kept = p.e.out.rank, .summed = p.n_summed};
    for (int i = 0; i < form->kept + form->summed; i++) {
        const int label = i < form->kept ? p.e.out.labels[i] : p.summed[i - form->kept];
        form->sizes[i] = p.e.sizes[label];
        for (int k = 0; k < query->n_in; k++) {
            form->strides[k][i] = p.strides[k][label];
        }
    }
    return true;
}

// Adds to at[k] where element `index` over the given labels (row-major, last one fastest) lies in each operand.
static void place(const einsum_params *p, const uint8_t *labels, int n, int64_t index, int64_t *at)
{
    for (int i = n - 1; i >= 0; i--) {
        const int64_t size = p->e.sizes[labels[i]], here = index % size;
        index /= size;
        for (int k = 0; k < p->e.n_terms; k++) {
            at[k] += here * p->strides[k][labels[i]];
        }
    }
}

// Sum over one row of the products of all operands, which begin at at[k].
static double row_product(const tn_call *call, const int64_t *at)
{
    const einsum_params *p = call->params;
    const int last = p->n_summed ? p->summed[p->n_summed - 1] : -1;
    double sum = 0, product[RUN], run[RUN];
    for (int64_t from = 0; from < p->row; from += RUN) {
        const int64_t count = TN_MIN(p->row - from, RUN);
        for (int k = 0; k < p->e.n_terms; k++) {
            const tn_tensor *x = call->in[k];
            const int64_t step = last < 0 ? 0 : p->strides[k][last];
            tn_row_load(x->dtype, x->data, at[k] + from * step, step, count, k ? run : product);
            for (int64_t i = 0; k && i < count; i++) {
                product[i] *= run[i];
            }
        }
        for (int64_t i = 0; i < count; i++) {
            sum += product[i];
        }
    }
    return sum;
}

// The same for integers, modulo 2^64.
static uint64_t row_product_int(const tn_call *call, const int64_t *at)
{
    const einsum_params *p = call->params;
    const int last = p->n_summed ? p->summed[p->n_summed - 1] : -1;
    uint64_t sum = 0;
    for (int64_t i = 0; i < p->row; i++) {
        uint64_t product = 1;
        for (int k = 0; k < p->e.n_terms; k++) {
            const tn_tensor *x = call->in[k];
            const int64_t step = last < 0 ? 0 : p->strides[k][last];
            product *= (uint64_t)tn_dtype_load_i64(x->dtype, x->data, (size_t)(at[k] + i * step));
        }
        sum += product;
    }
    return sum;
}

// One item is one element of the result; its sum runs in the order of the summed labels.
static void einsum_task(void *context, size_t first, size_t count, unsigned slot)
{
    const tn_call *call = context;
    const einsum_params *p = call->params;
    tn_tensor *y = call->out[0];
    const bool ints = tn_dtype_is_int(y->dtype);
    (void)slot;
    for (size_t item = first; item < first + count && !tn_cancelled(call); item++) {
        int64_t base[TN_MAX_IN] = {0};
        double sum = 0;
        uint64_t total = 0;
        place(p, p->e.out.labels, p->e.out.rank, (int64_t)item, base);
        for (int64_t s = 0; s < p->sums; s++) {
            int64_t at[TN_MAX_IN];
            memcpy(at, base, sizeof at);
            place(p, p->summed, p->n_summed - 1, s, at);
            if (ints) {
                total += row_product_int(call, at);
            } else {
                sum += row_product(call, at);
            }
        }
        if (ints) {
            tn_dtype_store_i64(y->dtype, y->data, item, (int64_t)total);
        } else {
            tn_dtype_store(y->dtype, y->data, item, sum);
        }
    }
}

static tn_status run_einsum(const tn_call *call)
{
    tn_call context = *call;
    const size_t count = (size_t)tn_tensor_count(call->out[0]);
    if (count) {
        tn_workers_run(call->workers, einsum_task, &context, count, 16);
    }
    return tn_call_status(call);
}

// ---- export ----

const tn_op tn_op_einsum = {
    .name = "einsum", .version = 1, .min_in = 1, .max_in = -1, .min_out = 1, .max_out = 1,
    .attrs = einsum_attrs, .n_attrs = TN_COUNT(einsum_attrs), .attr_size = sizeof(tn_einsum_attr), .defaults = &einsum_defaults,
    .infer = infer_einsum, .macs = macs_einsum,
};

static const tn_op *const ops[] = {&tn_op_einsum};
TN_EXPORT_OPS(op_einsum, ops);

static const tn_kernel rows[] = {TN_REFERENCE_SCRATCH(einsum, prepare_einsum, run_einsum)};
TN_EXPORT_KERNELS(op_einsum, rows);
