/* finding.c - lists of findings. */
#include "lab/finding.h"

#include "util/list.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void qn_findings_free(qn_findings *findings)
{
    free(findings->list);
    *findings = (qn_findings){ 0 };
}

void qn_findings_add(qn_findings *findings, const qn_finding *finding)
{
    qn_finding *list = qn_grown(findings->list, findings->n, &findings->room, sizeof *list);

    if (!list) {
        findings->has_lost = 1;
        return;
    }
    findings->list = list;
    findings->list[findings->n++] = *finding;
    findings->n_out += finding->verdict == QN_FINDING_OUT;
    findings->n_skipped += finding->verdict == QN_FINDING_SKIPPED;
}

static void add_bounded(qn_findings *findings, const char *part, qn_finding f, const char *format,
                        va_list args)
{
    snprintf(f.part, sizeof f.part, "%s", part);
    vsnprintf(f.name, sizeof f.name, format, args);
    f.verdict = f.value >= f.low && f.value <= f.high ? QN_FINDING_OK : QN_FINDING_OUT;
    qn_findings_add(findings, &f);
}

void qn_finding_within(qn_findings *findings, const char *part, double value, double low,
                       double high, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_bounded(findings, part, (qn_finding){ .n = 1, .value = value, .low = low, .high = high },
                format, args);
    va_end(args);
}

void qn_finding_below(qn_findings *findings, const char *part, qn_i64 n, double value, double limit,
                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_bounded(findings, part,
                (qn_finding){ .n = n, .value = value, .low = -INFINITY, .high = limit }, format,
                args);
    va_end(args);
}

void qn_finding_note(qn_findings *findings, const char *part, qn_verdict verdict, const char *name,
                     const char *why, ...)
{
    qn_finding f = {
        .value = NAN, .mean = NAN, .equal_pct = NAN, .low = NAN, .high = NAN, .verdict = verdict
    };
    va_list args;

    snprintf(f.part, sizeof f.part, "%s", part);
    snprintf(f.name, sizeof f.name, "%s", name);
    va_start(args, why);
    vsnprintf(f.note, sizeof f.note, why, args);
    va_end(args);
    qn_findings_add(findings, &f);
}

const char *const qn_verdict_words[] = {
    [QN_FINDING_OK] = "ok", [QN_FINDING_OUT] = "OUT", [QN_FINDING_SKIPPED] = "skipped", NULL
};

qn_status qn_findings_complete(const qn_findings *findings, qn_err *err)
{
    if (findings->has_lost)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for more than %zu findings", findings->n);
    return QN_OK;
}

qn_status qn_findings_judge(const qn_findings *findings, qn_err *err)
{
    for (size_t i = 0; i < findings->n; i++)
        if (findings->list[i].verdict == QN_FINDING_OUT)
            return qn_fail(err, QN_ERR_MISMATCH,
                           "%zu of %zu findings are out of bounds, the first of them %s",
                           findings->n_out, findings->n, findings->list[i].name);
    if (findings->n == findings->n_skipped)
        return qn_fail(err, QN_ERR_INPUT, "nothing was compared: all of %zu findings are skipped",
                       findings->n);
    return QN_OK;
}
