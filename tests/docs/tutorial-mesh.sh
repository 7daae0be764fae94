# tutorial-mesh.sh - a noisy ball.
# shellcheck shell=bash
quern --quiet make mesh icosphere 2 ball.obj >/dev/null
awk '/^v / { e = 0.05 * sin(12.9898 * NR); print "v", $2 + e, $3 - e, $4 + e / 2; next } { print }' \
    ball.obj >mine.obj
