// SPDX-License-Identifier: Apache-2.0
// The loops of hx_columns.c and hx_blocks.c: a round is 128 pixels of the four channels of a plane (quarter: 64), whose constants it loads itself.
// Those named zero are in hx_columns_zero.S: where the zero point and the least result are 0, nothing is clamped from below.
// scripts/hexagon_loops.py says what a round is and writes such files, with as many packets in other places. A round is spread over two (quarter:
// three); those before the first and behind the last read records that are there for it.
//
//   void tn_hx_columns_...(const tn_hx_columns_job *job)
//
//   r26  records; m1 from one to the next    r28, r27  x and result of the first plane    r25, r24  one pixel, two (stride 2: a row)
//   m0   from row to row                     r5, r6    distances of shuffles              r7        down
//   v27..v30  clamps      v26, v31  padding of the result, of x      v23..v25  of a gap: -1, odd, bits
    .text

    .macro begin record
    { allocframe(#48) }
    { memd(r29 + #0) = r17:16; memd(r29 + #8) = r19:18 }
    { memd(r29 + #16) = r21:20; memd(r29 + #24) = r23:22 }
    { memd(r29 + #32) = r25:24; memd(r29 + #40) = r27:26 }
    { r28 = memw(r0 + #0); r27 = memw(r0 + #4) }
    { r26 = memw(r0 + #8); r1 = memw(r0 + #12); r2 = #\record }
    { r3 = memw(r0 + #16); r12 = memw(r0 + #20); m1 = r2 }
    { r4 = memw(r0 + #24); r13 = memw(r0 + #28); m0 = r3 }
    { v30 = vmem(r4 + #0); r14 = memw(r0 + #32) }
    { v29 = vmem(r4 + #1); r15 = memw(r0 + #36) }
    { v28 = vmem(r4 + #2); r8 = memw(r0 + #40) }
    { v27 = vmem(r4 + #3); v31 = vsplat(r15); v26 = vsplat(r8) }
    { v25 = vsplat(r13); v24 = vsplat(r14); r9 = #-1 }
    { v23 = vsplat(r9); r25 = #4; r24 = #8; r7 = r12 }
    .endm

    .macro end
    { r17:16 = memd(r29 + #0); r19:18 = memd(r29 + #8) }
    { r21:20 = memd(r29 + #16); r23:22 = memd(r29 + #24) }
    { r25:24 = memd(r29 + #32); r27:26 = memd(r29 + #40) }
    { dealloc_return }
    .endm

    .globl tn_hx_columns_half_zero
    .type tn_hx_columns_half_zero, @function
    .p2align 4
tn_hx_columns_half_zero:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_zero_loop,r1); r5 = #-64 }
    { r4 = add(r27,r11); r19:18 = combine(r11,r10) }
half_zero_loop:
    { r11:10 = memd(r26+#-96); v17 = vror(v8,r25); v19.w += vrmpy(v25.ub,r15.b); v7.w += vrmpy(v23.ub,r13.b) }
    { v21 = vsplat(r21); v1.w = vasl(v1.w,r21); v30.w = vadd(v30.w,v4.w); v18.w += vrmpy(v21.ub,r13.b) }
    { v1.w = vadd(v1.w,v4.w); v23.w = vrmpy(v14.ub,r22.b); v12.w = vasl(v12.w,r1); v16 = vsplat(r0) }
    { r23:22 = memd(r26+#-88); v12.w = vadd(v12.w,v16.w); v6.w += vrmpy(v2.ub,r16.b); v7.w += vrmpy(v2.ub,r17.b) }
    { v28.w += vrmpy(v17.ub,r15.b); v2 = vror(v8,r24); v23.w += vrmpy(v25.ub,r14.b); v11.w = vadd(v11.w,v16.w) }
    { v27.w = vasl(v27.w,r21); v24.w += vrmpy(v17.ub,r14.b); v10.w = vadd(v10.w,v16.w); v20.w = vadd(v20.w,v16.w) }
    { v27.w = vadd(v27.w,v4.w); v23.w += vrmpy(v5.ub,r10.b); v19.w += vrmpy(v5.ub,r11.b); v7.w = vasl(v7.w,r9) }
    { v25 = vsplat(r22); v19.w = vasl(v19.w,r23); v3.w += vrmpy(v13.ub,r16.b); v15.h = vshuffo(v12.h,v27.h) }
    { v24.w += vrmpy(v2.ub,r10.b); v28.w += vrmpy(v2.ub,r11.b); v23.w = vasl(v23.w,r23); r1:0 = memd(r26+#-16) }
    { v22.w = vasl(v22.w,r21); v2 = vsplat(r23); v19.w = vadd(v19.w,v25.w); v18.w += vrmpy(v13.ub,r17.b) }
    { v24.w = vasl(v24.w,r23); v31 = vsplat(r8); v16 = vsplat(r9); v8.h = vshuffo(v20.h,v30.h) }
    { r2 = add(r27,r18); v7.w = vadd(v7.w,v31.w); v5.h = vshuffo(v11.h,v1.h); v9:8.w = vmpy(v8.h,r0.h) }
    { r19:18 = memd(r26++m1); v3.w = vasl(v3.w,r9); v15:14.w = vmpy(v15.h,r0.h); vmem(r4+#0) = v26 }
    { r4 = add(r28,r18); v23.w = vadd(v23.w,v25.w); v3.w = vadd(v3.w,v31.w); v9.w += vmpyo(v20.w,v0.h):<<1:rnd:sat:shift }
    { v20 = vmemu(r4+#2); v22.w = vadd(v22.w,v4.w); v8.w += vmpyo(v30.w,v21.h):<<1:rnd:sat:shift }
    { v6.w = vasl(v6.w,r9); v5:4.w = vmpy(v5.h,r0.h); v13.h = vshuffo(v10.h,v22.h) }
    { v30 = vmemu(r4+#0); v28.w = vasl(v28.w,r23); v15.w += vmpyo(v12.w,v0.h):<<1:rnd:sat:shift }
    { v8 = vmemu(r4+#4); v13:12.w = vmpy(v13.h,r0.h); v17.h = vshuffo(v9.h,v8.h) }
    { v9 = vmemu(r4+#3); v6.w = vadd(v6.w,v31.w); v4.w += vmpyo(v1.w,v21.h):<<1:rnd:sat:shift }
    { v24.w = vadd(v24.w,v25.w); v18.w = vasl(v18.w,r9); v13.w += vmpyo(v10.w,v0.h):<<1:rnd:sat:shift }
    { r9:8 = memd(r26+#-72); v14.w += vmpyo(v27.w,v21.h):<<1:rnd:sat:shift; v10.h = vshuffo(v6.h,v24.h); v1.h = vshuffo(v3.h,v23.h) }
    { v18.w = vadd(v18.w,v31.w); v27.h = vshuffo(v15.h,v14.h); v5.w += vmpyo(v11.w,v0.h):<<1:rnd:sat:shift }
    { v25 = vmemu(r4+#1); v28.w = vadd(v28.w,v25.w); v11:10.w = vmpy(v10.h,r1.h) }
    { v15:14 = vdeal(v8,v20,r5); v1:0.w = vmpy(v1.h,r1.h) }
    { r4 = add(r27,r19); v31:30 = vdeal(v20,v30,r5); r11:10 = memd(r26+#-128); v1.w += vmpyo(v3.w,v16.h):<<1:rnd:sat:shift }
    { v9:8 = vdeal(v9,v25,r5); v25.h = vshuffo(v7.h,v28.h); v3.h = vshuffo(v18.h,v19.h) }
    { v15:14.b = vshuffoe(v15.b,v14.b); r23:22 = memd(r26+#-112); r17:16 = memd(r26+#-48); v0.w += vmpyo(v23.w,v2.h):<<1:rnd:sat:shift }
    { v21:20.b = vshuffoe(v31.b,v30.b); r15:14 = memd(r26+#-80); v12.w += vmpyo(v22.w,v21.h):<<1:rnd:sat:shift }
    { v9:8.b = vshuffoe(v9.b,v8.b); v11.w += vmpyo(v6.w,v16.h):<<1:rnd:sat:shift }
    { v31:30.h = vshuffoe(v8.h,v20.h); v23:22.w = vmpy(v3.h,r1.h) }
    { r21:20 = memd(r26+#-144); v25.h = vshuffo(v5.h,v4.h); v1:0.w = vmpy(v25.h,r1.h); v3.h = vshuffo(v1.h,v0.h) }
    { v5:4.h = vshuffoe(v14.h,v8.h); v23.w += vmpyo(v18.w,v16.h):<<1:rnd:sat:shift }
    { v13 = vror(v31,r24); v10.w += vmpyo(v24.w,v2.h):<<1:rnd:sat:shift; v24.h = vshuffo(v13.h,v12.h) }
    { v6 = vror(v4,r25); v12.w = vrmpy(v31.ub,r14.b); v11.w = vrmpy(v31.ub,r15.b); v18.h = vshuffo(v11.h,v10.h) }
    { v15:14.h = vshuffoe(v15.h,v9.h); r13:12 = memd(r26+#-40); v0.w += vmpyo(v28.w,v2.h):<<1:rnd:sat:shift }
    { v9:8.h = vshuffoe(v9.h,v21.h); r1:0 = memd(r26+#-56); v10.w = vrmpy(v5.ub,r14.b); v20.w = vrmpy(v5.ub,r15.b) }
    { r15:14 = memd(r26+#-64); v21 = vror(v31,r25); v2.ub = vasr(v18.h,v27.h,r7):sat; v22.w += vmpyo(v19.w,v2.h):<<1:rnd:sat:shift }
    { v23 = vror(v9,r25); v1.w += vmpyo(v7.w,v16.h):<<1:rnd:sat:shift; v28.h = vshuffo(v23.h,v22.h) }
    { v19.w = vrmpy(v14.ub,r23.b); v12.w += vrmpy(v21.ub,r8.b); v7 = vror(v5,r25); v24.ub = vasr(v3.h,v24.h,r7):sat }
    { v1.w = vrmpy(v30.ub,r21.b); v16 = vror(v30,r25); v22.w = vrmpy(v4.ub,r20.b); v0.h = vshuffo(v1.h,v0.h) }
    { v25 = vror(v4,r24); v0 = vsplat(r1); v10.w += vrmpy(v7.ub,r8.b); v18.ub = vasr(v0.h,v25.h,r7):sat }
    { v20.w += vrmpy(v7.ub,r9.b); v28 = vror(v5,r24); v7.w = vrmpy(v9.ub,r17.b); v17.ub = vasr(v28.h,v17.h,r7):sat }
    { r21:20 = memd(r26+#-120); v27.w = vrmpy(v30.ub,r20.b); v31 = vror(v30,r24); v30.w = vrmpy(v4.ub,r21.b) }
    { r9:8 = memd(r26+#-136); v11.w += vrmpy(v21.ub,r9.b); v18.w = vrmpy(v15.ub,r17.b); v3:2 = vshuff(v18,v2,r5) }
    { v22.w += vrmpy(v6.ub,r8.b); v20.w += vrmpy(v28.ub,r15.b); v4.ub = vmin(v2.ub,v29.ub); vmem(r2+#0) = v4.new }
    { v4 = vsplat(r20); v11.w += vrmpy(v13.ub,r15.b); v20.w = vasl(v20.w,r1); v21 = vror(v15,r25) }
    { v1.w += vrmpy(v16.ub,r9.b); v30.w += vrmpy(v6.ub,r9.b); v5 = vror(v14,r24); v11.w = vasl(v11.w,r1) }
    { v30.w += vrmpy(v25.ub,r11.b); v6.w = vrmpy(v9.ub,r16.b); v2.ub = vmin(v3.ub,v29.ub); vmem(r2+#2) = v2.new }
    { v30.w = vasl(v30.w,r21); v12.w += vrmpy(v13.ub,r14.b); v10.w += vrmpy(v28.ub,r14.b); v2 = vror(v9,r24) }
    { v27.w += vrmpy(v16.ub,r8.b); r17:16 = memd(r26+#-32); v3.w = vrmpy(v15.ub,r16.b); v17:16 = vshuff(v17,v24,r5) }
    { v22.w += vrmpy(v25.ub,r10.b); v3.w += vrmpy(v21.ub,r12.b); v24.ub = vmin(v16.ub,v29.ub); vmem(r2+#1) = v24.new }
    { v27.w += vrmpy(v31.ub,r10.b); r15:14 = memd(r26+#-104); v6.w += vrmpy(v23.ub,r12.b); v13 = vror(v15,r24) }
    { v24.w = vrmpy(v8.ub,r22.b); v25 = vror(v14,r25); v10.w = vasl(v10.w,r1); r9:8 = memd(r26+#-24) }
    { v1.w += vrmpy(v31.ub,r11.b); v28.w = vrmpy(v8.ub,r23.b); v17.ub = vmin(v17.ub,v29.ub); vmem(r2+#3) = v17.new } :endloop0
    end
    .size tn_hx_columns_half_zero, . - tn_hx_columns_half_zero

    .globl tn_hx_columns_row_zero
    .type tn_hx_columns_row_zero, @function
    .p2align 4
tn_hx_columns_row_zero:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_zero_loop,r1) }
    { r11:10 = combine(r11,r10) }
row_zero_loop:
    { v27.w = vadd(v27.w,v31.w); r19:18 = memd(r26+#104); v13.w = vasl(v13.w,r13); v17:16.w = vmpy(v17.h,r4.h) }
    { r0 = add(r27,r11); r3:2 = memd(r26+#-88); v7 = vsplat(r23); v10 = vsplat(r13) }
    { v3.w += vrmpy(v11.ub,r15.b); v1.w = vasl(v1.w,r3); v11 = vsplat(r2); v13.w = vadd(v13.w,v21.w) }
    { v6.w = vadd(v6.w,v31.w); v0 = vsplat(r21); v4.w = vasl(v4.w,r23) }
    { v4.w = vadd(v4.w,v18.w); v16.w += vmpyo(v28.w,v0.h):<<1:rnd:sat:shift; v31.h = vshuffo(v19.h,v12.h) }
    { r11:10 = memd(r26++m1); v28.h = vshuffo(v4.h,v6.h); v31.h = vshuffo(v26.h,v27.h); v9:8.w = vmpy(v31.h,r4.h) }
    { r20 = add(r28,r10); v1.w = vadd(v1.w,v11.w); v3.w = vasl(v3.w,r3); v25:24.w = vmpy(v31.h,r4.h) }
    { v31 = vmemu(r20++m0); v15.w = vasl(v15.w,r13); v9.w += vmpyo(v19.w,v7.h):<<1:rnd:sat:shift }
    { v22.w = vasl(v22.w,r3); v15.w = vadd(v15.w,v21.w); v19:18.w = vmpy(v28.h,r4.h) }
    { v28 = vsplat(r3); v14.w = vasl(v14.w,r3); v30.w += vrmpy(v23.ub,r17.b) }
    { v23 = vmemu(r20++m0); v20.h = vshuffo(v15.h,v1.h); v24.w += vmpyo(v27.w,v0.h):<<1:rnd:sat:shift }
    { v27 = vmemu(r20++m0); v2.w = vadd(v2.w,v21.w); v17.w += vmpyo(v5.w,v7.h):<<1:rnd:sat:shift }
    { v22.w = vadd(v22.w,v11.w); v30.w = vasl(v30.w,r13); v25.w += vmpyo(v26.w,v7.h):<<1:rnd:sat:shift }
    { v26 = vmemu(r20++m0); v19.w += vmpyo(v4.w,v7.h):<<1:rnd:sat:shift }
    { v3.w = vadd(v3.w,v11.w); v30.w = vadd(v30.w,v21.w); v5:4.w = vmpy(v20.h,r5.h) }
    { v4.w += vmpyo(v1.w,v28.h):<<1:rnd:sat:shift; v7.h = vshuffo(v30.h,v3.h); v1.h = vshuffo(v13.h,v22.h) }
    { v21:20.b = vshuffoe(v26.b,v27.b); r13:12 = memd(r26+#-136); v27:26.w = vmpy(v7.h,r5.h) }
    { v12 = vmemu(r20++m0); v7.h = vshuffo(v25.h,v24.h); v8.w += vmpyo(v12.w,v0.h):<<1:rnd:sat:shift }
    { v6 = vmemu(r20++m0); v14.w = vadd(v14.w,v11.w); v18.w += vmpyo(v6.w,v0.h):<<1:rnd:sat:shift }
    { v27.w += vmpyo(v30.w,v10.h):<<1:rnd:sat:shift; v11.h = vshuffo(v9.h,v8.h); v0.h = vshuffo(v2.h,v14.h) }
    { v9:8.b = vshuffoe(v23.b,v31.b); r21:20 = memd(r26+#-120); r17:16 = memd(r26+#-72); v31:30.w = vmpy(v1.h,r5.h) }
    { v1:0.h = vshuffoe(v20.h,v8.h); r23:22 = memd(r26+#-80); r3:2 = memd(r26+#-40); v25:24.w = vmpy(v0.h,r5.h) }
    { v9:8.h = vshuffoe(v21.h,v9.h); v24.w += vmpyo(v14.w,v28.h):<<1:rnd:sat:shift }
    { v23:22.b = vshuffoe(v6.b,v12.b); r9:8 = memd(r26+#-144); v30.w += vmpyo(v22.w,v28.h):<<1:rnd:sat:shift }
    { v15:14.h = vshuffoe(v22.h,v20.h); v5.w += vmpyo(v15.w,v10.h):<<1:rnd:sat:shift }
    { v21:20.h = vshuffoe(v23.h,v21.h); r15:14 = memd(r26+#-128); v26.w += vmpyo(v3.w,v28.h):<<1:rnd:sat:shift }
    { v28.w = vrmpy(v14.ub,r8.b); v5.w = vrmpy(v15.ub,r22.b); v23 = vror(v9,r24); v22.h = vshuffo(v5.h,v4.h) }
    { v18 = vror(v0,r25); r5:4 = memd(r26+#-64); v4.h = vshuffo(v19.h,v18.h); v31.w += vmpyo(v13.w,v10.h):<<1:rnd:sat:shift }
    { v6.w = vrmpy(v0.ub,r8.b); v19.w = vrmpy(v15.ub,r23.b); v3 = vror(v15,r25); v13.h = vshuffo(v27.h,v26.h) }
    { v27.w = vrmpy(v0.ub,r9.b); v12.w = vrmpy(v14.ub,r9.b); v17.h = vshuffo(v17.h,v16.h) }
    { v31 = vror(v1,r25); v19.w += vrmpy(v3.ub,r17.b); v26.ub = vasr(v22.h,v4.h,r7):sat; v4.h = vshuffo(v31.h,v30.h) }
    { v17 = vror(v14,r25); v4.w = vrmpy(v1.ub,r22.b); v5.w += vrmpy(v3.ub,r16.b); v3.ub = vasr(v4.h,v17.h,r7):sat }
    { v28.w += vrmpy(v17.ub,r12.b); v4.w += vrmpy(v31.ub,r16.b); v16 = vror(v1,r24); v26.ub = vmin(v26.ub,v29.ub) }
    { v13.ub = vasr(v13.h,v7.h,r7):sat; v25.w += vmpyo(v2.w,v10.h):<<1:rnd:sat:shift; vmemu(r0++m0) = v26 }
    { v12.w += vrmpy(v17.ub,r13.b); r23:22 = memd(r26+#-56); v26.w = vrmpy(v1.ub,r23.b); v17 = vror(v15,r24) }
    { v27.w += vrmpy(v18.ub,r13.b); r9:8 = memd(r26+#-112); v26.w += vrmpy(v31.ub,r17.b); v10 = vror(v21,r24) }
    { v0 = vror(v0,r24); v31 = vsplat(r20); v19.w += vrmpy(v17.ub,r5.b); v3.ub = vmin(v3.ub,v29.ub) }
    { v5.w += vrmpy(v17.ub,r4.b); r17:16 = memd(r26+#-32); v30.w = vrmpy(v9.ub,r19.b); v17.h = vshuffo(v25.h,v24.h) }
    { v6.w += vrmpy(v18.ub,r12.b); v2 = vror(v14,r24); v14.w = vrmpy(v20.ub,r9.b); v17.ub = vasr(v17.h,v11.h,r7):sat }
    { v12.w += vrmpy(v2.ub,r15.b); v4.w += vrmpy(v16.ub,r4.b); v5.w = vasl(v5.w,r23); v17.ub = vmin(v17.ub,v29.ub) }
    { v28.w += vrmpy(v2.ub,r14.b); v22.w = vrmpy(v20.ub,r8.b); v11 = vror(v21,r25); v13.ub = vmin(v13.ub,v29.ub) }
    { v26.w += vrmpy(v16.ub,r5.b); v15.w = vrmpy(v9.ub,r18.b); v7 = vror(v9,r25); r5:4 = memd(r26+#-16) }
    { v15.w += vrmpy(v7.ub,r2.b); v2.w = vrmpy(v21.ub,r19.b); vmemu(r0++m0) = v13 }
    { v27.w += vrmpy(v0.ub,r15.b); v1.w = vrmpy(v8.ub,r8.b); v16 = vror(v8,r25); v26.w = vasl(v26.w,r23) }
    { v6.w += vrmpy(v0.ub,r14.b); v28.w = vasl(v28.w,r21); r15:14 = memd(r26+#-96); v18 = vsplat(r22) }
    { r19:18 = memd(r26+#-104); v0 = vror(v20,r25); v19.w = vasl(v19.w,r23); v13.w = vrmpy(v21.ub,r18.b) }
    { v3.w = vrmpy(v8.ub,r9.b); v2.w += vrmpy(v11.ub,r3.b); vmemu(r0++m0) = v3 }
    { v12.w = vasl(v12.w,r21); v14.w += vrmpy(v0.ub,r19.b); r13:12 = memd(r26+#-24); v13.w += vrmpy(v11.ub,r2.b) }
    { v6.w = vasl(v6.w,r21); v25 = vror(v20,r24); v5.w = vadd(v5.w,v18.w); v2.w += vrmpy(v10.ub,r17.b) }
    { v1.w += vrmpy(v16.ub,r18.b); v11 = vror(v8,r24); v22.w += vrmpy(v0.ub,r18.b); v26.w = vadd(v26.w,v18.w) }
    { v27.w = vasl(v27.w,r21); v12.w = vadd(v12.w,v31.w); v22.w += vrmpy(v25.ub,r14.b); v30.w += vrmpy(v7.ub,r3.b) }
    { v28.w = vadd(v28.w,v31.w); v3.w += vrmpy(v16.ub,r19.b); v14.w += vrmpy(v25.ub,r15.b); v19.w = vadd(v19.w,v18.w) }
    { v15.w += vrmpy(v23.ub,r16.b); v13.w += vrmpy(v10.ub,r16.b); vmemu(r0++m0) = v17 }
    { v1.w += vrmpy(v11.ub,r14.b); v21 = vsplat(r12); v2.w = vasl(v2.w,r13); v17.h = vshuffo(v5.h,v28.h) } :endloop0
    end
    .size tn_hx_columns_row_zero, . - tn_hx_columns_row_zero

    .globl tn_hx_columns_blocks_zero
    .type tn_hx_columns_blocks_zero, @function
    .p2align 4
tn_hx_columns_blocks_zero:
    begin 120
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_zero_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r21:20 = combine(r11,r10) }
blocks_zero_loop:
    { v23:22 = vdeal(v21,v31,r5); v5.w += vrmpy(v8.ub,r12.b); v12.w += vrmpy(v23.ub,r12.b); r3:2 = memd(r26+#-8) }
    { v21.h = vshuffe(v22.h,v2.h); v9 = vror(v9,r25); v8.h = vshuffe(v23.h,v18.h); r17:16 = memd(r26+#-16) }
    { v11 = vror(v11,r25); v25.w = vasl(v25.w,r8); v28.w += vrmpy(v22.ub,r16.b); v26.w += vrmpy(v23.ub,r2.b) }
    { r4 = add(r27,r21); v8 = vror(v8,r25); v4.w += vrmpy(v23.ub,r19.b); v19.h = vshuffe(v23.h,v19.h) }
    { r21:20 = memd(r26++m1); v13.w += vrmpy(v20.ub,r0.b); v21 = vror(v21,r25); v20.h = vshuffe(v22.h,v3.h) }
    { v31.w = vrmpy(v2.ub,r22.b); v1.w = vasl(v1.w,r8); v25.w = vadd(v25.w,v16.w); v3 = vsplat(r13) }
    { v31.w += vrmpy(v22.ub,r23.b); v4.w += vrmpy(v8.ub,r14.b); v12.w = vasl(v12.w,r11); v19 = vror(v19,r25) }
    { v17.w = vasl(v17.w,r10); v20 = vror(v20,r25); v27 = vsplat(r9); v26.w += vrmpy(v19.ub,r3.b) }
    { v8 = vsplat(r1); v24.w += vrmpy(v9.ub,r14.b); v4.w = vasl(v4.w,r8); v12.w = vadd(v12.w,v3.w) }
    { v17.w = vadd(v17.w,v8.w); v31.w += vrmpy(v21.ub,r0.b); v15.w = vadd(v15.w,v3.w); v6.w = vasl(v6.w,r9) }
    { v1.w = vadd(v1.w,v16.w); v5.w = vasl(v5.w,r11); v28.w += vrmpy(v20.ub,r17.b); v23.h = vshuffo(v15.h,v17.h) }
    { v9 = vsplat(r10); v6.w = vadd(v6.w,v0.w); r23:22 = memd(r26+#-152); v19.h = vshuffo(v14.h,v1.h) }
    { v7.w += vrmpy(v11.ub,r0.b); v4.w = vadd(v4.w,v16.w); v11 = vsplat(r11); v26.w = vasl(v26.w,r9) }
    { v7.w = vasl(v7.w,r10); v23:22.w = vmpy(v23.h,r22.h); v2.h = vshuffo(v30.h,v25.h) }
    { r3 = add(r28,r20); v7.w = vadd(v7.w,v8.w); v28.w = vasl(v28.w,r11); v21:20.w = vmpy(v19.h,r23.h) }
    { v19 = vmemu(r3+#1); v26.w = vadd(v26.w,v0.w); v20.w += vmpyo(v1.w,v10.h):<<1:rnd:sat:shift }
    { v18 = vmemu(r3++m0); v5.w = vadd(v5.w,v3.w); v1:0.w = vmpy(v2.h,r23.h) }
    { v19:18 = vdeal(v19,v18,r5); r19:18 = memd(r26+#-96); v22.w += vmpyo(v17.w,v9.h):<<1:rnd:sat:shift }
    { v17 = vmemu(r3+#1); v24.w = vasl(v24.w,r8); v1.w += vmpyo(v30.w,v27.h):<<1:rnd:sat:shift }
    { v30 = vmemu(r3++m0); v31.w = vasl(v31.w,r10); v0.w += vmpyo(v25.w,v10.h):<<1:rnd:sat:shift }
    { v17:16 = vdeal(v17,v30,r5); v24.w = vadd(v24.w,v16.w); v30.h = vshuffo(v26.h,v4.h) }
    { v13.w = vasl(v13.w,r10); v28.w = vadd(v28.w,v3.w); v21.w += vmpyo(v14.w,v27.h):<<1:rnd:sat:shift }
    { v15 = vmemu(r3+#1); v23.w += vmpyo(v15.w,v11.h):<<1:rnd:sat:shift; v25.h = vshuffo(v6.h,v24.h) }
    { v14 = vmemu(r3++m0); v21.h = vshuffo(v21.h,v20.h); v3:2.w = vmpy(v25.h,r23.h) }
    { v25:24.b = vshuffoe(v17.b,v19.b); v2.w += vmpyo(v24.w,v10.h):<<1:rnd:sat:shift }
    { v19:18.b = vshuffoe(v16.b,v18.b); v13.w = vadd(v13.w,v8.w); v23.h = vshuffo(v23.h,v22.h) }
    { v22 = vmemu(r3+#1); v0.h = vshuffo(v1.h,v0.h); v17:16.w = vmpy(v30.h,r23.h) }
    { v23 = vmemu(r3++m0); v1.ub = vasr(v21.h,v23.h,r7):sat; v17.w += vmpyo(v26.w,v27.h):<<1:rnd:sat:shift }
    { v15:14 = vdeal(v15,v14,r5); r15:14 = memd(r26+#-88); r11:10 = memd(r26+#-64); v16.w += vmpyo(v4.w,v10.h):<<1:rnd:sat:shift }
    { v6 = vmemu(r3+#1); v26.h = vshuffo(v5.h,v13.h); v3.w += vmpyo(v6.w,v27.h):<<1:rnd:sat:shift }
    { v26 = vmemu(r3++m0); v21:20.w = vmpy(v26.h,r22.h); v10.h = vshuffo(v12.h,v7.h) }
    { v27:26 = vdeal(v6,v26,r5); r17:16 = memd(r26+#-80); v21.w += vmpyo(v5.w,v11.h):<<1:rnd:sat:shift }
    { v10 = vmemu(r3+#1); v5:4.w = vmpy(v10.h,r22.h); v1.ub = vmin(v1.ub,v29.ub) }
    { v6 = vmemu(r3++m0); v4.w += vmpyo(v7.w,v9.h):<<1:rnd:sat:shift; v16.h = vshuffo(v17.h,v16.h) }
    { v7:6 = vdeal(v10,v6,r5); r1:0 = memd(r26+#-104); v20.w += vmpyo(v13.w,v9.h):<<1:rnd:sat:shift }
    { v23:22 = vdeal(v22,v23,r5); r13:12 = memd(r26+#-56); v31.w = vadd(v31.w,v8.w); v8.h = vshuffo(v3.h,v2.h) }
    { v10 = vmemu(r3+#1); v21.h = vshuffo(v21.h,v20.h); v5.w += vmpyo(v12.w,v11.h):<<1:rnd:sat:shift }
    { v13:12.b = vshuffoe(v23.b,v15.b); v20.h = vshuffo(v5.h,v4.h); v5.h = vshuffo(v28.h,v31.h) }
    { v4 = vmemu(r3++m0); v5.h = vshuffe(v12.h,v24.h); v3:2.w = vmpy(v5.h,r22.h) }
    { v21 = vmemu(r3+#1); v30.w = vrmpy(v13.ub,r10.b); v0.ub = vasr(v0.h,v21.h,r7):sat }
    { v31.ub = vasr(v8.h,v20.h,r7):sat; v2.w += vmpyo(v31.w,v9.h):<<1:rnd:sat:shift; vmemu(r4+#0) = v1 }
    { v9:8.b = vshuffoe(v22.b,v14.b); r23:22 = memd(r26+#-112); v1.w = vrmpy(v24.ub,r18.b); v15.w = vrmpy(v19.ub,r16.b) }
    { v23:22.b = vshuffoe(v7.b,v27.b); v17.w = vrmpy(v18.ub,r22.b); v14.w = vrmpy(v25.ub,r10.b); r4 = add(r4,r24) }
    { v28 = vmemu(r3++m0); v11.h = vshuffe(v13.h,v25.h); v3.w += vmpyo(v28.w,v11.h):<<1:rnd:sat:shift }
    { v27:26.b = vshuffoe(v6.b,v26.b); v25.w = vrmpy(v12.ub,r18.b); v6.w = vrmpy(v23.ub,r10.b) }
    { v17.w += vrmpy(v8.ub,r23.b); v11 = vror(v11,r25); v14.w += vrmpy(v13.ub,r11.b); v24.h = vshuffe(v23.h,v13.h) }
    { v3:2 = vdeal(v21,v28,r5); r9:8 = memd(r26+#-40); v1.w += vrmpy(v12.ub,r19.b); v28.h = vshuffo(v3.h,v2.h) }
    { v21 = vmemu(r3+#1); v28.h = vshuffe(v9.h,v19.h); v16.ub = vasr(v16.h,v28.h,r7):sat }
    { v7.h = vshuffe(v8.h,v18.h); v5 = vror(v5,r25); v14.w += vrmpy(v11.ub,r12.b); v0.ub = vmin(v0.ub,v29.ub) }
    { v11:10 = vdeal(v10,v4,r5); v15.w += vrmpy(v9.ub,r17.b); v31.ub = vmin(v31.ub,v29.ub) }
    { v1.w += vrmpy(v5.ub,r14.b); v5.w = vrmpy(v9.ub,r16.b); vmemu(r4+#0) = v0 }
    { v13.w = vrmpy(v8.ub,r22.b); v12.h = vshuffe(v22.h,v12.h); v24 = vror(v24,r25); v30.w += vrmpy(v23.ub,r11.b) }
    { v19:18.b = vshuffoe(v3.b,v11.b); v20.h = vshuffe(v26.h,v8.h); r4 = add(r4,r24); v16.ub = vmin(v16.ub,v29.ub) }
    { v25.w += vrmpy(v22.ub,r19.b); v28 = vror(v28,r25); v8.h = vshuffe(v27.h,v9.h); v5.w += vrmpy(v27.ub,r17.b) }
    { v9.h = vshuffe(v18.h,v22.h); v4.w = vrmpy(v18.ub,r18.b); vmemu(r4+#0) = v31 }
    { v3:2.b = vshuffoe(v2.b,v10.b); v30.w += vrmpy(v24.ub,r12.b); v6.w += vrmpy(v19.ub,r11.b); r4 = add(r4,r24) }
    { v7 = vror(v7,r25); v10 = vsplat(r8); v14.w = vasl(v14.w,r9); v0 = vsplat(r13) }
    { v31 = vmemu(r3+#0); v17.w += vrmpy(v7.ub,r0.b); v11.h = vshuffe(v19.h,v23.h) }
    { v7.w = vrmpy(v26.ub,r22.b); v24.w = vrmpy(v22.ub,r18.b); v23.h = vshuffe(v3.h,v27.h); v11 = vror(v11,r25) }
    { r13:12 = memd(r26+#-72); v7.w += vrmpy(v2.ub,r23.b); v12 = vror(v12,r25); v6.w += vrmpy(v11.ub,r12.b) }
    { v16 = vsplat(r15); v15.w += vrmpy(v28.ub,r12.b); vmemu(r4+#0) = v16 }
    { v13.w += vrmpy(v26.ub,r23.b); v25.w += vrmpy(v12.ub,r14.b); v23 = vror(v23,r25); v30.w = vasl(v30.w,r9) }
    { v20 = vror(v20,r25); v11.h = vshuffe(v2.h,v26.h); v24.w += vrmpy(v18.ub,r19.b); v28.w = vrmpy(v3.ub,r16.b) }
    { r11:10 = memd(r26+#-48); v8 = vror(v8,r25); v12.w = vrmpy(v27.ub,r16.b); v26.w = vrmpy(v19.ub,r10.b) }
    { v15.w = vasl(v15.w,r11); v12.w += vrmpy(v3.ub,r17.b); v14.w = vadd(v14.w,v0.w); v30.w = vadd(v30.w,v0.w) } :endloop0
    end
    .size tn_hx_columns_blocks_zero, . - tn_hx_columns_blocks_zero

    .globl tn_hx_columns_half_zero_even
    .type tn_hx_columns_half_zero_even, @function
    .p2align 4
tn_hx_columns_half_zero_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_zero_even_loop,r1); r5 = #-64 }
    { r10 = add(r27,r11); r13:12 = combine(r11,r10) }
half_zero_even_loop:
    { v15.w = vasl(v15.w,r23); v30 = vsplat(r22); v0 = vsplat(r23); v7.h = vshuffo(v22.h,v9.h) }
    { r11 = add(r27,r12); v12.w = vasl(v12.w,r23); v7:6.w = vmpy(v7.h,r21.h); v31.h = vshuffo(v13.h,v21.h) }
    { v12.w = vadd(v12.w,v30.w); v4.w = vasl(v4.w,r9); r23:22 = memd(r26+#-8); v3:2.w = vmpy(v3.h,r21.h) }
    { v14.w = vadd(v14.w,v27.w); v28.w = vasl(v28.w,r9); v7.w += vmpyo(v22.w,v16.h):<<1:rnd:sat:shift }
    { v28.w = vadd(v28.w,v27.w); v6.w += vmpyo(v9.w,v10.h):<<1:rnd:sat:shift; v22.h = vshuffo(v19.h,v18.h) }
    { r13:12 = memd(r26++m1); v4.w = vadd(v4.w,v27.w); v3.w += vmpyo(v1.w,v16.h):<<1:rnd:sat:shift; v9.h = vshuffe(v19.h,v18.h) }
    { v5.w = vadd(v5.w,v30.w); v17.h = vshuffo(v7.h,v6.h); v19:18.w = vmpy(v31.h,r21.h) }
    { v6 = vsplat(r9); v27 = vsplat(r23); v31.h = vshuffo(v20.h,v5.h); v7.h = vshuffe(v7.h,v6.h) }
    { v11.w = vadd(v11.w,v30.w); r9:8 = memd(r26+#-104); v13 = vand(v22,v24); v19.w += vmpyo(v13.w,v16.h):<<1:rnd:sat:shift }
    { v15.w = vadd(v15.w,v30.w); v2.w += vmpyo(v8.w,v10.h):<<1:rnd:sat:shift; q1 = vcmp.eq(v13.h,v25.h) }
    { v16 = vand(v17,v24); v18.w += vmpyo(v21.w,v10.h):<<1:rnd:sat:shift; vmem(r10+#0) = v26 }
    { v31:30.w = vmpy(v31.h,r20.h); v8.h = vshuffo(v4.h,v11.h); v10.h = vshuffo(v28.h,v12.h) }
    { r0 = add(r28,r12); r3:2 = memd(r26+#-48); v30.w += vmpyo(v5.w,v0.h):<<1:rnd:sat:shift; q0 = vcmp.eq(v16.h,v25.h) }
    { r17:16 = memd(r26+#-40); v16.h = vshuffo(v3.h,v2.h); v9:8.w = vmpy(v8.h,r20.h); q1 &= vcmp.gt(v27.uh,v9.uh) }
    { v3.h = vshuffo(v14.h,v15.h); v11.h = vshuffe(v3.h,v2.h); v8.w += vmpyo(v11.w,v0.h):<<1:rnd:sat:shift }
    { r10 = add(r27,r13); v3:2.w = vmpy(v3.h,r20.h); v21 = vand(v16,v24); v13.h = vshuffe(v19.h,v18.h) }
    { v5 = vmemu(r0+#1); v9.w += vmpyo(v4.w,v6.h):<<1:rnd:sat:shift; v1.h = vshuffo(v19.h,v18.h) }
    { q0 &= vcmp.gt(v27.uh,v7.uh); v19:18.w = vmpy(v10.h,r20.h); v4 = vand(v1,v24) }
    { v10 = vmemu(r0+#4); v2.w += vmpyo(v15.w,v0.h):<<1:rnd:sat:shift; q2 = vcmp.eq(v4.h,v25.h) }
    { v21 = vmemu(r0+#3); q3 = vcmp.eq(v21.h,v25.h); v18.w += vmpyo(v12.w,v0.h):<<1:rnd:sat:shift }
    { v15 = vmemu(r0+#0); v31.w += vmpyo(v20.w,v6.h):<<1:rnd:sat:shift; v0.h = vshuffe(v9.h,v8.h) }
    { v20 = vmemu(r0+#2); v3.w += vmpyo(v14.w,v6.h):<<1:rnd:sat:shift; v7.h = vshuffe(v31.h,v30.h) }
    { v15:14 = vdeal(v20,v15,r5); r1:0 = memd(r26+#-64); r21:20 = memd(r26+#-32); v19.w += vmpyo(v28.w,v6.h):<<1:rnd:sat:shift }
    { v28 = vsplat(r22); v4.h = vshuffe(v3.h,v2.h); v6.h = vshuffo(v9.h,v8.h); if (q1) v22.h += v23.h }
    { v3:2 = vdeal(v21,v5,r5); v12.h = vshuffo(v3.h,v2.h); v5.h = vshuffo(v31.h,v30.h) }
    { v31:30.b = vshuffoe(v3.b,v2.b); r23:22 = memd(r26+#-80); v2 = vand(v6,v24); v8.h = vshuffe(v19.h,v18.h) }
    { v21:20 = vdeal(v10,v20,r5); v3 = vand(v12,v24); if (q0) v17.h += v23.h }
    { v21:20.b = vshuffoe(v21.b,v20.b); q3 &= vcmp.gt(v27.uh,v11.uh); v9.h = vshuffo(v19.h,v18.h) }
    { v11:10.h = vshuffoe(v21.h,v31.h); q0 = vcmp.eq(v3.h,v25.h); q1 = vcmp.eq(v2.h,v25.h) }
    { v27 = vror(v11,r25); q1 &= vcmp.gt(v28.uh,v0.uh); v3 = vand(v9,v24); q2 &= vcmp.gt(v27.uh,v13.uh) }
    { v15:14.b = vshuffoe(v15.b,v14.b); if (q3) v16.h += v23.h; v13 = vand(v5,v24) }
    { v19:18.h = vshuffoe(v30.h,v14.h); r19:18 = memd(r26+#-112); v0.w = vrmpy(v11.ub,r2.b); if (q1) v6.h += v23.h }
    { v3:2.h = vshuffoe(v20.h,v30.h); v21.w = vrmpy(v10.ub,r19.b); q3 = vcmp.eq(v3.h,v25.h) }
    { v15:14.h = vshuffoe(v31.h,v15.h); r15:14 = memd(r26+#-96); q0 &= vcmp.gt(v28.uh,v4.uh); q1 = vcmp.eq(v13.h,v25.h) }
    { v6.w = vrmpy(v10.ub,r18.b); v20 = vror(v10,r24); if (q0) v12.h += v23.h; v30.ub = vasr(v22.h,v6.h,r7):sat }
    { v8.w = vrmpy(v14.ub,r18.b); v31 = vror(v10,r25); v13.w = vrmpy(v11.ub,r3.b); q3 &= vcmp.gt(v28.uh,v8.uh) }
    { v22.w = vrmpy(v15.ub,r3.b); v11 = vror(v11,r24); v4.ub = vasr(v16.h,v12.h,r7):sat; if (q2) v1.h += v23.h }
    { v21.w += vrmpy(v31.ub,r9.b); v13.w += vrmpy(v27.ub,r17.b); q1 &= vcmp.gt(v28.uh,v7.uh); if (q3) v9.h += v23.h }
    { v9.w = vrmpy(v14.ub,r19.b); v1.w = vrmpy(v15.ub,r2.b); v7 = vror(v15,r24); v12.ub = vasr(v1.h,v9.h,r7):sat }
    { r19:18 = memd(r26+#-144); v6.w += vrmpy(v31.ub,r8.b); v13.w += vrmpy(v11.ub,r21.b); v31:30 = vshuff(v12,v30,r5) }
    { v12.w = vrmpy(v2.ub,r19.b); v16 = vror(v15,r25); v10.ub = vmin(v31.ub,v29.ub); vmem(r11+#3) = v10.new }
    { v28 = vror(v14,r25); v21.w += vrmpy(v20.ub,r15.b); v1.w += vrmpy(v16.ub,r16.b); if (q1) v5.h += v23.h }
    { v5.w = vrmpy(v18.ub,r19.b); v9.w += vrmpy(v28.ub,r9.b); v10 = vror(v14,r24); v15.ub = vasr(v17.h,v5.h,r7):sat }
    { v22.w += vrmpy(v16.ub,r17.b); v0.w += vrmpy(v27.ub,r16.b); v14.ub = vmin(v30.ub,v29.ub); vmem(r11+#1) = v14.new }
    { r17:16 = memd(r26+#-88); v4.w = vrmpy(v3.ub,r22.b); v22.w += vrmpy(v7.ub,r21.b); v15:14 = vshuff(v15,v4,r5) }
    { v31 = vror(v18,r24); v6.w += vrmpy(v20.ub,r14.b); r3:2 = memd(r26+#-24); v1.w += vrmpy(v7.ub,r20.b) }
    { v8.w += vrmpy(v28.ub,r8.b); v30 = vsplat(r16); v6.w = vasl(v6.w,r17); v20 = vror(v3,r25) }
    { v9.w += vrmpy(v10.ub,r15.b); v16 = vsplat(r2); v28.ub = vmin(v14.ub,v29.ub); vmem(r11+#0) = v28.new }
    { r21:20 = memd(r26+#-136); v27 = vror(v2,r25); v28.w = vrmpy(v3.ub,r23.b); v0.w += vrmpy(v11.ub,r20.b) }
    { v10 = vror(v18,r25); v8.w += vrmpy(v10.ub,r14.b); v15.ub = vmin(v15.ub,v29.ub); vmem(r11+#2) = v15.new }
    { r15:14 = memd(r26+#-128); v15.w = vrmpy(v18.ub,r18.b); v5.w += vrmpy(v10.ub,r21.b); v0.w = vasl(v0.w,r3) }
    { v12.w += vrmpy(v27.ub,r21.b); v21.w = vasl(v21.w,r17); r9:8 = memd(r26+#-72); v14.w = vrmpy(v19.ub,r22.b) }
    { v11.w = vrmpy(v2.ub,r18.b); v7 = vror(v2,r24); v9.w = vasl(v9.w,r17); v4.w += vrmpy(v20.ub,r8.b) }
    { v11.w += vrmpy(v27.ub,r20.b); v6.w = vadd(v6.w,v30.w); v0.w = vadd(v0.w,v16.w); v13.w = vasl(v13.w,r3) }
    { v15.w += vrmpy(v10.ub,r20.b); v27 = vror(v19,r25); v28.w += vrmpy(v20.ub,r9.b); r21:20 = memd(r26+#-16) }
    { v11.w += vrmpy(v7.ub,r14.b); v20.w = vrmpy(v19.ub,r23.b); v3 = vror(v3,r24); v1.w = vasl(v1.w,r3) }
    { r9:8 = memd(r26+#-56); v14.w += vrmpy(v27.ub,r8.b); v20.w += vrmpy(v27.ub,r9.b); v2 = vror(v19,r24) }
    { v9.w = vadd(v9.w,v30.w); v20.w += vrmpy(v2.ub,r1.b); v27 = vsplat(r8); v18.h = vshuffo(v0.h,v6.h) }
    { v1.w = vadd(v1.w,v16.w); v22.w = vasl(v22.w,r3); v19:18.w = vmpy(v18.h,r21.h) }
    { v15.w += vrmpy(v31.ub,r14.b); v20.w = vasl(v20.w,r9); v28.w += vrmpy(v3.ub,r1.b); v22.w = vadd(v22.w,v16.w) }
    { v10 = vsplat(r17); v21.w = vadd(v21.w,v30.w); v14.w += vrmpy(v2.ub,r0.b); v20.w = vadd(v20.w,v27.w) }
    { v14.w = vasl(v14.w,r9); v13.w = vadd(v13.w,v16.w); v18.w += vmpyo(v6.w,v10.h):<<1:rnd:sat:shift }
    { r23:22 = memd(r26+#-120); v5.w += vrmpy(v31.ub,r15.b); v8.w = vasl(v8.w,r17); v16 = vsplat(r3) }
    { v5.w = vasl(v5.w,r23); v8.w = vadd(v8.w,v30.w); v19.w += vmpyo(v0.w,v16.h):<<1:rnd:sat:shift }
    { v12.w += vrmpy(v7.ub,r15.b); v11.w = vasl(v11.w,r23); v4.w += vrmpy(v3.ub,r0.b); v3.h = vshuffo(v1.h,v8.h) } :endloop0
    end
    .size tn_hx_columns_half_zero_even, . - tn_hx_columns_half_zero_even

    .globl tn_hx_columns_row_zero_even
    .type tn_hx_columns_row_zero_even, @function
    .p2align 4
tn_hx_columns_row_zero_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_zero_even_loop,r1) }
    { r17:16 = combine(r11,r10) }
row_zero_even_loop:
    { v11 = vror(v0,r24); v12.w += vrmpy(v7.ub,r13.b); v3.w += vrmpy(v13.ub,r0.b); v31.w = vasl(v31.w,r21) }
    { v2 = vsplat(r4); v0 = vror(v18,r24); v5.w = vasl(v5.w,r23); v12.w += vrmpy(v13.ub,r1.b) }
    { v15.w += vrmpy(v4.ub,r19.b); v18 = vror(v18,r25); v17.w = vadd(v17.w,v21.w); v7 = vsplat(r20) }
    { v6.w += vrmpy(v18.ub,r19.b); v5.w = vadd(v5.w,v21.w); v27.w += vrmpy(v28.ub,r1.b); v14.w = vasl(v14.w,r21) }
    { v1 = vsplat(r10); v12.w = vasl(v12.w,r11); v4 = vsplat(r21); r13:12 = memd(r26+#-8) }
    { v8 = vsplat(r23); v9.w += vrmpy(v28.ub,r0.b); v30.w = vasl(v30.w,r21); v16.w = vadd(v16.w,v7.w) }
    { v10.w += vrmpy(v11.ub,r14.b); v22.w = vadd(v22.w,v21.w); v13 = vsplat(r11); v12.w = vadd(v12.w,v1.w) }
    { v26.w += vrmpy(v18.ub,r18.b); v27.w = vasl(v27.w,r11); v30.w = vadd(v30.w,v7.w); r21:20 = memd(r26+#-16) }
    { v15.w += vrmpy(v11.ub,r15.b); v6.w += vrmpy(v0.ub,r15.b); v27.w = vadd(v27.w,v1.w); v3.w = vasl(v3.w,r11) }
    { v28 = vsplat(r5); v6.w = vasl(v6.w,r5); v3.w = vadd(v3.w,v1.w); v11 = vsplat(r13) }
    { v26.w += vrmpy(v0.ub,r14.b); v6.w = vadd(v6.w,v2.w); v20.w = vasl(v20.w,r23); v18.h = vshuffo(v30.h,v22.h) }
    { v26.w = vasl(v26.w,r5); v20.w = vadd(v20.w,v21.w); r1:0 = memd(r26+#112); v19:18.w = vmpy(v18.h,r21.h) }
    { v9.w = vasl(v9.w,r11); v19.w += vmpyo(v30.w,v4.h):<<1:rnd:sat:shift; v21.h = vshuffo(v12.h,v6.h) }
    { v9.w = vadd(v9.w,v1.w); v31.w = vadd(v31.w,v7.w); v1:0.w = vmpy(v21.h,r20.h) }
    { r6 = add(r27,r17); v15.w = vasl(v15.w,r5); v26.w = vadd(v26.w,v2.w); v18.w += vmpyo(v22.w,v8.h):<<1:rnd:sat:shift }
    { v15.w = vadd(v15.w,v2.w); v21.h = vshuffo(v3.h,v26.h); v1.w += vmpyo(v12.w,v13.h):<<1:rnd:sat:shift }
    { r17:16 = memd(r26++m1); v10.w = vasl(v10.w,r5); v22.h = vshuffo(v19.h,v18.h); v0.w += vmpyo(v6.w,v28.h):<<1:rnd:sat:shift }
    { r19:18 = memd(r26+#-48); v14.w = vadd(v14.w,v7.w); v30.h = vshuffo(v27.h,v15.h); v7:6.w = vmpy(v21.h,r20.h) }
    { v12.h = vshuffe(v19.h,v18.h); v6.w += vmpyo(v26.w,v28.h):<<1:rnd:sat:shift; v21.h = vshuffo(v16.h,v17.h) }
    { v10.w = vadd(v10.w,v2.w); v3 = vand(v22,v24); v7.w += vmpyo(v3.w,v13.h):<<1:rnd:sat:shift }
    { q1 = vcmp.eq(v3.h,v25.h); v19:18.w = vmpy(v30.h,r20.h); v26.h = vshuffe(v1.h,v0.h) }
    { r22 = add(r28,r16); v15.h = vshuffo(v9.h,v10.h); q1 &= vcmp.gt(v11.uh,v12.uh); v18.w += vmpyo(v15.w,v28.h):<<1:rnd:sat:shift }
    { v3:2.w = vmpy(v15.h,r20.h); v0.h = vshuffo(v14.h,v5.h); v15.h = vshuffo(v1.h,v0.h) }
    { r15:14 = memd(r26+#-112); v19.w += vmpyo(v27.w,v13.h):<<1:rnd:sat:shift; v27.h = vshuffo(v7.h,v6.h); v1 = vand(v15,v24) }
    { v30 = vmemu(r22++m0); v3.w += vmpyo(v9.w,v13.h):<<1:rnd:sat:shift; v9.h = vshuffo(v31.h,v20.h) }
    { v2.w += vmpyo(v10.w,v28.h):<<1:rnd:sat:shift; v28.h = vshuffo(v19.h,v18.h); v19.h = vshuffe(v19.h,v18.h) }
    { r11:10 = memd(r26+#-144); v1 = vand(v27,v24); q3 = vcmp.eq(v1.h,v25.h); v13:12.w = vmpy(v21.h,r21.h) }
    { v17 = vmemu(r22++m0); v10.h = vshuffo(v3.h,v2.h); v12.w += vmpyo(v17.w,v8.h):<<1:rnd:sat:shift }
    { v21 = vmemu(r22++m0); q0 = vcmp.eq(v1.h,v25.h); v13.w += vmpyo(v16.w,v4.h):<<1:rnd:sat:shift }
    { v1 = vand(v28,v24); v9.h = vshuffe(v7.h,v6.h); v7:6.w = vmpy(v9.h,r21.h) }
    { v17:16.b = vshuffoe(v17.b,v30.b); r5:4 = memd(r26+#-120); v7.w += vmpyo(v31.w,v4.h):<<1:rnd:sat:shift }
    { v0 = vmemu(r22++m0); q2 = vcmp.eq(v1.h,v25.h); v31:30.w = vmpy(v0.h,r21.h) }
    { v1:0.b = vshuffoe(v0.b,v21.b); v6.w += vmpyo(v20.w,v8.h):<<1:rnd:sat:shift }
    { v18 = vmemu(r22++m0); v30.w += vmpyo(v5.w,v8.h):<<1:rnd:sat:shift; v8.h = vshuffo(v13.h,v12.h) }
    { v5 = vsplat(r12); v21.h = vshuffe(v3.h,v2.h); v3 = vand(v10,v24); if (q1) v22.h += v23.h }
    { v14 = vmemu(r22++m0); v31.w += vmpyo(v14.w,v4.h):<<1:rnd:sat:shift; q0 &= vcmp.gt(v5.uh,v9.uh) }
    { v3:2.b = vshuffoe(v14.b,v18.b); r23:22 = memd(r26+#-88); q1 = vcmp.eq(v3.h,v25.h); v20.h = vshuffo(v31.h,v30.h) }
    { v7:6.h = vshuffoe(v1.h,v17.h); v14.h = vshuffo(v7.h,v6.h); v9.h = vshuffe(v7.h,v6.h) }
    { q1 &= vcmp.gt(v5.uh,v21.uh); q2 &= vcmp.gt(v5.uh,v19.uh); q3 &= vcmp.gt(v5.uh,v26.uh); v26 = vand(v8,v24) }
    { v5:4.h = vshuffoe(v3.h,v1.h); r13:12 = memd(r26+#-80); if (q1) v10.h += v23.h; v21.h = vshuffe(v31.h,v30.h) }
    { v31.w = vrmpy(v5.ub,r18.b); v10.ub = vasr(v22.h,v10.h,r7):sat; v30 = vand(v20,v24); v22 = vand(v14,v24) }
    { v19:18.h = vshuffoe(v2.h,v0.h); if (q2) v28.h += v23.h; v10.ub = vmin(v10.ub,v29.ub) }
    { v1:0.h = vshuffoe(v0.h,v16.h); r21:20 = memd(r26+#-104); q1 = vcmp.eq(v30.h,v25.h); if (q0) v27.h += v23.h }
    { v17.w = vrmpy(v4.ub,r15.b); v16.w = vrmpy(v5.ub,r19.b); v30 = vror(v5,r25); q0 = vcmp.eq(v22.h,v25.h) }
    { v21 = vsplat(r22); q1 &= vcmp.gt(v11.uh,v21.uh); vmemu(r6++m0) = v10 }
    { v9 = vror(v7,r25); v16.w += vrmpy(v30.ub,r1.b); if (q1) v20.h += v23.h; q0 &= vcmp.gt(v11.uh,v9.uh) }
    { v22.w = vrmpy(v6.ub,r14.b); v3 = vror(v4,r25); if (q0) v14.h += v23.h; q1 = vcmp.eq(v26.h,v25.h) }
    { v26 = vror(v6,r25); v14.w = vrmpy(v7.ub,r19.b); v12.ub = vasr(v14.h,v27.h,r7):sat; v13.h = vshuffe(v13.h,v12.h) }
    { v30.w = vrmpy(v7.ub,r18.b); v31.w += vrmpy(v30.ub,r0.b); v28.ub = vasr(v20.h,v28.h,r7):sat; v12.ub = vmin(v12.ub,v29.ub) }
    { v13 = vror(v4,r24); r3:2 = memd(r26+#-32); v30.w += vrmpy(v9.ub,r0.b); q1 &= vcmp.gt(v11.uh,v13.uh) }
    { v10.w = vrmpy(v0.ub,r10.b); v20.w = vrmpy(v4.ub,r14.b); v11 = vror(v5,r24); v28.ub = vmin(v28.ub,v29.ub) }
    { v20.w += vrmpy(v3.ub,r20.b); v31.w += vrmpy(v11.ub,r2.b); if (q3) v15.h += v23.h; if (q1) v8.h += v23.h }
    { v5.w = vrmpy(v6.ub,r15.b); v22.w += vrmpy(v26.ub,r20.b); vmemu(r6++m0) = v28 }
    { r19:18 = memd(r26+#-136); v4 = vror(v0,r25); v17.w += vrmpy(v3.ub,r21.b); v3.w = vrmpy(v19.ub,r12.b) }
    { v26.w = vrmpy(v18.ub,r10.b); v5.w += vrmpy(v26.ub,r21.b); vmemu(r6++m0) = v12 }
    { r15:14 = memd(r26+#-96); v28 = vror(v1,r24); v14.w += vrmpy(v9.ub,r1.b); v16.w += vrmpy(v11.ub,r3.b) }
    { v20.w += vrmpy(v13.ub,r14.b); v27.w = vrmpy(v1.ub,r13.b); v15 = vror(v7,r24); v2.ub = vasr(v8.h,v15.h,r7):sat }
    { v7 = vror(v6,r24); r1:0 = memd(r26+#-64); v9.w = vrmpy(v1.ub,r12.b); v12.w = vrmpy(v19.ub,r13.b) }
    { v17.w += vrmpy(v13.ub,r15.b); r21:20 = memd(r26+#-24); v14.w += vrmpy(v15.ub,r3.b); v2.ub = vmin(v2.ub,v29.ub) }
    { v6.w = vrmpy(v18.ub,r11.b); v22.w += vrmpy(v7.ub,r14.b); vmemu(r6++m0) = v2 }
    { v5.w += vrmpy(v7.ub,r15.b); v17.w = vasl(v17.w,r23); r13:12 = memd(r26+#-72); v2 = vror(v1,r25) }
    { v22.w = vasl(v22.w,r23); v9.w += vrmpy(v2.ub,r12.b); v7 = vror(v19,r25); v30.w += vrmpy(v15.ub,r2.b) }
    { v15.w = vrmpy(v0.ub,r11.b); v3.w += vrmpy(v7.ub,r12.b); v13 = vror(v19,r24); v16.w = vasl(v16.w,r21) }
    { r15:14 = memd(r26+#-128); v10.w += vrmpy(v4.ub,r18.b); r11:10 = memd(r26+#-56); v27.w += vrmpy(v2.ub,r13.b) } :endloop0
    end
    .size tn_hx_columns_row_zero_even, . - tn_hx_columns_row_zero_even

    .globl tn_hx_columns_blocks_zero_even
    .type tn_hx_columns_blocks_zero_even, @function
    .p2align 4
tn_hx_columns_blocks_zero_even:
    begin 120
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_zero_even_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r6 = add(r28,r10); r1:0 = combine(r11,r10) }
blocks_zero_even_loop:
    { v5 = vmemu(r6+#0); v26.w += vrmpy(v5.ub,r20.b); v10.w = vrmpy(v17.ub,r10.b) }
    { v19:18 = vdeal(v30,v5,r5); r11:10 = memd(r26+#-40); v5.w = vrmpy(v20.ub,r12.b); v28.w += vrmpy(v31.ub,r2.b) }
    { v6.w = vasl(v6.w,r10); v3 = vror(v3,r25); v1.h = vshuffe(v19.h,v17.h) }
    { v5.w += vrmpy(v18.ub,r13.b); v7 = vror(v7,r25); v26.w = vasl(v26.w,r11); r13:12 = memd(r26+#-16) }
    { v2.h = vshuffe(v18.h,v20.h); v31.w = vrmpy(v16.ub,r8.b); v22.w += vrmpy(v7.ub,r14.b); v1 = vror(v1,r25) }
    { v16.h = vshuffe(v19.h,v16.h); v8 = vror(v8,r25); v15.w += vrmpy(v21.ub,r23.b); v7 = vsplat(r21) }
    { v16 = vror(v16,r25); v15.w += vrmpy(v8.ub,r14.b); v30.w = vrmpy(v21.ub,r22.b); r23:22 = memd(r26+#-8) }
    { v21 = vsplat(r3); v28.w = vasl(v28.w,r10); v31.w += vrmpy(v19.ub,r9.b); v20.h = vshuffe(v18.h,v21.h) }
    { v2 = vror(v2,r25); v11.w += vrmpy(v3.ub,r14.b); v0.w = vasl(v0.w,r11); r19:18 = memd(r26+#-32) }
    { v31.w += vrmpy(v16.ub,r2.b); v20 = vror(v20,r25); v30.w += vrmpy(v18.ub,r12.b); v9.w = vasl(v9.w,r11) }
    { v28.w = vadd(v28.w,v21.w); v30.w += vrmpy(v20.ub,r13.b); v26.w = vadd(v26.w,v7.w); v10.w += vrmpy(v19.ub,r22.b) }
    { v27 = vror(v27,r25); v5.w += vrmpy(v2.ub,r16.b); v31.w = vasl(v31.w,r10); v10.w += vrmpy(v1.ub,r23.b) }
    { v4.w += vrmpy(v27.ub,r16.b); v14.w = vasl(v14.w,r10); v27 = vsplat(r15); v3.h = vshuffo(v26.h,v28.h) }
    { r23:22 = memd(r26+#-48); v9.w = vadd(v9.w,v7.w); v10.w = vasl(v10.w,r11); v17:16.w = vmpy(v3.h,r19.h) }
    { v3 = vsplat(r17); v1 = vsplat(r10); v14.w = vadd(v14.w,v21.w); v22.w = vasl(v22.w,r23) }
    { v4.w = vasl(v4.w,r22); v6.w = vadd(v6.w,v21.w); v2 = vsplat(r11); v0.w = vadd(v0.w,v7.w) }
    { v11.w = vasl(v11.w,r23); v18.h = vshuffo(v0.h,v14.h); v17.w += vmpyo(v26.w,v2.h):<<1:rnd:sat:shift }
    { v31.w = vadd(v31.w,v21.w); r13:12 = memd(r26+#-24); v21.h = vshuffo(v9.h,v6.h); v16.w += vmpyo(v28.w,v1.h):<<1:rnd:sat:shift }
    { r14 = add(r27,r1); v10.w = vadd(v10.w,v7.w); v21:20.w = vmpy(v21.h,r19.h); v28.h = vshuffo(v17.h,v16.h) }
    { r1:0 = memd(r26++m1); v12.w = vasl(v12.w,r22); v19:18.w = vmpy(v18.h,r19.h); v26 = vand(v28,v24) }
    { r9:8 = memd(r26+#-96); v5.w = vasl(v5.w,r22); v19.w += vmpyo(v0.w,v2.h):<<1:rnd:sat:shift; q2 = vcmp.eq(v26.h,v25.h) }
    { v18.w += vmpyo(v14.w,v1.h):<<1:rnd:sat:shift; v8.h = vshuffe(v17.h,v16.h); v16.h = vshuffo(v10.h,v31.h) }
    { r6 = add(r28,r0); v22.w = vadd(v22.w,v27.w); v15.w = vasl(v15.w,r23); v17:16.w = vmpy(v16.h,r19.h) }
    { v12.w = vadd(v12.w,v3.w); v15.w = vadd(v15.w,v27.w); v20.w += vmpyo(v6.w,v1.h):<<1:rnd:sat:shift }
    { v5.w = vadd(v5.w,v3.w); v21.w += vmpyo(v9.w,v2.h):<<1:rnd:sat:shift; v9.h = vshuffo(v19.h,v18.h) }
    { v26 = vmemu(r6+#1); v30.w = vasl(v30.w,r23); v17.w += vmpyo(v10.w,v2.h):<<1:rnd:sat:shift }
    { r21:20 = memd(r26+#-56); v4.w = vadd(v4.w,v3.w); v30.w = vadd(v30.w,v27.w); v16.w += vmpyo(v31.w,v1.h):<<1:rnd:sat:shift }
    { v6 = vsplat(r23); v19.h = vshuffe(v19.h,v18.h); v14 = vand(v9,v24); v7.h = vshuffo(v15.h,v4.h) }
    { v31 = vsplat(r13); v16.h = vshuffo(v22.h,v12.h); v10.h = vshuffo(v17.h,v16.h); v18.h = vshuffe(v17.h,v16.h) }
    { v14 = vsplat(r22); v0.h = vshuffo(v21.h,v20.h); q1 = vcmp.eq(v14.h,v25.h); v17 = vand(v10,v24) }
    { v11.w = vadd(v11.w,v27.w); q1 &= vcmp.gt(v31.uh,v19.uh); v27.h = vshuffo(v30.h,v5.h); q0 = vcmp.eq(v17.h,v25.h) }
    { v27 = vmemu(r6++m0); v2.h = vshuffe(v21.h,v20.h); v21:20.w = vmpy(v27.h,r18.h) }
    { v16 = vmemu(r6+#1); v19:18.w = vmpy(v16.h,r18.h); q0 &= vcmp.gt(v31.uh,v18.uh) }
    { v22 = vmemu(r6++m0); v19.w += vmpyo(v22.w,v6.h):<<1:rnd:sat:shift; q2 &= vcmp.gt(v31.uh,v8.uh) }
    { v12 = vmemu(r6+#1); v18.w += vmpyo(v12.w,v14.h):<<1:rnd:sat:shift; v17 = vand(v0,v24) }
    { v17:16 = vdeal(v16,v22,r5); v1.h = vshuffo(v19.h,v18.h); q3 = vcmp.eq(v17.h,v25.h) }
    { v13.w = vasl(v13.w,r22); v31 = vand(v1,v24); q3 &= vcmp.gt(v31.uh,v2.uh); if (q1) v9.h += v23.h }
    { v27:26 = vdeal(v26,v27,r5); v22 = vsplat(r12); if (q2) v28.h += v23.h }
    { v30 = vmemu(r6++m0); if (q3) v0.h += v23.h; v21.w += vmpyo(v30.w,v6.h):<<1:rnd:sat:shift }
    { v31:30 = vdeal(v12,v30,r5); r23:22 = memd(r26+#-80); v12.h = vshuffe(v19.h,v18.h); q2 = vcmp.eq(v31.h,v25.h) }
    { v12 = vmemu(r6+#1); q2 &= vcmp.gt(v22.uh,v12.uh); v19:18.w = vmpy(v7.h,r18.h) }
    { v7 = vmemu(r6++m0); if (q2) v1.h += v23.h; v18.w += vmpyo(v4.w,v14.h):<<1:rnd:sat:shift }
    { v3 = vmemu(r6+#1); v13.w = vadd(v13.w,v3.w); v20.w += vmpyo(v5.w,v14.h):<<1:rnd:sat:shift }
    { v0 = vmemu(r6++m0); v8.ub = vasr(v0.h,v1.h,r7):sat; v19.w += vmpyo(v15.w,v6.h):<<1:rnd:sat:shift }
    { v5:4.b = vshuffoe(v17.b,v27.b); r13:12 = memd(r26+#-112); v1.h = vshuffo(v11.h,v13.h); if (q0) v10.h += v23.h }
    { v21:20.b = vshuffoe(v16.b,v26.b); r11:10 = memd(r26+#-64); v15.h = vshuffo(v21.h,v20.h); v27.h = vshuffe(v21.h,v20.h) }
    { v1 = vmemu(r6+#1); v17:16.w = vmpy(v1.h,r18.h); v8.ub = vmin(v8.ub,v29.ub) }
    { v17.w += vmpyo(v11.w,v6.h):<<1:rnd:sat:shift; v6 = vand(v15,v24); vmemu(r14+#0) = v8 }
    { v8 = vmemu(r6++m0); v16.w += vmpyo(v13.w,v14.h):<<1:rnd:sat:shift; v11.h = vshuffo(v19.h,v18.h) }
    { v13:12 = vdeal(v12,v7,r5); v6.w = vrmpy(v4.ub,r8.b); q0 = vcmp.eq(v6.h,v25.h); r14 = add(r14,r24) }
    { v27:26.b = vshuffoe(v12.b,v30.b); v7 = vand(v11,v24); q0 &= vcmp.gt(v22.uh,v27.uh) }
    { v17:16.b = vshuffoe(v13.b,v31.b); v14.h = vshuffo(v17.h,v16.h); v2.h = vshuffe(v17.h,v16.h) }
    { v31:30 = vdeal(v1,v8,r5); v12 = vand(v14,v24); q2 = vcmp.eq(v7.h,v25.h) }
    { v13:12 = vdeal(v3,v0,r5); q1 = vcmp.eq(v12.h,v25.h); v7.h = vshuffe(v19.h,v18.h) }
    { v19:18.b = vshuffoe(v30.b,v12.b); r3:2 = memd(r26+#-88); v3.h = vshuffe(v16.h,v4.h); q1 &= vcmp.gt(v22.uh,v2.uh) }
    { v31:30.b = vshuffoe(v31.b,v13.b); v8.h = vshuffe(v17.h,v5.h); if (q1) v14.h += v23.h }
    { v0 = vmemu(r6+#1); v14.w = vrmpy(v16.ub,r8.b); v1.ub = vasr(v9.h,v14.h,r7):sat }
    { v12.w = vrmpy(v20.ub,r12.b); v3 = vror(v3,r25); v13.h = vshuffe(v30.h,v16.h); v9.w = vrmpy(v5.ub,r10.b) }
    { v13 = vror(v13,r25); q2 &= vcmp.gt(v22.uh,v7.uh); if (q0) v15.h += v23.h; v1.ub = vmin(v1.ub,v29.ub) }
    { v12.w += vrmpy(v26.ub,r13.b); v22.w = vrmpy(v21.ub,r22.b); vmemu(r14+#0) = v1 }
    { v1.h = vshuffe(v18.h,v26.h); v6.w += vrmpy(v16.ub,r9.b); v22.w += vrmpy(v27.ub,r23.b); v8 = vror(v8,r25) }
    { v1 = vror(v1,r25); v7.h = vshuffe(v27.h,v21.h); v9.w += vrmpy(v17.ub,r11.b); if (q2) v11.h += v23.h }
    { v3 = vmemu(r6++m0); v6.w += vrmpy(v3.ub,r2.b); v9.w += vrmpy(v8.ub,r20.b) }
    { v5:4 = vdeal(v0,v3,r5); v3.h = vshuffe(v19.h,v27.h); v0.w = vrmpy(v17.ub,r10.b); r14 = add(r14,r24) }
    { v11 = vmemu(r6+#1); v0.w += vrmpy(v31.ub,r11.b); v2.ub = vasr(v28.h,v11.h,r7):sat }
    { v16 = vmemu(r6++m0); v14.w += vrmpy(v30.ub,r9.b); v17.h = vshuffe(v31.h,v17.h) }
    { v28.w = vrmpy(v30.ub,r8.b); v17 = vror(v17,r25); v8.ub = vasr(v10.h,v15.h,r7):sat; v2.ub = vmin(v2.ub,v29.ub) }
    { v14.w += vrmpy(v13.ub,r2.b); v15.w = vrmpy(v19.ub,r22.b); vmemu(r14+#0) = v2 }
    { v21:20 = vdeal(v11,v16,r5); v10.h = vshuffe(v26.h,v20.h); v0.w += vrmpy(v17.ub,r20.b); r14 = add(r14,r24) }
    { v17:16.b = vshuffoe(v21.b,v5.b); v13.w = vrmpy(v26.ub,r12.b); v8.ub = vmin(v8.ub,v29.ub) }
    { v21:20.b = vshuffoe(v20.b,v4.b); r17:16 = memd(r26+#-104); v28.w += vrmpy(v16.ub,r9.b); v11.w = vrmpy(v27.ub,r22.b) }
    { v11.w += vrmpy(v19.ub,r23.b); v5.h = vshuffe(v17.h,v31.h); vmemu(r14+#0) = v8 }
    { v4.w = vrmpy(v18.ub,r12.b); v8.h = vshuffe(v21.h,v19.h); v5 = vror(v5,r25); v26.w = vrmpy(v31.ub,r10.b) }
    { r15:14 = memd(r26+#-72); v10 = vror(v10,r25); v13.w += vrmpy(v18.ub,r13.b); v26.w += vrmpy(v17.ub,r11.b) }
    { v30 = vmemu(r6+#1); v12.w += vrmpy(v10.ub,r16.b); v31.h = vshuffe(v16.h,v30.h) }
    { v13.w += vrmpy(v1.ub,r16.b); v27.h = vshuffe(v20.h,v18.h); v4.w += vrmpy(v20.ub,r13.b); v31 = vror(v31,r25) } :endloop0
    end
    .size tn_hx_columns_blocks_zero_even, . - tn_hx_columns_blocks_zero_even
