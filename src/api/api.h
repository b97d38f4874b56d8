// SPDX-License-Identifier: Apache-2.0
// What the files that implement tenon.h share: the structs behind the public handles and how failures become error objects.
// Ownership: a session holds a reference to its model. Threads: as tenon.h says.
#ifndef TN_API_H
#define TN_API_H

#include "exec/blocks.h"
#include "exec/program.h"
#include "import/import.h"
#include "pass/pass.h"
#include "sys/threads/thread_pool.h"
#include "tenon/tenon.h"

#include <pthread.h>
#include <sys/types.h>

// A graph optimised with certain values pinned, kept for the next session that asks for the same.
typedef struct tn_variant {
    struct tn_variant *next;
    tn_graph *graph;
    char *pinned;                 // names joined by '\n', in order
    bool integers;                // quantised arithmetic in its integer form
} tn_variant;

// The embedded tables of measured choices, as read for one set of tiers.
typedef struct tn_tables {
    struct tn_tables *next;
    uint32_t features;            // TN_CPU_* bits
    tn_choices choices;
} tn_tables;

struct tenon_model {
    tn_heap heap;
    atomic_uint references;       // the caller's handle and each session
    tn_file file;
    size_t file_bytes;
    const uint8_t *bytes;         // of the file, or what the caller gave
    tn_import import;             // the graph as in the file
    tenon_registry *registry;     // custom operators, held; or NULL
    tn_graph *optimised;          // may be import.graph when no_optimise
    bool integers;                // that of a model that comes quantised has the integer form
    tn_variant *variants;
    tn_weights weights;
    tn_tables *tables;            // read once for all sessions
    pthread_mutex_t lock;         // variants, tables
    bool has_lock, no_optimise;
    bool describe;                // only to be looked at
    uint64_t limit_tensor;
    tenon_log_fn log;
    void *log_context;
};

typedef struct tn_input {
    tn_tensor tensor;             // data: ours or the caller's
    void *held;                   // our copy
    size_t held_bytes;
    bool set;
    tn_arena objects;             // strings, items of sequences
} tn_input;

typedef struct tn_binding {
    struct tn_binding *next;
    char *name;
    void *data;
    size_t bytes;
    tn_dtype dtype;               // TN_NONE: not said
    tn_dtype made;                // what the model says that it computes there; TN_NONE: it does not
} tn_binding;

// What one set of wanted names runs by.
typedef struct tn_wanted {
    struct tn_wanted *next;
    char **names;                 // NULL: all of the model's outputs
    size_t count;
    tn_graph *graph;              // owned when names are given
    tn_program *program;
    tn_result_slot *results;
} tn_wanted;

// A value given for an input that has an initialiser. The optimised graph is made again with it as a constant, so that a run costs
// nothing more; giving another value later costs that work again.
typedef struct tn_override {
    struct tn_override *next;
    const char *name;             // the import's
    tn_tensor tensor;             // data is ours
    bool set;                     // by the caller, now
    bool active;                  // in the graphs that the session has
} tn_override;

struct tenon_session {
    tenon_model *model;
    tn_heap *heap;
    tn_workers *workers;
    tn_device *devices[4];
    tn_device *const *device_list;
    tn_plan_context context;
    tn_device *sharing;           // the application has tensors in its memory objects; NULL: none has
    tn_choices choices;           // measured ones, of this processor, with those of the cache folder; empty where there is none: the model's serve
    char *device, *pin, *cache, *store;
    tn_input *inputs;
    tn_tensor *feeds;             // what a run is given, one per input
    size_t n_inputs;
    tn_binding *bindings;
    tn_wanted *wanted;            // most recently used first
    size_t plan_cache;
    atomic_int cancel;
    uint64_t deadline_ns, limit_work, limit_peak;
    tenon_step_fn step;
    void *step_context;
    uint64_t runs, attempts;      // attempts: those that a run made again are counted each
    uint64_t retry_ns;            // when a device that failed may be asked again, on tn_clock_ns; context.dead: which did
    unsigned losses;              // failures for good since a run with devices succeeded
    bool ran;                     // results are there
    pid_t pid;                    // of the process that made it
    atomic_int running;           // a run or a planning is under way: what callbacks of it must not disturb
    tn_pool_shared *pool;         // held; NULL: own threads
    tn_graph *quantised;          // precision int8: the graph that is run; NULL: the model's
    bool integers;                // quantised arithmetic in its integer form: by price, or for a device, or asked for
    const tn_graph *other_form;   // of a model that comes quantised, where the session wants the form that `optimised` is not; a variant
    tn_block_cache blocks;
    tn_arena objects;             // of the last run
    unsigned *cores;              // the calling thread's while it runs, by the affinity policy; NULL: anywhere
    size_t n_cores;
    const char *affinity_note;    // why the policy changes nothing, or NULL
    tenon_power power;
    tn_power_effect power_effect;
    tn_override *overrides;
    tn_graph *own_import, *own_optimised;   // with the overrides; NULL: the model's serve
    tn_profile *profile;          // records runs; NULL: nobody asked
    struct tn_async *async;       // made by the first asynchronous run
    const uint32_t *features;     // plan for a processor with these TN_CPU_* bits, without running; NULL: this one
};

struct tenon_pool {
    tn_heap heap;
    pid_t pid;                    // of the process that has the threads
    tn_pool_shared *shared;
};

struct tenon_arenas {
    tn_heap heap;
    pid_t pid;
    tn_arena_pool *pool;
};

// Cores for a policy in the heap (*count of them); NULL with *note when the policy changes nothing.
unsigned *tn_api_cores(tn_heap *heap, tenon_affinity affinity, unsigned threads, size_t *count, const char **note);

// Puts the program for these names (NULL: all outputs) at the head of session->wanted.
tn_status tn_api_find_wanted(tenon_session *session, const char *const *names, size_t count, tn_diag *diag);

// Tensors in memory objects of the application, where the CPU touches them: host memory before a run, the objects after it.
tn_status tn_api_sync_inputs(tenon_session *session, tn_diag *diag);
tn_status tn_api_sync_results(tenon_session *session, tn_diag *diag);

// OK when the session may be changed now: STATE in another process than the one that made it, and while it runs or plans;
// INVALID_ARGUMENT for NULL. The first call of an entry: it clears the diag.
tn_status tn_api_idle(const tenon_session *session, tn_diag *diag);
// The same, and the session is running until tn_api_end, which must not be called after a failure.
tn_status tn_api_begin(tenon_session *session, tn_diag *diag);
void tn_api_end(tenon_session *session);

// No name is NULL.
tn_status tn_api_check_names(const char *const *names, size_t count, tn_diag *diag);

// What a run goes on with: checks, the program, the feeds. tn_api_blame says who is at fault when a status came of it.
tn_status tn_api_enter(tenon_session *session, const char *const *names, size_t count, tn_diag *diag);
tn_status tn_api_blame(const tenon_session *session, tn_status status);

// Fills session->feeds from the inputs that are set, and the limits that grow with them.
// Which table of measured choices the session's plans look at.
tn_status tn_api_find_choices(tenon_session *session, tn_diag *diag);

// Whether a shape (of any rank, no dim below 0) is one that the model takes here. A model that takes a scalar also takes one element of any
// rank, as other engines do: *shape is then made the scalar's.
tn_status tn_api_fit_shape(const tn_graph *graph, const tn_value *value, tn_shape *shape, tn_diag *diag);

tn_status tn_api_gather(tenon_session *session, tn_diag *diag);

// Hands the caller's buffers to the results that are wanted; refuses those that overlap what is read.
tn_status tn_api_bind_results(tenon_session *session, tn_diag *diag);

// Plans when the shapes of all inputs are fixed and no contents decide shapes.
tn_status tn_api_prepare_fixed(tenon_session *session, tn_diag *diag);

// Gives an input that has an initialiser a value (NOT_FOUND: there is no such input), and takes all such values back.
tn_status tn_api_override(tenon_session *session, const char *name, const tn_tensor *given, size_t bytes, tn_diag *diag);
void tn_api_override_clear(tenon_session *session);
void tn_api_override_destroy(tenon_session *session);
// Makes the session's graphs fit what is set; whatever was planned for others is dropped.
tn_status tn_api_override_apply(tenon_session *session, tn_diag *diag);
// Drops everything that was made for wanted names (api_session.c).
void tn_api_forget_wanted(tenon_session *session);

// Checks the hints and hands them to the devices that are open; what came of them goes into the STATISTICS report.
tn_status tn_api_power_check(const tenon_power *power, tn_diag *diag);
void tn_api_power_apply(tenon_session *session);
void tn_api_power_report(const tenon_session *session, struct tn_text *text);

// The graph that the session runs.
static inline const tn_graph *tn_api_graph(const tenon_session *session)
{
    if (session->quantised || session->own_optimised) {
        return session->quantised ? session->quantised : session->own_optimised;
    }
    return session->other_form ? session->other_form : session->model->optimised;
}

// Some of the model dequantises: it brings scales of its own.
bool tn_api_comes_quantised(const tenon_model *model);

// Precision int8: makes session->quantised by the samples among the options; without samples a model on bytes stays as it is.
tn_status tn_api_quantise(tenon_session *session, const tenon_session_options *options, tn_diag *diag);

// Fills session->devices, or fails with the reason; and gives them back.
tn_status tn_api_open_devices(tenon_session *session, const char *name, tn_diag *diag);
void tn_api_close_devices(tenon_session *session);

void tn_api_warn(const tenon_session *session, const tn_diag *diag);

// A device failed for good: unless strict forbids it, all is planned again without accelerators, and true comes back.
bool tn_api_lose_devices(tenon_session *session, tn_diag *diag);
// Before a run: a device that failed and can be had again is planned with again, when it is time to ask.
void tn_api_regain_devices(tenon_session *session);

// Ends the session's asynchronous thread, waiting for a run in progress.
void tn_async_destroy(tenon_session *session);

// Turns a recorded failure into *error (replacing an object that is there) and returns its status. Does nothing for TN_OK.
tenon_status tn_api_fail(tenon_error **error, tn_status status, const tn_diag *diag);

// As above for a failure found by the API itself.
tenon_status tn_api_refuse(tenon_error **error, tn_status status, const char *place, const char *format, ...) TN_PRINTF(4, 5);

// Copies an option struct of possibly another version: the caller's first struct_size bytes over our defaults. false: size is not sane.
bool tn_api_options(void *into, size_t size, const void *given);

void tn_model_release(tenon_model *model);

// Weights are encrypted and there is no key: the model is only described.
bool tn_api_closed(const tenon_model *model);

// A session; features not NULL: one that only plans, for another processor.
tn_status tn_session_make(tenon_session **out, tenon_model *model, const tenon_session_options *options, const uint32_t *features, tn_diag *diag);

// A string in the heap; NULL: no memory.
char *tn_api_copy_text(tn_heap *heap, const char *text);

#endif
