/* agree.h - compares the results of two runs, file by file and value by value.
 *
 * It compares rasters (.npy, .tif) and the numbers in tables and texts (.csv, .txt, .jsonl, .obj).
 * Other files describe the run, not its results, and are ignored. Both folders must have the same
 * result files. Two NaN count as equal.
 */
#ifndef QN_DOMAIN_REPORT_AGREE_H
#define QN_DOMAIN_REPORT_AGREE_H

#include "util/folder.h"
#include "util/status.h"

typedef struct qn_agree_options {
    double within;     /* largest difference allowed */
    int is_relative;   /* to the value of B */
    const char *named; /* description of B for readers: "the same run on the CPU"; NULL: its path */
} qn_agree_options;

typedef struct qn_agreement {
    size_t n_files;
    double n_values, n_equal;
    double error; /* largest difference */
    char at[256]; /* the file with it; "" if all are equal */
    int is_ok;
} qn_agreement;

/* Compares the folders `a` and `b`. A missing file, a different shape, or different words around
 * the numbers are QN_ERR_MISMATCH; differences of numbers are not an error here. */
qn_status qn_agree_folders(const char *a, const char *b, const qn_agree_options *options,
                           qn_agreement *out, qn_err *err);

/* Writes a comparison, made by `command`, for `quern report`. */
qn_status qn_agree_write(const char *path, const char *a, const char *b, const char *command,
                         const qn_agree_options *options, const qn_agreement *agreement,
                         qn_err *err);

#endif
