// SPDX-License-Identifier: Apache-2.0
// The loops of hx_planar.c: 128 results of one channel a round, for each way of requantisation. Scheduled by hand, or rather by a search: a
// round is spread over several, so that the multipliers, two products a packet or one of 32 by 16 bits, are never idle. The compiler
// cannot do that with so little room. There is no run-in: the first `rounds in flight - 1` rounds store what was in the registers before.
//
//   void tn_hx_planar_...(const tn_hx_planar_job *job)
//
//   r0..r5   the three rows, each as it is and two pixels on      v0  start or bias         v2, v3  clamp
//   r8..r13  weights                                              v1  multiplier            v4..v7  of the way
//   r7, r14, r6: shift, lower half of the multiplier (31), down   r15 results
//
// All registers are of those that a function may leave changed.
    .text

    .macro begin loop
    { r1 = memw(r0 + #24)
      r2 = memw(r0 + #28) }
    { v0 = vsplat(r1)
      v1 = vsplat(r2)
      r3 = memw(r0 + #44)
      r4 = memw(r0 + #48) }
    { v2 = vsplat(r3)
      v3 = vsplat(r4)
      r15 = memw(r0 + #80)
      r28 = memw(r0 + #76) }
    { r9:8 = memd(r0 + #0)
      r11:10 = memd(r0 + #8) }
    { r13:12 = memd(r0 + #16)
      r14 = memw(r0 + #32) }
    { r7 = memw(r0 + #36)
      r6 = memw(r0 + #40) }
    { r5 = memw(r0 + #72)
      r0 = memw(r0 + #68) }
    { r2 = add(r0, r5)
      r1 = add(r0, #2)
      loop0(\loop, r28) }
    { r4 = add(r2, r5)
      r3 = add(r2, #2) }
    { r5 = add(r4, #2) }
    .endm

// As a line, see hx_line.h.
    .globl tn_hx_planar_line
    .type tn_hx_planar_line, @function
    .p2align 4
tn_hx_planar_line:
    begin line_loop
line_loop:
    { v15 = vmemu(r5++#1)
      v14.w = vasl(v14.w,r7)
      v5.w += vmpyo(v17.w,v1.h):<<1:rnd:sat:shift }
    { v12 = vmemu(r2++#1)
      v18.w += vrmpy(v19.ub,r12.b)
      v16.w += vrmpy(v19.ub,r13.b) }
    { v14 = vmemu(r1++#1)
      v9.w = vadd(v14.w,v0.w)
      v7.w += vmpyo(v9.w,v1.h):<<1:rnd:sat:shift }
    { v19 = vmemu(r3++#1)
      v18.w = vasl(v18.w,r7)
      v4.w += vmpyo(v10.w,v1.h):<<1:rnd:sat:shift }
    { v10.w = vadd(v18.w,v0.w)
      v16.w = vasl(v16.w,r7)
      v6.w += vmpyo(v11.w,v1.h):<<1:rnd:sat:shift }
    { v14.w = vrmpy(v14.ub,r9.b)
      v8.w = vrmpy(v14.ub,r8.b)
      v17.w = vadd(v8.w,v0.w)
      v11.w = vadd(v16.w,v0.w) }
    { v8.w += vrmpy(v19.ub,r10.b)
      v14.w += vrmpy(v19.ub,r11.b)
      v16.h = vshuffo(v9.h,v11.h)
      v18.h = vshuffo(v17.h,v10.h) }
    { v19 = vmemu(r4++#1)
      v7:6.w = vmpy(v16.h,r14.h)
      v16.h = vshuffo(v7.h,v6.h) }
    { v5:4.w = vmpy(v18.h,r14.h)
      v18.h = vshuffo(v5.h,v4.h)
      v13.ub = vmin(v13.ub,v3.ub)
      vmem(r15++#1) = v13.new }
    { v13 = vmemu(r0++#1)
      v14.w += vrmpy(v15.ub,r13.b)
      v8.w += vrmpy(v15.ub,r12.b) }
    { v18.w = vrmpy(v13.ub,r8.b)
      v16.w = vrmpy(v13.ub,r9.b)
      v13.ub = vasr(v16.h,v18.h,r6):sat }
    { v16.w += vrmpy(v12.ub,r11.b)
      v18.w += vrmpy(v12.ub,r10.b)
      v8.w = vasl(v8.w,r7)
      v13.ub = vmax(v13.ub,v2.ub) } :endloop0
    { jumpr r31 }
    .size tn_hx_planar_line, . - tn_hx_planar_line

// As a line with a gap.
    .globl tn_hx_planar_even_line
    .type tn_hx_planar_even_line, @function
    .p2align 4
tn_hx_planar_even_line:
    { r1 = memw(r0 + #52)
      r2 = memw(r0 + #56) }
    { v4 = vsplat(r1)
      v5 = vsplat(r2)
      r3 = memw(r0 + #60)
      r4 = #-1 }
    { v6 = vsplat(r3)
      v7 = vsplat(r4) }
    begin even_line_loop
even_line_loop:
    { v13.w += vrmpy(v16.ub,r11.b)
      v12.w += vrmpy(v16.ub,r10.b)
      v16.h = vshuffo(v11.h,v10.h)
      v22.h = vshuffe(v11.h,v10.h) }
    { v18.w = vasl(v18.w,r7)
      v9.w += vmpyo(v15.w,v1.h):<<1:rnd:sat:shift
      v11 = vand(v16,v6) }
    { v12.w += vrmpy(v19.ub,r12.b)
      v13.w += vrmpy(v19.ub,r13.b)
      v14.w = vasl(v14.w,r7)
      v21.w = vadd(v18.w,v0.w) }
    { v10 = vmemu(r0++#1)
      v15.w = vadd(v14.w,v0.w)
      v8.w += vmpyo(v20.w,v1.h):<<1:rnd:sat:shift }
    { v11 = vmemu(r1++#1)
      v13.w = vasl(v13.w,r7)
      q1 = vcmp.eq(v11.h,v5.h) }
    { v18.w = vrmpy(v11.ub,r9.b)
      v14.w = vrmpy(v11.ub,r8.b)
      v19 = vmemu(r4++#1) }
    { v12.w = vasl(v12.w,r7)
      v23.w = vadd(v13.w,v0.w)
      v24.h = vshuffo(v9.h,v8.h)
      v25.h = vshuffe(v9.h,v8.h) }
    { v13.w = vrmpy(v10.ub,r9.b)
      v12.w = vrmpy(v10.ub,r8.b)
      v20.w = vadd(v12.w,v0.w)
      v8.h = vshuffo(v21.h,v23.h) }
    { v8.h = vshuffo(v15.h,v20.h)
      v11:10.w = vmpy(v8.h,r14.h)
      v9 = vand(v24,v6) }
    { q0 = vcmp.eq(v9.h,v5.h)
      q1 &= vcmp.gt(v4.uh,v22.uh)
      v17.ub = vmax(v17.ub,v2.ub) }
    { v22 = vmemu(r3++#1)
      v9:8.w = vmpy(v8.h,r14.h)
      if (q1) v16.h += v7.h }
    { v11.w += vmpyo(v21.w,v1.h):<<1:rnd:sat:shift
      q0 &= vcmp.gt(v4.uh,v25.uh)
      v17.ub = vmin(v17.ub,v3.ub)
      vmem(r15++#1) = v17.new }
    { v18.w += vrmpy(v22.ub,r11.b)
      v14.w += vrmpy(v22.ub,r10.b)
      if (q0) v24.h += v7.h }
    { v16 = vmemu(r5++#1)
      v10.w += vmpyo(v23.w,v1.h):<<1:rnd:sat:shift
      v17.ub = vasr(v16.h,v24.h,r6):sat }
    { v14.w += vrmpy(v16.ub,r12.b)
      v16 = vmemu(r2++#1)
      v18.w += vrmpy(v16.ub,r13.b) } :endloop0
    { jumpr r31 }
    .size tn_hx_planar_even_line, . - tn_hx_planar_even_line

// fixed_q31 by its definition.
    .globl tn_hx_planar_q31
    .type tn_hx_planar_q31, @function
    .p2align 4
tn_hx_planar_q31:
    { r1 = memw(r0 + #64) }
    { v4 = vsplat(r1) }
    begin q31_loop
q31_loop:
    { v5.w += vrmpy(v16.ub,r10.b)
      v6.w += vrmpy(v15.ub,r12.b)
      v11.w = vadd(v11.w,v0.w)
      v9.h = vasr(v9.w,v13.w,r7):rnd:sat }
    { v8.w = vmpye(v11.w,v1.uh)
      v9.h = vadd(v9.h,v4.h):sat }
    { v7 = vmemu(r3++#1)
      v5.w += vrmpy(v10.ub,r12.b)
      v12.w += vrmpy(v15.ub,r13.b) }
    { v6.w = vadd(v6.w,v0.w)
      v8.w += vmpyo(v11.w,v1.h):<<1:rnd:sat:shift
      v10.ub = vsat(v14.h,v9.h) }
    { v5.w = vadd(v5.w,v0.w)
      v12.w = vadd(v12.w,v0.w)
      v9.w = vmpye(v6.w,v1.uh) }
    { v14.w = vmpye(v12.w,v1.uh)
      v8.w += vasr(v8.w,r14)
      v10.ub = vmax(v10.ub,v2.ub) }
    { v14.w += vmpyo(v12.w,v1.h):<<1:rnd:sat:shift
      v10.ub = vmin(v10.ub,v3.ub)
      vmem(r15++#1) = v10.new }
    { v10 = vmemu(r4++#1)
      v13.w = vmpye(v5.w,v1.uh) }
    { v5 = vmemu(r0++#1)
      v13.w += vmpyo(v5.w,v1.h):<<1:rnd:sat:shift
      v14.w += vasr(v14.w,r14) }
    { v11.w = vrmpy(v5.ub,r9.b)
      v12 = vmemu(r1++#1)
      v5.w = vrmpy(v5.ub,r8.b) }
    { v16 = vmemu(r2++#1)
      v9.w += vmpyo(v6.w,v1.h):<<1:rnd:sat:shift
      v13.w += vasr(v13.w,r14) }
    { v6.w = vrmpy(v12.ub,r8.b)
      v11.w += vrmpy(v16.ub,r11.b)
      v15 = vmemu(r5++#1) }
    { v12.w = vrmpy(v12.ub,r9.b)
      v11.w += vrmpy(v10.ub,r13.b)
      v14.h = vasr(v14.w,v8.w,r7):rnd:sat }
    { v12.w += vrmpy(v7.ub,r11.b)
      v6.w += vrmpy(v7.ub,r10.b)
      v14.h = vadd(v14.h,v4.h):sat
      v9.w += vasr(v9.w,r14) } :endloop0
    { jumpr r31 }
    .size tn_hx_planar_q31, . - tn_hx_planar_q31
