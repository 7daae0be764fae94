/* params.c - parameter files in UMEP's layout: sections, each with a Value object.
 *
 * Materials are listed by name, and Names maps ids to names. Every number is checked against its
 * limits, and an error names its whole path in the file.
 */
#include "params.h"
#include "util/json.h"

#include <stdlib.h>
#include <strings.h>

typedef struct {
    const char *path;
    const json_t *root;
    qn_err *err;
} file;

/* The object at "Albedo/Effective"/Value; *out is NULL if there is none. */
static qn_status find_values(const file *f, const char *section, const char *part,
                             const json_t **out)
{
    const json_t *at = json_object_get(f->root, section);

    if (at && part)
        at = json_object_get(at, part);
    *out = at ? json_object_get(at, "Value") : NULL;
    if (at && !json_is_object(*out))
        return qn_fail(f->err, QN_ERR_INPUT, "%s: %s%s%s has no object Value", f->path, section,
                       part ? "." : "", part ? part : "");
    return QN_OK;
}

/* Sets *out to values[key], if there is one. */
static qn_status take_number(const file *f, const char *section, const json_t *values,
                             const char *key, double min, double max, double *out)
{
    const json_t *member = values ? json_object_get(values, key) : NULL;
    const double value = json_number_value(member);

    if (!member)
        return QN_OK;
    if (!json_is_number(member))
        return qn_fail(f->err, QN_ERR_INPUT, "%s: %s.%.60s is not a number", f->path, section, key);
    if (!(value >= min && value <= max))
        return qn_fail(f->err, QN_ERR_INPUT, "%s: %s.%.60s = %g is outside %g .. %g", f->path,
                       section, key, value, min, max);
    *out = value;
    return QN_OK;
}

static qn_status take_float(const file *f, const char *section, const json_t *values,
                            const char *key, double min, double max, float *out)
{
    double value = *out;
    const qn_status st = take_number(f, section, values, key, min, max, &value);

    *out = (float)value;
    return st;
}

static qn_status take_day(const file *f, const json_t *values, const char *key, int *out)
{
    double value = *out;
    const qn_status st = take_number(f, "Tree_settings", values, key, 1, 366, &value);

    *out = (int)value;
    return st;
}

/* Materials. */

typedef struct {
    const json_t *names, *albedo, *emissivity, *tgk, *tstart, *tmaxlst;
} tables;

static qn_status take_wave(const file *f, const tables *t, const char *name, qn_sw_material *m)
{
    qn_status st = QN_OK;

    QN_TRY(take_float(f, "Ts_deg", t->tgk, name, -10, 10, &m->tgk));
    QN_TRY(take_float(f, "Tstart", t->tstart, name, -100, 100, &m->tstart));
    QN_TRY(take_float(f, "TmaxLST", t->tmaxlst, name, 0, 24, &m->tmaxlst));
out:
    return st;
}

static qn_status take_covers(const file *f, const tables *t, qn_sw_params *params)
{
    qn_status st = QN_OK;
    const char *key;
    json_t *name;

    json_object_foreach((json_t *)t->names, key, name)
    {
        char *end;
        const long id = strtol(key, &end, 10);

        if (end == key || *end || !json_is_string(name)) {
            st = qn_fail(f->err, QN_ERR_INPUT, "%s: Names.%.60s is not an id with a name", f->path,
                         key);
            goto out;
        }
        if (id < 0 || id >= QN_SW_COVERS)
            continue; /* walls have their own entry */
        qn_sw_material *m = &params->cover[id];
        const char *text = json_string_value(name);

        QN_TRY(take_float(f, "Albedo.Effective", t->albedo, text, 0, 1, &m->albedo));
        QN_TRY(take_float(f, "Emissivity", t->emissivity, text, 0, 1, &m->emissivity));
        QN_TRY(take_wave(f, t, text, m));
    }
out:
    return st;
}

static qn_status take_materials(const file *f, qn_sw_params *params)
{
    qn_status st = QN_OK;
    tables t = { 0 };

    QN_TRY(find_values(f, "Names", NULL, &t.names));
    QN_TRY(find_values(f, "Albedo", "Effective", &t.albedo));
    QN_TRY(find_values(f, "Emissivity", NULL, &t.emissivity));
    QN_TRY(find_values(f, "Ts_deg", NULL, &t.tgk));
    QN_TRY(find_values(f, "Tstart", NULL, &t.tstart));
    QN_TRY(find_values(f, "TmaxLST", NULL, &t.tmaxlst));
    if (t.names)
        QN_TRY(take_covers(f, &t, params));
    QN_TRY(take_wave(f, &t, "Walls", &params->wall));
out:
    return st;
}

/* Trees and person. */

static qn_status take_trees(const file *f, qn_sw_params *params)
{
    qn_sw_trees t = {
        .leaf_on = 0.03, .leaf_off = 0.5, .first_leaf_day = 100, .last_leaf_day = 300
    };
    double ratio = 0.25;
    qn_status st = QN_OK;
    const json_t *v;

    QN_TRY(find_values(f, "Tree_settings", NULL, &v));
    QN_TRY(take_number(f, "Tree_settings", v, "Transmissivity", 0, 1, &t.leaf_on));
    QN_TRY(take_number(f, "Tree_settings", v, "Transmissivity_leafoff", 0, 1, &t.leaf_off));
    QN_TRY(take_number(f, "Tree_settings", v, "Trunk_ratio", 0, 1, &ratio));
    QN_TRY(take_day(f, v, "First_day_leaf", &t.first_leaf_day));
    QN_TRY(take_day(f, v, "Last_day_leaf", &t.last_leaf_day));
    params->trees = t;
    params->trunk_ratio = ratio;
out:
    return st;
}

/* Reads one of two words; *out is unchanged if it is absent. */
static qn_status take_word(const file *f, const char *section, const json_t *values,
                           const char *key, const char *zero, const char *one, int *out)
{
    const json_t *member = values ? json_object_get(values, key) : NULL;
    const char *text = json_string_value(member);

    if (!member)
        return QN_OK;
    if (!text || (strcasecmp(text, zero) != 0 && strcasecmp(text, one) != 0))
        return qn_fail(f->err, QN_ERR_INPUT, "%s: %s.%s is neither %s nor %s", f->path, section,
                       key, zero, one);
    *out = strcasecmp(text, one) == 0;
    return QN_OK;
}

/* Reads metres; values above 3 are centimetres. */
static qn_status take_height(const file *f, const json_t *values, double *out)
{
    double height = *out;
    const qn_status st = take_number(f, "PET_settings", values, "Height", 0.1, 300, &height);

    if (st == QN_OK)
        *out = height > 3 ? height / 100 : height;
    return st;
}

static qn_status take_person(const file *f, qn_sw_params *params)
{
    qn_sw_person p = params->person;
    int is_sitting = p.pose == QN_SW_SITTING;
    qn_status st = QN_OK;
    const json_t *v;

    QN_TRY(find_values(f, "Tmrt_params", NULL, &v));
    QN_TRY(take_number(f, "Tmrt_params", v, "absK", 0, 1, &p.abs_k));
    QN_TRY(take_number(f, "Tmrt_params", v, "absL", 0, 1, &p.abs_l));
    QN_TRY(take_word(f, "Tmrt_params", v, "posture", "Standing", "Sitting", &is_sitting));
    p.pose = is_sitting ? QN_SW_SITTING : QN_SW_STANDING;

    QN_TRY(find_values(f, "PET_settings", NULL, &v));
    QN_TRY(take_number(f, "PET_settings", v, "Age", 1, 150, &p.age));
    QN_TRY(take_number(f, "PET_settings", v, "Weight", 1, 500, &p.weight_kg));
    QN_TRY(take_height(f, v, &p.height_m));
    QN_TRY(take_word(f, "PET_settings", v, "Sex", "Male", "Female", &p.is_female));
    QN_TRY(take_number(f, "PET_settings", v, "Activity", 0, 2000, &p.activity_w));
    QN_TRY(take_number(f, "PET_settings", v, "clo", 0, 10, &p.clo));

    QN_TRY(find_values(f, "Wind_Height", NULL, &v));
    QN_TRY(take_number(f, "Wind_Height", v, "magl", 0.1, 1000, &params->wind_height_m));
    params->person = p;
out:
    return st;
}

static qn_status take_posture(const file *f, const char *name, qn_sw_posture *posture)
{
    qn_status st = QN_OK;
    const json_t *v;

    QN_TRY(find_values(f, "Posture", name, &v));
    QN_TRY(take_number(f, "Posture", v, "Fside", 0, 1, &posture->f_side));
    QN_TRY(take_number(f, "Posture", v, "Fup", 0, 1, &posture->f_up));
    QN_TRY(take_number(f, "Posture", v, "Fcyl", 0, 1, &posture->f_cyl));
    QN_TRY(take_number(f, "Posture", v, "height", 0, 3, &posture->height));
out:
    return st;
}

qn_status qn_sw_params_read(const char *path, qn_sw_params *params, qn_err *err)
{
    qn_sw_params read = *params;
    qn_status st = QN_OK;
    json_t *root = NULL;

    QN_TRY(qn_json_read(path, &root, err));
    const file f = { path, root, err };
    QN_TRY(take_materials(&f, &read));
    QN_TRY(take_trees(&f, &read));
    QN_TRY(take_person(&f, &read));
    QN_TRY(take_posture(&f, "Standing", &read.posture[QN_SW_STANDING]));
    QN_TRY(take_posture(&f, "Sitting", &read.posture[QN_SW_SITTING]));
    *params = read;
out:
    json_decref(root);
    return st;
}
