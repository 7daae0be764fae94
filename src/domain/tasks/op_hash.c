/* op_hash.c - digests of many messages: sha256, keccak256.
 *
 * The messages of all tasks of a part are stored without gaps; a table has their starts. Lengths
 * may differ: like the bytes, they come from the seed.
 */
#include "domain/tasks/task.h"

#include "keccak.h"
#include "kernel/keccak.gen.h"
#include "kernel/sha256.gen.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MESSAGES ((qn_i64)1 << 26)
#define MAX_LENGTH   ((qn_i64)1 << 30)

enum { DIGEST = 32, DEFAULT_LENGTH = 64 };

static qn_status parse_lengths(const char *text, QN_UNUSED qn_merkle_rule rule, qn_task_arg *out,
                               qn_err *err)
{
    char *end;

    out->min_len = out->max_len = DEFAULT_LENGTH;
    if (!*text)
        return QN_OK;
    /* Digits only: strtoll would skip blanks and accept signs. */
    if (text[strspn(text, "0123456789-")] || text[0] == '-' || strlen(text) > 21)
        goto wrong;
    out->min_len = out->max_len = strtoll(text, &end, 10);
    if (*end == '-') {
        if (end[1] < '0' || end[1] > '9')
            goto wrong;
        out->max_len = strtoll(end + 1, &end, 10);
    }
    if (*end || out->max_len < out->min_len)
        goto wrong;
    if (out->max_len > MAX_LENGTH)
        return qn_fail(err, QN_ERR_LIMIT, "arg: messages of %lld bytes exceed the limit %lld",
                       (long long)out->max_len, (long long)MAX_LENGTH);
    return QN_OK;
wrong:
    return qn_fail(err, QN_ERR_USAGE, "arg '%.60s' is not LEN or LEAST-MOST in bytes", text);
}

static qn_i64 length_of(const qn_task_spec *spec, qn_i64 i)
{
    const uint64_t choices = (uint64_t)(spec->arg->max_len - spec->arg->min_len) + 1;

    return spec->arg->min_len +
           (choices > 1 ? (qn_i64)(qn_random_u64(spec->seed + 1, (uint64_t)i) % choices) : 0);
}

static qn_i64 bytes_of(const qn_task_spec *spec)
{
    qn_i64 bytes = 0;

    if (spec->arg->min_len == spec->arg->max_len)
        return spec->n * spec->arg->max_len;
    for (qn_i64 i = 0; i < spec->n; i++)
        bytes += length_of(spec, i);
    return bytes;
}

static size_t result_bytes(const qn_task_spec *spec)
{
    return (size_t)spec->n * DIGEST;
}

/* A device hashes a byte in about the time it moves two. */
static double cost(const qn_task_spec *spec)
{
    const double len = 0.5 * (double)(spec->arg->min_len + spec->arg->max_len);

    return (double)spec->n * (DIGEST + 8 + 3 * (len + 9));
}

static qn_status build(qn_task_plan *plan, qn_task_part *part, qn_err *err)
{
    const int is_sha = part->op == &qn_task_sha256;
    const qn_i64 n = part->elems;
    const qn_i64 words = n * part->arg->max_len / 4 + 1;
    const int lanes = is_sha ? qn_kernel_sha256.lanes : qn_kernel_keccak256.lanes;
    const qn_range groups = qn_range_1d((n + lanes - 1) / lanes);
    const char *name = part->op->name;
    qn_status st = QN_OK;

    QN_TRY(qn_task_part_buf(plan, part, "start", ((size_t)n + 1) * sizeof(i64), &part->table, err));
    QN_TRY(qn_task_part_buf(plan, part, "data", (size_t)words * sizeof(u32), &part->x, err));
    QN_TRY(qn_task_part_buf(plan, part, "hash", (size_t)n * DIGEST, &part->out, err));
    QN_TRY(is_sha ? stage_sha256(plan->graph, name, groups, n, words, part->table, part->x,
                                 part->out, err)
                  : stage_keccak256(plan->graph, name, groups, n, words, part->table, part->x,
                                    part->out, err));
out:
    return st;
}

/* Fills one array after the other, because allocating the second may evict the first. */
static qn_status fill(qn_task_plan *plan, qn_task_part *part, unsigned operands, qn_err *err)
{
    void *host;
    qn_i64 at = 0;
    qn_status st = QN_OK;

    (void)operands; /* nothing is consumed, so always fill all */
    QN_TRY(qn_buf_host(part->table, QN_HOST_DISCARD, &host, err));
    for (int k = 0; k < part->n_tasks; k++) {
        const qn_task_span span = qn_task_part_span(plan, part, k);
        i64 *start = (i64 *)host + span.at;

        for (qn_i64 i = 0; i < span.n; i++) {
            start[i] = at;
            at += length_of(span.spec, i);
        }
        start[span.n] = at;
    }
    QN_TRY(qn_buf_host(part->x, QN_HOST_DISCARD, &host, err));
    at = 0;
    for (int k = 0; k < part->n_tasks; k++) {
        const qn_task_spec *spec = qn_task_part_span(plan, part, k).spec;
        const qn_i64 bytes = bytes_of(spec);

        qn_task_random_bytes((uint8_t *)host + at, spec->seed, bytes);
        at += bytes;
    }
out:
    return st;
}

static qn_status reference(const qn_task_spec *spec, QN_UNUSED qn_i64 first, QN_UNUSED qn_i64 n,
                           void *want, qn_err *err)
{
    const int is_sha = spec->op == &qn_task_sha256;
    uint8_t *to = want;
    i64 *start = malloc(((size_t)spec->n + 1) * sizeof *start);
    int failed = !start;

    if (start) {
        start[0] = 0;
        for (qn_i64 i = 0; i < spec->n; i++)
            start[i + 1] = start[i] + length_of(spec, i);
    }
#pragma omp parallel reduction(| : failed) if (spec->n > QN_TASK_ALONE / 64)
    {
        uint8_t *message = failed ? NULL : malloc((size_t)spec->arg->max_len + 1);

        failed |= !message;
#pragma omp for
        for (qn_i64 i = 0; i < spec->n; i++) {
            if (!message || !start)
                continue;
            for (qn_i64 j = start[i]; j < start[i + 1]; j++)
                message[j - start[i]] = qn_random_byte(spec->seed, (uint64_t)j);
            if (is_sha)
                qn_sha256_of(message, (size_t)(start[i + 1] - start[i]), to + i * DIGEST);
            else
                qn_keccak256_of(message, (size_t)(start[i + 1] - start[i]), to + i * DIGEST);
        }
        free(message);
    }
    free(start);
    return failed ? qn_fail(err, QN_ERR_NOMEM, "check of %lld messages: out of host memory",
                            (long long)spec->n)
                  : QN_OK;
}

#define HASH_OP(op)                                                                                \
    const qn_task_op qn_task_##op = {                                                              \
        .name = #op,                                                                               \
        .module = "crypto",                                                                        \
        .type = "u8",                                                                              \
        .max_n = MAX_MESSAGES,                                                                     \
        .align = 1,                                                                                \
        .parse = parse_lengths,                                                                    \
        .elems = qn_task_elems_n,                                                                  \
        .result_bytes = result_bytes,                                                              \
        .cost = cost,                                                                              \
        .build = build,                                                                            \
        .fill = fill,                                                                              \
        .reference = reference,                                                                    \
    }

HASH_OP(sha256);
HASH_OP(keccak256);
