/* agree.c - compares two folders of results. */
#include "agree.h"

#include "domain/solweig/raster/raster.h"
#include "util/file.h"
#include "util/json.h"
#include "util/npy.h"
#include "util/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two files of the same name. */
typedef struct couple {
    char *a, *b;      /* paths */
    const char *name; /* their common name */
    const qn_agree_options *options;
    qn_agreement *sum;
} couple;

static void add_values(couple *c, double a, double b)
{
    qn_agreement *sum = c->sum;
    double error;

    sum->n_values++;
    if (a == b || (isnan(a) && isnan(b))) {
        sum->n_equal++;
        return;
    }
    error = fabs(a - b);
    if (c->options->is_relative)
        error /= fabs(b);
    if (isnan(error))
        error = INFINITY;
    if (error > sum->error || !sum->at[0]) {
        sum->error = error;
        snprintf(sum->at, sizeof sum->at, "%s", c->name);
    }
}

/* Arrays. */

static qn_status compare_npy(couple *c, qn_err *err)
{
    qn_npy a = { 0 }, b = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_npy_read(c->a, &a, err));
    QN_TRY(qn_npy_read(c->b, &b, err));
    if (a.n_dims != b.n_dims || memcmp(a.dims, b.dims, (size_t)a.n_dims * sizeof *a.dims))
        QN_FAIL(err, QN_ERR_MISMATCH, "%s and %s have different shapes", c->a, c->b);
    for (qn_i64 i = 0; i < qn_npy_elems(&a); i++)
        add_values(c, qn_npy_at(&a, i), qn_npy_at(&b, i));
out:
    qn_npy_free(&a);
    qn_npy_free(&b);
    return st;
}

static qn_status compare_rasters(couple *c, qn_err *err)
{
    /* For a single day tmrt_night_mean.tif has no values. */
    const qn_sw_read_options any = { .crs = QN_SW_CRS_ANY, .may_be_empty = 1 };
    qn_sw_raster a = { 0 }, b = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_sw_raster_read(c->a, &any, &a, err));
    QN_TRY(qn_sw_raster_read(c->b, &any, &b, err));
    if (a.place.rows != b.place.rows || a.place.cols != b.place.cols)
        QN_FAIL(err, QN_ERR_MISMATCH, "%s and %s have different shapes", c->a, c->b);
    for (size_t i = 0; i < qn_sw_elems(&a.place); i++)
        add_values(c, (double)a.data[i], (double)b.data[i]);
out:
    qn_sw_raster_free(&a);
    qn_sw_raster_free(&b);
    return st;
}

/* Texts. */

static const char between[] = " \t\r,;:\"[]{}()";

/* Finds the next word from *at on; returns its length, 0 at the end of the text. A line end counts
 * as a word, since a value that moved to another line is a different result. */
static size_t next_word(const char **at)
{
    *at += strspn(*at, between);
    if (**at == '\n')
        return 1;
    return strcspn(*at, " \t\r\n,;:\"[]{}()");
}

static int read_number(const char *word, size_t n, double *out)
{
    char *end;

    /* Digits of a grid ("0110") are compared as words, and so are hashes, which strtod might parse
     * as numbers. */
    if ((n > 1 && word[0] == '0' && word[1] != '.') || n > 30)
        return 0;
    *out = strtod(word, &end);
    return end == word + n;
}

static qn_status compare_texts(couple *c, qn_err *err)
{
    char *a = NULL, *b = NULL;
    const char *p, *q;
    size_t a_bytes, b_bytes, line = 1;
    qn_status st = QN_OK;

    QN_TRY(qn_file_read_most(c->a, QN_MOST_REPORT, &a, &a_bytes, err));
    QN_TRY(qn_file_read_most(c->b, QN_MOST_REPORT, &b, &b_bytes, err));
    for (p = a, q = b;; line += *p == '\n', p++, q++) {
        const size_t n = next_word(&p), m = next_word(&q);
        double x, y;

        if (!n && !m)
            break;
        if (n && m && read_number(p, n, &x) && read_number(q, m, &y)) {
            add_values(c, x, y);
        } else if (n != m || memcmp(p, q, n) != 0) {
            QN_FAIL(err, QN_ERR_MISMATCH, "%s:%zu: '%.*s' here is '%.*s' in %s", c->a, line,
                    (int)(n < 40 ? n : 40), n && *p != '\n' ? p : "", (int)(m < 40 ? m : 40),
                    m && *q != '\n' ? q : "", c->b);
        } else if (*p != '\n') {
            c->sum->n_values++;
            c->sum->n_equal++;
        }
        p += n - 1;
        q += m - 1;
    }
out:
    free(a);
    free(b);
    return st;
}

/* Folders. */

static const struct {
    const char *ending;
    qn_status (*compare)(couple *c, qn_err *err);
} kinds[] = { { ".npy", compare_npy },   { ".tif", compare_rasters }, { ".csv", compare_texts },
              { ".txt", compare_texts }, { ".jsonl", compare_texts }, { ".obj", compare_texts } };

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static int kind_of(const char *file)
{
    for (int k = 0; k < N_KINDS; k++)
        if (qn_has_ending(file, kinds[k].ending))
            return k;
    return -1;
}

/* Drops files that are not results. */
static void keep_results(qn_folder *folder)
{
    size_t n = 0;

    for (size_t i = 0; i < folder->n; i++) {
        if (kind_of(folder->files[i]) < 0)
            free(folder->files[i]);
        else
            folder->files[n++] = folder->files[i];
    }
    folder->n = n;
}

static qn_status list_results(const char *path, qn_folder *out, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_folder_list(path, out, err));
    keep_results(out);
    if (!out->n)
        st = qn_fail(err, QN_ERR_INPUT,
                     "%s has nothing to compare: no .npy, .tif, .csv, .txt, .jsonl or .obj", path);
out:
    return st;
}

static qn_status same_names(const char *a, const qn_folder *in_a, const char *b,
                            const qn_folder *in_b, qn_err *err)
{
    for (size_t i = 0; i < in_a->n || i < in_b->n; i++) {
        const char *x = i < in_a->n ? in_a->files[i] : NULL;
        const char *y = i < in_b->n ? in_b->files[i] : NULL;
        const int order = !x ? 1 : !y ? -1 : strverscmp(x, y);

        if (order)
            return qn_fail(err, QN_ERR_MISMATCH, "%s/%s is not in %s", order < 0 ? a : b,
                           order < 0 ? x : y, order < 0 ? b : a);
    }
    return QN_OK;
}

static qn_status compare_file(const char *a, const char *b, couple *c, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(qn_text_new(&c->a, err, "%s/%s", a, c->name));
    QN_TRY(qn_text_new(&c->b, err, "%s/%s", b, c->name));
    QN_TRY(kinds[kind_of(c->name)].compare(c, err));
out:
    free(c->a);
    free(c->b);
    return st;
}

qn_status qn_agree_folders(const char *a, const char *b, const qn_agree_options *options,
                           qn_agreement *out, qn_err *err)
{
    qn_folder in_a = { 0 }, in_b = { 0 };
    qn_status st = QN_OK;

    *out = (qn_agreement){ 0 };
    QN_TRY(list_results(a, &in_a, err));
    QN_TRY(list_results(b, &in_b, err));
    QN_TRY(same_names(a, &in_a, b, &in_b, err));
    for (size_t i = 0; i < in_a.n; i++) {
        couple c = { .name = in_a.files[i], .options = options, .sum = out };

        QN_TRY(compare_file(a, b, &c, err));
        out->n_files++;
    }
    out->is_ok = out->error <= options->within;
out:
    qn_folder_free(&in_a);
    qn_folder_free(&in_b);
    return st;
}

qn_status qn_agree_write(const char *path, const char *a, const char *b, const char *command,
                         const qn_agree_options *options, const qn_agreement *agreement,
                         qn_err *err)
{
    json_t *what = qn_json_text(a), *against = qn_json_text(options->named ? options->named : b);
    json_t *json;
    qn_status st;

    json = json_pack("{s:s, s:s, s:[{s:o, s:o, s:f, s:f, s:o, s:o, s:b, s:b}]}", "format",
                     "quern-checks/1", "command_line", command, "checks", "what", what, "against",
                     against, "values", agreement->n_values, "equal", agreement->n_equal, "error",
                     qn_json_number(agreement->error), "limit", qn_json_number(options->within),
                     "relative", options->is_relative, "ok", agreement->is_ok);
    st = json ? qn_json_write(path, json, err)
              : qn_fail(err, QN_ERR_NOMEM, "no memory for %s", path);
    json_decref(json);
    return st;
}
