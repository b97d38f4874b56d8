// SPDX-License-Identifier: Apache-2.0
// Golden tests of the passes: tests/passes/*.txt hold graphs before and after a pass, in the printed form. Each case is also run
// with the reference kernels before and after: the results must agree. With TENON_WRITE_GOLDEN set in the environment the files are
// written anew with what the passes make now.
//
//   ## fuse_act: relu goes into a convolution
//   graph "g" (%x: float32[1,3,4,4]) -> (%y)
//     ...
//   --
//   graph "g" ...
//
// A title may name several passes ("neutral dedup:"), or "optimise" for all, and ends with "pinned=a,b" for names that must
// survive.
#include "support/unit.h"

#include "base/text.h"
#include "pass/infer.h"
#include "pass/pass.h"
#include "support/compare.h"
#include "support/graph_text.h"
#include "support/interpret.h"
#include "support/case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE (1 << 20)
#define MAX_PINNED 4

typedef struct golden {
    char passes[128];
    const char *pinned[MAX_PINNED];
    size_t n_pinned;
    char pinned_text[128];
    char title[256];
    char *before, *after;
} golden;

// ---- files ----

// Splits one case off; the text is cut in place. false: none is left.
static bool next_case(char **at, golden *g)
{
    memset(g, 0, sizeof *g);
    char *start = strncmp(*at, "## ", 3) == 0 ? *at : strstr(*at, "\n## ");
    if (!start) {
        return false;
    }
    start += *start == '\n' ? 4 : 3;
    char *end = strchr(start, '\n');
    assert_non_null(end);
    *end = '\0';
    snprintf(g->title, sizeof g->title, "%s", start);
    char *colon = strchr(start, ':');
    assert_non_null(colon);
    snprintf(g->passes, sizeof g->passes, "%.*s", (int)(colon - start), start);
    char *pinned = strstr(start, "pinned=");
    if (pinned) {
        snprintf(g->pinned_text, sizeof g->pinned_text, "%s", pinned + 7);
        for (char *name = strtok(g->pinned_text, ","); name && g->n_pinned < MAX_PINNED; name = strtok(NULL, ",")) {
            g->pinned[g->n_pinned++] = name;
        }
    }
    g->before = end + 1;
    char *bar = strstr(g->before, "\n--\n");
    assert_non_null(bar);
    *bar = '\0';
    g->after = bar + 4;
    char *next = strncmp(g->after, "## ", 3) == 0 ? g->after : strstr(g->after, "\n## ");
    *at = next ? next : g->after + strlen(g->after);
    return true;
}

// Up to the next case, without blank lines at the end.
static size_t after_length(const golden *g)
{
    const char *next = strncmp(g->after, "## ", 3) == 0 ? g->after : strstr(g->after, "\n## ");
    size_t length = next ? (size_t)(next - g->after) : strlen(g->after);
    while (length > 0 && (g->after[length - 1] == '\n' || g->after[length - 1] == ' ')) {
        length--;
    }
    return length;
}

// ---- running ----

static void run_passes(tn_graph *graph, const golden *g, tn_heap *heap)
{
    tn_diag diag = {TN_OK, "", ""};
    char names[128];
    tn_pass_context context = {.heap = heap, .diag = &diag, .limit_tensor_bytes = UINT64_C(1) << 30, .pinned = g->pinned,
                               .n_pinned = g->n_pinned};
    snprintf(names, sizeof names, "%s", g->passes);
    tn_status status = tn_infer_graph_fresh(graph, heap, &diag);
    for (char *name = strtok(names, " "); name && status == TN_OK; name = strtok(NULL, " ")) {
        const tn_pass *pass = tn_pass_find(name);
        if (strcmp(name, "optimise") == 0) {
            status = tn_optimise(graph, &context, NULL);
        } else {
            assert_non_null(pass);
            status = pass->run(graph, &context);
            status = status == TN_OK ? tn_graph_verify(graph, &diag) : status;
            status = status == TN_OK ? tn_infer_graph_fresh(graph, heap, &diag) : status;
        }
    }
    status = status == TN_OK ? tn_infer_graph(graph, heap, &diag) : status;
    status = status == TN_OK ? tn_graph_verify(graph, &diag) : status;
    if (status != TN_OK) {
        fail_msg("%s: %s: %s", g->title, diag.place, diag.message);
    }
}

// Random contents; unknown dims become small numbers, the same for the same symbol.
static tn_tensor make_input(const tn_value *value, tn_rand *r, tn_arena *arena)
{
    tn_tensor t = {.dtype = value->dtype, .shape = value->shape};
    size_t bytes;
    for (int d = 0; d < t.shape.rank; d++) {
        if (!tn_dim_known(t.shape.dims[d])) {
            t.shape.dims[d] = 2 + (t.shape.dims[d] - TN_DIM_UNKNOWN) % 5;
        }
    }
    assert_true(tn_tensor_bytes(&t, &bytes));
    t.data = tn_arena_take(arena, bytes);
    assert_non_null(t.data);
    for (int64_t i = 0; i < tn_tensor_count(&t); i++) {
        tn_dtype_store(t.dtype, t.data, (size_t)i,
                       tn_dtype_is_float(t.dtype) ? 2 * tn_rand_normal(r) : (double)tn_rand_range(r, 0, 1));
    }
    return t;
}

static void compare_results(const golden *g, const tn_graph *before, const tn_graph *after, tn_heap *heap)
{
    tn_arena arena;
    tn_diag diag = {TN_OK, "", ""};
    tn_rand r = {7};
    tn_arena_init(&arena, heap);
    tn_tensor inputs[8], want[8], got[8];
    assert_true(before->n_inputs <= 8 && before->n_outputs <= 8 && before->n_outputs == after->n_outputs);
    for (size_t i = 0; i < before->n_inputs; i++) {
        inputs[i] = make_input(before->inputs[i], &r, &arena);
    }
    if (tn_interpret(before, inputs, want, &arena, heap, &diag) != TN_OK ||
        tn_interpret(after, inputs, got, &arena, heap, &diag) != TN_OK) {
        fail_msg("%s: %s: %s", g->title, diag.place, diag.message);
    }
    for (size_t i = 0; i < before->n_outputs; i++) {
        tn_difference d;
        assert_string_equal(before->outputs[i]->name, after->outputs[i]->name);
        if (!tn_shape_equal(&want[i].shape, &got[i].shape) || !tn_compare(&got[i], &want[i], 1e-5, 1e-6, false, &d)) {
            fail_msg("%s: results differ: %s", g->title, before->outputs[i]->name);
        }
    }
    tn_arena_deinit(&arena);
}

// Compares what is made with what is written; writes both to `out` when that is wanted.
static void run_case(const golden *g, FILE *out)
{
    tn_heap heap;
    tn_diag diag = {TN_OK, "", ""};
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_graph *before = tn_graph_parse(g->before, &heap, &diag);
    if (!before) {
        fail_msg("%s: %s at \"%s\"", g->title, diag.message, diag.place);
    }
    tn_graph *after = tn_graph_clone(before, &heap, NULL);
    assert_non_null(after);
    run_passes(after, g, &heap);
    tn_text text;
    tn_text_init(&text, &heap);
    tn_graph_print(after, &text);
    assert_false(text.failed);
    while (text.length > 0 && text.data[text.length - 1] == '\n') {
        text.data[--text.length] = '\0';
    }
    if (out) {
        fprintf(out, "## %s\n%s\n--\n%s\n\n", g->title, g->before, text.data);
    } else {
        char *want = calloc(1, after_length(g) + 1);
        assert_non_null(want);
        memcpy(want, g->after, after_length(g));
        if (strcmp(want, text.data) != 0) {
            print_error("%s\n", g->title);
        }
        assert_string_equal(text.data, want);
        free(want);
    }
    compare_results(g, before, after, &heap);
    tn_text_deinit(&text);
    tn_graph_destroy(after);
    tn_graph_destroy(before);
    assert_int_equal(heap.live_blocks, 0);
}

static int is_golden(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

static void run_file(const char *name, bool write)
{
    char path[512];
    char *text = calloc(1, MAX_FILE);
    assert_non_null(text);
    snprintf(path, sizeof path, "passes/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, MAX_FILE - 1, file) < MAX_FILE - 1);
    fclose(file);
    const char *head_end = strstr(text, "## ");
    assert_non_null(head_end);
    char made[520];
    snprintf(made, sizeof made, "%s.new", path);
    FILE *out = write ? fopen(made, "w") : NULL;
    if (out) {
        fprintf(out, "%.*s", (int)(head_end - text), text);
    }
    golden g;
    for (char *at = text; next_case(&at, &g);) {
        run_case(&g, out);
    }
    if (out) {
        fclose(out);
        assert_int_equal(rename(made, path), 0);
    }
    free(text);
}

static void test_goldens(void **state)
{
    struct dirent **entries;
    const int n = scandir("passes", &entries, is_golden, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        run_file(entries[i]->d_name, getenv("TENON_WRITE_GOLDEN") != NULL);
        free(entries[i]);
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_goldens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
