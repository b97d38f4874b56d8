// SPDX-License-Identifier: Apache-2.0
// What the two files for user emulation know of each other: system calls on one side, the control page on the other.
// Ownership: static state of the one process. Threads: any.
#ifndef TN_HX_OS_QEMU_H
#define TN_HX_OS_QEMU_H

#include "exec/hexagon/dsp/os.h"

long tn_hx_syscall(long a, long b, long c, long d, long e, long f, long number);
long tn_hx_call(long number, long a, long b, long c, long d, long e, long f);
void tn_hx_exit(int status) __attribute__((noreturn));
void *tn_hx_mmap(size_t bytes, int flags, int fd);   // NULL when refused
void tn_hx_munmap(void *at, size_t bytes);

int tn_hx_link_open(int page, int socket);           // 0: not a control page of this protocol
void tn_hx_crash(int signal, uint32_t pc, uint32_t address, uint32_t node, uint32_t call, uint32_t graph);

#endif
