// SPDX-License-Identifier: Apache-2.0
// The tables of rows, one for each file of this folder and of domains/. A new file adds its line here and in onnx_rows.c.
// Ownership: const data. Threads: any.
#ifndef TN_ONNX_ROWS_H
#define TN_ONNX_ROWS_H

#include "import/onnx/onnx_map.h"

// An operator that maps one to one, without attributes.
#define TN_ROW(foreign, first, ours)                                                                                               \
    {                                                                                                                              \
        .type = foreign, .since = first, .op = &tn_op_##ours                                                                       \
    }

extern const tn_onnx_table tn_onnx_control;
extern const tn_onnx_table tn_onnx_math;
extern const tn_onnx_table tn_onnx_nn;
extern const tn_onnx_table tn_onnx_norm;
extern const tn_onnx_table tn_onnx_move;
extern const tn_onnx_table tn_onnx_index;
extern const tn_onnx_table tn_onnx_make;
extern const tn_onnx_table tn_onnx_quant;
extern const tn_onnx_table tn_onnx_seq;
extern const tn_onnx_table tn_onnx_sequence;
extern const tn_onnx_table tn_onnx_signal;
extern const tn_onnx_table tn_onnx_strings;
extern const tn_onnx_table tn_onnx_vision;
// of other domains, in domains/
extern const tn_onnx_table tn_onnx_contrib;
extern const tn_onnx_table tn_onnx_contrib_attention;
extern const tn_onnx_table tn_onnx_contrib_layers;
extern const tn_onnx_table tn_onnx_contrib_quant;
extern const tn_onnx_table tn_onnx_contrib_weights;
extern const tn_onnx_table tn_onnx_gradient;
extern const tn_onnx_table tn_onnx_ml;
extern const tn_onnx_table tn_onnx_preview;
extern const tn_onnx_table tn_onnx_train;

// Attributes of convolutions, which come in several domains and types.
#define TN_ONNX_CONV_FIELDS 6
extern const char *const tn_onnx_auto_pads[];                          // in the order of TN_PAD_NOTSET ...
extern const tn_onnx_field tn_onnx_conv_fields[TN_ONNX_CONV_FIELDS];   // of tn_conv_attr

// LSTM, which another domain has with other weights.
void tn_onnx_map_lstm(tn_onnx_node *node);

// Shapes of the usual helpers of compositions.
tn_value *tn_onnx_unsqueeze(tn_onnx_node *node, tn_value *x, const int64_t *axes, size_t count);
tn_value *tn_onnx_shape_of(tn_onnx_node *node, tn_value *x);

#endif
