// SPDX-License-Identifier: Apache-2.0
// Tables of measured tiles: some are embedded (exec/opencl/tune/tables, found by the device's name), one more is in the folder of built
// programs, where `tenon tune` writes it. A table is text:
//   tenon-opencl-tiles VERSION          of the kernels: tiles of others are not for these
//   device NAME                         a part of the device's name
//   driver VERSION                      or * for any
//   LAYER OB P SPLIT_T SPLIT_C LANES_X LANES_Y
// Files are untrusted: a line that is not whole or holds a tile out of range is left out.
// Ownership: the context owns the rows. Threads: behind the context's lock.
#ifndef TN_CL_TABLE_H
#define TN_CL_TABLE_H

#include "base/text.h"
#include "exec/opencl/tune/cl_tile.h"

#define TN_CL_TILE_VERSION 1

typedef struct tn_cl_table_row {
    char layer[TN_CL_LAYER_TEXT];
    tn_cl_tile tile;
} tn_cl_table_row;

// Adds the rows of a text when it is of this device; rows of the same layer are replaced. The number of rows taken.
size_t tn_cl_table_read(tn_cl_table *table, tn_heap *heap, const tn_cl_facts *facts, const char *text, size_t length);
void tn_cl_table_release(tn_cl_table *table, tn_heap *heap);

// Whether a text is a table of some device, each line of it a row in range.
bool tn_cl_table_whole(const char *text, size_t length);

// What is embedded, and what is in the folder (NULL: none); read once each.
void tn_cl_table_load(tn_cl_context *cl, const char *folder);

// Sets one row. false: no memory.
bool tn_cl_table_put(tn_cl_context *cl, const char *layer, const tn_cl_tile *tile);
// The whole table of a context as text, and to the device's file in the folder. Errors: OUT_OF_MEMORY, IO.
void tn_cl_table_write(tn_cl_context *cl, tn_text *text);
tn_status tn_cl_table_save(tn_cl_context *cl, const char *folder, tn_diag *diag);

bool tn_cl_table_find(tn_cl_context *cl, const tn_cl_layer *layer, tn_cl_tile *tile);

// Name of the device's table in a folder.
#define TN_CL_TABLE_PATH 512
void tn_cl_table_path(const tn_cl_facts *facts, const char *folder, char path[TN_CL_TABLE_PATH]);

#endif
