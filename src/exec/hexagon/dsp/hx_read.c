// SPDX-License-Identifier: Apache-2.0
// Reads the records of a graph. Everything is checked here or in the operator's check: ids, counts, types, ranges; sizes are kept below 2^28
// elements so that later sums of offsets cannot overflow.
// Ownership: copies all it keeps into the graph's pool. Threads: the serving thread.
#include "exec/hexagon/dsp/hx_graph.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum { MAX_COUNT = 1 << 28, MAX_WORDS = 1 << 20, POOL_BLOCK = 262144, POOL_HEAD = 128 };

// ---- pool ----

uint32_t tn_hx_starved;

void *tn_hx_take(size_t bytes)
{
    void *at = tn_hx_os_table.take(bytes);
    tn_hx_starved |= !at;
    return at;
}

void *tn_hx_pool_take(tn_hx_pool *pool, uint32_t bytes)
{
    if (bytes > 0x40000000u) {
        return NULL;
    }
    bytes = (bytes + TN_HX_VECTOR - 1) & ~(uint32_t)(TN_HX_VECTOR - 1);
    if (bytes > pool->size - pool->used) {
        const uint32_t size = bytes + POOL_HEAD > POOL_BLOCK ? bytes + POOL_HEAD : POOL_BLOCK;
        uint8_t *block = tn_hx_take(size);
        if (!block) {
            return NULL;
        }
        ((uint8_t **)block)[0] = pool->block;
        ((uint32_t *)block)[1] = size;
        pool->block = block;
        pool->size = size;
        pool->used = POOL_HEAD;
        pool->total += size;
    }
    void *at = pool->block + pool->used;
    pool->used += bytes;
    return at;
}

void tn_hx_pool_free(tn_hx_pool *pool)
{
    while (pool->block) {
        uint8_t *before = ((uint8_t **)pool->block)[0];
        tn_hx_os_table.give(pool->block, ((uint32_t *)pool->block)[1]);
        pool->block = before;
    }
    pool->used = pool->size = 0;
}

// Makes room for one more element in an array that doubles; the old one stays in the pool.
static int grow(tn_hx_graph *graph, void **array, uint32_t n, uint32_t *max, uint32_t size)
{
    if (n < *max) {
        return 1;
    }
    const uint32_t more = *max ? 2 * *max : 64;
    void *bigger = tn_hx_pool_take(&graph->pool, more * size);
    if (!bigger) {
        return 0;
    }
    if (n) {
        memcpy(bigger, *array, n * size);
    }
    *array = bigger;
    *max = more;
    return 1;
}

// ---- values ----

tn_hx_value *tn_hx_value_find(tn_hx_graph *graph, uint32_t id)
{
    if (id < graph->max_ids) {
        return graph->ids[id] ? &graph->values[graph->ids[id] - 1] : NULL;
    }
    if (id < TN_HEX_MAX_VALUES) {
        return NULL;              // no value of an id so small is without its place
    }
    for (uint32_t i = graph->n_values; id && i-- > 0;) {
        if (graph->values[i].id == id) {
            return &graph->values[i];
        }
    }
    return NULL;
}

static int32_t add_value(tn_hx_graph *graph)
{
    if (graph->n_values >= TN_HEX_MAX_VALUES ||
        !grow(graph, (void **)&graph->values, graph->n_values, &graph->max_values, sizeof(tn_hx_value))) {
        return -1;
    }
    tn_hx_value *v = &graph->values[graph->n_values];
    memset(v, 0, sizeof *v);
    v->as[TN_HX_PLAIN] = v->as[TN_HX_QUAD] = v->host = -1;
    v->output = -1;
    v->first = v->last = -1;
    return (int32_t)graph->n_values++;
}

// Remembers where the newest value is. Hosts that count from 1 on are served at once, others by a search.
static int remember(tn_hx_graph *graph, uint32_t id)
{
    if (id >= TN_HEX_MAX_VALUES) {
        return 1;
    }
    while (id >= graph->max_ids) {
        if (!grow(graph, (void **)&graph->ids, graph->max_ids, &graph->max_ids, sizeof *graph->ids)) {
            return 0;
        }
    }
    graph->ids[id] = (int32_t)graph->n_values;
    return 1;
}

int32_t tn_hx_value_like(tn_hx_graph *graph, int32_t of, int layout)
{
    const int32_t at = add_value(graph);
    if (at < 0) {
        return -1;
    }
    tn_hx_value *v = &graph->values[at];
    const tn_hx_value *old = &graph->values[of];
    v->id = 0;
    v->dtype = old->dtype;
    v->rank = old->rank;
    v->zero = old->zero;
    memcpy(v->dims, old->dims, sizeof v->dims);
    v->count = old->count;
    v->size = old->size;
    v->layout = (uint8_t)layout;
    v->produced = 1;
    v->family = at;
    return at;
}

static uint32_t read_value(tn_hx_graph *graph, tn_hex_cursor *in, int is_const)
{
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 4};
    const uint32_t id = graph->fault = tn_hex_get(in);
    const uint32_t dtype = tn_hex_get(in), zero = tn_hex_get(in), rank = tn_hex_get(in);
    if (in->failed || rank > TN_HEX_MAX_RANK) {
        return TN_HEX_WHY_RECORD;
    }
    if (id == 0 || tn_hx_value_find(graph, id)) {
        return TN_HEX_WHY_ID;
    }
    if (dtype == 0 || dtype >= sizeof sizes) {
        return TN_HEX_WHY_DTYPE;
    }
    const int32_t least = dtype == TN_HEX_U8 ? 0 : dtype == TN_HEX_S8 ? -128 : 0;
    const int32_t most = dtype == TN_HEX_U8 ? 255 : dtype == TN_HEX_S8 ? 127 : 0;
    if ((int32_t)zero < least || (int32_t)zero > most) {
        return TN_HEX_WHY_ATTR;
    }
    const int32_t at = add_value(graph);
    if (at < 0 || !remember(graph, id)) {
        return TN_HEX_WHY_LIMIT;
    }
    tn_hx_value *v = &graph->values[at];
    v->id = id;
    v->dtype = (uint8_t)dtype;
    v->size = sizes[dtype];
    v->rank = (uint8_t)rank;
    v->zero = (int32_t)zero + (dtype == TN_HEX_S8 ? 128 : 0);
    v->count = 1;
    v->family = at;
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t dim = tn_hex_get(in);
        if (in->failed || dim == 0 || (uint64_t)v->count * dim > MAX_COUNT) {
            return TN_HEX_WHY_SHAPE;
        }
        v->dims[i] = (int32_t)dim;
        v->count *= dim;
    }
    if (is_const) {
        v->origin = TN_HX_CONST;
        v->produced = 1;
        v->flip = dtype == TN_HEX_S8;
        const uint32_t handle = tn_hex_get(in);
        v->handle = handle ? handle : graph->records_handle;
        v->offset = tn_hex_get(in);
        v->length = tn_hex_get(in);
        if (in->failed) {
            return TN_HEX_WHY_RECORD;
        }
        if (v->length != v->count * v->size || !tn_hx_range(v->handle, v->offset, v->length)) {
            return TN_HEX_WHY_RANGE;
        }
    }
    return TN_HEX_WHY_NONE;
}

static uint32_t read_border(tn_hx_graph *graph, tn_hex_cursor *in, int is_input)
{
    const uint32_t id = graph->fault = tn_hex_get(in);
    tn_hx_value *v = tn_hx_value_find(graph, id);
    if (in->failed || !v) {
        return in->failed ? TN_HEX_WHY_RECORD : TN_HEX_WHY_ID;
    }
    if (graph->n_inputs + graph->n_outputs >= TN_HEX_IO_MAX) {
        return TN_HEX_WHY_LIMIT;
    }
    if (!graph->inputs) {
        graph->inputs = tn_hx_pool_take(&graph->pool, TN_HEX_IO_MAX * sizeof(int32_t));
        graph->outputs = tn_hx_pool_take(&graph->pool, TN_HEX_IO_MAX * sizeof(int32_t));
        if (!graph->inputs || !graph->outputs) {
            return TN_HEX_WHY_LIMIT;
        }
    }
    const int32_t at = (int32_t)(v - graph->values);
    if (is_input) {
        if (v->produced) {
            return TN_HEX_WHY_ORDER;
        }
        v->origin = TN_HX_INPUT;
        v->produced = 1;
        v->flip = v->dtype == TN_HEX_S8;
        graph->inputs[graph->n_inputs++] = at;
        return TN_HEX_WHY_NONE;
    }
    if (!v->produced || v->output >= 0) {
        return TN_HEX_WHY_ORDER;
    }
    v->output = (int16_t)graph->n_outputs;
    graph->outputs[graph->n_outputs++] = at;
    return TN_HEX_WHY_NONE;
}

// ---- nodes ----

static int32_t dtype_least(const tn_hx_value *v) { return v->dtype == TN_HEX_S8 ? -128 : 0; }

// Copies the words of an array attribute.
static const uint32_t *copy_words(tn_hx_graph *graph, tn_hex_cursor *in, uint32_t n)
{
    uint32_t *words = tn_hx_pool_take(&graph->pool, 4 * (n ? n : 1));
    if (words && n <= in->left / 4) {
        memcpy(words, in->bytes, 4 * n);   // both are little-endian
        in->bytes += 4 * n;
        in->left -= 4 * n;
    }
    return words;
}

// Keys with a fixed number of words and where those go; least and greatest allowed.
static const struct { uint8_t key, n; uint16_t field; int32_t least, most; } scalars[] = {
    {TN_HEX_ATTR_STRIDES, 2, offsetof(tn_hx_attr, strides), 1, 1024},
    {TN_HEX_ATTR_PADS, 4, offsetof(tn_hx_attr, pads), 0, 1024},
    {TN_HEX_ATTR_DILATIONS, 2, offsetof(tn_hx_attr, dilations), 1, 1024},
    {TN_HEX_ATTR_GROUP, 1, offsetof(tn_hx_attr, group), 1, 65536},
    {TN_HEX_ATTR_ROUNDING, 1, offsetof(tn_hx_attr, rounding), 0, 1},
    {TN_HEX_ATTR_CLAMP, 2, offsetof(tn_hx_attr, low), -65536, 65536},
    {TN_HEX_ATTR_KERNEL, 2, offsetof(tn_hx_attr, kernel), 1, 1024},
    {TN_HEX_ATTR_AXIS, 1, offsetof(tn_hx_attr, axis), 0, TN_HEX_MAX_RANK - 1},
    {TN_HEX_ATTR_COUNT_PAD, 1, offsetof(tn_hx_attr, count_pad), 0, 1},
    {TN_HEX_ATTR_MODE, 1, offsetof(tn_hx_attr, mode), 0, 1},
    {TN_HEX_ATTR_TRANSPOSE, 1, offsetof(tn_hx_attr, transpose), 0, 1},
    {TN_HEX_ATTR_FACTOR, 1, offsetof(tn_hx_attr, factor), INT32_MIN, INT32_MAX},
    {TN_HEX_ATTR_DOWN, 1, offsetof(tn_hx_attr, down), 0, 32},
    {TN_HEX_ATTR_EPSILON, 2, offsetof(tn_hx_attr, epsilon), INT32_MIN, INT32_MAX},
};

static uint32_t read_attr(tn_hx_graph *graph, tn_hx_attr *attr, tn_hex_cursor *in)
{
    const uint32_t key = tn_hex_get(in), n = tn_hex_get(in);
    if (in->failed || n > MAX_WORDS || n > in->left / 4) {
        return TN_HEX_WHY_RECORD;
    }
    for (uint32_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        if (scalars[i].key != key) {
            continue;
        }
        if (n != scalars[i].n) {
            return TN_HEX_WHY_ATTR;
        }
        for (uint32_t w = 0; w < n; w++) {
            const int32_t v = (int32_t)tn_hex_get(in);
            if (v < scalars[i].least || v > scalars[i].most) {
                return TN_HEX_WHY_ATTR;
            }
            ((int32_t *)((uint8_t *)attr + scalars[i].field))[w] = v;
        }
        attr->has_clamp |= key == TN_HEX_ATTR_CLAMP;
        return TN_HEX_WHY_NONE;
    }
    const struct { uint32_t key; uint32_t *n; const uint32_t **words; } arrays[] = {
        {TN_HEX_ATTR_MULTIPLIER, &attr->n_multipliers, &attr->multipliers},
        {TN_HEX_ATTR_SHIFT, &attr->n_shifts, &attr->shifts},
        {TN_HEX_ATTR_SCALES, &attr->n_scales, &attr->scales},
        {TN_HEX_ATTR_REGIONS, &attr->n_regions, &attr->regions},
    };
    for (uint32_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (arrays[i].key == key) {
            *arrays[i].n = n;
            *arrays[i].words = copy_words(graph, in, n);
            return *arrays[i].words ? TN_HEX_WHY_NONE : TN_HEX_WHY_LIMIT;
        }
    }
    return TN_HEX_WHY_ATTR;
}

// Whether all words lie in [least, least + range): two instructions a word, of which networks have tens of thousands. none: what a word of 0
// counts as.
static int lie_within(const uint32_t *words, uint32_t n, uint32_t least, uint32_t range, uint32_t none)
{
    uint32_t farthest = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t beyond = (words[i] ? words[i] : none) - least;
        farthest = beyond > farthest ? beyond : farthest;
    }
    return farthest < range;
}

// Scales and multipliers mean nothing unless they are positive and finite.
static int floats_fit(const uint32_t *words, uint32_t n) { return lie_within(words, n, 0x00800000u, 0x7f000000u, 0); }

static uint32_t check_attr(const tn_hx_attr *a)
{
    if (a->rounding == TN_HEX_FIXED_Q31 &&
        (a->n_shifts != a->n_multipliers || !lie_within(a->shifts, a->n_shifts, (uint32_t)-31, 62, 0) ||
         !lie_within(a->multipliers, a->n_multipliers, 0x40000000u, 0x40000000u, 0x40000000u))) {
        return TN_HEX_WHY_ATTR;
    }
    if (a->rounding == TN_HEX_FLOAT_RNE && !floats_fit(a->multipliers, a->n_multipliers)) {
        return TN_HEX_WHY_ATTR;
    }
    return floats_fit(a->scales, a->n_scales) ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

// The place in the table of operators; -1: unknown. Their ids are hashed once.
static int find_op(uint32_t id)
{
    static uint32_t known[TN_HEX_OP_COUNT];
    for (int op = 0; op < TN_HEX_OP_COUNT; op++) {
        known[op] = known[op] ? known[op] : tn_hex_op_id(op);
        if (known[op] == id) {
            return op;
        }
    }
    return -1;
}

static uint32_t read_node(tn_hx_graph *graph, tn_hex_cursor *in)
{
    tn_hx_node fresh, *node = &fresh;
    memset(node, 0, sizeof *node);
    node->id = graph->fault = tn_hex_get(in);
    node->op_id = tn_hex_get(in);
    node->n_in = tn_hex_get(in);
    if (in->failed || node->n_in > TN_HEX_MAX_OPERANDS || node->id == 0) {
        return TN_HEX_WHY_RECORD;
    }
    const int index = find_op(node->op_id);
    node->op = index < 0 ? NULL : tn_hx_ops[index];
    if (!node->op) {
        return TN_HEX_WHY_OP;
    }
    for (uint32_t i = 0; i < node->n_in; i++) {
        const uint32_t id = tn_hex_get(in);
        const tn_hx_value *v = tn_hx_value_find(graph, id);
        if (id && (!v || !v->produced)) {
            return v ? TN_HEX_WHY_ORDER : TN_HEX_WHY_ID;
        }
        node->in[i] = v ? (int32_t)(v - graph->values) : -1;
    }
    const uint32_t n_out = tn_hex_get(in), id = tn_hex_get(in);
    tn_hx_value *y = tn_hx_value_find(graph, id);
    if (in->failed || n_out != 1) {
        return TN_HEX_WHY_RECORD;
    }
    if (!y || y->produced) {
        return TN_HEX_WHY_ID;
    }
    if ((int)node->n_in < node->op->min_in || (int)node->n_in > node->op->max_in || node->in[0] < 0) {
        return TN_HEX_WHY_ARITY;
    }
    node->out = (int32_t)(y - graph->values);
    node->attr = (tn_hx_attr){.strides = {1, 1}, .dilations = {1, 1}, .kernel = {1, 1}, .group = 1};
    uint32_t why = TN_HEX_WHY_NONE;
    while (in->left && !why) {
        why = read_attr(graph, &node->attr, in);
    }
    why = why ? why : check_attr(&node->attr);
    if (why) {
        return why;
    }
    // The clamp in the terms of the u8 form, and within it.
    tn_hx_attr *a = &node->attr;
    const int wide = y->dtype == TN_HEX_S16;
    const int32_t least = wide ? INT16_MIN : 0, most = wide ? INT16_MAX : 255;
    a->low = a->has_clamp ? a->low - dtype_least(y) : least;
    a->high = a->has_clamp ? a->high - dtype_least(y) : most;
    a->low = a->low < least ? least : a->low;
    a->high = a->high > most ? most : a->high;
    if (a->low > a->high) {
        return TN_HEX_WHY_ATTR;
    }
    why = node->op->check(graph, node);
    if (why) {
        return why;
    }
    if (graph->n_nodes >= TN_HEX_MAX_NODES || !grow(graph, (void **)&graph->nodes, graph->n_nodes, &graph->max_nodes, sizeof *node)) {
        return TN_HEX_WHY_LIMIT;
    }
    y->produced = 1;
    graph->nodes[graph->n_nodes++] = *node;
    return TN_HEX_WHY_NONE;
}

uint32_t tn_hx_graph_read(tn_hx_graph *graph, uint8_t *bytes, uint32_t length, int only_consts)
{
    uint32_t why = TN_HEX_WHY_NONE;
    tn_hex_cursor all = {bytes, length, 0};
    while (all.left && !why) {
        tn_hex_cursor head = all;
        const uint32_t kind = tn_hex_get(&head), words = tn_hex_get(&head);
        graph->fault = 0;
        if (head.failed || words < 2 || words > all.left / 4) {
            return TN_HEX_WHY_RECORD;
        }
        tn_hex_cursor record = {head.bytes, 4 * words - 8, 0};
        if (only_consts != (kind == TN_HEX_RECORD_CONST)) {
            return TN_HEX_WHY_RECORD;
        }
        switch (kind) {
        case TN_HEX_RECORD_CONST:
        case TN_HEX_RECORD_VALUE: why = read_value(graph, &record, only_consts); break;
        case TN_HEX_RECORD_INPUT:
        case TN_HEX_RECORD_OUTPUT: why = read_border(graph, &record, kind == TN_HEX_RECORD_INPUT); break;
        case TN_HEX_RECORD_NODE: why = read_node(graph, &record); break;
        default: return TN_HEX_WHY_RECORD;
        }
        why = !why && record.left ? TN_HEX_WHY_RECORD : why;
        all.bytes += 4 * words;
        all.left -= 4 * words;
    }
    return why;
}
