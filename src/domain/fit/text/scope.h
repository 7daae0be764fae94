/* scope.h - the names of a program: domains, arrays, constants, functions.
 *
 * A domain is a set of elements with fields: numbers, references to elements of a domain, lists of
 * elements. An array has a vector of numbers for each element of a domain; parameters are arrays
 * too.
 */
#ifndef QN_FIT_TEXT_SCOPE_H
#define QN_FIT_TEXT_SCOPE_H

#include "domain/fit/mesh/mesh.h"
#include "domain/fit/read/read.h"
#include "domain/fit/text/tree.h"
#include "util/map.h"

#include <quern/fit.h>

enum { QN_FIT_MAX_FIELDS = 68 };

typedef enum { QN_FIT_FIELD_REAL, QN_FIT_FIELD_REF, QN_FIT_FIELD_LIST } qn_fit_field_kind;

typedef struct qn_fit_field {
    const char *name;
    qn_fit_field_kind kind;
    const double *real;    /* REAL; NULL: the element's own number */
    const uint32_t *refs;  /* REF: elements of `to` */
    const uint32_t *start; /* LIST: elements start[e] .. start[e + 1] - 1 of `to` */
    int to;
} qn_fit_field;

typedef struct qn_fit_domain {
    char name[136];
    uint32_t n;
    qn_fit_field fields[QN_FIT_MAX_FIELDS];
    int n_fields;
} qn_fit_domain;

typedef struct qn_fit_array {
    char name[136];
    int domain; /* -1: one element, no index */
    int dim;
    const double *at;
    int set; /* of the problem; -1: data */
} qn_fit_array;

typedef struct qn_fit_constant {
    int n;
    double at[QN_FIT_MAX_VEC];
} qn_fit_constant;

/* A mesh or a bundle adjustment problem; its parts have names of their own: "M.verts", "M.pos". */
typedef struct qn_fit_source {
    qn_fit_mesh mesh; /* empty for other sources */
    int verts;        /* domain */
} qn_fit_source;

typedef enum {
    QN_FIT_IS_NOTHING,
    QN_FIT_IS_SOURCE,
    QN_FIT_IS_DOMAIN,
    QN_FIT_IS_ARRAY,
    QN_FIT_IS_CONSTANT,
    QN_FIT_IS_FUNCTION, /* index: item of the tree */
    QN_FIT_IS_TERM,
    QN_FIT_IS_BROKEN /* its declaration has a fault, which has been reported */
} qn_fit_name_kind;

typedef struct qn_fit_named {
    qn_fit_name_kind kind;
    int index;
} qn_fit_named;

typedef struct qn_fit_scope {
    qn_map names;
    qn_fit_domain *domains;
    int n_domains;
    qn_fit_array *arrays;
    int n_arrays;
    qn_fit_constant *constants;
    int n_constants;
    qn_fit_source *sources;
    int n_sources;
    void **owned;
    int n_owned;
    int is_out_of_memory;
} qn_fit_scope;

void qn_fit_scope_free(qn_fit_scope *scope);

/* Passes memory to the scope, which frees it; returns it, or NULL. */
void *qn_fit_scope_own(qn_fit_scope *scope, void *memory);
void *qn_fit_scope_alloc(qn_fit_scope *scope, size_t n, size_t size); /* zeroed */

qn_fit_named qn_fit_scope_find(const qn_fit_scope *scope, const char *name);
void qn_fit_scope_name(qn_fit_scope *scope, const char *name, qn_fit_name_kind kind, int index);

/* Enter a named entry and return its number; -1 when out of memory. */
int qn_fit_scope_domain(qn_fit_scope *scope, const char *name, uint32_t n);
int qn_fit_scope_array(qn_fit_scope *scope, const char *name, int domain, int dim,
                       const double *at);
int qn_fit_scope_constant(qn_fit_scope *scope, const char *name, const double *at, int n);
int qn_fit_scope_source(qn_fit_scope *scope, const char *name);
void qn_fit_domain_field(qn_fit_scope *scope, int domain, qn_fit_field field);
const qn_fit_field *qn_fit_domain_find(const qn_fit_scope *scope, int domain, const char *name);

/* sources.c: enters a source. Arguments are numbers or texts. */
typedef struct qn_fit_source_arg {
    const char *name; /* NULL: positional */
    const char *text; /* NULL: a number */
    double number;
    size_t at;
} qn_fit_source_arg;

/* `item` is an input. Reports faults of files and arguments. */
void qn_fit_scope_input(qn_fit_scope *scope, const qn_fit_item *item, const qn_fit_source_arg *args,
                        int n_args, const qn_fit_files *files, qn_fit_diagnostics *diagnostics);

/* Enters a table, whose columns the scope then owns. */
void qn_fit_scope_table(qn_fit_scope *scope, const char *name, qn_fit_table *table);

#endif
