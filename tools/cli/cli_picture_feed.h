// SPDX-License-Identifier: Apache-2.0
// Pictures given with --picture become feeds; the options --resize, --fit, --normalise ... say how.
// Ownership: that of the feeds. Threads: one.
#ifndef TN_CLI_PICTURE_FEED_H
#define TN_CLI_PICTURE_FEED_H

#include "cli_feed.h"

// Exit codes; what is wrong is told.
int tn_cli_feeds_pictures(tn_cli_feeds *feeds, const tn_cli_options *options);

// The feed of that name, or NULL after telling that `option` names an input that is not there.
tn_cli_feed *tn_cli_feeds_find(const tn_cli_feeds *feeds, const char *name, size_t length, const char *option, int *code);

#endif
