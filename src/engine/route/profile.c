/* profile.c - reads and writes device profiles as JSON. */
#include "engine/route/route.h"

#include "hal/cpu/cpu_host.h"
#include "util/env.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/json.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char format[] = "quern-profile/1";

int qn_profile_is_used(void)
{
    return qn_env_number("QUERN_PROFILE", 1) > 0;
}

/* Identity. */

typedef struct {
    const char *name, *arch, *driver;
    char host[96];
    int threads;
} identity;

static identity identity_of(const qn_ctx *ctx, int d)
{
    const qn_device_info *info = &ctx->devices[d].info;
    identity id = { info->name, info->arch, info->driver, "",
                    (int)ctx->devices[QN_CPU_SLOT].info.units };

    snprintf(id.host, sizeof id.host, "%s", qn_cpu_host_get().model);
    return id;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return qn_fnv1a64_add(hash, text, strlen(text) + 1);
}

static uint64_t hash_of(const identity *id)
{
    char threads[16];
    uint64_t hash = add_text(QN_FNV1A64_START, id->name);

    snprintf(threads, sizeof threads, "%d", id->threads);
    hash = add_text(add_text(hash, id->arch), id->driver);
    return add_text(add_text(hash, id->host), threads);
}

static qn_status folder_of(const qn_ctx *ctx, char *out, size_t size, qn_err *err)
{
    if (!ctx->settings.cache_dir[0])
        return qn_fail(err, QN_ERR_INIT, "no folder for profiles; set QUERN_CACHE_DIR");
    if ((size_t)snprintf(out, size, "%s/profile", ctx->settings.cache_dir) >= size)
        return qn_fail(err, QN_ERR_LIMIT, "the path %s/profile is longer than %zu",
                       ctx->settings.cache_dir, size);
    return QN_OK;
}

qn_status qn_profile_path(const qn_ctx *ctx, int d, char *out, size_t size, qn_err *err)
{
    const identity id = identity_of(ctx, d);
    char folder[1024 + 16];
    const qn_status st = folder_of(ctx, folder, sizeof folder, err);

    if (st != QN_OK)
        return st;
    if ((size_t)snprintf(out, size, "%s/%s-%016llx.json", folder, ctx->devices[d].backend->name,
                         (unsigned long long)hash_of(&id)) >= size)
        return qn_fail(err, QN_ERR_LIMIT, "a path in %s is longer than %zu", folder, size);
    return QN_OK;
}

/* Writing. */

static json_t *points_json(const qn_model *model)
{
    json_t *points = json_array();

    for (int i = 0; i < model->n_buckets; i++) {
        const qn_model_bucket *b = model->buckets[i];

        qn_json_push(&points,
                     json_pack("{s:I, s:o, s:o, s:o, s:i}", "bucket", (json_int_t)b->bucket, "size",
                               qn_json_number(b->size), "median_us", qn_json_number(b->median_us),
                               "mad_us", qn_json_number(b->mad_us), "n", b->n));
    }
    return points;
}

static json_t *op_json(const qn_route_op *op, int d)
{
    static const char *const crossovers[] = {
        [QN_COLD] = "crossover_cold", [QN_RESIDENT] = "crossover_resident"
    };
    const qn_line *fit = &op->models[d].fit;
    json_t *j = json_pack("{s:o, s:o, s:{s:o, s:o}}", "op", qn_json_text(op->name), "points",
                          points_json(&op->models[d]), "fit", "a_us", qn_json_number(fit->a_us),
                          "b_us_per_elem", qn_json_number(fit->b_us));

    for (int c = 0; c < 2; c++)
        if (op->crossover[d][c] >= 0)
            qn_json_put(&j, crossovers[c], json_integer((json_int_t)op->crossover[d][c]));
    return j;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(qn_route_op *const *)a)->name, (*(qn_route_op *const *)b)->name);
}

static json_t *ops_json(const qn_ctx *ctx, int d)
{
    qn_route_op **ops = calloc(ctx->router->ops.count + 1, sizeof *ops);
    json_t *list = ops ? json_array() : NULL;
    const qn_map_entry *entry;
    size_t at = 0, n = 0;

    while (ops && (entry = qn_map_next(&ctx->router->ops, &at)))
        if (((qn_route_op *)entry->value)->models[d].n_buckets)
            ops[n++] = entry->value;
    if (n)
        qsort(ops, n, sizeof *ops, by_name);
    for (size_t i = 0; i < n; i++)
        qn_json_push(&list, op_json(ops[i], d));
    free(ops);
    return list;
}

static json_t *profile_json(const qn_ctx *ctx, int d, const char *now)
{
    const identity id = identity_of(ctx, d);
    const qn_router *r = ctx->router;
    const qn_link *link = &r->links[d];
    const qn_speed *speed = &r->speeds[d];
    json_t *root = json_pack("{s:s, s:{s:o, s:o, s:o, s:o, s:i}, s:s}", "format", format,
                             "identity", "name", qn_json_text(id.name), "arch",
                             qn_json_text(id.arch), "driver", qn_json_text(id.driver), "host",
                             qn_json_text(id.host), "threads", id.threads, "updated", now);

    if (r->has_link >> d & 1)
        qn_json_put(
            &root, "links",
            json_pack("{s:o, s:o, s:o, s:o, s:o}", "h2d_latency_us", qn_json_number(link->h2d_us),
                      "h2d_gbps", qn_json_number(link->h2d_gbps), "d2h_latency_us",
                      qn_json_number(link->d2h_us), "d2h_gbps", qn_json_number(link->d2h_gbps),
                      "sync_us", qn_json_number(link->sync_us)));
    if (speed->is_measured)
        qn_json_put(&root, "speed",
                    json_pack("{s:o, s:o, s:o}", "launch_us", qn_json_number(speed->launch_us),
                              "gbps", qn_json_number(speed->gbps), "gflops",
                              qn_json_number(speed->gflops)));
    qn_json_put(&root, "ops", ops_json(ctx, d));
    return root;
}

qn_status qn_profile_write(qn_ctx *ctx, int d, qn_err *err)
{
    qn_router *r = ctx->router;
    json_t *root = NULL;
    char path[1200];
    qn_status st = QN_OK;

    QN_TRY(qn_profile_path(ctx, d, path, sizeof path, err));
    qn_utc(r->updated[d]);
    if (!(root = profile_json(ctx, d, r->updated[d])))
        QN_FAIL(err, QN_ERR_NOMEM, "profile of %s: out of host memory", ctx->devices[d].id);
    QN_TRY(qn_make_parent(path, err));
    QN_TRY(qn_json_write(path, root, err));
    r->has_profile |= 1u << d;
out:
    json_decref(root);
    return st;
}

void qn_profile_save(qn_ctx *ctx, int d)
{
    qn_err err;

    if (qn_profile_is_used() && ctx->settings.cache_dir[0] &&
        qn_profile_write(ctx, d, &err) != QN_OK)
        qn_log_put(&ctx->log, QN_LOG_INFO, "profile of %s is not kept: %s", ctx->devices[d].id,
                   err.text);
}

const char *qn_profile_updated(const qn_ctx *ctx, int d)
{
    return ctx->router->updated[d];
}

/* Reading. */

static int is_text(const json_t *object, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text && !strcmp(text, wanted);
}

/* "" if the file belongs to this device, else the difference. */
static const char *difference(const json_t *root, const identity *id)
{
    const json_t *j = json_object_get(root, "identity");

    if (!is_text(root, "format", format))
        return "another format";
    if (!is_text(j, "name", id->name))
        return "another device";
    if (!is_text(j, "driver", id->driver))
        return "another driver";
    if (!is_text(j, "arch", id->arch))
        return "another architecture";
    if (!is_text(j, "host", id->host) ||
        json_integer_value(json_object_get(j, "threads")) != id->threads)
        return "another host";
    return "";
}

static qn_status read_links(const json_t *root, const char *where, qn_link *out, int *is_there,
                            qn_err *err)
{
    const json_t *j = json_object_get(root, "links");
    qn_link link = *out;
    qn_status st = QN_OK;

    *is_there = j != NULL;
    if (!j)
        return QN_OK;
    QN_TRY(qn_json_get_number(j, "h2d_latency_us", where, &link.h2d_us, err));
    QN_TRY(qn_json_get_number(j, "h2d_gbps", where, &link.h2d_gbps, err));
    QN_TRY(qn_json_get_number(j, "d2h_latency_us", where, &link.d2h_us, err));
    QN_TRY(qn_json_get_number(j, "d2h_gbps", where, &link.d2h_gbps, err));
    if (json_object_get(j, "sync_us"))
        QN_TRY(qn_json_get_number(j, "sync_us", where, &link.sync_us, err));
    if (!(link.h2d_us >= 0 && link.d2h_us >= 0 && link.h2d_gbps > 0 && link.d2h_gbps > 0 &&
          link.sync_us >= 0))
        QN_FAIL(err, QN_ERR_INPUT, "%s: a link that is not positive", where);
    *out = link;
out:
    return st;
}

static qn_status read_speed(const json_t *root, const char *where, qn_speed *out, qn_err *err)
{
    const json_t *j = json_object_get(root, "speed");
    qn_speed speed = { .is_measured = 1 };
    qn_status st = QN_OK;

    if (!j)
        return QN_OK;
    QN_TRY(qn_json_get_number(j, "launch_us", where, &speed.launch_us, err));
    QN_TRY(qn_json_get_number(j, "gbps", where, &speed.gbps, err));
    QN_TRY(qn_json_get_number(j, "gflops", where, &speed.gflops, err));
    if (!(speed.launch_us > 0 && speed.gbps > 0 && speed.gflops > 0))
        QN_FAIL(err, QN_ERR_INPUT, "%s: a speed that is not positive", where);
    *out = speed;
out:
    return st;
}

static qn_status read_points(const json_t *points, const char *where, qn_model *model, qn_err *err)
{
    size_t i;
    json_t *point;
    qn_status st = QN_OK;

    json_array_foreach(points, i, point)
    {
        double bucket, median, mad, size;
        qn_i64 n;

        QN_TRY(qn_json_get_number(point, "bucket", where, &bucket, err));
        QN_TRY(qn_json_get_number(point, "median_us", where, &median, err));
        QN_TRY(qn_json_get_number(point, "mad_us", where, &mad, err));
        QN_TRY(qn_json_get_i64(point, "n", where, &n, err));
        size = bucket;
        if (json_object_get(point, "size"))
            QN_TRY(qn_json_get_number(point, "size", where, &size, err));
        if (!(size >= 1 && size <= 1e15 && median > 0 && mad >= 0 && n >= 1))
            QN_FAIL(err, QN_ERR_INPUT, "%s: a point of %g us at size %g", where, median, size);
        qn_model_restore(model, size, median, mad, n < QN_MODEL_WINDOW ? (int)n : QN_MODEL_WINDOW);
    }
out:
    return st;
}

static qn_i64 read_crossover(const json_t *op, const char *key)
{
    const json_t *j = json_object_get(op, key);

    return json_is_integer(j) && json_integer_value(j) >= 0 ? json_integer_value(j) : -1;
}

/* The first pass changes nothing (ctx NULL), so a damaged file has no effect. */
static qn_status read_ops(const json_t *root, const char *where, qn_ctx *ctx, int d, qn_err *err)
{
    json_t *ops, *j;
    size_t i;
    qn_status st = QN_OK;

    QN_TRY(qn_json_get_array(root, "ops", where, &ops, err));
    json_array_foreach(ops, i, j)
    {
        qn_model scratch = { 0 };
        const char *name;
        json_t *points;
        qn_route_op *op;

        QN_TRY(qn_json_get_text(j, "op", where, &name, err));
        QN_TRY(qn_json_get_array(j, "points", where, &points, err));
        op = ctx ? qn_router_op(ctx, name) : NULL;
        if (ctx && !op)
            QN_FAIL(err, QN_ERR_NOMEM, "%s: no memory for %s", where, name);
        st = read_points(points, where, op ? &op->models[d] : &scratch, err);
        qn_model_free(&scratch);
        if (st != QN_OK)
            goto out;
        if (op) {
            op->warm |= 1u << d;
            op->crossover[d][QN_COLD] = read_crossover(j, "crossover_cold");
            op->crossover[d][QN_RESIDENT] = read_crossover(j, "crossover_resident");
        }
    }
out:
    return st;
}

static qn_status apply(qn_ctx *ctx, int d, const json_t *root, const char *path, qn_err *err)
{
    qn_router *r = ctx->router;
    qn_link link = r->links[d];
    qn_speed speed = r->speeds[d];
    const char *updated = "";
    int has_link;
    qn_status st = QN_OK;

    QN_TRY(read_links(root, path, &link, &has_link, err));
    QN_TRY(read_speed(root, path, &speed, err));
    QN_TRY(qn_json_get_text(root, "updated", path, &updated, err));
    QN_TRY(read_ops(root, path, NULL, d, err));
    QN_TRY(read_ops(root, path, ctx, d, err));
    r->links[d] = link;
    r->has_link |= (unsigned)has_link << d;
    r->speeds[d] = speed;
    r->has_profile |= 1u << d;
    snprintf(r->updated[d], sizeof r->updated[d], "%s", updated);
out:
    return st;
}

/* Reports a profile of this device that is out of date. */
static void look_for_older(const qn_ctx *ctx, int d)
{
    const identity id = identity_of(ctx, d);
    const char *backend = ctx->devices[d].backend->name;
    const size_t len = strlen(backend);
    char folder[1024 + 16], path[1400];
    struct dirent *entry;
    qn_err err;
    DIR *dir;

    if (folder_of(ctx, folder, sizeof folder, &err) != QN_OK || !(dir = opendir(folder)))
        return;
    while ((entry = readdir(dir))) {
        json_t *root = NULL;
        const char *what;

        if (strncmp(entry->d_name, backend, len) || entry->d_name[len] != '-')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (qn_json_read(path, &root, &err) != QN_OK)
            continue;
        what = difference(root, &id);
        json_decref(root);
        if (*what && strcmp(what, "another device")) {
            qn_log_put(&ctx->log, QN_LOG_INFO, "profile %s is ignored: %s", path, what);
            break;
        }
    }
    closedir(dir);
}

static void load(qn_ctx *ctx, int d)
{
    const identity id = identity_of(ctx, d);
    json_t *root = NULL;
    char path[1200];
    const char *what = "";
    qn_err err = { .status = QN_OK };
    qn_status st = qn_profile_path(ctx, d, path, sizeof path, &err);

    if (st == QN_OK && access(path, F_OK) != 0) {
        look_for_older(ctx, d);
        return;
    }
    if (st == QN_OK)
        st = qn_json_read(path, &root, &err);
    if (st == QN_OK && !*(what = difference(root, &id)))
        st = apply(ctx, d, root, path, &err);
    if (st != QN_OK || *what)
        qn_log_put(&ctx->log, st == QN_ERR_NOMEM ? QN_LOG_WARN : QN_LOG_INFO,
                   "profile %s is ignored: %s", path, st != QN_OK ? err.text : what);
    json_decref(root);
}

void qn_profile_load_all(qn_ctx *ctx)
{
    if (ctx->router->is_loaded || !qn_profile_is_used() || !ctx->settings.cache_dir[0])
        return;
    ctx->router->is_loaded = 1;
    for (int d = 0; d < ctx->n_devices; d++)
        load(ctx, d);
    ctx->router->generation++;
    qn_thresholds_publish(ctx);
}
