/* cmd_compare.c - `quern compare`: compares scans, or the results of two runs value by value.
 */
#include "cli/cli.h"

#include "domain/report/agree.h"
#include "lab/scan/report.h"
#include "util/file.h"

static const qn_opt options[] = {
    { 'o', NULL, QN_OPT_TEXT, .value = "PREFIX", .fallback = "out/compare",
      .help = "write PREFIX.md and PREFIX.html; for folders PREFIX.json" },
    { 0, "within", QN_OPT_REAL, .value = "X", .fallback = "0",
      .help = "folders: largest difference allowed" },
    { 0, "relative", QN_OPT_FLAG, .help = "folders: divide differences by the values of B" },
    { 0, "named", QN_OPT_TEXT, .value = "TEXT", .help = "folders: name of B in `quern report`" },
    { 0 },
};

static const char *const examples[] = {
    "quern scan --backends cpu,cpu1 --sizes 1000,10000 --samples 5 -o a",
    "quern scan --backends cpu,cpu1 --sizes 1000,20000 --samples 5 -o b",
    "quern compare a.csv b.csv -o ab", NULL
};

static qn_status compare_scans(const qn_args *args, qn_err *err)
{
    qn_status st = QN_OK;
    qn_compare compare = { 0 };

    for (int i = 0; i < args->n_words; i++)
        QN_TRY(qn_cli_input(args->words[i], err));
    QN_TRY(qn_compare_read(args->words, (size_t)args->n_words, &compare, err));
    QN_TRY(qn_compare_save(&compare, qn_text(args, "o"), err));
    QN_TRY(qn_compare_print(&compare, stdout, err));
out:
    qn_compare_free(&compare);
    return st;
}

static qn_status write_agreement(const qn_args *args, const qn_agree_options *o,
                                 const qn_agreement *found, qn_err *err)
{
    qn_str line = { 0 }, path = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_cli_line(args, &line, err));
    qn_str_addf(&path, "%s.json", qn_text(args, "o"));
    if (line.failed || path.failed)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for names of files");
    QN_TRY(qn_make_parent(path.data, err));
    QN_TRY(qn_agree_write(path.data, args->words[0], args->words[1], line.data, o, found, err));
out:
    qn_str_free(&line);
    qn_str_free(&path);
    return st;
}

static qn_status compare_folders(const qn_args *args, qn_err *err)
{
    const qn_agree_options o = { .within = qn_real(args, "within"),
                                 .is_relative = qn_flag(args, "relative"),
                                 .named = qn_text(args, "named") };
    qn_agreement found;
    qn_status st = QN_OK;

    if (args->n_words != 2)
        return qn_fail(err, QN_ERR_USAGE, "%d folders; give two", args->n_words);
    QN_TRY(qn_agree_folders(args->words[0], args->words[1], &o, &found, err));
    QN_TRY(write_agreement(args, &o, &found, err));
    printf("%.0f values in %zu file%s: %.0f equal", found.n_values, found.n_files,
           found.n_files == 1 ? "" : "s", found.n_equal);
    if (found.at[0])
        printf(", largest %sdifference %.3g (%s)", o.is_relative ? "relative " : "", found.error,
               found.at);
    printf("\n");
    if (!found.is_ok)
        st = qn_fail(err, QN_ERR_MISMATCH, "%s: a difference of %.3g, over --within %g", found.at,
                     found.error, o.within);
out:
    return st;
}

static qn_status run(QN_UNUSED qn_ctx *none, const qn_args *args, qn_err *err)
{
    return qn_is_folder(args->words[0]) ? compare_folders(args, err) : compare_scans(args, err);
}

const qn_command qn_cmd_compare = {
    .name = "compare",
    .summary = "compare scans with each other, or the results of two runs",
    .words = "A.csv B.csv...|A B",
    .min_words = 2,
    .max_words = QN_COMPARE_MAX,
    .options = options,
    .notes =
        "Scans: the first is A, each other one is B. A ratio B / A from 0.95 to 1.05 is a tie.\n"
        "Sizes that are missing in one of them are listed, not compared.\n"
        "Folders: each .npy, .tif, .csv, .txt, .jsonl and .obj file below A is compared, value by\n"
        "value, with the file of the same name below B. Exit 4: a difference exceeds --within, or\n"
        "the files differ.",
    .examples = examples,
    .bare = 1,
    .run = run,
};
