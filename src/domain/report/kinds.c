/* kinds.c - how runs of each tool are shown, and which of their pictures. */
#include "domain/report/section.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const qn_rp_kind kinds[] = {
    { .tool = "tasks",
      .title = "Many small tasks at once",
      .sees = "Batches of independent additions of very different lengths. Tasks of about the same "
              "size are sent to the device as one piece of work, and every result is computed "
              "again by a plain loop and compared.",
      .max_pictures = 4,
      .max_figures = 4,
      .least_px = 440 },
    { .tool = "scan",
      .title = "Where a device starts to pay",
      .sees = "Time of one operation by its size, on every device of this machine; lower is "
              "faster. A device pays off from the size where its line stays below that of the CPU; "
              "that size is marked. Cold runs copy inputs and result, resident runs have their "
              "data in place.",
      .max_pictures = 0,
      .max_figures = 4,
      .least_px = 440,
      .has_headings = 1 },
    { .tool = "solweig",
      .title = "How hot it feels in a town",
      .sees = "A place from above. Sky view is the share of the sky visible from the ground. Mean "
              "radiant temperature combines the radiation that a person standing there receives "
              "from sun, sky, ground and walls: blue is the coolest spot of the map, often in the "
              "shade, dark red the hottest.",
      .max_pictures = 3,
      .max_figures = 1,
      .least_px = 320 },
    { .tool = "les",
      .title = "A turbulent flow, and a model that learned it",
      .sees =
          "Red and blue vortices rotate in opposite directions. Each picture shows the simulated "
          "flow, the prediction of a small linear model that was fitted to the frames before the "
          "dotted line, and the difference. The curve shows how far the model can be trusted: an "
          "error of 1 is as bad as an empty field, and persistence is the guess that nothing "
          "changes.",
      .max_pictures = 4,
      .max_figures = 1,
      .least_px = 440 },
    { .tool = "arc",
      .title = "Puzzles of coloured grids, solved by programs",
      .sees = "Each puzzle shows the input grid, the output of a program, and the expected output; "
              "\"equal\" means that every cell is right. Whole programs run on the device, all of "
              "them at once.",
      .max_pictures = 2,
      .max_figures = 6,
      .least_px = 440 },
    { .tool = "fit",
      .title = "Unknowns fitted by least squares",
      .sees = "A few lines of text state a problem; quern differentiates, compiles and solves it. "
              "Pictures show the shape before and after. The curve is the cost after each step of "
              "the solver: it falls until no step improves it.",
      .max_pictures = 2,
      .max_figures = 1,
      .least_px = 640 },
    { .tool = "",
      .title = NULL,
      .sees = "Files of this run.",
      .max_pictures = 6,
      .max_figures = 6,
      .least_px = 440 },
};

const qn_rp_kind *qn_rp_kind_of(const qn_rp_run *run)
{
    const qn_rp_kind *kind = kinds;
    char tool[32];

    qn_rp_tool(run, tool, sizeof tool);
    while (*kind->tool && strcmp(kind->tool, tool) != 0)
        kind++;
    return kind;
}

/* Pictures. */

static int is_svf(const char *file)
{
    return !strcmp(qn_rp_base_name(file), "svf.png");
}

static int is_map(const char *file)
{
    return !strncmp(qn_rp_base_name(file), "tmrt_", 5);
}

static int is_frame(const char *file)
{
    return strstr(qn_rp_base_name(file), "_frame_") != NULL;
}

static int is_any(QN_UNUSED const char *file)
{
    return 1;
}

/* Adds at most `room` of the pictures that `is_it` accepts: the first, the last, and some in
 * between. */
static size_t pick(const qn_rp_run *run, int (*is_it)(const char *), size_t room, size_t *picks)
{
    size_t n = 0, seen = 0, taken = 0;

    for (size_t i = 0; i < run->files.n; i++)
        n += qn_has_ending(run->files.files[i], ".png") && is_it(run->files.files[i]);
    if (n < room)
        room = n;
    for (size_t i = 0; i < run->files.n && taken < room; i++) {
        if (!qn_has_ending(run->files.files[i], ".png") || !is_it(run->files.files[i]))
            continue;
        if (seen++ == (room > 1 ? taken * (n - 1) / (room - 1) : 0))
            picks[taken++] = i;
    }
    return taken;
}

size_t qn_rp_pictures(const qn_rp_run *run, const qn_rp_kind *kind,
                      size_t picks[QN_RP_MAX_PICTURES])
{
    size_t n = 0;

    if (!strcmp(kind->tool, "solweig")) {
        n = pick(run, is_svf, 1, picks);
        return n + pick(run, is_map, kind->max_pictures - n, picks + n);
    }
    if (!strcmp(kind->tool, "les"))
        return pick(run, is_frame, kind->max_pictures, picks);
    return pick(run, is_any, kind->max_pictures, picks);
}

/* "maps/tmrt_20060726_1300.png": the picture itself shows the day. */
static int caption_map(const char *name, char *out, size_t size)
{
    char day[9], hour[5];

    if (sscanf(name, "tmrt_%8[0-9]_%4[0-9].png", day, hour) != 2 || strlen(hour) != 4)
        return 0;
    snprintf(out, size, "Mean radiant temperature, %.2s:%.2s", hour, hour + 2);
    return 1;
}

/* Frame number k has the step of snapshot k. */
static int caption_frame(const qn_rp_run *run, const char *name, char *out, size_t size)
{
    const char *number = strstr(name, "_frame_");
    const json_t *les = json_object_get(run->metrics, "les");
    const json_t *snapshot;

    for (size_t i = 0; !les && i < run->n_others; i++)
        les = json_object_get(run->others[i], "les");
    if (!number || !isdigit((unsigned char)number[7]))
        return 0;
    snapshot = json_array_get(json_object_get(les, "snapshots"), strtoul(number + 7, NULL, 10));
    if (!snapshot)
        return 0;
    snprintf(out, size, "Step %.0f, %s: flow, model, difference",
             json_number_value(json_object_get(snapshot, "t")),
             json_string_value(json_object_get(snapshot, "window")) &&
                     !strcmp(json_string_value(json_object_get(snapshot, "window")), "forecast")
                 ? "forecast"
                 : "seen in training");
    return 1;
}

void qn_rp_caption(const qn_rp_run *run, const qn_rp_kind *kind, const char *file, char *out,
                   size_t size)
{
    const char *name = qn_rp_base_name(file);

    if (is_svf(file)) {
        snprintf(out, size, "Sky view: 1 is open sky, 0 is none");
        return;
    }
    if (caption_map(name, out, size) || caption_frame(run, name, out, size))
        return;
    if (!strcmp(kind->tool, "fit"))
        snprintf(out, size, "Before and after");
    else
        snprintf(out, size, "%s", name);
}
