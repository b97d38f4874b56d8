// SPDX-License-Identifier: Apache-2.0
// The store of packed weights: a large constant is packed by shares whose source is given up at once, so that it never lies in memory
// twice; what is packed is the same however it was cut, and is made once.
#include "support/unit.h"

#include "plan/weights.h"

#include <string.h>

#define PARTS 37
#define FLOATS ((int64_t)12 << 20)      // 48 MiB: several shares

static const char *const no_name = "weights";

typedef struct sight {
    const char *source;
    size_t size;
    size_t given_up;       // bytes from the first on
    size_t calls, largest;
    bool contiguous;
} sight;

// One more than the source: a part that is left out shows.
static void pack_part(void *dst, const tn_query *query, const void *params, int64_t part)
{
    (void)params;
    const float *from = query->in[0]->data;
    float *to = dst;
    const int64_t first = FLOATS / PARTS * part, end = part + 1 < PARTS ? first + FLOATS / PARTS : FLOATS;
    for (int64_t i = first; i < end; i++) {
        to[i] = from[i] + 1.0f;
    }
}

static void pack_all(void *dst, const tn_query *query, const void *params)
{
    for (int64_t part = 0; part < PARTS; part++) {
        pack_part(dst, query, params, part);
    }
}

static void give_up(void *context, const void *data, size_t bytes)
{
    sight *s = context;
    const size_t at = (size_t)((const char *)data - s->source);
    s->contiguous = s->contiguous && at <= s->given_up && at + bytes <= s->size;
    s->given_up = at + bytes > s->given_up ? at + bytes : s->given_up;
    s->calls++;
    if (s->given_up < s->size) {
        s->largest = bytes > s->largest ? bytes : s->largest;
    }
}

typedef struct fixture {
    tn_heap heap;
    tn_weights weights;
    tn_workers *workers;
    tn_tensor source;
    const tn_tensor *in[1];
    tn_query query;
    sight sight;
    tn_diag diag;
} fixture;

static void open_fixture(fixture *f, unsigned threads)
{
    memset(f, 0, sizeof *f);
    tn_heap_init(&f->heap, NULL, NULL, NULL);
    assert_int_equal(tn_weights_init(&f->weights, &f->heap, &f->diag), TN_OK);
    assert_int_equal(tn_workers_create(&f->workers, &f->heap, threads, NULL, &f->diag), TN_OK);
    f->source = (tn_tensor){.dtype = TN_F32, .shape = {1, {FLOATS}}};
    f->source.data = tn_take(&f->heap, (size_t)FLOATS * sizeof(float));
    assert_non_null(f->source.data);
    for (int64_t i = 0; i < FLOATS; i++) {
        ((float *)f->source.data)[i] = (float)(i % 1000003);
    }
    f->in[0] = &f->source;
    f->query = (tn_query){.name = no_name, .n_in = 1, .in = f->in};
    f->sight = (sight){.source = f->source.data, .size = (size_t)FLOATS * sizeof(float), .contiguous = true};
    f->weights.packed = give_up;
    f->weights.context = &f->sight;
}

static void close_fixture(fixture *f)
{
    tn_give(&f->heap, f->source.data);
    tn_workers_destroy(f->workers);
    tn_weights_deinit(&f->weights);
    assert_int_equal(atomic_load(&f->heap.live_blocks), 0);
}

static tn_pack pack_of(bool in_order)
{
    return (tn_pack){.id = "test", .bytes = (size_t)FLOATS * sizeof(float), .pack = pack_all, .part = pack_part, .parts = PARTS, .in_order = in_order};
}

static void check_packed(const tn_packed *packed)
{
    const float *data = packed->data;
    for (int64_t i = 0; i < FLOATS; i += 997) {
        assert_true(data[i] == (float)(i % 1000003) + 1.0f);
    }
    assert_true(data[FLOATS - 1] == (float)((FLOATS - 1) % 1000003) + 1.0f);
}

static void source_goes_by_shares(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        fixture f;
        tn_packed *packed;
        const tn_pack pack = pack_of(true);
        open_fixture(&f, threads);
        assert_int_equal(tn_weights_take(&f.weights, &pack, &f.query, NULL, true, f.workers, &packed, &f.diag), TN_OK);
        check_packed(packed);
        assert_true(f.sight.contiguous);
        assert_int_equal(f.sight.given_up, f.sight.size);
        assert_true(f.sight.calls > 3 && f.sight.largest > 0 && f.sight.largest <= f.sight.size / 3);
        tn_weights_give(&f.weights, packed);
        close_fixture(&f);
    }
}

// Parts that each read all of it would fetch the pages again for each share.
static void others_go_at_the_end(void **state)
{
    (void)state;
    fixture f;
    tn_packed *packed, *again;
    const tn_pack pack = pack_of(false);
    open_fixture(&f, 2);
    assert_int_equal(tn_weights_take(&f.weights, &pack, &f.query, NULL, true, f.workers, &packed, &f.diag), TN_OK);
    assert_int_equal(f.sight.calls, 1);
    assert_int_equal(f.sight.given_up, f.sight.size);
    assert_int_equal(tn_weights_take(&f.weights, &pack, &f.query, NULL, true, f.workers, &again, &f.diag), TN_OK);
    assert_ptr_equal(packed, again);
    assert_int_equal(f.weights.made, 1);
    tn_weights_give(&f.weights, again);
    tn_weights_give(&f.weights, packed);
    close_fixture(&f);
}

// A constant of the plan alone is not the file's.
static void unshared_is_kept(void **state)
{
    (void)state;
    fixture f;
    tn_packed *packed;
    const tn_pack pack = pack_of(true);
    open_fixture(&f, 1);
    assert_int_equal(tn_weights_take(&f.weights, &pack, &f.query, NULL, false, f.workers, &packed, &f.diag), TN_OK);
    check_packed(packed);
    assert_int_equal(f.sight.calls, 0);
    tn_weights_give(&f.weights, packed);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_goes_by_shares),
        cmocka_unit_test(others_go_at_the_end),
        cmocka_unit_test(unshared_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
