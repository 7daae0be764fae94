/* ops.c - turns the tasks of a caller into checked specs.
 *
 * Each distinct argument text is parsed only once.
 */
#include "domain/tasks/task.h"

#include "engine/engine.h"
#include "util/list.h"
#include "util/map.h"
#include "util/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const qn_task_op *const ops[] = {
    &qn_task_vadd, &qn_task_saxpy,  &qn_task_chain,  &qn_task_sum,       &qn_task_dot,
    &qn_task_max,  &qn_task_matmul, &qn_task_sha256, &qn_task_keccak256, &qn_task_merkle,
};

enum { N_OPS = sizeof ops / sizeof *ops };

const qn_task_op *qn_task_op_find(const char *name)
{
    for (int i = 0; i < N_OPS; i++)
        if (!strcmp(ops[i]->name, name))
            return ops[i];
    return NULL;
}

const char *qn_task_op_names(void)
{
    return "vadd, saxpy, chain, sum, dot, max, matmul, sha256, keccak256, merkle";
}

int qn_task_arg_compare(const qn_task_arg *a, const qn_task_arg *b)
{
    return a == b ? 0 : memcmp((const char *)a, (const char *)b, sizeof *a);
}

/* Functions used by several ops. */

qn_status qn_task_parse_none(const char *text, QN_UNUSED qn_merkle_rule rule,
                             QN_UNUSED qn_task_arg *out, qn_err *err)
{
    return *text ? qn_fail(err, QN_ERR_USAGE, "the op takes no arg, not '%.60s'", text) : QN_OK;
}

int qn_task_parse_float(const char *text, size_t len, float *out)
{
    char copy[48];
    char *end;

    if (!len || len >= sizeof copy || strspn(text, "0123456789+-.eE") < len)
        return -1;
    memcpy(copy, text, len);
    copy[len] = 0;
    *out = strtof(copy, &end);
    return *end || !isfinite(*out) ? -1 : 0;
}

qn_i64 qn_task_elems_n(const qn_task_spec *spec)
{
    return spec->n;
}

void qn_task_random(float *to, uint64_t seed, qn_i64 from, qn_i64 n)
{
#pragma omp parallel for simd if (n > QN_TASK_ALONE)
    for (qn_i64 i = 0; i < n; i++)
        to[i] = qn_random_float(seed, (uint64_t)(from + i));
}

void qn_task_random_bytes(uint8_t *to, uint64_t seed, qn_i64 n)
{
#pragma omp parallel for simd if (n > QN_TASK_ALONE)
    for (qn_i64 i = 0; i < n; i++)
        to[i] = qn_random_byte(seed, (uint64_t)i);
}

/* Checks. */

static qn_status read_size(const qn_task *task, const qn_tasks_options *options, qn_task_spec *spec,
                           qn_err *err)
{
    const qn_task_op *op = spec->op;

    if (task->n < 1)
        return qn_fail(err, QN_ERR_USAGE, "size %lld; %s needs at least 1", (long long)task->n,
                       op->name);
    if (task->n > op->max_n)
        return qn_fail(err, QN_ERR_LIMIT, "size %lld exceeds the limit %lld of %s",
                       (long long)task->n, (long long)op->max_n, op->name);
    spec->n = task->n;
    spec->seed = task->seed;
    return qn_bucket((uint64_t)op->elems(spec), (uint64_t)options->bucket_min, &spec->bucket, err);
}

static qn_status find_op(const qn_task *task, const qn_task_op **out, qn_err *err)
{
    if ((*out = qn_task_op_find(task->op ? task->op : "")))
        return QN_OK;
    return qn_fail(err, QN_ERR_USAGE, "unknown op '%.40s'; there are: %s", task->op ? task->op : "",
                   qn_task_op_names());
}

qn_status qn_task_check_one(const qn_task *task, const qn_tasks_options *options, qn_err *err)
{
    qn_task_spec spec = { 0 };
    qn_task_arg arg = { .spare = 0 };
    qn_status st = QN_OK;

    QN_TRY(find_op(task, &spec.op, err));
    QN_TRY(spec.op->parse(task->arg ? task->arg : "", (qn_merkle_rule)options->merkle_rule, &arg,
                          err));
    spec.arg = &arg;
    QN_TRY(read_size(task, options, &spec, err));
out:
    return st;
}

/* Lists. */

struct qn_task_arg_node {
    struct qn_task_arg_node *next;
    const qn_task_op *op;
    qn_task_arg arg;
    char text[];
};

typedef struct qn_task_arg_node arg_node;

static qn_status new_arg(const qn_task_op *op, const char *text, qn_merkle_rule rule,
                         qn_task_list *list, qn_map *known, const char *key, arg_node **out,
                         qn_err *err)
{
    arg_node *node = calloc(1, sizeof *node + strlen(text) + 1);
    qn_status st;

    if (!node)
        return qn_fail(err, QN_ERR_NOMEM, "out of host memory");
    node->op = op;
    strcpy(node->text, text);
    node->next = list->args;
    list->args = node;
    *out = node;
    if ((st = op->parse(text, rule, &node->arg, err)) != QN_OK)
        return st;
    return qn_map_put(known, key, node) == QN_OK ? QN_OK
                                                 : qn_fail(err, QN_ERR_NOMEM, "out of host memory");
}

/* The argument of a task. Adjacent tasks mostly have the same one, so `last` is tried first. */
static qn_status find_arg(const qn_task_op *op, const char *text, qn_merkle_rule rule,
                          qn_task_list *list, qn_map *known, arg_node **last, qn_err *err)
{
    qn_str key = { 0 };
    qn_status st = QN_OK;
    arg_node *node;

    if (*last && (*last)->op == op && !strcmp((*last)->text, text))
        return QN_OK;
    qn_str_addf(&key, "%s %s", op->name, text);
    if ((node = qn_map_get(known, qn_str_get(&key))))
        *last = node;
    else
        st = new_arg(op, text, rule, list, known, qn_str_get(&key), last, err);
    qn_str_free(&key);
    return st;
}

static qn_status read_one(const qn_task *task, const qn_tasks_options *options, qn_task_list *list,
                          int i, qn_map *known, arg_node **last, qn_err *err)
{
    qn_task_spec *spec = &list->specs[i];
    qn_status st = QN_OK;

    QN_TRY(find_op(task, &spec->op, err));
    QN_TRY(find_arg(spec->op, task->arg ? task->arg : "", (qn_merkle_rule)options->merkle_rule,
                    list, known, last, err));
    spec->arg = &(*last)->arg;
    list->texts[i] = (*last)->text;
    QN_TRY(read_size(task, options, spec, err));
out:
    return st == QN_OK ? st : qn_prefix(err, "task %lld", (long long)task->id);
}

qn_status qn_task_list_read(const qn_task *tasks, int n, const qn_tasks_options *options,
                            qn_task_list *out, qn_err *err)
{
    qn_task_list list = { .n = n };
    qn_map known = { 0 };
    arg_node *last = NULL;
    qn_status st = QN_OK;

    if (n < 1 || n > QN_MAX_TASKS)
        QN_FAIL(err, n < 1 ? QN_ERR_USAGE : QN_ERR_LIMIT, "a batch of %d tasks; must have 1 to %d",
                n, QN_MAX_TASKS);
    QN_TRY(QN_NEW(list.specs, n, "a batch of tasks", err));
    QN_TRY(QN_NEW(list.texts, n, "a batch of tasks", err));
    for (int i = 0; i < n; i++)
        QN_TRY(read_one(&tasks[i], options, &list, i, &known, &last, err));
    *out = list;
    list = (qn_task_list){ 0 };
out:
    qn_map_free(&known);
    qn_task_list_free(&list);
    return st;
}

void qn_task_list_free(qn_task_list *list)
{
    while (list->args) {
        arg_node *node = list->args;

        list->args = node->next;
        free(node);
    }
    free(list->specs);
    free(list->texts);
    *list = (qn_task_list){ 0 };
}

int qn_task_list_is(const qn_task_list *list, const qn_task *tasks, int n)
{
    if (list->n != n)
        return 0;
    for (int i = 0; i < n; i++) {
        const qn_task_spec *spec = &list->specs[i];
        const qn_task *task = &tasks[i];

        if (spec->n != task->n || spec->seed != task->seed || !task->op ||
            strcmp(spec->op->name, task->op) || strcmp(list->texts[i], task->arg ? task->arg : ""))
            return 0;
    }
    return 1;
}
