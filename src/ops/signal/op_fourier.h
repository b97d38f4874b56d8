// SPDX-License-Identifier: Apache-2.0
// dft(x [..., 1 or 2], length?, axis?) and stft(signal [B, L, 1 or 2], step, window?, frame_length?) -> [B, frames, bins, 2].
// The last dim holds the real and, if there is one, the imaginary part. ONNX DFT 20, STFT 17.
// Ownership: const data. Threads: any.
#ifndef TN_OP_FOURIER_H
#define TN_OP_FOURIER_H

#include "ir/op.h"

// onesided: forward, bins 0 .. n / 2 of a real signal; inverse, a real signal from such bins.
typedef struct tn_dft_attr { bool inverse, onesided; } tn_dft_attr;
typedef struct tn_stft_attr { bool onesided; } tn_stft_attr;

extern const tn_op tn_op_dft;
extern const tn_op tn_op_stft;

#endif
