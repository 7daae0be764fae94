/* season.c - leaves by day of year. */
#include "sky.h"

qn_sw_trees qn_sw_trees_default(void)
{
    return (qn_sw_trees){
        .leaf_on = 0.03, .leaf_off = 0.5, .first_leaf_day = 97, .last_leaf_day = 300
    };
}

int qn_sw_has_leaves(const qn_sw_trees *trees, int doy)
{
    const int is_after_first = doy > trees->first_leaf_day;
    const int is_before_last = doy < trees->last_leaf_day;

    if (trees->is_conifer)
        return 1;
    return trees->first_leaf_day > trees->last_leaf_day ? is_after_first || is_before_last
                                                        : is_after_first && is_before_last;
}

double qn_sw_psi(const qn_sw_trees *trees, int doy)
{
    return qn_sw_has_leaves(trees, doy) ? trees->leaf_on : trees->leaf_off;
}
