// SPDX-License-Identifier: Apache-2.0
// How tiles are shared out among threads.
#include "kernels/gemm/tile.h"
#include "support/unit.h"

static int64_t longest_share(int64_t item, int64_t tiles, int64_t times, int64_t threads)
{
    return tn_tile_cuts(tn_tile_cuts(tiles, item) * times, threads) * item;
}

static void test_few_items_are_equal(void **state)
{
    assert_int_equal(tn_tile_item(280.0, 15, 1, 2), 4);     // four, not three of 7
    assert_int_equal(tn_tile_item(280.0, 30, 1, 2), 5);     // six, not five of 7
    assert_int_equal(tn_tile_item(1000.0, 3, 1, 2), 2);
    assert_int_equal(tn_tile_item(1000.0, 1, 9, 2), 1);
    assert_int_equal(tn_tile_item(10.0, 100, 1, 2), 100);   // too little to share
    assert_int_equal(tn_tile_item(10000.0, 100, 1, 2), 4);  // many: as long as is worth it
}

static void test_one_thread_has_longer_ones(void **state)
{
    assert_int_equal(tn_tile_item(280.0, 15, 1, 1), 14);
    assert_int_equal(tn_tile_item(1000.0, 100, 1, 1), 16);
}

static void test_shares_of_any_work(void **state)
{
    for (int64_t tiles = 1; tiles < 80; tiles++) {
        for (int64_t times = 1; times < 12; times++) {
            for (unsigned threads = 2; threads < 9; threads++) {
                const int64_t item = tn_tile_item(2500.0, tiles, times, threads);
                assert_true(item >= 1 && item <= tiles);
                const int64_t share = longest_share(item, tiles, times, threads);
                assert_true(share <= longest_share(item + 1, tiles, times, threads) || tn_tile_cuts(tiles, item) * times >= 6 * (int64_t)threads);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_items_are_equal),
        cmocka_unit_test(test_one_thread_has_longer_ones),
        cmocka_unit_test(test_shares_of_any_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
