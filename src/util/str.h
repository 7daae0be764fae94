/* str.h - growing strings. */
#ifndef QN_UTIL_STR_H
#define QN_UTIL_STR_H

#include "util/status.h"

#include <stddef.h>

/* Zero-initialised: empty. After a failed allocation `failed` stays set and appends do nothing, so
 * one check at the end is enough. */
typedef struct qn_str {
    char *data; /* NUL-terminated after the first append */
    size_t len, cap;
    int failed;
} qn_str;

void qn_str_add(qn_str *s, const char *text);
void qn_str_add_n(qn_str *s, const char *text, size_t n);
__attribute__((format(printf, 2, 3))) void qn_str_addf(qn_str *s, const char *format, ...);
void qn_str_free(qn_str *s);
const char *qn_str_get(const qn_str *s); /* never NULL */

/* Formats a new text, which the caller frees; fails only if out of memory. */
__attribute__((format(printf, 3, 4))) qn_status qn_text_new(char **out, qn_err *err,
                                                            const char *format, ...);

/* Parses "512M", "8G", "1.5K", "1000" (powers of 1024). Returns 0, or -1 on bad text. */
int qn_parse_bytes(const char *text, size_t *out);

/* Writes "1.50 GiB", "640.0 KiB", "12 B"; returns `out`. */
char *qn_format_bytes(double bytes, char *out, size_t size);

/* Copies item `i` of a list separated by commas (and blanks), cut to the size of `out`; returns 0
 * if there is no such item. */
int qn_list_item(const char *list, int i, char *out, size_t size);

/* Whether `name` is an item of the list, which must not contain blanks. */
int qn_list_has(const char *list, const char *name);

/* Appends bytes in base64, for images embedded in a page. */
void qn_str_add_base64(qn_str *s, const void *bytes, size_t n);

#endif
