#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What programs rely on (t/programs/patterns.c) under each policy: the same result, and no thread
# missing or too many. Built for LLVM's libomp and for GCC's libgomp; on the private Slurm, and with
# CPUs that move at random at every boundary.
. "$(dirname "$0")/lib.sh"
need_cluster
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# The last two set what others would inherit.
patterns="plain sized-once sized-by-procs sized-each fixed clauses nested tasks first-touch orphaned threadprivate chosen dynamic"
start_cluster

# What each of them computes without us, by the build that has all.
run srun -n2 -c1 "$programs/patterns-tls" "${patterns// /,}" 5
cp "$work/out" "$work/plain"
ok "without us each pattern has a result" \
	all_of "exits 0" "[ \$(wc -l <$work/plain) = $(wc -w <<<"$patterns") ]"
# same PATTERN: the last run printed that.
same() {
	local expected
	expected=$(paste -d ' ' <(tr ' ' '\n' <<<"$patterns") "$work/plain" |
		awk -v name="$1" '$1 == name {print $2}')
	[ "$expected" = "$(cat "$work/out")" ] || {
		echo "# $expected expected, got $(cat "$work/out")"
		false
	}
}
# builds PATTERN: the programs that have it; in the gate one of them.
builds() {
	local programs_of
	case $1 in
		threadprivate) programs_of="patterns-tls patterns-tls-gcc" ;;
		plain | tasks | dynamic) programs_of="patterns-free patterns-free-gcc" ;;
		nested | first-touch | orphaned) programs_of="patterns-free patterns-gcc" ;;
		*) programs_of="patterns patterns-gcc" ;;
	esac
	if full; then echo "$programs_of"; else cut -d ' ' -f "$2" <<<"$programs_of"; fi
}

# moved: CPUs of the one step here have moved several times.
moved() {
	"$stage/bin/malleable" status --here --json 2>/dev/null |
		jq -e '[.[0].ranks[].moves] | add > 10' >/dev/null 2>&1
}
has_ended() { ! kill -0 "$step" 2>/dev/null; }
moved_or_ended() { moved || has_ended; }
computes_or_ended() { computes || has_ended; }
# moving PROGRAM PATTERN: two ranks of four threads on eight CPUs that do not exist, so that there
# is something to move; until it has moved, but for a program that sets its own number of threads.
moving() {
	# Bound regions keep the team that was told, and could not use more CPUs than that: they are
	# told more. Free ones follow the CPUs: told four, with four CPUs, they can use eight.
	local policy=random,max_threads=8
	case $2 in
	chosen) policy=random ;;
	plain | first-touch | orphaned) ! built prover || policy=random ;;
	esac
	begin env FAKE_CPUS=8 LD_PRELOAD="$programs/fakecpus.so" KMP_AFFINITY=disabled \
		OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 \
		MALLEABLE_POLICIES="$(test_policies)" \
		"$stage/bin/malleable" run --libdir "$stage/lib/malleable" --balance="$policy" -- \
		"${mpirun[@]}" -n 2 "$programs/$1" "$2" 5 "$work/stop"
	if [ "$2" = chosen ]; then
		wait_until computes_or_ended
	else
		wait_until moved_or_ended
		moved || { ended && echo "# it did not move" && return 1; }
	fi
	ended
	exits 0 && same "$2"
}
for pattern in $patterns; do
	failed=
	for program in $(builds "$pattern" 1); do
		moving "$program" "$pattern" || failed+=" $program"
	done
	ok "$pattern: CPUs that move at random" [ -z "$failed" ]
done

policies="auto"
if full; then policies="auto lewi"; fi
for pattern in $patterns; do
	for program in $(builds "$pattern" 2); do
		failed=
		for policy in $policies; do
			run srun -n2 -c1 --balance="$policy" "$programs/$program" "$pattern" 5
			all_of "exits 0" "same $pattern" || failed+=" $policy"
		done
		ok "$pattern, $program: $policies on the private Slurm" [ -z "$failed" ]
	done
done

# why PROGRAM PATTERN [KEYS]: how its team followed the CPUs, and why.
why() {
	run srun -n2 -c1 --balance="${3:-auto}" --balance-report="$work/report.json" \
		"$programs/$1" "$2" 5
	report '.per_rank[0] | .mode + " " + .why'
}
is() { [[ "$1" = $2* ]] || { echo "# $1"; false; }; }
ok "a plain program: team mode" is "$(why patterns-free plain)" "team "
ok "one with data for each thread, whose regions are bound: cpuset mode" is \
	"$(why patterns-tls threadprivate)" "cpuset the program keeps data"
ok_with prover "one with such data elsewhere: its free regions follow, team mode" is \
	"$(why patterns-tls plain)" "team "
ok "unless no code is looked at: cpuset mode" is "$(why patterns-tls plain auto,prove=no)" \
	"cpuset the program keeps data"
# A driver that a library of MPI's loads, as hwloc does for OpenCL.
echo '__thread int mine = 1;' >"$work/driver.c"
cat >"$work/loads.c" <<C
#include <dlfcn.h>
__attribute__((constructor)) static void load(void) { dlopen("$work/driver.so", RTLD_NOW); }
C
gcc -shared -fPIC -o "$work/driver.so" "$work/driver.c" || exit 1
gcc -shared -fPIC -o "$work/hwloc_driver.so" "$work/loads.c" || exit 1
gcc -shared -fPIC -o "$work/own.so" "$work/loads.c" || exit 1
# beside LIBRARY: why, with a library that is preloaded behind ours.
beside() {
	run srun -n2 -c1 --balance=prove=no --balance-report="$work/report.json" bash -c \
		"LD_PRELOAD=\$LD_PRELOAD:$work/$1 exec $programs/patterns-free plain 5"
	report '.per_rank[0] | .mode + " " + .why'
}
ok "a driver that a library of the system's loads: team mode" is "$(beside hwloc_driver.so)" "team "
ok "one that a library of the program's loads: cpuset mode" is "$(beside own.so)" \
	"cpuset the program keeps data"
ok "one that lets the runtime choose: cpuset mode" is "$(why patterns-free dynamic)" \
	"cpuset the runtime chooses"
ok "one that was told its threads: cpuset mode" is "$(why patterns fixed)" \
	"cpuset the program relies"
ok "one that was started with three threads on a CPU: cpuset mode" is \
	"$(OMP_NUM_THREADS=3 why patterns-free plain)" "cpuset it was started with"
failed=
for variable in OMP_PROC_BIND=true OMP_PLACES=cores OMP_THREAD_LIMIT=1; do
	run env "$variable" srun -n2 -c1 --balance "$programs/patterns-free" plain 5
	all_of "exits 0" "same plain" || failed+=" $variable"
done
ok "OMP_PROC_BIND, OMP_PLACES, OMP_THREAD_LIMIT set by the user" [ -z "$failed" ]

region="a region's call where no OpenMP runtime is loaded ends the program with a line"
if [ "$(uname -m)" = x86_64 ]; then
	run env LD_PRELOAD="$stage/lib/malleable/libmalleable.so" python3 -c '
import ctypes
libc = ctypes.CDLL(None)
libc.dlvsym.restype = ctypes.c_void_p
call = libc.dlvsym(None, b"GOMP_parallel", b"GOMP_4.0")
ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(call)(None, None, 1, 0)'
	ok "$region" all_of "exits 134" \
		"complains 'balance: the program calls GOMP_parallel, but no loaded OpenMP runtime has it'"
else
	skip "$region" "its code is for x86-64"
fi
done_testing
