// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most, measured in a moment: multiply-adds in registers, and bytes through memory.
// Ownership: none. Threads: the calls start their own and join them.
#ifndef TN_PEAK_H
#define TN_PEAK_H

// Vectors of this many bits: 512 and 256 on x86-64, 128 on AArch64. 0: whatever the compiler's baseline has.
// GFLOP/s (a multiply-add is two) in float32, best of some rounds. 0: this processor or this build has no such vectors.
double tn_peak_gflops(unsigned vector_bits, unsigned threads);

// The widest vectors that this processor has, for the call above.
unsigned tn_peak_widest(void);

// GB/s of copying a block much larger than the caches: bytes read plus bytes written. 0: no memory.
double tn_peak_copy(unsigned threads);

#endif
