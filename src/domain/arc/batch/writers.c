/* writers.c - results, traces and digests of runs, line by line. */
#include "domain/arc/batch/batch.h"

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_ops.h"
#include "util/hash.h"
#include "util/status.h"

#include <inttypes.h>
#include <string.h>

qn_status qn_arc_writers_open(qn_arc_writers *w, const char *results, const char *trace,
                              const char *digest, qn_err *err)
{
    qn_status st = QN_OK;

    if (results && results[0])
        QN_TRY(qn_out_open(results, &w->results, err));
    if (trace && trace[0])
        QN_TRY(qn_out_open(trace, &w->trace, err));
    if (digest && digest[0])
        QN_TRY(qn_out_open(digest, &w->digest, err));
    w->total = QN_FNV1A64_START;
out:
    return st;
}

void qn_arc_writers_abort(qn_arc_writers *w)
{
    qn_out_abort(&w->results);
    qn_out_abort(&w->trace);
    qn_out_abort(&w->digest);
    qn_str_free(&w->line);
}

qn_status qn_arc_writers_commit(qn_arc_writers *w, qn_err *err)
{
    qn_status st = QN_OK;

    if (w->digest.file)
        fprintf(w->digest.file, "total %" PRIu64 " %016" PRIx64 "\n", w->n, w->total);
    if (w->results.file)
        QN_TRY(qn_out_commit(&w->results, err));
    if (w->trace.file)
        QN_TRY(qn_out_commit(&w->trace, err));
    if (w->digest.file)
        QN_TRY(qn_out_commit(&w->digest, err));
out:
    return st;
}

/* Trace. */

static int is_traced(const arc_ins *ins)
{
    return ins->op != ARC_OP_RET && ins->op != ARC_OP_RECORD && ins->op != ARC_OP_NEED;
}

/* The instruction that failed, or -1; also -1 for a run that never began the first one. */
static int failed_step(const arc_result *r)
{
    if (ARC_TAG(r->value) == ARC_BAD && r->code != ARC_OK)
        return ARC_AUX(r->value);
    return r->code == ARC_E_TIMEOUT ? 0 : -1;
}

/* Steps up to the failed one; later entries are left over from other runs. */
static void add_trace(FILE *to, const qn_arc_written *run)
{
    const arc_result *r = qn_arc_session_result(run->session, run->job);
    const uint64_t *hashes = qn_arc_session_trace(run->session, run->job);
    const arc_program head = qn_arc_code_head(run->code);
    const qn_arc_question *q = run->question;
    const int failed = failed_step(r);
    int k = 0;

    for (int i = 0; i < head.n_ins; i++) {
        arc_ins ins;

        memcpy(&ins, run->code->bytes + sizeof head + (size_t)i * sizeof ins, sizeof ins);
        if (!is_traced(&ins))
            continue;
        if (i == failed) {
            fprintf(to, "%s %s %s %d %d %s %s\n", run->code->id, q->task->id,
                    qn_arc_question_part(q), qn_arc_question_number(q), ins.line,
                    qn_arc_failure_op(ins.op), qn_arc_code_name(r->code));
            return;
        }
        fprintf(to, "%s %s %s %d %d %s %016" PRIx64 "\n", run->code->id, q->task->id,
                qn_arc_question_part(q), qn_arc_question_number(q), ins.line,
                ins.op < ARC_N_OPS ? qn_arc_op_name(ins.op) : "call", hashes[k++]);
    }
}

/* Digest. */

static qn_status print_output(qn_arc_writers *w, const qn_arc_written *run, const arc_result *r,
                              qn_err *err)
{
    int rows, cols;
    const int8_t *grid =
        r->code == ARC_OK ? qn_arc_session_output_grid(run->session, run->job, &rows, &cols) : NULL;
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_status st = QN_OK;

    if (grid)
        qn_arc_print_grid(&w->line, grid, rows, cols);
    if (grid || r->code != ARC_OK)
        return QN_OK;
    QN_TRY(qn_arc_heap_new(&heap, err));
    QN_TRY(qn_arc_session_output(run->session, run->job, heap, &value, err));
    qn_arc_print(&w->line, &value);
out:
    qn_arc_heap_free(heap);
    return st;
}

/* Hashes the value as the language writes it, which does not depend on the size of its numbers. */
static qn_status add_digest(qn_arc_writers *w, const qn_arc_written *run, qn_err *err)
{
    const arc_result *r = qn_arc_session_result(run->session, run->job);
    const qn_arc_question *q = run->question;
    uint64_t hash;
    qn_status st;

    w->line.len = 0;
    if ((st = print_output(w, run, r, err)) != QN_OK)
        return st;
    hash = qn_fnv1a64(qn_str_get(&w->line), w->line.len);
    w->line.len = 0;
    qn_str_addf(&w->line, "%s %s %s %d %s %u %016" PRIx64 "\n", run->code->id, q->task->id,
                qn_arc_question_part(q), qn_arc_question_number(q), qn_arc_code_name(r->code),
                r->steps, hash);
    w->total = qn_fnv1a64_add(w->total, qn_str_get(&w->line), w->line.len);
    w->n++;
    fputs(qn_str_get(&w->line), w->digest.file);
    if (w->line.failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for the output of program %s", run->code->id);
    return QN_OK;
}

qn_status qn_arc_writers_add(qn_arc_writers *w, const qn_arc_written *run, int *is_solved,
                             qn_err *err)
{
    const int is_batt = (qn_arc_code_head(run->code).flags & ARC_FLAG_BATT) != 0;
    qn_status st = QN_OK;

    if (w->trace.file)
        add_trace(w->trace.file, run);
    if (w->results.file || is_batt) {
        w->line.len = 0;
        QN_TRY(qn_arc_result_print(run, 1, &w->line, is_solved, err));
        if (w->results.file)
            fputs(qn_str_get(&w->line), w->results.file);
    }
    if (w->digest.file)
        QN_TRY(add_digest(w, run, err));
out:
    return st;
}
