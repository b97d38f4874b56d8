// SPDX-License-Identifier: Apache-2.0
// Compares the DSP program's operators, driven over the wire, with their definition.
//
//   check_dsp --program dsp.elf [--count N] [--op name] [--seed N] [--threads N] [--vtcm bytes] [--noncoherent] [--account]
//
// Each case is one node, prepared and run twice on fresh values; the bytes behind each result must stay as they were.
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
    const uint32_t y = case_write(c, &g, inputs, &n_inputs);
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
        dsp_case c;
        case_draw(&c, op, &r, i % 4 == 3);
        failed = !run_case(&c, &d, &buffer);
        if (failed) {
            printf("  seed %llu, case %d\n", (unsigned long long)s->seed, i);
        }
        case_free(&c);
    }
    dsp_close(&d);
    printf("%-16s %s\n", tn_hex_op_text(op), failed ? "FAILED" : "ok");
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
    for (int op = 0; op < TN_HEX_OP_COUNT; op++) {
        if (!s.op || strncmp(tn_hex_op_text(op), s.op, strlen(s.op)) == 0) {
            failed += check_op(&s, op);
        }
    }
    return failed ? 1 : 0;
}
