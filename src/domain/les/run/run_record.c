/* run_record.c - records of snapshots, and flow.nc.
 *
 * A record is what flow.nc has of one snapshot, as the bytes of its variables in the order of their
 * table. The device makes it, and the queue writes it as a scratch file of the folder. So the file of
 * NetCDF, which a kill in the middle would leave useless, is written once, at the end; a run that goes
 * on after its end takes the earlier snapshots from the file it has.
 */
#include "run_impl.h"

#include "output.h"
#include "writes.h"
#include "domain/les/flow/sim_impl.h"
#include "util/list.h"
#include "util/netcdf.h"
#include "util/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLOW_NC "flow.nc"

/* Records. */

/* Numbers are together in one part. */
static int has_part(const qn_les_variable *const *all, int i)
{
    return all[i]->made == QN_LES_MADE_PROBE || all[i]->made == QN_LES_MADE_SPECTRA ||
           (all[i]->made == QN_LES_MADE_NUMBERS && all[i - 1]->made != QN_LES_MADE_NUMBERS);
}

static qn_status add_spectra(run *r, qn_graph *graph, qn_buf *part, qn_err *err)
{
    const size_t bytes = qn_buf_bytes(part) / (size_t)r->config->ensemble;
    qn_buf *one = NULL;
    qn_status st = QN_OK;

    for (int m = 0; m < r->config->ensemble; m++) {
        QN_TRY(qn_buf_view(part, "les.spectrum", (size_t)m * bytes, bytes, &one, err));
        QN_TRY(qn_les_sim_add_spectrum(r->sim, graph, m, one, err));
        qn_buf_free(one);
        one = NULL;
    }
out:
    qn_buf_free(one);
    return st;
}

static qn_status add_part(run *r, qn_graph *graph, const qn_les_variable *v, qn_buf *part,
                          qn_err *err)
{
    if (v->made == QN_LES_MADE_SPECTRA)
        return add_spectra(r, graph, part, err);
    if (v->made == QN_LES_MADE_NUMBERS)
        return qn_les_sim_add_row(r->sim, graph, part, err);
    return qn_les_sim_add_output(r->sim, graph, (qn_les_probe)v->probe, part, err);
}

qn_status qn_les_run_add_record(run *r, run_slot *slot, qn_err *err)
{
    const qn_les_variable *all[QN_LES_MAX_VARIABLES];
    const int n = qn_les_variables(r->config, all);
    qn_status st = QN_OK;

    for (int i = 0; i < n; i++) {
        qn_buf **part = &slot->parts[slot->n_parts];

        if (!has_part(all, i))
            continue;
        QN_TRY(
            qn_buf_new(r->ctx, all[i]->name, qn_les_variable_bytes(r->config, all[i]), part, err));
        slot->n_parts++;
        QN_TRY(add_part(r, slot->graph, all[i], *part, err));
        QN_TRY(qn_graph_output(slot->graph, *part, err));
    }
out:
    return st;
}

size_t qn_les_run_record_bytes(const run_slot *slot)
{
    size_t bytes = 0;

    for (int i = 0; i < slot->n_parts; i++)
        bytes += qn_buf_bytes(slot->parts[i]);
    return bytes;
}

void qn_les_run_free_record(run_slot *slot)
{
    for (int i = 0; i < slot->n_parts; i++)
        qn_buf_free(slot->parts[i]);
}

static void record_name(int step, char out[QN_LES_NAME_SIZE])
{
    snprintf(out, QN_LES_NAME_SIZE, "snapshot.%d", step);
}

qn_status qn_les_run_put_record(run *r, const run_slot *slot, const void *field, qn_err *err)
{
    const size_t first = qn_buf_bytes(slot->field), all = first + qn_les_run_record_bytes(slot);
    char name[QN_LES_NAME_SIZE], *record, *at;
    qn_status st = QN_OK;

    record_name(slot->pending, name);
    QN_TRY(QN_NEW(record, all, name, err));
    memcpy(record, field, first);
    at = record + first;
    for (int i = 0; i < slot->n_parts; i++) {
        const size_t bytes = qn_buf_bytes(slot->parts[i]);
        void *data;

        if ((st = qn_buf_host(slot->parts[i], QN_HOST_READ, &data, err)) != QN_OK) {
            free(record);
            goto out;
        }
        memcpy(at, data, bytes);
        at += bytes;
    }
    st = qn_les_put_scratch(r->result, name, record, all, err);
out:
    return st;
}

/* The file. */

typedef struct nc_file {
    run *r;
    qn_nc to, from; /* from: that of the run before */
    const qn_les_variable *all[QN_LES_MAX_VARIABLES];
    int n, ids[QN_LES_MAX_VARIABLES];
    int time, step; /* variables */
    int has_members, shells;
    char *before; /* the path of `from` */
} nc_file;

static qn_nc_type type_of(const nc_file *f, const qn_les_variable *v)
{
    const int is_number = v->made == QN_LES_MADE_SPECTRA || v->made == QN_LES_MADE_NUMBERS;

    return is_number || f->r->config->precision == QN_LES_F64 ? QN_NC_DOUBLE : QN_NC_FLOAT;
}

static qn_status put_texts(qn_nc *to, int var, const char *const *texts, qn_err *err)
{
    qn_status st = QN_OK;

    for (; *texts; texts += 2)
        if (texts[1])
            QN_TRY(qn_nc_text(to, var, texts[0], texts[1], err));
out:
    return st;
}

#define PUT_TEXTS(to, var, ...) put_texts(to, var, (const char *const[]){ __VA_ARGS__, NULL }, err)

/* A dimension and its coordinate variable: 0, spacing, 2 * spacing, ... */
static qn_status add_axis(nc_file *f, const char *name, const char *axis, const char *long_name,
                          const char *units, int n, double spacing, int *dim, qn_err *err)
{
    const size_t start = 0, count = (size_t)n;
    double *values = NULL;
    int var;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(values, n, name, err));
    for (int i = 0; i < n; i++)
        values[i] = i * spacing;
    QN_TRY(qn_nc_dim(&f->to, name, count, dim, err));
    QN_TRY(qn_nc_var(&f->to, name, QN_NC_DOUBLE, 1, dim, &var, err));
    QN_TRY(PUT_TEXTS(&f->to, var, "long_name", long_name, "units", units, "axis", axis));
    QN_TRY(qn_nc_put(&f->to, var, &start, &count, values, err));
out:
    free(values);
    return st;
}

static qn_status add_variables(nc_file *f, qn_err *err)
{
    const qn_les_options *c = f->r->config;
    enum { TIME, MEMBER, Y, X, WAVE };
    int dims[5] = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_nc_dim(&f->to, "time", 0, &dims[TIME], err));
    QN_TRY(qn_nc_var(&f->to, "time", QN_NC_DOUBLE, 1, &dims[TIME], &f->time, err));
    QN_TRY(
        PUT_TEXTS(&f->to, f->time, "long_name", "time since the start", "units", "s", "axis", "T"));
    QN_TRY(qn_nc_var(&f->to, "step", QN_NC_INT, 1, &dims[TIME], &f->step, err));
    QN_TRY(PUT_TEXTS(&f->to, f->step, "long_name", "number of the time step", "units", "1"));
    if (f->has_members)
        QN_TRY(add_axis(f, "member", "E", "member of the ensemble", "1", c->ensemble, 1,
                        &dims[MEMBER], err));
    QN_TRY(add_axis(f, "y", "Y", "y", "m", c->N, c->L / c->N, &dims[Y], err));
    QN_TRY(add_axis(f, "x", "X", "x", "m", c->N, c->L / c->N, &dims[X], err));
    QN_TRY(add_axis(f, "wavenumber", NULL, "wavenumber", "m-1", f->shells, 2 * M_PI / c->L,
                    &dims[WAVE], err));
    for (int i = 0; i < f->n; i++) {
        const qn_les_variable *v = f->all[i];
        int own[QN_NC_MAX_DIMS] = { dims[TIME] }, n = 1;

        if (f->has_members)
            own[n++] = dims[MEMBER];
        if (v->made == QN_LES_MADE_SPECTRA)
            own[n++] = dims[WAVE];
        if (v->made != QN_LES_MADE_SPECTRA && v->made != QN_LES_MADE_NUMBERS) {
            own[n++] = dims[Y];
            own[n++] = dims[X];
        }
        QN_TRY(qn_nc_var(&f->to, v->name, type_of(f, v), n, own, &f->ids[i], err));
        QN_TRY(PUT_TEXTS(&f->to, f->ids[i], "standard_name", v->standard_name, "long_name",
                         v->long_name, "units", v->units));
    }
out:
    return st;
}

static qn_status add_globals(nc_file *f, qn_err *err)
{
    const qn_les_result *result = f->r->result;
    json_t *json = qn_les_options_json(f->r->config);
    char *config = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    char history[QN_LES_STAMP_SIZE + 1024];
    qn_status st = QN_OK;

    if (!config)
        QN_FAIL(err, QN_ERR_NOMEM, FLOW_NC ": no memory for its attributes");
    snprintf(history, sizeof history, "%s %s", result->stamp, f->r->config->command);
    QN_TRY(PUT_TEXTS(&f->to, QN_NC_GLOBAL, "Conventions", "CF-1.8", "title",
                     "2-D turbulence, vorticity and what follows from it", "source",
                     "quern les run", "history", history, "run_ts", result->stamp, "configuration",
                     config));
out:
    free(config);
    json_decref(json);
    return st;
}

/* The place of a variable at snapshot `k`. */
static void place_of(const nc_file *f, const qn_les_variable *v, int k, size_t start[5],
                     size_t count[5])
{
    const size_t side = (size_t)f->r->config->N;
    int n = 1;

    memset(start, 0, 5 * sizeof *start);
    start[0] = (size_t)k;
    count[0] = 1;
    if (f->has_members)
        count[n++] = (size_t)f->r->config->ensemble;
    if (v->made == QN_LES_MADE_SPECTRA)
        count[n] = (size_t)f->shells;
    else if (v->made != QN_LES_MADE_NUMBERS)
        count[n] = count[n + 1] = side;
}

static qn_status put_at(nc_file *f, int i, int k, const void *data, qn_err *err)
{
    size_t start[5], count[5];

    place_of(f, f->all[i], k, start, count);
    return qn_nc_put(&f->to, f->ids[i], start, count, data, err);
}

/* One number of all members. */
static qn_status put_number(nc_file *f, int i, int k, const qn_les_row *rows, qn_err *err)
{
    const int members = f->r->config->ensemble;
    double *values = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(values, members, f->all[i]->name, err));
    for (int m = 0; m < members; m++)
        values[m] = *(const double *)(const void *)((const char *)&rows[1 + m] + f->all[i]->row);
    QN_TRY(put_at(f, i, k, values, err));
out:
    free(values);
    return st;
}

static qn_status put_time(nc_file *f, int k, double time, int step, qn_err *err)
{
    const size_t start = (size_t)k, count = 1;
    const int32_t number = step;
    qn_status st = QN_OK;

    QN_TRY(qn_nc_put(&f->to, f->time, &start, &count, &time, err));
    QN_TRY(qn_nc_put(&f->to, f->step, &start, &count, &number, err));
out:
    return st;
}

static qn_status put_record(nc_file *f, int k, const char *record, qn_err *err)
{
    const int step = k * f->r->plan.snapshot;
    const char *at = record, *numbers = NULL;
    qn_status st = QN_OK;

    for (int i = 0; i < f->n && f->all[i]->made != QN_LES_MADE_LATE; i++) {
        if (f->all[i]->made == QN_LES_MADE_NUMBERS) {
            numbers = numbers ? numbers : at;
            QN_TRY(put_number(f, i, k, (const qn_les_row *)(const void *)numbers, err));
            continue;
        }
        QN_TRY(put_at(f, i, k, at, err));
        at += qn_les_variable_bytes(f->r->config, f->all[i]);
    }
    QN_TRY(put_time(f, k, ((const qn_les_row *)(const void *)numbers)[1].time, step, err));
out:
    return st;
}

/* From the file of the run before, which has the same variables. */
static qn_status copy_variable(nc_file *f, const char *name, int to, const size_t *start,
                               const size_t *count, size_t bytes, qn_err *err)
{
    char *data = NULL;
    int from;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(data, bytes, name, err));
    QN_TRY(qn_nc_find(&f->from, name, &from, err));
    QN_TRY(qn_nc_get(&f->from, from, start, count, data, err));
    QN_TRY(qn_nc_put(&f->to, to, start, count, data, err));
out:
    free(data);
    return st;
}

static qn_status copy_record(nc_file *f, int k, qn_err *err)
{
    size_t start[5] = { (size_t)k }, count[5] = { 1 };
    qn_status st = QN_OK;

    if (!f->from.is_open)
        QN_TRY(qn_nc_open(f->before, &f->from, err));
    QN_TRY(copy_variable(f, "time", f->time, start, count, sizeof(double), err));
    QN_TRY(copy_variable(f, "step", f->step, start, count, sizeof(int32_t), err));
    for (int i = 0; i < f->n && f->all[i]->made != QN_LES_MADE_LATE; i++) {
        place_of(f, f->all[i], k, start, count);
        QN_TRY(copy_variable(f, f->all[i]->name, f->ids[i], start, count,
                             qn_les_variable_bytes(f->r->config, f->all[i]), err));
    }
out:
    return st;
}

/* The bytes of a scratch file, NULL where there is none; the caller frees them. */
static qn_status read_scratch(nc_file *f, const char *name, size_t bytes, char **data, qn_err *err)
{
    char *path = NULL;
    size_t n;
    qn_status st = QN_OK;

    *data = NULL;
    QN_TRY(qn_run_folder_scratch(f->r->result->folder, name, &path, err));
    if (qn_file_read(path, data, &n, NULL) == QN_OK && n != bytes)
        QN_FAIL(err, QN_ERR_INPUT, "%s: %zu bytes, not %zu", path, n, bytes);
out:
    free(path);
    return st;
}

static qn_status put_late(nc_file *f, int i, int k, qn_err *err)
{
    const size_t bytes = qn_les_variable_bytes(f->r->config, f->all[i]);
    const int is_f64 = f->r->config->precision == QN_LES_F64;
    char name[QN_LES_NAME_SIZE], *data = NULL;
    qn_status st = QN_OK;

    qn_les_late_name((qn_les_field)f->all[i]->probe, k * f->r->plan.snapshot, name);
    QN_TRY(read_scratch(f, name, bytes, &data, err));
    if (!data) { /* not decoded: there is no encoded frame at this step */
        QN_TRY(QN_NEW(data, bytes, name, err));
        for (size_t j = 0; j < bytes / (is_f64 ? 8 : 4); j++)
            if (is_f64)
                ((double *)(void *)data)[j] = NAN;
            else
                ((float *)(void *)data)[j] = NAN;
    }
    QN_TRY(put_at(f, i, k, data, err));
out:
    free(data);
    return st;
}

static qn_status put_snapshot(nc_file *f, int k, size_t record_bytes, qn_err *err)
{
    char name[QN_LES_NAME_SIZE], *record = NULL;
    qn_status st = QN_OK;

    record_name(k * f->r->plan.snapshot, name);
    QN_TRY(read_scratch(f, name, record_bytes, &record, err));
    QN_TRY(record ? put_record(f, k, record, err) : copy_record(f, k, err));
    for (int i = 0; i < f->n; i++)
        if (f->all[i]->made == QN_LES_MADE_LATE)
            QN_TRY(put_late(f, i, k, err));
out:
    free(record);
    return st;
}

static size_t all_bytes(const nc_file *f)
{
    size_t bytes = 0;

    for (int i = 0; i < f->n && f->all[i]->made != QN_LES_MADE_LATE; i++)
        if (f->all[i]->made == QN_LES_MADE_VORTICITY || has_part(f->all, i))
            bytes += qn_les_variable_bytes(f->r->config, f->all[i]);
    return bytes;
}

qn_status qn_les_run_write_nc(run *r, qn_err *err)
{
    nc_file f = { .r = r,
                  .has_members = r->config->ensemble > 1,
                  .shells = qn_les_sim_shells(r->config) };
    char *path = NULL;
    qn_status st = QN_OK;

    if (!r->result->folder)
        return QN_OK;
    f.n = qn_les_variables(r->config, f.all);
    QN_TRY(qn_run_folder_path(r->result->folder, FLOW_NC, &path, err));
    QN_TRY(qn_text_new(&f.before, err, "%s/" FLOW_NC, r->config->out));
    QN_TRY(qn_nc_create(path, &f.to, err));
    QN_TRY(add_variables(&f, err));
    QN_TRY(add_globals(&f, err));
    for (int k = 0; k * r->plan.snapshot <= r->step; k++)
        QN_TRY(put_snapshot(&f, k, all_bytes(&f), err));
    QN_TRY(qn_nc_close(&f.to, err));
    QN_TRY(qn_run_folder_add(r->result->folder, FLOW_NC, err));
out:
    qn_nc_close(&f.to, NULL);
    qn_nc_close(&f.from, NULL);
    free(f.before);
    free(path);
    return st;
}
