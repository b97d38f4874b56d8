// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef HAP_FARF_H
#define HAP_FARF_H

void HAP_debug(const char *text, int level, const char *file, int line, ...);
#define FARF(level, ...) HAP_debug(__FILE__, 0, __FILE__, __LINE__, __VA_ARGS__)

#endif
