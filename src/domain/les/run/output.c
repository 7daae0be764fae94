/* output.c - arrays and tables of a run. */
#include "output.h"
#include "writes.h"

#include "util/csv.h"
#include "util/file.h"
#include "util/list.h"
#include "util/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_les_frame_name(int number, char out[QN_LES_NAME_SIZE])
{
    snprintf(out, QN_LES_NAME_SIZE, "les_frame_%04d.png", number);
}

/* Arrays of the result. */

static qn_les_array *find(qn_les_result *result, const char *name)
{
    return (qn_les_array *)(uintptr_t)qn_les_result_array(result, name);
}

/* Adds an array that takes over `data`. */
static qn_les_array *add(qn_les_result *result, const char *name, qn_npy_type type, int n_dims,
                         const qn_i64 *dims, const void *data)
{
    qn_les_array *array = &result->arrays[result->n_arrays++];

    *array = (qn_les_array){
        .name = name, .type = qn_npy_type_name(type), .n_dims = n_dims, .data = data
    };
    memcpy(array->dims, dims, (size_t)n_dims * sizeof *dims);
    return array;
}

/* Adds room for `n` items of `item_bytes` each, none of them there so far. */
static qn_status add_list(qn_les_result *result, const char *name, qn_npy_type type, int n_dims,
                          const qn_i64 *dims, size_t n, size_t item_bytes, qn_err *err)
{
    void *data = NULL;
    size_t bytes;
    qn_status st = QN_OK;

    QN_TRY(qn_size_mul(n, item_bytes, name, &bytes, err));
    if (!(data = malloc(bytes ? bytes : 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%s: no memory for %zu bytes of results", name, bytes);
    add(result, name, type, n_dims, dims, data);
out:
    return st;
}

static void append(qn_les_array *list, const void *item, size_t bytes)
{
    memcpy((char *)(uintptr_t)list->data + (size_t)list->dims[0] * bytes, item, bytes);
    list->dims[0]++;
}

/* Fields. */

static const char *const field_names[] = { "omega", "decoded", "lowpass" };
static const char *const field_files[] = { "omega", "full", "lp" };

static qn_status write_npy(const qn_les_result *result, const char *name, const qn_npy *array,
                           qn_err *err)
{
    qn_out out;
    qn_status st = QN_OK;

    if (!result->folder)
        return QN_OK;
    QN_TRY(qn_run_folder_create(result->folder, name, &out, err));
    QN_TRY(qn_npy_commit(&out, array, err));
    QN_TRY(qn_run_folder_add(result->folder, name, err));
out:
    return st;
}

/* A field as an array: N x N, with the members in front where there are several. */
static qn_npy shape_of(const qn_les_options *config, const void *data)
{
    qn_npy array = { .type = config->precision == QN_LES_F64 ? QN_NPY_F8 : QN_NPY_F4,
                     .n_dims = config->ensemble > 1 ? 3 : 2,
                     .data = (void *)(uintptr_t)data };

    array.dims[0] = config->ensemble;
    array.dims[array.n_dims - 2] = array.dims[array.n_dims - 1] = config->N;
    return array;
}

static qn_status hold_field(const qn_les_options *config, qn_les_result *result, qn_les_field field,
                            int step, const qn_npy *array, qn_err *err)
{
    const char *name = field_names[field];
    const size_t bytes = (size_t)qn_npy_elems(array) * qn_npy_elem_bytes(array->type);
    const size_t n = (size_t)config->steps / (size_t)config->stride + 1;
    const int32_t number = step;
    qn_i64 dims[4] = { 0 };
    qn_status st = QN_OK;

    memcpy(dims + 1, array->dims, (size_t)array->n_dims * sizeof *dims);
    if (!find(result, name))
        QN_TRY(add_list(result, name, array->type, array->n_dims + 1, dims, n, bytes, err));
    append(find(result, name), array->data, bytes);
    if (field != QN_LES_FIELD_OMEGA)
        goto out;
    if (!find(result, "steps"))
        QN_TRY(add_list(result, "steps", QN_NPY_I4, 1, dims, n, sizeof number, err));
    append(find(result, "steps"), &number, sizeof number);
out:
    return st;
}

void qn_les_late_name(qn_les_field field, int step, char out[QN_LES_NAME_SIZE])
{
    snprintf(out, QN_LES_NAME_SIZE, "%s.%d", field_names[field], step);
}

/* For flow.nc, which is written at the end. */
static qn_status put_late(qn_les_result *result, qn_les_field field, int step, const qn_npy *array,
                          qn_err *err)
{
    const size_t bytes = (size_t)qn_npy_elems(array) * qn_npy_elem_bytes(array->type);
    char name[QN_LES_NAME_SIZE], *copy;
    qn_status st = QN_OK;

    qn_les_late_name(field, step, name);
    QN_TRY(QN_NEW(copy, bytes, name, err));
    memcpy(copy, array->data, bytes);
    st = qn_les_put_scratch(result, name, copy, bytes, err);
out:
    return st;
}

qn_status qn_les_output_field(const qn_les_options *config, qn_les_result *result,
                              qn_les_field field, int step, const void *data, qn_err *err)
{
    const qn_npy array = shape_of(config, data);
    char name[QN_LES_NAME_SIZE];
    qn_status st = QN_OK;

    if (config->hold == QN_LES_HOLD_ARRAYS)
        QN_TRY(hold_field(config, result, field, step, &array, err));
    snprintf(name, sizeof name, "les_%s_t%06d.npy", field_files[field], step);
    if (config->format != QN_LES_FORMAT_NETCDF)
        QN_TRY(qn_les_put_array(result, name, &array, err));
    if (config->format != QN_LES_FORMAT_NPY && field != QN_LES_FIELD_OMEGA)
        QN_TRY(put_late(result, field, step, &array, err));
out:
    return st;
}

qn_status qn_les_output_array(const qn_les_options *config, qn_les_result *result, const char *name,
                              int type, int n_dims, const qn_i64 *dims, void *data, qn_err *err)
{
    qn_npy array = { .type = (qn_npy_type)type, .n_dims = n_dims, .data = data };
    char file[QN_LES_NAME_SIZE];
    qn_status st = QN_OK;

    memcpy(array.dims, dims, (size_t)n_dims * sizeof *dims);
    snprintf(file, sizeof file, "%s.npy", name);
    QN_TRY(write_npy(result, file, &array, err));
    if (config->hold == QN_LES_HOLD_ARRAYS) {
        add(result, name, array.type, n_dims, dims, data);
        data = NULL;
    }
out:
    free(data);
    return st;
}

/* Tables. */

static const char series_columns[] =
    "step,time,energy,enstrophy,palinstrophy,max_abs,mean,kurtosis";

static qn_status add_series(qn_les_result *result, qn_err *err)
{
    const qn_i64 dims[] = { result->n_rows, sizeof(qn_les_row) / sizeof(double) };
    const size_t bytes = (size_t)result->n_rows * sizeof(qn_les_row);
    double *data;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(data, dims[0] * dims[1], "series", err));
    if (bytes)
        memcpy(data, result->rows, bytes);
    add(result, "series", QN_NPY_F8, 2, dims, data)->columns = series_columns;
out:
    return st;
}

static qn_status add_spectrum(qn_les_result *result, qn_err *err)
{
    const qn_i64 dims[] = { result->n_shells, 3 };
    double *data, *at;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(data, dims[0] * dims[1], "a spectrum", err));
    at = data;
    for (int k = 0; k < result->n_shells; k++) {
        *at++ = k;
        *at++ = result->shells[0][k];
        *at++ = result->shells[1][k];
    }
    add(result, "spectrum", QN_NPY_F8, 2, dims, data)->columns = "k,start,end";
out:
    return st;
}

qn_status qn_les_add_tables(qn_les_result *result, qn_err *err)
{
    qn_status st = QN_OK;

    QN_TRY(add_series(result, err));
    QN_TRY(add_spectrum(result, err));
out:
    return st;
}

/* The first column holds whole numbers. */
qn_status qn_les_write_table(const qn_les_result *result, const char *name, qn_err *err)
{
    const qn_les_array *table = qn_les_result_array(result, name);
    const double *at = table->data;
    char file[QN_LES_NAME_SIZE];
    qn_out out = { 0 };
    qn_status st = QN_OK;

    snprintf(file, sizeof file, "les_%s.csv", name);
    QN_TRY(qn_run_folder_create(result->folder, file, &out, err));
    fprintf(out.file, "%s\n", table->columns);
    qn_csv_writer w = { .to = out.file };
    for (qn_i64 i = 0; i < table->dims[0]; i++) {
        for (qn_i64 k = 0; k < table->dims[1]; k++)
            qn_csv_putf(&w, k ? "%.17g" : "%.0f", *at++);
        qn_csv_end_row(&w);
    }
    QN_TRY(qn_out_commit(&out, err));
    QN_TRY(qn_run_folder_add(result->folder, file, err));
out:
    return st;
}
