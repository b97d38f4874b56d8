// SPDX-License-Identifier: Apache-2.0
// Starting the DSP program and speaking its wire, for tests. Calls wait on a futex with a deadline and look at the child between slices.
// Ownership: see the header. Threads: one.
#include "dsp_host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

// The child finds the page and the socket at FD_PAGE and FD_SOCKET. The parent holds its own above them: a descriptor that had one of these
// numbers already would be overwritten by the other's before its turn to be copied came.
enum { MAX_WORDS = 1 << 20, FD_PAGE = 10, FD_SOCKET = 11, FD_FREE = 12 };

static uint32_t *word(const dsp *d, uint32_t offset) { return (uint32_t *)(d->page + offset); }

uint32_t dsp_word(const dsp *d, uint32_t offset) { return __atomic_load_n(word(d, offset), __ATOMIC_ACQUIRE); }

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Whether the child is gone; its status is taken once.
static bool is_dead(dsp *d)
{
    if (d->pid > 0 && waitpid(d->pid, &d->exit_status, WNOHANG) == d->pid) {
        d->pid = 0;
    }
    return d->pid == 0;
}

// Until the word is not `old`, the child dies or the deadline passes.
static bool wait_word(dsp *d, uint32_t offset, uint32_t old)
{
    const double end = now() + d->seconds;
    while (dsp_word(d, offset) == old) {
        const struct timespec slice = {0, 20000000};
        syscall(SYS_futex, word(d, offset), FUTEX_WAIT, old, &slice, NULL, 0);
        if (dsp_word(d, offset) == old && (is_dead(d) || now() > end)) {
            return dsp_word(d, offset) != old;
        }
    }
    return true;
}

// The same file under a number from FD_FREE on; takes fd over.
static int above(int fd)
{
    const int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FD_FREE);
    if (fd >= 0) {
        close(fd);
    }
    return high;
}

bool dsp_open(dsp *d, const dsp_options *options)
{
    memset(d, 0, sizeof *d);
    d->seconds = 120;
    int pair[2] = {-1, -1};
    d->page_fd = above(memfd_create("dsp-page", MFD_CLOEXEC));
    if (d->page_fd < 0 || ftruncate(d->page_fd, TN_HEX_PAGE) != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return false;
    }
    pair[0] = above(pair[0]);
    pair[1] = above(pair[1]);
    d->page = mmap(NULL, TN_HEX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, d->page_fd, 0);
    if (pair[0] < 0 || pair[1] < 0 || d->page == MAP_FAILED) {
        return false;
    }
    uint32_t *config = word(d, TN_HEX_AT_CONFIG);
    config[TN_HEX_CONFIG_MAGIC] = TN_HEX_MAGIC;
    config[TN_HEX_CONFIG_PROTOCOL] = TN_HEX_PROTOCOL;
    config[TN_HEX_CONFIG_THREADS] = options->threads;
    config[TN_HEX_CONFIG_VTCM] = options->vtcm;
    config[TN_HEX_CONFIG_FLAGS] = options->flags;
    d->socket = pair[0];
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);   // the emulator writes core files of its own
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, d->page_fd, FD_PAGE);
    posix_spawn_file_actions_adddup2(&actions, pair[1], FD_SOCKET);
    char *argv[] = {"qemu-hexagon", "-cpu", "v67", (char *)options->program, "10", "11", NULL};
    const int failed = posix_spawnp(&d->pid, "qemu-hexagon", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (failed) {
        d->pid = 0;
        return false;
    }
    const bool ready = wait_word(d, TN_HEX_AT_ALIVE + 4 * TN_HEX_ALIVE_READY, 0);
    if (!ready) {
        dsp_close(d);   // a child that stayed would hold the caller's output open for ever
    }
    return ready;
}

void dsp_close(dsp *d)
{
    if (d->pid > 0 && !is_dead(d)) {
        kill(d->pid, SIGKILL);
        waitpid(d->pid, &d->exit_status, 0);
        d->pid = 0;
    }
    close(d->socket);
    close(d->page_fd);
    munmap(d->page, TN_HEX_PAGE);
}

uint32_t dsp_message(dsp *d, const uint32_t *words)
{
    if (is_dead(d)) {
        return DSP_DEAD;
    }
    const uint32_t old = d->seq++;
    memcpy(word(d, TN_HEX_AT_REQUEST), words, 4 * TN_HEX_MESSAGE_WORDS);
    __atomic_store_n(word(d, TN_HEX_AT_REQ_SEQ), d->seq, __ATOMIC_RELEASE);
    syscall(SYS_futex, word(d, TN_HEX_AT_REQ_SEQ), FUTEX_WAKE, 1, NULL, NULL, 0);
    if (!wait_word(d, TN_HEX_AT_RSP_SEQ, old)) {
        return DSP_DEAD;
    }
    const uint32_t *response = word(d, TN_HEX_AT_RESPONSE);
    memcpy(d->result, response + TN_HEX_MSG_ARG, sizeof d->result);
    return response[TN_HEX_MSG_STATUS];
}

uint32_t dsp_call(dsp *d, uint32_t call, const uint32_t *args, uint32_t n_args)
{
    uint32_t message[TN_HEX_MESSAGE_WORDS] = {0};
    message[TN_HEX_MSG_CALL] = call;
    message[TN_HEX_MSG_N_ARGS] = n_args;
    for (uint32_t i = 0; args && i < n_args; i++) {
        message[TN_HEX_MSG_ARG + i] = args[i];
    }
    return dsp_message(d, message);
}

static bool send_fd(int socket, int fd)
{
    char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec vector = {&byte, 1};
    struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(socket, &header, MSG_NOSIGNAL) == 1;
}

bool dsp_map(dsp *d, dsp_buffer *b, uint32_t bytes)
{
    b->bytes = (bytes + TN_HEX_PAGE - 1) & ~(TN_HEX_PAGE - 1);
    b->fd = memfd_create("dsp-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (b->fd < 0 || ftruncate(b->fd, b->bytes) != 0) {
        return false;
    }
    fcntl(b->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    b->at = mmap(NULL, b->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
    if (!send_fd(d->socket, b->fd) || dsp_call(d, TN_HEX_CALL_MAP, &b->bytes, 1) != TN_HEX_OK) {
        return false;
    }
    b->handle = d->result[0];
    return true;
}

void dsp_unmap(dsp *d, dsp_buffer *b)
{
    dsp_call(d, TN_HEX_CALL_UNMAP, &b->handle, 1);
    munmap(b->at, b->bytes);
    close(b->fd);
}

// ---- graphs ----

uint32_t dsp_size(uint32_t dtype) { return dtype == TN_HEX_S32 || dtype == TN_HEX_F32 ? 4 : dtype == TN_HEX_S16 ? 2 : 1; }

uint32_t dsp_count(const dsp_tensor *t)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        n *= (uint32_t)t->dims[i];
    }
    return n;
}

void dsp_graph_begin(dsp_graph *g, dsp *d, dsp_buffer *buffer)
{
    *g = (dsp_graph){.d = d, .buffer = buffer, .max = MAX_WORDS, .next_id = 1};
    g->consts = malloc(4 * MAX_WORDS);
    g->nodes = malloc(4 * MAX_WORDS);
}

void dsp_graph_end(dsp_graph *g)
{
    if (g->id) {
        dsp_call(g->d, TN_HEX_CALL_TEARDOWN, &g->id, 1);
    }
    free(g->consts);
    free(g->nodes);
}

static void put(uint32_t *words, uint32_t *n, uint32_t word) { words[(*n)++] = word; }

static void put_tensor(uint32_t *words, uint32_t *n, uint32_t id, const dsp_tensor *t)
{
    put(words, n, id);
    put(words, n, t->dtype);
    put(words, n, (uint32_t)t->zero);
    put(words, n, t->rank);
    for (uint32_t i = 0; i < t->rank; i++) {
        put(words, n, (uint32_t)t->dims[i]);
    }
}

uint32_t dsp_value(dsp_graph *g, const dsp_tensor *t)
{
    put(g->nodes, &g->n_nodes, TN_HEX_RECORD_VALUE);
    put(g->nodes, &g->n_nodes, 6 + t->rank);
    put_tensor(g->nodes, &g->n_nodes, g->next_id, t);
    return g->next_id++;
}

uint32_t dsp_const(dsp_graph *g, const dsp_tensor *t, const void *data, uint32_t bytes)
{
    put(g->consts, &g->n_consts, TN_HEX_RECORD_CONST);
    put(g->consts, &g->n_consts, 9 + t->rank);
    put_tensor(g->consts, &g->n_consts, g->next_id, t);
    put(g->consts, &g->n_consts, g->buffer->handle);
    put(g->consts, &g->n_consts, g->data);
    put(g->consts, &g->n_consts, bytes);
    memcpy(g->buffer->at + g->data, data, bytes);
    g->data += (bytes + 7) & ~7u;
    return g->next_id++;
}

void dsp_border(dsp_graph *g, uint32_t kind, uint32_t value)
{
    put(g->nodes, &g->n_nodes, kind);
    put(g->nodes, &g->n_nodes, 3);
    put(g->nodes, &g->n_nodes, value);
}

uint32_t dsp_node(dsp_graph *g, int op, const uint32_t *in, uint32_t n_in, uint32_t out)
{
    g->open = g->n_nodes;
    put(g->nodes, &g->n_nodes, TN_HEX_RECORD_NODE);
    put(g->nodes, &g->n_nodes, 0);
    put(g->nodes, &g->n_nodes, g->next_id);
    put(g->nodes, &g->n_nodes, tn_hex_op_id(op));
    put(g->nodes, &g->n_nodes, n_in);
    for (uint32_t i = 0; i < n_in; i++) {
        put(g->nodes, &g->n_nodes, in[i]);
    }
    put(g->nodes, &g->n_nodes, 1);
    put(g->nodes, &g->n_nodes, out);
    return g->next_id++;
}

void dsp_attr(dsp_graph *g, uint32_t key, const void *words, uint32_t n)
{
    put(g->nodes, &g->n_nodes, key);
    put(g->nodes, &g->n_nodes, n);
    memcpy(g->nodes + g->n_nodes, words, 4 * n);
    g->n_nodes += n;
}

void dsp_node_end(dsp_graph *g) { g->nodes[g->open + 1] = g->n_nodes - g->open; }

static uint32_t append(dsp_graph *g, uint32_t call, const uint32_t *words, uint32_t n)
{
    const uint32_t at = (g->data + 127) & ~127u;
    if (n == 0 || at + 4 * n > g->buffer->bytes) {
        return n == 0 ? TN_HEX_OK : TN_HEX_MEMORY;
    }
    memcpy(g->buffer->at + at, words, 4 * n);
    const uint32_t args[4] = {g->id, g->buffer->handle, at, 4 * n};
    return dsp_call(g->d, call, args, 4);
}

uint32_t dsp_graph_send(dsp_graph *g)
{
    uint32_t status = dsp_call(g->d, TN_HEX_CALL_INIT, NULL, 0);
    g->id = status ? 0 : g->d->result[0];
    status = status ? status : append(g, TN_HEX_CALL_CONSTS, g->consts, g->n_consts);
    status = status ? status : append(g, TN_HEX_CALL_NODES, g->nodes, g->n_nodes);
    return status ? status : dsp_call(g->d, TN_HEX_CALL_PREPARE, &g->id, 1);
}

uint32_t dsp_pack(dsp *d, const uint32_t args[4])
{
    uint32_t status;
    do {
        status = dsp_call(d, TN_HEX_CALL_PACK, args, 4);
    } while (status == TN_HEX_OK && d->result[1]);
    return status;
}

uint32_t dsp_graph_prepare(dsp_graph *g)
{
    const uint32_t status = dsp_graph_send(g), pack[4] = {g->id};
    return status ? status : dsp_pack(g->d, pack);
}

uint32_t dsp_execute(dsp_graph *g, uint32_t n_in, uint32_t n_out, const uint32_t *offsets, const uint32_t *lengths, const dsp_buffer *buffer)
{
    uint32_t *io = word(g->d, TN_HEX_AT_IO);
    for (uint32_t i = 0; i < n_in + n_out; i++) {
        io[TN_HEX_IO_WORDS * i + TN_HEX_IO_HANDLE] = buffer->handle;
        io[TN_HEX_IO_WORDS * i + TN_HEX_IO_OFFSET] = offsets[i];
        io[TN_HEX_IO_WORDS * i + TN_HEX_IO_LENGTH] = lengths[i];
    }
    const uint32_t args[3] = {g->id, n_in, n_out};
    return dsp_call(g->d, TN_HEX_CALL_EXECUTE, args, 3);
}
