/* costs.c - a table of programs by content, and its file. */
#include "domain/arc/run/costs.h"

#include "kernel/arc/arc_code.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char format[] = "quern-arc-costs/1";

/* LEAST_KEPT: a run of fewer steps delays nothing, wherever it is in the order. */
enum { N_SLOTS = 2 * QN_ARC_MOST_COSTS, LEAST_KEPT = 64, MOST_PLACES = 32 };

#define BATCH_WEIGHT 0.25
#define MOST_STEPS   4e9

typedef struct seen {
    uint64_t key; /* 0: free */
    double steps;
    uint64_t tick; /* last use */
} seen;

typedef struct place {
    char name[192];
    qn_arc_pace pace;
} place;

struct qn_arc_costs {
    seen *slots; /* open addressing, never more than half full */
    int n, is_changed;
    uint64_t tick;
    place places[MOST_PLACES];
    int n_places;
};

qn_status qn_arc_costs_new(qn_arc_costs **out, qn_err *err)
{
    qn_arc_costs *costs = NULL;
    qn_status st = QN_OK;

    QN_TRY(QN_NEW(costs, 1, "costs of programs", err));
    QN_TRY(QN_NEW(costs->slots, N_SLOTS, "costs of programs", err));
    *out = costs;
    costs = NULL;
out:
    qn_arc_costs_free(costs);
    return st;
}

void qn_arc_costs_free(qn_arc_costs *costs)
{
    if (!costs)
        return;
    free(costs->slots);
    free(costs);
}

uint64_t qn_arc_costs_key(const unsigned char *program, size_t n)
{
    arc_program head;
    uint64_t hash;

    if (n < sizeof head)
        return 1;
    memcpy(&head, program, sizeof head);
    head.source = 0;
    hash = qn_fnv1a64_add(qn_fnv1a64(&head, sizeof head), program + sizeof head, n - sizeof head);
    return hash ? hash : 1;
}

/* The table. */

/* The slot of the key, or the free slot where it belongs. */
static seen *slot_of(seen *slots, uint64_t key)
{
    size_t at = (size_t)(key % N_SLOTS);

    while (slots[at].key && slots[at].key != key)
        at = at + 1 < N_SLOTS ? at + 1 : 0;
    return &slots[at];
}

static int by_age(const void *a, const void *b)
{
    const seen *x = a, *y = b;

    return (x->tick > y->tick) - (x->tick < y->tick);
}

/* Forgets the older half, so that this is rare. If that runs out of memory, forgets everything. */
static void forget_old(qn_arc_costs *costs)
{
    seen *all = malloc((size_t)costs->n * sizeof *all);
    int n = 0;

    for (int i = 0; all && i < N_SLOTS; i++)
        if (costs->slots[i].key)
            all[n++] = costs->slots[i];
    if (all)
        qsort(all, (size_t)n, sizeof *all, by_age);
    memset(costs->slots, 0, N_SLOTS * sizeof *costs->slots);
    costs->n = 0;
    for (int i = n / 2; i < n; i++, costs->n++)
        *slot_of(costs->slots, all[i].key) = all[i];
    free(all);
}

static void put(qn_arc_costs *costs, uint64_t key, double steps)
{
    if (costs->n >= QN_ARC_MOST_COSTS)
        forget_old(costs);
    *slot_of(costs->slots, key) = (seen){ .key = key, .steps = steps, .tick = ++costs->tick };
    costs->n++;
}

void qn_arc_costs_add(qn_arc_costs *costs, uint64_t key, double steps)
{
    seen *s = slot_of(costs->slots, key);

    if (!s->key) {
        put(costs, key, steps);
        costs->is_changed |= steps >= LEAST_KEPT;
        return;
    }
    /* Repeating a batch changes nothing, and does not rewrite the file. */
    costs->is_changed |= fabs(steps - s->steps) > 0.01 * s->steps && s->steps >= LEAST_KEPT;
    s->steps += BATCH_WEIGHT * (steps - s->steps);
    s->tick = ++costs->tick;
}

double qn_arc_costs_steps(const qn_arc_costs *costs, uint64_t key)
{
    return slot_of(costs->slots, key)->steps;
}

/* Places. */

static int place_of(const qn_arc_costs *costs, const char *name)
{
    int i = 0;

    while (i < costs->n_places && strcmp(costs->places[i].name, name) != 0)
        i++;
    return i;
}

int qn_arc_costs_get_pace(const qn_arc_costs *costs, const char *name, qn_arc_pace *out)
{
    const int i = place_of(costs, name);

    if (i == costs->n_places)
        return 0;
    *out = costs->places[i].pace;
    return 1;
}

static int put_pace(qn_arc_costs *costs, const char *name, const qn_arc_pace *pace)
{
    const int i = place_of(costs, name);
    place *p;

    if (i == MOST_PLACES || strlen(name) >= sizeof p->name)
        return 0;
    p = &costs->places[i];
    costs->n_places += i == costs->n_places;
    snprintf(p->name, sizeof p->name, "%s", name);
    p->pace = *pace;
    return 1;
}

/* A change of a tenth or less is not worth recording. */
static int is_news(double had, double is)
{
    return fabs(had - is) > 0.1 * had;
}

void qn_arc_costs_set_pace(qn_arc_costs *costs, const char *name, const qn_arc_pace *pace)
{
    qn_arc_pace had;

    if (qn_arc_costs_get_pace(costs, name, &had) && !is_news(had.a_us, pace->a_us) &&
        !is_news(had.b_us, pace->b_us) && !is_news(had.first_us, pace->first_us) &&
        !is_news(had.compile_us, pace->compile_us))
        return;
    costs->is_changed |= put_pace(costs, name, pace);
}

/* The file. */

static qn_status read_key(const char *text, const char *path, uint64_t *key, qn_err *err)
{
    char *end = NULL;

    *key = strtoull(text, &end, 16);
    if (strlen(text) != 16 || *end || !*key)
        return qn_fail(err, QN_ERR_INPUT, "%s: '%.20s' is not the key of a program", path, text);
    return QN_OK;
}

/* With `costs` NULL, these two only check. */
static qn_status read_programs(const json_t *programs, const char *path, qn_arc_costs *costs,
                               qn_err *err)
{
    const char *name;
    json_t *value;
    qn_status st = QN_OK;

    json_object_foreach((json_t *)programs, name, value)
    {
        const double steps = json_number_value(value);
        uint64_t key = 0;

        QN_TRY(read_key(name, path, &key, err));
        if (!(steps > 0 && steps <= MOST_STEPS))
            QN_FAIL(err, QN_ERR_INPUT, "%s: program %s has %g steps", path, name, steps);
        if (costs && !slot_of(costs->slots, key)->key)
            put(costs, key, steps);
    }
out:
    return st;
}

static qn_status read_paces(const json_t *places, const char *path, qn_arc_costs *costs,
                            qn_err *err)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)places, name, value)
    {
        const qn_arc_pace pace = { json_number_value(json_array_get(value, 0)),
                                   json_number_value(json_array_get(value, 1)),
                                   json_number_value(json_array_get(value, 2)),
                                   json_number_value(json_array_get(value, 3)) };

        if (!(pace.a_us > 0 && pace.a_us < 1e9 && pace.b_us > 0 && pace.b_us < 1e9 &&
              pace.first_us >= 0 && pace.first_us < 1e9 && pace.compile_us >= 0 &&
              pace.compile_us < 1e9))
            return qn_fail(err, QN_ERR_INPUT, "%s: place '%.60s' takes %g + %g us, at first %g",
                           path, name, pace.a_us, pace.b_us, pace.first_us);
        if (costs)
            put_pace(costs, name, &pace);
    }
    return QN_OK;
}

qn_status qn_arc_costs_read(qn_arc_costs *costs, const char *path, qn_err *err)
{
    const char *found = "";
    json_t *root = NULL;
    const json_t *programs;
    qn_status st = QN_OK;

    QN_TRY(qn_json_read(path, &root, err));
    QN_TRY(qn_json_get_text(root, "format", path, &found, err));
    programs = json_object_get(root, "programs");
    if (strcmp(found, format) != 0)
        st = qn_fail(err, QN_ERR_INPUT, "%s: the format is '%.40s', not '%s'", path, found, format);
    else if (!json_is_object(programs))
        st = qn_fail(err, QN_ERR_INPUT, "%s: 'programs' is not an object", path);
    QN_TRY(st);
    /* The first pass only checks, so that a damaged file changes nothing. */
    for (int pass = 0; pass < 2; pass++) {
        QN_TRY(read_programs(programs, path, pass ? costs : NULL, err));
        QN_TRY(read_paces(json_object_get(root, "places"), path, pass ? costs : NULL, err));
    }
out:
    json_decref(root);
    return st;
}

static json_t *programs_json(const qn_arc_costs *costs)
{
    json_t *programs = json_object();
    char name[17];

    for (int i = 0; i < N_SLOTS; i++) {
        const seen *s = &costs->slots[i];

        if (!s->key || s->steps < LEAST_KEPT)
            continue;
        snprintf(name, sizeof name, "%016llx", (unsigned long long)s->key);
        qn_json_put(&programs, name, json_real(s->steps));
    }
    return programs;
}

static json_t *paces_json(const qn_arc_costs *costs)
{
    json_t *places = json_object();

    for (const place *p = costs->places; p < costs->places + costs->n_places; p++)
        qn_json_put(&places, p->name,
                    json_pack("[f, f, f, f]", p->pace.a_us, p->pace.b_us, p->pace.first_us,
                              p->pace.compile_us));
    return places;
}

qn_status qn_arc_costs_write(qn_arc_costs *costs, const char *path, qn_err *err)
{
    json_t *root = NULL;
    qn_status st = QN_OK;

    if (!costs->is_changed)
        return QN_OK;
    QN_TRY(qn_make_parent(path, err));
    root = json_pack("{s:s, s:o, s:o}", "format", format, "places", paces_json(costs), "programs",
                     programs_json(costs));
    if (!root)
        QN_FAIL(err, QN_ERR_NOMEM, "no memory for %s", path);
    QN_TRY(qn_json_write(path, root, err));
    costs->is_changed = 0;
out:
    json_decref(root);
    return st;
}
