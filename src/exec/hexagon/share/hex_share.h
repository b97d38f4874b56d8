// SPDX-License-Identifier: Apache-2.0
// One DSP program for all sessions of a process that start it with the same options, of whatever model: a list of lines that are open,
// each with the number of its users. A program holds many sub-graphs, its calls go in turns, and its death is every user's.
// Ownership: take/give. Threads: any.
#ifndef TN_HEX_SHARE_H
#define TN_HEX_SHARE_H

#include "exec/hexagon/hex_link.h"

// The line to a program with these options, which is started by who first wants it to run (tn_hex_link_wake). What users share of it - its own fields, sub-graphs, the heads of
// buffers - is of the C library's heap, as it may outlive each user.
tn_status tn_hex_share_take(tn_hex_link **link, const tn_hex_transport *transport, const tn_hex_options *options, tn_diag *diag);

// The last user ends the program. NULL allowed.
void tn_hex_share_give(tn_hex_link *link);

#endif
