#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# CPUs that move to another rank, seen on a machine of two CPUs: the ranks believe that they have
# eight. Moves on demand: t3004-control.t; what policies decide: t3003-replay.t.
. "$(dirname "$0")/lib.sh"
need mpi clang
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# moving POLICY OPTIONS...: two ranks of four threads on eight CPUs that do not exist, in the
# background.
moving() {
	begin env FAKE_CPUS=8 LD_PRELOAD="$programs/fakecpus.so" KMP_AFFINITY=disabled \
		OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 \
		"$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance="$1" \
		--balance-report="$work/report.json" -- \
		"${mpirun[@]}" -n 2 "$load" --units=200000 --chunks=64 \
		--iterations=30 --until="$work/stop" --regions=4 "${@:2}"
}
# has JQ: so it is with the step that runs.
has() {
	"$stage/bin/malleable" status --here --json 2>/dev/null | jq -e "$1" >"$work/said" 2>&1
}
windows() { wait_until has ".[0].windows >= $1" && ended; }
# count RANK: number of CPUs that it owns at the end.
count() {
	report ".per_rank[$1].cpus" | tr , '\n' | awk -F- '{n += NF > 1 ? $2 - $1 + 1 : 1} END {
		print n}'
}
owns() {
	test "$(count "$1")" "$2" "$3" || {
		echo "# rank $1 owns $(report ".per_rank[$1].cpus")"
		false
	}
}
whole() { [ $(($(count 0) + $(count 1))) = 8 ]; }

MALLEABLE_POLICIES=$(test_policies) moving random --work=2,2
wait_until has '.[0].windows >= 3 and ([.[0].ranks[].moves] | add) > 0'
ended
ok "CPUs move at random" all_of "exits 0" "report_has '.cpu_changes.moves > 0'"
ok "every CPU has an owner, each rank has one at least" all_of whole "owns 0 -ge 1" "owns 1 -ge 1"
# Whatever was measured: none of these moves any.
moving auto,move=no,lend=no --work=20,2
windows 5
ok "auto,move=no moves none" all_of "exits 0" "report_has '.cpu_changes.moves == 0'" "owns 0 -eq 4"
moving auto,mode=cpuset,lend=no --work=20,2
windows 5
ok "in cpuset mode CPUs that a fixed team cannot use stay" \
	all_of "exits 0" "report_has '.cpu_changes.moves == 0'" "owns 0 -eq 4"
if full; then
	moving sabo --work=20,2
	windows 5
	ok "sabo: CPUs move to the heavy rank" \
		all_of "exits 0" "report_has '.cpu_changes.moves > 0'" "owns 0 -ge 6" whole
	ok "a heavy rank that keeps its home CPUs gets others beside" report_has \
		'.per_rank[0].home == "0-3" and (.per_rank[0].cpus | startswith("0-"))'
	moving auto,lend=no --work=20,2
	windows 5
	ok "auto moves some too, and loses none" \
		all_of "exits 0" "report_has '.cpu_changes.moves > 0'" whole "owns 1 -ge 1"
fi
done_testing
