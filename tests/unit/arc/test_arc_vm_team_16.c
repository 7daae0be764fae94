/* test_arc_vm_team_16.c - the virtual machine with a team of 16 lanes that meet. */
#define TEAM_OF 16
#include "arc_lanes_cases.h"
