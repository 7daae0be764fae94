/* verify.c - results of a device beside those of the CPU. */
#include "domain/arc/run/verify.h"

#include "domain/arc/run/launch.h"
#include "domain/arc/value/encode.h"
#include "domain/arc/value/text.h"
#include "engine/engine.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

void qn_arc_verify_begin(qn_arc_session *s)
{
    s->verify_pct = qn_ctx_set_verify(s->ctx, 0);
}

void qn_arc_verify_end(qn_arc_session *s)
{
    qn_ctx_set_verify(s->ctx, s->verify_pct);
}

/* Spread evenly over all runs, as the engine does it for stages. */
static int is_sampled(qn_arc_session *s)
{
    const double share = s->verify_pct / 100, k = (double)s->verify_seen++;

    return (uint64_t)((k + 1) * share) > (uint64_t)(k * share);
}

/* What went on to another tier, or found no room for its output, has no result yet. */
static int has_result(const qn_arc_flight *f, uint32_t job)
{
    const int code = f->s->outcomes[f->slice->first + job].result.code;

    return !qn_arc_code_is_limit(code) || code == ARC_E_STEPS;
}

/* Places of sampled jobs in the launch. */
static uint32_t choose(qn_arc_flight *f, uint32_t *places)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < f->n_now; k++)
        if (has_result(f, f->waiting[f->tier].jobs[k]) && is_sampled(f->s))
            places[n++] = k;
    return n;
}

/* Comparing. */

static qn_status print_value(uint64_t slot, const unsigned char *out, size_t n, qn_str *text,
                             qn_err *err)
{
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_heap_new(&heap, err));
    QN_TRY(qn_arc_decode(slot, out, n, 0, heap, &value, err));
    qn_arc_print(text, &value);
out:
    qn_arc_heap_free(heap);
    return st;
}

/* Outputs are compared as the language writes them: where they lie is another matter. */
static int is_same(const qn_arc_session *s, const qn_arc_outcome *had, const arc_result *r,
                   const qn_arc_answer *answer, int has_output)
{
    const arc_result *h = &had->result;
    qn_str one = { 0 }, other = { 0 };
    qn_err ignored;
    int same = h->code == r->code && h->steps == r->steps && h->not_ok == r->not_ok &&
               h->line == r->line && h->op == r->op && h->equal == r->equal &&
               h->differing == r->differing;

    if (same && has_output && r->code == ARC_OK)
        same =
            print_value(h->value, qn_arc_out_of(s, had), had->out_bytes, &one, &ignored) == QN_OK &&
            print_value(r->value, answer->out, answer->n_out, &other, &ignored) == QN_OK &&
            strcmp(qn_str_get(&one), qn_str_get(&other)) == 0;
    qn_str_free(&one);
    qn_str_free(&other);
    return same;
}

/* Compares all; those that differ get the CPU's result. */
static qn_status compare(qn_arc_flight *f, const uint32_t *places, uint32_t n,
                         const qn_arc_answer *answer, uint32_t *n_wrong, uint32_t *first_wrong,
                         qn_err *err)
{
    const uint32_t *jobs = f->waiting[f->tier].jobs;
    size_t out_at = 0;
    qn_status st = QN_OK;

    *n_wrong = 0;
    for (uint32_t k = 0; k < n; k++) {
        qn_arc_outcome *had = &f->s->outcomes[f->slice->first + jobs[places[k]]];
        const arc_result *r = &answer->results[k];

        /* On the CPU another limit may come first: nothing can be said. */
        if ((qn_arc_code_is_limit(r->code) && r->code != ARC_E_STEPS) ||
            is_same(f->s, had, r, answer, (f->slice->want & ARC_WANT_OUTPUT) != 0))
            continue;
        if (!(*n_wrong)++) {
            *first_wrong = jobs[places[k]];
            QN_TRY(qn_arc_keep_outputs(f->s, answer, &out_at, err));
        }
        *had = (qn_arc_outcome){ .result = *r, .out_at = out_at, .out_bytes = answer->n_out };
    }
out:
    return st;
}

static qn_status tell(qn_arc_flight *f, uint32_t n, uint32_t n_wrong, uint32_t job, qn_err *err)
{
    const qn_arc_job *j = qn_arc_job_at(f, job);
    const int grid = qn_arc_job_grid(f->s, j);
    qn_err why;

    qn_fail(&why, QN_ERR_MISMATCH, "%u of %u runs differ from the CPU (program %s, grid %s)",
            n_wrong, n, f->s->programs.items[j->program].id,
            grid < 0 ? "none" : f->s->values.items[grid].id);
    if (qn_fallback_note(f->s->ctx, "arc.vm", &why) == QN_OK)
        return QN_OK;
    return qn_fail(err, why.status, "%s", why.text);
}

qn_status qn_arc_verify(qn_arc_flight *f, qn_err *err)
{
    qn_metrics *metrics = qn_ctx_metrics(f->s->ctx);
    uint32_t *places = malloc(((size_t)f->n_now + 1) * sizeof *places);
    arc_instance *list = malloc(((size_t)f->n_now + 1) * sizeof *list);
    qn_arc_answer answer = { 0 };
    uint32_t n = 0, n_wrong = 0, first_wrong = 0;
    qn_status st = QN_OK;

    if (!places || !list) {
        st = qn_fail(err, QN_ERR_NOMEM, "arc: no memory for a check of %u runs", f->n_now);
        goto out;
    }
    n = choose(f, places);
    if (n == 0)
        goto out;
    for (uint32_t k = 0; k < n; k++) {
        list[k] = f->list[places[k]];
        list[k].number = k;
    }
    QN_TRY(qn_arc_launch_cpu(f, list, n, &answer, err));
    QN_TRY(compare(f, places, n, &answer, &n_wrong, &first_wrong, err));
    qn_metric_add(qn_metric_of(metrics, "verify_checked", QN_LABELS("op", "arc_run")), n);
    if (n_wrong) {
        qn_metric_add(qn_metric_of(metrics, "verify_mismatched", QN_LABELS("op", "arc_run")),
                      n_wrong);
        QN_TRY(tell(f, n, n_wrong, first_wrong, err));
    }
out:
    free(places);
    free(list);
    return st;
}
