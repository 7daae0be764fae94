/* mesh_dev.c - energies for the developability of a vertex, from the faces around it. */
#include "domain/fit/expr/functions.h"
#include "lab/fit/mesh_terms.h"

#include <math.h>

static qn_fit_v op2(qn_fit_graph *g, const char *name, qn_fit_v a, qn_fit_v b)
{
    return qn_fit_op(g, name, (const qn_fit_v[]){ a, b }, 2);
}

static qn_fit_vec zero3(qn_fit_graph *g)
{
    const qn_fit_v zero = qn_fit_lit(g, 0);

    return (qn_fit_vec){ .n = 3, .at = { zero, zero, zero } };
}

/* sum of w a a', as c00 c01 c02 c11 c12 c22 */
static void add_outer(qn_fit_graph *g, qn_fit_v w, const qn_fit_vec *a, qn_fit_v *c)
{
    int k = 0;

    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++, k++) {
            const qn_fit_v term = qn_fit_mul(g, w, qn_fit_mul(g, a->at[i], a->at[j]));

            c[k] = c[k] ? qn_fit_add(g, c[k], term) : term;
        }
}

static qn_fit_vec sum_of(qn_fit_graph *g, const qn_fit_vec *v, int from, int n, int valence)
{
    qn_fit_vec total = v[from % valence];

    for (int k = 1; k < n; k++)
        total = qn_fit_plus(g, &total, &v[(from + k) % valence]);
    return total;
}

static qn_fit_vec mean_of(qn_fit_graph *g, const qn_fit_vec *v, int from, int n, int valence)
{
    const qn_fit_vec total = sum_of(g, v, from, n, valence);

    return qn_fit_scaled(g, &total, qn_fit_lit(g, 1.0 / n));
}

/* Eigenvalues. */

static qn_fit_v covariance(qn_fit_graph *g, const qn_fit_vec *normals, const qn_fit_v *angles,
                           int n)
{
    qn_fit_v c[6] = { 0 };

    for (int k = 0; k < n; k++)
        add_outer(g, angles[k], &normals[k], c);
    return qn_fit_op(g, "eig3_min", c, 6);
}

/* Restricted to the plane orthogonal to the mean normal, which is a null vector: the smaller
 * eigenvalue in the plane is the middle one of three. */
static qn_fit_v hinge(qn_fit_graph *g, const qn_fit_vec *normals, const qn_fit_v *angles,
                      const qn_fit_v *areas, int n)
{
    qn_fit_vec mean = zero3(g);
    qn_fit_v c[6] = { 0 };

    for (int k = 0; k < n; k++) {
        const qn_fit_vec part = qn_fit_scaled(g, &normals[k], areas[k]);

        mean = qn_fit_plus(g, &mean, &part);
    }
    mean = qn_fit_unit(g, &mean);
    for (int k = 0; k < n; k++) {
        const qn_fit_vec across = qn_fit_cross(g, &mean, &normals[k]);
        const qn_fit_vec along = qn_fit_cross(g, &across, &mean), unit = qn_fit_unit(g, &along);
        const qn_fit_v phi =
            op2(g, "atan2", qn_fit_length(g, across.at, 3), qn_fit_dot(g, &mean, &normals[k]));
        const qn_fit_vec w = qn_fit_scaled(g, &unit, phi);

        add_outer(g, angles[k], &w, c);
    }
    return qn_fit_op(g, "eig3_mid", c, 6);
}

/* Parts of the ring. */

/* Mean squared distance from the mean normal, over `n` faces that begin at `from`. */
static qn_fit_v variance(qn_fit_graph *g, const qn_fit_vec *normals, int from, int n, int valence)
{
    qn_fit_v terms[QN_FIT_MAX_VEC];
    qn_fit_vec mean;

    if (n < 2)
        return qn_fit_lit(g, 0);
    mean = mean_of(g, normals, from, n, valence);
    for (int k = 0; k < n; k++) {
        const qn_fit_vec d = qn_fit_minus(g, &normals[(from + k) % valence], &mean);

        terms[k] = qn_fit_dot(g, &d, &d);
    }
    return qn_fit_mul(g, qn_fit_lit(g, 1.0 / n), qn_fit_sum(g, terms, n));
}

static qn_fit_v misalignment(qn_fit_graph *g, const qn_fit_vec *normals, int from, int n,
                             int valence)
{
    qn_fit_v terms[QN_FIT_MAX_VEC];
    qn_fit_vec mean = mean_of(g, normals, from, n, valence);

    mean = qn_fit_unit(g, &mean);
    for (int k = 0; k < n; k++)
        terms[k] =
            qn_fit_sub(g, qn_fit_lit(g, 1), qn_fit_dot(g, &normals[(from + k) % valence], &mean));
    return qn_fit_mul(g, qn_fit_lit(g, 1.0 / n), qn_fit_sum(g, terms, n));
}

static qn_fit_v least(qn_fit_graph *g, qn_fit_v best, qn_fit_v next)
{
    return best ? op2(g, "min", best, next) : next;
}

static qn_fit_v partition(qn_fit_graph *g, const qn_fit_vec *normals, int n)
{
    qn_fit_v best = 0;

    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            best = least(g, best,
                         qn_fit_add(g, variance(g, normals, a, b - a, n),
                                    variance(g, normals, b, n - (b - a), n)));
    return best;
}

/* Ridges. */

/* 1 if fold `a` is sharper than fold `b`; on a tie the first wins. */
static qn_fit_v is_sharper(qn_fit_graph *g, const qn_fit_v *folds, int a, int b)
{
    return op2(g, a < b ? "ge" : "gt", folds[a], folds[b]);
}

static qn_fit_v arc(qn_fit_graph *g, const qn_fit_vec *normals, int from, int n, int valence)
{
    return n == 1 ? qn_fit_lit(g, 1) : misalignment(g, normals, from, n, valence);
}

/* The ring cut at its two sharpest folds; an arc of one face costs 1. Every evaluation finds these
 * folds again, by comparisons, which have no derivative. */
static qn_fit_v ridge(qn_fit_graph *g, const qn_fit_vec *normals, int n)
{
    const qn_fit_v one = qn_fit_lit(g, 1);
    qn_fit_v folds[QN_FIT_MAX_VEC], energy = 0;

    for (int k = 0; k < n; k++)
        folds[k] = qn_fit_sub(g, one, qn_fit_dot(g, &normals[(k + n - 1) % n], &normals[k]));
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            qn_fit_v is_cut = one, parts;

            for (int k = 0; k < n; k++)
                if (k != i && k != j)
                    is_cut =
                        op2(g, "and", is_cut,
                            op2(g, "and", is_sharper(g, folds, i, k), is_sharper(g, folds, j, k)));
            parts = qn_fit_add(g, arc(g, normals, i, j - i, n), arc(g, normals, j, n - (j - i), n));
            energy = energy ? qn_fit_op(g, "select", (const qn_fit_v[]){ is_cut, parts, energy }, 3)
                            : parts;
        }
    return energy;
}

/* Directions. */

static qn_fit_v square_along(qn_fit_graph *g, const qn_fit_vec *u, const qn_fit_vec *normal)
{
    const qn_fit_v d = qn_fit_dot(g, u, normal);

    return qn_fit_mul(g, d, d);
}

static qn_fit_v largest_off(qn_fit_graph *g, const qn_fit_vec *normals, int n)
{
    qn_fit_v best = 0;

    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const qn_fit_vec across = qn_fit_cross(g, &normals[i], &normals[j]);
            const qn_fit_vec u = qn_fit_unit(g, &across);
            qn_fit_v worst = square_along(g, &u, &normals[0]);

            for (int k = 1; k < n; k++)
                worst = op2(g, "max", worst, square_along(g, &u, &normals[k]));
            best = least(g, best, worst);
        }
    return best;
}

static qn_fit_v weighted_squares(qn_fit_graph *g, const qn_fit_vec *u, const qn_fit_vec *normals,
                                 const qn_fit_v *angles, int n)
{
    qn_fit_v terms[QN_FIT_MAX_VEC];

    for (int k = 0; k < n; k++)
        terms[k] = qn_fit_mul(g, angles[k], square_along(g, u, &normals[k]));
    return qn_fit_sum(g, terms, n);
}

/* Axes through opposite vertices of the icosahedron. */
static qn_fit_v fixed_axes(qn_fit_graph *g, const qn_fit_vec *normals, const qn_fit_v *angles,
                           int n)
{
    const double t = (1 + sqrt(5.0)) / 2, size = sqrt(1 + t * t);
    const double axes[6][3] = { { -1, t, 0 }, { 1, t, 0 },  { 0, -1, t },
                                { 0, 1, t },  { t, 0, -1 }, { t, 0, 1 } };
    qn_fit_v best = 0;

    for (int a = 0; a < 6; a++) {
        qn_fit_vec u = { .n = 3 };

        for (int c = 0; c < 3; c++)
            u.at[c] = qn_fit_lit(g, axes[a][c] / size);
        best = least(g, best, weighted_squares(g, &u, normals, angles, n));
    }
    return best;
}

static qn_fit_v proxy(qn_fit_graph *g, const qn_fit_vec *normals, int n)
{
    const qn_fit_vec mean = mean_of(g, normals, 0, n, n);
    const qn_fit_v share = qn_fit_lit(g, 1.0 / n), small = qn_fit_lit(g, 1e-4);
    qn_fit_v c[6] = { 0 }, trace;

    for (int k = 0; k < n; k++) {
        const qn_fit_vec d = qn_fit_minus(g, &normals[k], &mean);

        add_outer(g, share, &d, c);
    }
    c[0] = qn_fit_add(g, c[0], small);
    c[3] = qn_fit_add(g, c[3], small);
    c[5] = qn_fit_add(g, c[5], small);
    trace = qn_fit_add(g, qn_fit_add(g, c[0], c[3]), c[5]);
    for (int k = 0; k < 6; k++)
        c[k] = qn_fit_div(g, c[k], trace);
    return qn_fit_mul(g, qn_fit_op(g, "eig3_min", c, 6), trace);
}

static qn_fit_v plane(qn_fit_graph *g, const qn_fit_vec *normals, const qn_fit_v *angles, int n)
{
    const qn_fit_v one = qn_fit_lit(g, 1);
    qn_fit_vec u = zero3(g);

    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const qn_fit_vec across = qn_fit_cross(g, &normals[i], &normals[j]);
            const qn_fit_vec unit = qn_fit_unit(g, &across);
            const qn_fit_v apart = qn_fit_sub(g, one, qn_fit_dot(g, &normals[i], &normals[j]));
            const qn_fit_vec part =
                qn_fit_scaled(g, &unit, qn_fit_mul(g, qn_fit_mul(g, angles[i], angles[j]), apart));

            u = qn_fit_plus(g, &u, &part);
        }
    u = qn_fit_unit(g, &u);
    return qn_fit_div(g, weighted_squares(g, &u, normals, angles, n), qn_fit_sum(g, angles, n));
}

qn_fit_v qn_fit_build_dev(qn_fit_graph *graph, qn_fit_term_kind kind, const qn_fit_vec *normals,
                          const qn_fit_v *angles, const qn_fit_v *areas, int valence)
{
    const int half = valence / 2;

    switch (kind) {
    case QN_FIT_DEV_COVARIANCE:
        return covariance(graph, normals, angles, valence);
    case QN_FIT_DEV_HINGE:
        return hinge(graph, normals, angles, areas, valence);
    case QN_FIT_DEV_BIMODAL:
        return qn_fit_add(graph, variance(graph, normals, 0, half, valence),
                          variance(graph, normals, half, valence - half, valence));
    case QN_FIT_DEV_ALIGNMENT:
        return qn_fit_add(graph, misalignment(graph, normals, 0, half, valence),
                          misalignment(graph, normals, half, valence - half, valence));
    case QN_FIT_DEV_PARTITION:
        return partition(graph, normals, valence);
    case QN_FIT_DEV_MAX:
        return largest_off(graph, normals, valence);
    case QN_FIT_DEV_AXES:
        return fixed_axes(graph, normals, angles, valence);
    case QN_FIT_DEV_PROXY:
        return proxy(graph, normals, valence);
    case QN_FIT_DEV_RIDGE:
        return ridge(graph, normals, valence);
    default:
        return plane(graph, normals, angles, valence);
    }
}
