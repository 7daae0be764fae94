/* expand.c - finds and checks the heads of kernel text.
 *
 * A head is found only where a compiler would see one: at the start of a line, outside comments,
 * literals, preprocessor lines and bodies. Heads are checked completely here, because compiler
 * errors about the printed signature would mention names that the author never wrote.
 */
#include "kernel/expand.h"

#include "kernel/expand_scan.h"
#include "util/status.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct parser {
    const char *file;
    qn_scan scan;
    qn_heads *heads;
    qn_err *err;
} parser;

static const char *const form_names[] = {
    [QN_FORM_MAP] = "MAP", [QN_FORM_GROUP] = "GROUP", [QN_FORM_TEAM] = "TEAM"
};
static const char *const mode_names[] = {
    [QN_ARG_VAL] = "VAL", [QN_ARG_IN] = "IN", [QN_ARG_OUT] = "OUT", [QN_ARG_INOUT] = "INOUT"
};

/* Names reserved by one of the three languages or the dialect. */
static const char *const reserved[] = {
    "alignas",    "alignof",
    "and",        "asm",
    "auto",       "bool",
    "break",      "case",
    "catch",      "char",
    "class",      "const",
    "constant",   "constexpr",
    "continue",   "decltype",
    "default",    "delete",
    "do",         "double",
    "else",       "enum",
    "explicit",   "export",
    "extern",     "false",
    "float",      "for",
    "friend",     "generic",
    "global",     "goto",
    "half",       "if",
    "image2d_t",  "inline",
    "int",        "kernel",
    "local",      "long",
    "mutable",    "namespace",
    "new",        "noexcept",
    "not",        "nullptr",
    "operator",   "or",
    "pipe",       "private",
    "protected",  "public",
    "quad",       "read_only",
    "real",       "register",
    "restrict",   "return",
    "sampler_t",  "short",
    "signed",     "sizeof",
    "static",     "static_assert",
    "struct",     "switch",
    "template",   "this",
    "throw",      "true",
    "try",        "typedef",
    "typeid",     "typename",
    "typeof",     "uchar",
    "uint",       "ulong",
    "union",      "unsigned",
    "ushort",     "using",
    "vec_step",   "virtual",
    "void",       "volatile",
    "while",      "write_only",
    "xor",        "blockDim",
    "blockIdx",   "gridDim",
    "threadIdx",  "warpSize",
    "i8",         "u8",
    "i16",        "u16",
    "i32",        "u32",
    "i64",        "u64",
    "gx",         "gy",
    "gz",         "GI",
    "MAP",        "GROUP",
    "TEAM",       "VAL",
    "IN",         "OUT",
    "INOUT",      "UNROLL",
    "LANE",       "LANES",
    "EACH_LANE",  "EACH_LANE_BELOW",
    "ANY_LANE",   "PRIV",
    "LOCAL",      "SYNC",
    "GROUP_X",    "GROUP_Y",
    "GROUP_Z",    "TEAM_X",
    "TEAM_Y",     "TEAM_Z",
    "TEAM_PARAM", "TEAM_PASS",
    "GLOBAL",     "RESTRICT",
    "FN",         "REAL",
    "INFINITY",   "NAN",
    "FLT_MAX",
};

/* C types whose size or name differs between the languages, each with its replacement. */
static const struct {
    const char *type, *instead;
} loose_types[] = {
    { "char", "i8" },  { "short", "i16" },  { "int", "i32" },      { "long", "i64" },
    { "uchar", "u8" }, { "ushort", "u16" }, { "uint", "u32" },     { "ulong", "u64" },
    { "bool", "u8" },  { "_Bool", "u8" },   { "unsigned", "u32" }, { "signed", "i32" },
    { "half", "u16" }, { "size_t", "i64" }, { "void", "u8" },      { "const", "IN" },
};

/* Checks. */

static int find_word(const parser *p, qn_token t, const char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        if (qn_token_is_word(&p->scan, t, words[i]))
            return i;
    }
    return -1;
}

static int form_of(const parser *p, qn_token t)
{
    return find_word(p, t, form_names, sizeof form_names / sizeof *form_names);
}

static int mode_of(const parser *p, qn_token t)
{
    return find_word(p, t, mode_names, sizeof mode_names / sizeof *mode_names);
}

/* Copies a name given by the author, of a kernel or an argument (`what`). */
static qn_status take_name(parser *p, qn_token t, const char *what, char out[QN_MAX_NAME])
{
    const size_t n = t.end - t.begin;
    const int n_reserved = sizeof reserved / sizeof *reserved;

    if (t.kind != QN_TOKEN_NAME)
        return qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: %s where the name of %s should be", p->file,
                       t.line, qn_token_show(&p->scan, t).text, what);
    /* A suffix of four characters (_f32) and the final NUL must fit too. */
    if (n + 5 > QN_MAX_NAME)
        return qn_fail(p->err, QN_ERR_COMPILE,
                       "%s:%d: name of %s has %zu characters, the limit is %d", p->file, t.line,
                       what, n, QN_MAX_NAME - 5);
    if (find_word(p, t, reserved, n_reserved) >= 0 || p->scan.text[t.begin] == '_' ||
        (n > 2 && !strncasecmp(p->scan.text + t.begin, "qn_", 3)) ||
        (n > 3 && !strncasecmp(p->scan.text + t.begin, "qnk_", 4)))
        return qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: %s is a reserved name, not one for %s",
                       p->file, t.line, qn_token_show(&p->scan, t).text, what);
    memcpy(out, p->scan.text + t.begin, n);
    out[n] = '\0';
    return QN_OK;
}

static qn_status expect(parser *p, char mark, const char *where, qn_token *out)
{
    const qn_token t = qn_scan_next(&p->scan);

    if (!qn_token_is_mark(&p->scan, t, mark))
        return qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: %s where '%c' should be, %s", p->file,
                       t.line, qn_token_show(&p->scan, t).text, mark, where);
    if (out)
        *out = t;
    return QN_OK;
}

/* Heads. */

static qn_status take_type(parser *p, const char *kernel, qn_head_arg *arg)
{
    const qn_token t = qn_scan_next(&p->scan);
    const size_t n = t.end - t.begin;

    if (t.kind != QN_TOKEN_NAME)
        return qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s: %s where a type should be",
                       p->file, t.line, kernel, qn_token_show(&p->scan, t).text);
    for (size_t i = 0; i < sizeof loose_types / sizeof *loose_types; i++) {
        if (qn_token_is_word(&p->scan, t, loose_types[i].type))
            return qn_fail(p->err, QN_ERR_COMPILE,
                           "%s:%d: kernel %s: %s is not a type of the dialect; write %s", p->file,
                           t.line, kernel, qn_token_show(&p->scan, t).text, loose_types[i].instead);
    }
    if (!qn_token_is_mark(&p->scan, qn_scan_peek(&p->scan), ','))
        return qn_fail(p->err, QN_ERR_COMPILE,
                       "%s:%d: kernel %s: the type of an argument is one name, %s follows %s",
                       p->file, t.line, kernel,
                       qn_token_show(&p->scan, qn_scan_peek(&p->scan)).text,
                       qn_token_show(&p->scan, t).text);
    if (n >= QN_MAX_NAME)
        return qn_fail(p->err, QN_ERR_COMPILE,
                       "%s:%d: kernel %s: a type name has %zu characters, the limit is %d", p->file,
                       t.line, kernel, n, QN_MAX_NAME - 1);
    memcpy(arg->type, p->scan.text + t.begin, n);
    arg->type[n] = '\0';
    arg->size = strcmp(arg->type, "real") ? qn_type_size(arg->type, NULL) : 0;
    return QN_OK;
}

/* Parses MODE(type, name) after the comma; `t` is its first token. */
static qn_status take_arg(parser *p, qn_head *head, qn_token t)
{
    qn_status st = QN_OK;
    qn_head_arg arg = { .mode = QN_ARG_VAL };
    const int mode = mode_of(p, t);
    qn_token name;

    if (mode < 0) {
        st = qn_fail(p->err, QN_ERR_COMPILE,
                     "%s:%d: kernel %s: unknown mode %s; there are VAL, IN, OUT and INOUT%s",
                     p->file, t.line, head->name, qn_token_show(&p->scan, t).text,
                     qn_token_is_word(&p->scan, t, "UNROLL")
                         ? " (UNROLL stands right after a MAP's name)"
                         : "");
        goto out;
    }
    if (head->n_args == QN_MAX_ARGS) {
        st = qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s has more than %d arguments", p->file,
                     t.line, head->name, QN_MAX_ARGS);
        goto out;
    }
    arg.mode = (qn_arg_mode)mode;
    QN_TRY(expect(p, '(', "after the mode of an argument", NULL));
    QN_TRY(take_type(p, head->name, &arg));
    QN_TRY(expect(p, ',', "after the type of an argument", NULL));
    name = qn_scan_next(&p->scan);
    QN_TRY(take_name(p, name, "an argument", arg.name));
    QN_TRY(expect(p, ')', "after the name of an argument", NULL));
    for (int i = 0; i < head->n_args; i++) {
        if (!strcmp(head->args[i].name, arg.name)) {
            st = qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s has two arguments named '%s'",
                         p->file, name.line, head->name, arg.name);
            goto out;
        }
    }
    head->args[head->n_args++] = arg;
out:
    return st;
}

/* Parses UNROLL(k) after the word UNROLL. */
static qn_status take_unroll(parser *p, qn_head *head, qn_token word)
{
    qn_status st = QN_OK;
    qn_token t;

    if (head->form != QN_FORM_MAP)
        return qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s: UNROLL is for MAP, not %s",
                       p->file, word.line, head->name, form_names[head->form]);
    QN_TRY(expect(p, '(', "after UNROLL", NULL));
    t = qn_scan_next(&p->scan);
    if (t.kind != QN_TOKEN_NUMBER || t.end - t.begin != 1 ||
        !strchr("1248", p->scan.text[t.begin])) {
        st = qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s: UNROLL takes 1, 2, 4 or 8, not %s",
                     p->file, t.line, head->name, qn_token_show(&p->scan, t).text);
        goto out;
    }
    head->unroll = p->scan.text[t.begin] - '0';
    QN_TRY(expect(p, ')', "after the number of UNROLL", NULL));
out:
    return st;
}

/* Parses from the form, already read as `word`, to the '{' of the body. */
static qn_status take_head(parser *p, qn_token word, qn_form form, qn_head *head)
{
    qn_status st = QN_OK;
    qn_token t;

    head->form = form;
    head->unroll = 1;
    head->line = word.line;
    head->begin = word.begin;
    QN_TRY(expect(p, '(', "after the form of a kernel", NULL));
    t = qn_scan_next(&p->scan);
    head->name_at = t.begin;
    QN_TRY(take_name(p, t, "a kernel", head->name));
    for (t = qn_scan_next(&p->scan); qn_token_is_mark(&p->scan, t, ',');
         t = qn_scan_next(&p->scan)) {
        const qn_token first = qn_scan_next(&p->scan);

        if (qn_token_is_word(&p->scan, first, "UNROLL") && head->n_args == 0 && head->unroll == 1)
            QN_TRY(take_unroll(p, head, first));
        else
            QN_TRY(take_arg(p, head, first));
    }
    if (!qn_token_is_mark(&p->scan, t, ')')) {
        st = qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s: %s where ',' or ')' should be",
                     p->file, t.line, head->name, qn_token_show(&p->scan, t).text);
        goto out;
    }
    head->end = t.end;
    if (head->n_args == 0) {
        st = qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s has no arguments", p->file,
                     head->line, head->name);
        goto out;
    }
    t = qn_scan_next(&p->scan);
    if (!qn_token_is_mark(&p->scan, t, '{')) {
        st = qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s has no body: %s where '{' should be",
                     p->file, t.line, head->name, qn_token_show(&p->scan, t).text);
        goto out;
    }
    head->brace = t.begin;
out:
    return st;
}

/* Other lines that the expander reads. */

static qn_status add_cut(parser *p, size_t begin, size_t end)
{
    qn_heads *heads = p->heads;
    qn_cut *cuts = realloc(heads->cuts, ((size_t)heads->n_cuts + 1) * sizeof *cuts);

    if (!cuts)
        return qn_fail(p->err, QN_ERR_NOMEM, "%s: no memory for its heads", p->file);
    heads->cuts = cuts;
    cuts[heads->n_cuts++] = (qn_cut){ begin, end };
    return QN_OK;
}

/* `#define LANES n` moves in front of the prelude; the include of the prelude is removed. */
static qn_status take_directive(parser *p, qn_token line)
{
    qn_scan in = p->scan;
    qn_token t;
    long lanes;

    in.at = line.begin + 1;
    in.line = line.line;
    in.line_is_fresh = 0;
    t = qn_scan_next(&in);
    if (qn_token_is_word(&in, t, "include")) {
        const char *name = in.text + in.at;

        name += strspn(name, " \t");
        if (!strncmp(name, "\"dialect.h\"", 11) || !strncmp(name, "\"kernel/dialect.h\"", 18) ||
            !strncmp(name, "\"types.h\"", 9) || !strncmp(name, "\"kernel/types.h\"", 16))
            return add_cut(p, line.begin, line.end);
        return QN_OK;
    }
    if (!qn_token_is_word(&in, t, "define") || !qn_token_is_word(&in, qn_scan_next(&in), "LANES"))
        return QN_OK;
    t = qn_scan_next(&in);
    lanes = t.kind == QN_TOKEN_NUMBER && t.end <= line.end
                ? strtol(p->scan.text + t.begin, NULL, 10)
                : 0;
    if (lanes < 1 || lanes > 1024 || (lanes & (lanes - 1)))
        return qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: LANES must be a power of two from 1 to 1024",
                       p->file, line.line);
    p->heads->lanes = (int)lanes;
    return add_cut(p, line.begin, line.end);
}

/* Refuses KERNEL(name, IN(float, x)) { or MAP3(...), which are surely meant as heads. */
static qn_status check_not_a_form(parser *p, qn_token word)
{
    qn_scan ahead = p->scan;
    int depth = 0;
    int has_args = 0;
    qn_token t = qn_scan_next(&ahead);

    if (!qn_token_is_mark(&p->scan, t, '('))
        return QN_OK;
    do {
        depth += qn_token_is_mark(&p->scan, t, '(') - qn_token_is_mark(&p->scan, t, ')');
        has_args |= depth == 1 && mode_of(p, t) >= 0 &&
                    qn_token_is_mark(&p->scan, qn_scan_peek(&ahead), '(');
        if (depth > 0)
            t = qn_scan_next(&ahead);
    } while (depth > 0 && t.kind != QN_TOKEN_END);
    if (has_args && qn_token_is_mark(&p->scan, qn_scan_peek(&ahead), '{'))
        return qn_fail(p->err, QN_ERR_COMPILE,
                       "%s:%d: unknown form %s; there are MAP, GROUP and TEAM", p->file, word.line,
                       qn_token_show(&p->scan, word).text);
    return QN_OK;
}

static int is_alone_on_line(const parser *p, qn_token t)
{
    const char *rest = p->scan.text + t.end;

    rest += strspn(rest, " \t\r");
    return *rest == '\n' || *rest == '\0';
}

/* The whole text. */

static int is_defined(const parser *p, qn_token name)
{
    const size_t n = name.end - name.begin;

    for (const char *at = p->scan.text; (at = strstr(at, "define"));) {
        at += strlen("define");
        at += strspn(at, " \t");
        if (!strncmp(at, p->scan.text + name.begin, n) && !isalnum((unsigned char)at[n]) &&
            at[n] != '_')
            return 1;
    }
    return 0;
}

/* For how long code after `t` may be skipped at some points, or may not be what it seems. */
typedef enum { NOT_AT_ALL, IN_STATEMENT, TO_THE_END } doubt;

static doubt doubt_after(const parser *p, qn_token t)
{
    static const char *const words[] = { "if",     "for",  "while", "do",  "switch",
                                         "return", "goto", "case",  "else" };

    switch (t.kind) {
    case QN_TOKEN_NAME:
        if (qn_token_is_word(&p->scan, t, "sizeof"))
            return IN_STATEMENT;
        return find_word(p, t, words, sizeof words / sizeof *words) >= 0 || is_defined(p, t)
                   ? TO_THE_END
                   : NOT_AT_ALL;
    case QN_TOKEN_MARK:
        return strchr("{}", p->scan.text[t.begin])    ? TO_THE_END
               : strchr("?&|", p->scan.text[t.begin]) ? IN_STATEMENT
                                                      : NOT_AT_ALL;
    default:
        return t.kind == QN_TOKEN_DIRECTIVE ? TO_THE_END : NOT_AT_ALL;
    }
}

/* The argument's bit if `t` begins `name[index]` of a buffer, else 0. */
static uint32_t indexed(const parser *p, const qn_head *head, qn_token before, qn_token t,
                        const char *index)
{
    qn_scan ahead = p->scan;

    if (qn_token_is_mark(&p->scan, before, '.') || qn_token_is_mark(&p->scan, before, '>') ||
        !qn_token_is_mark(&ahead, qn_scan_next(&ahead), '[') ||
        !qn_token_is_word(&ahead, qn_scan_next(&ahead), index) ||
        !qn_token_is_mark(&ahead, qn_scan_next(&ahead), ']'))
        return 0;
    for (int a = 0; a < head->n_args; a++)
        if (head->args[a].mode != QN_ARG_VAL && qn_token_is_word(&p->scan, t, head->args[a].name))
            return 1u << a;
    return 0;
}

/* Parses from the body's '{', already read, to its '}'. */
static qn_status take_body(parser *p, qn_head *head)
{
    qn_status st = QN_OK;
    uint32_t at_gx = 0, at_gi = 0;
    int depth = 1;
    doubt now, doubts = head->form == QN_FORM_MAP ? NOT_AT_ALL : TO_THE_END;
    qn_token before = { .kind = QN_TOKEN_END };

    while (depth > 0) {
        const qn_token t = qn_scan_next(&p->scan);

        if (t.kind == QN_TOKEN_DIRECTIVE)
            QN_TRY(take_directive(p, t));
        if (t.kind == QN_TOKEN_END || (t.at_margin && form_of(p, t) >= 0)) {
            st = qn_fail(p->err, QN_ERR_COMPILE,
                         "%s:%d: the body of kernel %s (line %d) is not closed before %s", p->file,
                         t.line, head->name, head->line, qn_token_show(&p->scan, t).text);
            goto out;
        }
        depth += qn_token_is_mark(&p->scan, t, '{') - qn_token_is_mark(&p->scan, t, '}');
        head->folds |= head->form == QN_FORM_MAP && qn_token_is_word(&p->scan, t, "GI");
        if (doubts == IN_STATEMENT && qn_token_is_mark(&p->scan, t, ';'))
            doubts = NOT_AT_ALL;
        now = doubt_after(p, t);
        doubts = now > doubts ? now : doubts;
        if (doubts == NOT_AT_ALL && t.kind == QN_TOKEN_NAME) {
            at_gx |= indexed(p, head, before, t, "gx");
            at_gi |= indexed(p, head, before, t, "GI");
        }
        before = t;
    }
    head->points = head->folds ? at_gi : at_gx;
out:
    return st;
}

static qn_status add_head(parser *p, const qn_head *head)
{
    qn_heads *heads = p->heads;
    qn_head *list;

    for (int i = 0; i < heads->n; i++) {
        const qn_head *old = &heads->list[i];

        if (!strcmp(old->name, head->name))
            return qn_fail(p->err, QN_ERR_COMPILE, "%s:%d: kernel %s is already defined in line %d",
                           p->file, head->line, head->name, old->line);
        if (old->form != head->form && old->form != QN_FORM_MAP && head->form != QN_FORM_MAP)
            return qn_fail(p->err, QN_ERR_COMPILE,
                           "%s:%d: kernel %s is a %s and kernel %s (line %d) a %s; a file holds "
                           "GROUP or TEAM kernels, not both",
                           p->file, head->line, head->name, form_names[head->form], old->name,
                           old->line, form_names[old->form]);
    }
    list = realloc(heads->list, ((size_t)heads->n + 1) * sizeof *list);
    if (!list)
        return qn_fail(p->err, QN_ERR_NOMEM, "%s: no memory for its heads", p->file);
    heads->list = list;
    list[heads->n++] = *head;
    heads->has_team |= head->form == QN_FORM_TEAM;
    return QN_OK;
}

/* Handles a name in the first column, outside all braces. */
static qn_status take_margin_word(parser *p, qn_token t)
{
    qn_status st = QN_OK;
    const int form = form_of(p, t);

    if (form >= 0) {
        qn_head head = { .n_args = 0 };

        QN_TRY(take_head(p, t, (qn_form)form, &head));
        QN_TRY(add_head(p, &head));
        QN_TRY(take_body(p, &p->heads->list[p->heads->n - 1]));
    } else if (qn_token_is_word(&p->scan, t, "PRECISIONS") && is_alone_on_line(p, t)) {
        p->heads->has_precisions = 1;
        QN_TRY(add_cut(p, t.begin, t.end));
    } else {
        QN_TRY(check_not_a_form(p, t));
    }
out:
    return st;
}

qn_status qn_heads_parse(const char *file, const char *text, qn_heads *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_heads heads = { .n = 0 };
    parser p = { file, qn_scan_open(text), &heads, err };
    int depth = 0;
    qn_token t;

    while ((t = qn_scan_next(&p.scan)).kind != QN_TOKEN_END) {
        if (t.kind == QN_TOKEN_DIRECTIVE)
            QN_TRY(take_directive(&p, t));
        else if (t.kind == QN_TOKEN_NAME && t.at_margin && depth == 0)
            QN_TRY(take_margin_word(&p, t));
        else if (qn_token_is_mark(&p.scan, t, '{'))
            depth++;
        else if (qn_token_is_mark(&p.scan, t, '}') && depth > 0)
            depth--;
        else if (t.at_margin && form_of(&p, t) >= 0)
            QN_FAIL(err, QN_ERR_COMPILE, "%s:%d: %s inside braces: a '}' is missing above", file,
                    t.line, qn_token_show(&p.scan, t).text);
    }
    if (heads.has_team && heads.lanes)
        QN_FAIL(err, QN_ERR_COMPILE,
                "%s: LANES of TEAM kernels is chosen per device, not by the text", file);
    *out = heads;
    heads = (qn_heads){ .n = 0 };
out:
    qn_heads_free(&heads);
    return st;
}

void qn_heads_free(qn_heads *heads)
{
    free(heads->list);
    free(heads->cuts);
    *heads = (qn_heads){ .n = 0 };
}
