/* cmd_route.h - what the parts of `quern route` share. */
#ifndef QN_CLI_CMD_ROUTE_H
#define QN_CLI_CMD_ROUTE_H

#include "cli/cli.h"

#include "util/table.h"

enum { QN_ROUTE_SIZES = 24 }; /* of --sizes, at most */

qn_status qn_route_eval_scenarios(qn_ctx *ctx, const qn_args *args, qn_err *err);

#endif
