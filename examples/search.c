/* search.c - a search among programs over colour grids, with everything resident.
 *
 * Shows the loop of arc.h: a task once, then generation after generation of programs. Only
 * their scores come back.
 */
#include <quern/arc.h>

#include <stdio.h>
#include <string.h>

static const char *const words[] = { "vmirror", "hmirror", "rot90", "rot180", "rot270" };

enum { N_WORDS = sizeof words / sizeof *words };

static const char task[] = "{\"tasks\": {\"flip\": {\"train\": ["
                           "{\"input\": [[1, 2], [3, 4]], \"output\": [[3, 1], [4, 2]]},"
                           "{\"input\": [[5, 0, 7]], \"output\": [[5], [0], [7]]}],"
                           " \"test\": []}}}";

/* Two words, one after the other: a generation for each first word. */
static void write_generation(int first, char *out, size_t size)
{
    int n = snprintf(out, size, "{\"programs\": {");

    for (int second = 0; second < N_WORDS; second++)
        n += snprintf(out + n, size - (size_t)n,
                      "%s\"%s %s\": \"def solve(I):\\n    return %s(%s(I))\\n\"",
                      second ? ", " : "", words[first], words[second], words[second], words[first]);
    snprintf(out + n, size - (size_t)n, "}}");
}

int main(int argc, char **argv)
{
    const qn_options options = QN_OPTIONS(.backend = argc > 1 ? argv[1] : "auto");
    qn_ctx *ctx = NULL;
    qn_arc *arc = NULL;
    qn_err err;
    char line[4096];

    if (qn_ctx_open(&options, &ctx, &err) != QN_OK || qn_arc_new(ctx, NULL, &arc, &err) != QN_OK) {
        fprintf(stderr, "search: %s\n", err.text);
        qn_ctx_close(ctx);
        return 1;
    }
    fputs(qn_arc_ask(arc, task), stdout);
    for (int first = 0; first < N_WORDS; first++) {
        write_generation(first, line, sizeof line);
        qn_arc_ask(arc, line);
        fputs(qn_arc_ask(arc, "{\"run\": {\"match\": \"all\"}}"), stdout);
        qn_arc_ask(arc, "{\"clear\": \"programs\"}");
    }
    qn_arc_free(arc);
    qn_ctx_close(ctx);
    return 0;
}
