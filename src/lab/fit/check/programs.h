/* programs.h - programs that checks write themselves, and their solution. */
#ifndef QN_LAB_FIT_CHECK_PROGRAMS_H
#define QN_LAB_FIT_CHECK_PROGRAMS_H

#include "domain/fit/run/run.h"
#include "lab/fit/check/check.h"
#include "lab/golden.h"

/* Loads a program text with the files of one folder. Frees the text, also on failure. */
qn_status qn_fit_program_load(const char *name, qn_str *text, const char *folder, qn_fit_text **out,
                              qn_err *err);

/* Runs its first solve block in host memory with one thread. */
qn_status qn_fit_program_solve(qn_fit_text *text, qn_fit_report *out, qn_err *err);

/* FOLDER/NAME as a list of JSON, or of an object's member; *out is NULL if there is no such file,
 * which becomes a finding. The caller drops *root. */
qn_status qn_fit_golden_list(const char *folder, const char *name, const char *member,
                             const char *part, qn_findings *f, json_t **root, json_t **out,
                             qn_err *err);

/* |got - want| / |want| */
double qn_fit_off(double got, double want);

#endif
