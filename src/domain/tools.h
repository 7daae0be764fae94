/* tools.h - the tools of quern, as the engine knows them. */
#ifndef QN_DOMAIN_TOOLS_H
#define QN_DOMAIN_TOOLS_H

#include "engine/engine.h"

extern const qn_tool qn_tool_tasks, qn_tool_solweig, qn_tool_les, qn_tool_arc, qn_tool_fit;

#endif
