#!/usr/bin/env bash
# cli_solweig_check.sh - `quern solweig check`: findings, absent or damaged files, cases by file name, exit
# codes.
. "$(dirname "$0")/lib.sh"

refused 2 'give --golden DIR' quern solweig check --backend cpu
refused 6 'cannot read the folder nowhere' quern solweig check --golden nowhere --backend cpu
mkdir none
refused 6 'none has none of the folders athens' quern solweig check --golden none --backend cpu
refused 2 "--stage: 'shade' is not a stage" quern solweig check --golden none --stage svf,shade --backend cpu
exits 0 quern solweig check --list
has "$out" '^shadow +stages '
has "$out" '^ga +days '

golden=${QUERN_TEST_DATA:-$QUERN_SOURCE_DIR/../shared/data}/solweig
[ -r "$golden/athens/params.json" ] || { echo "skipped: no golden data in $golden"; exit 77; }
mkdir mine
cp -r "$golden"/{athens,points,tables,weather} mine
chmod -R u+w mine

# All existing files are listed one by one, and no absent ones.
check() {
    exits "$1" quern solweig check --golden mine --stage "$2" --backend cpu --quiet
}
check 0 shadow,points,comfort,tables,radiation
lacks "$out" ' OUT$'
for file in athens/shadow_noon_wall_sun_at_walls.npy athens/shadow_az211_alt4_veg.npy \
    points/delay_case2_lup.npy points/tmrt_out_aniso.npy points/pet_grid20_output.npy \
    tables/spa_terms.json athens/radiation_lside_e_win100.npy; do
    has "$out" " $file .* ok\$"
done
has "$out" '^shadow +athens/shadow_noon_bldg.npy +160000 +0 +0 +100.000 +0 +ok$'
exits 0 quern solweig check --golden mine --stage points --backend cpu --quiet --json
has "$out" '"mean_abs_diff": *[0-9]'
has "$out" '"verdict": *"ok"'

# Another case of a kind is found by its name, and compared.
cp mine/points/delay_case2.json mine/points/delay_case9.json
cp mine/points/delay_case2_lup.npy mine/points/delay_case9_lup.npy
cp mine/points/delay_case1_tgmap1.npy mine/points/delay_case9_tgmap1.npy
for what in bldg veg vegblocksbldg; do
    cp mine/athens/shadow_noon_$what.npy mine/athens/shadow_az180_alt60_$what.npy
    cp mine/athens/shadow_noon_$what.npy mine/athens/shadow_az179_alt60_$what.npy
done
check 4 points,shadow
has "$out" ' points/delay_case9_lup.npy .* ok$'
has "$out" ' athens/shadow_az180_alt60_veg.npy +160000 +0 +0 .* ok$'
has "$out" ' athens/shadow_az179_alt60_bldg.npy .* OUT$'
rm mine/athens/shadow_az179_* mine/points/delay_case9*

# One wrong number, one file of another kind, one that is cut short, one that is absent.
printf '\xc2' | dd of=mine/points/tmrt_out_aniso.npy bs=1 seek=1003 conv=notrunc status=none
echo none >mine/points/groundtemp_tg.npy
truncate -s 1000 mine/points/delay_case1_lup.npy
rm mine/points/delay_case2_tgmap1.npy
check 4 points
has "$out" ' points/tmrt_out_aniso.npy +900 .* OUT$'
has "$out" ' points/groundtemp_tg.npy .* cannot be read: .* OUT$'
has "$out" ' points/delay_case1_lup.npy .* cannot be read: .* OUT$'
has "$out" ' points/delay_case2_tgmap1.npy +- .* absent +skipped$'
has "$err" 'quern solweig check: 3 of [0-9]+ findings are out of bounds, the first of them points/groundtemp_tg.npy'

# A file that others depend on: only its own stage is not checked.
rm mine/athens/gvf_params.json
echo '{' >mine/athens/radiation_params.json
check 4 gvf,radiation,aniso
has "$out" '^gvf +athens/gvf_params.json +- .* absent +skipped$'
has "$out" '^gvf +athens/gvfumep_out_lup_win60.npy .* ok$'
has "$out" '^radiation +athens/radiation_params.json .* cannot be read: .* OUT$'
has "$out" '^aniso +athens/aniso_clear_noon_out_lside_sun.npy .* ok$'

# Having nothing to compare is not a success.
check 6 ga
has "$err" 'nothing was compared'
