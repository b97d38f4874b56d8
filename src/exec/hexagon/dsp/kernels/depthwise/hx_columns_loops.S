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

    .globl tn_hx_columns_quarter
    .type tn_hx_columns_quarter, @function
    .p2align 4
tn_hx_columns_quarter:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(quarter_loop,r1); r5 = #-32; r6 = #32 }
    { r4 = add(r27,r11); r13:12 = combine(r11,r10) }
quarter_loop:
    { v17 = vror(v9,r25); v14.w = vasl(v14.w,r11); v5.w += vmpyo(v15.w,v2.h):<<1:rnd:sat:shift }
    { r15:14 = memd(r26+#-136); v11 = vror(v8,r25); v10.w = vasl(v10.w,r3); v4.w += vmpyo(v24.w,v22.h):<<1:rnd:sat:shift }
    { r1:0 = memd(r26+#-120); v20.w += vmpyo(v1.w,v22.h):<<1:rnd:sat:shift; v1.h = vshuffo(v5.h,v4.h); vmem(r4+#-1) = v26 }
    { v24.w = vrmpy(v8.ub,r19.b); v22 = vsplat(r10); v0.w = vasl(v0.w,r11); vmem(r4+#2) = v26 }
    { v18 = vror(v8,r24); v15.w = vrmpy(v9.ub,r9.b); v12 = vsplat(r11); v0.w = vadd(v0.w,v22.w) }
    { v10.w = vadd(v10.w,v3.w); r23:22 = memd(r26+#-64); v21.w += vmpyo(v25.w,v2.h):<<1:rnd:sat:shift; v2.ub = vasr(v19.h,v1.h,r7):sat }
    { v22 = vsplat(r3); v25.w = vrmpy(v9.ub,r8.b); v14.w = vadd(v14.w,v22.w); v1.h = vshuffo(v21.h,v20.h) }
    { v1.w = vrmpy(v8.ub,r18.b); v13.w = vadd(v13.w,v3.w); v23.h = vshuffo(v14.h,v10.h); v3.ub = vasr(v23.h,v1.h,r7):sat }
    { v1.w += vrmpy(v11.ub,r14.b); v19 = vsplat(r0); r11:10 = memd(r26+#-56); v21:20 = vshuff(v2,v3,r5) }
    { v24.w += vrmpy(v11.ub,r15.b); r3:2 = memd(r26+#-72); v11 = vsplat(r10); r9:8 = memd(r26+#104) }
    { v1.w += vrmpy(v18.ub,r20.b); v25.w += vrmpy(v17.ub,r2.b); v9 = vror(v9,r24); v20.ub = vmax(v20.ub,v30.ub) }
    { v3:2.w = vmpy(v23.h,r17.h); v23.h = vshuffo(v0.h,v13.h); v8.ub = vmin(v20.ub,v29.ub); vmem(r4+#0) = v8.new }
    { v1.w = vasl(v1.w,r1); v3.w += vmpyo(v14.w,v12.h):<<1:rnd:sat:shift; v21.ub = vmax(v21.ub,v28.ub) }
    { r15:14 = memd(r26+#112); v2.w += vmpyo(v10.w,v22.h):<<1:rnd:sat:shift; v8.ub = vmin(v21.ub,v27.ub); vmem(r4+#1) = v8.new }
    { r13:12 = memd(r26++m1); r4 = add(r27,r13); v24.w += vrmpy(v18.ub,r21.b); v15.w += vrmpy(v17.ub,r3.b) }
    { r3 = add(r28,r12); v24.w = vasl(v24.w,r1); v23.h = vshuffo(v3.h,v2.h); v21:20.w = vmpy(v23.h,r17.h) }
    { v8 = vmemu(r3+#1); v25.w += vrmpy(v9.ub,r22.b); v15.w += vrmpy(v9.ub,r23.b) }
    { v22 = vmemu(r3+#0); v25.w = vasl(v25.w,r11); v20.w += vmpyo(v13.w,v22.h):<<1:rnd:sat:shift }
    { v9:8 = vdeal(v8,v22,r5); v24.w = vadd(v24.w,v19.w); r3:2 = memd(r26+#-88); v2 = vsplat(r11) }
    { v9:8.b = vshuffoe(v9.b,v8.b); r19:18 = memd(r26+#-144); v22 = vsplat(r1); v3 = vsplat(r2) }
    { v0 = valign(v31,v9,r6); v15.w = vasl(v15.w,r11); r1:0 = memd(r26+#-32); v21.w += vmpyo(v0.w,v12.h):<<1:rnd:sat:shift }
    { v17:16.h = vshuffoe(v0.h,v9.h); v1.w = vadd(v1.w,v19.w); r21:20 = memd(r26+#-112); r11:10 = memd(r26+#-104) }
    { v10.w = vrmpy(v16.ub,r20.b); v12 = vror(v16,r25); v14.w = vrmpy(v17.ub,r8.b); v19.h = vshuffo(v21.h,v20.h) }
    { r21:20 = memd(r26+#-96); v13.w = vrmpy(v16.ub,r21.b); v0.w = vrmpy(v17.ub,r9.b); v21 = vror(v17,r25) }
    { v13.w += vrmpy(v12.ub,r11.b); v20 = vror(v16,r24); v15.w = vadd(v15.w,v11.w); v0.w += vrmpy(v21.ub,r15.b) }
    { v10.w += vrmpy(v12.ub,r10.b); r11:10 = memd(r26+#-24); v14.w += vrmpy(v21.ub,r14.b); v21 = vror(v17,r24) }
    { v13.w += vrmpy(v20.ub,r21.b); v25.w = vadd(v25.w,v11.w); v14.w += vrmpy(v21.ub,r0.b); v12.h = vshuffo(v15.h,v24.h) }
    { v11 = valign(v31,v8,r6); v10.w += vrmpy(v20.ub,r20.b); r9:8 = memd(r26+#-80); v0.w += vrmpy(v21.ub,r1.b) }
    { v13.w = vasl(v13.w,r3); v12.h = vshuffo(v25.h,v1.h); v5:4.w = vmpy(v12.h,r16.h) }
    { v9:8.h = vshuffoe(v11.h,v8.h); r21:20 = memd(r26+#-128); r17:16 = memd(r26+#-16); v21:20.w = vmpy(v12.h,r16.h) } :endloop0
    end
    .size tn_hx_columns_quarter, . - tn_hx_columns_quarter

    .globl tn_hx_columns_half
    .type tn_hx_columns_half, @function
    .p2align 4
tn_hx_columns_half:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_loop,r1); r5 = #-64 }
    { r13:12 = combine(r11,r10) }
half_loop:
    { r6 = add(r27,r13); v11.w += vmpyo(v18.w,v27.h):<<1:rnd:sat:shift; v16.h = vshuffo(v7.h,v2.h); v18.h = vshuffo(v25.h,v23.h) }
    { r13:12 = memd(r26++m1); v26.w += vrmpy(v21.ub,r21.b); v21 = vsplat(r2); v22.w = vasl(v22.w,r3) }
    { v26.w += vrmpy(v0.ub,r17.b); v17.w = vadd(v17.w,v21.w); v15.w += vrmpy(v5.ub,r17.b); v28.w = vasl(v28.w,r11) }
    { v22.w = vadd(v22.w,v21.w); r17:16 = memd(r26+#-64); v31.w = vasl(v31.w,r11); v1:0.w = vmpy(v1.h,r22.h) }
    { v14.w = vadd(v14.w,v20.w); v3.w = vadd(v3.w,v20.w); v9:8.w = vmpy(v16.h,r22.h) }
    { r20 = add(r28,r12); v16.h = vshuffo(v11.h,v10.h); v10.h = vshuffo(v14.h,v17.h); v8.w += vmpyo(v2.w,v4.h):<<1:rnd:sat:shift }
    { v2 = vmemu(r20+#1); v26.w = vasl(v26.w,r3); v0.w += vmpyo(v19.w,v4.h):<<1:rnd:sat:shift }
    { v11 = vmemu(r20+#2); v15.w = vasl(v15.w,r3); v9.w += vmpyo(v7.w,v27.h):<<1:rnd:sat:shift }
    { v28.w = vadd(v28.w,v20.w); v31.w = vadd(v31.w,v20.w); v19:18.w = vmpy(v18.h,r22.h) }
    { v12 = vmemu(r20+#3); v15.w = vadd(v15.w,v21.w); v1.w += vmpyo(v24.w,v27.h):<<1:rnd:sat:shift }
    { v23 = vmemu(r20+#4); v18.w += vmpyo(v23.w,v4.h):<<1:rnd:sat:shift; v24.h = vshuffo(v3.h,v22.h) }
    { v5:4 = vdeal(v23,v11,r5); v23 = vsplat(r3); v26.w = vadd(v26.w,v21.w) }
    { v25 = vmemu(r20+#0); v27.h = vshuffo(v28.h,v26.h); v19.w += vmpyo(v25.w,v27.h):<<1:rnd:sat:shift }
    { r11:10 = memd(r26+#-48); v19:18.w = vmpy(v27.h,r23.h); v20.h = vshuffo(v19.h,v18.h); v27.h = vshuffo(v31.h,v15.h) }
    { r3:2 = memd(r26+#-128); v9:8.w = vmpy(v10.h,r23.h); v21.h = vshuffo(v9.h,v8.h); v7.h = vshuffo(v1.h,v0.h) }
    { v1:0 = vdeal(v11,v25,r5); r21:20 = memd(r26+#-136); v8.w += vmpyo(v17.w,v23.h):<<1:rnd:sat:shift }
    { v25:24.b = vshuffoe(v1.b,v0.b); v11:10.w = vmpy(v24.h,r23.h) }
    { v3:2 = vdeal(v12,v2,r5); v11.w += vmpyo(v3.w,v6.h):<<1:rnd:sat:shift }
    { v3:2.b = vshuffoe(v3.b,v2.b); r9:8 = memd(r26+#-120); v19.w += vmpyo(v28.w,v6.h):<<1:rnd:sat:shift }
    { v1:0.h = vshuffoe(v3.h,v25.h); r19:18 = memd(r26+#-80); v9.w += vmpyo(v14.w,v6.h):<<1:rnd:sat:shift }
    { v13:12.b = vshuffoe(v5.b,v4.b); r1:0 = memd(r26+#-72); v18.w += vmpyo(v26.w,v23.h):<<1:rnd:sat:shift }
    { v5:4.h = vshuffoe(v12.h,v2.h); v10.w += vmpyo(v22.w,v23.h):<<1:rnd:sat:shift }
    { v17 = vror(v5,r25); v28.h = vshuffo(v9.h,v8.h); v9:8.w = vmpy(v27.h,r23.h) }
    { v27:26.h = vshuffoe(v2.h,v24.h); v9.w += vmpyo(v31.w,v6.h):<<1:rnd:sat:shift }
    { r23:22 = memd(r26+#-144); v22 = vror(v1,r25); v14.h = vshuffo(v11.h,v10.h); v8.w += vmpyo(v15.w,v23.h):<<1:rnd:sat:shift }
    { v23.w = vrmpy(v4.ub,r22.b); v15 = vror(v4,r24); v11.h = vshuffo(v19.h,v18.h); v19.h = vshuffo(v9.h,v8.h) }
    { v14 = vror(v26,r25); v18.w = vrmpy(v27.ub,r18.b); v25.w = vrmpy(v5.ub,r18.b); v6.ub = vasr(v14.h,v20.h,r7):sat }
    { v9:8.h = vshuffoe(v13.h,v3.h); v2.w = vrmpy(v26.ub,r23.b); v25.w += vrmpy(v17.ub,r0.b) }
    { v19.w = vrmpy(v4.ub,r23.b); v3 = vror(v5,r24); v31.w = vrmpy(v9.ub,r11.b); v20.ub = vasr(v19.h,v7.h,r7):sat }
    { v16 = vror(v27,r25); v24.w = vrmpy(v5.ub,r19.b); v25.w += vrmpy(v3.ub,r16.b); v10.ub = vasr(v28.h,v16.h,r7):sat }
    { v21 = vror(v4,r25); v7.w = vrmpy(v27.ub,r19.b); v28.w = vrmpy(v1.ub,r11.b); v11.ub = vasr(v11.h,v21.h,r7):sat }
    { v23.w += vrmpy(v21.ub,r20.b); v18.w += vrmpy(v16.ub,r0.b); r15:14 = memd(r26+#-40); v5:4 = vshuff(v11,v10,r5) }
    { v2.w += vrmpy(v14.ub,r21.b); v17 = vror(v27,r24); v24.w += vrmpy(v17.ub,r1.b); v4.ub = vmax(v4.ub,v30.ub) }
    { v7.w += vrmpy(v16.ub,r1.b); r19:18 = memd(r26+#-32); v28.w += vrmpy(v22.ub,r15.b); v11:10 = vshuff(v20,v6,r5) }
    { v16.w = vrmpy(v26.ub,r22.b); r23:22 = memd(r26+#-112); v7.w += vrmpy(v17.ub,r17.b); v5.ub = vmax(v5.ub,v30.ub) }
    { v26 = vror(v26,r24); v23.w += vrmpy(v15.ub,r2.b); v27.ub = vmin(v5.ub,v29.ub); vmem(r6+#2) = v27.new }
    { v19.w += vrmpy(v21.ub,r21.b); v24.w += vrmpy(v3.ub,r17.b); v3.ub = vmin(v4.ub,v29.ub); vmem(r6+#0) = v3.new }
    { v16.w += vrmpy(v14.ub,r20.b); r21:20 = memd(r26+#-104); v18.w += vrmpy(v17.ub,r16.b); v20 = vror(v9,r25) }
    { v16.w += vrmpy(v26.ub,r2.b); r1:0 = memd(r26+#-56); v14.w = vrmpy(v1.ub,r10.b); v10.ub = vmax(v10.ub,v30.ub) }
    { v23.w = vasl(v23.w,r9); v5 = vror(v8,r24); v27 = vsplat(r1); v3.w = vrmpy(v9.ub,r10.b) }
    { v22.w = vrmpy(v8.ub,r22.b); v17 = vror(v8,r25); v25.w = vasl(v25.w,r1); v14.w += vrmpy(v22.ub,r14.b) }
    { v19.w += vrmpy(v15.ub,r3.b); v22.w += vrmpy(v17.ub,r20.b); v18.w = vasl(v18.w,r1); v6 = vror(v1,r24) }
    { v2.w += vrmpy(v26.ub,r3.b); v19.w = vasl(v19.w,r9); v26.w = vrmpy(v0.ub,r23.b); v21 = vror(v0,r25) }
    { v16.w = vasl(v16.w,r9); v4 = vsplat(r8); v15.w = vrmpy(v8.ub,r23.b); v9 = vror(v9,r24) }
    { v2.w = vasl(v2.w,r9); v17.w = vrmpy(v0.ub,r22.b); v15.w += vrmpy(v17.ub,r21.b); r23:22 = memd(r26+#-16) }
    { r17:16 = memd(r26+#-96); r3:2 = memd(r26+#-88); v14.w += vrmpy(v6.ub,r18.b); v3.w += vrmpy(v20.ub,r14.b) }
    { v24.w = vasl(v24.w,r1); r11:10 = memd(r26+#-24); v28.w += vrmpy(v6.ub,r19.b); v31.w += vrmpy(v20.ub,r15.b) }
    { v17.w += vrmpy(v21.ub,r20.b); v3.w += vrmpy(v9.ub,r18.b); v8.ub = vmin(v10.ub,v29.ub); vmem(r6+#1) = v8.new }
    { v0 = vror(v0,r24); v9 = vsplat(r0); v31.w += vrmpy(v9.ub,r19.b); v3.w = vasl(v3.w,r11) }
    { v19.w = vadd(v19.w,v4.w); v22.w += vrmpy(v5.ub,r16.b); v18.w = vadd(v18.w,v9.w); v24.w = vadd(v24.w,v9.w) }
    { v16.w = vadd(v16.w,v4.w); v2.w = vadd(v2.w,v4.w); v17.w += vrmpy(v0.ub,r16.b); v11.ub = vmax(v11.ub,v30.ub) }
    { v17.w = vasl(v17.w,r3); v25.w = vadd(v25.w,v9.w); v6 = vsplat(r11); v1.h = vshuffo(v18.h,v16.h) }
    { v11:10.w = vmpy(v1.h,r22.h); v1.h = vshuffo(v24.h,v19.h); v8.ub = vmin(v11.ub,v29.ub); vmem(r6+#3) = v8.new }
    { v4 = vsplat(r9); v23.w = vadd(v23.w,v4.w); v7.w = vasl(v7.w,r1); v20 = vsplat(r10) }
    { v7.w = vadd(v7.w,v9.w); v14.w = vasl(v14.w,r11); v10.w += vmpyo(v16.w,v4.h):<<1:rnd:sat:shift } :endloop0
    end
    .size tn_hx_columns_half, . - tn_hx_columns_half

    .globl tn_hx_columns_row
    .type tn_hx_columns_row, @function
    .p2align 4
tn_hx_columns_row:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_loop,r1) }
    { r19:18 = combine(r11,r10) }
row_loop:
    { v19.w = vrmpy(v22.ub,r13.b); v17.w = vadd(v17.w,v10.w); v28.w += vrmpy(v4.ub,r3.b); v2.w = vasl(v2.w,r21) }
    { r6 = add(r27,r19); v0.w += vrmpy(v24.ub,r22.b); v19.w += vrmpy(v26.ub,r23.b); v22 = vror(v22,r24) }
    { r3:2 = memd(r26+#-96); v8.w += vrmpy(v26.ub,r22.b); v21.w = vadd(v21.w,v10.w); v6.w = vasl(v6.w,r21) }
    { v0.w += vrmpy(v11.ub,r2.b); r15:14 = memd(r26+#104); v6.w = vadd(v6.w,v14.w); v15.h = vshuffo(v17.h,v20.h) }
    { v31.w = vadd(v31.w,v5.w); v7.w += vrmpy(v24.ub,r23.b); v1 = vsplat(r5); v13.w = vadd(v13.w,v10.w) }
    { r19:18 = memd(r26++m1); v7.w += vrmpy(v11.ub,r3.b); v0.w = vasl(v0.w,r1); v19.w += vrmpy(v22.ub,r3.b) }
    { v16.w = vadd(v16.w,v5.w); v11 = vsplat(r0); v8.w += vrmpy(v22.ub,r2.b); v28.w = vasl(v28.w,r21) }
    { v0.w = vadd(v0.w,v11.w); v24 = vsplat(r1); v19.w = vasl(v19.w,r1); v23.h = vshuffo(v21.h,v16.h) }
    { v28.w = vadd(v28.w,v14.w); v23:22.w = vmpy(v23.h,r10.h); v10.h = vshuffo(v6.h,v0.h) }
    { v7.w = vasl(v7.w,r1); v3.w = vadd(v3.w,v14.w); v22.w += vmpyo(v16.w,v9.h):<<1:rnd:sat:shift }
    { r4 = add(r28,r18); v8.w = vasl(v8.w,r1); v2.w = vadd(v2.w,v14.w); v23.w += vmpyo(v21.w,v1.h):<<1:rnd:sat:shift }
    { v10 = vmemu(r4++m0); v21.h = vshuffo(v23.h,v22.h); v23:22.w = vmpy(v10.h,r11.h) }
    { v7.w = vadd(v7.w,v11.w); v8.w = vadd(v8.w,v11.w); r1:0 = memd(r26+#-64); v23.w += vmpyo(v6.w,v25.h):<<1:rnd:sat:shift }
    { v19.w = vadd(v19.w,v11.w); r21:20 = memd(r26+#-80); v22.w += vmpyo(v0.w,v24.h):<<1:rnd:sat:shift; v6.h = vshuffo(v12.h,v18.h) }
    { v0.h = vshuffo(v23.h,v22.h); v16.h = vshuffo(v28.h,v7.h); v23:22.w = vmpy(v15.h,r10.h) }
    { v11 = vmemu(r4++m0); v15:14.w = vmpy(v6.h,r10.h); v4.h = vshuffo(v3.h,v8.h) }
    { v6 = vmemu(r4++m0); v0.ub = vasr(v0.h,v21.h,r7):sat; v22.w += vmpyo(v20.w,v9.h):<<1:rnd:sat:shift }
    { v21 = vmemu(r4++m0); v17.h = vshuffo(v13.h,v31.h); v23.w += vmpyo(v17.w,v1.h):<<1:rnd:sat:shift }
    { v27:26.b = vshuffoe(v11.b,v10.b); v15.w += vmpyo(v12.w,v1.h):<<1:rnd:sat:shift }
    { v11:10.w = vmpy(v17.h,r10.h); v5.h = vshuffo(v23.h,v22.h); v0.ub = vmax(v0.ub,v30.ub) }
    { v20 = vmemu(r4++m0); v11.w += vmpyo(v13.w,v1.h):<<1:rnd:sat:shift; v0.ub = vmin(v0.ub,v29.ub) }
    { v23:22.b = vshuffoe(v21.b,v6.b); v13:12.w = vmpy(v16.h,r11.h) }
    { v17:16.w = vmpy(v4.h,r11.h); v4.h = vshuffo(v2.h,v19.h); vmemu(r6++m0) = v0 }
    { v1:0.h = vshuffoe(v23.h,v27.h); v14.w += vmpyo(v18.w,v9.h):<<1:rnd:sat:shift }
    { v18 = vmemu(r4++m0); v16.w += vmpyo(v8.w,v24.h):<<1:rnd:sat:shift }
    { v21:20.b = vshuffoe(v18.b,v20.b); v10.w += vmpyo(v31.w,v9.h):<<1:rnd:sat:shift }
    { v9:8.h = vshuffoe(v20.h,v22.h); v13.w += vmpyo(v28.w,v25.h):<<1:rnd:sat:shift }
    { v7:6.h = vshuffoe(v22.h,v26.h); r3:2 = memd(r26+#-144); r5:4 = memd(r26+#-56); v12.w += vmpyo(v7.w,v24.h):<<1:rnd:sat:shift }
    { v3 = vror(v6,r25); r23:22 = memd(r26+#-104); v18.h = vshuffo(v13.h,v12.h); v17.w += vmpyo(v3.w,v25.h):<<1:rnd:sat:shift }
    { v23:22.h = vshuffoe(v21.h,v23.h); v21.w = vrmpy(v7.ub,r20.b); v28.w = vrmpy(v1.ub,r15.b) }
    { v4 = vror(v6,r24); r17:16 = memd(r26+#-40); v12.h = vshuffo(v15.h,v14.h); v27:26.w = vmpy(v4.h,r11.h) }
    { v2 = vror(v8,r25); v17.h = vshuffo(v17.h,v16.h); v27.w += vmpyo(v2.w,v25.h):<<1:rnd:sat:shift }
    { r11:10 = memd(r26+#-128); v16.w = vrmpy(v6.ub,r2.b); v20.w = vrmpy(v8.ub,r3.b); v25 = vror(v7,r24) }
    { v13.w = vrmpy(v7.ub,r21.b); v17.w = vrmpy(v9.ub,r21.b); v15 = vror(v9,r25); v14.ub = vasr(v17.h,v12.h,r7):sat }
    { r9:8 = memd(r26+#-136); v24 = vror(v0,r25); v26.w += vmpyo(v19.w,v24.h):<<1:rnd:sat:shift; v14.ub = vmax(v14.ub,v30.ub) }
    { v16.w += vrmpy(v3.ub,r8.b); r21:20 = memd(r26+#-72); v12.w = vrmpy(v9.ub,r20.b); v19.h = vshuffo(v27.h,v26.h) }
    { v20.w += vrmpy(v2.ub,r9.b); v17.w += vrmpy(v15.ub,r21.b); v11 = vror(v9,r24); v10.h = vshuffo(v11.h,v10.h) }
    { v27 = vror(v7,r25); v10 = vsplat(r4); v12.w += vrmpy(v15.ub,r20.b); v26.ub = vasr(v18.h,v10.h,r7):sat }
    { v31.w = vrmpy(v6.ub,r3.b); v18.w = vrmpy(v8.ub,r2.b); v7 = vror(v23,r24); v19.ub = vasr(v19.h,v5.h,r7):sat }
    { v9 = vror(v8,r24); v13.w += vrmpy(v27.ub,r21.b); r3:2 = memd(r26+#-32); v6.w = vrmpy(v1.ub,r14.b) }
    { v18.w += vrmpy(v2.ub,r8.b); v12.w += vrmpy(v11.ub,r0.b); v15 = vror(v1,r25); v26.ub = vmax(v26.ub,v30.ub) }
    { v16.w += vrmpy(v4.ub,r10.b); v20.w += vrmpy(v9.ub,r11.b); v12.w = vasl(v12.w,r5); v8 = vror(v23,r25) }
    { r9:8 = memd(r26+#-120); v31.w += vrmpy(v3.ub,r9.b); v13.w += vrmpy(v25.ub,r1.b); v19.ub = vmax(v19.ub,v30.ub) }
    { v16.w = vasl(v16.w,r9); v21.w += vrmpy(v27.ub,r20.b); v26.ub = vmin(v26.ub,v29.ub); v19.ub = vmin(v19.ub,v29.ub) }
    { v17.w += vrmpy(v11.ub,r1.b); v3.w = vrmpy(v23.ub,r14.b); vmemu(r6++m0) = v26 }
    { v5 = vsplat(r8); v20.w = vasl(v20.w,r9); v3.w += vrmpy(v8.ub,r16.b); v14.ub = vmin(v14.ub,v29.ub) }
    { v18.w += vrmpy(v9.ub,r10.b); v11 = vror(v0,r24); v21.w += vrmpy(v25.ub,r0.b); r21:20 = memd(r26+#-24) }
    { v18.w = vasl(v18.w,r9); r13:12 = memd(r26+#-112); v28.w += vrmpy(v15.ub,r17.b); v3.w += vrmpy(v7.ub,r2.b) }
    { v9 = vsplat(r9); r1:0 = memd(r26+#-88); v13.w = vasl(v13.w,r5); v2.w = vrmpy(v23.ub,r15.b) }
    { v31.w += vrmpy(v4.ub,r11.b); v20.w = vadd(v20.w,v5.w); v4 = vror(v1,r24); v2.w += vrmpy(v8.ub,r17.b) }
    { v2.w += vrmpy(v7.ub,r3.b); v3.w = vasl(v3.w,r21); vmemu(r6++m0) = v14 }
    { v31.w = vasl(v31.w,r9); v7.w = vrmpy(v0.ub,r13.b); v8.w = vrmpy(v22.ub,r12.b); v26 = vror(v22,r25) }
    { v0.w = vrmpy(v0.ub,r12.b); v17.w = vasl(v17.w,r5); v25 = vsplat(r21); r11:10 = memd(r26+#-16) }
    { v18.w = vadd(v18.w,v5.w); v21.w = vasl(v21.w,r5); v6.w += vrmpy(v15.ub,r16.b); v14 = vsplat(r20) }
    { v12.w = vadd(v12.w,v10.w); v6.w += vrmpy(v4.ub,r2.b); vmemu(r6++m0) = v19 } :endloop0
    end
    .size tn_hx_columns_row, . - tn_hx_columns_row

    .globl tn_hx_columns_blocks
    .type tn_hx_columns_blocks, @function
    .p2align 4
tn_hx_columns_blocks:
    begin 120
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r4 = add(r28,r10); r6 = add(r27,r11) }
blocks_loop:
    { v26.w = vrmpy(v2.ub,r0.b); v16.w += vrmpy(v26.ub,r18.b); v22.w = vasl(v22.w,r15); v8 = vror(v8,r25) }
    { v31.w = vrmpy(v0.ub,r10.b); v28 = vror(v28,r25); v5.w = vasl(v5.w,r9); v17.w += vrmpy(v8.ub,r2.b) }
    { v2 = vmemu(r4+#0); v4.w = vasl(v4.w,r8); v23.w += vrmpy(v28.ub,r16.b) }
    { v6 = vror(v6,r25); v11.w += vrmpy(v18.ub,r18.b); v8 = vsplat(r3); v17.w = vasl(v17.w,r15) }
    { v3:2 = vdeal(v27,v2,r5); v27 = vsplat(r13); v28 = vsplat(r19); r3:2 = memd(r26+#-16) }
    { v31.w += vrmpy(v2.ub,r11.b); v20 = vror(v20,r25); v11.w = vasl(v11.w,r9); v25.w += vrmpy(v2.ub,r2.b) }
    { v9 = vsplat(r17); v26.w += vrmpy(v14.ub,r1.b); v5.w = vadd(v5.w,v28.w); v7.w = vasl(v7.w,r15) }
    { v24 = vror(v24,r25); v11.w = vadd(v11.w,v28.w); v16.w = vasl(v16.w,r9); v17.w = vadd(v17.w,v8.w) }
    { v10.w += vrmpy(v24.ub,r12.b); v18.h = vshuffe(v0.h,v12.h); v21 = vsplat(r15); r19:18 = memd(r26+#-32) }
    { v10.w = vasl(v10.w,r8); v6.h = vshuffe(v2.h,v0.h); v19.w += vrmpy(v6.ub,r16.b); v22.w = vadd(v22.w,v8.w) }
    { v24.w = vrmpy(v12.ub,r10.b); v6 = vror(v6,r25); v23.w = vasl(v23.w,r14); v13.h = vshuffe(v3.h,v14.h) }
    { v4.w = vadd(v4.w,v27.w); v24.w += vrmpy(v0.ub,r11.b); v26.w += vrmpy(v20.ub,r16.b); v7.w = vadd(v7.w,v8.w) }
    { r21:20 = memd(r26++m1); v18 = vror(v18,r25); v0.h = vshuffe(v2.h,v1.h); v20.w = vrmpy(v15.ub,r22.b) }
    { v24.w += vrmpy(v18.ub,r12.b); v18.w = vrmpy(v14.ub,r0.b); v0 = vror(v0,r25); r23:22 = memd(r26+#-128) }
    { v23.w = vadd(v23.w,v9.w); v19.w = vasl(v19.w,r14); v25.w += vrmpy(v0.ub,r3.b); v20.w += vrmpy(v3.ub,r22.b) }
    { v24.w = vasl(v24.w,r8); v31.w += vrmpy(v6.ub,r12.b); v14.h = vshuffe(v3.h,v15.h); v0.h = vshuffo(v22.h,v23.h) }
    { r4 = add(r28,r20); v14 = vror(v14,r25); v6.h = vshuffo(v5.h,v4.h); v1:0.w = vmpy(v0.h,r19.h) }
    { v10.w = vadd(v10.w,v27.w); v15 = vsplat(r14); v20.w += vrmpy(v14.ub,r23.b) }
    { v19.w = vadd(v19.w,v9.w); v13 = vror(v13,r25); v18.w += vrmpy(v3.ub,r1.b); v3 = vsplat(r9) }
    { v14 = vsplat(r8); v24.w = vadd(v24.w,v27.w); v18.w += vrmpy(v13.ub,r16.b); v25.w = vasl(v25.w,r9) }
    { v23 = vmemu(r4+#1); v26.w = vasl(v26.w,r14); v0.w += vmpyo(v23.w,v15.h):<<1:rnd:sat:shift }
    { r1:0 = memd(r26+#-96); v20.w = vasl(v20.w,r15); v1.w += vmpyo(v22.w,v21.h):<<1:rnd:sat:shift; v22.h = vshuffo(v7.h,v19.h) }
    { v2 = vmemu(r4++m0); v18.w = vasl(v18.w,r14); v13:12.w = vmpy(v6.h,r18.h) }
    { v13.w += vmpyo(v5.w,v3.h):<<1:rnd:sat:shift; v6.h = vshuffo(v1.h,v0.h); v0.h = vshuffo(v11.h,v10.h) }
    { v8 = vmemu(r4+#1); v20.w = vadd(v20.w,v8.w); v12.w += vmpyo(v4.w,v14.h):<<1:rnd:sat:shift }
    { v22 = vmemu(r4++m0); v26.w = vadd(v26.w,v9.w); v5:4.w = vmpy(v22.h,r19.h) }
    { v13.h = vshuffo(v13.h,v12.h); v1:0.w = vmpy(v0.h,r18.h) }
    { v10 = vmemu(r4+#1); v6.ub = vasr(v6.h,v13.h,r7):sat; v0.w += vmpyo(v10.w,v14.h):<<1:rnd:sat:shift }
    { v9:8 = vdeal(v8,v22,r5); v18.w = vadd(v18.w,v9.w); v6.ub = vmax(v6.ub,v30.ub) }
    { v23:22 = vdeal(v23,v2,r5); v25.w = vadd(v25.w,v28.w); v2.h = vshuffo(v20.h,v18.h) }
    { v13 = vmemu(r4++m0); v1.w += vmpyo(v11.w,v3.h):<<1:rnd:sat:shift }
    { r17:16 = memd(r26+#-88); v5.w += vmpyo(v7.w,v21.h):<<1:rnd:sat:shift; v11.h = vshuffo(v17.h,v26.h) }
    { v13:12 = vdeal(v10,v13,r5); r15:14 = memd(r26+#-80); r23:22 = memd(r26+#-64); v11:10.w = vmpy(v11.h,r19.h) }
    { v17 = vmemu(r4+#1); v31.w = vasl(v31.w,r8); v11.w += vmpyo(v17.w,v21.h):<<1:rnd:sat:shift }
    { v19 = vmemu(r4++m0); v7.h = vshuffo(v1.h,v0.h); v4.w += vmpyo(v19.w,v15.h):<<1:rnd:sat:shift }
    { v1:0 = vdeal(v17,v19,r5); v19.h = vshuffo(v5.h,v4.h); v6.ub = vmin(v6.ub,v29.ub) }
    { v17 = vmemu(r4+#1); v19.ub = vasr(v19.h,v7.h,r7):sat; v10.w += vmpyo(v26.w,v15.h):<<1:rnd:sat:shift }
    { v2 = vmemu(r4++m0); v16.w = vadd(v16.w,v28.w); v5:4.w = vmpy(v2.h,r19.h) }
    { v18 = vmemu(r4+#1); v28.h = vshuffo(v16.h,v24.h); v4.w += vmpyo(v18.w,v15.h):<<1:rnd:sat:shift }
    { v21:20.b = vshuffoe(v1.b,v13.b); v5.w += vmpyo(v20.w,v21.h):<<1:rnd:sat:shift }
    { v28 = vmemu(r4++m0); v31.w = vadd(v31.w,v27.w); v27:26.w = vmpy(v28.h,r18.h) }
    { v7.w = vrmpy(v21.ub,r22.b); v6.h = vshuffo(v25.h,v31.h); vmemu(r6+#0) = v6 }
    { v1:0.b = vshuffoe(v0.b,v12.b); v26.w += vmpyo(v24.w,v14.h):<<1:rnd:sat:shift; r6 = add(r6,r24) }
    { v6 = vmemu(r4+#1); v13:12.w = vmpy(v6.h,r18.h); v19.ub = vmax(v19.ub,v30.ub) }
    { v25:24.b = vshuffoe(v9.b,v23.b); v13.w += vmpyo(v25.w,v3.h):<<1:rnd:sat:shift }
    { v16 = vmemu(r4++m0); v27.w += vmpyo(v16.w,v3.h):<<1:rnd:sat:shift; v4.h = vshuffo(v5.h,v4.h) }
    { v15 = vmemu(r4+#1); v11.w = vrmpy(v1.ub,r14.b); v10.h = vshuffo(v11.h,v10.h) }
    { v9:8.b = vshuffoe(v8.b,v22.b); r11:10 = memd(r26+#-112); v22.w = vrmpy(v25.ub,r22.b); v19.ub = vmin(v19.ub,v29.ub) }
    { v3:2 = vdeal(v17,v2,r5); v23.w = vrmpy(v24.ub,r0.b); v26.h = vshuffo(v27.h,v26.h) }
    { v27 = vmemu(r4++m0); v10.w = vrmpy(v0.ub,r10.b); v17.ub = vasr(v10.h,v26.h,r7):sat }
    { v31.h = vshuffe(v1.h,v9.h); v12.w += vmpyo(v31.w,v14.h):<<1:rnd:sat:shift; vmemu(r6+#0) = v19 }
    { v19:18 = vdeal(v18,v28,r5); v28.h = vshuffe(v20.h,v24.h); v26.h = vshuffe(v21.h,v25.h); r6 = add(r6,r24) }
    { v13:12.b = vshuffoe(v18.b,v2.b); r19:18 = memd(r26+#-72); v25.h = vshuffo(v13.h,v12.h); v17.ub = vmax(v17.ub,v30.ub) }
    { v5.w = vrmpy(v9.ub,r14.b); v11.w += vrmpy(v13.ub,r15.b); v26 = vror(v26,r25); v24.ub = vasr(v4.h,v25.h,r7):sat }
    { v25.h = vshuffe(v0.h,v8.h); v31 = vror(v31,r25); v22.w += vrmpy(v21.ub,r23.b); v17.ub = vmin(v17.ub,v29.ub) }
    { v3:2.b = vshuffoe(v19.b,v3.b); r13:12 = memd(r26+#-104); v4.w = vrmpy(v8.ub,r10.b); v18.h = vshuffe(v13.h,v1.h) }
    { v19.w = vrmpy(v20.ub,r0.b); v7.w += vrmpy(v3.ub,r23.b); vmemu(r6+#0) = v17 }
    { v9:8 = vdeal(v6,v16,r5); r3:2 = memd(r26+#-56); v17.w = vrmpy(v3.ub,r22.b); v24.ub = vmax(v24.ub,v30.ub) }
    { v15:14 = vdeal(v15,v27,r5); v4.w += vrmpy(v0.ub,r11.b); v10.w += vrmpy(v12.ub,r11.b); r6 = add(r6,r24) }
    { v25 = vror(v25,r25); v5.w += vrmpy(v1.ub,r15.b); v16.w = vrmpy(v13.ub,r14.b); v24.ub = vmin(v24.ub,v29.ub) }
    { v4.w += vrmpy(v25.ub,r12.b); v22.w += vrmpy(v26.ub,r2.b); vmemu(r6+#0) = v24 }
    { v1:0.b = vshuffoe(v14.b,v8.b); v24.h = vshuffe(v12.h,v0.h); v25.h = vshuffe(v3.h,v21.h) }
    { r6 = add(r27,r21); v27 = vmemu(r4+#1); v16.w += vrmpy(v1.ub,r15.b) }
    { v15:14.b = vshuffoe(v15.b,v9.b); r9:8 = memd(r26+#-48); v6.h = vshuffe(v2.h,v20.h); v26.h = vshuffe(v1.h,v13.h) }
    { v23.w += vrmpy(v20.ub,r1.b); v19.w += vrmpy(v2.ub,r1.b); v20.h = vshuffe(v14.h,v2.h); v25 = vror(v25,r25) }
    { v5.w += vrmpy(v31.ub,r18.b); v18 = vror(v18,r25); v7.w += vrmpy(v25.ub,r2.b); v8.h = vshuffe(v15.h,v3.h) }
    { r15:14 = memd(r26+#-40); v26 = vror(v26,r25); v25.w = vrmpy(v1.ub,r14.b); v17.w += vrmpy(v15.ub,r23.b) } :endloop0
    end
    .size tn_hx_columns_blocks, . - tn_hx_columns_blocks

    .globl tn_hx_columns_quarter_even
    .type tn_hx_columns_quarter_even, @function
    .p2align 4
tn_hx_columns_quarter_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(quarter_even_loop,r1); r5 = #-32; r6 = #32 }
    { r4 = add(r27,r11); r19:18 = combine(r11,r10) }
quarter_even_loop:
    { v0.w = vasl(v0.w,r17); v5.w = vrmpy(v7.ub,r21.b); if (q1) v21.h += v23.h; q3 &= vcmp.gt(v9.uh,v15.uh) }
    { v4 = vsplat(r16); v1.w = vadd(v1.w,v11.w); v22.w += vrmpy(v16.ub,r0.b); if (q3) v3.h += v23.h }
    { v8.w = vasl(v8.w,r17); v0.w = vadd(v0.w,v4.w); v17.w = vadd(v17.w,v11.w); if (q0) v20.h += v23.h }
    { v13.w += vrmpy(v14.ub,r14.b); v12.w += vrmpy(v14.ub,r15.b); r21:20 = memd(r26+#-32); v2.h = vshuffo(v17.h,v0.h) }
    { v18 = vror(v7,r24); v11 = vsplat(r13); v9 = vsplat(r3); vmem(r4+#-1) = v26 }
    { r11:10 = memd(r26+#-88); v19 = vsplat(r11); v22.w += vrmpy(v18.ub,r20.b); v21.ub = vasr(v21.h,v20.h,r7):sat }
    { v8.w = vadd(v8.w,v4.w); v10 = vsplat(r17); v4 = vsplat(r12); v20.ub = vasr(v3.h,v10.h,r7):sat }
    { v5.w += vrmpy(v16.ub,r1.b); r1:0 = memd(r26+#-16); v16.h = vshuffo(v1.h,v8.h); v15:14 = vshuff(v20,v21,r5) }
    { v12.w = vasl(v12.w,r11); v7:6.w = vmpy(v2.h,r0.h); v14.ub = vmax(v14.ub,v30.ub) }
    { v20 = vsplat(r10); v5.w += vrmpy(v18.ub,r21.b); v22.w = vasl(v22.w,r13); v15.ub = vmax(v15.ub,v28.ub) }
    { v12.w = vadd(v12.w,v20.w); v7.w += vmpyo(v17.w,v19.h):<<1:rnd:sat:shift; v17.ub = vmin(v15.ub,v27.ub); vmem(r4+#1) = v17.new }
    { r17:16 = memd(r26+#8); v13.w = vasl(v13.w,r11); v22.w = vadd(v22.w,v4.w); v6.w += vmpyo(v0.w,v10.h):<<1:rnd:sat:shift }
    { v13.w = vadd(v13.w,v20.w); v17:16.w = vmpy(v16.h,r0.h); v20.ub = vmin(v14.ub,v29.ub); vmem(r4+#0) = v20.new }
    { r13:12 = memd(r26+#16); v5.w = vasl(v5.w,r13); v16.w += vmpyo(v8.w,v10.h):<<1:rnd:sat:shift; vmem(r4+#2) = v26 }
    { r19:18 = memd(r26++m1); r4 = add(r27,r19); v8 = vsplat(r11); v5.w = vadd(v5.w,v4.w) }
    { r11 = add(r28,r18); v17.w += vmpyo(v1.w,v19.h):<<1:rnd:sat:shift; v10.h = vshuffo(v7.h,v6.h); v4.h = vshuffo(v5.h,v12.h) }
    { v0 = vmemu(r11+#1); v21.h = vshuffe(v7.h,v6.h); v15:14.w = vmpy(v4.h,r1.h) }
    { v4 = vmemu(r11+#0); v20.h = vshuffo(v17.h,v16.h); v15.w += vmpyo(v5.w,v11.h):<<1:rnd:sat:shift }
    { v1:0 = vdeal(v0,v4,r5); v5.h = vshuffo(v22.h,v13.h); v3 = vand(v10,v24) }
    { v5:4.b = vshuffoe(v1.b,v0.b); r11:10 = memd(r26+#-80); r1:0 = memd(r26+#-72); v19:18.w = vmpy(v5.h,r1.h) }
    { v13 = valign(v31,v4,r6); r15:14 = memd(r26+#-128); v18.w += vmpyo(v13.w,v8.h):<<1:rnd:sat:shift }
    { v7:6.h = vshuffoe(v13.h,v4.h); r9:8 = memd(r26+#-112); r23:22 = memd(r26+#-64); v14.w += vmpyo(v12.w,v8.h):<<1:rnd:sat:shift }
    { v8.w = vrmpy(v6.ub,r16.b); v3 = vror(v6,r25); v13 = vsplat(r2); q3 = vcmp.eq(v3.h,v25.h) }
    { v0.w = vrmpy(v6.ub,r17.b); v16 = vror(v6,r24); v12.h = vshuffe(v17.h,v16.h); v17 = vand(v20,v24) }
    { r17:16 = memd(r26+#-120); v2 = vror(v7,r25); r21:20 = memd(r26+#-48); v19.w += vmpyo(v22.w,v11.h):<<1:rnd:sat:shift }
    { v8.w += vrmpy(v3.ub,r12.b); v17.w = vrmpy(v7.ub,r11.b); v22 = vror(v7,r24); q0 = vcmp.eq(v17.h,v25.h) }
    { v11 = valign(v31,v5,r6); v1.w = vrmpy(v7.ub,r10.b); v17.w += vrmpy(v2.ub,r1.b) }
    { v0.w += vrmpy(v3.ub,r13.b); v8.w += vrmpy(v16.ub,r14.b); v21.h = vshuffo(v19.h,v18.h); q3 &= vcmp.gt(v13.uh,v21.uh) }
    { v1.w += vrmpy(v2.ub,r0.b); r3:2 = memd(r26+#-8); v7 = vand(v21,v24); v3.h = vshuffo(v15.h,v14.h) }
    { v0.w += vrmpy(v16.ub,r15.b); r11:10 = memd(r26+#-56); q0 &= vcmp.gt(v13.uh,v12.uh); q1 = vcmp.eq(v7.h,v25.h) }
    { r15:14 = memd(r26+#-96); v17.w += vrmpy(v22.ub,r23.b); if (q3) v10.h += v23.h; v16 = vand(v3,v24) }
    { v7:6.h = vshuffoe(v11.h,v5.h); r23:22 = memd(r26+#-104); v1.w += vrmpy(v22.ub,r22.b); v11 = vsplat(r10) }
    { v17.w = vasl(v17.w,r11); r1:0 = memd(r26+#-40); v5.h = vshuffe(v19.h,v18.h); v15.h = vshuffe(v15.h,v14.h) }
    { v13.w = vrmpy(v6.ub,r8.b); v12.w = vrmpy(v6.ub,r9.b); v16 = vror(v7,r25); q3 = vcmp.eq(v16.h,v25.h) }
    { v4 = vror(v6,r25); v1.w = vasl(v1.w,r11); r13:12 = memd(r26+#-24); v22.w = vrmpy(v7.ub,r20.b) }
    { v13.w += vrmpy(v4.ub,r22.b); v12.w += vrmpy(v4.ub,r23.b); v14 = vror(v6,r24); q1 &= vcmp.gt(v9.uh,v5.uh) } :endloop0
    end
    .size tn_hx_columns_quarter_even, . - tn_hx_columns_quarter_even

    .globl tn_hx_columns_half_even
    .type tn_hx_columns_half_even, @function
    .p2align 4
tn_hx_columns_half_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_even_loop,r1); r5 = #-64 }
    { r19:18 = combine(r11,r10) }
half_even_loop:
    { v0.w = vadd(v0.w,v18.w); v13.w = vasl(v13.w,r3); v15.w += vmpyo(v16.w,v3.h):<<1:rnd:sat:shift }
    { v9.w = vasl(v9.w,r11); v4 = vsplat(r3); v13.w = vadd(v13.w,v11.w); v7.w = vadd(v7.w,v26.w) }
    { v19.w = vasl(v19.w,r3); v12.h = vshuffo(v8.h,v13.h); v14.w += vmpyo(v12.w,v4.h):<<1:rnd:sat:shift }
    { v1.w = vadd(v1.w,v18.w); v19.w = vadd(v19.w,v11.w); v17:16.w = vmpy(v12.h,r9.h) }
    { r4 = add(r27,r19); v6.w = vasl(v6.w,r3); v8.h = vshuffo(v2.h,v19.h); v17.w += vmpyo(v8.w,v3.h):<<1:rnd:sat:shift }
    { v22.w = vadd(v22.w,v18.w); v6.w = vadd(v6.w,v11.w); v16.w += vmpyo(v13.w,v4.h):<<1:rnd:sat:shift }
    { r19:18 = memd(r26++m1); v9.w = vadd(v9.w,v18.w); v27:26.w = vmpy(v8.h,r9.h); v13.h = vshuffe(v15.h,v14.h) }
    { r21:20 = memd(r26+#-160); v8.h = vshuffo(v7.h,v6.h); v27.w += vmpyo(v2.w,v3.h):<<1:rnd:sat:shift; v18.h = vshuffo(v17.h,v16.h) }
    { v17:16.w = vmpy(v8.h,r9.h); v11.h = vshuffe(v17.h,v16.h); v8.h = vshuffo(v15.h,v14.h) }
    { v2.h = vshuffo(v21.h,v22.h); v26.w += vmpyo(v19.w,v4.h):<<1:rnd:sat:shift; v15 = vand(v18,v24) }
    { v19.h = vshuffo(v28.h,v9.h); v17.w += vmpyo(v7.w,v3.h):<<1:rnd:sat:shift; v12 = vand(v8,v24) }
    { v16.w += vmpyo(v6.w,v4.h):<<1:rnd:sat:shift; v3.h = vshuffe(v27.h,v26.h); q3 = vcmp.eq(v12.h,v25.h) }
    { v5:4.w = vmpy(v19.h,r8.h); v19.h = vshuffo(v17.h,v16.h); v12.h = vshuffo(v27.h,v26.h) }
    { r13:12 = memd(r26+#-72); v5.w += vmpyo(v28.w,v10.h):<<1:rnd:sat:shift; v14.h = vshuffe(v17.h,v16.h); v6 = vand(v12,v24) }
    { v28 = vsplat(r11); v7 = vsplat(r21); v17.h = vshuffo(v20.h,v0.h); q2 = vcmp.eq(v15.h,v25.h) }
    { r11:10 = memd(r26+#-144); v4.w += vmpyo(v9.w,v28.h):<<1:rnd:sat:shift; v9 = vand(v19,v24); q1 = vcmp.eq(v6.h,v25.h) }
    { r16 = add(r28,r18); q0 = vcmp.eq(v9.h,v25.h); v17:16.w = vmpy(v17.h,r8.h); v9.h = vshuffo(v31.h,v1.h) }
    { v0.h = vshuffe(v5.h,v4.h); q1 &= vcmp.gt(v7.uh,v3.uh); v16.w += vmpyo(v0.w,v28.h):<<1:rnd:sat:shift }
    { v14 = vmemu(r16+#2); q0 &= vcmp.gt(v7.uh,v14.uh); v17.w += vmpyo(v20.w,v10.h):<<1:rnd:sat:shift }
    { v3 = vmemu(r16+#1); v9.h = vshuffo(v5.h,v4.h); v5:4.w = vmpy(v9.h,r8.h) }
    { v20 = vmemu(r16+#0); q2 &= vcmp.gt(v7.uh,v11.uh); v5.w += vmpyo(v31.w,v10.h):<<1:rnd:sat:shift }
    { v1 = vmemu(r16+#3); v4.w += vmpyo(v1.w,v28.h):<<1:rnd:sat:shift; q3 &= vcmp.gt(v7.uh,v13.uh) }
    { v7:6.w = vmpy(v2.h,r8.h); v31.h = vshuffo(v17.h,v16.h); v13.h = vshuffo(v5.h,v4.h) }
    { v21:20 = vdeal(v14,v20,r5); r1:0 = memd(r26+#-56); v7.w += vmpyo(v21.w,v10.h):<<1:rnd:sat:shift }
    { v3:2 = vdeal(v1,v3,r5); r3:2 = memd(r26+#-40); v15 = vand(v9,v24); v27.h = vshuffe(v17.h,v16.h) }
    { v1 = vmemu(r16+#4); v6.w += vmpyo(v22.w,v28.h):<<1:rnd:sat:shift; if (q1) v12.h += v23.h }
    { v11:10 = vdeal(v1,v14,r5); r17:16 = memd(r26+#-64); if (q0) v19.h += v23.h; v1 = vand(v31,v24) }
    { v16 = vsplat(r20); if (q2) v18.h += v23.h; v14 = vand(v13,v24); if (q3) v8.h += v23.h }
    { v11:10.b = vshuffoe(v11.b,v10.b); v17.h = vshuffo(v7.h,v6.h); v22.h = vshuffe(v7.h,v6.h) }
    { q2 = vcmp.eq(v15.h,v25.h); v28 = vand(v17,v24); q3 = vcmp.eq(v1.h,v25.h); v15.h = vshuffe(v5.h,v4.h) }
    { v1:0.b = vshuffoe(v3.b,v2.b); r9:8 = memd(r26+#-80); q2 &= vcmp.gt(v16.uh,v0.uh); q3 &= vcmp.gt(v16.uh,v27.uh) }
    { v5:4.b = vshuffoe(v21.b,v20.b); if (q2) v9.h += v23.h; q2 = vcmp.eq(v14.h,v25.h) }
    { v7:6.h = vshuffoe(v10.h,v0.h); r21:20 = memd(r26+#-48); q3 = vcmp.eq(v28.h,v25.h); if (q3) v31.h += v23.h }
    { v3:2.h = vshuffoe(v0.h,v4.h); q3 &= vcmp.gt(v16.uh,v22.uh); q2 &= vcmp.gt(v16.uh,v15.uh) }
    { v22.w = vrmpy(v2.ub,r11.b); v27 = vror(v2,r25); v21.w = vrmpy(v3.ub,r9.b); v14.ub = vasr(v19.h,v9.h,r7):sat }
    { v5:4.h = vshuffoe(v1.h,v5.h); r15:14 = memd(r26+#-136); v20.w = vrmpy(v7.ub,r8.b); if (q3) v17.h += v23.h }
    { v28.w = vrmpy(v3.ub,r8.b); v15 = vror(v3,r25); v17.ub = vasr(v12.h,v17.h,r7):sat; if (q2) v13.h += v23.h }
    { v28.w += vrmpy(v15.ub,r12.b); v31.w = vrmpy(v7.ub,r9.b); v12 = vror(v7,r25); v16.ub = vasr(v18.h,v31.h,r7):sat }
    { v19:18.h = vshuffoe(v11.h,v1.h); v22.w += vrmpy(v27.ub,r15.b); v31.w += vrmpy(v12.ub,r13.b) }
    { v9.w = vrmpy(v2.ub,r10.b); v1.w = vrmpy(v6.ub,r11.b); v8 = vror(v3,r24); v13.ub = vasr(v8.h,v13.h,r7):sat }
    { r23:22 = memd(r26+#-128); v21.w += vrmpy(v15.ub,r13.b); v20.w += vrmpy(v12.ub,r12.b); v15 = vror(v7,r24) }
    { v0.w = vrmpy(v6.ub,r10.b); v21.w += vrmpy(v8.ub,r17.b); r9:8 = memd(r26+#-16); v11:10 = vshuff(v17,v14,r5) }
    { v9.w += vrmpy(v27.ub,r14.b); v17 = vror(v6,r25); v28.w += vrmpy(v8.ub,r16.b); v11.ub = vmax(v11.ub,v30.ub) }
    { v1.w += vrmpy(v17.ub,r15.b); v12 = vror(v6,r24); v28.w = vasl(v28.w,r1); r13:12 = memd(r26+#-24) }
    { v3 = vror(v2,r24); v1.w += vrmpy(v12.ub,r23.b); v8.w = vrmpy(v19.ub,r20.b); v10.ub = vmax(v10.ub,v30.ub) }
    { v22.w += vrmpy(v3.ub,r23.b); v7.w = vrmpy(v5.ub,r20.b); v2.ub = vmin(v11.ub,v29.ub); vmem(r4+#2) = v2.new }
    { v2.w = vrmpy(v5.ub,r21.b); v13.ub = vmin(v10.ub,v29.ub); vmem(r4+#0) = v13.new; v11:10 = vshuff(v13,v16,r5) }
    { r11:10 = memd(r26+#-120); v0.w += vrmpy(v17.ub,r14.b); v13 = vror(v5,r25); v16.w = vrmpy(v19.ub,r21.b) }
    { v22.w = vasl(v22.w,r11); v7.w += vrmpy(v13.ub,r2.b); v14 = vror(v19,r25); v11.ub = vmax(v11.ub,v30.ub) }
    { r17:16 = memd(r26+#-112); v20.w += vrmpy(v15.ub,r16.b); v31.w += vrmpy(v15.ub,r17.b); v15 = vror(v5,r24) }
    { v0.w += vrmpy(v12.ub,r22.b); v21.w = vasl(v21.w,r1); v16.w += vrmpy(v14.ub,r3.b); v6 = vror(v19,r24) }
    { v9.w += vrmpy(v3.ub,r22.b); v2.w += vrmpy(v13.ub,r3.b); v12.ub = vmin(v11.ub,v29.ub); vmem(r4+#3) = v12.new }
    { v12.w = vrmpy(v18.ub,r17.b); v17 = vsplat(r0); r15:14 = memd(r26+#-32); v10.ub = vmax(v10.ub,v30.ub) }
    { r21:20 = memd(r26+#-104); v3 = vror(v4,r25); v2.w += vrmpy(v15.ub,r15.b); v8.w += vrmpy(v14.ub,r2.b) }
    { v28.w = vadd(v28.w,v17.w); v31.w = vasl(v31.w,r1); v7.w += vrmpy(v15.ub,r14.b); v16.w += vrmpy(v6.ub,r15.b) }
    { v0.w = vasl(v0.w,r11); v13.w = vrmpy(v18.ub,r16.b); v6 = vror(v18,r25); v8.w += vrmpy(v6.ub,r14.b) }
    { r15:14 = memd(r26+#-96); v13.w += vrmpy(v6.ub,r20.b); v12.w += vrmpy(v6.ub,r21.b); v20.w = vasl(v20.w,r1) }
    { v6.w = vrmpy(v4.ub,r16.b); v8.w = vasl(v8.w,r13); v10.ub = vmin(v10.ub,v29.ub); vmem(r4+#1) = v10.new }
    { r3:2 = memd(r26+#-88); v18 = vror(v18,r24); v26 = vsplat(r12); v2.w = vasl(v2.w,r13) }
    { v11 = vsplat(r2); v12.w += vrmpy(v18.ub,r15.b); v20.w = vadd(v20.w,v17.w); v16.w = vasl(v16.w,r13) }
    { v19.w = vrmpy(v4.ub,r17.b); v6.w += vrmpy(v3.ub,r20.b); v12.w = vasl(v12.w,r3); v8.w = vadd(v8.w,v26.w) }
    { v19.w += vrmpy(v3.ub,r21.b); v12.w = vadd(v12.w,v11.w); v3 = vsplat(r13); v16.w = vadd(v16.w,v26.w) }
    { v4 = vror(v4,r24); v13.w += vrmpy(v18.ub,r14.b); v31.w = vadd(v31.w,v17.w); v7.w = vasl(v7.w,r13) }
    { v18 = vsplat(r10); v19.w += vrmpy(v4.ub,r15.b) }
    { v1.w = vasl(v1.w,r11); v6.w += vrmpy(v4.ub,r14.b); v10 = vsplat(r1); v4.h = vshuffo(v16.h,v12.h) }
    { v21.w = vadd(v21.w,v17.w); v2.w = vadd(v2.w,v26.w); v15:14.w = vmpy(v4.h,r9.h) } :endloop0
    end
    .size tn_hx_columns_half_even, . - tn_hx_columns_half_even

    .globl tn_hx_columns_row_even
    .type tn_hx_columns_row_even, @function
    .p2align 4
tn_hx_columns_row_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_even_loop,r1) }
    { r5:4 = combine(r11,r10) }
row_even_loop:
    { v12.w = vadd(v12.w,v9.w); r21:20 = memd(r26+#40); v22.w = vadd(v22.w,v20.w); v27.w += vmpyo(v11.w,v17.h):<<1:rnd:sat:shift }
    { v16.w += vrmpy(v10.ub,r8.b); v8 = vsplat(r18); v13.w = vadd(v13.w,v8.w); v11.h = vshuffo(v6.h,v15.h) }
    { r6 = add(r27,r5); v5.w = vadd(v5.w,v9.w); v26.w += vmpyo(v3.w,v4.h):<<1:rnd:sat:shift; v10.h = vshuffo(v13.h,v12.h) }
    { v31.w = vasl(v31.w,r19); v1.w = vadd(v1.w,v20.w); v19:18.w = vmpy(v11.h,r0.h) }
    { v21.w = vasl(v21.w,r19); v14.w = vadd(v14.w,v8.w); v11:10.w = vmpy(v10.h,r0.h) }
    { r5:4 = memd(r26++m1); v16.w = vasl(v16.w,r19); v7.h = vshuffo(v27.h,v26.h); v18.w += vmpyo(v15.w,v4.h):<<1:rnd:sat:shift }
    { r8 = add(r28,r4); v15.h = vshuffe(v27.h,v26.h); v10.w += vmpyo(v12.w,v4.h):<<1:rnd:sat:shift; v12.h = vshuffo(v0.h,v5.h) }
    { r15:14 = memd(r26+#-144); v31.w = vadd(v31.w,v8.w); v2.w = vasl(v2.w,r3); v11.w += vmpyo(v13.w,v17.h):<<1:rnd:sat:shift }
    { v16.w = vadd(v16.w,v8.w); r13:12 = memd(r26+#-160); v3 = vand(v7,v24); v13:12.w = vmpy(v12.h,r0.h) }
    { v28.w = vadd(v28.w,v20.w); q1 = vcmp.eq(v3.h,v25.h); v13.w += vmpyo(v0.w,v17.h):<<1:rnd:sat:shift }
    { r11:10 = memd(r26+#-56); v0.h = vshuffe(v11.h,v10.h); v5.h = vshuffo(v28.h,v14.h); v12.w += vmpyo(v5.w,v4.h):<<1:rnd:sat:shift }
    { v5 = vmemu(r8++m0); v4.h = vshuffo(v11.h,v10.h); v11:10.w = vmpy(v5.h,r1.h) }
    { v9 = vsplat(r19); v21.w = vadd(v21.w,v8.w); v3 = vsplat(r12); v26 = vand(v4,v24) }
    { v6 = vmemu(r8++m0); v19.w += vmpyo(v6.w,v17.h):<<1:rnd:sat:shift; v17.h = vshuffo(v1.h,v21.h) }
    { v10.w += vmpyo(v14.w,v9.h):<<1:rnd:sat:shift; v14.h = vshuffo(v13.h,v12.h); v8.h = vshuffe(v13.h,v12.h) }
    { v27.h = vshuffo(v19.h,v18.h); v13:12.w = vmpy(v17.h,r1.h); q2 = vcmp.eq(v26.h,v25.h) }
    { v2.w = vadd(v2.w,v20.w); v17 = vand(v27,v24); v12.w += vmpyo(v21.w,v9.h):<<1:rnd:sat:shift }
    { v17 = vsplat(r3); q0 = vcmp.eq(v17.h,v25.h); q2 &= vcmp.gt(v3.uh,v0.uh); v21 = vand(v14,v24) }
    { v18.h = vshuffe(v19.h,v18.h); v13.w += vmpyo(v1.w,v17.h):<<1:rnd:sat:shift; v20.h = vshuffo(v2.h,v31.h) }
    { v19 = vmemu(r8++m0); q3 = vcmp.eq(v21.h,v25.h); v1:0.w = vmpy(v20.h,r1.h) }
    { q1 &= vcmp.gt(v3.uh,v15.uh); v15.h = vshuffo(v22.h,v16.h); v1.w += vmpyo(v2.w,v17.h):<<1:rnd:sat:shift }
    { if (q2) v4.h += v23.h; q3 &= vcmp.gt(v3.uh,v8.uh); v0.w += vmpyo(v31.w,v9.h):<<1:rnd:sat:shift }
    { v31 = vmemu(r8++m0); v21:20.w = vmpy(v15.h,r1.h); v15.h = vshuffe(v1.h,v0.h) }
    { v1 = vmemu(r8++m0); v21.w += vmpyo(v22.w,v17.h):<<1:rnd:sat:shift; v22.h = vshuffo(v1.h,v0.h) }
    { v8 = vmemu(r8++m0); v2.h = vshuffo(v13.h,v12.h); v11.w += vmpyo(v28.w,v17.h):<<1:rnd:sat:shift }
    { r3:2 = memd(r26+#-80); v20.w += vmpyo(v16.w,v9.h):<<1:rnd:sat:shift; v28.h = vshuffo(v11.h,v10.h); v9 = vand(v22,v24) }
    { v17:16.b = vshuffoe(v6.b,v5.b); v0.h = vshuffo(v21.h,v20.h); q0 &= vcmp.gt(v3.uh,v18.uh) }
    { if (q0) v27.h += v23.h; v11.h = vshuffe(v13.h,v12.h); v5.h = vshuffe(v11.h,v10.h); v26 = vand(v28,v24) }
    { v13:12.b = vshuffoe(v31.b,v19.b); if (q3) v14.h += v23.h; q0 = vcmp.eq(v9.h,v25.h) }
    { v19:18.h = vshuffoe(v12.h,v16.h); r23:22 = memd(r26+#-136); v31 = vsplat(r13) }
    { v17:16.h = vshuffoe(v13.h,v17.h); v3.w = vrmpy(v18.ub,r14.b); r19:18 = memd(r26+#-64); v6 = vand(v0,v24) }
    { v10 = vror(v18,r25); v15.h = vshuffe(v21.h,v20.h); v20 = vand(v2,v24); q0 &= vcmp.gt(v31.uh,v15.uh) }
    { v21:20.b = vshuffoe(v8.b,v1.b); q2 = vcmp.eq(v20.h,v25.h); q3 = vcmp.eq(v26.h,v25.h) }
    { v9:8.h = vshuffoe(v20.h,v12.h); q0 = vcmp.eq(v6.h,v25.h); if (q0) v22.h += v23.h }
    { v21:20.h = vshuffoe(v21.h,v13.h); r13:12 = memd(r26+#-32); q0 &= vcmp.gt(v31.uh,v15.uh); q3 &= vcmp.gt(v31.uh,v5.uh) }
    { v5.w = vrmpy(v8.ub,r15.b); r1:0 = memd(r26+#-72); v6.w = vrmpy(v19.ub,r3.b); v1 = vror(v19,r25) }
    { v15.w = vrmpy(v18.ub,r15.b); v31 = vror(v9,r25); if (q1) v7.h += v23.h; q2 &= vcmp.gt(v31.uh,v11.uh) }
    { v11.w = vrmpy(v19.ub,r2.b); v6.w += vrmpy(v1.ub,r1.b); if (q0) v0.h += v23.h; if (q3) v28.h += v23.h }
    { v15.w += vrmpy(v10.ub,r23.b); v13.w = vrmpy(v9.ub,r2.b); v26.ub = vasr(v0.h,v7.h,r7):sat; if (q2) v2.h += v23.h }
    { r17:16 = memd(r26+#-128); v3.w += vrmpy(v10.ub,r22.b); v12.w = vrmpy(v8.ub,r14.b); v10.ub = vasr(v2.h,v27.h,r7):sat }
    { v11.w += vrmpy(v1.ub,r0.b); v1 = vror(v19,r24); v0.w = vrmpy(v9.ub,r3.b); v26.ub = vmax(v26.ub,v30.ub) }
    { v7 = vror(v18,r24); r15:14 = memd(r26+#-104); v6.w += vrmpy(v1.ub,r19.b); v10.ub = vmax(v10.ub,v30.ub) }
    { v2 = vror(v8,r25); v13.w += vrmpy(v31.ub,r0.b); v0.w += vrmpy(v31.ub,r1.b); v26.ub = vmin(v26.ub,v29.ub) }
    { v3.w += vrmpy(v7.ub,r16.b); v15.w += vrmpy(v7.ub,r17.b); r9:8 = memd(r26+#-48); v7.ub = vasr(v28.h,v4.h,r7):sat }
    { r1:0 = memd(r26+#-120); v5.w += vrmpy(v2.ub,r23.b); v31.w = vrmpy(v20.ub,r21.b); v4 = vror(v21,r25) }
    { v12.w += vrmpy(v2.ub,r22.b); v2 = vror(v8,r24); v10.ub = vmin(v10.ub,v29.ub); v7.ub = vmax(v7.ub,v30.ub) }
    { v22.w = vrmpy(v17.ub,r8.b); v26.ub = vasr(v22.h,v14.h,r7):sat; vmemu(r6++m0) = v26 }
    { v5.w += vrmpy(v2.ub,r17.b); v11.w += vrmpy(v1.ub,r18.b); v6.w = vasl(v6.w,r11); v14 = vror(v9,r24) }
    { v13.w += vrmpy(v14.ub,r18.b); v0.w += vrmpy(v14.ub,r19.b); r19:18 = memd(r26+#-40); r3:2 = memd(r26+#-24) }
    { v14.w = vrmpy(v20.ub,r20.b); v0.w = vasl(v0.w,r11); v28.w = vrmpy(v21.ub,r8.b); v18 = vror(v21,r24) }
    { v15.w = vasl(v15.w,r1); v12.w += vrmpy(v2.ub,r16.b); v9 = vror(v20,r25); v28.w += vrmpy(v4.ub,r18.b) }
    { v31.w += vrmpy(v9.ub,r15.b); v8 = vsplat(r10); vmemu(r6++m0) = v10 }
    { r9:8 = memd(r26+#-96); v1.w = vrmpy(v17.ub,r9.b); v19 = vror(v17,r25); v2.w = vrmpy(v21.ub,r9.b) }
    { v20 = vror(v20,r24); v13.w = vasl(v13.w,r11); v2.w += vrmpy(v4.ub,r19.b); v28.w += vrmpy(v18.ub,r12.b) }
    { v3.w = vasl(v3.w,r1); v10 = vror(v16,r24); v14.w += vrmpy(v9.ub,r14.b); v1.w += vrmpy(v19.ub,r19.b) }
    { v21.w = vrmpy(v16.ub,r21.b); v11.w = vasl(v11.w,r11); v4 = vror(v17,r24); v26.ub = vmax(v26.ub,v30.ub) }
    { v9 = vsplat(r0); r19:18 = memd(r26+#-88); v11.w = vadd(v11.w,v8.w); v22.w += vrmpy(v19.ub,r18.b) }
    { v5.w = vasl(v5.w,r1); v14.w += vrmpy(v20.ub,r8.b); v1.w += vrmpy(v4.ub,r13.b); v26.ub = vmin(v26.ub,v29.ub) }
    { v12.w = vasl(v12.w,r1); v19 = vror(v16,r25); v6.w = vadd(v6.w,v8.w); v22.w += vrmpy(v4.ub,r12.b) }
    { v3.w = vadd(v3.w,v9.w); v4 = vsplat(r1); v16.w = vrmpy(v16.ub,r20.b); v1.w = vasl(v1.w,r3) }
    { v31.w += vrmpy(v20.ub,r9.b); v14.w = vasl(v14.w,r19); v20 = vsplat(r2); v7.ub = vmin(v7.ub,v29.ub) }
    { v21.w += vrmpy(v19.ub,r15.b); v17 = vsplat(r11); vmemu(r6++m0) = v7 }
    { v16.w += vrmpy(v19.ub,r14.b); v21.w += vrmpy(v10.ub,r9.b); v22.w = vasl(v22.w,r3); r1:0 = memd(r26+#-16) }
    { v15.w = vadd(v15.w,v9.w); v0.w = vadd(v0.w,v8.w); v2.w += vrmpy(v18.ub,r13.b); v7.h = vshuffo(v11.h,v3.h) }
    { v28.w = vasl(v28.w,r3); v27:26.w = vmpy(v7.h,r0.h); vmemu(r6++m0) = v26 } :endloop0
    end
    .size tn_hx_columns_row_even, . - tn_hx_columns_row_even

    .globl tn_hx_columns_blocks_even
    .type tn_hx_columns_blocks_even, @function
    .p2align 4
tn_hx_columns_blocks_even:
    begin 120
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_even_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r21:20 = combine(r11,r10) }
blocks_even_loop:
    { v1.w += vrmpy(v5.ub,r11.b); v7.w = vadd(v7.w,v14.w); v21.w += vrmpy(v4.ub,r12.b); v22.w = vasl(v22.w,r9) }
    { v2.w = vadd(v2.w,v0.w); v18 = vror(v18,r25); v22.w = vadd(v22.w,v6.w); v31.w += vrmpy(v5.ub,r16.b) }
    { v26 = vsplat(r23); v21.w += vrmpy(v26.ub,r13.b); v27 = vror(v27,r25); r13:12 = memd(r26+#-32) }
    { v1.w += vrmpy(v19.ub,r22.b); v5 = vsplat(r1); v21.w = vasl(v21.w,r1); v19.h = vshuffo(v7.h,v9.h) }
    { v8.w = vadd(v8.w,v0.w); v20.w = vadd(v20.w,v26.w); v10.w += vrmpy(v18.ub,r22.b) }
    { v11.w = vasl(v11.w,r8); v17.w = vadd(v17.w,v14.w); r11:10 = memd(r26+#-24); v19:18.w = vmpy(v19.h,r12.h) }
    { v4 = vsplat(r8); v11.w = vadd(v11.w,v26.w); v21.w = vadd(v21.w,v14.w); v31.w += vrmpy(v27.ub,r17.b) }
    { v10.w = vasl(v10.w,r8); v19.w += vmpyo(v7.w,v5.h):<<1:rnd:sat:shift }
    { v13.w = vadd(v13.w,v0.w); v1.w = vasl(v1.w,r8); v0 = vsplat(r9); v7.h = vshuffo(v17.h,v8.h) }
    { r17 = add(r27,r21); v10.w = vadd(v10.w,v26.w); v12.w = vasl(v12.w,r9); v18.w += vmpyo(v9.w,v28.h):<<1:rnd:sat:shift }
    { r21:20 = memd(r26++m1); v16.w = vadd(v16.w,v14.w); v27.h = vshuffo(v19.h,v18.h); v15:14.w = vmpy(v7.h,r12.h) }
    { v31.w = vasl(v31.w,r9); v14.w += vmpyo(v8.w,v28.h):<<1:rnd:sat:shift; v7.h = vshuffo(v16.h,v2.h) }
    { v1.w = vadd(v1.w,v26.w); v12.w = vadd(v12.w,v6.w); v9:8.w = vmpy(v7.h,r12.h) }
    { r16 = add(r28,r20); v2.h = vshuffe(v19.h,v18.h); v18.h = vshuffo(v22.h,v11.h); v8.w += vmpyo(v2.w,v28.h):<<1:rnd:sat:shift }
    { v16 = vmemu(r16+#1); v9.w += vmpyo(v16.w,v5.h):<<1:rnd:sat:shift; v7.h = vshuffo(v21.h,v13.h) }
    { v15.w += vmpyo(v17.w,v5.h):<<1:rnd:sat:shift; v17.h = vshuffo(v9.h,v8.h); v26.h = vshuffe(v9.h,v8.h) }
    { r15:14 = memd(r26+#-112); v3.w = vasl(v3.w,r9); v9 = vand(v27,v24); v19:18.w = vmpy(v18.h,r13.h) }
    { v3.w = vadd(v3.w,v6.w); v31.w = vadd(v31.w,v6.w); v7:6.w = vmpy(v7.h,r12.h) }
    { v5 = vmemu(r16++m0); v8.h = vshuffo(v12.h,v20.h); v7.w += vmpyo(v21.w,v5.h):<<1:rnd:sat:shift }
    { r9:8 = memd(r26+#-56); v22.h = vshuffo(v15.h,v14.h); v19.w += vmpyo(v22.w,v0.h):<<1:rnd:sat:shift }
    { r1:0 = memd(r26+#-48); q0 = vcmp.eq(v9.h,v25.h); v13 = vand(v22,v24); v6.w += vmpyo(v13.w,v28.h):<<1:rnd:sat:shift }
    { v15:14.w = vmpy(v8.h,r13.h); v9.h = vshuffe(v15.h,v14.h); v28.h = vshuffo(v7.h,v6.h) }
    { v21 = vmemu(r16+#1); v14.w += vmpyo(v20.w,v4.h):<<1:rnd:sat:shift; v6.h = vshuffe(v7.h,v6.h) }
    { v8 = vmemu(r16++m0); v15.w += vmpyo(v12.w,v0.h):<<1:rnd:sat:shift; v7 = vand(v28,v24) }
    { v13:12 = vdeal(v16,v5,r5); r19:18 = memd(r26+#-72); v20 = vsplat(r10); q3 = vcmp.eq(v13.h,v25.h) }
    { v5 = vmemu(r16+#1); v18.w += vmpyo(v11.w,v4.h):<<1:rnd:sat:shift; q2 = vcmp.eq(v7.h,v25.h) }
    { q3 &= vcmp.gt(v20.uh,v9.uh); v11.h = vshuffe(v19.h,v18.h); v7 = vand(v17,v24); q2 &= vcmp.gt(v20.uh,v6.uh) }
    { v14.h = vshuffo(v15.h,v14.h); v15.h = vshuffe(v15.h,v14.h); v16.h = vshuffo(v19.h,v18.h); v9.h = vshuffo(v31.h,v1.h) }
    { v18 = vmemu(r16++m0); q1 = vcmp.eq(v7.h,v25.h); v7:6.w = vmpy(v9.h,r13.h) }
    { v1 = vmemu(r16+#1); v9.h = vshuffo(v3.h,v10.h); v6.w += vmpyo(v1.w,v4.h):<<1:rnd:sat:shift }
    { v21:20 = vdeal(v21,v8,r5); q0 &= vcmp.gt(v20.uh,v2.uh); q1 &= vcmp.gt(v20.uh,v26.uh) }
    { v26 = vmemu(r16++m0); v2 = vand(v14,v24); v9:8.w = vmpy(v9.h,r13.h) }
    { v19:18 = vdeal(v5,v18,r5); r23:22 = memd(r26+#-80); v9.w += vmpyo(v3.w,v0.h):<<1:rnd:sat:shift }
    { v5 = vmemu(r16+#1); if (q2) v28.h += v23.h; v7.w += vmpyo(v31.w,v0.h):<<1:rnd:sat:shift }
    { v3:2.b = vshuffoe(v21.b,v13.b); r13:12 = memd(r26+#-104); v31 = vsplat(r11); q2 = vcmp.eq(v2.h,v25.h) }
    { v4 = vmemu(r16++m0); v8.w += vmpyo(v10.w,v4.h):<<1:rnd:sat:shift; v0.h = vshuffe(v7.h,v6.h) }
    { v5:4 = vdeal(v5,v4,r5); q2 &= vcmp.gt(v31.uh,v15.uh); v10.h = vshuffo(v9.h,v8.h) }
    { if (q0) v27.h += v23.h; if (q2) v14.h += v23.h; v9.h = vshuffe(v9.h,v8.h); v15 = vand(v10,v24) }
    { v7:6.b = vshuffoe(v20.b,v12.b); r11:10 = memd(r26+#-96); v12 = vand(v16,v24); v8.h = vshuffo(v7.h,v6.h) }
    { v13:12 = vdeal(v1,v26,r5); q0 = vcmp.eq(v12.h,v25.h); v20 = vand(v8,v24) }
    { v15.ub = vasr(v14.h,v27.h,r7):sat; q0 &= vcmp.gt(v31.uh,v11.uh); if (q1) v17.h += v23.h; q1 = vcmp.eq(v15.h,v25.h) }
    { v27:26.b = vshuffoe(v12.b,v18.b); if (q3) v22.h += v23.h; v15.ub = vmax(v15.ub,v30.ub) }
    { v14 = vmemu(r16+#1); v11.h = vshuffe(v26.h,v6.h); q1 &= vcmp.gt(v31.uh,v9.uh) }
    { v19:18.b = vshuffoe(v13.b,v19.b); r3:2 = memd(r26+#-64); v9.w = vrmpy(v6.ub,r14.b); q3 = vcmp.eq(v20.h,v25.h) }
    { v12 = vmemu(r16++m0); v20.w = vrmpy(v2.ub,r10.b); v15.ub = vmin(v15.ub,v29.ub) }
    { v13.h = vshuffe(v27.h,v7.h); if (q0) v16.h += v23.h; vmemu(r17+#0) = v15 }
    { v15:14 = vdeal(v14,v12,r5); if (q1) v10.h += v23.h; q3 &= vcmp.gt(v31.uh,v0.uh) }
    { v1:0.b = vshuffoe(v14.b,v4.b); v21.h = vshuffe(v19.h,v3.h); v12.w = vrmpy(v3.ub,r2.b); r17 = add(r17,r24) }
    { v31.h = vshuffe(v0.h,v26.h); v13 = vror(v13,r25); v16.ub = vasr(v16.h,v22.h,r7):sat; if (q3) v8.h += v23.h }
    { v31 = vror(v31,r25); v7.w = vrmpy(v7.ub,r22.b); v22.w = vrmpy(v19.ub,r2.b); v6.ub = vasr(v8.h,v28.h,r7):sat }
    { v5:4.b = vshuffoe(v15.b,v5.b); v12.w += vrmpy(v19.ub,r3.b); v16.ub = vmax(v16.ub,v30.ub) }
    { v14 = vmemu(r16+#1); v28.ub = vasr(v10.h,v17.h,r7):sat; v16.ub = vmin(v16.ub,v29.ub) }
    { v2 = vmemu(r16++m0); v3.h = vshuffe(v18.h,v2.h); v28.ub = vmax(v28.ub,v30.ub) }
    { v17.w = vrmpy(v27.ub,r22.b); v16.w = vrmpy(v1.ub,r22.b); vmemu(r17+#0) = v16 }
    { v15:14 = vdeal(v14,v2,r5); v8.w = vrmpy(v26.ub,r14.b); v7.w += vrmpy(v27.ub,r23.b) }
    { v10 = vmemu(r16+#1); v8.w += vrmpy(v0.ub,r15.b); v20.w += vrmpy(v18.ub,r11.b) }
    { v9.w += vrmpy(v26.ub,r15.b); v7.w += vrmpy(v13.ub,r18.b); v21 = vror(v21,r25); r17 = add(r17,r24) }
    { v11 = vror(v11,r25); v8.w += vrmpy(v31.ub,r12.b); v2.w = vrmpy(v0.ub,r14.b); v28.ub = vmin(v28.ub,v29.ub) }
    { v28 = vsplat(r0); v22.w += vrmpy(v5.ub,r3.b); vmemu(r17+#0) = v28 }
    { v31 = vmemu(r16++m0); v13.h = vshuffe(v1.h,v27.h); v6.ub = vmax(v6.ub,v30.ub) }
    { v11:10 = vdeal(v10,v31,r5); v9.w += vrmpy(v11.ub,r12.b); v31.h = vshuffe(v4.h,v18.h); r17 = add(r17,r24) }
    { v27:26.b = vshuffoe(v10.b,v14.b); v17.w += vrmpy(v1.ub,r23.b); v12.w += vrmpy(v21.ub,r8.b) }
    { v15:14.b = vshuffoe(v11.b,v15.b); v21.h = vshuffe(v26.h,v0.h); v11.w = vrmpy(v18.ub,r10.b) }
    { v21 = vror(v21,r25); v11.w += vrmpy(v4.ub,r11.b); v16.w += vrmpy(v27.ub,r23.b); v19.h = vshuffe(v5.h,v19.h) }
    { v10.w = vrmpy(v4.ub,r10.b); v13 = vror(v13,r25); v0.h = vshuffe(v27.h,v1.h) }
    { v9.w = vasl(v9.w,r0); v2.w += vrmpy(v26.ub,r15.b); v19 = vror(v19,r25); v6.ub = vmin(v6.ub,v29.ub) }
    { v8.w = vasl(v8.w,r0); v3 = vror(v3,r25); v18.h = vshuffe(v14.h,v4.h); v17.w += vrmpy(v13.ub,r18.b) }
    { v2.w += vrmpy(v21.ub,r12.b); v0 = vror(v0,r25); v21.w = vrmpy(v27.ub,r22.b); v1.h = vshuffe(v15.h,v5.h) }
    { r23:22 = memd(r26+#-88); v17.w = vasl(v17.w,r1); v16.w += vrmpy(v0.ub,r18.b); v1 = vror(v1,r25) }
    { v5 = vmemu(r16+#1); v20.w += vrmpy(v3.ub,r22.b); v3.w = vrmpy(v5.ub,r2.b) }
    { v4 = vmemu(r16+#0); v0 = vsplat(r13); v16.w = vasl(v16.w,r1) }
    { v5:4 = vdeal(v5,v4,r5); v10.w += vrmpy(v14.ub,r11.b); v3.w += vrmpy(v15.ub,r3.b) }
    { v9.w = vadd(v9.w,v0.w); v31 = vror(v31,r25); v22.w += vrmpy(v19.ub,r8.b); v3.w += vrmpy(v1.ub,r8.b) }
    { v7.w = vasl(v7.w,r1); v6 = vsplat(r9); vmemu(r17+#0) = v6 }
    { r9:8 = memd(r26+#-40); v1.h = vshuffe(v4.h,v26.h); v13.w = vrmpy(v26.ub,r14.b); r17:16 = memd(r26+#-8) }
    { v1 = vror(v1,r25); v13.w += vrmpy(v4.ub,r15.b); v19.h = vshuffe(v5.h,v14.h); v26.h = vshuffe(v4.h,v27.h) }
    { v20.w = vasl(v20.w,r8); v11.w += vrmpy(v31.ub,r22.b); v19 = vror(v19,r25); v31.w = vrmpy(v15.ub,r2.b) }
    { v2.w = vasl(v2.w,r0); v13.w += vrmpy(v1.ub,r12.b); v26 = vror(v26,r25); v27.h = vshuffe(v5.h,v15.h) }
    { v13.w = vasl(v13.w,r0); v1.w = vrmpy(v14.ub,r10.b); v14 = vsplat(r19); r13:12 = memd(r26+#-16) } :endloop0
    end
    .size tn_hx_columns_blocks_even, . - tn_hx_columns_blocks_even
