/* schur.h - which blocks are eliminated, and the terms of one of them. */
#ifndef QN_FIT_LINEAR_SCHUR_H
#define QN_FIT_LINEAR_SCHUR_H

#include "domain/fit/linear/blocks.h"

static inline int qn_fit_is_eliminated(const qn_fit_problem *p, const qn_fit_group *g, int slot)
{
    return p->sets[g->slot_set[slot]].is_eliminated;
}

static inline uint32_t qn_fit_scalar_of(const qn_fit_model_group *g, int variable, qn_i64 i)
{
    const qn_fit_variable *v = &g->variables[variable];

    return g->group->idx[v->slot * g->group->ld + i] + v->comp;
}

/* The eliminated slot of a group, or -1. */
int qn_fit_eliminated_slot(const qn_fit_problem *problem, const qn_fit_group *group);

/* Scalars of sets that stay. */
uint32_t qn_fit_n_kept(const qn_fit_problem *problem);

/* 0 when elimination cannot be used as asked; *why says the reason. */
int qn_fit_can_eliminate(const qn_fit_model *model, const char **why);

#endif
