// SPDX-License-Identifier: Apache-2.0
// Entry under Linux user emulation: aligns the stack for HVX spills, makes system calls, starts threads, returns from signals.
    .text
    .globl _start
    .type _start, @function
_start:
    { r0 = r29 }
    { r29 = and(r29, #-128) }
    { r30 = #0
      r31 = #0 }
    { call tn_hx_start }
    .size _start, . - _start

// long tn_hx_syscall(a0, a1, a2, a3, a4, a5 in r0..r5, number on the stack)
    .globl tn_hx_syscall
    .type tn_hx_syscall, @function
tn_hx_syscall:
    { r6 = memw(r29 + #0) }
    { trap0(#1) }
    { jumpr r31 }
    .size tn_hx_syscall, . - tn_hx_syscall

// int tn_hx_clone(flags, stack top, ptid, ctid, tls): the new thread begins with two words on its stack, argument and function. It must
// not return on its parent's frame, hence assembly.
    .globl tn_hx_clone
    .type tn_hx_clone, @function
tn_hx_clone:
    { r6 = #220 }
    { trap0(#1) }
    { p0 = cmp.eq(r0, #0) }
    { if (!p0) jumpr r31 }
    { r0 = memw(r29 + #0)
      r1 = memw(r29 + #4) }
    { r29 = and(r29, #-128) }
    { r30 = #0
      r31 = #0 }
    { callr r1 }
    { r0 = #0
      r6 = #93 }
    { trap0(#1) }
    .size tn_hx_clone, . - tn_hx_clone
