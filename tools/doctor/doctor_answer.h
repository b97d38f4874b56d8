// SPDX-License-Identifier: Apache-2.0
// A known-answer test: two tiny models, one in floats and one in bytes, of which a device must give results that are known.
// Ownership: none. Threads: one.
#ifndef TN_DOCTOR_ANSWER_H
#define TN_DOCTOR_ANSWER_H

// Runs the test that suits the device. "" where it passes, else what went wrong; the caller frees the text.
char *tn_doctor_answer(const char *device);

#endif
