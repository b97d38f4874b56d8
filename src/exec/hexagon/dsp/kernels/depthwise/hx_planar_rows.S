// SPDX-License-Identifier: Apache-2.0
// The four channels of a plane taken apart into rows of one channel, and put together again: four packets for 128 pixels of each, as
// many as there are shuffles, found by a search as those of hx_planar_loops.S. Each round is spread over three; two begin before the loop.
//
//   void tn_hx_planar_apart(const uint8_t *pixels, uint8_t *rows, int32_t apart, int32_t chunks, int32_t step, int32_t row_step)
//   void tn_hx_planar_together(uint8_t *pixels, const uint8_t *rows, int32_t apart, int32_t chunks, int32_t step, int32_t row_step)
//
//   pixels   a b c d  a b c d ...     chunks of 128, `step` bytes from one to the next; of rows, `row_step`. All are multiples of 128. Two
//   rows     a a a ... | b b b ...    chunks past the end are read, and half of one is written: of rows, one vector.
    .text

    .macro begin loop
    { r9 = r2
      r2 = add(r1, r2)
      m0 = r4 }
    { r3 = add(r2, r9)
      r28 = r3
      m1 = r5
      r7 = #-1 }
    { r4 = add(r3, r9)
      r5 = add(r0, #128)
      r6 = add(r0, #256) }
    { r8 = add(r0, #384)
      loop0(\loop, r28) }
    .endm

    .globl tn_hx_planar_apart
    .type tn_hx_planar_apart, @function
    .p2align 4
tn_hx_planar_apart:
    begin apart_loop
    { v7 = vmem(r8++m0) }
    { v6 = vmem(r0++m0) }
    { v2 = vmem(r6++m0) }
    { v7 = vmem(r5++m0)
      v3:2 = vdeal(v7,v2,r7) }
    { v7 = vmem(r8++m0)
      v1:0 = vdeal(v7,v6,r7) }
    { v6 = vmem(r0++m0)
      v5:4 = vdeal(v2,v0,r7) }
    { v2 = vmem(r6++m0)
      vmem(r1++m1) = v4
      v1:0 = vdeal(v3,v1,r7) }
    { v7 = vmem(r5++m0)
      v3:2 = vdeal(v7,v2,r7)
      vmem(r2++m1) = v0 }
apart_loop:
    { v7 = vmem(r8++m0)
      v1:0 = vdeal(v7,v6,r7)
      vmem(r4++m1) = v1 }
    { v6 = vmem(r0++m0)
      v5:4 = vdeal(v2,v0,r7)
      vmem(r3++m1) = v5 }
    { v2 = vmem(r6++m0)
      vmem(r1++m1) = v4
      v1:0 = vdeal(v3,v1,r7) }
    { v7 = vmem(r5++m0)
      v3:2 = vdeal(v7,v2,r7)
      vmem(r2++m1) = v0 } :endloop0
    { jumpr r31 }
    .size tn_hx_planar_apart, . - tn_hx_planar_apart

    .globl tn_hx_planar_together
    .type tn_hx_planar_together, @function
    .p2align 4
tn_hx_planar_together:
    begin together_loop
    { v8 = vmem(r4++m1) }
    { v9 = vmem(r1++m1) }
    { v0 = vmem(r3++m1) }
    { v1:0 = vshuff(v0,v9,r7)
      v2 = vmem(r2++m1) }
    { v8 = vmem(r4++m1)
      v3:2 = vshuff(v8,v2,r7) }
    { v9 = vmem(r1++m1)
      v5:4 = vshuff(v2,v0,r7) }
    { v0 = vmem(r3++m1)
      vmem(r0++m0) = v4
      v7:6 = vshuff(v3,v1,r7) }
    { v1:0 = vshuff(v0,v9,r7)
      v2 = vmem(r2++m1)
      vmem(r5++m0) = v5 }
together_loop:
    { v8 = vmem(r4++m1)
      v3:2 = vshuff(v8,v2,r7)
      vmem(r8++m0) = v7 }
    { v9 = vmem(r1++m1)
      v5:4 = vshuff(v2,v0,r7)
      vmem(r6++m0) = v6 }
    { v0 = vmem(r3++m1)
      vmem(r0++m0) = v4
      v7:6 = vshuff(v3,v1,r7) }
    { v1:0 = vshuff(v0,v9,r7)
      v2 = vmem(r2++m1)
      vmem(r5++m0) = v5 } :endloop0
    { jumpr r31 }
    .size tn_hx_planar_together, . - tn_hx_planar_together
