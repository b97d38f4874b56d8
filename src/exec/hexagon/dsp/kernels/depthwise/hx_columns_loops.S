// SPDX-License-Identifier: Apache-2.0
// The loops of hx_columns.c and hx_blocks.c: a round is 128 pixels of the four channels of a plane (quarter, line: 64), whose constants it loads
// itself. scripts/hexagon_loops.py says what a round is and writes such files, with as many packets in other places. A round is spread over two
// (quarter, line: three); those before the first and behind the last read records that are there for it.
#include "exec/hexagon/dsp/kernels/depthwise/hx_columns_begin.inc"

    .globl tn_hx_columns_quarter
    .type tn_hx_columns_quarter, @function
    .p2align 4
tn_hx_columns_quarter:
    begin 136
    { r11:10 = memd(r26 + #0) }
    { loop0(quarter_loop,r1); r5 = #-32; r6 = #32 }
    { r22 = add(r27,r11); r11:10 = combine(r11,r10); r4 = memw(r0 + #48) }
    { r4 = add(r4,#-384) }
quarter_loop:
    { v9:8.h = vshuffoe(v8.h,v7.h); r15:14 = memd(r26+#-120); r9:8 = memd(r26+#-56); v13.w += vmpyo(v9.w,v17.h):<<1:rnd:sat:shift }
    { v22 = vror(v8,r25); v25.w = vrmpy(v9.ub,r8.b); v2.w = vrmpy(v9.ub,r9.b); v24.h = vshuffo(v25.h,v24.h) }
    { v10 = valign(v31,v6,r6); r9:8 = memd(r26+#-48); v12.w += vmpyo(v10.w,v20.h):<<1:rnd:sat:shift; vmem(r22+#-1) = v26 }
    { v17 = vror(v9,r25); v1.w += vmpyo(v5.w,v4.h):<<1:rnd:sat:shift; vmem(r22+#2) = v26 }
    { v7:6.h = vshuffoe(v10.h,v6.h); v5.w = vrmpy(v8.ub,r18.b); v25.w += vrmpy(v17.ub,r8.b) }
    { v15.w = vrmpy(v6.ub,r13.b); v21 = vror(v6,r25); v13.w = vrmpy(v7.ub,r17.b); v16.h = vshuffo(v13.h,v12.h) }
    { v4.w = vrmpy(v8.ub,r19.b); v10 = vmem(r4++#1); v12.w = vrmpy(v7.ub,r16.b); v20 = vror(v9,r24) }
    { r17:16 = memd(r26+#-112); v24 = vror(v7,r24); v14.ub = vasr(v16.h,v24.h,r7):sat; v0.w += vmpyo(v23.w,v14.h):<<1:rnd:sat:shift }
    { v23 = v11; v16 = vror(v8,r24); r19:18 = memd(r26+#-32); v3.h = vshuffo(v19.h,v18.h) }
    { v18.w = vrmpy(v6.ub,r12.b); v15.w += vrmpy(v21.ub,r15.b); v19 = vror(v6,r24); v8 = vmem(r4++#1) }
    { v15.w += vrmpy(v19.ub,r17.b); v2.w += vrmpy(v17.ub,r9.b); v9 = vmem(r4++#1); v17.h = vshuffo(v1.h,v0.h) }
    { v5.w += vrmpy(v22.ub,r20.b); v17 = vsplat(r3); r9:8 = memd(r26+#-16); v1.ub = vasr(v3.h,v17.h,r7):sat }
    { v18.w += vrmpy(v21.ub,r14.b); r15:14 = memd(r26+#-88); v0 = v10; r13:12 = memd(r26+#-40) }
    { v23.w += vasl(v15.w,r18); v4.w += vrmpy(v22.ub,r21.b); v22 = vror(v7,r25) }
    { v5.w += vrmpy(v16.ub,r14.b); v4.w += vrmpy(v16.ub,r15.b); r21:20 = memd(r26+#-72); v7:6 = vshuff(v1,v14,r5) }
    { v18.w += vrmpy(v19.ub,r16.b); v1 = v9; v6.ub = vmax(v6.ub,v30.ub); v7.ub = vmax(v7.ub,v28.ub) }
    { v0.w += vasl(v4.w,r2); r17:16 = memd(r26+#-64); v13.w += vrmpy(v22.ub,r21.b); v2.w += vrmpy(v20.ub,r13.b) }
    { r13:12 = memd(r26+#8); v14 = vsplat(r18); v25.w += vrmpy(v20.ub,r12.b); v1.w += vasl(v2.w,r3) }
    { v10.w += vasl(v5.w,r2); v12.w += vrmpy(v22.ub,r20.b); v5 = v8; v19.h = vshuffo(v1.h,v0.h) }
    { v11.w += vasl(v18.w,r18); v19:18.w = vmpy(v19.h,r9.h); v20.ub = vmin(v7.ub,v27.ub); vmem(r22+#1) = v20.new }
    { v9.w += vasl(v25.w,r3); v19.w += vmpyo(v1.w,v17.h):<<1:rnd:sat:shift; v25.ub = vmin(v6.ub,v29.ub); vmem(r22+#0) = v25.new }
    { r22 = add(r27,r11); v20 = vsplat(r2); v12.w += vrmpy(v24.ub,r16.b) }
    { r11:10 = memd(r26++m1); v8.w += vasl(v12.w,r19); v12.h = vshuffo(v9.h,v10.h); v18.w += vmpyo(v0.w,v20.h):<<1:rnd:sat:shift }
    { r17 = add(r28,r10); v13.w += vrmpy(v24.ub,r17.b); v4 = vsplat(r19); v24.h = vshuffo(v8.h,v11.h) }
    { v6 = vmemu(r17+#0); v5.w += vasl(v13.w,r19); v13:12.w = vmpy(v12.h,r9.h) }
    { v7 = vmemu(r17+#1); v25:24.w = vmpy(v24.h,r8.h); v0.h = vshuffo(v5.h,v23.h) }
    { v7:6 = vdeal(v7,v6,r5); r19:18 = memd(r26+#-104); r17:16 = memd(r26+#-80); v24.w += vmpyo(v11.w,v14.h):<<1:rnd:sat:shift }
    { v7:6.b = vshuffoe(v7.b,v6.b); r21:20 = memd(r26+#-96); r3:2 = memd(r26+#-24); v1:0.w = vmpy(v0.h,r8.h) }
    { v8 = valign(v31,v7,r6); v11 = vmem(r4++#1); v25.w += vmpyo(v8.w,v4.h):<<1:rnd:sat:shift } :endloop0
    end
    .size tn_hx_columns_quarter, . - tn_hx_columns_quarter

    .globl tn_hx_columns_line
    .type tn_hx_columns_line, @function
    .p2align 4
tn_hx_columns_line:
    begin 136
    { r28 = add(r28,#128); r27 = add(r27,#256); r26 = add(r26,#8) }
    { p3 = sp2loop0(line_loop,r1); r5 = #-32; r6 = #32 }
    { r4 = memw(r0 + #48) }
line_loop:
    { r15:14 = memd(r26+#-128); v21 = vror(v0,r24); v10.w += vrmpy(v22.ub,r14.b); v4.w += vrmpy(v22.ub,r15.b) }
    { v19 = vmemu(r28+#-1); v23.w = vrmpy(v0.ub,r20.b); v22.w = vrmpy(v0.ub,r21.b) }
    { v23.w += vrmpy(v6.ub,r14.b); v22.w += vrmpy(v6.ub,r15.b); v15 = vror(v1,r25); v6.h = vshuffo(v15.h,v14.h) }
    { v5 = vror(v12,r25); r15:14 = memd(r26+#-88); v4.w += vrmpy(v3.ub,r17.b); v13.ub = vasr(v5.h,v6.h,r7):sat }
    { v18.w += vrmpy(v5.ub,r1.b); v14 = v17; v9.w = vrmpy(v1.ub,r14.b); v6 = v11 }
    { v12 = vmemu(r28++m0); v24.w += vrmpy(v5.ub,r0.b); v6.w += vasl(v4.w,r13) }
    { r15:14 = memd(r26+#-72); v13.w = vrmpy(v1.ub,r15.b); v20 = vsplat(r13); v5:4 = vshuff(v13,v7,r5) }
    { v1:0 = vdeal(v12,v19,r5); v19 = v16; r17:16 = memd(r26+#72); v10.w += vrmpy(v3.ub,r16.b) }
    { v1:0.b = vshuffoe(v1.b,v0.b); v24.w += vrmpy(v25.ub,r10.b); v13.w += vrmpy(v15.ub,r3.b); r1:0 = memd(r26+#-40) }
    { v12 = valign(v31,v1,r6); r21:20 = memd(r26+#-120); v13.w += vrmpy(v8.ub,r15.b); if (p3) vmem(r27+#-3) = v26 }
    { v23.w += vrmpy(v21.ub,r20.b); v17.w += vasl(v24.w,r12); v9.w += vrmpy(v15.ub,r2.b); v5.ub = vmax(v5.ub,v28.ub) }
    { v22.w += vrmpy(v21.ub,r21.b); v16.w += vasl(v23.w,r0); v15 = vsplat(r12); r3:2 = memd(r26+#-24) }
    { v18.w += vrmpy(v25.ub,r11.b); v9.w += vrmpy(v8.ub,r14.b); v21 = v2; v11.w += vasl(v10.w,r13) }
    { v23 = vsplat(r0); v14.w += vasl(v18.w,r12); v7 = vsplat(r1); v24.h = vshuffo(v11.h,v17.h) }
    { v2.w += vasl(v9.w,r1); r15:14 = memd(r26+#80); v9:8.w = vmpy(v24.h,r3.h); v24.h = vshuffo(v6.h,v14.h) }
    { r21:20 = memd(r26++m1); v21.w += vasl(v13.w,r1); v8.w += vmpyo(v17.w,v15.h):<<1:rnd:sat:shift; v4.ub = vmax(v4.ub,v30.ub) }
    { v13:12.h = vshuffoe(v12.h,v1.h); v9.w += vmpyo(v11.w,v20.h):<<1:rnd:sat:shift }
    { v19.w += vasl(v22.w,r0); v25:24.w = vmpy(v24.h,r3.h); v22.ub = vmin(v4.ub,v29.ub); if (p3) vmem(r27+#-2) = v22.new }
    { v22 = vror(v13,r25); v15.h = vshuffo(v2.h,v16.h); v24.w += vmpyo(v14.w,v15.h):<<1:rnd:sat:shift }
    { v3 = vror(v13,r24); v11:10.w = vmpy(v15.h,r2.h); v18.h = vshuffo(v21.h,v19.h) }
    { v17 = valign(v31,v0,r6); v16 = vmem(r4++#1); r13:12 = memd(r26+#-32); v10.w += vmpyo(v16.w,v23.h):<<1:rnd:sat:shift }
    { v1:0.h = vshuffoe(v17.h,v0.h); r3:2 = memd(r26+#-112); r11:10 = memd(r26+#-96); v15:14.w = vmpy(v18.h,r2.h) }
    { v17 = vmem(r4++#1); v25.w += vmpyo(v6.w,v20.h):<<1:rnd:sat:shift; v20.ub = vmin(v5.ub,v27.ub); if (p3) vmem(r27+#-1) = v20.new }
    { v6 = vror(v0,r25); v24.w = vrmpy(v12.ub,r2.b); v18.w = vrmpy(v12.ub,r3.b); v5.h = vshuffo(v25.h,v24.h) }
    { r1:0 = memd(r26+#-104); v25 = vror(v12,r24); v2 = vmem(r4++#1); v11.w += vmpyo(v2.w,v7.h):<<1:rnd:sat:shift }
    { v10.w = vrmpy(v13.ub,r16.b); v4.w = vrmpy(v13.ub,r17.b); v11.h = vshuffo(v11.h,v10.h); if (p3) vmem(r27++m0) = v26 }
    { r3:2 = memd(r26+#-80); v8 = vror(v1,r24); v23.h = vshuffo(v9.h,v8.h); v14.w += vmpyo(v19.w,v23.h):<<1:rnd:sat:shift }
    { r17:16 = memd(r26+#-48); v11 = vmem(r4++#1); v7.ub = vasr(v23.h,v11.h,r7):sat; v15.w += vmpyo(v21.w,v7.h):<<1:rnd:sat:shift } :endloop0
    end
    .size tn_hx_columns_line, . - tn_hx_columns_line

    .globl tn_hx_columns_half
    .type tn_hx_columns_half, @function
    .p2align 4
tn_hx_columns_half:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_loop,r1); r5 = #-64 }
    { r4 = add(r27,r11); r15:14 = combine(r11,r10) }
half_loop:
    { r23:22 = memd(r26+#-120); v20.w = vrmpy(v3.ub,r8.b); v21.w = vrmpy(v3.ub,r9.b); v19:18 = vcombine(v9,v9) }
    { v6.w = vrmpy(v2.ub,r21.b); v8.w = vrmpy(v1.ub,r8.b); v3 = vror(v3,r24); v18.w += vasl(v8.w,r17) }
    { v15 = vror(v1,r24); v19.w += vasl(v22.w,r17); v12.w += vmpyo(v15.w,v28.h):<<1:rnd:sat:shift }
    { r18 = add(r27,r14); v6.w += vrmpy(v23.ub,r11.b); v20.w += vrmpy(v7.ub,r12.b); v2.h = vshuffo(v13.h,v12.h) }
    { v7 = vsplat(r22); v21.w += vrmpy(v7.ub,r13.b); v9.w += vasl(v31.w,r17); v13.h = vshuffo(v18.h,v24.h) }
    { v23:22 = vcombine(v7,v7); r17:16 = memd(r26+#-64); r9:8 = memd(r26+#-56); v13:12.w = vmpy(v13.h,r3.h) }
    { v10.w += vrmpy(v17.ub,r1.b); v6.w += vrmpy(v16.ub,r1.b); v31 = v7; v0 = vror(v1,r25) }
    { v31.w += vasl(v6.w,r23); v11.w += vrmpy(v0.ub,r13.b); v6 = vsplat(r8); vmem(r4+#0) = v26 }
    { r15:14 = memd(r26++m1); v8.w += vrmpy(v0.ub,r12.b); v21.w += vrmpy(v3.ub,r17.b); v1:0 = vcombine(v6,v6) }
    { v7.w += vasl(v5.w,r23); v11.w += vrmpy(v15.ub,r17.b); v20.w += vrmpy(v3.ub,r16.b); v5 = v6 }
    { v14.w += vrmpy(v16.ub,r0.b); v8.w += vrmpy(v15.ub,r16.b); v5.w += vasl(v21.w,r9); v15.h = vshuffo(v9.h,v27.h) }
    { r0 = add(r28,r14); v23.w += vasl(v14.w,r23); v15:14.w = vmpy(v15.h,r3.h); v21.h = vshuffo(v19.h,v25.h) }
    { v20 = vmemu(r0+#4); v1.w += vasl(v20.w,r9); v12.w += vmpyo(v24.w,v28.h):<<1:rnd:sat:shift }
    { v3 = vmemu(r0+#1); v22.w += vasl(v10.w,r23); v13.w += vmpyo(v18.w,v4.h):<<1:rnd:sat:shift }
    { v6.w += vasl(v8.w,r9); v17:16.w = vmpy(v21.h,r3.h); v21.h = vshuffo(v5.h,v31.h) }
    { v24 = vmemu(r0+#3); v25.h = vshuffo(v1.h,v23.h); v16.w += vmpyo(v25.w,v28.h):<<1:rnd:sat:shift }
    { v8 = vmemu(r0+#2); v0.w += vasl(v11.w,r9); v14.w += vmpyo(v27.w,v28.h):<<1:rnd:sat:shift }
    { v11:10 = vdeal(v24,v3,r5); v17.w += vmpyo(v19.w,v4.h):<<1:rnd:sat:shift }
    { v28 = vsplat(r23); v27 = vsplat(r9); v19.h = vshuffo(v0.h,v22.h) }
    { v24 = vmemu(r0+#0); v15.w += vmpyo(v9.w,v4.h):<<1:rnd:sat:shift; v3.h = vshuffo(v13.h,v12.h) }
    { v19:18 = vdeal(v20,v8,r5); v13:12.w = vmpy(v19.h,r2.h) }
    { v25:24 = vdeal(v8,v24,r5); r9:8 = memd(r26+#-80); v9:8.w = vmpy(v25.h,r2.h) }
    { v11:10.b = vshuffoe(v11.b,v10.b); v8.w += vmpyo(v23.w,v28.h):<<1:rnd:sat:shift }
    { v25:24.b = vshuffoe(v25.b,v24.b); v21:20.w = vmpy(v21.h,r2.h) }
    { v5:4.b = vshuffoe(v19.b,v18.b); v21.w += vmpyo(v5.w,v27.h):<<1:rnd:sat:shift }
    { r23:22 = memd(r26+#-88); v23.h = vshuffo(v6.h,v7.h); v12.w += vmpyo(v22.w,v28.h):<<1:rnd:sat:shift; v22.h = vshuffo(v17.h,v16.h) }
    { v17:16.h = vshuffoe(v11.h,v25.h); r21:20 = memd(r26+#-112); r11:10 = memd(r26+#-104); v20.w += vmpyo(v31.w,v28.h):<<1:rnd:sat:shift }
    { r4 = add(r27,r15); v19:18.h = vshuffoe(v5.h,v11.h); r1:0 = memd(r26+#-96); v13.w += vmpyo(v0.w,v27.h):<<1:rnd:sat:shift }
    { r17:16 = memd(r26+#-40); v13 = vror(v17,r25); v31.h = vshuffo(v13.h,v12.h); v9.w += vmpyo(v1.w,v27.h):<<1:rnd:sat:shift }
    { r3:2 = memd(r26+#-16); v1:0.w = vmpy(v23.h,r2.h); v9.h = vshuffo(v9.h,v8.h); v23.h = vshuffo(v21.h,v20.h) }
    { v21.w = vrmpy(v16.ub,r20.b); v15.w = vrmpy(v16.ub,r21.b); v14.h = vshuffo(v15.h,v14.h); v2.ub = vasr(v2.h,v23.h,r7):sat }
    { v20 = vror(v16,r25); v0.w += vmpyo(v7.w,v28.h):<<1:rnd:sat:shift; v9.ub = vasr(v22.h,v9.h,r7):sat }
    { r13:12 = memd(r26+#-48); v3 = vror(v19,r25); v1.w += vmpyo(v6.w,v27.h):<<1:rnd:sat:shift; v8.ub = vasr(v3.h,v31.h,r7):sat }
    { v21.w += vrmpy(v20.ub,r10.b); v27 = vsplat(r22); v28 = vror(v19,r24); v0.h = vshuffo(v1.h,v0.h) }
    { v23.w = vrmpy(v18.ub,r21.b); v0 = vror(v18,r25); v22.w = vrmpy(v19.ub,r12.b); v1.ub = vasr(v14.h,v0.h,r7):sat }
    { v12.w = vrmpy(v18.ub,r20.b); v23.w += vrmpy(v0.ub,r11.b); v7:6 = vshuff(v8,v1,r5) }
    { v14 = vror(v16,r24); v12.w += vrmpy(v0.ub,r10.b); v8.w = vrmpy(v17.ub,r13.b); v6.ub = vmax(v6.ub,v30.ub) }
    { v1:0.h = vshuffoe(v10.h,v24.h); r21:20 = memd(r26+#-144); v31.w = vrmpy(v17.ub,r12.b); v8.w += vrmpy(v13.ub,r17.b) }
    { r13:12 = memd(r26+#-32); v31.w += vrmpy(v13.ub,r16.b); v16 = vror(v17,r24); v13.w = vrmpy(v19.ub,r13.b) }
    { v15.w += vrmpy(v20.ub,r11.b); v21.w += vrmpy(v14.ub,r0.b); v17 = vror(v18,r24); v7.ub = vmax(v7.ub,v30.ub) }
    { v25:24 = vcombine(v27,v27); v22.w += vrmpy(v3.ub,r16.b); v18.ub = vmin(v7.ub,v29.ub); vmem(r18+#2) = v18.new }
    { r11:10 = memd(r26+#-136); v23.w += vrmpy(v17.ub,r1.b); v31.w += vrmpy(v16.ub,r12.b); v19:18 = vshuff(v2,v9,r5) }
    { v3:2.h = vshuffoe(v4.h,v10.h); v15.w += vrmpy(v14.ub,r1.b); r17:16 = memd(r26+#-24); v13.w += vrmpy(v3.ub,r17.b) }
    { v10.w = vrmpy(v0.ub,r21.b); v4 = vror(v0,r25); v8.w += vrmpy(v16.ub,r13.b); v18.ub = vmax(v18.ub,v30.ub) }
    { v10.w += vrmpy(v4.ub,r11.b); v16 = vror(v2,r24); v24.w += vasl(v15.w,r23); v11.w = vrmpy(v1.ub,r9.b) }
    { v5.w = vrmpy(v0.ub,r20.b); v17 = vror(v0,r24); v12.w += vrmpy(v17.ub,r0.b); v15 = v27 }
    { v14.w = vrmpy(v2.ub,r20.b); v23 = vror(v2,r25); v15.w += vasl(v23.w,r23); v9 = vsplat(r16) }
    { r1:0 = memd(r26+#-128); v5.w += vrmpy(v4.ub,r10.b); v13.w += vrmpy(v28.ub,r13.b); v20 = v9 }
    { v22.w += vrmpy(v28.ub,r12.b); v20.w += vasl(v13.w,r17); v28.ub = vmin(v6.ub,v29.ub); vmem(r18+#0) = v28.new }
    { v28 = vsplat(r23); v4 = vsplat(r17); v6.h = vshuffo(v20.h,v15.h); v19.ub = vmax(v19.ub,v30.ub) }
    { v5.w += vrmpy(v17.ub,r0.b); v14.w += vrmpy(v23.ub,r10.b); v13.ub = vmin(v18.ub,v29.ub); vmem(r18+#1) = v13.new }
    { v25.w += vasl(v12.w,r23); v13:12.w = vmpy(v6.h,r3.h); v6.ub = vmin(v19.ub,v29.ub); vmem(r18+#3) = v6.new }
    { v27.w += vasl(v21.w,r23); r13:12 = memd(r26+#-72); v7 = vror(v3,r25); v13.w += vmpyo(v20.w,v4.h):<<1:rnd:sat:shift } :endloop0
    end
    .size tn_hx_columns_half, . - tn_hx_columns_half

    .globl tn_hx_columns_row
    .type tn_hx_columns_row, @function
    .p2align 4
tn_hx_columns_row:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_loop,r1) }
    { r1:0 = combine(r11,r10) }
row_loop:
    { r18 = add(r27,r1); v17.w += vrmpy(v24.ub,r11.b); v31 = vsplat(r3); v25:24 = vcombine(v20,v20) }
    { v28.w += vrmpy(v4.ub,r15.b); v20.w += vasl(v2.w,r3); v0.w += vrmpy(v1.ub,r23.b); v27 = vror(v27,r24) }
    { v7.w += vrmpy(v23.ub,r10.b); v5:4 = vcombine(v3,v3); r9:8 = memd(r26+#-24); v26.h = vshuffo(v9.h,v8.h) }
    { v12 = v3; v24.w += vasl(v12.w,r3); v14.w += vrmpy(v13.ub,r5.b); v13 = vsplat(r8) }
    { v25.w += vasl(v16.w,r3); v22.w += vrmpy(v1.ub,r22.b); v0.w += vrmpy(v27.ub,r5.b); v21.h = vshuffo(v20.h,v15.h) }
    { v28.w += vrmpy(v23.ub,r11.b); v5.w += vasl(v6.w,r13); v22.w += vrmpy(v27.ub,r4.b); r23:22 = memd(r26+#-16) }
    { r1:0 = memd(r26++m1); v3.w += vasl(v7.w,r13); v16 = v13; v27:26.w = vmpy(v26.h,r22.h) }
    { v7:6 = vcombine(v13,v13); v26.w += vmpyo(v8.w,v18.h):<<1:rnd:sat:shift }
    { r2 = add(r28,r0); v12.w += vasl(v17.w,r13); v27.w += vmpyo(v9.w,v31.h):<<1:rnd:sat:shift }
    { v17 = vmemu(r2++m0); v9:8.w = vmpy(v21.h,r22.h); v23.h = vshuffo(v24.h,v10.h) }
    { v22 = vmemu(r2++m0); v13.w += vasl(v22.w,r9); v9.w += vmpyo(v20.w,v31.h):<<1:rnd:sat:shift }
    { r15:14 = memd(r26+#-80); v6.w += vasl(v0.w,r9); v8.w += vmpyo(v15.w,v18.h):<<1:rnd:sat:shift; v0.h = vshuffo(v25.h,v11.h) }
    { v4.w += vasl(v28.w,r13); v28.h = vshuffo(v13.h,v3.h); v1:0.w = vmpy(v0.h,r22.h) }
    { v19 = vmemu(r2++m0); v7.w += vasl(v19.w,r9); v1.w += vmpyo(v25.w,v31.h):<<1:rnd:sat:shift }
    { v16.w += vasl(v14.w,r9); v21:20.w = vmpy(v28.h,r23.h); v2.h = vshuffo(v27.h,v26.h) }
    { v15:14.b = vshuffoe(v22.b,v17.b); r13:12 = memd(r26+#-136); v17 = vsplat(r13); v27 = vsplat(r9) }
    { v22 = vmemu(r2++m0); v21.w += vmpyo(v13.w,v27.h):<<1:rnd:sat:shift }
    { v8 = vmemu(r2++m0); v26.h = vshuffo(v9.h,v8.h); v0.w += vmpyo(v11.w,v18.h):<<1:rnd:sat:shift }
    { r11:10 = memd(r26+#-48); v20.w += vmpyo(v3.w,v17.h):<<1:rnd:sat:shift; v9.h = vshuffo(v7.h,v5.h); v3.h = vshuffo(v16.h,v12.h) }
    { r9:8 = memd(r26+#-64); v1:0.w = vmpy(v23.h,r22.h); v23.h = vshuffo(v6.h,v4.h); v13.h = vshuffo(v1.h,v0.h) }
    { r5:4 = memd(r26+#-72); v10.h = vshuffo(v21.h,v20.h); v0.w += vmpyo(v10.w,v18.h):<<1:rnd:sat:shift }
    { v9 = vmemu(r2++m0); v28.ub = vasr(v10.h,v26.h,r7):sat; v11:10.w = vmpy(v9.h,r23.h) }
    { v21:20.b = vshuffoe(v22.b,v19.b); v11.w += vmpyo(v7.w,v27.h):<<1:rnd:sat:shift }
    { v9:8.b = vshuffoe(v9.b,v8.b); r21:20 = memd(r26+#-120); v23:22.w = vmpy(v23.h,r23.h) }
    { v19:18.h = vshuffoe(v8.h,v20.h); v10.w += vmpyo(v5.w,v17.h):<<1:rnd:sat:shift }
    { v7:6.h = vshuffoe(v20.h,v14.h); r3:2 = memd(r26+#-56); v23.w += vmpyo(v6.w,v27.h):<<1:rnd:sat:shift }
    { v11 = vror(v7,r25); v1.w += vmpyo(v24.w,v31.h):<<1:rnd:sat:shift; v31.h = vshuffo(v11.h,v10.h) }
    { v10 = vror(v19,r25); v24.h = vshuffo(v1.h,v0.h); v1:0.w = vmpy(v3.h,r23.h) }
    { v27:26.h = vshuffoe(v21.h,v15.h); r17:16 = memd(r26+#-144); v1.w += vmpyo(v16.w,v27.h):<<1:rnd:sat:shift }
    { v16 = vror(v18,r25); r23:22 = memd(r26+#-40); v22.w += vmpyo(v4.w,v17.h):<<1:rnd:sat:shift; v3.ub = vasr(v31.h,v13.h,r7):sat }
    { v21:20.h = vshuffoe(v9.h,v21.h); v13.w = vrmpy(v6.ub,r16.b); v5.w = vrmpy(v18.ub,r16.b) }
    { v23.w = vrmpy(v6.ub,r17.b); v9 = vror(v6,r25); v31.w = vrmpy(v19.ub,r15.b); v22.h = vshuffo(v23.h,v22.h) }
    { v25.w = vrmpy(v18.ub,r17.b); v15 = vsplat(r20); v22.ub = vasr(v22.h,v24.h,r7):sat; v28.ub = vmax(v28.ub,v30.ub) }
    { r17:16 = memd(r26+#-128); v17 = vror(v18,r24); v0.w += vmpyo(v12.w,v17.h):<<1:rnd:sat:shift; v22.ub = vmax(v22.ub,v30.ub) }
    { v5.w += vrmpy(v16.ub,r12.b); v8 = v15; v14.w = vrmpy(v21.ub,r11.b); v28.ub = vmin(v28.ub,v29.ub) }
    { v12.w = vrmpy(v7.ub,r15.b); v31.w += vrmpy(v10.ub,r5.b); vmemu(r18++m0) = v28 }
    { v13.w += vrmpy(v9.ub,r12.b); v28 = vror(v6,r24); v0.w = vrmpy(v27.ub,r11.b); v1.h = vshuffo(v1.h,v0.h) }
    { v13.w += vrmpy(v28.ub,r16.b); v25.w += vrmpy(v16.ub,r13.b); v24 = vror(v20,r24); v4.ub = vasr(v1.h,v2.h,r7):sat }
    { v23.w += vrmpy(v9.ub,r13.b); v1 = vror(v20,r25); v12.w += vrmpy(v11.ub,r5.b); v3.ub = vmax(v3.ub,v30.ub) }
    { v2.w = vrmpy(v7.ub,r14.b); v9 = vror(v7,r24); v16.w = vrmpy(v19.ub,r14.b); v22.ub = vmin(v22.ub,v29.ub) }
    { r5:4 = memd(r26+#-112); r13:12 = memd(r26+#-88); v2.w += vrmpy(v11.ub,r4.b); v16.w += vrmpy(v10.ub,r4.b) }
    { v5.w += vrmpy(v17.ub,r16.b); v25.w += vrmpy(v17.ub,r17.b); v11:10 = vcombine(v15,v15); r15:14 = memd(r26+#-104) }
    { v7.w = vrmpy(v26.ub,r4.b); v17.w = vrmpy(v20.ub,r5.b); vmemu(r18++m0) = v22 }
    { v23.w += vrmpy(v28.ub,r17.b); v11.w += vasl(v5.w,r21); v5 = vror(v19,r24); v19.w = vrmpy(v21.ub,r10.b) }
    { v8.w += vasl(v25.w,r21); v6.w = vrmpy(v20.ub,r4.b); v12.w += vrmpy(v9.ub,r9.b); v3.ub = vmin(v3.ub,v29.ub) }
    { r11:10 = memd(r26+#-96); v17.w += vrmpy(v1.ub,r15.b); v22.w = vrmpy(v27.ub,r10.b); v25 = vror(v21,r25) }
    { v15.w += vasl(v13.w,r21); v28.w = vrmpy(v26.ub,r5.b); v6.w += vrmpy(v1.ub,r14.b); v4.ub = vmax(v4.ub,v30.ub) }
    { v18 = vsplat(r21); v3 = vsplat(r12); vmemu(r18++m0) = v3 }
    { r5:4 = memd(r26+#-32); v1 = vror(v27,r25); v19.w += vrmpy(v25.ub,r22.b); v14.w += vrmpy(v25.ub,r23.b) }
    { v6.w += vrmpy(v24.ub,r10.b); v20 = vsplat(r2); v13 = vror(v21,r24); v4.ub = vmin(v4.ub,v29.ub) }
    { v2.w += vrmpy(v9.ub,r8.b); v9 = v20; vmemu(r18++m0) = v4 }
    { v10.w += vasl(v23.w,r21); v4 = vror(v26,r25); v31.w += vrmpy(v5.ub,r9.b); v19.w += vrmpy(v13.ub,r4.b) }
    { v7.w += vrmpy(v4.ub,r14.b); v23 = vror(v26,r24); v16.w += vrmpy(v5.ub,r8.b); v9.w += vasl(v31.w,r3) } :endloop0
    end
    .size tn_hx_columns_row, . - tn_hx_columns_row

    .globl tn_hx_columns_blocks
    .type tn_hx_columns_blocks, @function
    .p2align 4
tn_hx_columns_blocks:
    begin 120
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r21 = add(r28,r10); r9:8 = combine(r11,r10) }
blocks_loop:
    { v0 = vmemu(r21+#0); v1 = vsplat(r23); v4.w += vrmpy(v11.ub,r14.b) }
    { r15:14 = memd(r26+#-72); v21.h = vshuffe(v24.h,v12.h); v11:10 = vcombine(v1,v1); v19 = vror(v19,r25) }
    { v13:12 = vdeal(v28,v0,r5); r11:10 = memd(r26+#-48); v16.w += vrmpy(v26.ub,r14.b); v0.w = vrmpy(v25.ub,r10.b) }
    { v10.w += vasl(v27.w,r12); v2 = vror(v2,r25); v27:26 = vcombine(v6,v6); r21:20 = memd(r26+#-8) }
    { v7.w += vrmpy(v14.ub,r19.b); v21 = vror(v21,r25); v28.w = vrmpy(v24.ub,r16.b); v26.w += vasl(v18.w,r13) }
    { r4 = add(r27,r9); v9.w += vrmpy(v21.ub,r22.b); v0.w += vrmpy(v13.ub,r20.b); v27.w += vasl(v4.w,r13) }
    { v21.w = vrmpy(v14.ub,r18.b); v2.h = vshuffe(v13.h,v24.h); v3.w += vrmpy(v2.ub,r14.b); v24.h = vshuffe(v13.h,v25.h) }
    { v18 = vsplat(r1); v2 = vror(v2,r25); v28.w += vrmpy(v13.ub,r17.b); r9:8 = memd(r26+#-16) }
    { v25 = vsplat(r12); v11.w += vasl(v9.w,r12); v31.w += vrmpy(v19.ub,r14.b); v24 = vror(v24,r25) }
    { v28.w += vrmpy(v2.ub,r22.b); v2.h = vshuffe(v12.h,v15.h); v4 = vsplat(r15); v19 = v6 }
    { v15.h = vshuffe(v12.h,v14.h); v9 = v1; v14.w = vrmpy(v15.ub,r2.b); v0.w += vrmpy(v24.ub,r21.b) }
    { v2 = vror(v2,r25); v14.w += vrmpy(v12.ub,r8.b); v24 = vsplat(r13); v19.w += vasl(v0.w,r13) }
    { v17 = vror(v17,r25); v21.w += vrmpy(v12.ub,r19.b); v14.w += vrmpy(v2.ub,r9.b); v0.h = vshuffo(v27.h,v11.h) }
    { v22 = vror(v22,r25); v13:12 = vcombine(v4,v4); v6.w += vasl(v8.w,r13); r3:2 = memd(r26+#-32) }
    { r9:8 = memd(r26++m1); v15 = vror(v15,r25); v3:2 = vcombine(v18,v18); v13.w += vasl(v3.w,r11) }
    { v5.w += vrmpy(v17.ub,r0.b); v9.w += vasl(v28.w,r12); v28 = vsplat(r11); v17.h = vshuffo(v26.h,v10.h) }
    { v7.w += vrmpy(v22.ub,r0.b); v21.w += vrmpy(v15.ub,r0.b); v8 = v18; v2.w += vasl(v5.w,r10) }
    { r21 = add(r28,r8); v1.w += vasl(v23.w,r12); v5 = v4; v23:22.w = vmpy(v0.h,r3.h) }
    { v0 = vmemu(r21+#1); v18.w += vasl(v20.w,r10); v23.w += vmpyo(v27.w,v24.h):<<1:rnd:sat:shift }
    { v15 = vmemu(r21++m0); v4.w += vasl(v31.w,r11); v22.w += vmpyo(v11.w,v25.h):<<1:rnd:sat:shift }
    { v8.w += vasl(v21.w,r10); v23:22.w = vmpy(v17.h,r3.h); v31.h = vshuffo(v23.h,v22.h) }
    { v21 = vmemu(r21+#1); v3.w += vasl(v7.w,r10); v23.w += vmpyo(v26.w,v24.h):<<1:rnd:sat:shift }
    { v11:10 = vdeal(v0,v15,r5); v22.w += vmpyo(v10.w,v25.h):<<1:rnd:sat:shift }
    { v0 = vsplat(r10); v20.h = vshuffo(v6.h,v1.h); v7.h = vshuffo(v23.h,v22.h); v22.h = vshuffo(v13.h,v3.h) }
    { v17 = vmemu(r21++m0); v15.h = vshuffo(v4.h,v18.h); v27:26.w = vmpy(v22.h,r2.h) }
    { v22 = vmemu(r21+#1); v12.w += vasl(v16.w,r11); v27.w += vmpyo(v13.w,v28.h):<<1:rnd:sat:shift }
    { v23 = vmemu(r21++m0); v5.w += vasl(v14.w,r11); v26.w += vmpyo(v3.w,v0.h):<<1:rnd:sat:shift }
    { v27 = vmemu(r21+#1); v15:14.w = vmpy(v15.h,r2.h); v16.h = vshuffo(v27.h,v26.h) }
    { v23:22 = vdeal(v22,v23,r5); r13:12 = memd(r26+#-40); v14.w += vmpyo(v18.w,v0.h):<<1:rnd:sat:shift }
    { v31 = vmemu(r21++m0); v15.w += vmpyo(v4.w,v28.h):<<1:rnd:sat:shift; v4.ub = vasr(v31.h,v16.h,r7):sat }
    { v17:16 = vdeal(v21,v17,r5); v21:20.w = vmpy(v20.h,r3.h) }
    { v27:26 = vdeal(v27,v31,r5); v18.h = vshuffo(v15.h,v14.h); v31.h = vshuffo(v12.h,v2.h) }
    { v15:14.b = vshuffoe(v16.b,v10.b); r17:16 = memd(r26+#-96); v20.w += vmpyo(v1.w,v25.h):<<1:rnd:sat:shift }
    { v11:10.b = vshuffoe(v17.b,v11.b); r19:18 = memd(r26+#-112); v17:16.w = vmpy(v31.h,r2.h) }
    { v31 = vmemu(r21+#1); v21.w += vmpyo(v6.w,v24.h):<<1:rnd:sat:shift; v6.h = vshuffo(v19.h,v9.h) }
    { v1 = vmemu(r21++m0); v12.h = vshuffo(v21.h,v20.h); v17.w += vmpyo(v12.w,v28.h):<<1:rnd:sat:shift }
    { v3:2.b = vshuffoe(v26.b,v22.b); r1:0 = memd(r26+#-104); v16.w += vmpyo(v2.w,v0.h):<<1:rnd:sat:shift }
    { v16 = vmemu(r21+#1); v17.h = vshuffo(v17.h,v16.h); v21:20.w = vmpy(v6.h,r3.h) }
    { v6 = vmemu(r21++m0); v13.h = vshuffo(v5.h,v8.h); v20.w += vmpyo(v9.w,v25.h):<<1:rnd:sat:shift }
    { v18 = vmemu(r21+#1); v19.ub = vasr(v12.h,v18.h,r7):sat; v21.w += vmpyo(v19.w,v24.h):<<1:rnd:sat:shift }
    { v25:24.b = vshuffoe(v27.b,v23.b); r23:22 = memd(r26+#-88); v23.w = vrmpy(v10.ub,r16.b); v19.ub = vmax(v19.ub,v30.ub) }
    { v27 = vmemu(r21++m0); v13:12.w = vmpy(v13.h,r2.h); v19.ub = vmin(v19.ub,v29.ub) }
    { v13.w += vmpyo(v5.w,v28.h):<<1:rnd:sat:shift; vmemu(r4+#0) = v19; v4.ub = vmax(v4.ub,v30.ub) }
    { v22 = vmemu(r21+#1); v8.ub = vasr(v7.h,v17.h,r7):sat; v12.w += vmpyo(v8.w,v0.h):<<1:rnd:sat:shift }
    { v13:12 = vdeal(v16,v6,r5); v7.h = vshuffe(v24.h,v10.h); v19.h = vshuffo(v13.h,v12.h) }
    { v17:16 = vdeal(v31,v1,r5); v28.h = vshuffe(v25.h,v11.h); r4 = add(r4,r24); v8.ub = vmax(v8.ub,v30.ub) }
    { v1:0.b = vshuffoe(v12.b,v16.b); r11:10 = memd(r26+#-64); v5.w = vrmpy(v2.ub,r18.b); v31.h = vshuffo(v21.h,v20.h) }
    { v20.w = vrmpy(v14.ub,r18.b); v7 = vror(v7,r25); v23.w += vrmpy(v24.ub,r17.b); v26.h = vshuffe(v1.h,v3.h) }
    { v13:12.b = vshuffoe(v13.b,v17.b); r3:2 = memd(r26+#-80); v9.h = vshuffe(v2.h,v14.h); v17.h = vshuffe(v0.h,v2.h) }
    { v9 = vror(v9,r25); v31.w = vrmpy(v15.ub,r2.b); v21.ub = vasr(v31.h,v19.h,r7):sat; v8.ub = vmin(v8.ub,v29.ub) }
    { v6.h = vshuffe(v12.h,v24.h); vmemu(r4+#0) = v8; v21.ub = vmax(v21.ub,v30.ub) }
    { v15 = vmemu(r21++m0); v20.w += vrmpy(v2.ub,r19.b); v19.h = vshuffe(v3.h,v15.h) }
    { v11:10 = vdeal(v18,v27,r5); v16.w = vrmpy(v3.ub,r2.b); v8.w = vrmpy(v11.ub,r10.b); r4 = add(r4,r24) }
    { v23.w += vrmpy(v7.ub,r22.b); v6 = vror(v6,r25); v8.w += vrmpy(v25.ub,r11.b); v4.ub = vmin(v4.ub,v29.ub) }
    { v7.w = vrmpy(v0.ub,r18.b); v27.w = vrmpy(v24.ub,r16.b); v28 = vror(v28,r25); v21.ub = vmin(v21.ub,v29.ub) }
    { v25:24 = vdeal(v22,v15,r5); v22.h = vshuffe(v13.h,v25.h); v18.w = vrmpy(v25.ub,r10.b) }
    { v20.w += vrmpy(v9.ub,r0.b); v31.w += vrmpy(v3.ub,r3.b); vmemu(r4+#0) = v4 }
    { v15:14.b = vshuffoe(v24.b,v10.b); r15:14 = memd(r26+#-56); v5.w += vrmpy(v0.ub,r19.b); v3.w = vrmpy(v1.ub,r2.b) }
    { v25:24.b = vshuffoe(v25.b,v11.b); v27.w += vrmpy(v12.ub,r17.b); v4.w = vrmpy(v13.ub,r10.b); r4 = add(r4,r24) }
    { v9.w = vrmpy(v12.ub,r16.b); v8.w += vrmpy(v28.ub,r14.b); v22 = vror(v22,r25); v11.h = vshuffe(v25.h,v13.h) }
    { v28 = vmemu(r21+#1); v16.w += vrmpy(v1.ub,r3.b); v18.w += vrmpy(v13.ub,r11.b) }
    { v27.w += vrmpy(v6.ub,r22.b); v26 = vror(v26,r25); v2.h = vshuffe(v15.h,v1.h); v18.w += vrmpy(v22.ub,r14.b) }
    { v22.h = vshuffe(v14.h,v0.h); v11 = vror(v11,r25); v4.w += vrmpy(v25.ub,r11.b); v6 = vsplat(r15) }
    { v9.w += vrmpy(v24.ub,r17.b); v3.w += vrmpy(v15.ub,r3.b); vmemu(r4+#0) = v21 } :endloop0
    end
    .size tn_hx_columns_blocks, . - tn_hx_columns_blocks

    .globl tn_hx_columns_quarter_even
    .type tn_hx_columns_quarter_even, @function
    .p2align 4
tn_hx_columns_quarter_even:
    begin 136
    { r11:10 = memd(r26 + #0) }
    { loop0(quarter_even_loop,r1); r5 = #-32; r6 = #32 }
    { r22 = add(r27,r11); r17:16 = combine(r11,r10); r4 = memw(r0 + #48) }
    { r4 = add(r4,#-384) }
quarter_even_loop:
    { v5:4 = vdeal(v4,v5,r5); r21:20 = memd(r26+#-72); r15:14 = memd(r26+#-64); v2.w += vmpyo(v17.w,v14.h):<<1:rnd:sat:shift }
    { v5:4.b = vshuffoe(v5.b,v4.b); r13:12 = memd(r26+#-80); v13.w += vmpyo(v10.w,v7.h):<<1:rnd:sat:shift }
    { v8 = valign(v31,v4,r6); r1:0 = memd(r26+#-144); v7.h = vshuffe(v9.h,v8.h); v3.w += vmpyo(v16.w,v7.h):<<1:rnd:sat:shift }
    { v9:8.h = vshuffoe(v8.h,v4.h); r19:18 = memd(r26+#-128); r9:8 = memd(r26+#-56); v12.w += vmpyo(v15.w,v14.h):<<1:rnd:sat:shift }
    { v10.w = vrmpy(v8.ub,r18.b); v20.w = vrmpy(v8.ub,r19.b); v15 = vror(v8,r25); v16 = vand(v11,v24) }
    { r3:2 = memd(r26+#-112); v14 = vror(v9,r24); v0.h = vshuffe(v13.h,v12.h); v18.w += vmpyo(v22.w,v0.h):<<1:rnd:sat:shift }
    { v10.w += vrmpy(v15.ub,r10.b); v20.w += vrmpy(v15.ub,r11.b); v12 = vror(v9,r25); v13.h = vshuffo(v13.h,v12.h) }
    { v17.w = vrmpy(v9.ub,r12.b); v22 = vand(v13,v24); v2.h = vshuffo(v3.h,v2.h); v3.h = vshuffe(v3.h,v2.h) }
    { v15 = vror(v8,r24); r19:18 = memd(r26+#-32); q0 = vcmp.eq(v22.h,v25.h); v19.w += vmpyo(v1.w,v6.h):<<1:rnd:sat:shift }
    { v22 = v21; v8.w = vrmpy(v9.ub,r13.b); v1 = vsplat(r0); v6 = vand(v2,v24) }
    { v8.w += vrmpy(v12.ub,r21.b); r11:10 = memd(r26+#-24); v6 = vsplat(r1); q2 = vcmp.eq(v6.h,v25.h) }
    { v10.w += vrmpy(v15.ub,r2.b); v20.w += vrmpy(v15.ub,r3.b); r13:12 = memd(r26+#-96); v9.h = vshuffo(v19.h,v18.h) }
    { v20 = valign(v31,v5,r6); v22.w += vasl(v20.w,r18); q2 &= vcmp.gt(v6.uh,v3.uh); vmem(r22+#2) = v26 }
    { v5:4.h = vshuffoe(v20.h,v5.h); r21:20 = memd(r26+#-104); v15 = vmem(r4++#1); v17.w += vrmpy(v12.ub,r20.b) }
    { v12 = vror(v4,r25); v20.w = vrmpy(v5.ub,r8.b); v18.h = vshuffe(v19.h,v18.h); v3 = vand(v9,v24) }
    { v0 = vsplat(r18); v19 = vror(v5,r25); q0 &= vcmp.gt(v6.uh,v0.uh); vmem(r22+#-1) = v26 }
    { v21.w += vasl(v10.w,r18); v6 = vsplat(r19); v3 = vmem(r4++#1); q1 = vcmp.eq(v3.h,v25.h) }
    { v17.w += vrmpy(v14.ub,r14.b); v10 = vmem(r4++#1); q2 = vcmp.eq(v16.h,v25.h); if (q2) v2.h += v23.h }
    { v8.w += vrmpy(v14.ub,r15.b); v1 = v3; q2 &= vcmp.gt(v1.uh,v7.uh); q1 &= vcmp.gt(v1.uh,v18.uh) }
    { v14.w = vrmpy(v4.ub,r21.b); r1:0 = memd(r26+#-48); v18.w = vrmpy(v5.ub,r9.b); v7 = vror(v5,r24) }
    { r9:8 = memd(r26+#-88); v3.w += vasl(v17.w,r19); if (q0) v13.h += v23.h; if (q1) v9.h += v23.h }
    { v8.w = vrmpy(v4.ub,r20.b); v14.w += vrmpy(v12.ub,r13.b); v5 = vror(v4,r24); v1.w += vasl(v8.w,r19) }
    { r21:20 = memd(r26+#-40); v20.w += vrmpy(v19.ub,r0.b); if (q2) v11.h += v23.h; v9.ub = vasr(v2.h,v9.h,r7):sat }
    { v8.w += vrmpy(v12.ub,r12.b); v17 = v15; v16 = v10; r15:14 = memd(r26+#-16) }
    { v14.w += vrmpy(v5.ub,r9.b); v18.w += vrmpy(v19.ub,r1.b); v4.ub = vasr(v13.h,v11.h,r7):sat; v12.h = vshuffo(v1.h,v22.h) }
    { v8.w += vrmpy(v5.ub,r8.b); v18.w += vrmpy(v7.ub,r21.b); v5:4 = vshuff(v9,v4,r5) }
    { v20.w += vrmpy(v7.ub,r20.b); v9.h = vshuffo(v3.h,v21.h); v4.ub = vmax(v4.ub,v30.ub); v5.ub = vmax(v5.ub,v28.ub) }
    { v15.w += vasl(v8.w,r10); v9:8.w = vmpy(v9.h,r14.h); v11.ub = vmin(v4.ub,v29.ub); vmem(r22+#0) = v11.new }
    { v17.w += vasl(v14.w,r10); v8.w += vmpyo(v21.w,v0.h):<<1:rnd:sat:shift; v21.ub = vmin(v5.ub,v27.ub); vmem(r22+#1) = v21.new }
    { r22 = add(r27,r17); v14 = vsplat(r10); v7 = vsplat(r11); v16.w += vasl(v18.w,r11) }
    { r17:16 = memd(r26++m1); v21 = vmem(r4++#1); v10.w += vasl(v20.w,r11); v19:18.w = vmpy(v12.h,r14.h) }
    { r21 = add(r28,r16); r11:10 = memd(r26+#-120); v9.w += vmpyo(v3.w,v6.h):<<1:rnd:sat:shift; v12.h = vshuffo(v10.h,v15.h) }
    { v5 = vmemu(r21+#0); v13:12.w = vmpy(v12.h,r15.h); v3.h = vshuffo(v16.h,v17.h) }
    { v4 = vmemu(r21+#1); v11.h = vshuffo(v9.h,v8.h); v3:2.w = vmpy(v3.h,r15.h) } :endloop0
    end
    .size tn_hx_columns_quarter_even, . - tn_hx_columns_quarter_even

    .globl tn_hx_columns_half_even
    .type tn_hx_columns_half_even, @function
    .p2align 4
tn_hx_columns_half_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_even_loop,r1); r5 = #-64 }
    { r4 = add(r27,r11); r23:22 = combine(r11,r10) }
half_even_loop:
    { v2.w = vrmpy(v17.ub,r2.b); v8 = vsplat(r0); v11.h = vshuffo(v11.h,v10.h); v31.h = vshuffe(v11.h,v10.h) }
    { r6 = add(r27,r22); v1:0.w = vmpy(v9.h,r18.h); v20.h = vshuffe(v7.h,v6.h); v10.h = vshuffe(v1.h,v0.h) }
    { r23:22 = memd(r26+#-104); v1.w += vmpyo(v27.w,v22.h):<<1:rnd:sat:shift; v27.h = vshuffo(v7.h,v6.h); v13 = vand(v11,v24) }
    { r13:12 = memd(r26+#-88); v0.w += vmpyo(v18.w,v14.h):<<1:rnd:sat:shift; v14 = vand(v27,v24); q0 = vcmp.eq(v13.h,v25.h) }
    { v7.w = vrmpy(v4.ub,r16.b); v12.w = vrmpy(v16.ub,r17.b); q3 = vcmp.eq(v14.h,v25.h); q1 &= vcmp.gt(v8.uh,v10.uh) }
    { v9.w = vrmpy(v4.ub,r17.b); v14 = vror(v4,r25); v10.w = vrmpy(v16.ub,r16.b); vmem(r4+#0) = v26 }
    { v13.w = vrmpy(v5.ub,r2.b); v2.w += vrmpy(v19.ub,r8.b); v6 = vror(v17,r24); v3.h = vshuffo(v1.h,v0.h) }
    { v22 = vror(v16,r25); v21 = vsplat(r12); r17:16 = memd(r26+#-24); v2.w += vrmpy(v6.ub,r10.b) }
    { v7.w += vrmpy(v14.ub,r22.b); v9.w += vrmpy(v14.ub,r23.b); v0 = vror(v5,r25); v14.h = vshuffe(v1.h,v0.h) }
    { v12.w += vrmpy(v22.ub,r23.b); v1 = vror(v16,r24); v31 = vsplat(r16); q0 &= vcmp.gt(v8.uh,v31.uh) }
    { v10.w += vrmpy(v22.ub,r22.b); v17 = vror(v5,r24); v22.w = vrmpy(v17.ub,r3.b); v16 = vand(v3,v24) }
    { v20.w = vrmpy(v5.ub,r3.b); v13.w += vrmpy(v0.ub,r8.b); q3 &= vcmp.gt(v8.uh,v20.uh); if (q0) v11.h += v23.h }
    { r23:22 = memd(r26++m1); v10.w += vrmpy(v1.ub,r20.b); v19:18 = vcombine(v21,v21); v22.w += vrmpy(v19.ub,r9.b) }
    { r4 = add(r28,r22); v9.w += vrmpy(v28.ub,r21.b); v22.w += vrmpy(v6.ub,r11.b); v5:4 = vcombine(v31,v31) }
    { r9:8 = memd(r26+#-136); v18.w += vasl(v9.w,r13); v20.w += vrmpy(v0.ub,r9.b); if (q3) v27.h += v23.h }
    { v7.w += vrmpy(v28.ub,r20.b); v12.w += vrmpy(v1.ub,r21.b); v2 = v31; v5.w += vasl(v2.w,r17) }
    { v6 = vsplat(r13); v19.w += vasl(v10.w,r13); v20.w += vrmpy(v17.ub,r11.b); q3 = vcmp.eq(v16.h,v25.h) }
    { v13.w += vrmpy(v17.ub,r10.b); v10 = vsplat(r17); v4.w += vasl(v20.w,r17); v0.h = vshuffo(v5.h,v19.h) }
    { v20 = vmemu(r4+#4); v9.h = vshuffo(v4.h,v18.h); v1:0.w = vmpy(v0.h,r19.h) }
    { v28 = v21; r11:10 = memd(r26+#-80); q3 &= vcmp.gt(v8.uh,v14.uh); v1.w += vmpyo(v5.w,v10.h):<<1:rnd:sat:shift }
    { v17 = vmemu(r4+#3); v31.w += vasl(v13.w,r17); v9:8.w = vmpy(v9.h,r19.h) }
    { v16 = vmemu(r4+#2); v21.w += vasl(v7.w,r13); v0.w += vmpyo(v19.w,v6.h):<<1:rnd:sat:shift }
    { v7 = vmemu(r4+#1); v28.w += vasl(v12.w,r13); v9.w += vmpyo(v4.w,v10.h):<<1:rnd:sat:shift }
    { v18.h = vshuffo(v31.h,v21.h); v8.w += vmpyo(v18.w,v6.h):<<1:rnd:sat:shift; v14.h = vshuffo(v1.h,v0.h) }
    { v13 = vmemu(r4+#0); v2.w += vasl(v22.w,r17); v5:4.w = vmpy(v18.h,r19.h) }
    { v19:18 = vdeal(v17,v7,r5); v4.w += vmpyo(v21.w,v6.h):<<1:rnd:sat:shift }
    { v1:0 = vdeal(v20,v16,r5); v22.h = vshuffe(v1.h,v0.h) }
    { v13:12 = vdeal(v16,v13,r5); r3:2 = memd(r26+#-144); v16 = vand(v14,v24); v20.h = vshuffo(v2.h,v28.h) }
    { v1:0.b = vshuffoe(v1.b,v0.b); r13:12 = memd(r26+#-120); v5.w += vmpyo(v31.w,v10.h):<<1:rnd:sat:shift }
    { r17:16 = memd(r26+#-64); v31.h = vshuffo(v9.h,v8.h); q0 = vcmp.eq(v16.h,v25.h); v17:16.w = vmpy(v20.h,r19.h) }
    { r4 = add(r27,r23); v2.h = vshuffo(v5.h,v4.h); v10.h = vshuffe(v5.h,v4.h); v17.w += vmpyo(v2.w,v10.h):<<1:rnd:sat:shift }
    { v7:6.b = vshuffoe(v19.b,v18.b); v16.w += vmpyo(v28.w,v6.h):<<1:rnd:sat:shift }
    { v19:18.b = vshuffoe(v13.b,v12.b); v28 = vand(v2,v24); v13 = vand(v31,v24) }
    { v21:20.h = vshuffoe(v6.h,v18.h); r21:20 = memd(r26+#-56); q2 = vcmp.eq(v13.h,v25.h); v12.h = vshuffe(v17.h,v16.h) }
    { v5:4.h = vshuffoe(v7.h,v19.h); v18 = vsplat(r1); v13.h = vshuffo(v17.h,v16.h) }
    { v17:16.h = vshuffoe(v1.h,v7.h); r15:14 = memd(r26+#-128); if (q3) v3.h += v23.h; if (q1) v15.h += v23.h }
    { v1:0.h = vshuffoe(v0.h,v6.h); r19:18 = memd(r26+#-72); v8.h = vshuffe(v9.h,v8.h); v9 = vand(v13,v24) }
    { v19.w = vrmpy(v0.ub,r2.b); v7 = vror(v1,r25); q1 = vcmp.eq(v28.h,v25.h); q2 &= vcmp.gt(v18.uh,v8.uh) }
    { v28.w = vrmpy(v0.ub,r3.b); v22.w = vrmpy(v1.ub,r10.b); if (q2) v31.h += v23.h; q0 &= vcmp.gt(v18.uh,v22.uh) }
    { v8 = vror(v20,r24); v22.w += vrmpy(v7.ub,r18.b); v27.ub = vasr(v31.h,v27.h,r7):sat; q3 = vcmp.eq(v9.h,v25.h) }
    { v6 = vror(v21,r25); v9.w = vrmpy(v1.ub,r11.b); if (q0) v14.h += v23.h; q3 &= vcmp.gt(v18.uh,v12.uh) }
    { v9.w += vrmpy(v7.ub,r19.b); q1 &= vcmp.gt(v18.uh,v10.uh); v11.ub = vasr(v14.h,v11.h,r7):sat; if (q3) v13.h += v23.h }
    { v31.w = vrmpy(v20.ub,r2.b); v10.w = vrmpy(v21.ub,r11.b); v7 = vror(v1,r24); v14.ub = vasr(v13.h,v15.h,r7):sat }
    { v18 = vsplat(r12); v15.w = vrmpy(v21.ub,r10.b); r1:0 = memd(r26+#-8); v13:12 = vshuff(v14,v11,r5) }
    { v6 = vror(v0,r25); v15.w += vrmpy(v6.ub,r18.b); v10.w += vrmpy(v6.ub,r19.b); if (q1) v2.h += v23.h }
    { v28.w += vrmpy(v6.ub,r9.b); v0 = vror(v0,r24); v11 = v18; v22.w += vrmpy(v7.ub,r16.b) }
    { v3.w = vrmpy(v20.ub,r3.b); v1 = vror(v20,r25); v9.w += vrmpy(v7.ub,r17.b); v2.ub = vasr(v2.h,v3.h,r7):sat }
    { v19.w += vrmpy(v6.ub,r8.b); v27 = vsplat(r20); r19:18 = memd(r26+#-16); v7:6 = vshuff(v27,v2,r5) }
    { v28.w += vrmpy(v0.ub,r15.b); v14 = vsplat(r13); v21 = vror(v21,r24); v2 = v27 }
    { v31.w += vrmpy(v1.ub,r8.b); v15.w += vrmpy(v21.ub,r16.b); v2.w += vasl(v9.w,r21); v6.ub = vmax(v6.ub,v30.ub) }
    { v3.w += vrmpy(v1.ub,r9.b); v10.w += vrmpy(v21.ub,r17.b); v21:20 = vcombine(v27,v27); r9:8 = memd(r26+#-40) }
    { v3.w += vrmpy(v8.ub,r15.b); v19.w += vrmpy(v0.ub,r14.b); v11.w += vasl(v28.w,r13); v7.ub = vmax(v7.ub,v30.ub) }
    { v31.w += vrmpy(v8.ub,r14.b); v28 = vror(v4,r24); v21.w += vasl(v22.w,r21); v0.h = vshuffo(v2.h,v11.h) }
    { v22 = vsplat(r21); v20.w += vasl(v10.w,r21); v1.ub = vmin(v6.ub,v29.ub); vmem(r6+#0) = v1.new }
    { v9:8 = vcombine(v18,v18); v1:0.w = vmpy(v0.h,r18.h) }
    { v9.w += vasl(v19.w,r13); r11:10 = memd(r26+#-32); v1.w += vmpyo(v2.w,v22.h):<<1:rnd:sat:shift; v13.ub = vmax(v13.ub,v30.ub) }
    { v8.w += vasl(v3.w,r13); v10.h = vshuffo(v21.h,v9.h); v0.w += vmpyo(v11.w,v14.h):<<1:rnd:sat:shift }
    { v6.h = vshuffo(v20.h,v8.h); v11:10.w = vmpy(v10.h,r18.h); v2.ub = vmin(v7.ub,v29.ub); vmem(r6+#2) = v2.new }
    { v27.w += vasl(v15.w,r21); r3:2 = memd(r26+#-48); v10.w += vmpyo(v9.w,v14.h):<<1:rnd:sat:shift; v15.h = vshuffo(v1.h,v0.h) }
    { v7:6.w = vmpy(v6.h,r18.h); v12.ub = vmax(v12.ub,v30.ub); v2.ub = vmin(v13.ub,v29.ub); vmem(r6+#3) = v2.new }
    { v18.w += vasl(v31.w,r13); r21:20 = memd(r26+#-96); v11.w += vmpyo(v21.w,v22.h):<<1:rnd:sat:shift; v2 = vand(v15,v24) }
    { r17:16 = memd(r26+#-112); v19 = vror(v17,r25); v9.h = vshuffo(v27.h,v18.h); v6.w += vmpyo(v8.w,v14.h):<<1:rnd:sat:shift }
    { v7.w += vmpyo(v20.w,v22.h):<<1:rnd:sat:shift; q1 = vcmp.eq(v2.h,v25.h); v8.ub = vmin(v12.ub,v29.ub); vmem(r6+#1) = v8.new } :endloop0
    end
    .size tn_hx_columns_half_even, . - tn_hx_columns_half_even

    .globl tn_hx_columns_row_even
    .type tn_hx_columns_row_even, @function
    .p2align 4
tn_hx_columns_row_even:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_even_loop,r1) }
    { r6 = add(r27,r11) }
row_even_loop:
    { r9:8 = memd(r26++m1); v5.w += vrmpy(v3.ub,r20.b); v31.w += vrmpy(v3.ub,r21.b); v17:16 = vcombine(v11,v11) }
    { v14.w += vrmpy(v26.ub,r15.b); v7 = v11; v6 = vsplat(r1); v3 = vand(v22,v24) }
    { r15 = add(r28,r8); v16.w += vasl(v31.w,r5); v3 = vand(v13,v24); q1 = vcmp.eq(v3.h,v25.h) }
    { v14.w += vrmpy(v28.ub,r21.b); v17.w += vasl(v9.w,r5); v2.h = vshuffo(v16.h,v18.h); q3 &= vcmp.gt(v6.uh,v20.uh) }
    { v10 = vsplat(r11); v5 = vsplat(r5); v11.w += vasl(v5.w,r5); v31.h = vshuffo(v17.h,v19.h) }
    { v20 = vmemu(r15++m0); q0 = vcmp.eq(v3.h,v25.h); v27:26.w = vmpy(v31.h,r18.h) }
    { v14 = vmemu(r15++m0); v7.w += vasl(v14.w,r5); v3:2.w = vmpy(v2.h,r18.h) }
    { v31 = vmemu(r15++m0); q1 &= vcmp.gt(v6.uh,v15.uh); v27.w += vmpyo(v17.w,v5.h):<<1:rnd:sat:shift }
    { v3.w += vmpyo(v16.w,v5.h):<<1:rnd:sat:shift; v16.h = vshuffo(v7.h,v4.h); if (q3) v12.h += v23.h }
    { v28 = vmemu(r15++m0); v17.h = vshuffo(v11.h,v0.h); v26.w += vmpyo(v19.w,v10.h):<<1:rnd:sat:shift }
    { v9:8.b = vshuffoe(v28.b,v31.b); r17:16 = memd(r26+#-88); v31 = vsplat(r0); q0 &= vcmp.gt(v6.uh,v8.uh) }
    { v15 = vmemu(r15++m0); v2.w += vmpyo(v18.w,v10.h):<<1:rnd:sat:shift; v28.h = vshuffe(v27.h,v26.h) }
    { r13:12 = memd(r26+#-136); v19:18.w = vmpy(v17.h,r18.h); v6.h = vshuffe(v3.h,v2.h); q2 &= vcmp.gt(v6.uh,v21.uh) }
    { v27 = vmemu(r15++m0); v26.h = vshuffo(v27.h,v26.h); v17:16.w = vmpy(v16.h,r18.h) }
    { v19.w += vmpyo(v11.w,v5.h):<<1:rnd:sat:shift; v11.h = vshuffo(v3.h,v2.h); v21 = vand(v26,v24) }
    { r11:10 = memd(r26+#-112); r15:14 = memd(r26+#-48); v3 = vand(v11,v24); v16.w += vmpyo(v4.w,v10.h):<<1:rnd:sat:shift }
    { v3:2.b = vshuffoe(v14.b,v20.b); q3 = vcmp.eq(v3.h,v25.h); if (q1) v22.h += v23.h }
    { v21:20.h = vshuffoe(v9.h,v3.h); r19:18 = memd(r26+#-104); q2 = vcmp.eq(v21.h,v25.h); if (q2) v1.h += v23.h }
    { v15:14.b = vshuffoe(v27.b,v15.b); if (q0) v13.h += v23.h; q3 &= vcmp.gt(v31.uh,v6.uh) }
    { v7:6.h = vshuffoe(v15.h,v9.h); r21:20 = memd(r26+#-40); r1:0 = memd(r26+#-8); v17.w += vmpyo(v7.w,v5.h):<<1:rnd:sat:shift }
    { v15:14.h = vshuffoe(v14.h,v8.h); r23:22 = memd(r26+#-96); v27.w = vrmpy(v21.ub,r15.b); q2 &= vcmp.gt(v31.uh,v28.uh) }
    { v17.w = vrmpy(v21.ub,r14.b); v5 = vror(v21,r25); v28.h = vshuffo(v17.h,v16.h); v16.h = vshuffe(v17.h,v16.h) }
    { r5:4 = memd(r26+#-24); v18.w += vmpyo(v0.w,v10.h):<<1:rnd:sat:shift; if (q3) v11.h += v23.h; if (q2) v26.h += v23.h }
    { v3:2.h = vshuffoe(v8.h,v2.h); v8 = vsplat(r4); v10 = vand(v28,v24) }
    { v5 = vror(v6,r25); v17.w += vrmpy(v5.ub,r20.b); v27.w += vrmpy(v5.ub,r21.b); q2 = vcmp.eq(v10.h,v25.h) }
    { v0.w = vrmpy(v6.ub,r11.b); v1.h = vshuffo(v19.h,v18.h); v16.ub = vasr(v1.h,v26.h,r7):sat; q2 &= vcmp.gt(v31.uh,v16.uh) }
    { v10.w = vrmpy(v20.ub,r10.b); v22 = vand(v1,v24); v11.ub = vasr(v22.h,v11.h,r7):sat; if (q2) v28.h += v23.h }
    { v22 = vsplat(r16); v4 = vror(v7,r25); v19.h = vshuffe(v19.h,v18.h); q2 = vcmp.eq(v22.h,v25.h) }
    { v31.w = vrmpy(v7.ub,r14.b); v26.w = vrmpy(v7.ub,r15.b); q2 &= vcmp.gt(v31.uh,v19.uh); v16.ub = vmax(v16.ub,v30.ub) }
    { v19 = vror(v20,r25); v31.w += vrmpy(v4.ub,r20.b); v26.w += vrmpy(v4.ub,r21.b); v4.ub = vasr(v12.h,v28.h,r7):sat }
    { v12.w = vrmpy(v6.ub,r10.b); r3:2 = memd(r26+#-32); v18 = vror(v21,r24); if (q2) v1.h += v23.h }
    { v9.w = vrmpy(v20.ub,r11.b); v28 = vror(v20,r24); v12.w += vrmpy(v5.ub,r18.b) }
    { v0.w += vrmpy(v5.ub,r19.b); v5 = v22; v20 = vror(v7,r24); v13.ub = vasr(v13.h,v1.h,r7):sat }
    { r11:10 = memd(r26+#-120); v10.w += vrmpy(v19.ub,r18.b); v1 = vror(v6,r24); v26.w += vrmpy(v20.ub,r3.b) }
    { r21:20 = memd(r26+#-144); v0.w += vrmpy(v1.ub,r23.b); v31.w += vrmpy(v20.ub,r2.b); v13.ub = vmax(v13.ub,v30.ub) }
    { v9.w += vrmpy(v19.ub,r19.b); v21:20 = vcombine(v22,v22); r15:14 = memd(r26+#-72); v17.w += vrmpy(v18.ub,r2.b) }
    { v27.w += vrmpy(v18.ub,r3.b); v19:18 = vcombine(v8,v8); r19:18 = memd(r26+#-16); v13.ub = vmin(v13.ub,v29.ub) }
    { v31.w = vrmpy(v2.ub,r21.b); v12.w += vrmpy(v1.ub,r22.b); v19.w += vasl(v31.w,r5) }
    { v1 = vror(v2,r25); v9.w += vrmpy(v28.ub,r23.b); v6 = v8; v18.w += vasl(v27.w,r5) }
    { v7.w = vrmpy(v2.ub,r20.b); v10.w += vrmpy(v28.ub,r22.b); v8.w += vasl(v17.w,r5); v11.ub = vmax(v11.ub,v30.ub) }
    { v7.w += vrmpy(v1.ub,r12.b); v10.w = vrmpy(v14.ub,r20.b); v22.w += vasl(v10.w,r17); v11.ub = vmin(v11.ub,v29.ub) }
    { v0 = vsplat(r17); v5.w += vasl(v0.w,r17); v28 = vsplat(r5); v17.h = vshuffo(v8.h,v22.h) }
    { r5:4 = memd(r26+#-56); v6.w += vasl(v26.w,r5); v27:26.w = vmpy(v17.h,r19.h); v4.ub = vmax(v4.ub,v30.ub) }
    { v26.w += vmpyo(v22.w,v0.h):<<1:rnd:sat:shift; v13.h = vshuffo(v6.h,v5.h); vmemu(r6++m0) = v13 }
    { v22 = vror(v2,r24); r23:22 = memd(r26+#-80); v27.w += vmpyo(v8.w,v28.h):<<1:rnd:sat:shift; v16.ub = vmin(v16.ub,v29.ub) }
    { v20.w += vasl(v9.w,r17); v9:8.w = vmpy(v13.h,r19.h) }
    { v21.w += vasl(v12.w,r17); v13.h = vshuffo(v27.h,v26.h); v9.w += vmpyo(v6.w,v28.h):<<1:rnd:sat:shift }
    { v11.h = vshuffo(v18.h,v20.h); v8.w += vmpyo(v5.w,v0.h):<<1:rnd:sat:shift; vmemu(r6++m0) = v11 }
    { v17:16.w = vmpy(v11.h,r19.h); v12.h = vshuffo(v19.h,v21.h); vmemu(r6++m0) = v16 }
    { r17:16 = memd(r26+#-128); v6 = vror(v3,r25); v16.w += vmpyo(v20.w,v0.h):<<1:rnd:sat:shift; v4.ub = vmin(v4.ub,v29.ub) }
    { v5:4.w = vmpy(v12.h,r19.h); v12.h = vshuffo(v9.h,v8.h); vmemu(r6++m0) = v4 }
    { v11 = vror(v14,r25); v4.w += vmpyo(v21.w,v0.h):<<1:rnd:sat:shift }
    { v5.w += vmpyo(v19.w,v28.h):<<1:rnd:sat:shift; v20.h = vshuffe(v9.h,v8.h); v21 = vand(v12,v24) }
    { r6 = add(r27,r9); v0 = vsplat(r10); v9.w = vrmpy(v15.ub,r22.b); q3 = vcmp.eq(v21.h,v25.h) }
    { v31.w += vrmpy(v1.ub,r13.b); v27.w = vrmpy(v14.ub,r21.b); v26 = vror(v15,r25); v8.h = vshuffe(v27.h,v26.h) }
    { r21:20 = memd(r26+#-64); v28 = vror(v15,r24); v17.w += vmpyo(v18.w,v28.h):<<1:rnd:sat:shift; v21.h = vshuffe(v5.h,v4.h) }
    { v27.w += vrmpy(v11.ub,r13.b); v5 = vror(v14,r24); v9.w += vrmpy(v26.ub,r14.b); v1.h = vshuffo(v5.h,v4.h) }
    { v31.w += vrmpy(v22.ub,r17.b); v4 = v0; v14.w = vrmpy(v15.ub,r23.b); v15.h = vshuffe(v17.h,v16.h) }
    { v7.w += vrmpy(v22.ub,r16.b); v27.w += vrmpy(v5.ub,r17.b); v19:18 = vcombine(v0,v0) }
    { v10.w += vrmpy(v11.ub,r12.b); v18.w += vasl(v31.w,r11); v31.w = vrmpy(v3.ub,r23.b); v22.h = vshuffo(v17.h,v16.h) }
    { v10.w += vrmpy(v5.ub,r16.b); v0.w += vasl(v7.w,r11); v9.w += vrmpy(v28.ub,r20.b); v16 = vand(v1,v24) }
    { v4.w += vasl(v27.w,r11); v5.w = vrmpy(v3.ub,r22.b); v31.w += vrmpy(v6.ub,r15.b); q2 = vcmp.eq(v16.h,v25.h) }
    { v19.w += vasl(v10.w,r11); v5.w += vrmpy(v6.ub,r14.b); v3 = vror(v3,r24); v11 = vsplat(r4) } :endloop0
    end
    .size tn_hx_columns_row_even, . - tn_hx_columns_row_even

    .globl tn_hx_columns_blocks_even
    .type tn_hx_columns_blocks_even, @function
    .p2align 4
tn_hx_columns_blocks_even:
    begin 120
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_even_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r17:16 = combine(r11,r10) }
blocks_even_loop:
    { v4.w += vasl(v18.w,r2); v1.w += vrmpy(v7.ub,r9.b); v7 = vsplat(r3); v0.h = vshuffo(v3.h,v5.h) }
    { r13:12 = memd(r26+#-40); v27.w += vasl(v1.w,r3); v19:18 = vcombine(v13,v13); v12 = v13 }
    { v28 = vror(v28,r25); v21.w += vasl(v26.w,r3); v1:0.w = vmpy(v0.h,r22.h) }
    { v26 = vsplat(r2); v28 = v6; v8.w += vrmpy(v28.ub,r18.b); v18.w += vasl(v9.w,r13) }
    { v6.w += vasl(v14.w,r2); v14 = v20; v0.w += vmpyo(v5.w,v26.h):<<1:rnd:sat:shift }
    { v28.w += vasl(v17.w,r2); v9.h = vshuffo(v2.h,v4.h); v1.w += vmpyo(v3.w,v7.h):<<1:rnd:sat:shift }
    { r4 = add(r27,r17); r3:2 = memd(r26+#40); v12.w += vasl(v16.w,r13); v17:16.w = vmpy(v9.h,r22.h) }
    { r17:16 = memd(r26++m1); v13.w += vasl(v15.w,r13); v9.h = vshuffo(v21.h,v6.h); v17.w += vmpyo(v2.w,v7.h):<<1:rnd:sat:shift }
    { v19.w += vasl(v10.w,r13); v16.w += vmpyo(v4.w,v26.h):<<1:rnd:sat:shift; v4.h = vshuffo(v1.h,v0.h) }
    { v3:2 = vcombine(v20,v20); v10.h = vshuffo(v17.h,v16.h); v15.h = vshuffo(v27.h,v28.h) }
    { r20 = add(r28,r16); v3.w += vasl(v8.w,r12); v15.h = vshuffe(v1.h,v0.h); v1:0.w = vmpy(v15.h,r22.h) }
    { v31 = vmemu(r20+#1); v20.w += vasl(v31.w,r12); v9:8.w = vmpy(v9.h,r22.h) }
    { v2.w += vasl(v22.w,r12); r19:18 = memd(r26+#-144); v22 = vand(v4,v24); v0.w += vmpyo(v28.w,v26.h):<<1:rnd:sat:shift }
    { v22 = vand(v10,v24); q2 = vcmp.eq(v22.h,v25.h); v1.w += vmpyo(v27.w,v7.h):<<1:rnd:sat:shift }
    { v28 = vsplat(r13); q0 = vcmp.eq(v22.h,v25.h); v5.h = vshuffo(v18.h,v2.h); v27.h = vshuffe(v1.h,v0.h) }
    { v0 = vmemu(r20++m0); v9.w += vmpyo(v21.w,v7.h):<<1:rnd:sat:shift; v22.h = vshuffo(v1.h,v0.h) }
    { v1:0 = vdeal(v31,v0,r5); v7 = vsplat(r12); v31 = vsplat(r18) }
    { v6 = vmemu(r20+#1); v8.w += vmpyo(v6.w,v26.h):<<1:rnd:sat:shift; v26 = vand(v22,v24) }
    { v5.h = vshuffe(v17.h,v16.h); v17:16.w = vmpy(v5.h,r23.h); q2 &= vcmp.gt(v31.uh,v15.uh) }
    { v15.h = vshuffo(v13.h,v20.h); v16.w += vmpyo(v2.w,v7.h):<<1:rnd:sat:shift; q1 = vcmp.eq(v26.h,v25.h) }
    { v17.w += vmpyo(v18.w,v28.h):<<1:rnd:sat:shift; v27.h = vshuffo(v19.h,v3.h); q1 &= vcmp.gt(v31.uh,v27.uh) }
    { v14.w += vasl(v11.w,r12); if (q2) v4.h += v23.h; v27:26.w = vmpy(v27.h,r23.h) }
    { v18 = vmemu(r20++m0); v21.h = vshuffe(v9.h,v8.h); v27.w += vmpyo(v19.w,v28.h):<<1:rnd:sat:shift }
    { v19:18 = vdeal(v6,v18,r5); q0 &= vcmp.gt(v31.uh,v5.uh); v5.h = vshuffe(v17.h,v16.h) }
    { v15 = vmemu(r20+#1); v17:16.w = vmpy(v15.h,r23.h); v11.h = vshuffo(v17.h,v16.h) }
    { v9 = vmemu(r20++m0); v6.h = vshuffo(v9.h,v8.h); v16.w += vmpyo(v20.w,v7.h):<<1:rnd:sat:shift }
    { v13 = vmemu(r20+#1); v8 = vand(v6,v24); v17.w += vmpyo(v13.w,v28.h):<<1:rnd:sat:shift }
    { v2 = vmemu(r20++m0); q2 = vcmp.eq(v8.h,v25.h); v26.w += vmpyo(v3.w,v7.h):<<1:rnd:sat:shift }
    { v9:8 = vdeal(v15,v9,r5); r13:12 = memd(r26+#-56); q2 &= vcmp.gt(v31.uh,v21.uh); v31.h = vshuffe(v17.h,v16.h) }
    { v17:16.b = vshuffoe(v18.b,v0.b); r1:0 = memd(r26+#-104); v15.h = vshuffo(v17.h,v16.h); v3.h = vshuffe(v27.h,v26.h) }
    { v19:18.b = vshuffoe(v19.b,v1.b); r11:10 = memd(r26+#-112); v1 = vand(v11,v24); v0.h = vshuffo(v12.h,v14.h) }
    { v20 = vmemu(r20+#1); v21.h = vshuffo(v27.h,v26.h); v27:26.w = vmpy(v0.h,r23.h) }
    { v28 = vmemu(r20++m0); q3 = vcmp.eq(v1.h,v25.h); v27.w += vmpyo(v12.w,v28.h):<<1:rnd:sat:shift }
    { v1:0 = vdeal(v13,v2,r5); v2 = vsplat(r19); if (q2) v6.h += v23.h }
    { v14 = vmemu(r20+#1); q3 &= vcmp.gt(v2.uh,v5.uh); v26.w += vmpyo(v14.w,v7.h):<<1:rnd:sat:shift }
    { v13:12.b = vshuffoe(v0.b,v8.b); r19:18 = memd(r26+#-88); v7 = vand(v15,v24); if (q3) v11.h += v23.h }
    { v1:0.b = vshuffoe(v1.b,v9.b); r9:8 = memd(r26+#-64); q2 = vcmp.eq(v7.h,v25.h); v5.h = vshuffo(v27.h,v26.h) }
    { v9:8 = vdeal(v20,v28,r5); r23:22 = memd(r26+#-96); v20.h = vshuffe(v13.h,v17.h); if (q0) v10.h += v23.h }
    { q2 &= vcmp.gt(v2.uh,v31.uh); v11.ub = vasr(v11.h,v10.h,r7):sat; v31 = vand(v21,v24); v7 = vand(v5,v24) }
    { v26 = vmemu(r20++m0); v28.h = vshuffe(v0.h,v18.h); v27.h = vshuffe(v27.h,v26.h) }
    { v10.h = vshuffe(v12.h,v16.h); if (q2) v15.h += v23.h; q0 = vcmp.eq(v7.h,v25.h); v11.ub = vmax(v11.ub,v30.ub) }
    { v28 = vror(v28,r25); v7.ub = vasr(v15.h,v6.h,r7):sat; q1 = vcmp.eq(v31.h,v25.h); if (q1) v22.h += v23.h }
    { v15 = vmemu(r20+#1); q1 &= vcmp.gt(v2.uh,v3.uh); v7.ub = vmax(v7.ub,v30.ub) }
    { v3:2 = vdeal(v14,v26,r5); v31.w = vrmpy(v18.ub,r22.b); q0 &= vcmp.gt(v2.uh,v27.uh) }
    { v6 = vmemu(r20++m0); v31.w += vrmpy(v0.ub,r23.b); v7.ub = vmin(v7.ub,v29.ub) }
    { v20 = vror(v20,r25); v27.w = vrmpy(v13.ub,r2.b); if (q1) v21.h += v23.h; v11.ub = vmin(v11.ub,v29.ub) }
    { v14.w = vrmpy(v16.ub,r10.b); v26.w = vrmpy(v17.ub,r2.b); vmemu(r4+#0) = v7 }
    { v7:6 = vdeal(v15,v6,r5); v15.w = vrmpy(v19.ub,r8.b); if (q0) v5.h += v23.h }
    { v17:16.b = vshuffoe(v2.b,v8.b); v31.w += vrmpy(v28.ub,r18.b); v15.w += vrmpy(v1.ub,r9.b); r4 = add(r4,r24) }
    { v10 = vror(v10,r25); v14.w += vrmpy(v12.ub,r11.b); v26.w += vrmpy(v13.ub,r3.b); v5.ub = vasr(v5.h,v22.h,r7):sat }
    { v3:2.b = vshuffoe(v3.b,v9.b); r15:14 = memd(r26+#-72); v22.w = vrmpy(v0.ub,r22.b); v9.w = vrmpy(v1.ub,r8.b) }
    { v21 = vmemu(r20+#1); v28.h = vshuffe(v3.h,v1.h); v4.ub = vasr(v21.h,v4.h,r7):sat }
    { v0.h = vshuffe(v2.h,v0.h); v8.h = vshuffe(v1.h,v19.h); vmemu(r4+#0) = v11 }
    { v22.w += vrmpy(v2.ub,r23.b); v11.h = vshuffe(v17.h,v13.h); v8 = vror(v8,r25); v4.ub = vmax(v4.ub,v30.ub) }
    { v18.w = vrmpy(v12.ub,r10.b); v0 = vror(v0,r25); v26.w += vrmpy(v20.ub,r14.b); v4.ub = vmin(v4.ub,v29.ub) }
    { v20 = vmemu(r20++m0); v18.w += vrmpy(v16.ub,r11.b); v19.w = vrmpy(v16.ub,r10.b) }
    { v1:0 = vdeal(v21,v20,r5); v22.w += vrmpy(v0.ub,r18.b); v15.w += vrmpy(v8.ub,r12.b) }
    { v21:20.b = vshuffoe(v1.b,v7.b); v14.w += vrmpy(v10.ub,r0.b); v8.w = vrmpy(v2.ub,r22.b); r4 = add(r4,r24) }
    { v12.h = vshuffe(v16.h,v12.h); v28 = vror(v28,r25); v9.w += vrmpy(v3.ub,r9.b); v10.w = vrmpy(v3.ub,r8.b) }
    { v7:6.b = vshuffoe(v0.b,v6.b); v0.w = vrmpy(v17.ub,r2.b); v9.w += vrmpy(v28.ub,r12.b) }
    { v12 = vror(v12,r25); v1.h = vshuffe(v6.h,v16.h); v27.w += vrmpy(v17.ub,r3.b); v10.w += vrmpy(v21.ub,r9.b) }
    { v19.w += vrmpy(v6.ub,r11.b); v11 = vror(v11,r25); v13.h = vshuffe(v7.h,v17.h); v0.w += vrmpy(v7.ub,r3.b) }
    { v17 = vmemu(r20+#1); v18.w += vrmpy(v12.ub,r0.b); v28.h = vshuffe(v20.h,v2.h) }
    { v1 = vror(v1,r25); v11.w = vrmpy(v20.ub,r22.b); v27.w += vrmpy(v11.ub,r14.b); v12.h = vshuffe(v21.h,v3.h) }
    { v3 = vmemu(r20+#0); v19.w += vrmpy(v1.ub,r0.b); v16.w = vrmpy(v21.ub,r8.b) }
    { v3:2 = vdeal(v17,v3,r5); v8.w += vrmpy(v20.ub,r23.b); v1.w = vrmpy(v7.ub,r2.b); r21:20 = memd(r26+#-8) }
    { v11.w += vrmpy(v3.ub,r23.b); v12 = vror(v12,r25); v16.w += vrmpy(v3.ub,r20.b); r9:8 = memd(r26+#-16) }
    { v12.h = vshuffe(v2.h,v6.h); v13 = vror(v13,r25); v1.w += vrmpy(v2.ub,r8.b); v10.w += vrmpy(v12.ub,r12.b) }
    { v17.w = vrmpy(v6.ub,r10.b); v21.h = vshuffe(v3.h,v20.h); v0.w += vrmpy(v13.ub,r14.b); v13.h = vshuffe(v3.h,v21.h) }
    { v17.w += vrmpy(v2.ub,r11.b); v21 = vror(v21,r25); v20 = vsplat(r19); v7.h = vshuffe(v2.h,v7.h) }
    { v11.w += vrmpy(v21.ub,r18.b); v21 = vsplat(r15); vmemu(r4+#0) = v4 }
    { r3:2 = memd(r26+#-48); v12 = vror(v12,r25); v3:2 = vcombine(v21,v21); v5.ub = vmax(v5.ub,v30.ub) }
    { v6 = vsplat(r1); v2.w += vasl(v27.w,r3); v13 = vror(v13,r25); r4 = add(r4,r24) }
    { v17.w += vrmpy(v12.ub,r0.b); v7 = vror(v7,r25); v27 = v21; v5.ub = vmin(v5.ub,v29.ub) }
    { v5:4 = vcombine(v6,v6); v3.w += vasl(v0.w,r3); vmemu(r4+#0) = v5 }
    { v5.w += vasl(v19.w,r2); v16.w += vrmpy(v13.ub,r21.b); v13 = vsplat(r13); r23:22 = memd(r26+#-32) } :endloop0
    end
    .size tn_hx_columns_blocks_even, . - tn_hx_columns_blocks_even
