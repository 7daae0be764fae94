/* utf8.c - checking and counting characters. */
#include "util/utf8.h"

static int is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* The second byte carries all special cases: overlong forms, surrogates, beyond U+10FFFF. */
size_t qn_utf8_size(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    if (c[0] < 0x80)
        return 1;
    if (c[0] < 0xC2 || c[0] > 0xF4 || !is_tail(c[1]))
        return 0;
    if (c[0] < 0xE0)
        return 2;
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) || !is_tail(c[2]))
        return 0;
    if (c[0] < 0xF0)
        return 3;
    if ((c[0] == 0xF0 && c[1] < 0x90) || (c[0] == 0xF4 && c[1] > 0x8F) || !is_tail(c[3]))
        return 0;
    return 4;
}

size_t qn_utf8_count(const char *text)
{
    size_t n = 0;

    for (; *text; n++) {
        const size_t size = qn_utf8_size(text);
        text += size ? size : 1;
    }
    return n;
}

void qn_utf8_add_clean(qn_str *out, const char *text)
{
    while (*text) {
        const size_t size = qn_utf8_size(text);
        const unsigned char first = (unsigned char)*text;
        if (size == 0)
            qn_str_add(out, "\xEF\xBF\xBD");
        else if (first < 0x20 || first == 0x7F)
            qn_str_add(out, " ");
        else
            qn_str_add_n(out, text, size);
        text += size ? size : 1;
    }
}
