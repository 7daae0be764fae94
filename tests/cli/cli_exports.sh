#!/usr/bin/env bash
# cli_exports.sh - libquern.so exports the functions that public headers mark QN_API, and no others.
. "$(dirname "$0")/lib.sh"

sed -nE 's/^QN_API .*\b(qn_[a-z0-9_]+)\(.*/\1/p' "$QUERN_SOURCE_DIR"/include/quern/*.h |
    LC_ALL=C sort >declared
nm -D --defined-only "$QUERN_BUILD_DIR/libquern.so" |
    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort >exported
[ -s declared ] || fail "no function is marked QN_API"
LC_ALL=C comm -23 declared exported >missing
LC_ALL=C comm -13 declared exported >extra
[ ! -s missing ] || fail "declared, not exported: $(head -20 missing | tr '\n' ' ')"
[ ! -s extra ] || fail "exported, not declared: $(head -20 extra | tr '\n' ' ')"
