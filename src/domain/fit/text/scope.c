/* world.c - lists of what has been declared, and the map from names to them. */
#include "domain/fit/text/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_fit_world_free(qn_fit_world *world)
{
    for (int k = 0; k < world->n_sources; k++)
        qn_fit_mesh_free(&world->sources[k].mesh);
    for (int k = 0; k < world->n_owned; k++)
        free(world->owned[k]);
    free(world->owned);
    free(world->domains);
    free(world->arrays);
    free(world->constants);
    free(world->sources);
    qn_map_free(&world->names);
    *world = (qn_fit_world){ 0 };
}

/* Room for one more of `size` bytes: doubled when the number is a power of two. */
static void *grow(qn_fit_world *w, void *list, int n, size_t size)
{
    void *more = list;

    if ((n & (n - 1)) == 0 && !(more = realloc(list, (size_t)(n ? 2 * n : 1) * size)))
        w->is_out_of_memory = 1;
    return more;
}

void *qn_fit_world_own(qn_fit_world *world, void *memory)
{
    void **owned;

    if (!memory)
        return NULL;
    if (!(owned = grow(world, world->owned, world->n_owned, sizeof *owned))) {
        free(memory);
        return NULL;
    }
    world->owned = owned;
    world->owned[world->n_owned++] = memory;
    return memory;
}

void *qn_fit_world_take(qn_fit_world *world, size_t n, size_t size)
{
    void *memory = calloc(n ? n : 1, size);

    if (!memory)
        world->is_out_of_memory = 1;
    return qn_fit_world_own(world, memory);
}

/* Names. */

enum { KIND_BITS = 4 };

qn_fit_named qn_fit_world_find(const qn_fit_world *world, const char *name)
{
    const uintptr_t code = (uintptr_t)qn_map_get(&world->names, name);

    return (qn_fit_named){ (qn_fit_name_kind)(code & ((1 << KIND_BITS) - 1)),
                           (int)(code >> KIND_BITS) };
}

void qn_fit_world_name(qn_fit_world *world, const char *name, qn_fit_name_kind kind, int index)
{
    const uintptr_t code = (uintptr_t)index << KIND_BITS | (uintptr_t)kind;

    if (qn_map_put(&world->names, name, (void *)code) != QN_OK)
        world->is_out_of_memory = 1;
}

/* Entries. */

int qn_fit_world_domain(qn_fit_world *world, const char *name, uint32_t n)
{
    qn_fit_domain *list = grow(world, world->domains, world->n_domains, sizeof *list);

    if (!list)
        return -1;
    world->domains = list;
    list += world->n_domains;
    memset(list, 0, sizeof *list);
    snprintf(list->name, sizeof list->name, "%s", name);
    list->n = n;
    qn_fit_world_name(world, name, QN_FIT_IS_DOMAIN, world->n_domains);
    return world->n_domains++;
}

int qn_fit_world_array(qn_fit_world *world, const char *name, int domain, int dim, const double *at)
{
    qn_fit_array *list = grow(world, world->arrays, world->n_arrays, sizeof *list);

    if (!list)
        return -1;
    world->arrays = list;
    list[world->n_arrays] = (qn_fit_array){ .domain = domain, .dim = dim, .at = at, .set = -1 };
    snprintf(list[world->n_arrays].name, sizeof list->name, "%s", name);
    qn_fit_world_name(world, name, QN_FIT_IS_ARRAY, world->n_arrays);
    return world->n_arrays++;
}

int qn_fit_world_constant(qn_fit_world *world, const char *name, const double *at, int n)
{
    qn_fit_constant *list = grow(world, world->constants, world->n_constants, sizeof *list);

    if (!list)
        return -1;
    world->constants = list;
    list[world->n_constants].n = n;
    memcpy(list[world->n_constants].at, at, (size_t)n * sizeof *at);
    qn_fit_world_name(world, name, QN_FIT_IS_CONSTANT, world->n_constants);
    return world->n_constants++;
}

int qn_fit_world_source(qn_fit_world *world, const char *name)
{
    qn_fit_source *list = grow(world, world->sources, world->n_sources, sizeof *list);

    if (!list)
        return -1;
    world->sources = list;
    list[world->n_sources] = (qn_fit_source){ .verts = -1 };
    qn_fit_world_name(world, name, QN_FIT_IS_SOURCE, world->n_sources);
    return world->n_sources++;
}

void qn_fit_domain_field(qn_fit_world *world, int domain, qn_fit_field field)
{
    if (domain >= 0 && world->domains[domain].n_fields < QN_FIT_MAX_FIELDS)
        world->domains[domain].fields[world->domains[domain].n_fields++] = field;
}

const qn_fit_field *qn_fit_domain_find(const qn_fit_world *world, int domain, const char *name)
{
    const qn_fit_domain *d = &world->domains[domain];

    for (int k = 0; k < d->n_fields; k++)
        if (!strcmp(d->fields[k].name, name))
            return &d->fields[k];
    return NULL;
}
