// SPDX-License-Identifier: Apache-2.0
// What host and DSP share to call each other: one control page (a shared mapping of TN_HEX_PAGE bytes, created zeroed by the host) and
// messages of 128 bytes. Everything is a 32-bit little-endian word at a fixed place; no structs, no pointers. Compiled on both sides.
//
// A call: the host writes the request's words, stores the next sequence number to REQ_SEQ (release) and wakes it as a futex. The DSP
// copies the request out of the page before it looks at it, works, writes the response, stores the same number to RSP_SEQ and wakes it.
// One call at a time. The socket carries file descriptors for MAP and tells each side that the other is gone.
// Ownership: constants. Threads: any.
#ifndef TN_HEX_CONTROL_H
#define TN_HEX_CONTROL_H

#include <stdint.h>

#define TN_HEX_PAGE 65536u           // bytes of the control page; buffers are multiples of it too
#define TN_HEX_MAGIC 0x58484e54u     // "TNHX"
#define TN_HEX_PROTOCOL 5u           // changes with every change of these headers' meaning

// Byte offsets in the control page. What different sides write lies on different 128-byte lines.
enum {
    TN_HEX_AT_CONFIG = 0,            // words of TN_HEX_CONFIG_*: by the host, before the DSP starts
    TN_HEX_AT_REQ_SEQ = 128,         // by the host
    TN_HEX_AT_RSP_SEQ = 256,         // by the DSP
    TN_HEX_AT_REQUEST = 384,         // a message
    TN_HEX_AT_RESPONSE = 512,        // a message
    TN_HEX_AT_ALIVE = 640,           // words of TN_HEX_ALIVE_*
    TN_HEX_AT_CRASH = 768,           // words of TN_HEX_CRASH_*
    TN_HEX_AT_LOG_HEAD = 896,        // bytes ever written to the log (modulo 2^32)
    TN_HEX_AT_LOG = 4096,            // ring of text, lines end with '\n'
    TN_HEX_LOG_BYTES = 32768,
    TN_HEX_AT_IO = 49152,            // EXECUTE: TN_HEX_IO_WORDS words per tensor, inputs in order, then outputs in order
    TN_HEX_IO_MAX = 1024             // tensors in all
};

enum { TN_HEX_MESSAGE_WORDS = 32, TN_HEX_MESSAGE_ARGS = 28 };
// Words of a message.
enum { TN_HEX_MSG_SEQ, TN_HEX_MSG_CALL, TN_HEX_MSG_STATUS, TN_HEX_MSG_N_ARGS, TN_HEX_MSG_ARG };

// A run of bytes in a mapped buffer.
enum { TN_HEX_IO_HANDLE, TN_HEX_IO_OFFSET, TN_HEX_IO_LENGTH, TN_HEX_IO_WORDS };

enum {
    TN_HEX_CONFIG_MAGIC,             // TN_HEX_MAGIC
    TN_HEX_CONFIG_PROTOCOL,          // TN_HEX_PROTOCOL; another number: the DSP answers nothing and exits with status 3
    TN_HEX_CONFIG_THREADS,           // worker threads, 1 to TN_HEX_MAX_THREADS; 0: one
    TN_HEX_CONFIG_VTCM,              // bytes of VTCM that may be used; 0: TN_HEX_VTCM_DEFAULT
    TN_HEX_CONFIG_FLAGS              // TN_HEX_FLAG_*
};
enum {
    TN_HEX_FLAG_NONCOHERENT = 1,     // each side of a buffer sees its own copy until a flush or an invalidate moves bytes
    TN_HEX_FLAG_ACCOUNT = 2          // HVX locks, VTCM and power votes are counted, and using one without having it crashes
};
enum { TN_HEX_MAX_THREADS = 4, TN_HEX_VTCM_DEFAULT = 262144 };

enum {
    TN_HEX_ALIVE_READY,              // 1 when the DSP listens
    TN_HEX_ALIVE_NODE                // id of the node being run, 0 between runs
};

// Written by the DSP's signal handler; VALID last. Then the process exits with status TN_HEX_EXIT_CRASH.
enum {
    TN_HEX_CRASH_VALID, TN_HEX_CRASH_SIGNAL, TN_HEX_CRASH_PC, TN_HEX_CRASH_ADDRESS, TN_HEX_CRASH_NODE, TN_HEX_CRASH_CALL,
    TN_HEX_CRASH_GRAPH
};
// Levels of the log; a program begins with errors.
enum { TN_HEX_LOG_SILENT, TN_HEX_LOG_ERRORS, TN_HEX_LOG_CALLS, TN_HEX_LOG_NODES };

enum { TN_HEX_EXIT_PROTOCOL = 3, TN_HEX_EXIT_CRASH = 4, TN_HEX_EXIT_HANGUP = 5 };

// Calls: number, name, arguments -> results. Numbers are frozen.
//   hello           -> protocol, arch (67), HVX bytes, threads, VTCM bytes, version of the program, number of operators
//   map             length in bytes, and one fd by SCM_RIGHTS on the socket (sent before the call) -> handle
//   unmap           handle
//   init            -> graph
//   consts          graph, handle, offset, length        records of hex_graph.h; data is read from the mapped buffers at prepare
//   nodes           graph, handle, offset, length        records of hex_graph.h
//   prepare         graph -> arena bytes, VTCM bytes, bytes of plans, number of inputs, number of outputs, bytes of packed weights
//   pack            graph, handle, offset, kept -> 1 packed anew or 0 taken over, 1 there is more
//                   once after prepare: the weights as the kernels want them, into the buffer (offset: a multiple of 128). kept 1: they are
//                   there as a process that is gone packed them, which the host has seen to. handle 0: into memory of the DSP's own.
//                   The same call again while there is more, so that other graphs are not kept waiting. Until teardown the buffer cannot be
//                   unmapped, nor any other call write there
//   execute         graph, number of inputs, number of outputs (their places: TN_HEX_AT_IO) -> microseconds, packets low, high
//   teardown        graph
//   power_level     0 (save most) to 100
//   power_details   corner, DCVS on, sleep latency in microseconds
//   perf            graph, handle, offset, length -> number of records written (TN_HEX_PERF_*)
//   reset_perf      graph
//   log_level       TN_HEX_LOG_*
//   quit
// A failed call returns a status, and where a record or node is at fault: its id, and a number that names the rule (TN_HEX_WHY_*). "Out of
// memory" is what may succeed when other graphs have gone.
#define TN_HEX_CALLS(X)                                                                                               \
    X(HELLO, 1, "hello") X(MAP, 2, "map") X(UNMAP, 3, "unmap") X(INIT, 4, "init") X(CONSTS, 5, "consts")              \
    X(NODES, 6, "nodes") X(PREPARE, 7, "prepare") X(EXECUTE, 8, "execute") X(TEARDOWN, 9, "teardown")                 \
    X(POWER_LEVEL, 10, "power_level") X(POWER_DETAILS, 11, "power_details") X(PERF, 12, "perf")                       \
    X(RESET_PERF, 13, "reset_perf") X(LOG_LEVEL, 14, "log_level") X(QUIT, 15, "quit") X(PACK, 16, "pack")
enum {
#define TN_HEX_X(NAME, NUMBER, TEXT) TN_HEX_CALL_##NAME = (NUMBER),
    TN_HEX_CALLS(TN_HEX_X)
#undef TN_HEX_X
};

// The numbers are those FastRPC users know (AEE_*).
#define TN_HEX_STATUSES(X)                                                                                            \
    X(OK, 0, "ok") X(FAILED, 1, "failed") X(MEMORY, 2, "out of memory") X(STATE, 13, "not in this state")             \
    X(PARAM, 14, "bad argument") X(UNSUPPORTED, 20, "unsupported")
enum {
#define TN_HEX_X(NAME, NUMBER, TEXT) TN_HEX_##NAME = (NUMBER),
    TN_HEX_STATUSES(TN_HEX_X)
#undef TN_HEX_X
};

// Results of a failed consts, nodes or prepare: arg[0] the id of the node or value, arg[1] one of these.
#define TN_HEX_WHYS(X)                                                                                                \
    X(NONE, 0, "") X(RECORD, 1, "malformed record") X(ID, 2, "unknown or repeated id") X(OP, 3, "unknown operator")   \
    X(ARITY, 4, "wrong number of operands") X(DTYPE, 5, "element type not supported") X(SHAPE, 6, "shapes do not fit")\
    X(ATTR, 7, "attribute missing or out of range") X(RANGE, 8, "bytes outside of the buffer")                        \
    X(ORDER, 9, "used before it is produced") X(LIMIT, 10, "too many or too large") X(CONST, 11, "must be a constant")
enum {
#define TN_HEX_X(NAME, NUMBER, TEXT) TN_HEX_WHY_##NAME = (NUMBER),
    TN_HEX_WHYS(TN_HEX_X)
#undef TN_HEX_X
};

// Words of one perf record. Packets, instructions and HVX instructions are of the last execution, over all threads; node 0 stands for
// the conversions between the border's layout and the DSP's own.
enum {
    TN_HEX_PERF_NODE, TN_HEX_PERF_OP, TN_HEX_PERF_EXECUTIONS, TN_HEX_PERF_PACKETS_LOW, TN_HEX_PERF_PACKETS_HIGH,
    TN_HEX_PERF_INSTRUCTIONS, TN_HEX_PERF_HVX, TN_HEX_PERF_MICROSECONDS, TN_HEX_PERF_WORDS
};

#endif
