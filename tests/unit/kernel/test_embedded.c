/* test_embedded.c - texts compressed by the build: each unpacks to what the expander reads. */
/* test: no-tsan */
#include "test.h"

#include "engine/engine.h"
#include "hal/module_text.h"
#include "kernel/expand.h"

static void every_text_has_the_kernels_of_its_module(void **state)
{
    (void)state;
    for (const qn_kernel_module *const *m = qn_builtin_modules; *m; m++) {
        qn_heads heads = { .n = 0 };
        char *text = NULL;
        qn_err err;

        assert_null((*m)->text);
        if (qn_module_text(*m, &text, &err) != QN_OK ||
            qn_heads_parse((*m)->name, text, &heads, &err) != QN_OK)
            fail_msg("%s", err.text);
        assert_int_equal(heads.n, (*m)->n_kernels);
        for (int k = 0; k < heads.n; k++)
            assert_string_equal(heads.list[k].name, (*m)->kernels[k]->name);
        qn_heads_free(&heads);
        free(text);
    }
}

static void ptx_has_an_entry_for_every_kernel(void **state)
{
    int n = 0;

    (void)state;
    for (const qn_kernel_module *const *m = qn_builtin_modules; *m; m++) {
        char *ptx = NULL, entry[160];
        size_t bytes;
        qn_err err;

        if (!(*m)->ptx.data)
            continue;
        n++;
        if (qn_module_ptx(*m, &ptx, &bytes, &err) != QN_OK)
            fail_msg("%s", err.text);
        assert_int_equal(bytes, strlen(ptx));
        for (int k = 0; k < (*m)->n_kernels; k++) {
            snprintf(entry, sizeof entry, ".entry qnk_%s(", (*m)->kernels[k]->name);
            if (!strstr(ptx, entry))
                fail_msg("module %s: no %s in its PTX", (*m)->name, entry);
        }
        free(ptx);
    }
    if (!n)
        skip(); /* built without PTX */
}

static void a_text_of_run_time_is_copied(void **state)
{
    const qn_kernel_module module = { .name = "m", .text = "MAP(a, OUT(float, x)) { }" };
    char *text = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(qn_module_text(&module, &text, &err), QN_OK);
    assert_string_equal(text, module.text);
    assert_ptr_not_equal(text, module.text);
    free(text);
}

static void a_damaged_text_names_its_module(void **state)
{
    const qn_kernel_module module = { .name = "m",
                                      .packed = { (const unsigned char *)"not zlib", 8 } };
    char *text = NULL;
    qn_err err;

    (void)state;
    assert_int_equal(qn_module_text(&module, &text, &err), QN_ERR_INPUT);
    assert_non_null(strstr(err.text, "m: bad or cut"));
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_has_the_kernels_of_its_module),
        cmocka_unit_test(ptx_has_an_entry_for_every_kernel),
        cmocka_unit_test(a_text_of_run_time_is_copied),
        cmocka_unit_test(a_damaged_text_names_its_module),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
