#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# An MPI library that calls nothing of ours between polls: Open MPI that does not yield. A waiting
# rank lends all CPUs but the one on which it polls.
. "$(dirname "$0")/lib.sh"
need mpi clang
[ "$openmpi" = yes ] || skip_all "needs Open MPI"

# polls YIELDS CPUS BALANCE PROGRAM...: two ranks with so many CPUs each, on the timed node.
polls() {
	local yields=$1 cpus=$2 balance=$3
	shift 3
	rm -f "$work/report.json"
	limit=120 run "$builddir/t/node/node" --cores=$((2 * cpus)) --per-rank="$cpus" -- \
		"$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance="$balance" \
		--balance-report="$work/report.json" -- "${mpirun[@]}" -n 2 \
		--mca mpi_yield_when_idle "$yields" -x OMP_NUM_THREADS="$cpus" "$@"
}
lends=external,lend=yes,mode=team
works=("$load" "--work=80,20" --iterations=20 --regions=1 --units=1000)
polls 0 4 $lends "${works[@]}"
ok "waits are lent, all CPUs but the one of the waiting thread, and taken back" all_of "exits 0" \
	"report_has '.per_rank[1].lends | . > 0 and . % 3 == 0'" \
	"report_has '.cpu_changes | .lends == .reclaims'"
ok "a rank that computes is given them" report_has '.per_rank[1].grants > 0'
polls 1 4 $lends "${works[@]}"
ok "where polls are seen, that one is lent too" all_of "exits 0" \
	"report_has '.per_rank[1].lends | . > 0 and . % 4 == 0'"
polls 0 4 external,lend=yes,gomp=keep -x OMP_NUM_THREADS=8 -x GOMP_SPINCOUNT=0 \
	"$builddir/t/bench/gen-gcc" --work=120,40 --iterations=20 --chunks=64
ok "ranks whose threads no runtime reports lend and are given CPUs too" all_of "exits 0" \
	"report_has '.per_rank[1] | .lends > 0 and .lends % 3 == 0 and .grants > 0'"

# Waits begin and end at any moment of that thread of ours which lends in them.
polls 1 4 $lends,prove=no "$programs/polls" 200
ok "polls that are seen need no thread of ours" all_of "exits 0" "says '^deaf 0$'"
result=$(grep '^sum' "$work/out")
polls 0 4 $lends,prove=no "$programs/polls" 200
ok "polls that are not seen need one, beside threads and children of the program" \
	all_of "exits 0" "says '^$result$'" \
	"says '^deaf 2$'" "report_has '.cpu_changes | .lends > 0 and .lends == .reclaims'"
ok "what is lent is used" report_has '.cpu_changes | .borrows + .grants > 0'
# with CPUS BALANCE DEAF: the same program on so many CPUs a rank has so many such threads.
with() {
	polls 0 "$1" "$2,prove=no" "$programs/polls" 40
	all_of "exits 0" "says '^sum'" "says '^deaf $3$'"
}
ok "a team that keeps its size lends too" with 4 external,lend=yes,mode=cpuset 2
ok "observe has no thread of ours for polls" with 4 observe 0
ok "a rank with one CPU has no thread of ours for polls" with 1 $lends 0
done_testing
