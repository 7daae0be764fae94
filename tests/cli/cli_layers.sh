#!/usr/bin/env bash
# cli_layers.sh - tools/check_layers.sh passes on this tree and finds a violation of each rule.
. "$(dirname "$0")/lib.sh"

check=$QUERN_SOURCE_DIR/tools/check_layers.sh
exits 0 "$check" "$QUERN_SOURCE_DIR"

# file PATH LINE...
file() {
    mkdir -p "$(dirname "$1")"
    printf '%s\n' "${@:2}" >"$1"
}

# A tree without a fault, in which each kind of file includes all that is allowed.
clean() {
    rm -rf tree
    mkdir tree
    cd tree
    file src/util/str.h 'int qn_str;'
    file src/kernel/dialect.h '#include <stdint.h>'
    file src/kernel/add.c '#include "dialect.h"'
    file src/kernel/expand.c '#include "util/str.h"'
    file src/hal/hal.h '#include "util/str.h"'
    file src/engine/engine.h '#include <quern/quern.h>' '#include "hal/hal.h"'
    file src/engine/graph/graph.h '#include "engine/engine.h"'
    file src/engine/graph/run.c '#include "graph.h"'
    file src/domain/heat/heat.c '#include "engine/engine.h"' '#include "domain/heat/sky/sky.h"'
    file src/domain/heat/sky/sky.h '#include "util/str.h"'
    file src/lab/heat/bench.h '#include "engine/engine.h"'
    file src/cli/heat.c '#include "lab/heat/bench.h"'
    file include/quern/quern.h '#define QN_CALL(f) \' '    qn_call(f)' 'extern "C" {' \
        'typedef int (*qn_fn)(int a);' '/* int qn_comment(int a); */' \
        'struct qn_s {' '    int (*call)(int a);' '};' \
        'static inline int qn_in(int a)' '{' '    return (a);' '}' \
        'QN_API int qn_add(int a,' '                  int b);' '}'
    file examples/heat.c '#include <quern/quern.h>'
    file docs/architecture.md '| 1 | `src/kernel/sum.c:sum_all` |' '`src/engine/graph/run.c:start` and text'
    file src/kernel/sum.c 'GROUP(sum_all, IN(float, x))'
    printf 'static int *start(void)\n' >>src/engine/graph/run.c
    cd ..
}

# finds FILE:LINE TEXT: the tree has this one fault.
finds() {
    exits 1 "$check" tree
    lines "$out" 1
    has "$out" "^$1: .*$2"
    clean
}

clean
exits 0 "$check" tree
has "$out" '^check_layers: ok'

file tree/src/domain/heat/early.c '' '#include "cli/heat.h"'
finds src/domain/heat/early.c:2 'domain may not include cli'
file tree/src/domain/heat/early.c '#include "lab/heat/bench.h"'
finds src/domain/heat/early.c:1 'domain may not include lab'
file tree/src/util/early.c '#  include "hal/none/none.h"'
finds src/util/early.c:1 'util may not include hal'
file tree/src/engine/up.c '#include "../util/str.h"'
finds src/engine/up.c:1 'climbs out of its folder'
file tree/src/engine/public.c '#include "quern/quern.h"'
finds src/engine/public.c:1 'is in no layer'
file tree/src/extra/extra.c 'int qn_extra;'
finds src/extra/extra.c:1 'folder src/extra is in no layer'

file tree/src/kernel/add.c '#include <math.h>'
finds src/kernel/add.c:1 'a kernel text includes'
file tree/src/kernel/add.c '#include "expand.h"'
finds src/kernel/add.c:1 'a kernel text includes'

file tree/include/quern/heat.h '#include "quern.h"'
finds include/quern/heat.h:1 'includes <quern/...> and the system only'
file tree/examples/heat.c '#include "lab/heat/bench.h"'
finds examples/heat.c:1 'includes <quern/...> and the system only'

file tree/include/quern/heat.h '/* Two' ' * lines. */' 'QN_API int qn_a(void);' 'int qn_heat(int a,' \
    '            int b);'
finds include/quern/heat.h:4 'a function without QN_API: int qn_heat'

file tree/src/domain/heat/private.c '#include "engine/graph/graph.h"'
finds src/domain/heat/private.c:1 'is private to the engine'
file tree/src/cli/private.c '#include "engine/graph/graph.h"'
finds src/cli/private.c:1 'is private to the engine'

# Each include of a cycle is named: here two of two folders, then three of three.
file tree/src/domain/heat/sky/sky.h '#include "domain/heat/heat.h"'
exits 1 "$check" tree
lines "$out" 2
has "$out" '^src/domain/heat/heat.c:2: .*domain/heat and domain/heat/sky'
has "$out" '^src/domain/heat/sky/sky.h:1: .*domain/heat/sky and domain/heat'
clean
file tree/src/lab/a/a.h '#include "lab/b/b.h"'
file tree/src/lab/b/b.h '#include "lab/c/c.h"'
file tree/src/lab/c/c.h '#include "lab/a/a.h"'
exits 1 "$check" tree
lines "$out" 3
has "$out" '^src/lab/c/c.h:1: .*is part of a cycle'
clean

printf 'int qn_long;\n%.0s' {1..800} >tree/src/util/long.c
exits 0 "$check" tree
printf 'int qn_long;\n%.0s' {1..801} >tree/src/util/long.c
finds src/util/long.c:801 'longer than 800 lines'

sed -i 's/start/stop/' tree/docs/architecture.md
finds docs/architecture.md:2 'src/engine/graph/run.c has no function stop'
