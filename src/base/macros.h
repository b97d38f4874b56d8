// SPDX-License-Identifier: Apache-2.0
// Small macros that every folder needs. Leaf header: includes nothing of ours.
#ifndef TN_MACROS_H
#define TN_MACROS_H

#define TN_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TN_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TN_MAX(a, b) ((a) > (b) ? (a) : (b))
#define TN_CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// Lets the compiler check a printf-like call: format is argument f, the values start at argument v.
#define TN_PRINTF(f, v) __attribute__((format(printf, f, v)))

#endif
