/* evaluate.h - turns expressions of a program into nodes of a graph.
 *
 * One evaluation makes the graph of one topology. References are not nodes: they are paths from the
 * instance's own element through reference fields to an element of some domain, the same for all
 * instances. A path and a parameter make a slot; a path and a column of numbers make a column. Only
 * the length of a list is looked up for a particular instance. It is recorded, since instances with
 * other lengths have other topologies.
 */
#ifndef QN_FIT_TEXT_EVALUATE_H
#define QN_FIT_TEXT_EVALUATE_H

#include "domain/fit/expr/graph.h"
#include "domain/fit/text/scope.h"

enum { QN_FIT_MAX_PATH = 8, QN_FIT_MAX_STEPS = 4000000, QN_FIT_MAX_EVALUATE_DEPTH = 1000 };

/* refs: e = refs[e]. Else e = start[e] + offset, an element of a list. */
typedef struct qn_fit_step {
    const uint32_t *refs, *start;
    uint32_t offset;
} qn_fit_step;

typedef struct qn_fit_path {
    int domain; /* at its end */
    int n;
    qn_fit_step steps[QN_FIT_MAX_PATH];
} qn_fit_path;

typedef struct qn_fit_slot_use {
    int array; /* of the scope: parameters */
    qn_fit_path path;
} qn_fit_slot_use;

typedef struct qn_fit_column_use {
    const double *at; /* NULL: the element's number */
    int dim, comp;
    qn_fit_path path;
} qn_fit_column_use;

typedef struct qn_fit_length_use {
    const uint32_t *start;
    qn_fit_path path;
    uint32_t length;
} qn_fit_length_use;

typedef enum {
    QN_FIT_VALUE_NONE, /* a fault has been reported */
    QN_FIT_VALUE_NODES,
    QN_FIT_VALUE_PATH,
    QN_FIT_VALUE_LIST,  /* elements start[e] .. of `list_domain`, e the path's end */
    QN_FIT_VALUE_ARRAY, /* not indexed yet */
    QN_FIT_VALUE_SOURCE
} qn_fit_value_kind;

typedef struct qn_fit_text_value {
    qn_fit_value_kind kind;
    qn_fit_vec nodes;
    qn_fit_path path;
    const uint32_t *start;
    int index; /* list: domain. array, source: number */
} qn_fit_text_value;

typedef struct qn_fit_local {
    const char *name;
    qn_fit_text_value value;
} qn_fit_local;

typedef struct qn_fit_evaluator {
    const qn_fit_scope *scope;
    const qn_fit_ast *ast;
    qn_fit_diagnostics *diagnostics;
    qn_fit_graph *graph;
    int is_host;       /* parameters are errors */
    int self;          /* domain whose field names are visible, or -1 */
    int n_items;       /* functions before this item are visible */
    uint32_t instance; /* whose list lengths are used; UINT32_MAX: none */

    qn_fit_local *locals;
    size_t local_room;
    int n_locals, frame; /* names of the current function begin at `frame` */
    qn_fit_slot_use *slots;
    int n_slots;
    qn_fit_column_use *columns;
    int n_columns;
    qn_fit_length_use *lengths;
    int n_lengths;
    size_t slot_room, column_room, length_room;
    int n_steps, depth, is_lost;
} qn_fit_evaluator;

void qn_fit_evaluator_end(qn_fit_evaluator *evaluator);

/* Binds a name for the following trees. */
void qn_fit_evaluator_bind(qn_fit_evaluator *evaluator, const char *name,
                           const qn_fit_text_value *value);

/* The value of an expression as nodes; n = 0 after a fault. */
qn_fit_vec qn_fit_evaluate_expr(qn_fit_evaluator *evaluator, const qn_fit_tree *tree);
void qn_fit_evaluate_value(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                           qn_fit_text_value *out);
qn_fit_vec qn_fit_evaluate_nodes(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                                 const qn_fit_text_value *value);

static inline void qn_fit_set_node(qn_fit_text_value *out, qn_fit_v node)
{
    out->kind = QN_FIT_VALUE_NODES;
    out->nodes.n = 1;
    out->nodes.at[0] = node;
}

/* Ends an evaluation for lack of memory. */
static inline void qn_fit_evaluator_starve(qn_fit_evaluator *evaluator)
{
    evaluator->diagnostics->is_out_of_memory = 1;
    evaluator->is_lost = 1;
}

uint32_t qn_fit_path_end(const qn_fit_path *path, uint32_t element);

/* Parts (evaluate_names.c, evaluate_calls.c). */

void qn_fit_evaluator_fault(qn_fit_evaluator *evaluator, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void qn_fit_evaluator_unknown(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                              const char *what, const char *const *names);
void qn_fit_evaluate_name(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                          qn_fit_text_value *out);
void qn_fit_evaluate_field(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                           qn_fit_text_value *out);
void qn_fit_evaluate_index(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                           qn_fit_text_value *out);
void qn_fit_evaluate_call(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                          qn_fit_text_value *out);
void qn_fit_evaluate_fold(qn_fit_evaluator *evaluator, const qn_fit_tree *tree,
                          qn_fit_text_value *out);
void qn_fit_evaluate_array(qn_fit_evaluator *evaluator, const qn_fit_tree *tree, int array,
                           const qn_fit_path *path, qn_fit_text_value *out);

/* Parts of an expression that are evaluated before the fit, and the rest (bind.c). */

/* The values of nodes without parameters, out[root][k] for elements[k] (NULL: 0, 1, 2, ...).
 * Finishes the evaluator's graph. */
qn_status qn_fit_host_values(qn_fit_evaluator *evaluator, const qn_fit_v *roots, int n_roots,
                             const uint32_t *elements, uint32_t n, double *const *out, qn_err *err);

/* The part of a graph that depends on parameters. The largest subexpressions without parameters
 * become data columns: columns[k] is the node of the evaluator's graph for column k. */
typedef struct qn_fit_split {
    qn_fit_graph *graph; /* not finished, outputs set */
    qn_fit_v *columns;
    int n_columns;
} qn_fit_split;

qn_status qn_fit_split_new(const qn_fit_evaluator *evaluator, const qn_fit_v *outputs,
                           int n_outputs, qn_fit_split *out, qn_err *err);
void qn_fit_split_free(qn_fit_split *split);

/* Evaluates an expression once for each topology: elements whose lists have the same lengths. */
typedef struct qn_fit_job {
    /* Makes the nodes; the evaluator records faults. */
    void (*build)(struct qn_fit_job *job, qn_fit_evaluator *evaluator);
    /* Receives the elements of this topology; positions are their indices among all elements. */
    qn_status (*read_elements)(struct qn_fit_job *job, qn_fit_evaluator *evaluator,
                               const uint32_t *elements, const uint32_t *positions, uint32_t n,
                               int topology, qn_err *err);
    const char *name;
    size_t at;
} qn_fit_job;

/* `like` has the scope, the tree and the visible names; if `elements` is NULL, all up to n are
 * evaluated. If there are no elements the expression is evaluated once, to find its faults. */
qn_status qn_fit_each_topology(const qn_fit_evaluator *like, qn_fit_job *job,
                               const uint32_t *elements, uint32_t n, qn_err *err);

#endif
