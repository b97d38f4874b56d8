// SPDX-License-Identifier: Apache-2.0
// What every unit test includes: cmocka, with the headers that it wants before it, and failing heaps.
// Ownership: none. Threads: one.
#ifndef TN_UNIT_H
#define TN_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fail_heap.h"

#endif
