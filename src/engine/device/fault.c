/* fault.c - parses fault rules and counts events against them. */
#include "engine/device/context.h"

#include "hal/sim/sim_limits.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const places[] = { "compile",  "alloc",   "launch",      "copy_h2d",
                                      "copy_d2h", "timeout", "device_lost", "corrupt" };
enum { N_PLACES = sizeof places / sizeof *places };

typedef struct {
    int place;
    char stage[64]; /* "" matches every stage */
    size_t above_bytes;
    unsigned long first, count; /* number of the first event to fail, and how many fail */
    unsigned long seen, hit;
} rule;

struct qn_faults {
    rule *rules;
    int n;
};

static int find_place(const char *text, size_t len)
{
    for (int i = 0; i < N_PLACES; i++)
        if (strlen(places[i]) == len && !strncmp(places[i], text, len))
            return i;
    return -1;
}

static qn_status parse_number(const char *part, const char *text, unsigned long *out, qn_err *err)
{
    const size_t len = strcspn(text, ">@*");
    char *end;

    errno = 0;
    *out = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)*text) || end != text + len || errno || *out == 0)
        return qn_fail(err, QN_ERR_USAGE, "fault rule '%s': '%.*s' is not a positive number", part,
                       (int)len, text);
    return QN_OK;
}

static qn_status parse_bytes(const char *part, const char *text, size_t *out, qn_err *err)
{
    char number[32] = "";
    const size_t len = strcspn(text, ">@*");

    if (len < sizeof number)
        memcpy(number, text, len);
    if (qn_parse_bytes(number, out))
        return qn_fail(err, QN_ERR_USAGE, "fault rule '%s': '%.*s' is not a size", part, (int)len,
                       text);
    return QN_OK;
}

/* where[:stage][>bytes][@n][*count] */
static qn_status parse_rule(const char *part, rule *out, qn_err *err)
{
    const char *at = part + strcspn(part, ":>@*");
    qn_status st = QN_OK;

    *out = (rule){ .place = find_place(part, (size_t)(at - part)), .first = 1, .count = 0 };
    if (out->place < 0)
        return qn_fail(err, QN_ERR_USAGE,
                       "fault rule '%s': unknown place (compile alloc launch copy_h2d copy_d2h "
                       "timeout device_lost corrupt)",
                       part);
    if (*at == ':') {
        const size_t len = strcspn(++at, ">@*");

        if (!len || len >= sizeof out->stage)
            return qn_fail(err, QN_ERR_USAGE, "fault rule '%s': bad stage name", part);
        memcpy(out->stage, at, len);
        at += len;
    }
    while (*at && st == QN_OK) {
        const char kind = *at++;

        if (kind == '>')
            st = parse_bytes(part, at, &out->above_bytes, err);
        else if (kind == '@')
            st = parse_number(part, at, &out->first, err);
        else if (kind == '*')
            st = parse_number(part, at, &out->count, err);
        at += strcspn(at, ">@*");
    }
    return st;
}

static qn_status add_part(qn_faults *faults, const char *part, qn_str *sim, qn_err *err)
{
    rule *grown;
    qn_status st;
    rule parsed;

    if (!strncmp(part, "sim.", 4)) {
        qn_str_addf(sim, "%s%s", sim->len ? "," : "", part + 4);
        return QN_OK;
    }
    if ((st = parse_rule(part, &parsed, err)) != QN_OK)
        return st;
    if (!(grown = realloc(faults->rules, (size_t)(faults->n + 1) * sizeof *grown)))
        return qn_fail(err, QN_ERR_NOMEM, "fault rules: out of host memory");
    faults->rules = grown;
    faults->rules[faults->n++] = parsed;
    return QN_OK;
}

qn_status qn_faults_new(const char *rules, qn_faults **out, qn_str *sim, qn_err *err)
{
    qn_status st = QN_OK;
    qn_faults *faults = NULL;
    qn_sim_limits limits;
    char *copy = NULL, *save = NULL;

    *out = NULL;
    if (!rules || !*rules)
        return QN_OK;
    if (!(faults = calloc(1, sizeof *faults)) || !(copy = strdup(rules)))
        QN_FAIL(err, QN_ERR_NOMEM, "fault rules: out of host memory");
    for (char *part = strtok_r(copy, ", ", &save); part; part = strtok_r(NULL, ", ", &save))
        QN_TRY(add_part(faults, part, sim, err));
    QN_TRY(qn_sim_limits_parse(qn_str_get(sim), &limits, err));
    if (faults->n) {
        *out = faults;
        faults = NULL;
    }
out:
    qn_faults_free(faults);
    free(copy);
    return st;
}

void qn_faults_free(qn_faults *faults)
{
    if (faults)
        free(faults->rules);
    free(faults);
}

/* "svf" matches the stage svf and every stage svf.* . */
static int matches_stage(const rule *r, const char *stage)
{
    const size_t len = strlen(r->stage);

    if (!len)
        return 1;
    return stage && !strncmp(stage, r->stage, len) && (!stage[len] || stage[len] == '.');
}

int qn_fault_hits(qn_faults *faults, const char *where, const char *stage, size_t bytes)
{
    int hits = 0;

    if (!faults)
        return 0;
    for (int i = 0; i < faults->n; i++) {
        rule *r = &faults->rules[i];

        if (strcmp(places[r->place], where) || !matches_stage(r, stage))
            continue;
        if (bytes < r->above_bytes || (r->above_bytes && bytes == r->above_bytes))
            continue;
        r->seen++;
        if (r->seen < r->first || (r->count && r->hit >= r->count))
            continue;
        r->hit++;
        hits = 1;
    }
    return hits;
}
