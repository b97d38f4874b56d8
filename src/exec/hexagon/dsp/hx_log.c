// SPDX-License-Identifier: Apache-2.0
// Lines for the log ring; no formatting library is worth linking for a text and a number.
// Ownership: none. Threads: the serving thread.
#include "exec/hexagon/dsp/hx_log.h"

#include "exec/hexagon/dsp/os.h"

uint32_t tn_hx_log_level = 1;

void tn_hx_log(uint32_t level, const char *text, uint32_t number)
{
    if (level > tn_hx_log_level) {
        return;
    }
    char line[80];
    uint32_t n = 0;
    for (; text[n] && n < 60; n++) {
        line[n] = text[n];
    }
    line[n++] = ' ';
    char digits[10];
    uint32_t m = 0;
    do {
        digits[m++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (m) {
        line[n++] = digits[--m];
    }
    line[n++] = '\n';
    tn_hx_link_table.log(line, n);
}
