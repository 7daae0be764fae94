/* sizes.c - lists of ops and sizes as users write them. */
#include "lab/scan/scan.h"

#include "domain/tasks/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 10000, MAX_PER_DECADE = 1000 };

#define MAX_SIZE ((qn_i64)1 << 40)

void qn_sizes_free(qn_sizes *sizes)
{
    free(sizes->list);
    *sizes = (qn_sizes){ 0 };
}

qn_status qn_sizes_add(qn_sizes *sizes, qn_i64 size, qn_err *err)
{
    qn_i64 *list;
    size_t at = 0;

    while (at < sizes->n && sizes->list[at] < size)
        at++;
    if (at < sizes->n && sizes->list[at] == size)
        return QN_OK;
    if (sizes->n == MAX_SIZES)
        return qn_fail(err, QN_ERR_USAGE, "more than %d sizes", MAX_SIZES);
    if (!(list = realloc(sizes->list, (sizes->n + 1) * sizeof *list)))
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %zu sizes", sizes->n + 1);
    memmove(list + at + 1, list + at, (sizes->n - at) * sizeof *list);
    list[at] = size;
    sizes->list = list;
    sizes->n++;
    return QN_OK;
}

/* Sizes. */

/* A whole number, also written as 1e6. */
static qn_status parse_size(const char *text, qn_i64 *out, qn_err *err)
{
    char *end;
    const double value = strtod(text, &end);

    if (text[0] < '0' || text[0] > '9' || *end || value != floor(value) || value < 1 ||
        value > (double)MAX_SIZE)
        return qn_fail(err, QN_ERR_USAGE, "size '%.40s' is not a whole number from 1 to %lld", text,
                       (long long)MAX_SIZE);
    *out = (qn_i64)value;
    return QN_OK;
}

static qn_status add_geometric(qn_i64 min, qn_i64 max, qn_i64 per_decade, qn_sizes *out,
                               qn_err *err)
{
    qn_status st = QN_OK;

    if (min > max)
        return qn_fail(err, QN_ERR_USAGE, "sizes from %lld to %lld", (long long)min,
                       (long long)max);
    for (int k = 0;; k++) {
        const double size = (double)min * pow(10, k / (double)per_decade);

        if (!(size < (double)max))
            break;
        QN_TRY(qn_sizes_add(out, (qn_i64)(size + 0.5), err));
    }
    QN_TRY(qn_sizes_add(out, max, err));
out:
    return st;
}

static qn_status parse_range(const char *text, qn_sizes *out, qn_err *err)
{
    qn_i64 value[3];
    char part[48];
    qn_status st = QN_OK;

    for (int i = 0; i < 3; i++) {
        const size_t len = strcspn(text, ":");

        snprintf(part, sizeof part, "%.*s", (int)len, text);
        QN_TRY(parse_size(part, &value[i], err));
        text += len;
        if (*text != (i < 2 ? ':' : '\0'))
            QN_FAIL(err, QN_ERR_USAGE, "a range of sizes is MIN:MAX:PER_DECADE");
        text += i < 2;
    }
    if (value[2] > MAX_PER_DECADE)
        QN_FAIL(err, QN_ERR_USAGE, "%lld sizes per decade, the limit is %d", (long long)value[2],
                MAX_PER_DECADE);
    QN_TRY(add_geometric(value[0], value[1], value[2], out, err));
out:
    return st;
}

static qn_status parse_list(const char *text, qn_sizes *out, qn_err *err)
{
    qn_status st = QN_OK;
    char item[48];
    qn_i64 size;

    for (int i = 0; qn_list_item(text, i, item, sizeof item); i++) {
        QN_TRY(parse_size(item, &size, err));
        QN_TRY(qn_sizes_add(out, size, err));
    }
    if (!out->n)
        st = qn_fail(err, QN_ERR_USAGE, "no size in '%.40s'", text);
out:
    return st;
}

qn_status qn_sizes_parse(const char *text, qn_sizes *out, qn_err *err)
{
    qn_sizes sizes = { 0 };
    qn_status st = QN_OK;

    QN_TRY(strchr(text, ':') ? parse_range(text, &sizes, err) : parse_list(text, &sizes, err));
    *out = sizes;
    sizes = (qn_sizes){ 0 };
out:
    qn_sizes_free(&sizes);
    return st;
}

/* The work grows with the cube of a matrix's side, and a message is more work than a float. */
static const struct {
    const char *op;
    qn_i64 min, max;
} ranges[] = {
    { "matmul", 10, 1000 },     { "sha256", 100, 1000000 }, { "keccak256", 100, 1000000 },
    { "merkle", 100, 1000000 }, { NULL, 1000, 10000000 },
};

qn_status qn_sizes_default(const char *op, qn_sizes *out, qn_err *err)
{
    static const int steps[] = { 1, 2, 5 };
    qn_sizes sizes = { 0 };
    qn_status st = QN_OK;
    int r = 0;

    while (ranges[r].op && strcmp(ranges[r].op, op))
        r++;
    for (qn_i64 decade = ranges[r].min; decade <= ranges[r].max; decade *= 10)
        for (int i = 0; i < 3 && decade * steps[i] <= ranges[r].max; i++)
            QN_TRY(qn_sizes_add(&sizes, decade * steps[i], err));
    *out = sizes;
    sizes = (qn_sizes){ 0 };
out:
    qn_sizes_free(&sizes);
    return st;
}

/* Ops. */

const char *qn_op_list_of(const char *ops)
{
    return !ops ? "vadd" : !strcmp(ops, "all") ? qn_task_op_names() : ops;
}

static int is_before(const char *ops, int i, const char *name)
{
    char other[48];

    while (i-- > 0)
        if (qn_list_item(ops, i, other, sizeof other) && !strcmp(other, name))
            return 1;
    return 0;
}

qn_status qn_op_list_check(const char *ops, qn_err *err)
{
    char name[48];
    int n = 0;

    for (; qn_list_item(ops, n, name, sizeof name); n++) {
        if (!qn_task_op_find(name))
            return qn_fail(err, QN_ERR_USAGE, "unknown op '%s'; there are: %s", name,
                           qn_task_op_names());
        if (is_before(ops, n, name))
            return qn_fail(err, QN_ERR_USAGE, "op %s is named twice", name);
    }
    return n ? QN_OK : qn_fail(err, QN_ERR_USAGE, "no op in '%.40s'", ops);
}
