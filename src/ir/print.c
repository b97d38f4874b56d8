// SPDX-License-Identifier: Apache-2.0
// The text form of a graph. It is meant to be read and compared (golden tests), not to be parsed: unusual characters in names are
// replaced, and attributes at their defaults are left out.
// Ownership: writes to the caller's text. Threads: many readers.
#include "base/text.h"
#include "ir/edit.h"

#include <string.h>

#define MAX_INDENT 40
#define SHOWN_ELEMENTS 8   // contents of smaller constants are printed

static void print_name(const char *name, tn_text *text)
{
    tn_text_add(text, "%s", name[0] == '%' ? "" : "%");
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        const char shown = c <= ' ' || c == 0x7f || strchr("(),{}\"", c) ? '_' : (char)c;
        tn_text_bytes(text, &shown, 1);
    }
}

char *tn_graph_shape_print(const tn_graph *graph, const tn_shape *shape, char *text, size_t size)
{
    const tn_dim_names names = {graph->symbols, graph->n_symbols};
    return tn_shape_print_named(shape, &names, text, size);
}

static void print_type(const tn_graph *graph, const tn_value *value, tn_text *text)
{
    static const char *const kinds[] = {"", "sequence of ", "optional "};
    char shape[400];
    tn_text_add(text, "%s%s%s", kinds[value->kind], tn_dtype_text(value->dtype),
                tn_graph_shape_print(graph, &value->shape, shape, sizeof shape));
}

static void print_contents(const tn_tensor *constant, tn_text *text)
{
    const int64_t count = tn_tensor_count(constant);
    if (count > SHOWN_ELEMENTS || constant->dtype == TN_STRING) {
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        tn_text_add(text, i ? "," : "(");
        if (tn_dtype_is_float(constant->dtype)) {
            tn_text_add(text, "%.6g", tn_dtype_load(constant->dtype, constant->data, (size_t)i));
        } else {
            tn_text_add(text, "%lld", (long long)tn_dtype_load_i64(constant->dtype, constant->data, (size_t)i));
        }
    }
    tn_text_add(text, count ? ")" : "()");
}

static void print_operand(const tn_graph *graph, const tn_value *value, tn_text *text)
{
    if (!value) {
        tn_text_add(text, "-");
        return;
    }
    print_name(value->name, text);
    if (value->constant) {
        tn_text_add(text, ": const ");
        print_type(graph, value, text);
        print_contents(value->constant, text);
    }
}

static void print_graph(const tn_graph *graph, tn_text *text, int indent);

static void print_node(const tn_graph *graph, const tn_node *node, tn_text *text, int indent)
{
    tn_text_add(text, "%*s", indent, "");
    for (int i = 0; i < node->n_out; i++) {
        tn_text_add(text, i ? ", " : "");
        if (node->out[i]) {
            print_name(node->out[i]->name, text);
        } else {
            tn_text_add(text, "-");
        }
    }
    tn_text_add(text, " = %s(", node->op->name);
    for (int i = 0; i < node->n_in; i++) {
        tn_text_add(text, i ? ", " : "");
        print_operand(graph, node->in[i], text);
    }
    tn_text_add(text, ") ");
    const size_t before = text->length;
    tn_attr_print(node->op, node->attr, text);
    tn_text_add(text, text->length == before ? ": " : " : ");
    for (int i = 0; i < node->n_out; i++) {
        tn_text_add(text, i ? ", " : "");
        if (node->out[i]) {
            print_type(graph, node->out[i], text);
        } else {
            tn_text_add(text, "-");
        }
    }
    tn_text_add(text, " ");
    tn_json_string(text, node->name);
    tn_text_add(text, "\n");
    for (int i = 0; i < node->n_bodies; i++) {
        print_graph(node->bodies[i], text, indent + 2);
    }
}

static void print_graph(const tn_graph *graph, tn_text *text, int indent)
{
    indent = indent > MAX_INDENT ? MAX_INDENT : indent;
    tn_text_add(text, "%*sgraph ", indent, "");
    tn_json_string(text, graph->name);
    tn_text_add(text, " (");
    for (size_t i = 0; i < graph->n_inputs; i++) {
        tn_text_add(text, i ? ", " : "");
        print_name(graph->inputs[i]->name, text);
        tn_text_add(text, ": ");
        print_type(graph, graph->inputs[i], text);
    }
    tn_text_add(text, ") -> (");
    for (size_t i = 0; i < graph->n_outputs; i++) {
        tn_text_add(text, i ? ", " : "");
        print_name(graph->outputs[i]->name, text);
    }
    tn_text_add(text, ")\n");
    for (const tn_node *node = graph->first; node; node = node->next) {
        print_node(graph, node, text, indent + 2);
    }
}

void tn_graph_print(const tn_graph *graph, tn_text *text)
{
    print_graph(graph, text, 0);
}
