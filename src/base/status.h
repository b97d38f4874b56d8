// SPDX-License-Identifier: Apache-2.0
// Status codes and the macros that pass them on. The numbers are those of the public tenon_status and are frozen.
// Ownership: none. Threads: any.
#ifndef TN_STATUS_H
#define TN_STATUS_H

// X(name, number, text)
#define TN_STATUS_LIST(X)                                   \
    X(OK, 0, "ok")                                          \
    X(INVALID_ARGUMENT, 1, "invalid argument")              \
    X(INVALID_MODEL, 2, "invalid model")                    \
    X(UNSUPPORTED, 3, "unsupported")                        \
    X(OUT_OF_MEMORY, 4, "out of memory")                    \
    X(LIMIT, 5, "limit exceeded")                           \
    X(DEVICE, 6, "device unavailable")                      \
    X(IO, 7, "input or output failed")                      \
    X(STATE, 8, "wrong state for this call")                \
    X(CANCELLED, 9, "cancelled")                            \
    X(DEADLINE, 10, "deadline passed")                      \
    X(NOT_FOUND, 11, "not found")                           \
    X(FALLBACK, 12, "fall-back refused by strict")          \
    X(INTERNAL, 13, "internal error")

typedef enum tn_status {
#define X(name, number, text) TN_##name = number,
    TN_STATUS_LIST(X)
#undef X
} tn_status;

// Fixed English text of a status; "unknown status" for a number that is none.
const char *tn_status_text(tn_status status);

// Returns from the enclosing function with the status of call unless it is TN_OK.
#define TN_TRY(call)                        \
    do {                                    \
        tn_status try_status_ = (call);     \
        if (try_status_ != TN_OK) {         \
            return try_status_;             \
        }                                   \
    } while (0)

// As TN_TRY, but stores the status in the local `status` and jumps to the cleanup label `done`.
#define TN_GO(call)                         \
    do {                                    \
        status = (call);                    \
        if (status != TN_OK) {              \
            goto done;                      \
        }                                   \
    } while (0)

#endif
