/* fuse.c - merges a product with the sum that is its only user into one pass over a block.
 *
 * The interpreter is bound by loads and stores of its registers; this saves one of each for every
 * pair, and changes no bit: the product is rounded before it is added.
 */
#include "domain/fit/eval/plan.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *count_uses(const qn_fit_tape *p)
{
    uint32_t *uses = calloc((size_t)p->n_values + 1, sizeof *uses);

    for (int k = 0; uses && k < p->n_values; k++)
        for (int i = 0; i < p->values[k].n_args; i++)
            uses[p->values[k].arg[i]]++;
    for (int k = 0; uses && k < p->n_outputs; k++)
        uses[p->outputs[k]] += 2; /* stays */
    return uses;
}

static int is_product(const qn_fit_value *v)
{
    return v->op == QN_FIT_OP_mul || v->op == QN_FIT_OP_square;
}

static void fuse_into(qn_fit_value *sum, qn_fit_value *product, int position)
{
    const uint32_t other = sum->arg[1 - position];

    if (sum->op == QN_FIT_OP_add)
        sum->op = QN_FIT_OP_mul_add;
    else
        sum->op = position == 0 ? QN_FIT_OP_mul_sub : QN_FIT_OP_sub_mul;
    sum->n_args = 3;
    sum->arg[0] = product->arg[0];
    sum->arg[1] = product->arg[product->op == QN_FIT_OP_square ? 0 : 1];
    sum->arg[2] = other;
    product->op = QN_FIT_OP_gone;
    product->n_args = 0;
}

qn_fit_value *qn_fit_fuse(const qn_fit_tape *tape)
{
    const size_t n = (size_t)tape->n_values;
    qn_fit_value *values = calloc(n + 1, sizeof *values);
    uint32_t *uses = count_uses(tape);

    if (!values || !uses) {
        free(values);
        free(uses);
        return NULL;
    }
    if (n)
        memcpy(values, tape->values, n * sizeof *values);
    for (size_t k = 0; k < n; k++) {
        if (values[k].op != QN_FIT_OP_add && values[k].op != QN_FIT_OP_sub)
            continue;
        for (int i = 0; i < 2; i++) {
            qn_fit_value *product = &values[values[k].arg[i]];

            if (is_product(product) && uses[values[k].arg[i]] == 1) {
                fuse_into(&values[k], product, i);
                break;
            }
        }
    }
    free(uses);
    return values;
}
