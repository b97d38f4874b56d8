// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef HAP_COMPUTE_RES_H
#define HAP_COMPUTE_RES_H

typedef struct compute_res_attr {
    unsigned words[16];
} compute_res_attr_t;
typedef struct compute_res_vtcm_page {
    unsigned page_list_len;
} compute_res_vtcm_page_t;

int HAP_compute_res_attr_init(compute_res_attr_t *attr);
int HAP_compute_res_attr_set_vtcm_param(compute_res_attr_t *attr, unsigned vtcm_size, unsigned char single_page);
int HAP_compute_res_attr_set_serialize(compute_res_attr_t *attr, unsigned char serialize);
unsigned HAP_compute_res_acquire(compute_res_attr_t *attr, unsigned timeout_us);
void *HAP_compute_res_attr_get_vtcm_ptr(compute_res_attr_t *attr);
int HAP_compute_res_release(unsigned context);
int HAP_compute_res_query_VTCM(unsigned application, unsigned *total, compute_res_vtcm_page_t *layout, unsigned *available,
                               compute_res_vtcm_page_t *available_layout);

#endif
