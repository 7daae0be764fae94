/* utf8.h - text from drivers and files, which may contain any bytes. */
#ifndef QN_UTIL_UTF8_H
#define QN_UTIL_UTF8_H

#include "util/str.h"

#include <stdio.h>

/* Bytes of the character at `text` (1 to 4), or 0 if they are not valid UTF-8. The NUL that ends
 * the string counts as one valid byte. */
size_t qn_utf8_size(const char *text);

/* Characters of `text`; an invalid byte counts as one. */
size_t qn_utf8_count(const char *text);

/* Appends `text` with control characters replaced by spaces, and invalid bytes and the two
 * non-characters U+FFFE and U+FFFF by U+FFFD. */
void qn_utf8_add_clean(qn_str *out, const char *text);

/* Texts for a terminal: control characters (except newlines and tabs) and invalid bytes become
 * codes like \x1b. The first writes to `out`, cutting text that does not fit; the second prints. */
void qn_utf8_show(const char *text, char *out, size_t size);
void qn_utf8_print(const char *text, FILE *to);

#endif
