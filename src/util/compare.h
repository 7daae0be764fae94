/* compare.h - compares two arrays with a given exactness. */
#ifndef QN_UTIL_COMPARE_H
#define QN_UTIL_COMPARE_H

#include <stddef.h>

/* How much two results may differ. */
typedef enum {
    QN_EXACT_BITS, /* not at all; two NaN count as equal */
    QN_EXACT_ULP,  /* `tolerance` units in the last place */
    QN_EXACT_REL,  /* |a - b| <= tolerance * max(|a|, |b|), or both below the smallest normal */
    QN_EXACT_NORM  /* |a - b| <= tolerance * the largest |a| of the array */
} qn_exactness;

/* Result of a comparison. */
typedef struct qn_diff {
    size_t checked, mismatched;
    size_t first;                      /* index of the first mismatch */
    double max_abs, max_rel, mean_abs; /* floats: over elements that are finite in both arrays */
    double finite_pct;                 /* finite elements of `got` in percent; 100 for integers */
} qn_diff;

/* Compares `bytes` bytes of elements of `type` (a type name of a kernel head: "float", "u32";
 * unknown types are compared as bytes). */
qn_diff qn_compare_arrays(qn_exactness how, double tolerance, const char *type, const void *want,
                          const void *got, size_t bytes);

#endif
