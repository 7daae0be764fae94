/* serve.c - the loop of a desk. */
#include "domain/arc/serve/serve.h"

#include "util/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

qn_status qn_arc_serve(qn_arc_desk *desk, FILE *from, FILE *to, uint64_t *n_lines, qn_err *err)
{
    qn_str answer = { 0 };
    char *line = NULL;
    size_t room = 0;
    qn_status st = QN_OK;
    int goes_on = 1;
    ssize_t n;

    *n_lines = 0;
    while (goes_on && (n = getline(&line, &room, from)) >= 0) {
        if (strspn(line, " \t\r\n") == (size_t)n)
            continue;
        answer.len = 0;
        goes_on = qn_arc_desk_answer(desk, line, (size_t)n, &answer);
        ++*n_lines;
        if (fputs(qn_str_get(&answer), to) < 0 || fflush(to) != 0) {
            st = qn_fail(err, QN_ERR_IO, "cannot write an answer: %s", strerror(errno));
            break;
        }
    }
    qn_str_free(&answer);
    free(line);
    return st;
}
