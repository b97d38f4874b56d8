// SPDX-License-Identifier: Apache-2.0
// Convolutions of 3 x 3 with stride 1 by Winograd's transform F(2, 3) or F(4, 3): transformed tiles, a product of matrices for each tap,
// results. It multiplies 2.25 or 4 times less than the direct kernel, moves more, and rounds more (docs/opencl.md).
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/conv/cl_conv.h"
#include "exec/opencl/tune/cl_table.h"

#define MIN_CHANNELS 16       // with fewer the transforms outweigh the products

static bool eligible(const tn_cl_conv *l, const tn_cl_conv_memory *m)
{
    const tn_window *w = &l->window;
    return !l->deconv && l->group == 1 && l->kh == 3 && l->kw == 3 && w->stride[0] == 1 && w->stride[1] == 1 && w->dilation[0] == 1 &&
           w->dilation[1] == 1 && m->x && m->x->grid;
}

static int64_t tiles_of(const tn_cl_conv *l, int block) { return l->y.n * TN_CEIL_DIV(l->y.h, block) * TN_CEIL_DIV(l->y.w, block); }

static tn_cl_layer product_of(const tn_cl_conv *l, const tn_cl_layer *direct, int block)
{
    tn_cl_layer layer = *direct;
    layer.kind = block == 2 ? TN_CL_LAYER_WINOGRAD_2 : TN_CL_LAYER_WINOGRAD_4;
    layer.pixels = tiles_of(l, block);
    return layer;
}

// The transformed tiles and sums are grids, too, and larger than the map.
static bool has_room(const tn_cl_facts *facts, const tn_cl_conv *l, int block)
{
    const int64_t blocks = TN_CEIL_DIV(TN_MAX(l->x.c, l->y.c), 4), taps = (int64_t)(block + 2) * (block + 2);
    return (uint64_t)(taps * blocks) * (uint64_t)tiles_of(l, block) <= TN_MIN(facts->largest_bytes, facts->memory_bytes / 8) / 16;
}

int tn_cl_winograd_block(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, const tn_cl_layer *direct)
{
    const tn_cl_layer choice = tn_cl_layer_choice(direct);
    tn_cl_tile tile;
    if (!eligible(l, m) || b->cl->winograd == 1) {
        return 0;
    }
    if (b->cl->winograd) {
        return has_room(&b->cl->facts, l, b->cl->winograd) ? b->cl->winograd : 0;
    }
    if (l->x.c < MIN_CHANNELS || l->y.c < MIN_CHANNELS) {
        return 0;
    }
    if (tn_cl_table_find(b->cl, &choice, &tile)) {
        return tile.ob == 1 || !has_room(&b->cl->facts, l, tile.ob) ? 0 : tile.ob;
    }
    double least = tn_cl_layer_price(b->cl, direct);
    int best = 0;
    for (int block = 2; block <= 4; block += 2) {
        const tn_cl_layer product = product_of(l, direct, block);
        const double price = tn_cl_layer_price(b->cl, &product);
        // F(4, 3) rounds more: it has to be worth it.
        if (has_room(&b->cl->facts, l, block) && price < least * (block == 4 && best ? 0.9 : 1.0)) {
            least = price;
            best = block;
        }
    }
    return best;
}

static void tile_args(tn_cl_build *b, const tn_cl_conv *l, int block)
{
    const int64_t across = TN_CEIL_DIV(l->y.w, block), down = TN_CEIL_DIV(l->y.h, block);
    tn_cl_define(b, "BLOCK", "%d", block);
    tn_cl_int(b, "across", across);
    tn_cl_int(b, "down", down);
    tn_cl_over(b, "across", across);
    tn_cl_over(b, "down", down);
}

static void product_step(tn_cl_build *b, const tn_cl_layer *layer, const tn_cl_tile *t, int64_t out, tn_cl_mem *u, tn_cl_mem *v, tn_cl_mem *m)
{
    const int64_t taps = tn_cl_layer_batch(layer);
    const struct { const char *name; int value; } defines[] = {
        {"OB", t->ob}, {"P", t->p}, {"SPLIT_C", t->split_c}, {"LANES_X", t->lanes_x}, {"LANES_Y", t->lanes_y},
        {"UNROLL", b->cl->facts.is_cpu || t->ob * t->p > 8 ? 1 : t->ob * t->p > 2 ? 2 : 4},
    };
    tn_cl_begin(b, "winograd_matmul");
    tn_cl_in_grid(b, "V", v);
    tn_cl_in_grid(b, "U", u);
    tn_cl_out_grid(b, "M", m);
    tn_cl_int(b, "tiles", layer->pixels);
    tn_cl_int(b, "in_blocks", layer->in_blocks);
    tn_cl_int(b, "out", out);
    for (size_t i = 0; i < TN_COUNT(defines); i++) {
        tn_cl_define(b, defines[i].name, "%d", defines[i].value);
    }
    if (t->split_c > 1) {
        tn_cl_local(b, "float4", "sums", (size_t)(t->split_c * t->p * t->lanes_x * t->lanes_y) * 16);
    }
    tn_cl_tiled(b, layer, t);
    tn_cl_group(b, (size_t)t->lanes_x, (size_t)t->lanes_y, (size_t)t->split_c);
    tn_cl_end(b, (size_t)TN_CEIL_DIV(layer->pixels, t->p), (size_t)TN_CEIL_DIV(layer->out_blocks, t->ob), (size_t)(taps * t->split_c));
}

void tn_cl_winograd_emit(tn_cl_build *b, const tn_cl_conv *l, const tn_cl_conv_memory *m, const void *weights, int block)
{
    const int64_t dims[4] = {l->y.c, l->x.c, 3, 3}, side = block + 2;
    const tn_cl_layer direct = {.out_blocks = TN_CEIL_DIV(l->y.c, 4), .in_blocks = TN_CEIL_DIV(l->x.c, 4), .kh = 3, .kw = 3, .stride = 1,
                                .group = 1, .height = l->y.h, .image = m->y && m->y->image, .half = b->half, .map = l->y.n * l->y.h * l->y.w};
    const tn_cl_layer layer = product_of(l, &direct, block);
    const int64_t taps = tn_cl_layer_batch(&layer);
    tn_cl_tile tile = tn_cl_tile_for(b->cl, &layer);
    tn_cl_mem *u = tn_cl_weight(b, TN_CL_WINOGRAD_FILTER, dims, block, weights);
    // Transformed values reach a hundred times those of the map: always whole floats, whatever the grids hold.
    tn_cl_mem *v = tn_cl_take_grid(b, TN_CL_F32, (size_t)layer.pixels, (size_t)(taps * layer.in_blocks));
    tn_cl_begin(b, "winograd_in");
    tn_cl_in_grid(b, "X", m->x);
    tn_cl_out_grid(b, "V", v);
    tile_args(b, l, block);
    tn_cl_int(b, "h", l->x.h);
    tn_cl_int(b, "w", l->x.w);
    tn_cl_define(b, "PAD_Y", "(%lld)", (long long)l->window.pad_begin[0]);
    tn_cl_define(b, "PAD_X", "(%lld)", (long long)l->window.pad_begin[1]);
    tn_cl_end(b, (size_t)layer.pixels, (size_t)layer.in_blocks, (size_t)side);
    tn_cl_mem *sums = tn_cl_take_grid(b, TN_CL_F32, (size_t)layer.pixels, (size_t)(taps * layer.out_blocks));
    for (bool again = true; again; again = b->too_wide) {
        tn_cl_tile next = tile;
        b->retries = tn_cl_tile_narrower(&next);
        product_step(b, &layer, &tile, l->y.c, u, v, sums);
        tile = next;
    }
    b->retries = false;
    tn_cl_begin(b, "winograd_out");
    tn_cl_in_grid(b, "M", sums);
    tn_cl_conv_results(b, l, m);
    tile_args(b, l, block);
    tn_cl_int(b, "oh", l->y.h);
    tn_cl_int(b, "ow", l->y.w);
    tn_cl_end(b, (size_t)layer.pixels, (size_t)layer.out_blocks, (size_t)block);
}
