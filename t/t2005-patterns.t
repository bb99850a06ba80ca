#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What programs rely on (t/programs/patterns.c) under each policy: the same result, and no thread
# missing or too many. Built for LLVM's libomp and for GCC's libgomp; on the private Slurm, and with
# CPUs that move at random at every boundary.
. "$(dirname "$0")/lib.sh"
need_cluster
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
patterns="plain sized-once sized-by-procs sized-each fixed clauses nested tasks first-touch orphaned dynamic chosen threadprivate"
count=$(wc -w <<<"$patterns")
plan $((3 * count + 8))
start_cluster

# moving POLICY PROGRAM PATTERN: two ranks of four threads on eight CPUs that do not exist, so that
# there is something to move.
moving() {
	run env FAKE_CPUS=8 LD_PRELOAD="$programs/fakecpus.so" KMP_AFFINITY=disabled \
		OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 \
		"$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance="$1" \
		--balance-report="$work/report.json" -- \
		mpirun --bind-to none --oversubscribe -n 2 "$programs/$2" "$3" 30
}
# builds PATTERN: the programs that have it.
builds() {
	case $1 in
		threadprivate) echo patterns-tls patterns-tls-gcc ;;
		plain | tasks | dynamic) echo patterns-free patterns-free-gcc ;;
		nested | first-touch | orphaned) echo patterns-free patterns-gcc ;;
		*) echo patterns patterns-gcc ;;
	esac
}
# same PATTERN: the last run printed what the plain run did.
same() {
	[ "$(cat "$work/$1")" = "$(cat "$work/out")" ] || {
		echo "# $(cat "$work/$1") expected, got $(cat "$work/out")"
		false
	}
}

for pattern in $patterns; do
	read -r -a programs_of <<<"$(builds "$pattern")"
	moving off "${programs_of[0]}" "$pattern"
	cp "$work/out" "$work/$pattern"
	failed=
	# A team that keeps its size could not use more CPUs than threads: it gets more threads.
	policy=random
	case $pattern in sized-* | fixed | threadprivate) policy=random,max_threads=8 ;; esac
	for program in "${programs_of[@]}"; do
		moving "$policy" "$program" "$pattern"
		all_of "exits 0" "same $pattern" || failed+=" $program"
		[ "$program" != "${programs_of[0]}" ] || moves=$(report '.cpu_changes.moves')
	done
	ok "$pattern: CPUs that move at random" [ -z "$failed" ]
	[ "$pattern" != plain ] || plain_moves=$moves
	[ "$pattern" != fixed ] || fixed_moves=$moves
done
ok "they did move under a program that follows them" [ "$plain_moves" -gt 10 ]
ok "and under one that relies on its number of threads" [ "$fixed_moves" -gt 0 ]

for pattern in $patterns; do
	read -r -a programs_of <<<"$(builds "$pattern")"
	run srun -n2 -c1 "$programs/${programs_of[0]}" "$pattern"
	cp "$work/out" "$work/$pattern"
	for program in "${programs_of[@]}"; do
		failed=
		for policy in auto lewi; do
			run srun -n2 -c1 --balance="$policy" --balance-report="$work/report.json" \
				"$programs/$program" "$pattern"
			all_of "exits 0" "same $pattern" || failed+=" $policy"
		done
		ok "$pattern, $program: auto and lewi on the private Slurm" [ -z "$failed" ]
	done
done

# why PROGRAM PATTERN: how its team followed the CPUs, and why.
why() {
	run srun -n2 -c1 --balance --balance-report="$work/report.json" "$programs/$1" "$2"
	report '.per_rank[0] | .mode + " " + .why'
}
is() { [[ "$1" = $2* ]] || { echo "# $1"; false; }; }
ok "a plain program: team mode" is "$(why patterns-free plain)" "team "
ok "one with data for each thread: cpuset mode" is "$(why patterns-tls plain)" \
	"cpuset the program keeps data"
ok "one that lets the runtime choose: cpuset mode" is "$(why patterns-free dynamic)" \
	"cpuset the runtime chooses"
ok "one that was told its threads: cpuset mode" is "$(why patterns fixed)" \
	"cpuset the program relies"
ok "one that was started with three threads on a CPU: cpuset mode" is \
	"$(OMP_NUM_THREADS=3 why patterns-free plain)" "cpuset it was started with"
failed=
for variable in OMP_PROC_BIND=true OMP_PLACES=cores OMP_THREAD_LIMIT=1; do
	run env "$variable" srun -n2 -c1 --balance "$programs/patterns-free" plain
	all_of "exits 0" "same plain" || failed+=" $variable"
done
ok "OMP_PROC_BIND, OMP_PLACES, OMP_THREAD_LIMIT set by the user" [ -z "$failed" ]
