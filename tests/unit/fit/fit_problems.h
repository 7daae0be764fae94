/* fit_problems.h - problems for tests of evaluation. */
#ifndef QN_TESTS_FIT_PROBLEMS_H
#define QN_TESTS_FIT_PROBLEMS_H

#include "golden.h"

#include "domain/fit/text/text.h"
#include "util/file.h"

static inline qn_fit_text *fit_load(const char *text, const char *data_folder)
{
    static const char *folders[2];
    static qn_fit_folders places = { folders, 0 };
    static const qn_fit_files files = { qn_fit_folders_read, NULL, &places };
    const qn_fit_text_options options = { .files = &files };
    qn_fit_text *out = NULL;
    qn_str faults = { 0 };
    qn_err err = { .text = "" };

    folders[0] = data_folder ? data_folder : ".";
    if (qn_fit_text_load("test.fit", text, strlen(text), &options, &out, &faults, &err) != QN_OK)
        fail_msg("%s\n%s", err.text, qn_str_get(&faults));
    qn_str_free(&faults);
    return out;
}

/* A program of the golden data, which must be present. */
static inline qn_fit_text *fit_load_golden(const char *name)
{
    char folder[2048], *text = NULL;
    qn_fit_text *out;
    qn_err err = { .text = "" };
    size_t bytes;

    need_golden(name);
    qn_fit_folder_of(golden_path(name), folder, sizeof folder);
    if (qn_file_read(golden_path(name), &text, &bytes, &err) != QN_OK)
        fail_msg("%s", err.text);
    out = fit_load(text, folder);
    free(text);
    return out;
}

/* Every kind of term: vectors of rows, losses, weights, fixed points, constants among the entries
 * of J, lists, one block at two slots, shared parameters. */
static const char FIT_MIXED[] =
    "fit 1;\n"
    "mesh M = icosphere(1, 1.0);\n"
    "param x[M.verts] : vec3 = M.pos * 1.1 fixed where self.index == 3;\n"
    "param s = 0.9;\n"
    "param o : vec3 = [0.1, 0.2, 0.3] fixed where [1, 0, 0];\n"
    "data rest[M.edges] = 0.95 * length(M.pos[self.a] - M.pos[self.b]);\n"
    "set twice(a -> M.verts, b -> M.verts) = { (0, 1), (2, 2), (3, 4) };\n"
    "residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - s * rest[e]; }\n"
    "residual anchor over v in M.verts weight 0.25 loss huber(0.05) { yield x[v] - M.pos[v] - o; "
    "}\n"
    "residual smooth over v in M.verts loss cauchy(0.3) {\n"
    "  yield x[v] - sum(c in v.ring: x[c.j]) / 5; }\n"
    "residual pair over t in twice { yield x[t.a].x * x[t.b].y - 0.2, x[t.a].z; }\n";

#endif
