// SPDX-License-Identifier: Apache-2.0
// The verbs of the tenon command, one file each.
// Ownership: const data. Threads: one.
#ifndef TN_CMD_H
#define TN_CMD_H

#include "cli_options.h"

extern const tn_cli_verb tn_verb_run, tn_verb_info, tn_verb_bench, tn_verb_explain, tn_verb_compare, tn_verb_profile,
    tn_verb_convert, tn_verb_doctor, tn_verb_tune, tn_verb_cache;

#endif
