// SPDX-License-Identifier: Apache-2.0
// A known-answer test: two tiny models, one in floats and one in bytes, of which a device must give results that are known.
// Ownership: none. Threads: one.
#ifndef TN_DOCTOR_ANSWER_H
#define TN_DOCTOR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

// Runs the test that suits the device. False: `said` tells what went wrong.
bool tn_doctor_answer(const char *device, char *said, size_t size);

#endif
