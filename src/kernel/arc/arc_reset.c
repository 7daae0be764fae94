/* arc_reset.c - sets the counters to zero before a launch of arc_run. */
#include "dialect.h"
#include "arc_code.h"

/* x: the words of the first ARC_HEAD_RESULTS results. */
MAP(arc_reset, OUT(u32, counter))
{
    counter[gx] = 0;
}
