/* code_file.h - compiled programs in a file.
 *
 *     header      u32 magic "QARF", u32 version, u32 programs, u32 0, u64 bytes after the header,
 *                 u64 FNV-1a of these
 *     program     u32 bytes of code, u32 bytes of description, u32 outputs, u32 line; code;
 *                 description, padded to a multiple of 16: id, name, then for each output
 *                 u8 list, u8 flag, i64 number, i32 line, task, name; texts end with a NUL
 *
 * Numbers are little-endian.
 */
#ifndef QN_ARC_CODE_FILE_H
#define QN_ARC_CODE_FILE_H

#include "compile.h"

qn_status qn_arc_codes_pack(const qn_arc_code *codes, int n, qn_str *out, qn_err *err);

/* Whatever the bytes are: the programs, each checked, or an error. */
qn_status qn_arc_codes_unpack(const void *bytes, size_t size, qn_arc_code **codes, int *n,
                              qn_err *err);
void qn_arc_codes_free(qn_arc_code *codes, int n);

qn_status qn_arc_codes_write(const char *path, const qn_arc_code *codes, int n, qn_err *err);
qn_status qn_arc_codes_read(const char *path, qn_arc_code **codes, int *n, qn_err *err);

#endif
