// SPDX-License-Identifier: Apache-2.0
// One graph planned for the DSP and for the CPU, side by side, over one input that both see. For the tests of this folder.
// Ownership: open/close. Threads: one each.
#ifndef HEX_BENCH_H
#define HEX_BENCH_H

#include "support/unit.h"

#include "exec/blocks.h"
#include "exec/hexagon/hex_flow.h"
#include "exec/program.h"

extern const tn_device_vtable tn_device_cpu, tn_device_hexagon;

enum { HEX_DSP, HEX_CPU, HEX_WHERES };
enum { HEX_MOST_RESULTS = 2, HEX_INPUT = 8 * 144 };     // the input: uint8[1,8,12,12]

typedef struct hex_bench {
    tn_heap heap;
    tn_graph *graph;
    tn_weights weights;
    tn_cpu cpu;
    tn_device *devices[2];
    tn_plan_context context[HEX_WHERES];
    tn_program *program[HEX_WHERES];
    tn_block_cache blocks;
    uint8_t *x;                       // in memory that the DSP sees
    tn_tensor feed;
    tn_diag diag;
} hex_bench;

bool hex_bench_present(void);         // an emulator is there; else it says so

// text: of a graph with that input and at most HEX_MOST_RESULTS results. written: it is run as it is, else it is optimised first.
void hex_bench_open(hex_bench *b, const char *text, bool written);

// The same with a DSP that is started with these options; NULL: as sessions do.
void hex_bench_open_with(hex_bench *b, const char *text, bool written, const tn_hex_options *options);

// A net of most kinds of operators, in float_rne or fixed_q31; the test is skipped where there is no emulator.
void hex_bench_open_net(hex_bench *b, const char *rounding);
char *hex_bench_net(const char *rounding);       // its text; free
void hex_bench_close(hex_bench *b);

// results: HEX_MOST_RESULTS of them. deadline_ns: on tn_clock_ns, 0: none.
tn_status hex_bench_run(hex_bench *b, int where, tn_result_slot *results, uint64_t deadline_ns);

tn_hex_link *hex_bench_link(const hex_bench *b);
pid_t hex_bench_process(const hex_bench *b);
void hex_bench_compare(const hex_bench *b, const tn_result_slot *got, const tn_result_slot *want);

// ---- users: benches of different models, each run from a thread of its own ----

enum { HEX_MODELS = 3 };

typedef struct hex_user {
    hex_bench b;
    tn_result_slot want[HEX_MOST_RESULTS];
    atomic_int *stop, *all;                   // run until that is not 0, NULL: rounds; all: counts right runs of all users, or NULL
    int rounds, wrong, other, died, ran;      // other: neither right nor a death
} hex_user;

void hex_user_open(hex_user *u, int model, const tn_hex_options *options);      // options: as for a bench; closed by its bench
void *hex_user_work(void *user);              // for pthread_create
// All of them at the same time; fails unless each run of each is right.
void hex_users_run(hex_user *users, int count, int rounds);

// ---- what must not leak ----

int hex_open_descriptors(void);
int hex_descriptors_beside_spare(tn_hex_link *link);      // the same; the spare program, which may be there or not, is ended first
bool hex_has_children(void);                  // living ones, or ended and not waited for

#endif
