/* parser.c - shared by the parsers: memory of trees, tokens, and errors about tokens. */
#include "domain/fit/text/tree.h"

#include <stdlib.h>
#include <string.h>

/* Memory. */

void *qn_fit_ast_alloc(qn_fit_ast *ast, size_t bytes)
{
    const size_t wanted = (bytes + 15) / 16 * 16;
    char *at;

    if (wanted > ast->left) {
        const size_t chunk = wanted > 65536 ? wanted : 65536;

        if (ast->n_chunks == ast->chunk_room) {
            void **more = realloc(ast->chunks, (size_t)(2 * ast->chunk_room + 16) * sizeof *more);

            if (!more)
                goto none;
            ast->chunks = more;
            ast->chunk_room = 2 * ast->chunk_room + 16;
        }
        if (!(ast->chunks[ast->n_chunks] = calloc(1, chunk)))
            goto none;
        ast->next = ast->chunks[ast->n_chunks++];
        ast->left = chunk;
    }
    at = ast->next;
    ast->next += wanted;
    ast->left -= wanted;
    return at;
none:
    ast->is_out_of_memory = 1;
    return NULL;
}

void qn_fit_ast_free(qn_fit_ast *ast)
{
    for (int k = 0; k < ast->n_chunks; k++)
        free(ast->chunks[k]);
    free(ast->chunks);
    free(ast->items);
    *ast = (qn_fit_ast){ 0 };
}

/* The list doubles when its length is a power of two, so no capacity is stored. */
void *qn_fit_append(qn_fit_parser *p, void **list, int *n, size_t size)
{
    if (p->ast->is_out_of_memory)
        return NULL;
    if ((*n & (*n - 1)) == 0) {
        void *more = qn_fit_ast_alloc(p->ast, (size_t)(*n ? 2 * *n : 1) * size);

        if (!more) {
            p->is_lost = 1;
            return NULL;
        }
        if (*n)
            memcpy(more, *list, (size_t)*n * size);
        *list = more;
    }
    return (char *)*list + (size_t)(*n)++ * size;
}

/* Tokens. */

void qn_fit_advance(qn_fit_parser *p)
{
    p->last_end = p->token.end;
    p->token = qn_fit_next_token(p->diagnostics, p->token.end);
    if (p->token.kind == QN_FIT_TOK_BAD)
        p->is_lost = 1;
}

const char *qn_fit_token_text(qn_fit_parser *p)
{
    const int is_string = p->token.kind == QN_FIT_TOK_STRING;
    const size_t from = p->token.at + (size_t)is_string,
                 n = p->token.end - from - (size_t)is_string;
    char *text = qn_fit_ast_alloc(p->ast, n + 1);

    if (!text) {
        p->is_lost = 1;
        return "";
    }
    memcpy(text, p->diagnostics->text + from, n);
    return text;
}

int qn_fit_is_word(const qn_fit_parser *p, const char *word)
{
    return p->token.kind == QN_FIT_TOK_NAME && p->token.end - p->token.at == strlen(word) &&
           !strncmp(p->diagnostics->text + p->token.at, word, strlen(word));
}

int qn_fit_accept(qn_fit_parser *p, int kind)
{
    if (p->is_lost || p->token.kind != kind)
        return 0;
    qn_fit_advance(p);
    return 1;
}

int qn_fit_accept_word(qn_fit_parser *p, const char *word)
{
    if (p->is_lost || !qn_fit_is_word(p, word))
        return 0;
    qn_fit_advance(p);
    return 1;
}

/* A token missing at the end of a line is reported there, not on the next line. */
void qn_fit_unexpected(qn_fit_parser *p, const char *wanted)
{
    const char *text = p->diagnostics->text;
    size_t at = p->token.at;
    char sign[8];

    if (p->is_lost)
        return;
    p->is_lost = 1;
    for (size_t k = p->last_end; k < p->token.at; k++)
        if (text[k] == '\n')
            at = p->last_end;
    if (at != p->token.at || p->token.kind == QN_FIT_TOK_END)
        qn_fit_diagnose(p->diagnostics, at, "expected %s", wanted);
    else if (p->token.kind == QN_FIT_TOK_NAME)
        qn_fit_diagnose(p->diagnostics, at, "expected %s, found %.*s", wanted,
                        (int)(p->token.end - p->token.at < 60 ? p->token.end - p->token.at : 60),
                        text + p->token.at);
    else
        qn_fit_diagnose(p->diagnostics, at, "expected %s, found %s", wanted,
                        qn_fit_token_name(p->token.kind, sign));
}

int qn_fit_expect(qn_fit_parser *p, int kind)
{
    char sign[8];

    if (qn_fit_accept(p, kind))
        return 1;
    qn_fit_unexpected(p, qn_fit_token_name(kind, sign));
    return 0;
}

/* Words of the language. */

static const char *const VALUES[] = { "pi", "self", "sum", "min", "max", NULL };
static const char *const OTHERS[] = { "fit",   "mesh",  "table", "bal",      "set",    "const",
                                      "param", "data",  "fun",   "residual", "energy", "eliminate",
                                      "solve", "write", "let",   "yield",    "return", "over",
                                      "in",    "where", "loss",  "weight",   "fixed",  "lower",
                                      "upper", "to",    "real",  "vec2",     "vec3",   "vec4",
                                      NULL };

static int is_among(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(*words, name))
            return 1;
    return 0;
}

int qn_fit_is_keyword(const char *name)
{
    return is_among(name, VALUES) || is_among(name, OTHERS);
}

int qn_fit_is_no_value(const char *name)
{
    return is_among(name, OTHERS);
}
