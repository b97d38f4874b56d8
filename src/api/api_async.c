// SPDX-License-Identifier: Apache-2.0
// Asynchronous runs: one thread per session, made by the first such run, asleep on a condition between runs.
#include "api/api.h"

#include <string.h>
#include <unistd.h>

typedef struct tn_async {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool busy, stop;
    char **names;             // copies, for the run in progress
    size_t count;
    tenon_done_fn done;
    void *context;
} tn_async;

static void free_names(tenon_session *session, tn_async *a)
{
    for (size_t i = 0; a->names && i < a->count; i++) {
        tn_give(session->heap, a->names[i]);
    }
    tn_give(session->heap, a->names);
    a->names = NULL;
}

static void run_one(tenon_session *session, tn_async *a)
{
    tenon_error *error = NULL;
    const tenon_status status = tenon_session_run(session, (const char *const *)a->names, a->names ? a->count : 0, &error);
    if (a->done) {
        a->done(a->context, session, status, error);
    }
    tenon_error_destroy(error);
}

static void *serve(void *argument)
{
    tenon_session *session = argument;
    tn_async *a = session->async;
    pthread_mutex_lock(&a->lock);
    while (!a->stop || a->busy) {
        if (!a->busy) {
            pthread_cond_wait(&a->changed, &a->lock);
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        run_one(session, a);
        pthread_mutex_lock(&a->lock);
        free_names(session, a);
        a->busy = false;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static tn_status make(tenon_session *session, tn_diag *diag)
{
    tn_async *a = tn_take_zero(session->heap, 1, sizeof *a);
    if (!a) {
        return tn_fail_memory(diag, "async", sizeof *a);
    }
    session->async = a;
    if (pthread_mutex_init(&a->lock, NULL) == 0) {
        if (pthread_cond_init(&a->changed, NULL) == 0) {
            if (pthread_create(&a->thread, NULL, serve, session) == 0) {
                return TN_OK;
            }
            pthread_cond_destroy(&a->changed);
        }
        pthread_mutex_destroy(&a->lock);
    }
    session->async = NULL;
    tn_give(session->heap, a);
    return tn_fail(diag, TN_OUT_OF_MEMORY, "async", "the system refuses another thread");
}

static tn_status copy_names(tenon_session *session, tn_async *a, const char *const *names, size_t count, tn_diag *diag)
{
    a->count = count;
    a->names = count ? tn_take_zero(session->heap, count, sizeof *a->names) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (!names || !names[i]) {
            free_names(session, a);
            return tn_fail(diag, TN_INVALID_ARGUMENT, "names", "name %zu is NULL", i);
        }
        if (a->names) {
            a->names[i] = tn_api_copy_text(session->heap, names[i]);
        }
        if (!a->names || !a->names[i]) {
            free_names(session, a);
            return tn_fail_memory(diag, "names", count * sizeof *a->names);
        }
    }
    return TN_OK;
}

tenon_status tenon_session_run_async(tenon_session *session, const char *const *names, size_t count, tenon_done_fn done, void *context,
                                     tenon_error **error)
{
    tn_diag diag;
    tn_status status = tn_api_idle(session, &diag);
    if (status == TN_OK && !session->async) {
        status = make(session, &diag);
    }
    if (status == TN_OK) {
        tn_async *a = session->async;
        pthread_mutex_lock(&a->lock);
        if (a->busy) {
            status = tn_fail(&diag, TN_STATE, "session", "a run is in progress");
        } else {
            status = copy_names(session, a, names, count, &diag);
        }
        if (status == TN_OK) {
            a->done = done;
            a->context = context;
            a->busy = true;
            pthread_cond_broadcast(&a->changed);
        }
        pthread_mutex_unlock(&a->lock);
    }
    return tn_api_fail(error, status, &diag);
}

void tenon_session_wait(tenon_session *session)
{
    if (!session || !session->async || session->pid != getpid()) {     // a forked child has no thread to wait for
        return;
    }
    tn_async *a = session->async;
    if (pthread_equal(pthread_self(), a->thread)) {                    // a callback of the run itself would wait for ever
        return;
    }
    pthread_mutex_lock(&a->lock);
    while (a->busy) {
        pthread_cond_wait(&a->changed, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
}

void tn_async_destroy(tenon_session *session)
{
    tn_async *a = session->async;
    if (!a) {
        return;
    }
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    tn_give(session->heap, a);
    session->async = NULL;
}
