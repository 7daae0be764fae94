/* dis.h - bytecode as text, one line for each instruction. */
#ifndef QN_ARC_DIS_H
#define QN_ARC_DIS_H

#include "compile.h"

/* Appends the program; refuses what qn_arc_code_check refuses. */
qn_status qn_arc_disassemble(const qn_arc_code *code, qn_str *out, qn_err *err);

#endif
