// SPDX-License-Identifier: Apache-2.0
// The least that speaks the DSP's wire from the host: starts the program under qemu-hexagon, maps buffers, makes calls, writes graphs.
// For tests and benches that look at the program alone; the engine has its own.
// Ownership: dsp_open to dsp_close. Threads: one.
#ifndef TN_TEST_DSP_HOST_H
#define TN_TEST_DSP_HOST_H

#include "exec/hexagon/wire/hex_control.h"
#include "exec/hexagon/wire/hex_graph.h"

#include <stdbool.h>
#include <sys/types.h>

#define DSP_DEAD 0xdeadu   // the status of a call that was not answered

typedef struct dsp {
    pid_t pid;
    int page_fd, socket;
    uint8_t *page;
    uint32_t seq;
    uint32_t result[TN_HEX_MESSAGE_ARGS];
    int exit_status;         // of waitpid, once it is dead
    double seconds;          // deadline of a call
} dsp;

typedef struct dsp_buffer {
    uint8_t *at;
    uint32_t bytes, handle;
    int fd;
} dsp_buffer;

// What the DSP is started with.
typedef struct dsp_options {
    const char *program;
    uint32_t threads, vtcm, flags;
} dsp_options;

bool dsp_open(dsp *d, const dsp_options *options);
void dsp_close(dsp *d);
// Status; d->result has the results. With words = NULL, n_args words of 0.
uint32_t dsp_call(dsp *d, uint32_t call, const uint32_t *args, uint32_t n_args);
// A raw message of TN_HEX_MESSAGE_WORDS words (sequence number apart).
uint32_t dsp_message(dsp *d, const uint32_t *words);
uint32_t dsp_word(const dsp *d, uint32_t offset);
bool dsp_map(dsp *d, dsp_buffer *b, uint32_t bytes);
void dsp_unmap(dsp *d, dsp_buffer *b);

// ---- graphs: words are appended, constants go to the end of the same buffer ----

typedef struct dsp_graph {
    dsp *d;
    dsp_buffer *buffer;
    uint32_t id;                       // 0: not made
    uint32_t *consts, *nodes;          // words
    uint32_t n_consts, n_nodes, max;
    uint32_t data, open;               // bytes of constants; first word of the open node
    uint32_t next_id;
} dsp_graph;

typedef struct dsp_tensor {
    uint32_t dtype, rank;
    int32_t zero, dims[8];
} dsp_tensor;

void dsp_graph_begin(dsp_graph *g, dsp *d, dsp_buffer *buffer);
void dsp_graph_end(dsp_graph *g);      // tears down
uint32_t dsp_value(dsp_graph *g, const dsp_tensor *t);
uint32_t dsp_const(dsp_graph *g, const dsp_tensor *t, const void *data, uint32_t bytes);
void dsp_border(dsp_graph *g, uint32_t kind, uint32_t value);
uint32_t dsp_node(dsp_graph *g, int op, const uint32_t *in, uint32_t n_in, uint32_t out);   // then attributes, then dsp_node_end
void dsp_attr(dsp_graph *g, uint32_t key, const void *words, uint32_t n);
void dsp_node_end(dsp_graph *g);
// init, consts, nodes, prepare: the first status that is not OK. d->result has prepare's results.
uint32_t dsp_graph_send(dsp_graph *g);
// All pieces of it.
uint32_t dsp_pack(dsp *d, const uint32_t args[4]);
// Send, and pack into memory of the DSP's own.
uint32_t dsp_graph_prepare(dsp_graph *g);
// Inputs and outputs at the given offsets of `buffer`.
uint32_t dsp_execute(dsp_graph *g, uint32_t n_in, uint32_t n_out, const uint32_t *offsets, const uint32_t *lengths, const dsp_buffer *buffer);

uint32_t dsp_count(const dsp_tensor *t);
uint32_t dsp_size(uint32_t dtype);

#endif
