/* arc_hostile.h - programs that demand more than there is. */
#ifndef QN_TESTS_ARC_HOSTILE_H
#define QN_TESTS_ARC_HOSTILE_H

#include "arc_session_fixture.h"

typedef struct hostile {
    const char *id, *limit, *text;
} hostile;

/* n statements that pass a name to a function twice: x1 = f(I, I), x2 = f(x1, x1), ... */
static inline void add_doubling(qn_str *out, const char *name, const char *f, const char *from,
                                int n)
{
    qn_str_addf(out, "    %s1 = %s(%s, %s)\n", name, f, from, from);
    for (int i = 2; i <= n; i++)
        qn_str_addf(out, "    %s%d = %s(%s%d, %s%d)\n", name, i, f, name, i - 1, name, i - 1);
}

static const hostile hostile_programs[] = {
    { "growing_tuple", "RANGE", NULL },
    { "growing_grid", "RANGE", NULL },
    { "shared_output", "RESULT", NULL },
    { "range", "RANGE", "    x = interval(0, 2000000000, 1)\n    O = size(x)\n" },
    { "range_in_memory", "ARENA",
      "    x = interval(0, 16000000, 1)\n    y = interval(0, 16000000, 1)\n"
      "    p = pair(x, y)\n    O = size(p)\n" },
    { "big_canvas", "ARENA", "    x = canvas(0, (60000, 60000))\n    O = size(x)\n" },
    { "product", "RANGE",
      "    x = interval(0, 30000, 1)\n    y = product(x, x)\n    O = size(y)\n" },
    { "tower_of_powers", "STEPS",
      "    f = power(increment, 3000)\n    g = power(f, 3000)\n    h = power(g, 3000)\n"
      "    O = h(ONE)\n" },
    { "power", "STEPS", "    f = power(identity, 2147483647)\n    O = f(I)\n" },
    { "tower_of_numbers", "INT_OVERFLOW",
      "    f = fork(multiply, identity, identity)\n    g = power(f, 10)\n    O = g(TEN)\n" },
    { "deep_closure", "FRAMES",
      "    f = lbind(compose, identity)\n    g = power(f, 100000)\n    h = g(identity)\n"
      "    O = h(I)\n" },
    { "deep_nesting", "DEPTH",
      "    f = power(initset, 300)\n    a = f(ZERO)\n    b = f(ONE)\n    O = equality(a, b)\n" },
    { "deep_set", "DEPTH",
      "    f = power(initset, 300)\n    a = f(ZERO)\n    b = f(ONE)\n    c = f(TWO)\n"
      "    d = initset(a)\n    e = insert(b, d)\n    g = insert(c, e)\n    O = size(g)\n" },
    { "calls_in_calls", "STEPS",
      "    r = interval(0, 300, 1)\n    f = rbind(lbind(apply, increment), r)\n"
      "    a = lbind(apply, increment)\n    b = chain(size, a, rbind(repeat, 3000))\n"
      "    c = lbind(apply, b)\n    d = chain(size, c, rbind(repeat, 3000))\n"
      "    O = apply(d, r)\n" },
};
enum { N_HOSTILE = sizeof hostile_programs / sizeof *hostile_programs };

static inline qn_str hostile_text(const hostile *h)
{
    qn_str text = { 0 };

    qn_str_addf(&text, "def solve_%s(I):\n", h->id);
    if (h->text) {
        qn_str_add(&text, h->text);
    } else if (strcmp(h->id, "growing_grid") == 0) {
        add_doubling(&text, "x", "vconcat", "I", 40);
        qn_str_add(&text, "    O = size(x40)\n");
    } else if (strcmp(h->id, "growing_tuple") == 0) {
        qn_str_add(&text, "    t = astuple(I, ZERO)\n");
        add_doubling(&text, "x", "combine", "t", 40);
        qn_str_add(&text, "    O = size(x40)\n");
    } else {
        add_doubling(&text, "x", "astuple", "I", 60);
        qn_str_add(&text, "    O = identity(x60)\n");
    }
    qn_str_add(&text, "    return O\n");
    return text;
}

/* Each between two instances of a program that must not be affected. */
static inline void add_hostile(fixture *r)
{
    const int grid = fixture_made_grid(r, 3);
    const int good = fixture_program(r, "good",
                                     "def solve_good(I):\n    x = objects(I, T, F, T)\n"
                                     "    y = apply(toindices, x)\n    O = astuple(x, y)\n"
                                     "    return O\n");

    for (int i = 0; i < N_HOSTILE; i++) {
        qn_str text = hostile_text(&hostile_programs[i]);

        fixture_job(r, good, grid);
        fixture_job(r, fixture_program(r, hostile_programs[i].id, qn_str_get(&text)), grid);
        qn_str_free(&text);
    }
    fixture_job(r, good, grid);
}

static inline void assert_hostile(const fixture *r, const char *where)
{
    qn_str first = fixture_text(r, 0), wrong = { 0 };

    for (uint32_t k = 0; k < r->n; k++) {
        const hostile *h = &hostile_programs[k / 2];

        if (k % 2 == 0)
            assert_output(r, k, qn_str_get(&first));
        else if (strcmp(fixture_code_name(r, k), h->limit) != 0)
            qn_str_addf(&wrong, "%s ends with %s, not with %s; ", h->id, fixture_code_name(r, k),
                        h->limit);
    }
    if (wrong.len)
        fail_msg("%s: %s", where, qn_str_get(&wrong));
    qn_str_free(&first);
}

#endif
