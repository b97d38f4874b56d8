// SPDX-License-Identifier: Apache-2.0
// tenon doctor: what this machine offers, and why a device is not there.
#include "cmd.h"

#include "cli_session.h"
#include "cli_text.h"

#include <stdio.h>
#include <stdlib.h>

static void print_device(const cJSON *device)
{
    char size[24];
    const bool present = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(device, "present"));
    printf("%s%s%s  %s", tn_cli_bold(), tn_cli_string(device, "name", "?"), tn_cli_plain(), present ? "present" : "absent");
    if (!present) {
        printf(": %s\n", tn_cli_string(device, "reason", "no reason given"));
        return;
    }
    printf("\n  what      %s\n", tn_cli_string(device, "what", "-"));
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
    putchar('\n');
}

static int run(const tn_cli_options *options)
{
    char *text = tenon_devices_json();
    cJSON *tree = text ? cJSON_Parse(text) : NULL;
    free(text);
    if (!tree) {
        return tn_cli_fail(TN_EXIT_LIMIT, "the list of devices could not be made");
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
    return TN_EXIT_GOOD;
}

const tn_cli_verb tn_verb_doctor = {
    .name = "doctor",
    .summary = "show the devices of this machine and what they can do",
    .about = "Lists every device that this build knows: present with its facts, or absent with the reason.\n",
    .examples = "  tenon doctor\n  tenon doctor --json\n",
    .no_model = true,
    .run = run,
};
