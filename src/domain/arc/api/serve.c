/* serve.c - the loop of a server. */
#include "domain/arc/api/server.h"

#include "util/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
    char *bytes;
    size_t n, room;
    uint64_t n_read; /* bytes of the line, including those skipped */
    uint64_t number; /* in the file, from 1 */
    int has_no_room; /* out of memory */
} line;

/* Adds a byte unless the line has `most` already. */
static void put(line *l, int byte, size_t most)
{
    if (l->n == l->room && l->n < most && !l->has_no_room) {
        const size_t room = l->room ? 2 * l->room : 4096;
        char *grown = realloc(l->bytes, room);

        l->has_no_room = !grown;
        l->bytes = grown ? grown : l->bytes;
        l->room = grown ? room : l->room;
    }
    if (l->n < l->room && l->n < most)
        l->bytes[l->n++] = (char)byte;
    l->n_read++;
}

/* Reads the next line, without its newline; returns 0 at the end of the file. Only the beginning of
 * an overlong line is stored, so no client can make the server use more memory. */
static int read_line(FILE *from, size_t most, line *l)
{
    int byte = getc_unlocked(from);

    l->n = 0;
    l->n_read = 0;
    l->has_no_room = 0;
    l->number++;
    if (byte == EOF)
        return 0;
    for (; byte != EOF && byte != '\n'; byte = getc_unlocked(from))
        put(l, byte, most);
    return 1;
}

static int is_blank(const line *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (!memchr(" \t\r", l->bytes[i], 3))
            return 0;
    return l->n == l->n_read;
}

/* Returns 0 if the line asked to end. */
static int answer_line(qn_arc *arc, const line *l, size_t most, qn_str *out)
{
    qn_err err;

    if (l->n == l->n_read)
        return qn_arc_server_answer(arc, l->bytes, l->n, out);
    if (l->has_no_room)
        qn_fail(&err, QN_ERR_NOMEM, "line %llu: no memory for its %llu bytes",
                (unsigned long long)l->number, (unsigned long long)l->n_read);
    else
        qn_fail(&err, QN_ERR_LIMIT,
                "line %llu has %llu bytes, more than the limit of %zu (--max-line)",
                (unsigned long long)l->number, (unsigned long long)l->n_read, most);
    qn_arc_server_refuse(&err, out);
    return 1;
}

qn_status qn_arc_serve(qn_arc *arc, FILE *from, FILE *to, size_t most_bytes, uint64_t *n_lines,
                       qn_err *err)
{
    qn_str answer = { 0 };
    line l = { 0 };
    qn_status st = QN_OK;
    int is_open = 1;

    *n_lines = 0;
    while (is_open && read_line(from, most_bytes, &l)) {
        if (is_blank(&l))
            continue;
        answer.len = 0;
        is_open = answer_line(arc, &l, most_bytes, &answer);
        ++*n_lines;
        if (answer.failed) {
            st = qn_fail(err, QN_ERR_NOMEM, "no memory to answer line %llu",
                         (unsigned long long)l.number);
            break;
        }
        if (fputs(qn_str_get(&answer), to) < 0 || fflush(to) != 0) {
            st = qn_fail(err, QN_ERR_IO, "cannot write an answer: %s", strerror(errno));
            break;
        }
    }
    if (st == QN_OK && ferror(from))
        st = qn_fail(err, QN_ERR_IO, "cannot read line %llu: %s", (unsigned long long)l.number,
                     strerror(errno));
    qn_str_free(&answer);
    free(l.bytes);
    return st;
}
