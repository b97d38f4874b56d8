// SPDX-License-Identifier: Apache-2.0
// The model: warps of 32 items on units that issue four of them a clock, texels that come from the first cache, and a wait for each texel
// that too few warps cannot hide. Its constants are round numbers of a data-centre GPU; what it must get right is the order of tiles.
// Ownership: plain values. Threads: any.
#include "exec/opencl/tune/cl_tile.h"

#include "base/map.h"
#include "base/num.h"
#include "exec/opencl/tune/cl_table.h"

#include <stdio.h>
#include <string.h>

#define WARP 32
#define MAX_LOCAL (32 * 1024)
#define MAX_STRIP 64          // rows that a group makes
// What three kernels that hand their texels on take longer than the model says, beside one of the same price: on the H200 layers that it
// prices alike took 1.3 to 1.7 times as long by Winograd's transform.
#define SLOWER 1.7
#define STARTS 1500           // nanoseconds between two kernels of which one waits for the other

int64_t tn_cl_layer_batch(const tn_cl_layer *l) { return l->kind == TN_CL_LAYER_WINOGRAD_2 ? 16 : l->kind == TN_CL_LAYER_WINOGRAD_4 ? 36 : 1; }

// Taps that one item goes over: those of a Winograd transform are matrices of their own.
static int64_t taps_of(const tn_cl_layer *l) { return tn_cl_layer_batch(l) > 1 ? 1 : l->kh * l->kw; }

void tn_cl_layer_text(const tn_cl_layer *l, char text[TN_CL_LAYER_TEXT])
{
    static const char *const kinds[] = {
#define X(name, kind) kind,
        TN_CL_LAYER_LIST(X)
#undef X
    };
    (void)snprintf(text, TN_CL_LAYER_TEXT, "%s_%lldx%lld_s%lld_g%lld_p%lld_o%lld_i%lld_%s_%s", kinds[l->kind],
                   (long long)l->kh, (long long)l->kw, (long long)l->stride, (long long)l->group, (long long)l->pixels, (long long)l->out_blocks,
                   (long long)l->in_blocks, l->image ? "image" : "buffer", l->half ? "f16" : "f32");
}

static bool power_of_two(int n, int most) { return n >= 1 && n <= most && (n & (n - 1)) == 0; }

int64_t tn_cl_tile_room(const tn_cl_tile *t, const tn_cl_layer *l)
{
    return TN_MIN((t->split_t - 1) * l->stride + l->kh, l->mid_height) * l->mid_width;
}

static bool expand_valid(const tn_cl_tile *t, const tn_cl_layer *l, const tn_cl_facts *facts)
{
    return power_of_two(t->ob, 4) && power_of_two(t->p, 8) && power_of_two(t->split_c, 16) && power_of_two(t->lanes_x, 1024) && t->lanes_y == 1 &&
           t->split_t >= 1 && t->split_t <= MAX_STRIP && t->ob * t->p <= 32 && t->split_c <= l->in_blocks &&
           (int64_t)t->lanes_x * t->split_c <= (int64_t)facts->max_group &&
           tn_cl_tile_room(t, l) * t->ob * t->split_c * 16 <= (int64_t)TN_MIN(facts->local_bytes, (size_t)MAX_LOCAL);
}

bool tn_cl_tile_valid(const tn_cl_tile *t, const tn_cl_layer *l, const tn_cl_facts *facts)
{
    const int64_t split = (int64_t)t->split_t * t->split_c, lanes = (int64_t)t->lanes_x * t->lanes_y;
    if (l->kind == TN_CL_LAYER_EXPAND) {
        return expand_valid(t, l, facts);
    }
    if (!power_of_two(t->ob, 8) || !power_of_two(t->p, 8) || !power_of_two(t->split_c, 32) || t->split_t < 1 || t->split_t > 9 ||
        !power_of_two(t->lanes_x, 1024) || !power_of_two(t->lanes_y, 64) || t->ob * t->p > 32 || lanes * split > (int64_t)facts->max_group) {
        return false;
    }
    if (l->kind == TN_CL_LAYER_DEPTHWISE) {
        return t->ob == 1 && split == 1;
    }
    if (l->kind == TN_CL_LAYER_CHOICE || l->kind == TN_CL_LAYER_FUSE) {
        return t->ob <= 4;
    }
    return (l->group == 1 || t->ob == 1) && t->split_c <= l->in_blocks && t->split_t <= taps_of(l) &&
           (split == 1 || split * lanes * t->p * 16 <= (int64_t)TN_MIN(facts->local_bytes, (size_t)MAX_LOCAL));
}

bool tn_cl_tile_narrower(tn_cl_tile *t)
{
    int *const order[] = {&t->split_c, &t->lanes_y, &t->split_t, &t->lanes_x};
    for (size_t i = 0; i < TN_COUNT(order); i++) {
        if (*order[i] > 1) {
            *order[i] = order[i] == &t->split_t ? 1 : *order[i] / 2;
            return true;
        }
    }
    return false;
}

static double depthwise_price(const tn_cl_tile *t, const tn_cl_layer *l, const tn_cl_facts *facts)
{
    const double strips = (double)TN_CEIL_DIV(l->height, t->p) / (double)l->height;
    const double warps = (double)(l->pixels * l->out_blocks) * strips / WARP;
    const double reads = (double)(((t->p - 1) * l->stride + l->kh) * l->kw) + (double)(l->kh * l->kw) + t->p;
    const double waves = TN_MAX(1.0, warps / (facts->units * 32.0));
    return TN_MAX(warps * reads * 4 / facts->units, waves * (400 + 12 * reads)) / 1.5;
}

// The convolution over each group's rows of the map between, then its windows from local memory.
static double expand_price(const tn_cl_tile *t, const tn_cl_layer *l, const tn_cl_facts *facts)
{
    const int64_t items = (int64_t)t->lanes_x * t->split_c, room = tn_cl_tile_room(t, l), rows = TN_MIN((int64_t)t->split_t, l->height);
    const int64_t strips = TN_CEIL_DIV(l->height, rows), width = l->map / l->height, results = rows * width;
    const double groups = (double)strips * (double)TN_CEIL_DIV(l->out_blocks, t->ob), warps_each = (double)TN_CEIL_DIV(items, WARP);
    const double passes = (double)TN_CEIL_DIV(room, (int64_t)t->lanes_x * t->p);
    const double steps = passes * (double)(l->group * TN_CEIL_DIV(l->in_blocks, t->split_c));
    const double issue = 16.0 * t->ob * t->p + 6 * t->p + 5 * t->ob, cache = (l->image ? 8.0 : 4.0) * t->p + 5.0 * t->ob;
    const double per_unit = (double)TN_CEIL_DIV((int64_t)groups, (int64_t)facts->units) * warps_each;
    const double fitting = (double)TN_MAX((int64_t)facts->local_bytes / (room * t->ob * t->split_c * 16), (int64_t)1) * warps_each;
    const double resident = TN_MIN(TN_MIN(per_unit, fitting), 64.0 / TN_MAX(1.0, (4.0 * t->ob * t->p + 32) / 32));
    // Each window reads a texel and a filter for each tap, and adds; each copy of the map between is read once.
    const double windows = (double)(t->ob * TN_CEIL_DIV(results, items)) * (double)(l->kh * l->kw) * 14;
    const double adding = t->split_c > 1 ? (double)(t->ob * TN_CEIL_DIV(room, items)) * t->split_c * 8 + 60 : 0;
    const double busy = per_unit * (steps * TN_MAX(issue / 4, cache) + (windows + adding) / 2);
    const double latency = per_unit / resident * (steps * (issue + 90) + windows + adding + 300);
    return (600 + TN_MAX(busy, latency)) / 1.5;
}

double tn_cl_tile_price(const tn_cl_tile *t, const tn_cl_layer *l, const tn_cl_facts *facts)
{
    if (l->kind == TN_CL_LAYER_EXPAND) {
        return expand_price(t, l, facts);
    }
    if (l->kind == TN_CL_LAYER_DEPTHWISE) {
        return depthwise_price(t, l, facts);
    }
    const int64_t split = (int64_t)t->split_t * t->split_c, group = (int64_t)t->lanes_x * t->lanes_y * split;
    const int64_t across = TN_CEIL_DIV(TN_CEIL_DIV(l->pixels, t->p), t->lanes_x), down = TN_CEIL_DIV(TN_CEIL_DIV(l->out_blocks, t->ob), t->lanes_y);
    const double groups = (double)across * (double)down * (double)tn_cl_layer_batch(l), warps_each = (double)TN_CEIL_DIV(group, WARP);
    const double steps = (double)(TN_CEIL_DIV(taps_of(l), t->split_t) * TN_CEIL_DIV(l->in_blocks, t->split_c));
    // Issue slots of one warp's step, clocks of the cache for it, and what one warp alone waits.
    const double issue = 16.0 * t->ob * t->p + 6 * t->p + 5 * t->ob, cache = (l->image ? 8.0 : 4.0) * t->p + 5.0 * t->ob;
    const double alone = issue + 90;
    const double per_unit = (double)TN_CEIL_DIV((int64_t)groups, (int64_t)facts->units) * warps_each;
    const double busy = per_unit * steps * TN_MAX(issue / 4, cache);
    const double resident = TN_MIN(per_unit, 64.0 / TN_MAX(1.0, (4.0 * t->ob * t->p + 32) / 32));
    const double latency = per_unit / resident * steps * alone;
    const double adding = split > 1 ? 150.0 + (double)(t->ob * 60) + (double)(t->ob * t->p) * 12.0 * (double)warps_each / 4 : 0;
    // Texels read for pixels and blocks that are not there count in `busy` already: groups are rounded up.
    return (600 + TN_MAX(busy, latency) + adding) / 1.5;
}

// Reads and writes of an item that makes a row of taps (of results), as in depthwise_price.
static double move_price(double items, double reads, const tn_cl_facts *facts)
{
    const double warps = items / WARP, waves = TN_MAX(1.0, warps / (facts->units * 32.0));
    return (600 + TN_MAX(warps * reads * 4 / facts->units, waves * (400 + 12 * reads))) / 1.5;
}

double tn_cl_winograd_moves(const tn_cl_layer *l, const tn_cl_facts *facts)
{
    const double side = l->kind == TN_CL_LAYER_WINOGRAD_2 ? 4 : 6, tiles = (double)l->pixels;
    const double before = move_price(tiles * (double)l->in_blocks * side, side * side * 0.6 + side, facts);
    return before + move_price(tiles * (double)l->out_blocks * (side - 2), side * side * 0.8 + side - 2, facts) + 2 * STARTS;
}

static const int strip_rows[] = {1, 2, 4, 7, 8, 14, 28};

size_t tn_cl_tile_count(const tn_cl_layer *l)
{
    return l->kind == TN_CL_LAYER_DEPTHWISE ? 16 : l->kind == TN_CL_LAYER_EXPAND ? 4 * 3 * 5 * 4 * TN_COUNT(strip_rows) : 4 * 4 * 3 * 6 * 12;
}

tn_cl_tile tn_cl_tile_nth(const tn_cl_layer *l, size_t i)
{
    static const int splits_t[] = {1, 3, 9};
    const int p = 1 << i % 4;
    if (l->kind == TN_CL_LAYER_DEPTHWISE) {
        return (tn_cl_tile){1, p, 1, 1, 32 << i / 4 % 4, 1};
    }
    if (l->kind == TN_CL_LAYER_EXPAND) {
        return (tn_cl_tile){.p = p, .ob = 1 << i / 4 % 3, .split_c = 1 << i / 12 % 5, .lanes_x = 32 << i / 60 % 4, .lanes_y = 1,
                            .split_t = strip_rows[i / 240 % TN_COUNT(strip_rows)]};
    }
    return (tn_cl_tile){.p = p, .ob = 1 << i / 4 % 4, .split_t = splits_t[i / 16 % 3], .split_c = 1 << i / 48 % 6,
                        .lanes_x = 16 << i / 288 % 4, .lanes_y = 1 << i / 1152 % 3};
}

// A driver on the CPU: one worker a core, so large tiles, and one size of group for all (it compiles again for each).
static tn_cl_tile cpu_tile(const tn_cl_layer *l, const tn_cl_facts *facts)
{
    static const struct { int ob, p; } shapes[] = {{2, 4}, {1, 4}, {1, 2}, {1, 1}};
    const int lanes = (int)TN_MIN((size_t)16, facts->max_group);
    tn_cl_tile t = {1, 1, 1, 1, lanes, 1};
    if (l->kind == TN_CL_LAYER_DEPTHWISE) {
        t.p = l->height >= 4 ? 4 : 1;
        return t;
    }
    if (l->kind == TN_CL_LAYER_EXPAND) {
        t.split_t = 1;
        t.p = 4;
        while (t.split_t < 8 && tn_cl_tile_room(&(tn_cl_tile){.split_t = t.split_t * 2}, l) * 16 <= MAX_LOCAL / 2) {
            t.split_t *= 2;
        }
        return t;
    }
    for (size_t i = 0; i < TN_COUNT(shapes); i++) {
        t.ob = l->group == 1 ? shapes[i].ob : 1;
        t.p = shapes[i].p;
        if ((l->group == 1 || shapes[i].ob == 1) &&
            tn_cl_layer_batch(l) * TN_CEIL_DIV(l->pixels, t.p) * TN_CEIL_DIV(l->out_blocks, t.ob) >= 64 * (int64_t)facts->units) {
            break;
        }
    }
    return t;
}

tn_cl_tile tn_cl_tile_default(const tn_cl_layer *l, const tn_cl_facts *facts)
{
    if (facts->is_cpu) {
        return cpu_tile(l, facts);
    }
    tn_cl_tile best = {1, 1, 1, 1, 1, 1};
    double least = -1;
    const size_t n = tn_cl_tile_count(l);
    for (size_t i = 0; i < n; i++) {
        const tn_cl_tile tile = tn_cl_tile_nth(l, i);
        // Larger groups take so few registers for each item that some kernels do not fit; a search may try them.
        const int items = tile.lanes_x * tile.lanes_y * tile.split_c * (l->kind == TN_CL_LAYER_EXPAND ? 1 : tile.split_t);
        const bool small = items <= (l->kind == TN_CL_LAYER_EXPAND ? 512 : 256);
        const double price = small && tn_cl_tile_valid(&tile, l, facts) ? tn_cl_tile_price(&tile, l, facts) : 0;
        if (price > 0 && (least < 0 || price < least)) {
            least = price;
            best = tile;
        }
    }
    return best;
}

// For tests: any valid tile, another one for each layer and seed.
static tn_cl_tile any_tile(const tn_cl_layer *layer, const tn_cl_facts *facts, unsigned seed)
{
    char text[TN_CL_LAYER_TEXT];
    tn_cl_layer_text(layer, text);
    const uint64_t start = tn_hash(text, strlen(text), seed), n = tn_cl_tile_count(layer);
    for (uint64_t i = 0; i < n; i++) {
        const tn_cl_tile tile = tn_cl_tile_nth(layer, (size_t)((start + i * 7) % n));
        if (tn_cl_tile_valid(&tile, layer, facts)) {
            return tile;
        }
    }
    return tn_cl_tile_default(layer, facts);
}

tn_cl_tile tn_cl_tile_for(tn_cl_context *cl, const tn_cl_layer *layer)
{
    tn_cl_tile tile;
    if (cl->tile_seed) {
        return any_tile(layer, &cl->facts, cl->tile_seed);
    }
    return tn_cl_table_find(cl, layer, &tile) ? tile : tn_cl_tile_default(layer, &cl->facts);
}

double tn_cl_layer_price(tn_cl_context *cl, const tn_cl_layer *l)
{
    const double batch = (double)tn_cl_layer_batch(l), in = (double)l->in_blocks, out = (double)l->out_blocks;
    if (cl->facts.is_cpu) {
        // Texels moved by the transforms count like a few products each.
        return (double)l->pixels * batch * (double)taps_of(l) * (4 * in * out + (batch > 1 ? 12 * (in + out) : 0));
    }
    const tn_cl_tile tile = tn_cl_tile_for(cl, l);
    const double price = tn_cl_tile_price(&tile, l, &cl->facts);
    return batch > 1 ? SLOWER * (price + tn_cl_winograd_moves(l, &cl->facts)) : price;
}

tn_cl_layer tn_cl_layer_choice(const tn_cl_layer *l)
{
    tn_cl_layer choice = *l;
    choice.kind = l->kind == TN_CL_LAYER_EXPAND ? TN_CL_LAYER_FUSE : TN_CL_LAYER_CHOICE;
    choice.pixels = l->map;
    return choice;
}
