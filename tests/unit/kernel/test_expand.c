/* test_expand.c - heads of kernel text: finding, refusing, printing. */
/* test: no-tsan */
#include "test.h"

#include "kernel/expand.h"

static char *read_source(const char *name)
{
    const char *const root = getenv("QUERN_SOURCE_DIR");
    char path[4096];
    char *text = calloc(1, 1 << 16);
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static const char *const sources[] = { "tests/data/dialect/group.c", "tests/data/dialect/team.c",
                                       "tests/data/dialect/words.c" };

static qn_heads parse(const char *text)
{
    qn_heads heads = { .n = 0 };
    qn_err err = { QN_OK, "" };

    if (qn_heads_parse("k.c", text, &heads, &err) != QN_OK)
        fail_msg("%s", err.text);
    return heads;
}

static char *expand(const char *text, qn_expand_for target)
{
    qn_heads heads = parse(text);
    qn_str out = { 0 };

    assert_int_equal(qn_expand(&heads, text, target, &out, NULL), QN_OK);
    qn_heads_free(&heads);
    return out.data;
}

/* Finding. */

static void heads_are_found_with_form_arguments_and_line(void **state)
{
    char *text = read_source(sources[0]);
    qn_heads heads = parse(text);
    const qn_head *blur = &heads.list[2];

    (void)state;
    assert_int_equal(heads.n, 6);
    assert_string_equal(heads.list[0].name, "saxpy");
    assert_int_equal(heads.list[0].form, QN_FORM_MAP);
    assert_int_equal(heads.list[0].line, 5);
    assert_int_equal(heads.list[0].unroll, 1);
    assert_int_equal(heads.list[1].unroll, 4);
    assert_int_equal(heads.list[3].form, QN_FORM_GROUP);
    assert_int_equal(heads.has_team, 0);

    assert_string_equal(blur->name, "blur");
    assert_int_equal(blur->line, 26);
    assert_int_equal(blur->n_args, 3);
    assert_string_equal(blur->args[0].type, "blur_par");
    assert_int_equal(blur->args[0].mode, QN_ARG_VAL);
    assert_int_equal(blur->args[0].size, 0);
    assert_string_equal(blur->args[1].name, "g");
    assert_int_equal(blur->args[1].mode, QN_ARG_IN);
    assert_int_equal(blur->args[1].size, 4);
    assert_int_equal(blur->args[2].mode, QN_ARG_OUT);
    assert_memory_equal(text + blur->begin, "MAP(blur,", 9);
    assert_int_equal(text[blur->end - 1], ')');
    assert_int_equal(text[blur->brace], '{');
    qn_heads_free(&heads);
    free(text);
}

static void text_that_only_looks_like_a_head_is_left_alone(void **state)
{
    static const char text[] = "/* \nMAP(a, IN(float, x)) {\n*/\n"
                               "// see \\\nMAP(b, IN(float, x)) {\n"
                               "#define TWICE(x) \\\nMAP(c, IN(float, x)) {\n"
                               "CONST_TABLE(i8, s, 4) = { '\"', '\\'', '{', '}' };\n"
                               "FN i32 f(i32 x)\n{\n    return x; MAP(d, x) {}\n}\n"
                               "MAPPED(IN);\n"
                               "MAP(real_one, IN(float, x))\n{\n}\n"
                               "  MAP(e, IN(float, x)) {}\n";
    qn_heads heads = parse(text);

    (void)state;
    assert_int_equal(heads.n, 1);
    assert_string_equal(heads.list[0].name, "real_one");
    assert_int_equal(heads.list[0].line, 14);
    qn_heads_free(&heads);
}

static void a_body_that_names_gi_may_be_folded(void **state)
{
    qn_heads heads = parse("MAP(a, OUT(i32, x))\n{\n    x[GI] = gx;\n}\n"
                           "MAP(b, OUT(i32, x))\n{\n    x[gx] = 1; /* GI */\n}\n"
                           "MAP(c, OUT(i32, x)) { x[gx] = GIANT; }\n");

    (void)state;
    assert_int_equal(heads.list[0].folds, 1);
    assert_int_equal(heads.list[1].folds, 0);
    assert_int_equal(heads.list[2].folds, 0);
    qn_heads_free(&heads);
}

/* Checks that the first kernel of `text` certainly touches the arguments `points` at every
 * point. */
static void touches(const char *text, uint32_t points)
{
    qn_heads heads = parse(text);

    if (heads.list[0].points != points)
        fail_msg("%s: %#x, not %#x", text, heads.list[0].points, points);
    qn_heads_free(&heads);
}

static void what_every_point_touches_is_known_where_it_is_certain(void **state)
{
    (void)state;
    touches("MAP(a, VAL(i32, k), IN(i32, x), OUT(i32, y))\n{ y[gx] = x[gx] + k; }\n", 6);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ y[ gx ] = x[gx + 1]; }\n", 2);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ y[GI] = x[GI]; }\n", 3);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ y[GI] = x[gx]; }\n", 2);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ y[gy] = x[gx] + 2; }\n", 1);
    /* Some points may not. */
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ if (gx < 3) y[gx] = x[gx]; }\n", 0);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ y[gx] = gx < 3 ? x[gx] : 0; }\n", 2);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ y[gx] = gx < 3 && x[gx]; }\n", 2);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ y[gy] = sizeof(x[gx]); }\n", 0);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ i32 k = gx ? x[gx] : 1; y[gx] = k; }\n", 2);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{ for (; 0;) y[gx] = 1; x[gx]; }\n", 0);
    touches("#define WHEN if (gx < 3)\n"
            "MAP(a, IN(i32, x), OUT(i32, y))\n{ y[gx] = 1; WHEN y[gx] = x[gx]; }\n",
            2);
    touches("MAP(a, IN(i32, x), OUT(i32, y))\n{\n#if 0\n y[gx] = x[gx];\n#endif\n}\n", 0);
    touches("MAP(a, VAL(pair, p), OUT(i32, x))\n{ x[gy] = p.x[gx]; }\n", 0);
    touches("GROUP(a, IN(i32, gy_), OUT(i32, y))\n{ y[gx] = 1; }\n", 0);
}

static void lanes_come_from_defines_then_text_then_the_form(void **state)
{
    qn_heads bare = parse("GROUP(a, OUT(i32, x))\n{\n}\n");
    qn_heads team = parse("TEAM(a, OUT(i32, x))\n{\n}\n");
    qn_heads own = parse("#ifndef LANES\n# define LANES 64 /* few */\n#endif\n"
                         "GROUP(a, OUT(i32, x))\n{\n}\n");

    (void)state;
    assert_int_equal(qn_heads_lanes(&bare, NULL), 256);
    assert_int_equal(qn_heads_lanes(&own, NULL), 64);
    assert_int_equal(qn_heads_lanes(&team, NULL), 32);
    assert_int_equal(qn_heads_lanes(&team, "LANES=8"), 8);
    assert_int_equal(qn_heads_lanes(&own, "FAST=1 LANES=32"), 32);
    qn_heads_free(&bare);
    qn_heads_free(&team);
    qn_heads_free(&own);
}

static void basic_types_have_sizes_and_real_follows_its_define(void **state)
{
    (void)state;
    assert_int_equal(qn_type_size("u8", NULL), 1);
    assert_int_equal(qn_type_size("i16", NULL), 2);
    assert_int_equal(qn_type_size("float", NULL), 4);
    assert_int_equal(qn_type_size("i64", NULL), 8);
    assert_int_equal(qn_type_size("real", NULL), 4);
    assert_int_equal(qn_type_size("real", "A REAL=double"), 8);
    assert_int_equal(qn_type_size("blur_par", NULL), 0);
}

/* Refusing. */

static const struct {
    const char *text, *message;
} refused[] = {
    { "MAP(a, REF(float, x))\n{\n}\n",
      "k.c:1: kernel a: unknown mode 'REF'; there are VAL, IN, OUT and INOUT" },
    { "\n\nMAP(a,\n    IN(float, x),\n    IM(float, y))\n{\n}\n",
      "k.c:5: kernel a: unknown mode 'IM'" },
    { "MAP(a, IN(float, x))\n\n;", "k.c:3: kernel a has no body: ';' where '{' should be" },
    { "MAP(a, IN(float, x))", "k.c:1: kernel a has no body: end of text where '{' should be" },
    { "MAP(a, IN(float, x)) {}\nMAP(b, IN(float, x)) {}\nGROUP(a, IN(float, x)) {}\n",
      "k.c:3: kernel a is already defined in line 1" },
    { "MAP(a, IN(float, x), OUT(float, x)) {}", "k.c:1: kernel a has two arguments named 'x'" },
    { "MAP(a) {}", "k.c:1: kernel a has no arguments" },
    { "MAP(a, ) {}", "k.c:1: kernel a: unknown mode ')'" },
    { "MAP(, IN(float, x)) {}", "k.c:1: ',' where the name of a kernel should be" },
    { "MAP(3d, IN(float, x)) {}", "k.c:1: '3d' where the name of a kernel should be" },
    { "MAP(a, IN(float, kernel)) {}",
      "k.c:1: 'kernel' is a reserved name, not one for an argument" },
    { "MAP(a, IN(float, gx)) {}", "k.c:1: 'gx' is a reserved name, not one for an argument" },
    { "MAP(a, IN(float, qn_x)) {}", "k.c:1: 'qn_x' is a reserved name" },
    { "MAP(_a, IN(float, x)) {}", "k.c:1: '_a' is a reserved name, not one for a kernel" },
    { "MAP(class, IN(float, x)) {}", "k.c:1: 'class' is a reserved name, not one for a kernel" },
    { "MAP(a, IN(float *, x)) {}",
      "k.c:1: kernel a: the type of an argument is one name, '*' follows 'float'" },
    { "MAP(a, VAL(int, x)) {}", "k.c:1: kernel a: 'int' is not a type of the dialect; write i32" },
    { "MAP(a, IN(const float, x)) {}", "k.c:1: kernel a: 'const' is not a type of the dialect" },
    { "MAP(a, IN(7, x)) {}", "k.c:1: kernel a: '7' where a type should be" },
    { "MAP(a, IN(float)) {}", "k.c:1: kernel a: the type of an argument is one name" },
    { "MAP(a, IN(float, x, y)) {}",
      "k.c:1: ',' where ')' should be, after the name of an argument" },
    { "MAP(a, IN[float, x]) {}", "k.c:1: '[' where '(' should be, after the mode of an argument" },
    { "MAP(a, IN(float, x); {}", "k.c:1: kernel a: ';' where ',' or ')' should be" },
    { "MAP a;", "k.c:1: 'a' where '(' should be, after the form of a kernel" },
    { "MAP(a, UNROLL(3), IN(float, x)) {}", "k.c:1: kernel a: UNROLL takes 1, 2, 4 or 8, not '3'" },
    { "MAP(a, UNROLL(16), IN(float, x)) {}",
      "k.c:1: kernel a: UNROLL takes 1, 2, 4 or 8, not '16'" },
    { "MAP(a, UNROLL(n), IN(float, x)) {}", "k.c:1: kernel a: UNROLL takes 1, 2, 4 or 8, not 'n'" },
    { "MAP(a, IN(float, x), UNROLL(2)) {}",
      "k.c:1: kernel a: unknown mode 'UNROLL'; there are VAL, IN, OUT and INOUT (UNROLL stands" },
    { "GROUP(a, UNROLL(2), IN(float, x)) {}", "k.c:1: kernel a: UNROLL is for MAP, not GROUP" },
    { "MAP3(a, IN(float, x)) {}", "k.c:1: unknown form 'MAP3'; there are MAP, GROUP and TEAM" },
    { "\nKERNEL(a, VAL(i32, n),\n  IN(float, x))\n{\n}\n", "k.c:2: unknown form 'KERNEL'" },
    { "GROUP(a, IN(float, x)) {}\nMAP(m, IN(float, x)) {}\nTEAM(b, IN(float, x)) {}\n",
      "k.c:3: kernel b is a TEAM and kernel a (line 1) a GROUP; a file holds GROUP or TEAM "
      "kernels, "
      "not both" },
    { "MAP(a, IN(float, x))\n{\n    if (x) {\n}\nMAP(b, IN(float, x))\n{\n}\n",
      "k.c:5: the body of kernel a (line 1) is not closed before 'MAP'" },
    { "MAP(a, IN(float, x))\n{\n /* }", "k.c:3: the body of kernel a (line 1) is not closed before "
                                        "end of text" },
    { "FN i32 f(void)\n{\n\nMAP(b, IN(float, x))\n{\n}\n",
      "k.c:4: 'MAP' inside braces: a '}' is missing above" },
    { "MAP(a, IN(float, x)\n#if 1\n, IN(float, y)\n#endif\n) {}\n",
      "k.c:2: kernel a: '#if 1' where" },
    { "#define LANES 48\nGROUP(a, IN(float, x)) {}\n",
      "k.c:1: LANES must be a power of two from 1 to 1024" },
    { "#define LANES many\nGROUP(a, IN(float, x)) {}\n", "k.c:1: LANES must be a power of two" },
    { "#define LANES 16\nTEAM(a, IN(float, x)) {}\n",
      "k.c: LANES of TEAM kernels is chosen per device, not by the text" },
    { "MAP(a234567890123456789012345678901234567890123456789012345678901234, IN(float, x)) {}",
      "k.c:1: name of a kernel has 64 characters, the limit is 59" },
};

static void every_wrong_head_is_refused_with_its_line_and_cause(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        qn_heads heads = { .n = 77 };
        qn_err err = { QN_OK, "" };

        assert_int_equal(qn_heads_parse("k.c", refused[i].text, &heads, &err), QN_ERR_COMPILE);
        if (strncmp(err.text, refused[i].message, strlen(refused[i].message)) != 0)
            fail_msg("text %zu: \"%s\" instead of \"%s\"", i, err.text, refused[i].message);
        assert_int_equal(heads.n, 77);
    }
}

/* A head of `n` arguments a0, a1, ... */
static char *head_of(int n)
{
    qn_str text = { 0 };

    qn_str_add(&text, "MAP(many");
    for (int i = 0; i < n; i++)
        qn_str_addf(&text, ", VAL(i32, a%d)", i);
    qn_str_add(&text, ")\n{\n}\n");
    return text.data;
}

static void more_arguments_than_the_limit_are_refused(void **state)
{
    char *most = head_of(QN_MAX_ARGS);
    char *more = head_of(QN_MAX_ARGS + 1);
    qn_heads heads = parse(most);
    qn_err err;

    (void)state;
    assert_int_equal(heads.list[0].n_args, QN_MAX_ARGS);
    qn_heads_free(&heads);
    assert_int_equal(qn_heads_parse("k.c", more, &heads, &err), QN_ERR_COMPILE);
    assert_string_equal(err.text, "k.c:1: kernel many has more than 24 arguments");
    free(most);
    free(more);
}

/* Printing. */

/* Returns the next line of *text without its newline, or NULL; advances *text. */
static const char *take_line(const char **text, size_t *len)
{
    const char *const line = *text;

    if (!*line)
        return NULL;
    *len = strcspn(line, "\n");
    *text = line + *len + (line[*len] == '\n');
    return line;
}

static int same_line(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && !memcmp(a, b, a_len);
}

/* Lines that may change: heads up to the brace, and lines that the expander consumes. */
static int may_change(const qn_heads *heads, size_t begin, size_t end)
{
    for (int i = 0; i < heads->n; i++) {
        if (begin <= heads->list[i].brace && end >= heads->list[i].begin)
            return 1;
    }
    for (int i = 0; i < heads->n_cuts; i++) {
        if (begin <= heads->cuts[i].end && end >= heads->cuts[i].begin)
            return 1;
    }
    return 0;
}

static void check_lines(const char *text, qn_expand_for target)
{
    char *printed = expand(text, target);
    qn_heads heads = parse(text);
    const char *from = text;
    const char *to = printed;
    const char *a, *b;
    size_t a_len, b_len;
    int line = 1;

    for (; (a = take_line(&from, &a_len)); line++) {
        b = take_line(&to, &b_len);
        assert_non_null(b);
        if (!may_change(&heads, (size_t)(a - text), (size_t)(a - text) + a_len) &&
            !same_line(a, a_len, b, b_len))
            fail_msg("line %d became \"%.*s\"", line, (int)b_len, b);
    }
    assert_int_equal(*to, '\0');
    qn_heads_free(&heads);
    free(printed);
}

static void every_other_line_keeps_its_text_and_number(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char *text = read_source(sources[i]);

        check_lines(text, QN_EXPAND_C);
        check_lines(text, QN_EXPAND_OPENCL);
        check_lines(text, QN_EXPAND_CUDA);
        free(text);
    }
}

static void opencl_buffers_come_with_a_byte_offset(void **state)
{
    char *map = expand("MAP(a, VAL(i32, n), IN(float, x)) { }", QN_EXPAND_OPENCL);
    char *group = expand("GROUP(a, OUT(i8, y)) { }", QN_EXPAND_OPENCL);
    char *cuda = expand("GROUP(a, OUT(i8, y)) { }", QN_EXPAND_CUDA);

    (void)state;
    assert_non_null(strstr(map, "qnk_a(QN_SPAN, const i32 n, GLOBAL const float *RESTRICT qn_p_x, "
                                "const i64 qn_o_x)"));
    assert_non_null(strstr(map, "qnk_a_item(gx, gy, gz, n, QN_AT(const float, x))"));
    assert_string_equal(group,
                        "QN_KERNEL_GROUP qnk_a(QN_SPAN, GLOBAL i8 *RESTRICT qn_p_y, const i64 "
                        "qn_o_y){ GLOBAL i8 *RESTRICT y = QN_AT(i8, y); }");
    assert_string_equal(cuda, "QN_KERNEL_GROUP qnk_a(QN_SPAN, GLOBAL i8 *RESTRICT y){ }");
    free(map);
    free(group);
    free(cuda);
}

static void a_unit_has_defines_prelude_and_line_marks_in_order(void **state)
{
    static const char text[] = "#define LANES 64\n#include \"dialect.h\"\nGROUP(a, OUT(i8, y)) { }";
    qn_str plain = { 0 };
    qn_str other = { 0 };

    (void)state;
    assert_int_equal(qn_expand_unit_with("PRELUDE", "k.c", text, "FAST REAL=double", QN_EXPAND_CUDA,
                                         &plain, NULL),
                     QN_OK);
    assert_string_equal(qn_str_get(&plain),
                        "#define LANES 64\n#define FAST 1\n#define REAL double\n"
                        "#line 1 \"dialect.h\"\nPRELUDE\n#line 1 \"k.c\"\n"
                        "\n\nQN_KERNEL_GROUP qnk_a(QN_SPAN, GLOBAL i8 *RESTRICT y){ }");
    assert_int_equal(qn_expand_unit_with("", "a\"b\n.c", "TEAM(a, OUT(i8, y)) {}", "LANES=8",
                                         QN_EXPAND_OPENCL, &other, NULL),
                     QN_OK);
    assert_memory_equal(qn_str_get(&other),
                        "#define QN_TEAM 1\n#define LANES 8\n#line 1 \"dialect.h\"\n\n"
                        "#line 1 \"a_b_.c\"\n",
                        70);
    qn_str_free(&plain);
    qn_str_free(&other);
}

static void bad_defines_are_refused(void **state)
{
    qn_str out = { 0 };
    qn_err err = { QN_OK, "" };

    (void)state;
    assert_int_equal(
        qn_expand_unit_with("", "k.c", "MAP(a, OUT(i8, y)) {}", "N=3 4=N", QN_EXPAND_C, &out, &err),
        QN_ERR_USAGE);
    assert_string_equal(err.text, "k.c: define '4=N' does not begin with a name");
    assert_int_equal(qn_expand_unit_with("", "k.c", "GROUP(a, OUT(i8, y)) {}", "LANES=48",
                                         QN_EXPAND_C, &out, &err),
                     QN_ERR_USAGE);
    assert_string_equal(err.text, "k.c: LANES=48 is not a power of two from 1 to 1024");
    qn_str_free(&out);
}

static void a_file_in_two_precisions_gets_suffixed_kernels(void **state)
{
    char *text = read_source(sources[2]);
    qn_heads heads = parse(text);
    qn_str wide = { 0 };
    qn_heads again;

    (void)state;
    assert_int_equal(heads.has_precisions, 1);
    assert_int_equal(qn_heads_suffix(&heads, text, "_f64", &wide, NULL), QN_OK);
    again = parse(qn_str_get(&wide));
    assert_int_equal(again.has_precisions, 0);
    assert_int_equal(again.n, heads.n);
    for (int i = 0; i < heads.n; i++) {
        char name[QN_MAX_NAME + 8];

        snprintf(name, sizeof name, "%s_f64", heads.list[i].name);
        assert_string_equal(again.list[i].name, name);
        assert_int_equal(again.list[i].line, heads.list[i].line);
    }
    qn_heads_free(&again);
    qn_heads_free(&heads);
    qn_str_free(&wide);
    free(text);
}

/* built-in tables. */

static void built_in_kernels_are_found_by_name(void **state)
{
    const qn_kernel_info *saxpy = qn_kernel_builtin("saxpy");

    (void)state;
    assert_non_null(saxpy);
    assert_int_equal(saxpy->form, QN_FORM_MAP);
    assert_int_equal(saxpy->n_args, 3);
    assert_string_equal(saxpy->args[0].name, "a");
    assert_int_equal(saxpy->args[0].mode, QN_ARG_VAL);
    assert_int_equal(saxpy->args[2].size, 4);
    assert_int_equal(saxpy->args[2].mode, QN_ARG_INOUT);
    assert_string_equal(saxpy->module->name, "vector");
    assert_ptr_equal(qn_kernels_find(saxpy->module, "saxpy"), saxpy);
    assert_null(qn_kernel_builtin("no_such_kernel"));
}

static void the_prelude_is_embedded_as_it_stands(void **state)
{
    char *text = read_source("src/kernel/dialect.h");

    (void)state;
    assert_string_equal(qn_dialect_text, text);
    free(text);
}

/* Robustness. */

static uint32_t roll(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* A few cuts, duplications and changed characters, mostly of those that matter to a scanner. */
static void mutate(char *text, size_t cap, uint32_t *seed)
{
    static const char marks[] = "(){},\"'\\/*#\n MAPGI_0";
    const int n = 1 + (int)(roll(seed) % 6);

    for (int i = 0; i < n; i++) {
        const size_t len = strlen(text);
        const size_t at = roll(seed) % (len + 1);
        const size_t span = roll(seed) % 40;

        if (at >= len)
            continue;
        switch (roll(seed) % 4) {
        case 0:
            memmove(text + at, text + at + (span < len - at ? span : len - at),
                    len - at - (span < len - at ? span : len - at) + 1);
            break;
        case 1:
            if (len + span < cap)
                memmove(text + at + span, text + at, len - at + 1);
            break;
        case 2:
            text[at] = (char)(1 + roll(seed) % 255);
            break;
        default:
            text[at] = marks[roll(seed) % (sizeof marks - 1)];
        }
    }
}

static void damaged_text_is_parsed_or_refused_but_never_harms(void **state)
{
    enum { CAP = 1 << 15, ROUNDS = 1500 };
    uint32_t seed = 2463534242u;
    int n_parsed = 0;
    int n_refused = 0;
    char *text = malloc(CAP);

    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char *source = read_source(sources[i]);

        for (int round = 0; round < ROUNDS; round++) {
            qn_heads heads = { .n = 0 };
            qn_err err;
            qn_str out = { 0 };
            char *exact;

            strcpy(text, source);
            mutate(text, CAP, &seed);
            exact = strdup(text); /* of exact size, so that reading past the end is noticed */
            if (qn_heads_parse("k.c", exact, &heads, &err) == QN_OK) {
                assert_int_equal(qn_expand(&heads, exact, round % 3, &out, &err), QN_OK);
                n_parsed++;
            } else {
                assert_int_equal(err.status, QN_ERR_COMPILE);
                n_refused++;
            }
            qn_heads_free(&heads);
            qn_str_free(&out);
            free(exact);
        }
        free(source);
    }
    free(text);
    assert_true(n_parsed > 100 && n_refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_found_with_form_arguments_and_line),
        cmocka_unit_test(text_that_only_looks_like_a_head_is_left_alone),
        cmocka_unit_test(a_body_that_names_gi_may_be_folded),
        cmocka_unit_test(what_every_point_touches_is_known_where_it_is_certain),
        cmocka_unit_test(lanes_come_from_defines_then_text_then_the_form),
        cmocka_unit_test(basic_types_have_sizes_and_real_follows_its_define),
        cmocka_unit_test(every_wrong_head_is_refused_with_its_line_and_cause),
        cmocka_unit_test(more_arguments_than_the_limit_are_refused),
        cmocka_unit_test(every_other_line_keeps_its_text_and_number),
        cmocka_unit_test(opencl_buffers_come_with_a_byte_offset),
        cmocka_unit_test(a_unit_has_defines_prelude_and_line_marks_in_order),
        cmocka_unit_test(bad_defines_are_refused),
        cmocka_unit_test(a_file_in_two_precisions_gets_suffixed_kernels),
        cmocka_unit_test(built_in_kernels_are_found_by_name),
        cmocka_unit_test(the_prelude_is_embedded_as_it_stands),
        cmocka_unit_test(damaged_text_is_parsed_or_refused_but_never_harms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
