/* programs.h - a file of programs, ready to run. */
#ifndef QN_ARC_PROGRAMS_H
#define QN_ARC_PROGRAMS_H

#include "domain/arc/compile/compile.h"

typedef struct qn_arc_programs {
    qn_arc_file *file; /* NULL when the file was compiled already */
    qn_arc_code *codes;
    int n;
    double compile_s; /* parsing and compiling took so long */
} qn_arc_programs;

/* Reads solver or batt text, which is compiled without the passes `off` (QN_ARC_OFF_*), or a file
 * of bytecode (compile/code_file.h). What the parser noted is appended to `notes`, also when the
 * file is refused for its errors. */
qn_status qn_arc_programs_read(const char *path, unsigned off, qn_arc_programs *out, qn_str *notes,
                               qn_err *err);

/* The same of a text, with all passes; `name` stands for the path in messages. */
qn_status qn_arc_programs_parse(const char *name, const char *text, size_t bytes,
                                qn_arc_programs *out, qn_str *notes, qn_err *err);
void qn_arc_programs_free(qn_arc_programs *programs); /* zeroed is fine */

/* The head of a compiled program. */
arc_program qn_arc_code_head(const qn_arc_code *code);

#endif
