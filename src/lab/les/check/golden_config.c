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

typedef struct word {
    const char *key, *option;
} word;

static void put_words(pairs *p, const json_t *object, const word *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_json(p, words[i].option, json_object_get(object, words[i].key));
}

#define PUT_WORDS(p, object, words) put_words(p, object, words, sizeof words / sizeof *words)

static const word plain[] = {
    { "N", "N" },
    { "seed", "seed" },
    { "L", "L" },
    { "form", "form" },
    { "dealias", "dealias" },
    { "visc", "visc" },
    { "nu_update", "nu_update" },
    { "lap_dc", "lap_dc" },
    { "dt", "dt" },
    { "nu0", "nu0" },
    { "Cs", "Cs" },
    { "drag", "drag" },
    { "mean_u", "mean_u" },
    { "mean_v", "mean_v" },
    { "steps", "steps" },
    { "residual_seed", "residual_seed" },
};

/* Also in the members `codec`, `learn` and `tiny`. */
static const word codec[] = {
    { "k_cut", "k_cut" },           { "k_mid", "k_mid" },
    { "resid_mid_cut", "k_mid" },   { "tau", "tau" },
    { "dashi_tau", "tau" },         { "smooth_k", "smooth_k" },
    { "width", "smooth_k" },        { "dashi_smooth_k", "smooth_k" },
    { "pairs", "pairs" },           { "topk_mid", "topk_mid" },
    { "maj_iters", "maj_iters" },   { "ridge", "ridge" },
    { "train_frac", "train_frac" },
};

static const word start[] = {
    { "kind", "ic" },      { "shape", "ic_shape" }, { "k0", "ic_k0" },
    { "kmax", "ic_kmax" }, { "norm", "ic_norm" },   { "value", "ic_value" },
};

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

qn_status qn_les_golden_config(const char *dir, const char *prefix, const json_t *json, int is_f64,
                               int is_tiny, qn_option_store *store, qn_les_options *out,
                               qn_err *err)
{
    const char *profile = json_string_value(json_object_get(json, "profile"));
    const json_t *tiny = json_object_get(json, "tiny");
    char steps[16];
    qn_status st;
    pairs p = { .n = 0 };

    if (!profile)
        profile = strncmp(prefix, "origin", 6) ? "quern" : "origin";
    put(&p, "profile", profile);
    put(&p, "observer", "none");
    put(&p, "precision", is_f64 ? "f64" : "f32");
    PUT_WORDS(&p, json, plain);
    PUT_WORDS(&p, json, codec);
    PUT_WORDS(&p, json_object_get(json, "ic"), start);
    PUT_WORDS(&p, json_object_get(json, "codec"), codec);
    PUT_WORDS(&p, json_object_get(json, "learn"), codec);
    if (json_is_string(json_object_get(json, "ic")))
        put_json(&p, "ic", json_object_get(json, "ic"));
    put_forcing(&p, json_object_get(json, "forcing"));
    put_files(&p, dir, prefix, !strcmp(profile, "origin"));
    if (is_tiny) {
        PUT_WORDS(&p, tiny, codec);
        snprintf(steps, sizeof steps, "%lld",
                 (long long)json_integer_value(json_object_get(tiny, "T")));
        put(&p, "steps", steps);
        put(&p, "train_frac", "1");
    }
    p.list[2 * p.n] = NULL;
    if ((st = qn_les_options_make(NULL, p.list, store, out, err)) != QN_OK && err)
        qn_prefix(err, "%s.json", prefix);
    return st;
}
