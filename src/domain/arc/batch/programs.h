/* programs.h - programs of a file, or of all files in a folder, ready to run. */
#ifndef QN_ARC_PROGRAMS_H
#define QN_ARC_PROGRAMS_H

#include "domain/arc/compile/compile.h"

typedef struct qn_arc_programs {
    qn_arc_code *codes;
    int *file_of; /* program -> number of its file */
    int n;
    qn_arc_file **files; /* NULL: it was compiled already */
    int n_files;
    double compile_s; /* parsing and compiling took so long */
} qn_arc_programs;

/* Reads solver or batt text, which is compiled without the passes `off` (QN_ARC_OFF_*), or a file
 * of bytecode (compile/code_file.h); of a folder, every *.py and *.qarc in it. There batt programs,
 * whose functions all have one name, are called as their files, and no two programs may be called
 * alike. Notes of the parser are appended to `notes`, also when a file is refused for its errors.
 */
qn_status qn_arc_programs_read(const char *path, unsigned off, qn_arc_programs *out, qn_str *notes,
                               qn_err *err);

/* Reads a text instead, with all passes; `name` is the path in messages. */
qn_status qn_arc_programs_parse(const char *name, const char *text, size_t bytes,
                                qn_arc_programs *out, qn_str *notes, qn_err *err);
void qn_arc_programs_free(qn_arc_programs *programs); /* zeroed is fine */

/* Warnings in all files. */
int qn_arc_programs_warnings(const qn_arc_programs *programs);

/* The text of a program; NULL when it was compiled already. */
const qn_arc_file *qn_arc_programs_file(const qn_arc_programs *programs, int program);

/* The head of a compiled program. */
arc_program qn_arc_code_head(const qn_arc_code *code);

/* Gives a program another id. */
qn_status qn_arc_code_call(qn_arc_code *code, const char *id, size_t len, qn_err *err);

#endif
