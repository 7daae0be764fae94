/* test_arc_vm_team_16.c - the virtual machine with a team of 16 lanes that meet. */
/* test: long, cost 41, O1 */
#define TEAM_OF 16
#include "arc_lanes_cases.h"
