/* series.c - questions from tasks, and the programs that run on them. */
#include "domain/arc/batch/batch.h"

#include "domain/arc/run/cut.h"
#include "util/list.h"
#include "util/map.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

enum { ID_SIZE = 96 };

const char *qn_arc_question_part(const qn_arc_question *q)
{
    return q->pair < q->task->n_train ? "train" : "test";
}

int qn_arc_question_number(const qn_arc_question *q)
{
    return q->pair < q->task->n_train ? q->pair : q->pair - q->task->n_train;
}

int qn_arc_pairs_have(qn_arc_pairs pairs, const qn_arc_question *q)
{
    const int is_train = q->pair < q->task->n_train;

    return pairs == QN_ARC_PAIRS_ALL || (pairs == QN_ARC_PAIRS_TRAIN && is_train) ||
           (pairs == QN_ARC_PAIRS_TEST && !is_train) ||
           (pairs == QN_ARC_PAIRS_FIRST && q->pair == 0);
}

/* Questions. */

/* The grid with other colours; its cells are in `cells`. */
static qn_arc_grid recoloured(const qn_arc_grid *grid, const unsigned char *recolour,
                              unsigned char *cells)
{
    if (!recolour || !grid->cells)
        return *grid;
    for (int k = 0; k < grid->rows * grid->cols; k++)
        cells[k] = recolour[grid->cells[k]];
    return (qn_arc_grid){ .rows = grid->rows, .cols = grid->cols, .cells = cells };
}

static qn_status add_grid(qn_arc_session *session, const char *id, const qn_arc_grid *grid,
                          const unsigned char *recolour, int *index, qn_err *err)
{
    unsigned char cells[QN_ARC_MOST_SIDE * QN_ARC_MOST_SIDE];
    const qn_arc_grid shown = recoloured(grid, recolour, cells);

    *index = -1;
    if (!grid->cells)
        return QN_OK;
    return qn_arc_session_grid(session, id, shown.cells, shown.rows, shown.cols, index, err);
}

/* Samples keep their colours: recoloured runs are only for timing. */
static qn_status add_samples(qn_arc_session *session, const qn_arc_task *task, int *index,
                             qn_err *err)
{
    qn_arc_heap *heap = NULL;
    qn_arc_value value;
    qn_status st = QN_OK;

    QN_TRY(qn_arc_heap_new(&heap, err));
    QN_TRY(qn_arc_samples(task, heap, &value, err));
    QN_TRY(qn_arc_session_value(session, task->id, &value, index, err));
out:
    qn_arc_heap_free(heap);
    return st;
}

/* "TASK train 3"; by hand, since a batch of a hundred thousand grids needs as many of these. */
static void print_id(const qn_arc_question *q, const char *task, size_t n_task, char out[ID_SIZE])
{
    const char *part = q->pair < q->task->n_train ? " train " : " test ";
    int number = qn_arc_question_number(q);
    char digits[12], *d = digits + sizeof digits;

    memcpy(out, task, n_task);
    memcpy(out + n_task, part, strlen(part));
    out += n_task + strlen(part);
    *--d = '\0';
    do
        *--d = (char)('0' + number % 10);
    while (number /= 10);
    memcpy(out, d, (size_t)(digits + sizeof digits - d));
}

qn_status qn_arc_questions_add(qn_arc_questions *list, const qn_arc_task *task,
                               const qn_arc_question_options *options, qn_arc_session *session,
                               qn_err *err)
{
    const int n_pairs = task->n_train + task->n_test;
    const size_t n_id = strnlen(task->id, ID_SIZE - 24);
    qn_status st = QN_OK;
    int samples = -1;

    QN_TRY(QN_ROOM(list->items, list->n + n_pairs, &list->room, "grids", err));
    if (options->with_samples)
        QN_TRY(add_samples(session, task, &samples, err));
    for (int k = 0; k < n_pairs; k++) {
        qn_arc_question q = { .task = task, .pair = k, .expected = -1, .samples = samples };
        char id[ID_SIZE];

        if (!qn_arc_pairs_have(options->pairs, &q))
            continue;
        print_id(&q, task->id, n_id, id);
        QN_TRY(add_grid(session, id, &task->pairs[k].input, options->recolour, &q.input, err));
        if (!options->without_expected)
            QN_TRY(
                add_grid(session, "", &task->pairs[k].output, options->recolour, &q.expected, err));
        list->items[list->n++] = q;
    }
out:
    return st;
}

void qn_arc_questions_free(qn_arc_questions *list)
{
    free(list->items);
    *list = (qn_arc_questions){ 0 };
}

/* Series. */

/* Programs by id. Batt programs run on all tasks, whatever their ids, so they are in a list. */
typedef struct directory {
    qn_map by_id;            /* id -> its element of the list of codes */
    const qn_arc_task *task; /* looked up last: its pairs are consecutive */
    const qn_arc_code *own;
    int *batts;
    int n_batts;
} directory;

static qn_status index_codes(const qn_arc_code *codes, int n_codes, directory *out, qn_err *err)
{
    int failed = !(out->batts = malloc(((size_t)n_codes + 1) * sizeof *out->batts));

    for (int p = 0; p < n_codes && !failed; p++)
        if (qn_arc_code_head(&codes[p]).flags & ARC_FLAG_BATT)
            out->batts[out->n_batts++] = p;
        else
            failed = qn_map_put(&out->by_id, codes[p].id, (void *)&codes[p]) != QN_OK;
    return failed ? qn_fail(err, QN_ERR_NOMEM, "arc: no memory for %d programs", n_codes) : QN_OK;
}

static void drop_directory(directory *d)
{
    qn_map_free(&d->by_id);
    free(d->batts);
}

/* Lists the runs of a question by id; if `to` is NULL, counts them. */
static uint64_t list_by_id(const qn_arc_code *codes, directory *d,
                           const qn_arc_questions *questions, int q, qn_arc_series_run *to)
{
    const qn_arc_task *task = questions->items[q].task;
    uint64_t n = 0;

    if (task != d->task)
        d->own = qn_map_get(&d->by_id, task->id);
    d->task = task;
    if (d->own && to)
        to[n] = (qn_arc_series_run){ .program = (int)(d->own - codes), .question = q };
    n += d->own != NULL;
    for (int i = 0; i < d->n_batts; i++, n++)
        if (to)
            to[n] = (qn_arc_series_run){ .program = d->batts[i], .question = q };
    return n;
}

qn_status qn_arc_series_make(const qn_arc_code *codes, int n_codes,
                             const qn_arc_questions *questions, int match_all, qn_arc_series *out,
                             qn_err *err)
{
    uint64_t n = match_all ? (uint64_t)questions->n * (uint64_t)n_codes : 0, at = 0;
    qn_arc_series_run *items = NULL;
    directory d = { 0 };
    qn_status st = QN_OK;

    QN_TRY(index_codes(codes, n_codes, &d, err));
    for (int q = 0; q < questions->n && !match_all; q++)
        n += list_by_id(codes, &d, questions, q, NULL);
    if (n > UINT32_MAX / 2)
        QN_FAIL(err, QN_ERR_LIMIT, "arc: %d programs on %d grids are more than %u runs", n_codes,
                questions->n, UINT32_MAX / 2);
    QN_TRY(QN_NEW(items, (size_t)n + 1, "runs", err));
    for (int q = 0; q < questions->n; q++) {
        for (int p = 0; p < n_codes && match_all; p++)
            items[at++] = (qn_arc_series_run){ .program = p, .question = q };
        if (!match_all)
            at += list_by_id(codes, &d, questions, q, items + at);
    }
    *out = (qn_arc_series){ .items = items, .n = (uint32_t)n };
out:
    drop_directory(&d);
    return st;
}

void qn_arc_series_free(qn_arc_series *series)
{
    free(series->items);
    *series = (qn_arc_series){ 0 };
}

qn_status qn_arc_series_do(qn_arc_session *session, const qn_arc_series_work *work, qn_err *err)
{
    const uint32_t most = qn_arc_cut_series(work->n, work->want);
    qn_arc_job *jobs = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(jobs, (size_t)most + 1, "runs", err));
    for (uint64_t first = 0; first < work->n; first += most) {
        const uint32_t n = work->n - first < most ? (uint32_t)(work->n - first) : most;

        for (uint32_t k = 0; k < n; k++)
            jobs[k] = work->job_of(work->user, first + k);
        QN_TRY(qn_arc_session_run(session, jobs, n, work->want, work->trace_stride, err));
        for (uint32_t k = 0; k < n; k++)
            QN_TRY(work->on_run(work->user, first + k, k, err));
        if (work->after)
            QN_TRY(work->after(work->user, jobs, n, err));
    }
out:
    free(jobs);
    return st;
}

int qn_arc_takes_samples(const qn_arc_code *codes, int n)
{
    for (int i = 0; i < n; i++)
        if (qn_arc_code_head(&codes[i]).flags & ARC_FLAG_THREE)
            return 1;
    return 0;
}

qn_arc_job qn_arc_job_of(const qn_arc_code *code, int number, const qn_arc_question *q)
{
    if (qn_arc_code_head(code).flags & ARC_FLAG_THREE)
        return (qn_arc_job){ .program = number,
                             .args = { q->samples, q->input, q->expected },
                             .expected = q->expected };
    return (qn_arc_job){ .program = number, .args = { q->input, -1, -1 }, .expected = q->expected };
}
