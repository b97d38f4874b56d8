// SPDX-License-Identifier: Apache-2.0
// As hx_columns_loops.S, requantised by the definition of fixed_q31 and not by lines. scripts/hexagon_loops.py writes such files.
#include "exec/hexagon/dsp/kernels/depthwise/hx_columns_begin.inc"

    .globl tn_hx_columns_quarter_q31
    .type tn_hx_columns_quarter_q31, @function
    .p2align 4
tn_hx_columns_quarter_q31:
    begin 136
    { r11:10 = memd(r26 + #0) }
    { loop0(quarter_q31_loop,r1); r5 = #-32; r6 = #32 }
    { r19 = add(r27,r11); r17:16 = combine(r11,r10); r4 = memw(r0 + #48) }
quarter_q31_loop:
    { v4.w = vmpye(v3.w,v20.uh); v12.h = vshuffe(v12.h,v4.h); v9.h = vshuffo(v12.h,v4.h) }
    { v2.w += vrmpy(v24.ub,r10.b); r13:12 = memd(r26+#-40); v23:22 = vshuff(v9,v12,r5); vmem(r19+#-1) = v26 }
    { v24 = v16; r3:2 = memd(r26+#-16); v4.w += vmpyo(v3.w,v20.h):<<1:rnd:sat:shift; vmem(r19+#2) = v26 }
    { r11:10 = memd(r26+#24); v20 = vror(v18,r24); v12.w = vmpye(v21.w,v15.uh); v22.ub = vmax(v22.ub,v30.ub) }
    { r23:22 = memd(r26+#-56); v9.w = vmpye(v2.w,v15.uh); v23.ub = vmax(v23.ub,v28.ub) }
    { v9.w += vmpyo(v2.w,v15.h):<<1:rnd:sat:shift; v2.ub = vmin(v22.ub,v29.ub); vmem(r19+#0) = v2.new }
    { v11.w += vrmpy(v17.ub,r20.b); v24.w += vrmpy(v19.ub,r23.b); v2.ub = vmin(v23.ub,v27.ub); vmem(r19+#1) = v2.new }
    { v11.w += vrmpy(v20.ub,r8.b); v2 = vror(v19,r25); r1:0 = memd(r26+#-8); v4.w += vasr(v4.w,r7) }
    { r17:16 = memd(r26++m1); r19 = add(r27,r17); v1 = vror(v19,r24); v13.w = vmpye(v11.w,v10.uh) }
    { r15 = add(r28,r16); v17 = vmem(r4++#1); v6.w += vrmpy(v17.ub,r21.b); r21:20 = memd(r26+#-184) }
    { v18 = vmemu(r15+#1); v16.w += vrmpy(v19.ub,r22.b); v24.w += vrmpy(v2.ub,r21.b) }
    { v19 = vmemu(r15+#0); v13.w += vmpyo(v11.w,v10.h):<<1:rnd:sat:shift }
    { v11 = vmem(r4++#1); r23:22 = memd(r26+#-32); v13.w += vasr(v13.w,r7); v12.w += vmpyo(v21.w,v15.h):<<1:rnd:sat:shift }
    { v19:18 = vdeal(v18,v19,r5); v6.w += vrmpy(v20.ub,r9.b); v16.w += vrmpy(v2.ub,r20.b) }
    { v19:18.b = vshuffoe(v19.b,v18.b); r9:8 = memd(r26+#-120); v20 = vsplat(r22); v24.w += vrmpy(v1.ub,r13.b) }
    { r21:20 = memd(r26+#-128); v15 = vsplat(r23); v2 = vmem(r4++#1); v4.h = vasr(v4.w,v14.w,r2):rnd:sat }
    { v14 = valign(v31,v18,r6); v3 = v17; v5.w = vmpye(v24.w,v0.uh) }
    { v23:22.h = vshuffoe(v14.h,v18.h); r23:22 = memd(r26+#-80); v14.w = vmpye(v6.w,v10.uh) }
    { v17.w += vrmpy(v22.ub,r20.b); v1 = vror(v22,r25); v21 = v2; v16.w += vrmpy(v1.ub,r12.b) }
    { v24 = vror(v23,r24); v9.w += vasr(v9.w,r7); v5.w += vmpyo(v24.w,v0.h):<<1:rnd:sat:shift }
    { r15:14 = memd(r26+#-72); v4.h = vadd(v4.h,v25.h):sat; v12.w += vasr(v12.w,r7); v7.w = vmpye(v16.w,v0.uh) }
    { v9 = vror(v23,r25); v12.h = vasr(v12.w,v9.w,r3):rnd:sat; v7.w += vmpyo(v16.w,v0.h):<<1:rnd:sat:shift }
    { v0 = valign(v31,v19,r6); v3.w += vrmpy(v22.ub,r21.b); v21.w += vrmpy(v23.ub,r23.b) }
    { v17.w += vrmpy(v1.ub,r8.b); v23 = vror(v22,r24); v2.w += vrmpy(v23.ub,r22.b); v5.w += vasr(v5.w,r7) }
    { v16 = vmem(r4++#1); r13:12 = memd(r26+#-24); v14.w += vmpyo(v6.w,v10.h):<<1:rnd:sat:shift; v7.w += vasr(v7.w,r7) }
    { v3.w += vrmpy(v1.ub,r9.b); v6 = v11; v2.w += vrmpy(v9.ub,r14.b); v14.w += vasr(v14.w,r7) }
    { v3.w += vrmpy(v23.ub,r11.b); r9:8 = memd(r26+#-88); v21.w += vrmpy(v9.ub,r15.b); v10.h = vasr(v5.w,v7.w,r1):rnd:sat }
    { v19:18.h = vshuffoe(v0.h,v19.h); v17.w += vrmpy(v23.ub,r10.b); r11:10 = memd(r26+#-64); v0 = vsplat(r13) }
    { r23:22 = memd(r26+#-104); v14.w = vmpye(v17.w,v20.uh); v9.h = vasr(v14.w,v13.w,r0):rnd:sat; v10.h = vadd(v10.h,v25.h):sat }
    { r21:20 = memd(r26+#-96); v17 = vror(v18,r25); v14.w += vmpyo(v17.w,v20.h):<<1:rnd:sat:shift; v9.h = vadd(v9.h,v25.h):sat }
    { v11.w += vrmpy(v18.ub,r22.b); v6.w += vrmpy(v18.ub,r23.b); v12.h = vadd(v12.h,v25.h):sat; v4.ub = vsat(v9.h,v4.h) }
    { v10 = vsplat(r12); v21.w += vrmpy(v24.ub,r11.b); v14.w += vasr(v14.w,r7); v12.ub = vsat(v10.h,v12.h) } :endloop0
    end
    .size tn_hx_columns_quarter_q31, . - tn_hx_columns_quarter_q31

    .globl tn_hx_columns_half_q31
    .type tn_hx_columns_half_q31, @function
    .p2align 4
tn_hx_columns_half_q31:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(half_q31_loop,r1); r5 = #-64 }
    { r4 = add(r27,r11); r21:20 = combine(r11,r10) }
half_q31_loop:
    { r6 = add(r27,r20); v16 = vror(v1,r25); v31.w += vmpyo(v9.w,v20.h):<<1:rnd:sat:shift; vmem(r4+#0) = v26 }
    { r17:16 = memd(r26+#-96); v4 = v14; v27 = vror(v19,r24); v21.w += vmpyo(v2.w,v20.h):<<1:rnd:sat:shift }
    { v28.w += vrmpy(v6.ub,r12.b); v5.w += vrmpy(v18.ub,r19.b); v3 = vror(v18,r25); v31.w += vasr(v31.w,r7) }
    { v28.w += vrmpy(v22.ub,r16.b); v12.w += vrmpy(v22.ub,r17.b); v17 = vror(v1,r24); v11.w += vasr(v11.w,r7) }
    { v13.w += vrmpy(v18.ub,r18.b); v5.w += vrmpy(v3.ub,r13.b); v6 = vror(v18,r24); v8.h = vasr(v24.w,v11.w,r0):rnd:sat }
    { r19:18 = memd(r26+#-32); v23:22 = vcombine(v14,v14); v11.w = vmpye(v10.w,v20.uh) }
    { r21:20 = memd(r26++m1); v13.w += vrmpy(v3.ub,r12.b); v14.w += vrmpy(v1.ub,r22.b); v9.h = vasr(v31.w,v15.w,r1):rnd:sat }
    { v31 = vsplat(r9); v23.w += vrmpy(v19.ub,r22.b); v3 = vror(v19,r25) }
    { r4 = add(r28,r20); r13:12 = memd(r26+#-80); v15 = vsplat(r11); v4.w += vrmpy(v19.ub,r23.b) }
    { v1 = vmemu(r4+#1); v22.w += vrmpy(v1.ub,r23.b); v14.w += vrmpy(v16.ub,r14.b) }
    { v14.w += vrmpy(v17.ub,r18.b); v23.w += vrmpy(v3.ub,r14.b); v21.w += vasr(v21.w,r7) }
    { v0 = vmemu(r4+#2); v13.w += vrmpy(v6.ub,r16.b); v23.w += vrmpy(v27.ub,r18.b) }
    { v2 = vmemu(r4+#4); v24.w = vmpye(v13.w,v31.uh) }
    { v19:18 = vdeal(v2,v0,r5); r11:10 = memd(r26+#-136); r9:8 = memd(r26+#-120); v11.w += vmpyo(v10.w,v20.h):<<1:rnd:sat:shift }
    { v20 = vmemu(r4+#0); v10.w = vmpye(v28.w,v31.uh); v11.w += vasr(v11.w,r7) }
    { v3:2 = vdeal(v0,v20,r5); v22.w += vrmpy(v16.ub,r15.b); v4.w += vrmpy(v3.ub,r15.b) }
    { v10.w += vmpyo(v28.w,v31.h):<<1:rnd:sat:shift; v21.h = vasr(v21.w,v11.w,r1):rnd:sat; v9.h = vadd(v9.h,v25.h):sat }
    { v17:16.b = vshuffoe(v19.b,v18.b); r23:22 = memd(r26+#-128); v20 = vsplat(r8); v22.w += vrmpy(v17.ub,r19.b) }
    { v18 = vmemu(r4+#3); v10.w += vasr(v10.w,r7); v28.w = vmpye(v22.w,v15.uh) }
    { v19:18 = vdeal(v18,v1,r5); v11.w = vmpye(v12.w,v31.uh) }
    { v1:0.b = vshuffoe(v19.b,v18.b); v24.w += vmpyo(v13.w,v31.h):<<1:rnd:sat:shift }
    { v19:18.h = vshuffoe(v17.h,v1.h); v5.w += vrmpy(v6.ub,r17.b); v4.w += vrmpy(v27.ub,r19.b) }
    { v3:2.b = vshuffoe(v3.b,v2.b); r3:2 = memd(r26+#-160); v6.w = vmpye(v5.w,v31.uh) }
    { v17:16.h = vshuffoe(v16.h,v0.h); v6.w += vmpyo(v5.w,v31.h):<<1:rnd:sat:shift }
    { v28.w += vmpyo(v22.w,v15.h):<<1:rnd:sat:shift; v6.w += vasr(v6.w,r7) }
    { v13:12.h = vshuffoe(v0.h,v2.h); r17:16 = memd(r26+#-56); v11.w += vmpyo(v12.w,v31.h):<<1:rnd:sat:shift }
    { v1:0.h = vshuffoe(v1.h,v3.h); v27.w = vmpye(v23.w,v15.uh) }
    { v3 = vror(v12,r25); v24.w += vasr(v24.w,r7); v27.w += vmpyo(v23.w,v15.h):<<1:rnd:sat:shift }
    { v2 = v20; v27.w += vasr(v27.w,r7); v5.w = vmpye(v4.w,v15.uh) }
    { r15:14 = memd(r26+#-144); v23:22 = vcombine(v20,v20); v5.w += vmpyo(v4.w,v15.h):<<1:rnd:sat:shift }
    { v20.w += vrmpy(v12.ub,r14.b); v22.w += vrmpy(v12.ub,r15.b); v31 = vror(v12,r24); v4.h = vasr(v6.w,v24.w,r2):rnd:sat }
    { v20.w += vrmpy(v3.ub,r10.b); v23.w += vrmpy(v16.ub,r14.b); v5.w += vasr(v5.w,r7) }
    { v20.w += vrmpy(v31.ub,r22.b); v2.w += vrmpy(v16.ub,r15.b); v11.w += vasr(v11.w,r7) }
    { v6 = vror(v16,r25); v24.w = vmpye(v14.w,v15.uh); v27.h = vasr(v5.w,v27.w,r3):rnd:sat }
    { v5 = vror(v16,r24); v24.w += vmpyo(v14.w,v15.h):<<1:rnd:sat:shift; v27.h = vadd(v27.h,v25.h):sat }
    { v15 = vsplat(r9); v2.w += vrmpy(v6.ub,r11.b); v8.h = vadd(v8.h,v25.h):sat; v14.h = vasr(v11.w,v10.w,r2):rnd:sat }
    { v22.w += vrmpy(v3.ub,r11.b); v2.w += vrmpy(v5.ub,r23.b); v14.h = vadd(v14.h,v25.h):sat; v21.h = vadd(v21.h,v25.h):sat }
    { v23.w += vrmpy(v6.ub,r10.b); v10 = vsplat(r16); v6 = vror(v13,r25); v24.w += vasr(v24.w,r7) }
    { r15:14 = memd(r26+#-72); v11.w = vmpye(v20.w,v15.uh); v28.w += vasr(v28.w,r7); v8.ub = vsat(v14.h,v8.h) }
    { v11.w += vmpyo(v20.w,v15.h):<<1:rnd:sat:shift; v14.ub = vsat(v27.h,v9.h) }
    { v9 = v10; r1:0 = memd(r26+#-16); v27.w = vmpye(v2.w,v15.uh); v4.h = vadd(v4.h,v25.h):sat }
    { r9:8 = memd(r26+#-88); v3:2 = vcombine(v10,v10); v27.w += vmpyo(v2.w,v15.h):<<1:rnd:sat:shift }
    { v22.w += vrmpy(v31.ub,r23.b); r19:18 = memd(r26+#-112); v10.w += vrmpy(v13.ub,r12.b); v31 = vror(v17,r24) }
    { v24.w = vmpye(v22.w,v15.uh); v28.h = vasr(v28.w,v24.w,r3):rnd:sat }
    { v20 = vsplat(r17); v9.w += vrmpy(v17.ub,r13.b); v28.h = vadd(v28.h,v25.h):sat; v4.ub = vsat(v4.h,v7.h) }
    { v23.w += vrmpy(v5.ub,r22.b); r11:10 = memd(r26+#-24); v7.h = vshuffe(v14.h,v4.h) }
    { v2.w += vrmpy(v13.ub,r13.b); v3.w += vrmpy(v17.ub,r12.b); v4.ub = vsat(v28.h,v21.h); v28.h = vshuffo(v14.h,v4.h) }
    { v10.w += vrmpy(v6.ub,r14.b); v21 = vror(v13,r24); v14 = vsplat(r10); v13.h = vshuffo(v4.h,v8.h) }
    { v12 = vror(v17,r25); v16.h = vshuffe(v4.h,v8.h); v8.w = vmpye(v23.w,v15.uh) }
    { r13:12 = memd(r26+#-104); v8.w += vmpyo(v23.w,v15.h):<<1:rnd:sat:shift; v5:4 = vshuff(v13,v16,r5) }
    { v28 = vsplat(r8); r17:16 = memd(r26+#-64); v3.w += vrmpy(v12.ub,r14.b); v17:16 = vshuff(v28,v7,r5) }
    { v10.w += vrmpy(v21.ub,r16.b); v3.w += vrmpy(v31.ub,r16.b); v4.ub = vmax(v4.ub,v30.ub); v5.ub = vmax(v5.ub,v30.ub) }
    { v2.w += vrmpy(v6.ub,r15.b); v9.w += vrmpy(v12.ub,r15.b); v8.w += vasr(v8.w,r7); v16.ub = vmax(v16.ub,v30.ub) }
    { v13:12 = vcombine(v28,v28); v9.w += vrmpy(v31.ub,r17.b); v31.ub = vmin(v4.ub,v29.ub); vmem(r6+#0) = v31.new }
    { r4 = add(r27,r21); v6 = vror(v0,r25); v27.w += vasr(v27.w,r7); v31.w = vmpye(v9.w,v20.uh) }
    { v24.w += vmpyo(v22.w,v15.h):<<1:rnd:sat:shift; v15.ub = vmin(v16.ub,v29.ub); vmem(r6+#1) = v15.new }
    { v12.w += vrmpy(v0.ub,r19.b); v2.w += vrmpy(v21.ub,r17.b); v24.w += vasr(v24.w,r7) }
    { v22 = vror(v0,r24); v15.w = vmpye(v3.w,v20.uh); v7.ub = vmin(v5.ub,v29.ub); vmem(r6+#2) = v7.new }
    { v5 = v28; v15.w += vmpyo(v3.w,v20.h):<<1:rnd:sat:shift }
    { r23:22 = memd(r26+#-48); r15:14 = memd(r26+#-40); v21.w = vmpye(v2.w,v20.uh); v17.ub = vmax(v17.ub,v30.ub) }
    { v28.w += vrmpy(v0.ub,r18.b); v12.w += vrmpy(v6.ub,r13.b); v7.h = vasr(v27.w,v8.w,r0):rnd:sat }
    { v7.h = vadd(v7.h,v25.h):sat; v15.w += vasr(v15.w,r7); v4.ub = vmin(v17.ub,v29.ub); vmem(r6+#3) = v4.new } :endloop0
    end
    .size tn_hx_columns_half_q31, . - tn_hx_columns_half_q31

    .globl tn_hx_columns_row_q31
    .type tn_hx_columns_row_q31, @function
    .p2align 4
tn_hx_columns_row_q31:
    begin 152
    { r11:10 = memd(r26 + #0) }
    { loop0(row_q31_loop,r1) }
    { r8 = add(r27,r11) }
row_q31_loop:
    { v8.w += vrmpy(v22.ub,r18.b); v17.w += vrmpy(v4.ub,r22.b); v3 = vror(v13,r25) }
    { r5:4 = memd(r26++m1); v27 = vror(v12,r24); v10.w += vasr(v10.w,r7); v15.w += vmpyo(v9.w,v20.h):<<1:rnd:sat:shift }
    { v1.w += vrmpy(v12.ub,r12.b); v6.w += vrmpy(v4.ub,r23.b); v18 = vror(v19,r24); r13:12 = memd(r26+#-24) }
    { v6.w += vrmpy(v18.ub,r17.b); v7.w += vrmpy(v3.ub,r22.b); v26 = vror(v13,r24); v4.h = vasr(v26.w,v10.w,r2):rnd:sat }
    { r6 = add(r28,r4); v11.w += vrmpy(v3.ub,r23.b); v7.w += vrmpy(v26.ub,r16.b) }
    { v20 = vmemu(r6++m0); v22 = vsplat(r11); v0.w += vrmpy(v22.ub,r19.b) }
    { v9 = vror(v12,r25); r21:20 = memd(r26+#-88); v10.w = vmpye(v6.w,v16.uh) }
    { v19 = vmemu(r6++m0); v3.w = vmpye(v28.w,v21.uh) }
    { v12 = vmemu(r6++m0); v3.w += vmpyo(v28.w,v21.h):<<1:rnd:sat:shift }
    { v17.w += vrmpy(v18.ub,r16.b); v11.w += vrmpy(v26.ub,r17.b); v4.h = vadd(v4.h,v25.h):sat; v23.w += vasr(v23.w,r7) }
    { v13 = vmemu(r6++m0); v10.w += vmpyo(v6.w,v16.h):<<1:rnd:sat:shift; v3.w += vasr(v3.w,r7) }
    { v13:12.b = vshuffoe(v13.b,v12.b); v0.w += vrmpy(v14.ub,r15.b); v24.w += vrmpy(v9.ub,r19.b); r1:0 = memd(r26+#-168) }
    { r23:22 = memd(r26+#-40); v26.w = vmpye(v11.w,v16.uh) }
    { v18 = vmemu(r6++m0); v3.w = vmpye(v17.w,v16.uh); v5.h = vasr(v3.w,v5.w,r2):rnd:sat }
    { v10.w += vasr(v10.w,r7); v5.h = vadd(v5.h,v25.h):sat; v26.w += vmpyo(v11.w,v16.h):<<1:rnd:sat:shift }
    { v31 = vmemu(r6++m0); v28.w = vmpye(v0.w,v22.uh); v15.w += vasr(v15.w,r7) }
    { v21:20.b = vshuffoe(v19.b,v20.b); v1.w += vrmpy(v9.ub,r18.b); v11 = vsplat(r12) }
    { v28.w += vmpyo(v0.w,v22.h):<<1:rnd:sat:shift; v23.h = vasr(v15.w,v23.w,r3):rnd:sat }
    { v8.w += vrmpy(v14.ub,r14.b); v24.w += vrmpy(v27.ub,r15.b) }
    { v15:14.b = vshuffoe(v31.b,v18.b); r3:2 = memd(r26+#-8); v3.w += vmpyo(v17.w,v16.h):<<1:rnd:sat:shift }
    { v9 = v11; v3.w += vasr(v3.w,r7); v31.w = vmpye(v7.w,v16.uh) }
    { v1.w += vrmpy(v27.ub,r14.b); v26.w += vasr(v26.w,r7) }
    { v17:16.h = vshuffoe(v15.h,v13.h); r11:10 = memd(r26+#-120); r15:14 = memd(r26+#-48); v31.w += vmpyo(v7.w,v16.h):<<1:rnd:sat:shift }
    { v19:18.h = vshuffoe(v12.h,v20.h); v27.w = vmpye(v24.w,v22.uh) }
    { v7:6.h = vshuffoe(v13.h,v21.h); v20 = vsplat(r13); v9.w += vrmpy(v17.ub,r15.b) }
    { r17:16 = memd(r26+#-64); v24 = vror(v17,r24); v21.h = vasr(v10.w,v3.w,r1):rnd:sat; v27.w += vmpyo(v24.w,v22.h):<<1:rnd:sat:shift }
    { v10.w = vmpye(v8.w,v22.uh); v21.h = vadd(v21.h,v25.h):sat; v31.w += vasr(v31.w,r7) }
    { v31 = vror(v17,r25); v10.w += vmpyo(v8.w,v22.h):<<1:rnd:sat:shift; v26.h = vasr(v26.w,v31.w,r1):rnd:sat }
    { r13:12 = memd(r26+#-32); v10.w += vasr(v10.w,r7); v8.w = vmpye(v1.w,v22.uh) }
    { v1:0 = vcombine(v11,v11); v8.w += vmpyo(v1.w,v22.h):<<1:rnd:sat:shift }
    { v13:12.h = vshuffoe(v14.h,v12.h); r19:18 = memd(r26+#-96); v22 = vsplat(r20); v9.w += vrmpy(v31.ub,r23.b) }
    { v11.w += vrmpy(v7.ub,r14.b); v2 = vror(v7,r24); v1.w += vrmpy(v17.ub,r14.b); v3.ub = vsat(v2.h,v21.h) }
    { v0.w += vrmpy(v7.ub,r15.b); v14 = vror(v7,r25); v1.w += vrmpy(v31.ub,r22.b); v28.w += vasr(v28.w,r7) }
    { v11.w += vrmpy(v14.ub,r22.b); v0.w += vrmpy(v14.ub,r23.b); v31.h = vasr(v28.w,v10.w,r0):rnd:sat; v26.h = vadd(v26.h,v25.h):sat }
    { v21 = vsplat(r21); v0.w += vrmpy(v2.ub,r13.b); v31.h = vadd(v31.h,v25.h):sat; v23.h = vadd(v23.h,v25.h):sat }
    { v15:14 = vcombine(v22,v22); r23:22 = memd(r26+#-56); v11.w += vrmpy(v2.ub,r12.b); v9.w += vrmpy(v24.ub,r13.b) }
    { r21:20 = memd(r26+#-112); v28 = v22; v10 = vror(v16,r24); v1.w += vrmpy(v24.ub,r12.b) }
    { r15:14 = memd(r26+#-104); v2.w = vmpye(v0.w,v20.uh); v27.w += vasr(v27.w,r7); v24.ub = vsat(v23.h,v26.h) }
    { v22.w += vrmpy(v6.ub,r20.b); v14.w += vrmpy(v6.ub,r21.b); v23.ub = vsat(v4.h,v31.h); v8.w += vasr(v8.w,r7) }
    { v4.w = vmpye(v11.w,v20.uh); v26.h = vshuffo(v3.h,v23.h) }
    { v15.w += vrmpy(v16.ub,r20.b); v28.w += vrmpy(v16.ub,r21.b); v16 = vror(v16,r25); v3.h = vshuffe(v3.h,v23.h) }
    { r21:20 = memd(r26+#-80); v4.w += vmpyo(v11.w,v20.h):<<1:rnd:sat:shift; v3.ub = vmax(v3.ub,v30.ub) }
    { v15.w += vrmpy(v16.ub,r14.b); v11.h = vasr(v27.w,v8.w,r0):rnd:sat }
    { v16 = vror(v6,r25); v28.w += vrmpy(v16.ub,r15.b); v17 = vsplat(r22); v3.ub = vmin(v3.ub,v29.ub) }
    { v8 = vsplat(r10); v22.w += vrmpy(v16.ub,r14.b); v11.h = vadd(v11.h,v25.h):sat }
    { v5 = vror(v6,r24); v23.w = vmpye(v1.w,v20.uh); v11.ub = vsat(v5.h,v11.h) }
    { v14.w += vrmpy(v16.ub,r15.b); v28.w += vrmpy(v10.ub,r19.b); v26.ub = vmax(v26.ub,v30.ub) }
    { v15.w += vrmpy(v10.ub,r18.b); v16 = vsplat(r23); v27.h = vshuffe(v24.h,v11.h); v26.ub = vmin(v26.ub,v29.ub) }
    { v22.w += vrmpy(v5.ub,r18.b); v14.w += vrmpy(v5.ub,r19.b); r23:22 = memd(r26+#-72) }
    { v4.w += vasr(v4.w,r7); v23.w += vmpyo(v1.w,v20.h):<<1:rnd:sat:shift; vmemu(r8++m0) = v3 }
    { v2.w += vmpyo(v0.w,v20.h):<<1:rnd:sat:shift; vmemu(r8++m0) = v26; v27.ub = vmax(v27.ub,v30.ub) }
    { v10.w = vmpye(v22.w,v21.uh); v27.ub = vmin(v27.ub,v29.ub) }
    { v1:0 = vcombine(v8,v8); v26.w = vmpye(v14.w,v21.uh) }
    { r13:12 = memd(r26+#-144); v7:6 = vcombine(v17,v17); v5.w = vmpye(v15.w,v21.uh) }
    { r19:18 = memd(r26+#-136); v24 = v8; v5.w += vmpyo(v15.w,v21.h):<<1:rnd:sat:shift; v3.h = vshuffo(v24.h,v11.h) }
    { v11 = v17; v10.w += vmpyo(v22.w,v21.h):<<1:rnd:sat:shift; v2.w += vasr(v2.w,r7) }
    { v26.w += vmpyo(v14.w,v21.h):<<1:rnd:sat:shift; vmemu(r8++m0) = v27; v3.ub = vmax(v3.ub,v30.ub) }
    { v8.w += vrmpy(v18.ub,r12.b); v14 = vror(v18,r24); v11.w += vrmpy(v13.ub,r21.b); v3.ub = vmin(v3.ub,v29.ub) }
    { r8 = add(r27,r5); v6.w += vrmpy(v19.ub,r21.b); vmemu(r8+#0) = v3 }
    { r15:14 = memd(r26+#-128); v4 = vror(v19,r25); v2.h = vasr(v2.w,v4.w,r3):rnd:sat; v15.w = vmpye(v9.w,v20.uh) }
    { v0.w += vrmpy(v18.ub,r13.b); v22 = vror(v18,r25); v24.w += vrmpy(v12.ub,r13.b); v5.w += vasr(v5.w,r7) }
    { v17.w += vrmpy(v19.ub,r20.b); v7.w += vrmpy(v13.ub,r20.b); v26.w += vasr(v26.w,r7); v2.h = vadd(v2.h,v25.h):sat } :endloop0
    end
    .size tn_hx_columns_row_q31, . - tn_hx_columns_row_q31

    .globl tn_hx_columns_blocks_q31
    .type tn_hx_columns_blocks_q31, @function
    .p2align 4
tn_hx_columns_blocks_q31:
    begin 120
    { r11:10 = memd(r26 + #0) }
    { loop0(blocks_q31_loop,r1); r5 = #-1; r24 = memw(r0 + #44) }
    { r4 = add(r28,r10); r15:14 = combine(r11,r10) }
blocks_q31_loop:
    { v9 = vror(v9,r25); v12.h = vshuffe(v4.h,v12.h); v27.w += vrmpy(v22.ub,r13.b); v13 = vsplat(r19) }
    { v14.h = vshuffe(v22.h,v4.h); v3 = vror(v3,r25); v15.w += vmpyo(v0.w,v17.h):<<1:rnd:sat:shift }
    { v28.w += vrmpy(v9.ub,r16.b); v1.w += vrmpy(v3.ub,r20.b) }
    { v14 = vror(v14,r25); r1:0 = memd(r26+#-24); v4.w = vmpye(v8.w,v17.uh); r21:20 = memd(r26+#-8) }
    { v3 = vmemu(r4+#1); v4.w += vmpyo(v8.w,v17.h):<<1:rnd:sat:shift; v15.w += vasr(v15.w,r7) }
    { v9:8 = vcombine(v13,v13); v5.w = vmpye(v1.w,v17.uh) }
    { v1 = vmemu(r4+#0); v24 = v13; v5.w += vmpyo(v1.w,v17.h):<<1:rnd:sat:shift }
    { v3:2 = vdeal(v3,v1,r5); v31.w += vrmpy(v22.ub,r12.b); v9.w += vrmpy(v11.ub,r10.b) }
    { v27.w += vrmpy(v14.ub,r16.b); v8.w += vrmpy(v19.ub,r10.b); v1.h = vshuffe(v3.h,v23.h); v4.w += vasr(v4.w,r7) }
    { r23:22 = memd(r26+#-104); v0.h = vshuffe(v3.h,v22.h); v8.w += vrmpy(v11.ub,r11.b); v16.w += vrmpy(v3.ub,r20.b) }
    { v31.w += vrmpy(v3.ub,r13.b); v14.h = vshuffe(v11.h,v19.h); v9.w += vrmpy(v21.ub,r11.b); v1 = vror(v1,r25) }
    { r21:20 = memd(r26+#-112); v22 = vsplat(r23); v12 = vror(v12,r25); v16.w += vrmpy(v1.ub,r21.b) }
    { v26.w += vrmpy(v12.ub,r16.b); v1.h = vshuffe(v19.h,v7.h); v13.w += vrmpy(v7.ub,r10.b); v14 = vror(v14,r25) }
    { r6 = add(r27,r15); v12 = v22; v13.w += vrmpy(v19.ub,r11.b); v24.w += vrmpy(v21.ub,r10.b) }
    { v0 = vror(v0,r25); v4.h = vasr(v15.w,v4.w,r1):rnd:sat; v23.w = vmpye(v16.w,v17.uh) }
    { v0.h = vshuffe(v18.h,v6.h); v31.w += vrmpy(v0.ub,r16.b); v1 = vror(v1,r25); v8.w += vrmpy(v14.ub,r18.b) }
    { r15:14 = memd(r26++m1); v15:14 = vcombine(v22,v22); v23.w += vmpyo(v16.w,v17.h):<<1:rnd:sat:shift }
    { v22.w += vrmpy(v6.ub,r20.b); v7.h = vshuffe(v10.h,v18.h); v12.w += vrmpy(v20.ub,r20.b); v6.h = vshuffe(v21.h,v11.h) }
    { v0 = vror(v0,r25); v14.w += vrmpy(v18.ub,r20.b); v15.w += vrmpy(v10.ub,r20.b); v17.h = vshuffe(v2.h,v20.h) }
    { v22.w += vrmpy(v18.ub,r21.b); v18.h = vshuffe(v20.h,v10.h); v19 = vsplat(r8); v23.w += vasr(v23.w,r7) }
    { v22.w += vrmpy(v0.ub,r22.b); v14.w += vrmpy(v10.ub,r21.b); v6 = vror(v6,r25); v4.h = vadd(v4.h,v25.h):sat }
    { r4 = add(r28,r14); v18 = vror(v18,r25); v10.w = vmpye(v28.w,v19.uh); r9:8 = memd(r26+#-136) }
    { v6 = vmemu(r4+#1); v15.w += vrmpy(v20.ub,r21.b); v9.w += vrmpy(v6.ub,r18.b) }
    { v11 = vmemu(r4++m0); v10.w += vmpyo(v28.w,v19.h):<<1:rnd:sat:shift; v5.w += vasr(v5.w,r7) }
    { v1:0 = vdeal(v6,v11,r5); r17:16 = memd(r26+#-168); v13.w += vrmpy(v1.ub,r18.b); v24.w += vrmpy(v2.ub,r8.b) }
    { v20.h = vshuffe(v2.h,v21.h); v10.w += vasr(v10.w,r7); v21.w = vmpye(v26.w,v19.uh) }
    { v6 = vmemu(r4+#1); v11.w = vmpye(v27.w,v19.uh) }
    { v28 = vmemu(r4++m0); v21.w += vmpyo(v26.w,v19.h):<<1:rnd:sat:shift }
    { v27:26 = vdeal(v6,v28,r5); v11.w += vmpyo(v27.w,v19.h):<<1:rnd:sat:shift }
    { v7 = vror(v7,r25); v28.w = vmpye(v31.w,v19.uh); v5.h = vasr(v23.w,v5.w,r1):rnd:sat }
    { v7:6.b = vshuffoe(v26.b,v0.b); v14.w += vrmpy(v7.ub,r22.b); v16 = vsplat(r17) }
    { v3:2.b = vshuffoe(v27.b,v1.b); r21:20 = memd(r26+#-56); v1 = vsplat(r16); v12.w += vrmpy(v2.ub,r21.b) }
    { v23 = vmemu(r4+#1); v0.w = vmpye(v14.w,v1.uh); v11.w += vasr(v11.w,r7) }
    { v17 = vror(v17,r25); v0.w += vmpyo(v14.w,v1.h):<<1:rnd:sat:shift; v21.w += vasr(v21.w,r7) }
    { v26 = vmemu(r4++m0); v10.w = vmpye(v22.w,v1.uh); v27.h = vasr(v21.w,v10.w,r0):rnd:sat }
    { v10.w += vmpyo(v22.w,v1.h):<<1:rnd:sat:shift; v0.w += vasr(v0.w,r7); v27.h = vadd(v27.h,v25.h):sat }
    { v21 = vmemu(r4+#1); v10.w += vasr(v10.w,r7); v28.w += vmpyo(v31.w,v19.h):<<1:rnd:sat:shift }
    { v20 = vror(v20,r25); v19.w = vmpye(v13.w,v16.uh); v28.w += vasr(v28.w,r7) }
    { v23:22 = vdeal(v23,v26,r5); v15.w += vrmpy(v18.ub,r22.b); v12.w += vrmpy(v17.ub,r22.b); r3:2 = memd(r26+#-152) }
    { v11 = vmemu(r4++m0); v26.w = vmpye(v8.w,v16.uh); v31.h = vasr(v28.w,v11.w,r0):rnd:sat }
    { v28 = vmemu(r4+#1); v17.w = vmpye(v15.w,v1.uh); v31.h = vadd(v31.h,v25.h):sat }
    { v10 = vmemu(r4++m0); v18.h = vasr(v0.w,v10.w,r2):rnd:sat; v17.w += vmpyo(v15.w,v1.h):<<1:rnd:sat:shift }
    { v0 = vmemu(r4+#1); v18.h = vadd(v18.h,v25.h):sat; v26.w += vmpyo(v8.w,v16.h):<<1:rnd:sat:shift }
    { v14.ub = vsat(v27.h,v18.h); v17.w += vasr(v17.w,r7); v15.w = vmpye(v12.w,v1.uh) }
    { v27 = vmemu(r4++m0); v19.w += vmpyo(v13.w,v16.h):<<1:rnd:sat:shift; v26.w += vasr(v26.w,r7) }
    { r23:22 = memd(r26+#-64); v19.w += vasr(v19.w,r7); v18.w = vmpye(v9.w,v16.uh); v5.h = vadd(v5.h,v25.h):sat }
    { v1 = vmemu(r4+#1); v19.h = vasr(v26.w,v19.w,r3):rnd:sat; v15.w += vmpyo(v12.w,v1.h):<<1:rnd:sat:shift }
    { v21:20 = vdeal(v21,v11,r5); v24.w += vrmpy(v20.ub,r9.b); v19.h = vadd(v19.h,v25.h):sat }
    { v26.ub = vsat(v4.h,v19.h); v15.w += vasr(v15.w,r7); v18.w += vmpyo(v9.w,v16.h):<<1:rnd:sat:shift }
    { v11:10 = vdeal(v28,v10,r5); v8 = vsplat(r21); v4.h = vshuffe(v26.h,v14.h) }
    { v9 = vmemu(r4++m0); v18.w += vasr(v18.w,r7); v19.w = vmpye(v24.w,v16.uh) }
    { r17:16 = memd(r26+#-88); v15.h = vasr(v15.w,v17.w,r2):rnd:sat; v19.w += vmpyo(v24.w,v16.h):<<1:rnd:sat:shift; v4.ub = vmax(v4.ub,v30.ub) }
    { v24 = vmemu(r4+#1); v28 = vsplat(r17); v19.w += vasr(v19.w,r7) }
    { v13:12.b = vshuffoe(v21.b,v23.b); v16 = v8; v4.ub = vmin(v4.ub,v29.ub) }
    { v17.h = vshuffe(v13.h,v3.h); v4.h = vasr(v19.w,v18.w,r3):rnd:sat; vmemu(r6+#0) = v4 }
    { v19:18.b = vshuffoe(v20.b,v22.b); r9:8 = memd(r26+#-40); v26.h = vshuffo(v26.h,v14.h); v15.h = vadd(v15.h,v25.h):sat }
    { v23:22 = vdeal(v0,v27,r5); v4.h = vadd(v4.h,v25.h):sat; v26.ub = vmax(v26.ub,v30.ub) }
    { v21:20 = vdeal(v1,v9,r5); v27.ub = vsat(v31.h,v15.h); v26.ub = vmin(v26.ub,v29.ub) }
    { v31 = v28; v1:0 = vcombine(v8,v8); v4.ub = vsat(v5.h,v4.h); r6 = add(r6,r24) }
    { v8.w += vrmpy(v3.ub,r22.b); v0.w += vrmpy(v13.ub,r22.b); vmemu(r6+#0) = v26 }
    { r13:12 = memd(r26+#-96); v27:26 = vcombine(v28,v28); v14.h = vshuffe(v4.h,v27.h); v15.h = vshuffo(v4.h,v27.h) }
    { v5:4.b = vshuffoe(v23.b,v11.b); v26.w += vrmpy(v12.ub,r12.b); v14.ub = vmax(v14.ub,v30.ub) }
    { v11:10.b = vshuffoe(v22.b,v10.b); v26.w += vrmpy(v4.ub,r13.b); v22.h = vshuffe(v5.h,v13.h); r6 = add(r6,r24) }
    { v9.h = vshuffe(v12.h,v2.h); v8.w += vrmpy(v13.ub,r23.b); v22 = vror(v22,r25); v15.ub = vmax(v15.ub,v30.ub) }
    { r11:10 = memd(r26+#-80); v17 = vror(v17,r25); v0.w += vrmpy(v5.ub,r23.b); v1.w += vrmpy(v5.ub,r22.b) }
    { v3 = vmemu(r4++m0); v28.w += vrmpy(v2.ub,r12.b); v14.ub = vmin(v14.ub,v29.ub) }
    { v3:2 = vdeal(v24,v3,r5); v27.w += vrmpy(v4.ub,r12.b); v8.w += vrmpy(v17.ub,r20.b) }
    { v0.w += vrmpy(v22.ub,r20.b); vmemu(r6+#0) = v14; v15.ub = vmin(v15.ub,v29.ub) }
    { v23:22.b = vshuffoe(v3.b,v21.b); v28.w += vrmpy(v12.ub,r13.b); v17 = vsplat(r9); r6 = add(r6,r24) }
    { v21:20.b = vshuffoe(v2.b,v20.b); r19:18 = memd(r26+#-72); v1.w += vrmpy(v23.ub,r23.b); v16.w += vrmpy(v23.ub,r22.b) }
    { v3.h = vshuffe(v23.h,v5.h); v15.w = vmpye(v0.w,v17.uh); vmemu(r6+#0) = v15 } :endloop0
    end
    .size tn_hx_columns_blocks_q31, . - tn_hx_columns_blocks_q31
