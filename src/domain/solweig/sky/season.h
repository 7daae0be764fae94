/* season.h - how much light the trees let through on a day. */
#ifndef QN_SW_SEASON_H
#define QN_SW_SEASON_H

typedef struct qn_sw_trees {
    double leaf_on, leaf_off;          /* share of light that passes a crown */
    int first_leaf_day, last_leaf_day; /* of the year; both are days without leaves */
    int is_conifer;                    /* leaves all the year */
} qn_sw_trees;

/* 0.03 and 0.5, days 97 and 300, broadleaved: the tree settings of UMEP. */
qn_sw_trees qn_sw_trees_default(void);

/* Leaves are there strictly between the two days; a first day after the last one is a season over
 * the end of the year, as in the south. */
int qn_sw_has_leaves(const qn_sw_trees *trees, int doy);
double qn_sw_psi(const qn_sw_trees *trees, int doy);

#endif
