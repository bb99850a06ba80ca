#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What a program can learn of its teams is what it would learn without balancing:
# t/programs/identity.c counts what is not.
. "$(dirname "$0")/lib.sh"
need_cluster
cases="number spelling level host nested inherited set_inside asked looked_up cached library loaded"
cases+=" key"
start_cluster
unset OMP_NUM_THREADS OMP_THREAD_LIMIT KMP_DETERMINISTIC_REDUCTION
identity=$programs/identity
export LIBRARY=$identity/libdata-gcc.so

# balanced NAME [VARIABLE=VALUE [ARGUMENT]]: two ranks of one CPU each, of which the second waits
# for the first. unproved: the same where no code is looked at, and what asks for nothing is
# widened.
keys=auto
balanced() {
	run env "${2:-NOTHING=}" srun -n2 -c1 --balance="$keys" \
		--balance-report="$work/report.json" "$identity/$1" "${@:3}"
}
unproved() { keys=auto,prove=no balanced "$@"; }
cpuset() { [ "$(report '.per_rank[0].mode')" = cpuset ] || { echo "# not cpuset mode"; false; }; }

for compiler in clang gcc; do
	unproved "pointer-$compiler"
	ok "$compiler: a number by a pointer, by names alone" all_of "exits 0" "says 'wrong 0,'"
	balanced "plain-$compiler"
	ok_with prover "$compiler: a region that counts its threads is bound" \
		all_of "exits 0" "says 'wrong 0, wide 0'"
	unproved "plain-$compiler" NOTHING= until-wide
	ok "$compiler: and widened if no code is looked at, as its program asks for nothing" \
		all_of "exits 0" "says 'wrong 0, wide [1-9]'"
	for case in $cases; do
		balanced "$case-$compiler"
		ok "$compiler: $case" all_of "exits 0" "says 'wrong 0,'"
		full || continue
		unproved "$case-$compiler"
		ok "$compiler: $case, by names alone" all_of "exits 0" "says 'wrong 0,'"
	done
	unproved "looked_up-$compiler" ASK_MAX=1 until-wide
	ok "$compiler: omp_get_max_threads() is asked first in a widened region" \
		all_of "exits 0" "says 'wrong 0, wide [1-9]'"
	unproved "plain-$compiler" OMP_THREAD_LIMIT=1
	ok "$compiler: OMP_THREAD_LIMIT bounds teams, and the runtime warns of nothing" \
		all_of "exits 0" "says 'wide 0'" "silent_about 'OMP: Warning'"
	# Where a thread cannot be had, libomp ends the program.
	run env OMP_STACKSIZE=64G srun -n2 -c1 --balance=prove=no \
		--balance-report="$work/report.json" \
		bash -c "ulimit -v $((32 << 20)); exec $identity/plain-$compiler"
	ok "$compiler: no team grows by threads whose stacks have no room" \
		all_of "exits 0" "says 'wrong 0, wide 0'"
done
unproved plain-clang KMP_DETERMINISTIC_REDUCTION=1
ok "KMP_DETERMINISTIC_REDUCTION keeps the team" all_of "exits 0" "says 'wide 0'" cpuset

# A runtime of another name, loaded with a library for it alone.
for compiler in clang gcc; do
	run srun -n1 -c2 "$identity/wheel-without" "$identity/libwheel-$compiler.so"
	cp "$work/out" "$work/plain"
	run srun -n1 -c2 --balance "$identity/wheel-without" \
		"$identity/libwheel-$compiler.so"
	ok "$compiler: a private runtime answers its library" \
		all_of "exits 0" "says 'max 2, threads 2, procs 2, wrong 0'" \
		"cmp $work/plain $work/out"
done
# In a program for libgomp, which runs on libomp, a library's own libomp is the second of its kind.
for how in "" last deep "deep last" "deep forked" "deep last forked"; do
	# shellcheck disable=SC2086 # words
	run srun -n2 -c1 "$identity/wheel-gcc" $how "$identity/libwheel-clang.so"
	cp "$work/out" "$work/plain"
	# shellcheck disable=SC2086 # words
	run srun -n2 -c1 --balance --balance-report="$work/report.json" \
		"$identity/wheel-gcc" $how "$identity/libwheel-clang.so"
	ok "gcc's program, a library with a runtime of LLVM's${how:+, $how}: as without us" \
		all_of "exits 0" "says ', wrong 0'" "cmp $work/plain $work/out" \
		"report_has '.per_rank[0].regions >= 10'"
done
export KMP_DUPLICATE_LIB_OK=TRUE
run srun -n1 -c2 --balance --balance-report="$work/report.json" \
	"$identity/wheel-without" "$identity/libwheel-clang.so" "$identity/libwheel-other.so"
ok "of two runtimes the first one's threads are managed" \
	all_of "exits 0" "report_has '.per_rank[0].regions == 102'"
# The thread in which the other one starts is bound to one CPU by then.
counted() { [ "$(grep -c 'max 2, threads 2, procs 2, wrong 0' "$work/out")" = 2 ]; }
ok "of two runtimes the one that is not managed counts all CPUs of the rank" \
	all_of "exits 0" counted
run srun -n1 -c2 --balance "$identity/wheel-gcc" early "$identity/libwheel-clang.so"
ok "it counts all CPUs also after regions of the managed one" \
	all_of "exits 0" "says 'max 2, threads 2, procs 2, wrong 0'"
done_testing
