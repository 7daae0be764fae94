/* program.h - files of grid programs: from text to lists of operations.
 *
 *     def solve_1f85a75f(I):                       def batt(task_id, S, I, C, log_path):
 *         x1 = objects(I, T, T, T)                     s = []
 *         x2 = argmax(x1, size)                        o = []
 *         O = subgrid(x2, I)                           t1 = env.do_pile(1, [identity, p_g], True)
 *         return O                                     ...
 *                                                      return o, s
 *
 * A file is parsed to its end in spite of errors, which become a list of notes. Programs
 * without errors can be compiled (domain/arc/compile/compile.h).
 */
#ifndef QN_ARC_PROGRAM_H
#define QN_ARC_PROGRAM_H

#include "dag.h"
#include "notes.h"

/* A further name that programs of the file may use, as if it were a constant. */
typedef struct qn_arc_binding {
    const char *name;
    const qn_arc_value *value; /* must live as long as the file */
} qn_arc_binding;

typedef struct qn_arc_source {
    char *id;                                /* the function's name without "solve_" */
    char *name;                              /* the function's name */
    int line;                                /* of its def */
    int number;                              /* in the file */
    int n_statements;                        /* assignments */
    int n_primitive_calls, n_variable_calls; /* written out, nested ones included */
    int n_errors;
    qn_arc_dag dag;
} qn_arc_source;

typedef struct qn_arc_file {
    char *path;
    char *text;
    size_t bytes;
    qn_arc_source *programs;
    int n_programs;
    qn_arc_notes notes; /* by line and column */
    qn_arc_heap *heap;  /* of constants */
} qn_arc_file;

/* Parses `bytes` bytes of `text`, which are copied; `path` appears in messages. QN_OK also when the
 * notes hold errors: ask notes.n_errors. */
qn_status qn_arc_parse(const char *path, const char *text, size_t bytes,
                       const qn_arc_binding *bindings, int n_bindings, qn_arc_file **out,
                       qn_err *err);
qn_status qn_arc_parse_file(const char *path, qn_arc_file **out, qn_err *err);
void qn_arc_file_free(qn_arc_file *file); /* NULL is fine */

/* All notes, as they are shown to people. */
void qn_arc_file_print_notes(const qn_arc_file *file, qn_str *out);

/* The program with that id, or NULL. */
const qn_arc_source *qn_arc_file_find(const qn_arc_file *file, const char *id);

#endif
