/* test_arc_vm_team_8.c - the virtual machine with a team of 8 lanes that meet. */
/* test: long, cost 40, O1 */
#define TEAM_OF 8
#include "arc_lanes_cases.h"
