/* explain.h - every routing decision as rows of a CSV file.
 *
 * seq,stage,op,size,candidate,predicted_us,chosen,actual_us,reason: one row per candidate of a
 * decision; chosen is 1 on the row of the device that got it; actual_us is there when the stage
 * was timed. The file appears when the context closes.
 */
#ifndef QN_ENGINE_EXPLAIN_H
#define QN_ENGINE_EXPLAIN_H

#include "engine/engine.h"

typedef struct qn_explain qn_explain;

qn_status qn_explain_open(const char *path, qn_explain **out, qn_err *err);
void qn_explain_put(qn_explain *explain, const qn_explain_row *row);
qn_status qn_explain_close(qn_explain *explain, qn_err *err);

#endif
