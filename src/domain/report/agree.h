/* agree.h - do two runs have the same results: file by file, value by value.
 *
 * Compared are rasters (.npy, .tif), and the numbers in tables and texts (.csv, .txt, .jsonl,
 * .obj). Other files are left out: they say how a run went, not what came of it. Both folders must
 * have the same of them. Where both have "not a number", that is equal.
 */
#ifndef QN_DOMAIN_REPORT_AGREE_H
#define QN_DOMAIN_REPORT_AGREE_H

#include "util/folder.h"
#include "util/status.h"

typedef struct qn_agree_options {
    double within;     /* the largest difference that is fine */
    int is_relative;   /* to the value of B */
    const char *named; /* what B is, for readers: "the same run on the CPU"; NULL: its path */
} qn_agree_options;

typedef struct qn_agreement {
    size_t n_files;
    double n_values, n_equal;
    double error; /* the largest difference */
    char at[256]; /* the file that has it; "" when all are equal */
    int is_ok;
} qn_agreement;

/* Compares the folders `a` and `b`. A file that one of them lacks, another shape, or other words
 * around the numbers are QN_ERR_MISMATCH; differences alone are not an error here. */
qn_status qn_agree_folders(const char *a, const char *b, const qn_agree_options *options,
                           qn_agreement *out, qn_err *err);

/* Writes what `quern report` takes as a comparison, made by `command`. */
qn_status qn_agree_write(const char *path, const char *a, const char *b, const char *command,
                         const qn_agree_options *options, const qn_agreement *agreement,
                         qn_err *err);

#endif
