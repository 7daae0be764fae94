/* starts.h - commented programs to begin with, each of which runs as it is. */
#ifndef QN_FIT_RUN_STARTS_H
#define QN_FIT_RUN_STARTS_H

/* The text of "nist", "mesh", "bal" or "sketch"; NULL for any other name. */
const char *qn_fit_start(const char *name);

#endif
