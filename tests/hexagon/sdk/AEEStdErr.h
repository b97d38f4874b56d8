// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef AEESTDERR_H
#define AEESTDERR_H

#define AEE_SUCCESS 0
#define AEE_ENOMEMORY 2
#define AEE_EBADPARM 14

#endif
