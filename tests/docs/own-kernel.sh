# own-kernel.sh - pkg-config that finds the library of this build, as it would an installed one.
# shellcheck shell=bash disable=SC2154
build=$(dirname "$QUERN_BIN")
printf '#!/bin/sh\necho "-I%s -L%s -Wl,-rpath,%s -lquern"\n' "$root/include" "$build" "$build" \
    >"$scratch/bin/pkg-config"
chmod +x "$scratch/bin/pkg-config"
unset QUERN_BACKEND
