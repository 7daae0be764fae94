/* test_cuda_pack.c - packs of compiled kernels: found by all that their compiler got, and by
 * nothing else. The mock driver loads them; NVRTC makes them. */
/* test: cuda-mock, cost 4 */
#include "engine_counters.h"

#include "engine/device/pack.h"
#include "hal/cuda/cuda_api.h"
#include "mock/mock_cuda.h"
#include "util/file.h"
#include "util/temp_dir.h"

static const char text[] = "MAP(triple, IN(float, x), OUT(float, y))\n"
                           "{\n"
                           "    y[gx] = FACTOR * x[gx];\n"
                           "}\n";
static const char changed[] = "MAP(triple, IN(float, x), OUT(float, y))\n"
                              "{\n"
                              "    y[gx] = FACTOR * x[gx] + 1.0f;\n"
                              "}\n";

static qn_temp_dir root;
static char path[1100];

static int setup(void **state)
{
    const char *reason;
    qn_err err;

    (void)state;
    mock_cuda_reset();
    mock_cuda_set_devices(1);
    if (qn_temp_dir_make(&root, &err) != QN_OK)
        return -1;
    snprintf(path, sizeof path, "%s/quern.qnp", root.path);
    setenv("QUERN_KERNELS", path, 1);
    setenv("QUERN_CACHE", "0", 1);
    unsetenv("QUERN_DUMP");
    return qn_nvrtc_load(&reason) ? 0 : (print_message("no NVRTC: %s\n", reason), 0);
}

static int teardown(void **state)
{
    (void)state;
    qn_temp_dir_remove(&root);
    return 0;
}

static void need_nvrtc(void)
{
    const char *reason;

    if (!qn_nvrtc_load(&reason))
        skip();
}

static qn_kernel_module *module_of(const char *what, const char *defines)
{
    qn_kernel_module *plain, *module;

    must(qn_kernels_new("made", what, &plain, &failure));
    must(qn_kernels_with(plain, defines, &module, &failure));
    qn_kernels_free(plain);
    return module;
}

/* A pack of the text with FACTOR=3. */
static qn_pack_made make_pack(int arch)
{
    qn_kernel_module *const module = module_of(text, "FACTOR=3");
    const qn_kernel_module *const only[] = { module, NULL };
    qn_pack_made made;

    must(qn_pack_make(only, &arch, 1, 1, path, &made, &failure));
    assert_int_equal(made.n_entries, 1);
    qn_kernels_free(module);
    return made;
}

typedef struct counts {
    double packed, compiled, bad;
} counts;

/* What making the module ready took. */
static counts load(const char *what, const char *defines)
{
    qn_kernel_module *const module = module_of(what, defines);
    qn_ctx *ctx = open_with(QN_OPTIONS(.backend = "cuda"));
    const qn_metrics *m = qn_ctx_metrics(ctx);
    double us;
    counts c;

    must(qn_compile_time(ctx, qn_device_find(ctx, "cuda:0"), module, &us, &failure));
    c = (counts){ qn_metric_value(m, "kernel_pack_hits", NULL),
                  qn_metric_value(m, "kernel_compiles", NULL),
                  qn_metric_value(m, "kernel_cache_bad", NULL) };
    qn_ctx_close(ctx);
    qn_kernels_free(module);
    return c;
}

static void expect(counts c, int packed, int bad)
{
    assert_true(c.packed == packed);
    assert_true(c.compiled == !packed);
    assert_true(c.bad == bad);
}

static void a_pack_serves_the_text_that_it_was_made_of_and_no_other(void **state)
{
    (void)state;
    need_nvrtc();
    make_pack(90);
    expect(load(text, "FACTOR=3"), 1, 0);
    expect(load(changed, "FACTOR=3"), 0, 0);
    expect(load(text, "FACTOR=4"), 0, 0);
    expect(load(text, "FACTOR=3 CONTRACT=1"), 0, 0); /* another option of the compiler */
    setenv("QUERN_DUMP", root.path, 1);              /* and another */
    expect(load(text, "FACTOR=3"), 0, 0);
    unsetenv("QUERN_DUMP");
    setenv("QUERN_KERNELS", "0", 1);
    expect(load(text, "FACTOR=3"), 0, 0);
}

static void a_pack_for_another_gpu_is_not_used(void **state)
{
    (void)state;
    need_nvrtc();
    make_pack(80); /* the mock's is 9.0 */
    expect(load(text, "FACTOR=3"), 0, 0);
}

static void what_a_pack_has_is_not_compiled_again(void **state)
{
    (void)state;
    need_nvrtc();
    assert_int_equal(make_pack(90).n_compiled, 1);
    assert_int_equal(make_pack(90).n_compiled, 0);
    expect(load(text, "FACTOR=3"), 1, 0);
    assert_int_equal(make_pack(80).n_compiled, 1);
}

/* Changes one byte of the file. */
static void change(size_t at)
{
    char *data;
    size_t bytes;

    must(qn_file_read(path, &data, &bytes, &failure));
    data[at < bytes ? at : bytes - 1] ^= 1;
    must(qn_file_write(path, data, bytes, &failure));
    free(data);
}

static void damaged_data_are_compiled_instead(void **state)
{
    (void)state;
    need_nvrtc();
    make_pack(90);
    change((size_t)-1);
    expect(load(text, "FACTOR=3"), 0, 1);
}

/* The sum of an entry covers its key: data of one text under the key of another are damaged. */
static void data_under_another_key_are_refused(void **state)
{
    unsigned char key[QN_SHA256_BYTES];
    qn_kernel_module *module;
    qn_blob blob = { 0 };
    qn_pack *pack;
    char *data;
    size_t bytes;

    (void)state;
    need_nvrtc();
    make_pack(90);
    module = module_of(changed, "FACTOR=3");
    qn_pack_key(&qn_backend_cuda, 90, module, module->defines, key);
    must(qn_file_read(path, &data, &bytes, &failure));
    memcpy(data + QN_PACK_HEADER, key, sizeof key);
    qn_sha256_of(data + QN_PACK_HEADER, QN_PACK_ROW, (unsigned char *)data + 16);
    must(qn_file_write(path, data, bytes, &failure));
    assert_non_null(pack = qn_pack_open_at(path));
    assert_int_equal(qn_pack_get(pack, key, &blob), QN_PACK_BAD);
    assert_null(blob.data);
    qn_pack_close(pack);
    free(data);
    qn_kernels_free(module);
}

static void a_damaged_index_is_said_and_the_text_serves(void **state)
{
    char said[500];
    counts c = { 0 };

    (void)state;
    need_nvrtc();
    make_pack(90);
    change(QN_PACK_HEADER + 3);
    CAPTURE_STDERR(said, sizeof said, c = load(text, "FACTOR=3"));
    assert_non_null(strstr(said, "quern.qnp is no pack of compiled kernels of this version"));
    expect(c, 0, 0);
    setenv("QUERN_KERNELS", "/nowhere", 1);
    CAPTURE_STDERR(said, sizeof said, c = load(text, "FACTOR=3"));
    assert_non_null(strstr(said, "QUERN_KERNELS: cannot read /nowhere"));
    expect(c, 0, 0);
}

/* A driver that is older than the compiler refuses the binary. */
static void what_the_driver_refuses_is_compiled(void **state)
{
    (void)state;
    need_nvrtc();
    make_pack(90);
    mock_cuda_fail("cuModuleLoadDataEx", 1, CUDA_ERROR_INVALID_PTX);
    expect(load(text, "FACTOR=3"), 0, 1);
}

static void an_architecture_that_the_compiler_does_not_know_is_refused(void **state)
{
    const qn_kernel_module *const only[] = { qn_kernel_builtin("saxpy")->module, NULL };
    const int arch = 12;
    qn_pack_made made;
    qn_err err;

    (void)state;
    need_nvrtc();
    assert_int_equal(qn_pack_make(only, &arch, 1, 1, path, &made, &err), QN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "does not know sm_12"));
    assert_null(qn_pack_open_at(path));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_pack_serves_the_text_that_it_was_made_of_and_no_other),
        TEST(a_pack_for_another_gpu_is_not_used),
        TEST(what_a_pack_has_is_not_compiled_again),
        TEST(damaged_data_are_compiled_instead),
        TEST(data_under_another_key_are_refused),
        TEST(a_damaged_index_is_said_and_the_text_serves),
        TEST(what_the_driver_refuses_is_compiled),
        TEST(an_architecture_that_the_compiler_does_not_know_is_refused),
    };

    setenv("QUERN_CUDA_LIB", "libcuda_mock.so", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
