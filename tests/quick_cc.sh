#!/bin/sh
# quick_cc.sh - the C compiler for kernels that tests make at run time: most run for less time than optimising
# them takes. Tests of the compiler itself name another one.
exec cc "$@" -O0
