/* jacobian.h - where products of an iterative solver have J from.
 *
 * STORED: it is formed once for each accepted point and read by every product. FREE: products
 * evaluate the terms again. AUTO: STORED where that is clearly shorter (batch/choose.h).
 */
#ifndef QN_FIT_BATCH_JACOBIAN_H
#define QN_FIT_BATCH_JACOBIAN_H

typedef enum { QN_FIT_JACOBIAN_AUTO, QN_FIT_JACOBIAN_STORED, QN_FIT_JACOBIAN_FREE } qn_fit_jacobian;

#endif
