/* test_arc_vm_team_8.c - the virtual machine with a team of 8 lanes that meet. */
#define TEAM_OF 8
#include "arc_lanes_cases.h"
