/* folder.c - plan, stamp and files of the folder of a run. */
#include "folder.h"

#include "schedule.h"

#include "util/clock.h"
#include "util/hash.h"
#include "util/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plan: "les 20260131T120000Z N=64 L=6.28 ..." */

enum { TOOL = sizeof "les " - 1, PLAN_HEAD = TOOL + QN_LES_STAMP_SIZE };

/* Arrays in memory have no text: they stand in the plan by their content. */
static uint64_t hash_arrays(const qn_les_options *c)
{
    uint64_t hash = qn_fnv1a64_add(QN_FNV1A64_START, &c->n_ic_field, sizeof c->n_ic_field);

    hash = qn_fnv1a64_add(hash, c->ic_field, c->n_ic_field * sizeof *c->ic_field);
    hash = qn_fnv1a64_add(hash, c->forcing_field, c->n_forcing_field * sizeof *c->forcing_field);
    return qn_fnv1a64_add(hash, c->phase_field, c->n_phase_field * sizeof *c->phase_field);
}

/* One word: spaces separate the words of a plan. */
static void add_word(qn_str *plan, const char *key, const char *text, size_t n)
{
    qn_str_addf(plan, " %s=", key);
    for (size_t i = 0; i < n; i++)
        qn_str_add_n(plan, text[i] == ' ' ? "_" : text + i, 1);
}

static qn_status make_plan(const qn_les_options *config, const char *stamp, qn_str *plan,
                           qn_err *err)
{
    static const char *const free_to_differ[] = {
        "out",   "log_metrics", "resume", "resume_with_changes", "checkpoint_every",
        "video", "clim",        "backend"
    };
    json_t *json = qn_les_options_json(config);
    const char *key;
    json_t *value;

    for (size_t i = 0; json && i < sizeof free_to_differ / sizeof *free_to_differ; i++)
        json_object_del(json, free_to_differ[i]);
    qn_str_addf(plan, "les %s", stamp);
    json_object_foreach(json, key, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(17));
        const size_t quote = json_is_string(value); /* without quotes, but still one line */

        if (text)
            add_word(plan, key, text + quote, strlen(text) - 2 * quote);
        plan->failed |= !text;
        free(text);
    }
    qn_str_addf(plan, " arrays=%016llx", (unsigned long long)hash_arrays(config));
    plan->failed |= !json;
    json_decref(json);
    return plan->failed ? qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its plan", config->out)
                        : QN_OK;
}

/* The word "key=..." of a plan; "" when it has none. */
static const char *word_of(const char *plan, const char *key, size_t n)
{
    for (const char *at = plan; *at; at += strcspn(at, " "), at += *at == ' ')
        if (!strncmp(at, key, n) && at[n] == '=')
            return at;
    return "";
}

static size_t word_bytes(const char *word)
{
    return strcspn(word, " ");
}

static long number_in(const char *plan, const char *key)
{
    const char *word = word_of(plan, key, strlen(key));

    return *word ? strtol(word + strlen(key) + 1, NULL, 10) : 0;
}

void qn_les_stamp(char out[QN_LES_STAMP_SIZE])
{
    char utc[QN_UTC_SIZE];
    int n = 0;

    qn_utc(utc);
    for (const char *c = utc; *c && n < QN_LES_STAMP_SIZE - 1; c++)
        if (*c != '-' && *c != ':')
            out[n++] = *c;
    out[n] = 0;
}

/* Another plan. A run goes on with more steps; with other physics where the user says so; never with
 * another grid, nor with another record, since its beginning is there already. */

typedef struct proposal {
    const qn_les_options *config;
    const char *plan;
    qn_str changes; /* "nu0=0.002 instead of nu0=0.0001", with commas between */
} proposal;

static int is_one_of(const char *const *keys, const char *word)
{
    const size_t n = strcspn(word, "=");

    for (; *keys; keys++)
        if (strlen(*keys) == n && !strncmp(*keys, word, n))
            return 1;
    return 0;
}

static int is_of_grid(const char *word)
{
    static const char *const keys[] = { "N", "L", "precision", "ensemble", NULL };

    return is_one_of(keys, word);
}

static int is_physics(const char *word)
{
    static const char *const others[] = {
        "profile",     "stride",     "encode_every",  "hash_every", "log_every",
        "dealias",     "ic",         "ic_file",       "ic_shape",   "ic_k0",
        "ic_kmax",     "ic_norm",    "ic_value",      "ic_width",   "seed",
        "codec",       "k_cut",      "k_mid",         "tau",        "smooth",
        "maj_iters",   "smooth_k",   "pairs",         "topk_mid",   "ridge",
        "phases",      "train_frac", "standardize",   "stabilize",  "rollout",
        "what",        "observer",   "residual_seed", "gate",       "hold",
        "kernel_only", "arrays",     "format",        NULL
    };

    return !is_one_of(others, word);
}

long qn_les_folder_step(const qn_run_folder *folder, int *is_kept)
{
    const char *at = qn_run_folder_fact(folder, "checkpoint");
    const char *kept = qn_run_folder_fact(folder, "kept");
    const long a = at ? strtol(at, NULL, 10) : 0, b = kept ? strtol(kept, NULL, 10) : 0;

    *is_kept = b > 0 && b >= a;
    return b > a ? b : a;
}

static qn_status accept_steps(const proposal *p, const qn_run_folder *folder, const char *was,
                              qn_err *err)
{
    const long before = number_in(was, "steps");
    const int is_over = qn_run_folder_state(folder) == QN_RUN_FINISHED;
    const qn_les_options *c = p->config;
    int is_kept;
    const long made = qn_les_folder_step(folder, &is_kept);

    if (is_over && c->steps <= before)
        return qn_fail(err, QN_ERR_MISMATCH,
                       "%s: the run in this folder is finished with %ld steps: give more --steps",
                       c->out, before);
    if (c->steps < made)
        return qn_fail(
            err, QN_ERR_MISMATCH,
            "%s: the run in this folder has made %ld steps already, more than --steps %d", c->out,
            made, c->steps);
    if (is_over && !is_kept)
        return qn_fail(
            err, QN_ERR_MISMATCH,
            "%s: the run in this folder is finished and kept no checkpoint to go on from, "
            "since it had no --checkpoint-every: start again without --resume",
            c->out);
    return QN_OK;
}

static qn_status accept_word(proposal *p, const qn_run_folder *folder, const char *was,
                             const char *is, qn_err *err)
{
    const char *const any = *is ? is : was;

    if (!strncmp(any, "steps=", 6))
        return QN_OK;
    if (!strncmp(any, "log_every=", 10) && *was && *is &&
        number_in(is, "log_every") % number_in(was, "log_every") == 0)
        return QN_OK;
    if (is_of_grid(any))
        return qn_run_folder_refuse(folder, was, is,
                                    "a run continues on its own grid only: use another folder, or "
                                    "start again without --resume",
                                    err);
    if (!is_physics(any))
        return qn_run_folder_refuse(folder, was, is,
                                    "repeat its options, or start again without --resume", err);
    if (!p->config->resume_with_changes)
        return qn_run_folder_refuse(
            folder, was, is,
            "repeat its options, add --resume-with-changes, or start again without --resume", err);
    qn_str_addf(&p->changes, "%s%.*s instead of %.*s", p->changes.len ? ", " : "",
                (int)word_bytes(is), is, (int)word_bytes(was), was);
    return QN_OK;
}

/* Words of `plan` that `other` has differently; those that only `other` has are found the other way
 * round. */
static qn_status accept_words(proposal *p, const qn_run_folder *folder, const char *was, int is_new,
                              qn_err *err)
{
    const char *const plan = is_new ? p->plan : was, *const other = is_new ? was : p->plan;
    qn_status st = QN_OK;

    for (const char *at = plan; *at; at += word_bytes(at), at += *at == ' ') {
        const size_t n = word_bytes(at), key = strcspn(at, "=");
        const char *there = key < n ? word_of(other, at, key) : "";

        if (key >= n || (is_new ? word_bytes(there) == n && !strncmp(at, there, n) : *there != 0))
            continue;
        QN_TRY(is_new ? accept_word(p, folder, there, at, err)
                      : accept_word(p, folder, at, "", err));
    }
out:
    return st;
}

static qn_status accept(void *user, const qn_run_folder *folder, const char *was, qn_err *err)
{
    proposal *p = user;
    qn_status st = QN_OK;

    if (strncmp(was, p->plan, TOOL))
        return qn_run_folder_refuse(folder, was, p->plan, "use another folder", err);
    if (strncmp(was, p->plan, PLAN_HEAD))
        return qn_run_folder_refuse(folder, was + TOOL, p->plan + TOOL,
                                    "start again without --resume", err);
    QN_TRY(accept_words(p, folder, was, 1, err));
    QN_TRY(accept_words(p, folder, was, 0, err));
    QN_TRY(accept_steps(p, folder, was, err));
out:
    return st;
}

/* Opening. */

/* The stamp of the run that is continued; it goes into the new plan, whoever wrote the old one. */
static int read_stamp(const char *plan, char out[QN_LES_STAMP_SIZE])
{
    return plan && sscanf(plan, "les %16[0-9TZ] ", out) == 1 &&
           strlen(out) == QN_LES_STAMP_SIZE - 1;
}

static const char *options_of(const char *plan)
{
    return strlen(plan) > PLAN_HEAD ? plan + PLAN_HEAD : plan;
}

/* About 200 rows, of those that the run before wrote, which cannot be made again. */
static int choose_log(const qn_les_options *config, const char *was)
{
    const int own = qn_les_log_interval(config);
    const long before = was ? number_in(was, "log_every") : 0;

    return before > 0 && before <= config->steps && own % before ? (int)before : own;
}

static qn_status note_changes(proposal *p, qn_run_folder *folder, qn_err *err)
{
    const char *before = qn_run_folder_fact(folder, "changes");
    qn_str line = { 0 };
    qn_status st = QN_OK;
    int is_kept;

    if (!p->changes.len)
        return QN_OK;
    qn_str_addf(&line, "%s%sfrom step %ld with %s", before ? before : "", before ? "; " : "",
                qn_les_folder_step(folder, &is_kept), qn_str_get(&p->changes));
    st = line.failed || p->changes.failed
             ? qn_fail(err, QN_ERR_NOMEM, "%s: no memory for its plan", p->config->out)
             : qn_run_folder_note(folder, "changes", qn_str_get(&line), err);
    qn_str_free(&line);
    return st;
}

qn_status qn_les_folder_open(qn_les_options *config, char stamp[QN_LES_STAMP_SIZE], int *is_shared,
                             qn_run_folder **out, qn_err *err)
{
    char *was = qn_run_folder_plan(config->out);
    proposal p = { .config = config };
    qn_run_folder_options options = {
        .path = config->out, .resume = config->resume, .accept = accept, .user = &p
    };
    qn_run_folder *folder = NULL;
    qn_str plan = { 0 };
    qn_status st = QN_OK;

    if (!config->resume || !read_stamp(was, stamp))
        qn_les_stamp(stamp);
    if (!config->log_every)
        config->log_every = choose_log(config, config->resume ? was : NULL);
    QN_TRY(make_plan(config, stamp, &plan, err));
    options.plan = p.plan = qn_str_get(&plan);
    QN_TRY(qn_run_folder_open(&options, &folder, err));
    QN_TRY(note_changes(&p, folder, err));
    *is_shared = !config->resume && was && strcmp(options_of(was), options_of(p.plan)) != 0;
    *out = folder;
    folder = NULL;
out:
    qn_run_folder_close(folder);
    qn_str_free(&p.changes);
    qn_str_free(&plan);
    free(was);
    return st;
}
