// SPDX-License-Identifier: Apache-2.0
// Compares the DSP program's operators, driven over the wire, with their definition.
//
//   check_dsp --program dsp.elf [--count N] [--op name] [--seed N] [--threads N] [--vtcm bytes] [--noncoherent] [--account]
//
// Each case is one node, prepared and run twice on fresh values; the bytes behind each result must stay as they were. "graphs" for --op are
// random graphs of several nodes, so that layouts, padding and memory of neighbours meet; each node's result is a graph output.
// Ownership: none. Threads: one.
#include "dsp_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 16 << 20, IO_START = 8 << 20, GUARD = 64 };

typedef struct settings {
    dsp_options dsp;
    const char *op;
    uint64_t seed;
    int count;
} settings;

static void tell_crash(dsp *d)
{
    const uint32_t *record = (const uint32_t *)(d->page + TN_HEX_AT_CRASH);
    if (record[TN_HEX_CRASH_VALID]) {
        printf("  crash record: signal %u at %#x, address %#x, node %u, call %u\n", record[TN_HEX_CRASH_SIGNAL], record[TN_HEX_CRASH_PC],
               record[TN_HEX_CRASH_ADDRESS], record[TN_HEX_CRASH_NODE], record[TN_HEX_CRASH_CALL]);
    }
}

// Runs a prepared case once; false and a message where a result differs.
static bool run_once(const dsp_case *c, dsp_graph *g, dsp_buffer *buffer, const uint32_t *inputs, uint32_t n_inputs)
{
    uint32_t offsets[CASE_OPERANDS + 1], lengths[CASE_OPERANDS + 1], at = IO_START + 4;
    for (uint32_t i = 0; i <= n_inputs; i++) {
        const case_tensor *x = i < n_inputs ? &c->in[inputs[i]] : &c->y;
        offsets[i] = at;
        lengths[i] = dsp_count(&x->t) * dsp_size(x->t.dtype);
        if (i < n_inputs) {
            case_store(x, buffer->at + at);
        } else {
            memset(buffer->at + at - GUARD, 0xa5, lengths[i] + 2 * GUARD);
        }
        at += ((lengths[i] + 3) & ~3u) + 2 * GUARD;
    }
    const uint32_t status = dsp_execute(g, n_inputs, 1, offsets, lengths, buffer);
    if (status) {
        printf("FAILED %s: execute gave %u\n", c->text, status);
        tell_crash(g->d);
        return false;
    }
    const uint32_t n = dsp_count(&c->y.t);
    int32_t *got = malloc(4 * n);
    const uint8_t *y = buffer->at + offsets[n_inputs];
    case_load(&c->y, y, got);
    bool same = true;
    for (uint32_t i = 0; i < n && same; i++) {
        if (got[i] != c->y.v[i]) {
            printf("FAILED %s: element %u is %d, expected %d\n", c->text, i, got[i], c->y.v[i]);
            same = false;
        }
    }
    for (uint32_t i = 0; i < GUARD && same; i++) {
        if (y[-1 - (int32_t)i] != 0xa5 || y[lengths[n_inputs] + i] != 0xa5) {
            printf("FAILED %s: bytes beside the result were written\n", c->text);
            same = false;
        }
    }
    free(got);
    return same;
}

static bool run_case(dsp_case *c, dsp *d, dsp_buffer *buffer)
{
    uint32_t inputs[CASE_OPERANDS], n_inputs;
    dsp_graph g;
    dsp_graph_begin(&g, d, buffer);
    const uint32_t none[CASE_OPERANDS] = {0};
    const uint32_t y = case_write(c, &g, none, inputs, &n_inputs);
    dsp_border(&g, TN_HEX_RECORD_OUTPUT, y);
    const uint32_t status = dsp_graph_prepare(&g);
    bool ok = status == TN_HEX_OK;
    if (!ok) {
        printf("FAILED %s: prepare gave %u, id %u, why %u\n", c->text, status, d->result[0], d->result[1]);
        tell_crash(d);
    }
    for (int k = 0; k < 2 && ok; k++) {
        case_reference(c);
        ok = run_once(c, &g, buffer, inputs, n_inputs);
        for (uint32_t i = 0; i < n_inputs && k == 0; i++) {   // the second run: the same numbers in another order
            case_tensor *x = &c->in[inputs[i]];
            for (uint32_t a = 0, b = dsp_count(&x->t) - 1; a < b; a++, b--) {
                const int32_t v = x->v[a];
                x->v[a] = x->v[b];
                x->v[b] = v;
            }
        }
    }
    dsp_graph_end(&g);
    return ok;
}

// ---- graphs ----

enum { MAX_CHAIN = 8 };

typedef struct chain {
    dsp_case cases[MAX_CHAIN];
    uint32_t ids[MAX_CHAIN];     // of results
    bool shown[MAX_CHAIN];       // the result is a graph output
    int n;
} chain;

// An earlier result, or the first operand (-1), that may stand beside the result of `at`; at itself when there is no other.
static int partner(const chain *ch, int at, int op, tn_rand *r)
{
    const dsp_tensor *t = &ch->cases[at].y.t;
    for (int k = 0; k < 6; k++) {
        const int i = (int)tn_rand_range(r, 0, at);
        const dsp_tensor *o = &ch->cases[i].y.t;
        if (o->dims[2] == t->dims[2] && o->dims[3] == t->dims[3] && (op == TN_HEX_OP_CONCAT ? o->zero == t->zero : o->dims[1] == t->dims[1])) {
            return i;
        }
    }
    return at;
}

static void draw_chain(chain *ch, dsp_graph *g, uint32_t inputs[CASE_OPERANDS], uint32_t *n_inputs, tn_rand *r)
{
    static const int ops[] = {TN_HEX_OP_CONV, TN_HEX_OP_CONV, TN_HEX_OP_CONV, TN_HEX_OP_ADD, TN_HEX_OP_CONCAT, TN_HEX_OP_LUT, TN_HEX_OP_MAX_POOL};
    uint32_t given[CASE_OPERANDS] = {0}, ignored[CASE_OPERANDS], n;
    ch->n = (int)tn_rand_range(r, 2, MAX_CHAIN);
    // Some begin with a depthwise convolution of many channels, whose padding the next one reads.
    int tries = tn_rand_range(r, 0, 1) == 0 ? 30 : 0;
    for (;;) {
        case_draw(&ch->cases[0], TN_HEX_OP_CONV, r, tn_rand_range(r, 0, 3) == 0);
        if (ch->cases[0].in[0].t.dims[0] == 1 && (ch->cases[0].group > 12 || tries <= 0)) {
            break;
        }
        tries--;
        case_free(&ch->cases[0]);
    }
    ch->ids[0] = case_write(&ch->cases[0], g, given, inputs, n_inputs);
    case_reference(&ch->cases[0]);
    for (int i = 1; i < ch->n; i++) {
        const int op = ops[tn_rand_range(r, 0, 6)], from = tn_rand_range(r, 0, 2) ? i - 1 : (int)tn_rand_range(r, 0, i - 1);
        const bool pair = op == TN_HEX_OP_ADD || op == TN_HEX_OP_CONCAT;
        const int other = pair ? partner(ch, from, op, r) : 0;
        case_draw_next(&ch->cases[i], op, &ch->cases[from].y, pair ? &ch->cases[other].y : NULL, r);
        given[0] = ch->ids[from];
        given[1] = pair ? ch->ids[other] : 0;
        ch->ids[i] = case_write(&ch->cases[i], g, given, ignored, &n);
        case_reference(&ch->cases[i]);
    }
    for (int i = 0; i < ch->n; i++) {
        ch->shown[i] = i == ch->n - 1 || tn_rand_range(r, 0, 2) == 0;
        if (ch->shown[i]) {
            dsp_border(g, TN_HEX_RECORD_OUTPUT, ch->ids[i]);
        }
    }
}

static bool run_chain(const chain *ch, dsp_graph *g, dsp_buffer *buffer)
{
    uint32_t offsets[MAX_CHAIN + 1], lengths[MAX_CHAIN + 1], n_out = 0, at = IO_START;
    const case_tensor *x = &ch->cases[0].in[0], *outs[MAX_CHAIN];
    for (int i = -1; i < ch->n; i++) {
        const case_tensor *v = i < 0 ? x : &ch->cases[i].y;
        if (i < 0 || ch->shown[i]) {
            const uint32_t slot = i < 0 ? 0 : 1 + n_out;
            offsets[slot] = at;
            lengths[slot] = dsp_count(&v->t);
            at += lengths[slot];
            if (i >= 0) {
                outs[n_out++] = v;
            }
        }
    }
    case_store(x, buffer->at + IO_START);
    const uint32_t status = dsp_execute(g, 1, n_out, offsets, lengths, buffer);
    if (status) {
        printf("FAILED graph: execute gave %u\n", status);
        tell_crash(g->d);
        return false;
    }
    for (uint32_t k = 0; k < n_out; k++) {
        for (uint32_t i = 0; i < lengths[k + 1]; i++) {
            const uint8_t got = buffer->at[offsets[k + 1] + i];
            if (got != (uint8_t)outs[k]->v[i]) {
                printf("FAILED graph: output %u element %u is %u, expected %u\n", k, i, got, (uint8_t)outs[k]->v[i]);
                return false;
            }
        }
    }
    return true;
}

static bool check_chain(dsp *d, dsp_buffer *buffer, tn_rand *r)
{
    static chain ch;
    uint32_t inputs[CASE_OPERANDS], n_inputs;
    dsp_graph g;
    memset(&ch, 0, sizeof ch);
    dsp_graph_begin(&g, d, buffer);
    draw_chain(&ch, &g, inputs, &n_inputs, r);
    const uint32_t status = dsp_graph_prepare(&g);
    bool ok = status == TN_HEX_OK;
    if (!ok) {
        printf("FAILED graph: prepare gave %u, id %u, why %u\n", status, d->result[0], d->result[1]);
        tell_crash(d);
    }
    for (int k = 0; k < 2 && ok; k++) {
        ok = run_chain(&ch, &g, buffer);
    }
    for (int i = 0; i < ch.n; i++) {
        if (!ok) {
            const char *name = tn_hex_op_text(ch.cases[i].op);
            printf("  %d: %s k=%d,%d group %d y=[%d,%d,%d,%d]\n", i, name ? name : "", ch.cases[i].kernel[0], ch.cases[i].kernel[1], ch.cases[i].group,
                   ch.cases[i].y.t.dims[0], ch.cases[i].y.t.dims[1], ch.cases[i].y.t.dims[2], ch.cases[i].y.t.dims[3]);
        }
        case_free(&ch.cases[i]);
    }
    dsp_graph_end(&g);
    return ok;
}

static const char *op_name(int op) { return op == TN_HEX_OP_COUNT ? "graphs" : tn_hex_op_text(op); }

// op: TN_HEX_OP_COUNT for graphs.
static int check_op(const settings *s, int op)
{
    dsp d;
    dsp_buffer buffer;
    if (!dsp_open(&d, &s->dsp) || !dsp_map(&d, &buffer, BUFFER)) {
        printf("FAILED to start the DSP\n");
        return 1;
    }
    int failed = 0;
    for (int i = 0; i < s->count && !failed; i++) {
        tn_rand r = {s->seed + (uint64_t)i * 1000 + (uint64_t)op};
        if (op == TN_HEX_OP_COUNT) {
            failed = !check_chain(&d, &buffer, &r);
        } else {
            dsp_case c;
            case_draw(&c, op, &r, i % 4 == 3);
            failed = !run_case(&c, &d, &buffer);
            case_free(&c);
        }
        if (failed) {
            printf("  seed %llu, case %d\n", (unsigned long long)s->seed, i);
        }
    }
    dsp_unmap(&d, &buffer);
    dsp_close(&d);
    printf("%-16s %s\n", op_name(op), failed ? "FAILED" : "ok");
    fflush(stdout);
    return failed;
}

int main(int argc, char **argv)
{
    settings s = {.dsp = {.threads = 1}, .seed = 1, .count = 40};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(argv[i], "--noncoherent")) {
            s.dsp.flags |= TN_HEX_FLAG_NONCOHERENT;
            continue;
        }
        if (!strcmp(argv[i], "--account")) {
            s.dsp.flags |= TN_HEX_FLAG_ACCOUNT;
            continue;
        }
        i++;
        if (!strcmp(argv[i - 1], "--program")) {
            s.dsp.program = value;
        } else if (!strcmp(argv[i - 1], "--count")) {
            s.count = atoi(value);
        } else if (!strcmp(argv[i - 1], "--op")) {
            s.op = value;
        } else if (!strcmp(argv[i - 1], "--seed")) {
            s.seed = strtoull(value, NULL, 10);
        } else if (!strcmp(argv[i - 1], "--threads")) {
            s.dsp.threads = (uint32_t)atoi(value);
        } else if (!strcmp(argv[i - 1], "--vtcm")) {
            s.dsp.vtcm = (uint32_t)atoi(value);
        } else {
            printf("unknown option %s\n", argv[i - 1]);
            return 2;
        }
    }
    int failed = !tn_hex_op_check();
    for (int op = 0; op <= TN_HEX_OP_COUNT; op++) {
        if (!s.op || strncmp(op_name(op), s.op, strlen(s.op)) == 0) {
            failed += check_op(&s, op);
        }
    }
    return failed ? 1 : 0;
}
