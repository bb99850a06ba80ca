#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# The suite of measurements and its load: usage, what is ideal, the work of each rank and phase, and
# that each way does the same work. No time.
. "$(dirname "$0")/lib.sh"
need mpi clang
plan 20
suite=$srcdir/t/bench/suite
gen=$builddir/t/bench/gen

refused() { all_of "exits 2" "[ ! -s $work/out ]" "complains '$1'"; }
run "$suite" --list
ok "the suite lists its scenarios" \
	all_of "exits 0" "says '^steady +8x6 node: '" "says '^here-even '"
run "$suite" --list --set sabo --where here
ok "the suite lists the scenarios of the paper, none on real CPUs" \
	all_of "exits 0" "[ ! -s $work/out ]"
run "$suite" --list --set fig2
ok "the suite lists the shapes of the paper's steps" all_of "exits 0" \
	"[ \"\$(awk '{print \$2}' '$work/out' | xargs)\" = '4x12 8x6 16x3' ]"
# shapes CPUS: those of the scenarios on so many real CPUs.
shapes() {
	FAKE_CPUS=$1 LD_PRELOAD=$programs/fakecpus.so "$suite" --list --where here |
		sed -nE 's/^here-([0-9x]+)-steady +\1 here: .*/\1/p' | tr '\n' ' '
}
ok "on real CPUs, ranks are as many as these have room for" all_of "[ -z \"\$(shapes 2)\" ]" \
	"[ \"\$(shapes 6)\" = '2x3 6x1 ' ]" "[ \"\$(shapes 16)\" = '2x8 4x4 8x2 16x1 ' ]"
run "$suite" --help
ok "the suite helps" all_of "exits 0" "says '^usage: suite '" "says '--quick'"
wrong() {
	local words
	for words in --nonsense "--only nonsense" --rounds=0 --where=there "--ideal x" more; do
		# shellcheck disable=SC2086 # words are wanted
		run "$suite" $words
		refused '^suite: error: ' || return
	done
}
ok "wrong usage is refused" wrong

# ideal CPUS TIMES: what the loads on standard input take on CPUS a rank, and ideally.
ideal() {
	local cpus=$1 found
	found=$("$suite" --ideal "$cpus")
	[ "$found" = "$2" ] || { echo "# $found, not $2" && false; }
}
header='regions 1 chunks'
others=' 0+60 0+60 0+60 0+60 0+60 0+60 0+60'
ok "ideal: thirteen cores for the rank of three times the work, five for each other" \
	ideal 6 "30 13.8462" <<<"$header 1170
0+180$others"
ok "ideal times count whole chunks" ideal 6 "30 15" <<<"$header 48
0+180$others"
ok "steps add up, each at its best" ideal 2 "180 140" <<<"$header 1200
0+120 0+40
0+40 0+120
0+80 20+80"
ok "what is serial stays: another core would be of no use" ideal 6 "30 30" <<<"$header 240
30+0 0+90 0+90"
ok "on one CPU each, all work is spread evenly" ideal 1 "150 100" <<<"$header 64
0+150 0+50"

# loads OPTIONS: the steps' works, without the header, on one line.
loads() {
	local wanted=$1 found
	found=$("$gen" --loads "${@:2}" | sed 1d | tr '\n' ';')
	[ "$found" = "$wanted" ] || { echo "# $found, not $wanted" && false; }
}
ok "gen: works rotate" loads "0+3 0+1 0+1;0+3 0+1 0+1;0+1 0+3 0+1;0+1 0+3 0+1;" --ranks=3 \
	--work=3,1,1 --iterations=4 --rotate=2
ok "gen: works drift" \
	loads "0+3 0+1;0+2 0+2;0+1 0+3;0+2 0+2;" --ranks=2 --work=3,1 --iterations=4 --drift
ok "gen: works alternate, with what is serial, or one thread's" \
	loads "1+3 2+0;0.5+1.5 4+0;" --ranks=2 \
	--work=8,4 --iterations=1 --regions=2 --alternate --serial=0.25 --unscaled=1
run "$gen" --chunks=0
ok "wrong usage of it is refused" refused 'gen --help$'

# across NODE...: what would be saved where each node has these works, without the first column.
across() {
	local IFS=/
	"$srcdir/t/bench/across" --build "$abs_top_builddir" --works "$*" |
		sed -n 's/^| works | [0-9]*, //p'
}
heavy=6,1,1,1,1,1,1,1
even=5,5,5,5,5,5,5,5
ok "across nodes: nothing is saved where one that is even takes longest" \
	[ "$(across $heavy 6,6,6,6,6,6,6,6)" = "0 | at=20: 0.0 | 0.0 |  |" ]
ok "across nodes: what is saved ends at the one that takes longest then" \
	all_of "[[ '$(across $heavy $even)' = '17 | at=20: 13.'*' | 16.'* ]]" \
	"[[ '$(across $heavy)' = '73 | at=20: 5'*' | '* ]]"
run "$srcdir/t/bench/across" --works 1,2
ok "across nodes: wrong usage is refused" refused '^across: error: .* 8 numbers above 0'

# same PROGRAM OPTIONS: it does the same work with and without balancing.
same() {
	local balance sums=
	for balance in off auto; do
		run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
			--balance=$balance,mode=team --balance-report=off -- "${mpirun[@]}" -n 2 \
			"$builddir/t/bench/$1" --work=9,3 --iterations=4 "${@:2}"
		all_of "exits 0" "says '^time '" || return
		sums+=" $(sed -n 's/^checksum //p' "$work/out")"
	done
	read -r -a sums <<<"$sums"
	[ "${#sums[0]}" = 16 ] && [ "${sums[0]}" = "${sums[1]}" ]
}
ok "each way does the same work" all_of "same gen --regions=2" "same gen --inner=3 --serial=0.1" \
	"same gen-gcc --schedule=static"
measured() {
	run "$suite" --build "$builddir" --only steady --quick --rounds 1 --policies off \
		--json "$work/found.json"
	all_of "exits 0" "says '^\| steady \| 0[.]90 \| [0-9.]+ to [0-9.]+!? \(1[.]80\) \|$'" \
		"jq -e '.scenarios[0].runs.off[0].checksum' $work/found.json >/dev/null"
}
what="a run on the timed node gives a row of the table"
if [ $openmpi = yes ]; then ok "$what" measured; else skip "$what" "mpirun is MPICH's"; fi
