// SPDX-License-Identifier: Apache-2.0
// What models need of a registry of custom operators (api_custom.c).
// Ownership: a model holds a reference. Threads: any.
#ifndef TN_CUSTOM_H
#define TN_CUSTOM_H

#include "api/api.h"

void tn_registry_hold(tenon_registry *registry);
void tn_registry_drop(tenon_registry *registry);   // NULL allowed

// For the importer; NULL, or ends with NULL.
const struct tn_onnx_table *const *tn_registry_tables(const tenon_registry *registry);

#endif
