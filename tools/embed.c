/* embed.c - quern-embed: kernel files to C tables, at build time.
 *
 *   quern-embed kernel IN.c OUT.gen.c OUT.gen.h   the C form, argument tables, embedded text and
 *                                                 PTX of one kernel file; its typed launchers
 *   quern-embed kernel-without-ptx ...            the same without PTX
 *   quern-embed table OUT.c dialect.h FILES...    the prelude as text, the list of all modules
 *   quern-embed text IN.c                         prints the text as it is embedded
 *
 * A file with a line PRECISIONS becomes two modules; the second goes to OUT_f64.gen.c.
 */
#include "embed_ptx.h"
#include "kernel/expand.h"
#include "util/status.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { MAX_HEADERS = 64, MAX_PATH = 4096 };

/* One way to build a kernel file. */
typedef struct variant {
    const char *suffix, *real, *defines;
} variant;

static const variant single = { "", "float", NULL };
static const variant precisions[] = { { "_f32", "float", "REAL=float" },
                                      { "_f64", "double", "REAL=double" } };

typedef struct job {
    const char *path;
    char dir[MAX_PATH];  /* of the kernel file, with its slash */
    size_t src;          /* number of characters of `dir` up to src, before "kernel/" or "lab/" */
    char file[MAX_PATH]; /* "vector.c" */
    char name[MAX_PATH]; /* "vector" */
    qn_str text;
    qn_heads heads;
    char seen[MAX_HEADERS][QN_MAX_NAME]; /* headers inlined already */
    int n_seen;
    int has_ptx; /* wanted */
    qn_err *err;
} job;

/* Files. */

static qn_status read_file(const char *path, qn_str *out, qn_err *err)
{
    FILE *const file = fopen(path, "rb");
    char chunk[4096];
    size_t n;

    if (!file)
        return qn_fail(err, QN_ERR_IO, "cannot open %s", path);
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        qn_str_add_n(out, chunk, n);
    if (ferror(file)) {
        fclose(file);
        return qn_fail(err, QN_ERR_IO, "cannot read %s", path);
    }
    fclose(file);
    if (out->failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path);
    if (out->len && memchr(out->data, '\0', out->len))
        return qn_fail(err, QN_ERR_INPUT, "%s has a NUL character", path);
    return QN_OK;
}

static qn_status write_file(const char *path, const qn_str *text, qn_err *err)
{
    FILE *file;
    int failed;

    if (text->failed)
        return qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path);
    if (!(file = fopen(path, "wb")))
        return qn_fail(err, QN_ERR_IO, "cannot open %s for writing", path);
    failed = fwrite(qn_str_get(text), 1, text->len, file) != text->len;
    if (fclose(file) || failed)
        return qn_fail(err, QN_ERR_IO, "cannot write %s", path);
    return QN_OK;
}

/* `text` as C string literals, one per line of it. */
static void print_literal(qn_str *out, const char *text)
{
    qn_str_add(out, "\n    \"");
    for (; *text; text++) {
        if (*text == '\n')
            qn_str_add(out, text[1] ? "\\n\"\n    \"" : "\\n");
        else if (*text == '"' || *text == '\\' || *text == '?')
            qn_str_addf(out, "\\%c", *text);
        else if ((unsigned char)*text < 32 || (unsigned char)*text > 126)
            qn_str_addf(out, "\\%03o", (unsigned char)*text);
        else
            qn_str_add_n(out, text, 1);
    }
    qn_str_add(out, "\"");
}

/* `text` compressed, as a table `name` of bytes. */
static qn_status print_packed(qn_str *out, const char *name, const char *text, qn_err *err)
{
    const size_t len = strlen(text);
    uLongf bytes = compressBound(len);
    unsigned char *const data = malloc(bytes);

    if (!data || compress2(data, &bytes, (const Bytef *)text, len, Z_BEST_COMPRESSION) != Z_OK) {
        free(data);
        return qn_fail(err, QN_ERR_NOMEM, "no memory to compress %zu characters", len);
    }
    qn_str_addf(out, "static const unsigned char %s[%lu] =", name, bytes);
    for (size_t i = 0; i < bytes; i++)
        qn_str_addf(out, "%s\\%03o", i % 24 ? "" : i ? "\"\n    \"" : "\n    \"", data[i]);
    qn_str_add(out, "\";\n");
    free(data);
    return QN_OK;
}

/* Includes. */

/* The name in a line `#include "name"`; 0 if the line is anything else. */
static int included_name(const char *line, char name[QN_MAX_NAME])
{
    size_t len;

    line += strspn(line, " \t");
    if (*line++ != '#')
        return 0;
    line += strspn(line, " \t");
    if (strncmp(line, "include", 7) != 0)
        return 0;
    line += 7;
    line += strspn(line, " \t");
    if (*line++ != '"')
        return 0;
    len = strcspn(line, "\"\n");
    if (line[len] != '"' || len == 0 || len >= QN_MAX_NAME)
        return 0;
    memcpy(name, line, len);
    name[len] = '\0';
    return 1;
}

static int is_file(const char *name, const char *wanted)
{
    const char *const slash = strrchr(name, '/');

    return !strcmp(slash ? slash + 1 : name, wanted);
}

static int is_prelude(const char *name)
{
    return is_file(name, "dialect.h") || is_file(name, "types.h");
}

/* Reads a header from the folder of the kernel or one above it, up to src. `include` receives the
 * name by which host code includes it. */
static qn_status read_header(const job *j, const char *name, qn_str *text, qn_str *include)
{
    size_t len = strlen(j->dir);
    char path[2 * MAX_PATH];

    for (;;) {
        snprintf(path, sizeof path, "%.*s%s", (int)len, j->dir, name);
        if (len <= j->src || access(path, R_OK) == 0)
            break;
        do
            len--;
        while (len > j->src && j->dir[len - 1] != '/');
    }
    qn_str_add_n(include, j->dir + j->src, len - j->src);
    qn_str_add(include, name);
    return read_file(path, text, j->err);
}

static int line_of(const char *text, size_t at)
{
    int line = 1;

    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return line;
}

static qn_status inline_headers(job *j, const char *file, const char *text, int depth, qn_str *out);

static qn_status inline_one(job *j, const char *name, int depth, qn_str *out)
{
    qn_status st = QN_OK;
    qn_str text = { 0 };
    qn_str include = { 0 };

    for (int i = 0; i < j->n_seen; i++) {
        if (!strcmp(j->seen[i], name))
            return QN_OK;
    }
    if (j->n_seen == MAX_HEADERS || depth > MAX_HEADERS)
        return qn_fail(j->err, QN_ERR_LIMIT, "%s includes more than %d headers", j->path,
                       MAX_HEADERS);
    strcpy(j->seen[j->n_seen++], name);
    QN_TRY(read_header(j, name, &text, &include));
    qn_str_addf(out, "#line 1 \"%s\"\n", name);
    QN_TRY(inline_headers(j, name, qn_str_get(&text), depth + 1, out));
out:
    qn_str_free(&text);
    qn_str_free(&include);
    return st;
}

/* The text for devices: headers inlined, each once, with #line around them. */
static qn_status inline_headers(job *j, const char *file, const char *text, int depth, qn_str *out)
{
    qn_status st = QN_OK;
    char name[QN_MAX_NAME];
    size_t at = 0;

    while (text[at]) {
        const size_t len = strcspn(text + at, "\n");

        if (included_name(text + at, name)) {
            if (!is_prelude(name)) {
                QN_TRY(inline_one(j, name, depth, out));
                qn_str_addf(out, "#line %d \"%s\"", line_of(text, at) + 1, file);
            }
        } else {
            qn_str_add_n(out, text + at, len);
        }
        qn_str_add(out, "\n");
        at += len + (text[at + len] == '\n');
    }
out:
    return st;
}

/* The text for the host compiler: the same lines, with includes relative to src. With `shared`,
 * only the includes of headers that host code may include too. */
static qn_status rewrite_includes(job *j, const char *text, int shared, qn_str *out)
{
    qn_status st = QN_OK;
    qn_str header = { 0 };
    qn_str include = { 0 };
    char name[QN_MAX_NAME];

    while (*text) {
        const size_t len = strcspn(text, "\n");

        if (!included_name(text, name)) {
            if (!shared)
                qn_str_add_n(out, text, len + (text[len] == '\n'));
        } else if (is_prelude(name)) {
            if (!shared)
                qn_str_add(out, "\n");
        } else {
            QN_TRY(read_header(j, name, &header, &include));
            if (!shared || strstr(qn_str_get(&header), "types.h\""))
                qn_str_addf(out, "#include \"%s\"\n", qn_str_get(&include));
            qn_str_free(&header);
            qn_str_free(&include);
        }
        text += len + (text[len] == '\n');
    }
out:
    qn_str_free(&header);
    qn_str_free(&include);
    return st;
}

/* One kernel file. */

static const char *type_shown(const char *type, const variant *v)
{
    return strcmp(type, "real") ? type : v->real;
}

static void print_kernel_table(qn_str *out, const qn_head *head, const job *j, const variant *v)
{
    static const char *const forms[] = { [QN_FORM_MAP] = "QN_FORM_MAP",
                                         [QN_FORM_GROUP] = "QN_FORM_GROUP",
                                         [QN_FORM_TEAM] = "QN_FORM_TEAM" };
    static const char *const modes[] = { [QN_ARG_VAL] = "QN_ARG_VAL",
                                         [QN_ARG_IN] = "QN_ARG_IN",
                                         [QN_ARG_OUT] = "QN_ARG_OUT",
                                         [QN_ARG_INOUT] = "QN_ARG_INOUT" };

    qn_str_addf(out, "static const qn_arg_info qn_args_%s[] = {\n", head->name);
    for (int i = 0; i < head->n_args; i++) {
        const qn_head_arg *arg = &head->args[i];

        qn_str_addf(out, "    { \"%s\", \"%s\", sizeof(%s), %s },\n", arg->name,
                    type_shown(arg->type, v), arg->type, modes[arg->mode]);
    }
    qn_str_addf(out,
                "};\n"
                "const qn_kernel_info qn_kernel_%s = {\n"
                "    .name = \"%s\", .form = %s, .n_args = %d, .folds = %d, .unroll = %d,\n"
                "    .lanes = %s, .points = %u, .args = qn_args_%s, .cpu = qnk_%s_cpu,\n"
                "    .module = &qn_module_%s%s,\n};\n",
                head->name, head->name, forms[head->form], head->n_args, head->folds, head->unroll,
                head->form == QN_FORM_GROUP ? "LANES" : "0", head->points, head->name, head->name,
                j->name, v->suffix);
}

static qn_status print_module_table(qn_str *out, const qn_heads *heads, const job *j,
                                    const variant *v, const char *text, const char *ptx)
{
    qn_status st = QN_OK;

    qn_str_add(out, "static const qn_kernel_info *const qn_list[] = {\n");
    for (int i = 0; i < heads->n; i++)
        qn_str_addf(out, "    &qn_kernel_%s,\n", heads->list[i].name);
    qn_str_add(out, "};\n");
    QN_TRY(print_packed(out, "qn_text", text, j->err));
    if (*ptx)
        QN_TRY(print_packed(out, "qn_ptx", ptx, j->err));
    qn_str_addf(out,
                "const qn_kernel_module qn_module_%s%s = {\n"
                "    .name = \"%s%s\", .defines = %s%s%s,\n"
                "    .packed = { qn_text, sizeof qn_text }, .ptx = { %s },\n"
                "    .kernels = qn_list, .n_kernels = %d,\n};\n",
                j->name, v->suffix, j->name, v->suffix, v->defines ? "\"" : "",
                v->defines ? v->defines : "NULL", v->defines ? "\"" : "",
                *ptx ? "qn_ptx, sizeof qn_ptx" : "NULL, 0", heads->n);
out:
    return st;
}

static qn_status make_ptx(const job *j, const variant *v, const char *text, qn_str *ptx)
{
    qn_status st = QN_OK;
    qn_str dialect = { 0 };
    qn_str unit = { 0 }, include = { 0 };

    QN_TRY(read_header(j, "kernel/dialect.h", &dialect, &include));
    QN_TRY(qn_expand_unit_with(qn_str_get(&dialect), j->file, text, v->defines, QN_EXPAND_CUDA,
                               &unit, j->err));
    st = qn_embed_ptx(j->file, qn_str_get(&unit), ptx, j->err);
    if (st == QN_ERR_INIT) {
        printf("kernel %s: no NVRTC here, PTX is left out\n", j->name);
        st = QN_OK;
    } else if (st == QN_ERR_COMPILE) {
        fputs(qn_str_get(ptx), stderr);
    }
out:
    qn_str_free(&include);
    qn_str_free(&dialect);
    qn_str_free(&unit);
    return st;
}

/* #include and #define lines in front of the C form. */
static void print_c_prelude(qn_str *out, const job *j, const variant *v)
{
    qn_str_addf(out, "/* Made by quern-embed from %s. */\n#include <quern/kernel.h>\n", j->file);
    if (j->heads.has_team)
        qn_str_add(out, "#define QN_TEAM 1\n");
    if (j->heads.lanes)
        qn_str_addf(out, "#define LANES %d\n", j->heads.lanes);
    if (v->defines)
        qn_str_addf(out, "#define REAL %s\n", v->real);
    qn_str_addf(out, "#include \"kernel/dialect.h\"\n#line 1 \"%s\"\n", j->path);
}

static qn_status write_c(job *j, const variant *v, const char *path)
{
    qn_status st = QN_OK;
    qn_heads heads = { .n = 0 };
    qn_str named = { 0 };
    qn_str host = { 0 };
    qn_str device = { 0 };
    qn_str ptx = { 0 };
    qn_str out = { 0 };

    QN_TRY(qn_heads_suffix(&j->heads, qn_str_get(&j->text), v->suffix, &named, j->err));
    QN_TRY(rewrite_includes(j, qn_str_get(&named), 0, &host));
    j->n_seen = 0;
    QN_TRY(inline_headers(j, j->file, qn_str_get(&named), 0, &device));
    QN_TRY(qn_heads_parse(j->path, qn_str_get(&host), &heads, j->err));
    if (j->has_ptx)
        QN_TRY(make_ptx(j, v, qn_str_get(&device), &ptx));

    print_c_prelude(&out, j, v);
    QN_TRY(qn_expand(&heads, qn_str_get(&host), QN_EXPAND_C, &out, j->err));
    qn_str_addf(&out, "\n#line %d \"%s\"\n", line_of(qn_str_get(&out), out.len) + 2, path);
    qn_str_addf(&out, "extern const qn_kernel_module qn_module_%s%s;\n", j->name, v->suffix);
    for (int i = 0; i < heads.n; i++)
        print_kernel_table(&out, &heads.list[i], j, v);
    QN_TRY(print_module_table(&out, &heads, j, v, qn_str_get(&device), qn_str_get(&ptx)));
    QN_TRY(write_file(path, &out, j->err));
out:
    qn_heads_free(&heads);
    qn_str_free(&named);
    qn_str_free(&host);
    qn_str_free(&device);
    qn_str_free(&ptx);
    qn_str_free(&out);
    return st;
}

static const char *host_type(const char *type, const variant *v)
{
    static const char *const names[][2] = {
        { "i8", "int8_t" },   { "u8", "uint8_t" },   { "i16", "int16_t" }, { "u16", "uint16_t" },
        { "i32", "int32_t" }, { "u32", "uint32_t" }, { "i64", "int64_t" }, { "u64", "uint64_t" },
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(type, names[i][0]))
            return names[i][1];
    }
    return type_shown(type, v);
}

static void print_launcher(qn_str *out, const qn_head *head, const variant *v)
{
    qn_str_addf(out,
                "extern const qn_kernel_info qn_kernel_%s%s;\n"
                "static inline qn_status stage_%s%s(qn_graph *qn_g, const char *qn_stage, "
                "qn_range qn_over",
                head->name, v->suffix, head->name, v->suffix);
    for (int i = 0; i < head->n_args; i++) {
        if (head->args[i].mode == QN_ARG_VAL)
            qn_str_addf(out, ", %s %s", host_type(head->args[i].type, v), head->args[i].name);
        else
            qn_str_addf(out, ", qn_buf *%s", head->args[i].name);
    }
    qn_str_add(out, ", qn_err *qn_e)\n{\n    const qn_arg qn_args[] = { ");
    for (int i = 0; i < head->n_args; i++) {
        const char *const name = head->args[i].name;

        if (head->args[i].mode == QN_ARG_VAL)
            qn_str_addf(out, "%sqn_arg_val(&%s, sizeof %s)", i ? ", " : "", name, name);
        else
            qn_str_addf(out, "%sqn_arg_buf(%s)", i ? ", " : "", name);
    }
    qn_str_addf(out,
                " };\n    return qn_graph_stage(qn_g, qn_stage, &qn_kernel_%s%s, qn_over, "
                "qn_args, qn_e);\n}\n\n",
                head->name, v->suffix);
}

static qn_status write_h(job *j, const variant *variants, int n_variants, const char *path)
{
    qn_status st = QN_OK;
    qn_str out = { 0 };

    qn_str_addf(&out,
                "/* Made by quern-embed from %s: launchers that check types. */\n"
                "#ifndef QN_GEN_%s_H\n#define QN_GEN_%s_H\n\n#include <quern/graph.h>\n",
                j->file, j->name, j->name);
    QN_TRY(rewrite_includes(j, qn_str_get(&j->text), 1, &out));
    qn_str_add(&out, "\n");
    for (int i = 0; i < n_variants; i++) {
        qn_str_addf(&out, "extern const qn_kernel_module qn_module_%s%s;\n\n", j->name,
                    variants[i].suffix);
        for (int k = 0; k < j->heads.n; k++)
            print_launcher(&out, &j->heads.list[k], &variants[i]);
    }
    qn_str_add(&out, "#endif\n");
    QN_TRY(write_file(path, &out, j->err));
out:
    qn_str_free(&out);
    return st;
}

static qn_status find_folder(job *j, const char *path, size_t len)
{
    char given[MAX_PATH] = ".", full[PATH_MAX];
    size_t from;

    if (len)
        snprintf(given, sizeof given, "%.*s", (int)len, path);
    if (!realpath(given, full) || strlen(full) + 2 > sizeof j->dir)
        return qn_fail(j->err, QN_ERR_IO, "%s: no such folder, or too long a name", given);
    sprintf(j->dir, "%s/", full);
    for (from = strlen(j->dir) - 1; from > 0; from--)
        if (!strncmp(j->dir + from, "/kernel/", 8))
            break;
    if (from >= 4 && !strncmp(j->dir + from - 4, "/lab", 4))
        from -= 4;
    j->src = from ? from + 1 : strlen(j->dir);
    return QN_OK;
}

static qn_status open_job(job *j, const char *path, qn_err *err)
{
    const char *const slash = strrchr(path, '/');
    const char *const file = slash ? slash + 1 : path;
    const char *const dot = strrchr(file, '.');
    qn_status st = QN_OK;

    memset(j, 0, sizeof *j);
    j->path = path;
    j->err = err;
    if (strlen(path) >= MAX_PATH || !dot)
        return qn_fail(err, QN_ERR_USAGE, "%s: not the name of a kernel file", path);
    QN_TRY(find_folder(j, path, (size_t)(file - path)));
    strcpy(j->file, file);
    memcpy(j->name, file, (size_t)(dot - file));
    QN_TRY(read_file(path, &j->text, err));
    QN_TRY(qn_heads_parse(path, qn_str_get(&j->text), &j->heads, err));
    if (j->heads.n == 0)
        st = qn_fail(err, QN_ERR_INPUT, "%s has no kernel", path);
out:
    return st;
}

static void close_job(job *j)
{
    qn_str_free(&j->text);
    qn_heads_free(&j->heads);
}

static qn_status make_kernel(const char *in, const char *out_c, const char *out_h, int has_ptx,
                             qn_err *err)
{
    static const char ending[] = ".gen.c";
    const size_t stem = strlen(out_c) - (sizeof ending - 1);
    qn_status st = QN_OK;
    char second[MAX_PATH];
    job j;

    QN_TRY(open_job(&j, in, err));
    j.has_ptx = has_ptx;
    if (!j.heads.has_precisions) {
        QN_TRY(write_c(&j, &single, out_c));
        QN_TRY(write_h(&j, &single, 1, out_h));
    } else {
        if (strlen(out_c) < sizeof ending || strcmp(out_c + stem, ending) != 0 ||
            strlen(out_c) + 8 > sizeof second)
            QN_FAIL(err, QN_ERR_USAGE, "%s does not end in %s", out_c, ending);
        snprintf(second, sizeof second, "%.*s_f64%s", (int)stem, out_c, ending);
        QN_TRY(write_c(&j, &precisions[0], out_c));
        QN_TRY(write_c(&j, &precisions[1], second));
        QN_TRY(write_h(&j, precisions, 2, out_h));
    }
out:
    close_job(&j);
    return st;
}

/* The embedded text, before the names of kernels get the suffix of a precision. */
static qn_status print_text(const char *in, qn_err *err)
{
    qn_str text = { 0 };
    qn_status st = QN_OK;
    job j;

    QN_TRY(open_job(&j, in, err));
    QN_TRY(inline_headers(&j, j.file, qn_str_get(&j.text), 0, &text));
    fputs(qn_str_get(&text), stdout);
out:
    close_job(&j);
    qn_str_free(&text);
    return st;
}

/* The table of all modules. */

/* Kernel names are looked up across files, so no two files may share one. */
static qn_status check_unique(const job *j, qn_str *names)
{
    for (int i = 0; i < j->heads.n; i++) {
        char line[QN_MAX_NAME + 2];

        snprintf(line, sizeof line, "\n%s\n", j->heads.list[i].name);
        if (strstr(qn_str_get(names), line))
            return qn_fail(j->err, QN_ERR_INPUT, "%s:%d: another file has a kernel %s too", j->path,
                           j->heads.list[i].line, j->heads.list[i].name);
        qn_str_add(names, line);
    }
    return QN_OK;
}

static qn_status list_module(const char *path, qn_str *names, qn_str *externs, qn_str *list,
                             qn_err *err)
{
    qn_status st = QN_OK;
    job j;

    QN_TRY(open_job(&j, path, err));
    QN_TRY(check_unique(&j, names));
    for (int i = 0; i < (j.heads.has_precisions ? 2 : 1); i++) {
        const variant *v = j.heads.has_precisions ? &precisions[i] : &single;

        qn_str_addf(externs, "extern const qn_kernel_module qn_module_%s%s;\n", j.name, v->suffix);
        qn_str_addf(list, "    &qn_module_%s%s,\n", j.name, v->suffix);
    }
out:
    close_job(&j);
    return st;
}

static qn_status make_table(const char *out_c, const char *dialect_path, char **files, int n,
                            qn_err *err)
{
    qn_status st = QN_OK;
    qn_str dialect = { 0 };
    qn_str names = { 0 };
    qn_str externs = { 0 };
    qn_str list = { 0 };
    qn_str out = { 0 };

    QN_TRY(read_file(dialect_path, &dialect, err));
    for (int i = 0; i < n; i++)
        QN_TRY(list_module(files[i], &names, &externs, &list, err));
    qn_str_addf(&out,
                "/* Made by quern-embed: the prelude as text, and every kernel file. */\n"
                "#include \"kernel/expand.h\"\n\n#include <string.h>\n\n%s\n"
                "const qn_kernel_module *const qn_builtin_modules[] = {\n%s    NULL,\n};\n\n"
                "const char qn_dialect_text[] =",
                qn_str_get(&externs), qn_str_get(&list));
    print_literal(&out, qn_str_get(&dialect));
    qn_str_add(&out, ";\n\nconst qn_kernel_info *qn_kernel_builtin(const char *name)\n{\n"
                     "    for (const qn_kernel_module *const *m = qn_builtin_modules; *m; m++) {\n"
                     "        for (int i = 0; i < (*m)->n_kernels; i++) {\n"
                     "            if (!strcmp((*m)->kernels[i]->name, name))\n"
                     "                return (*m)->kernels[i];\n        }\n    }\n"
                     "    return NULL;\n}\n");
    QN_TRY(write_file(out_c, &out, err));
out:
    qn_str_free(&dialect);
    qn_str_free(&names);
    qn_str_free(&externs);
    qn_str_free(&list);
    qn_str_free(&out);
    return st;
}

int main(int argc, char **argv)
{
    qn_err err = { QN_OK, "" };
    qn_status st;

    if (argc == 5 && !strcmp(argv[1], "kernel")) {
        st = make_kernel(argv[2], argv[3], argv[4], 1, &err);
    } else if (argc == 5 && !strcmp(argv[1], "kernel-without-ptx")) {
        st = make_kernel(argv[2], argv[3], argv[4], 0, &err);
    } else if (argc == 3 && !strcmp(argv[1], "text")) {
        st = print_text(argv[2], &err);
    } else if (argc >= 4 && !strcmp(argv[1], "table")) {
        st = make_table(argv[2], argv[3], argv + 4, argc - 4, &err);
    } else {
        fputs("usage: quern-embed kernel[-without-ptx] IN.c OUT.gen.c OUT.gen.h\n"
              "       quern-embed table OUT.c dialect.h FILES...\n"
              "       quern-embed text IN.c\n",
              stderr);
        return 2;
    }
    if (st != QN_OK)
        fprintf(stderr, "%s\n", err.text);
    return st != QN_OK;
}
