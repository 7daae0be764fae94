/* variables.h - environment variables that no option stands for. */
#ifndef QN_CLI_MANUAL_VARIABLES_H
#define QN_CLI_MANUAL_VARIABLES_H

typedef struct qn_variable {
    const char *name;    /* "QUERN_CACHE=0" where one value matters */
    const char *meaning; /* a phrase, small first letter, no period */
} qn_variable;

/* Ended by { 0 }. tests/cli/cli_variables.sh holds it against the sources. */
extern const qn_variable qn_variables[];

#endif
