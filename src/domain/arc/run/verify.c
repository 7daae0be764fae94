/* verify.c - checks a sample of a device's runs against the CPU.
 *
 * The engine's cross-check compares whole arrays after every stage, but no two devices leave the
 * same bytes in arenas, which are scratch. So it is off during launches of grid programs, and
 * results of runs are compared here, as many as --verify-sample requests.
 */
#include "domain/arc/run/session_impl.h"
#include "domain/arc/value/value.h"
#include "util/list.h"
#include "util/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Samples are spread evenly over all runs, as the engine does for stages. */
static int is_sampled(qn_arc_session *s)
{
    const double share = s->verify_pct / 100, k = (double)s->verify_seen++;

    return (uint64_t)((k + 1) * share) > (uint64_t)(k * share);
}

/* A job that waits for another rung, or whose output did not fit, has no result yet. */
static int has_result(const qn_arc_batch *b, uint32_t job)
{
    const int code = b->s->outcomes[b->first + job].result.code;

    return !qn_arc_code_is_limit(code) || code == ARC_E_STEPS;
}

/* Positions of the sampled jobs in the launch. */
static uint32_t sample(qn_arc_batch *b, uint32_t *places)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < b->n_now; k++)
        if (has_result(b, b->waiting[b->rung].jobs[k]) && is_sampled(b->s))
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

/* Compares outputs as text, since they may lie anywhere. */
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

/* Compares all sampled jobs; those that differ get the CPU's result. */
static qn_status compare(qn_arc_batch *b, const uint32_t *places, uint32_t n,
                         const qn_arc_answer *answer, uint32_t *n_wrong, uint32_t *first_wrong,
                         qn_err *err)
{
    const uint32_t *jobs = b->waiting[b->rung].jobs;
    size_t out_at = 0;
    qn_status st = QN_OK;

    *n_wrong = 0;
    for (uint32_t k = 0; k < n; k++) {
        qn_arc_outcome *had = &b->s->outcomes[b->first + jobs[places[k]]];
        const arc_result *r = &answer->results[k];

        /* The CPU may hit another limit first, which proves nothing. */
        if ((qn_arc_code_is_limit(r->code) && r->code != ARC_E_STEPS) ||
            is_same(b->s, had, r, answer, (b->want & ARC_WANT_OUTPUT) != 0))
            continue;
        if (!(*n_wrong)++) {
            *first_wrong = jobs[places[k]];
            QN_TRY(qn_arc_keep_outputs(b->s, answer, &out_at, err));
        }
        *had = (qn_arc_outcome){ .result = *r, .out_at = out_at, .out_bytes = answer->n_out };
    }
out:
    return st;
}

static qn_status note_mismatch(const qn_arc_batch *b, uint32_t n, uint32_t n_wrong, uint32_t job,
                               qn_err *err)
{
    char reason[96];

    snprintf(reason, sizeof reason, "%u of %u runs differ from the CPU", n_wrong, n);
    return qn_arc_note_fallback(b->s, qn_arc_job_at(b, job), QN_ERR_MISMATCH, reason, err);
}

qn_status qn_arc_verify(qn_arc_batch *b, qn_err *err)
{
    qn_metrics *metrics = qn_ctx_metrics(b->s->ctx);
    uint32_t *places = NULL;
    arc_instance *list = NULL;
    qn_arc_answer answer = { 0 };
    uint32_t n = 0, n_wrong = 0, first_wrong = 0;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(places, (size_t)b->n_now + 1, "a check of runs", err));
    QN_TRY(QN_NEW(list, (size_t)b->n_now + 1, "a check of runs", err));
    n = sample(b, places);
    if (n == 0)
        goto out;
    for (uint32_t k = 0; k < n; k++) {
        list[k] = b->list[places[k]];
        list[k].number = k;
    }
    QN_TRY(qn_arc_launch_on_cpu(b, list, n, &answer, err));
    QN_TRY(compare(b, places, n, &answer, &n_wrong, &first_wrong, err));
    qn_metric_add(qn_metric_of(metrics, "verify_checked", QN_LABELS("op", "arc_run")), n);
    if (n_wrong) {
        qn_metric_add(qn_metric_of(metrics, "verify_mismatched", QN_LABELS("op", "arc_run")),
                      n_wrong);
        QN_TRY(note_mismatch(b, n, n_wrong, first_wrong, err));
    }
out:
    free(places);
    free(list);
    return st;
}
