// SPDX-License-Identifier: Apache-2.0
// The loop of hx_conv.c for windows of one pixel: eight output channels by two vectors of 32 pixels, pair by pair. The steps, eight packets
// each, keep the multipliers busy; requantisation of a pair, with the first step of the next pair and the loads of its second in between, is
// straight code that was found by a search (an integer program over packets, units, registers).
//
//   int32_t tn_hx_conv_pairs_...(const tn_hx_conv_job *job)   pairs that are left: 0, or where float_rne met a fraction near one half,
//                                                             from that pair on, whose results may be wrong
//
//   v16..v31  sums: channel 0 of both vectors, channel 1 ...    r0, r1    the next step's vectors; m0, r28: from step to step
//   v14, v15  pixels                                            r2        the next step's weights; r8..r15: those of a step
//   v11..v13  zero point, clamp                                 r3, r4    first vector of the pair, first weights
//   v8..v10   float_rne: 2 * WINDOW, fraction, half             r26       constants of the channels: bias, multiplier, left, right
//   r5        steps after the first                             r16..r18  pairs, results
//
// A step more than there are is loaded, and the first of a pair more. Registers r16..r27 are kept.
#include "exec/hexagon/dsp/kernels/hx_conv_steps.inc"

    .text

    .macro first_step load
    { r20 = memw(r26 + #0)
      r22 = memw(r26 + #40)
      r0 = add(r3,r28)
      r2 = add(r4,#64) }
    .ifc \load, vmem
    { v16 = vsplat(r20)
      v18 = vsplat(r22)
      r22 = memw(r26 + #120)
      v14 = vmem(r3 + #0) }
    { v17 = v16
      v22 = vsplat(r22)
      v15 = vmem(r3 + #1)
      r9:8 = memd(r4 + #0) }
    .else
    { v14 = vmemu(r3 + #0) }
    { v16 = vsplat(r20)
      v18 = vsplat(r22)
      r22 = memw(r26 + #120)
      r9:8 = memd(r4 + #0) }
    { v17 = v16
      v22 = vsplat(r22)
      v15 = vmemu(r3 + #1) }
    .endif
    { r20 = memw(r26 + #80)
      r11:10 = memd(r4 + #8)
      v16.w += vrmpy(v14.ub,r8.b)
      v17.w += vrmpy(v15.ub,r8.b) }
    { v19 = v18
      v20 = vsplat(r20)
      r20 = memw(r26 + #160)
      r22 = memw(r26 + #200) }
    { v24 = vsplat(r20)
      v26 = vsplat(r22)
      r20 = memw(r26 + #240)
      r1 = add(r0,#128) }
    { v28 = vsplat(r20)
      r22 = memw(r26 + #280)
      r15:14 = memd(r4 + #24)
      v18.w += vrmpy(v14.ub,r9.b) }
    { v25 = v24
      v29 = v28
      v30 = vsplat(r22)
      v19.w += vrmpy(v15.ub,r9.b) }
    { v21 = v20
      v27 = v26
      v28.w += vrmpy(v14.ub,r14.b)
      v29.w += vrmpy(v15.ub,r14.b) }
    { v23 = v22
      v31 = v30
      v20.w += vrmpy(v14.ub,r10.b)
      v30.w += vrmpy(v14.ub,r15.b) }
    { r13:12 = memd(r4 + #16)
      v21.w += vrmpy(v15.ub,r10.b)
      v22.w += vrmpy(v14.ub,r11.b)
      r9:8 = memd(r4 + #32) }
    { v24.w += vrmpy(v14.ub,r12.b)
      v26.w += vrmpy(v14.ub,r13.b)
      v14 = \load(r0++m0) }
    { v25.w += vrmpy(v15.ub,r12.b)
      v27.w += vrmpy(v15.ub,r13.b)
      r13:12 = memd(r4 + #48) }
    { v23.w += vrmpy(v15.ub,r11.b)
      v31.w += vrmpy(v15.ub,r15.b)
      v15 = \load(r1 + #0) }
    { r11:10 = memd(r4 + #40)
      r15:14 = memd(r4 + #56) }
    .endm

// fixed_q31, narrow.
    .macro q31_loop name, load, walk
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    begin \walk
    { r27 = #31 }
    first_step \load
\name\()_pair:
    \walk\()_steps \name\()_steps, r5
\name\()_steps:
    \walk\()_step
    { r21 = memw(r26 + #4)
      r23 = memw(r26 + #44)
      r3 = add(r3,#256)
      r2 = add(r4,#64) }
    { v0 = vsplat(r21)
      v10 = vsplat(r23)
      r21 = memw(r26 + #84)
      r23 = memw(r26 + #124) }
    { r6 = memw(r26 + #12)
      v1.w = vmpye(v16.w,v0.uh)
      r7 = memw(r26 + #52)
      r0 = add(r3,r28) }
    { v2 = vsplat(r21)
      v3 = vsplat(r23)
      r21 = memw(r26 + #164)
      r23 = memw(r26 + #204) }
    { r20 = memw(r26 + #0)
      r22 = memw(r26 + #40)
      v4.w = vmpye(v18.w,v10.uh) }
    { v5.w = vmpye(v17.w,v0.uh)
      r13:12 = memd(r4 + #16) }
    { v7.w = vmpye(v19.w,v10.uh)
      r11:10 = memd(r4 + #8) }
    { v1.w += vmpyo(v16.w,v0.h):<<1:rnd:sat:shift
      r9:8 = memd(r4 + #0)
      r15:14 = memd(r4 + #24) }
    { v1.w += vasr(v1.w,r27)
      v5.w += vmpyo(v17.w,v0.h):<<1:rnd:sat:shift
      v14 = \load(r3 + #0) }
    { v5.w += vasr(v5.w,r27)
      v0.w = vmpye(v21.w,v2.uh)
      v15 = \load(r3 + #1) }
    { v16.h = vasr(v5.w,v1.w,r6):rnd:sat
      v7.w += vmpyo(v19.w,v10.h):<<1:rnd:sat:shift
      r6 = memw(r26 + #92) }
    { v16.h = vadd(v16.h,v11.h):sat
      v7.w += vasr(v7.w,r27)
      v6.w = vmpye(v22.w,v3.uh) }
    { v8 = vsplat(r21)
      v1 = vsplat(r23)
      r21 = memw(r26 + #244)
      r23 = memw(r26 + #284) }
    { v9.w = vmpye(v23.w,v3.uh) }
    { v4.w += vmpyo(v18.w,v10.h):<<1:rnd:sat:shift }
    { v4.w += vasr(v4.w,r27)
      v10.w = vmpye(v20.w,v2.uh) }
    { v18.h = vasr(v7.w,v4.w,r7):rnd:sat
      v0.w += vmpyo(v21.w,v2.h):<<1:rnd:sat:shift
      r7 = memw(r26 + #132) }
    { v18.h = vadd(v18.h,v11.h):sat
      v10.w += vmpyo(v20.w,v2.h):<<1:rnd:sat:shift
      v0.w += vasr(v0.w,r27) }
    { v16.ub = vsat(v18.h,v16.h)
      v10.w += vasr(v10.w,r27)
      v9.w += vmpyo(v23.w,v3.h):<<1:rnd:sat:shift }
    { v16.ub = vmax(v16.ub,v13.ub)
      v9.w += vasr(v9.w,r27)
      v2.w = vmpye(v24.w,v8.uh) }
    { v16.ub = vmin(v16.ub,v12.ub)
      v20.h = vasr(v0.w,v10.w,r6):rnd:sat
      r6 = memw(r26 + #172)
      v4.w = vmpye(v26.w,v1.uh) }
    { v20.h = vadd(v20.h,v11.h):sat
      v6.w += vmpyo(v22.w,v3.h):<<1:rnd:sat:shift }
    { v6.w += vasr(v6.w,r27)
      v10.w = vmpye(v25.w,v8.uh) }
    { v18 = vsplat(r22)
      v22.h = vasr(v9.w,v6.w,r7):rnd:sat
      r7 = memw(r26 + #212)
      v3 = vsplat(r23) }
    { v19 = v18
      r22 = memw(r26 + #120)
      v22.h = vadd(v22.h,v11.h):sat
      v6.w = vmpye(v27.w,v1.uh) }
    { v20.ub = vsat(v22.h,v20.h)
      v22 = vsplat(r22)
      r22 = memw(r26 + #200)
      v7 = vsplat(r21) }
    { v20.ub = vmax(v20.ub,v13.ub)
      v23 = v22
      v2.w += vmpyo(v24.w,v8.h):<<1:rnd:sat:shift }
    { v20.ub = vmin(v20.ub,v12.ub)
      v2.w += vasr(v2.w,r27)
      v6.w += vmpyo(v27.w,v1.h):<<1:rnd:sat:shift }
    { v17.h = vshuffe(v20.h,v16.h)
      v10.w += vmpyo(v25.w,v8.h):<<1:rnd:sat:shift
      v6.w += vasr(v6.w,r27) }
    { v21.h = vshuffo(v20.h,v16.h)
      v10.w += vasr(v10.w,r27)
      v4.w += vmpyo(v26.w,v1.h):<<1:rnd:sat:shift }
    { vmem(r17++#1) = v17
      v4.w += vasr(v4.w,r27)
      v5.w = vmpye(v28.w,v7.uh) }
    { vmem(r17++#1) = v21
      v24.h = vasr(v10.w,v2.w,r6):rnd:sat
      r6 = memw(r26 + #252)
      v0.w = vmpye(v29.w,v7.uh) }
    { v24.h = vadd(v24.h,v11.h):sat
      v26.h = vasr(v6.w,v4.w,r7):rnd:sat
      r7 = memw(r26 + #292)
      v1.w = vmpye(v30.w,v3.uh) }
    { v26.h = vadd(v26.h,v11.h):sat
      v4.w = vmpye(v31.w,v3.uh) }
    { v24.ub = vsat(v26.h,v24.h)
      v1.w += vmpyo(v30.w,v3.h):<<1:rnd:sat:shift }
    { v24.ub = vmax(v24.ub,v13.ub)
      v0.w += vmpyo(v29.w,v7.h):<<1:rnd:sat:shift
      v1.w += vasr(v1.w,r27) }
    { v24.ub = vmin(v24.ub,v12.ub)
      v0.w += vasr(v0.w,r27)
      v4.w += vmpyo(v31.w,v3.h):<<1:rnd:sat:shift }
    { v5.w += vmpyo(v28.w,v7.h):<<1:rnd:sat:shift
      v4.w += vasr(v4.w,r27) }
    { v16 = vsplat(r20)
      r20 = memw(r26 + #80)
      v26 = vsplat(r22)
      v5.w += vasr(v5.w,r27) }
    { v20 = vsplat(r20)
      r20 = memw(r26 + #160)
      r22 = memw(r26 + #280)
      v30.h = vasr(v4.w,v1.w,r7):rnd:sat }
    { v17 = v16
      v21 = v20
      v28.h = vasr(v0.w,v5.w,r6):rnd:sat
      v30.h = vadd(v30.h,v11.h):sat }
    { v27 = v26
      v28.h = vadd(v28.h,v11.h):sat
      v20.w += vrmpy(v14.ub,r10.b)
      v22.w += vrmpy(v14.ub,r11.b) }
    { v28.ub = vsat(v30.h,v28.h)
      v30 = vsplat(r22)
      v16.w += vrmpy(v14.ub,r8.b) }
    { v28.ub = vmax(v28.ub,v13.ub)
      v31 = v30
      v18.w += vrmpy(v14.ub,r9.b)
      v23.w += vrmpy(v15.ub,r11.b) }
    { v28.ub = vmin(v28.ub,v12.ub)
      v17.w += vrmpy(v15.ub,r8.b)
      v31.w += vrmpy(v15.ub,r15.b) }
    { v24 = vsplat(r20)
      r20 = memw(r26 + #240)
      v25.h = vshuffe(v28.h,v24.h)
      v29.h = vshuffo(v28.h,v24.h) }
    { v25 = v24
      v28 = vsplat(r20)
      vmem(r18++#1) = v25
      v21.w += vrmpy(v15.ub,r10.b) }
    { v29 = v28
      vmem(r18++#1) = v29
      v19.w += vrmpy(v15.ub,r9.b)
      v25.w += vrmpy(v15.ub,r12.b) }
    { v26.w += vrmpy(v14.ub,r13.b)
      v29.w += vrmpy(v15.ub,r14.b)
      r9:8 = memd(r4 + #32)
      r11:10 = memd(r4 + #40) }
    { v27.w += vrmpy(v15.ub,r13.b)
      v30.w += vrmpy(v14.ub,r15.b)
      v15 = \load(r0 + #1) }
    { v24.w += vrmpy(v14.ub,r12.b)
      v28.w += vrmpy(v14.ub,r14.b)
      v14 = \load(r0++m0) }
    { r13:12 = memd(r4 + #48)
      r15:14 = memd(r4 + #56) }
    { r16 = add(r16,#-1)
      p0 = cmp.gt(r16,#1)
      if (p0.new) jump:t \name\()_pair }
\name\()_end:
    end
    .size \name, . - \name
    .endm
    q31_loop tn_hx_conv_pairs_q31, vmem, plane
    q31_loop tn_hx_conv_taps_q31, vmemu, tap

// float_rne, narrow.
    .macro rne_loop name, load, walk
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    begin \walk
    { r1 = ##16386
      r2 = #4 }
    { v10 = vsplat(r1)
      v8 = vsplat(r2)
      r1 = ##32767 }
    { v9 = vsplat(r1)
      r6 = #15
      r19 = #124 }
    { r27 = ##16777215 }
    first_step \load
\name\()_pair:
    \walk\()_steps \name\()_steps, r5
\name\()_steps:
    \walk\()_step
    { r21 = memw(r26 + #4)
      r24 = memw(r26 + #8)
      r3 = add(r3,#256)
      r2 = add(r4,#64) }
    { v3 = vsplat(r21)
      v17.w = vasl(v17.w,r24)
      r23 = memw(r26 + #44)
      r21 = memw(r26 + #84) }
    { v16.w = vasl(v16.w,r24)
      r25 = memw(r26 + #48)
      v2 = vsplat(r23)
      v6 = vsplat(r21) }
    { v7.w = vmpye(v16.w,v3.uh)
      v19.w = vasl(v19.w,r25)
      r24 = memw(r26 + #88)
      r23 = memw(r26 + #124) }
    { v7.w += vmpyo(v16.w,v3.h):<<1:rnd:sat:shift
      v18.w = vasl(v18.w,r25)
      r25 = memw(r26 + #128)
      r21 = memw(r26 + #164) }
    { r20 = memw(r26 + #0)
      v7.w = vadd(v7.w,v10.w):sat
      v0.w = vmpye(v18.w,v2.uh)
      v21.w = vasl(v21.w,r24) }
    { v16 = vand(v7,v9)
      v1.w = vmpye(v17.w,v3.uh)
      r22 = memw(r26 + #40)
      v22.w = vasl(v22.w,r25) }
    { q0 = vcmp.gt(v8.uw,v16.uw)
      v1.w += vmpyo(v17.w,v3.h):<<1:rnd:sat:shift
      v20.w = vasl(v20.w,r24)
      r24 = memw(r26 + #168) }
    { v1.w = vadd(v1.w,v10.w):sat
      v3.w = vmpye(v20.w,v6.uh)
      v25.w = vasl(v25.w,r24)
      r9:8 = memd(r4 + #0) }
    { v17 = vand(v1,v9)
      v5.w = vmpye(v19.w,v2.uh)
      v23.w = vasl(v23.w,r25)
      r25 = memw(r26 + #208) }
    { q0 |= vcmp.gt(v8.uw,v17.uw)
      v0.w += vmpyo(v18.w,v2.h):<<1:rnd:sat:shift
      v26.w = vasl(v26.w,r25)
      r15:14 = memd(r4 + #24) }
    { v0.w = vadd(v0.w,v10.w):sat
      v5.w += vmpyo(v19.w,v2.h):<<1:rnd:sat:shift
      v27.w = vasl(v27.w,r25)
      r25 = memw(r26 + #288) }
    { v18 = vand(v0,v9)
      v5.w = vadd(v5.w,v10.w):sat
      v2.w = vmpye(v21.w,v6.uh)
      r0 = add(r3,r28) }
    { q0 |= vcmp.gt(v8.uw,v18.uw)
      v19 = vand(v5,v9)
      v2.w += vmpyo(v21.w,v6.h):<<1:rnd:sat:shift
      r11:10 = memd(r4 + #8) }
    { q0 |= vcmp.gt(v8.uw,v19.uw)
      v2.w = vadd(v2.w,v10.w):sat
      v4 = vsplat(r23)
      r23 = memw(r26 + #204) }
    { v3.w += vmpyo(v20.w,v6.h):<<1:rnd:sat:shift
      v21 = vand(v2,v9)
      v24.w = vasl(v24.w,r24)
      r24 = memw(r26 + #248) }
    { v3.w = vadd(v3.w,v10.w):sat
      v6.w = vmpye(v23.w,v4.uh)
      v29.w = vasl(v29.w,r24)
      r13:12 = memd(r4 + #16) }
    { v20 = vand(v3,v9)
      v6.w += vmpyo(v23.w,v4.h):<<1:rnd:sat:shift
      v28.w = vasl(v28.w,r24) }
    .ifc \load, vmem
    { q0 |= vcmp.gt(v8.uw,v20.uw)
      v20.h = vasr(v2.w,v3.w,r6):sat
      v6.w = vadd(v6.w,v10.w):sat
      v15 = vmem(r3 + #1) }
    .else
    { q0 |= vcmp.gt(v8.uw,v20.uw)
      v20.h = vasr(v2.w,v3.w,r6):sat
      v6.w = vadd(v6.w,v10.w):sat }
    { v15 = vmemu(r3 + #1) }
    .endif
    { q0 |= vcmp.gt(v8.uw,v21.uw)
      v23 = vand(v6,v9)
      v2 = vsplat(r21)
      v3 = vsplat(r23) }
    { v18.h = vasr(v5.w,v0.w,r6):sat
      v20.h = vadd(v20.h,v11.h):sat
      r21 = memw(r26 + #244)
      r23 = memw(r26 + #284) }
    { v18.h = vadd(v18.h,v11.h):sat
      v0.w = vmpye(v24.w,v2.uh)
      v30.w = vasl(v30.w,r25) }
    { v16.h = vasr(v1.w,v7.w,r6):sat
      v5.w = vmpye(v22.w,v4.uh)
      v14 = \load(r3 + #0) }
    { v16.h = vadd(v16.h,v11.h):sat
      v5.w += vmpyo(v22.w,v4.h):<<1:rnd:sat:shift
      v31.w = vasl(v31.w,r25) }
    { v16.ub = vsat(v18.h,v16.h)
      v5.w = vadd(v5.w,v10.w):sat
      v7.w = vmpye(v25.w,v2.uh) }
    { v16.ub = vmax(v16.ub,v13.ub)
      v22 = vand(v5,v9)
      v4 = vsplat(r21)
      v1 = vsplat(r23) }
    { q0 |= vcmp.gt(v8.uw,v22.uw)
      v22.h = vasr(v6.w,v5.w,r6):sat
      v7.w += vmpyo(v25.w,v2.h):<<1:rnd:sat:shift }
    { q0 |= vcmp.gt(v8.uw,v23.uw)
      v0.w += vmpyo(v24.w,v2.h):<<1:rnd:sat:shift
      v7.w = vadd(v7.w,v10.w):sat }
    { v0.w = vadd(v0.w,v10.w):sat
      v25 = vand(v7,v9)
      v2.w = vmpye(v28.w,v4.uh) }
    { v22.h = vadd(v22.h,v11.h):sat
      v24 = vand(v0,v9)
      v5.w = vmpye(v26.w,v3.uh) }
    { q0 |= vcmp.gt(v8.uw,v24.uw)
      v24.h = vasr(v7.w,v0.w,r6):sat
      v6.w = vmpye(v27.w,v3.uh) }
    { q0 |= vcmp.gt(v8.uw,v25.uw)
      v24.h = vadd(v24.h,v11.h):sat
      v6.w += vmpyo(v27.w,v3.h):<<1:rnd:sat:shift }
    { v20.ub = vsat(v22.h,v20.h)
      v5.w += vmpyo(v26.w,v3.h):<<1:rnd:sat:shift
      v6.w = vadd(v6.w,v10.w):sat }
    { v5.w = vadd(v5.w,v10.w):sat
      v27 = vand(v6,v9)
      v7.w = vmpye(v29.w,v4.uh) }
    { v20.ub = vmax(v20.ub,v13.ub)
      v26 = vand(v5,v9)
      v2.w += vmpyo(v28.w,v4.h):<<1:rnd:sat:shift }
    { v20.ub = vmin(v20.ub,v12.ub)
      q0 |= vcmp.gt(v8.uw,v26.uw)
      v26.h = vasr(v6.w,v5.w,r6):sat
      v2.w = vadd(v2.w,v10.w):sat }
    { q0 |= vcmp.gt(v8.uw,v27.uw)
      v28 = vand(v2,v9)
      v7.w += vmpyo(v29.w,v4.h):<<1:rnd:sat:shift }
    { v18 = vsplat(r22)
      v26.h = vadd(v26.h,v11.h):sat
      q0 |= vcmp.gt(v8.uw,v28.uw)
      v7.w = vadd(v7.w,v10.w):sat }
    { r22 = memw(r26 + #120)
      v29 = vand(v7,v9)
      v28.h = vasr(v7.w,v2.w,r6):sat
      v3.w = vmpye(v30.w,v1.uh) }
    { q0 |= vcmp.gt(v8.uw,v29.uw)
      v28.h = vadd(v28.h,v11.h):sat
      v3.w += vmpyo(v30.w,v1.h):<<1:rnd:sat:shift }
    { v16.ub = vmin(v16.ub,v12.ub)
      v3.w = vadd(v3.w,v10.w):sat
      v0.w = vmpye(v31.w,v1.uh) }
    { v17.h = vshuffe(v20.h,v16.h)
      v30 = vand(v3,v9)
      v0.w += vmpyo(v31.w,v1.h):<<1:rnd:sat:shift }
    { v21.h = vshuffo(v20.h,v16.h)
      v22 = vsplat(r22)
      q0 |= vcmp.gt(v8.uw,v30.uw)
      v0.w = vadd(v0.w,v10.w):sat }
    { v16 = vsplat(r20)
      vmem(r17++#1) = v17
      v24.ub = vsat(v26.h,v24.h)
      v30.h = vasr(v0.w,v3.w,r6):sat }
    { r20 = memw(r26 + #80)
      v23 = v22
      v24.ub = vmax(v24.ub,v13.ub)
      v30.h = vadd(v30.h,v11.h):sat }
    { v20 = vsplat(r20)
      r20 = memw(r26 + #160)
      v24.ub = vmin(v24.ub,v12.ub)
      v28.ub = vsat(v30.h,v28.h) }
    { vmem(r17++#1) = v21
      r22 = memw(r26 + #200)
      v28.ub = vmax(v28.ub,v13.ub)
      v22.w += vrmpy(v14.ub,r11.b) }
    { v21 = v20
      v26 = vsplat(r22)
      r22 = memw(r26 + #280)
      v28.ub = vmin(v28.ub,v12.ub) }
    { v25.h = vshuffe(v28.h,v24.h)
      v29.h = vshuffo(v28.h,v24.h)
      v30 = vsplat(r22)
      v21.w += vrmpy(v15.ub,r10.b) }
    { v19 = v18
      v24 = vsplat(r20)
      r20 = memw(r26 + #240)
      vmem(r18++#1) = v25 }
    { v25 = v24
      v28 = vsplat(r20)
      vmem(r18++#1) = v29
      v19.w += vrmpy(v15.ub,r9.b) }
    { v27 = v26
      v29 = v28
      v18.w += vrmpy(v14.ub,r9.b)
      v24.w += vrmpy(v14.ub,r12.b) }
    { v17 = v16
      v31 = vand(v0,v9)
      v27.w += vrmpy(v15.ub,r13.b)
      v29.w += vrmpy(v15.ub,r14.b) }
    { q0 |= vcmp.gt(v8.uw,v31.uw)
      v31 = v30
      v16.w += vrmpy(v14.ub,r8.b)
      v23.w += vrmpy(v15.ub,r11.b) }
    { v20.w += vrmpy(v14.ub,r10.b)
      v30.w += vrmpy(v14.ub,r15.b)
      r11:10 = memd(r4 + #40) }
    { v17.w += vrmpy(v15.ub,r8.b)
      v25.w += vrmpy(v15.ub,r12.b)
      r9:8 = memd(r4 + #32) }
    { v28.w += vrmpy(v14.ub,r14.b)
      v31.w += vrmpy(v15.ub,r15.b)
      r15:14 = memd(r4 + #56) }
    { v26.w += vrmpy(v14.ub,r13.b)
      r13:12 = memd(r4 + #48) }
    { v0.b = prefixsum(q0) }
    { r24 = vextract(v0,r19) }
    { p1 = cmp.gtu(r24,r27)
      if (p1.new) jump:nt \name\()_end
      v15 = \load(r0 + #1) }
    { r16 = add(r16,#-1)
      p0 = cmp.gt(r16,#1)
      if (p0.new) jump:t \name\()_pair
      v14 = \load(r0++m0) }
\name\()_end:
    end
    .size \name, . - \name
    .endm
    rne_loop tn_hx_conv_pairs_rne, vmem, plane
    rne_loop tn_hx_conv_taps_rne, vmemu, tap
