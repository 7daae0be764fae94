/* reorder.h - who uses a value, and the same values in another order. */
#ifndef QN_FIT_CODE_REORDER_H
#define QN_FIT_CODE_REORDER_H

#include "domain/fit/code/program.h"

/* Who uses a value: user[first[v] .. first[v + 1]), rising, each user once. */
typedef struct qn_fit_users {
    uint32_t *first, *user;
} qn_fit_users;

/* 0: no memory. */
int qn_fit_users_of(const qn_fit_program *program, qn_fit_users *out);
void qn_fit_users_free(qn_fit_users *users);

/* Whether `arg` is the first argument of `v` with that value. */
static inline int qn_fit_is_first_arg(const qn_fit_value *v, int arg)
{
    for (int k = 0; k < arg; k++)
        if (v->arg[k] == v->arg[arg])
            return 0;
    return 1;
}

/* Numbers of all values, ordered from the outputs upwards, in `out`. 0: no memory. */
int qn_fit_order_up(const qn_fit_program *program, const qn_fit_users *users, uint32_t *out);

#endif
