// SPDX-License-Identifier: Apache-2.0
// Processor facts are usable on any machine, and levels mask what they should.
#include "support/unit.h"
#include "sys/cpu.h"

static void test_detect_fills_everything(void **state)
{
    tn_cpu cpu;
    tn_cpu_detect(&cpu);
    assert_true(cpu.cores >= 1);
    assert_true(cpu.l1d >= 4096 && cpu.l2 >= cpu.l1d && cpu.l3 > 0);
    assert_true(cpu.name[0] != 0);
    if (cpu.features & TN_CPU_VNNI) {
        assert_true(cpu.features & TN_CPU_AVX512);
    }
    if (cpu.features & TN_CPU_AVX512) {
        assert_true(cpu.features & TN_CPU_AVX2);
    }
}

static void test_levels(void **state)
{
    int known = 0;
    assert_true(tn_cpu_mask(NULL, &known) == UINT32_MAX && known);
    assert_true(tn_cpu_mask("portable", &known) == 0 && known);
    assert_true(tn_cpu_mask("avx2", &known) == TN_CPU_AVX2 && known);
    assert_true(tn_cpu_mask("vnni", &known) == (TN_CPU_AVX2 | TN_CPU_AVX512 | TN_CPU_VNNI) && known);
    assert_true(tn_cpu_mask("amx", &known) == (TN_CPU_AVX2 | TN_CPU_AVX512 | TN_CPU_VNNI | TN_CPU_AVX512BF16 | TN_CPU_AMX) && known);
    assert_true(tn_cpu_mask("dotprod", &known) == (TN_CPU_NEON | TN_CPU_DOTPROD) && known);
    assert_true(tn_cpu_mask("AVX2", &known) == 0 && !known);
}

// Tiles come with what their rows need beside them; a permission takes nothing else away, and asking again changes nothing.
static void test_tiles(void **state)
{
    tn_cpu cpu;
    tn_cpu_detect(&cpu);
    assert_true(!(cpu.features & TN_CPU_AMX) || (cpu.features & TN_CPU_AVX512BF16));
    const uint32_t permitted = tn_cpu_permit(cpu.features);
    assert_true((permitted | TN_CPU_AMX) == (cpu.features | TN_CPU_AMX) && (permitted & cpu.features) == permitted);
    assert_true(tn_cpu_permit(permitted) == permitted && tn_cpu_permit(0) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detect_fills_everything),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
