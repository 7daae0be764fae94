/* sim_limits.c - limits, speeds and behaviour of a sim device, as text. */
#include "hal/sim/sim_limits.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/backend.h"
#include "util/str.h"

typedef enum { COUNT, BYTES, REAL, RATE, GRID } value_kind;

typedef struct key {
    const char *name;
    value_kind kind;
    size_t at;          /* of the member */
    double least, most; /* of COUNT and REAL */
} key;

#define KEY(name, kind, least, most)                                                               \
    {                                                                                              \
#name, kind, offsetof(qn_sim_limits, name), least, most                                    \
    }

static const key keys[] = {
    KEY(devices, COUNT, 0, QN_SIM_MAX_DEVICES),
    KEY(max_grid, GRID, 1, INT32_MAX),
    KEY(max_group, COUNT, 1, 1 << 20),
    KEY(align, COUNT, 1, 1 << 20),
    KEY(mem, BYTES, 0, 0),
    KEY(max_alloc, BYTES, 0, 0),
    KEY(h2d_us, REAL, 0, 1e12),
    KEY(d2h_us, REAL, 0, 1e12),
    KEY(peer_us, REAL, 0, 1e12),
    KEY(h2d_gbps, REAL, 1e-9, 1e12),
    KEY(d2h_gbps, REAL, 1e-9, 1e12),
    KEY(peer_gbps, REAL, 1e-9, 1e12),
    KEY(submit_us, REAL, 0, 1e12),
    KEY(launch_us, REAL, 0, 1e12),
    KEY(gbps, REAL, 1e-9, 1e12),
    KEY(ns_per_item, REAL, 0, 1e12),
    KEY(noise_pct, REAL, 0, 99),
    KEY(rate, RATE, 1e-9, 1e9),
    KEY(slow, RATE, 0, 1e9),
    KEY(async, COUNT, 0, 1),
    KEY(replay, COUNT, 0, 1),
    KEY(alloc_us, REAL, 0, 1e12),
    KEY(compile_us, REAL, 0, 1e12),
    KEY(lazy, COUNT, 0, 1),
    KEY(kernels, COUNT, 1, QN_N_COMPUTE),
    KEY(refuse_at, COUNT, 0, 1e9),
    KEY(fail_at, COUNT, 0, 1e9),
};

static qn_sim_limits defaults(void)
{
    qn_sim_limits l = {
        .devices = 1,
        .max_grid = { INT32_MAX, 65535, 65535 },
        .max_group = 1024,
        .align = 256,
        .mem = (size_t)16 << 30,
        .h2d_us = 8,
        .d2h_us = 8,
        .peer_us = 5,
        .h2d_gbps = 12,
        .d2h_gbps = 12,
        .peer_gbps = 50,
        .submit_us = 2,
        .launch_us = 5,
        .gbps = 400,
        .async = 1,
        .replay = 1,
        .kernels = 1,
    };

    for (int i = 0; i < QN_SIM_MAX_DEVICES; i++)
        l.rate[i] = 1.0;
    return l;
}

/* Parses a number up to `end` and checks the bounds of the key. Returns 0 or -1. */
static int parse_number(const key *k, const char *text, char end, double *out, const char **rest)
{
    char *stop;

    errno = 0;
    *out = strtod(text, &stop);
    if (stop == text || errno || !isfinite(*out) || *out < k->least || *out > k->most ||
        *stop != end)
        return -1;
    *rest = stop + (end != '\0');
    return 0;
}

static int parse_count(const key *k, const char *text, char end, uint32_t *out, const char **rest)
{
    double value;

    if (parse_number(k, text, end, &value, rest) != 0 || value != floor(value))
        return -1;
    *out = (uint32_t)value;
    return 0;
}

static int parse_grid(const key *k, const char *text, uint32_t out[3])
{
    if (!strchr(text, 'x')) {
        if (parse_count(k, text, '\0', &out[0], &text) != 0)
            return -1;
        out[1] = out[2] = out[0];
        return 0;
    }
    return parse_count(k, text, 'x', &out[0], &text) || parse_count(k, text, 'x', &out[1], &text) ||
           parse_count(k, text, '\0', &out[2], &text);
}

/* `index` is the text after the dot of "rate.1", or NULL. */
static int parse_value(const key *k, const char *index, const char *text, qn_sim_limits *l)
{
    void *member = (char *)l + k->at;
    long i;
    char *stop;

    switch (k->kind) {
    case COUNT:
        return parse_count(k, text, '\0', member, &text);
    case BYTES:
        return qn_parse_bytes(text, member);
    case REAL:
        return parse_number(k, text, '\0', member, &text);
    case GRID:
        return parse_grid(k, text, member);
    case RATE:
        i = strtol(index, &stop, 10);
        if (stop == index || *stop || i < 0 || i >= QN_SIM_MAX_DEVICES)
            return -1;
        return parse_number(k, text, '\0', (double *)member + i, &text);
    }
    return -1;
}

static const key *find_key(const char *name, const char **index)
{
    const char *dot = strchr(name, '.');
    const size_t n = dot ? (size_t)(dot - name) : strlen(name);

    *index = dot ? dot + 1 : NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i].name) == n && strncmp(keys[i].name, name, n) == 0 &&
            (keys[i].kind == RATE) == (dot != NULL))
            return &keys[i];
    return NULL;
}

static qn_status parse_pair(char *pair, qn_sim_limits *l, qn_err *err)
{
    char *value = strchr(pair, '=');
    const key *k;
    const char *index;

    if (!value)
        return qn_fail(err, QN_ERR_USAGE, "sim limit '%s' has no value", pair);
    *value++ = '\0';
    if (!(k = find_key(pair, &index)))
        return qn_fail(err, QN_ERR_USAGE, "sim limit '%s' is unknown", pair);
    if (parse_value(k, index, value, l) != 0)
        return qn_fail(err, QN_ERR_USAGE, "sim limit %s cannot be '%s'", pair, value);
    return QN_OK;
}

qn_status qn_sim_limits_parse(const char *text, qn_sim_limits *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_sim_limits l = defaults();
    char *copy = strdup(text ? text : ""), *pair, *rest = copy;

    if (!copy)
        return qn_fail(err, QN_ERR_NOMEM, "sim limits of %zu bytes", strlen(text));
    while ((pair = strsep(&rest, ",")))
        if (*pair)
            QN_TRY(parse_pair(pair, &l, err));
    if (!l.max_alloc || l.max_alloc > l.mem)
        l.max_alloc = l.mem;
    *out = l;
out:
    free(copy);
    return st;
}
