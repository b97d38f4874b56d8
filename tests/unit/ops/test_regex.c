// SPDX-License-Identifier: Apache-2.0
// The regular expressions: what matches, what is refused, that hostile patterns end soon, and that memory may fail at any request.
#include "support/unit.h"

#include "base/macros.h"
#include "ops/text/regex.h"

#include <string.h>

// -1: refused
static int match(tn_heap *heap, const char *pattern, const char *text)
{
    const char *fault;
    tn_regex *regex = tn_regex_compile(pattern, heap, &fault);
    const int result = regex ? tn_regex_full_match(regex, text, strlen(text), NULL) : -1;
    tn_regex_free(regex);
    return result;
}

static const struct { const char *pattern, *text; int match; } cases[] = {
    {"", "", 1}, {"", "a", 0}, {"abc", "abc", 1}, {"abc", "abcd", 0}, {"a|bc", "bc", 1}, {"(a|b)*c", "ababc", 1},
    {"a{2,3}", "aa", 1}, {"a{2,3}", "aaaa", 0}, {"a{2,}", "aaaaa", 1}, {"a{0}", "", 1}, {"a{,2}", "a{,2}", 1}, {"x+?y??", "xx", 1},
    {"[a-c]+", "abc", 1}, {"[^a-c]+", "abc", 0}, {"[]a]+", "]a", 1}, {"[\\d\\-]+", "1-2", 1}, {"[^\\D]", "7", 1},
    {"[[:alpha:]_]+", "ab_", 1}, {"[[:^digit:]]", "1", 0}, {".", "\n", 0}, {"(?s).", "\n", 1}, {".", "\xc3\xa4", 1},
    {"(?i)stra\xc3\x9f""e", "STRa\xc3\x9f""E", 1}, {"(?i:A)b", "ab", 1}, {"(?i:A)b", "aB", 0}, {"(?i)\xc3\xa4", "\xc3\x84", 1},
    {"^a$", "a", 1}, {"a\\b.b", "a b", 1}, {"a\\Bb", "ab", 1}, {"(?m)a$.^b", "a\nb", 0}, {"(?ms)a$.^b", "a\nb", 1},
    {"\\Qa.b\\E+", "a.bb", 1}, {"\\x61\\x{62}\\143", "abc", 1}, {"(?P<n>a)(?<m>b)", "ab", 1}, {"(?:a*)*b", "aaab", 1},
    {"a\\", "", -1}, {"(a", "", -1}, {"a)", "", -1}, {"[a", "", -1}, {"[b-a]", "", -1}, {"a**", "", -1}, {"*a", "", -1},
    {"a{2,1}", "", -1}, {"a{1001}", "", -1}, {"(?=a)", "", -1}, {"(?<=a)b", "", -1}, {"\\pL", "", -1}, {"(?z)", "", -1}, {"\\8", "", -1},
};

static void test_cases(void **state)
{
    tn_heap heap;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (size_t i = 0; i < TN_COUNT(cases); i++) {
        if (match(&heap, cases[i].pattern, cases[i].text) != cases[i].match) {
            fail_msg("%s on %s is not %d", cases[i].pattern, cases[i].text, cases[i].match);
        }
    }
    assert_int_equal(heap.live_blocks, 0);
}

// Backtracking would take time that doubles with each letter, and nested counts would fill any memory.
static void test_hostile(void **state)
{
    tn_heap heap;
    char text[2001], deep[2001];
    tn_heap_init(&heap, NULL, NULL, NULL);
    memset(text, 'a', sizeof text - 1);
    memset(deep, '(', sizeof deep - 1);
    text[sizeof text - 1] = deep[sizeof deep - 1] = 0;
    assert_int_equal(match(&heap, "(a*)*(a*)*(a|aa)+b", text), 0);
    assert_int_equal(match(&heap, "((a{1000}){1000}){1000}", text), -1);
    assert_int_equal(match(&heap, "(((){1000}){1000}){1000}", text), -1);
    assert_int_equal(match(&heap, deep, text), -1);
    assert_int_equal(heap.live_blocks, 0);
}

static bool attempt(tn_heap *heap, void *context)
{
    return match(heap, "(a|[b-d]{2,3})*\\bx", "abbx") >= 0;
}

static void test_no_memory(void **state)
{
    assert_true(tn_fail_every_request(attempt, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_hostile), cmocka_unit_test(test_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
