/* weather_impl.h - shared by the readers of the two formats. */
#ifndef QN_SOLWEIG_WEATHER_WEATHER_IMPL_H
#define QN_SOLWEIG_WEATHER_WEATHER_IMPL_H

#include "domain/solweig/weather/weather.h"

/* A text read line by line and split in place. */
typedef struct qn_sw_lines {
    const char *name;
    char *at, *end;
    size_t line; /* of the last line read, from 1 */
} qn_sw_lines;

/* The next line without its end, NUL-terminated; NULL after the last. */
char *qn_sw_next_line(qn_sw_lines *lines);

/* Splits at every `separator` (' ': at runs of blanks) into at most `max` fields; returns how many
 * there are, which may be more. */
size_t qn_sw_split(char *line, char separator, char **fields, size_t max);

/* Parses `text`, ignoring blanks at its ends; returns 1 if it is exactly one decimal number. */
int qn_sw_number(const char *text, double *out);

typedef struct qn_sw_row_list {
    qn_sw_weather_row *rows;
    size_t n, room;
} qn_sw_row_list;

qn_status qn_sw_add_row(qn_sw_row_list *list, const char *name, const qn_sw_weather_row *row,
                        qn_err *err);

/* Fails, naming file and line, if a value is impossible. */
qn_status qn_sw_check_row(const char *name, const qn_sw_weather_row *row, qn_err *err);

/* The formats. They append every usable row of a file; `file` is its number. */
qn_status qn_sw_read_epw(qn_sw_lines *lines, size_t file, const qn_sw_weather_options *options,
                         qn_sw_row_list *list, qn_sw_weather *place, qn_err *err);
qn_status qn_sw_read_umep(qn_sw_lines *lines, size_t file, const qn_sw_weather_options *options,
                          qn_sw_row_list *list, qn_err *err);

#endif
