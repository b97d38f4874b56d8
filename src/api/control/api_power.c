// SPDX-License-Identifier: Apache-2.0
// Power hints: checked against what any device could mean, handed to each open device, and reported. A hint that nothing here can follow
// is not a failure, since one configuration is written for many machines.
// Ownership: none. Threads: one, that of the session.
#include "api/api.h"

#include "base/text.h"
#include "sys/threads/affinity.h"

#define MAX_LATENCY_US 1000000

static const char *const policies[] = {
#define X(name, number, text) text,
    TN_AFFINITY_LIST(X)
#undef X
};

tn_status tn_api_power_check(const tenon_power *power, tn_diag *diag)
{
    if ((unsigned)power->affinity >= TN_COUNT(policies)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "affinity", "%d is not a policy", (int)power->affinity);
    }
    const struct { const char *name; int value, most; } fields[] = {
        {"gpu_performance", power->gpu_performance, 3}, {"gpu_priority", power->gpu_priority, 3}, {"dsp_level", power->dsp_level, 5},
        {"dsp_dcvs", power->dsp_dcvs, 2},               {"dsp_latency_us", power->dsp_latency_us, MAX_LATENCY_US},
    };
    for (size_t i = 0; i < TN_COUNT(fields); i++) {
        if (fields[i].value < 0 || fields[i].value > fields[i].most) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, fields[i].name, "%d is not from 0 (as it is) to %d", fields[i].value, fields[i].most);
        }
    }
    return TN_OK;
}

// A hint counts as applied when one device follows it; otherwise the first reason that a device gave is kept.
void tn_api_power_apply(tenon_session *session)
{
    const tn_power power = {
#define X(field) .field = session->power.field,
        TN_POWER_LIST(X)
#undef X
    };
    for (size_t d = 0; d < session->context.n_devices; d++) {
        tn_device *device = session->devices[d];
        tn_power_effect effect = {0};
        if (!device->vtable->power) {
            continue;
        }
        device->vtable->power(device, &power, &effect);
#define X(field)                                                                                          \
    session->power_effect.field.applied = session->power_effect.field.applied || effect.field.applied;    \
    session->power_effect.field.why = session->power_effect.field.why ? session->power_effect.field.why : effect.field.why;
        TN_POWER_LIST(X)
#undef X
    }
}

static void write_effect(tn_text *text, bool asked, bool applied, const char *why)
{
    tn_json_key_string(text, "effect", !asked ? "default" : applied ? "applied" : "not supported here");
    tn_json_key_string(text, "why", asked && !applied ? why : NULL);
    tn_json_close(text, '}');
}

void tn_api_power_report(const tenon_session *session, tn_text *text)
{
    const tenon_affinity affinity = session->power.affinity;
    tn_json_open(text, '{');
    tn_json_key(text, "affinity");
    tn_json_open(text, '{');
    tn_json_key_string(text, "asked", policies[affinity]);
    write_effect(text, affinity != TENON_AFFINITY_NONE, session->cores != NULL, session->affinity_note);
#define X(field)                                                                                                              \
    tn_json_key(text, #field);                                                                                                \
    tn_json_open(text, '{');                                                                                                  \
    tn_json_key(text, "asked");                                                                                               \
    tn_json_int(text, session->power.field);                                                                                  \
    write_effect(text, session->power.field != 0, session->power_effect.field.applied,                                        \
                 session->power_effect.field.why ? session->power_effect.field.why : "no device of this session follows it");
    TN_POWER_LIST(X)
#undef X
    tn_json_close(text, '}');
}
