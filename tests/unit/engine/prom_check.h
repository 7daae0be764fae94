/* prom_check.h - a strict reader of Prometheus text 0.0.4, for the tests that write it.
 *
 * Stricter than scrapers: HELP, then TYPE, then the samples of the family; no family twice, no
 * series twice, no space except the one before the value, a newline at the end.
 */
#ifndef QN_TEST_PROM_CHECK_H
#define QN_TEST_PROM_CHECK_H

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct prom {
    char family[128], type[16];
    char *seen; /* "\n"-separated families and series */
    size_t n_samples, n_families;
    char fault[400]; /* "" if the text is valid */
} prom;

static int prom_fail(prom *p, const char *why, const char *line, size_t n)
{
    snprintf(p->fault, sizeof p->fault, "%s: %.*s", why, (int)(n > 200 ? 200 : n), line);
    return 0;
}

/* Records `what`; false if it was there before. */
static int prom_note(prom *p, const char *kind, const char *what, size_t n)
{
    char entry[2048];
    const int len = snprintf(entry, sizeof entry, "\n%s %.*s\n", kind, (int)n, what);

    if (strstr(p->seen, entry))
        return 0;
    p->seen = realloc(p->seen, strlen(p->seen) + (size_t)len + 1);
    strcat(p->seen, entry);
    return 1;
}

static size_t prom_word(const char *s, int with_colon)
{
    size_t n = 0;

    while (isalpha((unsigned char)s[n]) || s[n] == '_' || (with_colon && s[n] == ':') ||
           (n > 0 && isdigit((unsigned char)s[n])))
        n++;
    return n;
}

/* {key="value",...}: returns its length, or 0. `quantile` receives the value of that label, or
 * NaN. */
static size_t prom_labels(const char *s, double *quantile)
{
    const char *at = s + 1;

    *quantile = NAN;
    do {
        const size_t n = prom_word(at, 0);
        const int is_quantile = n == 8 && strncmp(at, "quantile", 8) == 0;
        if (n == 0 || at[n] != '=' || at[n + 1] != '"')
            return 0;
        at += n + 2;
        if (is_quantile)
            *quantile = strtod(at, NULL);
        for (; *at != '"'; at++) {
            if (*at == '\n' || *at == '\0')
                return 0;
            if (*at == '\\' && !strchr("\\\"n", *++at))
                return 0;
        }
        at++;
    } while (*at == ',' && at++);
    return *at == '}' ? (size_t)(at + 1 - s) : 0;
}

static int prom_sample(prom *p, const char *line, size_t n)
{
    const size_t family = strlen(p->family);
    const size_t name = prom_word(line, 1);
    const int is_summary = strcmp(p->type, "summary") == 0;
    double quantile = NAN, value;
    size_t at = name;
    char *end;

    if (name == 0 || strncmp(line, p->family, family) != 0)
        return prom_fail(p, "sample outside its family", line, n);
    if (line[at] == '{') {
        const size_t labels = prom_labels(line + at, &quantile);
        if (!labels)
            return prom_fail(p, "bad labels", line, n);
        at += labels;
    }
    if (line[at] != ' ')
        return prom_fail(p, "no space before the value", line, n);
    if (!prom_note(p, "series", line, at))
        return prom_fail(p, "series twice", line, n);
    value = strtod(line + at + 1, &end);
    if (end != line + n || isspace((unsigned char)line[at + 1]))
        return prom_fail(p, "bad value", line, n);
    const int is_part = name - family == 4
                            ? strncmp(line + family, "_sum", 4) == 0
                            : name - family == 6 && !strncmp(line + family, "_count", 6);
    if (is_summary ? (name == family) == isnan(quantile) || (name != family && !is_part)
                   : name != family || !isnan(quantile))
        return prom_fail(p, "does not fit its type", line, n);
    if ((is_part || strcmp(p->type, "counter") == 0) && !(value >= 0))
        return prom_fail(p, "negative count", line, n);
    p->n_samples++;
    return 1;
}

static int prom_line(prom *p, const char *line, size_t n)
{
    const size_t name = n > 7 ? prom_word(line + 7, 1) : 0;

    if (strncmp(line, "# HELP ", 7) == 0) {
        if (name == 0 || name >= sizeof p->family || line[7 + name] != ' ')
            return prom_fail(p, "bad HELP", line, n);
        if (!prom_note(p, "family", line + 7, name))
            return prom_fail(p, "family twice", line, n);
        snprintf(p->family, sizeof p->family, "%.*s", (int)name, line + 7);
        p->type[0] = '\0';
        p->n_families++;
        return 1;
    }
    if (strncmp(line, "# TYPE ", 7) == 0) {
        if (p->type[0] || name != strlen(p->family) || strncmp(line + 7, p->family, name) != 0)
            return prom_fail(p, "TYPE without its HELP", line, n);
        snprintf(p->type, sizeof p->type, "%.*s", (int)(n - name - 8), line + 8 + name);
        if (strcmp(p->type, "counter") && strcmp(p->type, "gauge") && strcmp(p->type, "summary"))
            return prom_fail(p, "unknown type", line, n);
        return 1;
    }
    return p->type[0] ? prom_sample(p, line, n) : prom_fail(p, "sample without TYPE", line, n);
}

/* "" if `text` is valid, otherwise the fault. */
static const char *prom_check(prom *p, const char *text)
{
    *p = (prom){ .seen = calloc(1, 1) };
    while (*text && !p->fault[0]) {
        const char *const end = strchr(text, '\n');
        if (!end) {
            prom_fail(p, "no newline at the end", text, strlen(text));
            break;
        }
        prom_line(p, text, (size_t)(end - text));
        text = end + 1;
    }
    free(p->seen);
    p->seen = NULL;
    return p->fault;
}

#endif
