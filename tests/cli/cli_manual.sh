#!/usr/bin/env bash
# cli_manual.sh - man pages and completions agree with the tables of the commands, and shells accept them:
# bash, and zsh and fish if installed.
. "$(dirname "$0")/lib.sh"

# Man pages: one for the program and one for each command, without a warning.
exits 0 quern man --out pages
exits 0 quern --help
commands=$(awk '/^Commands:$/ { on = 1; next } on && !/^  [a-z]/ { exit } on { print $1 }' "$out")
for command in $commands; do
    [ -f "pages/quern-$command.1" ] || fail "no page of $command"
    has pages/quern.1 "quern.-$command.fR\\(1\\)"
done
[ "$(find pages -name '*.1' | wc -l)" -eq $(($(wc -w <<<"$commands") + 1)) ] || fail 'other pages'
if command -v groff >/dev/null; then
    for page in pages/*.1; do
        exits 0 groff -man -Tutf8 -ww -z "$page"
        empty "$err"
    done
    exits 0 groff -man -Tascii -P-cbou -rLL=200n pages/quern-tasks.1 # without bold and underlined
    has "$out" "printf 'id,op,n,seed,arg.n1,vadd,20000,7,.n2,merkle,1024,9,.n' > batch.csv"
    has "$out" '^ +--scenario NAME'
else
    echo 'groff is not installed: pages are not formatted'
fi
exits 0 quern man fit
cmp -s "$out" pages/quern-fit.1 || fail 'quern man fit prints another page than --out writes'
refused 2 "unknown command 'taks'; did you mean tasks\?$" quern man taks
refused 2 "--out writes all pages; 'fit' asks for one$" quern man fit --out pages
refused 1 'cannot make the folder /dev/null: ' quern man --out /dev/null/x
refused 2 "'tcsh' is not one of bash, zsh, fish$" quern completion tcsh

# The files made by the build for the installation are the same.
made=$(dirname "$QUERN_BIN")/manual
for shell in bash:quern zsh:_quern fish:quern.fish; do
    exits 0 quern completion "${shell%%:*}"
    cp "$out" "${shell#*:}"
    [ ! -d "$made" ] || cmp -s "$out" "$made/completion/${shell#*:}" || fail "$shell: another script"
done

# Bash: offers WORD...: the completions after these words, the last one incomplete.
offers() {
    bash -c '. ./quern; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _quern; echo "${COMPREPLY[*]}"' \
        offers quern "$@"
}
offered() {
    local want=$1
    shift
    last="completion of: quern $*"
    [ "$(offers "$@")" = "$want" ] || fail "'$(offers "$@")' instead of '$want'"
}
offered 'tasks' ta
offered 'run bench pipe hash' tasks ''
offered 'run' --backend cpu tasks r
offered '--scenario' tasks run --sc
offered 'Uniform-32k Uniform-64k' tasks run --scenario Uni
offered 'cpu cuda' tasks run --backend = c
offered 'nist mesh bal sketch' fit new ''
offered 'solweig' man so
mkdir -p deep/folder && : >deep/file
offered 'deep/folder' solweig svf --out deep/f
offered '' arc run --tasks deep/

# Every option of every verb is offered.
for verb in 'tasks run' 'les run' 'solweig run' 'arc run' 'fit run' scan; do
    # shellcheck disable=SC2086
    exits 0 quern $verb --help
    for option in $(grep -oE '^ +(-[a-z], )?--[a-z0-9-]+' "$out" | grep -oE -- '--.*'); do
        # shellcheck disable=SC2086
        [[ " $(offers $verb --) " == *" $option "* ]] || fail "$verb: $option is not offered"
    done
done

# Zsh, fish.
if command -v zsh >/dev/null; then
    cat >complete.zsh <<'ZSH'
zmodload zsh/zpty
zpty z "TERM=dumb zsh -f -i"
zpty -w z 'PS1=; fpath=('$PWD' $fpath); autoload -Uz compinit; compinit -u -D; echo READ""Y'
zpty -r -m z l '*READY*' || exit 1
zpty -w -n z $'quern tasks run --scenario Uniform-3\t'
zpty -r -m z l '*Uniform-32k*' && print scenario
zpty -w -n z $'\x15quern --backend cpu fit ne\t'
zpty -r -m z l '*fit new *' && print verb
zpty -d z
ZSH
    exits 0 timeout 200 zsh complete.zsh
    has "$out" '^scenario'
    has "$out" '^verb'
else
    echo 'zsh is not installed: its completion is not tried'
fi
if command -v fish >/dev/null; then
    exits 0 fish -c 'source quern.fish; complete -C "quern tasks run --scenario Uniform-3"'
    has "$out" '^Uniform-32k'
    exits 0 fish -c 'source quern.fish; complete -C "quern --backend cpu fit ne"'
    has "$out" '^new'
    exits 0 fish -c 'source quern.fish; complete -C "quern fit new n"'
    has "$out" '^nist$'
    lacks "$out" 'mesh'
else
    echo 'fish is not installed: its completion is not tried'
fi
