/* scope.c - lists of declarations, and the map from names to them. */
#include "domain/fit/text/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qn_fit_scope_free(qn_fit_scope *scope)
{
    for (int k = 0; k < scope->n_sources; k++)
        qn_fit_mesh_free(&scope->sources[k].mesh);
    for (int k = 0; k < scope->n_owned; k++)
        free(scope->owned[k]);
    free(scope->owned);
    free(scope->domains);
    free(scope->arrays);
    free(scope->constants);
    free(scope->sources);
    qn_map_free(&scope->names);
    *scope = (qn_fit_scope){ 0 };
}

/* Makes space for one more element of `size` bytes; the list doubles when its length is a power of
 * two. */
static void *grow(qn_fit_scope *w, void *list, int n, size_t size)
{
    void *more = list;

    if ((n & (n - 1)) == 0 && !(more = realloc(list, (size_t)(n ? 2 * n : 1) * size)))
        w->is_out_of_memory = 1;
    return more;
}

void *qn_fit_scope_own(qn_fit_scope *scope, void *memory)
{
    void **owned;

    if (!memory)
        return NULL;
    if (!(owned = grow(scope, scope->owned, scope->n_owned, sizeof *owned))) {
        free(memory);
        return NULL;
    }
    scope->owned = owned;
    scope->owned[scope->n_owned++] = memory;
    return memory;
}

void *qn_fit_scope_alloc(qn_fit_scope *scope, size_t n, size_t size)
{
    void *memory = calloc(n ? n : 1, size);

    if (!memory)
        scope->is_out_of_memory = 1;
    return qn_fit_scope_own(scope, memory);
}

/* Names. */

enum { KIND_BITS = 4 };

qn_fit_named qn_fit_scope_find(const qn_fit_scope *scope, const char *name)
{
    const uintptr_t code = (uintptr_t)qn_map_get(&scope->names, name);

    return (qn_fit_named){ (qn_fit_name_kind)(code & ((1 << KIND_BITS) - 1)),
                           (int)(code >> KIND_BITS) };
}

void qn_fit_scope_name(qn_fit_scope *scope, const char *name, qn_fit_name_kind kind, int index)
{
    const uintptr_t code = (uintptr_t)index << KIND_BITS | (uintptr_t)kind;

    if (qn_map_put(&scope->names, name, (void *)code) != QN_OK)
        scope->is_out_of_memory = 1;
}

/* Entries. */

int qn_fit_scope_domain(qn_fit_scope *scope, const char *name, uint32_t n)
{
    qn_fit_domain *list = grow(scope, scope->domains, scope->n_domains, sizeof *list);

    if (!list)
        return -1;
    scope->domains = list;
    list += scope->n_domains;
    memset(list, 0, sizeof *list);
    snprintf(list->name, sizeof list->name, "%s", name);
    list->n = n;
    qn_fit_scope_name(scope, name, QN_FIT_IS_DOMAIN, scope->n_domains);
    return scope->n_domains++;
}

int qn_fit_scope_array(qn_fit_scope *scope, const char *name, int domain, int dim, const double *at)
{
    qn_fit_array *list = grow(scope, scope->arrays, scope->n_arrays, sizeof *list);

    if (!list)
        return -1;
    scope->arrays = list;
    list[scope->n_arrays] = (qn_fit_array){ .domain = domain, .dim = dim, .at = at, .set = -1 };
    snprintf(list[scope->n_arrays].name, sizeof list->name, "%s", name);
    qn_fit_scope_name(scope, name, QN_FIT_IS_ARRAY, scope->n_arrays);
    return scope->n_arrays++;
}

int qn_fit_scope_constant(qn_fit_scope *scope, const char *name, const double *at, int n)
{
    qn_fit_constant *list = grow(scope, scope->constants, scope->n_constants, sizeof *list);

    if (!list)
        return -1;
    scope->constants = list;
    list[scope->n_constants].n = n;
    memcpy(list[scope->n_constants].at, at, (size_t)n * sizeof *at);
    qn_fit_scope_name(scope, name, QN_FIT_IS_CONSTANT, scope->n_constants);
    return scope->n_constants++;
}

int qn_fit_scope_source(qn_fit_scope *scope, const char *name)
{
    qn_fit_source *list = grow(scope, scope->sources, scope->n_sources, sizeof *list);

    if (!list)
        return -1;
    scope->sources = list;
    list[scope->n_sources] = (qn_fit_source){ .verts = -1 };
    qn_fit_scope_name(scope, name, QN_FIT_IS_SOURCE, scope->n_sources);
    return scope->n_sources++;
}

void qn_fit_domain_field(qn_fit_scope *scope, int domain, qn_fit_field field)
{
    if (domain >= 0 && scope->domains[domain].n_fields < QN_FIT_MAX_FIELDS)
        scope->domains[domain].fields[scope->domains[domain].n_fields++] = field;
}

const qn_fit_field *qn_fit_domain_find(const qn_fit_scope *scope, int domain, const char *name)
{
    const qn_fit_domain *d = &scope->domains[domain];

    for (int k = 0; k < d->n_fields; k++)
        if (!strcmp(d->fields[k].name, name))
            return &d->fields[k];
    return NULL;
}
