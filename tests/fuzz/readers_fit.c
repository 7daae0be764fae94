/* readers_fit.c - programs of fit, and the data that they read. */
#include "fuzz.h"

#include "domain/fit/mesh/mesh.h"
#include "domain/fit/read/read.h"
#include "domain/fit/text/text.h"

/* Every file that the program names is the program itself. */
static qn_status read_itself(void *user, const char *name, char **data, size_t *n, qn_err *err)
{
    const fuzz_input *in = user;

    if (!(*data = malloc(in->n + 1)))
        return qn_fail(err, QN_ERR_NOMEM, "%s", name);
    memcpy(*data, in->bytes, in->n);
    (*data)[in->n] = 0;
    *n = in->n;
    return QN_OK;
}

static qn_status read_program(const fuzz_input *in, qn_err *err)
{
    const qn_fit_files files = { read_itself, NULL, (void *)(uintptr_t)in };
    qn_fit_text *text = NULL;
    qn_str faults = { 0 };
    const qn_status st =
        qn_fit_text_load("a.fit", (const char *)in->bytes, in->n,
                         &(qn_fit_text_options){ .files = &files }, &text, &faults, err);

    if (st == QN_OK)
        qn_fit_text_free(text);
    qn_str_free(&faults);
    return st;
}

static qn_status use_mesh(qn_status st, qn_fit_mesh *mesh, qn_err *err)
{
    qn_fit_topology topology = { 0 };

    if (st == QN_OK && (st = qn_fit_topology_new(mesh, &topology, err)) == QN_OK)
        qn_fit_topology_free(&topology);
    qn_fit_mesh_free(mesh);
    return st;
}

static qn_status read_obj(const fuzz_input *in, qn_err *err)
{
    qn_fit_mesh mesh = { 0 };

    return use_mesh(qn_fit_obj_parse("a.obj", (const char *)in->bytes, in->n, &mesh, err), &mesh,
                    err);
}

static qn_status read_ply(const fuzz_input *in, qn_err *err)
{
    qn_fit_mesh mesh = { 0 };

    return use_mesh(qn_fit_ply_parse("a.ply", (const char *)in->bytes, in->n, &mesh, err), &mesh,
                    err);
}

static qn_status read_bal(const fuzz_input *in, qn_err *err)
{
    qn_fit_bal bal = { 0 };
    const qn_status st = qn_fit_bal_parse("a.bal", (const char *)in->bytes, in->n, &bal, err);

    if (st == QN_OK)
        for (uint32_t i = 0; i < bal.n_obs; i++)
            fuzz_must(bal.cam[i] < bal.n_cameras && bal.pt[i] < bal.n_points,
                      "an observation of nothing");
    qn_fit_bal_free(&bal);
    return st;
}

static qn_status read_nist(const fuzz_input *in, qn_err *err)
{
    qn_fit_table table = { 0 };
    const qn_status st = qn_fit_nist_parse("a.dat", (const char *)in->bytes, in->n, &table, err);

    qn_fit_table_free(&table);
    return st;
}

static qn_status read_table(const fuzz_input *in, qn_err *err)
{
    qn_fit_table table = { 0 };
    const qn_status st = qn_fit_csv_parse("a.csv", (const char *)in->bytes, in->n, (int)(in->n & 1),
                                          ';', &table, err);

    qn_fit_table_free(&table);
    return st;
}

const fuzz_reader fuzz_fit[] = {
    { .name = "fit", .read = read_program },
    { .name = "obj", .read = read_obj },
    { .name = "ply", .read = read_ply },
    { .name = "bal", .read = read_bal },
    { .name = "nist", .read = read_nist },
    { .name = "fit-table", .read = read_table },
    { .name = NULL },
};
