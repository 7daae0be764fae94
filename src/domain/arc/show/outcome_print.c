/* outcome_print.c - one run as a line of JSON. */
#include "domain/arc/show/outcome.h"
#include "domain/arc/value/text.h"
#include "util/status.h"

#include <stdlib.h>

static json_t *grid_json(const qn_arc_grid *grid)
{
    json_t *const rows = json_array();
    char *const text = malloc((size_t)grid->cols);
    int failed = !rows || !text;

    for (int i = 0; i < grid->rows && !failed; i++) {
        for (int j = 0; j < grid->cols; j++)
            text[j] = (char)('0' + grid->cells[i * grid->cols + j]);
        failed = json_array_append_new(rows, json_stringn(text, (size_t)grid->cols));
    }
    free(text);
    if (failed) {
        json_decref(rows);
        return NULL;
    }
    return json_pack("{s: o}", "g", rows);
}

/* Each member that there is; 0, or -1 for lack of memory. */
static int fill(json_t *line, const qn_arc_outcome *o)
{
    int failed = json_object_set_new(line, "program", qn_json_text(o->program)) |
                 json_object_set_new(line, "task", qn_json_text(o->task)) |
                 json_object_set_new(line, "part", qn_json_text(o->part)) |
                 json_object_set_new(line, "pair", json_integer(o->pair)) |
                 json_object_set_new(line, "status", qn_json_text(o->status)) |
                 json_object_set_new(line, "steps", json_integer(o->steps));

    if (o->equal >= 0)
        failed |= json_object_set_new(line, "equal", json_boolean(o->equal));
    if (o->has_differing)
        failed |= json_object_set_new(line, "differing", json_integer(o->differing));
    if (o->error)
        failed |= json_object_set_new(line, "error", qn_json_text(o->error));
    if (o->output)
        failed |= json_object_set_new(line, "output", qn_arc_to_json(o->output));
    if (o->records)
        failed |= json_object_set(line, "records", o->records);
    if (o->input.cells)
        failed |= json_object_set_new(line, "input", grid_json(&o->input));
    if (o->expected.cells)
        failed |= json_object_set_new(line, "expected", grid_json(&o->expected));
    return failed;
}

qn_status qn_arc_outcome_print(const qn_arc_outcome *outcome, qn_str *out, qn_err *err)
{
    json_t *const line = json_object();
    char *const text = line && fill(line, outcome) == 0 ? json_dumps(line, JSON_COMPACT) : NULL;

    json_decref(line);
    if (text) {
        qn_str_add(out, text);
        qn_str_add(out, "\n");
    }
    free(text);
    if (!text || out->failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for a result of program %s", outcome->program);
    return QN_OK;
}
