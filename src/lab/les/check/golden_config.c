/* golden_config.c - turns the parameters of a reference case into options. */
#include "check_impl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PAIRS = 64, VALUE = 512 };

typedef struct pairs {
    const char *list[2 * MAX_PAIRS + 1];
    char values[MAX_PAIRS][VALUE];
    int n;
} pairs;

/* The last value of an option counts. */
static void put(pairs *p, const char *name, const char *value)
{
    int i = 0;

    while (i < p->n && strcmp(p->list[2 * i], name))
        i++;
    if (i == MAX_PAIRS)
        return;
    p->n += i == p->n;
    p->list[2 * i] = name;
    p->list[2 * i + 1] = p->values[i];
    snprintf(p->values[i], VALUE, "%s", value);
}

static void put_json(pairs *p, const char *name, const json_t *value)
{
    char text[64];

    if (json_is_string(value)) {
        put(p, name, json_string_value(value));
    } else if (json_is_integer(value)) {
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
        put(p, name, text);
    } else if (json_is_real(value)) {
        snprintf(text, sizeof text, "%.17g", json_real_value(value));
        put(p, name, text);
    }
}

/* Keys that are not the names of options: another name of an option, or a result that the file
 * records, with NULL. */
typedef struct word {
    const char *key, *option;
} word;

static const word at_top[] = {
    { "resid_mid_cut", "k_mid" },
    { "dashi_tau", "tau" },
    { "dashi_smooth_k", "smooth_k" },
    { "A_spectral_radius", NULL },
    { "D", NULL },
    { "M", NULL },
    { "box", NULL },
    { "decode_of_encode", NULL },
    { "diag", NULL },
    { "diagnostics", NULL },
    { "enc", NULL },
    { "enc_maxabsR", NULL },
    { "enc_near_tau", NULL },
    { "enc_support", NULL },
    { "ic_hat_sha256", NULL },
    { "kurtosis", NULL },
    { "learn", NULL },
    { "max_abs", NULL },
    { "n_high", NULL },
    { "n_low", NULL },
    { "n_mid", NULL },
    { "pipeline", NULL },
    { "tiny", NULL },
    { NULL, NULL },
};

/* In the members `codec`, `learn` and `tiny`. */
static const word in_codec[] = {
    { "resid_mid_cut", "k_mid" },
    { "width", "smooth_k" },
    { "D", NULL },
    { "T", NULL },
    { "cond_gram", NULL },
    { "gelfand16", NULL },
    { "n_high", NULL },
    { "n_low", NULL },
    { "n_mid", NULL },
    { "pairs_used", NULL },
    { "spectral_radius", NULL },
    { NULL, NULL },
};

static const word in_ic[] = {
    { "kind", "ic" },      { "shape", "ic_shape" }, { "k0", "ic_k0" }, { "kmax", "ic_kmax" },
    { "norm", "ic_norm" }, { "value", "ic_value" }, { NULL, NULL },
};

/* `key` without a time at its end, "_t100". */
static size_t stem_of(const char *key)
{
    size_t n = strlen(key), end = n;

    while (end > 0 && key[end - 1] >= '0' && key[end - 1] <= '9')
        end--;
    return end < n && end > 2 && key[end - 1] == 't' && key[end - 2] == '_' ? end - 2 : n;
}

/* Every key of `object` must be known, so that no parameter of a case is ignored. */
static qn_status put_all(pairs *p, json_t *object, const word *words, const char *where,
                         qn_err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        const size_t n = stem_of(key);
        const word *w = words;

        while (w->key && (strncmp(w->key, key, n) || w->key[n]))
            w++;
        if (!w->key && !qn_option_find(qn_les_option_table(), key))
            return qn_fail(err, QN_ERR_INPUT, "%sthere is no parameter '%s'", where, key);
        if (!w->key || w->option)
            put_json(p, w->key ? w->option : key, value);
    }
    return QN_OK;
}

static void put_forcing(pairs *p, const json_t *forcing)
{
    if (!json_is_array(forcing))
        return;
    put(p, "forcing", "kolmogorov");
    put_json(p, "forcing_amplitude", json_array_get(forcing, 0));
    put_json(p, "forcing_k", json_array_get(forcing, 1));
}

/* The initial field of an origin case comes from another generator, so it is read from its file. */
static void put_files(pairs *p, const char *dir, const char *prefix, int is_origin)
{
    char path[VALUE];

    snprintf(path, sizeof path, "%s/%s_omega_t0.npy", dir, prefix);
    if (is_origin && access(path, R_OK) == 0)
        put(p, "ic_file", path);
}

/* What the files of before do not say: how quern stepped when they were made. */
static void put_old_defaults(pairs *p, const json_t *json)
{
    put(p, "integrator", "heun");
    put(p, "dt_mode", json_object_get(json, "dt") ? "fixed" : "auto");
}

qn_status qn_les_golden_config(const char *dir, const char *prefix, const json_t *json, int is_f64,
                               int is_tiny, qn_option_store *store, qn_les_options *out,
                               qn_err *err)
{
    const char *profile = json_string_value(json_object_get(json, "profile"));
    const json_t *tiny = json_object_get(json, "tiny");
    char steps[16];
    qn_status st = QN_OK;
    pairs p = { .n = 0 };

    if (!profile)
        profile = strstr(prefix, "origin") ? "origin" : "quern";
    put(&p, "profile", profile);
    put(&p, "observer", "none");
    put(&p, "precision", is_f64 ? "f64" : "f32");
    put_old_defaults(&p, json);
    QN_TRY(put_all(&p, (json_t *)json, at_top, "", err));
    QN_TRY(put_all(&p, json_object_get(json, "ic"), in_ic, "ic: ", err));
    QN_TRY(put_all(&p, json_object_get(json, "codec"), in_codec, "codec: ", err));
    QN_TRY(put_all(&p, json_object_get(json, "learn"), in_codec, "learn: ", err));
    put_forcing(&p, json_object_get(json, "forcing"));
    put_files(&p, dir, prefix, !strcmp(profile, "origin"));
    if (is_tiny) {
        QN_TRY(put_all(&p, (json_t *)tiny, in_codec, "tiny: ", err));
        snprintf(steps, sizeof steps, "%lld",
                 (long long)json_integer_value(json_object_get(tiny, "T")));
        put(&p, "steps", steps);
        put(&p, "train_frac", "1");
    }
    p.list[2 * p.n] = NULL;
    QN_TRY(qn_les_options_make(NULL, p.list, store, out, err));
out:
    if (st != QN_OK && err)
        qn_prefix(err, "%s.json", prefix);
    return st;
}
