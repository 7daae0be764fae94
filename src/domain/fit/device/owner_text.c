/* owner_text.c - prints the kernel of a set whose blocks evaluate their own terms.
 *
 * One item per block. Each entry of its list is evaluated once, whichever slot the block has in it,
 * and the part of this slot is added. The next entry is loaded before that, so that its latency
 * hides behind the work: this brought ten million springs on an H200 from 214 us to 166; unrolling
 * the loop did not.
 */
#include "domain/fit/device/device_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = QN_FIT_DEV_SIDE, MAX_AHEAD = 4 };

static int section_of(const qn_fit_group *g, qn_fit_dev_kind kind)
{
    return kind == QN_FIT_DEV_OWNER_JTJV ? QN_FIT_JTJV : g->is_energy ? QN_FIT_VJP : QN_FIT_GRAD;
}

/* The data that every entry of a set has, in any group, and that is loaded ahead. */
typedef struct {
    int others, columns;
} common;

static common common_of(const qn_fit_problem *p, int set)
{
    common c = { -1, -1 };

    for (int k = 0; k < p->n_groups; k++)
        for (int s = 0; s < p->groups[k].n_slots; s++) {
            if (p->groups[k].slot_set[s] != set)
                continue;
            if (c.others < 0 || p->groups[k].n_slots - 1 < c.others)
                c.others = p->groups[k].n_slots - 1;
            if (c.columns < 0 || p->groups[k].n_columns < c.columns)
                c.columns = p->groups[k].n_columns;
        }
    c.others = c.others < 0 ? 0 : c.others > MAX_AHEAD ? MAX_AHEAD : c.others;
    c.columns = c.columns < 0 ? 0 : c.columns > MAX_AHEAD ? MAX_AHEAD : c.columns;
    return c;
}

/* Loads the entry at `at`; the first call declares the names. */
static void print_ahead(common c, int has_places, int is_first, const char *at, qn_str *out)
{
    const char *indent = is_first ? "    " : "        ";

    if (has_places)
        qn_str_addf(out, "%s%snext = from[%s];\n", indent, is_first ? "i32 " : "", at);
    for (int s = 0; s < c.others; s++)
        qn_str_addf(out, "%s%snext_e%d = other[%d * stride + %s];\n", indent,
                    is_first ? "u32 " : "", s, s, at);
    for (int k = 0; k < c.columns; k++)
        qn_str_addf(out, "%s%snext_d%d = data[%d * stride + %s];\n", indent,
                    is_first ? "real " : "", k, k, at);
}

static void print_load(const qn_fit_value *v, const qn_fit_group *g, int set, common c, qn_str *out)
{
    switch (v->op) {
    case QN_FIT_OP_param:
    case QN_FIT_OP_tangent:
        if (g->slot_set[v->slot] == set)
            qn_str_addf(out, "own == %u ? %c%u : ", v->slot, v->op == QN_FIT_OP_param ? 'o' : 't',
                        v->comp);
        qn_str_addf(out, "%s[b%u + %u]", v->op == QN_FIT_OP_param ? "x" : "tangent", v->slot,
                    v->comp);
        break;
    case QN_FIT_OP_data:
        qn_str_addf(out, (int)v->slot < c.columns ? "d%u" : "data[%u * stride + k]", v->slot);
        break;
    default:
        qn_str_add(out, "R(1)"); /* the seed of an energy */
    }
}

/* Where the blocks of the other slots begin: one after the other, without the block itself. */
static void print_others(const qn_fit_group *g, int set, common c, qn_str *out)
{
    for (int s = c.others; s + 1 < g->n_slots; s++)
        qn_str_addf(out, "            const i64 e%d = other[%d * stride + k];\n", s, s);
    for (int s = 0; s < g->n_slots; s++) {
        const char *only = s == 0 ? "e0" : NULL;
        int own_before = 0, own_after = 0; /* where the block itself may be */

        for (int t = 0; t < g->n_slots; t++)
            if (g->slot_set[t] == set) {
                own_before |= t < s;
                own_after |= t > s;
            }
        if (g->n_slots == 1)
            only = "at";
        if (only)
            qn_str_addf(out, "            const i64 b%d = %s;\n", s, only);
        else if (!own_after || s + 1 == g->n_slots)
            qn_str_addf(out, "            const i64 b%d = e%d;\n", s, s - 1);
        else if (!own_before)
            qn_str_addf(out, "            const i64 b%d = e%d;\n", s, s);
        else
            qn_str_addf(out, "            const i64 b%d = own > %d ? e%d : e%d;\n", s, s, s, s - 1);
    }
}

/* The part of the block as slot `slot` of an instance. */
static void print_sums(const qn_fit_tape *p, const qn_fit_section *s, int slot, qn_str *out)
{
    qn_str_addf(out, "            if (own == %d) {\n", slot);
    for (int v = 0; v < p->n_variables; v++) {
        const qn_fit_entry *e = &s->entries[v];

        if (p->variables[v].slot != (uint32_t)slot)
            continue;
        if (e->stored < 0)
            qn_str_addf(out, "                s%u += R(%.17g);\n", p->variables[v].comp, e->factor);
        else
            qn_str_addf(out, "                s%u += %sr.v[%d];\n", p->variables[v].comp,
                        e->factor < 0 ? "-" : "", s->first + e->stored);
    }
    qn_str_add(out, "            }\n");
}

/* One evaluation for all slots of the group that are of this set; *place moves past them. */
static qn_status print_group(const qn_fit_device *d, qn_fit_dev_kind kind, int group, int set,
                             int *place, qn_str *out, qn_err *err)
{
    const qn_fit_group *g = &d->problem->groups[group];
    const qn_fit_tape *p = d->runs[kind].tapes[group];
    uint32_t *inputs = calloc((size_t)p->n_values + 1, sizeof *inputs);
    const common c = common_of(d->problem, set);
    const int first = *place;
    int n_inputs, last = -1;

    if (!inputs)
        return qn_fail(err, QN_ERR_NOMEM, "%s: kernel text", g->name);
    for (int s = 0; s < g->n_slots; s++)
        if (g->slot_set[s] == set) {
            *place += 1;
            last = s;
        }
    if (last < 0) {
        free(inputs);
        return QN_OK;
    }
    qn_str_addf(out,
                "        if (place >= %d && place < %d) {\n            const i32 own = ", first,
                *place);
    for (int s = 0, at = first; s < last; s++)
        if (g->slot_set[s] == set)
            qn_str_addf(out, "place == %d ? %d : ", at++, s);
    qn_str_addf(out, "%d;\n", last);
    print_others(g, set, c, out);
    qn_str_addf(out, "            const fit_own%d_out r = fit_own%d(", group, group);
    n_inputs = qn_fit_function_inputs(p, inputs);
    for (int k = 0; k < n_inputs; k++) {
        qn_str_add(out, k ? ",\n                " : "");
        print_load(&p->values[inputs[k]], g, set, c, out);
    }
    qn_str_add(out, ");\n\n");
    for (int s = 0; s < g->n_slots; s++)
        if (g->slot_set[s] == set)
            print_sums(p, &p->sections[section_of(g, kind)], s, out);
    qn_str_add(out, "        }\n");
    free(inputs);
    return QN_OK;
}

/* Where nothing is fixed, testing each scalar would take a tenth of the time in f32. */
static int has_fixed(const qn_fit_problem *p, int set)
{
    const qn_fit_set *s = &p->sets[set];

    return memchr(p->is_fixed + s->first, 1, (size_t)s->count * s->dim) != NULL;
}

static qn_status print_set(const qn_fit_device *d, qn_fit_dev_kind kind, int set, qn_str *out,
                           qn_err *err)
{
    const int has_tangent = kind == QN_FIT_DEV_OWNER_JTJV;
    const int has_places = qn_fit_dev_count_places(d->problem, set) > 1;
    const int is_any_fixed = has_fixed(d->problem, set);
    const common c = common_of(d->problem, set);
    const uint32_t dim = d->problem->sets[set].dim;
    qn_status st = QN_OK;
    char after[16];
    int place = 0;

    qn_str_addf(out,
                "MAP(fit_set%d, VAL(i64, first), VAL(i64, stride), IN(u32, row), IN(u8, degree), "
                "IN(u8, from), IN(u32, other), IN(real, data), IN(real, x), %sIN(u8, is_off), "
                "INOUT(real, out))\n{\n"
                "    const i64 at = first + GI * %u, begin = (i64)row[GI / %d] * %d + GI %% %d;\n"
                "    const i32 n = degree[GI];\n",
                set, has_tangent ? "IN(real, tangent), " : "", dim, SIDE, SIDE, SIDE);
    for (uint32_t i = 0; i < dim; i++)
        qn_str_addf(out, "    const real o%u = x[at + %u];\n    real s%u = R(0);\n", i, i, i);
    for (uint32_t i = 0; has_tangent && i < dim; i++)
        qn_str_addf(out, "    const real t%u = tangent[at + %u];\n", i, i);
    print_ahead(c, has_places, 1, "begin", out);
    qn_str_addf(out,
                "\n    for (i32 j = 0; j < n; j++) {\n"
                "        const i64 k = begin + j * %d;\n"
                "        const i32 place = %s;\n",
                SIDE, has_places ? "next" : "0");
    for (int s = 0; s < c.others; s++)
        qn_str_addf(out, "        const i64 e%d = next_e%d;\n", s, s);
    for (int k = 0; k < c.columns; k++)
        qn_str_addf(out, "        const real d%d = next_d%d;\n", k, k);
    qn_str_add(out, "\n");
    snprintf(after, sizeof after, "k + %d", SIDE);
    print_ahead(c, has_places, 0, after, out);
    for (int k = 0; k < d->problem->n_groups; k++)
        QN_TRY(print_group(d, kind, k, set, &place, out, err));
    qn_str_add(out, "    }\n");
    for (uint32_t i = 0; i < dim; i++) {
        qn_str_addf(out, "    out[at + %u] = ", i);
        if (is_any_fixed)
            qn_str_addf(out, "is_off[at + %u] ? R(0) : ", i);
        qn_str_addf(out, "s%u;\n", i);
    }
    qn_str_add(out, "}\n");
    if (out->failed)
        st = qn_fail(err, QN_ERR_NOMEM, "%s: kernel text", d->problem->sets[set].name);
out:
    return st;
}

qn_status qn_fit_dev_print_owner(const qn_fit_device *device, qn_fit_dev_kind kind, qn_str *out,
                                 qn_err *err)
{
    const qn_fit_problem *p = device->problem;
    qn_status st = QN_OK;
    char name[32];

    for (int k = 0; k < p->n_groups; k++) {
        snprintf(name, sizeof name, "fit_own%d", k);
        QN_TRY(
            qn_fit_print_function(device->runs[kind].tapes[k], name, device->precision, out, err));
    }
    for (int k = 0; k < p->n_sets; k++)
        QN_TRY(print_set(device, kind, k, out, err));
out:
    return st;
}
