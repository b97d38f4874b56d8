// SPDX-License-Identifier: Apache-2.0
/*
 * Tenon for tools: making the files that applications open.
 *
 *     tenon_save_options options;
 *     tenon_save_options_init(&options);
 *     options.targets = "avx2,avx512";
 *     status = tenon_model_save(model, "classifier.tenon", &options, &error);
 *
 * The rules of tenon.h hold here too. docs/format.md tells what lies in a .tenon file.
 */
#ifndef TENON_BUILD_H
#define TENON_BUILD_H

#include <tenon/tenon.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tenon_save_options {
    size_t struct_size;
    const char *targets;          /* instruction sets to pack weights for, as in tenon_session_options.isa, joined by commas; "host": this
                                     machine; "none": no packed weights; NULL: "host". A model whose weights are packed for the machine that
                                     opens it packs nothing then, and its processes share the pages */
    tenon_session *session;       /* the choice of packed weights depends on the shapes of the inputs: those that are set in this session of the
                                     model count. NULL, or an input that is not set: the model's shape, with 1 for dims that it leaves open */
    int split_weights;            /* non-zero: weights in a file beside, PATH with its ending replaced by ".weights" */
    int drop_imported;            /* non-zero: leave out the graph as imported: smaller, but tensors that fusion swallowed cannot be asked for by
                                     name, and no_optimise is refused; of a model that comes quantised only the forms of arithmetic (integers,
                                     floats) that the targets and the precision ask for are kept, and every session runs one of these */
    tenon_key_fn key;             /* encrypt the weights (AES-256-GCM, each chunk by itself; needs libcrypto); NULL: do not */
    void *key_context;
    const char *key_name;         /* what the key function is asked for, now and when the file is opened; written to the file. NULL: "" */
    size_t chunk_bytes;           /* of weights that share a hash: 4096 to 2^30; 0: 2^20 */
    const char *precision;        /* the precision of the sessions that weights are packed for, as in tenon_session_options.precision: "fp32", or
                                     "int8" for a model that comes quantised; NULL: the default. Sessions of another one pack what they need */
} tenon_save_options;

static inline void tenon_save_options_init(tenon_save_options *options) { tenon_options_init(options, sizeof *options); }

/* Writes the model to a .tenon file, whole or not at all: the optimised graph, the imported one, the weights, and packed weights for each
   target. Results of the file are those of the model in the same form of arithmetic, bit for bit. options may be NULL. Operators of the application (ext.h) are saved by
   domain, name and version; the file opens with a registry that has them.
   Errors: IO (a full disk, a folder that cannot be written), INVALID_ARGUMENT (a target, shape or key that is none; a path that leads to a
   file which the model is read from; a precision that is not saved), UNSUPPORTED (a target
   that this build has no kernels for; no libcrypto), STATE (the model was opened with no_optimise or describe; the session is running), LIMIT, OUT_OF_MEMORY. */
TENON_API tenon_status tenon_model_save(tenon_model *model, const char *path, const tenon_save_options *options, tenon_error **error);

#ifdef __cplusplus
}
#endif

#endif
