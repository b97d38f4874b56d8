// SPDX-License-Identifier: Apache-2.0
// Reads the text in a picture with two models: a detector that marks where text is, and a recogniser that reads one line.
//
//     read_text DETECTOR.onnx RECOGNISER.onnx PICTURE.png MARKED.png [THREADS]
//
// Made for PaddleOCR's PP-OCRv4 mobile models. The detector is fully convolutional: it takes any picture size. The recogniser takes
// lines of any width and gives, for each 8 columns, one score for each letter of an alphabet that the model file carries
// (connectionist temporal classification, Graves 2006). Lines are printed from top to bottom and framed in the marked picture.
// Memory: everything is freed before the end; failed allocations end the program. Threads: one, besides the library's own.
#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tenon/tenon.h>

enum { LINE_HEIGHT = 48, MOST_LINES = 256, LONGEST_SIDE = 1280 };

typedef struct picture {
    int width, height;
    uint8_t *pixels;        // [height][width][3], red green blue
} picture;

// A line of text: its middle is y = at + slope * x for left <= x <= right, and it reaches `half` above and below.
typedef struct line {
    double left, right, at, slope, half;
} line;

typedef struct engine {
    tenon_model *model;
    tenon_session *session;
    const char *input;
    double ms;              // spent in runs
    int runs;
} engine;

static void *take(size_t bytes)
{
    void *block = calloc(1, bytes ? bytes : 1);
    if (!block) {
        fputs("read_text: no memory left\n", stderr);
        exit(1);
    }
    return block;
}

static double now_ms(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static bool failed(tenon_error *error)
{
    fprintf(stderr, "read_text: %s: %s\n", tenon_error_place(error), tenon_error_message(error));
    tenon_error_destroy(error);
    return false;
}

// ---- running a model ----

static bool engine_open(engine *e, const char *path, unsigned threads)
{
    tenon_error *error = NULL;
    tenon_session_options options;
    tenon_value_info info = {.struct_size = sizeof info};
    tenon_session_options_init(&options);
    options.threads = threads;
    if (tenon_model_open(&e->model, path, NULL, &error) != TENON_OK ||
        tenon_session_create(&e->session, e->model, &options, &error) != TENON_OK) {
        return failed(error);
    }
    tenon_model_input(e->model, 0, &info);
    e->input = info.name;
    return true;
}

static void engine_close(engine *e)
{
    tenon_session_destroy(e->session);
    tenon_model_destroy(e->model);
}

// Runs on data[1][3][height][width]; *out is valid until the next run.
static bool engine_run(engine *e, const float *data, int height, int width, tenon_tensor *out)
{
    tenon_error *error = NULL;
    const int64_t dims[4] = {1, 3, height, width};
    const double begin = now_ms();
    if (tenon_session_bind_input(e->session, e->input, TENON_FLOAT32, 4, dims, data, (size_t)(3 * height * width) * sizeof *data,
                                 &error) != TENON_OK ||
        tenon_session_run(e->session, NULL, 0, &error) != TENON_OK || tenon_session_output(e->session, 0, out, &error) != TENON_OK) {
        return failed(error);
    }
    e->ms += now_ms() - begin;
    e->runs++;
    return true;
}

// ---- pictures ----

static bool picture_read(picture *p, const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) {
        fprintf(stderr, "read_text: %s: %s\n", path, image.message);
        return false;
    }
    image.format = PNG_FORMAT_RGB;
    p->width = (int)image.width;
    p->height = (int)image.height;
    p->pixels = take(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, NULL, p->pixels, 0, NULL)) {
        fprintf(stderr, "read_text: %s: %s\n", path, image.message);
        return false;
    }
    return true;
}

static bool picture_write(const picture *p, const char *path)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)p->width, .height = (png_uint_32)p->height,
                       .format = PNG_FORMAT_RGB};
    if (!png_image_write_to_file(&image, path, 0, p->pixels, 0, NULL)) {
        fprintf(stderr, "read_text: %s: %s\n", path, image.message);
        return false;
    }
    return true;
}

// Channel c at (x, y), blended from the four pixels around it; beyond the edge the edge goes on.
static double sample(const picture *p, double x, double y, int c)
{
    x = fmin(fmax(x, 0), p->width - 1);
    y = fmin(fmax(y, 0), p->height - 1);
    const int x0 = (int)x, y0 = (int)y, x1 = x0 + (x0 + 1 < p->width), y1 = y0 + (y0 + 1 < p->height);
    const double ax = x - x0, ay = y - y0;
    const uint8_t *a = p->pixels + (size_t)y0 * (size_t)p->width * 3 + c, *b = p->pixels + (size_t)y1 * (size_t)p->width * 3 + c;
    return (1 - ay) * ((1 - ax) * a[3 * x0] + ax * a[3 * x1]) + ay * ((1 - ax) * b[3 * x0] + ax * b[3 * x1]);
}

static void mark_pixel(picture *p, double x, double y)
{
    const int xi = (int)lround(x), yi = (int)lround(y);
    if (xi >= 0 && yi >= 0 && xi < p->width && yi < p->height) {
        uint8_t *at = p->pixels + ((size_t)yi * (size_t)p->width + (size_t)xi) * 3;
        at[0] = 230;
        at[1] = 40;
        at[2] = 40;
    }
}

static void mark_line(picture *p, const line *l)
{
    for (double x = l->left; x <= l->right; x += 0.5) {
        mark_pixel(p, x, l->at + l->slope * x - l->half);
        mark_pixel(p, x, l->at + l->slope * x + l->half);
    }
    for (double dy = -l->half; dy <= l->half; dy += 0.5) {
        mark_pixel(p, l->left, l->at + l->slope * l->left + dy);
        mark_pixel(p, l->right, l->at + l->slope * l->right + dy);
    }
}

// ---- finding lines ----

// The pixels of one blob: sums for a least-squares line, and its extent.
typedef struct blob {
    double n, x, y, xx, xy, score;
    int left, right;
} blob;

// Collects the blob of text pixels around `start` and wipes it from the map. map, stack: [height * width]; *used: pixels in stack.
static blob flood(float *map, int width, int height, int start, int *stack, int *used)
{
    blob b = {.left = width, .right = 0};
    int next = 0;
    stack[0] = start;
    *used = 1;
    b.score = map[start];
    map[start] = 0;
    for (; next < *used; next++) {
        const int x = stack[next] % width, y = stack[next] / width;
        b.n += 1;
        b.x += x;
        b.y += y;
        b.xx += (double)x * x;
        b.xy += (double)x * y;
        b.left = x < b.left ? x : b.left;
        b.right = x > b.right ? x : b.right;
        for (int k = 0; k < 9; k++) {
            const int nx = x + k % 3 - 1, ny = y + k / 3 - 1, at = ny * width + nx;
            if (nx >= 0 && ny >= 0 && nx < width && ny < height && map[at] > 0.3f) {
                b.score += map[at];
                map[at] = 0;
                stack[(*used)++] = at;
            }
        }
    }
    return b;
}

// The line through a blob, grown by what the detector was trained to shrink: area * 1.6 / circumference.
static line line_of(const blob *b, const int *stack, int used, int width)
{
    const double across = b->xx - b->x * b->x / b->n;
    line l = {.slope = across > 0 ? (b->xy - b->x * b->y / b->n) / across : 0};
    l.at = (b->y - l.slope * b->x) / b->n;
    for (int i = 0; i < used; i++) {
        l.half = fmax(l.half, fabs(stack[i] / width - l.at - l.slope * (stack[i] % width)));
    }
    const double grow = 1.6 * b->n / (2 * (b->right - b->left + 1 + 2 * l.half));
    l.left = b->left - grow;
    l.right = b->right + 1 + grow;
    l.half += grow;
    return l;
}

static int by_height(const void *a, const void *b)
{
    const line *x = a, *y = b;
    const double ya = x->at + x->slope * x->left, yb = y->at + y->slope * y->left;
    return (ya > yb) - (ya < yb);
}

// Lines in the coordinates of the picture, top to bottom. Returns how many, -1 on failure.
static int find_lines(engine *detector, const picture *p, line *lines)
{
    static const double mean[3] = {0.485, 0.456, 0.406}, deviation[3] = {0.229, 0.224, 0.225};
    const double shrink = fmin(1, (double)LONGEST_SIDE / (p->width > p->height ? p->width : p->height));
    const int w = (int)fmax(1, round(p->width * shrink / 32)) * 32, h = (int)fmax(1, round(p->height * shrink / 32)) * 32;
    const double sx = (double)p->width / w, sy = (double)p->height / h;
    float *input = take((size_t)(3 * w * h) * sizeof *input);
    for (int i = 0; i < 3 * w * h; i++) {   // channel 0 is blue: the model was trained on OpenCV's order
        const int c = i / (w * h), x = i % w, y = i / w % h;
        input[i] = (float)((sample(p, (x + 0.5) * sx - 0.5, (y + 0.5) * sy - 0.5, 2 - c) / 255 - mean[c]) / deviation[c]);
    }
    tenon_tensor map;
    int count = -1;
    if (engine_run(detector, input, h, w, &map) && map.bytes == (size_t)(w * h) * sizeof(float)) {
        float *chance = take(map.bytes);
        int *stack = take((size_t)(w * h) * sizeof *stack), used;
        memcpy(chance, map.data, map.bytes);
        count = 0;
        for (int i = 0; i < w * h && count < MOST_LINES; i++) {
            if (!(chance[i] > 0.3f)) {
                continue;
            }
            const blob b = flood(chance, w, h, i, stack, &used);
            if (b.n >= 40 && b.score / b.n > 0.5) {
                line l = line_of(&b, stack, used, w);
                lines[count++] = (line){l.left * sx, l.right * sx, l.at * sy, l.slope * sy / sx, l.half * sy};
            }
        }
        free(chance);
        free(stack);
        qsort(lines, (size_t)count, sizeof *lines, by_height);
    }
    free(input);
    return count;
}

// ---- reading a line ----

// The letters of the recogniser: class 0 is "none", the last one a space, between them the lines of the metadata's alphabet.
typedef struct alphabet {
    char *text;
    const char **letters;
    int count;
} alphabet;

static bool alphabet_read(alphabet *a, const tenon_model *model)
{
    const char *text = tenon_model_metadata(model, "character");
    if (!text) {
        fputs("read_text: the recogniser carries no alphabet\n", stderr);
        return false;
    }
    a->text = take(strlen(text) + 1);
    strcpy(a->text, text);
    a->letters = take((strlen(text) + 3) * sizeof *a->letters);
    a->letters[a->count++] = "";
    for (char *at = a->text; *at;) {
        char *end = at + strcspn(at, "\n");
        const bool more = *end != '\0';
        *end = '\0';
        at[strcspn(at, "\r")] = '\0';
        a->letters[a->count++] = at;
        at = end + more;
    }
    a->letters[a->count++] = " ";
    return true;
}

// Best letter of each step, repeats and "none" dropped. Spaces are faint in these models: a step that is "none" but gives the space a
// small chance counts as one.
static void decode(const tenon_tensor *scores, const alphabet *a)
{
    const int steps = (int)scores->dims[1], classes = (int)scores->dims[2];
    int before = 0;
    for (int s = 0; s < steps; s++) {
        const float *row = (const float *)scores->data + (size_t)s * (size_t)classes;
        int best = 0;
        for (int c = 1; c < classes; c++) {
            best = row[c] > row[best] ? c : best;
        }
        if (best == 0 && row[classes - 1] > 0.05f) {
            best = classes - 1;
        }
        if (best != before && best < a->count) {
            fputs(a->letters[best], stdout);
        }
        before = best;
    }
    putchar('\n');
}

static bool read_line(engine *recogniser, const picture *p, const line *l, const alphabet *a)
{
    const double scale = LINE_HEIGHT / (2 * l->half);
    const int w = (int)fmin(fmax(1, round((l->right - l->left) * scale / 32)), 64) * 32;   // few widths, few plans
    float *input = take((size_t)(3 * w * LINE_HEIGHT) * sizeof *input);
    for (int i = 0; i < 3 * w * LINE_HEIGHT; i++) {
        const int c = i / (w * LINE_HEIGHT), row = i / w % LINE_HEIGHT;
        const double x = l->left + (i % w + 0.5) * (l->right - l->left) / w;
        const double y = l->at + l->slope * x + (row + 0.5) / scale - l->half;
        input[i] = (float)(sample(p, x, y, 2 - c) / 127.5 - 1);
    }
    tenon_tensor scores;
    const bool good = engine_run(recogniser, input, LINE_HEIGHT, w, &scores);
    if (good && scores.rank == 3 && scores.dtype == TENON_FLOAT32) {
        fputs("    ", stdout);
        decode(&scores, a);
    }
    free(input);
    return good;
}

static bool read_page(engine *detector, engine *recogniser, picture *p, const char *marked)
{
    line *lines = take(MOST_LINES * sizeof *lines);
    alphabet letters = {0};
    const int count = find_lines(detector, p, lines);
    bool good = count >= 0 && alphabet_read(&letters, recogniser->model);
    for (int i = 0; good && i < count; i++) {
        good = read_line(recogniser, p, &lines[i], &letters);
    }
    for (int i = 0; i < count; i++) {
        mark_line(p, &lines[i]);
    }
    if (good) {
        printf("\n%d lines; detector %.1f ms, recogniser %.1f ms for %d lines\n", count, detector->ms, recogniser->ms, recogniser->runs);
        good = picture_write(p, marked);
    }
    free(lines);
    free(letters.letters);
    free(letters.text);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("usage: read_text DETECTOR.onnx RECOGNISER.onnx PICTURE.png MARKED.png [THREADS]\n", stderr);
        return 2;
    }
    engine detector = {0}, recogniser = {0};
    picture page = {0};
    const unsigned threads = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0;
    const bool good = picture_read(&page, argv[3]) && engine_open(&detector, argv[1], threads) &&
                      engine_open(&recogniser, argv[2], threads) && read_page(&detector, &recogniser, &page, argv[4]);
    engine_close(&detector);
    engine_close(&recogniser);
    free(page.pixels);
    return good ? 0 : 1;
}
