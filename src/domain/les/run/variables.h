/* variables.h - what flow.nc has at every snapshot, in one table.
 *
 * A field that the flow gets, such as a tracer, is one more row. Rows that a snapshot of the flow makes
 * come in the order in which the snapshot has them; the others are made at the end of a run.
 */
#ifndef QN_LES_VARIABLES_H
#define QN_LES_VARIABLES_H

#include "domain/les/options/options.h"

typedef enum qn_les_made {
    QN_LES_MADE_VORTICITY, /* by snapshots, as all up to the numbers */
    QN_LES_MADE_PROBE,
    QN_LES_MADE_SPECTRA, /* per member: doubles by wavenumber */
    QN_LES_MADE_NUMBERS, /* per member: a qn_les_row after one that is unused */
    QN_LES_MADE_LATE     /* at the end: fields that are decoded */
} qn_les_made;

typedef struct qn_les_variable {
    const char *name, *units, *long_name;
    const char *standard_name; /* of the CF conventions; NULL: there is none */
    qn_les_made made;
    int probe;  /* a qn_les_probe, or a qn_les_field of output.h for what is made late */
    size_t row; /* of a number: its place in a qn_les_row */
} qn_les_variable;

enum { QN_LES_MAX_VARIABLES = 16 };

/* Those of a run with these options, at most QN_LES_MAX_VARIABLES; returns how many. */
int qn_les_variables(const qn_les_options *config,
                     const qn_les_variable *out[QN_LES_MAX_VARIABLES]);

/* Bytes of a variable at one snapshot, of all members. Numbers share those of the first one. */
size_t qn_les_variable_bytes(const qn_les_options *config, const qn_les_variable *variable);

#endif
