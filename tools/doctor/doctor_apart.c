// SPDX-License-Identifier: Apache-2.0
// A child and a pipe.
#include "doctor_apart.h"

#include "cli.h"
#include "cli_text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void work_and_end(int to, char *(*work)(const char *argument), const char *argument)
{
    char *text = work(argument);
    size_t left = text ? strlen(text) : 0;
    for (const char *at = text; left;) {
        const ssize_t n = write(to, at, left);
        if (n < 0 && errno != EINTR) {
            _exit(1);
        }
        at += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    _exit(text ? 0 : 1);
}

// All that comes until the other end is closed. false: it was not closed in time.
static bool read_all(int from, double until, char **text)
{
    size_t used = 0, room = 0;
    for (;;) {
        const double left = until - tn_cli_seconds();
        struct pollfd waiting = {.fd = from, .events = POLLIN};
        const int ready = left > 0 ? poll(&waiting, 1, (int)(1e3 * left) + 1) : 0;
        if (ready == 0) {
            return false;
        }
        if (used + 1 >= room) {
            room = room ? 2 * room : 4096;
            *text = tn_cli_grow(*text, room, 1);
            (*text)[used] = 0;
        }
        const ssize_t n = ready > 0 ? read(from, *text + used, room - used - 1) : -1;
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return n == 0;
        }
        used += n > 0 ? (size_t)n : 0;
        (*text)[used] = 0;
    }
}

char *tn_doctor_apart(char *(*work)(const char *argument), const char *argument, unsigned seconds, char *why, size_t size)
{
    int ends[2], status = 0;
    char *text = NULL;
    (void)fflush(NULL);      // or the child would write it once more
    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)snprintf(why, size, "no pipe: %s", strerror(errno));
        return NULL;
    }
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        work_and_end(ends[1], work, argument);
    }
    (void)close(ends[1]);
    const bool whole = child > 0 && read_all(ends[0], tn_cli_seconds() + seconds, &text);
    (void)close(ends[0]);
    if (child < 0) {
        (void)snprintf(why, size, "no process: %s", strerror(errno));
        return NULL;
    }
    if (!whole) {
        (void)kill(child, SIGKILL);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (whole && WIFEXITED(status) && WEXITSTATUS(status) == 0 && text) {
        return text;
    }
    if (!whole) {
        (void)snprintf(why, size, "no answer within %u seconds", seconds);
    } else if (WIFSIGNALED(status)) {
        (void)snprintf(why, size, "its driver ended the process by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
        (void)snprintf(why, size, "its driver ended the process with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    free(text);
    return NULL;
}
