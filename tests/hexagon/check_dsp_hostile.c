// SPDX-License-Identifier: Apache-2.0
// Hostile messages against the DSP program: random calls, calls with wild arguments, graphs with changed words, weights that nobody packed.
// Each must end in a status or in a crash record with a clean exit - never in a hang or a silent death. After a crash the program is started again, and it is
// checked now and then that an honest graph still gives right results. Other honest graphs (wards) are there all the time: what names them
// not may change nothing of theirs.
//
//   check_dsp_hostile --program dsp.elf [--count N] [--seed N]
//
// Ownership: none. Threads: one.
#include "dsp_case.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUFFER = 4 << 20, IO_START = 2 << 20, PACK_START = 3 << 20, DEADLINE = 30 };

enum { WARDS = 2 };

// A graph that others must not disturb, with a buffer of its own: its weights, its inputs and results.
typedef struct ward {
    bool alive;
    dsp_graph g;
    dsp_case c;
    dsp_buffer buffer;
    uint8_t *weights;        // as it was packed
    uint32_t weights_bytes;
} ward;

typedef struct state {
    dsp_options options;
    dsp d;
    dsp_buffer buffer;
    ward wards[WARDS];
    int refused, accepted, crashed, crossed;
} state;

static bool start(state *s)
{
    s->options.threads = 2;
    if (!dsp_open(&s->d, &s->options) || !dsp_map(&s->d, &s->buffer, BUFFER)) {
        printf("FAILED to start the DSP\n");
        return false;
    }
    s->d.seconds = DEADLINE;
    return true;
}

// ---- wards ----

static void bury(ward *w)
{
    if (w->alive) {
        w->g.id = 0;         // went with the process
        dsp_graph_end(&w->g);
        case_free(&w->c);
        free(w->weights);
        munmap(w->buffer.at, w->buffer.bytes);
        close(w->buffer.fd);
        w->alive = false;
    }
}

// false: the program has no room for it, or dies; *failed: it should not have.
static bool raise_ward(state *s, ward *w, tn_rand *r, bool *failed)
{
    uint32_t inputs[CASE_OPERANDS], n_inputs;
    const uint32_t none[CASE_OPERANDS] = {0};
    if (!dsp_map(&s->d, &w->buffer, BUFFER)) {
        *failed = true;
        return false;
    }
    case_draw(&w->c, TN_HEX_OP_CONV, r, false);
    case_reference(&w->c);
    dsp_graph_begin(&w->g, &s->d, &w->buffer);
    dsp_border(&w->g, TN_HEX_RECORD_OUTPUT, case_write(&w->c, &w->g, none, inputs, &n_inputs));
    uint32_t status = dsp_graph_send(&w->g);
    w->weights_bytes = s->d.result[5];
    const uint32_t pack[4] = {w->g.id, w->buffer.handle, PACK_START, 0};
    status = status == TN_HEX_OK && w->weights_bytes > BUFFER - PACK_START ? TN_HEX_MEMORY : status;
    status = status ? status : dsp_pack(&s->d, pack);
    *failed = status != TN_HEX_OK && status != TN_HEX_MEMORY;
    w->alive = status == TN_HEX_OK;
    if (!w->alive) {
        dsp_graph_end(&w->g);
        case_free(&w->c);
        dsp_unmap(&s->d, &w->buffer);
        return false;
    }
    w->weights = malloc(w->weights_bytes);
    memcpy(w->weights, w->buffer.at + PACK_START, w->weights_bytes);
    return true;
}

// Its weights are as they were, and its result is right.
static bool unharmed(state *s, ward *w)
{
    const uint32_t lengths[2] = {dsp_count(&w->c.in[0].t), dsp_count(&w->c.y.t)}, offsets[2] = {IO_START, IO_START + lengths[0]};
    case_store(&w->c.in[0], w->buffer.at + IO_START);
    memset(w->buffer.at + offsets[1], 0x5a, lengths[1]);
    bool ok = memcmp(w->weights, w->buffer.at + PACK_START, w->weights_bytes) == 0 &&
              dsp_execute(&w->g, 1, 1, offsets, lengths, &w->buffer) == TN_HEX_OK;
    for (uint32_t i = 0; i < lengths[1] && ok; i++) {
        ok = w->buffer.at[offsets[1] + i] == (uint8_t)w->c.y.v[i];
    }
    return ok;
}

// Calls that name another graph, and the ward's weights as a place to write to: refused.
static bool crossed(state *s, tn_rand *r)
{
    ward *w = &s->wards[0], *other = &s->wards[1];
    if (!w->alive || !other->alive) {
        return true;
    }
    const uint32_t in = dsp_count(&other->c.in[0].t), out = dsp_count(&other->c.y.t);
    const uint32_t at = PACK_START + (uint32_t)tn_rand_range(r, 0, w->weights_bytes - 1);
    uint32_t words[2 * TN_HEX_IO_WORDS] = {other->buffer.handle, IO_START, in, w->buffer.handle, tn_rand_range(r, 0, 1) ? at : PACK_START - (out > 1 ? 1 : 0), out};
    memcpy(s->d.page + TN_HEX_AT_IO, words, sizeof words);
    const uint32_t run[3] = {other->g.id, 1, 1}, perf[4] = {other->g.id, w->buffer.handle, at & ~3u, 64};
    const uint32_t unmap = w->buffer.handle, again[4] = {other->g.id, w->buffer.handle, PACK_START, 0};
    bool ok = words[4] + out > BUFFER || dsp_call(&s->d, TN_HEX_CALL_EXECUTE, run, 3) == TN_HEX_PARAM;
    ok = ok && dsp_call(&s->d, TN_HEX_CALL_PERF, perf, 4) == TN_HEX_PARAM;
    ok = ok && dsp_call(&s->d, TN_HEX_CALL_UNMAP, &unmap, 1) == TN_HEX_STATE;
    ok = ok && dsp_call(&s->d, TN_HEX_CALL_PACK, again, 4) == TN_HEX_STATE;
    // A third graph would pack where the ward's weights are.
    dsp_graph g;
    dsp_case c;
    uint32_t inputs[CASE_OPERANDS], n_inputs;
    const uint32_t none[CASE_OPERANDS] = {0};
    case_draw(&c, TN_HEX_OP_CONV, r, false);
    dsp_graph_begin(&g, &s->d, &s->buffer);
    dsp_border(&g, TN_HEX_RECORD_OUTPUT, case_write(&c, &g, none, inputs, &n_inputs));
    if (ok && dsp_graph_send(&g) == TN_HEX_OK) {
        const uint32_t there[4] = {g.id, w->buffer.handle, PACK_START, 0};
        ok = dsp_call(&s->d, TN_HEX_CALL_PACK, there, 4) == TN_HEX_PARAM;
    }
    dsp_graph_end(&g);
    case_free(&c);
    s->crossed++;
    if (!ok) {
        printf("FAILED: a call reached the weights of a graph that it does not name\n");
    }
    return ok;
}

static bool look_after(state *s, tn_rand *r)
{
    for (int i = 0; i < WARDS; i++) {
        ward *w = &s->wards[i];
        bool failed = false;
        if (w->alive ? !unharmed(s, w) : !raise_ward(s, w, r, &failed) && failed) {
            printf("FAILED: a graph among hostile messages for others\n");
            return false;
        }
    }
    return crossed(s, r);
}

static bool is_ward(const state *s, uint32_t id)
{
    bool is = false;
    for (int i = 0; i < WARDS; i++) {
        is = is || (s->wards[i].alive && s->wards[i].g.id == id);
    }
    return is;
}

// ---- hostile messages ----

// After a call that was not answered: true when the program left a record and exited; then it is started again.
static bool survive(state *s)
{
    const uint32_t *record = (const uint32_t *)(s->d.page + TN_HEX_AT_CRASH);
    const bool clean = record[TN_HEX_CRASH_VALID] && s->d.pid == 0 && WIFEXITED(s->d.exit_status) &&
                       WEXITSTATUS(s->d.exit_status) == TN_HEX_EXIT_CRASH;
    if (!clean) {
        printf("FAILED: %s, no crash record (exit status %#x)\n", s->d.pid ? "a hang" : "a silent death", (unsigned)s->d.exit_status);
        return false;
    }
    if (s->crashed++ < 5) {
        printf("  crash: signal %u at %#x, address %#x, node %u, call %u\n", record[TN_HEX_CRASH_SIGNAL], record[TN_HEX_CRASH_PC],
               record[TN_HEX_CRASH_ADDRESS], record[TN_HEX_CRASH_NODE], record[TN_HEX_CRASH_CALL]);
    }
    for (int i = 0; i < WARDS; i++) {
        bury(&s->wards[i]);
    }
    dsp_close(&s->d);
    return start(s);
}

static bool count_status(state *s, uint32_t status)
{
    if (status == DSP_DEAD) {
        return survive(s);
    }
    if (status == TN_HEX_OK) {
        s->accepted++;
    } else {
        s->refused++;
    }
    return true;
}

static uint32_t wild_word(tn_rand *r)
{
    static const uint32_t words[] = {0, 1, 2, 3, 4, 16, 127, 128, 4096, 65535, 65536, 0x7fffffff, 0x80000000u, 0xffffffffu, 0xfffffffcu, BUFFER};
    return tn_rand_range(r, 0, 3) ? words[tn_rand_range(r, 0, 15)] : (uint32_t)tn_rand_u64(r);
}

// A message of which little is right. Quit is left out, it works.
static bool wild_call(state *s, tn_rand *r)
{
    static const uint32_t n_args[] = {0, 0, 1, 1, 0, 4, 4, 1, 3, 1, 1, 3, 4, 1, 1, 0, 4};
    uint32_t message[TN_HEX_MESSAGE_WORDS];
    for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
        message[i] = wild_word(r);
    }
    uint32_t call = (uint32_t)tn_rand_range(r, 0, TN_HEX_CALL_PACK);
    call = call == TN_HEX_CALL_QUIT ? 0 : call;
    message[TN_HEX_MSG_N_ARGS] = tn_rand_range(r, 0, 9) ? n_args[call] : wild_word(r);
    if (tn_rand_range(r, 0, 19) == 0) {
        call = wild_word(r);
        call = call == TN_HEX_CALL_QUIT ? 0 : call;
    }
    message[TN_HEX_MSG_CALL] = call;
    // The buffers stay, and wards are not named.
    while (call == TN_HEX_CALL_UNMAP && (message[TN_HEX_MSG_ARG] == s->buffer.handle || message[TN_HEX_MSG_ARG] == s->wards[0].buffer.handle ||
                                         message[TN_HEX_MSG_ARG] == s->wards[1].buffer.handle)) {
        message[TN_HEX_MSG_ARG]++;
    }
    while (is_ward(s, message[TN_HEX_MSG_ARG]) && call != TN_HEX_CALL_UNMAP) {
        message[TN_HEX_MSG_ARG] += 7;
    }
    return count_status(s, dsp_message(&s->d, message));
}

static uint32_t run_case(state *s, dsp_graph *g, const dsp_case *c, const uint32_t *inputs, uint32_t n_inputs)
{
    uint32_t offsets[CASE_OPERANDS + 1], lengths[CASE_OPERANDS + 1], at = IO_START;
    for (uint32_t i = 0; i <= n_inputs; i++) {
        const dsp_tensor *t = i < n_inputs ? &c->in[inputs[i]].t : &c->y.t;
        offsets[i] = at;
        lengths[i] = dsp_count(t) * dsp_size(t->dtype);
        at += (lengths[i] + 3) & ~3u;
    }
    return dsp_execute(g, n_inputs, 1, offsets, lengths, &s->buffer);
}

// An honest graph whose weights the host claims to have kept, with wild words among them: refused, or wrong results.
static bool changed_weights(state *s, tn_rand *r)
{
    static const int ops[] = {TN_HEX_OP_CONV, TN_HEX_OP_CONV, TN_HEX_OP_DECONV, TN_HEX_OP_MATMUL, TN_HEX_OP_WIDE_CONV, TN_HEX_OP_WIDE_MATMUL};
    dsp_case c;
    dsp_graph g;
    uint32_t inputs[CASE_OPERANDS], n_inputs, status = TN_HEX_OK;
    const uint32_t none[CASE_OPERANDS] = {0};
    case_draw(&c, ops[tn_rand_range(r, 0, 5)], r, false);
    for (int kept = 0; kept < 2 && status == TN_HEX_OK; kept++) {
        dsp_graph_begin(&g, &s->d, &s->buffer);
        dsp_border(&g, TN_HEX_RECORD_OUTPUT, case_write(&c, &g, none, inputs, &n_inputs));
        status = dsp_graph_send(&g);
        const uint32_t bytes = s->d.result[5];
        if (status == TN_HEX_OK && bytes <= BUFFER - PACK_START) {
            for (int64_t i = tn_rand_range(r, 1, 9); kept && i > 0; i--) {
                const uint32_t word = wild_word(r), at = (uint32_t)tn_rand_range(r, 0, bytes / 4 - 1);
                memcpy(s->buffer.at + PACK_START + 4 * at, &word, sizeof word);
            }
            const uint32_t pack[4] = {g.id, s->buffer.handle, PACK_START, (uint32_t)kept};
            status = dsp_pack(&s->d, pack);
            status = status ? status : run_case(s, &g, &c, inputs, n_inputs);
        }
        if (status == DSP_DEAD) {
            g.id = 0;
            printf("  changed weights: %s\n", c.text);
        }
        dsp_graph_end(&g);
    }
    case_free(&c);
    return count_status(s, status);
}

// An honest graph with a few words changed: refused, or run with whatever it means.
static bool changed_graph(state *s, tn_rand *r)
{
    dsp_case c;
    dsp_graph g;
    uint32_t inputs[CASE_OPERANDS], n_inputs;
    const uint32_t none[CASE_OPERANDS] = {0};
    case_draw(&c, (int)tn_rand_range(r, 0, TN_HEX_OP_COUNT - 1), r, false);
    dsp_graph_begin(&g, &s->d, &s->buffer);
    dsp_border(&g, TN_HEX_RECORD_OUTPUT, case_write(&c, &g, none, inputs, &n_inputs));
    const int64_t changes = tn_rand_range(r, 1, 3);
    for (int64_t i = 0; i < changes; i++) {
        const bool consts = g.n_consts && tn_rand_range(r, 0, 4) == 0;
        uint32_t *words = consts ? g.consts : g.nodes;
        const uint32_t at = (uint32_t)tn_rand_range(r, 0, (consts ? g.n_consts : g.n_nodes) - 1);
        words[at] = tn_rand_range(r, 0, 1) ? words[at] + (uint32_t)tn_rand_range(r, -2, 2) : wild_word(r);
    }
    uint32_t status = dsp_graph_prepare(&g);
    status = status ? status : run_case(s, &g, &c, inputs, n_inputs);
    if (status == DSP_DEAD) {
        g.id = 0;   // went with the process
        printf("  changed graph: %s\n", c.text);
    }
    const bool ok = count_status(s, status);
    g.d = &s->d;
    dsp_graph_end(&g);
    case_free(&c);
    return ok;
}

// An honest graph must work on whatever is left.
static bool honest_graph(state *s, tn_rand *r)
{
    dsp_case c;
    dsp_graph g;
    uint32_t inputs[CASE_OPERANDS], n_inputs;
    const uint32_t none[CASE_OPERANDS] = {0};
    case_draw(&c, TN_HEX_OP_CONV, r, false);
    dsp_graph_begin(&g, &s->d, &s->buffer);
    dsp_border(&g, TN_HEX_RECORD_OUTPUT, case_write(&c, &g, none, inputs, &n_inputs));
    uint32_t status = dsp_graph_prepare(&g);
    bool ok = status == TN_HEX_OK || status == TN_HEX_MEMORY;   // wild calls may have taken all graphs
    if (status == TN_HEX_OK) {
        case_reference(&c);
        case_store(&c.in[0], s->buffer.at + IO_START);
        const uint32_t lengths[2] = {dsp_count(&c.in[0].t), dsp_count(&c.y.t)}, offsets[2] = {IO_START, IO_START + lengths[0]};
        ok = dsp_execute(&g, 1, 1, offsets, lengths, &s->buffer) == TN_HEX_OK;
        for (uint32_t i = 0; i < lengths[1] && ok; i++) {
            ok = s->buffer.at[offsets[1] + i] == (uint8_t)c.y.v[i];
        }
    }
    if (!ok) {
        printf("FAILED: an honest graph after hostile messages (status %u)\n", status);
    }
    dsp_graph_end(&g);
    case_free(&c);
    return ok;
}

// A layer norm whose words disagree is refused: one gain more than the line has, as many as there are but not in the last axes, no or too many
// bits of fraction, an epsilon with which the root's operand would leave 64 bits, one bias less than gains.
static bool wrong_norms(state *s)
{
    for (int kind = 0; kind < 7; kind++) {
        static const int32_t dims[] = {3, 5, 8};
        const uint32_t n[2] = {kind == 1 ? 9 : kind == 2 ? 15 : 8, kind == 6 ? 7 : 8};
        const uint32_t down = kind == 3 ? 0 : kind == 4 ? 32 : 12, epsilon[2] = {1, kind == 5 ? 0x40000000u : 0x3fffffffu};
        const int32_t words[16] = {0};
        dsp_tensor x = {.dtype = TN_HEX_U8, .rank = 3}, vector = {.dtype = TN_HEX_S32, .rank = 1};
        memcpy(x.dims, dims, sizeof dims);
        dsp_graph g;
        uint32_t in[3];
        dsp_graph_begin(&g, &s->d, &s->buffer);
        in[0] = dsp_value(&g, &x);
        dsp_border(&g, TN_HEX_RECORD_INPUT, in[0]);
        for (int k = 0; k < 2; k++) {
            vector.dims[0] = (int32_t)n[k];
            in[1 + k] = dsp_const(&g, &vector, words, 4 * n[k]);
        }
        const uint32_t y = dsp_value(&g, &x);
        dsp_node(&g, TN_HEX_OP_LAYER_NORM, in, 3, y);
        dsp_attr(&g, TN_HEX_ATTR_DOWN, &down, 1);
        dsp_attr(&g, TN_HEX_ATTR_EPSILON, epsilon, 2);
        dsp_node_end(&g);
        dsp_border(&g, TN_HEX_RECORD_OUTPUT, y);
        const uint32_t status = dsp_graph_prepare(&g);
        dsp_graph_end(&g);
        if ((status == TN_HEX_OK) != (kind == 0)) {
            printf("FAILED: a layer norm of kind %d: status %u\n", kind, status);
            return false;
        }
    }
    return true;
}

// Waits for the child's end, two seconds at most; its exit status, or -1.
static int end_of(state *s)
{
    for (int i = 0; i < 200; i++) {
        int status;
        if (waitpid(s->d.pid, &status, WNOHANG) == s->d.pid) {
            s->d.pid = 0;
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        }
        usleep(10000);
    }
    return -1;
}

// A fault leaves a record and ends the program with its status; a host that goes away ends it too.
static bool ends_cleanly(state *s)
{
    kill(s->d.pid, SIGSEGV);
    const int crash = end_of(s);
    const uint32_t *record = (const uint32_t *)(s->d.page + TN_HEX_AT_CRASH);
    const bool recorded = record[TN_HEX_CRASH_VALID] && record[TN_HEX_CRASH_SIGNAL] == SIGSEGV;
    dsp_close(&s->d);
    if (crash != TN_HEX_EXIT_CRASH || !recorded || !start(s)) {
        printf("FAILED: a fault ended with status %d, %s record\n", crash, recorded ? "with a" : "without a");
        return false;
    }
    close(s->d.socket);
    s->d.socket = -1;
    const int hangup = end_of(s);
    if (hangup != TN_HEX_EXIT_HANGUP) {
        printf("FAILED: the host's end led to status %d\n", hangup);
    }
    return hangup == TN_HEX_EXIT_HANGUP;
}

int main(int argc, char **argv)
{
    state s = {0};
    int count = 1000;
    uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--program")) {
            s.options.program = argv[i + 1];
        } else if (!strcmp(argv[i], "--count")) {
            count = atoi(argv[i + 1]);
        } else if (!strcmp(argv[i], "--seed")) {
            seed = strtoull(argv[i + 1], NULL, 10);
        }
    }
    if (!start(&s)) {
        return 1;
    }
    bool ok = wrong_norms(&s);
    for (int i = 0; i < count && ok; i++) {
        tn_rand r = {seed * 1000003 + (uint64_t)i};
        ok = i % 3 == 0 ? wild_call(&s, &r) : i % 15 == 1 ? changed_weights(&s, &r) : changed_graph(&s, &r);
        ok = ok && (i % 10 != 9 || look_after(&s, &r));
        if (ok && i % 50 == 49) {
            for (uint32_t id = 1; id <= 256; id++) {   // graphs that wild calls have made
                if (!is_ward(&s, id)) {
                    dsp_call(&s.d, TN_HEX_CALL_TEARDOWN, &id, 1);
                }
            }
            ok = honest_graph(&s, &r);
        }
        if (!ok) {
            printf("  seed %llu, case %d\n", (unsigned long long)seed, i);
        }
    }
    for (int i = 0; i < WARDS; i++) {
        bury(&s.wards[i]);
    }
    ok = ok && ends_cleanly(&s);
    dsp_close(&s.d);
    printf("%d refused, %d accepted, %d crashed with a record, %d at the weights of others\n", s.refused, s.accepted, s.crashed, s.crossed);
    return ok ? 0 : 1;
}
