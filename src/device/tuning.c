// SPDX-License-Identifier: Apache-2.0
// The generator is SplitMix64 (G. Steele et al., "Fast Splittable Pseudorandom Number Generators", 2014): one word of state, any seed.
// Ownership: see the header. Threads: see the header.
#include "device/tuning.h"

#include "base/macros.h"
#include "sys/clock.h"

#include <math.h>
#include <string.h>

#define WARMTH 0.3     // how much slower, as a share, a place may be that is still taken one time in e at the beginning

void tn_annealing_begin(tn_annealing *a, uint64_t until)
{
    a->begin = tn_clock_ns();
    a->until = until;
}

bool tn_annealing_over(const tn_annealing *a) { return tn_clock_ns() >= a->until; }

uint64_t tn_annealing_random(tn_annealing *a)
{
    uint64_t z = a->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

bool tn_annealing_moves(tn_annealing *a, double ns, double now)
{
    const double left = 1 - (double)(tn_clock_ns() - a->begin) / (double)(a->until - a->begin + 1);
    const double chance = (double)(tn_annealing_random(a) >> 11) / 9007199254740992.0;
    return ns < now || chance < exp(-(ns / now - 1) / (WARMTH * TN_MAX(left, 0.01)));
}

bool tn_table_line(const char **at, const char *end, char *line, size_t room)
{
    if (*at >= end) {
        return false;
    }
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    stop = stop ? stop : end;
    const size_t length = TN_MIN((size_t)(stop - *at), room - 1);
    memcpy(line, *at, length);
    line[length] = 0;
    *at = stop + 1;
    return true;
}

bool tn_table_named(const char *line, const char *word, const char **value)
{
    const size_t length = strlen(word);
    const bool named = strncmp(line, word, length) == 0 && line[length] == ' ';
    *value = named ? line + length + 1 : "";
    return named;
}
