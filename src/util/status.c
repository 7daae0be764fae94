/* status.c - fills and prefixes error messages; sizes that cannot overflow. */
#include "util/status.h"
#include "util/utf8.h"

#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
    [QN_OK] = "ok",
    [QN_ERR_FAILED] = "failed",
    [QN_ERR_USAGE] = "usage",
    [QN_ERR_NOMEM] = "nomem",
    [QN_ERR_IO] = "io",
    [QN_ERR_INPUT] = "input",
    [QN_ERR_LIMIT] = "limit",
    [QN_ERR_INIT] = "init",
    [QN_ERR_COMPILE] = "compile",
    [QN_ERR_LAUNCH] = "launch",
    [QN_ERR_TIMEOUT] = "timeout",
    [QN_ERR_DEVICE_LOST] = "device_lost",
    [QN_ERR_BUSY] = "busy",
    [QN_ERR_MISMATCH] = "mismatch",
    [QN_ERR_CYCLE] = "cycle",
    [QN_ERR_UNSUPPORTED] = "unsupported",
    [QN_ERR_INJECTED] = "injected",
    [QN_ERR_FALLBACK] = "fallback",
};

const char *qn_status_name(qn_status status)
{
    const size_t n = sizeof status_names / sizeof *status_names;

    return (size_t)status < n ? status_names[status] : "unknown";
}

/* The message is printed inside log lines, so it must be one line, but it may quote text of a
 * file. */
static void make_one_line(qn_err *err)
{
    char raw[sizeof err->text];

    for (char *c = err->text; *c; c++) {
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    }
    memcpy(raw, err->text, sizeof raw);
    qn_utf8_show(raw, err->text, sizeof err->text);
}

qn_status qn_fail(qn_err *err, qn_status status, const char *format, ...)
{
    va_list args;

    if (!err)
        return status;
    err->status = status;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    make_one_line(err);
    return status;
}

qn_status qn_prefix(qn_err *err, const char *format, ...)
{
    char old[sizeof err->text];
    va_list args;
    size_t used;

    if (!err)
        return QN_ERR_FAILED;
    memcpy(old, err->text, sizeof old);
    old[sizeof old - 1] = '\0';
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", old);
    make_one_line(err);
    return err->status;
}

qn_status qn_suffix(qn_err *err, const char *format, ...)
{
    va_list args;
    size_t used;

    if (!err)
        return QN_ERR_FAILED;
    used = strlen(err->text);
    va_start(args, format);
    vsnprintf(err->text + used, sizeof err->text - used, format, args);
    va_end(args);
    make_one_line(err);
    return err->status;
}

qn_status qn_size_mul(size_t a, size_t b, const char *what, size_t *out, qn_err *err)
{
    size_t result;

    if (__builtin_mul_overflow(a, b, &result))
        return qn_fail(err, QN_ERR_LIMIT, "%s: %zu x %zu does not fit a size", what, a, b);
    *out = result;
    return QN_OK;
}

qn_status qn_size_add(size_t a, size_t b, const char *what, size_t *out, qn_err *err)
{
    size_t result;

    if (__builtin_add_overflow(a, b, &result))
        return qn_fail(err, QN_ERR_LIMIT, "%s: %zu + %zu does not fit a size", what, a, b);
    *out = result;
    return QN_OK;
}

qn_status qn_struct_take(const char *type, const void *given, void *out, size_t size, qn_err *err)
{
    size_t has = size;

    memset(out, 0, size);
    if (!given)
        return QN_OK;
    memcpy(&has, given, sizeof has);
    if (has <= sizeof has || has > size)
        return qn_fail(err, QN_ERR_USAGE,
                       "%s: a struct of %zu bytes is unknown, this version has %zu; set its member "
                       "size to sizeof(%s)",
                       type, has, size, type);
    memcpy(out, given, has);
    return QN_OK;
}
