// SPDX-License-Identifier: Apache-2.0
// --power: hints on speed against energy, read from KEY=VALUE pairs, and a note for each that this machine does not follow.
// Ownership: none. Threads: one.
#include "cli_session.h"

#include "cli_text.h"

#include <stdio.h>
#include <string.h>

typedef struct key {
    const char *name, *field;          // as typed, and in the STATISTICS report
    const char *words;                 // values by name, from the first number on; NULL: a number
    int first;
    size_t offset;
} key;

#define AT(member) offsetof(tenon_power, member)

static const key keys[] = {
    {"affinity", "affinity", "none big little high-performance power-save", 0, AT(affinity)},
    {"gpu-performance", "gpu_performance", "low normal high", 1, AT(gpu_performance)},
    {"gpu-priority", "gpu_priority", "low normal high", 1, AT(gpu_priority)},
    {"dsp-level", "dsp_level", NULL, 0, AT(dsp_level)},
    {"dsp-dcvs", "dsp_dcvs", "off on", 1, AT(dsp_dcvs)},
    {"dsp-latency", "dsp_latency_us", NULL, 0, AT(dsp_latency_us)},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

// The number of a word among words with spaces between, or -1.
static int index_of(const char *words, const char *word, size_t length)
{
    for (int n = 0; *words; n++) {
        const size_t here = strcspn(words, " ");
        if (here == length && strncmp(words, word, length) == 0) {
            return n;
        }
        words += here + (words[here] == ' ');
    }
    return -1;
}

static bool read_value(const key *k, const char *text, size_t length, int *value)
{
    char word[32];
    uint64_t number;
    if (k->words) {
        const int n = index_of(k->words, text, length);
        *value = k->first + n;
        return n >= 0;
    }
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), text);
    if (!tn_cli_parse_number(word, &number) || number > INT32_MAX) {
        return false;
    }
    *value = (int)number;
    return true;
}

int tn_cli_power_read(tenon_power *power, const char *text)
{
    tenon_power_init(power);
    while (text && *text) {
        const size_t length = strcspn(text, ","), name = strcspn(text, "=,"), given = name + (name < length);
        const key *found = NULL;
        int value = 0;
        for (size_t i = 0; i < KEYS; i++) {
            found = strlen(keys[i].name) == name && strncmp(keys[i].name, text, name) == 0 ? &keys[i] : found;
        }
        if (!found) {
            return tn_cli_fail(TN_EXIT_USAGE,
                               "--power takes affinity=, gpu-performance=, gpu-priority=, dsp-level=, dsp-dcvs= and dsp-latency=, not '%.*s'",
                               (int)length, text);
        }
        if (name == length || !read_value(found, text + given, length - given, &value)) {
            return tn_cli_fail(TN_EXIT_USAGE, "--power: %s is %s%s, not '%.*s'", found->name, found->words ? "one of: " : "a whole number",
                               found->words ? found->words : "", (int)(length - given), text + given);
        }
        *(int *)(void *)((char *)power + found->offset) = value;
        text += length + (text[length] == ',');
    }
    return TN_EXIT_GOOD;
}

void tn_cli_power_tell(const tn_cli_session *s)
{
    int code;
    cJSON *statistics = tn_cli_session_report(s, TENON_REPORT_STATISTICS, &code);
    const cJSON *fates = cJSON_GetObjectItemCaseSensitive(statistics, "power");
    for (size_t i = 0; i < KEYS; i++) {
        const cJSON *fate = cJSON_GetObjectItemCaseSensitive(fates, keys[i].field);
        if (strcmp(tn_cli_string(fate, "effect", ""), "not supported here") == 0) {
            tn_cli_note("--power: %s is not supported here: %s", keys[i].name, tn_cli_string(fate, "why", "no reason given"));
        }
    }
    cJSON_Delete(statistics);
}
