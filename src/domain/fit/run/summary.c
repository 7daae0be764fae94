/* summary.c - prints a result: how it ended, its cost, parameters and files. */
#include "domain/fit/run/run.h"

#include <stdio.h>
#include <string.h>

/* Of many parameters only the first few are shown. */
enum { SHOWN_SCALARS = 40, FEW_SCALARS = 6, SHOWN_GROUPS = 20 };

static const qn_fit_set *set_of(const qn_fit_problem *p, uint32_t k)
{
    const qn_fit_set *set = p->sets;

    while (set < p->sets + p->n_sets - 1 && k >= set[1].first)
        set++;
    return set;
}

void qn_fit_scalar_name(const qn_fit_problem *problem, uint32_t k, char *out, size_t size)
{
    const qn_fit_set *set = set_of(problem, k);
    const uint32_t block = (k - set->first) / set->dim, comp = (k - set->first) % set->dim;
    char place[16] = "", part[16] = "";

    if (set->count > 1)
        snprintf(place, sizeof place, "[%u]", block);
    if (set->dim > 1 && set->dim <= 4)
        snprintf(part, sizeof part, ".%c", "xyzw"[comp]);
    else if (set->dim > 1)
        snprintf(part, sizeof part, "[%u]", comp);
    snprintf(out, size, "%s%s%s", set->name, place, part);
}

static void add_table(qn_table *table, qn_str *out)
{
    qn_str_add(out, "\n");
    qn_table_format(table, QN_TABLE_TEXT, out);
    qn_table_free(table);
}

static int has_deviations(const qn_fit_result *r)
{
    return !r->no_covariance[0];
}

uint32_t qn_fit_list_parameters(const qn_fit_problem *p, const qn_fit_result *result, uint32_t most,
                                const char *format, qn_table *table)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < p->n_scalars && n < most; k++) {
        char name[128], deviation[32] = "-";

        if (set_of(p, k)->is_hidden)
            continue;
        n++;
        if (p->is_fixed[k])
            snprintf(deviation, sizeof deviation, "fixed");
        else if (has_deviations(result))
            snprintf(deviation, sizeof deviation, format, result->covariance.deviation[k]);
        qn_fit_scalar_name(p, k, name, sizeof name);
        qn_table_add(table, name);
        qn_table_addf(table, "%.12g", p->x[k]);
        qn_table_add(table, deviation);
        qn_table_addf(table, "%.6g", result->start[k]);
    }
    return p->n_scalars - (uint32_t)p->n_sums - n;
}

static void add_parameters(const qn_fit_problem *p, const qn_fit_result *r, qn_str *out)
{
    qn_table table = qn_table_begin("PARAMETER", "VALUE", "STD DEV", "START");
    const uint32_t all = p->n_scalars - (uint32_t)p->n_sums;
    const uint32_t left = qn_fit_list_parameters(
        p, r, all <= SHOWN_SCALARS ? SHOWN_SCALARS : FEW_SCALARS, "%.10g", &table);

    add_table(&table, out);
    if (left)
        qn_str_addf(out, "and %u more\n", left);
}

static void add_groups(const qn_fit_problem *p, const qn_fit_report *r, qn_str *out)
{
    qn_table table = qn_table_begin("TERM", "KIND", "INSTANCES", "ROWS EACH", "COST");
    const int n = p->n_groups <= SHOWN_GROUPS ? p->n_groups : SHOWN_GROUPS;

    for (int k = 0; k < n; k++) {
        const qn_fit_group *g = &p->groups[k];

        qn_table_add(&table, g->name);
        qn_table_add(&table, g->is_energy ? "energy" : "residual");
        qn_table_addf(&table, "%lld", (long long)g->n);
        qn_table_addf(&table, "%d", g->n_rows);
        qn_table_addf(&table, "%.10g", r->group_costs[k]);
    }
    add_table(&table, out);
    if (n < p->n_groups)
        qn_str_addf(out, "and %d more\n", p->n_groups - n);
}

static void add_solve(const qn_fit_solved *s, qn_fit_precision precision, qn_str *out)
{
    const qn_fit_report *r = &s->report;

    qn_str_addf(out, "%s: %s\n", qn_fit_end_name(r->end), r->text);
    qn_str_addf(out, "cost %.12g, from %.12g; %d iterations, %d of them rejected\n", r->final_cost,
                r->initial_cost, r->n_accepted + r->n_rejected, r->n_rejected);
    qn_str_addf(out, "%s%s%s on %s in %s, %.4f s", r->solver, r->linear[0] ? ", " : "", r->linear,
                s->device, precision == QN_FIT_F64 ? "f64" : "f32", r->total_seconds);
    if (r->evaluate_seconds > 0)
        qn_str_addf(out, ": %.4f s evaluating, %.4f s for steps", r->evaluate_seconds,
                    r->linear_seconds);
    qn_str_add(out, "\n");
    /* The line above names the device already. */
    if (r->note[0] && (strncmp(r->note, "on ", 3) || r->may_contract))
        qn_str_addf(out, "note: %s\n", r->note);
}

/* One line, if files were written. */
static void add_files(const qn_fit_text *text, const qn_fit_options *o, qn_str *out)
{
    const char *before = "files: ";
    const char *const single[] = { o->stats, o->picture };

    for (int k = 0; k < text->n_writes && o->out[0]; k++, before = ", ") {
        const char *file = text->writes[k].file;

        qn_str_addf(out, "%s%s%s%s", before, file[0] == '/' ? "" : o->out,
                    file[0] == '/' ? "" : "/", file);
    }
    for (size_t k = 0; k < o->n_report; k++, before = ", ")
        qn_str_addf(out, "%s%s", before, o->report[k]);
    for (int k = 0; k < 2; k++)
        if (single[k][0]) {
            qn_str_addf(out, "%s%s", before, single[k]);
            before = ", ";
        }
    if (before[0] == ',')
        qn_str_add(out, "\n");
}

void qn_fit_print_summary(const qn_fit_text *text, const qn_fit_result *result,
                          const qn_fit_options *options, qn_str *out)
{
    const qn_fit_problem *p = text->problem;
    const qn_fit_report *last = qn_fit_last_report(result);

    qn_str_addf(out, "%s: %lld rows, %u free parameters, %d %s of %lld terms\n",
                qn_fit_base_name(options), (long long)last->n_rows, p->n_free, p->n_groups,
                p->n_groups == 1 ? "group" : "groups", (long long)qn_fit_problem_n_instances(p));
    for (int k = 0; k < result->n_solves; k++)
        add_solve(&result->solves[k], result->precision, out);
    if (last->is_underdetermined && !qn_fit_problem_has_energies(p))
        qn_str_addf(out, "note: %lld rows do not determine %d parameters; one solution of many\n",
                    (long long)last->n_rows, last->n_free);
    if (p->n_groups > 1)
        add_groups(p, last, out);
    add_parameters(p, result, out);
    if (has_deviations(result))
        qn_str_addf(out, "residual standard deviation %.10g, %lld degrees of freedom\n",
                    result->covariance.sigma, (long long)last->n_rows - p->n_free);
    else
        qn_str_addf(out, "no standard deviations: %s\n", result->no_covariance);
    add_files(text, options, out);
}
