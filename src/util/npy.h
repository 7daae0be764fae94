/* npy.h - arrays in the file format of NumPy, versions 1.0 and 2.0.
 *
 * Arrays are little endian, have at most four dimensions, and are in C order in memory: NumPy saves
 * a transposed array in Fortran order, and reading such a file reorders it. The header is checked
 * against the size of the file before anything is allocated. The data of an array have at most
 * QN_MOST_ARRAY bytes. Errors name the file, the value and the limit.
 */
#ifndef QN_UTIL_NPY_H
#define QN_UTIL_NPY_H

#include "util/file.h"
#include "util/status.h"
#include "util/str.h"

typedef enum { QN_NPY_F8, QN_NPY_F4, QN_NPY_I4, QN_NPY_I1, QN_NPY_U1, QN_NPY_TYPES } qn_npy_type;

enum { QN_NPY_MAX_DIMS = 4, QN_NPY_MAX_HEAD = 12 + (1 << 16) /* bytes before the data */ };

/* Zero-initialised: no array. Zero dimensions mean one element. */
typedef struct qn_npy {
    qn_npy_type type;
    int n_dims;
    qn_i64 dims[QN_NPY_MAX_DIMS]; /* slowest first */
    void *data;                   /* aligned for every type */
    int is_fortran;               /* only from qn_npy_parse: the file is in Fortran order */
} qn_npy;

const char *qn_npy_type_name(qn_npy_type type); /* "<f8" */
size_t qn_npy_elem_bytes(qn_npy_type type);
qn_i64 qn_npy_elems(const qn_npy *array);
double qn_npy_at(const qn_npy *array, qn_i64 i); /* element i as a number */

/* Reads all of `path`. Any other content is QN_ERR_INPUT. */
qn_status qn_npy_read(const char *path, qn_npy *out, qn_err *err);

/* Like qn_npy_read, but the array must have this type and shape. */
qn_status qn_npy_read_as(const char *path, qn_npy_type type, int n_dims, const qn_i64 *dims,
                         qn_npy *out, qn_err *err);
void qn_npy_free(qn_npy *array);

/* Reads type and shape from the first `bytes` bytes of a file; the data begin at *data_at. `name`
 * starts error messages. `out` gets no data. */
qn_status qn_npy_parse(const char *name, const char *text, size_t bytes, qn_npy *out,
                       size_t *data_at, qn_err *err);

/* Writes version 1.0, byte for byte as NumPy does, in one piece. */
qn_status qn_npy_write(const char *path, const qn_npy *array, qn_err *err);
qn_status qn_npy_commit(qn_out *out, const qn_npy *array, qn_err *err); /* ends `out` */

/* Appends the header of version 1.0; the data follow at a multiple of 64. */
void qn_npy_add_header(const qn_npy *array, qn_str *out);

#endif
