#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs whose load is easily taken for something else (t/programs/decisions.c): what is measured
# is what they do, and CPUs go where they are of use. Nothing here depends on how fast the machine
# is: counts, shares of time, and CPU masks.
. "$(dirname "$0")/lib.sh"
need cxx
need_cluster
start_cluster
cd "$work" || exit 1

# under BUILD PROGRAM...: how it runs, with --balance. clang and gcc are for Open MPI.
under() {
	local build=$1
	shift
	case $build in
	clang) with=(srun -n2 -c1 --balance --balance-report="$work/report.json"
		"$programs/decisions" "$@") ;;
	gcc) with=(srun -n2 -c1 --balance --balance-report="$work/report.json"
		"$programs/decisions-gcc" "$@") ;;
	mpich) with=("$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance
		--balance-report="$work/report.json" -- mpiexec.mpich -n 2
		"$programs/decisions-mpich" "$@") ;;
	esac
}
# each WHAT KIND CONDITION...: in each of BUILDS; in the gate that is one, or some.
each() {
	local what=$1 kind=$2 build all=${builds:-clang}
	shift 2
	if full; then all="clang gcc mpich"; fi
	for build in $all; do
		if [ "$build" = mpich ] && [ ! -x "$programs/decisions-mpich" ]; then
			skip "$build: $what" "MPICH is not installed"
			continue
		fi
		under "$build" "$kind"
		if [ -n "${seen:-}" ]; then
			begin "${with[@]}" "$work/stop"
			wait_until seen_or_ended
			ended
		else
			run "${with[@]}"
		fi
		ok "$build: $what" all_of "exits 0" "says done" "$@"
	done
}
# seen_or_ended: $seen is true of the ranks in the status of the one balanced step here.
seen_or_ended() {
	! kill -0 "$step" 2>/dev/null ||
		"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -e ".[0].ranks | $seen" >/dev/null 2>&1
}

if full; then
# Rank 0 has 1.08 s of them, rank 1 a third of it. The first and the last ones may be in no window,
# on a busy machine many.
work_is_seen() {
	report_has '.per_rank[0].work_s > 0.54 and .per_rank[0].work_s > 1.7 * .per_rank[1].work_s'
}
export OMP_NUM_THREADS=2
each "tasks are work" tasks work_is_seen
each "taskloops are work" taskloop work_is_seen
each "sections are work" sections work_is_seen
unset OMP_NUM_THREADS

unseen() { report_has '.measured.unseen_windows > 0 and .cpu_changes.moves == 0'; }
each "work in threads that cannot be seen: nothing is moved" unseen unseen
run srun -n2 -c1 --balance "$programs/decisions" unseen
ok "the report says why threads that cannot be seen keep all from moving" complains \
	'nothing was moved in [0-9]+ windows: ranks such as [01] worked .* in threads outside OpenMP'
under clang sections
run "${with[@]}"
ok "other programs are not taken for such" report_has '.measured.unseen_windows == 0'

# Of 1.5 s.
stopped() {
	report_has \
		'.measured.stopped_windows > 0 and .per_rank[0].serial_s + .per_rank[0].work_s < 1.5'
}
each "a rank that was stopped did not compute" stopped stopped
fi

# As long as it takes.
lends() { report_has '.per_rank[1].lends >= 5'; }
seen='.[1].lends >= 5'
builds="clang mpich" each "MPI_Wait lends" recv lends
builds="clang mpich" each "all of it in a thread: MPI_Wait lends" thread lends
builds="clang mpich" each "each phase in a thread: MPI_Wait lends" threads lends
each "a loop of MPI_Test lends" tested lends
each "one that computes now and then lends" gaps lends
each "one that sleeps between lends" slept lends
each "one with calls that return at once lends" passed lends
seen='' each "one that computes between two tests lends nothing" busy \
	"report_has '.per_rank[1].lends == 0'"
seen='' each "a loop of MPI_Test that computes as long as eight tests lends nothing" pieces \
	"report_has '.per_rank[1].lends == 0'"
each "CPUs come back to a rank that leaves such a loop" left "says '^shared 0$'" lends
seen=

builds="clang mpich" each "longjmp() out of MPI" jump "report_has '.per_rank[1].boundaries >= 30'"
run srun -n2 --balance --balance-report="$work/report.json" "$programs/throws"
ok "clang: an exception out of MPI" all_of "exits 0" "says 'caught 30'" \
	"report_has '.per_rank[1].boundaries >= 30'"
if [ -x "$programs/throws-mpich" ]; then
	run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" \
		--balance --balance-report="$work/report.json" -- \
		mpiexec.mpich -n 2 "$programs/throws-mpich"
	ok "mpich: an exception out of MPI" all_of "exits 0" "says 'caught 30'" \
		"report_has '.per_rank[1].boundaries >= 30'"
else
	skip "mpich: an exception out of MPI" "MPICH is not installed"
fi

if [ $openmpi = yes ]; then
	run srun -n2 -c1 --balance "$programs/decisions" yields
	ok "a wait does not yield unless the user wants it" all_of "exits 0" "says '^yields 0$'"
else
	skip "a wait does not yield unless the user wants it" "MPICH yields by itself"
fi
run srun -n2 -c1 --balance "$programs/decisions" test-yields
ok "calls of MPI_Test do not yield unless the user wants it" all_of "exits 0" "says '^yields 0$'"
OMPI_MCA_mpi_yield_when_idle=1 run srun -n2 -c1 --balance "$programs/decisions" yields
ok "a wait yields if the user wants it" all_of "exits 0" "says '^yields [1-9]'"

# The worker of a team of two must not stay on the other rank's CPU.
export OMP_WAIT_POLICY=active
seen='any(.[]; .borrows > 0 or .borrowed > 0)'
borrowed() { report_has '.cpu_changes.grants + .cpu_changes.borrows > 0'; }
builds="clang gcc" each "threads are sent home when their CPU is given back" home \
	"says '^away 0$'" borrowed
seen=
unset OMP_WAIT_POLICY

run srun -n1 -c2 --balance "$programs/children"
cp "$work/out" "$work/seen"
has() { grep -qx "$1 $2" "$work/seen" || { echo "# $(grep "^$1 " "$work/seen"), not $2"; false; }; }
ok "the primary thread is bound to one CPU" all_of "exits 0" "has kernel 1" "has after 1"
for way in sched_getaffinity "sched_getaffinity(pid)" pthread_getaffinity system popen posix_spawn \
	posix_spawnp fork vfork execle \
	pthread_create thrd_create timer_create aio_read lio_listio getaddrinfo_a mq_notify; do
	ok "$way: all CPUs of the rank" has "$way" 2
done
ok "a thread for which the program chose a CPU keeps it" has pthread_attr 1
# all_ways: the same of the last run, in one.
all_ways() {
	local way
	cp "$work/out" "$work/seen"
	exits 0 && has kernel 1 && has after 1 && has pthread_attr 1 || return
	for way in sched_getaffinity pthread_getaffinity system popen posix_spawn fork vfork \
		pthread_create thrd_create timer_create aio_read getaddrinfo_a; do
		has "$way" 2 || return
	done
}
OMPI_CC=${CC:-gcc} MPICH_CC=${CC:-gcc} mpicc -O1 -fopenmp -w -o "$work/children" \
	"$srcdir/t/programs/children.c" -lpthread || exit 1
run srun -n1 -c2 --balance "$work/children"
ok "gcc: each of these ways" all_ways
if [ -x "$programs/decisions-mpich" ]; then
	mpicc.mpich -cc="$clang" -O1 -fopenmp -w -o "$work/children" \
		"$srcdir/t/programs/children.c" -lpthread || exit 1
	run "$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance -- \
		mpiexec.mpich -n 1 "$work/children"
	ok "mpich: each of these ways" all_ways
else
	skip "mpich: each of these ways" "MPICH is not installed"
fi
done_testing
