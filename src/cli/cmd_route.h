/* cmd_route.h - declarations shared by the parts of `quern route`. */
#ifndef QN_CLI_CMD_ROUTE_H
#define QN_CLI_CMD_ROUTE_H

#include "cli/cli.h"

#include "util/table.h"

enum { QN_ROUTE_SIZES = 24 }; /* largest value of --sizes */

qn_status qn_route_eval_scenarios(qn_ctx *ctx, const qn_args *args, qn_err *err);

#endif
