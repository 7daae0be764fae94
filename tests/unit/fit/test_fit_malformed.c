/* test_fit_malformed.c - broken programs are reported at the right line and never crash.
 *
 * A deterministic mutator breaks valid programs on one known line; others are written by hand.
 * Several thousand more are broken at random positions, for the sanitizers.
 */
#include "test.h"

#include <ctype.h>

#include "domain/fit/text/text.h"
#include "util/hash.h"

static const char SPRINGS[] =
    "fit 1;\n"
    "mesh M = icosphere(1, 1.0);\n"
    "param x[M.verts] : vec3 = M.pos;\n"
    "data rest[M.edges] = 0.95 * length(M.pos[self.a] - M.pos[self.b]);\n"
    "residual spring over e in M.edges { yield length(x[e.a] - x[e.b]) - rest[e]; }\n"
    "residual anchor over v in M.verts weight 0.01 { yield x[v] - M.pos[v]; }\n"
    "solve lm { max_iterations = 50; }\n"
    "write x to \"out.obj\";\n";

static const char SKETCH[] =
    "fit 1;\n"
    "table P(x0, y0, pin) = { 0 0 1; 3.8 0.3 0; 4.2 2.1 0; -0.2 1.9 0 };\n"
    "set horiz(a -> P, b -> P) = { (0,1), (2,3) };\n"
    "set perp(a -> P, b -> P, c -> P, d -> P) = { (0,1,1,2), (0,1,3,0) };\n"
    "set len(a -> P, b -> P, d) = { (0,1,4.0), (1,2,2.0) };\n"
    "param p[P] : vec2 = [x0, y0] fixed where pin == 1;\n"
    "residual h over l in horiz { yield p[l.b].y - p[l.a].y; }\n"
    "residual q over l in perp  { yield dot(normalize(p[l.b]-p[l.a]), normalize(p[l.d]-p[l.c])); "
    "}\n"
    "residual d over l in len   { yield length(p[l.b]-p[l.a]) - l.d; }\n"
    "solve lm { }\n";

static const char FUNCTIONS[] =
    "fit 1;\n"
    "const k = 3 + 2^2 % 5;\n"
    "fun f(a, b) = a > b ? a - b : b;\n"
    "fun g(a) { let t = f(a, k); return t * t; }\n"
    "param b : real[3] = [1, 2, 3] lower -1 upper 10;\n"
    "param c = 2;\n"
    "residual r weight k loss huber(2 * 1.5) { let u = g(b[0]); yield u - b[1], c * b[2]; }\n"
    "residual s { yield sum(t in [b[0], b[1], c]: t^2) - max(t in b: t); }\n"
    "energy e { yield exp(-c) + (c > 1 && !(b[0] < 0) || c == 3); }\n"
    "eliminate c;\n"
    "solve lbfgs { history = 10; max_seconds = k; }\n";

static const char *const SOUND[] = { SPRINGS, SKETCH, FUNCTIONS };
enum { N_SOUND = 3 };

/* Loading. */

/* Returns 0 if accepted, otherwise the line of the first fault. */
static int line_of_fault(const char *text, size_t bytes, char *said, size_t size)
{
    const qn_fit_text_options options = { 0 };
    qn_fit_text *out = NULL;
    qn_str faults = { 0 };
    qn_err err = { .text = "" };
    int line = -1;

    said[0] = 0;
    if (qn_fit_text_load("t", text, bytes, &options, &out, &faults, &err) == QN_OK) {
        qn_fit_text_free(out);
        line = 0;
    } else {
        snprintf(said, size, "%s %s", err.text, qn_str_get(&faults));
        sscanf(err.text, "t:%d:", &line);
    }
    qn_str_free(&faults);
    return line;
}

static void assert_line(const char *text, size_t bytes, int line)
{
    char said[2048];
    const int got = line_of_fault(text, bytes, said, sizeof said);

    if (got != line)
        fail_msg("fault on line %d, said %d: %s\n%.*s", line, got, said, (int)bytes, text);
}

static void sound_programs_are_accepted(void **state)
{
    char said[2048];

    (void)state;
    for (int k = 0; k < N_SOUND; k++)
        if (line_of_fault(SOUND[k], strlen(SOUND[k]), said, sizeof said) != 0)
            fail_msg("%s", said);
}

/* The mutator. */

typedef struct {
    char text[4096];
    size_t n;
    int line; /* the broken line */
} broken;

static size_t line_begin(const char *text, int line)
{
    const char *at = text;

    while (--line > 0)
        at = strchr(at, '\n') + 1;
    return (size_t)(at - text);
}

static void replace(broken *b, size_t at, size_t n, const char *with, size_t bytes)
{
    memmove(b->text + at + bytes, b->text + at + n, b->n - at - n);
    memcpy(b->text + at, with, bytes);
    b->n = b->n - n + bytes;
}

/* The position of choice `pick` within line `line`, outside strings and not inside a number, a name
 * or an operator of two characters. */
static size_t gap(const char *text, int line, uint64_t pick)
{
    const size_t from = line_begin(text, line), to = from + strcspn(text + from, "\n");
    size_t places[512];
    int n = 0, is_string = 0;

    for (size_t k = from; k < to; k++) {
        is_string ^= text[k] == '"';
        if (!is_string && text[k] == ' ')
            places[n++] = k;
    }
    return n ? places[pick % (uint64_t)n] : from;
}

enum { STRANGE, NO_END, CUT, MISSPELT, EXTRA_BRACKET, BAD_BYTE, HUGE_NUMBER, N_KINDS };

/* Breaks one line in one way; returns 0 if this way does not break it. */
static int mutate(const char *sound, int line, int kind, uint64_t pick, broken *b)
{
    const size_t from = line_begin(sound, line), n = strcspn(sound + from, "\n");
    size_t at = gap(sound, line, pick);

    b->n = strlen(sound);
    b->line = line;
    memcpy(b->text, sound, b->n + 1);
    switch (kind) {
    case STRANGE:
        replace(b, at, 0, " @ ", 3);
        return 1;
    case BAD_BYTE:
        replace(b, at, 0, pick & 1 ? "\xff" : "\0", 1);
        return 1;
    case HUGE_NUMBER:
        replace(b, at, 1, " 1e999 ", 7);
        return 1;
    case EXTRA_BRACKET:
        replace(b, at, 0, pick & 1 ? " ) " : " ] ", 3);
        return 1;
    case NO_END:
        if (sound[from + n - 1] != ';')
            return 0;
        replace(b, from + n - 1, 1, "", 0);
        return 1;
    case CUT:
        /* A line cut after a word of the language may be continued by the next. */
        at = from + n / 2 + pick % (n / 2 > 2 ? n / 2 - 1 : 1);
        if (n < 4 || sound[at] == '\n')
            return 0;
        replace(b, at, from + n - at, " ?", 2);
        return 1;
    default:
        for (at = from + n; at > from && sound[at - 1] != '('; at--)
            ;
        if (at == from || !isalpha((unsigned char)sound[at]) || !strchr("red", sound[from]))
            return 0;
        replace(b, at, 0, "zzq", 3);
        return 1;
    }
}

static void a_line_that_was_broken_is_the_one_named(void **state)
{
    int n_broken = 0;
    broken b;

    (void)state;
    for (int k = 0; k < N_SOUND; k++) {
        int n_lines = 0;

        for (const char *at = SOUND[k]; (at = strchr(at, '\n')); at++)
            n_lines++;
        for (int line = 1; line <= n_lines; line++)
            for (int kind = 0; kind < N_KINDS; kind++)
                for (uint64_t round = 0; round < 2; round++) {
                    const uint64_t pick =
                        qn_random_u64(17, round * 100 + (uint64_t)(kind + 7 * line));

                    if (!mutate(SOUND[k], line, kind, pick, &b))
                        continue;
                    assert_line(b.text, b.n, b.line);
                    n_broken++;
                }
    }
    assert_true(n_broken >= 200);
}

/* By hand. */

static const struct {
    int line;
    const char *text;
} BY_HAND[] = {
    { 1, "" },
    { 1, "mesh M = icosphere(1,1);" },
    { 1, "fit 2;" },
    { 1, "fit one;" },
    { 1, "fit 1" },
    { 2, "fit 1;\n" },
    { 2, "fit 1;\nbogus;" },
    { 2, "fit 1;\nparam = 3;" },
    { 2, "fit 1;\nparam sum = 3;" },
    { 2, "fit 1;\nparam length = 3;" },
    { 3, "fit 1;\nparam a = 3;\nparam a = 4;" },
    { 2, "fit 1;\nparam a : vec5 = 3;" },
    { 2, "fit 1;\nparam a : real[0] = 3;" },
    { 2, "fit 1;\nparam a : real[65] = 3;" },
    { 2, "fit 1;\nparam a : vec2 = [1, 2, 3];" },
    { 2, "fit 1;\nparam a = 1/0;" },
    { 2, "fit 1;\nparam a = 1 lower 2 upper 1;" },
    { 3, "fit 1;\nparam a = 1;\nparam b = a;" },
    { 2, "fit 1;\nconst c = log(0);" },
    { 2, "fit 1;\nconst c = [1, 2] + 3;" },
    { 2, "fit 1;\nconst c = [1, 2] * [3, 4];" },
    { 2, "fit 1;\nconst c = 1 / [3, 4];" },
    { 2, "fit 1;\nconst c = [1, 2].z;" },
    { 2, "fit 1;\nconst c = [1, 2][2];" },
    { 2, "fit 1;\nconst c = [1, 2][0.5];" },
    { 2, "fit 1;\nconst c = 1 < 2 < 3;" },
    { 2, "fit 1;\nconst c = sin(1, 2);" },
    { 2, "fit 1;\nconst c = sin();" },
    { 2, "fit 1;\nconst c = cross([1,2,3], [1,2]);" },
    { 2, "fit 1;\nconst c = 0x10;" },
    { 2, "fit 1;\nconst c = \"text\";" },
    { 2, "fit 1;\nconst c = \"text;" },
    { 2, "fit 1;\nconst c = f(1);\nfun f(a) = a;" },
    { 3, "fit 1;\nfun f(a) = a;\nconst c = f(1, 2);" },
    { 3, "fit 1;\nfun f(a) = a;\nconst c = f;" },
    { 2, "fit 1;\nfun f(a) = f(a);\nconst c = f(1);" },
    { 2, "fit 1;\nmesh M = icosfere(1);" },
    { 2, "fit 1;\nmesh M = icosphere(-1);" },
    { 2, "fit 1;\nmesh M = icosphere(1.5);" },
    { 2, "fit 1;\nmesh M = icosphere(99);" },
    { 2, "fit 1;\nmesh M = icosphere(1, 0);" },
    { 2, "fit 1;\nmesh M = obj(\"missing.obj\");" },
    { 2, "fit 1;\nmesh M = obj(3);" },
    { 2, "fit 1;\nmesh M = nist(\"a.dat\");" },
    { 2, "fit 1;\ntable T(a, b) = { 1 2; 3 };" },
    { 3, "fit 1;\ntable T(a, b) = { 1 2;\n 3 };" },
    { 2, "fit 1;\ntable T(a, a) = { 1 2 };" },
    { 2, "fit 1;\nset S(a -> T) = { (0) };" },
    { 3, "fit 1;\ntable T(a) = { 1; 2 };\nset S(a -> T) = { (2) };" },
    { 3, "fit 1;\ntable T(a) = { 1; 2 };\nset S(a -> T) = { (0.5) };" },
    { 3, "fit 1;\ntable T(a) = { 1; 2 };\nset S(a -> T) = { (0, 1) };" },
    { 3, "fit 1;\nparam a = 1;\nresidual r over i in T { yield a; }" },
    { 3, "fit 1;\ntable T(a) = { 1 };\nresidual r over i in T { yield i; }" },
    { 3, "fit 1;\ntable T(a) = { 1 };\nresidual r over i in T { yield i.b; }" },
    { 3, "fit 1;\ntable T(a) = { 1 };\nresidual r over i in T { yield a; }" },
    { 3, "fit 1;\nparam a = 1;\nresidual r where a > 0 { yield a; }" },
    { 3, "fit 1;\nparam a = 1;\nresidual r weight -1 { yield a; }" },
    { 3, "fit 1;\nparam a = 1;\nresidual r weight a { yield a; }" },
    { 3, "fit 1;\nparam a = 1;\nresidual r loss huber(0) { yield a; }" },
    { 3, "fit 1;\nparam a = 1;\nenergy r loss huber(1) { yield a; }" },
    { 3, "fit 1;\nparam a = 1;\nresidual r { let b = a; }" },
    { 5, "fit 1;\nparam a = 1;\nresidual r {\n  let b = a;\n  yield c;\n}" },
    { 3, "fit 1;\nparam a = 1;\nresidual r { yield a }" },
    { 3, "fit 1;\nparam a = 1;\nresidual r { yield a ? 1; }" },
    { 3, "fit 1;\nparam a = 1;\nresidual r { yield sum(t in a.x: t); }" },
    { 3, "fit 1;\nparam a = 1;\nresidual r { yield a[0][a]; }" },
    { 3, "fit 1;\nparam a = 1;\nsolve newton { }" },
    { 3, "fit 1;\nparam a = 1;\nsolve lm { max_iterations = 1; max_iterations = 2; }" },
    { 3, "fit 1;\nparam a = 1;\nwrite b to \"x\";" },
    { 3, "fit 1;\nparam a = 1;\nwrite a to \"x.obj\";" },
    { 3, "fit 1;\nparam a = 1;\nwrite a to \"/tmp/x\";" },
    { 2, "fit 1;\neliminate a;" },
};

static void programs_by_hand_have_their_line(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof BY_HAND / sizeof *BY_HAND; k++)
        assert_line(BY_HAND[k].text, strlen(BY_HAND[k].text), BY_HAND[k].line);
}

/* Random damage. */

static void random_damage_ends_in_a_fault_or_a_program(void **state)
{
    static const char ALPHABET[] = "(){}[],;:.=+-*/%^?<>!&|#\" \n0129.e_axMPself->fit yield in sum";
    char text[4096], said[2048];

    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        size_t n = strlen(SOUND[seed % N_SOUND]);

        memcpy(text, SOUND[seed % N_SOUND], n);
        for (uint64_t k = 0; k < 1 + seed % 5; k++) {
            const uint64_t r = qn_random_u64(seed, k);
            const size_t at = 7 + (size_t)(r >> 8) % (n - 7);

            if (r & 1)
                text[at] = ALPHABET[(r >> 40) % (sizeof ALPHABET - 1)];
            else
                memmove(text + at, text + at + 1, --n - at);
        }
        (void)line_of_fault(text, n, said, sizeof said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_programs_are_accepted),
        cmocka_unit_test(a_line_that_was_broken_is_the_one_named),
        cmocka_unit_test(programs_by_hand_have_their_line),
        cmocka_unit_test(random_damage_ends_in_a_fault_or_a_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
