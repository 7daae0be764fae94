/* kinds.h - how runs of each tool are shown: title, explanation, number of pictures. */
#ifndef QN_DOMAIN_REPORT_KINDS_H
#define QN_DOMAIN_REPORT_KINDS_H

#include "run.h"

enum { QN_RP_MAX_PICTURES = 8 };

typedef struct qn_rp_kind {
    const char *tool;  /* first word of its command; "" stands for all others */
    const char *title; /* of the section */
    const char *sees;  /* explains the pictures, in a sentence or two */
    size_t max_pictures, max_figures;
    int least_px;     /* width that a picture needs beside others */
    int has_headings; /* its charts need the headings above them */
} qn_rp_kind;

const qn_rp_kind *qn_rp_kind_of(const qn_rp_run *run);

/* Chooses at most kind->max_pictures of the run's PNG files, as positions in run->files. */
size_t qn_rp_pictures(const qn_rp_run *run, const qn_rp_kind *kind,
                      size_t picks[QN_RP_MAX_PICTURES]);

/* The caption of one of them. */
void qn_rp_caption(const qn_rp_run *run, const qn_rp_kind *kind, const char *file, char *out,
                   size_t size);

#endif
