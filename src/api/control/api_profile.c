// SPDX-License-Identifier: Apache-2.0
// Recording what the runs of a session do: begin, end, report. The recorder itself is exec/profile.c.
// Ownership: the session owns its recorder. Threads: one, that of the session.
#include "api/api.h"

#include "base/text.h"

#define MAX_EVENTS ((size_t)1 << 26)

tenon_status tenon_session_profile(tenon_session *session, size_t events, tenon_error **error)
{
    tn_diag diag;
    const tn_status idle = tn_api_idle(session, &diag);
    if (idle != TN_OK) {
        return tn_api_fail(error, idle, &diag);
    }
    if (events > MAX_EVENTS) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "events", "%zu events are more than %zu", events, MAX_EVENTS);
    }
    tn_profile_destroy(session->profile);
    session->profile = NULL;
    if (events) {
        session->profile = tn_profile_create(session->heap, events, tn_workers_count(session->workers));
        if (!session->profile) {
            return tn_api_refuse(error, TN_OUT_OF_MEMORY, "events", "no memory to record %zu events", events);
        }
    }
    return TENON_OK;
}
