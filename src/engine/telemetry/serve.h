/* serve.h - metrics over HTTP while a run goes on (--metrics-port).
 *
 * GET /metrics answers with Prometheus text, GET /health with one JSON object: "ok", or
 * "degraded" when a device was given up; the run itself goes on in both cases, so both are 200.
 * Only this machine can ask: the socket listens on loopback. One thread serves one request at a
 * time, and a client that is slow or silent is dropped after two seconds.
 */
#ifndef QN_ENGINE_SERVE_H
#define QN_ENGINE_SERVE_H

#include <quern/metrics.h>

typedef struct qn_serve qn_serve;

/* Listens on 127.0.0.1:`port`; 0 takes a free port. `metrics` must outlive the server. */
qn_status qn_serve_open(qn_metrics *metrics, int port, qn_serve **out, qn_err *err);

int qn_serve_port(const qn_serve *serve);

/* Ends the thread, an answer under way included, and closes the port. NULL is fine. */
void qn_serve_close(qn_serve *serve);

#endif
