/* str.c - growing strings, and byte counts as text. */
#include "util/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` characters and the final NUL; returns 0 if out of memory. */
static int reserve(qn_str *s, size_t more)
{
    size_t cap = s->cap ? s->cap : 64;
    size_t want;
    char *data;

    if (s->failed)
        return 0;
    if (__builtin_add_overflow(s->len, more, &want) || __builtin_add_overflow(want, 1, &want)) {
        s->failed = 1;
        return 0;
    }
    if (want <= s->cap)
        return 1;
    while (cap < want)
        cap = cap > SIZE_MAX / 2 ? want : cap * 2;
    data = realloc(s->data, cap);
    if (!data) {
        s->failed = 1;
        return 0;
    }
    s->data = data;
    s->cap = cap;
    return 1;
}

void qn_str_add_n(qn_str *s, const char *text, size_t n)
{
    if (!reserve(s, n))
        return;
    if (n)
        memcpy(s->data + s->len, text, n);
    s->len += n;
    s->data[s->len] = '\0';
}

void qn_str_add(qn_str *s, const char *text)
{
    qn_str_add_n(s, text, strlen(text));
}

void qn_str_addf(qn_str *s, const char *format, ...)
{
    va_list args, again;
    int n;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0)
        s->failed = 1;
    else if (reserve(s, (size_t)n)) {
        vsnprintf(s->data + s->len, (size_t)n + 1, format, again);
        s->len += (size_t)n;
    }
    va_end(again);
}

void qn_str_free(qn_str *s)
{
    free(s->data);
    *s = (qn_str){ 0 };
}

const char *qn_str_get(const qn_str *s)
{
    return s->data ? s->data : "";
}

/* Parsed by hand: strtod would accept signs, exponents, "inf" and the locale's decimal mark. */
qn_status qn_text_new(char **out, qn_err *err, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vasprintf(out, format, args);
    va_end(args);
    if (n >= 0)
        return QN_OK;
    *out = NULL;
    return qn_fail(err, QN_ERR_NOMEM, "no memory for a text such as '%s'", format);
}

int qn_parse_bytes(const char *text, size_t *out)
{
    static const char units[] = "KMGT";
    const char *at = text;
    const char *unit;
    double value = 0.0;
    double place = 0.1;
    int digits = 0;

    for (; *at >= '0' && *at <= '9'; at++, digits++)
        value = value * 10.0 + (*at - '0');
    if (*at == '.') {
        for (at++; *at >= '0' && *at <= '9'; at++, digits++, place /= 10.0)
            value += place * (*at - '0');
    }
    if (!digits)
        return -1;
    if (*at) {
        const char letter = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;

        if (!(unit = strchr(units, letter)) || at[1])
            return -1;
        for (long i = 0; i <= unit - units; i++)
            value *= 1024.0;
    }
    if (value >= 18446744073709549568.0) /* the largest double below 2^64 */
        return -1;
    *out = (size_t)value;
    return 0;
}

char *qn_format_bytes(double bytes, char *out, size_t size)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB" };
    size_t unit = 0;

    if (bytes < 1024.0) {
        snprintf(out, size, "%.0f B", bytes);
        return out;
    }
    for (bytes /= 1024.0; bytes >= 1024.0 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024.0;
    snprintf(out, size, unit < 2 ? "%.1f %s" : "%.2f %s", bytes, units[unit]);
    return out;
}

void qn_str_add_base64(qn_str *s, const void *bytes, size_t n)
{
    const unsigned char *const data = bytes;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < n; i += 3) {
        const unsigned long bits = (unsigned long)data[i] << 16 |
                                   (unsigned long)(i + 1 < n ? data[i + 1] : 0) << 8 |
                                   (unsigned long)(i + 2 < n ? data[i + 2] : 0);
        const char text[4] = { digits[bits >> 18 & 63], digits[bits >> 12 & 63],
                               i + 1 < n ? digits[bits >> 6 & 63] : '=',
                               i + 2 < n ? digits[bits & 63] : '=' };

        qn_str_add_n(s, text, sizeof text);
    }
}

int qn_list_item(const char *list, int i, char *out, size_t size)
{
    for (;;) {
        size_t len;

        list += strspn(list, ", ");
        if (!*list)
            return 0;
        len = strcspn(list, ", ");
        if (i-- == 0) {
            snprintf(out, size, "%.*s", (int)len, list);
            return 1;
        }
        list += len;
    }
}

int qn_list_has(const char *list, const char *name)
{
    const size_t n = strlen(name);

    while (*list) {
        const size_t len = strcspn(list, ",");

        if (len == n && !memcmp(list, name, n))
            return 1;
        list += len + (list[len] == ',');
    }
    return 0;
}
