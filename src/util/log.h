/* log.h - messages for people, on stderr or another stream. */
#ifndef QN_UTIL_LOG_H
#define QN_UTIL_LOG_H

#include <stdio.h>

typedef enum qn_log_level {
    QN_LOG_NONE,
    QN_LOG_ERROR,
    QN_LOG_WARN,
    QN_LOG_INFO,
    QN_LOG_DEBUG
} qn_log_level;

/* Prints messages at `level` or more urgent. A NULL `to` means stderr. */
typedef struct qn_log {
    qn_log_level level;
    FILE *to;
} qn_log;

/* Parses "none", "error", "warn", "info" or "debug". Returns 0, or -1 with *level unchanged. */
int qn_log_parse(const char *text, qn_log_level *level);
const char *qn_log_name(qn_log_level level);

/* Prints "quern: <level>: text\n" in one write, so lines of several threads do not mix. */
__attribute__((format(printf, 3, 4))) void qn_log_put(const qn_log *log, qn_log_level level,
                                                      const char *format, ...);

/* Prints "text\n" with no prefix, also in one write, at every level but QN_LOG_NONE. */
__attribute__((format(printf, 2, 3))) void qn_log_line(const qn_log *log, const char *format, ...);

#endif
