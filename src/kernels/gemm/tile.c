// SPDX-License-Identifier: Apache-2.0
// What the tiers' register tiles look like, and how work is cut into them. Baseline code: any machine can choose and pack for
// any tier.
// Ownership: const data. Threads: any.
#include "kernels/gemm/tile.h"

#include "base/macros.h"

#include <math.h>

// AVX-512: 32 registers of 16. AVX2: 16 registers of 8. Portable: 16-byte vectors and 16 of them at least. fma_per_ns is that of
// a core at about 4 GHz with two multiply-add units (portable: multiplies and adds that take turns); broadcasts from lines of the
// same offset do not quite reach two a cycle.
const tn_tile_facts tn_tile_facts_avx512 = {16, {0, 14, 14, 9, 6}, 8.0, 6.4, TN_STRIPS_MANY};
const tn_tile_facts tn_tile_facts_avx2 = {8, {0, 12, 6, 4, 2}, 8.0, 6.4, TN_STRIPS_MANY | TN_STRIPS_ALONE | TN_STRIPS_LONG | TN_STRIPS_POINTS};
const tn_tile_facts tn_tile_facts_portable = {4, {0, 8, 6, 2, 2}, 4.0, 8.0, 0};

void tn_tile_set_act(tn_tile *tile, const tn_act *act)
{
    tile->low = -INFINITY;
    tile->high = INFINITY;
    tile->act = NULL;
    tile->clamp = act->code == TN_LOOP_RELU || act->code == TN_LOOP_CLIP;
    if (act->code == TN_LOOP_RELU) {
        tile->low = 0.0f;
    } else if (act->code == TN_LOOP_CLIP) {
        tile->low = (float)act->x;
        tile->high = (float)act->y;
    } else if (act->code != TN_LOOP_CONST) {
        tile->act = act;
    }
}

// Units are vector multiply-adds; a tile of fewer than 8 sums waits for its own results (latency 4, two units), one of few rows
// for its loads.
double tn_tile_cost(const tn_tile_facts *facts, int64_t rows, int64_t vectors, int q)
{
    double total = 0.0;
    const int64_t groups = vectors / q;
    const int rest = (int)(vectors % q);
    for (int part = 0; part < 2; part++) {
        const int width = part == 0 ? q : rest;
        const int64_t times = part == 0 ? groups : 1;
        if (width == 0 || times == 0 || rows == 0) {
            continue;
        }
        const int64_t cuts = tn_tile_cuts(rows, facts->max_p[width]);
        const double p = (double)rows / (double)cuts;
        double each = p * width / facts->fma_per_ns;
        each = fmax(each, (p + width) / facts->load_per_ns);
        each = fmax(each, 8.0 / facts->fma_per_ns);
        total += each * (double)(times * cuts);
    }
    return total;
}

int tn_tile_choose_q(const tn_tile_facts *facts, int64_t rows, int64_t vectors)
{
    // Two vectors are the usual group: one packed form then serves nearly every shape.
    int best = 2;
    double best_cost = tn_tile_cost(facts, rows, vectors, 2);
    for (int q = 1; q <= TN_TILE_MAX_Q; q++) {
        if (facts->max_p[q] == 0 || (vectors % q != 0 && facts->max_p[vectors % q] == 0)) {
            continue;
        }
        const double cost = tn_tile_cost(facts, rows, vectors, q);
        if (cost < 0.97 * best_cost) {
            best = q;
            best_cost = cost;
        }
    }
    return best;
}

#define ITEM_NS_MOST 40000.0
#define ITEM_NS_LEAST 4000.0
#define SHARED_NS_LEAST 2000.0   // where threads share the items
#define ITEMS_PER_THREAD 6.0
#define SHORTER_MOST 8           // tiles that an item may lose for equal shares

int64_t tn_tile_item(double tile_ns, int64_t tiles, int64_t times, unsigned threads)
{
    const double all = tile_ns * (double)tiles * (double)times, least = threads > 1 ? SHARED_NS_LEAST : ITEM_NS_LEAST;
    const double count = fmax(least, fmin(ITEM_NS_MOST, all / (ITEMS_PER_THREAD * threads))) / tile_ns;
    const int64_t most = count >= (double)tiles ? tiles : count <= 1.0 ? 1 : (int64_t)count;
    const int64_t items = tn_tile_cuts(tiles, most) * times;
    if (threads == 1 || items <= 1 || (double)items >= ITEMS_PER_THREAD * threads) {
        return most;
    }
    // Few items: of the length with which the longest share is shortest.
    int64_t item = most, least_share = INT64_MAX;
    for (int64_t length = most; length > most / 2 && length > most - SHORTER_MOST; length--) {
        const int64_t share = tn_tile_cuts(tn_tile_cuts(tiles, length) * times, threads) * length;
        if (share < least_share) {
            item = length;
            least_share = share;
        }
    }
    return item;
}
