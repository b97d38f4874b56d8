// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef HAP_MEM_H
#define HAP_MEM_H

typedef unsigned long long uint64;

int HAP_mmap_get(int fd, void **vaddr, uint64 *paddr);
int HAP_mmap_put(int fd);

#endif
