// SPDX-License-Identifier: Apache-2.0
// The emulator as a transport: the DSP program, embedded in the library, runs under qemu-hexagon as a child process. It is handed three
// descriptors: the control page, a socket for further ones (closed: the other side is gone), its own bytes. The host's signals are left
// alone: only this child is waited for, by its id. docs/hexagon.md.
// Ownership: start/stop. Threads: who has the link's turn.
#include "exec/hexagon/hex_link.h"

#include "base/macros.h"
#include "exec/hexagon/hex_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { QUIT_LOOKS = 100, QUIT_LOOK_NS = 500000, VERSION_MS = 3000 };   // how long a program may take to go, the emulator to tell its version
enum { FD_PAGE = 3, FD_SOCKET = 4, FD_PROGRAM = 5, FD_FREE = 10 };     // in the child; ours begin at FD_FREE

typedef struct emulator {
    tn_heap *heap;
    pid_t pid;                // 0: waited for
    int socket;
    int ended;                // its wait status
} emulator;

static const char *emulator_path(void)
{
    static const char *const paths[] = {"/usr/bin/qemu-hexagon", "/usr/local/bin/qemu-hexagon", "/opt/qemu/bin/qemu-hexagon",
                                        "/usr/bin/qemu-hexagon-static", "/usr/local/bin/qemu-hexagon-static"};
    for (size_t i = 0; i < TN_COUNT(paths); i++) {
        if (access(paths[i], X_OK) == 0) {
            return paths[i];
        }
    }
    return NULL;
}

static bool qemu_present(const char **what)
{
    *what = "there is no qemu-hexagon in /usr/bin, /usr/local/bin or /opt/qemu/bin (Debian: qemu-user)";
    return emulator_path() != NULL;
}

// A descriptor beyond those that the child's own are put on.
static int moved_up(int fd)
{
    const int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FD_FREE);
    if (fd >= 0) {
        close(fd);
    }
    return high;
}

// The program's bytes as a file of no name.
static int program_file(const uint8_t *bytes, size_t size)
{
    const int fd = moved_up(memfd_create("tenon-dsp", MFD_CLOEXEC));
    for (size_t done = 0; fd >= 0 && done < size;) {
        const ssize_t n = write(fd, bytes + done, size - done);
        if (n <= 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return fd;
}

static int spawn(emulator *e, const char *path, int page, int socket, int program)
{
    char file[32], page_text[8], socket_text[8];
    (void)snprintf(file, sizeof file, "/proc/self/fd/%d", FD_PROGRAM);
    (void)snprintf(page_text, sizeof page_text, "%d", FD_PAGE);
    (void)snprintf(socket_text, sizeof socket_text, "%d", FD_SOCKET);
    char name[] = "qemu-hexagon", cpu[] = "-cpu", v67[] = "v67";
    char *const argv[] = {name, cpu, v67, file, page_text, socket_text, NULL}, *const env[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return ENOMEM;
    }
    int error = posix_spawnattr_init(&attr);
    if (error == 0) {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0) || posix_spawn_file_actions_adddup2(&actions, 0, 1) ||
                posix_spawn_file_actions_adddup2(&actions, 0, 2) || posix_spawn_file_actions_adddup2(&actions, page, FD_PAGE) ||
                posix_spawn_file_actions_adddup2(&actions, socket, FD_SOCKET) ||
                posix_spawn_file_actions_adddup2(&actions, program, FD_PROGRAM) || posix_spawnattr_setsigmask(&attr, &none) ||
                posix_spawnattr_setsigdefault(&attr, &all) ||
                posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        error = error ? ENOMEM : posix_spawn(&e->pid, path, &actions, &attr, argv, env);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static bool qemu_alive(void *state, char *how, size_t size)
{
    emulator *e = state;
    if (e->pid > 0) {
        const pid_t ended = waitpid(e->pid, &e->ended, WNOHANG);
        if (ended == 0 || (ended < 0 && errno == EINTR)) {
            return true;
        }
        if (ended < 0) {
            e->ended = 0;     // somebody else's wait took it
        }
        e->pid = 0;
    }
    if (WIFSIGNALED(e->ended)) {
        (void)snprintf(how, size, "signal %d", WTERMSIG(e->ended));
    } else {
        (void)snprintf(how, size, "exit status %d", WEXITSTATUS(e->ended));
    }
    return false;
}

// Whether it ends by itself within a moment.
static bool ends(emulator *e)
{
    char how[64];
    for (int i = 0; i < QUIT_LOOKS; i++) {
        const struct timespec look = {.tv_nsec = QUIT_LOOK_NS};
        if (!qemu_alive(e, how, sizeof how)) {
            return true;
        }
        (void)nanosleep(&look, NULL);
    }
    return false;
}

static void qemu_stop(void *state, bool asked)
{
    emulator *e = state;
    if (!e) {
        return;
    }
    if (e->pid > 0 && !(asked && ends(e))) {
        kill(e->pid, SIGKILL);
        while (waitpid(e->pid, &e->ended, 0) < 0 && errno == EINTR) {
        }
    }
    if (e->socket >= 0) {
        close(e->socket);
    }
    tn_give(e->heap, e);
}

static tn_status qemu_start(void **out, tn_heap *heap, int page_fd, const tn_hex_options *options, tn_diag *diag)
{
    const char *path = emulator_path(), *what;
    int pair[2] = {-1, -1}, error;
    *out = NULL;
    if (!path) {
        (void)qemu_present(&what);
        return tn_fail(diag, TN_DEVICE, "hexagon", "%s", what);
    }
    emulator *e = tn_take_zero(heap, 1, sizeof *e);
    if (!e) {
        return tn_fail_memory(diag, "hexagon", sizeof *e);
    }
    e->heap = heap;
    e->socket = -1;
    const int program = options->program ? program_file(options->program, options->program_size) : program_file(tn_hex_program, tn_hex_program_size);
    if (program < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        error = errno;
    } else {
        pair[0] = moved_up(pair[0]);
        pair[1] = moved_up(pair[1]);
        error = pair[0] < 0 || pair[1] < 0 ? EMFILE : spawn(e, path, page_fd, pair[1], program);
    }
    e->socket = pair[0];
    if (pair[1] >= 0) {
        close(pair[1]);
    }
    if (program >= 0) {
        close(program);
    }
    if (error) {
        e->pid = 0;
        qemu_stop(e, false);
        return tn_fail(diag, TN_DEVICE, "hexagon", "%s could not be started: %s", path, strerror(error));
    }
    // The emulator would write a file of its whole memory when the program it runs dies.
    const struct rlimit none = {0, 0};
    (void)prlimit(e->pid, RLIMIT_CORE, &none, NULL);
    *out = e;
    return TN_OK;
}

// One byte with the descriptor beside it.
static tn_status qemu_send_fd(void *state, int fd, void *data, size_t bytes)
{
    (void)data, (void)bytes;
    const emulator *e = state;
    char byte = 0;
    struct iovec piece = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    ssize_t sent;
    do {
        sent = sendmsg(e->socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == 1 ? TN_OK : TN_DEVICE;
}

// ---- what is there ----

// The text behind the word "version" of what the emulator says of itself; "" where it says nothing in time.
static void read_version(int fd, char *version, size_t size)
{
    char said[256] = "";
    size_t n = 0;
    struct pollfd look = {.fd = fd, .events = POLLIN};
    while (n < sizeof said - 1 && poll(&look, 1, VERSION_MS) > 0) {
        const ssize_t got = read(fd, said + n, sizeof said - 1 - n);
        if (got <= 0) {
            break;
        }
        n += (size_t)got;
    }
    const char *at = strstr(said, "version ");
    (void)snprintf(version, size, "%.*s", at ? (int)strcspn(at + 8, " \n") : 0, at ? at + 8 : "");
}

static void qemu_describe(char *text, size_t size)
{
    const char *path = emulator_path();
    char name[] = "qemu-hexagon", ask[] = "--version", version[48] = "";
    char *const argv[] = {name, ask, NULL}, *const env[] = {NULL};
    int ends[2];
    pid_t pid;
    posix_spawn_file_actions_t actions;
    text[0] = '\0';
    if (!path || pipe2(ends, O_CLOEXEC) != 0) {
        return;
    }
    if (posix_spawn_file_actions_init(&actions) == 0) {
        const bool good = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0) == 0 &&
                          posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0 && posix_spawn(&pid, path, &actions, NULL, argv, env) == 0;
        close(ends[1]);
        ends[1] = -1;
        if (good) {
            read_version(ends[0], version, sizeof version);
            kill(pid, SIGKILL);
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
            }
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[0]);
    if (ends[1] >= 0) {
        close(ends[1]);
    }
    (void)snprintf(text, size, "%s %s", path, version[0] ? version : "of unknown version");
}

static pid_t qemu_process(void *state) { return ((emulator *)state)->pid; }

const tn_hex_transport tn_hex_qemu = {.name = "qemu", .quits = true, .spares = true, .present = qemu_present, .start = qemu_start, .alive = qemu_alive,
                                      .send_fd = qemu_send_fd, .stop = qemu_stop, .process = qemu_process, .describe = qemu_describe};
