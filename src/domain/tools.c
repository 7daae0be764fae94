/* tools.c - the list of tools. */
#include "domain/tools.h"

const qn_tool *const qn_tools[] = {
    &qn_tool_tasks, &qn_tool_solweig, &qn_tool_les, &qn_tool_arc, &qn_tool_fit, NULL,
};
