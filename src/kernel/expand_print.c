/* expand_print.c - prints kernel text for a language, line by line.
 *
 * A head becomes a signature in front of the unchanged body. On the CPU and for a MAP the body is
 * that of an item function, called by a wrapper that is printed before it on the head's line; a
 * GROUP or TEAM on a device is the kernel itself, since OpenCL allows local memory only there.
 * Differences between languages are mostly hidden in words of dialect.h; the only one printed here
 * is that OpenCL buffers have a byte offset, so that views need no sub-buffers.
 */
#include "kernel/expand.h"

#include "util/status.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Pieces of signatures. */

static const char *const_of(const qn_head_arg *arg)
{
    return arg->mode == QN_ARG_IN ? "const " : "";
}

/* ", const float a, GLOBAL const float *RESTRICT x": parameters as bodies use them. */
static void print_params(qn_str *out, const qn_head *head)
{
    for (int i = 0; i < head->n_args; i++) {
        const qn_head_arg *arg = &head->args[i];

        if (arg->mode == QN_ARG_VAL)
            qn_str_addf(out, ", const %s %s", arg->type, arg->name);
        else
            qn_str_addf(out, ", GLOBAL %s%s *RESTRICT %s", const_of(arg), arg->type, arg->name);
    }
}

/* Parameters as the host passes them to a kernel. */
static void print_kernel_params(qn_str *out, const qn_head *head, qn_expand_for target)
{
    if (target != QN_EXPAND_OPENCL) {
        print_params(out, head);
        return;
    }
    for (int i = 0; i < head->n_args; i++) {
        const qn_head_arg *arg = &head->args[i];

        if (arg->mode == QN_ARG_VAL)
            qn_str_addf(out, ", const %s %s", arg->type, arg->name);
        else
            qn_str_addf(out, ", GLOBAL %s%s *RESTRICT qn_p_%s, const i64 qn_o_%s", const_of(arg),
                        arg->type, arg->name, arg->name);
    }
}

/* ", a, x": arguments for calling the item function. */
static void print_call_args(qn_str *out, const qn_head *head, qn_expand_for target)
{
    for (int i = 0; i < head->n_args; i++) {
        const qn_head_arg *arg = &head->args[i];

        if (arg->mode != QN_ARG_VAL && target == QN_EXPAND_OPENCL)
            qn_str_addf(out, ", QN_AT(%s%s, %s)", const_of(arg), arg->type, arg->name);
        else
            qn_str_addf(out, ", %s", arg->name);
    }
}

static void print_item_head(qn_str *out, const qn_head *head)
{
    qn_str_addf(out, "FN void qnk_%s_item(%s", head->name,
                head->form == QN_FORM_MAP ? "QN_POINT" : "QN_CELL");
    print_params(out, head);
    qn_str_add(out, ")");
}

/* C. */

static void print_unpacking(qn_str *out, const qn_head *head)
{
    for (int i = 0; i < head->n_args; i++) {
        const qn_head_arg *arg = &head->args[i];

        if (arg->mode == QN_ARG_VAL)
            qn_str_addf(out, "const %s %s = *(const %s *)qn_a[%d]; ", arg->type, arg->name,
                        arg->type, i);
        else
            qn_str_addf(out, "%s%s *RESTRICT %s = (%s%s *)*(void *const *)qn_a[%d]; ",
                        const_of(arg), arg->type, arg->name, const_of(arg), arg->type, i);
    }
}

static void print_c_head(qn_str *out, const qn_head *head)
{
    const int is_map = head->form == QN_FORM_MAP;

    print_item_head(out, head);
    qn_str_addf(out, "; QN_CLONES void qnk_%s_cpu(const qn_span *qn_s, void *const *qn_a) { ",
                head->name);
    print_unpacking(out, head);
    qn_str_addf(out, "%s qnk_%s_item(%s", is_map ? "QN_EACH_POINT" : "QN_EACH_CELL", head->name,
                is_map ? "gx, gy, gz" : "qn_gx, qn_gy, qn_gz");
    print_call_args(out, head, QN_EXPAND_C);
    /* Information in a shared object about run-time kernels, for the engine. */
    qn_str_addf(out, "); } const unsigned short qnk_%s_sizes[] = { ", head->name);
    for (int i = 0; i < head->n_args; i++)
        qn_str_addf(out, "sizeof(%s), ", head->args[i].type);
    qn_str_addf(out, "}; const int qnk_%s_lanes = %s; ", head->name,
                head->form == QN_FORM_GROUP ? "LANES" : "0");
    print_item_head(out, head);
}

/* Devices. */

static void print_item_call(qn_str *out, const qn_head *head, qn_expand_for target, const char *x)
{
    qn_str_addf(out, "qnk_%s_item(%s, gy, gz", head->name, x);
    print_call_args(out, head, target);
    qn_str_add(out, "); ");
}

/* Straight-line calls, so that the compiler may start all loads before the first store. */
static void print_unrolled_calls(qn_str *out, const qn_head *head, qn_expand_for target)
{
    qn_str_addf(out, "QN_UNROLLED_BEGIN(%d) if (QN_WHOLE_BLOCK(%d)) { ", head->unroll,
                head->unroll);
    for (int i = 0; i < head->unroll; i++) {
        char x[32] = "QN_NTH(0)";

        x[7] = (char)('0' + i);
        print_item_call(out, head, target, x);
    }
    qn_str_addf(out, "} else { for (i32 qn_j = 0; qn_j < %d; qn_j++) if (QN_NTH(qn_j) < qn_x1) ",
                head->unroll);
    print_item_call(out, head, target, "QN_NTH(qn_j)");
    qn_str_add(out, "} ");
}

static void print_device_head(qn_str *out, const qn_head *head, qn_expand_for target)
{
    static const char *const kernel_words[] = { [QN_FORM_MAP] = "QN_KERNEL_MAP",
                                                [QN_FORM_GROUP] = "QN_KERNEL_GROUP",
                                                [QN_FORM_TEAM] = "QN_KERNEL_TEAM" };
    const int is_map = head->form == QN_FORM_MAP;

    if (is_map) {
        print_item_head(out, head);
        qn_str_add(out, "; ");
    }
    qn_str_addf(out, "%s qnk_%s(QN_SPAN",
                head->unroll > 1 ? "QN_KERNEL_UNROLLED" : kernel_words[head->form], head->name);
    print_kernel_params(out, head, target);
    qn_str_add(out, ")");
    if (!is_map)
        return;
    qn_str_add(out, " { ");
    if (head->unroll > 1) {
        print_unrolled_calls(out, head, target);
    } else {
        qn_str_add(out, "QN_MAP_BEGIN if (QN_INSIDE) ");
        print_item_call(out, head, target, "gx");
    }
    qn_str_add(out, "} ");
    print_item_head(out, head);
}

/* Text right after the '{' of the body. */
static void print_prologue(qn_str *out, const qn_head *head, qn_expand_for target)
{
    if (head->form == QN_FORM_TEAM)
        qn_str_add(out, " QN_TEAM_BEGIN");
    if (head->form == QN_FORM_MAP || target != QN_EXPAND_OPENCL)
        return;
    for (int i = 0; i < head->n_args; i++) {
        const qn_head_arg *arg = &head->args[i];

        if (arg->mode != QN_ARG_VAL)
            qn_str_addf(out, " GLOBAL %s%s *RESTRICT %s = QN_AT(%s%s, %s);", const_of(arg),
                        arg->type, arg->name, const_of(arg), arg->type, arg->name);
    }
}

/* The whole text. */

/* Prints the newlines of [begin, end), so that the following text keeps its line numbers. */
static void print_newlines(qn_str *out, const char *text, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (text[i] == '\n')
            qn_str_add(out, "\n");
    }
}

/* Prints [begin, end) without its cuts; *cut is the first one not yet passed. */
static void print_text(qn_str *out, const qn_heads *heads, const char *text, size_t begin,
                       size_t end, int *cut)
{
    for (; *cut < heads->n_cuts && heads->cuts[*cut].end <= end; (*cut)++) {
        const qn_cut *c = &heads->cuts[*cut];

        qn_str_add_n(out, text + begin, c->begin - begin);
        print_newlines(out, text, c->begin, c->end);
        begin = c->end;
    }
    qn_str_add_n(out, text + begin, end - begin);
}

static qn_status check_str(const qn_str *out, const char *what, qn_err *err)
{
    if (out->failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s", what);
    return QN_OK;
}

qn_status qn_expand(const qn_heads *heads, const char *text, qn_expand_for target, qn_str *out,
                    qn_err *err)
{
    size_t at = 0;
    int cut = 0;

    for (int i = 0; i < heads->n; i++) {
        const qn_head *head = &heads->list[i];

        print_text(out, heads, text, at, head->begin, &cut);
        if (target == QN_EXPAND_C)
            print_c_head(out, head);
        else
            print_device_head(out, head, target);
        print_newlines(out, text, head->begin, head->brace);
        qn_str_add(out, "{");
        print_prologue(out, head, target);
        at = head->brace + 1;
    }
    print_text(out, heads, text, at, strlen(text), &cut);
    return check_str(out, "expanded kernel text", err);
}

qn_status qn_heads_suffix(const qn_heads *heads, const char *text, const char *suffix, qn_str *out,
                          qn_err *err)
{
    static const char word[] = "PRECISIONS";
    size_t at = 0;
    int cut = 0;

    for (int i = 0; i <= heads->n; i++) {
        const size_t name_end =
            i < heads->n ? heads->list[i].name_at + strlen(heads->list[i].name) : strlen(text);

        for (; cut < heads->n_cuts && heads->cuts[cut].begin < name_end; cut++) {
            const size_t begin = heads->cuts[cut].begin;

            if (strncmp(text + begin, word, sizeof word - 1) != 0)
                continue;
            qn_str_add_n(out, text + at, begin - at);
            at = heads->cuts[cut].end;
        }
        qn_str_add_n(out, text + at, name_end - at);
        if (i < heads->n)
            qn_str_add(out, suffix);
        at = name_end;
    }
    return check_str(out, "kernel text", err);
}

/* Defines and units. */

/* The next NAME or NAME=VALUE of a list; returns where the list continues, or NULL at its end. */
static const char *next_define(const char *list, const char **name, size_t *name_len,
                               const char **value, size_t *value_len)
{
    size_t len;

    list += strspn(list, " \t\n");
    len = strcspn(list, " \t\n");
    if (len == 0)
        return NULL;
    *name = list;
    *name_len = strcspn(list, "= \t\n");
    *value = *name_len < len ? list + *name_len + 1 : "1";
    *value_len = *name_len < len ? len - *name_len - 1 : 1;
    return list + len;
}

/* The value of `wanted` in a list of defines, a text of *len characters; or NULL. */
static const char *find_define(const char *list, const char *wanted, size_t *len)
{
    const char *name, *value;
    size_t name_len;

    while (list && (list = next_define(list, &name, &name_len, &value, len))) {
        if (name_len == strlen(wanted) && !strncmp(name, wanted, name_len))
            return value;
    }
    return NULL;
}

int qn_heads_lanes(const qn_heads *heads, const char *defines)
{
    size_t len;
    const char *value = find_define(defines, "LANES", &len);

    if (value)
        return (int)strtol(value, NULL, 10);
    if (heads->has_team)
        return 32;
    return heads->lanes ? heads->lanes : 256;
}

size_t qn_type_size(const char *type, const char *defines)
{
    static const struct {
        const char *name;
        size_t size;
    } sizes[] = {
        { "i8", 1 },  { "u8", 1 },  { "i16", 2 }, { "u16", 2 },   { "i32", 4 },
        { "u32", 4 }, { "i64", 8 }, { "u64", 8 }, { "float", 4 }, { "double", 8 },
    };
    size_t len;

    if (!strcmp(type, "real")) {
        const char *value = find_define(defines, "REAL", &len);

        return value && len == 6 && !strncmp(value, "double", 6) ? 8 : 4;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (!strcmp(type, sizes[i].name))
            return sizes[i].size;
    }
    return 0;
}

/* Bad defines are refused here, because a compiler would blame the prelude. */
static qn_status check_defines(const char *file, const char *list, qn_err *err)
{
    const char *name, *value;
    size_t name_len, value_len;

    while (list && (list = next_define(list, &name, &name_len, &value, &value_len))) {
        const size_t len = (size_t)(list - name);

        if (name_len == 0 || !(isalpha((unsigned char)*name) || *name == '_'))
            return qn_fail(err, QN_ERR_USAGE, "%s: define '%.*s' does not begin with a name", file,
                           (int)(len < 60 ? len : 60), name);
        if (name_len == 5 && !strncmp(name, "LANES", 5)) {
            const long lanes = strtol(value, NULL, 10);

            if (lanes < 1 || lanes > 1024 || (lanes & (lanes - 1)))
                return qn_fail(err, QN_ERR_USAGE, "%s: %.*s is not a power of two from 1 to 1024",
                               file, (int)(len < 60 ? len : 60), name);
        }
    }
    return QN_OK;
}

/* Prints defines that the prelude tests, in front of it. */
static void print_defines(qn_str *out, const qn_heads *heads, const char *defines)
{
    const char *name, *value;
    size_t name_len, value_len;

    if (heads->has_team)
        qn_str_add(out, "#define QN_TEAM 1\n");
    if (heads->lanes && !find_define(defines, "LANES", &value_len))
        qn_str_addf(out, "#define LANES %d\n", heads->lanes);
    while (defines && (defines = next_define(defines, &name, &name_len, &value, &value_len)))
        qn_str_addf(out, "#define %.*s %.*s\n", (int)name_len, name, (int)value_len, value);
}

/* The caller chooses names of run-time text, so characters that would end the string are
 * replaced. */
static void print_line_mark(qn_str *out, const char *file)
{
    qn_str_add(out, "#line 1 \"");
    for (; *file; file++)
        qn_str_add_n(out, strchr("\"\\\n\r", *file) ? "_" : file, 1);
    qn_str_add(out, "\"\n");
}

qn_status qn_expand_unit_with(const char *dialect, const char *file, const char *text,
                              const char *defines, qn_expand_for target, qn_str *out, qn_err *err)
{
    qn_status st = QN_OK;
    qn_heads heads = { .n = 0 };

    QN_TRY(check_defines(file, defines, err));
    QN_TRY(qn_heads_parse(file, text, &heads, err));
    print_defines(out, &heads, defines);
    print_line_mark(out, "dialect.h");
    qn_str_addf(out, "%s\n", dialect);
    print_line_mark(out, file);
    QN_TRY(qn_expand(&heads, text, target, out, err));
out:
    qn_heads_free(&heads);
    return st;
}
