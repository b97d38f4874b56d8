// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef HAP_POWER_H
#define HAP_POWER_H

typedef enum {
    HAP_DCVS_VCORNER_SVS = 3, HAP_DCVS_VCORNER_NOM = 5, HAP_DCVS_VCORNER_TURBO = 7
} HAP_dcvs_voltage_corner_t;
typedef enum { HAP_power_set_HVX = 4, HAP_power_set_DCVS_v3 = 12 } HAP_Power_request_type;

typedef struct HAP_power_request {
    HAP_Power_request_type type;
    union {
        struct {
            unsigned char set_dcvs_enable, dcvs_enable, set_latency, set_core_params;
            unsigned latency;
            struct {
                HAP_dcvs_voltage_corner_t target_corner;
            } core_params;
        } dcvs_v3;
        struct {
            int power_up;
        } hvx;
    };
} HAP_power_request_t;

int HAP_power_set(void *context, HAP_power_request_t *request);

#endif
