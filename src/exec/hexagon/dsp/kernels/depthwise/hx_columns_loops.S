// SPDX-License-Identifier: Apache-2.0
// The loops of hx_columns.c and hx_blocks.c: a round is 64 pixels of the four channels of a plane, whose constants it loads itself.
// scripts/hexagon_loops.py says what a round is and writes such a file, with as many packets in other places: 118 places of 120 are taken, 141 of
// 144 where lines have a gap; of stride 2, 140 of 144 and 163 of 168. A round is spread over three; those before the first and behind the last
// read records that are there for it.
//
//   void tn_hx_columns_...(const tn_hx_columns_job *job)
//
//   r26  records; m1 from one to the next    r28, r27  x and result of the first plane    r25, r24  one pixel, two (stride 2: from row to row)
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
    { r4 = add(r27,r11); r17:16 = combine(r11,r10) }
quarter_loop:
    { v5:4.b = vshuffoe(v7.b,v5.b); r21:20 = memd(r26+#-112); v20.w += vmpyo(v9.w,v12.h):<<1:rnd:sat:shift }
    { v1:0.b = vshuffoe(v23.b,v22.b); r19:18 = memd(r26+#-80); r15:14 = memd(r26+#-64); v13:12.w = vmpy(v19.h,r1.h) }
    { v23:22.h = vshuffoe(v4.h,v0.h); r1:0 = memd(r26+#-16); v21.w += vmpyo(v24.w,v11.h):<<1:rnd:sat:shift }
    { v17 = vror(v22,r24); v9.w = vrmpy(v22.ub,r2.b); v14.w = vrmpy(v22.ub,r3.b); v10.h = vshuffo(v3.h,v2.h) }
    { v19 = vror(v22,r25); r3:2 = memd(r26+#-24); v13.w += vmpyo(v18.w,v6.h):<<1:rnd:sat:shift; vmem(r4+#-1) = v26 }
    { v3:2.h = vshuffoe(v5.h,v1.h); v9.w += vrmpy(v19.ub,r22.b); v14.w += vrmpy(v19.ub,r23.b); r23:22 = memd(r26+#-120) }
    { v9.w += vrmpy(v17.ub,r10.b); v6 = vror(v23,r25); v24.w = vrmpy(v23.ub,r18.b); v25.ub = vasr(v10.h,v16.h,r7):sat }
    { v14.w += vrmpy(v17.ub,r11.b); v11 = vror(v2,r24); v16.w = vrmpy(v23.ub,r19.b); v25.ub = vmax(v25.ub,v28.ub) }
    { v5 = vror(v2,r25); r11:10 = memd(r26+#-48); v21.h = vshuffo(v21.h,v20.h); v12.w += vmpyo(v15.w,v8.h):<<1:rnd:sat:shift }
    { v14.w = vasl(v14.w,r23); v19.w = vrmpy(v2.ub,r21.b); r13:12 = memd(r26+#-72); v7 = vsplat(r2) }
    { v16.w += vrmpy(v6.ub,r13.b); v10 = vror(v3,r25); v18.w = vrmpy(v3.ub,r10.b); v4.h = vshuffo(v13.h,v12.h) }
    { v9.w = vasl(v9.w,r23); v17 = vror(v23,r24); v24.w += vrmpy(v6.ub,r12.b); v18.w += vrmpy(v10.ub,r8.b) }
    { v12 = vsplat(r23); r19:18 = memd(r26+#-88); v22.ub = vasr(v4.h,v21.h,r7):sat; vmem(r4+#2) = v26 }
    { v1 = vsplat(r22); v16.w += vrmpy(v17.ub,r15.b); r13:12 = memd(r26+#-56); v25.ub = vmin(v25.ub,v27.ub) }
    { v21 = vsplat(r12); v23 = vror(v3,r24); v13.w = vrmpy(v3.ub,r11.b); v22.ub = vmax(v22.ub,v30.ub) }
    { v15.w = vrmpy(v2.ub,r20.b); v16.w = vasl(v16.w,r13); v13.w += vrmpy(v10.ub,r9.b); r9:8 = memd(r26+#-32) }
    { r15:14 = memd(r26+#-104); v24.w += vrmpy(v17.ub,r14.b); v13.w += vrmpy(v23.ub,r9.b); v22.ub = vmin(v22.ub,v29.ub) }
    { v9.w = vadd(v9.w,v1.w); v19.w += vrmpy(v5.ub,r15.b); r21:20 = memd(r26+#-96); v3:2 = vshuff(v25,v22,r5) }
    { v14.w = vadd(v14.w,v1.w); v19.w += vrmpy(v11.ub,r21.b); v24.w = vasl(v24.w,r13); v18.w += vrmpy(v23.ub,r8.b) }
    { v15.w += vrmpy(v5.ub,r14.b); v19.w = vasl(v19.w,r19); v16.w = vadd(v16.w,v21.w); vmem(r4+#1) = v3 }
    { v10 = vsplat(r18); v8 = vsplat(r19); v24.w = vadd(v24.w,v21.w); v18.w = vasl(v18.w,r3) }
    { v15.w += vrmpy(v11.ub,r20.b); v18.w = vadd(v18.w,v7.w); v21.h = vshuffo(v24.h,v9.h); vmem(r4+#0) = v2 }
    { v11 = vsplat(r13); v6 = vsplat(r3); v13.w = vasl(v13.w,r3); v23.h = vshuffo(v16.h,v14.h) }
    { r17:16 = memd(r26++m1); r4 = add(r27,r17); v19.w = vadd(v19.w,v10.w); v1:0.w = vmpy(v23.h,r0.h) }
    { r23 = add(r28,r16); v15.w = vasl(v15.w,r19); v13.w = vadd(v13.w,v7.w); v0.w += vmpyo(v14.w,v12.h):<<1:rnd:sat:shift }
    { v25 = vmemu(r23+#0); v1.w += vmpyo(v16.w,v11.h):<<1:rnd:sat:shift; v4.h = vshuffo(v13.h,v19.h) }
    { v4 = vmemu(r23+#1); v15.w = vadd(v15.w,v10.w); v3:2.w = vmpy(v4.h,r1.h) }
    { v23:22 = vdeal(v4,v25,r5); r23:22 = memd(r26+#-136); r11:10 = memd(r26+#-128); v21:20.w = vmpy(v21.h,r0.h) }
    { v5 = valign(v31,v22,r6); r9:8 = memd(r26+#-40); v19.h = vshuffo(v18.h,v15.h); v2.w += vmpyo(v19.w,v8.h):<<1:rnd:sat:shift }
    { v7 = valign(v31,v23,r6); r3:2 = memd(r26+#-144); v16.h = vshuffo(v1.h,v0.h); v3.w += vmpyo(v13.w,v6.h):<<1:rnd:sat:shift } :endloop0
    end
    .size tn_hx_columns_quarter, . - tn_hx_columns_quarter

    .globl tn_hx_columns_half
    .type tn_hx_columns_half, @function
    .p2align 4
tn_hx_columns_half:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_loop,r1); r5 = #-64 }
    { r6 = add(r27,r11); r23:22 = combine(r11,r10) }
half_loop:
    { v15 = vror(v19,r24); v13.w = vrmpy(v19.ub,r10.b); v16.w = vrmpy(v19.ub,r11.b); v25.ub = vmax(v25.ub,v30.ub) }
    { v8 = vror(v22,r25); r11:10 = memd(r26+#-96); v9.h = vshuffo(v11.h,v10.h); v2.w += vmpyo(v26.w,v31.h):<<1:rnd:sat:shift }
    { v7 = vror(v18,r24); v14.w += vrmpy(v6.ub,r1.b); v26.w = vrmpy(v22.ub,r13.b); v3.h = vshuffo(v3.h,v2.h) }
    { v0.w += vrmpy(v6.ub,r0.b); v4.w += vrmpy(v8.ub,r14.b); v25.ub = vmin(v25.ub,v29.ub); v1.ub = vasr(v3.h,v9.h,r7):sat }
    { r13:12 = memd(r26+#-120); v9 = vsplat(r16); v20.w += vrmpy(v5.ub,r19.b); r3:2 = memd(r26+#-32) }
    { v0.w += vrmpy(v7.ub,r8.b); v6 = vror(v22,r24); v20.w += vrmpy(v24.ub,r3.b); v1.ub = vmax(v1.ub,v28.ub) }
    { v14.w += vrmpy(v7.ub,r9.b); v26.w += vrmpy(v8.ub,r15.b); r9:8 = memd(r26+#-88); r1:0 = memd(r26+#-16) }
    { v14.w = vasl(v14.w,r13); v26.w += vrmpy(v6.ub,r11.b); v31 = vsplat(r9); v1.ub = vmin(v1.ub,v27.ub) }
    { v26.w = vasl(v26.w,r9); r15:14 = memd(r26+#-72); v17.w += vrmpy(v5.ub,r18.b); v22 = vsplat(r20) }
    { v1 = vsplat(r8); r3:2 = memd(r26+#-64); v17.w += vrmpy(v24.ub,r2.b); v11:10 = vshuff(v1,v25,r5) }
    { v4.w += vrmpy(v6.ub,r10.b); v26.w = vadd(v26.w,v1.w); v7 = vror(v19,r25); v17.w = vasl(v17.w,r21) }
    { v13.w += vrmpy(v7.ub,r14.b); v5 = vsplat(r21); v20.w = vasl(v20.w,r21); vmem(r6+#1) = v11 }
    { v18 = vsplat(r12); v4.w = vasl(v4.w,r9); v16.w += vrmpy(v7.ub,r15.b); v20.w = vadd(v20.w,v22.w) }
    { v12 = vsplat(r13); v16.w += vrmpy(v15.ub,r3.b); v17.w = vadd(v17.w,v22.w); vmem(r6+#0) = v10 }
    { v0.w = vasl(v0.w,r13); v4.w = vadd(v4.w,v1.w); v13.w += vrmpy(v15.ub,r2.b); v8.h = vshuffo(v20.h,v26.h) }
    { r6 = add(r27,r23); v14.w = vadd(v14.w,v18.w); v21 = vsplat(r17); v19.h = vshuffo(v17.h,v4.h) }
    { r23:22 = memd(r26++m1); v0.w = vadd(v0.w,v18.w); v13.w = vasl(v13.w,r17); v7:6.w = vmpy(v19.h,r1.h) }
    { r4 = add(r28,r22); v13.w = vadd(v13.w,v9.w); v16.w = vasl(v16.w,r17); v6.w += vmpyo(v4.w,v31.h):<<1:rnd:sat:shift }
    { v1 = vmemu(r4+#0); v4.h = vshuffo(v13.h,v0.h); v7.w += vmpyo(v17.w,v5.h):<<1:rnd:sat:shift }
    { v15 = vmemu(r4+#1); v16.w = vadd(v16.w,v9.w); v25:24.w = vmpy(v4.h,r0.h) }
    { v11:10 = vdeal(v15,v1,r5); r11:10 = memd(r26+#-80); r21:20 = memd(r26+#-48); v24.w += vmpyo(v0.w,v12.h):<<1:rnd:sat:shift }
    { v23 = vmemu(r4+#2); v22.h = vshuffo(v16.h,v14.h); v3:2.w = vmpy(v8.h,r1.h) }
    { v9:8.b = vshuffoe(v11.b,v10.b); r13:12 = memd(r26+#-112); v25.w += vmpyo(v13.w,v21.h):<<1:rnd:sat:shift }
    { v1:0 = vdeal(v23,v15,r5); r19:18 = memd(r26+#-40); v11:10.w = vmpy(v22.h,r0.h) }
    { v1:0.b = vshuffoe(v1.b,v0.b); r1:0 = memd(r26+#-136); r15:14 = memd(r26+#-104); v3.w += vmpyo(v20.w,v5.h):<<1:rnd:sat:shift }
    { v23:22.h = vshuffoe(v1.h,v9.h); r17:16 = memd(r26+#-144); v10.w += vmpyo(v14.w,v12.h):<<1:rnd:sat:shift }
    { v19:18.h = vshuffoe(v0.h,v8.h); v17.w = vrmpy(v23.ub,r20.b); v20.w = vrmpy(v23.ub,r21.b); r21:20 = memd(r26+#-24) }
    { v6 = vror(v18,r25); v4.w = vrmpy(v22.ub,r12.b); v14.h = vshuffo(v25.h,v24.h); v25.h = vshuffo(v7.h,v6.h) }
    { r9:8 = memd(r26+#-128); v5 = vror(v23,r25); v25.ub = vasr(v25.h,v14.h,r7):sat; v11.w += vmpyo(v16.w,v21.h):<<1:rnd:sat:shift }
    { v0.w = vrmpy(v18.ub,r16.b); v14.w = vrmpy(v18.ub,r17.b); r17:16 = memd(r26+#-56); v24 = vror(v23,r24) } :endloop0
    end
    .size tn_hx_columns_half, . - tn_hx_columns_half

    .globl tn_hx_columns_row
    .type tn_hx_columns_row, @function
    .p2align 4
tn_hx_columns_row:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_loop,r1) }
    { r17 = add(r27,r11); r19:18 = combine(r11,r10) }
row_loop:
    { v17.w = vadd(v17.w,v14.w); v1.w += vrmpy(v2.ub,r1.b); vmemu(r17++m0) = v19 }
    { v21 = vror(v12,r24); v7.w += vrmpy(v4.ub,r5.b); v20.w += vrmpy(v2.ub,r0.b); r1:0 = memd(r26+#-24) }
    { v31.w += vrmpy(v9.ub,r13.b); v11 = vsplat(r9); v8 = vror(v13,r24); v1.w = vasl(v1.w,r1) }
    { v3.w = vrmpy(v13.ub,r20.b); r5:4 = memd(r26+#-72); v24 = vsplat(r0); v20.w = vasl(v20.w,r1) }
    { v15.w += vrmpy(v23.ub,r5.b); v24 = vsplat(r1); v20.w = vadd(v20.w,v24.w); v1.w = vadd(v1.w,v24.w) }
    { v31.w += vrmpy(v21.ub,r11.b); v7.w = vasl(v7.w,r9); v6 = vsplat(r3); r1:0 = memd(r26+#-16) }
    { v31.w = vasl(v31.w,r23); v7.w = vadd(v7.w,v14.w); v3.w += vrmpy(v23.ub,r4.b); r5:4 = memd(r26+#-64) }
    { v10 = vsplat(r23); v3.w += vrmpy(v8.ub,r4.b); vmemu(r17+#0) = v16 }
    { r19:18 = memd(r26++m1); r17 = add(r27,r19); v15.w += vrmpy(v8.ub,r5.b); v18 = vsplat(r2) }
    { v22.w += vrmpy(v21.ub,r10.b); v31.w = vadd(v31.w,v26.w); v15.w = vasl(v15.w,r3); v25.h = vshuffo(v20.h,v17.h) }
    { r5 = add(r28,r18); v22.w = vasl(v22.w,r23); v5:4.w = vmpy(v25.h,r1.h); v23.h = vshuffo(v1.h,v7.h) }
    { v0 = vmemu(r5++m0); v3.w = vasl(v3.w,r3); v5.w += vmpyo(v20.w,v24.h):<<1:rnd:sat:shift }
    { v23 = vmemu(r5++m0); v15.w = vadd(v15.w,v18.w); v9:8.w = vmpy(v23.h,r1.h) }
    { v19 = vmemu(r5++m0); v4.w += vmpyo(v17.w,v11.h):<<1:rnd:sat:shift; v2.h = vshuffo(v15.h,v31.h) }
    { r23:22 = memd(r26+#-120); v22.w = vadd(v22.w,v26.w); v3.w = vadd(v3.w,v18.w); v8.w += vmpyo(v7.w,v11.h):<<1:rnd:sat:shift }
    { v26 = vmemu(r5++m0); v25.h = vshuffo(v3.h,v22.h); v21:20.w = vmpy(v2.h,r0.h) }
    { v15:14.b = vshuffoe(v23.b,v0.b); r9:8 = memd(r26+#-88); r5:4 = memd(r26+#-48); v21.w += vmpyo(v15.w,v6.h):<<1:rnd:sat:shift }
    { v17:16.b = vshuffoe(v26.b,v19.b); r13:12 = memd(r26+#-136); v19:18.w = vmpy(v25.h,r0.h) }
    { v25:24.h = vshuffoe(v17.h,v15.h); r11:10 = memd(r26+#-112); v9.w += vmpyo(v1.w,v24.h):<<1:rnd:sat:shift }
    { v13:12.h = vshuffoe(v16.h,v14.h); v17.w = vrmpy(v24.ub,r10.b); v14 = vsplat(r8); r21:20 = memd(r26+#-80) }
    { v2 = vror(v25,r24); r1:0 = memd(r26+#-32); v20.w += vmpyo(v31.w,v10.h):<<1:rnd:sat:shift; v9.h = vshuffo(v9.h,v8.h) }
    { v8 = vror(v24,r25); r3:2 = memd(r26+#-104); v19.w += vmpyo(v3.w,v6.h):<<1:rnd:sat:shift; v26.h = vshuffo(v21.h,v20.h) }
    { r15:14 = memd(r26+#-144); v7.w = vrmpy(v24.ub,r11.b); v17.w += vrmpy(v8.ub,r2.b); v0 = vror(v25,r25) }
    { r11:10 = memd(r26+#-128); v26 = vsplat(r22); v20.w = vrmpy(v25.ub,r4.b); v16.ub = vasr(v9.h,v26.h,r7):sat }
    { v31.w = vrmpy(v12.ub,r15.b); v4 = vror(v24,r24); v7.w += vrmpy(v8.ub,r3.b); v6.h = vshuffo(v5.h,v4.h) }
    { v23 = vror(v13,r25); r3:2 = memd(r26+#-40); v18.w += vmpyo(v22.w,v10.h):<<1:rnd:sat:shift; v16.ub = vmax(v16.ub,v28.ub) }
    { v9 = vror(v12,r25); v22.w = vrmpy(v12.ub,r14.b); v1.w = vrmpy(v25.ub,r5.b); v18.h = vshuffo(v19.h,v18.h) }
    { v22.w += vrmpy(v9.ub,r12.b); r5:4 = memd(r26+#-96); v20.w += vrmpy(v0.ub,r2.b); v19.ub = vasr(v6.h,v18.h,r7):sat }
    { v17.w += vrmpy(v4.ub,r4.b); r3:2 = memd(r26+#-56); v1.w += vrmpy(v0.ub,r3.b); v19.ub = vmax(v19.ub,v30.ub) }
    { v17.w = vasl(v17.w,r9); v15.w = vrmpy(v13.ub,r21.b); v19.ub = vmin(v19.ub,v29.ub); v16.ub = vmin(v16.ub,v27.ub) } :endloop0
    end
    .size tn_hx_columns_row, . - tn_hx_columns_row

    .globl tn_hx_columns_quarter_even
    .type tn_hx_columns_quarter_even, @function
    .p2align 4
tn_hx_columns_quarter_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(quarter_even_loop,r1); r5 = #-32; r6 = #32 }
    { r4 = add(r27,r11); r17:16 = combine(r11,r10) }
quarter_even_loop:
    { v8 = vror(v2,r24); r23:22 = memd(r26+#-128); v16.w = vrmpy(v3.ub,r3.b); v18.w += vrmpy(v15.ub,r18.b) }
    { v20.w += vrmpy(v8.ub,r22.b); v2 = vror(v3,r24); v6 = vsplat(r11); if (q2) v22.h += v23.h }
    { v14.w += vrmpy(v5.ub,r21.b); r21:20 = memd(r26+#-120); v16.w += vrmpy(v11.ub,r1.b); vmem(r4+#-1) = v26 }
    { v17 = vsplat(r20); v16.w += vrmpy(v2.ub,r13.b); r3:2 = memd(r26+#-24); v1.ub = vasr(v1.h,v17.h,r7):sat }
    { v14.w += vrmpy(v8.ub,r23.b); v20.w = vasl(v20.w,r21); v3 = vsplat(r2); r1:0 = memd(r26+#-8) }
    { v8 = vsplat(r15); v19.w += vrmpy(v9.ub,r9.b); v18.w = vasl(v18.w,r3); v1.ub = vmax(v1.ub,v30.ub) }
    { v20.w = vadd(v20.w,v17.w); v0.w = vadd(v0.w,v13.w); v7.w += vrmpy(v2.ub,r12.b); v11.ub = vasr(v4.h,v22.h,r7):sat }
    { v21.w = vadd(v21.w,v13.w); v19.w += vrmpy(v15.ub,r19.b); v11.ub = vmax(v11.ub,v28.ub); vmem(r4+#2) = v26 }
    { v15 = vsplat(r21); v18.w = vadd(v18.w,v3.w); v19.w = vasl(v19.w,r3); v11.ub = vmin(v11.ub,v27.ub) }
    { v4 = vsplat(r3); v19.w = vadd(v19.w,v3.w); v9.h = vshuffo(v18.h,v0.h); v1.ub = vmin(v1.ub,v29.ub) }
    { r1:0 = memd(r26+#-16); v11 = vsplat(r0); v5 = vsplat(r1); v3:2 = vshuff(v11,v1,r5) }
    { r19:18 = memd(r26+#40); v13:12.w = vmpy(v9.h,r1.h); v1.h = vshuffo(v19.h,v21.h); vmem(r4+#1) = v3 }
    { r4 = add(r27,r17); v14.w = vasl(v14.w,r21); v3:2.w = vmpy(v1.h,r1.h); vmem(r4+#0) = v2 }
    { r17:16 = memd(r26++m1); v14.w = vadd(v14.w,v17.w); v7.w = vasl(v7.w,r11); v3.w += vmpyo(v19.w,v4.h):<<1:rnd:sat:shift }
    { v7.w = vadd(v7.w,v10.w); v16.w = vasl(v16.w,r11); v2.w += vmpyo(v21.w,v8.h):<<1:rnd:sat:shift }
    { r23 = add(r28,r16); v16.w = vadd(v16.w,v10.w); v9.h = vshuffo(v7.h,v20.h); v12.w += vmpyo(v0.w,v8.h):<<1:rnd:sat:shift }
    { v17 = vmemu(r23+#1); v13.w += vmpyo(v18.w,v4.h):<<1:rnd:sat:shift; v0.h = vshuffe(v3.h,v2.h) }
    { v21 = vmemu(r23+#0); v9:8.w = vmpy(v9.h,r0.h); v10.h = vshuffo(v16.h,v14.h) }
    { r11:10 = memd(r26+#-56); v1.h = vshuffo(v13.h,v12.h); v19:18.w = vmpy(v10.h,r0.h); v4.h = vshuffo(v3.h,v2.h) }
    { v17:16 = vdeal(v17,v21,r5); r23:22 = memd(r26+#-144); r15:14 = memd(r26+#-88); v19.w += vmpyo(v16.w,v6.h):<<1:rnd:sat:shift }
    { v3:2.b = vshuffoe(v17.b,v16.b); r21:20 = memd(r26+#-96); v18.w += vmpyo(v14.w,v15.h):<<1:rnd:sat:shift }
    { v12 = valign(v31,v16,r6); v10 = vsplat(r10); v14.h = vshuffe(v13.h,v12.h); v21 = vand(v4,v24) }
    { v6 = valign(v31,v17,r6); r1:0 = memd(r26+#-48); v9.w += vmpyo(v7.w,v6.h):<<1:rnd:sat:shift; v17 = vand(v1,v24) }
    { v13:12.b = vshuffoe(v6.b,v12.b); v22.h = vshuffo(v19.h,v18.h); v16.h = vshuffe(v19.h,v18.h) }
    { v7:6.h = vshuffoe(v13.h,v3.h); r13:12 = memd(r26+#-104); r3:2 = memd(r26+#-80); v8.w += vmpyo(v20.w,v15.h):<<1:rnd:sat:shift }
    { v15 = vror(v6,r25); v21.w = vrmpy(v6.ub,r19.b); v19.w = vrmpy(v7.ub,r1.b); q3 = vcmp.eq(v21.h,v25.h) }
    { v21.w += vrmpy(v15.ub,r13.b); v18.w = vrmpy(v7.ub,r0.b); r9:8 = memd(r26+#-40); q1 = vcmp.eq(v17.h,v25.h) }
    { v17.h = vshuffo(v9.h,v8.h); v8.h = vshuffe(v9.h,v8.h); v20 = vand(v22,v24); q3 &= vcmp.gt(v5.uh,v0.uh) }
    { v9 = vror(v7,r25); v20 = vand(v17,v24); q1 &= vcmp.gt(v5.uh,v14.uh); q2 = vcmp.eq(v20.h,v25.h) }
    { v3:2.h = vshuffoe(v12.h,v2.h); v0.w = vrmpy(v6.ub,r18.b); r1:0 = memd(r26+#-72); if (q1) v1.h += v23.h }
    { v20 = vror(v6,r24); v0.w += vrmpy(v15.ub,r12.b); v18.w += vrmpy(v9.ub,r8.b); q1 = vcmp.eq(v20.h,v25.h) }
    { v5 = vror(v2,r25); v0.w += vrmpy(v20.ub,r20.b); v13 = vsplat(r14); q2 &= vcmp.gt(v11.uh,v16.uh) }
    { v20.w = vrmpy(v2.ub,r22.b); v21.w += vrmpy(v20.ub,r21.b); v15 = vror(v7,r24); q1 &= vcmp.gt(v11.uh,v8.uh) }
    { r21:20 = memd(r26+#-136); v0.w = vasl(v0.w,r15); v11 = vror(v3,r25); v7.w = vrmpy(v3.ub,r2.b) }
    { v20.w += vrmpy(v5.ub,r20.b); v21.w = vasl(v21.w,r15); if (q1) v17.h += v23.h; if (q3) v4.h += v23.h }
    { v14.w = vrmpy(v2.ub,r23.b); v7.w += vrmpy(v11.ub,r0.b); r13:12 = memd(r26+#-64); r19:18 = memd(r26+#-32) } :endloop0
    end
    .size tn_hx_columns_quarter_even, . - tn_hx_columns_quarter_even

    .globl tn_hx_columns_half_even
    .type tn_hx_columns_half_even, @function
    .p2align 4
tn_hx_columns_half_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_even_loop,r1); r5 = #-64 }
    { r6 = add(r27,r11); r1:0 = combine(r11,r10) }
half_even_loop:
    { v1:0.h = vshuffoe(v16.h,v0.h); v17.w = vrmpy(v18.ub,r14.b); v26.w += vrmpy(v21.ub,r11.b); r17:16 = memd(r26+#-32) }
    { v26.w += vrmpy(v11.ub,r9.b); r3:2 = memd(r26+#-80); v19 = vror(v19,r25); v18.w = vrmpy(v19.ub,r2.b) }
    { v17.w += vrmpy(v21.ub,r10.b); v8 = vror(v1,r25); v9.w = vrmpy(v1.ub,r3.b); q1 = vcmp.eq(v6.h,v25.h) }
    { v6 = vsplat(r12); v26.w = vasl(v26.w,r13); r11:10 = memd(r26+#-56); q1 &= vcmp.gt(v3.uh,v5.uh) }
    { v17.w += vrmpy(v11.ub,r8.b); v31.w = vrmpy(v1.ub,r2.b); q2 = vcmp.eq(v31.h,v25.h); v5 = vand(v13,v24) }
    { r15:14 = memd(r26+#-128); r3:2 = memd(r26+#-40); q2 &= vcmp.gt(v3.uh,v22.uh); q0 = vcmp.eq(v5.h,v25.h) }
    { v18.w += vrmpy(v19.ub,r2.b); v12.w += vrmpy(v19.ub,r3.b); if (q1) v10.h += v23.h; q0 &= vcmp.gt(v15.uh,v7.uh) }
    { v19 = vror(v0,r24); v17.w = vasl(v17.w,r13); r3:2 = memd(r26+#-24); if (q0) v13.h += v23.h }
    { r13:12 = memd(r26+#-136); v3 = vsplat(r13); v9.w += vrmpy(v8.ub,r23.b); v16.ub = vasr(v13.h,v10.h,r7):sat }
    { v5 = vror(v0,r25); v10.w = vrmpy(v0.ub,r21.b); v13 = vsplat(r3); if (q2) v2.h += v23.h }
    { v22.w = vrmpy(v0.ub,r20.b); v21 = vsplat(r19); if (q3) v20.h += v23.h; v16.ub = vmax(v16.ub,v28.ub) }
    { r9:8 = memd(r26+#-64); v12.w += vrmpy(v14.ub,r17.b); v2 = vsplat(r2); v7.ub = vasr(v20.h,v2.h,r7):sat }
    { v20 = vror(v1,r24); v18.w += vrmpy(v14.ub,r16.b); v12.w = vasl(v12.w,r3); v7.ub = vmax(v7.ub,v30.ub) }
    { v22.w += vrmpy(v5.ub,r12.b); v18.w = vasl(v18.w,r3); v7.ub = vmin(v7.ub,v29.ub); v16.ub = vmin(v16.ub,v27.ub) }
    { v17.w = vadd(v17.w,v6.w); r23:22 = memd(r26+#80); v31.w += vrmpy(v8.ub,r22.b); v18.w = vadd(v18.w,v2.w) }
    { v22.w += vrmpy(v19.ub,r14.b); v9.w += vrmpy(v20.ub,r9.b); v12.w = vadd(v12.w,v2.w); r3:2 = memd(r26+#-8) }
    { v10.w += vrmpy(v5.ub,r13.b); v26.w = vadd(v26.w,v6.w); v31.w += vrmpy(v20.ub,r8.b); v9.w = vasl(v9.w,r11) }
    { v5 = vsplat(r10); v2 = vsplat(r11); v31.w = vasl(v31.w,r11); v11.h = vshuffo(v18.h,v17.h) }
    { v10.w += vrmpy(v19.ub,r15.b); v9.w = vadd(v9.w,v5.w); r9:8 = memd(r26+#-16); v1:0 = vshuff(v16,v7,r5) }
    { v15:14.w = vmpy(v11.h,r9.h); v16.h = vshuffo(v12.h,v26.h); vmem(r6+#1) = v1 }
    { r6 = add(r27,r1); v10.w = vasl(v10.w,r19); v7:6.w = vmpy(v16.h,r9.h); vmem(r6+#0) = v0 }
    { r1:0 = memd(r26++m1); v22.w = vasl(v22.w,r19); v10.w = vadd(v10.w,v4.w); v7.w += vmpyo(v12.w,v13.h):<<1:rnd:sat:shift }
    { r4 = add(r28,r0); v31.w = vadd(v31.w,v5.w); v14.w += vmpyo(v17.w,v3.h):<<1:rnd:sat:shift; v8.h = vshuffo(v9.h,v10.h) }
    { v1 = vmemu(r4+#1); v22.w = vadd(v22.w,v4.w); v6.w += vmpyo(v26.w,v3.h):<<1:rnd:sat:shift }
    { v0 = vmemu(r4+#0); v15.w += vmpyo(v18.w,v13.h):<<1:rnd:sat:shift; v13.h = vshuffo(v7.h,v6.h) }
    { v8 = vmemu(r4+#2); v20.h = vshuffo(v15.h,v14.h); v5:4.w = vmpy(v8.h,r8.h) }
    { v17:16 = vdeal(v8,v1,r5); v15 = vsplat(r3); v12.h = vshuffe(v15.h,v14.h) }
    { v1:0 = vdeal(v1,v0,r5); v5.w += vmpyo(v9.w,v2.h):<<1:rnd:sat:shift }
    { v17:16.b = vshuffoe(v17.b,v16.b); r19:18 = memd(r26+#-120); v14.h = vshuffo(v31.h,v22.h); v11 = vand(v20,v24) }
    { v1:0.b = vshuffoe(v1.b,v0.b); r9:8 = memd(r26+#-96); r13:12 = memd(r26+#-88); v9:8.w = vmpy(v14.h,r8.h) }
    { v19:18.h = vshuffoe(v17.h,v1.h); r21:20 = memd(r26+#-144); v3 = vsplat(r2); q3 = vcmp.eq(v11.h,v25.h) }
    { v11 = vror(v18,r24); r15:14 = memd(r26+#-112); v4.w += vmpyo(v10.w,v21.h):<<1:rnd:sat:shift; v7.h = vshuffe(v7.h,v6.h) }
    { v21 = vror(v18,r25); r3:2 = memd(r26+#-48); v8.w += vmpyo(v22.w,v21.h):<<1:rnd:sat:shift; v10.h = vshuffo(v5.h,v4.h) }
    { r11:10 = memd(r26+#-104); v9.w += vmpyo(v31.w,v2.h):<<1:rnd:sat:shift; v5.h = vshuffe(v5.h,v4.h); v6 = vand(v10,v24) }
    { v26.w = vrmpy(v18.ub,r15.b); v14 = vror(v19,r24); v2.h = vshuffo(v9.h,v8.h); v22.h = vshuffe(v9.h,v8.h) }
    { v4 = vsplat(r18); v12.w = vrmpy(v19.ub,r3.b); v31 = vand(v2,v24); q3 &= vcmp.gt(v15.uh,v12.uh) } :endloop0
    end
    .size tn_hx_columns_half_even, . - tn_hx_columns_half_even

    .globl tn_hx_columns_row_even
    .type tn_hx_columns_row_even, @function
    .p2align 4
tn_hx_columns_row_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_even_loop,r1) }
    { r5 = add(r28,r10); r6 = add(r27,r11); r17:16 = combine(r11,r10) }
row_even_loop:
    { v12 = vmemu(r5++m0); v11.w += vmpyo(v6.w,v14.h):<<1:rnd:sat:shift; v16.h = vshuffo(v21.h,v26.h) }
    { v7:6.b = vshuffoe(v12.b,v4.b); r19:18 = memd(r26+#-88); r5:4 = memd(r26+#-48); v10.w += vmpyo(v15.w,v1.h):<<1:rnd:sat:shift }
    { r21:20 = memd(r26+#-64); v13.h = vshuffo(v11.h,v10.h); v20.h = vshuffo(v9.h,v8.h); v5:4.w = vmpy(v16.h,r23.h) }
    { v1:0.h = vshuffoe(v6.h,v18.h); r23:22 = memd(r26+#-160); v4.w += vmpyo(v26.w,v1.h):<<1:rnd:sat:shift }
    { r9:8 = memd(r26+#-136); v11 = vror(v1,r24); v26.h = vshuffe(v11.h,v10.h); v5.w += vmpyo(v21.w,v14.h):<<1:rnd:sat:shift }
    { v12 = vror(v1,r25); v10.w = vrmpy(v1.ub,r2.b); v17.w = vrmpy(v1.ub,r3.b); v3.h = vshuffo(v3.h,v2.h) }
    { v19:18.h = vshuffoe(v7.h,v19.h); r1:0 = memd(r26+#-120); v17.w += vrmpy(v12.ub,r11.b); v2.h = vshuffo(v5.h,v4.h) }
    { v7.w = vrmpy(v0.ub,r12.b); v22 = vsplat(r22); v6.h = vshuffe(v9.h,v8.h); v9.h = vshuffe(v5.h,v4.h) }
    { v4.w = vrmpy(v0.ub,r13.b); r3:2 = memd(r26+#-24); v14 = vand(v20,v24); v8 = vand(v2,v24) }
    { v15 = vror(v0,r25); v10.w += vrmpy(v12.ub,r10.b); v17.w += vrmpy(v11.ub,r21.b); q1 = vcmp.eq(v14.h,v25.h) }
    { v10.w += vrmpy(v11.ub,r20.b); v14 = vsplat(r23); q1 &= vcmp.gt(v22.uh,v6.uh); q3 = vcmp.eq(v8.h,v25.h) }
    { v7.w += vrmpy(v15.ub,r8.b); v16 = vror(v19,r25); v6 = vand(v3,v24); v11 = vand(v13,v24) }
    { v15 = vror(v0,r24); v4.w += vrmpy(v15.ub,r9.b); r9:8 = memd(r26+#-128); v12 = vsplat(r14) }
    { r21:20 = memd(r26+#-96); v6.w = vrmpy(v19.ub,r4.b); v21.w = vrmpy(v19.ub,r5.b); q2 = vcmp.eq(v6.h,v25.h) }
    { v4.w += vrmpy(v15.ub,r9.b); v10.w = vasl(v10.w,r15); v8 = vsplat(r2); if (q1) v20.h += v23.h }
    { r11:10 = memd(r26+#-112); v1 = vsplat(r19); v10.w = vadd(v10.w,v12.w); q1 = vcmp.eq(v11.h,v25.h) }
    { v7.w += vrmpy(v15.ub,r8.b); v4.w = vasl(v4.w,r1); q2 &= vcmp.gt(v22.uh,v31.uh); q1 &= vcmp.gt(v14.uh,v26.uh) }
    { r13:12 = memd(r26+#8); r5:4 = memd(r26+#-32); if (q2) v3.h += v23.h; if (q1) v13.h += v23.h }
    { v22 = vsplat(r0); v31 = vror(v18,r24); v5 = vsplat(r15); r9:8 = memd(r26+#-40) }
    { v7.w = vasl(v7.w,r1); v26.w = vrmpy(v18.ub,r11.b); v0 = vror(v19,r24); v21.w += vrmpy(v16.ub,r9.b) }
    { v15.w = vrmpy(v18.ub,r10.b); v21.w += vrmpy(v0.ub,r5.b); r23:22 = memd(r26+#-16); q3 &= vcmp.gt(v14.uh,v9.uh) }
    { v13 = vsplat(r1); v18 = vror(v18,r25); r1:0 = memd(r26+#-104); v11.ub = vasr(v13.h,v3.h,r7):sat }
    { v15.w += vrmpy(v18.ub,r0.b); v14 = vsplat(r3); v11.ub = vmax(v11.ub,v30.ub); if (q3) v2.h += v23.h }
    { v4.w = vadd(v4.w,v22.w); v15.w += vrmpy(v31.ub,r20.b); r11:10 = memd(r26+#80); v17.w = vasl(v17.w,r15) }
    { v17.w = vadd(v17.w,v12.w); v6.w += vrmpy(v16.ub,r8.b); v11.ub = vmin(v11.ub,v29.ub); v12.ub = vasr(v2.h,v20.h,r7):sat }
    { v26.w += vrmpy(v18.ub,r1.b); v16 = vsplat(r18); r15:14 = memd(r26+#96); v12.ub = vmax(v12.ub,v28.ub) }
    { v7.w = vadd(v7.w,v22.w); v15.w = vasl(v15.w,r19); v6.w += vrmpy(v0.ub,r4.b); v12.ub = vmin(v12.ub,v27.ub) }
    { v26.w += vrmpy(v31.ub,r21.b); v6.w = vasl(v6.w,r3); vmemu(r6++m0) = v11 }
    { v21.w = vasl(v21.w,r3); v12.h = vshuffo(v10.h,v7.h); vmemu(r6+#0) = v12 }
    { r6 = add(r27,r17); v21.w = vadd(v21.w,v8.w); v3:2.w = vmpy(v12.h,r22.h); v31.h = vshuffo(v17.h,v4.h) }
    { r17:16 = memd(r26++m1); v26.w = vasl(v26.w,r19); v6.w = vadd(v6.w,v8.w); v3.w += vmpyo(v10.w,v5.h):<<1:rnd:sat:shift }
    { r5 = add(r28,r16); v15.w = vadd(v15.w,v16.w); v9:8.w = vmpy(v31.h,r22.h) }
    { v0 = vmemu(r5++m0); v18.h = vshuffo(v6.h,v15.h); v9.w += vmpyo(v17.w,v5.h):<<1:rnd:sat:shift }
    { v16 = vmemu(r5++m0); v26.w = vadd(v26.w,v16.w); v11:10.w = vmpy(v18.h,r23.h) }
    { v19:18.b = vshuffoe(v16.b,v0.b); r3:2 = memd(r26+#-80); v2.w += vmpyo(v7.w,v13.h):<<1:rnd:sat:shift }
    { v4 = vmemu(r5++m0); v31.h = vshuffe(v3.h,v2.h); v8.w += vmpyo(v4.w,v13.h):<<1:rnd:sat:shift } :endloop0
    end
    .size tn_hx_columns_row_even, . - tn_hx_columns_row_even

    .globl tn_hx_columns_blocks
    .type tn_hx_columns_blocks, @function
    .p2align 4
tn_hx_columns_blocks:
    begin 104
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r4 = add(r28,r10); r6 = add(r27,r11); r17:16 = combine(r11,r10) }
blocks_loop:
    { v23:22 = vdeal(v2,v22,r5); v4 = vsplat(r3); r21:20 = memd(r26+#-120); v25.h = vshuffo(v11.h,v8.h) }
    { v6 = vmemu(r4+#1); v31.w = vadd(v31.w,v1.w); v3:2.w = vmpy(v18.h,r20.h) }
    { v15 = vmemu(r4++m0); v0.w = vadd(v0.w,v7.w); v2.w += vmpyo(v12.w,v5.h):<<1:rnd:sat:shift }
    { v20 = vmemu(r4+#1); v9.w = vasl(v9.w,r0); v19:18.w = vmpy(v25.h,r20.h) }
    { v13:12 = vdeal(v6,v15,r5); v17 = vsplat(r1); v6.h = vshuffo(v0.h,v31.h) }
    { v25 = vmemu(r4++m0); v16.w = vadd(v16.w,v7.w); v19.w += vmpyo(v11.w,v4.h):<<1:rnd:sat:shift }
    { v25:24 = vdeal(v20,v25,r5); r11:10 = memd(r26+#-64); r1:0 = memd(r26+#-24); v3.w += vmpyo(v21.w,v4.h):<<1:rnd:sat:shift }
    { v7:6.b = vshuffoe(v12.b,v22.b); r23:22 = memd(r26+#-56); v21:20.w = vmpy(v6.h,r21.h) }
    { v15 = vmemu(r4+#1); v9.w = vadd(v9.w,v1.w); v20.w += vmpyo(v31.w,v10.h):<<1:rnd:sat:shift }
    { v26 = vmemu(r4++m0); v31.h = vshuffo(v16.h,v9.h); v21.w += vmpyo(v0.w,v17.h):<<1:rnd:sat:shift }
    { v15:14 = vdeal(v15,v26,r5); r3:2 = memd(r26+#-96); v1:0.w = vmpy(v31.h,r21.h) }
    { v5:4.b = vshuffoe(v14.b,v24.b); r9:8 = memd(r26+#-48); r21:20 = memd(r26+#-40); v18.w += vmpyo(v8.w,v5.h):<<1:rnd:sat:shift }
    { v17 = vmemu(r4+#1); v1.w += vmpyo(v16.w,v17.h):<<1:rnd:sat:shift; v21.h = vshuffo(v21.h,v20.h) }
    { v11 = vmemu(r4+#0); v0.w += vmpyo(v9.w,v10.h):<<1:rnd:sat:shift; v26.h = vshuffo(v3.h,v2.h) }
    { v3:2 = vdeal(v17,v11,r5); r15:14 = memd(r26+#-88); v10 = vsplat(r23); v20.h = vshuffo(v1.h,v0.h) }
    { v23:22.b = vshuffoe(v13.b,v23.b); r13:12 = memd(r26+#-80); v1.h = vshuffe(v5.h,v7.h); v11.w = vrmpy(v7.ub,r10.b) }
    { v31.h = vshuffe(v4.h,v6.h); v1 = vror(v1,r25); v12.h = vshuffo(v19.h,v18.h); v26.ub = vasr(v21.h,v26.h,r7):sat }
    { v8.w = vrmpy(v6.ub,r2.b); v11.w += vrmpy(v5.ub,r11.b); v13.ub = vasr(v20.h,v12.h,r7):sat; v26.ub = vmax(v26.ub,v28.ub) }
    { v20 = vsplat(r15); v31 = vror(v31,r25); v12.w = vrmpy(v4.ub,r2.b); v13.ub = vmax(v13.ub,v30.ub) }
    { v19:18.b = vshuffoe(v2.b,v2.b); v8.w += vrmpy(v4.ub,r3.b); v21.w = vrmpy(v5.ub,r10.b) }
    { v25:24.b = vshuffoe(v15.b,v25.b); r3:2 = memd(r26+#-32); v12.w += vrmpy(v18.ub,r3.b); v13.ub = vmin(v13.ub,v29.ub) }
    { v13.h = vshuffe(v18.h,v4.h); v6.h = vshuffe(v24.h,v22.h); vmemu(r6+#0) = v13 }
    { v3:2.b = vshuffoe(v3.b,v3.b); v17.h = vshuffe(v19.h,v5.h); v0.w = vrmpy(v25.ub,r8.b); r6 = add(r6,r24) }
    { v17 = vror(v17,r25); v16.w = vrmpy(v23.ub,r8.b); v0.w += vrmpy(v3.ub,r9.b); v26.ub = vmin(v26.ub,v27.ub) }
    { v8.w += vrmpy(v31.ub,r14.b); v31.w = vrmpy(v24.ub,r12.b); vmemu(r6+#0) = v26 }
    { v8.w = vasl(v8.w,r2); v13 = vror(v13,r25); v11.w += vrmpy(v1.ub,r22.b); v21.w += vrmpy(v19.ub,r11.b) }
    { r6 = add(r27,r17); v12.w += vrmpy(v13.ub,r14.b); v9.w = vrmpy(v22.ub,r12.b); v11.w = vasl(v11.w,r3) }
    { r17:16 = memd(r26++m1); v18.h = vshuffe(v2.h,v24.h); v7 = vsplat(r21); v1.h = vshuffe(v3.h,v25.h) }
    { v8.w = vadd(v8.w,v20.w); v18 = vror(v18,r25); v21.w += vrmpy(v17.ub,r22.b); v17.h = vshuffe(v25.h,v23.h) }
    { r23:22 = memd(r26+#-176); v12.w = vasl(v12.w,r2); v17 = vror(v17,r25); v16.w += vrmpy(v25.ub,r9.b) }
    { r4 = add(r28,r16); v9.w += vrmpy(v24.ub,r13.b); v31.w += vrmpy(v2.ub,r13.b); v21.w = vasl(v21.w,r3) }
    { v5 = vsplat(r2); v12.w = vadd(v12.w,v20.w); v31.w += vrmpy(v18.ub,r22.b); v1 = vror(v1,r25) }
    { v2 = vmemu(r4+#1); v21.w = vadd(v21.w,v10.w); v0.w += vrmpy(v1.ub,r20.b) }
    { v10 = vsplat(r0); v11.w = vadd(v11.w,v10.w); v16.w += vrmpy(v17.ub,r20.b); v0.w = vasl(v0.w,r1) }
    { v1 = vsplat(r23); v6 = vror(v6,r25); v31.w = vasl(v31.w,r0); v18.h = vshuffo(v21.h,v12.h) }
    { v22 = vmemu(r4++m0); v9.w += vrmpy(v6.ub,r22.b); v16.w = vasl(v16.w,r1) } :endloop0
    end
    .size tn_hx_columns_blocks, . - tn_hx_columns_blocks

    .globl tn_hx_columns_blocks_even
    .type tn_hx_columns_blocks_even, @function
    .p2align 4
tn_hx_columns_blocks_even:
    begin 104
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_even_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r6 = add(r27,r11); r17:16 = combine(r11,r10) }
blocks_even_loop:
    { v2 = vsplat(r9); v7 = vror(v7,r25); v17.w = vrmpy(v2.ub,r14.b); v16.w = vasl(v16.w,r22) }
    { v1.w = vadd(v1.w,v19.w); v31.w += vrmpy(v13.ub,r0.b); vmemu(r6+#0) = v6 }
    { v16.w = vadd(v16.w,v19.w); v5.w += vrmpy(v21.ub,r21.b); v31.w = vasl(v31.w,r23); r1:0 = memd(r26+#-16) }
    { v0.w = vasl(v0.w,r2); v19 = vsplat(r11); v6.h = vshuffe(v15.h,v21.h); v11 = vsplat(r23) }
    { v5.w += vrmpy(v8.ub,r10.b); v6 = vror(v6,r25); v18.w = vadd(v18.w,v9.w); r6 = add(r6,r24) }
    { v17.w += vrmpy(v20.ub,r15.b); v26.w += vrmpy(v15.ub,r21.b); v31.w = vadd(v31.w,v9.w); v9.h = vshuffo(v18.h,v16.h) }
    { r6 = add(r27,r17); v17.w += vrmpy(v7.ub,r8.b); vmemu(r6+#0) = v22 }
    { r17:16 = memd(r26++m1); v5.w = vasl(v5.w,r3); v26.w += vrmpy(v6.ub,r10.b); v21.h = vshuffo(v31.h,v1.h) }
    { r4 = add(r28,r16); v0.w = vadd(v0.w,v2.w); v26.w = vasl(v26.w,r3); v15:14.w = vmpy(v9.h,r1.h) }
    { v20 = vmemu(r4+#1); v17.w = vasl(v17.w,r2); v14.w += vmpyo(v16.w,v12.h):<<1:rnd:sat:shift }
    { v22 = vmemu(r4++m0); v17.w = vadd(v17.w,v2.w); v7:6.w = vmpy(v21.h,r1.h) }
    { v21 = vmemu(r4+#1); v16 = vsplat(r3); v5.w = vadd(v5.w,v19.w) }
    { v2 = vmemu(r4++m0); v26.w = vadd(v26.w,v19.w); v6.w += vmpyo(v1.w,v12.h):<<1:rnd:sat:shift }
    { v3:2 = vdeal(v21,v2,r5); r3:2 = memd(r26+#-32); v7.w += vmpyo(v31.w,v11.h):<<1:rnd:sat:shift }
    { v19 = vmemu(r4+#1); v21.h = vshuffo(v5.h,v17.h); v15.w += vmpyo(v18.w,v11.h):<<1:rnd:sat:shift }
    { v13:12 = vdeal(v20,v22,r5); v18.h = vshuffo(v26.h,v0.h); v22.h = vshuffo(v7.h,v6.h) }
    { v18 = vmemu(r4++m0); v31.h = vshuffo(v15.h,v14.h); v9:8.w = vmpy(v18.h,r0.h) }
    { v21 = vmemu(r4+#1); v11:10.w = vmpy(v21.h,r0.h); v20.h = vshuffe(v15.h,v14.h) }
    { v5 = vmemu(r4++m0); v11.w += vmpyo(v5.w,v16.h):<<1:rnd:sat:shift; v15 = vand(v31,v24) }
    { v14 = vmemu(r4+#1); v10.w += vmpyo(v17.w,v4.h):<<1:rnd:sat:shift; v17.h = vshuffe(v7.h,v6.h) }
    { v1:0 = vdeal(v21,v5,r5); r9:8 = memd(r26+#-48); r1:0 = memd(r26+#-40); v8.w += vmpyo(v0.w,v4.h):<<1:rnd:sat:shift }
    { r23:22 = memd(r26+#-24); q1 = vcmp.eq(v15.h,v25.h); v9.w += vmpyo(v26.w,v16.h):<<1:rnd:sat:shift; v7 = vand(v22,v24) }
    { v5:4 = vdeal(v19,v18,r5); v26.h = vshuffo(v11.h,v10.h); v19.h = vshuffo(v9.h,v8.h) }
    { v18 = vmemu(r4+#0); v21 = vand(v26,v24); v16 = vand(v19,v24) }
    { v15:14 = vdeal(v14,v18,r5); r21:20 = memd(r26+#-112); q3 = vcmp.eq(v21.h,v25.h); q2 = vcmp.eq(v7.h,v25.h) }
    { v11:10.b = vshuffoe(v1.b,v5.b); r11:10 = memd(r26+#-80); v6 = vsplat(r21); v18.h = vshuffe(v11.h,v10.h) }
    { v9:8.b = vshuffoe(v15.b,v15.b); q1 &= vcmp.gt(v6.uh,v20.uh); v7.h = vshuffe(v9.h,v8.h) }
    { v21:20.b = vshuffoe(v0.b,v4.b); v5 = vsplat(r20); q2 &= vcmp.gt(v6.uh,v17.uh) }
    { v17:16.b = vshuffoe(v3.b,v13.b); r21:20 = memd(r26+#-64); if (q1) v31.h += v23.h; q1 = vcmp.eq(v16.h,v25.h) }
    { v4.h = vshuffe(v10.h,v16.h); v1.w = vrmpy(v10.ub,r10.b); v18.w = vrmpy(v17.ub,r8.b); q3 &= vcmp.gt(v5.uh,v18.uh) }
    { v3:2.b = vshuffoe(v2.b,v12.b); r15:14 = memd(r26+#-96); v1.w += vrmpy(v8.ub,r11.b); v13.h = vshuffe(v9.h,v11.h) }
    { v4 = vror(v4,r25); v16.w = vrmpy(v16.ub,r10.b); v12.h = vshuffe(v11.h,v17.h); if (q2) v22.h += v23.h }
    { v15:14.b = vshuffoe(v14.b,v14.b); r13:12 = memd(r26+#-72); v17.h = vshuffe(v8.h,v10.h); if (q3) v26.h += v23.h }
    { r11:10 = memd(r26+#-56); v16.w += vrmpy(v10.ub,r11.b); v18.w += vrmpy(v11.ub,r9.b); v6.ub = vasr(v31.h,v26.h,r7):sat }
    { v0.w = vrmpy(v20.ub,r14.b); v12 = vror(v12,r25); v31.w = vrmpy(v11.ub,r8.b); q1 &= vcmp.gt(v5.uh,v7.uh) }
    { v0.w += vrmpy(v14.ub,r15.b); v13 = vror(v13,r25); v31.w += vrmpy(v9.ub,r9.b); v6.ub = vmax(v6.ub,v30.ub) }
    { v17 = vror(v17,r25); v9 = vsplat(r1); v18.w += vrmpy(v12.ub,r0.b); if (q1) v19.h += v23.h }
    { v17.h = vshuffe(v14.h,v20.h); v1.w += vrmpy(v17.ub,r12.b); v8.h = vshuffe(v21.h,v3.h); v18.w = vasl(v18.w,r23) }
    { r9:8 = memd(r26+#-88); v7.h = vshuffe(v20.h,v2.h); v5.w = vrmpy(v3.ub,r20.b); v6.ub = vmin(v6.ub,v29.ub) }
    { v17 = vror(v17,r25); v19 = vsplat(r13); v16.w += vrmpy(v4.ub,r12.b); v22.ub = vasr(v22.h,v19.h,r7):sat }
    { v4 = vsplat(r2); v0.w += vrmpy(v17.ub,r8.b); v8 = vror(v8,r25); v22.ub = vmax(v22.ub,v28.ub) }
    { v12 = vsplat(r22); v1.w = vasl(v1.w,r22); v26.w = vrmpy(v21.ub,r20.b); v22.ub = vmin(v22.ub,v27.ub) } :endloop0
    end
    .size tn_hx_columns_blocks_even, . - tn_hx_columns_blocks_even
