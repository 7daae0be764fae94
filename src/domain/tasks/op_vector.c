/* op_vector.c - the element-wise ops: vadd, saxpy, chain. */
#include "domain/tasks/task.h"

#include "kernel/vector.gen.h"

#include <math.h>
#include <string.h>

static size_t result_bytes(const qn_task_spec *spec)
{
    return (size_t)spec->n * sizeof(float);
}

static double cost_3(const qn_task_spec *spec)
{
    return 12.0 * (double)spec->n;
}

static double cost_2(const qn_task_spec *spec)
{
    return 8.0 * (double)spec->n;
}

static qn_status fill_one(qn_task_plan *plan, qn_task_part *part, unsigned operands, qn_err *err)
{
    return operands & QN_FILL_X ? qn_task_part_random(plan, part, part->x, 0, err) : QN_OK;
}

static qn_status fill_two(qn_task_plan *plan, qn_task_part *part, unsigned operands, qn_err *err)
{
    const qn_status st = fill_one(plan, part, operands, err);

    return st == QN_OK && operands & QN_FILL_Y ? qn_task_part_random(plan, part, part->y, 1, err)
                                               : st;
}

/* Shared by the three ops. Tasks start at multiples of 64 bytes, which is aligned for vectors and
 * caches. */
#define OF_VECTORS                                                                                 \
    .module = "vector", .type = "float", .max_n = (qn_i64)1 << 30, .align = 64 / sizeof(float),    \
    .can_cut = 1, .is_padded = 1, .check_elems = 1 << 16, .elems = qn_task_elems_n,                \
    .result_bytes = result_bytes

/* Vadd. */

static qn_status build_vadd(qn_task_plan *plan, qn_task_part *part, qn_err *err)
{
    const size_t bytes = (size_t)part->elems * sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_task_part_buf(plan, part, "x", bytes, &part->x, err));
    QN_TRY(qn_task_part_buf(plan, part, "y", bytes, &part->y, err));
    QN_TRY(qn_task_part_buf(plan, part, "sum", bytes, &part->out, err));
    QN_TRY(stage_vadd(plan->graph, "vadd", qn_range_1d(part->elems), part->x, part->y, part->out,
                      err));
out:
    return st;
}

static qn_status reference_vadd(const qn_task_spec *spec, qn_i64 from, qn_i64 n, void *want,
                                QN_UNUSED qn_err *err)
{
    float *out = want;

#pragma omp parallel for if (n > QN_TASK_ALONE)
    for (qn_i64 i = 0; i < n; i++)
        out[i] = qn_random_float(spec->seed, (uint64_t)(from + i)) +
                 qn_random_float(spec->seed + 1, (uint64_t)(from + i));
    return QN_OK;
}

const qn_task_op qn_task_vadd = {
    .name = "vadd",
    OF_VECTORS,
    .parse = qn_task_parse_none,
    .cost = cost_3,
    .build = build_vadd,
    .fill = fill_two,
    .reference = reference_vadd,
};

/* Saxpy. */

static qn_status parse_factor(const char *text, QN_UNUSED qn_merkle_rule rule, qn_task_arg *out,
                              qn_err *err)
{
    out->factor = 2.0f;
    if (*text && qn_task_parse_float(text, strlen(text), &out->factor))
        return qn_fail(err, QN_ERR_USAGE, "arg '%.60s' is not a number", text);
    return QN_OK;
}

static qn_status build_saxpy(qn_task_plan *plan, qn_task_part *part, qn_err *err)
{
    const size_t bytes = (size_t)part->elems * sizeof(float);
    qn_status st = QN_OK;

    QN_TRY(qn_task_part_buf(plan, part, "x", bytes, &part->x, err));
    QN_TRY(qn_task_part_buf(plan, part, "y", bytes, &part->y, err));
    part->out = part->y;
    QN_TRY(stage_saxpy(plan->graph, "saxpy", qn_range_1d(part->elems), part->arg->factor, part->x,
                       part->y, err));
out:
    return st;
}

static qn_status reference_saxpy(const qn_task_spec *spec, qn_i64 from, qn_i64 n, void *want,
                                 QN_UNUSED qn_err *err)
{
    const float a = spec->arg->factor;
    float *out = want;

#pragma omp parallel for if (n > QN_TASK_ALONE)
    for (qn_i64 i = 0; i < n; i++) {
        const float x = qn_random_float(spec->seed, (uint64_t)(from + i));
        const float y = qn_random_float(spec->seed + 1, (uint64_t)(from + i));

        out[i] = a * x + y;
    }
    return QN_OK;
}

const qn_task_op qn_task_saxpy = {
    .name = "saxpy",
    OF_VECTORS,
    .consumes = QN_FILL_Y,
    .parse = parse_factor,
    .cost = cost_3,
    .build = build_saxpy,
    .fill = fill_two,
    .reference = reference_saxpy,
};

/* Chain. */

/* Names of the steps, by code. */
static const char *const steps[QN_CHAIN_CODES] = {
    [QN_CHAIN_MUL] = "mul",       [QN_CHAIN_ADD] = "add", [QN_CHAIN_SUB] = "sub",
    [QN_CHAIN_DIV] = "div",       [QN_CHAIN_MIN] = "min", [QN_CHAIN_MAX] = "max",
    [QN_CHAIN_ABS] = "abs",       [QN_CHAIN_NEG] = "neg", [QN_CHAIN_SQRT] = "sqrt",
    [QN_CHAIN_SQUARE] = "square", [QN_CHAIN_EXP] = "exp", [QN_CHAIN_LOG] = "log",
    [QN_CHAIN_SIN] = "sin",       [QN_CHAIN_COS] = "cos", [QN_CHAIN_TANH] = "tanh",
};

static qn_status parse_step(const char *text, size_t len, qn_task_arg *out, qn_err *err)
{
    const char *colon = memchr(text, ':', len);
    const size_t name = colon ? (size_t)(colon - text) : len;
    const int s = out->chain.n_steps;
    int code = 0;

    while (code < QN_CHAIN_CODES &&
           (strlen(steps[code]) != name || memcmp(steps[code], text, name)))
        code++;
    if (code == QN_CHAIN_CODES)
        return qn_fail(err, QN_ERR_USAGE,
                       "arg: unknown map '%.*s'; there are: mul:K add:K sub:K div:K min:K max:K "
                       "abs neg sqrt square exp log sin cos tanh",
                       (int)(len < 40 ? len : 40), text);
    if (s == CHAIN_STEPS)
        return qn_fail(err, QN_ERR_LIMIT, "arg: more than %d maps", CHAIN_STEPS);
    if ((code <= QN_CHAIN_MAX) != !!colon)
        return qn_fail(err, QN_ERR_USAGE, "arg: %s takes %s", steps[code],
                       colon ? "no number" : "a number, as in mul:2");
    if (colon && qn_task_parse_float(colon + 1, len - name - 1, &out->chain.k[s]))
        return qn_fail(err, QN_ERR_USAGE, "arg: '%.*s' has no number after the colon",
                       (int)(len < 60 ? len : 60), text);
    out->chain.code[s] = code;
    out->chain.n_steps++;
    out->is_smooth |= code >= QN_CHAIN_EXP;
    return QN_OK;
}

static qn_status parse_chain(const char *text, QN_UNUSED qn_merkle_rule rule, qn_task_arg *out,
                             qn_err *err)
{
    for (const char *at = *text ? text : "mul:2,add:1,abs,sqrt";; at++) {
        const size_t len = strcspn(at, ",");
        const qn_status st = parse_step(at, len, out, err);

        if (st != QN_OK)
            return st;
        at += len;
        if (!*at)
            return QN_OK;
    }
}

static qn_status build_chain(qn_task_plan *plan, qn_task_part *part, qn_err *err)
{
    const size_t bytes = (size_t)part->elems * sizeof(float);
    const qn_i64 groups = (part->elems + CHAIN_CHUNK - 1) / CHAIN_CHUNK;
    chain_par par = part->arg->chain;
    qn_status st = QN_OK;

    par.n = part->elems;
    QN_TRY(qn_task_part_buf(plan, part, "x", bytes, &part->x, err));
    QN_TRY(qn_task_part_buf(plan, part, "out", bytes, &part->out, err));
    QN_TRY(stage_chain(plan->graph, "chain", qn_range_1d(groups), par, part->x, part->out, err));
out:
    return st;
}

static float smooth(int code, float v)
{
    const double x = (double)v;

    switch (code) {
    case QN_CHAIN_EXP:
        return (float)exp(x);
    case QN_CHAIN_LOG:
        return (float)log(x);
    case QN_CHAIN_SIN:
        return (float)sin(x);
    case QN_CHAIN_COS:
        return (float)cos(x);
    default:
        return (float)tanh(x);
    }
}

static float stepped(int code, float k, float v)
{
    if (v != v)
        return v;
    switch (code) {
    case QN_CHAIN_MUL:
        return v * k;
    case QN_CHAIN_ADD:
        return v + k;
    case QN_CHAIN_SUB:
        return v - k;
    case QN_CHAIN_DIV:
        return v / k;
    case QN_CHAIN_MIN:
        return v < k ? v : k;
    case QN_CHAIN_MAX:
        return v > k ? v : k;
    case QN_CHAIN_ABS:
        return v < 0 || (v == 0 && signbit(v)) ? -v : v;
    case QN_CHAIN_NEG:
        return -v;
    case QN_CHAIN_SQRT:
        return sqrtf(v);
    case QN_CHAIN_SQUARE:
        return v * v;
    default:
        return smooth(code, v);
    }
}

static qn_status reference_chain(const qn_task_spec *spec, qn_i64 from, qn_i64 n, void *want,
                                 QN_UNUSED qn_err *err)
{
    const chain_par *par = &spec->arg->chain;
    float *out = want;

#pragma omp parallel for if (n > QN_TASK_ALONE)
    for (qn_i64 i = 0; i < n; i++) {
        float v = qn_random_float(spec->seed, (uint64_t)(from + i));

        for (int s = 0; s < par->n_steps; s++)
            v = stepped(par->code[s], par->k[s], v);
        out[i] = v;
    }
    return QN_OK;
}

const qn_task_op qn_task_chain = {
    .name = "chain",
    OF_VECTORS,
    .parse = parse_chain,
    .cost = cost_2,
    .build = build_chain,
    .fill = fill_one,
    .reference = reference_chain,
};
