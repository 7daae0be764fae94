/* test_les_config.c - options of `quern les`: defaults, files, flags, and errors. */
#include "test.h"

/* The command is not a library; its files are compiled into this test. */
#include "cli/args.c"
#include "cli/globals.c"
#include "cli/options.c"
#include "cli/help.c"

#include "domain/les/options/options.h"
#include "util/file.h"
#include "util/json.h"

/* In place of the function of main.c. */
qn_status qn_cli_input(const char *path, qn_err *err)
{
    char *text;
    size_t bytes;

    if (qn_file_read(path, &text, &bytes, err) != QN_OK)
        return QN_ERR_INPUT;
    free(text);
    return QN_OK;
}

static qn_option_store store;

static qn_les_options made(const char *file, const char *const *pairs)
{
    qn_les_options config;
    qn_err err = { .text = "" };

    if (qn_les_options_make(file, pairs, &store, &config, &err) != QN_OK)
        fail_msg("%s", err.text);
    return config;
}

#define PAIRS(...)  ((const char *const[]){ __VA_ARGS__, NULL })
#define CONFIG(...) made(NULL, PAIRS(__VA_ARGS__))

static void expect_refused(const char *file, const char *const *pairs, qn_status status,
                           const char *words)
{
    qn_les_options config;
    qn_err err = { .text = "" };

    assert_int_equal(qn_les_options_make(file, pairs, &store, &config, &err), status);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

#define REFUSED(words, ...) expect_refused(NULL, PAIRS(__VA_ARGS__), QN_ERR_USAGE, words)

/* A folder with one file. */

static const char *path; /* of a file in the folder */

static int choose_path(void **state)
{
    if (make_folder(state) != 0)
        return -1;
    path = in_folder("run.json");
    return 0;
}

static int forget_all(void **state)
{
    qn_option_store_free(&store);
    return remove_folder(state);
}

static const char *file_with(const char *text)
{
    qn_err err = { .text = "" };

    if (qn_file_write(path, text, strlen(text), &err) != QN_OK)
        fail_msg("%s", err.text);
    return path;
}

/* Defaults. */

static void profile_quern_is_the_default(void **state)
{
    const qn_les_options c = made(NULL, NULL);

    (void)state;
    assert_int_equal(c.profile, QN_LES_PROFILE_QUERN);
    assert_int_equal(c.N, 256);
    assert_int_equal(c.steps, 1000);
    assert_int_equal(c.stride, 50);
    assert_true(c.L == 2 * M_PI);
    assert_int_equal(c.form, QN_LES_FLUX);
    assert_int_equal(c.dealias, QN_LES_DEALIAS_TWO_THIRDS);
    assert_int_equal(c.dt_mode, QN_LES_DT_CFL);
    assert_int_equal(c.integrator, QN_LES_IFRK4);
    assert_int_equal(c.visc, QN_LES_VISC_IFAC);
    assert_true(c.cfl == 0.6 && isnan(c.dt));
    assert_true(c.nu0 == 1e-4 && c.Cs == 0.17 && c.tau == 0.35 && c.ridge == 1e-3);
    assert_int_equal(c.ic, QN_LES_IC_SPECTRAL);
    assert_true(c.ic_k0 == 4 && c.k_cut == 8 && c.k_mid == 12);
    assert_int_equal(c.smooth_k, 45);
    assert_int_equal(c.pairs, 64);
    assert_true(c.train_frac == 0.7);
    assert_int_equal(c.residual_seed, 12345);
    assert_int_equal(c.precision, QN_LES_F32);
    assert_int_equal(c.observer, QN_LES_OBSERVE_METRICS);
    assert_string_equal(c.out, "");
    assert_string_equal(c.backend, "auto");
}

static void profile_origin_has_its_own_defaults(void **state)
{
    const qn_les_options c = CONFIG("profile", "origin", "ic-file", "omega.npy");

    (void)state;
    assert_int_equal(c.N, 64);
    assert_int_equal(c.steps, 300);
    assert_int_equal(c.stride, 100);
    assert_int_equal(c.form, QN_LES_ADVECTIVE);
    assert_int_equal(c.dealias, QN_LES_DEALIAS_NONE);
    assert_int_equal(c.nu_update, QN_LES_NU_STEP);
    assert_int_equal(c.lap_dc, 1);
    assert_int_equal(c.dt_mode, QN_LES_DT_FIXED);
    assert_int_equal(c.integrator, QN_LES_HEUN);
    assert_int_equal(c.visc, QN_LES_VISC_EXPLICIT);
    assert_true(c.dt == 0.01 && c.train_frac == 1);
    assert_int_equal(c.ic, QN_LES_IC_FILE);
    assert_int_equal(c.codec, QN_LES_CODEC_ORIGIN);
    assert_int_equal(c.smooth, QN_LES_SMOOTH_PADDED);
    assert_int_equal(c.smooth_k, 11);
    assert_int_equal(c.standardize, 0);
    assert_int_equal(c.topk_mid, 128);
    assert_int_equal(c.precision, QN_LES_F64);
    assert_int_equal(c.observer, QN_LES_OBSERVE_SNAPSHOTS);
}

/* The enumerators of <quern/les.h> are in the order of les.def. */
static void choices_have_their_numbers(void **state)
{
    static const struct {
        const char *key, *last;
        int number;
    } choices[] = {
        { "profile", "origin", QN_LES_PROFILE_ORIGIN },
        { "dt_mode", "cfl", QN_LES_DT_CFL },
        { "integrator", "heun", QN_LES_HEUN },
        { "form", "advective", QN_LES_ADVECTIVE },
        { "dealias", "exp", QN_LES_DEALIAS_EXP },
        { "visc", "ifac", QN_LES_VISC_IFAC },
        { "nu_update", "step", QN_LES_NU_STEP },
        { "forcing", "ring", QN_LES_FORCING_RING },
        { "ic", "file", QN_LES_IC_FILE },
        { "ic_shape", "mcwilliams", QN_LES_SHAPE_MCWILLIAMS },
        { "ic_norm", "energy", QN_LES_NORM_ENERGY },
        { "codec", "origin", QN_LES_CODEC_ORIGIN },
        { "smooth", "box_padded", QN_LES_SMOOTH_PADDED },
        { "stabilize", "shrink", QN_LES_STABILIZE_SHRINK },
        { "rollout", "blocked", QN_LES_ROLLOUT_BLOCKED },
        { "what", "all", QN_LES_WHAT_ALL },
        { "precision", "f64", QN_LES_F64 },
        { "observer", "snapshots", QN_LES_OBSERVE_SNAPSHOTS },
        { "fft", "own", QN_LES_FFT_OWN },
        { "video", "mp4", QN_LES_VIDEO_MP4 },
        { "format", "both", QN_LES_FORMAT_BOTH },
    };
    int n_choices = 0;

    (void)state;
    for (const qn_option *option = qn_les_option_table()->rows; option->name; option++)
        n_choices +=
            option->flag && (option->kind == QN_OPTION_CHOICE || option->kind == QN_OPTION_PRESET);
    assert_int_equal(n_choices, sizeof choices / sizeof choices[0]);
    for (int i = 0; i < n_choices; i++) {
        const qn_option *option = qn_option_find(qn_les_option_table(), choices[i].key);
        const qn_les_options c =
            CONFIG("observer", "snapshots", choices[i].key, choices[i].last, "ic_file", "a.npy");
        const char *end = strrchr(option->value, '|');

        assert_string_equal(end + 1, choices[i].last);
        assert_int_equal(*(const int *)((const char *)&c + option->offset), choices[i].number);
    }
    /* One from the middle of each long list. */
    assert_int_equal(CONFIG("integrator", "etdrk4").integrator, QN_LES_ETDRK4);
    assert_int_equal(CONFIG("integrator", "ssprk3").integrator, QN_LES_SSPRK3);
    assert_int_equal(CONFIG("ic", "box").ic, QN_LES_IC_BOX);
    assert_int_equal(CONFIG("ic", "taylor_green").ic, QN_LES_IC_TAYLOR_GREEN);
    assert_int_equal(CONFIG("ic", "shear").ic, QN_LES_IC_SHEAR);
    assert_int_equal(CONFIG("dealias", "two_thirds").dealias, QN_LES_DEALIAS_TWO_THIRDS);
    assert_int_equal(CONFIG("video", "webm").video, QN_LES_VIDEO_WEBM);
}

/* Setting options. */

static void names_are_keys_or_flags(void **state)
{
    const qn_les_options c = CONFIG("k-cut", "5", "K_MID", "7.5", "cs", "0.2", "n", "128");

    (void)state;
    assert_true(c.k_cut == 5 && c.k_mid == 7.5 && c.Cs == 0.2);
    assert_int_equal(c.N, 128);
}

static void flags_beat_the_file_and_the_file_beats_the_profile(void **state)
{
    const char *file =
        file_with("{\"profile\": \"origin\", \"N\": 96, \"ic\": \"box\", "
                  "\"nu0\": 2e-4, \"L\": \"4*pi\", \"resume\": true, \"out\": \"o\"}");
    const qn_les_options c = made(file, PAIRS("nu0", "3e-4"));
    const qn_les_options q = made(file, PAIRS("profile", "quern"));

    (void)state;
    assert_int_equal(c.form, QN_LES_ADVECTIVE);
    assert_int_equal(c.N, 96);
    assert_true(c.nu0 == 3e-4 && c.L == 4 * M_PI);
    assert_int_equal(c.resume, 1);
    assert_int_equal(q.form, QN_LES_FLUX);
    assert_int_equal(q.N, 96);
    assert_true(q.nu0 == 2e-4);
}

static void step_or_file_implies_its_mode(void **state)
{
    (void)state;
    assert_int_equal(CONFIG("dt", "0.002").dt_mode, QN_LES_DT_FIXED);
    assert_true(CONFIG("dt", "0.002").dt == 0.002);
    assert_int_equal(CONFIG("ic-file", "a.npy").ic, QN_LES_IC_FILE);
    assert_int_equal(CONFIG("forcing-file", "a.npy").forcing, QN_LES_FORCING_STATIC);
    assert_true(CONFIG("ic-shape", "mcwilliams").ic_k0 == 6);
    REFUSED("dt: 0.002 has no meaning with dt_mode cfl", "dt", "0.002", "dt-mode", "cfl");
    REFUSED("dt: 0.002 is not the step of dt_mode auto, 0.005", "dt", "0.002", "dt-mode", "auto");
    REFUSED("ic_file: a.npy is given, but ic is not file", "ic", "box", "ic-file", "a.npy");
    REFUSED("ic: file needs ic_file", "profile", "origin");
    REFUSED("forcing: static needs forcing_file", "forcing", "static");
    REFUSED("resume: checkpoints need out, a folder", "resume", "1");
}

static void seeds_have_63_bits(void **state)
{
    (void)state;
    assert_true(CONFIG("residual-seed", "9223372036854775807").residual_seed == INT64_MAX);
    REFUSED("--seed: '9223372036854775808' is not a whole number", "seed", "9223372036854775808");
    REFUSED("--seed: '-1' is not", "seed", "-1");
    REFUSED("beyond the largest seed", "seed", "9223372036854775807", "ensemble", "2");
}

static void what_is_wrong_is_named_with_its_limit(void **state)
{
    char text[QN_OPTION_TEXT_BYTES + 1];

    (void)state;
    REFUSED("--n: 8 is below the least value, 16", "n", "8");
    REFUSED("--n: 32768 is above the largest value, 16384", "n", "32768");
    REFUSED("N: 65 is odd", "n", "65");
    REFUSED("--n: '6x4' is not a whole number", "n", "6x4");
    REFUSED("--tau: 1.5 is above the largest value, 1", "tau", "1.5");
    REFUSED("--tau: 'nan' is not a number", "tau", "nan");
    REFUSED("--nu0: '-nan*pi' is not a number", "nu0", "-nan*pi");
    REFUSED("--nu0: '1e999' is not a number", "nu0", "1e999");
    REFUSED("--l: '2*' is not a number", "l", "2*");
    REFUSED("--l: '' is not a number", "l", "");
    REFUSED("--form: 'fluks' is not one of flux, advective", "form", "fluks");
    REFUSED("--k-kut is unknown; did you mean --k-cut?", "k-kut", "3");
    REFUSED("k_mid: 7 is below k_cut, 8", "k-mid", "7");
    REFUSED("k_cut: 8 is not below N/2, 8", "n", "16");
    REFUSED("visc: ifac needs the integrator ifrk4", "visc", "ifac", "integrator", "rk4");
    REFUSED("visc: explicit needs the integrator rk4", "visc", "explicit");
    REFUSED("cfl: 1.5 is above 1.35, the limit of ifrk4", "cfl", "1.5");
    REFUSED("cfl: 0.4 is above 0.318, the limit of heun", "cfl", "0.4", "integrator", "heun",
            "dealias", "none");
    REFUSED("forcing_k: 20 and half of forcing_width is above 21", "n", "64", "forcing", "ring",
            "forcing-k", "20", "forcing-width", "3");
    REFUSED("ic_width: 10 is not an odd number", "ic", "box", "ic-width", "10");
    REFUSED("smooth_k: 12 is not an odd number", "smooth-k", "12");
    REFUSED("forcing_k: 22 is above 21, the largest", "n", "64", "forcing", "kolmogorov",
            "forcing-k", "22");
    memset(text, 'x', sizeof text);
    text[QN_OPTION_TEXT_BYTES] = 0;
    REFUSED("--out: 4096 bytes exceed the limit of 4095", "out", text);
    assert_int_equal(CONFIG("n", "16", "what", "sim").N, 16);
}

static void mistakes_in_a_file_name_it(void **state)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        { "{\"k_kut\": 3}", "run.json: k_kut is unknown; did you mean k_cut?" },
        { "{\"N\": 15}", "run.json: N: 15 is below the least value, 16" },
        { "{\"N\": [64]}", "run.json: N: the value is neither a number nor a text" },
        { "{\"N\": 64.5}", "run.json: N: '64.5' is not a whole number" },
        { "{\"profile\": \"quem\"}", "run.json: profile: 'quem' is not one of quern, origin" },
        { "{\"forcing\": null}", "forcing: the value is neither" },
        { "{\"N\": 64, \"N\": 32}", "run.json:1: " },
        { "[1]", "run.json:1: the root is not an object" },
        { "{", "run.json:1: " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect_refused(file_with(wrong[i].text), NULL, QN_ERR_INPUT, wrong[i].words);
    expect_refused("/nowhere/run.json", NULL, QN_ERR_IO, "/nowhere/run.json");
}

/* Writing. */

static void expect_equal(const qn_les_options *a, const qn_les_options *b)
{
    json_t *first = qn_les_options_json(a), *second = qn_les_options_json(b);

    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
}

static void expect_same_again(const qn_les_options *config)
{
    json_t *root = qn_les_options_json(config);
    qn_err err = { .text = "" };

    assert_non_null(root);
    if (qn_json_write(path, root, &err) != QN_OK)
        fail_msg("%s", err.text);
    json_decref(root);

    const qn_les_options again = made(path, NULL);
    expect_equal(&again, config);
}

static void effective_configuration_makes_itself_again(void **state)
{
    const qn_les_options all[] = {
        made(NULL, NULL),
        CONFIG("profile", "origin", "ic-file", "a.npy"),
        CONFIG("n", "768", "dt-mode", "cfl", "dt-max", "0.02", "ic", "box", "seed", "77", "l", "3",
               "allow-unstable", "1", "out", "a \"b\"/\xc3\xa4", "video", "webm"),
        CONFIG("dt", "0.00123456789", "forcing", "kolmogorov", "ic-shape", "mcwilliams"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        expect_same_again(&all[i]);
}

static void every_option_is_written_under_its_key(void **state)
{
    const qn_les_options c = CONFIG("dt", "0.01"); /* which is absent when it follows the flow */
    json_t *root = qn_les_options_json(&c);

    (void)state;
    for (const qn_option *option = qn_les_option_table()->rows; option->name; option++)
        if (option->flag && option->kind != QN_OPTION_TEXT && option->kind != QN_OPTION_FILE)
            if (!json_object_get(root, option->name))
                fail_msg("%s", option->name);
    assert_string_equal(json_string_value(json_object_get(root, "L")), "2*pi");
    assert_string_equal(json_string_value(json_object_get(root, "form")), "flux");
    assert_int_equal(json_integer_value(json_object_get(root, "N")), 256);
    json_decref(root);
}

/* The command line. */

static qn_status nothing(qn_ctx *ctx, const qn_args *args, qn_err *err)
{
    (void)ctx;
    (void)args;
    (void)err;
    return QN_OK;
}

static const qn_opt flow_options[] = { QN_CLI_OPTION_CONFIG,
#define OPTION QN_CLI_OPTION
#define MEMBER QN_CLI_NO_OPTION
#include <quern/options/les.def>
                                       { .name = "out", .kind = QN_OPT_TEXT },
                                       { 0 } };

static const qn_command les = {
    .name = "les", .summary = "flow", .options = flow_options, .run = nothing
};
static const qn_command *const commands[] = { &les, NULL };

static qn_status parsed(int argc, const char *const *argv, qn_les_options *config, qn_err *err)
{
    qn_args args;
    qn_status st = qn_args_parse(commands, argc, (char **)argv, &args, err);

    if (st == QN_OK)
        st = qn_cli_options(&args, qn_les_option_table(), config, &store, err);
    if (st == QN_OK)
        st = qn_les_options_settle(config, err);
    qn_args_free(&args);
    return st;
}

static void command_line_makes_a_configuration(void **state)
{
    const char *const argv[] = { "quern",     "les",
                                 "--n",       "512",
                                 "--dt-mode", "cfl",
                                 "--nu0",     "1e-4",
                                 "--k-cut=6", "--seed",
                                 "9",         "--l",
                                 "2*pi",      "--allow-unstable",
                                 "--backend", "sim",
                                 "--config",  file_with("{\"k_mid\": 10, \"N\": 32}") };
    qn_les_options c;
    qn_err err = { .text = "" };

    (void)state;
    if (parsed((int)(sizeof argv / sizeof argv[0]), argv, &c, &err) != QN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(c.N, 512);
    assert_int_equal(c.dt_mode, QN_LES_DT_CFL);
    assert_true(c.k_cut == 6 && c.k_mid == 10);
    assert_int_equal(c.seed, 9);
    assert_int_equal(c.allow_unstable, 1);
    assert_string_equal(c.backend, "sim");
}

static void command_line_without_options_is_the_default(void **state)
{
    const char *const argv[] = { "quern", "les" };
    const qn_les_options want = made(NULL, NULL);
    qn_les_options c;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(parsed(2, argv, &c, &err), QN_OK);
    expect_equal(&c, &want);
}

static void misspelt_flag_gets_a_suggestion(void **state)
{
    const char *const argv[] = { "quern", "les", "--majiters", "3" };
    qn_les_options c;
    qn_err err = { .text = "" };

    (void)state;
    assert_int_equal(parsed(4, argv, &c, &err), QN_ERR_USAGE);
    assert_non_null(strstr(err.text, "did you mean --maj-iters?"));
}

static void every_option_is_a_flag_with_help(void **state)
{
    (void)state;
    for (const qn_option *option = qn_les_option_table()->rows; option->name; option++) {
        const qn_args args = { .command = &les };

        assert_true(option->help[0] != 0);
        if (!option->flag) /* for calls only */
            continue;
        assert_false(qn_given(&args, option->flag)); /* stops the program when there is none */
        assert_ptr_equal(qn_option_find(qn_les_option_table(), option->flag), option);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile_quern_is_the_default),
        cmocka_unit_test(profile_origin_has_its_own_defaults),
        cmocka_unit_test(choices_have_their_numbers),
        cmocka_unit_test(names_are_keys_or_flags),
        cmocka_unit_test(flags_beat_the_file_and_the_file_beats_the_profile),
        cmocka_unit_test(step_or_file_implies_its_mode),
        cmocka_unit_test(seeds_have_63_bits),
        cmocka_unit_test(what_is_wrong_is_named_with_its_limit),
        cmocka_unit_test(mistakes_in_a_file_name_it),
        cmocka_unit_test(effective_configuration_makes_itself_again),
        cmocka_unit_test(every_option_is_written_under_its_key),
        cmocka_unit_test(command_line_makes_a_configuration),
        cmocka_unit_test(command_line_without_options_is_the_default),
        cmocka_unit_test(misspelt_flag_gets_a_suggestion),
        cmocka_unit_test(every_option_is_a_flag_with_help),
    };
    return cmocka_run_group_tests(tests, choose_path, forget_all);
}
