// SPDX-License-Identifier: Apache-2.0
// The calls of the wire. A request has been copied out of shared memory before it is looked at; every number in it is checked before it
// indexes or measures anything. One call at a time, whatever number of graphs and sessions share the process: a call reaches nothing of a
// graph but the one that it names.
// Ownership: static tables of buffers and graphs. Threads: the serving thread.
#include "exec/hexagon/dsp/hx_graph.h"
#include "exec/hexagon/dsp/hx_log.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum { VERSION = 102, ARCH = 67 };

tn_hx_buffer tn_hx_buffers[TN_HX_MAX_BUFFERS];
static tn_hx_graph graphs[TN_HX_MAX_GRAPHS];

typedef uint32_t call_fn(const uint32_t *arg, uint32_t *result);

static const tn_hx_os *const os = &tn_hx_os_table;
static const tn_hx_link *const link = &tn_hx_link_table;

uint8_t *tn_hx_range(uint32_t handle, uint32_t offset, uint32_t length)
{
    if (handle == 0 || handle > TN_HX_MAX_BUFFERS || !tn_hx_buffers[handle - 1].at) {
        return NULL;
    }
    const tn_hx_buffer *buffer = &tn_hx_buffers[handle - 1];
    return offset > buffer->bytes || length > buffer->bytes - offset ? NULL : buffer->at + offset;
}

static void invalidate(uint32_t handle, uint32_t offset, uint32_t length)
{
    const tn_hx_buffer *buffer = &tn_hx_buffers[handle - 1];
    link->invalidate(buffer->at, buffer->cookie, offset, length);
}

static void flush(uint32_t handle, uint32_t offset, uint32_t length)
{
    const tn_hx_buffer *buffer = &tn_hx_buffers[handle - 1];
    link->flush(buffer->at, buffer->cookie, offset, length);
}

static tn_hx_graph *find_graph(uint32_t number)
{
    return number > 0 && number <= TN_HX_MAX_GRAPHS && graphs[number - 1].used ? &graphs[number - 1] : NULL;
}

static uint32_t hello(const uint32_t *arg, uint32_t *result)
{
    (void)arg;
    result[0] = TN_HEX_PROTOCOL;
    result[1] = ARCH;
    result[2] = TN_HX_VECTOR;
    const uint32_t threads = link->config(TN_HEX_CONFIG_THREADS);
    result[3] = threads == 0 ? 1 : threads > TN_HEX_MAX_THREADS ? TN_HEX_MAX_THREADS : threads;
    result[4] = os->vtcm_bytes();
    result[5] = VERSION;
    result[6] = TN_HEX_OP_COUNT;
    return TN_HEX_OK;
}

static uint32_t map(const uint32_t *arg, uint32_t *result)
{
    void *cookie = NULL;
    void *at = link->map(arg[0], &cookie);   // takes the descriptor in any case
    if (!at) {
        return arg[0] && arg[0] % TN_HEX_PAGE == 0 ? TN_HEX_MEMORY : TN_HEX_PARAM;
    }
    for (uint32_t i = 0; i < TN_HX_MAX_BUFFERS; i++) {
        if (!tn_hx_buffers[i].at) {
            tn_hx_buffers[i] = (tn_hx_buffer){.at = at, .cookie = cookie, .bytes = arg[0]};
            result[0] = i + 1;
            return TN_HEX_OK;
        }
    }
    link->unmap(at, arg[0], cookie);
    return TN_HEX_MEMORY;
}

static uint32_t unmap(const uint32_t *arg, uint32_t *result)
{
    (void)result;
    if (!tn_hx_range(arg[0], 0, 0)) {
        return TN_HEX_PARAM;
    }
    tn_hx_buffer *buffer = &tn_hx_buffers[arg[0] - 1];
    if (buffer->uses) {
        return TN_HEX_STATE;
    }
    link->unmap(buffer->at, buffer->bytes, buffer->cookie);
    buffer->at = NULL;
    return TN_HEX_OK;
}

static uint32_t init(const uint32_t *arg, uint32_t *result)
{
    (void)arg;
    for (uint32_t i = 0; i < TN_HX_MAX_GRAPHS; i++) {
        if (!graphs[i].used) {
            memset(&graphs[i], 0, sizeof graphs[i]);
            graphs[i].used = 1;
            result[0] = i + 1;
            return TN_HEX_OK;
        }
    }
    return TN_HEX_MEMORY;
}

static uint32_t status_of(uint32_t why)
{
    switch (why) {
    case TN_HEX_WHY_NONE: return TN_HEX_OK;
    case TN_HEX_WHY_LIMIT: return tn_hx_starved ? TN_HEX_MEMORY : TN_HEX_UNSUPPORTED;
    case TN_HEX_WHY_OP:
    case TN_HEX_WHY_DTYPE: return TN_HEX_UNSUPPORTED;
    default: return TN_HEX_PARAM;
    }
}

// A graph that took in part of a faulty list is of no use any more.
static uint32_t finish(tn_hx_graph *graph, uint32_t why, uint32_t *result)
{
    if (why) {
        result[0] = graph->fault;
        result[1] = why;
        graph->failed = 1;
    }
    return status_of(why);
}

// Whether any of these bytes are packed weights of a graph: until it is torn down nothing but its own packing writes there.
static int holds_weights(uint32_t handle, const uint8_t *at, uint32_t bytes)
{
    for (uint32_t i = 0; tn_hx_buffers[handle - 1].uses && i < TN_HX_MAX_GRAPHS; i++) {
        const tn_hx_graph *graph = &graphs[i];
        if (graph->used && graph->weights_handle == handle && at < graph->weights + graph->weights_bytes && graph->weights < at + bytes) {
            return 1;
        }
    }
    return 0;
}

static uint32_t append(const uint32_t *arg, uint32_t *result, int consts)
{
    tn_hx_graph *graph = find_graph(arg[0]);
    uint8_t *bytes = tn_hx_range(arg[1], arg[2], arg[3]);
    if (!graph || !bytes || arg[3] % 4) {
        return TN_HEX_PARAM;
    }
    if (graph->prepared || graph->failed) {
        return TN_HEX_STATE;
    }
    invalidate(arg[1], arg[2], arg[3]);
    // Out of shared memory first: the host could change words between check and use.
    uint8_t *copy = arg[3] ? tn_hx_take(arg[3]) : NULL;
    if (!copy) {
        return arg[3] ? TN_HEX_MEMORY : TN_HEX_OK;
    }
    memcpy(copy, bytes, arg[3]);
    graph->records_handle = arg[1];
    const uint32_t why = tn_hx_graph_read(graph, copy, arg[3], consts);
    os->give(copy, arg[3]);
    return finish(graph, why, result);
}

static uint32_t consts(const uint32_t *arg, uint32_t *result) { return append(arg, result, 1); }
static uint32_t nodes(const uint32_t *arg, uint32_t *result) { return append(arg, result, 0); }

// Where the bytes of constants are, for as long as a call looks at them: afterwards the host may unmap them.
static uint32_t find_constants(tn_hx_graph *graph)
{
    for (uint32_t i = 0; i < graph->n_values; i++) {
        tn_hx_value *v = &graph->values[i];
        if (v->origin == TN_HX_CONST) {
            v->data = tn_hx_range(v->handle, v->offset, v->length);
            if (!v->data || (uintptr_t)v->data % v->size) {
                graph->fault = v->id;
                return TN_HEX_WHY_RANGE;
            }
            invalidate(v->handle, v->offset, v->length);
        }
    }
    return TN_HEX_WHY_NONE;
}

static void forget_constants(tn_hx_graph *graph)
{
    for (uint32_t i = 0; i < graph->n_values; i++) {
        if (graph->values[i].origin == TN_HX_CONST) {
            graph->values[i].data = NULL;
        }
    }
}

static uint32_t prepare(const uint32_t *arg, uint32_t *result)
{
    tn_hx_graph *graph = find_graph(arg[0]);
    if (!graph) {
        return TN_HEX_PARAM;
    }
    if (graph->prepared || graph->failed) {
        return TN_HEX_STATE;
    }
    uint32_t why = find_constants(graph);
    if (!why) {
        os->hvx_lock();
        why = tn_hx_graph_prepare(graph);
        os->hvx_unlock();
    }
    forget_constants(graph);
    if (why) {
        return finish(graph, why, result);
    }
    graph->prepared = 1;
    result[0] = graph->arena_bytes;
    result[1] = os->vtcm_bytes();
    result[2] = graph->pool.total;
    result[3] = graph->n_inputs;
    result[4] = graph->n_outputs;
    result[5] = (uint32_t)graph->weights_bytes;
    return TN_HEX_OK;
}

static uint32_t pack(const uint32_t *arg, uint32_t *result)
{
    tn_hx_graph *graph = find_graph(arg[0]);
    if (!graph) {
        return TN_HEX_PARAM;
    }
    if (!graph->prepared || graph->packed || graph->failed) {
        return TN_HEX_STATE;
    }
    const uint32_t handle = arg[1], bytes = (uint32_t)graph->weights_bytes;
    const uint8_t fresh = !handle || !arg[3];
    if (!graph->packing) {
        uint8_t *area = handle ? tn_hx_range(handle, arg[2], bytes) : os->take(bytes);
        if (!area || (uintptr_t)area % TN_HX_VECTOR || (handle && fresh && holds_weights(handle, area, bytes))) {
            return handle ? TN_HEX_PARAM : TN_HEX_MEMORY;
        }
        graph->weights = area;        // the graph's from here on
        graph->weights_handle = handle;
        graph->pack_fresh = fresh;
        if (handle) {
            tn_hx_buffers[handle - 1].uses++;
        }
        if (!fresh) {
            invalidate(handle, arg[2], bytes);
        }
    } else if (handle != graph->weights_handle || fresh != graph->pack_fresh || (handle && tn_hx_range(handle, arg[2], bytes) != graph->weights)) {
        return TN_HEX_STATE;
    }
    os->hvx_lock();
    uint32_t why = find_constants(graph), more = 0;
    why = why ? why : tn_hx_graph_pack(graph, &more);
    os->hvx_unlock();
    forget_constants(graph);
    if (why) {
        return finish(graph, why, result);
    }
    if (handle && fresh && !more) {
        flush(handle, arg[2], bytes);
    }
    graph->packed = !more;
    result[0] = fresh;
    result[1] = more;
    return TN_HEX_OK;
}

// Finds the host's bytes of each border value. All ranges are checked before any byte is touched.
static uint32_t bind(tn_hx_graph *graph, uint32_t *io)
{
    const uint32_t n = graph->n_inputs + graph->n_outputs;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *at = io + i * TN_HEX_IO_WORDS;
        tn_hx_value *v = &graph->values[i < graph->n_inputs ? graph->inputs[i] : graph->outputs[i - graph->n_inputs]];
        v = v->host >= 0 && i >= graph->n_inputs ? &graph->values[v->host] : v;
        v->data = tn_hx_range(at[TN_HEX_IO_HANDLE], at[TN_HEX_IO_OFFSET], at[TN_HEX_IO_LENGTH]);
        if (!v->data || at[TN_HEX_IO_LENGTH] != v->count * v->size || at[TN_HEX_IO_OFFSET] % v->size ||
            (i >= graph->n_inputs && holds_weights(at[TN_HEX_IO_HANDLE], v->data, at[TN_HEX_IO_LENGTH]))) {
            return TN_HEX_PARAM;
        }
    }
    for (uint32_t i = 0; i < graph->n_inputs; i++) {
        const uint32_t *at = io + i * TN_HEX_IO_WORDS;
        invalidate(at[TN_HEX_IO_HANDLE], at[TN_HEX_IO_OFFSET], at[TN_HEX_IO_LENGTH]);
    }
    return TN_HEX_OK;
}

static uint32_t execute(const uint32_t *arg, uint32_t *result)
{
    static uint32_t io[TN_HEX_IO_MAX * TN_HEX_IO_WORDS];
    tn_hx_graph *graph = find_graph(arg[0]);
    if (!graph || arg[1] != graph->n_inputs || arg[2] != graph->n_outputs) {
        return TN_HEX_PARAM;
    }
    if (!graph->packed) {
        return TN_HEX_STATE;
    }
    const uint64_t start = os->microseconds();
    const uint32_t n = graph->n_inputs + graph->n_outputs;   // TN_HEX_IO_MAX at most, or it would not be prepared
    link->io(io, 0, n * TN_HEX_IO_WORDS);
    const uint32_t status = bind(graph, io);
    if (status) {
        return status;
    }
    tn_hx_graph_run(graph);
    for (uint32_t i = graph->n_inputs; i < n; i++) {
        const uint32_t *at = io + i * TN_HEX_IO_WORDS;
        flush(at[TN_HEX_IO_HANDLE], at[TN_HEX_IO_OFFSET], at[TN_HEX_IO_LENGTH]);
    }
    uint64_t packets = 0;
    for (uint32_t i = 0; i < graph->n_steps; i++) {
        packets += graph->steps[i]->packets;
    }
    result[0] = (uint32_t)(os->microseconds() - start);
    result[1] = (uint32_t)packets;
    result[2] = (uint32_t)(packets >> 32);
    return TN_HEX_OK;
}

static uint32_t teardown(const uint32_t *arg, uint32_t *result)
{
    (void)result;
    tn_hx_graph *graph = find_graph(arg[0]);
    if (!graph) {
        return TN_HEX_PARAM;
    }
    tn_hx_graph_free(graph);
    graph->used = 0;
    return TN_HEX_OK;
}

static uint32_t power_level(const uint32_t *arg, uint32_t *result)
{
    (void)result;
    if (arg[0] > 100) {
        return TN_HEX_PARAM;
    }
    os->power_level(arg[0]);
    return TN_HEX_OK;
}

static uint32_t power_details(const uint32_t *arg, uint32_t *result)
{
    (void)result;
    os->power_details(arg[0], arg[1], arg[2]);
    return TN_HEX_OK;
}

static uint32_t perf(const uint32_t *arg, uint32_t *result)
{
    tn_hx_graph *graph = find_graph(arg[0]);
    uint8_t *bytes = tn_hx_range(arg[1], arg[2], arg[3]);
    if (!graph || !bytes || holds_weights(arg[1], bytes, arg[3])) {
        return TN_HEX_PARAM;
    }
    tn_hex_cursor to = {bytes, arg[3], 0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < graph->n_steps && to.left >= 4 * TN_HEX_PERF_WORDS; i++, n++) {
        const tn_hx_node *node = graph->steps[i];
        const uint32_t words[TN_HEX_PERF_WORDS] = {
            node->id, node->op_id, node->executions, (uint32_t)node->packets, (uint32_t)(node->packets >> 32), node->instructions,
            node->hvx, node->microseconds};
        for (uint32_t w = 0; w < TN_HEX_PERF_WORDS; w++) {
            tn_hex_put(&to, words[w]);
        }
    }
    flush(arg[1], arg[2], arg[3]);
    result[0] = n;
    return TN_HEX_OK;
}

static uint32_t reset_perf(const uint32_t *arg, uint32_t *result)
{
    (void)result;
    tn_hx_graph *graph = find_graph(arg[0]);
    if (!graph) {
        return TN_HEX_PARAM;
    }
    for (uint32_t i = 0; i < graph->n_steps; i++) {
        tn_hx_node *node = graph->steps[i];
        node->executions = node->instructions = node->hvx = node->microseconds = 0;
        node->packets = 0;
    }
    return TN_HEX_OK;
}

static uint32_t log_level(const uint32_t *arg, uint32_t *result)
{
    (void)result;
    tn_hx_log_level = arg[0];
    return TN_HEX_OK;
}

static const struct { uint32_t call, n_args, n_results; call_fn *run; const char *text; uint32_t of_graph; } rows[] = {
    {TN_HEX_CALL_HELLO, 0, 7, hello, "hello", 0},
    {TN_HEX_CALL_MAP, 1, 1, map, "map", 0},
    {TN_HEX_CALL_UNMAP, 1, 0, unmap, "unmap", 0},
    {TN_HEX_CALL_INIT, 0, 1, init, "init", 0},
    {TN_HEX_CALL_CONSTS, 4, 2, consts, "consts", 1},
    {TN_HEX_CALL_NODES, 4, 2, nodes, "nodes", 1},
    {TN_HEX_CALL_PREPARE, 1, 6, prepare, "prepare", 1},
    {TN_HEX_CALL_PACK, 4, 2, pack, "pack", 1},
    {TN_HEX_CALL_EXECUTE, 3, 3, execute, "execute", 1},
    {TN_HEX_CALL_TEARDOWN, 1, 0, teardown, "teardown", 1},
    {TN_HEX_CALL_POWER_LEVEL, 1, 0, power_level, "power_level", 0},
    {TN_HEX_CALL_POWER_DETAILS, 3, 0, power_details, "power_details", 0},
    {TN_HEX_CALL_PERF, 4, 1, perf, "perf", 1},
    {TN_HEX_CALL_RESET_PERF, 1, 0, reset_perf, "reset_perf", 1},
    {TN_HEX_CALL_LOG_LEVEL, 1, 0, log_level, "log_level", 0},
};

// Returns whether to go on.
static int serve_one(void)
{
    uint32_t request[TN_HEX_MESSAGE_WORDS], response[TN_HEX_MESSAGE_WORDS];
    link->receive(request);
    memset(response, 0, sizeof response);
    response[TN_HEX_MSG_SEQ] = request[TN_HEX_MSG_SEQ];
    response[TN_HEX_MSG_CALL] = request[TN_HEX_MSG_CALL];
    response[TN_HEX_MSG_STATUS] = request[TN_HEX_MSG_CALL] == TN_HEX_CALL_QUIT ? TN_HEX_OK : TN_HEX_UNSUPPORTED;
    os->self()->call = request[TN_HEX_MSG_CALL];
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].call != request[TN_HEX_MSG_CALL]) {
            continue;
        }
        response[TN_HEX_MSG_STATUS] = TN_HEX_PARAM;
        if (request[TN_HEX_MSG_N_ARGS] == rows[i].n_args) {
            os->self()->graph = rows[i].of_graph ? request[TN_HEX_MSG_ARG] : 0;
            tn_hx_starved = 0;
            response[TN_HEX_MSG_N_ARGS] = rows[i].n_results;
            response[TN_HEX_MSG_STATUS] = rows[i].run(request + TN_HEX_MSG_ARG, response + TN_HEX_MSG_ARG);
        }
        const uint32_t status = response[TN_HEX_MSG_STATUS];
        tn_hx_log(status ? 1 : 2, rows[i].text, status);
    }
    os->self()->call = os->self()->node = os->self()->graph = 0;
    link->reply(response);
    return request[TN_HEX_MSG_CALL] != TN_HEX_CALL_QUIT;
}

void tn_hx_serve(void)
{
    uint32_t result[TN_HEX_MESSAGE_ARGS];
    hello(NULL, result);
    os->power_level(50);   // HVX has no power without a vote; the host changes it by its own calls
    tn_hx_workers_start(result[3]);
    while (serve_one()) {
    }
}
