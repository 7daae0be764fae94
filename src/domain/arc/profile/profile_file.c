/* profile_file.c - a profile as JSON, slowest first. */
#include "domain/arc/profile/profile.h"

#include "domain/arc/value/value.h"
#include "util/json.h"
#include "util/status.h"

#include <stdlib.h>

typedef struct ranked {
    int number;
    double seconds;
} ranked;

static int by_time(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    return x->number - y->number;
}

static double share_of(const qn_arc_profile *p, double seconds)
{
    return p->seconds > 0 ? 100 * seconds / p->seconds : 0;
}

static json_t *op_json(const qn_arc_profile *p, int op)
{
    const qn_arc_profile_op *o = &p->ops[op];
    const char class_[2] = { (char)qn_arc_op_at(op)->class_, '\0' };

    return json_pack("{s:s, s:s, s:i, s:I, s:I, s:f, s:f, s:f}", "op", qn_arc_op_name(op), "class",
                     class_, "priority", qn_arc_op_at(op)->priority, "count", (json_int_t)o->count,
                     "elements", (json_int_t)o->elements, "seconds", o->seconds, "share_pct",
                     share_of(p, o->seconds), "ns_each", 1e9 * o->seconds / (double)o->count);
}

static json_t *program_json(const qn_arc_profile *p, const qn_arc_code *codes, int number)
{
    const qn_arc_profile_program *q = &p->programs[number];

    json_t *out = json_pack("{s:s, s:I, s:I, s:f, s:f}", "id", codes[number].id, "runs",
                            (json_int_t)q->runs, "steps", (json_int_t)q->steps, "seconds",
                            q->seconds, "share_pct", share_of(p, q->seconds));

    if (out && p->has_device)
        qn_json_put(&out, "device_seconds", json_real(q->device_seconds));
    return out;
}

/* The numbers of those that ran, by time; NULL when out of memory. */
static ranked *rank(const qn_arc_profile *p, int is_ops, int *n)
{
    const int most = is_ops ? ARC_N_OPS : p->n_programs;
    ranked *list = malloc(((size_t)most + 1) * sizeof *list);

    *n = 0;
    for (int i = 0; list && i < most; i++)
        if (is_ops ? p->ops[i].count : p->programs[i].runs)
            list[(*n)++] = (ranked){ i, is_ops ? p->ops[i].seconds : p->programs[i].seconds };
    if (list)
        qsort(list, (size_t)*n, sizeof *list, by_time);
    return list;
}

static json_t *list_json(const qn_arc_profile *p, const qn_arc_code *codes)
{
    json_t *out = json_array();
    int n = 0;
    ranked *list = rank(p, !codes, &n);

    for (int i = 0; i < n; i++)
        qn_json_push(&out,
                     codes ? program_json(p, codes, list[i].number) : op_json(p, list[i].number));
    if (!list)
        qn_json_push(&out, NULL);
    free(list);
    return out;
}

qn_status qn_arc_profile_write(const qn_arc_profile *p, const qn_arc_code *codes, const char *path,
                               qn_err *err)
{
    double known = 0;
    json_t *root;
    qn_status st;

    for (int op = 0; op < ARC_N_OPS; op++)
        known += p->ops[op].seconds;
    root = json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:o, s:o}", "format", "quern-arc-profile/1",
                     "runs", (json_int_t)p->runs, "steps", (json_int_t)p->steps, "limits",
                     (json_int_t)p->limits, "seconds", p->seconds, "calls_pct",
                     known < p->seconds ? share_of(p, p->seconds - known) : 0.0, "ops",
                     list_json(p, NULL), "programs", list_json(p, codes));
    st = root ? qn_json_write(path, root, err)
              : qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path);
    json_decref(root);
    return st;
}
