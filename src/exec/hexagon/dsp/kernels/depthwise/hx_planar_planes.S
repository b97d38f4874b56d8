// SPDX-License-Identifier: Apache-2.0
// The loops of hx_planar.c over channels of small images: 128 results of one channel a round, which loads its constants itself. Found by a
// search (an integer program: packets, units, lives of registers) as the shortest that keep the multipliers busy: 3 x 3 has twelve packets of
// products and requantisation and half a packet for each constant that is spread over a vector. A round is spread over four or five; there
// is no run-in: the first rounds store what was in the registers before.
//
//   void tn_hx_planar_planes_...(const tn_hx_planar_batch *batch)
//
//   r0..r5, r22..r25   rows, each as it is and four pixels on     v0, v1  clamp
//   r7                 records; r8..r21, r26 hold one             v2, v3, v4  of a gap: odd, bits, -1
//   r6                 down                                       r28     results
//
// Products with a pair of vectors slide: of words abcd and efgh, #0 sums abcd and cdef, #1 bcde and defg. The fifth tap is one with words
// efgh alone, whose other weights are 0: the second vector of that pair does not count.
    .text

// 3 x 3, as a line: see hx_line.h.
    .globl tn_hx_planar_planes_3_line
    .type tn_hx_planar_planes_3_line, @function
    .p2align 4
tn_hx_planar_planes_3_line:
    { r1 = memw(r0 + #24)
      r6 = memw(r0 + #28) }
    { v0 = vmem(r1 + #0)
      r2 = memw(r0 + #8) }
    { v1 = vmem(r1 + #1)
      r3 = memw(r0 + #12) }
    { m0 = r2
      r7 = memw(r0 + #16)
      r28 = memw(r0 + #20) }
    { loop0(planes_3_line_loop, r3)
      r7 = add(r7, #-24)
      r5 = memw(r0 + #4) }
    { r0 = memw(r0 + #0) }
    { r2 = add(r0, r5)
      r1 = add(r0, #4) }
    { r4 = add(r2, r5)
      r3 = add(r2, #4) }
    { r5 = add(r4, #4) }
planes_3_line_loop:
    { r11:10 = memd(r7++#8)
      v13:12.w = vmpy(v11.h,r11.h)
      v11.ub = vmin(v12.ub,v1.ub)
      vmem(r28++m0) = v11.new }
    { r13:12 = memd(r7++#8)
      v13.w += vmpyo(v10.w,v15.h):<<1:rnd:sat:shift }
    { r15:14 = memd(r7++#8)
      v5:4.w += vrmpy(v7:6.ub,r10.b,#1) }
    { v10 = vmemu(r0++m0)
      v20.w = vasl(v5.w,r14)
      v12.w += vmpyo(v17.w,v15.h):<<1:rnd:sat:shift }
    { r9:8 = memd(r7++#8)
      v9.w += vmpyo(v19.w,v15.h):<<1:rnd:sat:shift
      v14.h = vshuffo(v13.h,v12.h)
      v12.ub = vasr(v14.h,v16.h,r6):sat }
    { v11 = vmemu(r1++m0)
      v8.w += vmpyo(v18.w,v15.h):<<1:rnd:sat:shift
      v12.ub = vmax(v12.ub,v0.ub) }
    { v8 = vsplat(r12)
      v15 = vsplat(r13)
      v16.h = vshuffo(v9.h,v8.h)
      v4.w = vasl(v4.w,r14) }
    { v6 = vmemu(r2++m0)
      v3:2.w += vrmpy(v7:6.ub,r10.b,#0)
      v17.w = vadd(v4.w,v8.w) }
    { v7 = vmemu(r3++m0)
      v5:4.w = vrmpy(v11:10.ub,r8.b,#1)
      v9.w = vasl(v3.w,r14) }
    { v3:2.w = vrmpy(v11:10.ub,r8.b,#0)
      v9.w = vasl(v2.w,r14)
      v19.w = vadd(v9.w,v8.w) }
    { v5:4.w += vrmpy(v7:6.ub,r9.b,#1)
      v18.w = vadd(v9.w,v8.w)
      v10.w = vadd(v20.w,v8.w) }
    { v6 = vmemu(r4++m0)
      v3:2.w += vrmpy(v7:6.ub,r9.b,#0)
      v8.h = vshuffo(v19.h,v18.h) }
    { v7 = vmemu(r5++m0)
      v9:8.w = vmpy(v8.h,r11.h)
      v11.h = vshuffo(v10.h,v17.h) } :endloop0
    { jumpr r31 }
    .size tn_hx_planar_planes_3_line, . - tn_hx_planar_planes_3_line

// 3 x 3, as a line with a gap.
    .globl tn_hx_planar_planes_3_even_line
    .type tn_hx_planar_planes_3_even_line, @function
    .p2align 4
tn_hx_planar_planes_3_even_line:
    { r1 = memw(r0 + #32)
      r2 = memw(r0 + #36) }
    { v2 = vsplat(r1)
      v3 = vsplat(r2)
      r1 = #-1 }
    { v4 = vsplat(r1) }
    { r1 = memw(r0 + #24)
      r6 = memw(r0 + #28) }
    { v0 = vmem(r1 + #0)
      r2 = memw(r0 + #8) }
    { v1 = vmem(r1 + #1)
      r3 = memw(r0 + #12) }
    { m0 = r2
      r7 = memw(r0 + #16)
      r28 = memw(r0 + #20) }
    { loop0(planes_3_even_line_loop, r3)
      r5 = memw(r0 + #4) }
    { r0 = memw(r0 + #0) }
    { r2 = add(r0, r5)
      r1 = add(r0, #4) }
    { r4 = add(r2, r5)
      r3 = add(r2, #4) }
    { r5 = add(r4, #4) }
planes_3_even_line_loop:
    { v15.w = vasl(v12.w,r14)
      v6.w += vmpyo(v22.w,v19.h):<<1:rnd:sat:shift
      v16.ub = vmin(v15.ub,v1.ub)
      vmem(r28++m0) = v16.new }
    { v12 = vmemu(r0++m0)
      v16.w = vasl(v13.w,r14)
      v9.w += vmpyo(v21.w,v19.h):<<1:rnd:sat:shift }
    { v13 = vmemu(r1++m0)
      v17.w = vasl(v10.w,r14)
      v8.w += vmpyo(v18.w,v19.h):<<1:rnd:sat:shift }
    { r9:8 = memd(r7++#8)
      v7.w += vmpyo(v5.w,v19.h):<<1:rnd:sat:shift
      v18.w = vadd(v17.w,v14.w)
      v5.w = vasl(v11.w,r14) }
    { v22.w = vadd(v15.w,v14.w)
      v5.w = vadd(v16.w,v14.w)
      v21.w = vadd(v5.w,v14.w)
      v23.h = vshuffo(v9.h,v8.h) }
    { v19 = vsplat(r13)
      v24.h = vshuffo(v7.h,v6.h)
      v8.h = vshuffo(v21.h,v18.h)
      v16.h = vshuffe(v9.h,v8.h) }
    { v14 = vmemu(r2++m0)
      v10.h = vshuffo(v5.h,v22.h)
      v9:8.w = vmpy(v8.h,r11.h) }
    { r11:10 = memd(r7++#8)
      v7:6.w = vmpy(v10.h,r11.h)
      v26.h = vshuffe(v7.h,v6.h)
      v25 = vand(v23,v3) }
    { r13:12 = memd(r7++#8)
      v11:10.w = vrmpy(v13:12.ub,r8.b,#1)
      v27 = vand(v24,v3)
      q0 = vcmp.eq(v25.h,v2.h) }
    { v15 = vmemu(r3++m0)
      v13:12.w = vrmpy(v13:12.ub,r8.b,#0)
      q0 &= vcmp.gt(v20.uh,v16.uh) }
    { v16 = vmemu(r4++m0)
      v13:12.w += vrmpy(v15:14.ub,r9.b,#0)
      q1 = vcmp.eq(v27.h,v2.h) }
    { v17 = vmemu(r5++m0)
      v11:10.w += vrmpy(v15:14.ub,r9.b,#1)
      q1 &= vcmp.gt(v20.uh,v26.uh) }
    { v11:10.w += vrmpy(v17:16.ub,r10.b,#1)
      if (q1) v24.h += v4.h
      if (q0) v23.h += v4.h }
    { v13:12.w += vrmpy(v17:16.ub,r10.b,#0)
      v14.ub = vasr(v23.h,v24.h,r6):sat }
    { r15:14 = memd(r7++#8)
      v14 = vsplat(r12)
      v20 = vsplat(r15)
      v15.ub = vmax(v14.ub,v0.ub) } :endloop0
    { jumpr r31 }
    .size tn_hx_planar_planes_3_even_line, . - tn_hx_planar_planes_3_even_line

// 5 x 5, as a line.
    .globl tn_hx_planar_planes_5_line
    .type tn_hx_planar_planes_5_line, @function
    .p2align 4
tn_hx_planar_planes_5_line:
    { allocframe(#48) }
    { memd(r29 + #0) = r17:16
      memd(r29 + #8) = r19:18 }
    { memd(r29 + #16) = r21:20
      memd(r29 + #24) = r23:22 }
    { memd(r29 + #32) = r25:24
      memd(r29 + #40) = r27:26 }
    { r1 = memw(r0 + #24)
      r6 = memw(r0 + #28) }
    { v0 = vmem(r1 + #0)
      r2 = memw(r0 + #8) }
    { v1 = vmem(r1 + #1)
      r3 = memw(r0 + #12) }
    { m0 = r2
      r7 = memw(r0 + #16)
      r28 = memw(r0 + #20) }
    { loop0(planes_5_line_loop, r3)
      r7 = add(r7, #-16)
      r5 = memw(r0 + #4) }
    { r0 = memw(r0 + #0) }
    { r2 = add(r0, r5)
      r1 = add(r0, #4) }
    { r4 = add(r2, r5)
      r3 = add(r2, #4) }
    { r22 = add(r4, r5)
      r5 = add(r4, #4)
      r25 = r5 }
    { r24 = add(r22, r25)
      r23 = add(r22, #4) }
    { r25 = add(r24, #4) }
planes_5_line_loop:
    { v8.w += vmpyo(v21.w,v17.h):<<1:rnd:sat:shift
      v14.ub = vasr(v6.h,v15.h,r6):sat
      v6.ub = vmin(v19.ub,v1.ub)
      vmem(r28++m0) = v6.new }
    { v3:2.w += vrmpy(v11:10.ub,r12.b,#0)
      v6.h = vshuffo(v20.h,v18.h) }
    { r21:20 = memd(r7++#16)
      v10 = v11
      v7:6.w = vmpy(v6.h,r21.h) }
    { r9:8 = memd(r7++#8)
      v15.h = vshuffo(v9.h,v8.h)
      v7.w += vmpyo(v20.w,v17.h):<<1:rnd:sat:shift }
    { v8 = vmemu(r0++m0)
      v5:4.w += vrmpy(v11:10.ub,r17.b,#1) }
    { v9 = vmemu(r1++m0)
      v3:2.w += vrmpy(v11:10.ub,r17.b,#0)
      v13.w = vasl(v4.w,r20) }
    { r11:10 = memd(r7++#8)
      v5:4.w = vrmpy(v9:8.ub,r8.b,#1)
      v16.w = vasl(v5.w,r20) }
    { r13:12 = memd(r7++#8)
      v10 = v9
      v6.w += vmpyo(v18.w,v17.h):<<1:rnd:sat:shift }
    { r15:14 = memd(r7++#8)
      v5:4.w += vrmpy(v11:10.ub,r13.b,#1)
      v18.w = vasl(v3.w,r20) }
    { v8 = vmemu(r2++m0)
      v3:2.w = vrmpy(v9:8.ub,r8.b,#0)
      v20.w = vasl(v2.w,r20) }
    { v9 = vmemu(r3++m0)
      v3:2.w += vrmpy(v11:10.ub,r13.b,#0) }
    { r17:16 = memd(r7++#8)
      v3:2.w += vrmpy(v9:8.ub,r9.b,#0)
      v12 = v9 }
    { v3:2.w += vrmpy(v13:12.ub,r14.b,#0)
      v19.ub = vmax(v14.ub,v0.ub) }
    { v10 = vmemu(r4++m0)
      v5:4.w += vrmpy(v9:8.ub,r9.b,#1) }
    { v11 = vmemu(r5++m0)
      v5:4.w += vrmpy(v13:12.ub,r14.b,#1) }
    { v14 = v11
      v8 = vsplat(r18)
      v17 = vsplat(r19) }
    { v5:4.w += vrmpy(v11:10.ub,r10.b,#1)
      v21.w = vadd(v20.w,v8.w)
      v12.w = vadd(v18.w,v8.w) }
    { v5:4.w += vrmpy(v15:14.ub,r15.b,#1)
      v9.h = vshuffo(v12.h,v21.h)
      v20.w = vadd(v16.w,v8.w) }
    { v9:8.w = vmpy(v9.h,r21.h)
      v18.w = vadd(v13.w,v8.w) }
    { v12 = vmemu(r22++m0)
      v9.w += vmpyo(v12.w,v17.h):<<1:rnd:sat:shift }
    { v13 = vmemu(r23++m0)
      v3:2.w += vrmpy(v11:10.ub,r10.b,#0) }
    { v10 = vmemu(r24++m0)
      v16 = v13
      v5:4.w += vrmpy(v13:12.ub,r11.b,#1) }
    { v11 = vmemu(r25++m0)
      v5:4.w += vrmpy(v17:16.ub,r16.b,#1) }
    { v5:4.w += vrmpy(v11:10.ub,r12.b,#1) }
    { v3:2.w += vrmpy(v15:14.ub,r15.b,#0) }
    { v3:2.w += vrmpy(v13:12.ub,r11.b,#0)
      v6.h = vshuffo(v7.h,v6.h) }
    { r19:18 = memd(r7++#8)
      v3:2.w += vrmpy(v17:16.ub,r16.b,#0) } :endloop0
    { r17:16 = memd(r29 + #0)
      r19:18 = memd(r29 + #8) }
    { r21:20 = memd(r29 + #16)
      r23:22 = memd(r29 + #24) }
    { r25:24 = memd(r29 + #32)
      r27:26 = memd(r29 + #40) }
    { dealloc_return }
    .size tn_hx_planar_planes_5_line, . - tn_hx_planar_planes_5_line

// 5 x 5, as a line with a gap.
    .globl tn_hx_planar_planes_5_even_line
    .type tn_hx_planar_planes_5_even_line, @function
    .p2align 4
tn_hx_planar_planes_5_even_line:
    { allocframe(#48) }
    { memd(r29 + #0) = r17:16
      memd(r29 + #8) = r19:18 }
    { memd(r29 + #16) = r21:20
      memd(r29 + #24) = r23:22 }
    { memd(r29 + #32) = r25:24
      memd(r29 + #40) = r27:26 }
    { r1 = memw(r0 + #32)
      r2 = memw(r0 + #36) }
    { v2 = vsplat(r1)
      v3 = vsplat(r2)
      r1 = #-1 }
    { v4 = vsplat(r1) }
    { r1 = memw(r0 + #24)
      r6 = memw(r0 + #28) }
    { v0 = vmem(r1 + #0)
      r2 = memw(r0 + #8) }
    { v1 = vmem(r1 + #1)
      r3 = memw(r0 + #12) }
    { m0 = r2
      r7 = memw(r0 + #16)
      r28 = memw(r0 + #20) }
    { loop0(planes_5_even_line_loop, r3)
      r7 = add(r7, #-16)
      r5 = memw(r0 + #4) }
    { r0 = memw(r0 + #0) }
    { r2 = add(r0, r5)
      r1 = add(r0, #4) }
    { r4 = add(r2, r5)
      r3 = add(r2, #4) }
    { r22 = add(r4, r5)
      r5 = add(r4, #4)
      r25 = r5 }
    { r24 = add(r22, r25)
      r23 = add(r22, #4) }
    { r25 = add(r24, #4) }
planes_5_even_line_loop:
    { v23.h = vshuffo(v9.h,v8.h)
      v10.w += vmpyo(v23.w,v19.h):<<1:rnd:sat:shift
      v8.ub = vmin(v28.ub,v1.ub)
      vmem(r28++m0) = v8.new }
    { r21:20 = memd(r7++#8)
      v9:8.w = vmpy(v24.h,r21.h)
      v24 = vand(v23,v3) }
    { v8.w += vmpyo(v26.w,v19.h):<<1:rnd:sat:shift
      q0 = vcmp.eq(v24.h,v2.h) }
    { v9.w += vmpyo(v27.w,v19.h):<<1:rnd:sat:shift
      q0 &= vcmp.gt(v21.uh,v25.uh)
      v21.w = vasl(v12.w,r20) }
    { v27 = vsplat(r18)
      v19 = vsplat(r19)
      if (q0) v23.h += v4.h
      v12.w = vasl(v13.w,r20) }
    { v23.w = vadd(v21.w,v27.w)
      v13.w = vadd(v12.w,v27.w)
      v5.h = vshuffo(v11.h,v10.h)
      v24.ub = vasr(v5.h,v23.h,r6):sat }
    { v21 = vsplat(r26)
      v10.h = vshuffo(v13.h,v23.h)
      v25.h = vshuffe(v11.h,v10.h)
      v12 = vand(v5,v3) }
    { r27:26 = memd(r7++#8)
      v11:10.w = vmpy(v10.h,r21.h)
      q0 = vcmp.eq(v12.h,v2.h) }
    { v11.w += vmpyo(v13.w,v19.h):<<1:rnd:sat:shift
      q0 &= vcmp.gt(v21.uh,v25.uh) }
    { r9:8 = memd(r7++#8)
      v7:6.w += vrmpy(v19:18.ub,r15.b,#0) }
    { v7:6.w += vrmpy(v15:14.ub,r11.b,#0)
      if (q0) v5.h += v4.h }
    { r11:10 = memd(r7++#8)
      v7:6.w += vrmpy(v21:20.ub,r16.b,#0) }
    { v14 = vmemu(r0++m0)
      v7:6.w += vrmpy(v17:16.ub,r12.b,#0)
      v25.h = vshuffe(v9.h,v8.h) }
    { v15 = vmemu(r1++m0)
      v7:6.w += vrmpy(v23:22.ub,r17.b,#0) }
    { r13:12 = memd(r7++#8)
      v16 = v15
      v13:12.w = vrmpy(v15:14.ub,r8.b,#1)
      v17.w = vasl(v6.w,r20) }
    { r15:14 = memd(r7++#8)
      v7:6.w = vrmpy(v15:14.ub,r8.b,#0)
      v26.w = vadd(v17.w,v27.w)
      v14.w = vasl(v7.w,r20) }
    { v14 = vmemu(r2++m0)
      v7:6.w += vrmpy(v17:16.ub,r13.b,#0)
      v27.w = vadd(v14.w,v27.w) }
    { v15 = vmemu(r3++m0)
      v13:12.w += vrmpy(v17:16.ub,r13.b,#1) }
    { r17:16 = memd(r7++#8)
      v7:6.w += vrmpy(v15:14.ub,r9.b,#0) }
    { v16 = v15
      v13:12.w += vrmpy(v15:14.ub,r9.b,#1) }
    { v14 = vmemu(r4++m0)
      v7:6.w += vrmpy(v17:16.ub,r14.b,#0) }
    { v15 = vmemu(r5++m0)
      v13:12.w += vrmpy(v17:16.ub,r14.b,#1) }
    { v13:12.w += vrmpy(v15:14.ub,r10.b,#1) }
    { v14 = vmemu(r22++m0)
      v7:6.w += vrmpy(v15:14.ub,r10.b,#0)
      v18 = v15 }
    { v15 = vmemu(r23++m0)
      v13:12.w += vrmpy(v19:18.ub,r15.b,#1) }
    { v16 = vmemu(r24++m0)
      v20 = v15
      v13:12.w += vrmpy(v15:14.ub,r11.b,#1) }
    { v17 = vmemu(r25++m0)
      v13:12.w += vrmpy(v21:20.ub,r16.b,#1) }
    { v22 = v17
      v13:12.w += vrmpy(v17:16.ub,r12.b,#1)
      v28.ub = vmax(v24.ub,v0.ub) }
    { r19:18 = memd(r7++#8)
      v13:12.w += vrmpy(v23:22.ub,r17.b,#1)
      v24.h = vshuffo(v27.h,v26.h) } :endloop0
    { r17:16 = memd(r29 + #0)
      r19:18 = memd(r29 + #8) }
    { r21:20 = memd(r29 + #16)
      r23:22 = memd(r29 + #24) }
    { r25:24 = memd(r29 + #32)
      r27:26 = memd(r29 + #40) }
    { dealloc_return }
    .size tn_hx_planar_planes_5_even_line, . - tn_hx_planar_planes_5_even_line
