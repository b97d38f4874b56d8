// SPDX-License-Identifier: Apache-2.0
// tenon doctor: what this machine offers, and why a device is not there.
#include "cmd.h"

#include "cli_session.h"
#include "cli_text.h"
#include "doctor_answer.h"
#include "doctor_apart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Drivers may compile for a while, abort when a tool of theirs is missing, or hang: what talks to one is a process of its own.
enum { MOST_SECONDS = 120 };

// What a device wants of the machine, by name; the rest is in its reason.
static const char *needs_of(const char *name)
{
    static const struct { const char *name, *needs; } list[] = {
        {"cpu", "nothing"},
        {"opencl", "an OpenCL 1.2 driver behind libOpenCL.so (Debian: ocl-icd-libopencl1 and a driver, pocl-opencl-icd for CPUs)"},
        {"hexagon", "qemu-hexagon (Debian: qemu-user), and clang and lld with the Hexagon target when the library is built"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return list[i].needs;
        }
    }
    return "see its documentation";
}

// Adds what a device needs, and the known-answer test of one that is there.
static void examine(cJSON *device, bool *good)
{
    char why[256] = "";
    const char *name = tn_cli_string(device, "name", "");
    cJSON_AddStringToObject(device, "needs", needs_of(name));
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(device, "present"))) {
        cJSON_AddStringToObject(device, "test", "absent");
        return;
    }
    char *answer = tn_doctor_apart(tn_doctor_answer, name, MOST_SECONDS, why, sizeof why);
    const char *said = answer ? answer : why;
    *good = *good && !*said;
    cJSON_AddStringToObject(device, "test", *said ? "failed" : "passed");
    if (*said) {
        cJSON_AddStringToObject(device, "test_said", said);
    }
    free(answer);
}

static void print_device(const cJSON *device)
{
    char size[24];
    const bool present = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(device, "present"));
    printf("%s%s%s  %s", tn_cli_bold(), tn_cli_string(device, "name", "?"), tn_cli_plain(), present ? "present" : "absent");
    if (!present) {
        printf(": %s\n  needs     %s\n", tn_cli_string(device, "reason", "no reason given"), tn_cli_string(device, "needs", "-"));
        return;
    }
    printf("\n  what      %s\n", tn_cli_string(device, "what", "-"));
    printf("  limits    %s\n", tn_cli_string(device, "limits", "-"));
    printf("  cores     %.0f\n", tn_cli_number(device, "cores", 0));
    const double memory = tn_cli_number(device, "memory_bytes", 0);
    if (memory > 0) {
        printf("  memory    %s\n", tn_cli_size_text(size, memory));
    }
    const cJSON *feature;
    printf("  features ");
    cJSON_ArrayForEach(feature, cJSON_GetObjectItemCaseSensitive(device, "features"))
    {
        printf(" %s", cJSON_IsString(feature) ? feature->valuestring : "?");
    }
    printf("\n  needs     %s\n  test      %s %s\n", tn_cli_string(device, "needs", "-"), tn_cli_string(device, "test", "-"),
           tn_cli_string(device, "test_said", ""));
}

static char *list_devices(const char *unused)
{
    (void)unused;
    return tenon_devices_json();
}

static int run(const tn_cli_options *options)
{
    char why[256] = "no memory";
    char *text = tn_doctor_apart(list_devices, "", MOST_SECONDS, why, sizeof why);
    cJSON *tree = text ? cJSON_Parse(text) : NULL;
    free(text);
    if (!tree) {
        return tn_cli_fail(TN_EXIT_LIMIT, "the list of devices could not be made: %s", why);
    }
    bool good = true;
    cJSON *each;
    cJSON_ArrayForEach(each, cJSON_GetObjectItemCaseSensitive(tree, "devices"))
    {
        examine(each, &good);
    }
    if (options->json) {
        cJSON *root = tn_cli_document("doctor", options);
        cJSON_AddStringToObject(root, "version", tenon_version());
        cJSON_AddItemToObject(root, "devices", cJSON_DetachItemFromObject(tree, "devices"));
        tn_cli_print_document(root);
    } else {
        const cJSON *device;
        printf("tenon %s\n", tenon_version());
        cJSON_ArrayForEach(device, cJSON_GetObjectItemCaseSensitive(tree, "devices"))
        {
            print_device(device);
        }
    }
    cJSON_Delete(tree);
    return good ? TN_EXIT_GOOD : TN_EXIT_MODEL;
}

const tn_cli_verb tn_verb_doctor = {
    .name = "doctor",
    .summary = "show the devices of this machine and what they can do",
    .about = "Lists every device that this build knows, what it needs and what it has, or why it is absent, and runs a small model on\n"
             "each that is there, of which the result is known. Fails when a device that is there gives another result.\n",
    .examples = "  tenon doctor\n  tenon doctor --json\n",
    .no_model = true,
    .run = run,
};
