// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef TN_HEX_H
#define TN_HEX_H

#include <stdint.h>

typedef uint64_t remote_handle64;

// What the SDK's compiler makes of tn_hex.idl.
int tn_hex_open(const char *uri, remote_handle64 *handle);
int tn_hex_close(remote_handle64 handle);
int tn_hex_call(remote_handle64 handle, const uint32_t *request, int n_request, int fd, const uint32_t *io, int n_io, uint32_t *response,
                int n_response);

#endif
