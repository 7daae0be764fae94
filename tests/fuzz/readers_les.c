/* readers_les.c - settings and checkpoints of flows. */
#include "fuzz.h"

#include "domain/les/flow/sim.h"
#include "domain/les/run/checkpoint.h"
#include "util/hash.h"

static qn_status read_settings(const fuzz_input *in, qn_err *err)
{
    qn_option_store store = { 0 };
    qn_les_options options;
    const qn_status st = qn_les_options_make(in->path, NULL, &store, &options, err);

    qn_option_store_free(&store);
    return st;
}

/* Checkpoints: checkpoint.h describes the file. */

enum { PAYLOAD_BYTES = 8, PAYLOAD_HASH = 16, HEAD = 48 };

static const qn_les_options *config_of_checkpoint(void)
{
    static const char *const pairs[] = { "n", "16", "what", "sim", NULL };
    static qn_les_options config;
    qn_err err;

    if (!config.size)
        fuzz_ok(qn_les_options_make(NULL, pairs, NULL, &config, &err), &err);
    return &config;
}

static qn_les_sim *sim_of_checkpoint(void)
{
    static qn_les_sim *sim;
    qn_err err;

    if (!sim)
        fuzz_ok(qn_les_sim_new(fuzz_ctx(), config_of_checkpoint(), &sim, &err), &err);
    return sim;
}

static void mend_checkpoint(uint8_t *bytes, size_t n)
{
    const uint64_t payload = n - HEAD;

    if (n < HEAD)
        return;
    memcpy(bytes + PAYLOAD_BYTES, &payload, sizeof payload);
    qn_sha256_of(bytes + HEAD, (size_t)payload, bytes + PAYLOAD_HASH);
}

static void seed_checkpoint(const char *path)
{
    qn_les_saved saved = { .step = 3 };
    qn_les_sim *sim = sim_of_checkpoint();
    qn_out out;
    qn_err err;

    fuzz_ok(qn_les_saved_grow(&saved, QN_LES_SAVED_SIM, qn_les_sim_save_bytes(sim), &err), &err);
    fuzz_ok(qn_les_sim_save(sim, saved.parts[QN_LES_SAVED_SIM].data, &err), &err);
    fuzz_ok(qn_out_direct(path, &out, &err), &err);
    fuzz_ok(qn_les_checkpoint_write(&out, &saved, &err), &err);
    qn_les_saved_free(&saved);
}

/* A state that is accepted must allow steps and queries. */
static qn_status use_state(const qn_les_bytes *state, qn_err *err)
{
    qn_les_sim *sim = sim_of_checkpoint();
    qn_les_progress progress;
    qn_graph *graph = NULL;
    qn_status st = QN_OK;

    if (state->n != qn_les_sim_save_bytes(sim))
        return QN_OK;
    QN_TRY(qn_les_sim_restore(sim, state->data, err));
    QN_TRY(qn_graph_new(fuzz_ctx(), "steps", &graph, err));
    QN_TRY(qn_les_sim_add_steps(sim, graph, 1, err));
    QN_TRY(qn_les_sim_add_check(sim, graph, err));
    QN_TRY(qn_graph_run(graph, err));
    QN_TRY(qn_les_sim_progress(sim, &progress, err));
out:
    qn_graph_free(graph);
    return st;
}

static qn_status read_checkpoint(const fuzz_input *in, qn_err *err)
{
    qn_les_saved saved = { 0 };
    qn_status st = QN_OK;

    QN_TRY(qn_les_checkpoint_read(in->path, &saved, err));
    QN_TRY(use_state(&saved.parts[QN_LES_SAVED_SIM], err));
out:
    qn_les_saved_free(&saved);
    return st;
}

const fuzz_reader fuzz_les[] = {
    { .name = "settings", .file = "a.json", .read = read_settings },
    { .name = "checkpoint",
      .file = "les_checkpoint.qnc",
      .read = read_checkpoint,
      .mend = mend_checkpoint,
      .seed = seed_checkpoint },
    { .name = NULL },
};
