/* device_spare.h - inside of the resident driver: room for a second point.
 *
 * While a step is judged, the point where it ends is evaluated already. What is known of a point
 * (residuals, gradient, diagonal, and J where it is stored) exists twice then, and so do
 * the graphs that read it. Taking a step is turning to the other; a step that is refused leaves the
 * point before it as it was. Parameters themselves are exchanged on the device, since they are few:
 * so the longest graph, that of conjugate gradients, is recorded once and not twice.
 */
#ifndef QN_FIT_SOLVE_DEVICE_SPARE_H
#define QN_FIT_SOLVE_DEVICE_SPARE_H

#include "domain/fit/solve/device_driver.h"

struct qn_fit_device_driver;

typedef struct qn_fit_device_spare qn_fit_device_spare;

/* After the driver's own buffers. _bytes: what _new will take of the device. */
size_t qn_fit_spare_bytes(const struct qn_fit_device_driver *driver);
qn_status qn_fit_spare_new(struct qn_fit_device_driver *driver, qn_err *err);
/* Stages that bring the second room to the device, as a copy of the first point: so nothing is
 * allocated or sent when it is used. */
qn_status qn_fit_spare_fill(struct qn_fit_device_driver *driver, qn_graph *graph, qn_err *err);
void qn_fit_spare_free(struct qn_fit_device_driver *driver);

/* The names of buffers and graphs stand for those of the other point. Nothing is sent. */
void qn_fit_spare_turn(struct qn_fit_device_driver *driver);
/* The same, and x stands for the trial point, for graphs that evaluate there; again to go back. */
void qn_fit_spare_visit(struct qn_fit_device_driver *driver);
/* Whether graph `k` reads what is known of a point, and so exists twice. */
int qn_fit_spare_has(const struct qn_fit_device_driver *driver, int k);

#endif
