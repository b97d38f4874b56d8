// SPDX-License-Identifier: Apache-2.0
// Work in a process of its own, for what may end the process that does it: drivers of devices abort and hang.
// Ownership: the text is the caller's. Threads: one, and no other may run: the child is a copy of this process.
#ifndef TN_DOCTOR_APART_H
#define TN_DOCTOR_APART_H

#include <stddef.h>

// The text that work gives in a child of this process (malloc, as the text given back). NULL: why tells that it gave none, was ended by a
// signal, or took longer than so many seconds.
char *tn_doctor_apart(char *(*work)(const char *argument), const char *argument, unsigned seconds, char *why, size_t size);

#endif
