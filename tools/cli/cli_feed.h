// SPDX-License-Identifier: Apache-2.0
// The inputs of a run: from files, pictures or a seeded generator, with shapes from --shape, the files, or the smallest that the
// graph accepts; of those whose contents decide shapes, the first simple contents that it accepts. Everything that was assumed can be told.
// Ownership: feeds own their data, which the session reads in place: keep them until it is closed. Threads: one.
#ifndef TN_CLI_FEED_H
#define TN_CLI_FEED_H

#include "cli_session.h"
#include "cli_tensor.h"

typedef struct tn_cli_feed {
    tenon_value_info info;      // its texts are copies: feeds may outlive the model that described them
    tn_cli_tensor tensor;
    enum { TN_FEED_RANDOM, TN_FEED_FILE, TN_FEED_PICTURE, TN_FEED_ABSENT } source;
    char *from;                 // the file, folder or picture
    tn_cli_tensor *items;       // of a sequence
    size_t n_items;
    bool open[8];               // dims that neither the model, nor a file, nor --shape fixed: assumed
    bool any_open;
    bool shaped;                // --shape names it
    bool decides;               // its contents decide shapes: they are chosen, not drawn
    unsigned pattern;           // which choice (cli_feed.c)
} tn_cli_feed;

typedef struct tn_cli_feeds {
    tn_cli_feed *items;
    size_t count;
    double prepare_ms;          // planning for these shapes
    unsigned tries;             // shapes that were tried
} tn_cli_feeds;

// Collects all inputs, gives them to the session and plans for them. Exit codes; what is wrong is told.
int tn_cli_feeds_make(tn_cli_feeds *feeds, tn_cli_session *s, const tn_cli_options *options);
// Gives made feeds to another session of the same model.
int tn_cli_feeds_give(const tn_cli_feeds *feeds, tn_cli_session *s);
void tn_cli_feeds_deinit(tn_cli_feeds *feeds);

// Reads one input from DIR/NAME.npy, .pb (TensorProto), .txt (one string a line) or .bin (raw); a sequence from the folder DIR/NAME with items
// 0.npy, 1.npy ... (or .pb, .txt). A name with '/' or ':' in it is also looked for with '_' there.
int tn_cli_feed_read(tn_cli_feed *feed, const char *folder);

// "  in  data float32 1x3x224x224 random (assumed: dim 0 = 1)" lines on stdout.
void tn_cli_feeds_print(const tn_cli_feeds *feeds);
cJSON *tn_cli_feeds_json(const tn_cli_feeds *feeds);

#endif
