// SPDX-License-Identifier: Apache-2.0
// The DSP program as bytes of an ELF file, embedded by cmake/hexagon.cmake. Only in builds with the Hexagon device.
// Ownership: const data. Threads: any.
#ifndef TN_HEX_PROGRAM_H
#define TN_HEX_PROGRAM_H

#include <stddef.h>

extern const unsigned char tn_hex_program[];
extern const size_t tn_hex_program_size;

#endif
