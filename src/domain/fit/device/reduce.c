/* reduce.c - sums for parameters that all instances share, made inside the kernel.
 *
 * The parameters of a curve get a contribution from every row. Instead of writing all of these and
 * gathering them again, one group of lanes processes a chunk of instances and writes one number for
 * each parameter. Lanes take instances as they would take entries of a list, so the sums have the
 * order of sum_order.h.
 */
#include "domain/fit/device/device_impl.h"

#include <stdio.h>
#include <stdlib.h>

/* Whether the set is one block that only slot `slot` of this group uses, in every instance. */
static int is_own_block(const qn_fit_problem *p, const qn_fit_group *g, int slot)
{
    const qn_fit_set *set = &p->sets[g->slot_set[slot]];
    const qn_i64 *start = p->inverse.start + set->first_block;

    return set->count == 1 && start[1] - start[0] == g->n;
}

int qn_fit_dev_can_reduce(const qn_fit_problem *problem, int group, qn_fit_dev_kind kind)
{
    const qn_fit_group *g = &problem->groups[group];

    if (qn_fit_dev_section(g, kind) < 0 || qn_fit_dev_is_atomic(kind) ||
        qn_fit_dev_wants(kind) & QN_FIT_WANT(QN_FIT_DIAG) || g->n <= QN_FIT_SHORT ||
        g->n_slots == 0)
        return 0;
    for (int s = 0; s < g->n_slots; s++)
        if (!is_own_block(problem, g, s))
            return 0;
    return 1;
}

int qn_fit_dev_is_reduced(const qn_fit_device *device, qn_fit_dev_kind kind, int set)
{
    const qn_fit_problem *p = device->problem;
    const qn_i64 at = p->inverse.start[p->sets[set].first_block];

    if (p->sets[set].count != 1 ||
        p->inverse.start[p->sets[set].first_block + 1] - at <= QN_FIT_SHORT)
        return 0;
    return device->runs[kind].is_reduced[p->places[p->inverse.place[at]].group];
}

/* Text. */

static void print_head(const qn_fit_tape *p, const char *name, const char *stored, qn_str *out)
{
    qn_str_addf(out, "GROUP(%s, VAL(i64, n), VAL(i64, ld)", name);
    qn_fit_dev_print_inputs(p, stored, out);
    qn_str_add(out, ", IN(i64, at), INOUT(real, cost), INOUT(real, sums))\n{\n");
}

static qn_status print_loop(const qn_fit_tape *p, const char *function,
                            const qn_fit_section *gathered, qn_str *out, qn_err *err)
{
    static const qn_fit_dev_tables own = { "", "", "", "ld", 0 };
    qn_status st = QN_OK;

    qn_str_add(out, "        for (i64 i = from + LANE; i < to; i += LANES) {\n");
    QN_TRY(qn_fit_dev_print_call(p, function, &own, "            ", out, err));
    for (int s = QN_FIT_COST; s <= QN_FIT_RES; s++)
        for (int row = 0; row < p->sections[s].count; row++)
            qn_str_addf(out, "            cost[%d * ld + i] = r.v[%d];\n", row,
                        p->sections[s].first + row);
    for (int v = 0; v < p->n_variables; v++) {
        qn_str_addf(out, "            P(s[%d]) += ", v);
        qn_fit_dev_print_part(gathered, v, out);
        qn_str_add(out, ";\n");
    }
    qn_str_add(out, "        }\n");
out:
    return st;
}

static const char TREE[] =
    "        EACH_LANE tile[LANE] = P(s[v]);\n"
    "        SYNC;\n"
    "        for (i32 w = LANES / 2; w > 0; w /= 2) {\n"
    "            EACH_LANE if (LANE < w && to - from > LANES) tile[LANE] += tile[LANE + w];\n"
    "            SYNC;\n"
    "        }\n"
    "        EACH_LANE if (LANE == 0) {\n"
    "            real t = tile[0];\n\n"
    "            for (i32 j = 1; j < (to - from > LANES ? 0 : (i32)(to - from)); j++)\n"
    "                t += tile[j];\n"
    "            sums[at[v] + GROUP_X] = t;\n"
    "        }\n"
    "        SYNC;\n";

qn_status qn_fit_dev_print_reduce(const qn_fit_device *device, qn_fit_dev_kind kind, int group,
                                  const char *name, qn_str *out, qn_err *err)
{
    const qn_fit_tape *tape = device->runs[kind].tapes[group];
    const int section = qn_fit_dev_section(&device->problem->groups[group], kind);
    const int n_variables = tape->n_variables;
    char function[64];
    qn_status st = QN_OK;

    snprintf(function, sizeof function, "%s_of", name);
    QN_TRY(qn_fit_print_function(tape, function, device->precision, out, err));
    print_head(tape, name, qn_fit_dev_stored_type(device), out);
    qn_str_addf(out, "    LOCAL(real, tile, LANES);\n    PRIV(real, s[%d]);\n",
                n_variables ? n_variables : 1);
    qn_str_addf(out,
                "    const i64 from = (i64)GROUP_X * %d;\n"
                "    const i64 to = from + %d < n ? from + %d : n;\n\n",
                QN_FIT_CHUNK, QN_FIT_CHUNK, QN_FIT_CHUNK);
    qn_str_addf(out,
                "    EACH_LANE\n    {\n        for (i32 v = 0; v < %d; v++)\n"
                "            P(s[v]) = R(0);\n",
                n_variables);
    QN_TRY(print_loop(tape, function, &tape->sections[section], out, err));
    qn_str_addf(out, "    }\n    SYNC;\n    for (i32 v = 0; v < %d; v++) {\n%s    }\n}\n",
                n_variables, TREE);
    if (out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "%s: kernel text", tape->name);
out:
    return st;
}

/* Tables and stage. */

/* at[variable]: where the chunk sums of the variable begin. */
qn_status qn_fit_dev_reduce_table(qn_fit_device *device, qn_fit_dev_kind kind, int group,
                                  qn_err *err)
{
    const qn_fit_problem *p = device->problem;
    const qn_fit_group *g = &p->groups[group];
    const qn_fit_tape *tape = device->runs[kind].tapes[group];
    qn_i64 *at = calloc((size_t)tape->n_variables + 1, sizeof *at);
    qn_status st;

    if (!at)
        return qn_fail(err, QN_ERR_NOMEM, "%s: variables", g->name);
    for (int v = 0; v < tape->n_variables; v++) {
        const int set = g->slot_set[tape->variables[v].slot];

        at[v] =
            device->sums_at[set] + (qn_i64)tape->variables[v].comp * device->longs[set].chunks.n;
    }
    st = qn_fit_device_table(device, "fit.reduce", at, ((size_t)tape->n_variables + 1) * sizeof *at,
                             &device->runs[kind].reduce_at[group], err);
    free(at);
    return st;
}
