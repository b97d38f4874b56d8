// SPDX-License-Identifier: Apache-2.0
// tenon compare: two configurations of one model, layer by layer. Tensors are matched by name, in the order in which A makes them,
// so that the first that differs names the first node that goes wrong.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A tensor that a step made.
typedef struct made {
    char *name, *node, *op, *kernel;
    tn_cli_tensor tensor;
    size_t turn;             // how many tensors of this name came before (loops)
    bool is_output;
} made;

typedef struct trace {
    made *items;
    size_t count;
    size_t bytes;
    bool full;               // past the bound: later tensors were left out
} trace;

static const size_t TRACE_BYTES = (size_t)3 << 30;

static size_t turns_of(const trace *t, const char *name)
{
    size_t turns = 0;
    for (size_t i = 0; i < t->count; i++) {
        turns += strcmp(t->items[i].name, name) == 0;
    }
    return turns;
}

// Values that a pass made have no name of the model but "%" and a number, which is another value's in another configuration.
static bool unnamed(const char *name)
{
    return name[0] == '%' && name[1] && name[1 + strspn(name + 1, "0123456789")] == '\0';
}

static void keep(trace *t, const char *name, const tenon_step_info *info, const tenon_tensor *tensor)
{
    if (!tensor->data || tensor->dtype == TENON_STRING || (info && unnamed(name))) {
        return;
    }
    if (t->bytes + tensor->bytes > TRACE_BYTES) {
        t->full = true;
        return;
    }
    t->bytes += tensor->bytes;
    t->items = tn_cli_grow(t->items, t->count + 1, sizeof *t->items);
    made *m = &t->items[t->count];
    *m = (made){.turn = turns_of(t, name), .is_output = !info};
    t->count++;
    m->name = tn_cli_copy(name);
    m->node = tn_cli_copy(info && info->node ? info->node : name);
    m->op = tn_cli_copy(info && info->op ? info->op : "output");
    m->kernel = tn_cli_copy(info && info->kernel ? info->kernel : "-");
    m->tensor.dtype = tensor->dtype;
    m->tensor.rank = tensor->rank;
    memcpy(m->tensor.dims, tensor->dims, sizeof m->tensor.dims);
    m->tensor.bytes = tensor->bytes;
    m->tensor.data = tn_cli_take(tensor->bytes, 1);
    if (tensor->bytes) {
        memcpy(m->tensor.data, tensor->data, tensor->bytes);
    }
}

static void on_step(void *context, const tenon_step_info *info, int after, const tenon_tensor *outputs)
{
    // A change of layout makes no new value, and is not there in every plan.
    if (!after || (info->op && strcmp(info->op, "relayout") == 0)) {
        return;
    }
    for (size_t i = 0; i < info->output_count; i++) {
        const char *name = info->output_names ? info->output_names[i] : NULL;
        if (name && *name) {
            keep(context, name, info, &outputs[i]);
        }
    }
}

static void free_trace(trace *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->items[i].name);
        free(t->items[i].node);
        free(t->items[i].op);
        free(t->items[i].kernel);
        tn_cli_tensor_deinit(&t->items[i].tensor);
    }
    free(t->items);
    *t = (trace){0};
}

// The model's outputs close the trace: they are compared even where no step carries their name.
static int keep_outputs(const tn_cli_session *s, trace *t)
{
    for (size_t i = 0; i < tenon_session_output_count(s->session); i++) {
        tenon_value_info info = {.struct_size = sizeof info};
        tenon_tensor tensor;
        tenon_error *error = NULL;
        if (tenon_session_output(s->session, i, &tensor, &error) != TENON_OK) {
            return tn_cli_error(error);
        }
        if (tenon_model_output(s->model, i, &info) == TENON_OK) {
            keep(t, info.name, NULL, &tensor);
            if (t->count && t->items[t->count - 1].is_output) {
                t->items[t->count - 1].turn = SIZE_MAX;   // matches the other side's output, not a step
            }
        }
    }
    return TN_EXIT_GOOD;
}

// ---- configurations ----

static bool on_or_off(const char *value, bool *on)
{
    *on = strcmp(value, "on") == 0;
    return *on || strcmp(value, "off") == 0;
}

static int set_key(tn_cli_options *o, const char *flag, const char *key, const char *value)
{
    bool optimise = true;
    if (strcmp(key, "isa") == 0) {
        o->isa = value;
    } else if (strcmp(key, "device") == 0) {
        o->device = value;
    } else if (strcmp(key, "precision") == 0) {
        o->precision = value;
    } else if (strcmp(key, "store") == 0) {
        o->store = value;
    } else if (strcmp(key, "pin") == 0) {
        o->pin = value;
    } else if (strcmp(key, "threads") == 0) {
        if (!tn_cli_parse_number(value, &o->threads)) {
            return tn_cli_fail(TN_EXIT_USAGE, "%s: threads=%s is not a whole number", flag, value);
        }
    } else if (strcmp(key, "optimise") == 0 || strcmp(key, "optimize") == 0) {
        if (!on_or_off(value, &optimise)) {
            return tn_cli_fail(TN_EXIT_USAGE, "%s: optimise is on or off, not '%s'", flag, value);
        }
        o->no_optimise = !optimise;
    } else {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: unknown key '%s'; there are isa, device, store, precision, threads, pin, optimise", flag, key);
    }
    return TN_EXIT_GOOD;
}

// "isa=avx2,threads=1" cut up in place in `text`, which the options then point into.
static int configure(tn_cli_options *o, const tn_cli_list *list, const char *flag, char **text)
{
    size_t length = 1;
    for (size_t i = 0; i < list->count; i++) {
        length += strlen(list->items[i]) + 1;
    }
    char *at = *text = tn_cli_take(length, 1);
    int code = TN_EXIT_GOOD;
    for (size_t i = 0; !code && i < list->count; i++) {
        strcpy(at, list->items[i]);
        char *piece = at;
        at += strlen(at) + 1;
        while (!code && piece && *piece) {
            // pin takes the rest of its text: its own value has commas.
            char *comma = strncmp(piece, "pin=", 4) == 0 ? NULL : strchr(piece, ','), *split = strchr(piece, '=');
            if (comma) {
                *comma = '\0';
            }
            if (!split || (comma && split > comma)) {
                return tn_cli_fail(TN_EXIT_USAGE, "%s takes KEY=VALUE[,KEY=VALUE], not '%s'", flag, piece);
            }
            *split = '\0';
            code = set_key(o, flag, piece, split + 1);
            piece = comma ? comma + 1 : NULL;
        }
    }
    return code;
}

static bool in_integers(const tn_cli_options *o) { return o->precision && strcmp(o->precision, "int8") == 0; }

// Sample inputs are for the side in integers, where there is one.
static void give_samples(tn_cli_options *a, tn_cli_options *b)
{
    if (in_integers(a) || in_integers(b)) {
        a->calibrate = in_integers(a) ? a->calibrate : NULL;
        b->calibrate = in_integers(b) ? b->calibrate : NULL;
    }
}

static void describe(const tn_cli_options *o, char *buffer, size_t size)
{
    char threads[40] = "";
    if (o->threads) {
        snprintf(threads, sizeof threads, " threads=%llu", (unsigned long long)o->threads);
    }
    snprintf(buffer, size, "isa=%s device=%s precision=%s%s optimise=%s%s%s", o->isa ? o->isa : "best", o->device ? o->device : "best",
             o->precision ? o->precision : "default", threads, o->no_optimise ? "off" : "on", o->pin ? " pin=" : "", o->pin ? o->pin : "");
}

// ---- differences ----

typedef struct tolerance {
    double rel, abs;
} tolerance;

typedef struct difference {
    double abs, rel;         // largest absolute difference; the same over the largest magnitude in A
    size_t at;               // element of the largest difference
    bool shape, special;     // other shape or type; NaN or infinity not in the same places
    bool wrong;
} difference;

static tolerance default_tolerance(tenon_dtype dtype)
{
    switch (dtype) {
    case TENON_FLOAT64:
    case TENON_COMPLEX128:
    case TENON_FLOAT32:
    case TENON_COMPLEX64:
        return (tolerance){5e-4, 1e-6};
    case TENON_FLOAT16:
        return (tolerance){2e-3, 1e-5};
    case TENON_BFLOAT16:
        return (tolerance){2e-2, 1e-4};
    default:
        return tn_cli_dtype_is_float(dtype) ? (tolerance){0.13, 1e-3} : (tolerance){0, 0};
    }
}

// --rtol VALUE for all operators, --rtol OP=VALUE for one; the last that fits counts.
static int tolerance_for(const tn_cli_options *o, const made *m, tolerance *t)
{
    *t = default_tolerance(m->tensor.dtype);
    for (size_t i = 0; i < o->rtol.count; i++) {
        const char *text = o->rtol.items[i], *split = strrchr(text, '='), *value = split ? split + 1 : text;
        char *end;
        const double v = strtod(value, &end);
        if (end == value || *end || !(v >= 0)) {
            return tn_cli_fail(TN_EXIT_USAGE, "--rtol takes VALUE or OP=VALUE, not '%s'", text);
        }
        const size_t length = split ? (size_t)(split - text) : 0;
        if (!split || (strlen(m->op) == length && strncmp(m->op, text, length) == 0)) {
            t->rel = v;
        }
    }
    if (o->atol) {
        char *end;
        t->abs = strtod(o->atol, &end);
        if (end == o->atol || *end || !(t->abs >= 0)) {
            return tn_cli_fail(TN_EXIT_USAGE, "--atol takes a number, not '%s'", o->atol);
        }
    }
    return TN_EXIT_GOOD;
}

// |a - b| <= abs + rel * largest |a|, NaN where NaN, infinity where infinity.
static difference differ(const tn_cli_tensor *a, const tn_cli_tensor *b, tolerance t)
{
    difference d = {0};
    d.shape = a->dtype != b->dtype || a->rank != b->rank || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]) != 0;
    if (d.shape) {
        d.wrong = true;
        return d;
    }
    const bool pairs = a->dtype == TENON_COMPLEX64 || a->dtype == TENON_COMPLEX128;
    const tenon_dtype dtype = a->dtype == TENON_COMPLEX64 ? TENON_FLOAT32 : pairs ? TENON_FLOAT64 : a->dtype;
    const size_t count = a->bytes / tenon_dtype_bytes(dtype);
    double scale = 0;
    for (size_t i = 0; i < count; i++) {
        const double x = tn_cli_element(dtype, a->data, i), y = tn_cli_element(dtype, b->data, i);
        if (!isfinite(x) || !isfinite(y)) {
            d.special |= !(x == y || (isnan(x) && isnan(y)));
            continue;
        }
        scale = fabs(x) > scale ? fabs(x) : scale;
        if (fabs(x - y) > d.abs) {
            d.abs = fabs(x - y);
            d.at = i;
        }
    }
    d.rel = scale > 0 ? d.abs / scale : d.abs > 0 ? INFINITY : 0;
    d.wrong = d.special || d.abs > t.abs + t.rel * scale;
    return d;
}

static const made *match(const trace *t, const made *m)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->items[i].turn == m->turn && strcmp(t->items[i].name, m->name) == 0) {
            return &t->items[i];
        }
    }
    return NULL;
}

// ---- the verb ----

static int record(const tn_cli_options *o, tn_cli_feeds *feeds, trace *t, bool write)
{
    tn_cli_session s;
    int code = tn_cli_session_open(&s, o);
    if (code) {
        return code;
    }
    code = feeds->count ? tn_cli_feeds_give(feeds, &s) : tn_cli_feeds_make(feeds, &s, o);
    const uint64_t warmup = (o->warmup == TN_CLI_UNSET ? 0 : o->warmup) + (o->runs == TN_CLI_UNSET || !o->runs ? 1 : o->runs) - 1;
    for (uint64_t i = 0; !code && i < warmup; i++) {
        code = tn_cli_session_run(&s, NULL, 0);
    }
    if (!code) {
        tenon_session_observe(s.session, on_step, t);
        code = tn_cli_session_run(&s, NULL, 0);
        tenon_session_observe(s.session, NULL, NULL);
    }
    if (!code) {
        code = keep_outputs(&s, t);
    }
    if (!code && write) {
        code = tn_cli_session_write_outputs(&s, o);
    }
    tn_cli_session_close(&s);
    return code;
}

typedef struct verdict {
    size_t compared, wrong;
    const made *first;         // the first tensor that goes wrong, of A
    difference first_difference;
    cJSON *list;               // --json: one object for each tensor
} verdict;

static void add_json(verdict *v, const made *a, const made *b, const difference *d)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "tensor", a->name);
    cJSON_AddStringToObject(item, "node", a->node);
    cJSON_AddStringToObject(item, "op", a->op);
    cJSON_AddStringToObject(item, "kernel_a", a->kernel);
    cJSON_AddStringToObject(item, "kernel_b", b->kernel);
    cJSON_AddNumberToObject(item, "max_abs", d->abs);
    cJSON_AddNumberToObject(item, "max_rel", d->rel);
    cJSON_AddBoolToObject(item, "same_shape", !d->shape);
    cJSON_AddBoolToObject(item, "same_specials", !d->special);
    cJSON_AddBoolToObject(item, "agrees", !d->wrong);
    cJSON_AddItemToArray(v->list, item);
}

static void add_row(tn_cli_table *table, const made *a, const made *b, const difference *d)
{
    tn_cli_table_add(table, 0, "%s", d->wrong ? "differs" : "agrees");
    tn_cli_table_add(table, 1, d->shape ? "shape" : d->special ? "NaN/inf" : "%.3g", d->abs);
    tn_cli_table_add(table, 2, d->shape ? "-" : "%.3g", d->rel);
    tn_cli_table_add(table, 3, "%s", a->op);
    tn_cli_table_add(table, 4, "%s", a->node);
    tn_cli_table_add(table, 5, strcmp(a->kernel, b->kernel) ? "%s | %s" : "%s", a->kernel, b->kernel);
}

static int judge(const trace *a, const trace *b, const tn_cli_options *o, verdict *v)
{
    static const char *const heads[] = {"result", ">max abs", ">max rel", "operator", "node", "kernel a | b"};
    tn_cli_table table;
    tn_cli_table_init(&table, 6, heads);
    for (size_t i = 0; i < a->count; i++) {
        const made *x = &a->items[i], *y = match(b, x);
        tolerance t;
        const int code = tolerance_for(o, x, &t);
        if (code) {
            return code;
        }
        if (!y) {
            continue;
        }
        const difference d = differ(&x->tensor, &y->tensor, t);
        v->compared++;
        v->wrong += d.wrong;
        if (d.wrong && !v->first) {
            v->first = x;
            v->first_difference = d;
        }
        if (v->list) {
            add_json(v, x, y, &d);
        } else if (!o->brief || d.wrong || x->is_output) {
            add_row(&table, x, y, &d);
        }
    }
    if (!v->list) {
        tn_cli_table_print(&table);
    }
    return TN_EXIT_GOOD;
}

static void conclude_text(const verdict *v)
{
    if (!v->first) {
        printf("\n%zu tensors compared, all agree\n", v->compared);
        return;
    }
    printf("\n%zu of %zu tensors differ; first wrong: %s%s%s (%s, kernel %s)", v->wrong, v->compared, tn_cli_red(), tn_cli_shown(v->first->node),
           tn_cli_plain(), v->first->op, v->first->kernel);
    if (v->first_difference.shape) {
        puts(": another shape or type");
    } else if (v->first_difference.special) {
        puts(": NaN or infinity in other places");
    } else {
        printf(": max abs %.3g at element %zu\n", v->first_difference.abs, v->first_difference.at);
    }
}

static void conclude_json(verdict *v, const tn_cli_options *o, const char *a, const char *b, const tn_cli_feeds *feeds)
{
    cJSON *root = tn_cli_document("compare", o);
    cJSON_AddStringToObject(root, "a", a);
    cJSON_AddStringToObject(root, "b", b);
    cJSON_AddItemToObject(root, "inputs", tn_cli_feeds_json(feeds));
    cJSON_AddNumberToObject(root, "compared", (double)v->compared);
    cJSON_AddNumberToObject(root, "differ", (double)v->wrong);
    cJSON_AddBoolToObject(root, "agrees", !v->first);
    cJSON_AddItemToObject(root, "first_wrong", v->first ? cJSON_CreateString(v->first->node) : cJSON_CreateNull());
    cJSON_AddItemToObject(root, "tensors", v->list);
    tn_cli_print_document(root);
}

static int compare(const tn_cli_options *o, const tn_cli_options *oa, const tn_cli_options *ob)
{
    tn_cli_feeds feeds = {0};
    trace a = {0}, b = {0};
    verdict v = {0};
    char text_a[256], text_b[256];
    describe(oa, text_a, sizeof text_a);
    describe(ob, text_b, sizeof text_b);
    int code = record(oa, &feeds, &a, true);
    if (!code) {
        code = record(ob, &feeds, &b, false);
    }
    if (!code) {
        v.list = o->json ? cJSON_CreateArray() : NULL;
        if (!o->json) {
            printf("%s%s%s\n  a   %s\n  b   %s\n", tn_cli_bold(), tn_cli_shown(o->model), tn_cli_plain(), text_a, text_b);
            tn_cli_feeds_print(&feeds);
            putchar('\n');
        }
        code = judge(&a, &b, o, &v);
        if (a.full || b.full) {
            tn_cli_note("tensors past 3 GiB were left out of the comparison");
        }
    }
    if (!code && o->json) {
        conclude_json(&v, o, text_a, text_b, &feeds);
        v.list = NULL;
    } else if (!code) {
        conclude_text(&v);
    }
    cJSON_Delete(v.list);
    if (!code && (v.first || !v.compared)) {
        code = TN_EXIT_CHECK;
    }
    free_trace(&a);
    free_trace(&b);
    tn_cli_feeds_deinit(&feeds);
    return code;
}

static int run(const tn_cli_options *options)
{
    tn_cli_options a = *options, b = *options;
    char *text_a = NULL, *text_b = NULL;
    if (strcmp(options->model, "-") == 0) {
        return tn_cli_fail(TN_EXIT_USAGE, "compare opens the model twice: give a file, not standard input");
    }
    if (!options->a.count && !options->b.count) {
        a.no_optimise = true;   // the plainest question: does optimising change anything?
    }
    int code = configure(&a, &options->a, "--a", &text_a);
    if (!code) {
        code = configure(&b, &options->b, "--b", &text_b);
    }
    if (!code) {
        give_samples(&a, &b);
        code = compare(options, &a, &b);
    }
    free(text_a);
    free(text_b);
    return code;
}

#define AT(field) offsetof(tn_cli_options, field)

static const tn_cli_option options_of_compare[] = {
    {"a", "KEY=V[,KEY=V]", TN_CLI_LIST, AT(a), "first configuration: isa, device, store, precision, threads, pin, optimise=on|off"},
    {"b", "KEY=V[,KEY=V]", TN_CLI_LIST, AT(b), "second configuration; what neither sets comes from the options of every verb"},
    {"rtol", "[OP=]V", TN_CLI_LIST, AT(rtol), "allowed difference over the largest magnitude in A (default 5e-4; fp16 2e-3; integers 0)"},
    {"atol", "V", TN_CLI_TEXT, AT(atol), "allowed absolute difference besides (default 1e-6 for fp32)"},
    {"brief", NULL, TN_CLI_FLAG, AT(brief), "list only what differs, and the outputs"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

const tn_cli_verb tn_verb_compare = {
    .name = "compare",
    .summary = "run two configurations and find the first node that differs",
    .about = "Runs the model twice on the same inputs and compares, in the order of A, every tensor that both make under the same\n"
             "name, and the outputs. Exit status 1 when any differs by more than --atol + --rtol x its largest magnitude. Without\n"
             "--a and --b the graph as it is in the file (A) is compared with the optimised one (B). Integers must be equal: for\n"
             "quantised models, where one step of rounding is to be expected, give --atol 1 and a larger --rtol.\n",
    .examples = "  tenon compare model.onnx --a isa=portable --b isa=avx512\n"
                "  tenon compare model.onnx --a optimise=off --b optimise=on --brief\n"
                "  tenon compare model.onnx --a threads=1 --b threads=2 --rtol 0 --atol 0\n",
    .options = options_of_compare,
    .run = run,
};
