/* readers_util.c - formats that several tools share. */
#include "fuzz.h"

#include "util/csv.h"
#include "util/inflate.h"
#include "util/json.h"
#include "util/npy.h"
#include "util/png.h"
#include "util/run_folder.h"

#include <math.h>
#include <sys/stat.h>
#include <zlib.h>

static qn_status read_csv(const fuzz_input *in, qn_err *err)
{
    qn_csv csv = { 0 };
    qn_status st = QN_OK;
    qn_err cell;
    qn_i64 whole;
    double real;

    QN_TRY(qn_csv_parse("a.csv", (const char *)in->bytes, in->n, &csv, err));
    for (size_t row = 0; row < csv.n_rows; row++)
        for (size_t col = 0; col < csv.n_cols; col++) {
            (void)qn_csv_i64(&csv, row, col, -5, 1000, &whole, &cell);
            (void)qn_csv_f64(&csv, row, col, -INFINITY, INFINITY, &real, &cell);
        }
    (void)qn_csv_comment(&csv, "key");
out:
    qn_csv_free(&csv);
    return st;
}

static qn_status read_npy(const fuzz_input *in, qn_err *err)
{
    qn_npy array = { 0 };
    double sum = 0;
    qn_status st = QN_OK;

    QN_TRY(qn_npy_read(in->path, &array, err));
    for (qn_i64 i = 0; i < qn_npy_elems(&array); i++)
        sum += qn_npy_at(&array, i);
    fuzz_must(qn_npy_elems(&array) <= (qn_i64)in->n || isnan(sum), "an array larger than its file");
out:
    qn_npy_free(&array);
    return st;
}

static qn_status read_inflate(const fuzz_input *in, qn_err *err)
{
    enum { LIMIT = 1 << 20 };
    char *text = NULL;
    size_t n = 0;
    const qn_status st = qn_inflate("a.gz", in->bytes, in->n, LIMIT, &text, &n, err);

    fuzz_must(st != QN_OK || (n <= LIMIT && text[n] == 0), "more than the limit");
    if (st == QN_OK)
        free(text);
    return st;
}

static qn_status read_json(const fuzz_input *in, qn_err *err)
{
    json_t *root = NULL;
    const qn_status st = qn_json_read(in->path, &root, err);

    json_decref(root);
    return st;
}

static qn_status read_png(const fuzz_input *in, qn_err *err)
{
    int width, height;

    return qn_png_check("a.png", in->bytes, in->n, &width, &height, err);
}

/* A folder of results and its journal. */

#define PLAN "tool n=1 steps=2"

static void mend_journal(uint8_t *bytes, size_t n)
{
    for (uint8_t *at = bytes, *stop; (stop = memchr(at, '\n', n));
         n -= (size_t)(stop + 1 - at), at = stop + 1) {
        char sum[10];

        if (stop - at < 9)
            continue;
        snprintf(sum, sizeof sum, "%08x ", (unsigned)crc32(0, at + 9, (unsigned)(stop - at - 9)));
        memcpy(at, sum, 9);
    }
}

static void remove_run(const char *folder)
{
    char path[1200];

    snprintf(path, sizeof path, "%s/" QN_RUN_UNFINISHED "/state", folder);
    remove(path);
    snprintf(path, sizeof path, "%s/" QN_RUN_UNFINISHED, folder);
    remove(path);
}

static qn_status read_journal(const fuzz_input *in, qn_err *err)
{
    qn_run_folder *folder = NULL;
    char path[1200], *plan = qn_run_folder_plan(in->folder);
    const char *fact;
    qn_status st = QN_OK;
    FILE *file;

    snprintf(path, sizeof path, "%s/" QN_RUN_UNFINISHED, in->folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/" QN_RUN_UNFINISHED "/state", in->folder);
    if ((file = fopen(path, "w"))) {
        fputs("0123456789", file);
        fclose(file);
    }
    QN_TRY(qn_run_folder_open(
        &(qn_run_folder_options){ .path = in->folder, .plan = plan ? plan : PLAN, .resume = 1 },
        &folder, err));
    fuzz_must(!(fact = qn_run_folder_fact(folder, "tile1")) || !strchr(fact, '\n'),
              "two lines in a fact");
    if (qn_run_folder_state(folder) != QN_RUN_FINISHED) {
        QN_TRY(qn_run_folder_write(folder, "a.txt", "a", 1, err));
        QN_TRY(qn_run_folder_commit(folder, "tile1", "3", err));
        fact = qn_run_folder_fact(folder, "tile1");
        fuzz_must(fact && !strcmp(fact, "3"), "a fact that was noted is not there");
    }
out:
    qn_run_folder_close(folder);
    free(plan);
    remove_run(in->folder);
    return st;
}

const fuzz_reader fuzz_util[] = {
    { .name = "csv", .read = read_csv },
    { .name = "npy", .file = "a.npy", .read = read_npy },
    { .name = "inflate", .read = read_inflate },
    { .name = "json", .file = "a.json", .read = read_json },
    { .name = "png", .read = read_png },
    { .name = "journal", .file = QN_RUN_JOURNAL, .read = read_journal, .mend = mend_journal },
    { .name = NULL },
};
