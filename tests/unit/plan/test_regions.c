// SPDX-License-Identifier: Apache-2.0
// Composition of movement against the definition: a composed box moves exactly what the two boxes one after the other move.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "plan/work.h"

#include <stdlib.h>
#include <string.h>

static uint64_t state;

static int64_t draw(int64_t low, int64_t high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int64_t)((state >> 33) % (uint64_t)(high - low + 1));
}

static void move(const tn_region *r, const int *src, int64_t n_src, int *dst, int64_t n_dst)
{
    int64_t at[TN_MAX_RANK] = {0};
    int64_t total = 1;
    for (int i = 0; i < r->rank; i++) {
        total *= r->sizes[i];
    }
    for (int64_t n = 0; n < total; n++) {
        int64_t from = r->src_offset, to = r->dst_offset, left = n;
        for (int i = r->rank - 1; i >= 0; i--) {
            at[i] = left % r->sizes[i];
            left /= r->sizes[i];
            from += at[i] * r->src_strides[i];
            to += at[i] * r->dst_strides[i];
        }
        assert_true(from >= 0 && from < n_src && to >= 0 && to < n_dst);
        dst[to] = src[from];
    }
}

// A box that writes a dense tensor: a permuted, possibly flipped, possibly cut view of a random tensor.
static tn_region random_producer(int64_t *n_src, int64_t *n_dst)
{
    tn_region r = {.rank = (int)draw(1, 4)};
    int64_t dims[4], stride[4], weight = 1;
    int order[4] = {0, 1, 2, 3};
    for (int i = r.rank - 1; i >= 0; i--) {
        dims[i] = draw(1, 5);
        stride[i] = weight;
        weight *= dims[i];
        const int j = (int)draw(0, i), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (int i = 0, used[4] = {0}; i < r.rank; i++) {      // order over rank entries only
        int d = order[i] < r.rank ? order[i] : i;
        while (used[d]) {
            d = (d + 1) % r.rank;
        }
        used[d] = 1;
        const int64_t begin = draw(0, dims[d] - 1), size = draw(1, dims[d] - begin);
        const int flip = (int)draw(0, 3) == 0;
        r.sizes[i] = size;
        r.src_strides[i] = flip ? -stride[d] : stride[d];
        r.src_offset += (flip ? begin + size - 1 : begin) * stride[d];
    }
    *n_src = weight;
    *n_dst = 1;
    for (int i = r.rank - 1; i >= 0; i--) {
        r.dst_strides[i] = *n_dst;
        *n_dst *= r.sizes[i];
    }
    return r;
}

// A box that reads a dense tensor of n elements, seen under a random factorisation of its size.
static tn_region random_consumer(int64_t n, int64_t *n_dst)
{
    tn_region r = {.rank = 0};
    int64_t left = n, weight = 1;
    *n_dst = 1;
    while (left > 1 && r.rank < 4) {
        int64_t factor = draw(1, left);
        while (left % factor) {
            factor--;
        }
        const int64_t begin = draw(0, factor - 1), size = draw(1, factor - begin);
        r.sizes[r.rank] = size;
        r.src_strides[r.rank] = weight;
        r.src_offset += begin * weight;
        r.dst_strides[r.rank++] = *n_dst;
        *n_dst *= size;
        left /= factor;
        weight *= factor;
    }
    return r;
}

static void composes_like_two_moves(void **unused)
{
    int composed = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        int64_t n_src, n_mid, n_dst;
        state = seed;
        tn_region p = random_producer(&n_src, &n_mid), c = random_consumer(n_mid, &n_dst), both;
        int *src = malloc((size_t)n_src * sizeof *src), *mid = calloc((size_t)n_mid, sizeof *mid);
        int *want = calloc((size_t)n_dst, sizeof *want), *got = calloc((size_t)n_dst, sizeof *got);
        for (int64_t i = 0; i < n_src; i++) {
            src[i] = (int)i + 1;
        }
        move(&p, src, n_src, mid, n_mid);
        move(&c, mid, n_mid, want, n_dst);
        if (tn_region_compose(&c, &p, &both)) {
            composed++;
            move(&both, src, n_src, got, n_dst);
            if (memcmp(want, got, (size_t)n_dst * sizeof *got) != 0) {
                fail_msg("seed %llu", (unsigned long long)seed);
            }
        }
        free(src);
        free(mid);
        free(want);
        free(got);
    }
    assert_true(composed > 8000);     // most of these do compose
}

static void simplify_merges_dense_dims(void **unused)
{
    (void)unused;
    tn_region r = {.rank = 4, .sizes = {2, 1, 3, 4}, .src_strides = {12, 99, 4, 1}, .dst_strides = {12, 7, 4, 1}};
    tn_region_simplify(&r);
    assert_int_equal(r.rank, 1);
    assert_int_equal(r.sizes[0], 24);
    const tn_regions list = {.count = 1, .source_count = 1, .regions = &r};
    int64_t offset;
    assert_true(tn_regions_dense(&list, 24, &offset));
    assert_int_equal(offset, 0);
    assert_false(tn_regions_dense(&list, 25, &offset));
}

// A tensor that several boxes write, and one that reads it: read from the sources it is the same.
static void flattens_like_two_moves(void **unused)
{
    enum { ROWS = 24, SOURCES = 3, LONGEST = 33, SPACE = 3 * ROWS * LONGEST };
    static int sources[SOURCES][SPACE], between[ROWS * LONGEST], want[SPACE], got[SPACE];
    tn_heap heap;
    int flattened = 0;
    (void)unused;
    state = 5;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (int i = 0; i < SOURCES * SPACE; i++) {
        sources[i / SPACE][i % SPACE] = i + 1;
    }
    for (int round = 0; round < 3000; round++) {
        tn_region boxes[ROWS], out[ROWS], c = {.rank = 2};
        tn_regions p = {.regions = boxes};
        tn_arena arena;
        const int64_t length = draw(14, LONGEST), rows = draw(2, ROWS);
        for (int64_t at = 0; at < rows; p.count++) {
            const int64_t n = draw(1, rows - at), step = draw(1, 2), gap = at + n == rows ? 1 : draw(1, 2);
            const int64_t taken = gap == 2 && (rows - at) % 2 == 0 ? (rows - at) / 2 : n;
            const bool woven = gap == 2 && taken * 2 == rows - at;
            // Either n rows one after another, or all that are left from two places in turns.
            for (int turn = 0; turn < 1 + woven; turn++) {
                tn_region *box = &boxes[p.count + turn];
                *box = (tn_region){.source = (int)draw(0, SOURCES - 1), .rank = 2, .sizes = {woven ? taken : n, length},
                                   .src_offset = draw(0, 3) * length, .dst_offset = (at + turn) * length, .src_strides = {step * length, 1},
                                   .dst_strides = {woven ? 2 * length : length, 1}};
            }
            p.count += woven;
            at = woven ? rows : at + n;
        }
        const int64_t first = draw(0, rows - 1), count = draw(1, rows - first), apart = draw(1, 3);
        c = (tn_region){.rank = 2, .sizes = {count, length}, .src_offset = first * length, .dst_offset = draw(0, 2) * length,
                        .src_strides = {length, 1}, .dst_strides = {apart * length, 1}};
        if (count % 2 == 0 && draw(0, 1)) {   // two halves in turns
            c = (tn_region){.rank = 3, .sizes = {count / 2, 2, length}, .src_offset = first * length,
                            .src_strides = {length, count / 2 * length, 1}, .dst_strides = {2 * length, length, 1}};
        }
        tn_arena_init(&arena, &heap);
        for (int i = 0; i < p.count; i++) {
            move(&boxes[i], sources[boxes[i].source], SPACE, between, rows * length);
        }
        tn_region plain = c;
        tn_region_simplify(&plain);
        const int n = tn_region_flatten(&plain, &p, rows * length, out, ROWS, &arena);
        assert_int_equal(n > 0, length >= 16);   // short rows are left as they are
        memset(want, 0, sizeof want);
        memset(got, 0, sizeof got);
        move(&c, between, rows * length, want, SPACE);
        for (int i = 0; i < n; i++) {
            move(&out[i], sources[out[i].source], SPACE, got, SPACE);
        }
        assert_true(n == 0 || memcmp(want, got, sizeof want) == 0);
        assert_int_equal(tn_region_flatten(&plain, &p, rows * length, out, 0, &arena), 0);
        flattened += n > 0;
        tn_arena_deinit(&arena);
    }
    assert_true(flattened > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(composes_like_two_moves), cmocka_unit_test(simplify_merges_dense_dims),
                                       cmocka_unit_test(flattens_like_two_moves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
