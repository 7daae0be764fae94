/* program.h - files of grid programs: from text to lists of operations.
 *
 *     def solve_1f85a75f(I):                       def batt(task_id, S, I, C, log_path):
 *         x1 = objects(I, T, T, T)                     s = []
 *         x2 = argmax(x1, size)                        o = []
 *         O = subgrid(x2, I)                           t1 = env.do_pile(1, [identity, p_g], True)
 *         return O                                     ...
 *                                                      return o, s
 *
 * A file is parsed to its end even if it has errors, which become a list of notes. Programs without
 * errors can be compiled (domain/arc/compile/compile.h).
 */
#ifndef QN_ARC_PROGRAM_H
#define QN_ARC_PROGRAM_H

#include "domain/arc/value/value.h"
#include "kernel/arc/arc_code.h"
#include "util/str.h"

#include <quern/quern.h>

#include <stdarg.h>

/* Errors and warnings in a program file, with their positions. Lines and columns count from 1; a
 * column is a byte of the line. */

typedef enum { QN_ARC_NOTE_ERROR, QN_ARC_NOTE_WARNING } qn_arc_severity;

typedef struct qn_arc_note {
    int line, col;
    qn_arc_severity severity;
    int order; /* order in which it was found: decides between notes at one position */
    char *text;
} qn_arc_note;

enum { QN_ARC_MOST_NOTES = 100000 }; /* stored; any more are only counted */

/* A zero-initialised list is empty. When out of memory, `failed` is set and n_errors still
 * counts. */
typedef struct qn_arc_notes {
    qn_arc_note *items;
    int n;
    size_t room;
    int n_errors, n_warnings;
    int failed;
} qn_arc_notes;

__attribute__((format(printf, 5, 6))) void qn_arc_note_add(qn_arc_notes *notes,
                                                           qn_arc_severity severity, int line,
                                                           int col, const char *format, ...);
void qn_arc_note_addv(qn_arc_notes *notes, qn_arc_severity severity, int line, int col,
                      const char *format, va_list args);
void qn_arc_notes_sort(qn_arc_notes *notes);
void qn_arc_notes_free(qn_arc_notes *notes);

/* "PATH:LINE:COL: error: TEXT", the line of `source` and a caret, for each note. */
void qn_arc_notes_print(const qn_arc_notes *notes, const char *path, const char *source,
                        size_t bytes, qn_str *out);

/* One program as nodes: parameters, constants and operations on earlier nodes.
 *
 * The parser appends nodes in the order of the source; nested calls and tuples with variables
 * become nodes of their own. Passes of the compiler make a new list or change this one.
 */

/* Operations of nodes that are not instructions. All others are opcodes of arc_ops.h, or
 * ARC_OP_CALL, ARC_OP_TUPLE and ARC_OP_FAIL. */
enum {
    QN_ARC_NODE_GONE = 0xfffd, /* removed by a pass */
    QN_ARC_NODE_PARAM = 0xfffe,
    QN_ARC_NODE_CONST = 0xffff
};

typedef struct qn_arc_node {
    uint16_t op;
    uint8_t n_args;
    uint8_t guard;             /* ARC_GUARD_*, of guarded steps */
    int a[4];                  /* nodes before this one */
    int line;                  /* of the source */
    int needs, n_needs;        /* further nodes that must be ok, in the program's list */
    int number;                /* of a parameter: its slot */
    const qn_arc_value *value; /* of a constant */
} qn_arc_node;

/* The records that a batt program puts into its lists. */
typedef struct qn_arc_record {
    char list; /* 'o' or 's' */
    int flag;  /* of o: True or False */
    int64_t number;
    char *task, *name; /* name: of s, else "" */
    int node, line;
} qn_arc_record;

typedef struct qn_arc_dag {
    qn_arc_node *nodes;
    int n;
    size_t room;
    int *needs;
    int n_needs;
    size_t need_room;
    qn_arc_record *records;
    int n_records;
    size_t record_room;
    int output;     /* the node returned by a solve program; -1: none */
    int n_params;   /* nodes 0 .. n_params - 1 */
    uint32_t flags; /* ARC_FLAG_* */
} qn_arc_dag;

void qn_arc_dag_free(qn_arc_dag *dag);

/* Returns the number of the new node, or -1 when out of memory. `needs` is set to the position of
 * the next ones to be added. */
int qn_arc_dag_add(qn_arc_dag *dag, const qn_arc_node *node);
int qn_arc_dag_need(qn_arc_dag *dag, int node); /* appends; 0 when out of memory */

/* Appends a record and takes ownership of its texts. Returns 0 when out of memory. */
int qn_arc_dag_record(qn_arc_dag *dag, const qn_arc_record *record);

/* Whether two values are identical, tags included: True is not 1 here. */
int qn_arc_same_value(const qn_arc_value *a, const qn_arc_value *b);

static inline int qn_arc_is_leaf(const qn_arc_node *node)
{
    return node->op >= QN_ARC_NODE_GONE;
}

/* An additional name that programs of the file may use like a constant. */
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
    int n_primitive_calls, n_variable_calls; /* in the text, nested ones included */
    int n_errors;
    qn_arc_dag dag;
} qn_arc_source;

typedef struct qn_arc_file {
    char *path;
    char *text;
    size_t bytes;
    qn_arc_source *programs;
    int n_programs;
    size_t room;
    qn_arc_notes notes; /* by line and column */
    qn_arc_heap *heap;  /* of constants */
} qn_arc_file;

/* Parses `bytes` bytes of `text`, which are copied; `path` appears in messages. Returns QN_OK even
 * if the notes hold errors: check notes.n_errors. */
qn_status qn_arc_parse(const char *path, const char *text, size_t bytes,
                       const qn_arc_binding *bindings, int n_bindings, qn_arc_file **out,
                       qn_err *err);
void qn_arc_file_free(qn_arc_file *file); /* may be NULL */

/* All notes, as printed for people. */
void qn_arc_file_print_notes(const qn_arc_file *file, qn_str *out);

#endif
