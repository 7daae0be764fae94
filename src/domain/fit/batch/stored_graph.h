/* stored_graph.h - products with a Jacobian that is stored, as an expression.
 *
 * J v is linear in v: with stored values as data columns and parameters where v belongs, it is an
 * expression like any other. Its derivatives are J itself, so programs for J v, J'u, J'J v and the
 * diagonal blocks come from where all programs come from, with the signs and constants that stored
 * entries share.
 */
#ifndef QN_FIT_BATCH_STORED_GRAPH_H
#define QN_FIT_BATCH_STORED_GRAPH_H

#include "domain/fit/code/program.h"

/* `linearized` has the section QN_FIT_JAC; column k of the graph is its stored value k, slots and
 * variables are its own. */
qn_status qn_fit_stored_graph(const qn_fit_program *linearized, qn_fit_graph **out, qn_err *err);

/* The program over that graph. */
qn_status qn_fit_stored_program(const qn_fit_program *linearized, unsigned wants,
                                qn_fit_program **out, qn_err *err);

#endif
