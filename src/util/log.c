/* log.c - writes each line in one call.
 *
 * The line is formatted in memory first. Lines longer than the buffer are cut and end in "...". A
 * logger that allocates would fail when messages matter most.
 */
#include "util/log.h"
#include "util/utf8.h"

#include <stdarg.h>
#include <string.h>

enum { LINE_BYTES = 2048 };

static const char *const names[] = { "none", "error", "warn", "info", "debug" };

int qn_log_parse(const char *text, qn_log_level *level)
{
    for (int i = QN_LOG_NONE; text && i <= QN_LOG_DEBUG; i++) {
        if (!strcmp(text, names[i])) {
            *level = (qn_log_level)i;
            return 0;
        }
    }
    return -1;
}

const char *qn_log_name(qn_log_level level)
{
    return level >= QN_LOG_NONE && level <= QN_LOG_DEBUG ? names[level] : "?";
}

static void put_line(const qn_log *log, const char *prefix, const char *format, va_list args)
{
    char text[LINE_BYTES], line[LINE_BYTES];
    const size_t room = sizeof line - 1; /* the newline has its own byte */
    size_t len = strlen(prefix);

    memcpy(text, prefix, len);
    const int n = vsnprintf(text + len, room - len, format, args);
    if (n < 0)
        return;
    if ((size_t)n >= room - len)
        memcpy(text + room - 4, "...", 3);
    qn_utf8_show(text, line, room);
    len = strlen(line);
    line[len++] = '\n';

    FILE *to = log->to ? log->to : stderr;
    fwrite(line, 1, len, to);
    fflush(to);
}

void qn_log_put(const qn_log *log, qn_log_level level, const char *format, ...)
{
    char prefix[32];
    va_list args;

    if (!log || level == QN_LOG_NONE || level > log->level)
        return;
    snprintf(prefix, sizeof prefix, "quern: %s: ", qn_log_name(level));
    va_start(args, format);
    put_line(log, prefix, format, args);
    va_end(args);
}

void qn_log_line(const qn_log *log, const char *format, ...)
{
    va_list args;

    if (!log || log->level == QN_LOG_NONE)
        return;
    va_start(args, format);
    put_line(log, "", format, args);
    va_end(args);
}
