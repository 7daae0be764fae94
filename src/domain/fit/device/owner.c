/* owner.c - gradients and products J'J v without stored contributions: each block evaluates the
 * terms it is in.
 *
 * A spring takes some twenty operations, and a vertex has six of them: evaluating each spring twice
 * costs less than writing its contributions to both ends and reading them back. The kernel of a set
 * goes through the list of a block, evaluates each instance and adds the part that belongs to this
 * block, in the order of the list, so the sums equal those of the gather.
 *
 * The bindings of an instance are copied to each of its entries, 32 blocks side by side: entry j of
 * block b is at (row[b / 32] + j) * 32 + b % 32, so that neighbouring items read neighbouring
 * numbers. Reading the instances' own tables instead took two more dependent loads, both scattered.
 */
#include "domain/fit/device/device_impl.h"

#include "domain/fit/device/choose.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 32, MAX_PLACES = 255, MAX_AHEAD = 4 }; /* SIDE: blocks side by side */

/* Weighted operations that take as long as one byte of traffic, on a device with 34e12 operations
 * and 4.3e12 bytes a second. */
static const double OPS_PER_BYTE = 8;

static int count_places(const qn_fit_problem *p, int set)
{
    int n = 0;

    for (int k = 0; k < p->n_groups; k++)
        for (int s = 0; s < p->groups[k].n_slots; s++)
            n += p->groups[k].slot_set[s] == set;
    return n;
}

static int can_own(const qn_fit_problem *problem)
{
    for (int k = 0; k < problem->n_sets; k++)
        if (count_places(problem, k) > MAX_PLACES)
            return 0;
    return problem->inverse.max_degree <= QN_FIT_SHORT;
}

static qn_status compare(qn_fit_device *d, qn_err *err)
{
    qn_fit_traffic owner, gather;
    qn_status st = QN_OK;

    QN_TRY(qn_fit_traffic_of_gradients(d->problem, d->precision, &gather, &owner, err));
    d->owner_pays =
        owner.bytes + owner.ops / OPS_PER_BYTE < gather.bytes + gather.ops / OPS_PER_BYTE;
out:
    return st;
}

qn_status qn_fit_dev_choose_owner(qn_fit_device *device, int *is_owner, qn_err *err)
{
    qn_status st = QN_OK;

    *is_owner = 0;
    if (device->accumulate == QN_FIT_ACCUMULATE_GATHER ||
        device->accumulate == QN_FIT_ACCUMULATE_ATOMIC || !can_own(device->problem))
        return QN_OK;
    if (device->owner_pays < 0)
        QN_TRY(compare(device, err));
    *is_owner = device->accumulate == QN_FIT_ACCUMULATE_OWNER || device->owner_pays;
out:
    return st;
}

/* Tables. */

typedef struct {
    uint32_t *row, *other;
    uint8_t *degree, *from;
    void *data;
    qn_fit_precision precision; /* of data */
    int n_others, n_columns;    /* the largest number in any group of the set */
    qn_i64 stride;              /* entries, padding included */
    uint8_t *number;            /* of each place, counted within the set */
} tables;

/* Rows of 32 entries: 32 blocks get as many rows as their longest list has entries. */
static void count_rows(const qn_fit_problem *p, const qn_fit_set *set, tables *t)
{
    const qn_i64 *start = p->inverse.start + set->first_block;
    uint32_t rows = 0;

    for (uint32_t b = 0; b < set->count; b += SIDE) {
        uint32_t most = 0;

        t->row[b / SIDE] = rows;
        for (uint32_t k = b; k < b + SIDE && k < set->count; k++) {
            t->degree[k] = (uint8_t)(start[k + 1] - start[k]);
            most = t->degree[k] > most ? t->degree[k] : most;
        }
        rows += most;
    }
    t->row[(set->count + SIDE - 1) / SIDE] = rows;
    t->stride = (qn_i64)(rows + 1) * SIDE; /* one more row is loaded but not used */
}

static void set_number(const tables *t, qn_i64 at, double value)
{
    if (t->precision == QN_FIT_F64)
        ((double *)t->data)[at] = value;
    else
        ((float *)t->data)[at] = (float)value;
}

/* Where a group has fewer slots or columns than others of the set, the rest is 0: loaded but not
 * used. */
static void fill_entry(const qn_fit_problem *p, qn_i64 entry, qn_i64 k, tables *t)
{
    const uint32_t place = p->inverse.place[entry], i = p->inverse.instance[entry];
    const qn_fit_group *g = &p->groups[p->places[place].group];
    const int own = p->places[place].slot;

    t->from[k] = t->number[place];
    for (int s = 0; s < g->n_slots; s++)
        if (s != own)
            t->other[(s - (s > own)) * t->stride + k] = g->idx[s * g->ld + i];
    for (int s = g->n_slots - 1; s < t->n_others; s++)
        t->other[s * t->stride + k] = 0;
    for (int c = 0; c < g->n_columns; c++)
        set_number(t, c * t->stride + k, g->data[c * g->ld + i]);
    for (int c = g->n_columns; c < t->n_columns; c++)
        set_number(t, c * t->stride + k, 0);
}

static void clear_entry(qn_i64 k, tables *t)
{
    t->from[k] = 0;
    for (int s = 0; s < t->n_others; s++)
        t->other[s * t->stride + k] = 0;
    for (int c = 0; c < t->n_columns; c++)
        set_number(t, c * t->stride + k, 0);
}

/* The places of the set, numbered as in print_group. */
static void number_places(const qn_fit_problem *p, int set, tables *t)
{
    uint8_t next = 0;

    for (int k = 0; k < p->n_groups; k++) {
        const qn_fit_group *g = &p->groups[k];
        int is_in = 0;

        for (int s = 0; s < g->n_slots; s++)
            if (g->slot_set[s] == set) {
                t->number[g->first_place + s] = next++;
                is_in = 1;
            }
        if (is_in && g->n_slots - 1 > t->n_others)
            t->n_others = g->n_slots - 1;
        if (is_in && g->n_columns > t->n_columns)
            t->n_columns = g->n_columns;
    }
}

static void fill_rows(const qn_fit_problem *p, const qn_fit_set *set, tables *t)
{
    const qn_i64 *start = p->inverse.start + set->first_block;
    const uint32_t n = (set->count + SIDE - 1) / SIDE;

#pragma omp parallel for schedule(static)
    for (uint32_t part = 0; part <= n; part++) {
        const uint32_t first = t->row[part], rows = part < n ? t->row[part + 1] - first : 1;

        for (uint32_t j = 0; j < rows; j++)
            for (uint32_t lane = 0; lane < SIDE; lane++) {
                const uint32_t b = part * SIDE + lane;
                const qn_i64 k = (qn_i64)(first + j) * SIDE + lane;

                if (b < set->count && j < t->degree[b])
                    fill_entry(p, start[b] + j, k, t);
                else
                    clear_entry(k, t);
            }
    }
}

static qn_status upload_set(qn_fit_device *d, int set, qn_err *err)
{
    const qn_fit_problem *p = d->problem;
    const qn_fit_set *of = &p->sets[set];
    qn_fit_dev_own *own = &d->owns[set];
    tables t = { .precision = d->precision };
    qn_status st = QN_OK;
    void *row, *degree, *from, *other;
    size_t n;

    if (!(t.number = calloc((size_t)p->n_places + 1, 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%d places", p->n_places);
    number_places(p, set, &t);
    QN_TRY(qn_fit_device_room(d, "fit.own.row", (of->count / SIDE + 2) * sizeof *t.row, &own->row,
                              &row, err));
    QN_TRY(qn_fit_device_room(d, "fit.own.degree", of->count, &own->degree, &degree, err));
    t.row = row;
    t.degree = degree;
    count_rows(p, of, &t);
    own->stride = t.stride;
    n = (size_t)t.stride;
    QN_TRY(qn_fit_device_room(d, "fit.own.from", n, &own->from, &from, err));
    QN_TRY(qn_fit_device_room(d, "fit.own.other", (size_t)t.n_others * n * sizeof *t.other,
                              &own->other, &other, err));
    QN_TRY(qn_fit_device_room(d, "fit.own.data", (size_t)t.n_columns * n * qn_fit_dev_size(d),
                              &own->data, &t.data, err));
    t.from = from;
    t.other = other;
    fill_rows(p, of, &t);
out:
    free(t.number);
    return st;
}

qn_status qn_fit_dev_owner_tables(qn_fit_device *device, qn_err *err)
{
    const size_t n = (size_t)device->problem->n_sets;
    qn_status st = QN_OK;

    if (device->owns)
        return QN_OK;
    if (!(device->owns = qn_arena_zeros(&device->memory, n, sizeof *device->owns)))
        return qn_fail(err, QN_ERR_NOMEM, "%zu parameter sets", n);
    for (size_t k = 0; st == QN_OK && k < n; k++)
        st = upload_set(device, (int)k, err);
    if (st != QN_OK)
        device->owns = NULL;
    return st;
}

/* The text of a set's kernel.
 *
 * One item per block. Each entry of its list is evaluated once, whichever slot the block has in it,
 * and the part of this slot is added. The next entry is loaded before that, so that its latency
 * hides behind the work: this brought ten million springs on an H200 from 214 us to 166; unrolling
 * the loop did not help.
 */

static int section_of(const qn_fit_group *g, qn_fit_dev_kind kind)
{
    return kind == QN_FIT_DEV_OWNER_JTJV ? QN_FIT_JTJV : g->is_energy ? QN_FIT_VJP : QN_FIT_GRAD;
}

/* The data that every entry of a set has, in any group; it is loaded ahead. */
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
        if (p->variables[v].slot != (uint32_t)slot)
            continue;
        qn_str_addf(out, "                s%u += ", p->variables[v].comp);
        qn_fit_dev_print_part(s, v, out);
        qn_str_add(out, ";\n");
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

/* Testing each scalar takes a tenth of the time in f32, so it is left out where nothing is
 * fixed. */
static int has_fixed(const qn_fit_problem *p, int set)
{
    const qn_fit_set *s = &p->sets[set];

    return memchr(p->is_fixed + s->first, 1, (size_t)s->count * s->dim) != NULL;
}

static qn_status print_set(const qn_fit_device *d, qn_fit_dev_kind kind, int set, qn_str *out,
                           qn_err *err)
{
    const int has_tangent = kind == QN_FIT_DEV_OWNER_JTJV;
    const int has_places = count_places(d->problem, set) > 1;
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

/* Stage. */

static qn_status stage_set(qn_fit_device *d, qn_graph *graph, qn_fit_dev_kind kind, int set,
                           qn_buf *x, qn_buf *tangent, qn_buf *out, qn_err *err)
{
    const qn_fit_dev_own *own = &d->owns[set];
    const qn_i64 first = d->problem->sets[set].first;
    qn_arg args[12];
    char kernel[32], name[96];
    int n = 0;

    args[n++] = qn_arg_val(&first, sizeof first);
    args[n++] = qn_arg_val(&own->stride, sizeof own->stride);
    args[n++] = qn_arg_buf(own->row);
    args[n++] = qn_arg_buf(own->degree);
    args[n++] = qn_arg_buf(own->from);
    args[n++] = qn_arg_buf(own->other);
    args[n++] = qn_arg_buf(own->data);
    args[n++] = qn_arg_buf(x);
    if (tangent)
        args[n++] = qn_arg_buf(tangent);
    args[n++] = qn_arg_buf(d->is_fixed);
    args[n++] = qn_arg_buf(out);
    snprintf(kernel, sizeof kernel, "fit_set%d", set);
    snprintf(name, sizeof name, "fit.own.%s", d->problem->sets[set].name);
    return qn_fit_dev_stage_blocks(d, graph, name, qn_kernels_find(d->runs[kind].module, kernel),
                                   set, args, err);
}

qn_status qn_fit_dev_stage_owner(qn_fit_device *device, qn_graph *graph, qn_buf *x, qn_buf *tangent,
                                 qn_buf *out, qn_err *err)
{
    const qn_fit_dev_kind kind = tangent ? QN_FIT_DEV_OWNER_JTJV : QN_FIT_DEV_OWNER;
    qn_status st = qn_fit_dev_prepare(device, kind, err);

    for (int k = 0; st == QN_OK && k < device->problem->n_sets; k++)
        if (device->problem->sets[k].count)
            st = stage_set(device, graph, kind, k, x, tangent, out, err);
    return st;
}
