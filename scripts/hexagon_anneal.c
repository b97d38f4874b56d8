// SPDX-License-Identifier: Apache-2.0
// Places the instructions of a loop whose rounds overlap: simulated annealing over packets, for scripts/hexagon_loops.py, which compiles it.
//
//   hexagon_anneal steps seed < loop
//
//   loop:   instructions dependences webs packets rounds, registers of each of three kinds
//           for each instruction what it takes of a packet (RESOURCES numbers), for each dependence from, to
//           for each web (what lives in a register): kind, registers, the instruction that makes it, n, n instructions that read it
//
// Prints what is still wrong (0: nothing) and the place of each instruction, packet + packets of a round times the round.
// Ownership: none. Threads: one.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESOURCES = 8, KINDS = 3, MOST = 512, MOST_EDGES = 2048, MOST_PACKETS = 128, LEVELS = 2000 };
enum { STORE = 3 };              // the resource of which all must be in one round
// Of a packet: instructions, memory, vector loads and stores, multipliers, permutation, shift, vector units.
static const int limits[RESOURCES] = {4, 2, 1, 1, 2, 1, 1, 4};
static const double OVERFULL = 10, LATE = 6, LONG = 6, PRESSURE = 3, LIFE = 0.01, SPREAD = 8;

typedef struct edges {
    int n, at[64];
} edges;

static struct {
    int n, n_deps, n_webs, packets, rounds, registers[KINDS];
    int takes[MOST][RESOURCES], place[MOST];
    int from[MOST_EDGES], to[MOST_EDGES];
    edges deps[MOST], webs[MOST], reads[MOST], stores;
    int kind[MOST], size[MOST], maker[MOST], begin[MOST], end[MOST];
    int used[MOST_PACKETS][RESOURCES], live[KINDS][MOST_PACKETS];
} loop;

static uint64_t state;

static uint32_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static int number(void)
{
    int v;
    if (scanf("%d", &v) != 1) {
        fprintf(stderr, "hexagon_anneal: the loop ends too early\n");
        exit(2);
    }
    return v;
}

static void push(edges *e, int v)
{
    for (int i = 0; i < e->n; i++) {
        if (e->at[i] == v) {
            return;
        }
    }
    e->at[e->n++] = v;
}

static void read_loop(void)
{
    loop.n = number(), loop.n_deps = number(), loop.n_webs = number(), loop.packets = number(), loop.rounds = number();
    for (int k = 0; k < KINDS; k++) {
        loop.registers[k] = number();
    }
    for (int i = 0; i < loop.n; i++) {
        for (int r = 0; r < RESOURCES; r++) {
            loop.takes[i][r] = number();
        }
        if (loop.takes[i][STORE]) {
            push(&loop.stores, i);
        }
    }
    for (int d = 0; d < loop.n_deps; d++) {
        loop.from[d] = number();
        loop.to[d] = number();
        push(&loop.deps[loop.from[d]], d);
        push(&loop.deps[loop.to[d]], d);
    }
    for (int w = 0; w < loop.n_webs; w++) {
        loop.kind[w] = number(), loop.size[w] = number(), loop.maker[w] = number();
        push(&loop.webs[loop.maker[w]], w);
        for (int n = number(); n > 0; n--) {
            const int i = number();
            push(&loop.reads[w], i);
            push(&loop.webs[i], w);
        }
    }
}

static double packet_cost(int p)
{
    double cost = 0;
    for (int r = 0; r < RESOURCES; r++) {
        cost += loop.used[p][r] > limits[r] ? OVERFULL * (loop.used[p][r] - limits[r]) : 0;
    }
    return cost;
}

static double live_cost(int kind, int p)
{
    const int over = loop.live[kind][p] - loop.registers[kind];
    return over > 0 ? PRESSURE * over : 0;
}

static double dep_cost(int d)
{
    const int late = loop.place[loop.from[d]] + 1 - loop.place[loop.to[d]];
    return late > 0 ? LATE * late : 0;
}

static double web_cost(int w)
{
    const int life = loop.end[w] - loop.begin[w];
    return (life > loop.packets ? LONG * (life - loop.packets) : 0) + LIFE * loop.size[w] * life;
}

static double spread_cost(void)
{
    int first = loop.rounds, last = 0;
    for (int i = 0; i < loop.stores.n; i++) {
        const int round = loop.place[loop.stores.at[i]] / loop.packets;
        first = round < first ? round : first;
        last = round > last ? round : last;
    }
    return last > first ? SPREAD * (last - first) : 0;
}

static void find_life(int w)
{
    loop.begin[w] = loop.place[loop.maker[w]];
    loop.end[w] = loop.begin[w] + 1;
    for (int i = 0; i < loop.reads[w].n; i++) {
        const int at = loop.place[loop.reads[w].at[i]];
        loop.end[w] = at > loop.end[w] ? at : loop.end[w];
    }
}

// A web comes to (1) or leaves (-1) its packets; returns what that costs.
static double count_life(int w, int by)
{
    double cost = 0;
    for (int at = loop.begin[w] + 1; at <= loop.end[w]; at++) {
        const int p = at % loop.packets;
        cost -= live_cost(loop.kind[w], p);
        loop.live[loop.kind[w]][p] += by * loop.size[w];
        cost += live_cost(loop.kind[w], p);
    }
    return cost;
}

static void count_takes(int i, int by)
{
    for (int r = 0; r < RESOURCES; r++) {
        loop.used[loop.place[i] % loop.packets][r] += by * loop.takes[i][r];
    }
}

// n instructions to other places; returns by how much that is worse.
static double move(const int *which, const int *places, int n)
{
    edges deps = {0}, webs = {0}, packets = {0};
    double cost = -spread_cost();
    for (int k = 0; k < n; k++) {
        for (int d = 0; d < loop.deps[which[k]].n && deps.n < 64; d++) {
            push(&deps, loop.deps[which[k]].at[d]);
        }
        for (int w = 0; w < loop.webs[which[k]].n; w++) {
            push(&webs, loop.webs[which[k]].at[w]);
        }
        push(&packets, loop.place[which[k]] % loop.packets);
        push(&packets, places[k] % loop.packets);
    }
    for (int i = 0; i < deps.n; i++) {
        cost -= dep_cost(deps.at[i]);
    }
    for (int i = 0; i < packets.n; i++) {
        cost -= packet_cost(packets.at[i]);
    }
    for (int i = 0; i < webs.n; i++) {
        cost += count_life(webs.at[i], -1) - web_cost(webs.at[i]);
    }
    for (int k = 0; k < n; k++) {
        count_takes(which[k], -1);
        loop.place[which[k]] = places[k];
        count_takes(which[k], 1);
    }
    for (int i = 0; i < webs.n; i++) {
        find_life(webs.at[i]);
        cost += count_life(webs.at[i], 1) + web_cost(webs.at[i]);
    }
    for (int i = 0; i < packets.n; i++) {
        cost += packet_cost(packets.at[i]);
    }
    for (int i = 0; i < deps.n; i++) {
        cost += dep_cost(deps.at[i]);
    }
    return cost + spread_cost();
}

// In the order of dependences, spread over all rounds.
static void begin(void)
{
    int level[MOST] = {0}, most = 1;
    for (int again = 0; again < loop.n; again++) {
        for (int d = 0; d < loop.n_deps; d++) {
            const int least = level[loop.from[d]] + 1;
            level[loop.to[d]] = level[loop.to[d]] < least ? least : level[loop.to[d]];
            most = least > most ? least : most;
        }
    }
    for (int i = 0; i < loop.n; i++) {
        loop.place[i] = level[i] * (loop.packets * loop.rounds - 1) / most;
        count_takes(i, 1);
    }
    for (int w = 0; w < loop.n_webs; w++) {
        find_life(w);
        count_life(w, 1);
    }
}

static double wrong(void)
{
    double cost = spread_cost();
    for (int p = 0; p < loop.packets; p++) {
        cost += packet_cost(p) + live_cost(0, p) + live_cost(1, p) + live_cost(2, p);
    }
    for (int d = 0; d < loop.n_deps; d++) {
        cost += dep_cost(d);
    }
    for (int w = 0; w < loop.n_webs; w++) {
        cost += loop.end[w] - loop.begin[w] > loop.packets;
    }
    return cost;
}

// One try: an instruction goes elsewhere, or changes packets with another.
static void step(double heat)
{
    const int all = loop.packets * loop.rounds, i = (int)(draw() % (uint32_t)loop.n), old = loop.place[i];
    const uint32_t how = draw() % 10;
    const int by = how < 5 ? (int)(draw() % 9) - 4 : how < 8 ? (int)(draw() % 41) - 20 : (draw() & 1 ? 1 : -1) * loop.packets + (int)(draw() % 5) - 2;
    int which[2] = {i, 0}, places[2] = {old + by, 0}, back[2] = {old, 0}, n = 1;
    if (by == 0 || places[0] < 0 || places[0] >= all) {
        return;
    }
    for (int tries = draw() % 3 == 0 ? 32 : 0; tries > 0 && n == 1; tries--) {
        const int other = (int)(draw() % (uint32_t)loop.n);
        if (other != i && loop.place[other] % loop.packets == places[0] % loop.packets) {
            which[1] = other;
            back[1] = loop.place[other];
            places[1] = back[1] - back[1] % loop.packets + old % loop.packets;
            n = 2;
        }
    }
    const double worse = move(which, places, n);
    if (worse > 0 && draw() / 4294967296.0 >= exp(-worse / heat)) {
        move(which, back, n);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: hexagon_anneal steps seed < loop\n");
        return 2;
    }
    const long steps = atol(argv[1]) / LEVELS;
    state = 88172645463325252u + 7919u * (uint64_t)atol(argv[2]);
    read_loop();
    begin();
    for (int level = 0; level < LEVELS; level++) {
        const double heat = 12 * pow(0.0125, (double)level / LEVELS);
        for (long k = 0; k < steps; k++) {
            step(heat);
        }
        if (wrong() == 0) {
            break;
        }
    }
    int first = loop.rounds;
    for (int i = 0; i < loop.n; i++) {
        first = loop.place[i] / loop.packets < first ? loop.place[i] / loop.packets : first;
    }
    printf("%g", wrong());
    for (int i = 0; i < loop.n; i++) {
        printf(" %d", loop.place[i] - first * loop.packets);
    }
    printf("\n");
    return 0;
}
