// SPDX-License-Identifier: Apache-2.0
// The pictures of docs/opencl.md are drawn by the scalar definition of the content types, here; the page must hold them as drawn.
//   test_pictures --print   writes them
#include "support/unit.h"

#include "base/macros.h"
#include "exec/opencl/cl_content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct picture {
    tn_cl_content content;
    int64_t dims[4];
    const char *letters;      // of the dims
} picture;

static const picture pictures[] = {
    {TN_CL_CONV2D_FILTER, {5, 2, 1, 2}, "oihw"},  {TN_CL_IN_OUT_CHANNEL, {1, 5, 2, 2}, "nchw"}, {TN_CL_ARGUMENT, {6, 1, 1, 1}, "s"},
    {TN_CL_IN_OUT_HEIGHT, {1, 2, 5, 2}, "nchw"},  {TN_CL_IN_OUT_WIDTH, {1, 2, 2, 5}, "nchw"},   {TN_CL_WINOGRAD_FILTER, {2, 5, 3, 3}, "toi"},
    {TN_CL_DW_CONV2D_FILTER, {5, 1, 2, 2}, "cmhw"}, {TN_CL_WEIGHT_HEIGHT, {5, 2, 1, 2}, "oihw"}, {TN_CL_WEIGHT_WIDTH, {2, 5, 1, 2}, "oihw"},
};

#define SHOWN_ROWS 6

static void draw_lane(char **at, const picture *p, size_t x, size_t y, int lane)
{
    const int64_t *d = p->dims;
    const size_t letters = strlen(p->letters);
    if (p->content == TN_CL_WINOGRAD_FILTER) {
        const int64_t i = 4 * (int64_t)x + lane;
        *at += i < d[1] ? sprintf(*at, "%d%d%d", (int)((int64_t)y / d[0]), (int)((int64_t)y % d[0]), (int)i) : sprintf(*at, "---");
        return;
    }
    int64_t rest = tn_cl_content_index(p->content, d, x, y, lane);
    char digits[5] = "----";
    digits[letters] = 0;
    for (int k = 3; k >= 0 && rest >= 0; k--) {
        if ((size_t)k < letters) {
            digits[k] = (char)('0' + rest % d[k]);
        }
        rest /= d[k];
    }
    *at += sprintf(*at, "%s", digits);
}

static void draw(const picture *p, char *text)
{
    size_t width, height;
    assert_true(tn_cl_content_size(p->content, p->dims, 2, &width, &height));
    text += sprintf(text, "%s of [%d, %d, %d, %d]: %zu x %zu texels, each lane as %s\n", tn_cl_content_text(p->content), (int)p->dims[0],
                    (int)p->dims[1], (int)p->dims[2], (int)p->dims[3], width, height, p->letters);
    for (size_t y = 0; y < height && y < SHOWN_ROWS; y++) {
        text += sprintf(text, "y%zu ", y);
        for (size_t x = 0; x < width; x++) {
            text += sprintf(text, "|");
            for (int lane = 0; lane < 4; lane++) {
                text += sprintf(text, " ");
                draw_lane(&text, p, x, y, lane);
            }
            text += sprintf(text, " ");
        }
        text += sprintf(text, "|\n");
    }
    if (height > SHOWN_ROWS) {
        (void)sprintf(text, "...\n");
    }
}

static void page_holds_them(void **state)
{
    static char page[1 << 16], text[1 << 14];
    FILE *file = fopen("../docs/opencl.md", "rb");
    (void)state;
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    (void)fclose(file);
    for (size_t i = 0; i < TN_COUNT(pictures); i++) {
        draw(&pictures[i], text);
        if (!strstr(page, text)) {
            fail_msg("docs/opencl.md lacks, or has changed:\n%s", text);
        }
    }
}

int main(int argc, char **argv)
{
    static char text[1 << 14];
    const struct CMUnitTest tests[] = {cmocka_unit_test(page_holds_them)};
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        for (size_t i = 0; i < TN_COUNT(pictures); i++) {
            draw(&pictures[i], text);
            printf("%s\n", text);
        }
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
